"""The dual problem of a mini-batch, solved exactly: a quadratic over a box.

    maximise  −½ xᵀ(A + diag(ridge))x + bᵀx    where  lower <= x <= upper

A is a Gram matrix, so positive semidefinite, singular perhaps. The method keeps a set F of free
variables between their bounds, where the gradient is 0. The most wrong of the others, j, moves to
where its own gradient is 0 too, and F moves along so that its gradients stay 0: d_F = −A_FF⁻¹ A_Fj.
If a variable of F meets a bound on the way it stays there and leaves F; if j meets its own, it
stays there; otherwise j joins F. Every turn raises the objective, so none comes twice. Where
nothing is bounded this is the LDLᵀ solution of (A + diag(ridge))x = b, a row at a time.

C types of attributes stand in quadratic.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.libc.math import fabs
else:
    from math import fabs

COMPILED = cython.compiled

# What `BoxQP.solve` returns where the problem is singular and without bounds.
GAVE_UP = -1
_GAVE_UP = cython.declare(cython.Py_ssize_t, GAVE_UP)

_FAR = cython.declare(cython.double, 1e100)  # no bound
_FLAT = cython.declare(cython.double, 1e-12)  # of A_jj: what is left of it is rounding
_ROUNDING = cython.declare(cython.double, 1e-15)


@cython.final
@cython.cclass
class BoxQP:
    """The problem and the buffers to solve it with, for up to N variables.

    A      (N, N), the caller's, without the ridge
    b, ridge, lower, upper, x   (N,); "no bound" is ±1e100 or beyond
    L, D   the factor of A_FF: unit lower triangular rows, and the diagonal
    v, d   scratch
    free   (N,) the variables of F, in the order in which they joined
    """

    def __init__(self, A, b, ridge, lower, upper, x, L, vectors, free, is_free):
        self.A = A
        self.b = b
        self.ridge = ridge
        self.lower = lower
        self.upper = upper
        self.x = x
        self.L = L
        self.D, self.v, self.d = vectors
        self.free = free
        self.is_free = is_free
        self.n = self.count = 0

    @cython.ccall
    @cython.nogil
    @cython.exceptval(check=False)
    def solve(self, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Solve for the first n variables into x; returns the number of turns, or
        GAVE_UP."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        turn: cython.Py_ssize_t
        self.n = n
        self.count = 0
        for i in range(n):
            self.x[i] = max(self.lower[i], min(self.upper[i], 0.0))
            self.is_free[i] = 0
        for turn in range(100 + 20 * n):
            j = self.most_wrong()
            if j < 0:
                return turn
            self.advance(j)
        return _GAVE_UP

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def slope(self, i: cython.Py_ssize_t) -> cython.double:
        """The gradient of x_i; 0 where rounding alone could make it what it is."""
        k: cython.Py_ssize_t
        part: cython.double = self.ridge[i] * self.x[i]
        total: cython.double = self.b[i] - part
        size: cython.double = fabs(self.b[i]) + fabs(part)
        for k in range(self.n):
            part = self.A[i, k] * self.x[k]
            total -= part
            size += fabs(part)
        return total if fabs(total) > _ROUNDING * (self.n + 8) * size else 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def most_wrong(self) -> cython.Py_ssize_t:
        """The variable whose gradient points into the box, and steepest; −1 at the optimum."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t = -1
        slope: cython.double
        steepest: cython.double = 0.0
        for i in range(self.n):
            if self.is_free[i]:
                continue
            slope = self.slope(i)
            if (slope > steepest and self.x[i] < self.upper[i]) or (
                -slope > steepest and self.x[i] > self.lower[i]
            ):
                j = i
                steepest = fabs(slope)
        return j

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def curvature(self, j: cython.Py_ssize_t) -> cython.double:
        """A_jj − A_jF A_FF⁻¹ A_Fj, how fast j's gradient falls; 0 if flat. v = L⁻¹ A_Fj."""
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        total: cython.double
        left: cython.double = self.A[j, j] + self.ridge[j]
        whole: cython.double = left
        for p in range(self.count):
            total = self.A[j, self.free[p]]
            for q in range(p):
                total -= self.L[p, q] * self.v[q]
            self.v[p] = total
            left -= total * total / self.D[p]
        left = max(left, self.ridge[j])  # by theory no less
        return left if self.ridge[j] > 0.0 or left > _FLAT * whole else 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def direction(self, sign: cython.double) -> cython.void:
        """d_F = −sign A_FF⁻¹ A_Fj, from v."""
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        for p in range(self.count):
            self.d[p] = -sign * self.v[p] / self.D[p]
        p = self.count - 1
        while p >= 0:
            for q in range(p):
                self.d[q] -= self.L[p, q] * self.d[p]
            p -= 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def advance(self, j: cython.Py_ssize_t) -> cython.void:
        """Move j, and F with it, until j has joined F or met a bound."""
        p: cython.Py_ssize_t
        i: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        step: cython.double
        distance: cython.double
        curvature: cython.double
        slope: cython.double = self.slope(j)
        sign: cython.double = 1.0 if slope > 0.0 else -1.0
        slope = fabs(slope)
        while True:
            curvature = self.curvature(j)
            self.direction(sign)
            step = slope / curvature if curvature > 0.0 else _FAR
            distance = self.upper[j] - self.x[j] if sign > 0.0 else self.x[j] - self.lower[j]
            stop = -1
            if distance <= step:
                stop = self.count
                step = distance
            for p in range(self.count):
                i = self.free[p]
                if self.d[p] < 0.0:
                    distance = (self.lower[i] - self.x[i]) / self.d[p]
                elif self.d[p] > 0.0:
                    distance = (self.upper[i] - self.x[i]) / self.d[p]
                else:
                    continue
                if distance < step:
                    stop = p
                    step = max(distance, 0.0)
            if step >= _FAR:
                return  # flat and without a bound: callers give a ridge or bounds
            self.x[j] += sign * step
            for p in range(self.count):
                i = self.free[p]
                self.x[i] = max(self.lower[i], min(self.upper[i], self.x[i] + step * self.d[p]))
            slope -= step * curvature
            if stop == -1:  # j joins F
                for p in range(self.count):
                    self.L[self.count, p] = self.v[p] / self.D[p]
                self.D[self.count] = curvature
                self.free[self.count] = j
                self.is_free[j] = 1
                self.count += 1
                return
            if stop == self.count:
                self.x[j] = self.upper[j] if sign > 0.0 else self.lower[j]
                return
            i = self.free[stop]
            self.x[i] = self.lower[i] if self.d[stop] < 0.0 else self.upper[i]
            self.release(stop)
            if slope <= 0.0:
                return

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def release(self, p: cython.Py_ssize_t) -> cython.void:
        """Take the p-th variable out of F: row and column p leave LDLᵀ, and what column p gave to
        the rows below comes back as a rank-one update (Gill, Golub, Murray and Saunders 1974)."""
        i: cython.Py_ssize_t
        q: cython.Py_ssize_t
        alpha: cython.double = self.D[p]
        beta: cython.double
        z: cython.double
        new: cython.double
        self.is_free[self.free[p]] = 0
        self.count -= 1
        for i in range(p, self.count):  # rows and columns behind p move up
            self.free[i] = self.free[i + 1]
            self.v[i] = self.L[i + 1, p]
            self.D[i] = self.D[i + 1]
            for q in range(p):
                self.L[i, q] = self.L[i + 1, q]
            for q in range(p, i):
                self.L[i, q] = self.L[i + 1, q + 1]
        for q in range(p, self.count):
            z = self.v[q]
            new = self.D[q] + alpha * z * z
            beta = alpha * z / new
            alpha = alpha * self.D[q] / new
            self.D[q] = new
            for i in range(q + 1, self.count):
                self.v[i] -= z * self.L[i, q]
                self.L[i, q] += beta * self.v[i]
