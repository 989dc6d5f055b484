"""Passes that move the centre w and the shape P of an ellipsoid {z: (z − w)'P⁻¹(z − w) <= 1}.

After a mistake on the direction δ (w·δ <= 0), with n² = δ'Pδ, h = Pδ and α = (margin − w·δ)/n:

    w ← w + α h/n
    CELLIP  P ← (1 − α²)P − 2α(1 − α) hh'/n²  =  (1 − α²)(P − 2α/(1 + α) hh'/n²)
    IELLIP  P ← (P − c_t hh'/n²)/(1 − c_t),  c_t = c·b^(t−1), t counting the updates

The algorithms are those of Ellipsoid (CELLIP, IELLIP). P is kept as scale · Q. `diagonal` keeps its
diagonal only, so that h has the entries that δ has.
Weights lie as [labels, features], one behind the other they are the space of P: δ = Φ(x, up) −
Φ(x, down) has two blocks, and Pδ is made of their rows of P.
The callers in `seqpa.core` check shapes, types and finiteness; nothing is checked here.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.libc.math import sqrt
    from cython.cimports.seqpa._kernel.vectors import Pass, Problem
    from cython.cimports.seqpa._kernel.weights import Constraint, Rows, Weights
else:
    from math import sqrt

    from seqpa._kernel.vectors import Pass, Problem
    from seqpa._kernel.weights import Constraint, Rows, Weights

COMPILED = cython.compiled


@cython.final
@cython.cclass
class Ellipsoid:
    """Centre and shape, and how the shape changes.

    W, w      (labels, features): the centre; w is the same as one long vector
    center    the same again, to score dense examples with
    acc       Σ tτh of it, for the mean; or empty
    Q         P = scale · Q: (N, N), N = labels · features; or (1, N) for the diagonal alone
    decay     c_t of the next update, and b; `classical` is CELLIP, which uses neither
    h         scratch, N long
    empty     CELLIP's mistakes with α >= 1: no classifier of the ellipsoid has the margin, and
              nothing is moved
    """

    classical: cython.bint
    diagonal: cython.bint
    W: cython.double[:, ::1]
    w: cython.double[::1]
    center: Weights
    acc: cython.double[::1]
    Q: cython.double[:, ::1]
    h: cython.double[::1]
    scale: cython.double
    c: cython.double
    b: cython.double
    empty: cython.Py_ssize_t

    def __init__(self, classical, diagonal, W, acc, Q, h, scale, c, b):
        self.classical = classical
        self.diagonal = diagonal
        self.W = W
        self.w = W.reshape(-1)
        self.center = Weights(W, len(W), False)
        self.acc = acc.reshape(-1)
        self.Q = Q
        self.h = h
        self.scale = scale
        self.c = c
        self.b = b
        self.empty = 0

    def state(self):
        """Scale of P, c_t of the next update, and how many mistakes had α >= 1."""
        return self.scale, self.c, self.empty

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def scores(self, rows: Rows, i: cython.Py_ssize_t, c: Constraint) -> cython.void:
        """s[k] = w_k·x_i."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        total: cython.double
        if not rows.sparse:
            self.center.scores(rows, i, c)
            return
        for k in range(c.s.shape[0]):
            total = self.W[k, rows.n_features] if rows.bias else 0.0
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                total = total + rows.data[j] * self.W[k, rows.indices[j]]
            c.s[k] = total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def squared_length(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        up: cython.Py_ssize_t,
        down: cython.Py_ssize_t,
        sign: cython.double,
    ) -> cython.double:
        """δ'Pδ, and h = Pδ on the way; 0 where rounding leaves nothing of it."""
        n2: cython.double
        j: cython.Py_ssize_t
        if not self.diagonal:
            for j in range(self.h.shape[0]):
                self.h[j] = 0.0
        self.spread_row(rows, i, up, sign)
        if down >= 0:
            self.spread_row(rows, i, down, -1.0)
        n2 = sign * self.read_row(rows, i, up)
        if down >= 0:
            n2 -= self.read_row(rows, i, down)
        return max(n2, 0.0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def spread(self, at: cython.Py_ssize_t, value: cython.double) -> cython.void:
        """h += value · P[at]; with a diagonal P, h has one entry for each of δ."""
        j: cython.Py_ssize_t
        amount: cython.double = value * self.scale
        if self.diagonal:
            self.h[at] = amount * self.Q[0, at]
        else:
            for j in range(self.h.shape[0]):
                self.h[j] += amount * self.Q[at, j]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def spread_row(
        self, rows: Rows, i: cython.Py_ssize_t, k: cython.Py_ssize_t, sign: cython.double
    ) -> cython.void:
        """h += sign · P Φ(x_i, k)."""
        j: cython.Py_ssize_t
        first: cython.Py_ssize_t = k * self.W.shape[1]
        if rows.sparse:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                self.spread(first + rows.indices[j], sign * rows.data[j])
        else:
            for j in range(rows.n_features):
                if self.diagonal or rows.dense[i, j] != 0.0:
                    self.spread(first + j, sign * rows.dense[i, j])
        if rows.bias:
            self.spread(first + rows.n_features, sign)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_row(self, rows: Rows, i: cython.Py_ssize_t, k: cython.Py_ssize_t) -> cython.double:
        """h·Φ(x_i, k)."""
        j: cython.Py_ssize_t
        first: cython.Py_ssize_t = k * self.W.shape[1]
        total: cython.double = self.h[first + rows.n_features] if rows.bias else 0.0
        if rows.sparse:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                total = total + rows.data[j] * self.h[first + rows.indices[j]]
        else:
            for j in range(rows.n_features):
                total = total + rows.dense[i, j] * self.h[first + j]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def move(
        self,
        at: cython.Py_ssize_t,
        tau: cython.double,
        clock: cython.double,
        amount: cython.double,
    ) -> cython.void:
        """w += τh and Q −= amount · hh' for one entry of w, one row of Q."""
        j: cython.Py_ssize_t
        step: cython.double = amount * self.h[at]
        self.w[at] += tau * self.h[at]
        if self.acc.shape[0] > 0:
            self.acc[at] += tau * clock * self.h[at]
        if self.diagonal:
            self.Q[0, at] -= step * self.h[at]
        elif step != 0.0:
            for j in range(self.h.shape[0]):
                self.Q[at, j] -= step * self.h[j]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def move_row(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        k: cython.Py_ssize_t,
        tau: cython.double,
        clock: cython.double,
        amount: cython.double,
    ) -> cython.void:
        """`move` for the entries of Φ(x_i, k): all that a diagonal P can move."""
        j: cython.Py_ssize_t
        first: cython.Py_ssize_t = k * self.W.shape[1]
        if rows.sparse:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                self.move(first + rows.indices[j], tau, clock, amount)
        else:
            for j in range(rows.n_features):
                self.move(first + j, tau, clock, amount)
        if rows.bias:
            self.move(first + rows.n_features, tau, clock, amount)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        up: cython.Py_ssize_t,
        down: cython.Py_ssize_t,
        tau: cython.double,
        n2: cython.double,
        clock: cython.double,
    ) -> cython.void:
        """w and P after a mistake with h = Pδ, n² = δ'Pδ, τ = α/n."""
        at: cython.Py_ssize_t
        j: cython.Py_ssize_t
        alpha: cython.double = tau * sqrt(n2)
        share: cython.double = 2.0 * alpha / (1.0 + alpha) if self.classical else self.c
        growth: cython.double = 1.0 - alpha * alpha if self.classical else 1.0 / (1.0 - self.c)
        amount: cython.double = share / (n2 * self.scale)
        if self.diagonal:
            self.move_row(rows, i, up, tau, clock, amount)
            if down >= 0:
                self.move_row(rows, i, down, tau, clock, amount)
        else:
            for at in range(self.h.shape[0]):
                self.move(at, tau, clock, amount)
        self.scale *= growth
        self.c *= self.b
        if self.scale < 1e-100 or self.scale > 1e100:
            for at in range(self.Q.shape[0]):
                for j in range(self.Q.shape[1]):
                    self.Q[at, j] *= self.scale
            self.scale = 1.0


@cython.ccall
def ellipsoid_pass(
    rows: Rows,
    problem: Problem,
    run: Pass,
    order: cython.const[cython.Py_ssize_t][::1],
    body: Ellipsoid,
    c: Constraint,
):
    """One pass in the given order: w += τPδ after mistakes; averaging as in `linear_pass`.

    τ = α/n = (margin − w·δ)/δ'Pδ is PA's step with δ'Pδ for ‖δ‖², which is recorded as the norm,
    and as 0 where there was no mistake.
    """
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    tau: cython.double
    n2: cython.double
    with cython.nogil:
        for t in range(order.shape[0]):
            i = order[t]
            body.scores(rows, i, c)
            problem.constraint(i, c)
            n2 = 0.0
            if c.sides > 0.0 and c.score <= 0.0:
                n2 = body.squared_length(rows, i, c.up, c.down, c.sign)
                if body.classical and n2 > 0.0 and c.r * c.r >= n2:
                    body.empty += 1
                    n2 = 0.0
            tau = run.tau(t, i, c, n2)
            if tau != 0.0:
                body.update(rows, i, c.up, c.down, tau, n2, run.seen + t)
