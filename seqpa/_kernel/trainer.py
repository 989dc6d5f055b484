"""The epoch loop of chains: decode, cost, τ (steps.py), update, averaging.

Prediction-based cost-sensitive updates (Crammer et al. 2006, Eq. 44-49, with the Φ of Eq. 59).
C types of attributes stand in trainer.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.libc.math import sqrt
    from cython.cimports.seqpa._kernel.steps import step_size
    from cython.cimports.seqpa._kernel.store import Scratch, Sequences, Store
else:
    from math import sqrt

    from seqpa._kernel.steps import step_size
    from seqpa._kernel.store import Scratch, Sequences, Store

COMPILED = cython.compiled

# Why `Trainer.epoch` came back.
DONE = 0
NEEDS_SPACE = 1  # a store is full: grow it and call again with the same arguments
NEEDS_COST = 2  # a mistake whose cost only Python knows: call again with it
TOO_FAR = 3  # the step would be longer than LONGEST; it was not made
# The longest step: weights and their sums are float32, and forbidden labels have the score -1e30.
LONGEST = 1e15

_HAMMING = cython.declare(cython.int, 0)
_ZERO_ONE = cython.declare(cython.int, 1)
_MATRIX = cython.declare(cython.int, 2)
_OUTSIDE = cython.declare(cython.int, 3)
COSTS = {"hamming": 0, "zero-one": 1, "matrix": 2, "outside": 3}


@cython.final
@cython.cclass
class Trainer:
    """Moves the weights of a chain, sentence by sentence.

    cost_kind, cost  Hamming, zero-one, a label × label matrix summed over tokens, or outside
    trans_acc, trans_delta, trans_gain   averaging sums, pending changes and gains in precision,
                     beside chain.trans
    clock            sentences seen so far
    second_order     AROW's geometry: each weight has a variance σ = 1/(1 + gain), length is
                     measured as δᵀΣδ, w moves by τΣδ, and then every gain grows by 2Cδ². With the
                     step of PA-II this is AROW (Crammer, Kulesza, Dredze 2009) with r = 1/2C
    """

    def __init__(
        self,
        chain,
        step,
        C,
        cost_kind,
        cost,
        trans_acc,
        trans_delta,
        trans_gain,
        averaging,
        second_order,
        clock,
    ):
        self.chain = chain
        self.step = step
        self.C = C
        self.cost_kind = cost_kind
        self.cost = cost
        self.trans_acc = trans_acc
        self.trans_delta = trans_delta
        self.trans_gain = trans_gain
        self.averaging = averaging
        self.second_order = second_order
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
        gap: cython.Py_ssize_t = 1 if store.rows[f, 1] >= 0 else store.width
        before: cython.double = cython.cast(cython.double, store.arena[at + 2 * gap])
        grown: cython.double = value * (2.0 * before + value)
        if self.second_order:
            grown = grown / (1.0 + cython.cast(cython.double, store.arena[at + 3 * gap]))
        self.norm2 += grown
        self.score += value * cython.cast(cython.double, store.arena[at])
        store.arena[at + 2 * gap] = before + value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def apply(
        self, store: Store, f: cython.Py_ssize_t, label: cython.Py_ssize_t, tau: cython.double
    ) -> cython.void:
        """w[f, label] += τδ, acc += clock·τδ, and δ back to zero (so a repeat changes nothing)."""
        at: cython.Py_ssize_t = store.find(f, label)
        gap: cython.Py_ssize_t = 1 if store.rows[f, 1] >= 0 else store.width
        delta: cython.double = cython.cast(cython.double, store.arena[at + 2 * gap])
        amount: cython.double = tau * delta
        if amount != 0.0:
            if self.second_order:
                amount = amount / (1.0 + cython.cast(cython.double, store.arena[at + 3 * gap]))
                store.arena[at + 3 * gap] += 2.0 * self.C * delta * delta
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
        before: cython.double = cython.cast(cython.double, self.trans_delta[p, y])
        grown: cython.double = value * (2.0 * before + value)
        if self.second_order:
            grown = grown / (1.0 + cython.cast(cython.double, self.trans_gain[p, y]))
        self.norm2 += grown
        self.score += value * cython.cast(cython.double, self.chain.trans[p, y])
        self.trans_delta[p, y] = before + value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def apply_transition(
        self, p: cython.Py_ssize_t, y: cython.Py_ssize_t, tau: cython.double
    ) -> cython.void:
        delta: cython.double = cython.cast(cython.double, self.trans_delta[p, y])
        amount: cython.double = tau * delta
        if amount != 0.0:
            if self.second_order:
                amount = amount / (1.0 + cython.cast(cython.double, self.trans_gain[p, y]))
                self.trans_gain[p, y] += 2.0 * self.C * delta * delta
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
                        v = cython.cast(cython.double, data.values[j]) if data.has_values else 1.0
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
                            v = 1.0
                            if data.has_pair_values:
                                v = cython.cast(cython.double, data.pair_values[j])
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
                    total += cython.cast(cython.double, self.cost[gold[begin + t], path[t]])
        return total

    @cython.ccall
    @cython.exceptval(-1, check=True)
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
        is known to Python alone; call again with given_cost. TOO_FAR: give up. given_path says
        that work.path already holds the competitor of the first sentence: it was there when the
        last call stopped, or the caller found it (max-loss). no_labels is empty: nothing is fixed.
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
        longest: cython.double = LONGEST
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
                    if abs(tau) * sqrt(self.norm2) > longest:
                        self.along(data, begin, n, gold, work.path, True, 0.0)
                        status = 3
                        break
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
