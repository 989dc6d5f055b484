"""Which text a tagger learned from: marks of its sentences, by which the text is known again.

A tagger is right too often on sentences that it learned from. Whoever learns from its predictions
must know whether it has seen them; see `seqpa.sequence.chained`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError

_MOST = 4096  # marks: some kilobytes in a model file, and a share known to two per cent
_SHORTEST = 5  # shorter sentences are the same in many texts
_ALL = 1 << 32


class SeenText:
    """Marks of the sentences learned from: of all, or of those whose marks are smallest.

    A mark is a checksum, as good as drawn at random; so the smallest ones are a sample that
    depends on the sentences alone, not on their order.

    Parameters
    ----------
    marks : iterable of int
        Those from a file.

    Examples
    --------
    >>> seen = SeenText()
    >>> seen.add("She left the old house . Why ?".split(), [6, 2])
    >>> seen.share("Why ? She left the old house .".split(), [2, 6])
    1.0
    >>> seen.share("She sold the old house .".split(), [6])
    0.0
    """

    def __init__(self, marks: Iterable[int] = ()) -> None:
        self._marks = set(marks)
        self._below = _ALL
        self._shorten(_MOST)

    def __len__(self) -> int:
        return len(self._marks)

    def add(self, words: Sequence[str], lengths: Iterable[int]) -> None:
        """Note sentences.

        Parameters
        ----------
        words : sequence of str
            Of all sentences.
        lengths : iterable of int
            How many of them each sentence has.
        """
        self._marks.update(m for m in _marks(words, lengths) if m < self._below)
        self._shorten(2 * _MOST)

    def share(self, words: Sequence[str], lengths: Iterable[int]) -> float:
        """How much of a text was noted, estimated from its sentences of five words and more.

        Parameters
        ----------
        words : sequence of str
            Of all sentences.
        lengths : iterable of int
            How many of them each sentence has.

        Returns
        -------
        float
            From 0 to 1.
        """
        self._shorten(_MOST)
        asked = [m for m in _marks(words, lengths) if m < self._below]
        return sum(m in self._marks for m in asked) / max(len(asked), 1)

    def to_array(self) -> NDArray[np.uint32]:
        """The marks, smallest first, for a file."""
        self._shorten(_MOST)
        return np.array(sorted(self._marks), np.uint32)

    @classmethod
    def from_array(cls, array: NDArray[np.uint32]) -> SeenText:
        """The marks from a file; a SeqpaError if they are none."""
        if array.dtype != np.uint32 or array.ndim != 1 or len(array) > _MOST:
            raise SeqpaError("is damaged: its marks of the training text are none")
        return cls(array.tolist())

    def _shorten(self, most: int) -> None:
        if len(self._marks) > most or (self._below == _ALL and len(self._marks) >= _MOST == most):
            kept = sorted(self._marks)[:_MOST]
            self._marks, self._below = set(kept), kept[-1] + 1


def _marks(words: Sequence[str], lengths: Iterable[int]) -> Iterable[int]:
    """A checksum of some of the words of each sentence, and of its length."""
    start = 0
    for length in lengths:
        end = start + length
        if length >= _SHORTEST:
            some = words[start : end : length // _SHORTEST]
            text = "\0".join(map(str, some))
            yield zlib.crc32(f"{length} {text}".encode("utf-8", "surrogatepass"))
        start = end
