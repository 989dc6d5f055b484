cimport cython

# The entries of a constraint.
cdef int R, SCORE, UP, DOWN, SIGN, COST

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
    cdef void scores(self, Py_ssize_t i, double[:, ::1] W, double[::1] out) noexcept nogil
    cdef void announce(self, Py_ssize_t i, double[:, ::1] W) noexcept nogil
    cdef void add(self, Py_ssize_t i, double[:, ::1] W, Py_ssize_t k, double amount) noexcept nogil
    cdef double dot_rows(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil

@cython.final
cdef class Problem:
    cdef int kind
    cdef double margin
    cdef const double[::1] target
    cdef const unsigned char[:, ::1] relevant
    cdef const double[:, ::1] root_cost

    cpdef bint constraint(self, Py_ssize_t i, double[::1] s, double[::1] out) noexcept nogil

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
    cdef double tau(self, Py_ssize_t t, Py_ssize_t i, double r, double score, double norm2, double cost, double up, double down) noexcept nogil
    cdef void note(self, Py_ssize_t t, double r, double tau, double norm2, double cost, double up, double down) noexcept nogil
