cimport cython

@cython.final
cdef class Slots:
    cdef long long[::1] slots
    cdef Py_ssize_t mask
    cdef Py_ssize_t count

    cdef void insert(self, long long place) noexcept
    cdef void remove(self, long long place) noexcept
    cdef Py_ssize_t next(self, Py_ssize_t slot, long long place) noexcept
    cdef Py_ssize_t number(self, Py_ssize_t slot) noexcept

@cython.final
cdef class FeatureNames:
    cdef readonly list names
    cdef long long[::1] addresses
    cdef Slots whole
    cdef Slots parts

    cdef str at(self, Py_ssize_t number)
    cpdef Py_ssize_t number_of(self, str feature, bint grow) except? -2
    cdef Py_ssize_t add(self, str feature) except? -2
    cdef bint is_ready(self, Slots table, Py_ssize_t more) noexcept

@cython.final
cdef class FeatureReader:
    cdef FeatureNames known
    cdef bint grow
    cdef int[::1] features
    cdef float[::1] values
    cdef long long[::1] ends
    cdef long long[::1] places
    cdef long long[::1] at
    cdef double[::1] weights
    cdef long long[::1] seen
    cdef long long[:, ::1] begun
    cdef object slowly
    cdef Py_ssize_t token
    cdef bint has_values

    cdef long long begin_value(self, str name, bint with_mark) noexcept
    cdef void prepare(self, Slots table, Py_ssize_t n) noexcept
    cdef void write(self, Py_ssize_t at, int number, double value) noexcept
    cdef Py_ssize_t listed(self, list token, Py_ssize_t begin) except? -2
    cdef Py_ssize_t entries(self, dict token, Py_ssize_t begin) except? -2
    cdef bint all_different(self, Py_ssize_t begin, Py_ssize_t end) noexcept
    cpdef Py_ssize_t read(self, list tokens) except? -2
