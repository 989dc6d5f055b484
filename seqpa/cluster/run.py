"""Training as ``seqpa train --dask`` does it: the workers read the files and train, the client
keeps checkpoints, scores and writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from seqpa.cluster.executors import Executor, Inline, OnDask, connected
from seqpa.cluster.sources import Files
from seqpa.cluster.tagger import DaskSequenceTagger, training_words
from seqpa.config import Config
from seqpa.config.build import data_files, data_name, reading_of
from seqpa.config.schema import ClusterSettings
from seqpa.data import Corpus, read_chunks
from seqpa.data.remote import is_address
from seqpa.errors import SeqpaError
from seqpa.sequence.learner import Epoch, Progress
from seqpa.sequence.tagger import SequenceTagger
from seqpa.training_notes import notes_on_test
from seqpa.training_run import TrainingRun, check_together, tagger_of


def with_cluster(config: Config) -> Config:
    """A configuration that says how a cluster shares the work, by the defaults if it did not."""
    if config.cluster is not None:
        return config
    return config.model_copy(update={"cluster": ClusterSettings()})


RESUME = "--resume goes on from the last round"


@contextmanager
def executor_at(dask: str | None, timeout: float, again: str = RESUME) -> Iterator[Executor]:
    """Who trains: the cluster at an address, or this process.

    Parameters
    ----------
    dask : str or None
        As for `seqpa.cluster.executors.connected`.
    timeout : float
        Seconds.
    again : str
        How work that was given up goes on.
    """
    if dask is None:
        yield Inline()
        return
    with connected(dask, timeout) as client:
        yield OnDask(client, None, timeout, again)


def columns_of_file(name: str, reading: dict[str, Any]) -> tuple[str, ...]:
    """The columns of a file, where the task runs."""
    for corpus in read_chunks(name, **reading):
        return corpus.names
    raise SeqpaError(f"{name}: has no sentence")


def files_of(config: Config) -> Files:
    """The training files that a configuration names, as workers find them.

    Parameters
    ----------
    config : Config

    Returns
    -------
    Files
    """
    names = data_files(config, "train")
    if names == ["-"]:
        raise SeqpaError("workers cannot read standard input: name files in data.train")
    is_file = config.data.format != "nltk"
    paths = [
        str(Path(name).absolute()) if is_file and not is_address(name) else name for name in names
    ]
    return Files(paths, reading_of(config, "train"), config.data.unlabelled)


def cluster_tagger_of(
    config: Config, executor: Executor, columns: tuple[str, ...]
) -> DaskSequenceTagger:
    """The untrained tagger that a configuration with a section ``cluster`` describes.

    Parameters
    ----------
    config : Config
    executor : Executor
        Who runs the tasks.
    columns : tuple of str
        The input columns of the data, the word first.

    Returns
    -------
    DaskSequenceTagger
    """
    settings = config.cluster or ClusterSettings()
    tagger = DaskSequenceTagger(
        executor,
        shards=settings.shards,
        mixing=settings.mixing,
        deal=settings.deal,
        keep=settings.keep,
        timeout=settings.timeout,
        **tagger_of(config, columns).get_params(),
    )
    check_together(tagger, config)
    return tagger


class ClusterRun(TrainingRun):
    """A training whose text is read and learned by the workers of a cluster.

    Parameters
    ----------
    config : Config
        With a section ``cluster``.
    executor : Executor
        Who runs the tasks.
    resume, force, with_certificate : bool
        As for `TrainingRun`.
    """

    def __init__(
        self,
        config: Config,
        executor: Executor,
        *,
        resume: bool = False,
        force: bool = False,
        with_certificate: bool = False,
    ) -> None:
        if with_certificate:
            raise SeqpaError(
                "the loss bounds hold for one learner, not for a mixture of several: leave out "
                "--certificate, or the section cluster"
            )
        self._executor = executor
        self._files = files_of(config)
        super().__init__(config, resume=resume, force=force)

    def _read_training_text(self) -> Corpus:
        """Nothing but the columns: the workers read the rest."""
        self._executor.check()
        name, reading = self._files.names()[0], dict(self._files.reading)
        first = self._executor.submit(columns_of_file, name, reading)
        (names,) = self._executor.results([first])
        return Corpus(names, [[] for _ in names], np.zeros(0, np.int64), [])

    def _untrained(self) -> SequenceTagger:
        return cluster_tagger_of(self.config, self._executor, self.train.names)

    def _training_text(self) -> Files:
        return self._files

    def _told_labels(self) -> list[str]:
        return []  # which labels there are is known when the workers have read the text

    def _training(self, progress: Progress | None) -> Iterator[Epoch]:
        told = self.resumed
        for epoch in super()._training(progress):
            if not told and self.told is not None:
                for note in notes_on_test(self.tagger.classes_, self.test):
                    self.told(note)
            told = True
            yield epoch

    def _is_time_to_save(self) -> bool:
        return True  # a round is much work, and its traffic is not to be repeated

    def _training_words(self) -> set[str]:
        return training_words(self.tagger)

    def told_of_text(self) -> str:
        """What the model learns from, in a line."""
        shards = (self.config.cluster or ClusterSettings()).shards
        return (
            f"training on {data_name(self.config, 'train')} in {shards} shards, "
            f"{self._executor.slots()} at a time"
        )
