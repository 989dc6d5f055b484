// See it learn: accuracy on random sentences, F1 by type, speed, what was saved, advice.

import { get } from "./api.js";
import { curve, meter } from "./charts.js";
import { node } from "./node.js";
import { classOf, learn, project } from "./project.js";
import { count, percent, say } from "./say.js";
import { chip } from "./sentence.js";

const $ = (id) => document.getElementById(id);
const STATES = { early: "Just begun", learning: "Still learning", slowing: "Slowing down", enough: "Enough, perhaps" };
const SURE = "95\u00a0% confidence";

async function load() {
  const told = await get("/api/progress");
  learn({ counts: told.counts });
  return told;
}

const quiet = (...inner) => node("p", { class: "quiet" }, ...inner);
const panel = (name, ...inner) => node("section", { class: "panel" }, node("h2", {}, name), ...inner);

/** A number with its name above it and what it means below. */
function fact(name, value, more) {
  const below = [node("span", { class: "big" }, value), node("span", { class: "quiet" }, more)];
  return node("div", { class: "fact-card" }, node("dt", {}, name), node("dd", {}, ...below));
}

function interval(low, high) {
  return low === null || low === undefined ? "" : `between ${percent(low)} and ${percent(high)}, with ${SURE}`;
}

function accuracy(random) {
  if (!random) return fact("Accuracy", "–", "known after the first random sentences");
  const on = `on ${count(random.sentences, "random sentence")}, each before it was learned`;
  return fact("Accuracy", percent(random.accuracy), `${on}; ${interval(random.low, random.high)}`);
}

function facts({ random, keys, counts, minutes, per_hour: speed, unchanged }) {
  const found = [accuracy(random)];
  if (random && random.f1 !== null && project.kind === "spans") {
    found.push(fact("F1 of spans", percent(random.f1), interval(random.f1_low, random.f1_high)));
  }
  const work = `${count(counts.labelled, "sentence")} in ${count(Math.round(minutes ?? 0), "minute")}`;
  const pressed = keys ? `${count(keys.pressed, "key")} pressed; by hand it would be about ${Math.round(keys.by_hand).toLocaleString("en")}` : "";
  found.push(
    fact("Speed", speed ? `${Math.round(speed).toLocaleString("en")} an hour` : "–", work),
    fact("Keys saved", percent(keys?.saved, 0), pressed),
    fact("Accepted as proposed", percent(unchanged, 0), "of the sentences, without a correction"),
  );
  return node("dl", { class: "facts" }, ...found);
}

/** A table that scrolls in itself, so that the page does not. */
function table(name, looks, head, rows) {
  const heads = head.map((text) => node("th", { scope: "col" }, text));
  const made = node("table", { class: looks }, node("thead", {}, node("tr", {}, ...heads)), node("tbody", {}, ...rows));
  return node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, made);
}

const cells = (...values) => values.map((value) => node("td", {}, value));

function numbers(points) {
  const rows = points.map((one) =>
    node("tr", {}, ...cells(String(one.labelled), percent(one.accuracy), percent(one.low), percent(one.high), percent(one.f1))));
  const name = "The curve in numbers";
  return node("details", { class: "numbers" }, node("summary", {}, name),
    table(name, "", ["labelled", "accuracy", "from", "to", "F1"], rows));
}

function types(found) {
  const rows = found.map((one) =>
    node("tr", {}, node("th", { scope: "row" }, chip(one.label)),
      node("td", { class: "bar-cell" }, meter(one.f1 ?? 0, classOf(one.label))),
      ...cells(percent(one.f1), percent(one.precision), percent(one.recall), String(one.support))));
  return table("Scores by label", "barred", ["Label", "", "F1", "Precision", "Recall", "Seen"], rows);
}

function learning(points) {
  if (points.length < 2) {
    return panel("How it learns", quiet("The curve begins when a few more random sentences are labelled."));
  }
  const key = `words that it had right before it learned them, on random sentences; the band is where that lies with ${SURE}`;
  return panel("How it learns", quiet(node("span", { class: "key-line" }), key), curve(points), numbers(points));
}

export async function show() {
  let told;
  try {
    told = await load();
  } catch (error) {
    return say(error.message, true);
  }
  const { advice } = told;
  const parts = [];
  if (advice) {
    const state = node("strong", {}, STATES[advice.state] ?? advice.state);
    parts.push(node("p", { class: `advice ${advice.state}` }, state, ". ", advice.text));
  }
  parts.push(facts(told), learning(told.curve));
  if (told.types.length) {
    parts.push(panel("Label by label", quiet("On random sentences, before each was learned."), types(told.types)));
  }
  $("progress-shown").replaceChildren(...parts);
  return null;
}

/** The small picture beside the sentence. */
export async function showSmall() {
  const told = await load().catch(() => null);
  if (!told) return;
  const { random, advice, curve: points } = told;
  const parts = [];
  if (random) {
    const words = node("span", { class: "quiet" }, "right on random sentences");
    parts.push(node("p", {}, node("span", { class: "big" }, percent(random.accuracy)), " ", words));
    if (points.length > 1) parts.push(curve(points, { width: 280, height: 70, small: true }));
  }
  if (advice) parts.push(quiet(advice.text));
  $("small-progress").replaceChildren(...parts);
}
