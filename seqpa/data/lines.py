"""Line arithmetic on arrays: where lines start, how long runs are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings
from seqpa.data.source import Block, Limits

NEWLINE = ord("\n")


def byte_lines(text: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The text's UTF-8 bytes, and where its lines start in them.

    Parameters
    ----------
    text : str
        Lines; the last one may lack its end.

    Returns
    -------
    data : uint8 (bytes,)
    starts : int64 (lines,)
        An empty line starts at its end.

    Examples
    --------
    >>> data, starts = byte_lines("ab\\n\\nc")
    >>> starts.tolist(), bytes(data[starts])
    ([0, 3, 4], b'a\\nc')
    """
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    ends = np.flatnonzero(data == NEWLINE)
    if not text.endswith("\n"):
        ends = np.append(ends, len(data))
    return data, np.append(0, ends[:-1] + 1)


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of some lines: the distinct ones, and which each of all is.

    Attributes
    ----------
    data : uint8 (bytes,)
        The UTF-8 bytes in which the distinct ones stand,
    begins, ends : int32 (distinct,)
        and where.
    numbers : int32 (columns, lines)
        For each column that was asked for the number of its cell on each line.
    """

    data: NDArray[np.uint8]
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]
    numbers: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        data: NDArray[np.uint8],
        lines: NDArray[np.int64],
        separator: str,
        places: Sequence[int],
    ) -> Cells:
        """Find the cells of lines. Other threads can go on while this runs.

        Parameters
        ----------
        data : uint8 (bytes,)
            UTF-8.
        lines : int64 (lines,)
            Where they begin; each has a cell at every place that is asked for.
        separator : str
            What stands between two cells.
        places : sequence of int
            Which cells of a line are asked for, counted from 0; none twice.

        Returns
        -------
        Cells

        Examples
        --------
        >>> data, _ = byte_lines("to TO\\ngo VB\\n\\nto IN\\n")
        >>> Cells.of(data, np.array([0, 6, 13]), " ", [1, 0]).columns({})
        [['TO', 'VB', 'IN'], ['to', 'go', 'to']]
        """
        wanted = np.full(max(places, default=-1) + 1, -1, np.int64)
        wanted[list(places)] = np.arange(len(places))
        most = len(places) * len(lines)
        table = np.zeros(1 << (2 * most).bit_length(), np.int32)
        begins, ends = np.empty((2, most), np.int32)
        numbers = np.empty((len(places), len(lines)), np.int32)
        n = strings.cells(data, lines, ord(separator), wanted, table, begins, ends, numbers)
        return cls(data, begins[:n], ends[:n], numbers)

    def distinct(self, pool: dict[str, str]) -> list[str]:
        """The distinct cells as strings; equal ones become one object through ``pool``."""
        if isinstance(pool, Pool):
            return pool.strings_of(self.data, self.begins, self.ends)
        shared, text = pool.setdefault, self.data.tobytes()
        found = []
        for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True):
            cell = text[begin:end].decode("utf-8", "surrogatepass")
            found.append(shared(cell, cell))
        return found

    def columns(self, pool: dict[str, str]) -> list[list[str]]:
        """A list of strings for each column, made with the help of a ``pool``."""
        known = self.distinct(pool)
        return [strings.picked(known, row) for row in self.numbers]


class Pool(dict[str, str]):
    """Strings of which each is one object; known again also by their bytes.

    Examples
    --------
    >>> pool = Pool()
    >>> data = np.frombuffer(b"go to go", np.uint8)
    >>> begins, ends = np.array([0, 3, 6], np.int32), np.array([2, 5, 8], np.int32)
    >>> pool.strings_of(data, begins, ends), pool
    (['go', 'to', 'go'], {'go': 'go', 'to': 'to'})
    """

    def __init__(self) -> None:
        self._known: list[str] = []
        self._text = np.empty(1 << 12, np.uint8)
        self._starts = np.zeros(1 << 8, np.int64)
        self._table = np.zeros(1 << 9, np.int32)

    def strings_of(
        self, data: NDArray[np.uint8], begins: NDArray[np.int32], ends: NDArray[np.int32]
    ) -> list[str]:
        """The strings that stand in UTF-8 at some places.

        Parameters
        ----------
        data : uint8 (bytes,)
        begins, ends : int32 (strings,)

        Returns
        -------
        list of str
        """
        known, before = self._known, len(self._known)
        self._reserve(before + len(begins), int(ends.sum(dtype=np.int64) - begins.sum()))
        numbers = np.empty(len(begins), np.int32)
        arrays = self._text, self._starts, self._table
        after = strings.find_cells(data, begins, ends, *arrays, before, numbers)
        places = self._starts[before : after + 1].tolist()
        text = self._text[places[0] : places[-1]].tobytes()
        for begin, end in pairwise(places):
            cell = text[begin - places[0] : end - places[0]].decode("utf-8", "surrogatepass")
            known.append(self.setdefault(cell, cell))
        return strings.picked(known, numbers)

    def _reserve(self, size: int, n_bytes: int) -> None:
        """Make space for so many strings in all, and so many bytes more."""
        known = len(self._known)
        n_bytes += int(self._starts[known])
        if n_bytes > len(self._text):
            self._text = np.concatenate([self._text, np.empty(2 * n_bytes, np.uint8)])
        if size >= len(self._starts):
            self._starts = np.concatenate([self._starts, np.empty(2 * size, np.int64)])
        if 2 * size > len(self._table):
            self._table = np.zeros(1 << (4 * size).bit_length(), np.int32)
            strings.index_cells(self._text, self._starts, known, self._table)


def run_lengths(groups: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """How long each run of equal numbers is.

    Parameters
    ----------
    groups : integers
        Equal ones stand together.

    Returns
    -------
    int64 (runs,)

    Examples
    --------
    >>> run_lengths(np.array([0, 0, 3, 4, 4])).tolist()
    [2, 1, 2]
    """
    if not len(groups):
        return np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    return np.diff(starts, append=len(groups)).astype(np.int64)


class DocumentMarks:
    """Numbers the documents of one file, block after block.

    A line may mark the beginning of a document. Where sentences are otherwise divided by one blank
    line, two or more do so too.

    Examples
    --------
    >>> marks = DocumentMarks()
    >>> blank = np.array([False, True, False, True, True, False, True, False])
    >>> marks.of(np.array([0, 2, 5, 7]), blank, np.array([False] * 7 + [True])).tolist()
    [0, 0, 1, 2]
    """

    def __init__(self) -> None:
        self._number = 0
        self._begun = False  # whether a sentence has been read,
        self._divided = False  # one blank line between two of them,
        self._blank = 0  # and how many at the end of the last block

    def of(
        self,
        first_lines: NDArray[np.int64],
        blank: NDArray[np.bool_],
        marks: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """The document of each sentence of the next block.

        Parameters
        ----------
        first_lines : int64 (sentences,)
            The line of each sentence's first token.
        blank : bool (lines,)
            Which lines are blank.
        marks : bool (lines,)
            Which lines begin a document.

        Returns
        -------
        int64 (sentences,)
        """
        lines = np.arange(len(blank))
        last = np.maximum.accumulate(np.where(blank, -1, lines)) if len(blank) else lines
        before = np.concatenate([[-1], last])[first_lines]
        gaps = first_lines - before - 1 + np.where(before < 0, self._blank, 0)
        one = gaps == 1
        if not self._begun and len(gaps):
            one[0], gaps[0] = False, 0  # nothing to be divided from
        divided = np.logical_or.accumulate(np.concatenate([[self._divided], one]))
        steps = (gaps > 1) & divided[:-1]
        numbers = self._number + np.cumsum(marks)[first_lines] + np.cumsum(steps)
        self._begun = self._begun or bool(len(gaps))
        self._divided = bool(divided[-1])
        if len(blank):
            trailing = len(blank) - 1 - int(last[-1])
            self._blank = trailing + (self._blank if trailing == len(blank) else 0)
        self._number += int(np.count_nonzero(marks)) + int(np.count_nonzero(steps))
        return numbers.astype(np.int64)


def check_lengths(
    block: Block,
    lengths: NDArray[np.int64],
    token_at: NDArray[np.int64] | Sequence[int],
    limits: Limits,
) -> None:
    """Refuse a sentence that is longer than any should be, with the line on which it begins.

    Parameters
    ----------
    block : Block
        The text.
    lengths : int64 (sentences,)
        How many tokens each sentence has.
    token_at : (tokens,)
        The line of each token, counted from 0.
    limits : Limits
        How many tokens a sentence may have.

    Examples
    --------
    >>> block = Block("a.conll", 1, "a\\n\\nb\\nc\\n")
    >>> check_lengths(block, np.array([1, 2]), [0, 2, 3], Limits(1))
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: a.conll:3: a sentence of 2 tokens begins here; is a blank line \
missing? (data.max_sentence_tokens is 1)
    """
    if not len(lengths) or lengths.max() <= limits.tokens:
        return
    sentence = int(np.argmax(lengths > limits.tokens))
    raise block.error(
        int(token_at[int(lengths[:sentence].sum())]),
        f"a sentence of {lengths[sentence]:,} tokens begins here; is a blank line missing? "
        f"(data.max_sentence_tokens is {limits.tokens:,})",
    )
