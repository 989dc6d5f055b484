"""`Learned`: the model that events make, and how it follows them forwards and back.

Which events teach, and in which order, is a function of the events alone: `lessons`. So the model
is never kept for its own sake. After an undo it is made again, from the latest snapshot before what
was undone; a snapshot only saves time, and says by a digest which lessons are in it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from seqpa import __version__
from seqpa.errors import SeqpaError
from seqpa.teach.events import State
from seqpa.teach.model import Taught, TaughtModel
from seqpa.teach.store import Event, Sentence, Store

_SNAPSHOT = "model"  # what the snapshot is called in the project file
_DIGEST = 32
_BETWEEN = 24  # lessons between two snapshots in memory, which idle moments are for
_MOST_BETWEEN = 96  # so many where there are no idle moments
_KEPT = 64  # lessons after which the snapshot in the file is worth a new one
_NEAR = 8  # so many snapshots are kept as they are, of older ones only some

Cells = Callable[[Sentence], Any]


class _Snapshot(NamedTuple):
    lessons: int
    data: bytes


def lessons(state: State) -> list[Event]:
    """The events that change a model, in their order: labels, and what sets them.

    Labellings that a change of labels made are left out: the model changes its labels itself.

    Parameters
    ----------
    state : State

    Returns
    -------
    list of Event

    Examples
    --------
    >>> one = Event("accept", "ann", 0.0, {}, sentence=0, annotation={"spans": []}, id=1)
    >>> two = Event("labels", "ann", 0.0, {"action": "rekey", "name": "PER", "key": "x"}, id=2)
    >>> [event.id for event in lessons(State(["PER"], [one, two]))]
    [1]
    """
    changes = {event.id for event in state.valid if event.kind == "labels"}
    return [event for event in state.valid if is_lesson(event, changes)]


def is_lesson(event: Event, changes: set[int]) -> bool:
    """Whether an event changes a model.

    Parameters
    ----------
    event : Event
        One that is valid.
    changes : set of int
        The numbers of the events that change labels.

    Returns
    -------
    bool
    """
    if event.kind == "labels":
        return event.body["action"] in ("add", "rename", "merge")
    if event.cause in changes:
        return False
    if event.annotation is not None:
        labels = event.annotation.get("labels")
        return labels is None or any(label is not None for label in labels)
    return event.kind == "partial" and bool(event.body["confirmed"])


class Learned:
    """A model, and which lessons are in it.

    `model` may be asked by any thread that holds `lock`; only one thread at a time may call the
    methods.

    Parameters
    ----------
    sentences : sequence of Sentence
    make : function
        Makes the model that has had no lesson.
    cells : function of Sentence
        The further cells of its tokens that the model looks at, or None.
    """

    def __init__(
        self, sentences: Sequence[Sentence], make: Callable[[], TaughtModel], cells: Cells
    ) -> None:
        self.lock = threading.Lock()
        self.model = make()
        self._sentences = sentences
        self._cells = cells
        self._in: list[int] = []
        self._snapshots = [_Snapshot(0, self.model.snapshot())]
        self._kept = 0

    def __len__(self) -> int:
        """How many lessons are in the model."""
        return len(self._in)

    # Forwards

    def learn(self, event: Event) -> Taught | None:
        """Learn from the next event.

        Parameters
        ----------
        event : Event
            One that `is_lesson`.

        Returns
        -------
        Taught or None
            None for a change of labels, and where the kind of labels leaves nothing to learn.
        """
        with self.lock:
            taught = self._taught(self.model, event)
        self._in.append(event.id)
        if len(self._in) - self._snapshots[-1].lessons >= _MOST_BETWEEN:
            self.rest()
        return taught

    def _taught(self, model: TaughtModel, event: Event) -> Taught | None:
        body = event.body
        if event.kind == "labels":
            if body["action"] == "add":
                if body["name"] not in model.labels:
                    model.add_label(body["name"])
            elif body["action"] == "rename":
                model.rename_label(body["old"], body["new"])
            else:
                model.merge_labels(body["old"], body["into"])
            return None
        assert event.sentence is not None
        sentence = self._sentences[event.sentence]
        confirmed = body.get("confirmed") if event.annotation is None else None
        if model.kind == "tokens" and confirmed is not None:
            confirmed = [one for one in confirmed if one[2] is not None]
            if not confirmed:
                return None
        return model.learn(sentence.tokens, event.annotation, confirmed, self._cells(sentence))

    # Back

    def follow(
        self, events: Sequence[Event], on_lesson: Callable[[int, int], None] = lambda at, of: None
    ) -> None:
        """Let exactly these lessons be in the model; proposals meanwhile come from the old one.

        Parameters
        ----------
        events : sequence of Event
            As `lessons` gives them.
        on_lesson : function of two int
            Told how many of them are in, and how many there are.
        """
        wanted = [event.id for event in events]
        same = _shared(self._in, wanted)
        model = self.model
        at = len(self._in)
        if same < at:
            self._snapshots = [one for one in self._snapshots if one.lessons <= same]
            at, data = self._snapshots[-1]
            model = TaughtModel.restore(data)
        elif at < len(wanted):
            model = TaughtModel.restore(self.model.snapshot())
        for event in events[at:]:
            self._taught(model, event)
            at += 1
            on_lesson(at, len(events))
            if at % _BETWEEN == 0 and _will_stay((len(events) - at) // _BETWEEN):
                self._remember(at, model.snapshot())
        with self.lock:
            self.model = model
            self._in = wanted

    def rest(self) -> None:
        """Take a snapshot for later undos, if there is not a late one; for an idle moment."""
        if len(self._in) - self._snapshots[-1].lessons >= _BETWEEN:
            at = len(self._in)
            with self.lock:
                data = self.model.snapshot()
            self._remember(at, data)

    def _remember(self, lessons: int, data: bytes) -> None:
        self._snapshots.append(_Snapshot(lessons, data))
        old, near = self._snapshots[:-_NEAR], self._snapshots[-_NEAR:]
        # Of the older ones, fewer the older they are: for each, twice the distance to the next.
        spared: list[_Snapshot] = []
        distance = _BETWEEN
        for one in reversed(old):
            if one.lessons == 0 or not spared or spared[-1].lessons - one.lessons >= distance:
                spared.append(one)
                distance *= 2
        self._snapshots = [*reversed(spared), *near]

    # In the file

    def keep(self, store: Store, always: bool = False) -> None:
        """Keep a snapshot in the project file, if the one there is old.

        Parameters
        ----------
        store : Store
        always : bool
            Also if it is only a little old.
        """
        if len(self._in) == self._kept or (abs(len(self._in) - self._kept) < _KEPT and not always):
            return
        with self.lock:
            data, ids = self.model.snapshot(), list(self._in)
        store.keep(_SNAPSHOT, max(ids, default=0), __version__, _digest(ids) + data)
        self._kept = len(ids)

    def recall(self, store: Store, events: Sequence[Event]) -> None:
        """Take up the snapshot in the project file, if it is of these lessons.

        Parameters
        ----------
        store : Store
        events : sequence of Event
            As `lessons` gives them.
        """
        found = store.kept(_SNAPSHOT)
        if found is None or found[1] != __version__:
            return
        last, _, data = found
        ids = [event.id for event in events if event.id <= last]
        if _digest(ids) != data[:_DIGEST]:
            return  # one of its lessons was undone
        try:
            model = TaughtModel.restore(data[_DIGEST:])
        except SeqpaError:
            return  # damaged: all is learned again
        with self.lock:
            self.model = model
            self._in = ids
        self._kept = len(ids)
        self._remember(len(ids), data[_DIGEST:])


def _will_stay(back: int) -> bool:
    """Whether a snapshot so many steps before the last lesson is worth its time: it would be kept.

    >>> [back for back in range(40) if _will_stay(back)]
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32]
    """
    return back < _NEAR or back & (back - 1) == 0


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many lessons two lists begin with in common."""
    for i, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return i
    return min(len(one), len(other))


def _digest(ids: Iterable[int]) -> bytes:
    return sha256(",".join(map(str, ids)).encode()).digest()
