"""Counting the labels of many tokens at once, by arrays: what a tag dictionary learns from a text.

A text has far fewer distinct words, and fewer still distinct entries, than tokens. Strings are
looked at once for each distinct word; the rest is done by numbers (`seqpa._kernel.tag_counts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings
from seqpa._kernel import tag_counts as kernel

_REMEMBERED = 4096  # as `word_tables.REMEMBERED`: objects whose number the kernel keeps at hand
PURITIES = ("all", "most", "some")
BUCKETS = ("1", "2-4", "5-19", "20+")
UNKNOWN = "(unknown)"
NEVER = UNKNOWN, UNKNOWN


def spelled(often: Iterable[str], best: str, purity: str, bucket: str) -> tuple[str, str]:
    """The values of `tags` and `besttag` as strings.

    Parameters
    ----------
    often : iterable of str
        The frequent labels, sorted.
    best : str
        The most frequent one.
    purity, bucket : str
        How pure the word is, and how often it has the best label.

    Returns
    -------
    tags, besttag : str

    Examples
    --------
    >>> spelled(["N", "V"], "V", "most", "5-19")
    ('N V', 'V most 5-19')
    """
    return " ".join(often), f"{best} {purity} {bucket}"


class Tokens(NamedTuple):
    """The tokens of a text by numbers.

    Attributes
    ----------
    words : list of str
        The distinct lower-cased words, by their first token.
    word : int32 (tokens,)
        The number of each token's word.
    labels : list of str
        The distinct labels, sorted.
    label : int32 (tokens,)
        The number of each token's label; −1 where it is not given.
    forms : dict
        The distinct words as they are written, by their first token.
    of_form : int32 (forms,)
        The number of the lower-cased word of each form.
    """

    words: list[str]
    word: NDArray[np.int32]
    labels: list[str]
    label: NDArray[np.int32]
    forms: dict[str, int]
    of_form: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        words: Sequence[str],
        labels: Sequence[str | None],
        numbered: tuple[dict[str, int], NDArray[np.int32]] | None = None,
    ) -> Tokens:
        """The tokens with these words and labels.

        Parameters
        ----------
        words : sequence of str
        labels : sequence of str or None
            As many.
        numbered : (dict, int32 (tokens,)), optional
            The distinct words by their first token, and the number of each token's, if these are
            known already.

        Returns
        -------
        Tokens

        Examples
        --------
        >>> found = Tokens.of(["So", "it", "so"], ["R", None, "A"])
        >>> found.words, found.word.tolist(), found.labels, found.label.tolist()
        (['so', 'it'], [0, 1, 0], ['A', 'R'], [1, -1, 0])
        """
        forms, form = _numbered(words) if numbered is None else numbered
        lower: dict[str, int] = {}
        folded = [lower.setdefault(written.lower(), len(lower)) for written in forms]
        of_form = np.array(folded, np.int32)
        if None in labels:
            known = dict.fromkeys(label for label in labels if label is not None)
            number = {label: k for k, label in enumerate(known)}
            places: dict[str | None, int] = dict.fromkeys([None], -1)
            places.update(number)
            label = np.fromiter(map(places.__getitem__, labels), np.int32, len(labels))
        else:
            number, label = _numbered([own for own in labels if own is not None])
        names = sorted(number)
        rank = np.empty(len(names) + 1, np.int32)
        rank[[number[name] for name in names]] = np.arange(len(names), dtype=np.int32)
        rank[-1] = -1  # what is not given stays so
        return cls(list(lower), of_form[form], names, rank[label], forms, of_form)

    def labelled(self) -> Tokens:
        """The tokens that have a label, and their words.

        Examples
        --------
        >>> found = Tokens.of(["So", "it", "so"], [None, "P", "A"]).labelled()
        >>> found.words, found.word.tolist(), found.label.tolist()
        (['it', 'so'], [0, 1], [1, 0])
        """
        given = self.label >= 0
        if given.all():
            return self
        word = self.word[given]
        number = np.full(len(self.words), -1, np.int32)
        before = word.copy()
        size = kernel.by_first(word, number)
        words = [""] * size
        for old, new in zip(before.tolist(), word.tolist(), strict=True):
            words[new] = self.words[old]
        return self._replace(words=words, word=word, label=self.label[given])

    def sorted(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The tokens by their words, and where each word's begin."""
        order = np.empty(len(self.word), np.int32)
        begin = np.zeros(len(self.words) + 1, np.int64)
        kernel.sort_by_word(self.word, begin, order)
        return order, begin


class Entries(NamedTuple):
    """The labels of words, those of one word behind the other's.

    Attributes
    ----------
    begin : int64 (words + 1,)
        Where the labels of each word begin.
    label : int32 (labels of all words,)
        Their numbers.
    n : int64 (labels of all words,)
        How often the word has each.
    names : list of str
        The labels by their numbers, sorted.
    """

    begin: NDArray[np.int64]
    label: NDArray[np.int32]
    n: NDArray[np.int64]
    names: list[str]

    @classmethod
    def of(cls, counts: Sequence[Mapping[str, int]]) -> Entries:
        """The labels that these words had.

        Parameters
        ----------
        counts : sequence of mapping
            Of each word: how often it had each label.

        Returns
        -------
        Entries
        """
        names = sorted(set().union(*counts))
        number = {label: k for k, label in enumerate(names)}
        sizes = np.fromiter(map(len, counts), np.int64, len(counts))
        begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        total = int(begin[-1])
        labels = (number[label] for own in counts for label in own)
        label = np.fromiter(labels, np.int32, total)
        n = np.fromiter((m for own in counts for m in own.values()), np.int64, total)
        return cls(begin, label, n, names)

    @classmethod
    def counted(cls, tokens: Tokens) -> Entries:
        """The labels that the words of tokens have there, each word's by their first token.

        Parameters
        ----------
        tokens : Tokens

        Returns
        -------
        Entries

        Examples
        --------
        >>> found = Entries.counted(Tokens.of(["so", "it", "So", "so"], ["R", "P", "A", "R"]))
        >>> [found.counts_of(row) for row in (0, 1)]
        [{'R': 2, 'A': 1}, {'P': 1}]
        """
        order, sorted_begin = tokens.sorted()
        begin = np.empty(len(tokens.words) + 1, np.int64)
        label, n = np.empty(len(order), np.int32), np.empty(len(order), np.int64)
        at = np.full(len(tokens.labels), -1, np.int64)
        size = kernel.count(order, sorted_begin, tokens.label, at, begin, label, n)
        return cls(begin, label[:size].copy(), n[:size].copy(), tokens.labels)

    def counts_of(self, row: int) -> dict[str, int]:
        """How often a word has each label."""
        own = slice(self.begin[row], self.begin[row + 1])
        names = self.names
        pairs = zip(self.label[own].tolist(), self.n[own].tolist(), strict=True)
        return {names[label]: n for label, n in pairs}

    def values(self) -> tuple[NDArray[np.int32], list[tuple[str, str]]]:
        """What is told of the words, as `tag_dictionary.told` has it.

        Returns
        -------
        which : int32 (words,)
            The number of each word's values.
        values : list of (str, str)
            Distinct ones: `tags` and `besttag`.

        Examples
        --------
        >>> Entries.of([{"N": 3}, {"N": 1, "V": 1}, {"N": 4}]).values()
        (array([0, 1, 0], dtype=int32), [('N', 'N all 2-4'), ('N V', 'N some 1')])
        """
        n_words = len(self.begin) - 1
        kinds = _Kinds(np.ones(n_words, np.int64), np.diff(self.begin))
        which = np.empty(n_words, np.int32)
        none = np.zeros(len(self.names) + 1, np.int64)
        kinds.kernel.of_words(self.begin, self.label, self.n, none, which)
        return which, kinds.spelled(self.names)

    def apart(
        self, tokens: Tokens, block: NDArray[np.int32], blocks: int
    ) -> tuple[NDArray[np.int32], list[tuple[str, str]]]:
        """What is told of tokens' words without what the token's own block says.

        Parameters
        ----------
        tokens : Tokens
            Their words are those that have these entries; all have been counted.
        block : int32 (tokens,)
            The block that each is in; those of one block follow each other.
        blocks : int
            How many there are.

        Returns
        -------
        which : int32 (tokens,)
            The number of each token's values.
        values : list of (str, str)
            Distinct ones, by their first token.

        Examples
        --------
        >>> tokens = Tokens.of(["so", "it", "so"], ["R", "P", "A"])
        >>> Entries.counted(tokens).apart(tokens, np.array([0, 0, 1], np.int32), 2)
        (array([0, 1, 2], dtype=int32), [('A', 'A all 1'), ('(unknown)', '(unknown)'), \
('R', 'R all 1')])
        """
        order, begin = tokens.sorted()
        given = tokens.label
        if tokens.labels is not self.names:
            rank = {name: k for k, name in enumerate(self.names)}
            # A label of −1 finds the −1 behind the last.
            of_own = np.array([*(rank[name] for name in tokens.labels), -1], np.int32)
            given = of_own[given]
        kinds = _Kinds(np.minimum(np.diff(begin), blocks), np.diff(self.begin))
        which = np.empty(len(order), np.int32)
        less = np.zeros(len(self.names) + 1, np.int64)
        kinds.kernel.apart(order, begin, given, block, self.begin, self.label, self.n, less, which)
        values = kinds.spelled(self.names)
        number = np.full(len(values), -1, np.int32)
        kernel.by_first(which, number)
        return which, [values[k] for k in np.argsort(number).tolist()]


class _Kinds:
    """The kernel's kinds, with memory for as many as there can be.

    entries : for how many entries of each word
    sizes : how many labels each word has
    """

    def __init__(self, entries: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
        # Each may be of a kind of its own; one more is written before it is looked for.
        most = int(entries.sum()) + 1
        sizes = np.minimum(sizes, kernel.SHARE) + kernel.HEAD
        cells = int((entries * sizes).sum()) + kernel.SHARE + kernel.HEAD
        self._cells, self._starts = np.empty(cells, np.int32), np.zeros(most + 1, np.int64)
        slots = np.zeros(1 << (2 * most).bit_length(), np.int32)
        self.kernel = kernel.Kinds(self._cells, self._starts, slots)

    def spelled(self, names: list[str]) -> list[tuple[str, str]]:
        """`tags` and `besttag` of each kind."""
        size = self.kernel.get_size()
        starts = self._starts[: size + 1].tolist()
        cells = self._cells[: starts[-1]].tolist()
        found = []
        for first, end in pairwise(starts):
            best, how = cells[first], cells[first + 1]
            if best < 0:
                found.append(NEVER)
                continue
            often = [names[label] for label in cells[first + kernel.HEAD : end]]
            found.append(spelled(often, names[best], PURITIES[how >> 2], BUCKETS[how & 3]))
        return found


def _numbered(words: Sequence[str]) -> tuple[dict[str, int], NDArray[np.int32]]:
    """The distinct strings with their numbers, by the first of each; the number of each."""
    own = words if isinstance(words, list) else list(words)
    numbers: dict[str, int] = {}
    found = np.empty(len(own), np.int32)
    last = np.zeros(_REMEMBERED, np.int32)
    wrong = strings.number(own, 0, len(own), {}, numbers, last, found)
    if wrong >= 0:
        raise TypeError(f"expected a string, not {own[wrong]!r}")
    return numbers, found
