"""One trial: a training that ends early where it falls behind. A pure task, for any process."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock
from typing import Any

from seqpa.config import Config
from seqpa.config.build import read_part
from seqpa.data import Corpus
from seqpa.errors import SeqpaError
from seqpa.sequence.tagger import SequenceTagger
from seqpa.training_run import tagger_of

_READ: dict[str, tuple[Corpus, Corpus]] = {}  # one text in each process
_READING = Lock()


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What came of a trial.

    Attributes
    ----------
    scores : list of float
        On the dev set, after each epoch.
    metric : str
        What they are: F1 or accuracy.
    pruned : bool
        Whether it was ended early.
    seconds : float
    error : str or None
        Why it could not be made.
    """

    scores: list[float]
    metric: str
    pruned: bool
    seconds: float
    error: str | None = None

    @property
    def best(self) -> float:
        """The best score; its epoch would be kept."""
        return max(self.scores, default=0.0)


def run_trial(config: Config, floors: list[float | None]) -> TrialResult:
    """Train as a configuration says, and score each epoch on the dev set.

    Parameters
    ----------
    config : Config
        With a dev set.
    floors : list of float or None
        By epoch: below it a trial is ended. None, or no entry: it goes on.

    Returns
    -------
    TrialResult
    """
    begun = time.perf_counter()
    train, dev = corpora_of(config)
    scores: list[float] = []
    metric, pruned, error = "", False, None
    try:
        tagger, text = trainer(config, train)
        for epoch in tagger.training(text, dev=dev):
            scores.append(float(epoch.dev_score or 0.0))
            metric = epoch.dev_metric
            floor = floors[len(scores) - 1] if len(scores) <= len(floors) else None
            if floor is not None and max(scores) < floor and not tagger.training_is_over:
                pruned = True
                break
    except SeqpaError as failed:
        error = str(failed)
    return TrialResult(scores, metric, pruned, time.perf_counter() - begun, error)


def trainer(config: Config, train: Corpus) -> tuple[SequenceTagger, Any]:
    """Who trains as ``seqpa train`` would, and on what; nobody looks at probabilities here.

    Parameters
    ----------
    config : Config
        With a section ``cluster`` its shards are trained here, one after another.
    train : Corpus
        The training text.

    Returns
    -------
    tagger, text
        Untrained, and what its `training` is given.
    """
    text: Any = train
    if config.cluster is None:
        tagger = tagger_of(config, train.names)
    else:
        from seqpa.cluster.executors import Inline
        from seqpa.cluster.run import cluster_tagger_of, files_of

        tagger = cluster_tagger_of(config, Inline(), train.names)
        text = files_of(config)
    tagger.calibration = "none"
    return tagger, text


def corpora_of(config: Config) -> tuple[Corpus, Corpus]:
    """The training and the dev text, which a process reads once.

    Parameters
    ----------
    config : Config

    Returns
    -------
    train, dev : Corpus
    """
    key = f"{config.file} {config.data.model_dump_json()} {config.decoding.model_dump_json()}"
    with _READING:
        if key not in _READ:
            _READ.clear()
            _READ[key] = read_part(config, "train"), read_part(config, "dev")
        return _READ[key]
