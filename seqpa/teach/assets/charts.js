// Curves and bars as SVG: no library, colours from the style sheet.

import { percent } from "./say.js";

const SPACE = "http://www.w3.org/2000/svg";

function shape(name, attributes, ...inner) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inner);
  return made;
}

/** Round numbers between two others, a few of them. */
function ticks(low, high, most) {
  const raw = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + 1e-9; at += step) found.push(Math.round(at / step) * step);
  return found;
}

/**
 * The accuracy on random sentences with its interval, over labelled sentences.
 *
 * `points`: [{labelled, accuracy, low, high}].
 */
export function curve(points, { width = 640, height = 260, small = false } = {}) {
  const margin = small ? { left: 4, right: 4, top: 6, bottom: 4 } : { left: 48, right: 16, top: 12, bottom: 40 };
  const last = points.at(-1);
  const most = Math.max(last.labelled, 1);
  const least = Math.min(...points.map((one) => one.low ?? one.accuracy));
  const floor = Math.max(0, Math.floor(least * 10) / 10);
  const x = (value) => margin.left + ((width - margin.left - margin.right) * value) / most;
  const y = (value) => height - margin.bottom - ((height - margin.top - margin.bottom) * (value - floor)) / (1 - floor || 1);
  const line = points.map((one, i) => `${i ? "L" : "M"}${x(one.labelled).toFixed(1)} ${y(one.accuracy).toFixed(1)}`).join("");
  const label = `Accuracy on random sentences: ${percent(last.accuracy)} after ${last.labelled} labelled sentences.`;
  const made = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: `chart${small ? " small" : ""}`, role: "img", "aria-label": label });
  if (!small) {
    for (const value of ticks(floor, 1, 5)) {
      made.append(
        shape("line", { x1: margin.left, x2: width - margin.right, y1: y(value), y2: y(value), class: "grid" }),
        shape("text", { x: margin.left - 8, y: y(value) + 4, "text-anchor": "end" }, `${Math.round(100 * value)} %`),
      );
    }
    for (const value of ticks(0, most, 6).filter(Number.isInteger)) {
      made.append(shape("text", { x: x(value), y: height - margin.bottom + 18, "text-anchor": "middle" }, String(value)));
    }
    made.append(shape("text", { x: (margin.left + width - margin.right) / 2, y: height - 4, "text-anchor": "middle" }, "labelled sentences"));
  }
  const banded = points.filter((one) => one.low !== null && one.low !== undefined);
  if (banded.length > 1) {
    const up = banded.map((one) => `${x(one.labelled).toFixed(1)} ${y(one.high).toFixed(1)}`);
    const down = [...banded].reverse().map((one) => `${x(one.labelled).toFixed(1)} ${y(one.low).toFixed(1)}`);
    made.append(shape("path", { d: `M${[...up, ...down].join("L")}Z`, class: "band" }));
  }
  made.append(shape("path", { d: line, class: "line" }));
  for (const one of small ? [last] : points) {
    made.append(shape("circle", { cx: x(one.labelled), cy: y(one.accuracy), r: small ? 3 : 4, class: "dot" }));
  }
  return made;
}

/** A bar from 0 to 1. */
export function meter(value, colour = "") {
  const looks = { viewBox: "0 0 100 6", preserveAspectRatio: "none", class: `meter-bar ${colour}`, "aria-hidden": "true" };
  const wide = 100 * Math.max(0, Math.min(1, value));
  return shape("svg", looks,
    shape("rect", { width: 100, height: 6, class: "bar-ground" }),
    shape("rect", { width: wide, height: 6, class: "bar-fill" }));
}
