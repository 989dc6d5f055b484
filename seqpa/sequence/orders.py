"""Several random orders of the same sentences, trained apart; the mean of their weights tags.

One order more or less decides between sequences that are nearly as good; the mean of several is
steadier, and costs nothing when tagging. The orders beyond the first are trained in threads, as
many as there are cores; which of them is done first changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.sequence.learner import ChainLearner
from seqpa.sequence.training import TrainingData, TrainingState, run
from seqpa.sequence.weights import FrozenWeights, TrainingWeights, padded

Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


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
    some = all_weights[0]
    K, n_features = some.n_labels, len(some.rows)
    n_pairs = None if some.pair_rows is None else len(some.pair_rows)
    made = TrainingWeights(K, n_features, n_pairs)
    transitions = n_features * K
    pairs = transitions + K * K
    for weights in all_weights:
        features, labels, values = _entries(weights.rows, weights.arena, K)
        keys, amounts = [features * K + labels], [values]
        keys.append(transitions + np.arange(K * K))
        amounts.append(weights.transitions.reshape(-1).astype(np.float64))
        if weights.pair_rows is not None and weights.pair_arena is not None:
            width = padded(K)
            features, labels, values = _entries(weights.pair_rows, weights.pair_arena, K * width)
            keys.append(pairs + features * K * K + labels // width * K + labels % width)
            amounts.append(values)
        together = np.concatenate(keys)
        order = np.argsort(together, kind="stable")
        shares = np.concatenate(amounts)[order] / len(all_weights)
        made.scatter(transitions, pairs, together[order], shares, 0.0)
    return made.freeze(False)


def _entries(rows: NDArray[np.int32], arena: NDArray[np.float32], n_labels: int) -> Entries:
    """Feature, label and weight of all that a store has; rows are sparse or dense."""
    sparse, dense = np.flatnonzero(rows[:, 1] > 0), np.flatnonzero(rows[:, 1] < 0)
    sizes = rows[sparse, 1].astype(np.int64)
    ends = np.cumsum(sizes)
    within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    at = np.repeat(rows[sparse, 0].astype(np.int64), sizes) + 2 * within
    whole = rows[dense, 0].astype(np.int64)[:, None] + np.arange(n_labels)
    features = np.concatenate([np.repeat(sparse, sizes), np.repeat(dense, n_labels)])
    labels = np.concatenate([arena[at].astype(np.int64), np.tile(np.arange(n_labels), len(dense))])
    values = np.concatenate([arena[at + 1], arena[whole.reshape(-1)]]).astype(np.float64)
    return features, labels, values
