"""YAML that was written to take long or to break what reads it: one line each, at once.

That something is refused at once is shown without a clock: by limits on what is looked at.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from seqpa.config import load_config
from seqpa.core import Hierarchy
from seqpa.errors import SeqpaError
from seqpa.yaml_nodes import compose

DATA = "data: {train: a.conll}\n"
LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)

HOSTILE = {
    "aliases that explode": (LAUGHS, r":5: more than 20,000 values, with all that aliases repeat"),
    "an alias in itself": ("a: &a [*a]\n", r":1: the alias \*a stands inside what it names"),
    "an alias of nothing": ("a: *b\n", r":1: not YAML: found undefined alias 'b'"),
    "many columns": (
        f"data: {{train: a, columns: [{'a, ' * 100_000}b]}}\n",
        r":1: more than 20,000 values",
    ),
    "columns that no file has": (
        f"data:\n  train: a\n  columns: [{', '.join(map(str, range(5000)))}]\n",
        r":3: data.columns",
    ),
    "a large file": (f"# {'x' * (1 << 20)}\n", r"has more than 1,048,576 bytes"),
    "brackets": (DATA + "a: " + "[" * 100_000, r":2: nested more than 100 deep"),
    "braces": (DATA + "a: " + "{a: " * 5_000, r":2: nested more than 100 deep"),
    "indentation": (
        "".join(f"{' ' * i}a:\n" for i in range(300)),
        r":100: nested more than 100 deep",
    ),
    "a bell": (DATA + "# \a\n", r":2: the character '\\x07' has no place in YAML"),
    "an escape in a comment": (DATA + "\n# \x1b[31m\n", r":3: the character '\\x1b' has no place"),
    "a written escape": (DATA + 'x: "\\x1b[31m"\n', r":2: a text with the character '\\x1b'"),
    "a written NUL": ('data: {train: "a\\0b"}\n', r":1: a text with the character '\\x00'"),
    "half a character": ('data: {train: "\\ud800"}\n', r":1: a text with the character '\\ud800'"),
    "an impossible character": ('data: {train: "\\UFFFFFFFF"}\n', r"c\.yaml: not YAML: "),
    "a huge integer": (DATA + f"learner: {{C: {'9' * 5000}}}\n", r":2: a whole number of more"),
    "a huge seed": (DATA + f"learner: {{seed: {10**400}}}\n", r":2: a whole number of more"),
    "a huge number": (DATA + "learner: {C: 1e999}\n", r":2: learner.C is inf: expected a finite"),
    "a large whole number": (DATA + f"learner: {{C: -{10**17}}}\n", r":2: learner.C is -1000000"),
    "a wrong tag": (DATA + "learner: {C: !!int abc}\n", r":2: the tag !!int has no place here"),
    "a tag of bool": (DATA + "learner: !!bool x\n", r":2: the tag !!bool has no place here"),
    "a tag of time": (DATA + "x: !!timestamp x\n", r":2: the tag !!timestamp has no place here"),
    "a mapping that is a list": ("!!map [a]\n", r":1: the tag !!map has no place here"),
    "a set": (DATA + "x: !!set {a, b}\n", r":2: the tag !!set has no place here"),
    "Python": (
        DATA + 'x: !!python/object/apply:os.system ["true"]\n',
        r":2: the tag !!python/object/apply:os\.system has no place here",
    ),
    "an own tag": (DATA + "x: !mine a\n", r":2: the tag !mine has no place here"),
    "two documents": (DATA + "---\n" + DATA, r":2: not YAML"),
    "a list as a key": (DATA + "? [a, b]\n: c\n", r":2: a key must be a text"),
    "a merge": (DATA + "<<: {a: b}\n", r":2: unknown key '<<'"),
    "a version that is not": ("%YAML 99999999999999.1\n---\na: b\n", r":1: not YAML"),
    "tabs": ("data:\n\ttrain: a\n", r":2: not YAML"),
}


@pytest.mark.parametrize("attack", HOSTILE)
def test_it_is_one_line_with_its_place(attack: str, tmp_path: Path) -> None:
    text, message = HOSTILE[attack]
    path = tmp_path / "c.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SeqpaError, match=message) as caught:
        load_config(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_model_is_no_configuration(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes((2000).to_bytes(8, "little") + b'{"__metadata__": {' + b"\xff" * 3000)
    with pytest.raises(SeqpaError, match=r"not a configuration: .* \(this is no text; is it a mod"):
        load_config(path)


def test_settings_of_the_command_line_are_read_with_the_same_bounds(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(DATA)
    for setting in (
        "learner.C=!!int x",
        "learner.C=" + "[" * 9999,
        'data.train="\\0"',
        "a=&a [*a]",
    ):
        with pytest.raises(SeqpaError, match=r"^--set "):
            load_config(path, [setting])


def test_what_is_plain_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        "data: &d {train: a.conll, label: !!str 1, columns: [word, '1', no, \"null\"]}\n"
        "learner: {C: 1e-3, seed: 007, epochs: +3, average: True, patience: ~}\n"
    )
    config = load_config(path)
    assert config.data.columns == ["word", "1", "no", "null"]
    assert config.learner.model_dump(include={"C", "seed", "epochs", "average", "patience"}) == {
        "C": 0.001,
        "seed": 7,
        "epochs": 3,
        "average": True,
        "patience": None,
    }
    path.write_text("data: {train: &file a.conll, test: *file}\n")
    assert load_config(path).data.test == "a.conll"


@given(st.text(max_size=200) | st.text("[]{}:,&*!|>-?%@'\"\\ \n\tab0", max_size=200))
@example("a: &a [*a]")
@example("!!binary x")
@example("\x00")
@example("? ? ?")
def test_any_text_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    for read in (load_config, Hierarchy.from_yaml):
        message = ""
        try:
            read(path)
        except SeqpaError as error:
            message = str(error)
        assert message.startswith(str(path)) or not message


TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text("ab:#'\" \n-é", max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text("ab1é", max_size=2), below),
    max_leaves=12,
)


@given(TREES)
def test_what_yaml_writes_is_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, tree: object
) -> None:
    from seqpa.config.yaml_lines import read_mapping

    path = tmp_path_factory.getbasetemp() / "tree.yaml"
    path.write_text(yaml.safe_dump({"root": tree}, allow_unicode=True), encoding="utf-8")
    assert read_mapping(path, "")[0] == {"root": tree}


def test_nodes_are_counted_as_aliases_repeat_them() -> None:
    assert compose("a: &a [x, x]\nb: [*a, *a]\n", "a", most=13) is not None
    with pytest.raises(SeqpaError, match=r"a:2: more than 12 values"):
        compose("a: &a [x, x]\nb: [*a, *a]\n", "a", most=12)
