// What the page knows of texts and readings, without the page: pure functions.
//
// Positions are those of JavaScript, in UTF-16 units; the service counts characters. A sentence is
// {tokens: [{text, start, end, label, probability}], spans: [{type, start, end}]}, a span's ends
// being tokens.

const BLANK_LINES = /\n[ \t\r\f\v]*(?:\n[ \t\r\f\v]*)+/g;

/** Pieces of a text that are read apart, where they begin: what stands between blank lines. */
export function paragraphs(text, whole) {
  const found = [];
  let start = 0;
  const add = (end) => {
    if (text.slice(start, end).trim()) found.push({ start, text: text.slice(start, end) });
  };
  if (!whole) {
    for (const match of text.matchAll(BLANK_LINES)) {
      add(match.index);
      start = match.index + match[0].length;
    }
  }
  add(text.length);
  return found;
}

/** A text without halves of characters, which JSON cannot hold; of the same length. */
export function wellFormed(text) {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}

/** From the number of a character to its position in UTF-16 units. */
export function positions(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (at) => at;
  const places = [];
  let at = 0;
  for (const sign of text) {
    places.push(at);
    at += sign.length;
  }
  places.push(at);
  return (number) => places[number];
}

/** From a position in UTF-16 units to the number of the character. */
export function numbers(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (at) => at;
  const found = new Uint32Array(text.length + 1);
  let at = 0;
  let number = 0;
  for (const sign of text) {
    found[at] = number;
    at += sign.length;
    number += 1;
  }
  found[at] = number;
  return (position) => found[position];
}

/** The sentences of an answer about a text. */
export function sentencesOf(answer, text) {
  const place = positions(text);
  return answer.sentences.map((one) => ({
    tokens: one.tokens.map((word, t) => ({
      text: word,
      start: place(one.offsets[t][0]),
      end: place(one.offsets[t][1]),
      label: one.labels[t],
      probability: one.probabilities ? one.probabilities[t] : null,
    })),
    spans: one.spans ? one.spans.map(({ type, start, end }) => ({ type, start, end })) : null,
  }));
}

/** Whether letters stand on both sides of a place. */
const isInside = (text, at) =>
  /[\p{L}\p{M}\p{N}]$/u.test(text.slice(Math.max(at - 2, 0), at)) && /^[\p{L}\p{M}\p{N}]/u.test(text.slice(at, at + 2));

/**
 * What has its place in an old text, at its place in a new one, that was changed before the caret.
 * It is joined while a word is typed right before it, with no space between them yet.
 */
export function moved(fixes, before, after, caret) {
  if (before === after || !fixes.length) return fixes;
  const most = Math.min(before.length, after.length);
  let tail = 0;
  while (tail < Math.min(most, after.length - caret) && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  let head = 0;
  while (head < most - tail && before[head] === after[head]) head += 1;
  const shift = after.length - before.length;
  const follow = (fix) => {
    const start = fix.start + shift;
    const joined = fix.start === before.length - tail ? isInside(after, start) : fix.joined;
    return { ...fix, start, end: fix.end + shift, joined };
  };
  return fixes
    .filter((fix) => fix.end <= head || fix.start >= before.length - tail)
    .map((fix) => (fix.end <= head ? fix : follow(fix)));
}

// What can be copied

/** Columns: a word and its label a line, an empty line behind each sentence. */
export function asConll(sentences) {
  return sentences
    .map((one) => one.tokens.map((token) => `${token.text}\t${token.label}\n`).join("") + "\n")
    .join("");
}

/** The shape of the service's answers. */
export function asJson(text, sentences, model) {
  const number = numbers(text);
  const told = sentences.map((one) => {
    const record = {
      tokens: one.tokens.map((token) => token.text),
      labels: one.tokens.map((token) => token.label),
      offsets: one.tokens.map((token) => [number(token.start), number(token.end)]),
    };
    if (one.spans) {
      record.spans = one.spans.map(({ type, start, end }) => {
        const [a, b] = [one.tokens[start].start, one.tokens[end - 1].end];
        return { type, start, end, start_char: number(a), end_char: number(b), text: text.slice(a, b) };
      });
    }
    return record;
  });
  return JSON.stringify({ model: model.name, version: model.version, text, sentences: told }, null, 1);
}

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text that means itself in HTML. */
export function escaped(text) {
  return text.replace(/[&<>"']/g, (sign) => ESCAPES[sign]);
}

/** A piece of HTML that needs no style sheet. */
export function asHtml(text, sentences, model) {
  const style = (kind) => {
    const { ground = "#eeeeee", ink = "#333333" } = model.colours[kind] ?? {};
    return `background:${ground};color:${ink}`;
  };
  const parts = [];
  let at = 0;
  const upTo = (end) => {
    parts.push(escaped(text.slice(at, end)));
    at = end;
  };
  for (const one of sentences) {
    const marked = one.spans
      ? one.spans.map((span) => [one.tokens[span.start].start, one.tokens[span.end - 1].end, span.type, span.type])
      : one.tokens.map((token) => [token.start, token.end, token.label, model.kinds[token.label]]);
    for (const [start, end, name, kind] of marked) {
      upTo(start);
      parts.push(`<mark style="${style(kind)};border-radius:.3em;padding:.1em .3em">`);
      upTo(end);
      parts.push(` <small style="font-weight:bold">${escaped(name)}</small></mark>`);
    }
  }
  upTo(text.length);
  return `<div style="white-space:pre-wrap;line-height:2" dir="auto">${parts.join("")}</div>`;
}

// Links

const MOST = 2 ** 20;

async function through(stream, bytes, most) {
  const writer = stream.writable.getWriter();
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  const chunks = [];
  let size = 0;
  const reader = stream.readable.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) throw new Error("the link holds too much");
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** A value as the end of an address. */
export async function packed(value) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(value)), Infinity);
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The value in the end of an address. */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), bytes, 4 * MOST)));
}

/** How often there is each kind of span, or of label where there are no spans. */
export function counts(sentences, card) {
  const found = new Map();
  for (const sentence of sentences) {
    const kinds = sentence.spans
      ? sentence.spans.map((span) => span.type)
      : sentence.tokens.map((token) => card.kinds[token.label] ?? token.label);
    for (const kind of kinds) found.set(kind, (found.get(kind) ?? 0) + 1);
  }
  return found;
}
