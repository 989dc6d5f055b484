"""CoNLL columns: a token on each line, cells between tabs or spaces, blank lines between sentences.

What is not a token:
- a blank line, or one of spaces only; it ends the sentence;
- ``-DOCSTART-`` lines, which end a sentence too, and begin a document (so do ``# newdoc`` and
  CoNLL-2012's ``#begin document``, and several blank lines where one stands between sentences);
- comments: ``# ...`` lines (and CoNLL-2012's ``#begin document``, ``#end document``) that do not
  have the configured number of cells, and in space-separated files ``# key = value``, ``# newdoc``
  and ``# newpar`` lines. So the token ``#`` survives, with the cells beside it.

The file's first token line settles whether tabs or runs of spaces separate the cells. Between
tabs a cell may contain spaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from seqpa.data.columns import Columns
from seqpa.data.corpus import Corpus, Extras
from seqpa.data.lines import (
    NEWLINE,
    Cells,
    DocumentMarks,
    byte_lines,
    check_lengths,
    run_lengths,
)
from seqpa.data.source import Block, Limits, after_last_blank_line
from seqpa.errors import SeqpaError

_COMMENT = re.compile(r"# |#(begin|end) document\b")
# A comment also where it has as many cells as a token.
_SURE_COMMENT = re.compile(r"# (\S+ = |new(doc|par)\b)|#(begin|end) document\b")
_DOCSTART = re.compile(r"-DOCSTART-(?=[ \t]|$)")
_BEGIN = re.compile(r"#begin document\b|# *newdoc\b")
_SPACES = re.compile(r"[ \t]+")
_OTHER_SPACING = ("  ", "\t", "\n ", " \n")
_LOOK_AT = np.zeros(256, dtype=bool)
_LOOK_AT[[ord(sign) for sign in "# \t"]] = True


@dataclass(frozen=True, slots=True)
class LineLayout:
    """A block's text, and which of its lines are tokens."""

    block: Block
    token_at: NDArray[np.int64]
    separator: str
    format: str = "conll"

    def line_of(self, token: int) -> int:
        """The source's line of a token, counted from 1."""
        return self.block.first_line + int(self.token_at[token])

    def render(self, labels: Sequence[str], extras: Extras) -> str:
        """The same lines, each token's followed by its label and extra values."""
        lines = self.block.lines
        for column in (labels, *extras.values()):
            _refuse(column, " \t\n\r" if self.separator == " " else "\t\n\r")
            for i, value in zip(self.token_at.tolist(), column, strict=True):
                lines[i] += self.separator + value
        end = self.block.newline
        return end.join(lines) + end


@dataclass(frozen=True, slots=True)
class LineShape:
    """What the lines of a file look like.

    Attributes
    ----------
    separator : str
        A tab or a space.
    names : tuple of str
        What the cells of a line are.
    most_tokens : int
        So many a sentence has at the most.
    """

    separator: str
    names: tuple[str, ...]
    most_tokens: int


@dataclass(frozen=True, slots=True)
class _Tokens:
    """The tokens of a block.

    Attributes
    ----------
    token_at : int64 (tokens,)
        The line of each token.
    lengths : int64 (sentences,)
        How many tokens each sentence has.
    blank, marks : bool (lines,)
        Which lines are blank, and which begin a document.
    cells : Cells or None
        Those of the columns that are read; None where there is no token.
    """

    token_at: NDArray[np.int64]
    lengths: NDArray[np.int64]
    blank: NDArray[np.bool_]
    marks: NDArray[np.bool_]
    cells: Cells | None


class ConllReader:
    """Reads the blocks of one file, in order.

    Parameters
    ----------
    columns : Columns
        What the cells of a line are.
    labels : bool
        Whether the labels are read.
    keep_layout : bool
        Whether the corpora keep what a tagged copy needs.
    limits : Limits, optional
        How long a sentence may be.

    Examples
    --------
    >>> from seqpa.data.source import Block
    >>> reader = ConllReader(Columns(("word", "_", "label"), "label"))
    >>> block = Block("a.conll", 1, "# a comment, not a token\\nAda NNP B-PER\\n# # O\\n")
    >>> corpus = reader.parse(block, {})
    >>> corpus.X, corpus.y
    ([['Ada', '#']], [['B-PER', 'O']])
    """

    def __init__(
        self,
        columns: Columns,
        labels: bool = True,
        keep_layout: bool = False,
        limits: Limits | None = None,
    ) -> None:
        self._columns = columns
        self._labels = labels
        self._keep_layout = keep_layout
        self._limits = limits or Limits()
        self._begun = False
        self._widths = columns.widths(labels)
        self._separator = ""
        self._width = 0
        self._documents = DocumentMarks()

    def cut(self, lines: str) -> int:
        """Where the last whole sentence of some lines ends.

        Nothing is cut before the first line that is a token for certain: what it looks like settles
        what the lines above it are, and that must not depend on when they arrive.

        Parameters
        ----------
        lines : str
            Whole lines, the next ones of the file.

        Returns
        -------
        int
        """
        self._begun = self._begun or any(
            _is_plain(line) for line in lines.split("\n") if line.strip(" \t")
        )
        return after_last_blank_line(lines) if self._begun else 0

    def shape(self, block: Block) -> LineShape | None:
        """What the lines of a block look like; None where no token has been seen.

        Parameters
        ----------
        block : Block
            The next one of the file, or an earlier one.

        Returns
        -------
        LineShape or None

        Examples
        --------
        >>> from seqpa.data.source import Block
        >>> reader = ConllReader(Columns(("word", "_", "label"), "label"), labels=False)
        >>> reader.shape(Block("a.conll", 1, "Ada\\tNNP\\n"))
        LineShape(separator='\\t', names=('word', '_'), most_tokens=100000)
        """
        if not self._width:
            self._settle(block)
        if not self._width:
            return None
        columns = self._columns
        full = self._width == len(columns.all)
        names = tuple(name for name in columns.all if full or name != columns.label)
        return LineShape(self._separator, names, self._limits.tokens)

    def parse(self, block: Block, pool: dict[str, str]) -> Corpus:
        """The sentences of a block; equal strings become one object through ``pool``."""
        if not self._width:
            self._settle(block)
        found = self._tokens(block)
        check_lengths(block, found.lengths, found.token_at, self._limits)
        token_at, lengths = found.token_at, found.lengths
        first = token_at[np.cumsum(lengths) - lengths]
        documents = self._documents.of(first, found.blank, found.marks)
        columns: list[list[str]] = [[] for _ in self._columns.names]
        labels: list[str] | None = [] if self._labels else None
        if found.cells is not None:
            cut = found.cells.columns(pool)
            columns = cut[: len(columns)]
            labels = cut[len(columns)] if self._labels else None
        if labels and "" in labels:
            at = int(token_at[labels.index("")])
            raise block.error(at, "the label is missing: its cell is empty")
        layout = None
        if self._keep_layout:
            width = self._width or len(self._columns.all)
            layout = LineLayout(block, token_at, "\t" if width == 1 else self._separator)
        return Corpus(self._columns.names, columns, lengths, labels, layout, documents=documents)

    def _places(self) -> list[int]:
        """Which cells of a line are read: the input columns, and behind them the label."""
        places = list(self._columns.inputs(self._width == len(self._columns.all)))
        if self._labels:
            assert self._columns.label_at is not None
            places.append(self._columns.label_at)
        return places

    def _settle(self, block: Block) -> None:
        """Find the separator and the number of cells from the first line that is a token."""
        hashes = []
        for index, line in enumerate(block.lines):
            if not line.strip(" \t"):
                continue
            if not _is_plain(line):
                if _COMMENT.match(line):
                    hashes.append(line)
                continue
            self._separator = "\t" if "\t" in line else " "
            width = len(_split(line, self._separator))
            if width not in self._widths:
                raise block.error(index, self._wrong_width(width))
            self._width = width
            return
        for line in hashes:  # nothing but lines that may be comments: a token fits exactly
            separator = "\t" if "\t" in line else " "
            width = len(_split(line, separator))
            if width in self._widths and not (separator == " " and _SURE_COMMENT.match(line)):
                self._separator, self._width = separator, width
                return

    def _tokens(self, block: Block) -> _Tokens:
        """Which lines are tokens, the sentences' lengths, the tokens' cells, and what divides
        documents.

        The work per line is done on the bytes, all lines at once: only lines that begin with one
        of a few signs are looked at one by one.
        """
        text = block.text
        data, starts = byte_lines(text)
        first = data[starts]
        is_token = first != NEWLINE
        is_end = ~is_token
        blank, marks = is_end.copy(), np.zeros(len(first), bool)
        look_at = _LOOK_AT[first]
        if "-DOCSTART-" in text:
            look_at |= first == ord("-")
        lines: list[str] = []
        for i in np.flatnonzero(look_at).tolist():
            lines = lines or block.lines
            if not lines[i].strip(" \t") or _DOCSTART.match(lines[i]):
                is_token[i] = False
                is_end[i] = True
                marks[i] = lines[i].startswith("-")
                blank[i] = not marks[i]
            elif _COMMENT.match(lines[i]) and self._is_comment(lines[i]):
                is_token[i] = False
                marks[i] = bool(_BEGIN.match(lines[i]))
        token_at = np.flatnonzero(is_token)
        lengths = run_lengths(np.cumsum(is_end, dtype=np.int32)[token_at])
        if not len(token_at):
            return _Tokens(token_at, lengths, blank, marks, None)
        begins = starts[token_at]
        if self._separator == " " and (
            text[0] == " " or text[-1] == " " or any(odd in text for odd in _OTHER_SPACING)
        ):
            lines = lines or block.lines
            body = "\n".join(
                _SPACES.sub(" ", line.strip(" \t")) for line in compress(lines, is_token.tolist())
            )
            counts = np.fromiter((line.count(" ") for line in body.split("\n")), dtype=np.int32)
            data, begins = byte_lines(body)
        else:
            is_separator = data == ord(self._separator)
            counts = np.add.reduceat(is_separator, starts, dtype=np.int32)[token_at]
        wrong = np.flatnonzero(counts != self._width - 1)
        if len(wrong):
            raise block.error(int(token_at[wrong[0]]), self._wrong_width(int(counts[wrong[0]]) + 1))
        cells = Cells.of(data, begins, self._separator, self._places())
        return _Tokens(token_at, lengths, blank, marks, cells)

    def _is_comment(self, line: str) -> bool:
        if self._separator == " " and _SURE_COMMENT.match(line):
            return True
        return len(_split(line, self._separator or " ")) != self._width

    def _wrong_width(self, width: int) -> str:
        listed = ", ".join(self._columns.all)
        kind = "tab" if self._separator == "\t" else "space"
        found = f"{width} {kind}-separated {'column' if width == 1 else 'columns'}"
        if self._width and self._width != len(self._columns.all):
            return f"{found} where the lines above have {self._width} ({listed}, without the label)"
        if len(self._widths) == 2:
            return f"{found} where {self._widths[0]} ({listed}) or one less (no label) are right"
        return f"{found} where {self._widths[0]} are configured: {listed}"


def render(corpus: Corpus, labels: Sequence[str], extras: Extras, document: int = 0) -> str:
    """Tab-separated columns for a corpus of any origin, the label (and extra values) last.

    A document begins at a line -DOCSTART-.

    Parameters
    ----------
    corpus : Corpus
        The sentences.
    labels : sequence of str
        A label for each token.
    extras : mapping
        Further values for each token, by name.
    document : int
        That of the sentence before: see `Corpus.begins`.

    Returns
    -------
    str

    Examples
    --------
    >>> render(Corpus.from_sentences([["Ada", "won"]]), ["B-PER", "O"], {})
    'Ada\\tB-PER\\nwon\\tO\\n\\n'
    """
    known = [] if corpus.labels is None else [[label or "_" for label in corpus.labels]]
    table = [*corpus.columns, *known, labels, *extras.values()]
    for column in table:
        _refuse(column, "\t\n\r\0")
    if any(_DOCSTART.match(word) for word in set(corpus.columns[0])):
        raise SeqpaError("a CoNLL token cannot be -DOCSTART-: it would be read as a boundary")
    rows = ["\t".join(row) for row in zip(*table, strict=True)]
    others = ["-X-"] * (len(corpus.columns) - 1)
    start = "\t".join(["-DOCSTART-", *others, *("O" for _ in known), "O", *("_" for _ in extras)])
    return "".join(
        f"{start}\n\n" * begins + "\n".join(sentence) + "\n\n"
        for sentence, begins in zip(corpus.split(rows), corpus.begins(document), strict=True)
    )


def _is_plain(line: str) -> bool:
    """Whether a line that is not blank is a token, and cannot be a comment or a boundary."""
    return not _COMMENT.match(line) and not _DOCSTART.match(line)


def _split(line: str, separator: str) -> list[str]:
    if separator == "\t":
        return line.split("\t")
    return _SPACES.split(line.strip(" \t"))


def _refuse(column: Sequence[str], signs: str) -> None:
    for cell in set(column):
        if any(sign in cell for sign in signs):
            raise SeqpaError(f"a CoNLL cell cannot hold the tab, space or line end in {cell!r}")
