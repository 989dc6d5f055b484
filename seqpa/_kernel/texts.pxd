# Strings by their addresses: what a table of strings asks of each of them, without counting who
# holds it. Whoever has an address sees to it that its string stays.
from cpython.dict cimport PyDict_Next
from cpython.object cimport PyObject
from libc.string cimport memcmp

from seqpa._kernel.prefetch cimport prefetch

cdef extern from "Python.h":
    ctypedef struct PyASCIIObject:
        Py_hash_t hash
    ctypedef struct PyListObject:
        PyObject **ob_item
    ctypedef struct PyDictObject:
        void *ma_keys
    bint PyUnicode_CheckExact(PyObject *o) noexcept
    bint PyList_CheckExact(PyObject *o) noexcept
    bint PyDict_CheckExact(PyObject *o) noexcept
    Py_hash_t PyObject_Hash(PyObject *o) noexcept
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *o) noexcept
    int PyUnicode_KIND(PyObject *o) noexcept
    void *PyUnicode_DATA(PyObject *o) noexcept
    Py_UCS4 PyUnicode_READ(int kind, void *data, Py_ssize_t at) noexcept


cdef inline bint is_text(long long address) noexcept:
    """Whether an object is exactly a str."""
    return PyUnicode_CheckExact(<PyObject *> address)


cdef inline long long hash_of(long long text) noexcept:
    """Python's own hash of a string, which the string remembers."""
    cdef Py_hash_t known = (<PyASCIIObject *> text).hash
    return known if known != -1 else PyObject_Hash(<PyObject *> text)


cdef inline bint is_same(long long one, long long other) noexcept:
    """Whether two strings have the same characters."""
    cdef PyObject *a = <PyObject *> one
    cdef PyObject *b = <PyObject *> other
    cdef int kind = PyUnicode_KIND(a)
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(a)
    return a == b or (
        n == PyUnicode_GET_LENGTH(b)
        and kind == PyUnicode_KIND(b)
        and memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), n * kind) == 0
    )


cdef inline bint has_part(PyObject *whole, Py_ssize_t begin, PyObject *part) noexcept:
    """Whether a part stands in a string from here on; there is room for it."""
    cdef int kind = PyUnicode_KIND(whole)
    cdef int own = PyUnicode_KIND(part)
    cdef char *text = <char *> PyUnicode_DATA(whole)
    cdef void *data = PyUnicode_DATA(part)
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(part)
    cdef Py_ssize_t i
    if kind == own:
        return memcmp(text + begin * kind, data, n * kind) == 0
    for i in range(n):
        if PyUnicode_READ(kind, text, begin + i) != PyUnicode_READ(own, data, i):
            return False
    return True


cdef inline bint is_joined(long long feature, long long name, long long value) noexcept:
    """Whether a string is name:value."""
    cdef PyObject *whole = <PyObject *> feature
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(<PyObject *> name)
    return (
        PyUnicode_GET_LENGTH(whole) == n + 1 + PyUnicode_GET_LENGTH(<PyObject *> value)
        and PyUnicode_READ(PyUnicode_KIND(whole), PyUnicode_DATA(whole), n) == 58  # a colon
        and has_part(whole, n + 1, <PyObject *> value)  # values differ more often than names
        and has_part(whole, 0, <PyObject *> name)
    )


cdef inline void note_list(list token, long long[::1] items, Py_ssize_t at) noexcept:
    """Write where the members of a list lie, and ask for them."""
    cdef PyObject **members = (<PyListObject *> token).ob_item
    cdef Py_ssize_t i
    for i in range(len(token)):
        items[at + i] = <long long> members[i]
        prefetch(members[i])


cdef inline void note_dict(dict token, long long[::1] items, Py_ssize_t at) noexcept:
    """The same for the names and values of a dict, in turn."""
    cdef Py_ssize_t place = 0
    cdef PyObject *name
    cdef PyObject *value
    while PyDict_Next(token, &place, &name, &value):
        items[at] = <long long> name
        items[at + 1] = <long long> value
        prefetch(name)
        prefetch(value)
        at += 2


cdef inline void ask_for_token(list tokens, Py_ssize_t i) noexcept:
    """Ask for a token's members, and for the token that comes two later."""
    cdef PyObject **all = (<PyListObject *> tokens).ob_item
    cdef Py_ssize_t n = len(tokens)
    cdef char *inside = NULL
    cdef Py_ssize_t line
    if i + 2 < n:
        prefetch(all[i + 2])
    if i < n:
        if PyList_CheckExact(all[i]):
            inside = <char *> (<PyListObject *> all[i]).ob_item
        elif PyDict_CheckExact(all[i]):
            inside = <char *> (<PyDictObject *> all[i]).ma_keys
        if inside != NULL:
            for line in range(6):
                prefetch(inside + 64 * line)
