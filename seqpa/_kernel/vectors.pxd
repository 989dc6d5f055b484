cimport cython
from seqpa._kernel.weights cimport Constraint, Rows, Weights

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
    cdef double watched
    cdef long long updates

    cdef void begin(self, double seen) noexcept nogil
    cdef bint presented(self, double r) noexcept nogil
    cdef double tau(self, Py_ssize_t t, Py_ssize_t i, Constraint c, double norm2) noexcept nogil
    cdef bint each_tau(self, Py_ssize_t t, Py_ssize_t i, Py_ssize_t y, double margin, double norm2, Constraint c) noexcept nogil
    cdef void write(self, Py_ssize_t t, double loss, double tau, double norm2, double cost, Py_ssize_t up, Py_ssize_t down) noexcept nogil
    cdef void note(self, Py_ssize_t t, Constraint c, double tau, double norm2) noexcept nogil

cpdef linear_pass(Rows rows, Problem problem, Pass run, const double[::1] norms, const Py_ssize_t[::1] order, Weights w, Constraint c)
cpdef one_vs_rest_pass(Rows rows, const double[::1] target, double margin, Pass run, const double[::1] norms, const Py_ssize_t[::1] order, Weights w, Constraint c)
