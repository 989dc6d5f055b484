"""``word/TAG`` lines: one sentence a line, each word with its label behind a sign.

The sign is ``/`` or ``_``: whichever the first line has in each of its words. It is the last such
sign of a word that counts, and ``\\/`` is no separator: ``1\\/2/CD`` is the word ``1/2``. With more
columns than two there are more signs: ``word/pos/label``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seqpa.data.columns import Columns
from seqpa.data.corpus import Corpus, Extras
from seqpa.data.lines import check_lengths
from seqpa.data.source import Block, Limits, after_last_line
from seqpa.errors import SeqpaError

SIGNS = ("/", "_")
_SPACES = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class SlashLayout:
    """A block of one sentence a line, and what its words were without labels."""

    block: Block
    sentence_at: list[int]
    rows: list[list[str]]
    sign: str
    format: str = "slash"

    def line_of(self, token: int) -> int:
        """The source's line of a token, counted from 1."""
        ends = np.cumsum([len(row) for row in self.rows])
        return self.block.first_line + self.sentence_at[int(np.searchsorted(ends, token, "right"))]

    def render(self, labels: Sequence[str], extras: Extras) -> str:
        """The same lines, each word followed by its label and extra values."""
        lines = self.block.lines
        added = list(zip(labels, *extras.values(), strict=True))
        start = 0
        for index, row in zip(self.sentence_at, self.rows, strict=True):
            parts = zip(row, added[start : start + len(row)], strict=True)
            lines[index] = " ".join(self.sign.join((word, *more)) for word, more in parts)
            start += len(row)
        newline = self.block.newline
        return "".join(line + newline for line in lines)


class SlashReader:
    """Reads the blocks of one file.

    Parameters
    ----------
    columns : Columns
        What the parts of a word are.
    labels : bool
        Whether the labels are read; if not, words may come without.
    keep_layout : bool
        Whether the corpora keep what a tagged copy needs.
    limits : Limits, optional
        How long a sentence may be.

    Examples
    --------
    >>> from seqpa.data.source import Block
    >>> reader = SlashReader(Columns(("word", "label"), "label"))
    >>> corpus = reader.parse(Block("a.txt", 1, "half/NN of/IN 1\\\\/2/CD\\n"), {})
    >>> corpus.X, corpus.y
    ([['half', 'of', '1/2']], [['NN', 'IN', 'CD']])
    """

    cut = staticmethod(after_last_line)

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
        self._sign = ""

    def parse(self, block: Block, pool: dict[str, str]) -> Corpus:
        """The sentences of a block; equal strings become one object through ``pool``."""
        plan = self._columns
        columns: list[list[str]] = [[] for _ in plan.names]
        labels: list[str] = []
        sentence_at, kept, lengths = [], [], []
        for index, line in enumerate(block.lines):
            words = [word for word in _SPACES.split(line) if word]
            if not words:
                continue
            self._sign = self._sign or _sign_of(words)
            rows = []
            for word in words:
                cells = split_word(word, self._sign, len(plan.all) - 1)
                if len(cells) not in plan.widths(self._labels) or "" in cells:
                    raise block.error(index, self._wrong(word))
                rows.append(cells)
            full = len(rows[0]) == len(plan.all)
            if any(len(cells) != len(rows[0]) for cells in rows):
                raise block.error(index, "some words have a label and some have none")
            for column, place in zip(columns, plan.inputs(full), strict=True):
                column += [pool.setdefault(cells[place], cells[place]) for cells in rows]
            if self._labels:
                assert plan.label_at is not None
                found = [cells[plan.label_at] for cells in rows]
                labels += map(pool.setdefault, found, found)
            sentence_at.append(index)
            lengths.append(len(rows))
            kept.append(words)
        token_at = np.repeat(sentence_at, lengths)
        check_lengths(block, np.array(lengths, dtype=np.int64), token_at, self._limits)
        layout = SlashLayout(block, sentence_at, kept, self._sign) if self._keep_layout else None
        return Corpus(
            plan.names,
            columns,
            np.array(lengths, dtype=np.int64),
            labels if self._labels else None,
            layout,
        )

    def _wrong(self, word: str) -> str:
        right = self._sign.join(self._columns.all)
        return f"the word {word!r} is not written {right}; another format: say which (format)"


def split_word(word: str, sign: str, at_most: int) -> list[str]:
    """The parts of a word, cut at its last signs.

    Parameters
    ----------
    word : str
        Such as ``dog/NN``.
    sign : str
        What separates the parts.
    at_most : int
        So many signs separate; those further left belong to the word.

    Returns
    -------
    list of str

    Examples
    --------
    >>> split_word("and/or/CC", "/", 1), split_word("1\\\\/2", "/", 1)
    (['and/or', 'CC'], ['1/2'])
    """
    guard = f"\\{sign}"
    if guard not in word:
        return word.rsplit(sign, at_most)
    parts = word.replace(guard, "\0").rsplit(sign, at_most)
    return [part.replace("\0", sign) for part in parts]


def render(corpus: Corpus, labels: Sequence[str], extras: Extras) -> str:
    """``word/label`` lines for a corpus of any origin.

    Parameters
    ----------
    corpus : Corpus
        The sentences.
    labels : sequence of str
        A label for each token.
    extras : mapping
        Further values for each token, by name.

    Returns
    -------
    str

    Examples
    --------
    >>> render(Corpus.from_sentences([["1/2", "left"]]), ["CD", "VBN"], {})
    '1\\\\/2/CD left/VBN\\n'
    """
    table = [*corpus.columns, labels, *extras.values()]
    for column in table:
        for cell in set(column):
            if not cell or _SPACES.search(cell) or "\n" in cell:
                raise SeqpaError(f"a word/TAG line cannot hold {cell!r}: no spaces, not nothing")
    words = [
        "/".join(cell.replace("/", "\\/") for cell in cells) for cells in zip(*table, strict=True)
    ]
    return "".join(" ".join(sentence) + "\n" for sentence in corpus.split(words))


def _sign_of(words: list[str]) -> str:
    for sign in SIGNS:
        if all(sign in word.strip(sign) for word in words):
            return sign
    return SIGNS[0]
