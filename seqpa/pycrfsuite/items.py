"""The items of a sequence, as python-crfsuite takes them, and as seqpa's encoder does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from seqpa.sequence.dicts import features_of

_READY = {dict, list}


class ItemSequence:
    """The features of each item of one sequence, worked out.

    Parameters
    ----------
    pyseq : iterable
        For each item a dict or a collection of strings: ``{"word": "dog"}``, ``{"length": 2.5}``,
        ``{"first": True}``, dicts and lists inside, ``["word:dog", "first"]``.

    Examples
    --------
    >>> sequence = ItemSequence([["foo"], {"bar": {"baz": 1}}])
    >>> sequence
    <ItemSequence of size 2>
    >>> sequence.items()
    [{'foo': 1.0}, {'bar:baz': 1.0}]
    """

    def __init__(self, pyseq: Iterable[Any]) -> None:
        if isinstance(pyseq, ItemSequence):
            pyseq = pyseq.items()
        self._items = [dict(features_of(item)) for item in as_items(pyseq)]

    def items(self) -> list[dict[str, float]]:
        """The features of each item with their values.

        Returns
        -------
        list of dict
            Feature -> value.
        """
        return [dict(item) for item in self._items]

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"<ItemSequence of size {len(self)}>"


def as_items(xseq: Any) -> list[Any]:
    """A sequence as a list of dicts and lists, which seqpa's encoder reads fastest.

    Parameters
    ----------
    xseq : ItemSequence or iterable
        Any that python-crfsuite takes.

    Returns
    -------
    list
        The items; those that already are dicts or lists as they are.

    Examples
    --------
    >>> as_items(({"a": 1}.keys(), ("b", "c"), {"d": 2.0}))
    [['a'], ['b', 'c'], {'d': 2.0}]
    """
    if isinstance(xseq, ItemSequence):
        return xseq.items()
    items = xseq if type(xseq) is list else list(xseq)
    if _READY.issuperset(map(type, items)):
        return items
    return [_as_item(item) for item in items]


def _as_item(item: Any) -> Any:
    if isinstance(item, Mapping):
        return item if isinstance(item, dict) else dict(item)
    if isinstance(item, (set, frozenset)):
        return sorted(item)  # its own order changes from run to run
    if isinstance(item, (str, bytes)) or not isinstance(item, Iterable):
        return item  # which the encoder refuses, in words
    return list(item)
