"""`flatten`, under sklearn-crfsuite's name."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TypeVar

_Item = TypeVar("_Item")


def flatten(y: Iterable[Iterable[_Item]]) -> list[_Item]:
    """All items of some lists in one.

    Parameters
    ----------
    y : iterable of iterables
        The lists.

    Returns
    -------
    list
        Their items, one list's behind the other's.

    Examples
    --------
    >>> flatten([["a", "b"], [], ["c"]])
    ['a', 'b', 'c']
    """
    return list(chain.from_iterable(y))
