"""Tokens that already are features, lists of strings or dicts, to the numbers of these.

C types of attributes stand in features.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

COMPILED = cython.compiled

# Of more features it takes too long to see that all are different by comparing each with each.
_MANY = cython.declare(cython.Py_ssize_t, 64)

# A value that is not between this and its negative is an error, which the caller's function tells.
LARGEST = 1e10


@cython.final
@cython.cclass
class Reader:
    """Writes the features of tokens, one token's behind the other's.

    numbers     of the features; with `grow` a new one gets the next
    features, values
                as many as there is room for; values are written once one of them is not 1
    ends        where each token's end, from ends[0] = 0 on
    slowly      a function for tokens that are not just different strings, numbers and flags: their
                features' numbers, without repetition, and values
    token       the next one to be read
    """

    def __init__(self, numbers, grow, ends, slowly):
        self.numbers = numbers
        self.grow = grow
        self.ends = ends
        self.slowly = slowly
        self.token = 0
        self.has_values = False

    def give_room(self, features, values):
        """Go on with larger arrays, that begin as the present ones do."""
        self.features = features
        self.values = values

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def number(self, feature: str) -> cython.Py_ssize_t:
        """The number of a feature, or -1."""
        found = self.numbers.get(feature)
        if found is None:
            if not self.grow:
                return -1
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
        """Write the features of a list of strings; returns their end, or -1: do it slowly."""
        end: cython.Py_ssize_t = begin
        number: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for i in range(len(token)):
            feature = token[i]
            if type(feature) is not str:
                return -1
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
                return -1
            if type(value) is str:
                number = self.number(f"{name}:{value}")
                weight = 1.0
            elif value is True or value is False or type(value) is float or type(value) is int:
                # Objects are compared: of C's numbers the compiler believes that none is NaN.
                if not (-LARGEST <= value and value <= LARGEST):
                    return -1
                weight = value
                if weight == 0.0:
                    continue
                number = self.number(name)
            else:
                return -1
            if number >= 0:
                self.write(end, number, weight)
                end += 1
        return end

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def all_different(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Whether no feature is there twice among begin:end."""
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
        """Read on; returns how much room the next token needs, or 0 at the end.

        An error of `slowly` is that of the token that is next.
        """
        end: cython.Py_ssize_t = self.ends[self.token]
        begin: cython.Py_ssize_t
        i: cython.Py_ssize_t
        while self.token < len(tokens):
            token = tokens[self.token]
            begin = end
            end = -1
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
        return 0

    def get_token(self):
        """How many tokens have been read."""
        return self.token

    def get_values(self):
        """Whether any value is not one."""
        return self.has_values
