"""Training as ``seqpa train`` does it: a configuration in; a model, its history and metrics out.

>>> import tempfile
>>> from seqpa.config import Config
>>> folder = Path(tempfile.mkdtemp())
>>> _ = (folder / "a.conll").write_text("the D\\nsaw N\\n\\nshe P\\nsaw V\\nit P\\n")
>>> config = Config.model_validate({
...     "data": {"train": str(folder / "a.conll")},
...     "features": {"templates": ["word[0]", "word[-1]"]},
...     "learner": {"epochs": 3},
...     "output": {"model": str(folder / "a.safetensors")},
... })
>>> run = TrainingRun(config)
>>> [(epoch.number, epoch.wrong_tokens) for epoch in run.epochs()]
[(1, 4), (2, 2), (3, 2)]
>>> run.finish().model.name
'a.safetensors'
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from seqpa.config import Config
from seqpa.config.build import (
    columns_of,
    constraints_of,
    cost_of,
    data_name,
    features_of,
    place_of_sentence,
    place_of_setting,
    read_part,
    resources_of,
    taggers_of,
)
from seqpa.data import Corpus
from seqpa.data.labels import labelled_tokens
from seqpa.errors import SeqpaError
from seqpa.evaluate import Evaluation, evaluate
from seqpa.files import write_atomically
from seqpa.model import save_model
from seqpa.sequence.chained import has_seen
from seqpa.sequence.costs import sequence_cost
from seqpa.sequence.folds import FOLDS
from seqpa.sequence.learner import Epoch, Progress
from seqpa.sequence.tagger import SequenceTagger
from seqpa.training_notes import notes_on, notes_on_test
from seqpa.training_outputs import (
    FREE,
    HISTORY_KEYS,
    METRICS_KEYS,
    Outputs,
    damaged,
    first_difference,
    leave_out,
    read_json,
    same_amounts,
    told_config,
)

if TYPE_CHECKING:
    from seqpa.sequence.bounds import Certificate

# The keys of a line of the history, each with the field of `Epoch` that it tells.
_HISTORY = {
    "epoch": "number",
    "sentences": "sentences",
    "tokens": "tokens",
    "mistakes": "wrong_tokens",
    "wrong_sentences": "wrong_sentences",
    "updates": "updates",
    "loss": "loss",
    "squared_loss": "squared_loss",
    "cost": "cost",
    "dev_score": "dev_score",
    "best": "best",
    "seconds": "seconds",
}
# An epoch has no checkpoint while training took less than so many times as long as the last one.
_EPOCHS_TO_SAVES = 9


@dataclass(frozen=True, slots=True)
class TrainingOutcome:
    """What training ends with.

    Parameters
    ----------
    model : Path
        The model file.
    best_epoch : int
        The epoch whose weights are in it.
    epochs : int
        How many epochs there were.
    dev, test : Evaluation or None
        The scores, where there are such data.
    certificate : Certificate or None
        The loss bounds, where they were asked for.
    """

    model: Path
    best_epoch: int
    epochs: int
    dev: Evaluation | None
    test: Evaluation | None
    certificate: Certificate | None


class TrainingRun:
    """One training: make it, go through `epochs`, then `finish`.

    A checkpoint is written beside the model, after each epoch unless these are so quick that it
    would take more than a tenth of the time; and when the epochs end or are ended. With `resume`
    the run goes on from it, to the same bytes as an unbroken run. `finish` may come early: the best
    epoch so far counts.

    Nothing of the user's is lost unasked: see `seqpa.training_outputs`. From its making to `finish`
    or `close`, a run keeps other processes from its outputs.

    Parameters
    ----------
    config : Config
        What is trained, on what, and what is written.
    resume : bool
        Go on from the checkpoint, if there is one.
    force : bool
        Replace what another training left.
    with_certificate : bool
        Also compute the loss bounds at the end.

    Attributes
    ----------
    notes : list of str
        What a user should know before the training begins: which model will be replaced, which
        columns other models predict, which lexicons are of no use, which labels are only in the
        test set.
    """

    def __init__(
        self,
        config: Config,
        *,
        resume: bool = False,
        force: bool = False,
        with_certificate: bool = False,
    ) -> None:
        self.config = config
        self.outputs = Outputs(config)
        self.model = self.outputs.model
        self.checkpoint = self.outputs.checkpoint
        self.history: list[Epoch] = []
        self.complete = False
        self._unsaved = False  # whether the last epoch is not in the checkpoint
        self._last_save = -math.inf, 0.0  # when, and how long it took
        self.told: Callable[[str], None] | None = None
        self._with_certificate = with_certificate
        if with_certificate:
            self._refuse_certificate(resume)
        self.notes = self.outputs.take(resume, force)
        try:
            self.train = self._read_training_text()
            self.dev = None if config.data.dev is None else read_part(config, "dev")
            self.test = None if config.data.test is None else read_part(config, "test")
            self.tagger = self._untrained()
            self.notes += self._told_columns()
            self.notes += notes_on(config, self.train.names)
            self.notes += self._told_labels()
            if with_certificate:
                from seqpa.sequence.bounds import check_covered

                check_covered(self.tagger)
                if None in (self.train.labels or ()):
                    raise SeqpaError(
                        f"a certificate needs all labels, and {data_name(config, 'train')} has "
                        "tokens without one"
                    )
            self.resumed = resume and self.checkpoint.exists()
            if self.resumed:
                self._load_checkpoint()
        except BaseException:
            self.close()
            raise

    # What a run on a cluster does otherwise

    def _told_labels(self) -> list[str]:
        return notes_on_test(self.train.labels, self.test)

    def _read_training_text(self) -> Corpus:
        return read_part(self.config, "train")

    def _untrained(self) -> SequenceTagger:
        return tagger_of(self.config, self.train.names)

    def _training_text(self) -> Any:
        """What `SequenceTagger.training` is given."""
        return self.train

    def _training_words(self) -> set[str]:
        return set(self.train.columns[0])

    def told_of_text(self) -> str:
        """What the model learns from, in a line.

        Returns
        -------
        str
        """
        labels = len({*(self.train.labels or ())} - {None})
        return (
            f"training on {len(self.train):,} sentences, {self.train.n_tokens:,} tokens, "
            f"{labels:,} labels"
        )

    def close(self) -> None:
        """Let other processes write the outputs; `finish` does it too."""
        self.outputs.release()

    def _told_columns(self) -> list[str]:
        """How each column that another model predicts comes about."""
        told = []
        for name, tagger in (self.tagger.taggers or {}).items():
            path = self.config.path("columns", name, "tagger")
            folds = self.config.columns[name].folds
            seen = has_seen(tagger.trained_, self.train)
            how = ", which did not learn from this text"
            if seen:
                how = ", which learned from this text too"
                how += f": jackknifed in {folds} folds" if folds else ", taken as it is (folds: 0)"
            told.append(f"the column {name} is predicted by {path}{how}")
        return told

    def epochs(self, progress: Progress | None = None) -> Iterator[Epoch]:
        """Train; after the last epoch `complete` is True.

        Parameters
        ----------
        progress : callable, optional
            Is told within an epoch how many sentences are done, and of how many.

        Yields
        ------
        Epoch
            A record of each epoch.
        """
        for epoch in self._training(progress):
            self.history.append(epoch)
            self.complete = self.tagger.training_is_over
            self._unsaved = True
            if self.complete or self._is_time_to_save():
                self._save_checkpoint()
            try:
                yield epoch
            except GeneratorExit:  # nobody asks for the next epoch: this one is kept
                with suppress(SeqpaError, OSError):  # which `finish` would meet again, and tell
                    self._save_the_last()
                raise
        self.complete = True

    def finish(self) -> TrainingOutcome:
        """Score and write the best epoch's model, the history and the metrics.

        The checkpoint goes when there is nothing left to resume.

        Returns
        -------
        TrainingOutcome
        """
        try:
            return self._finished()
        finally:
            self.close()

    def _finished(self) -> TrainingOutcome:
        self._save_the_last()
        # A training that was stopped has not come to it.
        if self.dev is not None and self.tagger.trained_.scale is None:
            self.tagger.calibrate_by_dev(self.dev)
        words = self._training_words()
        dev, test = (
            None if corpus is None else score(self.tagger, corpus, words, self.tagger.cost)
            for corpus in (self.dev, self.test)
        )
        certificate = None
        if self._with_certificate:
            from seqpa.sequence.bounds import certify

            certificate = certify(self.tagger, self.train, self.history)
        content = (
            self.tagger.n_iter_,
            len(self.history),
            sum(epoch.seconds for epoch in self.history),
            None if dev is None else dev.to_dict(),
            None if test is None else test.to_dict(),
        )
        metrics = dict(zip(METRICS_KEYS, content, strict=True))
        save_model(
            self.model,
            self.tagger.trained_,
            self.tagger.get_params(),
            half=self.config.output.half,
            config=told_config(self.config),
            training_words=words,
        )
        write_json(self.outputs.history, self._told())
        write_json(self.outputs.metrics, metrics)
        if self.complete:
            self.checkpoint.unlink(missing_ok=True)
            self.outputs.progress.unlink(missing_ok=True)
        return TrainingOutcome(
            self.model, self.tagger.n_iter_, len(self.history), dev, test, certificate
        )

    def _training(self, progress: Progress | None) -> Iterator[Epoch]:
        try:
            yield from self.tagger.training(
                self._training_text(),
                dev=self.dev,
                record=self._with_certificate,
                progress=progress,
                told=self.told,
            )
        except SeqpaError as error:
            told = str(error)
            if told.startswith("sentence "):  # only their number is known there
                told = place_of_sentence(self.config, "train", told)
            raise SeqpaError(place_of_setting(self.config, told)) from None

    def _refuse_certificate(self, resume: bool) -> None:
        kind = self.config.cost.kind
        if self.config.data.unlabelled is not None:
            raise SeqpaError("a certificate needs all labels: leave out data.unlabelled")
        if resume:
            raise SeqpaError("a certificate needs the whole run: leave out --resume")
        if kind == "python":
            raise SeqpaError(
                "a certificate needs the largest cost of each sentence, which is not known for "
                "the cost python; it is for hamming, zero-one, span, hierarchy and matrix"
            )

    # Checkpoints: first what was told so far, then the state. A kill in between leaves one line
    # too many, which the epoch that is trained again replaces.

    # Writing one takes longer than a quick epoch: it waits until it is a small part of the time.

    def _is_time_to_save(self) -> bool:
        when, seconds = self._last_save
        return perf_counter() - when >= _EPOCHS_TO_SAVES * seconds

    def _save_checkpoint(self) -> None:
        begun = perf_counter()
        write_json(self.outputs.progress, self._told())
        try:
            self.tagger.save_state(self.checkpoint)
        except (SeqpaError, OSError):
            if not self.checkpoint.exists():  # the disk is full: nothing is left of it
                self.outputs.progress.unlink(missing_ok=True)
            raise
        self._unsaved = False
        ended = perf_counter()
        self._last_save = ended, ended - begun

    def _save_the_last(self) -> None:
        """Keep the last epoch of a training that ends before its time."""
        if self._unsaved and not self.complete:
            self._save_checkpoint()

    def _load_checkpoint(self) -> None:
        told = read_json(self.outputs.progress)
        own = self._told()["config"]
        with suppress(KeyError, TypeError, AttributeError):
            same_amounts(told["config"]["learner"], own["learner"])
        if told.get("config") != own:
            changed = first_difference(told.get("config"), own)
            raise SeqpaError(
                f"{self.checkpoint}: was made with another configuration ({changed}): resume with "
                "the same, or train afresh with --force"
            )
        if told.get("data") != self._told()["data"]:
            raise SeqpaError(
                f"{self.checkpoint}: was made with other training or dev data: resume with the "
                "same, or train afresh with --force"
            )
        self.tagger.load_state(self.checkpoint)
        done = self.tagger.training_state_.epoch
        try:
            self.history = [_from_line(line) for line in told["epochs"]][:done]
        except (KeyError, TypeError):
            raise damaged(self.outputs.progress) from None
        if [epoch.number for epoch in self.history] != list(range(1, done + 1)):
            raise damaged(self.outputs.progress)
        if done > self.config.learner.epochs:
            raise SeqpaError(
                f"{self.checkpoint}: stands after epoch {done}, and learner.epochs is "
                f"{self.config.learner.epochs}: resume with {done} or more, or say --force without "
                "--resume to begin anew"
            )

    def _told(self) -> dict[str, Any]:
        if not hasattr(self, "_fingerprints"):
            parts = {"train": self.train, "dev": self.dev}
            self._fingerprints = {
                name: None if corpus is None else fingerprint(corpus)
                for name, corpus in parts.items()
            }
        config = self.config.model_dump(mode="json")
        leave_out(config, FREE)
        content = (config, self._fingerprints, [_line(epoch) for epoch in self.history])
        return dict(zip(HISTORY_KEYS, content, strict=True))


def tagger_of(config: Config, columns: tuple[str, ...]) -> SequenceTagger:
    """The untrained tagger that a configuration describes.

    Parameters
    ----------
    config : Config
        Any configuration.
    columns : tuple of str
        The input columns of the data, the word first.

    Returns
    -------
    SequenceTagger
    """
    learner = config.learner
    columns = columns_of(config, columns)
    tagger = SequenceTagger(
        features=features_of(config, columns),
        columns=columns,
        cost=cost_of(config),
        algorithm=learner.algorithm,
        C=learner.C,
        update=learner.update,
        epochs=learner.epochs,
        average=learner.average,
        constraints=constraints_of(config),
        random_state=learner.seed,
        n_jobs=learner.n_jobs,
        lookahead=learner.lookahead,
        cutoff=config.features.cutoff,
        n_best=learner.n_best,
        batch_size=learner.batch_size,
        patience=learner.patience,
        shuffle=learner.shuffle,
        resources=resources_of(config),
        taggers=taggers_of(config) or None,
        jackknife={name: column.folds for name, column in config.columns.items()} or FOLDS,
        calibration=learner.calibration,
        stages=learner.stages,
        seeds=learner.seeds,
        memory=learner.memory,
        memory_folder=(
            None if learner.memory_folder is None else config.path("learner", "memory_folder")
        ),
    )
    check_together(tagger, config)
    return tagger


def check_together(tagger: SequenceTagger, config: Config) -> None:
    """Raise a SeqpaError, with its line, where settings that are right alone do not go together.

    Parameters
    ----------
    tagger : SequenceTagger
        With these settings.
    config : Config
        Where they stand.
    """
    try:
        tagger.check_parameters()
    except SeqpaError as error:
        raise SeqpaError(place_of_setting(config, str(error))) from None


def score(
    tagger: SequenceTagger,
    corpus: Corpus,
    training_words: Collection[str] | None = None,
    cost: Any = None,
) -> Evaluation:
    """Tag a labelled corpus and compare.

    Parameters
    ----------
    tagger : SequenceTagger
        A trained one.
    corpus : Corpus
        With labels.
    training_words : collection of str, optional
        With these, seen and unseen words are counted apart.
    cost : object, optional
        As SequenceTagger takes it; without one, none is counted.

    Returns
    -------
    Evaluation
    """
    gold = corpus.y
    return evaluate_labels(tagger, corpus, gold, tagger.predict(corpus), training_words, cost)


def evaluate_labels(
    tagger: SequenceTagger,
    corpus: Corpus,
    gold: list[list[str]],
    predicted: list[list[str]],
    training_words: Collection[str] | None,
    cost: Any,
) -> Evaluation:
    """Compare given predictions.

    The cost also covers labels that are new to the tagger; tokens without a label are left out.

    Parameters
    ----------
    tagger : SequenceTagger
        Whose labels they are.
    corpus : Corpus
        The words.
    gold, predicted : lists of lists of str
        The labels of each sentence.
    training_words, cost : object
        As for `score`; None for none.

    Returns
    -------
    Evaluation
    """
    function = None
    if cost is not None:
        new = {label for label in corpus.labels or () if label} - set(tagger.classes_)
        function = sequence_cost(cost, [*tagger.classes_, *sorted(new)])
    words = corpus.split(corpus.columns[0])
    gold, predicted, words = labelled_tokens(gold, predicted, words)
    return evaluate(gold, predicted, words, training_words, function)


def fingerprint(corpus: Corpus) -> str:
    """A digest of all that a corpus holds.

    Parameters
    ----------
    corpus : Corpus
        With labels or without.

    Returns
    -------
    str
        SHA-256 in hexadecimal digits.

    Examples
    --------
    >>> a, b = Corpus.from_sentences([["a", "b"]]), Corpus.from_sentences([["a"], ["b"]])
    >>> fingerprint(a) == fingerprint(b)
    False
    """
    digest = hashlib.sha256(corpus.lengths.tobytes())
    labels = [label or "" for label in corpus.labels or []]
    for column in (*corpus.columns, labels):
        digest.update("\0".join(column).encode("utf-8", "surrogatepass") + b"\n")
    if corpus.weights is not None:
        digest.update(corpus.weights.tobytes())
    return digest.hexdigest()


def _line(epoch: Epoch) -> dict[str, Any]:
    return {key: getattr(epoch, field) for key, field in _HISTORY.items()}


def _from_line(line: dict[str, Any]) -> Epoch:
    if set(line) != set(_HISTORY):
        raise KeyError("a line of the history lacks a key")
    for key, value in line.items():
        right = bool if key == "best" else (int, float)
        if not isinstance(value, right) and not (key == "dev_score" and value is None):
            raise TypeError(f"{key} is {value!r}")
        if not abs(value or 0) < 1e300:
            raise TypeError(f"{key} is {value!r}")
    return Epoch(**{field: line[key] for key, field in _HISTORY.items()})


def write_json(path: Path, content: Any) -> None:
    """Replace a file by JSON.

    Parameters
    ----------
    path : Path
    content : object
        What JSON can hold.
    """
    write_atomically(path, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())
