"""`PAUniclass`: a ball around the data, for finding outliers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from seqpa.core.examples import Examples
from seqpa.core.kernels import KernelFunction
from seqpa.core.learner import Learner, OnlineLearner
from seqpa.core.problems import Problem, Uniclass
from seqpa.estimators._base import Floats
from seqpa.estimators._one import OneByOne
from seqpa.estimators._parameters import Rule
from seqpa.estimators.kernel import KERNEL_OR_NONE, KERNEL_RULES, KernelEstimator

if TYPE_CHECKING:
    from typing_extensions import Self


class PAUniclass(OutlierMixin, OneByOne, KernelEstimator):
    """Passive-aggressive uniclass prediction (PA 2006, §6, Eq. 21-32).

    The centre moves straight towards an example until it lies within the radius (PA 2006, Eq. 24):
    w ← w + τ (x − w)/‖x − w‖, with ℓ = max(0, ‖x − w‖ − ε); τ = ℓ for PA, min(C, ℓ) for PA-I,
    ℓ/(1 + 1/2C) for PA-II. With `learn_radius` the radius is one more coordinate of the centre
    (Eq. 31, 32): it starts at 0 and only grows.

    With a `kernel` the ball lies in the kernel's space, ‖φ(x) − w‖² = K(x, x) − 2 w·φ(x) + ‖w‖²,
    and can have any shape among the examples. For "rbf" all φ(x) have length 1, so take a radius
    below 1. There is no `center_` then, but `support_vectors_` and `dual_coef_`.

    Parameters
    ----------
    epsilon : float, default 1.0
        The radius, where it is fixed.
    learn_radius : bool, default False
        Learn the radius; epsilon is then not used.
    max_radius : float, default 100.0
        B, the highest radius that can be learned, far above any that you expect. The higher it is,
        the more the radius grows while the centre stays, so start the centre in the right place:
        init="first".
    init : {"zero", "first"}, default "zero"
        Where the centre starts: at zero (PA 2006), or at the first example (PA 2003, Fig. 1).
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    variant : {"PA", "PA-I", "PA-II", "PA-LS"}, default "PA-I"
        As in `PAClassifier`.
    average : bool, default False
        Report the mean of the balls after each example.
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 0.0
        `fit` skips examples with a squared loss of at most `tol`. The default is 0 because the
        losses of a learned radius, about (d² − ε²)/2B, are small numbers.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.
    kernel : {"linear", "poly", "rbf"}, function or None, default None
        None for a ball around the examples themselves; otherwise as in `KernelPAClassifier`.
    gamma : "scale", "auto" or float, default "scale"
        γ of "poly" and "rbf". "scale" is 1/(features · variance of the first X), "auto" 1/features.
    degree : int, default 3
        Degree of "poly".
    coef0 : float, default 0.0
        Constant of "poly", (γ x·z + coef0)^degree.

    Attributes
    ----------
    center_ : array of shape (features,)
        The centre; without a kernel only.
    radius_ : float
        The radius, given or learned.
    offset_ : float
        −radius_: what `decision_function` subtracts.
    support_vectors_ : array or CSR matrix of shape (m, features)
        With a kernel, the examples of which the centre is a sum.
    dual_coef_ : array of shape (m, 1)
        With a kernel, their coefficients.
    n_iter_ : int
        Passes made.
    n_updates_ : int
        How often the centre moved.
    online_mistakes_ : int
        Examples outside the ball of that moment, in all passes.
    online_loss_ : float
        Sum of the losses ℓ.
    online_squared_loss_ : float
        Sum of ℓ², which the theorems bound.
    online_cost_ : float
        The same as `online_mistakes_`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(5)
    >>> inside, outside = rng.normal([3, -2], 0.5, (200, 2)), rng.normal([0, 2], 0.5, (50, 2))
    >>> ball = PAUniclass(epsilon=1.5, init="first", average=True, random_state=0).fit(inside)
    >>> ball.center_.round(1), ball.radius_
    (array([ 2.9, -2.1]), 1.5)
    >>> float((ball.predict(inside) == 1).mean()), float((ball.predict(outside) == -1).mean())
    (0.99, 1.0)
    >>> ball = PAUniclass(learn_radius=True, init="first", random_state=0).fit(inside)
    >>> round(ball.radius_, 1), float((ball.predict(outside) == -1).mean())
    (2.0, 1.0)
    >>> angle = rng.uniform(0, 2 * np.pi, (200, 1))
    >>> ring = np.hstack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.05, (200, 2))
    >>> hole = PAUniclass(epsilon=0.92, kernel="rbf", gamma=3.0, average=True, random_state=0)
    >>> hole.fit(ring).predict([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    array([-1,  1, -1])
    """

    _rules: ClassVar[dict[str, Rule]] = {**KERNEL_RULES, "kernel": KERNEL_OR_NONE}

    def __init__(
        self,
        epsilon: float = 1.0,
        learn_radius: bool = False,
        max_radius: float = 100.0,
        init: str = "zero",
        C: float = 1.0,
        variant: str = "PA-I",
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 0.0,
        shuffle: bool = True,
        random_state: Any = None,
        kernel: str | KernelFunction | None = None,
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
    ) -> None:
        self.epsilon = epsilon
        self.learn_radius = learn_radius
        self.max_radius = max_radius
        self.init = init
        self.C = C
        self.variant = variant
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the beginning, in up to `max_iter` passes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : object, default None
            Not used.
        sample_weight : array of shape (n,) or None, default None
            Factors of C; an example of the weight 0 is left out. None is 1 for all.

        Returns
        -------
        self
            The estimator.
        """
        return self._learn(X, begin=True, once=False, sample_weight=sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning: one pass over the examples in the given order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : object, default None
            Not used.
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
        return self._learn(X, begin=begin, once=True, sample_weight=sample_weight)

    def _learn(self, X: Any, *, begin: bool, once: bool, sample_weight: Any) -> Self:
        self._check_parameters()
        X = self._validate(X, reset=begin)
        X, _, weight = self._weighed(X, None, sample_weight)
        if begin:
            self._columns, self._named = None, False
        C = self.C if weight is None else self.C * weight
        start = self._start(X[:1]) if begin else None
        self._train(X, None, C=C, begin=begin, once=once, start=start)
        return self

    def _start(self, first: Any) -> Any:
        if first is None or self._option("init") != "first":
            return None
        return first.toarray() if self.kernel is None and hasattr(first, "toarray") else first

    def learn_one(self, x: Mapping[Any, Any]) -> None:
        """Learn from one example, a dict of named features.

        Every step moves the whole centre, so it takes as long as there are features.

        Parameters
        ----------
        x : dict
            Feature -> number. Features that are missing are 0; new ones are taken up.

        Examples
        --------
        >>> ball = PAUniclass(epsilon=1.0, init="first")
        >>> for width in 4.0, 5.0, 4.5:
        ...     ball.learn_one({"width": width})
        >>> ball.predict_one({"width": 4.2}), ball.predict_one({"width": 9.0})
        (1, -1)
        >>> round(ball.score_one({"width": 9.0}), 2)
        4.0
        """
        self._learn_named(x, None, self.C)

    def score_one(self, x: Mapping[Any, Any]) -> float:
        """How far outside the ball one example lies, a dict of named features.

        Parameters
        ----------
        x : dict
            Feature -> number. A feature that was never learned from counts in the distance.

        Returns
        -------
        float
            Distance minus radius: the higher, the less normal; 0 before anything was learned.
        """
        if self._first():
            return 0.0
        known = self._known()
        beyond = sum(float(value) ** 2 for name, value in x.items() if name not in known)
        score = -float(self.score_samples(self._as_row(x, learn=False))[0])
        if self.kernel is None:
            score = math.hypot(score, math.sqrt(beyond))
        return score - self.radius_

    def predict_one(self, x: Mapping[Any, Any]) -> int:
        """Whether one example, a dict of named features, lies inside the ball.

        Parameters
        ----------
        x : dict
            Feature -> number.

        Returns
        -------
        int
            +1 inside, −1 outside; +1 before anything was learned.
        """
        return 1 if self.score_one(x) <= 0.0 else -1

    def _problem(self) -> Problem:
        return Uniclass(self.epsilon, self.max_radius if self.learn_radius else None)

    def _geometry(self) -> Callable[..., OnlineLearner]:
        return Learner if self.kernel is None else super()._geometry()

    @property
    def center_(self) -> Floats:
        """The centre of the ball."""
        if self.kernel is not None:
            raise AttributeError("a centre in a kernel's space is not listed; see dual_coef_")
        return self._learner.center

    @property
    def radius_(self) -> float:
        """The radius of the ball."""
        return self._learner.radius

    @property
    def offset_(self) -> float:
        """`decision_function` is `score_samples` minus this."""
        return -self.radius_

    def score_samples(self, X: Any) -> Floats:
        """How normal each example is: −‖x − centre‖.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n,)
            The higher, the more normal.
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False, ensure_all_finite=self.kernel is not None)
        if self.kernel is not None:
            return -np.asarray(self._learner.distances(X))
        return -Examples.from_array(X).distances(self.center_)

    def decision_function(self, X: Any) -> Floats:
        """Radius minus distance: not negative inside the ball.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n,)
            `score_samples` minus `offset_`.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int_]:
        """Whether each example lies inside the ball.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n,)
            +1 inside, −1 outside.
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)
