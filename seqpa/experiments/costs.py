"""A tagger trained for one cost and measured under another, with the costs of PA 2006, §§8-9."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from seqpa.evaluate import Comparison, compare
from seqpa.experiments import figures
from seqpa.experiments.corpora import load_tagged, tag_tree
from seqpa.experiments.data import STAND_IN, Floats, folder_of
from seqpa.experiments.outcome import Check, Outcome, Rows, grid, markdown_table
from seqpa.experiments.setup import Setup

COSTS = ("hamming", "hierarchy", "names")
UPDATES = ("prediction-based", "loss-augmented", "max-loss")
_GRID = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_NAMES = ("NNP", "NNPS")


def missed_names(labels: Sequence[str]) -> dict[str, dict[str, float]]:
    """A matrix of one's own: to miss a proper noun costs 10, any other wrong tag 1.

    >>> missed_names(["NNP", "VBD"])
    {'NNP': {'VBD': 10.0}}
    """
    return {
        name: {other: 10.0 for other in labels if other != name}
        for name in _NAMES
        if name in labels
    }


class CostTraining(NamedTuple):
    """One tagger to train; the last part of the training sentences is held out if `tune`."""

    corpus: str
    folder: Path | None
    cost: str
    update: str
    C: float
    seed: int
    epochs: int
    sentences: int
    tune: bool


def run(setup: Setup) -> Outcome:
    """Three costs × three updates; C chosen on held-out sentences; several seeds; a paired test."""
    folder = folder_of(setup, ("ptb-sample",), "this project's own corpora/news")
    seeds, epochs, grid, n = (2, 2, (0.03,), 20) if setup.quick else (8, 5, _GRID, 10**9)
    pairs = [(cost, update) for cost in COSTS for update in UPDATES]

    def training(cost: str, update: str, C: float, seed: int, tune: bool) -> CostTraining:
        return CostTraining("ptb-sample", folder, cost, update, C, seed, epochs, n, tune)

    tuning = [training(*pair, C, 0, True) for pair in pairs for C in grid]
    held_out = dict(zip(tuning, setup.each("choosing C", _own_cost, tuning), strict=True))
    chosen = {
        pair: min(
            (task for task in tuning if (task.cost, task.update) == pair),
            key=lambda task: held_out[task],
        ).C
        for pair in pairs
    }
    final = [training(*pair, chosen[pair], seed, False) for pair in pairs for seed in range(seeds)]
    predictions = dict(zip(final, setup.each("costs", _predictions, final), strict=True))
    gold = load_tagged("ptb-sample", folder).test.y
    rows = [
        {
            "trained_for": task.cost,
            "update": task.update,
            "C": task.C,
            "seed": task.seed,
            "measured": measured,
            "cost_per_sentence": _mean_cost(measured, gold, predicted),
        }
        for task, predicted in predictions.items()
        for measured in COSTS
    ]
    joined = {
        pair: _together([predictions[t] for t in final if (t.cost, t.update) == pair])
        for pair in pairs
    }
    tests = _tests(_together([gold] * seeds), joined, 200 if setup.quick else 10_000, seeds)
    corpus = "the Penn Treebank sample" if folder else "corpora/news"
    return Outcome(
        title="What a tagger is trained for",
        intro=f"""
Ours; the costs are those of PA 2006, §§8-9. A part-of-speech tagger (PA-I, averaged,
{epochs} epochs, {seeds} random orders) on {corpus} is trained for one cost and measured under all.

- *hamming*: wrong tags
- *hierarchy*: edges between the two tags in a tree of coarse over fine tags, 2 within a class such
  as noun or verb, 4 across
- *names*: a matrix in which a missed proper noun costs 10 and any other wrong tag 1

Updates are *prediction-based* (PA 2006, Eq. 44), *max-loss*: the sequence of the highest score + √ρ
(PA 2006, Eq. 50), found exactly, and *loss-augmented*: that of the highest score + ρ, with the
margin ρ. C, out of {", ".join(map(str, grid))},
is the one with the smallest own cost on held-out training sentences. All costs are per test
sentence; bars and ± are 95 % confidence intervals of the mean over the orders. The paired test is a
bootstrap over test sentences, the predictions of all orders of a sentence drawn together.
""",
        tables={"costs": rows, "tests": tests},
        figures={
            "costs": (
                "Cost per sentence under each measure for taggers trained for each cost",
                lambda: _draw(rows),
            )
        },
        checks=_checks(rows, tests),
        notes=[_table(rows, chosen)],
        label="" if folder else f"{STAND_IN}: corpora/news instead of the Penn Treebank sample",
    )


def _tagger(task: CostTraining) -> tuple[Any, Any, Any]:
    """A trained tagger, the sentences to try it on and their labels."""
    from seqpa import SequenceTagger

    corpus = load_tagged(task.corpus, task.folder)
    X, y = corpus.train.X[: task.sentences], corpus.train.y[: task.sentences]
    cut = 5 * len(X) // 6 if task.tune else len(X)
    test = (X[cut:], y[cut:]) if task.tune else (corpus.test.X, corpus.test.y)
    tagger = SequenceTagger(
        features=corpus.templates,
        columns=corpus.columns,
        cost=_cost(task.cost, sorted({label for labels in y[:cut] for label in labels})),
        C=task.C,
        update=task.update,
        epochs=task.epochs,
        random_state=task.seed,
    )
    return tagger.fit(X[:cut], y[:cut]), *test


def _cost(name: str, labels: Sequence[str]) -> Any:
    if name == "names":
        return missed_names(labels)
    return tag_tree() if name == "hierarchy" else name


def _own_cost(task: CostTraining) -> float:
    tagger, X, y = _tagger(task)
    return _mean_cost(task.cost, y, tagger.predict(X))


def _predictions(task: CostTraining) -> list[list[str]]:
    tagger, X, _ = _tagger(task)
    return tagger.predict(X)


def _function(name: str) -> Any:
    from seqpa.sequence.costs import sequence_cost

    labels = [str(tag) for tag in tag_tree().leaves]
    return sequence_cost(_cost(name, labels), labels)


def _mean_cost(name: str, gold: list[list[str]], predicted: list[list[str]]) -> float:
    cost = _function(name)
    return float(np.mean([cost(g, p) for g, p in zip(gold, predicted, strict=True)]))


def _together(each: list[list[list[str]]]) -> list[list[str]]:
    """The label lists of several runs, sentence by sentence in one list: they are drawn together.

    >>> _together([[["a"], ["b", "c"]], [["d"], ["e", "f"]]])
    [['a', 'd'], ['b', 'c', 'e', 'f']]
    """
    return [
        [label for labels in of_runs for label in labels] for of_runs in zip(*each, strict=True)
    ]


def _tests(gold: Any, joined: dict[Any, Any], rounds: int, seeds: int) -> Rows:
    """Under each cost: the tagger trained for it against Hamming's, and the updates."""
    rows = []
    for measured in COSTS:
        against = [((measured, update), ("hamming", update)) for update in UPDATES]
        against += [((measured, update), (measured, UPDATES[0])) for update in UPDATES[1:]]
        for a, b in against:
            if a == b:
                continue
            found: Comparison = compare(
                gold,
                joined[a],
                joined[b],
                np.random.default_rng(1),
                "cost",
                rounds=rounds,
                cost=_function(measured),
            )
            rows.append(
                {
                    "measured": measured,
                    "a": " ".join(a),
                    "b": " ".join(b),
                    "cost_a": found.a / seeds,
                    "cost_b": found.b / seeds,
                    "difference": found.difference / seeds,
                    "low": found.low / seeds,
                    "high": found.high / seeds,
                    "p_value": found.p_value,
                }
            )
    return rows


def _grid(rows: Rows, measured: str, cost: str, update: str) -> Floats:
    chosen = {"measured": measured, "trained_for": cost, "update": update}
    return np.asarray(grid(rows, "cost_per_sentence", "seed", **chosen)[:, 0])


def _table(rows: Rows, chosen: dict[tuple[str, str], float]) -> str:
    lines = []
    for (cost, update), C in chosen.items():
        cells = []
        for measured in COSTS:
            mean, half = figures.mean_and_half_width(_grid(rows, measured, cost, update))
            cells.append(f"{mean:.3f} ± {half:.3f}")
        lines.append((cost, update, f"{C:g}", *cells))
    head = ("trained for", "update", "C", *(f"measured: {name}" for name in COSTS))
    return "## Cost per sentence\n\n" + markdown_table(head, lines)


def _draw(rows: Rows) -> Any:
    figure, axes = figures.panels(1, 3, width=4.2, height=3.6, sharey=True)
    for panel, measured in zip(axes[0], COSTS, strict=True):
        for place, update in enumerate(UPDATES):
            for line, cost in enumerate(COSTS):
                mean, half = figures.mean_and_half_width(_grid(rows, measured, cost, update))
                panel.errorbar(
                    mean,
                    line + 0.2 * (place - 1),
                    xerr=half,
                    fmt=figures.MARKERS[place],
                    color=figures.COLOURS[place],
                    markersize=8,
                    capsize=4,
                    linewidth=2,
                    label=update if line == 0 else None,
                )
        panel.set_title(f"measured: {measured}")
        panel.set_xlabel("cost per sentence")
        panel.set_yticks(range(len(COSTS)), COSTS)
        panel.set_ylim(len(COSTS) - 0.5, -0.5)
        panel.margins(x=0.12)
    axes[0, 0].set_ylabel("trained for")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncol=3, frameon=False
    )
    return figure


def _checks(rows: Rows, tests: Rows) -> list[Check]:
    checks = []
    for test in tests:
        cost, update = test["a"].split(" ")
        if test["b"].startswith("hamming") and cost != "hamming":
            claim = f"{update}: training for {cost} lowers that cost, compared with hamming"
        else:
            claim = f"{cost}: {update} updates lower it, compared with prediction-based ones"
        checks.append(
            Check(
                "PA 2006, §§8-9",
                claim,
                test["difference"] < 0 and test["p_value"] < 0.05,
                f"{test['cost_a']:.3f} against {test['cost_b']:.3f}: {test['difference']:+.3f} "
                f"({test['low']:+.3f} to {test['high']:+.3f}), p = {test['p_value']:.2g}",
            )
        )
    for measured in COSTS:
        for update in UPDATES:
            means = {c: float(_grid(rows, measured, c, update).mean()) for c in COSTS}
            checks.append(
                Check(
                    "PA 2006, §8",
                    f"{measured}: of the {update} taggers, the one trained for it has the smallest",
                    min(means, key=lambda c: means[c]) == measured,
                    ", ".join(f"trained for {c} {m:.3f}" for c, m in means.items()),
                )
            )
    return checks
