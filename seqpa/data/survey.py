"""What is in a data file: format, columns, scheme, labels, documents, sizes; for those who ask.

`survey` reads the whole file in the format that it is recognised to be in, and says which column
is which as far as that can be seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from seqpa.data import read
from seqpa.data.corpus import Corpus
from seqpa.data.recognise import Seen, look_at
from seqpa.errors import SeqpaError
from seqpa.schemes import Pair, Recognised, pairs_of, recognise

# What columns of a CoNLL file mostly are, by their number.
_USUAL = {1: ["word"], 2: ["word", "label"], 3: ["word", "pos", "label"]}
_FEW = 150  # a column with more values than that is no tag set
_DOCUMENTS = ("-DOCSTART-", "# newdoc", "#begin document")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a file.

    Parameters
    ----------
    name : str
        ``word``, ``label``, or what the file calls it, or what it seems to be.
    values : int
        How many different values it has.
    frequent : tuple of str
        The most frequent of them.
    empty : int
        How many cells have none.
    scheme : Recognised or None
        If they are chunk labels, which.
    """

    name: str
    values: int
    frequent: tuple[str, ...]
    empty: int = 0
    scheme: Recognised | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Survey:
    """What is in a file.

    Parameters
    ----------
    path : str
        The file.
    seen : Seen
        Its format, and why.
    columns : tuple of Column
        All columns, in order.
    label_at : int or None
        Which of them is the label; None where there is none.
    sentences, tokens, documents : int
        How many; documents are 0 where nothing separates them.
    """

    path: str
    seen: Seen
    columns: tuple[Column, ...]
    label_at: int | None
    sentences: int
    tokens: int
    documents: int

    @property
    def label(self) -> Column | None:
        """The label's column."""
        return None if self.label_at is None else self.columns[self.label_at]

    def lines(self) -> list[str]:
        """The same in a few lines of text."""
        seen = self.seen
        told = [f"{self.path}: {seen.format}, {seen.reason}, {seen.encoding}"]
        documents = f"{self.documents:,} documents, " if self.documents else ""
        told.append(f"  {documents}{self.sentences:,} sentences, {self.tokens:,} tokens")
        for number, column in enumerate(self.columns, 1):
            frequent = ", ".join(column.frequent)
            what = f"{column.values:,} values: {frequent}"
            if column.scheme is not None:
                found = column.scheme
                what = f"{found.scheme.upper()}, {found.spans:,} spans, {column.values} labels"
                if found.broken:
                    what += f", {found.broken:,} of them illegal"
            if column.empty:
                what += f"; {column.empty:,} cells are empty"
            told.append(f"  column {number}: {column.name}, {what}")
        return told


def guess_columns(n: int) -> list[str]:
    """What the columns of a CoNLL file mostly are: the word first, the label last.

    Parameters
    ----------
    n : int
        How many there are.

    Returns
    -------
    list of str
        ``_`` for those of which nothing is known.

    Examples
    --------
    >>> guess_columns(2), guess_columns(5)
    (['word', 'label'], ['word', '_', '_', '_', 'label'])
    """
    return _USUAL.get(n, ["word", *["_"] * (n - 2), "label"])


def survey(path: str | Path, label: int | None = None) -> Survey:
    """Look at a whole file.

    Parameters
    ----------
    path : str or Path
        The file.
    label : int, optional
        Which column is the label, from 0; by default the last, unless another marks ten times as
        many spans.

    Returns
    -------
    Survey

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.conll"
    >>> _ = file.write_text("Ada\\tNNP\\tB-PER\\nwon\\tVBD\\tO\\n")
    >>> found = survey(file)
    >>> [column.name for column in found.columns], found.label.scheme.scheme
    (['word', 'pos', 'label'], 'iob2')
    """
    seen = look_at(path)
    if seen.format == "text":
        raise SeqpaError(
            f"{path}: {seen.reason}, without labels; seqpa learns from labelled data: columns, "
            "CoNLL-U, JSON lines, CSV, word/TAG lines or spans"
        )
    if seen.format == "conll":
        corpus = _read_columns(path, seen)
        names, table = None, corpus.columns
    else:
        given = seen.columns if seen.format == "slash" else None
        corpus = read(path, seen.format, given, encoding=seen.encoding)
        assert corpus.labels is not None
        labels = [label or "" for label in corpus.labels]  # blank ones of CoNLL-U
        names, table = [*corpus.names, "label"], [*corpus.columns, labels]
    columns = [_column(corpus, cells, i) for i, cells in enumerate(table)]
    label_at = _label_of(columns) if label is None else label
    if not -1 < (label_at or 0) < len(columns):
        raise SeqpaError(f"label: {path} has {len(columns)} columns, not {(label or 0) + 1}")
    named = names or _named(columns, label_at)
    told = tuple(replace(c, name=name) for name, c in zip(named, columns, strict=True))
    return Survey(
        str(path), seen, told, label_at, len(corpus), corpus.n_tokens, _documents(path, seen)
    )


def _read_columns(path: str | Path, seen: Seen) -> Corpus:
    names = [f"c{i}" for i in range(len(seen.columns))]
    return read(path, "conll", names, "", seen.encoding, with_labels=False)


def _column(corpus: Corpus, cells: Sequence[str], place: int) -> Column:
    counts = Counter(cells)
    empty = counts.pop("", 0)
    frequent = tuple(value for value, _ in counts.most_common(5))
    few = len(counts) <= max(_FEW, len(cells) // 50)
    scheme = recognise(_pairs(corpus, cells)) if place and few else None
    return Column("", len(counts), frequent, empty, scheme)


def _pairs(corpus: Corpus, cells: Sequence[str]) -> Counter[Pair]:
    """Of the labels that are there; an empty cell is the end of what stands before it."""
    pairs = pairs_of(corpus.split(cells))
    return Counter({(a or None, b or None): n for (a, b), n in pairs.items() if a or b})


def _label_of(columns: Sequence[Column]) -> int | None:
    if len(columns) < 2:
        return None
    last = len(columns) - 1
    spans = [0 if c.scheme is None else c.scheme.spans for c in columns]
    best = max(range(len(columns)), key=spans.__getitem__)
    return best if spans[best] > 10 * spans[last] and columns[last].scheme else last


def _named(columns: Sequence[Column], label_at: int | None) -> list[str]:
    names: list[str] = []
    for i, column in enumerate(columns):
        if i == 0:
            name = "word"
        elif i == label_at:
            name = "label"
        elif column.scheme is not None:
            name = "chunk"
        else:
            name = "pos" if column.values <= _FEW else "_"
        names.append("_" if name != "_" and name in names else name)
    return names


def _documents(path: str | Path, seen: Seen) -> int:
    if seen.format not in ("conll", "conllu"):
        return 0
    from seqpa.data.source import after_last_line, read_blocks

    found = 0
    for block in read_blocks(path, seen.encoding, after_last_line):
        if any(sign in block.text for sign in _DOCUMENTS):
            found += sum(line.startswith(_DOCUMENTS) for line in block.lines)
    return found
