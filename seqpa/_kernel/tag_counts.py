"""Which labels words have and how often, over all tokens of a text; which words are alike in it.

Tokens come sorted by their words and then by their places: `order[r]` is the number of the r-th,
and those of word w are order[begin[w]:begin[w + 1]]. The labels of all words stand behind each
other: word w has label[k] n[k] times, for k from labels_begin[w] to labels_begin[w + 1].

Labels are numbered in the order of their names. C types of attributes stand in tag_counts.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

COMPILED = cython.compiled

# A kind is its best label, its purity and how often it has the best one, and then its frequent
# labels; one that has no label is these two numbers.
HEAD = 2
_HEAD = cython.declare(cython.Py_ssize_t, 2)
# A label that is among the frequent ones has at least this share of the tokens, 1 / SHARE: so there
# are no more than that.
SHARE = 50
_SHARE = cython.declare(cython.longlong, 50)


@cython.ccall
def sort_by_word(
    word: cython.const[cython.int][::1], begin: cython.longlong[::1], order: cython.int[::1]
):
    """Sort tokens by their words; begin is zeros, one more than there are words."""
    i: cython.Py_ssize_t
    w: cython.Py_ssize_t
    with cython.nogil:
        for i in range(word.shape[0]):
            begin[word[i] + 1] += 1
        for w in range(begin.shape[0] - 1):
            begin[w + 1] += begin[w]
        for i in range(word.shape[0]):
            order[begin[word[i]]] = i
            begin[word[i]] += 1
        for w in range(begin.shape[0] - 1, 0, -1):
            begin[w] = begin[w - 1]
        begin[0] = 0


@cython.ccall
@cython.exceptval(-1, check=True)
def count(
    order: cython.const[cython.int][::1],
    begin: cython.const[cython.longlong][::1],
    given: cython.const[cython.int][::1],
    at: cython.longlong[::1],
    labels_begin: cython.longlong[::1],
    label: cython.int[::1],
    n: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """The labels of each word, by the first token that has it; returns how many those are.

    given   the label of each token, −1 where there is none
    at      scratch, −1 for each label
    label, n
            as many as there are tokens, or more
    """
    size: cython.Py_ssize_t = 0
    w: cython.Py_ssize_t
    r: cython.Py_ssize_t
    own: cython.Py_ssize_t
    with cython.nogil:
        for w in range(begin.shape[0] - 1):
            labels_begin[w] = size
            for r in range(begin[w], begin[w + 1]):
                own = given[order[r]]
                if own < 0:
                    continue
                # What `at` has from an earlier word lies before this one's labels.
                if at[own] < labels_begin[w]:
                    at[own] = size
                    label[size] = own
                    n[size] = 0
                    size += 1
                n[at[own]] += 1
        labels_begin[begin.shape[0] - 1] = size
    return size


@cython.ccall
@cython.exceptval(-1, check=True)
def by_first(which: cython.int[::1], number: cython.int[::1]) -> cython.Py_ssize_t:
    """Number anew by the first that has each: which[i] = number[which[i]]; returns how many.

    number   −1 for each
    """
    size: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(which.shape[0]):
            if number[which[i]] < 0:
                number[which[i]] = size
                size += 1
            which[i] = number[which[i]]
    return size


@cython.final
@cython.cclass
class Kinds:
    """What is told of words, each once: see `HEAD`.

    cells, starts   kind k is cells[starts[k]:starts[k + 1]]; starts begins with zero
    slots           open addressing: 0, or one more than a kind's number; a power of two of them,
                    more than there will be kinds
    """

    def __init__(self, cells, starts, slots):
        self.cells = cells
        self.starts = starts
        self.slots = slots
        self.size = 0

    def get_size(self):
        """How many there are."""
        return self.size

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def number(
        self,
        label: cython.const[cython.int][::1],
        n: cython.const[cython.longlong][::1],
        low: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
        less: cython.const[cython.longlong][::1],
    ) -> cython.Py_ssize_t:
        """The kind of a word whose labels are low:high; of label l, less[l] do not count."""
        first: cython.Py_ssize_t = self.starts[self.size]
        end: cython.Py_ssize_t = first + _HEAD
        total: cython.longlong = 0
        most: cython.longlong = 0
        best: cython.Py_ssize_t = -1
        own: cython.longlong
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        purity: cython.int = 0
        for k in range(low, high):
            own = n[k] - less[label[k]]
            total += own
            if own > most or (own == most and own > 0 and label[k] < best):
                most = own
                best = label[k]
        self.cells[first] = best
        self.cells[first + 1] = 0
        if best >= 0:
            if most < total:
                purity = 1 if 5 * most > 4 * total else 2
            self.cells[first + 1] = 4 * purity + (
                0 if most < 2 else 1 if most < 5 else 2 if most < 20 else 3
            )
            for k in range(low, high):
                own = n[k] - less[label[k]]
                if own > 0 and _SHARE * own >= total:
                    i = end  # sorted as they come: there are few
                    while i > first + _HEAD and self.cells[i - 1] > label[k]:
                        self.cells[i] = self.cells[i - 1]
                        i -= 1
                    self.cells[i] = label[k]
                    end += 1
        return self.enter(first, end)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enter(self, first: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The number of what stands in cells[first:end]; it is kept there if it is new."""
        mask: cython.Py_ssize_t = self.slots.shape[0] - 1
        mixed: cython.longlong = cython.cast(cython.longlong, end - first)
        slot: cython.Py_ssize_t
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for i in range(first, end):
            mixed = mixed * 0x2C1B3C6D + cython.cast(cython.longlong, self.cells[i]) + 1
            mixed = mixed & 0x7FFFFFFF
            mixed = mixed ^ (mixed >> 15)
        slot = mixed & mask
        while self.slots[slot] > 0:
            k = self.slots[slot] - 1
            at = self.starts[k]
            if self.starts[k + 1] - at == end - first:
                i = first
                while i < end and self.cells[at + i - first] == self.cells[i]:
                    i += 1
                if i == end:
                    return k
            slot = (slot + 1) & mask
        self.size += 1
        self.starts[self.size] = end
        self.slots[slot] = self.size
        return self.size - 1

    @cython.ccall
    def of_words(
        self,
        labels_begin: cython.const[cython.longlong][::1],
        label: cython.const[cython.int][::1],
        n: cython.const[cython.longlong][::1],
        less: cython.const[cython.longlong][::1],
        which: cython.int[::1],
    ):
        """which[w] = the kind of word w; less is zeros."""
        w: cython.Py_ssize_t
        with cython.nogil:
            for w in range(labels_begin.shape[0] - 1):
                which[w] = self.number(label, n, labels_begin[w], labels_begin[w + 1], less)

    @cython.ccall
    def apart(
        self,
        order: cython.const[cython.int][::1],
        begin: cython.const[cython.longlong][::1],
        given: cython.const[cython.int][::1],
        block: cython.const[cython.int][::1],
        labels_begin: cython.const[cython.longlong][::1],
        label: cython.const[cython.int][::1],
        n: cython.const[cython.longlong][::1],
        less: cython.longlong[::1],
        which: cython.int[::1],
    ):
        """which[i] = the kind of token i's word without the tokens of its own block.

        given, block
                the label of each token, −1 for none, and its block; those of a block follow each
                other
        less    scratch: zeros, one for each label
        """
        w: cython.Py_ssize_t
        r: cython.Py_ssize_t
        s: cython.Py_ssize_t
        end: cython.Py_ssize_t
        kind: cython.Py_ssize_t
        with cython.nogil:
            for w in range(begin.shape[0] - 1):
                r = begin[w]
                while r < begin[w + 1]:
                    end = r
                    while end < begin[w + 1] and block[order[end]] == block[order[r]]:
                        if given[order[end]] >= 0:
                            less[given[order[end]]] += 1
                        end += 1
                    kind = self.number(label, n, labels_begin[w], labels_begin[w + 1], less)
                    for s in range(r, end):
                        which[order[s]] = kind
                        if given[order[s]] >= 0:
                            less[given[order[s]]] = 0
                    r = end
