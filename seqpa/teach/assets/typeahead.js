// The box in which a label's name is typed: for many labels, or for anybody who likes it.

import { matching } from "./annotation.js";
import { node } from "./node.js";
import { classOf, project } from "./project.js";

const $ = (id) => document.getElementById(id);
let done = null; // who waits for a label
let found = [];
let chosen = 0;

function show() {
  found = matching(project.labels, $("typed").value);
  chosen = Math.min(chosen, Math.max(0, found.length - 1));
  $("matches").replaceChildren(
    ...found.map((label, i) =>
      node("li", { role: "option", id: `match-${i}`, "aria-selected": String(i === chosen), class: "match", onclick: () => end(label.name) },
        node("span", { class: `chip ${classOf(label.name)}` }, label.name))),
  );
  $("no-match").hidden = found.length > 0;
  if (found.length) $("typed").setAttribute("aria-activedescendant", `match-${chosen}`);
  else $("typed").removeAttribute("aria-activedescendant");
  $(`match-${chosen}`)?.scrollIntoView({ block: "nearest" });
}

function end(name) {
  const told = done;
  done = null;
  $("typeahead").close();
  told?.(name);
}

/** Ask for a label by its name; `first` is typed already. The label, or null. */
export function typedLabel(first = "") {
  $("typed").value = first;
  chosen = 0;
  show();
  $("typeahead").showModal();
  $("typed").focus();
  return new Promise((resolve) => {
    done = resolve;
  });
}

export function setUp() {
  $("typed").addEventListener("input", () => {
    chosen = 0;
    show();
  });
  $("typed").addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps && found.length) {
      chosen = (chosen + steps[event.key] + found.length) % found.length;
      show();
    } else if (event.key === "Enter") {
      if (found.length) end(found[chosen].name);
    } else return;
    event.preventDefault();
  });
  $("typeahead").addEventListener("close", () => {
    if (!$("typeahead").open) end(null); // else a quick hand has opened it again before this was told
  });
}
