"""The rest of the family: kernels, mini-batches, MIRA, multiplicative, ellipsoid, hinge.

python benchmarks/family.py            the tables of RESULTS.md, some minutes
python benchmarks/family.py --quick    the same on a tenth of the data, in seconds
python benchmarks/family.py --write    puts the tables into RESULTS.md

As in core.py: ours and theirs in turn, processor time, one thread, medians; one pass over the same
examples in the same order where both sides make passes. SVC, the peer of the kernels, makes none:
it is trained to its own tolerance.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from core import Data, dense, in_turn, sgd, tuned
from results import machine, table, write
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from seqpa import (
    EllipsoidClassifier,
    HingeClassifier,
    KernelPAClassifier,
    MiniBatchPAClassifier,
    MIRAClassifier,
    MultiplicativePAClassifier,
    PerceptronClassifier,
)
from seqpa.core.dual import KernelLearner
from seqpa.core.examples import Examples
from seqpa.core.kernels import Kernel
from seqpa.core.problems import Binary

HEAD = ["ours", "peer", "data", "passes/s", "theirs", "ratio", "our accuracy", "theirs"]
BLAS_HEAD = ["kernel", "support vectors", "run", "BLAS products", "run / BLAS"]
PACKAGES = ("numpy", "scipy", "scikit-learn", "river")
ONE_PASS: dict[str, Any] = {"max_iter": 1, "tol": None, "shuffle": False}
BLOCK = 256
NOTES = """\
Passes per second are medians of the processor time of one thread, input checks included. C, or the
step size, is chosen for both sides on validation data where it is a parameter. A mini-batch solves
a quadratic problem for each B examples, an ellipsoid of the full shape costs d² for each update:
they buy what a pass learns, not its speed. The ellipsoids are given examples of length 1, as their
bounds want. "Few matter": six features of all; averaged on both sides. SVC has no passes: the ratio
is between its training and five passes of ours, its figure one over the seconds of its training.
"""
BLAS_NOTES = """\
One pass of `KernelPAClassifier`'s learner over {n:,} × {d}, beside the matrix products alone of its
kernel evaluations, examples with support vectors and within each block, in blocks of {block} and by
one call each. The difference is the exponential, the products with the coefficients, and the steps.
"""


def stream(data: Data) -> list[tuple[dict[int, float], bool]]:
    X, y = data.part("train")
    return [(dict(enumerate(x.tolist())), bool(label)) for x, label in zip(X, y, strict=True)]


class River:
    """A river model with scikit-learn's fit and score, over examples made into dicts beforehand."""

    def __init__(self, make: Callable[[], Any], examples: list[tuple[dict[int, float], bool]]):
        self.make, self.examples = make, examples

    def fit(self, X: Any, y: Any) -> River:
        self.model = self.make()
        for x, label in self.examples:
            self.model.learn_one(x, label)
        return self

    def score(self, X: Any, y: Any) -> float:
        found = [self.model.predict_one(dict(enumerate(x.tolist()))) for x in X]
        return float(np.mean(np.array(found, dtype=int) == y))


def compare(
    name: str, mine: Any, peer: str, theirs: Any, data: Data, shape: str, repeats: int, passes=1
) -> list[str]:
    train, test = data.part("train"), data.part("test")
    fast, slow, ratio = in_turn(lambda: mine.fit(*train), lambda: theirs.fit(*train), repeats)
    return [
        name,
        peer,
        shape,
        f"{passes / fast:,.1f}",
        f"{1 / slow:,.1f}",
        f"{ratio:.2f} ×",
        f"{mine.score(*test):.4f}",
        f"{theirs.score(*test):.4f}",
    ]


def relevant_few(n: int, d: int) -> Data:
    """Values from 0 to 1, as multiplicative weights want them; six of the features matter."""
    rng = np.random.default_rng(4)
    X = rng.random((n * 10 // 8, d))
    score = X[:, :3].sum(axis=1) - X[:, 3:6].sum(axis=1) + 0.1 * rng.normal(size=len(X))
    return Data(X, (score > 0).astype(int))


def hinge_sgd(step: float) -> Any:
    return SGDClassifier(
        loss="hinge",
        penalty=None,
        learning_rate="constant",
        eta0=step,
        fit_intercept=False,
        **ONE_PASS,
    )


def linear_rows(n: int, d: int, repeats: int) -> list[list[str]]:
    two, ten = dense(n, d, 2), dense(n, d, 10)
    rows = []

    def add(name: str, mine: Any, peer: str, theirs: Any, data: Data, kind: str) -> None:
        rows.append(compare(name, mine, peer, theirs, data, f"{n:,} × {d}, {kind}", repeats))

    pa1 = {id(data): tuned(sgd, data) for data in (two, ten)}
    for data, kind in ((two, "two classes"), (ten, "ten classes")):
        last = PerceptronClassifier("last", **ONE_PASS)
        peer = Perceptron(fit_intercept=False, **ONE_PASS)
        add("PerceptronClassifier", last, "Perceptron", peer, data, kind)
    hinge = tuned(lambda step: HingeClassifier(step_size=step, **ONE_PASS), two)
    add("HingeClassifier", hinge, "SGDClassifier hinge", tuned(hinge_sgd, two), two, "two classes")
    mira = tuned(lambda C: MIRAClassifier(C=C, **ONE_PASS), ten)
    add("MIRAClassifier", mira, "SGDClassifier pa1", pa1[id(ten)], ten, "ten classes")
    for data, kind in ((two, "two classes"), (ten, "ten classes")):
        for B in (10, 50):
            batches = tuned(lambda C, B=B: MiniBatchPAClassifier(B, C=C, **ONE_PASS), data)
            name = f"MiniBatchPAClassifier, B = {B}"
            add(name, batches, "SGDClassifier pa1", pa1[id(data)], data, kind)
    few = relevant_few(n, d)
    mine = MultiplicativePAClassifier(average=True, **ONE_PASS)
    peer = tuned(lambda C: sgd(C, average=True), few)
    add(
        "MultiplicativePAClassifier",
        mine,
        "SGDClassifier pa1",
        peer,
        few,
        "two classes, few matter",
    )
    short = Data(normalize(two.X), two.y)
    peer = tuned(sgd, short)
    for shape in ("full", "diagonal"):
        mine = EllipsoidClassifier(shape=shape, **ONE_PASS)
        add(f"EllipsoidClassifier, {shape}", mine, "SGDClassifier pa1", peer, short, "two classes")
    return rows


def river_rows(n: int, d: int) -> list[list[str]]:
    from river import linear_model, optim

    data = dense(n, d, 2)
    examples = stream(data)
    shape = f"{n:,} × {d}, two classes"
    perceptron = River(linear_model.Perceptron, examples)
    hinge = River(
        lambda: linear_model.LogisticRegression(optim.SGD(0.1), optim.losses.Hinge()), examples
    )
    mine = PerceptronClassifier("last", fit_intercept=True, **ONE_PASS)
    step = HingeClassifier(step_size=0.1, fit_intercept=True, **ONE_PASS)
    return [
        compare("PerceptronClassifier", mine, "river Perceptron", perceptron, data, shape, 3),
        compare("HingeClassifier", step, "river linear, hinge", hinge, data, shape, 3),
    ]


def curved(n: int, d: int) -> Data:
    """Two classes that no plane tells apart: a product of two features, with noise."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n * 10 // 8, d))
    score = X[:, 0] * X[:, 1] + X[:, 2] + 0.2 * rng.normal(size=len(X))
    return Data(X, (score > 0).astype(int))


def kernel_rows(n: int, d: int) -> list[list[str]]:
    data = curved(n, d)
    shape = f"{n:,} × {d}, two classes"
    five = {**ONE_PASS, "max_iter": 5, "gamma": 1 / d}
    rows = []
    theirs = tuned(lambda C: SVC(C=10 * C, gamma=1 / d), data)
    for budget, strategy in ((None, "oldest"), (500, "oldest"), (200, "project")):
        limits = {"average": True} if budget is None else {"budget": budget}
        mine = tuned(
            lambda C, limits=limits, strategy=strategy: KernelPAClassifier(
                C=C, budget_strategy=strategy, **limits, **five
            ),
            data,
        )
        name = "averaged" if budget is None else f"budget {budget}, {strategy}"
        row = compare(
            f"KernelPAClassifier, {name}", mine, "SVC, rbf", theirs, data, shape, 3, passes=5
        )
        rows.append(row)
    return rows


def blas_rows(n: int, d: int, repeats: int) -> list[list[str]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.where((X[:, :5] ** 2).sum(axis=1) + rng.normal(size=n) > 5.0, 1.0, -1.0)
    examples = Examples.from_array(X)
    rows = []
    for name in ("linear", "poly", "rbf"):
        made: dict[str, KernelLearner] = {}

        def run(name: str = name, made: dict[str, KernelLearner] = made) -> None:
            made["learner"] = KernelLearner(Binary(), "PA-I", kernel=Kernel(name, gamma=1 / d))
            made["learner"].run(examples, y)

        def products(made: dict[str, KernelLearner] = made) -> None:
            support = made["learner"].support
            for first in range(0, n, BLOCK):
                block = X[first : first + BLOCK]
                block @ block.T
                block @ support.vectors[: np.searchsorted(support.source, first)].T

        whole, blas, ratio = in_turn(run, products, repeats)
        count = len(made["learner"].support)
        rows.append([name, f"{count:,}", f"{whole:.3f} s", f"{blas:.3f} s", f"{1 / ratio:.2f} ×"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, in seconds")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    arguments = parser.parse_args()
    scale, repeats = (10, 3) if arguments.quick else (1, 7)
    with threadpool_limits(1):
        rows = linear_rows(20_000 // scale, 100, repeats)
        rows += river_rows(5_000 // scale, 20)
        rows += kernel_rows(5_000 // scale, 20)
        size = {"n": 10_000 // scale, "d": 100}
        blas = blas_rows(**size, repeats=repeats)
    where = f"`python benchmarks/family.py` on {machine(*PACKAGES)}."
    load = f"Load average at the end: {os.getloadavg()[1]:.1f}."
    text = "\n\n".join(
        [
            f"{where} {load}",
            table(HEAD, rows, left=3),
            NOTES.rstrip(),
            "### Kernel evaluations",
            table(BLAS_HEAD, blas),
            BLAS_NOTES.format(**size, block=BLOCK),
        ]
    )
    print(text)
    if arguments.write:
        write("Family", text)


if __name__ == "__main__":
    main()
