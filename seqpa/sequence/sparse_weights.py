"""Weights as sparse vectors: sorted keys, which `seqpa.sequence.batches.Keys` numbers, and values.

So weights over the same features and labels are added, compared and sent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqpa.sequence.batches import Keys
from seqpa.sequence.weights import FrozenWeights, TrainingWeights, padded

Int64 = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WeightSpace:
    """All weights that a chain over these features and labels can have.

    Parameters
    ----------
    n_labels, n_features : int
    n_pair_features : int or None
        None where no template is of label pairs.

    Examples
    --------
    >>> space = WeightSpace(n_labels=2, n_features=3, n_pair_features=None)
    >>> weights = space.weights(np.array([1, 4, 8]), np.array([0.5, -1.0, 2.0]))
    >>> keys, values = space.entries(weights.freeze(False))
    >>> keys.tolist(), values.tolist()
    ([1, 4, 8], [0.5, -1.0, 2.0])
    """

    n_labels: int
    n_features: int
    n_pair_features: int | None

    @classmethod
    def of(cls, weights: FrozenWeights) -> WeightSpace:
        """The space that some weights are in."""
        pairs = None if weights.pair_rows is None else len(weights.pair_rows)
        return cls(weights.n_labels, len(weights.rows), pairs)

    @property
    def keys(self) -> Keys:
        """The numbers of the weights."""
        return Keys(self.n_labels, self.n_features)

    def entries(self, weights: FrozenWeights) -> tuple[Int64, Floats]:
        """The keys of all weights that are not zero, sorted, and their values.

        Parameters
        ----------
        weights : FrozenWeights

        Returns
        -------
        keys : int64 (n,)
        values : float64 (n,)
        """
        K, numbers = self.n_labels, self.keys
        features, labels, values = _entries(weights.rows, weights.arena, K)
        keys, amounts = [features * K + labels], [values]
        keys.append(numbers.transitions + np.arange(K * K))
        amounts.append(weights.transitions.reshape(-1).astype(np.float64))
        if weights.pair_rows is not None and weights.pair_arena is not None:
            width = padded(K)
            features, labels, values = _entries(weights.pair_rows, weights.pair_arena, K * width)
            keys.append(numbers.pairs + features * K * K + labels // width * K + labels % width)
            amounts.append(values)
        together, all_values = np.concatenate(keys), np.concatenate(amounts)
        there = all_values != 0
        together, all_values = together[there], all_values[there]
        order = np.argsort(together, kind="stable")
        return together[order], all_values[order]

    def weights(self, keys: Int64, values: Floats) -> TrainingWeights:
        """Weights with these values, to train from or to freeze; their averaging sums are empty.

        Parameters
        ----------
        keys : int64 (n,)
            Sorted.
        values : float64 (n,)

        Returns
        -------
        TrainingWeights
        """
        made = TrainingWeights(self.n_labels, self.n_features, self.n_pair_features)
        self.add(made, keys, values)
        return made

    def add(self, weights: TrainingWeights, keys: Int64, values: Floats) -> None:
        """Add values to the weights of sorted keys."""
        numbers = self.keys
        weights.scatter(numbers.transitions, numbers.pairs, keys, values, 0.0)


def _entries(
    rows: NDArray[np.int32], arena: NDArray[np.float32], n_labels: int
) -> tuple[Int64, Int64, Floats]:
    """Feature, label and weight of all that a store has; rows are sparse or dense."""
    sparse, dense = np.flatnonzero(rows[:, 1] > 0), np.flatnonzero(rows[:, 1] < 0)
    sizes = rows[sparse, 1].astype(np.int64)
    ends = np.cumsum(sizes)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    at = np.repeat(rows[sparse, 0].astype(np.int64), sizes) + 2 * within
    whole = rows[dense, 0].astype(np.int64)[:, None] + np.arange(n_labels)
    features = np.concatenate([np.repeat(sparse, sizes), np.repeat(dense, n_labels)])
    labels = np.concatenate([arena[at].astype(np.int64), np.tile(np.arange(n_labels), len(dense))])
    values = np.concatenate([arena[at + 1], arena[whole.reshape(-1)]]).astype(np.float64)
    return features, labels, values
