"""Text with character spans, as annotation tools and spaCy export it, read as tokens and labels.

One JSON object a line, or a whole file that is one JSON list. Known shapes of an object:

- spaCy: ``{"text": ..., "ents": [{"start": 0, "end": 4, "label": "PER"}]}`` (``Doc.to_json``), or
  the pair ``["text", {"entities": [[0, 4, "PER"]]}]``;
- Prodigy: ``{"text": ..., "spans": [{"start": 0, "end": 4, "label": "PER"}], "answer": "accept"}``;
- doccano: ``{"text": ..., "label": [[0, 4, "PER"]]}``, or ``entities`` with ``start_offset``,
  ``end_offset``, ``label``;
- Label Studio: ``{"data": {"text": ...}, "annotations": [{"result": [{"value": {"start": 0, "end":
  4, "labels": ["PER"]}}]}]}``, and its short form with ``label``;
- Hugging Face: ``entities`` with ``entity_group``, ``start``, ``end``.

Tokens come from the object where it has them with their places, otherwise from the built-in
tokenizer; a sentence does not end inside a span. A span that begins or ends inside a token takes
the whole token, and of spans that overlap the longest counts; a warning counts both. What an
annotator rejected or skipped is left out.
"""

from __future__ import annotations

import json
import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from seqpa.data.corpus import Corpus, Extras
from seqpa.data.languages import language_of
from seqpa.data.lines import check_lengths
from seqpa.data.sentences import tokenized
from seqpa.data.source import Block, Limits, after_last_line
from seqpa.data.tokenizer import Place
from seqpa.errors import SeqpaError, SeqpaWarning
from seqpa.schemes import write_spans

_TEXTS = ("text", "data", "content")
_SPANS = ("spans", "ents", "entities", "label", "labels")
_STARTS = ("start", "start_offset", "start_char", "startOffset")
_ENDS = ("end", "end_offset", "end_char", "endOffset")
_LABELS = ("label", "entity_group", "entity", "type", "labels")
_SCHEME = "iob2"
_GAP = cast("str", None)  # a label that is not known
# A string of JSON, which may hold brackets, or a bracket.
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')


@dataclass(frozen=True, slots=True)
class Annotated:
    """One text with its spans.

    Parameters
    ----------
    text : str
        The text.
    spans : list of (start, end, label)
        In characters.
    tokens : list of (start, end) or None
        Where the tokens are, if that was said.
    labelled : bool
        Whether it was said which spans there are, or that there are none.
    origin : (str, int) or None
        The document that the text is from, and where it begins there, if ``meta`` says that.
    """

    text: str
    spans: list[tuple[int, int, str]]
    tokens: list[Place] | None = None
    labelled: bool = True
    origin: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class SpansLayout:
    """A block's texts: where each token is, for errors and for spans written back."""

    block: Block
    texts: list[str]
    text_at: list[int]
    lines: list[int]
    places: list[Place]
    lengths: list[int]
    origins: list[tuple[str, int] | None]
    format: str = "spans"

    def line_of(self, token: int) -> int:
        """The source's line of a token, counted from 1."""
        sentence = int(np.searchsorted(np.cumsum(self.lengths), token, side="right"))
        return self.block.first_line + self.lines[sentence]

    def text_of(self, sentence: int) -> str:
        """The text in which the places of a sentence's tokens are."""
        return self.texts[self.text_at[sentence]]

    def render(self, labels: Sequence[str], extras: Extras) -> str:
        """One object a text, with the spans that the labels mark."""
        from seqpa.data.markup import joined_records

        return joined_records(self, labels, extras)


class SpansReader:
    """Reads the blocks of one file.

    Parameters
    ----------
    labels : bool
        Whether the labels are read; if not, texts may come without spans.
    language : str
        Of the built-in tokenizer.
    keep_layout : bool
        Whether the corpora keep the texts and where their tokens are.
    limits : Limits, optional
        How long a sentence may be.
    gaps : bool
        Whether texts may come without spans: the labels of their tokens are None.

    Examples
    --------
    >>> from seqpa.data.source import Block
    >>> line = '{"text": "Ada won. Stop!", "label": [[0, 3, "PER"]]}'
    >>> corpus = SpansReader().parse(Block("a.jsonl", 1, line), {})
    >>> corpus.X, corpus.y
    ([['Ada', 'won', '.'], ['Stop', '!']], [['B-PER', 'O', 'O'], ['O', 'O']])
    """

    def __init__(
        self,
        labels: bool = True,
        language: str = "english",
        keep_layout: bool = False,
        limits: Limits | None = None,
        gaps: bool = False,
    ) -> None:
        language_of(language)
        self._labels = labels
        self._gaps = gaps
        self._language = language
        self._keep_layout = keep_layout
        self._limits = limits or Limits()
        self._is_list: bool | None = None
        self._depth = 0
        self._opened = False
        self._closed = False
        self._source = ""
        self._odd = _Odd()

    def cut(self, lines: str) -> int:
        """Where the last whole object of the next lines ends."""
        if self._is_list is None:
            if not lines.strip():
                return 0
            self._is_list = _is_list(lines)
        if not self._is_list:
            return after_last_line(lines)
        end = at = 0
        for line in lines.split("\n")[:-1]:
            at += len(line) + 1
            for sign in _BRACKETS.findall(line):  # no string of JSON goes over a line's end
                self._depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(sign, 0)
            if self._depth <= 1:
                end = at
        return end

    def parse(self, block: Block, pool: dict[str, str]) -> Corpus:
        """The sentences of a block; equal strings become one object through ``pool``."""
        words: list[str] = []
        labels: list[str] = []
        lengths: list[int] = []
        texts: list[str] = []
        text_at: list[int] = []
        lines: list[int] = []
        places: list[Place] = []
        origins: list[tuple[str, int] | None] = []
        self._source = block.source
        for index, value in self._objects(block):
            try:
                found = annotated(value, self._labels and not self._gaps)
                if found is None:
                    continue
                for sentence in self._sentences(found):
                    spans = self._odd.aligned(found, sentence, block, index)
                    own = write_spans(spans, len(sentence), _SCHEME)
                    labels += own if found.labelled else [_GAP] * len(sentence)
                    cut = [found.text[start:end] for start, end in sentence]
                    words += map(pool.setdefault, cut, cut)
                    lengths.append(len(sentence))
                    text_at.append(len(texts))
                    lines.append(index)
                    places += sentence
            except SeqpaError as error:
                raise block.error(index, str(error)) from None
            texts.append(found.text)
            origins.append(found.origin)
        check_lengths(
            block, np.array(lengths, dtype=np.int64), np.repeat(lines, lengths), self._limits
        )
        layout = None
        if self._keep_layout:
            layout = SpansLayout(block, texts, text_at, lines, places, lengths, origins)
        shared = list(map(pool.setdefault, labels, labels)) if self._labels else None
        return Corpus(("word",), [words], np.array(lengths, dtype=np.int64), shared, layout)

    def finish(self) -> None:
        """Tell, at the end of the file, what could not be kept as it was."""
        if self._is_list and not self._closed:
            raise SeqpaError(f"{self._source}: the JSON list in it has no end; is it cut off?")
        self._odd.warn()

    def _objects(self, block: Block) -> Iterator[tuple[int, Any]]:
        if self._is_list is None:
            self._is_list = _is_list(block.text)
        if self._is_list:
            self._closed = yield from _list_of(block, text_begins=not self._opened)
            self._opened = True
            return
        for index, line in enumerate(block.lines):
            if line.strip():
                yield index, _loaded(block, index, line)

    def _sentences(self, found: Annotated) -> Iterator[list[Place]]:
        if found.tokens is not None:
            if found.tokens:
                yield found.tokens
            return
        joined: list[Place] = []
        for sentence in tokenized(found.text, self._language):
            joined += sentence
            end = joined[-1][1]
            if not any(a < end < b for a, b, _ in found.spans):
                yield joined
                joined = []
        if joined:
            yield joined


class _Odd:
    """Counts the spans of a file that could not be kept as they are, and notes the first."""

    def __init__(self) -> None:
        self._widened = 0
        self._dropped = 0
        self._first = ""

    def aligned(
        self, found: Annotated, sentence: list[Place], block: Block, index: int
    ) -> list[tuple[str, int, int]]:
        """The spans of a sentence, in tokens."""
        starts = [start for start, _ in sentence]
        ends = [end for _, end in sentence]
        chosen: list[tuple[str, int, int]] = []
        taken = [False] * len(sentence)
        inside = [s for s in found.spans if s[0] < ends[-1] and s[1] > starts[0]]
        for start, end, label in sorted(inside, key=lambda s: (s[0] - s[1], s)):
            first = bisect_right(ends, start)
            last = bisect_left(starts, end)
            if first >= last:  # nothing but white space in it
                self._note(block, index, found.text[start:end])
                self._dropped += 1
                continue
            text = found.text[start:end]
            exact = start + len(text) - len(text.lstrip()), end - (len(text) - len(text.rstrip()))
            if exact != (starts[first], ends[last - 1]):
                self._note(block, index, text)
                self._widened += 1
            if any(taken[first:last]):
                self._note(block, index, text)
                self._dropped += 1
                continue
            taken[first:last] = [True] * (last - first)
            chosen.append((label, first, last))
        return sorted(chosen, key=lambda span: span[1])

    def _note(self, block: Block, index: int, text: str) -> None:
        self._first = self._first or f"{block.source}:{block.first_line + index}: {text!r}"

    def warn(self) -> None:
        """Say in one line what was changed."""
        parts = []
        if self._widened:
            parts.append(f"{self._widened:,} spans end inside words and were widened to them")
        if self._dropped:
            parts.append(f"{self._dropped:,} overlap longer ones or are blank and were left out")
        if parts:
            message = f"{self._first} and others: {'; '.join(parts)}"
            warnings.warn(message, SeqpaWarning, stacklevel=4)


# The shapes


def annotated(value: Any, with_spans: bool = True) -> Annotated | None:
    """The text and spans of an object in any known shape.

    Parameters
    ----------
    value : object
        As JSON has it.
    with_spans : bool
        Whether the spans must be there.

    Returns
    -------
    Annotated or None
        None for what an annotator rejected or skipped.

    Examples
    --------
    >>> annotated(["Ada won", {"entities": [[0, 3, "PER"]]}]).spans
    [(0, 3, 'PER')]
    """
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
        value = {**value[1], "text": value[0]} if isinstance(value[1], dict) else value
    if not isinstance(value, dict):
        raise SeqpaError(f"not an object with a text and its spans, but {_short(value)}")
    if value.get("answer", "accept") != "accept":
        return None
    text = next((value[key] for key in _TEXTS if isinstance(value.get(key), str)), None)
    raw = next((value[key] for key in _SPANS if isinstance(value.get(key), list)), None)
    if isinstance(value.get("data"), dict):  # Label Studio
        text, raw = _of_label_studio(value)
        if raw is None and with_spans:
            return None  # nobody has annotated it, or somebody skipped it
    if not isinstance(text, str):
        raise SeqpaError(f"there is no text ({', '.join(_TEXTS)}) in it: {_short(value)}")
    if raw is None and with_spans:
        raise SeqpaError(f"there are no spans ({', '.join(_SPANS)}) in it: {_short(value)}")
    labelled = raw is not None
    spans = [span for item in raw or () if (span := _span(item, text)) is not None]
    places = _tokens(value.get("tokens"), text)
    return Annotated(text, spans, places, labelled, _origin(value.get("meta")))


def _origin(meta: Any) -> tuple[str, int] | None:
    if not isinstance(meta, dict):
        return None
    document, start = meta.get("document"), meta.get("start")
    if not isinstance(document, str) or type(start) is not int or start < 0:
        return None
    return document, start


def _of_label_studio(value: dict[str, Any]) -> tuple[str | None, list[Any] | None]:
    data = value["data"]
    text = next((data[key] for key in _TEXTS if isinstance(data.get(key), str)), None)
    if text is None:
        text = next((item for item in data.values() if isinstance(item, str)), None)
    done = value.get("annotations", value.get("completions"))
    kept = [one for one in done or () if isinstance(one, dict) and not one.get("was_cancelled")]
    if not kept:
        return text, None
    results = kept[0].get("result") or []
    return text, [one["value"] for one in results if isinstance(one.get("value"), dict)]


def _span(item: Any, text: str) -> tuple[int, int, str] | None:
    if isinstance(item, (list, tuple)) and len(item) >= 3:
        start, end, label = item[:3]
    elif isinstance(item, dict):
        start, end = _first(item, _STARTS), _first(item, _ENDS)
        label = _first(item, _LABELS)
        if start is None and end is None:
            return None  # a relation or a choice, not a span
        if isinstance(label, list):
            label = label[0] if label else None
    else:
        raise SeqpaError(f"not a span with start, end and label: {_short(item)}")
    if type(start) is not int or type(end) is not int or not isinstance(label, str) or not label:
        raise SeqpaError(f"not a span with start, end and label: {_short(item)}")
    if not 0 <= start < end <= len(text):
        raise SeqpaError(f"the span {start} to {end} is not in the text of {len(text)} characters")
    return start, end, label


def _tokens(given: Any, text: str) -> list[Place] | None:
    if not isinstance(given, list) or not all(isinstance(token, dict) for token in given):
        return None
    places: list[Place] = []
    for token in given:
        start, end = token.get("start"), token.get("end")
        if type(start) is not int or type(end) is not int:
            return None
        if not 0 <= start < end <= len(text) or (places and start < places[-1][1]):
            raise SeqpaError(f"the token {start} to {end} is not in the text, or out of order")
        if text[start:end].strip():  # spaCy has tokens of white space
            places.append((start, end))
    return places


def _first(item: dict[str, Any], keys: Sequence[str]) -> Any:
    return next((item[key] for key in keys if key in item), None)


def _short(value: Any) -> str:
    told = json.dumps(value, ensure_ascii=False, default=str)
    return told if len(told) <= 60 else f"{told[:57]}..."


# JSON, whole or in lines


def _is_list(text: str) -> bool:
    """Whether a file is one JSON list: it begins as one, and its first line is not a whole one."""
    start = text.lstrip()
    if not start.startswith("["):
        return False
    line = start.split("\n", 1)[0]
    try:
        value = json.loads(line)
    except ValueError:
        return True
    # A list of two, text and entities, is one line of many; a list of objects is the file.
    return not (isinstance(value, list) and len(value) == 2 and isinstance(value[0], str))


def _list_of(block: Block, text_begins: bool) -> Generator[tuple[int, Any], None, bool]:
    """The objects of a list that a block has, and whether the list ends in it."""
    decoder = json.JSONDecoder()
    text = block.text
    at = text.index("[") + 1 if text_begins else 0
    line, counted = 0, 0
    while True:
        while at < len(text) and (text[at].isspace() or text[at] == ","):
            at += 1
        line += text.count("\n", counted, at)
        counted = at
        if at == len(text) or text[at] == "]":
            return at < len(text)
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            told = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise block.error(line, f"not JSON: {told}") from None
        yield line, value


def _loaded(block: Block, index: int, line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} at character {error.colno}"
    except (ValueError, RecursionError) as error:
        message = f"not usable JSON: {error}"
    raise block.error(index, message)
