cimport cython
from seqpa._kernel.vectors cimport Pass, Problem
from seqpa._kernel.weights cimport Constraint, Rows, Weights

@cython.final
cdef class Single:
    cdef double[::1] data
    cdef int[::1] indices
    cdef long long[::1] indptr
    cdef double[:, ::1] dense
    cdef double[::1] target
    cdef double[::1] C
    cdef double[::1] norms
    cdef Py_ssize_t[::1] order
    cdef Rows rows
    cdef Problem problem
    cdef bint alone
    cdef double margin
    cdef Pass run
    cdef Weights w
    cdef Constraint c

    cpdef Py_ssize_t read(self, dict x, dict columns, bint learn)
    cpdef Py_ssize_t read_row(self, const double[::1] data, const int[::1] indices)
    cpdef Py_ssize_t read_dense(self, const double[:, ::1] x)
    cpdef learn(self, double target, double C, double clock)
    cpdef Py_ssize_t look(self, double clock)
    cpdef double score(self, Py_ssize_t k)
