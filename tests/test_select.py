"""Which sentences to label next: each strategy against its definition, sentence by sentence."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from sequence_cases import TAGS, TEMPLATES, WORDS

from seqpa import SeqpaError, SequenceTagger
from seqpa.data.corpus import Corpus
from seqpa.sequence.select import STRATEGIES, Words, density, kind

POOL = [
    ["the", "dog", "fell"],
    [],
    ["unknown", "words", "only"],
    ["rain", "rain", "rain", "cut"],
    ["a"],
    ["the", "dog", "fell"],
    ["saw", "the", "unknown"],
]


def trained(**parameters: Any) -> SequenceTagger:
    tagger = SequenceTagger(TEMPLATES, random_state=1, **parameters).fit(WORDS, TAGS)
    return tagger.calibrate(POOL[:1], [["D", "N", "V"]])


def scores(tagger: SequenceTagger, tokens: list[str]) -> list[float]:
    """Of all label sequences, best first."""
    return [score for score, _ in tagger.predict_nbest([tokens], 3 ** len(tokens))[0]]


def naive(tagger: SequenceTagger, strategy: str) -> list[int]:
    def shares(tokens: list[str], n: int | None = None) -> list[float]:
        """The probabilities of all sequences, or of the n best among themselves."""
        best, scale = scores(tagger, tokens)[:n], tagger.probability_scale_
        total = sum(math.exp(scale * (score - best[0])) for score in best)
        return [math.exp(scale * (score - best[0])) / total for score in best]

    def worth(i: int) -> float:
        tokens = POOL[i]
        if strategy == "margin":
            first, second = scores(tagger, tokens)[:2]
            return -(first - second) / math.sqrt(len(tokens))
        own = shares(tokens, tagger.n_best if strategy == "n-best-entropy" else None)
        if strategy == "least-confident":
            return -own[0]
        entropy = -sum(p * math.log(p) for p in own)
        return entropy * likeness(tagger, i) if strategy == "density" else entropy

    numbers = [i for i, tokens in enumerate(POOL) if tokens]
    if strategy in ("doubt", "coverage"):
        return one_by_one(tagger, numbers, strategy == "coverage")
    return sorted(numbers, key=lambda i: (-round(worth(i), 6), i))


def naive_doubts(tagger: SequenceTagger, tokens: list[str]) -> list[float]:
    """1 − the probability of each token's most probable label, by summing over all sequences."""
    found = tagger.predict_nbest([tokens], 3 ** len(tokens))[0]
    weights = [math.exp(tagger.probability_scale_ * (score - found[0][0])) for score, _ in found]
    doubts = []
    for t in range(len(tokens)):
        votes: dict[str, float] = {}
        for weight, (_, labels) in zip(weights, found, strict=True):
            votes[labels[t]] = votes.get(labels[t], 0.0) + weight
        doubts.append(1.0 - max(votes.values()) / sum(weights))
    return doubts


def one_by_one(
    tagger: SequenceTagger,
    numbers: list[int],
    by_words: bool,
    labelled: tuple[list[str], ...] = (),
) -> list[int]:
    """The best, then the best of the rest, where what was chosen counts as labelled."""
    chosen: list[int] = []

    def weight(word: str) -> float:
        there = sum(tokens.count(word) for tokens in POOL)
        known = [*labelled, *(POOL[i] for i in chosen)]
        return math.sqrt(there / (1 + sum(tokens.count(word) for tokens in known)))

    def worth(i: int) -> float:
        doubts = naive_doubts(tagger, POOL[i])
        if by_words:
            doubts = [d * weight(word) for d, word in zip(doubts, POOL[i], strict=True)]
        return sum(doubts) / (len(doubts) + 2)

    while rest := [i for i in numbers if i not in chosen]:
        chosen.append(min(rest, key=lambda i: (-round(worth(i), 6), i)))
    return chosen


def likeness(tagger: SequenceTagger, i: int) -> float:
    encoder = tagger.trained_.source

    def counts(tokens: list[str]) -> dict[int, float]:
        found: dict[int, float] = {}
        for f in encoder.transform([tokens]).features.tolist():
            found[f] = found.get(f, 0.0) + 1.0
        return found

    def cosine(a: dict[int, float], b: dict[int, float]) -> float:
        lengths = [math.sqrt(sum(v * v for v in c.values())) for c in (a, b)]
        dot = sum(v * b.get(f, 0.0) for f, v in a.items())
        return dot / (lengths[0] * lengths[1]) if all(lengths) else 0.0

    all_counts = [counts(tokens) for tokens in POOL]
    others = [cosine(all_counts[i], c) for j, c in enumerate(all_counts) if j != i]
    return sum(others) / len(others)


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "random"])
@pytest.mark.parametrize("n_best", [2, 10])
def test_the_order_is_that_of_the_definition(strategy: str, n_best: int) -> None:
    tagger = trained(n_best=n_best)
    expected = naive(tagger, strategy)
    assert tagger.select(POOL, 100, strategy) == expected
    assert tagger.select(POOL, 2, strategy) == expected[:2]
    assert tagger.select(POOL, 0, strategy) == []


def test_coverage_counts_what_is_labelled_already() -> None:
    tagger = trained()
    done = (["rain", "rain", "rain", "cut"],) * 40
    numbers = [i for i, tokens in enumerate(POOL) if tokens]
    expected = one_by_one(tagger, numbers, True, done)
    assert tagger.select(POOL, 100, "coverage", labelled=done) == expected
    assert expected != one_by_one(tagger, numbers, True)


def test_the_worths_of_coverage() -> None:
    tagger = trained()
    words = Words(POOL)
    found = tagger.worths(POOL, "coverage")
    assert found[1] == -math.inf
    for i in (0, 3, 6):
        values = [
            doubt * math.sqrt(sum(tokens.count(word) for tokens in POOL))
            for doubt, word in zip(naive_doubts(tagger, POOL[i]), POOL[i], strict=True)
        ]
        assert found[i] == pytest.approx(sum(values) / (len(values) + 2))
    own = [words.weights(i) for i in range(len(POOL))]
    assert tagger.worths(POOL, "coverage", own) == pytest.approx(found)
    words.label(3)
    words.label(3, -1)
    assert [words.weights(i).tolist() for i in range(len(POOL))] == [w.tolist() for w in own]
    with pytest.raises(SeqpaError, match="token_weight has 2 numbers for 3 tokens"):
        tagger.worths(POOL[:1], "coverage", [[1.0, 2.0]])


def test_a_corpus_and_tokens_with_cells_have_words() -> None:
    corpus = Corpus(["word"], [["Rain", "fell", "rain"]], np.array([2, 1]))
    tagger = trained()
    assert tagger.select(corpus, 2, "coverage", labelled=corpus) == tagger.select(
        corpus.X, 2, "coverage", labelled=corpus.X
    )
    assert kind(("Rain", "NN")) == kind("rain") != kind("fell")
    assert kind({"a": 1, "b": 2}) == kind({"b": 2, "a": 1})
    assert kind(["a", "b"]) == ("a", "b")


def test_density_is_the_mean_cosine() -> None:
    tagger = trained()
    found = density(tagger.trained_.source.transform(POOL))
    assert found == pytest.approx([likeness(tagger, i) for i in range(len(POOL))])
    assert density(tagger.trained_.source.transform([["rain"]])).tolist() == [0.0]
    assert density(tagger.trained_.source.transform([])).tolist() == []


def test_chance_is_the_seeds() -> None:
    tagger = trained()
    draws = {tuple(tagger.select(POOL, 3, "random", random_state=seed)) for seed in range(40)}
    assert len(draws) > 10
    assert all(1 not in draw and len(set(draw)) == 3 for draw in draws)
    assert tagger.select(POOL, 3, "random") == tagger.select(POOL, 3, "random")
    assert tagger.select(POOL, 3, "random", random_state=5) == tagger.select(
        POOL, 3, "random", random_state=5
    )


@pytest.mark.parametrize(("strategy", "live"), list(product(STRATEGIES, [False, True])))
def test_frozen_and_live_taggers_choose(strategy: str, live: bool) -> None:
    tagger = trained()
    if live:
        tagger.learn_one(["rain", "fell"], ["N", "V"])
    assert len(tagger.select(POOL, 4, strategy)) == 4
    if strategy != "random":
        assert tagger.select(POOL, 4, strategy) == naive(tagger, strategy)[:4]
    assert tagger.select([], 4, strategy) == []
    one = SequenceTagger(TEMPLATES).fit([["a"]], [["A"]])  # a single label leaves no doubt
    assert one.select([["b"], ["c", "d"]], 1, strategy, random_state=0) in ([0], [1])


def test_mistakes_are_told() -> None:
    tagger = trained()
    with pytest.raises(SeqpaError, match=r"strategy 'margins' is unknown: choose margin, .*mean"):
        tagger.select(POOL, 3, "margins")
    with pytest.raises(SeqpaError, match="n is -1"):
        tagger.select(POOL, -1)
    with pytest.raises(SeqpaError, match="random_state"):
        tagger.select(POOL, 1, "random", random_state="now")
    with pytest.raises(SeqpaError, match="X is None"):
        tagger.select(None, 1)
