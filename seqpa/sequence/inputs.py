"""From what the user calls a sentence to integers: which encoder, and how to feed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings, template_features
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError
from seqpa.schemes import marks_spans
from seqpa.sequence.dicts import DictEncoder
from seqpa.sequence.encode import Encoded, FeatureEncoder
from seqpa.sequence.presets import preset
from seqpa.sequence.resources import Arrays
from seqpa.sequence.seen import SeenText

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

    def check(self, columns: Sequence[str]) -> None:
        """Raise a SeqpaError unless each column can be predicted from those before it."""

    def cells(self, X: Any, columns: Sequence[str], n_jobs: int = 1) -> Cells:
        """The cells of sentences, some of them predicted."""


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
        return tuple(name for name in self.encoder.columns if name not in predicted)

    def cells(self, X: Any, n_jobs: int = 1) -> Cells:
        """All columns of sentences, where the encoder has templates."""
        columns = cast("FeatureEncoder", self.encoder).columns
        if self.chain is None or isinstance(X, PredictedCorpus):
            return flat_columns(X, columns)
        return self.chain.cells(X, columns, n_jobs)

    @classmethod
    def choose(
        cls,
        features: Any,
        columns: Sequence[str],
        cutoff: int,
        resources: Mapping[str, Any] | None,
        X: Any,
        labels: Sequence[str],
    ) -> FeatureSource:
        """The source for `features`: "auto", a preset, templates, a function, or None."""
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
        return cls(FeatureEncoder(templates, columns, cutoff, resources), None)

    def learn(self, X: Any) -> Encoded:
        """Encode the training sentences, numbering their features afresh."""
        self.seen = SeenText()
        return self._call(self.encoder.fit_transform, X, noted=True)

    def extend(self, X: Any) -> Encoded:
        """Encode more training sentences; new features get new numbers, old ones keep theirs."""
        return self._call(self.encoder.extend_transform, X, noted=True)

    def transform(self, X: Any, walk: template_features.Table | None = None) -> Encoded:
        """Encode sentences to be tagged; unknown features are left out.

        walk : where the encoder has templates, the order in which they are tried; see
            `FeatureEncoder.transform`.
        """
        if isinstance(self.encoder, FeatureEncoder):
            return self.encoder.transform(*self.cells(X), walk)
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

    def _call(self, encode: Callable[..., Encoded], X: Any, noted: bool = False) -> Encoded:
        if isinstance(self.encoder, FeatureEncoder):
            columns, lengths = self.cells(X)
            if noted:
                self.seen.add(columns[0], lengths.tolist())
            return encode(columns, lengths)
        check_sentences(X)
        if self.function is None:
            return encode(X)
        sentences = X.X if isinstance(X, Corpus) else X
        return encode(
            [_extracted(self.function, sentence, i) for i, sentence in enumerate(sentences)]
        )


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
    texts: dict[Any, str] = {}
    for i, labels in enumerate(y):
        for label in labels:
            if label is None or (type(label), label) in texts:
                continue
            text = label_text(label)
            if text is None:
                raise SeqpaError(
                    f"sentence {i + 1}: the label {label!r} is neither text nor a whole number nor "
                    f"a member of an enum: give str(label)"
                )
            texts[type(label), label] = text
    return [None if label is None else texts[type(label), label] for label in flat]


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
