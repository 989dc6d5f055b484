"""Weights on the simplex, moved by factors: w_j ← w_j exp(τ v_j)/Z (PA 2003, §6).

The relative entropy D(u‖w) = Σ u_j log(u_j/w_j) measures here what ½‖u − w‖² measures elsewhere. A
step along δ = v lowers it by

    D(u‖w_t) − D(u‖w_t+1) = τ u·v − log Σ_j w_j exp(τ v_j) >= τ(u − w)·v − τ²D²/8

by Hoeffding's lemma, if all v_j lie in an interval of length D. That is half of what PA 2006,
Lemma 1 has, 2τ(u − w)·v − τ²n², with n² = D²/4, so the whole theory of `seqpa.core.theorems` holds
with D²/4 for ‖δ‖² and 2D(u‖w₁) for ‖u − w₁‖², and so do its steps: PA's r/n² is the τ = 4ℓ/D² of
PA 2003.

    regression      v = ±x, x >= 0: D = ‖x‖∞, τ = 4ℓ/‖v‖∞² as printed
    binary          v = yx: the same. But w·x >= 0 always, so that an example of the class −1 can
                    never have a margin: one vector on the simplex tells no two classes apart
    several labels  w is one distribution over all labels' vectors; v = Φ(x, y) − Φ(x, r) lies
                    within ±‖x‖∞: D = 2‖x‖∞, τ = ℓ/‖v‖∞². Two labels: this is how two classes are
                    told apart, by w_1·x − w_0·x
    uniclass        v = (x − w)/‖x − w‖ lies within ±‖v‖∞: D = 2‖v‖∞, τ = ℓ/‖v‖∞²

PA 2003, Theorem 4, Σℓ² + 2(ε − ε*)Σℓ <= ½B·D(u‖w₁), follows with B = max D²: ‖x‖∞² for regression
and classification as printed, and 4 for uniclass, since ‖v‖∞ <= ‖v‖₂ = 1. PA 2003 prints τ =
ℓ/8‖v‖∞² and B = 16 for uniclass. Its theorem cannot be had with that step: where ε = ε*, a loss ℓ
gains ⅛ℓ² less a part of second order, so that Σℓ² can exceed 8D(u‖w₁) (a sequence that does is
among the tests); where ε > ε*, the second sum alone asks for a step of ℓ/4. The step above proves B
= 4, and so B = 16.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from seqpa._kernel import multiplicative as kernel
from seqpa.core.examples import Examples
from seqpa.core.learner import Floats, Indices, Learner
from seqpa.core.problems import Problem, Uniclass
from seqpa.core.single import new_constraint
from seqpa.errors import SeqpaError


class MultiplicativeLearner(Learner):
    """One distribution over the features of all labels, uniform at first.

    Examples must not be negative.

    Parameters
    ----------
    problem : Problem
        Any but a uniclass problem with a learned radius.
    step : str
        How far to go.
    n_features : int
        Columns of the examples.
    n_labels : int, default 1
        K; 1 for binary, regression and uniclass problems.
    bias : bool, default False
        One more weight for each label, for the constant feature of the examples.
    average : bool, default False
        Keep what `mean_weights` needs.
    joint : bool, default False
        Not possible here: there is a weight vector for each label.
    start : array of shape (K, features) or, with a bias, (K, features + 1), or None, default None
        w₁, a distribution of positive numbers; the uniform one if None.

    Examples
    --------
    >>> from seqpa.core.problems import Regression
    >>> learner = MultiplicativeLearner(Regression(epsilon=0.0), "PA", n_features=3)
    >>> run = learner.run(Examples.from_array([[1.0, 0.0, 2.0]]), [1.5])
    >>> learner.weights.round(3)
    array([[0.307, 0.186, 0.506]])
    """

    def __init__(
        self,
        problem: Problem,
        step: str,
        n_features: int,
        n_labels: int = 1,
        bias: bool = False,
        average: bool = False,
        joint: bool = False,
        start: ArrayLike | None = None,
    ) -> None:
        if joint or (isinstance(problem, Uniclass) and problem.max_radius is not None):
            raise SeqpaError("multiplicative steps know no single prototype and learn no radius")
        super().__init__(problem, step, n_features, n_labels, bias, average)
        shape = (n_labels, n_features + bias)
        first = np.full(shape, 1.0 / np.prod(shape)) if start is None else np.array(start, float)
        if first.shape != shape or not (first > 0.0).all():
            raise SeqpaError(f"start must be a positive array of the shape {shape}")
        self._theta = np.log(first)
        self._e = np.empty(shape)  # proportional to the weights
        self._sum = np.zeros(shape if average else (0, 0))
        self._since = np.zeros_like(self._sum)
        self._simplex()

    @property
    def weights(self) -> Floats:
        """The weights now, float64[K, features (+ 1)], of the sum 1.

        A uniclass centre has one more entry, 0: where other learners keep the radius.
        """
        return self._given(self._e / self._e.sum())

    @property
    def mean_weights(self) -> Floats:
        """The mean of the weights after each example seen; the centre's likewise."""
        if not self.average:
            raise SeqpaError("the mean of the weights needs MultiplicativeLearner(average=True)")
        return self._given(self._sum / self.seen) if self.seen else self.weights

    def _given(self, W: Floats) -> Floats:
        W = W.T if self._by_feature else W
        return np.append(W, [[0.0]], axis=1) if isinstance(self.problem, Uniclass) else W

    def resize(self, n_features: int) -> None:
        """Not possible: the weights share a sum of 1. It raises `SeqpaError`.

        Parameters
        ----------
        n_features : int
            Columns of the examples from now on.
        """
        raise SeqpaError(
            "weights on the simplex share a sum of 1: all features must be known at the start, so "
            "begin with fit or partial_fit of a whole row"
        )

    def relabel(self, problem: Problem, change: ArrayLike) -> None:
        """Not possible: the weights share a sum of 1. It raises `SeqpaError`.

        Parameters
        ----------
        problem : Problem
            The problem with the new labels.
        change : array of shape (new K, K)
            The new vector of label k is Σ_j change[k, j] w_j.
        """
        raise SeqpaError(
            "weights on the simplex share a sum of 1: all labels must be known at the start, so "
            "give the first call classes"
        )

    def _check(self, examples: Examples) -> None:
        super()._check(examples)
        matrix = examples.matrix
        values = matrix.data if examples.sparse else matrix
        if values.size and values.min() < 0.0:
            i, j = (int(index[0]) for index in (matrix < 0.0).nonzero())
            raise SeqpaError(
                f"Negative values in data: row {i}, column {j} is {matrix[i, j]:.6g}; "
                "multiplicative steps need values of 0 and above, as MinMaxScaler makes them"
            )

    def _pass(self, examples: Examples, target: Any, rows: Indices, run: Any) -> None:
        w, c = self._simplex(), new_constraint(self.n_labels)
        if isinstance(self.problem, Uniclass):
            v = np.empty(self.n_features)
            kernel.simplex_uniclass_pass(examples.rows, run, self.problem.radius, rows, w, v, c)
            return
        problem = self.problem.kernel(target, self.n_labels)
        kernel.simplex_pass(examples.rows, problem, run, _peaks(examples), rows, w, c)

    def _simplex(self) -> Any:
        return kernel.Simplex(self._theta, self._e, self._sum, self._since, self._by_feature)

    def _lay_out(self, by_feature: bool) -> None:
        if by_feature != self._by_feature and not isinstance(self.problem, Uniclass):
            self._by_feature = by_feature
            for name in ("_theta", "_e", "_sum", "_since"):
                setattr(self, name, np.ascontiguousarray(getattr(self, name).T))


def _peaks(examples: Examples) -> Floats:
    """‖x_i‖∞ of examples that are not negative, the bias included."""
    least = 1.0 if examples.bias else 0.0
    if examples.n_features == 0:
        return np.full(len(examples), least)
    highest = examples.matrix.max(axis=1)
    if examples.sparse:
        highest = highest.toarray().reshape(-1)
    return np.maximum(np.asarray(highest, dtype=np.float64), least)


def relative_entropy(u: ArrayLike, w: ArrayLike) -> float:
    """The relative entropy D(u‖w) = Σ u_j log(u_j/w_j) of two distributions, where 0 log 0 = 0.

    Parameters
    ----------
    u : array
        A distribution.
    w : array
        Another of the same shape.

    Returns
    -------
    float
        D(u‖w).

    Examples
    --------
    >>> round(relative_entropy([0.5, 0.5, 0.0], [0.25, 0.5, 0.25]), 4)
    0.3466
    """
    p, q = np.asarray(u, dtype=np.float64).reshape(-1), np.asarray(w, dtype=np.float64).reshape(-1)
    if np.any(p < 0.0) or not np.isclose(p.sum(), 1.0):
        raise SeqpaError("the comparator of a multiplicative run is a distribution: of the sum 1")
    some = p > 0.0
    with np.errstate(divide="ignore"):
        return max(0.0, float(np.sum(p[some] * np.log(p[some] / q[some]))))
