"""From labels to chunks and back: conlleval's reading of any scheme, a strict one, conversion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.schemes.legality import violation
from seqpa.schemes.tags import (
    BEGIN,
    CHUNK_TAGS,
    END,
    INSIDE,
    OUTSIDE,
    READ_AS,
    SHAPES,
    SINGLE,
    Span,
    check_scheme,
    label_of,
    tag_and_type,
)

# conlleval also knows "." for outside, and brackets for chunks of one token.
_OUTSIDE_TAGS = (OUTSIDE, ".")
_BRACKETS = ("[", "]")


@lru_cache(maxsize=100_000)
def boundary(previous: str, label: str) -> tuple[bool, bool]:
    """Whether a chunk ends after ``previous``, and whether one starts at ``label``.

    conlleval's rules, which read every scheme, legal or not; and what it leaves out: a chunk of
    one token (S), a chunk that follows an E, and the letters of BILOU and BMES.

    Parameters
    ----------
    previous, label : str
        Two labels, one after the other.

    Returns
    -------
    ends, starts : bool

    Examples
    --------
    >>> boundary("B-PER", "I-LOC"), boundary("B-PER", "I-PER")
    ((True, True), (False, False))
    """
    tag_before, type_before = tag_and_type(previous)
    tag, kind = tag_and_type(label)
    tag_before, tag = READ_AS.get(tag_before, tag_before), READ_AS.get(tag, tag)
    changed = type_before != kind
    ends = (
        (tag_before in (BEGIN, INSIDE) and tag in (BEGIN, SINGLE, OUTSIDE))
        or tag_before in (END, SINGLE, *_BRACKETS)
        or (tag_before not in _OUTSIDE_TAGS and changed)
    )
    starts = (
        tag in (BEGIN, SINGLE, *_BRACKETS)
        or (tag_before in (OUTSIDE, END, SINGLE) and tag in (INSIDE, END))
        or (tag not in _OUTSIDE_TAGS and changed)
    )
    return ends, starts


def spans(labels: Sequence[str]) -> list[Span]:
    """The chunks of a sentence.

    Read as conlleval reads them, whatever the scheme: an ``I`` without a beginning starts a chunk.

    Parameters
    ----------
    labels : sequence of str
        The labels of one sentence.

    Returns
    -------
    list of (type, start, end)
        The end is not included.

    Examples
    --------
    >>> spans(["I-PER", "I-PER", "B-PER", "O", "I-LOC", "I-ORG"])
    [('PER', 0, 2), ('PER', 2, 3), ('LOC', 4, 5), ('ORG', 5, 6)]
    """
    found: list[Span] = []
    start = -1
    kind = ""
    previous = OUTSIDE
    for position, label in enumerate(labels):
        if previous == OUTSIDE == label:
            continue
        ends, starts = boundary(previous, label)
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


class Boundaries(NamedTuple):
    """Where spans begin and go on, as `spans` reads them, for all pairs of labels.

    Parameters
    ----------
    types : list of str
        The types of the spans.
    kinds : int32 (labels,)
        The number of each label's type; -1 where it is outside.
    first : uint8 (labels,)
        Whether a span starts at a label that is the first of its sentence.
    starts : uint8 (labels, labels)
        Whether a span starts at a label (column) after another (row).
    links : uint8 (labels, labels)
        Whether the span that the label before is in, if it is in one, goes on.

    Examples
    --------
    >>> boundaries(["O", "B-x", "I-x"]).first.tolist()
    [0, 1, 1]
    """

    types: list[str]
    kinds: NDArray[np.int32]
    first: NDArray[np.uint8]
    starts: NDArray[np.uint8]
    links: NDArray[np.uint8]


def boundaries(labels: Sequence[str]) -> Boundaries:
    """Where spans begin and go on, for all pairs of labels.

    Parameters
    ----------
    labels : sequence of str
        All labels.

    Returns
    -------
    Boundaries

    Examples
    --------
    >>> found = boundaries(["O", "B-x", "I-x"])
    >>> found.types, found.kinds.tolist()
    (['x'], [-1, 0, 0])
    >>> found.links.tolist()
    [[1, 0, 0], [0, 0, 1], [0, 0, 1]]
    """
    numbers: dict[str, int] = {}
    kinds = np.full(len(labels), -1, np.int32)
    for k, label in enumerate(labels):
        tag, kind = tag_and_type(label)
        if tag not in _OUTSIDE_TAGS:
            kinds[k] = numbers.setdefault(kind, len(numbers))
    pairs = [[boundary(p, y) for y in labels] for p in labels]
    return Boundaries(
        list(numbers),
        kinds,
        np.array([boundary(OUTSIDE, y)[1] for y in labels], np.uint8),
        np.array([[starts for _, starts in row] for row in pairs], np.uint8),
        np.array([[not (ends or starts) for ends, starts in row] for row in pairs], np.uint8),
    )


def begins_span(previous: str | None, label: str) -> bool:
    """Whether a span begins at a label, as `spans` reads it.

    Parameters
    ----------
    previous : str or None
        The label before it; None is the start of the sentence.
    label : str
        The label.

    Returns
    -------
    bool

    Examples
    --------
    >>> begins_span(None, "I-PER"), begins_span("I-PER", "I-PER")
    (True, False)
    """
    return boundary(previous or OUTSIDE, label)[1]


def strict_spans(labels: Sequence[str], scheme: str) -> list[Span]:
    """The chunks that are written as a scheme writes them; others are left out.

    So seqeval reads labels in its strict mode, but for IOB1 and IOE1, of which it overlooks some.

    Parameters
    ----------
    labels : sequence of str
        The labels of one sentence.
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    list of (type, start, end)

    Examples
    --------
    >>> strict_spans(["B-PER", "I-PER", "O", "I-LOC"], "iob2")
    [('PER', 0, 2)]
    """
    check_scheme(scheme)
    found = spans(labels)
    right = write_spans(found, len(labels), scheme)
    return [span for span in found if list(labels[span[1] : span[2]]) == right[span[1] : span[2]]]


def write_spans(found: Iterable[Span], length: int, scheme: str) -> list[str]:
    """The labels of a sentence with given chunks.

    Parameters
    ----------
    found : iterable of (type, start, end)
        In order; none overlaps another.
    length : int
        How many tokens the sentence has.
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> write_spans([("PER", 0, 2), ("PER", 2, 3)], 4, "iob1")
    ['I-PER', 'I-PER', 'B-PER', 'O']
    """
    check_scheme(scheme)
    first, inside, last, single = SHAPES[scheme]
    labels = [OUTSIDE] * length
    before: Span = ("", -1, -1)
    for span in found:
        kind, start, end = span
        tags = [first, *[inside] * (end - start - 2), last] if end - start > 1 else [single]
        if (before[0], before[2]) == (kind, start):
            if scheme == "iob1":
                tags[0] = BEGIN
            elif scheme == "ioe1":
                labels[start - 1] = label_of(END, kind)
        labels[start:end] = [label_of(tag, kind) for tag in tags]
        before = span
    return labels


def convert(labels: Sequence[str], scheme: str) -> list[str]:
    """The same chunks in another scheme.

    Parameters
    ----------
    labels : sequence of str
        The labels of one sentence, in any of the schemes, legal or not: read as `spans` does.
    scheme : str
        One of `SCHEMES`; ``io`` cannot tell chunks of one type apart that touch.

    Returns
    -------
    list of str

    Examples
    --------
    >>> convert(["I-PER", "I-PER", "B-PER", "O"], "bioes")
    ['B-PER', 'E-PER', 'S-PER', 'O']
    """
    check_scheme(scheme)
    for label in set(labels):
        tag, kind = tag_and_type(label)
        if tag not in CHUNK_TAGS and (tag != OUTSIDE or kind):
            raise SeqpaError(
                f"token {labels.index(label) + 1}: {label!r} is no chunk label, such as O, B-PER "
                "or I-PER"
            )
    if violation(labels, scheme) is None:
        return list(labels)
    return write_spans(spans(labels), len(labels), scheme)
