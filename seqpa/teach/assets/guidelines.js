// What counts as what: the project's guidelines, beside the sentence.

import { post } from "./api.js";
import { keepText, keptText } from "./drafts.js";
import { learn, onChange, project } from "./project.js";
import { say } from "./say.js";

const $ = (id) => document.getElementById(id);
const field = $("guidelines-text");

function edit(on) {
  $("guidelines-form").hidden = !on;
  $("guidelines-shown").hidden = on;
  $("guidelines-edit").hidden = on;
}

function show() {
  const text = project.guidelines ?? "";
  $("guidelines-shown").textContent = text || "Nothing is written yet. What is a name and what is not? Write it down when you first wonder.";
  $("guidelines-shown").classList.toggle("quiet", !text);
}

function begin(text) {
  field.value = text;
  edit(true);
}

/** Show the guidelines; what was being written before a reload is still there. */
export function restore() {
  const left = keptText("guidelines");
  if (left !== null) begin(left);
}

export function setUp() {
  onChange((told) => "guidelines" in told && show());
  $("guidelines-edit").addEventListener("click", () => {
    begin(project.guidelines ?? "");
    field.focus();
  });
  field.addEventListener("input", () => keepText("guidelines", field.value));
  $("guidelines-cancel").addEventListener("click", () => {
    keepText("guidelines", null);
    edit(false);
  });
  $("guidelines-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await post("/api/guidelines", { text: field.value });
    } catch (error) {
      return say(error.message, true);
    }
    keepText("guidelines", null);
    learn({ guidelines: field.value });
    edit(false);
    $("guidelines-edit").focus();
    return say("The guidelines are saved.");
  });
}
