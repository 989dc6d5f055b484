"""The weights of a chain: fixed ones, with which a model tags, and those that are being trained.

Both keep a row of weights for each feature in one flat array, the arena, as the kernel's `Store`
reads it: a row with few labels as pairs (label, weight), one with many as a weight for every label.
The transitions between labels are a matrix.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.chain import FORBIDDEN
from seqpa._kernel.store import Store
from seqpa.errors import SeqpaError
from seqpa.pages import PIECE, fresh, give_back, give_back_heap, move, slices
from seqpa.sequence.budget import Budget
from seqpa.sequence.checks import (
    MAX_CLOCK,
    check_means,
    check_rows,
    check_transitions,
    check_weights,
    largest,
)
from seqpa.sequence.encode import Encoded
from seqpa.sequence.spill import ArrayFile

Float32 = NDArray[np.float32]
Int32 = NDArray[np.int32]
MAX_LABELS = 2**15 - 1  # Viterbi keeps their numbers as int16
_NO_SUMS = np.zeros(0)  # a store for tagging needs none
_NO_GAINS = np.zeros(0, np.float32)
# Pair rows are sparse whatever their size: labels² is too many for a dense row.
_NEVER_DENSE = 2**30
# A sparse entry keeps its label as a float32, which counts exactly up to here.
_MAX_PAIRS = 2**24
# A row's place in the arena is an int32.
_MAX_CAPACITY = 2**31 - 1
# Within a budget: so many numbers are free at the least behind those that are used,
_LEAST_FREE = 2**14
# so many features are frozen at a time, and holes are closed in so many runs through the rows.
_FROZEN = 2**17
_RUNS = 16


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


def check_labels(n_labels: int, n_pair_features: int | None) -> None:
    """Raise a SeqpaError where the kernel cannot number all labels, or their pairs."""
    if n_labels > MAX_LABELS:
        raise SeqpaError(f"{n_labels} labels are too many: a chain can have {MAX_LABELS}")
    if n_pair_features is not None and n_labels * padded(n_labels) > _MAX_PAIRS:
        raise SeqpaError(
            f"{n_labels} labels are too many for features on label pairs: leave out the templates "
            f"that begin with 'pair:'"
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
        check_labels(K, None if self.pair_rows is None else len(self.pair_rows))
        if K < 1 or self.transitions.shape != (K, K):
            raise SeqpaError(f"damaged model: transitions are not {K} × {K}")
        self.check_sizes()
        check_rows(self.rows, self.arena, K, padded(K), "feature")
        if self.pair_rows is not None and self.pair_arena is not None:
            check_rows(self.pair_rows, self.pair_arena, K, padded(K), "pair", pairs=True)

    def check_sizes(self) -> None:
        """Raise a SeqpaError where a weight is larger than any that can be tagged with."""
        arrays = [self.arena, self.transitions]
        check_weights(arrays if self.pair_arena is None else [*arrays, self.pair_arena])

    def stores(self) -> tuple[Store, Store | None]:
        """The kernel's stores over these arrays: single features, and label pairs'."""
        width = padded(self.n_labels)
        pairs = None
        if self.pair_rows is not None and self.pair_arena is not None:
            pairs = tagging_store(self.pair_rows, self.pair_arena, self.n_labels * width)
        return tagging_store(self.rows, self.arena, width), pairs

    def squared_norm(self) -> float:
        """‖w‖², over features, label pairs and transitions."""
        total = float(np.sum(self.transitions.astype(np.float64) ** 2))
        for f in np.flatnonzero(self.nonzero()).tolist():
            total += sum(w * w for w in self.feature_weights(f).values())
        if self.pair_rows is not None:
            for f in np.flatnonzero(self.pair_rows[:, 1]).tolist():
                total += sum(w * w for w in self.pair_feature_weights(f).values())
        return total

    def let_go(self) -> None:
        """Where the weights lie on disk: let go what was read of them."""
        for array in (self.rows, self.arena, self.pair_rows, self.pair_arena):
            if array is not None:
                for _ in slices(array):
                    pass

    def nonzero(self) -> NDArray[np.bool_]:
        """Which features have any weight."""
        found, at = np.empty(len(self.rows), np.bool_), 0
        for rows in slices(self.rows):
            np.not_equal(rows[:, 1], 0, out=found[at : at + len(rows)])
            at += len(rows)
        return found

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


def tagging_store(
    rows: Int32, arena: Float32, width: int, used: int | None = None, dense: int = 0
) -> Store:
    """The kernel's store over rows that no longer change; `used` floats of its arena, else all."""
    return Store(
        arena=arena,
        sums=_NO_SUMS,
        gains=_NO_GAINS,
        rows=rows,
        used=len(arena) if used is None else used,
        width=width,
        dense_at=dense,
    )


def _row_weights(rows: Int32, arena: Float32, feature: int, n_labels: int) -> dict[int, float]:
    start, size = rows[feature].tolist()
    if size < 0:
        row = arena[start : start + n_labels].tolist()
        return {k: weight for k, weight in enumerate(row) if weight}
    entries = arena[start : start + 2 * size].tolist()
    return dict(zip(map(int, entries[::2]), entries[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class TrainingStore:
    """The arrays of a `Store` while it is trained, and the store over them.

    `row_buffer` holds `rows` and spare ones behind them, so that new features seldom move the old.
    The store may know the beginning of the other arrays alone.
    """

    rows: NDArray[np.int32]
    arena: NDArray[np.float32]
    sums: NDArray[np.float64]
    gains: NDArray[np.float32]
    row_buffer: NDArray[np.int32]
    width: int
    dense: int
    most: int
    store: Store

    @classmethod
    def over(
        cls,
        row_buffer: NDArray[np.int32],
        n_rows: int,
        arena: NDArray[np.float32],
        sums: NDArray[np.float64],
        gains: NDArray[np.float32],
        used: int,
        width: int,
        dense: int,
        most: int | None = None,
    ) -> TrainingStore:
        """Over these very arrays, the first rows of the buffer, `most` numbers or all."""
        rows = row_buffer[:n_rows]
        most = len(arena) if most is None else most
        store = Store(
            arena=arena[:most],
            sums=sums[:most],
            gains=gains[:most],
            rows=rows,
            used=used,
            width=width,
            dense_at=dense,
        )
        return cls(rows, arena, sums, gains, row_buffer, width, dense, most, store)

    @classmethod
    def empty(
        cls, n_rows: int, width: int, dense: int, second_order: bool, capacity: int | None = None
    ) -> TrainingStore:
        """So many empty rows, in arrays for so many numbers."""
        capacity = _first_capacity(n_rows) if capacity is None else capacity
        arena, sums = fresh(capacity, np.float32), fresh(capacity, np.float64)
        gains = fresh(capacity, np.float32) if second_order else _NO_GAINS
        return cls.over(
            np.zeros((n_rows, 2), np.int32), n_rows, arena, sums, gains, 0, width, dense
        )

    def resized(self, n_rows: int, width: int, dense: int) -> TrainingStore:
        """The same arrays with more rows, for rows as wide as before."""
        buffer = self.row_buffer
        if n_rows > len(buffer):
            buffer = np.zeros((max(n_rows, 2 * len(buffer)), 2), np.int32)
            buffer[: len(self.rows)] = self.rows
        arrays = self.arena, self.sums, self.gains
        used = self.store.get_used()
        return self.over(buffer, n_rows, *arrays, used, width, dense, self.most)

    @property
    def free(self) -> int:
        """How many numbers more the store may use."""
        return self.most - self.store.get_used()

    def limited(self, most: float) -> TrainingStore:
        """The same arrays, of which the store may use so many numbers, and what it uses now."""
        used = self.store.get_used()
        may_use = min(max(int(most), used), len(self.arena))
        arrays = self.arena, self.sums, self.gains
        return self.over(
            self.row_buffer, len(self.rows), *arrays, used, self.width, self.dense, may_use
        )

    def enlarged(self, capacity: int, second_order: bool) -> TrainingStore:
        """The weights in arrays for so many numbers, in the same places; what the old arrays held
        is given back meanwhile.

        A system that promises no more memory than it has may refuse such arrays: then they are as
        large as it allows, or the old ones.
        """
        used, rows = self.store.get_used(), (self.row_buffer, len(self.rows))
        while capacity > len(self.arena):
            try:
                arena, sums = fresh(capacity, np.float32), fresh(capacity, np.float64)
                gains = fresh(capacity, np.float32) if second_order else _NO_GAINS
                break
            except OSError:
                capacity //= 2
        else:
            return self
        move(self.arena[:used], arena)
        move(self.sums[:used], sums)
        if second_order:
            move(self.gains[:used], gains)
        return self.over(*rows, arena, sums, gains, used, self.width, self.dense)

    def close_holes(self) -> None:
        """Move all rows to the beginning of the arrays, in place; give back what gets free."""
        used = self.store.get_used()
        starts, sizes = self.rows[:, 0], self.rows[:, 1]
        at, run = 0, used // _RUNS + 1
        for begin in range(0, used, run):
            here = (starts >= begin) & (starts < begin + run)
            found = np.flatnonzero(here & (sizes != 0))
            at = self.store.close_holes(found[np.argsort(starts[found], kind="stable")], at)
        for own in (self.arena, self.sums, self.gains):
            own[at:used] = 0
            give_back(own[at:used])
        self.store.set_used(at)

    @classmethod
    def copied(
        cls, store: Store, n_rows: int, width: int, dense: int, second_order: bool
    ) -> TrainingStore:
        """The weights of a store, in arrays three times as large.

        Pages that nobody has touched cost nothing, and a store that seldom moves is seldom in
        memory twice.
        """
        capacity = store.live_size(width)
        capacity += max(2 * capacity, 4 * width, _first_capacity(n_rows))
        if capacity > _MAX_CAPACITY:
            raise SeqpaError(
                f"the weights need {capacity:,} numbers, and a model holds at most "
                f"{_MAX_CAPACITY:,}: raise the cutoff, or use fewer templates"
            )
        new = cls.empty(n_rows, width, dense, second_order, capacity)
        store.copy_into(new.store)
        return new

    def frozen(
        self, T: float, n_labels: int, width: int, features: Int32 | None
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Rows and arena for tagging: the weights, or their means over T sentences; of all
        features, or a row for each of these."""
        rows: NDArray[np.int32]
        if features is None:
            rows = np.zeros_like(self.rows)
            arena = np.zeros(self.store.get_used(), np.float32)
            new = tagging_store(rows, arena, width, used=0)
            used = self.store.freeze(T, n_labels, new)
        else:
            rows = np.zeros((len(features), 2), np.int32)
            arena = np.zeros(self.store.size_of_rows(features), np.float32)
            new = tagging_store(rows, arena, width, used=0)
            used = self.store.freeze_rows(features, T, n_labels, new)
        del new
        arena.resize(used, refcheck=False)  # in place: pages behind it were never touched
        return rows, arena

    def frozen_on_disk(
        self, T: float, n_labels: int, width: int, folder: str | Path | None
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """`frozen` of all features, mapped from files without a name in a folder."""
        n = len(self.rows)
        all_rows, all_weights = ArrayFile(np.int32, folder), ArrayFile(np.float32, folder)
        try:
            for begin in range(0, n, _FROZEN):
                features = np.arange(begin, min(begin + _FROZEN, n), dtype=np.int32)
                rows, arena = self.frozen(T, n_labels, width, features)
                rows[:, 0] += len(all_weights)
                all_rows.append(rows)
                all_weights.append(arena)
            return all_rows.view(0, 2 * n).reshape(-1, 2), all_weights.view(0, len(all_weights))
        finally:
            all_rows.close()
            all_weights.close()

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
        rows = arrays[f"{prefix}rows"].copy()
        arena, sums, gains = (
            _copied(arrays[f"{prefix}{name}"]) for name in ("arena", "sums", "gains")
        )
        return cls.over(rows, len(rows), arena, sums, gains, len(arena), width, dense)

    @staticmethod
    def validate(
        arrays: dict[str, NDArray[Any]], prefix: str, n_labels: int, second_order: bool
    ) -> None:
        """Raise a SeqpaError unless `from_arrays` can trust these."""
        rows, arena, sums, gains = (
            arrays[f"{prefix}{each}"] for each in ("rows", "arena", "sums", "gains")
        )
        name, pairs = ("pair", True) if prefix else ("feature", False)
        check_rows(rows, arena, n_labels, padded(n_labels), name, spare=True, pairs=pairs)
        for array, size, dtype in (
            (sums, len(arena), np.float64),
            (gains, len(arena) if second_order else 0, np.float32),
        ):
            if array.shape != (size,) or array.dtype != dtype:
                raise SeqpaError(f"damaged model: the {name} sums do not fit their weights")
        check_means(arena, sums, float(arrays["clock"][0]))
        _check_gains(gains)


class TrainingWeights:
    """Emission, pair and transition weights with their averaging sums, and the clock.

    More features and labels come with `resized`, which gives new weights and leaves these as they
    are; `grow` gives a full store more memory. Nothing is forgotten.

    Within a budget (`within`) the weights have all pages that they may ever touch from the
    beginning, and are never in memory twice: `allow` says how far they may grow now, `grow` closes
    the holes between rows before it refuses, and frozen weights lie on disk.
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
        self.budget: Budget | None = None
        self.clock_array = np.zeros(1)  # which the kernel moves on
        width = padded(n_labels)
        self.transitions = np.zeros((n_labels, width), np.float32)
        self.transition_sums = np.zeros((n_labels, width))
        self.transition_gains = np.zeros((n_labels, width), np.float32)
        self._single = TrainingStore.empty(n_features, width, dense_at(n_labels), second_order)
        self._pairs: TrainingStore | None = None
        if n_pair_features is not None:
            self._pairs = TrainingStore.empty(
                n_pair_features, n_labels * width, _NEVER_DENSE, second_order
            )

    @property
    def clock(self) -> float:
        """How many sentences have been seen."""
        return float(self.clock_array[0])

    @clock.setter
    def clock(self, value: float) -> None:
        self.clock_array[0] = value

    @property
    def n_features(self) -> int:
        """How many features have a row, be it empty."""
        return len(self._single.rows)

    @property
    def n_pair_features(self) -> int | None:
        """How many features of label pairs have a row; None where there are none of the kind."""
        return len(self._pairs.rows) if self._pairs else None

    @property
    def nbytes(self) -> int:
        """About how many bytes the weights take, without what is free for more."""
        each = self._bytes_each
        return sum(each * own.store.get_used() + own.rows.nbytes for own in self._both().values())

    @property
    def _bytes_each(self) -> int:
        return 16 if self.second_order else 12

    def _both(self) -> dict[str, TrainingStore]:
        """The stores by the names of their attributes."""
        return {
            name: own
            for name, own in (("_single", self._single), ("_pairs", self._pairs))
            if own is not None
        }

    def stores(self) -> tuple[Store, Store | None]:
        """The kernel's stores over these very arrays: single features, and label pairs'."""
        return self._single.store, self._pairs.store if self._pairs else None

    def grow(self) -> tuple[Store, Store | None]:
        """Give full stores three times of what they hold, without holes; the new ones."""
        if self.budget is not None:
            self._take_more(self.budget)
        else:
            self._move(self.n_labels, self.n_features, self.n_pair_features or 0)
        return self.stores()

    def within(self, budget: Budget) -> None:
        """Stay within a budget from now on."""
        self.budget = budget
        capacity = min(int(budget.limit) // self._bytes_each, _MAX_CAPACITY)
        for name, own in self._both().items():
            setattr(self, name, own.enlarged(capacity, self.second_order))
        self.allow()

    def allow(self) -> None:
        """Let the weights grow by what the budget has left now."""
        if self.budget is None:
            return
        stores = self._both()
        if not self.budget.has_room(0):
            for own in stores.values():
                own.close_holes()
        more = self.budget.room() / self._bytes_each / len(stores)
        for name, own in stores.items():
            setattr(self, name, own.limited(own.store.get_used() + more))

    def _take_more(self, budget: Budget) -> None:
        self.allow()
        if all(map(_is_roomy, self._both().values())):
            return
        give_back_heap()
        for own in self._both().values():
            own.close_holes()
        self.allow()
        for name, own in self._both().items():
            if _is_roomy(own):
                continue
            least = _least_free(own)
            if own.most < len(own.arena):
                budget.refuse(self._bytes_each * least, "the weights")
            # Where there were no arrays for all that the budget has.
            budget.check(self._bytes_each * least, "the weights")
            capacity = min(len(own.arena) * 5 // 4 + least, _MAX_CAPACITY)
            larger = own.enlarged(capacity, self.second_order)
            if not _is_roomy(larger):
                raise SeqpaError(
                    f"the system has no memory for {least} weights more: end other programs, "
                    f"or leave out rare features (a higher cutoff, fewer templates)"
                )
            setattr(self, name, larger)

    def resized(
        self, n_labels: int, n_features: int, n_pair_features: int | None
    ) -> TrainingWeights:
        """Weights with rows for new labels and features; old ones keep their numbers and weights.

        Nothing here changes, so that an interrupt leaves whole weights behind: but the two share
        their arrays, and only one of them may be trained.
        """
        check_labels(n_labels, n_pair_features)
        old_width, width = padded(self.n_labels), padded(n_labels)
        new = copy.copy(self)
        if width == old_width:
            new._single = self._single.resized(n_features, width, dense_at(n_labels))
            if self._pairs is not None:
                new._pairs = self._pairs.resized(
                    n_pair_features or 0, n_labels * width, _NEVER_DENSE
                )
        else:
            new._move(n_labels, n_features, n_pair_features or 0)
            if new._pairs is not None:
                new._pairs.store.relabel(old_width, width)
        if n_labels != self.n_labels:
            for name in ("transitions", "transition_sums", "transition_gains"):
                old = getattr(self, name)
                larger = np.zeros((n_labels, width), old.dtype)
                larger[: self.n_labels, : self.n_labels] = old[:, : self.n_labels]
                setattr(new, name, larger)
        new.n_labels = n_labels
        return new

    def _move(self, n_labels: int, n_features: int, n_pair_features: int) -> None:
        width = padded(n_labels)
        single = TrainingStore.copied(
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
        self._single = single

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
        before = self.transitions[where].astype(np.float64)
        self.transitions[where] += amounts[first:last]
        self.transition_sums[where] += clock * (self.transitions[where] - before)
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
            self.grow()

    def freeze(self, average: bool) -> FrozenWeights:
        """The weights for tagging: the last ones, or their mean over all sentences seen."""
        return self._frozen(average, None, None)

    def freeze_for(self, encoded: Encoded, average: bool) -> tuple[Encoded, FrozenWeights]:
        """The same for the features of some sentences alone, which costs what the sentences cost.

        Returns the sentences with features numbered by their occurrences, and a row for each.
        """
        pairs = encoded.pair_features
        numbered = replace(
            encoded,
            features=np.arange(len(encoded.features), dtype=np.int32),
            pair_features=None if pairs is None else np.arange(len(pairs), dtype=np.int32),
        )
        return numbered, self._frozen(average, encoded.features, pairs)

    def fade(self, share: float) -> None:
        """Let every weight vector of the past count a share of what it did in the mean.

        The mean is w − sums/T: with both scaled it stays as it is, and stands for share · T
        sentences from now on.
        """
        self.clock_array *= share
        self.transition_sums *= share
        for own in (self._single, self._pairs):
            if own is not None:
                own.sums[: own.store.get_used()] *= share

    def averaged_over(self, average: bool) -> float:
        """The T of the means w − sum/T, 0 for the last weights."""
        return self.clock if average else 0.0

    def _frozen(
        self, average: bool, features: Int32 | None, pair_features: Int32 | None
    ) -> FrozenWeights:
        K = self.n_labels
        T = self.averaged_over(average)
        rows, arena = self._frozen_store(self._single, T, K, padded(K), features)
        transitions = self.transitions[:, :K].astype(np.float64)
        if T > 0:
            transitions -= self.transition_sums[:, :K] / T
        transitions[self.transitions[:, :K] <= FORBIDDEN / 2] = 0.0
        pair_rows = pair_arena = None
        if self._pairs is not None:
            width = K * padded(K)
            pair_rows, pair_arena = self._frozen_store(self._pairs, T, width, width, pair_features)
        return FrozenWeights(K, rows, arena, transitions.astype(np.float32), pair_rows, pair_arena)

    def _frozen_store(
        self, store: TrainingStore, T: float, n_labels: int, width: int, features: Int32 | None
    ) -> tuple[Int32, Float32]:
        if self.budget is None or features is not None:
            return store.frozen(T, n_labels, width, features)
        return store.frozen_on_disk(T, n_labels, width, self.budget.folder)

    @classmethod
    def thawed(cls, frozen: FrozenWeights, second_order: bool = False) -> TrainingWeights:
        """Start again from fixed weights: a warm start, with empty averaging sums."""
        K, width = frozen.n_labels, padded(frozen.n_labels)
        self = cls(K, 0, None, second_order)
        self.transitions[:, :K] = frozen.transitions

        def thaw(
            rows: NDArray[np.int32], arena: NDArray[np.float32], width: int, dense: int
        ) -> TrainingStore:
            store = tagging_store(rows, arena, width, dense=dense)
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
            "clock": self.clock_array,
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
        self.clock_array = arrays["clock"].copy()
        self._single = TrainingStore.from_arrays(arrays, "", width, dense_at(K))
        if "pair_rows" in arrays:
            self._pairs = TrainingStore.from_arrays(arrays, "pair_", K * width, _NEVER_DENSE)
        return self

    @staticmethod
    def validate(arrays: dict[str, NDArray[Any]]) -> None:
        """Raise a SeqpaError unless `from_arrays` can trust these: the kernel checks no index."""
        K = len(arrays["transitions"])
        check_labels(K, len(arrays["pair_rows"]) if "pair_rows" in arrays else None)
        width = padded(K)
        for name, dtype in (
            ("transitions", np.float32),
            ("transition_sums", np.float64),
            ("transition_gains", np.float32),
        ):
            if K < 1 or arrays[name].shape != (K, width) or arrays[name].dtype != dtype:
                raise SeqpaError(
                    f"damaged model: {name} are not {K} × {width} numbers of {np.dtype(dtype)}"
                )
        clock, second_order = arrays["clock"], arrays["second_order"]
        if clock.shape != (1,) or clock.dtype != np.float64 or not 0 <= clock[0] <= MAX_CLOCK:
            raise SeqpaError("damaged model: the clock is no number of sentences")
        if second_order.shape != (1,) or second_order.dtype != np.bool_:
            raise SeqpaError("damaged model: whether it is of second order is not told")
        check_transitions(arrays["transitions"], arrays["transition_sums"], float(clock[0]))
        _check_gains(arrays["transition_gains"])
        for prefix in ("", "pair_") if "pair_rows" in arrays else ("",):
            TrainingStore.validate(arrays, prefix, K, bool(second_order[0]))


def _check_gains(gains: NDArray[np.float32]) -> None:
    """AROW divides by 1 + gain."""
    if not largest(gains) < np.inf or gains.min(initial=0.0) < 0:
        raise SeqpaError("damaged model: a gain in precision is not a number from 0 on")


def _first_capacity(n_rows: int) -> int:
    """How many numbers the first store of so many rows may hold; more than most models need."""
    return min(max(2**16, 32 * n_rows), 2**25)


def _least_free(store: TrainingStore) -> int:
    """How many numbers a store is given at least: enough for any row, and so many that growing does
    not become what it is busy with."""
    return max(_LEAST_FREE, 4 * store.width, store.store.get_used() // 64)


def _is_roomy(store: TrainingStore) -> bool:
    return store.free >= _least_free(store)


def _copied(array: NDArray[Any]) -> NDArray[Any]:
    """A copy, in pages of its own if it is large."""
    if array.nbytes < PIECE:
        return array.copy()
    made = fresh(len(array), array.dtype)
    made[:] = array
    return made
