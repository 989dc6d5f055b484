"""Which wrong label sequence the constraint of a sentence names: its competitor.

Each thread has its own `Competitor`, with the memory to decode a sentence. C types of attributes
stand in competitor.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.libc.math import sqrt
    from cython.cimports.seqpa._kernel.max_loss import MaxLoss
    from cython.cimports.seqpa._kernel.sequences import Sequences
else:
    from math import sqrt

    from seqpa._kernel.max_loss import MaxLoss
    from seqpa._kernel.sequences import Sequences

COMPILED = cython.compiled

_HAMMING = cython.declare(cython.int, 0)
_ZERO_ONE = cython.declare(cython.int, 1)
_MATRIX = cython.declare(cython.int, 2)
_PYTHON = cython.declare(cython.int, 3)
COSTS = {"hamming": _HAMMING, "zero-one": _ZERO_ONE, "matrix": _MATRIX, "python": _PYTHON}

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
class Competitor:
    """Finds the competitors of sentences, one after the other.

    update           one of UPDATES: the competitor is the prediction, or the best score + ρ, or
                     the best score + √ρ, or the better of two candidates for it: the prediction
                     and the best score + ρ/2
    max_loss         which finds the best score + √ρ, or None
    cost_kind, cost  one of COSTS: Hamming, zero-one, the label × label matrix `cost` summed over
                     tokens, or a function that Python calls
    guess, rival     (longest,): the prediction where it is not the competitor, and a buffer
    work             what sentences are decoded in; work.path becomes the competitor. It has `ems`
                     where a sentence is decoded more than once
    """

    def __init__(
        self, chain, update, max_loss: MaxLoss | None, cost_kind, cost, guess, rival, work
    ):
        self.chain = chain
        self.update = update
        self.max_loss = max_loss
        self.cost_kind = cost_kind
        self.cost = cost
        self.guess = guess
        self.rival = rival
        self.work = work

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
    def find(
        self,
        data: Sequences,
        i: cython.Py_ssize_t,
        gold: cython.const[cython.int][::1],
        no_labels: cython.const[cython.int][::1],
    ) -> cython.bint:
        """work.path = the wrong sequence of the constraint; guess = the prediction, if another.

        False: the table of the max-loss search is full."""
        t: cython.Py_ssize_t
        begin: cython.Py_ssize_t = data.starts[i]
        n: cython.Py_ssize_t = data.starts[i + 1] - begin
        if self.update == _PREDICTION:
            self.chain.viterbi(data, i, no_labels, 0.0, self.work)
            self.work.ready = self.work.has_ems
            return True
        if self.update == _AUGMENTED:
            self.chain.viterbi(data, i, gold, 1.0, self.work)
            self.work.ready = True
        elif self.update == _NEAR_MAX_LOSS:
            # √ρ <= (1 + ρ)/2, with equality at ρ = 1: the tangent that fits single mistakes.
            self.chain.viterbi(data, i, gold, 0.5, self.work)
            self.work.ready = True
        else:
            if not self.max_loss.find(self.chain, data, i, gold, self.work):
                return False
            for t in range(n):
                self.work.path[t] = self.max_loss.path[t]
        if self.count_wrong(begin, n, gold, self.work.path) == 0:
            # No other sequence comes as near as its cost: this is also the prediction.
            for t in range(n):
                self.guess[t] = self.work.path[t]
            return True
        for t in range(n):
            self.rival[t] = self.work.path[t]
        self.chain.viterbi(data, i, no_labels, 0.0, self.work)
        for t in range(n):
            self.guess[t] = self.work.path[t]
        if self.update == _NEAR_MAX_LOSS and self.value_of(
            data, i, gold, self.guess
        ) >= self.value_of(data, i, gold, self.rival):
            return True
        for t in range(n):
            self.work.path[t] = self.rival[t]
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
    ) -> cython.double:
        """score + √ρ of a label sequence, for costs that are known."""
        t: cython.Py_ssize_t
        begin: cython.Py_ssize_t = data.starts[i]
        n: cython.Py_ssize_t = data.starts[i + 1] - begin
        score: cython.double = sqrt(self.known_cost(begin, n, gold, path))
        for t in range(n):
            score += cython.cast(cython.double, self.work.ems[t, path[t]])
            if t > 0:
                score += self.chain.step_score(data, begin + t, path[t - 1], path[t])
        return score
