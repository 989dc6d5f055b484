"""First-order chains: the score of a label sequence, and the best one (Viterbi).

A label's scores live in float32 rows padded to a multiple of 8 (`width`), and the inner loop runs
"for one previous label, over all current labels", so that the C compiler vectorises it.
The callers in `seqpa.sequence` check every index and type. C types of attributes stand in
chain.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.sequences import Scratch, Sequences
else:
    from seqpa._kernel.sequences import Scratch, Sequences

COMPILED = cython.compiled

# What a forbidden transition, start, end or label scores: no path that avoids it loses to it.
FORBIDDEN = -1e30
_FORBIDDEN = cython.declare(cython.float, -1e30)


@cython.final
@cython.cclass
class Chain:
    """Scores of label sequences: Σ_t emission(t, y_t) + Σ_t transition(y_{t−1}, y_t).

    trans       (labels, width): weights; FORBIDDEN where a constraint says so, and behind the last
                label
    first, last what a label costs at either end: 0 or FORBIDDEN; likewise FORBIDDEN behind the
                last label
    prune       leave out previous labels that provably cannot win; off where transitions see the
                input, or where every label has a forbidden predecessor
    open        1 for labels that every label may precede; high and low of each row of trans are
                taken over these
    narrow_indptr, narrow   for each label, those that are not open and that it may precede
    """

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
        self.has_narrow = len(narrow) > 0
        self.all_open = all(open)
        self.bound_rows()

    def replace_stores(self, store, pair_store):
        """Go on with other stores: grown copies, or with rows for more features."""
        self.store = store
        self.pair_store = pair_store

    @cython.ccall
    def bound_rows(self):
        """Look at all transitions anew, after others than the trainer have moved them."""
        p: cython.Py_ssize_t
        with cython.nogil:
            for p in range(self.n_labels):
                self.bound_row(p)

    @cython.ccall
    def read_transitions(
        self,
        weights: cython.const[cython.float][:, ::1],
        sums: cython.const[cython.double][:, ::1],
        T: cython.double,
        penalties: cython.const[cython.float][:, ::1],
    ):
        """trans = weights in training, or their means w − sum/T where T > 0; FORBIDDEN where there
        is a penalty. What other rules forbade before has no weight."""
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        w: cython.double
        with cython.nogil:
            for p in range(self.n_labels):
                for y in range(self.n_labels):
                    w = weights[p, y]
                    if penalties[p, y] < 0.0:
                        self.trans[p, y] = _FORBIDDEN
                    elif w <= 0.5 * _FORBIDDEN:
                        self.trans[p, y] = 0.0
                    elif T > 0.0:
                        self.trans[p, y] = w - sums[p, y] / T
                    else:
                        self.trans[p, y] = w
                self.bound_row(p)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bound_row(self, p: cython.Py_ssize_t) -> cython.void:
        y: cython.Py_ssize_t
        high: cython.float = _FORBIDDEN
        low: cython.float = -_FORBIDDEN
        for y in range(self.n_labels):
            if self.all_open or self.open[y]:
                high = max(high, self.trans[p, y])
                low = min(low, self.trans[p, y])
        self.high[p] = high
        self.low[p] = low

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def transition(self, data: Sequences, t: cython.Py_ssize_t, work: Scratch) -> cython.void:
        """work.pairs = trans + what the pair features of token t add to it."""
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        for p in range(self.n_labels):
            for y in range(self.store.width):
                work.pairs[p, y] = self.trans[p, y]
        self.pair_store.pair_emission(data, t, work.flat_pairs)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mask(self, label: cython.int, em: cython.float[::1]) -> cython.void:
        """Leave only the label that is given, where one is (−1: none)."""
        y: cython.Py_ssize_t
        if label >= 0:
            for y in range(self.n_labels):
                if y != label:
                    em[y] = _FORBIDDEN

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def augment(self, label: cython.int, scale: cython.float, work: Scratch) -> cython.void:
        """Add to each label's emission what it costs in place of the label given, scaled."""
        y: cython.Py_ssize_t
        if label >= 0:
            for y in range(self.store.width):
                work.em[y] += scale * work.cost[label, y]

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def emission(
        self, data: Sequences, begin: cython.Py_ssize_t, t: cython.Py_ssize_t, work: Scratch
    ) -> cython.void:
        """work.em of the t-th token of the sentence that begins at `begin`."""
        y: cython.Py_ssize_t
        if work.ready:
            for y in range(self.store.width):
                work.em[y] = work.ems[t, y]
            return
        self.store.emission(data, begin + t, work)
        if work.has_ems:
            for y in range(self.store.width):
                work.ems[t, y] = work.em[y]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def viterbi(
        self,
        data: Sequences,
        i: cython.Py_ssize_t,
        given: cython.const[cython.int][::1],
        scale: cython.float,
        work: Scratch,
    ) -> cython.bint:
        """work.path = the best label sequence of sentence i; of equals, that whose labels come
        first, seen from the end. False: no sequence is legal.

        `given` is empty, or holds for every token a label, or −1. With the scale 0 these labels are
        obeyed. Else the others are paid for: each adds scale times its cost in place of the label
        given to the emission, so that the best score + scale · ρ is found.

        work.s[t, y] is the score of the best sequence up to t that ends in y, relative to the best
        of the position before, so that scores stay exact however long the sentence is. Which label
        came before is looked up for the best sequence only, on the way back.
        """
        begin: cython.Py_ssize_t = data.starts[i]
        n: cython.Py_ssize_t = data.starts[i + 1] - begin
        t: cython.Py_ssize_t
        y: cython.Py_ssize_t
        a: cython.Py_ssize_t = 0
        score: cython.float
        top: cython.float = 0.0
        before: cython.float
        bar: cython.float
        has_given: cython.bint = given.shape[0] > 0
        legal: cython.bint = True
        if n == 0:
            return True
        for y in range(self.store.width):
            work.best[y] = self.first[y]
        for t in range(n):
            self.emission(data, begin, t, work)
            if has_given:
                if scale == 0.0:
                    self.mask(given[begin + t], work.em)
                else:
                    self.augment(given[begin + t], scale, work)
            before = top
            top = 4.0 * _FORBIDDEN
            bar = 4.0 * _FORBIDDEN
            for y in range(self.store.width):
                score = (work.best[y] - before) + work.em[y]
                work.s[t, y] = score
                top = max(top, score)
                bar = max(bar, score + self.low[y])
            legal = legal and top > 0.5 * _FORBIDDEN
            if t + 1 < n:
                self.keep(t, bar, work)
                if data.has_pairs:
                    self.transition(data, begin + t + 1, work)
                    self.relax_pairs(t, work)
                else:
                    self.relax(t, work)
        for y in range(1, self.n_labels):
            if work.s[n - 1, y] + self.last[y] > work.s[n - 1, a] + self.last[a]:
                a = y
        legal = legal and work.s[n - 1, a] + self.last[a] > 0.5 * _FORBIDDEN
        work.path[n - 1] = a
        for t in range(n - 2, -1, -1):
            if data.has_pairs:
                self.transition(data, begin + t + 1, work)
            a = self.before(data.has_pairs, t, a, work)
            work.path[t] = a
        return legal

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def reach(self, t: cython.Py_ssize_t, p: cython.Py_ssize_t, work: Scratch) -> cython.float:
        """The most that the labels p and p + 4 can give to an open label after them.

        Four calls cover a block of eight labels, in a form that the compiler vectorises.
        """
        return max(work.s[t, p] + self.high[p], work.s[t, p + 4] + self.high[p + 4])

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def keep(self, t: cython.Py_ssize_t, bar: cython.float, work: Scratch) -> cython.void:
        """List the labels that may precede the next one; bar = max_q s[t, q] + low[q].

        p is left out where s[t, p] + high[p] is less than that: then q beats it into every open
        label. Rounding is monotone, so this changes nothing in floating point either. Labels are
        looked at in blocks of eight, most of which have none to keep.
        """
        n: cython.Py_ssize_t = 0
        p: cython.Py_ssize_t
        block: cython.Py_ssize_t
        a: cython.float
        b: cython.float
        c: cython.float
        d: cython.float
        if not self.prune:
            bar = 4.0 * _FORBIDDEN
        work.bar = bar
        for block in range(0, self.store.width, 8):
            a = self.reach(t, block, work)
            b = self.reach(t, block + 1, work)
            c = self.reach(t, block + 2, work)
            d = self.reach(t, block + 3, work)
            if max(max(a, b), max(c, d)) >= bar:
                for p in range(block, min(block + 8, self.n_labels)):
                    work.kept[t, n] = p
                    n += work.s[t, p] + self.high[p] >= bar
        work.n_kept[t] = n

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def relax(self, t: cython.Py_ssize_t, work: Scratch) -> cython.void:
        """best[y] = max_p s[t, p] + trans[p, y], over all p that may precede y: few, as a rule.

        Of the labels p left out, only those that are not open are to be tried still.
        """
        n: cython.Py_ssize_t = work.n_kept[t]
        i: cython.Py_ssize_t
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        score: cython.float
        p = work.kept[t, 0]  # there is one at least: the one that set the bar
        score = work.s[t, p]
        for y in range(self.store.width):
            work.best[y] = score + self.trans[p, y]
        for i in range(1, n):
            p = work.kept[t, i]
            score = work.s[t, p]
            for y in range(self.store.width):
                work.best[y] = max(work.best[y], score + self.trans[p, y])
        if self.has_narrow and n < self.n_labels:
            for p in range(self.n_labels):
                if work.s[t, p] + self.high[p] < work.bar:
                    for i in range(self.narrow_indptr[p], self.narrow_indptr[p + 1]):
                        y = self.narrow[i]
                        work.best[y] = max(work.best[y], work.s[t, p] + self.trans[p, y])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def relax_pairs(self, t: cython.Py_ssize_t, work: Scratch) -> cython.void:
        """The same where transitions see the input."""
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        for y in range(self.store.width):
            work.best[y] = 2.0 * _FORBIDDEN
        for p in range(self.n_labels):
            for y in range(self.store.width):
                work.best[y] = max(work.best[y], work.s[t, p] + work.pairs[p, y])

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def before(
        self, pairs: cython.bint, t: cython.Py_ssize_t, y: cython.Py_ssize_t, work: Scratch
    ) -> cython.Py_ssize_t:
        """The label at position t of the best sequence that has y behind it."""
        i: cython.Py_ssize_t
        p: cython.Py_ssize_t
        best: cython.Py_ssize_t = 0
        score: cython.float
        top: cython.float = 4.0 * _FORBIDDEN
        kept: cython.bint = self.open[y] != 0
        for i in range(work.n_kept[t] if kept else self.n_labels):
            p = work.kept[t, i] if kept else i
            score = work.s[t, p] + (work.pairs[p, y] if pairs else self.trans[p, y])
            if score > top:
                top = score
                best = p
        return best

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def step_score(
        self,
        data: Sequences,
        t: cython.Py_ssize_t,
        p: cython.Py_ssize_t,
        y: cython.Py_ssize_t,
    ) -> cython.double:
        """The score of the step into token t of all, from label p to label y."""
        j: cython.Py_ssize_t
        at: cython.Py_ssize_t
        value: cython.double = 1.0
        total: cython.double = cython.cast(cython.double, self.trans[p, y])
        if data.has_pairs:
            for j in range(data.pair_indptr[t], data.pair_indptr[t + 1]):
                at = self.pair_store.find(data.pair_features[j], p * self.store.width + y)
                if at >= 0:
                    if data.has_pair_values:
                        value = cython.cast(cython.double, data.pair_values[j])
                    total += value * cython.cast(cython.double, self.pair_store.arena[at])
        return total

    @cython.ccall
    @cython.exceptval(-2, check=True)
    def decode(
        self,
        data: Sequences,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        fixed: cython.const[cython.int][::1],
        work: Scratch,
        out: cython.int[::1],
    ) -> cython.Py_ssize_t:
        """The best labels of the sentences begin:end, written at their tokens' places in out.

        `fixed` is empty, or holds for every token the label that it must get, or −1. Returns the
        first sentence that has no legal label sequence, or −1.
        """
        i: cython.Py_ssize_t
        t: cython.Py_ssize_t
        first: cython.Py_ssize_t
        bad: cython.Py_ssize_t = -1
        with cython.nogil:
            for i in range(begin, end):
                if not self.viterbi(data, i, fixed, 0.0, work) and bad < 0:
                    bad = i
                first = data.starts[i]
                for t in range(data.starts[i + 1] - first):
                    out[first + t] = work.path[t]
        return bad

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def score(
        self,
        data: Sequences,
        i: cython.Py_ssize_t,
        path: cython.const[cython.int][::1],
        work: Scratch,
    ) -> cython.double:
        """w·Φ(x, y) of one label sequence of sentence i."""
        begin: cython.Py_ssize_t = data.starts[i]
        t: cython.Py_ssize_t
        total: cython.double = 0.0
        with cython.nogil:
            for t in range(path.shape[0]):
                self.store.emission(data, begin + t, work)
                total += cython.cast(cython.double, work.em[path[t]])
                if t == 0:
                    total += cython.cast(cython.double, self.first[path[t]])
                elif data.has_pairs:
                    self.transition(data, begin + t, work)
                    total += cython.cast(cython.double, work.pairs[path[t - 1], path[t]])
                else:
                    total += cython.cast(cython.double, self.trans[path[t - 1], path[t]])
                if t + 1 == path.shape[0]:
                    total += cython.cast(cython.double, self.last[path[t]])
        return total
