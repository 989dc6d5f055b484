// The browser's storage, so that it never fails: what it has no space for, or is forbidden to keep,
// is kept as long as the page is open.

class Place {
  constructor(name) {
    this.name = name; // asking for it fails where storage is forbidden
    this.own = new Map();
  }

  /** What is kept under a key, or null. */
  get(key) {
    if (this.own.has(key)) return this.own.get(key);
    try {
      return window[this.name].getItem(key);
    } catch {
      return null;
    }
  }

  /** Keep a text; null: keep nothing. */
  set(key, text) {
    try {
      if (text === null) window[this.name].removeItem(key);
      else window[this.name].setItem(key, text);
      this.own.delete(key);
    } catch {
      this.own.set(key, text);
    }
  }
}

export const ofTab = new Place("sessionStorage");
export const ofBrowser = new Place("localStorage");
