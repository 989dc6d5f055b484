"""The kinds of events, and what they make of a project: labels are a fold of events.

- ``accept``, ``settle``: a sentence has these labels; to settle is to decide between readers.
- ``relabel``: made by a change of labels or a repair, one for each labelling that it changes.
- ``partial``: some tokens of a sentence are confirmed; it is unfinished, or, if the body says
  ``done``, the rest is left to the model.
- ``skip``, ``flag``: the sentence is left, or noted; a flag without a note takes it off.
- ``labels``, ``guidelines``, ``repair``: the label set, the guidelines, many sentences at once.
- ``undo``: one of the events above is not valid any more, nor what it caused.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from seqpa.errors import SeqpaError
from seqpa.teach.labels import LabelSet
from seqpa.teach.store import Event

KINDS = ("accept", "settle", "relabel", "partial", "skip", "flag", "labels", "guidelines", "repair")
# An event that touches more than its own sentence is undone only while it is the last one.
WIDE = ("labels", "guidelines", "repair")


class State:
    """What events have made of a project.

    Parameters
    ----------
    names : iterable of str
        The first labels.
    events : iterable of Event
        In their order.

    Examples
    --------
    >>> one = Event("accept", "ann", 0.0, {}, sentence=4, annotation={"spans": []}, id=1)
    >>> State(["PER"], [one]).current(4)
    {'spans': []}
    >>> State(["PER"], [one, Event("undo", "ann", 1.0, {}, undoes=1, id=2)]).current(4)
    """

    def __init__(self, names: Iterable[str], events: Iterable[Event] = ()) -> None:
        self._names = list(names)
        self.all: list[Event] = []
        self.undone: set[int] = set()
        self._clear()
        events = list(events)
        self.undone = {event.undoes for event in events if event.undoes is not None}
        for event in events:
            self.all.append(event)
            self._apply(event)

    def _clear(self) -> None:
        self.valid: list[Event] = []
        self.labels = LabelSet(self._names)
        self.guidelines = ""
        # By sentence, then by reader: the labelling that is valid, its annotation replaced.
        self.labellings: dict[int, dict[str, Event]] = {}
        self.partial: dict[int, Event] = {}
        self.skipped: dict[int, set[str]] = {}
        self.flags: dict[int, str] = {}
        self.roots: dict[int, Event] = {}
        self._renames: list[tuple[str, str]] = []

    def is_valid(self, event: Event) -> bool:
        """Whether an event counts: neither it nor what it stands on was undone.

        Parameters
        ----------
        event : Event

        Returns
        -------
        bool
        """
        return event.kind != "undo" and not {event.id, event.cause, event.base} & self.undone

    def add(self, event: Event) -> None:
        """Take in the next event.

        Parameters
        ----------
        event : Event
        """
        self.all.append(event)
        if event.undoes is None:
            self._apply(event)
            return
        self.undone.add(event.undoes)
        self._clear()
        for one in self.all:
            self._apply(one)

    def _apply(self, event: Event) -> None:
        if not self.is_valid(event):
            return
        self.valid.append(event)
        if event.annotation is not None and event.sentence is not None:
            if event.base is None:
                self.roots[event.id] = event
            self.labellings.setdefault(event.sentence, {})[self.reader(event)] = event
            self.partial.pop(event.sentence, None)
        elif event.kind == "partial" and event.sentence is not None:
            before = self.partial.get(event.sentence)
            if event.base is None:
                self.roots[event.id] = event
                self.partial[event.sentence] = event
            elif before is not None and event.base in (before.id, before.base):
                self.partial[event.sentence] = event  # only the name of a label is another one
        elif event.kind == "skip" and event.sentence is not None:
            self.skipped.setdefault(event.sentence, set()).add(event.user)
        elif event.kind == "flag" and event.sentence is not None:
            if event.body.get("note") is None:
                self.flags.pop(event.sentence, None)
            else:
                self.flags[event.sentence] = event.body["note"]
        elif event.kind == "labels":
            self.labels.change(event.body)
            if event.body["action"] in ("rename", "merge"):
                now = event.body.get("new") or event.body["into"]
                self._renames.append((event.body["old"], now))
        elif event.kind == "guidelines":
            self.guidelines = event.body["text"]

    def latest(self, sentence: int) -> Event | None:
        """The labelling that counts: the latest of any reader.

        Parameters
        ----------
        sentence : int

        Returns
        -------
        Event or None
        """
        found = self.labellings.get(sentence)
        return max(found.values(), key=lambda event: event.id) if found else None

    def current(self, sentence: int) -> dict[str, Any] | None:
        """The labels that count.

        Parameters
        ----------
        sentence : int

        Returns
        -------
        dict or None
        """
        event = self.latest(sentence)
        return None if event is None else event.annotation

    def called_now(self, annotation: dict[str, Any]) -> dict[str, Any]:
        """Labels that a file had when the project was made, as they are called by now.

        Parameters
        ----------
        annotation : dict

        Returns
        -------
        dict
        """
        for old, new in self._renames:
            annotation = changed(annotation, old, new)
        return annotation

    def is_part(self, sentence: int) -> bool:
        """Whether what was asked for of a sentence is confirmed, and the rest left to the model.

        Parameters
        ----------
        sentence : int

        Returns
        -------
        bool
        """
        event = self.partial.get(sentence)
        return event is not None and bool(event.body.get("done"))

    def reader(self, event: Event) -> str:
        """Whose labels or confirmed tokens an event has: not of those who only changed a name.

        Parameters
        ----------
        event : Event

        Returns
        -------
        str
        """
        root = None if event.base is None else self.roots.get(event.base)
        return event.user if root is None else root.user

    def to_undo(self, user: str) -> Event:
        """What a user's next undo takes back: the latest that is still valid.

        Parameters
        ----------
        user : str

        Returns
        -------
        Event
        """
        own = [e for e in self.valid if e.user == user and e.cause is None]
        if not own:
            raise SeqpaError("there is nothing to undo")
        last = own[-1]
        later = {e.user for e in self.valid if e.id > last.id} - {user}
        if last.kind in WIDE and later:
            raise SeqpaError(
                f"this cannot be undone: {min(later)} has gone on since; change it back instead"
            )
        return last


def changed(annotation: dict[str, Any], old: str, new: str | None) -> dict[str, Any]:
    """An annotation with one label in another's place.

    Parameters
    ----------
    annotation : dict
    old : str
    new : str or None
        None takes the label away.

    Returns
    -------
    dict
        A new one.

    Examples
    --------
    >>> changed({"spans": [[0, 1, "PER"], [2, 4, "LOC"]]}, "LOC", "GPE")
    {'spans': [[0, 1, 'PER'], [2, 4, 'GPE']]}
    >>> changed({"labels": ["DET", "NOUN"]}, "DET", None)
    {'labels': [None, 'NOUN']}
    """
    if "labels" in annotation:
        return {"labels": [new if label == old else label for label in annotation["labels"]]}
    spans = [[s, e, new if label == old else label] for s, e, label in annotation["spans"]]
    return {"spans": [span for span in spans if span[2] is not None]}


def names(annotation: dict[str, Any]) -> set[str]:
    """The labels that an annotation has.

    Parameters
    ----------
    annotation : dict

    Returns
    -------
    set of str

    Examples
    --------
    >>> sorted(names({"spans": [[0, 1, "PER"], [2, 3, "LOC"]]}))
    ['LOC', 'PER']
    """
    if "spans" in annotation:
        return {label for _, _, label in annotation["spans"]}
    return {label for label in annotation["labels"] if label is not None}


def checked(
    annotation: Any, kind: str, n: int, labels: LabelSet, whole: bool = True
) -> dict[str, Any]:
    """An annotation that came from outside, in order and without doubt.

    Parameters
    ----------
    annotation : dict
        As the page sends it.
    kind : "spans" or "tokens"
    n : int
        The number of tokens.
    labels : LabelSet
    whole : bool
        Whether at least one token must have a label (kind "tokens").

    Returns
    -------
    dict
        Spans sorted.

    Examples
    --------
    >>> checked({"spans": [[2, 3, "LOC"], [0, 1, "LOC"]]}, "spans", 3, LabelSet(["LOC"]))
    {'spans': [[0, 1, 'LOC'], [2, 3, 'LOC']]}
    >>> checked({"spans": [[0, 2, "LOC"], [1, 3, "LOC"]]}, "spans", 3, LabelSet(["LOC"]))
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: the spans 0-2 and 1-3 overlap: a token can be in one span only
    """
    what = "spans" if kind == "spans" else "labels"
    if not isinstance(annotation, dict) or not isinstance(annotation.get(what), list):
        raise SeqpaError(f'the labels of a sentence must have the form {{"{what}": [...]}}')
    if kind == "tokens":
        found = annotation["labels"]
        if len(found) != n:
            raise SeqpaError(f"there are {len(found)} labels for {n} tokens")
        for name in found:
            if name is not None:
                labels.check(name)
        if whole and n and all(name is None for name in found):
            raise SeqpaError("no token has a label: label one, or skip the sentence")
        return {"labels": list(found)}
    spans = checked_spans(annotation["spans"], n, labels)
    if any(name is None for _, _, name in spans):
        raise SeqpaError("a span has no label")
    return {"spans": spans}


def checked_spans(spans: Any, n: int, labels: LabelSet) -> list[list[Any]]:
    """Spans that came from outside, sorted.

    Parameters
    ----------
    spans : list of [start, end, label or None]
    n : int
        The number of tokens.
    labels : LabelSet

    Returns
    -------
    list of [start, end, label or None]
    """
    found = []
    for span in spans:
        if not isinstance(span, list | tuple) or len(span) != 3:
            raise SeqpaError("a span must have the form [start, end, label]")
        start, end, name = span
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= n:
            raise SeqpaError(f"the span {start}-{end} is outside of {n} tokens")
        if name is not None:
            labels.check(name)
        found.append([start, end, name])
    found.sort(key=lambda span: span[:2])
    for one, two in pairwise(found):
        if two[0] < one[1]:
            raise SeqpaError(
                f"the spans {one[0]}-{one[1]} and {two[0]}-{two[1]} overlap: "
                "a token can be in one span only"
            )
    return found
