cimport cython
from seqpa._kernel.weights cimport Constraint

@cython.final
cdef class GramBlock:
    cdef const double[:, ::1] gram
    cdef Py_ssize_t first
    cdef double[:, ::1] scores
    cdef double[:, ::1] coef
    cdef double[:, ::1] acc

    cdef double norm2(self, Py_ssize_t t) noexcept nogil
    cdef void look(self, Py_ssize_t t, Constraint c) noexcept nogil
    cdef void move(self, Py_ssize_t row, Py_ssize_t t, Py_ssize_t k, double amount, double clock) noexcept nogil

@cython.final
cdef class Budget:
    cdef int strategy
    cdef Py_ssize_t limit
    cdef Py_ssize_t count
    cdef Py_ssize_t[::1] members
    cdef Py_ssize_t[::1] slots
    cdef const double[::1] norms
    cdef double[:, ::1] Q
    cdef double[::1] u

    cdef double residual(self, GramBlock block, Py_ssize_t t) noexcept nogil
    cdef void enter(self, Py_ssize_t row, double left) noexcept nogil
    cdef Py_ssize_t victim(self, GramBlock block) noexcept nogil
    cdef void evict(self, GramBlock block, Py_ssize_t t) noexcept nogil
    cdef void add(self, GramBlock block, Py_ssize_t t, Py_ssize_t up, double amount, Py_ssize_t down, double tau) noexcept nogil
    cdef void share(self, GramBlock block, Py_ssize_t t, Py_ssize_t k, double amount) noexcept nogil
