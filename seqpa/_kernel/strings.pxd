cpdef Py_ssize_t number(list words, Py_ssize_t begin, Py_ssize_t end, dict numbers, dict fresh, int[::1] last, int[::1] out) except? -2
cpdef spell(list labels, const int[::1] numbers, const long long[::1] starts)
