"""Passes of one weight vector whose intercept stands outside: it moves, but is in no norm.

    w ← w + aτσx,  b ← b + aτσ·rate

τ is the step of `steps`, σ the side on which the prediction should lie, a the weight of the example
(as a class and as itself), rate 1 or, for sparse rows, less. The perceptron also knows penalties:
w shrinks by a factor at every example (L2), and each weight that an example touches is pulled
towards zero by all that it has missed (L1; Tsuruoka, Tsujii and Ananiadou 2009, §3). The weights
are scale · w, so that a CSR row costs what it stores though all of them shrink.

The mean of the weights after each example from the `first` on is kept lazily: `late` is Σ delay·Δw,
so that the sum of the n vectors of these passes is n·w − late.
The callers in `seqpa.core` check shapes, types and finiteness; nothing is checked here. C types of
attributes stand in descent.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.steps import step_size
    from cython.cimports.seqpa._kernel.weights import Rows
else:
    from seqpa._kernel.steps import step_size
    from seqpa._kernel.weights import Rows

from seqpa._kernel.steps import CODES

COMPILED = cython.compiled

_PA_I = cython.declare(cython.int, CODES["PA-I"])
_PERCEPTRON = cython.declare(cython.int, CODES["perceptron"])
# Below this `step_size` makes no step; a row of zeros may still move the intercept.
_LEAST_NORM2 = cython.declare(cython.double, 1e-290)
_MASK = cython.declare(cython.longlong, 4294967295)
_HALF = cython.declare(cython.longlong, 2147483648)


@cython.ccall
def shuffle(order: cython.Py_ssize_t[::1], seed: cython.longlong):
    """Permute an order, by Fisher and Yates with a 32-bit xorshift generator."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    held: cython.Py_ssize_t
    state: cython.longlong = seed if seed != 0 else 1
    with cython.nogil:
        for i in range(order.shape[0] - 1):
            state = state ^ ((state << 13) & _MASK)
            state = state ^ (state >> 17)
            state = state ^ ((state << 5) & _MASK)
            j = i + state % _HALF % (order.shape[0] - i)
            held = order[i]
            order[i] = order[j]
            order[j] = held


@cython.final
@cython.cclass
class Descent:
    """The weights, and what one pass after the other needs of the one before.

    w           the weights, worked on in place
    late        as many zeros for the mean, or empty
    pulled      as many zeros for the L1 penalty, or empty: how far each weight was pulled
    step        the code of a step
    regression  whether targets are numbers; else they are −1 and 1
    C           aggressiveness, or the perceptron's step
    epsilon     of regression: errors up to here cost nothing
    intercept_rate
                how fast the intercept moves; 0 where there is none
    first       the number t of the example from which on vectors count in the mean; 0 for no mean
    shrink      the factor of w at every example
    l1, l2      α·ratio and α·(1 − ratio) of the objective, 0 without a penalty
    """

    def __init__(
        self,
        w,
        late,
        pulled,
        step,
        regression,
        C,
        epsilon,
        intercept,
        mean_intercept,
        intercept_rate,
        t,
        first,
        shrink,
        l1,
        l2,
    ):
        self.w = w
        self.late = late
        self.pulled = pulled
        self.step = step
        self.regression = regression
        self.C = C
        self.epsilon = epsilon
        self.intercept = intercept
        self.mean_intercept = mean_intercept
        self.intercept_rate = intercept_rate
        self.t = t
        self.first = first
        self.since = max(t, first)  # the first that these passes add to the mean
        self.shrink = shrink
        self.l1 = l1
        self.l2 = l2
        self.scale = 1.0
        self.pull = 0.0
        self.loss = 0.0
        self.objective = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self, rows: Rows, i: cython.Py_ssize_t) -> cython.double:
        """w·x_i."""
        j: cython.Py_ssize_t
        total: cython.double = 0.0
        if rows.sparse:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                total = total + self.w[rows.indices[j]] * rows.data[j]
        else:
            for j in range(rows.n_features):
                total = total + self.w[j] * rows.dense[i, j]
        return self.scale * total

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def move_one(
        self, j: cython.Py_ssize_t, amount: cython.double, delay: cython.double
    ) -> cython.void:
        before: cython.double = self.w[j]
        self.w[j] = before + amount
        if self.late.shape[0]:
            self.late[j] += delay * amount
        if self.l1 + self.l2 > 0.0:
            self.squares += self.w[j] * self.w[j] - before * before
            self.absolutes += abs(self.w[j]) - abs(before)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(
        self,
        rows: Rows,
        i: cython.Py_ssize_t,
        amount: cython.double,
        delay: cython.double,
    ) -> cython.void:
        """w += amount · x_i."""
        j: cython.Py_ssize_t
        plain: cython.bint = self.late.shape[0] == 0 and self.l1 + self.l2 == 0.0
        if rows.sparse:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                self.move_one(rows.indices[j], amount * rows.data[j], delay)
        elif plain:
            for j in range(rows.n_features):
                self.w[j] += amount * rows.dense[i, j]
        else:
            for j in range(rows.n_features):
                self.move_one(j, amount * rows.dense[i, j], delay)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def truncate_one(self, j: cython.Py_ssize_t) -> cython.void:
        """Pull one weight by what it has missed, not beyond zero."""
        before: cython.double = self.w[j]
        after: cython.double = before
        if before > 0.0:
            after = max(0.0, before - (self.pull + self.pulled[j]) / self.scale)
        elif before < 0.0:
            after = min(0.0, before + (self.pull - self.pulled[j]) / self.scale)
        self.pulled[j] += self.scale * (after - before)
        self.move_one(j, after - before, 0.0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def truncate(self, rows: Rows, i: cython.Py_ssize_t) -> cython.void:
        """The L1 penalty of the weights that example i touches."""
        j: cython.Py_ssize_t
        if rows.sparse:
            for j in range(rows.indptr[i], rows.indptr[i + 1]):
                self.truncate_one(rows.indices[j])
        else:
            for j in range(rows.n_features):
                self.truncate_one(j)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fold(self) -> cython.void:
        """Bring the weights up to date, and what is known of their lengths with them."""
        j: cython.Py_ssize_t
        self.squares = 0.0
        self.absolutes = 0.0
        for j in range(self.w.shape[0]):
            self.w[j] *= self.scale
            self.squares += self.w[j] * self.w[j]
            self.absolutes += abs(self.w[j])
        self.scale = 1.0

    @cython.ccall
    def pass_over(
        self,
        rows: Rows,
        norms2: cython.const[cython.double][::1],
        targets: cython.const[cython.double][::1],
        amounts: cython.const[cython.double][::1],
        order: cython.const[cython.Py_ssize_t][::1],
    ):
        """One pass, in this order.

        Afterwards `loss` is the sum of the losses, each under the weights of its moment, and
        `objective` the same with the penalties.
        """
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        y: cython.double
        p: cython.double
        r: cython.double
        norm2: cython.double
        side: cython.double
        move: cython.double
        penalised: cython.bint = self.l1 + self.l2 > 0.0
        with cython.nogil:
            self.loss = 0.0
            self.objective = 0.0
            self.fold()
            for k in range(order.shape[0]):
                i = order[k]
                y = targets[i]
                p = self.score(rows, i) + self.intercept
                side = y
                if self.regression:
                    side = -1.0 if y - p < 0.0 else 1.0
                    r = abs(y - p) - self.epsilon
                elif self.step == _PERCEPTRON:
                    r = -y * p
                else:
                    r = 1.0 - y * p
                self.loss = self.loss + max(0.0, r)
                if penalised:
                    self.objective = (
                        self.objective
                        + 0.5 * self.l2 * self.scale * self.scale * self.squares
                        + self.l1 * self.scale * self.absolutes
                    )
                norm2 = norms2[i]
                if self.step == _PA_I and norm2 == 0.0:
                    continue
                move = step_size(self.step, r, -r, max(norm2, _LEAST_NORM2), self.C)
                if self.step == _PERCEPTRON:
                    move = self.C * move
                move = side * move * amounts[i]
                if self.shrink != 1.0:
                    self.scale = self.scale * self.shrink
                    if self.scale < 1e-9:
                        self.fold()
                if move != 0.0:
                    self.add(rows, i, move / self.scale, max(0.0, self.t - self.since))
                    self.intercept = self.intercept + move * self.intercept_rate
                if 0.0 < self.first <= self.t:
                    self.mean_intercept += (self.intercept - self.mean_intercept) / (
                        self.t - self.first + 1.0
                    )
                if self.pulled.shape[0]:
                    self.pull = self.pull + self.C * self.l1
                    self.truncate(rows, i)
                self.t = self.t + 1.0
            self.objective = self.objective + self.loss
            self.fold()
