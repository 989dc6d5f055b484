"""The epoch loop of chains: decode, cost, τ (steps.py), update, averaging.

Cost-sensitive updates (PA 2006, Eq. 44-49, with the Φ of Eq. 59). Where a token's label is not
given, the right side is the best label sequence that has all labels given, and costs count these
alone. C types of attributes stand in trainer.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.libc.math import sqrt
    from cython.cimports.seqpa._kernel.max_loss import MaxLoss
    from cython.cimports.seqpa._kernel.sequences import Scratch, Sequences
    from cython.cimports.seqpa._kernel.steps import step_size
    from cython.cimports.seqpa._kernel.store import SparseDelta
else:
    from math import sqrt

    from seqpa._kernel.max_loss import MaxLoss
    from seqpa._kernel.sequences import Scratch, Sequences
    from seqpa._kernel.steps import step_size
    from seqpa._kernel.store import SparseDelta

COMPILED = cython.compiled

# Why `Trainer.epoch` returned; for the loop itself as C integers.
DONE = 0  # all sentences of the order
NEEDS_SPACE = 1  # a store is full: grow it and call again with the same arguments
NEEDS_COST = 2  # a mistake whose cost only Python knows: call again with it
TOO_FAR = 3  # the step would be longer than LONGEST; it was not made
NEEDS_TABLE = 4  # the table of the max-loss search is full: give it a larger one and call again
_DONE = cython.declare(cython.int, DONE)
_NEEDS_SPACE = cython.declare(cython.int, NEEDS_SPACE)
_NEEDS_COST = cython.declare(cython.int, NEEDS_COST)
_TOO_FAR = cython.declare(cython.int, TOO_FAR)
_NEEDS_TABLE = cython.declare(cython.int, NEEDS_TABLE)
# The longest step: weights and their sums are float32, and forbidden labels have the score -1e30.
LONGEST = 1e15

_HAMMING = cython.declare(cython.int, 0)
_ZERO_ONE = cython.declare(cython.int, 1)
_MATRIX = cython.declare(cython.int, 2)
_PYTHON = cython.declare(cython.int, 3)
COSTS = {"hamming": _HAMMING, "zero-one": _ZERO_ONE, "matrix": _MATRIX, "python": _PYTHON}

# Which wrong sequence, the competitor, a sentence's constraint names.
_PREDICTION = cython.declare(cython.int, 0)
_AUGMENTED = cython.declare(cython.int, 1)
_MAX_LOSS = cython.declare(cython.int, 2)
_NEAR_MAX_LOSS = cython.declare(cython.int, 3)
UPDATES = {
    "prediction-based": _PREDICTION,
    "loss-augmented": _AUGMENTED,
    "max-loss": _MAX_LOSS,
    "near-max-loss": _NEAR_MAX_LOSS,
}


@cython.final
@cython.cclass
class Trainer:
    """Moves the weights of a chain, sentence by sentence.

    update           one of UPDATES: the competitor is the prediction, or the best score + ρ, or
                     the best score + √ρ, or the better of two candidates for it: the prediction
                     and the best score + ρ/2
    max_loss         which finds the best score + √ρ, or None
    cost_kind, cost  one of COSTS: Hamming, zero-one, the label × label matrix `cost` summed over
                     tokens, or a function that Python calls
    trans, trans_sums, trans_gains   chain.trans in one dimension; averaging sums, and gains in
                     precision, of its weights
    delta, pair_delta, trans_delta   buffers for δ over the weights of features, of features on
                     label pairs, and of transitions
    right, guess, rival   (longest,): the label sequence of the right side, the prediction where it
                     is not the competitor, and a buffer
    clock            (1,): sentences seen so far; it moves with the weights, whatever interrupts
                     the caller
    second_order     AROW's geometry: each weight has a variance σ = 1/(1 + gain), length is
                     measured as δᵀΣδ, w moves by τΣδ, and then every gain grows by 2Cδ². With the
                     step of PA-II this is AROW (Crammer, Kulesza, Dredze 2009) with r = 1/2C
    """

    def __init__(
        self,
        chain,
        update,
        max_loss: MaxLoss | None,
        step,
        C,
        cost_kind,
        cost,
        trans,
        trans_sums,
        trans_gains,
        delta,
        pair_delta,
        trans_delta,
        right,
        guess,
        rival,
        averaging,
        second_order,
        clock,
    ):
        self.chain = chain
        self.update = update
        self.max_loss = max_loss
        self.step = step
        self.C = C
        self.cost_kind = cost_kind
        self.cost = cost
        self.trans = trans
        self.trans_sums = trans_sums
        self.trans_gains = trans_gains
        self.delta = delta
        self.pair_delta = pair_delta
        self.trans_delta = trans_delta
        self.right = right
        self.guess = guess
        self.rival = rival
        self.averaging = averaging
        self.second_order = second_order
        self.clock = clock
        self.reset()

    def reset(self):
        """Start an epoch: back to its first sentence, all sums zero."""
        self.position = 0
        self.mistakes = self.wrong_tokens = self.updates = 0
        self.total_cost = self.loss = self.squared_loss = 0.0

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
    def reserve(
        self,
        data: Sequences,
        begin: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        path: cython.int[::1],
    ) -> cython.bint:
        """Give every weight that the update will change its place, so that none moves during it.

        False: a store is full."""
        t: cython.Py_ssize_t
        width: cython.Py_ssize_t = self.chain.store.width
        for t in range(n):
            if self.right[t] != path[t] and not self.chain.store.ensure_all(
                data.features,
                data.indptr[begin + t],
                data.indptr[begin + t + 1],
                self.right[t],
                path[t],
            ):
                return False
            if (
                data.has_pairs
                and t > 0
                and (self.right[t] != path[t] or self.right[t - 1] != path[t - 1])
                and not self.chain.pair_store.ensure_all(
                    data.pair_features,
                    data.pair_indptr[begin + t],
                    data.pair_indptr[begin + t + 1],
                    self.right[t - 1] * width + self.right[t],
                    path[t - 1] * width + path[t],
                )
            ):
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def collect(
        self,
        data: Sequences,
        begin: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        path: cython.int[::1],
    ) -> cython.void:
        """δ = Φ(x, right) − Φ(x, path), equal features merged."""
        t: cython.Py_ssize_t
        g: cython.Py_ssize_t
        p: cython.Py_ssize_t
        width: cython.Py_ssize_t = self.chain.store.width
        self.delta.clear()
        self.pair_delta.clear()
        self.trans_delta.clear()
        for t in range(n):
            g = self.right[t]
            p = path[t]
            if g != p:
                self.chain.store.collect(
                    data.features,
                    data.has_values,
                    data.values,
                    data.indptr[begin + t],
                    data.indptr[begin + t + 1],
                    g,
                    p,
                    self.delta,
                )
            if t > 0 and (g != p or self.right[t - 1] != path[t - 1]):
                g = self.right[t - 1] * width + g
                p = path[t - 1] * width + p
                self.trans_delta.add(g, 1.0)
                self.trans_delta.add(p, -1.0)
                if data.has_pairs:
                    self.chain.pair_store.collect(
                        data.pair_features,
                        data.has_pair_values,
                        data.pair_values,
                        data.pair_indptr[begin + t],
                        data.pair_indptr[begin + t + 1],
                        g,
                        p,
                        self.pair_delta,
                    )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure(
        self,
        delta: SparseDelta,
        weights: cython.float[::1],
        gains: cython.float[::1],
    ) -> cython.void:
        """Add ‖δ‖² and w·δ to those of the other kinds of weights."""
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        amount: cython.double
        square: cython.double
        for i in range(delta.size):
            at = delta.places[i]
            amount = delta.amounts[i]
            square = amount * amount
            if self.second_order:
                square = square / (1.0 + cython.cast(cython.double, gains[at]))
            self.norm2 += square
            self.score += amount * cython.cast(cython.double, weights[at])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def apply(
        self,
        delta: SparseDelta,
        tau: cython.double,
        weights: cython.float[::1],
        sums: cython.double[::1],
        gains: cython.float[::1],
    ) -> cython.void:
        """w += τδ, and clock times what was really added, after rounding, into the averaging sums:
        so the mean of the weights is exact, however many sentences there are."""
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        amount: cython.double
        before: cython.double
        for i in range(delta.size):
            at = delta.places[i]
            amount = tau * delta.amounts[i]
            if self.second_order and amount != 0.0:
                amount = amount / (1.0 + cython.cast(cython.double, gains[at]))
                gains[at] += 2.0 * self.own_C * delta.amounts[i] * delta.amounts[i]
            before = cython.cast(cython.double, weights[at])
            weights[at] += amount
            if self.averaging:
                sums[at] += self.clock[0] * (cython.cast(cython.double, weights[at]) - before)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_all(self) -> cython.void:
        """‖δ‖² and w·δ."""
        self.norm2 = 0.0
        self.score = 0.0
        self.measure(self.delta, self.chain.store.arena, self.chain.store.gains)
        self.measure(self.trans_delta, self.trans, self.trans_gains)
        if self.pair_delta.size > 0:
            self.measure(self.pair_delta, self.chain.pair_store.arena, self.chain.pair_store.gains)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def apply_all(self, tau: cython.double) -> cython.void:
        """Move all weights by τδ."""
        i: cython.Py_ssize_t
        self.apply(
            self.delta,
            tau,
            self.chain.store.arena,
            self.chain.store.sums,
            self.chain.store.gains,
        )
        self.apply(self.trans_delta, tau, self.trans, self.trans_sums, self.trans_gains)
        for i in range(self.trans_delta.size):
            self.chain.bound_row(self.trans_delta.places[i] // self.chain.store.width)
        if self.pair_delta.size > 0:
            self.apply(
                self.pair_delta,
                tau,
                self.chain.pair_store.arena,
                self.chain.pair_store.sums,
                self.chain.pair_store.gains,
            )

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
        """ρ(gold, path) of a mistake, over the labels given; −1 where only Python knows it."""
        t: cython.Py_ssize_t
        total: cython.double = 0.0
        if self.cost_kind == _PYTHON:
            return -1.0
        if self.cost_kind == _ZERO_ONE:
            return 1.0
        for t in range(n):
            if gold[begin + t] >= 0 and gold[begin + t] != path[t]:
                if self.cost_kind == _HAMMING:
                    total += 1.0
                else:
                    total += cython.cast(cython.double, self.cost[gold[begin + t], path[t]])
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_wrong(
        self,
        begin: cython.Py_ssize_t,
        n: cython.Py_ssize_t,
        gold: cython.const[cython.int][::1],
        path: cython.int[::1],
    ) -> cython.Py_ssize_t:
        """How many of the labels given the path does not have."""
        t: cython.Py_ssize_t
        wrong: cython.Py_ssize_t = 0
        for t in range(n):
            if gold[begin + t] >= 0 and path[t] != gold[begin + t]:
                wrong += 1
        return wrong

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_competitor(
        self,
        data: Sequences,
        i: cython.Py_ssize_t,
        gold: cython.const[cython.int][::1],
        no_labels: cython.const[cython.int][::1],
        work: Scratch,
    ) -> cython.bint:
        """work.path = the wrong sequence of the constraint; guess = the prediction, if another.

        False: the table of the max-loss search is full."""
        t: cython.Py_ssize_t
        begin: cython.Py_ssize_t = data.starts[i]
        n: cython.Py_ssize_t = data.starts[i + 1] - begin
        if self.update == _PREDICTION:
            self.chain.viterbi(data, i, no_labels, 0.0, work)
            work.ready = work.has_ems
            return True
        if self.update == _AUGMENTED:
            self.chain.viterbi(data, i, gold, 1.0, work)
            work.ready = True
        elif self.update == _NEAR_MAX_LOSS:
            # √ρ <= (1 + ρ)/2, with equality at ρ = 1: the tangent that fits single mistakes.
            self.chain.viterbi(data, i, gold, 0.5, work)
            work.ready = True
        else:
            if not self.max_loss.find(self.chain, data, i, gold, work):
                return False
            for t in range(n):
                work.path[t] = self.max_loss.path[t]
        if self.count_wrong(begin, n, gold, work.path) == 0:
            # No other sequence comes as near as its cost: this is also the prediction.
            for t in range(n):
                self.guess[t] = work.path[t]
            return True
        for t in range(n):
            self.rival[t] = work.path[t]
        self.chain.viterbi(data, i, no_labels, 0.0, work)
        for t in range(n):
            self.guess[t] = work.path[t]
        if self.update == _NEAR_MAX_LOSS and self.value_of(
            data, i, gold, self.guess, work
        ) >= self.value_of(data, i, gold, self.rival, work):
            return True
        for t in range(n):
            work.path[t] = self.rival[t]
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def value_of(
        self,
        data: Sequences,
        i: cython.Py_ssize_t,
        gold: cython.const[cython.int][::1],
        path: cython.int[::1],
        work: Scratch,
    ) -> cython.double:
        """score + √ρ of a label sequence, for costs that are known."""
        t: cython.Py_ssize_t
        begin: cython.Py_ssize_t = data.starts[i]
        n: cython.Py_ssize_t = data.starts[i + 1] - begin
        score: cython.double = sqrt(self.known_cost(begin, n, gold, path))
        for t in range(n):
            score += cython.cast(cython.double, work.ems[t, path[t]])
            if t > 0:
                score += self.chain.step_score(data, begin + t, path[t - 1], path[t])
        return score

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_right(
        self,
        data: Sequences,
        i: cython.Py_ssize_t,
        gold: cython.const[cython.int][::1],
        work: Scratch,
    ) -> cython.void:
        """right = gold; where some labels are not given, the best sequence that has the others."""
        t: cython.Py_ssize_t
        begin: cython.Py_ssize_t = data.starts[i]
        n: cython.Py_ssize_t = data.starts[i + 1] - begin
        whole: cython.bint = True
        for t in range(n):
            self.right[t] = gold[begin + t]
            if gold[begin + t] < 0:
                whole = False
        if whole:
            return
        for t in range(n):
            self.rival[t] = work.path[t]
        self.chain.viterbi(data, i, gold, 0.0, work)
        for t in range(n):
            self.right[t] = work.path[t]
            work.path[t] = self.rival[t]

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def epoch(
        self,
        data: Sequences,
        gold: cython.const[cython.int][::1],
        importance: cython.const[cython.double][::1],
        order: cython.const[cython.longlong][::1],
        given_path: cython.bint,
        given_cost: cython.double,
        no_labels: cython.const[cython.int][::1],
        work: Scratch,
        record: cython.double[:, ::1],
    ) -> cython.int:
        """Train on the sentences of `order`, from where the last call stopped.

        Returns DONE, NEEDS_SPACE, NEEDS_COST (work.path is the mistake; call again with its cost
        as given_cost, which is −1 otherwise), TOO_FAR or NEEDS_TABLE (no path is given then).
        gold        each token's label, −1 where it is not given
        importance  what the C of each sentence is multiplied by; empty: nothing
        given_path  work.path already holds the competitor of the first sentence: it was there when
                    the last call stopped, or the caller found it (n-best)
        no_labels   empty: no token's label is fixed
        work        with `ems` where a sentence is decoded more than once: for competitors other
                    than the prediction, and for labels that are not given
        record      (sentences, 4): loss, τ, ‖δ‖², cost of each; or empty
        """
        i: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        n: cython.Py_ssize_t
        wrong: cython.Py_ssize_t
        rho: cython.double
        r: cython.double
        tau: cython.double
        longest: cython.double = LONGEST
        status: cython.int = _DONE
        with cython.nogil:
            while self.position < order.shape[0]:
                i = order[self.position]
                begin = data.starts[i]
                n = data.starts[i + 1] - begin
                work.ready = False
                if not given_path and not self.find_competitor(data, i, gold, no_labels, work):
                    status = _NEEDS_TABLE
                    break
                given_path = False
                wrong = self.count_wrong(begin, n, gold, work.path)
                if wrong > 0:
                    rho = given_cost
                    if rho < 0.0:
                        rho = self.known_cost(begin, n, gold, work.path)
                    if rho < 0.0:
                        status = _NEEDS_COST
                        break
                    self.find_right(data, i, gold, work)
                    if not self.reserve(data, begin, n, work.path):
                        status = _NEEDS_SPACE
                        break
                    self.collect(data, begin, n, work.path)
                    self.measure_all()
                    self.own_C = self.C
                    if importance.shape[0] > 0:
                        self.own_C = self.C * importance[i]
                    r = (rho if self.update == _AUGMENTED else sqrt(rho)) - self.score
                    tau = step_size(self.step, r, self.score, self.norm2, self.own_C)
                    if (self.update == _AUGMENTED or self.update == _NEAR_MAX_LOSS) and r <= 0.0:
                        tau = 0.0
                    if abs(tau) * sqrt(self.norm2) > longest:
                        status = _TOO_FAR
                        break
                    if tau != 0.0:
                        self.apply_all(tau)
                    if self.update != _PREDICTION:
                        wrong = self.count_wrong(begin, n, gold, self.guess)
                        rho = self.known_cost(begin, n, gold, self.guess) if wrong > 0 else 0.0
                    if wrong > 0:
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
                self.clock[0] += 1.0
                self.position += 1
        return status
