"""Train for what a mistake costs you: overlooked people, or a tree of labels.

python examples/custom_cost.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from seqpa import Hierarchy, SequenceTagger
from seqpa.data import Corpus, read

NEWS = Path(__file__).parents[1] / "corpora" / "news"


def missed_people(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """A wrong label costs 1, an overlooked person 5."""
    return sum(
        5.0 if "person" in right and "person" not in guess else 1.0
        for right, guess in zip(gold, predicted, strict=True)
        if right != guess
    )


train, dev, test = (
    read(NEWS / f"{part}.conll", columns=["word", "pos", "label"])
    for part in ("train", "dev", "test")
)
unseen = Corpus.joined([dev, test])
tree = Hierarchy.from_yaml(NEWS / "entities.yaml")


def tree_distance(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The edges between the right and the predicted label, summed."""
    return float(sum(map(tree.cost, gold, predicted)))


print("mean cost of new sentences    missed people  tree distance")
for name, cost in (("hamming", "hamming"), ("missed people", missed_people), ("hierarchy", tree)):
    totals = [0.0, 0.0]
    for seed in range(3):
        tagger = SequenceTagger(
            "ner", ("word", "pos"), cost=cost, constraints="bio", epochs=10, random_state=seed
        ).fit(train)
        predicted = tagger.predict(unseen)
        for i, measure in enumerate((missed_people, tree_distance)):
            totals[i] += sum(map(measure, unseen.y, predicted)) / len(unseen) / 3
    print(f"trained with {name:<17}{totals[0]:13.3f}  {totals[1]:13.3f}")
