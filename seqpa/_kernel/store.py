"""The weights of sentences' features, and differences over these weights.

Nothing here allocates: a store that is full returns to its Python caller, which grows the arrays
and calls again. C types of attributes stand in store.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.prefetch import prefetch, prefetch_to_write
    from cython.cimports.seqpa._kernel.sequences import Scratch, Sequences
else:
    from seqpa._kernel.sequences import Scratch, Sequences

COMPILED = cython.compiled

# This many dense rows are added together.
PICKED = 64
_PICKED = cython.declare(cython.Py_ssize_t, 64)

# So many rows ahead are fetched from memory.
_AHEAD = cython.declare(cython.Py_ssize_t, 12)

# How many slots of its table a SparseDelta uses at first; a power of two.
SMALLEST = 256
_SMALLEST = cython.declare(cython.Py_ssize_t, 256)


@cython.final
@cython.cclass
class SparseDelta:
    """A sparse vector δ = Φ(x, y) − Φ(x, ŷ) over an array of weights: how much of which place.

    places, amounts   the distinct places, and δ there
    table             open addressing by place: 0, or one more than the number of an entry. Only
                      the beginning of it is used, as much as the entries need
    """

    def __init__(self, places, amounts, table):
        self.places = places
        self.amounts = amounts
        self.table = table
        self.size = 0
        self.mask = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clear(self) -> cython.void:
        self.size = 0
        self.rehash(_SMALLEST)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def rehash(self, capacity: cython.Py_ssize_t) -> cython.void:
        """Enter all places anew into the first `capacity` slots of the table."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        self.mask = capacity - 1
        for i in range(capacity):
            self.table[i] = 0
        for i in range(self.size):
            slot = self.find(self.places[i])
            self.table[slot] = i + 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def find(self, place: cython.longlong) -> cython.Py_ssize_t:
        """Where in the table the place stands, or belongs."""
        mixed: cython.longlong = cython.cast(cython.longlong, place) * 0x5BD1E995
        slot: cython.Py_ssize_t = (mixed >> 15) & self.mask
        while self.table[slot] > 0 and self.places[self.table[slot] - 1] != place:
            slot = (slot + 1) & self.mask
        return slot

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def add(self, place: cython.longlong, amount: cython.double) -> cython.void:
        """δ[place] += amount."""
        slot: cython.Py_ssize_t = self.find(place)
        i: cython.Py_ssize_t = self.table[slot] - 1
        if i >= 0:
            self.amounts[i] += amount
            return
        self.places[self.size] = place
        self.amounts[self.size] = amount
        self.size += 1
        self.table[slot] = self.size
        if 2 * self.size > self.mask:
            self.rehash(2 * (self.mask + 1))


@cython.final
@cython.cclass
class Store:
    """Weights of features × labels, where most pairs never occur.

    rows[f] = (start, size) in one arena of float32. size >= 0: that many entries, label and
    weight; size = −1: a dense row, `width` weights. While training, each weight has its averaging
    sum, a float64, at the same place of `sums`, and for second-order learning what its precision
    has gained in `gains`; otherwise these are empty. A row then starts empty, has a capacity of two
    or the next power of two, and turns dense when it has more than `dense_at` labels. Rows that
    move leave holes: `copy_into` makes a compact store.
    """

    def __init__(self, arena, sums, gains, rows, used, width, dense_at):
        self.arena = arena
        self.sums = sums
        self.gains = gains
        self.rows = rows
        self.places = rows.reshape(-1)  # the same in one dimension, where speed matters
        self.used = used
        self.width = width
        self.dense_at = dense_at

    def get_used(self):
        """How many floats of the arena are in use, holes included."""
        return self.used

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_row(
        self, f: cython.Py_ssize_t, value: cython.float, out: cython.float[::1]
    ) -> cython.void:
        """out[label] += value · weight for every label of feature f."""
        start: cython.Py_ssize_t = self.rows[f, 0]
        size: cython.int = self.rows[f, 1]
        e: cython.Py_ssize_t
        k: cython.Py_ssize_t
        if size >= 0:
            e = start
            while e < start + 2 * size:
                k = cython.cast(cython.Py_ssize_t, self.arena[e])
                out[k] += value * self.arena[e + 1]
                e += 2
        else:
            for k in range(self.width):
                out[k] += value * self.arena[start + k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def emission(self, data: Sequences, t: cython.Py_ssize_t, work: Scratch) -> cython.void:
        """work.em[y] = Σ_f value_f · w[f, y] over the features of token t."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        f: cython.Py_ssize_t
        begin: cython.Py_ssize_t = data.indptr[t]
        end: cython.Py_ssize_t = data.indptr[t + 1]
        last: cython.Py_ssize_t = data.n_features - 40
        for k in range(self.width):
            work.em[k] = 0.0
        if cython.compiled:
            # Rows are scattered over memory: prefetch those of the next tokens.
            for j in range(begin, min(end, last)):
                f = data.features[j + 40]
                prefetch(cython.address(self.places[2 * f]))
                f = data.features[j + 20]
                k = self.places[2 * f]
                with cython.boundscheck(False):  # nothing is read: it may be behind the end
                    prefetch(cython.address(self.arena[k]))
                    prefetch(cython.address(self.arena[k + 16]))
        if data.has_values:
            for j in range(begin, end):
                self.add_row(data.features[j], data.values[j], work.em)
        else:
            while begin < end:
                self.add_rows(data, begin, min(end, begin + _PICKED), work)
                begin += _PICKED

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_rows(
        self, data: Sequences, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, work: Scratch
    ) -> cython.void:
        """work.em += the rows of features begin:end, at most _PICKED: sparse ones, then dense."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        e: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        f: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        for j in range(begin, end):
            f = data.features[j]
            e = self.places[2 * f]
            k = self.places[2 * f + 1]
            if k >= 0:
                stop = e + 2 * k
                while e < stop:
                    k = cython.cast(cython.Py_ssize_t, self.arena[e])
                    work.em[k] += self.arena[e + 1]
                    e += 2
            else:
                work.picked[n] = e
                n += 1
        self.add_dense(n, work)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_dense(self, count: cython.Py_ssize_t, work: Scratch) -> cython.void:
        """Add the first `count` of the picked dense rows to work.em.

        Sixteen labels at a time, in variables of their own: the compiler makes vectors of them,
        which stay in registers over all rows; then eight, if they are left.
        """
        block: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        s0: cython.float
        s1: cython.float
        s2: cython.float
        s3: cython.float
        s4: cython.float
        s5: cython.float
        s6: cython.float
        s7: cython.float
        s8: cython.float
        s9: cython.float
        s10: cython.float
        s11: cython.float
        s12: cython.float
        s13: cython.float
        s14: cython.float
        s15: cython.float
        while block + 16 <= self.width:
            s0 = work.em[block]
            s1 = work.em[block + 1]
            s2 = work.em[block + 2]
            s3 = work.em[block + 3]
            s4 = work.em[block + 4]
            s5 = work.em[block + 5]
            s6 = work.em[block + 6]
            s7 = work.em[block + 7]
            s8 = work.em[block + 8]
            s9 = work.em[block + 9]
            s10 = work.em[block + 10]
            s11 = work.em[block + 11]
            s12 = work.em[block + 12]
            s13 = work.em[block + 13]
            s14 = work.em[block + 14]
            s15 = work.em[block + 15]
            for i in range(count):
                at = work.picked[i] + block
                s0 += self.arena[at]
                s1 += self.arena[at + 1]
                s2 += self.arena[at + 2]
                s3 += self.arena[at + 3]
                s4 += self.arena[at + 4]
                s5 += self.arena[at + 5]
                s6 += self.arena[at + 6]
                s7 += self.arena[at + 7]
                s8 += self.arena[at + 8]
                s9 += self.arena[at + 9]
                s10 += self.arena[at + 10]
                s11 += self.arena[at + 11]
                s12 += self.arena[at + 12]
                s13 += self.arena[at + 13]
                s14 += self.arena[at + 14]
                s15 += self.arena[at + 15]
            work.em[block] = s0
            work.em[block + 1] = s1
            work.em[block + 2] = s2
            work.em[block + 3] = s3
            work.em[block + 4] = s4
            work.em[block + 5] = s5
            work.em[block + 6] = s6
            work.em[block + 7] = s7
            work.em[block + 8] = s8
            work.em[block + 9] = s9
            work.em[block + 10] = s10
            work.em[block + 11] = s11
            work.em[block + 12] = s12
            work.em[block + 13] = s13
            work.em[block + 14] = s14
            work.em[block + 15] = s15
            block += 16
        if block < self.width:
            s0 = work.em[block]
            s1 = work.em[block + 1]
            s2 = work.em[block + 2]
            s3 = work.em[block + 3]
            s4 = work.em[block + 4]
            s5 = work.em[block + 5]
            s6 = work.em[block + 6]
            s7 = work.em[block + 7]
            for i in range(count):
                at = work.picked[i] + block
                s0 += self.arena[at]
                s1 += self.arena[at + 1]
                s2 += self.arena[at + 2]
                s3 += self.arena[at + 3]
                s4 += self.arena[at + 4]
                s5 += self.arena[at + 5]
                s6 += self.arena[at + 6]
                s7 += self.arena[at + 7]
            work.em[block] = s0
            work.em[block + 1] = s1
            work.em[block + 2] = s2
            work.em[block + 3] = s3
            work.em[block + 4] = s4
            work.em[block + 5] = s5
            work.em[block + 6] = s6
            work.em[block + 7] = s7

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pair_emission(
        self, data: Sequences, t: cython.Py_ssize_t, out: cython.float[::1]
    ) -> cython.void:
        """out[p · width + y] += the same sum over the pair features of token t."""
        j: cython.Py_ssize_t
        for j in range(data.pair_indptr[t], data.pair_indptr[t + 1]):
            self.add_row(
                data.pair_features[j], data.pair_values[j] if data.has_pair_values else 1.0, out
            )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find(self, f: cython.Py_ssize_t, label: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where in the arena the weight of (f, label) stands; −1 if it has none."""
        start: cython.Py_ssize_t = self.rows[f, 0]
        size: cython.int = self.rows[f, 1]
        e: cython.Py_ssize_t
        if size < 0:
            return start + label
        e = start
        while e < start + 2 * size:
            if cython.cast(cython.Py_ssize_t, self.arena[e]) == label:
                return e + 1
            e += 2
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def ensure(self, f: cython.Py_ssize_t, label: cython.Py_ssize_t) -> cython.bint:
        """Give (f, label) a place, with weight 0 if it is new. False: the arena is full."""
        start: cython.Py_ssize_t = self.rows[f, 0]
        size: cython.int = self.rows[f, 1]
        e: cython.Py_ssize_t
        new: cython.Py_ssize_t = self.used
        capacity: cython.Py_ssize_t
        if self.find(f, label) >= 0:
            return True
        if size >= self.dense_at:
            if new + self.width > self.arena.shape[0]:
                return False
            self.used = new + self.width
            for e in range(start, start + 2 * size, 2):
                self.carry(e + 1, new + cython.cast(cython.Py_ssize_t, self.arena[e]))
            self.rows[f, 0] = new
            self.rows[f, 1] = -1
            return True
        # A row's capacity is two, four, eight... An update brings at least two: gold and predicted.
        if size != 1 and size & (size - 1) == 0:
            capacity = 4 * max(size, 1)
            if new + capacity > self.arena.shape[0]:
                return False
            self.used = new + capacity
            for e in range(2 * size):
                self.carry(start + e, new + e)
            self.rows[f, 0] = new
            start = new
        self.arena[start + 2 * size] = label
        self.rows[f, 1] = size + 1
        return True

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def carry(self, place: cython.Py_ssize_t, to: cython.Py_ssize_t) -> cython.void:
        """Copy a weight and what belongs to it (or a label) to another place."""
        self.arena[to] = self.arena[place]
        self.sums[to] = self.sums[place]
        if self.gains.shape[0] > 0:
            self.gains[to] = self.gains[place]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def ensure_all(
        self,
        features: cython.const[cython.int][::1],
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        gold: cython.Py_ssize_t,
        predicted: cython.Py_ssize_t,
    ) -> cython.bint:
        """Give both labels of the features at begin:end a place. False: the arena is full."""
        j: cython.Py_ssize_t
        for j in range(begin, end):
            if self.rows[features[j], 1] >= 0 and not (
                self.ensure(features[j], gold) and self.ensure(features[j], predicted)
            ):
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fetch(
        self,
        features: cython.const[cython.int][::1],
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        gold: cython.Py_ssize_t,
        predicted: cython.Py_ssize_t,
        rows: cython.bint,
    ) -> cython.void:
        """Ask memory for what a step will move of the features at begin:end: where their rows are,
        and after that, with `rows`, the weights and sums of both labels."""
        j: cython.Py_ssize_t
        at: cython.Py_ssize_t
        if cython.compiled:
            for j in range(begin, end):
                if not rows:
                    prefetch(cython.address(self.places[2 * features[j]]))
                    continue
                at = self.places[2 * features[j]]
                with cython.boundscheck(False):  # nothing is read: it may be behind the end
                    if self.places[2 * features[j] + 1] >= 0:
                        prefetch_to_write(cython.address(self.arena[at]))
                        prefetch_to_write(cython.address(self.sums[at]))
                    else:
                        prefetch_to_write(cython.address(self.arena[at + gold]))
                        prefetch_to_write(cython.address(self.arena[at + predicted]))
                        prefetch_to_write(cython.address(self.sums[at + gold]))
                        prefetch_to_write(cython.address(self.sums[at + predicted]))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def collect(
        self,
        features: cython.const[cython.int][::1],
        has_values: cython.bint,
        values: cython.const[cython.float][::1],
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        gold: cython.Py_ssize_t,
        predicted: cython.Py_ssize_t,
        delta: SparseDelta,
    ) -> cython.void:
        """δ += Φ with label `gold` − Φ with label `predicted`, of the features at begin:end, with
        their values, or ones. `ensure_all` has given both labels a place."""
        j: cython.Py_ssize_t
        at: cython.Py_ssize_t
        value: cython.double = 1.0
        for j in range(begin, end):
            if has_values:
                value = values[j]
            at = self.find(features[j], gold)
            delta.add(at, value)
            if cython.compiled:  # the step will ask for these
                prefetch(cython.address(self.sums[at]))
            at = self.find(features[j], predicted)
            delta.add(at, -value)
            if cython.compiled:
                prefetch(cython.address(self.sums[at]))

    @cython.ccall
    def gather(
        self,
        features: cython.const[cython.longlong][::1],
        labels: cython.const[cython.longlong][::1],
        out: cython.double[::1],
    ):
        """out[i] = the weight of (features[i], labels[i]), 0 where it has none."""
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        with cython.nogil:
            for i in range(features.shape[0]):
                at = self.find(features[i], labels[i])
                out[i] = self.arena[at] if at >= 0 else 0.0

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def scatter(
        self,
        features: cython.const[cython.longlong][::1],
        labels: cython.const[cython.longlong][::1],
        amounts: cython.const[cython.double][::1],
        clock: cython.double,
        begin: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Add amounts to weights, and clock times that to their averaging sums, from begin on.

        Returns how many are done: fewer than all where the arena is full.
        """
        i: cython.Py_ssize_t = begin
        at: cython.Py_ssize_t
        before: cython.double
        with cython.nogil:
            while i < features.shape[0] and self.ensure(features[i], labels[i]):
                at = self.find(features[i], labels[i])
                before = cython.cast(cython.double, self.arena[at])
                self.arena[at] += amounts[i]
                # What was really added, after rounding: so the mean is exact.
                self.sums[at] += clock * (cython.cast(cython.double, self.arena[at]) - before)
                i += 1
        return i

    @cython.ccall
    def copy_into(self, new: Store):
        """Copy all rows, with sums and gains, into a larger or wider store, without holes."""
        f: cython.Py_ssize_t
        e: cython.Py_ssize_t
        start: cython.Py_ssize_t
        n: cython.Py_ssize_t
        size: cython.int
        with cython.nogil:
            for f in range(self.rows.shape[0]):
                start = self.rows[f, 0]
                size = self.rows[f, 1]
                n = self.width if size < 0 else 2 * size
                new.rows[f, 0] = new.used
                new.rows[f, 1] = size
                for e in range(n):
                    new.arena[new.used + e] = self.arena[start + e]
                if self.sums.shape[0] > 0:
                    for e in range(n):
                        new.sums[new.used + e] = self.sums[start + e]
                if self.gains.shape[0] > 0:
                    for e in range(n):
                        new.gains[new.used + e] = self.gains[start + e]
                new.used += self.row_capacity(size, new.width)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def close_holes(
        self, order: cython.const[cython.longlong][::1], at: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Move the rows of some features, in the order in which they lie in the arena, to `at` and
        behind it, where only holes are; returns where they end. Spare entries move too: zeros."""
        i: cython.Py_ssize_t
        f: cython.Py_ssize_t
        e: cython.Py_ssize_t
        start: cython.Py_ssize_t
        n: cython.Py_ssize_t
        with cython.nogil:
            for i in range(order.shape[0]):
                f = order[i]
                start = self.rows[f, 0]
                n = self.row_capacity(self.rows[f, 1], self.width)
                if start != at:
                    for e in range(n):
                        self.carry(start + e, at + e)
                    self.rows[f, 0] = at
                at += n
        return at

    def set_used(self, used):
        """Forget what is in the arena behind so many floats, which the caller has set to zero."""
        self.used = used

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def live_size(self, width: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """How many floats a compact copy with dense rows of that width takes in training."""
        f: cython.Py_ssize_t
        total: cython.Py_ssize_t = 0
        with cython.nogil:
            for f in range(self.rows.shape[0]):
                total += self.row_capacity(self.rows[f, 1], width)
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def row_capacity(self, size: cython.int, width: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """How many floats a row of that size takes in training, spare ones included."""
        floats: cython.Py_ssize_t = 4
        if size <= 0:
            return 0 if size == 0 else width
        while floats < 2 * size:
            floats *= 2
        return floats

    @cython.ccall
    def relabel(self, old_width: cython.Py_ssize_t, width: cython.Py_ssize_t):
        """Rename the labels p·old_width + y of label pairs to p·width + y."""
        f: cython.Py_ssize_t
        e: cython.Py_ssize_t
        label: cython.Py_ssize_t
        with cython.nogil:
            for f in range(self.rows.shape[0]):
                for e in range(self.rows[f, 1]):
                    label = cython.cast(cython.Py_ssize_t, self.arena[self.rows[f, 0] + 2 * e])
                    label = (label // old_width) * width + label % old_width
                    self.arena[self.rows[f, 0] + 2 * e] = label

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def mean(self, at: cython.Py_ssize_t, inverse: cython.double) -> cython.float:
        """The weight at a place of the arena less its averaging sum · inverse, rounded once."""
        w: cython.double = self.arena[at]
        return cython.cast(cython.float, w - self.sums[at] * inverse)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def freeze_row(
        self,
        f: cython.Py_ssize_t,
        inverse: cython.double,
        n_labels: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        at: cython.Py_ssize_t,
        new: Store,
    ) -> cython.Py_ssize_t:
        """Write w − sum · inverse of feature f, its zeros left out, as a row of `new` that begins
        at a place of its arena; returns the place behind it.

        A dense row with no more than dense_at weights gets sparse.
        """
        start: cython.Py_ssize_t = self.rows[f, 0]
        count: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t
        label: cython.Py_ssize_t
        place: cython.Py_ssize_t
        w: cython.float
        if self.rows[f, 1] < 0:
            for k in range(n_labels):
                count += self.mean(start + k, inverse) != 0.0
        new.rows[row, 0] = at
        if count > self.dense_at:
            for k in range(n_labels):
                new.arena[at + k] = self.mean(start + k, inverse)
            for k in range(n_labels, self.width):
                new.arena[at + k] = 0.0
            new.rows[row, 1] = -1
            return at + self.width
        count = 0
        n = n_labels if self.rows[f, 1] < 0 else self.rows[f, 1]
        for k in range(n):
            label = k
            place = start + k
            if self.rows[f, 1] >= 0:
                place = start + 2 * k + 1
                label = cython.cast(cython.Py_ssize_t, self.arena[place - 1])
            w = self.mean(place, inverse)
            if w != 0.0:
                new.arena[at + 2 * count] = label
                new.arena[at + 2 * count + 1] = w
                count += 1
        new.rows[row, 1] = count
        return at + 2 * count

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def freeze(
        self, T: cython.double, n_labels: cython.Py_ssize_t, new: Store
    ) -> cython.Py_ssize_t:
        """Write the weights for tagging into `new`: w, or the mean w − sum/T where T > 0.

        `new` is as large as this one. Returns how many floats of it are used.
        """
        f: cython.Py_ssize_t
        at: cython.Py_ssize_t = 0
        inverse: cython.double = 1.0 / T if T > 0.0 else 0.0
        with cython.nogil:
            for f in range(self.rows.shape[0]):
                at = self.freeze_row(f, inverse, n_labels, f, at, new)
        return at

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def size_of_rows(self, features: cython.const[cython.int][::1]) -> cython.Py_ssize_t:
        """How many floats the rows of these features take at the most."""
        i: cython.Py_ssize_t
        total: cython.Py_ssize_t = 0
        size: cython.int
        with cython.nogil:
            for i in range(features.shape[0]):
                if features[i] < self.rows.shape[0]:
                    size = self.rows[features[i], 1]
                    total += self.width if size < 0 else 2 * size
        return total

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def freeze_rows(
        self,
        features: cython.const[cython.int][::1],
        T: cython.double,
        n_labels: cython.Py_ssize_t,
        new: Store,
    ) -> cython.Py_ssize_t:
        """The same for the rows of some features alone, one row of `new` for each of them.

        A feature that has no row here yet gets an empty one. `new` has as many rows, and as many
        floats as `size_of_rows` tells. Returns how many of the latter are used.
        """
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        last: cython.Py_ssize_t = features.shape[0] - _AHEAD
        at: cython.Py_ssize_t = 0
        inverse: cython.double = 1.0 / T if T > 0.0 else 0.0
        with cython.nogil:
            for i in range(features.shape[0]):
                if cython.compiled and i < last and features[i + _AHEAD] < self.rows.shape[0]:
                    # Rows are scattered over memory; nothing is read, it may be behind the end.
                    k = self.places[2 * features[i + _AHEAD]]
                    with cython.boundscheck(False):
                        prefetch(cython.address(self.arena[k]))
                        prefetch(cython.address(self.arena[k + 16]))
                        if T > 0.0:
                            prefetch(cython.address(self.sums[k]))
                            prefetch(cython.address(self.sums[k + 8]))
                            prefetch(cython.address(self.sums[k + 16]))
                if features[i] < self.rows.shape[0]:
                    at = self.freeze_row(features[i], inverse, n_labels, i, at, new)
                else:
                    new.rows[i, 0] = at
                    new.rows[i, 1] = 0
        return at


@cython.ccall
@cython.exceptval(-1, check=True)
def labels_exist(
    rows: cython.const[cython.int][:, ::1],
    arena: cython.const[cython.float][::1],
    n_labels: cython.Py_ssize_t,
    width: cython.Py_ssize_t,
    pairs: cython.bint,
) -> cython.bint:
    """Whether each entry of the sparse rows, which lie in the arena, names a label that exists.

    n_labels  labels are 0 up to this; with `pairs`, p · width + y is the pair of labels (p, y)
    """
    f: cython.Py_ssize_t
    k: cython.Py_ssize_t
    number: cython.Py_ssize_t
    label: cython.float
    end: cython.float = n_labels * width if pairs else n_labels
    with cython.nogil:
        for f in range(rows.shape[0]):
            for k in range(rows[f, 1]):
                label = arena[rows[f, 0] + 2 * k]
                if not (label >= 0.0 and label < end):  # nor where it is NaN
                    return False
                number = cython.cast(cython.Py_ssize_t, label)
                if number != label or (pairs and number % width >= n_labels):
                    return False
    return True
