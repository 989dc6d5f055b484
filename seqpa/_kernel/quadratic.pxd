cimport cython

@cython.final
cdef class BoxQP:
    cdef Py_ssize_t n
    cdef double[:, ::1] A
    cdef double[::1] b
    cdef double[::1] ridge
    cdef double[::1] lower
    cdef double[::1] upper
    cdef double[::1] x
    cdef double[:, ::1] L
    cdef double[::1] D
    cdef double[::1] v
    cdef double[::1] d
    cdef Py_ssize_t[::1] free
    cdef unsigned char[::1] is_free
    cdef Py_ssize_t count

    cpdef Py_ssize_t solve(self, Py_ssize_t n) noexcept nogil
    cdef Py_ssize_t most_wrong(self) noexcept nogil
    cdef double slope(self, Py_ssize_t i) noexcept nogil
    cdef double curvature(self, Py_ssize_t j) noexcept nogil
    cdef void direction(self, double sign) noexcept nogil
    cdef void advance(self, Py_ssize_t j) noexcept nogil
    cdef void release(self, Py_ssize_t p) noexcept nogil
