"""Passes over a block of examples whose inner products are all known beforehand.

Kernels allow w only as a sum of examples, w_k = Σ coef[i, k] φ(x_i). The callers compute, with
BLAS, the scores of a whole block against the w before it, and the block's Gram matrix; what is
left is one pass here: each update inside the block corrects the scores of the examples behind it.

    block_pass   the same loop as `vectors.linear_pass`, w += τδ, with an optional Budget
    batch_pass   several constraints at once: one quadratic problem for each mini-batch
    ball_pass    uniclass: a centre in the kernel's space
    gaussian     inner products to values of the RBF kernel

The callers in `seqpa.core` check shapes, types and finiteness; nothing is checked here.
"""

from __future__ import annotations

from math import sqrt

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

from seqpa._kernel.steps import CODES as STEP_CODES

if cython.compiled:
    from cython.cimports.libc.math import sqrt
    from cython.cimports.seqpa._kernel.budget import Block, Budget
    from cython.cimports.seqpa._kernel.quadratic import BoxQP
    from cython.cimports.seqpa._kernel.vectors import COST, DOWN, SCORE, SIGN, UP, Pass, Problem, R
else:
    from seqpa._kernel.budget import Block, Budget
    from seqpa._kernel.quadratic import BoxQP
    from seqpa._kernel.vectors import COST, DOWN, SCORE, SIGN, UP, Pass, Problem, R

COMPILED = cython.compiled

_PA_I = cython.declare(cython.int, STEP_CODES["PA-I"])
_PA_LS = cython.declare(cython.int, STEP_CODES["PA-LS"])
_NO_BOUND = cython.declare(cython.double, 1e100)
_NO_NORM = cython.declare(cython.double, 1e-290)

# What ball_pass keeps: ‖w‖² without the extra coordinate, the extra coordinate and its averaging
# sum, and what became of the w before the block: its factor, and its factor in the averaging sum.
_BALL_NORM2 = cython.declare(cython.int, 0)
_BALL_EXTRA = cython.declare(cython.int, 1)
_BALL_EXTRA_ACC = cython.declare(cython.int, 2)
_BALL_FACTOR = cython.declare(cython.int, 3)
_BALL_FACTOR_ACC = cython.declare(cython.int, 4)


@cython.ccall
def block_pass(
    block: Block,
    problem: Problem,
    run: Pass,
    rows: cython.const[cython.Py_ssize_t][::1],
    budget: Budget,
    c: cython.double[::1],
):
    """One block, example by example: w += τδ. Example t is row rows[t] of the problem's target.

    budget with a limit of 0 is none.
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    up: cython.Py_ssize_t
    down: cython.Py_ssize_t
    tau: cython.double
    norm2: cython.double
    with cython.nogil:
        for t in range(rows.shape[0]):
            i = rows[t]
            block.look(t)
            c[R] = 0.0
            c[COST] = 0.0
            c[UP] = -1.0
            c[DOWN] = -1.0
            norm2 = 0.0
            if problem.constraint(i, block.s, c):
                norm2 = block.norm2(t) if c[DOWN] < 0.0 else 2.0 * block.norm2(t)
            tau = run.tau(t, i, c[R], c[SCORE], norm2, c[COST], c[UP], c[DOWN])
            if tau != 0.0:
                up = cython.cast(cython.Py_ssize_t, c[UP])
                down = cython.cast(cython.Py_ssize_t, c[DOWN])
                if budget.limit > 0:
                    budget.add(block, t, up, c[SIGN] * tau, down, tau)
                else:
                    block.move(t, t, up, c[SIGN] * tau, run.seen + t)
                    if down >= 0:
                        block.move(t, t, down, -tau, run.seen + t)


@cython.ccall
def batch_pass(
    block: Block,
    problem: Problem,
    run: Pass,
    rows: cython.const[cython.Py_ssize_t][::1],
    size: cython.Py_ssize_t,
    qp: BoxQP,
    c: cython.double[:, ::1],
):
    """One block, mini-batch by mini-batch: w += Σ τ_t δ_t, all τ from one quadratic problem.

    c holds a constraint for each example of a mini-batch. A mini-batch is left alone if all its
    examples would be (`tol`). In the mean of the weights the step counts from its last example on.
    """
    begin: cython.Py_ssize_t
    end: cython.Py_ssize_t
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t
    a: cython.Py_ssize_t
    up: cython.Py_ssize_t
    down: cython.Py_ssize_t
    C: cython.double
    tau: cython.double
    norm2: cython.double
    learn: cython.bint
    asked: cython.bint
    with cython.nogil:
        begin = 0
        while begin < rows.shape[0]:
            end = min(begin + size, rows.shape[0])
            n = 0
            learn = False
            for t in range(begin, end):
                i = rows[t]
                a = t - begin
                block.look(t)
                c[a, R] = 0.0
                c[a, COST] = 0.0
                c[a, UP] = -1.0
                c[a, DOWN] = -1.0
                asked = problem.constraint(i, block.s, c[a])
                norm2 = 0.0
                if asked:
                    norm2 = block.norm2(t) if c[a, DOWN] < 0.0 else 2.0 * block.norm2(t)
                if norm2 < _NO_NORM:
                    c[a, SIGN] = 0.0  # no direction, no variable
                    continue
                learn = learn or run.presented(c[a, R])
                C = run.C[i]
                qp.b[n] = c[a, R]
                qp.ridge[n] = 0.0 if run.step == _PA_I else 0.5 / C
                qp.lower[n] = -_NO_BOUND if run.step == _PA_LS else 0.0
                qp.upper[n] = C if run.step == _PA_I else _NO_BOUND
                _fill(block, c, begin, t, n, qp)
                n += 1
            if learn:
                qp.solve(n)
            n = 0
            for t in range(begin, end):
                a = t - begin
                tau = 0.0
                norm2 = 0.0
                if c[a, SIGN] != 0.0:
                    if learn:
                        tau = qp.x[n]
                    norm2 = qp.A[n, n]
                    n += 1
                run.note(t, c[a, R], tau, norm2, c[a, COST], c[a, UP], c[a, DOWN])
                if tau != 0.0:
                    up = cython.cast(cython.Py_ssize_t, c[a, UP])
                    down = cython.cast(cython.Py_ssize_t, c[a, DOWN])
                    block.move(t, end - 1, up, c[a, SIGN] * tau, run.seen + end - 1)
                    if down >= 0:
                        block.move(t, end - 1, down, -tau, run.seen + end - 1)
            begin = end


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill(
    block: Block,
    c: cython.double[:, ::1],
    begin: cython.Py_ssize_t,
    t: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    qp: BoxQP,
) -> cython.void:
    """Row and column n of the Gram matrix of the directions, δ_t·δ_j for j up to t.

    δ = sign Φ(x, up) − Φ(x, down): the labels' parts meet where the labels are the same.
    """
    j: cython.Py_ssize_t
    m: cython.Py_ssize_t = 0
    a: cython.Py_ssize_t = t - begin
    b: cython.Py_ssize_t
    meet: cython.double
    for j in range(begin, t + 1):
        b = j - begin
        if c[b, SIGN] == 0.0:
            continue
        meet = 0.0
        if c[a, UP] == c[b, UP]:
            meet += c[a, SIGN] * c[b, SIGN]
        if c[a, DOWN] >= 0.0:
            if c[a, DOWN] == c[b, DOWN]:
                meet += 1.0
            if c[a, UP] == c[b, DOWN]:
                meet -= 1.0
            if c[a, DOWN] == c[b, UP]:
                meet -= 1.0
        qp.A[n, m] = qp.A[m, n] = meet * block.gram[t, j]
        m += 1


@cython.ccall
def ball_pass(
    block: Block,
    run: Pass,
    rows: cython.const[cython.Py_ssize_t][::1],
    radius: cython.double,
    ball: cython.double[::1],
):
    """One block of the uniclass problem: the centre moves towards φ(x), w += share (φ(x) − w).

    Every step shrinks all coefficients alike: those of the block here, those from before it by the
    factor that `ball` brings back. ‖φ(x) − w‖² = K(x, x) − 2 w·φ(x) + ‖w‖² (+ extra²).
    """
    t: cython.Py_ssize_t
    j: cython.Py_ssize_t
    own: cython.double
    rest: cython.double
    distance: cython.double
    gap: cython.double
    share: cython.double
    tau: cython.double
    clock: cython.double
    averaging: cython.bint = block.acc.shape[0] > 0
    with cython.nogil:
        for t in range(rows.shape[0]):
            own = block.norm2(t)
            distance = own - 2.0 * block.scores[0, t] + ball[_BALL_NORM2]
            distance = sqrt(max(distance, 0.0) + ball[_BALL_EXTRA] * ball[_BALL_EXTRA])
            gap = distance - radius
            tau = run.tau(
                t,
                rows[t],
                gap,
                -distance,
                1.0 if distance > 0.0 else 0.0,
                1.0 if gap > 0.0 else 0.0,
                0.0,
                -1.0,
            )
            if tau == 0.0:
                continue
            share = tau / distance
            rest = 1.0 - share
            clock = run.seen + t
            ball[_BALL_NORM2] = max(
                0.0,
                rest * rest * ball[_BALL_NORM2]
                + 2.0 * share * rest * block.scores[0, t]
                + share * share * own,
            )
            if averaging:
                ball[_BALL_EXTRA_ACC] -= clock * share * ball[_BALL_EXTRA]
                ball[_BALL_FACTOR_ACC] -= clock * share * ball[_BALL_FACTOR]
                for j in range(t):
                    block.acc[j, 0] -= clock * share * block.coef[j, 0]
            ball[_BALL_EXTRA] *= rest
            ball[_BALL_FACTOR] *= rest
            for j in range(t):
                block.coef[j, 0] *= rest
            for j in range(t + 1, rows.shape[0]):
                block.scores[0, j] *= rest
            block.move(t, t, 0, share, clock)


@cython.ccall
def gaussian(
    K: cython.double[:, ::1],
    a: cython.const[cython.double][::1],
    b: cython.const[cython.double][::1],
    scale: cython.double,
    whole: cython.const[cython.double][::1],
    part: cython.const[cython.double][::1],
    index: cython.int[::1],
):
    """K[i, j] = x_i·z_j becomes exp(−γ‖x_i − z_j‖²).

    With scale = 2048γ, a_i = scale ‖x_i‖² and b_j = scale ‖z_j‖², v = a_i + b_j − 2 scale x_i·z_j
    is 2048 times the exponent. In one go and by tables, faster than with NumPy: for
    v = 2048 n + m − d, |d| <= ½, the result is whole[n] part[m] exp(d/2048), and four terms of the
    last are exact to 1e-16. whole[n] = exp(−n), with 0 at its end; part[m] = exp(−m/2048).
    `index` is scratch, as long as a row: what needs no table stands in a loop of its own, which the
    compiler vectorises.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    n: cython.int
    v: cython.double
    d: cython.double
    own: cython.double
    twice: cython.double = 2.0 * scale
    last: cython.double = 2048.0 * (whole.shape[0] - 1)
    first_term: cython.double = 1.0 / 2048.0
    second: cython.double = first_term * first_term / 2.0
    third: cython.double = first_term * second / 3.0
    with cython.nogil:
        for i in range(K.shape[0]):
            own = a[i]
            for j in range(K.shape[1]):
                v = min(max((own + b[j]) - twice * K[i, j], 0.0), last)
                index[j] = cython.cast(cython.int, v + 0.5)
                d = index[j] - v
                K[i, j] = 1.0 + d * (first_term + d * (second + d * third))
            for j in range(K.shape[1]):
                n = index[j]
                K[i, j] *= whole[n >> 11] * part[n & 2047]
