"""`MiniBatchPAClassifier`: several examples make one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from seqpa.core.batch import BatchLearner
from seqpa.core.costs import Cost
from seqpa.core.kernels import KernelFunction
from seqpa.core.learner import OnlineLearner
from seqpa.core.steps import USES_C
from seqpa.estimators._asking import Asking
from seqpa.estimators._base import Floats, LinearEstimator
from seqpa.estimators._labels import OnlineClassifier, ThroughOrigin
from seqpa.estimators._parameters import RULES, WHOLE, Rule, one_of
from seqpa.estimators.classifier import CostClassifier
from seqpa.estimators.kernel import KERNEL_OR_NONE, KERNEL_RULES, KernelEstimator

if TYPE_CHECKING:
    from typing_extensions import Self


class Waiting:
    """Examples with their targets and C, in the order in which they came."""

    def __init__(self) -> None:
        self._parts: list[tuple[Any, Any, Floats]] = []
        self.learned = 0  # of the first ones, which wait to be learned from again

    def __len__(self) -> int:
        return sum(len(target) for _, target, _ in self._parts)

    def add(self, X: Any, target: Any, C: float | Floats) -> None:
        """Copies of them behind the last."""
        each_C = np.array(np.broadcast_to(C, len(target)), dtype=np.float64)
        self._parts.append((X.copy(), np.array(target), each_C))

    def take(self, n: int, keep: int, width: int) -> tuple[Any, Any, Floats]:
        """The first n, which then leave, but for the last `keep` of them."""
        matrices, targets, Cs = zip(*self._parts, strict=True)
        X, target, C = _stacked(matrices, width), np.concatenate(targets), np.concatenate(Cs)
        rest = slice(max(0, n - keep), None)
        self._parts = [(X[rest], target[rest], C[rest])] if len(target[rest]) else []
        self.learned = min(n, keep)
        return X[:n], target[:n], C[:n]


def _stacked(matrices: tuple[Any, ...], width: int) -> Any:
    """One matrix of all rows; features that came later are 0 in the rows before."""
    if not any(hasattr(part, "tocsr") for part in matrices):
        return np.concatenate(matrices)
    from scipy import sparse

    wide = [sparse.csr_matrix(part) for part in matrices]
    for part in wide:
        part.resize(part.shape[0], width)
    return sparse.vstack(wide, format="csr")


class MiniBatchPAClassifier(
    Asking, ThroughOrigin, CostClassifier, KernelEstimator, OnlineClassifier
):
    """Passive-aggressive classification by mini-batches (Mini-batch PA, §§3.2, 3.3).

    The B constraints of a mini-batch are met by one step, w ← w + Σ τ_k δ_k (Eq. 12), the smallest
    that meets them up to slack. τ solves, exactly, a quadratic problem with A_jk = δ_j·δ_k and
    ℓ_k = 1 − y_k f_k, not cut off at 0::

        "PA-I"   BPAI   max −½ τᵀAτ + τᵀℓ, 0 <= τ <= C        (Eq. 15, 16)
        "PA-II"  BPAII  max −½ τᵀ(A + I/2C)τ + τᵀℓ, 0 <= τ    (Eq. 17, 18)
        "PA-LS"  BPALS  τ = (A + I/2C)⁻¹ ℓ                    (Eq. 19)

    Eq. 17 and 19 are printed with 1/2C·τᵀτ and I/C. Derived again from the penalty Cξ² they have
    1/4C·τᵀτ and I/2C, as here, and only so is B = 1 PA-I, PA-II, PA-LS, that is `PAClassifier`. For
    three classes or more, or with a cost, each example brings the constraint that `PAClassifier`
    would look at.

    `partial_fit` and `learn_one` gather examples until B are there, over as many calls as it takes:
    10 calls of one example are one call of 10. Until then `predict` answers with what was learned
    from the last whole mini-batch; `flush` learns from what is waiting. In `fit`, what is left over
    at the end of a pass is a smaller mini-batch.

    With `overlapping`, as §3.2 writes it ("at each time, t, we have a set of B (labelled)
    examples"), nothing waits: every example makes one step together with the B − 1 before it.

    Parameters
    ----------
    batch_size : int, default 10
        B. A mini-batch in which no squared loss exceeds `tol` is skipped.
    kernel : {"linear", "poly", "rbf", "precomputed"}, function or None, default None
        None for weights on the features themselves, otherwise as in `KernelPAClassifier`.
    gamma : "scale", "auto" or float, default "scale"
        γ of "poly" and "rbf". "scale" is 1/(features · variance of the first X), "auto" 1/features.
    degree : int, default 3
        Degree of "poly".
    coef0 : float, default 0.0
        Constant of "poly", (γ x·z + coef0)^degree.
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    variant : {"PA-I", "PA-II", "PA-LS"}, default "PA-I"
        Which of the three quadratic problems above.
    margin : float, default 1.0
        By how much a right prediction must win; 1 in PA 2006.
    cost : Hierarchy, dict, array, function or None, default None
        ρ, what each mistake costs: a `Hierarchy`; a table {right: {predicted: cost}} or
        {(right, predicted): cost}; a square array in the order of `classes_`; or a function of two
        labels. None counts mistakes.
    update : {"prediction-based", "max-loss"}, default "prediction-based"
        With a cost, the label that the right one is compared with.
    fit_intercept : bool, default False
        Put a bias inside the norm (Mini-batch PA, Eq. 14).
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
    class_weight : dict, "balanced" or None, default None
        Factors of C: {class: factor}, or "balanced", inversely to the classes' frequencies. An
        example's C holds for all labels that it moves.
    overlapping : bool, default False
        Let mini-batches overlap: a step for each example, with those before it. It takes B times
        as long.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    coef_ : array of shape (1 or K, features)
        The weights; without a kernel only.
    intercept_ : array of shape (1 or K,)
        The bias of each label; 0 without `fit_intercept`.
    support_vectors_ : array or CSR matrix of shape (m, features)
        With a kernel, the examples of which the weights are a sum.
    dual_coef_ : array of shape (m, 1 or K)
        With a kernel, their coefficients.
    gamma_ : float
        With a kernel, γ as it is used.
    n_iter_ : int
        Passes made.
    n_updates_ : int
        The number of examples whose τ is not 0.
    online_mistakes_ : int
        Wrong predictions in all passes, each by the weights from before its mini-batch (its first
        one, where they overlap).
    online_loss_ : float
        Sum of the losses ℓ under those weights.
    online_squared_loss_ : float
        Sum of ℓ².
    online_cost_ : float
        Sum of the costs ρ; without a cost the number of mistakes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> for B in (1, 20):
    ...     model = MiniBatchPAClassifier(B, C=10.0, fit_intercept=True, max_iter=1, random_state=1)
    ...     print(B, model.fit(X, y).online_mistakes_, round(model.score(X, y), 3))
    1 27 0.967
    20 45 0.972
    """

    _rules: ClassVar[dict[str, Rule]] = {
        **KERNEL_RULES,
        "kernel": KERNEL_OR_NONE,
        "batch_size": WHOLE,
        "variant": one_of(*USES_C),
        "overlapping": RULES["average"],
    }

    def __init__(
        self,
        batch_size: int = 10,
        kernel: str | KernelFunction | None = None,
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        C: float = 1.0,
        variant: str = "PA-I",
        margin: float = 1.0,
        cost: Cost | None = None,
        update: str = "prediction-based",
        fit_intercept: bool = False,
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        overlapping: bool = False,
    ) -> None:
        self.batch_size = batch_size
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.variant = variant
        self.margin = margin
        self.cost = cost
        self.update = update
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.class_weight = class_weight
        self.overlapping = overlapping

    def _begin(self, *args: Any, **options: Any) -> None:
        super()._begin(*args, **options)
        self._waiting = Waiting()

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
        if not once or self.kernel == "precomputed":
            super()._train(X, target, n_labels, C=C, begin=begin, once=once, start=start)
            return
        if begin:
            self._prepare(X)
            self._begin(X.shape[1], n_labels, self.fit_intercept)
        else:
            self._check_unchanged()
        self._waiting.add(X, target, C)
        self.n_iter_ += 1
        if self.overlapping:
            self._learn_waiting(len(self._waiting), keep=self.batch_size - 1)
        else:
            self._learn_waiting(len(self._waiting) // self.batch_size * self.batch_size)

    def flush(self) -> Self:
        """Learn from the examples that wait for their mini-batch to be full, as a smaller one.

        Returns
        -------
        self
            The estimator.

        Examples
        --------
        >>> model = MiniBatchPAClassifier(batch_size=3)
        >>> for x, y in ({"a": 1.0}, 0), ({"b": 1.0}, 1):
        ...     model.learn_one(x, y, classes=[0, 1])
        >>> model.n_updates_, model.flush().n_updates_
        (0, 2)
        """
        check_is_fitted(self)
        if not self.overlapping:
            self._learn_waiting(len(self._waiting))
        return self

    def _learn_waiting(self, n: int, keep: int = 0) -> None:
        """Learn from the first n that wait; with `keep`, the last of them go on waiting."""
        before = self._waiting.learned
        if n <= before:
            return
        X, target, C = self._waiting.take(n, keep, self.n_features_in_)
        run = self._learner.run(self._examples(X), target, C=C, before=before)
        self._count((run.mistakes, run.cost, run.loss, run.squared_loss, run.updates))
        self.n_iter_ -= 1

    def _relabel(self, change: Floats) -> None:
        self.flush()  # a new label ends the mini-batch
        if self.overlapping:
            self._waiting = Waiting()
        super()._relabel(change)

    def _geometry(self) -> Callable[..., OnlineLearner]:
        if self.kernel is None:
            return partial(BatchLearner, batch_size=self.batch_size, overlapping=self.overlapping)
        return super()._geometry()

    def _scores(self, X: Any) -> Floats:
        linear = self.kernel is None
        return LinearEstimator._scores(self, X) if linear else KernelEstimator._scores(self, X)

    @property
    def coef_(self) -> Floats:
        """The weights, float64[K, features]; one row for two classes."""
        if self.kernel is not None:
            raise AttributeError("weights in a kernel's space are not listed; see dual_coef_")
        return super().coef_

    @property
    def intercept_(self) -> Floats:
        """The bias of each label; zero without `fit_intercept`."""
        if self.kernel is None:
            return LinearEstimator.intercept_.fget(self)  # type: ignore[attr-defined]
        return KernelEstimator.intercept_.fget(self)  # type: ignore[attr-defined]
