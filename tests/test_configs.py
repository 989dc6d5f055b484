"""Every shipped configuration is complete and runs, on small data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seqpa.cli import main
from seqpa.config import load_config
from seqpa.sequence.tagger import SequenceTagger

PROJECT = Path(__file__).parents[1]
CONFIGS = sorted((PROJECT / "configs").glob("*.yaml"))
CHUNKED = "He PRP B-NP\nreckons VBZ B-VP\nthe DT B-NP\nloss NN I-NP\n. . O\n\nIt PRP B-NP\n. . O\n"


def some_sentences(source: Path, target: Path, sentences: int) -> Path:
    parts = source.read_text(encoding="utf-8").split("\n\n")[:sentences]
    target.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return target


def conllu(sentences: list[list[tuple[str, str, str]]]) -> str:
    rows = []
    for sentence in sentences:
        for i, (word, upos, feats) in enumerate(sentence, 1):
            rows.append(f"{i}\t{word}\t_\t{upos}\t_\t{feats}\t_\t_\t_\t_")
        rows.append("")
    return "\n".join(rows) + "\n"


def small_data(config: Path, folder: Path) -> list[str]:
    if config.stem == "chunk":
        file = folder / "chunk.txt"
        file.write_text(CHUNKED)
        data = dict.fromkeys(("train", "dev", "test"), file)
        more = ["--set", "data.format=conll"]
    elif config.stem == "conllu":
        file = folder / "a.conllu"
        text = conllu(
            [
                [("Die", "DET", "Gender=Fem"), ("Sonne", "NOUN", "Gender=Fem")],
                [("Geh", "VERB", "_"), ("!", "PUNCT", "_")],
            ]
        )
        file.write_text(text)
        data, more = dict.fromkeys(("train", "dev", "test"), file), []
    else:
        news = PROJECT / "corpora" / "news"
        data = {
            part: some_sentences(news / f"{part}.conll", folder / f"{part}.conll", n)
            for part, n in (("train", 60), ("dev", 20), ("test", 20))
        }
        more = []
    for part, file in data.items():
        more += ["--set", f"data.{part}={file}"]
    return more


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_it_trains_and_tags(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "out" / "m.safetensors"
    arguments = ["train", str(config), *small_data(config, tmp_path)]
    arguments += ["--set", f"output.model={model}", "--set", "learner.epochs=3"]
    assert main(arguments) == 0
    told = capsys.readouterr().out
    assert "epoch 3/3" in told
    assert "accuracy" in told
    assert f"model written to {model}" in told
    left = sorted(path.name for path in model.parent.iterdir())
    assert left == ["m.history.json", "m.metrics.json", "m.safetensors"]
    assert len(json.loads((model.parent / "m.history.json").read_text())["epochs"]) == 3
    metrics = json.loads((model.parent / "m.metrics.json").read_text())
    assert 0 <= metrics["test"]["accuracy"] <= 1
    assert SequenceTagger.load(model).classes_


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_it_is_complete_and_commented(config: Path) -> None:
    loaded = load_config(config)
    assert loaded.data.test is not None
    text = config.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert f"seqpa train configs/{config.name}" in text
    assert loaded.path("output", "model") == PROJECT / "models" / config.stem / "model.safetensors"


def test_the_set_is_complete() -> None:
    names = {path.stem for path in CONFIGS}
    assert names >= {
        "ner",
        "pos",
        "chunk",
        "hierarchy-cost",
        "custom-cost",
        "crfsuite-style",
        "conllu",
    }
