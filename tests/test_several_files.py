"""Several files as one, patterns and ``~``; tokens without a label, from reading to scores."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from seqpa import SequenceTagger
from seqpa.cli import main
from seqpa.config import load_config
from seqpa.data import Corpus, read, read_chunks
from seqpa.data.several import files_of
from seqpa.errors import SeqpaError, SeqpaWarning
from seqpa.training_run import TrainingRun

A, B, C = "the D\nsaw N\n\n", "she P\nsaw V\nit P\n\n", "so A\nit P\n\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "more").mkdir()
    (tmp_path / "a.conll").write_text(A)
    (tmp_path / "more" / "b.conll").write_text(B)
    (tmp_path / "more" / "c.conll").write_bytes(gzip.compress(C.encode()))
    (tmp_path / "dev.conll").write_text(A + B)
    (tmp_path / "c.yaml").write_text(
        "data:\n  train: [a.conll, 'more/*.conll']\n  dev: dev.conll\n"
        "features: {templates: ['word[0]', 'word[-1]']}\nlearner: {epochs: 3}\n"
        "output: {model: m.safetensors}\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


# Which files


def test_lists_and_patterns(folder: Path) -> None:
    a, b, c = folder / "a.conll", folder / "more" / "b.conll", folder / "more" / "c.conll"
    assert files_of(folder / "more" / "*.conll") == [str(b), str(c)]
    assert files_of([c, folder / "more" / "[ab].conll", str(a)]) == [str(c), str(b), str(a)]
    assert files_of(folder / "**" / "?.conll") == [str(a), str(b), str(c)]
    assert files_of("~/a.conll") == [str(a)]
    assert files_of("~/more/b*") == [str(b)]
    assert files_of("-") == ["-"]
    odd = folder / "odd[1].conll"
    odd.write_text(A)
    assert files_of(odd) == [str(odd)]


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ("no*.conll", r"no\*\.conll: no file has such a name"),
        ([], "the list is empty"),
        ([3], "named by text or a path, not by 3"),
        (["~/a.conll", "~/*.conll"], r"a\.conll: is named twice"),
        ("~nobody-of-that-name/a", "there is no such user"),
    ],
)
def test_mistakes(folder: Path, paths: object, message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        files_of(paths)  # type: ignore[arg-type]


def test_several_are_read_as_one(folder: Path) -> None:
    whole = folder / "whole.conll"
    whole.write_text(A + B + C)
    several = read([folder / "a.conll", folder / "more" / "*.conll"])
    one = read(whole)
    assert (several.X, several.y) == (one.X, one.y)
    chunks = list(read_chunks(folder / "more" / "*.conll"))
    assert [chunk.X for chunk in chunks] == [one.X[1:2], one.X[2:]]


def test_no_document_goes_on_in_the_next_file(folder: Path) -> None:
    marked = f"-DOCSTART- O\n\n{A}{C}"
    (folder / "x.conll").write_text(marked)
    (folder / "y.conll").write_text(marked + marked)
    found = read([folder / "x.conll", folder / "y.conll", folder / "a.conll"])
    runs = np.cumsum(np.diff(found.documents, prepend=found.documents[0]) != 0)
    assert runs.tolist() == [0, 0, 1, 1, 2, 2, 3]
    one_by_one = read_chunks([folder / "x.conll", folder / "y.conll"], chunk_bytes=8)
    numbers = [d for chunk in one_by_one for d in chunk.documents.tolist()]
    assert numbers == found.documents[:6].tolist()
    (folder / "a.csv").write_text("sentence,word,label\n1,the,D\n2,saw,N\n")
    (folder / "b.csv").write_text("sentence,word,label\n1,so,A\n")
    tables = read([folder / "a.csv", folder / "b.csv"], format="csv")
    assert np.diff(tables.documents).tolist() == [0, 1]


def test_different_columns_are_not_joined() -> None:
    a = Corpus.from_sentences([["so"]])
    with pytest.raises(SeqpaError, match="different columns cannot be joined: word and word, pos"):
        Corpus.joined([a, Corpus.from_sentences([[("so", "A")]], names=("word", "pos"))])


# Training


def test_training_on_several(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "whole.conll").write_text(A + B + C)
    assert run("train", folder / "c.yaml") == 0
    more = ["--set", f"data.train={folder / 'whole.conll'}"]
    more += ["--set", f"output.model={folder / 'w.safetensors'}"]
    assert run("train", folder / "c.yaml", *more) == 0
    assert "training on 3 sentences" in capsys.readouterr().out
    several, whole = (SequenceTagger.load(folder / f"{n}.safetensors") for n in "mw")
    assert several.state_features_ == whole.state_features_
    assert run("evaluate", folder / "m.safetensors", folder / "more" / "*.conll", "--json") == 0
    assert json.loads(capsys.readouterr().out)["sentences"] == 2


def test_a_mistake_names_its_file_and_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    b = folder / "more" / "b.conll"
    b.write_text("# a comment\nshe P\nsaw\n")
    assert run("train", folder / "c.yaml") == 2
    assert f"{b}:3: " in capsys.readouterr().err
    b.write_text("# a comment\nshe P\nsaw V\nit P\n")
    forbid = "decoding.constraints={forbidden: [[V, P]]}"
    assert run("train", folder / "c.yaml", "--set", forbid) == 2
    assert f"{b}:4: the training label 'P'" in capsys.readouterr().err
    assert run("train", folder / "c.yaml", "--set", "data.train=[nowhere/*.conll]") == 2
    assert "nowhere/*.conll: no file has such a name" in capsys.readouterr().err
    assert run("train", folder / "c.yaml", "--set", "data.train=[]") == 2
    assert "data.train has 0 items: 1 are needed" in capsys.readouterr().err
    assert run("train", folder / "c.yaml", "--set", "data.train=[3]") == 2
    assert "data.train[0] is 3: expected a text" in capsys.readouterr().err
    assert run("train", folder / "c.yaml", "--set", "data.train={a: b}") == 2
    assert "data.train is a mapping: expected a text" in capsys.readouterr().err


def test_an_output_is_none_of_the_inputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = folder / "more" / "b.conll"
    assert run("train", folder / "c.yaml", "--set", f"output.model={model}", "--force") == 2
    assert "data.train[1]" in capsys.readouterr().err
    assert model.read_text() == B


# Tokens without a label


def conllu(sentences: list[list[tuple[str, str]]]) -> str:
    return "\n".join(
        "".join(f"{i}\t{w}\t_\t{u}\t_\t_\t_\t_\t_\t_\n" for i, (w, u) in enumerate(s, 1))
        for s in sentences
    )


SENTENCES = [[("she", "P"), ("saw", "_"), ("it", "P")], [("it", "_")], [("so", "A"), ("it", "P")]]


@pytest.fixture
def blank(folder: Path) -> Path:
    (folder / "blank.conllu").write_text(conllu(SENTENCES))
    (folder / "blank.yaml").write_text(
        "data: {format: conllu, train: blank.conllu, dev: blank.conllu, test: blank.conllu}\n"
        "features: {templates: ['word[0]', 'word[-1]']}\nlearner: {epochs: 3}\n"
        "output: {model: blank.safetensors}\n"
    )
    return folder


def test_blank_labels_from_file_to_scores(blank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("train", blank / "blank.yaml") == 0
    told = capsys.readouterr()
    warned = [line for line in told.err.splitlines() if "warning" in line]
    expected = "blank.conllu:2: the label is missing: UPOS is '_'; 2 of 6 tokens have no label"
    assert len(warned) == 1
    assert expected in warned[0]
    assert "labels: strict refuses them" in warned[0]
    assert "2 labels" in told.out
    metrics = json.loads((blank / "blank.metrics.json").read_text())
    assert metrics["test"]["tokens"] == 4
    assert metrics["test"]["accuracy"] == 1.0
    tagger = SequenceTagger.load(blank / "blank.safetensors")
    assert tagger.classes_ == ["A", "P"]
    y = [[None if u == "_" else u for _, u in s] for s in SENTENCES]
    X = [[w for w, _ in s] for s in SENTENCES]
    own = SequenceTagger(["word[0]", "word[-1]"], epochs=3, random_state=1).fit(X, y, dev=(X, y))
    assert own.state_features_ == tagger.state_features_
    assert own.score(X, y) == 1.0
    model, data = blank / "blank.safetensors", blank / "blank.conllu"
    assert run("evaluate", model, data, "--json", "--compare", model) == 0
    assert json.loads(capsys.readouterr().out)["tokens"] == 4
    assert run("train", blank / "blank.yaml", "--force", "--set", "data.labels=strict") == 2
    assert "blank.conllu:2: the label is missing" in capsys.readouterr().err
    assert run("train", blank / "blank.yaml", "--certificate") == 2
    assert "a certificate needs all labels" in capsys.readouterr().err
    assert run("train", blank / "blank.yaml", "--online") == 0


def test_blank_labels_elsewhere(blank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = blank / "blank.conllu"
    assert run("convert", data, blank / "out.conll") == 0
    assert (blank / "out.conll").read_text().splitlines()[:3] == ["she\tP", "saw\t_", "it\tP"]
    assert run("init", data, "-o", blank / "new.yaml", "--yes") == 0
    assert "2 cells are empty" in capsys.readouterr().out
    assert run("score", data, data, "--json") == 0
    assert json.loads(capsys.readouterr().out)["tokens"] == 4


def test_a_mark_of_ones_own_is_not_scored(folder: Path) -> None:
    (folder / "dev.conll").write_text(A.replace(" N", " ?") + B)
    config = load_config(folder / "c.yaml", ["data.unlabelled='?'"])
    training = TrainingRun(config)
    list(training.epochs())
    outcome = training.finish()
    assert outcome.dev is not None
    assert outcome.dev.tokens == 4


def test_nothing_to_score() -> None:
    tagger = SequenceTagger(["word[0]"])
    with pytest.raises(SeqpaError, match="the dev set: there is no token to score"):
        tagger.fit([["so"]], [["A"]], dev=([["so"]], [[None]]))
    with pytest.raises(SeqpaError, match="there is no token to score"):
        tagger.fit([["so"]], [["A"]]).score([["so"]], [[None]])


def test_resuming_with_blank_labels(blank: Path) -> None:
    with pytest.warns(SeqpaWarning, match="have no label"):
        broken = TrainingRun(load_config(blank / "blank.yaml"))
    next(broken.epochs())
    broken.close()
    assert run("train", blank / "blank.yaml", "--resume") == 0
    tagger = SequenceTagger.load(blank / "blank.safetensors")
    assert np.isfinite(list(tagger.state_features_.values())).all()
