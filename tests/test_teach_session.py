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
from seqpa.teach.project import FILE, create
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
        session.views.counts(),
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
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
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


# The loop


def test_a_sentence_is_learned_and_the_next_one_comes(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        seen = []
        task = session.next("ann", request())["task"]
        while task is not None:
            seen.append(task["sentence"])
            labels = {"spans": [[0, 1, "PER"]] if task["tokens"][0] in ("Ada", "Bob") else []}
            answer = session.accept(
                "ann", request(), task["sentence"], labels, 2.0, 1, task["proposal"], task["clock"]
            )
            assert answer["counts"]["labelled"] == len(seen) == answer["counts"]["clock"]
            task = answer["task"]
        assert sorted(seen) == list(range(len(session.sentences)))
        assert session.learned.model.propose(["Ada", "paid"]).annotation == {
            "spans": [[0, 1, "PER"]]
        }
        progress = session.views.progress()
        assert progress["counts"]["open"] == 0
        assert progress["random"]["sentences"] > 0  # the first ones came by chance


def test_what_the_model_said_before_learning_is_in_the_event(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        task = session.next("ann", request())["task"]
        said = session.learned.model.propose(task["tokens"]).annotation
        labels = {"spans": [[0, 1, "LOC"]]}
        session.accept("ann", request(), task["sentence"], labels, proposed={"spans": []})
        event = session.state.all[-1]
        assert event.body == {"why": "random", "proposed": {"spans": []}, "predicted": said}
        assert event.clock == 0
        # A sentence that was taught in part is no measure any more.
        task = session.next("ann", request())["task"]
        assert task["why"] == "random"
        session.partial("ann", request(), task["sentence"], [[0, 1, None]])
        session.accept("ann", request(), task["sentence"], {"spans": []})
        assert session.state.all[-1].body["why"] == "unfinished"


def test_a_random_sentence_that_is_undone_is_still_one(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        task = session.next("ann", request())["task"]
        session.accept("ann", request(), task["sentence"], {"spans": []})
        back = session.undo("ann", request())
        assert (back["undone"], back["sentence"]) == ("accept", task["sentence"])
        assert back["task"]["labelled"] is None
        session.accept("ann", request(), task["sentence"], {"spans": [[0, 1, "PER"]]})
        assert session.state.all[-1].body["why"] == "random"


def test_a_random_sentence_that_is_reloaded_is_still_one(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        task = session.next("ann", request())["task"]
        # A page that is loaded again first gives back what it had.
        session.release("ann", task["sentence"])
        again = session.sentence("ann", task["sentence"])
        assert again["why"] == "random"
        # What it said as it went may also come after it has asked for it again.
        session.release("ann", task["sentence"], task["loan"])
        assert session.team.holder(task["sentence"], now=0.0) == "ann"
        assert session.next("ann", request())["task"]["sentence"] != task["sentence"]
        session.release("ann", task["sentence"], again["loan"])
        assert session.team.holder(task["sentence"], now=0.0) is None
        session.accept("ann", request(), task["sentence"], {"spans": [[0, 1, "PER"]]})
        assert session.state.all[-1].body["why"] == "random"
        assert session.sentence("ann", task["sentence"])["why"] == "asked"


def test_confirmed_tokens_teach_and_come_back(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        task = session.next("ann", request())["task"]
        number, n = task["sentence"], len(task["tokens"])
        answer = session.partial("ann", request(), number, [[0, 1, "PER"]], 3.0, 2)
        assert answer["annotation"]["spans"][0] == [0, 1, "PER"]
        assert answer["counts"]["clock"] == answer["counts"]["unfinished"] == 1
        # The same again is nothing new.
        again = session.partial("ann", request(), number, [[0, 1, "PER"]])
        assert again["event"] is None
        assert again["counts"]["clock"] == 1
        # While a page has it, it does not come in circles; given back, it comes first.
        assert session.next("ann", request())["task"]["sentence"] != number
        session.release("ann", number)
    with opened(tmp_path / "a.seqpa") as session:
        task = session.next("ann", request())["task"]
        assert (task["sentence"], task["why"]) == (number, "unfinished")
        assert task["confirmed"] == [[0, 1, "PER"]]
        session.accept("ann", request(), number, {"spans": [[0, n, "PER"]]})
        assert session.views.counts()["unfinished"] == 0
        # Labelled is labelled: what is begun anew is kept only when it is accepted.
        assert session.partial("ann", request(), number, [[0, 1, "LOC"]])["event"] is None


def test_the_same_request_is_done_once(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        first = session.next("ann", "a")
        assert session.next("ann", "a") is first
        number = first["task"]["sentence"]
        answer = session.accept("ann", "b", number, {"spans": []})
        assert session.accept("ann", "b", number, {"spans": []}) == answer
        with pytest.raises(Collision, match="used before"):
            session.skip("bob", "b", number)
        labels = session.change_labels("ann", "c", {"action": "add", "name": "ORG"})
        assert session.change_labels("ann", "c", {"action": "add", "name": "ORG"}) == labels
        undone = session.undo("ann", "d")
        assert session.undo("ann", "d") == undone
        events = len(session.state.all)
    with opened(tmp_path / "a.seqpa") as session:  # which remembers no answers
        assert session.accept("ann", "b", number, {"spans": []})["event"] == answer["event"]
        assert session.undo("ann", "d")["undone"] == "labels"
        assert len(session.state.all) == events
        assert session.views.counts()["labelled"] == 1


def test_undo_goes_back_to_the_beginning_and_says_so(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        first = session.learned.model.snapshot()
        for number in range(4):
            session.accept("ann", request(), number, {"spans": [[0, 1, "PER"]]})
        session.skip("ann", request(), 5)
        session.flag("ann", request(), 6, "odd")
        kinds = [session.undo("ann", request())["undone"] for _ in range(6)]
        assert kinds == ["flag", "skip", *["accept"] * 4]
        assert session.learned.model.snapshot() == first
        assert session.views.counts()["open"] == len(session.sentences)
        with pytest.raises(SeqpaError, match="nothing to undo"):
            session.undo("ann", request())


def test_whoever_undoes_many_holds_the_last_alone(tmp_path: Path) -> None:
    with made(tmp_path, users=["ann", "bob"]) as session:
        request = Requests()
        for number in range(4):
            session.accept("ann", request(), number, {"spans": []})
        for _ in range(3):
            session.undo("ann", request())
        with pytest.raises(SeqpaError, match="ann is at this sentence now"):
            session.accept("bob", request(), 1, {"spans": []})
        for number in (2, 3):
            assert session.accept("bob", request(), number, {"spans": []})["event"]


def test_an_undo_far_back_uses_snapshots_to_the_same_bits(tmp_path: Path) -> None:
    """Of two users: what the other one has taught since stays."""
    text = " ".join(f"Ada{i} met Bob{i % 7} in Rome ." for i in range(80))
    with made(tmp_path, text) as session:
        request = Requests()
        answer = session.accept("bob", request(), 79, {"spans": [[0, 1, "PER"]]})
        session.release("bob", answer["task"]["sentence"])
        for number in range(70):
            session.accept("ann", request(), number, {"spans": [[0, 1, "PER"], [4, 5, "LOC"]]})
        session.learned.rest()
        for _ in range(20):
            session.undo("ann", request())
        assert replayed(session) == session.learned.model.snapshot()
        session.undo("bob", request())
        assert session.learned.model.snapshot() == replayed(session)
        assert session.views.counts()["labelled"] == 50


def test_a_snapshot_in_the_file_counts_only_for_its_lessons(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        for number in range(5):
            session.accept("ann", f"r{number}", number, {"spans": [[0, 1, "PER"]]})
        path = session.store.path
    with opened(path) as session:
        whole = session.learned.model.snapshot()
        assert session.store.kept("model") is not None
        assert replayed(session) == whole
        event = session.store.kept("model")[0]
        session.store.keep("model", event, "0.0", b"of another version")
    with opened(path) as session:
        assert session.learned.model.snapshot() == whole
        data = session.store.kept("model")
        session.undo("ann", "u")
        less = session.learned.model.snapshot()
        session.learned.keep(session.store, always=True)
        session.store.keep("model", *data)  # as if it had been killed before it kept the new one
        session.store.close()
    with opened(path) as session:
        assert session.learned.model.snapshot() == less != whole


# Labels


def test_labels_change_and_nothing_is_forgotten(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        session.accept("ann", request(), 0, {"spans": [[0, 1, "PER"]]})
        session.accept("bob", request(), 0, {"spans": [[0, 2, "LOC"]]})
        session.partial("ann", request(), 1, [[0, 1, "PER"]])
        clock = session.learned.model.clock
        session.change_labels("ann", request(), {"action": "rename", "old": "PER", "new": "WHO"})
        assert session.learned.model.clock == clock
        # Bob's labels still count, though Ann's were written again.
        assert session.state.current(0) == {"spans": [[0, 2, "LOC"]]}
        assert session.state.labellings[0]["ann"].annotation == {"spans": [[0, 1, "WHO"]]}
        assert session.state.partial[1].body["confirmed"] == [[0, 1, "WHO"]]
        session.undo("bob", request())
        assert session.state.current(0) == {"spans": [[0, 1, "WHO"]]}
        assert session.views.counts()["unfinished"] == 1
        session.change_labels("ann", request(), {"action": "merge", "old": "WHO", "into": "LOC"})
        assert session.state.current(0) == {"spans": [[0, 1, "LOC"]]}
        assert session.learned.model.labels == ["LOC"]
        with pytest.raises(SeqpaError, match="there is no label 'WHO'"):
            session.accept("ann", request(), 2, {"spans": [[0, 1, "WHO"]]})


def test_labelled_sentences_are_offered_again_when_a_label_is_new(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        for number in range(len(session.sentences)):
            session.accept("ann", request(), number, {"spans": []})
        answer = session.change_labels("ann", request(), {"action": "add", "name": "CITY"})
        assert answer["again"] == answer["counts"]["again"] == len(session.sentences)
        task = session.next("ann", request())["task"]
        assert (task["why"], task["labelled"]["user"]) == ("again", "ann")
        told = session.accept("ann", request(), task["sentence"], {"spans": [[0, 1, "CITY"]]})
        assert told["counts"]["again"] == len(session.sentences) - 1
        assert session.views.rows(filter="again")["total"] == len(session.sentences) - 1
        assert session.undo("ann", request())["counts"]["again"] == len(session.sentences)


def test_what_is_skipped_when_it_is_offered_again_does_not_come_in_circles(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        for number in range(len(session.sentences)):
            session.accept("ann", request(), number, {"spans": []})
        session.skip("ann", request(), 3)  # before there was a reason to look again
        session.change_labels("ann", request(), {"action": "add", "name": "CITY"})
        task = session.next("ann", request())["task"]
        for number in range(len(session.sentences)):
            assert (task["why"], task["sentence"]) == ("again", number)
            task = session.skip("ann", request(), number)["task"]
        assert task is None
        # Another label is another reason.
        session.change_labels("ann", request(), {"action": "add", "name": "RIVER"})
        assert session.next("ann", request())["task"]["why"] == "again"


def test_what_the_new_label_may_be_in_comes_first(tmp_path: Path) -> None:
    text = "They met in Rome . Nobody paid . Rome burned . So it is . " + "Rome fell . " * 60
    with made(tmp_path, text) as session:
        request = Requests()
        for number in range(4):
            session.accept("ann", request(), number, {"spans": []})
        session.change_labels("ann", request(), {"action": "add", "name": "CITY"})
        session.accept("ann", request(), 0, {"spans": [[3, 4, "CITY"]]})
        for number in range(6, 16):
            session.accept("ann", request(), number, {"spans": [[0, 1, "CITY"]]})
        session.desk.look(0)
        tasks = [session.next("ann", request())["task"] for _ in range(6)]
        # The model once learned that "Rome burned" has no label, and yet thinks of it.
        assert [t["sentence"] for t in tasks if t["why"] == "again"] == [2]


# Many at once


def test_a_repair_changes_many_and_is_undone_as_one(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        for number in range(3):
            session.accept("ann", request(), number, {"spans": [[0, 1, "LOC"]]})
        clock = session.learned.model.clock
        change = {"from": "LOC", "to": "PER"}
        answer = session.repair("ann", request(), [0, 1, 7], change)
        assert (answer["changed"], session.learned.model.clock) == (2, clock + 2)
        assert session.state.current(1) == {"spans": [[0, 1, "PER"]]}
        assert session.repair("ann", request(), [0, 1], change) == {
            "event": None, "changed": 0, "counts": answer["counts"],
        }  # fmt: skip
        session.repair("ann", request(), [0], {"from": "PER", "to": None})
        assert session.state.current(0) == {"spans": []}
        session.undo("ann", request())
        session.undo("ann", request())
        assert session.state.current(1) == {"spans": [[0, 1, "LOC"]]}
        assert session.learned.model.clock == clock
        with pytest.raises(SeqpaError, match="no label 'X'"):
            session.repair("ann", request(), [0], {"from": "X", "to": "PER"})
        with pytest.raises(NoSuchSentence):
            session.repair("ann", request(), [99], change)


def test_disagreements_come_surest_first_and_can_be_taken_over(tmp_path: Path) -> None:
    text = " ".join(f"Ada went to Rome{' again' * (i % 3)} ." for i in range(40))
    with made(tmp_path, text) as session:
        request = Requests()
        right = {"spans": [[0, 1, "PER"], [3, 4, "LOC"]]}
        for number in range(30):
            session.accept("ann", request(), number, right)
        session.accept("ann", request(), 30, {"spans": [[0, 1, "LOC"]]})
        for number in range(31, 40):
            session.accept("ann", request(), number, right)
        found = session.views.rows(filter="disagree")
        assert [row["sentence"] for row in found["rows"]] == [30]
        assert found["rows"][0]["doubt"] > 0.5
        assert found["rows"][0]["model"] == right
        assert session.repair("ann", request(), [30], "model")["changed"] == 1
        assert session.views.rows(filter="disagree")["total"] == 0


def test_rows_by_search_filter_label_and_user(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        session.accept("ann", request(), 0, {"spans": [[0, 1, "PER"]]})
        session.accept("bob", request(), 1, {"spans": [[0, 1, "LOC"]]})
        session.skip("ann", request(), 2)
        session.flag("ann", request(), 3, "odd")
        session.partial("ann", request(), 4, [[0, 1, None]])

        def numbers(**asked: Any) -> list[int]:
            return [row["sentence"] for row in session.views.rows(**asked)["rows"]]

        assert numbers(filter="labelled") == [0, 1]
        assert numbers(filter="skipped") == [2]
        assert numbers(filter="flagged") == [3]
        assert numbers(filter="unfinished") == [4]
        assert numbers(filter="open")[:3] == [3, 5, 6]
        assert numbers(label="LOC") == numbers(user="bob") == [1]
        assert numbers(search="ROME", limit=2) == [1, 4]
        assert session.views.rows(search="ROME", limit=2)["total"] == 3
        with pytest.raises(SeqpaError, match="filter is 'all ones'"):
            session.views.rows(filter="all ones")


# Several people


def test_nobody_overwrites_anybody(tmp_path: Path) -> None:
    time = [0.0]
    with made(tmp_path) as session:
        session.close()
    users = ("ann", "bob")
    with opened(tmp_path / "a.seqpa", users=users, now=lambda: time[0]) as session:
        request = Requests()
        task = session.next("ann", request())["task"]
        number = task["sentence"]
        others = [session.next("bob", request())["task"]["sentence"] for _ in range(3)]
        assert number not in others
        with pytest.raises(Collision, match="ann is at this sentence now"):
            session.accept("bob", request(), number, {"spans": []})
        time[0] += 1_000  # the lock has expired
        session.accept("bob", request(), number, {"spans": []}, clock=task["clock"])
        with pytest.raises(Collision, match="bob has labelled this sentence meanwhile"):
            session.accept("ann", request(), number, {"spans": []}, clock=task["clock"])
        # Whoever has seen Bob's labels may say otherwise; his stay beside.
        task = session.sentence("ann", number)
        session.accept("ann", request(), number, {"spans": [[0, 1, "PER"]]}, clock=task["clock"])
        assert set(session.state.labellings[number]) == {"ann", "bob"}
        session.settle("ann", request(), number, {"spans": [[0, 1, "PER"]]})
        with pytest.raises(Collision, match="ann has settled"):
            session.accept("bob", request(), number, {"spans": []})


def test_two_tabs_of_one_user_do_not_do_the_same(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        request = Requests()
        one = session.next("ann", request())["task"]
        two = session.next("ann", request())["task"]
        assert one["sentence"] != two["sentence"]
        both = session.sentence("ann", one["sentence"])  # opened in the second one as well
        session.accept("ann", request(), one["sentence"], {"spans": []}, clock=one["clock"])
        with pytest.raises(Collision, match="you have labelled this sentence meanwhile"):
            session.accept("ann", request(), one["sentence"], {"spans": []}, clock=both["clock"])


def test_an_undo_does_not_end_the_loan_of_another(tmp_path: Path) -> None:
    with made(tmp_path, share=0.0) as session:
        session.close()
    with opened(tmp_path / "a.seqpa", users=("ann", "bob")) as session:
        request = Requests()
        session.accept("ann", request(), 0, {"spans": []})
        bobs = session.sentence("bob", 0)
        anns = session.undo("ann", request())["task"]
        session.release("ann", 0, anns["loan"])
        assert session.team.holder(0, session._now()) == "bob"
        session.release("bob", 0, bobs["loan"])
        assert session.team.holder(0, session._now()) is None


def test_a_share_is_read_twice_and_differences_are_settled(tmp_path: Path) -> None:
    with made(tmp_path, share=1.0) as session:
        session.close()
    with opened(tmp_path / "a.seqpa", users=("ann", "bob")) as session:
        request = Requests()
        session.accept("ann", request(), 3, {"spans": [[0, 1, "PER"]]})
        task = session.next("bob", request())["task"]
        assert (task["sentence"], task["why"], task["labelled"]) == (3, "second", None)
        told = session.accept("bob", request(), 3, {"spans": []}, clock=task["clock"])
        assert told["counts"]["differences"] == 1
        team = session.views.about_team()
        assert team["agreement"]["sentences"] == 1
        readers = [reading["user"] for reading in team["differences"][0]["readings"]]
        assert (readers, team["share"]) == (["ann", "bob"], 1.0)
        assert session.settle("ann", request(), 3, {"spans": []})["counts"]["differences"] == 0
        # Skipped by one, a sentence still goes to the other.
        session.skip("ann", request(), 5)
        assert session.views.counts()["open"] == len(session.sentences) - 1
        session.skip("bob", request(), 5)
        assert session.views.counts()["open"] == len(session.sentences) - 2


def test_many_threads_lose_nothing(tmp_path: Path) -> None:
    text = " ".join(f"Ada{i} met Bob ." for i in range(60))
    with made(tmp_path, text) as session:
        wrong: list[BaseException] = []

        def work(user: str) -> None:
            try:
                task = session.next(user, f"{user} first")["task"]
                for turn in range(12):
                    session.propose(task["sentence"], [[0, 1, "PER"]])
                    task = session.accept(
                        user, f"{user} {turn}", task["sentence"], {"spans": [[0, 1, "PER"]]}
                    )["task"]
                    session.views.rows(filter="disagree")
                session.undo(user, f"{user} undo")
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(f"user{i}",)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert session.views.counts()["labelled"] == 44
        assert replayed(session) == session.learned.model.snapshot()


# How a project begins


def conll(folder: Path, *sentences: str) -> Path:
    path = folder / "a.conll"
    path.write_text("".join(s.replace(" ", "\n").replace("/", "\t") + "\n\n" for s in sentences))
    return path


@pytest.mark.parametrize("given", ["auto", "labelled", "proposed", "ignored"])
def test_labels_in_the_files_count_as_is_said(tmp_path: Path, given: str) -> None:
    path = conll(tmp_path, "Ada/B-PER won/O", "So/O it/O is/O")
    store = create(tmp_path / "a.seqpa", [path], labels=["LOC"], given=given)
    session = Session(store, background=False)
    counts = session.views.counts()
    task = session.sentence("ann", 0)
    if given == "labelled":
        assert (counts["labelled"], counts["clock"], counts["open"]) == (2, 2, 0)
        assert task["labelled"]["user"] == FILE
    else:
        assert (counts["labelled"], counts["open"], task["labelled"]) == (0, 2, None)
    shown = [[0, 1, "PER"]] if given != "ignored" else []
    assert task["annotation"] == {"spans": shown}
    names = ["LOC"] if given == "ignored" else ["LOC", "PER"]
    assert session.state.labels.names == names
    if given == "auto":  # all have labels: they are to be gone over, under their names of now
        session.change_labels("ann", "r", {"action": "rename", "old": "PER", "new": "WHO"})
        assert session.sentence("ann", 0)["annotation"] == {"spans": [[0, 1, "WHO"]]}
        assert session.sentence("ann", 0)["proposal"] == {"spans": []}
    session.close()


def test_what_the_files_leave_open_is_left_to_be_labelled(tmp_path: Path) -> None:
    path = conll(tmp_path, "Ada/B-PER won/O", "Ada/B-PER saw/_ Rome/_", "So/_ it/_")
    session = Session(create(tmp_path / "a.seqpa", [path]), background=False)
    counts = session.views.counts()
    assert (counts["labelled"], counts["unfinished"], counts["open"]) == (1, 0, 2)
    assert counts["clock"] == 1  # nothing of the second is known: Ada may go on in the next word
    session.close()
    path = conll(tmp_path, "Ada/B-PER won/O", "So/O Ada/_", "So/_ it/_")
    session = Session(create(tmp_path / "b.seqpa", [path]), background=False)
    counts = session.views.counts()
    assert (counts["labelled"], counts["unfinished"], counts["clock"]) == (1, 1, 2)
    task = session.sentence("ann", 1)
    assert (task["confirmed"], task["labelled"]) == ([[0, 1, None]], None)
    session.close()


def test_labels_that_are_gone_over_stay_where_nothing_is_confirmed(tmp_path: Path) -> None:
    path = conll(tmp_path, "Ada/B-PER saw/O Rome/B-LOC and/O New/B-LOC York/I-LOC", "So/O it/O")
    store = create(tmp_path / "b.seqpa", [path], given="proposed")
    session = Session(store, background=False)
    rest = [[2, 3, "LOC"], [4, 6, "LOC"]]
    told = session.propose(0, [[0, 1, "LOC"]])
    assert told["annotation"] == {"spans": [[0, 1, "LOC"], *rest]}
    # A span that is cut goes, and what is confirmed to be none.
    told = session.propose(0, [[1, 2, "PER"], [2, 3, None], [5, 6, "PER"]])
    assert told["annotation"] == {"spans": [[0, 1, "PER"], [1, 2, "PER"], [5, 6, "PER"]]}
    session.partial("ann", "one", 0, [[0, 1, "LOC"]])
    assert session.sentence("ann", 0)["annotation"] == {"spans": [[0, 1, "LOC"], *rest]}
    session.change_labels("ann", "two", {"action": "rename", "old": "LOC", "new": "PLACE"})
    row = session.views.rows()["rows"][0]
    shown = [[0, 1, "PER"], [2, 3, "PLACE"], [4, 6, "PLACE"]]
    assert (row["annotation"], row["model"]) == (None, {"spans": shown})
    session.close()
    path = conll(tmp_path, "Ada/X saw/Y Rome/X", "So/Y it/Y")
    store = create(tmp_path / "c.seqpa", [path], given="proposed", kind="tokens")
    session = Session(store, background=False)
    assert session.propose(0, [[1, 2, "X"]])["annotation"] == {"labels": ["X", "X", "X"]}
    session.close()


def test_a_model_is_gone_on_from(tmp_path: Path) -> None:
    names_tagger().save(tmp_path / "m.safetensors")
    (tmp_path / "a.txt").write_text("Ada met Anna in Paris. Zoe left.")
    store = create(tmp_path / "a.seqpa", [tmp_path / "a.txt"], model=tmp_path / "m.safetensors")
    (tmp_path / "m.safetensors").unlink()  # the project has it
    session = Session(store, background=False)
    assert sorted(session.state.labels.names) == ["LOC", "PER"]
    proposal = session.sentence("ann", 0)["proposal"]
    assert proposal == {"spans": [[0, 1, "PER"], [2, 3, "PER"], [4, 5, "LOC"]]}
    # It is as sure as models are, before any lesson, and says where it is not.
    sure, unsure = (session.sentence("ann", 0)[name] for name in ("sure", "unsure"))
    assert min(sure) > 0.6
    assert unsure == [i for i, one in enumerate(sure) if one < 0.75]
    for turn in range(3):
        session.accept("ann", f"r{turn}", 1, {"spans": [[0, 1, "PER"]]})
    assert session.sentence("ann", 1)["proposal"] == {"spans": [[0, 1, "PER"]]}
    whole = session.learned.model.snapshot()
    session.close()
    with opened(tmp_path / "a.seqpa") as session:
        assert replayed(session) == session.learned.model.snapshot() == whole


def test_models_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    other = names_tagger({"B-PER": "S-PER", "I-PER": "E-PER"}, constraints=None)
    other.save(tmp_path / "m.safetensors")
    (tmp_path / "a.txt").write_text("Ada left.")
    with pytest.raises(SeqpaError, match="cannot be gone on from"):
        create(
            tmp_path / "a.seqpa", [tmp_path / "a.txt"], kind="spans",
            model=tmp_path / "m.safetensors",
        )  # fmt: skip
    assert not (tmp_path / "a.seqpa").exists()
    with pytest.raises(SeqpaError, match="no labels yet"):
        create(tmp_path / "a.seqpa", [tmp_path / "a.txt"])
    with pytest.raises(SeqpaError, match="given is 'some'"):
        create(tmp_path / "a.seqpa", [tmp_path / "a.txt"], given="some")


def test_one_label_a_token(tmp_path: Path) -> None:
    with made(tmp_path, kind="tokens", labels=["N", "V"]) as session:
        request = Requests()
        n = len(session.sentences[0].tokens)
        session.accept("ann", request(), 0, {"labels": ["N", "V", *[None] * (n - 2)]})
        told = session.partial("ann", request(), 1, [[0, 1, "N"], [1, 2, None]])
        assert told["annotation"]["labels"][0] == "N"
        clock = session.learned.model.clock
        session.partial("ann", request(), 2, [[0, 1, None]])  # which says nothing
        assert session.learned.model.clock == clock == 2
        session.repair("ann", request(), [0], {"from": "N", "to": None})
        session.repair("ann", request(), [0], {"from": "V", "to": None})
        assert session.state.current(0) == {"labels": [None] * n}
        assert replayed(session) == session.learned.model.snapshot()
        assert session.views.exports() == ["conll", "conllu", "jsonl", "huggingface"]


def test_right_to_left_scripts_are_known(tmp_path: Path) -> None:
    with made(tmp_path, "שלום עולם. מה שלומך?") as session:
        assert session.views.about("ann")["direction"] == "rtl"


def test_the_strategy_changes_on_the_way(tmp_path: Path) -> None:
    with made(tmp_path, TEXT + TEXT) as session:
        request = Requests()
        for number in range(5):
            session.accept("ann", request(), number, {"spans": [[0, 1, "PER"]]})
        for strategy in ("density", "entropy", "random"):
            assert session.change_strategy(strategy) == {"strategy": strategy}
            assert session.views.counts()["open"] == len(session.sentences) - 5
            task = session.next("ann", request())["task"]
            assert task["why"] in (strategy, "random")
        with pytest.raises(SeqpaError, match="did you mean 'margin'"):
            session.change_strategy("margins")


def test_the_queue_is_looked_through_in_the_background(tmp_path: Path) -> None:
    text = " ".join(f"Ada{i} met Bob ." for i in range(150))
    with made(tmp_path, text) as session:
        request = Requests()
        for number in range(30):
            session.accept("ann", request(), number, {"spans": [[0, 1, "PER"]]})
        looked = 0
        while done := session.desk.look(looked):
            looked += done
        assert looked >= 120
        session.close()
    session = Session(Store.open(tmp_path / "a.seqpa"))  # with the thread
    assert session.background is not None
    for number in range(30, 60):
        session.accept("ann", request(), number, {"spans": [[0, 1, "PER"]]})
    session.close()
    with opened(tmp_path / "a.seqpa") as session:
        assert replayed(session) == session.learned.model.snapshot()


def test_what_is_asked_wrongly_changes_nothing(tmp_path: Path) -> None:
    with made(tmp_path) as session:
        wrong: list[Any] = [
            {"spans": [[0, 2, "PER"], [1, 3, "LOC"]]},
            {"spans": [[0, 99, "PER"]]},
            {"spans": [[0, 1, None]]},
            {"labels": ["PER"]},
            None,
        ]
        for i, annotation in enumerate(wrong):
            with pytest.raises(SeqpaError):
                session.accept("ann", f"r{i}", 0, annotation)
        with pytest.raises(NoSuchSentence, match="there is no sentence 99"):
            session.accept("ann", "r", 99, {"spans": []})
        with pytest.raises(SeqpaError, match="characters: 2,000 are the most"):
            session.flag("ann", "r", 0, "a" * 2_001)
        with pytest.raises(SeqpaError, match="nobody has labelled"):
            session.settle("ann", "r", 0, {"spans": []})
        assert not session.state.all
