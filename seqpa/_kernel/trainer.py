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
    from cython.cimports.seqpa._kernel.ahead import Ahead
    from cython.cimports.seqpa._kernel.competitor import Competitor
    from cython.cimports.seqpa._kernel.sequences import Sequences
    from cython.cimports.seqpa._kernel.steps import step_size
    from cython.cimports.seqpa._kernel.store import SparseDelta
else:
    from math import sqrt

    from seqpa._kernel.ahead import Ahead
    from seqpa._kernel.competitor import Competitor
    from seqpa._kernel.sequences import Sequences
    from seqpa._kernel.steps import step_size
    from seqpa._kernel.store import SparseDelta

from seqpa._kernel.competitor import UPDATES

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

_PREDICTION = cython.declare(cython.int, UPDATES["prediction-based"])
_AUGMENTED = cython.declare(cython.int, UPDATES["loss-augmented"])
_NEAR_MAX_LOSS = cython.declare(cython.int, UPDATES["near-max-loss"])

# How much of the rate of updates is that of the last sentence.
_RECENT = cython.declare(cython.double, 1.0 / 64.0)


@cython.final
@cython.cclass
class Trainer:
    """Moves the weights of a chain, sentence by sentence.

    own              finds competitors, and what they cost
    ahead            blocks of sentences whose competitors are found before the first of them moves
                     the weights; or None: each is found when its turn comes
    block, expected  how many sentences a block has; where `expected` is not 0, as many as bring
                     so many updates, by the share of the last sentences that brought one
    trans, trans_sums, trans_gains   chain.trans in one dimension; averaging sums, and gains in
                     precision, of its weights
    delta, pair_delta, trans_delta   buffers for δ over the weights of features, of features on
                     label pairs, and of transitions
    right            (longest,): the label sequence of the right side
    clock            (1,): sentences seen so far; it moves with the weights, whatever interrupts
                     the caller
    second_order     AROW's geometry: each weight has a variance σ = 1/(1 + gain), length is
                     measured as δᵀΣδ, w moves by τΣδ, and then every gain grows by 2Cδ². With the
                     step of PA-II this is AROW (Crammer, Kulesza, Dredze 2009) with r = 1/2C
    """

    def __init__(
        self,
        chain,
        own: Competitor,
        ahead: Ahead | None,
        block,
        expected,
        step,
        C,
        trans,
        trans_sums,
        trans_gains,
        delta,
        pair_delta,
        trans_delta,
        right,
        averaging,
        second_order,
        clock,
    ):
        self.chain = chain
        self.own = own
        self.update = own.update
        self.ahead = ahead
        self.looks_ahead = ahead is not None
        self.block = block
        self.expected = expected
        self.step = step
        self.C = C
        self.trans = trans
        self.trans_sums = trans_sums
        self.trans_gains = trans_gains
        self.delta = delta
        self.pair_delta = pair_delta
        self.trans_delta = trans_delta
        self.right = right
        self.averaging = averaging
        self.second_order = second_order
        self.clock = clock
        self.reset()

    def reset(self):
        """Start an epoch: back to its first sentence, all sums zero."""
        self.position = 0
        self.mistakes = self.wrong_tokens = self.updates = 0
        self.total_cost = self.loss = self.squared_loss = 0.0
        self.rate = 1.0
        self.checked = self.fetched = 0

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
    def fetch(
        self,
        data: Sequences,
        gold: cython.const[cython.int][::1],
        position: cython.Py_ssize_t,
        rows: cython.bint,
    ) -> cython.void:
        """Ask memory for the weights that the step of a sentence of the block may move, in two
        turns (see `Store.fetch`): other threads, or this one some time ago, have used them last."""
        k: cython.Py_ssize_t = position - self.ahead.begin
        at: cython.Py_ssize_t = self.ahead.offsets[k]
        begin: cython.Py_ssize_t = data.starts[self.ahead.order[position]]
        t: cython.Py_ssize_t
        for t in range(self.ahead.offsets[k + 1] - at):
            if gold[begin + t] >= 0 and gold[begin + t] != self.ahead.paths[at + t]:
                self.chain.store.fetch(
                    data.features,
                    data.indptr[begin + t],
                    data.indptr[begin + t + 1],
                    gold[begin + t],
                    self.ahead.paths[at + t],
                    rows,
                )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fetch_next(
        self,
        data: Sequences,
        gold: cython.const[cython.int][::1],
        rows: cython.bint,
    ) -> cython.void:
        """The same for the next sentence of the block that is wrong; `fetched` moves behind it."""
        while self.fetched < self.ahead.end:
            self.fetched += 1
            if self.ahead.wrong[self.fetched - 1 - self.ahead.begin] != 0:
                self.fetch(data, gold, self.fetched - 1, rows)
                return

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
    def find_right(
        self,
        data: Sequences,
        i: cython.Py_ssize_t,
        gold: cython.const[cython.int][::1],
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
            self.own.rival[t] = self.own.work.path[t]
        self.chain.viterbi(data, i, gold, 0.0, self.own.work)
        for t in range(n):
            self.right[t] = self.own.work.path[t]
            self.own.work.path[t] = self.own.rival[t]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def block_size(self) -> cython.Py_ssize_t:
        """How many sentences the next block has at the most."""
        if self.expected == 0.0:
            return self.block
        return max(1, cython.cast(cython.Py_ssize_t, min(self.expected / self.rate, 1e6)))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bring(
        self,
        data: Sequences,
        i: cython.Py_ssize_t,
        gold: cython.const[cython.int][::1],
        no_labels: cython.const[cython.int][::1],
    ) -> cython.bint:
        """work.path = the competitor of the sentence whose turn it is; guess likewise.

        False: the table of the max-loss search is full."""
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        t: cython.Py_ssize_t
        n: cython.Py_ssize_t = data.starts[i + 1] - data.starts[i]
        self.own.work.ready = False
        if not self.looks_ahead:
            return self.own.find(data, i, gold, no_labels)
        if self.position >= self.ahead.end:
            self.ahead.open(self.position, self.block_size(), self.own)
        while self.checked < self.ahead.end:  # none was found where a table was full
            if self.ahead.found[self.checked - self.ahead.begin] == 0 and not self.ahead.decode(
                self.checked, self.own
            ):
                return False
            self.checked += 1
            if self.checked == self.ahead.end:
                self.fetched = self.ahead.begin
                while self.fetched < self.ahead.end:
                    self.fetch_next(data, gold, False)
                self.fetched = self.ahead.begin
                self.fetch_next(data, gold, True)
        self.own.work.ready = False
        k = self.position - self.ahead.begin
        at = self.ahead.offsets[k]
        for t in range(n):
            self.own.work.path[t] = self.ahead.paths[at + t]
        if self.ahead.with_guesses:
            for t in range(n):
                self.own.guess[t] = self.ahead.guesses[at + t]
        return True

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def epoch(
        self,
        data: Sequences,
        gold: cython.const[cython.int][::1],
        importance: cython.const[cython.double][::1],
        order: cython.const[cython.longlong][::1],
        stop: cython.Py_ssize_t,
        given_path: cython.bint,
        given_cost: cython.double,
        no_labels: cython.const[cython.int][::1],
        record: cython.double[:, ::1],
    ) -> cython.int:
        """Train on the sentences order[:stop], from where the last call stopped.

        Returns DONE, NEEDS_SPACE, NEEDS_COST (own.work.path is the mistake; call again with its
        cost as given_cost, which is −1 otherwise), TOO_FAR or NEEDS_TABLE (no path is given then).
        gold        each token's label, −1 where it is not given
        importance  what the C of each sentence is multiplied by; empty: nothing
        given_path  own.work.path already holds the competitor of the first sentence: it was there
                    when the last call stopped, or the caller found it (n-best)
        no_labels   empty: no token's label is fixed
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
            while self.position < stop:
                i = order[self.position]
                begin = data.starts[i]
                n = data.starts[i + 1] - begin
                tau = 0.0
                if not given_path and not self.bring(data, i, gold, no_labels):
                    status = _NEEDS_TABLE
                    break
                given_path = False
                wrong = self.own.count_wrong(begin, n, gold, self.own.work.path)
                if wrong > 0:
                    rho = given_cost
                    if rho < 0.0:
                        rho = self.own.known_cost(begin, n, gold, self.own.work.path)
                    if rho < 0.0:
                        status = _NEEDS_COST
                        break
                    self.find_right(data, i, gold)
                    if self.looks_ahead:
                        self.fetch_next(data, gold, True)
                    if not self.reserve(data, begin, n, self.own.work.path):
                        status = _NEEDS_SPACE
                        break
                    self.collect(data, begin, n, self.own.work.path)
                    self.measure_all()
                    self.own_C = self.C
                    if importance.shape[0] > 0:
                        self.own_C = self.C * importance[i]
                    r = (rho if self.update == _AUGMENTED else sqrt(rho)) - self.score
                    tau = step_size(self.step, r, self.score, self.norm2, self.own_C)
                    if r <= 0.0 and (
                        self.looks_ahead
                        or self.update == _AUGMENTED
                        or self.update == _NEAR_MAX_LOSS
                    ):
                        tau = 0.0
                    if abs(tau) * sqrt(self.norm2) > longest:
                        status = _TOO_FAR
                        break
                    if tau != 0.0:
                        self.apply_all(tau)
                    if self.update != _PREDICTION:
                        wrong = self.own.count_wrong(begin, n, gold, self.own.guess)
                        rho = 0.0
                        if wrong > 0:
                            rho = self.own.known_cost(begin, n, gold, self.own.guess)
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
                self.rate += ((1.0 if tau != 0.0 else 0.0) - self.rate) * _RECENT
                self.clock[0] += 1.0
                self.position += 1
        return status
