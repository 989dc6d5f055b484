"""Chunk labels: which spans they mark, whether they are legal, and one scheme as another.

No other module knows what ``B-`` means. A label is a tag, or a tag and a type: ``O``, ``B-PER``,
``I-PER``, ``E-PER``, ``S-PER``.

- IOB1: ``I`` is inside; ``B`` only where a chunk follows one of the same type at once.
- IOB2, also called BIO: every chunk begins with ``B``.
- IOE1: ``I`` is inside; ``E`` only at the end of a chunk that one of the same type follows at once.
- IOE2: every chunk ends with ``E``.
- BIOES, also called IOBES: as IOB2, and a chunk ends with ``E``; a chunk of one token is ``S``.
- BILOU, also called BILUO: as BIOES, with ``L`` (last) for ``E`` and ``U`` (unit) for ``S``.
- BMES: as BIOES, with ``M`` (middle) for ``I``.
- IO: ``I`` is inside; two chunks of one type that touch become one.
"""

from __future__ import annotations

from seqpa.schemes.chunks import (
    Boundaries,
    begins_span,
    boundaries,
    boundary,
    convert,
    spans,
    strict_spans,
    write_spans,
)
from seqpa.schemes.legality import (
    Transitions,
    allowed,
    check,
    describe,
    describe_pair,
    examples,
    foreign,
    transitions,
    violation,
)
from seqpa.schemes.recognition import Pair, Recognised, pairs_of, recognise
from seqpa.schemes.tags import (
    ALIASES,
    BEGIN,
    END,
    INSIDE,
    OUTSIDE,
    SCHEMES,
    SINGLE,
    Span,
    are_chunk_labels,
    check_scheme,
    is_chunk_label,
    label_of,
    marks_spans,
    tag_and_type,
    type_of,
)

__all__ = [
    "ALIASES",
    "BEGIN",
    "END",
    "INSIDE",
    "OUTSIDE",
    "SCHEMES",
    "SINGLE",
    "Boundaries",
    "Pair",
    "Recognised",
    "Span",
    "Transitions",
    "allowed",
    "are_chunk_labels",
    "begins_span",
    "boundaries",
    "boundary",
    "check",
    "check_scheme",
    "convert",
    "describe",
    "describe_pair",
    "examples",
    "foreign",
    "is_chunk_label",
    "label_of",
    "marks_spans",
    "pairs_of",
    "recognise",
    "spans",
    "strict_spans",
    "tag_and_type",
    "transitions",
    "type_of",
    "violation",
    "write_spans",
]
