"""JSON lines: a sentence on each line, ``{"tokens": [...], "labels": [...]}``.

A token is a string, a list of cells (in the order of the configured columns) or an object of
them (by name); the label may also be a cell of each token instead of standing in ``labels``.
Sentences that follow each other with the same ``document`` belong to one. Other keys of a sentence
pass through to the tagged copy.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqpa.data.columns import Columns
from seqpa.data.corpus import Corpus, Extras
from seqpa.data.lines import check_lengths
from seqpa.data.source import Block, Limits, after_last_line
from seqpa.errors import SeqpaError

_NUMBERS = ("probability",)  # further values that are no strings


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """The objects of a block, also those of sentences without tokens."""

    block: Block
    objects: list[tuple[int, dict[str, Any]]]
    format: str = "jsonl"

    def line_of(self, token: int) -> int:
        """The source's line of a token, counted from 1."""
        ends = np.cumsum([len(sentence["tokens"]) for _, sentence in self.objects])
        index = self.objects[int(np.searchsorted(ends, token, side="right"))][0]
        return self.block.first_line + index

    def render(self, labels: Sequence[str], extras: Extras) -> str:
        """The same objects with ``labels`` and, under their own names, extra values."""
        lines = self.block.lines
        start = 0
        for index, sentence in self.objects:
            end = start + len(sentence["tokens"])
            lines[index] = _line(sentence, labels, extras, start, end)
            start = end
        newline = self.block.newline
        return newline.join(lines) + newline


class JsonReader:
    """Reads the blocks of one file.

    Parameters
    ----------
    columns : Columns
        What the cells of a token are.
    labels : bool
        Whether the labels are read.
    keep_layout : bool
        Whether the corpora keep what a tagged copy needs.
    limits : Limits, optional
        How long a sentence may be.
    gaps : bool
        Whether labels may be missing: they are None.

    Examples
    --------
    >>> from seqpa.data.source import Block
    >>> line = '{"tokens": [["Ada", "NNP"], ["won", "VBD"]], "labels": ["B-PER", "O"]}'
    >>> reader = JsonReader(Columns(("word", "pos", "label"), "label"))
    >>> reader.parse(Block("a.jsonl", 1, line), {}).X
    [[('Ada', 'NNP'), ('won', 'VBD')]]
    """

    cut = staticmethod(after_last_line)

    def __init__(
        self,
        columns: Columns,
        labels: bool = True,
        keep_layout: bool = False,
        limits: Limits | None = None,
        gaps: bool = False,
    ) -> None:
        self._columns = columns
        self._labels = labels
        self._gaps = gaps
        self._keep_layout = keep_layout
        self._limits = limits or Limits()
        self._document: Any = None
        self._number = 0

    def parse(self, block: Block, pool: dict[str, str]) -> Corpus:
        """The sentences of a block; equal strings become one object through ``pool``."""
        names = self._columns.names
        columns: list[list[str]] = [[] for _ in names]
        labels: list[str] = []
        lengths = []
        documents = []
        objects = []
        for index, line in enumerate(block.lines):
            if not line.strip():
                continue
            try:
                sentence = _sentence(line)
                rows, tags = self._rows(sentence)
            except SeqpaError as error:
                raise block.error(index, str(error)) from None
            objects.append((index, sentence))
            if not rows:
                continue
            if len(rows) > self._limits.tokens:
                check_lengths(block, np.array([len(rows)]), [index], self._limits)
            lengths.append(len(rows))
            document = sentence.get("document")
            self._number += document != self._document
            self._document = document
            documents.append(self._number)
            for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
                column.extend(map(pool.setdefault, cells, cells))
            labels.extend(map(pool.setdefault, tags, tags))
        return Corpus(
            names,
            columns,
            np.array(lengths, dtype=np.int64),
            labels if self._labels else None,
            JsonLayout(block, objects) if self._keep_layout else None,
            documents=np.array(documents, np.int64),
        )

    def _rows(self, sentence: dict[str, Any]) -> tuple[list[list[str]], list[str]]:
        """The input cells of each token, and its labels if they are wanted."""
        split = [self._token(token) for token in sentence["tokens"]]
        rows = [row for row, _ in split]
        if not self._labels:
            return rows, []
        own = [label for _, label in split]
        labels = sentence.get("labels", own)
        if labels is None and self._gaps:
            labels = own
        if not isinstance(labels, list) or len(labels) != len(rows):
            count = len(labels) if isinstance(labels, list) else "no list of"
            raise SeqpaError(f"{len(rows)} tokens but {count} labels")
        for position, label in enumerate(labels):
            if label is None and self._gaps:
                continue
            if not isinstance(label, str) or not label:
                raise SeqpaError(f'token {position + 1} has no label; give one in "labels"')
        return rows, labels

    def _token(self, token: Any) -> tuple[list[str], Any]:
        """A token's input cells, and its label or None."""
        plan = self._columns
        label = None
        if isinstance(token, str):
            row = [token]
        elif isinstance(token, dict):
            missing = [name for name in plan.names if name not in token]
            if missing:
                raise SeqpaError(f"a token has no {missing[0]!r}: {token}")
            row = [token[name] for name in plan.names]
            label = token.get(plan.label) if plan.label else None
        elif isinstance(token, list) and len(token) in plan.widths(label_required=False):
            full = len(token) == len(plan.all)
            row = [token[i] for i in plan.inputs(full)]
            label = token[plan.label_at] if full and plan.label_at is not None else None
        else:
            raise SeqpaError(f"a token is not a string or the cells {', '.join(plan.all)}: {token}")
        if len(row) != len(plan.names):
            raise SeqpaError(f"the token {token!r} is one cell; needed are {', '.join(plan.names)}")
        for cell in row:
            if not isinstance(cell, str):
                raise SeqpaError(f"a cell must be a string, not {cell!r}")
        return row, label


def render(corpus: Corpus, labels: Sequence[str], extras: Extras) -> str:
    """JSON lines for a corpus of any origin; tokens of several columns are objects.

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
    >>> print(render(Corpus.from_sentences([["Ada", "won"]]), ["B-PER", "O"], {}), end="")
    {"tokens": ["Ada", "won"], "labels": ["B-PER", "O"]}
    """
    lines = []
    start = 0
    documents = [0] * len(corpus) if corpus.documents is None else corpus.documents.tolist()
    for tokens, document in zip(corpus.X, documents, strict=True):
        end = start + len(tokens)
        items = [
            token if isinstance(token, str) else dict(zip(corpus.names, token, strict=True))
            for token in tokens
        ]
        # Those before the first mark are a document too, which has no name.
        own = {"tokens": items} | ({"document": document} if document else {})
        lines.append(_line(own, labels, extras, start, end) + "\n")
        start = end
    return "".join(lines)


def _line(
    sentence: dict[str, Any], labels: Sequence[str], extras: Extras, start: int, end: int
) -> str:
    more: dict[str, list[Any]] = {
        name: [float(value) if name in _NUMBERS else value for value in values[start:end]]
        for name, values in extras.items()
    }
    return json.dumps({**sentence, "labels": list(labels[start:end]), **more}, ensure_ascii=False)


def _sentence(line: str) -> dict[str, Any]:
    try:
        sentence = json.loads(line)
    except json.JSONDecodeError as error:
        raise SeqpaError(f"not JSON: {error.msg} at character {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise SeqpaError(f"not usable JSON: {error}") from None
    if not isinstance(sentence, dict) or not isinstance(sentence.get("tokens"), list):
        raise SeqpaError('not an object with a list "tokens"')
    return sentence
