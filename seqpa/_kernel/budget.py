"""A block of examples with known inner products, and a limit on the support vectors in its sum.

    GramBlock  Gram matrix, scores and coefficients; every move corrects the scores behind it
    Budget     a limit on the number of support vectors, and which one leaves

C types of attributes stand in budget.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.weights import Constraint
else:
    from seqpa._kernel.weights import Constraint

COMPILED = cython.compiled

_OLDEST = cython.declare(cython.int, 0)
_SMALLEST = cython.declare(cython.int, 1)
_PROJECT = cython.declare(cython.int, 2)
STRATEGIES = {"oldest": _OLDEST, "smallest": _SMALLEST, "project": _PROJECT}
_IN_SPAN = cython.declare(cython.double, 1e-10)  # of ‖φ(x)‖²: what is left is rounding


@cython.final
@cython.cclass
class GramBlock:
    """B examples, and what is known of them.

    gram    (first + B, B): row first + t holds K(x_t, x_j) for all j of the block. The rows before
            `first` belong to the support vectors from before the block, where there is a budget
            and they may still leave; otherwise first is 0
    scores  (K, B): w_k·φ(x_j) now; behind the present example always right
    coef    (first + B, K): the coefficients
    acc     the same for the averaging sum, or (0, K)
    """

    def __init__(self, gram, first, scores, coef, acc):
        self.gram = gram
        self.first = first
        self.scores = scores
        self.coef = coef
        self.acc = acc

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def norm2(self, t: cython.Py_ssize_t) -> cython.double:
        """‖φ(x_t)‖²."""
        return self.gram[self.first + t, t]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def look(self, t: cython.Py_ssize_t, c: Constraint) -> cython.void:
        """c.s = the scores of example t."""
        k: cython.Py_ssize_t
        for k in range(c.s.shape[0]):
            c.s[k] = self.scores[k, t]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def move(
        self,
        row: cython.Py_ssize_t,
        t: cython.Py_ssize_t,
        k: cython.Py_ssize_t,
        amount: cython.double,
        clock: cython.double,
    ) -> cython.void:
        """w_k += amount · φ(x_row), seen by the examples behind t."""
        j: cython.Py_ssize_t
        self.coef[row, k] += amount
        if self.acc.shape[0] > 0:
            self.acc[row, k] += amount * clock
        for j in range(t + 1, self.scores.shape[1]):
            self.scores[k, j] += amount * self.gram[row, j]


@cython.final
@cython.cclass
class Budget:
    """At most `limit` support vectors after every example.

    oldest    the one that came first leaves
    smallest  the one with the smallest part in w leaves, Σ_k coef² K(x, x); never the newest
    project   the one that can best be replaced by the others leaves: its part in w is projected
              onto them. An example in the span of the others never enters. Q is the inverse of the
              Gram matrix of the members; for member v, −Q_iv/Q_vv are the coefficients of its
              projection and 1/Q_vv its squared distance from the others' span

    members  (limit + 1,): their rows in the block's Gram matrix, the oldest first
    slots    (B,): where example t is a support vector already, its row; otherwise first + t
    norms    (first + B,): K(x, x) of all rows of the Gram matrix
    Q        (limit + 1, limit + 1), with "project"; u (limit + 1,) is scratch
    """

    def __init__(self, strategy, limit, count, members, slots, norms, Q, u):
        self.strategy = strategy
        self.limit = limit
        self.count = count
        self.members = members
        self.slots = slots
        self.norms = norms
        self.Q = Q
        self.u = u

    def size(self):
        """How many members there are."""
        return self.count

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(
        self,
        block: GramBlock,
        t: cython.Py_ssize_t,
        up: cython.Py_ssize_t,
        amount: cython.double,
        down: cython.Py_ssize_t,
        tau: cython.double,
    ) -> cython.void:
        """w_up += amount φ(x_t) and w_down −= τ φ(x_t), within the limit."""
        p: cython.Py_ssize_t
        row: cython.Py_ssize_t = self.slots[t]
        left: cython.double = 0.0
        member: cython.bint = False
        for p in range(self.count):
            if self.members[p] == row:
                member = True
        if not member:
            row = block.first + t
            if self.strategy == _PROJECT:
                left = self.residual(block, t)
                if left <= _IN_SPAN * block.norm2(t):
                    self.share(block, t, up, amount)
                    if down >= 0:
                        self.share(block, t, down, -tau)
                    return
            self.enter(row, left)
        block.move(row, t, up, amount, 0.0)
        if down >= 0:
            block.move(row, t, down, -tau, 0.0)
        if self.count > self.limit:
            self.evict(block, t)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def residual(self, block: GramBlock, t: cython.Py_ssize_t) -> cython.double:
        """‖φ(x_t)‖² less its projection onto the members, whose coefficients are u."""
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        total: cython.double
        left: cython.double = block.norm2(t)
        for p in range(self.count):
            total = 0.0
            for q in range(self.count):
                total += self.Q[p, q] * block.gram[self.members[q], t]
            self.u[p] = total
            left -= total * block.gram[self.members[p], t]
        return left

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def share(
        self, block: GramBlock, t: cython.Py_ssize_t, k: cython.Py_ssize_t, amount: cython.double
    ) -> cython.void:
        """w_k += amount · the projection of φ(x_t)."""
        p: cython.Py_ssize_t
        for p in range(self.count):
            block.move(self.members[p], t, k, amount * self.u[p], 0.0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enter(self, row: cython.Py_ssize_t, left: cython.double) -> cython.void:
        """One more member; Q grows by a border."""
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.count
        if self.strategy == _PROJECT:
            for p in range(n):
                for q in range(n):
                    self.Q[p, q] += self.u[p] * self.u[q] / left
                self.Q[p, n] = self.Q[n, p] = -self.u[p] / left
            self.Q[n, n] = 1.0 / left
        self.members[n] = row
        self.count = n + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def victim(self, block: GramBlock) -> cython.Py_ssize_t:
        """Which member leaves, now that there is one too many."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        row: cython.Py_ssize_t
        lost: cython.double
        best: cython.Py_ssize_t = 0
        least: cython.double = 1e300
        n: cython.Py_ssize_t = self.count if self.strategy == _PROJECT else self.count - 1
        if self.strategy == _OLDEST:
            return 0
        for p in range(n):
            row = self.members[p]
            lost = 0.0
            for k in range(block.coef.shape[1]):
                lost += block.coef[row, k] * block.coef[row, k]
            lost = lost / self.Q[p, p] if self.strategy == _PROJECT else lost * self.norms[row]
            if lost < least:
                least = lost
                best = p
        return best

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def evict(self, block: GramBlock, t: cython.Py_ssize_t) -> cython.void:
        """One member less; with "project" the others take over what they can of its part."""
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        k: cython.Py_ssize_t
        v: cython.Py_ssize_t = self.victim(block)
        row: cython.Py_ssize_t = self.members[v]
        part: cython.double
        for k in range(block.coef.shape[1]):
            part = block.coef[row, k]
            if part == 0.0:
                continue
            if self.strategy == _PROJECT:
                for p in range(self.count):
                    if p != v:
                        block.move(self.members[p], t, k, -part * self.Q[p, v] / self.Q[v, v], 0.0)
            block.move(row, t, k, -part, 0.0)
        if self.strategy == _PROJECT:
            for p in range(self.count):
                self.u[p] = self.Q[p, v]
            part = self.u[v]
            for p in range(self.count):
                for q in range(self.count):
                    self.Q[p, q] -= self.u[p] * self.u[q] / part
            for p in range(self.count - 1):
                for q in range(self.count - 1):
                    self.Q[p, q] = self.Q[p + (p >= v), q + (q >= v)]
        self.count -= 1
        for p in range(v, self.count):
            self.members[p] = self.members[p + 1]
