"""The project file: what was appended is there, the views say what `State` says, one process."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from served import PACKAGE

from seqpa.errors import SeqpaError
from seqpa.teach.events import State
from seqpa.teach.store import Event, Sentence, Store

SENTENCES = [
    Sentence(i, "a.txt", i, "Ann é", ["Ann", "é"], [[0, 3], [4, 5]], [["x"], ["y"]], {"spans": []})
    for i in range(4)
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "names.seqpa"


def event(kind: str = "skip", user: str = "ann", **more: Any) -> Event:
    return Event(kind, user, 1.5, more.pop("body", {}), **more)


def test_all_of_it_comes_back(path: Path) -> None:
    meta = {"kind": "spans", "labels": ["PER", "L,'é"], "seed": 3}
    events = [
        event("accept", sentence=1, annotation={"spans": [[0, 1, "PER"]]}, seconds=2.5, keys=3,
              clock=7, body={"why": "random", "predicted": {"spans": []}}, request="r1"),
        event("flag", sentence=0, body={"note": "odd 😀"}),
    ]  # fmt: skip
    with Store.create(path, meta, SENTENCES) as store:
        assert [store.append([one]) for one in events] == [1, 2]
        store.keep("model", 2, "1.0", b"\0\1")
        store.add_user("ann", "hash", 1.0)
    with Store.open(path) as store:
        assert store.meta() == meta
        assert store.sentences() == SENTENCES
        assert list(store.events()) == [one._replace(id=i + 1) for i, one in enumerate(events)]
        assert [one.id for one in store.events(after=1)] == [2]
        assert store.by_request("r1") == events[0]._replace(id=1)
        assert store.by_request("r2") is None
        assert store.kept("model") == (2, "1.0", b"\0\1")
        assert store.kept("nothing") is None
        assert store.users() == {"ann": "hash"}
    with pytest.raises(SeqpaError, match="is closed"):
        store.meta()


def test_several_events_are_kept_all_or_none(path: Path) -> None:
    with Store.create(path, {}, SENTENCES) as store:
        first = store.append([event("repair"), event(sentence=0), event(sentence=1)])
        assert [one.cause for one in store.events()] == [None, first, first]
        with pytest.raises(SeqpaError, match="cannot take this"):
            store.append([event("repair"), event(sentence=99)])  # no such sentence
        store.append([event(request="r")])
        with pytest.raises(SeqpaError, match="cannot take this"):
            store.append([event(request="r")])
        with pytest.raises(SeqpaError):
            store.append([event("undo", undoes=99)])
        assert [one.id for one in store.events()] == [1, 2, 3, 4]


def test_sentences_are_only_appended(path: Path) -> None:
    with Store.create(path, {}, SENTENCES) as store:
        new = [one._replace(id=4 + i, document="b") for i, one in enumerate(SENTENCES[:2])]
        store.extend(new)
        for wrong in ([new[0]], [new[0]._replace(id=7)], [new[0]._replace(id=6), new[1]]):
            with pytest.raises(SeqpaError, match="has the number"):
                store.extend(wrong)
        store.append([event(sentence=5)])
        store.extend([])
    with Store.open(path) as store:
        assert store.sentences() == [*SENTENCES, *new]


def test_the_views_say_what_the_state_says(path: Path) -> None:
    """Random labellings, corrections and undos of three readers."""
    rng = random.Random(4)
    with Store.create(path, {}, SENTENCES) as store:
        for _ in range(120):
            state = State(["A", "B"], store.events())
            user, number = rng.choice(["ann", "bob", "cy"]), rng.randrange(4)
            annotation = {"spans": [[0, rng.randrange(1, 3), rng.choice("AB")]]}
            own = [one for one in state.valid if one.user == user and one.cause is None]
            if own and rng.random() < 0.4:
                store.append([event("undo", user, undoes=own[-1].id)])
            elif rng.random() < 0.2 and state.roots:
                base = rng.choice([one for one in state.roots.values() if one in state.valid] or
                                  list(state.roots.values()))  # fmt: skip
                change = event("relabel", user, sentence=base.sentence, annotation=annotation)
                store.append([event("repair", user), change._replace(base=base.id)])
            else:
                store.append([event("accept", user, sentence=number, annotation=annotation)])
            state = State(["A", "B"], store.events())
            found = {
                (number, reader): one.annotation
                for number, readers in state.labellings.items()
                for reader, one in readers.items()
            }
            assert store.labels() == found
        step = State(["A", "B"])
        for one in store.events():
            step.add(one)
        assert step.labellings == state.labellings
        assert step.valid == state.valid
        assert len(state.undone) > 10


def test_one_process_at_a_time(path: Path) -> None:
    with Store.create(path, {}, []):
        with pytest.raises(SeqpaError, match="open in another process"):
            Store.open(path)
        code = f"from seqpa.teach.store import Store; Store.open({str(path)!r})"
        run = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONPATH": str(PACKAGE)}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert "open in another process" in run.stderr
    Store.open(path).close()


def test_a_file_that_is_there_is_not_replaced(path: Path) -> None:
    path.write_text("mine")
    with pytest.raises(SeqpaError, match="is there already"):
        Store.create(path, {}, [])
    assert path.read_text() == "mine"


def test_a_project_is_made_whole_or_not_at_all(path: Path) -> None:
    with pytest.raises(SeqpaError, match="count from 0"):
        Store.create(path, {}, [SENTENCES[1]])
    assert [one.name for one in path.parent.iterdir() if "lock" not in one.name] == []
    Store.create(path, {}, SENTENCES).close()


def test_files_that_are_no_projects(path: Path) -> None:
    with pytest.raises(SeqpaError, match="no such file"):
        Store.open(path)
    path.write_bytes(b"text" * 100)
    with pytest.raises(SeqpaError, match="no project"):
        Store.open(path)
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(SeqpaError, match="no project of seqpa teach"):
        Store.open(path)
    path.unlink()
    Store.create(path, {}, []).close()
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(SeqpaError, match="update seqpa"):
        Store.open(path)


def test_damage_is_told_when_a_project_is_opened(path: Path) -> None:
    many = [one._replace(id=i, position=i) for i, one in enumerate(SENTENCES * 100)]
    done = [event("accept", sentence=i, annotation={"spans": []}) for i in range(400)]
    Store.create(path, {}, many, events=done).close()
    whole = path.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    told = []
    for page in range(1, len(whole) // size):  # the first has the schema
        path.write_bytes(whole[: page * size] + b"\xff" * size + whole[(page + 1) * size :])
        with pytest.raises(SeqpaError, match=r"names.seqpa: is damaged") as caught:
            Store.open(path)
        told.append(str(caught.value))
    assert len(told) > 10
    assert not any("\n" in one for one in told)
    path.write_bytes(whole)
    Store.open(path).close()
    path.write_bytes(whole.replace("Ann é".encode(), b"Ann \xff\xff", 1))
    with Store.open(path) as store, pytest.raises(SeqpaError, match=r"is damaged: .*UTF-8"):
        store.sentences()


def test_what_cannot_be_written_is_told_when_it_is_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SeqpaError, match="needs a folder that is there and can be written"):
        Store.create(path.parent / "none" / "a.seqpa", {}, [])
    Store.create(path, {}, []).close()
    whole = Path.open

    def read_only(self: Path, mode: str = "r", *more: object, **named: object) -> object:
        if self == path and mode != "rb":  # as the system says it, but to root
            raise PermissionError(13, "Permission denied")
        return whole(self, mode, *more, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", read_only)
    with pytest.raises(SeqpaError, match="may not be read and written"):
        Store.open(path)
    monkeypatch.undo()
    Store.open(path).close()  # nobody has it open


def test_what_is_acknowledged_is_on_the_disk(path: Path) -> None:
    """WAL with synchronous=FULL: another reader of the file sees it, also without a close."""
    with Store.create(path, {}, SENTENCES) as store:
        mode = store._connection.execute("PRAGMA journal_mode").fetchone()[0]
        level = store._connection.execute("PRAGMA synchronous").fetchone()[0]
        assert (mode, level) == ("wal", 2)
        store.append([event(sentence=2)])
        with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as reader:
            assert reader.execute("SELECT sentence FROM events").fetchall() == [(2,)]
        reader.close()
