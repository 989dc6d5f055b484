"""Chunk labels while a file is read: converted to a scheme, and repaired or refused where illegal.

Labels mean what conlleval reads in them, whatever their scheme, so that converting them one
sentence at a time needs no decision. Only which labels were illegal does: the file's own scheme is
the one that it breaks least, known at its end.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError, SeqpaWarning, did_you_mean
from seqpa.schemes import (
    Pair,
    begins_span,
    check_scheme,
    convert,
    describe_pair,
    pairs_of,
    recognise,
)

WAYS = ("repair", "strict")


def labelled_tokens(
    gold: Sequence[Sequence[str | None]], *others: Sequence[Sequence[Any]]
) -> tuple[Any, ...]:
    """Only the tokens that have a label, which are those that can be scored.

    Parameters
    ----------
    gold : sequence of sequences
        The right labels, None where one is not known.
    *others : sequences of sequences
        Other values of the same tokens.

    Returns
    -------
    tuple
        `gold` and the others, as lists of lists.

    Examples
    --------
    >>> labelled_tokens([["D", None]], [["the", "saw"]])
    ([['D']], [['the']])
    """
    everything = [gold, *others]
    if not any(None in labels for labels in gold):
        return tuple([list(values) for values in one] for one in everything)
    return tuple(
        [
            [value for value, label in zip(values, labels, strict=True) if label is not None]
            for values, labels in zip(one, gold, strict=True)
        ]
        for one in everything
    )


def with_gaps(corpus: Corpus, mark: str | None) -> Corpus:
    """The corpus with None in place of labels that are not known.

    Parameters
    ----------
    corpus : Corpus
        With labels; they are replaced.
    mark : str or None
        What stands in the file in their place; None leaves all labels as they are.

    Returns
    -------
    Corpus
        The same one.

    Examples
    --------
    >>> with_gaps(Corpus.from_sentences([["so", "it"]], [["?", "P"]]), "?").y
    [[None, 'P']]
    """
    if mark is not None and corpus.labels is not None:
        gap = cast("str", None)
        corpus.labels = [gap if label == mark else label for label in corpus.labels]
    return corpus


class LabelReading:
    """Follows the labels of one file, chunk by chunk.

    Parameters
    ----------
    source : str
        What messages call the file.
    scheme : str or None
        The scheme to convert to; None leaves labels as they are.
    labels : str
        ``repair`` reads illegal labels as conlleval does and warns; ``strict`` refuses them.

    Examples
    --------
    >>> reading = LabelReading("a.conll", "bioes")
    >>> reading.converted(Corpus.from_sentences([["Ada", "won"]], [["B-PER", "O"]]))
    ['S-PER', 'O']
    """

    def __init__(self, source: str, scheme: str | None, labels: str = "repair") -> None:
        if scheme is not None:
            check_scheme(scheme)
        if labels not in WAYS:
            hint = did_you_mean(labels, WAYS, listed=False)
            raise SeqpaError(f"labels: {labels!r} is neither repair nor strict{hint}")
        self._source = source
        self._scheme = scheme
        self._strict = labels == "strict"
        self._pairs: Counter[Pair] = Counter()
        self._first: dict[Pair, str] = {}
        self._sentences = 0

    def converted(self, corpus: Corpus) -> list[str]:
        """The labels of the next chunk as they are to be used.

        Parameters
        ----------
        corpus : Corpus
            With labels.

        Returns
        -------
        list of str
        """
        sentences = corpus.y
        if None in (corpus.labels or ()):
            gap = (corpus.labels or []).index(None)  # type: ignore[arg-type]
            number = int(np.searchsorted(corpus.offsets, gap, side="right")) - 1
            where = self._where(corpus, number, gap - int(corpus.offsets[number]))
            raise SeqpaError(
                f"{where}: a label is missing, and a scheme is read from whole sentences"
            )
        pairs = pairs_of(sentences)
        new = pairs.keys() - self._first.keys()
        if new:
            self._locate(corpus, sentences, new)
        self._pairs += pairs
        result: list[str] = []
        for number, labels in enumerate(sentences):
            if self._scheme is None:
                result += labels
                continue
            try:
                result += convert(labels, self._scheme)
            except SeqpaError as error:
                token, _, message = str(error).partition(": ")
                position = int(token.rpartition(" ")[2]) - 1
                where = self._where(corpus, number, position)
                raise SeqpaError(f"{where}: {message}") from None
        self._sentences += len(sentences)
        return result

    def finish(self) -> None:
        """Tell, at the end of the file, what was illegal: by a warning, or by an error."""
        found = recognise(self._pairs)
        if found is None or not found.illegal:
            return
        pair = min(found.illegal, key=list(self._first).index)
        where = self._first[pair]
        if self._strict:
            raise SeqpaError(f"{where}: {describe_pair(*pair, found.scheme)}")
        if self._scheme is not None:
            before, label = pair
            inside = label is not None and label[:1] in "IME" and begins_span(before, label)
            what = f"{label} begins a span" if inside else describe_pair(*pair, found.scheme)
            warnings.warn(
                f"{where}: {what}; {min(found.broken, found.spans):,} of {found.spans:,} spans "
                "repaired; labels: strict refuses them",
                SeqpaWarning,
                stacklevel=2,
            )

    def _locate(self, corpus: Corpus, sentences: list[list[str]], new: set[Pair]) -> None:
        """Note where pairs of labels that were not seen before first occur, in order."""
        for number, labels in enumerate(sentences):
            for position, pair in enumerate(zip((None, *labels), (*labels, None), strict=True)):
                if pair in new:
                    new.remove(pair)
                    at = min(position, len(labels) - 1)
                    self._first[pair] = self._where(corpus, number, at)
                    if not new:
                        return

    def _where(self, corpus: Corpus, sentence: int, position: int) -> str:
        if corpus.layout is None:
            number = self._sentences + sentence + 1
            return f"{self._source}: sentence {number}, token {position + 1}"
        token = int(corpus.lengths[:sentence].sum()) + position
        return f"{self._source}:{corpus.layout.line_of(token)}"
