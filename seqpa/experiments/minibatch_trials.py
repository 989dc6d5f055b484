"""The work of `minibatch`: C and σ are chosen, trials run, and other choices looked at."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa.core import Binary, Examples
from seqpa.core.dual import KernelLearner
from seqpa.core.kernels import Kernel
from seqpa.experiments.data import Floats, load
from seqpa.experiments.minibatch_report import (
    BATCH_SIZES,
    IN_FIGURE_1,
    IN_TABLE,
    PASSES,
    VARIANTS,
    Algorithm,
)
from seqpa.experiments.setup import Setup
from seqpa.experiments.windows import WindowLearner

C_GRID = np.logspace(-5, 1, 7)
SIGMA_GRID = np.logspace(-4, 1, 6)
ALGORITHMS: tuple[Algorithm, ...] = tuple(itertools.product(VARIANTS, BATCH_SIZES))


class PaperReading(NamedTuple):
    """How to read what the paper leaves open.

    Parameters
    ----------
    scaling : {"range", "spread"}
        Features between −1 and 1, or of mean 0 and variance 1.
    width : bool
        Whether σ is a width, exp(−‖x − z‖²/2σ²), or a factor, exp(−σ‖x − z‖²).
    windows : bool
        Whether mini-batches overlap, the last B examples at each round (`windows.py`), or follow
        one another.
    choosing : int
        The number of passes whose online error chooses C and σ.
    """

    scaling: str = "range"
    width: bool = False
    windows: bool = True
    choosing: int = 1

    def kernel(self, sigma: float) -> Kernel:
        """The Gaussian kernel, with a bias.

        >>> PaperReading(width=True).kernel(0.5).gamma, PaperReading(width=False).kernel(0.5).gamma
        (2.0, 0.5)
        """
        return Kernel("rbf", gamma=0.5 / sigma**2 if self.width else sigma, bias=True)


class ExampleSet(NamedTuple):
    """Which examples, at most how many, and how they are read."""

    name: str
    folder: Path | None
    most: int
    reading: PaperReading = PaperReading()

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

    data: ExampleSet
    algorithms: tuple[Algorithm, ...]
    sigma: float
    subsample: int


class MiniBatchTrial(NamedTuple):
    """All algorithms, each with its C and σ, on one division of a set."""

    data: ExampleSet
    algorithms: tuple[Algorithm, ...]
    chosen: tuple[tuple[float, float], ...]
    trial: int


class Hindsight(NamedTuple):
    """One algorithm with one σ and all C in many trials."""

    data: ExampleSet
    algorithm: Algorithm
    sigma: float
    trials: int


def choose(
    setup: Setup,
    stage: str,
    sets: list[ExampleSet],
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
    """On the subsample: float64[algorithms, values of C]."""
    X, y = choice.data.examples()
    rng = np.random.default_rng([6000, choice.subsample])
    rows = rng.permutation(len(y))[: min(choice.data.most, 3 * len(y) // 4)]
    reading = choice.data.reading
    inner = reading.kernel(choice.sigma).gram(X[rows], X[rows])

    def error(algorithm: Algorithm, C: float) -> float:
        learner = _learner(reading, algorithm, inner, y[rows])
        every = itertools.islice(_passes(learner, C, len(rows)), reading.choosing)
        return float(np.mean(list(every)))

    return np.array(
        [[error(algorithm, float(C)) for C in C_GRID] for algorithm in choice.algorithms]
    )


def trial_rows(task: MiniBatchTrial) -> list[dict[str, Any]]:
    """The online error of the first pass, and the test error after each."""
    found = {algorithm: inner.passes(algorithm, C) for algorithm, C, inner in _divided(task)}
    return [
        {
            "data": task.data.name,
            "algorithm": algorithm[0],
            "B": algorithm[1],
            "trial": task.trial,
            "online_error": found[algorithm][0],
            **{f"test_error_{i}": error for i, error in enumerate(found[algorithm][1], 1)},
        }
        for algorithm in task.algorithms
    ]


def hindsight_errors(task: Hindsight) -> Floats:
    """The mean test error after all passes, for each C."""
    errors = np.zeros((task.trials, len(C_GRID)))
    for trial in range(task.trials):
        inner = Division.of(task.data, trial, task.sigma)
        for i, C in enumerate(C_GRID):
            errors[trial, i] = inner.passes(task.algorithm, float(C))[1][-1]
    return np.asarray(errors.mean(axis=0))


def rounds(task: MiniBatchTrial) -> list[dict[str, Any]]:
    """The online error so far along the first pass of one trial (Fig. 1)."""
    rows = []
    for (step, B), C, inner in _divided(task):
        if step not in IN_FIGURE_1:
            continue
        mistakes = np.cumsum(inner.learner((step, B)).run(np.arange(len(inner.y_learn)), C))
        rows += [
            {
                "data": task.data.name,
                "algorithm": step,
                "B": B,
                "trial": task.trial,
                "round": int(t),
                "error": float(mistakes[t - 1] / t),
            }
            for t in np.unique(np.geomspace(20, len(mistakes), 60).astype(int))
        ]
    return rows


def step_changes(task: MiniBatchTrial) -> list[dict[str, Any]]:
    """How much the test error changes from step to step of the first pass, on the average.

    C and σ are those of B = 1 for all sizes of a step: what is compared is what mini-batches do.
    """
    rows = []
    for step in VARIANTS:
        C, sigma = task.chosen[task.algorithms.index((step, 1))]
        inner = Division.of(task.data, task.trial, sigma)
        examples = Examples.from_array(inner.learn)
        for B in IN_TABLE:
            learner = KernelLearner(
                Binary(), step, kernel=Kernel("precomputed"), batch_size=B, overlapping=True
            )
            errors = []
            for t in range(len(inner.y_learn)):
                window = np.arange(max(0, t - B + 1), t + 1)
                learner.run(examples, inner.y_learn, C=C, order=window, before=len(window) - 1)
                scores = learner.scores(inner.test)[:, 0]
                errors.append(float(np.mean(inner.y_test * scores <= 0)))
            rows.append(
                {
                    "data": task.data.name,
                    "algorithm": step,
                    "B": B,
                    "trial": task.trial,
                    "change": float(np.abs(np.diff(errors)).mean()),
                }
            )
    return rows


def _divided(task: MiniBatchTrial) -> Iterator[tuple[Algorithm, float, Division]]:
    """Each algorithm with its C and its inner products, which are made once for each σ."""
    for sigma in sorted({sigma for _, sigma in task.chosen}):
        inner = Division.of(task.data, task.trial, sigma)
        for algorithm, (C, own_sigma) in zip(task.algorithms, task.chosen, strict=True):
            if own_sigma == sigma:
                yield algorithm, C, inner


def seconds(quick: bool) -> dict[Algorithm, float]:
    """CPU time of one pass for each algorithm, the kernel's values included."""
    n = 200 if quick else 2000
    rng = np.random.default_rng(6002)
    X = rng.normal(size=(n, 20))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    kernel = PaperReading().kernel(0.1)
    found = dict.fromkeys(ALGORITHMS, float("inf"))
    for _ in range(3 if quick else 15):  # in turns, so that a disturbance meets them all
        for step, B in ALGORITHMS:
            begun = time.process_time()
            WindowLearner(kernel.gram(X, X), y, step, B).run(np.arange(n), C=0.1)
            found[step, B] = min(found[step, B], time.process_time() - begun)
    return found


class Division(NamedTuple):
    """The inner products of the examples to learn from, and those of the examples to test on."""

    reading: PaperReading
    learn: Floats
    y_learn: Floats
    test: Floats
    y_test: Floats

    @classmethod
    def of(cls, data: ExampleSet, trial: int, sigma: float) -> Division:
        """75 % to learn from, 25 % to test on; the same for all algorithms."""
        X, y = data.examples()
        order = np.random.default_rng([6001, trial]).permutation(len(y))[: data.most]
        learn, test = order[: 3 * len(order) // 4], order[3 * len(order) // 4 :]
        kernel = data.reading.kernel(sigma)
        inner = kernel.gram(X[learn], X[learn])
        return cls(data.reading, inner, y[learn], kernel(X[test], X[learn]), y[test])

    def passes(self, algorithm: Algorithm, C: float) -> tuple[float, list[float]]:
        """The online error of the first pass, and the test error after each pass."""
        learner, online, tested = self.learner(algorithm), [], []
        for wrong in itertools.islice(_passes(learner, C, len(self.y_learn)), PASSES):
            online.append(float(wrong[learner.before :].mean()))
            tested.append(float(np.mean(self.y_test * learner.scores(self.test) <= 0)))
        return online[0], tested

    def learner(self, algorithm: Algorithm) -> WindowLearner | DisjointLearner:
        """A new one for the examples to learn from."""
        return _learner(self.reading, algorithm, self.learn, self.y_learn)


class DisjointLearner:
    """`WindowLearner`'s face on mini-batches that follow one another (`KernelLearner`)."""

    def __init__(self, inner: Floats, y: Floats, step: str, size: int) -> None:
        self.before = size
        self._learner = KernelLearner(Binary(), step, kernel=Kernel("precomputed"), batch_size=size)
        self._inner, self._y = Examples.from_array(inner), y

    def run(self, order: NDArray[np.intp], C: float) -> NDArray[np.bool_]:
        """One pass; whether each example was mistaken before its mini-batch was learnt."""
        passed = self._learner.run(self._inner, self._y, C=C, order=order, record=True)
        assert passed.costs is not None
        return passed.costs > 0

    def scores(self, inner: Floats) -> Floats:
        """w·φ(x), from the inner products of new examples with those learnt from."""
        return self._learner.scores(inner)[:, 0]


def _learner(
    reading: PaperReading, algorithm: Algorithm, inner: Floats, y: Floats
) -> WindowLearner | DisjointLearner:
    return (WindowLearner if reading.windows else DisjointLearner)(inner, y, *algorithm)


def _passes(
    learner: WindowLearner | DisjointLearner, C: float, n: int
) -> Iterator[NDArray[np.bool_]]:
    """Pass after pass, the first in the order of the examples, the others each in a new one."""
    rng, order = np.random.default_rng(6003), np.arange(n)
    while True:
        yield learner.run(order, C)
        order = rng.permutation(n)
