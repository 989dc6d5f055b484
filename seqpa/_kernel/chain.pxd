cimport cython

from seqpa._kernel.sequences cimport Scratch, Sequences
from seqpa._kernel.store cimport Store

@cython.final
cdef class Chain:
    cdef Store store
    cdef Store pair_store
    cdef Py_ssize_t n_labels
    cdef float[:, ::1] trans
    cdef float[::1] high
    cdef float[::1] low
    cdef const float[::1] first
    cdef const float[::1] last
    cdef bint prune
    cdef const unsigned char[::1] open
    cdef const int[::1] narrow_indptr
    cdef const int[::1] narrow
    cdef bint has_narrow
    cdef bint all_open

    cpdef bound_rows(self)
    cpdef read_transitions(self, const float[:, ::1] weights, const double[:, ::1] sums, double T, const float[:, ::1] penalties)
    cdef void bound_row(self, Py_ssize_t p) noexcept nogil
    cdef void transition(self, Sequences data, Py_ssize_t t, Scratch work) noexcept nogil
    cdef void mask(self, int label, float[::1] em) noexcept nogil
    cdef float reach(self, Py_ssize_t t, Py_ssize_t p, Scratch work) noexcept nogil
    cdef void keep(self, Py_ssize_t t, float bar, Scratch work) noexcept nogil
    cdef void relax(self, Py_ssize_t t, Scratch work) noexcept nogil
    cdef void relax_pairs(self, Py_ssize_t t, Scratch work) noexcept nogil
    cdef Py_ssize_t before(self, bint pairs, Py_ssize_t t, Py_ssize_t y, Scratch work) noexcept nogil
    cdef void augment(self, int label, float scale, Scratch work) noexcept nogil
    cdef void emission(self, Sequences data, Py_ssize_t begin, Py_ssize_t t, Scratch work) noexcept nogil
    cdef bint viterbi(self, Sequences data, Py_ssize_t i, const int[::1] given, float scale, Scratch work) noexcept nogil
    cdef double step_score(self, Sequences data, Py_ssize_t t, Py_ssize_t p, Py_ssize_t y) noexcept nogil
    cpdef Py_ssize_t decode(self, Sequences data, Py_ssize_t begin, Py_ssize_t end, const int[::1] fixed, Scratch work, int[::1] out) except? -2
    cpdef double score(self, Sequences data, Py_ssize_t i, const int[::1] path, Scratch work) except? -1
