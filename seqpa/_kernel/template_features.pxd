cimport cython

@cython.final
cdef class Words:
    cdef const int[:, ::1] ids
    cdef const long long[::1] column
    cdef const long long[::1] within
    cdef const long long[::1] known
    cdef const int[::1] table
    cdef const long long[::1] at
    cdef const int[::1] fresh
    cdef const long long[::1] fresh_at
    cdef const long long[::1] n_fresh
    cdef const long long[::1] stride
    cdef const long long[::1] elsewhere_at
    cdef const int[::1] elsewhere
    cdef const long long[::1] starts
    cdef const int[::1] sentence

    cdef long long value(self, Py_ssize_t a, Py_ssize_t token) noexcept nogil

@cython.final
cdef class Table:
    cdef const long long[::1] attribute
    cdef const long long[::1] left
    cdef const long long[::1] right
    cdef const long long[::1] shift
    cdef const long long[::1] lowest
    cdef const long long[::1] highest
    cdef const long long[::1] looked
    cdef const long long[:, ::1] steps
    cdef const long long[::1] first_part
    cdef const long long[::1] node_of
    cdef Py_ssize_t before
    cdef Py_ssize_t after
    cdef long long edges
    cdef const long long[::1] capacity
    cdef long long[::1] counts
    cdef const long long[::1] direct_at
    cdef const long long[::1] stride
    cdef const long long[::1] begin
    cdef const long long[::1] n_at
    cdef int[::1] direct
    cdef long long[:, ::1] links
    cdef Py_ssize_t most_links
    cdef Py_ssize_t n_bases
    cdef Py_ssize_t n_nodes
    cdef Py_ssize_t n_templates
    cdef Py_ssize_t width
    cdef const long long[:, ::1] sets

    cdef Py_ssize_t find(self, long long slot, long long tag, long long key) noexcept nogil
    cdef long long follow(self, Py_ssize_t node, long long home, long long key, bint grow) noexcept nogil
    cdef bint fits_block(self) noexcept nogil
    cdef long long at_token(self, Py_ssize_t base, Words words, Py_ssize_t place) noexcept nogil
    cdef long long at_edge(self, Py_ssize_t place, Py_ssize_t low, Py_ssize_t high) noexcept nogil
    cdef long long at_place(self, Py_ssize_t base, Words words, Py_ssize_t place, Py_ssize_t low, Py_ssize_t high) noexcept nogil
    cdef void look(self, Words words, Py_ssize_t begin, Py_ssize_t width, Py_ssize_t low, Py_ssize_t high, long long[::1] work) noexcept nogil
    cdef void expect(self, Py_ssize_t source, Py_ssize_t begin, Py_ssize_t end, long long[::1] work) noexcept nogil
    cdef void join(self, Py_ssize_t node, Py_ssize_t n, bint grow, long long[::1] work) noexcept nogil
    cdef void pick(self, Words words, Py_ssize_t token, Py_ssize_t n, Py_ssize_t low, Py_ssize_t high, bint grow, long long[::1] work, Py_ssize_t first, long long[::1] indptr, int[::1] features) noexcept nogil
    cdef long long in_set(self, Py_ssize_t k, Words words, Py_ssize_t place) noexcept nogil
    cdef Py_ssize_t pick_set(self, Py_ssize_t s, Words words, Py_ssize_t place, Py_ssize_t low, Py_ssize_t high, bint grow, Py_ssize_t out, int[::1] features) noexcept nogil
    cdef int feature_at(self, Py_ssize_t at, long long number, bint grow) noexcept nogil
    cpdef Py_ssize_t encode(self, Words words, const long long[::1] starts, Py_ssize_t token, bint grow, long long[::1] work, long long[::1] indptr, int[::1] features) except? -1
    cpdef find_features(self, Py_ssize_t t, const long long[:, ::1] values, int[::1] out)
    cpdef Py_ssize_t restore(self, const int[::1] templates, const long long[::1] values) except? -1
    cpdef merge(self, const long long[::1] node_at, const int[:, ::1] joined, const int[::1] which, const int[::1] numbers, int[::1] own, int[::1] features)
    cdef long long joined_here(self, Py_ssize_t left, const long long[::1] node_at, const int[:, ::1] joined, const int[::1] own, Py_ssize_t place) noexcept nogil
    cpdef rehash(self, const long long[:, ::1] old)
    cpdef joins(self, const long long[:, ::1] links, const long long[::1] node_at, int[:, ::1] joined)
    cpdef describe(self, const long long[::1] limits, int[::1] which, int[::1] numbers)
    cpdef values_of(self, const long long[::1] node_at, const int[:, ::1] joined, const int[::1] which, const int[::1] numbers, long long[::1] out)

cpdef renumber(const int[::1] features, const int[::1] numbers, int[::1] out)
