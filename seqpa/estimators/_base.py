"""What the estimators share: scikit-learn's conventions on one side, the learner on the other.

A subclass says which problem and which step; everything else, from checking the input to counting
what a pass did, happens here.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cache
from numbers import Integral, Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from seqpa.core.examples import Examples
from seqpa.core.feature_maps import FeatureMap, as_feature_map
from seqpa.core.learner import Learner, OnlineLearner, Run, passes
from seqpa.core.problems import CostSensitive, Problem
from seqpa.core.steps import USES_C
from seqpa.errors import SeqpaError

Floats: TypeAlias = NDArray[np.float64]
Rule: TypeAlias = tuple[Callable[[Any], bool], str]
VARIANTS = ("PA", *USES_C)


def _above_zero(value: Any) -> bool:
    return from_zero(value) and value > 0


def from_zero(value: Any) -> bool:
    """Whether it is a finite number, 0 or above."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


def one_of(*names: str) -> Rule:
    """The rule of a parameter that is a name."""
    return (lambda value: isinstance(value, str) and value in names), f"one of {', '.join(names)}"


def _flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


# Parameter -> what it must satisfy, in code and in words; each holds wherever the name occurs.
RULES: dict[str, Rule] = {
    "C": (_above_zero, "a number above 0"),
    "margin": (_above_zero, "a number above 0"),
    "epsilon": (from_zero, "a number, 0 or above"),
    "max_radius": (_above_zero, "a number above 0"),
    "max_iter": (lambda n: isinstance(n, Integral) and int(n) >= 1, "a whole number, 1 or above"),
    "tol": (lambda tol: tol is None or from_zero(tol), "a number, 0 or above, or None"),
    "fit_intercept": (_flag, "True or False"),
    "learn_radius": (_flag, "True or False"),
    "shuffle": (_flag, "True or False"),
    "average": (_flag, "True or False"),
    "variant": one_of(*VARIANTS),
    "update": one_of(*CostSensitive.UPDATES),
    "init": one_of("zero", "first"),
    "multiclass": one_of("prototypes", "one-vs-rest"),
}


# What may change between calls of partial_fit; the learner is built with all the others.
_EACH_CALL = {"C", "class_weight", "max_iter", "tol", "shuffle", "random_state"}

_LABELS = "iubU"  # whole numbers, truth values and strings: labels, whatever they are


@cache
def _parameters(estimator: type) -> tuple[str, ...]:
    """The names of an estimator's parameters; reading them off a signature takes long."""
    return tuple(estimator._get_param_names())  # type: ignore[attr-defined]


@cache
def _lasting(estimator: type) -> tuple[str, ...]:
    """Those of them that hold from the first call of partial_fit to the last."""
    return tuple(name for name in _parameters(estimator) if name not in _EACH_CALL)


def _is_finite(y: NDArray[Any]) -> bool:
    return y.dtype.kind == "f" and bool(np.isfinite(y).all())


def check_labels(y: NDArray[Any]) -> None:
    """Refuse a y that is not made of labels, such as 0.5, or of labels that no order sorts."""
    kinds = {type(label).__name__ for label in y} if y.dtype.kind == "O" else set()
    if len(kinds) > 1:
        raise SeqpaError(f"y mixes labels of several kinds: {', '.join(sorted(kinds))}")
    if y.ndim > 1 or y.dtype.kind not in _LABELS:
        check_classification_targets(y)


def _classes_of(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct labels, sorted, and the index of each example's."""
    if y.dtype.kind == "i" and int(y.max()) - int(y.min()) < len(y):
        place = y.astype(np.intp) - int(y.min())  # counted, which is faster than to sort
        present = np.bincount(place) > 0
        classes = (np.flatnonzero(present) + int(y.min())).astype(y.dtype)
        return classes, (np.cumsum(present) - 1)[place]
    classes, target = np.unique(y, return_inverse=True)
    return classes, target


class OnlineEstimator(BaseEstimator, ABC):
    """Passes over the examples, and the attributes that tell about them.

    Attributes of every estimator after `fit` or `partial_fit`; the sums run over all examples of
    all passes since training began, each seen by the weights of that moment:

    n_iter_               passes
    n_updates_            how often the weights moved
    online_mistakes_      wrong predictions
    online_loss_          Σ ℓ_t
    online_squared_loss_  Σ ℓ_t², which the theorems bound
    online_cost_          Σ ρ(y_t, ŷ_t); without a cost the same as the mistakes
    """

    n_features_in_: int
    _learner: Any  # what _geometry made
    _rng: np.random.Generator
    _rules: ClassVar[dict[str, Rule]] = {}  # an estimator's own, before RULES
    _record = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # What subclasses say.

    @abstractmethod
    def _problem(self) -> Problem:
        """Which constraint an example asks for."""

    def _step(self) -> str:
        return str(self._option("variant"))

    def _geometry(self) -> Callable[..., OnlineLearner]:
        """What makes the learner: the class whose weights move as this estimator's do."""
        return Learner

    def _after_pass(self, run: Run, examples: Examples, target: Any) -> None:
        """Called after every pass, with what it counted."""

    # Input.

    def _option(self, name: str, default: Any = None) -> Any:
        """A parameter, where this estimator has it."""
        return getattr(self, name) if name in _parameters(type(self)) else default

    def _check_parameters(self) -> None:
        for name in _parameters(type(self)):
            rule = self._rules.get(name) or RULES.get(name)
            if rule and not rule[0](getattr(self, name)):
                raise SeqpaError(
                    f"{type(self).__name__}: {name}={getattr(self, name)!r}; it must be {rule[1]}"
                )

    def _check_unchanged(self) -> None:
        """Refuse a parameter that was changed too late for the learner to hear of it."""
        for name, before in self._built_with.items():
            now = getattr(self, name)
            if now is not before and not (isinstance(now, str | Real) and now == before):
                raise SeqpaError(
                    f"{type(self).__name__}: {name}={now!r}, but training began with {before!r}; "
                    "begin again with fit, or set it back"
                )

    def _validate(self, X: Any, y: Any = "no_validation", *, reset: bool, **rules: Any) -> Any:
        # Examples finds NaN and infinity itself, on the way to the norms that it needs anyway.
        rules.setdefault("ensure_all_finite", self._feature_map() is not None)
        if not reset and self._is_valid(X, y, finite=rules["ensure_all_finite"]):
            return X if isinstance(y, str) else (X, y)
        return validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=np.float64, order="C", **rules
        )

    def _is_valid(self, X: Any, y: Any, finite: bool) -> bool:
        """Whether scikit-learn's checks would hand back the very same X and y.

        For one example they take twenty times as long as the learning; this takes a twentieth.
        """
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == self.n_features_in_
            and X.flags.c_contiguous
            and not hasattr(self, "feature_names_in_")
            and (not finite or bool(np.isfinite(X).all()))
            and (isinstance(y, str) or (type(y) is np.ndarray and y.shape == X.shape[:1]))
            and (isinstance(y, str) or y.dtype.kind in _LABELS or _is_finite(y))
        )

    def _feature_map(self) -> Any:
        return getattr(self, "features", None)

    def _examples(self, X: Any) -> Examples:
        if self._feature_map() is not None:
            return Examples.from_maps(self.features_.transform(X))
        return Examples.from_array(X, bias=getattr(self, "fit_intercept", False))

    # Training.

    def _first(self) -> bool:
        return not hasattr(self, "_learner")

    def _train(
        self,
        X: Any,
        target: Any,
        n_labels: int = 1,
        *,
        C: float | Floats = 1.0,
        begin: bool,
        once: bool,
        start: Floats | None = None,
    ) -> None:
        """Learn from checked input: from the beginning or further; one pass or as many as asked."""
        if not begin:
            self._check_unchanged()
        if begin and self._feature_map() is not None:
            fresh: FeatureMap = as_feature_map(copy.deepcopy(self._feature_map()))
            self.features_ = fresh.fit(X, target, n_labels)
        examples = self._examples(X)
        if begin:
            seed = check_random_state(getattr(self, "random_state", None)).randint(2**31 - 1)
            self._rng = np.random.default_rng(seed)
            self._learner = self._geometry()(
                self._problem(),
                self._step(),
                examples.n_features,
                n_labels,
                bias=examples.bias,
                average=self._averages(),
                joint=examples.joint > 0,
                start=start,
            )
            self._built_with = {name: getattr(self, name) for name in _lasting(type(self))}
            self.n_iter_ = self.n_updates_ = self.online_mistakes_ = 0
            self.online_loss_ = self.online_squared_loss_ = self.online_cost_ = 0.0
        runs: Iterable[Run]
        if once:
            runs = [self._learner.run(examples, target, C=C, record=self._record)]
        else:
            runs = passes(
                self._learner,
                examples,
                target,
                max_iter=self._option("max_iter"),
                tol=self._option("tol"),
                shuffle=self._option("shuffle"),
                rng=self._rng,
                C=C,
                record=self._record,
            )
        for run in runs:
            self.n_iter_ += 1
            self.n_updates_ += run.updates
            self.online_mistakes_ += run.mistakes
            self.online_loss_ += run.loss
            self.online_squared_loss_ += run.squared_loss
            self.online_cost_ += run.cost
            self._after_pass(run, examples, target)

    def _averages(self) -> bool:
        return bool(self._option("average"))


class LinearEstimator(OnlineEstimator):
    """Scores w_k·x + b_k."""

    @property
    def _weights(self) -> Floats:
        """The reported weights, float64[K, features (+ 1)]."""
        learner = self._learner
        return learner.mean_weights if learner.average else learner.weights

    @property
    def coef_(self) -> Floats:
        """The weights, float64[K, features]; one row for two classes."""
        return self._weights[:, : self._learner.n_features]

    @property
    def intercept_(self) -> Floats:
        """The bias of each row of `coef_`; zero without `fit_intercept`."""
        weights = self._weights
        return weights[:, -1] if self._learner.bias else np.zeros(len(weights))

    def _scores(self, X: Any) -> Floats:
        """w_k·x_i of new examples, float64[n, K]."""
        check_is_fitted(self)
        return self._scores_of_valid(self._validate(X, reset=False, ensure_all_finite=True))

    def _scores_of_valid(self, X: Any) -> Floats:
        """The same for input that is checked already, and has lost the names of its columns."""
        if self._learner.joint:
            return self._examples(X).scores(self._weights)
        weights = self._weights
        scores = np.asarray(X @ weights[:, : self._learner.n_features].T)
        return scores + weights[:, -1] if self._learner.bias else scores


class LabelClassifier(ClassifierMixin, OnlineEstimator):
    """Labels of any kind around the ±1, or the indices, that a problem knows."""

    _scores: Callable[[Any], Floats]  # of each label for new examples, float64[n, K]
    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any) -> LabelClassifier:
        """Learn from the beginning: up to `max_iter` passes.

        X  array or CSR matrix [n, features]
        y  labels [n]: numbers or strings
        """
        self._check_parameters()
        X, y = self._validate(X, y, reset=True)
        check_labels(y)
        self.classes_, target = _classes_of(y)
        if len(self.classes_) < 2:
            raise SeqpaError(
                f"{type(self).__name__}: y holds one class only, {self.classes_.tolist()[0]!r}; "
                "a classifier needs two or more"
            )
        self._learn(X, y, target, begin=True, once=False)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> LabelClassifier:
        """Go on learning: one pass over the examples in the given order.

        classes  all labels there will ever be; needed by the first call only

        Between calls C, class_weight and what only `fit` uses may be set anew, nothing else.
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
        if not all(map(_above_zero, each)):
            raise SeqpaError(f"class_weight={weight!r}; every weight must be a number above 0")
        return C * each[target]

    def decision_function(self, X: Any) -> Floats:
        """Scores: [n] for two classes, above 0 for the second; otherwise [n, classes]."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the highest score, the first of equals."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]


class OnlineClassifier(LabelClassifier, LinearEstimator):
    """Labels, from scores w_k·x + b_k."""
