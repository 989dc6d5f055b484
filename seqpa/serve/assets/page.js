// The page: a text is read as it is typed, and each word of its reading can be asked why.
//
// Words, labels and names are only ever set as text, never as HTML.

import { node } from "./node.js";
import { asConll, asHtml, asJson, counts, moved, packed, paragraphs, positions, numbers, sentencesOf, unpacked, wellFormed } from "./reading.js";
import { classOfKind, classOfLabel, whyNode } from "./why.js";

const PAUSE = 30; // milliseconds between a key and the question
const RUN = 8000; // so many characters are asked about at once
const KEPT = 4000; // so many paragraphs are remembered
const UNSURE = 0.7; // a label less probable than this is underlined
const READINGS = 5;
const EXAMPLE =
  "Anna Norvell flew from Lyon to the Norvell works in Ohio. She chairs the Bank of Ghana, and her brother plays for Leeds United.\n\nIn May they met in Turkey, near the Evros river.";

const $ = (id) => document.getElementById(id);
const field = $("text");
const reading = $("reading");

const state = {
  cards: [], // of the models
  card: null, // of the one that is asked
  text: "", // as it is typed
  fixes: [], // {start, end, label, joined}: what the user says
  chosen: null, // {start, end}: the token that is asked why
  shown: { text: "", pieces: [] }, // what the reading shows
  answers: new Map(), // what was answered, by question
  changes: 0, // of anything that a question is made of
};

function say(text, bad = false) {
  $("state").textContent = text;
  $("state").classList.toggle("bad", bad);
}

// Asking the service

class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function ask(path, body) {
  const token = sessionStorage.getItem("token");
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const options = { headers };
  if (body) {
    headers["content-type"] = "application/json";
    options.method = "POST";
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Refused(0, "the service does not answer");
  }
  if (answer.ok) return answer.json();
  const told = await answer.json().catch(() => ({}));
  if (answer.status === 401) $("door").hidden = false;
  throw new Refused(answer.status, told.detail ?? `the service answers ${answer.status}`);
}

function question(text, start, more) {
  const number = numbers(text);
  const own = state.fixes.filter(
    (fix) => fix.start >= start && fix.end <= start + text.length && !fix.joined);
  return {
    text: wellFormed(text),
    model: state.card.name,
    language: $("language").value,
    fixed: own.map((fix) => ({ start: number(fix.start - start), label: fix.label })),
    ...more,
  };
}

const wholly = () => state.card.reach > 0; // the model looks beyond a paragraph
const keyOf = (piece) => JSON.stringify([state.card.version, question(piece.text, piece.start)]);

function remember(key, sentences) {
  state.answers.set(key, sentences);
  if (state.answers.size > KEPT) state.answers.delete(state.answers.keys().next().value);
}

/** The first paragraphs that nothing is known of, as many as fit into one question. */
function unknown(pieces) {
  const first = pieces.findIndex((piece) => !state.answers.has(piece.key));
  if (first < 0) return null;
  let last = first;
  while (
    last + 1 < pieces.length &&
    !state.answers.has(pieces[last + 1].key) &&
    pieces[last + 1].start + pieces[last + 1].text.length - pieces[first].start < RUN
  ) last += 1;
  return pieces.slice(first, last + 1);
}

async function answerTo(text, run) {
  const { start } = run[0];
  const end = run.at(-1).start + run.at(-1).text.length;
  const told = text.slice(start, end);
  const plainly = () => ask("/tag", question(told, start));
  const answer = told.length > RUN ? await plainly() : await ask("/tag", question(told, start, { probabilities: true })).catch((error) => {
    if (error.status === 413) return plainly(); // too many tokens for that
    throw error;
  });
  if (answer.version !== state.card.version) refreshCards();
  const sentences = sentencesOf(answer, told);
  for (const piece of run) {
    const [a, b] = [piece.start - start, piece.start - start + piece.text.length];
    const own = sentences.filter((one) => one.tokens[0].start >= a && one.tokens[0].start < b);
    for (const one of own) {
      for (const token of one.tokens) {
        token.start -= a;
        token.end -= a;
      }
    }
    remember(piece.key, own);
  }
}

let asking = false;
let timer = 0;

function soon() {
  clearTimeout(timer);
  timer = setTimeout(update, PAUSE);
}

async function update() {
  state.changes += 1;
  if (asking || !state.card) return; // it goes on with what is new when it is back
  asking = true;
  const began = performance.now();
  try {
    for (;;) {
      const { text, changes } = state;
      const pieces = paragraphs(text, wholly());
      for (const piece of pieces) piece.key = keyOf(piece);
      const run = unknown(pieces);
      if (!run) {
        show(text, pieces);
        if (state.changes === changes) break;
        continue;
      }
      try {
        await answerTo(text, run);
      } catch (error) {
        if (error.status === 422 && state.fixes.length) {
          if (state.text !== text || state.changes !== changes) continue; // that was before a change
          state.fixes = []; // they do not fit the text any more, or each other
          say(`Labels were freed: ${error.message}`, true);
          continue;
        }
        throw error;
      }
      const rest = unknown(pieces);
      if (!rest || rest[0] !== run[0]) show(text, pieces);
      if (!rest && state.changes === changes) break;
    }
    summary(performance.now() - began);
  } catch (error) {
    say(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`, true);
  } finally {
    asking = false;
  }
}

// Showing a reading

const kindClass = (kind) => classOfKind(state.card, kind);
const labelClass = (label) => classOfLabel(state.card, label);

function isFixed(start) {
  return state.fixes.some((fix) => fix.start === start);
}

function tokenNode(token, sentence, number) {
  const unsure = token.probability !== null && token.probability < UNSURE;
  const made = node("span", {
    class: `token${unsure ? " unsure" : ""}`,
    role: "button",
    tabindex: "-1",
    // Where the label stands below the word, it is heard as it is seen.
    "aria-label": sentence.spans ? `${token.text}, ${token.label}${unsure ? ", unsure" : ""}` : null,
    title: unsure ? "unsure" : null,
  });
  made.token = token;
  made.sentence = sentence;
  made.number = number;
  return made;
}

/** A paragraph: its text with the tokens in it, spans on a ground, or labels under the words. */
function paragraphNode(piece, sentences) {
  const made = node("div", { class: "paragraph" });
  let at = 0;
  const upTo = (place, end) => {
    if (end > at) place.append(piece.text.slice(at, end));
    at = end;
  };
  sentences.forEach((sentence, number) => {
    const spans = sentence.spans ?? [];
    let next = 0;
    let place = made;
    sentence.tokens.forEach((token, t) => {
      const span = spans[next];
      if (span && span.start === t) {
        upTo(made, token.start);
        place = node("mark", { class: kindClass(span.type) });
        made.append(place);
      }
      upTo(place, token.start);
      const word = tokenNode(token, sentence, number);
      if (sentence.spans) word.append(token.text);
      else word.append(node("ruby", { class: token.text.length > 24 ? "long" : "" }, token.text, node("rt", { class: labelClass(token.label) }, token.label)));
      place.append(word);
      at = token.end;
      if (span && span.end === t + 1) {
        place.append(node("span", { class: "type" }, span.type));
        place = made;
        next += 1;
      }
    });
  });
  upTo(made, piece.text.trimEnd().length);
  return made;
}

/** Show the paragraphs of a text; those that did not change stay as they are. */
function show(text, pieces) {
  const focused = reading.contains(document.activeElement) ? placeOf(document.activeElement) : null;
  const old = new Map();
  for (const piece of state.shown.pieces) {
    if (!old.has(piece.key)) old.set(piece.key, []);
    old.get(piece.key).push(piece.node);
  }
  const nodes = pieces.map((piece) => {
    const kept = old.get(piece.key)?.pop();
    const sentences = state.answers.get(piece.key);
    piece.node = kept && sentences ? kept : paragraphNode(piece, sentences ?? []);
    piece.node.piece = piece;
    if (!sentences) piece.key = `${piece.key} waits`;
    return piece.node;
  });
  const same = nodes.length === reading.children.length && nodes.every((one, i) => one === reading.children[i]);
  if (!same) reading.replaceChildren(...nodes);
  reading.classList.toggle("pos", Boolean(state.card) && !state.card.spans);
  state.shown = { text, pieces };
  for (const fix of reading.querySelectorAll(".token.fixed")) fix.classList.remove("fixed");
  for (const fix of state.fixes) nodeAt(fix.start)?.classList.add("fixed");
  $("free").hidden = !state.fixes.length;
  mark(focused);
  legend();
}

const tokens = () => [...reading.querySelectorAll(".token")];
const placeOf = (made) => made.closest(".paragraph").piece.start + made.token.start;

function nodeAt(start) {
  const piece = state.shown.pieces.findLast((one) => one.start <= start);
  if (!piece) return null;
  for (const one of piece.node.querySelectorAll(".token")) if (placeOf(one) === start) return one;
  return null;
}

function allSentences() {
  return state.shown.pieces.flatMap((piece) =>
    (state.answers.get(piece.key) ?? []).map((one) => ({
      ...one,
      tokens: one.tokens.map((token) => ({ ...token, start: token.start + piece.start, end: token.end + piece.start })),
    })),
  );
}

function legend() {
  const found = counts(state.shown.pieces.flatMap((piece) => state.answers.get(piece.key) ?? []), state.card);
  const kinds = Object.keys(state.card.colours);
  const seen = kinds.filter((kind) => found.has(kind)).sort((a, b) => found.get(b) - found.get(a));
  const rest = kinds.filter((kind) => !found.has(kind));
  const item = (kind) =>
    node("li", {}, node("span", { class: `chip ${kindClass(kind)}` }, kind || "span"), " ",
      node("span", { class: "count" }, found.has(kind) ? String(found.get(kind)) : ""));
  const parts = [node("h2", { class: "caption" }, state.card.spans ? "Spans" : "Labels")];
  if (seen.length) parts.push(node("ul", { class: "legend" }, ...seen.map(item)));
  else parts.push(node("ul", { class: "legend" }, ...rest.slice(0, 40).map(item)));
  $("legend").replaceChildren(...parts);
}

function summary(milliseconds) {
  let words = 0;
  let sentences = 0;
  let spans = 0;
  for (const piece of state.shown.pieces) {
    for (const one of state.answers.get(piece.key) ?? []) {
      sentences += 1;
      words += one.tokens.length;
      spans += one.spans?.length ?? 0;
    }
  }
  const count = (n, name) => `${n.toLocaleString("en")} ${name}${n === 1 ? "" : "s"}`;
  const parts = [count(words, "token"), count(sentences, "sentence")];
  if (state.card.spans) parts.push(count(spans, "span"));
  say(words ? `${parts.join(", ")}, in ${Math.max(1, Math.round(milliseconds))} ms` : "");
}

// Why

/** Mark the word that is asked about; `focused` is where the word is that has the focus, or null. */
function mark(focused) {
  for (const one of reading.querySelectorAll(".token.chosen")) {
    one.classList.remove("chosen");
    one.removeAttribute("aria-expanded");
  }
  for (const one of reading.querySelectorAll('.token[tabindex="0"]')) one.tabIndex = -1;
  const chosen = state.chosen && nodeAt(state.chosen.start);
  if (chosen) {
    chosen.classList.add("chosen");
    chosen.setAttribute("aria-expanded", "true");
    explain(chosen);
  } else {
    state.chosen = null;
    $("why").hidden = true;
    $("legend").hidden = false;
  }
  const had = focused === null ? null : nodeAt(focused);
  const first = had ?? chosen ?? reading.querySelector(".token");
  if (first) first.tabIndex = 0;
  if (focused !== null && first && !$("why").contains(document.activeElement)) first.focus({ preventScroll: true });
}

function choose(made) {
  const start = placeOf(made);
  state.chosen = { start, end: start + made.token.text.length };
  mark(null);
  made.scrollIntoView({ block: "nearest" });
}

function close() {
  const from = state.chosen && nodeAt(state.chosen.start);
  state.chosen = null;
  mark(null);
  if (from) {
    from.tabIndex = 0;
    for (const one of tokens()) if (one !== from) one.tabIndex = -1;
    from.focus({ preventScroll: true });
  }
}

let explained = ""; // what the side shows, so that it is asked once
let goThere = false; // the focus goes to the answer

async function explain(made) {
  const { piece } = made.closest(".paragraph");
  const { token, number } = made;
  const key = JSON.stringify([piece.key, number, token.start]);
  $("legend").hidden = true;
  $("why").hidden = false;
  if (key === explained && $("why").childElementCount) return;
  explained = key;
  try {
    const more = { only: [number], explain: true, probabilities: true, n_best: READINGS };
    const answer = await ask("/tag", question(piece.text, piece.start, more));
    if (explained !== key) return;
    const [one] = answer.sentences;
    const place = positions(piece.text);
    const t = one.offsets.findIndex(([a]) => place(a) === token.start);
    if (t < 0) return;
    showWhy({ token, t, one, piece });
  } catch (error) {
    if (explained !== key) return;
    explained = ""; // it can be asked again
    $("why").replaceChildren(node("p", { class: "bad" }, error.message));
  }
}

function showWhy({ token, t, one, piece }) {
  const start = piece.start + token.start;
  const place = positions(piece.text);
  const focus = document.activeElement?.dataset?.keep;
  const view = {
    card: state.card,
    fixed: isFixed(start),
    someFixed: one.offsets.some(([a]) => isFixed(piece.start + place(a))),
    close,
    fix: (label) => fix(start, token.text, label),
    take: (rank) => takeReading(rank, one, piece),
  };
  $("why").replaceChildren(whyNode(token, t, one, view));
  if (goThere) $("why-word").focus({ preventScroll: true });
  else if (focus) $("why").querySelector(`[data-keep="${CSS.escape(focus)}"]`)?.focus();
  goThere = false;
}

function fix(start, word, label) {
  state.fixes = state.fixes.filter((one) => one.start !== start);
  if (label !== null) state.fixes.push({ start, end: start + word.length, label });
  explained = "";
  update();
}

/** Fix labels so that a reading becomes the best: each that a better reading has otherwise. */
function takeReading(rank, one, piece) {
  const place = positions(piece.text);
  const starts = one.offsets.map(([a]) => piece.start + place(a));
  const better = one.n_best.slice(0, rank);
  one.n_best[rank].labels.forEach((label, t) => {
    if (better.every((other) => other.labels[t] === label)) return;
    state.fixes.push({ start: starts[t], end: starts[t] + one.tokens[t].length, label });
  });
  explained = "";
  update();
}

// The keyboard in the reading

function step(from, by) {
  const all = tokens();
  const to = all[Math.min(Math.max(all.indexOf(from) + by, 0), all.length - 1)];
  if (!to) return;
  for (const one of reading.querySelectorAll('.token[tabindex="0"]')) one.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

reading.addEventListener("keydown", (event) => {
  const from = event.target.closest?.(".token");
  if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
  const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufefc]/.test(from.token.text);
  const forward = rightToLeft ? "ArrowLeft" : "ArrowRight";
  const back = rightToLeft ? "ArrowRight" : "ArrowLeft";
  const moves = { [forward]: 1, [back]: -1, ArrowDown: 8, ArrowUp: -8, Home: -Infinity, End: Infinity };
  if (event.key in moves) step(from, moves[event.key]);
  else if (event.key === "Enter" || event.key === " ") {
    goThere = true;
    explained = "";
    choose(from);
  } else if (event.key === "Escape" && state.chosen) close();
  else return;
  event.preventDefault();
});

reading.addEventListener("click", (event) => {
  const made = event.target.closest(".token");
  if (made) choose(made);
});

$("side").addEventListener("keydown", (event) => {
  if (event.key === "Escape" && state.chosen) close();
});

// What else can be done

field.addEventListener("input", () => {
  const text = wellFormed(field.value);
  const caret = field.selectionEnd;
  state.fixes = moved(state.fixes, state.text, text, caret);
  if (state.chosen) [state.chosen = null] = moved([state.chosen], state.text, text, caret);
  state.text = text;
  if (location.hash) history.replaceState(null, "", location.pathname);
  soon();
});

function setText(text) {
  field.value = text;
  state.fixes = [];
  state.chosen = null;
  state.text = wellFormed(field.value);
  update();
}

$("example").addEventListener("click", () => setText(EXAMPLE));
$("clear").addEventListener("click", () => {
  setText("");
  field.focus();
});
$("free").addEventListener("click", () => {
  state.fixes = [];
  explained = "";
  update();
});

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const hidden = node("textarea", { class: "copy", "aria-hidden": "true" });
    hidden.value = text;
    document.body.append(hidden);
    hidden.select();
    const done = document.execCommand("copy"); // where the page is not loaded over TLS
    hidden.remove();
    if (!done) return say(`${what} could not be copied: the browser forbids it.`, true);
  }
  return say(`${what} copied.`);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () => {
    const { text } = state.shown;
    const made = { conll: () => asConll(allSentences()), json: () => asJson(text, allSentences(), state.card), html: () => asHtml(text, allSentences(), state.card) };
    copy(made[button.dataset.copy](), button.textContent);
  });
}

$("link").addEventListener("click", async () => {
  const { text, fixes, chosen } = state;
  const told = { text, model: state.card.name, language: $("language").value, fixes, chosen };
  history.replaceState(null, "", `#${await packed(told)}`);
  copy(location.href, "The link");
});

// Nothing in a link is believed: it may come from anybody.
async function fromLink() {
  if (location.hash.length < 2) return false;
  try {
    const told = await unpacked(location.hash.slice(1));
    const place = (one) => one && Number.isInteger(one.start) && Number.isInteger(one.end);
    if (typeof told.text !== "string") throw new Error("no text");
    const card = state.cards.find((one) => one.name === told.model);
    if (card) useModel(card);
    if ([...$("language").options].some((one) => one.value === told.language)) $("language").value = told.language;
    setText(told.text);
    const labels = new Set(state.card.labels);
    state.fixes = (Array.isArray(told.fixes) ? told.fixes : []).filter((fix) => place(fix) && labels.has(fix.label));
    state.chosen = place(told.chosen) ? told.chosen : null;
    return true;
  } catch {
    say("The link is damaged: its text could not be read.", true);
    return false;
  }
}

// Models and their colours

const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [sheet];
const COLOUR = /^#[0-9a-f]{6}$/;

function useModel(card) {
  state.card = card;
  $("model").value = card.name;
  const colours = Object.values(card.colours).map((one) => Object.fromEntries(Object.entries(one).filter(([, value]) => COLOUR.test(value))));
  const rules = colours.map(
    (one, i) =>
      `.kind-${i} { --ground: light-dark(${one.ground}, ${one.dark_ground}); --label-ink: light-dark(${one.ink}, ${one.dark_ink}) }`,
  );
  sheet.replaceSync(rules.join("\n"));
  $("about").textContent = `${card.file}, version ${card.version}.`;
  explained = "";
  reading.replaceChildren();
  state.shown = { text: "", pieces: [] };
  legend();
}

async function refreshCards() {
  const told = await ask("/model");
  state.cards = told.models;
  const now = told.models.find((one) => one.name === state.card?.name) ?? told.models[0];
  if (!state.card) {
    $("model").replaceChildren(...told.models.map((one) => node("option", { value: one.name }, one.name)));
    $("language").replaceChildren(...told.languages.map((name) => node("option", { value: name }, name)));
    $("language").value = told.language;
    for (const id of ["model", "language"]) $(id).closest("label").hidden = false;
  }
  if (now.version !== state.card?.version || now.name !== state.card?.name) useModel(now);
}

$("model").addEventListener("change", () => {
  state.fixes = [];
  state.chosen = null;
  useModel(state.cards.find((one) => one.name === $("model").value));
  update();
});
$("language").addEventListener("change", update);

$("door").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", $("token").value);
  $("token").value = "";
  $("door").hidden = true;
  begin();
});

async function begin() {
  try {
    await refreshCards();
  } catch (error) {
    return say(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`, true);
  }
  if (!(await fromLink())) state.text = wellFormed(field.value);
  await update();
  document.body.dataset.ready = "yes";
  return null;
}

window.addEventListener("hashchange", () => fromLink().then(() => update()));
begin();
