"""Mini-batches with a Gaussian kernel: Perez-Suay et al. (001), §4, Table 2 and Figs 1-2."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa.core import Binary, Examples, Run
from seqpa.core.batch import BatchLearner
from seqpa.core.dual import KernelLearner
from seqpa.core.kernels import Kernel
from seqpa.experiments.data import STAND_IN, Floats, folder_of, load
from seqpa.experiments.minibatch_report import (
    BATCH_SIZES,
    SETS,
    VARIANTS,
    checks,
    draw_online_error,
    draw_rounds,
    table_2,
)
from seqpa.experiments.outcome import Outcome
from seqpa.experiments.setup import Setup

C_GRID = np.logspace(-5, 1, 7)
SIGMA_GRID = np.logspace(-4, 1, 6)
_SUBSAMPLE = 2000  # examples, at most, on which C and σ are chosen
_PASSES = 5

Algorithm = tuple[str, int]  # the step and the size of a mini-batch
ALGORITHMS: tuple[Algorithm, ...] = tuple(itertools.product(VARIANTS, BATCH_SIZES))


class Choice(NamedTuple):
    """All algorithms and all C with one σ on one subsample."""

    name: str
    folder: Path | None
    sigma: float
    subsample: int
    most: int


class Trial(NamedTuple):
    """All algorithms, each with its C and σ, on one division of a set."""

    name: str
    folder: Path | None
    trial: int
    chosen: tuple[tuple[float, float], ...]
    most: int


def run(setup: Setup) -> Outcome:
    """C and σ by online error on three subsamples; 25 trials of 75 % to learn, 25 % to test."""
    folder = folder_of(setup, SETS, "scikit-learn's breast cancer and digits")
    names = SETS if folder else ("breast cancer", "digits, odd or even")
    trials, subsamples, most = (2, 1, 120) if setup.quick else (25, 3, 10**9)
    choices = [
        Choice(name, folder, float(sigma), i, min(most, _SUBSAMPLE))
        for name in sorted(names, key=lambda name: name != "twonorm")
        for sigma in SIGMA_GRID
        for i in range(subsamples)
    ]
    errors = dict(
        zip(choices, setup.each("choosing C and σ", _online_errors, choices), strict=True)
    )
    chosen = {
        name: _best(np.array([errors[choice] for choice in choices if choice.name == name]))
        for name in names
    }
    tasks = [
        Trial(name, folder, trial, chosen[name], most)
        for name in sorted(names, key=lambda name: name != "twonorm")
        for trial in range(trials)
    ]
    rows = [row for found in setup.each("minibatch", _trial, tasks) for row in found]
    shown = "twonorm" if folder else names[-1]
    first = next(task for task in tasks if task.name == shown)
    (rounds,) = setup.each("one run", _rounds, [first])
    picked = [
        {"data": name, "algorithm": step, "B": B, "C": C, "sigma": sigma}
        for name in names
        for (step, B), (C, sigma) in zip(ALGORITHMS, chosen[name], strict=True)
    ]
    return Outcome(
        title="Mini-batches",
        intro=f"""
Perez-Suay et al., §4. BPAI, BPAII and BPALS (PA-I, PA-II and least squares on mini-batches of B
examples) with a Gaussian kernel and a bias inside the norm. As §4.1 says, C out of 7 values from
10⁻⁵ to 10 and σ out of 6 from 10⁻⁴ to 10 are, for each algorithm and set, those with the smallest
online error on {subsamples} random subsamples (75 % of a set, {_SUBSAMPLE:,} examples at most);
then {trials} trials learn from 75 % of a set and test the last predictor on the rest. Where the
document does not say: features are scaled to mean 0 and variance 1, σ is the factor in
exp(−σ‖x − z‖²), and learning takes {_PASSES} passes. One pass is too little for the document's
numbers (on sonar it leaves errors of 20 to 30 %, where the document has 13 to 16 %). Online error:
mistakes of the predictor from before its mini-batch, in the first pass. Intervals: 95 % of the
mean.
""",
        tables={"minibatch": rows, "rounds": rounds, "chosen": picked},
        figures={
            "rounds": (
                f"Online error of BPAI and BPALS along one run on {shown}",
                lambda: draw_rounds(rounds, shown),
            ),
            "minibatch": (
                "Online error at the end against the size of the mini-batches",
                lambda: draw_online_error(rows, names),
            ),
        },
        checks=checks(rows, names, _seconds(setup.quick)),
        notes=[table_2(rows)] if folder else [],
        label="" if folder else f"{STAND_IN}: scikit-learn's breast cancer and digits",
    )


def _data(name: str, folder: Path | None) -> tuple[Floats, Floats]:
    data = load(name, folder)
    X, y = data.all
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.where(y == 1, 1.0, -1.0)


def _learn(
    X: Floats,
    y: Floats,
    step: str,
    B: int,
    C: float,
    sigma: float,
    *,
    passes: int = 1,
    record: bool = False,
) -> tuple[KernelLearner, Run]:
    """The learner after all passes, and its first pass."""
    kernel = Kernel("rbf", gamma=sigma, bias=True)
    learner = KernelLearner(Binary(), step, kernel=kernel, batch_size=B)
    examples = Examples.from_array(X)
    first = learner.run(examples, y, C=C, record=record)
    rng = np.random.default_rng(6003)
    for _ in range(passes - 1):
        learner.run(examples, y, C=C, order=rng.permutation(len(y)))
    return learner, first


def _online_errors(choice: Choice) -> Floats:
    """float64[algorithms, values of C]."""
    X, y = _data(choice.name, choice.folder)
    rng = np.random.default_rng([6000, choice.subsample])
    rows = rng.permutation(len(y))[: min(choice.most, 3 * len(y) // 4)]
    return np.array(
        [
            [
                _learn(X[rows], y[rows], step, B, float(C), choice.sigma)[1].mistakes / len(rows)
                for C in C_GRID
            ]
            for step, B in ALGORITHMS
        ]
    )


def _best(errors: Floats) -> tuple[tuple[float, float], ...]:
    """For each algorithm (C, σ), from errors [σ and subsamples, algorithms, C]."""
    by_sigma = errors.reshape(len(SIGMA_GRID), -1, *errors.shape[1:]).mean(axis=1)
    best = []
    for a in range(errors.shape[1]):
        s, c = np.unravel_index(int(np.argmin(by_sigma[:, a])), by_sigma[:, a].shape)
        best.append((float(C_GRID[c]), float(SIGMA_GRID[s])))
    return tuple(best)


def _split(n: int, trial: int, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    order = np.random.default_rng([6001, trial]).permutation(n)[:most]
    cut = 3 * len(order) // 4
    return order[:cut], order[cut:]


def _trial(task: Trial) -> list[dict[str, Any]]:
    X, y = _data(task.name, task.folder)
    learn, test = _split(len(y), task.trial, task.most)
    rows = []
    for (step, B), (C, sigma) in zip(ALGORITHMS, task.chosen, strict=True):
        learner, passed = _learn(X[learn], y[learn], step, B, C, sigma, passes=_PASSES)
        wrong = y[test] * learner.scores(X[test])[:, 0] <= 0
        rows.append(
            {
                "data": task.name,
                "algorithm": step,
                "B": B,
                "trial": task.trial,
                "online_error": passed.mistakes / len(learn),
                "test_error": float(wrong.mean()),
            }
        )
    return rows


def _rounds(task: Trial) -> list[dict[str, Any]]:
    """The online error so far along one run (Fig. 1)."""
    X, y = _data(task.name, task.folder)
    learn, _ = _split(len(y), task.trial, task.most)
    rows = []
    for (step, B), (C, sigma) in zip(ALGORITHMS, task.chosen, strict=True):
        if step == "PA-II":
            continue
        _, passed = _learn(X[learn], y[learn], step, B, C, sigma, record=True)
        assert passed.costs is not None
        mistakes = np.cumsum(passed.costs)
        rows += [
            {
                "data": task.name,
                "algorithm": step,
                "B": B,
                "round": int(t),
                "error": mistakes[t - 1] / t,
            }
            for t in np.unique(np.geomspace(10, len(learn), 60).astype(int))
        ]
    return rows


def _seconds(quick: bool) -> dict[Algorithm, float]:
    """CPU time of one linear pass for each algorithm, which shows what the steps cost."""
    n = 500 if quick else 10_000
    rng = np.random.default_rng(6002)
    X = rng.normal(size=(n, 20))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    examples = Examples.from_array(X, bias=True)
    seconds = {}
    for step, B in ALGORITHMS:
        best = float("inf")
        for _ in range(3):
            learner = BatchLearner(Binary(), step, 20, bias=True, batch_size=B)
            begun = time.process_time()
            learner.run(examples, y, C=0.1)
            best = min(best, time.process_time() - begun)
        seconds[step, B] = best
    return seconds
