"""Word clusters from raw text: words that stand beside the same words are put together.

First every word is moved, again and again, to the class that tells most about the words beside it
(exchange: Kneser and Ney, 1993), then the classes are joined two by two into a tree
(Brown et al., 1992). A word's cluster is its path in the tree, so that the first bits of a path are
a coarser cluster. Equal text gives equal clusters.

>>> text = [f"{what} {came} on {day}" for what in ("rain", "snow") for came in ("came", "fell")
...         for day in ("Friday", "Monday", "Sunday")]
>>> found = learn_clusters([line.split() for line in text], n_clusters=3, min_count=1)
>>> found.paths["came"] == found.paths["fell"], found.paths["Friday"] == found.paths["Monday"]
(True, True)
>>> found.paths["came"] == found.paths["Friday"]
False
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import word_classes
from seqpa.errors import SeqpaError
from seqpa.sequence.resources import Clusters

# n log n is looked up below this number: 8 bytes each, small enough for a processor's cache.
_KNOWN = 1 << 15
# Words moved in one call of the kernel, between which progress is told and Ctrl-C is heard.
_RUN = 256
# A pass that moves fewer than one word in so many is the last.
_SETTLED = 1000


@dataclass(frozen=True, slots=True)
class Clustering:
    """Words, the path of each in the tree of clusters, and how often each was seen.

    Parameters
    ----------
    paths : dict
        Path of each word: 0 and 1 from the root down.
    counts : dict
        How often each word was seen.
    passes : int
        How often all words were looked at until they stayed.
    information : float
        What the cluster of a word tells about the next one's, in bits (the mutual information of
        the pairs).

    Examples
    --------
    >>> Clustering({"river": "01"}, {"river": 12}, 1, 0.5).text()
    '01\\triver\\t12\\n'
    """

    paths: dict[str, str]
    counts: dict[str, int]
    passes: int
    information: float

    def clusters(self) -> Clusters:
        """What templates look words up in.

        Returns
        -------
        Clusters
        """
        return Clusters(self.paths)

    def text(self) -> str:
        """A cluster file: path, word and count a line; clusters together, frequent words first.

        Words that no such file can hold, with a tab or the end of a line in them, are left out.

        Returns
        -------
        str
        """
        words = (word for word in self.paths if word and not set(word) & {"\t", "\n", "\r"})
        order = sorted(words, key=lambda word: (self.paths[word], -self.counts[word], word))
        return "".join(f"{self.paths[word]}\t{word}\t{self.counts[word]}\n" for word in order)


def learn_clusters(
    sentences: Iterable[Sequence[str]],
    n_clusters: int = 256,
    min_count: int = 3,
    max_passes: int = 20,
    progress: Callable[[int, float, int], None] | None = None,
) -> Clustering:
    """Put the words of a text into clusters.

    Parameters
    ----------
    sentences : iterable
        Lists of words, such as a corpus or a generator of sentences.
    n_clusters : int
        How many clusters to make; fewer where there are fewer words.
    min_count : int
        Rarer words are left out, and with them the pairs that they stand in.
    max_passes : int
        How often each word may be moved; passes end before where words stay.
    progress : callable, optional
        Called with the pass, the share of it that is done, and the words moved in it so far.

    Returns
    -------
    Clustering

    Examples
    --------
    >>> learn_clusters([["a", "b"], ["a", "c"]], n_clusters=2, min_count=2)
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: only 1 word occurs at least 2 times in the text; clusters need two \
words or more: give more text, or a lower min_count
    """
    for name, value in (("n_clusters", n_clusters), ("min_count", min_count)):
        if value < 1:
            raise SeqpaError(f"{name} is {value}; it must be at least 1")
    words, counts, tokens = _frequent(sentences, min_count)
    if len(words) < 2:
        some = "only 1 word occurs" if words else "no word occurs"
        raise SeqpaError(
            f"{some} at least {min_count} times in the text; clusters need two words or more: "
            "give more text, or a lower min_count"
        )
    first, second, times = _pairs(tokens, len(words))
    size = min(n_clusters, len(words))
    # The most frequent words each begin a class; of the others every class gets its share.
    classes = np.arange(len(words), dtype=np.int32) % size
    known = np.empty(_KNOWN)
    word_classes.fill(known)
    passes = _exchange(classes, size, (first, second, times), known, max_passes, progress)
    used, final = np.unique(classes, return_inverse=True)
    table = _table(final, len(used), (first, second, times))
    information = _information(table)
    merges = np.zeros((len(used) - 1, 2), np.int32)
    turned = np.ascontiguousarray(table.T)
    sums = table.sum(1), table.sum(0)
    word_classes.merge(table, turned, *sums, np.zeros(table.shape), merges, known)
    paths = _paths(merges, len(used))
    return Clustering(
        {word: paths[c] for word, c in zip(words, final.tolist(), strict=True)},
        dict(zip(words, counts, strict=True)),
        passes,
        information,
    )


def _frequent(
    sentences: Iterable[Sequence[str]], min_count: int
) -> tuple[list[str], list[int], NDArray[np.int64]]:
    """Words from the most to the least frequent, their counts, and the text in their numbers.

    -1 stands for a word that is left out and for the end of a sentence.
    """
    numbers: dict[str, int] = {}
    text = array("i")
    for sentence in sentences:
        if isinstance(sentence, str):
            raise SeqpaError(f"a sentence is the text {sentence[:40]!r}: give a list of its words")
        text.extend([numbers.setdefault(word, len(numbers)) for word in sentence])
        text.append(-1)
    tokens = np.frombuffer(text, np.int32) if text else np.empty(0, np.int32)
    seen = np.bincount(tokens[tokens >= 0], minlength=len(numbers))
    known = list(numbers)
    kept = [w for w in np.argsort(-seen, kind="stable").tolist() if seen[w] >= min_count]
    # By count, then by spelling: the order of the text does not matter.
    kept.sort(key=lambda w: (-int(seen[w]), known[w]))
    renumbered = np.full(len(known) + 1, -1, np.int64)  # the last one is for -1
    renumbered[kept] = np.arange(len(kept))
    return [known[w] for w in kept], [int(seen[w]) for w in kept], renumbered[tokens]


Pairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def _pairs(tokens: NDArray[np.int64], n_words: int) -> Pairs:
    """Distinct pairs of neighbours, ordered by the first word, and how often each occurs."""
    first, second = tokens[:-1], tokens[1:]
    both = (first >= 0) & (second >= 0)
    found, times = np.unique(first[both] * n_words + second[both], return_counts=True)
    return found // n_words, found % n_words, times.astype(np.int64)


def _exchange(
    classes: NDArray[np.int32],
    size: int,
    pairs: Pairs,
    known: NDArray[np.float64],
    max_passes: int,
    progress: Callable[[int, float, int], None] | None,
) -> int:
    first, second, times = pairs
    n_words = len(classes)
    turn = np.argsort(second, kind="stable")
    table = _table(classes, size, pairs)
    kernel = word_classes.Exchange(
        np.searchsorted(first, np.arange(n_words + 1)).astype(np.int64),
        second.astype(np.int32),
        times,
        np.searchsorted(second[turn], np.arange(n_words + 1)).astype(np.int64),
        first[turn].astype(np.int32),
        times[turn],
        classes,
        table,
        np.ascontiguousarray(table.T),
        table.sum(1),
        table.sum(0),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int32),
        known,
    )
    for number in range(1, max_passes + 1):
        moved = 0
        for begin in range(0, n_words, _RUN):
            end = min(begin + _RUN, n_words)
            moved += kernel.move_words(begin, end)
            if progress is not None:
                progress(number, end / n_words, moved)
        if moved * _SETTLED < n_words:
            return number
    return max_passes


def _table(classes: NDArray[np.integer], size: int, pairs: Pairs) -> NDArray[np.int64]:
    """N(c, d): how many pairs have a first word of class c and a second one of d."""
    first, second, times = pairs
    cells = classes[first].astype(np.int64) * size + classes[second]
    # Sums of whole numbers below 2^53 are exact in float64, which bincount adds in.
    counted = np.bincount(cells, weights=times, minlength=size * size)
    return counted.astype(np.int64).reshape(size, size)


def _information(table: NDArray[np.int64]) -> float:
    total = float(table.sum())
    if not total:
        return 0.0
    joint = table / total
    apart = np.outer(joint.sum(1), joint.sum(0))
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log2(joint[seen] / apart[seen])))


def _paths(merges: NDArray[np.int32], size: int) -> list[str]:
    """Of each class: 0 and 1 from the root down. From the last joining back to the first."""
    paths = [""] * size
    for kept, joined in merges[::-1].tolist():
        paths[joined] = paths[kept] + "1"
        paths[kept] += "0"
    return paths
