// Several people: who did what, how far they agree, and what they see differently.

import { differences } from "./annotation.js";
import { get, post } from "./api.js";
import { meter } from "./charts.js";
import { node } from "./node.js";
import { direction, learn, project } from "./project.js";
import { count, percent, say } from "./say.js";
import { sentenceNodes } from "./sentence.js";

const $ = (id) => document.getElementById(id);
let open = () => {};

const kappa = (x) => (x === null || x === undefined ? "–" : x.toFixed(2));
const panel = (name, ...inner) => node("section", { class: "panel" }, node("h2", {}, name), ...inner);

const row = (name, ...values) =>
  node("tr", {}, node("th", { scope: "row", dir: "auto" }, name), ...values.map((value) => node("td", {}, value)));

function table(head, rows) {
  const heads = head.map((name) => node("th", { scope: "col" }, name));
  const looks = head[1] ? "" : "barred"; // a column without a name has bars
  return node("table", { class: looks }, node("thead", {}, node("tr", {}, ...heads)), node("tbody", {}, ...rows));
}

function who({ users, share }) {
  const most = Math.max(1, ...users.map((one) => one.labelled));
  const rows = users.map((one) => {
    const speed = one.per_hour ? Math.round(one.per_hour).toLocaleString("en") : "–";
    const made = row(one.name, meter(one.labelled / most), String(one.labelled), speed);
    made.children[1].className = "bar-cell";
    return made;
  });
  const shared = node("p", { class: "quiet" }, `${percent(share, 0)} of the sentences go to two people.`);
  return panel("Who", shared, table(["Name", "", "Labelled", "An hour"], rows));
}

function agreement({ agreement: told, pairs }) {
  if (!told) {
    return panel("Agreement", node("p", { class: "quiet" }, "Known as soon as two people have labelled the same sentence."));
  }
  const spans = told.f1 !== null && told.f1 !== undefined;
  const on = `on ${count(told.sentences, "sentence")} that two people labelled`;
  const what = spans ? `F1 of one against the other, κ ${kappa(told.kappa)}, ${on}` : `κ, ${on}`;
  const number = node("span", { class: "big" }, spans ? percent(told.f1) : kappa(told.kappa));
  const rows = pairs.map((one) => row(one.users.join(" and "), percent(one.f1), kappa(one.kappa), String(one.sentences)));
  return panel("Agreement", node("p", {}, number, " ", node("span", { class: "quiet" }, what)),
    table(["Pair", "F1", "κ", "Sentences"], rows));
}

async function settle(sentence, annotation, name) {
  try {
    const told = await post("/api/settle", { sentence, annotation });
    learn({ counts: told.counts });
    say(`Settled: as ${name} has it.`);
    await show();
  } catch (error) {
    say(error.message, true);
  }
}

/** A sentence as each of two people sees it, what differs underlined. */
function difference(one) {
  const lines = one.readings.map(({ user, annotation }, i) => {
    const other = one.readings[i ? 0 : 1]?.annotation;
    const marked = other ? differences(annotation, other, one.tokens.length) : new Set();
    const words = sentenceNodes(one, annotation, (t) => ({ class: marked.has(t) ? "differs" : "" }));
    const take = { type: "button", "aria-label": `Take the labels of ${user}`, onclick: () => settle(one.sentence, annotation, user) };
    return node("div", { class: "reading-line" }, node("span", { class: "who", dir: "auto" }, user),
      node("div", { class: `words${annotation.labels ? " pos" : ""}`, dir: direction() }, ...words),
      node("button", take, "Take this"));
  });
  const anew = node("button", { type: "button", class: "plain", onclick: () => open(one.sentence) }, "Neither: label it anew");
  return node("li", { class: "row-card" }, node("div", { class: "row-body" }, ...lines, node("p", {}, anew)));
}

export async function show() {
  let told;
  try {
    told = await get("/api/team");
  } catch (error) {
    say(error.message, true);
    return;
  }
  const left = told.differences.filter((one) => !one.settled);
  learn({ counts: { ...project.counts, differences: left.length } });
  const name = left.length ? `${count(left.length, "difference")} to settle` : "Nothing to settle";
  const list = node("ul", { class: "rows" }, ...left.map(difference));
  $("team-shown").replaceChildren(who(told), agreement(told), node("section", {}, node("h2", {}, name), list));
}

export function setUp(openOne) {
  open = openOne;
}
