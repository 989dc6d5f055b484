"""Tagging tables: pandas and Polars frames, Hugging Face's datasets; and label lists as tables.

`seqpa.data.from_table` reads them, one row a token or one row a sentence. These functions go the
other way. Nothing of these packages is imported: a table is changed by its own methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from seqpa.data.frames import from_table
from seqpa.errors import SeqpaError
from seqpa.sequence.tagger import SequenceTagger


def tag_table(
    tagger: SequenceTagger,
    table: Any,
    columns: Sequence[str] | None = None,
    sentence: str | None = None,
    to: str = "predicted",
) -> Any:
    """A table with one more column: the labels that a tagger gives.

    Parameters
    ----------
    tagger : SequenceTagger
        Trained.
    table : DataFrame, Dataset, mapping of columns, or list of dictionaries
        One row a token, in the order of the text, or one row a sentence with lists.
    columns : sequence of str or None, default None
        The columns of words and the like; by default the one that is called word, token, ...
    sentence : str or None, default None
        The column that tells sentences apart, where a row is a token; by default the one that is
        called sentence, sentence_id, ...
    to : str, default "predicted"
        The name of the new column.

    Returns
    -------
    object
        A new table of the same kind.

    Examples
    --------
    >>> tagger = SequenceTagger(["word[0]"]).fit([["so", "it"]], [["A", "P"]])
    >>> tag_table(tagger, {"tokens": [["it", "so"], ["it"]]})["predicted"]
    [['P', 'A'], ['P']]
    """
    corpus = from_table(table, columns=columns, sentence=sentence, with_labels=False)
    found = tagger.predict(corpus)
    flat = list(chain.from_iterable(found))
    rows = len(table) if not isinstance(table, dict) else len(next(iter(table.values()), []))
    column: list[Any]
    if rows == len(found) and rows != len(flat):
        column = list(found)
    elif rows == len(flat):
        column = flat
        if rows == len(found) and _holds_lists(table, corpus):
            column = list(found)
    else:
        raise SeqpaError(
            f"the table has {rows:,} rows, but {len(flat):,} tokens in {len(found):,} sentences"
        )
    return _with_column(table, to, column)


def _holds_lists(table: Any, corpus: Any) -> bool:
    """Whether a cell is a list of tokens, where each sentence has one."""
    first = table[0] if isinstance(table, list) else None
    if isinstance(table, dict):
        cells = [column[0] for column in table.values() if len(column)]
    elif first is not None:
        cells = list(first.values())
    else:
        names = getattr(table, "column_names", None) or list(table.columns)
        cells = [next(iter(table[name])) for name in names]
    return any(hasattr(cell, "__len__") and not isinstance(cell, str) for cell in cells)


def _with_column(table: Any, name: str, column: list[Any]) -> Any:
    if isinstance(table, list):
        return [{**row, name: cell} for row, cell in zip(table, column, strict=True)]
    if isinstance(table, dict):
        return {**table, name: column}
    if hasattr(table, "assign"):  # pandas
        return table.assign(**{name: column})
    if hasattr(table, "add_column"):  # Hugging Face
        return table.add_column(name, column)
    if hasattr(table, "with_columns"):  # Polars, whose Series takes a name and values
        return table.with_columns(type(table[table.columns[0]])(name, column))
    raise SeqpaError(
        f"a column cannot be added to a {type(table).__name__}: give a DataFrame, a Dataset, a "
        "mapping of columns or a list of dictionaries"
    )


def to_tokens(X: Any, y: Any, columns: Sequence[str] = ("word",)) -> dict[str, list[Any]]:
    """Sentences and labels as columns, one row a token: ``pandas.DataFrame(to_tokens(X, y))``.

    Parameters
    ----------
    X : list of sentences
        Lists of words, or of tuples of columns.
    y : list of lists of str
        Their labels.
    columns : sequence of str, default ("word",)
        The names of what a token has.

    Returns
    -------
    dict of lists
        sentence (from 0 on), the columns, label.

    Examples
    --------
    >>> to_tokens([["so", "it"], ["it"]], [["A", "P"], ["P"]])
    {'sentence': [0, 0, 1], 'word': ['so', 'it', 'it'], 'label': ['A', 'P', 'P']}
    """
    table: dict[str, list[Any]] = {"sentence": [], **{name: [] for name in columns}, "label": []}
    for number, (tokens, labels) in enumerate(zip(X, y, strict=True)):
        for token, label in zip(tokens, labels, strict=True):
            cells = (token,) if isinstance(token, str) else token
            for name, cell in zip(columns, cells, strict=True):
                table[name].append(cell)
            table["sentence"].append(number)
            table["label"].append(label)
    return table


def to_sentences(
    X: Any, y: Any, columns: Sequence[str] = ("tokens",), label: str = "tags"
) -> dict[str, list[list[Any]]]:
    """The same, one row a sentence: ``datasets.Dataset.from_dict(to_sentences(X, y))``.

    Parameters
    ----------
    X : list of sentences
        Lists of words, or of tuples of columns.
    y : list of lists of str
        Their labels.
    columns : sequence of str, default ("tokens",)
        The names of what a token has.
    label : str, default "tags"
        The name of the labels.

    Returns
    -------
    dict of lists of lists
        The columns, and the labels.

    Examples
    --------
    >>> to_sentences([["so", "it"], ["it"]], [["A", "P"], ["P"]])
    {'tokens': [['so', 'it'], ['it']], 'tags': [['A', 'P'], ['P']]}
    """
    rows = [[(token,) if isinstance(token, str) else token for token in tokens] for tokens in X]
    table: dict[str, list[list[Any]]] = {
        name: [[token[place] for token in tokens] for tokens in rows]
        for place, name in enumerate(columns)
    }
    return {**table, label: [list(labels) for labels in y]}
