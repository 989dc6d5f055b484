// The help: every key, from the same table that the keyboard uses.

import { KEYS } from "./keys.js";
import { node } from "./node.js";
import { isTyped, project } from "./project.js";
import { dialog } from "./say.js";
import { chip } from "./sentence.js";

const $ = (id) => document.getElementById(id);
const line = (keys, ...what) =>
  node("div", { class: "help-line" }, node("dt", {}, ...keys.map((key) => node("kbd", {}, key))), node("dd", {}, ...what));

export function openHelp() {
  const labels = isTyped()
    ? [line(["a letter"], "Type a label’s name; Enter takes the first that fits"),
       line(["Shift + letter"], "The same, where the letter alone does something else")]
    : project.labels.filter((one) => one.key).map((one) => line([one.key], chip(one.name)));
  $("help-labels").replaceChildren(...labels);
  $("help-keys").replaceChildren(...KEYS.map((one) => line(one.shown, one.help)));
  return dialog("help-dialog");
}
