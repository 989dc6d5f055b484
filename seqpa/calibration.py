"""How far probabilities can be trusted: pure functions of what was told and what was right.

Of all answers that are told to be 80 % probable, 80 % should be right. `reliability` has the
numbers of the diagram that shows it, `expected_calibration_error` one number of it; `selective`
tells how good the answers are if only the surest are given.

>>> from seqpa import SequenceTagger
>>> X, y = [["so", "it", "is"], ["it", "was"]], [["A", "P", "V"], ["P", "V"]]
>>> tagger = SequenceTagger(["word[0]"], random_state=1).fit(X, y)
>>> told = tagger.predict_with_probability(X)
>>> probabilities, right = token_outcomes(y, told)
>>> right.tolist()
[True, True, True, True, True]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa.errors import SeqpaError
from seqpa.schemes import OUTSIDE, Span, marks_spans, spans

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Bin(NamedTuple):
    """Answers whose probabilities lie between two limits.

    Attributes
    ----------
    low, high : float
        The limits; the upper one is not included, but for 1.
    answers : int
        How many answers there are.
    confidence : float
        The mean of their probabilities.
    accuracy : float
        The share of them that is right.
    """

    low: float
    high: float
    answers: int
    confidence: float
    accuracy: float


class Answered(NamedTuple):
    """What is right among the surest answers.

    Attributes
    ----------
    share : float
        How many of all are answered.
    threshold : float
        How probable the least sure of them is.
    score : float
        How good they are.
    """

    share: float
    threshold: float
    score: float


def reliability(probabilities: ArrayLike, correct: ArrayLike, bins: int = 15) -> list[Bin]:
    """How often answers are right, by how probable they are told to be.

    Parameters
    ----------
    probabilities : (answers,) array
    correct : (answers,) array of bool
        Which answers are right.
    bins : int
        Into how many parts of the same width probabilities are cut.

    Returns
    -------
    list of Bin
        From the least probable on; those without an answer are left out.

    Examples
    --------
    >>> for found in reliability([0.9, 0.7, 0.8, 0.1], [True, True, False, False], bins=2):
    ...     print(found.low, found.high, found.answers, round(found.confidence, 3), found.accuracy)
    0.0 0.5 1 0.1 0.0
    0.5 1.0 3 0.8 0.6666666666666666
    """
    told, right = _checked(probabilities, correct)
    if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or bins < 1:
        raise SeqpaError(f"bins is {bins!r}: it must be a whole number from 1 on")
    numbers = np.minimum((told * bins).astype(np.int64), bins - 1)
    found = []
    for number in range(bins):
        own = numbers == number
        if own.any():
            found.append(
                Bin(
                    number / bins,
                    (number + 1) / bins,
                    int(own.sum()),
                    float(told[own].mean()),
                    float(right[own].mean()),
                )
            )
    return found


def expected_calibration_error(
    probabilities: ArrayLike, correct: ArrayLike, bins: int = 15
) -> float:
    """By how much probabilities and shares of right answers differ, on average.

    Σ answers/n · |accuracy − confidence| over the bins of `reliability` (Guo and others 2017,
    Eq. 3).

    Parameters
    ----------
    probabilities : (answers,) array
    correct : (answers,) array of bool
        Which answers are right.
    bins : int

    Returns
    -------
    float
        From 0, the best, to 1.

    Examples
    --------
    >>> round(expected_calibration_error([0.9, 0.7, 0.8, 0.1], [1, 1, 0, 0], bins=2), 3)
    0.125
    """
    found = reliability(probabilities, correct, bins)
    n = sum(own.answers for own in found)
    return sum(own.answers / n * abs(own.accuracy - own.confidence) for own in found)


def selective_accuracy(
    probabilities: ArrayLike, correct: ArrayLike, points: int = 20
) -> list[Answered]:
    """The share of right answers among the surest, for more and more of them.

    Parameters
    ----------
    probabilities : (answers,) array
    correct : (answers,) array of bool
        Which answers are right.
    points : int
        For how many shares of the answers: 1/points, 2/points, ..., 1.

    Returns
    -------
    list of Answered

    Examples
    --------
    >>> for found in selective_accuracy([0.9, 0.7, 0.8, 0.1], [True, False, True, False], points=2):
    ...     print(*found)
    0.5 0.8 1.0
    1.0 0.1 0.5
    """
    told, right = _checked(probabilities, correct)
    order = np.argsort(-told, kind="stable")
    sums = np.cumsum(right[order])
    return [
        Answered(n / len(told), float(told[order[n - 1]]), float(sums[n - 1] / n))
        for n in _counts(len(told), points)
    ]


def selective(
    gold: Sequence[Sequence[str | None]],
    predicted: Sequence[Sequence[str]],
    confidence: ArrayLike,
    points: int = 20,
) -> list[Answered]:
    """The score of the sentences that a tagger is surest of, for more and more of them.

    Parameters
    ----------
    gold, predicted : lists of label lists
        Tokens whose right label is None, since nobody knows it, are left out.
    confidence : (sentences,) array
        How sure the tagger is of each: `sentence_confidence`, or any other numbers.
    points : int
        For how many shares of the sentences: 1/points, 2/points, ..., 1.

    Returns
    -------
    list of Answered
        The score is span F1 where the labels mark spans (B-, I-, ...), else token accuracy.

    Examples
    --------
    >>> gold = [["B-x", "O"], ["O", "B-x"]]
    >>> for found in selective(gold, [["B-x", "O"], ["O", "O"]], [0.9, 0.4], points=2):
    ...     print(found.share, found.threshold, round(found.score, 3))
    0.5 0.9 1.0
    1.0 0.4 0.667
    """
    told = np.asarray(confidence, np.float64)
    if not len(gold) == len(predicted) == len(told):
        raise SeqpaError(
            f"there are {len(gold)} sentences with right labels, {len(predicted)} with predicted "
            f"ones, and {len(told)} confidences"
        )
    if not len(gold):
        raise SeqpaError("there is no sentence to score")
    of_spans = marks_spans([label for labels in gold for label in labels if label is not None])
    counts = np.zeros((len(gold), 3), np.int64)
    for i, both in enumerate(zip(gold, predicted, strict=True)):
        known = [(a, b) for a, b in zip(*both, strict=True) if a is not None]
        right, own = [a for a, _ in known], [b for _, b in known]
        if of_spans:
            a, b = set(spans(right)), set(spans(own))
            counts[i] = len(a & b), len(b), len(a)
        else:
            hits = sum(x == y for x, y in zip(right, own, strict=True))
            counts[i] = hits, len(own), len(right)
    order = np.argsort(-told, kind="stable")
    sums = np.cumsum(counts[order], axis=0)
    found = []
    for n in _counts(len(told), points):
        correct, guessed, present = sums[n - 1].tolist()
        score = 2 * correct / (guessed + present) if guessed + present else 1.0
        found.append(Answered(n / len(told), float(told[order[n - 1]]), score))
    return found


def token_outcomes(
    gold: Sequence[Sequence[str | None]], told: Sequence[Sequence[tuple[str, float]]]
) -> tuple[Floats, Bools]:
    """The probability of each predicted label, and whether it is right.

    Parameters
    ----------
    gold : list of label lists
        Tokens whose right label is None, since nobody knows it, are left out.
    told : list of lists of (label, probability)
        As `SequenceTagger.predict_with_probability` tells them.

    Returns
    -------
    probabilities : (tokens,) array
    correct : (tokens,) array of bool

    Examples
    --------
    >>> token_outcomes([["A", None, "B"]], [[("A", 0.9), ("A", 0.6), ("A", 0.5)]])
    (array([0.9, 0.5]), array([ True, False]))
    """
    pairs = [
        (probability, label == right)
        for labels, own in zip(gold, told, strict=True)
        for right, (label, probability) in zip(labels, own, strict=True)
        if right is not None
    ]
    return _apart(pairs)


def span_outcomes(
    gold: Sequence[Sequence[str | None]], told: Sequence[Any]
) -> tuple[Floats, Bools]:
    """The probability of each predicted span, and whether it is right: type and both ends.

    Parameters
    ----------
    gold : list of label lists
        None where nobody knows the right label: spans in which there is one, or which end beside
        one, are left out.
    told : list of lists of SpanProbability
        As `SequenceTagger.predict_proba_spans` tells them.

    Returns
    -------
    probabilities : (spans,) array
    correct : (spans,) array of bool

    Examples
    --------
    >>> span_outcomes([["B-x", "O"]], [[("x", 0, 1, 0.75)]])
    (array([0.75]), array([ True]))
    """
    pairs = []
    for labels, own in zip(gold, told, strict=True):
        right: set[Span] = set(spans([OUTSIDE if label is None else label for label in labels]))
        pairs += [
            (found[3], tuple(found[:3]) in right)
            for found in own
            if None not in labels[max(found[1] - 1, 0) : found[2] + 1]
        ]
    return _apart(pairs)


def sentence_confidence(told: Sequence[Sequence[tuple[str, float]]]) -> Floats:
    """How sure a tagger is of each sentence: the least probability of its labels; 1 without any.

    Parameters
    ----------
    told : list of lists of (label, probability)
        As `SequenceTagger.predict_with_probability` tells them.

    Returns
    -------
    (sentences,) array

    Examples
    --------
    >>> sentence_confidence([[("A", 0.9), ("B", 0.7)], []]).tolist()
    [0.7, 1.0]
    """
    return np.array([min((probability for _, probability in own), default=1.0) for own in told])


def _apart(pairs: Sequence[tuple[float, bool]]) -> tuple[Floats, Bools]:
    return (
        np.array([probability for probability, _ in pairs], np.float64),
        np.array([right for _, right in pairs], np.bool_),
    )


def _checked(probabilities: ArrayLike, correct: ArrayLike) -> tuple[Floats, Bools]:
    told, right = np.asarray(probabilities, np.float64), np.asarray(correct, np.bool_)
    if told.shape != right.shape or told.ndim != 1:
        raise SeqpaError(
            f"there are probabilities of the shape {told.shape} for outcomes of the shape "
            f"{right.shape}: give one number for each answer"
        )
    if not len(told):
        raise SeqpaError("there is no answer to look at")
    if not ((told >= 0) & (told <= 1 + 1e-9)).all():
        raise SeqpaError("a probability is no number from 0 to 1")
    return told, right


def _counts(n: int, points: int) -> list[int]:
    """How many answers there are at each share; each number once."""
    if isinstance(points, bool) or not isinstance(points, (int, np.integer)) or points < 1:
        raise SeqpaError(f"points is {points!r}: it must be a whole number from 1 on")
    return sorted({max(1, round(n * k / points)) for k in range(1, points + 1)})
