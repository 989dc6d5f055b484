"""The cost of configs/custom-cost.yaml: overlooking a person is worse than anything else."""

from __future__ import annotations

from collections.abc import Sequence


def missed_people(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Every wrong label costs 1; a person's name that is not seen as one costs 5.

    >>> missed_people(["B-person", "O", "B-city"], ["O", "O", "O"])
    6.0
    """
    cost = 0.0
    for right, guess in zip(gold, predicted, strict=True):
        if right != guess:
            missed = right.endswith("person") and not guess.endswith("person")
            cost += 5.0 if missed else 1.0
    return cost
