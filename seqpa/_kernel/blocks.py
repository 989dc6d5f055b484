"""Passes over a block of examples whose inner products are all known beforehand.

Kernels allow w only as a sum of examples, w_k = Σ coef[i, k] φ(x_i). The callers compute, with
BLAS, the scores of a whole block against the w before it, and the block's Gram matrix; what is
left is one pass here: each update inside the block corrects the scores of the examples behind it.

    block_pass   the same loop as `vectors.linear_pass`, w += τδ, with an optional Budget
    batch_pass   several constraints at once: one quadratic problem for each mini-batch
    window_pass  the same for mini-batches that overlap: at each round, the last few examples
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
    from cython.cimports.seqpa._kernel.budget import Budget, GramBlock
    from cython.cimports.seqpa._kernel.quadratic import BoxQP
    from cython.cimports.seqpa._kernel.vectors import Pass, Problem
    from cython.cimports.seqpa._kernel.weights import Constraint
else:
    from seqpa._kernel.budget import Budget, GramBlock
    from seqpa._kernel.quadratic import BoxQP
    from seqpa._kernel.vectors import Pass, Problem
    from seqpa._kernel.weights import Constraint

COMPILED = cython.compiled

_PA_I = cython.declare(cython.int, STEP_CODES["PA-I"])
_PA_LS = cython.declare(cython.int, STEP_CODES["PA-LS"])
_NO_BOUND = cython.declare(cython.double, 1e100)
_NO_NORM = cython.declare(cython.double, 1e-290)

# What batch_pass keeps of a constraint: one row for each example of a mini-batch.
_R = cython.declare(cython.int, 0)
_UP = cython.declare(cython.int, 1)
_DOWN = cython.declare(cython.int, 2)
_SIGN = cython.declare(cython.int, 3)  # 0 where there is no direction
_COST = cython.declare(cython.int, 4)
KEPT = 5

# What ball_pass keeps: ‖w‖² without the extra coordinate, the extra coordinate and its averaging
# sum, and what became of the w before the block: its factor, and its factor in the averaging sum.
_BALL_NORM2 = cython.declare(cython.int, 0)
_BALL_EXTRA = cython.declare(cython.int, 1)
_BALL_EXTRA_ACC = cython.declare(cython.int, 2)
_BALL_FACTOR = cython.declare(cython.int, 3)
_BALL_FACTOR_ACC = cython.declare(cython.int, 4)


@cython.ccall
def block_pass(
    block: GramBlock,
    problem: Problem,
    run: Pass,
    rows: cython.const[cython.Py_ssize_t][::1],
    budget: Budget,
    c: Constraint,
):
    """One block, example by example: w += τδ. Example t is row rows[t] of the problem's target.

    budget with a limit of 0 is none.
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    tau: cython.double
    with cython.nogil:
        for t in range(rows.shape[0]):
            i = rows[t]
            block.look(t, c)
            problem.constraint(i, c)
            tau = run.tau(t, i, c, c.sides * block.norm2(t))
            if tau != 0.0:
                if budget.limit > 0:
                    budget.add(block, t, c.up, c.sign * tau, c.down, tau)
                else:
                    block.move(t, t, c.up, c.sign * tau, run.seen + t)
                    if c.down >= 0:
                        block.move(t, t, c.down, -tau, run.seen + t)


@cython.ccall
def batch_pass(
    block: GramBlock,
    problem: Problem,
    run: Pass,
    rows: cython.const[cython.Py_ssize_t][::1],
    size: cython.Py_ssize_t,
    qp: BoxQP,
    asked: cython.double[:, ::1],
    c: Constraint,
):
    """One block, mini-batch by mini-batch: w += Σ τ_t δ_t, all τ from one quadratic problem.

    asked is scratch for the constraints of a mini-batch. A mini-batch is left alone if all its
    examples would be (`tol`). In the mean of the weights the step counts from its last example on.
    """
    begin: cython.Py_ssize_t
    end: cython.Py_ssize_t
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t
    a: cython.Py_ssize_t
    C: cython.double
    tau: cython.double
    learn: cython.bint
    with cython.nogil:
        begin = 0
        while begin < rows.shape[0]:
            end = min(begin + size, rows.shape[0])
            n = 0
            learn = False
            for t in range(begin, end):
                i = rows[t]
                a = t - begin
                block.look(t, c)
                problem.constraint(i, c)
                if c.sides * block.norm2(t) < _NO_NORM:
                    c.sign = 0.0  # no direction, no variable
                _keep(asked, a, c)
                if c.sign == 0.0:
                    continue
                learn = learn or run.presented(c.r)
                C = run.C[i]
                qp.b[n] = c.r
                qp.ridge[n] = 0.0 if run.step == _PA_I else 0.5 / C
                qp.lower[n] = -_NO_BOUND if run.step == _PA_LS else 0.0
                qp.upper[n] = C if run.step == _PA_I else _NO_BOUND
                _fill(block, asked, begin, t, n, qp)
                n += 1
            if learn:
                qp.solve(n)
            n = 0
            for t in range(begin, end):
                _recall(asked, t - begin, c)
                tau = 0.0
                if c.sign == 0.0:
                    run.note(t, c, 0.0, 0.0)
                    continue
                if learn:
                    tau = qp.x[n]
                run.note(t, c, tau, qp.A[n, n])
                n += 1
                if tau != 0.0:
                    block.move(t, end - 1, c.up, c.sign * tau, run.seen + end - 1)
                    if c.down >= 0:
                        block.move(t, end - 1, c.down, -tau, run.seen + end - 1)
            begin = end


@cython.ccall
def window_pass(
    gram: cython.const[cython.double][:, ::1],
    y: cython.const[cython.double][::1],
    order: cython.const[cython.Py_ssize_t][::1],
    size: cython.Py_ssize_t,
    step: cython.int,
    C: cython.double,
    coef: cython.double[::1],
    scores: cython.double[::1],
    wrong: cython.uchar[::1],
    qp: BoxQP,
):
    """Two classes; at round t the examples order[t − size + 1], ..., order[t] make one step.

    gram    (n, n) the inner products of all examples
    y       (n,) ±1
    coef    (n,) w = Σ coef_i φ(x_i), which is moved
    scores  (n,) scratch: w·φ(x) of the examples of the present window
    wrong   set to 1 where the example that arrives is mistaken, a score of 0 included
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    n: cython.Py_ssize_t
    first: cython.Py_ssize_t
    score: cython.double
    move: cython.double
    with cython.nogil:
        for t in range(order.shape[0]):
            i = order[t]
            score = 0.0
            for j in range(coef.shape[0]):
                score += gram[i, j] * coef[j]
            scores[i] = score
            wrong[t] = y[i] * score <= 0.0
            first = max(0, t - size + 1)
            n = t - first + 1
            for a in range(n):
                i = order[first + a]
                for b in range(a + 1):
                    j = order[first + b]
                    qp.A[a, b] = qp.A[b, a] = y[i] * y[j] * gram[i, j]
                qp.b[a] = 1.0 - y[i] * scores[i]
                qp.ridge[a] = 0.0 if step == _PA_I else 0.5 / C
                qp.lower[a] = -_NO_BOUND if step == _PA_LS else 0.0
                qp.upper[a] = C if step == _PA_I else _NO_BOUND
            qp.solve(n)
            for a in range(n):
                i = order[first + a]
                move = y[i] * qp.x[a]
                coef[i] += move
                for b in range(n):
                    j = order[first + b]
                    scores[j] += move * gram[i, j]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _keep(asked: cython.double[:, ::1], a: cython.Py_ssize_t, c: Constraint) -> cython.void:
    """Row a of `asked` becomes c."""
    asked[a, _R] = c.r
    asked[a, _UP] = c.up
    asked[a, _DOWN] = c.down
    asked[a, _SIGN] = c.sign
    asked[a, _COST] = c.cost


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _recall(asked: cython.double[:, ::1], a: cython.Py_ssize_t, c: Constraint) -> cython.void:
    """c becomes row a of `asked`."""
    c.r = asked[a, _R]
    c.up = cython.cast(cython.Py_ssize_t, asked[a, _UP])
    c.down = cython.cast(cython.Py_ssize_t, asked[a, _DOWN])
    c.sign = asked[a, _SIGN]
    c.cost = asked[a, _COST]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill(
    block: GramBlock,
    asked: cython.double[:, ::1],
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
        if asked[b, _SIGN] == 0.0:
            continue
        meet = 0.0
        if asked[a, _UP] == asked[b, _UP]:
            meet += asked[a, _SIGN] * asked[b, _SIGN]
        if asked[a, _DOWN] >= 0.0:
            if asked[a, _DOWN] == asked[b, _DOWN]:
                meet += 1.0
            if asked[a, _UP] == asked[b, _DOWN]:
                meet -= 1.0
            if asked[a, _DOWN] == asked[b, _UP]:
                meet -= 1.0
        qp.A[n, m] = qp.A[m, n] = meet * block.gram[t, j]
        m += 1


@cython.ccall
def ball_pass(
    block: GramBlock,
    run: Pass,
    rows: cython.const[cython.Py_ssize_t][::1],
    radius: cython.double,
    ball: cython.double[::1],
    c: Constraint,
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
    share: cython.double
    tau: cython.double
    clock: cython.double
    averaging: cython.bint = block.acc.shape[0] > 0
    with cython.nogil:
        for t in range(rows.shape[0]):
            own = block.norm2(t)
            distance = own - 2.0 * block.scores[0, t] + ball[_BALL_NORM2]
            distance = sqrt(max(distance, 0.0) + ball[_BALL_EXTRA] * ball[_BALL_EXTRA])
            c.ask_ball(distance, radius)
            tau = run.tau(t, rows[t], c, c.sides)
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
    is 2048 times the exponent. One pass with tables is faster than NumPy: for
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
