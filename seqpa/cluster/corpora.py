"""The training text on the cluster: numbered by map and merge, encoded, dealt to the shards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqpa.cluster import tasks
from seqpa.cluster.executors import Executor
from seqpa.errors import SeqpaError
from seqpa.sequence import merging
from seqpa.sequence.inputs import FeatureSource

DEALS = ("auto", "each-round", "once")
# So many tokens may change their shard each round: some hundred bytes for each are sent.
CHEAP_TOKENS = 3_000_000
_PIECES = 8  # of each shard, where they are dealt anew
_ARITY = 8  # so many are merged at a time


def merged(executor: Executor, merge: Callable[..., Any], handles: Sequence[Any]) -> Any:
    """Merge what parts gave, in their order, as a tree of tasks."""
    level = list(handles)
    while len(level) > 1:
        level = [
            executor.submit(merge, level[i : i + _ARITY]) if i + 1 < len(level) else level[i]
            for i in range(0, len(level), _ARITY)
        ]
    return level[0]


def numbered(
    executor: Executor,
    parts: Sequence[Any],
    source: FeatureSource,
    cutoff: int,
    labels: list[str],
    algorithm: str,
) -> tuple[Any, list[Any]]:
    """The source that all parts together teach, and the parts as integers.

    Parameters
    ----------
    executor : Executor
    parts : sequence of handles of `Part`
    source : FeatureSource
        One that knows nothing yet.
    cutoff : int
        Leave out features seen fewer times.
    labels : list of str
    algorithm : str

    Returns
    -------
    source : handle of FeatureSource
    data : list of handles of TrainingData
    """
    empty = executor.submit(tasks.same, source)
    surveys = [executor.submit(tasks.survey, part, empty) for part in parts]
    survey = merged(executor, merging.merged_surveys, surveys)
    with_words = executor.submit(merging.with_words, empty, survey)
    numbers = [executor.submit(tasks.number, part, with_words, labels, algorithm) for part in parts]
    found = [executor.submit(tasks.found, own) for own in numbers]
    features = merged(executor, merging.merged_numbers, found)
    index = executor.submit(merging.indexed, features, cutoff)
    data = [executor.submit(tasks.relabel, own, index) for own in numbers]
    return executor.submit(merging.with_features, with_words, features, cutoff), data


@dataclass(frozen=True, slots=True)
class ShardedCorpus:
    """Encoded pieces of the text, on the workers, and how they are dealt to shards.

    Attributes
    ----------
    pieces : list of handles of TrainingData
    sizes : list of Measures
        Of each piece.
    shards : int
    anew : bool
        Whether each round deals the pieces anew.
    seed : int
    """

    pieces: list[Any]
    sizes: list[tasks.Measures]
    shards: int
    anew: bool
    seed: int

    @classmethod
    def of(
        cls,
        executor: Executor,
        parts: Sequence[Any],
        tokens: int,
        shards: int,
        deal: str,
        seed: int,
    ) -> ShardedCorpus:
        """Cut the parts into pieces.

        Parameters
        ----------
        executor : Executor
        parts : sequence of handles of TrainingData
        tokens : int
            How many they have together.
        shards : int
        deal : "auto", "each-round" or "once"
            "auto" deals each round anew where that is cheap, which the number of tokens decides.
        seed : int
        """
        if deal not in DEALS:
            raise SeqpaError(f"deal is {deal!r}: choose {', '.join(DEALS)}")
        anew = shards > 1 and (deal == "each-round" or (deal == "auto" and tokens <= CHEAP_TOKENS))
        wanted = shards * (_PIECES if anew else 1)
        each = -(-wanted // len(parts))
        pieces = []
        for data in parts:
            if each == 1:
                pieces.append(data)
            else:
                pieces += [executor.submit(tasks.piece, data, i, each) for i in range(each)]
        sizes = executor.results([executor.submit(tasks.measures, own) for own in pieces])
        return cls(pieces, sizes, shards, anew, seed)

    def dealt(self, round: int) -> list[list[int]]:
        """The pieces of each shard in a round, counted from 1; shards of about the same size.

        A shard without any sentence is left out.
        """
        order = np.arange(len(self.pieces))
        if self.anew:
            order = np.random.default_rng([self.seed, round]).permutation(len(self.pieces))
        tokens = np.array([self.sizes[i].tokens for i in order], np.float64)
        middle = np.cumsum(tokens) - tokens / 2
        shard = np.minimum(middle * self.shards / max(tokens.sum(), 1.0), self.shards - 1)
        dealt: list[list[int]] = [[] for _ in range(self.shards)]
        for i, s in zip(order.tolist(), shard.astype(np.int64).tolist(), strict=True):
            if self.sizes[i].sentences:
                dealt[s].append(i)
        return [own for own in dealt if own]

    def marks(self) -> list[list[int]]:
        """Numbers by which the text and its pieces are known again."""
        return [own.marks for own in self.sizes]

    def largest(self) -> int:
        """How many bytes the sentences of a shard take at most, in the first round."""
        return max(sum(self.sizes[i].nbytes for i in own) for own in self.dealt(1))
