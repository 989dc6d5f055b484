"""Which labels a word had in training: the attributes `tags` and `besttag`.

`tags` is the set of labels that the lower-cased word had, those below 2 % of its tokens left out;
`besttag` is the most frequent of them, how pure the word is and how often it was seen with it.

A word's own label must not tell itself what it is. In training a token's entry therefore comes from
the sentences outside its block, one of ten that follow one another; a sentence that is learned
online is met with what came before it. When tagging, an entry comes from all that was learned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.sequence.folds import contiguous_folds
from seqpa.sequence.resources import Arrays, ends_of, get_array, pack_strings, unpack_strings
from seqpa.sequence.tag_counts import BUCKETS, NEVER, UNKNOWN, Entries, Tokens, spelled

__all__ = [
    "ATTRIBUTES",
    "BLOCKS",
    "UNKNOWN",
    "Apart",
    "TagDictionary",
    "apart_in_documents",
    "purity",
    "steady",
    "told",
]

BLOCKS = 10
_MANY = 256  # more tokens are counted by arrays
_MOST = 2**53  # counts beyond are no counts of tokens

Counts = dict[str, int]
# Of a word: its counts; once somebody asked, its values; how long these are `steady`.
Entry = tuple[Counts, tuple[str, str] | None, int]
# The names of the attributes, in the order in which `told` gives their values.
ATTRIBUTES = ("tags", "besttag")


def told(counts: Mapping[str, int]) -> tuple[str, str]:
    """The values of `tags` and `besttag` for a word that had these labels so many times.

    Parameters
    ----------
    counts : mapping
        How often the word had each label; none is zero.

    Returns
    -------
    tags, besttag : str

    Examples
    --------
    >>> told({"V": 6, "N": 93, "A": 1})
    ('N V', 'N most 20+')
    >>> told({"N": 1})
    ('N', 'N all 1')
    >>> told({})
    ('(unknown)', '(unknown)')
    """
    if not counts:
        return NEVER
    if len(counts) == 1:  # as most words
        ((best, n),) = counts.items()
        return spelled([best], best, "all", _bucket(n))
    total = sum(counts.values())
    often = [label for label, n in counts.items() if 50 * n >= total]  # at least 2 %
    n = max(counts.values())
    best = min([label for label, m in counts.items() if m == n])
    return spelled(sorted(often), best, purity(n, total), _bucket(n))


def _bucket(n: int) -> str:
    return BUCKETS[0 if n == 1 else 1 if n < 5 else 2 if n < 20 else 3]


def steady(counts: Mapping[str, int]) -> int:
    """For how many tokens more, of the labels that are counted, `told` surely stays as it is.

    Frequent words hardly ever change, and need not be looked at for every token.

    Parameters
    ----------
    counts : mapping
        As for `told`; at least one.

    Returns
    -------
    int

    Examples
    --------
    >>> steady({"N": 7}), steady({"N": 930, "V": 60, "A": 10}), steady({"N": 3, "V": 2})
    (12, 10, 0)
    """
    n = max(counts.values())
    limits = [_MOST if n >= 20 else (20 if n >= 5 else 5 if n >= 2 else 2) - n - 1]  # `_bucket`
    if len(counts) > 1:
        total = sum(counts.values())
        second = sorted(counts.values())[-2]
        limits.append(max(n - second - 1, 0))  # the most frequent one
        # `purity`, 5n > 4 total: the tokens may all be of other labels, or all of this one
        limits.append((5 * n - 4 * total - 1) // 4 if 5 * n > 4 * total else 4 * total - 5 * n)
        for m in counts.values():  # 2 %, 50m >= total, likewise
            inside = 50 * m - total
            limits.append(inside if inside >= 0 else (-inside - 1) // 49)
    return min(limits)


def purity(n: int, total: int) -> str:
    """How pure n of a total are: all of it, over 80 %, or less.

    Parameters
    ----------
    n, total : int

    Returns
    -------
    str

    Examples
    --------
    >>> purity(3, 3), purity(5, 6), purity(4, 5)
    ('all', 'most', 'some')
    """
    return "all" if n == total else "most" if 5 * n > 4 * total else "some"


def apart_in_documents(
    documents: NDArray[np.int64] | None, n_sentences: int, online: bool
) -> NDArray[np.int64]:
    """Documents that end where blocks do, for training with entries of words elsewhere.

    The entry of a word in another block knows the labels of this one. So a token may be told the
    entries of its own block alone; learning online, of its own sentence.

    Parameters
    ----------
    documents : int64 (sentences,) or None
        Sentences with one number that follow each other are one document; None: all are.
    n_sentences : int
    online : bool

    Returns
    -------
    int64 (sentences,)

    Examples
    --------
    >>> apart_in_documents(np.array([7, 7, 7, 2, 2]), 5, online=True).tolist()
    [0, 1, 2, 3, 4]
    >>> two_a_block = apart_in_documents(np.repeat([0, 1], [3, 17]), 20, online=False)
    >>> two_a_block[:6].tolist()
    [0, 0, 1, 2, 3, 3]
    """
    begins = np.full(n_sentences, online)
    begins[[fold.start for fold in contiguous_folds(n_sentences, BLOCKS)]] = True
    if documents is not None:
        begins[1:] |= np.diff(documents) != 0
    return np.cumsum(begins, dtype=np.int64) - 1


class TagDictionary:
    """How often each lower-cased word had each label.

    Examples
    --------
    >>> known = TagDictionary()
    >>> known.add(["So", "it", "so"], ["A", "P", None])
    ['so', 'it']
    >>> known.values(0, ["SO", "is"]), known.values(1, ["it"])
    (['A', '(unknown)'], ['P all 1'])
    """

    def __init__(self) -> None:
        # What a whole text or a file said, by arrays; and what was changed since, word by word.
        self._base: _Base | None = None
        self._entries: dict[str, Entry] = {}
        # What was added last, if nothing came since: the next step asks for the same tokens.
        self._counted: tuple[Sequence[str], Sequence[str | None], Tokens, Entries] | None = None

    @property
    def counts(self) -> dict[str, Counts]:
        """How often each word had each label."""
        return {word: self.counts_of(word) for word in self._words()}

    def _words(self) -> Iterator[str]:
        """All words, by when they came."""
        old: Mapping[str, int] = {} if self._base is None else self._base.row
        yield from old
        yield from (word for word in self._entries if word not in old)

    def counts_of(self, word: str) -> Counts:
        """How often a lower-cased word had each label."""
        found = self._known(word)
        return {} if found is None else found[0]

    def _known(self, word: str) -> Entry | None:
        found = self._entries.get(word)
        return self._base.entry(word) if found is None and self._base is not None else found

    def values(self, which: int, words: Collection[str]) -> list[str | None]:
        """The values of `ATTRIBUTES[which]` for words, as tagging sees them.

        Parameters
        ----------
        which : int
            0 for `tags`, 1 for `besttag`.
        words : collection of str
            In any case.

        Returns
        -------
        list of str
        """
        return self.values_of_lower(which, list(map(str.lower, words)))

    def values_of_lower(self, which: int, words: Collection[str]) -> list[str | None]:
        """`values` for words that are in lower case already."""
        if self._base is not None and not self._entries:
            return self._base.values_of(which, words)
        return [self.entry(word)[which] for word in words]

    def entry(self, word: str) -> tuple[str, str]:
        """The values of a word as tagging sees them.

        Parameters
        ----------
        word : str
            In lower case.

        Returns
        -------
        tags, besttag : str
        """
        found = self._entries.get(word)
        if found is None:
            return NEVER if self._base is None else self._base.told(word)
        counts, values, _ = found
        if values is None:
            values = told(counts)
            self._entries[word] = counts, values, steady(counts)
        return values

    def add(
        self,
        words: Sequence[str],
        labels: Sequence[str | None],
        numbered: tuple[dict[str, int], NDArray[np.int32]] | None = None,
    ) -> list[str]:
        """Count the labels of more tokens, at one stroke.

        Parameters
        ----------
        words : sequence of str
            The words of all tokens.
        labels : sequence of str or None
            Their labels; None where one is not given.
        numbered : (dict, int32 (tokens,)), optional
            The distinct words by their first token, and the number of each token's, if these are
            known already.

        Returns
        -------
        list of str
            The lower-cased words whose values have changed.
        """
        self._counted = None
        if len(words) > _MANY:
            return self._add_many(Tokens.of(words, labels, numbered), words, labels)
        new: dict[str, Entry] = {}
        changed = []
        for word, (counts, more) in self._with(words, labels).items():
            before = self._known(word)
            if before is not None and before[2] >= more and len(before[0]) == len(counts):
                new[word] = counts, before[1], before[2] - more
                continue
            values = told(counts)
            if before is None or before[1] != values:
                changed.append(word)
            new[word] = counts, values, steady(counts)
        self._entries.update(new)
        return changed

    def _add_many(
        self, tokens: Tokens, words: Sequence[str], labels: Sequence[str | None]
    ) -> list[str]:
        """`add` by arrays. How long values are `steady` is not asked for so many words."""
        labelled = tokens.labelled()
        more = Entries.counted(labelled)
        if self._base is None and not self._entries:
            self._base = _Base({word: k for k, word in enumerate(labelled.words)}, more)
            if labelled is tokens:
                self._counted = words, labels, tokens, more
            return labelled.words
        counts = []
        for row, word in enumerate(labelled.words):
            own = self._copied(word)
            for label, n in more.counts_of(row).items():
                own[label] = own.get(label, 0) + n
            counts.append(own)
        entries = Entries.of(counts)
        which, distinct = entries.values()
        new: dict[str, Entry] = {}
        changed = []
        for word, own, k in zip(labelled.words, counts, which.tolist(), strict=True):
            before = self._known(word)
            if before is None or before[1] != distinct[k]:
                changed.append(word)
            new[word] = own, distinct[k], -1
        self._entries.update(new)
        if labelled is tokens:
            self._counted = words, labels, tokens, entries
        return changed

    def _counted_of(
        self, words: Sequence[str], labels: Sequence[str | None]
    ) -> tuple[Tokens, Entries]:
        """Tokens by numbers, and the entries of their words: what was just added is at hand."""
        given, self._counted = self._counted, None
        if given is not None and given[0] is words and given[1] is labels:
            return given[2], given[3]
        tokens = Tokens.of(words, labels)
        return tokens, Entries.of([self.counts_of(word) for word in tokens.words])

    def of_forms(
        self, forms: Mapping[str, int]
    ) -> tuple[list[tuple[str, str]], NDArray[np.int32]] | None:
        """What tagging sees of words that were the first to be added, a moment ago.

        Parameters
        ----------
        forms : mapping
            The very one that `add` was given as the words' numbers.

        Returns
        -------
        values, which
            As for `jackknifed`, for each of the words; None where other words were added.
        """
        if self._counted is None or self._base is None or self._entries:
            return None
        tokens = self._counted[2]
        if tokens.forms is not forms:
            return None
        which, values = self._base.values()
        return values, which[tokens.of_form]

    def add_counts(self, counts: Mapping[str, Mapping[str, int]]) -> None:
        """Add what was counted elsewhere.

        Parameters
        ----------
        counts : mapping
            Of another dictionary (`counts`).

        Examples
        --------
        >>> known = TagDictionary()
        >>> _ = known.add(["so", "it"], ["A", "P"])
        >>> known.add_counts({"so": {"A": 1, "R": 2}})
        >>> known.counts
        {'so': {'A': 2, 'R': 2}, 'it': {'P': 1}}
        """
        self._counted = None
        for word, more in counts.items():
            own = self._copied(word)
            for label, n in more.items():
                own[label] = own.get(label, 0) + n
            self._entries[word] = own, None, -1

    def _with(
        self, words: Iterable[str], labels: Iterable[str | None]
    ) -> dict[str, tuple[Counts, int]]:
        """The counts that these tokens change, as they will be, and by how many tokens."""
        new: dict[str, tuple[Counts, int]] = {}
        for word, label in zip(map(str.lower, words), labels, strict=True):
            if label is None:
                continue
            own, more = new.get(word) or (self._copied(word), 0)
            own[label] = own.get(label, 0) + 1
            new[word] = own, more + 1
        return new

    def _copied(self, word: str) -> Counts:
        found = self._known(word)
        return {} if found is None else dict(found[0])

    def jackknifed(
        self,
        words: Sequence[str],
        labels: Sequence[str | None],
        starts: NDArray[np.int64],
    ) -> tuple[list[tuple[str, str]], NDArray[np.integer]]:
        """What training sees of tokens that have been added: entries without the token's own block.

        Parameters
        ----------
        words : sequence of str
            The words of all tokens.
        labels : sequence of str or None
            Their labels.
        starts : int64 (sentences + 1,)
            Where each sentence begins, and the end of the last.

        Returns
        -------
        values : list of (str, str)
            Distinct entries: `tags` and `besttag`.
        which : int (tokens,)
            The number of each token's entry among them.
        """
        tokens, known = self._counted_of(words, labels)
        block = np.empty(len(words), np.int32)
        for number, sentences in enumerate(contiguous_folds(len(starts) - 1, BLOCKS)):
            block[starts[sentences.start] : starts[sentences.stop]] = number
        which, values = known.apart(tokens, block, BLOCKS)
        return values, which

    def apart(self, own: Mapping[str, Mapping[str, int]]) -> Apart:
        """What training sees of tokens whose block had these labels.

        Parameters
        ----------
        own : mapping
            How often each lower-cased word had each label in the block; all have been added.

        Returns
        -------
        Apart
        """
        return Apart(self, own)

    def progressive(
        self,
        words: Sequence[str],
        labels: Sequence[str | None],
        starts: NDArray[np.int64],
    ) -> tuple[list[tuple[str, str]], NDArray[np.int64]]:
        """What learning online sees of tokens that have not been added: what came before.

        Parameters
        ----------
        words, labels, starts
            As for `jackknifed`.

        Returns
        -------
        values, which
            As for `jackknifed`.
        """
        values: list[tuple[str, str]] = []
        since: dict[str, Counts] = {}
        for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            lower = [word.lower() for word in words[begin:end]]
            for word in lower:
                values.append(told(since[word]) if word in since else self.entry(word))
            if end < len(words):
                for word, label in zip(lower, labels[begin:end], strict=True):
                    if label is not None:
                        if word not in since:
                            since[word] = self._copied(word)
                        since[word][label] = since[word].get(label, 0) + 1
        return values, np.arange(len(words))

    def to_arrays(self, name: str) -> Arrays:
        """All counts as arrays.

        Parameters
        ----------
        name : str
            The arrays' names begin with it.

        Returns
        -------
        dict of arrays
        """
        if self._base is not None and not self._entries:
            words, entries = list(self._base.row), self._base.entries
        else:
            known = self.counts
            words, entries = list(known), Entries.of(list(known.values()))
        # A word's labels may have come one by one or counted in parts: the file is the same.
        sizes = np.diff(entries.begin)
        order = np.lexsort((entries.label, np.repeat(np.arange(len(sizes)), sizes)))
        return (
            pack_strings(f"{name}.words", words)
            | pack_strings(f"{name}.labels", entries.names)
            | {
                f"{name}.sizes": sizes,
                f"{name}.which": entries.label[order],
                f"{name}.counts": entries.n[order],
            }
        )

    def fill(self, arrays: Mapping[str, NDArray], name: str) -> None:
        """The inverse of `to_arrays`; anything that it cannot have written is a SeqpaError.

        Parameters
        ----------
        arrays : mapping of arrays
            Those of a model file.
        name : str
            As for `to_arrays`.
        """
        words = unpack_strings(arrays, f"{name}.words")
        labels = unpack_strings(arrays, f"{name}.labels")
        sizes = get_array(arrays, f"{name}.sizes", np.int64)
        which = get_array(arrays, f"{name}.which", np.int32)
        numbers = get_array(arrays, f"{name}.counts", np.int64)
        where = f"damaged model: {name}"
        if len(sizes) != len(words) or len(which) != len(numbers):
            raise SeqpaError(f"{where} has arrays of different lengths")
        if len(sizes) and sizes.min() < 1:
            raise SeqpaError(f"{where} has a word without labels")
        if len(which) and (which.min() < 0 or which.max() >= len(labels)):
            raise SeqpaError(f"{where} has a label that is not there")
        if len(numbers) and (numbers.min() < 1 or numbers.max() > _MOST):
            raise SeqpaError(f"{where} has a count that is none")
        ends = ends_of(sizes, len(which), f"{name}.sizes")
        keys = np.sort(np.repeat(np.arange(len(sizes)), sizes) * len(labels) + which)
        if (keys[1:] == keys[:-1]).any():
            raise SeqpaError(f"{where} has a word with the same label twice")
        row = {word: k for k, word in enumerate(words)}
        if len(row) != len(words):
            raise SeqpaError(f"{where} has the same word twice")
        if any(a >= b for a, b in pairwise(labels)):
            raise SeqpaError(f"{where} has its labels out of order")
        begin = np.array([0, *ends], np.int64)
        self._entries = {}
        self._base = _Base(row, Entries(begin, np.array(which), np.array(numbers), labels))


class _Base:
    """The counts of many words by arrays: as dicts they would take most of a model's loading.

    row : the place of each word
    entries : the labels of all, by these places
    """

    def __init__(self, row: dict[str, int], entries: Entries) -> None:
        self.row = row
        self.entries = entries
        self._told: tuple[NDArray[np.int32], list[tuple[str, str]]] | None = None

    def values(self) -> tuple[NDArray[np.int32], list[tuple[str, str]]]:
        """The number of each word's values, and these: made when somebody asks."""
        if self._told is None:
            self._told = self.entries.values()
        return self._told

    def entry(self, word: str) -> Entry | None:
        """What is known of a word."""
        row = self.row.get(word)
        return None if row is None else (self.entries.counts_of(row), self.told(word), -1)

    def told(self, word: str) -> tuple[str, str]:
        """The values of a word."""
        row = self.row.get(word)
        if row is None:
            return NEVER
        which, values = self.values()
        return values[which[row]]

    def values_of(self, attribute: int, words: Iterable[str]) -> list[str | None]:
        """One of the two values for each of some words."""
        which, values = self.values()
        unknown, find = NEVER[attribute], self.row.get
        rows = [find(word, -1) for word in words]
        numbers = which[rows].tolist() if len(which) else rows
        own = [value[attribute] for value in values]
        return [
            unknown if row < 0 else own[number] for row, number in zip(rows, numbers, strict=True)
        ]


class Apart:
    """Entries without what one block of the text says: `TagDictionary.jackknifed` for a block that
    comes piece by piece.

    Parameters
    ----------
    dictionary : TagDictionary
        Of the whole text.
    own : mapping
        How often each lower-cased word had each label in the block.

    Examples
    --------
    >>> known = TagDictionary()
    >>> _ = known.add(["so", "So", "it"], ["A", "R", "P"])
    >>> values, which = known.apart({"so": {"R": 1}, "it": {"P": 1}}).entries(["So", "it", "so"])
    >>> values, which.tolist()
    ([('A', 'A all 1'), ('(unknown)', '(unknown)')], [0, 1, 0])
    """

    def __init__(self, dictionary: TagDictionary, own: Mapping[str, Mapping[str, int]]) -> None:
        self._counts = dictionary.counts_of
        self._own = own
        self._known: dict[str, tuple[str, str]] = {}
        # Most words have few labels few times: what is told of them is told of many.
        self._told: dict[tuple[tuple[str, int], ...], tuple[str, str]] = {}

    def entries(self, words: Sequence[str]) -> tuple[list[tuple[str, str]], NDArray[np.int64]]:
        """What training sees of tokens of the block.

        Parameters
        ----------
        words : sequence of str
            In any case.

        Returns
        -------
        values, which
            As for `TagDictionary.jackknifed`.
        """
        lower = {word: word.lower() for word in dict.fromkeys(words)}
        number = {word: k for k, word in enumerate(dict.fromkeys(lower.values()))}
        known = self._known
        values = [known.get(word) or self._entry(word) for word in number]
        place = {word: number[own] for word, own in lower.items()}
        return values, np.fromiter(map(place.__getitem__, words), np.int64, len(words))

    def _entry(self, word: str) -> tuple[str, str]:
        own = self._own.get(word, {})
        counts = self._counts(word)
        rest = tuple([(k, m) for k, n in counts.items() if (m := n - own.get(k, 0)) > 0])
        found = self._told.get(rest)
        if found is None:
            found = self._told[rest] = told(dict(rest))
        self._known[word] = found
        return found
