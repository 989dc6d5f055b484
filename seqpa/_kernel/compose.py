"""Rows of weights added up: what several features that always come together give to each label."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

COMPILED = cython.compiled


@cython.ccall
@cython.exceptval(-1, check=True)
def add_up(
    members: cython.const[cython.int][:, ::1],
    rows: cython.const[cython.int][:, ::1],
    arena: cython.const[cython.float][::1],
    n_labels: cython.Py_ssize_t,
    dense_at: cython.Py_ssize_t,
    sums: cython.double[::1],
    new_rows: cython.int[:, ::1],
    new_arena: cython.float[::1],
    at: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """For each i: new_rows[members[i, 0]] = the sum of the rows of members[i], -1 being none.

    Rows are as `Store` has them for tagging: a start in the arena and a number of sparse entries
    (label, weight), or -1 for a dense row, which a sum of more than dense_at labels becomes. It is
    exact up to one rounding at the end. The new rows are written from `at` on, where new_arena is
    zero and long enough if all of them are dense. Returns their end. `sums` is scratch, as long as
    a dense row.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    f: cython.Py_ssize_t
    e: cython.Py_ssize_t
    size: cython.Py_ssize_t
    count: cython.Py_ssize_t
    with cython.nogil:
        for i in range(members.shape[0]):
            for k in range(n_labels):
                sums[k] = 0.0
            for j in range(members.shape[1]):
                f = members[i, j]
                if f >= 0:
                    e = rows[f, 0]
                    size = rows[f, 1]
                    if size < 0:
                        for k in range(n_labels):
                            sums[k] += arena[e + k]
                    else:
                        for k in range(size):
                            sums[cython.cast(cython.Py_ssize_t, arena[e + 2 * k])] += arena[
                                e + 2 * k + 1
                            ]
            count = 0
            for k in range(n_labels):
                count += cython.cast(cython.float, sums[k]) != 0.0
            f = members[i, 0]
            new_rows[f, 0] = at
            new_rows[f, 1] = count if count <= dense_at else -1
            if count > dense_at:
                for k in range(n_labels):
                    new_arena[at + k] = sums[k]
                at += sums.shape[0]
            else:
                for k in range(n_labels):
                    if cython.cast(cython.float, sums[k]) != 0.0:
                        new_arena[at] = k
                        new_arena[at + 1] = sums[k]
                        at += 2
    return at
