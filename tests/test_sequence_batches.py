"""Mini-batches of sentences: one sentence is the plain step, several solve their QP."""

from __future__ import annotations

import numpy as np
import pytest
import sequence_reference as reference
from scipy.optimize import minimize
from sequence_cases import draw_sentence, encoded, flat, thawed_dict
from sequence_reference import Sentence

from seqpa import SequenceTagger
from seqpa.errors import SeqpaError
from seqpa.sequence.constraints import penalties
from seqpa.sequence.costs import sequence_cost
from seqpa.sequence.learner import ChainLearner, Epoch
from seqpa.sequence.weights import TrainingWeights

LABELS = ("A", "B", "C")
FEATURES = 12


def data(
    rng: np.random.Generator, n: int, pairs: bool = False
) -> tuple[list[Sentence], list[tuple[int, ...]]]:
    sizes = rng.integers(1, 6, size=n).tolist()
    sentences = [draw_sentence(rng, k, FEATURES, 5 if pairs else None, True) for k in sizes]
    gold = [tuple(rng.integers(len(LABELS), size=len(s.tokens)).tolist()) for s in sentences]
    return sentences, gold


def learner(algorithm: str, C: float, batch_size: int) -> ChainLearner:
    return ChainLearner(
        algorithm,
        C,
        sequence_cost("hamming", LABELS),
        penalties(None, LABELS),
        LABELS,
        batch_size=batch_size,
    )


def train(
    sentences: list[Sentence],
    gold: list[tuple[int, ...]],
    algorithm: str,
    C: float,
    batch_size: int,
    pairs: bool,
    one_by_one: bool = False,
) -> tuple[TrainingWeights, Epoch]:
    weights = TrainingWeights(len(LABELS), FEATURES, 5 if pairs else None)
    order = np.arange(len(sentences), dtype=np.int64)
    teacher = learner(algorithm, C, batch_size)
    run = teacher._batch_epoch if one_by_one else teacher.trained_on
    totals, _ = run(weights, encoded(sentences, ones=False), flat(gold), order, True)
    return weights, totals


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("algorithm", ["pa-i", "pa-ii", "pa-ls"])
@pytest.mark.parametrize("seed", range(5))
def test_a_batch_of_one_is_the_plain_step(algorithm: str, pairs: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sentences, gold = data(rng, 12, pairs)
    plain, a = train(sentences, gold, algorithm, 0.3, 1, pairs)
    batch, b = train(sentences, gold, algorithm, 0.3, 1, pairs, one_by_one=True)
    for average in (False, True):
        ours, theirs = thawed_dict(plain.freeze(average)), thawed_dict(batch.freeze(average))
        for key in ours.keys() | theirs.keys():
            assert ours.get(key, 0.0) == pytest.approx(theirs.get(key, 0.0), abs=2e-5)
    assert a.record == pytest.approx(b.record, abs=2e-4)
    assert (a.wrong_sentences, a.wrong_tokens) == (b.wrong_sentences, b.wrong_tokens)


@pytest.mark.parametrize("algorithm", ["pa-i", "pa-ii"])
@pytest.mark.parametrize("seed", range(6))
def test_a_batch_is_the_nearest_point_that_meets_its_constraints(algorithm, seed) -> None:
    """min ½‖w‖² + C Σξ (or C Σξ²) with w·δ_i >= √ρ_i − ξ_i, from zero weights, by SLSQP."""
    rng = np.random.default_rng(100 + seed)
    sentences, gold = data(rng, 4)
    C = 0.4
    weights, _ = train(sentences, gold, algorithm, C, 4, False)
    ours = thawed_dict(weights.freeze(False))
    # From zero weights every sentence is labelled with the first label throughout.
    deltas, margins = [], []
    for sentence, truth in zip(sentences, gold, strict=True):
        guess = (0,) * len(truth)
        if guess != truth:
            delta = reference.phi(sentence, truth)
            for key, value in reference.phi(sentence, guess).items():
                delta[key] = delta.get(key, 0.0) - value
            deltas.append(delta)
            margins.append(np.sqrt(sum(g != p for g, p in zip(truth, guess, strict=True))))
    keys = sorted({key for delta in deltas for key in delta}, key=repr)
    D = np.array([[delta.get(key, 0.0) for key in keys] for delta in deltas])
    n = len(keys)
    power = 1 if algorithm == "pa-i" else 2
    found = minimize(
        lambda z: 0.5 * z[:n] @ z[:n] + C * (z[n:] ** power).sum(),
        np.concatenate([np.zeros(n), margins]),
        jac=lambda z: np.concatenate([z[:n], C * power * z[n:] ** (power - 1)]),
        constraints=[
            {
                "type": "ineq",
                "fun": lambda z: D @ z[:n] + z[n:] - margins,
                "jac": lambda z: np.hstack([D, np.eye(len(D))]),
            }
        ],
        bounds=[(None, None)] * n + [(0, None)] * len(D),
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    for key, value in zip(keys, found.x[:n], strict=True):
        assert ours.get(key, 0.0) == pytest.approx(value, abs=2e-4)


def test_batches_learn_and_say_what_they_need() -> None:
    X = [["the", "dog", "saw", "rain"], ["a", "saw", "cut", "the", "rain"]] * 3
    y = [["D", "N", "V", "N"], ["D", "N", "V", "D", "N"]] * 3
    tagger = SequenceTagger(["word[0]", "word[-1]"], batch_size=4, C=1.0, random_state=0)
    assert tagger.fit(X, y).predict(X) == y
    with pytest.raises(SeqpaError, match="batch_size above 1"):
        SequenceTagger(["word[0]"], batch_size=2, algorithm="perceptron").fit(X, y)
    with pytest.raises(SeqpaError, match="batch_size is 0"):
        SequenceTagger(["word[0]"], batch_size=0).fit(X, y)
