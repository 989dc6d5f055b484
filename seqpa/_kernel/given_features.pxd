cimport cython

@cython.final
cdef class FeatureReader:
    cdef dict numbers
    cdef bint grow
    cdef int[::1] features
    cdef float[::1] values
    cdef long long[::1] ends
    cdef object slowly
    cdef Py_ssize_t token
    cdef bint has_values

    cdef Py_ssize_t number(self, str feature) except? -2
    cdef void write(self, Py_ssize_t at, int number, double value) noexcept
    cdef Py_ssize_t listed(self, list token, Py_ssize_t begin) except? -2
    cdef Py_ssize_t entries(self, dict token, Py_ssize_t begin) except? -2
    cdef bint all_different(self, Py_ssize_t begin, Py_ssize_t end) noexcept
    cpdef Py_ssize_t read(self, list tokens) except? -2
