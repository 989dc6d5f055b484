"""Reads tokens that already are features, lists of strings or dicts: numbers their features.

C types of attributes stand in given_features.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

COMPILED = cython.compiled

# Comparing each feature with each other one takes too long where there are more of them.
_MANY = cython.declare(cython.Py_ssize_t, 64)

# A value that is not between this and its negative is an error; the caller's `slowly` raises it.
LARGEST = 1e10

# What `FeatureReader.read` returns when no token is left.
ALL_READ = 0
_ALL_READ = cython.declare(cython.Py_ssize_t, ALL_READ)
# A feature that has no number.
_UNKNOWN = cython.declare(cython.Py_ssize_t, -1)
# A token that only the caller's `slowly` can read.
_NOT_SIMPLE = cython.declare(cython.Py_ssize_t, -1)


@cython.final
@cython.cclass
class FeatureReader:
    """Writes the features of tokens, one token's behind the other's.

    numbers     the number of each feature; with `grow` a new feature gets the next number
    features, values
                buffers (see `use_buffers`); values are written once one of them is not 1
    ends        where the features of each token end, ends[0] = 0 first
    slowly      a function that reads any token: its features' numbers, each once, and their values.
                It is called for tokens that are not simply different strings, numbers and flags
    token       the next one to be read
    """

    def __init__(self, numbers, grow, ends, slowly):
        self.numbers = numbers
        self.grow = grow
        self.ends = ends
        self.slowly = slowly
        self.token = 0
        self.has_values = False

    def use_buffers(self, features, values):
        """Continue with these buffers, which begin with what has been read so far."""
        self.features = features
        self.values = values

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def number(self, feature: str) -> cython.Py_ssize_t:
        """The number of a feature, or _UNKNOWN."""
        found = self.numbers.get(feature)
        if found is None:
            if not self.grow:
                return _UNKNOWN
            found = len(self.numbers)
            self.numbers[feature] = found
        return found

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def write(self, at: cython.Py_ssize_t, number: cython.int, value: cython.double) -> cython.void:
        i: cython.Py_ssize_t
        if value != 1.0 and not self.has_values:
            for i in range(at):
                self.values[i] = 1.0
            self.has_values = True
        self.features[at] = number
        if self.has_values:
            self.values[at] = value

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def listed(self, token: list, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the features of a list of strings; returns their end, or _NOT_SIMPLE."""
        end: cython.Py_ssize_t = begin
        number: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for i in range(len(token)):
            feature = token[i]
            if type(feature) is not str:
                return _NOT_SIMPLE
            number = self.number(feature)
            if number >= 0:
                self.write(end, number, 1.0)
                end += 1
        return end

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def entries(self, token: dict, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The same for a dict of strings, numbers and flags."""
        end: cython.Py_ssize_t = begin
        number: cython.Py_ssize_t
        weight: cython.double
        for name, value in token.items():
            if type(name) is not str:
                return _NOT_SIMPLE
            if type(value) is str:
                number = self.number(f"{name}:{value}")
                weight = 1.0
            elif value is True or value is False or type(value) is float or type(value) is int:
                # Objects are compared: of C's numbers the compiler believes that none is NaN.
                if not (-LARGEST <= value and value <= LARGEST):
                    return _NOT_SIMPLE
                weight = value
                if weight == 0.0:
                    continue
                number = self.number(name)
            else:
                return _NOT_SIMPLE
            if number >= 0:
                self.write(end, number, weight)
                end += 1
        return end

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def all_different(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Whether no feature of begin:end occurs twice; False where there are too many to look."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        same: cython.Py_ssize_t = 0
        if end - begin > _MANY:
            return False
        for i in range(begin + 1, end):
            for j in range(begin, i):
                same += self.features[i] == self.features[j]
        return same == 0

    @cython.ccall
    @cython.exceptval(-2, check=True)
    def read(self, tokens: list) -> cython.Py_ssize_t:
        """Read on; returns ALL_READ, or how many features the next token has, for which the buffers
        are too short.

        When `slowly` raises an error, `get_token` tells at which token.
        """
        end: cython.Py_ssize_t = self.ends[self.token]
        begin: cython.Py_ssize_t
        i: cython.Py_ssize_t
        while self.token < len(tokens):
            token = tokens[self.token]
            begin = end
            end = _NOT_SIMPLE
            if type(token) is list:
                if begin + len(token) > self.features.shape[0]:
                    return len(token)
                end = self.listed(token, begin)
            elif type(token) is dict:
                if begin + len(token) > self.features.shape[0]:
                    return len(token)
                end = self.entries(token, begin)
            if end < 0 or not self.all_different(begin, end):
                numbers, weights = self.slowly(token)
                end = begin + len(numbers)
                if end > self.features.shape[0]:
                    return len(numbers)
                for i in range(len(numbers)):
                    self.write(begin + i, numbers[i], weights[i])
            self.token += 1
            self.ends[self.token] = end
        return _ALL_READ

    def get_token(self):
        """How many tokens have been read."""
        return self.token

    def get_values(self):
        """Whether any value is not 1."""
        return self.has_values
