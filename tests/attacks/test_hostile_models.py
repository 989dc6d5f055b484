"""Thousands of hostile models and training states: each is refused in one line, or harmless.

The suite tries 2,000 files; SEQPA_ATTACKS=50000 in the environment tries as many. A crash of the
process shows as such (pytest has faulthandler on); memory beyond what small files can mean, and
anything but a SeqpaError, fails.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqpa import SequenceTagger
from seqpa.cli.inputs import load, reading
from seqpa.cli.inspect import inspect
from seqpa.errors import SeqpaError
from seqpa.model import save_model
from seqpa.sequence.resources import Clusters, Lexicon

sys.path.insert(0, str(Path(__file__).parent))
from model_mutations import mutated

FILES = int(os.environ.get("SEQPA_ATTACKS", "2000"))
SHARDS = 20
# What one file may take beyond what the process has: all of them are some kilobytes.
MEMORY = 2**30

WORDS = [["the", "dog", "saw", "rain"], ["a", "saw", "cut", "New", "York"], ["rain", "fell"]] * 2
TAGS = [["D", "N", "V", "N"], ["D", "N", "V", "B-L", "I-L"], ["N", "V"]] * 2
ASKED = [*WORDS[:3], ["unseen", "a" * 40 + "b", "YORK", "New", "Unseen"], [], ["9"] * 30]
DICTS = [[{"w": word, "size": len(word) / 4} for word in s] for s in WORDS]
ASKED_DICTS = [[{"w": word, "size": 1e10, "the": True} for word in s] for s in ASKED]
TEMPLATES = [
    "word[0]",
    "word[-1]|word[0]",
    "suffix(2)[0]",
    "prefix(1)[1]",
    "shape[0]|word[-2]",
    'lexicon("places")[0]',
    'cluster("tree", 2)[0]',
    'regex("^[a-z]+$")[0]',
    "bias",
]
IN_CONTEXT = [
    "word[-1]",
    "tags[0]",
    "besttag[-1]|tags[0]|suffix(1)[0]",
    "elsewhere(lower, -1)",
    "elsewhere(word, 2)[1]",
    "elsewhere(besttag, 1)",
    "elsewhere(case)",
    "elsewhere(number)[-1]",
    "pair:elsewhere(case)",
]
RESOURCES = {
    "places": Lexicon(["New York", "York"]),
    "tree": Clusters({"dog": "0110", "saw": "01"}),
}
CONFIG = {"data": {"format": "conll", "train": "a", "columns": ["word", "label"]}}

SETTINGS: dict[str, dict[str, Any]] = {
    "templates": {"features": TEMPLATES, "resources": RESOURCES},
    "pairs": {"features": ["word[0]", "suffix(1)[0]", "pair:word[0]", "pair:bias"]},
    "rules": {
        "features": ["word[0]"],
        "constraints": {"forbidden": [["D", "D"]]},
        "cost": {"D": {"N": 2.0}},
    },
    "second order": {
        "features": ["word[0]", "pair:word[0]"],
        "algorithm": "arow",
        "average": False,
    },
    "dicts": {"features": None},
    "chained": {
        "features": ["word[0]", "pos[0]", "pos[-1]|pos[0]"],
        "columns": ["word", "pos"],
        "taggers": {"pos": SequenceTagger(["suffix(2)[0]"], random_state=1).fit(WORDS, TAGS)},
        "jackknife": 0,
    },
    "in context": {"features": IN_CONTEXT},
    "two stages": {"features": IN_CONTEXT[:4], "stages": 2},
}
GENERATORS = {
    "templates": np.random.PCG64DXSM,
    "pairs": np.random.MT19937,
    "rules": np.random.Philox,
    "second order": np.random.SFC64,
    "dicts": np.random.PCG64,
    "chained": np.random.PCG64,
    "in context": np.random.PCG64,
    "two stages": np.random.PCG64,
}


def tagger_of(name: str) -> SequenceTagger:
    return SequenceTagger(**SETTINGS[name], epochs=3)


def tokens(name: str, asked: bool) -> list[Any]:
    if name == "dicts":
        return ASKED_DICTS if asked else DICTS
    return ASKED if asked else WORDS


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    for name in SETTINGS:
        tagger = tagger_of(name)
        tagger.random_state = np.random.Generator(GENERATORS[name](3))
        X = tokens(name, asked=False)
        for epoch in tagger.training(X, TAGS, (X, TAGS) if name == "templates" else None):
            if epoch.number == 2:
                tagger.save_state(folder / f"{name}.state")
        half = name in ("rules", "dicts")
        tagger.save(folder / f"{name}.half", half=half)
        config = CONFIG if name == "templates" else None
        trained, parameters = tagger.trained_, tagger.get_params()
        save_model(
            folder / f"{name}.model",
            trained,
            parameters,
            config=config,
            training_words=["a", "the"] if config else None,
        )
    return folder


@contextlib.contextmanager
def limited_memory() -> Iterator[None]:
    """More than `MEMORY` beyond the present is a MemoryError."""
    try:
        import resource
    except ImportError:
        yield
        return
    pages = Path("/proc/self/statm")
    if not pages.exists():
        yield
        return
    used = int(pages.read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def use_model(path: Path, name: str) -> None:
    """Everything that a user may do with a model that a stranger gave."""
    tagger = SequenceTagger.load(path)
    X = tokens(name, asked=True)
    predicted = tagger.predict(X)
    assert [len(labels) for labels in predicted] == [len(sentence) for sentence in X]
    assert {label for labels in predicted for label in labels} <= set(tagger.classes_)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for label in tagger.classes_ for c in label)
    for found in tagger.predict_nbest(X, 3):
        assert all(np.isfinite(score) for score, _ in found)
    tagger.confidence(X[:2])
    tagger.explain(X[1])
    assert all(np.isfinite(weight) for weight in tagger.state_features_.values())
    tagger.save(path.with_suffix(".again"))
    again = SequenceTagger.load(path.with_suffix(".again"))
    assert again.predict(X) == predicted
    if tagger.stages > 1 or again._learned.stages > 1:
        return  # which do not learn online
    tagger.partial_fit(tokens(name, asked=False)[:2], TAGS[:2])
    tagger.predict(X)


def use_in_the_shell(path: Path) -> None:
    """What the command line does with a model, up to the data."""
    tagger, model = load(path, allow_imports=False)
    reading(tagger, model, None, None, None)
    model.training_words()
    with contextlib.redirect_stdout(io.StringIO()) as out:
        inspect(path)
        inspect(path, header=True)
    assert "\x1b" not in out.getvalue()


def use_state(path: Path, name: str) -> None:
    """Everything that going on with a training does."""
    tagger = tagger_of(name)
    tagger.random_state = None
    tagger.load_state(path)
    X = tokens(name, asked=False)
    tagger.predict(tokens(name, asked=True))
    with contextlib.suppress(SeqpaError):  # other data, other labels
        tagger.fit(X, TAGS, (X, TAGS) if name == "templates" else None)
    tagger.load_state(path)
    if tagger.stages == 1:
        tagger.partial_fit(X[:2], TAGS[:2])
        tagger.learn_one(X[1], TAGS[1])
    tagger.predict(tokens(name, asked=True))
    tagger.save_state(path.with_suffix(".again"))
    tagger.save(path.with_suffix(".model"))


USES: dict[str, Callable[[Path, str], None]] = {
    "model": use_model,
    "half": use_model,
    "state": use_state,
}


def attack(number: int, files: list[Path], folder: Path) -> bool:
    """Make a file and use it; whether it was refused."""
    rng = random.Random(number)
    file = rng.choice(files)
    path = folder / f"mutated{file.suffix}"
    path.write_bytes(mutated(file, rng))
    try:
        if file.suffix == ".model" and file.stem == "templates":
            use_in_the_shell(path)
        USES[file.suffix[1:]](path, file.stem)
    except SeqpaError as error:
        message = str(error)
    else:
        message = ""
    assert len(message) < 3000
    return bool(message)


@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_mutated_files_are_refused_or_harmless(shard: int, good: Path, tmp_path: Path) -> None:
    files = sorted(good.iterdir())
    refused = 0
    with limited_memory():
        for number in range(shard, FILES, SHARDS):
            try:
                refused += attack(number, files, tmp_path)
            except Exception as error:
                raise AssertionError(f"file {number} is neither refused nor harmless") from error
    assert refused  # the rest is another model, as good as any


def test_unmutated_files_are_used(good: Path, tmp_path: Path) -> None:
    for file in sorted(good.iterdir()):
        path = tmp_path / f"same{file.suffix}"
        path.write_bytes(file.read_bytes())
        USES[file.suffix[1:]](path, file.stem)
