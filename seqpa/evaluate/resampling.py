"""How sure a score is: the same score over sentences that are drawn anew, with replacement.

Every score here is a ratio of two sums over sentences (F1 is 2 correct / (gold + predicted)).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Rounds of resampling are drawn in blocks of about this many numbers, to bound the memory.
_DRAWN_AT_ONCE = 1 << 21
# The share of the rounds that an interval holds.
LEVEL = 0.95


class Interval(NamedTuple):
    """Between which limits a score lies in 95 % of the rounds.

    Parameters
    ----------
    low, high : float
        The limits.

    Examples
    --------
    >>> Interval(0.75, 0.875)
    Interval(low=0.75, high=0.875)
    """

    low: float
    high: float


def ratios(sums: Floats) -> Floats:
    """The scores of pairs of sums; 0 where there is nothing.

    Parameters
    ----------
    sums : (..., 2) array
        What is above and below the line.

    Returns
    -------
    array

    Examples
    --------
    >>> ratios(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [0.75, 0.0]
    """
    top, bottom = sums[..., 0], sums[..., 1]
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def drawn_sums(counts: Any, rounds: int, rng: np.random.Generator) -> Floats:
    """The sums over as many sentences as there are, drawn with replacement.

    Parameters
    ----------
    counts : (sentences, columns) array or sparse matrix
        What is summed.
    rounds : int
        How often they are drawn.
    rng : numpy.random.Generator
        Draws them.

    Returns
    -------
    (rounds, columns) array

    Examples
    --------
    >>> drawn_sums(np.array([[1.0, 2.0], [1.0, 2.0]]), 3, np.random.default_rng(1)).tolist()
    [[2.0, 4.0], [2.0, 4.0], [2.0, 4.0]]
    """
    n = counts.shape[0]
    drawn = []
    for size in blocks(rounds, n):
        rows = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(rows.ravel(), minlength=size * n).reshape(size, n)
        drawn.append(np.asarray(times.astype(np.float64) @ counts))
    return np.concatenate(drawn)


def intervals(counts: Any, rounds: int, rng: np.random.Generator) -> list[Interval]:
    """The interval of each of several scores of the same sentences.

    Parameters
    ----------
    counts : (sentences, 2 × scores) array or sparse matrix
        For each score two columns: what is above and what is below the line.
    rounds : int
        Of resampling.
    rng : numpy.random.Generator
        Draws the sentences, the same ones for all scores.

    Returns
    -------
    list of Interval
        2.5 to 97.5 % of the rounds (the percentile bootstrap).

    Examples
    --------
    >>> right = np.array([[1.0, 2.0], [2.0, 2.0], [0.0, 1.0], [3.0, 4.0]])
    >>> found = intervals(right, 500, np.random.default_rng(1))[0]
    >>> 0 < found.low < 6 / 9 < found.high <= 1
    True
    """
    sums = drawn_sums(counts, rounds, rng).reshape(rounds, -1, 2)
    scores = ratios(sums)
    tail = (1 - LEVEL) / 2
    found = []
    for column in range(scores.shape[1]):
        # A round that drew nothing of what is scored says nothing about it.
        own = scores[sums[:, column, 1] > 0, column]
        low, high = np.quantile(own, [tail, 1 - tail]) if len(own) else (0.0, 0.0)
        found.append(Interval(float(low), float(high)))
    return found


def blocks(rounds: int, n: int) -> Iterable[int]:
    """How many rounds are drawn at once, again and again, so that memory stays bounded.

    Parameters
    ----------
    rounds : int
        How many there are in all.
    n : int
        How many numbers each round draws.

    Returns
    -------
    iterable of int

    Examples
    --------
    >>> list(blocks(5, 1 << 20))
    [2, 2, 1]
    """
    block = max(1, _DRAWN_AT_ONCE // max(1, n))
    return [min(block, rounds - start) for start in range(0, rounds, block)]
