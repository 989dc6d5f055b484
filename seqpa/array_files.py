"""Arrays and a JSON header in one safetensors file: written whole, read suspiciously.

The header is the metadata entry "seqpa". Its `checksum`, a SHA-256 of the rest of the header and of
all arrays, finds accidents; it does not stop who can compute it anew, so what is read here has the
form of our files and no more. What its numbers mean is checked by those who use them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.files import write_atomically

VERSION = 1
Arrays = dict[str, NDArray[Any]]
_MAX_DIMENSIONS = 2
_DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U64": np.uint64,
    "U32": np.uint32,
    "U16": np.uint16,
    "U8": np.uint8,
    "BOOL": np.bool_,
}


# What content of another form than ours leads to.
DAMAGE = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)


def damaged(path: Path, error: BaseException) -> SeqpaError:
    """The error for content of another form than ours, in one short line.

    >>> str(damaged(Path("m"), KeyError("rows")))
    "m: is damaged: KeyError 'rows'"
    """
    told = str(error) if isinstance(error, SeqpaError) else f"{type(error).__name__} {error}"
    return SeqpaError(f"{path}: is damaged: {shortened(told)}")


def shortened(text: str, most: int = 300) -> str:
    """A text that a file may have made long, for a message.

    >>> shortened("abcdef", 3)
    'abc...'
    """
    return text if len(text) <= most else f"{text[:most]}..."


def write_file(path: Path, kind: str, header: dict[str, Any], arrays: Arrays) -> None:
    """Header and arrays as one file, with a checksum, atomically."""
    from safetensors.numpy import save

    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    header = {"kind": kind, "version": VERSION, **header}
    header["checksum"] = checksum(header, arrays)
    write_atomically(path, save(arrays, {"seqpa": json.dumps(header)}))


def checksum(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Of all that a file holds but the checksum itself.

    >>> checksum({"a": 1, "checksum": "?"}, {"b": np.zeros(2)})[:8]
    '052a9be2'
    """
    import hashlib  # brings OpenSSL: three megabytes that training can do without

    rest = {name: value for name, value in header.items() if name != "checksum"}
    digest = hashlib.sha256(json.dumps(rest, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def read_file(path: Path, kind: str) -> tuple[dict[str, Any], Arrays]:
    """Header and memory-mapped arrays of a file, its structure and checksum verified."""
    from safetensors import SafetensorError, safe_open

    try:
        if path.exists() and not path.is_file():
            raise SeqpaError(f"{path}: is a directory or a device; name a {kind} file")
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            names = list(file.keys())
    except FileNotFoundError:
        raise SeqpaError(f"{path}: there is no such file") from None
    except SeqpaError:
        raise
    except (SafetensorError, OSError, ValueError) as error:
        raise SeqpaError(f"{path}: is damaged, or no seqpa {kind} ({error})") from None
    try:
        header = json.loads(metadata.get("seqpa", "null"))
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise SeqpaError(f"{path}: is a safetensors file, but no seqpa {kind}")
    version = header.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise SeqpaError(
            f"{path}: has version {shortened(repr(version))} of the format, this seqpa reads up to "
            f"{VERSION}: upgrade with pip install --upgrade seqpa"
        )
    if header.get("kind") != kind:
        told = shortened(str(header.get("kind")))
        raise SeqpaError(f"{path}: is a seqpa {told}, not a {kind}")
    try:
        arrays = _mapped(path, names)
        right = checksum(header, arrays)
    except DAMAGE as error:
        raise damaged(path, error) from None
    if right != header.get("checksum"):
        raise SeqpaError(f"{path}: is damaged: its checksum does not match; copy or train it again")
    return header, arrays


def _mapped(path: Path, names: list[str]) -> Arrays:
    """The arrays of a safetensors file that `safe_open` accepted, as views of a private mapping."""
    data = np.memmap(path, np.uint8, mode="c")
    size = int.from_bytes(data[:8].tobytes(), "little")
    entries = json.loads(data[8 : 8 + size].tobytes())
    arrays: Arrays = {}
    for name in names:
        entry = entries[name]
        if entry["dtype"] not in _DTYPES:
            raise SeqpaError(f"array {name!r} has type {entry['dtype']}")
        if len(entry["shape"]) > _MAX_DIMENSIONS:
            raise SeqpaError(f"array {name!r} has {len(entry['shape'])} dimensions")
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        array = data[begin:end].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
        # The kernel reads whole numbers at once, which must stand where the processor wants them.
        arrays[name] = array if array.flags.aligned else array.copy()
    return arrays
