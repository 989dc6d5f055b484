"""The ellipsoid classifiers: a centre, and a shape that knows where it is uncertain."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seqpa.core.ellipsoid import METHODS, SHAPES, EllipsoidLearner
from seqpa.core.learner import Learner
from seqpa.core.problems import Binary, Multiclass, Multilabel, Problem
from seqpa.estimators._base import (
    RULES,
    Floats,
    LinearEstimator,
    OnlineClassifier,
    Rule,
    from_zero,
    one_of,
)
from seqpa.estimators.multilabel import PAMultilabelClassifier


def _share(value: Any) -> bool:
    return from_zero(value) and value <= 1


class _Ellipsoid(LinearEstimator):
    """What the two share: the geometry, and what is read from P."""

    _learner: EllipsoidLearner
    _rules: ClassVar[dict[str, Rule]] = {
        "method": one_of(*METHODS),
        "shape": one_of(*SHAPES),
        "a": (lambda a: _share(a) and a > 0, "above 0 (0 would never move) and at most 1"),
        "b": (_share, "a number from 0 to 1"),
        "c": (lambda c: _share(c) and c < 1, "a number from 0 to below 1"),
        "scale": (lambda s: s is None or RULES["C"][0](s), "a number above 0, or None"),
    }
    margin: float
    method: str
    a: float
    b: float
    c: float
    shape: str
    scale: float | None

    def _step(self) -> str:
        return "PA"

    def _geometry(self) -> Callable[..., Learner]:
        scale = self.scale
        if scale is None:
            scale = (1.0 + (1.0 - self.a) * self.margin) ** 2 if self.method == "cellip" else 1.0
        return partial(
            EllipsoidLearner,
            method=self.method,
            b=self.b,
            c=self.c,
            shape=self.shape,
            scale=scale,
        )

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
        """The shape: float64[N, N], or its diagonal [N], over the weights one label after another
        (each label's bias behind its features)."""
        return self._learner.P


class EllipsoidClassifier(_Ellipsoid, OnlineClassifier):
    """Online learning by the ellipsoid method (004): CELLIP and IELLIP.

    Beside the weights w there is a shape P, and {z: (z − w)'P⁻¹(z − w) <= 1} stands for all
    classifiers that agree with what was seen. Only mistakes move them. With δ = yx (several labels:
    Φ(x, y) − Φ(x, highest wrong label) of the stacked vectors), n² = δ'Pδ, g = δ/n:

        w ← w + αPg,                          α = (aγ − w·δ)/n for CELLIP, (γ − w·δ)/n for IELLIP
        P ← (1 − α²)P − 2α(1 − α)Pgg'P        CELLIP, for separable examples: the ellipsoid shrinks
        P ← (P − c_t Pgg'P)/(1 − c_t)         IELLIP, for any; c_t = c·b^(t−1), t counts updates

    `seqpa.core.ellipsoid` has the mistake bounds (Theorems 2 and 3), and what was wrong in the
    slides. The bounds are for ‖x‖ <= 1: Normalizer makes it so.

    method  "iellip" or "cellip"
    margin  γ
    a       CELLIP asks for aγ, and keeps a ball of the radius (1 − a)γ around the best classifier
    b, c    IELLIP's memory: the smaller b, the sooner P is left as it is; Theorem 3 asks b + c < 1
    shape   "full" keeps all of P, (K·features)² numbers; "diagonal" is an approximation that keeps
            its diagonal, for many features
    scale   P starts as scale · I; None is 1 for IELLIP and (1 + (1 − a)γ)² for CELLIP
    fit_intercept, average, max_iter, shuffle: as in `PAClassifier`
    tol     `fit` stops after a pass without mistakes; None makes max_iter plain passes

    Attributes: `classes_`; `coef_` [1 or K, features] and `intercept_`; `P_`; `n_iter_`; and the
    sums over all passes `online_mistakes_`, `online_loss_`, `online_squared_loss_`, `n_updates_`.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks ask for boundaries away from the origin: they take an intercept.
        tags.classifier_tags.poor_score = not self.fit_intercept
        return tags

    def _problem(self) -> Problem:
        return Multiclass(self._asked()) if self._by_label() else Binary(self._asked())

    def uncertainty(self, X: Any) -> Floats:
        """How far the ellipsoid reaches over the boundary: √(δ'Pδ) / w·δ, float64[n].

        For a classifier z of the ellipsoid z·δ is w·δ ± √(δ'Pδ), where δ leads from the predicted
        label to the other one; of several, to the one for which this is highest. Above 1 some
        of them predict another label than w: the example lies in the region of disagreement. A
        score of 0, where w itself does not know, is infinitely uncertain. IELLIP's weights do not
        depend on `scale`, so there it says how large the region is to be; without it the numbers
        tell which of several examples is the least certain.
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


class EllipsoidMultilabelClassifier(_Ellipsoid, PAMultilabelClassifier):
    """The ellipsoid method for sets of labels (004): the stacked vector v = (w_1, …, w_K).

    A mistake is a ranking in which the lowest relevant label b is not above the highest irrelevant
    one a; δ = z has x in block b and −x in block a, and v and P move as in `EllipsoidClassifier`.

    y is an indicator array or sparse matrix [n, labels] of 0 and 1; `predict` cuts the ranking at
    `threshold_` as in `PAMultilabelClassifier`, and the attributes are those of the two.
    method, margin, a, b, c, shape, scale, …: as in `EllipsoidClassifier`. P is full by default:
    (labels · features)² numbers.

    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.metrics import label_ranking_average_precision_score
    >>> X, Y = make_multilabel_classification(400, 30, n_classes=6, random_state=2)
    >>> model = EllipsoidMultilabelClassifier(average=True, random_state=3).fit(X[:300], Y[:300])
    >>> scores = model.decision_function(X[300:])
    >>> round(float(label_ranking_average_precision_score(Y[300:], scores)), 2)
    0.94
    """

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

    def _problem(self) -> Problem:
        return Multilabel(self._asked())


def _ratio(squared_length: Floats, score: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(squared_length) / score
    return np.where(score > 0.0, ratio, np.inf)
