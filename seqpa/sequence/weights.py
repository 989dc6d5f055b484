"""The weights while they are trained: arrays that the kernel fills and this class grows."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.chain import FORBIDDEN, Chain
from seqpa._kernel.store import SECOND_ORDER_STRIDE, TAGGING_STRIDE, TRAINING_STRIDE, Store
from seqpa.errors import SeqpaError
from seqpa.sequence.constraints import Penalties
from seqpa.sequence.decoder import (
    MAX_LABELS,
    FrozenWeights,
    check_rows,
    dense_at,
    kernel_chain,
    padded,
)

# Pair rows are sparse whatever their size: labels² is too many for a dense row.
_NEVER_DENSE = 2**30
# A sparse entry keeps its label as a float32, which counts exactly up to here.
_MAX_PAIRS = 2**24
# A row's place in the arena is an int32.
_MAX_ROOM = 2**31 - 1


class TrainingWeights:
    """Emission, pair and transition weights with their averaging sums, and the clock.

    Grows with `resize` (new features, new labels) and `grow` (a full store), forgetting nothing.
    """

    def __init__(
        self,
        n_labels: int,
        n_features: int,
        n_pair_features: int | None,
        second_order: bool = False,
    ) -> None:
        check_labels(n_labels, n_pair_features)
        self.n_labels = n_labels
        self.second_order = second_order
        self._stride = SECOND_ORDER_STRIDE if second_order else TRAINING_STRIDE
        self.clock = 0.0
        width = padded(n_labels)
        self.transitions = np.zeros((n_labels, width), np.float32)
        self.transition_sums = np.zeros((n_labels, width), np.float32)
        self.transition_gains = np.zeros((n_labels, width), np.float32)
        self._arena, self._rows = _empty(n_features)
        self._store = self._new_store(self._arena, self._rows, 0, width, dense_at(n_labels))
        self._pair_store: Store | None = None
        self._pair_arena, self._pair_rows = _empty(n_pair_features or 0)
        if n_pair_features is not None:
            self._pair_store = self._new_store(
                self._pair_arena, self._pair_rows, 0, n_labels * width, _NEVER_DENSE
            )

    def _new_store(
        self,
        arena: NDArray[np.float32],
        rows: NDArray[np.int32],
        used: int,
        width: int,
        dense: int,
    ) -> Store:
        return Store(arena, rows, used, self._stride, width, dense)

    @property
    def n_features(self) -> int:
        """How many features have a row, be it empty."""
        return len(self._rows)

    def chain(self, rules: Penalties) -> Chain:
        """The kernel's chain over these very arrays, its forbidden transitions marked."""
        weights = self.transitions[:, : self.n_labels]
        weights[weights <= FORBIDDEN / 2] = 0.0  # forbidden before, perhaps by other rules
        weights[rules.pairs < 0] = FORBIDDEN
        return kernel_chain(self._store, self._pair_store, self.transitions, rules)

    def grow(self, chain: Chain) -> None:
        """Give a full store three times of what it holds, without its holes."""
        self._move(self.n_labels, len(self._rows), len(self._pair_rows))
        chain.replace_stores(self._store, self._pair_store)

    def resize(self, n_labels: int, n_features: int, n_pair_features: int | None) -> None:
        """Make room for new labels and features; old ones keep their numbers and weights."""
        old_width = padded(self.n_labels)
        width = padded(n_labels)
        check_labels(n_labels, n_pair_features)
        if width != old_width and self._pair_store is not None:
            self._pair_store.relabel(old_width, width)
        self._move(n_labels, n_features, n_pair_features or 0)
        for name in ("transitions", "transition_sums", "transition_gains"):
            old = getattr(self, name)
            new = np.zeros((n_labels, width), np.float32)
            new[: self.n_labels, : self.n_labels] = old[:, : self.n_labels]
            setattr(self, name, new)
        self.n_labels = n_labels

    def _move(self, n_labels: int, n_features: int, n_pair_features: int) -> None:
        width = padded(n_labels)
        self._arena, self._rows, self._store = self._copied(
            self._store, n_features, width, dense_at(n_labels)
        )
        if self._pair_store is not None:
            self._pair_arena, self._pair_rows, self._pair_store = self._copied(
                self._pair_store, n_pair_features, n_labels * width, _NEVER_DENSE
            )

    def _copied(
        self, store: Store, n_rows: int, width: int, dense: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], Store]:
        arena, rows, new = self._roomy(store, n_rows, width, dense)
        store.copy_into(new)
        return arena, rows, new

    def _thawed(
        self, rows: NDArray[np.int32], arena: NDArray[np.float32], width: int, dense: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], Store]:
        frozen = Store(arena, rows, len(arena), TAGGING_STRIDE, width, dense)
        new_arena, new_rows, new = self._roomy(frozen, len(rows), width, dense)
        frozen.thaw(new)
        return new_arena, new_rows, new

    def _roomy(
        self, store: Store, n_rows: int, width: int, dense: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int32], Store]:
        """An empty store with room for three times of what `store` holds: pages that nobody has
        touched cost nothing, and a store that seldom moves is seldom there twice."""
        room = store.live_size(width, self._stride)
        room += max(2 * room, 4 * width, _first_room(n_rows))
        if room > _MAX_ROOM:
            raise SeqpaError(
                f"the weights need {room:,} numbers, more than the {_MAX_ROOM:,} that a model can "
                f"hold: raise the cutoff, or use fewer templates"
            )
        arena = _fresh(room)
        rows = np.zeros((n_rows, 2), np.int32)
        return arena, rows, self._new_store(arena, rows, 0, width, dense)

    def gather(self, transitions: int, pairs: int, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weights of sorted keys, as `seqpa.sequence.batches.Keys` numbers them."""
        K, width = self.n_labels, padded(self.n_labels)
        first, last = np.searchsorted(keys, [transitions, pairs])
        out = np.zeros(len(keys))
        self._store.gather(*divmod(keys[:first], K), out[:first])
        out[first:last] = self.transitions[divmod(keys[first:last] - transitions, K)]
        if self._pair_store is not None:
            features, pair = divmod(keys[last:] - pairs, K * K)
            self._pair_store.gather(features, pair // K * width + pair % K, out[last:])
        return out

    def scatter(
        self,
        transitions: int,
        pairs: int,
        keys: NDArray[np.int64],
        amounts: NDArray[np.float64],
        clock: float,
    ) -> None:
        """Add amounts to the weights of sorted keys, and clock times that to their sums."""
        K, width = self.n_labels, padded(self.n_labels)
        first, last = np.searchsorted(keys, [transitions, pairs])
        where = divmod(keys[first:last] - transitions, K)
        self.transitions[where] += amounts[first:last]
        self.transition_sums[where] += clock * amounts[first:last]
        self._scatter("_store", *divmod(keys[:first], K), amounts[:first], clock)
        if self._pair_store is not None:
            features, pair = divmod(keys[last:] - pairs, K * K)
            pair = pair // K * width + pair % K
            self._scatter("_pair_store", features, pair, amounts[last:], clock)

    def _scatter(
        self,
        store: str,
        features: NDArray[np.int64],
        labels: NDArray[np.int64],
        amounts: NDArray[np.float64],
        clock: float,
    ) -> None:
        done = 0
        while True:
            done = getattr(self, store).scatter(features, labels, amounts, clock, done)
            if done == len(features):
                return
            self._move(self.n_labels, len(self._rows), len(self._pair_rows))

    def freeze(self, average: bool) -> FrozenWeights:
        """The weights for tagging: the last ones, or their mean over all sentences seen."""
        K = self.n_labels
        T = self.clock if average else 0.0
        rows, arena = _frozen(self._store, len(self._rows), T, K, padded(K), dense_at(K))
        transitions = self.transitions[:, :K].astype(np.float64)
        if T > 0:
            transitions -= self.transition_sums[:, :K] / T
        transitions[self.transitions[:, :K] <= FORBIDDEN / 2] = 0.0
        pair_rows = pair_arena = None
        if self._pair_store is not None:
            pairs = K * padded(K)
            pair_rows, pair_arena = _frozen(
                self._pair_store, len(self._pair_rows), T, pairs, pairs, _NEVER_DENSE
            )
        return FrozenWeights(K, rows, arena, transitions.astype(np.float32), pair_rows, pair_arena)

    @classmethod
    def thawed(cls, frozen: FrozenWeights, second_order: bool = False) -> TrainingWeights:
        """Start again from fixed weights: a warm start, with empty averaging sums."""
        n_pairs = None if frozen.pair_rows is None else len(frozen.pair_rows)
        self = cls(frozen.n_labels, len(frozen.rows), n_pairs, second_order)
        K, width = frozen.n_labels, padded(frozen.n_labels)
        self.transitions[:, :K] = frozen.transitions
        self._arena, self._rows, self._store = self._thawed(
            frozen.rows, frozen.arena, width, dense_at(K)
        )
        if frozen.pair_rows is not None and frozen.pair_arena is not None:
            self._pair_arena, self._pair_rows, self._pair_store = self._thawed(
                frozen.pair_rows, frozen.pair_arena, K * width, _NEVER_DENSE
            )
        return self

    def copy(self) -> TrainingWeights:
        """An independent copy."""
        return TrainingWeights.from_arrays(self.to_arrays())

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, for a file from which training goes on bit for bit."""
        arrays: dict[str, NDArray[Any]] = {
            "rows": self._rows,
            "arena": self._arena[: self._store.get_used()],
            "transitions": self.transitions,
            "transition_sums": self.transition_sums,
            "transition_gains": self.transition_gains,
            "second_order": np.array([self.second_order]),
            "clock": np.array([self.clock]),
        }
        if self._pair_store is not None:
            arrays["pair_rows"] = self._pair_rows
            arrays["pair_arena"] = self._pair_arena[: self._pair_store.get_used()]
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> TrainingWeights:
        """The weights that `to_arrays` gave."""
        n_labels = len(arrays["transitions"])
        n_pairs = len(arrays["pair_rows"]) if "pair_rows" in arrays else None
        self = cls(n_labels, len(arrays["rows"]), n_pairs, bool(arrays["second_order"][0]))
        width = padded(n_labels)
        self.transitions = arrays["transitions"].copy()
        self.transition_sums = arrays["transition_sums"].copy()
        self.transition_gains = arrays["transition_gains"].copy()
        self.clock = float(arrays["clock"][0])
        self._arena, self._rows = arrays["arena"].copy(), arrays["rows"].copy()
        self._store = self._new_store(
            self._arena, self._rows, len(self._arena), width, dense_at(n_labels)
        )
        if n_pairs is not None:
            self._pair_arena, self._pair_rows = (
                arrays["pair_arena"].copy(),
                arrays["pair_rows"].copy(),
            )
            self._pair_store = self._new_store(
                self._pair_arena,
                self._pair_rows,
                len(self._pair_arena),
                n_labels * width,
                _NEVER_DENSE,
            )
        return self

    @staticmethod
    def validate(arrays: dict[str, NDArray[Any]]) -> None:
        """Raise a SeqpaError unless `from_arrays` can trust these: the kernel checks no index."""
        K = len(arrays["transitions"])
        width = padded(K)
        for name in ("transitions", "transition_sums", "transition_gains"):
            if arrays[name].shape != (K, width) or arrays[name].dtype != np.float32:
                raise SeqpaError(f"damaged model: {name} are not {K} × {width} float32 numbers")
        if arrays["clock"].shape != (1,) or arrays["second_order"].shape != (1,):
            raise SeqpaError("damaged model: the clock is not one number")
        stride = SECOND_ORDER_STRIDE if arrays["second_order"][0] else TRAINING_STRIDE
        check_rows(arrays["rows"], arrays["arena"], K, width, "emission", stride)
        if "pair_rows" in arrays:
            pairs = K * width
            check_rows(arrays["pair_rows"], arrays["pair_arena"], pairs, 0, "pair", stride)
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise SeqpaError("damaged model: a weight is not a finite number")


def check_labels(n_labels: int, n_pair_features: int | None) -> None:
    """Raise a SeqpaError where the kernel cannot number all labels, or their pairs."""
    if n_labels > MAX_LABELS:
        raise SeqpaError(f"{n_labels} labels are too many: a chain can have {MAX_LABELS}")
    if n_pair_features is not None and n_labels * padded(n_labels) > _MAX_PAIRS:
        raise SeqpaError(
            f"{n_labels} labels are too many for features on label pairs: leave out the templates "
            f"that begin with 'pair:'"
        )


def _first_room(n_rows: int) -> int:
    """How many numbers the first store of so many rows may hold; more than most models need."""
    return min(max(2**16, 32 * n_rows), 2**25)


def _fresh(n: int) -> NDArray[np.float32]:
    """Zeros in pages of their own, which go back to the system as soon as the array goes: what
    lies on the common heap often stays with the process when a store has grown."""
    return np.frombuffer(mmap.mmap(-1, 4 * n), np.float32)


def _empty(n_rows: int) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    return _fresh(_first_room(n_rows)), np.zeros((n_rows, 2), np.int32)


def _frozen(
    store: Store, n_rows: int, T: float, n_labels: int, width: int, dense: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    rows = np.zeros((n_rows, 2), np.int32)
    empty = Store(np.zeros(0, np.float32), rows, 0, TAGGING_STRIDE, width, dense)
    arena = np.zeros(store.freeze(T, n_labels, dense, empty), np.float32)
    if len(arena):
        store.freeze(
            T,
            n_labels,
            dense,
            Store(arena, rows, 0, TAGGING_STRIDE, width, dense),
        )
    return rows, arena
