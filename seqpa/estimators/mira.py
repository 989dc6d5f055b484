"""`MIRAClassifier`: the exact multiclass update, all wrong labels at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from seqpa.core.learner import Learner
from seqpa.core.mira import PrototypeLearner
from seqpa.core.problems import Multiclass, Problem
from seqpa.estimators._asking import Asking
from seqpa.estimators._labels import OnlineClassifier, ThroughOrigin, WeightedClassifier
from seqpa.estimators._parameters import Rule, one_of


class MIRAClassifier(Asking, ThroughOrigin, WeightedClassifier, OnlineClassifier):
    """The Margin Infused Relaxed Algorithm (MIRA 2003).

    A weight vector for each label. An example moves them as little as it can to make its label
    beat every other one by `margin`::

        min ½‖W − W_t‖² + Cξ   s.t.   w_y·x − w_r·x >= margin − ξ   for all r ≠ y

    where `PAClassifier` looks at the highest wrong label only. The solution is w_r += τ_r x with Σ
    τ = 0, τ_r <= 0 for r ≠ y and τ_y <= C, found exactly, as a projection onto the simplex. This is
    the programme of MIRA 2003, min ½Σ‖w_r + τ_r x‖² under τ_r <= [r = y], with C = 1 and their
    margin parameter β (`seqpa.core.mira` shows why). PA 2006, §10.3 compares with β = 0.01,
    Ellipsoid with a margin of 0.1. For two classes it is PA-I, and with variant="PA" the PA of PA
    2006, as that paper says.

    Bounds: PA 2006, Theorems 2, 4 and 5 hold for the variants "PA", "PA-I" and "PA-II".

    Parameters
    ----------
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    variant : {"PA", "PA-I", "PA-II"}, default "PA-I"
        "PA-I" is the programme above; "PA" has no ξ, "PA-II" pays Cξ².
    margin : float, default 1.0
        β of MIRA 2003.
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
    class_weight : dict, "balanced" or None, default None
        Factors of C: {class: factor}, or "balanced", inversely to the classes' frequencies. An
        example's C holds for all labels that it moves.

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
    >>> model = MIRAClassifier(C=0.001, average=True, max_iter=5, random_state=1)
    >>> round(model.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]), 2)
    0.92
    """

    _rules: ClassVar[dict[str, Rule]] = {"variant": one_of("PA", "PA-I", "PA-II")}

    def __init__(
        self,
        C: float = 1.0,
        variant: str = "PA-I",
        margin: float = 1.0,
        fit_intercept: bool = False,
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 1e-6,
        shuffle: bool = True,
        random_state: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> None:
        self.C = C
        self.variant = variant
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.class_weight = class_weight

    def _geometry(self) -> Callable[..., Learner]:
        return partial(PrototypeLearner, rule="all")

    def _by_label(self) -> bool:
        return True

    def _problem(self) -> Problem:
        return Multiclass(self.margin)
