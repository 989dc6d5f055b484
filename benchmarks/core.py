"""The core beside scikit-learn's SGDClassifier(learning_rate="pa1") and river's PAClassifier.

SEQPA_DATA=DIR python benchmarks/core.py    the table of RESULTS.md, a few minutes
python benchmarks/core.py --data DIR        the same
python benchmarks/core.py --quick           on a tenth of the made-up examples, in seconds
python benchmarks/core.py --write           puts the table into RESULTS.md

The examples are made up, but for the tokens of DIR/ptb-sample, which are left out without a DIR.

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
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
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
smallest change that mends them all. One-vs-rest has the same weights on both sides, but for the
rounding. Where most features are rare, moving two learns less from a single pass. The treebank's
tokens have the word, its neighbours, prefixes and suffixes as features, all ones. A call for each
example pays for Python's own calls and for checks of the input; river takes dictionaries and checks
nothing.
"""
GRID = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


@dataclass(frozen=True)
class Data:
    """Examples for training, then `n_valid` for validation, then `n_test` for the score.

    A tenth of all each, if not given.
    """

    X: Any
    y: np.ndarray
    n_valid: int | None = None
    n_test: int | None = None

    def part(self, name: str) -> tuple[Any, np.ndarray]:
        n = len(self.y)
        test = n - (n // 10 if self.n_test is None else self.n_test)
        valid = test - (n // 10 if self.n_valid is None else self.n_valid)
        rows = {"train": slice(0, valid), "valid": slice(valid, test), "test": slice(test, n)}
        return self.X[rows[name]], self.y[rows[name]]


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


def tokens(folder: Path) -> Data:
    """The words of the treebank sample with one of its ten most frequent tags, as ones and zeros.

    Features are the word, its neighbours, its prefixes and suffixes; validation is the last tenth
    of train.txt, the score is on test.txt.
    """
    found = {name: list(tagged(folder / f"{name}.txt")) for name in ("train", "test")}
    frequent = [tag for tag, _ in Counter(tag for _, tag in found["train"]).most_common(10)]
    train, test = ([one for one in found[name] if one[1] in frequent] for name in found)
    numbers: dict[str, int] = {}
    columns = [[numbers.setdefault(f, len(numbers)) for f in fs] for fs, _ in train + test]
    ends = np.cumsum([0, *map(len, columns)])
    X = sparse.csr_matrix((np.ones(ends[-1]), np.concatenate(columns), ends))
    X.sort_indices()
    y = np.array([frequent.index(tag) for _, tag in train + test])
    return Data(X, y, n_valid=len(train) // 10, n_test=len(test))


def tagged(path: Path) -> Iterator[tuple[list[str], str]]:
    """The features and the tag of each token of a file with a word, a tab, a tag on each line."""
    for sentence in path.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = [line.split("\t") for line in sentence.splitlines()]
        words = ["", "", *(word for word, _ in lines), "", ""]
        for i, (word, tag) in enumerate(lines):
            window = [f"word[{j - 2}]={words[i + j]}" for j in range(5)]
            ends = [f"{word[:n]}-" for n in (1, 2, 3)] + [f"-{word[-n:]}" for n in (1, 2, 3)]
            yield window + list(dict.fromkeys(ends)), tag


@dataclass(frozen=True)
class Kind:
    """One of our estimators, by the name that the table shows."""

    name: str
    make: Callable[..., Any]


PROTOTYPES = Kind("PAClassifier", PAClassifier)
ONE_VS_REST = Kind("PAClassifier one-vs-rest", partial(PAClassifier, multiclass="one-vs-rest"))
MIRA = Kind("MIRAClassifier", MIRAClassifier)


def ours(C: float, average: bool = False, kind: Kind = PROTOTYPES) -> Any:
    return kind.make(C=C, max_iter=1, tol=None, shuffle=False, average=average)


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


def against_sgd(name: str, data: Data, repeats: int, average: bool, kind: Kind) -> list[str]:
    mine = tuned(lambda C: ours(C, average, kind), data)
    theirs = tuned(lambda C: sgd(C, average), data)
    train = data.part("train")
    times = in_turn(lambda: mine.fit(*train), lambda: theirs.fit(*train), repeats)
    scores = mine.score(*data.part("test")), theirs.score(*data.part("test"))
    task = f"{name}, averaged" if average else name
    return row(task, kind.name, "SGDClassifier pa1", *times, *scores)


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
    parser.add_argument("--data", type=Path, help="folder of the corpora (default: SEQPA_DATA)")
    arguments = parser.parse_args()
    corpora = arguments.data or (os.environ.get("SEQPA_DATA") and Path(os.environ["SEQPA_DATA"]))
    scale, repeats = (10, 3) if arguments.quick else (1, 21)
    n_dense, n_sparse, d_sparse = 100_000 // scale, 200_000 // scale, 100_000
    pa, every = (PROTOTYPES,), (PROTOTYPES, ONE_VS_REST, MIRA)
    d, s = f"{n_dense:,} × 100 dense", f"{n_sparse:,} × {d_sparse:,} sparse (20)"
    tasks = [
        (f"{d}, two classes", dense(n_dense, 100, 2), pa),
        (f"{s}, two classes", text_like(n_sparse, d_sparse, 20, 2), pa),
        (f"{d}, ten classes", dense(n_dense, 100, 10), every),
        (f"{s}, ten classes", text_like(n_sparse, d_sparse, 20, 10), every),
    ]
    if corpora:
        real = tokens(corpora / "ptb-sample")
        n, k = real.part("train")[0].shape
        tasks.append((f"treebank tokens, {n:,} × {k:,} sparse, ten tags", real, every))
    else:
        print("tokens of the treebank left out: name the corpora with --data DIR or SEQPA_DATA=DIR")
    rows = [
        against_sgd(name, data, repeats, average, kind)
        for name, data, kinds in tasks
        for kind in kinds
        for average in (False, True)
    ]
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
