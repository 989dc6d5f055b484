"""Looking ahead: a block of sentences decoded by several threads, all with the same weights.

The thread that trains opens a block and decodes sentences of it; helpers, threads that wait in
`Ahead.help`, take some of them. A sentence's result does not depend on who decodes it, so nothing
depends on how many helpers there are, or whether they come in time. Between blocks, while the
weights move, helpers touch neither weights nor sentences.

Sentences are handed out by two counters that only grow: `next` of those that were opened, up to
`limit`, is the next that nobody has. A helper has one once it has moved `next` on by one with a
compare-and-swap: so no sentence is decoded twice, and none before its block was opened.
C types of attributes stand in ahead.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel import threads
    from cython.cimports.seqpa._kernel.competitor import Competitor
    from cython.cimports.seqpa._kernel.sequences import Sequences
else:
    from seqpa._kernel.competitor import Competitor
    from seqpa._kernel.sequences import Sequences

COMPILED = cython.compiled

# A block has no more sentences than this, and no more tokens unless it is a single sentence.
MOST = 256
TOKENS = 16384
_MOST = cython.declare(cython.Py_ssize_t, MOST)
_TOKENS = cython.declare(cython.Py_ssize_t, TOKENS)

# Where the counters stand in `shared`, each in a cache line of its own.
COUNTERS = 64
_LIMIT = cython.declare(cython.Py_ssize_t, 8)
_NEXT = cython.declare(cython.Py_ssize_t, 24)
_READY = cython.declare(cython.Py_ssize_t, 40)  # sentences that helpers have decoded
_CLOSED = cython.declare(cython.Py_ssize_t, 56)

# Whoever waits looks so often before it asks for the time, or lets others run.
_LOOKS = cython.declare(cython.Py_ssize_t, 256)
# Whoever waits for a helper longer than this, and longer than its own share took, is on a crowded
# machine; so many blocks are then decoded without helpers, each time twice as many as the last.
_CROWDED = cython.declare(cython.double, 1e-3)
_ALONE = cython.declare(cython.Py_ssize_t, 16)
_LONGEST_ALONE = cython.declare(cython.Py_ssize_t, 256)


@cython.final
@cython.cclass
class Ahead:
    """A block of sentences, and what was found for each.

    shared      (COUNTERS,) the counters
    offsets     (MOST + 1,) where each sentence's labels begin in `paths` and `guesses`
    turns       (MOST,) in which order the sentences are handed out: the longest first, so that all
                threads end at about the same time
    found       (MOST,) whether the sentence was decoded: not where the max-loss table was full
    wrong       (MOST,) whether its competitor lacks a label that is given
    paths, guesses   the competitors; and the predictions, where they are others
    """

    def __init__(self, shared, offsets, turns, found, wrong, paths, guesses):
        self.shared = shared
        self.offsets = offsets
        self.turns = turns
        self.found = found
        self.wrong = wrong
        self.paths = paths
        self.guesses = guesses
        self.with_guesses = len(guesses) > 0
        self.own = self.alone = 0
        self.penalty = _ALONE
        self.base = self.begin = self.end = 0

    def give(self, data: Sequences, gold, order, no_labels, helpers):
        """Sentences for the blocks to come; no helper is at work."""
        self.data = data
        self.gold = gold
        self.order = order
        self.no_labels = no_labels
        self.helpers = helpers
        self.shared[_CLOSED] = 0
        self.base = self.shared[_NEXT]
        self.begin = self.end = 0

    def close(self):
        """Send the helpers away: each comes out of `help` when its sentence is done."""
        self.shared[_CLOSED] = 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def take(self) -> cython.Py_ssize_t:
        """The position of a sentence that is now the caller's; −1: there is none."""
        number: cython.longlong
        if cython.compiled:
            while True:
                number = threads.load(cython.address(self.shared[_NEXT]))
                if number >= threads.load(cython.address(self.shared[_LIMIT])):
                    return -1
                if threads.swap(cython.address(self.shared[_NEXT]), number, number + 1):
                    return self.begin + self.turns[number - self.base - self.begin]
        return -1  # uncompiled there are no helpers, and nobody takes any

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def decode(self, position: cython.Py_ssize_t, by: Competitor) -> cython.bint:
        """Find the competitor of a sentence of the block; False: the max-loss table is full."""
        i: cython.Py_ssize_t = self.order[position]
        k: cython.Py_ssize_t = position - self.begin
        at: cython.Py_ssize_t = self.offsets[k]
        n: cython.Py_ssize_t
        t: cython.Py_ssize_t
        by.work.ready = False
        if not by.find(self.data, i, self.gold, self.no_labels):
            self.found[k] = 0
            return False
        n = self.offsets[k + 1] - at
        for t in range(n):
            self.paths[at + t] = by.work.path[t]
        if self.with_guesses:
            for t in range(n):
                self.guesses[at + t] = by.guess[t]
        self.wrong[k] = by.count_wrong(self.data.starts[i], n, self.gold, by.work.path) > 0
        self.found[k] = 1
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def open(
        self, position: cython.Py_ssize_t, size: cython.Py_ssize_t, by: Competitor
    ) -> cython.void:
        """Decode a block of up to `size` sentences from a position of the order on."""
        k: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t
        limit: cython.longlong
        looks: cython.Py_ssize_t = 0
        opened: cython.double
        done: cython.double
        size = min(min(size, _MOST), self.order.shape[0] - position)
        self.offsets[0] = 0
        while k < size:
            i = self.order[position + k]
            n = data_length(self.data, i)
            if k > 0 and self.offsets[k] + n > _TOKENS:
                break
            self.offsets[k + 1] = self.offsets[k] + n
            k += 1
        self.begin = position
        self.end = position + k
        limit = self.base + self.end
        if not cython.compiled or not self.helpers or k == 1 or self.alone > 0:
            if self.alone > 0:
                self.alone -= 1
            for i in range(self.begin, self.end):
                self.decode(i, by)
            self.own += k
            if cython.compiled:  # first `next`: at no time is there a sentence to take
                threads.store(cython.address(self.shared[_NEXT]), limit)
                threads.store(cython.address(self.shared[_LIMIT]), limit)
            else:
                self.shared[_NEXT] = self.shared[_LIMIT] = limit
            return
        self.take_turns()
        if cython.compiled:
            opened = threads.seconds()
            threads.store(cython.address(self.shared[_LIMIT]), limit)
            while True:
                i = self.take()
                if i < 0:
                    break
                self.decode(i, by)
                self.own += 1
            done = threads.seconds()
            while threads.load(cython.address(self.shared[_READY])) + self.own < limit:
                looks += 1
                if looks < _LOOKS:
                    threads.pause()
                else:
                    threads.give_way()
            if looks > _LOOKS and threads.seconds() - done > max(_CROWDED, done - opened):
                self.alone = self.penalty
                self.penalty = min(2 * self.penalty, _LONGEST_ALONE)
            elif self.penalty > _ALONE:
                self.penalty -= 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def take_turns(self) -> cython.void:
        """Sort the sentences of the block, the longest first."""
        k: cython.Py_ssize_t
        j: cython.Py_ssize_t
        n: cython.Py_ssize_t
        other: cython.Py_ssize_t
        for k in range(self.end - self.begin):
            n = self.offsets[k + 1] - self.offsets[k]
            j = k
            while j > 0:
                other = self.turns[j - 1]
                if self.offsets[other + 1] - self.offsets[other] >= n:
                    break
                self.turns[j] = other
                j -= 1
            self.turns[j] = k

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def help(self, by: Competitor, patience: cython.double) -> cython.int:
        """Decode sentences until the blocks are closed (1), or for so many seconds none came: 2
        where some had come before, else 0."""
        i: cython.Py_ssize_t
        looks: cython.Py_ssize_t = 0
        until: cython.double
        worked: cython.bint = False
        if cython.compiled:
            with cython.nogil:
                until = threads.seconds() + patience
                while not threads.load(cython.address(self.shared[_CLOSED])):
                    i = self.take()
                    if i >= 0:
                        self.decode(i, by)
                        threads.add(cython.address(self.shared[_READY]), 1)
                        looks = 0
                        worked = True
                        continue
                    threads.pause()
                    looks += 1
                    if looks == 1 and worked:
                        until = threads.seconds() + patience
                    elif looks % _LOOKS == 0:
                        if threads.seconds() > until:
                            break
                        threads.give_way()  # the thread that trains may wait for this very core
        if self.shared[_CLOSED] != 0:
            return 1
        return 2 if worked else 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def data_length(data: Sequences, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """How many tokens a sentence has."""
    return data.starts[i + 1] - data.starts[i]
