// What the page says in words, seen and heard.

const $ = (id) => document.getElementById(id);
let timer = 0;

/** A short word about what was done, or why it was not. */
export function say(text, bad = false) {
  const place = $("said");
  place.textContent = text;
  place.classList.toggle("bad", bad);
  clearTimeout(timer);
  if (text && !bad) timer = setTimeout(() => say(""), 6000);
}

/** `count(1, "sentence")`: "1 sentence". */
export function count(n, name, names = `${name}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? name : names}`;
}

export const percent = (x, digits = 1) => (x === null || x === undefined ? "–" : `${(100 * x).toFixed(digits)}\u00a0%`);

/** Ask in a dialog of the page: the name of the button, or null. */
export function dialog(id) {
  const one = $(id);
  one.returnValue = "";
  one.showModal();
  return new Promise((done) => {
    one.addEventListener("close", () => done(one.returnValue || null), { once: true });
  });
}
