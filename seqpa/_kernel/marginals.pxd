cimport cython

from seqpa._kernel.chain cimport Chain
from seqpa._kernel.sequences cimport Scratch, Sequences

@cython.final
cdef class Marginals:
    cdef Chain chain
    cdef Scratch work
    cdef double scale
    cdef const int[::1] fixed
    cdef double[:, ::1] em
    cdef double[:, ::1] weight
    cdef double[:, ::1] forward
    cdef double[:, ::1] backward
    cdef double[::1] forward_log
    cdef double[::1] backward_log
    cdef double[:, ::1] steps
    cdef double[:, ::1] back_steps
    cdef double[:, ::1] log_steps
    cdef double[::1] tops
    cdef double[::1] into
    cdef double[::1] other
    cdef double[::1] terms
    cdef Py_ssize_t n
    cdef Py_ssize_t n_labels
    cdef Py_ssize_t width
    cdef double log_z
    cdef double steepest
    cdef bint scaled
    cdef bint shallow

    cdef double scaled_score(self, double score) noexcept nogil
    cdef bint fill_steps(self) noexcept nogil
    cdef void emit(self, Sequences data, Py_ssize_t i) noexcept nogil
    cdef bint weigh(self) noexcept nogil
    cdef double normalise(self, double[:, ::1] sums, Py_ssize_t t) noexcept nogil
    cdef bint go_in_numbers(self) noexcept nogil
    cdef void step_into(self, Sequences data, Py_ssize_t i, Py_ssize_t t) noexcept nogil
    cdef double log_sum(self, double[::1] terms, Py_ssize_t n) noexcept nogil
    cdef void go_in_logs(self, Sequences data, Py_ssize_t i) noexcept nogil
    cdef bint look(self, Sequences data, Py_ssize_t i) noexcept nogil
    cdef double before(self, Py_ssize_t t, Py_ssize_t y) noexcept nogil
    cdef double behind(self, Py_ssize_t t, Py_ssize_t y) noexcept nogil
    cdef void write(self, Py_ssize_t t, double[::1] out) noexcept nogil
    cpdef Py_ssize_t tokens(self, Sequences data, Py_ssize_t begin, Py_ssize_t end, double[:, ::1] out) except? -2
    cpdef double likelihood(self, Sequences data, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t every, const int[::1] gold) except? -1
    cpdef begin_sentence(self, Sequences data, Py_ssize_t i)
    cpdef double sequence(self, Sequences data, Py_ssize_t i, const int[::1] path) except? -1
    cpdef double entropy(self, Sequences data, Py_ssize_t i) except? -1
    cpdef double span(self, Sequences data, Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end, int kind, const int[::1] kinds, const unsigned char[::1] first, const unsigned char[:, ::1] starts, const unsigned char[:, ::1] links) except? -1
