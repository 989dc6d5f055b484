"""`TaughtModel` against a plain tagger, and against all label sequences of small sentences."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from seqpa import SequenceTagger
from seqpa.errors import SeqpaError
from seqpa.schemes import violation, write_spans
from seqpa.sequence.presets import preset
from seqpa.teach.model import TaughtModel

TEXTS = ["Ada left Rome", "Bob saw Ada", "Rome fell", "Bob Ames left", "in Rome Bob paid"]
RIGHT = [
    [[0, 1, "PER"], [2, 3, "LOC"]], [[0, 1, "PER"], [2, 3, "PER"]], [[0, 1, "LOC"]],
    [[0, 2, "PER"]], [[1, 2, "LOC"], [2, 3, "PER"]],
]  # fmt: skip
LESSONS = [(text.split(), {"spans": spans}) for text, spans in zip(TEXTS, RIGHT, strict=True)]
WORDS = [
    (text.split(), {"labels": ["NOUN" if word[0].isupper() else "OTHER" for word in text.split()]})
    for text in TEXTS
]


def taught(rounds: int = 2, **more: Any) -> TaughtModel:
    model = TaughtModel("spans", ["PER", "LOC"], seed=3, **more)
    for _ in range(rounds):
        for tokens, right in LESSONS:
            model.learn(tokens, right)
    return model


def bits(tagger: SequenceTagger) -> tuple[dict[Any, float], dict[Any, float]]:
    """All weights, by their names."""
    return tagger.trained_.state_features(), tagger.trained_.transition_features()


# A twin


def plain_tagger(names: list[list[str]]) -> SequenceTagger:
    tagger = SequenceTagger(
        preset("ner", ("word",)),
        columns=("word",),
        constraints="bio",
        update="near-max-loss",
        random_state=3,
    )
    for labels in names:  # as labels are told to a model that nobody has taught
        tagger.partial_fit([["\ue000"] * len(labels), []], [labels, []], sample_weight=[0.0, 1.0])
    return tagger


@pytest.mark.parametrize("replay", [0, 4])
def test_it_is_a_tagger_that_learns_one_by_one(replay: int) -> None:
    model = taught(rounds=3, replay=replay)
    tagger = plain_tagger([["O"], ["B-PER"], ["B-PER", "I-PER"], ["B-LOC"], ["B-LOC", "I-LOC"]])
    faded = 1
    for clock, (tokens, right) in enumerate(LESSONS * 3, 1):
        spans = [(label, start, end) for start, end, label in right["spans"]]
        labels = write_spans(spans, len(tokens), "iob2")
        tagger.learn_one(tokens, labels, replay=replay)
        if clock >= 1.1 * faded:  # that of lesson t counts as the cube of t
            tagger.fade_average((faded / clock) ** 3)
            faded = clock
    assert bits(model.tagger) == bits(tagger)
    for tokens, _ in LESSONS:
        found = model.propose(tokens)
        spans = [(label, start, end) for start, end, label in found.annotation["spans"]]
        assert write_spans(spans, len(tokens), "iob2") == tagger.predict([tokens])[0]
        assert found.margin == tagger.confidence([tokens])[0][0]


def test_a_lesson_tells_what_was_predicted_before_it() -> None:
    model = taught(1)
    tokens = ["Ada", "saw", "Rome"]
    before = model.propose(tokens).annotation
    lesson = model.learn(tokens, {"spans": [[2, 3, "PER"]]})
    assert lesson.predicted == before
    assert lesson.wrong_tokens > 0
    assert lesson.tau > 0
    assert model.clock == 6


def test_one_label_a_token() -> None:
    model = TaughtModel("tokens", ["NOUN", "OTHER"], seed=1)
    for _ in range(4):
        for tokens, right in WORDS:
            model.learn(tokens, right)
    assert model.propose(["Ada", "paid"]).annotation == {"labels": ["NOUN", "OTHER"]}
    partly = model.propose(["Ada", "paid"], confirmed=[[0, 1, "OTHER"]])
    assert partly.annotation["labels"][0] == "OTHER"


# What is confirmed


def scores(model: TaughtModel, tokens: list[str]) -> dict[tuple[str, ...], float]:
    """The score of every label sequence that is allowed, by the tagger's own n-best list."""
    labels = ["O", *(f"{tag}-{own}" for own in ("PER", "LOC") for tag in "BI")]
    legal = [
        one for one in product(labels, repeat=len(tokens)) if violation(list(one), "iob2") is None
    ]
    found = model.tagger.predict_nbest([tokens], k=len(legal))[0]
    assert len(found) == len(legal)
    return {tuple(labels): score for score, labels in found}


def spans_of(labels: tuple[str, ...]) -> list[list[Any]]:
    found: list[list[Any]] = []
    for i, label in enumerate(labels):
        if label[0] == "B":
            found.append([i, i + 1, label[2:]])
        elif label[0] == "I":
            found[-1][1] = i + 1
    return found


def test_what_is_confirmed_is_kept_exactly_and_the_rest_is_the_best() -> None:
    model = taught(2)
    rng = np.random.default_rng(0)
    tokens = ["Bob", "Ames", "saw", "Rome"]
    every = scores(model, tokens)
    pieces = [[a, b, label] for a in range(4) for b in range(a + 1, 5)
              for label in ("PER", "LOC", None)]  # fmt: skip
    looked = 0
    for _ in range(60):
        own: list[list[Any]] = []
        for i in rng.permutation(len(pieces))[: int(rng.integers(1, 3))]:
            if all(pieces[i][1] <= a or pieces[i][0] >= b for a, b, _ in own):
                own.append(pieces[i])
        found = model.propose(tokens, own).annotation["spans"]

        def fits(spans: list[list[Any]], own: list[list[Any]] = own) -> bool:
            named = [one for one in own if one[2] is not None]
            empty = {i for a, b, label in own if label is None for i in range(a, b)}
            inside = {i for a, b, _ in spans for i in range(a, b)}
            return all(one in spans for one in named) and not empty & inside

        assert fits(found), own
        best = max(
            (spans_of(labels) for labels in every if fits(spans_of(labels))),
            key=lambda spans: every[
                tuple(write_spans([(x, a, b) for a, b, x in spans], 4, "iob2"))
            ],
        )
        # Where a span is followed by what would go on with it, the end is decided first and the
        # rest then; elsewhere the proposal is the best of all.
        behind = {b for _, b, label in own if label is not None}
        if not any(start in behind for start, _, _ in [*found, *best]):
            looked += 1
            assert found == best, own
    assert looked > 20


def test_what_is_confirmed_teaches() -> None:
    model = taught(1)
    assert [2, 3, "PER"] not in model.propose(["Cy", "left", "Oslo"]).annotation["spans"]
    for _ in range(6):
        model.learn(["Cy", "left", "Oslo"], None, confirmed=[[2, 3, "PER"]])
    assert [2, 3, "PER"] in model.propose(["Cy", "left", "Oslo"]).annotation["spans"]
    with pytest.raises(SeqpaError, match="nothing to learn"):
        model.learn(["Cy"], None, confirmed=[])


@pytest.mark.parametrize(
    ("confirmed", "told"),
    [([[0, 9, "PER"]], "outside of 3"), ([[0, 2, "PER"], [1, 3, None]], "overlaps"),
     ([[0, 1, "ORG"]], "no label 'ORG'")],
)  # fmt: skip
def test_what_cannot_be_confirmed(confirmed: list[Any], told: str) -> None:
    with pytest.raises(SeqpaError, match=told):
        taught(1).propose(["a", "b", "c"], confirmed)


# Snapshots


@pytest.mark.parametrize("at", [0, 1, 3, 7])
def test_going_on_from_a_snapshot_gives_the_same_bits(at: int) -> None:
    whole = TaughtModel("spans", ["PER", "LOC"], seed=3)
    other = TaughtModel("spans", ["PER", "LOC"], seed=3)
    for i in range(10):
        tokens, right = LESSONS[i % 5]
        if i == at:
            other = TaughtModel.restore(other.snapshot())
        if i == 5:
            whole.rename_label("LOC", "PLACE")
            other.rename_label("LOC", "PLACE")
        if i >= 5:
            right = {"spans": [[a, b, x.replace("LOC", "PLACE")] for a, b, x in right["spans"]]}
        whole.learn(tokens, right)
        other.learn(tokens, right)
    assert bits(whole.tagger) == bits(other.tagger)
    for tokens, _ in LESSONS:
        assert whole.propose(tokens) == other.propose(tokens)
    assert (whole.labels, whole.clock, whole.scale) == (other.labels, other.clock, other.scale)


@pytest.mark.parametrize("damage", [b"", b"\0" * 8, b"\xff" * 64, b"\2\0\0\0\0\0\0\0{}"])
def test_a_damaged_snapshot_is_one_clear_line(damage: bytes) -> None:
    with pytest.raises(SeqpaError, match="snapshot"):
        TaughtModel.restore(damage)


# Labels that change


def test_renaming_keeps_all_that_was_learned() -> None:
    model, other = taught(), taught()
    model.rename_label("LOC", "PLACE")
    assert bits(model.tagger) == bits(other.tagger)
    for tokens, _ in LESSONS:
        old = other.propose(tokens).annotation["spans"]
        new = model.propose(tokens).annotation["spans"]
        assert new == [[a, b, x.replace("LOC", "PLACE")] for a, b, x in old]
    assert model.labels == ["PER", "PLACE"]
    model.add_label("LOC")  # another one of that name, of which nothing is known
    assert model.labels == ["PER", "PLACE", "LOC"]
    assert model.propose(["Rome"], [[0, 1, "LOC"]]).annotation == {"spans": [[0, 1, "LOC"]]}


def test_a_new_label_leaves_the_others_as_they_are() -> None:
    model, other = taught(), taught()
    model.add_label("ORG")
    for tokens, _ in LESSONS:
        assert model.propose(tokens).annotation == other.propose(tokens).annotation
    for _ in range(4):
        model.learn(["Initech", "grew"], {"spans": [[0, 1, "ORG"]]})
    assert model.propose(["Initech"]).annotation == {"spans": [[0, 1, "ORG"]]}


def test_merging_shows_one_and_goes_on_learning() -> None:
    model, other = taught(), taught()
    model.merge_labels("LOC", "PER")
    for tokens, _ in LESSONS:
        old = other.propose(tokens).annotation["spans"]
        assert model.propose(tokens).annotation["spans"] == [[a, b, "PER"] for a, b, _ in old]
    assert model.labels == ["PER"]
    # What it says under the name that was given up is right already: nothing is to be learned.
    tokens = ["in", "Rome"]
    if model.propose(tokens).annotation["spans"] == [[1, 2, "PER"]]:
        assert model.learn(tokens, {"spans": [[1, 2, "PER"]]}).wrong_tokens == 0
    with pytest.raises(SeqpaError, match="into itself"):
        model.merge_labels("PER", "PER")


def test_it_is_the_surer_the_more_it_was_taught() -> None:
    before, after = (
        [value for tokens, _ in LESSONS for value in taught(n).propose(tokens).sure] for n in (1, 6)
    )
    assert all(0 < value <= 1 for value in [*before, *after])
    assert np.mean(after) > np.mean(before)
    assert TaughtModel("spans", ["PER"]).propose([]).sure == []
