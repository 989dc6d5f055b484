"""From labels of any kind to numbers and back, and what all classifiers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from seqpa.core.problems import Binary, Multiclass
from seqpa.core.steps import USES_C
from seqpa.errors import SeqpaError
from seqpa.estimators._base import LABEL_KINDS, Floats, LinearEstimator, OnlineEstimator
from seqpa.estimators._parameters import above_zero

if TYPE_CHECKING:
    from typing_extensions import Self


def check_labels(y: NDArray[Any]) -> None:
    """Refuse a y that holds no labels (such as 0.5), or labels that cannot be sorted."""
    kinds = {type(label).__name__ for label in y} if y.dtype.kind == "O" else set()
    if len(kinds) > 1:
        raise SeqpaError(f"y mixes labels of several kinds: {', '.join(sorted(kinds))}")
    if y.ndim > 1 or y.dtype.kind not in LABEL_KINDS:
        check_classification_targets(y)


def classes_of(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct labels, sorted, and the index of each example's."""
    if y.dtype.kind == "i" and int(y.max()) - int(y.min()) < len(y):
        place = y.astype(np.intp) - int(y.min())  # counted, which is faster than to sort
        present = np.bincount(place) > 0
        classes = (np.flatnonzero(present) + int(y.min())).astype(y.dtype)
        return classes, (np.cumsum(present) - 1)[place]
    classes, target = np.unique(y, return_inverse=True)
    return classes, target


class LabelClassifier(ClassifierMixin, OnlineEstimator):
    """Labels of any kind, over the ±1 or the indices that a problem knows.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    """

    _scores: Callable[[Any], Floats]  # of each label for new examples, float64[n, K]
    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the beginning, in up to `max_iter` passes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : array of shape (n,)
            Their labels: numbers or strings.

        Returns
        -------
        self
            The estimator.
        """
        self._check_parameters()
        X, y = self._validate(X, y, reset=True)
        check_labels(y)
        self.classes_, target = classes_of(y)
        if len(self.classes_) < 2:
            raise SeqpaError(
                f"{type(self).__name__}: y holds one class only, {self.classes_.tolist()[0]!r}; "
                "a classifier needs two or more"
            )
        self._learn(X, y, target, begin=True, once=False)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Go on learning: one pass over the examples in the given order.

        Between calls C, class_weight and what only `fit` uses may be set anew, nothing else.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : array of shape (n,)
            Their labels.
        classes : array or None, default None
            All labels there will ever be; needed by the first call only.

        Returns
        -------
        self
            The estimator.
        """
        self._check_parameters()
        begin = self._first()
        X, y = self._validate(X, y, reset=begin)
        check_labels(y)
        if begin:
            if classes is None:
                raise SeqpaError("classes must be passed on the first call to partial_fit")
            self.classes_ = np.unique(classes)
            if len(self.classes_) < 2:
                raise SeqpaError(f"{type(self).__name__}: a classifier needs two classes or more")
        elif (
            classes is not None
            and not np.array_equal(self.classes_, classes)
            and not np.array_equal(self.classes_, np.unique(classes))
        ):
            raise SeqpaError(
                f"classes={np.unique(classes).tolist()} on a later call to partial_fit; "
                f"the first was made with {self.classes_.tolist()}"
            )
        target = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        unknown = self.classes_[target] != y
        if np.any(unknown):
            raise SeqpaError(
                f"y holds {y[unknown].tolist()[0]!r}, which is not among the classes "
                f"{self.classes_.tolist()}"
            )
        self._learn(X, y, target, begin=begin, once=True)
        return self

    def _learn(self, X: Any, y: Any, target: Any, *, begin: bool, once: bool) -> None:
        C = self._aggressiveness(y, target, once)
        n_labels = len(self.classes_) if self._by_label() else 1
        if n_labels == 1:
            target = 2.0 * target - 1.0
        self._train(X, target, n_labels, C=C, begin=begin, once=once)

    def _by_label(self) -> bool:
        """Whether each label has its score; otherwise one score tells two labels apart."""
        return len(self.classes_) > 2

    def _labels_apart(self, margin: float) -> Binary | Multiclass:
        """The problem of telling the labels apart by a margin."""
        return Multiclass(margin) if self._by_label() else Binary(margin)

    def _aggressiveness(self, y: Any, target: Any, once: bool) -> float | Floats:
        """C, scaled by the weight of each example's class."""
        C, weight = self._option("C", 1.0), self._option("class_weight")
        if weight is None:
            return C
        if self._step() not in USES_C:
            raise SeqpaError(
                f"class_weight scales C, which {self._step()} does not use; take variant='PA-I'"
            )
        if once and weight == "balanced":
            raise SeqpaError(
                "class_weight='balanced' needs all of y at once; give partial_fit a dict "
                "{class: weight}, such as compute_class_weight makes of known frequencies"
            )
        each = compute_class_weight(weight, classes=self.classes_, y=y)
        if not all(map(above_zero, each)):
            raise SeqpaError(f"class_weight={weight!r}; every weight must be a number above 0")
        return C * each[target]

    def decision_function(self, X: Any) -> Floats:
        """Scores of new examples.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n,) or (n, K)
            For two classes one score, above 0 for the second; otherwise one for each class.
        """
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the highest score, the first of equals.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n,)
            The predicted labels.
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]


class OnlineClassifier(LabelClassifier, LinearEstimator):
    """Labels, from scores w_k·x + b_k."""


class ThroughOrigin(LabelClassifier):
    """A mixin: without an intercept, the boundary passes through the origin."""

    fit_intercept: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks use data whose boundary lies elsewhere: they need an intercept.
        tags.classifier_tags.poor_score = not self.fit_intercept
        return tags
