"""The multiplicative estimators: weights on the simplex, moved by factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seqpa.core.learner import Learner
from seqpa.core.multiplicative import MultiplicativeLearner
from seqpa.core.problems import Multiclass, Problem, Regression, Uniclass
from seqpa.estimators._base import Floats, OnlineClassifier, OnlineEstimator
from seqpa.estimators.regressor import PARegressor
from seqpa.estimators.uniclass import PAUniclass


class _Multiplicative(OnlineEstimator):
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


class MultiplicativePAClassifier(_Multiplicative, OnlineClassifier):
    """Multiplicative passive-aggressive classification (Crammer et al. 2003, §6).

    The weights of all labels together are one distribution: w_k,j >= 0, Σ w_k,j = 1. The right
    label y must beat the highest wrong one r by `margin`; where it does not, w_y,j goes up by the
    factor exp(τ x_j), w_r,j down by it, and all are divided by their sum, with ℓ = max(0, margin −
    (w_y·x − w_r·x)) and τ = 4ℓ/(2‖x‖∞)² = ℓ/‖x‖∞² (`seqpa.core.multiplicative` derives it). Two
    classes have two vectors as well: with one vector on the simplex and x >= 0, as the paper has
    it, w·x cannot be negative. Theorem 4 holds with B = max (2‖x‖∞)².

    It suits many features of which few matter: the bound grows with the logarithm of their number.

    margin         what the scores must differ by; they are at most ‖x‖∞, and for most data a
                   small part of it is all that a distribution can reach
    C, variant     "PA" is the paper's; "PA-I", "PA-II" and "PA-LS" bound τ as they do elsewhere
    fit_intercept, average, max_iter, tol, shuffle: as in `PAClassifier`

    X must not be negative (array or CSR).

    Attributes: `classes_`; `coef_` [K, features] (K = 2 for two classes) and `intercept_`;
    `n_iter_`; and the sums over all passes `online_mistakes_`, `online_loss_`,
    `online_squared_loss_`, `n_updates_`.

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


class MultiplicativePARegressor(_Multiplicative, PARegressor):
    """Multiplicative passive-aggressive regression (Crammer et al. 2003, §6).

    A prediction is a mean of the features, weighted by a distribution w: the features may be the
    predictions of experts. w_j ← w_j exp(±τ x_j)/Z where |y − w·x| > ε, with ± the sign of y − w·x,
    ℓ = |y − w·x| − ε and τ = 4ℓ/‖x‖∞². Theorem 4: Σℓ² + 2(ε − ε*)Σℓ <= ½ max‖x‖∞² D(u‖w₁).

    C, variant     "PA" is the paper's; "PA-I", "PA-II" and "PA-LS" bound τ as they do elsewhere
    fit_intercept  True adds the feature 1: one more expert
    epsilon, average, max_iter, tol, shuffle: as in `PARegressor`

    X must not be negative (array or CSR), and y lies between the features' values or is out of
    reach. Attributes: those of `PARegressor`; `coef_` and `intercept_` add up to 1.

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

    def _problem(self) -> Problem:
        return Regression(self.epsilon)


class MultiplicativePAUniclass(_Multiplicative, PAUniclass):
    """Multiplicative passive-aggressive uniclass prediction (Crammer et al. 2003, §6).

    A ball whose centre is a distribution: w_j ← w_j exp(τ v_j)/Z, v = (x − w)/‖x − w‖, where
    ‖x − w‖ > ε, with ℓ = ‖x − w‖ − ε and τ = 4ℓ/(2‖v‖∞)² = ℓ/‖v‖∞². The paper prints ℓ/8‖v‖∞², with
    which its Theorem 4 does not hold; `seqpa.core.multiplicative` has both sides. It suits examples
    that are distributions themselves: shares, counts over their sum.

    epsilon       the radius
    C, variant    "PA" is the paper's; "PA-I" and "PA-II" bound τ as they do elsewhere
    average, max_iter, tol, shuffle: as in `PAUniclass`

    X must not be negative (array or CSR; a step moves every weight in either).
    Attributes: `center_`, of the sum 1, `radius_`, and the other ones of `PAUniclass`.

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

    def _learn(self, X: Any, *, begin: bool, once: bool) -> MultiplicativePAUniclass:
        self._check_parameters()
        X = self._validate(X, reset=begin)
        self._train(X, None, C=self.C, begin=begin, once=once)
        return self

    def _problem(self) -> Problem:
        return Uniclass(self.epsilon)

    @property
    def center_(self) -> Floats:
        """The centre of the ball: a distribution."""
        return self._learner.center
