"""What training a tagger keeps between epochs, and what it reports of each."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.sequence.encode import Encoded
from seqpa.sequence.inputs import FeatureSource
from seqpa.sequence.learner import EpochTotals
from seqpa.sequence.weights import TrainingWeights, check_labels


@dataclass(frozen=True, slots=True)
class Epoch:
    """One epoch of training, as `SequenceTagger.training` yields it.

    Attributes
    ----------
    number : counted from 1
    totals : what happened on the training sentences, each met before it was learned from
    seconds : how long training took, without the dev set
    dev_score : None, or the score on the dev set (span F1 for BIO labels, else accuracy)
    best : whether these weights are the best so far, and so the ones that are kept
    """

    number: int
    totals: EpochTotals
    seconds: float
    dev_score: float | None
    best: bool


@dataclass(slots=True)
class TrainingState:
    """All that going on bit for bit needs, beside the data and the parameters."""

    source: FeatureSource
    labels: list[str]
    weights: TrainingWeights
    rng: np.random.Generator
    epoch: int = 0
    best_score: float | None = None
    best_epoch: int = 0
    data: list[int] | None = None  # the sum of the data in training, None after others came


def dev_score(gold: list[list[str]], predicted: list[list[str]]) -> float:
    """Span F1 where the labels mark spans (B-, I-, ...), else token accuracy."""
    from seqpa.evaluate import evaluate

    result = evaluate(gold, predicted)
    return result.accuracy if result.span_micro is None else result.span_micro.f1


def extend(state: TrainingState, X: Any, flat: list[str]) -> Encoded:
    """Encode more sentences, with room for what is new in them."""
    labels = with_new(state.labels, flat)
    check_labels(len(labels), state.source.n_pair_features)
    encoded = state.source.extend(X)
    state.labels = labels
    state.weights.resize(
        len(state.labels), state.source.encoder.n_features, state.source.n_pair_features
    )
    return encoded


def undoing(state: TrainingState, weights: Callable[[], TrainingWeights]) -> Callable[[], None]:
    """A function that takes back what is learned from now on: the labels, and the weights as the
    other function gives them. Features stay numbered."""
    labels = state.labels

    def undo() -> None:
        state.weights, state.labels = weights(), labels
        source = state.source
        state.weights.resize(len(labels), source.encoder.n_features, source.n_pair_features)

    return undo


def sum_of(encoded: Encoded, gold: NDArray[np.int32]) -> list[int]:
    """Numbers by which training data are known again: sentences, tokens, features, labels."""
    counts = [len(encoded.starts) - 1, len(gold), len(encoded.features)]
    return [*counts, zlib.crc32(gold.tobytes())]


def with_new(labels: list[str], flat: list[str]) -> list[str]:
    """The labels, and behind them the new ones in order.

    >>> with_new(["B"], ["C", "B", "A"])
    ['B', 'A', 'C']
    """
    return [*labels, *sorted(set(flat) - set(labels))]


def label_indices(flat: list[str], labels: list[str]) -> NDArray[np.int32]:
    """The number of each label."""
    index = {label: k for k, label in enumerate(labels)}
    return np.fromiter(map(index.__getitem__, flat), np.int32, len(flat))


def generator(random_state: Any) -> np.random.Generator:
    """A generator from whatever scikit-learn calls a random state."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise SeqpaError(
            f"random_state is {random_state!r}: it must be None, a whole number from 0 on or a "
            f"generator"
        ) from None
