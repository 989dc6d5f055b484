"""What the taught model and its queue rest on: a scale of probabilities, a mean that forgets."""

from __future__ import annotations

import numpy as np
import pytest
from sequence_cases import TAGS, TEMPLATES, WORDS

from seqpa import SeqpaError, SequenceTagger
from seqpa.teach.model import TaughtModel
from seqpa.teach.queue import STRATEGY, Queue

SENTENCES = [
    ["Ada", "saw", "Rome"],
    ["Rome", "fell"],
    ["Ada", "fell"],
    ["Bob", "saw", "Ada", "in", "Oslo"],
    ["in", "Rome", "rain", "fell"],
    ["rain", "fell"],
]
SPANS = [
    [[0, 1, "PER"], [2, 3, "LOC"]],
    [[0, 1, "LOC"]],
    [[0, 1, "PER"]],
    [[0, 1, "PER"], [2, 3, "PER"], [4, 5, "LOC"]],
    [[1, 2, "LOC"]],
    [],
]


def taught(rounds: int = 3) -> TaughtModel:
    model = TaughtModel("spans", ["PER", "LOC"])
    for _ in range(rounds):
        for tokens, spans in zip(SENTENCES, SPANS, strict=True):
            model.learn(tokens, {"spans": spans})
    return model


def test_the_faded_mean_is_the_weighted_mean_of_all_weight_vectors() -> None:
    """Beside a tagger that shows its last weights: what was before a fading counts less."""
    mean, last = (SequenceTagger(TEMPLATES, average=own, random_state=1) for own in (True, False))
    vectors: list[dict[tuple[str, str], float]] = []
    votes: list[float] = []
    for number, (tokens, labels) in enumerate(zip(WORDS * 3, TAGS * 3, strict=True), 1):
        mean.learn_one(tokens, labels)
        last.learn_one(tokens, labels)
        vectors.append(last.state_features_ | last.transition_features_)
        votes.append(1.0)
        if number % 4 == 0:
            before = mean.state_features_
            mean.fade_average(0.3)
            assert mean.state_features_ == pytest.approx(before, abs=1e-6)
            votes = [0.3 * vote for vote in votes]
    found = mean.state_features_ | mean.transition_features_
    moved = 0
    for key in {key for own in vectors for key in own}:
        own = [vector.get(key, 0.0) for vector in vectors]
        assert found.get(key, 0.0) == pytest.approx(np.average(own, weights=votes), abs=1e-5)
        moved += abs(np.average(own, weights=votes) - np.mean(own)) > 1e-3
    assert moved > 10


def test_fading_asks_for_a_share_and_a_mean() -> None:
    tagger = SequenceTagger(TEMPLATES)
    with pytest.raises(SeqpaError, match="there is no mean to fade"):
        tagger.fade_average(0.5)
    tagger.learn_one(WORDS[0], TAGS[0])
    for share in (0.0, 1.5):
        with pytest.raises(SeqpaError, match="share is"):
            tagger.fade_average(share)


def test_the_likelihood_at_a_scale_is_that_of_the_marginals() -> None:
    tagger = SequenceTagger(TEMPLATES, random_state=1).fit(WORDS, TAGS)
    X, y = [["the", "dog", "fell"], ["rain", "cut"]], [["D", None, "V"], ["N", "V"]]
    found = tagger.scale_likelihoods(X, y, [1.0, 7.0])
    for own, scale in zip(found, (1.0, 7.0), strict=True):
        tagger.set_probability_scale(scale)
        rows = tagger.predict_marginals(X)
        expected = sum(
            np.log(row[label])
            for sentence, labels in zip(rows, y, strict=True)
            for row, label in zip(sentence, labels, strict=True)
            if label is not None
        )
        assert own == pytest.approx(expected, rel=1e-5)
    with pytest.raises(SeqpaError, match="the scale of probabilities is 0"):
        tagger.set_probability_scale(0)


def test_the_scale_grows_with_what_was_right() -> None:
    """At scale 1, the scores of a tagger say next to nothing; a taught model has its own."""
    model = taught()
    assert model.scale > 4
    assert model.tagger.probability_scale_ == model.scale
    assert min(model.propose(SENTENCES[0]).sure) > 0.8
    before = model.scale
    for _ in range(10):  # what it is surest of is wrong: it has every reason to be less sure
        model.learn(["Ada", "fell"], {"spans": [[0, 1, "LOC"]]})
        model.learn(["Ada", "fell"], {"spans": [[0, 1, "PER"]]})
    assert model.scale < before


def test_a_snapshot_goes_on_with_the_same_bits() -> None:
    model = taught(2)
    other = TaughtModel.restore(model.snapshot())
    assert other.scale == model.scale
    for tokens, spans in zip(SENTENCES, SPANS, strict=True):
        assert other.learn(tokens, {"spans": spans}) == model.learn(tokens, {"spans": spans})
        assert other.propose(tokens) == model.propose(tokens)


def test_the_queue_covers() -> None:
    """The word that is there most often and was never labelled comes before one that is as new."""
    pool = [["zeta", "fell"], ["omega", "fell"], ["zeta", "saw"], ["zeta", "in"], *SENTENCES]
    assert STRATEGY == "coverage"
    model = taught()
    queue = Queue(pool, random_share=0.0)
    for i in range(4, len(pool)):
        queue.done(i)
    choice = queue.next(model)
    assert choice is not None
    assert choice.why == "coverage"
    assert "zeta" in pool[choice.index]
    queue.done(choice.index)
    queue.done(choice.index)  # twice is once
    queue.put_back(choice.index)
    again = queue.next(model)
    assert again == choice
