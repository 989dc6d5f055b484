"""Asking for labels: what they bring, beside as many labels drawn at random."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seqpa.experiments import figures
from seqpa.experiments.active_trials import TaggerTask, VectorTask, ask_tagger, ask_vectors
from seqpa.experiments.corpora import CORPORA, NEWS
from seqpa.experiments.data import STAND_IN, Floats, folder_of
from seqpa.experiments.outcome import Check, Outcome, Rows, markdown_table
from seqpa.experiments.setup import Setup

# By which rule -> on which sets. An ellipsoid over many classes disagrees nearly everywhere.
VECTORS: dict[str, tuple[str, ...]] = {
    "margin": ("usps", "letter", "twonorm"),
    "disagreement": ("twonorm", "breast", "shuttle"),
}
_BUNDLED: dict[str, tuple[str, ...]] = {
    "margin": ("digits", "digits, odd or even"),
    "disagreement": ("breast cancer", "digits, odd or even"),
}
SETTINGS = {
    "margin": (0.003, 0.01, 0.03, 0.1, 0.3, 1.0),  # δ
    "disagreement": (0.0001, 0.0003, 0.001, 0.003, 0.01),  # the scale of P at the start
}
_RANDOM = "random"
# Those that need nothing but the tagger; `seqpa teach --simulate` compares all.
STRATEGIES = ("margin", "least-confident", "entropy", "n-best-entropy", "density", _RANDOM)
_PARTS = (0.9, 0.95, 0.98, 0.99)  # of the score with all labels
_JUDGED = 0.98  # of which the claims speak


class Curve(NamedTuple):
    """Scores after so many labels, for one way to ask on one set and one seed."""

    labels: Floats
    scores: Floats
    full: float  # the score with all labels


def run(setup: Setup) -> Outcome:
    """Streams of vectors with two rules of asking, pools of sentences with every strategy."""
    needed = tuple(dict.fromkeys(name for names in VECTORS.values() for name in names))
    folder = folder_of(
        setup, (*needed, *CORPORA), "scikit-learn's digits and breast cancer, and corpora/news"
    )
    sets = VECTORS if folder else _BUNDLED
    corpora = CORPORA if folder else NEWS
    orders, seeds, stream, pool = (2, 2, 150, 120) if setup.quick else (20, 8, 2000, 3000)
    tasks = [
        VectorTask(name, folder, rule, setting, seed, stream)
        for rule, names in sets.items()
        for name in names
        for setting in (SETTINGS[rule][::2] if setup.quick else SETTINGS[rule])
        for seed in range(orders)
    ]
    vectors: Rows = [
        {
            "set": task.name,
            "rule": task.rule,
            "setting": task.setting,
            "seed": task.seed,
            **result._asdict(),
        }
        for task, result in zip(tasks, setup.each("vectors", ask_vectors, tasks), strict=True)
    ]
    asked = [
        TaggerTask(name, folder, strategy, seed, pool)
        for name in corpora
        for strategy in STRATEGIES
        for seed in range(seeds)
    ]
    taggers: Rows = [
        {
            "corpus": task.corpus if folder else "news",
            "strategy": task.strategy,
            "seed": task.seed,
            "round": round_number,
            **result._asdict(),
        }
        for task, rounds in zip(asked, setup.each("taggers", ask_tagger, asked), strict=True)
        for round_number, result in enumerate(rounds, 1)
    ]
    reached = [*_reached_vectors(vectors, sets), *_reached_taggers(taggers)]
    return Outcome(
        title="Asking for labels",
        intro=f"""
Ours, with the stochastic margin rule of online active learning and the version space of Ellipsoid.

Vectors: a stream of up to {stream:,} examples, of which a learner asks for some labels and learns
from these alone, after ten that are given. `PAClassifier` (PA-I, C = 0.1, averaged) asks with the
probability δ/(δ + p), p the margin between the best and the second score, for δ from
{SETTINGS["margin"][0]:g} to {SETTINGS["margin"][-1]:g}. `EllipsoidClassifier` (averaged) asks in
its region of disagreement, which is the larger the larger P starts. Beside each stands the same
learner with as many labels of the same stream, drawn at random. Errors are those of other examples.
The ten came after a first run without them, in which ellipsoids that start small sometimes met one
class alone and never asked for another: a rule without chance needs a beginning.

Taggers: a pool of up to {pool:,} sentences. The first 500 tokens are drawn at random, the same for
every strategy of `select`; in each round the tagger (PA-I, averaged, 5 epochs) ranks what is left,
the first sentences are labelled until there are 1.6 times as many tokens, and a new tagger is
trained. Probabilities are calibrated on what is labelled, in two folds. Labels are counted in
tokens: some strategies prefer long sentences, and a sentence costs what its tokens cost.

{orders} random orders of vectors, {seeds} of sentences; bands and ± are 95 % confidence intervals
of the mean, of differences paired by order. Labels that a score takes are read off the line between
the measured points (in the logarithm of the labels).
""",
        tables={"vectors": vectors, "taggers": taggers, "reached": reached},
        figures={
            "active": (
                "Test error against labels asked for, and tagger quality against labelled tokens",
                lambda: _draw(vectors, taggers, sets, corpora),
            )
        },
        checks=_checks(vectors, reached, sets),
        notes=[_vector_table(vectors, sets), _reached_table(reached)],
        label=""
        if folder
        else f"{STAND_IN}: scikit-learn's digits and breast cancer, and corpora/news",
    )


def labels_for(curve: Curve, part: float) -> float:
    """How many labels a part of the full score takes; NaN where no point reaches it.

    Parameters
    ----------
    curve : Curve
        In the order of the labels.
    part : float
        Of the score with all labels.

    Returns
    -------
    float
        Between two points, on the line over log labels.

    Examples
    --------
    >>> curve = Curve(np.array([10.0, 100.0, 1000.0]), np.array([0.5, 0.7, 0.9]), 1.0)
    >>> labels_for(curve, 0.5), round(labels_for(curve, 0.8)), labels_for(curve, 0.95)
    (10.0, 316, nan)
    """
    target = part * curve.full
    above = np.flatnonzero(curve.scores >= target)
    if not len(above):
        return float("nan")
    at = int(above[0])
    if at == 0:
        return float(curve.labels[0])
    (a, b), (low, high) = curve.labels[at - 1 : at + 1], curve.scores[at - 1 : at + 1]
    share = (target - low) / (high - low)
    return float(np.exp((1.0 - share) * np.log(a) + share * np.log(b)))


def _vector_curves(rows: Rows, rule: str, name: str) -> dict[int, tuple[Curve, Curve]]:
    """Seed -> the accuracies of asking, and of as many labels at random."""
    found = {}
    mine = [row for row in rows if (row["rule"], row["set"]) == (rule, name)]
    for seed in dict.fromkeys(row["seed"] for row in mine):
        own = sorted((row for row in mine if row["seed"] == seed), key=lambda row: row["labels"])
        labels = np.array([row["labels"] for row in own], dtype=np.float64)
        # With an ellipsoid the score with all labels does not depend on the scale but by rounding.
        full = 1.0 - float(np.mean([row["full_error"] for row in own]))
        found[seed] = tuple(
            Curve(labels, 1.0 - np.array([row[value] for row in own]), full)
            for value in ("error", "random_error")
        )
    return found  # type: ignore[return-value]


def _tagger_curves(rows: Rows, corpus: str) -> dict[str, dict[int, Curve]]:
    """Strategy -> seed -> the scores after each round."""
    mine = [row for row in rows if row["corpus"] == corpus]
    last = {
        (row["strategy"], row["seed"]): row["score"] for row in mine
    }  # the round that labelled everything: the last one
    full = {
        seed: float(np.mean([score for (_, own), score in last.items() if own == seed]))
        for seed in dict.fromkeys(row["seed"] for row in mine)
    }
    found: dict[str, dict[int, Curve]] = {}
    for strategy, seed in last:
        own = [row for row in mine if (row["strategy"], row["seed"]) == (strategy, seed)]
        found.setdefault(strategy, {})[seed] = Curve(
            np.array([row["tokens"] for row in own], dtype=np.float64),
            np.array([row["score"] for row in own]),
            full[seed],
        )
    return found


def _compared(of: dict[int, Curve], random: dict[int, Curve], part: float) -> dict[str, Any]:
    """Labels that a part of the full score takes, beside random; over the seeds that reach it."""
    pairs = [(labels_for(of[seed], part), labels_for(random[seed], part)) for seed in of]
    both = np.array([pair for pair in pairs if np.isfinite(pair).all()]).reshape(-1, 2)
    if len(both) < 2:
        return {"part": part, "seeds": len(both)}
    saved, half = figures.mean_and_half_width(1.0 - both[:, 0] / both[:, 1])
    return {
        "part": part,
        "seeds": len(both),
        "labels": float(both[:, 0].mean()),
        "labels_random": float(both[:, 1].mean()),
        "saved": float(saved),
        "half_width": float(half),
    }


def _reached_vectors(rows: Rows, sets: dict[str, tuple[str, ...]]) -> Rows:
    found = []
    for rule, names in sets.items():
        for name in names:
            curves = _vector_curves(rows, rule, name)
            of, random = ({seed: pair[i] for seed, pair in curves.items()} for i in (0, 1))
            found += [
                {"data": name, "strategy": rule, **_compared(of, random, part)} for part in _PARTS
            ]
    return found


def _reached_taggers(rows: Rows) -> Rows:
    found = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        curves = _tagger_curves(rows, corpus)
        for strategy in STRATEGIES:
            if strategy != _RANDOM:
                found += [
                    {
                        "data": corpus,
                        "strategy": strategy,
                        **_compared(curves[strategy], curves[_RANDOM], part),
                    }
                    for part in _PARTS
                ]
    return found


def _of(rows: Rows, rule: str, name: str, setting: float, value: str) -> Floats:
    return np.array(
        [
            row[value]
            for row in rows
            if (row["rule"], row["set"], row["setting"]) == (rule, name, setting)
        ],
        dtype=np.float64,
    )


def _settings(rows: Rows, rule: str) -> list[float]:
    return sorted({row["setting"] for row in rows if row["rule"] == rule})


def _draw(
    vectors: Rows,
    taggers: Rows,
    sets: dict[str, tuple[str, ...]],
    corpora: dict[str, tuple[str, str]],
) -> Any:
    columns = max(*(len(names) for names in sets.values()), len(corpora))
    figure, axes = figures.panels(3, columns, width=4.6, height=3.6)
    for line, (rule, names) in enumerate(sets.items()):
        for panel, name in zip(axes[line], names, strict=False):
            _draw_vectors(panel, vectors, rule, name)
            panel.set_title(f"{name}, {rule}")
        axes[line, 0].set_ylabel("test error in %")
    for panel, (corpus, (title, score)) in zip(axes[2], corpora.items(), strict=False):
        curves = _tagger_curves(taggers, corpus)
        for place, strategy in enumerate(STRATEGIES):
            seeds = curves[strategy].values()
            rounds = min(len(curve.labels) for curve in seeds) - 1  # without that of all labels
            labels = np.mean([curve.labels[:rounds] for curve in seeds], axis=0)
            scores = np.array([100 * curve.scores[:rounds] for curve in seeds])
            # How much is missing, so that the lines can be told apart.
            full = np.array([100 * curve.full for curve in seeds])[:, None]
            figures.curve(panel, labels, full - scores, strategy, place)
        panel.set_title(title)
        _logarithmic(panel, "labelled tokens")
        figures.logarithmic(panel, "y")
        panel.set_ylabel(f"{score} below that of all labels")
    figures.legend(axes[0, 0])
    figures.legend(axes[2, 0])
    for panel in axes.flat:
        if not panel.has_data():
            panel.set_visible(False)
    return figure


def _draw_vectors(panel: Any, rows: Rows, rule: str, name: str) -> None:
    settings = _settings(rows, rule)
    labels = [_of(rows, rule, name, setting, "labels").mean() for setting in settings]
    for place, (value, label) in enumerate((("error", "asking"), ("random_error", _RANDOM))):
        errors = np.array([100 * _of(rows, rule, name, setting, value) for setting in settings]).T
        figures.curve(panel, labels, errors, label, place)
    full = 100 * float(np.mean([_of(rows, rule, name, s, "full_error").mean() for s in settings]))
    panel.axhline(full, color="#777777", linewidth=1.2, linestyle=":", label="all labels")
    _logarithmic(panel, "labels asked for")


def _logarithmic(panel: Any, name: str) -> None:
    panel.set_xlabel(name)
    figures.logarithmic(panel, "x")


def _vector_table(rows: Rows, sets: dict[str, tuple[str, ...]]) -> str:
    lines = []
    for rule, names in sets.items():
        for name in names:
            for setting in _settings(rows, rule):
                labels = _of(rows, rule, name, setting, "labels")
                share = 100 * labels / _of(rows, rule, name, setting, "stream")
                cells = [
                    _percent(100 * _of(rows, rule, name, setting, value))
                    for value in ("error", "random_error", "full_error")
                ]
                lines.append(
                    (
                        name,
                        rule,
                        f"{setting:g}",
                        f"{labels.mean():.0f}",
                        f"{share.mean():.1f}",
                        *cells,
                    )
                )
    head = (
        "set",
        "rule",
        "δ or scale",
        "labels",
        "% asked for",
        "error %",
        "random %",
        "all labels %",
    )
    return "## Vectors: errors with the same labels\n\n" + markdown_table(head, lines)


def _percent(values: Floats) -> str:
    mean, half = figures.mean_and_half_width(values)
    return f"{mean:.2f} ± {half:.2f}"


def _reached_table(reached: Rows) -> str:
    lines = [
        (
            row["data"],
            row["strategy"],
            f"{100 * row['part']:.0f} %",
            *(
                (
                    f"{row['labels']:,.0f}",
                    f"{row['labels_random']:,.0f}",
                    f"{100 * row['saved']:+.0f} ± {100 * row['half_width']:.0f} %",
                )
                if "saved" in row
                else ("-", "-", "-")
            ),
            row["seeds"],
        )
        for row in reached
    ]
    head = ("data", "asking by", "of the full score", "labels", "at random", "saved", "orders")
    return (
        "## Labels that a score takes\n\nThe full score is the accuracy or F1 with all labels; "
        "only orders in which both ways reach it are counted.\n\n" + markdown_table(head, lines)
    )


def _checks(vectors: Rows, reached: Rows, sets: dict[str, tuple[str, ...]]) -> list[Check]:
    checks = []
    for rule, names in sets.items():
        for name in names:
            told, better = [], []
            for setting in _settings(vectors, rule):
                labels = _of(vectors, rule, name, setting, "labels")
                if (labels / _of(vectors, rule, name, setting, "stream")).mean() > 0.5:
                    continue
                errors = (
                    100 * _of(vectors, rule, name, setting, value)
                    for value in ("random_error", "error")
                )
                mean, half = figures.mean_and_half_width(np.subtract(*errors))
                better.append(mean > half)
                told.append(f"{labels.mean():.0f} labels {mean:+.2f} ± {half:.2f}")
            checks.append(
                Check(
                    f"{name}, {rule}",
                    "up to half of the labels: those asked for leave a smaller error than as many "
                    "at random",
                    bool(better) and all(better),
                    "points less: " + "; ".join(told),
                )
            )
    for row in reached:
        if row["part"] != _JUDGED:
            continue
        holds = "saved" in row and row["saved"] > row["half_width"]
        measured = "not reached in two orders or more"
        if "saved" in row:
            measured = (
                f"{row['labels']:,.0f} against {row['labels_random']:,.0f}: saved "
                f"{100 * row['saved']:.0f} ± {100 * row['half_width']:.0f} %"
            )
        checks.append(
            Check(
                f"{row['data']}, {row['strategy']}",
                f"{100 * _JUDGED:.0f} % of the full score take fewer labels than at random",
                holds,
                measured,
            )
        )
    return checks
