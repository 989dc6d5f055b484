"""Prefixes and suffixes of many words, found among known ones without being cut out."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings

_LARGE = 16  # known affixes for each word that is asked for
_FEW = 64  # words whose affixes are cut out one by one
_UTF_32 = f"utf-32-{sys.byteorder[0]}e"  # without a mark of the byte order


def spelling(words: list[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The characters of all words as numbers.

    Parameters
    ----------
    words : list of str
        Any words.

    Returns
    -------
    codes : uint32 (characters,)
        The code points of all words, one word after the other.
    ends : int64 (words + 1,)
        Word i is codes[ends[i]:ends[i + 1]].

    Examples
    --------
    >>> codes, ends = spelling(["to", "", "été"])
    >>> codes.tolist(), ends.tolist()
    ([116, 111, 233, 116, 233], [0, 2, 2, 5])
    """
    ends = np.empty(len(words) + 1, np.int64)
    strings.ends(words, ends)
    return np.frombuffer("".join(words).encode(_UTF_32, "surrogatepass"), np.uint32), ends


class Affixes:
    """The prefixes and suffixes among a column's attributes.

    Parameters
    ----------
    kinds : mapping
        For the place of each such attribute, the length of its values and whether they are
        suffixes.

    Examples
    --------
    >>> suffixes = Affixes({1: (2, True)})
    >>> found = np.full((2, 3), 7, np.int32)
    >>> suffixes.look_up(["walking", "walked", "o"], [{}, {"ly": 0, "ng": 1}], found)
    >>> found.tolist()
    [[7, 7, 7], [1, -1, -1]]
    """

    def __init__(self, kinds: Mapping[int, tuple[int, bool]]) -> None:
        self.kinds = kinds
        self._made: tuple[list[int], tuple[NDArray, NDArray, NDArray]] | None = None

    def look_up(
        self, words: list[str], values: Sequence[Mapping[str, int]], out: NDArray[np.int32]
    ) -> None:
        """Find the number of each word's affixes; -1 where it is unknown or the word is shorter.

        Parameters
        ----------
        words : list of str
            Any words.
        values : sequence of mappings
            For each attribute the known values with their numbers, in the order of the numbers.
            From call to call there may be more.
        out : int32 (attributes, words)
            out[k, i] becomes the number of word i's affix, for each place k of `kinds`.
        """
        sizes = [len(values[k]) for k in self.kinds]
        made = self._made
        if made is None or made[0] != sizes:
            if len(words) * _LARGE < sum(sizes):  # an index would take longer to make than it saves
                for k, (length, at_end) in self.kinds.items():
                    cut = strings.suffixes if at_end else strings.prefixes
                    strings.look_up(cut(words, length), values[k], out[k])
                return
            made = self._made = sizes, self._index(values)
        strings.find_affixes(*spelling(words), *made[1], out)

    def enter(
        self, words: list[str], values: Sequence[dict[str, int]], out: NDArray[np.int32]
    ) -> list[int]:
        """Number the words' affixes where none is known yet, each by its first word.

        Parameters
        ----------
        words : list of str
            Any words.
        values : sequence of dicts
            For each attribute the known values: those of its affixes are added.
        out : int32 (words, attributes)
            out[i, k] becomes the number of word i's affix; -1 where the word is shorter.

        Returns
        -------
        list of int
            The attributes for which this was done: none for few words, and none that has known
            values.

        Examples
        --------
        >>> suffixes, values = Affixes({1: (2, True)}), [{}, {}]
        >>> found = np.full((90, 2), 7, np.int32)
        >>> suffixes.enter(["walking", "o", "long"] * 30, values, found), values
        ([1], [{}, {'ng': 0}])
        >>> found[:3].tolist()
        [[7, 0], [7, -1], [7, 0]]
        """
        kinds = [k for k in self.kinds if not values[k]]
        if len(words) < _FEW or not kinds:
            return []
        codes, ends = spelling(words)
        table = np.empty(1 << (2 * len(words)).bit_length(), np.int32)
        first, row = np.empty((2, len(words)), np.int32)
        for k in kinds:
            length, at_end = self.kinds[k]
            table[:] = 0
            size = strings.enter_affixes(codes, ends, length, at_end, table, first, row)
            out[:, k] = row
            cut = strings.suffixes if at_end else strings.prefixes
            known = cut([words[i] for i in first[:size].tolist()], length)
            values[k].update(zip(known, range(size), strict=True))
        return kinds

    def _index(self, values: Sequence[Mapping[str, int]]) -> tuple[NDArray, NDArray, NDArray]:
        """What the kernel takes: a row for each kind, known affixes' characters, hash tables."""
        asked = np.empty((len(self.kinds), 6), np.int64)
        spelled, tables = [], []
        n_codes = n_slots = 0
        for row, (k, (length, at_end)) in zip(asked, self.kinds.items(), strict=True):
            known, _ = spelling(list(values[k]))
            table = np.zeros(1 << (2 * len(values[k])).bit_length(), np.int32)
            strings.index_affixes(known, length, table)
            row[:] = k, length, at_end, n_codes, n_slots, len(table)
            n_codes, n_slots = n_codes + len(known), n_slots + len(table)
            spelled.append(known)
            tables.append(table)
        return asked, np.concatenate(spelled), np.concatenate(tables)
