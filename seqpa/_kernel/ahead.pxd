cimport cython

from seqpa._kernel.competitor cimport Competitor
from seqpa._kernel.sequences cimport Sequences

@cython.final
cdef class Ahead:
    cdef long long[::1] shared
    cdef Py_ssize_t[::1] offsets
    cdef Py_ssize_t[::1] turns
    cdef unsigned char[::1] found
    cdef unsigned char[::1] wrong
    cdef int[::1] paths
    cdef int[::1] guesses
    cdef bint with_guesses
    cdef bint helpers
    cdef Sequences data
    cdef const int[::1] gold
    cdef const int[::1] no_labels
    cdef const long long[::1] order
    cdef long long base
    cdef long long own
    cdef Py_ssize_t alone
    cdef Py_ssize_t penalty
    cdef Py_ssize_t begin
    cdef Py_ssize_t end

    cdef Py_ssize_t take(self) noexcept nogil
    cdef void take_turns(self) noexcept nogil
    cdef bint decode(self, Py_ssize_t position, Competitor by) noexcept nogil
    cdef void open(self, Py_ssize_t position, Py_ssize_t size, Competitor by) noexcept nogil
    cpdef int help(self, Competitor by, double patience) except? -1

cdef Py_ssize_t data_length(Sequences data, Py_ssize_t i) noexcept nogil
