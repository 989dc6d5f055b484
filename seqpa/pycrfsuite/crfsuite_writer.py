"""A model file as CRFsuite reads it.

Behind the header stand the features, the labels, the attributes, and for each label and each
attribute the numbers of its features. Labels and attributes are constant databases: the strings,
256 tables in which a string is found by its hash (Jenkins' lookup3), and an array from number to
string.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.array_files import shortened
from seqpa.errors import SeqpaError
from seqpa.pycrfsuite.crfsuite_file import (
    CHUNK,
    DATABASE,
    FEATURE,
    HEADER,
    MAGIC,
    MODEL_TYPE,
    MODEL_VERSION,
    RECORD,
    STATE,
    TRANSITION,
    CrfsuiteModel,
)

_BYTE_ORDER = 0x62445371  # what a database says of its own
_TABLES = 256
_SLOT = np.dtype([("hash", "<u4"), ("place", "<u4")])
_BLOCK = 12  # so many bytes are hashed at a time
_LARGEST = 2**32 - 1  # an offset is an unsigned number of four bytes
# CRFsuite counts two more labels than there are, of which no feature is.
_ENDS = 2

Hashes = NDArray[np.uint32]


def to_bytes(model: CrfsuiteModel) -> bytes:
    """The content of a model file.

    Parameters
    ----------
    model : CrfsuiteModel
        Its header is made anew.

    Returns
    -------
    bytes
        What `read_crfsuite` reads, and CRFsuite.

    Examples
    --------
    >>> from seqpa.pycrfsuite.crfsuite_file import read_crfsuite
    >>> states = np.array([(0, 1, 0, 2.5)], FEATURE)
    >>> model = CrfsuiteModel({}, ["D", "N"], ["a", "the"], states, np.array([[0, 1.5], [0, 0]]))
    >>> again = read_crfsuite(to_bytes(model))
    >>> again.attributes, again.states["weight"].tolist(), again.transitions.tolist()
    (['a', 'the'], [2.5], [[0.0, 1.5], [0.0, 0.0]])
    """
    previous, following = np.nonzero(model.transitions)
    n_states = len(model.states)
    features = np.zeros(n_states + len(previous), FEATURE)
    features[:n_states], features["kind"][:n_states] = model.states, STATE
    pairs = features[n_states:]
    pairs["kind"], pairs["source"], pairs["target"] = TRANSITION, previous, following
    pairs["weight"] = model.transitions[previous, following]
    off_features = HEADER.size
    size = CHUNK.size + features.nbytes
    content = bytearray(HEADER.size) + CHUNK.pack(b"FEAT", size, len(features))
    content += features.tobytes()
    off_labels = len(content)
    content += database(model.labels)
    off_attributes = len(content)
    content += database(model.attributes)
    numbers = np.arange(len(features))
    content += bytes(-len(content) % 4)
    off_label_references = len(content)
    references = (pairs["source"], numbers[n_states:], len(model.labels))
    content += _references(b"LFRF", off_label_references, *references, more=_ENDS)
    off_references = len(content)
    references = (model.states["source"], numbers[:n_states], len(model.attributes))
    content += _references(b"AFRF", off_references, *references)
    if len(content) > _LARGEST:
        raise SeqpaError("the model is larger than 4 GB, which a file of CRFsuite cannot be")
    HEADER.pack_into(
        content,
        0,
        MAGIC,
        len(content),
        MODEL_TYPE,
        MODEL_VERSION,
        0,  # so many features, which CRFsuite itself never says
        len(model.labels),
        len(model.attributes),
        off_features,
        off_labels,
        off_attributes,
        off_label_references,
        off_references,
    )
    return bytes(content)


def database(strings: Sequence[str]) -> bytes:
    """A constant database of strings, which get the numbers from 0 on.

    Parameters
    ----------
    strings : sequence of str
        Each once.

    Returns
    -------
    bytes
        The database.
    """
    keys = [_key(string) for string in strings]
    begin = DATABASE.size + 2 * 4 * _TABLES
    sizes = np.fromiter(map(len, keys), np.int64, len(keys)) + RECORD.size
    places = begin + np.concatenate([[0], np.cumsum(sizes)])
    if places[-1] > _LARGEST:
        raise SeqpaError("the names are larger than 4 GB, which a file of CRFsuite cannot be")
    records = b"".join(
        part for number, key in enumerate(keys) for part in (RECORD.pack(number, len(key)), key)
    )
    hashes = hashed(keys)
    at = int(places[-1])
    parts, tables = [], []
    for table in range(_TABLES):
        own = np.flatnonzero(hashes % _TABLES == table)
        tables += [at if len(own) else 0, 2 * len(own)]
        slots = _table(hashes[own], places[own])
        parts.append(slots.tobytes())
        at += slots.nbytes
    size = at + 4 * len(keys)
    header = DATABASE.pack(b"CQDB", size, 0, _BYTE_ORDER, len(keys), at if keys else 0)
    references = struct.pack(f"<{len(tables)}I", *tables)
    return b"".join([header, references, records, *parts, places[:-1].astype("<u4").tobytes()])


def _key(string: str) -> bytes:
    """A string as it stands in a database."""
    try:
        key = string.encode()
    except UnicodeEncodeError:
        key = b"\0"
    if b"\0" in key:
        raise SeqpaError(
            f"{shortened(repr(string))} cannot stand in a file of CRFsuite: it has half a "
            "surrogate pair or a NUL"
        )
    return key + b"\0"


def _table(hashes: Hashes, places: NDArray[np.int64]) -> NDArray[Any]:
    """Slots, twice as many as strings: each in the first free one from that of its hash on."""
    slots = np.zeros(2 * len(hashes), _SLOT)
    taken: set[int] = set()
    for value, place in zip(hashes.tolist(), places.tolist(), strict=True):
        slot = (value >> 8) % len(slots)
        while slot in taken:
            slot = (slot + 1) % len(slots)
        taken.add(slot)
        slots[slot] = value, place
    return slots


def _references(
    name: bytes,
    begin: int,
    owners: NDArray[Any],
    numbers: NDArray[np.int64],
    count: int,
    more: int = 0,
) -> bytes:
    """A chunk at this place of a file: for each of so many owners the numbers of its features."""
    counts = np.bincount(owners, minlength=count)
    order = np.argsort(owners, kind="stable")
    # Each owner's list begins with its length.
    starts = np.cumsum(counts + 1) - (counts + 1)
    lists = np.zeros(len(numbers) + count, "<u4")
    lists[starts] = counts
    lists[np.arange(len(numbers)) + np.asarray(owners)[order] + 1] = numbers[order]
    first = CHUNK.size + 4 * (count + more)
    offsets = np.zeros(count + more, "<u4")
    offsets[:count] = begin + first + 4 * starts
    size = first + lists.nbytes
    return CHUNK.pack(name, size, count + more) + offsets.tobytes() + lists.tobytes()


def hashed(keys: Sequence[bytes]) -> Hashes:
    """Jenkins' lookup3 (hashlittle) of each key, none of which is empty.

    Parameters
    ----------
    keys : sequence of bytes
        What to hash.

    Returns
    -------
    array of uint32
        A hash for each.

    Examples
    --------
    >>> hex(hashed([b"Four score and seven years ago"])[0])
    '0x17770551'
    """
    lengths = np.fromiter(map(len, keys), np.int64, len(keys))
    blocks = -(-lengths // _BLOCK)
    found = np.zeros(len(keys), np.uint32)
    for size in np.unique(blocks).tolist():
        own = np.flatnonzero(blocks == size)
        text = b"".join(keys[i].ljust(size * _BLOCK, b"\0") for i in own.tolist())
        words = np.frombuffer(text, "<u4").reshape(len(own), size, 3).astype(np.uint32)
        a = np.uint32(0xDEADBEEF) + lengths[own].astype(np.uint32)
        b, c = a.copy(), a.copy()
        for block in range(size):
            a, b, c = (x + words[:, block, k] for k, x in enumerate((a, b, c)))
            if block + 1 < size:
                a, b, c = _mixed(a, b, c)
        found[own] = _finished(a, b, c)
    return found


def _turned(x: Hashes, by: int) -> Hashes:
    return (x << np.uint32(by)) | (x >> np.uint32(32 - by))


def _mixed(a: Hashes, b: Hashes, c: Hashes) -> tuple[Hashes, Hashes, Hashes]:
    for by in (4, 6, 8, 16, 19, 4):
        a, c = (a - c) ^ _turned(c, by), c + b
        a, b, c = b, c, a  # the next round has other letters for the same
    return a, b, c


def _finished(a: Hashes, b: Hashes, c: Hashes) -> Hashes:
    for by in (14, 11, 25, 16, 4, 14, 24):
        c = (c ^ b) - _turned(b, by)
        a, b, c = b, c, a
    return b
