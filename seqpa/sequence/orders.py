"""Several random orders of the same sentences, trained apart; the mean of their weights tags.

One order more or less decides between sequences that are nearly as good; the mean of several is
steadier, and costs nothing when tagging. The orders beyond the first are trained in threads, as
many as there are cores; which of them is done first changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Event
from typing import Any

import numpy as np

from seqpa.sequence.learner import ChainLearner
from seqpa.sequence.sparse_weights import WeightSpace
from seqpa.sequence.training import TrainingData, TrainingState, run
from seqpa.sequence.weights import FrozenWeights, TrainingWeights


def mean_of_orders(
    first: TrainingState,
    learner: ChainLearner,
    data: TrainingData,
    dev: tuple[Any, list[list[str]]] | None,
    random_state: np.random.Generator,
    seeds: int,
    *,
    epochs: int,
    patience: int | None,
) -> FrozenWeights:
    """Train further orders of the data, and take the mean of all.

    Parameters
    ----------
    first : TrainingState
        The first order's, whose training is over; its weights are left alone.
    learner : ChainLearner
    data : TrainingData
    dev : None or (sentences, label lists)
        Of each order, the epoch that is best there counts.
    random_state : numpy.random.Generator
        Draws the seeds of the further orders.
    seeds : int
        How many orders there are, the first included.
    epochs, patience : int
        As for `seqpa.sequence.training.run`.

    Returns
    -------
    FrozenWeights
    """
    from concurrent.futures import ThreadPoolExecutor

    drawn = random_state.integers(2**62, size=seeds - 1).tolist()
    dev_encoded = None if dev is None else first.source.transform(dev[0])
    given_up = Event()

    def trained(seed: int) -> FrozenWeights:
        weights = first.weights
        state = TrainingState(
            first.source,
            first.labels,
            TrainingWeights(
                weights.n_labels, weights.n_features, weights.n_pair_features, weights.second_order
            ),
            np.random.default_rng(seed),
        )
        for _ in run(
            state,
            learner,
            data,
            dev,
            epochs=epochs,
            patience=patience,
            shuffle=True,
            record=False,
            dev_encoded=dev_encoded,
        ):
            if given_up.is_set():
                break
        return state.kept(learner.average)

    with ThreadPoolExecutor(min(len(drawn), os.cpu_count() or 1)) as pool:
        try:
            others = list(pool.map(trained, drawn))
        except BaseException:  # Ctrl-C: the others end with their epoch
            given_up.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return mean([first.kept(learner.average), *others])


def mean(all_weights: Sequence[FrozenWeights]) -> FrozenWeights:
    """The mean of weights over the same features and labels.

    Parameters
    ----------
    all_weights : sequence of FrozenWeights

    Returns
    -------
    FrozenWeights
    """
    space = WeightSpace.of(all_weights[0])
    made = space.weights(np.zeros(0, np.int64), np.zeros(0))
    for weights in all_weights:
        keys, values = space.entries(weights)
        space.add(made, keys, values / len(all_weights))
    return made.freeze(False)
