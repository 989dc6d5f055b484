"""Counting the labels of many tokens at once, by arrays: what a tag dictionary learns from a text.

A text has far fewer distinct words, and fewer still distinct entries, than tokens. Strings are
looked at once for each distinct word; which words have the same entry is found by numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings

_REMEMBERED = 4096  # as `word_tables.REMEMBERED`: objects whose number the kernel keeps at hand
_OTHERS = 2**62


class Tokens(NamedTuple):
    """The tokens of a text by numbers.

    Attributes
    ----------
    words : list of str
        The distinct lower-cased words, by their first token.
    word : int64 (tokens,)
        The number of each token's word.
    labels : list of str
        The distinct labels, by their first token.
    label : int64 (tokens,)
        The number of each token's label; −1 where it is not given.
    """

    words: list[str]
    word: NDArray[np.int64]
    labels: list[str]
    label: NDArray[np.int64]

    @classmethod
    def of(cls, words: Sequence[str], labels: Sequence[str | None]) -> Tokens:
        """The tokens with these words and labels.

        Parameters
        ----------
        words : sequence of str
        labels : sequence of str or None
            As many.

        Returns
        -------
        Tokens

        Examples
        --------
        >>> found = Tokens.of(["So", "it", "so"], ["A", None, "R"])
        >>> found.words, found.word.tolist(), found.labels, found.label.tolist()
        (['so', 'it'], [0, 1, 0], ['A', 'R'], [0, -1, 1])
        """
        written, word = _numbered(words)
        lower: dict[str, int] = {}
        folded = [lower.setdefault(form.lower(), len(lower)) for form in written]
        named: dict[str, int] = {}
        if None in labels:
            known: dict[str | None, int] = {None: -1}
            for label in labels:
                if label not in known:
                    known[label] = len(known) - 1
            number = np.fromiter(map(known.__getitem__, labels), np.int64, len(labels))
            del known[None]
            named = {label: k for label, k in known.items() if label is not None}
        else:
            named, found = _numbered([label for label in labels if label is not None])
            number = found.astype(np.int64)
        return cls(list(lower), np.array(folded, np.int64)[word], list(named), number)

    def counts(self) -> Iterable[tuple[str, str, int]]:
        """Each word with each of its labels and how often it has it, by the first such token.

        Examples
        --------
        >>> list(Tokens.of(["so", "it", "So", "so"], ["A", None, "R", "A"]).counts())
        [('so', 'A', 2), ('so', 'R', 1)]
        """
        given = np.flatnonzero(self.label >= 0)
        width = max(len(self.labels), 1)
        runs = _runs(self.word[given] * width + self.label[given])
        order = np.argsort(runs.first)
        words = (runs.key // width)[order].tolist()
        labels = (runs.key % width)[order].tolist()
        for word, label, count in zip(words, labels, runs.n[order].tolist(), strict=True):
            yield self.words[word], self.labels[label], count


class Entries(NamedTuple):
    """The labels of words, those of one word behind the other's.

    Attributes
    ----------
    begin : int64 (words + 1,)
        Where the labels of each word begin.
    label : int64 (labels of all words,)
        Their numbers, in the order of their names.
    n : int64 (labels of all words,)
        How often the word has each.
    number : dict
        The number of each label.
    """

    begin: NDArray[np.int64]
    label: NDArray[np.int64]
    n: NDArray[np.int64]
    number: dict[str, int]

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
        number = {label: k for k, label in enumerate(sorted(set().union(*counts)))}
        begin = _ends(np.fromiter(map(len, counts), np.int64, len(counts)))
        total = int(begin[-1])
        labels = (number[label] for own in counts for label in own)
        label = np.fromiter(labels, np.int64, total)
        n = np.fromiter((m for own in counts for m in own.values()), np.int64, total)
        return cls(begin, label, n, number)

    def apart(self, tokens: Tokens, block: NDArray[np.int64]) -> tuple[Entries, NDArray[np.int64]]:
        """The entries of words without what one block says: of each block and each of its words,
        by their first token.

        Parameters
        ----------
        tokens : Tokens
            Their words are those that have these entries; all have been counted.
        block : int64 (tokens,)
            The block that each is in.

        Returns
        -------
        entries : Entries
            Labels that nothing is left of have zero.
        which : int64 (tokens,)
            Each token's among these.
        """
        n_words = len(tokens.words)
        width = max(len(self.number), 1)
        runs = _runs(block * n_words + tokens.word)
        order, which = _by_first(runs)
        # Every label of the word, for each block that the word is in.
        word = runs.key[order] % max(n_words, 1)
        sizes = np.diff(self.begin)[word]
        begin = _ends(sizes)
        within = np.arange(begin[-1]) - np.repeat(begin[:-1], sizes)
        rows = np.repeat(self.begin[:-1][word], sizes) + within
        n = self.n[rows]
        # What the block itself says.
        names = np.array([self.number.get(label, -1) for label in tokens.labels], np.int64)
        given = np.flatnonzero(tokens.label >= 0)
        if len(given):
            own = _runs(which[given] * width + names[tokens.label[given]])
            labelled = np.repeat(np.arange(len(word)), sizes) * width + self.label[rows]
            by_key = np.argsort(labelled)
            n[by_key[np.searchsorted(labelled[by_key], own.key)]] -= own.n
        return Entries(begin, self.label[rows], n, self.number), which

    def alike(self) -> tuple[NDArray[np.int64], list[dict[str, int]]]:
        """Which words have the same values of `tags` and `besttag`.

        Returns
        -------
        which : int64 (words,)
            The number of each word's values.
        examples : list of dict
            For each such number the labels and counts of one word that has them. They are numbered
            by their first word.

        Examples
        --------
        >>> Entries.of([{"N": 3}, {"N": 1, "V": 1}, {"N": 4}, {}]).alike()
        (array([0, 1, 0, 2]), [{'N': 3}, {'N': 1, 'V': 1}, {}])
        """
        sizes = np.diff(self.begin)
        word = np.repeat(np.arange(len(sizes)), sizes)
        there = self.n > 0
        word, label, n = word[there], self.label[there], self.n[there]
        order = np.argsort(word * max(len(self.number), 1) + label)
        label, n = label[order], n[order]
        begin = np.searchsorted(word, np.arange(len(sizes) + 1))  # its order is as it was
        full = np.flatnonzero(np.diff(begin))
        codes = np.zeros(len(sizes), np.int64)  # without labels
        if len(full):
            at = begin[full]
            total, most = np.add.reduceat(n, at), np.maximum.reduceat(n, at)
            own = np.repeat(np.arange(len(full)), np.diff(begin)[full])
            best = np.minimum.reduceat(np.where(n == most[own], label, _OTHERS), at)
            pure = np.where(most == total, 0, np.where(5 * most > 4 * total, 1, 2))
            bucket = np.searchsorted([2, 5, 20], most, side="right")
            often = 50 * n >= total[own]
            sets = _sets(label[often], np.bincount(own[often], minlength=len(full)))
            values = (best * 3 + pure) * 4 + bucket
            codes[full] = 1 + sets * (12 * len(self.number)) + values
        runs = _runs(codes)
        order, which = _by_first(runs)
        first = runs.first[order]
        names = list(self.number)
        examples = [
            {names[label[k]]: int(n[k]) for k in range(begin[w], begin[w + 1])} for w in first
        ]
        return which, examples


def _sets(label: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each set of labels: those of one set follow each other, sorted.

    >>> _sets(np.array([4, 0, 4, 4]), np.array([1, 2, 1])).tolist()
    [0, 1, 0]
    """
    begin = _ends(sizes)
    base = int(label.max()) + 2
    codes = np.zeros(len(sizes), np.int64)
    long: dict[bytes, int] = {}
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        own = np.flatnonzero(sizes == size)
        rows = label[begin[own][:, None] + np.arange(size)] + 1
        if base**size < 2**61:  # as digits of one number, none of them zero
            for digit in rows.T:
                codes[own] = codes[own] * base + digit
        else:
            found = [long.setdefault(row.tobytes(), len(long)) for row in rows]
            codes[own] = 2**61 + np.array(found)
    return _runs(codes).which


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


class _Runs(NamedTuple):
    """Equal keys: the distinct ones in ascending order, where each stands first, how often it is
    there, and the number of each of all keys among them."""

    key: NDArray[np.int64]
    first: NDArray[np.int64]
    n: NDArray[np.int64]
    which: NDArray[np.int64]


def _runs(key: NDArray[np.int64]) -> _Runs:
    """Find equal keys, which are not below zero.

    >>> [found.tolist() for found in _runs(np.array([7, 3, 7]))]
    [[3, 7], [1, 0], [1, 2], [1, 0, 1]]
    """
    if not len(key):
        return _Runs(key, key, key, key)
    bits = len(key).bit_length()
    if int(key.max()) >> (62 - bits) == 0:  # sorting numbers is faster than sorting their places
        packed = np.sort(key << bits | np.arange(len(key)))
        ordered, place = packed >> bits, packed & ((1 << bits) - 1)
    else:
        place = np.argsort(key, kind="stable")
        ordered = key[place]
    new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    begin = np.flatnonzero(new)
    which = np.empty(len(key), np.int64)
    which[place] = np.cumsum(new) - 1
    return _Runs(ordered[begin], place[begin], np.diff(np.append(begin, len(key))), which)


def _by_first(runs: _Runs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys by their first place; and which of these each of all keys is."""
    order = np.argsort(runs.first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return order, rank[runs.which]


def _ends(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where pieces of these sizes begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
