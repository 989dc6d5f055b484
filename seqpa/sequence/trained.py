"""What is learned, as a type of its own: `Trained`, which tags and which a model file holds.

`Learned` is the one state of a tagger: what it tags with, and what it learns with.
"""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqpa.errors import NotTrainedError
from seqpa.sequence.constraints import penalties
from seqpa.sequence.inputs import FeatureSource
from seqpa.sequence.tagging import Tagging
from seqpa.sequence.training import TrainingState
from seqpa.sequence.weights import FrozenWeights

_TAKING = threading.Lock()


class Trained:
    """Feature source, frozen weights, labels and constraints: all that tagging needs.

    It never changes, so any number of threads may share it.

    Attributes
    ----------
    source : FeatureSource
        Makes features of sentences.
    weights : FrozenWeights
    labels : list of str
        In the order of their numbers.
    constraints : None, str or mapping
        Which label may follow which, as `SequenceTagger` takes it.
    epoch : int
        The epoch of training that the weights are of.
    tagging : Tagging
        Tags with all of these.
    """

    def __init__(
        self,
        source: FeatureSource,
        weights: FrozenWeights,
        labels: list[str],
        constraints: Any,
        epoch: int,
    ) -> None:
        self.source = source
        self.weights = weights
        self.labels = list(labels)
        self.constraints = copy.deepcopy(constraints)  # the user's own may change
        self.epoch = epoch
        self.tagging = Tagging(source, weights, penalties(constraints, labels), self.labels)

    def under(self, constraints: Any) -> Trained:
        """The same with other constraints."""
        return Trained(self.source, self.weights, self.labels, constraints, self.epoch)

    def state_features(self) -> dict[tuple[str, str], float]:
        """(feature, label) -> weight, zeros left out."""
        names = self.source.encoder.feature_names()
        return {
            (names[f], self.labels[k]): weight
            for f in np.flatnonzero(self.weights.nonzero())
            for k, weight in self.weights.feature_weights(int(f)).items()
        }

    def transition_features(self) -> dict[tuple[str, str], float]:
        """(label, next label) -> weight, zeros left out."""
        matrix = self.weights.transitions
        return {
            (self.labels[p], self.labels[y]): float(matrix[p, y])
            for p, y in zip(*np.nonzero(matrix), strict=True)
        }

    def __reduce__(self) -> tuple[Any, ...]:
        # The kernel's objects inside `tagging` stay behind; they are made anew.
        parts = (self.source, self.weights, self.labels, self.constraints, self.epoch)
        return Trained, parts


@dataclass(slots=True)
class Learned:
    """Where a tagger stands.

    Attributes
    ----------
    trained : Trained or None
        What tags; None before the first prediction.
    training : TrainingState or None
        What learning goes on from; None before training, after loading a model and in copies.
    moved : bool
        Whether `training` has moved on since `trained` was taken from it.
    resumed : bool
        Whether `training` was read from a file, and waits for the data that it was saved on.
    seen_with : (features, columns) or None
        The parameters that decide what is seen of a token, as they were in the last training.
    """

    trained: Trained | None = None
    training: TrainingState | None = None
    moved: bool = False
    resumed: bool = False
    seen_with: tuple[Any, Any] | None = None

    @property
    def is_fitted(self) -> bool:
        """Whether there are weights to tag with."""
        return self.moved or self.trained is not None

    @property
    def labels(self) -> list[str]:
        """The labels of the weights to tag with."""
        if self.moved and self.training is not None:
            return self.training.labels
        return self._fitted(self.trained).labels

    @property
    def epoch(self) -> int:
        """The epoch of the weights to tag with."""
        if self.training is not None:
            return self.training.best_epoch
        return self._fitted(self.trained).epoch

    def move(self, training: TrainingState) -> None:
        """Tag with the weights of this training from now on; they are frozen when that is asked."""
        self.training, self.moved = training, True

    def take(self, average: bool, constraints: Any) -> Trained:
        """What tags with the present weights under these constraints."""
        if self.moved:
            with _TAKING:
                training = self.training
                if self.moved and training is not None:
                    self.trained = Trained(
                        training.source,
                        training.kept(average),
                        training.labels,
                        constraints,
                        training.best_epoch,
                    )
                    self.moved = False
        trained = self._fitted(self.trained)
        if constraints != trained.constraints:
            self.trained = trained = trained.under(constraints)
        return trained

    def copied(self) -> Learned:
        """For a copy of the tagger: what tags; the training state stays behind."""
        return Learned(trained=self.trained, seen_with=self.seen_with)

    @staticmethod
    def _fitted(trained: Trained | None) -> Trained:
        if trained is None:
            raise NotTrainedError(
                "this SequenceTagger is not trained yet: call fit, or load a model"
            )
        return trained
