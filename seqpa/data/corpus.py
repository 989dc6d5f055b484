"""Sentences in memory: flat columns over all tokens, and how long each sentence is.

Flat lists are what the encoder wants (it interns a whole column at once) and what costs least:
no object per token beside its strings, and equal strings of one reading are one object.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError

Token: TypeAlias = "str | tuple[str, ...]"
Extras: TypeAlias = Mapping[str, Sequence[Any]]  # text or numbers
T = TypeVar("T")
_SHORT = reprlib.Repr()  # shows a token in some letters, and none that a terminal would obey
_SHORT.maxstring = 24


def document_numbers(names: Sequence[Any], n_sentences: int) -> NDArray[np.int64]:
    """A number for each sentence, another one where its document is another.

    Parameters
    ----------
    names : sequence
        What the document of each sentence is called: a number, a string.
    n_sentences : int
        How many there must be.

    Returns
    -------
    int64 (sentences,)

    Examples
    --------
    >>> document_numbers(["a", "a", "b", "a"], 4).tolist()
    [0, 0, 1, 2]
    """
    if len(names) != n_sentences:
        raise SeqpaError(f"X has {n_sentences} sentences, documents has {len(names)}")
    new = [a != b for a, b in pairwise(names)]
    return np.cumsum([False, *new] if n_sentences else [], dtype=np.int64)


class Sentence(NamedTuple):
    """One sentence.

    Parameters
    ----------
    tokens : list
        Strings, or tuples of cells where there are several columns.
    labels : list of str or None
        None where they are not known.

    Examples
    --------
    >>> Sentence(["Rain", "fell"], ["N", "V"]).labels
    ['N', 'V']
    """

    tokens: list[Token]
    labels: list[str] | None


class Layout(Protocol):
    """What a reader keeps so that a tagged copy differs from its source by the labels alone."""

    @property
    def format(self) -> str:
        """The format's name."""

    def line_of(self, token: int) -> int:
        """The source's line of a token, counted from 1.

        Parameters
        ----------
        token : int
            Its number in the corpus, counted from 0.

        Returns
        -------
        int
        """

    def render(self, labels: Sequence[str], extras: Extras) -> str:
        """The source's text with a label (and extra values) for each token.

        Parameters
        ----------
        labels : sequence of str
            The label of each token.
        extras : mapping
            Other values of each token, by the name of their column.

        Returns
        -------
        str
        """


@dataclass(slots=True)
class Corpus:
    """Sentences as flat columns.

    Parameters
    ----------
    names : tuple of str
        The input columns' names.
    columns : list of lists of str
        For each name the cells of all tokens.
    lengths : int64 (sentences,)
        How many tokens each sentence has.
    labels : list of str or None
        The label of each token, None in place of one that is not known.
    layout : Layout or None
        What a reader kept for a tagged copy.
    weights : float64 (sentences,) or None
        How much each sentence counts in training, where the file says it.
    documents : int64 (sentences,) or None
        A number for each sentence: those with the same one that follow each other are a document.
        None where nothing is known of documents: then all are one.

    Examples
    --------
    >>> corpus = Corpus.from_sentences([["Rain", "fell"], ["Stop"]], [["N", "V"], ["V"]])
    >>> corpus.columns, corpus.lengths.tolist(), corpus.labels
    ([['Rain', 'fell', 'Stop']], [2, 1], ['N', 'V', 'V'])
    >>> corpus[1]
    Sentence(tokens=['Stop'], labels=['V'])
    """

    names: tuple[str, ...]
    columns: list[list[str]]
    lengths: NDArray[np.int64]
    labels: list[str] | None = None
    layout: Layout | None = field(default=None, repr=False, compare=False)
    weights: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    documents: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        """Sizes, columns and how it begins, in one line."""
        kinds = None if self.labels is None else len({*self.labels} - {None})
        labels = "no labels" if kinds is None else f"{kinds:,} label{'s' * (kinds != 1)}"
        words = [column[:6] for column in self.columns]
        shown = [_SHORT.repr("/".join(cells))[1:-1] for cells in zip(*words, strict=True)]
        more = [*shown, "..."] if self.n_tokens > len(shown) else shown
        return (
            f"<Corpus: {len(self):,} sentence{'s' * (len(self) != 1)}, {self.n_tokens:,} "
            f"token{'s' * (self.n_tokens != 1)}, columns {', '.join(self.names)}, {labels}: "
            f"{' '.join(more)}>"
        )

    def _repr_html_(self) -> str:
        """Sizes and the first sentences, for notebooks."""
        from seqpa.display import spans, summary

        kinds = "no labels" if self.labels is None else f"{len({*self.labels} - {None}):,} labels"
        first = self[:5]
        words = first.split(first.columns[0])
        labels = first.split([label or "?" for label in first.labels or ["O"] * first.n_tokens])
        pairs = [list(zip(*both, strict=True)) for both in zip(words, labels, strict=True)]
        known = sorted({label for label in self.labels or () if label})
        return summary(
            f"{len(self):,} sentences",
            f"{self.n_tokens:,} tokens, columns {', '.join(self.names)}, {kinds}",
            spans(pairs, known).html if pairs else "",
        )

    @classmethod
    def from_sentences(
        cls,
        X: Sequence[Sequence[Token]],
        y: Sequence[Sequence[str]] | None = None,
        names: Sequence[str] = ("word",),
        documents: Sequence[Any] | None = None,
    ) -> Corpus:
        """Build one from lists of sentences, as `X` and `y` give them back.

        Parameters
        ----------
        X : sequence of sequences
            The tokens of each sentence: strings, or tuples with a cell for each name.
        y : sequence of sequences of str, optional
            Their labels.
        names : sequence of str
            What the cells are called.
        documents : sequence, optional
            For each sentence the name of its document.

        Returns
        -------
        Corpus

        Examples
        --------
        >>> Corpus.from_sentences([["so"], ["it"], ["is"]], documents=["a", "a", "b"]).documents
        array([0, 0, 1])
        """
        lengths = np.fromiter(map(len, X), dtype=np.int64, count=len(X))
        tokens = list(chain.from_iterable(X))
        if len(names) == 1:
            columns = [[t if isinstance(t, str) else t[0] for t in tokens]]
        else:
            columns = [[t[i] for t in tokens] for i in range(len(names))]
        labels = None if y is None else list(chain.from_iterable(y))
        if y is not None and (len(y) != len(X) or [*map(len, y)] != lengths.tolist()):
            raise SeqpaError("the labels must be as many as the tokens, sentence by sentence")
        numbers = None if documents is None else document_numbers(documents, len(X))
        return cls(tuple(names), columns, lengths, labels, documents=numbers)

    @classmethod
    def joined(cls, parts: Iterable[Corpus]) -> Corpus:
        """One corpus out of several with the same columns; layouts are not carried over.

        Parameters
        ----------
        parts : iterable of Corpus
            At least one.

        Returns
        -------
        Corpus
        """
        parts = iter(parts)
        first = next(parts, None)
        if first is None:
            raise SeqpaError("there is no corpus to join")
        columns = [list(column) for column in first.columns]
        labels = None if first.labels is None else list(first.labels)
        lengths, weights = [first.lengths], [first.weights]
        documents = [first.documents]
        for part in parts:  # one by one, so that only one of them is in memory at a time
            if part.names != first.names:
                told = " and ".join(", ".join(names) for names in (first.names, part.names))
                raise SeqpaError(f"corpora with different columns cannot be joined: {told}")
            for column, more in zip(columns, part.columns, strict=True):
                column += more
            if labels is not None and part.labels is not None:
                labels += part.labels
            else:
                labels = None
            lengths.append(part.lengths)
            weights.append(part.weights)
            documents.append(part.documents)
        found = cls(first.names, columns, np.concatenate(lengths), labels)
        if any(own is not None for own in weights):
            found.weights = np.concatenate(
                [
                    np.ones(len(of)) if own is None else own
                    for own, of in zip(weights, lengths, strict=True)
                ]
            )
        known = [numbers for numbers in documents if numbers is not None]
        if len(known) == len(documents):
            found.documents = np.concatenate(known)
        return found

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def n_tokens(self) -> int:
        """How many tokens all sentences have together."""
        return len(self.columns[0])

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each sentence starts, and at the end the number of tokens."""
        return np.concatenate(([0], np.cumsum(self.lengths))).astype(np.int64)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...

    @overload
    def __getitem__(self, index: slice) -> Corpus: ...

    def __getitem__(self, index: int | slice) -> Sentence | Corpus:
        if isinstance(index, slice):
            return self._picked(range(len(self))[index])
        offsets = self.offsets.tolist()
        row = range(len(self))[index]
        piece = slice(offsets[row], offsets[row + 1])
        tokens = _tokens([column[piece] for column in self.columns])
        return Sentence(tokens, None if self.labels is None else self.labels[piece])

    def begins(self, before: int = 0) -> list[bool]:
        """Whether each sentence begins a document that a mark should tell.

        Parameters
        ----------
        before : int
            The document of the sentence before the first; 0 where there is none, since a file
            begins one without a mark.

        Returns
        -------
        list of bool

        Examples
        --------
        >>> Corpus.from_sentences([["so"], ["it"], ["is"]], documents=["a", "a", "b"]).begins()
        [False, False, True]
        """
        if self.documents is None:
            return [False] * len(self)
        changes: list[bool] = (np.diff(self.documents, prepend=before) != 0).tolist()
        return changes

    def take(self, indices: Iterable[int], axis: int = 0) -> Corpus:
        """Some of the sentences, in any order.

        Parameters
        ----------
        indices : iterable of int
            Their numbers, counted from 0.
        axis : 0
            As pandas has it, for scikit-learn, which splits corpora by this method.

        Returns
        -------
        Corpus

        Examples
        --------
        >>> corpus = Corpus.from_sentences([["Rain", "fell"], ["Stop"], ["Go", "on"]])
        >>> corpus.take([2, 0]).X
        [['Go', 'on'], ['Rain', 'fell']]
        """
        if axis != 0:
            raise SeqpaError("a corpus has one axis, its sentences: axis must be 0")
        return self._picked([range(len(self))[int(i)] for i in indices])

    @property
    def iloc(self) -> Corpus:
        """Itself, by position: by this name scikit-learn knows what has `take`."""
        return self

    def _picked(self, rows: Sequence[int]) -> Corpus:
        offsets = self.offsets.tolist()
        pieces = [slice(offsets[i], offsets[i + 1]) for i in rows]

        def pick(column: list[str]) -> list[str]:
            return list(chain.from_iterable(column[piece] for piece in pieces))

        labels = None if self.labels is None else pick(self.labels)
        chosen = np.asarray(rows, np.int64)
        found = Corpus(self.names, [*map(pick, self.columns)], self.lengths[chosen], labels)
        found.weights = None if self.weights is None else self.weights[chosen]
        found.documents = None if self.documents is None else self.documents[chosen]
        return found

    def __iter__(self) -> Iterator[Sentence]:
        labels = [None] * len(self) if self.labels is None else self.y
        return map(Sentence, self.X, labels)

    @property
    def X(self) -> list[list[Token]]:
        """The sentences as lists of tokens: strings if there is one column, tuples otherwise."""
        return self.split(_tokens(self.columns))

    @property
    def y(self) -> list[list[str]]:
        """The labels, a list per sentence."""
        if self.labels is None:
            raise SeqpaError("this corpus was read without labels")
        return self.split(self.labels)

    def split(self, flat: Sequence[T]) -> list[list[T]]:
        """Cut a list over all tokens into a list per sentence.

        Parameters
        ----------
        flat : sequence
            One item for each token.

        Returns
        -------
        list of lists

        Examples
        --------
        >>> Corpus.from_sentences([["a", "b"], ["c"]]).split([1, 2, 3])
        [[1, 2], [3]]
        """
        ends = self.offsets.tolist()
        return [list(flat[a:b]) for a, b in pairwise(ends)]


def _tokens(columns: list[list[str]]) -> list[Token]:
    return list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))
