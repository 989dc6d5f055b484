"""Probabilities of labels, spans and whole sequences of a chain: forward-backward.

A label sequence has the probability exp(scale · score) / Z, where Z is the sum over all sequences;
what the rules forbid has none. Sums over beginnings and ends are kept as numbers, scaled to a sum
of one at each token, and their logarithms apart. Where a number might become too small for that,
and where transitions see the input, the sentence is done in logarithms throughout, which takes
longer.
C types of attributes stand in marginals.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.libc.math import exp, log
    from cython.cimports.seqpa._kernel.sequences import Sequences
else:
    from math import exp, log

    from seqpa._kernel.sequences import Sequences

COMPILED = cython.compiled

# Scores below this are forbidden; their logarithm of a probability is that of nothing.
_FORBIDDEN = cython.declare(cython.double, -5e29)
_NOTHING = cython.declare(cython.double, -1e200)
# No factor is smaller than exp(_DEEPEST), and no sum smaller than _LEAST: then their product is
# still a number, and zero means that there is no legal sequence.
_DEEPEST = cython.declare(cython.double, -150.0)
_LEAST = cython.declare(cython.double, 1e-150)
# What is told of a token whose label has no probability at all.
_FLOOR = cython.declare(cython.double, 1e-30)


@cython.final
@cython.cclass
class Marginals:
    """Forward-backward over one sentence after another, of up to n tokens.

    scale     what scores are multiplied by
    fixed     empty, or for every token of the data the label that it must get, or −1
    em        (n, width) scaled emissions, with what a label costs at either end
    weight    (n, width) exp(em), the largest of a token being one
    forward, backward   (n, width) the sums over all beginnings up to a token, and over all ends
              behind it, for each of its labels: numbers (`scaled`), or logarithms
    forward_log, backward_log   (n,) what to add to the logarithms of these numbers
    steps, back_steps   (labels, width) exp(scaled transitions), the largest being one, by the label
              before and by the label after
    log_steps (labels, width) scaled transitions into one token
    tops      (n,) the largest em of each token
    into, other, terms   (width,) buffers
    log_z     log Z of the last sentence
    """

    def __init__(
        self,
        chain,
        work,
        scale,
        fixed,
        em,
        weight,
        forward,
        backward,
        forward_log,
        backward_log,
        steps,
        back_steps,
        log_steps,
        tops,
        into,
        other,
        terms,
    ):
        self.chain = chain
        self.work = work
        self.scale = scale
        self.fixed = fixed
        self.em = em
        self.weight = weight
        self.forward = forward
        self.backward = backward
        self.forward_log = forward_log
        self.backward_log = backward_log
        self.steps = steps
        self.back_steps = back_steps
        self.log_steps = log_steps
        self.tops = tops
        self.into = into
        self.other = other
        self.terms = terms
        self.n = 0
        self.n_labels, self.width = steps.shape
        self.log_z = 0.0
        self.scaled = False
        self.shallow = self.fill_steps()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def scaled_score(self, score: cython.double) -> cython.double:
        return self.scale * score if score > _FORBIDDEN else _NOTHING

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fill_steps(self) -> cython.bint:
        """Fill log_steps, steps and back_steps; whether no step is too small for numbers."""
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        x: cython.double
        shallow: cython.bint = True
        self.steepest = _NOTHING
        for p in range(self.n_labels):
            for y in range(self.n_labels):
                x = self.scaled_score(cython.cast(cython.double, self.chain.trans[p, y]))
                self.log_steps[p, y] = x
                self.steepest = max(self.steepest, x)
        for p in range(self.n_labels):
            for y in range(self.width):
                self.steps[p, y] = 0.0
                self.back_steps[p, y] = 0.0
        for p in range(self.n_labels):
            for y in range(self.n_labels):
                x = self.log_steps[p, y]
                if x > 0.5 * _NOTHING:
                    shallow = shallow and x - self.steepest > _DEEPEST
                    x = exp(x - self.steepest)
                    self.steps[p, y] = x
                    self.back_steps[y, p] = x
        return shallow

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def emit(self, data: Sequences, i: cython.Py_ssize_t) -> cython.void:
        """Fill em of sentence i."""
        t: cython.Py_ssize_t
        y: cython.Py_ssize_t
        score: cython.double
        only: cython.Py_ssize_t = -1
        begin: cython.Py_ssize_t = data.starts[i]
        self.n = data.starts[i + 1] - begin
        for t in range(self.n):
            self.chain.store.emission(data, begin + t, self.work)
            if self.fixed.shape[0] > 0:
                only = self.fixed[begin + t]
            for y in range(self.n_labels):
                score = cython.cast(cython.double, self.work.em[y])
                if t == 0:
                    score += cython.cast(cython.double, self.chain.first[y])
                if t == self.n - 1:
                    score += cython.cast(cython.double, self.chain.last[y])
                self.em[t, y] = self.scaled_score(score)
                if only >= 0 and y != only:
                    self.em[t, y] = _NOTHING

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.bint:
        """Fill weight and tops. False: a weight is too small for numbers."""
        t: cython.Py_ssize_t
        y: cython.Py_ssize_t
        top: cython.double
        x: cython.double
        for t in range(self.n):
            top = _NOTHING
            for y in range(self.n_labels):
                top = max(top, self.em[t, y])
            for y in range(self.n_labels):
                x = self.em[t, y]
                if x < 0.5 * _NOTHING:
                    self.weight[t, y] = 0.0
                elif x - top < _DEEPEST:
                    return False
                else:
                    self.weight[t, y] = exp(x - top)
            self.tops[t] = top
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def normalise(self, sums: cython.double[:, ::1], t: cython.Py_ssize_t) -> cython.double:
        """Scale the sums of token t to one; the logarithm of what they were, or nothing where one
        is zero, or one of them too small for numbers."""
        y: cython.Py_ssize_t
        total: cython.double = 0.0
        for y in range(self.n_labels):
            total += sums[t, y]
        if total < _LEAST:
            return _NOTHING
        for y in range(self.n_labels):
            sums[t, y] /= total
            if sums[t, y] < _LEAST and sums[t, y] > 0.0:
                return _NOTHING
        return log(total)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def go_in_numbers(self) -> cython.bint:
        """Forward and backward; False where numbers may become too small."""
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        x: cython.double
        so_far: cython.double = 0.0
        if not self.weigh():
            return False
        for t in range(self.n):
            for y in range(self.width):
                self.into[y] = 0.0 if t > 0 else 1.0
            if t > 0:
                so_far += self.steepest
                for p in range(self.n_labels):
                    x = self.forward[t - 1, p]
                    if x > 0.0:
                        for y in range(self.width):
                            self.into[y] += x * self.steps[p, y]
            for y in range(self.n_labels):
                self.forward[t, y] = self.into[y] * self.weight[t, y]
            x = self.normalise(self.forward, t)
            if x < 0.5 * _NOTHING:
                return False
            so_far += self.tops[t] + x
            self.forward_log[t] = so_far
        self.log_z = so_far
        so_far = 0.0
        for t in range(self.n - 1, -1, -1):
            for y in range(self.width):
                self.into[y] = 0.0
            if t + 1 < self.n:
                for y in range(self.n_labels):
                    x = self.weight[t + 1, y] * self.backward[t + 1, y]
                    if x > 0.0:
                        for p in range(self.width):
                            self.into[p] += x * self.back_steps[y, p]
            for y in range(self.n_labels):
                self.backward[t, y] = self.into[y] if t + 1 < self.n else 1.0
            x = self.normalise(self.backward, t)
            if x < 0.5 * _NOTHING:
                return False
            so_far += x
            if t + 1 < self.n:
                so_far += self.steepest + self.tops[t + 1]
            self.backward_log[t] = so_far
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def step_into(self, data: Sequences, i: cython.Py_ssize_t, t: cython.Py_ssize_t) -> cython.void:
        """Fill log_steps with the transitions into token t, where they see the input."""
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        if data.has_pairs:
            self.chain.transition(data, data.starts[i] + t, self.work)
            for p in range(self.n_labels):
                for y in range(self.n_labels):
                    self.log_steps[p, y] = self.scaled_score(
                        cython.cast(cython.double, self.work.pairs[p, y])
                    )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def log_sum(self, terms: cython.double[::1], n: cython.Py_ssize_t) -> cython.double:
        """log Σ exp of the first n terms."""
        k: cython.Py_ssize_t
        total: cython.double = 0.0
        top: cython.double = _NOTHING
        for k in range(n):
            top = max(top, terms[k])
        if top < 0.5 * _NOTHING:
            return _NOTHING
        for k in range(n):
            total += exp(terms[k] - top)
        return top + log(total)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def go_in_logs(self, data: Sequences, i: cython.Py_ssize_t) -> cython.void:
        """Forward and backward in logarithms."""
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        for t in range(self.n):
            self.forward_log[t] = 0.0
            self.backward_log[t] = 0.0
            if t > 0:
                self.step_into(data, i, t)
            for y in range(self.n_labels):
                self.forward[t, y] = self.em[t, y]
                if t > 0:
                    for p in range(self.n_labels):
                        self.into[p] = self.forward[t - 1, p] + self.log_steps[p, y]
                    self.forward[t, y] += self.log_sum(self.into, self.n_labels)
        for y in range(self.n_labels):
            self.into[y] = self.forward[self.n - 1, y]
            self.backward[self.n - 1, y] = 0.0
        self.log_z = self.log_sum(self.into, self.n_labels)
        for t in range(self.n - 2, -1, -1):
            self.step_into(data, i, t + 1)
            for p in range(self.n_labels):
                for y in range(self.n_labels):
                    self.into[y] = (
                        self.log_steps[p, y] + self.em[t + 1, y] + self.backward[t + 1, y]
                    )
                self.backward[t, p] = self.log_sum(self.into, self.n_labels)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def look(self, data: Sequences, i: cython.Py_ssize_t) -> cython.bint:
        """Forward and backward over sentence i. False: it has no legal label sequence."""
        self.emit(data, i)
        self.log_z = 0.0
        if self.n == 0:
            return True
        self.scaled = self.shallow and not data.has_pairs and self.go_in_numbers()
        if not self.scaled:
            self.go_in_logs(data, i)
        return self.log_z > 0.5 * _NOTHING

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def before(self, t: cython.Py_ssize_t, y: cython.Py_ssize_t) -> cython.double:
        """The logarithm of the sum over the beginnings up to token t that end in label y."""
        x: cython.double = self.forward[t, y]
        if self.scaled:
            return self.forward_log[t] + log(x) if x > 0.0 else _NOTHING
        return x

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def behind(self, t: cython.Py_ssize_t, y: cython.Py_ssize_t) -> cython.double:
        """The logarithm of the sum over the ends behind token t, which has label y."""
        x: cython.double = self.backward[t, y]
        if self.scaled:
            return self.backward_log[t] + log(x) if x > 0.0 else _NOTHING
        return x

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def write(self, t: cython.Py_ssize_t, out: cython.double[::1]) -> cython.void:
        """out[y] = P(label y at token t), up to `n_labels`."""
        y: cython.Py_ssize_t
        total: cython.double = 0.0
        for y in range(self.n_labels):
            if self.scaled:
                out[y] = self.forward[t, y] * self.backward[t, y]
            else:
                out[y] = exp(self.forward[t, y] + self.backward[t, y] - self.log_z)
            total += out[y]
        for y in range(self.n_labels):
            out[y] /= total

    @cython.ccall
    @cython.exceptval(-2, check=True)
    def tokens(
        self,
        data: Sequences,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        out: cython.double[:, ::1],
    ) -> cython.Py_ssize_t:
        """out[t, y] = P(label y at token t) for the sentences begin:end, at their tokens' places.

        Returns the first sentence that has no legal label sequence, or −1.
        """
        i: cython.Py_ssize_t
        t: cython.Py_ssize_t
        y: cython.Py_ssize_t
        first: cython.Py_ssize_t
        bad: cython.Py_ssize_t = -1
        with cython.nogil:
            for i in range(begin, end):
                if not self.look(data, i):
                    bad = i
                    break
                first = data.starts[i]
                for t in range(self.n):
                    self.write(t, self.other)
                    for y in range(self.n_labels):
                        out[first + t, y] = self.other[y]
        return bad

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def likelihood(
        self,
        data: Sequences,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        every: cython.Py_ssize_t,
        gold: cython.const[cython.int][::1],
    ) -> cython.double:
        """Σ log P(gold label at its token) over every so many of the sentences begin:end; −1 is no
        label.

        A label without probability counts as _FLOOR, at every scale.
        """
        i: cython.Py_ssize_t
        t: cython.Py_ssize_t
        first: cython.Py_ssize_t
        total: cython.double = 0.0
        with cython.nogil:
            i = begin
            while i < end:
                if self.look(data, i):
                    first = data.starts[i]
                    for t in range(self.n):
                        if gold[first + t] >= 0:
                            self.write(t, self.other)
                            total += log(max(self.other[gold[first + t]], _FLOOR))
                i += every
        return total

    @cython.ccall
    def begin_sentence(self, data: Sequences, i: cython.Py_ssize_t):
        """Forward and backward over sentence i, for the methods below; whether it has a legal label
        sequence."""
        return self.look(data, i)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def sequence(
        self, data: Sequences, i: cython.Py_ssize_t, path: cython.const[cython.int][::1]
    ) -> cython.double:
        """log P(path) of this sentence, i."""
        t: cython.Py_ssize_t
        total: cython.double = -self.log_z
        with cython.nogil:
            for t in range(self.n):
                total += self.em[t, path[t]]
                if t > 0:
                    self.step_into(data, i, t)
                    total += self.log_steps[path[t - 1], path[t]]
        return total

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def entropy(self, data: Sequences, i: cython.Py_ssize_t) -> cython.double:
        """−Σ P log P over all label sequences of this sentence, i: log Z − the expected score."""
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        x: cython.double
        total: cython.double = self.log_z
        with cython.nogil:
            for t in range(self.n):
                self.write(t, self.other)
                for y in range(self.n_labels):
                    if self.other[y] > 0.0:
                        total -= self.other[y] * self.em[t, y]
                if t == 0:
                    continue
                self.step_into(data, i, t)
                for y in range(self.n_labels):
                    self.into[y] = self.em[t, y] + self.behind(t, y) - self.log_z
                for p in range(self.n_labels):
                    x = self.before(t - 1, p)
                    for y in range(self.n_labels):
                        if x + self.log_steps[p, y] + self.into[y] > -700.0:
                            total -= (
                                exp(x + self.log_steps[p, y] + self.into[y]) * self.log_steps[p, y]
                            )
        return max(total, 0.0)

    @cython.ccall
    @cython.exceptval(-1, check=True)
    def span(
        self,
        data: Sequences,
        i: cython.Py_ssize_t,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        kind: cython.int,
        kinds: cython.const[cython.int][::1],
        first: cython.const[cython.uchar][::1],
        starts: cython.const[cython.uchar][:, ::1],
        links: cython.const[cython.uchar][:, ::1],
    ) -> cython.double:
        """P(the tokens begin:end of this sentence, i, are one span of a kind): the sum over all
        label sequences that have it.

        kinds   the kind of each label, −1 for none
        first   whether a span starts at a label that is the sentence's first
        starts, links   whether one starts at a label (column) after another (row), and whether that
                of the label before goes on
        """
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        y: cython.Py_ssize_t
        k: cython.Py_ssize_t
        x: cython.double
        with cython.nogil:
            for t in range(begin, end):
                if t > 0:
                    self.step_into(data, i, t)
                for y in range(self.n_labels):
                    self.other[y] = _NOTHING
                    if kinds[y] != kind:
                        continue
                    if t == 0:
                        if first[y]:
                            self.other[y] = self.em[t, y]
                        continue
                    for p in range(self.n_labels):
                        self.terms[p] = _NOTHING
                        if t == begin:
                            if starts[p, y]:
                                self.terms[p] = self.before(t - 1, p) + self.log_steps[p, y]
                        elif links[p, y]:
                            self.terms[p] = self.into[p] + self.log_steps[p, y]
                    self.other[y] = self.em[t, y] + self.log_sum(self.terms, self.n_labels)
                for y in range(self.n_labels):
                    self.into[y] = self.other[y]
            if end < self.n:
                self.step_into(data, i, end)
                for y in range(self.n_labels):
                    for k in range(self.n_labels):
                        self.terms[k] = _NOTHING
                        if not links[y, k]:
                            self.terms[k] = (
                                self.log_steps[y, k] + self.em[end, k] + self.behind(end, k)
                            )
                    if kinds[y] == kind:
                        self.into[y] += self.log_sum(self.terms, self.n_labels)
            x = self.log_sum(self.into, self.n_labels) - self.log_z
        return exp(min(x, 0.0)) if x > -700.0 else 0.0
