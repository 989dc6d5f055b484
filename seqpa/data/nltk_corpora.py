"""NLTK's corpora, where they are installed: treebank, brown, conll2000, conll2002.

A corpus is asked for as ``NAME``, ``NAME:PART`` (a file of it, or a category of brown) and with a
range of sentences: ``treebank[:3000]``, ``brown:news``, ``conll2002:esp.train[100:200]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from seqpa.data.columns import Columns
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError, did_you_mean

CORPORA = {
    "treebank": ("word", "label"),
    "brown": ("word", "label"),
    "conll2000": ("word", "pos", "label"),
    "conll2002": ("word", "pos", "label"),
}
_REQUEST = re.compile(r"(?P<name>[^:\[\]]+)(:(?P<part>[^\[\]]+))?(\[(?P<range>[^\]]*)\])?")
_RANGE = re.compile(r"(\d*):(\d*)")


def read_nltk(
    request: str,
    columns: Sequence[str] | None = None,
    label: str = "label",
    labels: bool = True,
    sentences: int = 2000,
) -> Iterator[Corpus]:
    """Read a corpus of NLTK's. The treebank's traces (``-NONE-``) are left out.

    Parameters
    ----------
    request : str
        For example ``brown:news[:100]``.
    columns : sequence of str, optional
        Other names for its columns: word and label, with the part of speech between them for the
        CoNLL ones.
    label : str
        The label's column.
    labels : bool
        Whether the labels are read.
    sentences : int
        So many make one chunk.

    Yields
    ------
    Corpus
    """
    name, part, first, last = _parsed(request)
    default = CORPORA[name]
    columns = default if columns is None else columns
    if len(columns) != len(default):
        raise SeqpaError(
            f"columns: {', '.join(columns)} are {len(columns)}; nltk's {name} has "
            f"{len(default)}: {', '.join(default)}"
        )
    plan = Columns.checked(columns, label, labels)
    rows = islice(_sentences(request, name, part), first, last)
    while chunk := list(islice(rows, sentences)):
        yield _corpus(chunk, plan, labels)


def installed() -> dict[str, bool]:
    """Which of the corpora are on this machine.

    Returns
    -------
    dict
        True or False by name.

    Examples
    --------
    >>> sorted(installed())
    ['brown', 'conll2000', 'conll2002', 'treebank']
    """
    import nltk

    def found(name: str) -> bool:
        for place in (f"corpora/{name}", f"corpora/{name}.zip"):
            try:
                nltk.data.find(place)
            except LookupError:
                continue
            return True
        return False

    return {name: found(name) for name in CORPORA}


def _parsed(request: str) -> tuple[str, str | None, int, int | None]:
    match = _REQUEST.fullmatch(request)
    name = match["name"] if match else request
    if not match or name not in CORPORA:
        raise SeqpaError(f"{request}: no such corpus of NLTK's{did_you_mean(name, CORPORA)}")
    first, last = 0, None
    if match["range"] is not None:
        bounds = _RANGE.fullmatch(match["range"])
        if not bounds:
            raise SeqpaError(f"{request}: a range of sentences is written [100:200]")
        first = int(bounds[1] or 0)
        last = int(bounds[2]) if bounds[2] else None
    return name, match["part"], first, last


def _sentences(request: str, name: str, part: str | None) -> Iterator[list[tuple[str, ...]]]:
    import nltk.corpus

    reader: Any = getattr(nltk.corpus, name)
    try:
        chosen: dict[str, Any] = {}
        if part is not None:
            categories = reader.categories() if name == "brown" else []
            if part not in [*categories, *reader.fileids()]:
                options = ", ".join((categories or reader.fileids())[:20])
                raise SeqpaError(f"{request}: {name} has no part {part!r}; there are {options}")
            chosen = {"categories" if part in categories else "fileids": part}
        if name.startswith("conll"):
            yield from reader.iob_sents(**chosen)
        elif name == "treebank":
            for sentence in reader.tagged_sents(**chosen):
                yield [token for token in sentence if token[1] != "-NONE-"]
        else:
            yield from reader.tagged_sents(**chosen)
    except LookupError:
        raise SeqpaError(
            f"{request}: NLTK's corpus {name} is not installed; run "
            f"python -m nltk.downloader {name}"
        ) from None


def _corpus(sentences: list[list[tuple[str, ...]]], plan: Columns, labels: bool) -> Corpus:
    sentences = [sentence for sentence in sentences if sentence]
    pool: dict[str, str] = {}
    tokens = [token for sentence in sentences for token in sentence]

    def column(i: int) -> list[str]:
        return [pool.setdefault(token[i], token[i]) for token in tokens]

    at = plan.label_at
    return Corpus(
        plan.names,
        [column(i) for i in plan.inputs(with_label=True)],
        np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences)),
        column(at) if labels and at is not None else None,
    )
