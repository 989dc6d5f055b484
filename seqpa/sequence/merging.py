"""The features of text that lies in parts: found in each part, merged, numbered once.

What `FeatureSource.learn` does to a corpus that one process holds goes here in four steps, of which
the first and the third are made for each part by itself, wherever it lies: `survey` collects its
words, `with_words` makes all words known, `number` finds its features, `with_features` makes all
features known. What comes of two parts is merged in the order of the parts, so that the numbers are
those which the whole text would give, whoever was done first.

Only `tags` and `besttag` see something else: a token's entry leaves out a tenth of its part, not a
tenth of the text. With one part everything is as `learn` has it, number by number.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.sequence.dicts import DictEncoder
from seqpa.sequence.encode import Encoded, FeatureEncoder
from seqpa.sequence.inputs import FeatureSource, documents_of
from seqpa.sequence.resources import pack_strings
from seqpa.sequence.seen import SeenText
from seqpa.sequence.tables import FeatureTable
from seqpa.sequence.tag_dictionary import Counts, TagDictionary
from seqpa.sequence.training import Labels

Place = tuple[int, int]  # a column, and an attribute of it


@dataclass(slots=True)
class Survey:
    """What numbering needs to know of a part before any feature has a number.

    Attributes
    ----------
    words : list of lists of str
        The distinct words of each column, in the order of their first occurrence.
    tags : {column: {word: {label: count}}}
        Where templates look at the labels that words had.
    seen : uint32 array
        Marks of the sentences.
    """

    words: list[list[str]]
    tags: dict[int, dict[str, Counts]]
    seen: NDArray[np.uint32]


@dataclass(slots=True)
class FoundFeatures:
    """The features of a table, as `FeatureTable.described` has them, and how often each was seen.

    Attributes
    ----------
    which : int32 (features,)
    values : int64
    counts : int64 (features,)
    n_parts : int64 (templates,)
        How many values a feature of each template has.
    owners : int64 (parts of templates,)
        The place of the attribute that each part looks at.
    """

    which: NDArray[np.int32]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_parts: NDArray[np.int64]
    owners: NDArray[np.int64]


@dataclass(slots=True)
class Numbered:
    """The features of a part, in the order of their first occurrence.

    Attributes
    ----------
    tables : list of FoundFeatures
        Those of single labels, and those of label pairs where templates ask for some.
    names : {feature: count}
        Where tokens are features already.
    values : {(column, attribute): list of str}
        Values of `tags` and `besttag` that the known words do not have.
    first : {place: (column, attribute, number)}
        By the place of an attribute, the number that the first of these has.
    """

    tables: list[FoundFeatures] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    values: dict[Place, list[str]] = field(default_factory=dict)
    first: dict[int, tuple[int, int, int]] = field(default_factory=dict)


def survey(source: FeatureSource, X: Any, flat: Labels) -> Survey:
    """The words of a part.

    Parameters
    ----------
    source : FeatureSource
        One that knows nothing yet; it is left alone.
    X : list of sentences, or a corpus
    flat : sequence of str or None
        The labels of all tokens.

    Returns
    -------
    Survey
    """
    seen = SeenText()
    if not isinstance(source.encoder, FeatureEncoder):
        return Survey([], {}, seen.to_array())
    columns, lengths = source.cells(X, in_training=True)
    seen.add(columns[0], lengths.tolist())
    tags = {}
    for c, (column, cells) in enumerate(zip(source.encoder.word_columns, columns, strict=True)):
        if column.dictionary is not None:
            dictionary = TagDictionary()
            dictionary.add(cells, flat)
            tags[c] = dictionary.counts
    return Survey([list(dict.fromkeys(cells)) for cells in columns], tags, seen.to_array())


def merged_surveys(parts: Sequence[Survey]) -> Survey:
    """What several parts have together; the merged may be merged again.

    Parameters
    ----------
    parts : sequence of Survey
        In the order of the text.

    Returns
    -------
    Survey
    """
    words = [
        list(dict.fromkeys(chain.from_iterable(own)))
        for own in zip(*(p.words for p in parts), strict=True)
    ]
    tags = {}
    for c in parts[0].tags:
        dictionary = TagDictionary()
        for part in parts:
            dictionary.add_counts(part.tags[c])
        tags[c] = dictionary.counts
    marks = np.concatenate([part.seen for part in parts])
    return Survey(words, tags, SeenText(marks.tolist()).to_array())


def with_words(source: FeatureSource, found: Survey) -> FeatureSource:
    """A source that knows the words of all parts, and no feature.

    Parameters
    ----------
    source : FeatureSource
        One that knows nothing yet; it is left alone.
    found : Survey
        Of the whole text.

    Returns
    -------
    FeatureSource
    """
    made = copy.deepcopy(source)
    made.seen = SeenText.from_array(found.seen)
    if isinstance(made.encoder, FeatureEncoder):
        for c, (column, words) in enumerate(
            zip(made.encoder.word_columns, found.words, strict=True)
        ):
            if column.dictionary is not None:
                column.dictionary.add_counts(found.tags[c])
            if column.is_looked_at:
                column.learn({word: k for k, word in enumerate(words)})
    return made


def number(source: FeatureSource, X: Any, flat: Labels) -> tuple[Numbered, Encoded]:
    """The features of a part, and the part with numbers of its own.

    Parameters
    ----------
    source : FeatureSource
        Of `with_words`; it is left alone.
    X : list of sentences, or a corpus
    flat : sequence of str or None
        The labels of all tokens.

    Returns
    -------
    Numbered, Encoded
        `relabelled` gives it the numbers that the whole text has.
    """
    if not isinstance(source.encoder, FeatureEncoder):
        own = copy.deepcopy(source)
        own.encoder.cutoff = 1  # what is rare in a part need not be rare
        encoded = own.learn(X, flat)
        names = own.encoder.feature_names()
        counts = np.bincount(encoded.features, minlength=len(names))
        return Numbered(names=dict(zip(names, counts.tolist(), strict=True))), encoded
    encoder = source.encoder.without_features()
    before = {
        (c, k): len(column.values[k])
        for c, column in enumerate(encoder.word_columns)
        for k in column.learned
    }
    columns, lengths = source.cells(X, in_training=True)
    encoded = encoder.training_transform(columns, lengths, flat, documents_of(X), grow=True)
    tables = [_found(encoder.features, encoded.features)]
    if encoder.pairs is not None and encoded.pair_features is not None:
        tables.append(_found(encoder.pairs, encoded.pair_features))
    values = {
        (c, k): list(encoder.word_columns[c].values[k])[known:] for (c, k), known in before.items()
    }
    return Numbered(tables, {}, values, _first_values(encoder, before)), encoded


def _found(table: FeatureTable, features: NDArray[np.int32]) -> FoundFeatures:
    which, values = table.described()
    counts = np.bincount(features, minlength=table.size).astype(np.int64)
    return FoundFeatures(which, values, counts, table.n_parts, table.attribute)


def _first_values(
    encoder: FeatureEncoder, known: dict[Place, int]
) -> dict[int, tuple[int, int, int]]:
    """By the place of each learned attribute, and of each set of one: `Numbered.first`."""
    first = {}
    place = 0
    for c, column in enumerate(encoder.word_columns):
        for k in range(len(column.attributes)):
            if (c, k) in known:
                first[place] = c, k, encoder.edges + known[c, k]
            place += 1
    sets = encoder.places_of_sets.items()
    return first | {own: first[inner] for own, inner in sets if inner in first}


def merged_numbers(parts: Sequence[Numbered]) -> Numbered:
    """What several parts have together; the merged may be merged again.

    Parameters
    ----------
    parts : sequence of Numbered
        In the order of the text.

    Returns
    -------
    Numbered
    """
    names: Counter[str] = Counter()  # keeps the order of first occurrence
    for part in parts:
        for name, count in part.names.items():
            names[name] += count
    values = {
        place: list(dict.fromkeys(chain.from_iterable(part.values[place] for part in parts)))
        for place in parts[0].values
    }
    numbers = {place: {v: k for k, v in enumerate(own)} for place, own in values.items()}
    tables = [
        _merged([_renumbered(part, t, numbers) for part in parts])
        for t in range(len(parts[0].tables))
    ]
    return Numbered(tables, dict(names), values, parts[0].first)


def _renumbered(part: Numbered, t: int, numbers: dict[Place, dict[str, int]]) -> FoundFeatures:
    """A table of a part, with the numbers that its own values have among those of all."""
    table = part.tables[t]
    values = table.values.copy()
    ends = np.cumsum(table.n_parts[table.which])
    first_part = np.cumsum(table.n_parts) - table.n_parts
    sizes = table.n_parts[table.which]
    within = np.arange(len(values)) - np.repeat(ends - sizes, sizes)
    owners = table.owners[np.repeat(first_part[table.which], sizes) + within]
    for place, (c, k, first) in part.first.items():
        new = np.array([numbers[c, k][value] for value in part.values[c, k]], np.int64)
        own = np.flatnonzero((owners == place) & (values >= first))
        if len(own):
            values[own] = first + new[values[own] - first]
    return FoundFeatures(table.which, values, table.counts, table.n_parts, table.owners)


def _merged(parts: Sequence[FoundFeatures]) -> FoundFeatures:
    """Each feature once, in the order of first occurrence, with the sum of its counts."""
    n_parts = parts[0].n_parts
    which = np.concatenate([part.which for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    values = np.concatenate([part.values for part in parts])
    sizes = n_parts[which]
    begin = np.cumsum(sizes) - sizes
    sums = np.zeros(len(which), np.int64)
    kept = np.zeros(len(which), np.bool_)
    for t, width in enumerate(n_parts.tolist()):
        own = np.flatnonzero(which == t)
        if not len(own):
            continue
        rows = values[begin[own][:, None] + np.arange(width)]
        keys = rows[:, 0] if width == 1 else _as_one(rows)
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        kept[own[first]] = True
        sums[own[first]] = np.bincount(inverse.reshape(-1), counts[own]).astype(np.int64)
    return FoundFeatures(
        which[kept], values[np.repeat(kept, sizes)], sums[kept], n_parts, parts[0].owners
    )


def _as_one(rows: NDArray[np.int64], most: NDArray[np.int64] | None = None) -> NDArray[Any]:
    """A key for each row: one number where all values fit in, else its bytes.

    most : the largest value of each column, if not that of these rows
    """
    bases = [int(n) + 1 for n in (rows.max(axis=0) if most is None else most)]
    if math.prod(bases) < 2**63:
        key = rows[:, 0].copy()
        for column, n in zip(rows.T[1:], bases[1:], strict=True):
            key = key * n + column
        return key
    rows = np.ascontiguousarray(rows)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)


@dataclass(frozen=True, slots=True)
class Index:
    """The number that each feature of the whole text has, to be looked up.

    Attributes
    ----------
    tables : list of lists of (most, keys, numbers)
        For each table and template the largest values, the sorted keys of the features, and the
        number of each: -1 where it is rarer than the cutoff.
    names : {feature: number}
        Where tokens are features already.
    values : {(column, attribute): {value: number}}
        As `Numbered.values`.
    """

    tables: list[list[tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int32]]]]
    names: dict[str, int]
    values: dict[Place, dict[str, int]]


def indexed(found: Numbered, cutoff: int) -> Index:
    """What `relabelled` looks numbers up in: those that `with_features` gives.

    Parameters
    ----------
    found : Numbered
        Of the whole text.
    cutoff : int
        Leave out features seen fewer times.

    Returns
    -------
    Index
    """
    tables = []
    for table in found.tables:
        enough = table.counts >= cutoff
        numbers = np.where(enough, np.cumsum(enough) - 1, -1).astype(np.int32)
        own = []
        for features, rows in _by_template(table):
            most = rows.max(axis=0, initial=0)
            keys = _as_one(rows, most)
            order = np.argsort(keys, kind="stable")
            own.append((most, keys[order], numbers[features[order]]))
        tables.append(own)
    names = [name for name, count in found.names.items() if count >= cutoff]
    values = {place: {v: k for k, v in enumerate(own)} for place, own in found.values.items()}
    return Index(tables, {name: i for i, name in enumerate(names)}, values)


def relabelled(own: Numbered, encoded: Encoded, index: Index) -> Encoded:
    """A part with the numbers of the whole text, as `FeatureSource.again` encodes it.

    Parameters
    ----------
    own : Numbered
        Of the part.
    encoded : Encoded
        With its own numbers.
    index : Index

    Returns
    -------
    Encoded
    """
    if not own.tables:
        new = np.array([index.names.get(name, -1) for name in own.names], np.int32)
        return Encoded(
            encoded.starts, *_renamed(new, encoded.indptr, encoded.features, encoded.values)
        )
    found = [
        _looked_up(_renumbered(own, t, index.values), index.tables[t])
        for t in range(len(own.tables))
    ]
    made = Encoded(
        encoded.starts, *_renamed(found[0], encoded.indptr, encoded.features, encoded.values)
    )
    if len(found) == 1 or encoded.pair_indptr is None or encoded.pair_features is None:
        return made
    pairs = _renamed(found[1], encoded.pair_indptr, encoded.pair_features, encoded.pair_values)
    return replace(made, pair_indptr=pairs[0], pair_features=pairs[1], pair_values=pairs[2])


def _by_template(table: FoundFeatures) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Of each template, which features are its own, and a row of values for each."""
    sizes = table.n_parts[table.which]
    begin = np.cumsum(sizes) - sizes
    for t, width in enumerate(table.n_parts.tolist()):
        own = np.flatnonzero(table.which == t)
        yield own, table.values[begin[own][:, None] + np.arange(width)]


def _looked_up(
    table: FoundFeatures, whole: list[tuple[NDArray[np.int64], NDArray[Any], NDArray[np.int32]]]
) -> NDArray[np.int32]:
    """The number of each feature of a part among those of the text."""
    found = np.full(len(table.which), -1, np.int32)
    for (features, rows), (most, keys, numbers) in zip(_by_template(table), whole, strict=True):
        if len(features):
            found[features] = numbers[np.searchsorted(keys, _as_one(rows, most))]
    return found


def _renamed(
    new: NDArray[np.int32],
    indptr: NDArray[np.int64],
    features: NDArray[np.int32],
    values: NDArray[np.float32] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None]:
    """Features with new numbers, without those whose number is -1."""
    features = new[features]
    if new.min(initial=0) < 0:
        there = features >= 0
        indptr = np.concatenate([[0], np.cumsum(there)])[indptr]
        features = features[there]
        values = None if values is None else values[there]
    return indptr, features, values


def with_features(source: FeatureSource, found: Numbered, cutoff: int) -> FeatureSource:
    """The source that the whole text teaches.

    Parameters
    ----------
    source : FeatureSource
        Of `with_words`; it is left alone.
    found : Numbered
        Of the whole text.
    cutoff : int
        Leave out features seen fewer times.

    Returns
    -------
    FeatureSource
    """
    made = copy.deepcopy(source)
    if not isinstance(made.encoder, FeatureEncoder):
        names = [name for name, count in found.names.items() if count >= cutoff]
        header = {"encoder": "dicts", "cutoff": cutoff}
        made.encoder = DictEncoder.from_arrays(pack_strings("features", names), header)
        return made
    for (c, k), own in found.values.items():
        values = made.encoder.word_columns[c].values[k]
        for value in own:
            values.setdefault(value, len(values))
    described = []
    for table in found.tables:
        enough = table.counts >= cutoff
        values_kept = table.values[np.repeat(enough, table.n_parts[table.which])]
        described.append((table.which[enough], values_kept))
    made.encoder.enter(described)
    return made
