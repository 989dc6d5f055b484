"""The effect of C: PA 2006, §10.2 and Fig. 4."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqpa.core import Binary, Examples, Learner
from seqpa.core.bounds import bounds
from seqpa.experiments import figures
from seqpa.experiments.outcome import Check, Outcome, Rows, grid, markdown_table
from seqpa.experiments.setup import Setup
from seqpa.experiments.synthetic import Floats, best_linear, gaussians

VARIANTS = ("PA-I", "PA-II")
NOISE = (0.0, 0.1, 0.2)
EXPONENTS = np.linspace(-5.0, 3.0, 17)  # of C
_THEOREM = {"PA-I": "PA 2006, Theorem 4", "PA-II": "PA 2006, Theorem 5"}


def run(setup: Setup) -> Outcome:
    """10 sequences of 4,000 examples for each p and each C."""
    trials, n = (3, 500) if setup.quick else (10, 4000)
    tasks = [(p, trial, n) for p in NOISE for trial in range(trials)]
    rows = [row for found in setup.each("aggressiveness", _trial, tasks) for row in found]
    best = [
        (variant, p, f"{_best_C(rows, variant, p, 'error'):.2g}",
         f"{_best_C(rows, variant, p, 'loss'):.2g}")
        for variant in VARIANTS
        for p in NOISE
    ]  # fmt: skip
    return Outcome(
        title="The effect of C",
        intro=f"""
PA 2006, §10.2, Fig. 4. Two Gaussians in the plane, {trials} sequences of {n:,}
examples, labels flipped with probability p = 0, 0.1 and 0.2; PA-I and PA-II with C from 10⁻⁵ to
10³, one pass each. Bands: 95 % confidence intervals of the mean. For the bounds of Theorems 4 and
5 the comparator u points where the fewest mistakes are made, with the length that makes its
cumulative squared loss the smallest.
""",
        tables={"aggressiveness": rows},
        figures={
            "aggressiveness": (
                "Average error and loss of PA-I and PA-II as a function of log C at three "
                "levels of label noise",
                lambda: _draw(rows),
            )
        },
        checks=_checks(rows),
        notes=[
            "## The best C\n\n"
            + markdown_table(("algorithm", "p", "C of the smallest error", "of the loss"), best)
        ],
    )


def _trial(task: tuple[float, int, int]) -> Rows:
    p, trial, n = task
    x, y = gaussians(n, seed=2000 + trial, label_noise=p)
    u, comparator_loss = _comparator(x, y)
    examples = Examples.from_array(x)
    rows = []
    for variant in VARIANTS:
        for exponent in EXPONENTS:
            C = float(10.0**exponent)
            learner = Learner(Binary(), variant, n_features=2)
            passed = learner.run(examples, y, C=C, record=True)
            every = bounds(passed, learner, examples, y, u, C=C)
            bound = next(b for b in every if b.name == _THEOREM[variant])
            rows.append(
                {
                    "algorithm": variant,
                    "p": p,
                    "C": C,
                    "trial": trial,
                    "average_error": passed.mistakes / n,
                    "average_loss": passed.loss / n,
                    "bound_left": bound.left,
                    "bound_right": bound.right,
                    "bound_holds": int(bound.holds),
                    "share_of_norm": float(u @ u / (u @ u + 2 * C * comparator_loss)),
                }
            )
    return rows


def _comparator(x: Floats, y: Floats) -> tuple[Floats, float]:
    """u, and its cumulative squared loss."""
    from scipy.optimize import minimize_scalar

    direction = best_linear(x, y)[1]
    margins = y * (x @ direction)

    def loss(length: float) -> float:
        return float(np.sum(np.maximum(0.0, 1.0 - length * margins) ** 2))

    length = float(minimize_scalar(loss, bounds=(0.0, 100.0), method="bounded").x)
    return length * direction, loss(length)


def _grid(rows: Rows, value: str, variant: str, p: float) -> Floats:
    """[trials, values of C]."""
    return np.asarray(grid(rows, value, algorithm=variant, p=p))


def _best_C(rows: Rows, variant: str, p: float, what: str) -> float:
    means = _grid(rows, f"average_{what}", variant, p).mean(axis=0)
    return float(10.0 ** EXPONENTS[int(np.argmin(means))])


def _draw(rows: Rows) -> Any:
    figure, axes = figures.panels(2, 2, height=3.7, sharex=True)
    for line, variant in enumerate(VARIANTS):
        for column, what in enumerate(("error", "loss")):
            panel = axes[line, column]
            for place, p in enumerate(NOISE):
                values = _grid(rows, f"average_{what}", variant, p)
                figures.curve(panel, EXPONENTS, values, f"p = {p:g}", place)
            panel.set_title(variant)
            panel.set_ylabel(f"average {what}")
            panel.set_ylim(bottom=0)
            if line == len(VARIANTS) - 1:
                panel.set_xlabel("log₁₀ C")
    figures.legend(axes[0, 0])
    return figure


def _checks(rows: Rows) -> list[Check]:
    checks = []
    for variant in VARIANTS:
        errors = {p: _grid(rows, "average_error", variant, p).mean(axis=0) for p in NOISE}
        losses = {p: _grid(rows, "average_loss", variant, p).mean(axis=0) for p in NOISE}
        spans = [float(errors[p].max() / max(errors[p].min(), 1e-12)) for p in NOISE]
        checks.append(
            Check(
                "PA 2006, §10.2",
                f"{variant}: C matters much",
                min(spans) >= 1.2,
                "worst error over best, by C: "
                + ", ".join(f"p = {p:g}: {s:.1f} ×" for p, s in zip(NOISE, spans, strict=True)),
            )
        )
        small = [float(losses[p][0]) for p in NOISE]
        least = [float(losses[p].min()) for p in NOISE]
        checks.append(
            Check(
                "PA 2006, §10.2",
                f"{variant}: with very small C the loss is high, whatever the noise",
                all(s > 1.2 * low for s, low in zip(small, least, strict=True))
                and max(small) - min(small) < 0.15,
                f"C = {10.0 ** EXPONENTS[0]:g}: loss "
                + ", ".join(f"{s:.3f}" for s in small)
                + " for p = 0, 0.1, 0.2; with the best C "
                + ", ".join(f"{low:.3f}" for low in least),
            )
        )
        apart = losses[NOISE[-1]] - losses[NOISE[0]]
        checks.append(
            Check(
                "PA 2006, §10.2",
                f"{variant}: as C grows, the difference between levels of noise becomes apparent",
                bool(apart[-1] > 3 * apart[0]),
                f"loss at p = 0.2 minus loss at p = 0: {apart[0]:.3f} with the smallest C, "
                f"{apart[-1]:.3f} with the largest",
            )
        )
        best = [_best_C(rows, variant, p, "error") for p in NOISE]
        best_loss = [_best_C(rows, variant, p, "loss") for p in NOISE]
        checks.append(
            Check(
                "PA 2006, §10.2",
                f"{variant}: the noisier the data, the smaller C should be",
                best[-1] <= best[0] and best_loss[-1] < best_loss[0],
                "C of the smallest error for p = 0, 0.1, 0.2: "
                + ", ".join(f"{c:.2g}" for c in best)
                + "; of the smallest loss: "
                + ", ".join(f"{c:.2g}" for c in best_loss),
            )
        )
    return [*checks, *_bound_checks(rows)]


def _bound_checks(rows: Rows) -> list[Check]:
    checks = []
    for variant in VARIANTS:
        mine = [row for row in rows if row["algorithm"] == variant]
        closest = max(row["bound_left"] / row["bound_right"] for row in mine)
        checks.append(
            Check(
                _THEOREM[variant],
                f"{variant}: the bound holds in every run",
                all(row["bound_holds"] for row in mine),
                f"{len(mine)} runs; left side at most {closest:.2f} of the right",
            )
        )
    noisy = [row for row in rows if row["algorithm"] == "PA-II" and row["p"] > 0]
    low = min(row["share_of_norm"] for row in noisy if row["C"] == min(r["C"] for r in noisy))
    high = max(row["share_of_norm"] for row in noisy if row["C"] == max(r["C"] for r in noisy))
    checks.append(
        Check(
            "PA 2006, §10.2",
            "PA-II: ‖u‖² dominates Theorem 5's bound for small C, Σℓ*² for large C",
            low > 0.5 > high,
            f"share of ‖u‖² in ‖u‖² + 2CΣℓ*² under noise: at least {low:.3f} with the smallest C, "
            f"at most {high:.1g} with the largest",
        )
    )
    return checks
