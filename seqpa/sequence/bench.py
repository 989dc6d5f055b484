"""What training works with, kept from one lesson to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.ahead import Ahead
from seqpa._kernel.chain import Chain
from seqpa._kernel.competitor import Competitor
from seqpa._kernel.max_loss import MaxLoss
from seqpa._kernel.trainer import Trainer
from seqpa.sequence.encode import Encoded
from seqpa.sequence.weights import TrainingWeights


class Size(NamedTuple):
    """The most tokens, features and features of label pairs that a sentence has."""

    tokens: int
    features: int
    pair_features: int

    @classmethod
    def of(cls, encoded: Encoded) -> Size:
        """Of these sentences."""
        starts, pairs = encoded.starts, encoded.pair_indptr

        def most(indptr: NDArray[np.int64]) -> int:
            return int(np.diff(indptr[starts]).max(initial=0))

        if len(starts) == 2:  # online, arrays would take longer
            pair_features = 0 if encoded.pair_features is None else len(encoded.pair_features)
            return cls(int(starts[1]), len(encoded.features), pair_features)
        return cls(
            int(np.diff(starts).max(initial=0)),
            most(encoded.indptr),
            0 if pairs is None else most(pairs),
        )

    def within(self, other: Size) -> bool:
        """Whether no number is larger than the other's."""
        return self.tokens <= other[0] and self.features <= other[1] and self[2] <= other[2]

    def doubled(self, other: Size) -> Size:
        """Twice as large, and at least as large as the other."""
        return Size(*(max(2 * own, least) for own, least in zip(self, other, strict=True)))


class Hand(NamedTuple):
    """What one thread finds competitors with, and where it writes them and the predictions."""

    competitor: Competitor
    max_loss: MaxLoss | None
    path: NDArray[np.int32]
    guess: NDArray[np.int32]


class Tools(NamedTuple):
    """What one learner trains the weights over one array of transitions with."""

    learner: object
    transitions: NDArray[np.float32]
    size: Size
    again: bool
    chain: Chain
    trainer: Trainer
    ahead: Ahead | None
    own: Hand
    helpers: tuple[Hand, ...]


class Bench:
    """Keeps what training works with from one lesson to the next: making it takes longer than
    learning from a sentence with it.

    Weights that were trained without the bench in between need a new one.
    """

    def __init__(self) -> None:
        self._tools: Tools | None = None

    def tools(
        self,
        learner: object,
        weights: TrainingWeights,
        size: Size,
        again: bool,
        make: Callable[[TrainingWeights, Size, bool], Tools],
    ) -> Tools:
        """Those of the last time, where they fit, else new ones; for a pass over such sentences."""
        tools = self._tools
        if (
            tools is not None
            and tools.learner is learner
            and tools.transitions is weights.transitions
            and size.within(tools.size)
            and (tools.again or not again)
        ):
            tools.chain.replace_stores(*weights.stores())  # rows for new features
            tools.trainer.reset()
            return tools
        if tools is not None:  # room for sentences that are longer still
            size = tools.size if size.within(tools.size) else size.doubled(tools.size)
        self._tools = None
        self._tools = tools = make(weights, size, again)
        return tools
