"""Which of the perceptron's vectors to report: Perceptron notes, after Freund and Schapire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seqpa.experiments import figures
from seqpa.experiments.data import STAND_IN, Floats, folder_of, load
from seqpa.experiments.outcome import Check, Outcome, Rows, grid, markdown_table
from seqpa.experiments.setup import Setup

REPORTED = ("last", "random", "average", "vote")
EPOCHS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
_QUICK_EPOCHS = (0.2, 1.0, 2.0)


def run(setup: Setup) -> Outcome:
    """Test error after parts of an epoch and after several, over random orders."""
    folder = folder_of(setup, ("usps",), "scikit-learn's digits")
    name = "digits" if folder is None else "usps"
    trials, epochs = (2, _QUICK_EPOCHS) if setup.quick else (10, EPOCHS)
    tasks = [(name, folder, trial, kind, epochs) for trial in range(trials) for kind in REPORTED]
    rows = [row for found in setup.each("averaging", _trial, tasks) for row in found]
    means = [
        (f"{epoch:g}", *(f"{100 * _grid(rows, k)[:, i].mean():.2f}" for k in REPORTED))
        for i, epoch in enumerate(epochs)
    ]
    data = load(name, folder)
    assert data.y_test is not None
    return Outcome(
        title="Which of the perceptron's vectors to report",
        intro=f"""
Perceptron notes, which point to Freund and Schapire (1999). The multiclass
perceptron, linear with a bias, on {name.upper() if folder else name} ({len(data.y):,} examples to
learn from, {len(data.y_test):,} to test on), in {trials} random orders for up to {epochs[-1]:g}
epochs, a new order in each. The error on the test examples of the last vector, of one drawn at
random, of the mean of all and of the vote of all. Bands: 95 % confidence intervals of the mean.
""",
        tables={"averaging": rows},
        figures={
            "averaging": (
                "Test error of the last, a random, the averaged and the voted perceptron "
                "against epochs",
                lambda: _draw(rows, epochs, name),
            )
        },
        checks=_checks(rows, epochs),
        notes=[
            "## Test error in %\n\n" + markdown_table(("epochs", *REPORTED), means),
            """
Freund and Schapire learn one vector for each digit against the rest, with polynomial kernels, on
MNIST; here one multiclass perceptron learns all digits, without a kernel.
""",
        ],
        label="" if folder else f"{STAND_IN}: scikit-learn's digits instead of USPS",
    )


def _trial(task: tuple[str, Path | None, int, str, tuple[float, ...]]) -> Rows:
    from seqpa import PerceptronClassifier

    name, folder, trial, kind, epochs = task
    data = load(name, folder)
    scale = np.abs(data.X).max()
    X, y, X_test = data.X / scale, data.y, data.X_test
    assert X_test is not None
    assert data.y_test is not None
    X_test = X_test / scale
    rng = np.random.default_rng(4000 + trial)  # the same orders for every kind of report
    order = np.concatenate([rng.permutation(len(y)) for _ in range(int(np.ceil(epochs[-1])))])
    model = PerceptronClassifier(kind, fit_intercept=True, random_state=trial)
    rows, begin = [], 0
    for epoch in epochs:
        end = round(epoch * len(y))
        part = order[begin:end]
        model.partial_fit(X[part], y[part], classes=np.arange(data.n_labels))
        begin = end
        wrong = float(np.mean(model.predict(X_test) != data.y_test))
        rows.append(
            {
                "reported": kind,
                "trial": trial,
                "epochs": epoch,
                "test_error": wrong,
                "updates": int(model.n_updates_),
            }
        )
    return rows


def _grid(rows: Rows, kind: str) -> Floats:
    """Test errors, [trials, epochs]."""
    return np.asarray(grid(rows, "test_error", reported=kind))


def _draw(rows: Rows, epochs: tuple[float, ...], name: str) -> Any:
    figure, axes = figures.panels(1, 1, width=7.2, height=4.6)
    panel = axes[0, 0]
    for place, kind in enumerate(REPORTED):
        figures.curve(panel, epochs, 100 * _grid(rows, kind), kind, place)
    panel.set_xscale("log")
    panel.set_xticks(epochs, [f"{epoch:g}" for epoch in epochs])
    panel.minorticks_off()
    panel.set_xlabel("epochs")
    panel.set_ylabel("test error in %")
    panel.set_title(f"perceptron on {name.upper() if name == 'usps' else name}")
    panel.set_ylim(bottom=0)
    figures.legend(panel)
    return figure


def _checks(rows: Rows, epochs: tuple[float, ...]) -> list[Check]:
    error = {kind: 100 * _grid(rows, kind) for kind in REPORTED}
    spread = {kind: float(error[kind].std(axis=0, ddof=1).mean()) for kind in REPORTED}
    mean = {kind: error[kind].mean(axis=0) for kind in REPORTED}
    first = epochs.index(1.0)
    gap = float(np.max(mean["last"] - mean["average"]))
    checks = [
        Check(
            "Perceptron notes, slide 7",
            f"the {kind} vector is very noisy",
            spread[kind] > 2 * spread["average"],
            f"test errors scatter by {spread[kind]:.2f} points over random orders, those of the "
            f"average by {spread['average']:.2f} (standard deviations, mean over epochs)",
        )
        for kind in ("last", "random")
    ]
    checks.append(
        Check(
            "Perceptron notes, slides 7, 14",
            "report the average: it is better than the last and the random vector",
            bool(
                np.all(mean["average"] < mean["last"]) and np.all(mean["average"] < mean["random"])
            ),
            f"after one epoch: average {mean['average'][first]:.2f} %, last "
            f"{mean['last'][first]:.2f} %, random {mean['random'][first]:.2f} %; "
            f"after {epochs[-1]:g}: {mean['average'][-1]:.2f}, {mean['last'][-1]:.2f}, "
            f"{mean['random'][-1]:.2f}",
        )
    )
    checks.append(
        Check(
            "Perceptron notes, slide 8",
            "the choice can make a huge difference",
            gap > 0.25 * float(mean["average"][first]),
            f"the last vector errs up to {gap:.2f} points more than the average",
        )
    )
    voted = float(np.max(np.abs(mean["vote"] - mean["average"])))
    checks.append(
        Check(
            "Perceptron notes, slide 7",
            "voting is as good a choice as the average",
            bool(np.all(mean["vote"] < mean["last"])) and voted < 1.0,
            f"the two are at most {voted:.2f} points apart; voting after one epoch "
            f"{mean['vote'][first]:.2f} %",
        )
    )
    return checks
