"""What a model file tells of its origin: the configuration, and the words it was trained on.

With it, ``seqpa tag`` knows the columns of its input, and ``seqpa evaluate`` which words are new.
It stands beside what tagging needs and is not read by `SequenceTagger.load`: the header's entry
``config`` (all sections but ``output``) and the strings ``origin.words``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqpa.errors import SeqpaError
from seqpa.model import read_file, save_model
from seqpa.sequence.resources import pack_strings, unpack_strings
from seqpa.sequence.tagger import SequenceTagger

_WORDS = "origin.words"


@dataclass(frozen=True, slots=True)
class Origin:
    """A model file's header; its configuration and training words, where it has them."""

    header: dict[str, Any]
    config: dict[str, Any] | None
    training_words: frozenset[str] | None


def save_with_origin(
    tagger: SequenceTagger,
    path: Path,
    config: dict[str, Any],
    training_words: Iterable[str],
    *,
    half: bool = False,
) -> None:
    """`SequenceTagger.save` with the origin in the same file, which appears whole or not at all."""
    words = pack_strings(_WORDS, sorted(set(training_words)))
    save_model(tagger, path, half=half, more={"config": config}, more_arrays=words)


def read_origin(path: Path) -> Origin:
    """What a model file says of itself; models saved from Python have only a header."""
    header, arrays = read_file(path, "model")
    words = None
    if f"{_WORDS}.text" in arrays:
        try:
            words = frozenset(unpack_strings(arrays, _WORDS))
        except SeqpaError as error:
            raise SeqpaError(f"{path}: {error}") from None
    config = header.get("config")
    return Origin(header, config if isinstance(config, dict) else None, words)
