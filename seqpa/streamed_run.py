"""``seqpa train`` with ``learner.memory``: text that need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from seqpa.config import Config
from seqpa.config.build import data_files, data_name, read_part_chunks
from seqpa.data import Corpus
from seqpa.errors import SeqpaError
from seqpa.sequence.encode import FeatureEncoder
from seqpa.training_run import TrainingOutcome, TrainingRun


def run_of(
    config: Config, *, resume: bool = False, force: bool = False, with_certificate: bool = False
) -> TrainingRun:
    """The training that a configuration describes: in memory, or within ``learner.memory``.

    Parameters
    ----------
    config : Config
        Without a section ``cluster``.
    resume, force, with_certificate : bool
        As for `TrainingRun`.

    Returns
    -------
    TrainingRun
    """
    kind = TrainingRun if config.learner.memory is None else StreamedRun
    return kind(config, resume=resume, force=force, with_certificate=with_certificate)


@dataclass(frozen=True)
class TrainingFiles:
    """The training text of a configuration, piece by piece.

    Parameters
    ----------
    config : Config
        Any configuration.
    begun : iterator of Corpus, optional
        The text, where it can be read only once and somebody has begun.
    """

    config: Config
    begun: Iterator[Corpus] | None = None

    def chunks(self) -> Iterator[Corpus]:
        """The text from its beginning.

        Yields
        ------
        Corpus
        """
        chunks = read_part_chunks(self.config, "train") if self.begun is None else self.begun
        yield from chunks


class StreamedRun(TrainingRun):
    """A training whose text is read piece by piece.

    Parameters
    ----------
    config : Config
        With ``learner.memory``.
    resume, force, with_certificate : bool
        As for `TrainingRun`.
    """

    _begun: Iterator[Corpus] | None = None

    def __init__(
        self,
        config: Config,
        *,
        resume: bool = False,
        force: bool = False,
        with_certificate: bool = False,
    ) -> None:
        if with_certificate:
            raise SeqpaError(
                "the loss bounds need all sentences at hand: leave out --certificate, or "
                "learner.memory"
            )
        super().__init__(config, resume=resume, force=force)

    def _read_training_text(self) -> Corpus:
        """Nothing but the columns: the rest is read when training begins."""
        chunks = read_part_chunks(self.config, "train")
        first = next(chunks, None)
        if first is None:
            raise SeqpaError(f"{data_name(self.config, 'train')}: has no sentence")
        if data_files(self.config, "train") == ["-"]:  # what was read comes no second time
            self._begun = chain([first], chunks)
        return Corpus(first.names, [[] for _ in first.names], np.zeros(0, np.int64))

    def _training_text(self) -> TrainingFiles:
        return TrainingFiles(self.config, self._begun)

    def _finished(self) -> TrainingOutcome:
        self._save_the_last()
        self.tagger.end_learning()  # what has been learned is all that is needed from here on
        return super()._finished()

    def _training_words(self) -> set[str]:
        encoder = self.tagger.trained_.source.encoder
        return set(encoder.word_columns[0].words) if isinstance(encoder, FeatureEncoder) else set()

    def told_of_text(self) -> str:
        """What the model learns from, in a line.

        Returns
        -------
        str
        """
        return (
            f"training on {data_name(self.config, 'train')} in {self.config.learner.memory} of "
            f"memory"
        )
