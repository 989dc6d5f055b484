"""One weight vector and an intercept outside the norm, passed over the examples until it settles.

The core's own learners hold the intercept as the weight of a constant feature, which is in every
norm, and the loss bounds speak of them. Here the intercept moves with each step but is in no norm,
orders are drawn by a 32-bit xorshift generator (Marsaglia 2003), and passes end when the loss, or
the score on held-out examples, has not improved for a while: what scikit-learn's users know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqpa._kernel import descent as kernel
from seqpa._kernel.steps import CODES
from seqpa.core.examples import Examples, Floats, finds_overflow
from seqpa.core.learner import Indices
from seqpa.errors import SeqpaError

# On sparse rows the intercept, which every example moves, moves more slowly than the weights.
SPARSE_INTERCEPT_RATE = 0.01


def shuffled(order: Indices, seed: int) -> Indices:
    """A random permutation of an order.

    Parameters
    ----------
    order : array
        What to permute; not changed.
    seed : int
        From 0 to 2³² − 1.

    Returns
    -------
    array
        The same numbers in another order.

    Examples
    --------
    >>> shuffled(np.arange(5), seed=7).tolist()
    [3, 4, 1, 2, 0]
    """
    drawn = np.array(order)
    kernel.shuffle(drawn, seed)
    return drawn


@dataclass
class Settings:
    """How a vector descends.

    Parameters
    ----------
    step : {"PA-I", "PA-II", "perceptron"}
        Which step.
    C : float
        Aggressiveness; the perceptron's step size.
    epsilon : float or None
        Of regression; None for two classes.
    fit_intercept : bool
        Whether there is an intercept.
    max_iter : int
        Passes at most.
    tol : float or None
        By how much a pass must improve; None makes `max_iter` passes.
    patience : int
        After so many passes in a row that did not improve, the last was the last.
    shuffle : bool
        Take another order for each pass.
    average : int
        The number of the first example whose vector counts in the mean; 0 for no mean.
    l1 : float
        Strength of the L1 penalty.
    l2 : float
        Strength of the L2 penalty.
    """

    step: str
    C: float
    epsilon: float | None
    fit_intercept: bool
    max_iter: int
    tol: float | None
    patience: int
    shuffle: bool
    average: int = 0
    l1: float = 0.0
    l2: float = 0.0


@dataclass
class Vector:
    """Weights with their intercept, and the means of both.

    Parameters
    ----------
    coef : array of shape (features,)
        The weights.
    intercept : float
        The intercept.
    mean_coef : array of shape (features,) or None
        The mean of the weights after each example.
    mean_intercept : float
        The mean of the intercept.
    t : float
        The number of the next example, from 1 on.
    n_iter : int
        Passes made.
    """

    coef: Floats
    intercept: float
    mean_coef: Floats | None
    mean_intercept: float
    t: float = 1.0
    n_iter: int = 0


@dataclass(frozen=True)
class PassRecord:
    """What is told of a pass to those who want to know.

    Parameters
    ----------
    number : int
        Of the pass, from 1 on.
    coef : array
        The weights after it.
    intercept : float
        The intercept after it.
    examples : int
        Examples learned from so far.
    loss : float
        Mean loss of the pass.
    objective : float
        Mean loss with the penalties.
    score : float or None
        On the held-out examples.
    settled : bool
        Whether it was the last, since nothing improved.
    """

    number: int
    coef: Floats
    intercept: float
    examples: int
    loss: float
    objective: float
    score: float | None
    settled: bool


@finds_overflow
def descend(
    examples: Examples,
    targets: Floats,
    amounts: Floats,
    start: Vector,
    settings: Settings,
    seed: int,
    held_out: Any = None,
    score: Callable[[Floats, float], float] | None = None,
    tell: Callable[[PassRecord], None] | None = None,
) -> Vector:
    """Pass over the examples until the vector settles.

    Parameters
    ----------
    examples : Examples
        Without a bias feature.
    targets : array of shape (n,)
        −1 and 1, or numbers.
    amounts : array of shape (n,)
        By what each example's step is multiplied.
    start : Vector
        Where to begin; not changed.
    settings : Settings
        How to descend.
    seed : int
        Of the orders.
    held_out : array of bool or None, default None
        Examples not to learn from.
    score : function or None, default None
        Of weights and intercept: how good they are on the held-out examples, which then decides
        when to end.
    tell : function or None, default None
        Called after each pass.

    Returns
    -------
    Vector
        The weights and intercept after the last pass, and their means.

    Examples
    --------
    >>> X = Examples.from_array([[2.0, 0.0], [0.0, 1.0]])
    >>> settings = Settings("PA-I", 0.375, None, True, 1, None, 5, shuffle=False)
    >>> zero = Vector(np.zeros(2), 0.0, None, 0.0)
    >>> after = descend(X, np.array([1.0, -1.0]), np.ones(2), zero, settings, seed=1)
    >>> after.coef, after.intercept
    (array([ 0.5  , -0.375]), -0.125)
    """
    n_features = examples.n_features
    coef = np.array(start.coef, dtype=np.float64)
    rate = (SPARSE_INTERCEPT_RATE if examples.sparse else 1.0) * settings.fit_intercept
    late = np.zeros(n_features if settings.average else 0)
    vector = kernel.Descent(
        w=coef,
        late=late,
        pulled=np.zeros(n_features if settings.l1 else 0),
        step=CODES[settings.step],
        regression=settings.epsilon is not None,
        C=settings.C,
        epsilon=settings.epsilon or 0.0,
        intercept=start.intercept,
        mean_intercept=start.mean_intercept,
        intercept_rate=rate,
        t=start.t,
        first=settings.average,
        shrink=max(0.0, 1.0 - settings.C * settings.l2),
        l1=settings.l1,
        l2=settings.l2,
    )
    order = np.arange(len(examples))
    kept = np.ones(len(examples), dtype=bool) if held_out is None else ~held_out
    n_learned = max(1, int(kept.sum()))
    best, waited, number = -np.inf, 0, 0
    while number < settings.max_iter and waited < settings.patience:
        number += 1
        if settings.shuffle:
            order = shuffled(order, seed)
        vector.pass_over(examples.rows, examples.norms2, targets, amounts, order[kept[order]])
        if not (np.isfinite(vector.intercept) and np.isfinite(coef).all()):
            raise SeqpaError(
                f"the weights overflowed in pass {number}: scale the features first, for example "
                "with StandardScaler or MinMaxScaler"
            )
        loss, objective = vector.loss / n_learned, vector.objective / n_learned
        reached = -objective if score is None else score(coef, vector.intercept)
        better = settings.tol is None or reached >= best + settings.tol
        waited = 0 if better else waited + 1
        best = max(best, reached)
        if tell is not None:
            told = None if score is None else reached
            settled = waited >= settings.patience
            count = number * n_learned
            tell(PassRecord(number, coef, vector.intercept, count, loss, objective, told, settled))
    mean = start.mean_coef
    since = max(start.t, float(settings.average))
    if mean is not None and vector.t > since:
        before, more = since - settings.average, vector.t - since
        mean = (before * mean + more * coef - late) / (before + more)
    return Vector(coef, vector.intercept, mean, vector.mean_intercept, vector.t, number)
