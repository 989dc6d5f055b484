"""What weights from a file must satisfy before the kernel, which checks nothing, works with them;
and what a label may be.

Every row lies inside its array and shares no place with another, so that what is made of all rows
is never larger than the array; every label exists; every number is finite and of a size that
training can reach, so that no sum of them comes near the score of what is forbidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.chain import FORBIDDEN
from seqpa._kernel.store import labels_exist
from seqpa._kernel.trainer import LONGEST
from seqpa.errors import SeqpaError
from seqpa.pages import slices

# No step is longer than LONGEST, and few are nearly that long.
LARGEST_WEIGHT = 10 * LONGEST
# A clock counts sentences in a float64, which is exact up to here.
MAX_CLOCK = 2.0**53
# So many rows or weights are checked at a time.
_PIECE = 1 << 17
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def check_label_names(labels: Iterable[str]) -> None:
    r"""Raise a SeqpaError where a label has a control character: it would end a line or a column of
    the output, or be obeyed by the terminal that shows it.

    >>> check_label_names(["B-city", "\x1b[2J"])
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: the label '\x1b[2J' has a control character: name it by text alone
    """
    for label in labels:
        if _CONTROL.search(label):
            raise SeqpaError(f"the label {label!r} has a control character: name it by text alone")


def largest(array: NDArray) -> float:
    """The largest absolute value; NaN where one is not a number.

    >>> largest(np.array([1.5, -4.0])), largest(np.zeros(0))
    (4.0, 0.0)
    """
    found = [max(float(own.max()), -float(own.min())) for own in slices(array)]
    return float(np.max(found, initial=0.0))


def check_weights(arrays: Iterable[NDArray]) -> None:
    """Raise a SeqpaError unless all weights are numbers of a size that can be worked with."""
    for array in arrays:
        if not largest(array) <= LARGEST_WEIGHT:  # nor where it is NaN
            raise SeqpaError(f"damaged model: a weight is no number up to {LARGEST_WEIGHT:g}")


def check_means(weights: NDArray[np.float32], sums: NDArray[np.float64], clock: float) -> None:
    """The same for weights in training, and for their means over time, w - sum/clock."""
    check_weights([weights])
    for begin in range(0, len(weights), _PIECE):
        own = weights[begin : begin + _PIECE]
        means = sums[begin : begin + _PIECE] / max(clock, 1.0)
        check_weights([means, own - means])


def check_transitions(
    transitions: NDArray[np.float32], sums: NDArray[np.float64], clock: float
) -> None:
    """The same for transitions, some of which may be forbidden."""
    check_means(np.where(transitions == np.float32(FORBIDDEN), 0, transitions), sums, clock)


def check_rows(
    rows: NDArray[np.int32],
    arena: NDArray[np.float32],
    n_labels: int,
    width: int,
    name: str,
    spare: bool = False,
    pairs: bool = False,
) -> None:
    """Raise a SeqpaError unless the rows of a `Store` lie apart in its arena and name real labels.

    n_labels  the labels that a row may name: 0 up to this
    width     of a dense row; with `pairs`, where no row may be dense, of a row of label pairs
    spare     a sparse row has a capacity of two or the next power of two, as while training
    pairs     label p · width + y is the pair (p, y) of `n_labels` labels
    """
    if rows.dtype != np.int32 or arena.dtype != np.float32:
        raise SeqpaError(f"damaged model: the {name} arrays have the wrong type")
    if rows.ndim != 2 or rows.shape[1] != 2 or arena.ndim != 1:
        raise SeqpaError(f"damaged model: the {name} arrays have the wrong shape")
    starts, sizes = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
    most = n_labels * n_labels if pairs else n_labels
    if sizes.min(initial=0) < (0 if pairs else -1) or sizes.max(initial=0) > most:
        raise SeqpaError(f"damaged model: a row of {name} weights has a size that no row can have")
    needs = np.where(sizes < 0, width, 2 * (_capacities(sizes) if spare else sizes))
    _check_apart(starts[needs > 0], needs[needs > 0], len(arena), name)
    if not labels_exist(rows, arena, n_labels, width, pairs):
        raise SeqpaError(
            f"damaged model: a row of {name} weights names a label that does not exist"
        )
    if not pairs:
        _check_padding(starts[sizes < 0], arena, n_labels, width, name)


def _capacities(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many entries a row of each size has places for while it is trained."""
    powers = 2 ** np.ceil(np.log2(np.maximum(sizes, 2)))
    return np.where(sizes > 0, powers, 0).astype(np.int64)


def _check_apart(starts: NDArray[np.int64], needs: NDArray[np.int64], end: int, name: str) -> None:
    if len(starts) == 0:
        return
    if starts.min() < 0 or (starts + needs).max() > end:
        raise SeqpaError(f"damaged model: a row of {name} weights lies outside its array")
    if (starts[1:] >= starts[:-1] + needs[:-1]).all():
        return  # in the order of the rows, as a saved model has them
    order = np.argsort(starts)
    starts, needs = starts[order], needs[order]
    if (starts[1:] < starts[:-1] + needs[:-1]).any():
        raise SeqpaError(f"damaged model: two rows of {name} weights overlap")


def _check_padding(
    starts: NDArray[np.int64], arena: NDArray[np.float32], n_labels: int, width: int, name: str
) -> None:
    """What fills a dense row behind its last label weighs nothing."""
    for place in range(n_labels, width):
        if arena[starts + place].any():
            raise SeqpaError(f"damaged model: a row of {name} weights is wider than its labels")
