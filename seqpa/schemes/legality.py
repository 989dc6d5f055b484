"""Which label may follow which: one label, one sentence, or a table for all pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.schemes.tags import ANY, OUTSIDE, RULES, SHAPES, check_scheme, in_alphabet, tag_and_type


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
    if not in_alphabet(label, scheme):
        return False
    before = tag_and_type(previous or OUTSIDE)
    # What is no label of the scheme begins no chunk that could go on.
    return _follows(before if before[0] in RULES[scheme] else (OUTSIDE, ""), label, scheme)


def _follows(before: tuple[str, str], label: str, scheme: str) -> bool:
    tag, kind = tag_and_type(label)
    same = RULES[scheme][tag].get(before[0])
    return same is not None and (same is ANY or before[1] == kind)


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
    tags = RULES[scheme]
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
    return f"{OUTSIDE} or {', '.join(f'{tag}-x' for tag in RULES[scheme] if tag != OUTSIDE)}"


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
    return describe_pair(
        labels[position - 1] if position else None,
        labels[position] if position < len(labels) else None,
        scheme,
    )


def describe_pair(previous: str | None, label: str | None, scheme: str) -> str:
    """Why a label may not follow another.

    Parameters
    ----------
    previous, label : str or None
        None is the edge of the sentence.
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    str

    Examples
    --------
    >>> describe_pair(None, "I-PER", "iob2")
    "'I-PER' at the start of a sentence is not legal IOB2"
    """
    name = scheme.upper()
    if label is None:
        return f"the sentence ends after {previous!r}, which {name} does not allow"
    if not in_alphabet(label, scheme):
        return (
            f"{label!r} is no {name} label; its tags are {', '.join(RULES[scheme])}, "
            f"as in {SHAPES[scheme][0]}-PER"
        )
    before = "at the start of a sentence" if previous is None else f"after {previous!r}"
    return f"{label!r} {before} is not legal {name}"
