"""An ellipsoid of classifiers, moved and shaped by the mistakes of its centre (Ellipsoid).

{z: (z − w)'P⁻¹(z − w) <= 1} stands for the classifiers that agree with what was seen. After a
mistake, w·δ <= 0, with n² = δ'Pδ, g = δ/n, α = (margin − w·δ)/n:

    w ← w + αPg
    CELLIP  P ← (1 − α²)P − 2α(1 − α)Pgg'P        margin aγ: Theorem 1 with ρ = 0, μ² = 1 − α²
    IELLIP  P ← (P − c_t Pgg'P)/(1 − c_t)         margin γ; c_t = c·b^(t−1), t counts the updates

so w ← w + τPδ with PA's τ = (margin − w·δ)/n²: a geometry, in which δ has the squared length δ'Pδ.
For several labels δ = Φ(x, lowest relevant) − Φ(x, highest irrelevant) of the stacked vectors.

Slips of the slides, put right here:
- The classical method's x_k+1 lacks P_k h_k; step 8 of CELLIP writes (1 − α) for (1 − α_t); and by
  Sherman and Morrison P⁻¹ becomes P⁻¹/(1 − α²) + 2α/((1 − α²)(1 − α)) gg', not …/((1 − α)²(1 − α)).
- CELLIP's P_1 = (1 + (1 − a)γ)I is a ball of the radius √(1 + (1 − a)γ). The proof of Theorem 2
  puts into it the ball of the radius (1 − a)γ around u, ‖u‖ = 1, every point of which has the
  margin aγ: that asks for the radius 1 + (1 − a)γ, P_1 = (1 + (1 − a)γ)²I. Each of M mistakes
  shrinks the volume by (1 − α²)^(d/2) or more, α² >= a²γ²/(1 + (1 − a)γ)², and the small ball stays
  inside:
      M <= (2 log((1 − a)γ) − 2 log(1 + (1 − a)γ)) / log(1 − a²γ²/(1 + (1 − a)γ)²)
  The slide has one log(1 + (1 − a)γ) in the numerator and the square in the denominator.
- IELLIP: q = (u − w)'P⁻¹(u − w) falls in a mistake by τ(2(margin − w·δ) − τn² − 2l) or more, which
  is PA 2006, Lemma 1 with n² for ‖δ‖²: P never shrinks, so q never grows by its change. With
  l = max(0, γ − y u·x) (the slide lacks y), p = max(0, γ − y w·x) − l the sum is
  Σ (p² − l²)/n² <= ‖u‖², and since ‖x‖² <= n² <= κ‖x‖², κ = (1 − b)/(1 − b − c), unit vectors give
      M <= κ(‖u‖² + Σ h(l))/γ²,   h(l) = 2γl up to l = γ, and l² + γ² beyond
  The slide's Theorem 3, 1/γ² + 2κ/γ Σl, has no κ at its first term, and no more than 2γl for a
  loss above γ. A step that goes all the way to the margin of a wrong label can cost more: one label
  among hundreds of right ones breaks the printed bound (that sequence is among the tests).

"diagonal" keeps the diagonal of P only, for many features. IELLIP's bound holds for it as it stands
(its P never shrinks either); CELLIP's covering does not, so there it is an approximation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from seqpa._kernel import ellipsoid as kernel
from seqpa.core.examples import Examples
from seqpa.core.learner import Floats, Indices, Learner
from seqpa.core.problems import Binary, Multiclass, Multilabel, Problem
from seqpa.core.single import new_constraint
from seqpa.errors import SeqpaError

METHODS = ("iellip", "cellip")
SHAPES = ("full", "diagonal", "low-rank")
_LARGEST = 1 << 32  # bytes of a full P
_AT_ONCE = 256  # examples whose lengths are measured at once


class EllipsoidLearner(Learner):
    """The centre and the shape of an ellipsoid of classifiers.

    Parameters
    ----------
    problem : Binary, Multiclass or Multilabel
        With the margin γ, for CELLIP aγ.
    step : str
        "PA".
    n_features : int
        Columns of the examples.
    n_labels : int, default 1
        K; 1 for a binary problem.
    bias : bool, default False
        One more weight for each label, for the constant feature of the examples.
    average : bool, default False
        Keep what `mean_weights` needs.
    joint : bool, default False
        Not possible here: there is a weight vector for each label.
    start : array of shape (K, features) or None, default None
        w₁, the weights at the start; zero if None.
    method : {"iellip", "cellip"}, default "iellip"
        Which update.
    b : float, default 0.3
        IELLIP's memory, c_t = c·b^(t−1).
    c : float, default 0.1
        IELLIP's first c_t.
    shape : {"full", "diagonal"}, default "full"
        All of P, or its diagonal as an approximation.
    scale : float, default 1.0
        P_1 = scale · I.

    Attributes
    ----------
    updates : int
        How many mistakes moved it.
    missed : int
        Mistakes of CELLIP for which no classifier of the ellipsoid has the margin (α >= 1), so that
        nothing was done: the examples are not separable, or not with this margin.

    Examples
    --------
    >>> X = Examples.from_array([[1.0, 0.0], [0.6, 0.8]])
    >>> learner = EllipsoidLearner(Binary(0.1), "PA", n_features=2, c=0.2, b=0.5)
    >>> run = learner.run(X, [1, -1])
    >>> learner.weights.round(3), learner.P.round(3)
    (array([[ 0.017, -0.138]]), array([[ 1.077, -0.057],
           [-0.057,  1.293]]))
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
        *,
        method: str = "iellip",
        b: float = 0.3,
        c: float = 0.1,
        shape: str = "full",
        scale: float = 1.0,
    ) -> None:
        if not isinstance(problem, Binary | Multiclass | Multilabel) or joint or step != "PA":
            raise SeqpaError("an ellipsoid is of Binary, Multiclass or Multilabel and the step PA")
        if method not in METHODS or shape not in SHAPES:
            raise SeqpaError(f"method is one of {METHODS}, shape one of {SHAPES}")
        if not (0.0 <= b <= 1.0 and 0.0 <= c <= 1.0 and scale > 0.0):
            raise SeqpaError(f"b={b}, c={c}, scale={scale}: 0 <= b <= 1, 0 <= c <= 1, scale > 0")
        super().__init__(problem, step, n_features, n_labels, bias, average, joint, start)
        N = self._W.size
        self.method = method
        self.shape = shape
        self._check_size(N)
        self.b = b
        self.c = c
        self.scale = scale
        self.updates = self.missed = 0
        # P⁻¹ = s · Q'Q, or P = s · Q for the diagonal, s kept as its logarithm; `rest` is what Q
        # has on its diagonal where nothing was learned.
        self._Q = np.eye(N) if shape == "full" else np.ones((1, N))
        self._log = math.log(scale) if shape == "diagonal" else -math.log(scale)
        self._rest, self._next_c = 1.0, c

    @property
    def P(self) -> Floats:
        """The shape now: float64[N, N], or its diagonal [N]; N = K · (features (+ 1))."""
        if self.shape == "diagonal":
            return _exp(self._log) * self._Q[0]
        root = self._solved(np.eye(len(self._Q)))
        return root.T @ root

    def _solved(self, directions: Floats) -> Floats:
        """A square root of P times each of the directions, which are columns."""
        from scipy.linalg import solve_triangular

        solved = solve_triangular(self._Q, directions, trans="T", check_finite=False)
        return np.asarray(_exp(-0.5 * self._log) * solved)

    def lengths2(self, X: Any, up: int, down: int = -1) -> Floats:
        """δ'Pδ for δ = Φ(x, up) − Φ(x, down) of every row x.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The rows.
        up : int
            A label.
        down : int, default -1
            Another label; −1 for Φ(x, up) alone.

        Returns
        -------
        array of shape (n,)
            The squared lengths.

        Examples
        --------
        >>> learner = EllipsoidLearner(Binary(0.1), "PA", n_features=2, scale=0.5)
        >>> learner.lengths2(np.array([[3.0, 4.0]]), up=0)
        array([12.5])
        """
        width = self._W.shape[1]
        blocks = [slice(k * width, (k + 1) * width) for k in (up, down) if k >= 0]
        if self.shape == "diagonal":
            diagonal = np.sum([self._Q[0, block] for block in blocks], axis=0)
            squares = X.multiply(X).tocsr() if hasattr(X, "multiply") else X * X
            inner = squares @ diagonal[: self.n_features] + (diagonal[-1] if self.bias else 0.0)
            return np.asarray(_exp(self._log) * inner)
        lengths = np.empty(X.shape[0])
        for first in range(0, len(lengths), _AT_ONCE):
            rows = X[first : first + _AT_ONCE]
            x = np.ones((rows.shape[0], width))
            x[:, : self.n_features] = rows.toarray() if hasattr(rows, "toarray") else rows
            directions = np.zeros((len(self._Q), len(x)))
            directions[blocks[0]] = x.T
            if down >= 0:
                directions[blocks[1]] = -x.T
            lengths[first : first + _AT_ONCE] = (self._solved(directions) ** 2).sum(axis=0)
        return lengths

    def resize(self, n_features: int) -> None:
        """Weights for more features: 0, and P is as if they had been there from the start.

        Parameters
        ----------
        n_features : int
            Columns of the examples from now on.
        """
        N, width = self._vectors * (n_features + self.bias), n_features + self.bias
        self._check_size(N)
        if n_features < self.n_features:
            raise SeqpaError("an ellipsoid cannot lose features")
        kept = np.arange(self.n_features)
        old, new = kept, kept
        if self.bias:
            old, new = np.append(kept, self.n_features), np.append(kept, n_features)
        blocks = np.arange(self._vectors)[:, None]
        at_old = (blocks * (self.n_features + self.bias) + old).reshape(-1)
        at_new = (blocks * width + new).reshape(-1)
        if self.shape == "full":
            rows = np.zeros((N, N))
            rows[: len(at_old), at_new] = self._Q[np.ix_(np.arange(len(at_old)), at_old)]
            new_places = np.setdiff1d(np.arange(N), at_new)
            rows[np.arange(len(at_old), N), new_places] = self._rest
            self._Q = _triangular(rows)
        else:
            Q = np.full((1, N), self._rest)
            Q[0, at_new] = self._Q[0, at_old]
            self._Q = Q
        super().resize(n_features)

    def relabel(self, problem: Problem, change: ArrayLike) -> None:
        """Weights for other labels, as `Learner.relabel`; a new label has the first P.

        Where one vector becomes two, v/2 and −v/2, each has P for itself: then δ'Pδ is twice what
        it was, w moves by half as much each, and the two are told apart as before.

        Parameters
        ----------
        problem : Problem
            The problem with the new labels.
        change : array of shape (new K, K)
            The new vector of label k is a multiple of one that there is, or 0.
        """
        T = np.asarray(change, dtype=np.float64)
        source = [int(np.flatnonzero(row)[0]) if row.any() else -1 for row in T]
        width = self._W.shape[1]
        self._check_size(len(T) * width)

        def block(k: int) -> slice:
            return slice(k * width, (k + 1) * width)

        if self.shape == "full":
            rows = []
            for j in range(self._vectors):
                copies = [k for k in range(len(T)) if source[k] == j]
                # One label's rows of U reach into other labels' columns; copies stand alone.
                for k in copies:
                    wide = np.zeros((width, len(T) * width))
                    for n, m in enumerate(source):
                        if n == k or (m >= 0 and m != j and len(copies) == 1):
                            wide[:, block(n)] = self._Q[block(j), block(m)]
                    rows.append(wide)
            for k, j in enumerate(source):
                if j < 0:
                    wide = np.zeros((width, len(T) * width))
                    wide[:, block(k)] = self._rest * np.eye(width)
                    rows.append(wide)
            self._Q = _triangular(np.concatenate(rows))
        else:
            Q = np.full((1, len(T) * width), self._rest)
            for k, j in enumerate(source):
                if j >= 0:
                    Q[0, block(k)] = self._Q[0, block(j)]
            self._Q = Q
        super().relabel(problem, T)

    def _check_size(self, N: int) -> None:
        if self.shape == "full" and 8 * N * N > _LARGEST:
            raise SeqpaError(
                f"a full P for {N} weights takes {8 * N * N / 2**30:.0f} GiB; take "
                "shape='low-rank' or 'diagonal'"
            )

    def _pass(self, examples: Examples, target: Any, rows: Indices, run: Any) -> None:
        self._mean = None
        body = kernel.Ellipsoid(
            classical=self.method == "cellip",
            diagonal=self.shape == "diagonal",
            W=self._W,
            acc=self._acc,
            Q=self._Q,
            scratch=(np.zeros(self._W.size), np.zeros(self._W.size)),
            log=self._log,
            rest=self._rest,
            c=self._next_c,
            b=self.b,
        )
        problem = self.problem.kernel(target, self.n_labels)  # type: ignore[union-attr]
        c = new_constraint(self.n_labels)
        kernel.ellipsoid_pass(examples.rows, problem, run, rows, body, c)
        self._log, self._rest, self._next_c, missed = body.state()
        self.missed += missed
        self.updates += run.totals()[-1]

    def _lay_out(self, by_feature: bool) -> None:
        """Always [labels, features]: one behind the other they are the space of P."""


def _exp(value: float) -> float:
    """exp, or infinity."""
    return math.exp(value) if value < 709.0 else math.inf


def _triangular(rows: Floats) -> Floats:
    """The upper triangular U with U'U = A'A and a positive diagonal."""
    if not np.tril(rows, -1).any():
        return rows
    U = np.linalg.qr(rows, mode="r")
    return np.ascontiguousarray(np.where(np.diagonal(U) < 0.0, -1.0, 1.0)[:, None] * U)
