"""Earlier sentences learned again: which are kept, which are drawn, and that it helps."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sequence_cases import TAGS, TEMPLATES, WORDS, weights

from seqpa import SeqpaError, SequenceTagger
from seqpa.data import read
from seqpa.sequence.encode import Encoded
from seqpa.sequence.pieces import joined, part
from seqpa.sequence.replay import Reservoir

NEWS = Path(__file__).parents[1] / "corpora" / "news"
NO_WEIGHTS = np.zeros(0)


def tagger(**parameters: Any) -> SequenceTagger:
    usual = {"features": TEMPLATES, "random_state": 3, "average": False}
    return SequenceTagger(**{**usual, **parameters})


def numbered(n: int, first: int = 0) -> tuple[Encoded, np.ndarray]:
    """Sentences of one token, whose label is the sentence's number."""
    steps = np.arange(n + 1, dtype=np.int64)
    gold = np.arange(first, first + n, dtype=np.int32)
    return Encoded(steps, steps, np.zeros(n, np.int32)), gold


def kept(reservoir: Reservoir) -> list[int]:
    return [int(own.gold[0]) for own in reservoir.draw(len(reservoir))]


@pytest.mark.parametrize("at_once", [1, 7, 40])
def test_every_sentence_is_kept_with_the_same_probability(at_once: int) -> None:
    counts = np.zeros(40)
    for seed in range(1500):
        reservoir = Reservoir(np.random.default_rng(seed), capacity=8)
        for first in range(0, 40, at_once):
            size = min(at_once, 40 - first)
            reservoir.add(*numbered(size, first), NO_WEIGHTS)
        found = kept(reservoir)
        assert len(set(found)) == 8
        counts[found] += 1
    # Binomial with p = 1/5: the standard deviation is 15.5; five of them.
    assert np.abs(counts - 300).max() < 78


def test_sentences_without_tokens_or_weight_are_not_kept() -> None:
    reservoir = Reservoir(np.random.default_rng(0), capacity=8)
    encoded = Encoded(np.array([0, 0, 1, 2]), np.array([0, 0, 0]), np.zeros(0, np.int32))
    reservoir.add(encoded, np.array([4, 5], np.int32), np.array([1.0, 0.0, 2.5]))
    assert (len(reservoir), reservoir.seen) == (1, 1)
    assert reservoir.draw(1)[0].weight == 2.5


def test_what_is_cut_apart_goes_together_again() -> None:
    source = tagger(features=None).fit(
        [[{"a": 1.0, "b": 0.5}, {"a": 1.0}], [{"b": 1.0}], [{"c": 2.0}, {}]],
        [["A", "B"], ["A"], ["B", "A"]],
    )
    encoded = source.training_state_.source.transform(
        [[{"a": 1.0, "b": 0.5}, {"a": 1.0}], [{"b": 1.0}], [{"c": 2.0}, {}]]
    )
    pieces = [part(encoded, slice(i, i + 1)) for i in range(3)]
    again = joined(pieces)
    for name in ("starts", "indptr", "features", "values"):
        np.testing.assert_array_equal(getattr(again, name), getattr(encoded, name))


@pytest.mark.parametrize("update", ["prediction-based", "loss-augmented", "n-best"])
@pytest.mark.parametrize("templates", [TEMPLATES, [*TEMPLATES, "pair:suffix(1)[0]"]])
def test_replayed_sentences_are_learned_as_if_they_came_again(
    templates: list[str], update: str
) -> None:
    by_machine = tagger(features=templates, update=update).partial_fit(WORDS, TAGS)
    by_hand = tagger(features=templates, update=update).partial_fit(WORDS, TAGS)
    for _ in range(4):
        state = copy.deepcopy(by_machine.training_state_.reservoir)
        drawn = state.draw(3)
        by_machine.learn_one(WORDS[0], TAGS[3][:4], replay=3)
        by_hand.learn_one(WORDS[0], TAGS[3][:4])
        for own in drawn:
            labels = [by_hand.classes_[k] for k in own.gold]
            tokens = _tokens(by_hand, own.encoded, [*WORDS, WORDS[0]])
            by_hand.learn_one(tokens, labels)
        assert weights(by_machine) == weights(by_hand)
    assert by_machine.online_mistakes_ <= by_hand.online_mistakes_  # new sentences alone count


def _tokens(taught: SequenceTagger, encoded: Encoded, known: list[list[str]]) -> list[str]:
    for tokens in known:
        own = taught.training_state_.source.transform([tokens])
        if np.array_equal(own.features, encoded.features):
            return tokens
    raise AssertionError("a sentence that never came")


def test_replay_is_spread_over_what_is_new() -> None:
    """Three new sentences and six earlier ones: two after each."""
    first = tagger().partial_fit(WORDS * 3, TAGS * 3)
    second = tagger().partial_fit(WORDS * 3, TAGS * 3)
    first.partial_fit(WORDS[:3], [labels[::-1] for labels in TAGS[:3]], replay=6)
    reservoir = second.training_state_.reservoir
    drawn = reservoir.draw(6)
    for i in range(3):
        second.learn_one(WORDS[i], TAGS[i][::-1])
        for own in drawn[2 * i : 2 * i + 2]:
            tokens = _tokens(second, own.encoded, WORDS)
            second.learn_one(tokens, [second.classes_[k] for k in own.gold])
    assert weights(first) == weights(second)
    assert first.online_mistakes_ <= second.online_mistakes_


def test_nothing_to_replay_is_no_mistake() -> None:
    fresh = tagger()
    fresh.learn_one(WORDS[0], TAGS[0], replay=5)
    plain = tagger()
    plain.learn_one(WORDS[0], TAGS[0])
    assert weights(fresh) == weights(plain)
    for replay in (-1, 1.5, True, "2"):
        with pytest.raises(SeqpaError, match=r"replay is .*: it must be a whole number from 0 on"):
            fresh.partial_fit(WORDS, TAGS, replay=replay)


def test_what_fit_learned_can_be_replayed() -> None:
    trained = tagger(epochs=2).fit(WORDS, TAGS)
    assert len(trained.training_state_.reservoir) == 4
    trained.partial_fit(WORDS, [labels[::-1] for labels in TAGS], replay=4)
    assert len(trained.training_state_.reservoir) == 8


def test_rules_that_came_later_are_told_of() -> None:
    trained = tagger().partial_fit(WORDS, TAGS)
    trained.set_params(constraints={"forbidden": [["V", "D"]]})
    trained.learn_one(["rain", "fell"], ["N", "V"])
    with pytest.raises(
        SeqpaError, match=r"drawn for replay.*breaks the constraints.*without replay"
    ):
        trained.learn_one(["rain", "fell"], ["N", "V"], replay=10)


def test_a_cost_that_fails_in_replay_leaves_what_was() -> None:
    calls = [0]

    def cost(gold: list[str], predicted: list[str]) -> float:
        calls[0] += 1
        if calls[0] > 8:
            raise RuntimeError("no more")
        return 1.0

    trained = tagger(cost=cost)
    trained.learn_one(WORDS[1], TAGS[1])
    for k in range(30):
        before = weights(trained)
        labels = [["V", "D", "N"][(k + i) % 3] for i in range(4)]
        try:
            trained.learn_one(WORDS[0], labels, replay=3)
        except SeqpaError:
            assert weights(trained) == before
            break
    assert calls[0] == 9


def test_replay_helps_where_labels_come_in_two_halves() -> None:
    """First every other label is given, then the others: what came first is forgotten, or not."""
    columns = ["word", "label", "_"]
    train, dev = (read(NEWS / f"{name}.conll", columns=columns) for name in ("train", "dev"))
    labels = sorted(set(train.labels or ()))
    early = set(labels[::2])

    def part_of(y: list[list[str]], those: set[str]) -> list[list[str | None]]:
        return [[label if label in those else None for label in own] for own in y]

    def early_accuracy(replay: int) -> tuple[float, float]:
        learner = SequenceTagger("pos", average=False, random_state=0)
        half = len(train) // 2
        learner.partial_fit(train.X[:half], part_of(train.y[:half], early))
        before = accuracy(learner)
        later = part_of(train.y[half:], set(labels) - early)
        for tokens, own in zip(train.X[half:], later, strict=True):
            learner.learn_one(tokens, own, replay=replay)
        return before, accuracy(learner)

    def accuracy(learner: SequenceTagger) -> float:
        pairs = [
            (g, p)
            for gold, predicted in zip(dev.y, learner.predict(dev), strict=True)
            for g, p in zip(gold, predicted, strict=True)
            if g in early
        ]
        return sum(g == p for g, p in pairs) / len(pairs)

    before, without = early_accuracy(0)
    _, with_replay = early_accuracy(2)
    assert before > 0.6
    assert without < before - 0.3
    assert with_replay > without + 0.2


# The training state


@pytest.mark.parametrize("templates", [TEMPLATES, [*TEMPLATES, "pair:suffix(1)[0]"]])
def test_training_goes_on_with_the_same_earlier_sentences(
    templates: list[str], tmp_path: Path
) -> None:
    first = tagger(features=templates).partial_fit(WORDS, TAGS, sample_weight=[1, 2, 0.5, 1])
    first.learn_one(["so", "rain"], [None, "N"])
    first.save_state(tmp_path / "state")
    again = tagger(features=templates).load_state(tmp_path / "state")
    assert again.training_state_.reservoir.seen == 5
    for one in (first, again):
        for tokens, labels in zip(WORDS, TAGS, strict=True):
            one.learn_one(tokens, labels[::-1], replay=2)
    assert weights(first) == weights(again)


def test_values_are_kept_too(tmp_path: Path) -> None:
    X = [[{"a": 1.0, "b": 0.5}, {"a": 1.0}], [{"b": 1.0}, {"c": 1.0}], [{"a": True}]]
    y = [["A", "B"], ["A", "B"], ["B"]]
    first = tagger(features=None)
    for tokens, labels in zip(X, y, strict=True):  # some sentences have values, others none
        first.learn_one(tokens, labels)
    first.save_state(tmp_path / "state")
    again = tagger(features=None).load_state(tmp_path / "state")
    for one in (first, again):
        one.learn_one(X[0], ["B", "A"], replay=3)
    assert weights(first) == weights(again)


def stored() -> dict[str, np.ndarray]:
    trained = tagger(features=[*TEMPLATES, "pair:suffix(1)[0]"]).partial_fit(WORDS, TAGS)
    state = trained.training_state_
    return {name: array.copy() for name, array in state.reservoir.to_arrays().items()}


def sizes() -> tuple[int, int, int]:
    arrays = stored()
    return 3, int(arrays["features"].max()) + 1, int(arrays["pair_features"].max()) + 1


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("features", 0, -1),
        ("features", 3, 10**6),
        ("pair_features", 0, 10**6),
        ("gold", 0, 3),
        ("gold", 0, -2),
        ("starts", 1, 10**6),
        ("starts", 0, 1),
        ("indptr", 2, 10**9),
        ("pair_indptr", -1, 0),
        ("weights", 0, np.nan),
        ("weights", 0, 0.0),
    ],
)
def test_a_damaged_reservoir_is_refused(name: str, place: int, value: float) -> None:
    arrays = stored()
    arrays[name][place] = value
    with pytest.raises(SeqpaError, match="is damaged: the reservoir"):
        Reservoir.from_arrays(arrays, np.random.default_rng(0), 4, 10, sizes())


def test_a_reservoir_of_other_arrays_is_refused() -> None:
    rng = np.random.default_rng(0)
    for name in ("gold", "features", "starts", "pair_features", "weights"):
        arrays = stored()
        del arrays[name]
        with pytest.raises(SeqpaError, match="is damaged"):
            Reservoir.from_arrays(arrays, rng, 4, 10, sizes())
        arrays = stored()
        arrays[name] = arrays[name].astype(np.float16)
        with pytest.raises(SeqpaError, match="is damaged"):
            Reservoir.from_arrays(arrays, rng, 4, 10, sizes())
    for seen, capacity in ((3, 10), (4, 3), (-1, 10), (4, 0), (4, 10**9)):
        with pytest.raises(SeqpaError, match="is damaged"):
            Reservoir.from_arrays(stored(), rng, seen, capacity, sizes())
    arrays = {**stored(), "values": np.array([np.inf], np.float32)}
    with pytest.raises(SeqpaError, match="feature values"):
        Reservoir.from_arrays(arrays, rng, 4, 10, sizes())
    assert len(Reservoir.from_arrays(stored(), rng, 4, 10, sizes())) == 4


def test_labels_that_are_taken_back_are_not_repeated() -> None:
    """What is repeated is then what partly labelled sentences would have been from the start."""
    X, y = [["Ada", "won"], ["so", "Bob", "left"]], [["B", "O"], ["O", "B", "O"]]
    partly = [[None if label == "O" else label for label in own] for own in y]
    one, two = (SequenceTagger(["word[0]"], random_state=1, average=False) for _ in range(2))
    for tagger, labels in ((one, y), (two, partly)):
        tagger.partial_fit([["it"]], [["O"]], sample_weight=[1.0])
        for tokens, own in zip(X, labels, strict=True):
            tagger.learn_one(tokens, own)
    one.unlabel_replay("O")
    two.unlabel_replay("O")
    kept = [
        [gold.tolist() for _, gold, _ in t._learned.learning().reservoir._kept] for t in (one, two)
    ]
    assert kept[0] == kept[1] == [[-1], [1, -1], [-1, 1, -1]]
    one.unlabel_replay("unknown")
    one.learn_one(["new"], ["O"], replay=3)  # sentences without any label are learned as nothing
