cimport cython

from seqpa._kernel.chain cimport Chain
from seqpa._kernel.max_loss cimport MaxLoss
from seqpa._kernel.sequences cimport Scratch, Sequences

@cython.final
cdef class Competitor:
    cdef Chain chain
    cdef int update
    cdef MaxLoss max_loss
    cdef int cost_kind
    cdef const float[:, ::1] cost
    cdef int[::1] guess
    cdef int[::1] rival
    cdef Scratch work

    cdef double known_cost(self, Py_ssize_t begin, Py_ssize_t n, const int[::1] gold, int[::1] path) noexcept nogil
    cdef Py_ssize_t count_wrong(self, Py_ssize_t begin, Py_ssize_t n, const int[::1] gold, int[::1] path) noexcept nogil
    cdef bint find(self, Sequences data, Py_ssize_t i, const int[::1] gold, const int[::1] no_labels) noexcept nogil
    cdef double value_of(self, Sequences data, Py_ssize_t i, const int[::1] gold, int[::1] path) noexcept nogil
