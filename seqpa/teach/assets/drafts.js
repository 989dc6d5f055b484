// What is entered for a sentence and not yet accepted, kept in the tab's storage over a reload.

import { ofTab } from "./storage.js";

let prefix = "seqpa draft";

export function useProject(project) {
  prefix = `seqpa draft ${project}`;
}

const name = (sentence) => `${prefix} ${sentence}`;

function read(key) {
  try {
    return JSON.parse(ofTab.get(key));
  } catch {
    return null;
  }
}

/** The draft of a task, if it is of the same text. */
export function draftOf(task) {
  const draft = read(name(task.sentence));
  return draft && draft.text === task.text ? draft : null;
}

export function keepDraft(task, draft) {
  ofTab.set(name(task.sentence), JSON.stringify({ ...draft, text: task.text }));
}

export function dropDraft(sentence) {
  ofTab.set(name(sentence), null);
}

/** The sentence that this tab was at: a number, or null. */
export const lastSentence = () => read(`${prefix} at`);

export function setLastSentence(sentence) {
  ofTab.set(`${prefix} at`, sentence === null ? null : JSON.stringify(sentence));
}

/** Some other text that is being written, and not yet saved. */
export const keptText = (what) => ofTab.get(`${prefix} ${what}`);

export function keepText(what, text) {
  ofTab.set(`${prefix} ${what}`, text);
}
