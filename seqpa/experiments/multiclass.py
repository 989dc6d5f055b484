"""Multiclass learners with polynomial kernels: PA 2006, §10.3 and Fig. 6."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa.core import Examples, Learner, Multiclass
from seqpa.core.dual import KernelLearner
from seqpa.core.kernels import Kernel
from seqpa.core.mira import PrototypeLearner
from seqpa.core.support import Support
from seqpa.experiments import figures
from seqpa.experiments.data import STAND_IN, Floats, folder_of, load
from seqpa.experiments.outcome import Check, Outcome, Rows, grid, markdown_table
from seqpa.experiments.setup import Setup

KERNELS = {
    "usps": Kernel("poly", gamma=1.0, degree=3, coef0=0.0),
    "mnist": Kernel("poly", gamma=1.0, degree=5, coef0=0.5),
}
C = 100.0
BETA = 0.01
PERCEPTRONS = {"max-score": "perceptron, max-score", "proportional": "perceptron, proportional"}
UNIFORM = "perceptron, uniform"
SHOWN = (UNIFORM, "PA-I", "MIRA")
ALGORITHMS = (*SHOWN, "PA", "PA-II", "PA-I, C = 1000", *PERCEPTRONS.values())
_SIMILAR = 0.05  # of the mistakes: curves this close cannot be told apart in the figure
_BLOCK = 256


class MulticlassTrial(NamedTuple):
    """One algorithm on one order of a set's training examples."""

    name: str
    folder: Path | None
    algorithm: str
    order: int
    n: int


def run(setup: Setup) -> Outcome:
    """One pass of each algorithm; five orders of USPS, three of MNIST."""
    folder = folder_of(setup, tuple(KERNELS), "scikit-learn's digits")
    sets = {"digits": 5} if folder is None else {"mnist": 3, "usps": 5}
    n = 300 if setup.quick else 10**9
    tasks = [
        MulticlassTrial(name, folder, algorithm, order, n)
        for name, orders in sets.items()
        for algorithm in reversed(ALGORITHMS)
        for order in range(min(orders, 2) if setup.quick else orders)
    ]
    rows = [row for found in setup.each("multiclass", _trial, tasks) for row in found]
    names = tuple(reversed(sets))
    return Outcome(
        title="Multiclass learners with kernels",
        intro=f"""
PA 2006, §10.3, Fig. 6. One pass over the training examples of
{", ".join(_title(name) for name in names)}, shifted to mean zero and scaled to an average squared
norm of 1, with the kernel (a + x·z)^d: a = 0, d = 3 for USPS, a = 0.5, d = 5 for MNIST. PA-I and
PA-II with C = {C:g}; MIRA with β = {BETA}; three multiclass perceptrons. Random orders:
{", ".join(f"{_orders(rows, name)} of {_title(name)}" for name in names)};
bands are 95 % confidence intervals of the mean. Counts that differ by less than
{100 * _SIMILAR:g} % are called indistinguishable.
""",
        tables={"multiclass": rows},
        figures={
            "multiclass": (
                "Mistakes of the uniform perceptron, PA-I and MIRA against rounds",
                lambda: _draw(rows, names),
            )
        },
        checks=[check for name in names for check in _checks(rows, name)] + [_time_check(setup)],
        notes=["## Mistakes in all rounds\n\n" + _table(rows, names)],
        label="" if folder else f"{STAND_IN}: scikit-learn's digits (a = 0, d = 3)",
    )


def _trial(task: MulticlassTrial) -> Rows:
    X, y = _examples(task)
    kernel = KERNELS.get(task.name, KERNELS["usps"])
    n_labels = int(y.max()) + 1
    if task.algorithm in ("MIRA", UNIFORM, PERCEPTRONS["proportional"]):
        wrong, updates = prototypes_in_kernel_space(X, y, n_labels, kernel, task.algorithm)
    else:
        step = "perceptron" if task.algorithm in PERCEPTRONS.values() else task.algorithm
        step, _, other = step.partition(", C = ")
        learner = KernelLearner(Multiclass(), step, n_labels, kernel=kernel)
        passed = learner.run(Examples.from_array(X), y, C=float(other or C), record=True)
        assert passed.costs is not None
        assert passed.taus is not None
        wrong, updates = passed.costs > 0, passed.taus > 0
    mistakes, moved = np.cumsum(wrong), np.cumsum(updates)
    return [
        {
            "data": task.name,
            "algorithm": task.algorithm,
            "order": task.order,
            "round": int(t),
            "mistakes": int(mistakes[t - 1]),
            "updates": int(moved[t - 1]),
        }
        for t in np.unique(np.linspace(1, len(y), 41).astype(int))
    ]


def _examples(task: MulticlassTrial) -> tuple[Floats, NDArray[np.intp]]:
    data = load(task.name, task.folder)
    X = data.X - data.X.mean(axis=0)
    X /= np.sqrt(np.mean(np.sum(X * X, axis=1)))
    order = np.random.default_rng([5000, task.order]).permutation(len(X))[: task.n]
    return X[order], data.y[order]


def prototypes_in_kernel_space(
    X: Floats, y: NDArray[np.intp], n_labels: int, kernel: Kernel, algorithm: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """A linear `PrototypeLearner` (MIRA, uniform or proportional perceptron) with a kernel.

    A block of examples with the Gram matrix G = FFᵀ lies in the kernel's space as the rows of F lie
    in theirs, and weights that give it the scores s do so as F⁺s does: the linear learner, started
    from there, makes in F the very steps that it would make in the kernel's space.

    Returns for each example whether it was mistaken and whether it moved the weights.
    """
    support = Support(kernel, n_labels, average=False, most=None)
    rule, step = "all", "PA-I"
    if algorithm != "MIRA":
        rule, step = algorithm.removeprefix("perceptron, "), "perceptron"
    margin = BETA if algorithm == "MIRA" else 1.0
    wrong, moved = np.zeros(len(y), dtype=bool), np.zeros(len(y), dtype=bool)
    for first in range(0, len(y), _BLOCK):
        block = slice(first, first + _BLOCK)
        rows = X[block]
        gram = kernel.gram(rows, rows)
        size, V = np.linalg.eigh(gram)
        kept = size > 1e-12 * size[-1]
        root, V = np.sqrt(size[kept]), V[:, kept]
        scores = support.scores(rows, support.coef)
        start = (V.T @ scores / root[:, None]).T
        F = V * root
        learner = PrototypeLearner(
            Multiclass(margin), step, F.shape[1], n_labels, start=start, rule=rule
        )
        passed = learner.run(Examples.from_array(F), y[block], C=1.0, record=True)
        assert passed.costs is not None
        wrong[block] = passed.costs > 0
        moved[block] = here = learner.moves.any(axis=1)
        new = np.flatnonzero(here)
        if len(new):
            none = np.empty((len(new), 0))
            norms = np.diagonal(gram)[new]
            support.append(rows[new], learner.moves[new], none, norms, first + new)
    return wrong, moved


def _title(name: str) -> str:
    return name.upper() if name in KERNELS else name


def _orders(rows: Rows, name: str) -> int:
    return len({row["order"] for row in rows if row["data"] == name})


def _grid(rows: Rows, name: str, algorithm: str) -> Floats:
    """Mistakes, [orders, rounds]."""
    return np.asarray(grid(rows, "mistakes", "order", data=name, algorithm=algorithm))


def _draw(rows: Rows, names: tuple[str, ...]) -> Any:
    figure, axes = figures.panels(1, len(names), width=5.6, height=4.2)
    for panel, name in zip(axes[0], names, strict=True):
        rounds = np.unique([row["round"] for row in rows if row["data"] == name])
        for place, algorithm in enumerate(SHOWN):
            mistakes = _grid(rows, name, algorithm)
            figures.curve(panel, rounds, mistakes, algorithm, place, markers=False)
        panel.set_title(_title(name))
        panel.xaxis.set_major_formatter("{x:,.0f}")
        panel.yaxis.set_major_formatter("{x:,.0f}")
        panel.locator_params(axis="x", nbins=6)
        panel.set_xlabel("rounds")
        panel.set_ylim(bottom=0)
        panel.set_xlim(left=0)
    axes[0, 0].set_ylabel("mistakes so far")
    figures.legend(axes[0, 0], loc="upper left")
    return figure


def _last(rows: Rows, name: str, algorithm: str) -> float:
    return float(_grid(rows, name, algorithm)[:, -1].mean())


def _table(rows: Rows, names: tuple[str, ...]) -> str:
    lines = []
    for algorithm in ALGORITHMS:
        cells = []
        for name in names:
            last = [r for r in rows if (r["data"], r["algorithm"]) == (name, algorithm)]
            rounds = max(row["round"] for row in last)
            updates = np.mean([row["updates"] for row in last if row["round"] == rounds])
            mistakes = _last(rows, name, algorithm)
            cells.append(
                f"{mistakes:,.0f} ({100 * mistakes / rounds:.2f} %), {updates:,.0f} updates"
            )
        lines.append((algorithm, *cells))
    return markdown_table(("algorithm", *map(_title, names)), lines)


def _checks(rows: Rows, name: str) -> list[Check]:
    last = {algorithm: _last(rows, name, algorithm) for algorithm in ALGORITHMS}
    shown = {algorithm: f"{algorithm}: {count:,.0f}" for algorithm, count in last.items()}

    def apart(others: tuple[str, ...], one: str) -> float:
        return max(abs(last[other] - last[one]) / last[one] for other in others)

    def alike(claim: str, others: tuple[str, ...], one: str) -> Check:
        return Check(
            "PA 2006, §10.3",
            f"{_title(name)}: {claim}",
            apart(others, one) <= _SIMILAR,
            f"mistakes: {'; '.join(shown[a] for a in (one, *others))} "
            f"({100 * apart(others, one):.1f} % apart at most)",
        )

    return [
        Check(
            "PA 2006, §10.3",
            f"{_title(name)}: PA-I and MIRA both outperform the perceptron",
            max(last["PA-I"], last["MIRA"]) < last[UNIFORM],
            "mistakes: " + "; ".join(shown[a] for a in SHOWN),
        ),
        Check(
            "PA 2006, §10.3",
            f"{_title(name)}: PA-I is comparable to MIRA, with a slight advantage to MIRA",
            last["MIRA"] < last["PA-I"] <= 1.2 * last["MIRA"],
            "; ".join(shown[a] for a in ("PA-I", "MIRA")),
        ),
        alike("PA and PA-II cannot be told from PA-I", ("PA", "PA-II"), "PA-I"),
        alike(
            "the other multiclass perceptrons cannot be told from the uniform one",
            tuple(PERCEPTRONS.values()),
            UNIFORM,
        ),
        alike("PA-I is much the same with a larger C", ("PA-I, C = 1000",), "PA-I"),
    ]


def _time_check(setup: Setup) -> Check:
    """The cost of an update alone, without a kernel, which would hide it."""
    n, d, labels = (500, 50, 10) if setup.quick else (20_000, 50, 10)
    rng = np.random.default_rng(5001)
    examples = Examples.from_array(rng.normal(size=(n, d)))
    y = rng.integers(labels, size=n)
    seconds = []
    for learner in (
        Learner(Multiclass(), "PA-I", d, labels),
        PrototypeLearner(Multiclass(), "PA-I", d, labels, rule="all"),
    ):
        best = float("inf")
        for _ in range(30):
            begun = time.process_time()
            updates = learner.run(examples, y, C=C).updates
            best = min(best, (time.process_time() - begun) / updates)
        seconds.append(best)
    pa, mira = (1e6 * s for s in seconds)
    return Check(
        "PA 2006, §10.3",
        "an update of PA is much faster than one of MIRA",
        mira > 2 * pa,
        f"{pa:.2f} and {mira:.2f} microseconds, linear, {labels} labels, {d} features, noise: "
        "MIRA's quadratic problem is solved exactly by sorting here",
    )
