"""Corpora in and out: columns, CoNLL-U, JSON, CSV, spans, Parquet, plain text, NLTK's corpora.

``read`` gives a whole corpus, ``read_chunks`` the same in constant memory, ``write_tagged`` a
copy of what was read with labels in it.

>>> import tempfile, pathlib
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "in.conll").write_text("# id = 7\\nAda NNP\\nwon VBD\\n\\nWhy WRB\\n")
>>> chunks = read_chunks(folder / "in.conll", columns=["word", "pos", "label"],
...                      with_labels=False, keep_layout=True)
>>> tagged = ((chunk, ["X"] * chunk.n_tokens) for chunk in chunks)
>>> write_tagged(folder / "out.conll", tagged)
>>> print((folder / "out.conll").read_text())
# id = 7
Ada NNP X
won VBD X
<BLANKLINE>
Why WRB X
<BLANKLINE>
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeAlias, cast, runtime_checkable

import numpy as np

from seqpa.data.corpus import Corpus, Extras, Layout, Sentence, Token
from seqpa.data.labels import LabelReading
from seqpa.data.lines import Pool
from seqpa.data.several import Paths, files_of
from seqpa.data.source import (
    BLOCK_BYTES,
    MAX_SENTENCE_TOKENS,
    Block,
    Limits,
    read_blocks,
    source_name,
)
from seqpa.errors import SeqpaError, did_you_mean

if TYPE_CHECKING:
    from seqpa.data.conll import ConllReader
    from seqpa.data.frames import from_table
    from seqpa.data.text import Tokenizer

__all__ = [
    "FORMATS",
    "MAX_SENTENCE_TOKENS",
    "Corpus",
    "Extras",
    "Layout",
    "Sentence",
    "Token",
    "from_table",
    "read",
    "read_chunks",
    "write_tagged",
]

# A format's module is imported when a file has it: most programs meet one of them.
FORMATS = (
    *("conll", "conllu", "jsonl", "csv", "slash", "spans", "parquet", "teach"),
    *("text", "nltk"),
)
# Those that hold labels, and those that show them.
WRITTEN = (
    *("conll", "conllu", "jsonl", "csv", "tsv", "slash"),
    *("spans", "huggingface", "brackets", "text"),
)
CHUNK_BYTES = 1 << 18
_JSON = ("jsonl", "spans", "huggingface")
Labels: TypeAlias = "Sequence[str] | Sequence[Sequence[str]]"
Tagged: TypeAlias = "tuple[Corpus, Labels] | tuple[Corpus, Labels, Extras]"


class Reader(Protocol):
    """What a format has: where its text may be cut, and what a block of it says."""

    @property
    def cut(self) -> Callable[[str], int]:
        """Where the last whole sentence of a text ends."""

    def parse(self, block: Block, pool: dict[str, str]) -> Corpus:
        """The sentences of a block."""


@runtime_checkable
class HasEnd(Protocol):
    """A reader that has something to say when its file has ended."""

    def finish(self) -> None:
        """Raise an error or warn."""


def read(
    path: Paths,
    format: str = "conll",
    columns: Sequence[str] | None = None,
    label: str | None = None,
    encoding: str = "utf-8",
    scheme: str | None = None,
    labels: str = "repair",
    with_labels: bool = True,
    tokenizer: Tokenizer = "builtin",
    language: str = "english",
    max_sentence_tokens: int = MAX_SENTENCE_TOKENS,
    weight: str | None = None,
) -> Corpus:
    """Read a whole file, or several as one.

    Parameters
    ----------
    path : str, Path, or a list of them
        The file, gzip-compressed or not; ``-`` is standard input; patterns such as
        ``part-*.conll`` and ``~`` are understood; for the format nltk, the name of a corpus such as
        ``treebank[:3000]``.
    format : str
        One of `FORMATS`: conll, conllu, jsonl, csv, slash, spans, parquet, teach (a project of
        `seqpa teach`), text, nltk.
    columns : sequence of str, optional
        The columns in the file's order, ``_`` for one to ignore. By default ``word, label``; in
        CoNLL-U, ``word``.
    label : str, optional
        The column to learn. By default ``label``; in CoNLL-U, ``upos`` (also ``xpos``, ``feats``,
        ``upos+feats``).
    encoding : str
        Of the file.
    scheme : str, optional
        Convert chunk labels to this scheme; see `seqpa.schemes`.
    labels : str
        Illegal chunk labels are read as conlleval reads them, with a warning (``repair``, where
        there is a `scheme`), or are an error (``strict``). A token of CoNLL-U whose label is blank
        (``_``) has the label None, with a warning, or is an error.
    with_labels : bool
        Whether the labels are read. Without, a column file may have the label's column or not.
    tokenizer : str or callable
        For plain text: builtin, punkt (NLTK's), whitespace, or a function; see `seqpa.data.text`.
    language : str
        Of plain text, for the built-in rules (english, german, french, spanish, any) or Punkt.
    max_sentence_tokens : int
        A longer sentence is an error: probably the blank lines between sentences are missing. A
        sentence may also have 64 characters for each of these tokens, and a million at least.
    weight : str, optional
        The name of what weighs the sentences (`Corpus.weights`, which training goes by): a column,
        a comment ``# weight = 2`` of conll and conllu, or a key of jsonl. Sentences without a
        comment or a key weigh 1; if no sentence has one, it is an error.

    Returns
    -------
    Corpus

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.conll"
    >>> _ = file.write_text("Rain N\\nfell V\\n\\nStop V\\n")
    >>> corpus = read(file)
    >>> corpus.X, corpus.y
    ([['Rain', 'fell'], ['Stop']], [['N', 'V'], ['V']])
    """
    chunks = read_chunks(
        path,
        format=format,
        columns=columns,
        label=label,
        encoding=encoding,
        scheme=scheme,
        labels=labels,
        with_labels=with_labels,
        tokenizer=tokenizer,
        language=language,
        max_sentence_tokens=max_sentence_tokens,
        weight=weight,
        chunk_bytes=BLOCK_BYTES,
        pool=Pool(),
    )
    return Corpus.joined(chunks)


def read_chunks(
    path: Paths,
    format: str = "conll",
    columns: Sequence[str] | None = None,
    label: str | None = None,
    encoding: str = "utf-8",
    scheme: str | None = None,
    labels: str = "repair",
    with_labels: bool = True,
    tokenizer: Tokenizer = "builtin",
    language: str = "english",
    max_sentence_tokens: int = MAX_SENTENCE_TOKENS,
    weight: str | None = None,
    keep_layout: bool = False,
    chunk_bytes: int = CHUNK_BYTES,
    pool: dict[str, str] | None = None,
    gaps: bool = False,
) -> Iterator[Corpus]:
    """Read as `read` does, piece by piece and in constant memory.

    Parameters
    ----------
    path, format, columns, label, encoding, scheme, labels, with_labels, tokenizer, language, \
max_sentence_tokens, weight
        As for `read`.
    keep_layout : bool
        Keep what `write_tagged` needs for a faithful copy: comments, blank lines, every other
        column. Then a chunk may have no sentence at all, only such lines.
    chunk_bytes : int
        About so much text makes one chunk.
    pool : dict, optional
        Equal strings of a chunk are one object; through a common pool, those of all chunks.
    gaps : bool
        Of jsonl and spans: whether labels may be missing; they are None.

    Yields
    ------
    Corpus

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.conll"
    >>> _ = file.write_text("Rain N\\nfell V\\n\\nStop V\\n")
    >>> [len(chunk) for chunk in read_chunks(file, chunk_bytes=16)]
    [1, 1]
    """
    if format not in FORMATS:
        raise _unknown_format(format, FORMATS)
    if format == "nltk":
        names = [str(path)] if isinstance(path, (str, Path)) else [str(name) for name in path]
    else:
        names = files_of(path)
    document = 0
    for name in names:
        first = document
        for corpus in _read_one(
            name,
            format,
            columns,
            label,
            encoding,
            scheme,
            labels,
            with_labels,
            tokenizer,
            language,
            max_sentence_tokens,
            weight,
            keep_layout,
            chunk_bytes,
            pool,
            gaps,
        ):
            if len(names) > 1 and len(corpus):  # no document goes on in the next file
                own = np.zeros(len(corpus), np.int64)
                corpus.documents = first + (own if corpus.documents is None else corpus.documents)
                document = max(document, int(corpus.documents[-1]) + 1)
            yield corpus


def column_blocks(
    path: str,
    columns: Sequence[str] | None,
    label: str | None,
    encoding: str,
    max_sentence_tokens: int = MAX_SENTENCE_TOKENS,
    chunk_bytes: int = CHUNK_BYTES,
) -> tuple[ConllReader, Iterator[Block]]:
    """The text of CoNLL columns in blocks of whole sentences, and what reads them without labels.

    `ConllReader.parse` makes of each block what `read_chunks` yields, with its layout.

    Parameters
    ----------
    path, columns, label, encoding, max_sentence_tokens, chunk_bytes
        As for `read_chunks`.

    Returns
    -------
    reader : ConllReader
    blocks : iterator of Block
    """
    limits = Limits(max_sentence_tokens)
    reader = _reader("conll", columns, label, False, False, "builtin", "english", True, limits)
    blocks = read_blocks(path, encoding, reader.cut, chunk_bytes, limits)
    return cast("ConllReader", reader), blocks


def no_sentence(path: str) -> SeqpaError:
    """The error for a file without any."""
    return SeqpaError(f"{source_name(path)}: there is no sentence in it; is it the right file?")


def _read_one(
    path: str,
    format: str,
    columns: Sequence[str] | None,
    label: str | None,
    encoding: str,
    scheme: str | None,
    labels: str,
    with_labels: bool,
    tokenizer: Tokenizer,
    language: str,
    max_sentence_tokens: int,
    weight: str | None,
    keep_layout: bool,
    chunk_bytes: int,
    pool: dict[str, str] | None,
    gaps: bool,
) -> Iterator[Corpus]:
    reading = LabelReading(source_name(path), scheme, labels)
    follow = with_labels and (scheme is not None or labels == "strict")
    chunks: Iterator[Corpus]
    reader: Reader | None = None
    if format == "nltk":
        from seqpa.data.nltk_corpora import read_nltk

        chunks = read_nltk(str(path), columns, label or "label", with_labels)
    elif format == "parquet":
        from seqpa.data.frames import read_parquet

        chunks = iter([read_parquet(path, columns, label, with_labels)])
    elif format == "teach":
        from seqpa.data.teach_project import read_project

        chunks = iter([read_project(path, with_labels, scheme)])
        follow = False  # its spans are written in the scheme, and cannot be illegal
    else:
        layout = keep_layout or follow or weight is not None
        limits = Limits(max_sentence_tokens)
        strict = labels == "strict"
        reader = _reader(
            format, columns, label, with_labels, strict, tokenizer, language, layout, limits, gaps
        )
        blocks = read_blocks(path, encoding, reader.cut, chunk_bytes, limits)
        parse = reader.parse
        chunks = (parse(block, {} if pool is None else pool) for block in blocks)
    sentences = weighed = 0
    for corpus in chunks:
        sentences += len(corpus)
        if weight is not None:
            from seqpa.data.weights import take_weights

            weighed += take_weights(corpus, weight, source_name(path))
        if follow and corpus.labels is not None:
            corpus.labels = reading.converted(corpus)
        if not keep_layout:
            corpus.layout = None
        if keep_layout or len(corpus):
            yield corpus
    if isinstance(reader, HasEnd):
        reader.finish()
    reading.finish()
    if not sentences:
        raise no_sentence(path)
    if weight is not None and not weighed:
        raise SeqpaError(
            f"{source_name(path)}: no sentence says its {weight}: it is a column, a comment "
            f"`# {weight} = 2` of conll and conllu, or a key of jsonl"
        )


def write_tagged(
    target: str | Path | TextIO,
    tagged: Iterable[Tagged],
    format: str | None = None,
    label: str = "upos",
    encoding: str = "utf-8",
    inline: bool = False,
) -> None:
    """Write corpora with their labels, in order; a file appears whole or not at all.

    A corpus that was read with its layout is copied, with the label appended as the last column;
    for CoNLL-U in its field; for JSON as ``labels``.

    Parameters
    ----------
    target : str, Path or text stream
        The file; ``-`` is standard output.
    tagged : iterable
        Pairs (corpus, labels), the labels flat or a list per sentence; or triples with a mapping
        of further values of each token, each flat (a confidence, the second-best label).
    format : str, optional
        How a corpus without layout, or with that of another format, is written; one of `WRITTEN`,
        by default conll. ``brackets``, ``spans`` (spaCy's JSON) and ``huggingface`` show spans.
    label : str
        The field of CoNLL-U that the label goes to.
    encoding : str
        Of the file.
    inline : bool
        Write text as ``word_label``, one sentence a line.

    Examples
    --------
    >>> import sys
    >>> write_tagged(sys.stdout, [(Corpus.from_sentences([["Rain"]]), ["N"])], format="jsonl")
    {"tokens": ["Rain"], "labels": ["N"]}
    """
    from seqpa.data.sink import open_sink

    if format is not None and format not in WRITTEN:
        raise _unknown_format(format, WRITTEN)
    with open_sink(target, encoding) as sink:
        sentences = document = 0
        for number, (corpus, labels, *more) in enumerate(tagged):
            flat = _flat(labels)
            if len(flat) != corpus.n_tokens:
                raise SeqpaError(f"{len(flat)} labels for {corpus.n_tokens} tokens")
            extras = _shown(more[0] if more else {}, corpus, format)
            if format in ("csv", "tsv") and not (corpus.layout and corpus.layout.format == "csv"):
                from seqpa.data import csv_table

                sign = "," if format == "csv" else "\t"
                text = csv_table.render(corpus, flat, extras, sign, not number, sentences + 1)
            else:
                text = _rendered(corpus, flat, extras, format, label, inline, document)
            sink.write(text)
            sentences += len(corpus)
            if corpus.documents is not None and len(corpus):
                document = int(corpus.documents[-1])


def _shown(extras: Extras, corpus: Corpus, format: str | None) -> Extras:
    """Numbers as they are written: in JSON as numbers (null for one that JSON lacks), else text."""
    layout = corpus.layout
    own = layout is not None and format in (None, layout.format)
    as_json = (layout.format if own and layout is not None else format) in _JSON

    def shown(value: Any) -> Any:
        if isinstance(value, str):
            return value
        if as_json:
            return round(value, 4) if isfinite(value) else None
        return f"{value:.4f}"

    return {name: list(map(shown, values)) for name, values in extras.items()}


def _rendered(
    corpus: Corpus,
    labels: Sequence[str],
    extras: Extras,
    format: str | None,
    label: str,
    inline: bool,
    document: int,
) -> str:
    layout = corpus.layout
    is_text = layout is not None and layout.format == "text"
    if layout is not None and format in (None, layout.format) and (inline or not is_text):
        return layout.render(labels, extras)
    if inline:
        from seqpa.data import text

        return text.render_inline(corpus, labels, extras)
    if format == "conllu":
        from seqpa.data import conllu

        return conllu.render(corpus, labels, extras, label, document)
    if format == "jsonl":
        from seqpa.data import jsonl

        return jsonl.render(corpus, labels, extras)
    if format == "slash":
        from seqpa.data import slash

        return slash.render(corpus, labels, extras)
    if format in ("brackets", "spans", "huggingface"):
        from seqpa.data import markup

        return markup.render(corpus, labels, extras, format)
    from seqpa.data import conll

    return conll.render(corpus, labels, extras, document)


def _reader(
    format: str,
    columns: Sequence[str] | None,
    label: str | None,
    with_labels: bool,
    strict: bool,
    tokenizer: Tokenizer,
    language: str,
    keep_layout: bool,
    limits: Limits,
    gaps: bool = False,
) -> Reader:
    if format == "text":
        if with_labels:
            raise SeqpaError(
                f"plain text has no labels; read {', '.join(FORMATS[:-2])} files to learn from"
            )
        from seqpa.data.text import TextReader

        return TextReader(tokenizer, language, keep_layout, limits)
    if format == "conllu":
        from seqpa.data.conllu import ConlluReader

        fields = ("word",) if columns is None else columns
        return ConlluReader(fields, label or "upos", with_labels, keep_layout, limits, strict)
    if format == "csv":
        from seqpa.data.csv_table import CsvReader

        return CsvReader(columns, label, with_labels, keep_layout, limits)
    if format == "spans":
        from seqpa.data.spans import SpansReader

        return SpansReader(with_labels, language, keep_layout, limits, gaps)
    from seqpa.data.columns import Columns

    if format == "jsonl":
        from seqpa.data.json_tags import TagsReader

        return TagsReader.planned(columns, label, with_labels, keep_layout, limits, gaps)
    names = ("word", "label") if columns is None else columns
    plan = Columns.checked(names, label or "label", with_labels)
    if format == "slash":
        from seqpa.data.slash import SlashReader

        return SlashReader(plan, with_labels, keep_layout, limits)
    from seqpa.data.conll import ConllReader

    return ConllReader(plan, with_labels, keep_layout, limits)


def _flat(labels: Labels) -> Sequence[str]:
    if len(labels) and not isinstance(labels[0], str):
        return list(chain.from_iterable(labels))
    return labels  # type: ignore[return-value]


def _unknown_format(format: str, known: Sequence[str]) -> SeqpaError:
    return SeqpaError(f"format: {format!r} is not known{did_you_mean(format, known)}")


def __getattr__(name: str) -> Any:
    if name == "from_table":  # loaded when it is asked for, as the formats are
        from seqpa.data.frames import from_table

        return from_table
    raise AttributeError(f"module 'seqpa.data' has no attribute {name!r}")
