"""Looking ahead: the block algorithm equals its dictionary twin, and threads change no bit."""

from __future__ import annotations

import hashlib
import itertools
import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sequence_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sequence_cases import draw_sentence, draw_weights, encoded, flat, frozen, thawed_dict
from test_sequence_learning import (
    ALGORITHMS,
    CLEAR,
    COSTS,
    LABELS,
    UPDATES,
    Outcome,
    assert_equal_weights,
)

from seqpa import SequenceTagger
from seqpa.errors import SeqpaError
from seqpa.sequence.ahead import EXPECTED
from seqpa.sequence.constraints import penalties
from seqpa.sequence.costs import sequence_cost
from seqpa.sequence.learner import ChainLearner
from seqpa.sequence.weights import TrainingWeights

# Without those whose competitors are found in Python, one at a time.
AHEAD = [
    (update, cost)
    for update, cost in UPDATES
    if update != "n-best" and (update, cost) != ("max-loss", "zero-one")
]
TEMPLATES = ["word[0]", "word[-1]", "suffix(1)[0]"]


def blocks_through_both(
    rng: np.random.Generator, algorithm: str, update: str, cost: str, lookahead: int | str
) -> Outcome:
    """The same blocks through both trainers; sentences whose decision is too close stay out."""
    K, n_features = len(LABELS), 5
    C = float(rng.uniform(0.05, 1.0))
    cost_given, naive = COSTS[cost]
    start = draw_weights(rng, n_features, K, None, exact=False)
    twin = reference.Trainer(LABELS, algorithm, C, naive, update, w=dict(start))
    sentences, golds = [], []
    rate = 1.0
    for _ in range(6):
        size = max(1, int(EXPECTED / rate)) if lookahead == "auto" else int(lookahead)
        block: list[tuple[reference.Sentence, reference.Given]] = []
        while len(block) < size:
            n = int(rng.integers(1, 4))
            sentence = draw_sentence(rng, n, n_features, None, True)
            paths = list(itertools.product(range(K), repeat=n))
            gold = paths[int(rng.integers(len(paths)))]
            if twin.choose(sentence, gold).gap > CLEAR:
                block.append((sentence, gold))
        for moved in twin.learn_block(block):
            rate += (moved - rate) / 64
        sentences += [sentence for sentence, _ in block]
        golds += [gold for _, gold in block]
    weights = TrainingWeights.thawed(
        frozen(start, n_features, K, None), second_order=algorithm == "arow"
    )
    learner = ChainLearner(
        algorithm,
        C,
        sequence_cost(cost_given, LABELS),
        penalties(None, LABELS),
        LABELS,
        update,
        lookahead=lookahead,
    )
    order = np.arange(len(sentences))
    totals = learner.epoch(weights, encoded(sentences), flat(golds), order, record=True)
    return Outcome(twin, weights, totals)


@pytest.mark.pure
@pytest.mark.parametrize("lookahead", [3, "auto"])
@pytest.mark.parametrize(("update", "cost"), AHEAD)
def test_blocks_equal_the_dictionary_trainer(update: str, cost: str, lookahead: int | str) -> None:
    for k, algorithm in enumerate(ALGORITHMS):
        rng = np.random.default_rng([k, AHEAD.index((update, cost)), lookahead == "auto"])
        outcome = blocks_through_both(rng, algorithm, update, cost, lookahead)
        twin, weights, totals = outcome
        assert_equal_weights(thawed_dict(weights.freeze(False)), twin.w)
        assert_equal_weights(thawed_dict(weights.freeze(True)), twin.mean())
        np.testing.assert_allclose(totals.record, twin.rounds, rtol=1e-4, atol=1e-4)
        assert totals.updates > 2


def corpus(seed: int, n: int = 70) -> tuple[list[list[str]], list[list[str]]]:
    rng = random.Random(seed)
    X = [[f"w{rng.randint(0, 30)}" for _ in range(rng.randint(0, 9))] for _ in range(n)]
    return X, [[rng.choice("ABCD") for _ in sentence] for sentence in X]


def digest(tagger: SequenceTagger) -> str:
    weights = sorted((*key, value.hex()) for key, value in tagger.state_features_.items())
    steps = sorted((*key, value.hex()) for key, value in tagger.transition_features_.items())
    return hashlib.sha256(repr((weights, steps)).encode()).hexdigest()


def trained(X: Any, y: Any, dev: Any = None, weights: Any = None, **more: Any) -> SequenceTagger:
    given: dict[str, Any] = {"features": TEMPLATES, "epochs": 3, "random_state": 0, **more}
    return SequenceTagger(**given).fit(X, y, dev=dev, sample_weight=weights)


def last_counts(gold: list[str], predicted: list[str]) -> float:
    """A cost that only Python knows."""
    return 1.0 + 2.0 * (gold[-1] != predicted[-1])


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(ALGORITHMS),
    st.sampled_from(
        [
            ("prediction-based", "hamming"),
            ("prediction-based", last_counts),
            ("loss-augmented", "hamming"),
            ("near-max-loss", "hamming"),
            ("max-loss", "hamming"),
        ]
    ),
    st.sampled_from([2, 7, 200, "auto"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([2, 3, 16]),
)
def test_threads_change_no_bit(
    seed: int,
    algorithm: str,
    chosen: tuple[str, Any],
    lookahead: int | str,
    partial: bool,
    weighted: bool,
    n_jobs: int,
) -> None:
    X, y = corpus(seed)
    rng = random.Random(seed)
    labels: Any = y
    if partial:
        labels = [[label if rng.random() < 0.7 else None for label in row] for row in y]
    weights = None
    if weighted and algorithm not in ("perceptron", "pa"):
        weights = [rng.choice([0.0, 0.5, 2.0]) for _ in X]
    given = {"algorithm": algorithm, "update": chosen[0], "cost": chosen[1]}
    one = trained(X, labels, None, weights, lookahead=lookahead, **given)
    several = trained(X, labels, None, weights, lookahead=lookahead, n_jobs=n_jobs, **given)
    assert digest(one) == digest(several)


@pytest.mark.parametrize("more", [{"stages": 2}, {"seeds": 2}, {"patience": 1}, {"average": False}])
def test_threads_change_no_bit_of_larger_trainings(more: dict[str, Any]) -> None:
    X, y = corpus(3)
    dev = corpus(4, 20)
    given: dict[str, Any] = {"lookahead": "auto", **more}
    assert digest(trained(X, y, dev, **given)) == digest(trained(X, y, dev, n_jobs=3, **given))


def test_one_sentence_ahead_is_the_serial_algorithm_whatever_the_threads() -> None:
    X, y = corpus(5)
    plain = digest(trained(X, y))
    assert plain == digest(trained(X, y, lookahead=1, n_jobs=4))
    assert plain != digest(trained(X, y, lookahead=4))


@pytest.mark.parametrize("lookahead", [1, 5, "auto"])
def test_being_told_of_progress_changes_nothing(lookahead: int | str) -> None:
    X, y = corpus(6, 200)
    tagger = SequenceTagger(TEMPLATES, epochs=2, random_state=0, lookahead=lookahead, n_jobs=2)
    told: list[int] = []
    for _ in tagger.training(X, y, progress=lambda done, of: told.append(done)):
        pass
    assert len(told) >= 4
    assert digest(tagger) == digest(trained(X, y, epochs=2, lookahead=lookahead))


def test_a_saved_state_goes_on_bit_for_bit(tmp_path: Path) -> None:
    X, y = corpus(7, 120)
    given: dict[str, Any] = {"features": TEMPLATES, "epochs": 4, "random_state": 0}
    given |= {"lookahead": "auto", "n_jobs": 2}
    first = SequenceTagger(**given)
    for epoch in first.training(X, y):
        if epoch.number == 2:
            first.save_state(tmp_path / "state")
            break
    second = SequenceTagger(**given)
    second.load_state(tmp_path / "state")
    for _ in second.training(X, y):
        pass
    assert digest(second) == digest(trained(X, y, epochs=4, lookahead="auto"))


def test_lessons_are_learned_one_at_a_time() -> None:
    X, y = corpus(8)
    serial, ahead = trained(X, y), trained(X, y)
    ahead.lookahead, ahead.n_jobs = "auto", 2
    for tagger in (serial, ahead):
        tagger.partial_fit(*corpus(9))
        tagger.learn_one(X[1], y[1])
    assert digest(serial) == digest(ahead)


def test_an_interrupt_ends_the_threads_and_leaves_whole_weights() -> None:
    X, y = corpus(10, 300)
    tagger = SequenceTagger(TEMPLATES, epochs=5, random_state=0, lookahead="auto", n_jobs=3)

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        for _ in tagger.training(X, y, progress=stop):
            pass
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("seqpa-ahead")]
    assert digest(tagger.fit(X, y)) == digest(trained(X, y, epochs=5, lookahead="auto"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lookahead": 0}, "lookahead is 0: it must be 'auto' or a whole number from 1 to 256"),
        ({"lookahead": 257}, "lookahead is 257: "),
        ({"lookahead": "fast"}, "lookahead is 'fast': "),
        ({"lookahead": True}, "lookahead is True: "),
        ({"lookahead": 4, "batch_size": 2}, "lookahead is 4, but batch_size above 1 "),
        ({"lookahead": 4, "update": "n-best"}, "lookahead is 4, but update 'n-best' "),
        (
            {"lookahead": 4, "update": "max-loss", "cost": "zero-one"},
            "lookahead is 4, but update 'max-loss' with the cost 'zero-one' finds one competitor",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SeqpaError) as error:
        trained(*corpus(1), **given)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("given", [{"batch_size": 2}, {"update": "n-best"}])
def test_auto_is_serial_where_there_is_nothing_to_look_ahead_to(given: dict[str, Any]) -> None:
    X, y = corpus(11)
    assert digest(trained(X, y, lookahead="auto", n_jobs=2, **given)) == digest(
        trained(X, y, **given)
    )


def test_there_are_no_more_threads_than_blocks_can_use() -> None:
    cost, rules = sequence_cost("hamming", LABELS), penalties(None, LABELS)
    for lookahead, n_jobs, count in (("auto", 3, 2), ("auto", 5000, 63), (1, 5000, 0)):
        learner = ChainLearner("pa-i", 1.0, cost, rules, LABELS, lookahead=lookahead)
        with learner.helpers(n_jobs) as helpers:
            assert helpers.count == count
