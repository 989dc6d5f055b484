"""`seqpa train` loses nothing of the user's: every output that would is refused beforehand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from patience import LONG, until

from seqpa.cli import main
from seqpa.config import Config, load_config
from seqpa.errors import SeqpaError
from seqpa.sequence.tagger import SequenceTagger
from seqpa.training_run import TrainingRun

TEXT = "the D\nrain N\nfell V\n\nshe P\nfell V\n\nit P\nis V\nrain N\n"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`seqpa train c.yaml` in a folder with all kinds of files."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        **{f"{part}.conll": TEXT for part in ("train", "dev", "test")},
        "names.txt": "Graz\n",
        "tree.yaml": "all: [D, N, V, P]\n",
        "c.yaml": "data: {train: train.conll, dev: dev.conll, test: test.conll}\n"
        "features: {templates: ['word[0]', 'lexicon(\"names\")'], lexicons: {names: names.txt}}\n"
        "cost: {kind: hierarchy, file: tree.yaml}\n"
        "learner: {epochs: 2}\n"
        "output: {model: m.safetensors}\n",
    }.items():
        (tmp_path / name).write_text(text)

    def call(*arguments: object) -> tuple[int, str, str]:
        status = main(["train", "c.yaml", *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


INPUTS = {
    "train.conll": "data.train",
    "dev.conll": "data.dev",
    "test.conll": "data.test",
    "names.txt": "features.lexicons.names",
    "tree.yaml": "cost.file",
    "c.yaml": "the configuration",
}


@pytest.mark.parametrize("key", ["model", "history", "metrics"])
@pytest.mark.parametrize("name", INPUTS)
def test_an_output_that_is_an_input(name: str, key: str, run: Run, tmp_path: Path) -> None:
    """The corpus was replaced by the model, with exit status 0."""
    os.link(name, "hard")
    Path("soft").symlink_to(name)
    Path("folder").mkdir()
    before = content(tmp_path)
    for spelled in (name, f"folder/../{name}", str(tmp_path / name), "hard", "soft"):
        status, _, err = run("--set", f"output.{key}={spelled}", "--force")
        assert status == 2
        assert f"output.{key} is " in err
        assert f"and so is {INPUTS[name]}: it would be overwritten; name another file" in err
        assert err.count("\n") == 1
    assert content(tmp_path) == before


@pytest.mark.parametrize(
    "settings",
    [
        ["output.history=m.safetensors"],
        ["output.history=x.json", "output.metrics=./x.json"],
        ["output.metrics=m.safetensors.checkpoint"],
        ["output.history=m.safetensors.checkpoint.json"],
        ["output.model=train", "data.train=train.checkpoint"],
    ],
)
def test_outputs_that_are_one_file(settings: list[str], run: Run, tmp_path: Path) -> None:
    Path("train.checkpoint").write_text(TEXT)
    before = content(tmp_path)
    status, _, err = run(*(f"--set={setting}" for setting in settings))
    assert (status, err.count("\n")) == (2, 1)
    assert "it would be overwritten; name another file" in err
    assert content(tmp_path) == before


def test_the_line_of_the_mistake_is_named(run: Run) -> None:
    Path("c.yaml").write_text("data:\n  train: train.conll\noutput:\n  model: train.conll\n")
    assert run()[2].startswith("seqpa: error: c.yaml:4: output.model is train.conll, and so is")


def test_a_model_is_replaced_with_a_line_that_says_so(run: Run) -> None:
    assert "replacing" not in run()[1]
    status, out, _ = run()
    assert status == 0
    assert out.startswith("replacing m.safetensors, which this configuration made before\n")
    free = ["learner.epochs=3", "data.test=dev.conll", "learner.n_jobs=2", "output.half=true"]
    assert run(*(f"--set={setting}" for setting in free))[0] == 0
    assert "learner.memory was null" in run("--set=learner.memory=1GB")[2]
    assert run("--set=learner.memory=1GB", "--force")[0] == 0
    assert run("--set=learner.memory=2GB")[0] == 0


def test_the_model_of_another_configuration_needs_force(run: Run, tmp_path: Path) -> None:
    run()
    before = content(tmp_path)
    status, _, err = run("--set", "learner.C=0.3")
    assert status == 2
    assert "this configuration did not make it (learner.C was 0.05, is 0.3)" in err
    assert content(tmp_path) == before
    status, out, _ = run("--set", "learner.C=0.3", "--force")
    assert status == 0
    assert out.startswith("replacing m.safetensors (learner.C was 0.05, is 0.3)\n")
    assert run("--set", "learner.C=0.3")[0] == 0
    SequenceTagger(["word[0]"]).fit([["a"]], [["X"]]).save("m.safetensors")
    assert "(it was saved from Python)" in run()[2]
    Path("m.safetensors").write_text("my notes")
    assert "(it is no model, or damaged)" in run()[2]
    assert Path("m.safetensors").read_text() == "my notes"
    assert run("--force")[0] == 0


def test_a_model_that_is_to_be_kept(run: Run, tmp_path: Path) -> None:
    keep = "--set=output.keep=true"
    assert run(keep)[0] == 0
    before = content(tmp_path)
    for more in ([], ["--force"]):
        status, _, err = run(keep, *more)
        assert status == 2
        assert "m.safetensors is there, and output.keep is true: name another output.model" in err
    assert content(tmp_path) == before


def test_resume_does_not_throw_a_finished_model_away(run: Run, tmp_path: Path) -> None:
    run("--set", "learner.epochs=10")
    before = content(tmp_path)
    status, _, err = run("--resume", "--set", "learner.epochs=3")
    assert status == 2
    assert (
        "this training has ended, and there is no checkpoint to resume; to train once more" in err
    )
    status, out, _ = run("--resume", "--set", "learner.epochs=10")
    assert (status, out) == (0, "nothing left to train: m.safetensors is complete\n")
    assert content(tmp_path) == before


def unfinished(epochs: int = 2) -> TrainingRun:
    from seqpa.config import load_config

    run = TrainingRun(load_config("c.yaml", ["learner.epochs=5"]))
    for epoch in run.epochs():
        if epoch.number == epochs:
            break
    return run


def test_a_forgotten_resume(run: Run, tmp_path: Path) -> None:
    unfinished().finish()
    before = content(tmp_path)
    status, _, err = run("--set", "learner.epochs=5")
    assert status == 2
    assert "m.safetensors.checkpoint: is left of a training that did not end: --resume goes" in err
    assert content(tmp_path) == before
    status, _, err = run("--resume", "--set", "learner.epochs=1")
    assert status == 2
    assert "stands after epoch 2, and learner.epochs is 1: resume with 2 or more" in err
    assert content(tmp_path) == before
    assert run("--resume", "--set", "learner.epochs=5", "--set=output.keep=true")[0] == 0
    unfinished().close()
    assert run("--force")[0] == 0
    assert sorted(content(tmp_path)) == sorted(
        set(before)
        - {
            "m.safetensors.checkpoint",
            "m.safetensors.checkpoint.json",
        }
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "3", '{"config": 3}', "[" * 100_000, "9" * 9999, '{"epochs": {}}'),
        *("CONFIG, 3", "CONFIG, []", "CONFIG, [3]", "CONFIG, [{}]", "CONFIG, null", "CHANGED"),
    ],
)
def test_edited_checkpoints(text: str, run: Run) -> None:
    unfinished().close()
    path = Path("m.safetensors.checkpoint.json")
    told = json.loads(path.read_text())
    if text.startswith("CONFIG, "):
        text = json.dumps({**told, "epochs": json.loads(text.removeprefix("CONFIG, "))})
    if text == "CHANGED":
        told["epochs"][0]["loss"] = "much"
        text = json.dumps(told)
    path.write_text(text)
    status, _, err = run("--resume", "--set", "learner.epochs=5")
    assert (status, err.count("\n")) == (2, 1)
    assert "checkpoint" in err
    assert "train afresh with --force" in err


def test_two_models_in_one_folder_have_their_own_history(run: Run, tmp_path: Path) -> None:
    for name in ("a.safetensors", "b.safetensors", "model.safetensors", "plain"):
        assert run("--set", f"output.model={name}")[0] == 0
    made = {name for name in content(tmp_path) if name.endswith("json")}
    parts = ("history.json", "metrics.json")
    assert made == {f"{stem}{part}" for stem in ("", "a.", "b.", "plain.") for part in parts}


def test_a_file_that_only_has_the_name_of_ours(run: Run) -> None:
    for name in ("m.history.json", "m.metrics.json"):
        Path(name).write_text('{"browser": []}')
        status, _, err = run()
        assert status == 2
        assert f"{name}: is there, and not of a training of seqpa's" in err
        Path(name).unlink()


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "seqpa", "train", "c.yaml", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    def holds() -> bool:
        assert process.poll() is None, process.communicate()
        return condition()

    until(holds)


posix = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
ENDLESS = "--set=learner.epochs=1000000"


@posix
def test_a_second_training_of_one_output_is_told(run: Run, tmp_path: Path) -> None:
    process = start(tmp_path, ENDLESS)
    try:
        wait_for(Path("m.safetensors.checkpoint").exists, process)
        before = set(content(tmp_path))
        for more in ([], ["--force"], ["--resume"]):
            status, _, err = run(*more)
            assert status == 2
            assert "m.safetensors: another training is making it at present; wait for it" in err
        assert before <= {*content(tmp_path), *(n for n in before if n.endswith("partial"))}
    finally:
        process.kill()
        process.communicate()
    assert run("--force")[0] == 0, "a lock dies with its process"
    assert not [name for name in content(tmp_path) if name.startswith(".")]


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_half_written(
    number: signal.Signals, run: Run, tmp_path: Path
) -> None:
    for _ in range(2):
        process = start(tmp_path, ENDLESS, "--force")
        wait_for(Path("m.safetensors.checkpoint").exists, process)
        process.send_signal(number)
        _, err = process.communicate(timeout=LONG)
        assert (process.returncode, err) == (128 + number, "")
        assert not [name for name in content(tmp_path) if name.startswith(".")]
        assert run("--resume", "--set=learner.epochs=3")[0] in (0, 2)
        Path("m.safetensors.checkpoint").unlink(missing_ok=True)


@posix
def test_a_signal_that_is_ignored_stays_so(run: Run, tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = start(tmp_path, ENDLESS)
        wait_for(Path("m.safetensors.checkpoint").exists, process)
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.terminate()
        process.communicate()
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    "value",
    [
        "a\0b",
        "\ud800",
        pytest.param("x" * 5000, id="long"),
        "~",
        ".",
        "..",
        "/dev/null",
        "\ud800/m",
    ],
)
@pytest.mark.parametrize("key", ["data.train", "data.dev", "output.model", "output.history"])
def test_odd_paths(key: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.conll").write_text(TEXT)
    section, name = key.split(".")
    settings: dict[str, dict[str, Any]] = {
        "data": {"train": "a.conll"},
        "learner": {"epochs": 1},
        "features": {"templates": ["word[0]"]},
    }
    settings.setdefault(section, {})[name] = value
    try:
        config = Config.model_validate(settings)
    except ValueError:
        return  # pydantic takes no half characters
    if key.startswith("output") and value == "~":
        return  # a file may be called so
    with pytest.raises(SeqpaError):
        TrainingRun(config)


@posix
def test_names_that_are_no_text_are_printed(tmp_path: Path) -> None:
    """A file's name may hold any bytes; those of another encoding cannot be printed as they are."""
    path = tmp_path / os.fsdecode(b"caf\xe9")
    path.mkdir()
    (path / "train.conll").write_text(TEXT)
    (path / "c.yaml").write_text("data: {train: train.conll}\nlearner: {epochs: 1}\n")
    assert start(path).communicate()[1] == ""
    done = subprocess.run(
        [sys.executable, "-m", "seqpa", "train", os.fsencode(path / "c.yaml")],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"caf\\udce9/model.safetensors" in done.stdout


def test_a_pattern_without_files_is_told_with_its_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("data: {train: none-*.conll}\noutput: {model: m.safetensors}\n")
    with pytest.raises(SeqpaError) as caught:
        TrainingRun(load_config(path))
    assert str(caught.value) == f"{path}:1: {tmp_path}/none-*.conll: no file has such a name"
