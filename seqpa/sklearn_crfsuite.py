"""sklearn-crfsuite's estimator over a `SequenceTagger`: its scripts run with one import changed."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.base import BaseEstimator

from seqpa.errors import NotTrainedError, SeqpaError
from seqpa.sequence.tagger import SequenceTagger

# The trainers of CRFsuite that go through the sentences one by one, and ours; PA by its pa_type.
_ONLINE = {"ap": "perceptron", "arow": "arow"}
_PA_TYPES = ("pa", "pa-i", "pa-ii")
_BATCH = ("lbfgs", "l2sgd")


class CRF(BaseEstimator):
    """What `sklearn_crfsuite.CRF` takes, trained online.

    CRFsuite's online trainers have their twins here: `pa`, `ap` and `arow`. Its likelihood
    trainers, `lbfgs` (the default) and `l2sgd`, have none: in their place PA-I runs with the
    defaults of `SequenceTagger`, and a warning says that `c1`, `c2` and `max_iterations` had no
    effect. Every label and transition is always possible.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"} or None, default None
        The trainer; None is "lbfgs".
    min_freq : float or None, default None
        Attributes that occur less often are left out.
    all_possible_states : bool or None, default None
        Accepted, without effect.
    all_possible_transitions : bool or None, default None
        Accepted, without effect.
    c1 : float or None, default None
        Accepted, without effect.
    c2 : float or None, default None
        Accepted, without effect.
    max_iterations : int or None, default None
        Epochs of the online trainers; None is 10.
    num_memories : int or None, default None
        Accepted, without effect.
    epsilon : float or None, default None
        Accepted, without effect.
    period : int or None, default None
        Accepted, without effect.
    delta : float or None, default None
        Accepted, without effect.
    linesearch : str or None, default None
        Accepted, without effect.
    max_linesearch : int or None, default None
        Accepted, without effect.
    calibration_eta : float or None, default None
        Accepted, without effect.
    calibration_rate : float or None, default None
        Accepted, without effect.
    calibration_samples : int or None, default None
        Accepted, without effect.
    calibration_candidates : int or None, default None
        Accepted, without effect.
    calibration_max_trials : int or None, default None
        Accepted, without effect.
    pa_type : {0, 1, 2} or None, default None
        With "pa": PA, PA-I or PA-II; None is PA-I.
    c : float or None, default None
        With "pa": the aggressiveness C; None is 1.
    error_sensitive : bool or None, default None
        With "pa": False makes the cost of a sentence zero-one instead of its wrong labels.
    averaging : bool or None, default None
        With "pa": False predicts with the last weights instead of their mean.
    variance : float or None, default None
        Accepted, without effect.
    gamma : float or None, default None
        With "arow": the regularisation r = 1/2C.
    verbose : bool, default False
        Print a line for each epoch.
    model_filename : str or None, default None
        `fit` also writes the model there, in seqpa's own format, and a new CRF with that name tags
        with it.
    keep_tempfiles : bool, default False
        Accepted, without effect.
    trainer_cls : object, default None
        Accepted, without effect.
    random_state : int, RandomState or None, default None
        Seed of the orders of the sentences.

    Attributes
    ----------
    tagger_ : SequenceTagger
        What was trained.

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
        random_state: Any = None,
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

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> CRF:
        """Train.

        Parameters
        ----------
        X : list of sentences
            Lists of dicts, or of lists of feature strings.
        y : list of lists of str
            The labels of each sentence.
        X_dev : list of sentences or None, default None
            With these, the epoch that is best on them is kept.
        y_dev : list of lists of str or None, default None
            Their labels.

        Returns
        -------
        CRF
            Itself.
        """
        tagger = self._tagger()
        for epoch in tagger.training(X, y, None if X_dev is None else (X_dev, y_dev)):
            if self.verbose:
                print(f"epoch {epoch.number}: loss {epoch.loss:.4f}", flush=True)
        self.tagger_ = tagger
        if self.model_filename is not None:
            tagger.save(self.model_filename)
        return self

    def _tagger(self) -> SequenceTagger:
        """The tagger that these parameters ask for."""
        algorithm = "lbfgs" if self.algorithm is None else self.algorithm
        shared = {
            "features": None,
            "cutoff": max(1, math.ceil(self.min_freq or 0)),
            "random_state": self.random_state,
        }
        if algorithm in _BATCH:
            warnings.warn(
                f"seqpa has no algorithm {algorithm!r}: it trains with 'pa-i' and its own defaults "
                f"instead, and c1, c2 and max_iterations have no effect",
                stacklevel=3,
            )
            return SequenceTagger(**shared)
        shared["epochs"] = 10 if self.max_iterations is None else self.max_iterations
        if algorithm in _ONLINE:
            gamma = 1.0 if self.gamma is None else self.gamma
            return SequenceTagger(algorithm=_ONLINE[algorithm], C=0.5 / gamma, **shared)
        pa_type = 1 if self.pa_type is None else self.pa_type
        if algorithm != "pa" or pa_type not in range(len(_PA_TYPES)):
            raise SeqpaError(
                f"algorithm {algorithm!r} with pa_type {pa_type!r} is unknown: choose "
                f"{', '.join((*_BATCH, *_ONLINE))}, or pa with pa_type 0, 1 or 2"
            )
        return SequenceTagger(
            algorithm=_PA_TYPES[pa_type],
            C=1.0 if self.c is None else self.c,
            cost="zero-one" if self.error_sensitive is False else "hamming",
            average=self.averaging is not False,
            **shared,
        )

    @property
    def _trained(self) -> SequenceTagger:
        if not hasattr(self, "tagger_"):
            if self.model_filename is not None and Path(self.model_filename).exists():
                self.tagger_ = SequenceTagger.load(self.model_filename)
                return self.tagger_
            raise NotTrainedError("this CRF is not trained yet: call fit")
        return self.tagger_

    def predict(self, X: Any) -> list[list[str]]:
        """The labels of each sentence.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.

        Returns
        -------
        list of lists of str
            The labels.
        """
        return self._trained.predict(X)

    def predict_single(self, xseq: Any) -> list[str]:
        """The labels of one sentence.

        Parameters
        ----------
        xseq : sentence
            Dicts, or lists of feature strings.

        Returns
        -------
        list of str
            The labels.
        """
        return self.predict([xseq])[0]

    def predict_marginals(self, X: Any) -> list[list[dict[str, float]]]:
        """For each token of each sentence how probable each label is.

        As good as their scale: with `X_dev` and `y_dev` `fit` fits it, else call
        ``crf.tagger_.calibrate(X, y)``.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.

        Returns
        -------
        list of lists of {label: probability}
        """
        return self._trained.predict_marginals(X)

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """The same for one sentence.

        Parameters
        ----------
        xseq : sentence
            Dicts, or lists of feature strings.

        Returns
        -------
        list of {label: probability}
        """
        return self.predict_marginals([xseq])[0]

    def score(self, X: Any, y: Any) -> float:
        """The share of tokens that get the right label.

        Parameters
        ----------
        X : list of sentences
            As in `fit`.
        y : list of lists of str
            The right labels.

        Returns
        -------
        float
            The accuracy.
        """
        return self._trained.score(X, y)

    @property
    def classes_(self) -> list[str]:
        """The labels."""
        return self._trained.classes_

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """(attribute, label) -> weight."""
        return self._trained.state_features_

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """(label, next label) -> weight."""
        return self._trained.transition_features_

    @property
    def size_(self) -> int:
        """How many bytes the model file has, or would have."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            self._trained.save(path)
            return path.stat().st_size

    @property
    def num_attributes_(self) -> int:
        """How many attributes have a weight."""
        return len(self.attributes_)

    @property
    def attributes_(self) -> list[str]:
        """The attributes that have a weight."""
        return list(dict.fromkeys(attribute for attribute, _ in self.state_features_))
