cimport cython

from seqpa._kernel.chain cimport Chain
from seqpa._kernel.template_features cimport Table, Words
from seqpa._kernel.sequences cimport Scratch, Sequences

@cython.final
cdef class Runner:
    cdef int[:, ::1] ids
    cdef int[::1] last
    cdef Words words
    cdef Table table
    cdef Table pair_table
    cdef long long[::1] work
    cdef long long[::1] indptr
    cdef int[::1] features
    cdef bint has_pairs
    cdef long long[::1] pair_indptr
    cdef int[::1] pair_features
    cdef Sequences data
    cdef Chain chain
    cdef Scratch scratch
    cdef int[::1] labels

    cpdef Py_ssize_t number(self, Py_ssize_t column, list cells, Py_ssize_t begin, Py_ssize_t end, dict numbers, dict fresh) except? -2
    cpdef Py_ssize_t tag(self, const long long[::1] places, const long long[::1] starts, const int[::1] fixed) except? -2
    cpdef Py_ssize_t encode(self, const long long[::1] places) except? -2
    cpdef Py_ssize_t decode(self, const long long[::1] starts, const int[::1] fixed) except? -2
