"""Mini-batches of sentences: several constraints, one step (Mini-batch PA, §3.2, on chains).

Each wrong sentence i of a batch, all predicted with the same weights, asks for w·δ_i >= √ρ_i with
δ_i = Φ(x_i, y_i) − Φ(x_i, ŷ_i). The weights move to w + Σ τ_i δ_i, where τ solves the dual of
"as near as possible, all constraints at once": a box-constrained QP over the Gram matrix of the δ.
A batch of one sentence is the plain step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.trainer import LONGEST
from seqpa.sequence.encode import Encoded
from seqpa.sequence.weights import TrainingWeights

Int64 = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KeyedDifference:
    """δ of one sentence, as a sparse vector.

    Parameters
    ----------
    keys : int64 (n,)
        Which weights it moves: distinct and sorted. `Keys` says what they mean.
    values : float64 (n,)
        How much of each.
    """

    keys: Int64
    values: Floats


@dataclass(frozen=True, slots=True)
class Keys:
    """The numbering of all weights of a chain.

    Emissions (feature, label) come first, then transitions (label, label), then pair features
    (feature, label, label).

    Parameters
    ----------
    n_labels : int
        How many labels there are.
    n_features : int
        How many features there are, without pair features.

    Examples
    --------
    >>> keys = Keys(n_labels=3, n_features=5)
    >>> keys.transitions, keys.pairs
    (15, 24)
    """

    n_labels: int
    n_features: int

    @property
    def transitions(self) -> int:
        """The first key of a transition."""
        return self.n_features * self.n_labels

    @property
    def pairs(self) -> int:
        """The first key of a pair feature."""
        return self.transitions + self.n_labels**2

    def difference(
        self, encoded: Encoded, sentence: int, gold: NDArray[np.int32], path: NDArray[np.int32]
    ) -> KeyedDifference:
        """Φ(x, gold) − Φ(x, path), equal features merged.

        Parameters
        ----------
        encoded : Encoded
            The sentences.
        sentence : int
            Which one is x.
        gold, path : int32 (tokens,)
            Two label sequences of it, by number.

        Returns
        -------
        KeyedDifference
        """
        begin = int(encoded.starts[sentence])
        keys: list[Int64] = []
        values: list[Floats] = []

        def add(base: int, numbers: Int64, labels: Int64, n: int, sizes: Floats) -> None:
            keys.append(base + numbers * n + labels)
            values.append(sizes)

        wrong = np.flatnonzero(gold != path)
        where, which = _entries(encoded.indptr, begin + wrong)
        features = encoded.features[where].astype(np.int64)
        sizes = _values(encoded.values, where)
        for labels, sign in ((gold, 1.0), (path, -1.0)):
            add(0, features, labels[wrong][which].astype(np.int64), self.n_labels, sign * sizes)
        moved = np.flatnonzero((gold[1:] != path[1:]) | (gold[:-1] != path[:-1])) + 1
        for labels, sign in ((gold, 1.0), (path, -1.0)):
            pair = labels[moved - 1].astype(np.int64) * self.n_labels + labels[moved]
            add(self.transitions, pair, np.zeros_like(pair), 1, np.full(len(pair), sign))
            if encoded.pair_indptr is not None and encoded.pair_features is not None:
                where, which = _entries(encoded.pair_indptr, begin + moved)
                features = encoded.pair_features[where].astype(np.int64)
                sizes = _values(encoded.pair_values, where)
                add(self.pairs, features, pair[which], self.n_labels**2, sign * sizes)
        distinct, inverse = np.unique(np.concatenate(keys), return_inverse=True)
        sums = np.bincount(inverse, np.concatenate(values), len(distinct))
        return KeyedDifference(distinct, sums.astype(np.float64))


def _values(values: NDArray[np.float32] | None, where: Int64) -> Floats:
    return np.ones(len(where)) if values is None else values[where].astype(np.float64)


def _entries(indptr: Int64, tokens: NDArray[np.intp]) -> tuple[Int64, Int64]:
    """The positions of the features of some tokens, and the place of the token that each is of."""
    starts, sizes = indptr[tokens], indptr[tokens + 1] - indptr[tokens]
    which = np.repeat(np.arange(len(tokens)), sizes)
    within = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return starts[which] + within, which


@dataclass(frozen=True, slots=True)
class BatchStep:
    """What a batch did.

    Parameters
    ----------
    losses, taus, norms2 : float64 (wrong sentences,)
        The loss, τ and ‖δ‖² of each wrong sentence.
    """

    losses: Floats
    taus: Floats
    norms2: Floats


def step(
    weights: TrainingWeights,
    keys: Keys,
    differences: list[KeyedDifference],
    margins: Floats,
    variant: str,
    C: float | Floats,
    clock: float,
) -> BatchStep | None:
    """Move the weights for the wrong sentences of one batch.

    Parameters
    ----------
    weights : TrainingWeights
        What is moved.
    keys : Keys
        Their numbering.
    differences : list of KeyedDifference
        δ of each wrong sentence.
    margins : float64 (wrong sentences,)
        √ρ of each.
    variant : str
        "PA-I", "PA-II" or "PA-LS".
    C : float or float64 (wrong sentences,)
        The aggressiveness.
    clock : float
        After how many sentences the step comes: so many of the averaged vectors do without it.

    Returns
    -------
    BatchStep or None
        None if the step would be too long for single precision; then nothing has moved.
    """
    from seqpa.core.batch import solve_batch  # brings learners on vectors

    all_keys, columns = np.unique(
        np.concatenate([d.keys for d in differences]), return_inverse=True
    )
    rows = np.zeros((len(differences), len(all_keys)))
    rows[np.repeat(np.arange(len(rows)), [len(d.keys) for d in differences]), columns] = (
        np.concatenate([d.values for d in differences])
    )
    gram = rows @ rows.T
    r = margins - rows @ weights.gather(keys.transitions, keys.pairs, all_keys)
    taus = solve_batch(gram, r, C, variant)
    move = taus @ rows
    if not np.linalg.norm(move) <= LONGEST:
        return None
    weights.scatter(keys.transitions, keys.pairs, all_keys, move, clock)
    return BatchStep(np.maximum(r, 0.0), taus, np.diag(gram).copy())
