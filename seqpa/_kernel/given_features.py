"""Reads tokens that already are features, lists of strings or dicts: numbers their features.

A feature is found in one of two tables, each a power of two of slots, at most half of them taken. A
slot holds 31 bits of a hash with the number of a feature + 1, and where its string lies; zero is
free, and a slot that is taken leads on to the next.

    whole   by Python's own hash of the string: for lists
    parts   by the hashes of what stands before and behind its last colon: for the entries of dicts,
            so that "name:value" is never made of the two

Strings remember their hashes. What a slot names is compared, character by character, before it is
believed. All of that is scattered over memory, so that it is asked for ahead (texts.pxd): a token
passes four stages, each for all of its features, while the next tokens are one stage behind.

    noted      where its strings lie                asks for them
    hashed     where they belong in the table       asks for these slots
    prepared   what these slots name                asks for these strings
    read       which of them are the same

Uncompiled, the caller's `slowly` reads every token. C types of attributes stand in
given_features.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.prefetch import prefetch
    from cython.cimports.seqpa._kernel.texts import (
        ask_for_token,
        hash_of,
        is_joined,
        is_same,
        is_text,
        note_dict,
        note_list,
    )

COMPILED = cython.compiled

# Comparing each feature with each other one takes too long where there are more of them.
_MANY = cython.declare(cython.Py_ssize_t, 64)
# So many features of one token are looked up together; a longer one is read slowly.
TOGETHER = 256
_TOGETHER = cython.declare(cython.Py_ssize_t, TOGETHER)
# So many tokens are on their way, in rows of so many numbers: not a power of two, by which caches
# share out their places.
AHEAD = 4
ROW = TOGETHER + 24
_AHEAD = cython.declare(cython.Py_ssize_t, AHEAD)
_ROW = cython.declare(cython.Py_ssize_t, ROW)
# The places of so many names are remembered while tokens are read: a power of two.
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
def _object(address: cython.longlong):
    """What lies at an address, and stays there as long as it is used."""
    return cython.cast(object, cython.cast(cython.p_void, address))


@cython.cfunc
@cython.inline
def _text(address: cython.longlong) -> str:
    """The same, which is a string."""
    return cython.cast(str, cython.cast(cython.p_void, address))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _joined(name: cython.longlong, value: cython.longlong) -> cython.longlong:
    """Where name:value belongs in the table of parts, by the hashes of the two."""
    return value ^ (name >> 3)


@cython.cfunc
def _place_of(feature: str) -> cython.longlong:
    """The same for a feature in one string: what stands behind its last colon is its value."""
    colon: cython.Py_ssize_t = feature.rfind(":")
    if colon < 0:
        return hash(feature)
    return _joined(hash(feature[:colon]), hash(feature[colon + 1 :]))


@cython.final
@cython.cclass
class Slots:
    """A table from places, which are hashes, to strings and their numbers.

    slots   of zeros at first, two for each slot; a power of two, or none at all
    count   how many features are in it: those with the numbers below this one
    """

    def __init__(self, slots):
        self.slots = slots
        self.mask = len(slots) // 2 - 1
        self.count = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def insert(self, place: cython.longlong, feature: str) -> cython.void:
        """Put the next number into the first free slot from a place on."""
        slot: cython.Py_ssize_t = place & self.mask
        while self.slots[2 * slot] != 0:
            slot = (slot + 1) & self.mask
        self.count += 1
        self.slots[2 * slot] = (((place >> 20) & _LOW) << 32) + self.count
        self.slots[2 * slot + 1] = _address(feature)

    @cython.cfunc
    @cython.exceptval(check=False)
    def remove(self, place: cython.longlong) -> cython.void:
        """Take out the highest number, which belongs to a place.

        It came last, so that no other was sent on by it: the table is as it was before.
        """
        slot: cython.Py_ssize_t = place & self.mask
        while (self.slots[2 * slot] & _LOW) != self.count:
            slot = (slot + 1) & self.mask
        self.slots[2 * slot] = 0
        self.count -= 1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def next(self, slot: cython.Py_ssize_t, place: cython.longlong) -> cython.Py_ssize_t:
        """The first slot from this one on that may hold what belongs to the place, or is free."""
        tag: cython.longlong = (place >> 20) & _LOW
        slot = slot & self.mask
        while self.slots[2 * slot] != 0 and self.slots[2 * slot] >> 32 != tag:
            slot = (slot + 1) & self.mask
        return slot

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def number(self, slot: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The number in a slot; −1 in a free one."""
        return (self.slots[2 * slot] & _LOW) - 1


@cython.final
@cython.cclass
class FeatureNames:
    """The features by number, and the two tables that find them; either may lag behind.

    names   the features; they are only added, or removed from the end
    """

    def __init__(self, names, whole, parts):
        self.names = names
        self.use_whole(whole)
        self.use_parts(parts)

    def use_whole(self, slots):
        """Enter all features into this table of zeros; none where it has no slots."""
        table: Slots = Slots(slots)
        if len(slots):
            for feature in self.names:
                table.insert(hash(feature), feature)
        self.whole = table

    def use_parts(self, slots):
        """The same for the other table."""
        table: Slots = Slots(slots)
        if len(slots):
            for feature in self.names:
                table.insert(_place_of(feature), feature)
        self.parts = table

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def find(self, table: Slots, place: cython.longlong, feature: str) -> cython.Py_ssize_t:
        """The number of a feature that belongs to this place of a table; −1 for none."""
        slot: cython.Py_ssize_t = table.next(place & table.mask, place)
        number: cython.Py_ssize_t = table.number(slot)
        while number >= 0 and self.names[number] != feature:
            slot = table.next(slot + 1, place)
            number = table.number(slot)
        return number

    @cython.ccall
    @cython.exceptval(-2, check=True)
    def number_of(self, feature: str, grow: cython.bint) -> cython.Py_ssize_t:
        """The number of a feature, or −1; with `grow` a new one gets the next number.

        All features are in `whole`, and there is room for one more.
        """
        number: cython.Py_ssize_t = self.find(self.whole, hash(feature), feature)
        if number < 0 and grow:
            number = self.add(self.whole, hash(feature), feature)
        return number

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def add(self, table: Slots, place: cython.longlong, feature: str) -> cython.Py_ssize_t:
        """Give a new feature the next number, and enter it into one table."""
        number: cython.Py_ssize_t = len(self.names)
        self.names.append(feature)
        table.insert(place, feature)
        return number

    def forget(self, count):
        """Remove the newest features and return them, oldest first."""
        removed = []
        for _ in range(count):
            feature = self.names.pop()
            if self.whole.count > len(self.names):
                self.whole.remove(hash(feature))
            if self.parts.count > len(self.names):
                self.parts.remove(_place_of(feature))
            removed.append(feature)
        return removed[::-1]

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def is_ready(self, table: Slots, more: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Whether the table has room for so many features more; then all are in it."""
        total: cython.Py_ssize_t = len(self.names)
        if 4 * (total + more) >= table.slots.shape[0]:
            return False
        while table.count < total:  # those that came by the other table
            feature = self.names[table.count]
            table.insert(_place_of(feature) if table is self.parts else hash(feature), feature)
        return True

    def has_whole(self, more):
        """The same of the table of whole strings."""
        return self.is_ready(self.whole, more) == 1


@cython.final
@cython.cclass
class FeatureReader:
    """Writes the features of tokens, one token's behind the other's.

    known       the features that have a number
    grow        whether a new feature gets the next number
    features, values
                buffers (see `use_buffers`); values are written once one of them is not 1
    ends        where the features of each token end, ends[0] = 0 first: see `begin`
    slowly      a function that reads any token: its features' numbers, each once, and their values.
                It is called for tokens that are not simply different strings, numbers and flags
    items       a buffer of AHEAD rows, for the addresses of names and values: 2 ROW in a row
    places, at, weights
                buffers of AHEAD rows of ROW: the hashes of a token's features, their slots, values
    sizes, lists
                buffers of AHEAD: how many entries a token has, or _NOT_SIMPLE; whether it is a list
    seen, flags buffers of REMEMBERED numbers: the addresses of names of entries, and their places
    token       the next one of all `total` to be read: `within` this `sentence`
    noted, hashed, prepared
                the next token of all for each of these stages
    next_sentence, next_within
                where the next one to be noted stands
    """

    def __init__(
        self, known, grow, ends, slowly, items, places, at, weights, sizes, lists, seen, flags
    ):
        self.known = known
        self.grow = grow
        # So many features may be new before a table is looked at again.
        self.room = _TOGETHER if grow else 0
        self.ends = ends
        self.slowly = slowly
        self.items = items
        self.places = places
        self.at = at
        self.weights = weights
        self.sizes = sizes
        self.lists = lists
        self.seen = seen
        self.flags = flags
        self.begin(0)

    def use_buffers(self, features, values):
        """Continue with these buffers, which begin with what has been read so far."""
        self.features = features
        self.values = values

    def begin(self, n_tokens):
        """Read so many tokens from the beginning: `ends` has one place more at the least."""
        self.total = n_tokens
        self.token = 0
        self.sentence = 0
        self.within = 0
        self.has_values = False

    @cython.cfunc
    @cython.exceptval(check=False)
    def begin_again(self) -> cython.void:
        """Take back the stages of all tokens that are not read yet."""
        self.noted = self.hashed = self.prepared = self.token
        self.next_sentence = self.sentence
        self.next_within = self.within

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def note(self, sentences: list) -> cython.Py_ssize_t:
        """The first stage of the next token; there is one."""
        row: cython.Py_ssize_t = self.noted % _AHEAD
        tokens: list = sentences[self.next_sentence]
        while self.next_within >= len(tokens):
            self.next_sentence += 1
            self.next_within = 0
            tokens = sentences[self.next_sentence]
        token = tokens[self.next_within]
        self.sizes[row] = _NOT_SIMPLE
        self.lists[row] = type(token) is list
        if type(token) is list:
            if len(token) <= _TOGETHER:
                note_list(token, self.items, 2 * _ROW * row)
                self.sizes[row] = len(token)
        elif type(token) is dict and len(token) <= _TOGETHER:
            note_dict(token, self.items, 2 * _ROW * row)
            self.sizes[row] = len(token)
        self.next_within += 1
        self.noted += 1
        ask_for_token(tokens, self.next_within + 1)
        return 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def place_of_flag(self, name: cython.longlong) -> cython.longlong:
        """Where a feature that is a name alone belongs in the table of parts.

        Names are keys of the dicts that are being read, so that none of them goes, and its address
        to another, before all are read.
        """
        slot: cython.Py_ssize_t = (name >> 4 ^ name >> 12) & (_REMEMBERED - 1)
        if self.seen[slot] != name:
            self.flags[slot] = _place_of(_text(name))
            self.seen[slot] = name
        return self.flags[slot]

    @cython.cfunc
    @cython.inline
    def table_of(self, row: cython.Py_ssize_t) -> Slots:
        """The table in which the features of a token are found."""
        return self.known.whole if self.lists[row] else self.known.parts

    @cython.cfunc
    @cython.exceptval(check=False)
    def hash_list(self, row: cython.Py_ssize_t) -> cython.bint:
        """The second stage of a list; whether it is one of strings."""
        table: Slots = self.known.whole
        items: cython.Py_ssize_t = 2 * _ROW * row
        own: cython.Py_ssize_t = _ROW * row
        i: cython.Py_ssize_t
        for i in range(self.sizes[row]):
            if not is_text(self.items[items + i]):
                return False
            self.places[own + i] = hash_of(self.items[items + i])
            prefetch(cython.address(table.slots[2 * (self.places[own + i] & table.mask)]))
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def hash_dict(self, row: cython.Py_ssize_t) -> cython.bint:
        """The second stage of a dict; whether it is one of strings, numbers and flags."""
        table: Slots = self.known.parts
        items: cython.Py_ssize_t = 2 * _ROW * row
        own: cython.Py_ssize_t = _ROW * row
        name: cython.longlong
        value: cython.longlong
        weight: cython.double
        i: cython.Py_ssize_t
        for i in range(self.sizes[row]):
            name = self.items[items + 2 * i]
            value = self.items[items + 2 * i + 1]
            if not is_text(name):
                return False
            if is_text(value):
                self.weights[own + i] = 1.0
                self.places[own + i] = _joined(hash_of(name), hash_of(value))
            else:
                given = _object(value)
                if given is True or given is False:
                    self.weights[own + i] = 1.0 if given is True else 0.0
                elif type(given) is float or type(given) is int:
                    # Objects are compared: of C's numbers the compiler believes that none is NaN.
                    if not (-LARGEST <= given and given <= LARGEST):
                        return False
                    weight = given
                    self.weights[own + i] = weight
                else:
                    return False
                self.places[own + i] = self.place_of_flag(name)
            prefetch(cython.address(table.slots[2 * (self.places[own + i] & table.mask)]))
        return True

    @cython.cfunc
    @cython.exceptval(check=False)
    def prepare(self, table: Slots, row: cython.Py_ssize_t) -> cython.void:
        """The third stage: at[i] = the first slot that may hold the feature of places[i]."""
        own: cython.Py_ssize_t = _ROW * row
        slot: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for i in range(own, own + self.sizes[row]):
            slot = table.next(self.places[i] & table.mask, self.places[i])
            self.at[i] = slot
            prefetch(cython.cast(cython.p_void, table.slots[2 * slot + 1]))

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
    def listed(self, row: cython.Py_ssize_t, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the features of a list of strings; returns their end."""
        table: Slots = self.known.whole
        items: cython.Py_ssize_t = 2 * _ROW * row
        own: cython.Py_ssize_t = _ROW * row
        end: cython.Py_ssize_t = begin
        place: cython.longlong
        number: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for i in range(self.sizes[row]):
            place = self.places[own + i]
            # A feature before it may have come into a slot that was free.
            slot = table.next(self.at[own + i], place)
            number = table.number(slot)
            while number >= 0 and not is_same(table.slots[2 * slot + 1], self.items[items + i]):
                slot = table.next(slot + 1, place)
                number = table.number(slot)
            if number < 0:
                if not self.grow:
                    continue
                number = self.known.add(table, place, _text(self.items[items + i]))
            self.write(end, number, 1.0)
            end += 1
        return end

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def entries(self, row: cython.Py_ssize_t, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The same for a dict."""
        table: Slots = self.known.parts
        items: cython.Py_ssize_t = 2 * _ROW * row
        own: cython.Py_ssize_t = _ROW * row
        end: cython.Py_ssize_t = begin
        name: cython.longlong
        value: cython.longlong
        place: cython.longlong
        number: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for i in range(self.sizes[row]):
            if self.weights[own + i] == 0.0:
                continue
            name = self.items[items + 2 * i]
            value = self.items[items + 2 * i + 1]
            place = self.places[own + i]
            slot = table.next(self.at[own + i], place)
            number = table.number(slot)
            if is_text(value):
                while number >= 0 and not is_joined(table.slots[2 * slot + 1], name, value):
                    slot = table.next(slot + 1, place)
                    number = table.number(slot)
                if number < 0:
                    number = self.whole_entry(_text(name), _text(value))
            else:
                while number >= 0 and not is_same(table.slots[2 * slot + 1], name):
                    slot = table.next(slot + 1, place)
                    number = table.number(slot)
                if number < 0 and self.grow:
                    number = self.known.add(table, place, _text(name))
            if number >= 0:
                self.write(end, number, self.weights[own + i])
                end += 1
        return end

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def whole_entry(self, name: str, value: str) -> cython.Py_ssize_t:
        """The number of name:value, which is not found by the hashes of the two; −1 for none.

        It is either new or belongs elsewhere, if the last colon is one of the value's.
        """
        place: cython.longlong
        number: cython.Py_ssize_t
        if ":" not in value:
            if not self.grow:
                return _UNKNOWN
            place = _joined(hash(name), hash(value))
            return self.known.add(self.known.parts, place, f"{name}:{value}")
        feature: str = f"{name}:{value}"
        place = _place_of(feature)
        number = self.known.find(self.known.parts, place, feature)
        if number < 0 and self.grow:
            number = self.known.add(self.known.parts, place, feature)
        return number

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

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def look_ahead(self, sentences: list) -> cython.Py_ssize_t:
        """Bring the next tokens to their stages, and the next of all through three of them."""
        total: cython.Py_ssize_t = self.total
        row: cython.Py_ssize_t
        simple: cython.bint
        while self.noted < total and self.noted < self.token + _AHEAD:
            self.note(sentences)
        while self.hashed < total and self.hashed < self.token + _AHEAD - 1:
            row = self.hashed % _AHEAD
            if self.table_of(row).slots.shape[0] == 0:
                break  # until it is the next token of all, for which the caller makes a table
            if self.sizes[row] > 0:
                simple = self.hash_list(row) if self.lists[row] else self.hash_dict(row)
                if not simple:
                    self.sizes[row] = _NOT_SIMPLE
            self.hashed += 1
        while self.prepared < self.hashed and self.prepared < self.token + _AHEAD - 2:
            row = self.prepared % _AHEAD
            self.prepare(self.table_of(row), row)
            self.prepared += 1
        return self.token % _AHEAD

    @cython.ccall
    @cython.exceptval(-2, check=True)
    def read(self, sentences: list) -> cython.Py_ssize_t:
        """Read on; returns ALL_READ, or how many features the next token has, for which the buffers
        are too short, or which table must be filled or enlarged.

        sentences : lists of as many tokens in all as `begin` was told of
        When `slowly` raises an error, `get_token` tells at which token.
        """
        i: cython.Py_ssize_t
        for i in range(_REMEMBERED):
            self.seen[i] = 0
        more: cython.Py_ssize_t
        self.begin_again()
        while self.sentence < len(sentences):
            tokens: list = sentences[self.sentence]
            while self.within < len(tokens):
                more = self.read_token(sentences, tokens[self.within])
                if more != _ALL_READ:
                    return more
            self.sentence += 1
            self.within = 0
        return _ALL_READ

    @cython.cfunc
    @cython.exceptval(-2, check=True)
    def read_token(self, sentences: list, token) -> cython.Py_ssize_t:
        """The same for the next token."""
        begin: cython.Py_ssize_t = self.ends[self.token]
        end: cython.Py_ssize_t = _NOT_SIMPLE
        row: cython.Py_ssize_t
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        if cython.compiled:
            if type(token) is list and not self.known.is_ready(self.known.whole, self.room):
                return _WHOLE_FULL
            if type(token) is dict and not self.known.is_ready(self.known.parts, self.room):
                return _PARTS_FULL
            row = self.look_ahead(sentences)
            n = self.sizes[row]
            if begin + n > self.features.shape[0]:
                return n
            if n >= 0:
                end = self.listed(row, begin) if self.lists[row] else self.entries(row, begin)
        called: cython.bint = end < 0 or not self.all_different(begin, end)
        if called:
            numbers, weights = self.slowly(token)
            end = begin + len(numbers)
            if end > self.features.shape[0]:
                return len(numbers)
            for i in range(len(numbers)):
                self.write(begin + i, numbers[i], weights[i])
        self.token += 1
        self.within += 1
        self.ends[self.token] = end
        if called:
            self.begin_again()  # what it called may have changed tokens, and tables
        return _ALL_READ

    def get_token(self):
        """How many tokens have been read."""
        return self.token

    def get_values(self):
        """Whether any value is not 1."""
        return self.has_values
