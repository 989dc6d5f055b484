// Several people: who did what, how far they agree, and what they see differently.

import { differences } from "./annotation.js";
import { get, post } from "./api.js";
import { meter } from "./charts.js";
import { node } from "./node.js";
import { direction, learn } from "./project.js";
import { count, percent, say } from "./say.js";
import { sentenceNodes } from "./sentence.js";

const $ = (id) => document.getElementById(id);
let open = () => {};

const cells = (name, ...values) => node("tr", {}, node("th", { scope: "row" }, name), ...values.map((value) => node("td", {}, value)));

function table(head, rows) {
  return node("table", { class: head[1] ? "" : "barred" }, node("thead", {}, node("tr", {}, ...head.map((name) => node("th", { scope: "col" }, name)))), node("tbody", {}, ...rows));
}

const kappa = (x) => (x === null || x === undefined ? "–" : x.toFixed(2));

function settling(one) {
  const settle = async (annotation, name) => {
    try {
      const told = await post("/api/settle", { sentence: one.sentence, annotation });
      learn({ counts: told.counts });
      say(`Settled: as ${name} has it.`);
      await show();
    } catch (error) {
      say(error.message, true);
    }
  };
  const lines = one.readings.map(({ user, annotation }, i) => {
    const other = one.readings[i ? 0 : 1]?.annotation;
    const marked = other ? differences(annotation, other, one.tokens.length) : new Set();
    return node("div", { class: "reading-line" }, node("span", { class: "who" }, user),
      node("div", { class: `words${annotation.labels ? " pos" : ""}`, dir: direction() }, ...sentenceNodes(one, annotation, (t) => ({ class: marked.has(t) ? "differs" : "" }))),
      node("button", { type: "button", "aria-label": `Take the labels of ${user}`, onclick: () => settle(annotation, user) }, "Take this"));
  });
  return node("li", { class: "row-card" }, node("div", { class: "row-body" }, ...lines,
    node("p", {}, node("button", { type: "button", class: "plain", onclick: () => open(one.sentence) }, "Neither: label it anew"))));
}

export async function show() {
  let told;
  try {
    told = await get("/api/team");
  } catch (error) {
    say(error.message, true);
    return;
  }
  const most = Math.max(1, ...told.users.map((one) => one.labelled));
  const left = told.differences.filter((one) => !one.settled);
  const parts = [
    node("section", { class: "panel" }, node("h2", {}, "Who"),
      node("p", { class: "quiet" }, `${percent(told.share, 0)} of the sentences go to two people.`),
      table(["Name", "", "Labelled", "An hour"], told.users.map((one) => {
        const made = cells(one.name, "", String(one.labelled), one.per_hour ? String(Math.round(one.per_hour)) : "–");
        made.children[1].className = "bar-cell";
        made.children[1].append(meter(one.labelled / most));
        return made;
      }))),
  ];
  const agreement = [node("h2", {}, "Agreement")];
  if (told.agreement) {
    agreement.push(
      node("p", {}, node("span", { class: "big" }, told.agreement.f1 === null ? kappa(told.agreement.kappa) : percent(told.agreement.f1)), " ",
        node("span", { class: "quiet" }, `${told.agreement.f1 === null ? "κ" : `F1 of one against the other, κ ${kappa(told.agreement.kappa)}`}, on ${count(told.agreement.sentences, "sentence")} that two people labelled`)),
      table(["Pair", "F1", "κ", "Sentences"], told.pairs.map((one) => cells(one.users.join(" and "), percent(one.f1), kappa(one.kappa), String(one.sentences)))),
    );
  } else agreement.push(node("p", { class: "quiet" }, "Known as soon as two people have labelled the same sentence."));
  parts.push(node("section", { class: "panel" }, ...agreement));
  parts.push(node("section", {}, node("h2", {}, left.length ? `${count(left.length, "difference")} to settle` : "Nothing to settle"),
    node("ul", { class: "rows" }, ...left.map(settling))));
  $("team").replaceChildren(...parts);
}

export function setUp(openOne) {
  open = openOne;
}
