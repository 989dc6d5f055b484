"""Mini-batches: several examples, one step (Mini-batch PA, §3.2).

A mini-batch asks for B constraints w·δ_k >= margin_k at once. The smallest change of w that meets
them, up to slack, is w ← w + Σ τ_k δ_k (Eq. 12), where τ solves the dual of Eq. 10-11:

    BPAI    max −½ τᵀAτ + τᵀℓ              0 <= τ <= C     (Eq. 15, 16)
    BPAII   max −½ τᵀ(A + I/2C)τ + τᵀℓ     0 <= τ          (Eq. 17, 18)
    BPALS   τ = (A + I/2C)⁻¹ ℓ                             (Eq. 19)

with A_jk = δ_j·δ_k and ℓ_k = margin_k − w·δ_k, not cut off at 0: a constraint that is met may be
broken by the others' steps. For two classes δ = y x, A_jk = y_j y_k (x_j·x_k + 1) with the bias
inside, and margin 1; for more, each example brings its most violated constraint. With B = 1 these
are PA-I, PA-II and PA-LS.

Derived again, two of the printed equations differ. The penalty Cξ² gives ξ = τ/2C and the term
−τᵀτ/4C where Eq. 17 has −τᵀτ/2C; and so I/2C in Eq. 19 in place of I/C. Only so does B = 1 give
Mini-batch PA, Eq. 6 and 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa._kernel import blocks, quadratic
from seqpa._kernel import budget as budgets
from seqpa.core.examples import Examples
from seqpa.core.learner import Floats, Indices, Learner, OnlineLearner, Part, Run
from seqpa.core.problems import Problem, Uniclass
from seqpa.core.single import new_constraint
from seqpa.core.steps import USES_C
from seqpa.errors import SeqpaError

BLOCK = 256  # examples whose Gram matrix is made at once


def solve_box(
    A: ArrayLike,
    b: ArrayLike,
    *,
    lower: ArrayLike = 0.0,
    upper: ArrayLike = np.inf,
    ridge: ArrayLike = 0.0,
) -> Floats:
    """The x that maximises −½ xᵀ(A + diag(ridge))x + bᵀx where lower <= x <= upper.

    Parameters
    ----------
    A : array of shape (n, n)
        Symmetric and positive semidefinite; where it is singular, ridge or finite bounds are
        needed.
    b : array of shape (n,)
        The linear part.
    lower : float or array of shape (n,), default 0.0
        Lower bounds.
    upper : float or array of shape (n,), default infinity
        Upper bounds.
    ridge : float or array of shape (n,), default 0.0
        Added to the diagonal of A.

    Returns
    -------
    array of shape (n,)
        x.

    Examples
    --------
    >>> solve_box([[2.0, 1.0], [1.0, 3.0]], [1.0, 4.0], upper=1.25)
    array([0.  , 1.25])
    >>> solve_box([[2.0, 1.0], [1.0, 3.0]], [4.0, 4.0], upper=1.75)
    array([1.6, 0.8])
    """
    matrix = np.ascontiguousarray(A, dtype=np.float64)
    n = len(matrix)
    qp = new_qp(n)
    values = {"b": b, "ridge": ridge, "lower": lower, "upper": upper}
    for name, value in values.items():
        qp[name][:] = np.clip(np.asarray(value, dtype=np.float64), -1e100, 1e100)
    qp["A"][:] = matrix
    if qp["solver"].solve(n) == quadratic.GAVE_UP:
        raise SeqpaError("the quadratic problem has no solution: singular and without bounds")
    return np.asarray(qp["x"])


def solve_batch(A: ArrayLike, lacking: ArrayLike, C: ArrayLike, step: str) -> Floats:
    """τ of one mini-batch, from its inner products and what each constraint lacks.

    Parameters
    ----------
    A : array of shape (B, B)
        A_jk = δ_j·δ_k.
    lacking : array of shape (B,)
        ℓ_k = margin_k − w·δ_k.
    C : float or array of shape (B,)
        The aggressiveness: one number, or one for each constraint.
    step : {"PA-I", "PA-II", "PA-LS"}
        Which of the three quadratic problems.

    Returns
    -------
    array of shape (B,)
        τ.

    Examples
    --------
    >>> A, lacking = [[4.0, -2.0], [-2.0, 2.0]], [1.0, 1.0]
    >>> solve_batch(A, lacking, 10.0, "PA-I"), solve_batch(A, lacking, 0.5, "PA-I")
    (array([1. , 1.5]), array([0.5, 0.5]))
    >>> solve_batch(A, lacking, 0.25, "PA-II")
    array([0.3, 0.4])
    """
    if step not in USES_C:
        raise SeqpaError(f"{step!r} makes no mini-batches; {', '.join(USES_C)} do")
    A, lacking = np.asarray(A, dtype=np.float64), np.asarray(lacking, dtype=np.float64)
    each_C = np.broadcast_to(np.asarray(C, dtype=np.float64), lacking.shape)
    tau = np.zeros(len(lacking))
    some = np.diagonal(A) >= 1e-290  # no direction, no step
    tau[some] = solve_box(
        A[np.ix_(some, some)],
        lacking[some],
        lower=-np.inf if step == "PA-LS" else 0.0,
        upper=each_C[some] if step == "PA-I" else np.inf,
        ridge=0.0 if step == "PA-I" else 0.5 / each_C[some],
    )
    return tau


def new_qp(n: int) -> dict[str, Any]:
    """The arrays of a `BoxQP` of n variables by name, and the solver itself as "solver".

    Parameters
    ----------
    n : int
        Variables.

    Returns
    -------
    dict
        Name -> array, and "solver".
    """
    arrays: dict[str, Any] = {name: np.zeros(n) for name in ("b", "ridge", "lower", "upper", "x")}
    arrays["A"] = np.zeros((n, n))
    arrays["solver"] = quadratic.BoxQP(
        **arrays,
        L=np.zeros((n, n)),
        vectors=np.zeros((3, n)),
        free=np.zeros(n, dtype=np.intp),
        is_free=np.zeros(n, dtype=np.uint8),
    )
    return arrays


class Batches:
    """The mini-batches of a pass: how blocks are cut, and what a block's pass is.

    Parameters
    ----------
    size : int
        B.
    step : str
        One of PA-I, PA-II and PA-LS, unless B is 1.
    problem : Problem
        Any but uniclass, unless B is 1.
    """

    def __init__(self, size: int, step: str, problem: Problem) -> None:
        if size > 1 and (step not in USES_C or isinstance(problem, Uniclass)):
            raise SeqpaError(
                f"mini-batches are made of the steps {', '.join(USES_C)}, not {step}, "
                "and there are none for a uniclass problem"
            )
        self.size = size

    def cut(self, examples: Examples, y: NDArray[Any], C: Floats, rows: Indices) -> Iterator[Part]:
        """Blocks of whole mini-batches; a shorter one may come last.

        Parameters
        ----------
        examples : Examples
            The examples.
        y : array
            Their targets.
        C : array
            Their aggressiveness.
        rows : array of int
            The rows to present.

        Yields
        ------
        tuple
            Examples, targets, C and the rows of one block.
        """
        size = self.size * max(1, BLOCK // self.size)
        for first in range(0, len(rows), size):
            yield examples, y, C, rows[first : first + size]

    def present(
        self, block: Any, problem: Any, run: Any, rows: Indices, budget: Any, n_labels: int
    ) -> None:
        """The compiled pass over one block.

        Parameters
        ----------
        block : Block of the kernel
            The block's inner products, scores and coefficients.
        problem : Problem of the kernel
            Which constraint an example asks for.
        run : Pass of the kernel
            The step and the sums.
        rows : array of int
            The rows of the block.
        budget : Budget of the kernel
            How many support vectors there may be.
        n_labels : int
            K.
        """
        c = new_constraint(n_labels)
        if self.size == 1:
            blocks.block_pass(block, problem, run, rows, budget, c)
        else:
            n = min(self.size, len(rows))
            solver, asked = new_qp(n)["solver"], np.empty((n, blocks.KEPT))
            blocks.batch_pass(block, problem, run, rows, self.size, solver, asked, c)


def overlapping_run(
    learner: OnlineLearner,
    run: Callable[..., Run],
    size: int,
    before: int,
    examples: Examples,
    target: ArrayLike | None = None,
    *,
    order: ArrayLike | None = None,
    record: bool = False,
    **options: Any,
) -> Run:
    """A pass of mini-batches that overlap: in each round the last B examples make one step.

    Mini-batch PA, §3.2 writes so: "at each time, t, we have a set of B (labelled) examples",
    x_t, x_t−1, …, x_t−B+1, where one example arrives at a time (§2). What is counted of a round is
    the example that arrives.

    Parameters
    ----------
    learner : OnlineLearner
        What learns.
    run : function
        Its way to learn from one mini-batch.
    size : int
        B.
    before : int
        How many of the first examples were learned from before.
    examples : Examples
        The examples.
    target : array or None, default None
        What is right for each.
    order : array of int or None, default None
        The rows to present, in order; None for all of them.
    record : bool, default False
        Fill the arrays of `Run`.
    **options : object
        As `Learner.run`: C and tol.

    Returns
    -------
    Run
        What the pass counted; `updates` counts every example that a step moved along.
    """
    rows = np.arange(len(examples)) if order is None else np.asarray(order, dtype=np.intp)
    names = ("order", "losses", "taus", "norms2", "costs", "ups", "downs", "middles")
    last: dict[str, list[Any]] = {name: [] for name in names}
    updates = 0
    for t in range(before, len(rows)):
        window = rows[max(0, t - size + 1) : t + 1]
        clock = learner.seen
        learner.seen = clock - (len(window) - 1)  # so that the step is made at the clock's time
        one = run(examples, target, order=window, record=True, **options)
        learner.seen = clock + 1
        updates += one.updates
        for name in names:
            last[name].append(getattr(one, name)[-1])
    arrays = {name: np.array(values) for name, values in last.items()}
    losses = arrays["losses"].astype(np.float64)
    return Run(
        len(losses),
        int(np.sum(arrays["costs"] > 0)) if len(losses) else 0,
        float(arrays["costs"].sum()),
        float(losses.sum()),
        float((losses**2).sum()),
        updates,
        **(arrays if record else {}),
    )


def no_budget() -> Any:
    """A `Budget` without a limit.

    Returns
    -------
    Budget of the kernel
        It never makes a support vector leave.
    """
    none, nothing = np.empty(0, dtype=np.intp), np.empty(0)
    return budgets.Budget(
        strategy=0,
        limit=0,
        count=0,
        members=none,
        slots=none,
        norms=nothing,
        Q=np.empty((0, 0)),
        u=nothing,
    )


class BatchLearner(Learner):
    """A `Learner` whose steps are those of mini-batches: w ← w + Σ τ_k δ_k.

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
        Not possible here: there is a weight vector for each label.
    start : array of shape (K, features) or None, default None
        w₁, the weights at the start; zero if None.
    batch_size : int
        B; what is left over at the end of a pass is a smaller mini-batch.
    overlapping : bool, default False
        Let mini-batches overlap (`overlapping_run`).

    Examples
    --------
    >>> from seqpa.core.problems import Binary
    >>> X = Examples.from_array([[2.0, 0.0], [1.0, 1.0], [0.0, 4.0]])
    >>> learner = BatchLearner(Binary(), "PA-I", n_features=2, batch_size=2)
    >>> run = learner.run(X, [1, -1, -1], C=10.0, record=True)
    >>> run.taus
    array([1. , 1.5, 0. ])
    >>> learner.weights
    array([[ 0.5, -1.5]])
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
        batch_size: int,
        overlapping: bool = False,
    ) -> None:
        if joint:
            raise SeqpaError("mini-batches need a weight vector for each label")
        super().__init__(problem, step, n_features, n_labels, bias, average, joint, start)
        self._batches = Batches(batch_size, step, problem)
        self.batch_size = batch_size
        self.overlapping = overlapping

    def run(self, *args: Any, before: int = 0, **options: Any) -> Run:
        """One pass, as `Learner.run`.

        Parameters
        ----------
        *args : object
            As `Learner.run`.
        before : int, default 0
            Where mini-batches overlap: how many of the first examples were learned from before, and
            only make up the first windows.
        **options : object
            As `Learner.run`.

        Returns
        -------
        Run
            What the pass counted.
        """
        if not self.overlapping:
            return super().run(*args, **options)
        return overlapping_run(self, super().run, self._batches.size, before, *args, **options)

    def _parts(
        self, examples: Examples, y: NDArray[Any], C: Floats, rows: Indices, *, shuffled: bool
    ) -> Iterator[Part]:
        return self._batches.cut(examples, y, C, rows)

    def _pass(self, examples: Examples, target: Any, rows: Indices, run: Any) -> None:
        self._mean = None
        chosen = examples.take(rows)
        X = chosen.matrix
        inner = X @ X.T
        gram = np.asarray(inner.toarray() if chosen.sparse else inner) + float(self.bias)
        scores = np.ascontiguousarray(chosen.scores(self.weights).T)
        coef = np.zeros((len(rows), self.n_labels))
        acc = np.zeros_like(coef) if self.average else np.empty((0, self.n_labels))
        block = budgets.GramBlock(gram=gram, first=0, scores=scores, coef=coef, acc=acc)
        problem = self.problem.kernel(target, self.n_labels)  # type: ignore[union-attr]
        self._batches.present(block, problem, run, rows, no_budget(), self.n_labels)
        for moved, weights in ((coef, self._W), (acc, self._acc)):
            if len(moved):
                by_label = weights.T if self._by_feature else weights
                by_label[:, : self.n_features] += np.asarray((X.T @ moved).T)
                if self.bias:
                    by_label[:, -1] += moved.sum(axis=0)
