"""A trained chain, ready to tag: exact Viterbi, n-best and max-marginals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.chain import FORBIDDEN, Chain
from seqpa._kernel.nbest import NBest
from seqpa.errors import SeqpaError
from seqpa.sequence.chain import (
    NO_LABELS,
    frozen_chain,
    larger_table,
    max_loss_search,
    scratch,
    sequences,
)
from seqpa.sequence.constraints import Penalties, check_legal
from seqpa.sequence.encode import Encoded
from seqpa.sequence.weights import Float32, FrozenWeights, Int32


def no_legal_sequence(sentence: int, with_fixed: bool) -> SeqpaError:
    """The error for a sentence, counted from 0, that has no legal label sequence."""
    return SeqpaError(
        f"sentence {sentence + 1}: no label sequence satisfies the constraints"
        f"{' and the fixed labels' if with_fixed else ''}"
    )


def check_given(
    gold: Int32, starts: NDArray[np.int64], rules: Penalties, labels: Sequence[str]
) -> None:
    """Raise a SeqpaError unless each sentence has a legal label sequence with the labels given.

    Parameters
    ----------
    gold : int32 (tokens,)
        The numbers of the labels; −1 where none is given.
    starts : int64 (sentences + 1,)
        Where each sentence starts, and the number of tokens.
    rules : Penalties
        What is forbidden.
    labels : sequence of str
        The labels by number.
    """
    if rules.forbid_nothing or gold.min(initial=0) >= 0:
        return check_legal(gold, starts, rules, labels)
    # With no weights at all, only the rules decide.
    K = len(labels)
    nothing = FrozenWeights(
        K,
        np.zeros((0, 2), np.int32),
        np.zeros(0, np.float32),
        np.zeros((K, K), np.float32),
    )
    bare = Encoded(starts, np.zeros(len(gold) + 1, np.int64), np.zeros(0, np.int32))
    work, _ = scratch(K, int(np.diff(starts).max(initial=0)))
    bad = frozen_chain(nothing, rules).decode(
        sequences(bare), 0, len(starts) - 1, gold, work, np.zeros(len(gold), np.int32)
    )
    if bad >= 0:
        raise SeqpaError(
            f"sentence {bad + 1}: no label sequence with the labels given satisfies the "
            f"constraints; convert the labels, or train without"
        )


class Lattice(NamedTuple):
    """The scores of a sentence, all (tokens, labels).

    emissions : of each label at each token, with what the ends of the sentence allow
    forward : of the best beginning that ends in the label at the token
    best : of the best sequence that has the label at the token
    """

    emissions: NDArray[np.float64]
    forward: NDArray[np.float64]
    best: NDArray[np.float64]


class Decoder:
    """Exact decoding with fixed weights. Reads only: any number of threads may share it."""

    def __init__(self, weights: FrozenWeights, rules: Penalties) -> None:
        self.chain = frozen_chain(weights, rules)
        self.n_labels = weights.n_labels

    @classmethod
    def over(cls, chain: Chain, n_labels: int) -> Decoder:
        """Decode with a chain that is being trained."""
        self = cls.__new__(cls)
        self.chain, self.n_labels = chain, n_labels
        return self

    def decode(
        self, encoded: Encoded, fixed: Int32 | None = None, first: int = 0
    ) -> NDArray[np.int32]:
        """The best label index of every token; ties go to the label that comes first.

        `fixed` holds for each token the label index that it must get, or −1. `first` is the number
        of the first sentence, for messages.
        """
        lengths = np.diff(encoded.starts)
        out = np.zeros(int(encoded.starts[-1]), np.int32)
        fixed = NO_LABELS if fixed is None else fixed
        work, _ = scratch(self.n_labels, int(lengths.max(initial=0)))
        bad = self.chain.decode(sequences(encoded), 0, len(lengths), fixed, work, out)
        if bad >= 0:
            raise no_legal_sequence(first + bad, len(fixed) > 0)
        return out

    def obeying(self, encoded: Encoded, i: int, given: Int32) -> Int32:
        """The best label sequence of sentence i that has its labels among those given to all
        tokens; −1 is none."""
        begin, end = int(encoded.starts[i]), int(encoded.starts[i + 1])
        if given[begin:end].min(initial=0) >= 0:
            return given[begin:end]
        out = np.zeros(int(encoded.starts[-1]), np.int32)
        work, _ = scratch(self.n_labels, end - begin)
        self.chain.decode(sequences(encoded), i, i + 1, given, work, out)
        return out[begin:end]

    def disobeying(self, encoded: Encoded, i: int, given: Int32) -> list[tuple[float, list[int]]]:
        """The best label sequence of sentence i that has not all labels given, and its score;
        nothing where there is none."""
        begin, end = int(encoded.starts[i]), int(encoded.starts[i + 1])
        scores = self.max_marginals(encoded, i)
        own = given[begin:end]
        scores[own < 0] = FORBIDDEN
        scores[np.flatnonzero(own >= 0), own[own >= 0]] = FORBIDDEN
        if scores.max(initial=FORBIDDEN) < 0.5 * FORBIDDEN:
            return []
        t, label = np.unravel_index(int(scores.argmax()), scores.shape)
        fixed = np.full(int(encoded.starts[-1]), -1, np.int32)
        fixed[begin + t] = label
        return [(float(scores[t, label]), self.obeying(encoded, i, fixed).tolist())]

    def max_loss(
        self, encoded: Encoded, i: int, given: Int32, cost: Float32, unit: float = 1.0
    ) -> tuple[float, Int32]:
        """The sequence ỹ of sentence i with the highest score + √ρ, and that value, exactly.

        Less the score of the right labels, the value is their max-loss (PA 2006, Eq. 52).

        given : the labels of all tokens; −1 is none
        cost, unit : (labels, width) whole numbers, what each label costs in units; see
            `SequenceCost.in_units`
        """
        begin, end = int(encoded.starts[i]), int(encoded.starts[i + 1])
        if begin == end:
            return 0.0, given[:0]
        work, _ = scratch(self.n_labels, end - begin, again=True, cost=cost)
        search, path = max_loss_search(cost, unit, self.n_labels, end - begin)
        while not search.run(self.chain, sequences(encoded), i, given, work):
            larger_table(search)
        return search.found()[0], path

    def loss_augmented(
        self, encoded: Encoded, i: int, given: Int32, cost: Float32, unit: float = 1.0
    ) -> float:
        """The highest score + ρ of any label sequence of sentence i; see `max_loss`."""
        begin, end = int(encoded.starts[i]), int(encoded.starts[i + 1])
        if begin == end:
            return 0.0
        work, _ = scratch(self.n_labels, end - begin, again=True, cost=cost)
        search, _ = max_loss_search(cost, unit, self.n_labels, end - begin)
        return search.most(self.chain, sequences(encoded), i, given, unit, work)

    def score(self, encoded: Encoded, i: int, path: Int32) -> float:
        """w·Φ(x, y) of one label sequence of sentence i."""
        work, _ = scratch(self.n_labels, 1)
        return self.chain.score(sequences(encoded), i, path, work)

    def nbest(
        self, encoded: Encoded, i: int, k: int, fixed: Int32 | None = None
    ) -> list[tuple[float, list[int]]]:
        """The k best label sequences of sentence i with their scores, best first; fewer where
        fewer are legal. Equal scores are ordered as Viterbi orders them. `fixed` as in `decode`."""
        begin, end = int(encoded.starts[i]), int(encoded.starts[i + 1])
        n, K = end - begin, self.n_labels
        if n == 0:
            return [(0.0, [])]
        if n * math.log2(K) < 62:
            k = min(k, K**n)  # there are no more
        search, paths, scores = self._search(encoded, begin, n, k, fixed=fixed)
        found = search.search()
        return list(zip(scores[:found].tolist(), paths[:found].tolist(), strict=True))

    def max_marginals(self, encoded: Encoded, i: int) -> NDArray[np.float64]:
        """(tokens, labels): the score of the best sequence of sentence i that has label y at t."""
        return self.lattice(encoded, i).best

    def lattice(self, encoded: Encoded, i: int) -> Lattice:
        """The scores of sentence i from which every best sequence with a given label is read."""
        begin, end = int(encoded.starts[i]), int(encoded.starts[i + 1])
        found = Lattice(*np.zeros((3, end - begin, self.n_labels)))
        search, _, _ = self._search(encoded, begin, end - begin, 0, found)
        search.marginals(found.best)
        return found

    def margins(self, encoded: Encoded, i: int) -> NDArray[np.float64]:
        """By how much the best sequence of sentence i beats the best one that has another label at
        each token; infinite where there is no other."""
        scores = self.max_marginals(encoded, i)
        if scores.size and scores.max() < 0.5 * FORBIDDEN:
            raise no_legal_sequence(i, False)
        if self.n_labels == 1:
            return np.full(len(scores), np.inf)
        ordered = np.sort(scores, axis=1)
        margins = ordered[:, -1] - ordered[:, -2]
        margins[margins > -0.1 * FORBIDDEN] = np.inf  # every other label is forbidden
        return margins

    def _search(
        self,
        encoded: Encoded,
        begin: int,
        n: int,
        k: int,
        lattice: Lattice | None = None,
        fixed: Int32 | None = None,
    ) -> tuple[NBest, NDArray[np.int32], NDArray[np.float64]]:
        """A search for k sequences for the n tokens from `begin` on, and where it writes them."""
        K = self.n_labels
        work, _ = scratch(K, 1)
        paths, scores = np.zeros((k, n), np.int32), np.zeros(k)
        em, forward = np.zeros((2, n, K)) if lattice is None else lattice[:2]
        search = NBest(
            chain=self.chain,
            data=sequences(encoded),
            begin=begin,
            fixed=NO_LABELS if fixed is None else fixed,
            work=work,
            em=em,
            forward=forward,
            back=np.zeros((n, K), np.int32),
            paths=paths,
            scores=scores,
            limit=np.zeros(k, np.intp),
            branch_at=np.zeros(k, np.intp),
            branch_label=np.zeros(k, np.intp),
            branch_score=np.zeros(k),
        )
        return search, paths, scores
