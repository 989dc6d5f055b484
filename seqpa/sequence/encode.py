"""From columns of strings to integer arrays: where strings stop.

Everything goes by columns. A column's words are numbered once; each attribute is computed once for
each distinct word and its values are numbered; so a word leads to a handful of small integers, and
one compiled pass (`seqpa._kernel.template_features`) turns those of a token and its neighbours into
feature ids, template by template.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa._kernel import strings, template_features
from seqpa._kernel.runner import Runner
from seqpa.errors import SeqpaError
from seqpa.pages import give_back
from seqpa.sequence import attributes, elsewhere
from seqpa.sequence.budget import Budget
from seqpa.sequence.resources import (
    KINDS,
    Arrays,
    Lexicon,
    Resource,
    get_array,
    load,
    pack_strings,
    unpack_strings,
)
from seqpa.sequence.tables import FeatureNames, FeatureTable
from seqpa.sequence.tag_dictionary import Apart, apart_in_documents
from seqpa.sequence.templates import Attribute, Part, parse_all
from seqpa.sequence.word_tables import AttributeLayout, Column, NotAString


@dataclass(slots=True)
class Encoded:
    """A corpus as integers.

    Sentence s has the tokens starts[s] to starts[s + 1], token i the features
    features[indptr[i]:indptr[i + 1]], in the order of the templates, with `values` (None: all are
    one). The features of label pairs, numbered apart, look at the step from token i - 1 to i, and
    are None where no template asks for them.
    """

    starts: NDArray[np.int64]
    indptr: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[np.float32] | None = None
    pair_indptr: NDArray[np.int64] | None = None
    pair_features: NDArray[np.int32] | None = None
    pair_values: NDArray[np.float32] | None = None


def starts_of(lengths: Iterable[int], n_tokens: int) -> NDArray[np.int64]:
    """Where each sentence begins, and the end of the last.

    >>> starts_of([3, 0, 2], 5).tolist()
    [0, 3, 3, 5]
    """
    if isinstance(lengths, np.ndarray):
        own = np.ascontiguousarray(lengths, np.int64)
    else:
        own = np.fromiter(lengths, np.int64)
    starts = np.empty(len(own) + 1, np.int64)
    least = strings.starts(own, starts)
    if starts[-1] != n_tokens or least < 0:
        raise SeqpaError(
            f"the sentences' lengths sum to {starts[-1]}, but there are {n_tokens} tokens"
        )
    return starts


def place(starts: NDArray[np.int64], token: int) -> str:
    """A token of all, counted from 0, as messages name it.

    >>> place(np.array([0, 2, 2, 5]), 3)
    'sentence 3, token 2'
    """
    sentence = int(np.searchsorted(starts, token, side="right"))
    return f"sentence {sentence}, token {token - int(starts[sentence - 1]) + 1}"


class FeatureEncoder:
    """Turns columns of strings into features by templates.

    `templates` are strings of the template language, `columns` the names of the columns, the word
    first. `cutoff`: a feature seen fewer times in training is dropped. `resources`: the lexicons
    and clusters that the templates name, as objects or as the paths of their files.

    >>> encoder = FeatureEncoder(["word[0]", "word[-1]|suffix(1)[0]"])
    >>> corpus = encoder.fit_transform([["a", "dog", "a", "dig"]], [2, 2])
    >>> corpus.indptr.tolist(), corpus.features.tolist()
    ([0, 2, 4, 6, 8], [0, 1, 2, 3, 0, 1, 4, 3])
    >>> encoder.feature_names()
    ['word[0]=a', 'word[-1]=<-1>|suffix(1)[0]=a', 'word[0]=dog', 'word[-1]=a|suffix(1)[0]=g', \
'word[0]=dig']
    >>> encoder.transform([["a", "log"]], [2]).features.tolist()
    [0, 1, 3]
    """

    def __init__(
        self,
        templates: Iterable[str],
        columns: Sequence[str] = ("word",),
        cutoff: int = 1,
        resources: Mapping[str, Resource | str | Path] | None = None,
    ) -> None:
        self.templates = parse_all(templates, columns)
        self.columns = tuple(columns)
        self.cutoff = cutoff
        if not self.templates:
            raise SeqpaError("no templates: give at least one, such as 'word[0]'")
        if isinstance(cutoff, bool) or not isinstance(cutoff, int) or cutoff < 1:
            raise SeqpaError(f"cutoff is a whole number from 1 on, not {cutoff!r}")
        parts = [part for template in self.templates for part in template.parts]
        # Outside the sentence: one value for each distance before it and after it.
        shifts = [p.attribute.looks_at(self.columns)[2] for p in parts if p.attribute.is_set]
        self._edges = 2 * max(map(abs, [*shifts, *(part.offset for part in parts)]))
        self.resources: dict[str, Resource] = {}
        for part in parts:
            self._load_resource(part, resources or {})
        self._growing = False  # whether `extend_transform` has begun and not ended
        self._lay_out(list(dict.fromkeys(part.attribute for part in parts)))

    def _load_resource(self, part: Part, given: Mapping[str, Resource | str | Path]) -> None:
        kind = part.attribute.kind and attributes.kind_of(part.attribute.kind).resource
        if kind:
            name = str(part.attribute.arguments[0])
            if name not in self.resources:
                self.resources[name] = load(name, kind, given)
            elif not isinstance(self.resources[name], KINDS[kind]):
                raise SeqpaError(f"{name!r} cannot be both a lexicon and clusters")

    def _lay_out(self, used: list[Attribute]) -> None:
        """Give each attribute its place: column by column, then lexicons, then sets."""
        own: dict[str, list[Attribute]] = {name: [] for name in self.columns}
        self._lexicons: list[tuple[Lexicon, int]] = []
        in_context: list[Attribute] = []
        sets = [attribute for attribute in used if attribute.is_set]
        inner = [attribute.looks_at(self.columns) for attribute in sets]
        seen = [attribute for _, attribute, _ in inner if attribute is not None]
        for attribute in dict.fromkeys([*used, *seen]):
            if attribute.kind is not None and attributes.kind_of(attribute.kind).in_context:
                in_context.append(attribute)
            elif not attribute.is_set:
                own[attribute.column or self.columns[0]].append(attribute)
        self._words = [
            Column(name, own[name], self.resources, bool(sets) and name == self.columns[0])
            for name in self.columns
        ]
        in_columns = [a for column in self._words for a in column.attributes]
        self._attributes = in_columns + in_context + sets
        for attribute in in_context:
            lexicon = self.resources[str(attribute.arguments[0])]
            assert isinstance(lexicon, Lexicon)
            self._lexicons.append(
                (lexicon, self.columns.index(attribute.column or self.columns[0]))
            )
        self._layout = AttributeLayout(self._words, len(self._lexicons))
        place_of = {attribute: place for place, attribute in enumerate(self._attributes)}
        # What each set looks at: the mode, the place of the attribute (-1 for none), the shift.
        self._sets = {
            place_of[own_set]: (mode, -1 if seen_of is None else place_of[seen_of], shift)
            for own_set, (mode, seen_of, shift) in zip(sets, inner, strict=True)
        }
        # Whether what is seen of other tokens is what labels taught of them.
        self._sets_are_taught = any(
            seen_of.kind is not None and attributes.kind_of(seen_of.kind).learned is not None
            for seen_of in seen
        )
        pairs = [template for template in self.templates if template.pair]
        single = [template for template in self.templates if not template.pair]
        self.features = FeatureTable(single, place_of, self._edges, self._sets)
        self.pairs = FeatureTable(pairs, place_of, self._edges, self._sets) if pairs else None

    @property
    def reach(self) -> int:
        """How many tokens around a token are looked at beyond its sentence."""
        return elsewhere.WINDOW if self._sets else 0

    @property
    def word_columns(self) -> list[Column]:
        """The known words of each column, with their values."""
        return self._words

    @property
    def edges(self) -> int:
        """How many places outside the sentence come before the values of every attribute."""
        return self._edges

    @property
    def places_of_sets(self) -> dict[int, int]:
        """By place, the attributes whose values are those of another one, with its place."""
        found = self._sets.items()
        return {own: place for own, (mode, place, _) in found if mode == elsewhere.ATTRIBUTE}

    def enter(self, described: Sequence[tuple[NDArray[np.int32], NDArray[np.int64]]]) -> None:
        """Know exactly these features, for each table as `FeatureTable.described` has them."""
        for table, (which, values) in zip(self._tables(), described, strict=True):
            table.restore(which, values, self._n_values())

    def values_of_words(self, attribute: Attribute) -> NDArray[np.int32]:
        """The attribute's value of each known word of its column, by number; -1 where absent."""
        column = self._words[self.columns.index(attribute.column or self.columns[0])]
        return column.table[: len(column.words), column.place_of[attribute]]

    @property
    def n_features(self) -> int:
        """How many features are known."""
        return self.features.size

    @property
    def n_pair_features(self) -> int:
        """How many features of label pairs are known."""
        return self.pairs.size if self.pairs else 0

    @property
    def learns_tags(self) -> bool:
        """Whether a template looks at the labels that words had in training."""
        return any(column.dictionary is not None for column in self._words)

    def fit_transform(
        self,
        columns: Sequence[Sequence[str]],
        lengths: Iterable[int],
        labels: Sequence[str | None] | None = None,
        documents: NDArray[np.int64] | None = None,
        n_jobs: int = 1,
    ) -> Encoded:
        """Learn the features of a corpus, forgetting all earlier ones, and encode it.

        `columns` has one flat list of strings per column; `lengths` are the sentences'. `labels`,
        one for each token, are needed where templates have `tags` or `besttag`. `documents`:
        sentences that follow each other with one number are one document; None: all are. `n_jobs`:
        threads, which change nothing but the time that it takes.
        """
        self._lay_out(list(dict.fromkeys(self._attributes)))
        return self.extend_transform(columns, lengths, labels, documents, n_jobs=n_jobs)

    def extend_transform(
        self,
        columns: Sequence[Sequence[str]],
        lengths: Iterable[int],
        labels: Sequence[str | None] | None = None,
        documents: NDArray[np.int64] | None = None,
        online: bool = False,
        n_jobs: int = 1,
    ) -> Encoded:
        """Encode a corpus; what is new in it gets new ids behind the old, which never change.

        A new feature must reach the cutoff within this corpus. `online`: the labels are not yet
        learned by the tag dictionary; call `remember` when the sentences are.
        """
        starts = self._check(columns, lengths, labels)
        self._growing = True
        words, found = self._numbered(columns, starts, documents, True, labels, online)
        encoded = self._encode(words, starts, found, grow=True, n_jobs=n_jobs)
        self._growing = False
        return encoded

    def without_features(self) -> FeatureEncoder:
        """An encoder with the same words and no feature, which keeps all it sees from now on.

        The words are shared, so that this costs nothing; what labels teach is not, and neither is
        changed by the other where all words are known.
        """
        made = copy.copy(self)
        made.cutoff = 1
        made._words = [column.apart() for column in self._words]
        made._layout = AttributeLayout(made._words, len(self._lexicons))
        for name, table in zip(_TABLES, self._tables(), strict=False):
            own = copy.copy(table)
            own.clear()
            setattr(made, name, own)
        return made

    def training_transform(
        self,
        columns: Sequence[Sequence[str]],
        lengths: Iterable[int],
        labels: Sequence[str | None] | None = None,
        documents: NDArray[np.int64] | None = None,
        grow: bool = False,
        apart: Sequence[Apart | None] | None = None,
    ) -> Encoded:
        """Encode the corpus of `fit_transform` once more as it did.

        grow : where the words are known and their features are not, number these
        apart : for a piece of the corpus, instead of labels: what each column's tag dictionary says
            of its block
        """
        starts = self._check(columns, lengths, labels if apart is None else ())
        self._growing = True  # a file may lack values that its corpus has
        words, found = self._numbered(columns, starts, documents, False, labels, apart=apart)
        self.settle()
        return self._encode(words, starts, found, grow)

    def remember(self, columns: Sequence[Sequence[str]], labels: Sequence[str | None]) -> None:
        """Let the tag dictionary learn the labels of sentences that were learned online."""
        self._growing = True
        self._teach(columns, labels)
        self.settle()

    def _teach(
        self,
        columns: Sequence[Sequence[str]],
        labels: Sequence[str | None],
        numbered: Sequence[tuple[dict[str, int], NDArray[np.int32]]] = (),
    ) -> None:
        for c, (column, words) in enumerate(zip(self._words, columns, strict=True)):
            own = numbered[c] if numbered else ()
            self._layout.changed(c, column.remember(words, labels, *own))

    def settle(self) -> None:
        """Give every value its place, also after an `extend_transform` that was interrupted: words
        may be known that no feature has been looked for with yet."""
        if self._growing:
            for table in self._tables():
                table.reserve_values(self._n_values())
            self._growing = False

    def transform(
        self,
        columns: Sequence[Sequence[str]],
        lengths: Iterable[int],
        walk: template_features.Table | None = None,
        documents: NDArray[np.int64] | None = None,
    ) -> Encoded:
        """Encode with the features that are known; others are left out. Safe from many threads.

        walk : of `FeatureTable.walk`, to leave out features that others stand for.
        """
        starts = self._check(columns, lengths)
        words, found = self._numbered(columns, starts, documents, False)
        return self._encode(words, starts, found, False, walk)

    def _check(
        self,
        columns: Sequence[Sequence[str]],
        lengths: Iterable[int],
        labels: Sequence[str | None] | None = (),
    ) -> NDArray[np.int64]:
        if labels is None and self.learns_tags:
            raise SeqpaError("the templates have tags or besttag: labels are needed in training")
        if len(columns) != len(self.columns):
            names = ", ".join(self.columns)
            raise SeqpaError(
                f"{len(columns)} columns where {len(self.columns)} are expected: {names}"
            )
        starts = starts_of(lengths, len(columns[0]))
        for name, words in zip(self.columns, columns, strict=True):
            if len(words) != len(columns[0]):
                raise SeqpaError(
                    f"column {name!r} has {len(words)} tokens, the first {len(columns[0])}"
                )
        return starts

    def _numbered(
        self,
        columns: Sequence[Sequence[str]],
        starts: NDArray[np.int64],
        documents: NDArray[np.int64] | None,
        learn: bool,
        labels: Sequence[str | None] | None = None,
        online: bool = False,
        apart: Sequence[Apart | None] | None = None,
    ) -> tuple[template_features.Words, int]:
        """The tokens' words by number in each column, what lexicons mark, and where else words
        stand; and how many such places there are.

        Words are learned when all columns have been looked at: bad input changes nothing. With
        `labels`, as training sees them.
        """
        ids = self.buffer_for_words(len(columns[0]))
        fresh = []
        for column, words, row in zip(self._words, columns, ids, strict=False):
            try:
                fresh.append(column.number(words, row))
            except NotAString as error:
                i, word = error.args
                raise _not_a_string(column, i, word, starts) from None
        self._mark(ids, columns, starts)
        teaches = labels is not None and self.learns_tags
        if learn:
            if labels is not None and teaches and not online:
                self._teach(columns, labels, list(zip(fresh, ids, strict=False)))
            for column, own in zip(self._words, fresh, strict=True):
                if own:
                    column.learn(own)
        if apart is not None and self.learns_tags:
            rows = [
                column.values_apart(words, own)
                for column, words, own in zip(self._words, columns, apart, strict=True)
            ]
            found = self._layout.training_words(ids, rows)
        elif teaches and labels is not None:
            rows = [
                column.training_values(words, labels, starts, online)
                for column, words in zip(self._words, columns, strict=True)
            ]
            found = self._layout.training_words(ids, rows)
            if self._sets_are_taught:
                documents = apart_in_documents(documents, len(starts) - 1, online)
        else:
            found = self.words(ids)
        unknown: list[list[str]] = [[] if learn else list(own) for own in fresh]
        if any(unknown):
            values = [c.values_of(own) for c, own in zip(self._words, unknown, strict=True)]
            self._layout.add_unknown(found, values)
        return found, self._add_elsewhere(found, ids[0], unknown[0], starts, documents)

    def _add_elsewhere(
        self,
        words: template_features.Words,
        ids: NDArray[np.int32],
        unknown: Sequence[str],
        starts: NDArray[np.int64],
        documents: NDArray[np.int64] | None,
    ) -> int:
        """Find where else the words of the first column stand, if a template asks."""
        column = self._words[0]
        if column.keys is None:
            return 0
        keys, asking = column.keys.of(ids, len(column.words), unknown)
        return elsewhere.add_to(words, keys, asking, starts, documents)

    def buffer_for_words(self, n_tokens: int) -> NDArray[np.int32]:
        """A buffer for the words' numbers in each column, and for each lexicon's marks: zeros."""
        return np.zeros((len(self._words) + len(self._lexicons), n_tokens), np.int32)

    def words(self, ids: NDArray[np.int32]) -> template_features.Words:
        """The kernel's view of tokens whose words have these numbers."""
        return self._layout.words(ids)

    @property
    def sees_words_alone(self) -> bool:
        """Whether templates look at nothing but the words of a sentence, one by one."""
        return not self._sets and not self._lexicons

    def set_unknown(
        self, words: template_features.Words, values: Sequence[NDArray[np.int32]]
    ) -> None:
        """The values of words that are not known, of each column as `Column.values_of` has them."""
        self._layout.add_unknown(words, values)

    def number_run(
        self,
        runner: Runner,
        ids: NDArray[np.int32],
        words: template_features.Words,
        columns: Sequence[list[str]],
        starts: NDArray[np.int64],
        documents: NDArray[np.int64] | None,
        run: slice,
    ) -> None:
        """Number the words of the sentences `run` for a runner over `ids` and `words`."""
        begin, end = int(starts[run.start]), int(starts[run.stop])
        unknown: list[list[str]] = []
        for c, (column, cells) in enumerate(zip(self._words, columns, strict=True)):
            fresh: dict[str, int] = {}
            if column.is_looked_at or not {str}.issuperset(map(type, cells[begin:end])):
                wrong = runner.number(c, cells, begin, end, column.words, fresh)
                if wrong >= 0:
                    raise _not_a_string(column, wrong, cells[wrong], starts)
            unknown.append(list(fresh) if column.computes or column.keys is not None else [])
        if self._sets:
            places = starts[run.start : run.stop + 1] - begin
            own_documents = None if documents is None else documents[run]
            tokens = ids[0, : end - begin]
            self._add_elsewhere(words, tokens, unknown[0], places, own_documents)
        if self._lexicons:
            own = [cells[begin:end] for cells in columns]
            self._mark(ids, own, starts[run.start : run.stop + 1] - begin)
        if any(unknown):
            values = [c.values_of(own) for c, own in zip(self._words, unknown, strict=True)]
            self._layout.add_unknown(words, values)

    def _mark(
        self,
        ids: NDArray[np.int32],
        columns: Sequence[Sequence[str]],
        starts: NDArray[np.int64],
    ) -> None:
        """Write what the lexicons mark behind the words' numbers."""
        for row, (lexicon, c) in zip(ids[len(self._words) :], self._lexicons, strict=True):
            words = list(map(str.__str__, columns[c]))  # subclasses of str may compare oddly
            row[: len(words)] = lexicon.mark(words, starts.tolist())

    def _n_values(self) -> NDArray[np.int64]:
        sizes = [len(values) for column in self._words for values in column.values]
        sizes += [len(attributes.KINDS["lexicon"].in_context)] * len(self._lexicons)
        for mode, place, _ in self._sets.values():
            sizes.append(elsewhere.n_values(mode, 0 if place < 0 else sizes[place]))
        return np.array(sizes, np.int64) + self._edges

    def _encode(
        self,
        words: template_features.Words,
        starts: NDArray[np.int64],
        places: int,
        grow: bool,
        walk: template_features.Table | None = None,
        n_jobs: int = 1,
    ) -> Encoded:
        found = self._of("features", words, starts, places, grow, walk, n_jobs)
        own = starts - starts[0] if starts[0] else starts
        if self.pairs is None:
            return Encoded(own, *found)
        pairs = self._of("pairs", words, starts, places, grow, None, n_jobs)
        return Encoded(own, *found, None, *pairs)

    def _of(
        self,
        name: str,
        words: template_features.Words,
        starts: NDArray[np.int64],
        places: int,
        grow: bool,
        walk: template_features.Table | None,
        n_jobs: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        table: FeatureTable = getattr(self, name)
        known = table.size
        if grow:
            table.reserve_values(self._n_values())
        parts = _parts(starts, n_jobs) if grow and n_jobs > 1 else []
        if len(parts) > 1:
            indptr, features = table.encode_parts(words, parts, places)
        else:
            indptr, features = table.encode(words, starts, grow, walk, places)
        if grow and self.cutoff > 1 and table.size > known:
            enough = np.bincount(features, minlength=table.size) >= self.cutoff
            enough[:known] = True
            ids = numbered(enough)
            setattr(self, name, table.kept(ids, self._n_values()))
            new_ids = ids[features]
            there = new_ids >= 0
            indptr = np.concatenate([[0], np.cumsum(there)])[indptr]
            features = new_ids[there]
        return indptr, features

    def drop_rare(self, counts: list[NDArray[np.uint32]]) -> list[NDArray[np.int32]]:
        """Forget the features that were seen fewer times than the cutoff.

        counts : how often each feature of each table was seen; used up
        Returns the new number of each, -1 where it is forgotten.
        """
        found = []
        for name, table in zip(_TABLES, self._tables(), strict=False):
            seen = counts.pop(0)
            if table.budget is not None:
                table.budget.check(9 * table.size, "the features")
            enough = np.zeros(table.size, np.bool_)
            np.greater_equal(seen[: table.size], self.cutoff, out=enough[: len(seen)])
            give_back(seen)
            found.append(numbered(enough))
            setattr(self, name, table.kept(found[-1], self._n_values()))
        return found

    def within(self, budget: Budget | None) -> None:
        """Let the tables of features grow by what a budget has left, or again as they like."""
        for table in self._tables():
            table.budget = budget

    @property
    def bytes_a_word(self) -> int:
        """About how many bytes learning a distinct word takes, its labels included: measured."""
        n_attributes = sum(len(column.attributes) for column in self._words)
        return 100 + 25 * n_attributes + 400 * self.learns_tags

    def put_on_disk(self, folder: str | Path | None) -> None:
        """Keep the tables of features in files without a name, while they are seldom needed."""
        for table in self._tables():
            table.put_on_disk(folder)

    def described_size(self) -> int:
        """About how many bytes more writing a model or a state takes, for a moment."""
        return sum(table.described_size for table in self._tables())

    def composed_size(self) -> int:
        """About how many bytes more tagging takes when it begins, but for weights."""
        return sum(table.composed_size for table in self._tables())

    def feature_names(self) -> list[str]:
        """Every feature as a string, by id; <-1> is one before the sentence, <+2> two after it."""
        return list(self._names(self.features))

    def feature_name(self, feature: int) -> str:
        """One feature as a string."""
        return self._names(self.features)[feature]

    def pair_feature_names(self) -> list[str]:
        """Every feature of label pairs as a string, by id."""
        return list(self._names(self.pairs)) if self.pairs else []

    def pair_feature_name(self, feature: int) -> str:
        """One feature of label pairs as a string."""
        if self.pairs is None:
            raise IndexError(feature)
        return self._names(self.pairs)[feature]

    def _names(self, table: FeatureTable) -> FeatureNames:
        if table.names is None:
            texts = [list(values) for column in self._words for values in column.values]
            texts += [list(attributes.KINDS["lexicon"].in_context)] * len(self._lexicons)
            for mode, place, _ in self._sets.values():
                texts.append(elsewhere.value_texts(mode, [] if place < 0 else texts[place]))
            table.names = FeatureNames(table, texts)
        return table.names

    def _tables(self) -> list[FeatureTable]:
        return [self.features, *([self.pairs] if self.pairs else [])]

    def to_arrays(
        self, keep: ArrayLike | None = None, keep_pairs: ArrayLike | None = None
    ) -> tuple[Arrays, dict[str, Any]]:
        """Everything this encoder knows, as arrays and a header that JSON can hold.

        With masks: only these features, and of label pairs only these, renumbered in the old order,
        without the words and values that no remaining feature needs.
        """
        described = []
        for table, given in zip(self._tables(), (keep, keep_pairs), strict=False):
            mask = None if given is None else np.asarray(given)
            if mask is not None and (mask.dtype != np.bool_ or mask.shape != (table.size,)):
                raise SeqpaError(f"keep is a mask of {table.size} booleans, one for each feature")
            described.append((table, table.description(None if mask is None else numbered(mask))))
        # Of the values of all attributes, one attribute's behind the other's: which are kept?
        sizes = self._n_values()
        first = np.cumsum(sizes) - sizes
        used = np.full(sizes.sum(), keep is None and keep_pairs is None)
        for table, found in described:
            for which, values in found.pieces():
                used[first[table.attributes_of(which)] + values] = True
        masks_of = np.split(used, first[1:])
        for own_set, (mode, place, _) in self._sets.items():
            if mode == elsewhere.ATTRIBUTE:
                masks_of[place] |= masks_of[own_set]
            elif mode == elsewhere.CASE:
                masks_of[place][:] = True
        of_attribute = iter(masks_of)
        arrays: Arrays = {}
        for c, column in enumerate(self._words):
            masks = [next(of_attribute)[self._edges :] for _ in column.attributes]
            words, values_of, arrays[f"column{c}.cells"] = column.kept(masks)
            if column.dictionary is not None:
                arrays |= column.dictionary.to_arrays(f"column{c}.dictionary")
            arrays |= pack_strings(f"column{c}.words", words)
            for k, own in enumerate(values_of):
                if own is not None:
                    arrays |= pack_strings(f"column{c}.values{k}", own)
        for own_values in masks_of:
            own_values[: self._edges] = True  # the places around the sentence
        for place in range(len(masks_of) - len(self._sets) - len(self._lexicons), len(masks_of)):
            masks_of[place][:] = True
        for own_set, (mode, place, _) in self._sets.items():
            if mode == elsewhere.ATTRIBUTE:
                masks_of[own_set][:] = masks_of[place]
        before = np.concatenate([[0], np.cumsum(used)])
        for name, (table, found) in zip(_TABLES, described, strict=False):
            numbers, at = np.empty(found.n_values, np.int32), 0
            for which, values in found.pieces():
                begin = first[table.attributes_of(which)]
                numbers[at : at + len(values)] = before[begin + values] - before[begin]
                at += len(values)
            arrays[f"{name}.templates"] = found.which
            arrays[f"{name}.values"] = numbers
        for r, resource in enumerate(self.resources.values()):
            arrays |= resource.to_arrays(f"resource{r}")
        kinds = {type_: kind for kind, type_ in KINDS.items()}
        header = {
            "encoder": "templates",
            "templates": [str(template) for template in self.templates],
            "columns": list(self.columns),
            "cutoff": self.cutoff,
            "resources": [[kinds[type(r)], name] for name, r in self.resources.items()],
        }
        return arrays, header

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray], header: Mapping[str, Any]
    ) -> FeatureEncoder:
        """The inverse of `to_arrays`; anything that it cannot have written is a SeqpaError."""
        if header.get("encoder") != "templates":
            raise SeqpaError(f"damaged model: encoder {header.get('encoder')!r} is not 'templates'")
        resources: dict[str, Resource] = {}
        for r, (kind, name) in enumerate(_header_list(header, "resources", [str, str])):
            if kind not in KINDS:
                raise SeqpaError(f"damaged model: resource {name!r} has the unknown kind {kind!r}")
            resources[name] = KINDS[kind].from_arrays(arrays, f"resource{r}")
        templates = _header_list(header, "templates", str)
        columns = _header_list(header, "columns", str)
        encoder = cls(templates, columns, header.get("cutoff", 0), resources)
        for c, column in enumerate(encoder._words):
            if column.dictionary is not None:
                column.dictionary.fill(arrays, f"column{c}.dictionary")
            column.fill(
                unpack_strings(arrays, f"column{c}.words"),
                [
                    None if function is None else unpack_strings(arrays, f"column{c}.values{k}")
                    for k, function in enumerate(column.functions)
                ],
                get_array(arrays, f"column{c}.cells", np.int32, ndim=2),
            )
        for name, table in zip(_TABLES, encoder._tables(), strict=False):
            which = get_array(arrays, f"{name}.templates", np.int32)
            values = get_array(arrays, f"{name}.values", np.int32).astype(np.int64)
            table.restore(which, values, encoder._n_values())
        return encoder

    def __reduce__(self) -> tuple[Any, ...]:
        return FeatureEncoder.from_arrays, self.to_arrays()


_TABLES = ("features", "pairs")


def numbered(mask: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Numbers from 0 on for what is in the mask, -1 for the rest.

    >>> numbered(np.array([False, True, True])).tolist()
    [-1, 0, 1]
    """
    ids = np.full(len(mask), -1, np.int32)
    ids[mask] = np.arange(np.count_nonzero(mask), dtype=np.int32)
    return ids


# A thread encodes so many tokens at the least: merging what it found takes longer than it saves
# where most combinations are new.
_FEWEST = 1 << 17


def _parts(starts: NDArray[np.int64], n_jobs: int) -> list[NDArray[np.int64]]:
    """The starts of sentences in parts of about as many tokens, at most one for each thread.

    >>> [part.tolist() for part in _parts(np.array([0, 200_000, 300_000, 400_000]), 3)]
    [[0, 200000], [200000, 300000], [300000, 400000]]
    """
    n_tokens = int(starts[-1] - starts[0])
    n = min(n_jobs, max(1, n_tokens // _FEWEST))
    cuts = np.searchsorted(starts, starts[0] + n_tokens * np.arange(1, n) // n)
    places = sorted({0, *cuts.tolist(), len(starts) - 1})
    return [starts[a : b + 1] for a, b in pairwise(places)]


def _not_a_string(column: Column, i: int, word: Any, starts: NDArray[np.int64]) -> SeqpaError:
    return SeqpaError(
        f"{place(starts, i)}, column {column.name!r}: expected a string, not {word!r}"
    )


def _header_list(header: Mapping[str, Any], name: str, kind: Any) -> list[Any]:
    """The header's list of that name: of strings, or of lists as long as `kind`, of strings."""
    found = header.get(name)
    if not isinstance(found, list):
        raise SeqpaError(f"damaged model: the header's {name} is not a list")
    for item in found:
        cells = item if isinstance(kind, list) and isinstance(item, list) else [item]
        if len(cells) != (len(kind) if isinstance(kind, list) else 1) or not all(
            isinstance(cell, str) for cell in cells
        ):
            raise SeqpaError(f"damaged model: the header's {name} has the wrong entry {item!r}")
    return found
