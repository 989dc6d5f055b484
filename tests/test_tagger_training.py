"""Training on and on: passes, new labels, dev sets, warm starts, and what fails on the way."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sequence_cases import TAGS, TEMPLATES, WORDS, features, weights

from seqpa import SequenceTagger
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError


@pytest.mark.parametrize("algorithm", ["perceptron", "pa", "pa-i", "pa-ii", "arow"])
@pytest.mark.parametrize("average", [False, True])
def test_partial_fit_is_one_pass_of_fit(algorithm: str, average: bool) -> None:
    parameters = {"features": TEMPLATES, "algorithm": algorithm, "average": average}
    parameters["update"] = "prediction-based"  # what "auto" is online
    whole = SequenceTagger(**parameters, shuffle=False, epochs=1).fit(WORDS, TAGS)
    at_once = SequenceTagger(**parameters).partial_fit(WORDS, TAGS)
    assert weights(whole) == weights(at_once)
    # In pieces, labels and features come one by one; the first piece has all labels here.
    pieces = SequenceTagger(**parameters)
    for i in range(len(WORDS)):
        pieces.partial_fit(WORDS[i : i + 1], TAGS[i : i + 1])
    assert weights(whole) == weights(pieces)


def test_partial_fit_learns_new_labels_without_forgetting() -> None:
    tagger = SequenceTagger(TEMPLATES, algorithm="pa", average=False)
    for _ in range(5):
        tagger.partial_fit(WORDS, TAGS)
    before = weights(tagger)
    assert tagger.predict(WORDS) == TAGS
    tagger.partial_fit(WORDS, TAGS)  # all right already: nothing moves
    assert weights(tagger) == before
    new = [["zounds", "!"], ["?", "1966", "x9"]]
    labels = [["UH", "."], [".", "CD", "B-SYM"]]
    for _ in range(5):
        tagger.partial_fit(new, labels)
    assert list(tagger.classes_) == ["D", "N", "V", ".", "B-SYM", "CD", "UH"]
    assert tagger.predict(new) == labels
    for (name, label), value in before[0].items():
        if name not in ("word[-1]=<-1>",) and not any(
            word in name for word in ("zounds", "!", "?")
        ):
            assert tagger.state_features_.get((name, label), 0.0) == value
    assert tagger.score(WORDS, TAGS) > 0.8
    many = [[f"word{k}"] for k in range(300)]
    before = weights(tagger)
    tagger.partial_fit(many, [[f"T{k}"] for k in range(300)])
    assert len(tagger.classes_) == 307
    for (name, label), value in before[0].items():
        if name != "word[-1]=<-1>":
            assert tagger.state_features_[name, label] == value
    assert tagger.transition_features_ == before[1]


def test_a_failing_cost_leaves_the_tagger_as_it_was() -> None:
    fail = False

    def cost(gold: list[str], predicted: list[str]) -> float:
        if fail and len(gold) > 1:
            raise ZeroDivisionError("the user's bug")
        return 1.0

    tagger = SequenceTagger(TEMPLATES, cost=cost).partial_fit(WORDS, TAGS)
    twin = SequenceTagger(TEMPLATES, cost=cost).partial_fit(WORDS, TAGS)
    before, classes, predictions = weights(tagger), list(tagger.classes_), tagger.predict(WORDS)
    fail = True
    with pytest.raises(SeqpaError, match="ZeroDivisionError"):
        tagger.partial_fit([["new"], ["words", "here"]], [["X"], ["Y", "Z"]])
    assert weights(tagger) == before
    assert list(tagger.classes_) == classes
    assert tagger.predict(WORDS) == predictions
    fail = False
    for each in (tagger, twin):
        each.partial_fit(WORDS[::-1], TAGS[::-1])
    assert weights(tagger) == weights(twin)


def test_a_failing_cost_in_the_first_partial_fit_leaves_nothing() -> None:
    def cost(gold: list[str], predicted: list[str]) -> float:
        raise ZeroDivisionError("the user's bug")

    tagger = SequenceTagger(TEMPLATES, cost=cost)
    with pytest.raises(SeqpaError, match="ZeroDivisionError"):
        tagger.partial_fit(WORDS, TAGS)
    with pytest.raises(SeqpaError, match="not trained"):
        tagger.predict(WORDS)


@pytest.mark.parametrize("asked", [False, True])
def test_a_failing_cost_in_fit_leaves_the_tagger_as_it_was(asked: bool) -> None:
    fail = False

    def cost(gold: list[str], predicted: list[str]) -> float:
        if fail:
            raise ZeroDivisionError("the user's bug")
        return 1.0

    tagger = SequenceTagger(TEMPLATES, cost=cost, random_state=0).fit(WORDS, TAGS)
    if asked:
        assert tagger.predict(WORDS) == TAGS
    fail = True
    with pytest.raises(SeqpaError, match="ZeroDivisionError"):
        tagger.fit([["other", "words"]], [["X", "Y"]])
    assert tagger.predict(WORDS) == TAGS
    fail = False
    tagger.partial_fit(WORDS, TAGS)
    assert list(tagger.classes_) == ["D", "N", "V"]


def test_bad_data_in_partial_fit_leaves_the_tagger_as_it_was() -> None:
    tagger = SequenceTagger().partial_fit([features(s) for s in WORDS], TAGS)
    before, classes = weights(tagger), list(tagger.classes_)
    for X, y in (
        ([[{"new": 1.0}, {"size": math.nan}]], [["N", "Q"]]),
        ([[{"new": 1.0}]], [["N", "Q"]]),
        ([[{"new": 1.0}]], [[0.5]]),
    ):
        with pytest.raises(SeqpaError):
            tagger.partial_fit(X, y)
    assert weights(tagger) == before
    assert list(tagger.classes_) == classes


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, "much"])
def test_a_cost_is_a_number_from_zero_on(value: Any) -> None:
    with pytest.raises((SeqpaError, ValueError)):
        SequenceTagger(TEMPLATES, cost=lambda gold, predicted: value).fit(WORDS, TAGS)


def test_warm_start_goes_on_and_cold_start_does_not() -> None:
    once = SequenceTagger(TEMPLATES, average=False, shuffle=False, epochs=1).fit(WORDS, TAGS)
    twice = SequenceTagger(TEMPLATES, average=False, shuffle=False, epochs=2).fit(WORDS, TAGS)
    assert weights(once) != weights(twice)
    once.fit(WORDS, TAGS)
    assert weights(once) != weights(twice)
    once.set_params(warm_start=True).fit(WORDS, TAGS)
    assert weights(once) == weights(twice)
    once.fit([["zounds"]], [["UH"]])
    assert list(once.classes_) == ["D", "N", "V", "UH"]


def test_a_warm_start_that_fails_leaves_a_tagger_that_tags() -> None:
    tagger = SequenceTagger(["word[0]"], constraints="bio", warm_start=True)
    tagger.fit([["a", "b"]], [["O", "B-x"]])
    before = tagger.predict([["a", "b"]])
    new = [f"new{k}" for k in range(20_000)]
    with pytest.raises(SeqpaError, match="breaks the constraints"):
        tagger.fit([new], [["I-x"] * len(new)])
    assert tagger.predict([["a", "b"]]) == before
    assert len(tagger.predict([new])[0]) == len(new)


def test_constraints_may_be_lifted_between_passes() -> None:
    strict = SequenceTagger(TEMPLATES, algorithm="pa", constraints={"forbidden": [["N", "N"]]})
    strict.partial_fit(WORDS, TAGS).set_params(constraints=None)
    free = SequenceTagger(TEMPLATES, algorithm="pa").partial_fit(WORDS, TAGS)
    for tagger in (strict, free):
        for _ in range(5):
            tagger.partial_fit([["rain", "dog"]], [["N", "N"]])
        assert tagger.predict([["rain", "dog"]]) == [["N", "N"]]
        assert max(map(abs, tagger.state_features_.values())) < 10


def test_what_partial_fit_cannot_change_it_refuses() -> None:
    tagger = SequenceTagger(TEMPLATES).partial_fit(WORDS, TAGS)
    before = weights(tagger)
    with pytest.raises(SeqpaError, match="arow"):
        tagger.set_params(algorithm="arow").partial_fit(WORDS, TAGS)
    assert weights(tagger) == before


@pytest.mark.parametrize("change", [{"features": ["word[-1]"]}, {"columns": ("form",)}])
def test_going_on_with_other_features_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    trained = SequenceTagger(TEMPLATES, random_state=0, warm_start=True).fit(WORDS, TAGS)
    trained.save(tmp_path / "model")
    for tagger in (trained, SequenceTagger.load(tmp_path / "model")):
        tagger.partial_fit(WORDS, TAGS).fit(WORDS, TAGS)
        before = weights(tagger)
        tagger.set_params(**change)
        for train in (tagger.fit, tagger.partial_fit):
            with pytest.raises(SeqpaError, match="have changed"):
                train(WORDS, TAGS)
        tagger.set_params(features=tuple(TEMPLATES), columns=["word"])
        assert weights(tagger) == before
        tagger.partial_fit(WORDS, TAGS)


def test_too_many_labels_for_features_on_pairs() -> None:
    X, y = [["a", "b"]], [["A", "B"]]
    many = [[f"word{k}"] for k in range(4100)]
    labels = [[f"T{k}"] for k in range(4100)]
    for tagger in (
        SequenceTagger(["word[0]", "pair:word[0]"]),
        SequenceTagger(["word[0]", "pair:word[0]"]).fit(X, y),
    ):
        with pytest.raises(SeqpaError, match="too many"):
            tagger.partial_fit(many, labels)
    assert len(tagger.predict([[f"word{k}" for k in range(4100)]])[0]) == 4100
    with pytest.raises(SeqpaError, match="too many"):
        tagger.fit(many, labels)


def test_training_yields_its_epochs_with_usable_weights() -> None:
    tagger = SequenceTagger(TEMPLATES, epochs=4, random_state=0)
    numbers = []
    for epoch in tagger.training(WORDS, TAGS):
        numbers.append(epoch.number)
        assert epoch.sentences == len(WORDS)
        assert epoch.tokens == sum(map(len, WORDS))
        assert epoch.best
        assert epoch.dev_score is None
        alone = SequenceTagger(TEMPLATES, epochs=epoch.number, random_state=0).fit(WORDS, TAGS)
        assert weights(tagger) == weights(alone)
    assert numbers == [1, 2, 3, 4]
    assert tagger.n_iter_ == 4


def noisy(rng: np.random.Generator, n: int) -> tuple[list[list[str]], list[list[str]]]:
    X = [[f"w{rng.integers(20)}" for _ in range(5)] for _ in range(n)]
    y = [
        ["A" if rng.random() < 0.3 else "BC"[int(word[1:]) % 2] for word in sentence]
        for sentence in X
    ]
    return X, y


@pytest.mark.parametrize("average", [False, True])
def test_the_best_epoch_on_dev_is_kept(average: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = noisy(rng, 60)
    dev = noisy(rng, 30)
    tagger = SequenceTagger(
        TEMPLATES, epochs=12, algorithm="perceptron", average=average, random_state=0
    )
    history = list(tagger.training(X, y, dev))
    scores = [epoch.dev_score for epoch in history]
    best = int(np.argmax(scores))
    assert len(history) == 12
    assert tagger.n_iter_ == best + 1
    assert [epoch.best for epoch in history][best + 1 :] == [False] * (11 - best)
    assert tagger.score(*dev) == pytest.approx(scores[best])
    alone = SequenceTagger(**tagger.get_params() | {"epochs": best + 1}).fit(X, y)
    assert weights(alone) == weights(tagger)
    patient = SequenceTagger(**tagger.get_params() | {"patience": 2})
    stopped = list(patient.training(X, y, Corpus.from_sentences(*dev)))
    assert [epoch.dev_score for epoch in stopped] == scores[: len(stopped)]
    assert len(stopped) == 12 or len(stopped) - patient.n_iter_ == 2


def test_dev_score_is_span_f1_for_bio_labels() -> None:
    X = [["a", "b", "c"]] * 4
    y = [["B-x", "I-x", "O"]] * 4
    dev = ([["a", "b", "c", "c"]], [["B-x", "O", "O", "O"]])
    epoch = list(SequenceTagger(TEMPLATES, random_state=0).training(X, y, dev))[-1]
    assert epoch.dev_score == 0.0  # three of four labels are right, but the span is wrong
