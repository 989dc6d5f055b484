"""Naive twins of the learners: plain loops, written from the papers and not from seqpa.

Everything is one long weight vector and one explicit direction δ for each example; a label's
prototype is a block of that vector, a bias is a 1 behind the features. Slow and obvious on purpose.
Equation numbers are those of PA 2006 unless another paper is named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

STEPS = ("PA", "PA-I", "PA-II", "PA-LS", "perceptron")


class Constraint(NamedTuple):
    """w·δ >= margin is asked for; score is w·δ now. `direction` None: nothing is asked for."""

    margin: float
    score: float
    direction: np.ndarray | None
    cost: float


@dataclass
class Trace:
    """What a naive run leaves behind, round by round."""

    weights: np.ndarray
    after: list[np.ndarray] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    taus: list[float] = field(default_factory=list)
    norms2: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)

    @property
    def mean(self) -> np.ndarray:
        return np.mean(self.after, axis=0)


def step_size(step: str, r: float, score: float, norm2: float, C: float) -> float:
    """Eq. 3, Eq. 8, Mini-batch PA, Eq. 9 with its sign put right, and Rosenblatt's rule."""
    if norm2 == 0:
        return 0.0
    loss = max(0.0, r)
    if step == "PA":
        return loss / norm2
    if step == "PA-I":
        return min(C, loss / norm2)
    if step == "PA-II":
        return loss / (norm2 + 1 / (2 * C))
    if step == "PA-LS":
        return r / (norm2 + 1 / (2 * C))
    return 1.0 if score <= 0 else 0.0


def run(
    constraint: Callable[[int, np.ndarray], Constraint],
    order: Sequence[int],
    w: np.ndarray,
    step: str,
    C: Sequence[float],
    tol: float = 0.0,
) -> Trace:
    """w += τδ for each example of the order; with tol, only where the squared loss exceeds it."""
    trace = Trace(weights=w.copy())
    for i in order:
        w = trace.weights
        margin, score, direction, cost = constraint(i, w)
        if direction is None:
            direction = np.zeros_like(w)
            r = 0.0
        else:
            r = margin - score
        norm2 = float(direction @ direction)
        tau = step_size(step, r, score, norm2, C[i])
        loss = max(0.0, r)
        if tol > 0 and loss**2 <= tol:
            tau = 0.0
        trace.weights = w + tau * direction
        trace.after.append(trace.weights)
        trace.losses.append(loss)
        trace.taus.append(tau)
        trace.norms2.append(norm2)
        trace.costs.append(cost)
    return trace


def with_bias(X: np.ndarray) -> np.ndarray:
    return np.hstack([X, np.ones((len(X), 1))])


def binary(X: np.ndarray, y: np.ndarray, margin: float = 1.0):
    """Eq. 1-3: y (w·x) >= margin."""

    def constraint(i: int, w: np.ndarray) -> Constraint:
        score = y[i] * (w @ X[i])
        return Constraint(margin, score, y[i] * X[i], 1.0 if score <= 0 else 0.0)

    return constraint


def regression(X: np.ndarray, y: np.ndarray, epsilon: float):
    """Eq. 18-19: |w·x − y| <= ε."""

    def constraint(i: int, w: np.ndarray) -> Constraint:
        error = y[i] - w @ X[i]
        if error == 0:
            return Constraint(-epsilon, 0.0, None, 0.0)
        return Constraint(
            -epsilon, -abs(error), np.sign(error) * X[i], 1.0 if abs(error) > epsilon else 0.0
        )

    return constraint


def uniclass(X: np.ndarray, epsilon: float):
    """Eq. 21-24: ‖w − x‖ <= ε. For a learned radius give B for ε, and a 0 behind every x (§6)."""

    def constraint(i: int, w: np.ndarray) -> Constraint:
        distance = float(np.sqrt(np.sum((X[i] - w) ** 2)))
        if distance == 0:
            return Constraint(-epsilon, 0.0, None, 0.0)
        cost = 1.0 if distance > epsilon else 0.0
        return Constraint(-epsilon, -distance, (X[i] - w) / distance, cost)

    return constraint


Features = Callable[[int, int], np.ndarray]


def blocks(X: np.ndarray, n_labels: int) -> Features:
    """Φ(x, k) of the multi-prototype setting (§7): x in block k, zeros elsewhere."""

    def features(i: int, k: int) -> np.ndarray:
        phi = np.zeros((n_labels, X.shape[1]))
        phi[k] = X[i]
        return phi.ravel()

    return features


def multilabel(features: Features, relevant: np.ndarray, margin: float = 1.0):
    """Eq. 36-37: the lowest relevant label over the highest irrelevant one, the first of equals."""

    def constraint(i: int, w: np.ndarray) -> Constraint:
        n_labels = relevant.shape[1]
        inside = [k for k in range(n_labels) if relevant[i, k]]
        outside = [k for k in range(n_labels) if not relevant[i, k]]
        if not inside or not outside:
            return Constraint(margin, 0.0, None, 0.0)
        r = min(inside, key=lambda k: w @ features(i, k))
        s = max(outside, key=lambda k: w @ features(i, k))
        score = w @ features(i, r) - w @ features(i, s)
        return Constraint(
            margin, score, features(i, r) - features(i, s), 1.0 if score <= 0 else 0.0
        )

    return constraint


def multiclass(features: Features, y: np.ndarray, n_labels: int, margin: float = 1.0):
    """One relevant label: the margin to the highest wrong label (§7)."""
    return multilabel(features, np.arange(n_labels) == y[:, None], margin)


def cost_sensitive(features: Features, y: np.ndarray, cost: np.ndarray, update: str):
    """Eq. 44 (prediction-based, ŷ of Eq. 42) and Eq. 51 (max-loss, ỹ of Eq. 50)."""

    def constraint(i: int, w: np.ndarray) -> Constraint:
        labels = range(len(cost))
        gold = int(y[i])
        predicted = max(labels, key=lambda k: w @ features(i, k))
        rival = predicted
        if update == "max-loss":
            # Where the right label attains the maximum, nothing is violated.
            rival = max([gold, *labels], key=lambda k: w @ features(i, k) + np.sqrt(cost[gold, k]))
        paid = cost[gold, predicted]
        if rival == gold:
            return Constraint(0.0, 0.0, None, paid)
        direction = features(i, gold) - features(i, rival)
        score = w @ features(i, gold) - w @ features(i, rival)
        return Constraint(np.sqrt(cost[gold, rival]), score, direction, paid)

    return constraint
