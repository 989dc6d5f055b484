"""The weights while they are trained: arrays that the kernel fills and this class grows."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.chain import FORBIDDEN, Chain
from seqpa._kernel.store import Store
from seqpa.errors import SeqpaError
from seqpa.sequence.constraints import Penalties
from seqpa.sequence.decoder import (
    MAX_LABELS,
    NO_SUMS,
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


@dataclass(frozen=True, slots=True)
class TrainingStore:
    """The arrays of a `Store` while it is trained, and the store over them."""

    rows: NDArray[np.int32]
    arena: NDArray[np.float32]
    sums: NDArray[np.float32]
    gains: NDArray[np.float32]
    store: Store

    @classmethod
    def over(
        cls,
        rows: NDArray[np.int32],
        arena: NDArray[np.float32],
        sums: NDArray[np.float32],
        gains: NDArray[np.float32],
        used: int,
        width: int,
        dense: int,
    ) -> TrainingStore:
        """Over these very arrays."""
        return cls(rows, arena, sums, gains, Store(arena, sums, gains, rows, used, width, dense))

    @classmethod
    def empty(
        cls, n_rows: int, width: int, dense: int, second_order: bool, room: int | None = None
    ) -> TrainingStore:
        """Of so many empty rows, with room for so many numbers."""
        room = _first_room(n_rows) if room is None else room
        gains = _fresh(room) if second_order else NO_SUMS
        rows = np.zeros((n_rows, 2), np.int32)
        return cls.over(rows, _fresh(room), _fresh(room), gains, 0, width, dense)

    @classmethod
    def copied(
        cls, store: Store, n_rows: int, width: int, dense: int, second_order: bool
    ) -> TrainingStore:
        """With the weights of a store, and room for three times as many: pages that nobody has
        touched cost nothing, and a store that seldom moves is seldom there twice."""
        room = store.live_size(width)
        room += max(2 * room, 4 * width, _first_room(n_rows))
        if room > _MAX_ROOM:
            raise SeqpaError(
                f"the weights need {room:,} numbers, more than the {_MAX_ROOM:,} that a model can "
                f"hold: raise the cutoff, or use fewer templates"
            )
        new = cls.empty(n_rows, width, dense, second_order, room)
        store.copy_into(new.store)
        return new

    def frozen(
        self, T: float, n_labels: int, width: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Rows and arena for tagging: the weights, or their means over T sentences."""
        rows = np.zeros_like(self.rows)
        arena = np.zeros(self.store.get_used(), np.float32)
        new = Store(arena, NO_SUMS, NO_SUMS, rows, 0, width, 0)
        used = self.store.freeze(T, n_labels, new)
        del new
        arena.resize(used, refcheck=False)  # in place: pages behind it were never touched
        return rows, arena

    def to_arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """What `from_arrays` needs, by names with this prefix."""
        used = self.store.get_used()
        arrays: dict[str, NDArray[Any]] = {f"{prefix}rows": self.rows}
        for name in ("arena", "sums", "gains"):
            arrays[f"{prefix}{name}"] = getattr(self, name)[:used]
        return arrays

    @classmethod
    def from_arrays(
        cls, arrays: dict[str, NDArray[Any]], prefix: str, width: int, dense: int
    ) -> TrainingStore:
        """The inverse of `to_arrays`, with copies."""
        rows, arena, sums, gains = (
            arrays[f"{prefix}{name}"].copy() for name in ("rows", "arena", "sums", "gains")
        )
        return cls.over(rows, arena, sums, gains, len(arena), width, dense)

    @staticmethod
    def validate(
        arrays: dict[str, NDArray[Any]],
        prefix: str,
        n_labels: int,
        width: int,
        name: str,
        second_order: bool,
    ) -> None:
        """Raise a SeqpaError unless `from_arrays` can trust these."""
        rows, arena, sums, gains = (
            arrays[f"{prefix}{each}"] for each in ("rows", "arena", "sums", "gains")
        )
        check_rows(rows, arena, n_labels, width, name, spare=True)
        for array, size in ((sums, len(arena)), (gains, len(arena) if second_order else 0)):
            if array.shape != (size,) or array.dtype != np.float32:
                raise SeqpaError(f"damaged model: the {name} sums do not fit their weights")


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
        self.clock = 0.0
        width = padded(n_labels)
        self.transitions = np.zeros((n_labels, width), np.float32)
        self.transition_sums = np.zeros((n_labels, width), np.float32)
        self.transition_gains = np.zeros((n_labels, width), np.float32)
        self._single = TrainingStore.empty(n_features, width, dense_at(n_labels), second_order)
        self._pairs: TrainingStore | None = None
        if n_pair_features is not None:
            self._pairs = TrainingStore.empty(
                n_pair_features, n_labels * width, _NEVER_DENSE, second_order
            )

    @property
    def n_features(self) -> int:
        """How many features have a row, be it empty."""
        return len(self._single.rows)

    @property
    def n_pair_features(self) -> int:
        """How many features of label pairs have a row."""
        return len(self._pairs.rows) if self._pairs else 0

    def _stores(self) -> tuple[Store, Store | None]:
        return self._single.store, self._pairs.store if self._pairs else None

    def chain(self, rules: Penalties) -> Chain:
        """The kernel's chain over these very arrays, its forbidden transitions marked."""
        weights = self.transitions[:, : self.n_labels]
        weights[weights <= FORBIDDEN / 2] = 0.0  # forbidden before, perhaps by other rules
        weights[rules.pairs < 0] = FORBIDDEN
        return kernel_chain(*self._stores(), self.transitions, rules)

    def grow(self, chain: Chain) -> None:
        """Give a full store three times of what it holds, without its holes."""
        self._move(self.n_labels, self.n_features, self.n_pair_features)
        chain.replace_stores(*self._stores())

    def resize(self, n_labels: int, n_features: int, n_pair_features: int | None) -> None:
        """Make room for new labels and features; old ones keep their numbers and weights."""
        old_width = padded(self.n_labels)
        width = padded(n_labels)
        check_labels(n_labels, n_pair_features)
        if width != old_width and self._pairs is not None:
            self._pairs.store.relabel(old_width, width)
        self._move(n_labels, n_features, n_pair_features or 0)
        for name in ("transitions", "transition_sums", "transition_gains"):
            old = getattr(self, name)
            new = np.zeros((n_labels, width), np.float32)
            new[: self.n_labels, : self.n_labels] = old[:, : self.n_labels]
            setattr(self, name, new)
        self.n_labels = n_labels

    def _move(self, n_labels: int, n_features: int, n_pair_features: int) -> None:
        width = padded(n_labels)
        self._single = TrainingStore.copied(
            self._single.store, n_features, width, dense_at(n_labels), self.second_order
        )
        if self._pairs is not None:
            self._pairs = TrainingStore.copied(
                self._pairs.store,
                n_pair_features,
                n_labels * width,
                _NEVER_DENSE,
                self.second_order,
            )

    def gather(self, transitions: int, pairs: int, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weights of sorted keys, as `seqpa.sequence.batches.Keys` numbers them."""
        K, width = self.n_labels, padded(self.n_labels)
        first, last = np.searchsorted(keys, [transitions, pairs])
        out = np.zeros(len(keys))
        self._single.store.gather(*divmod(keys[:first], K), out[:first])
        out[first:last] = self.transitions[divmod(keys[first:last] - transitions, K)]
        if self._pairs is not None:
            features, pair = divmod(keys[last:] - pairs, K * K)
            self._pairs.store.gather(features, pair // K * width + pair % K, out[last:])
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
        self._scatter("_single", *divmod(keys[:first], K), amounts[:first], clock)
        if self._pairs is not None:
            features, pair = divmod(keys[last:] - pairs, K * K)
            pair = pair // K * width + pair % K
            self._scatter("_pairs", features, pair, amounts[last:], clock)

    def _scatter(
        self,
        table: str,
        features: NDArray[np.int64],
        labels: NDArray[np.int64],
        amounts: NDArray[np.float64],
        clock: float,
    ) -> None:
        done = 0
        while True:
            done = getattr(self, table).store.scatter(features, labels, amounts, clock, done)
            if done == len(features):
                return
            self._move(self.n_labels, self.n_features, self.n_pair_features)

    def freeze(self, average: bool) -> FrozenWeights:
        """The weights for tagging: the last ones, or their mean over all sentences seen."""
        K = self.n_labels
        T = self.clock if average else 0.0
        rows, arena = self._single.frozen(T, K, padded(K))
        transitions = self.transitions[:, :K].astype(np.float64)
        if T > 0:
            transitions -= self.transition_sums[:, :K] / T
        transitions[self.transitions[:, :K] <= FORBIDDEN / 2] = 0.0
        pairs = K * padded(K)
        pair_rows, pair_arena = self._pairs.frozen(T, pairs, pairs) if self._pairs else (None, None)
        return FrozenWeights(K, rows, arena, transitions.astype(np.float32), pair_rows, pair_arena)

    @classmethod
    def thawed(cls, frozen: FrozenWeights, second_order: bool = False) -> TrainingWeights:
        """Start again from fixed weights: a warm start, with empty averaging sums."""
        K, width = frozen.n_labels, padded(frozen.n_labels)
        self = cls(K, 0, None, second_order)
        self.transitions[:, :K] = frozen.transitions

        def thaw(
            rows: NDArray[np.int32], arena: NDArray[np.float32], width: int, dense: int
        ) -> TrainingStore:
            store = Store(arena, NO_SUMS, NO_SUMS, rows, len(arena), width, dense)
            return TrainingStore.copied(store, len(rows), width, dense, second_order)

        self._single = thaw(frozen.rows, frozen.arena, width, dense_at(K))
        if frozen.pair_rows is not None and frozen.pair_arena is not None:
            self._pairs = thaw(frozen.pair_rows, frozen.pair_arena, K * width, _NEVER_DENSE)
        return self

    def copy(self) -> TrainingWeights:
        """An independent copy."""
        return TrainingWeights.from_arrays(self.to_arrays())

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, for a file from which training goes on bit for bit."""
        arrays: dict[str, NDArray[Any]] = {
            **self._single.to_arrays(""),
            "transitions": self.transitions,
            "transition_sums": self.transition_sums,
            "transition_gains": self.transition_gains,
            "second_order": np.array([self.second_order]),
            "clock": np.array([self.clock]),
        }
        if self._pairs is not None:
            arrays |= self._pairs.to_arrays("pair_")
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> TrainingWeights:
        """The weights that `to_arrays` gave."""
        K = len(arrays["transitions"])
        width = padded(K)
        self = cls(K, 0, None, bool(arrays["second_order"][0]))
        self.transitions = arrays["transitions"].copy()
        self.transition_sums = arrays["transition_sums"].copy()
        self.transition_gains = arrays["transition_gains"].copy()
        self.clock = float(arrays["clock"][0])
        self._single = TrainingStore.from_arrays(arrays, "", width, dense_at(K))
        if "pair_rows" in arrays:
            self._pairs = TrainingStore.from_arrays(arrays, "pair_", K * width, _NEVER_DENSE)
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
        second_order = bool(arrays["second_order"][0])
        TrainingStore.validate(arrays, "", K, width, "emission", second_order)
        if "pair_rows" in arrays:
            TrainingStore.validate(arrays, "pair_", K * width, 0, "pair", second_order)
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
    if hasattr(mmap, "MAP_PRIVATE"):  # not shared with processes that are forked later
        pages = mmap.mmap(-1, 4 * n, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    else:
        pages = mmap.mmap(-1, 4 * n)
    return np.frombuffer(pages, np.float32)
