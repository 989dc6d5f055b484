cimport cython

from seqpa._kernel.chain cimport Chain
from seqpa._kernel.store cimport Scratch, Sequences, Store

@cython.final
cdef class Trainer:
    cdef Chain chain
    cdef int step
    cdef double C
    cdef int cost_kind
    cdef const float[:, ::1] cost
    cdef float[:, ::1] trans_acc
    cdef float[:, ::1] trans_delta
    cdef float[:, ::1] trans_gain
    cdef bint averaging
    cdef bint second_order
    cdef double clock
    cdef Py_ssize_t position
    cdef long long mistakes
    cdef long long wrong_tokens
    cdef long long updates
    cdef double total_cost
    cdef double loss
    cdef double squared_loss
    cdef double norm2
    cdef double score

    cdef bint ensure_token(self, Store store, const long long[::1] indptr, const int[::1] features, Py_ssize_t t, Py_ssize_t gold, Py_ssize_t predicted) noexcept nogil
    cdef void change(self, Store store, Py_ssize_t f, Py_ssize_t label, double value) noexcept nogil
    cdef void apply(self, Store store, Py_ssize_t f, Py_ssize_t label, double tau) noexcept nogil
    cdef void change_transition(self, Py_ssize_t p, Py_ssize_t y, double value) noexcept nogil
    cdef void apply_transition(self, Py_ssize_t p, Py_ssize_t y, double tau) noexcept nogil
    cdef bint make_room(self, Sequences data, Py_ssize_t begin, Py_ssize_t n, const int[::1] gold, int[::1] path) noexcept nogil
    cdef void along(self, Sequences data, Py_ssize_t begin, Py_ssize_t n, const int[::1] gold, int[::1] path, bint applying, double tau) noexcept nogil
    cdef double known_cost(self, Py_ssize_t begin, Py_ssize_t n, const int[::1] gold, int[::1] path) noexcept nogil
    cpdef int epoch(self, Sequences data, const int[::1] gold, const long long[::1] order, bint given_path, double given_cost, const int[::1] no_labels, Scratch work, double[:, ::1] record) except? -1
