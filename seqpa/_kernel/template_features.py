"""From attribute values to feature ids: every template over every token, in one pass.

Templates that look alike, such as `pos[-1]|pos[0]` and `pos[0]|pos[1]`, see the same combinations
of values in different places. So a combination is numbered once, where its first part stands, and
each template only looks up its own feature for that number, a few tokens away.

Sources give each place a number, 0 where there is none. A base is one attribute of the token. A
node joins another source with a base some tokens further on: the two numbers lead to the node's
own through a hash table of links. Template t then finds its feature at
`direct[direct_at[t] + number · stride[t]]`, where -1 says that it has none. Templates that look at
one source stand together there, since they meet its numbers a few tokens apart. A walk takes the
templates in some order, and may leave some out where it has found another one's feature: see
`Table.pick`.

The hash table has open addressing and linear probing, its size is a power of two, and a row is
`(a << 32 | b, tag << 32 | number)`: from the numbers a and b to the number that node `tag - 1`
gives them. A row whose second half is zero is free. All numbers are below 2³¹, and no product here
reaches 2⁶³, so the compiled and the plain form agree. C types of attributes stand in
template_features.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.prefetch import prefetch

COMPILED = cython.compiled

# This many tokens are led through a node together: while one waits for its row of the table, the
# others go on.
BLOCK = 64
_BLOCK = cython.declare(cython.Py_ssize_t, 64)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _home(tag: cython.longlong, key: cython.longlong, mask: cython.longlong) -> cython.longlong:
    """The row where the search for (tag, key) begins."""
    low: cython.longlong = key & 0x7FFFFFFF
    mixed: cython.longlong = (key >> 32) ^ (tag * 0x27D4EB2F)
    mixed = ((mixed & 0x7FFFFFFF) ^ (mixed >> 31)) * 0x5BD1E995
    mixed = (((mixed >> 17) & 0x7FFFFFFF) ^ low) * 0x2C1B3C6D
    return (mixed ^ (mixed >> 29)) & mask


@cython.final
@cython.cclass
class Words:
    """Tokens as the numbers of their words, and the values of the words' attributes.

    column      attribute a is one of the words of column[a]
    known       how many of its column's words are known; the others have higher numbers
    at, stride  word w has the value table[at[a] + w · stride[a]], -1 for none; where at[a] is -1
                the attribute is the word itself, and has a value if the word is known
    ids         (columns, tokens): the number of each word; -1 where there is none
    within, fresh, fresh_at, n_fresh
                the n_fresh[c] words of column c that are not known have rows of values in `fresh`,
                from fresh_at[c] on; that of attribute a is row within[a]
    elsewhere, elsewhere_at
                the same word elsewhere: the tokens elsewhere[at:at + n] for token i, where at is
                elsewhere_at[i] and n is elsewhere_at[tokens + i]; -1 where nobody looked
    starts, sentence
                token i stands in sentence[i], which is starts[s]:starts[s + 1]
    """

    def __init__(self, column, within, known, table, at, stride):
        self.column = column
        self.within = within
        self.known = known
        self.table = table
        self.at = at
        self.stride = stride

    def of(self, ids):
        """The same attributes, of these tokens."""
        new: Words = Words.__new__(Words)
        new.column = self.column
        new.within = self.within
        new.known = self.known
        new.table = self.table
        new.at = self.at
        new.stride = self.stride
        new.ids = ids
        return new

    def add_unknown(self, fresh, fresh_at, n_fresh):
        """Set the values of words that are not known."""
        self.fresh = fresh
        self.fresh_at = fresh_at
        self.n_fresh = n_fresh

    def add_elsewhere(self, elsewhere_at, elsewhere, starts, sentence):
        """Set where else words stand."""
        self.elsewhere_at = elsewhere_at
        self.elsewhere = elsewhere
        self.starts = starts
        self.sentence = sentence

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def value(self, a: cython.Py_ssize_t, token: cython.Py_ssize_t) -> cython.longlong:
        """The value of attribute a at a token, -1 where it has none."""
        c: cython.Py_ssize_t = self.column[a]
        word: cython.longlong = self.ids[c, token]
        at: cython.longlong = self.at[a]
        if word >= self.known[a]:
            if at < 0:
                return -1
            at = self.fresh_at[c] + self.within[a] * self.n_fresh[c]
            word = self.fresh[at + word - self.known[a]]
        elif at >= 0:
            word = self.table[at + word * self.stride[a]]
        return word


@cython.final
@cython.cclass
class Table:
    """The templates' features. Arrays belong to the caller, who replaces them by larger ones.

    attribute       base b is attribute[b] of the tokens' words
    left, right, shift
                    node k joins source left[k] with base right[k], shift[k] tokens further on
    lowest, highest the offsets from a token between which node k is looked at
    looked          the bases whose numbers `look` finds for whole blocks; the others' are found
                    where a walk comes to them
    steps           the walk over the templates, a row for each: its place, its direct_at and
                    stride, how many steps behind it are left out where it has a feature, and its
                    offset. The place is that of the block's first token in `work`, or -1 - b for a
                    base b that is not looked at before, or -1 - n_bases - k for set k
    sets            attributes that have several values at a token, of the same word elsewhere: what
                    is seen there, of which attribute, and how many tokens further on; see `in_set`
    first_part, node_of
                    parts first_part[t]:first_part[t + 1] are template t's; all but its first
                    belong to a node
    before, after   how many tokens the templates look back and ahead
    edges           how many values stand for places outside the sentence: 2(d-1) for d before it,
                    2(d-1)+1 for d after it. Value v of an attribute counts as v + edges, and its
                    number is one more
    capacity        how many numbers of each node `direct` has places for
    most_links      how many links there may be; more than some four fifths of the rows, and they
                    are hard to find
    counts          each node's next number, the number of links, and the number of features
    begin, n_at     where the places of each source begin in `direct`, and how many templates look
                    at it; that many places follow each other for each of its numbers
    """

    def __init__(
        self,
        attribute,
        left,
        right,
        shift,
        lowest,
        highest,
        looked,
        steps,
        first_part,
        node_of,
        before,
        after,
        edges,
        capacity,
        counts,
        direct_at,
        stride,
        begin,
        n_at,
        direct,
        links,
        most_links,
        sets,
    ):
        self.attribute = attribute
        self.left = left
        self.right = right
        self.shift = shift
        self.lowest = lowest
        self.highest = highest
        self.looked = looked
        self.steps = steps
        self.first_part = first_part
        self.node_of = node_of
        self.before = before
        self.after = after
        self.edges = edges
        self.capacity = capacity
        self.counts = counts
        self.direct_at = direct_at
        self.stride = stride
        self.begin = begin
        self.n_at = n_at
        self.direct = direct
        self.links = links
        self.most_links = most_links
        self.sets = sets
        self.n_bases = len(attribute)
        self.n_nodes = len(left)
        self.n_templates = len(first_part) - 1
        self.width = BLOCK + before + after

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def find(
        self, slot: cython.longlong, tag: cython.longlong, key: cython.longlong
    ) -> cython.Py_ssize_t:
        """The row that holds (tag, key), or the free row where it belongs, from its home on."""
        entry: cython.longlong = self.links[slot, 1]
        while entry != 0 and (self.links[slot, 0] != key or entry >> 32 != tag):
            slot = (slot + 1) & (self.links.shape[0] - 1)
            entry = self.links[slot, 1]
        return slot

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def follow(
        self,
        node: cython.Py_ssize_t,
        home: cython.longlong,
        key: cython.longlong,
        grow: cython.bint,
    ) -> cython.longlong:
        """The number that a link of the node leads to; a new one if it may grow, else 0."""
        slot: cython.Py_ssize_t = self.find(home, node + 1, key)
        number: cython.longlong = self.links[slot, 1] & 0x7FFFFFFF
        if grow and number == 0:
            number = self.counts[node]
            self.counts[node] += 1
            self.counts[self.n_nodes] += 1
            self.links[slot, 0] = key
            self.links[slot, 1] = cython.cast(cython.longlong, node + 1) << 32 | number
        return number

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fits_block(self) -> cython.bint:
        """Whether the capacity suffices for the numbers and links of another block."""
        k: cython.Py_ssize_t
        for k in range(self.n_nodes):
            if self.counts[k] + self.width > self.capacity[k]:
                return False
        return self.counts[self.n_nodes] + self.n_nodes * self.width <= self.most_links

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def at_token(
        self, base: cython.Py_ssize_t, words: Words, place: cython.Py_ssize_t
    ) -> cython.longlong:
        """The number of a base at a token."""
        value: cython.longlong = words.value(self.attribute[base], place)
        return value + self.edges + 1 if value >= 0 else 0

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def at_edge(
        self, place: cython.Py_ssize_t, low: cython.Py_ssize_t, high: cython.Py_ssize_t
    ) -> cython.longlong:
        """The number of every base at a place before or behind the sentence low:high."""
        return 2 * (low - place - 1) + 1 if place < low else 2 * (place - high) + 2

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def at_place(
        self,
        base: cython.Py_ssize_t,
        words: Words,
        place: cython.Py_ssize_t,
        low: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
    ) -> cython.longlong:
        """The number of a base at one place in or around the sentence low:high."""
        if low <= place < high:
            return self.at_token(base, words, place)
        return self.at_edge(place, low, high)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def look(
        self,
        words: Words,
        begin: cython.Py_ssize_t,
        width: cython.Py_ssize_t,
        low: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
        work: cython.longlong[::1],
    ) -> cython.void:
        """The numbers of bases at the places begin:begin+width around the sentence low:high."""
        first: cython.Py_ssize_t = max(0, low - begin)
        last: cython.Py_ssize_t = min(width, high - begin)
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        b: cython.Py_ssize_t
        row: cython.Py_ssize_t
        for i in range(self.looked.shape[0]):
            b = self.looked[i]
            row = b * self.width
            for j in range(first):
                work[row + j] = self.at_edge(begin + j, low, high)
            for j in range(first, last):
                work[row + j] = self.at_token(b, words, begin + j)
            for j in range(last, width):
                work[row + j] = self.at_edge(begin + j, low, high)
            self.expect(b, row, row + width, work)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def expect(
        self,
        source: cython.Py_ssize_t,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        work: cython.longlong[::1],
    ) -> cython.void:
        """Prefetch what `direct` has at the numbers work[begin:end] of a source."""
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        if cython.compiled:
            for i in range(begin, end):
                at = self.begin[source] + work[i] * self.n_at[source]
                with cython.boundscheck(False):  # nothing is read: it may be behind the end
                    prefetch(cython.address(self.direct[at]))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def join(
        self,
        node: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        grow: cython.bint,
        work: cython.longlong[::1],
    ) -> cython.void:
        """The numbers of a node at all places where it is looked at."""
        first: cython.Py_ssize_t = self.before + self.lowest[node]
        last: cython.Py_ssize_t = self.before + self.highest[node] + n
        left: cython.Py_ssize_t = self.left[node] * self.width
        right: cython.Py_ssize_t = self.right[node] * self.width + self.shift[node]
        row: cython.Py_ssize_t = (self.n_bases + node) * self.width
        homes: cython.Py_ssize_t = (self.n_bases + self.n_nodes) * self.width
        mask: cython.longlong = self.links.shape[0] - 1
        j: cython.Py_ssize_t
        key: cython.longlong
        for j in range(first, last):
            key = 0
            if work[left + j] > 0 and work[right + j] > 0:
                key = work[left + j] << 32 | work[right + j]
                work[homes + j] = _home(node + 1, key, mask)
                if cython.compiled:
                    prefetch(cython.address(self.links[work[homes + j], 0]))
            work[row + j] = key
        for j in range(first, last):
            if work[row + j] > 0:
                work[row + j] = self.follow(node, work[homes + j], work[row + j], grow)
        self.expect(self.n_bases + node, row + first, row + last, work)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pick(
        self,
        words: Words,
        token: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        low: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
        grow: cython.bint,
        work: cython.longlong[::1],
        first: cython.Py_ssize_t,
        indptr: cython.longlong[::1],
        features: cython.int[::1],
    ) -> cython.void:
        """Write the features of the n tokens of a block; indptr begins with token `first`.

        Where a step finds a feature the walk leaves out as many steps behind it as it says.
        """
        out: cython.longlong = indptr[token - first]
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t
        place: cython.Py_ssize_t
        at: cython.Py_ssize_t
        number: cython.longlong
        feature: cython.int
        for i in range(n):
            s = 0
            while s < self.steps.shape[0]:
                place = self.steps[s, 0]
                if place >= 0:
                    number = work[place + i]
                elif place < -self.n_bases:
                    out = self.pick_set(
                        s, words, token + i + self.steps[s, 4], low, high, grow, out, features
                    )
                    s += 1
                    continue
                else:
                    number = self.at_place(
                        -1 - place, words, token + i + self.steps[s, 4], low, high
                    )
                at = self.steps[s, 1] + number * self.steps[s, 2]
                feature = self.feature_at(at, number, grow)
                features[out] = feature
                out += feature >= 0
                # Most steps leave nothing out, and whether they find anything is hard to foresee.
                s += 1 if self.steps[s, 3] == 0 or feature < 0 else self.steps[s, 3] + 1
            indptr[token - first + i + 1] = out

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def feature_at(
        self, at: cython.Py_ssize_t, number: cython.longlong, grow: cython.bint
    ) -> cython.int:
        """The feature at a place of `direct`, -1 where there is none; a new one if it may grow."""
        feature: cython.int = self.direct[at]
        if grow and feature < 0 and number > 0:
            feature = self.counts[self.n_nodes + 1]
            self.counts[self.n_nodes + 1] += 1
            self.direct[at] = feature
        return feature

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pick_set(
        self,
        s: cython.Py_ssize_t,
        words: Words,
        place: cython.Py_ssize_t,
        low: cython.Py_ssize_t,
        high: cython.Py_ssize_t,
        grow: cython.bint,
        out: cython.Py_ssize_t,
        features: cython.int[::1],
    ) -> cython.Py_ssize_t:
        """Write the features of a set, each once, from `out` on; returns where they end."""
        k: cython.Py_ssize_t = -1 - self.n_bases - self.steps[s, 0]
        begin: cython.Py_ssize_t = out
        n: cython.Py_ssize_t = 1
        first: cython.Py_ssize_t = -1
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        number: cython.longlong
        if low <= place < high:
            n = words.elsewhere_at[words.sentence.shape[0] + place]
            first = words.elsewhere_at[place]
            if self.sets[k, 0] == 1:  # their number
                number = n + self.edges + 1 if n < 4 else 4 + self.edges + 1
                n = 0 if n < 0 else 1
                first = -1
        else:
            number = self.at_edge(place, low, high)
        for i in range(n):
            if first >= 0:
                number = self.in_set(k, words, words.elsewhere[first + i])
            features[out] = self.feature_at(
                self.steps[s, 1] + number * self.steps[s, 2], number, grow
            )
            if features[out] >= 0:
                j = begin
                while features[j] != features[out]:
                    j += 1
                out += j == out
        return out

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def in_set(
        self, k: cython.Py_ssize_t, words: Words, token: cython.Py_ssize_t
    ) -> cython.longlong:
        """The number that a token elsewhere adds to set k.

        sets[k, 0] is 0 for an attribute of the token sets[k, 2] further on, and 2 for an attribute
        of the token itself and whether it begins its sentence.
        """
        low: cython.Py_ssize_t = words.starts[words.sentence[token]]
        high: cython.Py_ssize_t = words.starts[words.sentence[token] + 1]
        place: cython.Py_ssize_t = token + self.sets[k, 2]
        value: cython.longlong
        if place < low or place >= high:
            return self.at_edge(place, low, high)
        value = words.value(self.sets[k, 1], place)
        if value >= 0 and self.sets[k, 0] == 2:
            value = 2 * value + (1 if token == low else 0)
        return value + self.edges + 1 if value >= 0 else 0

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def encode(
        self,
        words: Words,
        starts: cython.const[cython.longlong][::1],
        token: cython.Py_ssize_t,
        grow: cython.bint,
        work: cython.longlong[::1],
        indptr: cython.longlong[::1],
        features: cython.int[::1],
    ) -> cython.Py_ssize_t:
        """Write the features of the tokens from `token` on; returns the first token not done.

        The sentences are starts[s]:starts[s + 1] of `words`, and token starts[0] is the first in
        indptr. With `grow` an unseen combination gets the next id; where another block may exceed
        the capacity the call returns, and the caller calls again with larger arrays. Without
        `grow` an unseen combination is left out, and nothing here changes. `work` is scratch: a row
        of `width` numbers for each source, and one more.
        """
        first: cython.Py_ssize_t = starts[0]
        sentence: cython.Py_ssize_t
        low: cython.Py_ssize_t
        high: cython.Py_ssize_t
        n: cython.Py_ssize_t
        k: cython.Py_ssize_t
        with cython.nogil:
            for sentence in range(starts.shape[0] - 1):
                low = starts[sentence]
                high = starts[sentence + 1]
                while token < high:
                    if grow and not self.fits_block():
                        return token
                    n = min(_BLOCK, high - token)
                    self.look(
                        words, token - self.before, n + self.before + self.after, low, high, work
                    )
                    for k in range(self.n_nodes):
                        self.join(k, n, grow, work)
                    self.pick(words, token, n, low, high, grow, work, first, indptr, features)
                    token += n
        return token

    @cython.ccall
    def find_features(
        self,
        t: cython.Py_ssize_t,
        values: cython.const[cython.longlong][:, ::1],
        out: cython.int[::1],
    ):
        """out[i] = the feature of template t whose parts have values[i], -1 where there is none.

        A value of -1 is absent; the others are within the capacity.
        """
        mask: cython.longlong = self.links.shape[0] - 1
        i: cython.Py_ssize_t
        p: cython.Py_ssize_t
        node: cython.Py_ssize_t
        key: cython.longlong
        number: cython.longlong
        with cython.nogil:
            for i in range(values.shape[0]):
                number = values[i, 0] + 1
                for p in range(1, values.shape[1]):
                    if number > 0 and values[i, p] >= 0:
                        node = self.node_of[self.first_part[t] + p]
                        key = number << 32 | (values[i, p] + 1)
                        number = self.follow(node, _home(node + 1, key, mask), key, False)
                    else:
                        number = 0
                out[i] = self.direct[self.direct_at[t] + number * self.stride[t]]

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def restore(
        self,
        templates: cython.const[cython.int][::1],
        values: cython.const[cython.longlong][::1],
    ) -> cython.Py_ssize_t:
        """Enter features in the order of their ids, each by its template and values, behind those
        that are there; returns how many were entered.

        Where these are fewer than given, the next one had been entered before. The capacity must
        suffice for every value, number and link.
        """
        mask: cython.longlong = self.links.shape[0] - 1
        at: cython.Py_ssize_t = 0
        f: cython.Py_ssize_t
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        place: cython.Py_ssize_t
        node: cython.Py_ssize_t
        key: cython.longlong
        number: cython.longlong
        with cython.nogil:
            for f in range(templates.shape[0]):
                t = templates[f]
                number = values[at] + 1
                at += 1
                for p in range(self.first_part[t] + 1, self.first_part[t + 1]):
                    node = self.node_of[p]
                    key = number << 32 | (values[at] + 1)
                    number = self.follow(node, _home(node + 1, key, mask), key, True)
                    at += 1
                place = self.direct_at[t] + number * self.stride[t]
                if self.direct[place] >= 0:
                    return f
                self.direct[place] = self.counts[self.n_nodes + 1]
                self.counts[self.n_nodes + 1] += 1
        return templates.shape[0]

    @cython.ccall
    def joins(
        self,
        links: cython.const[cython.longlong][:, ::1],
        node_at: cython.const[cython.longlong][::1],
        joined: cython.int[:, ::1],
    ):
        """What the nodes' numbers in some rows of links stand for: joined[node_at[k] + number] are
        the two that node k joins."""
        row: cython.Py_ssize_t
        at: cython.Py_ssize_t
        entry: cython.longlong
        with cython.nogil:
            for row in range(links.shape[0]):
                entry = links[row, 1]
                if entry != 0:
                    at = node_at[(entry >> 32) - 1] + (entry & 0x7FFFFFFF)
                    joined[at, 0] = links[row, 0] >> 32
                    joined[at, 1] = links[row, 0] & 0x7FFFFFFF

    @cython.ccall
    def describe(
        self,
        limits: cython.const[cython.longlong][::1],
        which: cython.int[::1],
        numbers: cython.int[::1],
    ):
        """The template and the number of every feature; those of template t are below limits[t]."""
        t: cython.Py_ssize_t
        f: cython.Py_ssize_t
        number: cython.Py_ssize_t
        with cython.nogil:
            for t in range(self.n_templates):
                for number in range(limits[t]):
                    f = self.direct[self.direct_at[t] + number * self.stride[t]]
                    if f >= 0:
                        which[f] = t
                        numbers[f] = number

    @cython.ccall
    def values_of(
        self,
        node_at: cython.const[cython.longlong][::1],
        joined: cython.const[cython.int][:, ::1],
        which: cython.const[cython.int][::1],
        numbers: cython.const[cython.int][::1],
        out: cython.longlong[::1],
    ):
        """The values of every feature's parts, one feature after the other: back along the links
        to the first part."""
        begin: cython.Py_ssize_t = 0
        f: cython.Py_ssize_t
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        at: cython.Py_ssize_t
        first: cython.Py_ssize_t
        number: cython.longlong
        with cython.nogil:
            for f in range(which.shape[0]):
                t = which[f]
                first = self.first_part[t]
                number = numbers[f]
                for p in range(self.first_part[t + 1] - 1, first, -1):
                    at = node_at[self.node_of[p]] + number
                    out[begin + p - first] = joined[at, 1] - 1
                    number = joined[at, 0]
                out[begin] = number - 1
                begin += self.first_part[t + 1] - first

    @cython.ccall
    def merge(
        self,
        node_at: cython.const[cython.longlong][::1],
        joined: cython.const[cython.int][:, ::1],
        which: cython.const[cython.int][::1],
        numbers: cython.const[cython.int][::1],
        own: cython.int[::1],
        features: cython.int[::1],
    ):
        """Enter all that another table of the same templates has, in its order.

        What it has comes behind what is known here: so tokens that were encoded in parts, each by a
        table of its own, get the numbers that one table would have given them. The capacity must
        suffice for all of it.

        node_at, joined   the other's nodes, as `joins` has them
        which, numbers    the other's features, as `describe` has them
        own               becomes for each of its nodes' numbers the one here
        features          becomes for each of its features the one here
        """
        mask: cython.longlong = self.links.shape[0] - 1
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        end: cython.Py_ssize_t
        left: cython.Py_ssize_t
        f: cython.Py_ssize_t
        t: cython.Py_ssize_t
        node: cython.Py_ssize_t
        key: cython.longlong
        number: cython.longlong
        with cython.nogil:
            for k in range(self.n_nodes):
                left = self.left[k] - self.n_bases
                i = node_at[k] + 1  # number 0 stands for no combination
                while i < node_at[k + 1]:
                    end = min(i + _BLOCK, node_at[k + 1])
                    if cython.compiled:
                        for j in range(i, end):
                            key = self.joined_here(left, node_at, joined, own, j)
                            prefetch(cython.address(self.links[_home(k + 1, key, mask), 0]))
                    for j in range(i, end):
                        key = self.joined_here(left, node_at, joined, own, j)
                        own[j] = self.follow(k, _home(k + 1, key, mask), key, True)
                    i = end
            for f in range(which.shape[0]):
                t = which[f]
                node = self.node_of[self.first_part[t + 1] - 1]
                number = cython.cast(cython.longlong, numbers[f])
                if node >= 0:
                    number = cython.cast(cython.longlong, own[node_at[node] + number])
                features[f] = self.feature_at(
                    self.direct_at[t] + number * self.stride[t], number, True
                )

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def joined_here(
        self,
        left: cython.Py_ssize_t,
        node_at: cython.const[cython.longlong][::1],
        joined: cython.const[cython.int][:, ::1],
        own: cython.const[cython.int][::1],
        place: cython.Py_ssize_t,
    ) -> cython.longlong:
        """The key here of what another table's node joins; `left` is the node that it joins with a
        base, or below zero."""
        a: cython.longlong = cython.cast(cython.longlong, joined[place, 0])
        b: cython.longlong = cython.cast(cython.longlong, joined[place, 1])
        if left >= 0:
            a = cython.cast(cython.longlong, own[node_at[left] + a])
        return a << 32 | b

    @cython.ccall
    def rehash(self, old: cython.const[cython.longlong][:, ::1]):
        """Copy every row of `old`, a table of links or a part of one, into this larger one."""
        mask: cython.longlong = self.links.shape[0] - 1
        row: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        tag: cython.longlong
        with cython.nogil:
            for row in range(old.shape[0]):
                if old[row, 1] != 0:
                    tag = old[row, 1] >> 32
                    slot = self.find(_home(tag, old[row, 0], mask), tag, old[row, 0])
                    self.links[slot, 0] = old[row, 0]
                    self.links[slot, 1] = old[row, 1]


@cython.ccall
def renumber(
    features: cython.const[cython.int][::1],
    numbers: cython.const[cython.int][::1],
    out: cython.int[::1],
):
    """out[i] = numbers[features[i]]"""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(features.shape[0]):
            out[i] = numbers[features[i]]
