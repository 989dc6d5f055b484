// Which words are meant: a cursor, a selection from an anchor, and how hand and keys move them.

import { spanAt } from "./annotation.js";

export class Selection {
  /** `changed()` is called after every move; `annotation()` gives what is shown. */
  constructor(box, annotation, changed) {
    this.box = box;
    this.annotation = annotation;
    this.changed = changed;
    this.reset(0, 0);
    this.listen();
  }

  reset(n, cursor) {
    this.n = n;
    this.cursor = Math.max(0, Math.min(cursor, n - 1));
    this.anchor = this.cursor;
    this.exact = false; // the words from anchor to cursor, and not the whole span around them
    this.tapped = false; // a tap has begun a selection that the next one ends
  }

  /** What a label would be given to: [start, end]. */
  target() {
    const [a, b] = [Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor)];
    const span = !this.exact && a === b && spanAt(this.annotation(), a);
    return span ? [span[0], span[1]] : [a, b + 1];
  }

  go(to, extend = false) {
    if (!this.n) return;
    this.cursor = Math.max(0, Math.min(to, this.n - 1));
    if (extend) this.exact = true;
    else {
      this.anchor = this.cursor;
      this.exact = false;
    }
    this.tapped = false;
    this.changed();
  }

  /** Only this word, or the whole span around it again. */
  narrow() {
    this.anchor = this.cursor;
    this.exact = !this.exact;
    this.changed();
  }

  /** The selection was used, or is let go of. */
  settle() {
    this.anchor = this.cursor;
    this.exact = false;
    this.tapped = false;
    this.changed();
  }

  isRightToLeft() {
    return getComputedStyle(this.box).direction === "rtl";
  }

  /** The word on the line above or below that is nearest to this one. */
  onLine(by) {
    const boxes = [...this.box.querySelectorAll(".token")].map((one) => {
      const first = one.getClientRects()[0] ?? one.getBoundingClientRect();
      return { x: first.x + first.width / 2, y: first.y + first.height / 2, high: first.height };
    });
    const here = boxes[this.cursor];
    if (!here) return this.cursor;
    const beyond = boxes.map((one, at) => ({ ...one, at })).filter((one) => (one.y - here.y) * by > here.high / 2);
    if (!beyond.length) return this.cursor;
    const line = by > 0 ? Math.min(...beyond.map((one) => one.y)) : Math.max(...beyond.map((one) => one.y));
    const on = beyond.filter((one) => Math.abs(one.y - line) < here.high / 2);
    return on.reduce((a, b) => (Math.abs(b.x - here.x) < Math.abs(a.x - here.x) ? b : a)).at;
  }

  // The hand: a mouse drags; a finger taps one end, then the other.

  listen() {
    let dragging = false;
    let byTouch = false;
    const at = (event) => {
      const one = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".token");
      return one && this.box.contains(one) ? Number(one.dataset.at) : null;
    };
    this.box.addEventListener("pointerdown", (event) => {
      byTouch = event.pointerType !== "mouse";
      const word = at(event);
      if (byTouch || word === null || event.button !== 0) return;
      event.preventDefault(); // no text is selected
      this.box.focus({ preventScroll: true });
      dragging = true;
      this.go(word, event.shiftKey);
    });
    document.addEventListener("pointermove", (event) => {
      if (!dragging) return;
      const word = at(event);
      if (word !== null && word !== this.cursor) this.go(word, true);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      document.addEventListener(end, () => {
        dragging = false;
      });
    }
    this.box.addEventListener("click", (event) => {
      const word = at(event);
      if (byTouch && word !== null) this.tap(word);
    });
  }

  tap(word) {
    const [start, end] = this.target();
    if (this.tapped && word >= start && word < end) this.settle();
    else if (this.tapped) {
      this.go(word, true);
      this.tapped = true;
    } else {
      this.go(word);
      this.tapped = spanAt(this.annotation(), word) === null;
    }
  }
}
