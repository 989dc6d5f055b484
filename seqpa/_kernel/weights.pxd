cimport cython

@cython.final
cdef class Rows:
    cdef bint sparse
    cdef bint bias
    cdef Py_ssize_t n_features
    cdef const double[:, ::1] dense
    cdef const double[::1] data
    cdef const int[::1] indices
    cdef const long long[::1] indptr

    cpdef squared_norms(self, double[::1] out)
    cdef double dot_rows(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil

@cython.final
cdef class Constraint:
    cdef double[::1] s
    cdef double[::1] q
    cdef double r
    cdef double score
    cdef double sign
    cdef double cost
    cdef double sides
    cdef double middle
    cdef Py_ssize_t up
    cdef Py_ssize_t down

    cdef void clear(self) noexcept nogil
    cdef Py_ssize_t highest_but(self, Py_ssize_t y) noexcept nogil
    cdef void ask_ball(self, double distance, double epsilon) noexcept nogil

@cython.final
cdef class Weights:
    cdef double[:, ::1] V
    cdef double[::1] flat
    cdef Py_ssize_t width
    cdef Py_ssize_t n_labels
    cdef bint by_feature
    cdef bint averaging

    cdef void scores(self, Rows rows, Py_ssize_t i, Constraint c) noexcept nogil
    cdef void scores_by_feature(self, Rows rows, Py_ssize_t i, Constraint c) noexcept nogil
    cdef Py_ssize_t score_eight(self, Rows rows, Py_ssize_t i, Py_ssize_t k, Constraint c) noexcept nogil
    cdef void score_two(self, Rows rows, Py_ssize_t i, Py_ssize_t k, Constraint c) noexcept nogil
    cdef void scores_by_label(self, Rows rows, Py_ssize_t i, Constraint c) noexcept nogil
    cdef double dot(self, Rows rows, Py_ssize_t i, Py_ssize_t k) noexcept nogil
    cdef void announce(self, Rows rows, Py_ssize_t i) noexcept nogil
    cdef void move(self, Rows rows, Py_ssize_t i, Constraint c, double tau, double clock) noexcept nogil
    cdef void add(self, Rows rows, Py_ssize_t i, Py_ssize_t k, double amount, double clock) noexcept nogil
    cdef void add_to(self, Rows rows, Py_ssize_t i, Py_ssize_t k, double amount) noexcept nogil
    cdef void add_all(self, Rows rows, Py_ssize_t i, Constraint c, double clock) noexcept nogil
    cdef Py_ssize_t add_eight(self, Rows rows, Py_ssize_t i, Py_ssize_t k, Constraint c, double clock) noexcept nogil
    cdef void add_two(self, Rows rows, Py_ssize_t i, Py_ssize_t k, Constraint c, double clock) noexcept nogil
