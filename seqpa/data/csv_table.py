"""CSV and TSV with a header: one row a token.

A sentence ends at a blank line, or where the column changes that numbers the sentences (an empty
cell there goes on with the sentence above, as spreadsheets have it). The separator is the comma,
tab, semicolon or bar that the header has most of; the columns are known by their names.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seqpa.data.corpus import Corpus, Extras
from seqpa.data.lines import check_lengths
from seqpa.data.names import SENTENCES, choose_columns, find_column
from seqpa.data.source import Block, Limits, after_last_blank_line
from seqpa.errors import SeqpaError

SEPARATORS = (",", "\t", ";", "|")


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """A block's text, and which of its lines are tokens."""

    block: Block
    token_at: list[int]
    separator: str
    header_at: int | None
    format: str = "csv"

    def line_of(self, token: int) -> int:
        """The source's line of a token, counted from 1."""
        return self.block.first_line + self.token_at[token]

    def render(self, labels: Sequence[str], extras: Extras) -> str:
        """The same lines with the label (and extra values) as further columns."""
        lines = self.block.lines
        if self.header_at is not None:
            names = ["predicted", *extras]
            lines[self.header_at] += self.separator + _row(names, self.separator)
        for i, *values in zip(self.token_at, labels, *extras.values(), strict=True):
            lines[i] += self.separator + _row(values, self.separator)
        newline = self.block.newline
        return "".join(line + newline for line in lines)


class CsvReader:
    """Reads the blocks of one file, in order.

    Parameters
    ----------
    columns : sequence of str or None
        The columns to read, by the header's names; the word alone if None.
    label : str or None
        The label's column; found by its name if None.
    labels : bool
        Whether the labels are read.
    keep_layout : bool
        Whether the corpora keep what a tagged copy needs.
    limits : Limits, optional
        How long a sentence may be.

    Examples
    --------
    >>> from seqpa.data.source import Block
    >>> text = "Sentence #,Word,Tag\\n1,Ada,B-PER\\n,won,O\\n2,Stop,O\\n"
    >>> corpus = CsvReader().parse(Block("a.csv", 1, text), {})
    >>> corpus.X, corpus.y
    ([['Ada', 'won'], ['Stop']], [['B-PER', 'O'], ['O']])
    """

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        label: str | None = None,
        labels: bool = True,
        keep_layout: bool = False,
        limits: Limits | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self._wanted = columns
        self._label = label
        self._labels = labels
        self._keep_layout = keep_layout
        self._header: list[str] = []
        self._separator = ","
        self._inputs: list[tuple[str, int]] = []
        self._label_at: int | None = None
        self._sentence_at: int | None = None

    def cut(self, lines: str) -> int:
        """Where the last whole sentence of the next lines ends."""
        if not self._header:
            first = next((line for line in lines.split("\n") if line.strip()), "")
            if not first:
                return 0
            self._separator, self._header = header_of(first)
            self._sentence_at = find_column(self._header, SENTENCES)
        if self._sentence_at is None:
            return after_last_blank_line(lines)
        # Back to the last row that begins a sentence: whose number is not that of the row above.
        end = len(lines)
        while end:
            start = lines.rfind("\n", 0, end - 1) + 1
            name = self._sentence(lines[start : end - 1])
            if name and start:
                before = lines.rfind("\n", 0, start - 1) + 1
                if self._sentence(lines[before : start - 1]) != name:
                    return start
            end = start
        return 0

    def parse(self, block: Block, pool: dict[str, str]) -> Corpus:
        """The sentences of a block; equal strings become one object through ``pool``."""
        header_at = self._settle(block) if not self._inputs else None
        columns: list[list[str]] = [[] for _ in self._inputs]
        labels: list[str] = []
        lengths: list[int] = []
        token_at: list[int] = []
        current, length = "", 0
        for index, line in enumerate(block.lines):
            if index == header_at:
                continue
            if not line.strip():
                current, length = "", _ended(lengths, length)
                continue
            row = self._cells(block, index, line)
            name = "" if self._sentence_at is None else row[self._sentence_at].strip()
            if name and name != current:
                current, length = name, _ended(lengths, length)
            for column, (what, place) in zip(columns, self._inputs, strict=True):
                if not row[place] and what == self._inputs[0][0]:
                    raise block.error(index, f"the cell of {self._header[place]!r} is empty")
                column.append(pool.setdefault(row[place], row[place]))
            if self._labels:
                assert self._label_at is not None
                label = row[self._label_at]
                if not label:
                    raise block.error(index, "the label is missing: its cell is empty")
                labels.append(pool.setdefault(label, label))
            token_at.append(index)
            length += 1
        _ended(lengths, length)
        check_lengths(block, np.array(lengths, dtype=np.int64), token_at, self._limits)
        layout = None
        if self._keep_layout:
            layout = CsvLayout(block, token_at, self._separator, header_at)
        return Corpus(
            tuple(name for name, _ in self._inputs),
            columns,
            np.array(lengths, dtype=np.int64),
            labels if self._labels else None,
            layout,
        )

    def _settle(self, block: Block) -> int | None:
        for index, line in enumerate(block.lines):
            if not line.strip():
                continue
            self._separator, self._header = header_of(line)
            try:
                self._inputs, self._label_at = choose_columns(
                    self._header, self._wanted, self._label, self._labels
                )
            except SeqpaError as error:
                raise block.error(index, str(error)) from None
            self._sentence_at = find_column(self._header, SENTENCES)
            return index
        return None

    def _cells(self, block: Block, index: int, line: str) -> list[str]:
        try:
            row = _split(line, self._separator)
        except csv.Error:
            raise block.error(index, "a quote is opened and not closed in this line") from None
        if len(row) != len(self._header):
            raise block.error(
                index,
                f"{len(row)} cells where the header has {len(self._header)}: "
                f"{', '.join(self._header)}",
            )
        return row

    def _sentence(self, line: str) -> str:
        assert self._sentence_at is not None
        try:
            row = _split(line, self._separator)
        except csv.Error:
            return ""
        return row[self._sentence_at].strip() if len(row) > self._sentence_at else ""


def header_of(line: str) -> tuple[str, list[str]]:
    """The separator and the names of a header.

    Parameters
    ----------
    line : str
        The first line of a table.

    Returns
    -------
    separator : str
    names : list of str

    Examples
    --------
    >>> header_of("word;pos;tag")
    (';', ['word', 'pos', 'tag'])
    """
    separator = max(SEPARATORS, key=line.count)
    try:
        return separator, [name.strip() for name in _split(line, separator)]
    except csv.Error:
        return separator, line.split(separator)


def render(
    corpus: Corpus,
    labels: Sequence[str],
    extras: Extras,
    separator: str = ",",
    with_header: bool = True,
    first_sentence: int = 1,
) -> str:
    """A table for a corpus of any origin: the sentence's number, the columns, the label.

    Parameters
    ----------
    corpus : Corpus
        The sentences.
    labels : sequence of str
        A label for each token.
    extras : mapping
        Further values for each token, by name.
    separator : str
        Between cells.
    with_header : bool
        Whether the first line names the columns.
    first_sentence : int
        The number of the first sentence.

    Returns
    -------
    str

    Examples
    --------
    >>> print(render(Corpus.from_sentences([["Ada", ","]]), ["B-PER", "O"], {}), end="")
    sentence,word,label
    1,Ada,B-PER
    1,",",O
    """
    numbers = np.repeat(np.arange(len(corpus)) + first_sentence, corpus.lengths).tolist()
    table = zip(map(str, numbers), *corpus.columns, labels, *extras.values(), strict=True)
    lines = [_row(["sentence", *corpus.names, "label", *extras], separator)] if with_header else []
    for row in table:
        if any("\n" in cell or "\r" in cell for cell in row):
            raise SeqpaError(f"a CSV cell cannot hold the line end in {row!r}")
        lines.append(_row(row, separator))
    return "".join(f"{line}\n" for line in lines)


def _ended(lengths: list[int], length: int) -> int:
    """Note the end of a sentence, if there is one; the next has no token yet."""
    if length:
        lengths.append(length)
    return 0


def _split(line: str, separator: str) -> list[str]:
    if '"' not in line:
        return line.split(separator)
    if (
        separator == "\t"
    ):  # where a quote is mostly a token; only those that were doubled are undone
        return [_unquoted(cell) for cell in line.split(separator)]
    return next(csv.reader([line], delimiter=separator, strict=True))


def _unquoted(cell: str) -> str:
    if len(cell) > 2 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', ""):
        return cell[1:-1].replace('""', '"')
    return cell


def _row(cells: Sequence[str], separator: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="").writerow(cells)
    return out.getvalue()
