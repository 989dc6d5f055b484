"""Robustness to noise: PA 2006, §10.1 and Fig. 3."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqpa.core import Binary, Examples, Learner
from seqpa.experiments import figures
from seqpa.experiments.outcome import Check, Outcome, Rows, grid
from seqpa.experiments.setup import Setup
from seqpa.experiments.synthetic import Floats, best_linear, gaussians

VARIANTS = ("PA", "PA-I", "PA-II")
C = 0.001
LEVELS = {"instance": np.linspace(0.0, 2.0, 9), "label": np.linspace(0.0, 0.3, 7)}
_SIMILAR = 0.02  # average errors this close are called similar
_EQUAL = 0.005  # and these, equal


def run(setup: Setup) -> Outcome:
    """10 sequences of 4,000 examples at each level of instance and label noise."""
    trials, n = (3, 500) if setup.quick else (10, 4000)
    tasks = [
        (kind, float(level), trial, n)
        for kind, levels in LEVELS.items()
        for level in levels
        for trial in range(trials)
    ]
    rows = [row for found in setup.each("noise", _trial, tasks) for row in found]
    return Outcome(
        title="Robustness to noise",
        intro=f"""
PA 2006, §10.1, Fig. 3. Two Gaussians in the plane, {trials} sequences of {n:,}
examples for each level. *Instance noise* adds Gaussian noise of variance σ from 0 to 2 to both
coordinates; *label noise* flips each label with probability p from 0 to 0.3. PA, and PA-I and PA-II
with C = {C}, one pass each. The best fixed linear classifier through the origin is found exactly,
by sorting directions. Average error: wrong predictions per example; average loss: hinge loss per
example. Bands: 95 % confidence intervals of the mean. Here two average errors are *similar* within
{_SIMILAR}, *equal* within {_EQUAL}; to *outperform* takes a smaller mean and a paired t-test with
p < 0.05.
""",
        tables={"noise": rows},
        figures={
            "noise": (
                "Average error and loss of PA, PA-I and PA-II against the error of the best "
                "linear classifier, under instance noise and label noise",
                lambda: _draw(rows),
            )
        },
        checks=_checks(rows),
        notes=[
            """
PA-I and PA-II differ by about one error in a hundred where there is little noise: PA-I moves by
C‖x‖ at most, and so needs more rounds to leave zero; PA-II's steps grow with the loss. With more
noise the two meet in errors, while PA-I keeps the smaller loss.
"""
        ],
    )


def _trial(task: tuple[str, float, int, int]) -> Rows:
    kind, level, trial, n = task
    x, y = gaussians(n, seed=1000 + trial, **{f"{kind}_noise": level})
    best, _ = best_linear(x, y)
    examples = Examples.from_array(x)
    rows = []
    for variant in VARIANTS:
        passed = Learner(Binary(), variant, n_features=2).run(examples, y, C=C)
        rows.append(
            {
                "noise": kind,
                "level": level,
                "trial": trial,
                "algorithm": variant,
                "best_linear_error": best / n,
                "average_error": passed.mistakes / n,
                "average_loss": passed.loss / n,
            }
        )
    return rows


def _draw(rows: Rows) -> Any:
    figure, axes = figures.panels(2, 2, height=3.7)
    for line, kind in enumerate(LEVELS):
        for column, value in enumerate(("average_error", "average_loss")):
            panel = axes[line, column]
            for place, variant in enumerate(VARIANTS):
                chosen = {"noise": kind, "algorithm": variant}
                x = grid(rows, "best_linear_error", **chosen).mean(axis=0)
                figures.curve(panel, x, grid(rows, value, **chosen), variant, place)
            if value == "average_error":
                panel.plot(x, x, color="#888888", linewidth=1.2, label="best linear")
            panel.set_title(f"{kind} noise")
            panel.locator_params(axis="x", nbins=6)
            panel.set_xlabel("error of the best linear classifier")
            panel.set_ylabel(value.replace("_", " "))
            panel.set_ylim(bottom=0)
    figures.legend(axes[0, 0])
    return figure


def _checks(rows: Rows) -> list[Check]:
    checks = []
    for kind, levels in LEVELS.items():
        error = {v: grid(rows, "average_error", noise=kind, algorithm=v) for v in VARIANTS}
        loss = {v: grid(rows, "average_loss", noise=kind, algorithm=v) for v in VARIANTS}
        low = [float(error[v][:, 0].mean()) for v in VARIANTS]
        checks.append(
            Check(
                "PA 2006, §10.1",
                f"{kind} noise: where there is little, all three make similarly many errors",
                max(low) - min(low) <= _SIMILAR,
                "without noise: "
                + ", ".join(f"{v} {e:.4f}" for v, e in zip(VARIANTS, low, strict=True)),
            )
        )
        for name, values in (("errors", error), ("loss", loss)):
            for careful in VARIANTS[1:]:
                p = _paired(values["PA"][:, -1], values[careful][:, -1])
                a, b = values["PA"][:, -1].mean(), values[careful][:, -1].mean()
                checks.append(
                    Check(
                        "PA 2006, §10.1",
                        f"{kind} noise: {careful} outperforms PA where there is much ({name})",
                        bool(b < a and p < 0.05),
                        f"at {levels[-1]:g}: PA {a:.4f}, {careful} {b:.4f} (p = {p:.1g})",
                    )
                )
        apart = np.abs(error["PA-I"].mean(axis=0) - error["PA-II"].mean(axis=0))
        worst = int(np.argmax(apart))
        checks.append(
            Check(
                "PA 2006, §10.1",
                f"{kind} noise: PA-I and PA-II do equally well at every level",
                float(apart[worst]) <= _EQUAL,
                f"average errors at most {apart[worst]:.4f} apart (at {levels[worst]:g})",
            )
        )
    return checks


def _paired(a: Floats, b: Floats) -> float:
    from scipy.stats import ttest_rel

    return float(ttest_rel(a, b).pvalue)
