"""Line arithmetic on arrays: where lines start, how long runs are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
