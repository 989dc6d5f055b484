"""What workers do. Every function is pure: its arguments are all that it needs, so that any worker
can do it, and do it again when another one was lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import seqpa
from seqpa.cluster.mixing import Difference, Packed, difference
from seqpa.errors import SeqpaError
from seqpa.sequence import merging
from seqpa.sequence.arguments import sentence_weights
from seqpa.sequence.balance import mistakes
from seqpa.sequence.inputs import FeatureSource, given_labels, token_kind
from seqpa.sequence.learner import NO_WEIGHTS
from seqpa.sequence.pieces import joined, part
from seqpa.sequence.sparse_weights import WeightSpace
from seqpa.sequence.tagger import SequenceTagger
from seqpa.sequence.training import TrainingData, label_indices


def checked(version: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """A task, where the worker's version is the client's; errors name the worker.

    Parameters
    ----------
    version : str
        The client's.
    function : callable
        The task.
    *arguments : object
        Its arguments.
    """
    if version != seqpa.__version__:
        raise SeqpaError(
            f"the worker {worker_name()} has seqpa {seqpa.__version__}, and the client has "
            f"{version}: install the same version on both"
        )
    try:
        return function(*arguments)
    except SeqpaError as error:
        raise SeqpaError(f"{error} (on the worker {worker_name()})") from None
    except MemoryError:
        raise SeqpaError(
            f"the memory of the worker {worker_name()} is too small: use more shards, or a "
            f"larger worker"
        ) from None


def worker_name() -> str:
    """The address of the worker that runs this task; "here" where there is no cluster."""
    try:
        from distributed import get_worker

        return str(get_worker().address)
    except (ImportError, ValueError):
        return "here"


def threads_of(n_jobs: int, tasks: int) -> int:
    """How many threads a task may use: its share of its worker's, and `n_jobs` at least.

    Parameters
    ----------
    n_jobs : int
    tasks : int
        So many share a worker.

    Returns
    -------
    int
    """
    try:
        from distributed import get_worker

        return max(n_jobs, get_worker().state.nthreads // tasks)
    except (ImportError, ValueError):
        return n_jobs


def same(value: Any) -> Any:
    """What it is given: so a value reaches the workers once, and again if one is lost."""
    return value


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the training sentences.

    Attributes
    ----------
    X : list of sentences, or a corpus
    y : list of label lists, or None
        None where X is a corpus with labels.
    sample_weight : list of float, or None
    name : str
        What messages call it.
    """

    X: Any
    y: Any = None
    sample_weight: Any = None
    name: str = ""

    def labels(self) -> list[str | None]:
        """The labels of all tokens."""
        with named(self):
            return given_labels(self.X, self.y)


@contextmanager
def named(own: Part) -> Iterator[None]:
    """Within it, errors begin with the name of a part."""
    try:
        yield
    except SeqpaError as error:
        if not own.name or str(error).startswith(own.name):
            raise
        raise SeqpaError(f"{own.name}: {error}") from None


@dataclass(frozen=True, slots=True)
class Headline:
    """What the client wants to know of a part at once.

    Attributes
    ----------
    sentences, tokens : int
    kind : str
        "words" or "features": what tokens are.
    labels : list of str
        Sorted.
    columns : tuple of str or None
        Those of a corpus.
    """

    sentences: int
    tokens: int
    kind: str
    labels: list[str]
    columns: tuple[str, ...] | None


def headline(own: Part) -> Headline:
    """Count a part."""
    flat = own.labels()
    columns = getattr(own.X, "names", None)
    with named(own):
        kind = "words" if columns is not None else token_kind(own.X)
    labels = sorted({label for label in flat if label is not None})
    return Headline(len(own.X), len(flat), kind, labels, columns)


def survey(own: Part, source: FeatureSource) -> merging.Survey:
    """The words of a part."""
    with named(own):
        return merging.survey(source, own.X, own.labels())


@dataclass(frozen=True, slots=True)
class NumberedPart:
    """A part as integers, its features numbered by themselves.

    Attributes
    ----------
    found : Numbered
        Which features these are.
    data : TrainingData
    """

    found: merging.Numbered
    data: TrainingData


def number(own: Part, source: FeatureSource, labels: list[str], algorithm: str) -> NumberedPart:
    """A part as integers, with numbers of its own."""
    flat = own.labels()
    with named(own):
        importance = sentence_weights(own.sample_weight, own.X, algorithm)
        found, encoded = merging.number(source, own.X, flat)
    return NumberedPart(found, TrainingData(encoded, label_indices(flat, labels), importance))


def found(own: NumberedPart) -> merging.Numbered:
    """The features of a part, which are sent, and not the part."""
    return own.found


def relabel(own: NumberedPart, index: merging.Index) -> TrainingData:
    """A part with the numbers that its features have in the whole text."""
    data = own.data
    encoded = merging.relabelled(own.found, data.encoded, index)
    return TrainingData(encoded, data.gold, data.importance)


@dataclass(frozen=True, slots=True)
class Measures:
    """The size of encoded sentences, and by what they are known again."""

    sentences: int
    tokens: int
    nbytes: int
    marks: list[int]


def measures(data: TrainingData) -> Measures:
    """Measure encoded sentences."""
    encoded = data.encoded
    arrays: list[Any] = [
        encoded.starts,
        encoded.indptr,
        encoded.features,
        data.gold,
        encoded.values,
    ]
    arrays += [encoded.pair_indptr, encoded.pair_features, encoded.pair_values]
    nbytes = sum(array.nbytes for array in arrays if array is not None)
    return Measures(len(encoded.starts) - 1, len(data.gold), nbytes, data.marks())


def piece(data: TrainingData, i: int, of: int) -> TrainingData:
    """Piece i of encoded sentences that are cut into so many."""
    encoded = data.encoded
    n = len(encoded.starts) - 1
    run = slice(n * i // of, n * (i + 1) // of)
    begin, end = int(encoded.starts[run.start]), int(encoded.starts[run.stop])
    weights = data.importance[run] if len(data.importance) else data.importance
    return TrainingData(part(encoded, run), data.gold[begin:end], weights)


def together(pieces: Sequence[TrainingData]) -> TrainingData:
    """Encoded sentences one after another."""
    if len(pieces) == 1:
        return pieces[0]
    weights = NO_WEIGHTS
    if any(len(own.importance) for own in pieces):
        weights = np.concatenate(
            [
                own.importance if len(own.importance) else np.ones(len(own.encoded.starts) - 1)
                for own in pieces
            ]
        )
    gold = np.concatenate([own.gold for own in pieces])
    return TrainingData(joined([own.encoded for own in pieces]), gold, weights)


@dataclass(frozen=True, slots=True)
class Setup:
    """What is the same for every epoch.

    Attributes
    ----------
    parameters : dict
        Those of the `SequenceTagger`.
    labels : list of str
    space : WeightSpace
    seed : int
        Of the orders of the sentences.
    missed : float
        How often a missed token of a span counts, with the cost "auto".
    """

    parameters: dict[str, Any]
    labels: list[str]
    space: WeightSpace
    seed: int
    missed: float = 1.0


def balance(setup: Setup, pieces: Sequence[TrainingData], crowd: int = 1) -> tuple[int, int]:
    """How many tokens of spans are missed and invented in a shard, for the cost "auto".

    Parameters
    ----------
    setup : Setup
    pieces : sequence of TrainingData
    crowd : int
        So many tasks share a worker and its cores, on which nothing depends but time.

    Returns
    -------
    missed, invented : int
    """
    tagger = SequenceTagger(**setup.parameters)
    zeros = setup.space.weights(np.zeros(0, np.int64), np.zeros(0))
    n_jobs = threads_of(tagger.n_jobs, crowd)
    return mistakes(tagger.learner_for(setup.labels), together(pieces), zeros, n_jobs)


def epoch(
    setup: Setup,
    weights: Packed,
    pieces: Sequence[TrainingData],
    round: int,
    shard: int,
    crowd: int = 1,
) -> Difference:
    """Train one epoch on a shard.

    Parameters
    ----------
    setup : Setup
    weights : Packed
        Those with which the round begins.
    pieces : sequence of TrainingData
        The sentences of the shard.
    round, shard : int
        With the seed they give the order of the sentences.
    crowd : int
        So many tasks share a worker and its cores, on which nothing depends but time.

    Returns
    -------
    Difference
    """
    begun = time.perf_counter()
    tagger = SequenceTagger(**setup.parameters)
    data = together(pieces)
    start = weights.keys, weights.values[0].astype(np.float64)
    training = setup.space.weights(*start)
    n = len(data.encoded.starts) - 1
    order = np.arange(n, dtype=np.int64)
    if tagger.shuffle:
        order = np.random.default_rng([setup.seed, round, shard]).permutation(n)
    learner = tagger.learner_for(setup.labels, setup.missed)
    with learner.helpers(threads_of(tagger.n_jobs, crowd)) as helpers:
        done = learner.epoch(
            training,
            data.encoded,
            data.gold,
            data.without_zeros(order.astype(np.int64)),
            importance=data.importance,
            helpers=helpers,
        )
    found = [setup.space.entries(training.freeze(False))]
    if tagger.average:
        found.append(setup.space.entries(training.freeze(True)))
    return Difference(
        moved=difference(start, *found),
        sentences=done.sentences,
        tokens=done.tokens,
        wrong_sentences=done.wrong_sentences,
        wrong_tokens=done.wrong_tokens,
        updates=done.updates,
        cost=done.cost,
        loss=done.loss,
        squared_loss=done.squared_loss,
        seconds=time.perf_counter() - begun,
        worker=worker_name(),
    )
