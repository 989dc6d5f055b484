"""What a report is about: a model file, or a finished training by its folder or configuration."""

from __future__ import annotations

import hashlib
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import seqpa
from seqpa.config import Config, load_config
from seqpa.config.build import data_name, read_part
from seqpa.data import Corpus
from seqpa.errors import SeqpaError
from seqpa.files import is_folder
from seqpa.model import ModelFile
from seqpa.training_outputs import (
    FREE,
    HISTORY_KEYS,
    Outputs,
    first_difference,
    leave_out,
    read_json,
    told_config,
)

_SUFFIXES = (".yaml", ".yml")
_MODEL = "model.safetensors"


@dataclass(frozen=True, slots=True)
class Source:
    """Where the model is, and what else is known of its training.

    Parameters
    ----------
    model : Path
        The model file.
    history : Path or None
        The history of its training, which may be missing.
    config : Config or None
        The configuration that made it, where that was named.
    """

    model: Path
    history: Path | None
    config: Config | None = None


def find_source(given: Path) -> Source:
    """What a user named: a model file, a folder with one, or a configuration.

    Parameters
    ----------
    given : Path

    Returns
    -------
    Source

    Raises
    ------
    SeqpaError
        If there is no model.
    """
    if given.suffix in _SUFFIXES:
        config = load_config(given)
        outputs = Outputs(config)
        if not outputs.model.is_file():
            raise SeqpaError(
                f"{given}: its model {outputs.model} is not there yet; train it first: "
                f"seqpa train {given}"
            )
        return Source(outputs.model, outputs.history, config)
    if is_folder(given):
        models = sorted(path.name for path in given.glob("*.safetensors"))
        if _MODEL not in models and len(models) != 1:
            found = f"several models ({', '.join(models)})" if models else "no model"
            raise SeqpaError(f"{given}: is a folder with {found}; name a model file")
        given = given / (_MODEL if _MODEL in models else models[0])
    stem = given.name.removesuffix(".safetensors")
    name = "history.json" if stem == "model" else f"{stem}.history.json"
    return Source(given, given.with_name(name))


def check_made_by(config: Config, file: ModelFile) -> None:
    """Refuse a model that another configuration made.

    Parameters
    ----------
    config : Config
    file : ModelFile

    Raises
    ------
    SeqpaError
        With what differs.
    """
    made_by = file.config
    if made_by is None:
        raise SeqpaError(f"{file.path}: was saved from Python, not by {config.file}")
    try:
        old = Config.model_validate(made_by).model_dump(mode="json", exclude={"output"})
    except ValueError:
        raise SeqpaError(f"{file.path}: was made by another version of seqpa") from None
    new = told_config(config)
    for told in (old, new):
        leave_out(told, {*FREE, ("learner", "n_jobs")})
    if old != new:
        raise SeqpaError(
            f"{file.path}: was made by another configuration than {config.file} "
            f"({first_difference(old, new)}); name the model itself, or train it again"
        )


def data_of_run(config: Config) -> tuple[Corpus, str]:
    """The data that a finished training is reported on: its test set, else its dev set.

    Parameters
    ----------
    config : Config

    Returns
    -------
    corpus : Corpus
    name : str
        As messages call it.
    """
    for part in ("test", "dev"):
        if getattr(config.data, part) is not None:
            return read_part(config, part), data_name(config, part)
    raise SeqpaError(f"{config.file}: names neither data.test nor data.dev; name DATA to report on")


def history_of(source: Source, file: ModelFile) -> tuple[dict[str, Any] | None, str]:
    """The epochs of the training that made a model.

    Parameters
    ----------
    source : Source
    file : ModelFile

    Returns
    -------
    history : dict or None
        ``epochs`` as history.json has them, ``best`` the number of the epoch that was kept.
    note : str
        Why there is none.
    """
    path = source.history
    if path is None or not path.is_file():
        return None, f"there is no history beside the model ({path})"
    content = read_json(path)
    epochs = content.get("epochs")
    if set(content) != set(HISTORY_KEYS) or not isinstance(epochs, list) or not epochs:
        return None, f"{path} is no history of a training"
    old, new = content["config"], dict(file.config or {})
    if isinstance(old, dict):
        old, new = ({**told, "output": None} for told in (old, new))
        old, new = (_copied(told) for told in (old, new))
        for told in (old, new):
            leave_out(told, {*FREE, ("learner", "n_jobs"), ("cost", "file")})
    if old != new:
        return None, f"{path} is of another training"
    try:
        kept = [epoch for epoch in epochs if epoch["best"]]
        for epoch in epochs:
            _ = [float(epoch[name]) for name in ("epoch", "loss", "mistakes", "tokens")]
    except (KeyError, TypeError, ValueError):
        return None, f"{path} is damaged"
    best = kept[-1]["epoch"] if kept else epochs[-1]["epoch"]
    return {"epochs": epochs, "best": best}, ""


def _copied(told: dict[str, Any]) -> dict[str, Any]:
    return {name: dict(own) if isinstance(own, dict) else own for name, own in told.items()}


def identity(file: ModelFile, corpus: Corpus, data: str, digest: str) -> dict[str, Any]:
    """What is needed to repeat a report: files by digest, configuration, versions, seed.

    Parameters
    ----------
    file : ModelFile
    corpus : Corpus
        What was tagged.
    data : str
        Its name.
    digest : str
        Of its content.

    Returns
    -------
    dict
    """
    config = file.config or {}
    learner = config.get("learner") or file.header.get("parameters", {})
    return {
        "model": {
            "file": str(file.path),
            "bytes": file.path.stat().st_size,
            "sha256": hashlib.sha256(file.path.read_bytes()).hexdigest(),
        },
        "data": {
            "name": data,
            "sentences": len(corpus),
            "tokens": corpus.n_tokens,
            "sha256": digest,
        },
        "configuration": file.config,
        "seed": learner.get("seed", learner.get("random_state")),
        "versions": {
            "seqpa": seqpa.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "platform": f"{sys.platform} {platform.machine()}",
        },
    }
