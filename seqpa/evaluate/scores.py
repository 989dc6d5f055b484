"""Scores of label lists: accuracy, precision, recall and F1 of spans and labels, confusions, cost.

Spans are counted and printed as conlleval counts and prints them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

from seqpa.errors import SeqpaError
from seqpa.schemes import Span, are_chunk_labels, spans, strict_spans

LabelLists: TypeAlias = Sequence[Sequence[str]]
SpanPair: TypeAlias = tuple[Sequence[Span], Sequence[Span]]
Cost: TypeAlias = Callable[[Sequence[str], Sequence[str]], float]


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
    span_mistakes : dict or None
        How often each (right type, predicted type, what) occurs: see `span_mistakes`.

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
    span_mistakes: dict[tuple[str, str, str], int] | None = field(default=None, repr=False)

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
        if self.span_mistakes is not None:
            out["span_mistakes"] = [[*what, n] for what, n in self.span_mistakes.items()]
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

    def __repr__(self) -> str:
        micro = self.span_micro
        spans = "" if micro is None else f", span F1 {micro.f1:.4f} of {micro.gold:,} spans"
        return (
            f"<Evaluation: {self.sentences:,} sentences, accuracy {self.accuracy:.4f} of "
            f"{self.tokens:,} tokens{spans}>"
        )

    def _repr_html_(self) -> str:
        """The headline and a row for each span type or label, for notebooks."""
        from seqpa.display import summary, table

        micro = self.span_micro
        name, value = ("accuracy", self.accuracy) if micro is None else ("F1", micro.f1)
        count = f"{self.tokens:,} tokens" if micro is None else f"{micro.gold:,} spans"
        remark = (
            f"{count}, {self.sentences:,} sentences, {100 * self.sentence_accuracy:.2f} % whole"
        )
        what, scores = ("label", self.labels) if self.spans is None else ("span", self.spans)
        rows = [
            (name, *(f"{100 * x:.2f}" for x in (s.precision, s.recall, s.f1)), f"{s.gold:,}")
            for name, s in sorted(scores.items(), key=lambda item: (-item[1].gold, item[0]))
        ]
        most = 30
        more = f"the {most} most frequent of {len(rows):,}; print(...) shows all"
        return summary(
            f"{name} {100 * value:.2f}",
            remark + (f"; {more}" if len(rows) > most else ""),
            table((what, "precision", "recall", "F1", "gold"), rows[:most]),
        )

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
    check_lengths(gold, predicted, "predicted labels")
    flat_gold = list(chain.from_iterable(gold))
    flat_predicted = list(chain.from_iterable(predicted))
    confusion = Counter(zip(flat_gold, flat_predicted, strict=True))
    seen = unseen = None
    if words is not None and training_words is not None:
        check_lengths(gold, words, "words")
        seen, unseen = _by_knownness(
            chain.from_iterable(words), set(training_words), flat_gold, flat_predicted
        )
    scores = mistakes = None
    if _are_chunks(confusion):
        pairs = [
            (_read_spans(g, strict), _read_spans(p, strict))
            for g, p in zip(gold, predicted, strict=True)
        ]
        scores, mistakes = counted(pairs), span_mistakes(pairs)
    return Evaluation(
        sentences=len(gold),
        correct_sentences=sum(list(g) == list(p) for g, p in zip(gold, predicted, strict=True)),
        tokens=len(flat_gold),
        correct_tokens=sum(n for (g, p), n in confusion.items() if g == p),
        labels=_label_scores(confusion),
        spans=scores,
        confusion=dict(sorted(confusion.items())),
        seen=seen,
        unseen=unseen,
        cost=None if cost is None else _ratio(sum(map(cost, gold, predicted)), len(gold)),
        span_mistakes=mistakes,
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
    return counted(
        (_read_spans(gold_labels, strict), _read_spans(predicted_labels, strict))
        for gold_labels, predicted_labels in zip(gold, predicted, strict=True)
    )


def counted(pairs: Iterable[SpanPair]) -> dict[str, Score]:
    """The scores of each type of span.

    Parameters
    ----------
    pairs : iterable
        For each sentence the right spans and the predicted ones.

    Returns
    -------
    dict
        The `Score` of each type, in order.
    """
    correct: Counter[str] = Counter()
    found: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for gold_spans, predicted_spans in pairs:
        there.update(span[0] for span in gold_spans)
        found.update(span[0] for span in predicted_spans)
        correct.update(span[0] for span in set(gold_spans).intersection(predicted_spans))
    types = sorted(there.keys() | found.keys())
    return {kind: Score(correct[kind], found[kind], there[kind]) for kind in types}


def span_mistakes(pairs: Iterable[SpanPair]) -> dict[tuple[str, str, str], int]:
    """What went wrong with spans.

    A right span that was not found was taken for another ``type``, or got another ``extent``
    (the first predicted span that overlaps it is named), or was ``missed``: nothing overlaps it.
    A predicted span that overlaps no right one was ``invented``.

    Parameters
    ----------
    pairs : iterable
        For each sentence the right spans and the predicted ones.

    Returns
    -------
    dict
        How often (right type, predicted type, what) occurs, the most frequent first; a type is
        empty where there is no span.

    Examples
    --------
    >>> gold, found = [("PER", 0, 2), ("LOC", 3, 4)], [("PER", 0, 1), ("ORG", 3, 4), ("PER", 5, 6)]
    >>> list(span_mistakes([(gold, found)]))
    [('', 'PER', 'invented'), ('LOC', 'ORG', 'type'), ('PER', 'PER', 'extent')]
    """
    counts = Counter(
        ("" if right is None else right[0], "" if own is None else own[0], what)
        for gold, found in pairs
        for right, own, what in spans_apart(gold, found)
    )
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def spans_apart(
    gold: Sequence[Span], found: Sequence[Span]
) -> Iterator[tuple[Span | None, Span | None, str]]:
    """The mistakes of one sentence, as `span_mistakes` counts them.

    Parameters
    ----------
    gold, found : sequences of spans
        The right spans and the predicted ones.

    Yields
    ------
    right : span or None
        None where a predicted span overlaps no right one.
    predicted : span or None
        The first that overlaps the right one; None where there is none.
    what : str
        type, extent, missed or invented.

    Examples
    --------
    >>> list(spans_apart([("PER", 0, 2)], [("PER", 0, 1), ("LOC", 4, 5)]))
    [(('PER', 0, 2), ('PER', 0, 1), 'extent'), (None, ('LOC', 4, 5), 'invented')]
    """
    if gold == found:
        return
    predicted, right = _by_token(found), _by_token(gold)
    for span in gold:
        kind, start, end = span
        near = next((predicted[t] for t in range(start, end) if t in predicted), None)
        if near is None:
            yield span, None, "missed"
        elif near[1:] != (start, end):
            yield span, near, "extent"
        elif near[0] != kind:
            yield span, near, "type"
    for span in found:
        if not any(t in right for t in range(span[1], span[2])):
            yield None, span, "invented"


def _by_token(found: Sequence[Span]) -> dict[int, Span]:
    """The span of each token that is in one."""
    return {token: span for span in found for token in range(span[1], span[2])}


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


def check_lengths(gold: LabelLists, other: LabelLists, what: str) -> None:
    """Raise a SeqpaError unless there are as many sentences, each of as many tokens.

    Parameters
    ----------
    gold, other : sequences of sequences of str
        The labels of each sentence, and what is set beside them.
    what : str
        What these are, for the message.
    """
    if len(gold) != len(other):
        raise SeqpaError(f"{len(gold)} sentences of gold labels but {len(other)} of {what}")
    for number, (labels, others) in enumerate(zip(gold, other, strict=True), 1):
        if len(labels) != len(others):
            raise SeqpaError(
                f"sentence {number}: {len(labels)} gold labels but {len(others)} {what}"
            )


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
