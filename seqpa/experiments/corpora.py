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
# What taggers see of a sentence: lists of their own, since presets change as better ones are found.
_WORDS = [
    "bias",
    *(f"word[{offset}]" for offset in range(-2, 3)),
    "lower[0]",
    "word[-1]|word[0]",
    "word[0]|word[1]",
]
TAG_TEMPLATES = [
    *_WORDS,
    *(f"prefix({n})[0]" for n in range(1, 5)),
    *(f"suffix({n})[0]" for n in range(1, 6)),
    "shape[0]",
    *(f"{flag}[0]" for flag in ("shortshape", "hashyphen", "hasdigit", "hasupper")),
    "shortshape[-1]",
    "shortshape[1]",
]
CHUNK_TEMPLATES = [
    *_WORDS,
    "suffix(2)[0]",
    "suffix(3)[0]",
    "shortshape[0]",
    *(f"pos[{offset}]" for offset in range(-2, 3)),
    *(f"pos[{at}]|pos[{at + 1}]" for at in range(-2, 2)),
    *(f"pos[{at}]|pos[{at + 1}]|pos[{at + 2}]" for at in range(-2, 1)),
]
TEMPLATES = {"conll2000": CHUNK_TEMPLATES, "ptb-sample": TAG_TEMPLATES}


@dataclass(frozen=True)
class Tagged:
    """Sentences to learn from and to test on, and the templates of features for them."""

    name: str
    train: Corpus
    test: Corpus
    templates: list[str]
    columns: tuple[str, ...]


@lru_cache(maxsize=4)
def load_tagged(name: str, folder: Path | None) -> Tagged:
    """A corpus of the data folder; without one, the part-of-speech column of corpora/news."""
    if folder is None:
        news, columns = own_corpora() / "news", ["word", "label", "_"]
        train, test = (read(news / f"{part}.conll", columns=columns) for part in ("train", "test"))
        return Tagged("news", train, test, TAG_TEMPLATES, ("word",))
    columns = COLUMNS[name]
    train, test = (
        read(folder / name / f"{part}.txt", columns=columns) for part in ("train", "test")
    )
    return Tagged(name, train, test, TEMPLATES[name], tuple(columns[:-1]))


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
