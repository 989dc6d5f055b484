"""`seqpa teach` loses nothing that it has acknowledged: killed, on a full disk, opened twice, its
browser closed in mid-sentence.

``SEQPA_KILLS=100`` kills it a hundred times, at random moments; by default a few times.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import sqlite3
import sys
import threading
import time
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from patience import until
from taught import Teaching, text_file

from seqpa import SeqpaError
from seqpa.cli import main
from seqpa.teach.events import State
from seqpa.teach.learning import Learned, lessons
from seqpa.teach.project import Project, create
from seqpa.teach.session import Session
from seqpa.teach.store import NotKept, Store

KILLS = int(os.environ.get("SEQPA_KILLS", "3"))
TEXT = " ".join(f"Ada{i} met Bob{i % 5} in Rome ." for i in range(60))

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def made(folder: Path, text: str = TEXT) -> Path:
    path = folder / "a.seqpa"
    create(path, [text_file(folder, text)], labels=["PER", "LOC"]).close()
    return path


def kept(path: Path) -> dict[int, Any]:
    """The labels in the file, which is whole, and whose model can be made."""
    with Store.open(path) as store:
        project = Project(store)
        state = State(project.labels, store.events())
        learned = Learned(project.sentences, project.make_model, project.cells)
        learned.follow(lessons(state))
        found = {i: state.current(i) for i in state.labellings}
        assert {i: label for (i, _), label in store.labels().items()} == found
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    return found


class Hand(threading.Thread):
    """Labels as quickly as it can, and remembers what was acknowledged."""

    def __init__(self, teaching: Teaching, rng: random.Random, known: dict[int, Any]) -> None:
        super().__init__()
        self.teaching = teaching
        self.rng = rng
        self.known = known
        self.last: tuple[str, dict[str, Any]] = ("", {})

    def run(self) -> None:
        try:
            while True:
                number = self.rng.randrange(60)
                spans = [[0, 1, self.rng.choice(["PER", "LOC"])]]
                body = {
                    "request": f"{self.rng.random()}", "sentence": number,
                    "annotation": {"spans": spans},
                }  # fmt: skip
                self.last = "/api/accept", body
                answer = self.teaching.ask(*self.last)
                assert answer.status == 200, answer.body
                self.known[number] = {"spans": spans}
                if self.rng.random() < 0.1:
                    self.last = "/api/undo", {"request": f"{self.rng.random()}"}
                    answer = self.teaching.ask(*self.last)
                    undone = answer.json["task"]
                    assert undone["sentence"] == number
                    del self.known[number]
                    if undone["labelled"]:
                        self.known[number] = undone["annotation"]
        except (OSError, HTTPException):
            pass  # it was killed, perhaps in the middle of an answer


def test_killed_at_random_moments(tmp_path: Path) -> None:
    path = made(tmp_path)
    rng = random.Random(KILLS)
    known: dict[int, Any] = {}
    unanswered: tuple[str, dict[str, Any]] = ("", {})
    for _ in range(KILLS):
        with Teaching(path, "--user", "ann") as teaching:
            if unanswered[0]:
                # What was under way when it was killed is sent again: it is done once.
                answer = teaching.ask(*unanswered)
                assert answer.status == 200, answer.body
                body = unanswered[1]
                if unanswered[0] == "/api/accept":
                    known[body["sentence"]] = body["annotation"]
                else:
                    told = answer.json
                    known.pop(told["sentence"], None)
                    if told["task"]["labelled"]:
                        known[told["sentence"]] = told["task"]["annotation"]
                count = teaching.get("/api/project")["counts"]["labelled"]
                assert count == len(known)
            hand = Hand(teaching, rng, known)
            hand.start()
            time.sleep(rng.uniform(0.0, 0.6))
            teaching.process.kill()
            teaching.process.wait()
            hand.join()
            unanswered = hand.last
        found = kept(path)
        # All that was acknowledged is there; of what was under way, all or nothing.
        sentence = unanswered[1].get("sentence")
        differing = {i for i in {*known, *found} if known.get(i) != found.get(i)}
        assert len(differing) <= 1
        if unanswered[0] == "/api/accept":
            assert differing <= {sentence}
    assert known


def test_asked_to_end_in_the_middle_of_work(tmp_path: Path) -> None:
    path = made(tmp_path)
    known: dict[int, Any] = {}
    with Teaching(path, "--user", "ann") as teaching:
        hand = Hand(teaching, random.Random(1), known)
        hand.start()
        until(lambda: len(known) > 3)
        assert teaching.end(signal.SIGTERM) == 0
        hand.join()
        assert "Traceback" not in teaching.error
    found = kept(path)
    differing = {i for i in {*known, *found} if known.get(i) != found.get(i)}
    assert len(differing) <= 1  # whose answer did not come through any more


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process")
def test_a_full_disk_keeps_nothing_of_it_and_says_so(tmp_path: Path) -> None:
    import resource

    path = made(tmp_path)
    size = path.stat().st_size + 50_000
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, unlimited[1]))

    known: dict[int, Any] = {}
    with Teaching(path, "--user", "ann", before=small_files) as teaching:
        for number in range(60):
            body = {
                "request": f"r{number}", "sentence": number,
                "annotation": {"spans": [[0, 1, "PER"]]},
            }  # fmt: skip
            answer = teaching.ask("/api/accept", body)
            if answer.status != 200:
                break
            known[number] = body["annotation"]
        assert answer.status == 507, answer.body
        assert "nothing of this was kept" in answer.json["detail"]
        assert 0 < len(known) < 60
        # It goes on telling, and proposing.
        assert teaching.get("/api/project")["counts"]["labelled"] == len(known)
        assert teaching.ask("/api/propose", {"sentence": 50, "confirmed": []}).status == 200
        assert teaching.ask("/api/accept", body).status == 507
        # There is room again: the same request goes through.
        resource.prlimit(teaching.process.pid, resource.RLIMIT_FSIZE, unlimited)
        assert teaching.ask("/api/accept", body).status == 200
        known[number] = body["annotation"]
        assert teaching.get("/api/project")["counts"]["labelled"] == len(known)
    assert kept(path) == known


def test_a_file_that_may_not_grow_is_a_full_disk(tmp_path: Path) -> None:
    session = Session(Store.open(made(tmp_path)), background=False)
    session.accept("ann", "one", 0, {"spans": []})
    pages = session.store._connection.execute("PRAGMA page_count").fetchone()[0]
    session.store._connection.execute(f"PRAGMA max_page_count = {pages}")
    clock = session.learned.model.clock
    with pytest.raises(NotKept, match="the disk is full: nothing of this was kept"):
        session.guidelines("ann", "two", "much " * 19_000)
    assert (session.state.guidelines, len(session.state.all)) == ("", 1)
    assert session.learned.model.clock == clock
    session.store._connection.execute("PRAGMA max_page_count = 1000000")
    assert session.guidelines("ann", "two", "much " * 19_000)["event"] == 2
    session.close()


def test_a_second_process_is_sent_away_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made(tmp_path)
    with Teaching(path, "--user", "ann") as teaching:
        for more in (["--no-browser"], ["--export", "conll", "-o", str(tmp_path / "o.conll")]):
            assert main(["teach", str(path), *more]) == 2
            told = capsys.readouterr().err
            assert told == (
                f"seqpa: error: {path}: is open in another process: go on there, or end that one "
                "first\n"
            )
        assert teaching.do("accept", sentence=0, annotation={"spans": []})["event"] == 1
    with pytest.raises(SeqpaError, match="is open in another process"), Store.open(path):
        Store.open(path)
    assert kept(path) == {0: {"spans": []}}


def test_two_tabs(tmp_path: Path) -> None:
    path = made(tmp_path)
    with Teaching(path, "--user", "ann") as teaching:
        one, two = teaching.do("next")["task"], teaching.do("next")["task"]
        number = one["sentence"]
        assert number != two["sentence"]
        same = teaching.get(f"/api/sentences/{number}")
        first = {"spans": [[0, 1, "PER"]]}
        teaching.do("accept", sentence=number, annotation=first, clock=one["clock"])
        body = {"request": "x", "sentence": number, "annotation": {"spans": []}}
        answer = teaching.ask("/api/accept", {**body, "clock": same["clock"]})
        assert answer.status == 409
        assert "meanwhile" in answer.json["detail"]
        teaching.do("accept", sentence=two["sentence"], annotation=first, clock=two["clock"])
    assert kept(path) == {number: first, two["sentence"]: first}


def test_a_browser_that_is_closed_in_mid_sentence(tmp_path: Path) -> None:
    """Its last request is kept, though nobody waits for the answer; then the server is killed."""
    path = made(tmp_path)
    with Teaching(path, "--user", "ann") as teaching:
        number = teaching.do("next")["task"]["sentence"]
        body = f'{{"request": "r", "sentence": {number}, "confirmed": [[0, 1, "PER"]]}}'.encode()
        head = (
            f"POST /api/partial HTTP/1.1\r\nhost: 127.0.0.1:{teaching.port}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", teaching.port)) as connection:
            connection.sendall(head.encode() + body)
        until(lambda: teaching.get("/api/project")["counts"]["unfinished"] == 1)
        teaching.process.kill()
    with Teaching(path, "--user", "ann") as teaching:
        task = teaching.do("next")["task"]
        assert (task["sentence"], task["why"]) == (number, "unfinished")
        assert task["confirmed"] == [[0, 1, "PER"]]
        assert task["annotation"]["spans"][0] == [0, 1, "PER"]
