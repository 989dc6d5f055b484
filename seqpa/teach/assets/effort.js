// How long a sentence took and how many keys: honestly, so that what is told of speed is true.
//
// Time counts while the page is seen, up to a minute after the last sign of life; a press of the
// mouse or a tap counts as a key.

const IDLE = 60_000;
const MODIFIERS = new Set(["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"]);

export class Effort {
  constructor({ seconds = 0, keys = 0 } = {}) {
    this.seconds = seconds;
    this.keys = keys;
    this.last = document.hidden ? null : performance.now();
  }

  /** Life: the time since the last sign counts, a minute at most. */
  live() {
    const now = performance.now();
    if (this.last !== null) this.seconds += Math.min(now - this.last, IDLE) / 1000;
    this.last = document.hidden ? null : now;
  }

  key() {
    this.live();
    this.keys += 1;
  }

  /** What there was since the last time that this was asked. */
  take() {
    this.live();
    const told = { seconds: Math.round(this.seconds * 100) / 100, keys: this.keys };
    this.seconds = 0;
    this.keys = 0;
    return told;
  }

  told() {
    this.live();
    return { seconds: this.seconds, keys: this.keys };
  }
}

/** Let the effort that `current()` returns hear of keys, presses and movement. */
export function listen(current) {
  document.addEventListener("keydown", (event) => {
    if (!event.repeat && !MODIFIERS.has(event.key)) current()?.key();
  }, true);
  document.addEventListener("pointerdown", () => current()?.key(), true);
  for (const kind of ["pointermove", "wheel", "visibilitychange"]) {
    document.addEventListener(kind, () => current()?.live(), { capture: true, passive: true });
  }
}
