"""`Session`: the project file, what its events make of it, the model and the queue, together.

Every change goes the same way: it is checked, appended to the file, folded into the state, learned.
What was appended is acknowledged; all else can be made again from it. One thread at a time changes
things, any number ask; a proposal waits for one lesson at most, also while an undo is replayed.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from seqpa.errors import SeqpaError, did_you_mean
from seqpa.sequence.select import STRATEGIES
from seqpa.teach.background import Background
from seqpa.teach.desk import Desk
from seqpa.teach.events import State, changed, checked, checked_spans
from seqpa.teach.learning import Learned, lessons
from seqpa.teach.ledger import Answer, Ledger
from seqpa.teach.model import Taught, check_confirm
from seqpa.teach.project import Project
from seqpa.teach.store import Event, Sentence, Store
from seqpa.teach.tasks import Tasks
from seqpa.teach.team import Team
from seqpa.teach.views import Views

_MOST_TEXT = 100_000  # characters of guidelines
_MOST_NOTE = 2_000  # characters of a note


class Session:
    """A project at work: what the page calls, without HTTP.

    Any thread may call it; `views` tells what there is. Every method that changes something takes a
    `request`, a name that the caller makes: the same request again is answered as the first time,
    and changes nothing.

    Parameters
    ----------
    store : Store
        The open project file; `close` closes it.
    strategy : str, optional
        Which sentences come next; as the project says if not given.
    share : float, optional
        The share of sentences that two of a team read; as the project says if not given.
    confirm : "all" or "unsure"
        Whether sentences are to be labelled whole, or unsure words of them alone.
    users : mapping of str to str, or sequence of str
        Those of a team, with the hashes of their tokens; none where one person works alone.
    now : function
        The time, in seconds since 1970.
    on_lesson : function of two int
        Told while lessons are learned again: how many are in, of how many.
    background : bool
        Whether the queue is looked through in a thread of its own.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from seqpa.teach.project import create
    >>> path = Path(tempfile.mkdtemp())
    >>> _ = (path / "a.txt").write_text("Ada saw Rome. Rome fell.")
    >>> session = Session(create(path / "a.seqpa", [path / "a.txt"], labels=["PER", "LOC"]))
    >>> task = session.next("ann", "request 1")["task"]
    >>> answer = session.accept("ann", "request 2", task["sentence"], {"spans": []})
    >>> answer["counts"]["labelled"], session.undo("ann", "request 3")["counts"]["labelled"]
    (1, 0)
    >>> session.close()
    """

    def __init__(
        self,
        store: Store,
        *,
        strategy: str | None = None,
        share: float | None = None,
        confirm: str = "all",
        users: Mapping[str, str] | Sequence[str] = (),
        now: Callable[[], float] = time.time,
        on_lesson: Callable[[int, int], None] = lambda at, of: None,
        background: bool = True,
    ) -> None:
        self.store = store
        self.project = Project(store)
        self.kind = self.project.kind
        self.sentences: list[Sentence] = self.project.sentences
        self.state = State(self.project.labels, store.events())
        self.learned = Learned(self.sentences, self.project.make_model, self.project.cells)
        known = lessons(self.state)
        self.learned.recall(store, known)
        self.learned.follow(known, on_lesson)
        part = self.project.share if share is None else share
        self.team = Team(users, part, self.project.seed)
        self.desk = Desk(
            self.sentences,
            self.state,
            self.learned,
            self.team,
            self.project.cells,
            strategy or self.project.strategy,
            self.project.seed,
            check_confirm(confirm),
        )
        self._now = now
        self._undone: dict[str, int] = {}  # the sentence that each user opened last by an undo
        self._lock = threading.RLock()
        self._tasks = Tasks(self.project, self.state, self.learned)
        self._ledger = Ledger(store, self.state, self.learned)
        self.views = Views(
            store.path.stem,
            self.project,
            self.state,
            self.learned,
            self.desk,
            self.team,
            self._lock,
            now,
        )
        self.background = Background(self.desk.look, self._rest) if background else None

    def close(self) -> None:
        """End the thread, keep a snapshot, close the file."""
        if self.background is not None:
            self.background.close()
        with self._lock:
            try:
                with suppress(SeqpaError):  # a full disk, or closed already: it can be made again
                    self.learned.keep(self.store, always=True)
            finally:
                self.store.close()

    # What is asked

    def propose(self, sentence: int, confirmed: Any, whole: bool = True) -> Answer:
        """The model's labels where some tokens are confirmed; nothing is changed.

        Parameters
        ----------
        sentence : int
        confirmed : list of [start, end, label or None]
        whole : bool
            Whether the sentence is to be labelled whole; otherwise more words are marked.

        Returns
        -------
        dict
        """
        known = self._tasks.sentence(sentence)
        pieces = checked_spans(confirmed, len(known.tokens), self.state.labels)
        return self._tasks.proposed(known, pieces, whole)

    def sentence(self, user: str, number: int) -> Answer:
        """A sentence to look at and to change.

        Parameters
        ----------
        user : str
        number : int

        Returns
        -------
        dict
            The task.
        """
        with self._lock:
            self._tasks.sentence(number)
            # One that was handed out and is opened again, after a reload, came for its old reason.
            why = self.desk.why(number, user)
            if self.team.holder(number, self._now()) in (None, user):
                self.desk.lend(number, user, why, self._now())
            return self._task(number, why)

    # What is done

    def next(self, user: str, request: str) -> Answer:
        """The sentence that comes next, lent to the user.

        Parameters
        ----------
        user, request : str

        Returns
        -------
        dict
        """
        with self._lock:
            if (answer := self._ledger.answer(user, request)) is not None:
                return answer
            answer = {"task": self._next(user), "counts": self.views.counts()}
            return self._ledger.remember(user, request, answer)

    def accept(
        self,
        user: str,
        request: str,
        sentence: int,
        annotation: Any,
        seconds: float | None = None,
        keys: int | None = None,
        proposed: Any = None,
        clock: int | None = None,
    ) -> Answer:
        """A sentence has these labels: keep, learn, and choose the next.

        Parameters
        ----------
        user, request : str
        sentence : int
        annotation : dict
        seconds, keys : optional
            What it took.
        proposed : dict, optional
            What was shown first.
        clock : int, optional
            That of the task; if somebody has labelled it since, this is refused.

        Returns
        -------
        dict
        """

        def make() -> list[Event]:
            known = self._tasks.sentence(sentence)
            now = self._now()
            self._ledger.check_free(sentence, user, clock, self.team, now)
            labels = checked(annotation, self.kind, len(known.tokens), self.state.labels)
            predicted = self._tasks.proposal(known).annotation
            why = self.desk.why(sentence, user)
            if why == "random" and (
                sentence in self.state.partial or sentence in self.state.labellings
            ):
                why = "unfinished"  # the model has learned from it: no measure any more
            shown = self._tasks.shown(proposed, known) or predicted
            body = {"why": why, "proposed": shown, "predicted": predicted}
            return [
                Event("accept", user, now, body, sentence, labels, seconds, keys, request=request)
            ]

        def tell(event: Event | None, taught: Taught | None) -> Answer:
            self.desk.finish(sentence, user)
            return {
                **_number(event),
                "taught": _told(taught),
                "task": self._next(user),
            }

        return self._change(user, request, "accept", make, tell)

    def partial(
        self,
        user: str,
        request: str,
        sentence: int,
        confirmed: Any,
        seconds: float | None = None,
        keys: int | None = None,
        done: bool = False,
        clock: int | None = None,
    ) -> Answer:
        """Some tokens of a sentence that is left are confirmed: keep and learn them.

        Of a sentence that is labelled nothing is kept: its labels count until others are accepted.

        Parameters
        ----------
        user, request : str
        sentence : int
        confirmed : list of [start, end, label or None]
        seconds, keys : optional
            What it took.
        done : bool
            It is not left unfinished: all that was asked for is confirmed, and the rest is left to
            the model. The next sentence is chosen.
        clock : int, optional
            That of the task; if somebody has labelled it since, and it is done, this is refused.

        Returns
        -------
        dict
        """
        known = self._tasks.sentence(sentence)

        def make() -> list[Event]:
            pieces = checked_spans(confirmed, len(known.tokens), self.state.labels)
            now = self._now()
            if done:
                self._ledger.check_free(sentence, user, clock, self.team, now)
            same = pieces == self._tasks.confirmed(sentence)
            same = same and done == self.state.is_part(sentence)
            if same or sentence in self.state.labellings:
                return []
            body: Answer = {"confirmed": pieces}
            if done:
                body |= {"done": True, "why": self.desk.why(sentence, user)}
            else:
                self._ledger.check_free(sentence, user, None, self.team, now)
                self.team.lend(sentence, user, now)
            return [
                Event("partial", user, now, body, sentence, None, seconds, keys, request=request)
            ]

        def tell(event: Event | None, taught: Taught | None) -> Answer:
            if not done:
                told = self._tasks.proposed(known, self._tasks.confirmed(sentence))
                return {**_number(event), **told}
            self.desk.finish(sentence, user)
            return {**_number(event), "taught": _told(taught), "task": self._next(user)}

        return self._change(user, request, "partial", make, tell)

    def skip(self, user: str, request: str, sentence: int) -> Answer:
        """Leave a sentence; it does not come again.

        Parameters
        ----------
        user, request : str
        sentence : int

        Returns
        -------
        dict
        """

        def make() -> list[Event]:
            self._tasks.sentence(sentence)
            return [Event("skip", user, self._now(), {}, sentence, request=request)]

        def tell(event: Event | None, _: Taught | None) -> Answer:
            self.desk.finish(sentence, user)
            return {**_number(event), "task": self._next(user)}

        return self._change(user, request, "skip", make, tell)

    def flag(self, user: str, request: str, sentence: int, note: str | None) -> Answer:
        """Note something about a sentence; None takes the note off.

        Parameters
        ----------
        user, request : str
        sentence : int
        note : str or None

        Returns
        -------
        dict
        """

        def make() -> list[Event]:
            self._tasks.sentence(sentence)
            _check_length("the note", note, _MOST_NOTE)
            return [Event("flag", user, self._now(), {"note": note}, sentence, request=request)]

        return self._change(user, request, "flag", make)

    def undo(self, user: str, request: str) -> Answer:
        """Take back the user's last event that is valid; any number of times.

        Parameters
        ----------
        user, request : str

        Returns
        -------
        dict
        """

        def make() -> list[Event]:
            last = self.state.to_undo(user)
            now = self._now()
            return [Event("undo", user, now, {}, last.sentence, undoes=last.id, request=request)]

        def tell(event: Event | None, _: Taught | None) -> Answer:
            undone = next(one for one in self.state.all if event and one.id == event.undoes)
            task = None
            if undone.sentence is not None:
                # The model is what it was before: a sentence that came by chance still did.
                why = undone.body.get("why", "asked")
                # One at a time: whoever undoes many has only the last of them on the screen.
                before = self._undone.get(user)
                if before is not None and before != undone.sentence:
                    self.desk.release(before, user)
                self._undone[user] = undone.sentence
                self.desk.lend(undone.sentence, user, why, self._now())
                whole = self.desk.is_whole(undone.sentence, why)
                task = self._lent(undone.sentence, "asked", whole)
            return {
                "undone": undone.kind,
                "sentence": undone.sentence,
                "task": task,
                "labels": self.views.labels(),
            }

        return self._change(user, request, "undo", make, tell)

    def change_labels(self, user: str, request: str, change: Mapping[str, Any]) -> Answer:
        """Add, rename, merge, recolour or rekey a label.

        Parameters
        ----------
        user, request : str
        change : dict
            As `seqpa.teach.labels.LabelSet.change` has it.

        Returns
        -------
        dict
        """

        def make() -> list[Event]:
            body = {key: value for key, value in change.items() if value is not None}
            copy.deepcopy(self.state.labels).change(body)
            now = self._now()
            events = [Event("labels", user, now, body, request=request)]
            if body["action"] in ("rename", "merge"):
                old, new = body["old"], body["new" if body["action"] == "rename" else "into"]
                events += self._ledger.renamed(old, new, user, now)
            return events

        def tell(event: Event | None, _: Taught | None) -> Answer:
            again = len(self.desk.again) if change.get("action") == "add" else 0
            return {"labels": self.views.labels(), "again": again}

        return self._change(user, request, "labels", make, tell)

    def guidelines(self, user: str, request: str, text: str) -> Answer:
        """Write what stands beside the sentences.

        Parameters
        ----------
        user, request, text : str

        Returns
        -------
        dict
        """

        def make() -> list[Event]:
            _check_length("the text", text, _MOST_TEXT)
            return [Event("guidelines", user, self._now(), {"text": text}, request=request)]

        return self._change(user, request, "guidelines", make)

    def change_strategy(self, strategy: str) -> Answer:
        """Choose the next sentences otherwise, until the session ends.

        Parameters
        ----------
        strategy : str

        Returns
        -------
        dict
        """
        if strategy not in STRATEGIES:
            hint = did_you_mean(strategy, STRATEGIES)
            raise SeqpaError(f"strategy: there is no {strategy!r}{hint}")
        queue = self.desk.make_queue(strategy)
        with self._lock:
            self.desk.take(queue)
            self._wake()
            return {"strategy": strategy}

    def change_confirm(self, confirm: str) -> Answer:
        """Ask for whole sentences, or for unsure words alone, until the session ends.

        Parameters
        ----------
        confirm : "all" or "unsure"

        Returns
        -------
        dict
        """
        with self._lock:
            self.desk.confirm = check_confirm(confirm)
            self.desk.take(self.desk.queue)
            self._wake()
            return {"confirm": confirm, "counts": self.views.counts()}

    def repair(
        self, user: str, request: str, sentences: Sequence[int], change: Mapping[str, Any] | str
    ) -> Answer:
        """Change many labelled sentences at once.

        Parameters
        ----------
        user, request : str
        sentences : sequence of int
            Those of them that are not labelled are left as they are.
        change : dict or "model"
            ``{"from": label, "to": label or None}``; or all labels as the model has them now.

        Returns
        -------
        dict
        """

        def changes(number: int, annotation: Answer) -> Answer:
            if isinstance(change, str):
                return self._tasks.proposal(self.sentences[number]).annotation
            return changed(annotation, change["from"], change["to"])

        def make() -> list[Event]:
            for number in sentences:
                self._tasks.sentence(number)
            if not isinstance(change, str):
                self.state.labels.check(change["from"])
                if change["to"] is not None:
                    self.state.labels.check(change["to"])
            now = self._now()
            events = self._ledger.repaired(sentences, changes, user, now)
            body = {"change": change, "sentences": [one.sentence for one in events]}
            return [Event("repair", user, now, body, request=request), *events] if events else []

        def tell(event: Event | None, _: Taught | None) -> Answer:
            return {**_number(event), "changed": len(event.body["sentences"]) if event else 0}

        return self._change(user, request, "repair", make, tell)

    def settle(self, user: str, request: str, sentence: int, annotation: Any) -> Answer:
        """Decide between readers.

        Parameters
        ----------
        user, request : str
        sentence : int
        annotation : dict

        Returns
        -------
        dict
        """

        def make() -> list[Event]:
            known = self._tasks.sentence(sentence)
            if sentence not in self.state.labellings:
                raise SeqpaError("there is nothing to settle: nobody has labelled the sentence")
            labels = checked(annotation, self.kind, len(known.tokens), self.state.labels)
            return [Event("settle", user, self._now(), {}, sentence, labels, request=request)]

        return self._change(user, request, "settle", make)

    def release(self, user: str, sentence: int, loan: int | None = None) -> Answer:
        """Give a sentence back that was lent.

        Parameters
        ----------
        user : str
        sentence : int
        loan : int or None
            The loan that ends, as the task told it; None ends any.

        Returns
        -------
        dict
            Empty.
        """
        with self._lock:
            self._tasks.sentence(sentence)
            self.desk.release(sentence, user, loan)
            return {}

    # How it is done

    def _change(
        self,
        user: str,
        request: str,
        kind: str,
        make: Callable[[], list[Event]],
        tell: Callable[[Event | None, Taught | None], Answer] = lambda event, _: _number(event),
    ) -> Answer:
        """Make events, unless the request has made them before; answer as then."""
        with self._lock:
            if (answer := self._ledger.answer(user, request)) is not None:
                return answer
            event = self._ledger.repeated(user, request, kind)
            taught = None
            if event is None and (events := make()):
                event, taught, touched = self._ledger.commit(events)
                self.desk.follow(touched)
                self._wake()
            answer = {**tell(event, taught), "counts": self.views.counts()}
            return self._ledger.remember(user, request, answer)

    def _next(self, user: str) -> Answer | None:
        choice = self.desk.next(user, self._now())
        return None if choice is None else self._task(choice.index, choice.why)

    def _task(self, number: int, why: str) -> Answer:
        return self._lent(number, why, self.desk.is_whole(number, why))

    def _lent(self, number: int, why: str, whole: bool) -> Answer:
        return self._tasks.task(number, why, whole) | {"loan": self.desk.loan(number)}

    def _wake(self) -> None:
        if self.background is not None:
            self.background.wake()

    def _rest(self) -> None:
        """In an idle moment: snapshots, so that undo and opening are quick."""
        with self._lock:
            self.learned.rest()
            with suppress(SeqpaError):  # a full disk: it is not needed
                self.learned.keep(self.store)


def _number(event: Event | None) -> Answer:
    return {"event": None if event is None else event.id}


def _told(taught: Taught | None) -> Answer:
    if taught is None:
        return {"wrong_tokens": 0, "cost": 0.0, "tau": 0.0}
    return {"wrong_tokens": taught.wrong_tokens, "cost": taught.cost, "tau": taught.tau}


def _check_length(what: str, text: str | None, most: int) -> None:
    if text is not None and len(text) > most:
        raise SeqpaError(f"{what} has {len(text):,} characters: {most:,} are the most")
