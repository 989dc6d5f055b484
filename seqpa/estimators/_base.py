"""What the estimators share: scikit-learn's conventions on one side, the learner on the other.

A subclass says which problem and which step; everything else, from checking the input to counting
what a pass did, happens here.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from numbers import Real
from operator import is_
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from seqpa.core.examples import Examples
from seqpa.core.feature_maps import FeatureMap, as_feature_map
from seqpa.core.learner import Learner, OnlineLearner, Run, passes
from seqpa.core.problems import Problem
from seqpa.core.single import Columns, OneRow, Totals
from seqpa.core.steps import USES_C
from seqpa.errors import SeqpaError
from seqpa.estimators._parameters import (
    RULES,
    Rule,
    checked_weights,
    lasting_names,
    parameter_names,
    parameter_values,
)

Floats: TypeAlias = NDArray[np.float64]
LABEL_KINDS = "iubU"  # dtypes that are labels whatever they hold: whole numbers, flags, strings


def _is_finite(y: NDArray[Any]) -> bool:
    return y.dtype.kind == "f" and bool(np.isfinite(y).all())


class OnlineEstimator(BaseEstimator, ABC):
    """Passes over the examples, and the attributes that tell about them.

    A subclass says which problem it solves, with which step, and in which geometry.

    Attributes
    ----------
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
    """

    n_features_in_: int
    features_: Any  # the fitted feature map, where there is one
    _learner: Any  # what _geometry made
    _rng: np.random.Generator
    _rules: ClassVar[dict[str, Rule]] = {}  # an estimator's own, before RULES
    _record = False
    _columns: Columns | None = None  # of named features, once there are some
    _plain = False  # whether dicts and single rows may go straight into the learner's kept row
    _named = False  # whether dicts came first, so that columns may be added
    _checked: tuple[Any, ...] = ()  # the parameters as they were when they were last looked at

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

    def _prepare(self, X: Any) -> None:
        """Called before anything is learned, with the first examples."""

    def _after_pass(self, run: Run, examples: Examples, target: Any) -> None:
        """Called after every pass, with what it counted."""

    # Input.

    def _option(self, name: str, default: Any = None) -> Any:
        """A parameter, where this estimator has it."""
        return getattr(self, name) if name in parameter_names(type(self)) else default

    def _check_parameters(self) -> None:
        for name in parameter_names(type(self)):
            rule = self._rules.get(name) or RULES.get(name)
            if rule and not rule[0](getattr(self, name)):
                raise SeqpaError(
                    f"{type(self).__name__}: {name}={getattr(self, name)!r}; it must be {rule[1]}"
                )

    def _check_again(self) -> None:
        """Before learning goes on: look at the parameters, unless they are the very same objects.

        For one example, to look at all of them takes as long as to learn.
        """
        now = parameter_values(self)
        if len(now) != len(self._checked) or not all(map(is_, now, self._checked)):
            self._check_parameters()
            self._check_unchanged()
            self._checked = now

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
            and (isinstance(y, str) or y.dtype.kind in LABEL_KINDS or _is_finite(y))
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
        if begin:
            self._prepare(X)
        else:
            self._check_unchanged()
        if begin and self._feature_map() is not None:
            fresh: FeatureMap = as_feature_map(copy.deepcopy(self._feature_map()))
            self.features_ = fresh.fit(X, target, n_labels)
        elif hasattr(getattr(self, "features_", None), "partial_fit"):
            self.features_.partial_fit(X, target, n_labels)
        examples = self._examples(X)
        if not begin and examples.joint and examples.n_features > self._learner.n_features:
            self._learner.resize(examples.n_features)
        if begin:
            width, joint = examples.n_features, examples.joint > 0
            self._begin(width, n_labels, examples.bias, joint, start)
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
            sums = run.mistakes, run.cost, run.loss, run.squared_loss, run.updates
            self._count(sums)
            self._after_pass(run, examples, target)

    def _begin(
        self,
        n_features: int,
        n_labels: int = 1,
        bias: bool = False,
        joint: bool = False,
        start: Floats | None = None,
    ) -> None:
        """A new learner, and nothing counted yet."""
        seed = check_random_state(getattr(self, "random_state", None)).randint(2**31 - 1)
        self._rng = np.random.default_rng(seed)
        self._learner = self._geometry()(
            self._problem(),
            self._step(),
            n_features,
            n_labels,
            bias=bias,
            average=self._averages(),
            joint=joint,
            start=start,
        )
        self._plain = (
            isinstance(self._learner, Learner) and not self._record and self._feature_map() is None
        )
        self._built_with = {name: getattr(self, name) for name in lasting_names(type(self))}
        self._checked = ()
        self.n_iter_ = self.n_updates_ = self.online_mistakes_ = 0
        self.online_loss_ = self.online_squared_loss_ = self.online_cost_ = 0.0

    def _count(self, sums: Totals) -> None:
        """One pass more: mistakes, cost, loss, squared loss and updates."""
        mistakes, cost, loss, squared_loss, updates = sums
        self.n_iter_ += 1
        self.n_updates_ += updates
        self.online_mistakes_ += int(mistakes)
        self.online_cost_ += cost
        self.online_loss_ += loss
        self.online_squared_loss_ += squared_loss

    def _row_of(self, X: Any) -> OneRow | None:
        """X as the one row of the kept way (`Learner.one_row`), if it is one and needs no check.

        scikit-learn's checks of one row take many times as long as to learn from it. What is not
        plainly right goes their way, for their messages.
        """
        if not self._plain or hasattr(self, "feature_names_in_"):
            return None
        width = self.n_features_in_
        if getattr(X, "shape", None) != (1, width) or X.dtype != np.float64:
            return None
        if self._learner.n_features != width:
            return None
        if type(X) is np.ndarray:
            row = self._learner.one_row(sparse=False) if X.flags.c_contiguous else None
            return row if row is not None and row.read_dense(X) else None
        if getattr(X, "format", None) != "csr" or X.indices.dtype != np.int32:
            return None
        if X.indptr[1] != len(X.data):
            return None
        row = self._learner.one_row(sparse=True)
        return row if row is not None and row.read_row(X.data, X.indices) else None

    def _learn_row(self, row: OneRow, target: float, C: float) -> None:
        """Learn from a row that was read."""
        learner = self._learner
        sums = row.learn(target, C, learner.seen)
        learner.seen += 1
        self._count(sums)

    def _fit_room(self) -> None:
        """As many columns as there are features, before arrays are met."""
        width = max(1, self.n_features_in_)
        if self._named and getattr(self._learner, "n_features", width) != width:
            self._learner.resize(width)

    def _uses_C(self) -> bool:
        """Whether examples can weigh differently, by their C."""
        return self._step() in USES_C

    def _weighed(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Floats | None]:
        """X and y without the examples of the weight 0, and the weights of the others."""
        if sample_weight is None:
            return X, y, None
        if not self._uses_C():
            raise SeqpaError(
                f"sample_weight scales C, which {self._step()} does not use; take variant='PA-I'"
            )
        weight = checked_weights(sample_weight, X.shape[0])
        some = weight > 0.0
        if some.all():
            return X, y, weight
        return X[some], y if y is None else y[some], weight[some]

    def _averages(self) -> bool:
        return bool(self._option("average"))


class LinearEstimator(OnlineEstimator):
    """Scores w_k·x + b_k.

    Attributes
    ----------
    coef_ : array of shape (1 or K, features)
        The weights; one row for two classes.
    intercept_ : array of shape (1 or K,)
        The bias of each row; 0 without `fit_intercept`.
    """

    @property
    def _weights(self) -> Floats:
        """The reported weights, float64[K, features (+ 1)]."""
        self._fit_room()
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
