"""How good predictions are: accuracy, spans, confusions, cost, and whether a difference is real.

Pure functions of label lists. Spans are counted and printed as conlleval counts and prints them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import eq
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError, did_you_mean
from seqpa.schemes import Span, are_chunk_labels, spans, strict_spans

LabelLists: TypeAlias = Sequence[Sequence[str]]
Cost: TypeAlias = Callable[[Sequence[str], Sequence[str]], float]
METRICS = ("accuracy", "span-f1", "sentence-accuracy", "cost")
# Rounds of resampling are drawn in blocks of about this many numbers, to bound the memory.
_DRAWN_AT_ONCE = 1 << 21


@dataclass(frozen=True, slots=True)
class Score:
    """How many things were right, how many were predicted, and how many there are.

    Parameters
    ----------
    correct, predicted, gold : int
        The three counts.

    Examples
    --------
    >>> score = Score(correct=2, predicted=3, gold=5)
    >>> round(score.precision, 3), score.recall, score.f1
    (0.667, 0.4, 0.5)
    """

    correct: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float:
        """The share of the predicted that is right; 0 where nothing is predicted."""
        return _ratio(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """The share of what there is that was found; 0 where there is nothing."""
        return _ratio(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return _ratio(2 * self.correct, self.predicted + self.gold)

    def to_dict(self) -> dict[str, float]:
        """The counts and the three scores.

        Returns
        -------
        dict
        """
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "correct": self.correct,
            "predicted": self.predicted,
            "gold": self.gold,
        }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What `evaluate` finds; scores are fractions between 0 and 1.

    Parameters
    ----------
    sentences, correct_sentences, tokens, correct_tokens : int
        How many there are, and how many are right.
    labels : dict
        The `Score` of each label.
    spans : dict or None
        The `Score` of each type of span; None where the labels are no chunk labels.
    confusion : dict
        How often each pair (gold, predicted) occurs.
    seen, unseen : (int, int) or None
        Correct and all tokens whose word was, or was not, in the training data.
    cost : float or None
        The mean over sentences.

    Examples
    --------
    >>> found = evaluate([["D", "N", "V"], ["N"]], [["D", "V", "V"], ["N"]])
    >>> found.accuracy, found.confusion["N", "V"], found.labels["V"].precision
    (0.75, 1, 0.5)
    """

    sentences: int
    correct_sentences: int
    tokens: int
    correct_tokens: int
    labels: dict[str, Score]
    spans: dict[str, Score] | None
    confusion: dict[tuple[str, str], int] = field(repr=False)
    seen: tuple[int, int] | None = None
    unseen: tuple[int, int] | None = None
    cost: float | None = None

    @property
    def accuracy(self) -> float:
        """The share of tokens whose label is right."""
        return _ratio(self.correct_tokens, self.tokens)

    @property
    def sentence_accuracy(self) -> float:
        """The share of sentences whose labels are all right."""
        return _ratio(self.correct_sentences, self.sentences)

    @property
    def seen_accuracy(self) -> float | None:
        """Accuracy on words of the training data."""
        return None if self.seen is None else _ratio(*self.seen)

    @property
    def unseen_accuracy(self) -> float | None:
        """Accuracy on words that the training data did not have."""
        return None if self.unseen is None else _ratio(*self.unseen)

    @property
    def span_micro(self) -> Score | None:
        """All types counted together: conlleval's overall line."""
        if self.spans is None:
            return None
        scores = self.spans.values()
        return Score(
            sum(s.correct for s in scores),
            sum(s.predicted for s in scores),
            sum(s.gold for s in scores),
        )

    @property
    def span_macro(self) -> tuple[float, float, float] | None:
        """The mean over types of precision, recall and F1."""
        return None if self.spans is None else _macro(self.spans.values())

    @property
    def label_macro(self) -> tuple[float, float, float]:
        """The mean over labels of precision, recall and F1."""
        return _macro(self.labels.values())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and dictionaries, ready for JSON.

        Returns
        -------
        dict
        """
        out: dict[str, Any] = {
            "sentences": self.sentences,
            "tokens": self.tokens,
            "accuracy": self.accuracy,
            "sentence_accuracy": self.sentence_accuracy,
            "label_macro": _named(self.label_macro),
            "labels": {name: score.to_dict() for name, score in self.labels.items()},
            "confusion": [[gold, guess, n] for (gold, guess), n in self.confusion.items()],
        }
        if self.seen is not None and self.unseen is not None:
            out["seen"] = {"accuracy": self.seen_accuracy, "tokens": self.seen[1]}
            out["unseen"] = {"accuracy": self.unseen_accuracy, "tokens": self.unseen[1]}
        micro, macro = self.span_micro, self.span_macro
        if self.spans is not None and micro is not None and macro is not None:
            out["span_micro"] = micro.to_dict()
            out["span_macro"] = _named(macro)
            out["spans"] = {name: score.to_dict() for name, score in self.spans.items()}
        if self.cost is not None:
            out["cost"] = self.cost
        return out

    def table(self) -> str:
        """The scores as aligned text: the overall ones, then a line for each span type or label.

        Returns
        -------
        str
        """
        overall = [("accuracy", self.accuracy, self.tokens, "tokens")]
        for name, value, counts in (
            ("  seen words", self.seen_accuracy, self.seen),
            ("  unseen words", self.unseen_accuracy, self.unseen),
        ):
            if value is not None and counts is not None:
                overall.append((name, value, counts[1], "tokens"))
        overall.append(("whole sentences", self.sentence_accuracy, self.sentences, "sentences"))
        lines = [
            f"{name:<16}{100 * value:7.2f} %  of {n} {unit}" for name, value, n, unit in overall
        ]
        if self.cost is not None:
            lines.append(f"{'mean cost':<16}{self.cost:9.4f}  a sentence")
        what, scores = ("label", self.labels) if self.spans is None else ("span", self.spans)
        width = max([12, *map(len, scores)])
        lines += ["", f"{what:<{width}}  precision  recall      F1    gold"]
        rows = [(name, s.precision, s.recall, s.f1, s.gold) for name, s in sorted(scores.items())]
        micro = self.span_micro
        if micro is not None:
            rows.append(("micro mean", micro.precision, micro.recall, micro.f1, micro.gold))
        rows.append(("macro mean", *_macro(scores.values()), sum(s.gold for s in scores.values())))
        for name, precision, recall, f1, gold in rows:
            lines.append(
                f"{name:<{width}}  {100 * precision:9.2f} {100 * recall:7.2f} {100 * f1:7.2f}"
                f" {gold:7d}"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()

    def confusion_table(self, largest: int = 20) -> str:
        """The most frequent mistakes: gold label, predicted label, how often.

        Parameters
        ----------
        largest : int
            At most so many lines.

        Returns
        -------
        str
        """
        wrong = [(n, gold, guess) for (gold, guess), n in self.confusion.items() if gold != guess]
        wrong.sort(key=lambda item: (-item[0], item[1], item[2]))
        width = max([4, *(len(gold) for _, gold, _ in wrong[:largest])])
        lines = [f"{'gold':<{width}}  count  predicted"]
        lines += [f"{gold:<{width}}  {n:5d}  {guess}" for n, gold, guess in wrong[:largest]]
        return "\n".join(lines)


def evaluate(
    gold: LabelLists,
    predicted: LabelLists,
    words: LabelLists | None = None,
    training_words: Collection[str] | None = None,
    cost: Cost | None = None,
    strict: str | None = None,
) -> Evaluation:
    """Compare predicted labels with the gold ones.

    Spans are counted if every label is a chunk label (``O``, ``B-PER``, ``I``, ...), of any
    scheme.

    Parameters
    ----------
    gold, predicted : sequences of sequences of str
        The labels of each sentence.
    words : sequence of sequences of str, optional
        The words of each sentence.
    training_words : collection of str, optional
        With these and `words`, seen and unseen words are counted apart.
    cost : callable, optional
        A function of two label lists, the gold one first.
    strict : str, optional
        Count only spans that are written as this scheme writes them; see
        `seqpa.schemes.strict_spans`. By default all that conlleval reads.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> result = evaluate([["B-PER", "I-PER", "O"], ["O"]], [["B-PER", "O", "O"], ["O"]])
    >>> result.accuracy, result.span_micro.f1, result.sentence_accuracy
    (0.75, 0.0, 0.5)
    """
    _check_lengths(gold, predicted, "predicted labels")
    flat_gold = list(chain.from_iterable(gold))
    flat_predicted = list(chain.from_iterable(predicted))
    confusion = Counter(zip(flat_gold, flat_predicted, strict=True))
    seen = unseen = None
    if words is not None and training_words is not None:
        _check_lengths(gold, words, "words")
        seen, unseen = _by_knownness(
            chain.from_iterable(words), set(training_words), flat_gold, flat_predicted
        )
    return Evaluation(
        sentences=len(gold),
        correct_sentences=sum(_same(g, p) for g, p in zip(gold, predicted, strict=True)),
        tokens=len(flat_gold),
        correct_tokens=sum(n for (g, p), n in confusion.items() if g == p),
        labels=_label_scores(confusion),
        spans=span_scores(gold, predicted, strict) if _are_chunks(confusion) else None,
        confusion=dict(sorted(confusion.items())),
        seen=seen,
        unseen=unseen,
        cost=None if cost is None else _ratio(sum(map(cost, gold, predicted)), len(gold)),
    )


def span_scores(
    gold: LabelLists, predicted: LabelLists, strict: str | None = None
) -> dict[str, Score]:
    """The scores of each type of span; a span is right if type, start and end agree.

    Parameters
    ----------
    gold, predicted : sequences of sequences of str
        The labels of each sentence.
    strict : str, optional
        As for `evaluate`.

    Returns
    -------
    dict
        The `Score` of each type.

    Examples
    --------
    >>> span_scores([["B-PER", "I-PER", "B-LOC"]], [["B-PER", "O", "B-LOC"]])["PER"]
    Score(correct=0, predicted=1, gold=1)
    """
    correct: Counter[str] = Counter()
    found: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for gold_labels, predicted_labels in zip(gold, predicted, strict=True):
        gold_spans = _read_spans(gold_labels, strict)
        predicted_spans = _read_spans(predicted_labels, strict)
        there.update(span[0] for span in gold_spans)
        found.update(span[0] for span in predicted_spans)
        correct.update(span[0] for span in set(gold_spans).intersection(predicted_spans))
    types = sorted(there.keys() | found.keys())
    return {kind: Score(correct[kind], found[kind], there[kind]) for kind in types}


def _read_spans(labels: Sequence[str], strict: str | None) -> list[Span]:
    return spans(labels) if strict is None else strict_spans(labels, strict)


def conlleval_text(evaluation: Evaluation) -> str:
    """The report in conlleval's words and digits.

    Parameters
    ----------
    evaluation : Evaluation
        Of chunk labels.

    Returns
    -------
    str

    Examples
    --------
    >>> print(conlleval_text(evaluate([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "B-VP"]])))
    processed 3 tokens with 1 phrases; found: 2 phrases; correct: 1.
    accuracy:  66.67%; precision:  50.00%; recall: 100.00%; FB1:  66.67
                   NP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
                   VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
    """
    total = evaluation.span_micro
    if evaluation.spans is None or total is None:
        raise SeqpaError("conlleval's report needs chunk labels (O, B-X, I-X, ...)")
    lines = [
        f"processed {evaluation.tokens} tokens with {total.gold} phrases; "
        f"found: {total.predicted} phrases; correct: {total.correct}."
    ]
    if evaluation.tokens:
        accuracy = 100 * evaluation.correct_tokens / evaluation.tokens
        lines.append(f"accuracy: {accuracy:6.2f}%; {_conlleval_scores(total)}")
    for kind, score in sorted(evaluation.spans.items()):
        lines.append(f"{kind:>17}: {_conlleval_scores(score)}  {score.predicted}")
    return "\n".join(lines)


def _conlleval_scores(score: Score) -> str:
    # In percent from the start and in conlleval's order of operations, so that every digit agrees.
    precision = 100 * score.correct / score.predicted if score.predicted else 0.0
    recall = 100 * score.correct / score.gold if score.gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two predictions of the same data: their scores, and whether they really differ.

    Parameters
    ----------
    metric, method : str
        As `compare` was asked.
    rounds : int
        Of resampling.
    a, b : float
        The two scores.
    difference : float
        ``a - b``.
    p_value : float
        How often so large a difference, of either sign, would come about if the two were equally
        good.
    low, high : float
        The 95 % interval of the difference.

    Examples
    --------
    >>> print(Comparison("accuracy", "bootstrap", 1000, 0.75, 0.5, 0.25, 0.04, 0.125, 0.375))
    accuracy: 0.7500 - 0.5000 = +0.2500 (95 % interval +0.1250 to +0.3750), p = 0.0400 (bootstrap, \
1000 rounds)
    """

    metric: str
    method: str
    rounds: int
    a: float
    b: float
    difference: float
    p_value: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.metric}: {self.a:.4f} - {self.b:.4f} = {self.difference:+.4f} "
            f"(95 % interval {self.low:+.4f} to {self.high:+.4f}), "
            f"p = {self.p_value:.4f} ({self.method}, {self.rounds} rounds)"
        )


def compare(
    gold: LabelLists,
    a: LabelLists,
    b: LabelLists,
    rng: np.random.Generator,
    metric: str = "accuracy",
    method: str = "bootstrap",
    rounds: int = 10_000,
    cost: Cost | None = None,
) -> Comparison:
    """Test whether two predictions of the same sentences differ in ``metric``.

    ``bootstrap`` draws sentences anew with replacement, and asks how often the drawn difference
    is as far from the observed one as that is from zero. ``randomisation`` swaps the two
    predictions of each sentence by the toss of a coin, and asks how often the difference becomes
    as large as the observed one. The interval always is the bootstrap's (2.5 to 97.5 %).

    Parameters
    ----------
    gold, a, b : sequences of sequences of str
        The right labels of each sentence, and the two predictions.
    rng : numpy.random.Generator
        Draws the rounds.
    metric : str
        One of `METRICS`: accuracy, span-f1, sentence-accuracy, cost.
    method : str
        bootstrap or randomisation.
    rounds : int
        Of resampling.
    cost : callable, optional
        For the metric cost: a function of two label lists, the gold one first.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> gold = [["N", "V"], ["N", "N"], ["V"]] * 20
    >>> rng = np.random.default_rng(7)
    >>> result = compare(gold, gold, [["N", "N"], ["N", "N"], ["V"]] * 20, rng, rounds=999)
    >>> result.difference, result.p_value < 0.01, result.low > 0
    (0.19999999999999996, True, True)
    """
    if method not in ("bootstrap", "randomisation"):
        raise SeqpaError(f"method: {method!r} is neither bootstrap nor randomisation")
    if rounds < 1:
        raise SeqpaError(f"rounds: {rounds} is not a positive number")
    counts_a = _counts(gold, a, metric, cost)
    counts_b = _counts(gold, b, metric, cost)
    score_a = float(_score(counts_a.sum(axis=0)))
    score_b = float(_score(counts_b.sum(axis=0)))
    observed = score_a - score_b
    drawn = _bootstrap(counts_a, counts_b, rounds, rng)
    if method == "bootstrap":
        extreme = np.abs(drawn - observed)
    else:
        extreme = np.abs(_randomisation(counts_a, counts_b, rounds, rng))
    # A hair's breadth of slack: equal differences must count as equal after rounding.
    as_large = np.count_nonzero(extreme >= abs(observed) - 1e-12)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Comparison(
        metric=metric,
        method=method,
        rounds=rounds,
        a=score_a,
        b=score_b,
        difference=observed,
        p_value=float((as_large + 1) / (rounds + 1)),
        low=float(low),
        high=float(high),
    )


def _counts(
    gold: LabelLists, predicted: LabelLists, metric: str, cost: Cost | None
) -> NDArray[np.float64]:
    """Per sentence the sums that the metric is a function of."""
    _check_lengths(gold, predicted, "predicted labels")
    if not len(gold):
        raise SeqpaError("there are no sentences to compare")
    pairs = list(zip(gold, predicted, strict=True))
    if metric == "accuracy":
        rows = [(sum(map(eq, g, p)), len(g)) for g, p in pairs]
    elif metric == "sentence-accuracy":
        rows = [(int(_same(g, p)), 1) for g, p in pairs]
    elif metric == "span-f1":
        found = [(set(spans(g)), set(spans(p))) for g, p in pairs]
        rows = [(2 * len(g & p), len(g) + len(p)) for g, p in found]
    elif metric == "cost":
        if cost is None:
            raise SeqpaError("metric: cost needs a cost function")
        rows = [(cost(g, p), 1) for g, p in pairs]
    else:
        hint = did_you_mean(metric, METRICS, listed=False)
        raise SeqpaError(f"metric: {metric!r} is none of {', '.join(METRICS)}{hint}")
    return np.array(rows, dtype=np.float64)


def _score(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every metric is a ratio of two sums over sentences (F1 is 2 correct / (gold + predicted))."""
    top, bottom = sums[..., 0], sums[..., 1]
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def _bootstrap(
    a: NDArray[np.float64], b: NDArray[np.float64], rounds: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The difference of the scores in each round of drawing sentences with replacement."""
    n = len(a)
    both = np.hstack([a, b])
    drawn = []
    for size in _blocks(rounds, n):
        rows = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(rows.ravel(), minlength=size * n).reshape(size, n)
        sums = times.astype(np.float64) @ both
        drawn.append(_score(sums[:, :2]) - _score(sums[:, 2:]))
    return np.concatenate(drawn)


def _randomisation(
    a: NDArray[np.float64], b: NDArray[np.float64], rounds: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The difference of the scores in each round of swapping the predictions at random."""
    change = (b - a)[(a != b).any(axis=1)]  # swapping what is equal changes nothing
    n = len(change)
    drawn = []
    for size in _blocks(rounds, n):
        coins = np.frombuffer(rng.bytes(size * n // 8 + 1), dtype=np.uint8)
        swapped = np.unpackbits(coins, count=size * n).reshape(size, n)
        moved = swapped.astype(np.float64) @ change
        drawn.append(_score(a.sum(axis=0) + moved) - _score(b.sum(axis=0) - moved))
    return np.concatenate(drawn)


def _blocks(rounds: int, n: int) -> Iterable[int]:
    block = max(1, _DRAWN_AT_ONCE // max(1, n))
    return [min(block, rounds - start) for start in range(0, rounds, block)]


def _by_knownness(
    words: Iterable[str], known: set[str], gold: Sequence[str], predicted: Sequence[str]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """(correct, all) tokens of known and of unknown words."""
    counts = Counter((w in known, g == p) for w, g, p in zip(words, gold, predicted, strict=True))
    seen, unseen = (
        (counts[is_known, True], counts[is_known, True] + counts[is_known, False])
        for is_known in (True, False)
    )
    return seen, unseen


def _label_scores(confusion: Counter[tuple[str, str]]) -> dict[str, Score]:
    there: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for (gold, predicted), n in confusion.items():
        there[gold] += n
        found[predicted] += n
    return {
        label: Score(confusion[label, label], found[label], there[label])
        for label in sorted(there.keys() | found.keys())
    }


def _are_chunks(confusion: Counter[tuple[str, str]]) -> bool:
    return are_chunk_labels(chain.from_iterable(confusion))


def _check_lengths(gold: LabelLists, other: LabelLists, what: str) -> None:
    if len(gold) != len(other):
        raise SeqpaError(f"{len(gold)} sentences of gold labels but {len(other)} of {what}")
    for number, (labels, others) in enumerate(zip(gold, other, strict=True), 1):
        if len(labels) != len(others):
            raise SeqpaError(
                f"sentence {number}: {len(labels)} gold labels but {len(others)} {what}"
            )


def _same(gold: Sequence[str], predicted: Sequence[str]) -> bool:
    return list(gold) == list(predicted)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _macro(scores: Collection[Score]) -> tuple[float, float, float]:
    n = len(scores)
    return (
        _ratio(sum(s.precision for s in scores), n),
        _ratio(sum(s.recall for s in scores), n),
        _ratio(sum(s.f1 for s in scores), n),
    )


def _named(scores: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("precision", "recall", "f1"), scores, strict=True))
