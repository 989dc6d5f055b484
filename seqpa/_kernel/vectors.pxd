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
    cdef Py_ssize_t up
    cdef Py_ssize_t down

    cdef void clear(self) noexcept nogil
    cdef Py_ssize_t highest_but(self, Py_ssize_t y) noexcept nogil
    cdef void ask_ball(self, double distance, double epsilon) noexcept nogil

@cython.final
cdef class Weights:
    cdef double[:, ::1] V
    cdef Py_ssize_t n_labels
    cdef bint by_feature
    cdef bint averaging

    cdef void scores(self, Rows rows, Py_ssize_t i, Constraint c) noexcept nogil
    cdef void scores_by_feature(self, Rows rows, Py_ssize_t i, Constraint c) noexcept nogil
    cdef void scores_by_label(self, Rows rows, Py_ssize_t i, Constraint c) noexcept nogil
    cdef double dot(self, Rows rows, Py_ssize_t i, Py_ssize_t k) noexcept nogil
    cdef void move(self, Rows rows, Py_ssize_t i, Constraint c, double tau, double clock) noexcept nogil
    cdef void add(self, Rows rows, Py_ssize_t i, Py_ssize_t k, double amount, double clock) noexcept nogil
    cdef void add_to(self, Rows rows, Py_ssize_t i, Py_ssize_t k, double amount) noexcept nogil
    cdef void add_all(self, Rows rows, Py_ssize_t i, Constraint c, double clock) noexcept nogil

@cython.final
cdef class Problem:
    cdef int kind
    cdef double margin
    cdef const double[::1] target
    cdef const unsigned char[:, ::1] relevant
    cdef const double[:, ::1] root_cost

    cdef void constraint(self, Py_ssize_t i, Constraint c) noexcept nogil

@cython.final
cdef class Pass:
    cdef int step
    cdef const double[::1] C
    cdef double tol
    cdef double seen
    cdef double[:, ::1] record
    cdef double mistakes
    cdef double cost
    cdef double loss
    cdef double squared_loss
    cdef long long updates

    cdef bint presented(self, double r) noexcept nogil
    cdef double tau(self, Py_ssize_t t, Py_ssize_t i, Constraint c, double norm2) noexcept nogil
    cdef void note(self, Py_ssize_t t, Constraint c, double tau, double norm2) noexcept nogil
