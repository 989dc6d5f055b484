"""Composed rows against the plain sums that they stand for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqpa import SequenceTagger
from seqpa.sequence import composed as module
from seqpa.sequence.composed import composed, forest, preorder
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.encode import Encoded, FeatureEncoder
from seqpa.sequence.inputs import flat_columns
from seqpa.sequence.resources import Clusters, Lexicon
from seqpa.sequence.templates import parse_all
from seqpa.sequence.weights import FrozenWeights, dense_at, padded

COLUMNS = ("word", "pos")
RESOURCES = {"cities": Lexicon(["ab", "ab Ba"]), "tree": Clusters({"ab": "01", "Ba": "00"})}
# Chains and diamonds of templates that determine each other, two that say the same, one of three
# columns' worth of attributes, and some that stand alone.
TEMPLATES = [
    "bias",
    "word[0]",
    "word[-2]",
    "word[-1]|word[0]",
    "word[0]|word[1]",
    "word[-1]|word[0]|word[1]",
    "pos[0]",
    "pos[-1]|pos[0]",
    "pos[0]|pos[-1]",
    "pos[1]|pos[2]",
    "word[0]|pos[0]",
    "suffix(1)[0]",
    "suffix(2)[0]",
    "prefix(1)[-2]",
    "suffix(1)[0]|pos[0]",
    "suffix(1)[0]|prefix(1)[1]",
    "bias|suffix(1)[0]",
    "suffix(1, pos)[0]",
    "lower[0]",
    "lower[-1]|pos[0]",
    "isupper[0]",
    "istitle[1]",
    'cluster("tree", 1)[0]',
    'lexicon("cities")[0]',
    'lexicon("cities")[0]|word[0]',
    "pair:pos[0]",
    "pair:bias",
]
token = st.tuples(st.sampled_from(["a", "ab", "Ba", "AB", "b", ""]), st.sampled_from(["N", "V"]))
unseen = st.tuples(st.sampled_from(["a", "Ba", "xb", "Axb", "X"]), st.sampled_from(["N", "V", "Q"]))
sentences = st.lists(st.lists(token, max_size=6), min_size=1, max_size=6)
questions = st.lists(st.lists(st.one_of(token, unseen), max_size=6), max_size=4)
template_lists = st.lists(st.sampled_from(TEMPLATES), min_size=1, max_size=10, unique=True)


def table_of(weights: FrozenWeights) -> np.ndarray:
    """(features, labels): every weight."""
    table = np.zeros((len(weights.rows), weights.n_labels))
    for f in range(len(table)):
        for label, weight in weights.feature_weights(f).items():
            table[f, label] = weight
    return table


def emissions(weights: FrozenWeights, encoded: Encoded) -> np.ndarray:
    """(tokens, labels): the sum of the rows of each token's features."""
    table = table_of(weights)
    spans = zip(encoded.indptr, encoded.indptr[1:], strict=False)
    rows = [table[encoded.features[begin:end]].sum(axis=0) for begin, end in spans]
    return np.array(rows).reshape(-1, weights.n_labels)


def frozen(table: np.ndarray, spare: int) -> FrozenWeights:
    """Weights as `Store.freeze` makes them; spare floats in the arena allow for more parents."""
    n_labels = table.shape[1]
    arena: list[float] = []
    rows = []
    for row in table.astype(np.float32):
        labels = np.flatnonzero(row)
        if len(labels) > dense_at(n_labels):
            rows.append((len(arena), -1))
            arena += [*row, *[0.0] * (padded(n_labels) - n_labels)]
        else:
            rows.append((len(arena), len(labels)))
            arena += [number for k in labels for number in (k, row[k])]
    return FrozenWeights(
        n_labels,
        np.array(rows, np.int32).reshape(-1, 2),
        np.array(arena + [0.0] * spare, np.float32),
        np.zeros((n_labels, n_labels), np.float32),
    )


def learned(templates: list[str], X: list, cutoff: int = 1) -> FeatureEncoder:
    encoder = FeatureEncoder(templates, COLUMNS, cutoff, RESOURCES)
    encoder.fit_transform(*flat_columns(X, COLUMNS))
    return encoder


@pytest.mark.pure
@given(
    template_lists,
    sentences,
    questions,
    st.sampled_from([1, 1, 2]),
    st.sampled_from([1, 3, 9, 40]),
    st.sampled_from([0, 300, 100_000]),
    st.sampled_from([0.0, 0.3, 0.8]),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_every_weight_counts_exactly_once(
    templates, X, more, cutoff, n_labels, spare, zeros, prune, seed
) -> None:
    """Whole numbers add up without rounding, so composed and plain sums are the same."""
    rng = np.random.default_rng(seed)
    encoder = learned(templates, X, cutoff)
    if prune:
        keep = rng.random(encoder.n_features) < 0.6
        encoder = FeatureEncoder.from_arrays(*encoder.to_arrays(keep))
    # A feature has its row empty, sparse or full.
    table = rng.integers(-99, 100, (encoder.n_features, n_labels))
    table[rng.random(table.shape) < rng.random((len(table), 1))] = 0
    table[rng.random(len(table)) < zeros] = 0
    weights = frozen(table, spare)
    walk, new = composed(encoder, weights)
    new.validate()
    flat = flat_columns(X + more, COLUMNS)
    plain, walked = encoder.transform(*flat), encoder.transform(*flat, walk)
    np.testing.assert_array_equal(emissions(new, walked), emissions(weights, plain))
    assert len(walked.features) <= len(plain.features)
    assert len(new.arena) <= 2 * len(weights.arena)
    for name in ("starts", "pair_indptr", "pair_features"):
        np.testing.assert_array_equal(getattr(walked, name), getattr(plain, name))


@pytest.mark.pure
@settings(max_examples=30)
@given(template_lists, sentences, st.sampled_from([3, 30]), st.integers(0, 2**32))
def test_a_composed_row_is_rounded_once_and_dense_or_sparse_as_any_other(
    templates, X, n_labels, seed
) -> None:
    rng = np.random.default_rng(seed)
    encoder = learned([t for t in templates if not t.startswith("pair:")] or ["bias"], X)
    table = rng.normal(size=(encoder.n_features, n_labels))
    table[rng.random(table.shape) < rng.random((len(table), 1))] = 0
    weights = frozen(table, 10**5)
    walk, new = composed(encoder, weights)
    flat = flat_columns(X, COLUMNS)
    exact = emissions(weights, encoder.transform(*flat))
    close = emissions(new, encoder.transform(*flat, walk))
    np.testing.assert_allclose(close, exact, rtol=0, atol=len(templates) * 1e-6)
    for (_, size), row in zip(new.rows, table_of(new), strict=True):
        filled = np.count_nonzero(row)
        assert size == (-1 if filled > dense_at(n_labels) else filled)
    old, whole = Decoder(weights, rules(n_labels)), Decoder(new, rules(n_labels))
    a, b = old.decode(encoder.transform(*flat)), whole.decode(encoder.transform(*flat, walk))
    for t in np.flatnonzero(a != b):
        assert exact[t, a[t]] == pytest.approx(exact[t, b[t]], abs=1e-5)


def rules(n_labels: int):
    from seqpa.sequence.constraints import penalties

    return penalties(None, [str(k) for k in range(n_labels)])


def test_a_word_stands_for_its_suffixes_and_the_bias() -> None:
    X = [[("ab", "N"), ("Ba", "V")]]
    encoder = learned(["bias", "suffix(1)[0]", "word[0]", "word[-1]"], X)
    names = encoder.feature_names()
    weights = frozen(np.arange(1.0, 1 + 2 * len(names)).reshape(-1, 2), 10**4)
    walk, new = composed(encoder, weights)
    seen = encoder.transform(*flat_columns(X, COLUMNS), walk)
    assert [names[f] for f in seen.features] == [
        "word[0]=ab", "word[-1]=<-1>", "word[0]=Ba", "word[-1]=ab",
    ]  # fmt: skip
    own = [names.index(name) for name in ("word[0]=ab", "suffix(1)[0]=b", "bias")]
    np.testing.assert_array_equal(table_of(new)[own[0]], table_of(weights)[own].sum(axis=0))
    # An unknown word has what is left of it: the suffix, which has the bias below it.
    unknown = encoder.transform(*flat_columns([[("xb", "N")]], COLUMNS), walk)
    assert [names[f] for f in unknown.features] == ["suffix(1)[0]=b", "word[-1]=<-1>"]


def test_parents_stay_within_the_memory_of_the_weights() -> None:
    X = [[(word, "N") for word in map(str, range(100))]]
    encoder = learned(["bias", "suffix(1)[0]", "word[0]", "word[0]|word[1]"], X)
    weights = frozen(np.ones((encoder.n_features, 2)), 0)
    assert len(weights.arena) == 4 * encoder.n_features  # sparse rows
    _, new = composed(encoder, weights)
    changed = (table_of(new) != table_of(weights)).any(axis=1)
    by_template: dict[str, set[bool]] = {}
    for name, is_parent in zip(encoder.feature_names(), changed.tolist(), strict=True):
        by_template.setdefault(name.split("=")[0], set()).add(is_parent)
    # Rows are eight wide: those of 110 parents take as much as the others' four floats.
    assert by_template["suffix(1)[0]"] == {True}
    assert by_template["word[0]"] == {False}
    assert len(new.arena) <= 2 * len(weights.arena)


WORDS = [["the", "dog", "barks"], ["a", "Dog"], [], ["the", "cats", "sleep", "now"], ["barks"]]
TAGS = [["D", "N", "V"], ["D", "N"], [], ["D", "N", "V", "A"], ["V"]]
QUESTIONS = [["the", "Cats", "barks"], ["mice"], [], ["a", "dog", "sleeps", "now"], ["the"] * 9]


def plainly(tagger: SequenceTagger, X: list) -> list[list[str]]:
    tagger.predict([])
    encoded = tagger.trained_.source.transform(X)
    path = Decoder(tagger.trained_.weights, rules(len(tagger.classes_))).decode(encoded)
    ends = zip(encoded.starts, encoded.starts[1:], strict=False)
    return [[tagger.classes_[k] for k in path[begin:end]] for begin, end in ends]


@pytest.fixture
def tagger() -> SequenceTagger:
    return SequenceTagger("pos", random_state=0, epochs=3).fit(WORDS, TAGS)


def test_all_ways_of_tagging_agree_bit_for_bit(tagger: SequenceTagger) -> None:
    labels = tagger.predict(QUESTIONS)
    assert labels == plainly(tagger, QUESTIONS)
    assert labels == [tagger.predict([sentence])[0] for sentence in QUESTIONS]
    assert labels == [[label for _, label in tagger.tag(sentence)] for sentence in QUESTIONS]
    assert labels == [best[0][1] for best in tagger.predict_nbest(QUESTIONS, 2)]
    assert labels == tagger.predict(QUESTIONS, fixed=[[None] * len(s) for s in QUESTIONS])
    assert labels == [[one.label for one in tagger.explain(s)] for s in QUESTIONS]
    one_by_one = [tagger.predict_nbest([sentence], 2)[0] for sentence in QUESTIONS]
    assert tagger.predict_nbest(QUESTIONS, 2) == one_by_one
    confidences = tagger.confidence(QUESTIONS)
    assert confidences == [tagger.confidence([sentence])[0] for sentence in QUESTIONS]


def test_a_model_that_learns_on_composes_anew(tagger: SequenceTagger) -> None:
    tagger.predict(QUESTIONS)
    tagger.partial_fit([["mice", "sleep"], ["sleeps", "Mice"]], [["N", "V"], ["V", "N"]])
    assert tagger.predict(QUESTIONS) == plainly(tagger, QUESTIONS)


def test_explanations_name_the_plain_features(tagger: SequenceTagger) -> None:
    first = tagger.explain(["the", "dog"])[1]
    weights = tagger.state_features_
    named = {c.name: c for c in first.contributions if not c.name.startswith("transition")}
    assert {"bias", "word[0]=dog", "suffix(2)[0]=og"} <= set(named)
    for name, contribution in named.items():
        assert contribution.chosen == pytest.approx(weights.get((name, first.label), 0.0))


def test_threads_that_come_first_together_share_one_composition(tagger: SequenceTagger) -> None:
    expected = SequenceTagger("pos", random_state=0, epochs=3).fit(WORDS, TAGS).predict(QUESTIONS)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: tagger.predict(QUESTIONS), range(16)))
    assert answers == [expected] * 16


def test_features_without_weights_are_as_good_as_absent() -> None:
    """A saved model has none, and must tag as the model that was saved."""
    encoder = learned(["word[0]", "suffix(1)[0]", "word[-1]|word[0]"], [[("ab", "N"), ("Ba", "N")]])
    rng = np.random.default_rng(3)
    table = rng.normal(size=(encoder.n_features, 4))
    table[::2] = 0
    weights = frozen(table, 1000)
    keep = weights.nonzero()
    fewer, kept = (
        FeatureEncoder.from_arrays(*encoder.to_arrays(keep)),
        replace(weights, rows=weights.rows[keep]),
    )
    flat = flat_columns([[("ab", "N"), ("Ba", "N"), ("xb", "N")]], COLUMNS)
    results = []
    for one, own in ((encoder, weights), (fewer, kept)):
        walk, new = composed(one, own)
        results.append(emissions(new, one.transform(*flat, walk)))
    np.testing.assert_array_equal(*results)


def naive_forest(texts: list[str], counts: list[int], budget: int) -> list[int]:
    """The twin of `forest`: every pair is looked at, and all is chosen anew at each step."""
    templates = parse_all(texts, COLUMNS)
    has = [{str(part) for part in template.parts} for template in templates]
    needs = [
        [{str(p) for p in module._known_by(part, COLUMNS)} for part in template.parts]
        for template in templates
    ]

    def determines(t: int, u: int) -> bool:
        return not any(known_by and has[t].isdisjoint(known_by) for known_by in needs[u])

    every = range(len(templates))
    above = [[t for t in every if t != u and determines(t, u)] for u in every]
    above = [[t for t in above[u] if t < u or u not in above[t]] for u in every]
    may_be = {t for t, count in enumerate(counts) if count}
    while True:
        parents = [
            min(may_be.intersection(candidates), key=lambda t: (counts[t], t), default=-1)
            for candidates in above
        ]
        chosen = set(parents) - {-1}
        if sum(counts[t] for t in chosen) <= budget:
            return parents
        may_be.remove(max(chosen, key=lambda t: (counts[t] / parents.count(t), t)))


@given(
    st.lists(st.sampled_from(TEMPLATES[:-2]), min_size=1, max_size=25, unique=True),
    st.lists(st.integers(0, 30), min_size=25, max_size=25),
    st.integers(0, 200),
)
def test_the_forest_is_the_one_that_is_meant(
    texts: list[str], counts: list[int], budget: int
) -> None:
    counts = counts[: len(texts)]
    found = forest(parse_all(texts, COLUMNS), COLUMNS, counts, budget)
    assert found.tolist() == naive_forest(texts, counts, budget)


def test_two_thousand_templates_take_no_longer_than_they_must() -> None:
    """No pair of all is looked at, and no tree is deep: the work is counted, not the time."""
    chain = ["|".join(f"word[{k}]" for k in range(n, -1, -1)) for n in range(99)]
    wide = [f"word[0]|suffix({n})[{k}]" for n in range(1, 20) for k in range(1, 99)]
    templates = parse_all([*chain, *wide], ("word",))
    parents = forest(templates, ("word",), [1 + n % 50 for n in range(len(templates))], 10**6)
    order, below = preorder(parents)
    assert sorted(order.tolist()) == list(range(len(templates)))
    assert below.sum() <= 16 * len(templates)
    assert (parents >= 0).sum() > 50
