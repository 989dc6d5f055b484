"""`PAMultilabelClassifier`: rank the relevant labels above all others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length

from seqpa.core.examples import Examples
from seqpa.core.learner import Run
from seqpa.core.problems import Multilabel, Problem
from seqpa.errors import SeqpaError
from seqpa.estimators._base import Floats, LinearEstimator
from seqpa.estimators._one import OneByOne

if TYPE_CHECKING:
    from typing_extensions import Self


_LONG = 1000  # examples after which the threshold no longer slows down


class PAMultilabelClassifier(ClassifierMixin, OneByOne, LinearEstimator):
    """Passive-aggressive multilabel classification by label ranking (PA 2006, §7).

    Every relevant label must be ranked above every irrelevant one, the lowest of the former above
    the highest of the latter by `margin` (PA 2006, Eq. 33, 36-41). Each label has its own weight
    vector, or with `features` all share one over Φ(x, y).

    The ranking is what is learned (`decision_function`, `rank`). For sets of labels `predict` cuts
    it at `threshold_`, the mean of the middle between the lowest relevant and the highest
    irrelevant score. `fit` takes the mean over its examples, with what it learned in the end.
    `partial_fit` takes it over all examples so far, each with the weights of its own moment, so
    that it makes no difference in how many calls they come. Without `average` those of late count
    for more, because the first weights know little: the t-th counts t times, and after a thousand
    the oldest are forgotten at the same pace.

    Parameters
    ----------
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    variant : {"PA", "PA-I", "PA-II", "PA-LS"}, default "PA-I"
        How far a step goes: "PA" all the way (PA 2006, Eq. 3), "PA-I" at most C, "PA-II" shortened
        by 1/2C (both Eq. 8), "PA-LS" least squares (Mini-batch PA, Eq. 9). "PA" does not use C.
    margin : float, default 1.0
        By how much the relevant labels must win; 1 in PA 2006.
    fit_intercept : bool, default False
        Add a constant feature 1, which counts in the norm.
    average : bool, default False
        Predict with the mean of the weights after each example, instead of the last weights.
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 1e-3
        `fit` skips examples with a squared loss of at most `tol`, and stops when none is left
        (batch conversion, PA 2003, §4). None makes `max_iter` plain passes.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.
    features : FeatureMap, function or None, default None
        Label-dependent features and one weight vector for all labels (PA 2006, §7, Eq. 37-38):
        `LabelTfidf()`, any feature map, or a function (X, index of label) -> matrix. With
        `partial_fit`, `LabelTfidf` goes on counting, and so does any map that has `partial_fit`.

    Attributes
    ----------
    classes_ : array of shape (labels,)
        The columns of y; the labels in the order they came, for one that began with `learn_one`.
    threshold_ : float
        Where `predict` cuts the scores.
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
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.metrics import label_ranking_average_precision_score
    >>> X, Y = make_multilabel_classification(400, 30, n_classes=6, random_state=2)
    >>> model = PAMultilabelClassifier(C=0.01, average=True, random_state=3).fit(X[:300], Y[:300])
    >>> scores = model.decision_function(X[300:])
    >>> round(float(label_ranking_average_precision_score(Y[300:], scores)), 2)
    0.94
    >>> model.rank(X[300:301]), Y[300:301]
    (array([[2, 0, 3, 5, 1, 4]]), array([[1, 0, 1, 0, 0, 0]]))
    >>> round(float((model.predict(X[300:]) == Y[300:]).mean()), 2)
    0.79
    """

    classes_: NDArray[Any]
    _labels: list[Any]  # the same as a list, once dicts came

    def __init__(
        self,
        C: float = 1.0,
        variant: str = "PA-I",
        margin: float = 1.0,
        fit_intercept: bool = False,
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        features: Any = None,
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
        self.features = features

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the beginning, in up to `max_iter` passes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : array or sparse matrix of shape (n, labels)
            1 where a label is relevant, otherwise 0.
        sample_weight : array of shape (n,) or None, default None
            Factors of C; an example of the weight 0 is left out. None is 1 for all.

        Returns
        -------
        self
            The estimator.
        """
        return self._learn(X, y, begin=True, once=False, sample_weight=sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning: one pass over the examples in the given order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        y : array or sparse matrix of shape (n, labels)
            1 where a label is relevant, otherwise 0.
        classes : object, default None
            Not used: the columns of y are the labels.
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
        return self._learn(X, y, begin=begin, once=True, sample_weight=sample_weight)

    def learn_one(self, x: Mapping[Any, Any], y: Mapping[Any, bool] | Collection[Any]) -> None:
        """Learn from one example, a dict of named features, as river's multilabel classifiers do.

        Features and labels are taken up as they come. An estimator that began with arrays knows the
        numbers of their columns as labels.

        Parameters
        ----------
        x : dict
            Feature -> number. Features that are missing are 0.
        y : dict, or collection of labels
            Label -> whether it is relevant; or the relevant labels alone. Labels that are known and
            not named are not relevant.

        Examples
        --------
        >>> model = PAMultilabelClassifier()
        >>> model.learn_one({"goal": 1, "vote": 1}, {"sport", "politics"})
        >>> model.learn_one({"vote": 2}, {"politics"})
        >>> model.learn_one({"goal": 2}, {"sport": True, "politics": False})
        >>> model.predict_one({"goal": 1})
        {'politics': False, 'sport': True}
        """
        if isinstance(y, str) or not isinstance(y, Collection):
            raise SeqpaError(
                f"y is {y!r}; it must be a dict of label: whether it is relevant, or the set of "
                "relevant labels"
            )
        relevant = (
            {name for name, holds in y.items() if holds} if isinstance(y, Mapping) else set(y)
        )
        # A set has no order of its own that would be the same in the next run.
        self._take_up(list(y) if isinstance(y, (Mapping, list, tuple)) else sorted(y, key=str))
        target = np.array([label in relevant for label in self._labels], np.uint8)
        if not len(target):
            return  # no label is known yet
        self._record = True
        self._learn_named(x, target, self._option("C", 1.0), len(target))

    def _take_up(self, labels: list[Any]) -> None:
        """Labels that were not met before become rows of weights, which are 0."""
        known = [] if self._first() else list(self.classes_.tolist())
        new = [label for label in dict.fromkeys(labels) if label not in known]
        if new and not self._first() and not self._named:
            raise SeqpaError(
                f"{type(self).__name__} began with arrays of {len(known)} labels, and {new[0]!r} "
                "is none of their numbers; one that begins with learn_one takes up new labels"
            )
        every = [*known, *new]
        if len({type(label) for label in every}) > 1 or not all(
            isinstance(label, (str, int)) for label in every
        ):
            raise SeqpaError(f"labels are whole numbers, or strings, of one kind: {every}")
        if new and not self._first():
            self._relabel(np.eye(len(every), len(known)))
        self._labels, self.classes_ = every, np.array(every)

    def _learn(self, X: Any, y: Any, *, begin: bool, once: bool, sample_weight: Any) -> Self:
        self._check_parameters()
        if y is None:
            raise SeqpaError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X = self._validate(X, reset=begin)
        relevant = _indicator(y)
        check_consistent_length(X, relevant)
        X, relevant, weight = self._weighed(X, relevant, sample_weight)
        if begin:
            self._columns, self._named = None, False
            self.classes_ = np.arange(relevant.shape[1])
        elif relevant.shape[1] != len(self.classes_):
            raise SeqpaError(
                f"y has {relevant.shape[1]} columns; the first call had {len(self.classes_)}"
            )
        C = self._option("C", 1.0)
        C = C if weight is None else C * weight
        self._record = once
        self._train(X, relevant, relevant.shape[1], C=C, begin=begin, once=once)
        if not once:
            self._set_threshold(self._scores_of_valid(X), relevant.astype(bool))
        return self

    def _begin(self, *args: Any, **options: Any) -> None:
        super()._begin(*args, **options)
        self.threshold_, self._cut_of = 0.0, 0  # of how many examples

    def _set_threshold(self, scores: Floats, relevant: NDArray[np.bool_]) -> None:
        both = relevant.any(axis=1) & ~relevant.all(axis=1)
        lowest = np.where(relevant, scores, np.inf).min(axis=1)[both]
        highest = np.where(relevant, -np.inf, scores).max(axis=1)[both]
        if both.any():
            self.threshold_ = float(((lowest + highest) / 2.0).mean())
            self._cut_of = int(both.sum())

    def _after_pass(self, run: Run, examples: Examples, target: Any) -> None:
        if run.middles is None or run.ups is None:
            return
        # A plain mean is m ← m + 1/t · (new − m); one with weights t has 2/(t + 1) there.
        cut, t = self.threshold_, self._cut_of
        plain = self._learner.average
        for middle in run.middles[run.ups >= 0].tolist():
            t += 1
            cut += (middle - cut) * (1.0 / t if plain else 2.0 / (min(t, _LONG) + 1.0))
        self.threshold_, self._cut_of = cut, t

    def _problem(self) -> Problem:
        return Multilabel(self.margin)

    def decision_function(self, X: Any) -> Floats:
        """The score of each label less `threshold_`.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n, labels)
            The higher, the more relevant.
        """
        return self._scores(X) - self.threshold_

    def scores_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """The score of each label less `threshold_`, for one example, a dict of named features.

        Parameters
        ----------
        x : dict
            Feature -> number. Features that were never learned from are left out.

        Returns
        -------
        dict
            Label -> score, above 0 where `predict_one` takes it; empty before anything was learned.
        """
        if self._first():
            return {}
        scores = self._scores_one(x)
        return {
            label: score - self.threshold_
            for label, score in zip(self.classes_.tolist(), scores, strict=True)
        }

    def predict_one(self, x: Mapping[Any, Any]) -> dict[Any, bool]:
        """Which labels one example has, a dict of named features.

        Parameters
        ----------
        x : dict
            Feature -> number. Features that were never learned from are left out.

        Returns
        -------
        dict
            Label -> whether it is relevant; empty before anything was learned.
        """
        return {label: score > 0.0 for label, score in self.scores_one(x).items()}

    def rank(self, X: Any) -> NDArray[np.intp]:
        """The labels of each example, the most relevant first.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n, labels)
            Indices of labels.
        """
        return np.argsort(-self._scores(X), axis=1, kind="stable")

    def predict(self, X: Any) -> NDArray[np.int_]:
        """The labels whose score exceeds `threshold_`.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n, labels)
            1 for those labels, otherwise 0.
        """
        return (self.decision_function(X) > 0.0).astype(int)


def _indicator(y: Any) -> NDArray[np.uint8]:
    y = check_array(y, accept_sparse="csr", dtype=None, ensure_2d=False)
    y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    check_classification_targets(y)
    if y.ndim != 2 or not np.isin(y, (0, 1)).all():
        raise SeqpaError(
            "y must be an indicator array of 0 and 1 with a column for each label; "
            "MultiLabelBinarizer makes one from sets of labels"
        )
    return y.astype(np.uint8)
