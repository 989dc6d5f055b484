"""From the words of a configuration to the things they name: data, features, costs."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from seqpa.config.schema import Config
from seqpa.config.yaml_lines import read_mapping
from seqpa.core.costs import Hierarchy
from seqpa.data import Corpus, read, read_chunks
from seqpa.data.labels import with_gaps
from seqpa.data.remote import is_address
from seqpa.data.several import files_of
from seqpa.errors import SeqpaError, did_you_mean
from seqpa.sequence.presets import preset
from seqpa.sequence.tagger import SequenceTagger
from seqpa.sequence.templates import parse, parse_all
from seqpa.stored_parameters import import_function

_MATRIX = "a cost matrix is a mapping, {right: {predicted: cost}}, such as `B-PER: {O: 5}`"


def read_part(config: Config, part: str) -> Corpus:
    """Read a corpus that the configuration names.

    Parameters
    ----------
    config : Config
        The configuration.
    part : str
        train, dev or test.

    Returns
    -------
    Corpus
    """
    reading = reading_of(config, part)
    return with_gaps(read(data_files(config, part), **reading), config.data.unlabelled)


def read_part_chunks(config: Config, part: str) -> Iterator[Corpus]:
    """The same piece by piece, as it comes: memory does not grow, and a pipe flows.

    Parameters
    ----------
    config : Config
        The configuration; the file ``-`` is standard input.
    part : str
        train, dev or test.

    Yields
    ------
    Corpus
    """
    for corpus in read_chunks(data_files(config, part), **reading_of(config, part)):
        yield with_gaps(corpus, config.data.unlabelled)


def reading_of(config: Config, part: str) -> dict[str, Any]:
    """What `seqpa.data.read` is told to read a corpus that the configuration names.

    Parameters
    ----------
    config : Config
        The configuration.
    part : str
        train, dev or test.

    Returns
    -------
    dict
    """
    data = config.data
    # Only training asks what sentences weigh; but a column of weights is in all files.
    weighs = part == "train" or data.weight in (data.columns or ())
    scheme: str | None = data.scheme
    if scheme is None and data.unlabelled is None:
        scheme = _scheme_of_constraints(config)
    return {
        "format": data.format,
        "columns": data.columns,
        "label": data.label,
        "encoding": data.encoding,
        "scheme": scheme,
        "labels": data.labels,
        "max_sentence_tokens": data.max_sentence_tokens,
        "weight": data.weight if weighs else None,
    }


def _scheme_of_constraints(config: Config) -> str | None:
    """The scheme in which only legal labels can be learned."""
    constraints = config.decoding.constraints
    return constraints if isinstance(constraints, str) else None


def place_of_sentence(config: Config, part: str, message: str) -> str:
    """A message about a sentence by its number, with its file and line instead.

    Parameters
    ----------
    config : Config
        The configuration.
    part : str
        train, dev or test.
    message : str
        Begins with ``sentence 12: `` or ``sentence 12, token 3: ``.

    Returns
    -------
    str
    """
    found = re.match(r"sentence (\d+)(?:, token (\d+))?: (.*)", message, re.DOTALL)
    if found is None:
        return f"{data_name(config, part)}: {message}"
    left, token = int(found[1]) - 1, int(found[2] or 1) - 1
    with warnings.catch_warnings():  # they were told when the data was read
        warnings.simplefilter("ignore")
        for file in data_files(config, part):
            for corpus in read_chunks([file], **reading_of(config, part), keep_layout=True):
                if left < len(corpus) and corpus.layout is not None:
                    line = corpus.layout.line_of(int(corpus.offsets[left]) + token)
                    return f"{file}:{line}: {found[3]}"
                left -= len(corpus)
    return f"{data_name(config, part)}: {message}"


def place_of_setting(config: Config, message: str) -> str:
    """A message that begins with the name of a parameter, with the place and name of its key.

    Parameters
    ----------
    config : Config
        The configuration.
    message : str
        Of a tagger, which knows of no configuration.

    Returns
    -------
    str

    Examples
    --------
    >>> place_of_setting(Config.model_validate({"data": {"train": "a.conll"}}), "stages is 2: ...")
    'learner.stages is 2: ...'
    """
    name = message.partition(" ")[0]
    for section in ("learner", "decoding"):
        if name in type(getattr(config, section)).model_fields:
            return f"{config.place(section, name)}{section}.{message}"
    return message


def data_files(config: Config, part: str) -> list[str]:
    """The files of a corpus, patterns replaced by what they stand for; or names of NLTK's corpora.

    Parameters
    ----------
    config : Config
        The configuration.
    part : str
        train, dev or test.

    Returns
    -------
    list of str

    Examples
    --------
    >>> config = Config.model_validate({"data": {"train": ["a.conll", "b.conll"]}})
    >>> data_files(config, "train")
    ['a.conll', 'b.conll']
    """
    value = getattr(config.data, part)
    names = value if isinstance(value, list) else [value]
    if config.data.format == "nltk" or names == ["-"]:
        return names
    try:
        return files_of(config.paths("data", part))
    except SeqpaError as error:
        raise SeqpaError(f"{config.place('data', part)}{error}") from None


def data_name(config: Config, part: str) -> str:
    """What messages call a corpus: its file, or the first of several and how many more there are.

    Parameters
    ----------
    config : Config
        The configuration.
    part : str
        train, dev or test.

    Returns
    -------
    str

    Examples
    --------
    >>> config = Config.model_validate({"data": {"format": "nltk", "train": "treebank[:3000]"}})
    >>> data_name(config, "train")
    'treebank[:3000]'
    """
    first, *more = data_files(config, part)
    return f"{first} and {len(more)} more" if more else first


def inputs_of(config: Config) -> dict[str, Path]:
    """Every file that training reads.

    Parameters
    ----------
    config : Config
        The configuration.

    Returns
    -------
    dict
        Files by the key that names them.

    Examples
    --------
    >>> config = Config.model_validate({"data": {"train": "a.conll", "dev": "b.conll"}})
    >>> {name: str(path) for name, path in inputs_of(config).items()}
    {'data.train': 'a.conll', 'data.dev': 'b.conll'}
    """
    found = {} if config.file is None else {"the configuration": config.file}
    if config.data.format != "nltk":
        for part in ("train", "dev", "test"):
            if getattr(config.data, part) is not None:
                files = data_files(config, part)
                for number, file in enumerate(files):
                    name = f"data.{part}[{number}]" if len(files) > 1 else f"data.{part}"
                    if not is_address(file):
                        found[name] = Path(file)
    for name in config.columns:
        found[f"columns.{name}.tagger"] = config.path("columns", name, "tagger")
    for kind in ("lexicons", "clusters"):
        for name in getattr(config.features, kind):
            found[f"features.{kind}.{name}"] = config.path("features", kind, name)
    if config.cost.file is not None:
        found["cost.file"] = config.path("cost", "file")
    return found


def columns_of(config: Config, columns: Sequence[str]) -> tuple[str, ...]:
    """All columns that templates may look at: those of the data, and those that models predict.

    Parameters
    ----------
    config : Config
        The configuration.
    columns : sequence of str
        The input columns of the data, the word first.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> config = {"data": {"train": "a"}, "columns": {"pos": {"tagger": "pos.safetensors"}}}
    >>> columns_of(Config.model_validate(config), ["word"])
    ('word', 'pos')
    """
    return (*columns, *(name for name in config.columns if name not in columns))


def taggers_of(config: Config) -> dict[str, SequenceTagger]:
    """The models that predict columns.

    Parameters
    ----------
    config : Config
        The configuration.

    Returns
    -------
    dict
        The trained tagger of each column.
    """
    found = {}
    for name in config.columns:
        path = config.path("columns", name, "tagger")
        place = config.place("columns", name, "tagger")
        if not path.exists():
            raise SeqpaError(
                f"{place}{path}: there is no such model; train it first, as seqpa train "
                "configs/pos.yaml does"
            )
        try:
            found[name] = SequenceTagger.load(path)
        except SeqpaError as error:
            raise SeqpaError(f"{place}{error}") from None
    return found


def features_of(config: Config, columns: Sequence[str]) -> str | list[str]:
    """What SequenceTagger takes as `features`.

    Parameters
    ----------
    config : Config
        The configuration.
    columns : sequence of str
        The columns of the data.

    Returns
    -------
    str or list of str
        The preset's name, or the templates; ``auto`` where neither is given.

    Examples
    --------
    >>> config = Config.model_validate({"data": {"train": "a"}, "features": {"preset": "ner"}})
    >>> features_of(config, ["word"])
    'ner'
    """
    features = config.features
    if features.templates is None:
        return features.preset or "auto"
    for i, template in enumerate(features.templates):
        try:
            parse(template, columns)
        except SeqpaError as error:
            raise SeqpaError(f"{config.place('features', 'templates', i)}{error}") from None
    ready = [] if features.preset is None else preset(features.preset, columns)
    known = set(parse_all(ready, columns))
    return ready + [text for text in features.templates if parse(text, columns) not in known]


def resources_of(config: Config) -> dict[str, Path]:
    """The files of the lexicons and clusters.

    Parameters
    ----------
    config : Config
        The configuration.

    Returns
    -------
    dict
        A path for each name.
    """
    features = config.features
    twice = set(features.lexicons) & set(features.clusters)
    if twice:
        name = min(twice)
        place = config.place("features", "clusters", name)
        raise SeqpaError(f"{place}{name!r} cannot be both a lexicon and clusters")
    return {
        name: config.path("features", kind, name)
        for kind in ("lexicons", "clusters")
        for name in getattr(features, kind)
    }


def constraints_of(config: Config) -> Any:
    """The constraints as SequenceTagger takes them.

    Parameters
    ----------
    config : Config
        The configuration.

    Returns
    -------
    None, str or dict
    """
    constraints = config.decoding.constraints
    if constraints is None or isinstance(constraints, str):
        return constraints
    return constraints.model_dump()


def cost_of(config: Config) -> Any:
    """The cost as SequenceTagger takes it.

    Parameters
    ----------
    config : Config
        The configuration.

    Returns
    -------
    str, dict, Hierarchy or callable
    """
    cost = config.cost
    if cost.kind == "hierarchy":
        return Hierarchy.from_yaml(config.path("cost", "file"))
    if cost.kind == "matrix":
        return cost.table if cost.table is not None else _table(config.path("cost", "file"))
    if cost.kind == "python":
        file = None if cost.file is None else config.path("cost", "file")
        try:
            return load_function(str(cost.function), file)
        except SeqpaError as error:
            raise SeqpaError(f"{config.place('cost', 'function')}{error}") from None
    return cost.kind if cost.missed is None else {"missed": cost.missed}


def load_function(name: str, file: Path | None) -> Callable[..., Any]:
    """Find a Python function.

    Parameters
    ----------
    name : str
        Its name in the file, or package.module:function.
    file : Path or None
        Becomes a module with the file's name, as if it were imported from its directory.

    Returns
    -------
    callable

    Examples
    --------
    >>> load_function("os.path:basename", None)("a/b")
    'b'
    """
    if file is None:
        return import_function(name)
    module = _module(file)
    function = getattr(module, name.rpartition(":")[2], None)
    if not callable(function):
        known = [n for n, v in vars(module).items() if callable(v) and v.__module__ == file.stem]
        raise SeqpaError(f"{file} has no function {name!r}{did_you_mean(name, known)}")
    return function


def _module(file: Path) -> Any:
    known = sys.modules.get(file.stem)
    if known is not None:
        place = getattr(known, "__file__", None)
        if place is None or Path(place).resolve() != file.resolve():
            raise SeqpaError(f"{file}: a module {file.stem!r} exists already; rename the file")
        return known
    if not file.is_file():
        raise SeqpaError(f"{file}: no such file")
    spec = spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise SeqpaError(f"{file}: is no Python file; its name should end in .py")
    module = module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[file.stem]
        raise SeqpaError(f"{file}: {type(error).__name__}: {error}") from error
    return module


def _table(path: Path) -> dict[str, dict[str, float]]:
    values, places = read_mapping(path, _MATRIX, large=True)
    for right, row in values.items():
        if not isinstance(row, dict):
            raise SeqpaError(
                f"{places[(right,)]}: below {right!r} stand predicted labels with their costs, "
                f"{{predicted: cost}}, not {row!r}"
            )
        for predicted, cost in row.items():
            if isinstance(cost, bool) or not isinstance(cost, (int, float)):
                raise SeqpaError(f"{places[right, predicted]}: a cost is a number, not {cost!r}")
    return values
