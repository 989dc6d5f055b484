// See it learn: accuracy on random sentences, F1 by type, speed, what was saved, advice.

import { get } from "./api.js";
import { curve, meter } from "./charts.js";
import { node } from "./node.js";
import { classOf, learn, project } from "./project.js";
import { count, percent, say } from "./say.js";
import { chip } from "./sentence.js";

const $ = (id) => document.getElementById(id);
const STATES = { early: "Just begun", learning: "Still learning", slowing: "Slowing down", enough: "Enough, perhaps" };

async function load() {
  const told = await get("/api/progress");
  learn({ counts: told.counts });
  return told;
}

const fact = (name, value, more) =>
  node("div", { class: "fact-card" }, node("dt", {}, name), node("dd", {}, node("span", { class: "big" }, value), node("span", { class: "quiet" }, more)));

const interval = (low, high) => (low === null || low === undefined ? "" : `between ${percent(low)} and ${percent(high)}, with 95\u00a0% confidence`);

function facts(told) {
  const { random, keys } = told;
  const found = [
    random
      ? fact("Accuracy on random sentences", percent(random.accuracy), `${interval(random.low, random.high)}; from ${count(random.sentences, "sentence")}, each before it was learned`)
      : fact("Accuracy on random sentences", "–", "known after the first random sentences"),
  ];
  if (random && random.f1 !== null && random.f1 !== undefined && project.kind === "spans") found.push(fact("F1 of spans", percent(random.f1), interval(random.f1_low, random.f1_high)));
  found.push(
    fact("Speed", told.per_hour ? `${Math.round(told.per_hour)} an hour` : "–", `${count(told.counts.labelled, "sentence")} in ${count(Math.round(told.minutes ?? 0), "minute")}`),
    fact("Keys saved", percent(keys?.saved, 0), keys ? `${count(keys.pressed, "key")} pressed; by hand it would be about ${Math.round(keys.by_hand).toLocaleString("en")}` : ""),
    fact("Accepted as proposed", percent(told.unchanged, 0), "of the sentences, without a correction"),
  );
  return node("dl", { class: "facts" }, ...found);
}

function table(points) {
  const head = ["labelled", "accuracy", "from", "to", "F1"].map((name) => node("th", { scope: "col" }, name));
  const rows = points.map((one) => node("tr", {}, node("td", {}, String(one.labelled)), ...[one.accuracy, one.low, one.high, one.f1].map((x) => node("td", {}, percent(x)))));
  return node("details", { class: "numbers" }, node("summary", {}, "The curve in numbers"),
    node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The curve in numbers" }, node("table", {}, node("thead", {}, node("tr", {}, ...head)), node("tbody", {}, ...rows))));
}

function types(told) {
  const rows = told.types.map((one) =>
    node("tr", {},
      node("th", { scope: "row" }, chip(one.label)),
      node("td", { class: "bar-cell" }, meter(one.f1 ?? 0, classOf(one.label))),
      node("td", {}, percent(one.f1)), node("td", {}, percent(one.precision)), node("td", {}, percent(one.recall)), node("td", {}, String(one.support))));
  const head = ["Label", "", "F1", "Precision", "Recall", "Seen"].map((name) => node("th", { scope: "col" }, name));
  return node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scores by label" }, node("table", { class: "barred" }, node("thead", {}, node("tr", {}, ...head)), node("tbody", {}, ...rows)));
}

export async function show() {
  let told;
  try {
    told = await load();
  } catch (error) {
    return say(error.message, true);
  }
  const parts = [];
  if (told.advice) parts.push(node("p", { class: `advice ${told.advice.state}` }, node("strong", {}, STATES[told.advice.state] ?? told.advice.state), " ", told.advice.text));
  parts.push(facts(told));
  if (told.curve.length > 1) {
    parts.push(
      node("section", { class: "panel" }, node("h2", {}, "How it learns"),
        node("p", { class: "quiet" }, node("span", { class: "key-line" }), "words that it had right before it learned them, on random sentences; the band is where that lies with 95\u00a0% confidence"),
        curve(told.curve), table(told.curve)),
    );
  }
  else parts.push(node("section", { class: "panel" }, node("h2", {}, "How it learns"), node("p", { class: "quiet" }, "The curve begins when a few more random sentences are labelled.")));
  if (told.types.length) parts.push(node("section", { class: "panel" }, node("h2", {}, "Label by label"), node("p", { class: "quiet" }, "On random sentences, before each was learned."), types(told)));
  $("progress").replaceChildren(...parts);
  return null;
}

/** The small picture beside the sentence. */
export async function showSmall() {
  const told = await load().catch(() => null);
  if (!told) return;
  const { random, advice, curve: points } = told;
  const parts = [];
  if (random) {
    parts.push(node("p", {}, node("span", { class: "big" }, percent(random.accuracy)), " ", node("span", { class: "quiet" }, "right on random sentences")));
    if (points.length > 1) parts.push(curve(points, { width: 280, height: 70, small: true }));
  }
  if (advice) parts.push(node("p", { class: "quiet" }, advice.text));
  $("small-progress").replaceChildren(...parts);
}
