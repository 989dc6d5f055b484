"""`Ledger`: how every change is made, and how a request that comes twice is made once.

An event is appended to the file, folded into the state, learned: in this order, so that whatever
is lost after the first step is made again from the file.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from seqpa.errors import SeqpaError
from seqpa.teach.events import State, changed
from seqpa.teach.learning import Learned, is_lesson, lessons
from seqpa.teach.model import Taught
from seqpa.teach.store import Event, Store
from seqpa.teach.team import Team

_ANSWERS = 512  # so many answers are remembered, for requests that are sent again

Annotation = dict[str, Any]
Answer = dict[str, Any]


class Collision(SeqpaError):
    """What was asked collides with what somebody else has done meanwhile."""


class Ledger:
    """Makes changes, one at a time.

    Parameters
    ----------
    store : Store
    state : State
        What its events have made of the project.
    learned : Learned
        What they have taught.
    """

    def __init__(self, store: Store, state: State, learned: Learned) -> None:
        self._store = store
        self._state = state
        self._learned = learned
        self._answers: OrderedDict[tuple[str, str], Answer] = OrderedDict()

    # Requests

    def answer(self, user: str, request: str) -> Answer | None:
        """How a request was answered, if it came before and is remembered.

        Parameters
        ----------
        user, request : str

        Returns
        -------
        dict or None
        """
        return self._answers.get((user, request))

    def remember(self, user: str, request: str, answer: Answer) -> Answer:
        """Answer a request so, if it comes again.

        Parameters
        ----------
        user, request : str
        answer : dict

        Returns
        -------
        dict
            The answer.
        """
        self._answers[user, request] = answer
        while len(self._answers) > _ANSWERS:
            self._answers.popitem(last=False)
        return answer

    def repeated(self, user: str, request: str, kind: str) -> Event | None:
        """The event that a request made when it came before.

        Parameters
        ----------
        user, request : str
        kind : str
            What the event must be.

        Returns
        -------
        Event or None
        """
        event = self._store.by_request(request)
        if event is not None and (event.user, event.kind) != (user, kind):
            raise Collision("this request was used before, for something else: make another name")
        return event

    # Changes

    def commit(self, events: Sequence[Event]) -> tuple[Event, Taught | None, set[int]]:
        """Append, fold and learn events.

        Parameters
        ----------
        events : sequence of Event
            The first is the cause of the others.

        Returns
        -------
        event : Event
            The first, with its number.
        taught : Taught or None
            What the model said to the last lesson.
        touched : set of int
            The sentences that are changed.
        """
        clock = self._learned.model.clock
        events = [event._replace(clock=clock) for event in events]
        first = self._store.append(events)
        kept = [
            event._replace(id=first + i, cause=first if i else None)
            for i, event in enumerate(events)
        ]
        for event in kept:
            self._state.add(event)
        taught: Taught | None = None
        undone = kept[0].undoes
        if undone is not None:
            self._learned.follow(lessons(self._state))
            kept += [e for e in self._state.all if undone in (e.id, e.cause, e.base)]
        else:
            changes = {first} if kept[0].kind == "labels" else set()
            for event in kept:
                if is_lesson(event, changes):
                    taught = self._learned.learn(event)
        return kept[0], taught, {e.sentence for e in kept if e.sentence is not None}

    def check_free(
        self, sentence: int, user: str, clock: int | None, team: Team, now: float
    ) -> None:
        """Raise if somebody else has a sentence, or has labelled it since it was shown.

        Parameters
        ----------
        sentence : int
        user : str
        clock : int or None
            The last event that was known when it was shown.
        team : Team
        now : float
        """
        holder = team.holder(sentence, now)
        if holder not in (None, user):
            raise Collision(f"{holder} is at this sentence now: go on with another one")
        latest = self._state.latest(sentence)
        if latest is None:
            return
        reader = self._state.reader(latest)
        if clock is not None and (latest.base or latest.id) > clock:
            who = "you have" if reader == user else f"{reader} has"
            raise Collision(f"{who} labelled this sentence meanwhile: look at it again")
        if latest.kind == "settle" and reader != user:
            raise Collision(f"{reader} has settled this sentence: change it among the differences")

    # What one change makes of many sentences

    def renamed(self, old: str, new: str, user: str, now: float) -> list[Event]:
        """All that has a label, under its new name; also what a later labelling stands before,
        since that may be undone.

        Parameters
        ----------
        old, new : str
            The label.
        user : str
        now : float

        Returns
        -------
        list of Event
        """
        found: dict[int, Event] = {}
        for event in self._state.valid:
            if event.annotation is not None or event.kind == "partial":
                root = event.base or event.id
                found.pop(root, None)
                found[root] = event
        events = []
        moved: set[int | None] = set()
        for root, event in found.items():
            i = event.sentence
            if event.annotation is not None:
                labels = changed(event.annotation, old, new)
                # What stands before a labelling that is written again is written again as well.
                if labels != event.annotation or i in moved:
                    moved.add(i)
                    events.append(Event("relabel", user, now, {}, i, labels, base=root))
                continue
            before = event.body["confirmed"]
            pieces = [[a, b, new if name == old else name] for a, b, name in before]
            if pieces != before:
                body = {**event.body, "confirmed": pieces}
                events.append(Event("partial", user, now, body, i, base=root))
        return events

    def repaired(
        self,
        sentences: Iterable[int],
        change: Callable[[int, Annotation], Annotation],
        user: str,
        now: float,
    ) -> list[Event]:
        """The labels of some sentences as they are to be; those that stay are left out.

        Parameters
        ----------
        sentences : iterable of int
        change : function of int and dict
            What becomes of the labels of a sentence.
        user : str
        now : float

        Returns
        -------
        list of Event
        """
        events = []
        for i in dict.fromkeys(sentences):
            latest = self._state.latest(i)
            if latest is None or latest.annotation is None:
                continue
            labels = change(i, latest.annotation)
            if labels != latest.annotation:
                root = latest.base or latest.id
                events.append(Event("relabel", user, now, {}, i, labels, base=root))
        return events
