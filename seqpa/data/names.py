"""What columns are called in the data of the world: which is the word, the label, the sentence."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from seqpa.data.columns import IGNORED, Columns
from seqpa.errors import SeqpaError, did_you_mean

WORDS = ("word", "words", "token", "tokens", "form", "text", "token_text", "surface")
LABELS = (
    *("label", "labels", "ner_tags", "ner_tag", "ner", "tag", "tags", "entity", "entities", "iob"),
    *("named_entity", "ne", "chunk_tags", "chunk", "pos_tags", "pos_tag", "pos", "upos", "xpos"),
)
SENTENCES = (
    *("sentence #", "sentence", "sentence_id", "sentence_number", "sent_id", "sent", "sentid"),
    *("sentence id", "sentence_idx", "sent_number", "s_id"),
)


def find_column(header: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where the first of some names stands in a header; upper and lower case are alike.

    Parameters
    ----------
    header : sequence of str
        The names of the columns.
    wanted : sequence of str
        Names in lower case, the likeliest first.

    Returns
    -------
    int or None

    Examples
    --------
    >>> find_column(["Sentence #", "Word", "Tag"], LABELS)
    2
    """
    low = [name.strip().lower() for name in header]
    return next((low.index(name) for name in wanted if name in low), None)


def choose_columns(
    header: Sequence[str], columns: Sequence[str] | None, label: str | None, need_label: bool
) -> tuple[list[tuple[str, int]], int | None]:
    """Which columns of a table with names are input, and which is the label.

    Parameters
    ----------
    header : sequence of str
        The names of the table's columns.
    columns : sequence of str or None
        The names to read, the label's among them or not; ``_`` is ignored. ``word`` and ``label``
        are found under their usual other names. None reads the word.
    label : str or None
        The label's name.
    need_label : bool
        Whether the label must be there.

    Returns
    -------
    inputs : list of (name, place)
    label : int or None
        The label's place.

    Examples
    --------
    >>> choose_columns(["id", "Token", "POS", "Tag"], ["word", "POS"], None, True)
    ([('word', 1), ('POS', 2)], 3)
    """
    plan = Columns.checked(("word",) if columns is None else columns, label or "label", False)
    given = [name for name in plan.all if name != IGNORED]
    at = None
    if label not in (None, "label"):
        at = find_column(header, (label.lower(),)) if label else None
    else:
        named = [name for name in LABELS if name not in {n.lower() for n in given} - {"label"}]
        at = find_column(header, named)
    if at is None and need_label:
        told = f"no column {label!r}" if label else "no column that is called like a label"
        raise SeqpaError(
            f"{told} among {', '.join(header)}; name it: label"
            + did_you_mean(label or "label", header, listed=False)
        )
    inputs = []
    for name in given:
        if name == (label or "label"):
            continue
        place = find_column(header, (name.lower(), *(WORDS if name == "word" else ())))
        if place is None:
            raise SeqpaError(
                f"no column {name!r} among {', '.join(header)}; name those to read: columns"
                + did_you_mean(name, header, listed=False)
            )
        inputs.append((name, place))
    return inputs, at


def label_texts(values: Sequence[Any], names: Sequence[str] | None) -> list[str]:
    """Labels as text: strings as they are, enums by their value or name, numbers by `names`.

    Parameters
    ----------
    values : sequence
        The labels of one sentence.
    names : sequence of str or None
        What the numbers mean, as in Hugging Face's ClassLabel; without it a number is its digits.

    Returns
    -------
    list of str

    Examples
    --------
    >>> label_texts([0, 2], ["O", "B-PER", "I-PER"]), label_texts(["O"], None)
    (['O', 'I-PER'], ['O'])
    """
    return [_label_text(value, names, position) for position, value in enumerate(values, 1)]


def _label_text(value: Any, names: Sequence[str] | None, position: int) -> str:
    if isinstance(value, Enum):
        value = value.value if isinstance(value.value, str) else value.name
    if isinstance(value, str):
        if not value:
            raise SeqpaError(f"token {position} has no label: it is empty")
        return str(value)
    try:
        number = value.__index__()
    except (AttributeError, TypeError):
        raise SeqpaError(
            f"token {position} has no label but {value!r}; a label is text or a number"
        ) from None
    if isinstance(value, bool) or names is None:
        return str(value)
    if not 0 <= number < len(names):
        raise SeqpaError(
            f"token {position} has the label {number}, but names has {len(names)}, from 0 to "
            f"{len(names) - 1}"
        )
    return str(names[number])
