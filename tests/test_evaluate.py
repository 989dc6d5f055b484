"""Scores against a second conlleval written from its definition, and tests of significance."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa.errors import SeqpaError
from seqpa.evaluate import compare, conlleval_text, evaluate

LABELS = ["O", "B-NP", "I-NP", "B-VP", "I-VP", "B-A-B", "I-A-B"]


def label_lists(labels: list[str]):
    pair = st.tuples(st.sampled_from(labels), st.sampled_from(labels))
    return st.lists(st.lists(pair, min_size=1, max_size=8), min_size=1, max_size=5).map(
        lambda rows: ([[g for g, _ in s] for s in rows], [[p for _, p in s] for s in rows])
    )


def conlleval(gold: list[list[str]], predicted: list[list[str]]) -> str:
    """One pass over the tokens with conlleval's state: is a chunk open that is right so far?"""

    def parts(label: str) -> tuple[str, str]:
        return (label.split("-", 1)[0], label.split("-", 1)[1]) if "-" in label else (label, "")

    ends_between = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
    starts_between = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}

    def ends(before: tuple[str, str], now: tuple[str, str]) -> bool:
        return before[0] + now[0] in ends_between or (before[0] != "O" and before[1] != now[1])

    def starts(before: tuple[str, str], now: tuple[str, str]) -> bool:
        return before[0] + now[0] in starts_between or (now[0] != "O" and before[1] != now[1])

    outside = ("O", "")
    tokens = right_tokens = 0
    right, there, found = Counter[str](), Counter[str](), Counter[str]()
    right_so_far = False
    last = (outside, outside)
    for gold_labels, predicted_labels in zip(gold, predicted, strict=True):
        # The blank line after a sentence is one more step, outside of every chunk.
        for g, p in [*zip(gold_labels, predicted_labels, strict=True), (None, None)]:
            now = (outside, outside) if g is None or p is None else (parts(g), parts(p))
            tokens += g is not None
            right_tokens += g is not None and g == p
            gold_ends, predicted_ends = ends(last[0], now[0]), ends(last[1], now[1])
            if right_so_far and gold_ends and predicted_ends and last[0][1] == last[1][1]:
                right[last[0][1]] += 1
                right_so_far = False
            elif right_so_far and (gold_ends != predicted_ends or now[0][1] != now[1][1]):
                right_so_far = False
            gold_starts, predicted_starts = starts(last[0], now[0]), starts(last[1], now[1])
            if gold_starts and predicted_starts and now[0][1] == now[1][1]:
                right_so_far = True
            there[now[0][1]] += gold_starts
            found[now[1][1]] += predicted_starts
            last = now

    def scores(correct: int, guessed: int, all_of_them: int) -> str:
        precision = 100 * correct / guessed if guessed else 0.0
        recall = 100 * correct / all_of_them if all_of_them else 0.0
        both = precision + recall
        f1 = 2 * precision * recall / both if both else 0.0
        return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"

    totals = (sum(right.values()), sum(found.values()), sum(there.values()))
    lines = [
        f"processed {tokens} tokens with {totals[2]} phrases; "
        f"found: {totals[1]} phrases; correct: {totals[0]}.",
        f"accuracy: {100 * right_tokens / tokens:6.2f}%; {scores(*totals)}",
    ]
    for kind in sorted(k for k in {*there, *found} if there[k] or found[k]):
        line = scores(right[kind], found[kind], there[kind])
        lines.append(f"{kind:>17}: {line}  {found[kind]}")
    return "\n".join(lines)


@given(label_lists(LABELS))
def test_equal_to_conlleval_to_the_digit(pair) -> None:
    assert conlleval_text(evaluate(*pair)) == conlleval(*pair)


@given(label_lists(["O", "B", "I"]))
def test_equal_to_conlleval_without_types(pair) -> None:
    assert conlleval_text(evaluate(*pair)) == conlleval(*pair)


def test_every_pair_of_three_labels() -> None:
    short = ["O", "B-X", "I-X", "I-Y"]
    sequences = list(product(short, repeat=3))
    for gold, predicted in product(sequences, sequences):
        pair = [list(gold)], [list(predicted)]
        assert conlleval_text(evaluate(*pair)) == conlleval(*pair)


@given(label_lists(["N", "V", "D", "-"]))
def test_scores_by_counting(pair) -> None:
    gold, predicted = pair
    result = evaluate(gold, predicted)
    tokens = [
        (g, p) for s, t in zip(gold, predicted, strict=True) for g, p in zip(s, t, strict=True)
    ]
    assert result.accuracy == sum(g == p for g, p in tokens) / len(tokens)
    assert result.sentence_accuracy == sum(map(list.__eq__, gold, predicted)) / len(gold)
    assert result.confusion == Counter(tokens)
    assert result.spans is None
    for label, score in result.labels.items():
        correct = tokens.count((label, label))
        found = [p for _, p in tokens].count(label)
        there = [g for g, _ in tokens].count(label)
        assert score.precision == (correct / found if found else 0)
        assert score.recall == (correct / there if there else 0)
        p, r = score.precision, score.recall
        assert score.f1 == pytest.approx(2 * p * r / (p + r) if p + r else 0)
    assert result.label_macro[2] == pytest.approx(
        np.mean([score.f1 for score in result.labels.values()])
    )


def test_seen_and_unseen_words_and_cost() -> None:
    gold = [["N", "V"], ["D", "N", "V"]]
    predicted = [["N", "N"], ["D", "N", "N"]]
    words = [["rain", "fell"], ["the", "rain", "ended"]]
    result = evaluate(
        gold, predicted, words, {"rain", "fell"}, cost=lambda g, p: 3 * sum(map(str.__ne__, g, p))
    )
    assert result.seen == (2, 3)
    assert result.unseen == (1, 2)
    assert result.cost == 3
    assert result.seen_accuracy == 2 / 3
    values = result.to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["unseen"] == {"accuracy": 0.5, "tokens": 2}
    assert ["V", "N", 2] in values["confusion"]
    table = str(result)
    assert "unseen words" in table
    assert "mean cost" in table
    assert result.confusion_table(1).split("\n")[1].split() == ["V", "2", "N"]


def test_spans_in_the_dictionary_and_the_table() -> None:
    gold = [["B-X", "I-X", "O", "B-Y"]]
    result = evaluate(gold, [["B-X", "I-X", "O", "B-X"]])
    assert result.span_macro == (0.25, 0.5, 1 / 3)
    values = result.to_dict()
    assert values["span_micro"]["f1"] == 0.5
    assert values["spans"]["Y"]["recall"] == 0
    assert "micro mean" in result.table()
    perfect = evaluate(gold, gold)
    assert (perfect.accuracy, perfect.span_micro.f1, perfect.sentence_accuracy) == (1, 1, 1)


def test_nothing_to_evaluate() -> None:
    empty = evaluate([], [])
    assert (empty.accuracy, empty.sentence_accuracy, empty.label_macro) == (0, 0, (0, 0, 0))
    assert "processed 0 tokens with 0 phrases" in conlleval_text(empty)


def test_errors() -> None:
    with pytest.raises(SeqpaError, match="sentence 2: 1 gold labels but 2 predicted labels"):
        evaluate([["N"], ["N"]], [["N"], ["N", "N"]])
    with pytest.raises(SeqpaError, match="1 sentences of gold labels but 0 of predicted"):
        evaluate([["N"]], [])
    with pytest.raises(SeqpaError, match="sentence 1: 1 gold labels but 0 words"):
        evaluate([["N"]], [["N"]], [[]], set())
    with pytest.raises(SeqpaError, match="needs chunk labels"):
        conlleval_text(evaluate([["N"]], [["N"]]))
    rng = np.random.default_rng(0)
    for more, message in [
        ({"metric": "bleu"}, "'bleu' is none of accuracy"),
        ({"method": "t"}, "neither bootstrap nor randomisation"),
        ({"metric": "cost"}, "needs a cost function"),
        ({"rounds": 0}, "not a positive number"),
    ]:
        with pytest.raises(SeqpaError, match=message):
            compare([["N"]], [["N"]], [["N"]], rng, **more)
    with pytest.raises(SeqpaError, match="no sentences to compare"):
        compare([], [], [], rng)


def wrong_in(sentences: set[int], n: int) -> list[list[str]]:
    return [["B-X" if i in sentences else "O", "B-Y"] for i in range(n)]


def test_randomisation_against_all_swaps() -> None:
    """With seven sentences every pattern of swaps can be tried: that p-value is the limit."""
    n = 7
    gold = wrong_in(set(), n)
    a, b = wrong_in({6}, n), wrong_in({0, 1, 2, 3}, n)
    for metric, of in [
        ("accuracy", lambda x: evaluate(gold, x).accuracy),
        ("span-f1", lambda x: evaluate(gold, x).span_micro.f1),
        ("sentence-accuracy", lambda x: evaluate(gold, x).sentence_accuracy),
    ]:
        observed = of(a) - of(b)
        extreme = 0
        for swaps in product([False, True], repeat=n):
            first = [y if s else x for x, y, s in zip(a, b, swaps, strict=True)]
            second = [x if s else y for x, y, s in zip(a, b, swaps, strict=True)]
            extreme += abs(of(first) - of(second)) >= abs(observed) - 1e-12
        exact = extreme / 2**n
        result = compare(gold, a, b, np.random.default_rng(5), metric, "randomisation", 20_000)
        assert result.difference == pytest.approx(observed)
        assert result.p_value == pytest.approx(exact, abs=4 * math.sqrt(0.25 / 20_000))


def test_bootstrap_against_all_draws() -> None:
    """With four sentences every draw can be tried: mean and quantiles are the limit."""
    gold = [["B-X"], ["O", "B-X"], ["B-X", "O", "O"], ["O", "B-Y"]]
    a = [["B-X"], ["O", "B-X"], ["O", "O", "O"], ["O", "B-Y"]]
    b = [["O"], ["B-X", "B-X"], ["B-X", "O", "O"], ["O", "B-Y"]]

    def f1(x: list[list[str]], rows: tuple[int, ...]) -> float:
        return evaluate([gold[i] for i in rows], [x[i] for i in rows]).span_micro.f1

    draws = np.array([f1(a, rows) - f1(b, rows) for rows in product(range(4), repeat=4)])
    observed = f1(a, (0, 1, 2, 3)) - f1(b, (0, 1, 2, 3))
    result = compare(gold, a, b, np.random.default_rng(2), "span-f1", rounds=20_000)
    exact = np.mean(np.abs(draws - observed) >= abs(observed) - 1e-12)
    assert result.p_value == pytest.approx(exact, abs=0.015)
    assert result.low == pytest.approx(np.quantile(draws, 0.025), abs=0.05)
    assert result.high == pytest.approx(np.quantile(draws, 0.975), abs=0.05)


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_a_real_difference_is_found_and_no_difference_is_not(method: str) -> None:
    n = 300
    gold = wrong_in(set(), n)
    rng = np.random.default_rng(1)
    better, worse = wrong_in(set(range(5)), n), wrong_in(set(range(60)), n)
    result = compare(gold, better, worse, rng, "accuracy", method, 2000)
    assert result.difference > 0
    assert result.p_value < 0.01
    assert 0 < result.low < result.difference < result.high
    assert f"({method}, 2000 rounds)" in str(result)
    mirrored = compare(gold, worse, better, rng, "accuracy", method, 2000)
    assert mirrored.difference == -result.difference
    same = compare(gold, worse, worse, rng, "span-f1", method, 2000)
    assert (same.difference, same.p_value, same.low, same.high) == (0, 1, 0, 0)
    other = wrong_in(set(range(58, 118)), n)
    assert compare(gold, worse, other, rng, "accuracy", method, 2000).p_value > 0.5


def test_cost_is_compared_and_a_seed_decides() -> None:
    gold = wrong_in(set(), 50)
    a, b = wrong_in({1, 2}, 50), wrong_in({3, 4, 5}, 50)

    def cost(g: list[str], p: list[str]) -> float:
        return 2.5 * (g != p)

    first, second = (
        compare(gold, a, b, np.random.default_rng(9), "cost", rounds=500, cost=cost)
        for _ in range(2)
    )
    assert first == second
    assert first.a == pytest.approx(0.1)
    assert first.difference == pytest.approx(-0.05)
