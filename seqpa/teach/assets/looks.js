// Light or dark, and the size of type: as the browser has it, until somebody chooses.

import { ofBrowser } from "./storage.js";

const $ = (id) => document.getElementById(id);
const THEMES = ["auto", "light", "dark"];
const SIGNS = { auto: "◐", light: "☀", dark: "☾" };

function theme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  $("theme").textContent = SIGNS[name];
  $("theme").setAttribute("aria-label", `Colours: ${name}`);
  $("theme").title = `Colours: ${name}`;
  $("theme").value = name;
}

function size(large) {
  document.documentElement.classList.toggle("large", large);
  $("size").setAttribute("aria-pressed", String(large));
}

export function setUp() {
  const kept = ofBrowser.get("seqpa theme");
  theme(THEMES.includes(kept) ? kept : "auto");
  size(ofBrowser.get("seqpa size") === "large");
  $("theme").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf($("theme").value) + 1) % THEMES.length];
    ofBrowser.set("seqpa theme", next);
    theme(next);
  });
  $("size").addEventListener("click", () => {
    const large = !document.documentElement.classList.contains("large");
    ofBrowser.set("seqpa size", large ? "large" : "usual");
    size(large);
  });
}
