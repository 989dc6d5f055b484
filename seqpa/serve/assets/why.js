// Why a word has its label, as nodes: what is told of it, and the buttons that fix labels.
//
// A view has the model's card, whether the word's label is fixed, whether any label of its sentence
// is, and what buttons do: close(), fix(label or null), take(rank of a reading).

import { node } from "./node.js";

export function classOfKind(card, kind) {
  const at = Object.keys(card.colours).indexOf(kind);
  return at < 0 ? "" : `kind-${at}`;
}

export const classOfLabel = (card, label) => classOfKind(card, card.kinds[label] ?? label);

const percent = (p) => (p > 0.9995 ? "> 99.9 %" : p < 0.0005 ? "< 0.1 %" : `${(100 * p).toFixed(p > 0.1 ? 1 : 2)} %`);
const signed = (x) => `${x > 0 ? "+" : x < 0 ? "−" : ""}${Math.abs(x).toFixed(2)}`;
const chip = (card, label) => node("span", { class: `chip ${classOfLabel(card, label)}` }, label);

/** All that is told of token t of a sentence that the service answered. */
export function whyNode(token, t, one, view) {
  const told = one.explanations[t];
  const label = one.labels[t];
  const parts = [
    node("div", { class: "why-head" },
      node("h2", { dir: "auto", tabindex: "-1", id: "why-word", "data-keep": "word" }, token.text, " ", chip(view.card, label)),
      node("button", { type: "button", class: "close", "aria-label": "Close", "data-keep": "close", onclick: view.close }, "✕")),
    facts(told, one.probabilities[t], label, view),
    fixing(token, label, told, view),
  ];
  if (told.features.length) parts.push(features(told, view));
  if (one.n_best.length > 1) parts.push(readings(one, view));
  return node("div", { class: "why" }, ...parts);
}

/** By how much the label that the model would give on its own is ahead. */
function ahead(told, card) {
  if (told.runner_up === null) return [", no other label is possible"];
  return [", ahead of ", chip(card, told.runner_up), " by ", node("b", {}, told.margin.toFixed(2))];
}

function facts(told, probability, label, { card, fixed }) {
  const sure = card.calibrated && !fixed ? ["probability ", node("b", {}, percent(probability))] : [];
  if (!fixed && told.label === label) {
    const rest = ahead(told, card);
    if (!sure.length) rest[0] = rest[0].slice(2);
    return node("p", { class: "fact" }, ...sure, ...rest);
  }
  const why = fixed ? ["Fixed by you. "] : ["Follows from what you fixed", sure.length ? ", " : "", ...sure, ". "];
  const alone = told.label === label ? ["The model agrees"] : ["On its own the model says ", chip(card, told.label)];
  return node("p", { class: "fact" }, ...why, ...alone, ...ahead(told, card), ".");
}

function fixing(token, now, told, { card, fixed, someFixed, fix }) {
  const select = node("select", { "aria-label": `Label of ${token.text}`, "data-keep": "fix",
    onchange: (event) => fix(event.target.value || null) },
    node("option", { value: "" }, fixed ? "free again" : "fix a label…"),
    ...card.labels.map((label) => node("option", { value: label }, label)));
  select.value = fixed ? now : "";
  const rows = told.alternatives.map(({ label, probability }) => {
    const meter = node("span", { class: classOfLabel(card, label) });
    meter.style.width = `${100 * probability}%`;
    const on = fixed && now === label;
    return node("li", {},
      node("button", { type: "button", class: "alternative", "aria-pressed": String(on), "data-keep": `fix ${label}`,
        title: on ? "free it again" : `fix ${label}`,
        onclick: () => fix(on ? null : label) },
        node("span", {}, chip(card, label)), node("span", { class: "meter" }, meter), node("span", { class: "number" }, percent(probability))));
  });
  const whose = someFixed ? " to the model on its own" : "";
  return node("section", {}, node("h3", {}, `${card.calibrated ? "How probable" : "The best labels"}${whose}; choose one to fix it`),
    node("ul", { class: "list" }, ...rows), node("p", { class: "fact" }, select));
}

function features(told, { card }) {
  const rows = told.features.map(({ name, chosen, runner_up: other }) => ({ name, value: chosen - other }));
  const most = Math.max(...rows.map((row) => Math.abs(row.value)), 1e-9);
  return node("section", {},
    node("h3", {}, "For ", chip(card, told.label), ", against ", chip(card, told.runner_up)),
    node("ul", { class: "list" }, ...rows.map(({ name, value }) => {
      const side = value >= 0 ? "for" : "against";
      const bar = node("span", { class: side });
      bar.style.width = `${(50 * Math.abs(value)) / most}%`;
      return node("li", { class: "feature" }, node("span", { class: "name", dir: "auto" }, name),
        node("span", { class: "balance", "aria-hidden": "true" }, bar),
        node("span", { class: `number ${side}` }, signed(value)));
    })));
}

function readings(one, { card, someFixed, take }) {
  const [best] = one.n_best;
  const rows = one.n_best.map((told, rank) => {
    const what = node("span", { class: "what", dir: "auto" });
    if (told.spans) {
      told.spans.forEach((span, i) => what.append(i ? " · " : "", span.text, " ", node("span", { class: `chip ${classOfKind(card, span.type)}` }, span.type || "span")));
      if (!told.spans.length) what.append("no span");
    } else {
      const other = told.labels.map((label, t) => [one.tokens[t], label, best.labels[t]]).filter(([, label, first]) => rank && label !== first);
      if (!rank) what.append("the best");
      other.forEach(([word, label], i) => what.append(i ? " · " : "", word, " ", chip(card, label)));
    }
    const button = node("button", { type: "button", "data-keep": `take ${rank}`, "aria-label": `Take reading ${rank + 1}`,
      onclick: () => take(rank) }, "Take");
    const same = told.labels.every((label, t) => label === one.labels[t]);
    const behind = rank ? signed(told.score - best.score) : "";
    return node("li", { class: "one-reading" }, what, node("span", { class: "number" }, behind, " ", same ? "shown" : button));
  });
  return node("section", {}, node("h3", {}, `The ${rows.length} best readings of the sentence${someFixed ? " with what you fixed" : ""}`), node("ol", { class: "list" }, ...rows));
}
