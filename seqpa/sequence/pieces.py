"""Encoded sentences, cut apart and put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.sequence.encode import Encoded


def part(encoded: Encoded, run: slice) -> Encoded:
    """The sentences `run` of some, as sentences of their own; views where that is possible.

    >>> two = Encoded(np.array([0, 1, 3]), np.array([0, 2, 3, 5]), np.array([7, 3, 3, 9, 1]))
    >>> one = part(two, slice(1, 2))
    >>> one.starts.tolist(), one.indptr.tolist(), one.features.tolist()
    ([0, 2], [0, 1, 3], [3, 9, 1])
    """
    starts = encoded.starts[run.start : run.stop + 1]
    if len(starts) == len(encoded.starts):
        return encoded
    begin, end = int(starts[0]), int(starts[-1])

    def cut_out(
        indptr: NDArray[np.int64] | None,
        features: NDArray[np.int32] | None,
        values: NDArray[np.float32] | None,
    ) -> tuple[Any, Any, Any]:
        if indptr is None or features is None:
            return None, None, None
        own = indptr[begin : end + 1]
        where = slice(int(own[0]), int(own[-1]))
        return own - own[0], features[where], None if values is None else values[where]

    indptr, features, values = cut_out(encoded.indptr, encoded.features, encoded.values)
    pairs = cut_out(encoded.pair_indptr, encoded.pair_features, encoded.pair_values)
    return Encoded(starts - begin, indptr, features, values, *pairs)


def copied(encoded: Encoded) -> Encoded:
    """All of the sentences, with arrays of their own."""
    pair_indptr, pair_features = encoded.pair_indptr, encoded.pair_features
    return Encoded(
        encoded.starts.copy(),
        encoded.indptr.copy(),
        encoded.features.copy(),
        None if encoded.values is None else encoded.values.copy(),
        None if pair_indptr is None else pair_indptr.copy(),
        None if pair_features is None else pair_features.copy(),
        None if encoded.pair_values is None else encoded.pair_values.copy(),
    )


def taken(encoded: Encoded, which: Sequence[int]) -> Encoded:
    """Some of the sentences, one after another, with arrays of their own.

    >>> three = Encoded(np.array([0, 1, 3, 4]), np.array([0, 2, 3, 5, 6]), np.arange(6))
    >>> some = taken(three, [0, 2])
    >>> some.starts.tolist(), some.indptr.tolist(), some.features.tolist()
    ([0, 1, 2], [0, 2, 3], [0, 1, 5])
    """
    if len(which) == len(encoded.starts) - 1 and list(which) == list(range(len(which))):
        return copied(encoded)
    begins, ends = encoded.starts[:-1][which].tolist(), encoded.starts[1:][which].tolist()

    def parts_of(array: NDArray[Any], begins: Sequence[int], ends: Sequence[int]) -> NDArray[Any]:
        cut = [array[begin:end] for begin, end in zip(begins, ends, strict=True)]
        return np.concatenate([array[:0], *cut])

    def parts(
        indptr: NDArray[np.int64] | None,
        features: NDArray[np.int32] | None,
        values: NDArray[np.float32] | None,
    ) -> tuple[Any, Any, Any]:
        if indptr is None or features is None:
            return None, None, None
        edges = indptr[begins].tolist(), indptr[ends].tolist()
        return (
            np.append(0, np.cumsum(parts_of(np.diff(indptr), begins, ends))),
            parts_of(features, *edges),
            None if values is None else parts_of(values, *edges),
        )

    lengths = np.array(ends, np.int64) - np.array(begins, np.int64)
    return Encoded(
        np.append(0, np.cumsum(lengths)),
        *parts(encoded.indptr, encoded.features, encoded.values),
        *parts(encoded.pair_indptr, encoded.pair_features, encoded.pair_values),
    )


def joined(parts: Sequence[Encoded]) -> Encoded:
    """One after another. Either all have features of label pairs or none.

    >>> one = Encoded(np.array([0, 2]), np.array([0, 1, 3]), np.array([3, 9, 1]))
    >>> joined([one, one]).indptr.tolist()
    [0, 1, 3, 4, 6]
    """

    def stacked(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Offsets, each behind the last of the one before."""
        ends = np.cumsum([0, *(int(array[-1]) for array in arrays)])
        moved = [array[1:] + end for array, end in zip(arrays, ends, strict=False)]
        return np.concatenate([np.zeros(1, np.int64), *moved])

    def valued(
        features: Sequence[NDArray[np.int32]], values: Sequence[NDArray[np.float32] | None]
    ) -> NDArray[np.float32] | None:
        if all(value is None for value in values):
            return None
        return np.concatenate(
            [
                np.ones(len(own), np.float32) if value is None else value
                for own, value in zip(features, values, strict=True)
            ]
        )

    features = [own.features for own in parts]
    pairs = [own.pair_features for own in parts if own.pair_features is not None]
    return Encoded(
        starts=stacked([own.starts for own in parts]),
        indptr=stacked([own.indptr for own in parts]),
        features=np.concatenate(features),
        values=valued(features, [own.values for own in parts]),
        pair_indptr=stacked([own.pair_indptr for own in parts if own.pair_indptr is not None])
        if pairs
        else None,
        pair_features=np.concatenate(pairs) if pairs else None,
        pair_values=valued(pairs, [own.pair_values for own in parts]) if pairs else None,
    )
