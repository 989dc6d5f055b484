"""A new user's first minutes: init, train, text in and names out, convert, score; and mistakes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from seqpa.cli import main
from seqpa.config import load_config
from seqpa.config.suggestion import roles_of
from seqpa.data import read
from seqpa.data.conversion import format_of
from seqpa.data.survey import guess_columns, survey
from seqpa.errors import SeqpaError
from seqpa.schemes import SCHEMES, convert

PROJECT = Path(__file__).parents[1]
NEWS = PROJECT / "corpora" / "news"
Run = Callable[..., tuple[int, str, str]]

SENTENCES = """\
Ada NNP B-PER
Low NNP I-PER
saw VBD O
Lyon NNP B-LOC
. . O

Ada NNP B-PER
left VBD O
Ohio NNP B-LOC
. . O

"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conll").write_text(SENTENCES * 8)
    (tmp_path / "dev.conll").write_text(SENTENCES)
    return tmp_path


def say(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode())))
    monkeypatch.setattr(sys, "stdin", stream)


def test_on_a_terminal_spans_are_coloured_in_their_text(
    here: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init", "train.conll", "dev.conll")
    assert run("train", "seqpa.yaml")[0] == 0
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for no_color, expected in [
        ("", "\x1b[30;43m Ada Low \x1b[1mPER \x1b[0m left \x1b[30;46m Lyon \x1b[1mLOC \x1b[0m.\n"),
        ("1", "[Ada Low PER] left [Lyon LOC].\n"),
    ]:
        monkeypatch.setenv("NO_COLOR", no_color)
        say("Ada Low left Lyon.\n", monkeypatch)
        assert run("tag", "model.safetensors")[1] == expected
        say("Ada Low left Lyon.\n", monkeypatch)  # what is asked for is given
        assert run("tag", "model.safetensors", "--to", "conll")[1].startswith("Ada\tB-PER")
        say("Ada Low left Lyon.\n", monkeypatch)
        assert run("tag", "model.safetensors", "--confidence")[1].startswith("Ada\tB-PER")


def test_from_a_file_to_a_tagged_sentence_of_ones_own(
    here: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, _ = run("init", "train.conll", "dev.conll")
    assert status == 0
    assert "train.conll: conll, 3 space-separated columns a line, blank lines between" in out
    assert "16 sentences, 72 tokens" in out
    assert "column 3: label, IOB2, 32 spans, 4 labels" in out
    assert "now run: seqpa train seqpa.yaml" in out
    assert run("train", "seqpa.yaml")[0] == 0
    # The configuration has only words, so that any text can be tagged: without one option.
    say("Ada Low left Lyon. Ada isn't here.\n", monkeypatch)
    status, out, err = run("tag", "model.safetensors")
    assert (status, err) == (0, "")
    rows = [line.split("\t") for line in out.split("\n")]
    assert [row[0] for row in rows[:5]] == ["Ada", "Low", "left", "Lyon", "."]
    assert [row[0] for row in rows[7:9]] == ["is", "n't"]
    assert rows[0][1] == "B-PER"
    # Any format, recognised.
    for text, expected in [
        ('{"tokens": ["Ada", "left"]}\n', '"labels": ["B-PER", "O"]'),
        ("word,id\nAda,1\nleft,2\n", "Ada,1,B-PER"),
        ("Ada/NNP left/VBD\n", "Ada/NNP/B-PER left/VBD/O"),
        ('{"text": "Ada left."}\n', '"ents": [{"start": 0, "end": 3, "label": "PER"}]'),
        ("Ada\nleft\nOhio\n.\n\nAda\n", "Ada\tB-PER"),
    ]:
        say(text, monkeypatch)
        status, out, err = run("tag", "model.safetensors")
        assert (status, err) == (0, "")
        assert expected in out
    say("Ada Low left  Lyon.\n", monkeypatch)
    out = run("tag", "model.safetensors", "--to", "brackets")[1]
    assert out == "[Ada Low PER] left  [Lyon LOC].\n"
    say("Ada Low left  Lyon.\n", monkeypatch)
    found = json.loads(run("tag", "model.safetensors", "--to", "spans")[1])
    assert found["ents"][1] == {"start": 14, "end": 18, "label": "LOC"}
    (here / "a.txt").write_text("Ada left Ohio.\n")
    for tokenizer, words in [("whitespace", 3), ("shlex:split", 3), ("builtin", 4)]:
        out = run("tag", "model.safetensors", "a.txt", "--tokenizer", tokenizer)[1]
        assert out.strip().count("\n") + 1 == words
    # A wrong guess is one line that names the option.
    say('{"tokens": ["Ada"]}\n{"tokens": 3}\n', monkeypatch)
    status, _, err = run("tag", "model.safetensors")
    assert status == 2
    assert err.count("\n") == 1
    assert "<stdin>:2: " in err
    assert "it was read as jsonl (a JSON object a line, with tokens): if that is wrong, say" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tokenizer", "moses"], "tokenizer: 'moses' is none of builtin, punkt, whitespace"),
        (["--tokenizer", "nowhere:f"], "the function 'nowhere:f' cannot be imported"),
        (["--language", "klingon"], "language: 'klingon' is none of english"),
        (["--to", "brackets", "--probability"], "--to brackets shows spans in their text"),
        (["--explain", "--to", "jsonl"], "--explain writes reasons in place of the data"),
        (["--explain", "--nbest", "2"], "--explain writes reasons in place of the data"),
        (["--to", "bracket"], "format: 'bracket' is not known; did you mean 'brackets'?"),
    ],
)
def test_mistakes_in_tagging_text(here: Path, run: Run, arguments, message: str) -> None:
    assert run("init", "train.conll", "--yes")[0] == 0
    assert run("train", "seqpa.yaml", "--set", "learner.epochs=1")[0] == 0
    (here / "a.txt").write_text("Ada left Ohio.\n")
    status, _, err = run("tag", "model.safetensors", "a.txt", *arguments)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1


# init


@pytest.mark.parametrize("format", ["conll", "jsonl", "csv", "slash", "spans"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_init_writes_trains(here: Path, run: Run, format: str, scheme: str) -> None:
    touching = "The DT O\nAda NNP B-PER\nLow NNP I-PER\nHill NNP I-PER\nZoe NNP B-PER\n\n"
    for name in ("train", "dev"):
        (here / f"{name}.conll").write_text(SENTENCES * 4 + touching)
        target = f"{name}.x"
        arguments = ["--to", format, "--scheme", scheme]
        if format == "spans":
            arguments = ["--to", format]
        assert run("convert", f"{name}.conll", target, *arguments)[0] == 0
    status, out, err = run("init", "train.x", "dev.x", "--yes", "-o", "c.yaml")
    assert (status, err) == (0, "")
    config = load_config(Path("c.yaml"))
    assert config.data.format == format
    known = "iob2" if format == "spans" else scheme
    assert f"{known.upper()}, " in out
    assert run("train", "c.yaml", "--set", "learner.epochs=2")[0] == 0
    model = run("inspect", "model.safetensors")[1]
    assert "PER" in model


def test_init_sees_what_there_is(here: Path, run: Run) -> None:
    (here / "a.txt").write_bytes(
        "-DOCSTART-\tX\tO\tO\n\nZoë\tNNP\tB-PER\tO\nLow\tNNP\tI-PER\tO\n\n"
        "Ada\tNNP\tB-PER\tO\n\nwon\tVBD\tO\tO\nZoë\tNNP\tI-PER\tO\n"
        "Ada\tNNP\tB-PER\tO\n".encode("cp1252")
    )
    found = survey("a.txt", label=2)
    assert (found.documents, found.sentences, found.tokens) == (1, 3, 6)
    assert [column.name for column in found.columns] == ["word", "pos", "label", "_"]
    assert found.label is not None
    assert found.label.scheme is not None
    assert (found.label.scheme.scheme, found.label.scheme.broken) == ("iob2", 1)
    status, out, _ = run("init", "a.txt", "--label", 3)
    assert status == 0
    assert "encoding: cp1252" in out
    assert "1 of 4 spans are illegal IOB2; strict refuses them" in out
    assert "column 2 (pos): name it instead of _ to learn from it" in out
    config = load_config(Path("seqpa.yaml"))
    assert config.data.columns == ["word", "_", "label", "_"]
    assert config.decoding.constraints == "bio"
    assert guess_columns(1) == ["word"]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("Running text, no labels.\n", [], "a.x: running text, without labels; seqpa learns from"),
        ("", [], "a.x: there is nothing in it"),
        ("a\tX\n\nb\tY\n", ["--label", "5"], "label: a.x has 2 columns, not 5"),
        ("a\tX\n\nb\tY\n", ["dev.conll"], "dev.conll: has 3 columns, but a.x has 2"),
        ("word,label\na,X\n", ["dev.conll"], "dev.conll: is conll, but a.x is csv; seqpa convert"),
        ("a\tX\n", ["b", "c", "d"], "4 files: give at most three"),
        ("a\tX\n", ["nothing"], "nothing: no such file"),
        ("a\tX\n", ["-o", "there.yaml"], "there.yaml: is there already; say --force"),
    ],
)
def test_mistakes_in_init(here: Path, run: Run, content: str, arguments, message: str) -> None:
    (here / "a.x").write_text(content)
    (here / "there.yaml").write_text("mine")
    status, _, err = run("init", "a.x", *arguments)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
    assert not (here / "seqpa.yaml").exists()
    assert (here / "there.yaml").read_text() == "mine"


def test_roles_by_name_and_by_order() -> None:
    assert roles_of(["eng.testb", "eng.testa", "eng.train"]) == {
        "test": "eng.testb",
        "dev": "eng.testa",
        "train": "eng.train",
    }
    assert roles_of(["a", "b"]) == {"train": "a", "dev": "b"}
    assert roles_of(["x-test.conll"]) == {"train": "x-test.conll"}


def test_init_asks_on_a_terminal(here: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([7, 2])
    monkeypatch.setattr("typer.prompt", lambda *_, **__: next(answers))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert run("init", "train.conll")[0] == 0
    assert load_config(Path("seqpa.yaml")).data.columns == ["word", "label", "_"]


# convert


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("ending", ["conll", "jsonl", "csv", "tsv", "pos", "conll.gz"])
def test_there_and_back(here: Path, run: Run, scheme: str, ending: str) -> None:
    gold = read("train.conll", columns=["word", "pos", "label"])
    status, out, err = run("convert", "train.conll", f"a.{ending}", "--scheme", scheme)
    assert (status, out) == (0, "")
    assert "16 sentences, 72 tokens written as" in err
    columns = ["--columns", "word,pos,label"] if ending in ("jsonl", "csv", "tsv", "pos") else []
    assert run("convert", f"a.{ending}", "b.conll", "--scheme", "iob2", *columns)[0] == 0
    back = read("b.conll", columns=["word", "pos", "label"])
    assert back.X == gold.X
    assert back.y == [convert(convert(y, scheme), "iob2") for y in gold.y]


def test_convert_to_what_people_look_at(here: Path, run: Run) -> None:
    status, out, _ = run("convert", "dev.conll", "-", "--to", "brackets")
    assert status == 0
    assert out.split("\n")[0] == "[Ada Low PER] saw [Lyon LOC] ."
    spans = run("convert", "dev.conll", "-", "--to", "spans")[1]
    first = json.loads(spans.split("\n")[0])
    assert first["ents"][1] == {"start": 12, "end": 16, "label": "LOC"}
    (here / "a.jsonl").write_text('{"text": "Ada  left.", "label": [[0, 3, "PER"]]}\n')
    assert run("convert", "a.jsonl", "-", "--to", "brackets")[1] == "[Ada PER]  left.\n"
    found = json.loads(run("convert", "a.jsonl", "-", "--to", "huggingface")[1])
    assert found["entities"][0]["word"] == "Ada"
    (here / "u.conllu").write_text("1\tAda\t_\tPROPN" + "\t_" * 6 + "\n\n")
    assert run("convert", "u.conllu", "-", "--to", "slash")[1] == "Ada/PROPN\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dev.conll", "out"], "out: its name does not say the format; say it: conll"),
        (["dev.conll", "out.conll", "--to", "xml"], "format: 'xml' cannot be written"),
        (["dev.conll", "train.conll"], "train.conll: is there already; say --force"),
        (["dev.conll", "dev.conll", "--force"], "dev.conll: is the file that is read"),
        (["a.txt", "out.conll"], "a.txt: running text, without labels, which seqpa tag adds"),
        (["nothing", "out.conll"], "nothing: no such file"),
        (["dev.conll", "out.jsonl", "--scheme", "bioe"], "did you mean 'bioes'"),
        (["bad.conll", "out.jsonl", "--labels", "strict"], "bad.conll:5: 'I-PER' after 'O'"),
        (["dev.conll", "out.jsonl", "--from", "jsonl"], "dev.conll:1: not JSON"),
        (["a.txt", "out.jsonl", "--from", "conll"], "say what its columns are, as in word,label"),
        (["pos.conll", "out.jsonl", "--to", "brackets"], "brackets shows spans, which 'NNP'"),
    ],
)
def test_mistakes_in_convert(here: Path, run: Run, arguments, message: str) -> None:
    (here / "a.txt").write_text("Some text.\n")
    (here / "bad.conll").write_text("a B-PER\n\nb B-PER\nc O\nd I-PER\n")
    (here / "pos.conll").write_text("a NNP\nb VB\n")
    before = sorted(path.name for path in here.iterdir())
    status, _, err = run("convert", *arguments)
    assert status == 2
    assert message in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in here.iterdir()) == before


def test_convert_repairs_with_one_line(here: Path, run: Run) -> None:
    (here / "bad.conll").write_text("a B-PER\n\nb B-PER\nc O\nd I-PER\n")
    status, _, err = run("convert", "bad.conll", "out.conll", "--scheme", "iob2")
    assert status == 0
    assert err.split("\n")[0] == (
        "seqpa: warning: bad.conll:5: I-PER begins a span; 1 of 3 spans repaired; labels: strict "
        "refuses them"
    )
    assert read("out.conll").y == [["B-PER"], ["B-PER", "O", "B-PER"]]


def test_formats_by_ending() -> None:
    assert format_of("a.IOB") == "conll"
    assert format_of("x/a.json.gz") == "jsonl"
    with pytest.raises(SeqpaError, match="its name does not say"):
        format_of("x.y/a")


# score


def test_score_files_of_different_formats_and_schemes(here: Path, run: Run) -> None:
    assert run("convert", "dev.conll", "p.jsonl", "--scheme", "bilou")[0] == 0
    status, out, err = run("score", "dev.conll", "p.jsonl")
    assert status == 0
    assert out.startswith("F1 100.00  (precision 100.00, recall 100.00, 4 spans)")
    assert "the predicted labels are BILOU" in err
    (here / "p.conll").write_text(SENTENCES.replace("I-PER", "O"))
    out = run("score", "dev.conll", "p.conll", "--by", "span")[1]
    assert out.startswith("F1 75.00")
    whole = run("score", "dev.conll", "p.conll", "--by", "span")[1]
    assert "accuracy:  88.89%" in whole  # conlleval's own lines
    found = json.loads(run("score", "dev.conll", "p.conll", "--json")[1])
    assert found["span_micro"]["correct"] == 3
    (here / "i.conll").write_text(SENTENCES.replace("B-LOC", "I-LOC"))
    assert run("score", "dev.conll", "i.conll")[1].startswith("F1 100.00")
    strict = run("score", "dev.conll", "i.conll", "--strict", "iob2")[1]
    assert strict.startswith("F1 66.67")
    both = [f"{line} O" if line else "" for line in SENTENCES.split("\n")]
    (here / "both.conll").write_text("\n".join(both))
    assert run("score", "both.conll")[1].startswith("F1 0.00")
    (here / "pos.conll").write_text(SENTENCES.replace("-", ""))
    assert run("score", "pos.conll", "pos.conll")[1].startswith("accuracy 100.00  (9 tokens)")


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (SENTENCES.replace("saw", "met"), "p.conll: sentence 1, word 3 is 'met', but in dev.conll"),
        (SENTENCES.replace("saw VBD O\n", ""), "p.conll: sentence 1, word 3 is 'Lyon', but in"),
        (SENTENCES.replace(". . O\n\nAda", ". . O\nAda"), "sentence 1 has 9 words, but in dev"),
        (SENTENCES + SENTENCES, "p.conll: 4 sentences, but dev.conll has 2"),
        ("Some text.\n", "p.conll: running text, without labels"),
    ],
)
def test_mistakes_in_score(here: Path, run: Run, predicted: str, message: str) -> None:
    (here / "p.conll").write_text(predicted)
    status, out, err = run("score", "dev.conll", "p.conll")
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_score_of_one_file_needs_two_columns(here: Path, run: Run) -> None:
    (here / "a.conll").write_text("a X\nb Y\n")
    status, _, err = run("score", "a.conll")
    assert status == 2
    assert "the right label and the predicted one last" in err
    assert run("score", "dev.conll", "dev.conll", "--strict", "iob3")[0] == 2
