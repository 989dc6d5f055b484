"""A trained chain, ready to tag: exact Viterbi, n-best and max-marginals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.chain import FORBIDDEN, Chain
from seqpa._kernel.nbest import NBest
from seqpa._kernel.sequences import Scratch, Sequences
from seqpa._kernel.store import PICKED, Store
from seqpa.errors import SeqpaError
from seqpa.sequence.constraints import Penalties
from seqpa.sequence.encode import Encoded

Float32 = NDArray[np.float32]
Int32 = NDArray[np.int32]
NO_LABELS = np.zeros(0, np.int32)
NO_SUMS = np.zeros(0, np.float32)  # a store for tagging needs none
MAX_LABELS = 2**15 - 1  # Viterbi keeps their numbers as int16


def padded(n_labels: int) -> int:
    """The width of a row of labels: a multiple of 8, so that loops over it vectorise.

    >>> padded(22)
    24
    """
    return -(-n_labels // 8) * 8


def dense_at(n_labels: int) -> int:
    """Above how many labels a row is dense: a few scattered labels are faster one by one.

    >>> dense_at(22), dense_at(682)
    (3, 85)
    """
    return max(3, n_labels // 8)


def sequences(encoded: Encoded) -> Sequences:
    """The kernel's view of encoded sentences."""
    return Sequences(
        encoded.starts,
        encoded.indptr,
        encoded.features,
        encoded.values,
        encoded.pair_indptr,
        encoded.pair_features,
        encoded.pair_values,
    )


def scratch(n_labels: int, longest: int) -> tuple[Scratch, Int32]:
    """Room to decode one sentence of at most `longest` tokens; and where its path is written."""
    width, longest = padded(n_labels), max(longest, 1)
    path = np.zeros(longest, np.int32)
    room = Scratch(
        np.zeros(width, np.float32),
        np.zeros(PICKED, np.int64),
        np.zeros((longest, width), np.float32),
        np.zeros((longest, width), np.int16),
        np.zeros(longest, np.intp),
        np.zeros(width, np.float32),
        np.zeros((n_labels, width), np.float32),
        path,
    )
    return room, path


def kernel_chain(
    store: Store,
    pair_store: Store | None,
    transitions: Float32,
    rules: Penalties,
) -> Chain:
    """The kernel's chain over `transitions` (labels, width), which already hold the penalties;
    nothing leads behind the last label."""
    n_labels, width = transitions.shape
    transitions[:, n_labels:] = FORBIDDEN

    def wide(row: Float32) -> Float32:
        return np.concatenate([row, np.full(width - n_labels, FORBIDDEN, np.float32)])

    forbidden = rules.pairs < 0
    is_open = np.logical_not(forbidden.any(axis=0))
    before, after = np.nonzero(~forbidden & ~is_open[None, :])
    counts = np.bincount(before, minlength=n_labels)
    return Chain(
        store,
        pair_store,
        n_labels,
        transitions,
        np.full(width, 4 * FORBIDDEN, np.float32),
        np.zeros(width, np.float32),
        wide(rules.first),
        wide(rules.last),
        pair_store is None and bool(is_open.any()),
        is_open.astype(np.uint8),
        np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        after.astype(np.int32),
    )


@dataclass(frozen=True, slots=True)
class FrozenWeights:
    """What tagging needs of the weights, as the model file keeps it.

    rows (features, 2) and arena are `Store`'s; pairs likewise, or None without pair
    features; transitions is (labels, labels).
    """

    n_labels: int
    rows: Int32
    arena: Float32
    transitions: Float32
    pair_rows: Int32 | None = None
    pair_arena: Float32 | None = None

    def validate(self) -> None:
        """Raise a SeqpaError unless every index stays inside its array: the kernel checks none."""
        K = self.n_labels
        if not 1 <= K <= MAX_LABELS or self.transitions.shape != (K, K):
            raise SeqpaError(f"damaged model: transitions are not {K} × {K}")
        check_rows(self.rows, self.arena, K, padded(K), "emission")
        arrays = [self.arena, self.transitions]
        if self.pair_rows is not None and self.pair_arena is not None:
            check_rows(self.pair_rows, self.pair_arena, K * padded(K), 0, "pair")
            arrays.append(self.pair_arena)
        if not all(np.isfinite(array).all() for array in arrays):
            raise SeqpaError("damaged model: a weight is not a finite number")

    def nonzero(self) -> NDArray[np.bool_]:
        """Which features have any weight."""
        return self.rows[:, 1] != 0

    def feature_weights(self, feature: int) -> dict[int, float]:
        """Label index -> weight of one feature, zeros left out."""
        return _row_weights(self.rows, self.arena, feature, self.n_labels)

    def pair_feature_weights(self, feature: int) -> dict[tuple[int, int], float]:
        """(previous, current) label indices -> weight of one pair feature."""
        assert self.pair_rows is not None
        assert self.pair_arena is not None
        width = padded(self.n_labels)
        row = _row_weights(self.pair_rows, self.pair_arena, feature, self.n_labels * width)
        return {divmod(pair, width): weight for pair, weight in row.items()}


def _row_weights(rows: Int32, arena: Float32, feature: int, n_labels: int) -> dict[int, float]:
    start, size = rows[feature].tolist()
    if size < 0:
        row = arena[start : start + n_labels].tolist()
        return {k: weight for k, weight in enumerate(row) if weight}
    entries = arena[start : start + 2 * size].tolist()
    return dict(zip(map(int, entries[::2]), entries[1::2], strict=True))


def check_rows(
    rows: Int32,
    arena: Float32,
    n_labels: int,
    width: int,
    name: str,
    spare: bool = False,
) -> None:
    """Raise a SeqpaError unless every row of a `Store` lies in its arena and names real labels.

    width is 0 where no row may be dense. `spare`: a sparse row has room for two or the next power
    of two, as while training.
    """
    if rows.dtype != np.int32 or arena.dtype != np.float32:
        raise SeqpaError(f"damaged model: the {name} arrays have the wrong type")
    if rows.ndim != 2 or rows.shape[1] != 2 or arena.ndim != 1:
        raise SeqpaError(f"damaged model: the {name} arrays have the wrong shape")
    starts, sizes = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
    room = sizes
    if spare:
        room = np.where(sizes > 0, 2 ** np.ceil(np.log2(np.maximum(sizes, 2))), 0).astype(np.int64)
    needs = np.where(sizes < 0, width, 2 * room)
    lowest = -1 if width else 0
    if len(rows) and (
        sizes.min() < lowest or starts.min() < 0 or (starts + needs).max() > len(arena)
    ):
        raise SeqpaError(f"damaged model: an {name} row lies outside its array")
    sparse = sizes > 0
    counts = sizes[sparse]
    if counts.size:
        # Position of every entry's label: each row's start plus 0, 2, 4, ...
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        labels = arena[np.repeat(starts[sparse], counts) + 2 * within]
        if not (
            (labels >= 0).all() and (labels < n_labels).all() and (labels == labels // 1).all()
        ):
            raise SeqpaError(f"damaged model: an {name} row names a label that does not exist")


def no_legal_sequence(sentence: int, with_fixed: bool) -> SeqpaError:
    """The error for a sentence, counted from 0, that has no legal label sequence."""
    return SeqpaError(
        f"sentence {sentence + 1}: no label sequence satisfies the constraints"
        f"{' and the fixed labels' if with_fixed else ''}"
    )


class Decoder:
    """Exact decoding with fixed weights. Reads only: any number of threads may share it."""

    def __init__(self, weights: FrozenWeights, rules: Penalties) -> None:
        K = weights.n_labels
        width = padded(K)
        transitions = np.zeros((K, width), np.float32)
        transitions[:, :K] = weights.transitions
        transitions[:, :K][rules.pairs < 0] = FORBIDDEN
        store = _tagging_store(weights.arena, weights.rows, width)
        pair_store = None
        if weights.pair_rows is not None and weights.pair_arena is not None:
            pair_store = _tagging_store(weights.pair_arena, weights.pair_rows, K * width)
        self.chain = kernel_chain(store, pair_store, transitions, rules)
        self.n_labels = K
        self.rules = rules

    @classmethod
    def over(cls, chain: Chain, rules: Penalties) -> Decoder:
        """Decode with a chain that is being trained."""
        self = cls.__new__(cls)
        self.chain, self.rules, self.n_labels = chain, rules, len(rules.first)
        return self

    def decode(self, encoded: Encoded, fixed: Int32 | None = None) -> NDArray[np.int32]:
        """The best label index of every token; ties go to the label that comes first.

        `fixed` holds for each token the label index that it must get, or −1.
        """
        lengths = np.diff(encoded.starts)
        out = np.zeros(int(encoded.starts[-1]), np.int32)
        fixed = NO_LABELS if fixed is None else fixed
        room, _ = scratch(self.n_labels, int(lengths.max(initial=0)))
        bad = self.chain.decode(sequences(encoded), 0, len(lengths), fixed, room, out)
        if bad >= 0:
            raise no_legal_sequence(bad, len(fixed) > 0)
        return out

    def score(self, encoded: Encoded, i: int, path: Int32) -> float:
        """w·Φ(x, y) of one label sequence of sentence i."""
        room, _ = scratch(self.n_labels, 1)
        return self.chain.score(sequences(encoded), i, path, room)

    def nbest(self, encoded: Encoded, i: int, k: int) -> list[tuple[float, list[int]]]:
        """The k best label sequences of sentence i with their scores, best first; fewer where
        fewer are legal. Equal scores are ordered as Viterbi orders them."""
        begin, end = int(encoded.starts[i]), int(encoded.starts[i + 1])
        n, K = end - begin, self.n_labels
        if n == 0:
            return [(0.0, [])]
        if n * math.log2(K) < 62:
            k = min(k, K**n)  # there are no more
        search, paths, scores = self._search(encoded, begin, n, k)
        found = search.search()
        return list(zip(scores[:found].tolist(), paths[:found].tolist(), strict=True))

    def max_marginals(self, encoded: Encoded, i: int) -> NDArray[np.float64]:
        """(tokens, labels): the score of the best sequence of sentence i that has label y at t."""
        begin, end = int(encoded.starts[i]), int(encoded.starts[i + 1])
        out = np.zeros((end - begin, self.n_labels))
        self._search(encoded, begin, end - begin, 0)[0].marginals(out)
        return out

    def _search(
        self, encoded: Encoded, begin: int, n: int, k: int
    ) -> tuple[NBest, NDArray[np.int32], NDArray[np.float64]]:
        """A search for k sequences for the n tokens from `begin` on, and where it writes them."""
        K = self.n_labels
        room, _ = scratch(K, 1)
        paths, scores = np.zeros((k, n), np.int32), np.zeros(k)
        search = NBest(
            self.chain,
            sequences(encoded),
            begin,
            room,
            np.zeros((n, K)),
            np.zeros((n, K)),
            np.zeros((n, K), np.int32),
            paths,
            scores,
            np.zeros(k, np.intp),
            np.zeros(k, np.intp),
            np.zeros(k, np.intp),
            np.zeros(k),
        )
        return search, paths, scores


def _tagging_store(arena: Float32, rows: Int32, width: int) -> Store:
    return Store(arena, NO_SUMS, NO_SUMS, rows, len(arena), width, 0)
