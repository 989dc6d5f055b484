"""What the estimators with scikit-learn's signatures share: parameters, means, and vectors that are
each learned for itself."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from seqpa.core.descent import PassRecord, Settings, Vector, descend
from seqpa.core.examples import Examples
from seqpa.errors import SeqpaError

# Seeds are drawn below this, as scikit-learn draws them.
LARGEST_SEED = np.iinfo(np.int32).max


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not _is_flag(value) and value == value


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not _is_flag(value) and int(value) >= 1


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


# Parameter -> what it must satisfy, in code and in words; each holds wherever the name occurs.
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "C": (lambda v: _is_number(v) and v > 0, "a number above 0"),
    "eta0": (lambda v: _is_number(v) and v > 0, "a number above 0"),
    "alpha": (lambda v: _is_number(v) and v >= 0, "a number, 0 or above"),
    "epsilon": (lambda v: _is_number(v) and v >= 0, "a number, 0 or above"),
    "l1_ratio": (lambda v: _is_number(v) and 0 <= v <= 1, "a number from 0 to 1"),
    "penalty": (lambda v: v in (None, "l1", "l2", "elasticnet"), "None, l1, l2 or elasticnet"),
    "fit_intercept": (_is_flag, "True or False"),
    "max_iter": (_is_whole, "a whole number, 1 or above"),
    "tol": (lambda v: v is None or (_is_number(v) and v >= 0), "a number, 0 or above, or None"),
    "shuffle": (_is_flag, "True or False"),
    "early_stopping": (_is_flag, "True or False"),
    "validation_fraction": (lambda v: _is_number(v) and 0 < v < 1, "a number between 0 and 1"),
    "n_iter_no_change": (_is_whole, "a whole number, 1 or above"),
    "warm_start": (_is_flag, "True or False"),
    "verbose": (
        lambda v: _is_flag(v) or (isinstance(v, Integral) and int(v) >= 0),
        "a whole number, 0 or above, or True or False",
    ),
    "average": (lambda v: _is_flag(v) or _is_whole(v), "True, False or a whole number above 0"),
    "n_jobs": (lambda v: v is None or isinstance(v, Integral), "a whole number or None"),
}


class Descender(BaseEstimator):
    """What the three share: parameters, the means, and the vectors, each learned for itself."""

    coef_: Any
    intercept_: Any
    t_: float
    n_iter_: int
    early_stopping: bool
    fit_intercept: bool
    max_iter: int
    n_iter_no_change: int
    random_state: Any
    shuffle: bool
    tol: float | None
    validation_fraction: float
    verbose: int
    warm_start: bool
    average: bool | int = False
    _losses: ClassVar[dict[str, str]] = {}  # loss -> step

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _settings(self, max_iter: int) -> Settings:
        """How a vector descends."""

    def _check_parameters(self, one_pass: bool) -> None:
        name = type(self).__name__
        for parameter, value in self.get_params(deep=False).items():
            rule = _RULES.get(parameter)
            if rule and not rule[0](value):
                raise SeqpaError(f"{name}: {parameter}={value!r}; it must be {rule[1]}")
        loss = getattr(self, "loss", None)
        if self._losses and loss not in self._losses:
            raise SeqpaError(f"{name}: loss={loss!r}; it must be {' or '.join(self._losses)}")
        if one_pass and self.early_stopping:
            raise SeqpaError(f"{name}: early_stopping must be False with partial_fit")

    def _common(self, step: str, C: float, max_iter: int) -> dict[str, Any]:
        return {
            "step": step,
            "C": float(C),
            "fit_intercept": bool(self.fit_intercept),
            "max_iter": max_iter,
            "tol": self.tol,
            "patience": self.n_iter_no_change,
            "shuffle": bool(self.shuffle),
            "average": int(self.average),
        }

    def _checked(self, X: Any, y: Any, *, reset: bool, **rules: Any) -> Any:
        return validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            accept_large_sparse=False,
            reset=reset,
            **rules,
        )

    # Weights: coef_ and intercept_ are what predicts, the others what learning goes on from.

    def _begin(self, n_vectors: int, X: Any, coef: Any, intercept: Any) -> None:
        """The first weights: zero, or as given."""
        shape, ends = (n_vectors, X.shape[1]), (n_vectors,)
        self._standard_coef = np.zeros(shape, X.dtype)
        self._standard_intercept = np.zeros(ends, X.dtype)
        if coef is not None:
            self._standard_coef[:] = _shaped("coef_init", _dense(coef), shape)
        if intercept is not None:
            self._standard_intercept[:] = _shaped("intercept_init", intercept, ends)
        self._average_coef = np.zeros_like(self._standard_coef)
        self._average_intercept = np.zeros_like(self._standard_intercept)
        self.t_ = 1.0

    def _held_out(self, y: Any, weight: NDArray[Any], splitter: Any) -> Any:
        """A mask of the examples on which passes are judged, or None."""
        if not self.early_stopping:
            return None
        split = splitter(test_size=self.validation_fraction, random_state=self.random_state)
        _, chosen = next(split.split(np.zeros((len(y), 1)), y))
        if not (weight[chosen] > 0).any():
            raise SeqpaError(
                "the sample weights of the validation set are all zero: take another random_state"
            )
        mask = np.zeros(len(y), dtype=bool)
        mask[chosen] = True
        return mask

    def _descend(
        self,
        X: Any,
        targets: Sequence[NDArray[Any]],
        amounts: Sequence[NDArray[Any]],
        seeds: Sequence[int],
        settings: Settings,
        held_out: Any,
        scorer: Callable[[int], Any] | None,
        n_jobs: int | None = None,
    ) -> None:
        """Learn one vector for each row of targets, and keep what was learned."""
        examples = Examples.from_array(X)
        starts = [
            Vector(coef, float(intercept), mean if self.average else None, float(mean_intercept))
            for coef, intercept, mean, mean_intercept in zip(
                np.asarray(self._standard_coef, np.float64),
                self._standard_intercept,
                np.asarray(self._average_coef, np.float64),
                self._average_intercept,
                strict=True,
            )
        ]
        for start in starts:
            start.t = self.t_
        learned: list[Vector] = Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(descend)(
                examples,
                np.ascontiguousarray(targets[k], dtype=np.float64),
                np.ascontiguousarray(amounts[k], dtype=np.float64),
                starts[k],
                settings,
                seeds[k],
                held_out,
                None if scorer is None else scorer(k),
                _tell if self.verbose else None,
            )
            for k in range(len(targets))
        )
        kind = self._standard_coef.dtype
        self._standard_coef = np.array([vector.coef for vector in learned], kind)
        self._standard_intercept = np.array([vector.intercept for vector in learned], kind)
        self.n_iter_ = max(vector.n_iter for vector in learned)
        self.t_ += self.n_iter_ * X.shape[0]
        self.coef_, self.intercept_ = self._standard_coef, self._standard_intercept
        if self.average:
            self._average_coef = np.array([vector.mean_coef for vector in learned], kind)
            self._average_intercept = np.array([v.mean_intercept for v in learned], kind)
            if self.average <= self.t_ - 1:
                self.coef_, self.intercept_ = self._average_coef, self._average_intercept

    def _warn_of_the_end(self) -> None:
        if self.tol is not None and self.n_iter_ == self.max_iter:
            warnings.warn(
                "Maximum number of iteration reached before convergence. Consider increasing "
                "max_iter to improve the fit.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _scores(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_

    def densify(self) -> Any:
        """Make `coef_` an array again, after `sparsify`.

        Returns
        -------
        object
            Itself.
        """
        check_is_fitted(self)
        self.coef_ = _dense(self.coef_)
        return self

    def sparsify(self) -> Any:
        """Make `coef_` a sparse matrix, which takes less memory where most weights are 0.

        Returns
        -------
        object
            Itself.
        """
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self


def example_weights(sample_weight: Any, n: int) -> NDArray[np.float64]:
    """The weights of n examples, 1 each where none are given."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        raise SeqpaError(f"sample_weight has the shape {weight.shape}; there are {n} examples")
    if not np.isfinite(weight).all() or not weight.any():
        raise SeqpaError("sample_weight holds finite numbers, and not only zeros")
    return weight


def _dense(coef: Any) -> Any:
    return coef.toarray() if sparse.issparse(coef) else coef


def _shaped(name: str, given: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    array = np.asarray(given, dtype=np.float64)
    if array.shape != shape and not (shape[0] == 1 and array.ravel().shape == shape[-1:]):
        raise SeqpaError(f"{name} has the shape {array.shape}; the data ask for {shape}")
    return array.reshape(shape)


def _tell(done: PassRecord) -> None:
    """Print what scikit-learn prints of a pass."""
    print(f"-- Epoch {done.number}")
    line = (
        f"Norm: {np.linalg.norm(done.coef):.2f}, NNZs: {np.count_nonzero(done.coef)}, "
        f"Bias: {done.intercept:.6f}, T: {done.examples}, Avg. loss: {done.loss:f}, "
        f"Objective: {done.objective:f}"
    )
    print(line + ("" if done.score is None else f", Validation score: {done.score:f}"))
    if done.settled:
        print(f"Convergence after {done.number} epochs")
