"""`PARegressor`: regression with an ε-insensitive loss, and what all regressors share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin

from seqpa.core.problems import Problem, Regression
from seqpa.errors import SeqpaError
from seqpa.estimators._base import Floats, LinearEstimator
from seqpa.estimators._one import OneByOne

if TYPE_CHECKING:
    from typing_extensions import Self


class OnlineRegressor(RegressorMixin, OneByOne):
    """Numbers as targets, with the ε-insensitive loss ℓ = max(0, |y − w·x| − ε)."""

    _scores: Callable[[Any], Floats]  # of new examples, float64[n, 1]
    epsilon: float
    C: float

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the beginning, in up to `max_iter` passes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : array of shape (n,)
            Their numbers.
        sample_weight : array of shape (n,) or None, default None
            Factors of C; an example of the weight 0 is left out. None is 1 for all.

        Returns
        -------
        self
            The estimator.
        """
        return self._learn(X, y, begin=True, once=False, sample_weight=sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on learning: one pass over the examples in the given order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : array of shape (n,)
            Their numbers.
        sample_weight : array of shape (n,) or None, default None
            Factors of C; an example of the weight 0 is left out. None is 1 for all.

        Returns
        -------
        self
            The estimator.
        """
        begin = self._first()
        if not begin:
            self._fit_room()
            self._check_again()
            if sample_weight is None and type(y) is np.ndarray and y.shape == (1,):
                row = self._row_of(X) if y.dtype == np.float64 and np.isfinite(y[0]) else None
                if row is not None:
                    self._learn_row(row, float(y[0]), self.C)
                    return self
        return self._learn(X, y, begin=begin, once=True, sample_weight=sample_weight)

    def _learn(self, X: Any, y: Any, *, begin: bool, once: bool, sample_weight: Any) -> Self:
        self._check_parameters()
        X, y = self._validate(X, y, reset=begin, y_numeric=True)
        X, target, weight = self._weighed(X, np.asarray(y, dtype=np.float64), sample_weight)
        if begin:
            self._columns, self._named = None, False
        C = self.C if weight is None else self.C * weight
        self._train(X, target, C=C, begin=begin, once=once)
        return self

    def learn_one(self, x: Mapping[Any, Any], y: float) -> None:
        """Learn from one example, a dict of named features, as river's regressors do.

        Parameters
        ----------
        x : dict
            Feature -> number. Features that are missing are 0; new ones are taken up.
        y : float
            Its number.

        Examples
        --------
        >>> from seqpa import PARegressor
        >>> model = PARegressor(epsilon=0.0)
        >>> for width in 1.0, 3.0, 2.0:
        ...     model.learn_one({"width": width}, 2.5 * width)
        >>> model.predict_one({"width": 4.0, "new": 1.0})
        10.0
        """
        if not (isinstance(y, Real) and math.isfinite(y)):
            raise SeqpaError(f"y is {y!r}; it must be a finite number")
        self._learn_named(x, float(y), self.C)

    def predict_one(self, x: Mapping[Any, Any]) -> float:
        """The number of one example, a dict of named features.

        Parameters
        ----------
        x : dict
            Feature -> number. Features that were never learned from are left out.

        Returns
        -------
        float
            The predicted number; 0 before anything was learned.
        """
        if self._first():
            return 0.0
        row, _ = self._looked_at(x)
        return self._scores_one(x)[0] if row is None else row.score()

    def _problem(self) -> Problem:
        return Regression(self.epsilon)

    def predict(self, X: Any) -> Floats:
        """The score of each example, w·x + b.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n,)
            The predicted numbers.
        """
        return self._scores(X)[:, 0]


class PARegressor(OnlineRegressor, LinearEstimator):
    """Passive-aggressive regression (PA 2006, §5, Eq. 18-19).

    w is moved until |y − w·x| <= ε: w ← w + sign(y − w·x) τ x, with ℓ = max(0, |y − w·x| − ε) and
    τ as in PA 2006, Eq. 3 or 8.

    Parameters
    ----------
    epsilon : float, default 0.1
        Errors up to here cost nothing.
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    variant : {"PA", "PA-I", "PA-II", "PA-LS"}, default "PA-I"
        As in `PAClassifier`. "PA-LS" pulls steadily towards an error of exactly ε, so take ε = 0
        with it.
    fit_intercept : bool, default False
        Add a constant feature 1, which counts in the norm.
    average : bool, default False
        Predict with the mean of the weights after each example, instead of the last weights.
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 1e-3
        `fit` skips examples with a squared loss of at most `tol`, and stops when none is left
        (batch conversion, PA 2003, §4). None makes `max_iter` plain passes.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.

    Attributes
    ----------
    coef_ : array of shape (features,)
        The weights.
    intercept_ : array of shape (1,)
        The bias; 0 without `fit_intercept`.
    n_iter_ : int
        Passes made.
    n_updates_ : int
        How often the weights moved.
    online_mistakes_ : int
        Losses above 0 in all passes, each under the weights of that moment.
    online_loss_ : float
        Sum of the losses ℓ.
    online_squared_loss_ : float
        Sum of ℓ², which the theorems bound.
    online_cost_ : float
        The same as `online_mistakes_`.

    Examples
    --------
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

    @property
    def coef_(self) -> Floats:
        """The weights, float64[features]."""
        return super().coef_[0]
