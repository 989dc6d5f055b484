"""`PassiveAggressiveRegressor` as scikit-learn's users know it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.model_selection import ShuffleSplit
from sklearn.utils import check_random_state

from seqpa.core.descent import Settings
from seqpa.sklearn.base import LARGEST_SEED, Descender, example_weights


class PassiveAggressiveRegressor(RegressorMixin, Descender):
    """scikit-learn's `PassiveAggressiveRegressor`, without its deprecation.

    The intercept moves with each step but is not in the norm; on sparse input it moves by a
    hundredth.

    Parameters
    ----------
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    fit_intercept : bool, default True
        Learn an intercept.
    max_iter : int, default 1000
        Passes of `fit`, at most.
    tol : float or None, default 1e-3
        By how much the mean loss, or with `early_stopping` the score, must improve.
    early_stopping : bool, default False
        Judge passes by the score on a part of the examples that is kept aside.
    validation_fraction : float, default 0.1
        How large this part is.
    n_iter_no_change : int, default 5
        After so many passes in a row without improvement `fit` ends.
    shuffle : bool, default True
        Take another order for each pass.
    verbose : int, default 0
        Print lines about each pass.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default "epsilon_insensitive"
        PA-I or PA-II.
    epsilon : float, default 0.1
        Errors up to here cost nothing.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.
    warm_start : bool, default False
        `fit` goes on from the weights of the last `fit`.
    average : bool or int, default False
        Predict with the mean of the weights after each example; a number begins it later.

    Attributes
    ----------
    coef_ : array of shape (features,)
        The weights, of the type of the input.
    intercept_ : array of shape (1,)
        The intercept.
    n_iter_ : int
        Passes made.
    t_ : float
        1 + `n_iter_` · the number of examples, over all calls.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(n_features=4, random_state=0)
    >>> model = PassiveAggressiveRegressor(max_iter=100, random_state=0).fit(X, y)
    >>> model.coef_
    array([20.48736655, 34.18818427, 67.59122734, 87.94731329])
    """

    _losses: ClassVar[dict[str, str]] = {
        "epsilon_insensitive": "PA-I",
        "squared_epsilon_insensitive": "PA-II",
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        random_state: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.epsilon = epsilon
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average

    def _settings(self, max_iter: int) -> Settings:
        step = self._losses[self.loss]
        return Settings(**self._common(step, self.C, max_iter), epsilon=float(self.epsilon))

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> PassiveAggressiveRegressor:
        """Learn from the beginning, or with `warm_start` from the weights that are there.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
            The examples.
        y : array of shape (n,)
            Their numbers.
        coef_init : array of shape (features,) or None, default None
            The first weights.
        intercept_init : array of shape (1,) or None, default None
            The first intercept.
        sample_weight : array of shape (n,) or None, default None
            By what each example's step is multiplied.

        Returns
        -------
        PassiveAggressiveRegressor
            Itself.
        """
        self._check_parameters(one_pass=False)
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        X, y = self._checked(X, y, reset=True, y_numeric=True)
        self._begin(1, X, coef_init, intercept_init)
        self._learn(X, y, sample_weight, self.max_iter)
        self._warn_of_the_end()
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> PassiveAggressiveRegressor:
        """Go on learning, with one pass over these examples.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
            The examples.
        y : array of shape (n,)
            Their numbers.
        sample_weight : array of shape (n,) or None, default None
            By what each example's step is multiplied.

        Returns
        -------
        PassiveAggressiveRegressor
            Itself.
        """
        self._check_parameters(one_pass=True)
        first = not hasattr(self, "coef_")
        X, y = self._checked(X, y, reset=first, y_numeric=True)
        if first:
            self._begin(1, X, None, None)
        self._learn(X, y, sample_weight, 1)
        return self

    def _learn(self, X: Any, y: NDArray[Any], sample_weight: Any, max_iter: int) -> None:
        y = y.astype(X.dtype, copy=False)
        weight = example_weights(sample_weight, X.shape[0])
        held_out = self._held_out(y, weight, ShuffleSplit)
        seed = int(check_random_state(self.random_state).randint(0, LARGEST_SEED))

        def scorer(_k: int) -> Callable[[Any, float], float]:
            seen, right, share = X[held_out], y[held_out], weight[held_out]
            return lambda coef, intercept: r2_score(
                right, np.asarray(seen @ coef) + intercept, sample_weight=share
            )

        self._descend(
            X,
            [y],
            [weight],
            [seed],
            self._settings(max_iter),
            held_out,
            scorer if self.early_stopping else None,
        )
        self.coef_ = self.coef_[0]

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted number of each example.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n,)
            The numbers.
        """
        return self._scores(X).ravel()
