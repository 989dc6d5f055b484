"""Iterative parameter mixing: what a shard learned in a round, and what becomes of all shards.

In round r every shard s trains one epoch from the same weights w_r and ends at w_r + Δ_s; the mean
of its weights on the way is w_r + m_s. Then, with shares μ_s that sum to one
(McDonald, Hall & Mann, 2010),

    w_(r+1) = w_r + Σ_s μ_s Δ_s,

and the mean over all rounds so far is (1 / r) Σ_r (w_r + Σ_s μ_s m_s). Sums run in the order of the
shards, in double precision, so the order in which results arrive changes no bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Floats = NDArray[np.float64]

MIXINGS = ("uniform", "mistakes")
_SMALL = (np.uint8, np.uint16, np.uint32)


@dataclass(frozen=True, slots=True)
class Packed:
    """Sorted keys as the gaps between them, in as few bytes as these need, and values.

    Examples
    --------
    >>> packed = Packed.of(np.array([3, 10, 300]), np.array([0.5, -1.0, 2.0]))
    >>> packed.gaps.dtype, packed.nbytes
    (dtype('uint16'), 18)
    >>> packed.keys.tolist()
    [3, 10, 300]
    """

    gaps: NDArray[np.unsignedinteger]
    values: tuple[NDArray[np.float32], ...]

    @classmethod
    def of(cls, keys: Int64, *values: Floats) -> Packed:
        """Pack keys with one value or several for each; values are rounded to float32."""
        gaps = np.diff(keys, prepend=0)
        most = int(gaps.max(initial=0))
        dtype = next((d for d in _SMALL if most <= np.iinfo(d).max), np.uint64)
        return cls(gaps.astype(dtype), tuple(v.astype(np.float32) for v in values))

    @property
    def keys(self) -> Int64:
        """The keys, sorted."""
        return np.cumsum(self.gaps.astype(np.int64))

    @property
    def nbytes(self) -> int:
        """How many bytes it takes to send."""
        return int(self.gaps.nbytes + sum(v.nbytes for v in self.values))


@dataclass(frozen=True, slots=True)
class Difference:
    """What a shard learned in a round.

    Attributes
    ----------
    moved : Packed
        With the values Δ and, where means are kept, m.
    sentences, tokens, wrong_sentences, wrong_tokens, updates : int
    cost, loss, squared_loss : float
        As `seqpa.sequence.learner.Epoch` has them.
    seconds : float
        How long the task took its worker.
    worker : str
        Which one that was; it is told, and nothing depends on it.
    """

    moved: Packed
    sentences: int
    tokens: int
    wrong_sentences: int
    wrong_tokens: int
    updates: int
    cost: float
    loss: float
    squared_loss: float
    seconds: float
    worker: str


def difference(start: tuple[Int64, Floats], *others: tuple[Int64, Floats]) -> Packed:
    """By how much sparse vectors differ from a first one, where any of them does.

    Parameters
    ----------
    start, *others : (keys, values)

    Returns
    -------
    Packed
        With the values of each of the others, less those of the first.

    Examples
    --------
    >>> start = np.array([1, 5]), np.array([1.0, 2.0])
    >>> packed = difference(start, (np.array([1, 7]), np.array([1.0, 3.0])))
    >>> packed.keys.tolist(), packed.values[0].tolist()
    ([5, 7], [-2.0, 3.0])
    """
    union = united([start[0], *(keys for keys, _ in others)])
    before = spread(union, *start)
    moved = [spread(union, *other) - before for other in others]
    there = np.any([own != 0 for own in moved], axis=0)
    return Packed.of(union[there], *(own[there] for own in moved))


def united(keys: Sequence[Int64]) -> Int64:
    """All keys of several sorted arrays, sorted, each once."""
    together = np.concatenate(keys)
    together.sort(kind="stable")
    first = np.ones(len(together), np.bool_)
    first[1:] = together[1:] != together[:-1]
    return together[first]


def spread(union: Int64, keys: Int64, values: Floats) -> Floats:
    """The values at the places of their keys among more keys, zeros elsewhere."""
    found = np.zeros(len(union))
    found[np.searchsorted(union, keys)] = values
    return found


def shares(results: Sequence[Difference], mixing: str) -> Floats:
    """The μ of each shard.

    Parameters
    ----------
    results : sequence of Difference
        In the order of the shards.
    mixing : "uniform" or "mistakes"
        All alike, or by the sentences that were predicted wrongly.

    Returns
    -------
    float64 (shards,)
    """
    n = len(results)
    wrong = np.array([own.wrong_sentences for own in results], np.float64)
    if mixing == "mistakes" and wrong.sum() > 0:
        return wrong / wrong.sum()
    return np.full(n, 1 / n)


@dataclass(slots=True)
class Mixture:
    """The mixed weights, and the sum of their means over the rounds.

    Attributes
    ----------
    keys : int64 (n,)
        Sorted.
    weights : float64 (n,)
        Those with which the next round begins, as float32 has them.
    sums : float64 (n,)
        Σ over the rounds of the mean weights of a round.
    rounds : int
    """

    keys: Int64 = field(default_factory=lambda: np.zeros(0, np.int64))
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    sums: Floats = field(default_factory=lambda: np.zeros(0))
    rounds: int = 0

    def mixed(self, results: Sequence[Difference], mixing: str) -> Mixture:
        """The mixture after a round.

        Parameters
        ----------
        results : sequence of Difference
            In the order of the shards.
        mixing : str
            As for `shares`.

        Returns
        -------
        Mixture
        """
        keys = [own.moved.keys for own in results]
        union = united([self.keys, *keys])
        start = spread(union, self.keys, self.weights)
        moved, means = start.copy(), start.copy()
        for own, own_keys, share in zip(results, keys, shares(results, mixing), strict=True):
            at = np.searchsorted(union, own_keys)
            moved[at] += share * own.moved.values[0].astype(np.float64)
            means[at] += share * own.moved.values[-1].astype(np.float64)
        sums = spread(union, self.keys, self.sums) + means
        rounded = moved.astype(np.float32).astype(np.float64)
        return Mixture(union, rounded, sums, self.rounds + 1)

    def packed(self) -> Packed:
        """The weights with which the next round begins, to be sent."""
        there = self.weights != 0
        return Packed.of(self.keys[there], self.weights[there])

    def mean(self) -> tuple[Int64, Floats]:
        """The mean weights over all rounds: keys and values."""
        return self.keys, self.sums / max(self.rounds, 1)
