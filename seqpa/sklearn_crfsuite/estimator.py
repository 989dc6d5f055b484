"""`CRF` with sklearn-crfsuite's arguments, methods and attributes, trained online."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from seqpa.errors import NotTrainedError, SeqpaError
from seqpa.model import save_model
from seqpa.pycrfsuite import Tagger, Trainer, TrainLogParser
from seqpa.pycrfsuite.items import as_items
from seqpa.sequence.tagger import SequenceTagger
from seqpa.sequence.trained import Trained
from seqpa.sklearn_crfsuite.metrics import flat_accuracy_score
from seqpa.sklearn_crfsuite.trainer import LinePerIterationTrainer

# Our names -> CRFsuite's.
_NAMES = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
    "c1": "c1",
    "c2": "c2",
    "max_iterations": "max_iterations",
    "num_memories": "num_memories",
    "epsilon": "epsilon",
    "period": "period",
    "delta": "delta",
    "linesearch": "linesearch",
    "max_linesearch": "max_linesearch",
    "calibration_eta": "calibration.eta",
    "calibration_rate": "calibration.rate",
    "calibration_samples": "calibration.samples",
    "calibration_candidates": "calibration.candidates",
    "calibration_max_trials": "calibration.max_trials",
    "pa_type": "type",
    "c": "c",
    "error_sensitive": "error_sensitive",
    "averaging": "averaging",
    "variance": "variance",
    "gamma": "gamma",
}


@dataclass
class ModelName:
    """The name of the model file.

    Parameters
    ----------
    name : str or None
        None where the model is in memory alone.
    """

    name: str | None


class CRF(BaseEstimator):
    """What `sklearn_crfsuite.CRF` takes, trained online.

    CRFsuite's online trainers have their twins here: `pa`, `ap` and `arow`. Its likelihood
    trainers, `lbfgs` (the default) and `l2sgd`, have none: in their place PA-I runs with
    loss-augmented updates, and `c1` and `c2` set its C, so that a search over them acts. A warning
    says so, once.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"} or None, default None
        The trainer; None is "lbfgs".
    min_freq : float or None, default None
        Attributes that occur less often are left out.
    all_possible_states : bool or None, default None
        Always so here.
    all_possible_transitions : bool or None, default None
        Always so here.
    c1 : float or None, default None
        With "lbfgs": sets C together with `c2`; see `seqpa.pycrfsuite.parameters`.
    c2 : float or None, default None
        With "lbfgs" and "l2sgd": sets C. Strong regularisation makes small steps.
    max_iterations : int or None, default None
        Epochs at most; None is 100, and 30 in place of "lbfgs" and "l2sgd".
    num_memories : int or None, default None
        Without effect; a warning says so.
    epsilon : float or None, default None
        Training ends when the mean loss of an epoch is below this.
    period : int or None, default None
        With "lbfgs" and "l2sgd": over so many epochs the loss must improve,
    delta : float or None, default None
        by more than this share of it, or training ends.
    linesearch : str or None, default None
        Without effect; a warning says so.
    max_linesearch : int or None, default None
        Without effect; a warning says so.
    calibration_eta : float or None, default None
        Without effect; a warning says so.
    calibration_rate : float or None, default None
        Without effect; a warning says so.
    calibration_samples : int or None, default None
        Without effect; a warning says so.
    calibration_candidates : int or None, default None
        Without effect; a warning says so.
    calibration_max_trials : int or None, default None
        Without effect; a warning says so.
    pa_type : {0, 1, 2} or None, default None
        With "pa": PA, PA-I or PA-II; None is PA-I.
    c : float or None, default None
        With "pa": the aggressiveness C; None is 1.
    error_sensitive : bool or None, default None
        With "pa": False makes the cost of a sentence zero-one instead of its wrong labels.
    averaging : bool or None, default None
        With "pa": False predicts with the last weights instead of their mean.
    variance : float or None, default None
        With "arow": the first variance v of every weight.
    gamma : float or None, default None
        With "arow": the regularisation r; C = v/2r.
    verbose : bool, default False
        Print a line for each epoch, and how well the dev set is tagged.
    model_filename : str or None, default None
        `fit` also writes the model there, in seqpa's own format, and a new CRF with that name tags
        with it.
    keep_tempfiles : bool, default False
        Without effect: there are no temporary files.
    trainer_cls : type or None, default None
        A subclass of `seqpa.pycrfsuite.Trainer`, for its methods on_iteration and the like.
    random_state : int, RandomState or None, default 0
        Seed of the orders of the sentences.

    Attributes
    ----------
    tagger_ : seqpa.pycrfsuite.Tagger or None
        Tags with what was trained; None before. `seqpa.SequenceTagger.load` reads the model that
        `save` or `model_filename` wrote.
    training_log_ : seqpa.pycrfsuite.TrainLogParser or None
        What the log of the training told, iteration by iteration.
    modelfile : ModelName
        Its `name` is that of the model file, or None.
    classes_, state_features_, transition_features_, attributes_, num_attributes_, size_
        What the model has: labels, weights, attributes, their number, bytes; None before `fit`.

    Examples
    --------
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "dog"}]]
    >>> crf = CRF(algorithm="pa", c=0.1, max_iterations=5, random_state=1)
    >>> crf.fit(X, [["D", "N"], ["D", "N"]]).predict_single([{"word": "a"}, {"word": "dog"}])
    ['D', 'N']
    """

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls
        self.random_state = random_state
        self.training_log_: TrainLogParser | None = None
        self._tagger: Tagger | None = None

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> CRF:
        """Train.

        Parameters
        ----------
        X : iterable of sequences
            Of dicts, or of collections of feature strings.
        y : iterable of iterables of str
            The labels of each.
        X_dev : iterable of sequences or None, default None
            With these, the epoch that is best on them is kept.
        y_dev : iterable of iterables of str or None, default None
            Their labels.

        Returns
        -------
        CRF
            Itself.
        """
        if (X_dev is None) != (y_dev is None):
            raise SeqpaError("Pass both X_dev and y_dev to use the holdout data")
        trainer = self._trainer()
        for group, (sequences, labels) in enumerate(((X, y), (X_dev, y_dev))):
            if sequences is not None:
                for xseq, yseq in _pairs(sequences, labels):
                    trainer.append(xseq, yseq, group)
        trainer.train(self.model_filename or "", holdout=-1 if X_dev is None else 1)
        if not hasattr(trainer, "trained_"):
            raise SeqpaError("there is no token to learn from: every sequence is empty")
        self._tagger = Tagger.over(trainer.trained_)
        self.training_log_ = trainer.logparser
        return self

    def _trainer(self) -> Trainer:
        """The trainer that these parameters ask for."""
        kind = LinePerIterationTrainer if self.trainer_cls is None else self.trainer_cls
        if not (isinstance(kind, type) and issubclass(kind, Trainer)):
            raise SeqpaError(
                f"trainer_cls is {kind!r}: give a subclass of seqpa.pycrfsuite.Trainer"
            )
        given = {
            name: value
            for attribute, name in _NAMES.items()
            if (value := getattr(self, attribute)) is not None
        }
        trainer = kind(self.algorithm, given, bool(self.verbose))
        trainer.random_state = self.random_state
        return trainer

    @property
    def modelfile(self) -> ModelName:
        """The name of the model file."""
        return ModelName(self.model_filename)

    @property
    def tagger_(self) -> Tagger | None:
        """Tags with what was trained, or with the model file; None where there is neither."""
        if self._tagger is None and self.model_filename is not None:
            if not Path(self.model_filename).exists():
                return None
            self._tagger = Tagger()
            self._tagger.open(self.model_filename)
        return self._tagger

    @property
    def _trained(self) -> Trained:
        tagger = self.tagger_
        if tagger is None:
            raise NotTrainedError("this CRF is not trained yet: call fit")
        return tagger.trained

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels of each sequence.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`.

        Returns
        -------
        array of lists of str
            The labels.
        """
        found = self._trained.tagging.predict([as_items(xseq) for xseq in X])
        return np.array(found, dtype=object)

    def predict_single(self, xseq: Any) -> list[str]:
        """The labels of one sequence.

        Parameters
        ----------
        xseq : sequence
            Dicts, or collections of feature strings.

        Returns
        -------
        list of str
            The labels.
        """
        return self._trained.tagging.predict([as_items(xseq)])[0]

    def predict_marginals(self, X: Any) -> NDArray[Any]:
        """How probable each label is at each token.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`.

        Returns
        -------
        array of lists of dicts
            Label -> probability, for each token.
        """
        return np.array(self._marginals([as_items(xseq) for xseq in X]), dtype=object)

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """How probable each label is at each token of one sequence.

        Parameters
        ----------
        xseq : sequence
            Dicts, or collections of feature strings.

        Returns
        -------
        list of dicts
            Label -> probability, for each token.
        """
        return self._marginals([as_items(xseq)])[0]

    def _marginals(self, items: list[list[Any]]) -> list[list[dict[str, float]]]:
        labels = self._trained.labels
        tagger = Tagger.over(self._trained)
        return [
            [dict(zip(labels, token, strict=True)) for token in found.tolist()]
            for found in tagger.marginals(items)
        ]

    def score(self, X: Any, y: Any) -> float:
        """The share of tokens that get the right label.

        Parameters
        ----------
        X : iterable of sequences
            As in `fit`.
        y : iterable of iterables of str
            The right labels.

        Returns
        -------
        float
            The accuracy.
        """
        return flat_accuracy_score(y, self.predict(X))

    def save(self, path: str | Path) -> None:
        """Write the model file, which ``seqpa`` and `SequenceTagger.load` read.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        save_model(Path(path), self._trained, SequenceTagger(features=None).get_params())

    @property
    def classes_(self) -> list[str] | None:
        """The labels."""
        return None if self.tagger_ is None else self.tagger_.labels()

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """(attribute, label) -> weight."""
        return None if self.tagger_ is None else self._trained.state_features()

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """(label, next label) -> weight."""
        return None if self.tagger_ is None else self._trained.transition_features()

    @property
    def size_(self) -> int | None:
        """How many bytes the model file has, or would have."""
        if self.tagger_ is None:
            return None
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            self.save(path)
            return path.stat().st_size

    @property
    def num_attributes_(self) -> int | None:
        """How many attributes have a weight."""
        return None if self.tagger_ is None else int(self._trained.weights.nonzero().sum())

    @property
    def attributes_(self) -> list[str] | None:
        """The attributes that have a weight."""
        if self.tagger_ is None:
            return None
        names = self._trained.source.encoder.feature_names()
        return list(compress(names, self._trained.weights.nonzero().tolist()))

    def __sklearn_is_fitted__(self) -> bool:
        return self.tagger_ is not None


def _pairs(X: Any, y: Any) -> list[tuple[Any, Any]]:
    X, y = list(X), list(y)
    if len(X) != len(y):
        raise SeqpaError(f"X has {len(X)} sequences, y has {len(y)}")
    return list(zip(X, y, strict=True))
