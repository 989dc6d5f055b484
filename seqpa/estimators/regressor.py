"""`PARegressor`: regression with an ε-insensitive loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from seqpa.core.problems import Problem, Regression
from seqpa.estimators._base import Floats, LinearEstimator


class PARegressor(RegressorMixin, LinearEstimator):
    """Passive-aggressive regression (Crammer et al. 2006, §5, Eq. 18 and 19).

    w is moved until |y − w·x| <= ε: w ← w + sign(y − w·x) τ x, with ℓ = max(0, |y − w·x| − ε) and
    τ as in Eq. 3 or 8.

    epsilon        errors up to here cost nothing
    C              aggressiveness: how far one example may move the weights
    variant        "PA" (no C), "PA-I", "PA-II", "PA-LS" (least squares: a constant pull towards
                   an error of exactly ε, so take ε = 0 with it)
    fit_intercept  True adds a constant feature 1, which counts in the norm
    average        True predicts with the mean of the weights after each example
    max_iter       passes of `fit`, at most
    tol            `fit` leaves examples with a squared loss of at most tol alone and stops when
                   none is left (batch conversion); None makes max_iter plain passes
    shuffle        a new random order for each pass of `fit`

    Attributes: `coef_` [features], `intercept_` [1]; `n_iter_`; and the sums over all passes
    `online_mistakes_` (losses above 0), `online_loss_`, `online_squared_loss_`, `n_updates_`.

    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(200, 5, noise=2.0, random_state=1)
    >>> model = PARegressor(epsilon=1.0, average=True, random_state=3).fit(X[:150], y[:150])
    >>> round(model.score(X[150:], y[150:]), 3)
    0.999
    """

    def __init__(
        self,
        epsilon: float = 0.1,
        C: float = 1.0,
        variant: str = "PA-I",
        fit_intercept: bool = False,
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.C = C
        self.variant = variant
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> PARegressor:
        """Learn from the beginning: up to `max_iter` passes over X [n, features] and y [n]."""
        return self._learn(X, y, begin=True, once=False)

    def partial_fit(self, X: Any, y: Any) -> PARegressor:
        """Go on learning: one pass over the examples in the given order."""
        return self._learn(X, y, begin=self._first(), once=True)

    def _learn(self, X: Any, y: Any, *, begin: bool, once: bool) -> PARegressor:
        self._check_parameters()
        X, y = self._validate(X, y, reset=begin, y_numeric=True)
        target = np.asarray(y, dtype=np.float64)
        self._train(X, target, C=self.C, begin=begin, once=once)
        return self

    def _problem(self) -> Problem:
        return Regression(self.epsilon)

    @property
    def coef_(self) -> Floats:
        """The weights, float64[features]."""
        return super().coef_[0]

    def predict(self, X: Any) -> Floats:
        """w·x + b."""
        return self._scores(X)[:, 0]
