"use strict";
// Text is never HTML here: every word, label and name goes into the page as a text node.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "class") element.className = value;
      else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  const many = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;
  const name = (unit) => unit === undefined ? "nothing" : unit || "span";

  // Parts of the data: inlined, or files beside the page, loaded when they are asked for. Scripts,
  // since a page that is opened from disk may not fetch.
  const waiting = new Map();
  const loaded = new Map(Object.entries(data.parts));
  window.seqpa_part = (part, content) => {
    loaded.set(part, content);
    for (const done of waiting.get(part) || []) done(content);
    waiting.delete(part);
  };
  const load = (part) => new Promise((done, fail) => {
    if (loaded.has(part)) return done(loaded.get(part));
    const queue = waiting.get(part);
    if (queue) return queue.push(done);
    waiting.set(part, [done]);
    const script = make("script", { src: `parts/${part}.js` });
    script.onerror = () => {
      waiting.delete(part);
      fail(new Error(`parts/${part}.js could not be loaded: is the folder "parts" beside this page?`));
    };
    document.head.append(script);
  });
  const sentence = async (number) => {
    let low = 0, high = data.firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (data.firsts[middle] <= number) low = middle; else high = middle - 1;
    }
    return (await load(`sentences-${low}`))[number];
  };

  // A sentence with its labels
  const signs = { type: "≠", extent: "↔", missed: "−", invented: "+" };
  const words = { type: "wrong type", extent: "wrong boundary", missed: "missed", invented: "invented" };
  const marked = (tokens, spans) => {
    const line = make("dd", { dir: "auto" });
    let done = 0;
    for (const [kind, start, end, wrong] of spans) {
      if (start < done) continue;
      if (start > done) line.append(tokens.slice(done, start).join(" "), " ");
      const mark = make("mark", { class: `k${Object.hasOwn(data.colours, kind) ? data.colours[kind] : "x"}${wrong ? ` wrong ${wrong}` : ""}` });
      if (wrong) {
        mark.title = words[wrong];
        mark.append(make("span", { class: "sign", "aria-hidden": "true" }, signs[wrong]));
      }
      mark.append(tokens.slice(start, end).join(" "), make("b", {}, name(kind)));
      if (wrong) mark.append(make("span", { class: "hidden" }, ` (${words[wrong]})`));
      line.append(mark, " ");
      done = end;
    }
    line.append(tokens.slice(done).join(" "));
    return line;
  };
  const shown = async (number) => {
    const found = await sentence(number);
    const box = make("div", { class: "sentence" }, make("p", { class: "number" }, `sentence ${(number + 1).toLocaleString("en")}`));
    const list = make("dl", { class: "pair" });
    for (const [key, title] of [["g", "gold"], ["p", data.other ? data.names[0] : "predicted"], ["q", data.names[1]]]) {
      if (found[key]) list.append(make("div", {}, make("dt", {}, title), marked(found.w, found[key])));
    }
    box.append(list);
    return box;
  };
  // Sentences a few at a time, into a box
  const fill = async (box, numbers, step = 10) => {
    let done = 0;
    const list = make("div");
    const more = make("button", { class: "plain", type: "button" });
    const next = async () => {
      const batch = numbers.slice(done, done + step);
      done += batch.length;
      try {
        const made = await Promise.all(batch.map(shown));
        list.append(...made);
        if (done > step && made.length) { made[0].tabIndex = -1; made[0].focus(); }
      } catch (error) {
        list.append(make("p", { class: "note", role: "alert" }, error.message));
      }
      const left = numbers.length - done;
      more.hidden = left <= 0;
      more.textContent = `show ${Math.min(step, left)} more of ${many(left, "sentence")}`;
    };
    more.addEventListener("click", next);
    box.append(list, make("p", {}, more));
    await next();
  };

  // The matrix, and the table of all pairs
  const panel = at("cell");
  const status = at("status");
  const open = async (gold, found) => {
    const own = data.cells.find((cell) => cell[0] === gold && cell[1] === found);
    if (!own || !panel) return;
    for (const button of document.querySelectorAll("button.cell")) {
      const chosen = +button.dataset.g === gold && +button.dataset.p === found;
      button.setAttribute("aria-pressed", chosen);
    }
    const [g, p] = [data.units[gold], data.units[found]];
    const counts = [];
    if (own[3]) counts.push(gold < 0 ? `${own[3]} invented` : found < 0 ? `${own[3]} missed` : `${own[3]} of the wrong type`);
    if (own[4]) counts.push(`${own[4]} with a wrong boundary`);
    const title = make("h3", { tabindex: "-1" }, `gold ${name(g)}, predicted ${name(p)}`);
    panel.replaceChildren(title, make("p", { class: "soft" }, counts.join(", ")));
    status.textContent = `gold ${name(g)}, predicted ${name(p)}: ${counts.join(", ")}`;
    try {
      const cells = await load(`cells-${gold < 0 ? "none" : gold}`);
      await fill(panel, cells[found] || []);
    } catch (error) {
      panel.append(make("p", { class: "note", role: "alert" }, error.message));
    }
    title.focus({ preventScroll: true });
    title.scrollIntoView({ block: "nearest" });
  };
  const grid = at("matrix");
  if (grid) {
    const cells = [...grid.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td > *")]);
    const buttons = cells.flat().filter((cell) => cell.tagName === "BUTTON");
    buttons.forEach((button, i) => { button.tabIndex = i ? -1 : 0; });
    grid.addEventListener("click", (event) => {
      const button = event.target.closest("button.cell");
      if (button) open(+button.dataset.g, +button.dataset.p);
    });
    // Arrow keys go to the next cell with something behind it.
    const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    grid.addEventListener("keydown", (event) => {
      const move = moves[event.key];
      const here = event.target.closest("button.cell");
      if (!move || !here) return;
      event.preventDefault();
      let row = cells.findIndex((line) => line.includes(here));
      let column = cells[row].indexOf(here);
      for (;;) {
        row += move[0]; column += move[1];
        const next = cells[row] && cells[row][column];
        if (!next) return;
        if (next.tagName !== "BUTTON") continue;
        here.tabIndex = -1; next.tabIndex = 0; next.focus();
        return;
      }
    });
  }
  const pairs = at("pairs");
  if (pairs) {
    const body = pairs.querySelector("tbody");
    const more = at("pairs-more");
    const wrong = data.cells.filter((cell) => cell[3] + cell[4]);
    let some = wrong, done = 0;
    const next = () => {
      for (const [g, p, , types, extents] of some.slice(done, done + 50)) {
        const [gold, found] = [name(data.units[g]), name(data.units[p])];
        body.append(make("tr", {}, make("th", { scope: "row" }, gold), make("td", {}, found),
          make("td", { class: "n" }, String(types)), ...(data.spans ? [make("td", { class: "n" }, String(extents))] : []),
          make("td", {}, make("button", { class: "plain", type: "button", onclick: () => open(g, p),
            "aria-label": `sentences with gold ${gold}, predicted ${found}` }, "sentences"))));
      }
      done += 50;
      more.hidden = done >= some.length;
    };
    more.addEventListener("click", next);
    at("pairs-filter").addEventListener("input", (event) => {
      const text = event.target.value.toLowerCase();
      some = wrong.filter(([g, p]) => `${name(data.units[g])} ${name(data.units[p])}`.toLowerCase().includes(text));
      body.replaceChildren(); done = 0; next();
      status.textContent = many(some.length, "pair");
    });
    next();
  }

  // Buttons that open one sentence below their row, and lists of sentences
  for (const button of document.querySelectorAll("button[data-sentence]")) {
    button.addEventListener("click", async () => {
      const row = button.closest("tr");
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", !open);
      if (open) { row.nextElementSibling.remove(); return; }
      const cell = make("td", { colspan: row.cells.length });
      row.after(make("tr", { class: "opened" }, cell));
      try { cell.append(await shown(+button.dataset.sentence)); } catch (error) {
        cell.append(make("p", { class: "note", role: "alert" }, error.message));
      }
    });
  }
  for (const box of document.querySelectorAll("details[data-list]")) {
    box.addEventListener("toggle", () => {
      if (box.open && !box.dataset.done) { box.dataset.done = "yes"; fill(box, data.lists[box.dataset.list]); }
    });
  }

  // The strongest features of a label
  const chooser = at("label");
  if (chooser) {
    const bars = (title, rows, largest, sign) => make("div", {}, make("h3", {}, title),
      make("table", { class: "bars" }, make("tbody", {}, ...rows.map(([feature, weight]) => {
        const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
        for (const [k, v] of [["width", 90], ["height", 10], ["viewBox", "0 0 90 10"], ["aria-hidden", "true"]]) svg.setAttribute(k, v);
        const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        for (const [k, v] of [["width", (90 * Math.abs(weight)) / largest], ["height", 10], ["rx", 2], ["fill", sign > 0 ? "#3b7dc0" : "#c8651b"]]) bar.setAttribute(k, v);
        svg.append(bar);
        return make("tr", {}, make("td", { dir: "auto" }, feature), make("td", {}, svg),
          make("td", { class: "n" }, (weight > 0 ? "+" : "−") + Math.abs(weight).toFixed(3)));
      }))));
    const show = async () => {
      const box = at("features");
      try {
        const own = (await load("learned"))[chooser.value];
        const largest = Math.max(1e-9, ...[...own.for, ...own.against].map((row) => Math.abs(row[1])));
        box.replaceChildren(bars("for it", own.for, largest, 1), bars("against it", own.against, largest, -1));
      } catch (error) {
        box.replaceChildren(make("p", { class: "note", role: "alert" }, error.message));
      }
    };
    chooser.addEventListener("change", show);
    show();
  }

  // Tables that can be sorted and filtered
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, i) => {
      if (!head.textContent.trim() || head.dataset.fixed !== undefined) return;
      const button = make("button", { type: "button" }, head.textContent);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") === "descending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const value = (row) => row.cells[i].dataset.v ?? row.cells[i].textContent;
        const order = (a, b) => {
          const [x, y] = [value(a), value(b)];
          const numbers = [Number(x), Number(y)];
          const found = numbers.some(Number.isNaN) ? x.localeCompare(y) : numbers[0] - numbers[1];
          return up ? found : -found;
        };
        body.append(...[...body.rows].sort(order));
      });
    });
    const filter = table.dataset.filter && at(table.dataset.filter);
    if (filter) filter.addEventListener("input", () => {
      const text = filter.value.toLowerCase();
      for (const row of body.rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(text);
    });
  }
  window.addEventListener("beforeprint", () => {
    for (const box of document.querySelectorAll("details:not([data-list])")) box.open = true;
  });
})();
