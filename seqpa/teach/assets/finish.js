// What comes out: full training in the background, and files for other programs.

import { ask, file, get, post } from "./api.js";
import { meter } from "./charts.js";
import { node } from "./node.js";
import { askAnew } from "./label.js";
import { learn, onChange, project } from "./project.js";
import { count, percent, say } from "./say.js";

const $ = (id) => document.getElementById(id);
const NAMES = {
  conll: "CoNLL columns",
  conllu: "CoNLL-U",
  jsonl: "JSON lines, with character offsets",
  spacy: "spaCy, as JSON",
  docbin: "spaCy, as a DocBin",
  huggingface: "Hugging Face datasets",
};
const COMES_FIRST = {
  margin: "where the second best labels are nearly as good as the best",
  "least-confident": "where the best labels of the sentence are the least probable",
  entropy: "where the labels of the sentence are the least certain",
  "n-best-entropy": "where the few best readings of the sentence are the least certain",
  density: "as by entropy, sentences that are like many others before the rest",
  doubt: "where the most words are probably wrong, for the length of the sentence",
  coverage: "as by doubt, words that come often and are labelled rarely before the rest: the best in our trials",
  random: "any sentence",
};
let timer = 0;

function state(told) {
  const parts = [];
  if (told.state === "running") {
    const { epoch = 0, epochs = 0 } = told;
    parts.push(node("p", {}, epochs ? `Epoch ${epoch} of ${epochs}` : "Training begins"), meter(epochs ? epoch / epochs : 0));
  } else if (told.state === "done") {
    parts.push(node("p", {}, "Done: the model is in ", node("code", {}, told.model ?? ""), "."));
  } else if (told.state === "failed") parts.push(node("p", { class: "bad" }, told.message ?? "Training failed."));
  if (told.score !== null && told.score !== undefined) {
    const after = told.seconds ? `, after ${told.seconds.toFixed(1)} s` : "";
    const what = node("span", { class: "quiet" }, `${told.metric ?? "score"} on what was held out${after}`);
    parts.push(node("p", {}, node("span", { class: "big" }, percent(told.score)), " ", what));
  }
  if (told.message && told.state !== "failed") parts.push(node("p", { class: "quiet" }, told.message));
  $("train-state").replaceChildren(...parts);
  $("train").disabled = told.state === "running";
}

function tellStrategy() {
  const what = COMES_FIRST[project.strategy];
  $("strategy-means").textContent = what ? `Comes first: ${what}.` : "";
}

/** Look at the training until it ends. */
async function watch() {
  clearTimeout(timer);
  try {
    const told = await get("/api/train");
    state(told);
    if (told.state === "running") timer = setTimeout(watch, 500);
  } catch (error) {
    say(error.message, true);
  }
}

async function save(format) {
  try {
    const { blob, name, sentences, left } = await file(`/api/export?format=${encodeURIComponent(format)}${$("parts").checked ? "&parts=yes" : ""}`);
    const address = URL.createObjectURL(blob);
    const link = node("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    const rest = left ? `; ${left.toLocaleString("en")} that are not labelled, or not all of whose words are, were left out` : "";
    say(`${name} is saved: ${count(sentences, "sentence")}${rest}.`);
  } catch (error) {
    say(error.message, true);
  }
}

export const show = watch;

export function setUp() {
  onChange((told) => {
    if (told.exports) {
      $("exports").replaceChildren(...project.exports.map((format) =>
        node("li", {}, node("button", { type: "button", "data-format": format, onclick: () => save(format) }, NAMES[format] ?? format))));
    }
    if (told.strategies) {
      $("strategy").replaceChildren(...project.strategies.map((name) => node("option", { value: name }, name)));
      $("strategy").value = project.strategy;
    }
    if (told.strategy) tellStrategy();
    if (told.confirm) $("confirm").value = project.confirm;
    if (told.counts) $("parts-line").hidden = !project.counts.parts;
  });
  $("train").addEventListener("click", async () => {
    try {
      state(await post("/api/train", {}));
      watch();
    } catch (error) {
      say(error.message, true);
    }
  });
  $("confirm").addEventListener("change", async () => {
    try {
      learn(await ask("/api/confirm", { confirm: $("confirm").value }));
      await askAnew();
      say(project.confirm === "all" ? "Whole sentences are asked for from now on." : "Only unsure words are asked for from now on.");
    } catch (error) {
      $("confirm").value = project.confirm;
      say(error.message, true);
    }
  });
  $("strategy").addEventListener("change", async () => {
    try {
      learn(await ask("/api/strategy", { strategy: $("strategy").value }));
      say(`Sentences are chosen by ${project.strategy} from now on.`);
    } catch (error) {
      $("strategy").value = project.strategy;
      say(error.message, true);
    }
  });
}
