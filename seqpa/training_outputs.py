"""The files that a training writes, and what it may replace of those that are there.

Nothing of the user's is lost unasked. Refused are an output that is also an input, a model that
another configuration made or that ``output.keep`` protects, a checkpoint that nobody asked to go on
from, a file that only has the name of ours, and outputs that another process is writing.
docs/configuration.md has the table.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from seqpa.config import Config
from seqpa.config.build import inputs_of
from seqpa.errors import SeqpaError
from seqpa.file_locks import Lock
from seqpa.files import check_apart, check_writable, is_folder
from seqpa.model import read_model

# What may change between a run and its continuation without changing the weights on the way.
FREE = {
    ("output",),
    ("tune",),
    ("cluster", "timeout"),
    ("data", "test"),
    ("data", "max_sentence_tokens"),
    ("learner", "epochs"),
    ("learner", "memory_folder"),
}
# The keys of the files, by which ours are known.
HISTORY_KEYS = ("config", "data", "epochs")
METRICS_KEYS = ("best_epoch", "epochs", "seconds", "dev", "test")
# So much of a value is shown in a message.
_SHOWN = 100


class Outputs:
    """Where a configuration's outputs go; `take` makes sure that they may be written.

    Parameters
    ----------
    config : Config
        What is trained, on what, and what is written.

    Attributes
    ----------
    model, history, metrics : Path
        What is written at the end.
    checkpoint, progress : Path
        What is written after each epoch: the training's state, and the history so far.

    Examples
    --------
    >>> config = {"data": {"train": "a.conll"}, "output": {"model": "out/pos.safetensors"}}
    >>> outputs = Outputs(Config.model_validate(config))
    >>> outputs.history.name, outputs.checkpoint.name
    ('pos.history.json', 'pos.safetensors.checkpoint')
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock: Lock | None = None
        self.model = config.path("output", "model")
        if is_folder(self.model):
            place = config.place("output", "model")
            raise SeqpaError(f"{place}{self.model} is a directory; name a file in it")
        self.checkpoint = self.model.with_name(self.model.name + ".checkpoint")
        self.progress = self.model.with_name(self.model.name + ".checkpoint.json")
        self.history = self._beside("history")
        self.metrics = self._beside("metrics")

    def _beside(self, name: str) -> Path:
        """Where the history or the metrics go: two models in a folder have their own."""
        if getattr(self._config.output, name) is not None:
            return self._config.path("output", name)
        stem = self.model.name.removesuffix(".safetensors")
        return self.model.with_name(f"{name}.json" if stem == "model" else f"{stem}.{name}.json")

    def take(self, resume: bool, force: bool) -> list[str]:
        """Check the outputs, and keep other processes from them until `release`.

        Parameters
        ----------
        resume : bool
            Whether the training goes on from the checkpoint.
        force : bool
            Whether it may replace what another training left.

        Returns
        -------
        list of str
            What a user should know beforehand: which model, checkpoint or other file will be
            replaced.

        Raises
        ------
        SeqpaError
            If something would be lost, or cannot be written.
        """
        self._check_apart()
        for path in (self.model, self.history, self.metrics):
            check_writable(path)
        self._lock = self._taken()
        try:
            return self._replaced(resume, force)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Let other processes write the outputs."""
        self._lock = None

    def is_made(self) -> bool:
        """Whether there is nothing left to train: the model is there, of this configuration.

        Returns
        -------
        bool
            False too where a checkpoint tells of a training that did not end.
        """
        if not self.model.is_file() or self.checkpoint.exists():
            return False
        return self._difference(FREE - {("learner", "epochs")}) is None

    def _check_apart(self) -> None:
        outputs = {
            "output.model": self.model,
            "output.history": self.history,
            "output.metrics": self.metrics,
            "the checkpoint": self.checkpoint,
            "the checkpoint's history": self.progress,
        }
        inputs = inputs_of(self._config)
        try:
            check_apart(inputs, outputs)
        except SeqpaError as error:
            name = str(error).split(" ", 1)[0]
            loc = name.split(".") if name in outputs else ["output", "model"]
            raise SeqpaError(f"{self._config.place(*loc)}{error}") from None

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

    def _replaced(self, resume: bool, force: bool) -> list[str]:
        """What is told of the model that will be replaced; what may still be wanted is refused."""
        if self.checkpoint.exists() and not resume and not force:
            raise SeqpaError(
                f"{self.checkpoint}: is left of a training that did not end: --resume goes on from "
                "it, --force begins anew without it"
            )
        notes = []
        if self.checkpoint.exists() and not resume:
            notes.append(f"replacing {self.checkpoint}, left of a training that did not end")
        for path, keys in ((self.history, HISTORY_KEYS), (self.metrics, METRICS_KEYS)):
            if not path.exists() or _has_keys(path, keys):
                continue
            if not force:
                raise SeqpaError(
                    f"{path}: is there, and not of a training of seqpa's; name another file, or "
                    "say --force to replace it"
                )
            notes.append(f"replacing {path}, which is not of a training of seqpa's")
        if not self.model.exists():
            return notes
        if resume and self.checkpoint.exists():
            return notes  # the model is this training's own, which was stopped
        if self._config.output.keep:
            raise SeqpaError(
                f"{self._config.place('output', 'keep')}{self.model} is there, and output.keep is "
                "true: name another output.model"
            )
        if resume:
            raise SeqpaError(
                f"{self.model}: this training has ended, and there is no checkpoint to resume; to "
                "train once more, leave out --resume"
            )
        difference = self._difference(FREE)
        if difference is None:
            return [*notes, f"replacing {self.model}, which this configuration made before"]
        if not force:
            raise SeqpaError(
                f"{self.model}: is there, and this configuration did not make it ({difference}); "
                "name another output.model, or say --force to replace it"
            )
        return [*notes, f"replacing {self.model} ({difference})"]

    def _difference(self, free: Collection[tuple[str, ...]]) -> str | None:
        """What tells the model that is there from the one that is to be made; None if nothing."""
        try:
            made_by = read_model(self.model).config
        except SeqpaError:
            return "it is no model, or damaged"
        if made_by is None:
            return "it was saved from Python"
        try:
            old = Config.model_validate(made_by).model_dump(mode="json", exclude={"output"})
        except ValueError:
            return "another version of seqpa made it"
        new = told_config(self._config)
        for told in (old, new):
            leave_out(told, free)
        same_amounts(old["learner"], new["learner"])
        return None if old == new else first_difference(old, new)


def told_config(config: Config) -> dict[str, Any]:
    """The configuration for the model's header, with the full path of a cost's file.

    Parameters
    ----------
    config : Config

    Returns
    -------
    dict
        All sections but ``output``.
    """
    told = config.model_dump(mode="json", exclude={"output"})
    if config.cost.kind == "python" and config.cost.file is not None:
        told["cost"]["file"] = str(config.path("cost", "file").resolve())
    return told


def leave_out(config: dict[str, Any], locs: Collection[tuple[str, ...]]) -> None:
    """Remove some keys of a configuration, where they are.

    Parameters
    ----------
    config : dict
        Changed.
    locs : collection of tuples
        The keys.

    Examples
    --------
    >>> config = {"data": {"train": "a", "test": "b"}, "output": {}}
    >>> leave_out(config, FREE)
    >>> config
    {'data': {'train': 'a'}}
    """
    for loc in locs:
        section: Any = config
        for name in loc[:-1]:
            section = section.get(name) or {}
        section.pop(loc[-1], None)


def same_amounts(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Take over what changes nothing of what is learned: how many threads, how much memory.

    Whether there is a limit on memory at all does change something: blocks have an order of their
    own.

    Parameters
    ----------
    old, new : dict
        The section ``learner`` of two configurations; the second is changed.

    Examples
    --------
    >>> new = {"C": 2, "n_jobs": 4, "memory": "3GB"}
    >>> same_amounts({"C": 1, "n_jobs": 1, "memory": "2GB"}, new)
    >>> new
    {'C': 2, 'n_jobs': 1, 'memory': '2GB'}
    """
    new["n_jobs"] = old["n_jobs"]
    if old["memory"] and new["memory"]:
        new["memory"] = old["memory"]


def first_difference(old: Any, new: Any, name: str = "") -> str:
    """Where two configurations first differ, in words.

    Parameters
    ----------
    old, new : dict
        The configurations.
    name : str
        Of the section.

    Returns
    -------
    str

    Examples
    --------
    >>> first_difference({"learner": {"C": 1, "seed": 1}}, {"learner": {"C": 1, "seed": 2}})
    'learner.seed was 1, is 2'
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**new, **old}:
            if old.get(key) != new.get(key):
                return first_difference(old.get(key), new.get(key), f"{name}.{key}".strip("."))
    return f"{name or 'it'} was {_shown(old)}, is {_shown(new)}"


def read_json(path: Path) -> dict[str, Any]:
    """The content of a file that `TrainingRun` wrote.

    Parameters
    ----------
    path : Path
        A history, or the metrics.

    Returns
    -------
    dict

    Raises
    ------
    SeqpaError
        If it is something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SeqpaError(
            f"{path}: cannot be read ({error.strerror}); train afresh with --force"
        ) from None
    except (ValueError, RecursionError):
        raise damaged(path) from None
    if not isinstance(content, dict):
        raise damaged(path)
    return content


def damaged(path: Path) -> SeqpaError:
    """The error for a checkpoint that cannot be resumed.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    SeqpaError
    """
    return SeqpaError(f"{path}: is damaged; train afresh with --force instead of --resume")


def _has_keys(path: Path, keys: Collection[str]) -> bool:
    try:
        return set(keys) == set(read_json(path))
    except SeqpaError:
        return False


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
