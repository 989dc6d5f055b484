"""`Suggester`: a project behind somebody else's page, which asks for suggestions and sends labels.

What both `label_studio` and `inception` need: documents are cut into sentences and words, what the
model says of these is told in characters, and labels that come in characters become labels of
words. All that is taught is kept as events, as from our own page: the project can be opened there,
exported, trained on. A document is added to the project when it first teaches something.

A sentence is taught if its labels are news: the same labels once more are none. One whose labels
cannot be kept (they overlap, or go on into the next sentence) is left out, and that is told.
"""

from __future__ import annotations

import threading
import time
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from seqpa import __version__
from seqpa.data.sentences import tokenized
from seqpa.errors import SeqpaError
from seqpa.teach.cas import Mark
from seqpa.teach.events import State
from seqpa.teach.keystrokes import same
from seqpa.teach.labels import LabelSet
from seqpa.teach.learning import Learned, is_lesson, lessons
from seqpa.teach.model import KINDS
from seqpa.teach.project import Project
from seqpa.teach.store import Event, Sentence, Store

_MOST_LABELS = 500
_LONGEST = 5_000  # words of a sentence
_MOST_MARKS = 50_000
_LONGEST_NAME = 200  # characters of a label, a document or a user
WHY = "backend"  # what the events say

Annotation = dict[str, Any]
Place = tuple[int, int]


class Piece(NamedTuple):
    """A sentence of a document.

    Parameters
    ----------
    start : int
        Where it begins in the document, in characters.
    text : str
        As it stands there.
    places : list of (start, end)
        Its words, in characters of the document.

    Examples
    --------
    >>> cut("So. Ada left")[1].tokens
    ['Ada', 'left']
    """

    start: int
    text: str
    places: list[Place]

    @property
    def tokens(self) -> list[str]:
        """The words."""
        return [self.text[a - self.start : b - self.start] for a, b in self.places]


class Suggestions(NamedTuple):
    """What the model says of a document.

    Parameters
    ----------
    marks : list of Mark
        In characters of the document, each as sure as its least sure word.
    sure : float
        How sure the least sure word of all is; 0 where nothing is known yet.

    Examples
    --------
    >>> Suggestions([], 0.0).sure
    0.0
    """

    marks: list[Mark]
    sure: float


class Lesson(NamedTuple):
    """What came of labels that were sent.

    Parameters
    ----------
    taught : int
        Sentences whose labels were news.
    left_out : int
        Sentences whose labels cannot be kept.

    Examples
    --------
    >>> Lesson(taught=2, left_out=0).taught
    2
    """

    taught: int
    left_out: int


def cut(text: str, language: str = "english") -> list[Piece]:
    """The sentences of a text.

    Parameters
    ----------
    text : str
        Any text.
    language : str
        How it is cut.

    Returns
    -------
    list of Piece
        Those that have words.

    Examples
    --------
    >>> [(one.start, one.text) for one in cut("So. Ada left.")]
    [(0, 'So.'), (4, 'Ada left.')]
    """
    return [_piece(text, places) for places in tokenized(text, language) if places]


def cut_by(text: str, sentences: Sequence[Place], words: Sequence[Place]) -> list[Piece]:
    """The sentences of a text that somebody else has cut.

    Parameters
    ----------
    text : str
        Any text.
    sentences, words : sequences of (start, end)
        Where they are, each from the first to the last.

    Returns
    -------
    list of Piece
        Those that have words; a word belongs to the sentence in which it begins.

    Examples
    --------
    >>> cut_by("Go on", [(0, 5)], [(0, 2), (3, 5)])[0].tokens
    ['Go', 'on']
    """
    found: list[list[Place]] = [[] for _ in sentences]
    starts = [start for start, _ in sentences]
    last = 0
    for start, end in words:
        if start < last or not start < end <= len(text):
            raise SeqpaError("words of the document overlap, or have no characters")
        last = end
        at = bisect_right(starts, start) - 1
        if at >= 0 and start < sentences[at][1]:
            found[at].append((start, end))
    return [_piece(text, places) for places in found if places]


def _piece(text: str, places: list[Place]) -> Piece:
    if len(places) > _LONGEST:
        raise SeqpaError(f"a sentence has {len(places)} words: at most {_LONGEST} can be taken")
    start, end = places[0][0], places[-1][1]
    own = text[start:end]
    if not _is_text(own):
        raise SeqpaError("the text has half characters (surrogates): send whole ones")
    return Piece(start, own, places)


class Suggester:
    """A project that others ask and teach. Any thread may call it.

    Parameters
    ----------
    store : Store
        The project, open; `close` closes it.
    now : function
        The time, in seconds since 1970.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "names.seqpa"
    >>> suggester = Suggester(Store.create(path, {"kind": "spans", "labels": ["PER"]}, []))
    >>> pieces = cut("Ada left. Ada paid.")
    >>> suggester.teach("a.txt", pieces, [Mark(0, 3, "PER"), Mark(10, 13, "PER")], "ann")
    Lesson(taught=2, left_out=0)
    >>> suggester.teach("a.txt", pieces, [Mark(0, 3, "PER"), Mark(10, 13, "PER")], "ann")
    Lesson(taught=0, left_out=0)
    >>> [mark[:3] for mark in suggester.suggest(cut("  Ada left.")).marks]
    [(2, 5, 'PER')]
    >>> suggester.close()
    """

    def __init__(self, store: Store, now: Callable[[], float] = time.time) -> None:
        self._store = store
        project = Project(store)
        if len(store.meta().get("inputs", ["word"])) > 1:
            raise SeqpaError(
                f"{store.path}: its model looks at more than the words, which is all that others "
                "send; begin with a model of words alone, or with none"
            )
        self.kind = project.kind
        self._now = now
        self._sentences = project.sentences
        self._last: Event | None = None
        self._state = State(project.labels, self._passing(store.events()))
        self._learned = Learned(self._sentences, project.make_model, project.cells)
        base = store.kept("base")
        self._has_base = base is not None
        self._origin = 0 if base is None else zlib.crc32(base[2])
        known = lessons(self._state)
        self._learned.recall(store, known)
        self._learned.follow(known)
        self._documents: dict[str, list[int]] = {}
        for sentence in self._sentences:
            self._documents.setdefault(sentence.document, []).append(sentence.id)
        self._lock = threading.RLock()

    def close(self) -> None:
        """Keep a snapshot of the model, and close the project."""
        with self._lock:
            try:
                self._learned.keep(self._store, always=True)
            finally:
                self._store.close()

    @property
    def clock(self) -> int:
        """How many lessons the model has had."""
        return self._learned.model.clock

    @property
    def version(self) -> str:
        """What the model is now: another word for each, also after lessons were taken back.

        The clock alone will not do: it goes back with a lesson, and another lesson then brings it
        to where it was, with another model.
        """
        last = self._last  # of what the model knows: it must not be told by a later name
        told = "" if last is None else f"{last.id} {last.time!r} {last.kind}"
        return f"seqpa-{self.clock}-{zlib.crc32(told.encode(), self._origin):08x}"

    def _passing(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            self._last = event
            yield event

    @property
    def labels(self) -> list[str]:
        """The labels of the project."""
        return self._state.labels.names

    def noted(self, name: str) -> Any:
        """What events say under a name, the first that says anything.

        Parameters
        ----------
        name : str
            Of a member of events' bodies.

        Returns
        -------
        object
            None if no event says anything.
        """
        with self._lock:
            told = (event.body.get(name) for event in self._state.valid)
            return next((value for value in told if value is not None), None)

    # Suggestions

    def suggest(self, pieces: Sequence[Piece], confirmed: Iterable[Mark] = ()) -> Suggestions:
        """What the model says of a document.

        Parameters
        ----------
        pieces : sequence of Piece
            Its sentences.
        confirmed : iterable of Mark
            What is known already: the rest of each sentence is decoded under it. Left aside in a
            sentence where it cannot be kept, and where its label is not known.

        Returns
        -------
        Suggestions
            None of what was never taught: a model without a lesson suggests nothing.
        """
        marks: list[Mark] = []
        least = 1.0
        known = [mark for mark in confirmed if mark.label in self.labels]
        given = _of_words(pieces, known, self.kind)[0] if known else {}
        for i, piece in enumerate(pieces):
            fixed = _spans(given[i]) if i in given else []
            with self._learned.lock:  # for each sentence, so that a lesson need not wait for all
                model = self._learned.model
                if not model.labels or (model.clock == 0 and not self._has_base):
                    return Suggestions([], 0.0)
                proposal = model.propose(piece.tokens, fixed)
            least = min([least, *proposal.sure])
            for start, end, label in _spans(proposal.annotation):
                place = piece.places[start][0], piece.places[end - 1][1]
                marks.append(Mark(*place, label, min(proposal.sure[start:end])))
        return Suggestions(marks, least)

    # Lessons

    def meet(self, labels: Iterable[str], user: str) -> None:
        """Know these labels too.

        Parameters
        ----------
        labels : iterable of str
            Those that the project has already do no harm.
        user : str
            Who brings them.
        """
        with self._lock:
            for name in dict.fromkeys(labels):
                if name in self.labels:
                    continue
                if len(self.labels) >= _MOST_LABELS or len(name) > _LONGEST_NAME:
                    raise SeqpaError(
                        f"there are {_MOST_LABELS} labels already, or a name is longer than "
                        f"{_LONGEST_NAME} characters"
                    )
                State([*self.labels, name])  # raises if it is no name
                self._do(Event("labels", user, self._now(), {"action": "add", "name": name}))

    def teach(
        self,
        document: str,
        pieces: Sequence[Piece],
        marks: Iterable[Mark],
        user: str,
        *,
        whole: bool = True,
        seconds: float | None = None,
        **notes: Any,
    ) -> Lesson:
        """Learn the labels of a document.

        Parameters
        ----------
        document : str
            Its name.
        pieces : sequence of Piece
            Its sentences.
        marks : iterable of Mark
            All of its labels.
        user : str
            Who gave them.
        whole : bool
            Whether a sentence without labels is known to have none; else it may not have been
            read, and teaches only if this user had labelled it before.
        seconds : float, optional
            How long it took.
        **notes : object
            What the events are to say beside.

        Returns
        -------
        Lesson
        """
        for name in (document, user):
            if len(name) > _LONGEST_NAME or not _is_text(name):
                raise SeqpaError(f"a name is longer than {_LONGEST_NAME} characters, or no text")
        found = list(dict.fromkeys(Mark(*mark[:3]) for mark in marks))
        if len(found) > _MOST_MARKS:
            raise SeqpaError(f"a document has {len(found)} labels: at most {_MOST_MARKS} are taken")
        with self._lock:
            self.meet([mark.label for mark in found], user)
            given, left_out = _of_words(pieces, found, self.kind)
            new: list[tuple[int, Annotation]] = []
            ids = self._known(document, pieces)
            for i, annotation in given.items():
                labelled = {} if ids is None else self._state.labellings.get(ids[i], {})
                before = labelled[user].annotation if user in labelled else None
                empty = not _spans(annotation)
                if before is None and empty and (not whole or self.kind == "tokens"):
                    continue
                if before is None or not same(before, annotation, len(pieces[i].places)):
                    new.append((i, annotation))
            if new and ids is None:
                ids = self._add(document, pieces)
            share = None if seconds is None or not new else seconds / len(new)
            for i, annotation in new:
                assert ids is not None
                self._accept(ids[i], annotation, user, share, notes)
            self._learned.keep(self._store)
            return Lesson(len(new), left_out)

    def take_back(self, user: str, **notes: Any) -> int:
        """Unlearn what events taught that say this.

        Parameters
        ----------
        user : str
            Who takes it back.
        **notes : object
            What `teach` was given.

        Returns
        -------
        int
            How many sentences that were.
        """
        with self._lock:
            found = [
                event
                for event in self._state.valid
                if event.kind == "accept"
                and event.cause is None
                and all(event.body.get(name) == value for name, value in notes.items())
            ]
            for event in found:
                undo = Event("undo", user, self._now(), {}, event.sentence, undoes=event.id)
                undo = undo._replace(id=self._store.append([undo]))
                self._state.add(undo)
            if found:
                self._learned.follow(lessons(self._state))
                self._last = undo
            return len(found)

    def _accept(
        self,
        sentence: int,
        annotation: Annotation,
        user: str,
        seconds: float | None,
        notes: dict[str, Any],
    ) -> None:
        with self._learned.lock:
            model = self._learned.model
            said = model.propose(self._sentences[sentence].tokens).annotation
        body = {"why": WHY, "predicted": said, **notes}
        event = Event("accept", user, self._now(), body, sentence, annotation, seconds)
        self._do(event._replace(clock=model.clock))

    def _do(self, event: Event) -> None:
        """Keep an event, then let it count."""
        event = event._replace(id=self._store.append([event]))
        self._state.add(event)
        if is_lesson(event, set()):
            self._learned.learn(event)
        self._last = event

    # Documents

    def _known(self, document: str, pieces: Sequence[Piece]) -> list[int] | None:
        """The sentences of the project that are these; None if they are not in it."""
        for name in self._versions(document):
            ids = self._documents[name]
            own = [self._sentences[i] for i in ids]
            if [(one.text, one.tokens) for one in own] == [(p.text, p.tokens) for p in pieces]:
                return ids
        return None

    def _versions(self, document: str) -> list[str]:
        """The names under which a document is known: its text may have changed since."""
        names = [document]
        while names[-1] in self._documents:
            names.append(f"{document}#{len(names) + 1}")
        return names[:-1]

    def _add(self, document: str, pieces: Sequence[Piece]) -> list[int]:
        versions = self._versions(document)
        name = f"{document}#{len(versions) + 1}" if versions else document
        first = len(self._sentences)
        new = [
            Sentence(
                first + i,
                name,
                i,
                piece.text,
                piece.tokens,
                [[a - piece.start, b - piece.start] for a, b in piece.places],
                start=piece.start,
            )
            for i, piece in enumerate(pieces)
        ]
        self._store.extend(new)
        self._sentences.extend(new)
        self._documents[name] = [one.id for one in new]
        return self._documents[name]


def empty_project(path: Path, labels: Sequence[str], kind: str, seed: int) -> Store:
    """Make a project that waits for documents.

    Parameters
    ----------
    path : Path
        A file that is not there yet.
    labels : sequence of str
        The first ones, at least one; others may be sent.
    kind : "spans" or "tokens"
        What is labelled.
    seed : int
        Of what is left to chance.

    Returns
    -------
    Store
        Open.

    Examples
    --------
    >>> import tempfile
    >>> store = empty_project(Path(tempfile.mkdtemp()) / "a.seqpa", ["PER"], "spans", 1)
    >>> store.sentences(), store.close()
    ([], None)
    """
    if kind not in KINDS:
        raise SeqpaError(f"kind is {kind!r}: choose {' or '.join(KINDS)}")
    if not labels:
        raise SeqpaError("there are no labels yet: say which, for example --labels PER,ORG,LOC")
    LabelSet(labels)  # raises if one is no name
    meta = {"kind": kind, "labels": list(labels), "seed": seed, "version": __version__}
    return Store.create(path, meta, [])


def _spans(annotation: Annotation) -> list[tuple[int, int, str]]:
    """What is labelled, as spans of words."""
    if "labels" in annotation:
        named = enumerate(annotation["labels"])
        return [(i, i + 1, label) for i, label in named if label is not None]
    return [(start, end, label) for start, end, label in annotation["spans"]]


def _of_words(
    pieces: Sequence[Piece], marks: Sequence[Mark], kind: str
) -> tuple[dict[int, Annotation], int]:
    """The labels of each sentence, and how many sentences have labels that cannot be kept."""
    words = [(place, i, j) for i, one in enumerate(pieces) for j, place in enumerate(one.places)]
    starts, ends = [place[0] for place, _, _ in words], [place[1] for place, _, _ in words]
    spans: dict[int, list[list[Any]]] = {i: [] for i in range(len(pieces))}
    bad: set[int] = set()
    for mark in marks:
        first, last = bisect_right(ends, mark.start), bisect_left(starts, mark.end)
        if first >= last:
            continue  # no word of it
        (_, i, start), (_, k, end) = words[first], words[last - 1]
        if i == k:
            spans[i].append([start, end + 1, mark.label])
        else:
            bad.update(range(i, k + 1))
    found: dict[int, Annotation] = {}
    for i, own in spans.items():
        own.sort()
        if i in bad or any(two[0] < one[1] for one, two in pairwise(own)):
            bad.add(i)
        elif kind == "spans":
            found[i] = {"spans": own}
        else:
            labels: list[str | None] = [None] * len(pieces[i].places)
            for start, end, label in own:
                labels[start:end] = [label] * (end - start)
            found[i] = {"labels": labels}
    return found, len(bad)


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
