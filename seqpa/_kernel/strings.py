"""Strings to numbers and back: the walks over Python's own objects around encoding.

Hash tables of strings are keyed: whoever writes a text knows neither `_BASE` nor `_FACTOR`, so
nobody can choose words that meet in one place of a table. A string c_1 ... c_n has the value
r^n + c_1 r^(n-1) + ... + c_n modulo the prime p = 2^31 − 1 at the secret r = `_BASE`. Two strings
of at most n characters agree at no more than n of the 2^29 possible r, whatever they are: a look-up
in a table of a text of m characters meets m / 2^29 others of its value on average. A secret factor
then spreads the values over the table. The tables only find equal strings again, so that no result
and no order depends on the keys.
"""

from __future__ import annotations

from secrets import randbits

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

COMPILED = cython.compiled
_PRIME = cython.declare(cython.longlong, 0x7FFFFFFF)
_BASE = cython.declare(cython.longlong, (1 << 29) + randbits(29))
_FACTOR = cython.declare(cython.longlong, (1 << 29) + randbits(29))


@cython.ccall
def columns_of(sentences, width: cython.Py_ssize_t):
    """The cells of all tokens in one list for each column; None where a token is no tuple of
    `width` cells.

    Where a token has one cell, it may stand there without a tuple.
    """
    columns: list = [[] for _ in range(width)]
    cells: list
    tokens: list
    c: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for sentence in sentences:
        tokens = sentence if type(sentence) is list else list(sentence)
        for c in range(width):
            # A sentence's tokens are still near when the next column's turn comes.
            cells = columns[c]
            for i in range(len(tokens)):
                token = tokens[i]
                if isinstance(token, tuple):
                    if len(token) != width:
                        return None
                    cells.append(token[c])
                elif width == 1:
                    cells.append(token)
                else:
                    return None
    return columns


@cython.cfunc
@cython.inline
def _address(word) -> cython.Py_ssize_t:
    """A number by which the same object is known again."""
    if cython.compiled:
        place: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, cython.cast(cython.p_void, word))
    else:
        place = id(word)
    return place


@cython.ccall
@cython.exceptval(-2, check=True)
def number(
    words: list,
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    numbers: dict,
    fresh: dict,
    last: cython.int[::1],
    out: cython.int[::1],
) -> cython.Py_ssize_t:
    """out[i] = the number of words[begin + i], up to `end`; returns the first that is not a
    string, or -1.

    A word that is not in `numbers` gets the next free one in `fresh`; `numbers` stays as it is.
    A corpus often has one object for all occurrences of a word. `last` remembers where objects
    occurred last, which is faster than looking them up: a buffer of numbers >= 0, its length a
    power of two. What an earlier call left there does no harm.
    """
    known: cython.Py_ssize_t = len(numbers)
    mask: cython.Py_ssize_t = last.shape[0] - 1
    place: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    for i in range(end - begin):
        word = words[begin + i]
        place = _address(word)
        slot = (place >> 4 ^ place >> 16) & mask
        j = last[slot]
        last[slot] = i
        if j < i and words[begin + j] is word:
            out[i] = out[j]
            continue
        if type(word) is not str:
            if not isinstance(word, str):
                return begin + i
            word = str.__str__(word)  # the characters alone: a subclass may hash or compare oddly
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
    last = None  # all values of a flag are the same object
    number: cython.int = -1
    i: cython.Py_ssize_t
    for i in range(len(values)):
        value = values[i]
        if value is None:
            out[i] = -1
            continue
        if value is not last:
            found = numbers.get(value)
            number = -1 if found is None else found
            last = value
        out[i] = number


@cython.ccall
def enter(values: list, numbers: dict, out: cython.int[::1]):
    """out[i] = the number of values[i], -1 where it is None; a new value gets the next number."""
    i: cython.Py_ssize_t
    for i in range(len(values)):
        value = values[i]
        if value is None:
            out[i] = -1
        else:
            found = numbers.get(value)
            if found is None:
                found = len(numbers)
                numbers[value] = found
            out[i] = found


@cython.ccall
def prefixes(words, length: cython.Py_ssize_t):
    """The first `length` characters of each word, None for a shorter one."""
    found: list = []
    word: str
    for item in words:
        word = item if type(item) is str else str.__str__(item)
        found.append(word[:length] if len(word) >= length else None)
    return found


@cython.ccall
def suffixes(words, length: cython.Py_ssize_t):
    """The last `length` characters of each word, None for a shorter one."""
    found: list = []
    word: str
    n: cython.Py_ssize_t
    for item in words:
        word = item if type(item) is str else str.__str__(item)
        n = len(word)
        found.append(word[n - length :] if n >= length else None)
    return found


@cython.ccall
@cython.exceptval(-2, check=True)
def starts(
    lengths: cython.const[cython.longlong][::1], out: cython.longlong[::1]
) -> cython.Py_ssize_t:
    """out[s] = the sum of the lengths before s, and the last entry the sum of all.

    Returns the least length if it is negative, otherwise 0.
    """
    least: cython.Py_ssize_t = 0
    s: cython.Py_ssize_t
    out[0] = 0
    for s in range(lengths.shape[0]):
        least = min(least, lengths[s])
        out[s + 1] = out[s] + lengths[s]
    return least


@cython.ccall
def ends(words: list, out: cython.longlong[::1]):
    """out[i + 1] = where word i ends in the text that all words make up; out[0] = 0."""
    end: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    word: str
    out[0] = 0
    for i in range(len(words)):
        word = str(words[i])  # exactly a str, whose length is its own
        end += len(word)
        out[i + 1] = end


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _with(value: cython.longlong, code: cython.longlong) -> cython.longlong:
    """The value of a string, which begins as 1, with one more character: value · r + code.

    2^31 = 1 modulo p, so that the upper bits are added to the lower ones. Values stay below 2^33
    and products below 2^63; a remainder in full would be no better and slower.
    """
    product: cython.longlong = value * _BASE + code
    return (product & _PRIME) + (product >> 31)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _spread(value: cython.longlong) -> cython.longlong:
    """Where a value belongs in a table, before it is cut to the table's size."""
    product: cython.longlong = value * _FACTOR
    product = (product & _PRIME) + (product >> 31)
    return product ^ (product >> 15)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _hashed(
    codes: cython.const[cython.uint][::1], begin: cython.Py_ssize_t, length: cython.Py_ssize_t
) -> cython.longlong:
    """A hash of some characters."""
    value: cython.longlong = 1
    i: cython.Py_ssize_t
    for i in range(begin, begin + length):
        value = _with(value, cython.cast(cython.longlong, codes[i]))
    return _spread(value)


@cython.ccall
def index_affixes(
    known: cython.const[cython.uint][::1], length: cython.Py_ssize_t, table: cython.int[::1]
):
    """Enter the number + 1 of each known affix by its hash, for `find_affixes`.

    known : their characters, `length` of each
    table : zeros; a power of two, twice as many as there are affixes or more
    """
    mask: cython.Py_ssize_t = table.shape[0] - 1
    slot: cython.Py_ssize_t
    e: cython.Py_ssize_t
    with cython.nogil:
        for e in range(known.shape[0] // length):
            slot = _hashed(known, e * length, length) & mask
            while table[slot] > 0:
                slot = (slot + 1) & mask
            table[slot] = e + 1


@cython.ccall
def find_affixes(
    codes: cython.const[cython.uint][::1],
    ends: cython.const[cython.longlong][::1],
    asked: cython.const[cython.longlong][:, ::1],
    known: cython.const[cython.uint][::1],
    table: cython.const[cython.int][::1],
    out: cython.int[:, ::1],
):
    """out[row, i] = the number of an affix of word i, -1 where the word is shorter or the affix
    not known: what `look_up` finds of `prefixes` or `suffixes`, but nothing is cut out.

    codes : the characters of all words; those of word i end at ends[i + 1]
    asked : a row for each kind of affix: its row of `out`, its length, whether it is at the end,
        where its own begin in `known` and `table`, and how much of that is its own
    """
    n_words: cython.Py_ssize_t = ends.shape[0] - 1
    row: cython.Py_ssize_t
    length: cython.Py_ssize_t
    place: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    mask: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    number: cython.Py_ssize_t
    k: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    with cython.nogil:
        for k in range(asked.shape[0]):
            row = asked[k, 0]
            length = asked[k, 1]
            mask = asked[k, 5] - 1
            for i in range(n_words):
                out[row, i] = -1
                if ends[i + 1] - ends[i] < length:
                    continue
                begin = ends[i + 1] - length if asked[k, 2] else ends[i]
                slot = _hashed(codes, begin, length) & mask
                while table[asked[k, 4] + slot] > 0:
                    number = table[asked[k, 4] + slot] - 1
                    place = asked[k, 3] + number * length
                    j = 0
                    while j < length and codes[begin + j] == known[place + j]:
                        j += 1
                    if j == length:
                        out[row, i] = number
                        break
                    slot = (slot + 1) & mask


@cython.ccall
@cython.exceptval(-1, check=True)
def enter_affixes(
    codes: cython.const[cython.uint][::1],
    ends: cython.const[cython.longlong][::1],
    length: cython.Py_ssize_t,
    at_end: cython.bint,
    table: cython.int[::1],
    first: cython.int[::1],
    out: cython.int[::1],
) -> cython.Py_ssize_t:
    """out[i] = the number of word i's affix, by the first word that has it, -1 where the word is
    shorter; returns how many there are.

    codes, ends : as for `find_affixes`
    table : zeros; a power of two, twice as many as there are words or more
    first : becomes the first word that has each affix
    """
    mask: cython.Py_ssize_t = table.shape[0] - 1
    size: cython.Py_ssize_t = 0
    begin: cython.Py_ssize_t
    place: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    w: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    with cython.nogil:
        for i in range(ends.shape[0] - 1):
            out[i] = -1
            if ends[i + 1] - ends[i] < length:
                continue
            begin = ends[i + 1] - length if at_end else ends[i]
            slot = _hashed(codes, begin, length) & mask
            while table[slot] > 0:
                w = first[table[slot] - 1]
                place = ends[w + 1] - length if at_end else ends[w]
                j = 0
                while j < length and codes[begin + j] == codes[place + j]:
                    j += 1
                if j == length:
                    break
                slot = (slot + 1) & mask
            if table[slot] == 0:
                first[size] = i
                size += 1
                table[slot] = size
            out[i] = table[slot] - 1
    return size


@cython.ccall
def with_upper(words):
    """ "" for each word that has an upper-case letter, else None.

    >>> with_upper(["iPod", "été", "ÉTÉ"])
    ['', None, '']
    """
    found: list = []
    word: str
    for item in words:
        word = item if type(item) is str else str.__str__(item)
        flag = None
        for character in word:
            if character.isupper():
                flag = ""
                break
        found.append(flag)
    return found


@cython.ccall
def with_digit(words):
    """ "" for each word that has a decimal digit, else None.

    >>> with_digit(["b-1", "١٢", "two", "²"])
    ['', '', None, None]
    """
    found: list = []
    word: str
    for item in words:
        word = item if type(item) is str else str.__str__(item)
        flag = None
        for character in word:
            if "0" <= character <= "9" or (character > "\x7f" and character.isdecimal()):
                flag = ""
                break
        found.append(flag)
    return found


@cython.ccall
def with_hyphen(words):
    """ "" for each word that has a hyphen, else None.

    >>> with_hyphen(["b-1", "two"])
    ['', None]
    """
    found: list = []
    word: str
    for item in words:
        word = item if type(item) is str else str.__str__(item)
        found.append("" if "-" in word else None)
    return found


@cython.ccall
def spell(
    labels: list,
    numbers: cython.const[cython.int][::1],
    starts: cython.const[cython.longlong][::1],
):
    """labels[numbers[i]] for the tokens starts[s]:starts[s + 1] of each sentence s, in lists."""
    sentences: list = []
    sentence: list
    s: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for s in range(starts.shape[0] - 1):
        sentence = []
        for i in range(starts[s], starts[s + 1]):
            sentence.append(labels[numbers[i]])
        sentences.append(sentence)
    return sentences


@cython.ccall
@cython.exceptval(-1, check=True)
def cells(
    data: cython.const[cython.uchar][::1],
    lines: cython.const[cython.longlong][::1],
    separator: cython.int,
    wanted: cython.const[cython.longlong][::1],
    table: cython.int[::1],
    begins: cython.int[::1],
    ends: cython.int[::1],
    out: cython.int[:, ::1],
) -> cython.Py_ssize_t:
    """out[wanted[c], t] = the number of cell c of line t, equal cells having the same one, that of
    the first of them; returns how many are different.

    data, lines : bytes, and where lines begin in them; cells end with the separator or the line
    wanted : for each cell the row of `out`, -1 where it is not wanted; a line has as many or more
    table : zeros; a power of two, twice as many as there are cells or more
    begins, ends : become the places of the cells that are different, by their numbers
    """
    size: cython.Py_ssize_t = data.shape[0]
    n_cells: cython.Py_ssize_t = wanted.shape[0]
    mask: cython.Py_ssize_t = table.shape[0] - 1
    found: cython.Py_ssize_t = 0
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    c: cython.Py_ssize_t
    e: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    value: cython.longlong
    with cython.nogil:
        for t in range(lines.shape[0]):
            i = lines[t]
            for c in range(n_cells):
                begin = i
                value = 1
                if wanted[c] < 0:
                    while i < size and data[i] != separator and data[i] != 10:
                        i += 1
                    i += 1
                    continue
                while i < size and data[i] != separator and data[i] != 10:
                    value = _with(value, cython.cast(cython.longlong, data[i]))
                    i += 1
                slot = _spread(value) & mask
                while True:
                    e = table[slot] - 1
                    if e < 0:
                        e = found
                        found += 1
                        table[slot] = found
                        begins[e] = begin
                        ends[e] = i
                        break
                    if ends[e] - begins[e] == i - begin:
                        j = 0
                        while begin + j < i and data[begins[e] + j] == data[begin + j]:
                            j += 1
                        if begin + j == i:
                            break
                    slot = (slot + 1) & mask
                out[wanted[c], t] = e
                i += 1
    return found


@cython.ccall
@cython.exceptval(-1, check=True)
def find_cells(
    data: cython.const[cython.uchar][::1],
    begins: cython.const[cython.int][::1],
    ends: cython.const[cython.int][::1],
    text: cython.uchar[::1],
    starts: cython.longlong[::1],
    table: cython.int[::1],
    size: cython.Py_ssize_t,
    out: cython.int[::1],
) -> cython.Py_ssize_t:
    """out[e] = the number of data[begins[e]:ends[e]] among known cells, of which there are `size`;
    one that is not known is added behind them; returns how many there are then.

    text, starts : known cell k is text[starts[k]:starts[k + 1]]; with space for those that are new
    table : leads from a cell's hash to its number + 1; a power of two, twice as many as there will
        be cells or more
    """
    mask: cython.Py_ssize_t = table.shape[0] - 1
    e: cython.Py_ssize_t
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t
    k: cython.Py_ssize_t
    at: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    value: cython.longlong
    with cython.nogil:
        for e in range(begins.shape[0]):
            n = ends[e] - begins[e]
            value = 1
            for i in range(n):
                value = _with(value, cython.cast(cython.longlong, data[begins[e] + i]))
            slot = _spread(value) & mask
            while True:
                k = table[slot] - 1
                if k < 0:
                    k = size
                    size += 1
                    table[slot] = size
                    at = starts[k]
                    for i in range(n):
                        text[at + i] = data[begins[e] + i]
                    starts[size] = at + n
                    break
                at = starts[k]
                if starts[k + 1] - at == n:
                    i = 0
                    while i < n and text[at + i] == data[begins[e] + i]:
                        i += 1
                    if i == n:
                        break
                slot = (slot + 1) & mask
            out[e] = k
    return size


@cython.ccall
def index_cells(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    size: cython.Py_ssize_t,
    table: cython.int[::1],
):
    """Enter the number + 1 of each known cell by its hash into an empty table: see `find_cells`."""
    mask: cython.Py_ssize_t = table.shape[0] - 1
    k: cython.Py_ssize_t
    i: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    value: cython.longlong
    with cython.nogil:
        for k in range(size):
            value = 1
            for i in range(starts[k], starts[k + 1]):
                value = _with(value, cython.cast(cython.longlong, text[i]))
            slot = _spread(value) & mask
            while table[slot] > 0:
                slot = (slot + 1) & mask
            table[slot] = k + 1


@cython.ccall
def picked(items: list, numbers: cython.const[cython.int][::1]):
    """items[numbers[i]] for each i, in a list."""
    found: list = []
    i: cython.Py_ssize_t
    for i in range(numbers.shape[0]):
        found.append(items[numbers[i]])
    return found
