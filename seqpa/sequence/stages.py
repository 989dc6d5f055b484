"""Two stages: a second tagger that sees what a first one says of the whole document.

The first stage learns as ever. What it says of its own training text it must not have learned
there, so the text is cut into `FOLDS` blocks that follow one another, and each is tagged by a
tagger that learned from the others. The second stage then learns from the same text with these
labels beside the words, and with what the same words and spans were called elsewhere
(`seqpa.sequence.votes`). When tagging, the labels come from a first stage that learned from all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError
from seqpa.schemes import marks_spans
from seqpa.sequence import votes
from seqpa.sequence.elsewhere import WINDOW
from seqpa.sequence.encode import FeatureEncoder
from seqpa.sequence.folds import contiguous_folds
from seqpa.sequence.inputs import some_of
from seqpa.sequence.trained import Trained

FOLDS = 5
Told = Callable[[str], None]
# Trains on sentences, their labels (None where one is not given) and weights.
Train = Callable[[Any, list[list[str | None]], "NDArray[np.float64] | None"], Trained]


class FirstLabels:
    """A trained first stage, and in training what it said of sentences it had not learned.

    Parameters
    ----------
    trained : Trained
        Tags new text.
    jackknifed : list of str or None
        The label of each token of the training text; None where there is none any more.
    """

    columns = votes.COLUMNS

    def __init__(self, trained: Trained, jackknifed: list[str] | None = None) -> None:
        self.trained = trained
        self.jackknifed = jackknifed
        self._with_spans = marks_spans(trained.labels)

    @property
    def hops(self) -> tuple[int, ...]:
        """How far votes look beyond a sentence, and then the tagger whose labels they count."""
        return WINDOW, *self.trained.source.hops

    def cells(self, corpus: Corpus, in_training: bool, n_jobs: int = 1) -> list[list[str]]:
        """The cells of `columns`, for sentences with the other columns."""
        words = corpus.columns[0]
        if in_training:
            labels = self.jackknifed
            if labels is None or len(labels) != len(words):
                raise SeqpaError(
                    "the training state was saved on other data: go on with those that it began on"
                )
        else:
            labels = list(chain.from_iterable(self.trained.predict(corpus, n_jobs)))
        return votes.columns(words, labels, corpus.offsets, corpus.documents, self._with_spans)


def first_stage(
    X: Any,
    y: list[list[str | None]],
    importance: NDArray[np.float64],
    train: Train,
    told: Told | None,
) -> FirstLabels:
    """Train the first stage, and let it tag its training text fold by fold.

    Parameters
    ----------
    X : list of sentences, or a corpus
    y : list of label lists
    importance : float64 (sentences,), or empty
        What the C of each sentence is multiplied by.
    train : callable
        Makes the trained tagger of some sentences, their labels and weights.
    told : callable or None
        Told in a few words what is being done.

    Returns
    -------
    FirstLabels
    """
    folds = contiguous_folds(len(X), FOLDS)
    if len(folds) < 2:
        raise SeqpaError(
            "stages=2 needs at least two sentences: the first stage learns from some of them, and "
            "tags the others"
        )
    labels: list[str] = []
    for number, fold in enumerate(folds, 1):
        if told is not None:
            told(f"stage 1: part {number} of {len(folds)} is tagged by what the others teach")
        rest = [*range(fold.start), *range(fold.stop, len(X))]
        if not any(label is not None for i in rest for label in y[i]):
            raise SeqpaError(
                f"stages=2 needs labels in every part of the text: all are in sentences "
                f"{fold.start + 1} to {fold.stop}"
            )
        weights = importance[rest] if len(importance) else None
        if weights is not None and not weights.any():
            raise SeqpaError(
                f"stages=2 needs weights above zero in every part of the text: all are in "
                f"sentences {fold.start + 1} to {fold.stop}"
            )
        trained = train(some_of(X, rest), [y[i] for i in rest], weights)
        labels += chain.from_iterable(trained.predict(X[fold.start : fold.stop]))
    if told is not None:
        told("stage 1: all sentences")
    return FirstLabels(train(X, y, importance if len(importance) else None), labels)


def second_stage_names(columns: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns and templates that a second stage has beside those of the data.

    Parameters
    ----------
    columns : sequence of str
        The columns of the data.

    Returns
    -------
    columns, templates : tuples of str

    Examples
    --------
    >>> second_stage_names(["word"])[1][:2]
    ('stage1[-2]', 'stage1[-1]')
    """
    for name in votes.COLUMNS:
        if name in columns:
            raise SeqpaError(f"stages=2 has a column {name!r} of its own: call yours another name")
    return votes.COLUMNS, votes.TEMPLATES


def check_words(encoder: Any) -> None:
    """Raise a SeqpaError unless the tokens are words, which alone can be met elsewhere.

    Parameters
    ----------
    encoder : FeatureEncoder or DictEncoder
    """
    if not isinstance(encoder, FeatureEncoder):
        raise SeqpaError(
            "stages=2 looks for the same word elsewhere: it needs words and templates, not tokens "
            "that already are features"
        )
