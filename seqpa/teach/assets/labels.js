// The dialog of labels: add, rename, merge, recolour, another key.

import { post, sentence } from "./api.js";
import { renamed } from "./label.js";
import { node } from "./node.js";
import { classOfColour, learn, onChange, project } from "./project.js";
import { count, dialog, say } from "./say.js";

const $ = (id) => document.getElementById(id);

function told(text, bad = false) {
  $("labels-said").textContent = text;
  $("labels-said").classList.toggle("bad", bad);
}

/** Send a change; what came of it is told in the dialog. */
async function change(body, done) {
  try {
    const answer = await post("/api/labels", body);
    const named = { rename: body.new, merge: body.into }[body.action];
    if (named) renamed(body.old, named);
    learn({ labels: answer.labels, counts: answer.counts });
    told(answer.again ? `${done} ${sentence(`${count(answer.again, "labelled sentence")} will be offered again`)}` : done);
    return true;
  } catch (error) {
    told(error.message, true);
    return false;
  }
}

function row(label) {
  const typed = { spellcheck: "false", autocomplete: "off" };
  const name = node("input", { value: label.name, "aria-label": `Name of ${label.name}`, class: "label-name", ...typed });
  name.addEventListener("change", async () => {
    const now = name.value.trim();
    if (now === label.name) return;
    if (!now || !(await change({ action: "rename", old: label.name, new: now }, `${label.name} is ${now} now.`))) name.value = label.name;
  });
  name.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the dialog stays open
    name.blur();
  });
  const key = node("input", { value: label.key, "aria-label": `Key of ${label.name}`, class: "label-key", maxlength: "1", ...typed });
  key.addEventListener("input", async () => {
    if (!key.value || key.value === label.key) return;
    if (!(await change({ action: "rekey", name: label.name, key: key.value }, `${label.name} has the key ${key.value}.`))) key.value = label.key;
  });
  const colour = node("select", { "aria-label": `Colour of ${label.name}` },
    ...project.palette.map((one) => node("option", { value: one.name, selected: one.name === label.colour }, one.name)));
  colour.addEventListener("change", () => {
    change({ action: "recolour", name: label.name, colour: colour.value }, `${label.name} is ${colour.value}.`);
  });
  const merge = node("select", { "aria-label": `Merge ${label.name} into`, disabled: project.labels.length < 2 },
    node("option", { value: "" }, "merge into…"));
  // All others, as soon as they may be looked at: of hundreds of labels, each with all others is too much.
  const fill = () => {
    if (merge.options.length > 1) return;
    const others = project.labels.filter((one) => one.name !== label.name);
    merge.append(...others.map((one) => node("option", { value: one.name }, one.name)));
  };
  for (const sign of ["focus", "pointerenter", "pointerdown"]) merge.addEventListener(sign, fill);
  merge.addEventListener("change", () => {
    if (merge.value) change({ action: "merge", old: label.name, into: merge.value }, `${label.name} is ${merge.value} now.`);
  });
  const swatch = node("span", { class: `swatch ${classOfColour(label.colour)}`, "aria-hidden": "true" });
  return node("li", { class: "label-row" }, swatch, name, key, colour, merge);
}

function show() {
  const at = document.activeElement?.getAttribute("aria-label");
  const head = ["", "Name", "Key", "Colour", ""].map((name) => node("span", {}, name));
  const first = node("li", { class: "label-row quiet label-head", "aria-hidden": "true" }, ...head);
  $("label-list").replaceChildren(first, ...project.labels.map(row));
  if (at && $("labels-dialog").open) $("label-list").querySelector(`[aria-label="${CSS.escape(at)}"]`)?.focus();
}

export async function openLabels() {
  told("");
  show();
  const closed = dialog("labels-dialog");
  $("new-label").focus();
  await closed;
}

export function setUp() {
  onChange((news) => news.labels && $("labels-dialog").open && show());
  $("new-label-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = $("new-label").value.trim();
    if (!name) return told("Type a name first.", true);
    if (!(await change({ action: "add", name }, `${name} is new.`))) return null;
    $("new-label").value = "";
    say(`The label ${name} is new.`);
    return null;
  });
}
