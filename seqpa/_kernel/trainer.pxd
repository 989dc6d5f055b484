cimport cython

from seqpa._kernel.chain cimport Chain
from seqpa._kernel.max_loss cimport MaxLoss
from seqpa._kernel.sequences cimport Scratch, Sequences
from seqpa._kernel.store cimport SparseDelta

@cython.final
cdef class Trainer:
    cdef Chain chain
    cdef int update
    cdef MaxLoss max_loss
    cdef int step
    cdef double C
    cdef int cost_kind
    cdef const float[:, ::1] cost
    cdef float[::1] trans
    cdef double[::1] trans_sums
    cdef float[::1] trans_gains
    cdef SparseDelta delta
    cdef SparseDelta pair_delta
    cdef SparseDelta trans_delta
    cdef int[::1] right
    cdef int[::1] guess
    cdef int[::1] rival
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

    cdef bint reserve(self, Sequences data, Py_ssize_t begin, Py_ssize_t n, int[::1] path) noexcept nogil
    cdef void collect(self, Sequences data, Py_ssize_t begin, Py_ssize_t n, int[::1] path) noexcept nogil
    cdef void measure(self, SparseDelta delta, float[::1] weights, float[::1] gains) noexcept nogil
    cdef void apply(self, SparseDelta delta, double tau, float[::1] weights, double[::1] sums, float[::1] gains) noexcept nogil
    cdef void measure_all(self) noexcept nogil
    cdef void apply_all(self, double tau) noexcept nogil
    cdef double known_cost(self, Py_ssize_t begin, Py_ssize_t n, const int[::1] gold, int[::1] path) noexcept nogil
    cdef Py_ssize_t count_wrong(self, Py_ssize_t begin, Py_ssize_t n, const int[::1] gold, int[::1] path) noexcept nogil
    cdef bint find_competitor(self, Sequences data, Py_ssize_t i, const int[::1] gold, const int[::1] no_labels, Scratch work) noexcept nogil
    cdef double value_of(self, Sequences data, Py_ssize_t i, const int[::1] gold, int[::1] path, Scratch work) noexcept nogil
    cdef void find_right(self, Sequences data, Py_ssize_t i, const int[::1] gold, Scratch work) noexcept nogil
    cpdef int epoch(self, Sequences data, const int[::1] gold, const double[::1] importance, const long long[::1] order, bint given_path, double given_cost, const int[::1] no_labels, Scratch work, double[:, ::1] record) except? -1
