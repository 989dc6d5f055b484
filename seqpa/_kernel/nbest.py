"""The n best label sequences of a chain, exactly.

Viterbi finds the best beginning for any end of a sequence. A sequence other than those found shares
an end with one of them and differs from it in the label before: there it *branches off*, and is at
best as good as the best with that end. So the next one is always the best of these branches.

A branch (r, t, y) has what the found sequence r has after position t, the label y there, and before
it the best beginning. Sequence r itself came from a branch at `limit[r]`: only positions before
that one are its own to branch at. C types of attributes stand in nbest.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

COMPILED = cython.compiled

_FORBIDDEN = cython.declare(cython.double, -1e30)


@cython.final
@cython.cclass
class NBest:
    """The search in one sentence of n tokens with K labels, for at most k sequences.

    fixed    empty, or for every token of the data the label that it must get, or −1
    em       (n, K) emissions, with what a label costs at either end
    forward  (n, K) the best score of labels up to t that end in y
    back     (n, K) the label before, on that best way
    paths    (k, n) the sequences found, best first; scores (k,) theirs
    limit, branch_at, branch_label, branch_score
             (k,) of each sequence found: where it may branch off, and its best branch still to take
    """

    def __init__(
        self,
        chain,
        data,
        begin,
        fixed,
        work,
        em,
        forward,
        back,
        paths,
        scores,
        limit,
        branch_at,
        branch_label,
        branch_score,
    ):
        self.chain = chain
        self.data = data
        self.begin = begin
        self.fixed = fixed
        self.work = work
        self.em = em
        self.forward = forward
        self.back = back
        self.paths = paths
        self.scores = scores
        self.limit = limit
        self.branch_at = branch_at
        self.branch_label = branch_label
        self.branch_score = branch_score
        self.n, self.n_labels = em.shape

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def into(self, t: cython.Py_ssize_t) -> cython.void:
        """Fill work.pairs with the transitions into position t.

        Without pair features they are the same everywhere, and there since `emit`.
        """
        if self.data.has_pairs:
            self.chain.transition(self.data, self.begin + t, self.work)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def emit(self) -> cython.void:
        """Fill em, and without pair features also work.pairs, the same for every position."""
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        only: cython.Py_ssize_t = -1
        if not self.data.has_pairs:
            for p in range(self.n_labels):
                for y in range(self.n_labels):
                    self.work.pairs[p, y] = self.chain.trans[p, y]
        for t in range(self.n):
            self.chain.store.emission(self.data, self.begin + t, self.work)
            if self.fixed.shape[0] > 0:
                only = self.fixed[self.begin + t]
            for y in range(self.n_labels):
                self.em[t, y] = cython.cast(cython.double, self.work.em[y])
                if t == 0:
                    self.em[t, y] += cython.cast(cython.double, self.chain.first[y])
                if t == self.n - 1:
                    self.em[t, y] += cython.cast(cython.double, self.chain.last[y])
                if only >= 0 and y != only:
                    self.em[t, y] = _FORBIDDEN

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def go_forward(self) -> cython.void:
        """Fill em, forward and back: Viterbi for every end."""
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        score: cython.double
        self.emit()
        for t in range(self.n):
            for y in range(self.n_labels):
                self.forward[t, y] = 4.0 * _FORBIDDEN if t else 0.0
                self.back[t, y] = 0
            if t > 0:
                self.into(t)
                for p in range(self.n_labels):
                    for y in range(self.n_labels):
                        score = self.forward[t - 1, p] + self.work.pairs[p, y]
                        if score > self.forward[t, y]:
                            self.forward[t, y] = score
                            self.back[t, y] = p
            for y in range(self.n_labels):
                self.forward[t, y] += self.em[t, y]

    @cython.ccall
    def marginals(self, out: cython.double[:, ::1]):
        """out[t, y] = the score of the best sequence that has the label y at position t: the best
        up to there, and the best from there on."""
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        before: cython.double
        with cython.nogil:
            self.emit()
            for t in range(self.n):
                for y in range(self.n_labels):
                    self.forward[t, y] = 4.0 * _FORBIDDEN if t else 0.0
                if t > 0:
                    self.into(t)
                    for p in range(self.n_labels):
                        before = self.forward[t - 1, p]
                        for y in range(self.n_labels):
                            self.forward[t, y] = max(
                                self.forward[t, y], before + self.work.pairs[p, y]
                            )
                for y in range(self.n_labels):
                    self.forward[t, y] += self.em[t, y]
                    out[t, y] = 0.0
            for t in range(self.n - 2, -1, -1):
                self.into(t + 1)
                for p in range(self.n_labels):
                    before = 4.0 * _FORBIDDEN
                    for y in range(self.n_labels):
                        before = max(
                            before, self.work.pairs[p, y] + self.em[t + 1, y] + out[t + 1, y]
                        )
                    out[t, p] = before
            for t in range(self.n):
                for y in range(self.n_labels):
                    out[t, y] += self.forward[t, y]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def comes_first(
        self,
        r: cython.Py_ssize_t,
        t: cython.Py_ssize_t,
        y: cython.Py_ssize_t,
        other_r: cython.Py_ssize_t,
        other_t: cython.Py_ssize_t,
        other_y: cython.Py_ssize_t,
    ) -> cython.bint:
        """Which of two branches with equal scores Viterbi would prefer: seen from the end, that
        whose labels come first."""
        j: cython.Py_ssize_t
        label: cython.Py_ssize_t = y
        other: cython.Py_ssize_t = other_y
        for j in range(self.n - 1, -1, -1):
            if j > t:
                label = self.paths[r, j]
            else:
                label = y if j == t else self.back[j + 1, label]
            if j > other_t:
                other = self.paths[other_r, j]
            else:
                other = other_y if j == other_t else self.back[j + 1, other]
            if label != other:
                return label < other
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_branch(
        self,
        r: cython.Py_ssize_t,
        bar: cython.double,
        bar_at: cython.Py_ssize_t,
        bar_label: cython.Py_ssize_t,
    ) -> cython.void:
        """The best branch of sequence r behind the one that was taken last (bar_at −1: none)."""
        t: cython.Py_ssize_t
        y: cython.Py_ssize_t
        after: cython.double = 0.0
        score: cython.double
        self.branch_score[r] = 4.0 * _FORBIDDEN
        for t in range(self.n - 1, -1, -1):
            if t + 1 < self.n:
                self.into(t + 1)
            if t < self.limit[r]:
                for y in range(self.n_labels):
                    if y == self.paths[r, t]:
                        continue
                    score = self.forward[t, y] + after
                    if t + 1 < self.n:
                        score += self.work.pairs[y, self.paths[r, t + 1]]
                    if score < self.branch_score[r]:
                        continue
                    if bar_at >= 0 and (
                        score > bar
                        or (score == bar and not self.comes_first(r, bar_at, bar_label, r, t, y))
                    ):
                        continue
                    if score > self.branch_score[r] or self.comes_first(
                        r, t, y, r, self.branch_at[r], self.branch_label[r]
                    ):
                        self.branch_score[r] = score
                        self.branch_at[r] = t
                        self.branch_label[r] = y
            after += self.em[t, self.paths[r, t]]
            if t + 1 < self.n:
                after += self.work.pairs[self.paths[r, t], self.paths[r, t + 1]]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def take(
        self,
        found: cython.Py_ssize_t,
        r: cython.Py_ssize_t,
        t: cython.Py_ssize_t,
        y: cython.Py_ssize_t,
        score: cython.double,
    ) -> cython.void:
        """Write the branch (r, t, y) as sequence number `found`."""
        j: cython.Py_ssize_t
        for j in range(self.n - 1, t, -1):
            self.paths[found, j] = self.paths[r, j]
        self.paths[found, t] = y
        for j in range(t, 0, -1):
            self.paths[found, j - 1] = self.back[j, self.paths[found, j]]
        self.scores[found] = score
        self.limit[found] = t
        self.find_branch(found, 0.0, -1, -1)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def search(self) -> cython.Py_ssize_t:
        """Fill paths and scores; returns how many there are, fewer than k where fewer are legal."""
        r: cython.Py_ssize_t
        y: cython.Py_ssize_t
        t: cython.Py_ssize_t
        best: cython.Py_ssize_t = 0
        found: cython.Py_ssize_t = 0
        score: cython.double
        with cython.nogil:
            self.go_forward()
            for y in range(1, self.n_labels):
                if self.forward[self.n - 1, y] > self.forward[self.n - 1, best]:
                    best = y
            score = self.forward[self.n - 1, best]
            if score < 0.5 * _FORBIDDEN:
                return 0
            self.take(0, 0, self.n - 1, best, score)
            # The first sequence may differ from itself in the last label too.
            self.limit[0] = self.n
            self.find_branch(0, 0.0, -1, -1)
            found = 1
            while found < self.paths.shape[0]:
                best = 0
                for r in range(1, found):
                    if self.branch_score[r] > self.branch_score[best] or (
                        self.branch_score[r] == self.branch_score[best]
                        and self.branch_score[r] >= 0.5 * _FORBIDDEN
                        and self.comes_first(
                            r,
                            self.branch_at[r],
                            self.branch_label[r],
                            best,
                            self.branch_at[best],
                            self.branch_label[best],
                        )
                    ):
                        best = r
                score = self.branch_score[best]
                if score < 0.5 * _FORBIDDEN:
                    break
                t = self.branch_at[best]
                y = self.branch_label[best]
                self.take(found, best, t, y, score)
                self.find_branch(best, score, t, y)
                found += 1
        return found
