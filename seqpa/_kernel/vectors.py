"""Whole passes over vectors: Problem × Step × Euclidean geometry, in one loop.

    Rows      the examples x_i: dense or CSR, with an optional constant 1 behind the last feature
    Problem   which constraint does example i ask for, given its scores?
    step_size how far (steps.py)
    Weights   one weight vector (binary, regression) or one for each label (multi-prototype),
              and the sum that lazy averaging needs

`linear_pass` is Eq. 3 of Crammer et al. (2006) and all its kin; `joint_pass` the single-prototype
form with label-dependent features (§7); `uniclass_pass` moves a centre (§6).
The callers in `seqpa.core` check shapes, types and finiteness; nothing is checked here. C types of
attributes stand in vectors.pxd.
"""

from __future__ import annotations

from math import sqrt

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

from seqpa._kernel.steps import CODES as STEP_CODES

if cython.compiled:
    from cython.cimports.libc.math import fabs, sqrt
    from cython.cimports.seqpa._kernel.prefetch import prefetch
    from cython.cimports.seqpa._kernel.steps import step_size
else:
    from math import fabs

    from seqpa._kernel.steps import step_size

COMPILED = cython.compiled

_BINARY = cython.declare(cython.int, 0)
_REGRESSION = cython.declare(cython.int, 1)
_MULTICLASS = cython.declare(cython.int, 2)
_MULTILABEL = cython.declare(cython.int, 3)
_PREDICTION_BASED = cython.declare(cython.int, 4)
_MAX_LOSS = cython.declare(cython.int, 5)

_PA_LS = cython.declare(cython.int, STEP_CODES["PA-LS"])

CODES = {
    "binary": _BINARY,
    "regression": _REGRESSION,
    "multiclass": _MULTICLASS,
    "multilabel": _MULTILABEL,
    "prediction-based": _PREDICTION_BASED,
    "max-loss": _MAX_LOSS,
}

# A constraint, as Problem.constraint fills it: the direction is
# δ = sign · Φ(x, up) − Φ(x, down), without the second part where down is −1.
R = 0  # margin − score: what is missing
SCORE = 1  # w·δ
UP = 2
DOWN = 3
SIGN = 4
COST = 5  # ρ(y, ŷ), or 1 for a mistake

# A record of one example, as a pass writes it: loss, τ, ‖δ‖², cost, up, down.
RECORD = 6


@cython.final
@cython.cclass
class Rows:
    """The examples, as rows of a dense matrix or of a CSR one; never copied.

    `bias` adds a constant feature 1 behind the last: it is inside every norm (Perez-Suay, Eq. 5).
    """

    def __init__(self, dense, data, indices, indptr, n_features, bias):
        self.sparse = dense is None
        self.bias = bias
        self.n_features = n_features
        self.dense = dense
        self.data = data
        self.indices = indices
        self.indptr = indptr

    @cython.ccall
    def squared_norms(self, out: cython.double[::1]):
        """‖x_i‖² of every row, the bias included."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        total: cython.double
        with cython.nogil:
            for i in range(out.shape[0]):
                total = 1.0 if self.bias else 0.0
                if self.sparse:
                    for j in range(self.indptr[i], self.indptr[i + 1]):
                        total = total + self.data[j] * self.data[j]
                else:
                    for j in range(self.n_features):
                        total = total + self.dense[i, j] * self.dense[i, j]
                out[i] = total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def scores(
        self, i: cython.Py_ssize_t, W: cython.double[:, ::1], out: cython.double[::1]
    ) -> cython.void:
        """out[k] = w_k·x_i. W is (labels, features) for dense rows, (features, labels) for CSR:
        each reads memory in order."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        f: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.n_features
        K: cython.Py_ssize_t = out.shape[0]
        x: cython.double
        a: cython.double
        b: cython.double
        c: cython.double
        d: cython.double
        if self.sparse and K == 1:
            # Two sums, by hand: the compiler would make vectors of the indices, which is slower.
            a = W[n, 0] if self.bias else 0.0
            b = 0.0
            j = self.indptr[i]
            while j + 1 < self.indptr[i + 1]:
                a = a + self.data[j] * W[self.indices[j], 0]
                b = b + self.data[j + 1] * W[self.indices[j + 1], 0]
                j += 2
            if j < self.indptr[i + 1]:
                a = a + self.data[j] * W[self.indices[j], 0]
            out[0] = a + b
        elif self.sparse:
            for k in range(K):
                out[k] = W[n, k] if self.bias else 0.0
            for j in range(self.indptr[i], self.indptr[i + 1]):
                x = self.data[j]
                f = self.indices[j]
                for k in range(K):
                    out[k] += x * W[f, k]
        else:
            k = 0
            while k + 4 <= K:  # four at once: x is read once for all of them
                a = b = c = d = 0.0
                for j in range(n):
                    x = self.dense[i, j]
                    a = a + x * W[k, j]
                    b = b + x * W[k + 1, j]
                    c = c + x * W[k + 2, j]
                    d = d + x * W[k + 3, j]
                out[k] = a
                out[k + 1] = b
                out[k + 2] = c
                out[k + 3] = d
                k += 4
            while k < K:
                a = 0.0
                for j in range(n):
                    a = a + self.dense[i, j] * W[k, j]
                out[k] = a
                k += 1
            if self.bias:
                for k in range(K):
                    out[k] += W[k, n]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def announce(self, i: cython.Py_ssize_t, W: cython.double[:, ::1]) -> cython.void:
        """Ask for the weights of CSR row i before they are needed: they are scattered over memory,
        and fetching them while the row before is computed hides a quarter of the time."""
        j: cython.Py_ssize_t
        last: cython.Py_ssize_t = W.shape[1] - 1
        if cython.compiled:
            for j in range(self.indptr[i], self.indptr[i + 1]):
                prefetch(cython.address(W[self.indices[j], 0]))
                if last > 0:
                    prefetch(cython.address(W[self.indices[j], last]))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(
        self,
        i: cython.Py_ssize_t,
        W: cython.double[:, ::1],
        k: cython.Py_ssize_t,
        amount: cython.double,
    ) -> cython.void:
        """w_k += amount · x_i."""
        j: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.n_features
        if self.sparse:
            for j in range(self.indptr[i], self.indptr[i + 1]):
                W[self.indices[j], k] += amount * self.data[j]
            if self.bias:
                W[n, k] += amount
        else:
            for j in range(n):
                W[k, j] += amount * self.dense[i, j]
            if self.bias:
                W[k, n] += amount

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def dot_rows(self, a: cython.Py_ssize_t, b: cython.Py_ssize_t) -> cython.double:
        """x_a·x_b of two CSR rows with sorted indices (without the bias)."""
        i: cython.Py_ssize_t = self.indptr[a]
        j: cython.Py_ssize_t = self.indptr[b]
        total: cython.double = 0.0
        while i < self.indptr[a + 1] and j < self.indptr[b + 1]:
            if self.indices[i] < self.indices[j]:
                i += 1
            elif self.indices[i] > self.indices[j]:
                j += 1
            else:
                total = total + self.data[i] * self.data[j]
                i += 1
                j += 1
        return total


@cython.final
@cython.cclass
class Problem:
    """Which constraint? It looks at scores and never touches weights.

    target    y of each example: ±1, a real number, or a label's index
    relevant  multilabel only: relevant[i, k] is 1 where label k belongs to example i
    root_cost cost-sensitive only: √ρ(y, r) for every pair of labels
    margin    1 for classification, −ε for regression
    """

    def __init__(self, kind, margin, target, relevant, root_cost):
        self.kind = kind
        self.margin = margin
        self.target = target
        self.relevant = relevant
        self.root_cost = root_cost

    @cython.ccall
    @cython.nogil
    @cython.exceptval(check=False)
    def constraint(
        self, i: cython.Py_ssize_t, s: cython.double[::1], out: cython.double[::1]
    ) -> cython.bint:
        """Fill `out` with the constraint of example i, whose scores are s; False if it has none."""
        y: cython.Py_ssize_t
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        predicted: cython.Py_ssize_t
        best: cython.double
        value: cython.double
        margin: cython.double = self.margin
        out[DOWN] = -1.0
        if self.kind == _BINARY:
            out[UP] = 0.0
            out[SIGN] = self.target[i]
            out[SCORE] = self.target[i] * s[0]
            out[R] = margin - out[SCORE]
            out[COST] = 1.0 if out[SCORE] <= 0.0 else 0.0
            return True
        if self.kind == _REGRESSION:
            value = self.target[i] - s[0]
            out[UP] = 0.0
            out[SIGN] = 1.0 if value > 0.0 else -1.0
            out[SCORE] = -fabs(value)
            out[R] = margin - out[SCORE]
            out[COST] = 1.0 if out[R] > 0.0 else 0.0
            return value != 0.0
        out[SIGN] = 1.0
        if self.kind == _MULTILABEL:  # Eq. 36: the lowest relevant, the highest irrelevant label
            y = -1
            r = -1
            for k in range(s.shape[0]):
                if self.relevant[i, k]:
                    if y < 0 or s[k] < s[y]:
                        y = k
                elif r < 0 or s[k] > s[r]:
                    r = k
            if y < 0 or r < 0:
                return False
        else:
            y = cython.cast(cython.Py_ssize_t, self.target[i])
            if self.kind == _MULTICLASS:  # Eq. 39, one relevant label
                r = -1
                for k in range(s.shape[0]):
                    if k != y and (r < 0 or s[k] > s[r]):
                        r = k
                if r < 0:
                    return False
            else:
                predicted = 0  # Eq. 42; the first of equals
                for k in range(1, s.shape[0]):
                    if s[k] > s[predicted]:
                        predicted = k
                r = predicted
                if self.kind == _MAX_LOSS:  # Eq. 50
                    r = y
                    best = s[y]
                    for k in range(s.shape[0]):
                        value = s[k] + self.root_cost[y, k]
                        if value > best:
                            r = k
                            best = value
                margin = self.root_cost[y, r]
                out[COST] = self.root_cost[y, predicted] * self.root_cost[y, predicted]
                if r == y:
                    out[R] = 0.0
                    return False
        out[UP] = y
        out[DOWN] = r
        out[SCORE] = s[y] - s[r]
        out[R] = margin - out[SCORE]
        if self.kind == _MULTICLASS or self.kind == _MULTILABEL:
            out[COST] = 1.0 if out[SCORE] <= 0.0 else 0.0
        return True


@cython.final
@cython.cclass
class Pass:
    """What a pass is told beside the data, and what it counts.

    step, C       the step and its aggressiveness, one C for each example
    tol           examples with a squared loss of at most tol are left alone (batch conversion,
                  Crammer et al. 2003, §4), for least squares those with r² <= tol; 0 is the plain
                  online pass
    seen          examples seen before this pass: the clock of lazy averaging
    record        (examples, 6) to be filled with loss, τ, ‖δ‖², cost, up, down; or (0, 6)
    """

    def __init__(self, step, C, tol, seen, record):
        self.step = step
        self.C = C
        self.tol = tol
        self.seen = seen
        self.record = record
        self.mistakes = self.cost = self.loss = self.squared_loss = 0.0
        self.updates = 0

    def totals(self):
        """Mistakes, cost, loss, squared loss and number of updates, summed over the pass."""
        return self.mistakes, self.cost, self.loss, self.squared_loss, self.updates

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def presented(self, r: cython.double) -> cython.bint:
        """Whether an example that lacks r is to be learned from, or left alone."""
        return self.tol == 0.0 or ((r > 0.0 or self.step == _PA_LS) and r * r > self.tol)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def tau(
        self,
        t: cython.Py_ssize_t,
        i: cython.Py_ssize_t,
        r: cython.double,
        score: cython.double,
        norm2: cython.double,
        cost: cython.double,
        up: cython.double,
        down: cython.double,
    ) -> cython.double:
        """The step of the t-th example of the pass, which is row i; counted and recorded."""
        tau: cython.double = 0.0
        if self.presented(r):
            tau = step_size(self.step, r, score, norm2, self.C[i])
        self.note(t, r, tau, norm2, cost, up, down)
        return tau

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note(
        self,
        t: cython.Py_ssize_t,
        r: cython.double,
        tau: cython.double,
        norm2: cython.double,
        cost: cython.double,
        up: cython.double,
        down: cython.double,
    ) -> cython.void:
        """Count and record the t-th example of the pass."""
        loss: cython.double = 0.0 if r <= 0.0 else r  # NaN, after an overflow, stays NaN
        self.cost += cost
        if cost > 0.0:
            self.mistakes += 1.0
        self.loss += loss
        self.squared_loss += loss * loss
        if tau != 0.0:
            self.updates += 1
        if self.record.shape[0] > 0:
            self.record[t, 0] = loss
            self.record[t, 1] = tau
            self.record[t, 2] = norm2
            self.record[t, 3] = cost
            self.record[t, 4] = up
            self.record[t, 5] = down


@cython.ccall
def linear_pass(
    rows: Rows,
    problem: Problem,
    run: Pass,
    norms: cython.const[cython.double][::1],
    order: cython.const[cython.Py_ssize_t][::1],
    W: cython.double[:, ::1],
    acc: cython.double[:, ::1],
    s: cython.double[::1],
    c: cython.double[::1],
):
    """One pass in the given order: w += τδ, and acc += tτδ where averaging is on (acc not empty).

    The mean of w over all examples seen is `W − acc / T`: the step of example t is missing from
    the t first of the T vectors that are averaged.
    s and c are scratch: a score for each label, a constraint.
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    up: cython.Py_ssize_t
    down: cython.Py_ssize_t
    tau: cython.double
    norm2: cython.double
    clock: cython.double
    averaging: cython.bint = acc.shape[0] > 0
    with cython.nogil:
        for t in range(order.shape[0]):
            i = order[t]
            if rows.sparse and t + 1 < order.shape[0]:
                rows.announce(order[t + 1], W)
            rows.scores(i, W, s)
            c[R] = 0.0
            c[COST] = 0.0
            c[UP] = -1.0
            c[DOWN] = -1.0
            norm2 = 0.0
            if problem.constraint(i, s, c):
                norm2 = norms[i] if c[DOWN] < 0.0 else 2.0 * norms[i]
            tau = run.tau(t, i, c[R], c[SCORE], norm2, c[COST], c[UP], c[DOWN])
            if tau != 0.0:
                up = cython.cast(cython.Py_ssize_t, c[UP])
                down = cython.cast(cython.Py_ssize_t, c[DOWN])
                clock = run.seen + t
                rows.add(i, W, up, c[SIGN] * tau)
                if down >= 0:
                    rows.add(i, W, down, -tau)
                if averaging:
                    rows.add(i, acc, up, c[SIGN] * tau * clock)
                    if down >= 0:
                        rows.add(i, acc, down, -tau * clock)


@cython.ccall
def joint_pass(
    rows: Rows,
    problem: Problem,
    run: Pass,
    norms: cython.const[cython.double][::1],
    order: cython.const[cython.Py_ssize_t][::1],
    w: cython.double[:, ::1],
    acc: cython.double[:, ::1],
    s: cython.double[::1],
    c: cython.double[::1],
):
    """One single-prototype pass (§7): row i·K + k of `rows` is Φ(x_i, k), w has one column.

    ‖Φ(x, up) − Φ(x, down)‖² is exact: shared features are merged before they are squared.
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    first: cython.Py_ssize_t
    up: cython.Py_ssize_t
    down: cython.Py_ssize_t
    tau: cython.double
    norm2: cython.double
    clock: cython.double
    averaging: cython.bint = acc.shape[0] > 0
    K: cython.Py_ssize_t = s.shape[0]
    with cython.nogil:
        for t in range(order.shape[0]):
            i = order[t]
            first = i * K
            for k in range(K):
                rows.scores(first + k, w, s[k : k + 1])
            c[R] = 0.0
            c[COST] = 0.0
            c[UP] = -1.0
            c[DOWN] = -1.0
            norm2 = 0.0
            up = down = first
            if problem.constraint(i, s, c):
                up = first + cython.cast(cython.Py_ssize_t, c[UP])
                down = first + cython.cast(cython.Py_ssize_t, c[DOWN])
                norm2 = norms[up] + norms[down] - 2.0 * rows.dot_rows(up, down)
                if norm2 < 1e-14 * (norms[up] + norms[down]):
                    norm2 = 0.0  # equal but for rounding: no direction
            tau = run.tau(t, i, c[R], c[SCORE], norm2, c[COST], c[UP], c[DOWN])
            if tau != 0.0:
                clock = run.seen + t
                rows.add(up, w, 0, tau)
                rows.add(down, w, 0, -tau)
                if averaging:
                    rows.add(up, acc, 0, tau * clock)
                    rows.add(down, acc, 0, -tau * clock)


@cython.ccall
def uniclass_pass(
    rows: Rows,
    run: Pass,
    epsilon: cython.double,
    order: cython.const[cython.Py_ssize_t][::1],
    w: cython.double[::1],
    acc: cython.double[::1],
):
    """One uniclass pass (Eq. 24): the centre w moves straight towards x until ‖x − w‖ <= ε.

    δ = (x − w)/‖x − w‖ has norm 1. The last entry of w is the extra coordinate of the learned
    radius (§6), in which every example is 0; it stays 0 where the radius is fixed.
    Every update moves all coordinates, so CSR rows are met through their stored entries plus the
    rest of w: ‖x − w‖² = Σ_stored ((x_j − w_j)² − w_j²) + ‖w‖².
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    f: cython.Py_ssize_t
    n: cython.Py_ssize_t = w.shape[0]
    distance: cython.double
    gap: cython.double
    share: cython.double
    tau: cython.double
    clock: cython.double
    averaging: cython.bint = acc.shape[0] > 0
    with cython.nogil:
        for t in range(order.shape[0]):
            i = order[t]
            distance = w[n - 1] * w[n - 1]
            if rows.sparse:
                for j in range(n - 1):
                    distance = distance + w[j] * w[j]
                for j in range(rows.indptr[i], rows.indptr[i + 1]):
                    f = rows.indices[j]
                    distance = distance + rows.data[j] * (rows.data[j] - 2.0 * w[f])
                distance = max(distance, 0.0)
            else:
                for j in range(n - 1):
                    gap = rows.dense[i, j] - w[j]
                    distance = distance + gap * gap
            distance = sqrt(distance)
            gap = distance - epsilon
            tau = run.tau(
                t,
                i,
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
            clock = run.seen + t
            if rows.sparse:
                for j in range(n):
                    if averaging:
                        acc[j] -= clock * share * w[j]
                    w[j] -= share * w[j]
                for j in range(rows.indptr[i], rows.indptr[i + 1]):
                    f = rows.indices[j]
                    w[f] += share * rows.data[j]
                    if averaging:
                        acc[f] += clock * share * rows.data[j]
            else:
                for j in range(n - 1):
                    gap = share * (rows.dense[i, j] - w[j])
                    w[j] += gap
                    if averaging:
                        acc[j] += clock * gap
                gap = -share * w[n - 1]
                w[n - 1] += gap
                if averaging:
                    acc[n - 1] += clock * gap
