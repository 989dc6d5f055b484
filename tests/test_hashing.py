"""The compiled table of links against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqpa._kernel import hashing

pytestmark = pytest.mark.pure

BIG = 2**31 - 1
numbers = st.one_of(st.integers(0, 3), st.integers(0, BIG), st.just(BIG))


def entered(which, values, first_part, capacity):
    """Run `restore` on features of several parts; returns (how many, table, state)."""
    table = np.zeros((capacity, 2), np.int64)
    state = np.zeros(hashing.STATE_SIZE, np.int64)
    direct_at = np.zeros(len(first_part), np.int64)
    done = hashing.restore(
        np.array(which, np.int32),
        np.array(values, np.int64),
        np.array(first_part, np.int64),
        direct_at,
        np.full(1, -1, np.int32),
        table,
        state,
    )
    return done, table, state


@given(st.lists(st.tuples(numbers, numbers), unique=True, max_size=40))
def test_pairs_get_numbers_in_the_order_in_which_they_come(pairs) -> None:
    done, table, state = entered([0] * len(pairs), [v for pair in pairs for v in pair], [0, 2], 128)
    assert done == len(pairs) == state[0] == state[2]
    found = {(int(k) >> 32, int(k) & BIG): int(v) for k, v in table if v != 0}
    assert found == {pair: 1 << 32 | n for n, pair in enumerate(pairs)}


@given(st.lists(st.tuples(numbers, numbers, numbers), unique=True, max_size=30))
def test_triples_share_their_first_link(triples) -> None:
    done, table, state = entered(
        [0] * len(triples), [v for triple in triples for v in triple], [0, 3], 128
    )
    nodes = list(dict.fromkeys(triple[:2] for triple in triples))
    assert (done, state[0], state[1]) == (len(triples), len(triples), len(nodes))
    found = {(int(v) >> 32, int(k) >> 32, int(k) & BIG): int(v) & BIG for k, v in table if v != 0}
    expected = {(1, *node): n for n, node in enumerate(nodes)}
    expected |= {(2, nodes.index((a, b)), c): n for n, (a, b, c) in enumerate(triples)}
    assert found == expected


def test_templates_do_not_share_links_and_a_repeated_feature_is_found() -> None:
    assert entered([0, 1], [7, 9, 7, 9], [0, 2, 4], 16)[0] == 2
    assert entered([0, 1, 0], [7, 9, 7, 9, 7, 9], [0, 2, 4], 16)[0] == 2


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(1, 9), numbers, numbers), unique=True, max_size=60))
def test_a_rehashed_table_holds_the_same_rows(links) -> None:
    small = np.zeros((len(links) + 1, 2), np.int64)
    for row, (tag, a, b) in enumerate(links):
        small[row] = a << 32 | b, tag << 32 | row
    large = np.zeros((256, 2), np.int64)
    hashing.rehash(small, large)
    assert sorted(large[large[:, 1] != 0].tolist()) == sorted(small[:-1].tolist())


def test_numbers_spread_over_the_table() -> None:
    """Dense ids, as the encoder makes them, must not cluster: probes stay short."""
    n = 60
    pairs = [(a, b) for a in range(n) for b in range(n)]
    _, table, _ = entered([0] * len(pairs), [v for p in pairs for v in p], [0, 2], 8192)
    used = np.flatnonzero(table[:, 1])
    runs = np.split(used, np.flatnonzero(np.diff(used) != 1) + 1)
    assert max(map(len, runs)) < 60
