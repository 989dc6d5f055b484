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
    read_part,
    resources_of,
)
from seqpa.data import Corpus
from seqpa.errors import SeqpaError
from seqpa.evaluate import Evaluation, evaluate
from seqpa.files import check_writable, write_atomically
from seqpa.model import save_model
from seqpa.sequence.costs import sequence_cost
from seqpa.sequence.learner import Epoch
from seqpa.sequence.tagger import SequenceTagger

if TYPE_CHECKING:
    from seqpa.sequence.bounds import Certificate

# What may change between a run and its continuation without changing the weights on the way.
_FREE = {("output",), ("data", "test"), ("learner", "epochs")}


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
    """

    def __init__(
        self, config: Config, *, resume: bool = False, with_certificate: bool = False
    ) -> None:
        self.config = config
        self.model = config.path("output", "model")
        if self.model.is_dir():
            raise SeqpaError(
                f"{config.place('output', 'model')}{self.model} is a directory; name a file in it"
            )
        self.checkpoint = self.model.with_name(self.model.name + ".checkpoint")
        self._progress = self.model.with_name(self.model.name + ".checkpoint.json")
        self._history = self._beside("history")
        self._metrics = self._beside("metrics")
        if with_certificate:
            self._refuse_certificate(resume)
        for path in (self.model, self._history, self._metrics):
            check_writable(path)
        self.train = read_part(config, "train")
        self.dev = None if config.data.dev is None else read_part(config, "dev")
        self.test = None if config.data.test is None else read_part(config, "test")
        self.tagger = tagger_of(config, self.train.names)
        self.history: list[Epoch] = []
        self.complete = False
        self._with_certificate = with_certificate
        if with_certificate:
            from seqpa.sequence.bounds import check_covered

            check_covered(self.tagger)
        self.resumed = resume and self.checkpoint.exists()
        if self.resumed:
            self._load_checkpoint()

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
        """
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
            config=self._told_config(),
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
        if getattr(self.config.output, name) is None:
            return self.model.with_name(f"{name}.json")
        return self.config.path("output", name)

    def _refuse_certificate(self, resume: bool) -> None:
        kind = self.config.cost.kind
        if resume:
            raise SeqpaError("a certificate needs the whole run: leave out --resume")
        if kind == "python":
            raise SeqpaError(
                "a certificate needs the largest cost of each sentence, which is not known for "
                "the cost python; it is for hamming, zero-one, span, hierarchy and matrix"
            )

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
                "the same, or train afresh without --resume"
            )
        if told.get("data") != self._told()["data"]:
            raise SeqpaError(
                f"{self.checkpoint}: was made with other training or dev data: resume with the "
                "same, or train afresh without --resume"
            )
        self.tagger.load_state(self.checkpoint)
        done = self.tagger.training_state_.epoch
        try:
            self.history = [_from_line(line) for line in told["epochs"]][:done]
        except (KeyError, TypeError):
            raise SeqpaError(
                f"{self._progress}: is damaged; train afresh without --resume"
            ) from None

    def _told(self) -> dict[str, Any]:
        if not hasattr(self, "_fingerprints"):
            parts = {"train": self.train, "dev": self.dev}
            self._fingerprints = {
                name: None if corpus is None else fingerprint(corpus)
                for name, corpus in parts.items()
            }
        config = self.config.model_dump(mode="json")
        for loc in _FREE:
            section: Any = config
            for name in loc[:-1]:
                section = section[name]
            section.pop(loc[-1])
        return {
            "config": config,
            "data": self._fingerprints,
            "epochs": [_line(epoch) for epoch in self.history],
        }

    def _told_config(self) -> dict[str, Any]:
        """The configuration for the model's header; a cost's file is to be found from anywhere."""
        told = self.config.model_dump(mode="json", exclude={"output"})
        if self.config.cost.kind == "python" and self.config.cost.file is not None:
            told["cost"]["file"] = str(self.config.path("cost", "file").resolve())
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
    return Epoch(**{field: line[key] for key, field in _HISTORY.items()})


def _write_json(path: Path, content: Any) -> None:
    write_atomically(path, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SeqpaError(f"{path}: cannot be read ({error.strerror}); train afresh") from None
    except ValueError:
        raise SeqpaError(f"{path}: is damaged; train afresh without --resume") from None
    return content if isinstance(content, dict) else {}


def _first_difference(old: Any, new: Any, name: str = "") -> str:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in new:
            if old.get(key) != new[key]:
                return _first_difference(old.get(key), new[key], f"{name}.{key}".strip("."))
    return f"{name} was {json.dumps(old)}, is {json.dumps(new)}"
