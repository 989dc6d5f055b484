"""Decoding equals trying every label sequence; the weight store never loses a weight."""

from __future__ import annotations

import dataclasses
import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest
import sequence_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sequence_cases import (
    draw_sentence,
    draw_weights,
    encoded,
    flat,
    frozen,
    no_rules,
    thawed_dict,
)

from seqpa.errors import SeqpaError
from seqpa.sequence import weights as weights_module
from seqpa.sequence.costs import sequence_cost
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.encode import Encoded
from seqpa.sequence.learner import ChainLearner
from seqpa.sequence.weights import FrozenWeights, TrainingWeights, dense_at, padded

CLOSE = 1e-4


class Case(NamedTuple):
    """A model and a few sentences, twice."""

    w: reference.Vector
    sentences: list[reference.Sentence]
    K: int
    exact: bool
    decoder: Decoder
    encoded: Encoded


@st.composite
def cases(draw: Any, pairs: bool | None = None) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    K = draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(0, 5 if K < 4 else 4), min_size=1, max_size=4))
    n_features = draw(st.integers(1, 5))
    has_pairs = draw(st.booleans()) if pairs is None else pairs
    n_steps = draw(st.integers(1, 3)) if has_pairs else None
    exact, real = draw(st.booleans()), draw(st.booleans())
    w = draw_weights(rng, n_features, K, n_steps, exact)
    sentences = [draw_sentence(rng, n, n_features, n_steps, real) for n in lengths]
    dense = np.flatnonzero(rng.random(n_features) < 0.5)
    decoder = Decoder(frozen(w, n_features, K, n_steps, dense), no_rules(K))
    return Case(w, sentences, K, exact, decoder, encoded(sentences, ones=rng.random() < 0.5))


def same_path(case: Case, order: list[tuple[float, reference.Path]], path: Any) -> None:
    """Exact sums: the very path, ties and all. Others: its score, and it where it is clear."""
    if case.exact or len(order) == 1 or order[0][0] - order[1][0] > CLOSE:
        assert tuple(path) == order[0][1]
    else:
        assert {p: s for s, p in order}[tuple(path)] == pytest.approx(order[0][0], abs=CLOSE)


def paths(encoded: Encoded, flat_path: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(flat_path[a:b].tolist()) for a, b in itertools.pairwise(encoded.starts)]


@pytest.mark.pure
@settings(max_examples=150)
@given(cases())
def test_viterbi_is_the_best_of_all(case: Case) -> None:
    found = paths(case.encoded, case.decoder.decode(case.encoded))
    for i, (sentence, path) in enumerate(zip(case.sentences, found, strict=True)):
        order = reference.ranked(case.w, sentence, case.K)
        same_path(case, order, path)
        score = case.decoder.score(case.encoded, i, np.array(path, np.int32))
        assert score == pytest.approx(order[0][0], abs=CLOSE)


@pytest.mark.pure
@settings(max_examples=100)
@given(cases(), st.randoms(use_true_random=False))
def test_fixed_labels_are_kept_and_the_rest_is_best(case: Case, random: Any) -> None:
    k = random.randint(1, 9)
    wishes = [
        [random.choice([None, random.randrange(case.K)]) for _ in s.tokens] for s in case.sentences
    ]
    fixed = np.array([-1 if y is None else y for wish in wishes for y in wish], np.int32)
    if not len(fixed):
        return
    found = paths(case.encoded, case.decoder.decode(case.encoded, fixed))
    for i, (sentence, path, wish) in enumerate(zip(case.sentences, found, wishes, strict=True)):
        assert all(y is None or y == label for y, label in zip(wish, path, strict=True))
        order = reference.ranked(case.w, sentence, case.K, fixed=wish)
        same_path(case, order, path)
        best = case.decoder.nbest(case.encoded, i, k, fixed)
        assert len({tuple(path) for _, path in best}) == len(best) == min(k, len(order))
        scores = {path: score for score, path in order}
        for (score, found_path), (expected, _) in zip(best, order, strict=False):
            assert score == pytest.approx(expected, abs=CLOSE)
            assert score == pytest.approx(scores[tuple(found_path)], abs=CLOSE)


@pytest.mark.pure
@settings(max_examples=100)
@given(cases(), st.integers(1, 30))
def test_nbest_are_the_best_of_all(case: Case, k: int) -> None:
    for i, sentence in enumerate(case.sentences):
        order = reference.ranked(case.w, sentence, case.K)
        found = case.decoder.nbest(case.encoded, i, k)
        assert len(found) == min(k, len(order))
        assert len({tuple(path) for _, path in found}) == len(found)
        scores = {path: score for score, path in order}
        for (score, path), (expected, _) in zip(found, order, strict=False):
            assert score == pytest.approx(expected, abs=CLOSE)
            assert score == pytest.approx(scores[tuple(path)], abs=CLOSE)
        if case.exact:
            assert [tuple(path) for _, path in found] == [path for _, path in order[:k]]


@pytest.mark.pure
@settings(max_examples=100)
@given(cases())
def test_max_marginals_are_the_best_through_each_label(case: Case) -> None:
    for i, sentence in enumerate(case.sentences):
        expected = np.array(reference.max_marginals(case.w, sentence, case.K))
        found = case.decoder.max_marginals(case.encoded, i)
        np.testing.assert_allclose(found, expected.reshape(found.shape), atol=CLOSE)


# Larger chains, against the float64 dynamic programme


def tokens_as_features(emissions: np.ndarray, transitions: np.ndarray) -> tuple[Any, Encoded]:
    """A model in which token t is feature t: its weights are the emissions."""
    n, K = emissions.shape
    width = padded(K)
    arena = np.zeros((n, width), np.float32)
    arena[:, :K] = emissions
    rows = np.stack([np.arange(n) * width, np.full(n, -1)], axis=1).astype(np.int32)
    weights = FrozenWeights(K, rows, arena.reshape(-1), transitions.astype(np.float32))
    data = Encoded(
        np.array([0, n], np.int64), np.arange(n + 1, dtype=np.int64), np.arange(n, dtype=np.int32)
    )
    return weights, data


def unpruned(weights: FrozenWeights) -> FrozenWeights:
    """The same weights with room for pair features, of which there are none: nothing is pruned."""
    nothing = np.zeros((0, 2), np.int32), np.zeros(0, np.float32)
    return dataclasses.replace(weights, pair_rows=nothing[0], pair_arena=nothing[1])


@pytest.mark.pure
@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.integers(1, 20),
    st.floats(0, 3),
    st.booleans(),
)
def test_pruning_changes_nothing(seed: int, K: int, n: int, strength: float, exact: bool) -> None:
    rng = np.random.default_rng(seed)
    emissions, transitions = rng.normal(size=(n, K)), strength * rng.normal(size=(K, K))
    if exact:  # ties everywhere
        emissions, transitions = emissions.round(), transitions.round()
    weights, data = tokens_as_features(emissions, transitions)
    pruned = Decoder(weights, no_rules(K)).decode(data)
    np.testing.assert_array_equal(pruned, Decoder(unpruned(weights), no_rules(K)).decode(data))
    best, path = reference.viterbi(emissions.astype(np.float32), transitions.astype(np.float32))
    if exact:
        assert pruned.tolist() == path
    score = Decoder(weights, no_rules(K)).score(data, 0, pruned)
    assert score == pytest.approx(best, abs=1e-4 * n)


@pytest.mark.parametrize("prune", [True, False])
def test_a_hundred_thousand_tokens_lose_no_precision(prune: bool) -> None:
    # Every token adds about a thousand: kept as plain sums in float32, scores would reach 10⁸
    # and the differences below, of a thousandth, would vanish.
    rng = np.random.default_rng(3)
    emissions = (1000 + rng.normal(size=(100_000, 3))).astype(np.float32)
    transitions = (rng.normal(size=(3, 3))).astype(np.float32)
    weights, data = tokens_as_features(emissions, transitions)
    path = Decoder(weights if prune else unpruned(weights), no_rules(3)).decode(data)
    _, expected = reference.viterbi(emissions, transitions)
    different = np.flatnonzero(path != expected)
    assert len(different) <= 20  # float32 emissions near 1000 differ by 6e-5: near ties may flip

    def relative(labels: Any) -> float:
        labels = np.array(labels)
        own = emissions[np.arange(len(labels)), labels].astype(np.float64) - 1000
        return float(own.sum() + transitions[labels[:-1], labels[1:]].sum(dtype=np.float64))

    assert relative(path) == pytest.approx(relative(expected), abs=1e-2)


@pytest.mark.parametrize("K", [1, 2, 7, 8, 9, 22, 100, 700])
def test_sparse_and_dense_rows_are_the_same_weights(K: int) -> None:
    rng = np.random.default_rng(K)
    n_features = 30
    w: reference.Vector = {
        ("state", f, int(y)): float(rng.integers(-8, 9)) / 8
        for f in range(n_features)
        for y in rng.choice(K, size=min(K, 1 + f), replace=False)
    }
    w |= {
        ("transition", int(p), int(y)): float(rng.integers(-8, 9)) / 8
        for p, y in rng.integers(K, size=(4 * K, 2))
    }
    sentences = [draw_sentence(rng, 6, n_features, None, False) for _ in range(5)]
    data = encoded(sentences)
    results = []
    for dense in (range(0), range(n_features), range(0, n_features, 2)):
        weights = frozen(w, n_features, K, None, dense)
        assert thawed_dict(weights) == {key: value for key, value in w.items() if value}
        results.append(Decoder(weights, no_rules(K)).decode(data))
        assert thawed_dict(TrainingWeights.thawed(weights).freeze(False)) == thawed_dict(weights)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    matrix = np.zeros((K, K))
    for key, value in w.items():
        if key[0] == "transition":
            matrix[key[1:]] = value
    for sentence, path in zip(sentences, paths(data, results[0]), strict=True):
        em = np.array(reference.emissions(w, sentence, K))
        assert list(path) == reference.viterbi(em, matrix)[1]


@pytest.mark.pure
def test_no_sentences_and_empty_sentences() -> None:
    decoder = Decoder(frozen({("state", 0, 1): 1.0}, 1, 2, None), no_rules(2))
    assert decoder.decode(encoded([])).tolist() == []
    data = encoded(
        [
            reference.Sentence([]),
            reference.Sentence([[(0, 1.0)], []]),
            reference.Sentence([]),
        ]
    )
    assert decoder.decode(data).tolist() == [1, 0]
    assert decoder.nbest(data, 0, 5) == [(0.0, [])]
    assert decoder.max_marginals(data, 0).shape == (0, 2)


@pytest.mark.pure
def test_ties_go_to_the_label_that_comes_first() -> None:
    decoder = Decoder(frozen({}, 1, 9, None), no_rules(9))
    data = encoded([reference.Sentence([[]] * 4)])
    assert decoder.decode(data).tolist() == [0, 0, 0, 0]
    assert decoder.nbest(data, 0, 3)[2] == (0.0, [2, 0, 0, 0])


def test_many_threads_decode_as_one() -> None:
    rng = np.random.default_rng(11)
    K, n_features = 12, 40
    w = draw_weights(rng, n_features, K, 3, exact=False)
    sentences = [
        draw_sentence(rng, int(rng.integers(0, 30)), n_features, 3, True) for _ in range(200)
    ]
    data = encoded(sentences)
    decoder = Decoder(frozen(w, n_features, K, 3, range(0, n_features, 3)), no_rules(K))
    expected = decoder.decode(data)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: decoder.decode(data), range(32)):
            np.testing.assert_array_equal(found, expected)


# The store while it is trained


def trained(
    K: int, n_steps: int | None, seed: int, weights: TrainingWeights | None = None
) -> tuple[TrainingWeights, ChainLearner, Encoded, np.ndarray]:
    """Weights after an epoch over sentences of 60 features and K labels."""
    rng = np.random.default_rng(seed)
    sentences = [draw_sentence(rng, 8, 60, n_steps, True) for _ in range(40)]
    gold = rng.integers(K, size=8 * 40).astype(np.int32)
    labels = [f"L{k:03}" for k in range(K)]
    learner = ChainLearner("pa-i", 0.5, sequence_cost("hamming", labels), no_rules(K), labels)
    weights = weights or TrainingWeights(K, 60, n_steps)
    data = encoded(sentences)
    learner.epoch(weights, data, gold, np.arange(40, dtype=np.int64))
    return weights, learner, data, gold


def assert_same(a: TrainingWeights, b: TrainingWeights) -> None:
    for average in (False, True):
        assert thawed_dict(a.freeze(average)) == thawed_dict(b.freeze(average))
    assert a.clock == b.clock


@pytest.mark.parametrize("n_steps", [None, 2])
@pytest.mark.parametrize("K", [1, 3, 9, 40, 120])
def test_a_store_that_grows_loses_nothing(
    K: int, n_steps: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    roomy, *_ = trained(K, n_steps, seed=K)
    monkeypatch.setattr(weights_module, "_first_capacity", lambda n_rows: 8)
    moves = []
    move = TrainingWeights._move
    monkeypatch.setattr(
        TrainingWeights, "_move", lambda self, *sizes: (moves.append(sizes), move(self, *sizes))
    )
    tight, *_ = trained(K, n_steps, seed=K)
    assert len(moves) >= (0 if K == 1 else 2)  # one label makes no mistakes
    assert_same(roomy, tight)


@pytest.mark.parametrize("n_steps", [None, 2])
@pytest.mark.parametrize(("K", "more"), [(1, 2), (3, 5), (7, 9), (8, 60), (40, 300)])
def test_new_labels_and_features_keep_the_old_weights(
    K: int, more: int, n_steps: int | None
) -> None:
    weights, *_ = trained(K, n_steps, seed=1)
    before = [thawed_dict(weights.freeze(average)) for average in (False, True)]
    weights = weights.resized(more, 100, None if n_steps is None else 5)
    assert weights.n_features == 100
    assert [thawed_dict(weights.freeze(average)) for average in (False, True)] == before
    # Growing first or last is the same to later training.
    late, learner, data, gold = trained(more, n_steps, seed=2, weights=weights)
    early = TrainingWeights(K, 60, n_steps)
    early = early.resized(K, 100, None if n_steps is None else 5)
    trained(K, n_steps, seed=1, weights=early)
    early = early.resized(more, 100, None if n_steps is None else 5)
    learner.epoch(early, data, gold, np.arange(40, dtype=np.int64))
    assert_same(late, early)


@pytest.mark.parametrize("n_steps", [None, 2])
@pytest.mark.parametrize("K", [1, 9, 50])
def test_copies_and_arrays_go_on_alike(K: int, n_steps: int | None) -> None:
    weights, learner, data, gold = trained(K, n_steps, seed=4)
    stored = {name: array.copy() for name, array in weights.to_arrays().items()}
    order = np.arange(40, dtype=np.int64)[::-1].copy()
    twin = weights.copy()
    learner.epoch(weights, data, gold, order)
    for again in (twin, TrainingWeights.from_arrays(stored)):
        learner.epoch(again, data, gold, order)
        assert_same(weights, again)


@pytest.mark.parametrize("n_steps", [None, 2])
@pytest.mark.parametrize("K", [1, 9, 50])
def test_freezing_and_thawing_is_a_round_trip(K: int, n_steps: int | None) -> None:
    weights, learner, data, gold = trained(K, n_steps, seed=5)
    for average in (False, True):
        fixed = weights.freeze(average)
        fixed.validate()
        thawed = TrainingWeights.thawed(fixed)
        assert thawed.clock == 0.0
        assert thawed_dict(thawed.freeze(False)) == thawed_dict(fixed)
    # The last weights, thawed, learn on as if they had never been frozen.
    thawed = TrainingWeights.thawed(weights.freeze(False))
    for each in (weights, thawed):
        learner.epoch(each, data, gold, np.arange(40, dtype=np.int64))
    assert thawed_dict(thawed.freeze(False)) == thawed_dict(weights.freeze(False))


def test_frozen_rows_are_sparse_up_to_a_limit_and_hold_no_zeros() -> None:
    weights, *_ = trained(50, None, seed=6)
    fixed = weights.freeze(False)
    sizes = fixed.rows[:, 1]
    assert (sizes <= dense_at(50)).all()
    assert (sizes == -1).any()
    assert (sizes > 0).any()
    assert all(value != 0.0 for value in thawed_dict(fixed).values())


@pytest.mark.pure
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("rows", lambda a: a + np.array([0, 1000])),
        ("rows", lambda a: a - np.array([1000, 0])),
        ("rows", lambda a: np.where(a < 0, -2, a)),
        ("rows", lambda a: a[:, :1]),
        ("arena", lambda a: a[:-1]),
        ("arena", lambda a: np.where(np.arange(len(a)) == 0, 2.0, a)),
        ("arena", lambda a: np.where(np.arange(len(a)) == 0, 0.5, a)),
        ("arena", lambda a: np.where(np.arange(len(a)) == 0, np.nan, a)),
        ("arena", lambda a: np.where(np.arange(len(a)) == 1, np.inf, a)),
        ("transitions", lambda a: a[:1]),
        ("transitions", lambda a: a * np.nan),
        ("pair_rows", lambda a: -a),
        ("pair_arena", lambda a: a + 16),
    ],
)
def test_damaged_weights_are_refused(name: str, change: Any) -> None:
    w = {("state", 0, 1): 1.0, ("state", 1, 0): 2.0, ("transition", 0, 1): 1.0}
    good = frozen({**w, ("pair", 0, 1, 0): 1.0}, 2, 2, 1, dense=[1])
    parts = {
        field: getattr(good, field)
        for field in ("n_labels", "rows", "arena", "transitions", "pair_rows", "pair_arena")
    }
    parts[name] = change(parts[name]).astype(parts[name].dtype)
    with pytest.raises(SeqpaError, match="damaged model"):
        FrozenWeights(**parts).validate()


@pytest.mark.pure
def test_a_single_sentence_decodes_as_in_company() -> None:
    rng = np.random.default_rng(8)
    w = draw_weights(rng, 6, 4, None, exact=False)
    sentences = [draw_sentence(rng, n, 6, None, True) for n in (3, 0, 7, 1)]
    decoder = Decoder(frozen(w, 6, 4, None), no_rules(4))
    together = decoder.decode(encoded(sentences))
    alone = [tuple(decoder.decode(encoded([sentence])).tolist()) for sentence in sentences]
    np.testing.assert_array_equal(together, flat(alone))
