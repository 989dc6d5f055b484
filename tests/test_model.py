"""Model files and training states: round trips bit for bit, and no file that does harm."""

from __future__ import annotations

import json
import math
import os
import pickle
import sys
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.base import clone

from seqpa import Hierarchy, SequenceTagger
from seqpa._kernel.store import labels_exist
from seqpa.array_files import checksum
from seqpa.errors import SeqpaError
from seqpa.model import model_header

WORDS = [["the", "dog", "saw", "rain"], ["a", "saw", "cut", "the", "rain"], ["rain", "fell"]] * 2
TAGS = [["D", "N", "V", "N"], ["D", "N", "V", "D", "N"], ["N", "V"]] * 2
TEMPLATES = ["word[0]", "word[-1]|word[0]", "suffix(2)[0]"]
DICTS = [[{"w": word, "size": len(word) / 4, "the": word == "the"} for word in s] for s in WORDS]
PROBE = [["the", "unseen", "dog", "fell"], [], ["rain"]]


def by_ending(sentence: Any) -> list[list[str]]:
    """A feature function that a model can name."""
    return [[word, word[-2:]] for word in sentence]


class Extractor:
    def features(self, sentence: Any) -> list[list[str]]:
        return by_ending(sentence)


def root_of_mistakes(gold: list[str], predicted: list[str]) -> float:
    return sum(g != p for g, p in zip(gold, predicted, strict=True)) ** 0.5


def fitted(X: Any = WORDS, **parameters: Any) -> SequenceTagger:
    return SequenceTagger(**{"features": TEMPLATES, "random_state": 0, **parameters}).fit(X, TAGS)


def weights(tagger: SequenceTagger) -> tuple[dict[Any, float], dict[Any, float]]:
    return tagger.state_features_, tagger.transition_features_


KINDS: dict[str, Callable[[], SequenceTagger]] = {
    "templates": fitted,
    "preset": lambda: fitted(features="pos"),
    "pairs": lambda: fitted(features=[*TEMPLATES, "pair:word[0]"]),
    "columns": lambda: fitted(
        [[(word, word[0]) for word in s] for s in WORDS],
        features=["word[0]", "letter[-1]|letter[0]"],
        columns=("word", "letter"),
    ),
    "dicts": lambda: fitted(DICTS, features=None),
    "last weights": lambda: fitted(average=False, algorithm="perceptron"),
    "constraints": lambda: fitted(constraints={"forbidden": [["D", "D"], ["D", "V"]]}),
    "cutoff": lambda: fitted(cutoff=3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_model_is_the_model(kind: str, tmp_path: Path) -> None:
    tagger = KINDS[kind]()
    tagger.save(tmp_path / "model")
    again = SequenceTagger.load(tmp_path / "model")
    assert weights(again) == weights(tagger)
    assert list(again.classes_) == list(tagger.classes_)
    X = {"dicts": DICTS, "columns": [[(word, word[0]) for word in s] for s in WORDS]}.get(
        kind, WORDS
    )
    assert again.predict(X) == tagger.predict(X)
    assert again.predict_nbest(X, 3) == tagger.predict_nbest(X, 3)
    assert again.n_iter_ == tagger.n_iter_
    assert {name: value for name, value in again.get_params().items() if name != "columns"} == {
        name: value for name, value in tagger.get_params().items() if name != "columns"
    }
    assert list(again.columns) == list(tagger.columns)
    assert pickle.loads(pickle.dumps(again)).predict(X) == tagger.predict(X)
    # Saved again, it is the same file.
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    # It goes on learning, and what it says stays sensible.
    again.partial_fit(X[:2], TAGS[:2])
    assert again.score(X, TAGS) == 1.0


def test_unseen_words_and_dead_features(tmp_path: Path) -> None:
    tagger = fitted()
    tagger.save(tmp_path / "model")
    again = SequenceTagger.load(tmp_path / "model")
    assert again.predict(PROBE) == tagger.predict(PROBE)
    alive = {name for name, _ in tagger.state_features_}
    assert set(again.trained_.source.encoder.feature_names()) == alive


def test_half_the_size(tmp_path: Path) -> None:
    tagger = fitted()
    tagger.save(tmp_path / "whole")
    tagger.save(tmp_path / "half", half=True)
    half = SequenceTagger.load(tmp_path / "half")
    assert (tmp_path / "half").stat().st_size < (tmp_path / "whole").stat().st_size
    assert half.predict(WORDS) == tagger.predict(WORDS)
    for ours, theirs in zip(weights(half), weights(tagger), strict=True):
        for key, value in theirs.items():
            assert ours.get(key, 0.0) == pytest.approx(value, rel=1e-3, abs=1e-6)
    with pytest.raises(SeqpaError, match="half=True"):
        fitted(features=["word[0]", "pair:word[0]"]).save(tmp_path / "pairs", half=True)
    assert not (tmp_path / "pairs").exists()


@pytest.mark.parametrize(
    "cost",
    [
        "zero-one",
        {"D": {"N": 3.0}},
        {("D", "N"): 3.0, ("N", "D"): 0.5},
        {("D", "N"): np.float32(3.0), ("N", "D"): Fraction(1, 2)},
        {"D": {"N": Fraction(3, 2)}},
        Hierarchy({"open": {"N": None, "V": None}, "D": None}),
        Hierarchy({"open": {"length": 2, "N": 0.5, "V": None}, "D": None}),
    ],
)
def test_costs_are_stored(cost: Any, tmp_path: Path) -> None:
    fitted(cost=cost).save(tmp_path / "model")
    again = SequenceTagger.load(tmp_path / "model")
    assert again.cost == cost
    again.partial_fit(WORDS, TAGS)


def test_whatever_trains_is_stored(tmp_path: Path) -> None:
    rules = {"forbidden": {("D", "D"), ("V", "V")}, "required": {"D": frozenset("NV")}}
    for seed in (np.random.SeedSequence(3), np.random.PCG64(3), np.random.default_rng(3)):
        tagger = fitted(constraints=rules, random_state=seed)
        tagger.save(tmp_path / "model")
        tagger.save_state(tmp_path / "state")
        again = SequenceTagger.load(tmp_path / "model")
        assert again.predict_nbest(PROBE, 9) == tagger.predict_nbest(PROBE, 9)
        assert again.random_state is None
        assert again.constraints["forbidden"] == [["D", "D"], ["V", "V"]]
        SequenceTagger(**tagger.get_params()).load_state(tmp_path / "state")


def test_a_loaded_tagger_trains_afresh_with_its_resources(tmp_path: Path) -> None:
    (tmp_path / "animals").write_text("the dog\ndog\n")
    lexicon = {"animals": tmp_path / "animals"}
    tagger = fitted(features=['lexicon("animals")[0]', "word[-1]"], resources=lexicon)
    tagger.save(tmp_path / "model")
    (tmp_path / "animals").unlink()
    again = clone(SequenceTagger.load(tmp_path / "model")).fit(WORDS, TAGS)
    assert weights(again) == weights(tagger)
    assert fitted().resources is None


def test_functions_are_named_and_imported_only_if_allowed(tmp_path: Path) -> None:
    tagger = fitted(features=by_ending, cost=root_of_mistakes)
    tagger.save(tmp_path / "model")
    with pytest.raises(SeqpaError, match=r"test_model:by_ending.*allow_imports=True"):
        SequenceTagger.load(tmp_path / "model")
    again = SequenceTagger.load(tmp_path / "model", allow_imports=True)
    assert again.features is by_ending
    assert again.cost is root_of_mistakes
    assert again.predict(WORDS) == tagger.predict(WORDS)
    with pytest.raises(SeqpaError, match="module:function"):
        fitted(features=lambda s: by_ending(s)).save(tmp_path / "lambda")
    assert not (tmp_path / "lambda").exists()
    with pytest.raises(SeqpaError, match="module:function"):  # which object's method?
        fitted(features=Extractor().features).save(tmp_path / "method")
    # A cost matters to training only: the model tags without it, and says so when asked to learn.
    fitted(cost=root_of_mistakes).save(tmp_path / "cost")
    without = SequenceTagger.load(tmp_path / "cost")
    assert without.predict(WORDS) == TAGS
    with pytest.raises(SeqpaError, match="was not imported"):
        without.partial_fit([["the", "rain"]], [["V", "V"]])
    without.set_params(cost="hamming").partial_fit([["the", "rain"]], [["V", "V"]])


# Going on


@pytest.mark.parametrize("dev", [False, True])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("algorithm", ["pa-i", "arow"])
def test_a_stopped_run_goes_on_bit_for_bit(
    tmp_path: Path, algorithm: str, average: bool, dev: bool
) -> None:
    rng = np.random.default_rng(5)
    X = [[f"w{rng.integers(12)}" for _ in range(6)] for _ in range(40)]
    y = [[str(rng.choice(["A", "B", "C"])) for _ in s] for s in X]
    held = (X[:8], y[:8]) if dev else None
    parameters: dict[str, Any] = {
        "features": ["word[0]", "word[-1]", "pair:word[0]"],
        "algorithm": algorithm,
        "average": average,
        "random_state": 7,
        "epochs": 6,
    }
    whole = SequenceTagger(**parameters).fit(X, y, held)
    for stop in (1, 3, 5):
        first = SequenceTagger(**parameters)
        for epoch in first.training(X, y, held):
            if epoch.number == stop:
                first.save_state(tmp_path / "state")
                break
        second = SequenceTagger(**parameters).load_state(tmp_path / "state")
        assert weights(second) == weights(first)
        numbers = [epoch.number for epoch in second.training(X, y, held)]
        assert numbers == list(range(stop + 1, 7))
        assert weights(second) == weights(whole)
        assert second.n_iter_ == whole.n_iter_
        whole.save(tmp_path / "whole")
        second.save(tmp_path / "second")
        assert (tmp_path / "whole").read_bytes() == (tmp_path / "second").read_bytes()


def test_a_state_whose_patience_ran_out_goes_on_no_more(tmp_path: Path) -> None:
    stopped = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = [[f"w{rng.integers(12)}" for _ in range(5)] for _ in range(30)]
        y = [[str(rng.choice(["A", "B", "C"])) for _ in s] for s in X]
        parameters: dict[str, Any] = {
            "features": ["word[0]", "word[-1]"],
            "average": False,
            "C": 0.5,
            "random_state": seed,
            "epochs": 30,
            "patience": 1,
        }
        first = SequenceTagger(**parameters).fit(X[10:], y[10:], (X[:10], y[:10]))
        first.save_state(tmp_path / "state")
        second = SequenceTagger(**parameters).load_state(tmp_path / "state")
        assert list(second.training(X[10:], y[10:], (X[:10], y[:10]))) == []
        assert weights(second) == weights(first)
        assert second.n_iter_ == first.n_iter_
        stopped += first.n_iter_ < 29
    assert stopped == 20


def test_a_state_goes_on_with_its_own_data_only(tmp_path: Path) -> None:
    fitted().save_state(tmp_path / "state")

    def more() -> SequenceTagger:
        return SequenceTagger(TEMPLATES, random_state=0, epochs=20).load_state(tmp_path / "state")

    for X, y in [
        ([["zzz"]], [TAGS[0][:1]]),
        (WORDS[:-1], TAGS[:-1]),
        ([["zzz"] * len(sentence) for sentence in WORDS], TAGS),
        (WORDS, [[TAGS[0][0]] * len(labels) for labels in TAGS]),
    ]:
        again = more()
        with pytest.raises(SeqpaError, match="saved on other data"):
            again.fit(X, y)
        # Told of the mistake, one can still go on.
        assert weights(again.fit(WORDS, TAGS)) == weights(more().fit(WORDS, TAGS))
    # What was learned in between is no longer that training: the next is a new one.
    between = more().partial_fit([["zounds", "!"]], [TAGS[0][:2]])
    fresh = SequenceTagger(TEMPLATES, random_state=0, epochs=20).fit(WORDS, TAGS)
    assert weights(between.fit(WORDS, TAGS)) == weights(fresh)


def test_partial_fit_goes_on_from_a_state(tmp_path: Path) -> None:
    tagger = SequenceTagger(TEMPLATES).partial_fit(WORDS, TAGS)
    tagger.save_state(tmp_path / "state")
    again = SequenceTagger(TEMPLATES).load_state(tmp_path / "state")
    for each in (tagger, again):
        each.partial_fit([["zounds", "!"]], [["UH", "."]])
    assert weights(tagger) == weights(again)


def test_states_ask_for_the_same_parameters_and_labels(tmp_path: Path) -> None:
    fitted().save_state(tmp_path / "state")
    with pytest.raises(SeqpaError, match=r"C = 0\.05, this tagger has 0\.5"):
        SequenceTagger(TEMPLATES, random_state=0, C=0.5).load_state(tmp_path / "state")
    more = SequenceTagger(TEMPLATES, random_state=0, epochs=20).load_state(tmp_path / "state")
    with pytest.raises(SeqpaError, match="'X'"):
        more.fit([["a"]], [["X"]])
    with pytest.raises(SeqpaError, match="no training state"):
        SequenceTagger().save_state(tmp_path / "none")
    with pytest.raises(SeqpaError, match="is a seqpa state, not a model"):
        SequenceTagger.load(tmp_path / "state")
    fitted().save(tmp_path / "model")
    with pytest.raises(SeqpaError, match="is a seqpa model, not a state"):
        SequenceTagger(TEMPLATES).load_state(tmp_path / "model")


# Writing


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagger = fitted()
    tagger.save(tmp_path / "model")
    before = (tmp_path / "model").read_bytes()

    def broken(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(SeqpaError, match="No space left"):
        tagger.save(tmp_path / "model")
    with pytest.raises(SeqpaError, match="No space left"):
        tagger.save_state(tmp_path / "state")
    assert (tmp_path / "model").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(SeqpaError, match="no directory"):
        fitted().save(tmp_path / "nowhere" / "model")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SeqpaError, match="folder"):
        fitted().save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(SeqpaError, match="/proc/model: cannot be written"):
        fitted().save("/proc/model")
    for name in ("x" * 300, "a\0b", "\ud800"):
        with pytest.raises(SeqpaError):
            fitted().save(tmp_path / name)
        with pytest.raises(SeqpaError):
            SequenceTagger.load(tmp_path / name)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SeqpaError, match="a device or a pipe"):
        fitted().save(tmp_path / "pipe")
    with pytest.raises(SeqpaError, match="not trained"):
        SequenceTagger().save(tmp_path / "model")


def test_a_read_only_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)  # even for a file that is not there
    with pytest.raises(SeqpaError, match="model: cannot be written \\(Read-only file system\\)"):
        fitted().save(tmp_path / "model")


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "model"
    fitted().save(path)
    path.chmod(0o640)
    fitted().save(path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_half_a_character_is_stored(tmp_path: Path) -> None:
    odd = "\udc80"  # what Python makes of a byte that is no UTF-8
    tagger = SequenceTagger(["word[0]"], random_state=1).fit([[odd, "b"]], [[odd, "é"]])
    tagger.save(tmp_path / "model")
    assert SequenceTagger.load(tmp_path / "model").predict([[odd, "b"]]) == [[odd, "é"]]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    fitted().save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert SequenceTagger.load(tmp_path / "target").predict(WORDS) == fitted().predict(WORDS)


# Reading what is damaged, foreign or newer


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    tagger = fitted(features=[*TEMPLATES, "pair:word[0]"])
    tagger.save(folder / "model")
    tagger.save_state(folder / "state")
    fitted(DICTS, features=None).save(folder / "dicts")
    return folder


def refused_or_legal(path: Path, X: Any) -> bool:
    """True if the file is refused; else its predictions must be labels, one for each token."""
    try:
        tagger = SequenceTagger.load(path)
        predicted = tagger.predict(X)
    except SeqpaError:
        return True
    assert [len(labels) for labels in predicted] == [len(tokens) for tokens in X]
    assert {label for labels in predicted for label in labels} <= set(tagger.classes_)
    return False


@pytest.mark.parametrize("name", ["model", "dicts"])
def test_truncated_models_are_refused(name: str, good: Path, tmp_path: Path) -> None:
    data = (good / name).read_bytes()
    X = DICTS if name == "dicts" else WORDS
    for size in range(0, len(data), 97):
        (tmp_path / "cut").write_bytes(data[:size])
        assert refused_or_legal(tmp_path / "cut", X), size
    for extra in (b"\0", data):
        (tmp_path / "long").write_bytes(data + extra)
        assert refused_or_legal(tmp_path / "long", X)


@pytest.mark.parametrize("name", ["model", "dicts"])
def test_models_with_flipped_bytes_are_refused(name: str, good: Path, tmp_path: Path) -> None:
    data = (good / name).read_bytes()
    X = DICTS if name == "dicts" else WORDS
    rng = np.random.default_rng(0)
    positions = [*range(0, 40), *rng.integers(len(data), size=400)]
    passed = 0
    for position in positions:
        damaged = bytearray(data)
        damaged[position] ^= int(rng.integers(1, 256))
        (tmp_path / "flipped").write_bytes(bytes(damaged))
        passed += not refused_or_legal(tmp_path / "flipped", X)
    assert passed <= 2  # blanks of the padding may change unseen; nothing else may


def test_states_that_are_cut_or_flipped_are_refused(good: Path, tmp_path: Path) -> None:
    data = (good / "state").read_bytes()
    rng = np.random.default_rng(1)
    path = tmp_path / "state"
    for size in range(0, len(data), 997):
        path.write_bytes(data[:size])
        with pytest.raises(SeqpaError):
            new_tagger().load_state(path)
    for position in rng.integers(len(data), size=150):
        damaged = bytearray(data)
        damaged[position] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(damaged))
        with pytest.raises(SeqpaError):
            new_tagger().load_state(path)


def new_tagger() -> SequenceTagger:
    return SequenceTagger(features=[*TEMPLATES, "pair:word[0]"], random_state=0)


def foreign_files(folder: Path) -> None:
    (folder / "empty").write_bytes(b"")
    (folder / "text").write_text("the dog saw rain\n" * 100)
    (folder / "json").write_text(json.dumps({"seqpa": 1}))
    (folder / "pickle").write_bytes(pickle.dumps({"weights": [1.0, 2.0]}))
    (folder / "random").write_bytes(np.random.default_rng(0).bytes(5000))
    (folder / "zeros").write_bytes(bytes(5000))
    (folder / "huge").write_bytes(b"\xff" * 8 + b"{}")
    (folder / "folder").mkdir()
    with zipfile.ZipFile(folder / "zip", "w") as archive:
        archive.writestr("model", "x")
    save_file({"weight": np.ones((3, 4), np.float32)}, folder / "tensors")
    for name, header in {
        "not json": "{",
        "a list": "[]",
        "deep": "[" * 100_000,
        "null": "null",
        "no version": "{}",
        "old": json.dumps({"version": "1", "kind": "model"}),
        "only version": json.dumps({"version": 1, "kind": "model"}),
    }.items():
        save_file({"weight": np.ones(3, np.float32)}, folder / name, {"seqpa": header})


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    foreign_files(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(SeqpaError, match=path.name):
            SequenceTagger.load(path)
        with pytest.raises(SeqpaError, match=path.name):
            new_tagger().load_state(path)
    with pytest.raises(SeqpaError, match="no such file"):
        SequenceTagger.load(tmp_path / "missing")
    os.mkfifo(tmp_path / "pipe")  # and no waiting for what it may bring
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(SeqpaError, match="a directory or a device"):
            SequenceTagger.load(path)


Change = Callable[[dict[str, Any], dict[str, np.ndarray]], None]


def forged(source: Path, target: Path, change: Change) -> Path:
    """The file with header and arrays changed by someone who knows how to make the checksum."""
    with safe_open(source, framework="numpy") as file:
        header = json.loads(file.metadata()["seqpa"])
        arrays = {name: file.get_tensor(name).copy() for name in file.keys()}  # noqa: SIM118
    change(header, arrays)
    header["checksum"] = checksum(header, arrays)
    save_file(arrays, target, {"seqpa": json.dumps(header)})
    return target


def array(name: str, new: Callable[[np.ndarray], Any]) -> Change:
    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        old = arrays[name]
        arrays[name] = np.ascontiguousarray(np.asarray(new(old)).astype(old.dtype))

    return change


def entry(name: str, value: Any) -> Change:
    return lambda header, arrays: header.__setitem__(name, value)


def parameter(name: str, value: Any) -> Change:
    return lambda header, arrays: header["parameters"].__setitem__(name, value)


def nested(levels: int) -> list[Any]:
    """A list in a list in a list."""
    inside: list[Any] = []
    for _ in range(levels):
        inside = [inside]
    return inside


FORGERIES: dict[str, Change] = {
    "rows point outside": array("weights.rows", lambda a: a + np.array([10**6, 0])),
    "rows point before": array("weights.rows", lambda a: a - np.array([10, 0])),
    "rows are too long": array("weights.rows", lambda a: np.abs(a) + np.array([0, 10**5])),
    "too few rows": array("weights.rows", lambda a: a[:-1]),
    "rows without columns": array("weights.rows", lambda a: a.reshape(-1)),
    "labels that do not exist": array("weights.arena", lambda a: a + 100),
    "a weight is no number": array("weights.arena", lambda a: a * np.nan),
    "arena of two dimensions": array("weights.arena", lambda a: a.reshape(1, -1)),
    "no arena": lambda header, arrays: arrays.__delitem__("weights.arena"),
    "arena of integers": lambda header, arrays: arrays.__setitem__(
        "weights.arena", arrays["weights.arena"].astype(np.int32)
    ),
    "transitions too small": array("weights.transitions", lambda a: a[:2]),
    "infinite transitions": array("weights.transitions", lambda a: a + np.inf),
    "pair rows outside": array("weights.pair_rows", lambda a: a + np.array([10**6, 0])),
    "pair labels outside": array("weights.pair_arena", lambda a: a + 10**5),
    "no pair arena": lambda header, arrays: arrays.__delitem__("weights.pair_arena"),
    "no labels": entry("labels", []),
    "labels twice": entry("labels", ["D", "D", "V"]),
    "labels that are numbers": entry("labels", [1, 2, 3]),
    "more labels": entry("labels", ["D", "N", "V", "X"]),
    "labels in a dict": entry("labels", {"D": 1}),
    "no encoder": entry("encoder", {}),
    "an encoder that is a list": entry("encoder", []),
    "no parameters": entry("parameters", None),
    "an unknown parameter": parameter("colour", "red"),
    "a strange parameter": parameter("cost", {"one": 1, "two": 2}),
    "a strange hierarchy": parameter("cost", {"hierarchy": [[]]}),
    "constraints of other labels": parameter(
        "constraints", {"mapping": {"forbidden": [["X", "Y"]]}}
    ),
    "an epoch that is no number": entry("epoch", "last"),
    "newer": entry("version", 2),
    "another kind": entry("kind", "poem"),
    "rows that overlap": array("weights.rows", lambda a: np.repeat(a[:1], len(a), axis=0)),
    "rows of more labels than there are": array(
        "weights.rows", lambda a: np.where([False, True], np.minimum(a, 0) + 4, a)
    ),
    "a label of the padding": array("weights.pair_arena", lambda a: np.where(a == 1, 7, a)),
    "a huge weight": array("weights.arena", lambda a: np.where(a == a[1], 1e30, a)),
    "a huge transition": array("weights.transitions", lambda a: a - 1e17),
    "thirty dimensions": array("weights.transitions", lambda a: a.reshape(*[1] * 28, 3, 3)),
    "a label that clears the screen": entry("labels", ["D", "N", "\x1b[2J"]),
    "a label of another line": entry("labels", ["D", "N", "V\n"]),
    "an infinite epoch": entry("epoch", math.inf),
    "parameters 600 deep": lambda header, arrays: header["parameters"].__setitem__(
        "constraints", {"mapping": {"forbidden": nested(600)}}
    ),
    "a hierarchy 600 deep": parameter(
        "cost", {"hierarchy": [list(map(str, range(n))) for n in range(600)]}
    ),
    "a million threads": parameter("n_jobs", 10**6),
    "columns that are a number": parameter("columns", 3),
    "a matrix that is none": parameter("cost", {"matrix": [[0, 1], [2]]}),
    "a seed that is a text": parameter("random_state", "x"),
    "a template that is no template": lambda header, arrays: header["encoder"].__setitem__(
        "templates", ['regex("(a)\\\\1")']
    ),
    "more columns than anybody has": lambda header, arrays: header["encoder"].__setitem__(
        "columns", [f"c{n}" for n in range(100_000)]
    ),
    "more templates than anybody writes": lambda header, arrays: header["encoder"].__setitem__(
        "templates", [f"suffix({n})" for n in range(1, 3000)]
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_forged_models_are_refused(name: str, good: Path, tmp_path: Path) -> None:
    path = forged(good / "model", tmp_path / "forged", FORGERIES[name])
    with pytest.raises(SeqpaError, match="forged"):
        SequenceTagger.load(path)


def encoder_arrays(path: Path) -> list[str]:
    with safe_open(path, framework="numpy") as file:
        return sorted(name for name in file.keys() if name.startswith("encoder."))  # noqa: SIM118


CHANGES: dict[str, Callable[[np.ndarray], Any]] = {
    "shorter": lambda a: a[:-1],
    "longer": lambda a: np.concatenate([a, a]),
    "larger": lambda a: a.astype(np.int64) + 1000,
    "negative": lambda a: -1 - a.astype(np.int64),
    "zero": lambda a: a * 0,
    "reversed": lambda a: a[::-1],
    "flat": lambda a: a.reshape(1, -1),
}


@pytest.mark.parametrize("model", ["model", "dicts"])
@pytest.mark.parametrize("change", CHANGES)
def test_forged_encoders_are_refused_or_harmless(
    change: str, model: str, good: Path, tmp_path: Path
) -> None:
    X = DICTS if model == "dicts" else WORDS + PROBE
    for name in encoder_arrays(good / model):
        path = forged(good / model, tmp_path / "forged", array(name, CHANGES[change]))
        refused_or_legal(path, X)


def test_the_right_forgery_is_the_model(good: Path, tmp_path: Path) -> None:
    path = forged(good / "model", tmp_path / "forged", lambda header, arrays: None)
    assert weights(SequenceTagger.load(path)) == weights(SequenceTagger.load(good / "model"))
    assert model_header(path)["labels"] == ["D", "N", "V"]


def test_a_model_runs_no_code(good: Path, tmp_path: Path) -> None:
    assert "antigravity" not in sys.modules
    named = {"function": "antigravity:geohash"}
    for name in ("features", "cost", "constraints"):
        path = forged(good / "model", tmp_path / "forged", parameter(name, named))
        refused_or_legal(path, WORDS)
        assert "antigravity" not in sys.modules
    path = forged(good / "model", tmp_path / "forged", parameter("features", named))
    with pytest.raises(SeqpaError, match="allow_imports=True"):
        SequenceTagger.load(path)
    bad = {"function": "no_such_module:function"}
    path = forged(good / "model", tmp_path / "forged", parameter("features", bad))
    with pytest.raises(SeqpaError, match="no_such_module"):
        SequenceTagger.load(path, allow_imports=True)


STATE_FORGERIES: dict[str, Change] = {
    "rows point outside": array("training.rows", lambda a: a + np.array([10**8, 0])),
    "rows point before": array("training.rows", lambda a: a - np.array([10**8, 0])),
    "rows are too long": array("training.rows", lambda a: np.abs(a) + np.array([0, 10**7])),
    "too few rows": array("training.rows", lambda a: a[:1]),
    "rows without columns": array("training.rows", lambda a: a.reshape(-1)),
    "labels that do not exist": array("training.arena", lambda a: a + 10**7),
    "transitions too small": array("training.transitions", lambda a: a[:, :1]),
    "transition sums too small": array("training.transition_sums", lambda a: a[:1]),
    "sums too small": array("training.sums", lambda a: a[:-1]),
    "sums of another type": lambda header, arrays: arrays.__setitem__(
        "training.sums", arrays["training.sums"].astype(np.float32)
    ),
    "gains of nothing": array("training.gains", lambda a: np.zeros(3, np.float32)),
    "no sums": lambda header, arrays: arrays.__delitem__("training.sums"),
    "pair sums too small": array("training.pair_sums", lambda a: a[:-1]),
    "arena of integers": lambda header, arrays: arrays.__setitem__(
        "training.arena", arrays["training.arena"].astype(np.int32)
    ),
    "no rows": lambda header, arrays: arrays.__delitem__("training.rows"),
    "pair rows outside": array("training.pair_rows", lambda a: a + np.array([10**8, 0])),
    "no clock": array("training.clock", lambda a: a[:0]),
    "more labels": entry("labels", ["D", "N", "V", "X"]),
    "no parameters": entry("parameters", None),
    "no generator": entry("generator", None),
    "another generator": entry("generator", {"bit_generator": "test"}),
    "an epoch that is no number": entry("epoch", "last"),
    "an epoch without end": entry("epoch", math.inf),
    "a generator beyond its bounds": lambda header, arrays: header["generator"].__setitem__(
        "has_uint32", 10**30
    ),
    "rows that overlap": array("training.rows", lambda a: np.repeat(a[:1], len(a), axis=0)),
    "dense rows that overlap": array("training.rows", lambda a: a * 0 + np.array([0, -1])),
    "pair rows that overlap": array(
        "training.pair_rows", lambda a: np.repeat(a[a[:, 1] > 0][:1], len(a), axis=0)
    ),
    "a huge weight": array("training.arena", lambda a: np.where(a == a[1], 1e30, a)),
    "a huge transition": array("training.transitions", lambda a: a * 0 + 1e20),
    "huge sums": array("training.sums", lambda a: a + 1e200),
    "a clock that runs backwards": array("training.clock", lambda a: a * 0 - 1),
    "of another order": array("training.second_order", lambda a: ~a),
    "negative precision": array("training.transition_gains", lambda a: a - 1),
    "a best score that is a text": entry("best_score", "good"),
    "a best score without weights": entry("best_score", 0.5),
    "online totals that are few": entry("online", [1]),
    "online totals that are texts": entry("online", ["1", "2", "3", "4"]),
    "online totals without end": entry("online", [1, math.nan, 1, 1]),
    "data that are texts": entry("data", ["a", "b"]),
    "an epoch before the first": entry("epoch", -1),
    "a label that clears the screen": entry("labels", ["D", "N", "\x9b2J"]),
}


@pytest.mark.parametrize("name", STATE_FORGERIES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_forged_states_are_refused(name: str, good: Path, tmp_path: Path) -> None:
    path = forged(good / "state", tmp_path / "forged", STATE_FORGERIES[name])
    with pytest.raises(SeqpaError, match="forged"):
        new_tagger().load_state(path)


GENERATORS: dict[str, list[tuple[str, Any]]] = {
    "PCG64": [("state.inc", 0), ("state.state", 2**128), ("has_uint32", 2), ("uinteger", -1)],
    "PCG64DXSM": [("state.inc", 2), ("state.state", -1), ("uinteger", 2**32), ("state", None)],
    "MT19937": [("state.pos", 625), ("state.pos", -1), ("state.key", [0] * 624), ("state.key", [])],
    "Philox": [
        ("buffer_pos", 5),
        ("buffer_pos", -1),
        ("buffer", [0]),
        ("state.counter", [0.5] * 4),
    ],
    "SFC64": [("state.state", [1, 2, 3]), ("state.state", [2**64] * 4), ("has_uint32", True)],
}


@pytest.mark.parametrize("name", GENERATORS)
def test_states_of_generators(name: str, tmp_path: Path) -> None:
    def tagger(seed: Any) -> SequenceTagger:
        return SequenceTagger(TEMPLATES, epochs=4, random_state=seed)

    rng = np.random.Generator(getattr(np.random, name)(5))
    rng.integers(9, dtype=np.uint32)  # half a number is left
    first = tagger(rng)
    for epoch in first.training(WORDS, TAGS):
        if epoch.number == 2:
            first.save_state(tmp_path / "state")
    again = tagger(None).load_state(tmp_path / "state").fit(WORDS, TAGS)
    assert weights(again) == weights(first)
    for place, value in GENERATORS[name]:

        def change(header: Any, arrays: Any, place: str = place, value: Any = value) -> None:
            *above, key = place.split(".")
            inner = header["generator"]
            for part in above:
                inner = inner[part]
            inner[key] = value

        path = forged(tmp_path / "state", tmp_path / "forged", change)
        with pytest.raises(SeqpaError, match=f"forged.*generator {name}"):
            tagger(None).load_state(path)


def test_arrays_may_stand_anywhere(good: Path, tmp_path: Path) -> None:
    """Where numbers are not aligned they are copied: no processor reads them otherwise."""
    with safe_open(good / "model", framework="numpy") as file:
        header = json.loads(file.metadata()["seqpa"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    at, entries, pieces = 1, {"__metadata__": {}}, [b"\1"]
    arrays_and_one = {"a": np.ones(1, np.uint8), **arrays}
    header["checksum"] = checksum(header, arrays_and_one)
    entries["a"] = {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}
    names = {"float32": "F32", "int32": "I32", "int64": "I64", "uint8": "U8", "uint32": "U32"}
    for name, values in arrays.items():
        data = values.tobytes()
        entries[name] = {
            "dtype": names[str(values.dtype)],
            "shape": list(values.shape),
            "data_offsets": [at, at + len(data)],
        }
        at += len(data)
        pieces.append(data)
    entries["__metadata__"] = {"seqpa": json.dumps(header)}
    text = json.dumps(entries).encode()
    path = tmp_path / "odd"
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(pieces))
    odd = SequenceTagger.load(path)
    assert weights(odd) == weights(SequenceTagger.load(good / "model"))
    found = odd.trained_.weights
    assert all(values.flags.aligned for values in (found.rows, found.arena, found.transitions))


def test_what_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(SeqpaError, match="control character"):
        SequenceTagger(["word[0]"]).fit([["a"]], [["\x1b[2J"]])
    tagger = fitted()
    tagger.trained_.weights.transitions[0, 0] = 1e20
    with pytest.raises(SeqpaError, match="no number up to"):
        tagger.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def labels_exist_twin(rows: Any, arena: Any, n_labels: int, width: int, pairs: bool) -> bool:
    for start, size in rows:
        for label in arena[start : start + 2 * max(size, 0) : 2]:
            if pairs and not (label in range(n_labels * width) and label % width < n_labels):
                return False
            if not pairs and label not in range(n_labels):
                return False
    return True


@pytest.mark.pure
@pytest.mark.parametrize("pairs", [False, True])
def test_labels_of_rows_are_checked_as_the_twin_does(pairs: bool) -> None:
    rng = np.random.default_rng(5)
    odd = [-1.0, 0.5, np.nan, np.inf, 3.0, 4.0, 11.0, 12.0]  # of 3 labels, in rows of 4
    seen = set()
    for _ in range(200):
        sizes = rng.integers(0 if pairs else -1, 4, 6)
        starts = np.concatenate([[0], np.cumsum(np.where(sizes < 0, 4, 2 * sizes))])
        rows = np.column_stack([starts[:-1], sizes]).astype(np.int32)
        arena = rng.integers(0, 3, starts[-1]).astype(np.float32)
        if pairs:
            arena += 4 * rng.integers(0, 3, starts[-1])
        if rng.random() < 0.6 and len(arena):
            arena[rng.integers(len(arena))] = rng.choice(odd)  # a weight, or a label
        found = bool(labels_exist(rows, arena, 3, 4, pairs))
        assert found == labels_exist_twin(rows, arena, 3, 4, pairs)
        seen.add(found)
    assert seen == {False, True}
