"""CoNLL-U: ten tab-separated fields for a token, ``#`` comments, multiword ranges and empty nodes.

Ranges (``3-4``) and empty nodes (``5.1``) are not tokens to tag: they are skipped on reading and
stand unchanged in the tagged copy. The label is UPOS, XPOS, FEATS, or UPOS and FEATS together
(``upos+feats``: ``NOUN|Case=Acc|Number=Sing``; just ``NOUN`` where FEATS is ``_``).
Documents begin at ``# newdoc`` comments.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.strings import picked
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
from seqpa.errors import SeqpaError, SeqpaWarning

FIELDS = ("id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
UPOS, FEATS, MISC = FIELDS.index("upos"), FIELDS.index("feats"), FIELDS.index("misc")
LABELS = {
    "upos": ("upos",),
    "xpos": ("xpos",),
    "feats": ("feats",),
    "upos+feats": ("upos", "feats"),
}
_NEWDOC = re.compile(r"# *newdoc\b")
_NOT_A_TOKEN = re.compile(r"[0-9]+(-[0-9]+|\.[0-9]+)$")
_TAB = ord("\t")


@dataclass(frozen=True, slots=True)
class ConlluLayout:
    """A block's text, and which of its lines are tokens."""

    block: Block
    token_at: NDArray[np.int64]
    label: str
    format: str = "conllu"

    def line_of(self, token: int) -> int:
        """The source's line of a token, counted from 1."""
        return self.block.first_line + int(self.token_at[token])

    def render(self, labels: Sequence[str], extras: Extras) -> str:
        """The same lines with the labels in their field and extra values in MISC."""
        lines = self.block.lines
        values = list(zip(*extras.values(), strict=True)) or [()] * len(labels)
        for i, label, value in zip(self.token_at.tolist(), labels, values, strict=True):
            cells = lines[i].split("\t")
            _fill(cells, self.label, label, extras, value)
            lines[i] = "\t".join(cells)
        end = self.block.newline
        return end.join(lines) + end


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a block.

    Attributes
    ----------
    row_at : int64 (rows,)
        The lines that have fields: tokens, ranges, empty nodes.
    is_end, marks : bool (lines,)
        Which lines are blank, and which begin a document.
    cells : Cells
        The IDs and the fields that are read.
    """

    row_at: NDArray[np.int64]
    is_end: NDArray[np.bool_]
    marks: NDArray[np.bool_]
    cells: Cells


class ConlluReader:
    """Reads the blocks of one file.

    Parameters
    ----------
    columns : sequence of str
        The fields to read, by name; ``word`` is FORM.
    label : str
        The field to learn; see `LABELS`.
    labels : bool
        Whether the labels are read.
    keep_layout : bool
        Whether the corpora keep what a tagged copy needs.
    limits : Limits, optional
        How long a sentence may be.
    strict : bool
        Whether a token without a label is an error; else its label is None.

    Examples
    --------
    >>> from seqpa.data.source import Block
    >>> rows = ["1-2\\tim\\t" + "\\t".join("_" * 8), "1\\tin\\tin\\tADP\\t" + "\\t".join("_" * 6)]
    >>> ConlluReader(("word", "lemma")).parse(Block("a.conllu", 1, "\\n".join(rows)), {})
    <Corpus: 1 sentence, 1 token, columns word, lemma, 1 label: in/in>
    """

    cut = staticmethod(after_last_blank_line)

    def __init__(
        self,
        columns: Sequence[str] = ("word",),
        label: str = "upos",
        labels: bool = True,
        keep_layout: bool = False,
        limits: Limits | None = None,
        strict: bool = False,
    ) -> None:
        self.names = checked_names(columns, label)
        self._read = (*self.names, *(LABELS[label] if labels else ()))
        self._limits = limits or Limits()
        self._label = label
        self._labels = labels
        self._keep_layout = keep_layout
        self._documents = DocumentMarks()
        self._strict = strict
        self._tokens_read = 0
        self._blank = 0
        self._first_blank = ""

    def _found(self, block: Block) -> _Rows:
        """The rows of a block and their cells."""
        data, starts = byte_lines(block.text)
        first = data[starts]
        is_row = (first != NEWLINE) & (first != ord("#"))
        is_end = first == NEWLINE
        lines: list[str] = []
        for i in np.flatnonzero((first == ord(" ")) | (first == _TAB)).tolist():
            lines = lines or block.lines
            if not lines[i].strip(" \t"):
                is_row[i] = False
                is_end[i] = True
        row_at = np.flatnonzero(is_row)
        fields = np.add.reduceat(data == _TAB, starts, dtype=np.int32)[row_at] + 1
        if (fields != len(FIELDS)).any():
            wrong = int(np.flatnonzero(fields != len(FIELDS))[0])
            raise block.error(
                int(row_at[wrong]),
                f"{fields[wrong]} tab-separated fields where CoNLL-U has {len(FIELDS)}",
            )
        marks = np.zeros(len(first), bool)
        if "newdoc" in block.text:
            lines = lines or block.lines
            for i in np.flatnonzero(first == ord("#")).tolist():
                marks[i] = bool(_NEWDOC.match(lines[i]))
        places = [0, *(FIELDS.index(name) for name in self._read)]
        return _Rows(row_at, is_end, marks, Cells.of(data, starts[row_at], "\t", places))

    def parse(self, block: Block, pool: dict[str, str]) -> Corpus:
        """The sentences of a block; equal strings become one object through ``pool``."""
        found = self._found(block)
        known = found.cells.distinct(pool)
        ids, *numbers = found.cells.numbers
        is_token = self._tokens(block, known, ids, found.row_at)
        token_at = found.row_at[is_token]
        lengths = run_lengths(np.cumsum(found.is_end, dtype=np.int32)[token_at])
        check_lengths(block, lengths, token_at, self._limits)
        first = token_at[np.cumsum(lengths) - lengths]
        documents = self._documents.of(first, found.is_end, found.marks)
        if not is_token.all():
            numbers = [own[is_token] for own in numbers]
        table = {name: picked(known, own) for name, own in zip(self._read, numbers, strict=True)}
        labels = None
        if self._labels:
            if self._label == "upos+feats":
                table[self._label] = _joined_labels(known, numbers[-2], numbers[-1], pool)
            labels = self._label_column(table, block, token_at)
            self._tokens_read += len(labels)
        return Corpus(
            self.names,
            [table[name] for name in self.names],
            lengths,
            labels,
            ConlluLayout(block, token_at, self._label) if self._keep_layout else None,
            documents=documents,
        )

    def _tokens(
        self, block: Block, known: list[str], ids: NDArray[np.int32], row_at: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Which rows are tokens, by the numbers of their IDs among the known cells."""
        there = np.zeros(len(known), bool)
        there[ids] = True
        other = [k for k in np.flatnonzero(there).tolist() if not _is_number(known[k])]
        is_other = np.zeros(len(known), bool)
        is_other[other] = True
        is_token = ~is_other[ids]
        wrong = [k for k in other if not _NOT_A_TOKEN.match(known[k])]
        if wrong:
            at = int(np.flatnonzero(np.isin(ids, wrong))[0])
            raise block.error(
                int(row_at[at]),
                f"the ID {known[ids[at]]!r} is no number, range (3-4) or empty node (5.1)",
            )
        return is_token

    def _label_column(
        self, table: dict[str, list[str]], block: Block, token_at: NDArray[np.int64]
    ) -> list[str]:
        labels, needed = table[self._label], table[LABELS[self._label][0]]
        # FEATS may well be empty; a part of speech that is not there is a gap in the data.
        gaps = {"_", ""} & set(needed)
        if self._label == "feats" or not gaps:
            return labels
        if self._strict or not self._first_blank:
            first = min(needed.index(gap) for gap in gaps)
            field = LABELS[self._label][0].upper()
            message = f"the label is missing: {field} is {needed[first]!r}"
            error = block.error(int(token_at[first]), message)
            if self._strict:
                raise error
            self._first_blank = str(error)
        self._blank += sum(map(needed.count, gaps))
        blank = cast("str", None)  # a token without a label: see `Corpus`
        return [
            blank if cell in gaps else label for cell, label in zip(needed, labels, strict=True)
        ]

    def finish(self) -> None:
        """Tell how many labels were blank."""
        if self._blank and self._blank == self._tokens_read:
            raise SeqpaError(f"{self._first_blank}, and so is every other one; name another: label")
        if self._blank:
            warnings.warn(
                f"{self._first_blank}; {self._blank:,} of {self._tokens_read:,} tokens have no "
                "label and are not learned from; labels: strict refuses them",
                SeqpaWarning,
                stacklevel=2,
            )


def _joined_labels(
    known: list[str], upos: NDArray[np.int32], feats: NDArray[np.int32], pool: dict[str, str]
) -> list[str]:
    """UPOS and FEATS together, each pair joined once; both by their numbers among known cells."""
    pairs = (upos.astype(np.int64) << 32 | feats).tolist()
    made: dict[int, str] = {}
    for pair in set(pairs):
        u, f = known[pair >> 32], known[pair & 0x7FFFFFFF]
        label = u if f == "_" else f"{u}|{f}"
        made[pair] = pool.setdefault(label, label)
    return list(map(made.__getitem__, pairs))


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit()


def checked_names(columns: Sequence[str], label: str) -> tuple[str, ...]:
    """The input columns, if they and the label are fields of CoNLL-U.

    Parameters
    ----------
    columns : sequence of str
        Names of fields, the label's perhaps among them.
    label : str
        The label's field; see `LABELS`.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> checked_names(["word", "upos"], "upos")
    ('word',)
    """
    if label not in LABELS:
        raise SeqpaError(f"label: {label!r} is no CoNLL-U label; right are {', '.join(LABELS)}")
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise SeqpaError(f"columns: give a list, as in [word, lemma], not {columns!r}")
    names = tuple(name for name in columns if name != label)
    for name in names:
        if name not in FIELDS[1:]:
            raise SeqpaError(
                f"columns: {name!r} is no CoNLL-U field; right are {', '.join(FIELDS[1:])}"
            )
        if name in LABELS[label]:
            raise SeqpaError(f"columns: {name!r} is part of the label {label!r}, so not an input")
    if not names or len(set(names)) != len(names):
        raise SeqpaError("columns: name each input column once, for example word")
    return names


def render(
    corpus: Corpus, labels: Sequence[str], extras: Extras, label: str, document: int = 0
) -> str:
    """CoNLL-U for a corpus of any origin: what is not known is ``_``.

    Parameters
    ----------
    corpus : Corpus
        The sentences.
    labels : sequence of str
        A label for each token.
    extras : mapping
        Further values for each token, by name; they go to MISC.
    label : str
        The label's field; see `LABELS`.
    document : int
        That of the sentence before: see `Corpus.begins`.

    Returns
    -------
    str
    """
    checked_names(corpus.names, label)
    values = list(zip(*extras.values(), strict=True)) or [()] * len(labels)
    rows = []
    numbers = [n for length in corpus.lengths.tolist() for n in range(1, length + 1)]
    for number, *token, tag, value in zip(numbers, *corpus.columns, labels, values, strict=True):
        cells = [str(number)] + ["_"] * (len(FIELDS) - 1)
        for name, cell in zip(corpus.names, token, strict=True):
            if not cell or "\t" in cell or "\n" in cell or "\r" in cell:
                raise SeqpaError(f"a CoNLL-U field can hold no tab, line end or nothing: {cell!r}")
            cells[FIELDS.index(name)] = cell
        _fill(cells, label, tag, extras, value)
        rows.append("\t".join(cells))
    return "".join(
        "# newdoc\n" * begins + "\n".join(sentence) + "\n\n"
        for sentence, begins in zip(corpus.split(rows), corpus.begins(document), strict=True)
    )


def _fill(cells: list[str], field: str, label: str, extras: Extras, values: Sequence[str]) -> None:
    if field == "upos+feats":
        cells[UPOS], _, feats = label.partition("|")
        cells[FEATS] = feats or "_"
    else:
        cells[FIELDS.index(field)] = label
    if values:
        known = [] if cells[MISC] == "_" else [cells[MISC]]
        pairs = [f"{name}={value}" for name, value in zip(extras, values, strict=True)]
        cells[MISC] = "|".join(known + pairs)
