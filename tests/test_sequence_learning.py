"""The compiled trainer equals the dictionary trainer, and CRFsuite's where both do the same."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sequence_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sequence_cases import (
    draw_sentence,
    draw_weights,
    encoded,
    flat,
    frozen,
    thawed_dict,
)

from seqpa import Hierarchy, SequenceTagger
from seqpa.errors import SeqpaError
from seqpa.sequence.constraints import penalties
from seqpa.sequence.costs import sequence_cost
from seqpa.sequence.learner import NO_WEIGHTS, ChainLearner, Epoch
from seqpa.sequence.weights import TrainingWeights

LABELS = ("B-x", "I-x", "O")
TABLE = {("B-x", "I-x"): 0.3, ("B-x", "O"): 2.5, ("I-x", "O"): 1.7, ("O", "B-x"): 4.0}
ODD = {("B-x", "I-x"): 2**0.5, ("B-x", "O"): 2.5}
WHOLE = {("B-x", "I-x"): 0.0, ("B-x", "O"): 7.0, ("I-x", "O"): 2.0, ("O", "B-x"): 40.0}
# A tree over the labels themselves; the twin knows its edges only.
EDGES = [("top", "in"), ("in", "B-x"), ("in", "I-x"), ("top", "O")]


def first_and_length(gold: list[str], predicted: list[str]) -> float:
    """A cost that no sum over tokens gives: a wrong first label counts more in long sentences."""
    return 0.5 + (gold[0] != predicted[0]) * len(gold) ** 1.5


COSTS: dict[str, tuple[Any, reference.Cost]] = {
    "hamming": ("hamming", reference.hamming),
    "zero-one": ("zero-one", reference.zero_one),
    "span": ("span", reference.span),
    "matrix": (TABLE, reference.summed(TABLE)),
    "odd": (ODD, reference.summed(ODD)),
    "whole": (WHOLE, reference.summed(WHOLE)),
    "hierarchy": (
        Hierarchy({"in": {"B-x": None, "I-x": None}, "O": None}),
        reference.tree(EDGES),
    ),
    "function": (first_and_length, first_and_length),
}
ALGORITHMS = ("perceptron", "pa", "pa-i", "pa-ii", "arow")
UPDATES = [
    (update, cost)
    for update in ("prediction-based", "near-max-loss", "loss-augmented", "max-loss", "n-best")
    for cost in COSTS
    if (update != "max-loss" or cost in ("zero-one", "hamming", "matrix", "whole", "hierarchy"))
    and (
        update not in ("near-max-loss", "loss-augmented")
        or cost in ("hamming", "matrix", "whole", "hierarchy")
    )
]
# Closer decisions might be made otherwise in float32; such a sentence is passed over.
CLEAR = 1e-3


class Outcome(NamedTuple):
    twin: reference.Trainer
    weights: TrainingWeights
    totals: Epoch


def run_both(
    rng: np.random.Generator,
    algorithm: str = "pa-i",
    cost: str = "hamming",
    update: str = "prediction-based",
    labels: tuple[str, ...] = LABELS,
    lengths: Any = (1, 2, 3, 4),
    n_features: int = 5,
    n_steps: int | None = None,
    real: bool = True,
    constraints: Any = None,
    from_zero: bool = False,
    n_sentences: int = 12,
    given: float = 1.0,
    weighted: bool = False,
) -> Outcome:
    """The same sentences through both trainers, those whose decision is too close left out.

    given     the share of tokens whose label is given
    weighted  whether sentences have weights
    """
    K = len(labels)
    C = float(rng.uniform(0.05, 1.0))
    cost_given, naive = COSTS[cost]
    legal = reference.scheme(constraints, labels) if constraints else None
    n_best = int(rng.integers(1, 6))
    start = {} if from_zero else draw_weights(rng, n_features, K, n_steps, exact=False)
    if constraints:  # a forbidden transition has no weight
        start = {key: v for key, v in start.items() if key != ("transition", 2, 1)}
    twin = reference.Trainer(labels, algorithm, C, naive, update, n_best, legal, dict(start))
    sentences, golds, order = [], [], []
    importance = rng.uniform(0.2, 3.0, n_sentences)
    for i in range(n_sentences):
        n = int(rng.choice(lengths))
        sentence = draw_sentence(rng, n, n_features, n_steps, real)
        paths = [p for p in itertools.product(range(K), repeat=n) if legal is None or legal(p)]
        gold: reference.Given = paths[int(rng.integers(len(paths)))]
        if given < 1.0:
            gold = tuple(y if rng.random() < given else None for y in gold)
        sentences.append(sentence)
        golds.append(tuple(-1 if y is None else y for y in gold))
        if twin.choose(sentence, gold).gap > CLEAR or not (twin.w or given < 1.0):
            order.append(i)
            twin.learn(sentence, gold, importance[i] if weighted else 1.0)
    weights = TrainingWeights.thawed(
        frozen(start, n_features, K, n_steps), second_order=algorithm == "arow"
    )
    learner = ChainLearner(
        algorithm,
        C,
        sequence_cost(cost_given, labels),
        penalties(constraints, labels),
        labels,
        update,
        n_best,
    )
    totals = learner.epoch(
        weights,
        encoded(sentences),
        flat(golds),
        np.array(order, np.int64),
        record=True,
        importance=importance if weighted else NO_WEIGHTS,
    )
    return Outcome(twin, weights, totals)


def assert_equal_weights(found: reference.Vector, expected: reference.Vector) -> None:
    scale = max([1.0, *map(abs, expected.values())])
    for key in found.keys() | expected.keys():
        difference = found.get(key, 0.0) - expected.get(key, 0.0)
        assert abs(difference) < 2e-5 * scale, key


def assert_twins(outcome: Outcome) -> None:
    twin, weights, totals = outcome
    assert_equal_weights(thawed_dict(weights.freeze(False)), twin.w)
    if twin.seen:
        assert_equal_weights(thawed_dict(weights.freeze(True)), twin.mean())
    rounds = np.array(twin.rounds).reshape(-1, 4)
    np.testing.assert_allclose(totals.record, rounds, rtol=1e-4, atol=1e-4)
    losses, taus, _, costs = rounds.T
    assert totals.sentences == len(rounds)
    assert totals.updates == (taus > 0).sum()
    assert totals.cost == pytest.approx(costs.sum(), rel=1e-5)
    assert totals.loss == pytest.approx(losses.sum(), rel=1e-4, abs=1e-4)
    assert totals.squared_loss == pytest.approx((losses**2).sum(), rel=1e-3, abs=1e-4)
    assert weights.clock == len(rounds)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("update", "cost"), UPDATES)
def test_weights_equal_the_dictionary_trainer(algorithm: str, update: str, cost: str) -> None:
    rng = np.random.default_rng([ALGORITHMS.index(algorithm), UPDATES.index((update, cost))])
    learned = 0
    for trial in range(6):
        outcome = run_both(
            rng,
            algorithm,
            cost,
            update,
            n_steps=2 if trial % 3 == 2 else None,
            constraints="bio" if trial % 2 else None,
            from_zero=trial == 4,
        )
        assert_twins(outcome)
        learned += outcome.totals.updates
    assert learned >= 20


@pytest.mark.pure
@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(ALGORITHMS),
    st.sampled_from(UPDATES),
    st.booleans(),
    st.booleans(),
)
def test_weights_equal_the_dictionary_trainer_on_any_chain(
    seed: int, algorithm: str, chosen: tuple[str, str], pairs: bool, real: bool
) -> None:
    update, cost = chosen
    rng = np.random.default_rng(seed)
    outcome = run_both(
        rng,
        algorithm,
        cost,
        update,
        lengths=range(1, 4),
        n_features=int(rng.integers(1, 6)),
        n_steps=2 if pairs else None,
        real=real,
        n_sentences=6,
    )
    assert_twins(outcome)


@pytest.mark.pure
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_token_sentences_learn_like_a_classifier(algorithm: str) -> None:
    outcome = run_both(np.random.default_rng(5), algorithm, lengths=[1], n_sentences=30)
    assert outcome.totals.updates > 3
    assert_twins(outcome)


@pytest.mark.pure
@pytest.mark.parametrize("update", ["prediction-based", "max-loss"])
def test_one_label_never_moves_a_weight(update: str) -> None:
    outcome = run_both(np.random.default_rng(6), "pa", "zero-one", update, labels=("O",))
    assert outcome.totals.updates == 0
    assert outcome.totals.wrong_sentences == 0
    assert_twins(outcome)


@pytest.mark.pure
def test_empty_sentences_count_and_teach_nothing() -> None:
    outcome = run_both(np.random.default_rng(7), lengths=[0, 2], n_sentences=20)
    assert_twins(outcome)


@pytest.mark.pure
def test_features_that_repeat_in_a_sentence_are_merged_before_the_norm() -> None:
    # Feature 0 at both tokens, twice at the second: δ has ±(1 + 2) for it, not three ones.
    sentence = reference.Sentence([[(0, 1.0)], [(0, 1.0), (0, 1.0)]])
    weights = TrainingWeights(2, 1, None)
    learner = ChainLearner("pa", 1.0, sequence_cost("hamming", "ab"), penalties(None, "ab"), "ab")
    totals = learner.epoch(
        weights, encoded([sentence]), np.array([1, 1], np.int32), np.array([0]), record=True
    )
    norm2 = 3.0**2 + 3.0**2 + 1.0 + 1.0
    expected = [np.sqrt(2.0), np.sqrt(2.0) / norm2, norm2, 2.0]
    np.testing.assert_allclose(totals.record, [expected], rtol=1e-6)


@pytest.mark.pure
def test_features_that_cancel_make_no_step_and_no_division() -> None:
    # +1 and −1 of one feature, one token: δ = 0, so nothing can be learned.
    sentence = reference.Sentence([[(0, 1.0), (0, -1.0)]])
    for algorithm in ALGORITHMS:
        weights = TrainingWeights(2, 1, None, second_order=algorithm == "arow")
        learner = ChainLearner(
            algorithm, 1.0, sequence_cost("hamming", "ab"), penalties(None, "ab"), "ab"
        )
        totals = learner.epoch(
            weights, encoded([sentence]), np.array([1], np.int32), np.array([0]), record=True
        )
        assert totals.wrong_sentences == 1
        assert totals.updates == 0
        assert totals.record is not None
        assert totals.record[0].tolist() == [1.0, 0.0, 0.0, 1.0]
        assert thawed_dict(weights.freeze(False)) == {}


def test_pa_meets_its_margin_exactly() -> None:
    rng = np.random.default_rng(12)
    sentence = draw_sentence(rng, 4, 6, None, True)
    gold = (0, 2, 1, 2)
    weights = TrainingWeights(3, 6, None)
    learner = ChainLearner(
        "pa", 1.0, sequence_cost("hamming", LABELS), penalties(None, LABELS), LABELS
    )
    data = encoded([sentence])
    learner.epoch(weights, data, flat([gold]), np.array([0]))
    w = thawed_dict(weights.freeze(False))
    beaten = (0, 0, 0, 0)  # what zero weights predict
    difference = reference.dot(w, reference.phi(sentence, gold)) - reference.dot(
        w, reference.phi(sentence, beaten)
    )
    assert difference == pytest.approx(np.sqrt(reference.hamming(gold, beaten)), rel=1e-5)


def test_the_cost_function_is_asked_about_mistakes_only() -> None:
    asked = []

    def cost(gold: list[str], predicted: list[str]) -> float:
        assert gold != predicted
        asked.append(predicted)
        return reference.hamming(gold, predicted)

    X = [[["a"], ["b"]], [["b"], ["a"], ["c"]], [["c"]]] * 5
    y = [["N", "V"], ["V", "N", "D"], ["D"]] * 5
    own = SequenceTagger(cost=cost, random_state=3).fit(X, y)
    named = SequenceTagger(cost="hamming", update="prediction-based", random_state=3).fit(X, y)
    assert own.state_features_ == named.state_features_
    assert own.transition_features_ == named.transition_features_
    assert 0 < len(asked) < own.epochs * len(X) / 2


def test_a_seed_decides_everything() -> None:
    rng = np.random.default_rng(9)
    X = [[[f"w{rng.integers(30)}", f"s{rng.integers(9)}"] for _ in range(6)] for _ in range(50)]
    y = [[str(rng.choice(["A", "B", "C"])) for _ in sentence] for sentence in X]

    def weights(seed: int, **parameters: Any) -> Any:
        tagger = SequenceTagger(random_state=seed, epochs=3, **parameters).fit(X, y)
        return tagger.state_features_, tagger.transition_features_

    assert weights(1) == weights(1)
    assert weights(1) == weights(1, n_jobs=4)
    assert weights(1) != weights(2)
    assert weights(1, shuffle=False) == weights(2, shuffle=False)


@pytest.mark.parametrize("cost", ["span", "odd", "function"])
def test_max_loss_is_refused_where_it_is_not_exact(cost: str) -> None:
    with pytest.raises(SeqpaError, match="n-best"):
        SequenceTagger(cost=COSTS[cost][0], update="max-loss").fit(
            [[["a"], ["b"], ["c"]]], [["B-x", "I-x", "O"]]
        )


def test_nbest_of_all_sequences_is_max_loss() -> None:
    rng = np.random.default_rng(14)
    X = [
        [{"a": float(v), f"w{rng.integers(3)}": 1.0} for v in rng.normal(size=3)] for _ in range(20)
    ]
    y = [[str(rng.choice(["A", "B"])) for _ in range(3)] for _ in X]
    both = [
        SequenceTagger(cost="zero-one", update=update, n_best=8, random_state=0, epochs=2).fit(X, y)
        for update in ("max-loss", "n-best")
    ]
    assert both[0].state_features_ == both[1].state_features_


# CRFsuite's own passive-aggressive trainer. It does the same as ours with the costs Hamming
# (error_sensitive) and zero-one, for PA, PA-I and PA-II, if all weights exist from the start
# (possible_states, possible_transitions). Three things differ, and are met halfway here:
# - it shuffles by itself: some order of our pass must give its weights;
# - its labels are numbered as they appear, ours sorted, and ties go to the first: the first
#   sentence of the data shows the labels in sorted order;
# - its mean counts the zero vector before the first sentence too: T + 1 vectors, ours T.
# It prints weights with six decimals.


def crfsuite_weights(
    X: Any, y: Any, path: Path, **parameters: Any
) -> tuple[dict[Any, float], dict[Any, float]]:
    pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")
    trainer = pycrfsuite.Trainer(algorithm="passive-aggressive", verbose=False)
    for tokens, labels in zip(X, y, strict=True):
        trainer.append(tokens, labels)
    trainer.set_params(
        {"feature.possible_states": True, "feature.possible_transitions": True, **parameters}
    )
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    with tagger.open(str(path)):
        info = tagger.info()
        return info.state_features, info.transitions


def close(found: dict[Any, float], expected: dict[Any, float]) -> bool:
    keys = found.keys() | expected.keys()
    return all(abs(found.get(k, 0.0) - expected.get(k, 0.0)) < 1e-5 for k in keys)


CRFSUITE_X = [
    [{"w:a": 1.0, "size": 0.75}, {"w:b": 1.0}, {"w:c": 1.0, "size": -0.5}],
    [{"w:b": 1.0, "size": 1.25}, {"w:a": 1.0, "w:c": 0.5}],
    [{"w:c": 1.0, "size": 2.0}, {"w:c": 1.0, "size": 0.3}, {"w:a": 1.0}, {"w:b": 1.0}],
    [{"w:a": 1.0, "w:b": 0.7, "size": 0.1}],
]
CRFSUITE_Y = [["A", "B", "C"], ["C", "A"], ["B", "B", "A", "C"], ["C"]]


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("cost", ["hamming", "zero-one"])
@pytest.mark.parametrize(
    ("type_", "algorithm", "C"),
    [
        (0, "pa", 1.0),
        (1, "pa-i", 0.07),
        (1, "pa-i", 1.0),
        (2, "pa-ii", 0.4),
    ],
)
def test_one_epoch_of_crfsuite_is_one_of_our_orders(
    tmp_path: Path, type_: int, algorithm: str, C: float, cost: str, average: bool
) -> None:
    state, transition = crfsuite_weights(
        CRFSUITE_X,
        CRFSUITE_Y,
        tmp_path / "model",
        type=type_,
        c=C,
        error_sensitive=cost == "hamming",
        averaging=average,
        max_iterations=1,
    )
    n = len(CRFSUITE_X)
    factor = n / (n + 1) if average else 1.0
    matches = 0
    for order in itertools.permutations(range(n)):
        tagger = SequenceTagger(
            update="prediction-based",
            algorithm=algorithm,
            C=C,
            cost=cost,
            average=average,
            epochs=1,
            shuffle=False,
        ).fit([CRFSUITE_X[i] for i in order], [CRFSUITE_Y[i] for i in order])
        scaled = [
            {key: factor * value for key, value in weights.items()}
            for weights in (tagger.state_features_, tagger.transition_features_)
        ]
        matches += close(scaled[0], state) and close(scaled[1], transition)
    assert matches >= 1
    assert matches <= 6  # the order matters: not everything matches


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(("type_", "algorithm"), [(0, "pa"), (1, "pa-i"), (2, "pa-ii")])
@pytest.mark.parametrize("epochs", [1, 5])
def test_crfsuite_agrees_over_epochs_where_order_cannot_matter(
    tmp_path: Path, type_: int, algorithm: str, average: bool, epochs: int
) -> None:
    # Three times the same sentence, so that any order is the same; "twice" is there twice.
    tokens = [["a", "twice", "twice"], ["b", "a"], ["c", "twice"], ["b"]]
    labels = ["A", "B", "C", "A"]
    state, transition = crfsuite_weights(
        [tokens] * 3,
        [labels] * 3,
        tmp_path / "model",
        type=type_,
        c=0.1,
        averaging=average,
        max_iterations=epochs,
    )
    tagger = SequenceTagger(
        algorithm=algorithm, C=0.1, update="prediction-based", average=average, epochs=epochs
    )
    tagger.fit([tokens] * 3, [labels] * 3)
    seen = 3 * epochs
    factor = seen / (seen + 1) if average else 1.0
    for ours, theirs in (
        (tagger.state_features_, state),
        (tagger.transition_features_, transition),
    ):
        assert close({key: factor * value for key, value in ours.items()}, theirs)


@pytest.mark.parametrize(
    "cost",
    [
        "hamming",
        "zero-one",
        "span",
        {"O": {"B": 5.0}, "B": {"I": 0.5}},
        Hierarchy({"inside": ["B", "I"], "outside": ["O"]}),
        lambda gold, predicted: 0.25 * sum(g < p for g, p in zip(gold, predicted, strict=True)),
    ],
    ids=["hamming", "zero-one", "span", "matrix", "hierarchy", "function"],
)
def test_a_cost_is_the_same_by_numbers_and_by_names(cost) -> None:
    labels = ["O", "B", "I"]
    rho = sequence_cost(cost, labels)
    rng = np.random.default_rng(4)
    for n in (0, 1, 2, 7, 7, 7):
        gold, predicted = rng.integers(0, 3, (2, n)).astype(np.int32)
        names = [[labels[k] for k in row] for row in (gold, predicted)]
        assert rho.of_numbers(gold, predicted, labels) == rho(*names)
        assert rho.of_numbers(gold, gold, labels) == 0.0


@pytest.mark.parametrize("n_steps", [None, 40])
@pytest.mark.parametrize("n", [100, 1000])
def test_the_difference_of_a_long_sentence_is_merged_exactly(n: int, n_steps: int | None) -> None:
    """From zero weights: ŷ is the first label throughout, and w = τδ with τ = √ρ/‖δ‖²."""
    rng = np.random.default_rng(n)
    sentence = draw_sentence(rng, n, 4 * n, n_steps, real=True)
    gold = tuple(rng.integers(len(LABELS), size=n).tolist())
    delta = reference.phi(sentence, gold)
    for key, value in reference.phi(sentence, (0,) * n).items():
        delta[key] = delta.get(key, 0.0) - value
    assert len(delta) > 2 * n  # hundreds of places, some met more than once
    tau = np.sqrt(np.count_nonzero(gold)) / sum(value * value for value in delta.values())
    weights = TrainingWeights(len(LABELS), 4 * n, n_steps)
    learner = ChainLearner(
        "pa", 1.0, sequence_cost("hamming", LABELS), penalties(None, LABELS), LABELS
    )
    learner.epoch(weights, encoded([sentence]), flat([gold]), np.zeros(1, np.int64))
    expected = {key: tau * value for key, value in delta.items()}
    assert_equal_weights(thawed_dict(weights.freeze(False)), expected)


# Loss-augmented updates


@pytest.mark.pure
def test_loss_augmented_asks_for_the_cost_itself() -> None:
    # One token, two labels, w = 0.4 for the wrong one: score + ρ is 0 for A and 0.4 + 2.5 for B.
    sentence = reference.Sentence([[(0, 1.0)]])
    weights = TrainingWeights.thawed(frozen({("state", 0, 1): 0.4}, 1, 2, None))
    cost = sequence_cost({"A": {"B": 2.5}}, "AB")
    learner = ChainLearner("pa", 1.0, cost, penalties(None, "AB"), "AB", "loss-augmented")
    gold, order = np.array([0], np.int32), np.array([0, 0])
    totals = learner.epoch(weights, encoded([sentence]), gold, order, record=True)
    np.testing.assert_allclose(totals.record, [[2.9, 1.45, 2.0, 2.5], [0, 0, 0, 0]], atol=1e-6)
    assert thawed_dict(weights.freeze(False)) == pytest.approx(
        {("state", 0, 0): 1.45, ("state", 0, 1): -1.05}
    )


@pytest.mark.pure
def test_loss_augmented_learns_from_what_is_right_but_not_by_enough() -> None:
    sentence = reference.Sentence([[(0, 1.0)]])
    weights = TrainingWeights.thawed(frozen({("state", 0, 0): 0.25}, 1, 2, None))
    learner = ChainLearner(
        "pa", 1.0, sequence_cost("hamming", "AB"), penalties(None, "AB"), "AB", "loss-augmented"
    )
    totals = learner.epoch(
        weights, encoded([sentence]), np.array([0], np.int32), np.array([0]), record=True
    )
    assert (totals.wrong_sentences, totals.wrong_tokens, totals.cost) == (0, 0, 0.0)
    assert (totals.updates, totals.loss) == (1, 0.75)


@pytest.mark.parametrize("cost", ["zero-one", "span", "function"])
def test_loss_augmented_is_refused_where_the_cost_is_no_sum(cost: str) -> None:
    with pytest.raises(SeqpaError, match="sum over tokens: 'hamming', a matrix or a Hierarchy"):
        SequenceTagger(cost=COSTS[cost][0], update="loss-augmented").fit([[["a"]]], [["O"]])


def test_loss_augmented_refuses_costs_that_drown_the_scores() -> None:
    with pytest.raises(SeqpaError, match=r"up to 1e\+15: bring the largest, 1e\+20"):
        SequenceTagger(cost={"A": {"B": 1e20}}, update="loss-augmented").fit(
            [[["a"], ["b"]]], [["A", "B"]]
        )


# Labels that are not given


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("update", "cost"), UPDATES)
def test_missing_labels_equal_the_dictionary_trainer(
    algorithm: str, update: str, cost: str
) -> None:
    rng = np.random.default_rng([7, ALGORITHMS.index(algorithm), UPDATES.index((update, cost))])
    learned = 0
    for trial in range(6):
        outcome = run_both(
            rng,
            algorithm,
            cost,
            update,
            n_steps=2 if trial % 3 == 2 else None,
            constraints="bio" if trial % 2 else None,
            given=0.5,
            weighted=algorithm not in ("perceptron", "pa"),
        )
        assert_twins(outcome)
        learned += outcome.totals.updates
    assert learned >= 10


@pytest.mark.pure
@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(ALGORITHMS),
    st.sampled_from(UPDATES),
    st.floats(0.0, 1.0),
    st.booleans(),
)
def test_missing_labels_and_weights_equal_the_dictionary_trainer_on_any_chain(
    seed: int, algorithm: str, chosen: tuple[str, str], share: float, pairs: bool
) -> None:
    update, cost = chosen
    outcome = run_both(
        np.random.default_rng(seed),
        algorithm,
        cost,
        update,
        lengths=range(4),
        n_steps=2 if pairs else None,
        n_sentences=6,
        given=share,
        weighted=True,
    )
    assert_twins(outcome)


def test_auto_is_near_max_loss_over_epochs_and_the_prediction_online() -> None:
    rng = np.random.default_rng(4)
    X = [[[f"w{rng.integers(20)}", f"s{rng.integers(5)}"] for _ in range(5)] for _ in range(30)]
    y = [[str(rng.choice(["A", "B", "C"])) for _ in sentence] for sentence in X]

    def fitted(**parameters: Any) -> Any:
        return SequenceTagger(random_state=1, epochs=3, **parameters).fit(X, y).state_features_

    near, predicted = (fitted(update=u) for u in ("near-max-loss", "prediction-based"))
    assert near != predicted
    assert fitted() == fitted(cost={"A": {"B": 1.0}}) == near
    for other in ({"algorithm": "perceptron"}, {"cost": "span"}, {"batch_size": 3}):
        assert fitted(**other) == fitted(update="prediction-based", **other)

    def learned(update: str) -> Any:
        tagger = SequenceTagger(update=update, random_state=1)
        for tokens, labels in zip(X, y, strict=True):
            tagger.learn_one(tokens, labels)
        return tagger.partial_fit(X, y).state_features_

    assert learned("auto") == learned("prediction-based") != learned("near-max-loss")
