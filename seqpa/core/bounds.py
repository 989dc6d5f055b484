"""The loss bounds of a run over vectors, and any bounds as a readable certificate.

`bounds` gathers what the theorems want (`theorems.py`) from recorded passes, `certificate` shows
the outcome. A run that violates a bound is not the algorithm it claims to be. Of steps that no
theorem is about, such as those of mini-batches, none is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from seqpa.core.batch import BatchLearner
from seqpa.core.ellipsoid import EllipsoidLearner
from seqpa.core.examples import Examples
from seqpa.core.hinge import HingeLearner
from seqpa.core.learner import Learner, Run
from seqpa.core.mira import PrototypeLearner
from seqpa.core.multiplicative import MultiplicativeLearner, relative_entropy
from seqpa.core.problems import (
    Binary,
    CostSensitive,
    Floats,
    Multiclass,
    Multilabel,
    OneVsRest,
    Problem,
    Regression,
    Uniclass,
)
from seqpa.core.theorems import Bound, Kind, Rounds, check
from seqpa.errors import SeqpaError

__all__ = ["Bound", "Rounds", "bounds", "certificate", "check", "print_certificate"]


def bounds(
    runs: Run | Sequence[Run],
    learner: Learner,
    examples: Examples,
    target: ArrayLike | None,
    u: ArrayLike,
    *,
    C: ArrayLike = 1.0,
    tol: float = 0.0,
    start: ArrayLike | None = None,
    radius: float | None = None,
) -> list[Bound]:
    """Every theorem on recorded passes, beside fixed weights u.

    Where the radius of a ball is learned (PA 2006, §6), u is the point (u, √(B² − radius²)) of a
    space with one dimension more, and ‖u − w₁‖² grows by (B − √(B² − radius²))², which is at most
    the radius² of PA 2006.

    Parameters
    ----------
    runs : Run or sequence of Run
        One recorded pass, or consecutive ones: to the theorems, one long sequence. Those of an
        ellipsoid start at its beginning.
    learner : Learner
        As it is after the last of them.
    examples : Examples
        The examples of the passes.
    target : array or None
        What is right for each example.
    u : array of shape (K, features) or, with a bias, (K, features + 1)
        The comparator; any weights at all.
    C : float or array of shape (n,), default 1.0
        As `learner.run` was given it.
    tol : float, default 0.0
        As `learner.run` was given it.
    start : array or None, default None
        w₁: `learner.weights` as they were, or of u's shape; those of a new learner if None.
    radius : float or None, default None
        Radius of the comparator's ball, where the radius is learned.

    Returns
    -------
    list of Bound
        The outcome of each theorem, whether it applies or not.

    Examples
    --------
    >>> X = Examples.from_array([[2.0, 0.0], [1.0, 1.0]])
    >>> learner = Learner(Binary(), "PA-I", n_features=2)
    >>> run = learner.run(X, [1, 1], C=0.2, record=True)
    >>> found = bounds(run, learner, X, [1, 1], [1, 0], C=0.2)
    >>> [(b.name, round(b.left, 2), b.right) for b in found if b.applies][:2]
    [('PA 2006, Lemma 1', 0.4, 1.0), ('PA 2006, Theorem 4', 1.0, 5.0)]
    """
    every = [runs] if isinstance(runs, Run) else list(runs)
    orders = [run.order for run in every if run.order is not None]
    if not every or len(orders) < len(every):
        raise SeqpaError("bounds need recorded passes: learner.run(..., record=True)")
    order = np.concatenate(orders)
    problem = learner.problem
    now = learner.weights.reshape(-1)
    comparator = _point(problem, u, radius)
    first = _first(learner) if start is None else np.asarray(start).reshape(-1)
    if first.shape != now.shape:
        first = _point(problem, first, 0.0)
    for name, point in (("u", comparator), ("start", first)):
        if point.shape != now.shape:
            raise SeqpaError(f"{name} has {len(point)} weights, the learner {len(now)}")
    if isinstance(problem, Uniclass):
        center, extra = comparator[:-1], comparator[-1]
        scores = np.sqrt(examples.distances(center) ** 2 + extra**2)
    else:
        scores = examples.scores(comparator.reshape(learner.weights.shape))
    each_C = np.broadcast_to(np.asarray(C, dtype=np.float64), (len(examples),))
    moved = now - first
    simplex = isinstance(learner, MultiplicativeLearner)
    distance2 = float(np.sum((comparator - first) ** 2))
    if simplex:
        distance2 = 2.0 * relative_entropy(comparator, first)
    growth, scale = None, 1.0
    if isinstance(learner, EllipsoidLearner):
        if learner.updates != sum(run.updates for run in every):
            raise SeqpaError("the bounds of an ellipsoid need its runs from the beginning")
        scale = learner.scale
        distance2 /= scale
        if learner.b + learner.c < 1.0:
            growth = (1.0 - learner.b) / (1.0 - learner.b - learner.c)
    sides = 1.0 if learner.n_labels == 1 else 2.0  # how many blocks of δ hold x
    # A round is an example, or one label of an example.
    at = (order, _joined(every, "ups")) if isinstance(problem, OneVsRest) else order
    return check(
        Rounds(
            kind=_kind(problem),
            step=_step(learner),
            losses=_joined(every, "losses"),
            taus=_joined(every, "taus"),
            norms2=_joined(every, "norms2"),
            costs=_joined(every, "costs"),
            comparator_losses=problem.losses(scores, target)[at],  # type: ignore[arg-type]
            distance2=distance2,
            C=each_C[order],
            margin=getattr(problem, "margin", 1.0),
            tol=tol,
            surplus=_surplus(_excess(problem, scores, target)[at]),
            feature_norm2=(
                float(examples.norms2.max()) if learner.n_labels > 1 and not simplex else None
            ),
            moved=None if simplex else float(np.sqrt(moved @ moved)),
            from_zero=not first.any(),
            together=isinstance(learner, PrototypeLearner),
            simplex=simplex,
            first_norms2=(
                scale * sides * examples.norms2[order]
                if isinstance(learner, EllipsoidLearner)
                else None
            ),
            growth=growth,
        )
    )


def _joined(runs: Sequence[Run], name: str) -> Any:
    return np.concatenate([getattr(run, name) for run in runs])


def _first(learner: Learner) -> Floats:
    """The weights of a new learner: zero, or the uniform distribution."""
    width = _width(learner)
    uniform = isinstance(learner, MultiplicativeLearner)
    return np.full(width, 1.0 / width) if uniform else np.zeros(width)


def _step(learner: Learner) -> str:
    """The name by which the theorems know the step."""
    if isinstance(learner, EllipsoidLearner):
        if learner.method == "iellip":
            return "IELLIP"
        return "CELLIP" if learner.shape == "full" else "CELLIP with a diagonal"
    if isinstance(learner, BatchLearner) and learner.batch_size > 1:
        # One step answers the constraints of several examples; the theorems are about one.
        return f"mini-batches of {learner.step}"
    if isinstance(learner, HingeLearner):
        return "regularised or batch descent" if learner.lam or learner.batch else "hinge"
    return learner.step


def _kind(problem: Problem) -> Kind:
    if isinstance(problem, CostSensitive):
        return "cost-sensitive"
    if isinstance(problem, Regression):
        return "regression"
    return "uniclass" if isinstance(problem, Uniclass) else "classification"


def _width(learner: Learner) -> int:
    """How many weights a user means: the coordinate of a learned radius is not one of them."""
    extra = 1 if isinstance(learner.problem, Uniclass) else 0
    return int(learner.weights.size) - extra


def _point(problem: Problem, weights: ArrayLike, radius: float | None) -> Floats:
    """Weights as one long vector; for a ball with its extra coordinate √(B² − radius²)."""
    w = np.asarray(weights, dtype=np.float64).reshape(-1)
    if not isinstance(problem, Uniclass):
        return w
    if problem.max_radius is None:
        return np.append(w, 0.0)
    if radius is None or not 0.0 <= radius <= problem.max_radius:
        raise SeqpaError(f"radius is {radius}; it must be between 0 and {problem.max_radius}")
    return np.append(w, np.sqrt(problem.max_radius**2 - radius**2))


def _excess(problem: Problem, scores: Floats, target: ArrayLike | None) -> Floats:
    """By how much fixed weights exceed the margin of each example; infinite where none is asked."""
    if isinstance(problem, Binary):
        return np.asarray(target) * scores.reshape(-1) - problem.margin
    if isinstance(problem, OneVsRest):
        assert target is not None
        return problem.signs(target, scores.shape[1]) * scores - problem.margin
    if isinstance(problem, Regression):
        return problem.epsilon - np.abs(np.asarray(target) - scores.reshape(-1))
    if isinstance(problem, Uniclass):
        return problem.radius - scores
    if isinstance(problem, Multilabel):
        relevant = np.asarray(target, dtype=bool)
        margins: Floats | float = problem.margin
    else:
        y = np.asarray(target, dtype=np.intp)
        relevant = np.arange(scores.shape[1]) == y[:, None]
        margins = problem.margin if isinstance(problem, Multiclass) else problem.root_cost[y]
    low = np.where(relevant, scores, np.inf).min(axis=1)
    high = np.where(relevant, -np.inf, scores + margins).max(axis=1)
    return np.asarray(low - high)


def _surplus(excess: Floats) -> float | None:
    asked = excess[np.isfinite(excess)]
    return float(asked.min()) if len(asked) else None


def certificate(bounds: Sequence[Bound]) -> str:
    """The bounds as a table, those that apply first; the others with the reason.

    Parameters
    ----------
    bounds : sequence of Bound
        What `bounds` or `check` found.

    Returns
    -------
    str
        The table.

    Examples
    --------
    >>> print(certificate([
    ...     Bound("PA 2006, Theorem 2", 1.25, 4.0, True, True, "Σℓ² <= R²‖u − w₁‖²"),
    ...     Bound("PA 2006, Theorem 5", np.nan, np.nan, False, False, "not PA-II"),
    ... ]))
    bound               left    right   verdict
    PA 2006, Theorem 2  1.25    4       holds    Σℓ² <= R²‖u − w₁‖²
    PA 2006, Theorem 5  -       -       -        does not apply: not PA-II
    """
    rows = [("bound", "left", "right", "verdict", "")]
    for b in sorted(bounds, key=lambda b: not b.applies):
        if b.applies:
            verdict = "holds" if b.holds else "VIOLATED"
            rows.append((b.name, f"{b.left:.6g}", f"{b.right:.6g}", verdict, b.why))
        else:
            rows.append((b.name, "-", "-", "-", f"does not apply: {b.why}"))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = []
    for row in rows:
        cells = [cell.ljust(max(width, 6)) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[4]]).rstrip())
    return "\n".join(lines)


def print_certificate(bounds: Sequence[Bound]) -> None:
    """Print the table of `certificate`.

    Parameters
    ----------
    bounds : sequence of Bound
        What `bounds` or `check` found.
    """
    print(certificate(bounds))
