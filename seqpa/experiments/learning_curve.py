"""Tagger quality against training sentences and epochs, for every algorithm of the tagger."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from seqpa.errors import SeqpaWarning
from seqpa.experiments import figures
from seqpa.experiments.corpora import CORPORA, NEWS, load_tagged
from seqpa.experiments.data import STAND_IN, Floats, folder_of
from seqpa.experiments.outcome import Check, Outcome, Rows, grid, markdown_table
from seqpa.experiments.setup import Setup
from seqpa.sequence.training import dev_score

ALGORITHMS = ("perceptron", "pa", "pa-i", "pa-ii", "arow")
_USE_C = ("pa-i", "pa-ii", "arow")
_GRID = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_ORDERS = 5  # random orders of each part of a corpus
_MANY = 120  # of all its sentences: what tells PA from the perceptron is small


class CurveTraining(NamedTuple):
    """One tagger to train; tested on the test sentences, or on held-out ones to choose C.

    After every epoch, or after the last one only, which takes less than half the time.
    """

    corpus: str
    folder: Path | None
    algorithm: str
    C: float
    sentences: int
    seed: int
    epochs: int
    tune: bool
    every: bool = True


def run(setup: Setup) -> Outcome:
    """Five algorithms on growing parts of each corpus, scored after every epoch."""
    folder = folder_of(setup, tuple(CORPORA), "this project's own corpora/news")
    corpora = NEWS if folder is None else CORPORA
    seeds, many, epochs, grid = (1, 2, 2, (0.1,)) if setup.quick else (_ORDERS, _MANY, 10, _GRID)
    sizes = {name: _sizes(name, folder, setup.quick) for name in corpora}
    tuning = [
        CurveTraining(name, folder, algorithm, C, sizes[name][-1] // 4, 0, epochs, True)
        for name in corpora
        for algorithm in _USE_C
        for C in grid
    ]
    scores = dict(zip(tuning, setup.each("choosing C", _scores, tuning), strict=True))
    chosen = {
        (name, algorithm): max(
            (task for task in tuning if (task.corpus, task.algorithm) == (name, algorithm)),
            key=lambda task: scores[task][-1],
        ).C
        for name in corpora
        for algorithm in _USE_C
    }
    final = [
        CurveTraining(
            name,
            folder,
            algorithm,
            chosen.get((name, algorithm), 1.0),
            n,
            seed,
            epochs,
            tune=False,
            every=seed < seeds,
        )
        for name in corpora
        for algorithm in ALGORITHMS
        for n in reversed(sizes[name])
        for seed in range(many if n == sizes[name][-1] and algorithm != "arow" else seeds)
    ]
    found = setup.each("learning-curve", _scores, final)
    rows = [
        {
            "corpus": task.corpus,
            "algorithm": task.algorithm,
            "C": task.C if task.algorithm in _USE_C else "",
            "sentences": task.sentences,
            "seed": task.seed,
            "epoch": epoch,
            "score": score,
        }
        for task, of_epochs in zip(final, found, strict=True)
        for epoch, score in enumerate(of_epochs, 1 if task.every else epochs)
    ]
    picked = "; ".join(f"{name}, {a}: {C:g}" for (name, a), C in chosen.items())
    return Outcome(
        title="Learning curves of the taggers",
        intro=f"""
Ours. Taggers with templates of words, affixes and tags, averaged, trained for up to {epochs} epochs
on the first n training sentences in {seeds} random order{"s" if seeds > 1 else ""}, scored on the
test sentences after every epoch: chunks by F1 of whole chunks, part-of-speech tags by accuracy. To
tell PA from the perceptron, there are {many} orders of all sentences, scored after the last epoch.
C is the best of {", ".join(map(str, grid))} on held-out training sentences ({picked}); the
perceptron and PA have none. Bands: 95 % confidence intervals of the mean.
""",
        tables={"learning-curve": rows},
        figures={
            "learning-curve": (
                "Quality of taggers against training sentences and epochs",
                lambda: _draw(rows, corpora),
            )
        },
        checks=[check for name in corpora for check in _checks(rows, name)],
        notes=[_table(rows, name, corpora[name][0]) for name in corpora],
        label="" if folder else f"{STAND_IN}: corpora/news instead of CoNLL-2000 and treebank",
    )


def _sizes(name: str, folder: Path | None, quick: bool) -> list[int]:
    """Halves of the corpus, halved again, the smallest first."""
    n = len(load_tagged(name, folder).train.X)
    if quick:
        return [30, 60]
    return [n >> shift for shift in reversed(range(7)) if n >> shift >= 50]


def _scores(task: CurveTraining) -> list[float]:
    """The score after each epoch, or after the last."""
    from seqpa import SequenceTagger

    corpus = load_tagged(task.corpus, task.folder)
    X, y = corpus.train.X, corpus.train.y
    held_out = slice(-len(X) // 8, None)
    test = (X[held_out], y[held_out]) if task.tune else (corpus.test.X, corpus.test.y)
    tagger = SequenceTagger(
        features=corpus.templates,
        columns=corpus.columns,
        algorithm=task.algorithm,
        C=task.C,
        update="prediction-based",
        epochs=task.epochs,
        random_state=task.seed,
    )
    sentences, labels = X[: task.sentences], y[: task.sentences]
    if not task.every:
        return [dev_score(test[1], tagger.fit(sentences, labels).predict(test[0]), "F1")]
    with warnings.catch_warnings():  # a small part lacks some labels of the test: as it should be
        warnings.simplefilter("ignore", SeqpaWarning)
        every = tagger.training(sentences, labels, dev=test)
        return [epoch.dev_score or 0.0 for epoch in every]


def _grid(rows: Rows, **chosen: Any) -> Floats:
    """Scores in %, [seeds, the rest by sentences and epochs], for the seeds that all sizes have."""
    shared = min(
        max(row["seed"] for row in rows if row["sentences"] == n)
        for n in {row["sentences"] for row in rows}
    )
    return _all(rows, most=shared, **chosen)


def _all(rows: Rows, most: int | None = None, **chosen: Any) -> Floats:
    """The same for all seeds, or those up to one."""
    ordered = sorted(rows, key=lambda row: (row["sentences"], row["epoch"]))
    kept = [row for row in ordered if most is None or row["seed"] <= most]
    return np.asarray(100 * grid(kept, "score", "seed", **chosen))


def _axes(rows: Rows, name: str) -> tuple[list[int], int]:
    """The sizes and the last epoch."""
    mine = [row for row in rows if row["corpus"] == name]
    return sorted({row["sentences"] for row in mine}), max(row["epoch"] for row in mine)


def _draw(rows: Rows, corpora: dict[str, tuple[str, str]]) -> Any:
    figure, axes = figures.panels(len(corpora), 2, height=3.9)
    for line, (name, (title, score)) in enumerate(corpora.items()):
        sizes, epochs = _axes(rows, name)
        left, right = axes[line]
        for place, algorithm in enumerate(ALGORITHMS):
            chosen = {"corpus": name, "algorithm": algorithm}
            by_size = _grid(rows, **chosen, epoch=epochs)
            figures.curve(left, sizes, by_size, algorithm, place)
            by_epoch = _grid(rows, **chosen, sentences=sizes[-1])
            figures.curve(right, np.arange(1, epochs + 1), by_epoch, algorithm, place)
        left.set_xscale("log")
        left.set_xticks(sizes, [f"{n:,}" for n in sizes])
        left.minorticks_off()
        left.set_xlabel("training sentences")
        left.set_title(f"{title}, after {epochs} epochs")
        left.set_ylabel(f"{score} in %")
        right.set_xlabel("epochs")
        right.set_title(f"{title}, {sizes[-1]:,} sentences")
    figures.legend(axes[0, 0])
    return figure


def _table(rows: Rows, name: str, title: str) -> str:
    sizes, epochs = _axes(rows, name)
    lines = []
    for algorithm in ALGORITHMS:
        chosen = {"corpus": name, "algorithm": algorithm}
        first = _grid(rows, **chosen, epoch=1, sentences=sizes[-1]).mean()
        cells = _grid(rows, **chosen, epoch=epochs).mean(axis=0)
        lines.append((algorithm, *(f"{cell:.2f}" for cell in cells), f"{first:.2f}"))
    head = ("algorithm", *(f"{n:,}" for n in sizes), f"{sizes[-1]:,}, one epoch")
    return f"## {title}: score in % by training sentences\n\n" + markdown_table(head, lines)


def _ahead(rows: Rows, name: str, a: str, b: str) -> tuple[float, float]:
    """By how much a's last score on all sentences is above b's: the mean, half of its interval."""
    sizes, epochs = _axes(rows, name)
    one, other = (
        _all(rows, corpus=name, epoch=epochs, sentences=sizes[-1], algorithm=each)[:, 0]
        for each in (a, b)
    )
    mean, half = figures.mean_and_half_width(one - other)
    return float(mean), float(half)


def _checks(rows: Rows, name: str) -> list[Check]:
    sizes, epochs = _axes(rows, name)
    last = {a: _grid(rows, corpus=name, algorithm=a, epoch=epochs).mean(axis=0) for a in ALGORITHMS}
    first = {
        a: float(_grid(rows, corpus=name, algorithm=a, epoch=1, sentences=sizes[-1]).mean())
        for a in ALGORITHMS
    }
    whole = {a: float(last[a][-1]) for a in ALGORITHMS}
    variants = ("pa", "pa-i", "pa-ii")
    ahead = {a: _ahead(rows, name, a, "perceptron") for a in variants}
    best_first = max(first, key=lambda a: first[a])
    return [
        Check(
            name,
            "more sentences help every algorithm, at every size",
            all(bool(np.all(np.diff(last[a]) > 0)) for a in ALGORITHMS),
            "; ".join(f"{a} {last[a][0]:.2f} to {last[a][-1]:.2f} %" for a in ALGORITHMS),
        ),
        Check(
            name,
            "every PA variant is significantly better than the perceptron on all sentences",
            all(mean > half for mean, half in ahead.values()),
            f"perceptron {whole['perceptron']:.2f} %; points ahead, paired by order: "
            + ", ".join(f"{a} {mean:+.2f} ± {half:.2f}" for a, (mean, half) in ahead.items()),
        ),
        Check(
            name,
            "AROW is the best after one epoch",
            best_first == "arow",
            ", ".join(f"{a} {first[a]:.2f} %" for a in ALGORITHMS),
        ),
        Check(
            name,
            "AROW is at least as good as every PA variant in the end",
            all(whole["arow"] >= whole[a] for a in variants),
            ", ".join(f"{a} {whole[a]:.2f} %" for a in ("arow", *variants)),
        ),
    ]
