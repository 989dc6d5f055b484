"""Arrays that are too large for memory, in files without a name.

A file is removed by the system when the process ends, however it ends: where possible it has no
name from the beginning (Linux), or loses it at once (other POSIX systems).
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.pages import FileMap, give_back, slices


class ArrayFile:
    """One array on disk, which grows at its end and is mapped into memory piece by piece.

    Parameters
    ----------
    dtype : numpy type
        Of the numbers.
    folder : str, Path or None
        Where the file lies; None for the system's folder of temporary files.

    Examples
    --------
    >>> numbers = ArrayFile(np.int32)
    >>> numbers.append(np.array([3, 1, 4]))
    >>> numbers.append(np.array([1, 5]))
    >>> len(numbers), numbers.view(2, 4).tolist()
    (5, [4, 1])
    >>> numbers.close()
    """

    def __init__(self, dtype: Any, folder: str | Path | None = None) -> None:
        import tempfile  # brings compressors: what fits into memory can do without

        self._dtype = np.dtype(dtype)
        self._folder = tempfile.gettempdir() if folder is None else str(folder)
        self._length = 0
        try:
            self._file = tempfile.TemporaryFile(buffering=0, dir=self._folder)  # noqa: SIM115
        except OSError as error:
            raise self._unwritable(error) from None

    def __len__(self) -> int:
        return self._length

    def append(self, numbers: NDArray[Any]) -> None:
        """Write numbers behind those that are there.

        Parameters
        ----------
        numbers : array
        """
        numbers = np.ascontiguousarray(numbers, self._dtype).reshape(-1)
        for piece in slices(numbers):
            rest = memoryview(piece.view(np.uint8).data)
            try:
                while len(rest):
                    rest = rest[self._file.write(rest) :]
            except OSError as error:
                raise self._unwritable(error) from None
        self._length += numbers.size

    def view(self, begin: int, end: int) -> NDArray[Any]:
        """Some of the numbers, mapped into memory for as long as somebody holds them.

        Parameters
        ----------
        begin, end : int

        Returns
        -------
        array
            What is written to it stays out of the file.
        """
        if begin == end:
            return np.zeros(0, self._dtype)
        size = self._dtype.itemsize
        place = begin * size // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        mapped = FileMap(
            self._file.fileno(), end * size - place, access=mmap.ACCESS_COPY, offset=place
        )
        return np.frombuffer(mapped, self._dtype, end - begin, begin * size - place)

    def read_ahead(self, begin: int, end: int) -> None:
        """Tell the system that these numbers are wanted soon, where it can be told.

        Parameters
        ----------
        begin, end : int
        """
        if hasattr(os, "posix_fadvise"):
            size = self._dtype.itemsize
            os.posix_fadvise(
                self._file.fileno(), begin * size, (end - begin) * size, os.POSIX_FADV_WILLNEED
            )

    def close(self) -> None:
        """Remove the file; what is mapped stays readable."""
        self._file.close()

    def _unwritable(self, error: OSError) -> SeqpaError:
        no_folder = isinstance(error, (FileNotFoundError, NotADirectoryError, PermissionError))
        remedy = "name a writable folder" if no_folder else "make space, or name another folder"
        return SeqpaError(
            f"{self._folder}: the training text cannot be kept there ({error.strerror}): {remedy} "
            f"(learner.memory_folder)"
        )


def on_disk(array: NDArray[Any], folder: str | Path | None = None) -> NDArray[Any]:
    """An array of one dimension, mapped from a file of its own; its pages are given back.

    Parameters
    ----------
    array : array
        Of no use any more.
    folder : str, Path or None
        As for `ArrayFile`.

    Returns
    -------
    array

    Examples
    --------
    >>> on_disk(np.array([3, 1, 4])).tolist()
    [3, 1, 4]
    """
    file = ArrayFile(array.dtype, folder)
    try:
        file.append(array)
        found = file.view(0, len(file))
    finally:
        file.close()
    give_back(array)
    return found
