"""Labelled files from one format and scheme to another, in constant memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from seqpa.data import WRITTEN, Corpus, read_chunks, write_tagged
from seqpa.data.recognise import look_at
from seqpa.data.sink import packed_ending
from seqpa.data.survey import guess_columns
from seqpa.errors import SeqpaError, did_you_mean

_ENDINGS = {
    "conll": "conll",
    "iob": "conll",
    "bio": "conll",
    "txt": "conll",
    "conllu": "conllu",
    "jsonl": "jsonl",
    "json": "jsonl",
    "csv": "csv",
    "tsv": "tsv",
    "pos": "slash",
}
_SHOWING = ("spans", "huggingface", "brackets")


@dataclass(frozen=True, slots=True)
class Source:
    """How a file of labels is to be read.

    Parameters
    ----------
    format : str
        One of `seqpa.data.FORMATS`.
    reason : str
        Why it is read so, if that was found out by looking.
    columns : list of str or None
        What its columns are.
    label : str or None
        Which of them is the label.
    encoding : str
        Of the file.
    """

    format: str
    reason: str
    columns: list[str] | None
    label: str | None
    encoding: str


@dataclass(frozen=True, slots=True)
class Converted:
    """What a conversion did.

    Parameters
    ----------
    source : Source
        How the file was read.
    format : str
        What was written.
    sentences, tokens : int
        How many.
    """

    source: Source
    format: str
    sentences: int
    tokens: int


def source_of(
    path: str | Path,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    label: str | None = None,
    encoding: str | None = None,
) -> Source:
    """How to read a labelled file: as told, and where nothing is told by looking at it.

    Parameters
    ----------
    path : str or Path
        The file.
    format, columns, label, encoding : optional
        What is known of it.

    Returns
    -------
    Source
    """
    seen = look_at(path, encoding)
    chosen = format or seen.format
    names = None if columns is None else list(columns)
    if chosen == "text":
        raise SeqpaError(
            f"{path}: {seen.reason}, without labels, which seqpa tag adds; if it is no text, say "
            "its format"
        )
    if chosen == "conll" and names is None:
        if seen.format != "conll" or len(seen.columns) < 2:
            raise SeqpaError(f"{path}: {seen.reason}; say what its columns are, as in word,label")
        names = guess_columns(len(seen.columns))
    if chosen == "slash" and names is None:
        names = list(seen.columns) if seen.format == "slash" else ["word", "label"]
    return Source(chosen, "" if format else seen.reason, names, label, seen.encoding)


def format_of(target: str | Path, format: str | None = None) -> str:
    """The format to write: as told, or as the ending of the file's name says.

    Parameters
    ----------
    target : str or Path
        The file to write.
    format : str, optional
        One of `seqpa.data.WRITTEN`.

    Returns
    -------
    str

    Examples
    --------
    >>> format_of("out.tsv"), format_of("out.jsonl.gz"), format_of("-", "brackets")
    ('tsv', 'jsonl', 'brackets')
    """
    known = [name for name in WRITTEN if name != "text"]
    if format is not None:
        if format not in known:
            raise SeqpaError(f"format: {format!r} cannot be written{did_you_mean(format, known)}")
        return format
    name = str(target).removesuffix(packed_ending(str(target)))
    ending = name.rpartition(".")[2].lower() if "." in Path(name).name else ""
    if ending not in _ENDINGS:
        raise SeqpaError(f"{target}: its name does not say the format; say it: {', '.join(known)}")
    return _ENDINGS[ending]


def convert_file(
    path: str | Path,
    target: str | Path,
    source: Source,
    format: str,
    scheme: str | None = None,
    labels: str = "repair",
    language: str = "english",
    force: bool = False,
) -> Converted:
    """Write a labelled file in another format or scheme.

    Parameters
    ----------
    path, target : str or Path
        The file to read and the file to write; ``-`` for standard input and output.
    source : Source
        How to read it; see `source_of`.
    format : str
        How to write it; see `format_of`.
    scheme : str, optional
        The scheme of the labels that are written; as they are if not given.
    labels : str
        Illegal labels are repaired (``repair``) or refused (``strict``).
    language : str
        Of text with spans, whose words the built-in tokenizer finds.
    force : bool
        Whether a file that is there may be replaced.

    Returns
    -------
    Converted
    """
    if str(target) != "-":
        if str(path) != "-" and os.path.exists(target) and os.path.samefile(path, target):  # noqa: PTH110, PTH121
            raise SeqpaError(f"{target}: is the file that is read; name another to write")
        if Path(target).is_file() and not force:
            raise SeqpaError(f"{target}: is there already; say --force to replace it")
    counts = [0, 0]
    chunks = read_chunks(
        path,
        source.format,
        columns=source.columns,
        label=source.label,
        encoding=source.encoding,
        scheme=scheme,
        labels=labels,
        language=language,
        keep_layout=format in _SHOWING and source.format == "spans",
    )

    def labelled() -> Iterator[tuple[Corpus, Sequence[str]]]:
        for corpus in chunks:
            counts[0] += len(corpus)
            counts[1] += corpus.n_tokens
            assert corpus.labels is not None
            yield replace(corpus, labels=None), [label or "_" for label in corpus.labels]

    write_tagged(target, labelled(), format=format, label=_field(source))
    return Converted(source, format, *counts)


def _field(source: Source) -> str:
    """The field of CoNLL-U that labels go to."""
    if source.format == "conllu" and source.label:
        return source.label
    return source.label if source.label in ("upos", "xpos", "feats", "upos+feats") else "upos"
