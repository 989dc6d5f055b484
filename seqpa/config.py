"""The configuration: one definition feeds YAML files, ``--set``, ``--help``, the JSON Schema, the
table in docs/configuration.md and the header of the model.

A mistake is one line: where it stands, what is wrong, and the nearest right key or value.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    ValidationError,
    model_validator,
)

from seqpa.errors import SeqpaError
from seqpa.settings_file import Loc, read_settings, set_value

Table = dict[str, dict[str, float]]


class Section(BaseModel):
    """A part of the configuration: no unknown keys, no silent conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Data(Section):
    """What is learned from."""

    format: Literal["conll", "conllu", "jsonl", "nltk"] = Field(
        default="conll", description="how the files are written; nltk names corpora of NLTK's"
    )
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        description="what the columns are, in the file's order; _ is one to ignore. Without it: "
        "word and label, or the word of CoNLL-U",
    )
    label: str | None = Field(
        default=None,
        description="the column to learn: label, or in CoNLL-U upos (also xpos, feats, upos+feats)",
    )
    train: str = Field(description="file to learn from; treebank[:3000] and the like for nltk")
    dev: str | None = Field(default=None, description="file whose score chooses the best epoch")
    test: str | None = Field(default=None, description="file for the scores at the end")
    encoding: str = Field(default="utf-8", description="of the files: utf-8, cp1252, latin-1, ...")
    scheme: Literal["iob1", "iob2", "bioes"] | None = Field(
        default=None, description="check chunk labels and convert them to this scheme"
    )


class Features(Section):
    """What is seen of a token."""

    preset: Literal["pos", "ner", "chunk"] | None = Field(
        default=None,
        description="a ready list of templates. With neither preset nor templates: ner for "
        "B-/I- labels, else pos",
    )
    templates: list[str] | None = Field(
        default=None,
        min_length=1,
        description="the templates themselves, or some more beside the preset",
    )
    cutoff: int = Field(
        default=1, ge=1, description="leave out features seen fewer times in training"
    )
    lexicons: dict[str, str] = Field(
        default={},
        description='name: file of the word lists that lexicon("name") looks words up in',
    )
    clusters: dict[str, str] = Field(
        default={},
        description='name: file of the word clusters that cluster("name", 4) looks words up in',
    )


class Learner(Section):
    """How it is learned."""

    algorithm: Literal["perceptron", "pa", "pa-i", "pa-ii", "pa-ls", "arow"] = Field(
        default="pa-i", description="how far a step goes"
    )
    C: float = Field(
        default=0.02,
        gt=0,
        description="aggressiveness of all but perceptron and pa: small is careful",
    )
    batch_size: int = Field(
        default=1, ge=1, description="so many sentences make one step (pa-i, pa-ii, pa-ls)"
    )
    epochs: int = Field(default=10, ge=1, description="passes over the training sentences")
    average: bool = Field(
        default=True, description="keep the mean of all weight vectors, not the last"
    )
    update: Literal["prediction-based", "max-loss", "n-best"] = Field(
        default="prediction-based",
        description="which wrong sequence is pushed down: the prediction, the one of largest "
        "score + √cost (max-loss, for the zero-one cost), or that among the n best",
    )
    n_best: int = Field(default=10, ge=1, description="candidates of the update n-best")
    patience: int | None = Field(
        default=None, ge=1, description="stop after so many epochs without a better dev score"
    )
    shuffle: bool = Field(
        default=True, description="visit the sentences in a new random order each epoch"
    )
    seed: int = Field(
        default=1, ge=0, description="of the random order: the same seed, the same model"
    )
    n_jobs: int = Field(
        default=1, ge=1, description="threads for tagging; results do not depend on it"
    )


class Cost(Section):
    """What a mistake costs."""

    kind: Literal["hamming", "zero-one", "span", "hierarchy", "matrix", "python"] = Field(
        default="hamming",
        description="wrong tokens, wrong sentences, wrong spans, distance in a tree of labels, a "
        "table of label pairs, or a Python function of two label lists",
    )
    file: str | None = Field(
        default=None,
        description="hierarchy: YAML file of the tree; matrix: YAML file of the table; python: "
        "file of the function",
    )
    table: Table | None = Field(
        default=None,
        description="matrix: the table itself, {right: {predicted: cost}}; others cost 1",
    )
    function: str | None = Field(
        default=None, description="python: the function's name in file, or package.module:function"
    )

    @model_validator(mode="after")
    def _fits_kind(self) -> Cost:
        used = {"hierarchy": ["file"], "matrix": ["file", "table"], "python": ["file", "function"]}
        for name in ("file", "table", "function"):
            if getattr(self, name) is not None and name not in used.get(self.kind, []):
                raise ValueError(f"the kind {self.kind} has no use for {name}; leave it out")
        if self.kind == "hierarchy" and self.file is None:
            raise ValueError("the kind hierarchy needs file, the YAML file of the tree of labels")
        if self.kind == "matrix" and (self.file is None) == (self.table is None):
            raise ValueError("the kind matrix needs either file or table")
        if self.kind == "python" and self.function is None:
            raise ValueError("the kind python needs function (and file, if it is in one)")
        if self.kind == "python" and self.file is None and ":" not in str(self.function):
            raise ValueError("without file, function is written package.module:function")
        return self


class Rules(Section):
    """Transitions that may not or must happen."""

    forbidden: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(
        default=[], description="pairs [label, next label] that never occur"
    )
    required: dict[str, list[str]] = Field(
        default={}, description="label: the only labels that may follow it"
    )


class Decoding(Section):
    """Which label sequences are possible."""

    constraints: (
        Annotated[
            Annotated[Literal["bio", "bioes"], Tag("a scheme")] | Annotated[Rules, Tag("rules")],
            Discriminator(lambda value: "a scheme" if isinstance(value, str) else "rules"),
        ]
        | None
    ) = Field(
        default=None,
        description="bio or bioes: only legal chunks; or {forbidden: ..., required: ...}",
    )


class Output(Section):
    """What is written."""

    model: str = Field(default="model.safetensors", description="the model file")
    half: bool = Field(default=False, description="store weights as float16: half the size")
    history: str | None = Field(
        default=None,
        description="what happened in each epoch; history.json beside the model if not given",
    )
    metrics: str | None = Field(
        default=None,
        description="the scores at the end; metrics.json beside the model if not given",
    )


class Config(Section):
    """A whole configuration."""

    data: Data = Field(description="what is learned from")
    features: Features = Field(default=Features(), description="what is seen of a token")
    learner: Learner = Field(default=Learner(), description="how it is learned")
    cost: Cost = Field(default=Cost(), description="what a mistake costs")
    decoding: Decoding = Field(default=Decoding(), description="which label sequences are possible")
    output: Output = Field(default=Output(), description="what is written")

    _folder: Path = PrivateAttr(Path())
    _places: dict[Loc, str] = PrivateAttr(default_factory=dict)
    _given: list[Loc] = PrivateAttr(default_factory=list)

    def path(self, *loc: str) -> Path:
        """The file that a key names: relative to the configuration file, or to the current
        directory where the command line or a program set it.

        >>> Config.model_validate({"data": {"train": "a.conll"}}).path("data", "train")
        PosixPath('a.conll')
        """
        value: Any = self
        for name in loc:
            value = value[name] if isinstance(value, dict) else getattr(value, name)
        by_hand = any(loc[: len(given)] == given for given in self._given)
        # Without `..` where possible: people read it in messages.
        return _shortened(Path(value) if by_hand else self._folder / value)

    def place(self, *loc: str | int) -> str:
        """Where a key stands, as errors begin: ``FILE:LINE: ``, or nothing if it was not read."""
        return _place(self._places, loc)


def load_config(path: str | Path, settings: Sequence[str] = ()) -> Config:
    """Read a configuration file, with ``key=value`` settings on top of it.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.yaml"
    >>> _ = file.write_text("data: {train: a.conll}\\nlearner:\\n  epoch: 3\\n")
    >>> load_config(file)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: ...a.yaml:3: unknown key 'learner.epoch'; did you mean 'epochs'?
    >>> _ = file.write_text("data: {train: a.conll}\\n")
    >>> load_config(file, ["learner.C=0.3"]).learner.C
    0.3
    """
    values, places = read_settings(Path(path))
    given = [set_value(values, places, setting) for setting in settings]
    # A section whose keys are all commented out is as good as absent.
    values = {name: {} if value is None else value for name, value in values.items()}
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise SeqpaError(_explained(error, places, str(path))) from None
    config._folder = Path(path).parent
    config._places = places
    config._given = given
    return config


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


def _explained(error: ValidationError, places: Mapping[Loc, str], file: str) -> str:
    """The first mistake, in the order of the file, as one line."""
    # What the tags of a union put into a location is not in the file.
    found = [
        (tuple(part for part in e["loc"] if part not in ("a scheme", "rules")), e)
        for e in error.errors()
    ]
    order = list(places)

    def position(loc: Loc) -> int:
        while loc and loc not in places:
            loc = loc[:-1]
        return order.index(loc) if loc else -1

    loc, first = min(found, key=lambda item: position(item[0]))
    return (_place(places, loc) or f"{file}: ") + _message(loc, first)


def _message(loc: Loc, error: Any) -> str:
    name = dotted(loc)
    kind, context, value = error["type"], error.get("ctx", {}), error.get("input")
    if kind == "extra_forbidden":
        right = known_keys(loc[:-1])
        near = nearest(str(loc[-1]), right)
        hint = f"did you mean '{near}'?" if near else f"right are {', '.join(right)}"
        return f"unknown key '{name}'; {hint}"
    if kind == "missing":
        return f"'{name}' is missing: {description(loc)}"
    if kind == "value_error":
        return f"{name}: {context['error']}"
    if kind == "literal_error":
        choices = [str(choice) for choice in _choices(loc)]
        near = nearest(str(value), choices)
        hint = f"; did you mean '{near}'?" if near else ""
        return f"{name} is {_shown(value)}: expected one of {', '.join(choices)}{hint}"
    if kind == "greater_than":
        return f"{name} is {_shown(value)}: it must be greater than {context['gt']:g}"
    if kind == "greater_than_equal":
        return f"{name} is {_shown(value)}: it must be at least {context['ge']}"
    if kind == "too_short":
        return f"{name} has {context['actual_length']} items: {context['min_length']} are needed"
    if kind == "too_long":
        return f"{name} has {context['actual_length']} items: {context['max_length']} are right"
    if kind in _EXPECTED:
        return f"{name} is {_shown(value)}: expected {_EXPECTED[kind]}"
    return f"{name} is {_shown(value)}: {error['msg']}"


def nearest(word: str, known: Sequence[str]) -> str | None:
    """The known word that was probably meant, if any is near.

    >>> nearest("c", ["algorithm", "C"]), nearest("epoch", ["average", "epochs"]), nearest("x", [])
    ('C', 'epochs', None)
    """
    by_case = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), by_case, 1, 0.5)
    return by_case[near[0]] if near else None


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

    >>> dotted(("features", "templates", 1))
    'features.templates[1]'
    """
    return "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" if i else part
        for i, part in enumerate(loc)
    )


def _place(places: Mapping[Loc, str], loc: Sequence[str | int]) -> str:
    loc = tuple(loc)
    while loc and loc not in places:
        loc = loc[:-1]
    return f"{places[loc]}: " if loc in places else ""


def _shortened(path: Path) -> Path:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] not in ("..", "/"):
            folder = Path(*parts)
            if folder.is_symlink():  # `..` of a link leads elsewhere
                return path
            parts.pop()
        else:
            parts.append(part)
    return Path(*parts)


# The definition, told to people


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the configuration."""

    key: str
    values: str
    default: str
    description: str


def settings() -> Iterator[Setting]:
    """Every key, in the order of the sections."""
    for section, outer in Config.model_fields.items():
        model = _models(outer.annotation)[0]
        for name, field in model.model_fields.items():
            default = "(needed)" if field.is_required() else _written(field.default)
            values = _values(field.annotation)
            yield Setting(f"{section}.{name}", values, default, str(field.description))


def settings_help() -> str:
    """The keys as text, for ``--help``."""
    lines = []
    for setting in settings():
        lines.append(f"  {setting.key}  ({setting.values}; default {setting.default})")
        lines.append(f"      {setting.description}")
    return "\n".join(lines)


def settings_table() -> str:
    """The keys as a Markdown table, for the documentation."""
    rows = ["| key | values | default | what it is |", "|---|---|---|---|"]
    for s in settings():
        rows.append(f"| `{s.key}` | {s.values} | `{s.default}` | {s.description} |")
    return "\n".join(rows)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the configuration."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Config.model_json_schema(),
        "title": "seqpa configuration",
    }


def known_keys(loc: Loc) -> list[str]:
    """The keys that a place of the configuration may have."""
    return [name for model in _models_at(loc) for name in model.model_fields]


def description(loc: Loc) -> str:
    """What a key is for."""
    for model in _models_at(loc[:-1]):
        if loc[-1] in model.model_fields:
            return str(model.model_fields[str(loc[-1])].description)
    return ""


def _models_at(loc: Loc) -> list[type[Section]]:
    models: list[type[Section]] = [Config]
    for part in loc:
        models = [
            below
            for model in models
            if part in model.model_fields
            for below in _models(model.model_fields[str(part)].annotation)
        ]
    return models


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
        return ", ".join(literals) + (", or rules" if _models(annotation) else "")
    if annotation in _TYPES:
        return _TYPES[annotation]
    names = [name for name in map(_values, _without_none(annotation)) if name]
    if getattr(annotation, "__origin__", None) is list:
        return f"list of {names[0]}s"
    if getattr(annotation, "__origin__", None) is dict:
        return f"mapping of text to {names[-1]}"
    return names[0] if names else ""


def _without_none(annotation: Any) -> list[Any]:
    return [part for part in get_args(annotation) if part is not type(None)]


def _written(value: Any) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
