"""Probabilities of labels, spans and sequences, against sums over all label sequences."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqpa import SeqpaError, SequenceTagger
from seqpa.schemes import boundaries, spans
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.marginals import Probabilities

WORDS = ["the", "dog", "saw", "Ada", "of"]
TEMPLATES = ["word[0]", "word[-1]", "suffix(1)[0]", "bias"]
PAIRS = [*TEMPLATES, "pair:word[0]"]
LABELS = ["O", "B-x", "I-x", "B-y"]
LOOSE = ["O", "I-x", "E-x", "S-y", "[-x"]

sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=5), min_size=1, max_size=4)


def tagger_of(templates: list[str], labels: list[str], seed: int, **parameters: Any) -> Any:
    """A tagger with weights of all kinds: what it learned is noise."""
    rng = np.random.default_rng(seed)
    X = [[WORDS[k] for k in rng.integers(0, len(WORDS), n)] for n in rng.integers(2, 6, 12)]
    y = [[labels[k] for k in rng.integers(0, len(labels), len(x))] for x in X]
    return SequenceTagger(templates, C=0.5, epochs=3, random_state=0, **parameters).fit(X, y)


def all_sequences(
    tagger: Any, encoded: Any, decoder: Any, i: int, scale: float
) -> dict[tuple[int, ...], float]:
    """The twin: the probability of each legal label sequence, one by one."""
    n = int(encoded.starts[i + 1] - encoded.starts[i])
    scores = {
        path: scale * decoder.score(encoded, i, np.array(path, np.int32))
        for path in product(range(decoder.n_labels), repeat=n)
    }
    scores = {path: score for path, score in scores.items() if score > -1e20 * scale}
    top = max(scores.values())
    total = math.fsum(math.exp(score - top) for score in scores.values())
    return {path: math.exp(score - top) / total for path, score in scores.items()}


@pytest.mark.pure
@pytest.mark.parametrize("constraints", [None, {"forbidden": [["O", "I-x"], ["B-y", "B-y"]]}])
@pytest.mark.parametrize("templates", [TEMPLATES, PAIRS], ids=["single", "pairs"])
@settings(max_examples=25)
@given(X=sentences, seed=st.integers(0, 4), scale=st.sampled_from([1e-3, 0.7, 3.0, 40.0, 900.0]))
def test_as_by_adding_up_all_sequences(
    templates: list[str], constraints: Any, X: Any, seed: int, scale: float
) -> None:
    tagger = tagger_of(templates, LABELS, seed)
    tagger.set_params(constraints=constraints)
    encoded, decoder = tagger._tagging().prepared(X)
    probabilities = Probabilities(decoder, scale)
    tokens = probabilities.tokens(encoded)
    labels = tagger.predict(X)
    found = probabilities.spans(encoded, labels, boundaries(tagger.classes_))
    best = decoder.decode(encoded)
    likelihood = probabilities.sequences(encoded, best)
    entropies = probabilities.entropies(encoded)
    for i in range(len(X)):
        twin = all_sequences(tagger, encoded, decoder, i, scale)
        begin = int(encoded.starts[i])
        for t in range(len(X[i])):
            for y in range(decoder.n_labels):
                exact = math.fsum(p for path, p in twin.items() if path[t] == y)
                assert tokens[begin + t, y] == pytest.approx(exact, rel=1e-5, abs=1e-12)
        names = {path: [tagger.classes_[k] for k in path] for path in twin}
        assert [tuple(span[:3]) for span in found[i]] == spans(labels[i])
        for kind, start, end, probability in found[i]:
            exact = math.fsum(
                p for path, p in twin.items() if (kind, start, end) in spans(names[path])
            )
            assert probability == pytest.approx(exact, rel=1e-5, abs=1e-12)
        own = tuple(best[begin : begin + len(X[i])].tolist())
        assert math.exp(likelihood[i]) == pytest.approx(twin[own], rel=1e-5, abs=1e-12)
        exact = -math.fsum(p * math.log(p) for p in twin.values() if p > 0)
        assert entropies[i] == pytest.approx(exact, rel=1e-4, abs=1e-4)
    given_labels = np.where(np.arange(len(best)) % 3 == 0, -1, best).astype(np.int32)
    exact = math.fsum(math.log(tokens[t, y]) for t, y in enumerate(given_labels.tolist()) if y >= 0)
    assert probabilities.likelihood(encoded, given_labels) == pytest.approx(exact, abs=1e-9)


@pytest.mark.pure
@pytest.mark.parametrize("templates", [TEMPLATES, PAIRS], ids=["single", "pairs"])
@settings(max_examples=25)
@given(X=sentences, seed=st.integers(0, 4), data=st.data())
def test_with_fixed_labels_only_sequences_that_have_them_count(
    templates: list[str], X: Any, seed: int, data: Any
) -> None:
    tagger = tagger_of(templates, LABELS, seed)
    tagger.set_params(constraints={"forbidden": [["O", "I-x"], ["B-y", "B-y"]]})
    labels = tagger.classes_
    wish = st.sampled_from([None, None, *labels])
    fixed = [data.draw(st.lists(wish, min_size=len(x), max_size=len(x))) for x in X]
    encoded, decoder = tagger._tagging().prepared(X)
    possible = []
    for i, own in enumerate(fixed):
        twin = all_sequences(tagger, encoded, decoder, i, tagger.probability_scale_)
        numbers = [None if label is None else labels.index(label) for label in own]
        possible.append({
            path: p
            for path, p in twin.items()
            if all(y is None or y == k for y, k in zip(numbers, path, strict=True))
        })  # fmt: skip
    if not all(possible):
        with pytest.raises(SeqpaError, match="the fixed labels"):
            tagger.predict_marginals(X, fixed=fixed)
        return
    best = tagger.predict_nbest(X, 3, fixed=fixed)
    assert [own[0][1] for own in best] == tagger.predict(X, fixed=fixed)
    for own, paths, tokens in zip(
        best, possible, tagger.predict_marginals(X, fixed=fixed), strict=True
    ):
        assert len(own) == min(3, len(paths))
        total = math.fsum(paths.values())
        for t, told in enumerate(tokens):
            for k, label in enumerate(labels):
                exact = math.fsum(p for path, p in paths.items() if path[t] == k) / total
                assert told[label] == pytest.approx(exact, rel=1e-5, abs=1e-12)


@settings(max_examples=25)
@given(X=sentences, seed=st.integers(0, 2))
def test_spans_of_any_scheme_and_of_none(X: Any, seed: int) -> None:
    tagger = tagger_of(TEMPLATES, LOOSE, seed)
    encoded, decoder = tagger._tagging().prepared(X)
    limits = boundaries(tagger.classes_)
    labels = tagger.predict(X)
    found = Probabilities(decoder, 0.5).spans(encoded, labels, limits)
    for i in range(len(X)):
        twin = all_sequences(tagger, encoded, decoder, i, 0.5)
        for kind, start, end, probability in found[i]:
            exact = math.fsum(
                p
                for path, p in twin.items()
                if (kind, start, end) in spans([tagger.classes_[k] for k in path])
            )
            assert probability == pytest.approx(exact, rel=1e-5)


@pytest.mark.pure
def test_scores_too_far_apart_for_numbers() -> None:
    features = {"a": 3000.0}
    X = [[features, {"b": 1.0}, features], [{"b": 1.0}]]
    tagger = SequenceTagger(None, algorithm="pa", epochs=5, random_state=0)
    tagger.fit(X, [["P", "Q", "P"], ["Q"]])
    encoded, decoder = tagger._tagging().prepared(X)
    for scale in (1.0, 1e4, 1e7):
        rows = Probabilities(decoder, scale).tokens(encoded)
        assert np.isfinite(rows).all()
        assert rows.sum(axis=1) == pytest.approx(np.ones(4))
        twin = all_sequences(tagger, encoded, decoder, 0, scale)
        assert rows[0, 0] == pytest.approx(math.fsum(p for y, p in twin.items() if y[0] == 0))


def test_threads_and_live_weights_tell_the_same() -> None:
    tagger = tagger_of(TEMPLATES, LABELS, 3)
    X = [[WORDS[k % 5] for k in range(i % 7)] for i in range(6000)]
    alone = tagger.predict_marginals(X)
    assert tagger.set_params(n_jobs=3).predict_marginals(X) == alone
    assert [list(map(sum, map(dict.values, own))) for own in alone[:9]] == [
        pytest.approx([1.0] * len(tokens)) for tokens in X[:9]
    ]
    tagger.learn_one(["dog", "saw"], ["O", "B-x"])
    trained = tagger.trained_  # the same weights, frozen
    encoded = trained.source.transform(X[:50])
    decoder = Decoder(trained.weights, tagger._tagging()._penalties(trained.labels))
    frozen = Probabilities(decoder, 1.0).tokens(encoded)
    live = [list(token.values()) for own in tagger.predict_marginals(X[:50]) for token in own]
    assert np.array_equal(frozen, live)


def test_no_legal_sequence_and_no_spans_are_told() -> None:
    tagger = tagger_of(["word[0]"], ["A", "B"], 0)
    with pytest.raises(SeqpaError, match="mark no spans"):
        tagger.predict_proba_spans([["dog"]])
    forbidden = [["A", "A"], ["A", "B"], ["B", "A"], ["B", "B"]]
    tagger.set_params(constraints={"forbidden": forbidden})
    assert len(tagger.predict_marginals([["dog"], []])[0][0]) == 2
    for ask in (tagger.predict_marginals, tagger.predict_with_probability):
        with pytest.raises(SeqpaError, match="sentence 2: no label sequence"):
            ask([["dog"], ["dog", "saw"]])
