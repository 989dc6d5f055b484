"""YAML read with the place of every key, so that an error can name the line.

Scalars are read as YAML 1.2 reads them: ``no`` and ``2024-01-01`` are texts, ``1e-3`` is a number.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from seqpa.errors import SeqpaError

Loc: TypeAlias = "tuple[str | int, ...]"


class _Loader(yaml.SafeLoader):
    """SafeLoader with YAML 1.2's idea of what is a number, a truth value or nothing."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (as yaml declares it)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Keys are texts, also where they look like numbers: a label may be called 1."""
        return {key.value: self.construct_object(value, deep=True) for key, value in node.value}


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})$"), _first
    )


def _integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node))


def _number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(loader.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)


def read_settings(path: Path) -> tuple[dict[str, Any], dict[Loc, str]]:
    """What a file says, and ``FILE:LINE`` for every key and list item of it."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise SeqpaError(f"{path}: no such file{_neighbours(path)}") from None
    except IsADirectoryError:
        raise SeqpaError(f"{path}: is a directory; name a configuration file") from None
    except OSError as error:
        raise SeqpaError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SeqpaError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from None
    root, values = _parsed(text, str(path))
    if not isinstance(values, dict):
        raise SeqpaError(
            f"{path}:1: not a configuration: a mapping with the section data is needed, "
            "see configs/ner.yaml"
        )
    places: dict[Loc, str] = {}
    _walk(root, (), str(path), places)
    return values, places


def set_value(values: dict[str, Any], places: dict[Loc, str], setting: str) -> Loc:
    """Put ``section.key=value`` into the values; return the key's location."""
    key, equals, text = setting.partition("=")
    place = f"--set {setting}"
    loc = tuple(part.strip() for part in key.split("."))
    if not equals or not all(loc):
        raise SeqpaError(f"{place}: expected key=value, for example learner.C=0.3")
    inside = values
    for i, part in enumerate(loc[:-1]):
        if inside.get(part) is None:
            inside[part] = {}
        inside = inside[part]
        if not isinstance(inside, dict):
            raise SeqpaError(f"{place}: {'.'.join(loc[: i + 1])} is no section")
        places.setdefault(loc[: i + 1], place)
    inside[loc[-1]] = _parsed(text, place)[1]
    for old in [known for known in places if known[: len(loc)] == loc]:
        del places[old]
    places[loc] = place
    return loc


def _parsed(text: str, source: str) -> tuple[yaml.Node | None, Any]:
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return None, None
        _refuse_duplicates(root, source)
        return root, loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark and not source.startswith("--") else ""
        raise SeqpaError(f"{source}{line}: not YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise SeqpaError(f"{source}: not YAML: {' '.join(str(error).split())}") from None
    finally:
        loader.dispose()


def _refuse_duplicates(node: yaml.Node, source: str) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise SeqpaError(f"{source}:{key.start_mark.line + 1}: a key must be a text")
            if key.value in seen:
                line = key.start_mark.line + 1
                raise SeqpaError(f"{source}:{line}: the key '{key.value}' stands here twice")
            seen.add(key.value)
            _refuse_duplicates(value, source)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_duplicates(item, source)


def _walk(node: yaml.Node | None, loc: Loc, source: str, places: dict[Loc, str]) -> None:
    """Note the line of every key and item; a key's place is known before what is below it."""
    below: list[tuple[str | int, yaml.Node, yaml.Node]] = []
    if isinstance(node, yaml.MappingNode):
        below = [(key.value, key, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        below = [(i, item, item) for i, item in enumerate(node.value)]
    for name, here, value in below:
        inner = (*loc, name)
        places[inner] = f"{source}:{here.start_mark.line + 1}"
        _walk(value, inner, source, places)


def _neighbours(path: Path) -> str:
    if not path.parent.is_dir():
        return f": there is no directory {path.parent}"
    names = [entry.name for entry in path.parent.iterdir()]
    near = difflib.get_close_matches(path.name, names, 1, 0.5)
    return f"; did you mean {path.parent / near[0]}?" if near else ""
