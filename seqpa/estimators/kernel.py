"""`KernelPAClassifier` and `KernelPARegressor`: linear in a kernel's space."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from seqpa.core.costs import Cost
from seqpa.core.dual import STRATEGIES, KernelLearner
from seqpa.core.kernels import NAMES, Kernel, KernelFunction
from seqpa.core.learner import OnlineLearner
from seqpa.core.problems import Problem, Regression
from seqpa.estimators._base import (
    VARIANTS,
    Floats,
    OnlineEstimator,
    Rule,
    from_zero,
    one_of,
)
from seqpa.estimators.classifier import CostClassifier


def _is_gamma(value: Any) -> bool:
    return value in ("scale", "auto") if isinstance(value, str) else from_zero(value) and value > 0


def _is_kernel(value: Any) -> bool:
    return callable(value) or (isinstance(value, str) and value in NAMES)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and int(value) >= 1


whole: Rule = (_is_whole, "a whole number, 1 or above")
KERNEL_RULES: dict[str, Rule] = {
    "kernel": (_is_kernel, f"one of {', '.join(NAMES)}, or a function of two matrices"),
    "gamma": (_is_gamma, "'scale', 'auto' or a number above 0"),
    "degree": whole,
    "coef0": (lambda value: isinstance(value, Real) and math.isfinite(value), "a number"),
    "budget": (lambda value: value is None or _is_whole(value), f"{whole[1]}, or None"),
    "budget_strategy": one_of(*STRATEGIES),
}

# The rule of a kernel that may be left out.
or_none: Rule = (
    lambda value: value is None or _is_kernel(value),
    f"None, {KERNEL_RULES['kernel'][1]}",
)


class KernelEstimator(OnlineEstimator):
    """Weights as a sum of support vectors, from the parameters of a kernel.

    gamma_           γ as it is used, a number
    support_vectors_ the examples in the sum, [m, features] (indices for a precomputed kernel)
    dual_coef_       their coefficients α, [m, 1 or K]: the score of k is Σ_i α_ik K(x_i, x)
    intercept_       the bias of each column of `dual_coef_`; zero without `fit_intercept`
    """

    kernel: str | KernelFunction | None = None
    gamma: str | float
    degree: int
    coef0: float
    _rules: ClassVar[dict[str, Rule]] = KERNEL_RULES

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _train(self, X: Any, *arguments: Any, begin: bool, **options: Any) -> None:
        if begin and self.kernel is not None:
            self.gamma_ = self._gamma(X)
        super()._train(X, *arguments, begin=begin, **options)

    def _gamma(self, X: Any) -> float:
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        spread = 1.0
        if self.gamma == "scale":
            spread = float(X.var() if isinstance(X, np.ndarray) else _variance(X))
        return 1.0 / (X.shape[1] * spread) if spread > 0.0 else 1.0

    def _kernel(self) -> Kernel:
        assert self.kernel is not None
        bias = bool(getattr(self, "fit_intercept", False))
        return Kernel(self.kernel, self.gamma_, self.degree, self.coef0, bias)

    def _geometry(self) -> Callable[..., OnlineLearner]:
        options = self.get_params(deep=False)
        ours = ("budget", "budget_strategy", "batch_size")
        chosen = {name: options[name] for name in ours if name in options}

        def make(
            problem: Problem, step: str, n_features: int, n_labels: int, **rest: Any
        ) -> OnlineLearner:
            more = {**chosen, "average": rest["average"], "start": rest["start"]}
            return KernelLearner(problem, step, n_labels, kernel=self._kernel(), **more)

        return make

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = self._validate(X, reset=False, ensure_all_finite=True)
        return np.asarray(self._learner.scores(X))

    @property
    def support_vectors_(self) -> Any:
        """The examples of which the weights are a sum."""
        return self._learner.support.vectors

    @property
    def dual_coef_(self) -> Floats:
        """The coefficient of each support vector for each label."""
        return np.asarray(self._learner.reported)

    @property
    def intercept_(self) -> Floats:
        """The bias: Σ_i of the coefficients, where there is one."""
        coef = self.dual_coef_
        return coef.sum(axis=0) if self._learner.kernel.bias else np.zeros(coef.shape[1])


class KernelPAClassifier(CostClassifier, KernelEstimator):
    """Passive-aggressive classification in a kernel's space (Crammer et al. 2006, §3, 7, 8).

    The weights are a sum of examples, w_k = Σ_i α_ik φ(x_i), and only inner products K(x_i, x) are
    needed: the steps are those of `PAClassifier` (Eq. 3, 8, 41, 49), with K(x, x) for ‖x‖². Every
    example that moves the weights becomes a support vector, or, with a `budget`, takes the place
    of another.

    kernel           "linear", "poly", "rbf", "precomputed", or a function (A, B) -> [rows of A,
                     rows of B]. Precomputed: learn from the square array K(x_i, x_j), the same
                     examples in every call; predict from K(x, x_j), all training examples j
    gamma            γ of "poly" and "rbf": a number; "scale", 1/(features · variance of the first
                     X); "auto", 1/features
    degree, coef0    of "poly", (γ x·z + coef0)^degree
    budget           None, or the highest number of support vectors at any time
    budget_strategy  who leaves: the "oldest", the "smallest" (in its part of w), or "project", the
                     one that the others can replace best, and they do, as far as they can: slower,
                     and 8·budget² bytes more, but little is lost
    variant          as in `PAClassifier`, and "perceptron": the kernel perceptron, w ← w + δ after
                     a mistake; averaged with average=True
    fit_intercept    True adds 1 to every inner product: a constant feature, inside the norm
    average          True predicts with the mean of the weights after each example; not with a
                     budget
    C, margin, cost, update, max_iter, tol, shuffle, class_weight: as in `PAClassifier`

    Attributes: `classes_`; `support_vectors_`, `dual_coef_` [m, 1 or K], `intercept_`, `gamma_`;
    `n_iter_`; and the sums over all passes `online_mistakes_`, `online_loss_`,
    `online_squared_loss_`, `online_cost_`, `n_updates_`.

    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> model = KernelPAClassifier("rbf", gamma=0.1, max_iter=3, random_state=1)
    >>> round(model.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]), 3), len(model.dual_coef_)
    (0.938, 689)
    >>> small = KernelPAClassifier("rbf", gamma=0.1, max_iter=3, random_state=1, budget=100,
    ...                            budget_strategy="project")
    >>> round(small.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]), 3), len(small.dual_coef_)
    (0.93, 100)
    """

    _rules: ClassVar[dict[str, Rule]] = {
        **KERNEL_RULES,
        "variant": one_of(*VARIANTS, "perceptron"),
    }

    def __init__(
        self,
        kernel: str | KernelFunction = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        budget: int | None = None,
        budget_strategy: str = "oldest",
        C: float = 1.0,
        variant: str = "PA-I",
        margin: float = 1.0,
        cost: Cost | None = None,
        update: str = "prediction-based",
        fit_intercept: bool = False,
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.budget_strategy = budget_strategy
        self.C = C
        self.variant = variant
        self.margin = margin
        self.cost = cost
        self.update = update
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.class_weight = class_weight


class KernelPARegressor(RegressorMixin, KernelEstimator):
    """Passive-aggressive regression in a kernel's space (Crammer et al. 2006, §3 and 5, Eq. 19).

    w ← w + sign(y − w·φ(x)) τ φ(x), with τ as in `PARegressor` and K(x, x) for ‖x‖².

    epsilon  errors up to here cost nothing
    kernel, gamma, degree, coef0, budget, budget_strategy, fit_intercept, average: as in
    `KernelPAClassifier`; C, variant, max_iter, tol, shuffle: as in `PARegressor`

    Attributes: `support_vectors_`, `dual_coef_` [m, 1], `intercept_`, `gamma_`; `n_iter_`; and the
    sums over all passes `online_mistakes_` (losses above 0), `online_loss_`,
    `online_squared_loss_`, `n_updates_`.

    >>> rng = np.random.default_rng(3)
    >>> X = rng.uniform(-3, 3, (400, 2))
    >>> y = np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=400)
    >>> model = KernelPARegressor("rbf", gamma=0.5, variant="PA-II", random_state=1)
    >>> round(model.fit(X[:300], y[:300]).score(X[300:], y[300:]), 2)
    0.99
    """

    def __init__(
        self,
        kernel: str | KernelFunction = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        budget: int | None = None,
        budget_strategy: str = "oldest",
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
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.budget_strategy = budget_strategy
        self.epsilon = epsilon
        self.C = C
        self.variant = variant
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> KernelPARegressor:
        """Learn from the beginning: up to `max_iter` passes over X [n, features] and y [n]."""
        return self._learn(X, y, begin=True, once=False)

    def partial_fit(self, X: Any, y: Any) -> KernelPARegressor:
        """Go on learning: one pass over the examples in the given order."""
        return self._learn(X, y, begin=self._first(), once=True)

    def _learn(self, X: Any, y: Any, *, begin: bool, once: bool) -> KernelPARegressor:
        self._check_parameters()
        X, y = self._validate(X, y, reset=begin, y_numeric=True)
        target = np.asarray(y, dtype=np.float64)
        self._train(X, target, C=self.C, begin=begin, once=once)
        return self

    def _problem(self) -> Problem:
        return Regression(self.epsilon)

    def predict(self, X: Any) -> Floats:
        """w·φ(x)."""
        return self._scores(X)[:, 0]


def _variance(X: Any) -> float:
    """Of all entries of a CSR matrix, the zeros included."""
    return float(X.power(2).mean() - X.mean() ** 2)
