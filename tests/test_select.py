"""Which sentences to label next: each strategy against its definition, sentence by sentence."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest
from sequence_cases import TAGS, TEMPLATES, WORDS

from seqpa import SeqpaError, SequenceTagger
from seqpa.sequence.select import STRATEGIES, density

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
    return sorted(numbers, key=lambda i: (-round(worth(i), 6), i))


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
