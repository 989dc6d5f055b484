"""`HingeClassifier`: subgradient descent on the hinge loss, batch and stochastic."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from seqpa.core.hinge import HingeLearner
from seqpa.core.learner import Learner
from seqpa.core.problems import Problem
from seqpa.errors import SeqpaError
from seqpa.estimators._asking import Asking
from seqpa.estimators._labels import OnlineClassifier, ThroughOrigin, WeightedClassifier
from seqpa.estimators._parameters import RULES, Rule, one_of


class HingeClassifier(Asking, ThroughOrigin, WeightedClassifier, OnlineClassifier):
    """Subgradient descent on the regularised hinge loss (Perceptron notes, slides 15-24).

    It minimises::

        ½λ‖w‖² + 1/N Σ_j max(0, margin − y_j w·x_j)

    "stochastic" takes a step after each example, w ← (1 − ηλ)w + η[y w·x <= margin] y x; "batch"
    one step for each pass, with the mean of these over all examples. With margin = 0, step_size = 1
    and regularization = 0 the stochastic form is the perceptron, with margin = 1 and λ > 0 a linear
    support vector machine with a constant step. Three or more classes have a weight vector each;
    the loss is that of the highest wrong label.

    Parameters
    ----------
    method : {"stochastic", "batch"}, default "stochastic"
        A step for each example, or one for each pass.
    step_size : float, default 0.1
        η.
    regularization : float, default 0.0
        λ; ηλ must stay below 1.
    margin : float, default 1.0
        1 as in support vector machines, 0 as in the slides.
    fit_intercept : bool, default False
        Add a constant feature 1, which is regularised too.
    average : bool, default False
        Predict with the mean of the weights after each example, or after each pass of "batch".
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 0.0
        `fit` skips examples with a squared loss of at most `tol`, and stops after a pass in which
        none took a step. None makes `max_iter` plain passes.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    coef_ : array of shape (1 or K, features)
        The weights; one row for two classes.
    intercept_ : array of shape (1 or K,)
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
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = HingeClassifier(step_size=0.01, regularization=0.01, random_state=1)
    >>> round(model.fit(X[:400], y[:400]).score(X[400:], y[400:]), 2)
    0.97
    >>> model = HingeClassifier("batch", step_size=0.1, max_iter=300)
    >>> round(model.fit(X[:400], y[:400]).score(X[400:], y[400:]), 2)
    0.97
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "method": one_of("stochastic", "batch"),
        "step_size": RULES["C"],
        "regularization": RULES["epsilon"],
        "margin": RULES["epsilon"],
    }

    def __init__(
        self,
        method: str = "stochastic",
        step_size: float = 0.1,
        regularization: float = 0.0,
        margin: float = 1.0,
        fit_intercept: bool = False,
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 0.0,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.step_size = step_size
        self.regularization = regularization
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.step_size * self.regularization >= 1.0:
            raise SeqpaError(
                f"step_size={self.step_size} times regularization={self.regularization} must stay "
                "below 1, or a step would turn all weights around"
            )

    def _step(self) -> str:
        return "perceptron"

    def _uses_C(self) -> bool:
        return True  # its steps are η·C, with a C of 1 for the weight 1

    def _geometry(self) -> Callable[..., Learner]:
        return partial(
            HingeLearner,
            eta=self.step_size,
            lam=self.regularization,
            batch=self.method == "batch",
        )

    def _problem(self) -> Problem:
        return self._labels_apart(self.margin)
