// What a sentence's labels are, and what becomes of them: pure functions.
//
// An annotation is {spans: [[start, end, label], ...]} or {labels: [label or null, ...]}; what is
// confirmed is [[start, end, label or null], ...], null being outside of any span (or, with one
// label a token, left open). Ends are excluded; token numbers count from 0.

export const overlaps = (one, start, end) => one[0] < end && start < one[1];
const sorted = (list) => [...list].sort((a, b) => a[0] - b[0]);

/** The span at a token, or null. */
export function spanAt(annotation, at) {
  return annotation.spans?.find(([start, end]) => start <= at && at < end) ?? null;
}

/** The label of a token, or null. */
export function labelAt(annotation, at) {
  return annotation.labels ? annotation.labels[at] : (spanAt(annotation, at)?.[2] ?? null);
}

/** What is confirmed of a token: [start, end, label or null], or undefined. */
export const confirmedAt = (confirmed, at) => confirmed.find((one) => overlaps(one, at, at + 1));

/** `list` without the tokens from start to end; what sticks out on either side stays. */
function without(list, start, end) {
  return list.flatMap((one) => {
    if (!overlaps(one, start, end)) return [one];
    const [a, b, label] = one;
    return [[a, Math.min(b, start), label], [Math.max(a, end), b, label]].filter(([from, to]) => from < to);
  });
}

/**
 * What is confirmed once tokens start to end have a label (null: none).
 *
 * A span that was confirmed is replaced as a whole or not at all: what cuts into it is refused,
 * {refused: that span}. What the model only proposed gives way.
 */
export function confirm(kind, confirmed, start, end, label) {
  if (kind === "tokens") {
    const single = [];
    for (let at = start; at < end; at += 1) single.push([at, at + 1, label]);
    return { confirmed: sorted([...without(confirmed, start, end), ...single]) };
  }
  const cut = confirmed.find((one) => one[2] !== null && overlaps(one, start, end) && (one[0] < start || one[1] > end));
  if (cut) return { refused: cut };
  return { confirmed: sorted([...without(confirmed, start, end), [start, end, label]]) };
}

/** An annotation that has what is confirmed; elsewhere it stays, unless a span is cut. */
export function under(annotation, confirmed) {
  if (annotation.labels) {
    const labels = [...annotation.labels];
    for (const [start, end, label] of confirmed) labels.fill(label, start, end);
    return { labels };
  }
  const free = annotation.spans.filter((span) => !confirmed.some((one) => overlaps(one, span[0], span[1])));
  const sure = confirmed.filter(([, , label]) => label !== null);
  return { spans: sorted([...free, ...sure]) };
}

/** What is shown at a token, as something that can be confirmed: [start, end, label or null]. */
export function pieceAt(annotation, confirmed, at) {
  const span = spanAt(annotation, at);
  if (span && !confirmed.some((one) => overlaps(one, span[0], span[1]))) return [...span];
  return [at, at + 1, annotation.labels ? annotation.labels[at] : null];
}

/** What is confirmed once all that is shown at some tokens is. */
export function confirmAll(annotation, confirmed, tokens) {
  return tokens.reduce((found, at) => {
    if (confirmedAt(found, at)) return found;
    const piece = pieceAt(annotation, found, at);
    return annotation.labels && piece[2] === null ? found : sorted([...found, piece]);
  }, confirmed);
}

/** Where two annotations of a sentence differ: the numbers of the tokens. */
export function differences(one, two, n) {
  const told = (annotation, at) => {
    const span = spanAt(annotation, at);
    return annotation.labels ? annotation.labels[at] : span && `${span[0]} ${span[1]} ${span[2]}`;
  };
  return new Set(Array.from({ length: n }, (_, at) => at).filter((at) => told(one, at) !== told(two, at)));
}

export const same = (one, two) => JSON.stringify(one) === JSON.stringify(two);

/** Labels that fit to what was typed: those that begin so, then those with a word or letter in it. */
export function matching(labels, typed) {
  const wanted = typed.trim().toLowerCase();
  if (!wanted) return labels;
  const rank = ({ name }) => {
    const own = name.toLowerCase();
    if (own === wanted) return 0;
    if (own.startsWith(wanted)) return 1;
    if (own.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(wanted))) return 2;
    return own.includes(wanted) ? 3 : 4;
  };
  return labels.filter((label) => rank(label) < 4).sort((a, b) => rank(a) - rank(b));
}
