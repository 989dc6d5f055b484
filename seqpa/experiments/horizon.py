"""C and the length of the sequence: PA 2006, §10.2 and Fig. 5."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.core import Binary, Examples, Learner
from seqpa.experiments import figures
from seqpa.experiments.outcome import Check, Outcome, Rows, grid
from seqpa.experiments.setup import Setup
from seqpa.experiments.synthetic import Floats, gaussians

VARIANTS = ("PA-I", "PA-II")
CAREFUL, AGGRESSIVE = 0.001, 100.0
LABEL_NOISE = 0.02
Ints = NDArray[np.int_]


def run(setup: Setup) -> Outcome:
    """Sequences of 10⁴ examples; the average error so far at some hundred rounds."""
    trials, n = (3, 2000) if setup.quick else (10, 10_000)
    rounds = np.unique(np.geomspace(10, n, 100).astype(int))
    tasks = [(trial, n, rounds) for trial in range(trials)]
    rows = [row for found in setup.each("horizon", _trial, tasks) for row in found]
    return Outcome(
        title="C and the number of rounds",
        intro=f"""
PA 2006, §10.2, Fig. 5. Two Gaussians in the plane, labels flipped with probability
p = {LABEL_NOISE}; PA-I and PA-II with C = {AGGRESSIVE:g} and C = {CAREFUL:g}. The paper shows
one sequence of 10⁴ examples; here {trials} sequences of {n:,} are averaged, and bands are 95 %
confidence intervals of the mean. Average error: mistakes so far divided by rounds so far. *Move*:
how far a step takes w, τ‖x‖.
""",
        tables={"horizon": rows},
        figures={
            "horizon": (
                "Average error of PA-I and PA-II against the number of rounds for a small and a "
                "large C",
                lambda: _draw(rows),
            )
        },
        checks=[check for variant in VARIANTS for check in _checks(rows, variant)],
    )


def _trial(task: tuple[int, int, Ints]) -> Rows:
    trial, n, rounds = task
    x, y = gaussians(n, seed=3000 + trial, label_noise=LABEL_NOISE)
    examples = Examples.from_array(x)
    rows = []
    for variant in VARIANTS:
        for C in (AGGRESSIVE, CAREFUL):
            passed = Learner(Binary(), variant, n_features=2).run(examples, y, C=C, record=True)
            assert passed.costs is not None
            assert passed.taus is not None
            assert passed.norms2 is not None
            mistakes = np.cumsum(passed.costs)
            moves = np.cumsum(passed.taus * np.sqrt(passed.norms2))
            updates = np.cumsum(passed.taus > 0)
            rows += [
                {
                    "algorithm": variant,
                    "C": C,
                    "trial": trial,
                    "rounds": int(T),
                    "average_error": float(mistakes[T - 1] / T),
                    "mean_move": float(moves[T - 1] / max(1, updates[T - 1])),
                }
                for T in rounds
            ]
    return rows


def _grid(rows: Rows, value: str, variant: str, C: float) -> Floats:
    """[trials, rounds]."""
    return np.asarray(grid(rows, value, algorithm=variant, C=C))


def _rounds(rows: Rows) -> Ints:
    return np.unique([row["rounds"] for row in rows])


def _draw(rows: Rows) -> Any:
    figure, axes = figures.panels(1, 2, sharey=True)
    for panel, variant in zip(axes[0], VARIANTS, strict=True):
        for place, C in enumerate((AGGRESSIVE, CAREFUL)):
            errors = _grid(rows, "average_error", variant, C)
            figures.curve(panel, _rounds(rows), errors, f"C = {C:g}", place, markers=False)
        panel.set_title(variant)
        panel.set_xscale("log")
        panel.set_xlabel("rounds T")
        panel.set_ylim(bottom=0)
    axes[0, 0].set_ylabel("average error so far")
    figures.legend(axes[0, 0])
    return figure


def _checks(rows: Rows, variant: str) -> list[Check]:
    rounds = _rounds(rows)
    careful, aggressive = (
        _grid(rows, "average_error", variant, C).mean(axis=0) for C in (CAREFUL, AGGRESSIVE)
    )
    move, big_move = (
        float(_grid(rows, "mean_move", variant, C)[:, -1].mean()) for C in (CAREFUL, AGGRESSIVE)
    )
    early = int(np.searchsorted(rounds, 100))
    slow, fast = (_rounds_to(rounds, errors) for errors in (careful, aggressive))
    return [
        Check(
            "PA 2006, §10.2",
            f"{variant}: a small C makes slow progress, because each update changes little",
            bool(slow > fast and move < big_move),
            f"first round with an average error within 0.02 of the final one: {slow} with "
            f"C = {CAREFUL:g}, {fast} with C = {AGGRESSIVE:g}; mean move {move:.4f} and "
            f"{big_move:.4f}",
        ),
        Check(
            "PA 2006, §10.2",
            f"{variant}: with a large C the error falls much faster",
            bool(aggressive[early] < careful[early]),
            f"after {rounds[early]} rounds: {aggressive[early]:.4f} with C = {AGGRESSIVE:g}, "
            f"{careful[early]:.4f} with C = {CAREFUL:g}",
        ),
        Check(
            "PA 2006, §10.2",
            f"{variant}: but it is worse later on",
            bool(aggressive[-1] > careful[-1]),
            f"after {rounds[-1]:,} rounds: {aggressive[-1]:.4f} with C = {AGGRESSIVE:g}, "
            f"{careful[-1]:.4f} with C = {CAREFUL:g}",
        ),
    ]


def _rounds_to(rounds: Ints, errors: Floats) -> int:
    """The first round from which on the error stays within 0.02 of its last value."""
    away = np.flatnonzero(np.abs(errors - errors[-1]) > 0.02)
    return int(rounds[min(len(rounds) - 1, away[-1] + 1 if len(away) else 0)])
