"""How sure a score is that was counted over whole sentences, and what more sentences would bring.

Words of one sentence are right or wrong together: one strange name makes three mistakes. An
interval that takes each word for an observation of its own is too narrow, by √(design effect), the
design effect being how many times larger the variance between sentences is than that of as many
independent words. So the variance is taken between sentences, as for cluster samples, and the
words are counted as fewer by that factor.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
_LEAST = 30  # sentences that a curve needs
_ROUNDS = 50
Floats = NDArray[np.float64]


class Share(NamedTuple):
    """A share, and between which limits it lies with 95 % confidence.

    Parameters
    ----------
    value, low, high : float
        From 0 to 1.

    Examples
    --------
    >>> Share(0.9, 0.85, 0.94).low
    0.85
    """

    value: float
    low: float
    high: float


class Gain(NamedTuple):
    """What twice as many labelled sentences would bring.

    Parameters
    ----------
    value, low, high : float
        By how much the share of mistakes would fall, and its 95 % confidence limits.

    Examples
    --------
    >>> Gain(0.02, 0.01, 0.03).value
    0.02
    """

    value: float
    low: float
    high: float


def design_effect(right: Floats, all: Floats) -> float:
    """How many dependent observations count as one.

    Parameters
    ----------
    right, all : arrays
        For each sentence how many observations are right, and how many there are.

    Returns
    -------
    float
        From 1, as for independent ones, to the mean size of a sentence, as if they were right or
        wrong together. That is also taken where nothing, or everything, is right: nothing is known
        then of how mistakes come.

    Examples
    --------
    >>> right, all = np.array([4.0, 0.0, 4.0, 4.0]), np.array([4.0, 4.0, 4.0, 4.0])
    >>> design_effect(right, all), design_effect(np.array([3.0, 3.0, 4.0]), np.full(3, 4.0))
    (4.0, 1.0)
    """
    keep = all > 0
    right, all = right[keep], all[keep]
    n, total = len(all), float(all.sum())
    if not n:
        return 1.0
    # The mean size that an observation meets, not that a sentence has.
    most = max(1.0, float((all**2).sum()) / total)
    share = float(right.sum()) / total
    if n < 2 or share in (0.0, 1.0):
        return most
    between = n / (n - 1) * float(((right - share * all) ** 2).sum()) / total**2
    return min(most, max(1.0, between / (share * (1 - share) / total)))


def interval(right: float, all: float, sentences: int, effect: float) -> Share:
    """A share with Wilson's interval, of as many observations as are left by the design effect.

    Parameters
    ----------
    right, all : float
        How many observations are right, and how many there are.
    sentences : int
        That they are from. The fewer, the less the variance between them is known: Student's t
        with one degree of freedom less takes the place of the normal distribution.
    effect : float
        See `design_effect`.

    Returns
    -------
    Share

    Examples
    --------
    >>> [round(limit, 3) for limit in interval(90, 100, 1000, 1.0)]
    [0.9, 0.826, 0.945]
    >>> [round(limit, 3) for limit in interval(90, 100, 10, 4.0)]
    [0.9, 0.691, 0.973]
    >>> interval(1, 1, 1, 1.0)
    Share(value=1.0, low=0.0, high=1.0)
    """
    share = right / all if all else 0.0
    if sentences < 2 or not all:
        return Share(share, 0.0, 1.0)
    n = all / effect
    t2 = _quantile(sentences - 1) ** 2
    middle = (share + t2 / (2 * n)) / (1 + t2 / n)
    half = math.sqrt(t2 * (share * (1 - share) / n + t2 / (4 * n * n))) / (1 + t2 / n)
    return Share(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


def doubling(wrong: Floats, all: Floats, labelled: Floats, now: float) -> Gain | None:
    """What labelling as many sentences again would bring, by the curve so far.

    The share of mistakes after n sentences is taken to be e(n) = e(N) (n / N)^-c, a power of their
    number, as learning curves mostly are. Both unknowns are fitted by the likelihood of Poisson's
    distribution; their variance is taken between sentences, so neither that nor the independence of
    mistakes is relied on. The last three doublings are looked at: before, curves have another
    course. A curve that is flattening out falls less than the fitted one: what is told is rather
    too much than too little.

    Parameters
    ----------
    wrong, all : arrays
        For each sentence how many mistakes there were before it was learned, and how many there
        could have been.
    labelled : array
        How many sentences had been labelled before it.
    now : float
        N, how many are.

    Returns
    -------
    Gain or None
        e(N) - e(2N), with its limits by the delta method; None if there are fewer than 30 sentences
        or no mistakes to fit to.

    Examples
    --------
    >>> before = np.arange(1.0, 401.0)
    >>> wrong = 10 * before**-0.5
    >>> gain = doubling(wrong, np.full(400, 10.0), before, 400.0)
    >>> round(gain.value, 4), round(0.05 - 0.05 * 2**-0.5, 4)
    (0.0146, 0.0146)
    """
    keep = (all > 0) & (labelled >= now / 8)
    wrong, all, labelled = wrong[keep], all[keep], np.maximum(labelled[keep], 1.0)
    n = len(all)
    if n < _LEAST or not wrong.sum() or labelled.min() == labelled.max():
        return None
    design = np.column_stack([np.ones(n), -np.log(labelled / now)])
    found = np.array([math.log(wrong.sum() / all.sum()), 0.0])
    for _ in range(_ROUNDS):
        expected = all * np.exp(design @ found)
        information = design.T @ (expected[:, None] * design)
        step = np.linalg.solve(information, design.T @ (wrong - expected))
        # Newton's steps in a convex problem, held short so that the exponential cannot run away.
        found = found + step * min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-10:
            break
    expected = all * np.exp(design @ found)
    inverse = np.linalg.inv(design.T @ (expected[:, None] * design))
    # A sentence pulls the curve towards itself: its residual is too small by its leverage.
    leverage = expected * np.einsum("ij,jk,ik->i", design, inverse, design)
    scores = ((wrong - expected) / (1 - np.minimum(leverage, 0.99)))[:, None] * design
    covariance = inverse @ (scores.T @ scores) @ inverse
    at, power = math.exp(found[0]), float(found[1])
    gain = at * (1 - 2**-power)
    slope = np.array([gain, at * 2**-power * math.log(2)])
    error = _quantile(n - 2) * math.sqrt(max(0.0, float(slope @ covariance @ slope)))
    return Gain(gain, gain - error, gain + error)


def _quantile(freedom: int) -> float:
    """Student's t: what the middle 95 % lie between."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + LEVEL / 2))
