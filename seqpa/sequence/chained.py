"""Columns that other taggers predict: parts of speech for a tagger of names, and the like.

While tagging, a tagger's predictions become a column as if they had stood in the file. While
training, they must be as good and as bad there as they will be on new text; but a tagger that has
learned from this very text is nearly always right on it. Then the text is cut into contiguous
folds, and each fold is tagged by a tagger of the same kind that learned from the others
(jackknifing), for which the right labels of the column must be there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from typing import Any, Protocol

from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError, did_you_mean
from seqpa.sequence.encode import FeatureEncoder
from seqpa.sequence.folds import MOST_TAGGERS, contiguous_folds
from seqpa.sequence.inputs import (
    Cells,
    FeatureSource,
    PredictedCorpus,
    documents_of,
    farthest,
    flat_columns,
)

MOST_LEVELS = 4  # of taggers, one inside the other
# So much of a text must have been seen for its tagger to be jackknifed: less is chance.
_SEEN = 0.1
# Of the labels of a column, so many may be new to its tagger.
_NEW = 0.05


class ColumnTagger(Protocol):
    """What predicts a column: a `seqpa.sequence.trained.Trained`."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that sentences must have for it, the word first."""

    @property
    def source(self) -> FeatureSource:
        """Makes its features, and knows its own chain."""

    def predict(self, X: Corpus, n_jobs: int = 1) -> list[list[str]]:
        """The labels of each sentence."""


class Chain:
    """Predicts columns, one after the other, with taggers that no longer change.

    Parameters
    ----------
    taggers : mapping
        What predicts each column; it may look at those that are given and at those before it.
    parameters : mapping
        Those of the `SequenceTagger` of each column, which a model file holds too.
    """

    def __init__(
        self, taggers: Mapping[str, ColumnTagger], parameters: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.taggers = dict(taggers)
        self.parameters = dict(parameters)

    @property
    def names(self) -> frozenset[str]:
        """The columns that are predicted."""
        return frozenset(self.taggers)

    @property
    def levels(self) -> int:
        """How many taggers stand one inside the other, at most."""
        inner = (tagger.source.chain for tagger in self.taggers.values())
        return 1 + max((0 if chain is None else chain.levels for chain in inner), default=0)

    @property
    def hops(self) -> tuple[int, ...]:
        """How far they look beyond a sentence: see `FeatureSource.hops`."""
        found: dict[str, tuple[int, ...]] = {}
        for name, tagger in self.taggers.items():
            before = [found[column] for column in tagger.columns if column in found]
            found[name] = (*tagger.source.hops, *farthest(before))
        return farthest(found.values())

    def check(self, columns: Sequence[str]) -> None:
        """Raise a SeqpaError unless each column can be predicted from those before it.

        Parameters
        ----------
        columns : sequence of str
            All columns, the word first.
        """
        if len(self.taggers) > MOST_TAGGERS:
            raise SeqpaError(f"taggers: {len(self.taggers)} of them; {MOST_TAGGERS} are the most")
        if self.levels > MOST_LEVELS:
            raise SeqpaError(f"taggers inside taggers: {MOST_LEVELS} levels are the most")
        known = [name for name in columns if name not in self.taggers]
        for name, tagger in self.taggers.items():
            if name not in columns:
                raise SeqpaError(
                    f"taggers: {name!r} is not among the columns {', '.join(columns)}"
                    f"{did_you_mean(name, columns, listed=False)}"
                )
            if name == columns[0]:
                raise SeqpaError(f"taggers: {name!r} is the word itself, which nothing predicts")
            if not isinstance(tagger.source.encoder, FeatureEncoder):
                raise SeqpaError(
                    f"the tagger of the column {name!r} looks at features that files do not hold: "
                    "only taggers with templates can predict columns"
                )
            for needed in tagger.columns[1:]:
                if needed not in known:
                    raise SeqpaError(
                        f"the tagger of the column {name!r} needs the column {needed!r}, which is "
                        f"neither given nor predicted before it; there are {', '.join(known)}"
                    )
            known.append(name)

    def cells(self, X: Any, columns: Sequence[str], n_jobs: int = 1) -> Cells:
        """The cells of sentences to be tagged, some of them predicted.

        Parameters
        ----------
        X : list of sentences, or a corpus
        columns : sequence of str
            All columns, the word first.
        n_jobs : int
            Threads.

        Returns
        -------
        columns : list of lists of str
        lengths : int64 array
        """
        corpus = given_corpus(X, columns, self.names)
        for name, tagger in self.taggers.items():
            found = tagger.predict(view_for(tagger.columns, corpus), n_jobs)
            corpus = with_column(corpus, name, list(chain.from_iterable(found)))
        return [corpus.columns[corpus.names.index(name)] for name in columns], corpus.lengths


def chain_of(taggers: Mapping[str, Any]) -> Chain:
    """The chain of some trained `SequenceTagger`, by the names of their columns."""
    return Chain(
        {name: tagger.trained_ for name, tagger in taggers.items()},
        {name: tagger.get_params() for name, tagger in taggers.items()},
    )


def completed(
    X: Any, columns: Sequence[str], taggers: Mapping[str, Any], folds: Mapping[str, int]
) -> PredictedCorpus:
    """Training sentences with the columns that taggers predict.

    Parameters
    ----------
    X : list of sentences, or a corpus
        Where a column of a tagger is there, it holds the right labels.
    columns : sequence of str
        All columns, the word first.
    taggers : mapping
        The `SequenceTagger` of each column, in order.
    folds : mapping
        For each column into how many folds the text is cut where the tagger has learned from it;
        0 takes the tagger as it is.

    Returns
    -------
    PredictedCorpus
    """
    corpus = given_corpus(X, columns, frozenset(taggers))
    for name, tagger in taggers.items():
        trained = tagger.trained_
        own = view_for(trained.columns, corpus)
        if folds[name] and has_seen(trained, own):
            gold = _right_labels(X, columns, name)
            if gold is None:
                raise SeqpaError(
                    f"the tagger of the column {name!r} learned from this very text, where it is "
                    "right more often than on any other. Give the right labels of that column too "
                    "(in data.columns, or in the tokens), so that it can be jackknifed; or say "
                    "folds: 0 (in Python jackknife=0) to take it as it is"
                )
            labels = jackknifed(tagger, own, gold, folds[name], name)
        else:
            labels = list(chain.from_iterable(trained.predict(own, tagger.n_jobs)))
        corpus = with_column(corpus, name, labels)
    return PredictedCorpus(**{field.name: getattr(corpus, field.name) for field in fields(corpus)})


def has_seen(tagger: ColumnTagger, corpus: Corpus) -> bool:
    """Whether a tagger learned from a text, so that its labels there are better than elsewhere.

    Parameters
    ----------
    tagger : ColumnTagger
        Whose model tells it, by marks of the sentences that it learned from.
    corpus : Corpus
        The text; its first column is the word.

    Returns
    -------
    bool
        True if a tenth of the sentences, or more, are known.
    """
    return tagger.source.seen.share(corpus.columns[0], corpus.lengths.tolist()) >= _SEEN


def given_corpus(X: Any, columns: Sequence[str], predicted: frozenset[str]) -> Corpus:
    """The columns of sentences that are not predicted, with all else that a corpus tells."""
    given = tuple(name for name in columns if name not in predicted)
    if isinstance(X, Corpus):
        return replace(X, names=given, columns=flat_columns(X, given)[0], labels=None, layout=None)
    first = next((token for sentence in X for token in sentence), "")
    whole = isinstance(first, tuple) and len(first) == len(columns)
    cells, lengths = flat_columns(X, columns if whole else given)
    if whole:
        cells = [cells[i] for i, name in enumerate(columns) if name in given]
    return Corpus(given, cells, lengths, documents=documents_of(X))


def view_for(names: Sequence[str], corpus: Corpus) -> Corpus:
    """The columns that a tagger looks at, under its own names; the first is the word in both."""
    cells = [corpus.columns[0], *(corpus.columns[corpus.names.index(n)] for n in names[1:])]
    return replace(corpus, names=tuple(names), columns=cells)


def with_column(corpus: Corpus, name: str, cells: list[str]) -> Corpus:
    """A corpus with one column more."""
    return replace(corpus, names=(*corpus.names, name), columns=[*corpus.columns, cells])


def jackknifed(tagger: Any, corpus: Corpus, gold: list[str], n_folds: int, name: str) -> list[str]:
    """What taggers of the same kind predict for each fold when they learned from the others.

    Parameters
    ----------
    tagger : SequenceTagger
        A trained one.
    corpus : Corpus
        The sentences, with the columns that it needs.
    gold : list of str
        The right label of each token.
    n_folds : int
        Two or more.
    name : str
        Of the column, for messages.

    Returns
    -------
    list of str
    """
    known = set(tagger.trained_.labels)
    new = [label for label in gold if label not in known]
    if len(new) > _NEW * len(gold):
        raise SeqpaError(
            f"the column {name!r} is to be jackknifed, but {len(new):,} of its {len(gold):,} "
            f"labels are unknown to its tagger, such as {new[0]!r}: is it another column?"
        )
    labelled = replace(corpus, labels=gold)
    parts = contiguous_folds(len(corpus), n_folds)
    if len(parts) < 2:
        raise SeqpaError(f"the column {name!r} cannot be jackknifed: there is only one sentence")
    found: list[str] = []
    for part in parts:
        others = Corpus.joined([labelled[: part.start], labelled[part.stop :]])
        fresh = type(tagger)(**tagger.get_params())
        # As long as the tagger itself learned; its dev set is not here.
        fresh.set_params(epochs=max(1, tagger.n_iter_), patience=None, warm_start=False)
        if fresh.random_state is None:
            fresh.set_params(random_state=0)
        fresh.fit(others)
        found += chain.from_iterable(fresh.trained_.predict(corpus[part.start : part.stop]))
    return found


def _right_labels(X: Any, columns: Sequence[str], name: str) -> list[str] | None:
    """The cells of a predicted column that are in the training data, if they are."""
    if isinstance(X, Corpus):
        return X.columns[X.names.index(name)] if name in X.names else None
    first = next((token for sentence in X for token in sentence), "")
    if isinstance(first, tuple) and len(first) == len(columns):
        at = list(columns).index(name)
        return [token[at] for sentence in X for token in sentence]
    return None
