"""The learner: weights that one problem and one step move, a pass over the examples at a time.

Run            what a pass counted and, on demand, what it did example by example
OnlineLearner  `run`, one pass: what is the same wherever and however the weights are kept
Learner        weights as vectors, and the sums for their mean; its passes are compiled code
passes         the loop over passes: a generator of runs, so that whoever iterates prints or stops
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa._kernel import vectors as kernel
from seqpa._kernel import weights
from seqpa.core import steps
from seqpa.core.examples import Examples, finds_overflow
from seqpa.core.problems import Multilabel, OneVsRest, Problem, Uniclass
from seqpa.core.single import OVERFLOW, OneRow, new_constraint
from seqpa.errors import SeqpaError

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Part: TypeAlias = tuple[Examples, NDArray[Any], Floats, Indices]
_BLOCK = 1 << 20  # bytes: what a processor's own cache holds


@dataclass(frozen=True)
class Run:
    """What one pass counted: sums over examples, each met by the weights before its own update.

    A recorded run also holds arrays, in the order of presentation. One-vs-rest counts mistakes,
    cost and updates by example, predicted by the highest score, while its losses are summed over
    the labels too. Its record has K rounds for each example, one for the two-class problem of each
    label (`ups`), whose mistakes are the `costs`.

    Parameters
    ----------
    n_examples : int
        T, the number of examples.
    mistakes : int
        Examples with a cost above zero: a wrong prediction (a tie of scores is one); in regression
        and uniclass, a loss above zero.
    cost : float
        Σ ρ(y_t, ŷ_t); without a cost the number of mistakes.
    loss : float
        Σ ℓ_t.
    squared_loss : float
        Σ ℓ_t², which the theorems bound.
    updates : int
        How often the weights moved.
    order : array of int or None
        The rows presented.
    losses : array or None
        ℓ_t of each.
    taus : array or None
        τ_t of each.
    norms2 : array or None
        ‖δ_t‖² of each.
    costs : array or None
        The cost of each.
    ups : array of int or None
        The label whose vector moved up; −1 where there is none.
    downs : array of int or None
        The label whose vector moved down; −1 where there is none.
    middles : array or None
        The middle of the scores of these two labels.

    Examples
    --------
    >>> run = Run(n_examples=4, mistakes=1, cost=1.0, loss=2.5, squared_loss=4.25, updates=3)
    >>> run.loss / run.n_examples, run.losses is None
    (0.625, True)
    """

    n_examples: int
    mistakes: int
    cost: float
    loss: float
    squared_loss: float
    updates: int
    order: Indices | None = None
    losses: Floats | None = None
    taus: Floats | None = None
    norms2: Floats | None = None
    costs: Floats | None = None
    ups: Indices | None = None
    downs: Indices | None = None
    middles: Floats | None = None


class OnlineLearner(ABC):
    """A problem, a step, and passes over examples; a subclass keeps the weights and moves them.

    Parameters
    ----------
    problem : Problem
        Which constraint an example asks for.
    step : str
        How far to go for it.
    n_labels : int
        K.
    average : bool
        Keep what the mean of the weights needs.

    Attributes
    ----------
    seen : int
        Examples so far: the clock of the mean.
    """

    def __init__(self, problem: Problem, step: str, n_labels: int, average: bool) -> None:
        self.problem = problem
        self.step = step
        self.n_labels = n_labels
        self.average = average
        self.seen = 0
        self._step = steps.code(step)
        self._rounds = n_labels if isinstance(problem, OneVsRest) else 1  # of each example

    @finds_overflow
    def run(
        self,
        examples: Examples,
        target: ArrayLike | None = None,
        *,
        C: float | ArrayLike = 1.0,
        order: ArrayLike | None = None,
        tol: float = 0.0,
        record: bool = False,
    ) -> Run:
        """One pass over the examples.

        Parameters
        ----------
        examples : Examples
            The examples to present.
        target : array or None, default None
            What is right for each example, as the problem wants it; None for uniclass.
        C : float or array of shape (n,), default 1.0
            The aggressiveness: one number, or one for each example.
        order : array of int or None, default None
            The rows to present, in order; None for all of them from the first to the last.
        tol : float, default 0.0
            Examples with a squared loss of at most `tol` are not presented.
        record : bool, default False
            Fill the arrays of `Run`.

        Returns
        -------
        Run
            What the pass counted.
        """
        n = len(examples)
        rows = np.arange(n) if order is None else _checked_order(order, n)
        y = np.zeros(n) if isinstance(self.problem, Uniclass) else np.asarray(target)
        if y.shape[:1] != (n,):
            raise SeqpaError(f"targets of shape {y.shape} for {n} examples")
        self._check(examples)
        rounds = self._rounds
        records = np.zeros((rounds * len(rows) if record else 0, kernel.RECORD))
        totals, watched, begin = np.zeros(5), 0.0, self.seen
        parts = self._parts(examples, y, _each(C, n), rows, shuffled=order is not None)
        for part, y_part, C_part, part_rows in parts:
            done = self.seen - begin
            here = slice(rounds * done, rounds * (done + len(part_rows)))
            run = kernel.Pass(self._step, C_part, tol, self.seen, records[here])
            self._pass(part, y_part, part_rows, run)
            self.seen += len(part_rows)
            totals += run.totals()
            watched += run.watch()
        mistakes, cost, loss, squared_loss, updates = totals.tolist()
        if not math.isfinite(watched):
            raise SeqpaError(OVERFLOW)
        sums = (len(rows), int(mistakes), cost, loss, squared_loss, int(updates))
        if not record:
            return Run(*sums)
        loss_t, tau, norm2, cost_t, up, down, middles = records.T
        ups, downs = up.astype(np.intp), down.astype(np.intp)
        return Run(*sums, np.repeat(rows, rounds), loss_t, tau, norm2, cost_t, ups, downs, middles)

    @abstractmethod
    def _check(self, examples: Examples) -> None:
        """Refuse examples that do not fit; make ready for those that do."""

    def _parts(
        self, examples: Examples, y: NDArray[Any], C: Floats, rows: Indices, *, shuffled: bool
    ) -> Iterator[Part]:
        """The examples, their targets and C in pieces, with the rows of each piece to present.

        CSR rows in a random order are waited for one by one: each is short, and each step depends
        on the last. Copied block by block into order they arrive together, in two thirds of the
        time.
        """
        size = max(1, _BLOCK * len(examples) // max(1, examples.nbytes))
        if not shuffled or not examples.sparse or size >= len(rows):
            yield examples, y, C, rows
            return
        for first in range(0, len(rows), size):
            chosen = rows[first : first + size]
            yield examples.take(chosen), y[chosen], C[chosen], np.arange(len(chosen))

    @abstractmethod
    def _pass(self, examples: Examples, target: Any, rows: Indices, run: Any) -> None:
        """Present the rows of one part."""


class Learner(OnlineLearner):
    """Weights for a problem, moved by a step: w ← w + τδ.

    Parameters
    ----------
    problem : Problem
        Which constraint an example asks for (`seqpa.core.problems`).
    step : str
        How far to go for it: one of `seqpa.core.STEPS`.
    n_features : int
        Columns of the examples.
    n_labels : int, default 1
        K; 1 for binary, regression and uniclass problems.
    bias : bool, default False
        One more weight for each label, for the constant feature of the examples.
    average : bool, default False
        Keep what `mean_weights` needs.
    joint : bool, default False
        Single-prototype (PA 2006, §7): one weight vector for all labels, over Φ(x, y).
    start : array of shape (K, features) or None, default None
        w₁, the weights at the start; zero if None.

    Examples
    --------
    >>> from seqpa.core.problems import Binary
    >>> X = Examples.from_array([[2.0, 0.0], [1.0, 1.0], [0.0, 4.0]])
    >>> learner = Learner(Binary(), "PA", n_features=2)
    >>> run = learner.run(X, [1, -1, -1], record=True)
    >>> run.losses, run.taus
    (array([1. , 1.5, 0. ]), array([0.25, 0.75, 0.  ]))
    >>> learner.weights
    array([[-0.25, -0.75]])
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
        if joint and bias:
            raise SeqpaError("a bias is the same for every label of a single prototype: no use")
        if joint and isinstance(problem, OneVsRest):
            raise SeqpaError("one-vs-rest has a vector for each label, a joint learner one for all")
        super().__init__(problem, step, n_labels, average)
        self.n_features = n_features
        self.bias = bias
        self.joint = joint
        # The radius coordinate of a uniclass ball lies where others have their bias.
        columns = n_features + (bias or isinstance(problem, Uniclass))
        self._vectors = 1 if joint else n_labels
        self._V = np.zeros((self._vectors * (1 + average), columns))
        self._by_feature = False  # layout: [labels, features], or [features, labels] for CSR
        self._fresh = start is None  # nobody has seen the weights: they are zero
        if start is not None:
            self._W[:, :n_features] = start
        if isinstance(problem, Uniclass) and problem.max_radius is not None:
            self._W[0, -1] = problem.max_radius  # ε_1 = 0
        self._mean: tuple[int, Floats] | None = None
        self._kept: dict[bool, OneRow] = {}  # by layout, where one row is learned at a time

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": {}}

    @property
    def _W(self) -> Floats:
        return self._V[:, : self._vectors] if self._by_feature else self._V[: self._vectors]

    @property
    def _acc(self) -> Floats:
        """Σ tτδ beside the weights, or nothing."""
        return self._V[:, self._vectors :] if self._by_feature else self._V[self._vectors :]

    def _kernel_weights(self) -> Any:
        return weights.Weights(self._V, self._vectors, self._by_feature)

    @property
    def weights(self) -> Floats:
        """The weights now, float64[K, features (+ 1)]: a view."""
        self._fresh = False
        return self._W.T if self._by_feature else self._W

    @property
    def mean_weights(self) -> Floats:
        """The mean of the weights after each example seen.

        The step of example t (from 0) is missing from the first t of T vectors, so with
        acc = Σ t·τ_t·δ_t the mean is w − acc/T.
        """
        if not self.average:
            raise SeqpaError("the mean of the weights needs Learner(average=True)")
        if self.seen == 0:
            return self.weights
        if self._mean is None or self._mean[0] != self.seen:
            mean = self._W - self._acc / self.seen
            self._mean = self.seen, mean.T if self._by_feature else mean
        return self._mean[1]

    def _pass(self, examples: Examples, target: Any, rows: Indices, run: Any) -> None:
        self._mean = None
        if isinstance(self.problem, Uniclass):
            w, acc, c = self._W.reshape(-1), self._acc.reshape(-1), new_constraint(1)
            kernel.uniclass_pass(examples.rows, run, self.problem.radius, rows, w, acc, c)
            return
        w, c = self._kernel_weights(), new_constraint(self.n_labels)
        if isinstance(self.problem, OneVsRest):
            y, margin = self.problem.labels(target, self.n_labels), self.problem.margin
            kernel.one_vs_rest_pass(examples.rows, y, margin, run, examples.norms2, rows, w, c)
            return
        problem = self.problem.kernel(target, self.n_labels)
        one_pass = kernel.joint_pass if self.joint else kernel.linear_pass
        one_pass(examples.rows, problem, run, examples.norms2, rows, w, c)

    def one_row(self, sparse: bool) -> OneRow | None:
        """The way for one row at a time, which is kept; None if there is none.

        Parameters
        ----------
        sparse : bool
            For dicts and CSR rows; otherwise for dense rows.

        Returns
        -------
        OneRow or None
            None where examples are more than rows (uniclass, sets of labels, Φ(x, y)) and where
            steps are other than w ← w + τδ.
        """
        kept = self._kept.get(sparse)  # only those of the present layout are there
        if kept is not None:
            self._mean = None
            return kept
        if type(self) is not Learner or self.joint:
            return None
        if isinstance(self.problem, Uniclass | Multilabel):
            return None
        self._lay_out(by_feature=sparse)
        self._mean = None
        self._kept[sparse] = OneRow(
            self.problem, self._step, self.n_features, self.bias, self._kernel_weights(), sparse
        )
        return self._kept[sparse]

    def resize(self, n_features: int) -> None:
        """Weights for more features, which are 0, or for fewer: those behind the last are lost.

        Parameters
        ----------
        n_features : int
            Columns of the examples from now on.

        Examples
        --------
        >>> from seqpa.core.problems import Binary
        >>> learner = Learner(Binary(), "PA", n_features=1, bias=True)
        >>> run = learner.run(Examples.from_array([[1.0]], bias=True), [1])
        >>> learner.resize(3)
        >>> learner.weights
        array([[0.5, 0. , 0. , 0.5]])
        """
        self._V = self._resized(self._V, n_features)
        self.n_features = n_features
        self._forget()

    def _resized(self, array: Floats, n_features: int) -> Floats:
        """[labels, features], or the other way round, with another number of features."""
        old = array.T if self._by_feature else array
        behind = old.shape[1] - self.n_features  # the bias, or the radius of a ball
        new = np.zeros((len(old), n_features + behind))
        kept = min(n_features, self.n_features)
        new[:, :kept] = old[:, :kept]
        new[:, n_features:] = old[:, self.n_features :]
        return np.ascontiguousarray(new.T) if self._by_feature else new

    def relabel(self, problem: Problem, change: ArrayLike) -> None:
        """Weights for other labels, each a sum of those there are.

        Parameters
        ----------
        problem : Problem
            The problem with the new labels.
        change : array of shape (new K, K)
            The new vector of label k is Σ_j change[k, j] w_j.

        Examples
        --------
        >>> from seqpa.core.problems import Binary, Multiclass
        >>> learner = Learner(Binary(), "PA", n_features=2)
        >>> run = learner.run(Examples.from_array([[1.0, 1.0]]), [1])
        >>> learner.relabel(Multiclass(), [[-0.5], [0.5], [0.0]])
        >>> learner.weights
        array([[-0.25, -0.25],
               [ 0.25,  0.25],
               [ 0.  ,  0.  ]])
        """
        T = np.asarray(change, dtype=np.float64)
        if not self.joint:
            parts = [self._relabelled(self._W, T)]
            if self.average:
                parts.append(self._relabelled(self._acc, T))
            self._V = np.concatenate(parts, axis=1 if self._by_feature else 0)
            self._vectors = len(T)
        self.problem = problem
        self.n_labels = len(T)
        self._rounds = len(T) if isinstance(problem, OneVsRest) else 1
        self._forget()

    def _relabelled(self, array: Floats, change: Floats) -> Floats:
        return np.ascontiguousarray(array @ change.T if self._by_feature else change @ array)

    def _forget(self) -> None:
        """What was made for the weights as they were."""
        self._mean = None
        self._kept = {}

    def _check(self, examples: Examples) -> None:
        if examples.n_features != self.n_features:
            raise SeqpaError(
                f"the examples have {examples.n_features} features, the learner {self.n_features}"
            )
        if examples.bias != self.bias:
            raise SeqpaError("a bias must be in both, the examples and the learner, or in neither")
        if examples.joint != (self.n_labels if self.joint else 0):
            raise SeqpaError(
                "a joint learner needs Examples.from_maps with one map for each label, "
                "any other Examples.from_array"
            )
        self._lay_out(by_feature=examples.sparse)

    def _lay_out(self, by_feature: bool) -> None:
        """Dense rows are read along W[labels, features], CSR rows along W[features, labels]."""
        if by_feature != self._by_feature and not isinstance(self.problem, Uniclass):
            self._by_feature = by_feature
            by_other = self._V.T
            self._V = np.zeros(by_other.shape) if self._fresh else np.ascontiguousarray(by_other)
            self._kept = {}
        self._fresh = False

    @property
    def center(self) -> Floats:
        """The centre of a uniclass ball (its mean where averaging is on)."""
        return self._ball[: self.n_features]

    @property
    def radius(self) -> float:
        """The radius of a uniclass ball: ε, or the learned √(B² − w²_n+1)."""
        assert isinstance(self.problem, Uniclass)
        B = self.problem.max_radius
        if B is None:
            return self.problem.epsilon
        return math.sqrt(max(0.0, (B - self._ball[-1]) * (B + self._ball[-1])))

    @property
    def _ball(self) -> Floats:
        return (self.mean_weights if self.average else self.weights).reshape(-1)


def passes(
    learner: OnlineLearner,
    examples: Examples,
    target: ArrayLike | None = None,
    *,
    max_iter: int,
    tol: float | None = None,
    shuffle: bool = False,
    rng: np.random.Generator | None = None,
    C: float | ArrayLike = 1.0,
    record: bool = False,
) -> Iterator[Run]:
    """Pass after pass over the same examples.

    With a `tol` this is the batch conversion of PA 2003, §4: an example is presented only while its
    squared loss exceeds tol, and the first pass in which the weights did not move is the last. Such
    a pass has seen every example under the same weights, so all their squared losses are at most
    tol (except where no step can help: examples without features, and for the perceptron right
    predictions).

    Parameters
    ----------
    learner : OnlineLearner
        What learns.
    examples : Examples
        The examples.
    target : array or None, default None
        What is right for each example; None for uniclass.
    max_iter : int
        The highest number of passes.
    tol : float or None, default None
        See above; None makes `max_iter` plain passes.
    shuffle : bool, default False
        Take a new random order for each pass.
    rng : Generator or None, default None
        Where the orders are drawn from.
    C : float or array of shape (n,), default 1.0
        The aggressiveness.
    record : bool, default False
        Fill the arrays of `Run`.

    Yields
    ------
    Run
        What each pass counted.

    Examples
    --------
    >>> from seqpa.core.problems import Binary
    >>> X = Examples.from_array([[2.0, 0.0], [1.0, 1.0], [0.0, 4.0]])
    >>> learner = Learner(Binary(), "PA", n_features=2)
    >>> [run.updates for run in passes(learner, X, [1, -1, -1], max_iter=9, tol=1e-6)]
    [2, 2, 2, 2, 2, 2, 2, 2, 2]
    """
    rng = rng or np.random.default_rng()
    for _ in range(max_iter):
        order = rng.permutation(len(examples)) if shuffle else None
        run = learner.run(examples, target, C=C, order=order, tol=tol or 0.0, record=record)
        yield run
        if tol is not None and run.updates == 0:
            return


def _checked_order(order: ArrayLike, n: int) -> Indices:
    rows = np.ascontiguousarray(order, dtype=np.intp)
    if len(rows) and not (rows.min() >= 0 and rows.max() < n):
        raise SeqpaError(f"the order names a row beyond the {n} examples")
    return rows


def _each(C: float | ArrayLike, n: int) -> Floats:
    values = np.empty(n)
    values[:] = C
    if not (values > 0.0).all():
        raise SeqpaError("C must be a number above 0")
    return values
