"""`Session`: the project file, what its events make of it, the model and the queue, together.

Every change goes the same way: it is checked, appended to the file, folded into the state, learned.
What was appended is acknowledged; all else can be made again from it. One thread at a time changes
things, any number ask; a proposal waits for one lesson at most, also while an undo is replayed.
"""

from __future__ import annotations

import copy
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

from seqpa import __version__
from seqpa.colours import PALETTE
from seqpa.errors import SeqpaError, did_you_mean
from seqpa.sequence.select import STRATEGIES
from seqpa.teach.background import Background
from seqpa.teach.browse import Browser
from seqpa.teach.desk import Desk
from seqpa.teach.events import State, changed, checked, checked_spans
from seqpa.teach.files import EXPORTS, rendered
from seqpa.teach.learning import Learned, is_lesson, lessons
from seqpa.teach.model import Proposal, Taught
from seqpa.teach.progress import progress
from seqpa.teach.project import Project
from seqpa.teach.store import Event, Sentence, Store
from seqpa.teach.team import Team

UNSURE = 0.75  # tokens that the model is less sure of are marked
_ANSWERS = 512  # so many answers are remembered, for requests that are sent again
_MOST_TEXT = 100_000  # characters of guidelines, and of a note a fiftieth

Answer = dict[str, Any]


class Collision(SeqpaError):
    """What was asked collides with what somebody else has done meanwhile."""


class NoSuchSentence(SeqpaError):
    """A sentence that the project does not have."""


class Session:
    """A project at work: what the page calls, without HTTP.

    Any thread may call it. Every method that changes something takes a `request`, a name that the
    caller makes: the same request again is answered as the first time, and changes nothing.

    Parameters
    ----------
    store : Store
        The open project file; `close` closes it.
    strategy : str, optional
        Which sentences come next; as the project says if not given.
    users : sequence of str
        Those of a team; none where one person works alone.
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
        users: Sequence[str] = (),
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
        self.users = list(users)
        self.team = Team(self.users, self.project.share, self.project.seed)
        self.desk = Desk(
            self.sentences,
            self.state,
            self.learned,
            self.team,
            self.users,
            self.project.cells,
            strategy or self.project.strategy,
            self.project.seed,
        )
        self._now = now
        self._lock = threading.RLock()
        self._answers: OrderedDict[tuple[str, str], Answer] = OrderedDict()
        self.browser = Browser(self.kind, self.sentences, self.learned, self.project.cells)
        self.background = Background(self.desk.look, self._rest) if background else None

    def close(self) -> None:
        """End the thread, keep a snapshot, close the file."""
        if self.background is not None:
            self.background.close()
        with self._lock:
            try:
                self.learned.keep(self.store, always=True)
            finally:
                self.store.close()

    # What is asked

    def about(self, user: str) -> Answer:
        """The project, as a page needs it at first.

        Parameters
        ----------
        user : str

        Returns
        -------
        dict
        """
        with self._lock:
            return {
                "name": self.store.path.stem,
                "id": self._identity(),
                "kind": self.kind,
                "user": user,
                "team": bool(self.users),
                "users": self.users or [user],
                "labels": self._labels(),
                "palette": [
                    {
                        "name": colour.name,
                        "light": {"ground": colour.ground, "ink": colour.ink},
                        "dark": {"ground": colour.dark_ground, "ink": colour.dark_ink},
                    }
                    for colour in PALETTE
                ],
                "guidelines": self.state.guidelines,
                "direction": self.project.direction,
                "strategy": self.desk.queue.strategy,
                "strategies": list(STRATEGIES),
                "counts": self.counts(),
                "exports": self.exports(),
                "version": __version__,
            }

    def _identity(self) -> str:
        """Tells this project from others, to pages that keep what was not sent yet."""
        first = self.sentences[0].text if self.sentences else ""
        told = f"{self.store.path.absolute()}\n{len(self.sentences)}\n{first}"
        return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def counts(self) -> dict[str, int]:
        """How many sentences there are of each kind.

        Returns
        -------
        dict
        """
        with self._lock:
            state = self.state
            return {
                "sentences": len(self.sentences),
                "labelled": len(state.labellings),
                "skipped": sum(i not in state.labellings for i in state.skipped),
                "flagged": len(state.flags),
                "unfinished": len(self._unfinished()),
                "open": len(self.desk.queue),
                "again": len(self.desk.again),
                "clock": self.learned.model.clock,
                "differences": sum(
                    not one["settled"] for one in self.team.differences(state, self.kind)
                ),
            }

    def propose(self, sentence: int, confirmed: Any) -> Answer:
        """The model's labels where some tokens are confirmed; nothing is changed.

        Parameters
        ----------
        sentence : int
        confirmed : list of [start, end, label or None]

        Returns
        -------
        dict
        """
        known = self._sentence(sentence)
        pieces = checked_spans(confirmed, len(known.tokens), self.state.labels)
        return self._shown(self._proposal(known, pieces))

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
            self._sentence(number)
            if self.team.holder(number, self._now()) in (None, user):
                self.desk.lend(number, user, "asked", self._now())
            return self._task(number, "asked")

    def rows(self, **asked: Any) -> Answer:
        """Sentences by search and filter.

        Parameters
        ----------
        **asked : object
            As `seqpa.teach.browse.Browser.rows` has them.

        Returns
        -------
        dict
        """
        with self._lock:
            found = self.browser.select(self.state, self.desk.again, **asked)
        return self.browser.rows(found)

    def progress(self) -> Answer:
        """How good the model is by now.

        Returns
        -------
        dict
        """
        with self._lock:
            found = progress(self.state, self.sentences, self.kind, self._now())
            return {"counts": self.counts(), **found}

    def about_team(self) -> Answer:
        """Who labelled how much, and where readers differ.

        Returns
        -------
        dict
        """
        with self._lock:
            differences = []
            for one in self.team.differences(self.state, self.kind):
                known = self.sentences[one["sentence"]]
                differences.append(
                    {
                        "sentence": known.id,
                        "text": known.text,
                        "tokens": known.tokens,
                        "offsets": known.offsets,
                        "readings": one["readings"],
                        "settled": one["settled"],
                    }
                )
            found = self.team.agreement(self.state, self.sentences, self.kind)
            users = progress(self.state, self.sentences, self.kind, self._now())["users"]
            return {
                "users": users,
                "share": self.project.share,
                **found,
                "differences": differences,
            }

    def exports(self) -> list[str]:
        """The formats that `export` has for this kind of project.

        Returns
        -------
        list of str
        """
        own = ("spacy", "docbin") if self.kind == "tokens" else ()
        return [name for name in EXPORTS if name not in own]

    def export(self, format: str) -> tuple[str, bytes]:
        """What is labelled, as a file.

        Parameters
        ----------
        format : str

        Returns
        -------
        name : str
            Of the file.
        data : bytes
        """
        with self._lock:
            entries = [(one, self.state.current(one.id)) for one in self.sentences]
        data, _ = rendered(
            entries, self.kind, format, self.project.names, label=self.project.label
        )
        return self.store.path.stem + EXPORTS[format], data

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
            if (found := self._answers.get((user, request))) is not None:
                return found
            return self._answered(user, request, {"task": self._next(user)})

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
        with self._lock:
            event, answer = self._repeated(user, request, "accept")
            if answer is not None:
                return answer
            taught: Taught | None = None
            if event is None:
                known = self._sentence(sentence)
                self._check_free(sentence, user, clock)
                labels = checked(annotation, self.kind, len(known.tokens), self.state.labels)
                predicted = self._proposal(known, ()).annotation
                why = self.desk.why(sentence, user)
                if why == "random" and (sentence in self.state.partial or sentence in self.state.labellings):
                    why = "unfinished"  # the model has learned from it: no measure any more
                body = {
                    "why": why,
                    "proposed": self._as_shown(proposed, known) or predicted,
                    "predicted": predicted,
                }
                event, taught = self._commit(
                    [self._event("accept", user, body, sentence, labels, seconds, keys, request)]
                )
                self.desk.release(sentence, user)
            told = {
                "event": event.id,
                "taught": {
                    "wrong_tokens": taught.wrong_tokens if taught else 0,
                    "cost": taught.cost if taught else 0.0,
                    "tau": taught.tau if taught else 0.0,
                },
                "task": self._next(user),
            }
            return self._answered(user, request, told)

    def partial(
        self,
        user: str,
        request: str,
        sentence: int,
        confirmed: Any,
        seconds: float | None = None,
        keys: int | None = None,
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

        Returns
        -------
        dict
        """
        with self._lock:
            event, answer = self._repeated(user, request, "partial")
            if answer is not None:
                return answer
            known = self._sentence(sentence)
            pieces = checked_spans(confirmed, len(known.tokens), self.state.labels)
            before = self._confirmed(sentence)
            if event is None and pieces != before and sentence not in self.state.labellings:
                self._check_free(sentence, user, None)
                event, _ = self._commit(
                    [
                        self._event(
                            "partial", user, {"confirmed": pieces}, sentence, None, seconds, keys,
                            request,
                        )
                    ]
                )  # fmt: skip
            shown = self._shown(self._proposal(known, pieces))
            told = {"event": None if event is None else event.id, **shown}
            return self._answered(user, request, told)

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
        with self._lock:
            event, answer = self._repeated(user, request, "skip")
            if answer is not None:
                return answer
            if event is None:
                self._sentence(sentence)
                event, _ = self._commit(
                    [self._event("skip", user, {}, sentence, request=request)]
                )
                self.desk.release(sentence, user)
            return self._answered(user, request, {"event": event.id, "task": self._next(user)})

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
        with self._lock:
            event, answer = self._repeated(user, request, "flag")
            if answer is not None:
                return answer
            if event is None:
                self._sentence(sentence)
                _check_length("the note", note, _MOST_TEXT // 50)
                event, _ = self._commit(
                    [self._event("flag", user, {"note": note}, sentence, request=request)]
                )
            return self._answered(user, request, {"event": event.id})

    def undo(self, user: str, request: str) -> Answer:
        """Take back the user's last event that is valid; any number of times.

        Parameters
        ----------
        user, request : str

        Returns
        -------
        dict
        """
        with self._lock:
            event, answer = self._repeated(user, request, "undo")
            if answer is not None:
                return answer
            if event is None:
                last = self.state.to_undo(user)
                event, _ = self._commit(
                    [self._event("undo", user, {}, last.sentence, request=request, undoes=last.id)]
                )
            undone = next(one for one in self.state.all if one.id == event.undoes)
            task = None
            if undone.sentence is not None:
                # The model is what it was before: a sentence that came by chance still did.
                why = undone.body.get("why", "asked")
                self.desk.lend(undone.sentence, user, why, self._now())
                task = self._task(undone.sentence, "asked")
            told = {
                "undone": undone.kind,
                "sentence": undone.sentence,
                "task": task,
                "labels": self._labels(),
            }
            return self._answered(user, request, told)

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
        with self._lock:
            event, answer = self._repeated(user, request, "labels")
            if answer is not None:
                return answer
            if event is None:
                body = {key: value for key, value in change.items() if value is not None}
                copy.deepcopy(self.state.labels).change(body)
                events = [self._event("labels", user, body, request=request)]
                if body["action"] in ("rename", "merge"):
                    old, new = body["old"], body.get("new") or body["into"]
                    events += self._renamed(user, old, new)
                self._commit(events)
            again = len(self.desk.again) if change.get("action") == "add" else 0
            return self._answered(user, request, {"labels": self._labels(), "again": again})

    def guidelines(self, user: str, request: str, text: str) -> Answer:
        """Write what stands beside the sentences.

        Parameters
        ----------
        user, request, text : str

        Returns
        -------
        dict
        """
        with self._lock:
            event, answer = self._repeated(user, request, "guidelines")
            if answer is not None:
                return answer
            if event is None:
                _check_length("the text", text, _MOST_TEXT)
                event, _ = self._commit(
                    [self._event("guidelines", user, {"text": text}, request=request)]
                )
            return self._answered(user, request, {"event": event.id})

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
            self._changed()
            return {"strategy": strategy}

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
        with self._lock:
            event, answer = self._repeated(user, request, "repair")
            if answer is not None:
                return answer
            if event is None:
                events = self._repaired(user, sentences, change)
                if events:
                    told = change if isinstance(change, str) else dict(change)
                    body = {"change": told, "sentences": [one.sentence for one in events]}
                    event, _ = self._commit(
                        [self._event("repair", user, body, request=request), *events]
                    )
            told = {"event": None, "changed": 0}
            if event is not None:
                told = {"event": event.id, "changed": len(event.body["sentences"])}
            return self._answered(user, request, told)

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
        with self._lock:
            event, answer = self._repeated(user, request, "settle")
            if answer is not None:
                return answer
            if event is None:
                known = self._sentence(sentence)
                if sentence not in self.state.labellings:
                    raise SeqpaError("there is nothing to settle: nobody has labelled the sentence")
                labels = checked(annotation, self.kind, len(known.tokens), self.state.labels)
                event, _ = self._commit(
                    [self._event("settle", user, {}, sentence, labels, request=request)]
                )
            return self._answered(user, request, {"event": event.id})

    def release(self, user: str, sentence: int) -> Answer:
        """Give a sentence back that was lent.

        Parameters
        ----------
        user : str
        sentence : int

        Returns
        -------
        dict
            Empty.
        """
        with self._lock:
            self._sentence(sentence)
            self.desk.release(sentence, user)
            return {}

    # Changes, all on one way

    def _event(
        self,
        kind: str,
        user: str,
        body: dict[str, Any],
        sentence: int | None = None,
        annotation: dict[str, Any] | None = None,
        seconds: float | None = None,
        keys: int | None = None,
        request: str | None = None,
        **more: Any,
    ) -> Event:
        clock = self.learned.model.clock
        return Event(
            kind, user, self._now(), body, sentence, annotation, seconds, keys, clock,
            request=request, **more,
        )  # fmt: skip

    def _commit(self, events: Sequence[Event]) -> tuple[Event, Taught | None]:
        """Append, fold and learn events, the first the cause of the others."""
        first = self.store.append(events)
        kept = [
            event._replace(id=first + i, cause=first if i else None)
            for i, event in enumerate(events)
        ]
        taught: Taught | None = None
        for event in kept:
            self.state.add(event)
        if kept[0].undoes is not None:
            self.learned.follow(lessons(self.state))
            touched = self._touched(kept[0].undoes)
        else:
            changes = {first} if kept[0].kind == "labels" else set()
            for event in kept:
                if is_lesson(event, changes):
                    taught = self.learned.learn(event)
            touched = {event.sentence for event in kept if event.sentence is not None}
        self.desk.follow(touched)
        self._changed()
        return kept[0], taught

    def _touched(self, undone: int) -> set[int]:
        """The sentences that an event that was undone had changed."""
        return {
            event.sentence
            for event in self.state.all
            if undone in (event.id, event.cause, event.base) and event.sentence is not None
        }

    def _changed(self) -> None:
        if self.background is not None:
            self.background.wake()

    def _rest(self) -> None:
        """In an idle moment: snapshots, so that undo and opening are quick."""
        with self._lock:
            self.learned.rest()
            with suppress(SeqpaError):  # a full disk: it is not needed
                self.learned.keep(self.store)

    def _repeated(self, user: str, request: str, kind: str) -> tuple[Event | None, Answer | None]:
        """What a request made when it came before, and its answer, as far as it is remembered."""
        if (answer := self._answers.get((user, request))) is not None:
            return None, answer
        event = self.store.by_request(request)
        if event is not None and (event.user, event.kind) != (user, kind):
            raise Collision("this request was used before, for something else: make another name")
        return event, None

    def _answered(self, user: str, request: str, told: Answer) -> Answer:
        answer = {**told, "counts": self.counts()}
        self._answers[user, request] = answer
        while len(self._answers) > _ANSWERS:
            self._answers.popitem(last=False)
        return answer

    def _check_free(self, sentence: int, user: str, clock: int | None) -> None:
        """Raise if somebody else has the sentence, or has labelled it since it was shown."""
        holder = self.team.holder(sentence, self._now())
        if holder not in (None, user):
            raise Collision(f"{holder} is at this sentence now: go on with another one")
        latest = self.state.latest(sentence)
        if latest is None:
            return
        reader = self.state.reader(latest)
        if clock is not None and (latest.base or latest.id) > clock:
            who = "you have" if reader == user else f"{reader} has"
            raise Collision(f"{who} labelled this sentence meanwhile: look at it again")
        if latest.kind == "settle" and reader != user:
            raise Collision(f"{reader} has settled this sentence: change it among the differences")

    def _renamed(self, user: str, old: str, new: str) -> list[Event]:
        """All labellings with a label under its new name, also those that others stand before: by
        an undo they may count again."""
        found: dict[int, Event] = {}
        for event in self.state.valid:
            if event.annotation is not None or event.kind == "partial":
                root = event.base or event.id
                found.pop(root, None)
                found[root] = event
        events = []
        for root, event in found.items():
            if event.annotation is not None:
                labels = changed(event.annotation, old, new)
                if labels != event.annotation:
                    events.append(
                        self._event("relabel", user, {}, event.sentence, labels, base=root)
                    )
            elif self.state.partial.get(event.sentence or 0) is event:
                pieces = [
                    [a, b, new if name == old else name] for a, b, name in event.body["confirmed"]
                ]
                if pieces != event.body["confirmed"]:
                    body = {"confirmed": pieces}
                    events.append(self._event("partial", user, body, event.sentence, base=root))
        return events

    def _repaired(
        self, user: str, sentences: Iterable[int], change: Mapping[str, Any] | str
    ) -> list[Event]:
        events = []
        if not isinstance(change, str):
            self.state.labels.check(change["from"])
            if change["to"] is not None:
                self.state.labels.check(change["to"])
        for i in dict.fromkeys(sentences):
            known = self._sentence(i)
            latest = self.state.latest(i)
            if latest is None or latest.annotation is None:
                continue
            if isinstance(change, str):
                labels = self._proposal(known, ()).annotation
            else:
                labels = changed(latest.annotation, change["from"], change["to"])
            if labels != latest.annotation:
                root = latest.base or latest.id
                events.append(self._event("relabel", user, {}, i, labels, base=root))
        return events

    # Tasks

    def _sentence(self, number: int) -> Sentence:
        if not 0 <= number < len(self.sentences):
            raise NoSuchSentence(
                f"there is no sentence {number}: they have the numbers 0 to {len(self.sentences) - 1}"
            )
        return self.sentences[number]

    def _confirmed(self, sentence: int) -> list[Any]:
        event = self.state.partial.get(sentence)
        return [] if event is None else event.body["confirmed"]

    def _unfinished(self) -> list[int]:
        return [i for i, event in self.state.partial.items() if event.body["confirmed"]]

    def _labels(self) -> list[dict[str, str]]:
        return [label._asdict() for label in self.state.labels]

    def _proposal(self, sentence: Sentence, confirmed: Iterable[Any]) -> Proposal:
        with self.learned.lock:
            return self.learned.model.propose(
                sentence.tokens, confirmed, self.project.cells(sentence)
            )

    def _shown(self, proposal: Proposal) -> Answer:
        knows = self.learned.model.clock > 0
        unsure = [i for i, sure in enumerate(proposal.sure) if sure < UNSURE] if knows else []
        return {"annotation": proposal.annotation, "sure": proposal.sure, "unsure": unsure}

    def _as_shown(self, annotation: Any, sentence: Sentence) -> dict[str, Any] | None:
        """What the page says that it has shown, unless labels have changed since."""
        try:
            n = len(sentence.tokens)
            return checked(annotation, self.kind, n, self.state.labels, whole=False)
        except SeqpaError:
            return None

    def _given(self, sentence: Sentence) -> dict[str, Any] | None:
        """What the file says, where that is to be shown, in the labels of now."""
        annotation = sentence.given if self.project.proposes_given else None
        if annotation is None:
            return None
        for event in self.state.valid:
            if event.kind == "labels" and event.body["action"] in ("rename", "merge"):
                body = event.body
                annotation = changed(annotation, body["old"], body.get("new") or body["into"])
        return annotation

    def _next(self, user: str) -> Answer | None:
        choice = self.desk.next(user, self._now())
        return None if choice is None else self._task(choice.index, choice.why)

    def _task(self, number: int, why: str) -> Answer:
        known = self._sentence(number)
        confirmed = self._confirmed(number)
        shown = self._shown(self._proposal(known, confirmed))
        proposal = shown["annotation"]
        # A second reader is not told what the first one said.
        latest = None if why == "second" else self.state.latest(number)
        given = None if confirmed else self._given(known)
        return {
            "sentence": number,
            "document": known.document,
            "position": known.position,
            "text": known.text,
            "tokens": known.tokens,
            "offsets": known.offsets,
            "before": self._neighbour(number, -1),
            "after": self._neighbour(number, 1),
            "annotation": (latest.annotation if latest else None) or given or proposal,
            "proposal": proposal,
            "sure": shown["sure"],
            "unsure": shown["unsure"],
            "confirmed": confirmed,
            "why": why,
            "flag": self.state.flags.get(number),
            "labelled": None
            if latest is None
            else {"user": self.state.reader(latest), "time": latest.time, "event": latest.id},
            "clock": self.state.all[-1].id if self.state.all else 0,
        }

    def _neighbour(self, number: int, step: int) -> str:
        at = number + step
        if not 0 <= at < len(self.sentences):
            return ""
        other = self.sentences[at]
        return other.text if other.document == self.sentences[number].document else ""


def _check_length(what: str, text: str | None, most: int) -> None:
    if text is not None and len(text) > most:
        raise SeqpaError(f"{what} has {len(text):,} characters: {most:,} are the most")
