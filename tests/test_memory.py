"""Training within a limit of memory: the same as in memory, nothing left behind, clear words."""

from __future__ import annotations

import itertools
import os
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

from seqpa.config import Config
from seqpa.data import read
from seqpa.errors import SeqpaError
from seqpa.sequence import streamed
from seqpa.sequence.budget import Budget, bytes_of, resident
from seqpa.sequence.spill import ArrayFile
from seqpa.sequence.tagger import SequenceTagger
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
def test_a_text_of_one_block_is_learned_as_in_memory(features: Any, more: dict[str, Any]) -> None:
    X, y = some_text(150)
    params = {"features": features, "epochs": 3, "random_state": 3, "columns": ("word",), **more}
    if features == "chunk":
        X, params["columns"] = [[(w, w[-1]) for w in s] for s in X], ("word", "pos")
    plain, disk = SequenceTagger(**params), SequenceTagger(memory=MUCH, **params)
    dev = X[:20], y[:20]
    assert weights_of(disk.fit(X, y, dev=dev)) == weights_of(plain.fit(X, y, dev=dev))
    assert disk.predict(X) == plain.predict(X)
    assert disk.n_iter_ == plain.n_iter_


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
    with pytest.raises(SeqpaError, match=r"memory is 1MB, and with .* needs \d+MB: set memory to"):
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


SLOW = """
import sys, time
from pathlib import Path
from test_memory import config_in
from seqpa.streamed_run import run_of
import seqpa.sequence.streamed as streamed
real = streamed.BlocksOnDisk.one_pass
def slow(*given):
    print("learning", flush=True)
    time.sleep(60)
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
    child.wait(30)
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
