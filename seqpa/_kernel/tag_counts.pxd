cimport cython

cpdef sort_by_word(const int[::1] word, long long[::1] begin, int[::1] order)
cpdef Py_ssize_t count(const int[::1] order, const long long[::1] begin, const int[::1] given, long long[::1] at, long long[::1] labels_begin, int[::1] label, long long[::1] n) except? -1
cpdef Py_ssize_t by_first(int[::1] which, int[::1] number) except? -1

@cython.final
cdef class Kinds:
    cdef int[::1] cells
    cdef long long[::1] starts
    cdef int[::1] slots
    cdef Py_ssize_t size

    cdef Py_ssize_t number(self, const int[::1] label, const long long[::1] n, Py_ssize_t low, Py_ssize_t high, const long long[::1] less) noexcept nogil
    cdef Py_ssize_t enter(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cpdef of_words(self, const long long[::1] labels_begin, const int[::1] label, const long long[::1] n, const long long[::1] less, int[::1] which)
    cpdef apart(self, const int[::1] order, const long long[::1] begin, const int[::1] given, const int[::1] block, const long long[::1] labels_begin, const int[::1] label, const long long[::1] n, long long[::1] less, int[::1] which)
