// All sentences: search, filters, what disagrees with the model, repair of many at once.

import { differences } from "./annotation.js";
import { get, post } from "./api.js";
import { node } from "./node.js";
import { direction, learn, onChange, project } from "./project.js";
import { count, percent, say } from "./say.js";
import { sentenceNodes } from "./sentence.js";

const $ = (id) => document.getElementById(id);
const PAGE = 50;
const STATES = { labelled: "labelled", open: "open", skipped: "skipped", flagged: "flagged", unfinished: "unfinished", part: "confirmed in part", again: "to look at again" };

let open = () => {};
let offset = 0;
let rows = [];
let total = 0;
let chosen = new Set();
let asked = 0;
let timer = 0;

function question() {
  return new URLSearchParams({
    search: $("search").value, filter: $("filter").value, label: $("by-label").value, user: $("by-user").value, offset, limit: PAGE,
  });
}

export async function show() {
  asked += 1;
  const mine = asked;
  try {
    const told = await get(`/api/sentences?${question()}`);
    if (mine !== asked) return;
    ({ rows, total } = told);
  } catch (error) {
    say(error.message, true);
    return;
  }
  chosen = new Set([...chosen].filter((id) => rows.some((one) => one.sentence === id)));
  render();
}

/** What the model says otherwise, below what the hand said. */
function reading(one, annotation, other, name) {
  const marked = annotation && other ? differences(annotation, other, one.tokens.length) : new Set();
  const look = (t) => ({ class: marked.has(t) ? "differs" : "" });
  return node("div", { class: "reading-line" },
    name ? node("span", { class: "who" }, name) : "",
    node("div", { class: `words${annotation?.labels ? " pos" : ""}`, dir: direction() }, ...sentenceNodes(one, annotation ?? { spans: [] }, look)));
}

function row(one) {
  const differs = $("filter").value === "disagree" && one.model && one.annotation;
  const tick = node("input", { type: "checkbox", "aria-label": `Select sentence ${one.sentence}`, checked: chosen.has(one.sentence) });
  tick.addEventListener("change", () => {
    if (tick.checked) chosen.add(one.sentence);
    else chosen.delete(one.sentence);
    tools();
  });
  const about = [
    one.document,
    project.team ? one.user : null,
    typeof one.flag === "string" ? `⚑ ${one.flag || "flagged"}` : null,
    STATES[one.state] ?? one.state,
    differs && typeof one.doubt === "number" ? `the model is ${percent(one.doubt, 0)} sure` : null,
  ];
  return node("li", { class: "row-card" }, tick,
    node("div", { class: "row-body" },
      differs ? reading(one, one.annotation, one.model, "labels") : reading(one, one.annotation ?? one.model, null, null),
      differs ? reading(one, one.model, one.annotation, "model") : "",
      node("p", { class: "quiet" }, about.filter(Boolean).join(" · "))),
    node("button", { type: "button", "aria-label": `Open sentence ${one.sentence}`, onclick: () => open(one.sentence) }, "Open"));
}

function render() {
  $("rows").replaceChildren(...rows.map(row));
  const part = total > PAGE ? `, ${offset + 1} to ${Math.min(offset + PAGE, total)} shown` : "";
  $("found").textContent = total ? `${count(total, "sentence")}${part}` : "No sentence is like that.";
  $("back").disabled = offset === 0;
  $("further").disabled = offset + PAGE >= total;
  $("pages").hidden = total <= PAGE;
  tools();
}

function tools() {
  $("chosen").textContent = chosen.size ? `${count(chosen.size, "sentence")} selected` : "Select sentences to repair them together.";
  for (const id of ["repair-label", "repair-model"]) $(id).disabled = !chosen.size;
  $("all").checked = rows.length > 0 && rows.every((one) => chosen.has(one.sentence));
}

function choices(place, first, names) {
  const before = place.value;
  const all = [...first, ...names.map((name) => [name, name])];
  place.replaceChildren(...all.map(([value, text]) => node("option", { value }, text)));
  if ([...place.options].some((one) => one.value === before)) place.value = before;
}

async function repair(change, done) {
  try {
    const told = await post("/api/repair", { sentences: [...chosen], change });
    learn({ counts: told.counts });
    chosen.clear();
    const changed = `${count(told.changed, "sentence")} changed: ${done}. Undo is possible.`;
    say(told.changed ? changed : "Nothing to change: the selected sentences are like that already.");
    await show();
  } catch (error) {
    say(error.message, true);
  }
}

function fresh() {
  offset = 0;
  show();
}

export function focusSearch() {
  $("search").focus();
  $("search").select();
}

export function setUp(openOne) {
  open = openOne;
  onChange((told) => {
    if (told.labels) {
      const names = project.labels.map((one) => one.name);
      choices($("by-label"), [["", "any label"]], names);
      choices($("repair-from"), [], names);
      choices($("repair-to"), [["\u0000", "no label"]], names);
    }
    if (told.users) {
      choices($("by-user"), [["", "anybody"]], project.users);
      $("by-user").closest("label").hidden = project.users.length < 2;
    }
  });
  $("search").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(fresh, 150);
  });
  for (const id of ["filter", "by-label", "by-user"]) $(id).addEventListener("change", fresh);
  $("browse-form").addEventListener("submit", (event) => {
    event.preventDefault();
    fresh();
  });
  $("all").addEventListener("change", () => {
    chosen = new Set($("all").checked ? rows.map((one) => one.sentence) : []);
    render();
  });
  for (const [id, by] of [["back", -PAGE], ["further", PAGE]]) {
    $(id).addEventListener("click", () => {
      offset = Math.max(0, offset + by);
      show();
    });
  }
  $("repair-label").addEventListener("click", () => {
    const [from, to] = [$("repair-from").value, $("repair-to").value];
    if (from === to) return say("Choose two different labels.", true);
    return repair({ from, to: to === "\u0000" ? null : to }, `${from} is ${to === "\u0000" ? "no label" : to}`);
  });
  $("repair-model").addEventListener("click", () => repair("model", "the model's labels are taken"));
}
