"""What may be tried: the section ``tune`` of a configuration, or a sensible one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqpa.config import Config, load_config
from seqpa.config.build import features_of
from seqpa.config.schema import TuneRange
from seqpa.errors import SeqpaError
from seqpa.sequence.templates import parse
from seqpa.tune.trial import corpora_of

Space = dict[str, "list[Any] | TuneRange"]

_SECTIONS = ("features", "learner", "cost", "decoding")
# What changes how long a training takes or how it is told, and not how well it does.
_NOT_TUNED = ("learner.epochs", "learner.n_jobs", "learner.patience", "learner.seed")
# Costs that are sums over tokens, which loss-augmented updates need.
_SUMS = ("auto", "hamming", "hierarchy", "matrix")


def default_space(config: Config) -> Space:
    """A space to begin with, for a configuration that names none.

    Parameters
    ----------
    config : Config

    Returns
    -------
    dict
        A list of values, or a range, of each key.

    Examples
    --------
    >>> config = Config.model_validate({"data": {"train": "a.conll"}, "cost": {"kind": "span"}})
    >>> list(default_space(config))
    ['learner.C', 'learner.algorithm', 'features.cutoff']
    """
    space: Space = {
        "learner.C": TuneRange(log=[0.002, 0.5]),
        "learner.algorithm": ["pa-i", "pa-ii"],
        "features.cutoff": [1, 2, 3],
    }
    if config.cost.kind in _SUMS and config.learner.batch_size == 1:
        space["learner.update"] = ["near-max-loss", "loss-augmented", "prediction-based"]
    return space


def space_of(config: Config) -> Space:
    """What a configuration wants to be tried, or the space to begin with."""
    return dict(config.tune) or default_space(config)


def check_space(path: Path, settings: Sequence[str], config: Config) -> None:
    """Raise a SeqpaError where a value that may be tried is none that the key can have.

    Parameters
    ----------
    path : Path
        The configuration file.
    settings : sequence of str
        Those of the command line.
    config : Config
        What they make.
    """
    for key, own in config.tune.items():
        place = config.place("tune", key)
        section = key.partition(".")[0]
        if section not in _SECTIONS or key in _NOT_TUNED:
            raise SeqpaError(
                f"{place}tune: {key} cannot be tuned; keys of {', '.join(_SECTIONS)} can, but not "
                f"{', '.join(_NOT_TUNED)}"
            )
        for value in _ends(own):
            try:
                with_values(path, settings, {key: value})
            except SeqpaError as error:
                told = str(error).removeprefix(f"--set {key}={json.dumps(value)}: ")
                raise SeqpaError(f"{place}tune: {told}") from None


def check_with_text(path: Path, settings: Sequence[str], config: Config) -> None:
    """Raise a SeqpaError where a value that may be tried does not go with the text.

    Templates name columns, and constraints by a scheme have the labels read in it.

    Parameters
    ----------
    path, settings, config
        As for `check_space`.
    """
    columns = corpora_of(config)[0].names
    for key in ("features.templates", "decoding.constraints"):
        values = config.tune.get(key, [])
        for value in values if isinstance(values, list) else []:
            try:
                changed = with_values(path, settings, {key: value})
                if key == "features.templates":
                    for text in features_of(changed, columns):
                        parse(text, columns)
                else:
                    corpora_of(changed)
            except SeqpaError as error:
                told = str(error).removeprefix(f"--set {key}={json.dumps(value)}: ")
                place = config.place("tune", key)
                raise SeqpaError(f"{place}tune: {key} {json.dumps(value)}: {told}") from None


def _ends(own: list[Any] | TuneRange) -> list[Any]:
    """The values of which all others follow."""
    if isinstance(own, list):
        return own
    return list(own.log or own.uniform or own.whole or [])


def with_values(path: Path, settings: Sequence[str], values: Mapping[str, Any]) -> Config:
    """The configuration with some keys changed.

    Parameters
    ----------
    path : Path
    settings : sequence of str
        Those of the command line, which come first.
    values : mapping
        By key.

    Returns
    -------
    Config
    """
    changed = [f"{key}={json.dumps(value)}" for key, value in values.items()]
    return load_config(path, [*settings, *changed])


def distributions(space: Space) -> dict[str, Any]:
    """The space as optuna has it; values to choose from are written as JSON.

    Parameters
    ----------
    space : dict

    Returns
    -------
    dict
    """
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    found: dict[str, Any] = {}
    for key, own in space.items():
        if isinstance(own, list):
            found[key] = CategoricalDistribution([json.dumps(value) for value in own])
        elif own.whole is not None:
            found[key] = IntDistribution(own.whole[0], own.whole[1])
        else:
            low, high = own.log or own.uniform or []
            found[key] = FloatDistribution(low, high, log=own.log is not None)
    return found


def chosen(space: Space, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The values of optuna's parameters; numbers of ranges with four digits, as people write them.

    Examples
    --------
    >>> space = {"learner.C": TuneRange(log=[0.01, 1.0]), "learner.algorithm": ["pa-i", "pa"]}
    >>> chosen(space, {"learner.C": 0.0314159, "learner.algorithm": '"pa"'})
    {'learner.C': 0.03142, 'learner.algorithm': 'pa'}
    """
    found = {}
    for key, value in parameters.items():
        own = space[key]
        if isinstance(own, list):
            found[key] = json.loads(value)
        elif own.whole is not None:
            found[key] = int(value)
        else:
            low, high = own.log or own.uniform or []
            found[key] = min(max(float(f"{value:.4g}"), low), high)
    return found
