"""Sentences into a project and out of it: columns, CoNLL-U, JSON lines, spaCy, Hugging Face, text.

`read_sentences` makes the sentences of a new project out of files of any format that `seqpa` reads;
`export` writes what is labelled. What came in goes out again: the text with every space, where its
tokens are, further columns, and of CoNLL-U the comments, ranges and empty nodes as well.

Labels are never made up. A sentence that nobody has finished (not labelled yet, skipped, or of
which only some tokens are confirmed) is left out of every format, and `Exported` says how many
there were; ``seqpa train`` on the project itself learns from the confirmed tokens too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from seqpa.data import Corpus, read_chunks
from seqpa.data.conll import LineLayout
from seqpa.data.conll import render as conll_text
from seqpa.data.conllu import FIELDS, ConlluLayout
from seqpa.data.jsonl import JsonLayout
from seqpa.data.markup import LabelledText, labelled_texts, spacy_record, with_blanks
from seqpa.data.names import LABELS
from seqpa.data.recognise import look_at
from seqpa.data.spans import SpansLayout
from seqpa.data.survey import guess_columns
from seqpa.data.teach_project import label_column
from seqpa.data.text import TextLayout
from seqpa.errors import SeqpaError, did_you_mean
from seqpa.files import write_atomically
from seqpa.schemes import (
    INSIDE,
    OUTSIDE,
    boundary,
    check_scheme,
    label_of,
    marks_spans,
    spans,
    type_of,
)
from seqpa.teach.store import Sentence

# What `export` writes, and the ending of such a file.
EXPORTS = {
    "conll": ".conll",
    "conllu": ".conllu",
    "jsonl": ".jsonl",
    "spacy": ".json",
    "docbin": ".spacy",
    "huggingface": ".jsonl",
}
# Cells of CoNLL-U that are no fields: the lines before a token, and those behind the last one.
BEFORE, AFTER = "#before", "#after"
_NER = "NER="
_BLANK = "_"  # in columns, what many write where there is nothing
# What is between words, where it is not one space, with the signs of UDPipe.
_SPACES = "SpacesAfter="
_SIGNS = {"\\s": " ", "\\t": "\t", "\\r": "\r", "\\n": "\n", "\\p": "|", "\\\\": "\\"}
_ESCAPES = {sign: told for told, sign in _SIGNS.items()}
_SIGN = re.compile(r"\\[strnp\\]")
_LINE_END = re.compile(r"\s*[\n\r]\s*")
Annotation: TypeAlias = dict[str, Any]


class Imported(NamedTuple):
    """What files have for a project.

    Parameters
    ----------
    kind : str
        ``spans`` or ``tokens``.
    labels : list of str
        The labels that were found: types of spans, or labels of tokens; the most frequent first.
    sentences : list of Sentence
        With the numbers 0, 1, 2, ...
    names : list of str
        What the cells of ``Sentence.columns`` are called. Keep them with the project: `export`
        asks for them.
    parts : dict of int to list
        Of sentences of which only some tokens have labels, what these are: ``[start, end, label or
        None]``, None being outside of any span. Spans that may go on in tokens without a label are
        left out.
    """

    kind: str
    labels: list[str]
    sentences: list[Sentence]
    names: list[str]
    parts: dict[int, list[list[Any]]]


class Exported(NamedTuple):
    """What an export wrote, and what it left out.

    Parameters
    ----------
    sentences, tokens : int
        How many were written.
    left_out : int
        How many sentences nobody has finished.
    merged : int
        How many spans the scheme cannot tell from the one that they touch.
    """

    sentences: int
    tokens: int
    left_out: int
    merged: int = 0

    def __str__(self) -> str:
        """In one line."""
        ends = ["" if n == 1 else "s" for n in (self.sentences, self.tokens)]
        told = f"{self.sentences:,} labelled sentence{ends[0]}, {self.tokens:,} token{ends[1]}"
        if self.left_out:
            told += f"; left out, since not finished: {self.left_out:,}"
        if self.merged:
            told += (
                "; spans that touch one of the same label, and that io cannot tell from it, as "
                f"other schemes can: {self.merged:,}"
            )
        return told


# In


@dataclass(frozen=True, slots=True)
class _Raw:
    """A sentence on its way in."""

    text: str
    tokens: list[str]
    places: list[tuple[int, int]]
    cells: list[list[str]]
    labels: list[str | None] | None
    document: str
    start: int | None


def read_sentences(
    paths: Sequence[str | Path],
    kind: str | None = None,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    label: str | None = None,
    encoding: str | None = None,
    language: str = "english",
    unlabelled: str | None = None,
) -> Imported:
    """The sentences of files, with the labels that they have.

    Parameters
    ----------
    paths : sequence of str or Path
        The files; all of one shape.
    kind : str, optional
        ``spans`` or ``tokens``; by default as the labels say, and spans where there are none.
    format, columns, label, encoding : optional
        As `seqpa.data.read` has them; by default found by looking.
    language : str
        Of text, whose words and sentences the built-in tokenizer finds.
    unlabelled : str, optional
        What stands in columns in place of a label that is not known; by default ``_``, unless that
        is what stands outside of spans.

    Returns
    -------
    Imported

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.conll"
    >>> _ = file.write_text("Ada B-PER\\nwon O\\n")
    >>> found = read_sentences([file])
    >>> found.kind, found.labels, found.sentences[0].given
    ('spans', ['PER'], {'spans': [[0, 1, 'PER']]})
    """
    raw: list[_Raw] = []
    names: list[str] | None = None
    for path in paths:
        own, found = _read_file(path, kind, format, columns, label, encoding, language, unlabelled)
        if names is not None and own != names:
            told = " and ".join(", ".join(["word", *some]) for some in (names, own))
            raise SeqpaError(f"{path}: has other columns than the files before it: {told}")
        names = own
        raw += found
    if not raw:
        raise SeqpaError("there is no sentence in the files")
    seen = {name for one in raw for name in one.labels or () if name is not None}
    if kind is None:
        kind = "tokens" if seen and not marks_spans(seen) else "spans"
    counts: dict[str, int] = {}
    sentences = []
    parts: dict[int, list[list[Any]]] = {}
    positions: dict[str, int] = {}
    for number, one in enumerate(raw):
        given = _given(one.labels, kind)
        if given is not None and None in (one.labels or ()):
            parts[number] = _pieces(one.labels or [], kind)
            if kind == "spans":  # of spans that are left out, too
                for name in filter(None, map(type_of, filter(None, one.labels or []))):
                    counts.setdefault(name, 0)
        for name in _names_in(given):
            counts[name] = counts.get(name, 0) + 1
        position = positions.get(one.document, 0)
        positions[one.document] = position + 1
        offsets = [[a, b] for a, b in one.places]
        sentences.append(
            Sentence(
                number, one.document, position, one.text, one.tokens, offsets,
                one.cells or None, given, one.start,
            )
        )  # fmt: skip
    labels = sorted(counts, key=lambda name: (-counts[name], name))
    return Imported(kind, labels, sentences, names or [], parts)


def _given(labels: list[str | None] | None, kind: str) -> Annotation | None:
    if labels is None or not any(labels):
        return None
    if kind == "tokens":
        return {"labels": list(labels)}
    return {"spans": [piece for piece in _pieces(labels, kind) if piece[2] is not None]}


def _pieces(labels: Sequence[str | None], kind: str) -> list[list[Any]]:
    """What is known where some tokens have no label."""
    if kind == "tokens":
        return [[i, i + 1, name] for i, name in enumerate(labels) if name is not None]
    found: list[list[Any]] = []
    begin = 0
    for known, run in groupby(labels, lambda label: label is not None):
        own = list(run)
        end = begin + len(own)
        if known:
            inside = [True] * len(own)
            for name, a, b in spans(cast("list[str]", own)):
                inside[a:b] = [False] * (b - a)
                # Beside a token without a label it may be longer, unless its own labels say no.
                more = label_of(INSIDE, name)
                first = a > 0 or begin == 0 or boundary(more, cast("str", own[a]))[1]
                last = (
                    b < len(own) or end == len(labels) or boundary(cast("str", own[b - 1]), more)[0]
                )
                if first and last:
                    found.append([begin + a, begin + b, name or "SPAN"])
            found += [[begin + i, begin + i + 1, None] for i, out in enumerate(inside) if out]
        begin = end
    return sorted(found, key=lambda piece: piece[0])


def _names_in(annotation: Annotation | None) -> list[str]:
    if annotation is None:
        return []
    if "spans" in annotation:
        return [span[2] for span in annotation["spans"]]
    return [label for label in annotation["labels"] if label is not None]


def _read_file(
    path: str | Path,
    kind: str | None,
    format: str | None,
    columns: Sequence[str] | None,
    label: str | None,
    encoding: str | None,
    language: str,
    unlabelled: str | None,
) -> tuple[list[str], list[_Raw]]:
    seen = look_at(path, encoding)
    chosen = format or seen.format
    if chosen == "teach":
        raise SeqpaError(f"{path}: is a project already; open it alone: seqpa teach {path}")
    own = None if columns is None else list(columns)
    labelled = chosen != "text"
    if chosen == "conll" and own is None:
        width = len(seen.columns)
        guess = ["word"] if width < 2 else guess_columns(width)
        own = [f"column{i}" if name == "_" else name for i, name in enumerate(guess, 1)]
        labelled = label is not None or "label" in own
    elif chosen == "conllu":
        label = label or "upos"
        own = [name for name in FIELDS[1:] if name not in label.split("+")]
        labelled = _has_upos(path, seen.encoding, label)
    chunks = read_chunks(
        path,
        chosen,
        columns=own,
        label=label,
        encoding=seen.encoding,
        with_labels=labelled,
        language=language,
        keep_layout=chosen not in ("parquet", "nltk"),
        gaps=True,
    )
    names: list[str] = []
    found: list[_Raw] = []
    texts = 0  # of the file, before a chunk
    for corpus in chunks:
        names = list(corpus.names[1:])
        found += _sentences(corpus, str(path), texts)
        texts += len(corpus.layout.texts) if isinstance(corpus.layout, SpansLayout) else 0
    if chosen == "conllu":
        return _finish_conllu(names, found, kind, label or "upos")
    return names, _with_gaps(found, unlabelled)


def _with_gaps(raw: list[_Raw], mark: str | None) -> list[_Raw]:
    """None in place of labels that are not known."""
    known: str | None = None
    if mark is None:
        mark = _BLANK
        seen = {x for one in raw for x in one.labels or () if x is not None and x != mark}
        if marks_spans(seen) and OUTSIDE not in seen:
            known = OUTSIDE
    return [
        replace(one, labels=[known if x == mark else x for x in one.labels])
        if one.labels and mark in one.labels
        else one
        for one in raw
    ]


def _sentences(corpus: Corpus, path: str, texts_before: int) -> Iterator[_Raw]:
    layout = corpus.layout
    names = corpus.names[1:]
    n = len(corpus)
    labels: list[Any] = [None] * n if corpus.labels is None else corpus.split(corpus.labels)
    words = corpus.split(corpus.columns[0])
    rows = corpus.split([list(row) for row in zip(*corpus.columns[1:], strict=True)])
    texts = [(one.text, one.places) for one in labelled_texts(corpus, [""] * corpus.n_tokens)]
    firsts = corpus.offsets.tolist()
    numbers = np.zeros(n, int) if corpus.documents is None else corpus.documents
    extra: list[list[list[str]]] = [[] for _ in range(n)]
    objects: list[dict[str, Any]] = []
    if isinstance(layout, JsonLayout):
        objects = [one for _, one in layout.objects if one["tokens"]]
    elif isinstance(layout, ConlluLayout):
        extra = [_lines_around(layout, a, b) for a, b in _bounds(corpus)]
    for i in range(n):
        text, places = texts[i]
        if objects:
            text, places = _placed(objects[i], words[i], text, places)
        elif isinstance(layout, ConlluLayout):
            misc = [row[names.index("misc")] for row in rows[i]]
            text, places = _spaced(extra[i][0][0], words[i], misc, text, places)
        own = rows[i] if rows else []
        own = [row + more for row, more in zip(own, extra[i], strict=True)] if extra[i] else own
        name = path if numbers[i] == numbers.min() and numbers[i] <= 1 else f"{path}#{numbers[i]}"
        start = None
        if objects and isinstance(objects[i].get("document"), str):
            name, start = objects[i]["document"], _number(objects[i].get("start"))
        elif isinstance(layout, TextLayout):
            start = layout.block.start + layout.places[firsts[i]][0]
        elif isinstance(layout, SpansLayout):
            at = layout.text_at[i]
            name, begin = layout.origins[at] or (_numbered(path, texts_before + at), 0)
            start = begin + layout.places[firsts[i]][0]
        yield _Raw(text, words[i], list(places), own, labels[i], name, start)


def _numbered(path: str, text: int) -> str:
    """What one of the texts of a file is called."""
    return path if text == 0 else f"{path}#{text + 1}"


def _number(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _bounds(corpus: Corpus) -> list[tuple[int, int]]:
    ends = corpus.offsets.tolist()
    return list(pairwise(ends))


def _lines_around(layout: ConlluLayout | LineLayout, start: int, end: int) -> list[list[str]]:
    """For each token the lines that stand before it, and for the last those behind it."""
    lines = layout.block.lines
    at = [int(i) for i in layout.token_at[start:end]]
    first = at[0]
    while first > 0 and lines[first - 1].strip():
        first -= 1
    found = []
    for i in at:
        found.append(["\n".join(lines[first:i]), ""])
        first = i + 1
    last = first
    while last < len(lines) and lines[last].strip():
        last += 1
    found[-1][1] = "\n".join(lines[first:last])
    return found


def _placed(
    record: dict[str, Any], words: list[str], text: str, places: list[tuple[int, int]]
) -> tuple[str, list[tuple[int, int]]]:
    """The text of a JSON object that has one, with the places of its words, if they fit."""
    own, offsets = record.get("sentence_text"), record.get("offsets")
    if not isinstance(own, str) or not isinstance(offsets, list) or len(offsets) != len(words):
        return text, places
    try:
        found = [(int(a), int(b)) for a, b in offsets]
    except (TypeError, ValueError):
        return text, places
    end = 0
    for (a, b), word in zip(found, words, strict=True):
        if not end <= a < b or own[a:b] != word:
            return text, places
        end = b
    return own, found


def _spaced(
    comments: str,
    words: list[str],
    misc: list[str],
    text: str,
    places: list[tuple[int, int]],
) -> tuple[str, list[tuple[int, int]]]:
    """The text of a comment ``# text = ``, if all words are in it one behind the other; or as MISC
    says what is between them, where that is more than one space or there is no such comment."""
    gaps = [_gap(cell) for cell in misc]
    own = next((x[9:] for x in comments.split("\n") if x.startswith("# text = ")), None)
    if own is None or any(gap.strip(" ") for gap in gaps):
        found = []
        at = 0
        for word, gap in zip(words, gaps, strict=True):
            found.append((at, at + len(word)))
            at += len(word) + len(gap)
        joined = "".join(word + gap for word, gap in zip(words, gaps, strict=True))
        return joined[: found[-1][1]], found
    found = []
    at = 0
    for word in words:
        start = own.find(word, at)
        if start < 0 or own[at:start].strip():
            return text, places
        at = start + len(word)
        found.append((start, at))
    return own, found


def _gap(misc: str) -> str:
    """What is between a word and the next one, as MISC says it."""
    for part in misc.split("|"):
        if part == "SpaceAfter=No":
            return ""
        if part.startswith(_SPACES):
            return _SIGN.sub(lambda found: _SIGNS[found[0]], part[len(_SPACES) :])
    return " "


def _gaps(sentence: Sentence) -> list[str]:
    """For each word what MISC says of the blanks behind it; nothing where that is one space."""
    told = []
    for (_, end), (start, _) in pairwise(sentence.offsets):
        gap = sentence.text[end:start]
        if not gap:
            told.append("SpaceAfter=No")
        elif gap == " " or not gap.isspace():
            told.append("")
        else:
            told.append(_SPACES + "".join(_ESCAPES.get(sign, sign) for sign in gap))
    return [*told, ""]


def _finish_conllu(
    names: list[str], found: list[_Raw], kind: str | None, label: str
) -> tuple[list[str], list[_Raw]]:
    """Spans stand in MISC, as ``NER=B-PER``; labels of tokens in the field that is learned."""
    at = names.index("misc")
    has = any(_NER in row[at] for one in found for row in one.cells)
    if kind == "tokens" or (kind is None and not has):
        return [*names, BEFORE, AFTER], found
    changed = []
    own_names = [name for name in FIELDS[1:] if name != "word"]
    for one in found:
        upos = one.labels or [None] * len(one.tokens)
        labels: list[str | None] = []
        rows = []
        for row, tag in zip(one.cells, upos, strict=True):
            parts = row[at].split("|")
            labels.append(next((_unescaped(p) for p in parts if p.startswith(_NER)), None))
            misc = "|".join(p for p in parts if not p.startswith(_NER)) or "_"
            by = {**dict(zip(names, row, strict=False)), "misc": misc, **_field_cells(label, tag)}
            rows.append([*(by.get(name, "_") for name in own_names), *row[len(names) :]])
        changed.append(replace(one, cells=rows, labels=labels))
    return [*own_names, BEFORE, AFTER], changed


def _escaped(label: str) -> str:
    """A label as a part of MISC, where ``|`` parts: as ``\\p``, as in other values there."""
    return _NER + label.replace("\\", "\\\\").replace("|", "\\p")


def _unescaped(part: str) -> str:
    signs = {"\\\\": "\\", "\\p": "|"}
    return re.sub(r"\\[\\p]", lambda found: signs[found[0]], part[len(_NER) :])


def _field_cells(label: str, tag: str | None) -> dict[str, str]:
    if label == "upos+feats":
        upos, _, feats = (tag or "_").partition("|")
        return {"upos": upos, "feats": feats or "_"}
    return {label: tag or "_"}


def _has_upos(path: str | Path, encoding: str, label: str) -> bool:
    """Whether any token of a CoNLL-U file has a label in its field."""
    at = FIELDS.index(label.split("+")[0])
    fields = read_chunks(path, "conllu", ["word", FIELDS[at]], "feats" if at != 5 else "upos",
                         encoding=encoding, with_labels=False)  # fmt: skip
    return any({*chunk.columns[1]} - {"_", ""} for chunk in fields)


# Out


def rendered(
    entries: Iterable[tuple[Sentence, Annotation | None]],
    kind: str,
    format: str,
    names: Sequence[str] = (),
    scheme: str = "iob2",
    label: str = "upos",
) -> tuple[bytes, Exported]:
    """Labelled sentences as the bytes of a file.

    Parameters
    ----------
    entries : iterable of (Sentence, annotation or None)
        In order; those without an annotation are counted and left out.
    kind : str
        ``spans`` or ``tokens``.
    format : str
        One of `EXPORTS`.
    names : sequence of str
        What the further cells of the sentences are called, as `Imported` has them.
    scheme : str
        How spans are written as labels of tokens.
    label : str
        The field of CoNLL-U that labels of tokens go to.

    Returns
    -------
    data : bytes
    exported : Exported

    Examples
    --------
    >>> one = Sentence(0, "a", 0, "Ada won", ["Ada", "won"], [[0, 3], [4, 7]])
    >>> data, told = rendered([(one, {"spans": [[0, 1, "PER"]]}), (one, None)], "spans", "conll")
    >>> data
    b'Ada\\tB-PER\\nwon\\tO\\n\\n'
    >>> print(told)
    1 labelled sentence, 2 tokens; left out, since not finished: 1
    """
    if format not in EXPORTS:
        hint = did_you_mean(format, list(EXPORTS))
        raise SeqpaError(f"format: {format!r} cannot be exported{hint}")
    check_scheme(scheme)
    if format in ("spacy", "docbin") and kind != "spans":
        raise SeqpaError(f"{format} has spans, and this project labels tokens; export conllu")
    if format in ("spacy", "docbin"):
        scheme = "iob2"  # read again as spans: what is written has no scheme
    kept: list[tuple[Sentence, list[str | None]]] = []
    left_out = merged = 0
    for sentence, annotation in entries:
        column = label_column(len(sentence.tokens), kind, annotation, (), scheme)
        if column is None or None in column or not column:
            left_out += 1
            continue
        kept.append((sentence, column))
        if scheme == "io" and kind == "spans" and annotation is not None:
            merged += _touching(annotation)
    labelled = cast("list[tuple[Sentence, list[str]]]", kept)
    exported = Exported(len(kept), sum(len(one.tokens) for one, _ in kept), left_out, merged)
    if format == "docbin":
        return _docbin(labelled), exported
    if format == "conll":
        text = _conll(labelled, names)
    elif format == "conllu":
        text = "".join(_conllu(one, labels, kind, names, label) for one, labels in labelled)
    else:
        shape = {"jsonl": _json, "spacy": _spacy, "huggingface": _huggingface}[format]
        records = (shape(one, labels, kind, names) for one, labels in labelled)
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return text.encode("utf-8", "surrogatepass"), exported


def _touching(annotation: Annotation) -> int:
    """How many spans begin where one of the same label ends."""
    ends = {(end, label) for _, end, label in annotation["spans"]}
    return sum((start, label) in ends for start, _, label in annotation["spans"])


def export(
    target: str | Path,
    entries: Iterable[tuple[Sentence, Annotation | None]],
    kind: str,
    format: str | None = None,
    names: Sequence[str] = (),
    scheme: str = "iob2",
    label: str = "upos",
    force: bool = False,
) -> Exported:
    """Write labelled sentences to a file, whole or not at all.

    Parameters
    ----------
    target : str or Path
        The file.
    entries, kind, names, scheme, label
        As for `rendered`.
    format : str, optional
        One of `EXPORTS`; by default as the name of the file ends.
    force : bool
        Whether a file that is there may be replaced.

    Returns
    -------
    Exported
    """
    target = Path(target)
    if format is None:
        by_ending = {ending: name for name, ending in reversed(EXPORTS.items())}
        format = by_ending.get(target.suffix.lower())
        if format is None:
            raise SeqpaError(
                f"{target}: its name does not say the format; say it: {', '.join(EXPORTS)}"
            )
    if target.exists() and not force:
        raise SeqpaError(f"{target}: is there already; say --force to replace it")
    data, exported = rendered(entries, kind, format, names, scheme, label)
    write_atomically(target, data)
    return exported


def _cells_of(sentence: Sentence, names: Sequence[str]) -> dict[str, list[str]]:
    """The further cells of a sentence by their names, a list over its tokens each."""
    if not sentence.columns:
        return {}
    width = len(sentence.columns[0])
    known = [*names, *(f"column{i + 2}" for i in range(len(names), width))]
    return dict(zip(known, map(list, zip(*sentence.columns, strict=True)), strict=False))


def _conll(labelled: Sequence[tuple[Sentence, list[str]]], names: Sequence[str]) -> str:
    parts = []
    document = labelled[0][0].document if labelled else ""
    for sentence, labels in labelled:
        if sentence.document != document:
            document = sentence.document
            parts.append("-DOCSTART-\n\n")
        cells = _cells_of(sentence, names)
        cells = {name: own for name, own in cells.items() if name not in (BEFORE, AFTER)}
        lengths = np.array([len(sentence.tokens)], np.int64)
        corpus = Corpus(("word", *cells), [sentence.tokens, *cells.values()], lengths)
        parts.append(conll_text(corpus, labels, {}))
    return "".join(parts)


def _conllu(
    sentence: Sentence, labels: list[str], kind: str, names: Sequence[str], label: str
) -> str:
    by = _cells_of(sentence, names)
    rows = []
    gaps = [""] * len(sentence.tokens)
    if BEFORE not in by:  # else it goes as it came
        gaps = _gaps(sentence)
        rows.append("# text = " + _LINE_END.sub(" ", sentence.text.strip()))
    for i, (word, own) in enumerate(zip(sentence.tokens, labels, strict=True)):
        if not word or any(sign in word for sign in "\t\n\r"):
            raise SeqpaError(f"a CoNLL-U field can hold no tab, line end or nothing: {word!r}")
        cells = {name: by[name][i] for name in FIELDS if name in by}
        known = [p for p in cells.get("misc", "_").split("|") if p not in ("_", "")]
        known += [gaps[i]] if gaps[i] else []
        if kind == "tokens":
            cells |= _field_cells(label, own)
        else:
            known.append(_escaped(own))
        cells["misc"] = "|".join(known) or "_"
        if BEFORE in by and by[BEFORE][i]:
            rows.append(by[BEFORE][i])
        rows.append("\t".join([str(i + 1), word, *(cells.get(name, "_") for name in FIELDS[2:])]))
        if AFTER in by and by[AFTER][i]:
            rows.append(by[AFTER][i])
    return "\n".join(rows) + "\n\n"


def _json(sentence: Sentence, labels: list[str], kind: str, names: Sequence[str]) -> dict[str, Any]:
    return {
        **_origin(sentence),
        "sentence_text": sentence.text,
        "offsets": [list(place) for place in sentence.offsets],
        "tokens": sentence.tokens,
        "labels": labels,
        **{name: own for name, own in _cells_of(sentence, names).items() if name not in LABELS},
    }


def _huggingface(
    sentence: Sentence, labels: list[str], kind: str, names: Sequence[str]
) -> dict[str, Any]:
    key = "ner_tags" if kind == "spans" else "pos_tags"
    own = {"id": str(sentence.id), "tokens": sentence.tokens, key: labels, **_origin(sentence)}
    return own | {"sentence_text": sentence.text, "offsets": [list(p) for p in sentence.offsets]}


def _spacy(
    sentence: Sentence, labels: list[str], kind: str, names: Sequence[str]
) -> dict[str, Any]:
    places = [(a, b) for a, b in sentence.offsets]
    record = spacy_record(LabelledText(sentence.text, places, labels, [len(labels)]))
    return record | {"meta": _origin(sentence)}  # where Prodigy has such things, too


def _origin(sentence: Sentence) -> dict[str, Any]:
    """The document, and where the sentence begins in it: with that, and its own offsets, each word
    can be found where it came from."""
    return {"document": sentence.document, "start": sentence.start}


def _docbin(labelled: Sequence[tuple[Sentence, list[str]]]) -> bytes:
    try:
        from spacy.tokens import Doc, DocBin, Span
        from spacy.vocab import Vocab
    except ImportError:
        raise SeqpaError("docbin needs spaCy: pip install spacy; or export spacy (JSON)") from None
    vocab = Vocab()
    kept = DocBin(store_user_data=True)
    for sentence, labels in labelled:
        text = sentence.text
        own = [(a, b) for a, b in sentence.offsets]
        places = with_blanks(text, own)
        at = {place: i for i, place in enumerate(places)}
        spaces = [text[end : end + 1] == " " for _, end in places]
        doc = Doc(vocab, words=[text[a:b] for a, b in places], spaces=spaces)
        doc.set_ents(
            [Span(doc, at[own[a]], at[own[b - 1]] + 1, kind) for kind, a, b in spans(labels)]
        )
        doc.user_data.update(_origin(sentence))
        kept.add(doc)
    return bytes(kept.to_bytes())
