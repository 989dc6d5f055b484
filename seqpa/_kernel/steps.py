"""How far to move: one line for each algorithm, the same line for every problem.

An example asks for `w·δ >= margin`. With `r = margin - w·δ` and `n² = ‖δ‖²`, the new weights are
`w + τδ`, and τ is

    PA          max(0, r) / n²                     PA 2006, Eq. 3
    PA-I        min(C, max(0, r) / n²)             PA 2006, Eq. 8
    PA-II       max(0, r) / (n² + 1/2C)            PA 2006, Eq. 8
    PA-LS       r / (n² + 1/2C), signed            Mini-batch PA, Eq. 9, whose `1 - f_t` must
                                                   read `1 - y_t f_t` by its own Eq. 8
    perceptron  1 where w·δ <= 0                   Rosenblatt; a mistake, whatever the margin

A zero norm, or one so small that the quotient would overflow, means no step.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.weights import Constraint
else:
    from seqpa._kernel.weights import Constraint

COMPILED = cython.compiled

_PERCEPTRON = cython.declare(cython.int, 0)
_PA = cython.declare(cython.int, 1)
_PA_I = cython.declare(cython.int, 2)
_PA_II = cython.declare(cython.int, 3)
_PA_LS = cython.declare(cython.int, 4)

CODES = {
    "perceptron": _PERCEPTRON,
    "PA": _PA,
    "PA-I": _PA_I,
    "PA-II": _PA_II,
    "PA-LS": _PA_LS,
}


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def step_size(
    step: cython.int,
    r: cython.double,
    score: cython.double,
    norm2: cython.double,
    C: cython.double,
) -> cython.double:
    """τ of the step named by its code.

    >>> step_size(CODES["PA"], 1.5, -0.5, 4.0, 0.25)
    0.375
    >>> step_size(CODES["PA-I"], 1.5, -0.5, 4.0, 0.25)
    0.25
    >>> step_size(CODES["PA-II"], 1.5, -0.5, 4.0, 0.25)
    0.25
    >>> step_size(CODES["PA-LS"], -3.0, 4.0, 4.0, 0.25)
    -0.5
    >>> step_size(CODES["perceptron"], 1.5, -0.5, 4.0, 0.25)
    1.0
    """
    if norm2 < 1e-290:
        return 0.0
    if step == _PERCEPTRON:
        return 1.0 if score <= 0.0 else 0.0
    if step == _PA_LS:
        return r / (norm2 + 0.5 / C)
    if r <= 0.0:
        return 0.0
    if step == _PA:
        return r / norm2
    if step == _PA_I:
        return min(C, r / norm2)
    return r / (norm2 + 0.5 / C)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def step_each(
    step: cython.int,
    margin: cython.double,
    norm2: cython.double,
    C: cython.double,
    c: Constraint,
) -> cython.void:
    """q_k = −τ for all labels k, each of which asks for −s_k >= margin, alone.

    It stands in this module, not in its caller's, because the compiler can inline `step_size` into
    the loop only here.
    """
    k: cython.Py_ssize_t
    for k in range(c.s.shape[0]):
        c.q[k] = -step_size(step, margin + c.s[k], -c.s[k], norm2, C)
