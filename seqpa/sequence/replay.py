"""A reservoir of earlier sentences, from which some are learned again, against forgetting.

Of all sentences so far each is in the reservoir with the same probability, however many there were
(Vitter's algorithm R). They are kept encoded: the numbers of features and labels never change.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.sequence.encode import Encoded
from seqpa.sequence.learner import LARGEST
from seqpa.sequence.pieces import copied, joined, taken

CAPACITY = 1000
_MOST = 10**6
# The arrays of an `Encoded`, with their types.
_FIELDS = {
    "starts": np.int64,
    "indptr": np.int64,
    "features": np.int32,
    "values": np.float32,
    "pair_indptr": np.int64,
    "pair_features": np.int32,
    "pair_values": np.float32,
}


class Kept(NamedTuple):
    """A sentence of the reservoir: encoded, its labels (−1: not given), and its weight."""

    encoded: Encoded
    gold: NDArray[np.int32]
    weight: float


class _Several(NamedTuple):
    """Sentences that came together."""

    encoded: Encoded
    gold: NDArray[np.int32]
    weights: list[float]

    def one(self, i: int) -> Kept:
        """One of them, with arrays of its own: a view would keep all others in memory."""
        begin, end = self.encoded.starts[i : i + 2].tolist()
        return Kept(taken(self.encoded, [i]), self.gold[begin:end].copy(), self.weights[i])


class Reservoir:
    """A bounded sample of all sentences so far.

    Parameters
    ----------
    rng : numpy.random.Generator
        Decides what is kept, and what is drawn.
    capacity : int
        How many sentences are kept at most.

    Examples
    --------
    >>> reservoir = Reservoir(np.random.default_rng(0), capacity=2)
    >>> one = Encoded(np.array([0, 1]), np.array([0, 1]), np.array([7], np.int32))
    >>> for label in range(5):
    ...     reservoir.add(one, np.array([label], np.int32), np.zeros(0))
    >>> len(reservoir), reservoir.seen
    (2, 5)
    """

    def __init__(self, rng: np.random.Generator, capacity: int = CAPACITY) -> None:
        self.rng = rng
        self.capacity = capacity
        self.seen = 0
        # A sentence that came with many others is cut out when it is drawn.
        self._kept: list[Kept | tuple[_Several, int]] = []

    @classmethod
    def beside(cls, rng: np.random.Generator) -> Reservoir:
        """An empty one whose generator follows from another, which does not move."""
        return cls(np.random.default_rng(int(copy.deepcopy(rng).integers(2**63))))

    def __len__(self) -> int:
        return len(self._kept)

    def add(
        self, encoded: Encoded, gold: NDArray[np.int32], importance: NDArray[np.float64]
    ) -> None:
        """Offer sentences, with their labels and weights (empty: all weigh one). Those of no
        tokens or no weight are passed over."""
        sizes = np.diff(encoded.starts).tolist()
        weights = importance.tolist() if len(importance) else [1.0] * len(sizes)
        offered = [i for i, size in enumerate(sizes) if size and weights[i]]
        slots = self._slots(len(offered))
        # What a later one of the same call replaces is not cut out at all.
        last = dict(zip(slots, offered, strict=True))
        self.seen += len(offered)
        kept = sorted(slot for slot in last if slot < self.capacity)
        if not kept:
            return
        if len(sizes) == 1:  # online
            self._kept[kept[0] : kept[0] + 1] = [Kept(copied(encoded), gold.copy(), weights[0])]
            return
        which = [last[slot] for slot in kept]
        several = _Several(
            taken(encoded, which),
            np.concatenate([gold[encoded.starts[i] : encoded.starts[i + 1]] for i in which]),
            [weights[i] for i in which],
        )
        for number, slot in enumerate(kept):
            self._kept[slot : slot + 1] = [(several, number)]

    def _one(self, slot: int) -> Kept:
        """The sentence of a slot."""
        found = self._kept[slot]
        if not isinstance(found, Kept):
            several, number = found
            found = self._kept[slot] = several.one(number)
        return found

    def _all(self) -> list[Kept]:
        return [self._one(slot) for slot in range(len(self._kept))]

    def _slots(self, n: int) -> list[int]:
        """Where the next n sentences go; from `capacity` on, nowhere."""
        if n == 1:  # online, arrays would take longer
            at = self.seen
            return [at if at < self.capacity else int(self.rng.integers(at + 1))]
        slots = np.arange(self.seen, self.seen + n)
        drawn = slots >= self.capacity
        if drawn.any():
            slots[drawn] = self.rng.integers(0, slots[drawn] + 1)
        return slots.tolist()

    def unlabel(self, label: int) -> None:
        """Tokens that are kept with this label are not labelled any more."""
        self._kept = [
            one._replace(gold=np.where(one.gold == label, np.int32(-1), one.gold))
            for one in self._all()
        ]

    def draw(self, k: int) -> list[Kept]:
        """k different sentences at random; all, if there are no more."""
        if k == 0 or not self._kept:
            return []
        n = len(self._kept)
        return [self._one(int(i)) for i in self.rng.choice(n, min(k, n), replace=False)]

    # For the training state's file

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """All sentences; the generator, `seen` and `capacity` are saved apart."""
        if not self._kept:
            return {}
        encoded, gold, weights = together(self._all())
        arrays = {name: getattr(encoded, name) for name in _FIELDS}
        arrays |= {"gold": gold, "weights": weights}
        return {name: array for name, array in arrays.items() if array is not None}

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        rng: np.random.Generator,
        seen: int,
        capacity: int,
        sizes: tuple[int, int, int | None],
    ) -> Reservoir:
        """The inverse, with every index checked: the kernel checks none.

        sizes : how many labels, features and features of label pairs there are
        """
        made = cls(rng, capacity)
        made.seen = seen
        if not 1 <= capacity <= _MOST or seen < 0:
            raise _damaged("its size is impossible")
        if arrays:
            encoded, gold, weights = _checked(arrays, *sizes)
            several = _Several(encoded, gold, weights.tolist())
            made._kept = [(several, number) for number in range(len(weights))]
        if len(made) > min(capacity, seen):
            raise _damaged("it holds more sentences than there were")
        return made


def together(
    kept: Sequence[Kept],
) -> tuple[Encoded, NDArray[np.int32], NDArray[np.float64]]:
    """Some sentences one after another: encoded, their labels, their weights."""
    return (
        joined([own.encoded for own in kept]),
        np.concatenate([own.gold for own in kept]),
        np.array([own.weight for own in kept]),
    )


def _damaged(what: str) -> SeqpaError:
    return SeqpaError(f"is damaged: the reservoir of earlier sentences: {what}")


def _checked(
    arrays: Mapping[str, NDArray[Any]], n_labels: int, n_features: int, n_pairs: int | None
) -> tuple[Encoded, NDArray[np.int32], NDArray[np.float64]]:
    for name, dtype in {**_FIELDS, "gold": np.int32, "weights": np.float64}.items():
        optional = name in ("values", "pair_values") or (name in _FIELDS and "pair" in name)
        if name not in arrays and not optional:
            raise _damaged(f"{name} is missing")
        if name in arrays and (arrays[name].dtype != dtype or arrays[name].ndim != 1):
            raise _damaged(f"{name} is of another type")
    encoded = Encoded(*(arrays.get(name) for name in _FIELDS))  # type: ignore[arg-type]
    gold, weights = arrays["gold"], arrays["weights"]
    _check_offsets(encoded.starts, len(weights) + 1, len(gold))
    _check_offsets(encoded.indptr, len(gold) + 1, len(encoded.features))
    _check_range(encoded.features, 0, n_features)
    _check_range(gold, -1, n_labels)
    _check_values(encoded.values, len(encoded.features))
    if (encoded.pair_indptr is None) != (n_pairs is None) or (encoded.pair_features is None) != (
        n_pairs is None
    ):
        raise _damaged("features of label pairs are missing, or there should be none")
    if n_pairs is not None and encoded.pair_indptr is not None:
        pair_features = arrays["pair_features"]
        _check_offsets(encoded.pair_indptr, len(gold) + 1, len(pair_features))
        _check_range(pair_features, 0, n_pairs)
        _check_values(encoded.pair_values, len(pair_features))
    if not ((weights > 0).all() and (weights <= LARGEST).all()):
        raise _damaged("a weight is not a positive number")
    return encoded, gold, weights


def _check_offsets(offsets: NDArray[np.int64], count: int, end: int) -> None:
    if (
        len(offsets) != count
        or offsets[0] != 0
        or offsets[-1] != end
        or (np.diff(offsets) < 0).any()
    ):
        raise _damaged("its parts do not fit together")


def _check_range(numbers: NDArray[np.int32], least: int, end: int) -> None:
    if numbers.min(initial=least) < least or numbers.max(initial=-1) >= end:
        raise _damaged("it names what is not there")


def _check_values(values: NDArray[np.float32] | None, n: int) -> None:
    if values is not None and not (len(values) == n and np.isfinite(values).all()):
        raise _damaged("feature values are wrong")
