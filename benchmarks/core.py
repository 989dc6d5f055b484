"""The core beside scikit-learn's SGDClassifier(learning_rate="pa1") and river's PAClassifier.

python benchmarks/core.py            the table of RESULTS.md, a few minutes
python benchmarks/core.py --quick    the same on a tenth of the data, in seconds
python benchmarks/core.py --write    puts the table into RESULTS.md

Ours and theirs run in turn, several times each, in one process and one thread. The times are
medians of the processor time (other load on the machine disturbs it less than the wall clock), the
ratio is the median over the turns. Every task is one pass over the same examples in the same order,
with C chosen for each side on validation data; the score is the accuracy on held-out data.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from results import machine, table, write
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from seqpa import MIRAClassifier, PAClassifier

HEAD = ["one pass over", "ours", "peer", "our time", "theirs", "ratio", "our accuracy", "theirs"]
PACKAGES = ("numpy", "scipy", "scikit-learn", "river")
NOTES = """\
Times are medians of 21 turns (3 for the streams) of the processor time of one thread, input checks
included. Two classes: the same algorithm on both sides, and the same weights. Ten classes: where a
margin is violated, `PAClassifier` moves two of the ten weight vectors, one-vs-rest each whose own
margin is violated, and `MIRAClassifier` those of all labels too close to the right one, by the
smallest change that mends them all. Where most features are rare, moving two learns less from a
single pass. A call for each example pays for Python's own calls and for checks of the input; river
takes dictionaries and checks nothing.
"""
GRID = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True)
class Data:
    """Training, validation and test parts: 8/10, 1/10 and 1/10."""

    X: Any
    y: np.ndarray

    def part(self, name: str) -> tuple[Any, np.ndarray]:
        n = len(self.y)
        rows = {"train": slice(0, n * 8 // 10), "valid": slice(n * 8 // 10, n * 9 // 10)}
        chosen = rows.get(name, slice(n * 9 // 10, n))
        return self.X[chosen], self.y[chosen]


def labels(scores: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """The highest of the noisy scores; two labels from one score."""
    scores = scores + noise * scores.std() * rng.normal(size=scores.shape)
    return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)


def dense(n: int, d: int, n_classes: int) -> Data:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n * 10 // 8, d))
    K = 1 if n_classes == 2 else n_classes
    return Data(X, labels(X @ rng.normal(size=(d, K)), 0.3, rng))


def text_like(n: int, d: int, nonzeros: int, n_classes: int) -> Data:
    """Rows of equal length whose features are a few frequent and many rare ones."""
    rng = np.random.default_rng(2)
    n = n * 10 // 8
    indices = (d * rng.random((n, nonzeros)) ** 4).astype(np.int32)
    values = rng.lognormal(sigma=0.5, size=n * nonzeros)
    X = sparse.csr_matrix(
        (values, indices.ravel(), np.arange(0, n * nonzeros + 1, nonzeros)), shape=(n, d)
    )
    X.sum_duplicates()
    K = 1 if n_classes == 2 else n_classes
    return Data(X, labels(X @ rng.normal(size=(d, K)), 0.3, rng))


def ours(C: float, average: bool = False, kind: type = PAClassifier) -> Any:
    return kind(C=C, max_iter=1, tol=None, shuffle=False, average=average)


def sgd(C: float, average: bool = False) -> Any:
    return SGDClassifier(
        loss="hinge",
        penalty=None,
        learning_rate="pa1",
        eta0=C,
        fit_intercept=False,
        max_iter=1,
        tol=None,
        shuffle=False,
        average=average,
    )


def tuned(make: Callable[[float], Any], data: Data) -> Any:
    """The model with the C that is best on the validation part."""
    fitted = {C: make(C).fit(*data.part("train")) for C in GRID}
    return make(max(GRID, key=lambda C: fitted[C].score(*data.part("valid"))))


def seconds(action: Callable[[], Any]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def in_turn(
    first: Callable[[], Any], second: Callable[[], Any], repeats: int
) -> tuple[float, float, float]:
    """The median time of each and of second/first, after one run of both that does not count."""
    first(), second()
    turns = [(seconds(first), seconds(second)) for _ in range(repeats)]
    ratio = statistics.median(b / a for a, b in turns)
    return statistics.median(a for a, _ in turns), statistics.median(b for _, b in turns), ratio


def against_sgd(name: str, data: Data, repeats: int, average: bool, kind: type) -> list[str]:
    mine = tuned(lambda C: ours(C, average, kind), data)
    theirs = tuned(lambda C: sgd(C, average), data)
    train = data.part("train")
    times = in_turn(lambda: mine.fit(*train), lambda: theirs.fit(*train), repeats)
    scores = mine.score(*data.part("test")), theirs.score(*data.part("test"))
    task = f"{name}, averaged" if average else name
    return row(task, kind.__name__, "SGDClassifier pa1", *times, *scores)


def against_river(n: int, d: int, repeats: int, one_by_one: bool) -> list[str]:
    """A stream of examples; ours in one call, or in a call for each example."""
    from river.linear_model import PAClassifier as RiverPA

    data = dense(n, d, 2)
    (X, y), (X_test, y_test) = data.part("train"), data.part("test")
    stream = [(dict(enumerate(x.tolist())), bool(label)) for x, label in zip(X, y, strict=True)]
    size = 1 if one_by_one else n
    C = 0.01
    models: dict[str, Any] = {}

    def river() -> None:
        models["river"] = RiverPA(C=C, mode=1, learn_intercept=False)
        for x, label in stream:
            models["river"].learn_one(x, label)

    def mine() -> None:
        models["ours"] = ours(C)
        for i in range(0, n, size):
            models["ours"].partial_fit(X[i : i + size], y[i : i + size], classes=[0, 1])

    times = in_turn(mine, river, repeats)
    theirs = [models["river"].predict_one(dict(enumerate(x.tolist()))) for x in X_test]
    scores = models["ours"].score(X_test, y_test), float(np.mean(theirs == y_test))
    calls = "a call for each example" if one_by_one else "one call"
    task = f"stream of {n:,} × {d}, {calls}"
    return row(task, "PAClassifier", "river PAClassifier", *times, *scores)


def row(
    task: str,
    name: str,
    peer: str,
    mine: float,
    theirs: float,
    ratio: float,
    score: float,
    their_score: float,
) -> list[str]:
    return [
        task,
        name,
        peer,
        f"{1000 * mine:.1f} ms",
        f"{1000 * theirs:.1f} ms",
        f"{ratio:.2f} ×",
        f"{score:.4f}",
        f"{their_score:.4f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, in seconds")
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    arguments = parser.parse_args()
    scale, repeats = (10, 3) if arguments.quick else (1, 21)
    n_dense, n_sparse, d_sparse = 100_000 // scale, 200_000 // scale, 100_000
    rows = []
    for n_classes, kind in ((2, "two classes"), (10, "ten classes")):
        for name, data in (
            (f"{n_dense:,} × 100 dense, {kind}", dense(n_dense, 100, n_classes)),
            (
                f"{n_sparse:,} × {d_sparse:,} sparse (20), {kind}",
                text_like(n_sparse, d_sparse, 20, n_classes),
            ),
        ):
            for estimator in (PAClassifier,) if n_classes == 2 else (PAClassifier, MIRAClassifier):
                for average in (False, True):
                    rows.append(against_sgd(name, data, repeats, average, estimator))
    rows.append(against_river(20_000 // scale, 20, 3, one_by_one=False))
    rows.append(against_river(2_000 // scale, 20, 3, one_by_one=True))
    load = f"Load average at the end: {os.getloadavg()[1]:.1f}."
    where = f"`python benchmarks/core.py` on {machine(*PACKAGES)}. {load}"
    text = f"{where}\n\n{table(HEAD, rows, left=3)}\n\n{NOTES}"
    print(text)
    if arguments.write:
        write("Core", text)


if __name__ == "__main__":
    main()
