"""What chains are made of: encoded sentences, and the weights of their features.

Nothing here allocates: a store that is full returns to its Python caller, which grows the arrays
and calls again. C types of attributes stand in store.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.prefetch import prefetch

COMPILED = cython.compiled

# A sparse row has entries of a few floats: label and weight for tagging; while training also the
# averaging sum and the pending change, and for second-order learning what the weight's precision
# has gained. A dense row keeps the same things in blocks of `width` floats, without the labels.
TAGGING_STRIDE = 2
TRAINING_STRIDE = 4
SECOND_ORDER_STRIDE = 5

# So many dense rows are added together.
PICKED = 64
_PICKED = cython.declare(cython.Py_ssize_t, 64)


@cython.final
@cython.cclass
class Scratch:
    """Room for decoding one sentence; each thread has its own."""

    def __init__(self, em, picked, s, kept, n_kept, best, pairs, path):
        self.em = em
        self.picked = picked
        self.s = s
        self.kept = kept
        self.n_kept = n_kept
        self.best = best
        self.pairs = pairs
        self.flat_pairs = pairs.reshape(-1)
        self.path = path


@cython.final
@cython.cclass
class Sequences:
    """Encoded sentences. Token t of all has features[indptr[t]:indptr[t+1]]; values may be empty
    (all 1). Sentence i has the tokens starts[i]:starts[i+1]. Pair features likewise."""

    def __init__(self, starts, indptr, features, values, pair_indptr, pair_features, pair_values):
        self.starts = starts
        self.indptr = indptr
        self.features = features
        self.values = values
        self.pair_indptr = pair_indptr
        self.pair_features = pair_features
        self.pair_values = pair_values
        self.has_values = values is not None
        self.has_pairs = pair_indptr is not None
        self.has_pair_values = pair_values is not None


@cython.final
@cython.cclass
class Store:
    """Weights of features × labels, where most pairs never occur.

    rows[f] = (start, size) in one arena of float32. size >= 0: that many sparse entries, room for
    two or the next power of two. size = −1: a dense row. A row starts empty, grows by doubling,
    and turns dense when it has more than `dense_at` labels. Rows that move leave holes:
    `copy_into` makes a compact store.
    """

    def __init__(self, arena, rows, used, stride, width, dense_at):
        self.arena = arena
        self.rows = rows
        self.places = rows.reshape(-1)  # the same in one dimension, where speed matters
        self.used = used
        self.stride = stride
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
            while e < start + size * self.stride:
                k = cython.cast(cython.Py_ssize_t, self.arena[e])
                out[k] += value * self.arena[e + 1]
                e += self.stride
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
        last: cython.Py_ssize_t = data.features.shape[0] - 40
        for k in range(self.width):
            work.em[k] = 0.0
        if cython.compiled:
            # Rows lie all over the memory: ask for those of the next tokens in time.
            for j in range(begin, min(end, last)):
                f = data.features[j + 40]
                prefetch(cython.address(self.places[2 * f]))
                f = data.features[j + 20]
                k = self.places[2 * f]
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
        """Add the rows of features begin:end, at most _PICKED, to work.em: the sparse ones at
        once, the dense ones together."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        e: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        f: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        stride: cython.Py_ssize_t = self.stride
        for j in range(begin, end):
            f = data.features[j]
            e = self.places[2 * f]
            k = self.places[2 * f + 1]
            if k >= 0:
                stop = e + k * stride
                while e < stop:
                    k = cython.cast(cython.Py_ssize_t, self.arena[e])
                    work.em[k] += self.arena[e + 1]
                    e += stride
            else:
                work.picked[n] = e
                n += 1
        self.add_dense(n, work)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_dense(self, n: cython.Py_ssize_t, work: Scratch) -> cython.void:
        """Add the first n of the picked dense rows to work.em.

        Eight labels at a time, in variables of their own: the compiler makes vectors of them, which
        stay in registers over all rows.
        """
        block: cython.Py_ssize_t
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        a: cython.float
        b: cython.float
        c: cython.float
        d: cython.float
        e: cython.float
        f: cython.float
        g: cython.float
        h: cython.float
        for block in range(0, self.width, 8):
            a = work.em[block]
            b = work.em[block + 1]
            c = work.em[block + 2]
            d = work.em[block + 3]
            e = work.em[block + 4]
            f = work.em[block + 5]
            g = work.em[block + 6]
            h = work.em[block + 7]
            for i in range(n):
                at = work.picked[i] + block
                a += self.arena[at]
                b += self.arena[at + 1]
                c += self.arena[at + 2]
                d += self.arena[at + 3]
                e += self.arena[at + 4]
                f += self.arena[at + 5]
                g += self.arena[at + 6]
                h += self.arena[at + 7]
            work.em[block] = a
            work.em[block + 1] = b
            work.em[block + 2] = c
            work.em[block + 3] = d
            work.em[block + 4] = e
            work.em[block + 5] = f
            work.em[block + 6] = g
            work.em[block + 7] = h

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
        while e < start + size * self.stride:
            if cython.cast(cython.Py_ssize_t, self.arena[e]) == label:
                return e + 1
            e += self.stride
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def ensure(self, f: cython.Py_ssize_t, label: cython.Py_ssize_t) -> cython.bint:
        """Make room for (f, label), with weight 0 if it is new. False: the arena is full."""
        start: cython.Py_ssize_t = self.rows[f, 0]
        size: cython.int = self.rows[f, 1]
        e: cython.Py_ssize_t
        new: cython.Py_ssize_t
        k: cython.Py_ssize_t
        block: cython.Py_ssize_t
        stride: cython.Py_ssize_t = self.stride
        if self.find(f, label) >= 0:
            return True
        if size >= self.dense_at:
            new = self.used
            if new + (stride - 1) * self.width > self.arena.shape[0]:
                return False
            self.used = new + (stride - 1) * self.width
            for e in range(size):
                k = new + cython.cast(cython.Py_ssize_t, self.arena[start + e * stride])
                for block in range(stride - 1):
                    self.arena[k + block * self.width] = self.arena[start + e * stride + 1 + block]
            self.rows[f, 0] = new
            self.rows[f, 1] = -1
            return True
        # A row has room for two, four, eight... An update brings at least two: gold and predicted.
        if size != 1 and size & (size - 1) == 0:
            new = self.used
            k = 2 * stride * max(size, 1)
            if new + k > self.arena.shape[0]:
                return False
            self.used = new + k
            for e in range(stride * size):
                self.arena[new + e] = self.arena[start + e]
            self.rows[f, 0] = new
            start = new
        e = start + stride * size
        self.arena[e] = label
        for block in range(1, stride):
            self.arena[e + block] = 0.0
        self.rows[f, 1] = size + 1
        return True

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
        gap: cython.Py_ssize_t
        with cython.nogil:
            while i < features.shape[0] and self.ensure(features[i], labels[i]):
                at = self.find(features[i], labels[i])
                gap = 1 if self.rows[features[i], 1] >= 0 else self.width
                self.arena[at] += amounts[i]
                self.arena[at + gap] += clock * amounts[i]
                i += 1
        return i

    @cython.ccall
    def copy_into(self, new: Store):
        """Copy all rows, in order of feature and without holes, into a larger or wider store."""
        f: cython.Py_ssize_t
        e: cython.Py_ssize_t
        k: cython.Py_ssize_t
        block: cython.Py_ssize_t
        start: cython.Py_ssize_t
        size: cython.int
        with cython.nogil:
            for f in range(self.rows.shape[0]):
                start = self.rows[f, 0]
                size = self.rows[f, 1]
                new.rows[f, 1] = size
                new.rows[f, 0] = new.used
                if size < 0:
                    for block in range(self.stride - 1):
                        for k in range(self.width):
                            new.arena[new.used + block * new.width + k] = self.arena[
                                start + block * self.width + k
                            ]
                    new.used += (self.stride - 1) * new.width
                elif size > 0:
                    for e in range(self.stride * size):
                        new.arena[new.used + e] = self.arena[start + e]
                    new.used += self.room(size, new.stride)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def live_size(self, width: cython.Py_ssize_t, stride: cython.int) -> cython.Py_ssize_t:
        """How many floats a compact copy with rows of that width takes in training."""
        f: cython.Py_ssize_t
        total: cython.Py_ssize_t = 0
        with cython.nogil:
            for f in range(self.rows.shape[0]):
                if self.rows[f, 1] < 0:
                    total += (stride - 1) * width
                else:
                    total += self.room(self.rows[f, 1], stride)
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def room(self, size: cython.int, stride: cython.int) -> cython.Py_ssize_t:
        """How many floats a sparse row of that size takes in training, with its spare room."""
        floats: cython.Py_ssize_t = 2 * stride if size > 0 else 0
        while floats < stride * size:
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
                    label = cython.cast(
                        cython.Py_ssize_t, self.arena[self.rows[f, 0] + e * self.stride]
                    )
                    label = (label // old_width) * width + label % old_width
                    self.arena[self.rows[f, 0] + e * self.stride] = label

    @cython.ccall
    def thaw(self, new: Store):
        """Copy weights for tagging into a store for training; sums and changes start at zero."""
        f: cython.Py_ssize_t
        e: cython.Py_ssize_t
        size: cython.int
        start: cython.Py_ssize_t
        with cython.nogil:
            for f in range(self.rows.shape[0]):
                start = self.rows[f, 0]
                size = self.rows[f, 1]
                new.rows[f, 0] = new.used
                new.rows[f, 1] = size
                if size < 0:
                    for e in range(self.width):
                        new.arena[new.used + e] = self.arena[start + e]
                    new.used += (new.stride - 1) * self.width
                else:
                    for e in range(size):
                        new.arena[new.used + new.stride * e] = self.arena[start + 2 * e]
                        new.arena[new.used + new.stride * e + 1] = self.arena[start + 2 * e + 1]
                    new.used += self.room(size, new.stride)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def freeze(
        self, T: cython.double, n_labels: cython.Py_ssize_t, dense_at: cython.int, new: Store
    ) -> cython.Py_ssize_t:
        """Write the weights for tagging into `new`: w, or the mean w − acc/T where T > 0.

        Zero weights are left out; a row with more than dense_at others becomes dense. With an
        empty arena in `new` nothing is written: the answer is the number of floats that it takes.
        """
        f: cython.Py_ssize_t
        e: cython.Py_ssize_t
        k: cython.Py_ssize_t
        start: cython.Py_ssize_t
        size: cython.int
        count: cython.int
        at: cython.Py_ssize_t = 0
        w: cython.double
        label: cython.Py_ssize_t
        step: cython.Py_ssize_t
        shift: cython.Py_ssize_t
        n: cython.Py_ssize_t
        writing: cython.bint = new.arena.shape[0] > 0
        inverse: cython.double = 1.0 / T if T > 0.0 else 0.0
        with cython.nogil:
            for f in range(self.rows.shape[0]):
                start = self.rows[f, 0]
                size = self.rows[f, 1]
                n = n_labels
                step = 1
                shift = self.width
                if size >= 0:
                    n = size
                    step = self.stride
                    shift = 1
                    start += 1
                count = 0
                for k in range(n):
                    e = start + k * step
                    w = self.arena[e] - self.arena[e + shift] * inverse
                    if cython.cast(cython.float, w) != 0.0:
                        count += 1
                if writing:
                    new.rows[f, 0] = at
                    new.rows[f, 1] = count if count <= dense_at else -1
                    e = at
                    for k in range(n):
                        label = k
                        if size >= 0:
                            label = cython.cast(cython.Py_ssize_t, self.arena[start + k * step - 1])
                        w = (
                            self.arena[start + k * step]
                            - self.arena[start + k * step + shift] * inverse
                        )
                        if cython.cast(cython.float, w) != 0.0:
                            if count <= dense_at:
                                new.arena[e] = label
                                new.arena[e + 1] = w
                                e += 2
                            else:
                                new.arena[at + label] = w
                at += 2 * count if count <= dense_at else new.width
        if writing:
            new.used = at
        return at
