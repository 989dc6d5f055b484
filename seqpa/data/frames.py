"""Tables in memory and Parquet files: pandas, Polars, PyArrow, Hugging Face's datasets, records.

Nothing of these is imported: a table is what has names of columns (``columns`` or
``column_names``) and gives a column for its name, or a list of dictionaries. A row is a token, its
sentence told by a column; or a sentence, its tokens and labels in lists.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seqpa.data.corpus import Corpus
from seqpa.data.json_tags import names_in
from seqpa.data.names import SENTENCES, choose_columns, find_column, label_texts
from seqpa.errors import SeqpaError, SeqpaWarning


def from_table(
    table: Any,
    columns: Sequence[str] | None = None,
    label: str | None = None,
    sentence: str | None = None,
    names: Sequence[str] | None = None,
    with_labels: bool = True,
) -> Corpus:
    """A corpus from a table in memory.

    Parameters
    ----------
    table : DataFrame, Dataset, Table, mapping of columns, or list of dictionaries
        One row a token, or one row a sentence with lists.
    columns : sequence of str, optional
        The columns to read; by default the one that is called word, token, tokens, ...
    label : str, optional
        The label's column; by default the one that is called label, ner_tags, tag, ...
    sentence : str, optional
        The column that tells the sentence of a token; by default the one that is called sentence,
        sentence_id, ...
    names : sequence of str, optional
        What labels that are numbers mean; a Hugging Face dataset says it itself.
    with_labels : bool
        Whether the labels are read.

    Returns
    -------
    Corpus

    Examples
    --------
    >>> table = {"sentence": [1, 1, 2], "word": ["Ada", "won", "Stop"], "tag": ["N", "V", "V"]}
    >>> from_table(table).y
    [['N', 'V'], ['V']]
    >>> from_table([{"tokens": ["Ada", "won"], "ner_tags": [1, 0]}], names=["O", "B-PER"]).y
    [['B-PER', 'O']]
    """
    header = _names_of(table)
    inputs, label_at = choose_columns(header, columns, label, with_labels)
    cells = [_column(table, header[place]) for _, place in inputs]
    labels = None
    if with_labels:
        assert label_at is not None
        labels = _column(table, header[label_at])
        names = names or _class_names(table, header[label_at])
    if cells[0] and not isinstance(cells[0][0], str):
        rows = _of_lists(cells, labels, names)
    else:
        at = _sentence_column(header, sentence)
        rows = _of_tokens(cells, labels, names, None if at is None else _column(table, header[at]))
    return _corpus([name for name, _ in inputs], *rows, with_labels)


def read_parquet(
    path: str | Path,
    columns: Sequence[str] | None = None,
    label: str | None = None,
    with_labels: bool = True,
) -> Corpus:
    """A corpus from a Parquet file, with PyArrow or pandas.

    Parameters
    ----------
    path : str or Path
        The file.
    columns, label, with_labels
        As for `from_table`.

    Returns
    -------
    Corpus
    """
    table = _parquet_table(Path(path))
    try:
        corpus = from_table(table, columns, label, with_labels=with_labels)
    except SeqpaError as error:
        raise SeqpaError(f"{path}: {error}") from None
    if all(name.isdigit() for name in set(corpus.labels or ("",))):
        warnings.warn(
            f"{path}: the labels are numbers without names; a file that Hugging Face's datasets "
            "writes has them, or read it in Python: seqpa.data.from_table(table, names=[...])",
            SeqpaWarning,
            stacklevel=2,
        )
    return corpus


def _parquet_table(path: Path) -> Any:
    from seqpa.files import unreadable

    try:
        path.open("rb").close()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    try:
        try:
            from pyarrow.parquet import read_table
        except ImportError:
            from pandas import read_parquet as read_table
    except ImportError:
        raise SeqpaError(
            f"{path}: Parquet files need pyarrow (or pandas with it): pip install pyarrow"
        ) from None
    try:
        return read_table(path)
    except Exception as error:  # of whichever library it was
        told = " ".join(str(error).split())
        raise SeqpaError(f"{path}: is no Parquet file, or a damaged one ({told})") from None


# What a table is


def _names_of(table: Any) -> list[str]:
    if isinstance(table, Mapping):
        return [str(name) for name in table]
    for attribute in ("column_names", "columns"):
        found = getattr(table, attribute, None)
        if found is None or callable(found):
            continue
        if isinstance(found, Mapping):  # a DatasetDict has one table for each of its splits
            raise SeqpaError(
                f"this is a set of tables, {', '.join(map(str, found))}: give one of them, as in "
                f"data[{next(iter(found))!r}]"
            )
        return [str(name) for name in found]
    if isinstance(table, Sequence) and table and all(isinstance(row, Mapping) for row in table):
        return [str(name) for name in table[0]]
    raise SeqpaError(
        f"{type(table).__name__} is no table: give a DataFrame, a dataset, a mapping of columns or "
        "a list of dictionaries"
    )


def _column(table: Any, name: str) -> list[Any]:
    if isinstance(table, (list, tuple)):
        missing = next((i for i, row in enumerate(table) if name not in row), None)
        if missing is not None:
            raise SeqpaError(f"row {missing + 1} has no {name!r}")
        return [row[name] for row in table]
    column = table[name] if not hasattr(table, "schema") else _arrow_column(table, name)
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _arrow_column(table: Any, name: str) -> Any:
    """PyArrow's own way; Polars, which has a schema too, has no ``column``."""
    column = getattr(table, "column", None)
    return table[name] if column is None else column(name)


def _class_names(table: Any, name: str) -> list[str] | None:
    """What Hugging Face's features say of numbered labels."""
    features = getattr(table, "features", None)
    if isinstance(features, Mapping):
        feature = features.get(name)
        while feature is not None:
            found = getattr(feature, "names", None)
            if isinstance(found, (list, tuple)) and found:
                return [str(one) for one in found]
            feature = getattr(feature, "feature", None)
    metadata = getattr(getattr(table, "schema", None), "metadata", None)
    if isinstance(metadata, Mapping) and b"huggingface" in metadata:
        try:
            info = json.loads(metadata[b"huggingface"])
            return names_in(info["info"]["features"].get(name))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
    return None


def _sentence_column(header: Sequence[str], sentence: str | None) -> int | None:
    if sentence is None:
        return find_column(header, SENTENCES)
    at = find_column(header, (sentence.lower(),))
    if at is None:
        raise SeqpaError(f"sentence: no column {sentence!r} among {', '.join(header)}")
    return at


# Rows

_Rows = tuple[list[list[str]], list[int], list[str]]


def _of_lists(
    cells: list[list[Any]], labels: list[Any] | None, names: Sequence[str] | None
) -> _Rows:
    columns: list[list[str]] = [[] for _ in cells]
    lengths: list[int] = []
    flat: list[str] = []
    for number, row in enumerate(zip(*cells, strict=True), 1):
        try:
            parts = [_texts(part) for part in row]
            length = len(parts[0])
            found = [] if labels is None else label_texts(_listed(labels[number - 1]), names)
            for part in (*parts, *([] if labels is None else [found])):
                if len(part) != length:
                    raise SeqpaError(f"{length} tokens but {len(part)} labels or cells")
        except SeqpaError as error:
            raise SeqpaError(f"row {number}: {error}") from None
        if not length:
            continue
        for column, part in zip(columns, parts, strict=True):
            column += part
        flat += found
        lengths.append(length)
    return columns, lengths, flat


def _of_tokens(
    cells: list[list[Any]],
    labels: list[Any] | None,
    names: Sequence[str] | None,
    sentences: list[Any] | None,
) -> _Rows:
    if sentences is None and cells[0]:
        raise SeqpaError(
            "a row is a token, and no column tells its sentence; name it: sentence=..., or give "
            "lists of tokens"
        )
    columns: list[list[str]] = []
    for cell in cells:
        for number, value in enumerate(cell, 1):
            if not isinstance(value, str):
                raise SeqpaError(f"row {number}: a cell must be text, not {value!r}")
        columns.append([str(value) for value in cell])
    flat: list[str] = []
    for number, value in enumerate(labels or (), 1):
        try:
            flat += label_texts([value], names)
        except SeqpaError as error:
            raise SeqpaError(f"row {number}: {str(error).replace('token 1', 'it')}") from None
    lengths: list[int] = []
    current: Any = None
    for value in sentences or ():
        blank = value is None or value == "" or value != value  # an empty cell of pandas is NaN
        if not lengths or not (blank or value == current):
            lengths.append(0)
            current = value
        lengths[-1] += 1
    return columns, lengths, flat


def _listed(value: Any) -> list[Any]:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise SeqpaError(f"not a list but {value!r}")
    return value.tolist() if isinstance(value, np.ndarray) else list(value)


def _texts(value: Any) -> list[str]:
    listed = _listed(value)
    for token in listed:
        if not isinstance(token, str):
            raise SeqpaError(f"a token must be text, not {token!r}")
    return [str(token) for token in listed]


def _corpus(
    names: Sequence[str],
    columns: list[list[str]],
    lengths: list[int],
    labels: list[str],
    with_labels: bool,
) -> Corpus:
    pool: dict[str, str] = {}
    shared = [list(map(pool.setdefault, column, column)) for column in columns]
    tags = list(map(pool.setdefault, labels, labels)) if with_labels else None
    return Corpus(tuple(names), shared, np.array(lengths, dtype=np.int64), tags)
