"""argmax score + √cost over whole chains: every sequence tried, or every total cost."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sequence_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sequence_cases import draw_sentence, draw_weights, encoded, frozen, no_rules

from seqpa import Hierarchy, SequenceTagger
from seqpa.sequence.constraints import penalties
from seqpa.sequence.costs import LARGEST_WHOLE, common_unit, sequence_cost
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.weights import padded


def padded_costs(costs: np.ndarray) -> np.ndarray:
    table = np.zeros((len(costs), padded(len(costs))), np.float32)
    table[:, : len(costs)] = costs
    return table


def draw_costs(rng: np.random.Generator, K: int) -> np.ndarray:
    costs = rng.integers(0, rng.choice([2, 5, 30]), (K, K))
    np.fill_diagonal(costs, 0)
    return costs


@pytest.mark.pure
@settings(max_examples=150)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.03, 0.2, 1.0]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1.0, 0.3, 7.0]),
)
def test_it_is_the_best_of_all_sequences(
    seed: int, scale: float, pairs: bool, partial: bool, unit: float
) -> None:
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 5))
    n = int(rng.integers(1, {1: 7, 2: 7, 3: 6, 4: 5}[K]))
    steps = 2 if pairs else None
    w = draw_weights(rng, 6, K, steps, exact=False)
    w = {key: float(np.float32(scale * value)) for key, value in w.items()}
    sentence = draw_sentence(rng, n, 6, steps, True)
    costs = draw_costs(rng, K)
    gold = rng.integers(-1 if partial else 0, K, n).astype(np.int32)
    decoder = Decoder(frozen(w, 6, K, steps), no_rules(K))
    value, path = decoder.max_loss(encoded([sentence]), 0, gold, padded_costs(costs), unit)

    def value_of(score: float, labels: Any) -> float:
        return score + math.sqrt(
            unit * sum(costs[g, y] for g, y in zip(gold, labels, strict=True) if g >= 0)
        )

    values = {labels: value_of(score, labels) for score, labels in reference.ranked(w, sentence, K)}
    assert value == pytest.approx(max(values.values()), abs=1e-4)
    assert values[tuple(path.tolist())] == pytest.approx(value, abs=1e-4)


@settings(max_examples=100)
@given(
    st.lists(st.integers(1, LARGEST_WHOLE), min_size=1, max_size=6),
    st.fractions(Fraction(1, 30), 50, max_denominator=30),
)
def test_costs_are_multiples_of_their_unit(whole: list[int], unit: Fraction) -> None:
    numbers = [float(np.float32(float(k * unit))) for k in whole]
    found = common_unit(numbers)
    expected = float(math.gcd(*whole) * unit)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("numbers", [[1.0, 2**0.5], [1.0, 1001.0], [1e-9], [0.001, 1.5]])
def test_costs_without_a_unit(numbers: list[float]) -> None:
    assert common_unit(numbers) == 0.0


@pytest.mark.parametrize("lengths", [(1, 1), (0.5, 1.5), (0.1, 0.2), (3, 6)])
def test_edges_of_any_length_are_trained_for(lengths: tuple[float, float]) -> None:
    """The same weights as with the best of all sequences as candidates."""
    rng = np.random.default_rng(5)
    X = [[{f"w{rng.integers(4)}": 1.0, "b": rng.normal()} for _ in range(3)] for _ in range(12)]
    y = [[str(rng.choice(["A", "B", "C"])) for _ in range(3)] for _ in X]
    tree = Hierarchy({"AB": {"A": lengths[0], "B": lengths[0]}, "C": lengths[1]})
    one, other = (
        SequenceTagger(cost=tree, update=update, n_best=27, C=0.3, random_state=1, epochs=2)
        for update in ("max-loss", "n-best")
    )
    one.fit(X, y)
    other.fit(X, y)
    assert one.state_features_ == pytest.approx(other.state_features_, abs=1e-5)
    assert one.online_cost_ == pytest.approx(other.online_cost_)


def long_chain(rng: np.random.Generator, n: int, K: int, scale: float) -> tuple[Any, ...]:
    """Emissions, transitions, and both as weights and a sentence: a feature for each token."""
    em = rng.normal(size=(n, K)).astype(np.float32) * np.float32(scale)
    tr = rng.normal(size=(K, K)).astype(np.float32) * np.float32(scale)
    w: reference.Vector = {("state", t, y): float(em[t, y]) for t in range(n) for y in range(K)}
    w |= {("transition", p, y): float(tr[p, y]) for p in range(K) for y in range(K)}
    return em, tr, frozen(w, n, K, None), reference.Sentence([[(t, 1.0)] for t in range(n)])


@pytest.mark.parametrize("scale", [0.01, 0.1, 0.5, 2.0])
@pytest.mark.parametrize(("n", "K"), [(25, 3), (40, 2), (12, 9)])
def test_long_chains_equal_the_table_of_all_costs(n: int, K: int, scale: float) -> None:
    rng = np.random.default_rng([n, K, int(100 * scale)])
    for _ in range(6):
        em, tr, weights, sentence = long_chain(rng, n, K, scale)
        costs = draw_costs(rng, K)
        gold = rng.integers(0, K, n).astype(np.int32)
        value, path = Decoder(weights, no_rules(K)).max_loss(
            encoded([sentence]), 0, gold, padded_costs(costs)
        )
        expected, _ = reference.max_loss(em.astype(float), tr.astype(float), costs[gold])
        assert value == pytest.approx(expected, rel=1e-5, abs=1e-4)
        rho = costs[gold, path].sum()
        score = em[range(n), path].sum() + tr[path[:-1], path[1:]].sum()
        assert score + math.sqrt(rho) == pytest.approx(value, rel=1e-5, abs=1e-3)


def test_the_table_grows_and_documents_are_no_matter() -> None:
    rng = np.random.default_rng(3)
    n, K = 4000, 4
    _, _, weights, sentence = long_chain(rng, n, K, 0.3)
    decoder = Decoder(weights, no_rules(K))
    gold = decoder.decode(encoded([sentence]))
    wrong = rng.random(n) < 0.1
    gold[wrong] = rng.integers(0, K, int(wrong.sum()))
    cost = sequence_cost({"a": {"b": float(LARGEST_WHOLE)}}, "abcd").by_label(K, padded(K))
    value, path = decoder.max_loss(encoded([sentence]), 0, gold, cost)
    at_least = decoder.score(encoded([sentence]), 0, path) + math.sqrt(cost[gold, path].sum())
    assert value == pytest.approx(at_least, rel=1e-5)
    for candidate in (gold, decoder.decode(encoded([sentence]))):
        score = decoder.score(encoded([sentence]), 0, candidate)
        assert value >= score + math.sqrt(cost[gold, candidate].sum()) - 1e-2


def test_constraints_are_kept() -> None:
    rng = np.random.default_rng(4)
    labels = ("B-x", "I-x", "O")
    legal = reference.scheme("bio", labels)
    rules = penalties("bio", labels)
    cost = sequence_cost("hamming", labels).by_label(3, padded(3))
    for _ in range(40):
        w = draw_weights(rng, 5, 3, None, exact=False)
        w = {key: 0.2 * v for key, v in w.items() if key != ("transition", 2, 1)}
        sentence = draw_sentence(rng, 5, 5, None, True)
        found = reference.ranked(w, sentence, 3, legal)
        gold = np.array(found[int(rng.integers(len(found)))][1], np.int32)
        value, path = Decoder(frozen(w, 5, 3, None), rules).max_loss(
            encoded([sentence]), 0, gold, cost
        )
        best = max(
            score + math.sqrt(reference.hamming(gold.tolist(), path)) for score, path in found
        )
        assert value == pytest.approx(best, abs=1e-4)
        assert legal(tuple(path.tolist()))


def test_nbest_of_all_sequences_is_max_loss_under_hamming_too() -> None:
    rng = np.random.default_rng(14)
    X = [
        [{"a": float(v), f"w{rng.integers(3)}": 1.0} for v in rng.normal(size=3)] for _ in range(9)
    ]
    y = [[str(rng.choice(["A", "B"])) for _ in range(3)] for _ in X]
    both = [
        SequenceTagger(update=update, n_best=8, random_state=0, epochs=2).fit(X, y)
        for update in ("max-loss", "n-best")
    ]
    assert both[0].state_features_ == pytest.approx(both[1].state_features_, abs=1e-6)
    assert both[0].online_cost_ == both[1].online_cost_
    lessons = [tagger.learn_one(X[0], y[0][::-1]) for tagger in both]
    assert lessons[0].predicted == lessons[1].predicted
    assert lessons[0].loss == pytest.approx(lessons[1].loss, abs=1e-5)
