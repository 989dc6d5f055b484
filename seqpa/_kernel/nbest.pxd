cimport cython

from seqpa._kernel.chain cimport Chain
from seqpa._kernel.sequences cimport Scratch, Sequences

@cython.final
cdef class NBest:
    cdef Chain chain
    cdef Sequences data
    cdef Py_ssize_t begin
    cdef const int[::1] fixed
    cdef Scratch work
    cdef double[:, ::1] em
    cdef double[:, ::1] forward
    cdef int[:, ::1] back
    cdef int[:, ::1] paths
    cdef double[::1] scores
    cdef Py_ssize_t[::1] limit
    cdef Py_ssize_t[::1] branch_at
    cdef Py_ssize_t[::1] branch_label
    cdef double[::1] branch_score
    cdef Py_ssize_t n
    cdef Py_ssize_t n_labels

    cdef void into(self, Py_ssize_t t) noexcept nogil
    cdef void emit(self) noexcept nogil
    cdef void go_forward(self) noexcept nogil
    cpdef marginals(self, double[:, ::1] out)
    cdef bint comes_first(self, Py_ssize_t r, Py_ssize_t t, Py_ssize_t y, Py_ssize_t other_r, Py_ssize_t other_t, Py_ssize_t other_y) noexcept nogil
    cdef void find_branch(self, Py_ssize_t r, double bar, Py_ssize_t bar_at, Py_ssize_t bar_label) noexcept nogil
    cdef void take(self, Py_ssize_t found, Py_ssize_t r, Py_ssize_t t, Py_ssize_t y, double score) noexcept nogil
    cpdef Py_ssize_t search(self) except? -1
