"""The work of `minibatch`: C and σ are chosen, trials run, and other choices looked at."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from seqpa.core import Binary, Examples
from seqpa.core.batch import BatchLearner
from seqpa.core.dual import KernelLearner
from seqpa.core.kernels import Kernel
from seqpa.experiments.data import Floats, load
from seqpa.experiments.minibatch_report import BATCH_SIZES, PASSES, VARIANTS, Algorithm
from seqpa.experiments.setup import Setup

C_GRID = np.logspace(-5, 1, 7)
SIGMA_GRID = np.logspace(-4, 1, 6)
ALGORITHMS: tuple[Algorithm, ...] = tuple(itertools.product(VARIANTS, BATCH_SIZES))


class Reading(NamedTuple):
    """How to read what the document leaves open.

    scaling  features between −1 and 1 ("range"), or of mean 0 and variance 1 ("spread")
    width    whether σ is a width, exp(−‖x − z‖²/2σ²), or a factor, exp(−σ‖x − z‖²)
    """

    scaling: str = "range"
    width: bool = False

    def kernel(self, sigma: float) -> Kernel:
        """The Gaussian kernel, with a bias.

        >>> Reading(width=True).kernel(0.5).gamma, Reading(width=False).kernel(0.5).gamma
        (2.0, 0.5)
        """
        return Kernel("rbf", gamma=0.5 / sigma**2 if self.width else sigma, bias=True)


class Data(NamedTuple):
    """Which examples, at most how many, and how they are read."""

    name: str
    folder: Path | None
    most: int
    reading: Reading = Reading()

    def examples(self) -> tuple[Floats, Floats]:
        """The scaled features, and the labels as ±1."""
        X, y = load(self.name, self.folder).all
        middle, width = X.mean(axis=0), X.std(axis=0)
        if self.reading.scaling == "range":
            low, high = X.min(axis=0), X.max(axis=0)
            middle, width = (low + high) / 2, (high - low) / 2
        return (X - middle) / np.where(width > 0, width, 1.0), np.where(y == 1, 1.0, -1.0)


class Choice(NamedTuple):
    """All algorithms and all C with one σ on one subsample."""

    data: Data
    algorithms: tuple[Algorithm, ...]
    sigma: float
    subsample: int


class Trial(NamedTuple):
    """All algorithms, each with its C and σ, on one division of a set."""

    data: Data
    algorithms: tuple[Algorithm, ...]
    chosen: tuple[tuple[float, float], ...]
    trial: int


class Hindsight(NamedTuple):
    """One algorithm with one σ and all C in many trials."""

    data: Data
    algorithm: Algorithm
    sigma: float
    trials: int


def choose(
    setup: Setup,
    stage: str,
    sets: list[Data],
    algorithms: tuple[Algorithm, ...],
    subsamples: int,
) -> dict[str, Floats]:
    """For each set the mean online error, float64[algorithms, σ, C]."""
    tasks = [
        Choice(data, algorithms, float(sigma), i)
        for data in sets
        for sigma in SIGMA_GRID
        for i in range(subsamples)
    ]
    found = np.array(setup.each(stage, online_errors, tasks))
    shape = (len(sets), len(SIGMA_GRID), subsamples, len(algorithms), len(C_GRID))
    means = found.reshape(shape).mean(axis=2).transpose(0, 2, 1, 3)
    return {data.name: errors for data, errors in zip(sets, means, strict=True)}


def best(errors: Floats) -> tuple[tuple[float, float], ...]:
    """For each algorithm the (C, σ) of the smallest error."""
    places = [np.unravel_index(int(np.argmin(of_one)), of_one.shape) for of_one in errors]
    return tuple((float(C_GRID[c]), float(SIGMA_GRID[s])) for s, c in places)


def online_errors(choice: Choice) -> Floats:
    """In one pass over the subsample: float64[algorithms, values of C]."""
    X, y = choice.data.examples()
    rng = np.random.default_rng([6000, choice.subsample])
    rows = rng.permutation(len(y))[: min(choice.data.most, 3 * len(y) // 4)]
    inner = choice.data.reading.kernel(choice.sigma).gram(X[rows], X[rows])
    examples, target = Examples.from_array(inner), y[rows]
    return np.array(
        [
            [
                _learner(algorithm).run(examples, target, C=float(C)).mistakes / len(rows)
                for C in C_GRID
            ]
            for algorithm in choice.algorithms
        ]
    )


def trial_rows(task: Trial) -> list[dict[str, Any]]:
    """The online errors, and the test error after each pass."""
    found = {}
    for sigma in sorted({sigma for _, sigma in task.chosen}):
        inner = Division.of(task.data, task.trial, sigma)
        for algorithm, (C, own_sigma) in zip(task.algorithms, task.chosen, strict=True):
            if own_sigma == sigma:
                found[algorithm] = inner.passes(algorithm, C)
    return [
        {
            "data": task.data.name,
            "algorithm": algorithm[0],
            "B": algorithm[1],
            "trial": task.trial,
            "online_error": found[algorithm][0],
            "online_error_later": found[algorithm][1],
            **{f"test_error_{i}": error for i, error in enumerate(found[algorithm][2], 1)},
        }
        for algorithm in task.algorithms
    ]


def hindsight_errors(task: Hindsight) -> Floats:
    """The mean test error after all passes, for each C."""
    errors = np.zeros((task.trials, len(C_GRID)))
    for trial in range(task.trials):
        inner = Division.of(task.data, trial, task.sigma)
        for i, C in enumerate(C_GRID):
            errors[trial, i] = inner.passes(task.algorithm, float(C))[2][-1]
    return np.asarray(errors.mean(axis=0))


def rounds(task: Trial) -> list[dict[str, Any]]:
    """The online error so far along one run (Fig. 1), without the first mini-batch."""
    rows = []
    for (step, B), (C, sigma) in zip(task.algorithms, task.chosen, strict=True):
        if step == "PA-II":
            continue
        inner = Division.of(task.data, task.trial, sigma)
        passed = _learner((step, B)).run(inner.learn, inner.y_learn, C=C, record=True)
        assert passed.costs is not None
        mistakes = np.cumsum(passed.costs)
        rows += [
            {
                "data": task.data.name,
                "algorithm": step,
                "B": B,
                "round": int(t),
                "error": (mistakes[t - 1] - mistakes[B - 1]) / (t - B),
            }
            for t in np.unique(np.geomspace(40, len(mistakes), 60).astype(int))
        ]
    return rows


def seconds(quick: bool) -> dict[Algorithm, float]:
    """CPU time of one linear pass for each algorithm, which shows what the steps cost."""
    n = 500 if quick else 10_000
    rng = np.random.default_rng(6002)
    X = rng.normal(size=(n, 20))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    examples = Examples.from_array(X, bias=True)
    found = {}
    for step, B in ALGORITHMS:
        least = float("inf")
        for _ in range(3):
            learner = BatchLearner(Binary(), step, 20, bias=True, batch_size=B)
            begun = time.process_time()
            learner.run(examples, y, C=0.1)
            least = min(least, time.process_time() - begun)
        found[step, B] = least
    return found


class Division(NamedTuple):
    """The inner products of the examples to learn from, and those of the examples to test on."""

    learn: Examples
    y_learn: Floats
    test: Floats
    y_test: Floats

    @classmethod
    def of(cls, data: Data, trial: int, sigma: float) -> Division:
        """75 % to learn from, 25 % to test on; the same for all algorithms."""
        X, y = data.examples()
        order = np.random.default_rng([6001, trial]).permutation(len(y))[: data.most]
        learn, test = order[: 3 * len(order) // 4], order[3 * len(order) // 4 :]
        kernel = data.reading.kernel(sigma)
        inner = Examples.from_array(kernel.gram(X[learn], X[learn]))
        return cls(inner, y[learn], kernel(X[test], X[learn]), y[test])

    def passes(self, algorithm: Algorithm, C: float) -> tuple[float, float, list[float]]:
        """The online error of the first pass, that without its first mini-batch, and the test
        error after each pass."""
        learner, rng, tested = _learner(algorithm), np.random.default_rng(6003), []
        wrong = np.empty(0)
        for i in range(PASSES):
            order = rng.permutation(len(self.y_learn)) if i else None
            passed = learner.run(self.learn, self.y_learn, C=C, order=order, record=True)
            assert passed.costs is not None
            wrong = wrong if i else passed.costs
            scores = learner.scores(self.test)[:, 0]
            tested.append(float(np.mean(self.y_test * scores <= 0)))
        return float(wrong.mean()), float(wrong[algorithm[1] :].mean()), tested


def _learner(algorithm: Algorithm) -> KernelLearner:
    step, B = algorithm
    return KernelLearner(Binary(), step, kernel=Kernel("precomputed"), batch_size=B)
