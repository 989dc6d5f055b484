"""The command line, tried as a new user would: what works, and every mistake in one line."""

from __future__ import annotations

import gzip
import io
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

from seqpa.cli import main
from seqpa.data import read
from seqpa.model import save_model
from seqpa.sequence.tagger import SequenceTagger

PROJECT = Path(__file__).parents[1]
NEWS = PROJECT / "corpora" / "news"
SEQPA = [sys.executable, "-m", "seqpa"]
# Python looks for modules in the current directory first: run what is installed, not the sources.
ELSEWHERE = tempfile.gettempdir()
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def write_config(folder: Path, **sections: dict[str, Any]) -> Path:
    content: dict[str, dict[str, Any]] = {
        "data": {
            "columns": ["word", "pos", "label"],
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
    """Names, trained on the columns word, pos, label."""
    folder = tmp_path_factory.mktemp("model")
    config = write_config(folder, learner={"epochs": 5}, decoding={"constraints": "bio"})
    assert main(["train", str(config)]) == 0
    return folder / "m.safetensors"


@pytest.fixture(scope="module")
def word_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parts of speech, from words alone."""
    folder = tmp_path_factory.mktemp("word-model")
    config = write_config(folder, data={"columns": ["word", "label", "_"]})
    assert main(["train", str(config)]) == 0
    return folder / "m.safetensors"


# Mistakes

MISTAKES: dict[str, tuple[list[str], str]] = {
    "no such command": (["tain"], "No such command 'tain'"),
    "no configuration": (["train"], "Missing argument 'CONFIG'"),
    "unknown option": (["train", "c.yaml", "--epochs", "3"], "See seqpa train --help."),
    "wrong path of a configuration": (["train", "d.yaml"], "d.yaml: no such file; did you mean"),
    "a directory as configuration": (["train", "."], "is a directory"),
    "typo in a key": (["train", "c.yaml", "--set", "learner.epoch=3"], "did you mean 'epochs'?"),
    "typo in a value": (["train", "c.yaml", "--set", "cost.kind=hammin"], "'hamming'?"),
    "wrong path of the data": (
        ["train", "c.yaml", "--set", "data.train=trian.conll"],
        "trian.conll: no such file",
    ),
    "wrong columns": (
        ["train", "c.yaml", "--set", "data.columns=[word, label]"],
        "conll:2: 3 tab-separated columns where 2 are configured: word, label",
    ),
    "no label column": (
        ["train", "c.yaml", "--set", "data.columns=[word, pos, ner]"],
        "the label column 'label' is not among word, pos, ner",
    ),
    "a Windows-1252 file": (
        ["train", "c.yaml", "--set", "data.train=windows.conll"],
        "windows.conll:2: byte 0xe9 is not valid utf-8; if it is a Windows or Latin-1 text, say",
    ),
    "an empty file": (
        ["train", "c.yaml", "--set", "data.train=empty.conll"],
        "empty.conll: there is no sentence in it",
    ),
    "a picture": (
        ["train", "c.yaml", "--set", "data.train=picture.png"],
        "picture.png:1: ",
    ),
    "output below a file": (
        ["train", "c.yaml", "--set", "output.model=empty.conll/m.safetensors"],
        "empty.conll is a file, not a directory",
    ),
    "output is a directory": (["train", "c.yaml", "--set", "output.model=."], "is a directory"),
    "illegal labels": (
        ["train", "c.yaml", "--set", "data.labels=strict", "--set", "data.train=illegal.conll"],
        "illegal.conll:",
    ),
    "bad template": (
        ["train", "c.yaml", "--set", "features.templates=['sufix(3)[0]']"],
        "character 1: unknown name 'sufix'; did you mean 'suffix'?",
    ),
    "no such column in a template": (
        ["train", "c.yaml", "--set", "features.templates=['lemma[0]']"],
        "unknown name 'lemma'",
    ),
    "a list as cost matrix": (
        ["train", "c.yaml", "--set", "cost.kind=matrix", "--set", "cost.file=list.yaml"],
        "list.yaml:2: a cost matrix is a mapping, {right: {predicted: cost}}, such as",
    ),
    "a list as hierarchy": (
        ["train", "c.yaml", "--set", "cost.kind=hierarchy", "--set", "cost.file=list.yaml"],
        "list.yaml:2: a hierarchy is a mapping from labels to what is below them, such as",
    ),
    "no hierarchy": (
        ["train", "c.yaml", "--set", "cost.kind=hierarchy", "--set", "cost.file=no.yaml"],
        "no.yaml: no such file",
    ),
    "labels that are not in the hierarchy": (
        ["train", "c.yaml", "--set", "cost={kind: hierarchy, file: tree.yaml}"],
        "is not in the hierarchy",
    ),
    "max-loss with a cost that has none": (
        ["train", "c.yaml", "--set", "learner.update=max-loss", "--set", "cost.kind=span"],
        "max-loss' is for the cost 'zero-one' and for sums over tokens of whole numbers",
    ),
    "no such model": (["tag", "no.safetensors", "empty.conll"], "no.safetensors: "),
    "a model that is none": (["tag", "c.yaml", "empty.conll"], "damaged, or no seqpa model"),
    "a truncated model": (["tag", "cut.safetensors", "empty.conll"], "cut.safetensors: is damaged"),
    "tagging a file that is not there": (["tag", "MODEL", "no.conll"], "no.conll: no such file"),
    "tagging an empty file": (["tag", "MODEL", "empty.conll"], "there is no sentence in it"),
    "tagging text, not columns": (
        ["tag", "MODEL", "one-column.conll"],
        "one-column.conll: looks like running text, but the model needs the columns word, pos",
    ),
    "tagging wrong columns": (
        ["tag", "MODEL", "one-column.conll", "--format", "conll"],
        "one-column.conll:1: 1 space",
    ),
    "tagging Windows-1252": (["tag", "MODEL", "windows.conll"], "windows.conll:2: byte 0xe9"),
    "unknown format": (["tag", "MODEL", "empty.conll", "--format", "xml"], "'xml' is not known"),
    "text for a model that wants more": (
        ["tag", "MODEL", "one-column.conll", "--format", "text", "--tokenizer", "whitespace"],
        "the model needs 'pos' too",
    ),
    "no best at all": (["tag", "MODEL", "empty.conll", "--nbest", "0"], "--nbest"),
    "output into no directory": (
        ["tag", "MODEL", "good.conll", "-o", "no/out.conll"],
        "there is no directory no",
    ),
    "output onto a directory": (["tag", "MODEL", "good.conll", "-o", "."], "is a directory"),
    "wrong encoding": (
        ["tag", "MODEL", "good.conll", "--encoding", "utf-99"],
        "unknown encoding 'utf-99'",
    ),
    "a late mistake in the input": (
        ["tag", "MODEL", "late.conll", "-o", "out.conll"],
        "late.conll:4: 1 tab-separated column",
    ),
    "evaluating unlabelled data": (
        ["evaluate", "MODEL", "unlabelled.conll"],
        "2 tab-separated columns where 3 are configured",
    ),
    "comparing with nothing": (
        ["evaluate", "MODEL", "good.conll", "--compare", "no.safetensors"],
        "no.safetensors: ",
    ),
    "comparing by a guess": (
        ["evaluate", "MODEL", "good.conll", "--compare", "MODEL", "--method", "guess"],
        "neither bootstrap nor randomisation",
    ),
    "rounds of no comparison": (
        ["evaluate", "MODEL", "good.conll", "--rounds", "50"],
        "--method, --rounds and --seed go with --compare",
    ),
    "inspecting what is no model": (["inspect", "good.conll"], "damaged, or no seqpa model"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_leaves_nothing(
    mistake: str, run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_config(tmp_path)
    files = {
        "empty.conll": b"",
        "windows.conll": b"Ren\x65 NNP B-person\nRen\xe9 NNP B-person\n",
        "picture.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00",
        "illegal.conll": b"Ada\tNNP\tB-person\nwon\tVBD\tE-person\nit\tPRP\tI-city\n",
        "one-column.conll": b"Ada\nwon\n",
        "unlabelled.conll": b"Ada\tNNP\nwon\tVBD\n",
        "good.conll": b"Ada\tNNP\tB-person\nwon\tVBD\tO\n",
        "late.conll": b"Ada\tNNP\nwon\tVBD\n\nRain\n",
        "list.yaml": b"# labels\n- city\n- river\n",
        "tree.yaml": b"place: [city, river]\n",
        "cut.safetensors": model.read_bytes()[:2000],
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    arguments, message = MISTAKES[mistake]
    status, out, err = run(*(str(model) if a == "MODEL" else a for a in arguments))
    assert status == 2
    assert err.startswith("seqpa: error: ")
    assert message in err
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert "Traceback" not in out
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert after == before


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_without_write_permission(run: Run, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    config = write_config(tmp_path, output={"model": "locked/m.safetensors"})
    status, _, err = run("train", config)
    assert status == 2
    assert "cannot be written (Permission denied)" in err
    assert list(locked.iterdir()) == []


def test_one_label_only_is_no_mistake(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("Rain N\nfell N\n\nWhy N\n")
    config = write_config(
        tmp_path, data={"train": "a.conll", "test": None, "columns": ["word", "label"]}
    )
    assert run("train", config)[0] == 0
    status, out, _ = run("tag", tmp_path / "m.safetensors", tmp_path / "a.conll", "--confidence")
    assert status == 0
    assert out == "Rain N N inf\nfell N N inf\n\nWhy N N inf\n"


def process(*arguments: object, **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*SEQPA, *map(str, arguments)], stderr=subprocess.PIPE, cwd=ELSEWHERE, check=False, **more
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(model: Path, tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        for command in (["tag", model, NEWS / "test.conll"], ["schema"], ["--help"]):
            done = process(*command, stdout=full)
            assert done.returncode == 2
            assert done.stderr.startswith(b"seqpa: error: <stdout>: ")
            assert b"No space left on device" in done.stderr
            assert done.stderr.count(b"\n") == 1
    done = process("tag", model, NEWS / "test.conll", "-o", "/dev/full", stdout=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_private_output_stays_private(run: Run, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.conll"
    out.write_text("old")
    out.chmod(0o600)
    assert run("tag", model, NEWS / "test.conll", "-o", out)[0] == 0
    assert out.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["out.conll"]


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_standard_output_as_a_file(model: Path, tmp_path: Path) -> None:
    usual = process("tag", model, NEWS / "test.conll", stdout=subprocess.PIPE)
    command = ("tag", model, NEWS / "test.conll", "-o", "/dev/stdout")
    assert process(*command, stdout=subprocess.PIPE).stdout == usual.stdout
    log = tmp_path / "log"
    log.write_text("first\n")
    with log.open("ab") as stream:
        assert process(*command, stdout=stream).returncode == 0
    assert log.read_bytes() == b"first\n" + usual.stdout


@pytest.mark.skipif(os.name != "posix", reason="closes file descriptors")
def test_a_closed_standard_output(model: Path) -> None:
    quoted = " ".join(map(str, [*SEQPA, "tag", model, NEWS / "test.conll"]))
    done = subprocess.run(
        ["sh", "-c", f"{quoted} >&-"], stderr=subprocess.PIPE, cwd=ELSEWHERE, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"seqpa: error: standard output is closed")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="needs pipes that break")
def test_a_broken_pipe_is_silent(model: Path, tmp_path: Path) -> None:
    big = tmp_path / "big.conll"
    big.write_text((NEWS / "train.conll").read_text() * 20)
    quoted = " ".join(map(str, [*SEQPA, "tag", model, big]))
    done = subprocess.run(
        ["sh", "-c", f"({quoted}; echo status $? >&2) | head -n 1"],
        capture_output=True,
        cwd=ELSEWHERE,
        check=False,
    )
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b"status 141\n"


# What works


def test_help_is_there_without_anything_heavy() -> None:
    code = (
        "import sys; from seqpa.cli import main; main(['--help']); "
        "heavy = {'numpy', 'pydantic', 'sklearn', 'nltk', 'scipy', 'yaml', 'rich', 'safetensors'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Commands:" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_tagging_needs_nothing_that_only_training_needs(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.conll").write_text("Ada NNP\nwon VBD\n")
    code = (
        "import sys; from seqpa.cli import main; status = main(sys.argv[1:]); "
        "heavy = {'seqpa.config', 'sklearn', 'nltk', 'scipy', 'yaml', 'rich', 'numpy.random', "
        "'seqpa.core.learner', 'html.entities'};"
        "print(status, sorted(heavy & set(sys.modules)))"
    )
    out = tmp_path / "out.conll"
    done = subprocess.run(
        [sys.executable, "-c", code, "tag", model, tmp_path / "in.conll", "-o", out],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0 []\n"
    assert re.fullmatch(r"Ada NNP \S+\nwon VBD \S+\n", out.read_text())


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"format": 3},
        {"format": "conll", "columns": "word"},
        {"format": "conll", "columns": 5},
        {"format": "conll", "columns": ["word", 5]},
        {"format": "conll", "label": 1.0},
        {"format": "conll", "encoding": None},
        {"format": "conll", "scheme": ["iob2"]},
    ],
)
def test_a_header_that_does_not_tell_its_data(
    model: Path, tmp_path: Path, run: Run, data: Any
) -> None:
    damaged = tmp_path / "m.safetensors"
    tagger = SequenceTagger.load(model)
    save_model(
        damaged,
        tagger.trained_,
        tagger.get_params(),
        config={"data": data},
        training_words=["won"],
    )
    status, _, told = run("tag", str(damaged), str(model))
    assert status == 2
    assert told == "seqpa: error: the model is damaged: its header does not tell its data\n"


def test_help_of_every_command(run: Run) -> None:
    commands = ("train", "tag", "evaluate", "inspect", "corpora", "init", "convert", "score")
    for command in (*commands, "schema"):
        status, out, _ = run(command, "--help")
        assert status == 0
        assert out.startswith(f"Usage: seqpa {command}")
    assert "learner.C" in run("train", "--help")[1]
    assert run("-h")[1] == run("--help")[1]
    assert run("--version")[1].startswith("seqpa ")


def test_train_in_a_pipe_prints_plain_lines(run: Run, tmp_path: Path) -> None:
    status, out, err = run("train", write_config(tmp_path, data={"dev": str(NEWS / "train.conll")}))
    assert (status, err) == (0, "")
    assert "epoch 1/2  loss" in out
    assert "tokens/s" in out
    assert "kept epoch" in out
    assert "\ntest F1 " in out
    assert "micro mean" not in out
    assert "\x1b" not in out


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo terminal")
def test_train_on_a_terminal_shows_progress(tmp_path: Path) -> None:
    import pty

    config = write_config(tmp_path, data={"dev": str(NEWS / "train.conll")})
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*SEQPA, "train", str(config)], stdout=theirs, stderr=theirs, cwd=ELSEWHERE
    ) as child:
        os.close(theirs)
        told = b""
        try:
            while piece := os.read(ours, 4096):
                told += piece
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    assert child.returncode == 0
    assert b"\x1b[" in told
    assert b"best dev" in told
    assert b"left" in told
    assert b"epoch 2/2" in told


def test_resume_without_a_checkpoint_starts_anew(run: Run, tmp_path: Path) -> None:
    config = write_config(tmp_path)
    status, out, _ = run("train", config, "--resume")
    assert status == 0
    assert out.startswith("no checkpoint to resume")


def test_train_prints_its_certificate(run: Run, tmp_path: Path) -> None:
    _, out, _ = run("train", write_config(tmp_path, cost={"kind": "zero-one"}), "--certificate")
    assert "beside u = 0" in out
    assert "beside u = the trained weights" in out
    assert "PA 2006, Lemma 9" in out
    assert "VIOLATED" not in out


def predictions(model: Path, part: str = "test") -> list[list[str]]:
    corpus = read(NEWS / f"{part}.conll", columns=["word", "pos", "label"])
    return SequenceTagger.load(model).predict(corpus)


def test_tag_keeps_the_columns_and_appends_the_label(run: Run, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.conll"
    status, told, _ = run("tag", model, NEWS / "test.conll", "-o", out)
    assert (status, told) == (0, "")
    assert run("tag", model, NEWS / "test.conll")[1] == out.read_text()
    before = (NEWS / "test.conll").read_text().splitlines()
    after = out.read_text().splitlines()
    labels = iter([label for sentence in predictions(model) for label in sentence])
    marked = [line and not line.startswith("# newdoc") for line in before]
    assert after == [
        f"{line}\t{next(labels)}" if token else line
        for line, token in zip(before, marked, strict=True)
    ]


def test_tag_takes_input_without_the_label_column_and_gzip(
    run: Run, model: Path, tmp_path: Path
) -> None:
    lines = (NEWS / "test.conll").read_text().splitlines()
    bare = "\n".join(line.rpartition("\t")[0] for line in lines) + "\n"
    with gzip.open(tmp_path / "bare.conll.gz", "wt") as file:
        file.write(bare)
    _, out, _ = run("tag", model, tmp_path / "bare.conll.gz")
    tagged = [line.rpartition("\t")[2] for line in out.splitlines() if line]
    assert tagged == [label for sentence in predictions(model) for label in sentence]
    assert [line.rpartition("\t")[0] for line in out.splitlines()] == bare.splitlines()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.conll", "-o", "out/"], "out/ is a folder, and all that is tagged goes into one file"),
        (["-", "-o", "out", "--dask", "local:1"], "--dask reads files, and not standard input"),
        (
            ["a", "b", "-o", "out", "--dask", "local:1"],
            "Put a pattern in quotes, as in 'in/*.conll'",
        ),
        (
            ["a", "--nbest", "2", "-o", "out", "--dask", "local:1"],
            "--nbest does not go with --dask",
        ),
        (["a", "--dask", "local:1"], "name a folder, as in -o tagged/"),
    ],
)
def test_where_tagged_files_cannot_go(
    model: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["tag", str(model), *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_tag_reads_standard_input_as_it_comes(model: Path) -> None:
    with subprocess.Popen(
        [*SEQPA, "tag", str(model)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ELSEWHERE
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"Ada NNP\nwon VBD\n\n")
        child.stdin.flush()
        first = child.stdout.readline()  # before the input ends
        child.stdin.close()
        assert first.startswith(b"Ada NNP ")
    assert child.returncode == 0


def test_tag_columns_can_be_named(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\tNNP\tAda\n2\tVBD\twon\n")
    status, out, _ = run("tag", model, tmp_path / "a.txt", "--columns", "_,pos,word")
    assert status == 0
    assert [line.split("\t")[:3] for line in out.splitlines()] == [
        ["1", "NNP", "Ada"],
        ["2", "VBD", "won"],
    ]


def test_tag_nbest_and_confidence(run: Run, model: Path) -> None:
    _, out, _ = run("tag", model, NEWS / "test.conll", "--nbest", "3", "--confidence")
    corpus = read(NEWS / "test.conll", columns=["word", "pos", "label"])
    tagger = SequenceTagger.load(model)
    best = tagger.predict_nbest(corpus, 3)
    rows = [line.split("\t") for line in out.splitlines() if line and line[:2] != "# "]
    flat = [sentence[k][1] for k in range(3) for sentence in best]
    for k in range(3):
        column = [row[3 + k] for row in rows]
        assert column == [
            label for labels in flat[k * len(best) : (k + 1) * len(best)] for label in labels
        ]
    margins = [margin for _, sentence in tagger.confidence(corpus) for margin in sentence]
    assert [row[6] for row in rows] == [f"{margin:.4f}" for margin in margins]


def test_tag_tells_probabilities(run: Run, model: Path) -> None:
    corpus = read(NEWS / "test.conll", columns=["word", "pos", "label"])
    told = SequenceTagger.load(model).predict_with_probability(corpus)
    expected = [(label, f"{p:.4f}") for sentence in told for label, p in sentence]
    _, out, _ = run("tag", model, NEWS / "test.conll", "--probability")
    rows = [line.split("\t") for line in out.splitlines() if line and line[:2] != "# "]
    assert [(row[3], row[4]) for row in rows] == expected
    # Numbers in JSON, a column in tables.
    _, out, _ = run("tag", model, NEWS / "test.conll", "--probability", "--to", "jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [p for line in lines for p in line["probability"]] == [float(p) for _, p in expected]
    _, out, _ = run("tag", model, NEWS / "test.conll", "--probability", "--to", "csv")
    assert out.splitlines()[0].endswith("label,probability")


def test_training_calibrates_on_the_dev_set(run: Run, tmp_path: Path) -> None:
    config = {
        "data": {
            "columns": ["word", "pos", "label"],
            "train": str(NEWS / "dev.conll"),
            "dev": str(NEWS / "test.conll"),
        },
        "features": {"preset": "ner"},
        "learner": {"epochs": 2},
        "output": {"model": str(tmp_path / "m.safetensors")},
    }
    (tmp_path / "c.yaml").write_text(json.dumps(config))
    for how, is_fitted in (("dev", True), ("none", False), ("cv", True)):
        status, _, _ = run(
            "train", tmp_path / "c.yaml", "--set", f"learner.calibration={how}", "--force"
        )
        assert status == 0
        scale = SequenceTagger.load(tmp_path / "m.safetensors").probability_scale_
        assert (scale != 1.0) == is_fitted
        _, out, _ = run("inspect", tmp_path / "m.safetensors")
        assert ("of probabilities: never fitted" in out) != is_fitted
        _, _, error = run("tag", tmp_path / "m.safetensors", NEWS / "test.conll", "--probability")
        assert ("its probabilities were never fitted to data" in error) != is_fitted
    status, _, error = run("train", tmp_path / "c.yaml", "--set", "learner.calibration=test")
    assert status == 2
    assert "learner.calibration" in error


def test_tag_explains(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("Ada\tNNP\nwon\tVBD\n")
    _, out, _ = run("tag", model, tmp_path / "a.conll", "--explain")
    assert out.startswith("Ada/NNP: ")
    assert "margin" in out
    assert "word[" in out or "pos[" in out


def test_tag_text_and_json_lines(run: Run, word_model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The rain fell .\nWho saw it ?\n")
    text = ["--format", "text", "--tokenizer", "whitespace"]
    status, out, _ = run("tag", word_model, tmp_path / "a.txt", *text)
    assert status == 0
    words = [line.split("\t")[0] for line in out.splitlines() if line]
    assert words == ["The", "rain", "fell", ".", "Who", "saw", "it", "?"]
    tags = [line.split("\t")[1] for line in out.splitlines() if line]
    (tmp_path / "a.jsonl").write_text('{"tokens": ["The", "rain", "fell", "."], "id": 7}\n')
    _, out, _ = run("tag", word_model, tmp_path / "a.jsonl", "--format", "jsonl")
    assert json.loads(out) == {
        "tokens": ["The", "rain", "fell", "."],
        "id": 7,
        "labels": tags[:4],
    }


def test_conllu_in_and_out(run: Run, tmp_path: Path) -> None:
    rows = "# id = 1\n1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_\n1\tin\tin\tADP\t_\t_\t_\t_\t_\t_\n"
    rows += "2\tdem\tder\tDET\t_\tCase=Dat\t_\t_\t_\t_\n\n"
    (tmp_path / "a.conllu").write_text(rows)
    data = {"format": "conllu", "columns": None, "label": "upos+feats", "test": None}
    config = write_config(tmp_path, data={**data, "train": "a.conllu"})
    assert run("train", config)[0] == 0
    blank = rows.replace("ADP", "_").replace("DET", "_").replace("Case=Dat", "_")
    (tmp_path / "blank.conllu").write_text(blank)
    _, out, _ = run("tag", tmp_path / "m.safetensors", tmp_path / "blank.conllu")
    assert out == rows
    status, out, _ = run("evaluate", tmp_path / "m.safetensors", tmp_path / "a.conllu", "--json")
    assert status == 0
    assert json.loads(out)["accuracy"] == 1.0


def test_tagging_takes_constant_memory(word_model: Path, tmp_path: Path) -> None:
    small, large = tmp_path / "small.conll", tmp_path / "large.conll"
    text = (NEWS / "train.conll").read_text()
    small.write_text(text * 8)
    large.write_text(text * 40)
    code = (
        "import resource, sys; from seqpa.cli import main; main(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    peaks = []
    for file in (small, large):
        command = [sys.executable, "-c", code, "tag", str(word_model), str(file), "-o"]
        done = subprocess.run(
            [*command, str(tmp_path / "out")],
            capture_output=True,
            text=True,
            check=True,
            cwd=ELSEWHERE,
        )
        peaks.append(int(done.stderr))
    assert peaks[1] < 1.1 * peaks[0]
    assert (tmp_path / "out").read_text().count("\n") == large.read_text().count("\n")


def test_evaluate_prints_what_matters_and_everything_if_asked(run: Run, model: Path) -> None:
    status, out, _ = run("evaluate", model, NEWS / "test.conll")
    assert status == 0
    assert re.match(r"F1 \d+\.\d\d  \(precision ", out)
    for part in ("known words", " new ", ", cost ", "macro mean", "most frequent mistakes"):
        assert part in out
    assert "B-person" not in out
    everything = [word for name in ("label", "span", "confusion") for word in ("--by", name)]
    _, out, _ = run("evaluate", model, NEWS / "test.conll", *everything)
    corpus = read(NEWS / "test.conll", columns=["word", "pos", "label"])
    assert f"processed {corpus.n_tokens} tokens with " in out
    for part in ("\nlabel  ", "\nB-person ", "\nspan  ", "\nperson ", "\ngold  ", "predicted\n"):
        assert part in out


def test_evaluate_json_agrees_with_the_tagger(run: Run, model: Path) -> None:
    _, out, _ = run("evaluate", model, NEWS / "test.conll", "--json")
    told = json.loads(out)
    corpus = read(NEWS / "test.conll", columns=["word", "pos", "label"])
    assert told["accuracy"] == SequenceTagger.load(model).score(corpus)
    train = read(NEWS / "dev.conll", columns=["word", "pos", "label"])
    known = set(train.columns[0])
    assert told["seen"]["tokens"] == sum(word in known for word in corpus.columns[0])
    wrong = (1 - told["accuracy"]) * corpus.n_tokens
    assert told["cost"] == pytest.approx(wrong / len(corpus))
    assert 0 < told["span_micro"]["f1"] < 1


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_evaluate_compares_two_models(run: Run, model: Path, method: str, tmp_path: Path) -> None:
    config = write_config(tmp_path, features={"templates": ["bias"]})
    assert run("train", config)[0] == 0
    arguments = ["evaluate", model, NEWS / "test.conll", "--compare", tmp_path / "m.safetensors"]
    arguments += ["--method", method, "--rounds", "500"]
    _, out, _ = run(*arguments, "--json")
    told = {item["metric"]: item for item in json.loads(out)["comparisons"]}
    assert set(told) == {"accuracy", "sentence-accuracy", "span-f1", "cost"}
    assert told["span-f1"]["difference"] > 0
    assert told["span-f1"]["p_value"] < 0.05
    assert f"({method}, 500 rounds)" in run(*arguments)[1]


def test_a_python_cost_is_measured_only_if_allowed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cost_of_a_cli_test.py").write_text("def f(g, p):\n    return 3.0 * (g != p)\n")
    cost = {"kind": "python", "file": "cost_of_a_cli_test.py", "function": "f"}
    assert run("train", write_config(tmp_path, cost=cost))[0] == 0
    arguments = ["evaluate", tmp_path / "m.safetensors", NEWS / "test.conll"]
    assert "say --allow-imports" in run(*arguments)[1]
    assert "cost" not in json.loads(run(*arguments, "--json")[1])
    told = json.loads(run(*arguments, "--allow-imports", "--json")[1])
    assert told["cost"] == pytest.approx(3 * (1 - told["sentence_accuracy"]))


def test_models_saved_from_python_can_be_used(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("Rain N\nfell V\n")
    tagger = SequenceTagger(["word[0]"], random_state=1).fit([["Rain", "fell"]], [["N", "V"]])
    tagger.save(tmp_path / "m.safetensors")
    assert run("tag", tmp_path / "m.safetensors", tmp_path / "a.conll")[1] == "Rain N N\nfell V V\n"
    _, out, _ = run("evaluate", tmp_path / "m.safetensors", tmp_path / "a.conll", "--json")
    assert json.loads(out)["accuracy"] == 1.0
    assert "labels" in run("inspect", tmp_path / "m.safetensors")[1]
    tagger = SequenceTagger(None, random_state=1).fit([[{"w": "Rain"}]], [["N"]])
    tagger.save(tmp_path / "d.safetensors")
    status, _, err = run("tag", tmp_path / "d.safetensors", tmp_path / "a.conll")
    assert status == 2
    assert "use it from Python" in err


def test_inspect(run: Run, model: Path) -> None:
    _, out, _ = run("inspect", model, "--top", "2")
    tagger = SequenceTagger.load(model)
    assert f"{len(tagger.classes_)}: " in out
    (feature, label), weight = max(tagger.state_features_.items(), key=lambda item: item[1])
    assert label in out
    assert f"{weight:+9.4f}  {feature}" in out
    best = max(tagger.transition_features_, key=lambda pair: tagger.transition_features_[pair])
    assert " -> ".join(best) in out
    header = json.loads(run("inspect", model, "--header")[1])
    assert header["labels"] == tagger.classes_
    assert header["config"]["decoding"]["constraints"] == "bio"


def test_corpora(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, _ = run("corpora")
    assert status == 0
    assert "news/train.conll" in out
    assert " sentences " in out
    assert "treebank" in out
    assert "conllu" in out
    monkeypatch.setattr("seqpa.data.embedded.find_embedded", lambda: None)
    assert "are not here" in run("corpora")[1]


def test_schema_is_json(run: Run) -> None:
    status, out, _ = run("schema")
    assert status == 0
    schema = json.loads(out)
    assert schema["$schema"].startswith("https://json-schema.org")
    assert "LearnerSettings" in schema["$defs"]


def test_an_interrupt_before_anything_is_kept(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("seqpa.training_run.read_part", interrupted)
    status, _, err = run("train", write_config(tmp_path))
    assert status == 130
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.yaml"]


def test_errors_in_our_own_code_are_not_hidden(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr("seqpa.training_run.read_part", broken)
    with pytest.raises(RuntimeError, match="ours"):
        run("train", write_config(tmp_path))


def test_stdin_that_is_no_text(model: Path) -> None:
    done = process("tag", model, input=b"\xff\xfe\x00", stdout=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr.startswith(b"seqpa: error: <stdin>:1: ")
    assert done.stdout == b""
    assert io.BytesIO(done.stderr).readline() == done.stderr
