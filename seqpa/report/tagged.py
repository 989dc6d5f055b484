"""What a report is made of: a labelled corpus beside what a tagger says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from seqpa.data import Corpus
from seqpa.data.labels import labelled_tokens
from seqpa.errors import SeqpaError
from seqpa.evaluate import spans_apart
from seqpa.schemes import Span, are_chunk_labels, marks_spans, spans

if TYPE_CHECKING:
    from seqpa.sequence.tagger import SequenceTagger

# What a mistake is, and the word for it.
WRONG_TYPE, WRONG_EXTENT, MISSED, INVENTED = "type", "extent", "missed", "invented"


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that went wrong.

    Parameters
    ----------
    sentence : int
        Counted from 0.
    gold, predicted : (str, int, int) or None
        Type (or label), start and end, which is not included; None where there is none.
    what : str
        type, extent, missed or invented. A wrong label of a token is a wrong type.
    """

    sentence: int
    gold: Span | None
    predicted: Span | None
    what: str


@dataclass(frozen=True)
class Tagged:
    """Sentences with right and predicted labels; tokens without a right label are left out.

    Parameters
    ----------
    words : lists of str
    gold, predicted : lists of lists of str
        The labels of each sentence.
    probabilities : lists of float, optional
        Of each predicted label.
    span_probabilities : lists of tuples, optional
        For each sentence (type, start, end, probability) of the predicted spans.

    Examples
    --------
    >>> tagged = Tagged([["Ada", "won"]], [["B-PER", "O"]], [["B-ORG", "O"]])
    >>> tagged.of_spans, tagged.mistakes
    (True, [Mistake(sentence=0, gold=('PER', 0, 1), predicted=('ORG', 0, 1), what='type')])
    """

    words: list[list[str]]
    gold: list[list[str]]
    predicted: list[list[str]]
    probabilities: list[list[float]] | None = None
    span_probabilities: Sequence[Sequence[Any]] | None = field(default=None, repr=False)

    @cached_property
    def of_spans(self) -> bool:
        """Whether spans are scored, as `seqpa.evaluate.evaluate` decides it."""
        return are_chunk_labels({*chain(*self.gold), *chain(*self.predicted)})

    @cached_property
    def span_pairs(self) -> list[tuple[list[Span], list[Span]]]:
        """For each sentence the right spans and the predicted ones; labels of tokens otherwise."""
        read = spans if self.of_spans else _tokens
        return [(read(g), read(p)) for g, p in zip(self.gold, self.predicted, strict=True)]

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """All mistakes, sentence by sentence."""
        return [
            Mistake(number, *found)
            for number, pair in enumerate(self.span_pairs)
            for found in spans_apart(*pair)
        ]


def _tokens(labels: Sequence[str]) -> list[Span]:
    return [(label, t, t + 1) for t, label in enumerate(labels)]


def tag(tagger: SequenceTagger, corpus: Corpus, probabilities: bool = True) -> Tagged:
    """Let a tagger label a corpus that has labels.

    Parameters
    ----------
    tagger : SequenceTagger
        A trained one.
    corpus : Corpus
        With labels.
    probabilities : bool
        Whether they are wanted too.

    Returns
    -------
    Tagged
    """
    gold: Any = corpus.y
    words = corpus.split(corpus.columns[0])
    if not any(label is not None for label in corpus.labels or ()):
        raise SeqpaError("the data have no labels: there is nothing to report on")
    if not probabilities:
        right, own, found = labelled_tokens(gold, words, tagger.predict(corpus))
        return Tagged(own, right, found)
    told = tagger.predict_with_probability(corpus)
    right, own, found = labelled_tokens(gold, words, told)
    complete = None not in (corpus.labels or ())
    of_spans = marks_spans(tagger.classes_) and are_chunk_labels(tagger.classes_)
    return Tagged(
        own,
        right,
        [[label for label, _ in one] for one in found],
        [[probability for _, probability in one] for one in found],
        # Without all labels, spans do not stand where the probabilities say.
        tagger.predict_proba_spans(corpus) if of_spans and complete else None,
    )
