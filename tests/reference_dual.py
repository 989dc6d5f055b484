"""Naive twins in a kernel's space: the kernel trick undone, quadratic problems by enumeration.

On a finite set of examples every kernel is a plain inner product: with K = UΛUᵀ the rows of U√Λ are
φ(x_i). So the twins of reference.py are twins of the kernel learners too, on those rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from reference import Constraint, Trace, step_size


def feature_rows(K: np.ndarray) -> np.ndarray:
    """φ(x_i) as rows, whose inner products are K."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def enumerated(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """argmax −½xᵀAx + bᵀx in the box: every variable at its lower bound, free, or at its upper
    bound, all combinations tried; the best that lies in the box."""
    n = len(b)
    best, best_value = np.zeros(n), -np.inf
    for places in product((0, 1, 2), repeat=n):
        x = np.zeros(n)
        free = [i for i in range(n) if places[i] == 1]
        fixed = [i for i in range(n) if places[i] != 1]
        for i in fixed:
            x[i] = lower[i] if places[i] == 0 else upper[i]
        if not np.isfinite(x).all():
            continue
        if free:
            rest = b[free] - A[np.ix_(free, fixed)] @ x[fixed]
            x[free] = np.linalg.lstsq(A[np.ix_(free, free)], rest, rcond=None)[0]
        if (x >= lower - 1e-12).all() and (x <= upper + 1e-12).all():
            value = -0.5 * x @ A @ x + b @ x
            if value > best_value:
                best, best_value = x, value
    return best


def dual(D: np.ndarray, lacking: np.ndarray, step: str, C: np.ndarray) -> np.ndarray:
    """τ of one mini-batch with the directions D: Mini-batch PA, Eq. 15-19, derived again."""
    A = D @ D.T
    n = len(lacking)
    if step == "PA-I":
        return enumerated(A, lacking, np.zeros(n), C)
    A = A + np.diag(1 / (2 * C))
    if step == "PA-LS":
        return np.linalg.solve(A, lacking)
    return enumerated(A, lacking, np.zeros(n), np.full(n, np.inf))


def run_batches(
    constraint: Callable[[int, np.ndarray], Constraint],
    order: Sequence[int],
    w: np.ndarray,
    step: str,
    C: np.ndarray,
    size: int,
) -> Trace:
    """w += Σ τ_k δ_k for each mini-batch; `after` holds the weights after each example, which move
    with the last of a mini-batch."""
    trace = Trace(weights=w.copy())
    for first in range(0, len(order), size):
        batch = list(order[first : first + size])
        w = trace.weights
        asked = [constraint(i, w) for i in batch]
        lacking = np.array([0.0 if c.direction is None else c.margin - c.score for c in asked])
        D = np.array([np.zeros_like(w) if c.direction is None else c.direction for c in asked])
        active = np.flatnonzero(np.einsum("ij,ij->i", D, D) > 0)
        taus = np.zeros(len(batch))
        taus[active] = dual(D[active], lacking[active], step, np.asarray(C)[batch][active])
        trace.weights = w + taus @ D
        trace.after += [w] * (len(batch) - 1) + [trace.weights]
        trace.losses += np.maximum(0.0, lacking).tolist()
        trace.taus += taus.tolist()
        trace.costs += [c.cost for c in asked]
    return trace


def run_budget(
    Phi: np.ndarray,
    y: np.ndarray,
    order: Sequence[int],
    step: str,
    C: float,
    budget: int,
    strategy: str,
) -> tuple[np.ndarray, dict[int, float], list[float]]:
    """Binary PA with at most `budget` support vectors: w, their coefficients in the order of their
    coming, and the losses. "project" replaces by least squares."""
    alpha: dict[int, float] = {}
    losses = []
    for i in order:
        w = sum((a * Phi[j] for j, a in alpha.items()), np.zeros(Phi.shape[1]))
        score = y[i] * (w @ Phi[i])
        losses.append(max(0.0, 1.0 - score))
        amount = y[i] * step_size(step, 1.0 - score, score, Phi[i] @ Phi[i], C)
        if amount == 0.0:
            continue
        if i in alpha:
            alpha[i] += amount
            continue
        if strategy == "project" and alpha:
            share, lost = _projection(Phi, list(alpha), i)
            if lost < 1e-10 * (Phi[i] @ Phi[i]):
                for j, part in zip(alpha, share, strict=True):
                    alpha[j] += amount * part
                continue
        alpha[i] = amount
        if len(alpha) > budget:
            _drop(Phi, alpha, strategy)
    w = sum((a * Phi[j] for j, a in alpha.items()), np.zeros(Phi.shape[1]))
    return w, alpha, losses


def _projection(Phi: np.ndarray, others: list[int], i: int) -> tuple[np.ndarray, float]:
    share = np.linalg.lstsq(Phi[others].T, Phi[i], rcond=None)[0]
    return share, float(np.sum((share @ Phi[others] - Phi[i]) ** 2))


def _drop(Phi: np.ndarray, alpha: dict[int, float], strategy: str) -> None:
    members = list(alpha)
    if strategy == "oldest":
        del alpha[members[0]]
    elif strategy == "smallest":
        del alpha[min(members[:-1], key=lambda j: alpha[j] ** 2 * (Phi[j] @ Phi[j]))]
    else:
        made = {j: _projection(Phi, [k for k in members if k != j], j) for j in members}
        victim = min(members, key=lambda j: alpha[j] ** 2 * made[j][1])
        part = alpha.pop(victim)
        for j, share in zip(alpha, made[victim][0], strict=True):
            alpha[j] += part * share
