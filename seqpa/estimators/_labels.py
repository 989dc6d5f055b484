"""From labels of any kind to numbers and back, and what all classifiers share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from seqpa.core.problems import Binary, Multiclass, OneVsRest
from seqpa.errors import SeqpaError
from seqpa.estimators._base import LABEL_KINDS, Floats, LinearEstimator
from seqpa.estimators._one import OneByOne
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


class LabelClassifier(ClassifierMixin, OneByOne):
    """Labels of any kind, over the ±1 or the indices that a problem knows.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    """

    _scores: Callable[[Any], Floats]  # of each label for new examples, float64[n, K]
    classes_: NDArray[Any]
    _places: dict[Any, float] | None = None  # label -> what the problem knows it by
    _labels: list[Any] | None = None  # classes_ as a list, once it was asked for
    _growing = False  # whether labels are taken up as they come

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
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self._check_parameters()
        X, y = self._validate(X, y, reset=True)
        X, y, weight = self._weighed(X, y, sample_weight)
        check_labels(y)
        classes, target = classes_of(y)
        if len(classes) < 2:
            raise SeqpaError(
                f"{type(self).__name__}: y holds one class only, {classes.tolist()[0]!r}; "
                "a classifier needs two or more"
            )
        self._set_classes(classes)
        self._columns, self._named, self._growing = None, False, False
        self._learn(X, y, target, begin=True, once=False, weight=weight)
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
        return self._partial_fit(X, y, classes)

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any = None) -> Self:
        begin = self._first()
        if not begin:
            self._fit_room()
            self._check_again()
            if classes is None and sample_weight is None and self._learn_at_once(X, y):
                return self
        self._check_parameters()
        X, y = self._validate(X, y, reset=begin)
        X, y, weight = self._weighed(X, y, sample_weight)
        check_labels(y)
        if begin:
            self._growing = False
            if classes is None:
                raise SeqpaError("classes must be passed on the first call to partial_fit")
            self._set_classes(np.unique(classes))
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
        self._learn(X, y, target, begin=begin, once=True, weight=weight)
        return self

    def _set_classes(self, classes: NDArray[Any]) -> None:
        self.classes_, self._places, self._labels = classes, None, None

    def _targets(self) -> dict[Any, float]:
        """Label -> ±1 where one score tells two labels apart, otherwise its index.

        As long as there is only one label, it is +1.
        """
        if self._places is None:
            labels = self.classes_.tolist()
            if self._by_label():
                self._places = {label: float(k) for k, label in enumerate(labels)}
            else:
                self._places = dict(zip(reversed(labels), (1.0, -1.0), strict=False))
        return self._places

    def _learn_at_once(self, X: Any, y: Any) -> bool:
        """Learn from one row that needs no check; False if it is more, or needs one."""
        if type(y) is not np.ndarray or y.shape != (1,):
            return False
        label = y.item()
        target = self._targets().get(label)
        row = None if target is None else self._row_of(X)
        if row is None or target is None:
            return False
        self._learn_row(row, target, self._C_of(label))
        return True

    def _learn(
        self,
        X: Any,
        y: Any,
        target: Any,
        *,
        begin: bool,
        once: bool,
        weight: Floats | None = None,
    ) -> None:
        C = self._aggressiveness(y, target, once)
        if weight is not None:
            C = C * weight
        n_labels = len(self.classes_) if self._by_label() else 1
        if n_labels == 1:
            target = 2.0 * target - 1.0
        self._train(X, target, n_labels, C=C, begin=begin, once=once)

    def learn_one(self, x: Mapping[Any, Any], y: Any, classes: Any = None) -> None:
        """Learn from one example, a dict of named features, as river's classifiers do.

        Features are taken up as they come, and so are labels: one score tells two labels apart, and
        when the third comes each label gets its own weights, from which the two are told apart as
        before.

        Parameters
        ----------
        x : dict
            Feature -> number. Features that are missing are 0.
        y : label
            Its label: a number or a string.
        classes : array or None, default None
            All labels there will ever be, at the first call; None takes them up as they come.

        Examples
        --------
        >>> from seqpa import PAClassifier
        >>> model = PAClassifier()
        >>> for x, y in ({"red": 1, "round": 1}, "apple"), ({"long": 1}, "bean"):
        ...     model.learn_one(x, y)
        >>> model.predict_one({"red": 1, "shiny": 1}), model.predict_one({"long": 2})
        ('apple', 'bean')
        """
        if self._first() and classes is not None:
            self._set_classes(np.unique(classes))
            if len(self.classes_) < 2:
                raise SeqpaError(f"{type(self).__name__}: a classifier needs two classes or more")
            self._growing = False
        try:
            target = self._targets().get(y) if hasattr(self, "classes_") else None
        except TypeError as error:
            raise SeqpaError(f"a label is a number or a string, not {y!r}") from error
        if target is None:
            self._take_up(y)
            target = self._targets()[y]
        n_labels = len(self._places or ()) if self._by_label() else 1
        self._learn_named(x, target, self._C_of(y), n_labels)

    def _take_up(self, y: Any) -> None:
        """A label that was not met before takes its place among the classes."""
        first = not hasattr(self, "classes_") or (self._first() and self._growing)
        if not first and not self._growing:
            raise SeqpaError(f"y is {y!r}, which is not among the classes {self.classes_.tolist()}")
        old = [] if first else self.classes_.tolist()
        value = y.item() if isinstance(y, np.generic) else y
        try:
            check_labels(np.asarray([*old, value]))
            labels = sorted([*old, value])
        except (TypeError, ValueError) as error:
            raise SeqpaError(
                f"y is {y!r}, which is no label or none beside {old}: labels are whole numbers, or "
                "strings, of one kind"
            ) from error
        if any(type(label) is not type(value) for label in labels):
            raise SeqpaError(f"y is {y!r}, of another kind than the labels so far: {old}")
        if first:
            self._growing = True
            self._set_classes(np.array(labels))
            return
        by_label = self._by_label()
        before = self.classes_
        self._set_classes(np.array(labels))
        at = labels.index(value)
        change = np.delete(np.eye(len(labels)), at, axis=1)  # a new vector is 0
        if not self._by_label():  # one score, which is for the only label so far
            change = np.array([[1.0 if at == 0 else -1.0]])
        elif not by_label:  # one score became three: those of the two labels are v/2 and −v/2
            alone = isinstance(self._problem(), OneVsRest)
            change = change @ np.array([[-1.0], [1.0]]) / (1.0 if alone else 2.0)
        try:
            self._relabel(change)
        except BaseException:
            self._set_classes(before)
            raise

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The label of one example, a dict of named features.

        Parameters
        ----------
        x : dict
            Feature -> number. Features that were never learned from are left out.

        Returns
        -------
        label or None
            The label with the highest score, the first of equals; None before anything was learned.
        """
        if self._first():
            return None
        labels = self._listed()
        if len(labels) == 1:
            return labels[0]
        row, best = self._looked_at(x)
        if row is None:
            scores = self._scores_one(x)
            best = int(scores[0] > 0.0) if len(scores) == 1 else scores.index(max(scores))
        elif self._learner.n_labels == 1:
            best = int(row.score() > 0.0)
        return labels[best]

    def _listed(self) -> list[Any]:
        if self._labels is None:
            self._labels = self.classes_.tolist()
        return self._labels

    def scores_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """The score of each label for one example, a dict of named features.

        Parameters
        ----------
        x : dict
            Feature -> number. Features that were never learned from are left out.

        Returns
        -------
        dict
            Label -> score. The one score s that tells two labels apart is −s/2 and s/2 here, so
            that their difference is s. Empty before anything was learned.
        """
        if self._first():
            return {}
        labels = self.classes_.tolist()
        scores = self._scores_one(x)
        if len(scores) == 1:
            half = 0.5 * scores[0]
            scores = [half] if len(labels) == 1 else [-half, half]
        return dict(zip(labels, scores, strict=True))

    def _C_of(self, label: Any) -> float:
        """C of one example, by the weight of its class."""
        C, weight = self._option("C", 1.0), self._option("class_weight")
        if weight is None:
            return float(C)
        one = np.array([label])
        at = np.searchsorted(self.classes_, one)
        return float(np.asarray(self._aggressiveness(one, at, once=True))[0])

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
        if not self._uses_C():
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


class WeightedClassifier(LabelClassifier):
    """A mixin: C can differ from example to example."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the beginning, in up to `max_iter` passes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : array of shape (n,)
            Their labels: numbers or strings.
        sample_weight : array of shape (n,) or None, default None
            Factors of C; an example of the weight 0 is left out. None is 1 for all. Weights that
            add up to 1, as AdaBoost has them, ask for a C some n times as large.

        Returns
        -------
        self
            The estimator.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
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
        sample_weight : array of shape (n,) or None, default None
            Factors of C, as in `fit`.

        Returns
        -------
        self
            The estimator.
        """
        return self._partial_fit(X, y, classes, sample_weight)


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
