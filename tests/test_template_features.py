"""The compiled table of links against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqpa._kernel import template_features

pytestmark = pytest.mark.pure

HIGHEST = 2**31 - 2  # the highest value: its number is one more
numbers = st.one_of(st.integers(0, 3), st.integers(0, HIGHEST), st.just(HIGHEST))


class Entered:
    """One template of `n_parts` parts, or several of that shape, and the features entered there."""

    def __init__(self, which, values, n_parts, capacity, n_templates=1):
        def row(numbers):
            return np.array(list(numbers), np.int64)

        n_nodes = n_parts - 1
        # Node k joins the one before it, or base 0, with base 0, one place further on.
        left = row(range(n_nodes))
        ones = row([1] * n_nodes)
        self.links = np.zeros((capacity, 2), np.int64)
        self.counts = row([1] * n_nodes + [0, 0])
        self.table = template_features.Table(
            attribute=row([0]),
            left=left,
            right=0 * left,
            shift=ones,
            lowest=0 * left,
            highest=0 * left,
            looked=row([0]),
            steps=np.zeros((0, 5), np.int64),
            first_part=row(range(0, n_parts * n_templates + 1, n_parts)),
            node_of=row([*range(-1, n_nodes)] * n_templates),
            before=0,
            after=n_parts + n_templates,
            edges=0,
            capacity=row([capacity] * n_nodes),
            counts=self.counts,
            direct_at=row(range(n_templates)),
            stride=row([n_templates] * n_templates),
            begin=row(range(n_parts)) * 0,
            n_at=row([0] * n_nodes + [n_templates]),
            direct=np.full(capacity * n_templates, -1, np.int32),
            links=self.links,
            most_links=capacity // 2,
            sets=np.zeros((0, 3), np.int64),
        )
        self.done = self.table.restore(np.array(which, np.int32), row(values))

    def found(self):
        """(tag, a, b) -> number, of all links."""
        return {
            (int(v) >> 32, int(k) >> 32, int(k) & 0x7FFFFFFF): int(v) & 0x7FFFFFFF
            for k, v in self.links
            if v != 0
        }


@given(st.lists(st.tuples(numbers, numbers), unique=True, max_size=40))
def test_pairs_get_numbers_in_the_order_in_which_they_come(pairs) -> None:
    entered = Entered([0] * len(pairs), [v for pair in pairs for v in pair], 2, 128)
    assert entered.done == len(pairs)
    assert entered.counts.tolist() == [len(pairs) + 1, len(pairs), len(pairs)]
    assert entered.found() == {(1, a + 1, b + 1): n for n, (a, b) in enumerate(pairs, 1)}


@given(st.lists(st.tuples(numbers, numbers, numbers), unique=True, max_size=30))
def test_triples_share_their_first_link(triples) -> None:
    entered = Entered([0] * len(triples), [v for triple in triples for v in triple], 3, 128)
    pairs = list(dict.fromkeys(triple[:2] for triple in triples))
    n, m = len(triples), len(pairs)
    assert (entered.done, entered.counts.tolist()) == (n, [m + 1, n + 1, n + m, n])
    expected = {(1, a + 1, b + 1): k for k, (a, b) in enumerate(pairs, 1)}
    expected |= {(2, pairs.index((a, b)) + 1, c + 1): k for k, (a, b, c) in enumerate(triples, 1)}
    assert entered.found() == expected


def test_templates_of_one_shape_share_links_and_a_repeated_feature_is_found() -> None:
    two = Entered([0, 1], [7, 9, 7, 9], 2, 16, n_templates=2)
    assert (two.done, two.counts.tolist()) == (2, [2, 1, 2])  # one number, one link, two features
    assert Entered([0, 1, 0], [7, 9, 7, 9, 7, 9], 2, 16, n_templates=2).done == 2


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(1, 9), numbers, numbers), unique=True, max_size=60))
def test_a_rehashed_table_holds_the_same_rows(links) -> None:
    small = np.zeros((len(links) + 1, 2), np.int64)
    for row, (tag, a, b) in enumerate(links):
        small[row] = a << 32 | b, tag << 32 | row + 1
    large = Entered([], [], 2, 256)
    large.table.rehash(small)
    rows = large.links[large.links[:, 1] != 0]
    assert sorted(rows.tolist()) == sorted(small[:-1].tolist())


def test_numbers_spread_over_the_table() -> None:
    """Dense ids, as the encoder makes them, must not cluster: probes stay short."""
    n = 60
    pairs = [(a, b) for a in range(n) for b in range(n)]
    entered = Entered([0] * len(pairs), [v for p in pairs for v in p], 2, 8192)
    used = np.flatnonzero(entered.links[:, 1])
    runs = np.split(used, np.flatnonzero(np.diff(used) != 1) + 1)
    assert max(map(len, runs)) < 60
