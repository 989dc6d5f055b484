"""Learning online as ``seqpa train --online`` does it: one pass over a file or a stream.

Every sentence is tagged before it is learned from, so that the scores on the way are honest: no
sentence was known when it was tagged. Nothing is read ahead and nothing is kept but the model, so
the text may be larger than memory, and standard input may never end.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> _ = (folder / "a.conll").write_text("the D\\nsaw N\\n\\nshe P\\nsaw V\\nit P\\n\\n" * 20)
>>> config = Config.model_validate({
...     "data": {"train": str(folder / "a.conll")},
...     "features": {"templates": ["word[0]", "word[-1]"]},
...     "output": {"model": str(folder / "a.safetensors")},
... })
>>> run = OnlineRun(config)
>>> [(part.sentences, part.recent_wrong) for part in run.parts(every=10)]
[(10, 6), (20, 0), (30, 0), (40, 0)]
>>> run.finish().model.name
'a.safetensors'
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from seqpa.config import Config
from seqpa.config.build import data_name, read_part, read_part_chunks
from seqpa.data import Corpus
from seqpa.errors import SeqpaError
from seqpa.evaluate import Evaluation
from seqpa.model import save_model
from seqpa.schemes import marks_spans
from seqpa.sequence.learner import Lesson
from seqpa.sequence.tagger import SequenceTagger
from seqpa.training_outputs import HISTORY_KEYS, METRICS_KEYS, Outputs, told_config
from seqpa.training_run import score, tagger_of, write_json

EVERY = 1000  # so many sentences make a part,
SAVE_EVERY = 10_000  # and after so many the model is written


@dataclass(frozen=True, slots=True)
class Progress:
    """What was seen so far, each sentence tagged before it was learned from.

    Attributes
    ----------
    sentences : int
    labels : int
        How many labels were given: all, where none is missing.
    wrong : int
        How many of these were predicted wrongly.
    wrong_sentences : int
    cost, loss : float
        Σ ρ(y, ŷ) and Σ ℓ (PA 2006, Eq. 45).
    recent_labels, recent_wrong : int
        The same of the last part alone.
    seconds : float

    Examples
    --------
    >>> Progress(labels=200, wrong=30, recent_labels=50, recent_wrong=2).accuracy
    0.85
    """

    sentences: int = 0
    labels: int = 0
    wrong: int = 0
    wrong_sentences: int = 0
    cost: float = 0.0
    loss: float = 0.0
    recent_labels: int = 0
    recent_wrong: int = 0
    seconds: float = 0.0

    @property
    def accuracy(self) -> float:
        """The share of labels that were predicted rightly, since the beginning."""
        return 1.0 - self.wrong / max(self.labels, 1)

    @property
    def recent_accuracy(self) -> float:
        """The same of the last part."""
        return 1.0 - self.recent_wrong / max(self.recent_labels, 1)

    def plus(self, labels: int, lesson: Lesson | None) -> Progress:
        """With one sentence more; no lesson where none of its labels was given."""
        wrong = 0 if lesson is None else lesson.wrong_tokens
        return replace(
            self,
            sentences=self.sentences + 1,
            labels=self.labels + labels,
            wrong=self.wrong + wrong,
            wrong_sentences=self.wrong_sentences + (wrong > 0),
            cost=self.cost + (0.0 if lesson is None else lesson.cost),
            loss=self.loss + (0.0 if lesson is None else lesson.loss),
            recent_labels=self.recent_labels + labels,
            recent_wrong=self.recent_wrong + wrong,
        )


@dataclass(frozen=True, slots=True)
class OnlineOutcome:
    """What the pass ends with.

    Attributes
    ----------
    model : Path
        The model file.
    progress : Progress
        Of the whole pass.
    dev, test : Evaluation or None
        The scores of the model, where there are such data.
    """

    model: Path
    progress: Progress
    dev: Evaluation | None
    test: Evaluation | None


class OnlineRun:
    """One pass: make it, go through `parts`, then `finish`, which may come early.

    Parameters
    ----------
    config : Config
        What is trained, on what, and what is written. Keys that only several epochs need (epochs,
        patience, shuffle) are not looked at; ``data.train`` may be ``-``, standard input.
    force : bool
        Replace what another training left.

    Attributes
    ----------
    notes : list of str
        What a user should know before it begins: which model will be replaced.
    """

    def __init__(self, config: Config, *, force: bool = False) -> None:
        self.config = config
        for name in ("stages", "seeds"):
            number = getattr(config.learner, name)
            if number > 1:
                raise SeqpaError(
                    f"{config.place('learner', name)}learner.{name} is {number}: in one pass "
                    f"(--online) it can only be 1"
                )
        if config.learner.memory is not None:
            raise SeqpaError(
                f"{config.place('learner', 'memory')}learner.memory is "
                f"{config.learner.memory!r}: leave it out, since one pass (--online) keeps no text"
            )
        self.outputs = Outputs(config)
        self.progress = Progress()
        self.history: list[Progress] = []
        self.tagger: SequenceTagger | None = None
        self._words: set[str] = set()
        self._begun = time.perf_counter()
        self.notes = self.outputs.take(False, force)
        try:
            self.dev = None if config.data.dev is None else read_part(config, "dev")
            self.test = None if config.data.test is None else read_part(config, "test")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let other processes write the outputs; `finish` does it too."""
        self.outputs.release()

    def parts(self, every: int = EVERY) -> Iterator[Progress]:
        """Learn, and tell of every so many sentences, and of what is left at the end.

        Yields
        ------
        Progress
        """
        for corpus in read_part_chunks(self.config, "train"):
            if self.tagger is None and len(corpus):
                self.tagger = self._new_tagger(corpus)
            self._words.update(corpus.columns[0])
            weights = [1.0] * len(corpus) if corpus.weights is None else corpus.weights.tolist()
            for tokens, own, weight in zip(corpus.X, corpus.y, weights, strict=True):
                given = sum(label is not None for label in own)
                lesson = self._lesson(tokens, own, given, weight)
                self.progress = self.progress.plus(given, lesson)
                if self.progress.sentences % every == 0:
                    yield self._told()
                if self.progress.sentences % SAVE_EVERY == 0:
                    self._save()
        if self.progress.sentences % every:
            yield self._told()

    def finish(self) -> OnlineOutcome:
        """Write the model, the history and the metrics; score it on the dev and test data.

        Returns
        -------
        OnlineOutcome
        """
        try:
            return self._finished()
        finally:
            self.close()

    def _new_tagger(self, corpus: Corpus) -> SequenceTagger:
        tagger = tagger_of(self.config, corpus.names)
        if tagger.features == "auto":  # the first sentence alone might have no span
            tagger.features = (
                "ner" if marks_spans([label for label in corpus.labels or () if label]) else "pos"
            )
        return tagger

    def _lesson(self, tokens: Any, labels: Any, given: int, weight: float) -> Lesson | None:
        """Learn from a sentence; None where no label is given, or it weighs nothing."""
        if not given or not weight or self.tagger is None:
            return None
        try:
            return self.tagger.learn_one(tokens, labels, weight)
        except SeqpaError as error:
            text = str(error).removeprefix("sentence 1")
            raise SeqpaError(
                f"{data_name(self.config, 'train')}: sentence {self.progress.sentences + 1}"
                f"{text if text != str(error) else f': {error}'}"
            ) from None

    def _told(self) -> Progress:
        told = replace(self.progress, seconds=time.perf_counter() - self._begun)
        self.progress = replace(self.progress, recent_labels=0, recent_wrong=0)
        self.history.append(told)
        return told

    def _fitted(self) -> SequenceTagger:
        tagger = self.tagger
        if tagger is None or not tagger.__sklearn_is_fitted__():
            name = data_name(self.config, "train")
            raise SeqpaError(f"{name}: there is no label to learn from in it")
        return tagger

    def _save(self) -> None:
        tagger = self._fitted()
        save_model(
            self.outputs.model,
            tagger.trained_,
            tagger.get_params(),
            half=self.config.output.half,
            config=told_config(self.config),
            training_words=self._words,
        )

    def _finished(self) -> OnlineOutcome:
        tagger = self._fitted()
        if self.dev is not None:
            tagger.calibrate_by_dev(self.dev)
        self._save()
        dev, test = (
            None if corpus is None else score(tagger, corpus, self._words, tagger.cost)
            for corpus in (self.dev, self.test)
        )
        seconds = time.perf_counter() - self._begun
        scores = (None if found is None else found.to_dict() for found in (dev, test))
        epochs = [asdict(part) for part in self.history]
        told = (told_config(self.config), {"train": None, "dev": None}, epochs)
        write_json(self.outputs.history, dict(zip(HISTORY_KEYS, told, strict=True)))
        metrics = (0, 1, seconds, *scores)
        write_json(self.outputs.metrics, dict(zip(METRICS_KEYS, metrics, strict=True)))
        return OnlineOutcome(self.outputs.model, self.progress, dev, test)
