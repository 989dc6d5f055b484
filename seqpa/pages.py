"""Arrays in pages of their own: memory that is taken when it is touched, and can be given back.

What lies on the common heap often stays with the process when an array goes; a page of its own goes
back to the system at once, and also before the array goes. So a large array can move to another
place, or into a file, while hardly anything of it is in memory twice.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 20  # bytes that are worked on at a time
_CAN_GIVE_BACK = hasattr(mmap, "MADV_DONTNEED")
_C_LIBRARY = ctypes.CDLL(None) if sys.platform == "linux" else None


class FileMap(mmap.mmap):
    """Pages of a file, which what is written to them does not reach.

    changed : whether anything was written to them, so that they are no longer as in the file
    """

    changed = False


def fresh(n: int, dtype: Any) -> NDArray[Any]:
    """Zeros in pages of their own.

    >>> fresh(3, np.int32).tolist()
    [0, 0, 0]
    """
    size = np.dtype(dtype).itemsize * n
    if size == 0:
        return np.zeros(0, dtype)
    if hasattr(mmap, "MAP_PRIVATE"):  # not shared with processes that are forked later
        pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    else:
        pages = mmap.mmap(-1, size)
    return np.frombuffer(pages, dtype)


def give_back(array: NDArray[Any]) -> None:
    """Let go the pages that lie within an array, which nobody reads any more; nothing where it has
    no pages of its own, or the system cannot do that."""
    pages = _pages_of(array)
    if not (_CAN_GIVE_BACK and isinstance(pages, mmap.mmap) and array.flags.c_contiguous):
        return
    whole = np.frombuffer(pages, np.uint8)
    begin = array.ctypes.data - whole.ctypes.data
    end = begin + array.nbytes
    first = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE
    last = end if end == len(whole) else end // mmap.PAGESIZE * mmap.PAGESIZE
    if last > first:
        pages.madvise(mmap.MADV_DONTNEED, first, last - first)


def give_back_heap() -> None:
    """Let go the pages of the common heap that nothing lies on; nothing where the system's library
    cannot do that. It keeps them for what may come, sometimes a third of what a process has."""
    trim = getattr(_C_LIBRARY, "malloc_trim", None)
    if trim is not None:
        trim(0)


def slices(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """An array piece by piece; where it is mapped from a file, what was read is let go again,
    unless it is no longer as in the file.

    >>> [piece.tolist() for piece in slices(np.arange(3))]
    [[0, 1, 2]]
    """
    n = max(1, PIECE // max(1, array[:1].nbytes))
    pages = _pages_of(array)
    from_file = isinstance(pages, FileMap) and not pages.changed
    for begin in range(0, len(array), n):
        piece = array[begin : begin + n]
        yield piece
        if from_file:
            give_back(piece)


def will_change(array: NDArray[Any]) -> None:
    """Tell that an array is written to from now on: where it is mapped from a file, its pages are
    all that has these changes, so `slices` keeps them."""
    pages = _pages_of(array)
    if isinstance(pages, FileMap):
        pages.changed = True


def move(old: NDArray[Any], new: NDArray[Any]) -> None:
    """Copy an array of one dimension to the beginning of a larger one, and give back its pages.

    >>> new = np.zeros(3)
    >>> move(np.array([1.0, 2.0]), new)
    >>> new.tolist()
    [1.0, 2.0, 0.0]
    """
    n = max(1, PIECE // old.itemsize)
    for begin in range(0, len(old), n):
        piece = old[begin : begin + n]
        new[begin : begin + len(piece)] = piece
        give_back(piece)


def _pages_of(array: NDArray[Any]) -> Any:
    """What an array lies in, where that is no other array."""
    found: Any = array
    while isinstance(found, np.ndarray):
        found = found.base
    return found.obj if isinstance(found, memoryview) else found
