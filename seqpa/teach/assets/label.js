// The labelling view: a sentence, what is said of it, and what is done with it.

import { confirm, confirmAll, confirmedAt, labelAt, overlaps, pieceAt, same, spanAt, under } from "./annotation.js";
import { ask, get, leave, post, requestId } from "./api.js";
import { draftOf, dropDraft, keepDraft, lastSentence, setLastSentence } from "./drafts.js";
import { Effort, listen } from "./effort.js";
import { node } from "./node.js";
import { classOf, direction, isTyped, learn, onChange, project, refresh } from "./project.js";
import { count, dialog, say } from "./say.js";
import { Selection } from "./selection.js";
import { sentenceNodes, textOf } from "./sentence.js";
import { typedLabel } from "./typeahead.js";

const $ = (id) => document.getElementById(id);
const WHY = {
  random: "Chosen at random: what the model gets right here counts for its accuracy",
  unfinished: "You left this one unfinished",
  again: "Labelled before: look again, now that the labels have changed",
  second: "For a second pair of eyes",
  asked: "Opened by you",
  grown: "The model has grown unsure of words that you had left to it",
};
const HINTS = {
  whole: "Enter accepts what is shown. To correct: move to a word with the arrow keys or the mouse, then press a label’s key. Dotted words are those the model is unsure of.",
  part: "Only the dotted words are asked for; the rest is left to the model. A label’s key corrects the word at the cursor, y confirms it, Enter confirms all dotted words as they are shown and goes on. Shift + Enter accepts the whole sentence.",
};

const UNDONE = {
  accept: "the sentence is open again",
  settle: "the difference is open again",
  skip: "the sentence is not skipped any more",
  flag: "the flag is as it was",
  partial: "what was left unfinished is as it was",
  labels: "the labels are as they were",
  guidelines: "the guidelines are as they were",
  repair: "the repaired sentences are as they were",
};

let task = null;
let shown = null; // the annotation on the page
let unsure = new Set();
let confirmed = [];
let past = []; // what was confirmed before each correction
let sent = "[]"; // what the server knows to be confirmed
let effort = null;
let busy = false;
let asked = 0; // the number of the last question to the model
let accepted = 0;
let landed = null; // where the cursor was sent after a correction, and from where on
let afterAccept = () => {};

const box = $("sentence");
const selection = new Selection(box, () => shown ?? { spans: [] }, mark);
const n = () => task?.tokens.length ?? 0;
/** A sentence that has its labels is changed as it stands: the model does not decide it anew. */
const isOpen = () => !task.labelled;
/** Whether only the words are asked for that the model is unsure of. */
const isPart = () => task.whole === false && isOpen();
/** The words that want looking at: unsure and not confirmed, or without a label yet. */
const places = () => Array.from({ length: n() }, (_, t) => t).filter(
  (t) => !confirmedAt(confirmed, t) && (unsure.has(t) || (shown.labels && shown.labels[t] === null)));

// Showing

/** Show a sentence; null: there is none left. */
export function show(next) {
  task = next;
  $("stage").hidden = !task;
  $("done").hidden = Boolean(task);
  $("work").classList.remove("waiting");
  setLastSentence(task ? task.sentence : null);
  asked += 1;
  box.removeAttribute("aria-busy");
  effort = null;
  if (!task) return heard("Nothing is left to label.");
  const draft = fitting(draftOf(task));
  confirmed = draft?.confirmed ?? task.confirmed ?? [];
  past = draft?.past ?? [];
  sent = JSON.stringify(task.confirmed ?? []);
  effort = new Effort(draft?.effort);
  shown = under(task.annotation, confirmed);
  unsure = new Set(task.unsure);
  landed = null;
  selection.reset(n(), places()[0] ?? 0);
  $("hint").textContent = isPart() ? HINTS.part : HINTS.whole;
  $("accept").firstChild.textContent = isPart() ? "Confirm dotted " : "Accept ";
  const place = project.team && task.labelled ? `, labelled by ${task.labelled.user}` : "";
  $("why").textContent = WHY[task.why] ?? "Chosen because the model would learn from it";
  $("where").textContent = `${task.document}, sentence ${task.position + 1}${place}`;
  for (const id of ["before", "after"]) {
    $(id).textContent = task[id] ?? "";
    $(id).hidden = !task[id];
  }
  for (const id of ["before", "sentence", "after"]) $(id).dir = direction();
  render();
  flagShown();
  if (draft && isOpen() && !same(confirmed, task.confirmed ?? [])) redecode();
  heard(spoken());
  return null;
}

/** A draft without the labels that are no more: somebody may have changed them since it was kept. */
function fitting(draft) {
  const known = new Set([null, ...project.labels.map((one) => one.name)]);
  if (!draft || draft.confirmed.every((one) => known.has(one[2]))) return draft;
  return { ...draft, confirmed: draft.confirmed.filter((one) => known.has(one[2])), past: [] };
}

/** For those who hear the page: the sentence and what is proposed. */
function spoken() {
  const told = shown.spans
    ? shown.spans.map(([start, end, label]) => `${textOf(task, start, end)}: ${label}`)
    : task.tokens.map((word, t) => `${word}: ${shown.labels[t] ?? "open"}`);
  const doubts = [...unsure].map((t) => task.tokens[t]);
  return [task.text, told.join(", ") || "no labels", doubts.length ? `unsure: ${doubts.join(", ")}` : ""].filter(Boolean).join(". ");
}

const heard = (text) => {
  $("heard").textContent = text;
};

function render() {
  const look = (t) => {
    const sure = confirmedAt(confirmed, t);
    const label = labelAt(shown, t);
    const doubt = unsure.has(t) && !sure;
    const words = [task.tokens[t], label ?? (shown.labels ? "open" : ""), doubt ? "unsure" : "", sure ? "confirmed" : ""];
    const looks = [doubt ? "unsure" : "", sure && (sure[2] === null || shown.labels) ? "sure" : ""];
    return {
      id: `token-${t}`,
      role: "option",
      class: looks.join(" "),
      "aria-label": words.filter(Boolean).join(", "),
      title: doubt ? "the model is unsure here" : null,
    };
  };
  const about = ([start, end, label]) => ({
    role: "group",
    "aria-label": label,
    class: confirmed.some((one) => one[2] !== null && overlaps(one, start, end)) ? "confirmed" : "",
  });
  box.replaceChildren(...sentenceNodes(task, shown, look, about));
  box.classList.toggle("pos", Boolean(shown.labels));
  mark();
}

/** Mark the cursor and what is selected, on what stands there. */
function mark() {
  if (!task) return;
  const [start, end] = selection.target();
  for (const one of box.querySelectorAll(".token")) {
    const at = Number(one.dataset.at);
    const inside = at >= start && at < end;
    one.classList.toggle("chosen", inside);
    one.classList.toggle("first", at === start);
    one.classList.toggle("last", at === end - 1);
    one.classList.toggle("cursor", at === selection.cursor);
    one.setAttribute("aria-selected", String(inside));
  }
  box.setAttribute("aria-activedescendant", `token-${selection.cursor}`);
  $(`token-${selection.cursor}`)?.scrollIntoView({ block: "nearest" });
  const span = spanAt(shown, start);
  const has = shown.labels ? shown.labels[start] : span && span[0] === start && span[1] === end ? span[2] : null;
  for (const one of $("bar").querySelectorAll("[data-label]")) {
    one.setAttribute("aria-pressed", String(one.dataset.label === (has ?? "")));
  }
}

/** The labels as buttons, with their keys. */
function bar() {
  const typed = isTyped();
  const button = (name, key, label, more = "") =>
    node("button", { type: "button", class: `give ${more}`, "data-label": label ?? "", "aria-pressed": "false", onclick: () => give(label) },
      node("span", { class: "give-name" }, name), ...(key ? [node("kbd", {}, key)] : []));
  $("bar").replaceChildren(
    ...project.labels.map(({ name, key }) => button(name, typed ? "" : key, name, classOf(name))),
    button("none", "0", null, "no-label"),
  );
  $("type-name").hidden = !typed;
}

function flagShown() {
  const flag = task?.flag ?? null;
  $("flagged").hidden = flag === null;
  $("flagged").textContent = flag ? `⚑ ${flag}` : "⚑ flagged";
}

// Labels are given

/** Give the selected words a label; null: none. */
export function give(label) {
  if (!task || busy || !n()) return;
  box.focus({ preventScroll: true });
  const [start, end] = selection.target();
  const told = confirm(project.kind, confirmed, start, end, label);
  if (told.refused) {
    const [from, to, name] = told.refused;
    say(`Spans cannot overlap: “${textOf(task, from, to)}” is ${name} already. Take that label away first (0), or select all of it.`, true);
    return;
  }
  past.push({ confirmed, shown });
  confirmed = told.confirmed;
  shown = under(shown, confirmed);
  goOn(end);
  changed();
  say(`${textOf(task, start, end)}: ${label ?? (shown.labels ? "left open" : "no label")}`);
}

/** After a correction: to the next word that wants looking at, or to the end of what was given. */
function goOn(from) {
  const next = isOpen() ? places() : []; // labels that are gone over are not asked for
  selection.cursor = next.find((t) => t >= from) ?? next[0] ?? from - 1;
  selection.settle();
  landed = { cursor: selection.cursor, from };
}

/** Say that what is shown at the cursor is right. */
function confirmHere() {
  if (!task || busy || !n()) return;
  const at = selection.cursor;
  const piece = confirmedAt(confirmed, at) ?? pieceAt(shown, confirmed, at);
  if (piece[2] === null && shown.labels) return say("This word has no label yet: give it one.", true);
  past.push({ confirmed, shown });
  confirmed = confirmAll(shown, confirmed, [at]);
  goOn(piece[1]);
  changed();
  say(`${textOf(task, piece[0], piece[1])}: ${piece[2] ?? "no label"}, confirmed`);
}

function changed() {
  save();
  render();
  if (isOpen()) redecode();
}

function save() {
  if (!past.length && same(confirmed, task.confirmed ?? [])) return dropDraft(task.sentence);
  return keepDraft(task, { confirmed, past, effort: effort.told() });
}

/** Ask the model what follows for the rest of the sentence. */
async function redecode() {
  asked += 1;
  const mine = asked;
  const about = task;
  box.setAttribute("aria-busy", "true");
  try {
    const told = await ask("/api/propose", { sentence: task.sentence, confirmed, whole: !isPart() });
    if (mine !== asked || task !== about) return;
    shown = under(told.annotation, confirmed);
    unsure = new Set(told.unsure);
    if (landed && landed.cursor === selection.cursor && !selection.exact) goOn(landed.from);
    render();
  } catch (error) {
    if (error.status && mine === asked) {
      say(error.message, true); // without an answer: as it stands
      refresh().catch(() => {}); // a label may be gone
    }
  } finally {
    if (mine === asked) box.removeAttribute("aria-busy");
  }
}

// What is done with the sentence

/** Do something that ends in another sentence; nothing else is done meanwhile. */
async function once(does) {
  if (busy) return;
  busy = true;
  $("work").setAttribute("aria-busy", "true");
  const slow = setTimeout(() => $("work").classList.add("waiting"), 200);
  try {
    await does();
  } catch (error) {
    say(error.message, true);
    if (error.status === 409) await collided(task).catch(() => {});
    else if (error.status === 422) refresh().catch(() => {}); // a label may be gone
  } finally {
    clearTimeout(slow);
    busy = false;
    $("work").removeAttribute("aria-busy");
    $("work").classList.remove("waiting");
  }
}

/** Another has the sentence: the next one, and ours is kept. Or we have labelled it in another tab:
 * here it is as it is now, with what was entered here. */
async function collided(mine) {
  const found = mine && (await get(`/api/sentences/${mine.sentence}`));
  if (found?.labelled?.user === project.user && found.clock > mine.clock) show(found);
  else await next();
}

export async function next() {
  const told = await post("/api/next", {});
  learn({ counts: told.counts });
  show(told.task);
}

export const accept = (event) => once(async () => {
  if (!task) return;
  const mine = task;
  const inPart = isPart() && !event?.shiftKey;
  const left = inPart ? 0 : (shown.labels ?? []).filter((label) => label === null).length;
  const spent = effort.take();
  const about = { sentence: mine.sentence, ...spent, clock: mine.clock };
  let told;
  try {
    told = inPart
      ? await post("/api/partial", { ...about, confirmed: confirmAll(shown, part(), places()), done: true })
      : await post("/api/accept", { ...about, annotation: shown, proposed: mine.annotation });
  } catch (error) {
    if (task === mine) effort = new Effort(spent);
    throw error;
  }
  dropDraft(mine.sentence);
  learn({ counts: told.counts });
  show(told.task);
  const wrong = told.taught?.wrong_tokens ?? 0;
  const right = inPart ? "Confirmed; the rest is left to the model." : "Accepted as the model had it.";
  const learned = wrong ? `Learned: ${count(wrong, "word")} the model had otherwise.` : right;
  say(left ? `${count(left, "word has", "words have")} no label: the sentence is learned from, but is in no export until all have one.` : learned);
  accepted += 1;
  afterAccept(accepted);
});

export const skip = () => once(async () => {
  if (!task) return;
  const mine = task;
  await keepPart();
  const told = await post("/api/skip", { sentence: mine.sentence });
  dropDraft(mine.sentence);
  learn({ counts: told.counts });
  show(told.task);
  say("Skipped.");
});

/** Take back the last correction of this sentence; or else the last thing that was done. */
export function undo() {
  if (task && past.length && !busy) {
    ({ confirmed, shown } = past.pop());
    landed = null;
    changed();
    say("Correction taken back.");
    return null;
  }
  return once(async () => {
    const before = task;
    const told = await post("/api/undo", {});
    learn({ counts: told.counts, labels: told.labels });
    if (told.undone === "guidelines") await refresh();
    if (told.task) {
      if (before && before.sentence !== told.task.sentence) release(before);
      dropDraft(told.task.sentence);
      show(told.task);
    }
    say(`Undone: ${UNDONE[told.undone] ?? told.undone}.`);
  });
}

export async function flag() {
  if (!task || busy) return;
  const mine = task;
  $("note").value = mine.flag ?? "";
  $("unflag").hidden = mine.flag === null;
  const answer = await dialog("flag-dialog");
  box.focus({ preventScroll: true });
  if (!answer) return;
  const note = answer === "off" ? null : $("note").value.trim();
  try {
    const told = await post("/api/flag", { sentence: mine.sentence, note });
    mine.flag = note;
    learn({ counts: told.counts });
    flagShown();
    say(note === null ? "The flag is taken off." : "Flagged.");
  } catch (error) {
    say(error.message, true);
  }
}

/** Open a sentence, out of its turn. */
export const open = (sentence) => once(async () => {
  const found = await get(`/api/sentences/${sentence}`);
  if (task && task.sentence !== sentence) {
    const before = task;
    await keepPart();
    release(before);
  }
  show(found);
});

/** Labels that are shown may be gone: somebody has changed them. The sentence is asked for anew. */
async function reopen() {
  const about = task;
  const known = new Set(project.labels.map((one) => one.name));
  const names = [...confirmed, ...(shown.spans ?? [])].map((one) => one[2]).concat(shown.labels ?? []);
  if (names.every((name) => name === null || known.has(name))) return;
  const found = await get(`/api/sentences/${about.sentence}`).catch(() => null);
  if (!found || task !== about) return;
  dropDraft(about.sentence);
  show(found);
}

// What is entered is kept when one leaves

const part = () => (project.kind === "tokens" ? confirmed.filter((one) => one[2] !== null) : confirmed);
const isNews = () => task && isOpen() && part().length > 0 && JSON.stringify(part()) !== sent;

/** Let the server keep, and learn from, what is confirmed of a sentence that is left. */
async function keepPart() {
  if (!isNews()) return;
  sent = JSON.stringify(part());
  const told = await post("/api/partial", { sentence: task.sentence, confirmed: part(), ...effort.take() });
  learn({ counts: told.counts });
}

const release = (one) => ask("/api/release", { sentence: one.sentence, loan: one.loan }).catch(() => {});

/** The page is hidden, or goes away. */
function leaving(forGood) {
  if (!task || busy) return;
  if (isNews()) {
    const before = sent;
    sent = JSON.stringify(part());
    const spent = effort.take();
    leave("/api/partial", { request: requestId(), sentence: task.sentence, confirmed: part(), ...spent }).then((arrived) => {
      if (!arrived) sent = before;
    });
  }
  keepDraft(task, { confirmed, past, effort: effort.told() });
  if (forGood) leave("/api/release", { sentence: task.sentence, loan: task.loan });
}

/** A label has another name now, or is another one. */
export function renamed(old, now) {
  const named = (list) => list.map(([start, end, label]) => [start, end, label === old ? now : label]);
  const whole = (one) => (one.labels ? { labels: one.labels.map((label) => (label === old ? now : label)) } : { spans: named(one.spans) });
  if (!task) return;
  confirmed = named(confirmed);
  past = past.map((one) => ({ confirmed: named(one.confirmed), shown: whole(one.shown) }));
  task.annotation = whole(task.annotation);
  shown = whole(shown);
  changed();
}

// Beginning

/** Where this tab was, or what is next. */
export async function begin() {
  const last = lastSentence();
  if (last !== null) {
    try {
      return show(await get(`/api/sentences/${last}`));
    } catch (error) {
      if (!error.status) throw error;
    }
  }
  return next();
}

export const COMMANDS = {
  accept,
  skip,
  flag,
  undo,
  none: () => give(null),
  confirm: confirmHere,
  narrow: () => selection.narrow(),
  escape: () => {
    selection.settle();
    say("");
  },
  move: (event, key) => {
    const right = key === "ArrowRight" || key === "l";
    selection.go(selection.cursor + (right === selection.isRightToLeft() ? -1 : 1), event.shiftKey);
  },
  line: (event, key) => selection.go(selection.onLine(key === "ArrowDown" || key === "j" ? 1 : -1), event.shiftKey),
  edge: (event, key) => selection.go(key === "Home" ? 0 : n() - 1, event.shiftKey),
  unsure: (event, key) => {
    const all = places();
    if (!all.length) return say("The model is sure of every word.");
    const after = all.find((t) => t > selection.cursor) ?? all[0];
    const before = all.findLast((t) => t < selection.cursor) ?? all.at(-1);
    return selection.go(key === "." ? after : before);
  },
  type: (event, key) => type(key),
};

/** Ask for a label's name. */
export async function type(first = "") {
  if (!task || busy) return;
  const label = await typedLabel(first);
  box.focus({ preventScroll: true });
  if (label !== null) give(label);
}

/** The sentence as it is asked for now: whole, or its unsure words. What was entered stays. */
export async function askAnew() {
  if (!task || busy || !isOpen()) return;
  const mine = task;
  keepDraft(mine, { confirmed, past, effort: effort.told() });
  const found = await get(`/api/sentences/${mine.sentence}`);
  if (task === mine) show(found);
}

export const focusSentence = () => box.focus({ preventScroll: true });
export const hasTask = () => task !== null;

export function setUp({ onAccept, isHere }) {
  afterAccept = onAccept;
  listen(() => (isHere() && !document.querySelector("dialog[open]:not(#typeahead)") ? effort : null));
  onChange((told) => {
    if (!told.labels) return;
    bar();
    if (!task) return;
    render();
    reopen();
  });
  for (const [id, does] of Object.entries({ accept, undo, skip, flag, "type-name": () => type() })) {
    $(id).addEventListener("click", async (event) => {
      await does(event);
      if (!document.querySelector("dialog[open]")) focusSentence();
    });
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) leaving(false);
  });
  window.addEventListener("pagehide", () => leaving(true));
}
