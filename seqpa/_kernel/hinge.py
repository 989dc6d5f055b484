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
    from cython.cimports.seqpa._kernel.vectors import Pass, Problem
    from cython.cimports.seqpa._kernel.weights import Constraint, Rows, Weights
else:
    from seqpa._kernel.vectors import Pass, Problem
    from seqpa._kernel.weights import Constraint, Rows, Weights

COMPILED = cython.compiled


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fold(
    w: Weights, past: cython.double[:, ::1], scale: cython.double, mass: cython.double
) -> cython.void:
    """Bring V (the weights) and past (the sum of the weights after each example) up to date."""
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    down: cython.Py_ssize_t = 0 if w.by_feature else past.shape[0]
    right: cython.Py_ssize_t = past.shape[1] if w.by_feature else 0
    if w.averaging:
        for a in range(past.shape[0]):
            for b in range(past.shape[1]):
                past[a, b] += mass * w.V[a, b] - w.V[a + down, b + right]
                w.V[a + down, b + right] = 0.0
    for a in range(w.V.shape[0]):
        for b in range(w.V.shape[1]):
            w.V[a, b] *= scale


@cython.ccall
def hinge_pass(
    rows: Rows,
    problem: Problem,
    run: Pass,
    norms: cython.const[cython.double][::1],
    order: cython.const[cython.Py_ssize_t][::1],
    eta: cython.double,
    shrink: cython.double,
    read: Weights,
    w: Weights,
    past: cython.double[:, ::1],
    c: Constraint,
):
    """Steps of η·C_i for the examples that are not beyond the margin.

    read    the weights that score, scale · read; w itself for stochastic descent, and for a batch
            weights that stand still, while w gathers the sum of the steps
    shrink  1 − ηλ, once for each example
    past    the sum of the weights after each example, for the mean; or empty. Within the pass it
            is mass·V − acc: mass the sum of the scales so far, acc the Σ mass·ΔV beside V
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    tau: cython.double
    norm2: cython.double
    scale: cython.double = 1.0
    mass: cython.double = 0.0
    with cython.nogil:
        for t in range(order.shape[0]):
            if scale < 1e-4:  # mass·V − acc would lose more than four digits
                _fold(w, past, scale, mass)
                scale = 1.0
                mass = 0.0
            i = order[t]
            read.scores(rows, i, c)
            for k in range(c.s.shape[0]):
                c.s[k] = scale * c.s[k]
            problem.constraint(i, c)
            norm2 = c.sides * norms[i]
            tau = 0.0
            if norm2 > 0.0 and c.r >= 0.0 and run.presented(c.r):
                tau = eta * run.C[i]
            run.note(t, c, tau, norm2)
            scale = scale * shrink
            if tau != 0.0:
                w.move(rows, i, c, tau / scale, mass)
            mass = mass + scale
        _fold(w, past, scale, mass)
