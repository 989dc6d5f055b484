"""The problems: which constraint `w·δ >= margin` does an example ask for?

A problem says it twice. `kernel` hands the question to the compiled loop, which answers it for one
example at a time from that example's scores (`_kernel/vectors.py`, `Problem.constraint`). `losses`
answers, for many examples at once, what fixed weights would lose: the ℓ* of the theorems, and the
readable definition of the loss. Equation numbers are those of PA 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa._kernel import vectors as kernel
from seqpa.errors import SeqpaError

Floats: TypeAlias = NDArray[np.float64]
_NO_FLOATS = np.empty(0)
_NO_TABLE = np.empty((0, 0))
_NO_BYTES = np.empty((0, 0), dtype=np.uint8)


@dataclass(frozen=True)
class Binary:
    """Two classes, y = ±1 (PA 2006, §2).

    The constraint is y(w·x) >= margin, the loss ℓ = max(0, margin − y(w·x)) (PA 2006, Eq. 1). With
    margin = −ε this is the ε-insensitive view of PA 2003, Eq. 2.

    Parameters
    ----------
    margin : float, default 1.0
        What y(w·x) must reach.

    Examples
    --------
    >>> Binary().losses([2.0, 0.25, 0.5], [1, 1, -1])
    array([0.  , 0.75, 1.5 ])
    """

    margin: float = 1.0

    def losses(self, scores: ArrayLike, target: ArrayLike) -> Floats:
        """The loss of each example (PA 2006, Eq. 1).

        Parameters
        ----------
        scores : array of shape (n,) or (n, 1)
            w·x of each example.
        target : array of shape (n,)
            +1 or −1 for each example.

        Returns
        -------
        array of shape (n,)
            The loss ℓ of each example.
        """
        return np.maximum(0.0, self.margin - np.asarray(target) * _one_score(scores))

    def kernel(self, target: ArrayLike, n_labels: int = 1) -> Any:
        """For the compiled loop: this problem with its checked targets.

        Parameters
        ----------
        target : array of shape (n,)
            +1 or −1 for each example.
        n_labels : int, default 1
            Not used.

        Returns
        -------
        Problem of the kernel
            The problem as the compiled loop reads it.
        """
        y = _vector(target)
        if not (y * y == 1.0).all():
            raise SeqpaError("the target of a binary problem is +1 or -1 for each example")
        return kernel.Problem(kernel.CODES["binary"], self.margin, y, _NO_BYTES, _NO_TABLE)


@dataclass(frozen=True)
class Regression:
    """A real number y (PA 2006, §5).

    The constraint is −|y − w·x| >= −ε, the loss ℓ = max(0, |y − w·x| − ε) (PA 2006, Eq. 18).

    Parameters
    ----------
    epsilon : float
        ε, the error that costs nothing.

    Examples
    --------
    >>> Regression(epsilon=0.5).losses([1.0, 3.0], [1.25, 1.0])
    array([0. , 1.5])
    """

    epsilon: float

    def losses(self, scores: ArrayLike, target: ArrayLike) -> Floats:
        """The loss of each example (PA 2006, Eq. 18).

        Parameters
        ----------
        scores : array of shape (n,) or (n, 1)
            w·x of each example.
        target : array of shape (n,)
            The right number of each example.

        Returns
        -------
        array of shape (n,)
            The loss ℓ of each example.
        """
        return np.maximum(0.0, np.abs(np.asarray(target) - _one_score(scores)) - self.epsilon)

    def kernel(self, target: ArrayLike, n_labels: int = 1) -> Any:
        """For the compiled loop: this problem with its checked targets.

        Parameters
        ----------
        target : array of shape (n,)
            The right number of each example.
        n_labels : int, default 1
            Not used.

        Returns
        -------
        Problem of the kernel
            The problem as the compiled loop reads it.
        """
        y = _vector(target)
        if not np.isfinite(y).all():
            raise SeqpaError("the target of a regression holds NaN or infinity")
        return kernel.Problem(kernel.CODES["regression"], -self.epsilon, y, _NO_BYTES, _NO_TABLE)


@dataclass(frozen=True)
class Uniclass:
    """A ball around the examples (PA 2006, §6).

    The constraint is −‖x − w‖ >= −ε, the loss ℓ = max(0, ‖x − w‖ − ε) (PA 2006, Eq. 21).

    A learned radius (PA 2006, Eq. 31-32) works in one dimension more: every example is 0 there, w
    starts with B there, and the ball around w has the fixed radius B. Its cut with the examples'
    space has the radius √(B² − w²_n+1), which starts at 0 and only grows.

    Parameters
    ----------
    epsilon : float
        The radius, where it is fixed.
    max_radius : float or None, default None
        B, the highest radius that can be learned; None for the fixed radius.

    Examples
    --------
    >>> Uniclass(epsilon=2.0).losses([1.5, 2.75])
    array([0.  , 0.75])
    """

    epsilon: float
    max_radius: float | None = None

    @property
    def radius(self) -> float:
        """The fixed radius of the ball in which w moves: ε, or B where the radius is learned."""
        return self.epsilon if self.max_radius is None else self.max_radius

    def losses(self, distances: ArrayLike, target: object = None) -> Floats:
        """The loss of each example (PA 2006, Eq. 21).

        Parameters
        ----------
        distances : array of shape (n,)
            ‖x − w‖, the extra coordinate included where the radius is learned.
        target : object, default None
            Not used.

        Returns
        -------
        array of shape (n,)
            The loss ℓ of each example.
        """
        return np.maximum(0.0, np.asarray(distances, dtype=np.float64) - self.radius)


@dataclass(frozen=True)
class Multiclass:
    """One of K labels, y its index (PA 2006, §7).

    The constraint is w_y·x − w_s·x >= margin, s the highest wrong label, the loss
    ℓ = max(0, margin − (w_y·x − w_s·x)) (PA 2006, Eq. 40 with one relevant label).

    Parameters
    ----------
    margin : float, default 1.0
        By how much the right label must win.

    Examples
    --------
    >>> Multiclass().losses([[2.0, 0.5, 1.75], [0.0, 3.0, 1.0]], [0, 2])
    array([0.75, 3.  ])
    """

    margin: float = 1.0

    def losses(self, scores: ArrayLike, target: ArrayLike) -> Floats:
        """The loss of each example (PA 2006, Eq. 40).

        Parameters
        ----------
        scores : array of shape (n, K)
            w_k·x of each example and label.
        target : array of shape (n,)
            The index of the right label of each example.

        Returns
        -------
        array of shape (n,)
            The loss ℓ of each example.
        """
        s = np.array(scores, dtype=np.float64)
        if s.shape[1] < 2:
            return np.zeros(len(s))
        rows, y = np.arange(len(s)), np.asarray(target, dtype=np.intp)
        right = s[rows, y]
        s[rows, y] = -np.inf
        return np.maximum(0.0, self.margin - (right - s.max(axis=1)))

    def kernel(self, target: ArrayLike, n_labels: int) -> Any:
        """For the compiled loop: this problem with its checked targets.

        Parameters
        ----------
        target : array of shape (n,)
            The index of the right label of each example.
        n_labels : int
            K.

        Returns
        -------
        Problem of the kernel
            The problem as the compiled loop reads it.
        """
        y = _labels(target, n_labels)
        return kernel.Problem(kernel.CODES["multiclass"], self.margin, y, _NO_BYTES, _NO_TABLE)


@dataclass(frozen=True)
class OneVsRest:
    """One of K labels, y its index, as K problems of two classes: label k, or another one.

    Each label asks for its own margin, y_k w_k·x >= margin with y_k = 1 for the right label and −1
    for the others, and moves its own vector alone: K constraints of PA 2006, §2 instead of the one
    of `Multiclass`. Their δ lie in different blocks of w, so it makes no difference whether they
    are met together or one after the other, and the theorems for two classes hold for the n·K of
    them.

    Parameters
    ----------
    margin : float, default 1.0
        What y_k w_k·x must reach.

    Examples
    --------
    >>> OneVsRest().losses([[2.0, 0.5, -1.75], [0.0, -3.0, 0.25]], [0, 2])
    array([[0.  , 1.5 , 0.  ],
           [1.  , 0.  , 0.75]])
    """

    margin: float = 1.0

    def signs(self, target: ArrayLike, n_labels: int) -> Floats:
        """y_k of each example and label: 1 for the right label, −1 for the others.

        Parameters
        ----------
        target : array of shape (n,)
            The index of the right label of each example.
        n_labels : int
            K.

        Returns
        -------
        array of shape (n, K)
            The signs.

        Examples
        --------
        >>> OneVsRest().signs([2, 0], 3)
        array([[-1., -1.,  1.],
               [ 1., -1., -1.]])
        """
        return np.where(np.arange(n_labels) == self.labels(target, n_labels)[:, None], 1.0, -1.0)

    def losses(self, scores: ArrayLike, target: ArrayLike) -> Floats:
        """The loss of each example and label (PA 2006, Eq. 1 for each label).

        Parameters
        ----------
        scores : array of shape (n, K)
            w_k·x of each example and label.
        target : array of shape (n,)
            The index of the right label of each example.

        Returns
        -------
        array of shape (n, K)
            The losses.
        """
        s = np.asarray(scores, dtype=np.float64)
        return np.maximum(0.0, self.margin - self.signs(target, s.shape[1]) * s)

    def labels(self, target: ArrayLike, n_labels: int) -> Floats:
        """For the compiled loop, which needs no more than y and the margin: the checked targets.

        Parameters
        ----------
        target : array of shape (n,)
            The index of the right label of each example.
        n_labels : int
            K.

        Returns
        -------
        array of shape (n,)
            The targets as floats.
        """
        return _labels(target, n_labels)

    def kernel(self, target: ArrayLike, n_labels: int) -> Any:
        """Not possible: this is not one constraint. It raises `SeqpaError`.

        Parameters
        ----------
        target : array of shape (n,)
            The index of the right label of each example.
        n_labels : int
            K.
        """
        raise SeqpaError("one-vs-rest asks for a constraint of each label; only Learner can do it")


@dataclass(frozen=True)
class Multilabel:
    """A set of relevant labels, to be ranked above all others (PA 2006, §7).

    The constraint is w_r·x − w_s·x >= margin for the lowest relevant label r and the highest
    irrelevant label s (PA 2006, Eq. 36, 39), the loss ℓ = max(0, margin − (w_r·x − w_s·x))
    (Eq. 33, 40). An example for which all labels are relevant, or none, asks for nothing.

    Parameters
    ----------
    margin : float, default 1.0
        By how much the relevant labels must win.

    Examples
    --------
    >>> Multilabel().losses([[3.0, 0.5, 1.0], [3.0, 0.5, 1.0]], [[1, 0, 1], [1, 1, 0]])
    array([0.5, 1.5])
    """

    margin: float = 1.0

    def losses(self, scores: ArrayLike, target: ArrayLike) -> Floats:
        """The loss of each example (PA 2006, Eq. 33).

        Parameters
        ----------
        scores : array of shape (n, K)
            w_k·x of each example and label.
        target : array of shape (n, K)
            1 where a label is relevant, otherwise 0.

        Returns
        -------
        array of shape (n,)
            The loss ℓ of each example.
        """
        s, relevant = np.asarray(scores, dtype=np.float64), np.asarray(target, dtype=bool)
        low = np.where(relevant, s, np.inf).min(axis=1)
        high = np.where(relevant, -np.inf, s).max(axis=1)
        return np.maximum(0.0, self.margin - (low - high))

    def kernel(self, target: ArrayLike, n_labels: int) -> Any:
        """For the compiled loop: this problem with its checked targets.

        Parameters
        ----------
        target : array of shape (n, K)
            1 where a label is relevant, otherwise 0.
        n_labels : int
            K.

        Returns
        -------
        Problem of the kernel
            The problem as the compiled loop reads it.
        """
        relevant = np.ascontiguousarray(target, dtype=np.uint8)
        if relevant.ndim != 2 or relevant.shape[1] != n_labels or relevant.max(initial=0) > 1:
            raise SeqpaError(
                f"the target of a multilabel problem is a 0/1 array of {n_labels} columns"
            )
        return kernel.Problem(
            kernel.CODES["multilabel"], self.margin, _NO_FLOATS, relevant, _NO_TABLE
        )


@dataclass(frozen=True, eq=False)
class CostSensitive:
    """One of K labels, where mistakes cost different amounts ρ(y, y') (PA 2006, §8).

    The constraint is w_y·x − w_r·x >= √ρ(y, r) (PA 2006, Eq. 43) for one label r:

    - "prediction-based": r = ŷ, the label predicted (Eq. 42, 44); a right prediction has no loss
    - "max-loss": r = ỹ, the label that violates its own margin most (Eq. 50, 51)

    ρ(y, ŷ) <= ℓ² for both losses (Eq. 46), so bounds on the squared loss bound the cost.

    Parameters
    ----------
    cost : array of shape (K, K)
        ρ(right, predicted), 0 on the diagonal; `cost_matrix` makes it.
    update : {"prediction-based", "max-loss"}, default "prediction-based"
        Which label r is looked at.

    Attributes
    ----------
    UPDATES : tuple of str
        The names of the updates.

    Examples
    --------
    >>> rho = [[0, 4, 1], [1, 0, 1], [1, 9, 0]]
    >>> CostSensitive(rho).losses([[1.0, 0.5, 0.75], [1.0, 0.5, 4.0]], [0, 2])
    array([1.5, 0. ])
    """

    cost: ArrayLike
    update: str = "prediction-based"
    UPDATES: ClassVar = ("prediction-based", "max-loss")

    def __post_init__(self) -> None:
        if self.update not in self.UPDATES:
            raise SeqpaError(f"{self.update!r} is no update; there are: {', '.join(self.UPDATES)}")

    @property
    def root_cost(self) -> Floats:
        """The margins √ρ(y, r), float64[K, K]."""
        return np.sqrt(np.ascontiguousarray(self.cost, dtype=np.float64))

    def losses(self, scores: ArrayLike, target: ArrayLike) -> Floats:
        """ℓ_ML of each example (PA 2006, Eq. 52).

        Lemma 9 and Theorem 10 use it for the comparator of both updates.

        Parameters
        ----------
        scores : array of shape (n, K)
            w_k·x of each example and label.
        target : array of shape (n,)
            The index of the right label of each example.

        Returns
        -------
        array of shape (n,)
            The loss ℓ of each example.
        """
        s, y = np.asarray(scores, dtype=np.float64), np.asarray(target, dtype=np.intp)
        right = s[np.arange(len(s)), y]
        return (s - right[:, None] + self.root_cost[y]).max(axis=1, initial=0.0)

    def kernel(self, target: ArrayLike, n_labels: int) -> Any:
        """For the compiled loop: this problem with its checked targets.

        Parameters
        ----------
        target : array of shape (n,)
            The index of the right label of each example.
        n_labels : int
            K.

        Returns
        -------
        Problem of the kernel
            The problem as the compiled loop reads it.
        """
        root = self.root_cost
        if root.shape != (n_labels, n_labels):
            raise SeqpaError(f"the cost has shape {root.shape}, and there are {n_labels} labels")
        y = _labels(target, n_labels)
        return kernel.Problem(kernel.CODES[self.update], 0.0, y, _NO_BYTES, root)


Problem: TypeAlias = (
    "Binary | Regression | Uniclass | Multiclass | OneVsRest | Multilabel | CostSensitive"
)


def _one_score(scores: ArrayLike) -> Floats:
    return np.asarray(scores, dtype=np.float64).reshape(-1)


def _vector(target: ArrayLike) -> Floats:
    y = np.ascontiguousarray(target, dtype=np.float64)
    if y.ndim != 1:
        raise SeqpaError(
            f"the target is one number for each example, not an array of shape {y.shape}"
        )
    return y


def _labels(target: ArrayLike, n_labels: int) -> Floats:
    y = _vector(target)
    if len(y) and not (np.min(y) >= 0 and np.max(y) < n_labels and np.array_equal(y, np.floor(y))):
        raise SeqpaError(
            f"the target is the index of a label, 0 to {n_labels - 1}, for each example"
        )
    return y
