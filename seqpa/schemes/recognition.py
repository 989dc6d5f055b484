"""Which scheme labels are in, from how often each label follows each other.

Every scheme is a rule about neighbours, so that the counts of all pairs say how often it is
broken. The scheme of some labels is, among those that know their tags, the one they break least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from seqpa.schemes.chunks import begins_span
from seqpa.schemes.legality import allowed, foreign
from seqpa.schemes.tags import OUTSIDE, RULES, SCHEMES, are_chunk_labels

# (label before, label); None is the edge of a sentence.
Pair: TypeAlias = "tuple[str | None, str | None]"
# Where two schemes fit equally well: the one with fewer tags, then the one met more often.
_ORDER = ("iob2", "iob1", "bioes", "bilou", "bmes", "ioe2", "ioe1", "io")


@dataclass(frozen=True, slots=True)
class Recognised:
    """What labels turn out to be.

    Parameters
    ----------
    scheme : str
        The scheme that they break least.
    spans : int
        How many spans they mark, as conlleval reads them.
    illegal : dict
        The pairs of labels that the scheme forbids, and how often each occurs.

    Examples
    --------
    >>> Recognised("iob2", 9, {("O", "I-x"): 2, (None, "I-x"): 1}).broken
    3
    """

    scheme: str
    spans: int
    illegal: dict[Pair, int]

    @property
    def broken(self) -> int:
        """How often the scheme is broken."""
        return sum(self.illegal.values())


def pairs_of(sentences: Iterable[Sequence[str]]) -> Counter[Pair]:
    """How often each label follows each other, the edges of sentences included.

    Parameters
    ----------
    sentences : iterable of sequences of str
        The labels of each sentence.

    Returns
    -------
    Counter

    Examples
    --------
    >>> pairs_of([["O", "O"]])
    Counter({(None, 'O'): 1, ('O', 'O'): 1, ('O', None): 1})
    """
    pairs: Counter[Pair] = Counter()
    for labels in sentences:
        if len(labels):
            pairs.update(zip((None, *labels), (*labels, None), strict=True))
    return pairs


def recognise(pairs: Mapping[Pair, int]) -> Recognised | None:
    """The scheme of some labels.

    Parameters
    ----------
    pairs : mapping
        As `pairs_of` counts them.

    Returns
    -------
    Recognised or None
        None where the labels are no chunk labels, or mark no chunk.

    Examples
    --------
    >>> found = recognise(pairs_of([["B-x", "I-x"], ["O", "I-x"], ["B-y", "B-x"]]))
    >>> found.scheme, found.spans, found.illegal
    ('iob2', 4, {('O', 'I-x'): 1})
    """
    labels = {label for pair in pairs for label in pair if label is not None}
    if not are_chunk_labels(labels) or labels <= {OUTSIDE}:
        return None
    illegal = {
        scheme: {pair: n for pair, n in pairs.items() if not allowed(*pair, scheme)}
        for scheme in SCHEMES
    }

    def badness(name: str) -> tuple[int, int, int, int]:
        strange = sum(n for (_, label), n in pairs.items() if label and foreign([label], name))
        return strange, sum(illegal[name].values()), len(RULES[name]), _ORDER.index(name)

    scheme = min(_ORDER, key=badness)
    spans = sum(n for (a, b), n in pairs.items() if b is not None and begins_span(a, b))
    return Recognised(scheme, spans, illegal[scheme])
