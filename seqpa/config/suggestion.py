"""A first configuration for data that was looked at: commented YAML, ready to train."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from seqpa.data.survey import Survey
from seqpa.errors import SeqpaError
from seqpa.schemes import type_of

ROLES = ("train", "dev", "test")
_HINTS = {
    "dev": ("dev", "valid", "testa", "heldout"),
    "test": ("test", "testb", "eval"),
    "train": ("train",),
}
_PHRASES = {"NP", "VP", "PP"}
# Schemes that mark where each span begins are learned as they are; others as IOB2.
_LEARNED = {"iob2": "bio", "bioes": "bioes", "bilou": "bilou", "bmes": "bmes"}


def roles_of(paths: list[str]) -> dict[str, str]:
    """Which file is for training, which for choosing the epoch and which for testing.

    Parameters
    ----------
    paths : list of str
        At most three files.

    Returns
    -------
    dict
        The file of each role; told by the names, else by the order train, dev, test.

    Examples
    --------
    >>> roles_of(["eng.testa", "eng.train"])
    {'dev': 'eng.testa', 'train': 'eng.train'}
    >>> roles_of(["a.conll"])
    {'train': 'a.conll'}
    """
    if len(paths) > len(ROLES):
        raise SeqpaError(f"{len(paths)} files: give at most three, for train, dev and test")
    found: dict[str, str] = {}
    left = []
    for path in paths:
        name = Path(path).name.lower()
        role = next(
            (r for r in _HINTS if r not in found and any(hint in name for hint in _HINTS[r])), None
        )
        if role is None:
            left.append(path)
        else:
            found[role] = path
    for path in left:
        found[next(role for role in ROLES if role not in found)] = path
    if "train" not in found:
        first = next(iter(found))
        found = {"train": found.pop(first), **found}
    return found


def suggestion(surveys: Mapping[str, Survey], folder: str | Path) -> str:
    """The text of a configuration.

    Parameters
    ----------
    surveys : mapping
        What is in the file of each role; ``train`` must be there.
    folder : str or Path
        Where the configuration will be, to name the files from there.

    Returns
    -------
    str
    """
    train = surveys["train"]
    _check_alike(surveys)
    lines = ["# Written by seqpa init; every key: seqpa schema, docs/configuration.md", "data:"]
    lines.append(f"  format: {train.seen.format}  # {train.seen.reason}")
    if train.seen.format in ("conll", "slash"):
        lines += _columns(train)
    for role in ROLES:
        if role in surveys:
            found = surveys[role]
            name = json.dumps(_from(found.path, folder), ensure_ascii=False)
            sizes = f"{found.sentences:,} sentences, {found.tokens:,} tokens"
            lines.append(f"  {role}: {name}  # {sizes}")
    if "dev" not in surveys:
        lines.append("  # dev: a file like train, not in it: its score chooses the best epoch")
    if train.seen.encoding != "utf-8":
        lines.append(f"  encoding: {train.seen.encoding}")
    return "\n".join([*lines, *_learning(train)]) + "\n"


def _columns(train: Survey) -> list[str]:
    names = [column.name if column.name in ("word", "label") else "_" for column in train.columns]
    others = [
        f"column {i} ({column.name})"
        for i, column in enumerate(train.columns, 1)
        if column.name not in ("word", "label", "_")
    ]
    lines = [f"  columns: [{', '.join(names)}]"]
    if others:
        lines.append(
            f"  # {', '.join(others)}: name it instead of _ to learn from it; text to be tagged "
            "must have it then, or another model predict it (columns)"
        )
    return lines


def _learning(train: Survey) -> list[str]:
    label = train.label
    found = None if label is None else label.scheme
    if label is None or found is None:
        return ["features:", "  preset: pos  # every token has a label of its own"]
    scheme = _LEARNED.get(found.scheme)
    lines = []
    if found.broken:
        lines.append(
            f"  labels: repair  # {found.broken:,} of {found.spans:,} spans are illegal "
            f"{found.scheme.upper()}; strict refuses them"
        )
    if scheme is None:
        lines.append(f"  scheme: iob2  # the file has {found.scheme.upper()}")
    kinds = {type_of(value) for value in label.frequent}
    preset = "chunk" if kinds & _PHRASES else "ner"
    return [
        *lines,
        "features:",
        f"  preset: {preset}  # {found.spans:,} spans; pos, ner, chunk, or templates of your own",
        "decoding:",
        f"  constraints: {scheme or 'bio'}  # only legal sequences of labels",
    ]


def _check_alike(surveys: Mapping[str, Survey]) -> None:
    train = surveys["train"]
    for other in surveys.values():
        if other.seen.format != train.seen.format:
            raise SeqpaError(
                f"{other.path}: is {other.seen.format}, but {train.path} is {train.seen.format}; "
                "seqpa convert makes them alike"
            )
        if len(other.columns) != len(train.columns):
            raise SeqpaError(
                f"{other.path}: has {len(other.columns)} columns, but {train.path} has "
                f"{len(train.columns)}"
            )


def _from(path: str, folder: str | Path) -> str:
    return path if os.path.isabs(path) else os.path.relpath(path, folder)  # noqa: PTH117
