// The page of `seqpa teach`: it begins here. Views, the keyboard, the banner, counts.
//
// Words, labels, names and notes are only ever set as text, never as HTML.

import { get, onTrouble, resume, setToken, takeToken, tryNow } from "./api.js";
import * as browse from "./browse.js";
import { useProject } from "./drafts.js";
import * as finish from "./finish.js";
import * as guidelines from "./guidelines.js";
import { openHelp } from "./help.js";
import { isTaken, meaning } from "./keys.js";
import * as label from "./label.js";
import { openLabels, setUp as setUpLabels } from "./labels.js";
import * as looks from "./looks.js";
import * as progress from "./progress.js";
import { isTyped, learn, onChange, project, refresh } from "./project.js";
import { count, say } from "./say.js";
import * as team from "./team.js";
import { setUp as setUpTypeahead } from "./typeahead.js";

const $ = (id) => document.getElementById(id);
const VIEWS = { label: () => {}, browse: browse.show, progress: progress.show, team: team.show, model: finish.show };
const SMALL = 5; // the small picture of progress is drawn anew after so many sentences

// Views

const view = () => (location.hash.slice(1) in VIEWS ? location.hash.slice(1) : "label");

function showView() {
  const now = view();
  for (const name of Object.keys(VIEWS)) $(`view-${name}`).hidden = name !== now;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${now}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  // No element has a view's name for its id: the browser would go to it, below the title.
  if (document.body.dataset.view !== now) window.scrollTo(0, 0);
  document.body.dataset.view = now;
  say("");
  VIEWS[now]();
  if (now === "label") {
    label.focusSentence();
    progress.showSmall();
  }
}

/** Show a view at once, and not when the browser tells of the new address: keys may follow. */
function goTo(name) {
  if (view() === name) return;
  history.pushState(null, "", `#${name}`);
  showView();
}

async function openSentence(sentence) {
  goTo("label");
  await label.open(sentence);
  label.focusSentence();
}

// The keyboard

const COMMANDS = {
  ...label.COMMANDS,
  search: () => {
    goTo("browse");
    browse.focusSearch();
  },
  label: async () => {
    await openLabels();
    label.focusSentence();
  },
  help: openHelp,
};
const EVERYWHERE = new Set(["help", "search"]);

/** The letter of a key, also where the keyboard writes other letters. */
function letter(event, labels) {
  const { key, code } = event;
  const known = key.length > 1 || key.charCodeAt(0) < 128 || labels.some((one) => one.key === key);
  if (known || isTyped()) return key;
  return /^Key[A-Z]$/.test(code) ? code[3].toLowerCase() : key;
}

function pressed(event) {
  if (event.key === "Escape" && view() !== "label") event.target.blur?.(); // out of the search
  if (isTaken(event) || document.querySelector("dialog[open]")) return;
  const key = letter(event, project.labels);
  const found = meaning(key, project.labels, isTyped());
  if (found === null) return;
  if (view() !== "label") {
    if (found === "escape") goTo("label");
    else if (EVERYWHERE.has(found)) COMMANDS[found](event, key);
    else return;
    event.preventDefault();
    return;
  }
  if (event.repeat && (found === "accept" || found === "skip")) return; // a held key accepts once
  event.preventDefault();
  if (found.label) label.give(found.label);
  else if (found.typed) label.type(found.typed);
  else COMMANDS[found](event, found === "type" ? "" : key.length === 1 ? key.toLowerCase() : key);
}

// Trouble

function trouble(kind, waiting, detail) {
  $("banner").hidden = kind === null;
  if (kind === null) return;
  const kept = waiting ? " What you entered is kept on this page and is sent as soon as it can be." : "";
  const gone = `The server does not answer. Is seqpa teach still running? It can be started again with --port ${location.port}.`;
  const what = kind === "full" ? `The server cannot write: ${detail}` : gone;
  const text = what + kept;
  if ($("banner-text").textContent !== text) $("banner-text").textContent = text;
}

function counted() {
  const { counts } = project;
  if (!counts) return;
  const parts = counts.parts ? ` (+ ${counts.parts.toLocaleString("en")} in part)` : "";
  $("counts").textContent = `${counts.labelled.toLocaleString("en")}${parts} of ${counts.sentences.toLocaleString("en")}`;
  const left = `Nothing is open: ${count(counts.labelled, "sentence")} labelled${parts}, ${counts.skipped.toLocaleString("en")} skipped.`;
  $("done-text").textContent = counts.labelled >= counts.sentences ? "Every sentence has its labels." : left;
  $("team-count").textContent = counts.differences ? String(counts.differences) : "";
  $("team-count").hidden = !counts.differences;
}

// Beginning

async function begin() {
  try {
    const told = await get("/api/project");
    const named = told.id ?? told.name;
    useProject(`${named} ${told.user}`);
    learn(told);
    document.title = `${told.name} – seqpa teach`;
    $("name").textContent = told.name;
    $("user").textContent = told.team ? told.user : "";
    $("nav-team").hidden = !told.team;
    const { sent, refusals } = await resume(`${named} ${told.user}`);
    await label.begin();
    guidelines.restore();
    showView();
    if (sent) say(`${count(sent, "change")} from before the page was loaded ${sent === 1 ? "is" : "are"} saved now.`);
    for (const refusal of refusals) say(refusal, true);
    document.body.dataset.ready = "yes";
  } catch (error) {
    if (error.status === 401) return;
    if (error.status === undefined) {
      say(`The page cannot go on: ${error.message}`, true); // a mistake of its own, not the server's
      throw error;
    }
    if (error.status) say(error.message, true);
    else {
      trouble("gone", 0, "");
      setTimeout(begin, 2000);
    }
    return;
  }
  trouble(null);
}

function setUp() {
  takeToken();
  looks.setUp();
  onTrouble(trouble, (wrong) => {
    $("door").hidden = false;
    $("door-said").textContent = wrong ? "Nobody has this token, or not any more: ask whoever runs the project for a new link." : "";
  });
  onChange((told) => told.counts && counted());
  label.setUp({ onAccept: (n) => n % SMALL === 0 && progress.showSmall(), isHere: () => view() === "label" });
  guidelines.setUp();
  setUpLabels();
  setUpTypeahead();
  browse.setUp(openSentence);
  team.setUp(openSentence);
  finish.setUp();
  document.addEventListener("keydown", pressed);
  window.addEventListener("hashchange", () => {
    if (takeToken()) location.reload(); // somebody's link, opened in this tab
    else showView();
  });
  $("banner-try").addEventListener("click", tryNow);
  $("help").addEventListener("click", openHelp);
  $("labels").addEventListener("click", COMMANDS.label);
  for (const one of document.querySelectorAll("dialog")) {
    one.addEventListener("click", (event) => event.target === one && one.close()); // beside it
  }
  $("door").addEventListener("submit", (event) => {
    event.preventDefault();
    setToken($("token").value);
    $("token").value = "";
    $("door").hidden = true;
    begin();
  });
  // Another tab, or another person, may have changed labels and counts meanwhile.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && document.body.dataset.ready) refresh().catch(() => {});
  });
}

setUp();
begin();
