"""What sentences weigh, as a column, a comment or a key; and training that goes by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from seqpa import SequenceTagger
from seqpa.cli import app
from seqpa.data import Corpus, read, read_chunks
from seqpa.errors import SeqpaError

SENTENCES = [["so", "it", "is"], ["rain", "fell"], ["stop"], ["it", "fell", "so"]]
LABELS = [["A", "P", "V"], ["N", "V"], ["V"], ["P", "V", "A"]]
WEIGHTS = [2.0, 1.0, 0.0, 0.5]
U = "\t".join("_" * 6)


def conll(separator: str) -> str:
    parts = []
    for words, labels, weight in zip(SENTENCES, LABELS, WEIGHTS, strict=True):
        rows = [f"{w}{separator}{label}" for w, label in zip(words, labels, strict=True)]
        head = [] if weight == 1 else [f"# weight = {weight:g}"]
        parts.append("\n".join(["# id = 7", *head, *rows, ""]))
    return "\n".join(parts)


def with_column(separator: str) -> str:
    return "\n".join(
        "".join(
            f"{w}{separator}{weight}{separator}{label}\n"
            for w, label in zip(words, labels, strict=True)
        )
        for words, labels, weight in zip(SENTENCES, LABELS, WEIGHTS, strict=True)
    )


def conllu() -> str:
    parts = []
    for words, labels, weight in zip(SENTENCES, LABELS, WEIGHTS, strict=True):
        rows = [
            f"{i}\t{w}\t_\t{label}\t{U}"
            for i, (w, label) in enumerate(zip(words, labels, strict=True), 1)
        ]
        parts.append("\n".join([f"# weight={weight}", "# text = x", *rows, "", ""]))
    return "".join(parts)


def jsonl() -> str:
    lines = []
    for words, labels, weight in zip(SENTENCES, LABELS, WEIGHTS, strict=True):
        more = {} if weight == 1 else {"weight": weight}
        lines.append(json.dumps({"tokens": words, "labels": labels, **more}))
    return "\n".join([lines[0], '{"tokens": [], "labels": [], "weight": 9}', *lines[1:]]) + "\n"


COLUMNS = ["word", "weight", "label"]
FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "conll, spaces": (conll(" "), {}),
    "conll, tabs": (conll("\t"), {}),
    "conll, a column": (with_column(" "), {"columns": COLUMNS}),
    "conllu": (conllu(), {"format": "conllu"}),
    "jsonl": (jsonl(), {"format": "jsonl"}),
    "csv": ("word,weight,label\n" + with_column(","), {"format": "csv", "columns": COLUMNS}),
}
files = pytest.mark.parametrize(("text", "options"), FILES.values(), ids=FILES.keys())


@files
def test_the_weights_of_a_file(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    file = tmp_path / "a"
    file.write_text(text, encoding="utf-8")
    corpus = read(file, weight="weight", **options)
    assert (corpus.X, corpus.y) == (SENTENCES, LABELS)
    assert corpus.names == ("word",)
    assert corpus.weights is not None
    assert corpus.weights.tolist() == WEIGHTS
    chunks = list(read_chunks(file, weight="weight", chunk_bytes=8, **options))
    again = Corpus.joined(chunks)
    assert again.weights is not None
    assert again.weights.tolist() == WEIGHTS
    part = corpus[1:]
    assert part.weights is not None
    assert part.weights.tolist() == WEIGHTS[1:]
    assert read(file, **options).weights is None


@files
def test_training_goes_by_them(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    file = tmp_path / "a"
    file.write_text(text, encoding="utf-8")
    corpus = read(file, weight="weight", **options)

    def trained(*data: Any, **more: Any) -> Any:
        return SequenceTagger(["word[0]"], C=0.1, random_state=1).fit(*data, **more).state_features_

    assert trained(corpus) == trained(SENTENCES, LABELS, sample_weight=WEIGHTS)
    assert trained(corpus, sample_weight=np.ones(4)) == trained(SENTENCES, LABELS)
    assert trained(corpus) != trained(SENTENCES, LABELS)
    online = SequenceTagger(["word[0]"], C=0.1, random_state=1).partial_fit(corpus)
    other = SequenceTagger(["word[0]"], C=0.1, random_state=1)
    other.partial_fit(SENTENCES, LABELS, sample_weight=WEIGHTS)
    assert online.state_features_ == other.state_features_


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("# weight = 2\na N\n# weight = 3\nb V\n", {}, r"a:3: the sentence has two comments"),
        ("a N\n\n# weight = many\nb V\n", {}, r"a:3: the weight of a sentence is a number, .*many"),
        ("# weight = -1\nb V\n", {}, r"a:1: the weight of a sentence is a number, 0 or above"),
        ("# weight = nan\nb V\n", {}, r"a:1: the weight"),
        ("# wieght = 2\nb V\n", {}, r"a: no sentence says its weight: it is a column, a comment"),
        ("a 2 N\nb 3 V\n", {"columns": COLUMNS}, r"a:2: .* the same for all its tokens: '3' after"),
        ("a 2 N\n\nb x V\n", {"columns": COLUMNS}, r"a:3: the weight of a sentence .*'x'"),
        ('{"tokens": ["a"], "labels": ["N"], "weight": true}\n', {"format": "jsonl"}, "a:1: the"),
        ("a_N b_V\n", {"format": "slash"}, "a: weights are a column"),
    ],
)
def test_what_is_no_weight(
    tmp_path: Path, text: str, options: dict[str, Any], message: str
) -> None:
    file = tmp_path / "a"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SeqpaError, match=message):
        read(file, weight="weight", **options)


def test_a_word_may_look_like_a_comment(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("# weight=2\n\n# weight = 3\nb V\n\n# weight = 9\n", encoding="utf-8")
    corpus = read(file, weight="weight")  # two cells: the token # with the label weight=2
    assert corpus.X == [["#"], ["b"]]
    assert corpus.weights is not None
    assert corpus.weights.tolist() == [1.0, 3.0]


@pytest.mark.parametrize("column", [False, True])
def test_the_command_line_knows_them(tmp_path: Path, column: bool) -> None:
    (tmp_path / "train.conll").write_text(
        with_column(" ") if column else conll(" "), encoding="utf-8"
    )
    columns = "columns: [word, weight, label]" if column else ""
    (tmp_path / "c.yaml").write_text(
        "data:\n  train: train.conll\n  dev: train.conll\n  weight: weight\n"
        f"  {columns}\n"
        "features: {templates: ['word[0]']}\nlearner: {C: 0.1, epochs: 3}\n"
        "output: {model: m.safetensors}\n",
        encoding="utf-8",
    )
    run = CliRunner()
    result = run.invoke(app, ["train", str(tmp_path / "c.yaml"), "--certificate"])
    assert result.exit_code == 0, result.output
    assert "VIOLATED" not in result.output
    model = tmp_path / "m.safetensors"
    tagger = SequenceTagger.load(model)
    expected = SequenceTagger(["word[0]"], C=0.1, epochs=3, random_state=1).fit(
        SENTENCES, LABELS, dev=(SENTENCES, LABELS), sample_weight=WEIGHTS
    )
    assert tagger.state_features_ == expected.state_features_
    out = tmp_path / "out.conll"
    source = str(tmp_path / "train.conll")
    result = run.invoke(app, ["tag", str(model), source, "-o", str(out)])
    assert result.exit_code == 0, result.output
    result = run.invoke(app, ["evaluate", str(model), source])
    assert result.exit_code == 0, result.output
    result = run.invoke(app, ["train", str(tmp_path / "c.yaml"), "--online", "--force"])
    assert result.exit_code == 0, result.output
    one = SequenceTagger(["word[0]"], C=0.1, random_state=1)
    for words, labels, weight in zip(SENTENCES, LABELS, WEIGHTS, strict=True):
        if weight:
            one.learn_one(words, labels, weight)
    assert SequenceTagger.load(model).state_features_ == one.state_features_
