cimport cython

@cython.final
cdef class Sequences:
    cdef const long long[::1] starts
    cdef const long long[::1] indptr
    cdef const int[::1] features
    cdef Py_ssize_t n_features
    cdef const float[::1] values
    cdef const long long[::1] pair_indptr
    cdef const int[::1] pair_features
    cdef const float[::1] pair_values
    cdef bint has_values
    cdef bint has_pairs
    cdef bint has_pair_values

@cython.final
cdef class Scratch:
    cdef float[::1] em
    cdef long long[::1] picked
    cdef float[:, ::1] s
    cdef float[::1] best
    cdef short[:, ::1] kept
    cdef Py_ssize_t[::1] n_kept
    cdef float bar
    cdef float[:, ::1] pairs
    cdef float[::1] flat_pairs
    cdef int[::1] path
    cdef float[:, ::1] ems
    cdef bint has_ems
    cdef bint ready
    cdef const float[:, ::1] cost
