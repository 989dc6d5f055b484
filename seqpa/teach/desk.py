"""`Desk`: which sentence goes to whom, and why that one.

First come sentences that the user has left unfinished, then those that a second reader is wanted
for; now and then one that is labelled, but older than a label that may be in it; else what the
queue has. A sentence that is lent to a page goes to no other, not even of the same user.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seqpa.teach.events import State
from seqpa.teach.learning import Learned
from seqpa.teach.project import FILE, Cells
from seqpa.teach.queue import Choice, Queue
from seqpa.teach.store import Event, Sentence
from seqpa.teach.team import Team

_AGAIN_EVERY = 3  # among so many sentences one is offered again, where a label is new
# So probable a newer label must be at some word of a labelled sentence. It need not be the
# likeliest: the model has once learned that the word had none.
_SUSPECT = 0.2
_PIECE = 64  # sentences that are looked at together


class Desk:
    """Hands out sentences.

    One thread at a time may call it, but for `look`.

    Parameters
    ----------
    sentences : sequence of Sentence
    state : State
        What the events have made of the project; it is followed.
    learned : Learned
        The model.
    team : Team
    cells : function of Sentence
        The further cells of tokens that the model looks at.
    strategy : str
    seed : int
    """

    def __init__(
        self,
        sentences: Sequence[Sentence],
        state: State,
        learned: Learned,
        team: Team,
        cells: Cells,
        strategy: str,
        seed: int,
    ) -> None:
        self._sentences = sentences
        self._state = state
        self._learned = learned
        self._team = team
        self._cells = cells
        self._seed = seed
        self._why: dict[tuple[int, str], str] = {}
        self._lent: set[int] = set()
        self._handed = 0
        self.again: set[int] = set()
        self._suspects: dict[int, float] = {}
        self.queue = self.make_queue(strategy)
        self.take(self.queue)

    # The queue

    def make_queue(self, strategy: str) -> Queue:
        """A queue by another strategy; it may take some seconds, for which nobody need wait.

        Parameters
        ----------
        strategy : str

        Returns
        -------
        Queue
        """
        # Another random order each time that a project is opened.
        seed = self._seed * 1_000_003 + len(self._state.all)
        columns = None
        if self._sentences and self._cells(self._sentences[0]) is not None:
            columns = [self._cells(one) for one in self._sentences]
        return Queue([one.tokens for one in self._sentences], seed, strategy, columns=columns)

    def take(self, queue: Queue) -> None:
        """Use a queue from now on.

        Parameters
        ----------
        queue : Queue
        """
        self.queue = queue
        self.follow([*self._state.labellings, *self._state.skipped])

    def follow(self, sentences: Iterable[int]) -> None:
        """Take in that events have changed these sentences.

        Parameters
        ----------
        sentences : iterable of int
        """
        state = self._state
        for i in sentences:
            if i in state.labellings or self._is_left(i):
                self.queue.done(i)
            else:
                self.queue.put_back(i)
        added = [e.id for e in state.valid if e.kind == "labels" and e.body["action"] == "add"]
        newest = max(added, default=0)
        self.again = set()
        if newest:
            self.again = {i for i in state.labellings if _looked_at(state, i) < newest}
        self._suspects = {i: p for i, p in self._suspects.items() if i in self.again}

    def _is_left(self, sentence: int) -> bool:
        """Whether everybody who could label it has skipped it."""
        skipped = self._state.skipped.get(sentence)
        return skipped is not None and skipped.issuperset(self._team.names)

    # Lending

    def lend(self, sentence: int, user: str, why: str, now: float) -> None:
        """Let a user have a sentence for some minutes.

        Parameters
        ----------
        sentence : int
        user, why : str
        now : float
        """
        self._team.lend(sentence, user, now)
        self._lent.add(sentence)
        self._why[sentence, user] = why

    def release(self, sentence: int, user: str) -> None:
        """Give it back as it is; a page that is loaded again does so too, and asks for it again.

        Parameters
        ----------
        sentence : int
        user : str
        """
        self._team.release(sentence, user)

    def finish(self, sentence: int, user: str) -> None:
        """Give it back, with what it was lent for done.

        Parameters
        ----------
        sentence : int
        user : str
        """
        self._team.release(sentence, user)
        self._why.pop((sentence, user), None)

    def why(self, sentence: int, user: str) -> str:
        """Why a user has a sentence.

        Parameters
        ----------
        sentence : int
        user : str

        Returns
        -------
        str
            "asked" where it was not handed out.
        """
        return self._why.get((sentence, user), "asked")

    def next(self, user: str, now: float) -> Choice | None:
        """Choose the next sentence for a user, and lend it.

        Parameters
        ----------
        user : str
        now : float

        Returns
        -------
        Choice or None
            None where nothing is left.
        """
        self._lent = {i for i in self._lent if self._team.holder(i, now) is not None}
        self._handed += 1
        choice = (
            self._unfinished(user)
            or self._second(user, now)
            or self._once_more(self._suspected() if self._handed % _AGAIN_EVERY == 0 else ())
            or self._from_queue(user)
            or self._once_more(sorted(self.again))
        )
        if choice is not None:
            self.lend(choice.index, user, choice.why, now)
        return choice

    def _unfinished(self, user: str) -> Choice | None:
        for i, event in self._state.partial.items():
            own = self._state.reader(event) == user and event.body["confirmed"]
            if own and i not in self._lent and not self._skipped(i, user):
                return Choice(i, "unfinished")
        return None

    def _second(self, user: str, now: float) -> Choice | None:
        if len(self._team.names) < 2:
            return None
        for i in self._team.to_second(self._state, user, now):
            latest = self._state.latest(i)
            own = latest is None or latest.kind == "settle" or self._state.reader(latest) == FILE
            if i not in self._lent and not own:
                return Choice(i, "second")
        return None

    def _suspected(self) -> list[int]:
        """The sentences in which a newer label may be, most probable first."""
        known = self._suspects
        return sorted(known, key=lambda i: (-known[i], i))

    def _once_more(self, among: Iterable[int]) -> Choice | None:
        return next((Choice(i, "again") for i in among if i not in self._lent), None)

    def _from_queue(self, user: str) -> Choice | None:
        taken = set(self._lent)
        taken.update(i for i in self._state.skipped if self._skipped(i, user))
        with self._learned.lock:
            return self.queue.next(self._learned.model, taken)

    def _skipped(self, sentence: int, user: str) -> bool:
        return user in self._state.skipped.get(sentence, ())

    # In idle moments

    def look(self, at: int) -> int:
        """Look at a piece of the queue, or of what is offered again, with the model as it is.

        Parameters
        ----------
        at : int
            How many were looked at since the model last learned.

        Returns
        -------
        int
            How many now; 0 where all were.
        """
        again = sorted(self.again)
        if at < len(again):
            piece = again[at : at + _PIECE]
            new = {i: _newer_labels(self._state, i) for i in piece}
            for i in piece:
                one = self._sentences[i]
                with self._learned.lock:
                    chance = self._learned.model.chance(one.tokens, new[i], self._cells(one))
                found = {k: p for k, p in self._suspects.items() if k != i}
                if chance >= _SUSPECT:
                    found[i] = chance
                self._suspects = found  # at once: others read it
            return len(piece)
        if at >= len(again) + len(self.queue):
            return 0
        with self._learned.lock:
            return self.queue.refresh(self._learned.model, 0.0)


def _looked_at(state: State, sentence: int) -> int:
    """The number of the event by which somebody last looked at a sentence and labelled it."""
    event = state.latest(sentence)
    return 0 if event is None else _root(event)


def _root(event: Event) -> int:
    return event.id if event.base is None else event.base


def _newer_labels(state: State, sentence: int) -> set[str]:
    """The labels that came after a sentence was labelled, by their names of now."""
    since = _looked_at(state, sentence)
    found: set[str] = set()
    for event in state.valid:
        if event.kind != "labels":
            continue
        body = event.body
        if body["action"] == "add" and event.id > since:
            found.add(body["name"])
        elif body["action"] in ("rename", "merge") and body["old"] in found:
            found.discard(body["old"])
            found.add(body.get("new") or body["into"])
    return found
