"""Train for what a mistake costs you: overlooked people, or a tree of labels.

The C of each cost is chosen on the dev sentences; the test sentences only measure. The seeds are
six, or as many as you say: with fewer it is done sooner, and knows less.

python examples/custom_cost.py [SEEDS]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from seqpa import Hierarchy, SequenceTagger
from seqpa.data import Corpus, read

NEWS = Path(__file__).parents[1] / "corpora" / "news"
SEEDS = range(int(sys.argv[1]) if sys.argv[1:] else 6)
GRID = (0.03, 0.1)

Labels = Sequence[str]
Measure = Callable[[Labels, Labels], float]


def missed_people(gold: Labels, predicted: Labels) -> float:
    """A wrong label costs 1, an overlooked person 5."""
    return sum(
        5.0 if "person" in right and "person" not in guess else 1.0
        for right, guess in zip(gold, predicted, strict=True)
        if right != guess
    )


tree = Hierarchy.from_yaml(NEWS / "pos.yaml")


def tree_distance(gold: Labels, predicted: Labels) -> float:
    """The edges between the right and the predicted tag, summed: 2 within a class, 4 across."""
    return float(sum(map(tree.cost, gold, predicted)))


def cost_of(tagger: SequenceTagger, corpus: Corpus, measure: Measure) -> float:
    """Per sentence."""
    return mean(map(measure, corpus.y, tagger.predict(corpus)))


def measured(columns: list[str], measure: Measure, cost: Any, **options: Any) -> list[float]:
    """What the test sentences cost after training with one cost, for each seed."""
    train, dev, test = (
        read(NEWS / f"{part}.conll", columns=columns) for part in ("train", "dev", "test")
    )
    best: tuple[float, list[SequenceTagger]] | None = None
    for C in GRID:
        taggers = [
            SequenceTagger(
                columns=train.names, cost=cost, C=C, epochs=5, random_state=seed, **options
            ).fit(train)
            for seed in SEEDS
        ]
        on_dev = mean(cost_of(tagger, dev, measure) for tagger in taggers)
        if best is None or on_dev < best[0]:
            best = on_dev, taggers
    assert best is not None
    return [cost_of(tagger, test, measure) for tagger in best[1]]


def compare(title: str, columns: list[str], measure: Measure, cost: Any, **options: Any) -> None:
    """Print what training for a cost brings, beside training for wrong tokens."""
    plain = measured(columns, measure, "hamming", **options)
    own = measured(columns, measure, cost, **options)
    less = [a - b for a, b in zip(plain, own, strict=True)]
    error = stdev(less) / len(less) ** 0.5
    print(f"{title}, per test sentence")
    print(f"  trained for wrong tokens  {mean(plain):.3f}")
    print(f"  trained for it            {mean(own):.3f}")
    print(f"  less by                   {mean(less):.3f} (standard error {error:.3f})")


if __name__ == "__main__":
    # A Python function takes prediction-based updates; a sum over tokens has the exact max-loss.
    compare(
        "missed people",
        ["word", "pos", "label"],
        missed_people,
        missed_people,
        features="ner",
        constraints="bio",
        algorithm="pa-ii",
        update="prediction-based",
    )
    compare(
        "distance in the tree of tags",
        ["word", "label", "_"],
        tree_distance,
        tree,
        features="pos",
        update="max-loss",
    )
