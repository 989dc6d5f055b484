"""From what the user calls a sentence to integers: which encoder, and how to feed it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain, pairwise, zip_longest
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings, template_features
from seqpa.data.corpus import Corpus, document_numbers
from seqpa.errors import SeqpaError
from seqpa.schemes import marks_spans
from seqpa.sequence.dicts import DictEncoder
from seqpa.sequence.encode import Encoded, FeatureEncoder
from seqpa.sequence.presets import preset
from seqpa.sequence.resources import Arrays
from seqpa.sequence.seen import SeenText

T = TypeVar("T")
Extractor = Callable[[Sequence[Any]], Sequence[Any]]
# The cells of all tokens, a list for each column, and the sentences' lengths.
Cells: TypeAlias = "tuple[list[list[str]], NDArray[np.int64]]"


class ColumnChain(Protocol):
    """What predicts columns that are not given: a `seqpa.sequence.chained.Chain`."""

    taggers: dict[str, Any]
    parameters: dict[str, Mapping[str, Any]]

    @property
    def names(self) -> frozenset[str]:
        """The columns that are predicted."""

    @property
    def levels(self) -> int:
        """How many taggers stand one inside the other, at most."""

    @property
    def hops(self) -> tuple[int, ...]:
        """How far they look beyond a sentence: see `FeatureSource.hops`."""

    def check(self, columns: Sequence[str]) -> None:
        """Raise a SeqpaError unless each column can be predicted from those before it."""

    def cells(self, X: Any, columns: Sequence[str], n_jobs: int = 1) -> Cells:
        """The cells of sentences, some of them predicted."""


class FirstStage(Protocol):
    """The tagger whose labels a second one sees: a `seqpa.sequence.stages.FirstLabels`."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that it adds to those of the data."""

    @property
    def hops(self) -> tuple[int, ...]:
        """How far it looks beyond a sentence: see `FeatureSource.hops`."""

    def cells(self, corpus: Corpus, in_training: bool, n_jobs: int = 1) -> list[list[str]]:
        """The cells of its columns, for sentences with the others."""


@dataclass(slots=True)
class PredictedCorpus(Corpus):
    """A corpus whose predicted columns are there already."""


class FeatureSource:
    """Encodes sentences with templates, or with tokens that already are features.

    Built by `choose`, from the `features` that the user gave and a first look at the tokens.

    Attributes
    ----------
    encoder : FeatureEncoder or DictEncoder
    function : callable or None
        The user's own, which makes features of a sentence.
    chain : ColumnChain or None
        Predicts columns that sentences do not have.
    seen : SeenText
        Which sentences were learned from.
    first : FirstStage or None
        The first of two stages, whose labels the encoder sees as columns.
    """

    def __init__(
        self,
        encoder: FeatureEncoder | DictEncoder,
        function: Extractor | None,
        chain: ColumnChain | None = None,
        seen: SeenText | None = None,
    ) -> None:
        self.encoder = encoder
        self.function = function
        self.chain: ColumnChain | None = None
        self.seen = SeenText() if seen is None else seen
        self.first: FirstStage | None = None
        if chain is not None:
            self.attach(chain)

    def attach(self, chain: ColumnChain) -> None:
        """Have columns predicted, which are checked against those that templates look at."""
        if not isinstance(self.encoder, FeatureEncoder):
            raise SeqpaError(
                "taggers give columns to templates: they need words, and a preset or templates as "
                "features"
            )
        chain.check(tuple(self.encoder.columns))
        self.chain = chain

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that sentences must have: those that are not predicted."""
        if not isinstance(self.encoder, FeatureEncoder):
            return ("word",)
        predicted: frozenset[str] = frozenset() if self.chain is None else self.chain.names
        return tuple(name for name in self._data_columns() if name not in predicted)

    def _data_columns(self) -> tuple[str, ...]:
        """The columns but those of the first stage."""
        columns = cast("FeatureEncoder", self.encoder).columns
        return columns if self.first is None else columns[: -len(self.first.columns)]

    @property
    def hops(self) -> tuple[int, ...]:
        """How far tagging looks beyond a sentence, step by step.

        It looks at the sentences within so many tokens; where their labels or columns are predicted
        too, that looks at the sentences within the next number of tokens around all of these.
        """
        own = self.encoder.reach if isinstance(self.encoder, FeatureEncoder) else 0
        first = () if self.first is None else self.first.hops
        inner = () if self.chain is None else (own, *self.chain.hops)
        hops = farthest([(own,), first, inner])
        return tuple(hop for hop in hops if hop)

    @property
    def reach(self) -> int:
        """How many tokens that is in all, the rest of the sentences in between not counted."""
        return sum(self.hops)

    def cells(self, X: Any, n_jobs: int = 1, in_training: bool = False) -> Cells:
        """All columns of sentences, where the encoder has templates.

        in_training : with what the first stage says of sentences that it did not learn from
        """
        if type(X) is list and len(X) == 1 and (one := self.cells_of_one(X)) is not None:
            return one, np.array([len(one[0])], np.int64)
        columns = self._data_columns()
        if self.chain is None or isinstance(X, PredictedCorpus):
            cells, lengths = flat_columns(X, columns)
        else:
            cells, lengths = self.chain.cells(X, columns, n_jobs)
        if self.first is not None:
            corpus = Corpus(columns, cells, lengths, documents=documents_of(X))
            cells = [*cells, *self.first.cells(corpus, in_training, n_jobs)]
        return cells, lengths

    def cells_of_one(self, X: list[Any]) -> list[list[str]] | None:
        """The columns of a list with one sentence, of words or tuples; None for anything else, and
        where columns are predicted: see `cells`."""
        encoder = self.encoder
        if self.chain is not None or self.first is not None or type(X[0]) is not list:
            return None
        if not isinstance(encoder, FeatureEncoder) or (X[0] and type(X[0][0]) not in (str, tuple)):
            return None
        return strings.columns_of(X, len(encoder.columns))

    def given_of_one(self, X: Any) -> tuple[DictEncoder, list[list[Any]]] | None:
        """The encoder and a list with one sentence of tokens that are features; None where X is
        anything else."""
        encoder = self.encoder
        if not isinstance(encoder, DictEncoder) or type(X) is not list or len(X) != 1:
            return None
        if type(X[0]) is not list:
            return None
        if self.function is None:
            return encoder, X
        tokens = _extracted(self.function, X[0], 0)
        return encoder, [tokens if type(tokens) is list else list(tokens)]

    @classmethod
    def choose(
        cls,
        features: Any,
        columns: Sequence[str],
        cutoff: int,
        resources: Mapping[str, Any] | None,
        X: Any,
        labels: Sequence[str],
        more: tuple[Sequence[str], Sequence[str]] = ((), ()),
    ) -> FeatureSource:
        """The source for `features`: "auto", a preset, templates, a function, or None.

        more : columns beside those of the data, and templates that look at them
        """
        if callable(features):
            return cls(DictEncoder(cutoff), features)
        kind = "words" if isinstance(X, Corpus) else token_kind(X)
        if kind == "features" and features == "auto" and tuple(columns) != ("word",):
            raise SeqpaError(
                f"the columns {', '.join(columns)} are named, but tokens are dicts or lists: give "
                f"tuples of these columns, or features=None for tokens that already are features"
            )
        if kind == "features" and (features is None or features == "auto"):
            return cls(DictEncoder(cutoff), None)
        if kind == "features":
            raise SeqpaError(
                "the tokens are dicts or lists of features already: leave out `features`, or give "
                "tokens as strings or tuples of columns"
            )
        if features is None:
            raise SeqpaError(
                "features=None is for tokens that already are features (dicts, or lists of "
                "strings); for words name a preset ('pos', 'ner', 'chunk') or give templates"
            )
        if features == "auto":
            features = "ner" if marks_spans(labels) else "pos"
        templates = preset(features, columns) if isinstance(features, str) else features
        if not isinstance(templates, (list, tuple)):
            raise SeqpaError(
                f"features must be a preset's name, a list of templates, a function or None, "
                f"not {type(features).__name__}"
            )
        columns, templates = [*columns, *more[0]], [*templates, *more[1]]
        return cls(FeatureEncoder(templates, columns, cutoff, resources), None)

    def learn(self, X: Any, flat: Sequence[str | None], n_jobs: int = 1) -> Encoded:
        """Encode the training sentences, numbering their features afresh.

        flat : the labels of all tokens, None where one is not given
        n_jobs : threads; the numbers do not depend on them
        """
        self.seen = SeenText()
        if isinstance(self.encoder, FeatureEncoder):
            columns, lengths = self._noted(X)
            return self.encoder.fit_transform(columns, lengths, flat, documents_of(X), n_jobs)
        return self._call(self.encoder.fit_transform, X)

    def extend(self, X: Any, flat: Sequence[str | None], online: bool = False) -> Encoded:
        """Encode more training sentences; new features get new numbers, old ones keep theirs.

        online : whether `remember` will be called when they have been learned
        """
        if isinstance(self.encoder, FeatureEncoder):
            columns, lengths = self._noted(X)
            documents = documents_of(X)
            return self.encoder.extend_transform(columns, lengths, flat, documents, online)
        return self._call(self.encoder.extend_transform, X)

    def again(self, X: Any, flat: Sequence[str | None]) -> Encoded:
        """Encode the training sentences once more as `learn` did."""
        if isinstance(self.encoder, FeatureEncoder):
            columns, lengths = self.cells(X, in_training=True)
            return self.encoder.training_transform(columns, lengths, flat, documents_of(X))
        return self._call(self.encoder.transform, X)

    def remember(self, X: Any, flat: Sequence[str | None]) -> None:
        """Let the attributes that labels teach learn from sentences that were learned online."""
        if isinstance(self.encoder, FeatureEncoder) and self.encoder.learns_tags:
            self.encoder.remember(self.cells(X)[0], flat)

    def _noted(self, X: Any) -> Cells:
        """The columns of sentences to be learned from, which are known again later."""
        columns, lengths = self.cells(X, in_training=True)
        self.seen.add(columns[0], lengths.tolist())
        return columns, lengths

    def transform(self, X: Any, walk: template_features.Table | None = None) -> Encoded:
        """Encode sentences to be tagged; unknown features are left out.

        walk : where the encoder has templates, the order in which they are tried; see
            `FeatureEncoder.transform`.
        """
        if isinstance(self.encoder, FeatureEncoder):
            return self.encoder.transform(*self.cells(X), walk, documents_of(X))
        return self._call(self.encoder.transform, X)

    @property
    def n_pair_features(self) -> int | None:
        """How many features on label pairs there are; None where no template asks for any."""
        encoder = self.encoder
        if isinstance(encoder, DictEncoder) or encoder.pairs is None:
            return None
        return encoder.n_pair_features

    def to_arrays(
        self, keep: NDArray[np.bool_], keep_pairs: NDArray[np.bool_] | None
    ) -> tuple[Arrays, dict[str, Any]]:
        """The encoder with these features only, as arrays and a header."""
        if isinstance(self.encoder, FeatureEncoder):
            return self.encoder.to_arrays(keep, keep_pairs)
        return self.encoder.to_arrays(keep)

    def _call(self, encode: Callable[..., Encoded], X: Any) -> Encoded:
        check_sentences(X)
        if self.function is None:
            return encode(X)
        sentences = X.X if isinstance(X, Corpus) else X
        return encode(
            [_extracted(self.function, sentence, i) for i, sentence in enumerate(sentences)]
        )


def farthest(several: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Hops that look at least as far as each of several.

    >>> farthest([(5,), (3, 9), ()])
    (5, 9)
    """
    return tuple(map(max, zip_longest(*several, fillvalue=0)))


def _extracted(function: Extractor, sentence: Sequence[Any], i: int) -> Sequence[Any]:
    tokens = function(sentence)
    if not is_list(tokens):
        raise SeqpaError(
            f"the features of sentence {i + 1}, as the function gives them, are {_told(tokens)}: "
            f"give a list with the features of each token"
        )
    if len(tokens) != len(sentence):
        raise SeqpaError(
            f"the feature function gave {len(tokens)} items for sentence {i + 1}, which has "
            f"{len(sentence)} tokens: one for each token is needed"
        )
    return tokens


def is_list(value: Any) -> bool:
    """Whether the value is a list, a tuple, an array or the like; a string or a dict is none.

    >>> is_list(["a"]), is_list(np.array(["a"])), is_list("a"), is_list(iter(["a"]))
    (True, True, False, False)
    """
    return isinstance(value, (list, tuple)) or (
        hasattr(value, "__len__")
        and hasattr(value, "__getitem__")
        and not isinstance(value, (str, bytes, Mapping))
        and getattr(value, "ndim", 1) > 0
    )


def _told(value: Any) -> str:
    """What a value is, for a message."""
    if value is None:
        return "None"
    return "a string" if isinstance(value, str) else f"of type {type(value).__name__}"


def check_sentences(X: Any) -> None:
    """Raise a SeqpaError unless X is a corpus or a list of lists."""
    if isinstance(X, Corpus):
        return
    if hasattr(X, "column_names") or (hasattr(X, "columns") and hasattr(X, "shape")):
        raise SeqpaError(
            f"X is a {type(X).__name__}: make a corpus of it, seqpa.data.from_table(X), for fit "
            "and for predict"
        )
    if not is_list(X):
        raise SeqpaError(f"X is {_told(X)}: give a list of sentences, each a list of tokens")
    if {list, tuple}.issuperset(map(type, X)):
        return
    for i, sentence in enumerate(X):
        if not is_list(sentence):
            raise SeqpaError(f"sentence {i + 1} is {_told(sentence)}: give a list of tokens")


def lengths_of(X: Any) -> NDArray[np.int64]:
    """How many tokens each sentence has.

    >>> lengths_of([["Rain", "fell"], [], ["Stop"]]).tolist()
    [2, 0, 1]
    """
    return X.lengths if isinstance(X, Corpus) else np.fromiter(map(len, X), np.int64, len(X))


def split(flat: Sequence[T], lengths: NDArray[np.int64]) -> list[list[T]]:
    """A list over all tokens as a list for each sentence.

    >>> split(["N", "V", "V"], np.array([2, 1]))
    [['N', 'V'], ['V']]
    """
    ends = np.cumsum(lengths).tolist()
    return [list(flat[a:b]) for a, b in pairwise([0, *ends])]


class Documents(list[Any]):
    """Sentences that belong to documents.

    Parameters
    ----------
    X : list of sentences
    documents : int64 (sentences,)
        Sentences with one number that follow each other are one document.
    """

    def __init__(self, X: Sequence[Any], documents: NDArray[np.int64]) -> None:
        super().__init__(X)
        self.documents = documents

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Documents(found, self.documents[index]) if isinstance(index, slice) else found


def in_documents(X: Any, documents: Any) -> Any:
    """The sentences with the documents that they belong to, where these are given.

    Parameters
    ----------
    X : list of sentences, or a corpus
    documents : None, or a list
        For each sentence what its document is called: a number, a string. Sentences with one name
        that follow each other are one document.

    Returns
    -------
    Documents or Corpus

    Examples
    --------
    >>> in_documents([["Rain", "fell"], ["Stop"], ["So"]], ["a", "a", "b"]).documents.tolist()
    [0, 0, 1]
    """
    if documents is None:
        return X
    if not is_list(documents):
        raise SeqpaError(
            f"documents is {_told(documents)}: give a list with a document for each sentence"
        )
    check_sentences(X)
    numbers = document_numbers(documents, len(X))
    return replace(X, documents=numbers) if isinstance(X, Corpus) else Documents(X, numbers)


def some_of(X: Any, which: Sequence[int]) -> Any:
    """Some of the sentences, with the documents that they belong to.

    Parameters
    ----------
    X : list of sentences, or a corpus
    which : sequence of int
        Their numbers.

    Returns
    -------
    list of sentences, Documents or Corpus

    Examples
    --------
    >>> X = in_documents([["Rain", "fell"], ["Stop"], ["So"]], ["a", "a", "b"])
    >>> some_of(X, [0, 2]), some_of(X, [0, 2]).documents.tolist()
    ([['Rain', 'fell'], ['So']], [0, 1])
    """
    if isinstance(X, Corpus):
        return X.take(which)
    own = [X[i] for i in which]
    documents = documents_of(X)
    return own if documents is None else Documents(own, documents[np.array(which, np.int64)])


def documents_of(X: Any) -> NDArray[np.int64] | None:
    """A number for each sentence, the same for those of one document; None where all are one.

    >>> documents_of([["Rain", "fell"]]) is None
    True
    """
    return X.documents if isinstance(X, (Corpus, Documents)) else None


def token_kind(X: Any) -> str:
    """ "words" for strings and tuples of columns, "features" for dicts and lists.

    >>> token_kind([[], ["Rain", "fell"]]), token_kind([[{"word": "Rain"}]])
    ('words', 'features')
    """
    check_sentences(X)
    for i, sentence in enumerate(X):
        for token in sentence:
            if isinstance(token, (str, tuple)):
                return "words"
            if isinstance(token, (Mapping, list)):
                return "features"
            raise SeqpaError(
                f"sentence {i + 1}: a token is a string, a tuple of columns, a dict or a list of "
                f"features, not {type(token).__name__}"
            )
    return "words"


def flat_columns(X: Any, columns: Sequence[str]) -> Cells:
    """One list of cells over all tokens for each column, and the sentences' lengths.

    >>> flat_columns([[("Rain", "N"), ("fell", "V")], [("Stop", "V")]], ("word", "pos"))
    ([['Rain', 'fell', 'Stop'], ['N', 'V', 'V']], array([2, 1]))
    """
    if isinstance(X, Corpus):
        missing = [name for name in columns if name not in X.names]
        if missing:
            raise SeqpaError(
                f"the data has the columns {', '.join(X.names)}; the model needs {missing[0]!r} too"
            )
        cells = [X.columns[X.names.index(name)] for name in columns]
        return [own if isinstance(own, list) else list(own) for own in cells], X.lengths
    token_kind(X)
    lengths = lengths_of(X)
    cells = strings.columns_of(X, len(columns))
    if cells is None:
        raise _not_a_tuple(X, columns)
    return cells, lengths


def _not_a_tuple(X: Any, columns: Sequence[str]) -> SeqpaError:
    """The error for the first token that is no tuple of the columns."""
    names = ", ".join(columns)
    for i, sentence in enumerate(X):
        for token in sentence:
            if isinstance(token, str) and len(columns) > 1:
                return SeqpaError(f"tokens are strings, but the columns are {names}: give tuples")
            if isinstance(token, tuple) and len(token) != len(columns):
                return SeqpaError(
                    f"sentence {i + 1}: the token {token!r} has {len(token)} cells, but the "
                    f"columns are {names}: name them all, as in columns=('word', 'pos')"
                )
            if not isinstance(token, (str, tuple)):
                return SeqpaError(
                    f"sentence {i + 1}: the token {token!r} is not a tuple of the "
                    f"{len(columns)} columns {names}"
                )
    raise AssertionError("every token is a tuple of the columns")


def given_labels(X: Any, y: Any) -> list[str | None]:
    """The labels of all tokens in one list, None where one is not given; checked against X."""
    if isinstance(X, Corpus) and y is None:
        if X.labels is None:
            raise SeqpaError("the corpus has no labels to learn from")
        return cast("list[str | None]", X.labels)
    check_sentences(X)
    if y is None:
        raise SeqpaError("y is missing: give a list of labels for each sentence")
    if not is_list(y):
        raise SeqpaError(f"y is {_told(y)}: give a list of labels for each sentence")
    if len(X) != len(y):
        raise SeqpaError(f"X has {len(X)} sentences, y has {len(y)}")
    for i, (tokens, labels) in enumerate(zip(lengths_of(X).tolist(), y, strict=True)):
        if not is_list(labels):
            raise SeqpaError(
                f"the labels of sentence {i + 1} are {_told(labels)}: give a list of labels"
            )
        if tokens != len(labels):
            raise SeqpaError(f"sentence {i + 1} has {tokens} tokens, but {len(labels)} labels")
    flat = list(chain.from_iterable(y))
    if set(map(type, flat)) <= {str, type(None)}:
        return flat
    texts: list[str | None] = []
    for i, labels in enumerate(y):
        for label in labels:  # none is looked up: objects of the user's may lie about what equals
            text = None if label is None else label_text(label)
            if text is None and label is not None:
                raise SeqpaError(
                    f"sentence {i + 1}: the label {label!r} is neither text nor a whole number nor "
                    f"a member of an enum: give str(label)"
                )
            texts.append(text)
    return texts


def label_text(label: Any) -> str | None:
    """A label as text: numbers by their digits, enums by their value or name; None if it is none.

    >>> import enum
    >>> Tag = enum.Enum("Tag", ["NOUN", "VERB"])
    >>> label_text(3), label_text(np.int64(3)), label_text(Tag.VERB), label_text(0.5)
    ('3', '3', 'VERB', None)
    """
    if isinstance(label, Enum):
        value = label.value
        return str.__str__(value) if isinstance(value, str) else label.name
    if isinstance(label, str):
        return str.__str__(label)
    return str(int(label)) if isinstance(label, (int, np.integer)) else None


def label_values(y: Any) -> dict[str, Any]:
    """What labels that are no plain text were, by their text; empty where all are.

    >>> label_values([[0, 1], [np.int64(1)]]), label_values([["N"]]), label_values(None)
    ({'0': 0, '1': 1}, {}, {})
    """
    if y is None:
        return {}
    kinds = set(map(type, chain.from_iterable(y)))
    if all(issubclass(kind, str) or kind is type(None) for kind in kinds):
        return {}
    found: dict[str, Any] = {}
    for label in chain.from_iterable(y):
        text = label_text(label)
        if text is None:
            continue
        value = label.item() if isinstance(label, np.generic) else label
        if found.setdefault(text, value) != value:
            raise SeqpaError(f"the labels {found[text]!r} and {value!r} are both written {text!r}")
    return found
