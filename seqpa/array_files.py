"""Arrays and a JSON header in one safetensors file: written whole or not at all, read suspiciously.

The header is the metadata entry "seqpa". Its `checksum`, a SHA-256 of the rest of the header and of
all arrays, finds accidents; it does not stop who can compute it anew, so what is read here has the
form of our files and no more. What its numbers mean is checked by those who use them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.files import writing_atomically
from seqpa.pages import give_back

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
_ORDER = ["U64", "I64", "F64", "F32", "U32", "I32", "F16", "U16", "I16", "I8", "U8", "BOOL"]


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


@dataclass(frozen=True, slots=True)
class InPieces:
    """An array that need not be in memory as a whole.

    dtype, shape   those of the whole
    pieces         gives it anew each time, piece by piece along its first dimension

    >>> halves = InPieces(np.dtype(np.int32), (4,), lambda: [np.arange(2), np.arange(2, 4)])
    >>> halves.whole()
    array([0, 1, 2, 3], dtype=int32)
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    pieces: Callable[[], Iterable[NDArray[Any]]]

    def whole(self) -> NDArray[Any]:
        """All pieces as one array."""
        made = np.empty(self.shape, self.dtype)
        at = 0
        for piece in self.pieces():
            made[at : at + len(piece)] = piece
            at += len(piece)
        return made


SomeArrays = dict[str, NDArray[Any] | InPieces]


def write_file(
    path: Path, kind: str, header: dict[str, Any], arrays: Mapping[str, NDArray[Any] | InPieces]
) -> None:
    """Header and arrays as one file, with a checksum, atomically; array by array, so that nothing
    of them is in memory twice."""
    header = {"kind": kind, "version": VERSION, **header}
    header["checksum"] = checksum(header, arrays)
    # The order of the safetensors library: those that need the widest alignment come first.
    names = sorted(arrays, key=lambda name: (_ORDER.index(_told_type(arrays[name])), name))
    entries: dict[str, Any] = {"__metadata__": {"seqpa": json.dumps(header)}}
    end = 0
    for name in names:
        array = arrays[name]
        begin, end = end, end + _size(array)
        entries[name] = {
            "dtype": _told_type(array),
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    told = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    told += b" " * (-len(told) % 8)
    with writing_atomically(path) as stream:
        stream.write(len(told).to_bytes(8, "little") + told)
        for name in names:
            for data in _bytes_of(arrays[name]):
                stream.write(data)


def _told_type(array: NDArray[Any] | InPieces) -> str:
    return next(name for name, dtype in _DTYPES.items() if array.dtype == dtype)


def _size(array: NDArray[Any] | InPieces) -> int:
    size = array.dtype.itemsize
    for length in array.shape:
        size *= length
    return size


def _bytes_of(array: NDArray[Any] | InPieces) -> Iterator[memoryview]:
    """The bytes of an array in their order, one piece after the other."""
    pieces = array.pieces() if isinstance(array, InPieces) else [array]
    for piece in pieces:
        if piece.size:
            own = np.ascontiguousarray(piece, array.dtype)
            yield memoryview(own.reshape(-1).view(np.uint8).data)


def checksum(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any] | InPieces]) -> str:
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
        for data in _bytes_of(array):
            digest.update(data)
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
        for array in arrays.values():
            give_back(array)  # what was read for the checksum is in the file
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
