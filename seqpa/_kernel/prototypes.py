"""Passes in which one example moves several labels' vectors at once: w_k += q_k x, Σ_k q_k = 0.

MIRA 2003: an ultraconservative step raises the right label y by q_y = T and lowers
only labels that stand too high. Three of their steps spread a mistake over the error set
E = {r ≠ y: s_r >= s_y} of scores s_k = w_k·x, with T = 1:

    max-score     −1 for the highest label of E (that is `linear_pass` with the perceptron's step)
    uniform       −1/|E| for each
    proportional  in proportion to s_r − s_y; uniform where all of these are 0

and MIRA asks for all margins at once (`all`): the smallest change of w after which
s_y − s_r >= margin for every r.
The callers in `seqpa.core` check shapes, types and finiteness; nothing is checked here.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

from seqpa._kernel.steps import CODES as STEP_CODES

if cython.compiled:
    from cython.cimports.seqpa._kernel.vectors import Pass, Problem
    from cython.cimports.seqpa._kernel.weights import Constraint, Rows, Weights
else:
    from seqpa._kernel.vectors import Pass, Problem
    from seqpa._kernel.weights import Constraint, Rows, Weights

COMPILED = cython.compiled

_UNIFORM = cython.declare(cython.int, 0)
_PROPORTIONAL = cython.declare(cython.int, 1)
_ALL = cython.declare(cython.int, 2)
RULES = {"uniform": _UNIFORM, "proportional": _PROPORTIONAL, "all": _ALL}

_PA_I = cython.declare(cython.int, STEP_CODES["PA-I"])
_PA_II = cython.declare(cython.int, STEP_CODES["PA-II"])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _blame(rule: cython.int, c: Constraint) -> cython.double:
    """q of the perceptron's step, uniform or proportional; returns Σ q², of which ‖δ‖² is made."""
    k: cython.Py_ssize_t
    y: cython.Py_ssize_t = c.up
    errors: cython.double = 0.0
    excess: cython.double = 0.0
    squares: cython.double = 1.0
    for k in range(c.s.shape[0]):
        if k != y and c.s[k] >= c.s[y]:
            errors += 1.0
            excess += c.s[k] - c.s[y]
    for k in range(c.s.shape[0]):
        c.q[k] = 0.0
        if k != y and c.s[k] >= c.s[y]:
            if rule == _UNIFORM or excess <= 0.0:
                c.q[k] = -1.0 / errors
            else:
                c.q[k] = -(c.s[k] - c.s[y]) / excess
            squares += c.q[k] * c.q[k]
    c.q[y] = 1.0
    return squares


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _level(
    total: cython.double,
    count: cython.double,
    A: cython.double,
    kappa: cython.double,
    cap: cython.double,
) -> cython.double:
    """θ of `_all_margins` if the `count` constraints that lack `total` were the active ones.

    The higher of two: T = θ/(A + κ) in total = AT + count·θ, and T = C in the same line.
    """
    return max((A + kappa) * total / (A + count * (A + kappa)), (total - cap * A) / count)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _all_margins(
    step: cython.int,
    C: cython.double,
    margin: cython.double,
    A: cython.double,
    c: Constraint,
) -> cython.double:
    """MIRA: q that minimises ½A‖q‖² + κ/2 q_y² + Σ_k q_k s_k − margin q_y, and returns q_y = T.

    q_r <= 0 for r ≠ y, Σ q = 0, q_y <= C for PA-I; κ = 1/2C for PA-II, otherwise 0; A = ‖x‖². With
    g_r = margin − (s_y − s_r), what r's constraint lacks, the optimum is q_r = −max(0, g_r − θ)/A,
    where θ = (A + κ)T, or higher where T is held at C. θ is found by dropping, until none is left
    to drop, the constraints that do not reach the level of those still in (each drop raises θ, so
    none comes back): a projection onto the simplex.
    """
    k: cython.Py_ssize_t
    _turn: cython.Py_ssize_t
    y: cython.Py_ssize_t = c.up
    K: cython.Py_ssize_t = c.s.shape[0]
    gap: cython.double
    total: cython.double
    count: cython.double
    least: cython.double
    theta: cython.double
    share: cython.double = 1.0 / A
    T: cython.double = 0.0
    kappa: cython.double = 0.5 / C if step == _PA_II else 0.0
    cap: cython.double = C if step == _PA_I else 1e300
    for k in range(K):
        c.q[k] = margin - (c.s[y] - c.s[k])
    c.q[y] = -1e300
    theta = max(0.0, _level(c.r, 1.0, A, kappa, cap))  # the worst constraint alone: not too high
    for _turn in range(K):
        total = 0.0
        count = 0.0
        least = 1e300
        for k in range(K):  # without branches, which the processor could not predict here
            gap = c.q[k]
            total = total + (gap if gap > theta else 0.0)
            count = count + (1.0 if gap > theta else 0.0)
            least = min(least, gap if gap > theta else 1e300)
        if count > 0.0:
            theta = max(theta, _level(total, count, A, kappa, cap))
        if least > theta:
            break
    for k in range(K):
        gap = c.q[k] - theta
        gap = share * gap if gap > 0.0 else 0.0
        c.q[k] = -gap
        T = T + gap
    c.q[y] = T
    return T


@cython.ccall
def prototype_pass(
    rows: Rows,
    problem: Problem,
    run: Pass,
    rule: cython.int,
    norms: cython.const[cython.double][::1],
    order: cython.const[cython.Py_ssize_t][::1],
    w: Weights,
    moves: cython.double[:, ::1],
    c: Constraint,
):
    """One pass over a multiclass problem, with the layouts and averaging of `linear_pass`.

    moves is filled with the q of each example of the order, unless it is empty. The recorded norm
    is ‖δ‖² = Σq²‖x‖² for the perceptron's steps; for MIRA 2‖x‖², that of one constraint alone.
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    tau: cython.double
    norm2: cython.double
    with cython.nogil:
        for t in range(order.shape[0]):
            i = order[t]
            w.scores(rows, i, c)
            problem.constraint(i, c)
            norm2 = c.sides * norms[i]
            tau = 0.0
            if norm2 >= 1e-290 and run.presented(c.r):
                if rule == _ALL:
                    if c.r > 0.0:
                        tau = _all_margins(run.step, run.C[i], problem.margin, norms[i], c)
                elif c.score <= 0.0:
                    norm2 = norms[i] * _blame(rule, c)
                    tau = 1.0
            run.note(t, c, tau, norm2)
            if tau != 0.0:
                w.add_all(rows, i, c, run.seen + t)
                if moves.shape[0] > 0:
                    for k in range(c.s.shape[0]):
                        moves[t, k] = c.q[k]
