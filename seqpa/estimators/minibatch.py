"""`MiniBatchPAClassifier`: several examples make one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from seqpa.core.batch import BatchLearner
from seqpa.core.costs import Cost
from seqpa.core.kernels import KernelFunction
from seqpa.core.learner import OnlineLearner
from seqpa.core.steps import USES_C
from seqpa.estimators._base import Floats, LinearEstimator, OnlineClassifier, Rule, one_of
from seqpa.estimators.classifier import CostClassifier
from seqpa.estimators.kernel import KERNEL_RULES, KernelEstimator, or_none, whole


class MiniBatchPAClassifier(CostClassifier, KernelEstimator, OnlineClassifier):
    """Passive-aggressive classification by mini-batches (Perez-Suay et al., §3.2 and 3.3).

    The B constraints of a mini-batch are met by one step, w ← w + Σ τ_k δ_k (Eq. 12), the smallest
    that meets them up to slack. τ solves, exactly, a quadratic problem with A_jk = δ_j·δ_k and
    ℓ_k = 1 − y_k f_k, not cut off at 0:

        "PA-I"   BPAI   max −½ τᵀAτ + τᵀℓ, 0 <= τ <= C        (Eq. 15, 16)
        "PA-II"  BPAII  max −½ τᵀ(A + I/2C)τ + τᵀℓ, 0 <= τ    (Eq. 17, 18)
        "PA-LS"  BPALS  τ = (A + I/2C)⁻¹ ℓ                    (Eq. 19)

    Eq. 17 and 19 are printed with 1/2C·τᵀτ and I/C: deriving them again from the penalty Cξ² gives
    1/4C·τᵀτ and I/2C, as here, and so B = 1 is PA-I, PA-II, PA-LS, that is `PAClassifier`. For
    three classes or more, or with a cost, each example brings the constraint that `PAClassifier`
    would look at.

    batch_size      B; what is left over at the end of a pass is a smaller mini-batch. A mini-batch
                    in which no squared loss exceeds `tol` is left alone
    kernel          None for weights on the features themselves, or as in `KernelPAClassifier`
    fit_intercept   True puts a bias inside the norm, as the paper has it (Eq. 14)
    gamma, degree, coef0: as in `KernelPAClassifier`
    C, margin, cost, update, average, max_iter, tol, shuffle, class_weight: as in `PAClassifier`

    Attributes: `classes_`; `coef_` and `intercept_`, or with a kernel `support_vectors_`,
    `dual_coef_`, `intercept_`, `gamma_`; `n_iter_`; `n_updates_`, the number of examples with a
    τ that is not 0; and the sums over all passes `online_mistakes_`, `online_loss_`,
    `online_squared_loss_`, `online_cost_`, in which each example meets the weights from before its
    mini-batch.

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
        "kernel": or_none,
        "batch_size": whole,
        "variant": one_of(*USES_C),
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

    def _geometry(self) -> Callable[..., OnlineLearner]:
        if self.kernel is None:
            return partial(BatchLearner, batch_size=self.batch_size)
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
