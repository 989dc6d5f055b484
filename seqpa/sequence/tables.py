"""The features of templates as numbers: what a combination of attribute values leads to."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import template_features
from seqpa.errors import SeqpaError
from seqpa.pages import fresh, give_back, move, slices, will_change
from seqpa.sequence.budget import Budget
from seqpa.sequence.elsewhere import MOST
from seqpa.sequence.spill import on_disk
from seqpa.sequence.templates import Attribute, Template


class _Places(NamedTuple):
    """How many numbers of each source `direct` has places for, where they begin, and from where
    and how far apart each template's lie."""

    capacity: NDArray[np.int64]
    begin: NDArray[np.int64]
    direct_at: NDArray[np.int64]
    stride: NDArray[np.int64]


class _Arrays(NamedTuple):
    """The growing arrays of a `FeatureTable`, and the kernel's table over them."""

    places: _Places
    direct: NDArray[np.int32]
    links: NDArray[np.int64]
    most_links: int
    kernel: template_features.Table


_PIECE = 1 << 17  # so many features, or rows of a table, are worked on at a time
# By how much places grow that are full: by less where memory is short.
_FACTORS = (2.0, 1.5, 1.25, 1.125)
_LINK = 16  # bytes of a row of `links`


class _Apart(NamedTuple):
    """A part of the sentences, and all that the table has which encoded it: its nodes as `joins`
    has them, and the template and the number of each feature."""

    indptr: NDArray[np.int64]
    features: NDArray[np.int32]
    node_at: NDArray[np.int64]
    joined: NDArray[np.int32]
    which: NDArray[np.int32]
    numbers: NDArray[np.int32]


class FeatureTable:
    """The features of a list of templates: what `seqpa._kernel.template_features` walks through.

    `edges`: how many values stand for places outside the sentence. `sets`: of the attributes with
    several values at a token, by place: what they look at (see `template_features.Table.in_set`).
    """

    def __init__(
        self,
        templates: Sequence[Template],
        place_of: Mapping[Attribute, int],
        edges: int,
        sets: Mapping[int, tuple[int, int, int]],
    ) -> None:
        parts = [part for template in templates for part in template.parts]
        self.templates = list(templates)
        self.n_parts = np.array([len(t.parts) for t in templates], np.int64)
        self.first_part = _ends(self.n_parts)
        self.attribute = np.array([place_of[part.attribute] for part in parts], np.int64)
        self.edges = edges
        self._sets = sets
        # With a budget the arrays grow by what it has left, and those that a larger one replaces
        # are given back while they are copied. So an interrupt leaves nothing that can be used.
        self.budget: Budget | None = None
        self._lay_out(np.array([part.offset for part in parts], np.int64))
        self.clear()

    def _lay_out(self, offsets: NDArray[np.int64]) -> None:
        """Find the bases and nodes, and each template's source among them."""
        self.bases = distinct(self.attribute)
        base_of_part = np.searchsorted(self.bases, self.attribute).tolist()
        n_bases = len(self.bases)
        # Which bases are sets, and the templates that look at them.
        self.set_bases = [b for b, place in enumerate(self.bases.tolist()) if place in self._sets]
        rows = [self._sets[place] for place in self.bases[self.set_bases].tolist()]
        self.sets = np.array(rows, np.int64).reshape(-1, 3)
        self.before = -int(offsets.min(initial=0))
        self.after = int(offsets.max(initial=0))
        self.offset = offsets[self.first_part[:-1]]
        nodes: dict[tuple[int, int, int], int] = {}  # (left, right, shift) -> its number
        looked_at: list[list[int]] = []  # from how far away, by node
        self.source = np.zeros(len(self.templates), np.int64)
        self.node_of = np.full(len(offsets), -1, np.int64)
        for t, offset in enumerate(self.offset.tolist()):
            source = base_of_part[self.first_part[t]]
            for p in range(self.first_part[t] + 1, self.first_part[t + 1]):
                joint = (source, base_of_part[p], int(offsets[p]) - offset)
                node = nodes.setdefault(joint, len(nodes))
                looked_at += [[]] if node == len(looked_at) else []
                looked_at[node].append(offset)
                self.node_of[p] = node
                source = n_bases + node
            self.source[t] = source
        self.left, self.right, self.shift = np.array([*nodes], np.int64).reshape(-1, 3).T.copy()
        self._in_sets = int(np.isin(self.source, self.set_bases).sum())
        # Among the templates that look at the same source.
        ranks: dict[int, int] = {}
        self.rank = np.zeros(len(self.templates), np.int64)
        for t, s in enumerate(self.source.tolist()):
            self.rank[t] = ranks.get(s, 0)
            ranks[s] = ranks.get(s, 0) + 1
        self.lowest = np.array([min(offsets) for offsets in looked_at], np.int64)
        self.highest = np.array([max(offsets) for offsets in looked_at], np.int64)

    def clear(self) -> None:
        """Forget every feature."""
        n_nodes = len(self.lowest)
        self.counts = np.ones(n_nodes + 2, np.int64)  # numbers start at 1, the rest at 0
        self.counts[n_nodes:] = 0
        # Number 0, which stands for an absent value, has a place from the start.
        places = self._places(np.ones(len(self.bases) + n_nodes, np.int64))
        direct, links = np.full(len(self.templates), -1, np.int32), np.zeros((16, 2), np.int64)
        self._arrays = self._with_kernel(places, direct, links, 8)
        self._described: tuple[NDArray[np.int32], NDArray[np.int64]] | None = None
        self.names: FeatureNames | None = None

    # The arrays belong together, and are replaced at one stroke: an interrupt leaves the old ones.

    @property
    def kernel(self) -> template_features.Table:
        """The table with the walk of learning: every template, in the order given."""
        return self._arrays.kernel

    @property
    def direct(self) -> NDArray[np.int32]:
        """The feature of each template at each of its source's numbers, -1 where there is none."""
        return self._arrays.direct

    def _places(self, capacity: NDArray[np.int64]) -> _Places:
        """Where each source's numbers begin in `direct`, and so each template's."""
        n_templates = np.bincount(self.source, minlength=len(capacity))
        begin = _ends(n_templates * capacity)
        direct_at, stride = begin[self.source] + self.rank, n_templates[self.source]
        return _Places(capacity, begin, direct_at, stride)

    def _with_kernel(
        self,
        places: _Places,
        direct: NDArray[np.int32],
        links: NDArray[np.int64],
        most_links: int,
    ) -> _Arrays:
        order = np.arange(len(self.templates))
        looked = np.array([b for b in range(len(self.bases)) if b not in self.set_bases], np.int64)
        kernel = self._walking(order, 0 * order, looked, places, direct, links, most_links)
        return _Arrays(places, direct, links, most_links, kernel)

    def _walking(
        self,
        order: NDArray[np.int64],
        below: NDArray[np.int64],
        looked: NDArray[np.int64],
        places: _Places,
        direct: NDArray[np.int32],
        links: NDArray[np.int64],
        most_links: int,
    ) -> template_features.Table:
        """The table with a walk over the templates in this order; see `template_features.Table`."""
        width = self._width()
        source, offset = self.source[order], self.offset[order]
        asked = (source < len(self.bases)) & ~np.isin(source, looked)
        at = np.where(asked, -1 - source, source * width + self.before + offset)
        for k, base in enumerate(self.set_bases):
            at[source == base] = -1 - len(self.bases) - k
        steps = [at, places.direct_at[order], places.stride[order], below, offset]
        return template_features.Table(
            attribute=self.bases,
            left=self.left,
            right=self.right,
            shift=self.shift,
            lowest=self.lowest,
            highest=self.highest,
            looked=looked,
            steps=np.stack(steps, axis=1),
            first_part=self.first_part,
            node_of=self.node_of,
            before=self.before,
            after=self.after,
            edges=self.edges,
            capacity=places.capacity[len(self.bases) :],
            counts=self.counts,
            direct_at=places.direct_at,
            stride=places.stride,
            begin=places.begin,
            n_at=np.bincount(self.source, minlength=len(places.capacity)),
            direct=direct,
            links=links,
            most_links=most_links,
            sets=self.sets,
        )

    @property
    def size(self) -> int:
        """How many features there are."""
        return int(self.counts[-1])

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays by which features are found."""
        return self._arrays.direct.nbytes + self._arrays.links.nbytes

    @property
    def described_size(self) -> int:
        """About how many bytes more it takes to write the features into a file: what each one is
        there and here, the numbers that links join, and a piece of all that."""
        of_template = [
            sum(np.count_nonzero(own >= 0) for own in self._entries_in_pieces(t))
            for t in range(len(self.templates))
        ]
        n_values = int(np.array(of_template) @ self.n_parts)
        return 13 * self.size + 4 * n_values + self._joined_size + 100 * _PIECE

    @property
    def composed_size(self) -> int:
        """About how many bytes more it takes to compose features for tagging, but for weights."""
        return 2 * self._arrays.direct.nbytes + self._joined_size + 8 * self.size

    @property
    def _joined_size(self) -> int:
        return 8 * int(self.counts[len(self.lowest)])

    def reserve(self, numbers: NDArray[np.int64], n_links: int) -> None:
        """Grow for numbers below these, one for each source, and for n_links links."""
        if (numbers > self._arrays.places.capacity).any():
            self._resize(self._larger(numbers))
        if n_links > self._arrays.most_links:
            self._grow_links(n_links)

    def _larger(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """A capacity for these numbers, and for more to come as far as there is memory."""
        capacity = self._arrays.places.capacity
        n_templates = np.bincount(self.source, minlength=len(capacity))
        for factor in _FACTORS:
            larger = np.maximum(numbers, (factor * capacity).astype(np.int64))
            larger = np.where(numbers > capacity, larger, capacity)
            more = 4 * int(n_templates @ (larger - capacity))
            if self.budget is None or 2 * more <= self.budget.room():
                return larger
        assert self.budget is not None
        self.budget.check(more + _PIECE, "the features")
        return larger

    def _grow_links(self, n_links: int) -> None:
        """Twice the rows; where memory is short, links as dense as they may be come first."""
        places, direct, old, _, _ = self._arrays
        size = max(len(old), 1 << (2 * n_links - 1).bit_length())
        budget = self.budget
        if budget is None:
            links = np.zeros((size, 2), np.int64)
            arrays = self._with_kernel(places, direct, links, size // 2)
            arrays.kernel.rehash(old)
            self._arrays = arrays
            return
        more = _LINK * (size - len(old))
        if n_links <= 4 * len(old) // 5 and 2 * more > budget.room():
            self._arrays = self._with_kernel(places, direct, old, 4 * len(old) // 5)
            return
        budget.check(more + _LINK * _PIECE, "the features")
        links = fresh(2 * size, np.int64).reshape(-1, 2)
        arrays = self._with_kernel(places, direct, links, size // 2)
        # Rows go to their old place, or as far behind the old size: so pages come as others go.
        for begin in range(0, len(old), _PIECE):
            arrays.kernel.rehash(old[begin : begin + _PIECE])
            give_back(old[begin : begin + _PIECE])
        self._arrays = arrays

    def _resize(self, capacity: NDArray[np.int64]) -> None:
        """Change the capacity: how many numbers of each source `direct` has places for."""
        before, old_direct, links, most_links, _ = self._arrays
        places = self._places(capacity)
        size = int(places.begin[-1])
        direct = np.empty(size, np.int32) if self.budget is None else fresh(size, np.int32)
        for (new, stop), (old, end) in zip(
            pairwise(places.begin.tolist()), pairwise(before.begin.tolist()), strict=True
        ):
            n = min(stop - new, end - old)
            if self.budget is None:
                direct[new : new + n] = old_direct[old : old + n]
            else:
                move(old_direct[old : old + n], direct[new:])
            direct[new + n : stop] = -1
        self._arrays = self._with_kernel(places, direct, links, most_links)

    def put_on_disk(self, folder: str | Path | None) -> None:
        """Keep the arrays in files without a name, from where they are read as they are needed."""
        self._described = None
        places, direct, links, most_links, _ = self._arrays
        found = on_disk(direct, folder), on_disk(links.reshape(-1), folder).reshape(-1, 2)
        self._arrays = self._with_kernel(places, *found, most_links)

    def _trim(self) -> None:
        """Give back the space that no number needs."""
        used = self._arrays.places.capacity.copy()
        used[len(self.bases) :] = self.counts[: len(self.lowest)]
        self._resize(used)

    def reserve_values(self, n_values: NDArray[np.int64]) -> None:
        """Grow for n_values[a] values of each attribute a."""
        numbers = self._arrays.places.capacity.copy()
        numbers[: len(self.bases)] = n_values[self.bases] + 1
        self.reserve(numbers, 0)

    def masked(self, mask: NDArray[np.bool_]) -> NDArray[np.int32]:
        """`direct`, where only the features of the mask are found."""
        if mask.all():
            return self.direct
        return np.where(np.append(mask, False)[self.direct], self.direct, np.int32(-1))

    def walk(
        self, order: NDArray[np.int64], below: NDArray[np.int64], direct: NDArray[np.int32]
    ) -> template_features.Table:
        """The table as it is now, of the features in `direct`, with a walk over the templates in
        this order that leaves out the next below[i] steps where that of step i has a feature."""
        reached = np.ones(len(order), np.bool_)  # whatever the steps before find
        for step, n in enumerate(below.tolist()):
            reached[step + 1 : step + 1 + n] = False
        sources = np.concatenate([self.source[order[reached]], self.left, self.right])
        looked = distinct(sources[(sources < len(self.bases)) & ~np.isin(sources, self.set_bases)])
        places, _, links, most_links, _ = self._arrays
        return self._walking(order, below, looked, places, direct, links, most_links)

    def numbers(self, t: int, direct: NDArray[np.int32]) -> NDArray[np.int64]:
        """The numbers at which template t has a feature in `direct`."""
        return np.flatnonzero(self._entries(t, direct) >= 0)

    def _entries(self, t: int, direct: NDArray[np.int32]) -> NDArray[np.int32]:
        return self._of_source(t, direct)[:, self.rank[t]]

    def _entries_in_pieces(self, t: int) -> Iterator[NDArray[np.int32]]:
        for own in slices(self._of_source(t, self.direct)):
            yield own[:, self.rank[t]]

    def _of_source(self, t: int, direct: NDArray[np.int32]) -> NDArray[np.int32]:
        """What template t's source has in `direct`: a row for each number."""
        places, s = self._arrays.places, self.source[t]
        own = direct[places.begin[s] : places.begin[s + 1]]
        return own.reshape(places.capacity[s], -1)

    def features_at(
        self, t: int, numbers: NDArray[np.int64], joined: tuple[NDArray, NDArray]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Template t's features at these numbers, and the values of their parts, a row for each.

        joined : of `joins`
        """
        node_at, pairs = joined
        values = np.empty((len(numbers), self.n_parts[t]), np.int64)
        features = self._entries(t, self.direct)[numbers]
        for p in range(self.n_parts[t] - 1, 0, -1):
            both = pairs[node_at[self.node_of[self.first_part[t] + p]] + numbers]
            values[:, p], numbers = both[:, 1] - 1, both[:, 0]
        values[:, 0] = numbers - 1
        return features, values

    def find(self, t: int, values: NDArray[np.int64]) -> NDArray[np.int32]:
        """The features of template t with these values (features, parts), -1 where there is none.

        Values are as `described` has them, or -1 for absent.
        """
        found = np.empty(len(values), np.int32)
        self.kernel.find_features(t, values, found)
        return found

    def encode(
        self,
        words: template_features.Words,
        starts: NDArray[np.int64],
        grow: bool,
        walk: template_features.Table | None = None,
        elsewhere: int = 0,
        trim: bool = True,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The features of each token of the sentences between `starts`: (indptr, features).

        elsewhere : how many other occurrences of words `words` has in all
        trim : whether space is given back that the first sentences of all did not need
        """
        token, end = int(starts[0]), int(starts[-1])
        indptr, features, work = self.buffers_for(end - token, elsewhere)
        first = grow and self.size == 0
        if grow:
            self._described = self.names = None
            will_change(self._arrays.direct)
            will_change(self._arrays.links)
            self._expect((end - token) // 8)
        while token < end:
            token = (walk or self.kernel).encode(words, starts, token, grow, work, indptr, features)
            if token < end:
                n_nodes, width = len(self.lowest), self._width()
                numbers = self._arrays.places.capacity.copy()
                numbers[len(self.bases) :] = self.counts[:n_nodes] + width
                self.reserve(numbers, int(self.counts[n_nodes]) + n_nodes * width)
        if first and trim:  # most encoders learn from one corpus only
            self._trim()
        features.resize(int(indptr[-1]), refcheck=False)  # in place: a copy would double the memory
        return indptr, features

    def encode_parts(
        self, words: template_features.Words, parts: Sequence[NDArray[np.int64]], elsewhere: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """`encode`, where new features get numbers, of sentences in several parts, each on a thread
        of its own: the same features with the same numbers.

        A part is encoded by a table of its own. What these have found is then entered here in the
        order of the parts, and of what is in them.

        parts : the `starts` of each
        """
        from concurrent.futures import ThreadPoolExecutor

        first = self.size == 0
        others = [self._empty() for _ in parts[1:]]
        with ThreadPoolExecutor(len(others), "seqpa-encode") as pool:
            waiting = [
                pool.submit(other._encode_apart, words, starts, elsewhere)
                for other, starts in zip(others, parts[1:], strict=True)
            ]
            indptr, features = self.encode(words, parts[0], True, None, elsewhere, trim=False)
            found = []
            for other, future in zip(others, waiting, strict=True):
                piece = future.result()
                found.append((piece, self._merged(other, piece)))
            if first:
                self._trim()
            offsets = _ends(np.array([len(features), *(len(p.features) for p, _ in found)]))
            features.resize(int(offsets[-1]), refcheck=False)
            filled = [
                pool.submit(
                    template_features.renumber, piece.features, numbers, features[begin:end]
                )
                for (piece, numbers), (begin, end) in zip(
                    found, pairwise(offsets[1:].tolist()), strict=True
                )
            ]
            begins = [
                piece.indptr[1:] + offset
                for (piece, _), offset in zip(found, offsets[1:].tolist(), strict=False)
            ]
            for future_filled in filled:
                future_filled.result()
        return np.concatenate([indptr, *begins]), features

    def _empty(self) -> FeatureTable:
        """A table of the same templates and values that has no feature."""
        made = copy.copy(self)
        made.clear()
        numbers = made._arrays.places.capacity.copy()
        numbers[: len(self.bases)] = self._arrays.places.capacity[: len(self.bases)]
        made.reserve(numbers, 0)
        return made

    def _encode_apart(
        self, words: template_features.Words, starts: NDArray[np.int64], elsewhere: int
    ) -> _Apart:
        """Encode a part; all that this table then has."""
        indptr, features = self.encode(words, starts, True, None, elsewhere, trim=False)
        return _Apart(indptr, features, *self.joins(), *self._numbers())

    def _merged(self, other: FeatureTable, piece: _Apart) -> NDArray[np.int32]:
        """Enter what another table has; the number here of each of its features."""
        n_nodes = len(self.lowest)
        numbers = self._arrays.places.capacity.copy()
        numbers[len(self.bases) :] = self.counts[:n_nodes] + other.counts[:n_nodes]
        self.reserve(numbers, int(self.counts[n_nodes] + other.counts[n_nodes]))
        found = np.empty(other.size, np.int32)
        own = np.zeros(len(piece.joined), np.int32)
        self.kernel.merge(piece.node_at, piece.joined, piece.which, piece.numbers, own, found)
        return found

    def buffers_for(
        self, n_tokens: int, elsewhere: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """The buffers in which the kernel encodes n_tokens: indptr, features and its scratch.

        elsewhere : how many other occurrences of words there are; None: as many as there can be
        """
        more = MOST * n_tokens if elsewhere is None else elsewhere
        return (
            np.zeros(n_tokens + 1, np.int64),
            # A set's feature is written before it is known to be there already: one place more.
            np.empty(n_tokens * len(self.templates) + self._in_sets * more + 1, np.int32),
            np.empty((len(self._arrays.places.capacity) + 1) * self._width(), np.int64),
        )

    def _width(self) -> int:
        return template_features.BLOCK + self.before + self.after

    def _expect(self, n_numbers: int) -> None:
        """Grow for n_numbers of each node: a guess that saves growing step by step."""
        numbers = self._arrays.places.capacity.copy()
        numbers[len(self.bases) :] = n_numbers
        self.reserve(numbers, 0)

    def described(
        self, mask: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Of the masked features, or of all: each one's template, then the values of all parts.

        Values v count as in the kernel: edges first. Those of one feature follow each other.
        """
        if self._described is None:
            self._described = self._describe()
        which, values = self._described
        if mask is None:
            return which, values
        return which[mask], values[np.repeat(mask, self.n_parts[which])]

    def joins(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Where each node's numbers begin in an array, and there the two that each one joins."""
        node_at = _ends(self.counts[:-2])
        joined = np.empty((node_at[-1], 2), np.int32)
        for links in slices(self._arrays.links):
            self.kernel.joins(links, node_at, joined)
        return node_at, joined

    def _describe(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        node_at, joined = self.joins()
        which, numbers = self._numbers()
        values = np.empty(self.n_parts[which].sum(), np.int64)
        self.kernel.values_of(node_at, joined, which, numbers, values)
        return which, values

    def _numbers(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The template of each feature, and at which number of its source it is."""
        which, numbers = np.empty((2, self.size), np.int32)
        limits = self._arrays.places.capacity.copy()
        limits[len(self.bases) :] = self.counts[: len(self.lowest)]  # the rest has no feature
        self.kernel.describe(limits[self.source], which, numbers)
        return which, numbers

    def attributes_of(self, which: NDArray[np.int32]) -> NDArray[np.int64]:
        """For the values of features with these templates: each one's attribute."""
        n_parts = self.n_parts[which]
        ends = np.cumsum(n_parts)
        within = np.arange(n_parts.sum()) - np.repeat(ends - n_parts, n_parts)
        return self.attribute[np.repeat(self.first_part[which], n_parts) + within]

    def restore(
        self, which: NDArray[np.int32], values: NDArray[np.int64], n_values: NDArray[np.int64]
    ) -> None:
        """Enter exactly these features, in this order; the inverse of `described`."""
        if len(which) and (which.min() < 0 or which.max() >= len(self.templates)):
            raise SeqpaError("damaged model: a feature has an unknown template")
        if len(values) != self.n_parts[which].sum():
            raise SeqpaError("damaged model: the features' values do not fit their templates")
        found = Description(self, which, values)
        for templates, own in found.pieces():
            if own.min() < 0 or (own >= n_values[self.attributes_of(templates)]).any():
                raise SeqpaError("damaged model: a feature has an unknown value")
        self._enter(found, n_values)
        self._described = which, values

    def _enter(self, found: Description, n_values: NDArray[np.int64]) -> None:
        """Know exactly these features."""
        self.clear()
        self.reserve_values(n_values)
        # A node has no more numbers than there are features that lead through it.
        features = np.bincount(found.which, minlength=len(self.templates))
        inner = self.node_of >= 0
        through = np.bincount(
            self.node_of[inner],
            np.repeat(features, self.n_parts)[inner],
            minlength=len(self.lowest),
        ).astype(np.int64)
        numbers = self._arrays.places.capacity.copy()
        numbers[len(self.bases) :] = through + 1
        self.reserve(numbers, int(through.sum()))
        for which, values in found.pieces():
            if self.kernel.restore(which, values) < len(which):
                raise SeqpaError(f"damaged model: feature {self.size} is there twice")

    def description(self, ids: NDArray[np.int32] | None = None) -> Description:
        """What `described` tells, piece by piece and in little memory.

        ids : a new number for each feature, from 0 on, or -1 for those that are left out
        """
        if self._described is not None:
            which, values = self._described
            if ids is not None:
                values = values[np.repeat(ids >= 0, self.n_parts[which])]
                which = which[ids >= 0]
            return Description(self, which, values)
        which, numbers = self._places_of(ids)
        return Description(self, which, None, numbers, self.joins())

    def _places_of(
        self, ids: NDArray[np.int32] | None
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The template of each feature, and at which number of its source it is; see `description`
        for `ids`."""
        size = self.size if ids is None else int(ids.max(initial=-1)) + 1
        which, numbers = np.empty(size, np.int32), np.empty(size, np.int32)
        for t in range(len(self.templates)):
            begin = 0
            for own in self._entries_in_pieces(t):
                there = np.flatnonzero(own >= 0)
                features = own[there]
                if ids is not None:
                    features = ids[features]
                    there, features = there[features >= 0], features[features >= 0]
                which[features] = t
                numbers[features] = begin + there
                begin += len(own)
        return which, numbers

    def kept(self, ids: NDArray[np.int32], n_values: NDArray[np.int64]) -> FeatureTable:
        """A table with the features alone that have a new number, in the order of these.

        With a budget, this table is of no use any more: the new one takes its memory.
        """
        new = copy.copy(self)
        if self.budget is None:
            new._enter(self.description(ids), n_values)
            return new
        n = int(np.count_nonzero(ids >= 0))
        self.budget.check(8 * n + self._joined_size + 40 * _PIECE, "the features")
        which, numbers = self._places_of(ids)
        give_back(self._arrays.direct)
        found = Description(self, which, None, numbers, self.joins())
        give_back(self._arrays.links)
        self.clear()
        new._enter(found, n_values)
        return new


class Description:
    """What features stand for: the template of each, and the values of its parts in pieces.

    Values are those of `FeatureTable.described`. They are given, or found from each feature's
    number in its source.
    """

    def __init__(
        self,
        table: FeatureTable,
        which: NDArray[np.int32],
        values: NDArray[np.int64] | None,
        numbers: NDArray[np.int32] | None = None,
        joined: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None,
    ) -> None:
        self.which = which
        self._n_parts = table.n_parts
        self._kernel = table.kernel
        self._values = values
        self._numbers = numbers
        self._joined = joined

    @property
    def n_values(self) -> int:
        """How many values all features have together."""
        features = np.bincount(self.which, minlength=len(self._n_parts))
        return int(features @ self._n_parts)

    def pieces(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """The template of each feature, and the values of all parts; some features at a time."""
        at = 0
        for begin in range(0, len(self.which), _PIECE):
            which = self.which[begin : begin + _PIECE]
            n = int(self._n_parts[which].sum())
            if self._values is not None:
                yield which, self._values[at : at + n]
            elif self._numbers is not None and self._joined is not None:
                values = np.empty(n, np.int64)
                numbers = self._numbers[begin : begin + _PIECE]
                self._kernel.values_of(*self._joined, which, numbers, values)
                yield which, values
            at += n


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """A few numbers, sorted, each once. np.unique would import all of NumPy's masked arrays."""
    return np.array(sorted(set(numbers.tolist())), np.int64)


def _ends(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where pieces of these sizes begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


class FeatureNames:
    """The features of a table as strings: a sequence by id.

    `strings` are the values of each attribute; before them come the places outside the sentence.
    """

    def __init__(self, table: FeatureTable, strings: list[list[str]]) -> None:
        self.which, self.values = table.described()
        self.first = _ends(table.n_parts[self.which])
        self.edges = [f"<{'+' if e % 2 else '-'}{e // 2 + 1}>" for e in range(table.edges)]
        self.prefixes = ["pair:" if t.pair else "" for t in table.templates]
        columns = iter(table.attribute.tolist())
        self.parts = [
            [(str(part), part.attribute.is_flag, strings[next(columns)]) for part in template.parts]
            for template in table.templates
        ]

    def __len__(self) -> int:
        return len(self.which)

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, feature: int) -> str:
        if not 0 <= feature < len(self.which):
            raise IndexError(feature)
        t = self.which[feature]
        values = self.values[self.first[feature] : self.first[feature + 1]].tolist()
        return self.prefixes[t] + "|".join(
            f"{name}={self.edges[value]}"
            if value < len(self.edges)
            else name
            if is_flag
            else f"{name}={strings[value - len(self.edges)]}"
            for (name, is_flag, strings), value in zip(self.parts[t], values, strict=True)
        )
