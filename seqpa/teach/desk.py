"""`Desk`: which sentence goes to whom, and why that one.

First come sentences that the user has left unfinished, then those that a second reader is wanted
for; now and then one that is labelled, but older than a label that may be in it, or one of which
words were left to the model that it has grown unsure of; else what the queue has. A sentence that
is lent to a page goes to no other, not even of the same user.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from seqpa.teach.events import State
from seqpa.teach.learning import Learned
from seqpa.teach.model import UNSURE
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
    confirm : "all" or "unsure"
        Whether sentences are to be labelled whole, or unsure words of them alone.
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
        confirm: str = "all",
    ) -> None:
        self._sentences = sentences
        self._state = state
        self._learned = learned
        self._team = team
        self._cells = cells
        self._seed = seed
        self._why: dict[tuple[int, str], str] = {}
        self._lent: set[int] = set()
        self._loans: dict[int, int] = {}
        self._loan = 0
        self._handed = 0
        self.again: set[int] = set()
        self._passed: set[tuple[int, str]] = set()  # who has skipped which of these
        self._suspects: dict[int, float] = {}
        self.confirm = confirm
        self.parts: set[int] = set()  # sentences whose other words are left to the model
        self._grown: dict[int, float] = {}  # those of them that it is unsure of now, and how sure
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
        self.follow([*self._state.labellings, *self._state.skipped, *self._state.partial])

    def is_whole(self, sentence: int, why: str) -> bool:
        """Whether a sentence is to be labelled whole.

        Those that come by chance are, in any case, since by them the model is measured; and those
        of a model that has learned nothing, and those that were labelled or opened by somebody.

        Parameters
        ----------
        sentence : int
        why : str

        Returns
        -------
        bool
        """
        if self.confirm == "all" or sentence in self._state.labellings:
            return True
        return why in ("random", "second", "asked") or not self._learned.model.knows

    def follow(self, sentences: Iterable[int]) -> None:
        """Take in that events have changed these sentences.

        Parameters
        ----------
        sentences : iterable of int
        """
        state = self._state
        asked = self.confirm == "unsure"
        for i in sentences:
            if i in state.labellings or self._is_left(i) or (asked and state.is_part(i)):
                self.queue.done(i)
            else:
                self.queue.put_back(i)
        added = [e.id for e in state.valid if e.kind == "labels" and e.body["action"] == "add"]
        newest = max(added, default=0)
        self.again = set()
        if newest:
            self.again = {i for i in state.labellings if _looked_at(state, i) < newest}
        skips = [e for e in state.valid if e.kind == "skip" and e.id > newest] if newest else []
        self._passed = {(e.sentence, e.user) for e in skips if e.sentence is not None}
        self._suspects = {i: p for i, p in self._suspects.items() if i in self.again}
        # Where sentences are labelled whole, these are in the queue with all others.
        self.parts = {i for i in state.partial if state.is_part(i)} if asked else set()
        for i in sentences:
            self._grown.pop(i, None)

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
        own = self._team.lend(sentence, user, now)
        self._lent.add(sentence)
        self._why[sentence, user] = why
        if own:  # the loan of another user who has it goes on
            self._loan += 1
            self._loans[sentence] = self._loan

    def loan(self, sentence: int) -> int:
        """The number of the loan by which a sentence was last lent.

        Parameters
        ----------
        sentence : int

        Returns
        -------
        int
            0 where it never was.
        """
        return self._loans.get(sentence, 0)

    def release(self, sentence: int, user: str, loan: int | None = None) -> None:
        """Give it back as it is; a page that is loaded again does so too, and asks for it again.

        Parameters
        ----------
        sentence : int
        user : str
        loan : int or None
            By which loan the user had it: what a page says as it goes may come after the page that
            takes its place has asked, and does not end that one's loan. None ends any.
        """
        if loan is None or loan == self._loans.get(sentence):
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
        self._grown.pop(sentence, None)

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
            or self._once_more(user, self._suspected() if self._handed % _AGAIN_EVERY == 0 else ())
            or self._grown_unsure(user, self._handed % _AGAIN_EVERY == 1)
            or self._from_queue(user)
            or self._once_more(user, sorted(self.again))
            or self._grown_unsure(user, True)
        )
        if choice is not None:
            self.lend(choice.index, user, choice.why, now)
        return choice

    def _unfinished(self, user: str) -> Choice | None:
        for i, event in self._state.partial.items():
            own = self._state.reader(event) == user and event.body["confirmed"]
            if (
                own
                and not event.body.get("done")
                and i not in self._lent
                and not self._skipped(i, user)
            ):
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

    def _once_more(self, user: str, among: Iterable[int]) -> Choice | None:
        for i in among:
            if i not in self._lent and (i, user) not in self._passed:
                return Choice(i, "again")
        return None

    def _grown_unsure(self, user: str, now: bool) -> Choice | None:
        """The sentence that it is least sure of, of those whose words were left to it."""
        known = {i: sure for i, sure in list(self._grown.items()) if i in self.parts} if now else {}
        for i in sorted(known, key=lambda i: (known[i], i)):
            if i in self._lent or self._skipped(i, user):
                continue
            self._look_at_part(i)  # it may have learned since
            if i in self._grown:
                return Choice(i, "grown")
        return None

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
        at -= len(again)
        parts = sorted(self.parts)
        if at < len(parts):
            piece = parts[at : at + _PIECE]
            for i in piece:
                self._look_at_part(i)
            return len(piece)
        if at - len(parts) >= len(self.queue):
            return 0
        with self._learned.lock:
            return self.queue.refresh(self._learned.model, 0.0)

    def _look_at_part(self, sentence: int) -> None:
        """Whether the model has grown unsure of a word that was left to it."""
        event = self._state.partial.get(sentence)
        if event is None:
            return
        one = self._sentences[sentence]
        pieces = event.body["confirmed"]
        with self._learned.lock:
            told = self._learned.model.propose(one.tokens, pieces, self._cells(one))
        for start, end, _ in pieces:
            told.sure[start:end] = [1.0] * (end - start)
        sure = min(told.sure, default=1.0)
        if sure < UNSURE:
            self._grown[sentence] = sure
        else:
            self._grown.pop(sentence, None)


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
