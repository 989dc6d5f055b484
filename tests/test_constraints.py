"""Constraints: output is always legal, and the best of what is legal."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
import sequence_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sequence_cases import draw_sentence, draw_weights, encoded, frozen

from seqpa import SequenceTagger
from seqpa.errors import SeqpaError
from seqpa.sequence.constraints import check_legal, penalties
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.weights import FrozenWeights

BIO = ["B-x", "B-y", "I-x", "I-y", "O"]
BIOES = ["B-x", "E-x", "I-x", "O", "S-x"]
CLOSE = 1e-4


@st.composite
def rules(draw: Any) -> tuple[Any, list[str], reference.Legal]:
    """A constraint as the user writes it, its labels, and the twin's judgement of a path."""
    kind = draw(st.sampled_from(["bio", "bioes", "forbidden", "required", "both"]))
    if kind == "bio":
        labels = [*draw(st.sampled_from([BIO, BIO[::-1], ["O", "B-x", "I-x"]]))]
        return kind, labels, reference.scheme(kind, labels)
    if kind == "bioes":
        labels = [*draw(st.sampled_from([BIOES, BIOES[::-1]]))]
        return kind, labels, reference.scheme(kind, labels)
    labels = ["a", "b", "c"]
    # Every label may be followed by "c" at least, or there would be dead ends.
    pairs = list(itertools.product("abc", "ab"))
    banned = set(draw(st.lists(st.sampled_from(pairs), unique=True)))
    followers = {
        a: [b for b in "abc" if (a, b) not in banned] for a in draw(st.sets(st.sampled_from("abc")))
    }
    given = {
        "forbidden": {"forbidden": [list(pair) for pair in banned]},
        "required": {"required": followers},
        "both": {"forbidden": [["a", "b"]], "required": followers},
    }[kind]
    forbidden = {tuple(pair) for pair in given.get("forbidden", [])}
    follow = given.get("required", {})
    legal = reference.allowed_pairs(
        (p, y)
        for p, y in itertools.product(range(3), repeat=2)
        if (labels[p], labels[y]) not in forbidden and labels[y] in follow.get(labels[p], labels)
    )
    return given, labels, legal


@pytest.mark.pure
@settings(max_examples=120)
@given(
    rules(),
    st.integers(0, 2**32 - 1),
    st.integers(0, 4),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_the_best_legal_sequence(
    rule: Any, seed: int, n: int, pairs: bool, exact: bool, fixing: bool
) -> None:
    constraints, labels, legal = rule
    K = len(labels)
    rng = np.random.default_rng(seed)
    n_steps = 2 if pairs else None
    w = draw_weights(rng, 3, K, n_steps, exact)
    sentence = draw_sentence(rng, n, 3, n_steps, True)
    decoder = Decoder(frozen(w, 3, K, n_steps), penalties(constraints, labels))
    data = encoded([sentence])
    order = reference.ranked(w, sentence, K, legal)
    wish: list[int | None] | None = None
    fixed = None
    if fixing and n:  # some labels of a legal sequence are given
        chosen = order[int(rng.integers(len(order)))][1]
        wish = [y if rng.random() < 0.5 else None for y in chosen]
        fixed = np.array([-1 if y is None else y for y in wish], np.int32)
    best = reference.ranked(w, sentence, K, legal, wish)
    path = tuple(decoder.decode(data, fixed).tolist())
    assert legal(path)
    assert {p: s for s, p in best}[path] == pytest.approx(best[0][0], abs=CLOSE)
    if exact:
        assert path == best[0][1]
    found = decoder.nbest(data, 0, 7)
    assert len(found) == min(7, len(order))
    for (score, path_), (expected, _) in zip(found, order, strict=False):
        assert legal(tuple(path_))
        assert score == pytest.approx(expected, abs=CLOSE)
    expected_marginals = np.array(reference.max_marginals(w, sentence, K, legal)).reshape(n, K)
    marginals = decoder.max_marginals(data, 0)
    possible = np.isfinite(expected_marginals)
    np.testing.assert_allclose(marginals[possible], expected_marginals[possible], atol=CLOSE)
    assert (marginals[~possible] < -1e29).all()


@pytest.mark.pure
@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from(["bio", "bioes"]))
def test_pruning_under_constraints_changes_nothing(seed: int, kinds: int, scheme: str) -> None:
    rng = np.random.default_rng(seed)
    prefixes = {"bio": "BI", "bioes": "BIES"}[scheme]
    labels = ["O", *(f"{prefix}-{kind}" for kind in range(kinds) for prefix in prefixes)]
    K = len(labels)
    w = draw_weights(rng, 6, K, None, exact=bool(rng.integers(2)))
    weights = frozen(w, 6, K, None)
    open_to_pairs: FrozenWeights = dataclasses.replace(
        weights, pair_rows=np.zeros((0, 2), np.int32), pair_arena=np.zeros(0, np.float32)
    )
    data = encoded([draw_sentence(rng, n, 6, None, True) for n in (1, 5, 12)])
    rule = penalties(scheme, labels)
    path = Decoder(weights, rule).decode(data)
    np.testing.assert_array_equal(path, Decoder(open_to_pairs, rule).decode(data))
    legal = reference.scheme(scheme, labels)
    assert all(legal(tuple(path[a:b])) for a, b in itertools.pairwise(data.starts))


@pytest.mark.parametrize(("scheme", "labels"), [("bio", BIO), ("bioes", BIOES)])
def test_schemes_forbid_exactly_what_is_illegal(scheme: str, labels: list[str]) -> None:
    legal = reference.scheme(scheme, labels)
    found = penalties(scheme, labels)
    for n in range(1, 5):
        for path in itertools.product(range(len(labels)), repeat=n):
            allowed = found.first[path[0]] == 0 and found.last[path[-1]] == 0
            allowed &= all(found.pairs[pair] == 0 for pair in itertools.pairwise(path))
            assert allowed == legal(path)


def noisy_corpus(rng: np.random.Generator, n: int = 60) -> tuple[list[list[str]], list[list[str]]]:
    """Words that hardly tell their labels, and legal BIO labels: a tagger is tempted to break."""
    X, y = [], []
    for _ in range(n):
        labels: list[str] = []
        while len(labels) < 6:
            kind = str(rng.choice(["x", "y"]))
            labels += [["O"], [f"B-{kind}", f"I-{kind}"], [f"B-{kind}"]][rng.integers(3)]
        X.append([f"w{rng.integers(8)}" for _ in labels])
        y.append(labels)
    return X, y


@pytest.mark.parametrize("algorithm", ["perceptron", "pa", "pa-i", "pa-ii"])
@pytest.mark.parametrize("update", ["prediction-based", "n-best"])
def test_training_and_prediction_stay_legal(algorithm: str, update: str) -> None:
    X, y = noisy_corpus(np.random.default_rng(0))
    predictions: list[list[str]] = []

    def remembering(gold: list[str], predicted: list[str]) -> float:
        predictions.append(predicted)
        return reference.hamming(gold, predicted)

    tagger = SequenceTagger(
        ["word[0]", "word[-1]"],
        constraints="bio",
        cost=remembering,
        algorithm=algorithm,
        update=update,
        n_best=4,
        epochs=2,
        random_state=0,
    ).fit(X, y)
    index = {label: k for k, label in enumerate(tagger.classes_)}
    legal = reference.scheme("bio", tagger.classes_)

    def all_legal(sentences: list[list[str]]) -> bool:
        return all(legal(tuple(index[label] for label in labels)) for labels in sentences)

    assert all_legal(predictions)
    assert all_legal(tagger.predict(X))
    predictions.clear()
    tagger.set_params(constraints=None).fit(X, y)
    assert not all_legal(predictions)  # the data does tempt a tagger


def test_illegal_training_labels_are_refused_with_their_place() -> None:
    X = [["a", "b"], ["c", "d"]]
    with pytest.raises(SeqpaError, match=r"sentence 2, token 2: .*'I-x' after O"):
        SequenceTagger(["word[0]"], constraints="bio").fit(X, [["B-x", "I-x"], ["O", "I-x"]])
    with pytest.raises(SeqpaError, match=r"sentence 1, token 1: .*'I-x' after the start"):
        SequenceTagger(["word[0]"], constraints="bio").fit(X, [["I-x", "O"], ["B-x", "I-x"]])
    with pytest.raises(SeqpaError, match=r"sentence 2, token 2"):
        SequenceTagger(["word[0]"], constraints="bioes").fit(X, [["B-x", "E-x"], ["O", "B-x"]])
    tagger = SequenceTagger(["word[0]"], constraints="bio").partial_fit(X, [["O", "B-x"]] * 2)
    with pytest.raises(SeqpaError, match=r"sentence 1, token 1"):
        tagger.partial_fit(X, [["I-x", "I-x"]] * 2)
    assert tagger.predict(X) == tagger.predict(X)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ("iob", "'iob' are unknown; did you mean 'io"),
        ("x", "'x' are unknown; there are bio, iob1, iob2"),
        (["bio"], "not list"),
        ({"forbiden": []}, "key 'forbiden'; did you mean 'forbidden'"),
        ({1: []}, "key 1; there are forbidden, required"),
        ({"forbidden": [["N", "V", "D"]]}, "not a pair"),
        ({"forbidden": ["NV"]}, "not a pair"),
        ({"forbidden": [["N", "X"]]}, "'X', which the training data does not have; there are N, V"),
        ({"forbidden": [["N", "v"]]}, "'v', which the .* have; did you mean 'V'"),
        ({"required": {"X": ["N"]}}, "'X'"),
        ("bio", "none of them"),
    ],
)
def test_wrong_constraints_say_what_is_right(constraints: Any, message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        SequenceTagger(["word[0]"], constraints=constraints).fit([["a", "b"]], [["N", "V"]])


def test_wishes_that_no_legal_sequence_grants_are_refused() -> None:
    X, y = noisy_corpus(np.random.default_rng(1), 10)
    tagger = SequenceTagger(["word[0]"], constraints="bio", random_state=0).fit(X, y)
    with pytest.raises(SeqpaError, match="sentence 2"):
        tagger.predict([["w1", "w2"]] * 2, fixed=[[None, None], ["O", "I-x"]])
    with pytest.raises(SeqpaError, match="sentence 1"):
        tagger.predict([["w1", "w2", "w3"]], fixed=[["I-x", None, None]])


def test_sentences_without_any_legal_labels_are_refused() -> None:
    tagger = SequenceTagger(["word[0]"], constraints="bioes").fit([["a", "b"]], [["B-x", "E-x"]])
    assert tagger.predict([["a", "a", "b", "b"]]) == [["B-x", "E-x", "B-x", "E-x"]]
    with pytest.raises(SeqpaError, match="sentence 2"):
        tagger.predict([["a", "b"], ["a", "b", "a"]])


@pytest.mark.parametrize(
    ("labels", "place"),
    [
        (["O", "B-x"], "token 2: the training label 'B-x' at the end of the sentence"),
        (["B-x"], "token 1: the training label 'B-x' at the end of the sentence"),
        (["E-x", "O"], "token 1: the training label 'E-x' after the start"),
        (["B-x", "O", "B-x"], "token 2: the training label 'O' after B-x"),
    ],
)
def test_training_labels_that_break_the_rules_are_named(labels: list[str], place: str) -> None:
    names = ["B-x", "E-x", "O"]
    path = np.array([names.index(label) for label in labels], np.int32)
    with pytest.raises(SeqpaError, match=f"sentence 1, {place}"):
        check_legal(path, np.array([0, len(path)]), penalties("bioes", names), names)
