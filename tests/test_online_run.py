"""``seqpa train --online``: one pass over a file or a stream, scored before it is learned."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import LONG
from sequence_cases import TAGS, WORDS, weights

from seqpa import SeqpaError, SequenceTagger
from seqpa.config import load_config
from seqpa.online_run import OnlineRun

CONFIG = """
data: {train: a.conll}
features: {templates: ['word[0]', 'word[-1]', 'suffix(2)[0]']}
learner: {seed: 3}
output: {model: m.safetensors}
"""
TEMPLATES = ["word[0]", "word[-1]", "suffix(2)[0]"]


def conll(times: int = 1) -> str:
    sentences = (
        "".join(f"{w} {t}\n" for w, t in zip(tokens, labels, strict=True))
        for tokens, labels in zip(WORDS, TAGS, strict=True)
    )
    return ("\n".join(sentences) + "\n") * times


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.conll").write_text(conll(5))
    (tmp_path / "c.yaml").write_text(CONFIG)
    return tmp_path


def command(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "seqpa", "train", str(folder / "c.yaml"), "--online", *arguments]


def test_it_is_learn_one_after_another(folder: Path) -> None:
    run = OnlineRun(load_config(folder / "c.yaml"))
    parts = list(run.parts(every=8))
    outcome = run.finish()
    by_hand = SequenceTagger(TEMPLATES, random_state=3)
    lessons = [by_hand.learn_one(*both) for both in zip(WORDS * 5, TAGS * 5, strict=True)]
    assert run.tagger is not None
    assert weights(run.tagger) == weights(by_hand)
    assert [part.sentences for part in parts] == [8, 16, 20]
    wrong = [lesson.wrong_tokens for lesson in lessons]
    assert [part.wrong for part in parts] == [sum(wrong[:8]), sum(wrong[:16]), sum(wrong)]
    assert [part.recent_wrong for part in parts] == [
        sum(wrong[:8]),
        sum(wrong[8:16]),
        sum(wrong[16:]),
    ]
    labels = sum(map(len, TAGS)) * 5
    assert (outcome.progress.labels, outcome.progress.wrong) == (labels, sum(wrong))
    assert outcome.progress.accuracy == 1 - sum(wrong) / labels
    assert outcome.progress.cost == sum(lesson.cost for lesson in lessons)
    assert outcome.progress.loss == pytest.approx(sum(lesson.loss for lesson in lessons))
    loaded = SequenceTagger.load(folder / "m.safetensors")
    assert loaded.predict(WORDS) == by_hand.predict(WORDS)
    history = json.loads((folder / "m.history.json").read_text())
    assert [line["sentences"] for line in history["epochs"]] == [8, 16, 20]


def test_missing_labels_and_scores(folder: Path) -> None:
    (folder / "a.conll").write_text("so ?\n\n" + conll(6).replace(" V\n", " ?\n", 3))
    settings = ["data.unlabelled='?'", f"data.dev={folder / 'dev.conll'}"]
    (folder / "dev.conll").write_text(conll())
    run = OnlineRun(load_config(folder / "c.yaml", settings))
    list(run.parts())
    outcome = run.finish()
    assert outcome.progress.sentences == 25
    assert outcome.progress.labels == 6 * sum(map(len, TAGS)) - 3
    assert outcome.dev is not None
    assert outcome.test is None
    assert run.tagger is not None
    assert run.tagger.classes_ == ["D", "N", "V"]
    by_hand = SequenceTagger.load(folder / "m.safetensors")
    assert by_hand.probability_scale_ == by_hand.calibrate(WORDS, TAGS).probability_scale_ > 1.0


def test_the_first_piece_decides_what_is_seen(folder: Path) -> None:
    (folder / "a.conll").write_text("so O\n\nAda B-x\nran O\n\n")
    (folder / "c.yaml").write_text(CONFIG.replace("features:", "#"))
    run = OnlineRun(load_config(folder / "c.yaml"))
    list(run.parts())
    run.finish()
    assert run.tagger is not None
    assert run.tagger.features == "ner"


@pytest.mark.parametrize("name", ["stages", "seeds"])
def test_one_pass_has_one_stage_and_one_order(folder: Path, name: str) -> None:
    (folder / "c.yaml").write_text(CONFIG.replace("learner: {", f"learner: {{{name}: 2, "))
    with pytest.raises(SeqpaError, match=rf"c\.yaml:4: learner\.{name} is 2: .* only be 1"):
        OnlineRun(load_config(folder / "c.yaml"))


def test_one_pass_needs_no_limit_of_memory(folder: Path) -> None:
    (folder / "c.yaml").write_text(CONFIG.replace("learner: {", "learner: {memory: 2GB, "))
    with pytest.raises(SeqpaError, match=r"c\.yaml:4: learner\.memory is '2GB': leave it out"):
        OnlineRun(load_config(folder / "c.yaml"))


def test_mistakes_are_told(folder: Path) -> None:
    config = load_config(folder / "c.yaml", ["decoding.constraints={forbidden: [[V, D]]}"])
    with pytest.raises(SeqpaError, match=r"a\.conll: sentence 2, token 4: the training label 'D'"):
        list(OnlineRun(config).parts())
    (folder / "a.conll").write_text("so ?\n\n")
    run = OnlineRun(load_config(folder / "c.yaml", ["data.unlabelled='?'"]))
    list(run.parts())
    with pytest.raises(SeqpaError, match=r"a\.conll: there is no label to learn from"):
        run.finish()
    assert not (folder / "m.safetensors").exists()


def test_the_command_line(folder: Path) -> None:
    done = subprocess.run(command(folder), capture_output=True, text=True, cwd=folder, check=True)
    assert "20 sentences  accuracy" in done.stdout
    assert "model written to" in done.stdout
    again = subprocess.run(
        command(folder, "--resume"), capture_output=True, text=True, cwd=folder, check=False
    )
    assert again.returncode == 2
    assert "neither --resume nor --certificate" in again.stderr


def test_standard_input_without_an_end(folder: Path) -> None:
    """A pipe that stays open: what has come is learned, and Ctrl-C keeps it."""
    with subprocess.Popen(
        command(folder, "--set", "data.train=-"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,  # in the project's folder its sources would come first
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(conll(300))
        child.stdin.flush()
        assert "1,000 sentences" in child.stdout.readline()  # though the pipe is open
        if os.name == "posix":
            child.send_signal(signal.SIGINT)
            assert "stopped" in child.stdout.read()
        else:
            child.stdin.close()
        assert child.wait(LONG) == 0
    assert SequenceTagger.load(folder / "m.safetensors").predict(WORDS) == TAGS


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_a_service_that_is_stopped_keeps_what_was_learned(folder: Path) -> None:
    with subprocess.Popen(
        command(folder, "--set", "data.train=-"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,  # in the project's folder its sources would come first
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(conll(260))
        child.stdin.flush()
        child.stdout.readline()
        child.terminate()
        assert child.wait(LONG) == 128 + signal.SIGTERM
    assert SequenceTagger.load(folder / "m.safetensors").predict(WORDS) == TAGS
