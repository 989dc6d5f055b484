"""What users read about the configuration: its mistakes in one line each, and its keys.

A mistake says where it stands, what is wrong, and the nearest right key or value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import ValidationError

from seqpa.config.schema import FORMS, Config, Section
from seqpa.config.yaml_lines import Loc, place_of
from seqpa.errors import did_you_mean

# Errors in words

_EXPECTED = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "string_type": "a text",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "finite_number": "a finite number",
}


def explained(error: ValidationError, places: Mapping[Loc, str], file: str) -> str:
    """The first mistake, in the order of the file, as one line.

    Parameters
    ----------
    error : pydantic.ValidationError
        What checking the configuration raised.
    places : mapping
        ``FILE:LINE`` of each location that was read.
    file : str
        The configuration file.

    Returns
    -------
    str
        Where it stands, what is wrong, and the nearest right key or value.
    """
    # What the tags of a union put into a location is not in the file.
    found = [(tuple(part for part in e["loc"] if part not in FORMS), e) for e in error.errors()]
    order = {loc: i for i, loc in enumerate(places)}

    def position(loc: Loc) -> int:
        while loc and loc not in places:
            loc = loc[:-1]
        return order[loc] if loc else -1

    loc, first = min(found, key=lambda item: position(item[0]))
    return (place_of(places, loc) or f"{file}: ") + _message(loc, first)


def _message(loc: Loc, error: Any) -> str:
    name = dotted(loc)
    kind, context, value = error["type"], error.get("ctx", {}), error.get("input")
    if kind == "extra_forbidden":
        return f"unknown key '{name}'{did_you_mean(loc[-1], known_keys(loc[:-1]))}"
    if kind == "missing":
        return f"'{name}' is missing: {description(loc)}"
    if kind == "value_error":
        return f"{name}: {context['error']}"
    if kind == "literal_error":
        choices = [str(choice) for choice in _choices(loc)]
        hint = did_you_mean(value, choices, listed=False)
        if "a word" in error["loc"]:  # a number would do, too
            return f"{name} is {_shown(value)}: expected a number, or {', '.join(choices)}{hint}"
        return f"{name} is {_shown(value)}: expected one of {', '.join(choices)}{hint}"
    if kind == "greater_than":
        return f"{name} is {_shown(value)}: it must be greater than {context['gt']:g}"
    if kind == "greater_than_equal":
        return f"{name} is {_shown(value)}: it must be at least {context['ge']}"
    if kind == "less_than_equal":
        return f"{name} is {_shown(value)}: it must be at most {context['le']}"
    if kind == "too_short":
        return f"{name} has {context['actual_length']} items: {context['min_length']} are needed"
    if kind == "too_long":
        return f"{name} has {context['actual_length']} items: {context['max_length']} at most"
    if "a range" in error["loc"] and kind.startswith("model_"):
        likely = "a list of values, or a range such as {log: [0.001, 0.3]}"
        return f"{name} is {_shown(value)}: expected {likely}"
    if kind in _EXPECTED:
        return f"{name} is {_shown(value)}: expected {_EXPECTED[kind]}"
    return f"{name} is {_shown(value)}: {error['msg']}"


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return repr(value)


def dotted(loc: Loc) -> str:
    """A location as people write it.

    Parameters
    ----------
    loc : tuple of str and int
        The keys and list positions that lead to it.

    Returns
    -------
    str

    Examples
    --------
    >>> dotted(("features", "templates", 1))
    'features.templates[1]'
    """
    return "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" if i else part
        for i, part in enumerate(loc)
    )


# The keys in words


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the configuration.

    Parameters
    ----------
    key : str
        Section and name, with a dot between.
    values : str
        What it may be.
    default : str
        What it is where nothing is given.
    description : str
        What it is for.

    Examples
    --------
    >>> next(settings()).default
    'conll'
    """

    key: str
    values: str
    default: str
    description: str


def settings() -> Iterator[Setting]:
    """Every key, in the order of the sections.

    Yields
    ------
    Setting

    Examples
    --------
    >>> next(settings()).key
    'data.format'
    """
    for section, outer in Config.model_fields.items():
        model = _models(outer.annotation)[0]
        above = f"{section}.NAME" if _is_mapping(outer.annotation) else section
        for name, field in model.model_fields.items():
            default = "(needed)" if field.is_required() else _written(field.default)
            values = _values(field.annotation)
            yield Setting(f"{above}.{name}", values, default, str(field.description))


def settings_help() -> str:
    """The keys as text, for ``--help``.

    Returns
    -------
    str

    Examples
    --------
    >>> print(settings_help().splitlines()[0])
      data.format  (conll, conllu, jsonl, csv, slash, spans, parquet, teach, nltk; default conll)
    """
    lines = []
    for setting in settings():
        lines.append(f"  {setting.key}  ({setting.values}; default {setting.default})")
        lines.append(f"      {setting.description}")
    return "\n".join(lines)


def settings_table() -> str:
    """The keys as a Markdown table, for the documentation.

    Returns
    -------
    str

    Examples
    --------
    >>> print(settings_table().splitlines()[0])
    | key | values | default | what it is |
    """
    rows = ["| key | values | default | what it is |", "|---|---|---|---|"]
    for s in settings():
        rows.append(f"| `{s.key}` | {s.values} | `{s.default}` | {s.description} |")
    return "\n".join(rows)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the configuration.

    Returns
    -------
    dict

    Examples
    --------
    >>> json_schema()["required"]
    ['data']
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Config.model_json_schema(),
        "title": "seqpa configuration",
        "description": "A whole configuration.",
    }


def known_keys(loc: Loc) -> list[str]:
    """The keys that a place of the configuration may have.

    Parameters
    ----------
    loc : tuple of str
        The section; empty for the whole configuration.

    Returns
    -------
    list of str

    Examples
    --------
    >>> known_keys(("decoding",))
    ['constraints']
    """
    return [name for model in _models_at(loc) for name in model.model_fields]


def description(loc: Loc) -> str:
    """What a key is for.

    Parameters
    ----------
    loc : tuple of str
        The section and the key.

    Returns
    -------
    str

    Examples
    --------
    >>> description(("learner", "epochs"))
    'passes over the training sentences'
    """
    for model in _models_at(loc[:-1]):
        if loc[-1] in model.model_fields:
            return str(model.model_fields[str(loc[-1])].description)
    return ""


def _models_at(loc: Loc) -> list[type[Section]]:
    models: list[type[Section]] = [Config]
    named = False  # the last part was a mapping, whose keys are the user's own
    for part in loc:
        if named:
            named = False
            continue
        fields = [model.model_fields[str(part)] for model in models if part in model.model_fields]
        models = [below for field in fields for below in _models(field.annotation)]
        named = any(_is_mapping(field.annotation) for field in fields)
    return models


def _is_mapping(annotation: Any) -> bool:
    return getattr(annotation, "__origin__", None) is dict


def _models(annotation: Any) -> list[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def _choices(loc: Loc) -> list[Any]:
    for model in _models_at(loc[:-1]):
        if loc[-1] in model.model_fields:
            return _literals(model.model_fields[str(loc[-1])].annotation)
    return []


def _literals(annotation: Any) -> list[Any]:
    found: list[Any] = []
    for part in get_args(annotation):
        found += [part] if isinstance(part, str) else _literals(part)
    return found


_TYPES = {str: "text", int: "whole number", float: "number", bool: "true, false"}


def _values(annotation: Any) -> str:
    literals = _literals(annotation)
    if literals:
        more = ", or rules" if _models(annotation) else ""
        return ", ".join(literals) + (more or (" or whole number" if _has_int(annotation) else ""))
    if annotation in _TYPES:
        return _TYPES[annotation]
    names = [name for name in map(_values, _without_none(annotation)) if name]
    if getattr(annotation, "__origin__", None) is list:
        return f"list of {names[0]}s"
    if _is_mapping(annotation):
        return f"mapping of text to {names[-1]}"
    return " or ".join(dict.fromkeys(names))


def _has_int(annotation: Any) -> bool:
    return annotation is int or any(map(_has_int, get_args(annotation)))


def _without_none(annotation: Any) -> list[Any]:
    return [part for part in get_args(annotation) if part is not type(None)]


def _written(value: Any) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
