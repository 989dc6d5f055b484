"""How much more a missed span should count than an invented one, where ``cost`` is "auto".

Where spans are rare, a tagger that counts wrong tokens overlooks many and invents few. Their costs
can level that; how far is measured: one epoch on four fifths of the sentences, then missed and
invented tokens of spans are counted in the rest. A missed one counts √(missed / invented) times as
much (the root of that in loss-augmented updates, whose margin is ρ instead of √ρ). The root, and
what is added to both counts, were chosen on the dev data of five corpora of names and chunks
(benchmarks/missed.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seqpa.schemes import OUTSIDE, are_chunk_labels
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.folds import FOLDS, contiguous_folds
from seqpa.sequence.learner import ChainLearner
from seqpa.sequence.pieces import part
from seqpa.sequence.training import TrainingData
from seqpa.sequence.weights import TrainingWeights

RUNS = 10  # of sentences that follow one another, evenly over the text; the end of each is held out
MOST = 20_000  # sentences that are looked at
FEW = 75  # so many tokens are added to both counts: few mistakes say little
LARGEST = 16.0  # the largest that was tried


def missed_times(
    learner: ChainLearner, data: TrainingData, weights: TrainingWeights, n_jobs: int = 1
) -> float:
    """How many times as much a missed token of a span should count: 1 or more, in halves.

    Parameters
    ----------
    learner : ChainLearner
        With the cost "hamming", and labels of which some may be missed.
    data : TrainingData
    weights : TrainingWeights
        Zeros, for all features and labels; they are trained for an epoch.
    n_jobs : int
        Threads, where the learner looks ahead.

    Returns
    -------
    float
    """
    return times_of(*mistakes(learner, data, weights, n_jobs), root_of(learner))


def may_be_missed(labels: Sequence[str]) -> bool:
    """Whether labels mark spans, and tokens outside them.

    Examples
    --------
    >>> may_be_missed(["B-x", "O"]), may_be_missed(["N", "O"]), may_be_missed(["B-x", "I-x"])
    (True, False, False)
    """
    return OUTSIDE in labels and are_chunk_labels(labels)


def root_of(learner: ChainLearner) -> int:
    """Which root of missed / invented is taken.

    Loss-augmented updates ask for a margin of ρ, others for one of √ρ: margins are to be alike.
    """
    return 4 if learner.update == "loss-augmented" else 2


def mistakes(
    learner: ChainLearner, data: TrainingData, weights: TrainingWeights, n_jobs: int = 1
) -> tuple[int, int]:
    """How many tokens of spans are missed, and how many invented, after an epoch.

    Parameters
    ----------
    learner : ChainLearner
        With the cost "hamming".
    data : TrainingData
        The end of each of ten runs of its sentences is held out.
    weights : TrainingWeights
        Zeros, for all features and labels; they are trained for an epoch.
    n_jobs : int
        Threads, where the learner looks ahead.

    Returns
    -------
    missed, invented : int
    """
    shown, held = split(len(data.encoded.starts) - 1)
    order = data.without_zeros(np.random.default_rng(0).permutation(shown))
    with learner.helpers(n_jobs) as helpers:
        learner.epoch(
            weights, data.encoded, data.gold, order, importance=data.importance, helpers=helpers
        )
    decoder = Decoder(weights.freeze(learner.average), learner.rules)
    outside = list(learner.labels).index(OUTSIDE)
    missed = invented = 0
    for run in held:
        own = part(data.encoded, slice(run.start, run.stop))
        tokens = slice(*data.encoded.starts[[run.start, run.stop]].tolist())
        gold, predicted = data.gold[tokens], decoder.decode(own)
        missed += int(((gold > -1) & (gold != outside) & (predicted == outside)).sum())
        invented += int(((gold == outside) & (predicted != outside)).sum())
    return missed, invented


def missed_told(times: float) -> str:
    """What is told of it.

    Parameters
    ----------
    times : float

    Returns
    -------
    str

    Examples
    --------
    >>> missed_told(2.5)
    'spans are missed more often than invented: a missed token counts 2.5 times (cost: auto)'
    """
    return (
        f"spans are missed more often than invented: a missed token counts {times:g} times "
        "(cost: auto)"
    )


def split(n_sentences: int) -> tuple[NDArray[np.int64], list[range]]:
    """Sentences to learn from, and runs of others that follow one another.

    Parameters
    ----------
    n_sentences : int

    Returns
    -------
    shown : int64 (sentences,)
    held : list of range

    Examples
    --------
    >>> shown, held = split(100)
    >>> held[:2], shown[:9].tolist()
    ([range(8, 10), range(18, 20)], [0, 1, 2, 3, 4, 5, 6, 7, 10])
    """
    runs = [
        range(max(run.start, run.stop - MOST // RUNS), run.stop)
        for run in contiguous_folds(n_sentences, RUNS)
    ]
    edges = [run.stop - len(run) // FOLDS for run in runs]
    shown = [np.arange(run.start, edge) for run, edge in zip(runs, edges, strict=True)]
    held = [range(edge, run.stop) for run, edge in zip(runs, edges, strict=True)]
    return np.concatenate(shown).astype(np.int64), [run for run in held if run]


def times_of(missed: int, invented: int, root: int = 2) -> float:
    """A root of missed / invented, to the next half; at least 1.

    Parameters
    ----------
    missed, invented : int
        Tokens.
    root : int
        2 for the square root, 4 for the square root of that.

    Returns
    -------
    float

    Examples
    --------
    >>> times_of(1050, 50), times_of(50, 1050), times_of(30, 0), times_of(10**6, 0)
    (3.0, 1.0, 1.0, 16.0)
    """
    ratio = (missed + FEW) / (invented + FEW)
    return min(max(round(2.0 * ratio ** (1.0 / root)) / 2.0, 1.0), LARGEST)
