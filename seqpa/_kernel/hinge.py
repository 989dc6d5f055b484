"""One pass of subgradient descent on the regularised hinge loss.

    ½λ‖w‖² + max(0, margin − w·δ):  w ← (1 − ηλ)w + ηδ where w·δ <= margin, else (1 − ηλ)w

Weights are kept as scale · V, so that a CSR row costs what it stores though all weights shrink.
The callers in `seqpa.core` check shapes, types and finiteness; nothing is checked here.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.vectors import (
        COST,
        DOWN,
        SIGN,
        UP,
        Pass,
        Problem,
        R,
        Rows,
    )
else:
    from seqpa._kernel.vectors import COST, DOWN, SIGN, UP, Pass, Problem, R, Rows

COMPILED = cython.compiled


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fold(
    V: cython.double[:, ::1],
    acc: cython.double[:, ::1],
    past: cython.double[:, ::1],
    scale: cython.double,
    mass: cython.double,
) -> cython.void:
    """V becomes the weights themselves, past the sum of the weights after each example so far."""
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    for a in range(V.shape[0]):
        for b in range(V.shape[1]):
            if acc.shape[0] > 0:
                past[a, b] += mass * V[a, b] - acc[a, b]
                acc[a, b] = 0.0
            V[a, b] *= scale


@cython.ccall
def hinge_pass(
    rows: Rows,
    problem: Problem,
    run: Pass,
    norms: cython.const[cython.double][::1],
    order: cython.const[cython.Py_ssize_t][::1],
    eta: cython.double,
    shrink: cython.double,
    read: cython.double[:, ::1],
    V: cython.double[:, ::1],
    acc: cython.double[:, ::1],
    past: cython.double[:, ::1],
    s: cython.double[::1],
    c: cython.double[::1],
):
    """Steps of η·C_i for the examples that are not beyond the margin.

    read    the weights that score, scale · read; V itself for stochastic descent, and for a batch
            weights that stand still, while V gathers the sum of the steps
    shrink  1 − ηλ, once for each example
    past    the sum of the weights after each example, for the mean; or empty. Within the pass it
            is mass·V − acc: mass the sum of the scales so far, acc scratch, Σ mass·ΔV
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    up: cython.Py_ssize_t
    down: cython.Py_ssize_t
    tau: cython.double
    amount: cython.double
    norm2: cython.double
    scale: cython.double = 1.0
    mass: cython.double = 0.0
    averaging: cython.bint = acc.shape[0] > 0
    with cython.nogil:
        for t in range(order.shape[0]):
            if scale < 1e-4:  # mass·V − acc would lose more than four digits
                _fold(V, acc, past, scale, mass)
                scale = 1.0
                mass = 0.0
            i = order[t]
            rows.scores(i, read, s)
            for k in range(s.shape[0]):
                s[k] = scale * s[k]
            c[R] = 0.0
            c[COST] = 0.0
            c[UP] = -1.0
            c[DOWN] = -1.0
            norm2 = 0.0
            tau = 0.0
            if problem.constraint(i, s, c):
                norm2 = norms[i] if c[DOWN] < 0.0 else 2.0 * norms[i]
                if norm2 > 0.0 and c[R] >= 0.0 and run.presented(c[R]):
                    tau = eta * run.C[i]
            run.note(t, c[R], tau, norm2, c[COST], c[UP], c[DOWN])
            scale = scale * shrink
            if tau != 0.0:
                up = cython.cast(cython.Py_ssize_t, c[UP])
                down = cython.cast(cython.Py_ssize_t, c[DOWN])
                amount = tau / scale
                rows.add(i, V, up, c[SIGN] * amount)
                if down >= 0:
                    rows.add(i, V, down, -amount)
                if averaging:
                    rows.add(i, acc, up, c[SIGN] * amount * mass)
                    if down >= 0:
                        rows.add(i, acc, down, -amount * mass)
            mass = mass + scale
        _fold(V, acc, past, scale, mass)
