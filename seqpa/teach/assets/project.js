// What the page knows of the project: its labels and their colours, counts, who is at it.

import { get } from "./api.js";

const COLOUR = /^#[0-9a-f]{6}$/i;
const TYPED = 10; // with more labels than this, their names are typed

export const project = { labels: [], palette: [], counts: null, kind: "spans", direction: "ltr", users: [], exports: [] };

const heard = new Set();

/** Call `update` at every change of the project or its counts. */
export const onChange = (update) => heard.add(update);

/** Take in what the server told: any members of the project. */
export function learn(told) {
  Object.assign(project, told);
  if (told.palette) paint();
  for (const update of heard) update(told);
}

export const refresh = async () => learn(await get("/api/project"));

/** Whether labels are given by typing their names, and not by a key each. */
export const isTyped = () => project.labels.length > TYPED;

const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [sheet];

/** Styles for the colours; what is no colour is left out. */
function paint() {
  const rules = project.palette.map(({ light, dark }, i) => {
    const fine = [light.ground, dark.ground, light.ink, dark.ink].every((one) => COLOUR.test(one));
    if (!fine) return "";
    return `.colour-${i} { --ground: light-dark(${light.ground}, ${dark.ground}); --label-ink: light-dark(${light.ink}, ${dark.ink}) }`;
  });
  sheet.replaceSync(rules.join("\n"));
}

export function classOfColour(name) {
  const at = project.palette.findIndex((one) => one.name === name);
  return at < 0 ? "" : `colour-${at}`;
}

export const classOf = (label) => classOfColour(project.labels.find((one) => one.name === label)?.colour);

/** The direction of a sentence's letters, or what its own first letter says. */
export const direction = () => (project.direction === "rtl" ? "rtl" : "auto");
