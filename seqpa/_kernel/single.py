"""One example at a time: the buffers of a pass over one row, kept from call to call.

A pass over many rows makes its buffers anew, which takes longer than to learn from one row. A
`Single` keeps them: an example is copied into its row, and `vectors.linear_pass` or
`one_vs_rest_pass` goes over that row. Examples are dicts of named features, CSR rows or dense rows;
the first two are learned by weights that lie as [features, labels], the last by [labels, features].

This module is compiled without -ffinite-math-only: it sees values before anybody has checked them.
The callers in `seqpa.core` check shapes and types; C types of attributes stand in single.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.vectors import linear_pass, one_vs_rest_pass
else:
    from seqpa._kernel.vectors import linear_pass, one_vs_rest_pass

COMPILED = cython.compiled

# What `read` and `read_row` return instead of the number of entries.
TOO_LONG = -1
TOO_WIDE = -2
NOT_FINITE = -3
NOT_SORTED = -4
_TOO_LONG = cython.declare(cython.Py_ssize_t, TOO_LONG)
_TOO_WIDE = cython.declare(cython.Py_ssize_t, TOO_WIDE)
_NOT_FINITE = cython.declare(cython.Py_ssize_t, NOT_FINITE)
_NOT_SORTED = cython.declare(cython.Py_ssize_t, NOT_SORTED)
_LARGEST = cython.declare(cython.double, 1.7976931348623157e308)


@cython.final
@cython.cclass
class Single:
    """A row, what is right for it, and the weights that learn from it.

    rows      the row, as the passes read it: data, indices and indptr are its arrays, or dense
    problem   which constraint; target is its array. One-vs-rest where `alone`, with the margin
              `margin`
    run       the step and the sums; C is its array
    w, c      the weights and scratch, as in the passes
    """

    def __init__(self, arrays, rows, problem, alone, margin, run, w, c):
        self.data = arrays["data"]
        self.indices = arrays["indices"]
        self.indptr = arrays["indptr"]
        self.dense = arrays["dense"]
        self.target = arrays["target"]
        self.C = arrays["C"]
        self.norms = arrays["norms"]
        self.order = arrays["order"]
        self.rows = rows
        self.problem = problem
        self.alone = alone
        self.margin = margin
        self.run = run
        self.w = w
        self.c = c

    @cython.ccall
    def read(self, x: dict, columns: dict, learn: cython.bint) -> cython.Py_ssize_t:
        """A dict becomes the row; returns how many entries it has, or why it has none.

        Features that `columns` does not know get the next number if `learn`, and are left out
        otherwise, as a value of 0 always is. What is no number raises TypeError or ValueError. The
        caller takes new numbers back where a row is refused.
        """
        n: cython.Py_ssize_t = 0
        place: cython.Py_ssize_t
        value: cython.double
        total: cython.double = 1.0 if self.rows.bias else 0.0
        if len(x) > self.data.shape[0]:
            return _TOO_LONG
        for name, given in x.items():
            value = given
            if value == 0.0:
                continue
            total = total + value * value
            found = columns.get(name)
            if found is None:
                if not learn:
                    continue
                found = len(columns)
                columns[name] = found
            place = found
            if place < 0 or place >= self.rows.n_features:
                return _TOO_WIDE
            self.indices[n] = cython.cast(cython.int, place)
            self.data[n] = value
            n += 1
        self.indptr[1] = n
        self.norms[0] = total
        return n if total <= _LARGEST else _NOT_FINITE

    @cython.ccall
    def read_row(
        self, data: cython.const[cython.double][::1], indices: cython.const[cython.int][::1]
    ) -> cython.Py_ssize_t:
        """The entries of one CSR row become the row; returns how many, or why not."""
        j: cython.Py_ssize_t
        n: cython.Py_ssize_t = data.shape[0]
        place: cython.Py_ssize_t
        last: cython.Py_ssize_t = -1
        total: cython.double = 1.0 if self.rows.bias else 0.0
        if n > self.data.shape[0]:
            return _TOO_LONG
        if indices.shape[0] != n:
            return _NOT_SORTED
        for j in range(n):
            place = indices[j]
            if place <= last:
                return _NOT_SORTED
            if place >= self.rows.n_features:
                return _TOO_WIDE
            last = place
            total = total + data[j] * data[j]
            self.indices[j] = indices[j]
            self.data[j] = data[j]
        self.indptr[1] = n
        self.norms[0] = total
        return n if total <= _LARGEST else _NOT_FINITE

    @cython.ccall
    def read_dense(self, x: cython.const[cython.double][:, ::1]) -> cython.Py_ssize_t:
        """The one row of a dense matrix becomes the row."""
        j: cython.Py_ssize_t
        total: cython.double = 1.0 if self.rows.bias else 0.0
        if x.shape[1] != self.rows.n_features or x.shape[0] != 1:
            return _TOO_WIDE
        for j in range(self.rows.n_features):
            total = total + x[0, j] * x[0, j]
            self.dense[0, j] = x[0, j]
        self.norms[0] = total
        return x.shape[1] if total <= _LARGEST else _NOT_FINITE

    @cython.ccall
    def learn(self, target: cython.double, C: cython.double, clock: cython.double):
        """One pass over the row, after `clock` examples."""
        self.target[0] = target
        self.C[0] = C
        self.run.begin(clock)
        if self.alone:
            one_vs_rest_pass(
                self.rows,
                self.target,
                self.margin,
                self.run,
                self.norms,
                self.order,
                self.w,
                self.c,
            )
        else:
            linear_pass(self.rows, self.problem, self.run, self.norms, self.order, self.w, self.c)

    @cython.ccall
    def look(self, clock: cython.double) -> cython.Py_ssize_t:
        """The scores of the row; returns the label with the highest, the first of equals.

        With averaging and a clock above 0 they are those of the mean, w − acc/clock (`linear_pass`
        says why), for CSR rows.
        """
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        best: cython.Py_ssize_t = 0
        K: cython.Py_ssize_t = self.w.n_labels
        self.w.scores(self.rows, 0, self.c)
        if self.w.averaging and clock > 0.0:
            for k in range(K):
                for j in range(self.indptr[1]):
                    self.c.s[k] -= self.data[j] * self.w.V[self.indices[j], K + k] / clock
                if self.rows.bias:
                    self.c.s[k] -= self.w.V[self.rows.n_features, K + k] / clock
        for k in range(1, K):
            if self.c.s[k] > self.c.s[best]:
                best = k
        return best

    @cython.ccall
    def score(self, k: cython.Py_ssize_t) -> cython.double:
        """The score of label k, as `look` left it."""
        return self.c.s[k]
