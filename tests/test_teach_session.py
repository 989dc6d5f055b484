"""The session of `seqpa teach`: labels are a fold of events, the model follows them, forwards and
back, and what is asked twice is done once."""

from __future__ import annotations

import copy
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from served import names_tagger

from seqpa import SeqpaError
from seqpa.data.teach_project import load
from seqpa.teach.events import State
from seqpa.teach.learning import Learned, lessons
from seqpa.teach.ledger import Collision
from seqpa.teach.model import TaughtModel
from seqpa.teach.project import FILE, Project, create
from seqpa.teach.session import Session
from seqpa.teach.store import Store
from seqpa.teach.tasks import NoSuchSentence

TEXT = """Ada Norvell left Lyon. Bob met Ada in Rome. In Lyon Ada paid. So it is. Rome fell.
They left Paris for Rome. Ada and Bob met there. Bob paid Ada. Paris is far. Lyon."""


@contextmanager
def opened(path: Path, **more: Any) -> Iterator[Session]:
    session = Session(Store.open(path), background=False, **more)
    try:
        yield session
    finally:
        session.close()


@contextmanager
def made(folder: Path, text: str = TEXT, users: Any = (), **more: Any) -> Iterator[Session]:
    (folder / "a.txt").write_text(text, encoding="utf-8")
    more = {"labels": ["PER", "LOC"], **more}
    session = Session(
        create(folder / "a.seqpa", [folder / "a.txt"], **more), users=users, background=False
    )
    try:
        yield session
    finally:
        session.close()


class Requests:
    """New names for requests."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self) -> str:
        self.n += 1
        return f"request {self.n}"


def replayed(session: Session) -> bytes:
    """The model that the events of the file make, from the first one on."""
    project = session.project
    learned = Learned(session.sentences, project.make_model, project.cells)
    learned.follow(lessons(State(project.labels, session.store.events())))
    return learned.model.snapshot()


# Laws, over any sequence of what users do

USERS = ("ann", "bob")
ACTIONS = ("accept", "partial", "skip", "flag", "labels", "guidelines", "repair", "settle", "undo")


def act(session: Session, draw: Any, request: str) -> None:
    """Something that a user could do; what is refused changes nothing."""
    user = draw(st.sampled_from(USERS))
    action = draw(st.sampled_from(ACTIONS))
    number = draw(st.integers(0, 4))
    n = len(session.sentences[number].tokens)
    names = session.state.labels.names
    start = draw(st.integers(0, n - 1))
    piece = [start, draw(st.integers(start + 1, n)), draw(st.sampled_from(names))]
    if action == "accept":
        session.accept(user, request, number, {"spans": [piece]}, 1.0, 2)
    elif action == "settle":
        session.settle(user, request, number, {"spans": [piece]})
    elif action == "partial":
        outside = draw(st.booleans())
        session.partial(user, request, number, [[*piece[:2], None if outside else piece[2]]])
    elif action == "skip":
        session.skip(user, request, number)
    elif action == "flag":
        session.flag(user, request, number, draw(st.sampled_from(["odd", None])))
    elif action == "guidelines":
        session.guidelines(user, request, draw(st.sampled_from(["one", "two"])))
    elif action == "undo":
        session.undo(user, request)
    elif action == "repair":
        change = {"from": piece[2], "to": draw(st.sampled_from([*names, None]))}
        session.repair(user, request, list(range(5)), draw(st.sampled_from([change, "model"])))
    else:
        other = draw(st.sampled_from(names))
        new = draw(st.sampled_from(["GPE", "ORG", "PER", "LOC"]))
        change = draw(
            st.sampled_from(
                [
                    {"action": "add", "name": new},
                    {"action": "rename", "old": piece[2], "new": new},
                    {"action": "merge", "old": piece[2], "into": other},
                    {"action": "recolour", "name": other, "colour": "teal"},
                ]
            )
        )
        session.change_labels(user, request, change)


def told(session: Session) -> Any:
    """All that users see, and what the model knows."""
    state = copy.deepcopy(session.state)
    return (
        [label._asdict() for label in state.labels],
        state.guidelines,
        {i: (e.annotation, state.reader(e)) for i in range(5) if (e := state.latest(i))},
        {i: event.body for i, event in state.partial.items()},
        state.flags,
        state.skipped,
        session.counts(),
        session.learned.model.snapshot(),
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project file that has only been made."""
    folder = tmp_path_factory.mktemp("project")
    with made(folder):
        pass
    return folder / "a.seqpa"


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_sequence_of_changes_folds_and_unfolds(
    data: st.DataObject, project: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.seqpa"
    shutil.copy(project, path)
    request = Requests()
    with opened(path) as session:
        first = told(session)
        for _ in range(data.draw(st.integers(1, 20))):
            before = told(session)
            number = session.state.all[-1].id if session.state.all else 0
            try:
                act(session, data.draw, request())
            except SeqpaError:
                assert told(session) == before
                continue
            last = session.state.all[-1] if session.state.all else None
            new = last is not None and last.id > number and last.undoes is None
            if last is not None and new and data.draw(st.integers(0, 3)) == 0:
                # An undo gives back what was, to the bit.
                session.undo(last.user, request())
                assert told(session) == before
        # The file's own views say the same as the state, and so does the model's replay.
        labels = {
            (i, reader): event.annotation
            for i, readers in session.state.labellings.items()
            for reader, event in readers.items()
        }
        assert session.store.labels() == labels
        current = {i: session.state.current(i) for i in session.state.labellings}
        _, sentences = load(path)
        assert {s.id: s.annotation for s in sentences if s.annotation is not None} == current
        confirmed = {i: event.body["confirmed"] for i, event in session.state.partial.items()}
        assert {s.id: s.confirmed for s in sentences if s.confirmed} == {
            i: pieces for i, pieces in confirmed.items() if pieces and i not in current
        }
        assert replayed(session) == session.learned.model.snapshot()
        last_told = told(session)
    with opened(path) as session:
        assert told(session) == last_told
        # Everything taken back, nothing has happened.
        for user in (*USERS, *USERS):
            while True:
                try:
                    session.undo(user, request())
                except SeqpaError:
                    break
        if not session.state.valid:
            assert told(session) == first
