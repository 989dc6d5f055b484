"""What a second stage sees of the first: its labels, and what it called the same words elsewhere.

For each token the type that the first stage gave most often to the same lower-cased word elsewhere
within `WINDOW` tokens of the document; for each span that it found, the type that it gave most
often to the same span elsewhere, and to longer spans that contain it; for each token outside spans,
to spans that contain its word. A type is a label without its B- or I-. Each majority is told as the
type alone, and as the type with its purity and how many there were, at most three.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import documents as kernel
from seqpa.schemes import spans, tag_and_type, type_of
from seqpa.sequence.elsewhere import WINDOW, document_bounds
from seqpa.sequence.tag_dictionary import purity

# Names of the columns that the second stage has beside those of the data.
LABEL = "stage1"
WORD, SPAN, LONGER = "stage1_word", "stage1_span", "stage1_longer"
COLUMNS = (LABEL, *(name + end for name in (WORD, SPAN, LONGER) for end in ("", "_vote")))
NONE = "(none)"
# Of longer spans only parts of so many words are looked at: no name is longer, and work stays low.
_LONGEST = 10
_COUNTED = 3
T = TypeVar("T")

TEMPLATES = (
    *(f"{LABEL}[{offset}]" for offset in range(-2, 3)),
    f"{LABEL}[-1]|{LABEL}[0]|{LABEL}[1]",
    *(
        f"{name}{end}[{offset}]"
        for name in (WORD, SPAN)
        for end in ("", "_vote")
        for offset in (-1, 0, 1)
    ),
    f"{LONGER}[0]",
    f"{LONGER}_vote[0]",
)


class _Items:
    """What is counted and who asks: see `seqpa._kernel.documents.majorities`."""

    def __init__(self) -> None:
        self.keys: list[int] = []
        self.places: list[int] = []
        self.types: list[int] = []
        self.owners: list[int] = []

    def add(self, key: int, place: int, kind: int, owner: int) -> int:
        """Add an item; its number."""
        self.keys.append(key)
        self.places.append(place)
        self.types.append(kind)
        self.owners.append(owner)
        return len(self.keys) - 1


def columns(
    words: Sequence[str],
    labels: Sequence[str],
    starts: NDArray[np.int64],
    documents: NDArray[np.int64] | None,
    with_spans: bool,
) -> list[list[str]]:
    """The columns that the second stage sees.

    Parameters
    ----------
    words : sequence of str
        The words of all tokens.
    labels : sequence of str
        The labels that the first stage gave them.
    starts : int64 (sentences + 1,)
        Where each sentence begins, and the end of the last.
    documents : int64 (sentences,) or None
        Sentences with one number that follow each other are one document; None: all are.
    with_spans : bool
        Whether the labels of the first stage mark spans.

    Returns
    -------
    list of lists of str
        For each of `COLUMNS` the cell of each token.

    Examples
    --------
    >>> words = ["Ada", "Lee", "won", "Ada", "won"]
    >>> labels = ["B-PER", "I-PER", "O", "O", "O"]
    >>> found = columns(words, labels, np.array([0, 3, 5]), None, True)
    >>> dict(zip(COLUMNS, (cells[3] for cells in found)))  # doctest: +NORMALIZE_WHITESPACE
    {'stage1': 'O', 'stage1_word': 'PER', 'stage1_word_vote': 'PER all 1',
     'stage1_span': '(none)', 'stage1_span_vote': '(none)',
     'stage1_longer': 'PER', 'stage1_longer_vote': 'PER all 1'}
    """
    bounds = document_bounds(starts, documents)
    distinct = set(labels)
    types = {label: (type_of(label) or label) if with_spans else label for label in distinct}
    kinds = {tag_and_type(label)[1] for label in distinct}  # of spans
    names: _Numbers[str] = _Numbers()
    for name in sorted({*kinds, *types.values()}):  # in an order that other texts have too
        names.of(name)
    type_names = {label: names.of(name) for label, name in types.items()}
    numbers: _Numbers[str] = _Numbers()
    keys = np.fromiter(map(numbers.of, map(str.lower, words)), np.int32, len(words))
    of_words = _majorities(
        keys,
        np.arange(len(words)),
        np.fromiter(map(type_names.__getitem__, labels), np.int32, len(labels)),
        np.arange(len(words), dtype=np.int32),
        bounds,
        len(names),
    )
    told = _Told(list(names))
    result = [list(labels), *told.columns(of_words)]
    of_spans = np.full((2, len(words), 3), (-1, 0, 0), np.int32)
    if with_spans:
        _vote_of_spans(words, labels, starts, bounds, names, of_spans)
    return [*result, *told.columns(of_spans[0]), *told.columns(of_spans[1])]


def _vote_of_spans(
    words: Sequence[str],
    labels: Sequence[str],
    starts: NDArray[np.int64],
    bounds: NDArray[np.int64],
    names: _Numbers[str],
    out: NDArray[np.int32],
) -> None:
    """Write the majorities of the same spans and of longer ones, as far as there are any."""
    found = [
        (names[kind], low + begin, low + end)
        for low, high in pairwise(starts.tolist())
        for kind, begin, end in spans(labels[low:high])
    ]
    if not found:
        return
    texts: _Numbers[tuple[str, ...]] = _Numbers()
    same, longer = _Items(), _Items()
    for owner, (kind, begin, end) in enumerate(found):
        key = texts.of(tuple(words[begin:end]))
        same.add(key, begin, kind, owner)
    asked = len(texts)
    inside = np.zeros(len(words), bool)
    for owner, (kind, begin, end) in enumerate(found):
        inside[begin:end] = True
        longer.add(2 * same.keys[owner], begin, -1, owner)
        for i in range(begin, end):
            for j in range(i + 1, min(end, i + _LONGEST) + 1):
                number = texts.get(tuple(words[i:j])) if j - i < end - begin else None
                if number is not None and number < asked:
                    longer.add(2 * number, begin, kind, owner)
            word = texts.of((words[i],))
            longer.add(2 * word + 1, begin, kind, owner)
    tokens = []
    for i in np.flatnonzero(~inside).tolist():
        number = texts.get((words[i],))
        if number is not None:
            tokens.append((i, longer.add(2 * number + 1, i, -1, len(found) + i)))
    counted = [
        _majorities(
            np.array(items.keys, np.int32),
            np.array(items.places),
            np.array(items.types, np.int32),
            np.array(items.owners, np.int32),
            bounds,
            len(names),
        )
        for items in (same, longer)
    ]
    asking = [k for k, kind in enumerate(longer.types) if kind < 0]
    for owner, (_, begin, end) in enumerate(found):
        out[0, begin:end] = counted[0][owner]
        out[1, begin:end] = counted[1][asking[owner]]
    for i, item in tokens:
        out[1, i] = counted[1][item]


def _majorities(
    keys: NDArray[np.int32],
    places: NDArray[np.int64],
    types: NDArray[np.int32],
    owners: NDArray[np.int32],
    bounds: NDArray[np.int64],
    n_types: int,
) -> NDArray[np.int32]:
    order = np.lexsort((places, keys)).astype(np.int64, copy=False)
    documents = np.searchsorted(bounds, places, side="right").astype(np.int64, copy=False)
    out = np.empty((len(keys), 3), np.int32)
    counts = np.zeros(n_types, np.int64)
    kernel.majorities(order, keys, places, documents, types, owners, WINDOW, counts, out)
    return out


class _Numbers(dict[T, int]):
    """Numbers for whatever comes, in order."""

    def of(self, value: T) -> int:
        """The number of a value, the next one where it is new."""
        return self.setdefault(value, len(self))


class _Told:
    """Majorities as strings; each distinct one is made once."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def columns(self, found: NDArray[np.int32]) -> list[list[str]]:
        """The types, and the types with purity and number."""
        kind, most, total = found.T.astype(np.int64)
        rank = np.where(most == total, 0, np.where(5 * most > 4 * total, 1, 2))
        codes = ((kind + 1) * 3 + rank) * (_COUNTED + 1) + np.minimum(total, _COUNTED)
        plain: dict[int, str] = {}
        votes: dict[int, str] = {}
        for code, k, m, n in {
            code: (code, k, m, n)
            for code, k, m, n in zip(
                codes.tolist(), kind.tolist(), most.tolist(), total.tolist(), strict=True
            )
        }.values():
            plain[code] = NONE if k < 0 else self._names[k]
            votes[code] = NONE if k < 0 else f"{self._names[k]} {purity(m, n)} {min(n, _COUNTED)}"
        listed = codes.tolist()
        return [[plain[code] for code in listed], [votes[code] for code in listed]]
