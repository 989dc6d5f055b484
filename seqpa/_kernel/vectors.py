"""Whole passes over vectors: Problem × Step × Euclidean geometry, in one loop.

    Rows        the examples x_i: dense or CSR, with an optional constant 1 behind the last feature
    Weights     one weight vector (binary, regression) or one for each label (multi-prototype), and
                the sums that lazy averaging needs
    Problem     which Constraint does example i ask for, given its scores?
    Pass        how far (steps.py), and what a pass counts

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
class Constraint:
    """What one example asks for: w·δ >= margin, δ = sign · Φ(x, up) − Φ(x, down).

    s         the scores of all labels, from which it is made
    r, score  margin − w·δ, which is what is missing; and w·δ
    up, down  the labels whose vectors hold x in δ, −1 for none; `sides` counts them: ‖δ‖² is
              sides · ‖x‖², and 0 sides ask for nothing
    cost      ρ(y, ŷ), or 1 for a mistake
    q         where a step moves several labels' vectors: by q_k x each; twice as long as s, with
              room for what the averaging sums gain
    """

    def __init__(self, s, q):
        self.s = s
        self.q = q
        self.clear()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clear(self) -> cython.void:
        """Nothing is asked for."""
        self.r = self.score = self.cost = self.sides = 0.0
        self.sign = 1.0
        self.up = self.down = -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def highest_but(self, y: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The label with the highest score, without y; the first of equals.

        The maximum first, then its place: no branch that cannot be predicted.
        """
        k: cython.Py_ssize_t
        own: cython.double = self.s[y]
        best: cython.double = self.s[0 if y > 0 else 1]
        self.s[y] = best
        for k in range(self.s.shape[0]):
            best = max(best, self.s[k])
        self.s[y] = own
        k = 0
        while k < self.s.shape[0] - 1 and (k == y or self.s[k] != best):
            k += 1
        return k

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def ask_ball(self, distance: cython.double, epsilon: cython.double) -> cython.void:
        """Eq. 21: −‖x − w‖ >= −ε, along δ = (x − w)/‖x − w‖, whose norm is 1."""
        self.score = -distance
        self.r = distance - epsilon
        self.sides = 1.0 if distance > 0.0 else 0.0
        self.up = 0
        self.cost = 1.0 if self.r > 0.0 else 0.0


@cython.final
@cython.cclass
class Weights:
    """A weight vector for each of K labels, and what their mean needs.

    V           (labels, features) where the examples are dense, (features, labels) where they are
                CSR (`by_feature`): either way they are read in order. With averaging there are 2K
                labels: the vector of label K + k is Σ tτδ of label k, the step of each example
                times the number of those before it
    """

    def __init__(self, V, n_labels, by_feature):
        self.V = V
        self.n_labels = n_labels
        self.by_feature = by_feature
        self.averaging = V.shape[1 if by_feature else 0] > n_labels

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def scores(self, rows: Rows, i: cython.Py_ssize_t, c: Constraint) -> cython.void:
        """s[k] = w_k·x_i."""
        k: cython.Py_ssize_t
        if self.n_labels == 1:
            c.s[0] = self.dot(rows, i, 0)
        elif rows.sparse:
            self.scores_by_feature(rows, i, c)
        else:
            self.scores_by_label(rows, i, c)
        if rows.bias:
            for k in range(self.n_labels):
                c.s[k] += self.V[rows.n_features, k] if rows.sparse else self.V[k, rows.n_features]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def scores_by_feature(self, rows: Rows, i: cython.Py_ssize_t, c: Constraint) -> cython.void:
        """s for a CSR row, four features at once: s is read and written once for all of them."""
        k: cython.Py_ssize_t
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        d: cython.Py_ssize_t
        e: cython.Py_ssize_t
        xa: cython.double
        xb: cython.double
        xd: cython.double
        xe: cython.double
        j: cython.Py_ssize_t = rows.indptr[i]
        end: cython.Py_ssize_t = rows.indptr[i + 1]
        for k in range(self.n_labels):
            c.s[k] = 0.0
        while j + 4 <= end:
            a = rows.indices[j]
            b = rows.indices[j + 1]
            d = rows.indices[j + 2]
            e = rows.indices[j + 3]
            xa = rows.data[j]
            xb = rows.data[j + 1]
            xd = rows.data[j + 2]
            xe = rows.data[j + 3]
            for k in range(self.n_labels):
                c.s[k] += (xa * self.V[a, k] + xb * self.V[b, k]) + (
                    xd * self.V[d, k] + xe * self.V[e, k]
                )
            j += 4
        while j < end:
            a = rows.indices[j]
            xa = rows.data[j]
            for k in range(self.n_labels):
                c.s[k] += xa * self.V[a, k]
            j += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def scores_by_label(self, rows: Rows, i: cython.Py_ssize_t, c: Constraint) -> cython.void:
        """s for a dense row, four labels at once: x is read once for all of them."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t = 0
        x: cython.double
        s0: cython.double
        s1: cython.double
        s2: cython.double
        s3: cython.double
        while k + 4 <= self.n_labels:
            s0 = s1 = s2 = s3 = 0.0
            for j in range(rows.n_features):
                x = rows.dense[i, j]
                s0 = s0 + x * self.V[k, j]
                s1 = s1 + x * self.V[k + 1, j]
                s2 = s2 + x * self.V[k + 2, j]
                s3 = s3 + x * self.V[k + 3, j]
            c.s[k] = s0
            c.s[k + 1] = s1
            c.s[k + 2] = s2
            c.s[k + 3] = s3
            k += 4
        while k < self.n_labels:
            c.s[k] = self.dot(rows, i, k)
            k += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def dot(self, rows: Rows, i: cython.Py_ssize_t, k: cython.Py_ssize_t) -> cython.double:
        """w_k·x_i, without the bias."""
        j: cython.Py_ssize_t
        last: cython.Py_ssize_t
        a: cython.double = 0.0
        b: cython.double = 0.0
        if rows.sparse:
            # Two sums, by hand: the compiler would make vectors of the indices, which is slower.
            j = rows.indptr[i]
            last = rows.indptr[i + 1] - 1
            while j < last:
                a = a + rows.data[j] * self.V[rows.indices[j], k]
                b = b + rows.data[j + 1] * self.V[rows.indices[j + 1], k]
                j += 2
            if j == last:
                a = a + rows.data[j] * self.V[rows.indices[j], k]
        else:
            for j in range(rows.n_features):
                a = a + rows.dense[i, j] * self.V[k, j]
        return a + b

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def move(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        c: Constraint,
        tau: cython.double,
        clock: cython.double,
    ) -> cython.void:
        """w += τδ, after `clock` examples; of a CSR row in one go for both labels."""
        j: cython.Py_ssize_t
        f: cython.Py_ssize_t
        step: cython.double
        K: cython.Py_ssize_t = self.n_labels
        if c.down < 0 or not rows.sparse or rows.bias:
            self.add(rows, i, c.up, c.sign * tau, clock)
            if c.down >= 0:
                self.add(rows, i, c.down, -tau, clock)
            return
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            f = rows.indices[j]
            step = tau * rows.data[j]
            self.V[f, c.up] += step
            self.V[f, c.down] -= step
            if self.averaging:
                self.V[f, K + c.up] += clock * step
                self.V[f, K + c.down] -= clock * step

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        k: cython.Py_ssize_t,
        amount: cython.double,
        clock: cython.double,
    ) -> cython.void:
        """w_k += amount · x_i, after `clock` examples."""
        self.add_to(rows, i, k, amount)
        if self.averaging:
            self.add_to(rows, i, self.n_labels + k, clock * amount)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_to(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        k: cython.Py_ssize_t,
        amount: cython.double,
    ) -> cython.void:
        """The k-th of the vectors, be it of weights or a sum, += amount · x_i."""
        j: cython.Py_ssize_t
        n: cython.Py_ssize_t = rows.n_features
        if rows.sparse:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                self.V[rows.indices[j], k] += amount * rows.data[j]
            if rows.bias:
                self.V[n, k] += amount
        else:
            for j in range(n):
                self.V[k, j] += amount * rows.dense[i, j]
            if rows.bias:
                self.V[k, n] += amount

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_all(
        self, rows: Rows, i: cython.Py_ssize_t, c: Constraint, clock: cython.double
    ) -> cython.void:
        """w_k += q_k x_i for all labels, after `clock` examples; two features at once."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        xa: cython.double
        xb: cython.double
        q: cython.double
        K: cython.Py_ssize_t = self.n_labels
        if self.averaging:
            for k in range(K):
                c.q[K + k] = clock * c.q[k]
            K = 2 * K
        if not rows.sparse:
            for k in range(K):
                if c.q[k] != 0.0:
                    self.add_to(rows, i, k, c.q[k])
            return
        j = rows.indptr[i]
        while j + 2 <= rows.indptr[i + 1]:
            a = rows.indices[j]
            b = rows.indices[j + 1]
            xa = rows.data[j]
            xb = rows.data[j + 1]
            for k in range(K):
                q = c.q[k]
                self.V[a, k] += xa * q
                self.V[b, k] += xb * q
            j += 2
        if j < rows.indptr[i + 1]:
            a = rows.indices[j]
            xa = rows.data[j]
            for k in range(K):
                self.V[a, k] += xa * c.q[k]
        if rows.bias:
            for k in range(K):
                self.V[rows.n_features, k] += c.q[k]


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

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def constraint(self, i: cython.Py_ssize_t, c: Constraint) -> cython.void:
        """Fill c with the constraint of example i, whose scores are c.s."""
        y: cython.Py_ssize_t
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        predicted: cython.Py_ssize_t
        best: cython.double
        value: cython.double
        K: cython.Py_ssize_t = c.s.shape[0]
        margin: cython.double = self.margin
        c.clear()
        if self.kind == _BINARY:
            c.up = 0
            c.sides = 1.0
            c.sign = self.target[i]
            c.score = self.target[i] * c.s[0]
            c.r = margin - c.score
            c.cost = 1.0 if c.score <= 0.0 else 0.0
            return
        if self.kind == _REGRESSION:
            value = self.target[i] - c.s[0]
            c.up = 0
            c.sides = 1.0 if value != 0.0 else 0.0
            c.sign = 1.0 if value > 0.0 else -1.0
            c.score = -fabs(value)
            c.r = margin - c.score
            c.cost = 1.0 if c.r > 0.0 else 0.0
            return
        if self.kind == _MULTILABEL:  # Eq. 36: the lowest relevant, the highest irrelevant label
            y = -1
            r = -1
            for k in range(K):
                if self.relevant[i, k]:
                    if y < 0 or c.s[k] < c.s[y]:
                        y = k
                elif r < 0 or c.s[k] > c.s[r]:
                    r = k
            if y < 0 or r < 0:
                return
        else:
            y = cython.cast(cython.Py_ssize_t, self.target[i])
            if self.kind == _MULTICLASS:  # Eq. 39, one relevant label
                if K < 2:
                    return
                r = c.highest_but(y)
            else:
                predicted = 0  # Eq. 42; the first of equals
                for k in range(1, K):
                    if c.s[k] > c.s[predicted]:
                        predicted = k
                r = predicted
                if self.kind == _MAX_LOSS:  # Eq. 50
                    r = y
                    best = c.s[y]
                    for k in range(K):
                        value = c.s[k] + self.root_cost[y, k]
                        if value > best:
                            r = k
                            best = value
                margin = self.root_cost[y, r]
                c.cost = self.root_cost[y, predicted] * self.root_cost[y, predicted]
                if r == y:
                    return
        c.up = y
        c.down = r
        c.sides = 2.0
        c.score = c.s[y] - c.s[r]
        c.r = margin - c.score
        if self.kind == _MULTICLASS or self.kind == _MULTILABEL:
            c.cost = 1.0 if c.score <= 0.0 else 0.0


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
        self, t: cython.Py_ssize_t, i: cython.Py_ssize_t, c: Constraint, norm2: cython.double
    ) -> cython.double:
        """The step of the t-th example of the pass, which is row i; counted and recorded."""
        tau: cython.double = 0.0
        if self.presented(c.r):
            tau = step_size(self.step, c.r, c.score, norm2, self.C[i])
        self.note(t, c, tau, norm2)
        return tau

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note(
        self, t: cython.Py_ssize_t, c: Constraint, tau: cython.double, norm2: cython.double
    ) -> cython.void:
        """Count and record the t-th example of the pass."""
        loss: cython.double = 0.0 if c.r <= 0.0 else c.r  # NaN, after an overflow, stays NaN
        self.cost += c.cost
        if c.cost > 0.0:
            self.mistakes += 1.0
        self.loss += loss
        self.squared_loss += loss * loss
        if tau != 0.0:
            self.updates += 1
        if self.record.shape[0] > 0:
            self.record[t, 0] = loss
            self.record[t, 1] = tau
            self.record[t, 2] = norm2
            self.record[t, 3] = c.cost
            self.record[t, 4] = c.up
            self.record[t, 5] = c.down


@cython.ccall
def linear_pass(
    rows: Rows,
    problem: Problem,
    run: Pass,
    norms: cython.const[cython.double][::1],
    order: cython.const[cython.Py_ssize_t][::1],
    w: Weights,
    c: Constraint,
):
    """One pass in the given order: w += τδ.

    The mean of w over all examples seen is `w − acc / T`, acc = Σ tτδ: the step of example t is
    missing from the t first of the T vectors that are averaged.
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    tau: cython.double
    with cython.nogil:
        for t in range(order.shape[0]):
            i = order[t]
            w.scores(rows, i, c)
            problem.constraint(i, c)
            tau = run.tau(t, i, c, c.sides * norms[i])
            if tau != 0.0:
                w.move(rows, i, c, tau, run.seen + t)


@cython.ccall
def joint_pass(
    rows: Rows,
    problem: Problem,
    run: Pass,
    norms: cython.const[cython.double][::1],
    order: cython.const[cython.Py_ssize_t][::1],
    w: Weights,
    c: Constraint,
):
    """One single-prototype pass (§7): row i·K + k of `rows` is Φ(x_i, k), w has one label.

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
    K: cython.Py_ssize_t = c.s.shape[0]
    with cython.nogil:
        for t in range(order.shape[0]):
            i = order[t]
            first = i * K
            for k in range(K):
                c.s[k] = w.dot(rows, first + k, 0)
            problem.constraint(i, c)
            norm2 = 0.0
            up = first + c.up
            down = first + c.down
            if c.sides > 0.0:
                norm2 = norms[up] + norms[down] - 2.0 * rows.dot_rows(up, down)
                if norm2 < 1e-14 * (norms[up] + norms[down]):
                    norm2 = 0.0  # equal but for rounding: no direction
            tau = run.tau(t, i, c, norm2)
            if tau != 0.0:
                w.add(rows, up, 0, tau, run.seen + t)
                w.add(rows, down, 0, -tau, run.seen + t)


@cython.ccall
def uniclass_pass(
    rows: Rows,
    run: Pass,
    epsilon: cython.double,
    order: cython.const[cython.Py_ssize_t][::1],
    w: cython.double[::1],
    acc: cython.double[::1],
    c: Constraint,
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
            c.ask_ball(distance, epsilon)
            tau = run.tau(t, i, c, c.sides)
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
