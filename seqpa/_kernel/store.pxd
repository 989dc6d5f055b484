cimport cython

from seqpa._kernel.sequences cimport Scratch, Sequences

@cython.final
cdef class SparseDelta:
    cdef long long[::1] places
    cdef double[::1] amounts
    cdef int[::1] table
    cdef Py_ssize_t size
    cdef Py_ssize_t mask

    cdef void clear(self) noexcept nogil
    cdef void rehash(self, Py_ssize_t capacity) noexcept nogil
    cdef Py_ssize_t find(self, long long place) noexcept nogil
    cdef void add(self, long long place, double amount) noexcept nogil

@cython.final
cdef class Store:
    cdef float[::1] arena
    cdef double[::1] sums
    cdef float[::1] gains
    cdef int[:, ::1] rows
    cdef int[::1] places
    cdef Py_ssize_t used
    cdef Py_ssize_t width
    cdef int dense_at

    cdef void add_row(self, Py_ssize_t f, float value, float[::1] out) noexcept nogil
    cdef void emission(self, Sequences data, Py_ssize_t t, Scratch work) noexcept nogil
    cdef void add_rows(self, Sequences data, Py_ssize_t begin, Py_ssize_t end, Scratch work) noexcept nogil
    cdef void add_dense(self, Py_ssize_t count, Scratch work) noexcept nogil
    cdef void pair_emission(self, Sequences data, Py_ssize_t t, float[::1] out) noexcept nogil
    cdef Py_ssize_t find(self, Py_ssize_t f, Py_ssize_t label) noexcept nogil
    cdef bint ensure(self, Py_ssize_t f, Py_ssize_t label) noexcept nogil
    cdef void carry(self, Py_ssize_t place, Py_ssize_t to) noexcept nogil
    cdef bint ensure_all(self, const int[::1] features, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t gold, Py_ssize_t predicted) noexcept nogil
    cdef void fetch(self, const int[::1] features, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t gold, Py_ssize_t predicted, bint rows) noexcept nogil
    cdef void collect(self, const int[::1] features, bint has_values, const float[::1] values, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t gold, Py_ssize_t predicted, SparseDelta delta) noexcept nogil
    cdef Py_ssize_t row_capacity(self, int size, Py_ssize_t width) noexcept nogil
    cdef float mean(self, Py_ssize_t at, double inverse) noexcept nogil
    cpdef gather(self, const long long[::1] features, const long long[::1] labels, double[::1] out)
    cpdef Py_ssize_t scatter(self, const long long[::1] features, const long long[::1] labels, const double[::1] amounts, double clock, Py_ssize_t begin) except? -1
    cpdef copy_into(self, Store new)
    cpdef Py_ssize_t close_holes(self, const long long[::1] order, Py_ssize_t at) except? -1
    cpdef Py_ssize_t live_size(self, Py_ssize_t width) except? -1
    cpdef relabel(self, Py_ssize_t old_width, Py_ssize_t width)
    cdef Py_ssize_t freeze_row(self, Py_ssize_t f, double inverse, Py_ssize_t n_labels, Py_ssize_t row, Py_ssize_t at, Store new) noexcept nogil
    cpdef Py_ssize_t freeze(self, double T, Py_ssize_t n_labels, Store new) except? -1
    cpdef Py_ssize_t size_of_rows(self, const int[::1] features) except? -1
    cpdef Py_ssize_t freeze_rows(self, const int[::1] features, double T, Py_ssize_t n_labels, Store new) except? -1
