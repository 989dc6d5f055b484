// Light or dark, and the size of type: as the browser has it, until somebody chooses.

const $ = (id) => document.getElementById(id);
const THEMES = ["auto", "light", "dark"];
const SIGNS = { auto: "◐", light: "☀", dark: "☾" };

function kept(name) {
  try {
    return localStorage.getItem(`seqpa ${name}`);
  } catch {
    return null; // storage is forbidden: nothing is remembered
  }
}

function keep(name, value) {
  try {
    localStorage.setItem(`seqpa ${name}`, value);
  } catch {
    // as above
  }
}

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
  theme(THEMES.includes(kept("theme")) ? kept("theme") : "auto");
  size(kept("size") === "large");
  $("theme").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf($("theme").value) + 1) % THEMES.length];
    keep("theme", next);
    theme(next);
  });
  $("size").addEventListener("click", () => {
    const large = !document.documentElement.classList.contains("large");
    keep("size", large ? "large" : "usual");
    size(large);
  });
}
