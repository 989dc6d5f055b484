"""What is learned, as a type of its own: `Trained`, which tags and which a model file holds.

`Learned` is the one state of a tagger: what it tags with, and what it learns with.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from seqpa.errors import not_trained
from seqpa.locks import ForkSafeLock
from seqpa.sequence.constraints import penalties
from seqpa.sequence.inputs import FeatureSource
from seqpa.sequence.learner import ChainLearner
from seqpa.sequence.live import LiveTagging
from seqpa.sequence.tagging import Tagging
from seqpa.sequence.training import TrainingState
from seqpa.sequence.weights import FrozenWeights


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
    scale : None or float
        What makes probabilities of scores; None where it was not fitted.
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
        scale: float | None = None,
    ) -> None:
        self.source = source
        self.weights = weights
        self.labels = list(labels)
        self.constraints = copy.deepcopy(constraints)  # the user's own may change
        self.epoch = epoch
        self.scale = scale
        self.tagging = Tagging(source, weights, penalties(constraints, labels), self.labels)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that sentences must have, the word first."""
        return self.source.columns

    def predict(self, X: Any, n_jobs: int = 1) -> list[list[str]]:
        """The best labels of each sentence."""
        return self.tagging.predict(X, None, n_jobs)

    def under(self, constraints: Any) -> Trained:
        """The same with other constraints."""
        return Trained(self.source, self.weights, self.labels, constraints, self.epoch, self.scale)

    def scaled(self, scale: float) -> Trained:
        """The same with another scale of probabilities."""
        other = copy.copy(self)
        other.scale = scale
        return other

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
        return Trained, (*parts, self.scale)


class Learned:
    """Where a tagger stands: what it tags with, and what it learns with.

    After `fit` and `load` a tagger tags with a `Trained`, which never changes. Once it learns
    online it tags with the weights that it is learning (`LiveTagging`), until `fit` begins anew. A
    `Trained` that is taken from the training state shares its feature source; before learning adds
    features to that source, it makes a copy of its own.

    Attributes
    ----------
    trained : Trained or None
        What tags; None before the first prediction, and while a tagger learns online.
    training : TrainingState or None
        What learning goes on from; None before training, after loading a model and in copies.
    moved : bool
        Whether `training` has moved on since `trained` was taken from it.
    live : bool
        Whether to tag with the very weights of `training`.
    is_mean : bool
        Whether `trained` is the mean of several trainings, of which `training` is the first.
    resumed : bool
        Whether `training` was read from a file, and waits for the data that it was saved on.
    seen_with : (features, columns) or None
        The parameters that decide what is seen of a token, as they were in the last training.
    lock : ForkSafeLock
        Held while weights or features change, and while they are read.
    """

    def __init__(
        self,
        trained: Trained | None = None,
        seen_with: tuple[Any, Any] | None = None,
        training: TrainingState | None = None,
    ) -> None:
        self.trained = trained
        self.training = training
        self.moved = training is not None
        self.live = False
        self.is_mean = False
        self.resumed = training is not None
        self.seen_with = seen_with
        self.lock = ForkSafeLock()
        self._missed: float | None = None
        self._tagging: LiveTagging | None = None
        self._learner: tuple[tuple[Any, ...], ChainLearner] | None = None

    @property
    def is_fitted(self) -> bool:
        """Whether there are weights to tag with."""
        return self.moved or self.live or self.trained is not None

    @property
    def labels(self) -> list[str]:
        """The labels of the weights to tag with."""
        with self.lock:
            if self.training is not None and (self.moved or self.live):
                return self.training.labels
            return self._fitted(self.trained).labels

    @property
    def epoch(self) -> int:
        """The epoch of the weights to tag with."""
        with self.lock:
            if self.training is not None and self.is_fitted:
                return self.training.best_epoch
            return self._fitted(self.trained).epoch

    @property
    def missed(self) -> float | None:
        """How often a missed token of a span counted in training; None where nobody knows."""
        return self._missed if self.training is None else self.training.missed

    @property
    def source(self) -> FeatureSource:
        """What makes features of sentences, for the weights to tag with."""
        with self.lock:
            if self.training is not None and (self.moved or self.live):
                return self.training.source
            return self._fitted(self.trained).source

    @property
    def stages(self) -> int:
        """How many stages the weights to tag with have; 1 before training."""
        return 2 if self.is_fitted and self.source.first is not None else 1

    @property
    def scale(self) -> float | None:
        """The scale of probabilities; None before it was fitted."""
        with self.lock:
            if self.training is not None and (self.moved or self.live):
                return self.training.scale
            return self._fitted(self.trained).scale

    def set_scale(self, scale: float) -> None:
        """Tell probabilities with this scale from now on."""
        with self.lock:
            if self.training is not None:
                self.training.scale = scale
            if self.trained is not None:
                self.trained = self.trained.scaled(scale)

    def move(self, training: TrainingState) -> None:
        """Tag with the weights of this training from now on; they are frozen when that is asked."""
        self.training, self.live, self.moved, self.is_mean = training, False, True, False

    def settle_on(self, trained: Trained) -> None:
        """Tag with the mean of several trainings; learning online goes on from it."""
        self.trained, self.live, self.moved, self.is_mean = trained, False, False, True

    def tagging(self, average: bool, constraints: Any) -> Tagging | LiveTagging:
        """What tags with the present weights under these constraints."""
        made = self._tagging
        if (
            self.live
            and made is not None
            and made.state is self.training
            and made.average == average
            and made.constraints == constraints
        ):
            return made
        with self.lock:
            if self.training is None or not self.live:
                return self.take(average, constraints).tagging
            made = LiveTagging(self.training, self.lock, average, copy.deepcopy(constraints))
            self._tagging = made
            return made

    def take(self, average: bool, constraints: Any) -> Trained:
        """The present weights, frozen, under these constraints."""
        trained = self.trained
        if self.moved or (self.live and trained is None):
            with self.lock:
                training = self.training
                if training is not None and (self.moved or self.trained is None):
                    weights = training.kept(average)
                    self.trained = Trained(
                        training.source,
                        weights,
                        training.labels,
                        constraints,
                        training.best_epoch,
                        training.scale,
                    )
                    self.moved = False
                trained = self.trained
        trained = self._fitted(trained)
        if constraints != trained.constraints:
            self.trained = trained = trained.under(constraints)
        return trained

    def learning(self) -> TrainingState | None:
        """The training state, with a feature source that nothing else reads; None if there is none.

        The caller holds the lock.
        """
        training = self.training
        if training is None or not self.is_fitted or self.is_mean:
            return None
        if self.trained is not None and self.trained.source is training.source:
            training.source = copy.deepcopy(training.source)
        training.weights.budget = None  # `memory` was for the training that is over
        return training

    def learner(self, key: tuple[Any, ...], make: Callable[[], ChainLearner]) -> ChainLearner:
        """The learner made for this key before, else a new one: online, making it would take longer
        than learning with it. The key ends with the constraints and the labels."""
        made = self._learner
        if made is None or made[0] != key:
            *rest, constraints, labels = key
            kept = (*rest, copy.deepcopy(constraints), list(labels))
            made = self._learner = kept, make()
        return made[1]

    def go_live(self, training: TrainingState) -> None:
        """Tag with the very weights of this training, as they move. The caller holds the lock."""
        self.training, self.live, self.is_mean = training, True, False
        self.trained, self.moved, self.resumed = None, False, False

    def end_learning(self) -> None:
        """Forget what learning would go on from; the caller has called `take`, and holds the
        lock."""
        self._missed = self.missed
        self.training, self.moved, self.live = None, False, False
        self._tagging = self._learner = None

    def set_aside(self) -> Learned:
        """The same, for going back to if what comes next fails."""
        aside = Learned()
        aside.__dict__.update(self.__dict__)
        return aside

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy tags; the training state stays behind. Whoever copies has called `take`.
        return Learned, (self.trained, self.seen_with)

    @staticmethod
    def _fitted(trained: Trained | None) -> Trained:
        if trained is None:
            raise not_trained("this SequenceTagger is not trained yet: call fit, or load a model")
        return trained
