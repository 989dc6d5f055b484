"""Columns of text as bytes: where the cells are, which words they hold, the same with labels.

For the plain case, in which every line is blank or a token; whoever finds anything else says so,
and `seqpa.data` reads the text. C types of attributes stand in column_text.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

COMPILED = cython.compiled

_NEWLINE = cython.declare(cython.int, 10)
_TAB = cython.declare(cython.int, 9)
_SPACE = cython.declare(cython.int, 32)
_HASH = cython.declare(cython.int, 35)
_MINUS = cython.declare(cython.int, 45)
_EQUALS = cython.declare(cython.int, 61)
_B = cython.declare(cython.int, 98)
_D = cython.declare(cython.int, 68)
_E = cython.declare(cython.int, 101)
_N = cython.declare(cython.int, 110)


@cython.final
@cython.cclass
class WordIndex:
    """Words by their bytes, numbered in the order in which they came.

    text, starts   the words' bytes behind each other; word k is text[starts[k]:starts[k + 1]]
    slots          open addressing: 0, or one more than a word's number; a power of two of them,
                   more than twice as many as there are words
    """

    def __init__(self, text, starts, slots, size):
        self.text = text
        self.starts = starts
        self.slots = slots
        self.mask = len(slots) - 1
        self.size = 0
        while self.size < size:
            at = self.find(text, starts[self.size], starts[self.size + 1])
            self.size += 1
            slots[at] = self.size

    def get_size(self):
        """How many words there are."""
        return self.size

    def clear(self):
        """Forget all words."""
        i: cython.Py_ssize_t
        for i in range(self.mask + 1):
            self.slots[i] = 0
        self.size = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find(
        self,
        data: cython.const[cython.uchar][::1],
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """The slot in which the word data[begin:end] stands, or belongs."""
        mixed: cython.longlong = cython.cast(cython.longlong, end - begin)
        slot: cython.Py_ssize_t
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for i in range(begin, end):
            mixed = (mixed * 31 + cython.cast(cython.longlong, data[i])) & 0x7FFFFFFF
        slot = ((mixed * 0x5BD1E995) >> 15) & self.mask
        while self.slots[slot] > 0:
            k = self.slots[slot] - 1
            at = self.starts[k]
            if self.starts[k + 1] - at == end - begin:
                i = begin
                while i < end and self.text[at + i - begin] == data[i]:
                    i += 1
                if i == end:
                    return slot
            slot = (slot + 1) & self.mask
        return slot

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def number(
        self,
        data: cython.const[cython.uchar][::1],
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        enter: cython.bint,
    ) -> cython.Py_ssize_t:
        """The number of the word data[begin:end]; −1 if it has none, or with `enter` a new one."""
        slot: cython.Py_ssize_t = self.find(data, begin, end)
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        if self.slots[slot] == 0:
            if not enter:
                return -1
            at = self.starts[self.size]
            for i in range(begin, end):
                self.text[at + i - begin] = data[i]
            self.size += 1
            self.starts[self.size] = at + end - begin
            self.slots[slot] = self.size
        return self.slots[slot] - 1


@cython.ccall
@cython.exceptval(-2, check=True)
def scan(
    data: cython.const[cython.uchar][::1],
    separator: cython.int,
    width: cython.Py_ssize_t,
    most: cython.Py_ssize_t,
    wanted: cython.const[cython.longlong][::1],
    begins: cython.int[:, ::1],
    ends: cython.int[:, ::1],
    lines: cython.int[::1],
    starts: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Where tokens, cells and sentences are in lines of `width` cells; how many sentences, or −1
    where a line may be something else than a token or blank.

    wanted   for each cell of a line −1, or the row of begins and ends that it is noted in
    lines    where the line of each token ends
    starts   the first token of each sentence, and behind them the number of tokens
    most     so many tokens a sentence has at the most
    """
    found: cython.Py_ssize_t
    with cython.nogil:
        found = _scan(data, separator, width, most, wanted, begins, ends, lines, starts)
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _scan(
    data: cython.const[cython.uchar][::1],
    separator: cython.int,
    width: cython.Py_ssize_t,
    most: cython.Py_ssize_t,
    wanted: cython.const[cython.longlong][::1],
    begins: cython.int[:, ::1],
    ends: cython.int[:, ::1],
    lines: cython.int[::1],
    starts: cython.longlong[::1],
) -> cython.Py_ssize_t:
    size: cython.Py_ssize_t = data.shape[0]
    i: cython.Py_ssize_t = 0
    line: cython.Py_ssize_t
    cell: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    tokens: cython.Py_ssize_t = 0
    sentences: cython.Py_ssize_t = 0
    sign: cython.int
    starts[0] = 0
    while i < size:
        sign = data[i]
        if sign == _NEWLINE:
            if tokens > starts[sentences]:
                if tokens - starts[sentences] > most:
                    return -1
                sentences += 1
                starts[sentences] = tokens
            i += 1
            continue
        if sign == _SPACE or sign == _TAB:
            return -1
        line = i
        # -DOCSTART-, and CoNLL-2012's #begin document and #end document
        if i + 1 < size and (
            (sign == _MINUS and data[i + 1] == _D)
            or (sign == _HASH and (data[i + 1] == _B or data[i + 1] == _E))
        ):
            return -1
        if (  # perhaps `# newdoc`, which may have as many cells as a token
            sign == _HASH
            and separator == _SPACE
            and i + 2 < size
            and data[i + 1] == _SPACE
            and data[i + 2] == _N
        ):
            return -1
        cell = 0
        begin = i
        while i < size:
            sign = data[i]
            if sign == _NEWLINE:
                break
            if sign == separator:
                if begin == i and separator == _SPACE:
                    return -1
                if cell >= width:
                    return -1
                if wanted[cell] >= 0:
                    begins[wanted[cell], tokens] = begin
                    ends[wanted[cell], tokens] = i
                cell += 1
                begin = i + 1
                if (
                    cell == 2
                    and separator == _SPACE
                    and data[line] == _HASH
                    and begin < size
                    and data[begin] == _EQUALS
                ):
                    return -1  # perhaps `# key = value`
            elif sign == _TAB:
                return -1
            i += 1
        if cell != width - 1 or (begin == i and separator == _SPACE):
            return -1
        if wanted[cell] >= 0:
            begins[wanted[cell], tokens] = begin
            ends[wanted[cell], tokens] = i
        lines[tokens] = i
        tokens += 1
        i += 1
    if tokens > starts[sentences]:
        if tokens - starts[sentences] > most:
            return -1
        sentences += 1
        starts[sentences] = tokens
    return sentences


@cython.ccall
def number(
    data: cython.const[cython.uchar][::1],
    begins: cython.const[cython.int][::1],
    ends: cython.const[cython.int][::1],
    known: WordIndex,
    others: WordIndex,
    out: cython.int[::1],
):
    """out[t] = the number of the word data[begins[t]:ends[t]]; those that are not among the `known`
    ones count on behind them, as they stand, or are now entered, in `others`."""
    t: cython.Py_ssize_t
    found: cython.Py_ssize_t
    with cython.nogil:
        for t in range(begins.shape[0]):
            found = known.number(data, begins[t], ends[t], False)
            if found < 0:
                found = known.size + others.number(data, begins[t], ends[t], True)
            out[t] = found


@cython.ccall
@cython.exceptval(-1, check=True)
def write(
    data: cython.const[cython.uchar][::1],
    lines: cython.const[cython.int][::1],
    labels: cython.const[cython.int][::1],
    separator: cython.uchar,
    names: cython.const[cython.uchar][::1],
    name_at: cython.const[cython.longlong][::1],
    out: cython.uchar[::1],
) -> cython.Py_ssize_t:
    """out = the data, with a separator and the name of its label behind each token's line, and an
    end behind the last line; returns how long that is."""
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    size: cython.Py_ssize_t = 0
    with cython.nogil:
        for t in range(lines.shape[0]):
            k = lines[t] - i
            for j in range(k):
                out[size + j] = data[i + j]
            size += k
            i = lines[t]
            out[size] = separator
            size += 1
            k = name_at[labels[t] + 1] - name_at[labels[t]]
            for j in range(k):
                out[size + j] = names[name_at[labels[t]] + j]
            size += k
        k = data.shape[0] - i
        for j in range(k):
            out[size + j] = data[i + j]
        size += k
        if size > 0 and out[size - 1] != _NEWLINE:
            out[size] = _NEWLINE
            size += 1
    return size
