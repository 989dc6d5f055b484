"""The label sequence of the highest score + √ρ, exactly, where ρ is a sum of whole numbers.

Or of multiples of one number u: then ρ below counts these, and the root is √u √ρ.

√ρ is no sum over tokens, but for every k and λ between the root's slopes at k,

    √ρ <= √k + λ (ρ − k)     for all whole numbers ρ, with equality at ρ = k.

So `score + λρ`, which Viterbi maximises, bounds what is looked for, and where the sequence that it
finds has the cost k, this one is the answer: `bracket` looks for such a k. As a rule there is one.
Otherwise the answer lies between two slopes, and `search` finds it: Viterbi over pairs of a label
and the cost so far. A pair is left out where even the best that may follow it (score + λρ again,
from the end) cannot beat the best sequence known, so that few are left.
C types of attributes stand in max_loss.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.libc.math import sqrt
    from cython.cimports.seqpa._kernel.chain import Chain
    from cython.cimports.seqpa._kernel.sequences import Scratch, Sequences
else:
    from math import sqrt

    from seqpa._kernel.chain import Chain
    from seqpa._kernel.sequences import Scratch, Sequences

COMPILED = cython.compiled

_NOTHING = cython.declare(cython.double, -4e30)  # the score of a pair that is left out
_HALF = cython.declare(cython.double, -2e30)


@cython.final
@cython.cclass
class MaxLoss:
    """The search in sentences of at most n tokens.

    root     √u, where costs are so many times u
    worst    (labels,) the largest cost in place of each label
    path     (n,) the sequence found; its value, score + √ρ, in `value`, its cost in `cost`
    after    (n, width) the most that score + λρ can gain behind each token and label
    table    (rows, width) the best score of labels up to a token, by their cost (row) and the
             last of them
    first, low, count
             (n,) where in the table the rows of each token begin, for which cost, and how many
    into     (width,) the best score of each label before its emission, for one cost so far
    """

    def __init__(self, root, worst, path, after, table, first, low, count, into):
        self.root = root
        self.worst = worst
        self.path = path
        self.after = after
        self.table = table
        self.first = first
        self.low = low
        self.count = count
        self.into = into
        self.value = 0.0
        self.cost = 0

    def replace_table(self, table):
        """Go on with more rows."""
        self.table = table

    def table_shape(self):
        """How many rows the table has, and how wide they are."""
        return self.table.shape[0], self.table.shape[1]

    def found(self):
        """Value and cost of the sequence found."""
        return self.value, self.cost

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def cost_of(self, given: cython.int, y: cython.Py_ssize_t, work: Scratch) -> cython.Py_ssize_t:
        """What label y costs where a label is given."""
        if given < 0:
            return 0
        return cython.cast(cython.Py_ssize_t, work.cost[given, y])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def try_scale(
        self,
        chain: Chain,
        data: Sequences,
        i: cython.Py_ssize_t,
        given: cython.const[cython.int][::1],
        scale: cython.double,
        work: Scratch,
    ) -> cython.Py_ssize_t:
        """The cost of the best sequence by score + scale · ρ, whose score is then in `score`; it
        is kept if it is the best so far by score + √ρ."""
        t: cython.Py_ssize_t
        begin: cython.Py_ssize_t = data.starts[i]
        n: cython.Py_ssize_t = data.starts[i + 1] - begin
        rho: cython.Py_ssize_t = 0
        score: cython.double = 0.0
        chain.viterbi(data, i, given, cython.cast(cython.float, scale), work)
        work.ready = True
        for t in range(n):
            rho += self.cost_of(given[begin + t], work.path[t], work)
            score += cython.cast(cython.double, work.ems[t, work.path[t]])
            if t > 0:
                score += chain.step_score(data, begin + t, work.path[t - 1], work.path[t])
        self.score = score
        if score + self.root * sqrt(rho) > self.value:
            self.value = score + self.root * sqrt(rho)
            self.cost = rho
            for t in range(n):
                self.path[t] = work.path[t]
        return rho

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find(
        self,
        chain: Chain,
        data: Sequences,
        i: cython.Py_ssize_t,
        given: cython.const[cython.int][::1],
        work: Scratch,
    ) -> cython.bint:
        """path = argmax score + √ρ of sentence i. False: the table is too small.

        `work` has memory for emissions, and the costs, which are whole numbers.
        """
        self.value = _NOTHING
        # √ρ <= ρ: where nothing beats the right labels with ρ added, nothing does with √ρ.
        if self.try_scale(chain, data, i, given, self.root, work) == 0:
            return True
        return self.bracket(chain, data, i, given, work)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bracket(
        self,
        chain: Chain,
        data: Sequences,
        i: cython.Py_ssize_t,
        given: cython.const[cython.int][::1],
        work: Scratch,
    ) -> cython.bint:
        """Find k such that the best sequence by score + λρ, λ = 1/2√k, costs k.

        The cost of the best sequence grows with λ, and λ falls with k: below the k looked for it
        is larger than k, above it smaller.
        """
        below: cython.Py_ssize_t = 0
        above: cython.Py_ssize_t = self.cost + 1  # of the path with λ = 1, which costs the most
        k: cython.Py_ssize_t = self.cost
        rho: cython.Py_ssize_t
        turns: cython.Py_ssize_t = 0
        scale: cython.double
        offset: cython.double
        bound: cython.double
        while below + 1 < above:
            rho = self.try_scale(chain, data, i, given, self.root * 0.5 / sqrt(k), work)
            if rho == k:
                return True
            if rho > k:
                below = k
            else:
                above = k
            turns += 1
            k = rho if turns < 4 else (below + above) // 2
            k = max(below + 1, min(above - 1, k))
        scale = self.root * (sqrt(below + 1) - sqrt(below))
        offset = self.root * sqrt(below) - scale * below
        rho = self.try_scale(chain, data, i, given, scale, work)
        # The chord from `below` to the next whole number, which no root lies above.
        bound = self.score + scale * rho + offset
        if self.value >= bound - 1e-6 * (1.0 + abs(bound)):
            return True
        return self.search(chain, data, i, given, scale, offset, work)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def look_back(
        self,
        chain: Chain,
        data: Sequences,
        i: cython.Py_ssize_t,
        given: cython.const[cython.int][::1],
        scale: cython.double,
        work: Scratch,
    ) -> cython.void:
        """after[t, p] = the best score + scale · ρ of labels behind token t, label p at it."""
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        begin: cython.Py_ssize_t = data.starts[i]
        n: cython.Py_ssize_t = data.starts[i + 1] - begin
        width: cython.Py_ssize_t = chain.store.width
        label: cython.int
        best: cython.double
        for y in range(width):
            self.after[n - 1, y] = chain.last[y]
        for t in range(n - 2, -1, -1):
            label = given[begin + t + 1]
            for y in range(width):
                self.into[y] = self.after[t + 1, y] + work.ems[t + 1, y]
                if label >= 0:
                    self.into[y] += scale * work.cost[label, y]
            if data.has_pairs:
                chain.transition(data, begin + t + 1, work)
            for p in range(chain.n_labels):
                best = 2.0 * _NOTHING
                if data.has_pairs:
                    for y in range(width):
                        best = max(best, self.into[y] + work.pairs[p, y])
                else:
                    for y in range(width):
                        best = max(best, self.into[y] + chain.trans[p, y])
                self.after[t, p] = best

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def open_rows(
        self, t: cython.Py_ssize_t, first: cython.Py_ssize_t, count: cython.Py_ssize_t
    ) -> cython.bint:
        """Empty rows for token t. False: the table has not so many."""
        row: cython.Py_ssize_t
        y: cython.Py_ssize_t
        if first + count > self.table.shape[0]:
            return False
        self.first[t] = first
        self.count[t] = count
        for row in range(first, first + count):
            for y in range(self.table.shape[1]):
                self.table[row, y] = _NOTHING
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def trim(self, t: cython.Py_ssize_t, n_labels: cython.Py_ssize_t) -> cython.void:
        """Give back the rows of token t at either end in which no pair is left."""
        while self.count[t] > 0 and self.is_empty(self.first[t] + self.count[t] - 1, n_labels):
            self.count[t] -= 1
        while self.count[t] > 0 and self.is_empty(self.first[t], n_labels):
            self.first[t] += 1
            self.low[t] += 1
            self.count[t] -= 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_empty(self, row: cython.Py_ssize_t, n_labels: cython.Py_ssize_t) -> cython.bint:
        y: cython.Py_ssize_t
        for y in range(n_labels):
            if self.table[row, y] > _HALF:
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def search(
        self,
        chain: Chain,
        data: Sequences,
        i: cython.Py_ssize_t,
        given: cython.const[cython.int][::1],
        scale: cython.double,
        offset: cython.double,
        work: Scratch,
    ) -> cython.bint:
        """Viterbi over (cost so far, label), with √ρ <= scale · ρ + offset for whole ρ.

        False: the table is too small.
        """
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        row: cython.Py_ssize_t
        cost: cython.Py_ssize_t
        begin: cython.Py_ssize_t = data.starts[i]
        n: cython.Py_ssize_t = data.starts[i + 1] - begin
        width: cython.Py_ssize_t = chain.store.width
        label: cython.int
        more: cython.Py_ssize_t
        best_cost: cython.Py_ssize_t = -1
        best_label: cython.Py_ssize_t = 0
        score: cython.double
        bar: cython.double = self.value - offset + 1e-9 * (1.0 + abs(self.value))
        self.look_back(chain, data, i, given, scale, work)
        for t in range(n):
            label = given[begin + t]
            more = self.worst[label] if label >= 0 else 0
            self.low[t] = self.low[t - 1] if t > 0 else 0
            if t == 0:
                if not self.open_rows(0, 0, more + 1):
                    return False
                for y in range(chain.n_labels):
                    cost = self.cost_of(label, y, work)
                    score = cython.cast(cython.double, chain.first[y]) + work.ems[0, y]
                    if score + scale * cost + self.after[0, y] > bar:
                        self.table[cost, y] = score
            else:
                if data.has_pairs:
                    chain.transition(data, begin + t, work)
                if not self.open_rows(
                    t, self.first[t - 1] + self.count[t - 1], self.count[t - 1] + more
                ):
                    return False
                for row in range(self.count[t - 1]):
                    for y in range(width):
                        self.into[y] = _NOTHING
                    for p in range(chain.n_labels):
                        score = self.table[self.first[t - 1] + row, p]
                        if score > _HALF:
                            if data.has_pairs:
                                for y in range(width):
                                    self.into[y] = max(self.into[y], score + work.pairs[p, y])
                            else:
                                for y in range(width):
                                    self.into[y] = max(self.into[y], score + chain.trans[p, y])
                    for y in range(chain.n_labels):
                        cost = row + self.cost_of(label, y, work)
                        score = self.into[y] + work.ems[t, y]
                        if score + scale * (self.low[t] + cost) + self.after[t, y] > bar:
                            self.table[self.first[t] + cost, y] = score
            self.trim(t, chain.n_labels)
            if self.count[t] == 0:
                return True  # nothing beats the best sequence known
        for row in range(self.count[n - 1]):
            cost = self.low[n - 1] + row
            for y in range(chain.n_labels):
                score = self.table[self.first[n - 1] + row, y] + chain.last[y]
                score += self.root * sqrt(cost)
                if score > self.value:
                    self.value = score
                    best_cost = cost
                    best_label = y
        if best_cost >= 0:
            self.cost = best_cost
            self.trace(chain, data, i, given, best_label, work)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def trace(
        self,
        chain: Chain,
        data: Sequences,
        i: cython.Py_ssize_t,
        given: cython.const[cython.int][::1],
        label: cython.Py_ssize_t,
        work: Scratch,
    ) -> cython.void:
        """path = the sequence of the cost `cost` that ends in `label`, on the way back."""
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        begin: cython.Py_ssize_t = data.starts[i]
        n: cython.Py_ssize_t = data.starts[i + 1] - begin
        cost: cython.Py_ssize_t = self.cost
        row: cython.Py_ssize_t
        best: cython.Py_ssize_t
        score: cython.double
        top: cython.double
        self.path[n - 1] = label
        for t in range(n - 1, 0, -1):
            cost -= self.cost_of(given[begin + t], label, work)
            row = self.first[t - 1] + cost - self.low[t - 1]
            top = 2.0 * _NOTHING
            best = 0
            if data.has_pairs:
                chain.transition(data, begin + t, work)
            for p in range(chain.n_labels):
                if data.has_pairs:
                    score = self.table[row, p] + work.pairs[p, label]
                else:
                    score = self.table[row, p] + chain.trans[p, label]
                if score > top:
                    top = score
                    best = p
            label = best
            self.path[t - 1] = label

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def run(
        self,
        chain: Chain,
        data: Sequences,
        i: cython.Py_ssize_t,
        given: cython.const[cython.int][::1],
        work: Scratch,
    ) -> cython.int:
        """`find` for Python callers, with a fresh look at the emissions: 1, or 0 where the table
        is too small."""
        found: cython.bint
        with cython.nogil:
            work.ready = False
            found = self.find(chain, data, i, given, work)
        return found

    @cython.ccall
    @cython.exceptval(-1e300, check=True)
    def most(
        self,
        chain: Chain,
        data: Sequences,
        i: cython.Py_ssize_t,
        given: cython.const[cython.int][::1],
        scale: cython.double,
        work: Scratch,
    ) -> cython.double:
        """The highest score + scale · ρ of sentence i, which one Viterbi finds."""
        rho: cython.Py_ssize_t
        with cython.nogil:
            work.ready = False
            self.value = _NOTHING
            rho = self.try_scale(chain, data, i, given, scale, work)
        return self.score + scale * rho
