"""The multiplicative estimators: weights on the simplex, moved by factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from seqpa.core.learner import Learner
from seqpa.core.multiplicative import MultiplicativeLearner
from seqpa.core.problems import Multiclass, Problem, Uniclass
from seqpa.estimators._asking import Asking
from seqpa.estimators._base import OnlineEstimator
from seqpa.estimators._labels import OnlineClassifier
from seqpa.estimators.regressor import PARegressor
from seqpa.estimators.uniclass import PAUniclass

if TYPE_CHECKING:
    from typing_extensions import Self


class MultiplicativeEstimator(OnlineEstimator):
    """What the three share: the geometry, and input that must not be negative."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        # scikit-learn's checks ask for weights of both signs and any size.
        if tags.classifier_tags is not None:
            tags.classifier_tags.poor_score = True
        if tags.regressor_tags is not None:
            tags.regressor_tags.poor_score = True
        return tags

    def _geometry(self) -> Callable[..., Learner]:
        return MultiplicativeLearner


class MultiplicativePAClassifier(Asking, MultiplicativeEstimator, OnlineClassifier):
    """Multiplicative passive-aggressive classification (PA 2003, §6).

    The weights of all labels together are one distribution: w_k,j >= 0, Σ w_k,j = 1. The right
    label y must beat the highest wrong one r by `margin`; where it does not, w_y,j goes up by the
    factor exp(τ x_j), w_r,j down by it, and all are divided by their sum, with
    ℓ = max(0, margin − (w_y·x − w_r·x)) and τ = 4ℓ/(2‖x‖∞)² = ℓ/‖x‖∞² (`seqpa.core.multiplicative`
    derives it). Two classes have two vectors as well: with one vector on the simplex and x >= 0, as
    PA 2003 has it, w·x cannot be negative. PA 2003, Theorem 4 holds with B = max (2‖x‖∞)².

    It suits many features of which few matter: the bound grows with the logarithm of their number.
    X must not be negative.

    Parameters
    ----------
    margin : float, default 0.01
        What the scores must differ by. They are at most ‖x‖∞, and for most data a distribution can
        reach only a small part of it.
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    variant : {"PA", "PA-I", "PA-II", "PA-LS"}, default "PA"
        "PA" is the step of PA 2003; the others limit τ as in `PAClassifier`.
    fit_intercept : bool, default False
        Add a constant feature 1, which counts in the norm.
    average : bool, default False
        Predict with the mean of the weights after each example, instead of the last weights.
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 1e-6
        `fit` skips examples with a squared loss of at most `tol`, and stops when none is left
        (batch conversion, PA 2003, §4). None makes `max_iter` plain passes.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    coef_ : array of shape (K, features)
        The weights, also for two classes a row for each.
    intercept_ : array of shape (K,)
        The bias of each row; 0 without `fit_intercept`.
    n_iter_ : int
        Passes made.
    n_updates_ : int
        How often the weights moved.
    online_mistakes_ : int
        Wrong predictions in all passes, each by the weights of that moment.
    online_loss_ : float
        Sum of the losses ℓ.
    online_squared_loss_ : float
        Sum of ℓ², which the theorems bound.
    online_cost_ : float
        Sum of the costs ρ; without a cost the number of mistakes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = MultiplicativePAClassifier(average=True, random_state=1)
    >>> round(model.fit(X[:1200] / 16, y[:1200]).score(X[1200:] / 16, y[1200:]), 2)
    0.91
    >>> round(float(model.coef_.sum()), 6)
    1.0
    """

    def __init__(
        self,
        margin: float = 0.01,
        C: float = 1.0,
        variant: str = "PA",
        fit_intercept: bool = False,
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 1e-6,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.margin = margin
        self.C = C
        self.variant = variant
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state

    def _by_label(self) -> bool:
        return True

    def _problem(self) -> Problem:
        return Multiclass(self.margin)


class MultiplicativePARegressor(MultiplicativeEstimator, PARegressor):
    """Multiplicative passive-aggressive regression (PA 2003, §6).

    A prediction is a mean of the features, weighted by a distribution w: the features may be the
    predictions of experts. w_j ← w_j exp(±τ x_j)/Z where |y − w·x| > ε, with ± the sign of y − w·x,
    ℓ = |y − w·x| − ε and τ = 4ℓ/‖x‖∞². The bound is PA 2003, Theorem 4:
    Σℓ² + 2(ε − ε*)Σℓ <= ½ max‖x‖∞² D(u‖w₁).

    X must not be negative, and a y outside the range of the features' values is out of reach.

    Parameters
    ----------
    epsilon : float, default 0.1
        Errors up to here cost nothing.
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    variant : {"PA", "PA-I", "PA-II", "PA-LS"}, default "PA"
        "PA" is the step of PA 2003; the others limit τ as in `PARegressor`.
    fit_intercept : bool, default False
        Add the feature 1: one more expert.
    average : bool, default False
        Predict with the mean of the weights after each example, instead of the last weights.
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 1e-5
        `fit` skips examples with a squared loss of at most `tol`, and stops when none is left
        (batch conversion, PA 2003, §4). None makes `max_iter` plain passes.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.

    Attributes
    ----------
    coef_ : array of shape (features,)
        The weights; with `intercept_` they add up to 1.
    intercept_ : array of shape (1,)
        The bias; 0 without `fit_intercept`.
    n_iter_ : int
        Passes made.
    n_updates_ : int
        How often the weights moved.
    online_mistakes_ : int
        Wrong predictions in all passes, each by the weights of that moment.
    online_loss_ : float
        Sum of the losses ℓ.
    online_squared_loss_ : float
        Sum of ℓ², which the theorems bound.
    online_cost_ : float
        Sum of the costs ρ; without a cost the number of mistakes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(3)
    >>> experts = rng.uniform(0, 5, (400, 50))
    >>> truth = 0.7 * experts[:, 3] + 0.3 * experts[:, 8]
    >>> model = MultiplicativePARegressor(epsilon=0.05, random_state=1)
    >>> round(model.fit(experts[:300], truth[:300]).score(experts[300:], truth[300:]), 3)
    0.999
    >>> model.coef_[[3, 8]].round(2)
    array([0.69, 0.29])
    """

    def __init__(
        self,
        epsilon: float = 0.1,
        C: float = 1.0,
        variant: str = "PA",
        fit_intercept: bool = False,
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 1e-5,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            epsilon, C, variant, fit_intercept, average, max_iter, tol, shuffle, random_state
        )

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]  # "PA" has no C to weigh
        """Learn from the beginning, in up to `max_iter` passes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : array of shape (n,)
            Their numbers.

        Returns
        -------
        self
            The estimator.
        """
        return super().fit(X, y)

    def partial_fit(  # type: ignore[override]  # "PA" has no C to weigh
        self, X: Any, y: Any
    ) -> Self:
        """Go on learning: one pass over the examples in the given order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : array of shape (n,)
            Their numbers.

        Returns
        -------
        self
            The estimator.
        """
        return super().partial_fit(X, y)


class MultiplicativePAUniclass(MultiplicativeEstimator, PAUniclass):
    """Multiplicative passive-aggressive uniclass prediction (PA 2003, §6).

    A ball whose centre is a distribution: w_j ← w_j exp(τ v_j)/Z, v = (x − w)/‖x − w‖, where
    ‖x − w‖ > ε, with ℓ = ‖x − w‖ − ε and τ = 4ℓ/(2‖v‖∞)² = ℓ/‖v‖∞². PA 2003 prints ℓ/8‖v‖∞², with
    which its Theorem 4 does not hold; `seqpa.core.multiplicative` has both sides. It suits examples
    that are distributions themselves: shares, counts over their sum. X must not be negative.

    Parameters
    ----------
    epsilon : float, default 1.0
        The radius.
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    variant : {"PA", "PA-I", "PA-II"}, default "PA"
        "PA" is the step of PA 2003; the others limit τ as in `PAUniclass`.
    average : bool, default False
        Report the mean of the centres after each example.
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 0.0
        `fit` skips examples with a squared loss of at most `tol`, and stops when none is left
        (batch conversion, PA 2003, §4). None makes `max_iter` plain passes.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.

    Attributes
    ----------
    center_ : array of shape (features,)
        The centre of the ball: a distribution.
    radius_ : float
        The radius.
    offset_ : float
        −radius_: what `decision_function` subtracts.
    n_iter_ : int
        Passes made.
    n_updates_ : int
        How often the weights moved.
    online_mistakes_ : int
        Wrong predictions in all passes, each by the weights of that moment.
    online_loss_ : float
        Sum of the losses ℓ.
    online_squared_loss_ : float
        Sum of ℓ², which the theorems bound.
    online_cost_ : float
        Sum of the costs ρ; without a cost the number of mistakes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(5)
    >>> inside, outside = rng.dirichlet([8, 3, 1, 1], 200), rng.dirichlet([1, 1, 3, 8], 50)
    >>> ball = MultiplicativePAUniclass(epsilon=0.3, average=True, random_state=0).fit(inside)
    >>> ball.center_.round(2)
    array([0.57, 0.27, 0.07, 0.09])
    >>> float((ball.predict(inside) == 1).mean()), float((ball.predict(outside) == -1).mean())
    (0.905, 1.0)
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        C: float = 1.0,
        variant: str = "PA",
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 0.0,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.C = C
        self.variant = variant
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]  # "PA" has no C to weigh
        """Learn from the beginning, in up to `max_iter` passes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : object, default None
            Not used.

        Returns
        -------
        self
            The estimator.
        """
        return super().fit(X, y)

    def partial_fit(  # type: ignore[override]  # "PA" has no C to weigh
        self, X: Any, y: Any = None
    ) -> Self:
        """Go on learning: one pass over the examples in the given order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : object, default None
            Not used.

        Returns
        -------
        self
            The estimator.
        """
        return super().partial_fit(X, y)

    def _problem(self) -> Problem:
        return Uniclass(self.epsilon)
