"""First-order chains: scoring, exact decoding and passive-aggressive training over flat arrays.

    Sequences  the encoded sentences: feature ids of every token, nothing else
    Store      emission weights: a ragged row of labels for each feature
    Chain      Store + transitions + constraints: Viterbi, n-best, max-marginals
    Trainer    the epoch loop: decode, cost, τ (steps.py), update, averaging

A label's scores live in float32 rows padded to a multiple of 8 (`width`), and the inner loops run
"for one previous label, over all current labels", so that the C compiler vectorises them.
Nothing here allocates: a store that is full returns to its Python caller, which grows the arrays
and calls again. The callers in `seqpa.sequence` check every index and type.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.libc.math import sqrt
    from cython.cimports.seqpa._kernel.steps import step_size
else:
    from math import sqrt

    from seqpa._kernel.steps import step_size

COMPILED = cython.compiled

# What a forbidden transition, start, end or label scores: no path that avoids it loses to it.
FORBIDDEN = -1e30
_FORBIDDEN = cython.declare(cython.float, -1e30)
# Where a row keeps what: entries of four floats (label, weight, averaging sum, pending change) while
# training, of two (label, weight) for tagging; a dense row is a block of `width` weights, while
# training followed by a block of averaging sums and one of pending changes.
TRAINING_STRIDE = 4
TAGGING_STRIDE = 2

# Why `Trainer.epoch` came back.
DONE = 0
NEEDS_SPACE = 1  # the store is full: grow it and call again with the same arguments
NEEDS_COST = 2  # a mistake whose cost only Python knows: call again with it

_HAMMING = cython.declare(cython.int, 0)
_ZERO_ONE = cython.declare(cython.int, 1)
_MATRIX = cython.declare(cython.int, 2)
_OUTSIDE = cython.declare(cython.int, 3)
COSTS = {"hamming": 0, "zero-one": 1, "matrix": 2, "outside": 3}


@cython.final
@cython.cclass
class Sequences:
    """Encoded sentences. Token t of all has features[indptr[t]:indptr[t+1]]; values may be empty
    (all 1). Sentence i has the tokens starts[i]:starts[i+1]. Pair features likewise."""

    starts: cython.const[cython.longlong][::1]
    indptr: cython.const[cython.longlong][::1]
    features: cython.const[cython.int][::1]
    values: cython.const[cython.float][::1]
    pair_indptr: cython.const[cython.longlong][::1]
    pair_features: cython.const[cython.int][::1]
    pair_values: cython.const[cython.float][::1]
    has_values: cython.bint
    has_pairs: cython.bint
    has_pair_values: cython.bint

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
    the next power of two. size = −1: a dense row. A row starts empty, grows by doubling, and turns
    dense when it has more than `dense_at` labels. Rows that move leave holes: `copy_into` makes
    a compact store.
    """

    arena: cython.float[::1]
    rows: cython.int[:, ::1]
    used: cython.Py_ssize_t
    stride: cython.int
    width: cython.Py_ssize_t
    dense_at: cython.int

    def __init__(self, arena, rows, used, stride, width, dense_at):
        self.arena = arena
        self.rows = rows
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
        if self.find(f, label) >= 0:
            return True
        if size >= self.dense_at:
            new = self.used
            if new + 3 * self.width > self.arena.shape[0]:
                return False
            self.used = new + 3 * self.width
            for e in range(start, start + size * 4, 4):
                k = new + cython.cast(cython.Py_ssize_t, self.arena[e])
                self.arena[k] = self.arena[e + 1]
                self.arena[k + self.width] = self.arena[e + 2]
                self.arena[k + 2 * self.width] = self.arena[e + 3]
            self.rows[f, 0] = new
            self.rows[f, 1] = -1
            return True
        if size & (size - 1) == 0:  # 0 or a power of two: the row is full
            new = self.used
            k = 8 * size if size > 0 else 4
            if new + k > self.arena.shape[0]:
                return False
            self.used = new + k
            for e in range(4 * size):
                self.arena[new + e] = self.arena[start + e]
            self.rows[f, 0] = new
            start = new
        e = start + 4 * size
        self.arena[e] = label
        self.arena[e + 1] = self.arena[e + 2] = self.arena[e + 3] = 0.0
        self.rows[f, 1] = size + 1
        return True

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
                    for block in range(3):
                        for k in range(self.width):
                            new.arena[new.used + block * new.width + k] = self.arena[
                                start + block * self.width + k
                            ]
                    new.used += 3 * new.width
                elif size > 0:
                    for e in range(4 * size):
                        new.arena[new.used + e] = self.arena[start + e]
                    new.used += self.room(size)

    @cython.ccall
    def live_size(self, width: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """How many floats a compact copy with rows of that width takes while training."""
        f: cython.Py_ssize_t
        total: cython.Py_ssize_t = 0
        with cython.nogil:
            for f in range(self.rows.shape[0]):
                total += 3 * width if self.rows[f, 1] < 0 else self.room(self.rows[f, 1])
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def room(self, size: cython.int) -> cython.Py_ssize_t:
        """How many floats a sparse training row of that size has room for."""
        floats: cython.Py_ssize_t = 4 if size > 0 else 0
        while floats < 4 * size:
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
                    new.used += 3 * self.width
                else:
                    for e in range(size):
                        new.arena[new.used + 4 * e] = self.arena[start + 2 * e]
                        new.arena[new.used + 4 * e + 1] = self.arena[start + 2 * e + 1]
                    new.used += self.room(size)

    @cython.ccall
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
                    step = 4
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


@cython.final
@cython.cclass
class Scratch:
    """Room for decoding one sentence; each thread has its own."""

    em: cython.float[::1]
    s: cython.float[::1]
    best: cython.float[::1]
    back: cython.int[:, ::1]
    pairs: cython.float[:, ::1]
    flat_pairs: cython.float[::1]
    path: cython.int[::1]

    def __init__(self, em, s, best, back, pairs, path):
        self.em = em
        self.s = s
        self.best = best
        self.back = back
        self.pairs = pairs
        self.flat_pairs = pairs.reshape(-1)
        self.path = path


@cython.final
@cython.cclass
class Chain:
    """Scores of label sequences: Σ_t emission(t, y_t) + Σ_t transition(y_{t−1}, y_t).

    trans       (labels, width): weights; FORBIDDEN where a constraint says so
    first, last what a label costs at either end: 0 or FORBIDDEN
    prune       leave out previous labels that provably cannot win; off where transitions see the
                input, or where every label has a forbidden predecessor
    open        1 for labels that every label may precede; high and low of each row of trans are
                taken over these
    narrow_indptr, narrow   for each label, those that are not open and that it may precede
    """

    store: Store
    pair_store: Store
    n_labels: cython.Py_ssize_t
    trans: cython.float[:, ::1]
    high: cython.float[::1]
    low: cython.float[::1]
    first: cython.const[cython.float][::1]
    last: cython.const[cython.float][::1]
    prune: cython.bint
    open: cython.const[cython.uchar][::1]
    narrow_indptr: cython.const[cython.int][::1]
    narrow: cython.const[cython.int][::1]

    def __init__(
        self,
        store,
        pair_store,
        n_labels,
        trans,
        high,
        low,
        first,
        last,
        prune,
        open,
        narrow_indptr,
        narrow,
    ):
        self.store = store
        self.pair_store = pair_store
        self.n_labels = n_labels
        self.trans = trans
        self.high = high
        self.low = low
        self.first = first
        self.last = last
        self.prune = prune
        self.open = open
        self.narrow_indptr = narrow_indptr
        self.narrow = narrow
        for p in range(n_labels):
            self.bound_row(p)

    def replace_stores(self, store, pair_store):
        """Go on with grown copies of the stores."""
        self.store = store
        self.pair_store = pair_store

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bound_row(self, p: cython.Py_ssize_t) -> cython.void:
        y: cython.Py_ssize_t
        high: cython.float = _FORBIDDEN
        low: cython.float = -_FORBIDDEN
        for y in range(self.n_labels):
            if self.open[y]:
                high = max(high, self.trans[p, y])
                low = min(low, self.trans[p, y])
        self.high[p] = high
        self.low[p] = low

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def emission(
        self, data: Sequences, t: cython.Py_ssize_t, out: cython.float[::1]
    ) -> cython.void:
        """out[y] = Σ_f value_f · w[f, y] over the features of token t."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for k in range(self.store.width):
            out[k] = 0.0
        for j in range(data.indptr[t], data.indptr[t + 1]):
            self.store.add_row(data.features[j], data.values[j] if data.has_values else 1.0, out)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def transition(self, data: Sequences, t: cython.Py_ssize_t, work: Scratch) -> cython.void:
        """work.pairs = trans + what the pair features of token t add to it."""
        j: cython.Py_ssize_t
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        for p in range(self.n_labels):
            for y in range(self.store.width):
                work.pairs[p, y] = self.trans[p, y]
        for j in range(data.pair_indptr[t], data.pair_indptr[t + 1]):
            self.pair_store.add_row(
                data.pair_features[j],
                data.pair_values[j] if data.has_pair_values else 1.0,
                work.flat_pairs,
            )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def relax(
        self,
        trans: cython.float[:, ::1],
        p: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
        work: Scratch,
    ) -> cython.void:
        """best[y] = max(best[y], s[p] + trans[p, y]), remembering p: the loop that vectorises."""
        y: cython.Py_ssize_t
        score: cython.float
        base: cython.float = work.s[p]
        previous: cython.int = p
        for y in range(self.store.width):
            score = base + trans[p, y]
            work.back[row, y] = previous if score > work.best[y] else work.back[row, y]
            work.best[y] = score if score > work.best[y] else work.best[y]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mask(self, label: cython.int, s: cython.float[::1]) -> cython.void:
        """Leave only the label that is given, where one is (−1: none)."""
        y: cython.Py_ssize_t
        if label >= 0:
            for y in range(self.n_labels):
                if y != label:
                    s[y] = _FORBIDDEN

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def viterbi(
        self,
        data: Sequences,
        i: cython.Py_ssize_t,
        fixed: cython.const[cython.int][::1],
        work: Scratch,
    ) -> cython.void:
        """work.path = the best label sequence of sentence i; of equals, that whose labels come
        first, seen from the end.

        Scores are kept relative to the best of their position, so that they stay exact however
        long the sentence is. A previous label p is skipped where s[p] + high[p] is less than
        s[q] + low[q] for some q: then q beats it into every open label, and only the others that
        it may precede are left to try. Rounding is monotone, so this changes nothing in floating
        point either.
        """
        begin: cython.Py_ssize_t = data.starts[i]
        n: cython.Py_ssize_t = data.starts[i + 1] - begin
        K: cython.Py_ssize_t = self.n_labels
        t: cython.Py_ssize_t
        y: cython.Py_ssize_t
        p: cython.Py_ssize_t
        a: cython.Py_ssize_t
        top: cython.float
        bar: cython.float
        has_fixed: cython.bint = fixed.shape[0] > 0
        if n == 0:
            return
        self.emission(data, begin, work.em)
        for y in range(K):
            work.s[y] = work.em[y] + self.first[y]
        if has_fixed:
            self.mask(fixed[begin], work.s)
        for t in range(1, n):
            top = work.s[0]
            for y in range(1, K):
                top = max(top, work.s[y])
            bar = _FORBIDDEN
            for y in range(K):
                work.s[y] -= top
                bar = max(bar, work.s[y] + self.low[y])
            for y in range(self.store.width):
                work.best[y] = 2.0 * _FORBIDDEN
                work.back[t, y] = 0
            if data.has_pairs:
                self.transition(data, begin + t, work)
                for p in range(K):
                    self.relax(work.pairs, p, t, work)
            elif not self.prune:
                for p in range(K):
                    self.relax(self.trans, p, t, work)
            else:
                for p in range(K):
                    if work.s[p] + self.high[p] >= bar:
                        self.relax(self.trans, p, t, work)
                    else:
                        for a in range(self.narrow_indptr[p], self.narrow_indptr[p + 1]):
                            y = self.narrow[a]
                            if work.s[p] + self.trans[p, y] > work.best[y]:
                                work.best[y] = work.s[p] + self.trans[p, y]
                                work.back[t, y] = p
            self.emission(data, begin + t, work.em)
            for y in range(K):
                work.s[y] = work.best[y] + work.em[y]
            if has_fixed:
                self.mask(fixed[begin + t], work.s)
        a = 0
        for y in range(1, K):
            if work.s[y] + self.last[y] > work.s[a] + self.last[a]:
                a = y
        work.path[n - 1] = a
        for t in range(n - 1, 0, -1):
            a = work.back[t, a]
            work.path[t - 1] = a

    @cython.ccall
    def decode(
        self,
        data: Sequences,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        fixed: cython.const[cython.int][::1],
        work: Scratch,
        out: cython.int[::1],
    ):
        """The best labels of the sentences begin:end, written at their tokens' places in out.

        `fixed` is empty, or holds for every token the label that it must get, or −1.
        """
        i: cython.Py_ssize_t
        t: cython.Py_ssize_t
        first: cython.Py_ssize_t
        with cython.nogil:
            for i in range(begin, end):
                self.viterbi(data, i, fixed, work)
                first = data.starts[i]
                for t in range(data.starts[i + 1] - first):
                    out[first + t] = work.path[t]

    @cython.ccall
    def potentials(
        self,
        data: Sequences,
        t: cython.Py_ssize_t,
        pairs: cython.bint,
        work: Scratch,
    ):
        """Fill work.em with the emissions of token t and, if asked, work.pairs with the
        transitions into it: for n-best, max-marginals and explanations, which NumPy does."""
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        with cython.nogil:
            self.emission(data, t, work.em)
            if pairs:
                if data.has_pairs:
                    self.transition(data, t, work)
                else:
                    for p in range(self.n_labels):
                        for y in range(self.n_labels):
                            work.pairs[p, y] = self.trans[p, y]


@cython.final
@cython.cclass
class Trainer:
    """Prediction-based cost-sensitive updates (Eq. 44-49 with the Φ of Eq. 59).

    cost_kind, cost  Hamming, zero-one, a label × label matrix summed over tokens, or outside
    trans_acc, trans_delta   averaging sums and pending changes beside chain.trans
    touched          scratch: which weights the update of one sentence changes
    clock            sentences seen so far
    """

    chain: Chain
    step: cython.int
    C: cython.double
    cost_kind: cython.int
    cost: cython.const[cython.float][:, ::1]
    trans_acc: cython.float[:, ::1]
    trans_delta: cython.float[:, ::1]
    averaging: cython.bint
    clock: cython.double
    position: cython.Py_ssize_t
    mistakes: cython.longlong
    wrong_tokens: cython.longlong
    updates: cython.longlong
    total_cost: cython.double
    loss: cython.double
    squared_loss: cython.double
    norm2: cython.double
    score: cython.double

    def __init__(self, chain, step, C, cost_kind, cost, trans_acc, trans_delta, averaging, clock):
        self.chain = chain
        self.step = step
        self.C = C
        self.cost_kind = cost_kind
        self.cost = cost
        self.trans_acc = trans_acc
        self.trans_delta = trans_delta
        self.averaging = averaging
        self.clock = clock
        self.reset()

    def reset(self):
        """Start an epoch: back to its first sentence, all sums zero."""
        self.position = 0
        self.mistakes = self.wrong_tokens = self.updates = 0
        self.total_cost = self.loss = self.squared_loss = 0.0

    def get_clock(self):
        """Sentences seen so far."""
        return self.clock

    def get_position(self):
        """Where in the order of this epoch the trainer stands."""
        return self.position

    def totals(self):
        """Wrong sentences, wrong tokens, updates, cost, loss and squared loss of this epoch."""
        return (
            self.mistakes,
            self.wrong_tokens,
            self.updates,
            self.total_cost,
            self.loss,
            self.squared_loss,
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def ensure_token(
        self,
        store: Store,
        indptr: cython.const[cython.longlong][::1],
        features: cython.const[cython.int][::1],
        t: cython.Py_ssize_t,
        gold: cython.Py_ssize_t,
        predicted: cython.Py_ssize_t,
    ) -> cython.bint:
        j: cython.Py_ssize_t
        for j in range(indptr[t], indptr[t + 1]):
            if not store.ensure(features[j], gold):
                return False
            if not store.ensure(features[j], predicted):
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def change(
        self, store: Store, f: cython.Py_ssize_t, label: cython.Py_ssize_t, value: cython.double
    ) -> cython.void:
        """δ[f, label] += value, with ‖δ‖² and w·δ kept exact while equal features merge."""
        at: cython.Py_ssize_t = store.find(f, label)
        pending: cython.Py_ssize_t = at + (2 if store.rows[f, 1] >= 0 else 2 * store.width)
        before: cython.double = store.arena[pending]
        self.norm2 += value * (2.0 * before + value)
        self.score += value * store.arena[at]
        store.arena[pending] = before + value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def apply(
        self, store: Store, f: cython.Py_ssize_t, label: cython.Py_ssize_t, tau: cython.double
    ) -> cython.void:
        """w[f, label] += τδ, acc += clock·τδ, and δ back to zero (so a repeat changes nothing)."""
        at: cython.Py_ssize_t = store.find(f, label)
        gap: cython.Py_ssize_t = 1 if store.rows[f, 1] >= 0 else store.width
        amount: cython.double = tau * store.arena[at + 2 * gap]
        if amount != 0.0:
            store.arena[at] += amount
            if self.averaging:
                store.arena[at + gap] += self.clock * amount
        store.arena[at + 2 * gap] = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def change_transition(
        self, p: cython.Py_ssize_t, y: cython.Py_ssize_t, value: cython.double
    ) -> cython.void:
        self.norm2 += value * (2.0 * self.trans_delta[p, y] + value)
        self.score += value * self.chain.trans[p, y]
        self.trans_delta[p, y] += value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def apply_transition(
        self, p: cython.Py_ssize_t, y: cython.Py_ssize_t, tau: cython.double
    ) -> cython.void:
        amount: cython.double = tau * self.trans_delta[p, y]
        if amount != 0.0:
            self.chain.trans[p, y] += amount
            if self.averaging:
                self.trans_acc[p, y] += self.clock * amount
            self.chain.bound_row(p)
        self.trans_delta[p, y] = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def make_room(
        self,
        data: Sequences,
        begin: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        gold: cython.const[cython.int][::1],
        path: cython.int[::1],
    ) -> cython.bint:
        """Give every weight that the update will change a place, so that none moves meanwhile."""
        t: cython.Py_ssize_t
        width: cython.Py_ssize_t = self.chain.store.width
        for t in range(n):
            if gold[begin + t] != path[t] and not self.ensure_token(
                self.chain.store,
                data.indptr,
                data.features,
                begin + t,
                gold[begin + t],
                path[t],
            ):
                return False
            if (
                data.has_pairs
                and t > 0
                and (gold[begin + t] != path[t] or gold[begin + t - 1] != path[t - 1])
                and not self.ensure_token(
                    self.chain.pair_store,
                    data.pair_indptr,
                    data.pair_features,
                    begin + t,
                    gold[begin + t - 1] * width + gold[begin + t],
                    path[t - 1] * width + path[t],
                )
            ):
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def along(
        self,
        data: Sequences,
        begin: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        gold: cython.const[cython.int][::1],
        path: cython.int[::1],
        applying: cython.bint,
        tau: cython.double,
    ) -> cython.void:
        """Walk along δ = Φ(x, gold) − Φ(x, path): collect it, or apply τ times it."""
        t: cython.Py_ssize_t
        j: cython.Py_ssize_t
        g: cython.Py_ssize_t
        p: cython.Py_ssize_t
        v: cython.double
        width: cython.Py_ssize_t = self.chain.store.width
        for t in range(n):
            g = gold[begin + t]
            p = path[t]
            if g != p:
                for j in range(data.indptr[begin + t], data.indptr[begin + t + 1]):
                    if applying:
                        self.apply(self.chain.store, data.features[j], g, tau)
                        self.apply(self.chain.store, data.features[j], p, tau)
                    else:
                        v = data.values[j] if data.has_values else 1.0
                        self.change(self.chain.store, data.features[j], g, v)
                        self.change(self.chain.store, data.features[j], p, -v)
            if t > 0 and (g != p or gold[begin + t - 1] != path[t - 1]):
                if applying:
                    self.apply_transition(gold[begin + t - 1], g, tau)
                    self.apply_transition(path[t - 1], p, tau)
                else:
                    self.change_transition(gold[begin + t - 1], g, 1.0)
                    self.change_transition(path[t - 1], p, -1.0)
                if data.has_pairs:
                    g = gold[begin + t - 1] * width + g
                    p = path[t - 1] * width + p
                    for j in range(data.pair_indptr[begin + t], data.pair_indptr[begin + t + 1]):
                        if applying:
                            self.apply(self.chain.pair_store, data.pair_features[j], g, tau)
                            self.apply(self.chain.pair_store, data.pair_features[j], p, tau)
                        else:
                            v = data.pair_values[j] if data.has_pair_values else 1.0
                            self.change(self.chain.pair_store, data.pair_features[j], g, v)
                            self.change(self.chain.pair_store, data.pair_features[j], p, -v)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def known_cost(
        self,
        begin: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        gold: cython.const[cython.int][::1],
        path: cython.int[::1],
    ) -> cython.double:
        """ρ(gold, path) of a mistake, where the kernel knows it; −1 where only Python does."""
        t: cython.Py_ssize_t
        total: cython.double = 0.0
        if self.cost_kind == _OUTSIDE:
            return -1.0
        if self.cost_kind == _ZERO_ONE:
            return 1.0
        for t in range(n):
            if gold[begin + t] != path[t]:
                if self.cost_kind == _HAMMING:
                    total += 1.0
                else:
                    total += self.cost[gold[begin + t], path[t]]
        return total

    @cython.ccall
    def epoch(
        self,
        data: Sequences,
        gold: cython.const[cython.int][::1],
        order: cython.const[cython.longlong][::1],
        given_path: cython.bint,
        given_cost: cython.double,
        no_labels: cython.const[cython.int][::1],
        work: Scratch,
        record: cython.double[:, ::1],
    ) -> cython.int:
        """Train on the sentences of `order`, from where the last call stopped.

        DONE: through. NEEDS_SPACE: a store is full. NEEDS_COST: work.path is wrong and its cost
        is known to Python alone; call again with given_cost. given_path says that work.path
        already holds the competitor of the first sentence: it was there when the last call
        stopped, or the caller found it (max-loss). no_labels is empty: nothing is fixed.
        record (sentences, 4), or empty: loss, τ, ‖δ‖², cost.
        """
        i: cython.Py_ssize_t
        t: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        n: cython.Py_ssize_t
        wrong: cython.Py_ssize_t
        rho: cython.double
        r: cython.double
        tau: cython.double
        status: cython.int = 0
        with cython.nogil:
            while self.position < order.shape[0]:
                i = order[self.position]
                begin = data.starts[i]
                n = data.starts[i + 1] - begin
                if not given_path:
                    self.chain.viterbi(data, i, no_labels, work)
                given_path = False
                wrong = 0
                for t in range(n):
                    if work.path[t] != gold[begin + t]:
                        wrong += 1
                if wrong > 0:
                    rho = given_cost
                    if rho < 0.0:
                        rho = self.known_cost(begin, n, gold, work.path)
                    if rho < 0.0:
                        status = 2
                        break
                    if not self.make_room(data, begin, n, gold, work.path):
                        status = 1
                        break
                    self.norm2 = 0.0
                    self.score = 0.0
                    self.along(data, begin, n, gold, work.path, False, 0.0)
                    r = sqrt(rho) - self.score
                    tau = step_size(self.step, r, self.score, self.norm2, self.C)
                    self.along(data, begin, n, gold, work.path, True, tau)
                    self.mistakes += 1
                    self.wrong_tokens += wrong
                    self.total_cost += rho
                    if r > 0.0:
                        self.loss += r
                        self.squared_loss += r * r
                    if tau != 0.0:
                        self.updates += 1
                    if record.shape[0] > 0:
                        record[self.position, 0] = max(r, 0.0)
                        record[self.position, 1] = tau
                        record[self.position, 2] = self.norm2
                        record[self.position, 3] = rho
                given_cost = -1.0
                self.clock += 1.0
                self.position += 1
        return status
