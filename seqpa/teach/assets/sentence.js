// A sentence with its labels, as nodes: where it is labelled, in lists, and side by side.

import { node } from "./node.js";
import { classOf } from "./project.js";
import { positions } from "./reading.js";

const LONG = 24; // a longer word may be broken

/**
 * The nodes of a sentence: its text with its tokens in it, spans on a ground, or labels below.
 *
 * `look(at)` gives a token's attributes; `about(span)` those of a span.
 */
export function sentenceNodes({ text, tokens, offsets }, annotation, look = () => ({}), about = () => ({})) {
  const place = positions(text);
  const made = [];
  let at = 0;
  let inside = null; // the span's node that is being filled
  const add = (one) => (inside ? inside.append(one) : made.push(one));
  const upTo = (end) => {
    if (end > at) add(text.slice(at, end));
    at = Math.max(at, end);
  };
  const spans = annotation?.spans ?? [];
  let next = 0;
  tokens.forEach((word, t) => {
    const [start, end] = offsets[t].map(place);
    const span = spans[next];
    upTo(start);
    if (span && span[0] === t) {
      inside = node("mark", { ...about(span), class: `${classOf(span[2])} ${about(span).class ?? ""}` });
      made.push(inside);
    }
    const { class: looks = "", ...rest } = look(t);
    const spaced = t + 1 < tokens.length && place(offsets[t + 1][0]) > end;
    const one = node("span", { ...rest, class: `token ${spaced ? "spaced " : ""}${looks}`, "data-at": t });
    if (annotation?.labels) one.append(ruby(word, annotation.labels[t]));
    else one.append(word);
    add(one);
    at = Math.max(at, end);
    if (span && span[1] === t + 1) {
      inside.append(node("span", { class: "type", "aria-hidden": "true" }, span[2]));
      inside = null;
      next += 1;
    }
  });
  upTo(text.trimEnd().length);
  return made;
}

function ruby(word, label) {
  const below = label === null ? node("rt", { class: "open" }, "–") : node("rt", { class: classOf(label) }, label);
  return node("ruby", { class: word.length > LONG ? "long" : "" }, word, below);
}

/** What stands at tokens start to end, as it is written. */
export function textOf({ text, offsets }, start, end) {
  const place = positions(text);
  return text.slice(place(offsets[start][0]), place(offsets[end - 1][1]));
}

/** A chip with a label's name. */
export const chip = (label) => node("span", { class: `chip ${classOf(label)}` }, label);
