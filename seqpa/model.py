"""The model file and the training state: arrays and a JSON header in one safetensors file.

The header is the metadata entry "seqpa": JSON with `kind` ("model" or "state"), `version`,
`labels`, `parameters` (of the SequenceTagger), `encoder` and `checksum` (SHA-256 of the rest of
the header and of all arrays). Nothing in a file can run: a feature function is stored as
"module:function", and imported only if the caller of `load_model` allows it. docs/model-format.md
lists the arrays.

What is written and read are a `Trained` and a `TrainingState`; the tagger, which has the
parameters, calls these functions, and they know nothing of it. A model that ``seqpa train`` wrote
also tells its origin: the configuration, so that ``seqpa tag`` knows the columns of its input, and
the words of the training text, so that ``seqpa evaluate`` knows which words are new.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.array_files import (
    DAMAGE,
    Arrays,
    InPieces,
    SomeArrays,
    damaged,
    read_file,
    shortened,
    write_file,
)
from seqpa.errors import SeqpaError
from seqpa.pages import slices
from seqpa.sequence import generators
from seqpa.sequence.balance import LARGEST as LARGEST_MISSED
from seqpa.sequence.chained import MOST_LEVELS, Chain
from seqpa.sequence.checks import check_label_names
from seqpa.sequence.dicts import DictEncoder
from seqpa.sequence.encode import FeatureEncoder
from seqpa.sequence.folds import MOST_TAGGERS
from seqpa.sequence.inputs import FeatureSource
from seqpa.sequence.replay import Reservoir
from seqpa.sequence.resources import get_array, pack_strings, unpack_strings
from seqpa.sequence.seen import SeenText
from seqpa.sequence.stages import FirstLabels
from seqpa.sequence.trained import Trained
from seqpa.sequence.training import OnlineTotals, TrainingState
from seqpa.sequence.weights import FrozenWeights, TrainingWeights
from seqpa.stored_parameters import LARGEST_COUNT, from_json, function_name, to_json

# float16 counts exactly up to here; sparse rows keep labels beside weights.
_MAX_HALF_LABELS = 2048
_WORDS = "origin.words"
_SEEN = "origin.sentences"
_FIRST = "first."  # arrays of the first of two stages
_JACKKNIFED = "jackknifed"
_MAX_SCALE = 1e12  # of probabilities


# Model


def save_model(
    path: Path,
    trained: Trained,
    parameters: Mapping[str, Any],
    *,
    half: bool = False,
    config: Mapping[str, Any] | None = None,
    training_words: Iterable[str] | None = None,
) -> None:
    """Write what tagging needs: features without a weight are left out.

    Parameters
    ----------
    path : Path
    trained : Trained
    parameters : mapping
        Those of the tagger, by name.
    half : bool
        Store weights as float16, half the size.
    config : mapping or None
        The configuration that the model was trained with.
    training_words : strings or None
        The words of the training text.
    """
    header, arrays = _packed(trained, parameters, half)
    if config is not None:
        header["config"] = config
    if training_words is not None:
        arrays |= pack_strings(_WORDS, sorted(set(training_words)))
    write_file(path, "model", header, arrays)


def _packed(
    trained: Trained, parameters: Mapping[str, Any], half: bool
) -> tuple[dict[str, Any], SomeArrays]:
    """Header and arrays of what was learned, the taggers of its columns included."""
    frozen = trained.weights
    frozen.check_sizes()
    source = trained.source
    if source.function is not None and function_name(source.function) is None:
        raise SeqpaError(
            "the feature function cannot be named as module:function: define it at the top level "
            "of an importable module, so that the model can find it again"
        )
    keep = frozen.nonzero()
    keep_pairs = None if frozen.pair_rows is None else frozen.pair_rows[:, 1] != 0
    encoder_arrays, encoder = source.to_arrays(keep, keep_pairs)
    arrays: SomeArrays = {f"encoder.{name}": array for name, array in encoder_arrays.items()}
    weights: SomeArrays = {
        "rows": _in_pieces(frozen.rows, keep),
        "arena": _in_pieces(frozen.arena),
        "transitions": frozen.transitions,
    }
    if frozen.pair_rows is not None and frozen.pair_arena is not None and keep_pairs is not None:
        weights["pair_rows"] = _in_pieces(frozen.pair_rows, keep_pairs)
        weights["pair_arena"] = _in_pieces(frozen.pair_arena)
    if half:
        weights |= _halved(frozen)
    arrays |= {f"weights.{name}": array for name, array in weights.items()}
    if len(source.seen):
        arrays[_SEEN] = source.seen.to_array()
    header: dict[str, Any] = {
        "labels": trained.labels,
        "parameters": to_json(parameters),
        "encoder": encoder,
        "epoch": trained.epoch,
        "scale": trained.scale,
    }
    if source.chain is not None:
        header["taggers"] = []
        for i, (column, tagger) in enumerate(source.chain.taggers.items()):
            own, more = _packed(tagger, source.chain.parameters[column], half)
            header["taggers"].append({"column": column, **own})
            arrays |= {f"taggers.{i}.{name}": array for name, array in more.items()}
    if isinstance(source.first, FirstLabels):
        own, more = _packed(source.first.trained, {}, half)
        header["first"] = own
        arrays |= {_FIRST + name: array for name, array in more.items()}
    return header, arrays


def _in_pieces(array: NDArray[Any], keep: NDArray[np.bool_] | None = None) -> InPieces:
    """An array, or some of its rows, without a copy of it."""

    def pieces() -> Iterator[NDArray[Any]]:
        at = 0
        for own in slices(array):
            yield own if keep is None else own[keep[at : at + len(own)]]
            at += len(own)

    n = len(array) if keep is None else int(np.count_nonzero(keep))
    return InPieces(array.dtype, (n, *array.shape[1:]), pieces)


def _halved(frozen: FrozenWeights) -> Arrays:
    if frozen.n_labels > _MAX_HALF_LABELS or frozen.pair_arena is not None:
        raise SeqpaError(
            f"half=True stores at most {_MAX_HALF_LABELS} labels and no features on label pairs"
        )
    arrays = {"arena": frozen.arena, "transitions": frozen.transitions}
    halved: Arrays = {name: array.astype(np.float16) for name, array in arrays.items()}
    if not all(np.isfinite(array).all() for array in halved.values()):
        raise SeqpaError("half=True cannot store these weights: one is above 65504")
    return halved


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file whose structure and checksum were verified; `open` makes a tagger's parts of it.

    Parameters
    ----------
    path : Path
    header : dict
        The file's header, as it is.
    arrays : dict of arrays
        Views of the file, which is mapped into memory.

    Examples
    --------
    >>> import tempfile
    >>> from seqpa import SequenceTagger
    >>> path = Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> SequenceTagger(["word[0]"]).fit([["so", "it"]], [["A", "P"]]).save(path)
    >>> model = read_model(path)
    >>> model.header["labels"]
    ['A', 'P']
    """

    path: Path
    header: dict[str, Any]
    arrays: Arrays

    def open(self, *, allow_imports: bool = False) -> tuple[dict[str, Any], Trained]:
        """The tagger's parameters, and what was learned; every index is checked.

        Parameters
        ----------
        allow_imports : bool
            Import the functions that the file names as "module:function".

        Returns
        -------
        parameters : dict
        trained : Trained

        Raises
        ------
        SeqpaError
            If the content is none of ours, or needs a function that may not be imported.
        """
        try:
            return _unpacked(self.header, self.arrays, allow_imports, 0)
        except SeqpaError as error:
            raise SeqpaError(f"{self.path}: {shortened(str(error), 1000)}") from None
        except DAMAGE as error:
            raise damaged(self.path, error) from None

    @property
    def config(self) -> dict[str, Any] | None:
        """The configuration of the training, without ``output``; None for models from Python."""
        config = self.header.get("config")
        return config if isinstance(config, dict) else None

    def training_words(self) -> frozenset[str] | None:
        """The words of the training text.

        Returns
        -------
        frozenset of str or None
            None for models that were saved from Python.
        """
        if f"{_WORDS}.text" not in self.arrays:
            return None
        try:
            return frozenset(unpack_strings(self.arrays, _WORDS))
        except SeqpaError as error:
            raise SeqpaError(f"{self.path}: {error}") from None


def _unpacked(
    header: Mapping[str, Any], arrays: Arrays, allow_imports: bool, level: int
) -> tuple[dict[str, Any], Trained]:
    """What `_packed` made a header and arrays of, every index checked."""
    parameters = from_json(header["parameters"], allow_imports)
    labels = _labels(header)
    source = _source(header, arrays, parameters.get("features"))
    if isinstance(source.encoder, FeatureEncoder):
        # So that `fit`, and clones, find the lexicons and clusters of the templates again.
        parameters["resources"] = dict(source.encoder.resources) or None
    weights = _frozen(arrays, "weights.", len(labels))
    weights.validate()
    _check_sizes(source, len(weights.rows), weights.pair_rows)
    if "taggers" in header:
        source.attach(_chain(header["taggers"], arrays, allow_imports, level + 1))
    source.first = _first(header, arrays, parameters, source)
    constraints, epoch = parameters.get("constraints"), _count(header, "epoch")
    scale = _scale(header)
    return parameters, Trained(source, weights, labels, constraints, epoch, scale)


def _chain(stored: Any, arrays: Arrays, allow_imports: bool, level: int) -> Chain:
    """The taggers of predicted columns. Each is as large as what the file holds of it: no part of a
    file is read twice, and `level` ends what would stand inside itself."""
    if not isinstance(stored, list) or not 1 <= len(stored) <= MOST_TAGGERS:
        raise SeqpaError("is damaged: its taggers of columns are none, or too many")
    if level > MOST_LEVELS:
        raise SeqpaError(f"is damaged: taggers inside taggers, more than {MOST_LEVELS} levels")
    taggers, parameters = {}, {}
    for i, header in enumerate(stored):
        column = header["column"]
        if type(column) is not str or column in taggers:
            raise SeqpaError("is damaged: a tagger of a column has no name of its own")
        for name in ("parameters", "encoder"):
            if not isinstance(header.get(name), dict):
                raise SeqpaError(f"is damaged: the tagger of a column has no {name}")
        own = _own(arrays, f"taggers.{i}.")
        parameters[column], taggers[column] = _unpacked(header, own, allow_imports, level)
    return Chain(taggers, parameters)


def _first(
    header: Mapping[str, Any], arrays: Arrays, parameters: Mapping[str, Any], source: FeatureSource
) -> FirstLabels | None:
    """The first of two stages, where there is one; `source` is that of the second."""
    stored = header.get("first")
    if stored is None:
        return None
    if not isinstance(stored, dict) or not isinstance(stored.get("encoder"), dict):
        raise SeqpaError("is damaged: its first stage has no encoder")
    own = _own(arrays, _FIRST)
    labels = _labels(stored)
    first = _source(stored, own, None)
    weights = _frozen(own, "weights.", len(labels))
    weights.validate()
    _check_sizes(first, len(weights.rows), weights.pair_rows)
    encoders = [source.encoder, first.encoder]
    columns = [[*e.columns] if isinstance(e, FeatureEncoder) else None for e in encoders]
    if columns[1] is None or columns[0] != [*columns[1], *FirstLabels.columns]:
        raise SeqpaError("is damaged: its two stages do not look at the same columns")
    constraints, epoch = parameters.get("constraints"), _count(stored, "epoch")
    return FirstLabels(Trained(first, weights, labels, constraints, epoch))


def _own(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names begin so, under the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def read_model(path: Path) -> ModelFile:
    """Read a model file, and check its structure and checksum.

    Parameters
    ----------
    path : Path

    Returns
    -------
    ModelFile

    Raises
    ------
    SeqpaError
        If the file is damaged, or no model.
    """
    return ModelFile(path, *_read(path, "model"))


def _read(path: Path, kind: str) -> tuple[dict[str, Any], Arrays]:
    header, arrays = read_file(path, kind)
    for name in ("parameters", "encoder"):
        if not isinstance(header.get(name), dict):
            raise SeqpaError(f"{path}: is damaged: it has no {name}")
    return header, arrays


def model_header(path: Path) -> dict[str, Any]:
    """The header of a model file, for looking at.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict
    """
    return read_model(path).header


def _labels(header: Mapping[str, Any]) -> list[str]:
    labels = header["labels"]
    if not (
        isinstance(labels, list)
        and labels
        and all(type(label) is str for label in labels)
        and len(set(labels)) == len(labels)
    ):
        raise SeqpaError("is damaged: its labels are not distinct strings")
    check_label_names(labels)
    return labels


def _count(header: Mapping[str, Any], name: str) -> int:
    """A whole number of the header, from 0 on."""
    value = header[name]
    if type(value) is not int or not 0 <= value <= LARGEST_COUNT:
        raise SeqpaError(f"is damaged: its {name} is {shortened(repr(value))}")
    return value


def _missed(header: Mapping[str, Any]) -> float:
    """How often a missed token counts; states of earlier versions do not say."""
    value = header.get("missed", 1.0)
    if not (isinstance(value, float) and 1.0 <= value <= LARGEST_MISSED):
        raise SeqpaError(f"is damaged: a missed token counts {shortened(repr(value))} times")
    return value


def _scale(header: Mapping[str, Any]) -> float | None:
    """The scale of probabilities; files of earlier versions have none."""
    value = header.get("scale")
    if value is not None and not (type(value) in (int, float) and 0 < value <= _MAX_SCALE):
        raise SeqpaError(f"is damaged: its scale is {shortened(repr(value))}")
    return None if value is None else float(value)


def _sum(value: Any) -> float:
    """A number from 0 on."""
    if type(value) not in (int, float) or not 0 <= value < np.inf:
        raise SeqpaError(f"is damaged: {shortened(repr(value))} is no sum of costs or losses")
    return float(value)


def _source(header: Mapping[str, Any], arrays: Arrays, features: Any) -> FeatureSource:
    encoder = header["encoder"]
    kind = DictEncoder if encoder.get("encoder") == "dicts" else FeatureEncoder
    made = kind.from_arrays(_own(arrays, "encoder."), encoder)
    seen = SeenText.from_array(arrays[_SEEN]) if _SEEN in arrays else None
    return FeatureSource(made, features if callable(features) else None, seen=seen)


def _frozen(arrays: Arrays, prefix: str, n_labels: int) -> FrozenWeights:
    found: dict[str, Any] = {}
    for field in fields(FrozenWeights)[1:]:
        array = arrays.get(prefix + field.name)
        if array is not None:
            wanted = np.int32 if field.name.endswith("rows") else np.float32
            if array.dtype == np.float16:
                array = array.astype(np.float32)
            if array.dtype != wanted:
                raise SeqpaError(f"is damaged: {field.name} has type {array.dtype}")
        found[field.name] = array
    if any(found[name] is None for name in ("rows", "arena", "transitions")):
        raise SeqpaError("is damaged: weights are missing")
    if (found["pair_rows"] is None) != (found["pair_arena"] is None):
        raise SeqpaError("is damaged: weights of label pairs are missing")
    return FrozenWeights(n_labels, **found)


def _check_sizes(source: FeatureSource, n_rows: int, pair_rows: NDArray[Any] | None) -> None:
    pairs = None if pair_rows is None else len(pair_rows)
    if (source.encoder.n_features, source.n_pair_features) != (n_rows, pairs):
        raise SeqpaError("is damaged: features and weights do not agree in number")


# Training state


def save_state(path: Path, state: TrainingState, parameters: Mapping[str, Any]) -> None:
    """Write all that going on needs; see `SequenceTagger.save_state`.

    Parameters
    ----------
    path : Path
    state : TrainingState
    parameters : mapping
        Those of the tagger, by name.
    """
    state.settle()
    encoder_arrays, encoder = state.source.encoder.to_arrays()
    arrays: SomeArrays = {f"encoder.{name}": array for name, array in encoder_arrays.items()}
    arrays |= {f"training.{name}": array for name, array in state.weights.to_arrays().items()}
    if len(state.source.seen):
        arrays[_SEEN] = state.source.seen.to_array()
    if state.best is not None:
        for field in fields(FrozenWeights)[1:]:
            array = getattr(state.best, field.name)
            if array is not None:
                arrays[f"best.{field.name}"] = _in_pieces(array)
    header = {
        "labels": state.labels,
        "parameters": to_json(parameters),
        "encoder": encoder,
        "epoch": state.epoch,
        "best_score": state.best_score,
        "best_epoch": state.best_epoch,
        "scale": state.scale,
        "missed": state.missed,
        "data": state.data,
        "online": astuple(state.online),
        "generator": generators.plain_state(state.rng),
        "reservoir": {
            "seen": state.reservoir.seen,
            "capacity": state.reservoir.capacity,
            "generator": generators.plain_state(state.reservoir.rng),
        },
    }
    arrays |= {f"reservoir.{name}": array for name, array in state.reservoir.to_arrays().items()}
    first = state.source.first
    if isinstance(first, FirstLabels) and first.jackknifed is not None:
        header["first"], of_first = _packed(first.trained, {}, half=False)
        number = {label: k for k, label in enumerate(first.trained.labels)}
        given = map(number.__getitem__, first.jackknifed)
        of_first[_JACKKNIFED] = np.fromiter(given, np.int32, len(first.jackknifed))
        arrays |= {_FIRST + name: array for name, array in of_first.items()}
    write_file(path, "state", header, arrays)


def load_state(path: Path, parameters: Mapping[str, Any]) -> TrainingState:
    """Read a training state.

    Parameters
    ----------
    path : Path
    parameters : mapping
        Those of the tagger that goes on, which must be those that it was saved with.

    Returns
    -------
    TrainingState
    """
    header, arrays = _read(path, "state")
    try:
        _check_parameters(parameters, header["parameters"])
        state = _training_state(header, arrays, parameters.get("features"))
        state.source.first = _first_in_training(header, arrays, parameters, state.source)
        return state
    except SeqpaError as error:
        raise SeqpaError(f"{path}: {shortened(str(error), 1000)}") from None
    except DAMAGE as error:
        raise damaged(path, error) from None


def _check_parameters(parameters: Mapping[str, Any], saved: Mapping[str, Any]) -> None:
    own = json.loads(json.dumps(to_json(parameters)))
    if own.get("memory") is not None and saved.get("memory") is not None:
        own["memory"] = saved["memory"]  # how much there is changes nothing
    for name, value in saved.items():
        # How many threads there are changes nothing either.
        if name not in ("epochs", "n_jobs") and name in own and own[name] != value:
            raise SeqpaError(
                f"was saved with {name} = {shortened(repr(value))}, this tagger has {own[name]!r}: "
                f"go on with the same parameters, or train afresh"
            )


def _training_state(header: Mapping[str, Any], arrays: Arrays, features: Any) -> TrainingState:
    labels = _labels(header)
    source = _source(header, arrays, features)
    training = _own(arrays, "training.")
    TrainingWeights.validate(training)
    if bool(training["second_order"][0]) != (header["parameters"].get("algorithm") == "arow"):
        raise SeqpaError("is damaged: its weights are of another algorithm")
    if len(training["transitions"]) != len(labels):
        raise SeqpaError("is damaged: labels and weights do not agree in number")
    _check_sizes(source, len(training["rows"]), training.get("pair_rows"))
    best, best_score = None, None
    if header["best_score"] is not None:
        best_score = _sum(header["best_score"])
        best = _frozen(arrays, "best.", len(labels))
        best.validate()
        _check_sizes(source, len(best.rows), best.pair_rows)
    rng = generators.restored(header["generator"])
    reservoir = Reservoir.beside(rng)
    if "reservoir" in header:  # states of earlier versions have none
        stored = header["reservoir"]
        reservoir = Reservoir.from_arrays(
            _own(arrays, "reservoir."),
            generators.restored(stored["generator"]),
            _count(stored, "seen"),
            _count(stored, "capacity"),
            (len(labels), source.encoder.n_features, source.n_pair_features),
        )
    return TrainingState(
        source=source,
        labels=labels,
        weights=TrainingWeights.from_arrays(training),
        rng=rng,
        epoch=_count(header, "epoch"),
        best_epoch=min(_count(header, "best_epoch"), _count(header, "epoch")),
        best_score=best_score,
        best=best,
        data=_marks(header["data"]),
        online=_online(header["online"]),
        reservoir=reservoir,
        scale=_scale(header),
        missed=_missed(header),
    )


def _first_in_training(
    header: Mapping[str, Any], arrays: Arrays, parameters: Mapping[str, Any], source: FeatureSource
) -> FirstLabels | None:
    """The first of two stages with its labels of the training text, where there is one."""
    first = _first(header, arrays, parameters, source)
    if first is None:
        return None
    numbers = get_array(_own(arrays, _FIRST), _JACKKNIFED, np.int32)
    labels = first.trained.labels
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= len(labels)):
        raise SeqpaError("is damaged: its first stage gave a label that is not there")
    return FirstLabels(first.trained, [labels[k] for k in numbers.tolist()])


def _marks(stored: Any) -> list[int] | None:
    if stored is not None and not (
        isinstance(stored, list) and all(type(mark) is int for mark in stored)
    ):
        raise SeqpaError("is damaged: it does not tell by what its data are known")
    return stored


def _online(stored: Any) -> OnlineTotals:
    if not isinstance(stored, list) or len(stored) != len(fields(OnlineTotals)):
        raise SeqpaError("is damaged: its online totals are not right")
    return OnlineTotals(_count({"mistakes": stored[0]}, "mistakes"), *map(_sum, stored[1:]))
