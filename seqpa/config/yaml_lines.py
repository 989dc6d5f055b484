"""YAML read with the place of every key, so that an error can name the line.

Scalars are read as YAML 1.2 reads them: ``no`` and ``2024-01-01`` are texts, ``1e-3`` is a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from seqpa.errors import SeqpaError
from seqpa.files import read_text

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


def read_mapping(path: Path, wanted: str) -> tuple[dict[str, Any], dict[Loc, str]]:
    """What a YAML file says, and where.

    Parameters
    ----------
    path : Path
        A file that holds a mapping.
    wanted : str
        What to say of a file that holds something else: what it should hold.

    Returns
    -------
    values : dict
        The mapping.
    places : dict
        ``FILE:LINE`` for every key and list item of it.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.yaml"
    >>> _ = file.write_text("learner:\\n  C: 1e-3\\n")
    >>> values, places = read_mapping(file, "a mapping is needed")
    >>> values, places["learner", "C"].endswith("a.yaml:2")
    ({'learner': {'C': 0.001}}, True)
    """
    root, values = _parsed(read_text(path), str(path))
    if not isinstance(values, dict):
        line = 1 if root is None else root.start_mark.line + 1
        raise SeqpaError(f"{path}:{line}: {wanted}")
    places: dict[Loc, str] = {}
    _walk(root, (), str(path), places)
    return values, places


def place_of(places: Mapping[Loc, str], loc: Sequence[str | int]) -> str:
    """Where a key stands; for one that the file does not have, where the section above it stands.

    Parameters
    ----------
    places : mapping
        ``FILE:LINE`` of each location.
    loc : sequence of str and int
        The location.

    Returns
    -------
    str
        As messages begin, ``FILE:LINE: ``; empty where nothing is known.

    Examples
    --------
    >>> place_of({("learner",): "a.yaml:3"}, ("learner", "C"))
    'a.yaml:3: '
    """
    loc = tuple(loc)
    while loc and loc not in places:
        loc = loc[:-1]
    return f"{places[loc]}: " if loc in places else ""


def set_value(values: dict[str, Any], places: dict[Loc, str], setting: str) -> Loc:
    """Put a setting of the command line into the values.

    Parameters
    ----------
    values, places : dict
        As `read_mapping` returns them; changed.
    setting : str
        ``section.key=value``, the value in YAML.

    Returns
    -------
    tuple of str
        The key's location.

    Examples
    --------
    >>> values = {"learner": {"C": 1}}
    >>> set_value(values, {}, "learner.C=0.3"), values
    (('learner', 'C'), {'learner': {'C': 0.3}})
    """
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
    except yaml.YAMLError as error:
        raise SeqpaError(f"{source}: not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise SeqpaError(f"{source}: nested too deeply") from None
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
