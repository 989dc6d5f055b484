"""Word lists and word clusters that templates look words up in, and lists of strings as arrays.

A lexicon file has one entry a line, its words separated by spaces:

    Vienna
    New York City

A cluster file has one word a line, after its path in the cluster tree and a tab (what follows a
second tab, usually a count, is not read):

    0110    Monday  372
    01110   river   12
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError, did_you_mean
from seqpa.files import read_text

Arrays = dict[str, NDArray]
# Of an entry: at each token as many lengths are tried as entries of its first word have.
MAX_ENTRY_WORDS = 100


class Lexicon:
    """A list of names of one or more words each; words match exactly, case included.

    Parameters
    ----------
    entries : iterable
        Names as text, words between spaces, or as sequences of words.

    Examples
    --------
    >>> cities = Lexicon(["New York", "New York City", "Vienna"])
    >>> cities.mark(["in", "New", "York", ",", "Vienna", "New"], [0, 6]).tolist()
    [-1, 0, 1, -1, 0, -1]
    """

    def __init__(self, entries: Iterable[str | Sequence[str]]) -> None:
        split = (tuple(e.split() if isinstance(e, str) else e) for e in entries)
        self.entries = tuple(dict.fromkeys(entry for entry in split if entry))
        for entry in self.entries:
            if len(entry) > MAX_ENTRY_WORDS:
                raise SeqpaError(
                    f"a lexicon's entry begins with {entry[0]!r} and has {len(entry):,} words; "
                    f"{MAX_ENTRY_WORDS} are the most"
                )
        self._all = frozenset(self.entries)
        # First word -> the lengths of the entries that it begins, the longest first. Lengths, since
        # thousands of titles may begin with "The", and no list of names has many lengths.
        self._lengths: dict[str, list[int]] = {}
        for first, length in sorted({(e[0], len(e)) for e in self.entries}, key=lambda p: -p[1]):
            self._lengths.setdefault(first, []).append(length)

    def mark(self, words: Sequence[str], starts: Sequence[int]) -> NDArray[np.int32]:
        """Find the longest entries, from left to right; none crosses into another sentence.

        Parameters
        ----------
        words : sequence of str
            The words of all sentences.
        starts : sequence of int
            Sentence s is words[starts[s]:starts[s + 1]].

        Returns
        -------
        int32 (words,)
            0 where an entry begins, 1 inside it, else -1.
        """
        marks = np.full(len(words), -1, np.int32)
        lengths = self._lengths
        candidates = [i for i, word in enumerate(words) if word in lengths]
        if not candidates:
            return marks
        sentence, done = 0, 0
        for i in candidates:
            if i < done:
                continue
            while starts[sentence + 1] <= i:
                sentence += 1
            for length in lengths[words[i]]:
                end = i + length
                if end <= starts[sentence + 1] and tuple(words[i:end]) in self._all:
                    marks[i], marks[i + 1 : end] = 0, 1
                    done = end
                    break
        return marks

    @classmethod
    def read(cls, path: str | Path) -> Lexicon:
        """Read a lexicon file.

        Parameters
        ----------
        path : str or Path
            One entry a line.

        Returns
        -------
        Lexicon
        """
        lines = _lines(path)
        for number, line in enumerate(lines, 1):
            if len(line) > 2 * MAX_ENTRY_WORDS and len(line.split()) > MAX_ENTRY_WORDS:
                raise SeqpaError(
                    f"{path}:{number}: an entry of {len(line.split()):,} words; "
                    f"{MAX_ENTRY_WORDS} are the most: write one entry a line"
                )
        return cls(lines)

    def to_arrays(self, name: str) -> Arrays:
        """The entries as arrays.

        Parameters
        ----------
        name : str
            The arrays' names begin with it.

        Returns
        -------
        dict of arrays
        """
        return pack_strings(f"{name}.words", [word for entry in self.entries for word in entry]) | {
            f"{name}.lengths": np.array([len(entry) for entry in self.entries], np.int64)
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray], name: str) -> Lexicon:
        """The inverse of `to_arrays`.

        Parameters
        ----------
        arrays : mapping of arrays
            Those of a model file.
        name : str
            As for `to_arrays`.

        Returns
        -------
        Lexicon
        """
        words = unpack_strings(arrays, f"{name}.words")
        lengths = get_array(arrays, f"{name}.lengths", np.int64)
        if len(lengths) and lengths.min() < 1:
            raise SeqpaError(f"damaged model: {name}.lengths has an empty entry")
        ends = ends_of(lengths, len(words), f"{name}.lengths")
        return cls(words[e - n : e] for e, n in zip(ends, lengths.tolist(), strict=True))


class Clusters:
    """Each word's path from the root of a cluster tree.

    Parameters
    ----------
    paths : mapping
        The path of each word.

    Attributes
    ----------
    lower : bool
        Whether all words are in lower case: then those of a text are looked up so, too.

    Examples
    --------
    >>> Clusters({"Monday": "0110"}).paths["Monday"]
    '0110'
    >>> Clusters({"monday": "0110", "12": "00"}).lower
    True
    """

    def __init__(self, paths: Mapping[str, str]) -> None:
        self.paths = dict(paths)
        self.lower = all(word == word.lower() for word in self.paths)

    @classmethod
    def read(cls, path: str | Path) -> Clusters:
        """Read a cluster file.

        Parameters
        ----------
        path : str or Path
            A path, a tab and a word a line.

        Returns
        -------
        Clusters
        """
        paths: dict[str, str] = {}
        for number, line in enumerate(_lines(path), 1):
            if not line.strip():
                continue
            cells = line.split("\t")
            if len(cells) < 2 or not cells[0] or not cells[1]:
                raise SeqpaError(f"{path}:{number}: expected a path, a tab and a word: {line!r}")
            if paths.setdefault(cells[1], cells[0]) != cells[0]:
                raise SeqpaError(f"{path}:{number}: word {cells[1]!r} has two different paths")
        return cls(paths)

    def to_arrays(self, name: str) -> Arrays:
        """The words and paths as arrays.

        Parameters
        ----------
        name : str
            The arrays' names begin with it.

        Returns
        -------
        dict of arrays
        """
        words = pack_strings(f"{name}.words", list(self.paths))
        return words | pack_strings(f"{name}.paths", list(self.paths.values()))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray], name: str) -> Clusters:
        """The inverse of `to_arrays`.

        Parameters
        ----------
        arrays : mapping of arrays
            Those of a model file.
        name : str
            As for `to_arrays`.

        Returns
        -------
        Clusters
        """
        words = unpack_strings(arrays, f"{name}.words")
        paths = unpack_strings(arrays, f"{name}.paths")
        if len(words) != len(paths):
            raise SeqpaError(f"damaged model: {len(words)} words but {len(paths)} paths in {name}")
        return cls(dict(zip(words, paths, strict=True)))


Resource = Lexicon | Clusters
KINDS: dict[str, type[Lexicon] | type[Clusters]] = {"lexicon": Lexicon, "clusters": Clusters}


def load(name: str, kind: str, given: Mapping[str, Resource | str | Path]) -> Resource:
    """The resource of a name: as given, or read from the file that was given.

    Parameters
    ----------
    name : str
        What templates call it.
    kind : str
        lexicon or clusters.
    given : mapping
        Resources, or their files, by name.

    Returns
    -------
    Lexicon or Clusters

    Examples
    --------
    >>> load("cities", "lexicon", {"city": Lexicon(["Graz"]), "river": Lexicon(["Mur"])})
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: no lexicon is named 'cities'; did you mean 'city'?
    """
    if not isinstance(given, Mapping):
        raise SeqpaError(
            f"resources are {given!r}: give a file for each name, as in {{{name!r}: 'names.txt'}}"
        )
    if name not in given:
        hint = did_you_mean(name, given) if given else "; none was given"
        raise SeqpaError(f"no {kind} is named {name!r}{hint}")
    found = given[name]
    if isinstance(found, (str, Path)):
        return KINDS[kind].read(found)
    if not isinstance(found, KINDS[kind]):
        raise SeqpaError(f"{name!r} is used as {kind} but is a {type(found).__name__}")
    return found


def _lines(path: str | Path) -> list[str]:
    # Not splitlines: a word of a web corpus may contain other line separators.
    return [line.rstrip("\r") for line in read_text(path).split("\n")]


def pack_strings(name: str, strings: Sequence[str]) -> Arrays:
    """A list of strings as one UTF-8 text and where each ends in it, counted in characters.

    Parameters
    ----------
    name : str
        The arrays' names begin with it.
    strings : sequence of str
        Any strings.

    Returns
    -------
    dict of arrays

    Examples
    --------
    >>> packed = pack_strings("labels", ["né", "", "O"])
    >>> packed["labels.text"].size, packed["labels.ends"].tolist()
    (4, [2, 2, 3])
    >>> unpack_strings(packed, "labels")
    ['né', '', 'O']
    """
    text = "".join(strings).encode("utf-8", "surrogatepass")
    ends = np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)), dtype=np.int64)
    return {f"{name}.text": np.frombuffer(text, np.uint8), f"{name}.ends": ends}


def unpack_strings(arrays: Mapping[str, NDArray], name: str) -> list[str]:
    """The inverse of `pack_strings`; anything that it cannot have written is a SeqpaError.

    Parameters
    ----------
    arrays : mapping of arrays
        Those of a model file.
    name : str
        As for `pack_strings`.

    Returns
    -------
    list of str
    """
    try:
        text = (
            get_array(arrays, f"{name}.text", np.uint8).tobytes().decode("utf-8", "surrogatepass")
        )
    except UnicodeDecodeError as error:
        raise SeqpaError(f"damaged model: {name}.text is not UTF-8: {error.reason}") from None
    ends = get_array(arrays, f"{name}.ends", np.int64)
    lengths = np.diff(ends, prepend=np.int64(0))
    cuts = [0, *ends_of(lengths, len(text), f"{name}.ends")]
    return [text[a:b] for a, b in pairwise(cuts)]


def ends_of(lengths: NDArray[np.int64], total: int, name: str) -> list[int]:
    """Where pieces of these lengths end, if together they are as long as they should be.

    Parameters
    ----------
    lengths : int64 (pieces,)
        How long each piece is.
    total : int
        How long all are together.
    name : str
        The array that a SeqpaError names.

    Returns
    -------
    list of int

    Examples
    --------
    >>> ends_of(np.array([2, 0, 3]), 5, "words")
    [2, 2, 5]
    """
    if len(lengths) and (lengths.min() < 0 or lengths.max() > total):
        raise SeqpaError(f"damaged model: {name} does not fit its text")
    ends: list[int] = np.cumsum(lengths).tolist()
    if (ends[-1] if ends else 0) != total:
        raise SeqpaError(f"damaged model: {name} does not fit its text")
    return ends


def get_array(arrays: Mapping[str, NDArray], name: str, dtype: type, ndim: int = 1) -> NDArray:
    """An array of a model file, contiguous, if its type and dimensions are as they should be.

    Parameters
    ----------
    arrays : mapping of arrays
        Those of a model file.
    name : str
        Which one.
    dtype : type
        What it must hold.
    ndim : int
        How many dimensions it must have.

    Returns
    -------
    array
    """
    array = arrays.get(name)
    if array is None:
        raise SeqpaError(f"damaged model: {name} is missing")
    if array.dtype != dtype or array.ndim != ndim:
        found = f"{array.dtype} with {array.ndim} dimensions"
        raise SeqpaError(f"damaged model: {name} is {found}, not {np.dtype(dtype)} with {ndim}")
    return np.ascontiguousarray(array)
