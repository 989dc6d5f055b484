cimport cython

from seqpa._kernel.ahead cimport Ahead
from seqpa._kernel.chain cimport Chain
from seqpa._kernel.competitor cimport Competitor
from seqpa._kernel.sequences cimport Sequences
from seqpa._kernel.store cimport SparseDelta

@cython.final
cdef class Trainer:
    cdef Chain chain
    cdef Competitor own
    cdef int update
    cdef Ahead ahead
    cdef bint looks_ahead
    cdef Py_ssize_t block
    cdef double expected
    cdef int step
    cdef double C
    cdef float[::1] trans
    cdef double[::1] trans_sums
    cdef float[::1] trans_gains
    cdef SparseDelta delta
    cdef SparseDelta pair_delta
    cdef SparseDelta trans_delta
    cdef int[::1] right
    cdef bint averaging
    cdef bint second_order
    cdef double[::1] clock
    cdef Py_ssize_t position
    cdef long long mistakes
    cdef long long wrong_tokens
    cdef long long updates
    cdef double total_cost
    cdef double loss
    cdef double squared_loss
    cdef double own_C
    cdef double norm2
    cdef double score
    cdef double rate
    cdef Py_ssize_t checked
    cdef Py_ssize_t fetched

    cdef bint reserve(self, Sequences data, Py_ssize_t begin, Py_ssize_t n, int[::1] path) noexcept nogil
    cdef void fetch(self, Sequences data, const int[::1] gold, Py_ssize_t position, bint rows) noexcept nogil
    cdef void fetch_next(self, Sequences data, const int[::1] gold, bint rows) noexcept nogil
    cdef void collect(self, Sequences data, Py_ssize_t begin, Py_ssize_t n, int[::1] path) noexcept nogil
    cdef void measure(self, SparseDelta delta, float[::1] weights, float[::1] gains) noexcept nogil
    cdef void apply(self, SparseDelta delta, double tau, float[::1] weights, double[::1] sums, float[::1] gains) noexcept nogil
    cdef void measure_all(self) noexcept nogil
    cdef void apply_all(self, double tau) noexcept nogil
    cdef void find_right(self, Sequences data, Py_ssize_t i, const int[::1] gold) noexcept nogil
    cdef Py_ssize_t block_size(self) noexcept nogil
    cdef bint bring(self, Sequences data, Py_ssize_t i, const int[::1] gold, const int[::1] no_labels) noexcept nogil
    cpdef int epoch(self, Sequences data, const int[::1] gold, const double[::1] importance, const long long[::1] order, Py_ssize_t stop, bint given_path, double given_cost, const int[::1] no_labels, double[:, ::1] record) except? -1
