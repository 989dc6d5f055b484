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
from seqpa.files import read_text, unreadable
from seqpa.yaml_nodes import MAX_BYTES, MAX_NODES, check_keys, compose

Loc: TypeAlias = "tuple[str | int, ...]"


# As YAML 1.2 has them; anything else is a text.
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True)
_WORDS |= dict.fromkeys(("false", "False", "FALSE"), False)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
# No setting needs more, and Python itself refuses thousands of them.
_MOST_DIGITS = 18
# Of a configuration; a larger table of costs stands in a file of its own.
_MOST_VALUES = 20_000
_MOST_BYTES = 1 << 20


def read_mapping(
    path: Path, wanted: str, large: bool = False
) -> tuple[dict[str, Any], dict[Loc, str]]:
    """What a YAML file says, and where.

    Parameters
    ----------
    path : Path
        A file that holds a mapping.
    wanted : str
        What to say of a file that holds something else: what it should hold.
    large : bool
        Whether it may be a table of many values, which a configuration may not.

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
    _refuse_model(path, wanted)
    text = read_text(path, MAX_BYTES if large else _MOST_BYTES)
    root, values = _parsed(text, str(path), MAX_NODES if large else _MOST_VALUES)
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
    # A dash alone is standard input, as everywhere on a command line, and no list with one entry.
    inside[loc[-1]] = "-" if text.strip() == "-" else _parsed(text, place)[1]
    for old in [known for known in places if known[: len(loc)] == loc]:
        del places[old]
    places[loc] = place
    return loc


def _refuse_model(path: Path, wanted: str) -> None:
    """A model file begins with the length of its header: eight bytes, the last of them zero."""
    try:
        with path.open("rb") as stream:
            begin = stream.read(9)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if b"\0" in begin:
        raise SeqpaError(f"{path}: {wanted} (this is no text; is it a model?)")


def _parsed(text: str, source: str, most: int = _MOST_VALUES) -> tuple[Any, Any]:
    root = compose(text, source, most)
    check_keys(root, source)
    return root, None if root is None else _value(root, source)


def _value(node: Any, source: str) -> Any:
    """What a node says. Keys are texts, also where they look like numbers: a label may be 1."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: _value(below, source) for key, below in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, source) for item in node.value]
    text = node.value
    if node.style is not None:  # in quotes, or a block
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        if len(text.lstrip("+-0")) > _MOST_DIGITS:
            place = "" if source.startswith("--") else f":{node.start_mark.line + 1}"
            raise SeqpaError(f"{source}{place}: a whole number of more than {_MOST_DIGITS} digits")
        return int(text.lstrip("+-0") or "0") * (-1 if text.startswith("-") else 1)
    return float(text) if _NUMBER.fullmatch(text) else text


def _walk(node: Any, loc: Loc, source: str, places: dict[Loc, str]) -> None:
    """Note the line of every key and item; a key's place is known before what is below it."""
    below: list[tuple[str | int, Any, Any]] = []
    if isinstance(node, yaml.MappingNode):
        below = [(key.value, key, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        below = [(i, item, item) for i, item in enumerate(node.value)]
    for name, here, value in below:
        inner = (*loc, name)
        places[inner] = f"{source}:{here.start_mark.line + 1}"
        _walk(value, inner, source, places)
