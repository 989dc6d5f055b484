"""Chunk labels: which spans they mark, whether they are legal, and one scheme as another.

No other module knows what ``B-`` means. A label is a tag, or a tag and a type: ``O``, ``B-PER``,
``I-PER``, ``E-PER``, ``S-PER``.

- IOB1: ``I`` is inside; ``B`` only where a chunk follows one of the same type at once.
- IOB2, also called BIO: every chunk begins with ``B``.
- BIOES: as IOB2, and a chunk ends with ``E``; a chunk of one token is ``S``.

Some data says ``L`` (last) for ``E`` and ``U`` (unit) for ``S``: `type_of` knows them, the schemes
do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError, did_you_mean

Span: TypeAlias = tuple[str, int, int]
BEGIN, INSIDE, OUTSIDE, END, SINGLE, LAST, UNIT = "B", "I", "O", "E", "S", "L", "U"

_ANY, _SAME = False, True  # must two neighbours have the same type?
# scheme: {tag: {tag before it: must their types be the same?}}. What is not there is illegal. The
# edges of a sentence are as O is: what may follow O may stand first, what O may follow, last.
_RULES: dict[str, dict[str, Mapping[str, bool]]] = {
    "iob1": {
        BEGIN: {BEGIN: _SAME, INSIDE: _SAME},
        INSIDE: {OUTSIDE: _ANY, BEGIN: _ANY, INSIDE: _ANY},
        OUTSIDE: {OUTSIDE: _ANY, BEGIN: _ANY, INSIDE: _ANY},
    },
    "iob2": {
        BEGIN: {OUTSIDE: _ANY, BEGIN: _ANY, INSIDE: _ANY},
        INSIDE: {BEGIN: _SAME, INSIDE: _SAME},
        OUTSIDE: {OUTSIDE: _ANY, BEGIN: _ANY, INSIDE: _ANY},
    },
    "bioes": {
        BEGIN: {OUTSIDE: _ANY, END: _ANY, SINGLE: _ANY},
        INSIDE: {BEGIN: _SAME, INSIDE: _SAME},
        OUTSIDE: {OUTSIDE: _ANY, END: _ANY, SINGLE: _ANY},
        END: {BEGIN: _SAME, INSIDE: _SAME},
        SINGLE: {OUTSIDE: _ANY, END: _ANY, SINGLE: _ANY},
    },
}
SCHEMES = tuple(_RULES)
_CHUNK_TAGS = (BEGIN, INSIDE, END, SINGLE)
_PREFIXES = tuple(f"{tag}-" for tag in (*_CHUNK_TAGS, LAST, UNIT))
_SPAN_PREFIXES = (f"{BEGIN}-", f"{INSIDE}-")
# conlleval also knows "." for outside, and brackets for chunks of one token.
_OUTSIDE_TAGS = (OUTSIDE, ".")
_BRACKETS = ("[", "]")


# Labels


@lru_cache(maxsize=100_000)
def tag_and_type(label: str) -> tuple[str, str]:
    """Cut a label at its first hyphen.

    Parameters
    ----------
    label : str
        Any label.

    Returns
    -------
    tag, type : str
        The type is empty where there is no hyphen.

    Examples
    --------
    >>> tag_and_type("B-per-son"), tag_and_type("O")
    (('B', 'per-son'), ('O', ''))
    """
    tag, _, kind = label.partition("-")
    return tag, kind


def type_of(label: str) -> str | None:
    """What a chunk label is about: the label without its prefix, or None where it has none.

    Parameters
    ----------
    label : str
        Any label.

    Returns
    -------
    str or None

    Examples
    --------
    >>> type_of("B-city"), type_of("U-city"), type_of("city"), type_of("O")
    ('city', 'city', None, None)
    """
    return label[2:] if label.startswith(_PREFIXES) else None


def is_chunk_label(label: str) -> bool:
    """Whether a label is O, or B, I, E or S, alone or with a type.

    Parameters
    ----------
    label : str
        Any label.

    Returns
    -------
    bool

    Examples
    --------
    >>> [is_chunk_label(label) for label in ("O", "B-PER", "S", "NN", "O-PER")]
    [True, True, True, False, False]
    """
    return label == OUTSIDE or tag_and_type(label)[0] in _CHUNK_TAGS


def marks_spans(labels: Iterable[str]) -> bool:
    """Whether any of the labels begins or continues a span of some type.

    Parameters
    ----------
    labels : iterable of str
        The labels of a training set.

    Returns
    -------
    bool

    Examples
    --------
    >>> marks_spans(["O", "I-PER"]), marks_spans(["NN", "I"])
    (True, False)
    """
    return any(label.startswith(_SPAN_PREFIXES) for label in labels)


# Spans


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


# Legality


@lru_cache(maxsize=100_000)
def allowed(previous: str | None, label: str | None, scheme: str) -> bool:
    """Whether a label may follow another.

    Parameters
    ----------
    previous, label : str or None
        None is the edge of the sentence.
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    bool

    Examples
    --------
    >>> allowed("B-PER", "I-PER", "iob2"), allowed("O", "I-PER", "iob2")
    (True, False)
    >>> allowed("B-PER", None, "bioes")
    False
    """
    check_scheme(scheme)
    label = label or OUTSIDE
    if not _in_alphabet(label, scheme):
        return False
    before = tag_and_type(previous or OUTSIDE)
    # What is no label of the scheme begins no chunk that could go on.
    return _follows(before if before[0] in _RULES[scheme] else (OUTSIDE, ""), label, scheme)


def _follows(before: tuple[str, str], label: str, scheme: str) -> bool:
    tag, kind = tag_and_type(label)
    same = _RULES[scheme][tag].get(before[0])
    return same is not None and (same is _ANY or before[1] == kind)


@dataclass(frozen=True, slots=True)
class Transitions:
    """Which labels may stand where.

    Parameters
    ----------
    first, last : bool (labels,)
        At either end of a sentence.
    pairs : bool (labels, labels)
        A label (column) after another (row).

    Examples
    --------
    >>> found = transitions(["O", "B-x", "E-x"], "bioes")
    >>> found.first.tolist(), found.last.tolist()
    ([True, True, False], [True, False, True])
    """

    first: NDArray[np.bool_]
    last: NDArray[np.bool_]
    pairs: NDArray[np.bool_]


def transitions(labels: Sequence[str], scheme: str) -> Transitions:
    """Which of the labels may follow which.

    Parameters
    ----------
    labels : sequence of str
        All of the scheme; see `foreign`.
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    Transitions

    Examples
    --------
    >>> transitions(["O", "B-x", "I-x"], "iob2").pairs
    array([[ True,  True, False],
           [ True,  True,  True],
           [ True,  True,  True]])
    """
    edge = (OUTSIDE, "")
    split = [tag_and_type(label) for label in labels]
    pairs = [[_follows(before, label, scheme) for label in labels] for before in split]
    return Transitions(
        np.array([_follows(edge, label, scheme) for label in labels], bool),
        np.array([_follows(before, OUTSIDE, scheme) for before in split], bool),
        np.array(pairs, bool).reshape(len(labels), len(labels)),
    )


def foreign(labels: Iterable[str], scheme: str) -> str | None:
    """The first label whose tag the scheme does not have.

    Parameters
    ----------
    labels : iterable of str
        Any labels.
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    str or None

    Examples
    --------
    >>> foreign(["O", "E-PER"], "iob2"), foreign(["O", "E-PER"], "bioes")
    ('E-PER', None)
    """
    check_scheme(scheme)
    tags = _RULES[scheme]
    return next((label for label in labels if tag_and_type(label)[0] not in tags), None)


def examples(scheme: str) -> str:
    """The labels of a scheme in words, for messages.

    Parameters
    ----------
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    str

    Examples
    --------
    >>> examples("bioes")
    'O or B-x, I-x, E-x, S-x'
    """
    return f"{OUTSIDE} or {', '.join(f'{tag}-x' for tag in _RULES[scheme] if tag != OUTSIDE)}"


def violation(labels: Sequence[str], scheme: str) -> int | None:
    """The first position whose label is illegal there; the length if it ends too early.

    Parameters
    ----------
    labels : sequence of str
        The labels of one sentence.
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    int or None
        None where all is legal.

    Examples
    --------
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
    """Raise an error that names the first illegal label: its sentence and position, from 1.

    Parameters
    ----------
    sentences : sequence of sequences of str
        The labels of each sentence.
    scheme : str
        One of `SCHEMES`.

    Examples
    --------
    >>> check([["O"], ["O", "I-PER"]], "iob2")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: sentence 2, token 2: 'I-PER' after 'O' is not legal IOB2
    """
    for number, labels in enumerate(sentences, 1):
        position = violation(labels, scheme)
        if position is not None:
            raise SeqpaError(
                f"sentence {number}, token {min(position + 1, len(labels))}: "
                + describe(labels, position, scheme)
            )


def describe(labels: Sequence[str], position: int, scheme: str) -> str:
    """Why the label at a position is illegal.

    Parameters
    ----------
    labels : sequence of str
        The labels of one sentence.
    position : int
        As `violation` found it.
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    str

    Examples
    --------
    >>> describe(["B-PER"], 1, "bioes")
    "the sentence ends after 'B-PER', which BIOES does not allow"
    """
    name = scheme.upper()
    if position == len(labels):
        return f"the sentence ends after {labels[-1]!r}, which {name} does not allow"
    label = labels[position]
    if not _in_alphabet(label, scheme):
        return (
            f"{label!r} is no {name} label; its tags are {', '.join(_RULES[scheme])}, as in B-PER"
        )
    before = f"after {labels[position - 1]!r}" if position else "at the start of a sentence"
    return f"{label!r} {before} is not legal {name}"


def check_scheme(scheme: str) -> None:
    """Raise an error if there is no scheme of that name.

    Parameters
    ----------
    scheme : str
        Should be one of `SCHEMES`.

    Examples
    --------
    >>> check_scheme("iob3")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: scheme: 'iob3' is none of iob1, iob2, bioes; did you mean 'iob2'?
    """
    if scheme not in SCHEMES:
        hint = did_you_mean(scheme, SCHEMES, listed=False)
        raise SeqpaError(f"scheme: {scheme!r} is none of {', '.join(SCHEMES)}{hint}")


def convert(labels: Sequence[str], scheme: str) -> list[str]:
    """The same chunks in another scheme.

    Parameters
    ----------
    labels : sequence of str
        The labels of one sentence, in any of the schemes.
    scheme : str
        One of `SCHEMES`.

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
        if not _in_alphabet(label, "bioes"):
            position = labels.index(label)
            raise SeqpaError(f"token {position + 1}: " + describe(labels, position, "bioes"))
    if violation(labels, scheme) is None:
        return list(labels)
    converted = [OUTSIDE] * len(labels)
    before: Span = ("", -1, -1)
    for span in spans(labels):
        kind, start, end = span
        tags = [INSIDE] * (end - start)
        if scheme != "iob1" or (before[0], before[2]) == (kind, start):
            tags[0] = BEGIN
        if scheme == "bioes":
            tags[-1] = END if len(tags) > 1 else SINGLE
        converted[start:end] = [_label(tag, kind) for tag in tags]
        before = span
    return converted


@lru_cache(maxsize=100_000)
def _label(tag: str, kind: str) -> str:
    return f"{tag}-{kind}" if kind else tag


def _in_alphabet(label: str, scheme: str) -> bool:
    tag, kind = tag_and_type(label)
    return tag in _RULES[scheme] and not (tag == OUTSIDE and kind)
