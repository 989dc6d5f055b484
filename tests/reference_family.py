"""Naive twins of the rest of the family, written from the papers and not from seqpa.

Weights are one long vector, as in reference.py, whose constraints these loops share.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from reference import Constraint, Trace, step_size


def interval(constraint: Constraint, one_sided: bool) -> float:
    """The length of an interval that holds all entries of δ: PA 2003, §6 by Hoeffding's lemma."""
    peak = float(np.abs(constraint.direction).max())
    return peak if one_sided else 2 * peak


def multiplicative(
    constraint, order: Sequence[int], w: np.ndarray, step: str, C: float, one_sided: bool
) -> Trace:
    """PA 2003, §6: w_j ← w_j exp(τ v_j)/Z, τ = 4ℓ/D² and its bounded forms, in plain numbers."""
    trace = Trace(weights=w.copy())
    for i in order:
        found = constraint(i, trace.weights)
        tau = norm2 = r = 0.0
        if found.direction is not None:
            r = found.margin - found.score
            norm2 = interval(found, one_sided) ** 2 / 4
            tau = step_size(step, r, found.score, norm2, C)
            if tau != 0:
                grown = trace.weights * np.exp(tau * found.direction)
                trace.weights = grown / grown.sum()
        trace.after.append(trace.weights)
        trace.losses.append(max(0.0, r))
        trace.taus.append(tau)
        trace.norms2.append(norm2)
        trace.costs.append(found.cost)
    return trace


class Ellipsoid:
    """Ellipsoid as the slides write it (α_t in step 8): every matrix in full, one after another."""

    def __init__(self, n: int, method: str, scale: float, b: float, c: float, diagonal: bool):
        self.w = np.zeros(n)
        self.P = scale * np.eye(n)
        self.method, self.b, self.c, self.diagonal = method, b, c, diagonal
        self.updates = 0
        self.missed = 0
        self.after: list[np.ndarray] = []

    def see(self, found: Constraint) -> None:
        if found.direction is not None and found.score <= 0:
            n = np.sqrt(found.direction @ self.P @ found.direction)
            if n > 0:
                self.update(found.direction / n, (found.margin - found.score) / n)
        self.after.append(self.w)

    def update(self, g: np.ndarray, alpha: float) -> None:
        if self.method == "cellip" and alpha >= 1:
            self.missed += 1
            return
        Pg = self.P @ g
        self.w = self.w + alpha * Pg
        if self.method == "cellip":
            self.P = (1 - alpha**2) * self.P - 2 * alpha * (1 - alpha) * np.outer(Pg, Pg)
        else:
            c_t = self.c * self.b**self.updates
            self.P = (self.P - c_t * np.outer(Pg, Pg)) / (1 - c_t)
        if self.diagonal:
            self.P = np.diag(np.diag(self.P))
        self.updates += 1


def shared_blame(rule: str, scores: np.ndarray, y: int) -> np.ndarray:
    """τ of the three perceptron updates of MIRA 2003; zero where y is above all others."""
    tau = np.zeros(len(scores))
    errors = [r for r in range(len(scores)) if r != y and scores[r] >= scores[y]]
    if not errors:
        return tau
    tau[y] = 1.0
    if rule == "max-score":
        tau[max(errors, key=lambda r: scores[r])] = -1.0
        return tau
    excess = np.array([scores[r] - scores[y] for r in errors])
    if rule == "uniform" or excess.sum() == 0:
        excess = np.ones(len(errors))
    for r, share in zip(errors, excess / excess.sum(), strict=True):
        tau[r] = -share
    return tau


def mira_step(
    scores: np.ndarray, y: int, margin: float, norm2: float, step: str, C: float
) -> np.ndarray:
    """The dual of MIRA's programme, tried with every set of active constraints: the best that fits.

    max Σα_r g_r − ½A(Σα_r² + T²) − ½κT², T = Σα_r, g_r = margin − (s_y − s_r), over α >= 0.
    """
    gaps = np.delete(margin - (scores[y] - scores), y)
    kappa = 1 / (2 * C) if step == "PA-II" else 0.0
    cap = C if step == "PA-I" else np.inf
    best, best_alpha = 0.0, np.zeros(len(gaps))
    for chosen in itertools.product([False, True], repeat=len(gaps)):
        active = np.array(chosen)
        if not active.any():
            continue
        g, ones = gaps[active], np.ones(active.sum())
        free = np.linalg.solve(norm2 * np.diag(ones) + (norm2 + kappa) * np.outer(ones, ones), g)
        capped = (g - (g.sum() - norm2 * cap) / len(g)) / norm2 if np.isfinite(cap) else free
        for part in (free, capped):
            T = part.sum()
            value = part @ g - norm2 * (part @ part + T * T) / 2 - kappa * T * T / 2
            if part.min() >= -1e-12 and cap * (1 + 1e-12) >= T and value > best:
                best, best_alpha = value, np.zeros(len(gaps))
                best_alpha[active] = part
    return np.insert(-best_alpha, y, best_alpha.sum())


def prototypes(X, y, n_labels: int, tau_of) -> Trace:
    """w_r += τ_r x for each example, τ = tau_of(scores, label, ‖x‖²)."""
    W = np.zeros((n_labels, X.shape[1]))
    trace = Trace(weights=W)
    for x, label in zip(X, y, strict=True):
        W = trace.weights
        norm2 = float(x @ x)
        tau = tau_of(W @ x, int(label), norm2) if norm2 > 0 else np.zeros(n_labels)
        trace.weights = W + np.outer(tau, x)
        trace.after.append(trace.weights)
        trace.taus.append(float(tau[int(label)]))
    return trace


def hinge(constraint, order: Sequence[int], w: np.ndarray, eta: float, lam: float) -> Trace:
    """Stochastic subgradient steps on ½λ‖w‖² + max(0, margin − w·δ): Perceptron notes."""
    trace = Trace(weights=w.copy())
    for i in order:
        found = constraint(i, trace.weights)
        subgradient = lam * trace.weights
        if found.direction is not None and found.score <= found.margin:
            subgradient = subgradient - found.direction
        trace.weights = trace.weights - eta * subgradient
        trace.after.append(trace.weights)
    return trace


def hinge_batch(
    constraint, n: int, w: np.ndarray, eta: float, lam: float, steps: int
) -> list[np.ndarray]:
    """The weights after each of so many batch steps."""
    after = []
    for _ in range(steps):
        subgradient = lam * w
        for i in range(n):
            found = constraint(i, w)
            if found.direction is not None and found.score <= found.margin:
                subgradient = subgradient - found.direction / n
        w = w - eta * subgradient
        after.append(w)
    return after
