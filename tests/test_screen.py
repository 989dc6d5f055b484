"""What a user sees of the command line, on a terminal and in a pipe."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from terminal import CTRL_C, CTRL_D, in_terminal, needs_terminal

from seqpa.cli import main
from seqpa.sequence.tagger import SequenceTagger

NEWS = Path(__file__).parents[1] / "corpora" / "news"
TEXT = "Anna Norvell flew from Lyon to Ohio.\n"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def configured(folder: Path, **sections: dict[str, Any]) -> Path:
    content: dict[str, dict[str, Any]] = {
        "data": {
            "columns": ["word", "_", "label"],
            "train": str(NEWS / "dev.conll"),
            "test": str(NEWS / "test.conll"),
        },
        "learner": {"epochs": 2},
        "output": {"model": "m.safetensors"},
    }
    for name, values in sections.items():
        content[name] = {**content.get(name, {}), **values}
    path = folder / "c.yaml"
    path.write_text(json.dumps(content, indent=1))
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Names, from words alone."""
    folder = tmp_path_factory.mktemp("model")
    learner = {"epochs": 5, "C": 0.02, "update": "prediction-based"}
    config = configured(folder, learner=learner, decoding={"constraints": "bio"})
    assert main(["train", str(config), "-q"]) == 0
    return folder / "m.safetensors"


@pytest.fixture(scope="module")
def pos_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pos")
    assert main(["train", str(configured(folder, data={"columns": ["word", "label", "_"]}))]) == 0
    return folder / "m.safetensors"


# The command itself


def test_without_arguments_six_lines_say_what_to_do_first(run: Run) -> None:
    status, out, err = run()
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert len(lines) == 6
    assert all(len(line) <= 84 for line in lines)
    for word in ("teach", "init", "train", "tag", "--help"):
        assert f"seqpa {word}" in out


@pytest.mark.skipif(os.name != "posix", reason="needs pipes that break")
@pytest.mark.parametrize("arguments", ["", "--help"])
def test_a_reader_that_goes_away_is_no_mistake(arguments: str) -> None:
    seqpa = f"{sys.executable} -m seqpa {arguments}"
    done = subprocess.run(
        ["sh", "-c", f"({seqpa}; echo status $? >&2) | true"],
        capture_output=True,
        cwd=tempfile.gettempdir(),
        check=False,
    )
    assert done.stderr in (b"status 141\n", b"status 1\n")  # 1: typer saw it first


@pytest.mark.parametrize(
    "command",
    ["train", "tag", "evaluate", "inspect", "corpora", "init", "convert", "score", "schema"],
)
def test_every_command_has_the_common_options(run: Run, command: str) -> None:
    status, out, _ = run(command, "-h")
    assert status == 0
    assert out == run(command, "--help")[1]
    for option in ("-q, --quiet", "-v, --verbose", "--no-color", "-h, --help"):
        assert option in out


def test_shells_complete(tmp_path: Path) -> None:
    def completed(words: str) -> list[str]:
        told = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        done = subprocess.run(
            [sys.executable, "-m", "seqpa"],
            env={**os.environ, **told, "_SEQPA_COMPLETE": "complete_bash"},
            capture_output=True,
            text=True,
            check=False,
            cwd=tempfile.gettempdir(),
        )
        return done.stdout.split()

    assert completed("seqpa ta") == ["tag"]
    assert completed("seqpa train --resu") == ["--resume"]
    done = subprocess.run(
        [sys.executable, "-m", "seqpa", "--show-completion", "bash"],
        # so that no shell need stand above this process
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=True,
        cwd=tempfile.gettempdir(),
    )
    assert "_seqpa_completion" in done.stdout


# Training


def test_quiet_training_prints_its_score_alone(run: Run, tmp_path: Path) -> None:
    for arguments in (("train", configured(tmp_path), "-q"), ("-q", "train", tmp_path / "c.yaml")):
        status, out, err = run(*arguments)
        assert (status, err) == (0, "")
        assert re.fullmatch(r"test F1 \d+\.\d\d  \(precision .*, 410 spans\)\n", out)


def test_verbose_training_tells_what_it_read(run: Run, tmp_path: Path) -> None:
    _, out, err = run("train", configured(tmp_path), "--verbose")
    assert re.search(r"test: .*test\.conll: [\d,]+ sentences, [\d,]+ tokens, columns word\n", err)
    assert "read in " in err
    assert "epoch 1/2" in out


def test_the_closing_block_is_short_and_full_is_long(run: Run, tmp_path: Path) -> None:
    config = configured(tmp_path, data={"dev": str(NEWS / "train.conll")})
    _, out, _ = run("train", config)
    block = out.split("epoch 2/2")[1].splitlines()[1:]
    assert 5 <= len(block) <= 10
    assert "  dev F1 " in out
    for word in ("kept epoch", "test F1 ", "worst     ", "mistakes  ", "model written to "):
        assert any(line.startswith(word) for line in block), word
    assert "micro mean" not in out
    _, out, _ = run("train", config, "--full")
    assert "micro mean" in out
    assert "gold  " in out


def test_many_labels_never_fill_the_screen(run: Run, tmp_path: Path) -> None:
    """A corpus in which every word is a label of its own, and 300 of them are only in the test."""
    words = [f"w{i}" for i in range(700)]
    (tmp_path / "a.conll").write_text("".join(f"{w} {w.upper()}\n\n" for w in words[:400]))
    (tmp_path / "b.conll").write_text("".join(f"{w} {w.upper()}\n\n" for w in words))
    data = {"columns": ["word", "label"], "train": "a.conll", "test": "b.conll"}
    features = {"templates": ["word[0]"]}
    _, out, _ = run("train", configured(tmp_path, data=data, features=features))
    assert len(out.splitlines()) < 15
    assert "300 labels of the test set are not in the training data" in out
    assert "try next" in out
    status, out, err = run("evaluate", tmp_path / "m.safetensors", tmp_path / "b.conll")
    assert status == 0
    assert "does not know 300 of the 700 labels" in err
    assert len(out.splitlines()) < 50
    _, out, _ = run("evaluate", tmp_path / "m.safetensors", tmp_path / "b.conll", "--by", "label")
    assert len(out.splitlines()) > 700


ADVICE: dict[str, tuple[dict[str, Any], str]] = {
    "nothing to score": ({"data": {"test": None}}, "nothing was scored"),
    "no dev set": ({}, "a dev set (data.dev)"),
    "still rising": (
        {"data": {"dev": str(NEWS / "train.conll")}},
        "--set learner.epochs=4): the dev score was still rising",
    ),
    "new words": ({}, "% of mistakes are in new words"),
}


@pytest.mark.parametrize("case", ADVICE)
def test_what_to_try_next_comes_from_the_data(run: Run, tmp_path: Path, case: str) -> None:
    sections, expected = ADVICE[case]
    _, out, _ = run("train", configured(tmp_path, **sections))
    assert expected in out.split("try next")[1]


def test_silent_things_speak(run: Run, tmp_path: Path) -> None:
    (tmp_path / "dev.conll").write_text("Ada\tNNP\tB-person\nwon\tVBD\tB-prize\n")
    features = {"lexicons": {"cities": "no.txt"}, "clusters": {"brown": str(NEWS / "dev.conll")}}
    config = configured(tmp_path, features=features, learner={"patience": 3})
    status, out, err = run("train", config)
    assert status == 0
    missing = f"features.lexicons.cities: no template names it, and there is no file {tmp_path}"
    assert missing in out
    unused = "features.clusters.brown: no template names it; add 'cluster(\"brown\", 4)[0]' to "
    assert f"{unused}features.templates\n" in out
    assert "seqpa: warning: patience is 3, but there is no dev set" in err
    assert "replacing" not in out
    _, out, err = run("train", configured(tmp_path, data={"dev": "dev.conll"}), "--force")
    assert f"replacing {tmp_path / 'm.safetensors'}" in out
    assert "seqpa: warning: 1 label of the dev set is not in the training data" in err
    (tmp_path / "m.safetensors.checkpoint").write_bytes(b"old")
    (tmp_path / "m.history.json").write_text("[]")
    _, out, _ = run("train", configured(tmp_path), "--force")
    assert f"replacing {tmp_path / 'm.safetensors.checkpoint'}, left of a training" in out
    assert f"replacing {tmp_path / 'm.history.json'}, which is not of a training" in out


@needs_terminal
def test_a_terminal_shows_progress_and_a_pipe_none(tmp_path: Path) -> None:
    config = configured(tmp_path, data={"dev": str(NEWS / "train.conll")})
    seen = in_terminal(["train", config])
    assert seen.status == 0
    assert b"\x1b[" in seen.raw
    assert "best dev F1 " in seen.text
    assert re.search(r"epoch 2/2  loss", seen.text)
    assert seen.text.count("model written to") == 1
    plain = in_terminal(["train", config, "--no-color"])
    assert b"\x1b[3" not in plain.raw  # no colour, though the bar moves
    assert in_terminal(["train", config, "-q"]).text.count("\n") == 1


@needs_terminal
def test_ctrl_c_is_answered_at_once_and_a_second_quits(tmp_path: Path) -> None:
    config = configured(
        tmp_path, data={"train": str(NEWS / "train.conll")}, learner={"epochs": 5000}
    )
    seen = in_terminal(["train", config], [(b"epoch    3/5000", CTRL_C)])
    assert seen.status == 0
    assert re.search(r"stopping after epoch \d+; the best so far is kept", seen.text)
    assert "stopped; seqpa train with --resume goes on from here" in seen.text
    assert "model written to" in seen.text
    left = {path.name for path in tmp_path.iterdir()}
    quick = [(b"/5000  loss", CTRL_C), (b"Ctrl-C once more", CTRL_C)]
    seen = in_terminal(["train", config, "--resume"], quick)
    # The epochs are short: the second may come when the first was obeyed already.
    assert seen.status in (0, 130)
    if seen.status == 130 and "stopped;" not in seen.text:
        assert "quit; the last checkpoint stays" in seen.text
    assert {path.name for path in tmp_path.iterdir()} == left
    assert SequenceTagger.load(tmp_path / "m.safetensors").classes_


def test_quitting_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import signal

    from seqpa.training_run import TrainingRun

    def pressed(times: int, save: bool) -> Callable[..., Any]:
        usual = TrainingRun.epochs

        def epochs(self: TrainingRun, progress: Any = None) -> Any:
            for epoch in usual(self, progress):
                if not save:
                    self.checkpoint.unlink()
                for _ in range(times):
                    signal.raise_signal(signal.SIGINT)
                yield epoch

        return epochs

    for save, told in ((False, "quit; nothing was written"), (True, "quit; the last checkpoint")):
        with monkeypatch.context() as patch:
            patch.setattr(TrainingRun, "epochs", pressed(2, save))
            assert main(["train", str(configured(tmp_path))]) == 130
        err = capfd.readouterr().err
        assert "stopping after epoch " in err
        assert told in err
        assert not (tmp_path / "m.safetensors").exists()


# Evaluating


def test_tables_are_there_if_asked_for(run: Run, model: Path) -> None:
    data = NEWS / "test.conll"
    heads = {
        "label": "\nB-person ",
        "span": "as conlleval prints it",
        "confusion": "gold ",
        "sentence": " sentences have mistakes\n",
    }
    headline = run("evaluate", model, data)[1].splitlines()[0]
    for name, head in heads.items():
        status, out, _ = run("evaluate", model, data, "--by", name, "--top", "2")
        assert status == 0
        assert out.splitlines()[0] == headline
        assert head in out
        for other in set(heads) - {name}:
            assert heads[other] not in out.split("\n\n", 1)[1] or other == "confusion"
    assert "more: --top 0" in run("evaluate", model, data, "--by", "confusion", "--top", "2")[1]
    assert "more: --top" not in run("evaluate", model, data, "--by", "sentence", "--top", "0")[1]


def test_json_has_everything(run: Run, model: Path) -> None:
    _, out, _ = run("evaluate", model, NEWS / "test.conll", "--json", "--by", "sentence")
    told = json.loads(out)
    assert {"span_micro", "spans", "labels", "confusion", "span_mistakes", "seen"} <= set(told)
    wrong = told["wrong_sentences"]
    assert len(wrong) == round((1 - told["sentence_accuracy"]) * told["sentences"])
    assert sum(one["wrong"] for one in wrong) == round((1 - told["accuracy"]) * told["tokens"])
    assert [one["wrong"] for one in wrong] == sorted((o["wrong"] for o in wrong), reverse=True)
    missed = sum(n for _, found, _, n in told["span_mistakes"] if not found)
    assert 0 < missed <= told["span_micro"]["gold"] - told["span_micro"]["correct"]
    assert "wrong_sentences" not in json.loads(
        run("evaluate", model, NEWS / "test.conll", "--json")[1]
    )


def test_tables_of_labels_that_mark_no_spans(run: Run, pos_model: Path) -> None:
    status, out, _ = run("evaluate", pos_model, NEWS / "test.conll")
    assert status == 0
    assert re.match(r"accuracy \d+\.\d\d  \([\d,]+ tokens\)\nknown words ", out)
    assert " taken for " in out
    status, _, err = run("evaluate", pos_model, NEWS / "test.conll", "--by", "span")
    assert status == 2
    assert "seqpa: error: --by span: these labels mark no spans; say --by label\n" in err
    status, _, err = run("evaluate", pos_model, NEWS / "test.conll", "--by", "lable")
    assert "did you mean 'label'?" in err


def test_models_of_different_tasks(run: Run, model: Path, pos_model: Path) -> None:
    data = ["--columns", "word,_,label", "--rounds", "20"]
    status, _, err = run("evaluate", model, NEWS / "test.conll", "--compare", pos_model, *data)
    assert status == 0
    assert re.search(r"seqpa: warning: .* are of different tasks: \d+ only of the first, such", err)
    assert run("evaluate", model, NEWS / "test.conll", "--compare", model, *data)[2] == ""
    _, _, err = run("evaluate", pos_model, NEWS / "test.conll", "--columns", "word,_,label")
    assert "knows none of the labels" in err


def test_score_shows_what_evaluate_shows(run: Run, model: Path, tmp_path: Path) -> None:
    tagged = tmp_path / "tagged.conll"
    assert run("tag", model, NEWS / "test.conll", "-o", tagged)[0] == 0
    scored = run("score", tagged)[1]
    evaluated = run("evaluate", model, NEWS / "test.conll")[1]
    assert scored.splitlines()[0] == evaluated.splitlines()[0]
    assert scored.splitlines()[2:] == evaluated.splitlines()[2:]
    _, out, _ = run("score", tagged, "--by", "sentence", "--top", "1")
    assert "sentences have mistakes\nsentence " in out
    assert json.loads(run("score", tagged, "--by", "sentence", "--json")[1])["wrong_sentences"]


# Tagging


@needs_terminal
def test_spans_are_coloured_in_place_on_a_terminal(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    seen = in_terminal(["tag", model, tmp_path / "a.txt"])
    assert seen.status == 0
    assert re.search(rb"\x1b\[30;\d+m Anna Norvell \x1b\[1mperson \x1b\[0m flew", seen.raw)
    assert re.search(r"1 sentence, 8 tokens in .* tokens/s\n", seen.text)
    for way, no_color in ((["--no-color", "-q"], ""), ([], "1")):
        plain = in_terminal(["tag", model, tmp_path / "a.txt", *way], NO_COLOR=no_color)
        assert b"\x1b" not in plain.raw
        assert "[Anna Norvell person] flew" in plain.text
        assert ("tokens/s" in plain.text) == (not way)
    columns = in_terminal(["tag", model, tmp_path / "a.txt", "--to", "conll"])
    assert re.search(r"Norvell\s+I-person\n", columns.text)


@needs_terminal
def test_a_text_typed_on_the_terminal_is_tagged_at_the_empty_line(model: Path) -> None:
    keys = [(b"an empty line tags it", TEXT.encode() + b"\n"), (b"person", CTRL_D)]
    seen = in_terminal(["tag", model], keys)
    assert seen.status == 0
    assert "Anna Norvell person  flew" in seen.text


@needs_terminal
def test_a_bar_on_standard_error_while_the_output_is_elsewhere(model: Path, tmp_path: Path) -> None:
    big = tmp_path / "big.conll"
    big.write_text((NEWS / "train.conll").read_text() * 10)
    seen = in_terminal(["tag", model, big, "-o", tmp_path / "out.conll"], piped="in out")
    assert seen.status == 0
    assert "tagging" in seen.text
    assert re.search(r"[\d,]+ sentences, [\d,]+ tokens in [\d.]+ s, [\d,]+ tokens/s\n$", seen.text)
    assert len((tmp_path / "out.conll").read_text()) > len(big.read_text())


def test_threads_give_the_same(run: Run, model: Path) -> None:
    expected = run("tag", model, NEWS / "train.conll")
    assert expected[0] == 0
    for jobs in ("2", "0"):
        assert run("tag", model, NEWS / "train.conll", "--jobs", jobs) == expected


def test_numbers_are_numbers_in_json(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    for format in ("jsonl", "spans", "huggingface"):
        _, out, _ = run(
            "tag", model, tmp_path / "a.txt", "--to", format, "--confidence", "--nbest", "2"
        )
        told = json.loads(out)
        assert len(told["confidence"]) == 8
        assert {type(value) for value in told["confidence"]} == {float}
        assert {type(value) for value in told["label2"]} == {str}
    (tmp_path / "a.jsonl").write_text('{"tokens": ["Rain"]}\n')
    _, out, _ = run("tag", model, tmp_path / "a.jsonl", "--confidence")
    assert isinstance(json.loads(out)["confidence"][0], float)
    SequenceTagger(["word[0]"]).fit([["Rain"]], [["N"]]).save(tmp_path / "one.safetensors")
    _, out, _ = run("tag", tmp_path / "one.safetensors", tmp_path / "a.jsonl", "--confidence")
    assert json.loads(out)["confidence"] == [None]
    _, out, _ = run("tag", model, tmp_path / "a.txt", "--to", "csv", "--confidence", "--nbest", "2")
    assert out.splitlines()[0] == "sentence,word,label,label2,confidence"
    assert re.fullmatch(r"\d+\.\d{4}", out.splitlines()[1].split(",")[-1])


def test_explanations_sum_up(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    _, out, _ = run("tag", model, tmp_path / "a.txt", "--explain")
    blocks = re.split(r"\n(?=\S)", out.strip())
    assert len(blocks) == 8
    tagger = SequenceTagger.load(model)
    words = ["Anna", "Norvell", "flew", "from", "Lyon", "to", "Ohio", "."]
    for block, whole in zip(blocks, tagger.explain(words), strict=True):
        lines = block.splitlines()
        assert len(lines) <= 12
        assert re.search(r" \d+ other features  \(", lines[-1])
        shown = sum(float(line.split()[0]) for line in lines[1:])
        total = sum(part.difference for part in whole.contributions)
        assert shown == pytest.approx(total, abs=0.01)


def test_more_word_lists_are_advised_where_there_are_some(run: Run, tmp_path: Path) -> None:
    (tmp_path / "brown.tsv").write_text("0\tOhio\n1\tLyon\n")
    features = {"clusters": {"brown": "brown.tsv"}, "templates": ['cluster("brown", 1)[0]']}
    for own, first in (({}, "word lists"), (features, "more word lists")):
        out = run("train", configured(tmp_path, features={"preset": "ner"} | own), "--force")[1]
        assert re.search(rf"(try next|^)  +{first} or clusters", out, re.MULTILINE)
