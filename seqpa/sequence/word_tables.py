"""The distinct words of a column and their attributes' values, as numbers."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, compress
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings, template_features
from seqpa.errors import SeqpaError
from seqpa.sequence import attributes
from seqpa.sequence.affixes import Affixes
from seqpa.sequence.elsewhere import WordKeys
from seqpa.sequence.resources import Resource
from seqpa.sequence.tag_dictionary import Apart, TagDictionary
from seqpa.sequence.templates import Attribute

REMEMBERED = 4096  # places of words: as many as the processor's first cache holds

_NO_ROWS = np.zeros((1, 0), np.int32)


class NotAString(Exception):
    """A token that is not a string, by its number; the encoder knows its place."""


class Column:
    """The distinct words of a column, and for each the numbers of its attributes' values.

    A row of `table` is a word, a cell the number of its value there, -1 for absent (or, in a
    transform, for a value that no training word had).
    """

    def __init__(
        self,
        name: str,
        own: Sequence[Attribute],
        resources: Mapping[str, Resource],
        keyed: bool = False,
    ) -> None:
        self.name = name
        self.keys = WordKeys() if keyed else None  # to find the same word elsewhere
        self.attributes = list(own)
        self.place_of = {attribute: k for k, attribute in enumerate(own)}
        self.words: dict[str, int] = {}
        # The word itself is its own value, so it has no second numbering.
        self.values: list[dict[str, int]] = [self.words if a.kind is None else {} for a in own]
        # The attributes that the labels of the training text teach, and what they know.
        self.learned = [
            k for k, a in enumerate(own) if a.kind is not None and _kind(a).learned is not None
        ]
        self.dictionary = TagDictionary() if self.learned else None
        self._rows_of: dict[str, list[int]] | None = None  # of a lower-cased word
        self.functions = [_function(a, resources, self.dictionary) for a in own]
        self.computes = any(self.functions)  # more than the words themselves
        # Otherwise tokens need no numbers: nothing asks which word stands there.
        self.is_looked_at = bool(self.functions) or keyed
        self._affixes = Affixes(
            {
                k: (int(a.arguments[0]), a.kind == "suffix")
                for k, a in enumerate(own)
                if a.kind in ("prefix", "suffix")
            }
        )
        # Attributes that are looked up one by one.
        self._others = [
            k
            for k, function in enumerate(self.functions)
            if function is not None and k not in self._affixes.kinds
        ]
        # Those made of another attribute's values, and the function that makes them.
        self._of_base = {k: _of_base(own[k], self.dictionary) for k in self._others}
        self.table = np.full((1, len(own)), -1, np.int32)

    def learn(self, fresh: dict[str, int]) -> None:
        """Take in new words, as `number` numbered them: fill their rows of the table.

        The words come last, at one stroke: if anything before that fails or is interrupted, the
        rows behind the known words are spare ones, and values that no word has do no harm.
        """
        before, after = len(self.words), len(self.words) + len(fresh)
        if after > len(self.table):
            larger = np.empty((max(after, 2 * before), len(self.functions)), np.int32)
            larger[:before] = self.table[:before]
            self.table = larger
        words = list(fresh)
        rows = self.table[before:after]
        row = np.empty(len(fresh), np.int32)
        done = {*self._affixes.enter(words, self.values, rows), *self._taught(fresh, rows)}
        for k, (values, function) in enumerate(zip(self.values, self.functions, strict=True)):
            if function is None:
                rows[:, k] = np.arange(before, after)
            elif k in self._affixes.kinds and k not in done:
                strings.enter(function(words), values, row)
                rows[:, k] = row
        for k, found in self._computed(words, done):
            strings.enter(found, self.values[k], row)
            rows[:, k] = row
        if self.keys is not None:
            self.keys.learn(fresh, before)
        self.words.update(fresh)
        if self._rows_of is not None:
            self._note_rows(fresh)

    def _taught(self, fresh: dict[str, int], rows: NDArray[np.int32]) -> list[int]:
        """Fill the learned attributes of new words that were just counted, by their numbers."""
        found = None if self.dictionary is None else self.dictionary.of_forms(fresh)
        if found is None:
            return []
        for k, numbers in zip(self.learned, self._entered(*found), strict=True):
            rows[:, k] = numbers
        return self.learned

    def apart(self) -> Column:
        """The same words, shared, with values of learned attributes that grow by themselves."""
        made = copy.copy(self)
        made.values = [
            dict(values) if k in self.learned else values for k, values in enumerate(self.values)
        ]
        return made

    def training_values(
        self,
        words: Sequence[str],
        labels: Sequence[str | None],
        starts: NDArray[np.int64],
        online: bool,
    ) -> NDArray[np.int32]:
        """A row for each learned attribute: the values of tokens in training, which must not know
        their own labels. `online`: the tokens have not been added to the dictionary."""
        if self.dictionary is None:
            return np.empty((0, len(words)), np.int32)
        entries = self.dictionary.progressive if online else self.dictionary.jackknifed
        return self._entered(*entries(words, labels, starts))

    def values_apart(self, words: Sequence[str], apart: Apart | None) -> NDArray[np.int32]:
        """`training_values` for tokens of one block of the text, whose labels are known there."""
        if apart is None:
            return np.empty((0, len(words)), np.int32)
        return self._entered(*apart.entries(words))

    def _entered(
        self, values: list[tuple[str, str]], which: NDArray[np.integer]
    ) -> NDArray[np.int32]:
        """A row for each learned attribute: the number of its value for each token."""
        rows = np.empty((len(self.learned), len(which)), np.int32)
        numbers = np.empty(len(values), np.int32)
        for row, k in zip(rows, self.learned, strict=True):
            place = self._place(k)
            strings.enter([value[place] for value in values], self.values[k], numbers)
            row[:] = numbers[which]
        return rows

    def remember(
        self,
        words: Sequence[str],
        labels: Sequence[str | None],
        fresh: dict[str, int] | None = None,
        ids: NDArray[np.int32] | None = None,
    ) -> NDArray[np.int64]:
        """Add tokens to the dictionary; the rows of the table that change by it.

        fresh, ids : what `number` found of the words, if they are to be learned next
        """
        if self.dictionary is None:
            return np.zeros(0, np.int64)
        if fresh is not None and ids is not None and not self.words:
            self.dictionary.add(words, labels, (fresh, ids))
            return np.zeros(0, np.int64)
        changed = self.dictionary.add(words, labels)
        if self._rows_of is None:
            self._rows_of = {}
            self._note_rows(self.words)
        found = [(word, row) for word in changed for row in self._rows_of.get(word, ())]
        rows = np.array([row for _, row in found], np.int64)
        if found:
            entries = [self.dictionary.entry(word) for word, _ in found]
            numbers = np.empty(len(rows), np.int32)
            for k in self.learned:
                strings.enter([own[self._place(k)] for own in entries], self.values[k], numbers)
                self.table[rows, k] = numbers
        return rows

    def _place(self, k: int) -> int:
        """Which value of an entry the learned attribute k is."""
        place = _kind(self.attributes[k]).learned
        assert place is not None
        return place

    def _note_rows(self, words: Mapping[str, int]) -> None:
        assert self._rows_of is not None
        for word, row in words.items():
            self._rows_of.setdefault(word.lower(), []).append(row)

    def values_of(self, unknown: list[str]) -> NDArray[np.int32]:
        """A row for each attribute, if any is computed: its values of words that are not known."""
        if not self.computes:
            return _NO_ROWS
        rows = np.empty((len(self.functions), len(unknown)), np.int32)
        if unknown:
            for k, values in self._computed(unknown):
                strings.look_up(values, self.values[k], rows[k])
            if self._affixes.kinds:
                self._affixes.look_up(unknown, self.values, rows)
        return rows

    def _computed(
        self, words: list[str], without: Collection[int] = ()
    ) -> Iterator[tuple[int, list[str | None]]]:
        """The words' values of each attribute that is no prefix and no suffix, without some."""
        bases: dict[str, list[str | None]] = {}  # what others are made of, made once
        for k in self._others:
            if k in without:
                continue
            function, of_base = self.functions[k], self._of_base[k]
            assert function is not None
            if of_base is None:
                own = self.attributes[k]
                found = function(words)
                if own.kind is not None and not own.arguments:
                    bases[own.kind] = found
            else:
                name, make = of_base
                if name not in bases:
                    bases[name] = attributes.values(name, words)
                found = make(cast("list[str]", bases[name]))
            yield k, found

    def number(self, words: Sequence[str], ids: NDArray[np.int32]) -> dict[str, int]:
        """Write each word's number to `ids`; those that are not known count on behind the others,
        and are returned. Changes nothing: safe from many threads."""
        fresh: dict[str, int] = {}
        if not self.is_looked_at and {str}.issuperset(map(type, words)):
            return fresh
        words = words if isinstance(words, list) else list(words)
        last = np.zeros(REMEMBERED if len(words) > REMEMBERED else 1, np.int32)
        wrong = strings.number(words, 0, len(words), self.words, fresh, last, ids)
        if wrong >= 0:
            raise NotAString(wrong, words[wrong])
        return fresh

    def kept(
        self, masks: Sequence[NDArray[np.bool_]]
    ) -> tuple[list[str], list[list[str] | None], NDArray[np.int32]]:
        """The words, values and cells, as `fill` takes them, of the masked values, renumbered.

        A word is left out if the word itself is an attribute and masked out: nothing distinguishes
        it then from an unseen word. The values of the words that stay are set in the masks too.
        """
        words = list(self.words) if self.functions else []  # keys are found again
        cells = self.table[: len(words)]
        for mask, function in zip(masks, self.functions, strict=True):
            if function is None:
                cells, words = cells[mask], list(compress(words, mask.tolist()))
        new_cells = np.empty_like(cells)
        values: list[list[str] | None] = []
        for k, (mask, function) in enumerate(zip(masks, self.functions, strict=True)):
            column = cells[:, k]
            mask[column[column >= 0]] = True
            new_cells[:, k] = np.append(np.cumsum(mask) - 1, -1)[column]
            values.append(
                None if function is None else list(compress(self.values[k], mask.tolist()))
            )
        return words, values, new_cells

    def fill(
        self, words: list[str], values: list[list[str] | None], cells: NDArray[np.int32]
    ) -> None:
        """Set all words, each attribute's values (None: the words) and all cells, checked."""
        where = f"damaged model: column {self.name!r}"
        for numbers, known in zip((self.words, *self.values), (words, *values), strict=True):
            if known is not None:
                numbers.clear()
                numbers.update(zip(known, range(len(known)), strict=True))
                if len(numbers) != len(known):
                    raise SeqpaError(f"{where} has the same string twice")
        if cells.shape != (len(words), len(self.functions)):
            raise SeqpaError(f"{where} has {cells.shape} cells for {len(words)} words")
        for k, (numbers, function) in enumerate(zip(self.values, self.functions, strict=True)):
            own = cells[:, k]
            if function is None and not (own == np.arange(len(words))).all():
                raise SeqpaError(f"{where} has its words out of order")
            if len(own) and (own.min() < -1 or own.max() >= len(numbers)):
                raise SeqpaError(f"{where} has a value that is not there")
        for k, (length, _) in self._affixes.kinds.items():
            if not {length}.issuperset(map(len, self.values[k])):
                raise SeqpaError(f"{where} has a prefix or suffix of the wrong length")
        self.table = cells if len(cells) else np.full((1, len(self.functions)), -1, np.int32)
        self._rows_of = None
        if self.keys is not None:
            self.keys.learn(words, 0)


class AttributeLayout:
    """Where the kernel finds each attribute's values: the columns' in their order, then lexicons'.

    A lexicon marks tokens, not words: its marks stand where a column has the words' numbers.
    """

    def __init__(self, columns: Sequence[Column], n_lexicons: int) -> None:
        self._columns = columns
        self._marks = [len(attributes.KINDS["lexicon"].in_context)] * n_lexicons
        places = [
            (c, -1 if function is None else k, len(column.functions))
            for c, column in enumerate(columns)
            for k, function in enumerate(column.functions)
        ]
        places += [(len(columns) + i, -1, 0) for i in range(n_lexicons)]
        first = accumulate([0, *(len(column.functions) for column in columns)])
        self._learned = [at + k for at, c in zip(first, columns, strict=False) for k in c.learned]
        three = np.array(places, np.int64).reshape(-1, 3).T
        self._column, self._within, self._stride = three.copy()
        self._made: tuple[list[int], template_features.Words] | None = None
        self._made_for_training: tuple[list[int], template_features.Words] | None = None
        self._joined: tuple[list[NDArray[np.int32]], NDArray[np.int32], list[int]] | None = None

    def words(self, ids: NDArray[np.int32]) -> template_features.Words:
        """The kernel's view of tokens: numbers of words (columns, tokens)."""
        known = [len(column.words) for column in self._columns]
        made = self._made
        if made is None or made[0] != known:  # words have been learned since
            made = self._made = known, template_features.Words(**self._views(known))
        return made[1].of(ids)

    def training_words(
        self, ids: NDArray[np.int32], learned: Sequence[NDArray[np.int32]]
    ) -> template_features.Words:
        """The same for training, where the values of learned attributes belong to tokens: `learned`
        has the rows of `Column.training_values` of each column."""
        rows = np.concatenate([ids, *learned])
        n_words = [len(column.words) for column in self._columns]
        made = self._made_for_training
        if made is None or made[0] != n_words:
            given = self._views(n_words)
            given["column"] = given["column"].copy()
            given["column"][self._learned] = np.arange(len(ids), len(rows))
            given["at"][self._learned] = -1
            given["known"][self._learned] = np.iinfo(np.int32).max
            made = self._made_for_training = n_words, template_features.Words(**given)
        return made[1].of(rows)

    def changed(self, column: int, rows: NDArray[np.int64]) -> None:
        """Take over rows of a column's table that were changed in place."""
        if self._joined is not None and len(rows) and self._columns[column].computes:
            joined, table = self._joined[1], self._columns[column].table
            at = sum(c.table.size for c in self._columns[:column] if c.computes)
            width = table.shape[1]
            joined[at : at + table.size].reshape(-1, width)[rows] = table[rows]

    def add_unknown(
        self, words: template_features.Words, values: Sequence[NDArray[np.int32]]
    ) -> None:
        """Add the values of the words that are not known, of each column as `Column.values_of`
        returns them."""
        sizes = [rows.size for rows in values]
        if any(sizes):
            fresh = values[0].reshape(-1) if len(values) == 1 else np.concatenate(values, axis=None)
            at = np.array([0, *accumulate(sizes)], np.int64)
            words.add_unknown(fresh, at, np.array([rows.shape[1] for rows in values], np.int64))

    def _views(self, known: list[int]) -> dict[str, NDArray[Any]]:
        """What the kernel reads values from: all columns' tables in one array; a column of which
        only the words themselves are used needs none."""
        tables = [c.table if c.computes else c.table[:0] for c in self._columns]
        sizes = [*(table.size for table in tables), *self._marks]
        begin = np.array([0, *accumulate(sizes)], np.int64)
        used = [table for table in tables if table.size]
        one = used[0].reshape(-1) if len(used) == 1 else None
        joined = self._join_several(tables, begin, known) if one is None else one
        at = np.where(self._within < 0, -1, begin[self._column] + self._within)
        n_known = np.array(known + self._marks)[self._column]
        return {
            "column": self._column,
            "within": self._within,
            "known": n_known,
            "table": joined,
            "at": at,
            "stride": self._stride,
        }

    def _join_several(
        self, tables: list[NDArray[np.int32]], begin: NDArray[np.int64], known: list[int]
    ) -> NDArray[np.int32]:
        """The tables behind each other. While they have spare rows, only those of new words are
        copied, so that a new word costs what it costs."""
        whole = [column.table for column in self._columns]
        last = self._joined
        if last is None or any(a is not b for a, b in zip(whole, last[0], strict=True)):
            joined = np.concatenate([_NO_ROWS, *tables], None)
        else:
            joined = last[1]
            for table, at, old, new in zip(
                tables, begin[: len(tables)].tolist(), last[2], known, strict=True
            ):
                if table.size:
                    width = table.shape[1]
                    joined[at + old * width : at + new * width] = table[old:new].reshape(-1)
        self._joined = whole, joined, known
        return joined


def _kind(attribute: Attribute) -> attributes.Kind:
    assert attribute.kind is not None
    return attributes.kind_of(attribute.kind)


def _of_base(
    attribute: Attribute, dictionary: TagDictionary | None
) -> tuple[str, attributes.OfWords] | None:
    """The attribute whose values it is made of, and how."""
    kind = _kind(attribute)
    if kind.base is None:
        return None
    if kind.learned is not None:
        assert dictionary is not None
        return kind.base, partial(dictionary.values_of_lower, kind.learned)
    assert kind.of_base is not None
    return kind.base, kind.of_base


def _function(
    attribute: Attribute, resources: Mapping[str, Resource], dictionary: TagDictionary | None
) -> attributes.OfWords | None:
    if attribute.kind is None:
        return None
    kind = _kind(attribute)
    if kind.learned is not None:
        assert dictionary is not None
        return partial(dictionary.values, kind.learned)
    assert kind.make is not None
    if kind.resource is None:
        return kind.make(*attribute.arguments)
    return kind.make(resources[str(attribute.arguments[0])], *attribute.arguments[1:])
