"""The ellipsoid classifiers: a centre, and a shape that tells how uncertain it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from seqpa.core.ellipsoid import METHODS, SHAPES, EllipsoidLearner
from seqpa.core.learner import Learner
from seqpa.core.low_rank import LowRankEllipsoidLearner
from seqpa.core.problems import Multilabel, Problem
from seqpa.errors import SeqpaError
from seqpa.estimators._asking import Asking
from seqpa.estimators._base import Floats, LinearEstimator
from seqpa.estimators._labels import OnlineClassifier, ThroughOrigin
from seqpa.estimators._parameters import WHOLE, Rule, above_zero, from_zero, one_of
from seqpa.estimators.multilabel import PAMultilabelClassifier

if TYPE_CHECKING:
    from typing_extensions import Self


def _share(value: Any) -> bool:
    return from_zero(value) and value <= 1


class EllipsoidEstimator(LinearEstimator):
    """What the ellipsoid classifiers share: parameters, geometry, and what is read from P."""

    _learner: EllipsoidLearner
    _rules: ClassVar[dict[str, Rule]] = {
        "method": one_of(*METHODS),
        "shape": one_of(*SHAPES),
        "a": (lambda a: _share(a) and a > 0, "above 0 (0 would never move) and at most 1"),
        "b": (_share, "a number from 0 to 1"),
        "c": (_share, "a number from 0 to 1"),
        "max_rank": WHOLE,
        "scale": (lambda s: s is None or above_zero(s), "a number above 0, or None"),
    }

    def __init__(
        self,
        method: str = "iellip",
        margin: float = 0.1,
        a: float = 0.9,
        b: float = 0.3,
        c: float = 0.1,
        shape: str = "full",
        scale: float | None = None,
        fit_intercept: bool = False,
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 0.0,
        shuffle: bool = True,
        random_state: Any = None,
        max_rank: int = 500,
    ) -> None:
        self.method = method
        self.margin = margin
        self.a = a
        self.b = b
        self.c = c
        self.shape = shape
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.max_rank = max_rank

    def _step(self) -> str:
        return "PA"

    def _geometry(self) -> Callable[..., Learner]:
        scale = self.scale
        if scale is None:
            scale = (1.0 + (1.0 - self.a) * self.margin) ** 2 if self.method == "cellip" else 1.0
        common: dict[str, Any] = {"method": self.method, "b": self.b, "c": self.c, "scale": scale}
        if self.shape == "low-rank":
            return partial(LowRankEllipsoidLearner, max_rank=self.max_rank, **common)
        return partial(EllipsoidLearner, shape=self.shape, **common)

    def _asked(self) -> float:
        return self.a * self.margin if self.method == "cellip" else self.margin

    def _train(self, *args: Any, **options: Any) -> None:
        before = 0 if options["begin"] else self._learner.missed
        super()._train(*args, **options)
        missed = self._learner.missed - before
        if missed:
            warnings.warn(
                f"{missed} mistakes were left alone: no classifier of the ellipsoid gives them the "
                f"margin {self._asked():.4g}. CELLIP is for separable examples; lower the margin "
                "or take method='iellip'",
                ConvergenceWarning,
                stacklevel=4,
            )

    @property
    def P_(self) -> Floats:
        """The shape: float64[N, N], or its diagonal [N].

        N counts the weights, one label after another, each label's bias behind its features.
        """
        return self._learner.P


class EllipsoidClassifier(Asking, EllipsoidEstimator, ThroughOrigin, OnlineClassifier):
    """Online learning by the ellipsoid method: CELLIP and IELLIP (Ellipsoid).

    Beside the weights w there is a shape P, and {z: (z − w)'P⁻¹(z − w) <= 1} stands for all
    classifiers that agree with what was seen. Only mistakes move them. With δ = yx (several labels:
    Φ(x, y) − Φ(x, highest wrong label) of the stacked vectors), n² = δ'Pδ, g = δ/n::

        w ← w + αPg,                          α = (aγ − w·δ)/n for CELLIP, (γ − w·δ)/n for IELLIP
        P ← (1 − α²)P − 2α(1 − α)Pgg'P        CELLIP, for separable examples: the ellipsoid shrinks
        P ← (P − c_t Pgg'P)/(1 − c_t)         IELLIP, for any; c_t = c·b^(t−1), t counts updates

    `seqpa.core.ellipsoid` has the mistake bounds (Ellipsoid, Theorems 2 and 3), and what was wrong
    in the slides. The bounds are for ‖x‖ <= 1: Normalizer makes it so.

    Parameters
    ----------
    method : {"iellip", "cellip"}, default "iellip"
        IELLIP is for any examples, CELLIP for separable ones.
    margin : float, default 0.1
        γ.
    a : float, default 0.9
        CELLIP asks for aγ, and keeps a ball of the radius (1 − a)γ around the best classifier.
    b : float, default 0.3
        IELLIP's memory: the smaller, the sooner P is left as it is.
    c : float, default 0.1
        How much IELLIP's first update changes P; Ellipsoid, Theorem 3 asks for b + c < 1.
    shape : {"full", "diagonal", "low-rank"}, default "full"
        "full" keeps all of P, (K·features)² numbers. For many features, "low-rank" keeps it in the
        directions of up to `max_rank` mistakes, max_rank·K·features numbers: the same P as long as
        there are no more. "diagonal" is an approximation that keeps the diagonal.
    scale : float or None, default None
        P starts as scale · I. None is 1 for IELLIP and (1 + (1 − a)γ)² for CELLIP.
    fit_intercept : bool, default False
        Add a constant feature 1, which counts in the norm.
    average : bool, default False
        Predict with the mean of the weights after each example, instead of the last weights.
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 0.0
        `fit` stops after a pass without mistakes; None makes `max_iter` plain passes.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.
    max_rank : int, default 500
        With "low-rank", how many directions P knows at most.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    coef_ : array of shape (1 or K, features)
        The weights; one row for two classes.
    intercept_ : array of shape (1 or K,)
        The bias of each row; 0 without `fit_intercept`.
    P_ : array of shape (N, N) or (N,)
        The shape, or its diagonal, over all N weights.
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
    >>> from sklearn.preprocessing import normalize
    >>> X, y = load_digits(return_X_y=True)
    >>> X = normalize(X)
    >>> model = EllipsoidClassifier(random_state=1, average=True).fit(X[:1200], y[:1200])
    >>> round(model.score(X[1200:], y[1200:]), 2)
    0.91
    >>> model.uncertainty(X[1200:1203]).round(1)
    array([ 16.7,  13.8, 694.5])
    """

    def _problem(self) -> Problem:
        return self._labels_apart(self._asked())

    def uncertainty(self, X: Any) -> Floats:
        """How far the ellipsoid reaches over the boundary: √(δ'Pδ) / w·δ.

        For a classifier z of the ellipsoid z·δ is w·δ ± √(δ'Pδ), where δ leads from the predicted
        label to the other one; of several, to the one for which this is highest. Above 1 some
        classifiers predict another label than w: the example lies in the region of disagreement. A
        score of 0, where w itself cannot decide, is infinitely uncertain. IELLIP's weights do not
        depend on `scale`, so there `scale` sets how large the region is; without it the numbers
        still tell which of several examples is the least certain.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n,)
            The uncertainty of each.
        """
        scores = self._scores(X)
        X = self._validate(X, reset=False)
        learner = self._learner
        if scores.shape[1] == 1:
            return _ratio(learner.lengths2(X, up=0), np.abs(scores[:, 0]))
        best = scores.argmax(axis=1)
        highest = np.zeros(len(scores))
        for k in np.unique(best):
            rows = np.flatnonzero(best == k)
            for r in range(scores.shape[1]):
                if r != k:
                    lead = scores[rows, k] - scores[rows, r]
                    reach = _ratio(learner.lengths2(X[rows], int(k), r), lead)
                    highest[rows] = np.maximum(highest[rows], reach)
        return highest

    def should_ask(
        self, x: Mapping[Any, Any], delta: float = 1.0, rule: str = "disagreement"
    ) -> bool:
        """Whether the label of one example is worth asking for.

        Parameters
        ----------
        x : dict
            Feature -> number.
        delta : float, default 1.0
            δ of the rule "margin", as in `PAClassifier.should_ask`.
        rule : {"disagreement", "margin"}, default "disagreement"
            "disagreement" asks where the example lies in the region of disagreement, that is where
            `uncertainty` is above 1: some classifiers of the ellipsoid predict another label.
            "margin" is the stochastic rule of the other classifiers.

        Returns
        -------
        bool
            Whether to ask; True before two labels are known.

        Examples
        --------
        >>> model = EllipsoidClassifier(scale=0.005)
        >>> model.should_ask({"a": 1.0})
        True
        >>> for x, y in ({"a": 1.0}, 0), ({"b": 1.0}, 1):
        ...     model.learn_one(x, y)
        >>> model.should_ask({"a": 1.0}), model.should_ask({"a": 0.7, "b": 0.7})
        (False, True)
        """
        if rule == "margin" or self._first() or len(self.classes_) < 2:
            return super().should_ask(x, delta)
        return bool(self.query(self._as_row(x, learn=False), rule=rule)[0])

    def query(self, X: Any, delta: float = 1.0, rule: str = "disagreement") -> NDArray[np.bool_]:
        """Which examples are worth asking for their labels, by the rules of `should_ask`.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        delta : float, default 1.0
            δ of the rule "margin".
        rule : {"disagreement", "margin"}, default "disagreement"
            As in `should_ask`.

        Returns
        -------
        array of bool of shape (n,)
            Whether to ask, for each.
        """
        if rule not in ("disagreement", "margin"):
            raise SeqpaError(f"rule={rule!r}; it must be one of disagreement, margin")
        if rule == "margin" or self._first() or len(self.classes_) < 2:
            return super().query(X, delta)
        return np.asarray(self.uncertainty(X) > 1.0)


class EllipsoidMultilabelClassifier(EllipsoidEstimator, PAMultilabelClassifier):
    """The ellipsoid method for sets of labels (Ellipsoid, the multi-label extension).

    The stacked vector v = (w_1, …, w_K) ranks the labels. A mistake is a ranking in which the
    lowest relevant label b is not above the highest irrelevant one a; δ has x in block b and −x in
    block a, and v and P move as in `EllipsoidClassifier`. `predict` cuts the ranking at
    `threshold_`, as in `PAMultilabelClassifier`. P is full by default: (labels · features)²
    numbers.

    Parameters
    ----------
    method : {"iellip", "cellip"}, default "iellip"
        IELLIP is for any examples, CELLIP for separable ones.
    margin : float, default 0.1
        γ.
    a : float, default 0.9
        CELLIP asks for aγ, and keeps a ball of the radius (1 − a)γ around the best classifier.
    b : float, default 0.3
        IELLIP's memory: the smaller, the sooner P is left as it is.
    c : float, default 0.1
        How much IELLIP's first update changes P; Ellipsoid, Theorem 3 asks for b + c < 1.
    shape : {"full", "diagonal", "low-rank"}, default "full"
        "full" keeps all of P, (K·features)² numbers. For many features, "low-rank" keeps it in the
        directions of up to `max_rank` mistakes, max_rank·K·features numbers: the same P as long as
        there are no more. "diagonal" is an approximation that keeps the diagonal.
    scale : float or None, default None
        P starts as scale · I. None is 1 for IELLIP and (1 + (1 − a)γ)² for CELLIP.
    fit_intercept : bool, default False
        Add a constant feature 1, which counts in the norm.
    average : bool, default False
        Predict with the mean of the weights after each example, instead of the last weights.
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 0.0
        `fit` stops after a pass without mistakes; None makes `max_iter` plain passes.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.
    max_rank : int, default 500
        With "low-rank", how many directions P knows at most.

    Attributes
    ----------
    classes_ : array of shape (labels,)
        The columns of y.
    threshold_ : float
        Where `predict` cuts the scores.
    coef_ : array of shape (K, features)
        The weights, also for two classes a row for each.
    intercept_ : array of shape (K,)
        The bias of each row; 0 without `fit_intercept`.
    P_ : array of shape (N, N) or (N,)
        The shape, or its diagonal, over all N weights.
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
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.metrics import label_ranking_average_precision_score
    >>> X, Y = make_multilabel_classification(400, 30, n_classes=6, random_state=2)
    >>> model = EllipsoidMultilabelClassifier(average=True, random_state=3).fit(X[:300], Y[:300])
    >>> scores = model.decision_function(X[300:])
    >>> round(float(label_ranking_average_precision_score(Y[300:], scores)), 2)
    0.94
    """

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]  # PA's step has no C
        """Learn from the beginning, in up to `max_iter` passes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : array or sparse matrix of shape (n, labels)
            1 where a label is relevant, otherwise 0.

        Returns
        -------
        self
            The estimator.
        """
        return super().fit(X, y)

    def partial_fit(  # type: ignore[override]  # PA's step has no C
        self, X: Any, y: Any, classes: Any = None
    ) -> Self:
        """Go on learning: one pass over the examples in the given order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : array or sparse matrix of shape (n, labels)
            1 where a label is relevant, otherwise 0.
        classes : object, default None
            Not used: the columns of y are the labels.

        Returns
        -------
        self
            The estimator.
        """
        return super().partial_fit(X, y)

    def _problem(self) -> Problem:
        return Multilabel(self._asked())


def _ratio(squared_length: Floats, score: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(squared_length) / score
    return np.where(score > 0.0, ratio, np.inf)
