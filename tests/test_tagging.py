"""Tagging in runs, in buffers that are used again, against plain encoding and decoding."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqpa.sequence import tagging
from seqpa.sequence.constraints import penalties
from seqpa.sequence.encode import FeatureEncoder
from seqpa.sequence.inputs import FeatureSource, flat_columns
from seqpa.sequence.resources import Clusters, Lexicon
from seqpa.sequence.tagging import Tagging, cut
from seqpa.sequence.weights import FrozenWeights

COLUMNS = ("word", "pos", "other")  # no template looks at the last
RESOURCES = {"cities": Lexicon(["ab", "ab Ba"]), "tree": Clusters({"ab": "01", "Ba": "00"})}
TEMPLATES = [
    "bias",
    "word[0]",
    "word[-1]|word[0]",
    "pos[1]",
    "pos[-1]|pos[0]",
    "prefix(1)[0]",
    "suffix(2)[0]",
    "suffix(1, pos)[1]",
    "lower[0]|pos[0]",
    "isupper[-1]",
    'cluster("tree", 1)[0]',
    'lexicon("cities")[0]',
]
words = st.sampled_from(["a", "ab", "Ba", "AB", "b", "", "xb", "Axb"])
token = st.tuples(words, st.sampled_from(["N", "V", "Q"]), st.sampled_from(["", "x"]))
texts = st.lists(st.lists(token, max_size=5), max_size=6)


def numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-9, 10, shape).astype(np.float32)  # their sums are exact


def tagging_of(X: list, templates: list[str], n_labels: int, seed: int) -> Tagging:
    """Random weights for the features of some sentences, in dense rows."""
    rng = np.random.default_rng(seed)
    encoder = FeatureEncoder(templates, COLUMNS, 1, RESOURCES)
    encoder.fit_transform(*flat_columns(X, COLUMNS))
    labels = [f"L{k}" for k in range(n_labels)]
    width = -(-n_labels // 8) * 8

    def dense(n: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        rows = np.stack([size * np.arange(n), np.full(n, -1)], axis=1).astype(np.int32)
        return rows, numbers(rng, n * size)

    pairs = dense(encoder.n_pair_features, n_labels * width) if encoder.pairs else (None, None)
    transitions = numbers(rng, n_labels, n_labels)
    weights = FrozenWeights(n_labels, *dense(encoder.n_features, width), transitions, *pairs)
    rules = penalties({"forbidden": [("L0", "L1")]} if n_labels > 2 else None, labels)
    return Tagging(FeatureSource(encoder, None), weights, rules, labels)


def plainly(how: Tagging, X: list, fixed: np.ndarray | None = None) -> list[list[str]]:
    encoded, decoder = how.prepared(X)
    path = decoder.decode(encoded, fixed)
    return [[f"L{k}" for k in path[begin:end]] for begin, end in pairwise(encoded.starts)]


@pytest.mark.pure
@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(TEMPLATES), min_size=1, max_size=8, unique=True),
    st.booleans(),
    texts,
    st.lists(texts, min_size=1, max_size=4),
    st.sampled_from([1, 3, 9]),
    st.sampled_from([1, 4, 1000]),
    st.sampled_from([1, 7, 1000]),
    st.integers(0, 2**32),
)
def test_texts_that_follow_each_other_are_tagged_as_if_each_were_the_first(
    templates, pairs, X, more, n_labels, size, numbered, seed
) -> None:
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tagging, "_RUN", size)
        patch.setattr(tagging, "_NUMBERED", numbered)
        how = tagging_of(X, templates + ["pair:pos[0]"] * pairs, n_labels, seed)
        for text in [*more, X, *more]:
            assert how.predict(text) == plainly(how, text)
            assert how.predict(text, n_jobs=2) == plainly(how, text)
            given = rng.integers(-1, 1, sum(map(len, text))).astype(np.int32)
            assert how.predict(text, given) == plainly(how, text, given)


@given(st.lists(st.integers(0, 5)), st.integers(1, 12))
def test_runs_are_as_long_as_they_may_be(lengths, size) -> None:
    starts = np.cumsum([0, *lengths])
    runs = cut(starts, size)
    assert [s for run in runs for s in range(run.start, run.stop)] == list(range(len(lengths)))
    tokens = [sum(lengths[run]) for run in runs]
    for run, n in zip(runs, tokens, strict=True):
        assert n <= size or run.stop - run.start == 1
    for run, following in pairwise(runs):
        assert sum(lengths[run.start : following.start + 1]) > size
