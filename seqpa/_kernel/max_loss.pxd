cimport cython

from seqpa._kernel.chain cimport Chain
from seqpa._kernel.sequences cimport Scratch, Sequences

@cython.final
cdef class MaxLoss:
    cdef double root
    cdef const long long[::1] worst
    cdef int[::1] path
    cdef double[:, ::1] after
    cdef double[:, ::1] table
    cdef Py_ssize_t[::1] first
    cdef Py_ssize_t[::1] low
    cdef Py_ssize_t[::1] count
    cdef double[::1] into
    cdef double value
    cdef double score
    cdef Py_ssize_t cost

    cdef Py_ssize_t cost_of(self, int given, Py_ssize_t y, Scratch work) noexcept nogil
    cdef Py_ssize_t try_scale(self, Chain chain, Sequences data, Py_ssize_t i, const int[::1] given, double scale, Scratch work) noexcept nogil
    cdef bint find(self, Chain chain, Sequences data, Py_ssize_t i, const int[::1] given, Scratch work) noexcept nogil
    cdef bint bracket(self, Chain chain, Sequences data, Py_ssize_t i, const int[::1] given, Scratch work) noexcept nogil
    cdef void look_back(self, Chain chain, Sequences data, Py_ssize_t i, const int[::1] given, double scale, Scratch work) noexcept nogil
    cdef bint open_rows(self, Py_ssize_t t, Py_ssize_t first, Py_ssize_t count) noexcept nogil
    cdef void trim(self, Py_ssize_t t, Py_ssize_t n_labels) noexcept nogil
    cdef bint is_empty(self, Py_ssize_t row, Py_ssize_t n_labels) noexcept nogil
    cdef bint search(self, Chain chain, Sequences data, Py_ssize_t i, const int[::1] given, double scale, double offset, Scratch work) noexcept nogil
    cdef void trace(self, Chain chain, Sequences data, Py_ssize_t i, const int[::1] given, Py_ssize_t label, Scratch work) noexcept nogil
    cpdef int run(self, Chain chain, Sequences data, Py_ssize_t i, const int[::1] given, Scratch work) except? -1
    cpdef double most(self, Chain chain, Sequences data, Py_ssize_t i, const int[::1] given, double scale, Scratch work) except? -1e300
