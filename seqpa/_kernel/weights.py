"""Examples, the weights that score them, and what one of them asks for.

    Rows        the examples x_i: dense or CSR, with an optional constant 1 behind the last feature
    Constraint  w·δ >= margin, as a problem fills it in from the scores of an example
    Weights     one weight vector (binary, regression) or one for each label (multi-prototype), and
                the sums that lazy averaging needs

They are passed to each other as objects: a memoryview as an argument would be copied, all 200 bytes
of its shape and strides, at every call.
The callers in `seqpa.core` check shapes, types and finiteness; nothing is checked here. C types of
attributes stand in weights.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.prefetch import prefetch

COMPILED = cython.compiled

# The weights of this many features ahead are prefetched: they lie scattered over memory, and arrive
# while others are worked on.
_AHEAD = cython.declare(cython.Py_ssize_t, 24)

# Relative to the distance: what is no more than this beyond the ball lies on it. A step ends on the
# ball but for the rounding of a sum of squares, which is not the same for dense and CSR rows, nor
# for all compilers; taken for a loss, it would be learned from again.
_ON_THE_BALL = cython.declare(cython.double, 1e-14)


@cython.final
@cython.cclass
class Rows:
    """The examples, as rows of a dense matrix or of a CSR one; never copied.

    `bias` adds a constant feature 1 behind the last: it is inside every norm (Mini-batch PA,
    Eq. 5).
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
    middle    of the scores of up and down, where both are there; its own step leaves it where it is
    q         where a step moves several labels' vectors: by q_k x each
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
        self.r = self.score = self.cost = self.sides = self.middle = 0.0
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
        """PA 2006, Eq. 21: −‖x − w‖ >= −ε, along δ = (x − w)/‖x − w‖, whose norm is 1."""
        self.score = -distance
        self.r = distance - epsilon
        if self.r > 0.0 and self.r <= _ON_THE_BALL * distance:
            self.r = 0.0
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
        self.flat = V.reshape(-1)  # the same in one dimension, where speed matters
        self.width = V.shape[1]
        self.n_labels = n_labels
        self.by_feature = by_feature
        self.averaging = V.shape[1 if by_feature else 0] > n_labels

    def count(self):
        """K, the number of labels."""
        return self.n_labels

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
        """s for a CSR row, eight labels at a time, then two; a last one with its neighbour.

        All are summed in the same order: labels with the same weights have the same score.
        On the way the weights of the rows behind this one are prefetched. They come next, since
        callers that shuffle CSR rows first copy them into that order.
        """
        k: cython.Py_ssize_t = 0
        while k + 8 <= self.n_labels:
            k += self.score_eight(rows, i, k, c)
        while k + 2 <= self.n_labels:
            self.score_two(rows, i, k, c)
            k += 2
        if k < self.n_labels:
            self.score_two(rows, i, k - 1, c)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score_eight(
        self, rows: Rows, i: cython.Py_ssize_t, k: cython.Py_ssize_t, c: Constraint
    ) -> cython.Py_ssize_t:
        """s[k:k+8], in variables of their own: the compiler makes vectors of them, which stay in
        registers over all features of the row.

        It does so because `prefetch` keeps it from making vectors of the indices, which is slower.
        Where only two labels would be left after these eight, they are done too. Returns the number
        of labels done.
        """
        j: cython.Py_ssize_t
        at: cython.Py_ssize_t
        x: cython.double
        end: cython.Py_ssize_t = rows.indptr[i + 1]
        ahead: cython.Py_ssize_t = min(_AHEAD, rows.indices.shape[0] - end)
        sums: cython.Py_ssize_t = self.n_labels if self.averaging else 0
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        s2: cython.double = 0.0
        s3: cython.double = 0.0
        s4: cython.double = 0.0
        s5: cython.double = 0.0
        s6: cython.double = 0.0
        s7: cython.double = 0.0
        s8: cython.double = 0.0
        s9: cython.double = 0.0
        ten: cython.bint = self.n_labels - k == 10 or self.n_labels - k == 11
        last: cython.Py_ssize_t = sums + (9 if ten else 7)
        for j in range(rows.indptr[i], end):
            if cython.compiled:
                at = rows.indices[j + ahead] * self.width + k
                with cython.boundscheck(False):  # nothing is read: it may be behind the end
                    prefetch(cython.address(self.flat[at]))
                    prefetch(cython.address(self.flat[at + sums]))
                    prefetch(cython.address(self.flat[at + last]))
            at = rows.indices[j] * self.width + k
            x = rows.data[j]
            s0 = s0 + x * self.flat[at]
            s1 = s1 + x * self.flat[at + 1]
            s2 = s2 + x * self.flat[at + 2]
            s3 = s3 + x * self.flat[at + 3]
            s4 = s4 + x * self.flat[at + 4]
            s5 = s5 + x * self.flat[at + 5]
            s6 = s6 + x * self.flat[at + 6]
            s7 = s7 + x * self.flat[at + 7]
            if ten:
                s8 = s8 + x * self.flat[at + 8]
                s9 = s9 + x * self.flat[at + 9]
        c.s[k] = s0
        c.s[k + 1] = s1
        c.s[k + 2] = s2
        c.s[k + 3] = s3
        c.s[k + 4] = s4
        c.s[k + 5] = s5
        c.s[k + 6] = s6
        c.s[k + 7] = s7
        if not ten:
            return 8
        c.s[k + 8] = s8
        c.s[k + 9] = s9
        return 10

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score_two(
        self, rows: Rows, i: cython.Py_ssize_t, k: cython.Py_ssize_t, c: Constraint
    ) -> cython.void:
        """s[k] and s[k + 1]."""
        j: cython.Py_ssize_t
        at: cython.Py_ssize_t
        end: cython.Py_ssize_t = rows.indptr[i + 1]
        ahead: cython.Py_ssize_t = min(_AHEAD, rows.indices.shape[0] - end)
        sums: cython.Py_ssize_t = self.n_labels if self.averaging else 0
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        for j in range(rows.indptr[i], end):
            if cython.compiled:
                at = rows.indices[j + ahead] * self.width + k + 1
                with cython.boundscheck(False):
                    prefetch(cython.address(self.flat[at]))
                    prefetch(cython.address(self.flat[at + sums]))
            at = rows.indices[j] * self.width + k
            s0 = s0 + rows.data[j] * self.flat[at]
            s1 = s1 + rows.data[j] * self.flat[at + 1]
        c.s[k] = s0
        c.s[k + 1] = s1

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
    def announce(self, rows: Rows, i: cython.Py_ssize_t) -> cython.void:
        """Prefetch the weights of CSR row i of one label, and their sums.

        To be called from other modules only: where the compiler can see that a call does nothing
        but prefetch, it removes the call.
        """
        j: cython.Py_ssize_t
        if cython.compiled:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                prefetch(cython.address(self.V[rows.indices[j], 0]))

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
        """w += τδ, after `clock` examples; of a CSR row for both labels at once."""
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
        """Row k of V, weights of a label or its averaging sum, += amount · x_i."""
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
        """w_k += q_k x_i for all labels, after `clock` examples; of a CSR row eight at a time."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t = 0
        K: cython.Py_ssize_t = self.n_labels
        if rows.sparse:
            while k + 8 <= K:
                k += self.add_eight(rows, i, k, c, clock)
            while k + 2 <= K:
                self.add_two(rows, i, k, c, clock)
                k += 2
            if rows.bias:
                for j in range(k):
                    self.V[rows.n_features, j] += c.q[j]
                    if self.averaging:
                        self.V[rows.n_features, K + j] += clock * c.q[j]
        while k < K:
            if c.q[k] != 0.0:
                self.add(rows, i, k, c.q[k], clock)
            k += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_eight(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        k: cython.Py_ssize_t,
        c: Constraint,
        clock: cython.double,
    ) -> cython.Py_ssize_t:
        """w_k to w_k+7 += q x_i, and their sums, for a CSR row, without the bias.

        Two more are done as in `score_eight`. Returns the number of labels done. All eight are
        read before one is written: then the compiler makes vectors of them. Where there are many
        labels most do not move.
        """
        j: cython.Py_ssize_t
        at: cython.Py_ssize_t
        x: cython.double
        q0: cython.double = c.q[k]
        q1: cython.double = c.q[k + 1]
        q2: cython.double = c.q[k + 2]
        q3: cython.double = c.q[k + 3]
        q4: cython.double = c.q[k + 4]
        q5: cython.double = c.q[k + 5]
        q6: cython.double = c.q[k + 6]
        q7: cython.double = c.q[k + 7]
        q8: cython.double = 0.0
        q9: cython.double = 0.0
        d0: cython.double
        d1: cython.double
        d2: cython.double
        d3: cython.double
        d4: cython.double
        d5: cython.double
        d6: cython.double
        d7: cython.double
        d8: cython.double
        d9: cython.double
        v0: cython.double
        v1: cython.double
        v2: cython.double
        v3: cython.double
        v4: cython.double
        v5: cython.double
        v6: cython.double
        v7: cython.double
        ten: cython.bint = self.n_labels - k == 10 or self.n_labels - k == 11
        if ten:
            q8 = c.q[k + 8]
            q9 = c.q[k + 9]
        elif q0 == q1 == q2 == q3 == 0.0 and q4 == q5 == q6 == q7 == 0.0:
            return 8
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            at = rows.indices[j] * self.width + k
            x = rows.data[j]
            d0 = x * q0
            d1 = x * q1
            d2 = x * q2
            d3 = x * q3
            d4 = x * q4
            d5 = x * q5
            d6 = x * q6
            d7 = x * q7
            v0 = self.flat[at] + d0
            v1 = self.flat[at + 1] + d1
            v2 = self.flat[at + 2] + d2
            v3 = self.flat[at + 3] + d3
            v4 = self.flat[at + 4] + d4
            v5 = self.flat[at + 5] + d5
            v6 = self.flat[at + 6] + d6
            v7 = self.flat[at + 7] + d7
            self.flat[at] = v0
            self.flat[at + 1] = v1
            self.flat[at + 2] = v2
            self.flat[at + 3] = v3
            self.flat[at + 4] = v4
            self.flat[at + 5] = v5
            self.flat[at + 6] = v6
            self.flat[at + 7] = v7
            if ten:
                d8 = x * q8
                d9 = x * q9
                v0 = self.flat[at + 8] + d8
                v1 = self.flat[at + 9] + d9
                self.flat[at + 8] = v0
                self.flat[at + 9] = v1
                if self.averaging:
                    v0 = self.flat[at + self.n_labels + 8] + clock * d8
                    v1 = self.flat[at + self.n_labels + 9] + clock * d9
                    self.flat[at + self.n_labels + 8] = v0
                    self.flat[at + self.n_labels + 9] = v1
            if self.averaging:
                at += self.n_labels
                v0 = self.flat[at] + clock * d0
                v1 = self.flat[at + 1] + clock * d1
                v2 = self.flat[at + 2] + clock * d2
                v3 = self.flat[at + 3] + clock * d3
                v4 = self.flat[at + 4] + clock * d4
                v5 = self.flat[at + 5] + clock * d5
                v6 = self.flat[at + 6] + clock * d6
                v7 = self.flat[at + 7] + clock * d7
                self.flat[at] = v0
                self.flat[at + 1] = v1
                self.flat[at + 2] = v2
                self.flat[at + 3] = v3
                self.flat[at + 4] = v4
                self.flat[at + 5] = v5
                self.flat[at + 6] = v6
                self.flat[at + 7] = v7
        return 10 if ten else 8

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_two(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        k: cython.Py_ssize_t,
        c: Constraint,
        clock: cython.double,
    ) -> cython.void:
        """The same for w_k and w_k+1."""
        j: cython.Py_ssize_t
        at: cython.Py_ssize_t
        x: cython.double
        q0: cython.double = c.q[k]
        q1: cython.double = c.q[k + 1]
        d0: cython.double
        d1: cython.double
        v0: cython.double
        v1: cython.double
        for j in range(rows.indptr[i], rows.indptr[i + 1]):
            at = rows.indices[j] * self.width + k
            x = rows.data[j]
            d0 = x * q0
            d1 = x * q1
            v0 = self.flat[at] + d0
            v1 = self.flat[at + 1] + d1
            self.flat[at] = v0
            self.flat[at + 1] = v1
            if self.averaging:
                at += self.n_labels
                v0 = self.flat[at] + clock * d0
                v1 = self.flat[at + 1] + clock * d1
                self.flat[at] = v0
                self.flat[at + 1] = v1
