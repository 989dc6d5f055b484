"""Tokens that already are features: dicts or lists of strings, as sklearn-crfsuite takes them.

    {"word": "dog"}              the feature word:dog
    {"length": 2.5}              the feature length with the value 2.5
    {"first": True}              first, value 1; False is the value 0, which counts for nothing
    {"suffix": {"2": "og"}}      suffix:2:og
    {"in": ["list", "lexicon"]}  in:list and in:lexicon
    ["word:dog", "first"]        these, each with the value 1; also a tuple, a set, keys of a dict

Bytes in place of strings are UTF-8. A feature that a token has twice counts with the sum of its
values.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import compress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa._kernel.given_features import (
    AHEAD,
    ALL_READ,
    LARGEST,
    PARTS_FULL,
    REMEMBERED,
    ROW,
    TOGETHER,
    WHOLE_FULL,
    FeatureNames,
    FeatureReader,
)
from seqpa.errors import SeqpaError
from seqpa.locks import ForkSafeLock
from seqpa.sequence.encode import Encoded, place, starts_of
from seqpa.sequence.resources import Arrays, pack_strings, unpack_strings

_GUESS = 32  # features of a token, for the first buffers


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
        self._lock = ForkSafeLock()
        self._known = _known([])

    @property
    def n_features(self) -> int:
        """How many features are known."""
        return len(self._known.names)

    def fit_transform(self, sentences: Sequence[Sequence[Any]]) -> Encoded:
        """Learn the features of a corpus, forgetting all earlier ones, and encode it."""
        self._known = _known([])
        return self.extend_transform(sentences)

    def extend_transform(self, sentences: Sequence[Sequence[Any]]) -> Encoded:
        """Encode a corpus; what is new in it gets new ids behind the old, which never change.

        A new feature must reach the cutoff within this corpus.
        """
        before = self.n_features
        try:
            encoded = self._encode(sentences, grow=True)
        except BaseException:
            self._known.forget(self.n_features - before)
            raise
        if self.cutoff > 1:
            enough = np.bincount(encoded.features, minlength=self.n_features) >= self.cutoff
            enough[:before] = True
            new = self._known.forget(self.n_features - before)
            for name in compress(new, enough[before:].tolist()):
                self._number(name, grow=True)
            encoded = _with_features(encoded, enough)
        return encoded

    def transform(self, sentences: Sequence[Sequence[Any]]) -> Encoded:
        """Encode with the features that are known; others are left out. Safe from many threads."""
        return self._encode(sentences, grow=False)

    def settle(self) -> None:
        """Nothing is left to do after an `extend_transform` that was interrupted."""

    def _encode(self, sentences: Sequence[Sequence[Any]], grow: bool) -> Encoded:
        """Number every feature; a new one gets the next number with `grow`, else is left out."""
        lists = [own if type(own) is list else list(own) for own in sentences]
        n_tokens = sum(map(len, lists))
        starts = starts_of(map(len, lists), n_tokens)
        reading = Reading(self, grow, n_tokens)
        reading.read(lists, n_tokens)
        n = int(reading.ends[n_tokens])
        values = reading.values[:n] if reading.has_values else None
        return Encoded(starts, reading.ends, reading.features[:n], values)

    @property
    def known(self) -> FeatureNames:
        """The features, as the kernel finds them; `fit_transform` begins with others."""
        return self._known

    def slowly(self, token: Any, grow: bool) -> tuple[list[int], list[float]]:
        """The numbers and values of any token's features; the values of a repeated one are added
        up."""
        sums: dict[int, float] = {}
        for feature, value in features_of(token):
            if value == 0.0:
                continue
            number = self._number(feature, grow)
            if number >= 0:
                sums[number] = sums.get(number, 0.0) + value
        return list(sums), [_number(value, "a feature given twice") for value in sums.values()]

    def _number(self, feature: str, grow: bool) -> int:
        """The number of a feature, −1 for none; with `grow` the next one."""
        if not self._known.has_whole(1 if grow else 0):
            self.enlarge(WHOLE_FULL, 1 if grow else 0)
        return int(self._known.number_of(feature, grow))

    def enlarge(self, table: int, more: int) -> None:
        """Enter all features into a larger table, with room for so many more."""
        known = self._known
        with self._lock:  # of many threads that tag, one makes it
            total = len(known.names) + more
            # Two numbers for each slot; twice as many slots as features, four times while it grows.
            slots = np.zeros(2 << ((4 if more else 2) * total + 1).bit_length(), np.int64)
            if table == WHOLE_FULL:
                known.use_whole(slots)
            else:
                known.use_parts(slots)

    def __getstate__(self) -> dict[str, Any]:
        """Names and cutoff: the tables are of one process, whose hashes are its own."""
        return {"cutoff": self.cutoff, "names": self.feature_names()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.cutoff = state["cutoff"]
        self._lock = ForkSafeLock()
        self._known = _known(state["names"])

    def feature_names(self) -> list[str]:
        """Every feature, by id."""
        return list(self._known.names)

    def feature_name(self, feature: int) -> str:
        """One feature."""
        return str(self._known.names[feature])

    def pair_feature_name(self, feature: int) -> str:
        """There is none: features that are given are not of label pairs."""
        raise IndexError(feature)

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
        if len(set(names)) != len(names):
            raise SeqpaError("damaged model: a feature is there twice")
        encoder._known = _known(names)
        return encoder


class Reading:
    """Buffers in which the kernel reads tokens, once or again and again; each thread has its own.

    Parameters
    ----------
    encoder : DictEncoder
    grow : bool
        Whether new features get the next numbers.
    n_tokens : int
        There is room for so many.

    Attributes
    ----------
    ends, features, values
        Token i has the features features[ends[i]:ends[i + 1]], with these values if any is not 1.
    """

    def __init__(self, encoder: DictEncoder, grow: bool, n_tokens: int) -> None:
        self._encoder = encoder
        self._grow = grow
        self.known = encoder.known
        self.ends = np.zeros(n_tokens + 1, np.int64)
        # Memory is taken when it is written to: what the guess is above the need costs nothing.
        self.features = np.empty(_GUESS * n_tokens, np.int32)
        self.values = np.empty(_GUESS * n_tokens, np.float32)
        self._reader = FeatureReader(
            known=self.known,
            grow=grow,
            ends=self.ends,
            slowly=lambda token: encoder.slowly(token, grow),
            items=np.zeros(AHEAD * 2 * ROW, np.int64),
            places=np.zeros(AHEAD * ROW, np.int64),
            at=np.zeros(AHEAD * ROW, np.int64),
            weights=np.zeros(AHEAD * ROW),
            sizes=np.zeros(AHEAD, np.int64),
            lists=np.zeros(AHEAD, np.uint8),
            seen=np.zeros(REMEMBERED, np.int64),
            flags=np.zeros(REMEMBERED, np.int64),
        )
        self._reader.use_buffers(self.features, self.values)

    @property
    def has_values(self) -> bool:
        """Whether any value is not 1."""
        return bool(self._reader.get_values())

    def read(self, sentences: list[list[Any]], n_tokens: int) -> None:
        """Read sentences of so many tokens in all."""
        reader = self._reader
        reader.begin(n_tokens)
        try:
            while (more := reader.read(sentences)) != ALL_READ:
                if more in (WHOLE_FULL, PARTS_FULL):
                    self._encoder.enlarge(more, TOGETHER if self._grow else 0)
                else:
                    self._enlarge(int(more))
        except SeqpaError as error:
            starts = starts_of(map(len, sentences), n_tokens)
            raise SeqpaError(f"{place(starts, reader.get_token())}: {error}") from None

    def _enlarge(self, more: int) -> None:
        """Have room for twice as many features, and so many more."""
        larger = len(self.features) + more
        self.features = np.concatenate([self.features, np.empty(larger, np.int32)])
        self.values = np.concatenate([self.values, np.empty(larger, np.float32)])
        self._reader.use_buffers(self.features, self.values)


def _known(names: list[str]) -> FeatureNames:
    """Features, in no table yet."""
    nothing = np.zeros(0, np.int64)
    return FeatureNames(names, nothing, nothing)


def features_of(token: Any) -> Iterator[tuple[str, float]]:
    """The features of one token with their values, zeros and repeated ones included.

    >>> list(features_of({"word": b"a", "in": {"x": 0.5, "y": False}}))
    [('word:a', 1.0), ('in:x', 0.5), ('in:y', 0.0)]
    """
    if isinstance(token, Mapping):
        for name, value in token.items():
            yield from _named(name, value)
    else:
        for name in _strings(token, "a token"):
            yield name, 1.0


def _named(name: Any, value: Any) -> Iterator[tuple[str, float]]:
    """The features of one entry of a dict, with their values."""
    if not isinstance(name, (str, bytes)):
        raise SeqpaError(f"a feature's name is a string, not {name!r}")
    name = _text(name)
    if isinstance(value, (str, bytes)):
        yield f"{name}:{_text(value)}", 1.0
    elif isinstance(value, (Real, np.bool_)):
        yield name, _number(value, f"feature {name!r}")
    elif isinstance(value, Mapping):
        for inner, inner_value in value.items():
            if not isinstance(inner, (str, bytes)):
                raise SeqpaError(f"a feature's name is a string, not {inner!r} in {name!r}")
            yield from _named(f"{name}:{_text(inner)}", inner_value)
    else:
        for inner in _strings(value, f"feature {name!r}"):
            yield f"{name}:{inner}", 1.0


def _strings(value: Any, what: str) -> list[str]:
    if not isinstance(value, Collection) or isinstance(value, (str, bytes, Mapping)):
        raise SeqpaError(f"{what} cannot be {value!r}: give {_EXPECTED[what == 'a token']}")
    for item in value:
        if not isinstance(item, (str, bytes)):
            raise SeqpaError(f"{what} has {item!r} in its list: give strings")
    texts = list(map(_text, value))
    # A set's own order changes from run to run.
    return sorted(texts) if isinstance(value, (set, frozenset)) else texts


def _text(value: str | bytes) -> str:
    """The characters alone: a subclass of str may format or compare oddly. Bytes are UTF-8."""
    if isinstance(value, str):
        return str.__str__(value)
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise SeqpaError(f"the feature {value!r} is not in UTF-8: {error.reason}") from None


_EXPECTED = (
    "a string, a number, True or False, or a dict or list of such",
    "a dict of features or a list of feature strings",
)


def _number(value: Any, what: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    # Weights and scores are float32, and a forbidden label has the score -1e30: values stay below.
    if not abs(number) <= LARGEST:  # NaN too
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
