cimport cython

@cython.final
cdef class WordIndex:
    cdef unsigned char[::1] text
    cdef long long[::1] starts
    cdef int[::1] slots
    cdef Py_ssize_t mask
    cdef Py_ssize_t size

    cdef Py_ssize_t find(self, const unsigned char[::1] data, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef Py_ssize_t number(self, const unsigned char[::1] data, Py_ssize_t begin, Py_ssize_t end, bint enter) noexcept nogil

cpdef Py_ssize_t scan(const unsigned char[::1] data, int separator, Py_ssize_t width, Py_ssize_t most, const long long[::1] wanted, int[:, ::1] begins, int[:, ::1] ends, int[::1] lines, long long[::1] starts) except? -2
cdef Py_ssize_t _scan(const unsigned char[::1] data, int separator, Py_ssize_t width, Py_ssize_t most, const long long[::1] wanted, int[:, ::1] begins, int[:, ::1] ends, int[::1] lines, long long[::1] starts) noexcept nogil
cpdef number(const unsigned char[::1] data, const int[::1] begins, const int[::1] ends, WordIndex known, WordIndex others, int[::1] out)
cpdef Py_ssize_t write(const unsigned char[::1] data, const int[::1] lines, const int[::1] labels, unsigned char separator, const unsigned char[::1] names, const long long[::1] name_at, unsigned char[::1] out) except? -1
