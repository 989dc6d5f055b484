"""The tagged corpora of the experiments on sequences, real or this project's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from seqpa.core.costs import Hierarchy
from seqpa.data import read
from seqpa.data.corpus import Corpus
from seqpa.data.embedded import find_embedded
from seqpa.errors import SeqpaError

COLUMNS = {"conll2000": ["word", "pos", "label"], "ptb-sample": ["word", "label"]}
# Name -> title, and what is measured: F1 of chunks, accuracy of tags.
CORPORA: dict[str, tuple[str, str]] = {
    "conll2000": ("CoNLL-2000 chunks", "F1"),
    "ptb-sample": ("Penn Treebank tags", "accuracy"),
}
NEWS = {"news": ("corpora/news tags", "accuracy")}  # without a data folder
PRESETS = {"conll2000": "chunk", "ptb-sample": "pos"}


@dataclass(frozen=True)
class Tagged:
    """Sentences to learn from and to test on, and the preset of features for them."""

    name: str
    train: Corpus
    test: Corpus
    preset: str
    columns: tuple[str, ...]


@lru_cache(maxsize=4)
def load_tagged(name: str, folder: Path | None) -> Tagged:
    """A corpus of the data folder; without one, the part-of-speech column of corpora/news."""
    if folder is None:
        news, columns = own_corpora() / "news", ["word", "label", "_"]
        train, test = (read(news / f"{part}.conll", columns=columns) for part in ("train", "test"))
        return Tagged("news", train, test, "pos", ("word",))
    columns = COLUMNS[name]
    train, test = (
        read(folder / name / f"{part}.txt", columns=columns) for part in ("train", "test")
    )
    return Tagged(name, train, test, PRESETS[name], tuple(columns[:-1]))


@lru_cache(maxsize=1)
def tag_tree() -> Hierarchy:
    """The tree of the Penn Treebank's tags, coarse over fine."""
    return Hierarchy.from_yaml(own_corpora() / "news" / "pos.yaml")


def own_corpora() -> Path:
    """This project's folder of corpora."""
    folder = find_embedded()
    if folder is None:
        raise SeqpaError(
            "this needs the project's own corpora, which come with the source in its folder "
            "corpora; run it from there"
        )
    return folder
