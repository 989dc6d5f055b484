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
[(1, 4), (2, 2), (3, 0)]
>>> run.finish().model.name
'a.safetensors'
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqpa.config import Config
from seqpa.config.build import (
    constraints_of,
    cost_of,
    data_name,
    features_of,
    inputs_of,
    read_part,
    resources_of,
)
from seqpa.data import Corpus
from seqpa.errors import SeqpaError
from seqpa.evaluate import Evaluation, evaluate
from seqpa.file_locks import Lock
from seqpa.files import check_apart, check_writable, is_folder, write_atomically
from seqpa.model import read_model, save_model
from seqpa.sequence.costs import sequence_cost
from seqpa.sequence.learner import Epoch
from seqpa.sequence.tagger import SequenceTagger

if TYPE_CHECKING:
    from seqpa.sequence.bounds import Certificate

# What may change between a run and its continuation without changing the weights on the way.
_FREE = {
    ("output",),
    ("data", "test"),
    ("data", "max_sentence_tokens"),
    ("learner", "epochs"),
}
# What may change besides where the same training is made once more.
_NOT_LEARNED = {("learner", "n_jobs")}
_METRICS = {"best_epoch", "epochs", "seconds", "dev", "test"}

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


@dataclass(frozen=True, slots=True)
class TrainingOutcome:
    """What training ends with."""

    model: Path
    best_epoch: int
    epochs: int
    dev: Evaluation | None
    test: Evaluation | None
    certificate: Certificate | None


class TrainingRun:
    """One training: make it, go through `epochs`, then `finish`.

    After each epoch a checkpoint is written beside the model; with `resume` the run goes on from
    it, to the same bytes as an unbroken run. `finish` may come early: the best epoch so far counts.

    Nothing of the user's is lost: an output that is also an input is refused, and so is a model
    that another configuration made, one that ``output.keep`` protects, a checkpoint that nobody
    asked to go on from, and an output that another training is writing. `force` replaces the model
    of another configuration, and a checkpoint. From its making to `finish` or `close` a run holds a
    lock on its outputs.

    Parameters
    ----------
    config : Config
    resume : bool
        Go on from the checkpoint, if there is one.
    force : bool
        Replace what another training left.
    with_certificate : bool
        Keep what the loss bounds need.

    Attributes
    ----------
    notes : list of str
        What a user should know before the training begins: which model will be replaced.
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
        self.model = config.path("output", "model")
        if is_folder(self.model):
            raise SeqpaError(
                f"{config.place('output', 'model')}{self.model} is a directory; name a file in it"
            )
        self.checkpoint = self.model.with_name(self.model.name + ".checkpoint")
        self._progress = self.model.with_name(self.model.name + ".checkpoint.json")
        self._history = self._beside("history")
        self._metrics = self._beside("metrics")
        self.history: list[Epoch] = []
        self.notes: list[str] = []
        self.complete = False
        self._with_certificate = with_certificate
        if with_certificate:
            self._refuse_certificate(resume)
        self._check_apart()
        for path in (self.model, self._history, self._metrics):
            check_writable(path)
        self._lock: Lock | None = self._taken()
        try:
            self.resumed = resume and self.checkpoint.exists()
            self._protect(resume, force)
            self.train = read_part(config, "train")
            self.dev = None if config.data.dev is None else read_part(config, "dev")
            self.test = None if config.data.test is None else read_part(config, "test")
            self.tagger = tagger_of(config, self.train.names)
            if self.resumed:
                self._load_checkpoint()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others write the outputs; `finish` does it too."""
        self._lock = None

    def epochs(self) -> Iterator[Epoch]:
        """Train, a record for each epoch; `complete` where there is nothing left to train."""
        for epoch in self._training():
            self.history.append(epoch)
            self._save_checkpoint()
            self.complete = self.tagger.training_is_over
            yield epoch
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
        words = set(self.train.columns[0])
        dev, test = (
            None if corpus is None else score(self.tagger, corpus, words, self.tagger.cost)
            for corpus in (self.dev, self.test)
        )
        certificate = None
        if self._with_certificate:
            from seqpa.sequence.bounds import certify

            certificate = certify(self.tagger, self.train, self.history)
        metrics = {
            "best_epoch": self.tagger.n_iter_,
            "epochs": len(self.history),
            "seconds": sum(epoch.seconds for epoch in self.history),
            "dev": None if dev is None else dev.to_dict(),
            "test": None if test is None else test.to_dict(),
        }
        save_model(
            self.model,
            self.tagger.trained_,
            self.tagger.get_params(),
            half=self.config.output.half,
            config=_told_config(self.config),
            training_words=words,
        )
        _write_json(self._history, self._told())
        _write_json(self._metrics, metrics)
        if self.complete:
            self.checkpoint.unlink(missing_ok=True)
            self._progress.unlink(missing_ok=True)
        return TrainingOutcome(
            self.model, self.tagger.n_iter_, len(self.history), dev, test, certificate
        )

    def _training(self) -> Iterator[Epoch]:
        try:
            yield from self.tagger.training(self.train, dev=self.dev, record=self._with_certificate)
        except SeqpaError as error:
            # Of the training sentences only their number is known there.
            of_data = str(error).startswith("sentence ")
            where = f"{data_name(self.config, 'train')}: " if of_data else ""
            raise SeqpaError(f"{where}{error}") from None

    def _beside(self, name: str) -> Path:
        """Where the history or the metrics go: two models in a folder have their own."""
        if getattr(self.config.output, name) is not None:
            return self.config.path("output", name)
        stem = self.model.name.removesuffix(".safetensors")
        return self.model.with_name(f"{name}.json" if stem == "model" else f"{stem}.{name}.json")

    # What is the user's

    def _check_apart(self) -> None:
        config = self.config
        outputs = {
            "output.model": self.model,
            "output.history": self._history,
            "output.metrics": self._metrics,
            "the checkpoint": self.checkpoint,
            "the checkpoint's history": self._progress,
        }
        try:
            check_apart(inputs_of(config), outputs)
        except SeqpaError as error:
            name = str(error).split(" ", 1)[0]
            loc = name.split(".") if name in ("output.history", "output.metrics") else ()
            raise SeqpaError(f"{config.place(*(loc or ('output', 'model')))}{error}") from None

    def _taken(self) -> Lock:
        path = self.model.with_name(f".{self.model.name[:200]}.lock")
        try:
            lock = Lock.take(path)
        except OSError as error:
            raise SeqpaError(
                f"{path}: cannot be written ({error.strerror}); it is locked while {self.model} "
                "is made"
            ) from None
        if lock is None:
            raise SeqpaError(
                f"{self.model}: another training is making it at present; wait for it, or name "
                "another output.model"
            )
        return lock

    def _protect(self, resume: bool, force: bool) -> None:
        """Refuse to replace what may still be wanted; see the class."""
        if self.checkpoint.exists() and not resume and not force:
            raise SeqpaError(
                f"{self.checkpoint}: is left of a training that did not end: --resume goes on from "
                "it, --force begins anew without it"
            )
        for path, keys in ((self._history, set(self._TOLD)), (self._metrics, _METRICS)):
            if path.exists() and not force and not _has_keys(path, keys):
                raise SeqpaError(
                    f"{path}: is there, and not of a training of seqpa's; name another file, or "
                    "say --force to replace it"
                )
        if not self.model.exists():
            return
        if self.resumed:
            return  # it is this training's own, which was stopped
        if self.config.output.keep:
            raise SeqpaError(
                f"{self.config.place('output', 'keep')}{self.model} is there, and output.keep is "
                "true: name another output.model"
            )
        if resume:
            raise SeqpaError(
                f"{self.model}: this training has ended, and there is no checkpoint to resume; to "
                "train once more, leave out --resume"
            )
        difference = difference_of_model(self.config, _FREE | _NOT_LEARNED)
        if difference is None:
            self.notes.append(f"replacing {self.model}, which this configuration made before")
        elif force:
            self.notes.append(f"replacing {self.model} ({difference})")
        else:
            raise SeqpaError(
                f"{self.model}: is there, and this configuration did not make it ({difference}); "
                "name another output.model, or say --force to replace it"
            )

    def _refuse_certificate(self, resume: bool) -> None:
        kind = self.config.cost.kind
        if resume:
            raise SeqpaError("a certificate needs the whole run: leave out --resume")
        if kind == "python":
            raise SeqpaError(
                "a certificate needs the largest cost of each sentence, which is not known for "
                "the cost python; it is for hamming, zero-one, span, hierarchy and matrix"
            )

    _TOLD = ("config", "data", "epochs")  # the keys of a history

    # Checkpoints: first what was told so far, then the state. A kill in between leaves one line
    # too many, which the epoch that is trained again replaces.

    def _save_checkpoint(self) -> None:
        _write_json(self._progress, self._told())
        self.tagger.save_state(self.checkpoint)

    def _load_checkpoint(self) -> None:
        told = _read_json(self._progress)
        if told.get("config") != self._told()["config"]:
            changed = _first_difference(told.get("config"), self._told()["config"])
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
            raise _damaged(self._progress) from None
        if [epoch.number for epoch in self.history] != list(range(1, done + 1)):
            raise _damaged(self._progress)
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
        _leave_out(config, _FREE)
        content = (config, self._fingerprints, [_line(epoch) for epoch in self.history])
        return dict(zip(self._TOLD, content, strict=True))


def is_made(config: Config) -> bool:
    """Whether there is nothing left to train: the model is there, of this very configuration.

    Parameters
    ----------
    config : Config

    Returns
    -------
    bool
        False too where a checkpoint tells of a training that did not end.
    """
    model = config.path("output", "model")
    if not model.is_file() or model.with_name(model.name + ".checkpoint").exists():
        return False
    return difference_of_model(config, _FREE - {("learner", "epochs")} | _NOT_LEARNED) is None


def difference_of_model(config: Config, free: Collection[tuple[str, ...]]) -> str | None:
    """What tells the model that is there from the one that a configuration makes.

    Parameters
    ----------
    config : Config
    free : collection of locations
        What may differ.

    Returns
    -------
    str or None
        None if nothing does.
    """
    try:
        made_by = read_model(config.path("output", "model")).config
    except SeqpaError:
        return "it is no model, or damaged"
    if made_by is None:
        return "it was saved from Python"
    try:
        old = Config.model_validate(made_by).model_dump(mode="json", exclude={"output"})
    except ValueError:
        return "another version of seqpa made it"
    new = _told_config(config)
    for told in (old, new):
        _leave_out(told, free)
    return None if old == new else _first_difference(old, new)


def _told_config(config: Config) -> dict[str, Any]:
    """The configuration for the model's header; a cost's file is to be found from anywhere."""
    told = config.model_dump(mode="json", exclude={"output"})
    if config.cost.kind == "python" and config.cost.file is not None:
        told["cost"]["file"] = str(config.path("cost", "file").resolve())
    return told


def tagger_of(config: Config, columns: tuple[str, ...]) -> SequenceTagger:
    """The untrained tagger that a configuration describes, for data with these input columns."""
    learner = config.learner
    return SequenceTagger(
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
        cutoff=config.features.cutoff,
        n_best=learner.n_best,
        batch_size=learner.batch_size,
        patience=learner.patience,
        shuffle=learner.shuffle,
        resources=resources_of(config),
    )


def score(
    tagger: SequenceTagger,
    corpus: Corpus,
    training_words: Collection[str] | None = None,
    cost: Any = None,
) -> Evaluation:
    """Tag a labelled corpus and compare; `cost` is what a SequenceTagger takes, or None."""
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
    """Compare given predictions, under a cost that also knows labels new to the tagger."""
    function = None
    if cost is not None:
        new = set(corpus.labels or ()) - set(tagger.classes_)
        function = sequence_cost(cost, [*tagger.classes_, *sorted(new)])
    words = corpus.split(corpus.columns[0])
    return evaluate(gold, predicted, words, training_words, function)


def fingerprint(corpus: Corpus) -> str:
    """A digest of all that a corpus holds.

    >>> a, b = Corpus.from_sentences([["a", "b"]]), Corpus.from_sentences([["a"], ["b"]])
    >>> fingerprint(a) == fingerprint(b)
    False
    """
    digest = hashlib.sha256(corpus.lengths.tobytes())
    for column in (*corpus.columns, corpus.labels or []):
        digest.update("\0".join(column).encode("utf-8", "surrogatepass") + b"\n")
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
        if not 0 <= (value or 0) < 1e300:
            raise TypeError(f"{key} is {value!r}")
    return Epoch(**{field: line[key] for key, field in _HISTORY.items()})


def _write_json(path: Path, content: Any) -> None:
    write_atomically(path, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SeqpaError(f"{path}: cannot be read ({error.strerror}); train afresh") from None
    except (ValueError, RecursionError):
        raise _damaged(path) from None
    if not isinstance(content, dict):
        raise _damaged(path)
    return content


def _damaged(path: Path) -> SeqpaError:
    return SeqpaError(f"{path}: is damaged; train afresh with --force instead of --resume")


def _has_keys(path: Path, keys: set[str]) -> bool:
    try:
        return keys == set(_read_json(path))
    except SeqpaError:
        return False


def _leave_out(config: dict[str, Any], locs: Collection[tuple[str, ...]]) -> None:
    """Remove these keys, where they are."""
    for loc in locs:
        section: Any = config
        for name in loc[:-1]:
            section = section.get(name, {})
        section.pop(loc[-1], None)


def _first_difference(old: Any, new: Any, name: str = "") -> str:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in new:
            if old.get(key) != new[key]:
                return _first_difference(old.get(key), new[key], f"{name}.{key}".strip("."))
    return f"{name} was {json.dumps(old)}, is {json.dumps(new)}"
