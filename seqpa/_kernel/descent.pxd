cimport cython
from seqpa._kernel.weights cimport Rows

@cython.final
cdef class Descent:
    cdef double[::1] w
    cdef double[::1] late
    cdef double[::1] pulled
    cdef public double intercept
    cdef public double mean_intercept
    cdef public double t
    cdef public double loss
    cdef public double objective
    cdef int step
    cdef bint regression
    cdef double C
    cdef double epsilon
    cdef double intercept_rate
    cdef double first
    cdef double since
    cdef double shrink
    cdef double l1
    cdef double l2
    cdef double scale
    cdef double pull
    cdef double squares
    cdef double absolutes

    cdef double score(self, Rows rows, Py_ssize_t i) noexcept nogil
    cdef void move_one(self, Py_ssize_t j, double amount, double delay) noexcept nogil
    cdef void add(self, Rows rows, Py_ssize_t i, double amount, double delay) noexcept nogil
    cdef void truncate_one(self, Py_ssize_t j) noexcept nogil
    cdef void truncate(self, Rows rows, Py_ssize_t i) noexcept nogil
    cdef void fold(self) noexcept nogil
    cpdef pass_over(self, Rows rows, const double[::1] norms2, const double[::1] targets, const double[::1] amounts, const Py_ssize_t[::1] order)
