// The keys: one table, for the keyboard and for the help.

// What stands here is done in the labelling view; `shown` is how the help writes it.
export const KEYS = [
  { keys: ["Enter"], does: "accept", shown: ["Enter"], help: "Accept the labels as they are shown, and go on" },
  { keys: [], does: "", shown: ["Shift + Enter"], help: "Where only unsure words are asked for: accept the whole sentence" },
  { keys: ["y"], does: "confirm", shown: ["y"], help: "Yes: confirm what is shown here, and go on to the next unsure word" },
  { keys: ["ArrowLeft", "ArrowRight", "h", "l"], does: "move", shown: ["←", "→", "h", "l"], help: "Move from word to word" },
  { keys: ["ArrowUp", "ArrowDown", "k", "j"], does: "line", shown: ["↑", "↓", "k", "j"], help: "Move from line to line" },
  { keys: [], does: "", shown: ["Shift + move"], help: "Select several words" },
  { keys: ["Home", "End"], does: "edge", shown: ["Home", "End"], help: "To the first, to the last word" },
  { keys: [",", "."], does: "unsure", shown: [",", "."], help: "To the unsure word before, to the next one" },
  { keys: [" "], does: "narrow", shown: ["Space"], help: "Inside a span: only this word, or the whole span again" },
  { keys: ["0", "Backspace", "Delete"], does: "none", shown: ["0", "Backspace"], help: "No label here" },
  { keys: ["/"], does: "type", shown: ["/"], help: "Type the name of a label" },
  { keys: ["u"], does: "undo", shown: ["u"], help: "Undo, as often as you like" },
  { keys: ["s"], does: "skip", shown: ["s"], help: "Skip the sentence" },
  { keys: ["f"], does: "flag", shown: ["f"], help: "Flag the sentence, with a note" },
  { keys: ["g"], does: "search", shown: ["g"], help: "Search in all sentences" },
  { keys: ["n"], does: "label", shown: ["n"], help: "A new label; change, merge or colour labels" },
  { keys: ["?"], does: "help", shown: ["?"], help: "This help" },
  { keys: ["Escape"], does: "escape", shown: ["Esc"], help: "Let go of the selection; back to labelling" },
];

const COMMANDS = new Map(KEYS.flatMap(({ keys, does }) => keys.map((key) => [key, does])));

const MOVES = new Set(["move", "line"]);

/** What a key does: the name of a command, {label} or {typed}, or null. */
export function meaning(key, labels, typed) {
  if (key.length === 1 && !typed) {
    const own = labels.find((label) => label.key === key) ?? labels.find((label) => label.key === key.toLowerCase());
    if (own && !(COMMANDS.has(key) && own.key !== key)) return { label: own.name };
  }
  const lower = key.length === 1 ? key.toLowerCase() : key;
  // With Shift every letter begins a name, also that of a command; but for those that move.
  if (typed && key !== lower && !MOVES.has(COMMANDS.get(lower))) return { typed: key };
  const command = COMMANDS.get(key) ?? COMMANDS.get(lower);
  if (command) return command;
  return typed && /^[\p{L}\p{N}]$/u.test(key) ? { typed: key } : null;
}

/** Whether a key belongs to what has the focus, and not to the page. */
export function isTaken(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  const at = event.target;
  if (at.closest?.("dialog, input, textarea, select, [contenteditable]")) return true;
  const pressed = event.key === "Enter" || event.key === " ";
  return pressed && Boolean(at.closest?.("button, a, summary"));
}
