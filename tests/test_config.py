from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
import yaml

from seqpa.config import (
    Config,
    LearnerSettings,
    json_schema,
    known_keys,
    load_config,
    settings,
    settings_help,
    settings_table,
)
from seqpa.config.build import cost_of
from seqpa.errors import SeqpaError
from seqpa.sequence.tagger import SequenceTagger

MINIMAL = "data: {train: a.conll}\n"


def config_file(folder: Path, text: str) -> Path:
    path = folder / "c.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("data: {train: a}\nlearner:\n  epoch: 3\n", 3, "'learner.epoch'; did you mean 'epochs'?"),
        ("data: {train: a}\nlerner: {}\n", 2, "unknown key 'lerner'; did you mean 'learner'?"),
        ("data: {train: a}\nlearner: {c: 1}\n", 2, "did you mean 'C'?"),
        ("data: {train: a}\nxyz: 1\n", 2, "there are data, columns, features, learner"),
        ("data:\n  format: conll\n", 1, "'data.train' is missing: what to learn from"),
        ("learner: {}\n", None, "'data' is missing"),
        ("data: {train: 3}\n", 1, "data.train is 3: expected a text"),
        ("data: {train: a}\nlearner: {C: fast}\n", 2, "learner.C is 'fast': expected a number"),
        ("data: {train: a}\nlearner: {C: -1}\n", 2, "must be greater than 0"),
        ("data: {train: a}\nlearner: {epochs: 0}\n", 2, "must be at least 1"),
        ("data: {train: a}\nlearner: {epochs: 2.5}\n", 2, "expected a whole number"),
        ("data: {train: a}\nlearner: {average: no}\n", 2, "expected true or false"),
        ("data: {train: a}\nlearner: {memory: 500}\n", 2, "500 is no size: give one such as 2GB"),
        ("data: {train: a}\nlearner: {memory: much}\n", 2, "'much' is no size"),
        ("data: {train: a}\nlearner: 7\n", 2, "learner is 7: expected a mapping"),
        ("data: {train: a, columns: word}\n", 1, "data.columns is 'word': expected a list"),
        ("data:\n  train: a\n  columns: [word,\n    3]\n", 4, "data.columns[1] is 3"),
        ("data: {train: a}\ncost: {kind: heirarchy}\n", 2, "did you mean 'hierarchy'?"),
        ("data: {train: a}\ncost: {kind: hierarchy}\n", 2, "the kind hierarchy needs file"),
        ("data: {train: a}\ncost: {kind: matrix}\n", 2, "needs either file or table"),
        ("data: {train: a}\ncost: {kind: python}\n", 2, "needs function"),
        ("data: {train: a}\ncost: {kind: python, function: f}\n", 2, "package.module:function"),
        ("data: {train: a}\ncost: {file: x}\n", 2, "auto has no use for file"),
        ("data: {train: a}\ndecoding: {constraints: boi}\n", 2, "did you mean 'bio'?"),
        ("data: {train: a}\ndecoding: {constraints: {forbiden: []}}\n", 2, "'forbidden'?"),
        ("data: {train: a}\ndecoding:\n  constraints: {forbidden: [[x]]}\n", 3, "1 items: 2 are"),
        ("data: {train: a}\ndata: {train: b}\n", 2, "the key 'data' stands here twice"),
        ("data: {train: a\n", 2, "not YAML"),
        ("data: {train: 'a}\n", 2, "not YAML"),
        ("? [a]\n: 3\n", 1, "a key must be a text"),
        ("", 1, "not a configuration"),
        ("just words\n", 1, "not a configuration"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(
    tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    path = config_file(tmp_path, text)
    with pytest.raises(SeqpaError) as caught:
        load_config(path)
    told = str(caught.value)
    assert told.startswith(f"{path}: " if line is None else f"{path}:{line}: ")
    assert message in told
    assert "\n" not in told


def test_the_first_mistake_of_the_file_is_told(tmp_path: Path) -> None:
    text = "learner:\n  epochs: x\n  C: y\ndata: {trian: a}\n"
    with pytest.raises(SeqpaError, match=r"c\.yaml:2: learner\.epochs"):
        load_config(config_file(tmp_path, text))


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "ner.yaml").write_bytes(b"data: {train: \xe9}\n")
    with pytest.raises(SeqpaError, match=r"ner\.yaml:1: not UTF-8"):
        load_config(tmp_path / "ner.yaml")
    with pytest.raises(SeqpaError, match=r"no such file; did you mean .*ner\.yaml'\?"):
        load_config(tmp_path / "ner.yml")
    with pytest.raises(SeqpaError, match="there is no directory"):
        load_config(tmp_path / "nowhere" / "ner.yaml")
    with pytest.raises(SeqpaError, match="is a directory"):
        load_config(tmp_path)


def test_scalars_are_read_as_yaml_1_2(tmp_path: Path) -> None:
    text = "data: {train: no}\nlearner: {C: 1e-3, patience: ~}\ncost:\n  kind: matrix\n"
    text += "  table: {1: {yes: 2}}\n"
    config = load_config(config_file(tmp_path, text))
    assert config.data.train == "no"
    assert config.learner.C == 0.001
    assert config.learner.patience is None
    assert config.cost.table == {"1": {"yes": 2.0}}


def test_a_section_with_nothing_in_it_is_as_good_as_absent(tmp_path: Path) -> None:
    config = load_config(config_file(tmp_path, MINIMAL + "learner:\n  # C: 3\n"))
    assert config.learner == LearnerSettings()


@pytest.mark.parametrize(
    ("setting", "check"),
    [
        ("learner.C=0.3", lambda c: c.learner.C == 0.3),
        ("learner.average=false", lambda c: c.learner.average is False),
        ("data.columns=[word, _, label]", lambda c: c.data.columns == ["word", "_", "label"]),
        ("data.dev=null", lambda c: c.data.dev is None),
        ("data.train=b=c.conll", lambda c: c.data.train == "b=c.conll"),
        ("decoding.constraints=bio", lambda c: c.decoding.constraints == "bio"),
        ("cost={kind: zero-one}", lambda c: c.cost.kind == "zero-one"),
        ("cost.missed=4", lambda c: cost_of(c) == {"missed": 4.0}),
    ],
)
def test_set(tmp_path: Path, setting: str, check: object) -> None:
    config = load_config(config_file(tmp_path, MINIMAL), [setting])
    assert check(config)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("learner.C", "expected key=value"),
        ("=3", "expected key=value"),
        ("learner.epoch=3", "did you mean 'epochs'?"),
        ("learner.C={", "not YAML"),
        ("learner.C=x", "expected a number"),
        ("data.train.x=1", "data.train is no section"),
        ("learner.lookahead=many", "learner.lookahead is 'many': expected a number, or auto"),
        ("learner.lookahead=300", "learner.lookahead is 300: it must be at most 256"),
    ],
)
def test_a_wrong_setting_names_itself(tmp_path: Path, setting: str, message: str) -> None:
    with pytest.raises(SeqpaError) as caught:
        load_config(config_file(tmp_path, MINIMAL), [setting])
    assert str(caught.value).startswith(f"--set {setting}: ")
    assert message in str(caught.value)


def test_paths_are_relative_to_the_file_or_where_the_command_runs(tmp_path: Path) -> None:
    path = tmp_path / "configs" / "c.yaml"
    path.parent.mkdir()
    path.write_text("data: {train: ../a.conll, dev: /b.conll}\nfeatures: {lexicons: {x: l.txt}}\n")
    config = load_config(path, ["data.test=c.conll", "features.lexicons.y=m.txt"])
    assert config.path("data", "train") == tmp_path / "a.conll"
    assert config.path("data", "dev") == Path("/b.conll")
    assert config.path("data", "test") == Path("c.conll")
    assert config.path("features", "lexicons", "x") == tmp_path / "configs" / "l.txt"
    assert config.path("features", "lexicons", "y") == Path("m.txt")
    assert config.place("data", "dev") == f"{path}:1: "


def test_defaults_are_those_of_the_tagger() -> None:
    own = {name: p.default for name, p in inspect.signature(SequenceTagger).parameters.items()}
    for name, field in LearnerSettings.model_fields.items():
        if name != "seed":  # the command line is reproducible without being asked
            assert field.default == own[name], name


def test_one_definition_feeds_help_schema_and_yaml() -> None:
    keys = [setting.key for setting in settings()]
    for key in keys:
        *section, name = key.split(".")
        assert name in known_keys(tuple(section))
        assert key in settings_help()
        assert f"`{key}`" in settings_table()
    assert all(setting.description and setting.values for setting in settings())
    values = {setting.key: setting.values for setting in settings()}
    assert values["learner.lookahead"] == "auto, or a whole number"
    assert values["decoding.constraints"].endswith("biluo, bmes, io, or rules")
    assert values["learner.batch_size"] == "whole number"
    schema = json_schema()
    assert set(schema["properties"]) == set(Config.model_fields)
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["data"]
    json.dumps(schema)


def test_a_dumped_configuration_is_one(tmp_path: Path) -> None:
    text = MINIMAL + "decoding: {constraints: {forbidden: [[a, b]]}}\nlearner: {C: 0.25}\n"
    config = load_config(config_file(tmp_path, text))
    again = config_file(tmp_path, yaml.safe_dump(config.model_dump(mode="json")))
    assert load_config(again).model_dump() == config.model_dump()
