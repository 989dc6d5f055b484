"""Scores with their intervals: the headline, types and labels, known and new words, lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from seqpa.evaluate import Evaluation, Score, intervals
from seqpa.report.tagged import Tagged
from seqpa.schemes import Span

# Sentences and spans of about the same length together: the largest of each group.
SENTENCES = (5, 10, 20, 30, 50)
SPANS = (1, 2, 3, 5)
_KNOWN, _NEW = "known words", "new words"
_Key = tuple[str, str]


class Tally:
    """Counts by key and sentence, for scores and their intervals.

    Parameters
    ----------
    sentences : int
        How many there are.

    Examples
    --------
    >>> tally = Tally(2)
    >>> tally.add(("types", "PER"), 0, correct=1, predicted=1, gold=2)
    >>> tally.scores["types", "PER"].f1
    0.6666666666666666
    """

    def __init__(self, sentences: int) -> None:
        self._sentences = sentences
        self._counts: dict[_Key, dict[int, list[int]]] = {}

    def add(self, key: _Key, sentence: int, correct: int, predicted: int, gold: int) -> None:
        """Count what a sentence has of a key.

        Parameters
        ----------
        key : (str, str)
            A table and one of its rows.
        sentence : int
        correct, predicted, gold : int
            As of `seqpa.evaluate.Score`.
        """
        row = self._counts.setdefault(key, {}).setdefault(sentence, [0, 0, 0])
        row[0] += correct
        row[1] += predicted
        row[2] += gold

    @property
    def scores(self) -> dict[_Key, Score]:
        """The score of each key."""
        return {
            key: Score(*(sum(row[i] for row in rows.values()) for i in range(3)))
            for key, rows in self._counts.items()
        }

    def rows(self, table: str, rounds: int, seed: int) -> dict[str, dict[str, Any]]:
        """The rows of a table: scores, and the interval of F1.

        Parameters
        ----------
        table : str
        rounds : int
            Of resampling.
        seed : int
            Of the generator.

        Returns
        -------
        dict
            By the names of the rows, in the order in which they were first counted.
        """
        from scipy.sparse import csr_array

        keys = [key for key in self._counts if key[0] == table]
        if not keys:
            return {}
        at: tuple[list[int], list[int]] = ([], [])
        values: list[float] = []
        for column, key in enumerate(keys):
            for sentence, (correct, predicted, gold) in self._counts[key].items():
                at[0].extend((sentence, sentence))
                at[1].extend((2 * column, 2 * column + 1))
                values.extend((2.0 * correct, float(predicted + gold)))
        counts = csr_array((values, at), shape=(self._sentences, 2 * len(keys)))
        limits = intervals(counts, rounds, np.random.default_rng(seed))
        scores = self.scores
        return {
            key[1]: {**scores[key].to_dict(), "low": one.low, "high": one.high}
            for key, one in zip(keys, limits, strict=True)
        }


def scores(
    tagged: Tagged,
    evaluation: Evaluation,
    training_words: Collection[str] | None,
    rounds: int,
    seed: int,
) -> dict[str, Any]:
    """The headline and all tables of scores.

    Parameters
    ----------
    tagged : Tagged
    evaluation : Evaluation
        Of the same predictions.
    training_words : collection of str or None
        The words of the training text, where they are known.
    rounds : int
        Of resampling.
    seed : int
        Of the generator.

    Returns
    -------
    dict
        Plain numbers, lists and dicts. The scores are F1; of labels of tokens, whose tables by
        length and words count tokens, F1 is accuracy.

    Examples
    --------
    >>> from seqpa.evaluate import evaluate
    >>> tagged = Tagged([["Ada", "won"]] * 9, [["B-x", "O"]] * 9, [["B-x", "O"]] * 8 + [["O"] * 2])
    >>> found = scores(tagged, evaluate(tagged.gold, tagged.predicted), {"won"}, 100, 1)
    >>> found["headline"]["metric"], round(found["headline"]["value"], 4)
    ('span-f1', 0.9412)
    >>> found["by_words"]["new words"]["recall"]
    0.8888888888888888
    """
    tally = Tally(len(tagged.gold))
    known = None if training_words is None else set(training_words)
    for number, pair in enumerate(tagged.span_pairs):
        _count_units(tally, number, pair, tagged.words[number], known, tagged.of_spans)
    for number, (gold, found) in enumerate(zip(tagged.gold, tagged.predicted, strict=True)):
        _count_labels(tally, number, gold, found)

    def rows(table: str, order: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
        found = tally.rows(table, rounds, seed)
        names = [name for name in order if name in found] if order else sorted(found)
        return {name: found[name] for name in names}

    (whole,) = tally.rows("all", rounds, seed).values()
    micro = evaluation.span_micro
    return {
        "headline": {
            "metric": "accuracy" if micro is None else "span-f1",
            "value": evaluation.accuracy if micro is None else micro.f1,
            "low": whole["low"],
            "high": whole["high"],
            "rounds": rounds,
            "seed": seed,
        },
        "by_type": rows("type") if tagged.of_spans else {},
        "by_label": rows("label"),
        "by_words": rows("words", (_KNOWN, _NEW)),
        "by_sentence_length": rows("sentence", groups(SENTENCES)),
        "by_span_length": rows("span", groups(SPANS)) if tagged.of_spans else {},
    }


def _count_units(
    tally: Tally,
    number: int,
    pair: tuple[Sequence[Span], Sequence[Span]],
    words: Sequence[str],
    known: set[str] | None,
    of_spans: bool,
) -> None:
    """Count a sentence's spans, or its tokens: all, by type, words, and both lengths."""
    right = set(pair[0]) & set(pair[1])
    length = group(len(words), SENTENCES)
    tally.add(("all", ""), number, 0, 0, 0)
    counts: Counter[tuple[_Key, int]] = Counter()
    for place, units in enumerate((right, pair[1], pair[0])):
        for unit in units:
            for key in _keys(unit, words, known, length, of_spans):
                counts[key, place] += 1
    for key, place in counts:
        row = [0, 0, 0]
        row[place] = counts[key, place]
        tally.add(key, number, *row)


def _keys(
    unit: Span, words: Sequence[str], known: set[str] | None, length: str, of_spans: bool
) -> Iterator[_Key]:
    kind, start, end = unit
    yield "all", ""
    yield "sentence", length
    if of_spans:
        yield "type", kind
        yield "span", group(end - start, SPANS)
    if known is not None:
        yield "words", _KNOWN if known.issuperset(words[start:end]) else _NEW


def _count_labels(tally: Tally, number: int, gold: Sequence[str], found: Sequence[str]) -> None:
    there, predicted = Counter(gold), Counter(found)
    right = Counter(g for g, p in zip(gold, found, strict=True) if g == p)
    for label in there | predicted:
        tally.add(("label", label), number, right[label], predicted[label], there[label])


@cache
def groups(limits: tuple[int, ...]) -> tuple[str, ...]:
    """The names of groups of lengths.

    Parameters
    ----------
    limits : tuple of int
        The largest length of each group but the last, which has none.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> groups((1, 2, 5))
    ('1', '2', '3 to 5', '6 or more')
    """
    names = []
    for low, high in zip((0, *limits), limits, strict=False):
        names.append(str(high) if high == low + 1 else f"{low + 1} to {high}")
    return (*names, f"{limits[-1] + 1} or more")


def group(length: int, limits: tuple[int, ...]) -> str:
    """The group of a length.

    Parameters
    ----------
    length : int
    limits : tuple of int
        As of `groups`.

    Returns
    -------
    str

    Examples
    --------
    >>> group(4, (1, 2, 5))
    '3 to 5'
    """
    return groups(limits)[sum(length > limit for limit in limits)]
