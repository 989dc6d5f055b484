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
    from cython.cimports.seqpa._kernel.store import Scratch, Sequences
else:
    from seqpa._kernel.store import Scratch, Sequences

COMPILED = cython.compiled

# What a forbidden transition, start, end or label scores: no path that avoids it loses to it.
FORBIDDEN = -1e30
_FORBIDDEN = cython.declare(cython.float, -1e30)


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
    ) -> cython.bint:
        """work.path = the best label sequence of sentence i; of equals, that whose labels come
        first, seen from the end. False: no sequence is legal.

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
        legal: cython.bint = True
        if n == 0:
            return True
        self.store.emission(data, begin, work)
        for y in range(K):
            work.s[y] = work.em[y] + self.first[y]
        if has_fixed:
            self.mask(fixed[begin], work.s)
        for t in range(1, n):
            top = work.s[0]
            for y in range(1, K):
                top = max(top, work.s[y])
            legal = legal and top > 0.5 * _FORBIDDEN
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
            elif not self.has_narrow:
                for p in range(K):
                    if work.s[p] + self.high[p] >= bar:
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
            self.store.emission(data, begin + t, work)
            for y in range(K):
                work.s[y] = work.best[y] + work.em[y]
            if has_fixed:
                self.mask(fixed[begin + t], work.s)
        a = 0
        for y in range(1, K):
            if work.s[y] + self.last[y] > work.s[a] + self.last[a]:
                a = y
        legal = legal and work.s[a] + self.last[a] > 0.5 * _FORBIDDEN
        work.path[n - 1] = a
        for t in range(n - 1, 0, -1):
            a = work.back[t, a]
            work.path[t - 1] = a
        return legal

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
                if not self.viterbi(data, i, fixed, work) and bad < 0:
                    bad = i
                first = data.starts[i]
                for t in range(data.starts[i + 1] - first):
                    out[first + t] = work.path[t]
        return bad

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
            self.store.emission(data, t, work)
            if pairs:
                if data.has_pairs:
                    self.transition(data, t, work)
                else:
                    for p in range(self.n_labels):
                        for y in range(self.n_labels):
                            work.pairs[p, y] = self.trans[p, y]
