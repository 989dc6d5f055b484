"""Every update is the minimiser of its paper's optimisation problem, found here by SLSQP.

The problems are written down as printed (PA 2006, Eq. 2, 6, 7, 19, 22, 30, 37, 44, 51;
Mini-batch PA, Eq. 1-2 and 7-8 with the bias), with slack variables, and know nothing of τ.
"""

from __future__ import annotations

import numpy as np
import pytest
from cases import KINDS, draw, one_update
from scipy.optimize import minimize

SLACK = {"PA": None, "PA-I": "linear", "PA-II": "squared", "PA-LS": "squared"}


def minimiser(w_t: np.ndarray, room, step: str, C: float) -> np.ndarray:
    """argmin ½‖w − w_t‖² + penalty(ξ), where room(w) + ξ >= 0 is the constraint."""
    d = len(w_t)

    def objective(v: np.ndarray) -> float:
        xi = v[d]
        penalty = {None: 0.0, "linear": C * xi, "squared": C * xi**2}[SLACK[step]]
        return 0.5 * float(np.sum((v[:d] - w_t) ** 2)) + penalty

    kind = "eq" if step == "PA-LS" else "ineq"
    constraints = [{"type": kind, "fun": lambda v: np.atleast_1d(room(v[:d])) + v[d]}]
    slack = {"PA": (0.0, 0.0), "PA-I": (0.0, None)}.get(step, (None, None))
    solution = minimize(
        objective,
        np.append(w_t + 0.01, 0.0),
        jac="3-point",
        method="SLSQP",
        bounds=[(None, None)] * d + [slack],
        constraints=constraints,
        options={"ftol": 1e-13, "maxiter": 500},
    )
    # 8: the line search finds no further descent, as happens at the optimum to the last digits.
    assert solution.status in (0, 8), solution.message
    return solution.x[:d]


def room_of(case, i: int, w_t: np.ndarray):
    """The paper's constraint of example i as `room(w) >= 0`; labels are chosen by w_t."""
    x = case.rows[i]
    if case.kind == "binary":
        return lambda w: case.target[i] * (w @ x) - case.margin
    if case.kind == "regression":
        # |w·x − y| <= ε is two inequalities.
        return lambda w: np.array(
            [case.epsilon - (w @ x - case.target[i]), case.epsilon + (w @ x - case.target[i])]
        )
    if case.kind.startswith("uniclass"):
        return lambda w: case.epsilon - np.linalg.norm(w - x)
    labels = range(case.n_labels)
    W = w_t.reshape(case.n_labels, -1)
    scores = [float(W[k] @ x) for k in labels]
    margin = case.margin
    if case.kind == "multilabel":
        inside = [k for k in labels if case.target[i, k]]
        outside = [k for k in labels if not case.target[i, k]]
        high = min(inside, key=scores.__getitem__)
        low = max(outside, key=scores.__getitem__)
    else:
        high = int(case.target[i])
        others = [k for k in labels if k != high]
        if case.kind == "multiclass":
            low = max(others, key=scores.__getitem__)
        elif case.kind == "prediction-based":
            low = int(np.argmax(scores))
            margin = np.sqrt(case.cost[high, low])
        else:
            low = max(labels, key=lambda k: scores[k] + np.sqrt(case.cost[high, k]))
            margin = np.sqrt(case.cost[high, low])

    def room(w: np.ndarray) -> float:
        prototypes = w.reshape(case.n_labels, -1)
        return float(prototypes[high] @ x - prototypes[low] @ x - margin)

    return room


COMBINATIONS = [
    (kind, step, bias)
    for kind in KINDS
    for step in SLACK
    for bias in (False, True)
    # Least squares is a problem of classification; a centre has no bias.
    if not (step == "PA-LS" and kind in ("regression", "uniclass", "uniclass-radius"))
    and not (bias and kind.startswith("uniclass"))
]


@pytest.mark.parametrize(("kind", "step", "bias"), COMBINATIONS)
def test_update_is_the_minimiser(kind: str, step: str, bias: bool) -> None:
    rng = np.random.default_rng(5)
    updates = 0
    for C in (0.02, 0.3, 5.0):
        case = draw(kind, rng, n=4, d=2, n_labels=3, bias=bias, start="random", density=1.0)
        for i in range(len(case.X)):
            got = one_update(case, i, step, C)
            want = minimiser(case.start, room_of(case, i, case.start), step, C)
            np.testing.assert_allclose(got, want, atol=2e-5)
            updates += bool(np.any(got != case.start))
    assert updates >= 4


@pytest.mark.parametrize("step", ["PA", "PA-I", "PA-II"])
def test_no_loss_is_the_fixed_point(step: str) -> None:
    """Where the constraint is met with room to spare, both stay where they are."""
    rng = np.random.default_rng(8)
    case = draw("binary", rng, n=5, d=3, start="random", density=1.0)
    for i in range(5):
        big = case.start * 0 + 3 * case.target[i] * case.rows[i] / (case.rows[i] @ case.rows[i])
        there = case.replace(start=big)
        got = one_update(there, i, step, 1.0)
        np.testing.assert_array_equal(got, big)
        want = minimiser(big, room_of(there, i, big), step, 1.0)
        np.testing.assert_allclose(got, want, atol=2e-5)
