"""Model and state files changed by someone who knows the format: the checksum is always right.

`mutated` makes one to four changes: numbers of arrays that become extreme, are exchanged or
repeated, arrays of other sizes, shapes, types and places, values of the header that are anything
else. The file is written byte by byte, since the safetensors library writes no wrong ones.
"""

from __future__ import annotations

import copy
import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open

from seqpa.array_files import checksum

Header = dict[str, Any]
Arrays = dict[str, np.ndarray]
NAMES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}


def read(path: Path) -> tuple[Header, Arrays]:
    """Header and arrays of a good file, as copies."""
    with safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["seqpa"])
        return header, {name: file.get_tensor(name).copy() for name in file.keys()}  # noqa: SIM118


def written(header: Header, arrays: Arrays, rng: random.Random | None = None) -> bytes:
    """The file, with a right checksum; with `rng` the arrays stand in any order, and so perhaps
    where the processor does not like them."""
    try:
        header["checksum"] = checksum(header, arrays)
    except RecursionError:
        header["checksum"] = "nested"
    names = sorted(arrays)
    if rng is not None:
        rng.shuffle(names)
    entries: dict[str, Any] = {"__metadata__": {"seqpa": _json(header)}}
    at, pieces = 0, []
    for name in names:
        data = np.ascontiguousarray(arrays[name]).tobytes()
        entries[name] = {
            "dtype": NAMES[str(arrays[name].dtype)],
            "shape": list(arrays[name].shape),
            "data_offsets": [at, at + len(data)],
        }
        at += len(data)
        pieces.append(data)
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(pieces)


def _json(header: Header) -> str:
    """JSON by hand where Python's own would stop at deep nesting."""
    try:
        return json.dumps(header)
    except RecursionError:
        return json.dumps({**header, "parameters": {}}).replace(
            '"parameters": {}', '"parameters": ' + "[" * 3000 + "]" * 3000
        )


def mutated(good: Path, rng: random.Random) -> bytes:
    """The bytes of a file with some changes."""
    header, arrays = read(good)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if rng.random() < 0.6:
            _change_array(arrays, rng)
        else:
            _change_header(header, rng)
    return written(header, arrays, rng if rng.random() < 0.3 else None)


# Arrays


def _change_array(arrays: Arrays, rng: random.Random) -> None:
    name = rng.choice(sorted(arrays))
    if rng.random() < 0.3:  # those that lead the kernel through memory
        names = [n for n in sorted(arrays) if n.endswith(("rows", "values", "cells", "ends"))]
        name = rng.choice(names or sorted(arrays))
    changed = rng.choice(CHANGES)(arrays[name], rng)
    if changed is None:
        del arrays[name]
    else:
        arrays[name] = np.ascontiguousarray(changed)
    if rng.random() < 0.05 and name in arrays:
        arrays[rng.choice(sorted(arrays))] = arrays[name].copy()


def _extremes(array: np.ndarray, rng: random.Random) -> list[Any]:
    if array.dtype.kind == "f":
        top = np.finfo(array.dtype).max
        return [np.nan, np.inf, -np.inf, 1e30, -1e30, 1e15, -1e15, top, -top, 0.5, -1, 7, 1e-40]
    if array.dtype.kind == "b":
        return [True, False]
    info = np.iinfo(array.dtype)
    some = [-2, -1, 0, 1, 2, 3, 7, 8, 9, len(array), len(array) - 1, array.size, 1000, 10**6]
    return [info.min, info.max, info.max // 2] + [s for s in some if info.min <= s <= info.max]


def _one_number(array: np.ndarray, rng: random.Random) -> np.ndarray:
    if array.size:
        array.reshape(-1)[rng.randrange(array.size)] = rng.choice(_extremes(array, rng))
    return array


def _many_numbers(array: np.ndarray, rng: random.Random) -> np.ndarray:
    flat = array.reshape(-1)
    begin = rng.randrange(array.size + 1)
    flat[begin : begin + rng.randint(1, 40)] = rng.choice(_extremes(array, rng))
    return array


def _one_column(array: np.ndarray, rng: random.Random) -> np.ndarray:
    if array.ndim == 2 and array.size:
        array[:, rng.randrange(array.shape[1])] = rng.choice(_extremes(array, rng))
    return array


def _repeated(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """One entry stands where another was: rows that overlap, words that are there twice."""
    if len(array):
        array[rng.randrange(len(array))] = array[rng.randrange(len(array))]
    return array


def _moved(array: np.ndarray, rng: random.Random) -> np.ndarray:
    if array.dtype.kind in "iuf" and array.size:
        with np.errstate(all="ignore"):
            flat = array.reshape(-1)
            at = rng.randrange(array.size)
            flat[at] += np.array(rng.choice((-8, -2, -1, 1, 2, 8, 100)), np.int64).astype(
                flat.dtype
            )
    return array


def _shuffled(array: np.ndarray, rng: random.Random) -> np.ndarray:
    return array[np.random.default_rng(rng.randrange(2**32)).permutation(len(array))]


def _another_shape(array: np.ndarray, rng: random.Random) -> np.ndarray:
    shapes = [(1,) * 30 + array.shape, (-1,), (1, -1), (-1, 1), (*array.shape, 1), (-1, 2)]
    try:
        return array.reshape(rng.choice(shapes))
    except ValueError:
        return array[:0]


CHANGES: list[Callable[[np.ndarray, random.Random], np.ndarray | None]] = [
    _one_number,
    _one_number,
    _one_number,
    _many_numbers,
    _one_column,
    _repeated,
    _repeated,
    _moved,
    _moved,
    _shuffled,
    _another_shape,
    lambda array, rng: array[: rng.randrange(len(array) + 1)],
    lambda array, rng: np.concatenate([array] * rng.choice((2, 3, 50))),
    lambda array, rng: array.astype(rng.choice(sorted(NAMES))),
    lambda array, rng: array[::-1],
    lambda array, rng: array * 0 if array.dtype.kind != "b" else ~array,
    lambda array, rng: None,
]


# The header


def deep(levels: int, inside: Any = 0) -> Any:
    """A list in a list in a list."""
    for _ in range(levels):
        inside = [inside]
    return inside


ODD: list[Any] = [
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    625,
    2**31,
    2**62,
    2**64,
    10**300,
    -0.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\x1b[2J\x07",
    "\udc80",
    "word[0]",
    'regex("(a+)+$")',
    'regex("(a|b)*a(a|b){30}")[0]|word[-99]',
    "idna",
    "a" * 5000,
    [],
    {},
    [[]],
    [None, "x"],
    {"function": "antigravity:geohash"},
    {"matrix": [[0, 1], [2]]},
    {"mapping": {"forbidden": [["A", "B"]]}},
    {"hierarchy": [["a", "b"], ["a"]]},
    {"hierarchy": {"paths": [["a"], ["a", "b"]], "lengths": [["b", 0]]}},
    {"hierarchy": {"paths": [["a"]], "lengths": [["b", 2]]}},
    {"hierarchy": {"paths": [["a"]], "lengths": [["a", "2"]]}},
    {"hierarchy": {"paths": [["a"]]}},
    {"pairs": [["a", "b", 1], []]},
    {"mapping": {"x": [[[[[[[[[[[[]]]]]]]]]]]]}},
]


def _places(value: Any, depth: int = 0) -> list[tuple[Any, Any]]:
    """Every place below a value, as (what holds it, key); those far below not."""
    if depth > 50:
        return []
    keys = value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)
    own = [(value, key) for key in keys]
    return own + [place for key in keys for place in _places(value[key], depth + 1)]


def _change_header(header: Header, rng: random.Random) -> None:
    part = rng.choice([name for name in sorted(header) if name not in ("checksum", "kind")])
    places = [(header, part), *_places(header[part])]
    above, key = rng.choice(places)
    what = rng.random()
    if what < 0.1:
        del above[key]
    elif what < 0.2 and isinstance(above[key], list) and above[key]:
        above[key] += rng.choice((above[key][:], above[key][:1], above[key][:1] * 50))
    elif what < 0.25 and isinstance(above[key], str):
        text = above[key]
        at = rng.randrange(len(text) + 1)
        above[key] = text[:at] + rng.choice(("\0", "(", '"', "[", "9" * 12, "|")) + text[at:]
    else:
        odd = rng.choice((*ODD, 30, 400, 600))
        above[key] = deep(odd) if odd in (30, 400, 600) else copy.deepcopy(odd)
