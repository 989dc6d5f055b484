"""The ellipsoid method for very many weights: P as the sum of its updates."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa.experiments.data import Floats


class Passed(NamedTuple):
    """What a pass counted; `missed` are CELLIP's mistakes without an update."""

    mistakes: int
    updates: int
    missed: int


def ellipsoid_pass(
    X: Floats,
    y: NDArray[np.intp],
    W: Floats,
    *,
    margin: float,
    scale: float,
    classical: bool = False,
    c: float = 0.0,
    b: float = 0.0,
) -> Passed:
    """One pass of `EllipsoidLearner` (full P, several labels), with P = scale·(I − Σ a_i u_i u_i').

    M updates of N weights take M²N operations, and MN² where P is a matrix. That is less if there
    are fewer mistakes than weights.

    Parameters
    ----------
    X : array of shape (n, features)
        The examples.
    y : array of int of shape (n,)
        Their labels.
    W : array of shape (labels, features)
        Where w starts; it is moved.
    margin : float
        As in `EllipsoidLearner`.
    scale : float
        As in `EllipsoidLearner`.
    classical : bool, default False
        CELLIP instead of IELLIP.
    c : float, default 0.0
        As in `EllipsoidLearner`.
    b : float, default 0.0
        As in `EllipsoidLearner`.

    Returns
    -------
    Passed
        What the pass counted.
    """
    kept, a = np.empty((64, *W.shape)), np.empty(64)
    n = mistakes = missed = 0
    for x, label in zip(X, y, strict=True):
        scores = W @ x
        right, scores[label] = scores[label], -np.inf
        rival = int(np.argmax(scores))
        if right > scores[rival]:
            continue
        mistakes += 1
        # u = δ − Σ a_i (u_i·δ) u_i, where δ is x for the label and −x for its rival.
        inner = kept[:n, label] @ x - kept[:n, rival] @ x
        u = -np.tensordot(a[:n] * inner, kept[:n], 1)
        u[label] += x
        u[rival] -= x
        square = float((u[label] - u[rival]) @ x)
        lacking = float(margin - right + scores[rival])
        if classical and lacking**2 >= scale * square:
            missed += 1
            continue
        W += lacking / square * u
        share, growth = c, 1.0 / (1.0 - c)
        if classical:
            alpha = lacking / math.sqrt(scale * square)
            share, growth = 2.0 * alpha / (1.0 + alpha), 1.0 - alpha**2
        if share > 1e-17:  # below, nothing of it would be left in P
            if n == len(a):
                kept, a = np.concatenate([kept, np.empty_like(kept)]), np.append(a, np.empty(n))
            kept[n], a[n] = u, share / square
            n += 1
        scale *= growth
        c *= b
    return Passed(mistakes, mistakes - missed, missed)
