"""Strings to numbers: the walks over Python's own objects with which encoding begins."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

COMPILED = cython.compiled


@cython.ccall
def column_of(sentences, place: cython.Py_ssize_t, width: cython.Py_ssize_t):
    """Cell `place` of every token in one list; None where a token is no tuple of `width` cells."""
    cells: list = []
    for sentence in sentences:
        for token in sentence:
            if not isinstance(token, tuple) or len(token) != width:
                return None
            cells.append(token[place])
    return cells


@cython.ccall
@cython.exceptval(-2, check=True)
def number(words: list, numbers: dict, fresh: dict, out: cython.int[::1]) -> cython.Py_ssize_t:
    """out[i] = the number of words[i]; returns the first that is not a string, or -1.

    A word that is not in `numbers` gets the next free one in `fresh`; `numbers` stays as it is.
    """
    known: cython.Py_ssize_t = len(numbers)
    i: cython.Py_ssize_t
    for i in range(len(words)):
        word = words[i]
        if not isinstance(word, str):
            return i
        found = numbers.get(word)
        if found is None:
            found = fresh.get(word)
            if found is None:
                found = known + len(fresh)
                fresh[word] = found
        out[i] = found
    return -1


@cython.ccall
def look_up(values: list, numbers: dict, out: cython.int[::1]):
    """out[i] = the number of values[i], -1 where it is None or has none."""
    i: cython.Py_ssize_t
    for i in range(len(values)):
        found = numbers.get(values[i])
        out[i] = -1 if found is None else found


@cython.ccall
def known_entries(token: dict, seen: dict, unknown: list):
    """The numbers that seen[name][value] gives for a dict's entries, those below zero left out.

    Entries without a number are appended to `unknown`. A value that cannot be hashed is a
    TypeError.
    """
    numbers: list = []
    number: cython.int
    for name, value in token.items():
        values = seen.get(name)
        found = None if values is None else values.get(value)
        if found is None:
            unknown.append((name, value))
        else:
            number = found
            if number >= 0:
                numbers.append(found)
    return numbers
