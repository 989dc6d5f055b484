"""Training within a limit of memory: the same as in memory, nothing left behind, clear words."""

from __future__ import annotations

import itertools
import os
import platform
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import LONG

import seqpa
from seqpa import pages
from seqpa.array_files import InPieces, read_file, write_file
from seqpa.config import Config
from seqpa.data import read
from seqpa.errors import SeqpaError
from seqpa.sequence import streamed, tables
from seqpa.sequence.budget import SPARE, Budget, bytes_of, resident
from seqpa.sequence.encode import FeatureEncoder
from seqpa.sequence.spill import ArrayFile, on_disk
from seqpa.sequence.tagger import SequenceTagger
from seqpa.sequence.weights import TrainingWeights
from seqpa.streamed_run import StreamedRun, TrainingFiles, run_of

MUCH = "1TB"
TEMPLATES = ["word[0]", "word[-1]|word[0]", "tags[0]", "besttag[-1]", "pair:word[0]"]


def some_text(n: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    rng = random.Random(seed)
    X = [
        [f"w{rng.randrange(40)}{rng.choice(['ing', 'ED', ''])}" for _ in range(rng.randint(1, 7))]
        for _ in range(n)
    ]
    y = [
        ["ABC"[(len(w) + i) % 3] if rng.random() < 0.9 else "A" for i, w in enumerate(s)] for s in X
    ]
    return X, y


def weights_of(tagger: SequenceTagger) -> tuple[Any, Any]:
    return tagger.state_features_, tagger.transition_features_


# The twin: the ordinary learner, told the same order


def twin(
    tagger: SequenceTagger, X: list[list[str]], y: list[list[str]], block_tokens: int
) -> SequenceTagger:
    """`tagger`, trained by one call of the ordinary learner for each epoch, all in memory, in the
    order that `docs/scaling.md` tells: blocks, and sentences within each."""
    flat = [label for own in y for label in own]
    state, data, _ = tagger._data_in_memory(X, y, None, None)
    learner = tagger.learner_for(state.labels)
    assert len(flat) == len(data.gold)
    ends, n = [0], 0
    for i, sentence in enumerate(X, 1):
        n += len(sentence)
        if n >= block_tokens or i == len(X):
            ends.append(i)
            n = 0
    blocks = list(itertools.pairwise(ends))
    for _ in range(tagger.epochs):
        chosen = [0] if len(blocks) == 1 else state.rng.permutation(len(blocks)).tolist()
        order = [blocks[b][0] + state.rng.permutation(blocks[b][1] - blocks[b][0]) for b in chosen]
        learner.epoch(state.weights, data.encoded, data.gold, np.concatenate(order))
    made = SequenceTagger(**tagger.get_params())
    made._learned.move(state)
    return made


@given(
    n=st.integers(1, 60),
    seed=st.integers(0, 5),
    block_tokens=st.sampled_from([1, 7, 50, 10**6]),
    cutoff=st.sampled_from([1, 2]),
    algorithm=st.sampled_from(["pa-i", "perceptron", "arow"]),
)
@settings(max_examples=25, deadline=None)
def test_blocks_learn_what_the_ordinary_learner_does_in_the_same_order(
    n: int, seed: int, block_tokens: int, cutoff: int, algorithm: str
) -> None:
    X, y = some_text(n, seed)
    params: dict[str, Any] = {"features": TEMPLATES, "epochs": 2, "random_state": seed}
    params |= {"cutoff": cutoff, "algorithm": algorithm}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed.encoded_on_disk, "__defaults__", (block_tokens,))
        patch.setattr(streamed, "_PIECE_TOKENS", 11)
        disk = SequenceTagger(memory=MUCH, **params).fit(X, y)
    assert weights_of(disk) == weights_of(twin(SequenceTagger(**params), X, y, block_tokens))


@pytest.mark.parametrize("features", ["pos", "ner", "chunk", TEMPLATES])
@pytest.mark.parametrize("more", [{}, {"cutoff": 3}, {"shuffle": False}, {"lookahead": "auto"}])
def test_a_text_of_one_block_is_learned_as_in_memory(
    tmp_path: Path, features: Any, more: dict[str, Any]
) -> None:
    X, y = some_text(150)
    params = {"features": features, "epochs": 3, "random_state": 3, "columns": ("word",), **more}
    if features == "chunk":
        X, params["columns"] = [[(w, w[-1]) for w in s] for s in X], ("word", "pos")
    plain, disk = SequenceTagger(**params), SequenceTagger(memory=MUCH, **params)
    dev = X[:20], y[:20]
    assert weights_of(disk.fit(X, y, dev=dev)) == weights_of(plain.fit(X, y, dev=dev))
    assert disk.predict(X) == plain.predict(X)
    assert disk.n_iter_ == plain.n_iter_
    plain.save(tmp_path / "plain")
    disk.save(tmp_path / "disk")
    found, expected = (read_file(tmp_path / name, "model")[1] for name in ("disk", "plain"))
    assert {k: v.tolist() for k, v in found.items()} == {k: v.tolist() for k, v in expected.items()}


def test_weights_of_sentences_and_missing_labels() -> None:
    X, y = some_text(60)
    y = [
        [None if (i + j) % 7 == 0 else label for j, label in enumerate(own)]
        for i, own in enumerate(y)
    ]  # type: ignore[misc]
    weights = [0.0 if i % 5 == 0 else 1 + i % 3 for i in range(60)]
    params: dict[str, Any] = {"features": TEMPLATES, "epochs": 3, "random_state": 1}
    plain = SequenceTagger(**params).fit(X, y, sample_weight=weights)
    disk = SequenceTagger(memory=MUCH, **params).fit(X, y, sample_weight=weights)
    assert weights_of(disk) == weights_of(plain)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_change_nothing(n_jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed.encoded_on_disk, "__defaults__", (100,))
    X, y = some_text(120)
    params: dict[str, Any] = {"features": TEMPLATES, "epochs": 2, "random_state": 1}
    one = SequenceTagger(memory=MUCH, lookahead="auto", **params).fit(X, y)
    more = SequenceTagger(memory=MUCH, lookahead="auto", n_jobs=n_jobs, **params).fit(X, y)
    assert weights_of(one) == weights_of(more)


def test_a_state_goes_on_to_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed.encoded_on_disk, "__defaults__", (60,))
    X, y = some_text(90)
    params: dict[str, Any] = {"features": TEMPLATES, "epochs": 4, "random_state": 1, "cutoff": 2}
    whole = SequenceTagger(memory=MUCH, **params).fit(X, y)
    half = SequenceTagger(memory=MUCH, **params)
    epochs = half.training(X, y)
    next(epochs), next(epochs)
    half.save_state(tmp_path / "state")
    epochs.close()
    rest = SequenceTagger(memory=MUCH, **params).load_state(tmp_path / "state")
    assert [epoch.number for epoch in rest.training(X, y)] == [3, 4]
    assert weights_of(rest) == weights_of(whole)
    other = SequenceTagger(memory=MUCH, **params).load_state(tmp_path / "state")
    with pytest.raises(SeqpaError, match="saved on other data"):
        other.fit(X[:80], y[:80])


# Little room: everything grows in small steps and in place, and comes out the same


class Told(Budget):
    """A budget that has as much left as it is told, one number after the other."""

    def __init__(self, left: list[float], refuses: bool = False) -> None:
        super().__init__(10**9)
        self.left = itertools.cycle(left)
        self.refuses = refuses

    def room(self) -> float:
        return next(self.left)

    def check(self, more: float, what: str, advice: str = "") -> None:
        if self.refuses:
            super().check(more, what, advice)


def encoder_arrays(encoder: FeatureEncoder) -> dict[str, Any]:
    return {name: array.tolist() for name, array in encoder.to_arrays()[0].items()}


@given(left=st.lists(st.sampled_from([-(10.0**6), 0.0, 300.0, 10.0**4, 10.0**9]), min_size=1))
@settings(max_examples=25, deadline=None)
@pytest.mark.parametrize("cutoff", [1, 2])
def test_tables_that_grow_by_what_is_left_hold_the_same(cutoff: int, left: list[float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_PIECE", 32)
        patch.setattr(pages, "PIECE", 512)
        encoders = [FeatureEncoder([*TEMPLATES, "word[-1]|word[0]|word[1]"]) for _ in range(2)]
        for encoder, budget in zip(encoders, [None, Told(left)], strict=True):
            X, y = some_text(80)
            words, labels = [[w for own in part for w in own] for part in (X, y)]
            lengths = [len(own) for own in X]
            encoder.extend_transform([words[:5]], [5], labels[:5])
            encoder.within(budget)
            found = encoder.training_transform([words], lengths, labels, grow=True)
            if cutoff > 1:
                encoder.cutoff = cutoff
                counts = [found.features, found.pair_features]
                encoder.drop_rare([np.bincount(own).astype(np.uint32) for own in counts])
                encoder.cutoff = 1
            encoder.within(None)
            encoder.put_on_disk(None)
        plain, other = encoders
        assert encoder_arrays(other) == encoder_arrays(plain)
        # On disk they find the same, and they go on growing.
        for words in (["w1", "w2", "w1ing"], ["new", "w1", "new"]):
            found, expected = (e.extend_transform([words], [3], ["A", "B", "A"]) for e in encoders)
            assert found.features.tolist() == expected.features.tolist()
        assert encoder_arrays(other) == encoder_arrays(plain)


class Tight(Budget):
    """A budget that is for the numbers of some weights alone."""

    def __init__(self, weights: TrainingWeights, most: int) -> None:
        super().__init__(10**9)
        self.weights = weights
        self.most = most

    def room(self) -> float:
        each = 16 if self.weights.second_order else 12
        return each * (self.most - sum(arrays_used(self.weights)))


def arrays_used(weights: TrainingWeights) -> list[int]:
    arrays = weights.to_arrays()
    return [len(arrays[name]) for name in ("arena", "pair_arena") if name in arrays]


@pytest.mark.parametrize("algorithm", ["pa-i", "arow"])
@pytest.mark.parametrize("templates", [TEMPLATES, TEMPLATES[:3]])
def test_weights_close_their_holes_before_they_are_refused(
    algorithm: str, templates: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seqpa.sequence.weights._LEAST_FREE", 8)
    monkeypatch.setattr("seqpa.sequence.weights._FROZEN", 50)
    X, y = some_text(120)
    tagger = SequenceTagger(templates, algorithm=algorithm)

    def trained(most: int | None) -> TrainingWeights:
        state, data, _ = tagger._data_in_memory(X, y, None, None)
        weights = state.weights
        if most is not None:
            weights.within(Tight(weights, most))
        learner = tagger.learner_for(state.labels)
        order = np.arange(len(X))
        for _ in range(4):
            learner.epoch(weights, data.encoded, data.gold, order)
        return weights

    plain = trained(None)
    used = sum(arrays_used(plain))
    close = trained(used * 9 // 10)
    assert sum(arrays_used(close)) <= used * 9 // 10
    for ours, theirs in (
        (close.freeze(True), plain.freeze(True)),
        (close.freeze(False), plain.freeze(False)),
    ):
        assert ours.rows.tolist() == theirs.rows.tolist()
        assert ours.arena.tobytes() == theirs.arena.tobytes()
        assert ours.transitions.tobytes() == theirs.transitions.tobytes()
        if theirs.pair_rows is not None:
            assert ours.pair_rows.tolist() == theirs.pair_rows.tolist()
            assert ours.pair_arena.tobytes() == theirs.pair_arena.tobytes()
        assert ours.nonzero().tolist() == theirs.nonzero().tolist()
    TrainingWeights.validate(close.to_arrays())
    with pytest.raises(SeqpaError, match="and with the weights this process needs"):
        trained(used // 10)


def test_where_the_system_has_no_such_arrays_weights_move(monkeypatch: pytest.MonkeyPatch) -> None:
    real, most = pages.fresh, 10**5

    def small(n: int, dtype: Any) -> Any:
        if n > most:
            raise OSError("no memory")
        return real(n, dtype)

    X, y = some_text(120)
    params: dict[str, Any] = {"features": TEMPLATES, "epochs": 3, "random_state": 1}
    plain = SequenceTagger(**params).fit(X, y)
    monkeypatch.setattr("seqpa.sequence.weights._first_capacity", lambda n: 2000)
    monkeypatch.setattr("seqpa.sequence.weights._LEAST_FREE", 8)
    monkeypatch.setattr("seqpa.sequence.weights.fresh", small)
    disk = SequenceTagger(memory=MUCH, **params).fit(X, y)
    assert weights_of(disk) == weights_of(plain)
    most = 2500
    with pytest.raises(SeqpaError, match=r"the system has no memory for \d+ weights more"):
        SequenceTagger(memory=MUCH, **params).fit(X, y)


def test_learning_goes_on_after_training_within_memory(tmp_path: Path) -> None:
    X, y = some_text(80)
    params: dict[str, Any] = {"features": TEMPLATES, "epochs": 2, "random_state": 3}
    taggers = [SequenceTagger(**params), SequenceTagger(memory=MUCH, **params)]
    for i, tagger in enumerate(taggers):
        tagger.fit(X, y)
        tagger.partial_fit([["new", "w1"], ["w2ing"]], [["B", "D"], ["A"]])
        tagger.learn_one(["newer", "w3"], ["A", "C"])
        assert tagger.training_state_.weights.budget is None
        # What was learned since is in no file from which pages could be read again.
        tagger.save_state(tmp_path / f"{i}.state")
        tagger.save(tmp_path / f"{i}.model")
    assert weights_of(taggers[0]) == weights_of(taggers[1])
    loaded = [SequenceTagger.load(tmp_path / f"{i}.model") for i in range(2)]
    assert loaded[0].state_features_ == loaded[1].state_features_ == taggers[0].state_features_


MEASURED = """
import random, re, sys
from pathlib import Path
from seqpa import SequenceTagger
rng = random.Random(1)
X = [[f"w{rng.randrange(8000)}" for _ in range(10)] for _ in range(6000)]
y = [["ABC"[len(w) % 3] if rng.random() < 0.9 else "A" for w in s] for s in X]
tagger = SequenceTagger("pos", epochs=1, memory=int(sys.argv[1]), random_state=1)
try:
    tagger.fit(X, y)
    tagger.save_state(sys.argv[2])
    tagger.save(sys.argv[2])
except Exception as error:
    print(error)
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(int(peak[1]) * 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory as Linux tells it")
def test_the_peak_stays_below_the_setting_and_little_more_is_asked_for(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}

    def run(memory: int) -> list[str]:
        command = [sys.executable, "-c", MEASURED, str(memory), str(tmp_path / "model")]
        done = subprocess.run(command, capture_output=True, env=environment, text=True, check=True)
        return done.stdout.splitlines()

    (peak,) = run(10**12)
    setting = int(1.25 * int(peak)) + SPARE  # which matters where there is little else
    (less,) = run(setting)
    assert int(less) <= setting
    tight = int(0.8 * int(peak))
    told, reached = run(tight)
    assert told.startswith(f"memory is {-(-tight // 10**6)}MB, and with the ")
    assert int(reached) <= tight


def test_messages_tell_a_size_that_is_surely_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    have = 100 * 10**6
    monkeypatch.setattr("seqpa.sequence.budget.resident", lambda: have)
    budget = Budget(300 * 10**6)
    budget.begin()
    budget.check(100 * 10**6, "words")
    budget.kept_back = 90 * 10**6
    with pytest.raises(SeqpaError, match=r"^memory is 300MB, and with words this process needs"):
        budget.check(100 * 10**6, "words")
    # A quarter of the text has brought 206 MB: what is there and 824 MB, and a tenth beyond.
    budget.share = 0.25
    with pytest.raises(SeqpaError, match=r"needs 306MB: set memory to 1.1GB, or leave out rare"):
        budget.check(100 * 10**6, "words")
    budget.share, budget.later = 1.0, 10**9
    with pytest.raises(SeqpaError, match=r"needs 306MB: set memory to 1.5GB, or leave out rare"):
        budget.check(100 * 10**6, "words")


# What is refused, and in which words


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"stages": 2}, "stages is 2: with memory it can only be 1"),
        ({"seeds": 2}, "seeds is 2: with memory it can only be 1"),
        ({"warm_start": True}, "warm_start is True"),
        ({"calibration": "cv"}, "with memory choose 'dev' or 'none'"),
        ({"features": "ner-document"}, "no template can look elsewhere"),
        ({"features": lambda s: [{"w": w} for w in s]}, "must be a preset or templates"),
        ({"memory": "much"}, "memory is 'much': it must be a size such as 2GB"),
        ({"memory": 0}, "memory is 0: it must be a size such as 2GB"),
        ({"memory_folder": "/no/such/folder"}, "/no/such/folder: the training text cannot be kept"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(
    params: dict[str, Any], told: str
) -> None:
    class Unread:
        def chunks(self) -> Any:
            raise AssertionError("it was read")

    with pytest.raises(SeqpaError, match=told):
        SequenceTagger(**{"memory": MUCH, "features": TEMPLATES, **params}).fit(Unread())


def test_too_little_memory_is_one_line_that_says_what_would_fit() -> None:
    X, y = some_text(50)
    with pytest.raises(
        SeqpaError,
        match=r"memory is 1MB, and with the words .* needs \d+MB: set memory to \d+MB at the least",
    ):
        SequenceTagger(memory="1MB").fit(X, y)
    enough = 3 * resident()
    Budget(enough).check(0, "nothing")


def test_the_rule_that_a_label_breaks_is_told_with_its_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(streamed.encoded_on_disk, "__defaults__", (3,))
    X = [["a", "b"]] * 9
    y = [["B-x", "I-x"]] * 8 + [["O", "I-x"]]
    with pytest.raises(SeqpaError, match=r"^sentence 9"):
        SequenceTagger(["word[0]"], constraints="bio", memory=MUCH).fit(X, y)


@pytest.mark.parametrize(
    ("size", "n"), [("2GB", 2 * 10**9), ("0.5 MiB", 2**19), ("7k", 7000), (12, 12)]
)
def test_sizes(size: Any, n: int) -> None:
    assert bytes_of(size) == n


# Files


@given(st.lists(st.lists(st.integers(-9, 9), max_size=2000), max_size=6), st.data())
@settings(max_examples=30, deadline=None)
def test_an_array_on_disk_is_the_array(parts: list[list[int]], data: st.DataObject) -> None:
    file = ArrayFile(np.int32)
    for part in parts:
        file.append(np.array(part, np.int64))
    whole = [number for part in parts for number in part]
    begin = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(begin, len(whole)))
    assert len(file) == len(whole)
    assert file.view(begin, end).tolist() == whole[begin:end]
    file.close()


def test_the_heap_is_given_back_before_anything_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    held = [90]
    monkeypatch.setattr("seqpa.sequence.budget.resident", lambda: held[0] * 10**6)
    monkeypatch.setattr("seqpa.sequence.budget.give_back_heap", lambda: held.__setitem__(0, 30))
    budget = Budget(100 * 10**6)
    budget.check(50 * 10**6, "the words")
    assert held == [30]
    with pytest.raises(SeqpaError, match="needs 106MB"):
        budget.check(60 * 10**6, "the words")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_what_the_heap_keeps_goes_back() -> None:
    kept = [bytes(1000) for _ in range(100_000)]
    last = bytes(1000)  # above all of them: the heap cannot become shorter by itself
    before = resident()
    del kept
    pages.give_back_heap()
    assert resident() < before - 50 * 10**6
    del last


@given(sizes=st.lists(st.integers(0, 700), max_size=4), seed=st.integers(0, 9))
@settings(max_examples=20, deadline=None)
def test_arrays_in_pages_move_and_are_given_back(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "PIECE", 1024)
        for size in sizes:
            numbers = rng.integers(0, 9, 10 * size)
            old, new = pages.fresh(len(numbers), np.int64), pages.fresh(2 * len(numbers), np.int64)
            old[:] = numbers
            pages.move(old, new)
            assert new.tolist() == [*numbers.tolist(), *[0] * len(numbers)]
            found = on_disk(new)
            assert [n for piece in pages.slices(found) for n in piece.tolist()] == found.tolist()
            assert found.tolist()[: len(numbers)] == numbers.tolist()


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory as Linux tells it")
def test_what_is_given_back_is_free() -> None:
    before = resident()
    array = pages.fresh(5 * 10**6, np.int64)
    array[:] = 1
    assert resident() - before > 35e6
    pages.give_back(array[: 4 * 10**6])
    assert resident() - before < 20e6
    assert (array[4 * 10**6 :] == 1).all()
    found = on_disk(array)
    assert int(found.sum()) >= 10**6
    for _ in pages.slices(found):
        pass
    assert resident() - before < 10e6


def test_a_file_of_arrays_in_pieces_is_that_of_whole_ones(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    arrays: dict[str, Any] = {
        "b": np.arange(7, dtype=np.float32),
        "a": np.arange(12, dtype=np.int32).reshape(6, 2),
        "none": np.zeros(0, np.int64),
        "c": np.array([True, False]),
        "t": np.frombuffer("é".encode(), np.uint8),
        "strided": np.arange(10.0)[::3],
    }
    header = {"labels": ["é", '"'], "parameters": {}, "encoder": {}}
    write_file(tmp_path / "whole", "model", header, arrays)
    cut = {
        name: InPieces(own.dtype, own.shape, lambda own=own: [own[:1], own[1:4], own[4:]])
        for name, own in arrays.items()
    }
    write_file(tmp_path / "pieces", "model", header, cut)
    assert (tmp_path / "pieces").read_bytes() == (tmp_path / "whole").read_bytes()
    found, read_back = read_file(tmp_path / "whole", "model"), load_file(tmp_path / "whole")
    for name, own in arrays.items():
        assert found[1][name].tolist() == read_back[name].tolist() == own.tolist()
        assert cut[name].whole().tolist() == own.tolist()


def config_in(folder: Path, n: int = 300, **learner: Any) -> Config:
    X, y = some_text(n)
    lines = [
        "\n".join(map("\t".join, zip(*pair, strict=True))) + "\n\n"
        for pair in zip(X, y, strict=True)
    ]
    (folder / "a.conll").write_text("".join(lines))
    (folder / "spill").mkdir(exist_ok=True)
    return Config.model_validate(
        {
            "data": {"train": str(folder / "a.conll")},
            "features": {"templates": TEMPLATES},
            "learner": {
                "epochs": 2,
                "memory": MUCH,
                "memory_folder": str(folder / "spill"),
                **learner,
            },
            "output": {"model": str(folder / "a.safetensors")},
        }
    )


def test_a_run_from_files_makes_the_model_of_a_run_in_memory(tmp_path: Path) -> None:
    config = config_in(tmp_path)
    run = run_of(config)
    assert isinstance(run, StreamedRun)
    told = [(epoch.number, epoch.wrong_tokens) for epoch in run.epochs()]
    run.finish()
    assert list((tmp_path / "spill").iterdir()) == []
    plain = run_of(
        config.model_copy(update={"learner": config.learner.model_copy(update={"memory": None})}),
        force=True,
    )
    corpus = read(tmp_path / "a.conll")
    assert [(epoch.number, epoch.wrong_tokens) for epoch in plain.epochs()] == told
    assert plain.tagger.predict(corpus) == SequenceTagger.load(tmp_path / "a.safetensors").predict(
        corpus
    )
    plain.close()


PIPED = """
import sys
from pathlib import Path
from test_memory import config_in
from seqpa.streamed_run import run_of
config = config_in(Path(sys.argv[1]), 5000, epochs=1)
data = config.data.model_copy(update={"train": sys.argv[2]})
run = run_of(config.model_copy(update={"data": data}), force=True)
print([(epoch.tokens, epoch.wrong_tokens) for epoch in run.epochs()])
run.close()
"""


def test_a_text_that_is_piped_in_is_read_whole(tmp_path: Path) -> None:
    """Its columns are looked at first, and what is read of a pipe comes no second time."""
    config_in(tmp_path, 5000)
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(seqpa.__file__).parents[1])])
    told = []
    for name in ("-", str(tmp_path / "a.conll")):
        done = subprocess.run(
            [sys.executable, "-c", PIPED, str(tmp_path), name],
            input=(tmp_path / "a.conll").read_bytes(),
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            check=True,
        )
        told.append(done.stdout)
    assert (tmp_path / "a.conll").stat().st_size > 1 << 17  # more than is read at a time
    assert told[0] == told[1]


def test_a_run_goes_on_with_another_amount_of_memory(tmp_path: Path) -> None:
    config = config_in(tmp_path)

    def with_memory(memory: str | None) -> Config:
        learner = config.learner.model_copy(update={"memory": memory})
        return config.model_copy(update={"learner": learner})

    whole = run_of(with_memory("500GB"))
    told = [epoch.wrong_tokens for epoch in whole.epochs()]
    whole.finish()
    expected = weights_of(whole.tagger)
    first = run_of(config, force=True)
    next(first.epochs())
    first.close()
    with pytest.raises(SeqpaError, match=r"another configuration \(learner.memory was"):
        run_of(with_memory(None), resume=True, force=True)
    rest = run_of(with_memory("2TB"), resume=True, force=True)
    assert [epoch.wrong_tokens for epoch in rest.epochs()] == told[1:]
    rest.finish()
    assert weights_of(rest.tagger) == expected
    SequenceTagger(TEMPLATES, memory=MUCH).fit([["a"]], [["A"]]).save_state(tmp_path / "state")
    small = SequenceTagger(TEMPLATES, memory="1MB")
    with pytest.raises(SeqpaError, match=r"memory is 1MB, and with the saved state"):
        small.load_state(tmp_path / "state")


SLOW = """
import sys, time
from pathlib import Path
from test_memory import config_in
from seqpa.streamed_run import run_of
import seqpa.sequence.streamed as streamed
real = streamed.BlocksOnDisk.one_pass
def slow(*given):
    print("learning", flush=True)
    time.sleep(600)
streamed.BlocksOnDisk.one_pass = slow
for _ in run_of(config_in(Path(sys.argv[1]))).epochs():
    pass
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_on_disk_however_the_process_ends(tmp_path: Path, sent: int) -> None:
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here.parent), str(here)])}
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "learning\n"
    child.send_signal(sent)
    child.wait(LONG)
    child.stdout.close()
    assert list((tmp_path / "spill").iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="limits of file sizes")
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    here = Path(__file__).parent
    code = (
        "import resource, sys, pathlib, test_memory as t, seqpa.streamed_run as r\n"
        "config = t.config_in(pathlib.Path(sys.argv[1]))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "try: list(r.run_of(config).epochs())\n"
        "except t.SeqpaError as error: print(error)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here.parent), str(here)])}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        env=environment,
        text=True,
        check=True,
    )
    assert done.stdout == (
        f"{tmp_path}/spill: the training text cannot be kept there (File too large): make space, "
        f"or name another folder (learner.memory_folder)\n"
    )
    assert list((tmp_path / "spill").iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SeqpaError, match="name a writable folder"):
        ArrayFile(np.int32, tmp_path / "nowhere")


# Text from elsewhere


def test_addresses_are_read_where_fsspec_is_installed() -> None:
    fsspec = pytest.importorskip("fsspec")
    import gzip

    system = fsspec.filesystem("memory")
    for k, label in enumerate("NV"):
        with system.open(f"/texts/part-{k}.conll.gz", "wb") as file:
            file.write(gzip.compress(f"w{k} {label}\n".encode()))
    corpus = read("memory://texts/part-*.conll.gz")
    assert corpus.labels == ["N", "V"]
    config = Config.model_validate({"data": {"train": "memory://texts/part-*.conll.gz"}})
    assert [chunk.labels for chunk in TrainingFiles(config).chunks()] == [["N"], ["V"]]
    with pytest.raises(SeqpaError, match="no file has such a name"):
        read("memory://texts/none-*.conll")
    with pytest.raises(SeqpaError, match="there is no such file"):
        read("memory://texts/none.conll")


def test_an_address_without_fsspec_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(SeqpaError, match=r"^s3://b/a.conll: reading from there needs .* fsspec"):
        read("s3://b/a.conll")


def test_zstd_data_are_read(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    text = "".join(f"w{i} N\n\n" for i in range(20000)).encode()
    half = len(text) // 2
    pack = zstandard.ZstdCompressor().compress
    file = tmp_path / "a.conll.zst"
    file.write_bytes(pack(text[:half]) + pack(text[half:]))
    assert len(read(file)) == 20000
    file.write_bytes(pack(text)[:-5])
    with pytest.raises(SeqpaError, match=r"a.conll.zst: damaged or cut-off zstd data"):
        read(file)


def test_zstd_data_without_a_library_say_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    (tmp_path / "a.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    with pytest.raises(SeqpaError, match="pip install zstandard"):
        read(tmp_path / "a.zst")
