"""Tokens that already are features: dicts or lists of strings, as sklearn-crfsuite takes them.

    {"word": "dog"}              the feature word:dog
    {"length": 2.5}              the feature length with the value 2.5
    {"first": True}              first, value 1; False is the value 0, which counts for nothing
    {"suffix": {"2": "og"}}      suffix:2:og
    {"in": ["list", "lexicon"]}  in:list and in:lexicon
    ["word:dog", "first"]        these, each with the value 1

A feature that a token has twice counts with the sum of its values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa._kernel import strings
from seqpa.errors import SeqpaError
from seqpa.sequence.encode import Encoded, starts_of
from seqpa.sequence.resources import Arrays, pack_strings, unpack_strings

# Weights and scores are float32, and a forbidden label has the score -1e30: values stay far below.
_LARGEST = 1e10


class Numbers(dict[str, int]):
    """Strings numbered in the order in which they are first looked up with []."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


class DictEncoder:
    """Numbers the features of tokens that are dicts of features or lists of feature strings.

    `cutoff`: a feature that fewer training tokens have is dropped.

    >>> encoder = DictEncoder()
    >>> corpus = encoder.fit_transform([[{"word": "a", "size": 2.5}, ["word:a", "last"]]])
    >>> encoder.feature_names()
    ['word:a', 'size', 'last']
    >>> corpus.indptr.tolist(), corpus.features.tolist(), corpus.values.tolist()
    ([0, 2, 4], [0, 1, 0, 2], [1.0, 2.5, 1.0, 1.0])
    """

    n_pair_features = 0

    def __init__(self, cutoff: int = 1) -> None:
        if isinstance(cutoff, bool) or not isinstance(cutoff, int) or cutoff < 1:
            raise SeqpaError(f"cutoff is a whole number from 1 on, not {cutoff!r}")
        self.cutoff = cutoff
        self._numbers = Numbers()
        self._names: list[str] = []

    @property
    def n_features(self) -> int:
        """How many features are known."""
        return len(self._numbers)

    def fit_transform(self, sentences: Sequence[Sequence[Any]]) -> Encoded:
        """Learn the features of a corpus, forgetting all earlier ones, and encode it."""
        self._numbers, self._names = Numbers(), []
        return self.extend_transform(sentences)

    def extend_transform(self, sentences: Sequence[Sequence[Any]]) -> Encoded:
        """Encode a corpus; what is new in it gets new ids behind the old, which never change.

        A new feature must reach the cutoff within this corpus.
        """
        before = self.n_features
        try:
            encoded = _encode(sentences, _Entries(self._numbers.__getitem__))
        except SeqpaError:
            self._forget(self.n_features - before)
            raise
        if self.cutoff > 1:
            enough = np.bincount(encoded.features, minlength=self.n_features) >= self.cutoff
            enough[:before] = True
            for name in compress(self._forget(self.n_features - before), enough[before:].tolist()):
                self._numbers[name]  # looked up, and so numbered
            encoded = _with_features(encoded, enough)
        return encoded

    def _forget(self, count: int) -> list[str]:
        """Remove the newest features and return them, oldest first."""
        return [self._numbers.popitem()[0] for _ in range(count)][::-1]

    def transform(self, sentences: Sequence[Sequence[Any]]) -> Encoded:
        """Encode with the features that are known; others are left out. Safe from many threads."""
        get = self._numbers.get
        return _encode(sentences, _Entries(lambda name: get(name, -1)))

    def feature_names(self) -> list[str]:
        """Every feature, by id."""
        return list(self._numbers)

    def feature_name(self, feature: int) -> str:
        """One feature; the list of all is kept for the next call."""
        if len(self._names) != self.n_features:
            self._names = self.feature_names()
        return self._names[feature]

    def to_arrays(self, keep: ArrayLike | None = None) -> tuple[Arrays, dict[str, Any]]:
        """Everything this encoder knows, as arrays and a header that JSON can hold.

        With a mask: only these features, renumbered in the old order.
        """
        names = self.feature_names()
        if keep is not None:
            mask = np.asarray(keep)
            if mask.dtype != np.bool_ or mask.shape != (len(names),):
                raise SeqpaError(f"keep is a mask of {len(names)} booleans, one for each feature")
            names = list(compress(names, mask.tolist()))
        return pack_strings("features", names), {"encoder": "dicts", "cutoff": self.cutoff}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray], header: Mapping[str, Any]) -> DictEncoder:
        """The inverse of `to_arrays`; anything that it cannot have written is a SeqpaError."""
        if header.get("encoder") != "dicts":
            raise SeqpaError(f"damaged model: encoder {header.get('encoder')!r} is not 'dicts'")
        encoder = cls(header.get("cutoff", 0))
        names = unpack_strings(arrays, "features")
        encoder._numbers.update(zip(names, range(len(names)), strict=True))
        if encoder.n_features != len(names):
            raise SeqpaError("damaged model: a feature is there twice")
        return encoder


class _Entries:
    """The features of tokens by `number`, which gives -1 for what is to be left out.

    Most entries of dicts occur again and again: seen[name][value] remembers those that stand for
    one feature of the value one, or (-1) for none.
    """

    def __init__(self, number: Callable[[str], int]) -> None:
        self.number = number
        self.seen: dict[str, dict[Any, int]] = {}
        # Two entries may spell the same feature: {"word": "dog", "word:dog": True}.
        self.spelled: dict[int, str] = {}
        self.ambiguous = False

    def of(self, token: Any) -> tuple[list[int], dict[int, float]]:
        """A token's feature ids, and by their places the values that are not one."""
        others: dict[int, float] = {}
        if isinstance(token, dict):
            unknown: list[tuple[Any, Any]] = []
            try:
                ids = strings.known_entries(token, self.seen, unknown)
            except TypeError:  # a list or a dict among the values
                ids, unknown = [], list(token.items())
            for name, value in unknown:
                if isinstance(name, str) and isinstance(value, str):
                    ids.append(self._remembered(name, value, f"{name}:{value}"))
                else:
                    self._add(name, value, ids, others)
            if not (unknown or self.ambiguous):
                return ids, others
        elif isinstance(token, Mapping):  # another kind than dict
            return self.of(dict(token))
        else:
            ids = [self.number(name) for name in _strings(token, "a token")]
        if -1 in ids or len(set(ids)) < len(ids):
            sums: dict[int, float] = {}
            for place, feature in enumerate(ids):
                if feature >= 0:
                    sums[feature] = sums.get(feature, 0.0) + others.get(place, 1.0)
            ids = list(sums)
            others = {
                at: _number(sum_, "a feature given twice")
                for at, sum_ in enumerate(sums.values())
                if sum_ != 1.0
            }
        return ids, others

    def _remembered(self, name: str, value: Any, feature: str) -> int:
        """The number of an entry's one feature, kept for the next time."""
        number = self.seen.setdefault(name, {})[value] = self.number(feature)
        if number >= 0 and self.spelled.setdefault(number, name) != name:
            self.ambiguous = True
        return number

    def _add(self, name: Any, value: Any, ids: list[int], others: dict[int, float]) -> None:
        """Add the features of an entry whose value is not a string."""
        named = list(_named(name, value))
        if isinstance(value, Real) and not named:
            self.seen.setdefault(name, {})[value] = -1
        for feature, weight in named:
            if weight != 1.0:
                others[len(ids)] = weight
                ids.append(self.number(feature))
            elif isinstance(value, Real):
                ids.append(self._remembered(name, value, feature))
            else:
                ids.append(self.number(feature))


def _encode(sentences: Sequence[Sequence[Any]], entries: _Entries) -> Encoded:
    """Number every feature, leaving out what has no number."""
    features: list[int] = []
    ends: list[int] = [0]
    # Where a value is not one, and what it is.
    places: list[int] = []
    values: list[float] = []
    for s, sentence in enumerate(sentences, 1):
        for i, token in enumerate(sentence, 1):
            try:
                ids, others = entries.of(token)
            except SeqpaError as error:
                raise SeqpaError(f"sentence {s}, token {i}: {error}") from None
            if others:
                places += [len(features) + place for place in others]
                values += others.values()
            features += ids
            ends.append(len(features))
    encoded = Encoded(
        starts_of(map(len, sentences), len(ends) - 1),
        np.array(ends, np.int64),
        np.array(features, np.int32),
    )
    if places:
        encoded.values = np.ones(len(features), np.float32)
        encoded.values[places] = values
    return encoded


def _named(name: Any, value: Any) -> Iterator[tuple[str, float]]:
    """The features of one entry of a dict, with their values; those of the value zero left out."""
    if not isinstance(name, str):
        raise SeqpaError(f"a feature's name is a string, not {name!r}")
    if isinstance(value, str):
        yield f"{name}:{value}", 1.0
    elif isinstance(value, (Real, np.bool_)):
        weight = _number(value, f"feature {name!r}")
        if weight != 0.0:
            yield name, weight
    elif isinstance(value, dict):
        for inner, inner_value in value.items():
            if not isinstance(inner, str):
                raise SeqpaError(f"a feature's name is a string, not {inner!r} in {name!r}")
            yield from _named(f"{name}:{inner}", inner_value)
    else:
        for inner in _strings(value, f"feature {name!r}"):
            yield f"{name}:{inner}", 1.0


def _strings(value: Any, what: str) -> list[str]:
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise SeqpaError(f"{what} cannot be {value!r}: give {_EXPECTED[what == 'a token']}")
    for item in value:
        if not isinstance(item, str):
            raise SeqpaError(f"{what} has {item!r} in its list: give strings")
    # A set's own order changes from run to run.
    return sorted(value) if isinstance(value, (set, frozenset)) else list(value)


_EXPECTED = (
    "a string, a number, True or False, or a dict or list of such",
    "a dict of features or a list of feature strings",
)


def _number(value: Any, what: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= _LARGEST:  # NaN too
        raise SeqpaError(
            f"{what} has the value {number}: give a finite number between -1e10 and 1e10"
        )
    return number


def _with_features(encoded: Encoded, mask: NDArray[np.bool_]) -> Encoded:
    """Leave out the features that are not in the mask and renumber the others."""
    there = mask[encoded.features]
    numbers = np.cumsum(mask) - 1
    return Encoded(
        encoded.starts,
        np.concatenate([[0], np.cumsum(there)])[encoded.indptr],
        numbers[encoded.features[there]].astype(np.int32),
        None if encoded.values is None else encoded.values[there],
    )
