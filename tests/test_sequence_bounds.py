"""The cumulative-cost bounds of §8-9 hold on recorded runs over chains; a broken step breaks them.

The comparator's loss is ℓ_ML (Eq. 52), by trying every label sequence of tiny chains.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest
import sequence_reference as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from sequence_cases import draw_sentence, draw_weights, encoded, flat, thawed_dict

from seqpa import Hierarchy, SequenceTagger
from seqpa.core.theorems import Bound, Rounds, check
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError
from seqpa.sequence.bounds import certify, check_covered
from seqpa.sequence.constraints import penalties
from seqpa.sequence.costs import sequence_cost
from seqpa.sequence.learner import ALGORITHMS, ChainLearner
from seqpa.sequence.weights import TrainingWeights

LABELS = ("a", "b", "c")
COSTS: dict[str, tuple[Any, reference.Cost]] = {
    "hamming": ("hamming", reference.hamming),
    "zero-one": ("zero-one", reference.zero_one),
    "matrix": ({("a", "b"): 3.0}, reference.summed({("a", "b"): 3.0})),
    "function": ((lambda g, p: 0.2 * (g[-1] != p[-1])),) * 2,
}
# What the kernel keeps in float32: w·δ, and with it every loss, is this exact at best.
ROUNDING = 1e-4

Data = tuple[list[reference.Sentence], list[reference.Path]]


def max_loss(
    u: reference.Vector, sentence: reference.Sentence, gold: reference.Path, cost: reference.Cost
) -> float:
    """ℓ_ML of Eq. 52: the worst of √ρ(y, r) − u·(Φ(x, y) − Φ(x, r)) over all r, y itself too."""
    order = reference.ranked(u, sentence, len(LABELS))
    own = next(score for score, path in order if path == gold)
    names = [LABELS[y] for y in gold]
    return max(
        score - own + math.sqrt(cost(names, [LABELS[y] for y in path]) if path != gold else 0.0)
        for score, path in order
    )


def draw(rng: np.random.Generator, separable: bool, n: int = 12, size: float = 1.0) -> Data:
    """Tiny chains, with gold labels from hidden weights or at random."""
    hidden = draw_weights(rng, 6, len(LABELS), None, exact=False)
    sentences = [draw_sentence(rng, int(rng.integers(1, 4)), 6, None, True) for _ in range(n)]
    sentences = [
        reference.Sentence([[(f, size * v) for f, v in token] for token in s.tokens])
        for s in sentences
    ]
    golds = [
        reference.ranked(hidden, s, len(LABELS))[0][1]
        if separable
        else tuple(rng.integers(len(LABELS), size=len(s.tokens)).tolist())
        for s in sentences
    ]
    return sentences, golds


def run(
    data: Data,
    algorithm: str,
    C: float,
    cost: str,
    update: str = "prediction-based",
    epochs: int = 2,
) -> tuple[np.ndarray, reference.Vector, np.ndarray]:
    """The record of a run from zero, the last weights, and the order of its rounds."""
    sentences, golds = data
    learner = ChainLearner(
        algorithm,
        C,
        sequence_cost(COSTS[cost][0], LABELS),
        penalties(None, LABELS),
        LABELS,
        update,
        n_best=27,
    )
    weights = TrainingWeights(len(LABELS), 6, None)
    order = np.arange(len(sentences), dtype=np.int64)
    records = [
        learner.epoch(weights, encoded(sentences), flat(golds), order, record=True).record
        for _ in range(epochs)
    ]
    return np.concatenate(records), thawed_dict(weights.freeze(False)), np.tile(order, epochs)


def bounds(
    data: Data,
    record: np.ndarray,
    order: np.ndarray,
    algorithm: str,
    C: float,
    cost: str,
    u: reference.Vector,
) -> dict[str, Bound]:
    losses, taus, norms2, costs = record.T
    comparator = [max_loss(u, data[0][i], data[1][i], COSTS[cost][1]) for i in order]
    found = check(
        Rounds(
            kind="cost-sensitive",
            step=ALGORITHMS[algorithm],
            losses=losses,
            taus=taus,
            norms2=norms2,
            costs=costs,
            comparator_losses=np.where(np.array(comparator) < 1e-12, 0.0, comparator),
            distance2=sum(value**2 for value in u.values()),
            C=C,
        )
    )
    return {bound.name: bound for bound in found if bound.applies}


def violated(found: dict[str, Bound]) -> list[str]:
    """Those broken by more than the kernel's rounding."""
    return [
        name
        for name, b in found.items()
        if b.left > b.right + ROUNDING * max(1.0, abs(b.left), abs(b.right))
    ]


def separating(data: Data, cost: str) -> reference.Vector | None:
    """Weights without loss on every chain (PA's, run until it makes none), or None."""
    twin = reference.Trainer(LABELS, "pa", 1.0, COSTS[cost][1], "max-loss")
    for _ in range(40):
        for sentence, gold in zip(*data, strict=True):
            twin.learn(sentence, gold)
    u = {key: 1.001 * value for key, value in twin.w.items()}
    worst = max(max_loss(u, s, g, COSTS[cost][1]) for s, g in zip(*data, strict=True))
    return u if worst <= 0.0 else None


@functools.cache
def separable_draws(seeds: range, cost: str = "zero-one") -> list[tuple[Data, reference.Vector]]:
    """Data that some weights, given too, label without loss."""
    drawn = [draw(np.random.default_rng(seed), separable=True, n=4) for seed in seeds]
    both = [(data, separating(data, cost)) for data in drawn]
    return [(data, u) for data, u in both if u is not None]


@pytest.mark.pure
@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["perceptron", "pa", "pa-i", "pa-ii"]),
    st.sampled_from(sorted(COSTS)),
    st.booleans(),
)
def test_bounds_hold_for_every_comparator(
    seed: int, algorithm: str, cost: str, separable: bool
) -> None:
    rng = np.random.default_rng(seed)
    data = draw(rng, separable)
    C = float(rng.uniform(0.05, 4.0))
    update = str(rng.choice(["prediction-based", "n-best"]))
    record, last, order = run(data, algorithm, C, cost, update)
    comparators: dict[str, reference.Vector] = {
        "zero": {},
        "last": last,
        "half": {key: value / 2 for key, value in last.items()},
        "random": draw_weights(rng, 6, len(LABELS), None, exact=False),
    }
    for name, u in comparators.items():
        found = bounds(data, record, order, algorithm, C, cost, u)
        assert "PA 2006, Lemma 9" in found or algorithm == "perceptron"
        assert violated(found) == [], name
        if algorithm == "pa-i":
            assert {
                "PA 2006, Eq. 17",
                "PA 2006, Theorem 10, any norm and C",
                "PA 2006, Eq. 46",
            } <= found.keys()
        if algorithm == "pa-ii":
            assert "PA 2006, Theorem 5" in found


@pytest.mark.parametrize("cost", ["hamming", "zero-one", "matrix"])
@pytest.mark.parametrize("update", ["prediction-based", "n-best"])
def test_theorem_2_beside_weights_without_loss(cost: str, update: str) -> None:
    checked = 0
    for data, u in separable_draws(range(15), cost):
        record, _, order = run(data, "pa", 1.0, cost, update, epochs=4)
        found = bounds(data, record, order, "pa", 1.0, cost, u)
        assert found["PA 2006, Theorem 2"].left > 0
        assert violated(found) == []
        checked += 1
    assert checked >= 5


@pytest.mark.parametrize("update", ["prediction-based", "max-loss"])
def test_theorem_10_as_printed(update: str) -> None:
    # ‖δ‖ <= 1: one-token chains have no transitions, and their features are short. √ρ <= C = 1.
    rng = np.random.default_rng(4)
    for _ in range(10):
        tokens = [
            [(int(f), float(v))]
            for f, v in zip(rng.integers(6, size=25), rng.uniform(-0.7, 0.7, size=25), strict=True)
        ]
        data: Data = (
            [reference.Sentence([token]) for token in tokens],
            [(int(y),) for y in rng.integers(len(LABELS), size=25)],
        )
        record, last, order = run(data, "pa-i", 1.0, "zero-one", update)
        for u in ({}, last, draw_weights(rng, 6, len(LABELS), None, exact=False)):
            found = bounds(data, record, order, "pa-i", 1.0, "zero-one", u)
            assert found["PA 2006, Theorem 10"].left > 0
            assert violated(found) == []


@pytest.mark.pure
@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(COSTS)))
def test_theorem_10_and_the_steps_of_its_proof(seed: int, cost: str) -> None:
    """Σρ / max{R², √ρ/C} <= Στℓ <= ‖u‖² + 2CΣℓ*, and ρ <= ℓ² in each round."""
    rng = np.random.default_rng(seed)
    data = draw(rng, separable=bool(rng.integers(2)), size=0.25)
    C = float(rng.uniform(0.5, 4.0))
    record, last, order = run(data, "pa-i", C, cost)
    losses, taus, norms2, costs = record.T
    assert (costs <= losses**2 * (1 + ROUNDING) + 1e-6).all()
    expected = np.minimum(C, losses / np.where(norms2 > 0, norms2, np.inf))
    np.testing.assert_allclose(taus, np.where(losses > 0, expected, 0.0), rtol=1e-5)
    factor = max(norms2.max(), (np.sqrt(costs) / C).max())
    total = float(np.sum(taus * losses))
    assert costs.sum() <= factor * total * (1 + ROUNDING) + 1e-6
    for u in ({}, last):
        comparator = [max_loss(u, data[0][i], data[1][i], COSTS[cost][1]) for i in order]
        right = sum(v**2 for v in u.values()) + 2 * C * sum(comparator)
        assert total <= right * (1 + ROUNDING) + 1e-6


BROKEN_STEPS = {
    "asleep": lambda tau: 0.0,
    "timid": lambda tau: 0.02 * tau,
    "backwards": lambda tau: -tau,
}


@pytest.mark.parametrize("name", BROKEN_STEPS)
def test_a_broken_step_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Theorem 2 beside separating weights, on a pass repeated: PA keeps it, these do not."""
    step, broken = reference.step, BROKEN_STEPS[name]
    caught = 0
    for data, u in separable_draws(range(15)):
        record, _, order = run(data, "pa", 1.0, "zero-one", "max-loss", epochs=60)
        assert violated(bounds(data, record, order, "pa", 1.0, "zero-one", u)) == []
        twin = reference.Trainer(LABELS, "pa", 1.0, reference.zero_one, "max-loss")
        with monkeypatch.context() as patch:
            patch.setattr(reference, "step", lambda *arguments: broken(step(*arguments)))
            for i in order:
                twin.learn(data[0][i], data[1][i])
        found = bounds(data, np.array(twin.rounds), order, "pa", 1.0, "zero-one", u)
        caught += bool(violated(found))
    assert caught >= 2


def test_the_tagger_hands_its_record_on() -> None:
    X = [[{"w:a": 1.0}, {"w:b": 0.5}], [{"w:b": 1.0}], [{"w:a": 1.0}, {"w:a": 2.0}]]
    y = [["N", "V"], ["V"], ["N", "N"]]
    tagger = SequenceTagger(algorithm="pa-ii", C=0.5, epochs=3, average=False, random_state=1)
    epochs = list(tagger.training(X, y, record=True))
    for epoch in epochs:
        record = epoch.record
        assert record is not None
        assert record.shape == (3, 4)
        np.testing.assert_allclose(record[:, 0].sum(), epoch.loss)
        np.testing.assert_allclose((record[:, 0] ** 2).sum(), epoch.squared_loss)
        np.testing.assert_allclose(record[:, 3].sum(), epoch.cost)
        assert (record[:, 1] > 0).sum() == epoch.updates
    record = np.concatenate([epoch.record for epoch in epochs])
    losses, taus, norms2, costs = record.T
    w = [*tagger.state_features_.values(), *tagger.transition_features_.values()]
    # Beside u = 0, whose loss in a round is the largest √ρ: of as many tokens as there are.
    found = check(
        Rounds(
            kind="cost-sensitive",
            step="PA-II",
            losses=losses,
            taus=taus,
            norms2=norms2,
            costs=costs,
            comparator_losses=np.full(len(losses), math.sqrt(2.0)),
            distance2=0.0,
            C=0.5,
            moved=float(np.linalg.norm(w)),
        )
    )
    assert not [bound for bound in found if bound.violated]
    assert next(SequenceTagger(epochs=1).training(X, y)).record is None


def test_the_record_is_in_the_order_of_training() -> None:
    rng = np.random.default_rng(2)
    data = draw(rng, separable=False)
    learner = ChainLearner(
        "pa", 1.0, sequence_cost("hamming", LABELS), penalties(None, LABELS), LABELS
    )
    order = rng.permutation(len(data[0])).astype(np.int64)
    weights = TrainingWeights(len(LABELS), 6, None)
    totals = learner.epoch(weights, encoded(data[0]), flat(data[1]), order, record=True)
    one_by_one = TrainingWeights(len(LABELS), 6, None)
    rows = [
        learner.epoch(
            one_by_one, encoded(data[0]), flat(data[1]), order[i : i + 1], record=True
        ).record
        for i in range(len(order))
    ]
    np.testing.assert_array_equal(totals.record, np.concatenate(rows))
    assert len(list(itertools.chain.from_iterable(data[1]))) == totals.tokens


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "arow"}, "algorithm: arow: its steps are measured by variances"),
        ({"batch_size": 4}, "batch_size: 4: one step answers several sentences"),
        ({"warm_start": True}, "warm_start: the bounds are about a run from zero weights"),
    ],
)
def test_what_no_theorem_is_about_is_refused(options: dict[str, Any], message: str) -> None:
    tagger = SequenceTagger(features=["word[0]"], epochs=2, random_state=1, **options)
    with pytest.raises(SeqpaError, match=message):
        check_covered(tagger)
    corpus = Corpus.from_sentences([["a", "b"], ["b"]], [["N", "V"], ["V"]])
    epochs = list(tagger.training(corpus, record=True))
    with pytest.raises(SeqpaError, match="no loss bound is proven"):
        certify(tagger, corpus, epochs)


@pytest.mark.parametrize("algorithm", ["pa", "pa-i", "pa-ii", "perceptron"])
def test_a_certificate_without_a_seed_is_about_the_run_that_was(algorithm: str) -> None:
    """The order of each epoch is the recorded one, not one that is drawn anew."""
    words = [[f"w{(3 * i + j) % 7}" for j in range(1 + i % 4)] for i in range(20)]
    labels = [["NV"[len(word) % 2 or int(word[1]) % 2] for word in row] for row in words]
    corpus = Corpus.from_sentences(words, labels)
    tagger = SequenceTagger(
        features=["word[0]"], algorithm=algorithm, epochs=3, cost="zero-one", random_state=None
    )
    epochs = list(tagger.training(corpus, record=True))
    found = certify(tagger, corpus, epochs)
    assert found.holds
    assert len(found.parts) == 2


TREE = Hierarchy({"NV": {"length": 2, "N": 0.5, "V": 1}, "D": None})
CERTIFIED = [
    (cost, update)
    for cost in ("hamming", "zero-one", TREE)
    for update in ("prediction-based", "near-max-loss", "loss-augmented", "max-loss", "n-best")
    if cost != "zero-one" or update not in ("near-max-loss", "loss-augmented")
]


@pytest.mark.parametrize(("cost", "update"), CERTIFIED)
def test_a_certificate_is_beside_zero_and_the_trained_weights(cost: Any, update: str) -> None:
    """The comparators' losses, summed, stand in the right sides: every sequence tried."""
    rng = np.random.default_rng(3)
    X = [[f"w{rng.integers(5)}" for _ in range(int(rng.integers(1, 4)))] for _ in range(15)]
    y = [[str(rng.choice(["N", "V", "D"])) for _ in sentence] for sentence in X]
    corpus = Corpus.from_sentences(X, y)
    tagger = SequenceTagger(
        features=["word[0]"],
        cost=cost,
        update=update,
        C=0.4,
        epochs=3,
        n_best=27,
        random_state=2,
    )
    found = certify(tagger, corpus, list(tagger.training(corpus, record=True)))
    assert found.holds
    assert found.squared == (update == "loss-augmented")
    (_, of_zero), (name, of_trained) = found.parts
    assert "trained" in name
    of = sequence_cost(cost, tagger.classes_)
    power = 1.0 if found.squared else 0.5
    trained, zero = [], []
    for sentence, gold in zip(X, y, strict=True):
        everything = tagger.predict_nbest([sentence], 27)[0]
        own = next(score for score, labels in everything if labels == gold)
        margins = [(of(gold, labels) ** power, score) for score, labels in everything]
        trained.append(max(margin + score - own for margin, score in margins))
        zero.append(max(margin for margin, _ in margins))
    norm2 = sum(
        value**2
        for value in [*tagger.state_features_.values(), *tagger.transition_features_.values()]
    )
    for bounds_of, losses, distance2 in ((of_zero, zero, 0.0), (of_trained, trained, norm2)):
        by_name = {bound.name: bound for bound in bounds_of if bound.applies}
        assert by_name["PA 2006, Lemma 9"].right == pytest.approx(distance2, rel=1e-5)
        regret = distance2 + 2 * 0.4 * 3 * sum(losses)  # C, and three epochs
        assert by_name["PA 2006, Eq. 17"].right == pytest.approx(regret, rel=1e-4)
