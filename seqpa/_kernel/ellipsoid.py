"""Passes that move the centre w and the shape P of an ellipsoid {z: (z − w)'P⁻¹(z − w) <= 1}.

After a mistake on the direction δ (w·δ <= 0), with n² = δ'Pδ, h = Pδ and α = (margin − w·δ)/n:

    w ← w + α h/n
    CELLIP  P ← (1 − α²)P − 2α(1 − α) hh'/n²  =  (1 − α²)(P − 2α/(1 + α) hh'/n²)
    IELLIP  P ← (P − c_t hh'/n²)/(1 − c_t),  c_t = c·b^(t−1), t counting the updates

The algorithms are those of Ellipsoid (CELLIP, IELLIP). Both only ever narrow P along h, and by
Sherman and Morrison that is a step of P⁻¹ which adds, g = δ/n:

    CELLIP  P⁻¹ ← (P⁻¹ + 2α/(1 − α) gg')/(1 − α²)
    IELLIP  P⁻¹ ← (1 − c_t)(P⁻¹ + c_t/(1 − c_t) gg')

What adds loses no digits, whereas P, in which IELLIP lets all other directions grow without limit,
would be the small difference of large numbers. So what is kept is P⁻¹ = s · U'U, U upper
triangular with rows that lie one behind the other: Pδ are two substitutions, and adding gg' turns
the rows of U by rotations. `diagonal` keeps the diagonal of P only, P = s · Q, so that h has the
entries that δ has. The scale s leaves the range of numbers, in IELLIP with every update; it is kept
as its logarithm, and neither w nor U and Q depend on it.

Weights lie as [labels, features], one behind the other they are the space of P: δ = Φ(x, up) −
Φ(x, down) has two blocks.
The callers in `seqpa.core` check shapes, types and finiteness; nothing is checked here.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.libc.math import exp, log, sqrt
    from cython.cimports.seqpa._kernel.vectors import Pass, Problem
    from cython.cimports.seqpa._kernel.weights import Constraint, Rows, Weights
else:
    from math import exp, log, sqrt

    from seqpa._kernel.vectors import Pass, Problem
    from seqpa._kernel.weights import Constraint, Rows, Weights

COMPILED = cython.compiled


# U and the diagonal Q are brought back into range where they leave it. What would be smaller than
# the least is no longer told apart from it: a factor of 1e120 and more in P.
_HIGHEST_U = cython.declare(cython.double, 1e50)
_LEAST_U = cython.declare(cython.double, 1e-75)
_LOW_Q = cython.declare(cython.double, 1e-150)
_LEAST_Q = cython.declare(cython.double, 1e-120)
_HIGHEST_C = cython.declare(cython.double, 1.0 - 1e-6)  # c_t = 1 would forget all but one direction
_FAR = cython.declare(cython.double, 230.0)  # exp(230) is 1e100: lengths beyond are taken for it


@cython.final
@cython.cclass
class Ellipsoid:
    """Centre and shape, and how the shape changes.

    W, w      (labels, features): the centre; w is the same as one long vector
    center    the same again, to score dense examples with
    acc       Σ tτh of it, for the mean; or empty
    Q         P⁻¹ = s · Q'Q, Q upper triangular: (N, N), N = labels · features; or P = s · Q for the
              diagonal alone: (1, N)
    log       the logarithm of s
    rest      what Q has on its diagonal where no update has come by
    squared   Σ v² of U'v = δ, or Σ Qδ²: δ'Pδ but for the scale
    extreme   the largest entry on U's diagonal, the smallest of Q, since they were last in range
    decay     c_t of the next update, and b; `classical` is CELLIP, which uses neither
    h, v      scratch, N long
    first     the first entry of δ
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
    v: cython.double[::1]
    log: cython.double
    rest: cython.double
    squared: cython.double
    extreme: cython.double
    c: cython.double
    b: cython.double
    first: cython.Py_ssize_t
    empty: cython.Py_ssize_t

    def __init__(self, classical, diagonal, W, acc, Q, scratch, log, rest, c, b):
        self.classical = classical
        self.diagonal = diagonal
        self.W = W
        self.w = W.reshape(-1)
        self.center = Weights(W, len(W), False)
        self.acc = acc.reshape(-1)
        self.Q = Q
        self.h, self.v = scratch
        self.log = log
        self.rest = rest
        self.squared = 0.0
        self.extreme = 1.0
        self.c = c
        self.b = b
        self.first = self.empty = 0

    def state(self):
        """The scale's logarithm, rest, c_t of the next update, and mistakes with α >= 1."""
        return self.log, self.rest, self.c, self.empty

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
        """δ'Pδ, and h = Pδ on the way, both no further than 1e100; `squared` is without scale."""
        j: cython.Py_ssize_t
        n2: cython.double
        N: cython.Py_ssize_t = self.h.shape[0]
        for j in range(N):
            self.v[j] = 0.0
            self.h[j] = 0.0
        self.first = N
        self.put_row(rows, i, up, sign)
        if down >= 0:
            self.put_row(rows, i, down, -1.0)
        self.solve()
        if self.squared == 0.0:
            return 0.0
        n2 = self.length(self.squared)
        for j in range(N):
            self.h[j] = self.h[j] * (n2 / self.squared)
        return n2

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def solve(self) -> cython.void:
        """U'v = δ, δ in v from its first entry on; then Uh = v. `squared` is ‖v‖²."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        step: cython.double
        total: cython.double = 0.0
        N: cython.Py_ssize_t = self.h.shape[0]
        for k in range(self.first, N):
            self.v[k] = step = self.v[k] / self.Q[k, k]
            total = total + step * step
            for j in range(k + 1, N):
                self.v[j] -= step * self.Q[k, j]
        for k in range(N - 1, -1, -1):
            step = self.v[k]
            for j in range(k + 1, N):
                step = step - self.Q[k, j] * self.h[j]
            self.h[k] = step / self.Q[k, k]
        self.squared = total

    @cython.ccall
    @cython.nogil
    @cython.exceptval(check=False)
    def length(self, squared: cython.double) -> cython.double:
        """δ'Pδ from what it is without scale, as far as it goes."""
        sign: cython.double = 1.0 if self.diagonal else -1.0
        return exp(min(max(log(squared) + sign * self.log, -_FAR), _FAR))

    def measure(self, delta):
        """For a δ of U's own space: ‖U⁻ᵀδ‖², and U⁻¹U⁻ᵀδ, which is good until the next call."""
        j: cython.Py_ssize_t
        given: cython.double[::1] = delta
        for j in range(self.h.shape[0]):
            self.v[j] = given[j]
            self.h[j] = 0.0
        self.first = 0
        self.solve()
        return self.squared

    def narrow(self, delta, squared, alpha):
        """What a mistake with α does to P, for a δ of U's own space."""
        j: cython.Py_ssize_t
        given: cython.double[::1] = delta
        for j in range(self.v.shape[0]):
            self.v[j] = given[j]
        self.first = 0
        self.squared = squared
        self.shrink(alpha)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def squared_width(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        up: cython.Py_ssize_t,
        down: cython.Py_ssize_t,
        sign: cython.double,
    ) -> cython.double:
        """The same with a diagonal P, where h has one entry for each of δ; the others are left."""
        n2: cython.double
        length: cython.double
        self.put_row(rows, i, up, sign)
        n2 = sign * self.read_row(rows, i, up)
        if down >= 0:
            self.put_row(rows, i, down, -1.0)
            n2 -= self.read_row(rows, i, down)
        self.squared = max(n2, 0.0)
        if self.squared == 0.0:
            return 0.0
        length = self.length(n2)
        self.stretch_row(rows, i, up, length / n2)
        if down >= 0:
            self.stretch_row(rows, i, down, length / n2)
        return length

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put(self, at: cython.Py_ssize_t, value: cython.double) -> cython.void:
        """An entry of δ: into v; with a diagonal P, h has one entry for each of δ."""
        if self.diagonal:
            self.h[at] = value * self.Q[0, at]
        elif value != 0.0:
            self.v[at] = value
            self.first = min(self.first, at)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put_row(
        self, rows: Rows, i: cython.Py_ssize_t, k: cython.Py_ssize_t, sign: cython.double
    ) -> cython.void:
        """The entries of sign · Φ(x_i, k)."""
        j: cython.Py_ssize_t
        first: cython.Py_ssize_t = k * self.W.shape[1]
        if rows.sparse:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                self.put(first + rows.indices[j], sign * rows.data[j])
        else:
            for j in range(rows.n_features):
                self.put(first + j, sign * rows.dense[i, j])
        if rows.bias:
            self.put(first + rows.n_features, sign)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def stretch_row(
        self, rows: Rows, i: cython.Py_ssize_t, k: cython.Py_ssize_t, factor: cython.double
    ) -> cython.void:
        """h times a factor, in the entries of Φ(x_i, k)."""
        j: cython.Py_ssize_t
        first: cython.Py_ssize_t = k * self.W.shape[1]
        if rows.sparse:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                self.h[first + rows.indices[j]] *= factor
        else:
            for j in range(rows.n_features):
                self.h[first + j] *= factor
        if rows.bias:
            self.h[first + rows.n_features] *= factor

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
        share: cython.double,
    ) -> cython.void:
        """w += τh for one entry; a diagonal Q loses `share` of h², as a factor of what it is."""
        self.w[at] += tau * self.h[at]
        if self.acc.shape[0] > 0:
            self.acc[at] += tau * clock * self.h[at]
        if self.diagonal and self.h[at] != 0.0:
            self.Q[0, at] *= 1.0 - share * self.h[at] * (self.h[at] / self.Q[0, at])
            self.extreme = min(self.extreme, self.Q[0, at])

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
        share: cython.double,
    ) -> cython.void:
        """`move` for the entries of Φ(x_i, k): all that a diagonal P can move."""
        j: cython.Py_ssize_t
        first: cython.Py_ssize_t = k * self.W.shape[1]
        if rows.sparse:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                self.move(first + rows.indices[j], tau, clock, share)
        else:
            for j in range(rows.n_features):
                self.move(first + j, tau, clock, share)
        if rows.bias:
            self.move(first + rows.n_features, tau, clock, share)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def turn(self, size: cython.double) -> cython.void:
        """U'U += size² · δδ', δ in v: the rows of U are turned with it, one after the other."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        length: cython.double
        cos: cython.double
        sin: cython.double
        own: cython.double
        N: cython.Py_ssize_t = self.v.shape[0]
        for k in range(self.first, N):
            self.v[k] = size * self.v[k]
        for k in range(self.first, N):
            if self.v[k] == 0.0:
                continue
            length = sqrt(self.Q[k, k] * self.Q[k, k] + self.v[k] * self.v[k])
            cos = self.Q[k, k] / length
            sin = self.v[k] / length
            self.Q[k, k] = length
            self.extreme = max(self.extreme, length)
            for j in range(k + 1, N):
                own = self.Q[k, j]
                self.Q[k, j] = cos * own + sin * self.v[j]
                self.v[j] = cos * self.v[j] - sin * own

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        c: Constraint,
        tau: cython.double,
        n2: cython.double,
        clock: cython.double,
    ) -> cython.void:
        """w and P after a mistake with h = Pδ, n² = δ'Pδ, τ = α/n.

        With h = f·Pδ/s and n² = f·squared, f the scale as far as it goes, what Q and U change by
        has no f in it: h²/(n² · f) for the one, δδ'/squared for the other.
        """
        at: cython.Py_ssize_t
        alpha: cython.double = tau * sqrt(n2)
        share: cython.double
        if self.diagonal:
            share = self.share(alpha) / n2 * (self.squared / n2)
            self.move_row(rows, i, c.up, tau, clock, share)
            if c.down >= 0:
                self.move_row(rows, i, c.down, tau, clock, share)
        else:
            for at in range(self.h.shape[0]):
                self.move(at, tau, clock, 0.0)
                self.v[at] = 0.0
            self.put_row(rows, i, c.up, c.sign)
            if c.down >= 0:
                self.put_row(rows, i, c.down, -1.0)
        self.shrink(alpha)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def share(self, alpha: cython.double) -> cython.double:
        """What P loses of itself along h."""
        return 2.0 * alpha / (1.0 + alpha) if self.classical else min(self.c, _HIGHEST_C)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shrink(self, alpha: cython.double) -> cython.void:
        """U takes up the δ in v, a diagonal has done so; and the scale changes."""
        share: cython.double = self.share(alpha)
        growth: cython.double = log(1.0 - alpha * alpha) if self.classical else -log(1.0 - share)
        if self.diagonal:
            self.log += growth
        else:
            self.turn(sqrt(share / ((1.0 - share) * self.squared)))
            self.log -= growth
        self.c *= self.b
        if self.extreme > _HIGHEST_U or self.extreme < _LOW_Q:
            self.fold()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fold(self) -> cython.void:
        """Bring Q back into range: its largest entry becomes 1, and the scale takes the factor."""
        at: cython.Py_ssize_t
        j: cython.Py_ssize_t
        most: cython.double = 0.0
        n: cython.Py_ssize_t = self.Q.shape[1]
        for j in range(n):
            most = max(most, self.Q[0 if self.diagonal else j, j])
        for at in range(self.Q.shape[0]):
            for j in range(0 if self.diagonal else at, n):
                self.Q[at, j] /= most
                if self.diagonal:
                    self.Q[at, j] = max(self.Q[at, j], _LEAST_Q)
            if not self.diagonal:
                self.Q[at, at] = max(self.Q[at, at], _LEAST_U)
        self.rest = max(self.rest / most, _LEAST_Q if self.diagonal else _LEAST_U)
        self.log += log(most) if self.diagonal else 2.0 * log(most)
        self.extreme = 1.0


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
                if body.diagonal:
                    n2 = body.squared_width(rows, i, c.up, c.down, c.sign)
                else:
                    n2 = body.squared_length(rows, i, c.up, c.down, c.sign)
                if body.classical and n2 > 0.0 and c.r * c.r >= n2:
                    body.empty += 1
                    n2 = 0.0
            tau = run.tau(t, i, c, n2)
            if tau != 0.0:
                body.update(rows, i, c, tau, n2, run.seen + t)
