"""The same word elsewhere in the document: what the template function `elsewhere` looks at.

For a word that is not all lower case, begins with a letter and is longer than one character, the
nearest `MOST` other tokens are found whose lower-cased word is the same, within `WINDOW` tokens
either way and in the same document. A template then sees, as a set, an attribute of these tokens'
neighbours; so a name that is ambiguous here is told by where it stands elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import documents as kernel
from seqpa._kernel import template_features

WINDOW = 1000
MOST = 10
# What is seen at the other tokens: an attribute around them, how many they are, or their case.
ATTRIBUTE, NUMBER, CASE = range(3)
KEYWORDS = {"number": NUMBER, "case": CASE}
NUMBERS = ("0", "1", "2", "3", "4+")
CASES = ("lower", "title", "upper", "mixed", "none")


def n_values(mode: int, inner: int) -> int:
    """How many values a set has.

    Parameters
    ----------
    mode : int
        ATTRIBUTE, NUMBER or CASE.
    inner : int
        How many the attribute has that it looks at.

    Returns
    -------
    int

    Examples
    --------
    >>> n_values(ATTRIBUTE, 7), n_values(NUMBER, 0), n_values(CASE, 3)
    (7, 5, 6)
    """
    if mode == ATTRIBUTE:
        return inner
    return len(NUMBERS) if mode == NUMBER else 2 * inner


def value_texts(mode: int, inner: list[str]) -> list[str]:
    """The values of a set as strings, by number.

    Parameters
    ----------
    mode : int
        ATTRIBUTE, NUMBER or CASE.
    inner : list of str
        Those of the attribute that it looks at.

    Returns
    -------
    list of str

    Examples
    --------
    >>> value_texts(CASE, ["title", "lower"])
    ['title', 'title, first', 'lower', 'lower, first']
    """
    if mode == ATTRIBUTE:
        return inner
    if mode == NUMBER:
        return list(NUMBERS)
    return [text + mark for text in inner for mark in ("", ", first")]


def case_class(word: str) -> str:
    """How a word is written.

    Parameters
    ----------
    word : str
        Any word.

    Returns
    -------
    str
        One of `CASES`.

    Examples
    --------
    >>> [case_class(word) for word in ("rain", "Rain", "NATO", "eBay", "1.5")]
    ['lower', 'title', 'upper', 'mixed', 'none']
    """
    if word.islower():
        return "lower"
    if word.isupper():
        return "upper" if len(word) > 1 else "title"
    if not any(map(str.isalpha, word)):
        return "none"
    return "title" if word[0].isupper() and not any(map(str.isupper, word[1:])) else "mixed"


def asks(word: str) -> bool:
    """Whether a word's other occurrences are looked for.

    Parameters
    ----------
    word : str
        Any word. In scripts without case every word of letters may be a name.

    Returns
    -------
    bool

    Examples
    --------
    >>> [asks(word) for word in ("Rain", "eBay", "رام الله", "rain", "X", "3M", "")]
    [True, True, True, False, False, False, False]
    """
    return len(word) > 1 and word[0].isalpha() and not word.islower()


class WordKeys:
    """A number for each lower-cased word, and whether a word asks for its other occurrences.

    `learn` is told of the words of a column in the order of their numbers.

    Examples
    --------
    >>> keys = WordKeys()
    >>> keys.learn(["rain", "Rain", "dog"], 0)
    >>> numbers, asking = keys.of(np.array([1, 0, 3, 4, 2, 3]), 3, ["Nile", "RAIN"])
    >>> numbers.tolist(), asking.tolist()
    ([0, 0, 2, 0, 1, 2], [1, 0, 1, 1, 0, 1])
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._known = 0
        self._key = np.zeros(16, np.int32)
        self._asks = np.zeros(16, np.uint8)

    def learn(self, words: Iterable[str], first: int) -> None:
        """Take in words.

        Parameters
        ----------
        words : iterable of str
            In the order of their numbers.
        first : int
            The number of the first; those from there on are forgotten.
        """
        keys, asking = self._looked_up(words, self._numbers)
        self._known = first
        end = self._known + len(keys)
        if end > len(self._key):
            for name in ("_key", "_asks"):
                old = getattr(self, name)
                new = np.zeros(max(end, 2 * len(old)), old.dtype)
                new[: self._known] = old[: self._known]
                setattr(self, name, new)
        self._key[self._known : end] = keys
        self._asks[self._known : end] = asking
        self._known = end

    def of(
        self, ids: NDArray[np.int32], known: int, unknown: Sequence[str]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The key of each token, and whether it asks.

        Parameters
        ----------
        ids : int32 (tokens,)
            The numbers of the words.
        known : int
            How many are known; the numbers of `unknown` begin behind them.
        unknown : sequence of str
            Words that have not been learned.

        Returns
        -------
        keys : int32 (tokens,)
        asks : uint8 (tokens,)
        """
        own = ids < known
        if own.all():
            return self._key[ids], self._asks[ids]
        more = _Overlay(self._numbers)
        keys, asking = self._looked_up(unknown, more)
        new = ids[~own] - known
        found_keys, found_asks = np.empty(len(ids), np.int32), np.empty(len(ids), np.uint8)
        found_keys[own], found_asks[own] = self._key[ids[own]], self._asks[ids[own]]
        found_keys[~own], found_asks[~own] = keys[new], asking[new]
        return found_keys, found_asks

    @staticmethod
    def _looked_up(
        words: Iterable[str], numbers: dict[str, int] | _Overlay
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        keys: list[int] = []
        asking: list[bool] = []
        for word in words:
            keys.append(numbers.setdefault(word.lower(), len(numbers)))
            asking.append(asks(word))
        return np.array(keys, np.int32), np.array(asking, np.uint8)


class _Overlay:
    """Numbers that count on behind others, which stay as they are."""

    def __init__(self, below: dict[str, int]) -> None:
        self._below = below
        self._own: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._below) + len(self._own)

    def setdefault(self, word: str, number: int) -> int:
        found = self._below.get(word)
        return self._own.setdefault(word, number) if found is None else found


def find(
    keys: NDArray[np.int32],
    asking: NDArray[np.uint8],
    starts: NDArray[np.int64],
    documents: NDArray[np.int64] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Where else each asking token's word stands; see `seqpa._kernel.documents.nearest`.

    Parameters
    ----------
    keys : int32 (tokens,)
    asking : uint8 (tokens,)
        Of `WordKeys.of`.
    starts : int64 (sentences + 1,)
        Where each sentence begins, from 0 on, and the end of the last.
    documents : int64 (sentences,) or None
        A number for each sentence; a document are sentences with one number that follow each
        other. None: all are one.

    Returns
    -------
    at : int64 (2 · tokens,)
    found : int32
    sentence : int32 (tokens,)
        The sentence of each token.

    Examples
    --------
    >>> keys = np.array([3, 1, 3, 3], np.int32)
    >>> at, found, _ = find(keys, np.array([1, 0, 0, 1], np.uint8), np.array([0, 2, 4]), None)
    >>> found.tolist(), at[4:].tolist()
    ([2, 3, 2, 0], [2, -1, -1, 2])
    """
    n = len(keys)
    order = np.argsort(keys, kind="stable").astype(np.int64, copy=False)
    found = np.empty(MOST * int(np.count_nonzero(asking)) + 1, np.int32)
    at = np.empty(2 * n, np.int64)
    bounds = document_bounds(starts, documents)
    end = kernel.nearest(order, keys, asking, bounds, WINDOW, MOST, at, found)
    lengths = np.diff(starts)
    sentence = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    return at, found[:end], sentence


def document_bounds(
    starts: NDArray[np.int64], documents: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """The first token of each document, and the end of the last.

    Parameters
    ----------
    starts : int64 (sentences + 1,)
    documents : int64 (sentences,) or None
        As for `find`.

    Returns
    -------
    int64 (documents + 1,)

    Examples
    --------
    >>> document_bounds(np.array([0, 2, 5, 6]), np.array([4, 4, 1])).tolist()
    [0, 5, 6]
    """
    if documents is None or len(documents) == 0:
        return starts[[0, -1]]
    changes = np.flatnonzero(np.diff(documents)) + 1
    return np.concatenate([starts[:1], starts[changes], starts[-1:]])


def add_to(
    words: template_features.Words,
    keys: NDArray[np.int32],
    asking: NDArray[np.uint8],
    starts: NDArray[np.int64],
    documents: NDArray[np.int64] | None,
) -> int:
    """Tell the kernel where else words stand.

    Parameters
    ----------
    words : seqpa._kernel.template_features.Words
    keys, asking, starts, documents
        As for `find`.

    Returns
    -------
    int
        How many places there are in all.
    """
    at, found, sentence = find(keys, asking, starts, documents)
    words.add_elsewhere(at, found, starts, sentence)
    return len(found)


def around(starts: NDArray[np.int64], part: slice, *hops: int) -> slice:
    """The sentences that tagging some of them looks at.

    Parameters
    ----------
    starts : int64 (sentences + 1,)
        Where each sentence begins, and the end of the last.
    part : slice
        Sentences.
    *hops : int
        How many tokens are looked at before and behind each of theirs; and then before and behind
        each token of all sentences that these are in (`FeatureSource.hops`).

    Returns
    -------
    slice

    Examples
    --------
    >>> around(np.array([0, 2, 5, 9, 12]), slice(2, 3), 1)
    slice(1, 4, None)
    >>> around(np.array([0, 2, 5, 9, 12]), slice(2, 3), 1, 1)
    slice(0, 4, None)
    """
    for hop in hops:
        if hop == 0 or part.start == part.stop:
            continue
        behind = min(starts[part.stop] - 1 + hop, starts[-1] - 1)
        first = int(np.searchsorted(starts, max(starts[part.start] - hop, 0), side="right")) - 1
        last = int(np.searchsorted(starts, behind, side="right"))
        part = slice(min(first, part.start), max(last, part.stop))
    return part
