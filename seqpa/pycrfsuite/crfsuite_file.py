"""CRFsuite's own model files: read, and made into what tags here.

A file has a header of twelve little-endian fields and, at the offsets that it gives, the features
(20 bytes each: kind, source, target, weight), two constant databases of strings (labels and
attributes, each with an array from number to string), and references that only CRFsuite needs. A
file is read suspiciously: no offset is followed before it is known to lie inside.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.files import unreadable
from seqpa.sequence.checks import check_label_names
from seqpa.sequence.dicts import DictEncoder
from seqpa.sequence.inputs import Extractor, FeatureSource
from seqpa.sequence.resources import pack_strings
from seqpa.sequence.trained import Trained
from seqpa.sequence.weights import FrozenWeights, check_labels, dense_at, padded

MAGIC = b"lCRF"
MODEL_TYPE = b"FOMC"
MODEL_VERSION = 100
HEADER = struct.Struct("<4sI4s9I")
_FIELDS = (
    "magic",
    "size",
    "type",
    "version",
    "num_features",
    "num_labels",
    "num_attrs",
    "off_features",
    "off_labels",
    "off_attrs",
    "off_labelrefs",
    "off_attrrefs",
)
CHUNK = struct.Struct("<4s2I")
DATABASE = struct.Struct("<4s5I")
RECORD = struct.Struct("<2I")
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
STATE, TRANSITION = 0, 1


@dataclass(frozen=True)
class CrfsuiteModel:
    """What a CRFsuite model file holds.

    Parameters
    ----------
    header : dict
        Its fields by name, as text.
    labels : list of str
        By number.
    attributes : list of str
        By number.
    states : structured array
        source an attribute, target a label, and the weight.
    transitions : array of shape (labels, labels)
        From the first to the second.
    """

    header: dict[str, str]
    labels: list[str]
    attributes: list[str]
    states: NDArray[Any]
    transitions: NDArray[np.float64]


def read_crfsuite(content: bytes, name: str = "the model") -> CrfsuiteModel:
    """Read the content of a model file.

    Parameters
    ----------
    content : bytes
        All of it.
    name : str, default "the model"
        For messages.

    Returns
    -------
    CrfsuiteModel
        What is in it.
    """
    try:
        return _read(content)
    except _Damage as error:
        raise SeqpaError(f"{name}: is no whole CRFsuite model: {error}") from None


class _Damage(Exception):
    """What is wrong with a file."""


def _read(content: bytes) -> CrfsuiteModel:
    if content[:4] != MAGIC:
        raise _Damage(f"it does not begin with {MAGIC.decode()}")
    fields = dict(zip(_FIELDS, _unpack(HEADER, content, 0), strict=True))
    if fields["type"] != MODEL_TYPE or fields["version"] != MODEL_VERSION:
        raise _Damage("only first-order models of version 100 are known")
    if fields["size"] != len(content):
        raise _Damage(f"it has {len(content)} bytes, and its header tells of {fields['size']}")
    labels = _strings(content, fields["off_labels"], fields["num_labels"])
    attributes = _strings(content, fields["off_attrs"], fields["num_attrs"])
    chunk, _, count = _unpack(CHUNK, content, fields["off_features"])
    begin = fields["off_features"] + CHUNK.size
    if chunk != b"FEAT" or begin + count * FEATURE.itemsize > len(content):
        raise _Damage("its features are not where they should be")
    features = np.frombuffer(content, FEATURE, count, begin)
    is_state = features["kind"] == STATE
    states, pairs = features[is_state], features[~is_state]
    K = len(labels)
    if (
        (pairs["kind"] != TRANSITION).any()
        or (features["target"] >= K).any()
        or (pairs["source"] >= K).any()
        or (states["source"] >= len(attributes)).any()
        or not np.isfinite(features["weight"]).all()
    ):
        raise _Damage("a feature has a label or an attribute that is not there, or no number")
    transitions = np.zeros((K, K))
    transitions[pairs["source"], pairs["target"]] = pairs["weight"]
    return CrfsuiteModel(_told(fields), labels, attributes, states, transitions)


def _told(fields: dict[str, Any]) -> dict[str, str]:
    told = {}
    for name, value in fields.items():
        if isinstance(value, bytes):
            told[name] = value.decode("ascii", "replace")
        else:
            told[name] = f"0x{value:X}" if name.startswith("off_") else str(value)
    return told


def _unpack(form: struct.Struct, content: bytes, at: int) -> tuple[Any, ...]:
    if at + form.size > len(content):
        raise _Damage("it ends too early")
    return form.unpack_from(content, at)


def _strings(content: bytes, at: int, count: int) -> list[str]:
    """The strings of a constant database that begins there, by number."""
    chunk, size, _, _, known, back = _unpack(DATABASE, content, at)
    if chunk != b"CQDB" or at + size > len(content) or known < count or back + 4 * count > size:
        raise _Damage("its strings are not where they should be")
    found = []
    for place in struct.unpack_from(f"<{count}I", content, at + back):
        _, length = _unpack(RECORD, content, at + place)
        begin = at + place + RECORD.size
        if length < 1 or begin + length > len(content):
            raise _Damage("a string ends outside")
        try:
            found.append(content[begin : begin + length - 1].decode())
        except UnicodeDecodeError:
            raise _Damage("a label or an attribute is not in UTF-8") from None
    return found


def to_trained(model: CrfsuiteModel, function: Extractor | None = None) -> Trained:
    """A CRFsuite model as what tags here, with the same scores but for the rounding to float32.

    Parameters
    ----------
    model : CrfsuiteModel
        What was read.
    function : function or None, default None
        From a sentence to the features of its tokens, as they were made for CRFsuite; None where
        the tokens will be features already.

    Returns
    -------
    Trained
        Feature source, weights and labels.
    """
    encoder = DictEncoder.from_arrays(
        pack_strings("features", model.attributes), {"encoder": "dicts", "cutoff": 1}
    )
    numbers = np.arange(len(model.attributes))
    return over_source(model, FeatureSource(encoder, function), numbers)


def over_source(
    model: CrfsuiteModel, source: FeatureSource, attributes: NDArray[np.int64]
) -> Trained:
    """The weights of a CRFsuite model for the features of a source.

    Parameters
    ----------
    model : CrfsuiteModel
        What was read.
    source : FeatureSource
        What makes features of sentences.
    attributes : array
        For each of its features the number of the attribute that it is; −1 for none.

    Returns
    -------
    Trained
        Feature source, weights and labels.
    """
    labels, K = model.labels, len(model.labels)
    check_label_names(labels)
    check_labels(K, None)
    if not labels:
        raise SeqpaError("a model without labels cannot tag")
    feature_of = np.full(len(model.attributes), -1)
    feature_of[attributes[attributes >= 0]] = np.flatnonzero(attributes >= 0)
    states = model.states[feature_of[model.states["source"]] >= 0].copy()
    states["source"] = feature_of[states["source"]]
    rows, arena = _rows(states, len(attributes), K)
    weights = FrozenWeights(K, rows, arena, model.transitions.astype(np.float32))
    weights.validate()
    return Trained(source, weights, labels, None, 0, scale=1.0)


def _rows(
    states: NDArray[Any], n_features: int, n_labels: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Rows and arena of `FrozenWeights`: pairs of label and weight, or a weight for every label."""
    order = np.lexsort((states["target"], states["source"]))
    source, target = states["source"][order].astype(np.int64), states["target"][order]
    weight = states["weight"][order]
    counts = np.bincount(source, minlength=n_features)
    dense = counts > dense_at(n_labels)
    needs = np.where(dense, padded(n_labels), 2 * counts)
    starts = np.concatenate([[0], np.cumsum(needs)])
    arena = np.zeros(int(starts[-1]), np.float32)
    within = np.arange(len(source)) - (np.cumsum(counts) - counts)[source]
    wide = dense[source]
    arena[starts[source[wide]] + target[wide]] = weight[wide]
    places = starts[source[~wide]] + 2 * within[~wide]
    arena[places], arena[places + 1] = target[~wide], weight[~wide]
    rows = np.stack([starts[:-1], np.where(dense, -1, counts)], axis=1).astype(np.int32)
    return rows, arena


def read_crfsuite_file(path: str | Path) -> CrfsuiteModel:
    """Read a model file.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    CrfsuiteModel
        What is in it.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    return read_crfsuite(content, str(path))
