"""One example at a time: learn and predict beside river and scikit-learn, and as the model grows.

python benchmarks/online.py            every part, a few minutes
python benchmarks/online.py vectors    one part: see PARTS
python benchmarks/online.py --quick    a tenth of the examples, in seconds
python benchmarks/online.py --write    puts the tables into RESULTS.md, the pictures beside it

Ours and theirs take turns, block by block of the same stream, in one process and one thread; the
times are medians over the blocks, divided by the examples of a block. A part is a function of
`quick` that returns its Markdown.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from online_tagger import late_labels, missing_labels, one_by_one, updates
from results import machine, table, write
from scipy import sparse

from seqpa import PAClassifier, PARegressor, PAUniclass

BLOCK = 200  # examples between two looks at the clock
PICTURE = Path(__file__).with_name("online-growth.png")
DRIFT = Path(__file__).parents[1] / "docs" / "online-drift.png"
NOTES = """\
Microseconds for one example, medians over blocks of 200 in which the sides take turns; processor
time of one thread. Dicts are made before the clock starts. river's models have no intercept here,
and its steps are the same: the weights agree. scikit-learn's `SGDClassifier(learning_rate="pa1")`
is called with one row, as is our `partial_fit`.
"""

Example = tuple[Any, Any]


class Side(NamedTuple):
    """One of those that are compared."""

    name: str
    learn: Callable[[Any, Any], object]
    predict: Callable[[Any], object]


def dicts(n: int, names: int, entries: int, labels: int) -> list[tuple[dict[str, float], int]]:
    """Examples of a few among many features, frequent and rare, and labels that follow them."""
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(labels, names))
    stream = []
    for _ in range(n):
        columns = np.unique((names * rng.random(entries) ** 3).astype(int))
        values = rng.exponential(size=len(columns))
        y = int((weights[:, columns] @ values + rng.normal(size=labels)).argmax())
        stream.append(({f"f{j}": float(v) for j, v in zip(columns, values, strict=True)}, y))
    return stream


def as_rows(stream: Sequence[Example], width: int, dense: bool) -> list[Example]:
    """The same examples as matrices of one row."""
    rows = []
    for x, y in stream:
        columns = np.array(sorted(int(name[1:]) for name in x), dtype=np.int32)
        values = np.array([x[f"f{j}"] for j in columns])
        ends = np.array([0, len(columns)], dtype=np.int32)
        row = sparse.csr_matrix((values, columns, ends), shape=(1, width))
        rows.append((row.toarray() if dense else row, np.array([y])))
    return rows


def medians(sides: Sequence[Side], streams: Sequence[Sequence[Example]]) -> list[list[float]]:
    """For each side the microseconds to predict and to learn one example."""
    spent: list[tuple[list[float], list[float]]] = [([], []) for _ in sides]
    for first in range(0, len(streams[0]) - BLOCK + 1, BLOCK):
        for side, stream, (predicting, learning) in zip(sides, streams, spent, strict=True):
            block = stream[first : first + BLOCK]
            begun = time.process_time_ns()
            for x, _ in block:
                side.predict(x)
            between = time.process_time_ns()
            for x, y in block:
                side.learn(x, y)
            predicting.append((between - begun) / BLOCK / 1e3)
            learning.append((time.process_time_ns() - between) / BLOCK / 1e3)
    # The first block is where models are made.
    return [[statistics.median(times[1:] or times) for times in pair] for pair in spent]


def vectors(quick: bool) -> str:
    """Dicts beside river; rows beside scikit-learn; and the time as the model grows."""
    n = 1_000 if quick else 10_000
    parts = [dict_table(n), row_table(n // 2), growth(quick)]
    return NOTES + "\n" + "\n\n".join(parts) + "\n\n" + machine("numpy", "scipy", "river")


def dict_table(n: int) -> str:
    from river import linear_model

    lines = []
    for names, entries in ((9, 9), (50, 50), (100_000, 20), (100_000, 100)):
        stream = dicts(n, names, entries, 2)
        truth = [(x, bool(y)) for x, y in stream]
        theirs = linear_model.PAClassifier(C=0.1, mode=1, learn_intercept=False)
        ours = PAClassifier(C=0.1)
        sides = [Side("river", theirs.learn_one, theirs.predict_one), one(ours)]
        lines.append(row(f"two classes, {entries} of {names:,}", medians(sides, [truth] * 2)))
        many = dicts(n, names, entries, 10)
        ten = medians([one(PAClassifier(C=0.1))], [many])
        lines.append(row(f"ten classes, {entries} of {names:,}", [[], *ten]))
        numbers = [(x, float(y)) for x, y in many]
        their_numbers = linear_model.PARegressor(C=0.1, mode=1, eps=0.1, learn_intercept=False)
        sides = [
            Side("river", their_numbers.learn_one, their_numbers.predict_one),
            one(PARegressor(C=0.1)),
        ]
        lines.append(row(f"numbers, {entries} of {names:,}", medians(sides, [numbers] * 2)))
    head = ["dicts: features of an example", "learn", "river", "ratio", "predict", "river", "ratio"]
    return table(head, lines)


def one(model: Any) -> Side:
    """Our side, with dicts."""
    return Side("ours", model.learn_one, model.predict_one)


def row(what: str, times: list[list[float]]) -> list[str]:
    """A line of a table: theirs first in `times`, which may be missing."""
    theirs, ours = times
    cells = [what]
    for k in (1, 0):
        known = f"{theirs[k]:.1f}" if theirs else "-"
        cells += [f"{ours[k]:.1f}", known, f"{ours[k] / theirs[k]:.2f}" if theirs else "-"]
    return cells


def row_table(n: int) -> str:
    from sklearn.linear_model import SGDClassifier

    lines = []
    for width, entries, dense in ((50, 50, True), (1_000, 1_000, True), (100_000, 100, False)):
        stream = as_rows(dicts(n, width, entries, 2), width, dense)
        ours = PAClassifier(C=0.1)
        peer = SGDClassifier(learning_rate="pa1", eta0=0.1, penalty=None, fit_intercept=False)
        for model in (ours, peer):
            model.partial_fit(*stream[0], classes=[0, 1])
        sides = [Side(type(m).__name__, m.partial_fit, m.predict) for m in (peer, ours)]
        kind = "dense" if dense else "CSR"
        lines.append(row(f"one {kind} row, {entries} of {width:,}", medians(sides, [stream] * 2)))
    ball = PAUniclass(epsilon=1.0)
    stream = as_rows(dicts(n, 50, 50, 2), 50, dense=True)
    ball.partial_fit(stream[0][0])
    side = Side("ours", lambda x, _: ball.partial_fit(x), ball.predict)
    lines.append(row("one dense row, 50 of 50, a ball", [[], medians([side], [stream])[0]]))
    head = ["rows", "partial_fit", "scikit-learn", "ratio", "predict", "scikit-learn", "ratio"]
    return table(head, lines)


def growth(quick: bool) -> str:
    """Learn one example, as the model grows; a picture where matplotlib is there."""
    from river import linear_model

    sizes = (1_000, 10_000, 100_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
    found: dict[str, list[float]] = {"ours": [], "river": []}
    for size in sizes:
        firsts = range(0, size, 100)
        fill = [({f"f{j}": 1.0 for j in range(i, i + 100)}, i // 100 % 2) for i in firsts]
        stream = dicts(1_000 if quick else 4_000, size, 50, 2)
        theirs, ours = linear_model.PAClassifier(C=0.1, learn_intercept=False), PAClassifier(C=0.1)
        for x, y in fill:
            theirs.learn_one(x, bool(y))
            ours.learn_one(x, y)
        sides = [Side("river", theirs.learn_one, theirs.predict_one), one(ours)]
        times = medians(sides, [[(x, bool(y)) for x, y in stream], stream])
        found["river"].append(times[0][1])
        found["ours"].append(times[1][1])
    draw(sizes, found)
    lines = [[name, *(f"{t:.1f}" for t in times)] for name, times in found.items()]
    head = ["learn one example of 50 features, features so far", *(f"{size:,}" for size in sizes)]
    return (
        table(head, lines) + f"\n\n![Time to learn one example as the model grows]({PICTURE.name})"
    )


def draw(sizes: Iterable[int], found: dict[str, list[float]]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.5, 3.5), layout="constrained")
    for name, times in found.items():
        axes.plot(list(sizes), times, marker="o", label=name)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("features in the model")
    axes.set_ylabel("µs to learn one example of 50 features")
    axes.legend()
    figure.savefig(PICTURE, dpi=120)


def drift(quick: bool) -> str:
    """The picture of docs/online.md: labels whose weights turn around in the middle."""
    import matplotlib.pyplot as plt

    n, window = (2_000 if quick else 6_000), 200
    figure, axes = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
    lines = []
    for name, average in (("last weights", False), ("mean of all weights", True)):
        rng = np.random.default_rng(0)
        w, model = rng.normal(size=20), PAClassifier(C=0.1, average=average)
        right = []
        for t in range(n):
            x = rng.normal(size=20)
            turned = w if t < n // 2 else np.roll(w, 10)
            y = int(x @ turned + rng.normal() > 0)
            features = dict(enumerate(x.tolist()))
            right.append(model.predict_one(features) == y)
            model.learn_one(features, y, classes=[0, 1])
        accuracy = np.convolve(right, np.full(window, 1 / window), mode="valid")
        axes.plot(np.arange(window, n + 1), accuracy, label=name)
        halves = [float(np.mean(right[: n // 2])), float(np.mean(right[n // 2 :]))]
        lines.append([name, *(f"{share:.3f}" for share in halves)])
    axes.axvline(n // 2, color="grey", linewidth=1)
    axes.set_xlabel("examples")
    axes.set_ylabel(f"accuracy of the last {window}")
    axes.legend(loc="lower left")
    figure.savefig(DRIFT, dpi=110)
    return table(["prequential accuracy", "before the change", "after it"], lines)


# Name -> (section of RESULTS.md, the function).
PARTS: dict[str, tuple[str, Callable[[bool], str]]] = {
    "vectors": ("One example at a time: vectors", vectors),
    "drift": ("One example at a time: a world that changes", drift),
    "taggers": ("One sentence at a time: taggers", one_by_one),
    "missing-labels": ("Taggers that learn from some of the labels", missing_labels),
    "late-labels": ("Taggers that meet half of the labels late", late_labels),
    "updates": ("Taggers: which wrong sequence is pushed down", updates),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help="all of them by default")
    parser.add_argument("--quick", action="store_true", help="a tenth of the examples")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    options = parser.parse_args()
    for name in options.part or PARTS:
        section, part = PARTS[name]
        text = part(options.quick)
        print(f"## {section}\n\n{text}\n")
        if options.write:
            write(section, f"`python benchmarks/online.py {name}`\n\n{text}")


if __name__ == "__main__":
    main()
