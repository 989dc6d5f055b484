"""The learner in a kernel's space: weights as a sum of support vectors, Σ_i coef[i, k] φ(x_i).

Only inner products are needed (PA 2006, §3): w·φ(x) = Σ_i coef[i] K(x_i, x), and ‖δ‖² is K(x, x),
or twice that. A pass goes through the examples in blocks: the scores of a block against the support
vectors and its own Gram matrix come from BLAS, the steps from one compiled loop, which corrects the
scores by what the block's own steps did. The result is that of one example at a time.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa._kernel import blocks
from seqpa._kernel import budget as budgets
from seqpa.core.batch import Batches, no_budget, overlapping_run
from seqpa.core.examples import Examples
from seqpa.core.kernels import Floats, Kernel
from seqpa.core.learner import Indices, OnlineLearner, Part, Run
from seqpa.core.problems import Problem, Uniclass
from seqpa.core.single import new_constraint
from seqpa.core.support import Support
from seqpa.errors import SeqpaError

STRATEGIES: tuple[str, ...] = tuple(budgets.STRATEGIES)


class KernelLearner(OnlineLearner):
    """Weights for a problem in a kernel's space, moved by a step: w ← w + τδ.

    An example that comes again in a later pass over the same `Examples` object keeps its one place.

    Parameters
    ----------
    problem : Problem
        Which constraint an example asks for.
    step : str
        How far to go for it.
    n_labels : int, default 1
        K.
    kernel : Kernel
        Inner products; its bias is a constant feature.
    average : bool, default False
        Keep what `mean_coefficients` needs; not with a budget.
    batch_size : int, default 1
        Examples that make one step together (`seqpa.core.batch`).
    budget : int or None, default None
        How many support vectors there may be after any example: a step that would make one more
        makes one leave.
    budget_strategy : {"oldest", "smallest", "project"}, default "oldest"
        Which one leaves: the oldest, the one with the smallest part in w, or the one that the
        others can replace best; with "project" they take over what they can, and a budget of m
        takes 8·m² bytes beside the rows.
    start : array or CSR matrix of shape (1, features) or None, default None
        For uniclass only, where the centre starts; None for the zero of the kernel's space.
    overlapping : bool, default False
        Let mini-batches overlap (`seqpa.core.batch.overlapping_run`).

    Examples
    --------
    >>> from seqpa.core.problems import Binary
    >>> X = Examples.from_array([[2.0, 0.0], [1.0, 1.0], [0.0, 4.0]])
    >>> learner = KernelLearner(Binary(), "PA", kernel=Kernel("linear"))
    >>> run = learner.run(X, [1, -1, -1], record=True)
    >>> run.losses, learner.coefficients
    (array([1. , 1.5, 0. ]), array([[ 0.25],
           [-0.75]]))
    >>> learner.scores(X.matrix)[:, 0]
    array([-0.5, -1. , -3. ])
    """

    def __init__(
        self,
        problem: Problem,
        step: str,
        n_labels: int = 1,
        *,
        kernel: Kernel,
        average: bool = False,
        batch_size: int = 1,
        budget: int | None = None,
        budget_strategy: str = "oldest",
        start: Any = None,
        overlapping: bool = False,
    ) -> None:
        super().__init__(problem, step, n_labels, average)
        self.kernel = kernel
        self._batches = Batches(batch_size, step, problem)
        self.overlapping = overlapping
        self._tail = np.empty(0, dtype=np.intp)  # the support vectors of the last window
        self._limit = budget or 0
        self._strategy = budget_strategy
        if budget is not None:
            _check_budget(budget, budget_strategy, average, batch_size, problem)
        if kernel.precomputed and isinstance(problem, Uniclass):
            raise SeqpaError(
                "a uniclass problem needs K(x, x) of new examples, which a precomputed kernel "
                "does not tell; give the kernel as a function"
            )
        self.support = Support(kernel, n_labels, average, budget)
        projects = budget is not None and budget_strategy == "project"
        self._Q = np.empty((self._limit + 1,) * 2 if projects else (0, 0))
        self._of: Any = None  # a weak reference to the examples that `_places` is about
        self._places = np.empty(0, dtype=np.intp)  # of each example: its support vector, or −1
        # Uniclass: ‖w‖² and the radius coordinate with its averaging sum.
        self._ball = np.zeros(3)
        if isinstance(problem, Uniclass):
            self._ball[1] = problem.max_radius or 0.0
            if start is not None:
                self._ball[0] = norm2 = float(kernel.diagonal(start)[0])
                zero = np.zeros((1, int(average)))
                no_row = np.array([-1])
                self.support.append(start, np.ones((1, 1)), zero, np.array([norm2]), no_row)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_of": None}

    @property
    def coefficients(self) -> Floats:
        """The coefficient of each support vector for each label now, float64[m, K]: a view."""
        return self.support.coef

    @property
    def mean_coefficients(self) -> Floats:
        """The mean of the coefficients after each example seen (`Learner.mean_weights`)."""
        if not self.average:
            raise SeqpaError("the mean of the coefficients needs KernelLearner(average=True)")
        return self.support.coef - self.support.acc / max(1, self.seen)

    @property
    def reported(self) -> Floats:
        """The mean of the coefficients where averaging is on, otherwise those of now."""
        return self.mean_coefficients if self.average else self.coefficients

    def scores(self, X: Any) -> Floats:
        """The scores w_k·φ(x) with the reported coefficients.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            New examples.

        Returns
        -------
        array of shape (n, K)
            The scores.
        """
        return self.support.scores(X, self.reported)

    def distances(self, X: Any) -> Floats:
        """The distances ‖φ(x) − centre‖ from the centre of a uniclass ball.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            New examples.

        Returns
        -------
        array of shape (n,)
            The distances.
        """
        coef = self.reported
        norm2 = self.support.squared_norm(coef) if self.average else float(self._ball[0])
        squared = self.kernel.diagonal(X) - 2.0 * self.support.scores(X, coef)[:, 0] + norm2
        return np.sqrt(np.maximum(squared, 0.0))

    @property
    def radius(self) -> float:
        """The radius of a uniclass ball: ε, or the learned √(B² − w²_n+1)."""
        assert isinstance(self.problem, Uniclass)
        B = self.problem.max_radius
        if B is None:
            return self.problem.epsilon
        _, extra, acc = self._ball
        extra -= acc / max(1, self.seen) if self.average else 0.0
        return math.sqrt(max(0.0, (B - extra) * (B + extra)))

    def run(
        self,
        examples: Examples,
        target: ArrayLike | None = None,
        *,
        C: float | ArrayLike = 1.0,
        order: ArrayLike | None = None,
        tol: float = 0.0,
        record: bool = False,
        before: int = 0,
    ) -> Run:
        """One pass over the examples, as `OnlineLearner.run`.

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
        before : int, default 0
            Where mini-batches overlap: how many of the first examples were learned from before, as
            the last ones, and only make up the first windows.

        Returns
        -------
        Run
            What the pass counted.
        """
        if self.overlapping:
            rows = np.arange(len(examples)) if order is None else np.asarray(order, dtype=np.intp)
            self._check(examples)
            if before:  # they are the support vectors that they were
                there = np.flatnonzero(self._tail[-before:] >= 0)
                self.support.source[self._tail[-before:][there]] = rows[:before][there]
                self._find_places()
            sums = overlapping_run(
                self, self._run, self._batches.size, before, examples, target,
                order=order, record=record, C=C, tol=tol,
            )  # fmt: skip
            self._tail = self._places[rows[len(rows) - min(len(rows), self._batches.size) :]]
            return sums
        return self._run(examples, target, C=C, order=order, tol=tol, record=record)

    def _run(self, examples: Examples, target: ArrayLike | None = None, **options: Any) -> Run:
        run = super().run(examples, target, **options)
        used = self.support.coef.any(axis=1) | self.support.acc.any(axis=1)
        if not used.all() and not len(self._Q):
            self.support.keep(np.flatnonzero(used))
            self._find_places()
        return run

    def resize(self, n_features: int) -> None:
        """Support vectors with more features, which are 0.

        Parameters
        ----------
        n_features : int
            Columns of the examples from now on.
        """
        self.support.widen(n_features)

    def relabel(self, problem: Problem, change: ArrayLike) -> None:
        """Coefficients for other labels, each a sum of those there are (`Learner.relabel`).

        Parameters
        ----------
        problem : Problem
            The problem with the new labels.
        change : array of shape (new K, K)
            The new coefficients of label k are Σ_j change[k, j] coef[:, j].
        """
        T = np.asarray(change, dtype=np.float64)
        self.support.relabel(T)
        self.problem = problem
        self.n_labels = len(T)

    def _check(self, examples: Examples) -> None:
        if examples.joint:
            raise SeqpaError("a kernel's learner has a weight vector for each label, no joint one")
        if self.kernel.precomputed and examples.matrix.shape[0] != examples.n_features:
            raise SeqpaError(
                f"a precomputed kernel of shape {examples.matrix.shape}; to learn from it must be "
                "square: row i and column i are example i"
            )
        if self._of is None or self._of() is not examples:
            if not self.kernel.precomputed:
                self.support.source[:] = -1
            self._of = weakref.ref(examples)
            self._places = np.empty(len(examples), dtype=np.intp)
            self._find_places()

    def _find_places(self) -> None:
        source = self.support.source
        here = np.flatnonzero(source >= 0)
        self._places[:] = -1
        self._places[source[here]] = here

    def _parts(
        self, examples: Examples, y: NDArray[Any], C: Floats, rows: Indices, *, shuffled: bool
    ) -> Iterator[Part]:
        return self._batches.cut(examples, y, C, rows)

    def _pass(self, examples: Examples, target: Any, rows: Indices, run: Any) -> None:
        X = examples.matrix[rows]
        own = rows if self.kernel.precomputed else X
        gram = self.kernel.gram(X, own)
        if self._limit:
            self._budget_pass(X, own, gram, target, rows, run)
            return
        scores = np.ascontiguousarray(self.support.scores(X, self.coefficients).T)
        coef = np.zeros((len(rows), self.n_labels))
        acc = np.zeros((len(rows) if self.average else 0, self.n_labels))
        block = budgets.GramBlock(gram=gram, first=0, scores=scores, coef=coef, acc=acc)
        if isinstance(self.problem, Uniclass):
            ball = np.append(self._ball, (1.0, 0.0))
            blocks.ball_pass(block, run, rows, self.problem.radius, ball, new_constraint(1))
            self._ball[:] = ball[:3]
            factor, factor_acc = ball[3:]
            if self.average:
                self.support.acc[:] += factor_acc * self.coefficients
            self.coefficients[:] *= factor
        else:
            problem = self.problem.kernel(target, self.n_labels)
            self._batches.present(block, problem, run, rows, no_budget(), self.n_labels)
        self._absorb(own, coef, acc if self.average else coef[:, :0], np.diagonal(gram), rows)

    def _absorb(self, own: Any, coef: Floats, acc: Floats, norms: Floats, rows: Indices) -> None:
        """Add a block's coefficients to the support vectors, those that are new behind the last."""
        moved = coef.any(axis=1) | acc.any(axis=1)
        old = np.flatnonzero(moved & (self._places[rows] >= 0))
        new = np.flatnonzero(moved & (self._places[rows] < 0))
        np.add.at(self.support.coef, self._places[rows[old]], coef[old])
        np.add.at(self.support.acc, self._places[rows[old]], acc[old])
        if len(new):
            self._places[rows[new]] = len(self.support) + np.arange(len(new))
            self.support.append(own[new], coef[new], acc[new], norms[new], rows[new])

    def _budget_pass(
        self, X: Any, own: Any, gram: Floats, target: Any, rows: Indices, run: Any
    ) -> None:
        """A block in which support vectors may leave: their kernel rows stand above the block's."""
        first, n = len(self.support), len(rows)
        tall = gram
        if first:
            tall = np.concatenate([self.kernel(X, self.support.vectors).T, gram])
        coef = np.concatenate([self.coefficients, np.zeros((n, self.n_labels))])
        norms = np.concatenate([self.support.norms, np.diagonal(gram)])
        scores = np.ascontiguousarray(coef[:first].T @ tall[:first])
        no_mean = np.empty((0, self.n_labels))
        block = budgets.GramBlock(
            gram=np.ascontiguousarray(tall), first=first, scores=scores, coef=coef, acc=no_mean
        )
        places = self._places[rows]
        members = np.append(np.arange(first), np.empty(self._limit + 1 - first, np.intp))
        budget = budgets.Budget(
            strategy=budgets.STRATEGIES[self._strategy],
            limit=self._limit,
            count=first,
            members=members,
            slots=np.where(places >= 0, places, first + np.arange(n)),
            norms=norms,
            Q=self._Q,
            u=np.empty(self._limit + 1),
        )
        problem = self.problem.kernel(target, self.n_labels)  # type: ignore[union-attr]
        self._batches.present(block, problem, run, rows, budget, self.n_labels)
        stay = members[: budget.size()]
        old, new = stay[stay < first], stay[stay >= first] - first
        self.support.keep(old)
        self.support.coef[:] = coef[old]
        if len(new):
            none = np.empty((len(new), 0))
            own_new = own[new]
            self.support.append(own_new, coef[first + new], none, norms[first + new], rows[new])
        self._find_places()


def _check_budget(
    budget: int, strategy: str, average: bool, batch_size: int, problem: Problem
) -> None:
    if budget < 1:
        raise SeqpaError(f"budget={budget}; it must be a whole number, 1 or above, or None")
    if strategy not in STRATEGIES:
        raise SeqpaError(f"{strategy!r} is no budget strategy; there are: {', '.join(STRATEGIES)}")
    if average:
        raise SeqpaError(
            "no mean with a budget: the weights of earlier moments need vectors that have left"
        )
    if batch_size > 1 or isinstance(problem, Uniclass):
        raise SeqpaError("a budget is kept example by example, and not for a uniclass problem")
