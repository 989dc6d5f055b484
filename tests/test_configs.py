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


def some_sentences(source: Path, target: Path, sentences: int) -> Path:
    parts = source.read_text(encoding="utf-8").split("\n\n")[:sentences]
    target.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return target


SIZES = {"train": 60, "dev": 20, "test": 20}


def small_data(config: Path, folder: Path) -> list[str]:
    """Settings that make a configuration read a few sentences of its own files."""
    data = load_config(config)
    more: list[str] = []
    for part, n in SIZES.items():
        source = data.path("data", part)
        file = some_sentences(source, folder / f"{part}{source.suffix}", n)
        more += ["--set", f"data.{part}={file}"]
    for column, settings in data.columns.items():  # the model that predicts it comes first
        assert settings.tagger == "../models/pos/model.safetensors"
        model = folder / "first" / f"{column}.safetensors"
        first = PROJECT / "configs" / "pos.yaml"
        arguments = ["train", str(first), *small_data(first, folder)]
        assert main([*arguments, "--set", f"output.model={model}"]) == 0
        more += ["--set", f"columns.{column}.tagger={model}"]
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
        "chained",
    }
