"""The label set of a project: names, keys and colours, and how they change.

A change is an event; the set is what all changes make of the first labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from seqpa.colours import PALETTE, colours, kind_of
from seqpa.errors import SeqpaError, did_you_mean

ACTIONS = ("add", "rename", "merge", "recolour", "rekey")
_COLOURS = tuple(colour.name for colour in PALETTE)
# Keys that the page has a use for: they are given to labels only on request.
_TAKEN = frozenset("hjklusfgny?0,./ ")


class Label(NamedTuple):
    """A label: its name, the key that gives it ("" for none), the name of its colour."""

    name: str
    key: str
    colour: str


class LabelSet:
    """The labels as they are now.

    Parameters
    ----------
    names : iterable of str
        The first labels.

    Examples
    --------
    >>> labels = LabelSet(["PER", "LOC"])
    >>> labels.change({"action": "rename", "old": "LOC", "new": "PLACE"})
    >>> [(label.name, label.key) for label in labels]
    [('PER', 'p'), ('PLACE', 'o')]
    >>> labels.change({"action": "add", "name": "PER"})
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: there is a label 'PER' already
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._labels: list[Label] = []
        for name in names:
            self.change({"action": "add", "name": name})

    def __iter__(self) -> Any:
        """The labels, in the order in which they came."""
        return iter(self._labels)

    @property
    def names(self) -> list[str]:
        """The names, in the order in which they came."""
        return [label.name for label in self._labels]

    def change(self, change: dict[str, Any]) -> None:
        """Change the set, or leave it as it is and raise.

        Parameters
        ----------
        change : dict
            `action`, and what it needs: add (name, key, colour), rename (old, new),
            merge (old, into), recolour (name, colour), rekey (name, key).
        """
        action = change.get("action")
        if action == "add":
            name = self._new(change.get("name"))
            key = self._key(change.get("key") or "") or self._free_key(name)
            colour = change.get("colour")
            found = self._colour(colour) if colour else self._free_colour(name)
            self._labels.append(Label(name, key, found))
        elif action == "rename":
            at = self._at(change.get("old"))
            self._labels[at] = self._labels[at]._replace(name=self._new(change.get("new")))
        elif action == "merge":
            at, into = self._at(change.get("old")), self._at(change.get("into"))
            if at == into:
                raise SeqpaError(f"the label {change['old']!r} cannot be merged into itself")
            del self._labels[at]
        elif action == "recolour":
            at, colour = self._at(change.get("name")), self._colour(change.get("colour"))
            self._labels[at] = self._labels[at]._replace(colour=colour)
        elif action == "rekey":
            at, key = self._at(change.get("name")), self._key(change.get("key"))
            self._labels[at] = self._labels[at]._replace(key=key)
        else:
            raise SeqpaError(f"action is {action!r}: choose one of {', '.join(ACTIONS)}")

    def check(self, name: Any) -> None:
        """Raise unless there is such a label.

        Parameters
        ----------
        name : str
        """
        self._at(name)

    def _at(self, name: Any) -> int:
        if name not in self.names:
            raise SeqpaError(f"there is no label {name!r}{did_you_mean(str(name), self.names)}")
        return self.names.index(name)

    def _new(self, name: Any) -> str:
        if not isinstance(name, str) or not name.isprintable() or not name == name.strip() != "":
            raise SeqpaError(f"{name!r} is no name for a label: give a word")
        if name in self.names:
            raise SeqpaError(f"there is a label {name!r} already")
        return name

    def _key(self, key: Any) -> str:
        if not isinstance(key, str) or len(key) > 1 or key in _TAKEN:
            raise SeqpaError(f"{key!r} is no key for a label: give one other character")
        if key and key in {label.key for label in self._labels}:
            raise SeqpaError(f"the key {key!r} has a label already")
        return key

    def _colour(self, colour: Any) -> str:
        if colour not in _COLOURS:
            raise SeqpaError(f"colour is {colour!r}: choose one of {', '.join(_COLOURS)}")
        return str(colour)

    def _free_colour(self, name: str) -> str:
        """The name's own colour, or where labels have it already, the next that fewest have."""
        own = colours([name]).get(kind_of(name))
        first = 0 if own is None else _COLOURS.index(own.name)
        used = [label.colour for label in self._labels]
        return min([*_COLOURS[first:], *_COLOURS[:first]], key=used.count)

    def _free_key(self, name: str) -> str:
        used = {label.key for label in self._labels} | _TAKEN
        wanted = [c for c in name.lower() if c.isascii() and c.isalnum()]
        return next((c for c in [*wanted, *"123456789abcdeimnopqrtvwxyz"] if c not in used), "")
