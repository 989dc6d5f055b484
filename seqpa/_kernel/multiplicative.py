"""Passes with weights on the simplex: w_j > 0, Σ w_j = 1, and w_j ← w_j exp(τ v_j)/Z.

PA 2003, §6. What is kept are the logarithms θ_j, to which a step adds τ v_j,
and e_j = exp(θ_j − shift) beside them, so that w_j = e_j / Σe: nothing can overflow, and a weight
that has become too small for a number is not lost. A CSR row costs what it stores: Σe follows the
changed entries, and is summed again from the logarithms whenever rounding could have gathered.
The callers in `seqpa.core` check shapes, types, finiteness and signs; nothing is checked here.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.libc.math import exp, fabs, sqrt
    from cython.cimports.seqpa._kernel.vectors import Pass, Problem
    from cython.cimports.seqpa._kernel.weights import Constraint, Rows, Weights
else:
    from math import exp, fabs, sqrt

    from seqpa._kernel.vectors import Pass, Problem
    from seqpa._kernel.weights import Constraint, Rows, Weights

COMPILED = cython.compiled

_FAR = cython.declare(cython.double, 600.0)  # exp of it is still a number


@cython.final
@cython.cclass
class Simplex:
    """Weights as logarithms theta and as e = exp(theta − shift), in the layouts of `Weights`.

    w         e, to score with
    total     Σe
    acc       Σ_t w_t of every weight, for the mean; or empty. An entry is brought up to date when
              it moves: it has stood at e since `mass` was since, and mass is Σ_t 1/Σe
    """

    theta: cython.double[:, ::1]
    e: cython.double[:, ::1]
    w: Weights
    acc: cython.double[:, ::1]
    since: cython.double[:, ::1]
    shift: cython.double
    total: cython.double
    renewed: cython.double
    mass: cython.double
    touched: cython.Py_ssize_t
    far: cython.bint

    def __init__(self, theta, e, acc, since, by_feature):
        self.theta = theta
        self.e = e
        self.w = Weights(e, e.shape[1 if by_feature else 0], by_feature)
        self.acc = acc
        self.since = since
        self.mass = 0.0
        self.total = 1.0
        self.shift = 0.0
        self.renew()

    @cython.ccall
    @cython.nogil
    @cython.exceptval(check=False)
    def renew(self) -> cython.void:
        """e and its sum from the logarithms; the sums of the mean brought up to date."""
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        if self.acc.shape[0] > 0 and self.mass > 0.0:
            for a in range(self.e.shape[0]):
                for b in range(self.e.shape[1]):
                    self.acc[a, b] += self.e[a, b] * (self.mass - self.since[a, b])
                    self.since[a, b] = 0.0
        self.mass = 0.0
        self.shift = self.theta[0, 0]
        for a in range(self.theta.shape[0]):
            for b in range(self.theta.shape[1]):
                self.shift = max(self.shift, self.theta[a, b])
        self.total = 0.0
        for a in range(self.theta.shape[0]):
            for b in range(self.theta.shape[1]):
                self.e[a, b] = exp(self.theta[a, b] - self.shift)
                self.total += self.e[a, b]
        self.renewed = self.total
        self.touched = 0
        self.far = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(self, a: cython.Py_ssize_t, b: cython.Py_ssize_t, amount: cython.double) -> cython.void:
        """theta += amount, and what follows from it."""
        height: cython.double
        before: cython.double = self.e[a, b]
        if self.acc.shape[0] > 0:
            self.acc[a, b] += before * (self.mass - self.since[a, b])
            self.since[a, b] = self.mass
        self.theta[a, b] += amount
        height = self.theta[a, b] - self.shift
        if height > _FAR:
            self.far = True
        else:
            self.e[a, b] = exp(height)
            self.total += self.e[a, b] - before
        self.touched += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_row(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        k: cython.Py_ssize_t,
        amount: cython.double,
    ) -> cython.void:
        """theta_k += amount · x_i."""
        j: cython.Py_ssize_t
        if rows.sparse:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                self.add(rows.indices[j], k, amount * rows.data[j])
            if rows.bias:
                self.add(rows.n_features, k, amount)
        else:
            for j in range(rows.n_features):
                if rows.dense[i, j] != 0.0:
                    self.add(k, j, amount * rows.dense[i, j])
            if rows.bias:
                self.add(k, rows.n_features, amount)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def settle(self) -> cython.void:
        """After a step: sum again where the sum has lost digits, or an entry is out of reach."""
        if (
            self.far
            or self.total < 0.5 * self.renewed
            or self.total > 1e100 * self.renewed
            or self.touched >= self.theta.shape[0] * self.theta.shape[1]
        ):
            self.renew()


@cython.ccall
def simplex_pass(
    rows: Rows,
    problem: Problem,
    run: Pass,
    peaks: cython.const[cython.double][::1],
    order: cython.const[cython.Py_ssize_t][::1],
    w: Simplex,
    c: Constraint,
):
    """One pass in the given order; peaks are ‖x_i‖∞, the bias included.

    The entries of v lie in an interval of length D = ‖x‖∞, or 2‖x‖∞ where one label's go up and
    another's down. D²/4 takes the place of ‖v‖² (`seqpa.core.multiplicative` says why).
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    tau: cython.double
    norm2: cython.double
    with cython.nogil:
        for t in range(order.shape[0]):
            i = order[t]
            w.w.scores(rows, i, c)
            for k in range(c.s.shape[0]):
                c.s[k] = c.s[k] / w.total
            problem.constraint(i, c)
            norm2 = 0.25 * c.sides * c.sides * peaks[i] * peaks[i]
            tau = run.tau(t, i, c, norm2)
            if tau != 0.0:
                w.add_row(rows, i, c.up, c.sign * tau)
                if c.down >= 0:
                    w.add_row(rows, i, c.down, -tau)
                w.settle()
            w.mass += 1.0 / w.total
        w.renew()


@cython.ccall
def simplex_uniclass_pass(
    rows: Rows,
    run: Pass,
    epsilon: cython.double,
    order: cython.const[cython.Py_ssize_t][::1],
    w: Simplex,
    v: cython.double[::1],
    c: Constraint,
):
    """One uniclass pass: v = (x − w)/‖x − w‖, whose entries lie within ±‖v‖∞, so D = 2‖v‖∞.

    v is scratch. Every update moves all weights, and so does every look at an example.
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    n: cython.Py_ssize_t = v.shape[0]
    distance: cython.double
    peak: cython.double
    tau: cython.double
    with cython.nogil:
        for t in range(order.shape[0]):
            i = order[t]
            for j in range(n):
                v[j] = -w.e[0, j] / w.total
            if rows.sparse:
                for j in range(rows.indptr[i], rows.indptr[i + 1]):
                    v[rows.indices[j]] += rows.data[j]
            else:
                for j in range(n):
                    v[j] += rows.dense[i, j]
            distance = 0.0
            peak = 0.0
            for j in range(n):
                distance = distance + v[j] * v[j]
                peak = max(peak, fabs(v[j]))
            distance = sqrt(distance)
            if distance > 0.0:
                peak = peak / distance
            c.ask_ball(distance, epsilon)
            tau = run.tau(t, i, c, peak * peak)
            if tau != 0.0:
                for j in range(n):
                    w.add(0, j, tau * v[j] / distance)
                w.renew()
            w.mass += 1.0 / w.total
        w.renew()
