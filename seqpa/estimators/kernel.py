"""`KernelPAClassifier` and `KernelPARegressor`: linear in a kernel's space."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seqpa.core.costs import Cost
from seqpa.core.dual import STRATEGIES, KernelLearner
from seqpa.core.kernels import NAMES, Kernel, KernelFunction
from seqpa.core.learner import OnlineLearner
from seqpa.core.problems import Problem
from seqpa.estimators._asking import Asking
from seqpa.estimators._base import Floats, OnlineEstimator
from seqpa.estimators._labels import WeightedClassifier
from seqpa.estimators._parameters import VARIANTS, WHOLE, Rule, above_zero, is_whole, one_of
from seqpa.estimators.classifier import CostClassifier
from seqpa.estimators.regressor import OnlineRegressor


def _is_gamma(value: Any) -> bool:
    return value in ("scale", "auto") if isinstance(value, str) else above_zero(value)


def _is_kernel(value: Any) -> bool:
    return callable(value) or (isinstance(value, str) and value in NAMES)


KERNEL_RULES: dict[str, Rule] = {
    "kernel": (_is_kernel, f"one of {', '.join(NAMES)}, or a function of two matrices"),
    "gamma": (_is_gamma, "'scale', 'auto' or a number above 0"),
    "degree": WHOLE,
    "coef0": (lambda value: isinstance(value, Real) and math.isfinite(value), "a number"),
    "budget": (lambda value: value is None or is_whole(value), f"{WHOLE[1]}, or None"),
    "budget_strategy": one_of(*STRATEGIES),
}

# For estimators that also work without a kernel.
KERNEL_OR_NONE: Rule = (
    lambda value: value is None or _is_kernel(value),
    f"None, {KERNEL_RULES['kernel'][1]}",
)


class KernelEstimator(OnlineEstimator):
    """Weights as a sum of support vectors, from the parameters of a kernel.

    Attributes
    ----------
    support_vectors_ : array or CSR matrix of shape (m, features)
        The examples of which the weights are a sum; indices for a precomputed kernel.
    dual_coef_ : array of shape (m, 1 or K)
        Their coefficients α: the score of label k is Σ_i α_ik K(x_i, x).
    intercept_ : array of shape (1 or K,)
        The bias of each column of `dual_coef_`; 0 without `fit_intercept`.
    gamma_ : float
        γ as it is used.
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

    def _prepare(self, X: Any) -> None:
        """What the kernel takes from the first examples."""
        if self.kernel is not None:
            self.gamma_ = self._gamma(X)

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
        ours = ("budget", "budget_strategy", "batch_size", "overlapping")
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


class KernelPAClassifier(Asking, WeightedClassifier, CostClassifier, KernelEstimator):
    """Passive-aggressive classification in a kernel's space (PA 2006, §§3, 7, 8).

    The weights are a sum of examples, w_k = Σ_i α_ik φ(x_i), and only inner products K(x_i, x) are
    needed: the steps are those of `PAClassifier` (PA 2006, Eq. 3, 8, 41, 49), with K(x, x) for
    ‖x‖². Every example that moves the weights becomes a support vector; with a `budget`, it may
    replace another.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "precomputed"} or function, default "rbf"
        K(x, z), by name or as a function (A, B) -> array [rows of A, rows of B]. With "precomputed"
        learn from the square array K(x_i, x_j), the same examples in every call, and predict from
        K(x, x_j) with all training examples j.
    gamma : "scale", "auto" or float, default "scale"
        γ of "poly" and "rbf". "scale" is 1/(features · variance of the first X), "auto" 1/features.
    degree : int, default 3
        Degree of "poly".
    coef0 : float, default 0.0
        Constant of "poly", (γ x·z + coef0)^degree.
    budget : int or None, default None
        The highest number of support vectors at any time; None for no limit.
    budget_strategy : {"oldest", "smallest", "project"}, default "oldest"
        Which support vector leaves: the oldest, the one with the smallest part in w, or the one
        that the others can replace best. With "project" the others take over what they can; it is
        slower and needs 8·budget² more bytes, but loses little.
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    variant : {"PA", "PA-I", "PA-II", "PA-LS", "perceptron"}, default "PA-I"
        As in `PAClassifier`; "perceptron" is the kernel perceptron, w ← w + δ after a mistake.
    margin : float, default 1.0
        By how much a right prediction must win; 1 in PA 2006.
    cost : Hierarchy, dict, array, function or None, default None
        ρ, what each mistake costs: a `Hierarchy`; a table {right: {predicted: cost}} or
        {(right, predicted): cost}; a square array in the order of `classes_`; or a function of two
        labels. None counts mistakes.
    update : {"prediction-based", "max-loss"}, default "prediction-based"
        With a cost, the label that the right one is compared with.
    fit_intercept : bool, default False
        Add 1 to every inner product: a constant feature, which counts in the norm.
    average : bool, default False
        Predict with the mean of the weights after each example; not possible with a budget.
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 1e-3
        `fit` skips examples with a squared loss of at most `tol`, and stops when none is left
        (batch conversion, PA 2003, §4). None makes `max_iter` plain passes.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.
    class_weight : dict, "balanced" or None, default None
        Factors of C: {class: factor}, or "balanced", inversely to the classes' frequencies. An
        example's C holds for all labels that it moves.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    support_vectors_ : array or CSR matrix of shape (m, features)
        The examples of which the weights are a sum; indices for a precomputed kernel.
    dual_coef_ : array of shape (m, 1 or K)
        Their coefficients α: the score of label k is Σ_i α_ik K(x_i, x).
    intercept_ : array of shape (1 or K,)
        The bias of each column of `dual_coef_`; 0 without `fit_intercept`.
    gamma_ : float
        γ as it is used.
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


class KernelPARegressor(OnlineRegressor, KernelEstimator):
    """Passive-aggressive regression in a kernel's space (PA 2006, §§3, 5, Eq. 19).

    w ← w + sign(y − w·φ(x)) τ φ(x), with τ as in `PARegressor` and K(x, x) for ‖x‖².

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "precomputed"} or function, default "rbf"
        K(x, z), by name or as a function (A, B) -> array [rows of A, rows of B]. With "precomputed"
        learn from the square array K(x_i, x_j), the same examples in every call, and predict from
        K(x, x_j) with all training examples j.
    gamma : "scale", "auto" or float, default "scale"
        γ of "poly" and "rbf". "scale" is 1/(features · variance of the first X), "auto" 1/features.
    degree : int, default 3
        Degree of "poly".
    coef0 : float, default 0.0
        Constant of "poly", (γ x·z + coef0)^degree.
    budget : int or None, default None
        The highest number of support vectors at any time; None for no limit.
    budget_strategy : {"oldest", "smallest", "project"}, default "oldest"
        Which support vector leaves: the oldest, the one with the smallest part in w, or the one
        that the others can replace best. With "project" the others take over what they can; it is
        slower and needs 8·budget² more bytes, but loses little.
    epsilon : float, default 0.1
        Errors up to here cost nothing.
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    variant : {"PA", "PA-I", "PA-II", "PA-LS"}, default "PA-I"
        How far a step goes: "PA" all the way (PA 2006, Eq. 3), "PA-I" at most C, "PA-II" shortened
        by 1/2C (both Eq. 8), "PA-LS" least squares (Mini-batch PA, Eq. 9). "PA" does not use C.
    fit_intercept : bool, default False
        Add 1 to every inner product: a constant feature, which counts in the norm.
    average : bool, default False
        Predict with the mean of the weights after each example; not possible with a budget.
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
    support_vectors_ : array or CSR matrix of shape (m, features)
        The examples of which the weights are a sum; indices for a precomputed kernel.
    dual_coef_ : array of shape (m, 1 or K)
        Their coefficients α: the score of label k is Σ_i α_ik K(x_i, x).
    intercept_ : array of shape (1 or K,)
        The bias of each column of `dual_coef_`; 0 without `fit_intercept`.
    gamma_ : float
        γ as it is used.
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


def _variance(X: Any) -> float:
    """Of all entries of a CSR matrix, the zeros included."""
    return float(X.power(2).mean() - X.mean() ** 2)
