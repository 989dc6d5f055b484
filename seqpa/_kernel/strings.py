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
def cells(
    text: str,
    separator: str,
    columns: list,
    pool: dict,
    table: cython.int[::1],
    begins: cython.int[::1],
    ends: cython.int[::1],
):
    """Append each cell of a text to its column: a list, or None for a column that is not wanted.

    Cells end with the separator or the line, and every line has as many as there are columns.
    Equal cells become one object, that of the pool, and are cut out of the text only once: `table`
    (zeros; a power of two, twice as many as there are cells or more) leads from a cell's hash to
    the one before it that is equal, of which `begins` and `ends` keep the places.
    """
    known: list = []
    column: list
    sign: cython.Py_UCS4
    between: cython.Py_UCS4 = separator[0]
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t = 0
    e: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t = len(text)
    n_columns: cython.Py_ssize_t = len(columns)
    mask: cython.Py_ssize_t = table.shape[0] - 1
    value: cython.longlong = 1
    for i in range(size + 1):
        sign = text[i] if i < size else "\n"
        if sign != between and sign != "\n":
            value = _with(value, ord(sign))
            continue
        if columns[k] is not None:
            slot = _spread(value) & mask
            while True:
                e = table[slot] - 1
                if e < 0:
                    e = len(known)
                    table[slot] = e + 1
                    begins[e] = begin
                    ends[e] = i
                    cell = text[begin:i]
                    known.append(pool.setdefault(cell, cell))
                    break
                if ends[e] - begins[e] == i - begin:
                    j = 0
                    while begin + j < i and text[begins[e] + j] == text[begin + j]:
                        j += 1
                    if begin + j == i:
                        break
                slot = (slot + 1) & mask
            column = columns[k]
            column.append(known[e])
        k = k + 1 if k + 1 < n_columns else 0
        begin = i + 1
        value = 1
