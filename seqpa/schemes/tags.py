"""The tags of the schemes, which may follow which, and what a label is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from seqpa.errors import SeqpaError, did_you_mean

Span: TypeAlias = tuple[str, int, int]
BEGIN, INSIDE, OUTSIDE, END, SINGLE = "B", "I", "O", "E", "S"
LAST, UNIT, MIDDLE = "L", "U", "M"

ANY, _SAME = False, True  # must two neighbours have the same type?
_Rules: TypeAlias = dict[str, Mapping[str, bool]]


def _closed(begin: str, inside: str, end: str, single: str) -> _Rules:
    """The rules of a scheme that marks both ends of a chunk."""
    outside = {OUTSIDE: ANY, end: ANY, single: ANY}
    within = {begin: _SAME, inside: _SAME}
    return {begin: outside, inside: within, OUTSIDE: outside, end: within, single: outside}


# scheme: {tag: {tag before it: must their types be the same?}}. What is not there is illegal. The
# edges of a sentence are as O is: what may follow O may stand first, what O may follow, last.
RULES: dict[str, _Rules] = {
    "iob1": {
        BEGIN: {BEGIN: _SAME, INSIDE: _SAME},
        INSIDE: {OUTSIDE: ANY, BEGIN: ANY, INSIDE: ANY},
        OUTSIDE: {OUTSIDE: ANY, BEGIN: ANY, INSIDE: ANY},
    },
    "iob2": {
        BEGIN: {OUTSIDE: ANY, BEGIN: ANY, INSIDE: ANY},
        INSIDE: {BEGIN: _SAME, INSIDE: _SAME},
        OUTSIDE: {OUTSIDE: ANY, BEGIN: ANY, INSIDE: ANY},
    },
    "ioe1": {
        INSIDE: {OUTSIDE: ANY, INSIDE: ANY, END: _SAME},
        OUTSIDE: {OUTSIDE: ANY, INSIDE: ANY},
        END: {OUTSIDE: ANY, INSIDE: ANY, END: _SAME},
    },
    "ioe2": {
        INSIDE: {OUTSIDE: ANY, INSIDE: _SAME, END: ANY},
        OUTSIDE: {OUTSIDE: ANY, END: ANY},
        END: {OUTSIDE: ANY, INSIDE: _SAME, END: ANY},
    },
    "bioes": _closed(BEGIN, INSIDE, END, SINGLE),
    "bilou": _closed(BEGIN, INSIDE, LAST, UNIT),
    "bmes": _closed(BEGIN, MIDDLE, END, SINGLE),
    "io": {
        INSIDE: {OUTSIDE: ANY, INSIDE: ANY},
        OUTSIDE: {OUTSIDE: ANY, INSIDE: ANY},
    },
}
# How a chunk is written: its first tag, those inside, its last, and the tag of one token.
SHAPES = {
    "iob1": (INSIDE, INSIDE, INSIDE, INSIDE),
    "iob2": (BEGIN, INSIDE, INSIDE, BEGIN),
    "ioe1": (INSIDE, INSIDE, INSIDE, INSIDE),
    "ioe2": (INSIDE, INSIDE, END, END),
    "bioes": (BEGIN, INSIDE, END, SINGLE),
    "bilou": (BEGIN, INSIDE, LAST, UNIT),
    "bmes": (BEGIN, MIDDLE, END, SINGLE),
    "io": (INSIDE, INSIDE, INSIDE, INSIDE),
}
SCHEMES = tuple(RULES)
ALIASES = {"bio": "iob2", "iobes": "bioes", "biluo": "bilou"}
for _alias, _name in ALIASES.items():
    RULES[_alias], SHAPES[_alias] = RULES[_name], SHAPES[_name]
# Letters of other schemes, and what they are called in the rules for reading any of them.
READ_AS = {LAST: END, UNIT: SINGLE, MIDDLE: INSIDE}
_COMMON_TAGS = (BEGIN, INSIDE, END, SINGLE)
CHUNK_TAGS = (*_COMMON_TAGS, *READ_AS)
_PREFIXES = tuple(f"{tag}-" for tag in CHUNK_TAGS)
_SPAN_PREFIXES = (f"{BEGIN}-", f"{INSIDE}-")


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
    """Whether a label is O, or a tag of some scheme: B, I, E or S alone, or any with a type.

    Parameters
    ----------
    label : str
        Any label.

    Returns
    -------
    bool

    Examples
    --------
    >>> [is_chunk_label(label) for label in ("O", "B-PER", "U-PER", "S", "U", "NN", "O-PER")]
    [True, True, True, True, False, False, False]
    """
    tag, kind = tag_and_type(label)
    return label == OUTSIDE or tag in _COMMON_TAGS or (tag in READ_AS and kind != "")


def are_chunk_labels(labels: Iterable[str]) -> bool:
    """Whether all labels are chunk labels; L, U and M alone only where there is B, too.

    Parameters
    ----------
    labels : iterable of str
        All labels of some data.

    Returns
    -------
    bool

    Examples
    --------
    >>> are_chunk_labels(["B", "M", "E", "S"]), are_chunk_labels(["M", "S"])
    (True, False)
    """
    distinct = set(labels)
    if BEGIN in distinct:
        distinct -= READ_AS.keys()
    return all(map(is_chunk_label, distinct))


def marks_spans(labels: Iterable[str]) -> bool:
    """Whether the labels mark spans of some type: one is B- or I-, or all are chunk labels.

    Parameters
    ----------
    labels : iterable of str
        The labels of a training set.

    Returns
    -------
    bool

    Examples
    --------
    >>> marks_spans(["O", "I-PER"]), marks_spans(["O", "U-PER"]), marks_spans(["NN", "I"])
    (True, True, False)
    """
    distinct = set(labels)
    if any(label.startswith(_SPAN_PREFIXES) for label in distinct):
        return True
    return any(type_of(label) for label in distinct) and are_chunk_labels(distinct)


@lru_cache(maxsize=100_000)
def label_of(tag: str, kind: str) -> str:
    """The label of a tag and a type, which may be empty.

    Parameters
    ----------
    tag, kind : str
        As `tag_and_type` gives them.

    Returns
    -------
    str

    Examples
    --------
    >>> label_of("B", "PER"), label_of("B", "")
    ('B-PER', 'B')
    """
    return f"{tag}-{kind}" if kind else tag


def in_alphabet(label: str, scheme: str) -> bool:
    """Whether a label's tag is one of a scheme's, and O has no type.

    Parameters
    ----------
    label : str
        Any label.
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    bool

    Examples
    --------
    >>> in_alphabet("E-x", "iob2"), in_alphabet("E-x", "ioe2"), in_alphabet("O-x", "ioe2")
    (False, True, False)
    """
    tag, kind = tag_and_type(label)
    return tag in RULES[scheme] and not (tag == OUTSIDE and kind)


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
    seqpa.errors.SeqpaError: scheme: 'iob3' is none of iob1, iob2, ioe1, ioe2, bioes, bilou, bmes, \
io; did you mean 'iob2'?
    """
    if scheme not in RULES:
        hint = did_you_mean(scheme, SCHEMES, listed=False)
        raise SeqpaError(f"scheme: {scheme!r} is none of {', '.join(SCHEMES)}{hint}")
