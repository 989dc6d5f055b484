"""Whole passes over vectors: Problem × Step × Euclidean geometry, in one loop.

    Rows, Weights  the examples, and the vectors that score them (weights.py)
    Problem        which Constraint does example i ask for, given its scores?
    Pass           how far (steps.py), and what a pass counts

`linear_pass` is PA 2006, Eq. 3, with any step and problem; `one_vs_rest_pass` the same for the
two-class problems of all labels at once; `joint_pass` the single-prototype form with
label-dependent features (PA 2006, §7); `uniclass_pass` moves a centre (PA 2006, §6).
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
    from cython.cimports.seqpa._kernel.steps import step_each, step_size
    from cython.cimports.seqpa._kernel.weights import Constraint, Rows, Weights
else:
    from math import fabs

    from seqpa._kernel.steps import step_each, step_size
    from seqpa._kernel.weights import Constraint, Rows, Weights

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

# A record of one example, as a pass writes it: loss, τ, ‖δ‖², cost, up, down, middle.
RECORD = 7


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

    def ask(self, i, c: Constraint):
        """The constraint of example i, for passes in Python: r, score, up, down, sign, sides."""
        self.constraint(i, c)
        return c.r, c.score, c.up, c.down, c.sign, c.sides

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
        if self.kind == _MULTILABEL:  # PA 2006, Eq. 36: lowest relevant, highest irrelevant label
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
            if self.kind == _MULTICLASS:  # PA 2006, Eq. 39: one relevant label
                if K < 2:
                    return
                r = c.highest_but(y)
            else:
                predicted = 0  # PA 2006, Eq. 42; the first of equals
                for k in range(1, K):
                    if c.s[k] > c.s[predicted]:
                        predicted = k
                r = predicted
                if self.kind == _MAX_LOSS:  # PA 2006, Eq. 50
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
        c.middle = 0.5 * (c.s[y] + c.s[r])
        c.r = margin - c.score
        if self.kind == _MULTICLASS or self.kind == _MULTILABEL:
            c.cost = 1.0 if c.score <= 0.0 else 0.0


@cython.final
@cython.cclass
class Pass:
    """The parameters of a pass beside the data, and what it counts.

    step, C       the step and its aggressiveness, one C for each example
    tol           examples with a squared loss of at most tol are left alone (batch conversion,
                  PA 2003, §4), for least squares those with r² <= tol; 0 is the plain
                  online pass
    seen          examples seen before this pass: the clock of lazy averaging
    record        (examples, 7) to be filled with loss, τ, ‖δ‖², cost, up, down, middle; or (0, 7).
                  A one-vs-rest pass has a row for each label of each example
    """

    def __init__(self, step, C, tol, seen, record):
        self.step = step
        self.C = C
        self.tol = tol
        self.record = record
        self.begin(seen)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self, seen: cython.double) -> cython.void:
        """Make ready for another pass: the sums begin anew."""
        self.seen = seen
        self.mistakes = self.cost = self.loss = self.squared_loss = self.watched = 0.0
        self.updates = 0

    def settle(self, t, i, c: Constraint, norm2):
        """`tau`, for passes in Python."""
        return self.tau(t, i, c, norm2)

    def totals(self):
        """Mistakes, cost, loss, squared loss and number of updates, summed over the pass."""
        return self.mistakes, self.cost, self.loss, self.squared_loss, self.updates

    def watch(self):
        """The sum of all that was missing, r: finite as long as every r is.

        Only sums carry NaN and infinity safely. Of comparisons the compiler was told that neither
        occurs (-ffinite-math-only), so none of them may be asked; the caller, who is not compiled
        that way, looks at this sum.
        """
        return self.watched

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def presented(self, r: cython.double) -> cython.bint:
        """Whether an example whose constraint lacks r is learned from."""
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
    def each_tau(
        self,
        t: cython.Py_ssize_t,
        i: cython.Py_ssize_t,
        y: cython.Py_ssize_t,
        margin: cython.double,
        norm2: cython.double,
        c: Constraint,
    ) -> cython.bint:
        """One-vs-rest: the steps of all labels of the t-th example, which is row i of label y.

        Label k asks for y_k s_k >= margin, y_k = 1 for the right label and −1 for the others, and
        is to move by q_k = y_k τ_k. Losses are summed over the labels; a mistake is an example
        whose label has not the highest score. Returns whether any label moves.
        """
        k: cython.Py_ssize_t
        loss: cython.double
        losses: cython.double = 0.0
        squared_losses: cython.double = 0.0
        moved: cython.double = 0.0
        own: cython.double = c.s[y]
        rivals: cython.double = -1.0 if own <= 0.0 else 0.0  # then y is counted as its own
        K: cython.Py_ssize_t = c.s.shape[0]
        c.s[y] = -own  # now every label asks for −s_k >= margin
        for k in range(K):
            self.watched += c.s[k]
        step_each(self.step, margin, norm2, self.C[i], c)
        if self.tol > 0.0:
            for k in range(K):
                if not self.presented(margin + c.s[k]):
                    c.q[k] = 0.0
        for k in range(K):
            rivals += 1.0 if c.s[k] >= own else 0.0
            moved += fabs(c.q[k])
            loss = max(0.0, margin + c.s[k])
            losses += loss
            squared_losses += loss * loss
        if self.record.shape[0] > 0:
            for k in range(K):
                loss = max(0.0, margin + c.s[k])
                self.write(t * K + k, loss, -c.q[k], norm2, 1.0 if c.s[k] >= 0.0 else 0.0, k, -1)
        c.q[y] = -c.q[y]
        self.loss += losses
        self.squared_loss += squared_losses
        if rivals > 0.0:
            self.mistakes += 1.0
            self.cost += 1.0
        if moved != 0.0:
            self.updates += 1
        return moved != 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note(
        self, t: cython.Py_ssize_t, c: Constraint, tau: cython.double, norm2: cython.double
    ) -> cython.void:
        """Count and record the t-th example of the pass."""
        loss: cython.double = max(0.0, c.r)
        self.watched += c.r
        self.cost += c.cost
        if c.cost > 0.0:
            self.mistakes += 1.0
        self.loss += loss
        self.squared_loss += loss * loss
        if tau != 0.0:
            self.updates += 1
        if self.record.shape[0] > 0:
            self.write(t, loss, tau, norm2, c.cost, c.up, c.down)
            self.record[t, 6] = c.middle

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def write(
        self,
        t: cython.Py_ssize_t,
        loss: cython.double,
        tau: cython.double,
        norm2: cython.double,
        cost: cython.double,
        up: cython.Py_ssize_t,
        down: cython.Py_ssize_t,
    ) -> cython.void:
        """Row t of the record."""
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
            if rows.sparse and w.averaging and w.n_labels == 1 and t + 1 < order.shape[0]:
                w.announce(rows, order[t + 1])
            w.scores(rows, i, c)
            problem.constraint(i, c)
            tau = run.tau(t, i, c, c.sides * norms[i])
            if tau != 0.0:
                w.move(rows, i, c, tau, run.seen + t)


@cython.ccall
def one_vs_rest_pass(
    rows: Rows,
    target: cython.const[cython.double][::1],
    margin: cython.double,
    run: Pass,
    norms: cython.const[cython.double][::1],
    order: cython.const[cython.Py_ssize_t][::1],
    w: Weights,
    c: Constraint,
):
    """One pass over the two-class problems "this label or not" of all labels: w_k += y_k τ_k x.

    Each label's vector is what `linear_pass` would make of it alone, but x is read once for all.
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    y: cython.Py_ssize_t
    with cython.nogil:
        for t in range(order.shape[0]):
            i = order[t]
            y = cython.cast(cython.Py_ssize_t, target[i])
            w.scores(rows, i, c)
            if run.each_tau(t, i, y, margin, norms[i], c):
                w.add_all(rows, i, c, run.seen + t)


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
    """One single-prototype pass (PA 2006, §7): row i·K + k of `rows` is Φ(x_i, k), w has one label.

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
    """One uniclass pass (PA 2006, Eq. 24): the centre w moves towards x until ‖x − w‖ <= ε.

    δ = (x − w)/‖x − w‖ has norm 1. The last entry of w is the extra coordinate of the learned
    radius (PA 2006, §6), in which every example is 0; it stays 0 where the radius is fixed.
    Every update moves all coordinates. Of CSR rows the entries that are not stored count as zeros,
    one by one, so that dense and CSR rows add up the same squares: ‖w‖² + Σ_stored (x_j² − 2x_jw_j)
    would be faster, and lose the digits that tell a loss from none.
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    f: cython.Py_ssize_t
    begin: cython.Py_ssize_t
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
                begin = 0
                for j in range(rows.indptr[i], rows.indptr[i + 1]):
                    for f in range(begin, rows.indices[j]):
                        distance = distance + w[f] * w[f]
                    gap = rows.data[j] - w[rows.indices[j]]
                    distance = distance + gap * gap
                    begin = rows.indices[j] + 1
                for f in range(begin, n - 1):
                    distance = distance + w[f] * w[f]
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
