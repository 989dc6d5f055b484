cimport cython

@cython.final
cdef class Slots:
    cdef long long[::1] slots
    cdef Py_ssize_t mask
    cdef Py_ssize_t count

    cdef void insert(self, long long place, str feature) noexcept
    cdef void remove(self, long long place) noexcept
    cdef Py_ssize_t next(self, Py_ssize_t slot, long long place) noexcept
    cdef Py_ssize_t number(self, Py_ssize_t slot) noexcept

@cython.final
cdef class FeatureNames:
    cdef readonly list names
    cdef Slots whole
    cdef Slots parts

    cdef Py_ssize_t find(self, Slots table, long long place, str feature) except? -2
    cpdef Py_ssize_t number_of(self, str feature, bint grow) except? -2
    cdef Py_ssize_t add(self, Slots table, long long place, str feature) except? -2
    cdef Py_ssize_t is_ready(self, Slots table, Py_ssize_t more) except? -2

@cython.final
cdef class FeatureReader:
    cdef FeatureNames known
    cdef bint grow
    cdef Py_ssize_t room
    cdef int[::1] features
    cdef float[::1] values
    cdef long long[::1] ends
    cdef long long[::1] items
    cdef long long[::1] places
    cdef long long[::1] at
    cdef double[::1] weights
    cdef long long[::1] sizes
    cdef unsigned char[::1] lists
    cdef long long[::1] seen
    cdef long long[::1] flags
    cdef object slowly
    cdef Py_ssize_t sentence
    cdef Py_ssize_t within
    cdef Py_ssize_t token
    cdef Py_ssize_t total
    cdef Py_ssize_t noted
    cdef Py_ssize_t hashed
    cdef Py_ssize_t prepared
    cdef Py_ssize_t next_sentence
    cdef Py_ssize_t next_within
    cdef bint has_values

    cdef void begin_again(self) noexcept
    cdef Py_ssize_t note(self, list sentences) except? -2
    cdef long long place_of_flag(self, long long name) noexcept
    cdef Slots table_of(self, Py_ssize_t row)
    cdef bint hash_list(self, Py_ssize_t row) noexcept
    cdef bint hash_dict(self, Py_ssize_t row) noexcept
    cdef void prepare(self, Slots table, Py_ssize_t row) noexcept
    cdef void write(self, Py_ssize_t at, int number, double value) noexcept
    cdef Py_ssize_t listed(self, Py_ssize_t row, Py_ssize_t begin) except? -2
    cdef Py_ssize_t entries(self, Py_ssize_t row, Py_ssize_t begin) except? -2
    cdef Py_ssize_t whole_entry(self, str name, str value) except? -2
    cdef bint all_different(self, Py_ssize_t begin, Py_ssize_t end) noexcept
    cdef Py_ssize_t look_ahead(self, list sentences) except? -2
    cpdef Py_ssize_t read(self, list sentences) except? -2
    cdef Py_ssize_t read_token(self, list sentences, object token) except? -2
