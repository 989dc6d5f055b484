"""The kernel's chain over weights and rules, its view of sentences, and its scratch memory.

A chain scores a label sequence by the weights of its tokens' features and of its transitions
(PA 2006, Eq. 59); where the rules forbid a transition, its weight is FORBIDDEN.
"""

from __future__ import annotations

import math
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.chain import FORBIDDEN, Chain
from seqpa._kernel.max_loss import MaxLoss
from seqpa._kernel.sequences import Scratch, Sequences
from seqpa._kernel.store import PICKED, Store
from seqpa.sequence.constraints import Penalties
from seqpa.sequence.encode import Encoded
from seqpa.sequence.weights import Float32, FrozenWeights, Int32, TrainingWeights, padded

_FIRST_ROWS = 64  # of the table of a max-loss search
NO_LABELS: Int32 = np.zeros(0, np.int32)  # for a decoder: no token's label is fixed


def frozen_chain(weights: FrozenWeights, rules: Penalties) -> Chain:
    """The chain of weights that no longer change."""
    K = weights.n_labels
    transitions = np.zeros((K, padded(K)), np.float32)
    transitions[:, :K] = weights.transitions
    transitions[:, :K][rules.pairs < 0] = FORBIDDEN
    return chain_over(weights.stores(), transitions, rules)


def training_chain(weights: TrainingWeights, rules: Penalties) -> Chain:
    """The chain over the very arrays that are trained, their forbidden transitions marked."""
    present = weights.transitions[:, : weights.n_labels]
    present[present <= FORBIDDEN / 2] = 0.0  # forbidden before, perhaps by other rules
    present[rules.pairs < 0] = FORBIDDEN
    return chain_over(weights.stores(), weights.transitions, rules)


def chain_over(stores: tuple[Store, Store | None], transitions: Float32, rules: Penalties) -> Chain:
    """The chain over `transitions` (labels, width), which already hold the penalties; nothing
    leads to the columns behind the last label, which only fill the width."""
    n_labels, width = transitions.shape
    transitions[:, n_labels:] = FORBIDDEN
    store, pair_store = stores
    made = _RULES.get(rules)
    if made is None:
        made = _RULES[rules] = _rule_arrays(rules, width)
    return Chain(
        store=store,
        pair_store=pair_store,
        n_labels=n_labels,
        trans=transitions,
        high=np.full(width, 4 * FORBIDDEN, np.float32),
        low=np.zeros(width, np.float32),
        first=made.first,
        last=made.last,
        prune=pair_store is None and made.any_open,
        open=made.open,
        narrow_indptr=made.narrow_indptr,
        narrow=made.narrow,
    )


class _RuleArrays(NamedTuple):
    """The rules as the kernel's `Chain` takes them."""

    first: Float32
    last: Float32
    any_open: bool
    open: NDArray[np.uint8]
    narrow_indptr: Int32
    narrow: Int32


# Made once for all chains under the same rules: online, there is a chain for each sentence.
_RULES: WeakKeyDictionary[Penalties, _RuleArrays] = WeakKeyDictionary()


def _rule_arrays(rules: Penalties, width: int) -> _RuleArrays:
    n_labels = len(rules.first)
    beyond = np.full(width - n_labels, FORBIDDEN, np.float32)
    forbidden = rules.pairs < 0
    is_open = np.logical_not(forbidden.any(axis=0))
    before, after = np.nonzero(~forbidden & ~is_open[None, :])
    counts = np.bincount(before, minlength=n_labels)
    return _RuleArrays(
        first=np.concatenate([rules.first, beyond]),
        last=np.concatenate([rules.last, beyond]),
        any_open=bool(is_open.any()),
        open=is_open.astype(np.uint8),
        narrow_indptr=np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        narrow=after.astype(np.int32),
    )


def max_loss_search(
    cost: Float32, unit: float, n_labels: int, longest: int
) -> tuple[MaxLoss, Int32]:
    """The kernel's search for argmax score + √ρ, with a small table, and where it writes the path.

    cost : (labels, width) whole numbers: how often each pair costs `unit`
    """
    width, longest = padded(n_labels), max(longest, 1)
    path: NDArray[np.int32] = np.zeros(longest, np.int32)
    search = MaxLoss(
        root=math.sqrt(unit),
        worst=cost[:, :n_labels].max(axis=1).astype(np.int64),
        path=path,
        after=np.zeros((longest, width)),
        table=np.zeros((_FIRST_ROWS, width)),
        first=np.zeros(longest, np.intp),
        low=np.zeros(longest, np.intp),
        count=np.zeros(longest, np.intp),
        into=np.zeros(width),
    )
    return search, path


def larger_table(search: MaxLoss) -> None:
    """Give the search twice as many rows."""
    rows, width = search.table_shape()
    search.replace_table(np.zeros((2 * rows, width)))


def sequences(encoded: Encoded) -> Sequences:
    """The kernel's view of encoded sentences."""
    return Sequences(
        starts=encoded.starts,
        indptr=encoded.indptr,
        features=encoded.features,
        values=encoded.values,
        pair_indptr=encoded.pair_indptr,
        pair_features=encoded.pair_features,
        pair_values=encoded.pair_values,
    )


def scratch(
    n_labels: int, longest: int, again: bool = False, cost: Float32 | None = None
) -> tuple[Scratch, Int32]:
    """Memory to decode one sentence of at most `longest` tokens; and where its path is written.

    again : whether there is memory for emissions too, so that a sentence is soon decoded again
    cost : (labels, width) what labels cost, for loss-augmented decoding
    """
    width, longest = padded(n_labels), max(longest, 1)
    path: NDArray[np.int32] = np.zeros(longest, np.int32)
    memory = Scratch(
        em=np.zeros(width, np.float32),
        picked=np.zeros(PICKED, np.int64),
        s=np.zeros((longest, width), np.float32),
        kept=np.zeros((longest, width), np.int16),
        n_kept=np.zeros(longest, np.intp),
        best=np.zeros(width, np.float32),
        pairs=np.zeros((n_labels, width), np.float32),
        path=path,
        ems=np.zeros((longest if again else 0, width), np.float32),
        cost=np.zeros((0, width), np.float32) if cost is None else cost,
    )
    return memory, path
