"""Reads tokens that already are features, lists of strings or dicts: numbers their features.

A feature is found in one of two tables of places, each a power of two of slots, at most half of
them taken. A slot holds 31 bits of the string's hash and its number + 1; zero is free, and a slot
that is taken leads on to the next.

    whole   by Python's own hash of the string: for lists, whose strings often know it already
    parts   by the hash of `strings`, which goes on from one string to the next: for the entries of
            dicts, so that "name:value" is never made of the two

What a slot names is compared, character by character, before it is believed. To wait for memory
once for a whole token, not at each step for each feature, the features of a token are looked up
together: first all hashes, then all slots, then all strings to compare, each asked for ahead.
C types of attributes stand in given_features.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.cpython.list import PyList_GET_ITEM
    from cython.cimports.seqpa._kernel.prefetch import prefetch
    from cython.cimports.seqpa._kernel.strings import hashed_on, place_of
else:
    from seqpa._kernel.strings import hashed_on, place_of

COMPILED = cython.compiled

# Comparing each feature with each other one takes too long where there are more of them.
_MANY = cython.declare(cython.Py_ssize_t, 64)
# So many features of one token are looked up together; a longer one is read slowly.
TOGETHER = 256
_TOGETHER = cython.declare(cython.Py_ssize_t, TOGETHER)
# So many names of entries are remembered while tokens are read: a power of two.
REMEMBERED = 256
_REMEMBERED = cython.declare(cython.Py_ssize_t, REMEMBERED)

# A value that is not between this and its negative is an error; the caller's `slowly` raises it.
LARGEST = 1e10

# What `FeatureReader.read` returns when no token is left, and when a table has no place.
ALL_READ = 0
WHOLE_FULL = -3
PARTS_FULL = -4
_ALL_READ = cython.declare(cython.Py_ssize_t, ALL_READ)
_WHOLE_FULL = cython.declare(cython.Py_ssize_t, WHOLE_FULL)
_PARTS_FULL = cython.declare(cython.Py_ssize_t, PARTS_FULL)
# A feature that has no number.
_UNKNOWN = cython.declare(cython.Py_ssize_t, -1)
# A token that only the caller's `slowly` can read.
_NOT_SIMPLE = cython.declare(cython.Py_ssize_t, -1)
_LOW = cython.declare(cython.longlong, 0x7FFFFFFF)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _address(text: str) -> cython.longlong:
    """A number by which the same object is known again."""
    if cython.compiled:
        place: cython.longlong = cython.cast(cython.longlong, cython.cast(cython.p_void, text))
    else:
        place = id(text)
    return place


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_made_of(feature: str, name: str, value: str) -> cython.bint:
    """Whether a feature is name:value."""
    n: cython.Py_ssize_t = len(name)
    return (
        len(feature) == n + 1 + len(value)
        and feature[n] == ":"
        and feature.endswith(value)  # values differ more often than names
        and feature.startswith(name)
    )


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _ask_for(token: list) -> cython.void:
    """Ask for the strings of a token, which is read soon."""
    i: cython.Py_ssize_t
    if cython.compiled:
        for i in range(min(len(token), _TOGETHER)):
            prefetch(cython.cast(cython.p_void, PyList_GET_ITEM(token, i)))


@cython.final
@cython.cclass
class Slots:
    """A table from hashes to numbers.

    slots   of zeros at first; a power of two, or none at all
    count   how many features are in it: those with the numbers below this one
    """

    def __init__(self, slots):
        self.slots = slots
        self.mask = len(slots) - 1
        self.count = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def insert(self, place: cython.longlong) -> cython.void:
        """Put the next number into the first free slot from a place on."""
        slot: cython.Py_ssize_t = place & self.mask
        while self.slots[slot] != 0:
            slot = (slot + 1) & self.mask
        self.count += 1
        self.slots[slot] = (((place >> 20) & _LOW) << 32) + self.count

    @cython.cfunc
    @cython.exceptval(check=False)
    def remove(self, place: cython.longlong) -> cython.void:
        """Take out the highest number, which belongs to a place.

        It came last, so that no other was sent on by it: the table is as it was before.
        """
        slot: cython.Py_ssize_t = place & self.mask
        while (self.slots[slot] & _LOW) != self.count:
            slot = (slot + 1) & self.mask
        self.slots[slot] = 0
        self.count -= 1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def next(self, slot: cython.Py_ssize_t, place: cython.longlong) -> cython.Py_ssize_t:
        """The first slot from this one on that may hold what belongs to the place, or is free."""
        tag: cython.longlong = (place >> 20) & _LOW
        slot = slot & self.mask
        while self.slots[slot] != 0 and self.slots[slot] >> 32 != tag:
            slot = (slot + 1) & self.mask
        return slot

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def number(self, slot: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The number in a slot; −1 in a free one."""
        return (self.slots[slot] & _LOW) - 1


@cython.final
@cython.cclass
class FeatureNames:
    """The features by number, and the two tables that find them; either may lag behind.

    names      the features; they are only added, or removed from the end
    addresses  where each of them lies, to ask for it ahead; a buffer with room for more
    """

    def __init__(self, names, addresses, whole, parts):
        self.names = names
        self.use_addresses(addresses)
        self.use_whole(whole)
        self.use_parts(parts)

    def use_addresses(self, addresses):
        """Keep the addresses of all features in this array."""
        i: cython.Py_ssize_t
        self.addresses = addresses
        for i in range(len(self.names)):
            self.addresses[i] = _address(self.names[i])

    def use_whole(self, slots):
        """Enter all features into this table of zeros; none where it has no slots."""
        table: Slots = Slots(slots)
        if len(slots):
            for feature in self.names:
                table.insert(hash(feature))
        self.whole = table

    def use_parts(self, slots):
        """The same for the other table."""
        table: Slots = Slots(slots)
        if len(slots):
            for feature in self.names:
                table.insert(place_of(hashed_on(1, feature)))
        self.parts = table

    @cython.cfunc
    @cython.inline
    def at(self, number: cython.Py_ssize_t) -> str:
        """A feature: without a look at the list, which holds what the address leads to."""
        if cython.compiled:
            return cython.cast(str, cython.cast(cython.p_void, self.addresses[number]))
        return self.names[number]

    @cython.ccall
    @cython.exceptval(-2, check=True)
    def number_of(self, feature: str, grow: cython.bint) -> cython.Py_ssize_t:
        """The number of a feature, or −1; with `grow` a new one gets the next number.

        All features are in `whole`, and there is room for one more.
        """
        place: cython.longlong = hash(feature)
        table: Slots = self.whole
        slot: cython.Py_ssize_t = table.next(place & table.mask, place)
        number: cython.Py_ssize_t = table.number(slot)
        while number >= 0:
            if self.names[number] == feature:
                return number
            slot = table.next(slot + 1, place)
            number = table.number(slot)
        if not grow:
            return _UNKNOWN
        number = self.add(feature)
        table.insert(place)
        return number

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def add(self, feature: str) -> cython.Py_ssize_t:
        """Give a new feature the next number; the caller enters it into a table."""
        number: cython.Py_ssize_t = len(self.names)
        self.names.append(feature)
        self.addresses[number] = _address(feature)
        return number

    def forget(self, count):
        """Remove the newest features and return them, oldest first."""
        removed = []
        for _ in range(count):
            feature = self.names.pop()
            if self.whole.count > len(self.names):
                self.whole.remove(hash(feature))
            if self.parts.count > len(self.names):
                self.parts.remove(place_of(hashed_on(1, feature)))
            removed.append(feature)
        return removed[::-1]

    @cython.cfunc
    @cython.exceptval(check=False)
    def is_ready(self, table: Slots, more: cython.Py_ssize_t) -> cython.bint:
        """Whether all features are in the table, with room for so many more there and here."""
        total: cython.Py_ssize_t = len(self.names)
        return (
            table.count == total
            and 2 * (total + more) < table.slots.shape[0]
            and total + more <= self.addresses.shape[0]
        )

    def has_whole(self, more):
        """The same of the table of whole strings."""
        return self.is_ready(self.whole, more)


@cython.final
@cython.cclass
class FeatureReader:
    """Writes the features of tokens, one token's behind the other's.

    known       the features that have a number
    grow        whether a new feature gets the next number
    features, values
                buffers (see `use_buffers`); values are written once one of them is not 1
    ends        where the features of each token end, ends[0] = 0 first
    slowly      a function that reads any token: its features' numbers, each once, and their values.
                It is called for tokens that are not simply different strings, numbers and flags
    places, at, weights
                buffers of TOGETHER numbers: the hashes of a token's features, their slots, values
    seen, begun  buffers of REMEMBERED numbers, and as many pairs: the addresses of names of entries
                and the hashes that begin with them, alone and with the colon
    token       the next one to be read
    """

    def __init__(self, known, grow, ends, slowly, places, at, weights, seen, begun):
        self.known = known
        self.grow = grow
        self.ends = ends
        self.slowly = slowly
        self.places = places
        self.at = at
        self.weights = weights
        self.seen = seen
        self.begun = begun
        self.token = 0
        self.has_values = False

    def use_buffers(self, features, values):
        """Continue with these buffers, which begin with what has been read so far."""
        self.features = features
        self.values = values

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def begin_value(self, name: str, with_mark: cython.bint) -> cython.longlong:
        """The value of a name, or of a name and a colon, on which the hash of an entry goes on.

        Names are keys of the dicts that are being read, so that none of them goes, and its address
        to another, before all are read.
        """
        address: cython.longlong = _address(name)
        slot: cython.Py_ssize_t = (address >> 4 ^ address >> 12) & (_REMEMBERED - 1)
        value: cython.longlong
        if self.seen[slot] != address:
            value = hashed_on(1, name)
            self.seen[slot] = address
            self.begun[slot, 0] = value
            self.begun[slot, 1] = hashed_on(value, ":")
        return self.begun[slot, 1] if with_mark else self.begun[slot, 0]

    @cython.cfunc
    @cython.exceptval(check=False)
    def prepare(self, table: Slots, n: cython.Py_ssize_t) -> cython.void:
        """at[i] = the first slot that may hold the feature of places[i]; and the strings that these
        slots name are asked for."""
        i: cython.Py_ssize_t
        number: cython.Py_ssize_t
        for i in range(n):
            self.at[i] = table.next(self.places[i] & table.mask, self.places[i])
            if cython.compiled:
                number = table.number(self.at[i])
                if number >= 0:
                    prefetch(cython.address(self.known.addresses[number]))
        if cython.compiled:
            for i in range(n):
                number = table.number(self.at[i])
                if number >= 0:
                    prefetch(cython.cast(cython.p_void, self.known.addresses[number]))

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
        table: Slots = self.known.whole
        end: cython.Py_ssize_t = begin
        number: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = len(token)
        for i in range(n):
            feature = token[i]
            if type(feature) is not str:
                return _NOT_SIMPLE
            self.places[i] = hash(feature)
            if cython.compiled:
                prefetch(cython.address(table.slots[self.places[i] & table.mask]))
        self.prepare(table, n)
        for i in range(n):
            feature = token[i]
            # A feature before it in this token may have come into a slot that was free.
            slot = table.next(self.at[i], self.places[i])
            number = table.number(slot)
            while number >= 0:
                if self.known.at(number) == cython.cast(str, feature):
                    break
                slot = table.next(slot + 1, self.places[i])
                number = table.number(slot)
            if number < 0:
                if not self.grow:
                    continue
                number = self.known.add(feature)
                table.insert(self.places[i])
            self.write(end, number, 1.0)
            end += 1
        return end

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def entries(self, token: dict, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The same for a dict of strings, numbers and flags."""
        table: Slots = self.known.parts
        end: cython.Py_ssize_t = begin
        number: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        weight: cython.double
        n: cython.Py_ssize_t = 0
        for name, value in token.items():
            if type(name) is not str:
                return _NOT_SIMPLE
            if type(value) is str:
                self.weights[n] = 1.0
                self.places[n] = place_of(hashed_on(self.begin_value(name, True), value))
            elif value is True or value is False:
                self.weights[n] = 1.0 if value is True else 0.0
                self.places[n] = place_of(self.begin_value(name, False))
            elif type(value) is float or type(value) is int:
                # Objects are compared: of C's numbers the compiler believes that none is NaN.
                if not (-LARGEST <= value and value <= LARGEST):
                    return _NOT_SIMPLE
                weight = value
                self.weights[n] = weight
                self.places[n] = place_of(self.begin_value(name, False))
            else:
                return _NOT_SIMPLE
            if cython.compiled:
                prefetch(cython.address(table.slots[self.places[n] & table.mask]))
            n += 1
        self.prepare(table, n)
        n = -1
        for name, value in token.items():
            n += 1
            if self.weights[n] == 0.0:
                continue
            slot = table.next(self.at[n], self.places[n])
            number = table.number(slot)
            while number >= 0:
                if type(value) is str:
                    if _is_made_of(self.known.at(number), name, value):
                        break
                elif self.known.at(number) == cython.cast(str, name):
                    break
                slot = table.next(slot + 1, self.places[n])
                number = table.number(slot)
            if number < 0:
                if not self.grow:
                    continue
                number = self.known.add(f"{name}:{value}" if type(value) is str else name)
                table.insert(self.places[n])
            self.write(end, number, self.weights[n])
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
        are too short, or which table must be filled or enlarged.

        When `slowly` raises an error, `get_token` tells at which token.
        """
        end: cython.Py_ssize_t = self.ends[self.token]
        begin: cython.Py_ssize_t
        more: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for i in range(_REMEMBERED):
            self.seen[i] = 0
        while self.token < len(tokens):
            token = tokens[self.token]
            begin = end
            end = _NOT_SIMPLE
            if type(token) is list:
                if begin + len(token) > self.features.shape[0]:
                    return len(token)
                if len(token) <= _TOGETHER:
                    more = len(token) if self.grow else 0
                    if not self.known.is_ready(self.known.whole, more):
                        return _WHOLE_FULL
                    if self.token + 1 < len(tokens) and type(tokens[self.token + 1]) is list:
                        _ask_for(tokens[self.token + 1])
                    end = self.listed(token, begin)
            elif type(token) is dict:
                if begin + len(token) > self.features.shape[0]:
                    return len(token)
                if len(token) <= _TOGETHER:
                    more = len(token) if self.grow else 0
                    if not self.known.is_ready(self.known.parts, more):
                        return _PARTS_FULL
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
