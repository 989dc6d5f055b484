"""The training loop: epochs over encoded sentences, the dev set, patience; and what it keeps.

`TrainingState` is all that one epoch hands on to the next. A loop over `run` is a whole training;
each epoch comes out as a record (`seqpa.sequence.learner.Epoch`), and printing, plotting and saving
are left to the one who reads the records.
"""

from __future__ import annotations

import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings
from seqpa.data.labels import labelled_tokens
from seqpa.errors import SeqpaError, SeqpaWarning
from seqpa.evaluate import evaluate
from seqpa.schemes import are_chunk_labels
from seqpa.sequence.bench import Bench
from seqpa.sequence.checks import check_label_names
from seqpa.sequence.decoder import Decoder, check_given
from seqpa.sequence.encode import Encoded
from seqpa.sequence.inputs import FeatureSource
from seqpa.sequence.learner import (
    NO_WEIGHTS,
    WITHOUT_C,
    ChainLearner,
    Epoch,
    Progress,
)
from seqpa.sequence.replay import Kept, Reservoir, together
from seqpa.sequence.weights import FrozenWeights, TrainingWeights, check_labels

Labels = Sequence[str | None]  # None: the label is not given

__all__ = ["Epoch", "TrainingData", "TrainingState", "run"]


@dataclass(slots=True)
class OnlineTotals:
    """Sums over all sentences since training began, each met before it was learned from.

    Attributes
    ----------
    mistakes : int
        Sentences that were predicted wrongly.
    cost : float
        Σ ρ(y, ŷ).
    loss, squared_loss : float
        Σ ℓ and Σ ℓ² (PA 2006, Eq. 45 or 52).
    """

    mistakes: int = 0
    cost: float = 0.0
    loss: float = 0.0
    squared_loss: float = 0.0

    def plus(self, epoch: Epoch) -> OnlineTotals:
        """The sums with another pass."""
        return OnlineTotals(
            self.mistakes + epoch.wrong_sentences,
            self.cost + epoch.cost,
            self.loss + epoch.loss,
            self.squared_loss + epoch.squared_loss,
        )


@dataclass(slots=True)
class TrainingState:
    """All that going on bit for bit needs, beside the data and the parameters.

    Attributes
    ----------
    source : FeatureSource
        Makes features of sentences; knows all features so far.
    labels : list of str
        In the order of their numbers.
    weights : TrainingWeights
    rng : numpy.random.Generator
        Draws the order of the sentences.
    epoch : int
        How many epochs are done.
    best_epoch : int
        The epoch whose weights are kept: the last, or the best on the dev set.
    best_score : None or float
        Its score on the dev set, where there is one.
    best : None or FrozenWeights
        Its weights, where there is a dev set.
    data : None or list of int
        By what the data in training are known again; None after other data came.
    online : OnlineTotals
    reservoir : Reservoir
        Some of the sentences so far, to be learned again beside new ones.
    scale : None or float
        What makes probabilities of scores; None before it was fitted.
    missed : float
        How often a missed token of a span counts, with the cost "auto".
    bench : Bench
        What `lesson` works with, from one to the next.
    """

    source: FeatureSource
    labels: list[str]
    weights: TrainingWeights
    rng: np.random.Generator
    epoch: int = 0
    best_epoch: int = 0
    best_score: float | None = None
    best: FrozenWeights | None = None
    data: list[int] | None = None
    online: OnlineTotals = field(default_factory=OnlineTotals)
    reservoir: Reservoir = field(default=cast("Reservoir", None))
    scale: float | None = None
    missed: float = 1.0
    bench: Bench = field(default_factory=Bench)

    def __post_init__(self) -> None:
        if self.reservoir is None:
            self.reservoir = Reservoir.beside(self.rng)

    def is_over(self, epochs: int, patience: int | None) -> bool:
        """Whether all epochs are done, or too many came and went without a better dev score."""
        return self.epoch >= epochs or (
            patience is not None and self.epoch - self.best_epoch >= patience
        )

    def kept(self, average: bool) -> FrozenWeights:
        """The weights to tag with: those of the best epoch, else the present ones."""
        if self.best is not None:
            return self.best
        self.settle()
        return self.weights.freeze(average)

    def extend(self, X: Any, flat: Labels, online: bool = False) -> Encoded:
        """Encode more sentences; new features and labels get numbers and empty rows.

        online : as for `FeatureSource.extend`
        """
        labels = with_new(self.labels, flat)
        check_labels(len(labels), self.source.n_pair_features)
        self.best = self.best_score = None  # its weights would not know the new features
        encoded = self.source.extend(X, flat, online)
        self.labels = labels
        self.settle()
        return encoded

    def settle(self) -> None:
        """Give every feature and label its weights.

        They have them, unless `extend` was interrupted. The labels come before their weights, which
        never number more labels than there are names.
        """
        source, weights = self.source, self.weights
        source.encoder.settle()
        sizes = len(self.labels), source.encoder.n_features, source.n_pair_features
        if sizes != (weights.n_labels, weights.n_features, weights.n_pair_features):
            self.weights = weights.resized(*sizes)


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Sentences as the learner takes them.

    Attributes
    ----------
    encoded : Encoded
    gold : (tokens,) array
        The number of each token's label; −1 where it is not given.
    importance : (sentences,) array
        What the C of each sentence is multiplied by; empty for nothing. A sentence with zero is
        left out.
    """

    encoded: Encoded
    gold: NDArray[np.int32]
    importance: NDArray[np.float64] = field(default_factory=lambda: NO_WEIGHTS)

    def marks(self) -> list[int]:
        """Numbers by which these data are known again: sentences, tokens, features, labels, and
        the weights of sentences."""
        encoded = self.encoded
        counts = [len(encoded.starts) - 1, len(self.gold), len(encoded.features)]
        arrays: list[NDArray[Any]] = [self.gold]
        if len(self.importance):
            arrays.append(self.importance)
        return [*counts, *(zlib.crc32(array.tobytes()) for array in arrays)]

    def check(self, learner: ChainLearner) -> None:
        """Raise a SeqpaError where the labels of a sentence break the learner's rules."""
        check_given(self.gold, self.encoded.starts, learner.rules, list(learner.labels))

    def close(self) -> None:
        """Nothing: what is in memory goes by itself."""

    def sample(self) -> TrainingData:
        """Sentences that stand for all: they themselves."""
        return self

    def one_pass(self, state: TrainingState, shuffle: bool, train: Callable[..., Epoch]) -> Epoch:
        """Learn from every sentence once, in an order of its own if they are shuffled.

        train : `ChainLearner.epoch`, with all that is the same for every epoch
        """
        n = len(self.encoded.starts) - 1
        order = state.rng.permutation(n) if shuffle else np.arange(n)
        return train(
            state.weights,
            self.encoded,
            self.gold,
            self.without_zeros(order.astype(np.int64)),
            importance=self.importance,
            bench=state.bench,
        )

    def offer(self, reservoir: Reservoir) -> None:
        """Let a reservoir keep some of the sentences."""
        reservoir.add(self.encoded, self.gold, self.importance)

    def without_zeros(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """The order without the sentences whose weight is zero."""
        return order[self.importance[order] > 0] if len(self.importance) else order


class Passes(Protocol):
    """Sentences that can be passed over again and again: `TrainingData`, or blocks on disk."""

    def one_pass(self, state: TrainingState, shuffle: bool, train: Callable[..., Epoch]) -> Epoch:
        """Learn from every sentence once."""

    def offer(self, reservoir: Reservoir) -> None:
        """Let a reservoir keep some of the sentences."""


def run(
    state: TrainingState,
    learner: ChainLearner,
    data: Passes,
    dev: tuple[Any, list[list[str]]] | None,
    *,
    epochs: int,
    patience: int | None,
    shuffle: bool,
    record: bool,
    progress: Progress | None = None,
    dev_encoded: Encoded | None = None,
    n_jobs: int = 1,
) -> Iterator[Epoch]:
    """Train from where `state` stands until it is over, a record for each epoch.

    Parameters
    ----------
    state : TrainingState
        Moves on with every epoch.
    learner : ChainLearner
    data : TrainingData, or anything else that can be passed over
    dev : None or (sentences, label lists)
        Where it is given, the weights of the epoch that is best there are kept in `state.best`.
    epochs : int
        How many there are in all, those that `state` has behind it included.
    patience : None or int
        How many epochs in a row may fail to better the dev score before training ends.
    shuffle : bool
        Whether each epoch has an order of its own.
    record : bool
        Whether `Epoch.order` and `Epoch.record` are kept, for the loss bounds.
    progress : callable, optional
        Is told within an epoch how many sentences are done, and of how many.
    dev_encoded : Encoded, optional
        The sentences of `dev`, if they are encoded already.
    n_jobs : int
        Threads, where the learner looks ahead; they are made once, and end with the training.
    """
    with learner.helpers(n_jobs) as helpers:
        yield from _epochs(
            state,
            learner,
            data,
            dev,
            dev_encoded,
            partial(state.is_over, epochs, patience),
            shuffle,
            partial(learner.epoch, record=record, progress=progress, helpers=helpers),
        )


def _epochs(
    state: TrainingState,
    learner: ChainLearner,
    data: Passes,
    dev: tuple[Any, list[list[str]]] | None,
    dev_encoded: Encoded | None,
    is_over: Callable[[], bool],
    shuffle: bool,
    train: Callable[..., Epoch],
) -> Iterator[Epoch]:
    metric = "accuracy" if dev is None else dev_metric(state.labels, dev[1])
    state.bench = Bench()
    if dev is not None and dev_encoded is None:
        dev_encoded = state.source.transform(dev[0])
    while not is_over():
        begun = time.perf_counter()
        done = data.one_pass(state, shuffle, train)
        seconds = time.perf_counter() - begun
        if state.epoch == 0:
            data.offer(state.reservoir)
        state.online = state.online.plus(done)
        state.epoch += 1
        score, best = None, True
        if dev is not None and dev_encoded is not None:
            frozen = state.weights.freeze(learner.average)
            numbers = Decoder(frozen, learner.rules).decode(dev_encoded)
            predicted = strings.spell(state.labels, numbers, dev_encoded.starts)
            frozen.let_go()
            score = dev_score(dev[1], predicted, metric)
            best = state.best_score is None or score > state.best_score
            if best:
                state.best_score, state.best = score, frozen
        if best:
            state.best_epoch = state.epoch
        done = replace(done, number=state.epoch, seconds=seconds)
        yield replace(done, dev_score=score, dev_metric=metric, best=best)


def lesson(
    state: TrainingState, learner: ChainLearner, data: TrainingData, replayed: Sequence[Kept]
) -> tuple[Epoch, NDArray[np.int32]]:
    """One pass in the order given, earlier sentences evenly in between.

    Parameters
    ----------
    state : TrainingState
        Its weights move.
    learner : ChainLearner
    data : TrainingData
        What is new.
    replayed : sequence of Kept
        What is learned again; the first comes behind the first that is new.

    Returns
    -------
    epoch : Epoch
        Of what is new alone.
    predicted : (tokens,) array
        The labels that were predicted for the last sentence that is new.
    """
    learner = learner.serial
    order = data.without_zeros(np.arange(len(data.encoded.starts) - 1, dtype=np.int64))
    one = len(order) == 1
    if not replayed or not len(order):
        return learner.trained_on(
            state.weights, data.encoded, data.gold, order, one, data.importance, state.bench
        )
    encoded, gold, weights = together(replayed)
    check_replayed(gold, encoded.starts, learner)
    done: Epoch | None = None
    n, k = len(order), len(replayed)
    # As evenly as it goes: after new sentence number j come the earlier ones up to k (j + 1)/n.
    pieces = min(n, k)
    for piece in range(pieces):
        new = order[n * piece // pieces : n * (piece + 1) // pieces]
        epoch, predicted = learner.trained_on(
            state.weights, data.encoded, data.gold, new, one, data.importance, state.bench
        )
        done = epoch if done is None else done.plus(epoch)
        old = np.arange(k * piece // pieces, k * (piece + 1) // pieces, dtype=np.int64)
        uses_C = learner.algorithm not in WITHOUT_C
        own = weights if uses_C else NO_WEIGHTS
        learner.trained_on(state.weights, encoded, gold, old, False, own, state.bench)
    assert done is not None
    return done, predicted


def check_replayed(
    gold: NDArray[np.int32], starts: NDArray[np.int64], learner: ChainLearner
) -> None:
    """Raise a SeqpaError where earlier sentences break rules that came later."""
    try:
        check_given(gold, starts, learner.rules, learner.labels)
    except SeqpaError as error:
        raise SeqpaError(
            f"of the earlier sentences drawn for replay, {error}; or learn without replay"
        ) from None


def dev_metric(labels: Sequence[str], gold: list[list[str]]) -> str:
    """ "F1" of spans where all labels mark spans, the tagger's and those of the dev set; else
    "accuracy" of tokens.

    >>> dev_metric(["B-x", "O"], [["O", "I-x"]]), dev_metric(["N", "V"], [["N"]])
    ('F1', 'accuracy')
    """
    known = {*labels, *chain.from_iterable(gold)} - {None}
    return "F1" if are_chunk_labels(known) else "accuracy"


def dev_score(gold: list[list[str]], predicted: list[list[str]], metric: str) -> float:
    """The score by which epochs are compared; of the tokens whose label is known."""
    result = evaluate(*labelled_tokens(gold, predicted))
    if metric == "F1" and result.span_micro is not None:
        return result.span_micro.f1
    return result.accuracy


def warn_of_silence(
    labels: Sequence[str], dev: tuple[Any, list[list[str]]] | None, patience: int | None
) -> None:
    """Warn of what training can make nothing of: patience without a dev set, labels only there."""
    if dev is None:
        if patience is not None:
            warnings.warn(
                f"patience is {patience}, but there is no dev set to lose it over: all epochs run",
                SeqpaWarning,
                stacklevel=3,
            )
        return
    told = only_elsewhere(labels, dev[1], "dev set")
    if told is not None:
        warnings.warn(told, SeqpaWarning, stacklevel=3)


def only_elsewhere(labels: Sequence[str], gold: list[list[str]], where: str) -> str | None:
    """What is to be told of labels that were not in training; None where there are none.

    >>> only_elsewhere(["N", "V"], [["N", "X"], ["X", "Y"]], "test set")
    '2 labels of the test set are not in the training data and are never predicted: X, Y (3 tokens)'
    """
    counts = Counter(label for label in chain.from_iterable(gold) if label is not None)
    new = sorted(counts.keys() - set(labels))
    if not new:
        return None
    count = "1 label" if len(new) == 1 else f"{len(new):,} labels"
    are = "is" if len(new) == 1 else "are"
    listed = ", ".join(new[:3]) + (", ..." if len(new) > 3 else "")
    tokens = sum(counts[label] for label in new)
    return (
        f"{count} of the {where} {are} not in the training data and {are} never predicted: "
        f"{listed} ({tokens:,} token{'s' * (tokens != 1)})"
    )


def with_new(labels: list[str], flat: Labels) -> list[str]:
    """The labels, and behind them the new ones in order; the very same list where none is new.

    >>> with_new(["B"], ["C", "B", None, "A"])
    ['B', 'A', 'C']
    """
    found = set(flat).difference(labels)
    found.discard(None)
    if not found:
        return labels
    new = sorted(cast("set[str]", found))
    check_label_names(new)
    return [*labels, *new]


def label_indices(flat: Labels, labels: list[str]) -> NDArray[np.int32]:
    """The number of each label, −1 where it is not given.

    >>> label_indices(["V", "N", None, "V"], ["N", "V"]).tolist()
    [1, 0, -1, 1]
    """
    index: dict[str | None, int] = {label: k for k, label in enumerate(labels)}
    index[None] = -1
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
