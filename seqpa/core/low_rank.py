"""An ellipsoid for very many weights: P in the directions that mistakes have shown, and no other.

The updates of `EllipsoidLearner` change P along the directions δ of mistakes alone. In an
orthonormal basis E of what these span, P is the same small matrix problem: with δ = E'α + e, e
outside the span, P⁻¹ = s·(E'U'UE + rest²·(I − E'E)), so that

    δ'Pδ = (‖U⁻ᵀα‖² + ‖e‖²/rest²)/s        Pδ = (E'U⁻¹U⁻ᵀα + e/rest²)/s

and the same compiled update moves U. A mistake outside the span adds a direction to the basis. M
mistakes among N weights take memory for M·N numbers and time for M·N + M² operations each, where a
full P takes N². As long as there are no more than `max_rank` directions this is the full P, to the
digits of rounding. After that P is held fixed outside of those it knows: an approximation.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from seqpa._kernel import ellipsoid as kernel
from seqpa.core.ellipsoid import EllipsoidLearner
from seqpa.core.examples import Examples
from seqpa.core.learner import Floats, Indices, Learner
from seqpa.core.problems import Problem
from seqpa.core.single import new_constraint
from seqpa.errors import SeqpaError

_OUTSIDE = 1e-8  # of ‖δ‖: what is less outside the span is rounding
_FIRST = 32  # directions for which there is room at first


class LowRankEllipsoidLearner(EllipsoidLearner):
    """`EllipsoidLearner` with the shape "low-rank".

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
    scale : float, default 1.0
        P_1 = scale · I.
    max_rank : int, default 500
        The highest number of directions that P knows.

    Attributes
    ----------
    directions : int
        How many it knows.

    Examples
    --------
    >>> from seqpa.core.problems import Binary
    >>> X = Examples.from_array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]])
    >>> learner = LowRankEllipsoidLearner(Binary(0.1), "PA", n_features=3, c=0.2, b=0.5)
    >>> run = learner.run(X, [1, -1])
    >>> learner.weights.round(3), learner.directions
    (array([[ 0.017, -0.138,  0.   ]]), 2)
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
        scale: float = 1.0,
        max_rank: int = 500,
    ) -> None:
        super().__init__(
            problem, step, n_features, n_labels, bias, average, joint, start,
            method=method, b=b, c=c, shape="low-rank", scale=scale,
        )  # fmt: skip
        self.max_rank = max_rank
        self.directions = 0
        room = min(max_rank, _FIRST)
        self._basis = np.zeros((room, self._W.size))
        self._Q = np.eye(room)

    @property
    def P(self) -> Floats:
        """The shape now as a whole, float64[N, N]: for few weights."""
        root = self._solved(self._basis)
        E = self._basis[: self.directions]
        outside = np.eye(self._W.size) - E.T @ E
        return np.asarray(root.T @ root + self._scale() / self._rest**2 * outside)

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
        """
        lengths = np.empty(X.shape[0])
        for i in range(len(lengths)):
            delta = self._direction(self._row(X, i), up, down, 1.0)
            inside = self._basis @ delta
            beyond = max(0.0, float(delta @ delta - inside @ inside))
            within = float((self._solved(inside[:, None]) ** 2).sum())
            lengths[i] = within + self._scale() * beyond / self._rest**2
        return lengths

    def _scale(self) -> float:
        return math.exp(min(-self._log, 709.0))

    def _direction(self, x: Floats, up: int, down: int, sign: float) -> Floats:
        delta = np.zeros(self._W.shape)
        delta[up] = sign * x
        if down >= 0:
            delta[down] -= x
        return delta.reshape(-1)

    def resize(self, n_features: int) -> None:
        """Weights for more features: 0, and P is as if they had been there from the start.

        Parameters
        ----------
        n_features : int
            Columns of the examples from now on.
        """
        old = self._basis.reshape(len(self._basis) * self._vectors, -1)
        wide = np.zeros((len(old), n_features + self.bias))
        wide[:, : self.n_features] = old[:, : self.n_features]
        wide[:, n_features:] = old[:, self.n_features :]
        self._basis = wide.reshape(len(self._basis), -1)
        Learner.resize(self, n_features)

    def relabel(self, problem: Problem, change: ArrayLike) -> None:
        """Not possible, but for a change of sign. It raises `SeqpaError`.

        Parameters
        ----------
        problem : Problem
            The problem with the new labels.
        change : array of shape (new K, K)
            The new vector of label k is Σ_j change[k, j] w_j.
        """
        if np.shape(change) != (1, 1):
            raise SeqpaError(
                "an ellipsoid of the shape 'low-rank' needs to know all labels at the start: give "
                "the first call classes"
            )
        Learner.relabel(self, problem, change)

    def _pass(self, examples: Examples, target: Any, rows: Indices, run: Any) -> None:
        self._mean = None
        problem = self.problem.kernel(target, self.n_labels)  # type: ignore[union-attr]
        scores = np.empty(self.n_labels)
        c = new_constraint(self.n_labels, scores)
        for t, i in enumerate(rows.tolist()):
            x = self._row(examples.matrix, i)
            scores[:] = self._W @ x
            r, score, up, down, sign, sides = problem.ask(i, c)
            n2, mistake = 0.0, None
            if sides > 0.0 and score <= 0.0:
                mistake = self._mistake(self._direction(x, up, down, sign))
                n2 = mistake.n2
                if self.method == "cellip" and n2 > 0.0 and r * r >= n2:
                    self.missed += 1
                    n2 = 0.0
            if run.settle(t, i, c, n2) == 0.0 or mistake is None:
                continue
            mistake = self._known(mistake)
            move = ((r / mistake.squared) * mistake.image).reshape(self._W.shape)
            self._W[:] += move
            if self.average:
                self._acc[:] += (self.seen + t) * move
            mistake.body.narrow(mistake.inside, mistake.squared, r / math.sqrt(n2))
            self._log, self._rest, self._next_c, _ = mistake.body.state()
            self.updates += 1

    def _row(self, matrix: Any, i: int) -> Floats:
        x = matrix[[i]].toarray()[0] if hasattr(matrix, "toarray") else matrix[i]
        return np.append(x, 1.0) if self.bias else np.asarray(x)

    def _mistake(self, delta: Floats) -> _Mistake:
        """δ in the basis and outside of it, and what P makes of it."""
        E = self._basis[: self.directions]
        inside = E @ delta
        beyond = delta - inside @ E
        more = E @ beyond  # once more: of what is left, rounding is a larger part
        inside, beyond = inside + more, beyond - more @ E
        if float(np.linalg.norm(beyond)) <= _OUTSIDE * float(np.linalg.norm(delta)):
            beyond[:] = 0.0
        return self._measured(np.pad(inside, (0, len(self._Q) - self.directions)), beyond)

    def _measured(self, inside: Floats, beyond: Floats) -> _Mistake:
        h = np.zeros(len(self._Q))
        body = self._body(h)
        squared = body.measure(inside) + float(beyond @ beyond) / self._rest**2
        n2 = body.length(squared) if squared > 0.0 else 0.0
        image = h[: self.directions] @ self._basis[: self.directions] + beyond / self._rest**2
        return _Mistake(inside, beyond, squared, n2, image, body)

    def _known(self, mistake: _Mistake) -> _Mistake:
        """The same with what is outside the basis taken up into it, if there is room.

        Only mistakes that move P come here: CELLIP leaves many alone, and directions take time.
        """
        size = float(np.linalg.norm(mistake.beyond))
        if size == 0.0 or self.directions == self.max_rank:
            return mistake
        inside = self._take_up(mistake.beyond / size, mistake.inside)
        inside[self.directions - 1] = size
        known = self._measured(inside, np.zeros(len(mistake.beyond)))
        return known._replace(squared=mistake.squared, n2=mistake.n2, image=mistake.image)

    def _take_up(self, direction: Floats, inside: Floats) -> Floats:
        """One more direction; returns the place of δ in the basis, which may have grown."""
        if self.directions == len(self._basis):
            room = min(self.max_rank, 2 * self.directions)
            Q = self._rest * np.eye(room)
            Q[: self.directions, : self.directions] = self._Q
            self._Q = Q
            more = room - self.directions
            self._basis = np.pad(self._basis, ((0, more), (0, 0)))
            inside = np.pad(inside, (0, more))
        self._basis[self.directions] = direction
        self.directions += 1
        return inside

    def _body(self, h: Floats) -> Any:
        """The compiled update, of the small matrix U."""
        return kernel.Ellipsoid(
            classical=self.method == "cellip",
            diagonal=False,
            W=np.zeros((1, len(self._Q))),
            acc=np.empty((0, 0)),
            Q=self._Q,
            scratch=(h, np.zeros(len(self._Q))),
            log=self._log,
            rest=self._rest,
            c=self._next_c,
            b=self.b,
        )


class _Mistake(NamedTuple):
    """α; e; ‖U⁻ᵀα‖² + ‖e‖²/rest²; δ'Pδ; Pδ without its scale; the compiled update."""

    inside: Floats
    beyond: Floats
    squared: float
    n2: float
    image: Floats
    body: Any
