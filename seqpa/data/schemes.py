"""Chunk labels: which spans they mark, whether they are legal, and one scheme as another.

A label is a tag, or a tag and a type: ``O``, ``B-PER``, ``I-PER``, ``E-PER``, ``S-PER``.
- IOB1: ``I`` is inside; ``B`` only where a chunk follows one of the same type at once.
- IOB2: every chunk begins with ``B``.
- BIOES: as IOB2, and a chunk ends with ``E``; a chunk of one token is ``S``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from seqpa.errors import SeqpaError

SCHEMES = ("iob1", "iob2", "bioes")
Span: TypeAlias = tuple[str, int, int]
_OUTSIDE = ("O", ".")
_TAGS = {"iob1": ("B", "I", "O"), "iob2": ("B", "I", "O"), "bioes": ("B", "I", "O", "E", "S")}


@lru_cache(maxsize=100_000)
def tag_and_type(label: str) -> tuple[str, str]:
    """Cut a label at its first hyphen.

    >>> tag_and_type("B-per-son"), tag_and_type("O")
    (('B', 'per-son'), ('O', ''))
    """
    tag, _, kind = label.partition("-")
    return tag, kind


@lru_cache(maxsize=100_000)
def _boundary(previous: str, label: str) -> tuple[bool, bool]:
    """Whether a chunk ends after ``previous``, and whether one starts at ``label``.

    conlleval's rules, which read every scheme, legal or not; and the two cases that it leaves
    out: a chunk of one token (S), and a chunk that follows an E.
    """
    tag_before, type_before = tag_and_type(previous)
    tag, kind = tag_and_type(label)
    changed = type_before != kind
    ends = (
        (tag_before in ("B", "I") and tag in ("B", "S", "O"))
        or tag_before in ("E", "S", "[", "]")
        or (tag_before not in _OUTSIDE and changed)
    )
    starts = (
        tag in ("B", "S", "[", "]")
        or (tag_before in ("O", "E", "S") and tag in ("I", "E"))
        or (tag not in _OUTSIDE and changed)
    )
    return ends, starts


def spans(labels: Sequence[str]) -> list[Span]:
    """The chunks of a sentence as (type, start, end), the end not included.

    Read as conlleval reads them, whatever the scheme: an ``I`` without a beginning starts a chunk.

    >>> spans(["I-PER", "I-PER", "B-PER", "O", "I-LOC", "I-ORG"])
    [('PER', 0, 2), ('PER', 2, 3), ('LOC', 4, 5), ('ORG', 5, 6)]
    """
    found: list[Span] = []
    start = -1
    kind = ""
    previous = "O"
    for position, label in enumerate(labels):
        if previous == "O" == label:
            continue
        ends, starts = _boundary(previous, label)
        if start >= 0 and (ends or starts):
            found.append((kind, start, position))
            start = -1
        if starts:
            start = position
            kind = tag_and_type(label)[1]
        previous = label
    if start >= 0:
        found.append((kind, start, len(labels)))
    return found


@lru_cache(maxsize=100_000)
def allowed(previous: str | None, label: str | None, scheme: str) -> bool:
    """Whether ``label`` may follow ``previous``; None is the edge of the sentence.

    >>> allowed("B-PER", "I-PER", "iob2"), allowed("O", "I-PER", "iob2")
    (True, False)
    >>> allowed("B-PER", None, "bioes")
    False
    """
    _checked_scheme(scheme)
    tag_before, type_before = tag_and_type(previous or "O")
    tag, kind = tag_and_type(label or "O")
    if not _in_alphabet(label or "O", scheme):
        return False
    same = type_before == kind
    if scheme == "iob1":
        return tag != "B" or (tag_before in ("B", "I") and same)
    inside = tag in ("I", "E")
    if scheme == "iob2":
        return not inside or (tag_before in ("B", "I") and same)
    return inside == (tag_before in ("B", "I")) and (not inside or same)


def violation(labels: Sequence[str], scheme: str) -> int | None:
    """The first position whose label is illegal there; the length if it ends too early.

    >>> violation(["O", "I-PER"], "iob2"), violation(["B-PER"], "bioes"), violation(["O"], "iob1")
    (1, 1, None)
    """
    previous: str | None = None
    for position, label in enumerate(labels):
        if not allowed(previous, label, scheme):
            return position
        previous = label
    return None if allowed(previous, None, scheme) else len(labels)


def check(sentences: Sequence[Sequence[str]], scheme: str) -> None:
    """Raise an error that names the first illegal label: its sentence and position, from 1."""
    for number, labels in enumerate(sentences, 1):
        position = violation(labels, scheme)
        if position is not None:
            raise SeqpaError(
                f"sentence {number}, token {min(position + 1, len(labels))}: "
                + describe(labels, position, scheme)
            )


def describe(labels: Sequence[str], position: int, scheme: str) -> str:
    """Why the label at ``position`` is illegal."""
    name = scheme.upper()
    if position == len(labels):
        return f"the sentence ends after {labels[-1]!r}, which {name} does not allow"
    label = labels[position]
    if not _in_alphabet(label, scheme):
        return f"{label!r} is no {name} label; its tags are {', '.join(_TAGS[scheme])}, as in B-PER"
    before = f"after {labels[position - 1]!r}" if position else "at the start of a sentence"
    return f"{label!r} {before} is not legal {name}"


def convert(labels: Sequence[str], scheme: str) -> list[str]:
    """The same chunks in another scheme.

    >>> convert(["I-PER", "I-PER", "B-PER", "O"], "bioes")
    ['B-PER', 'E-PER', 'S-PER', 'O']
    """
    _checked_scheme(scheme)
    for label in set(labels):
        if not _in_alphabet(label, "bioes"):
            position = labels.index(label)
            raise SeqpaError(f"token {position + 1}: " + describe(labels, position, "bioes"))
    if violation(labels, scheme) is None:
        return list(labels)
    converted = ["O"] * len(labels)
    before: Span = ("", -1, -1)
    for span in spans(labels):
        kind, start, end = span
        tags = ["I"] * (end - start)
        if scheme != "iob1" or (before[0], before[2]) == (kind, start):
            tags[0] = "B"
        if scheme == "bioes":
            tags[-1] = "E" if len(tags) > 1 else "S"
        converted[start:end] = [_label(tag, kind) for tag in tags]
        before = span
    return converted


@lru_cache(maxsize=100_000)
def _label(tag: str, kind: str) -> str:
    return f"{tag}-{kind}" if kind else tag


def _in_alphabet(label: str, scheme: str) -> bool:
    tag, kind = tag_and_type(label)
    return tag in _TAGS[scheme] and not (tag == "O" and kind)


def _checked_scheme(scheme: str) -> None:
    if scheme not in SCHEMES:
        raise SeqpaError(f"scheme: {scheme!r} is none of {', '.join(SCHEMES)}")
