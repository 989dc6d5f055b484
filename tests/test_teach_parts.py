"""Only the words that the model is unsure of are asked for: what is kept, learned, shown and
exported of a sentence whose rest is left to the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hands import gold, sentences
from typer.testing import CliRunner

from seqpa import SeqpaError
from seqpa.cli import app, main
from seqpa.data.teach_project import read_project
from seqpa.teach.learning import Learned, lessons
from seqpa.teach.model import TaughtModel
from seqpa.teach.project import create
from seqpa.teach.session import Session
from seqpa.teach.store import Store

TEXT = "\n".join(sentences(60)) + "\n"


class Played:
    """A session, and requests with names of their own."""

    def __init__(self, path: Path, confirm: str = "unsure") -> None:
        if not path.exists():
            text = path.with_suffix(".txt")
            text.write_text(TEXT)
            create(path, [text], labels=["PER", "LOC"]).close()
        self.session = Session(Store.open(path), confirm=confirm, background=False)
        self.asked = 0

    def do(self, what: str, *arguments: Any, **more: Any) -> Any:
        self.asked += 1
        return getattr(self.session, what)("ann", f"request {self.asked}", *arguments, **more)

    def whole(self, task: Any) -> Any:
        """Label a sentence as it should be, and go on; the next task."""
        right = {"spans": [list(span) for span in gold(task["tokens"])]}
        return self.do("accept", task["sentence"], right)["task"]

    def part(self, task: Any) -> Any:
        """Say what is right of the words that are asked for; the answer."""
        return self.do("partial", task["sentence"], judged(task), done=True, clock=task["clock"])

    def until_part(self, task: Any) -> Any:
        """Label sentences until one comes of which words are asked for."""
        for _ in range(50):
            if not task["whole"] and task["unsure"]:
                return task
            task = self.whole(task)
        raise AssertionError("no words were asked for")


def judged(task: Any) -> list[list[Any]]:
    """What is right at the unsure words, and what was confirmed before."""
    found = [list(piece) for piece in task["confirmed"]]
    right = gold(task["tokens"])
    for t in task["unsure"]:
        if any(start <= t < end for start, end, _ in found):
            continue
        around = next((list(span) for span in right if span[0] <= t < span[1]), None)
        found.append(around or [t, t + 1, None])
    return sorted(found)


@pytest.fixture
def played(tmp_path: Path) -> Any:
    one = Played(tmp_path / "a.seqpa")
    yield one
    one.session.close()


def test_sentences_that_measure_are_labelled_whole(played: Played) -> None:
    task = played.do("next")["task"]
    assert task["whole"]  # it has learned nothing yet
    for _ in range(40):
        if task is None:
            break
        assert task["whole"] == (task["why"] not in ("coverage", "grown"))
        task = played.whole(task) if task["whole"] else played.part(task)["task"]
    counts = played.session.views.counts()
    assert counts["parts"] > 5
    assert counts["labelled"] > 5
    found = played.session.views.progress()
    assert found["random"]["sentences"] > 3
    # What is opened by hand is opened whole.
    part = next(iter(played.session.desk.parts))
    assert played.session.sentence("ann", part)["whole"]


def test_what_is_confirmed_teaches_and_the_rest_does_not(played: Played) -> None:
    task = played.until_part(played.do("next")["task"])
    number, pieces = task["sentence"], judged(task)
    before = played.session.views.counts()
    learned: list[Any] = []
    model = played.session.learned.model
    own = model.learn
    model.learn = lambda *given: learned.append(given) or own(*given)  # type: ignore[method-assign]
    answer = played.part(task)
    assert [(given[1], given[2]) for given in learned] == [(None, pieces)]
    assert answer["task"]["sentence"] != number
    counts = answer["counts"]
    assert counts["parts"] == before["parts"] + 1
    assert (counts["labelled"], counts["unfinished"]) == (before["labelled"], 0)
    assert counts["open"] == before["open"] - 1
    # It is no more among what comes next, nor among what was left unfinished.
    row = played.session.views.rows(filter="part")["rows"][0]
    assert (row["sentence"], row["state"]) == (number, "part")
    assert not played.session.desk.queue._open[number]
    # The same request again changes nothing.
    events = len(played.session.state.all)
    again = played.session.partial("ann", f"request {played.asked}", number, pieces, done=True)
    assert again == answer
    assert len(played.session.state.all) == events


def test_undo_opens_it_again(played: Played) -> None:
    task = played.until_part(played.do("next")["task"])
    before = played.session.learned.model.snapshot()
    played.part(task)
    undone = played.do("undo")
    assert (undone["undone"], undone["sentence"]) == ("partial", task["sentence"])
    assert undone["task"]["whole"] is False
    assert undone["task"]["unsure"] == task["unsure"]
    assert undone["counts"]["parts"] == 0
    assert played.session.learned.model.snapshot() == before


def test_it_comes_again_when_the_model_grows_unsure(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = played.until_part(played.do("next")["task"])
    number = task["sentence"]
    task = played.part(task)["task"]
    monkeypatch.setattr("seqpa.teach.desk.UNSURE", 0.0)
    played.session.desk.look(0)
    assert not played.session.desk._grown
    # Nothing is sure enough any more: it comes before long, with what was confirmed of it.
    monkeypatch.setattr("seqpa.teach.desk.UNSURE", 1.1)
    played.session.desk.look(0)
    assert set(played.session.desk._grown) == {number}
    for _ in range(3):
        if task["sentence"] == number:
            break
        task = played.whole(task)
    assert (task["sentence"], task["why"], task["whole"]) == (number, "grown", False)
    assert task["confirmed"] == played.session.state.partial[number].body["confirmed"]
    assert not set(task["unsure"]) & {
        t for start, end, _ in task["confirmed"] for t in range(start, end)
    }
    played.part(task)
    assert number not in played.session.desk._grown


def test_whole_sentences_are_asked_for_again(played: Played) -> None:
    task = played.until_part(played.do("next")["task"])
    number = task["sentence"]
    played.part(task)
    told = played.session.change_confirm("all")
    assert told["confirm"] == played.session.views.about("ann")["confirm"] == "all"
    assert played.session.desk.queue._open[number]
    assert not played.session.desk.parts
    task = played.session.sentence("ann", number)
    assert task["whole"]
    assert task["confirmed"]
    answer = played.do("accept", number, task["annotation"])
    assert answer["counts"]["parts"] == 0
    with pytest.raises(SeqpaError, match="confirm is 'some': choose all or unsure"):
        played.session.change_confirm("some")


def test_nobody_overwrites_what_was_labelled_meanwhile(played: Played) -> None:
    task = played.until_part(played.do("next")["task"])
    played.do("accept", task["sentence"], {"spans": []})
    with pytest.raises(SeqpaError, match="meanwhile"):
        played.part(task)
    assert played.session.state.current(task["sentence"]) == {"spans": []}


def test_a_renamed_label_is_renamed_in_parts(played: Played) -> None:
    task = played.until_part(played.do("next")["task"])
    number = task["sentence"]
    word = next(i for i in range(len(task["tokens"])))
    played.do("partial", number, [[word, word + 1, "PER"]], done=True)
    played.do("change_labels", {"action": "rename", "old": "PER", "new": "NAME"})
    assert played.session.state.is_part(number)
    assert played.session.state.partial[number].body["confirmed"] == [[word, word + 1, "NAME"]]
    assert number in played.session.desk.parts


def test_goes_on_after_it_was_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.seqpa"
    one = Played(path)
    task = one.until_part(one.do("next")["task"])
    for _ in range(4):
        task = one.until_part(one.part(task)["task"])
    counts, parts = one.session.views.counts(), one.session.desk.parts
    snapshot = one.session.learned.model.snapshot()
    one.session.close()
    two = Played(path)
    assert two.session.views.counts() == counts
    assert two.session.desk.parts == parts
    # The model is a function of the events.
    learned = Learned(two.session.sentences, two.session.project.make_model, lambda _: None)
    learned.follow(lessons(two.session.state))
    assert learned.model.snapshot() == snapshot == two.session.learned.model.snapshot()
    two.session.close()


def test_parts_are_trained_on_and_exported_only_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.seqpa"
    one = Played(path)
    task = one.do("next")["task"]
    for at in range(50):
        task = one.whole(task) if task["whole"] or at < 31 else one.part(task)["task"]
    counts = one.session.views.counts()
    parts = {i: one.session.state.partial[i].body["confirmed"] for i in one.session.desk.parts}
    assert len(one.session.views.export("jsonl")[1].splitlines()) == counts["labelled"]
    for sentence, annotation in one.session.views.entries(parts=True):
        if sentence.id in parts:
            assert annotation is not None
            spans = [list(span) for span in annotation["spans"]]
            assert all(piece in spans for piece in parts[sentence.id] if piece[2] is not None)
    with_parts = one.session.views.export("jsonl", parts=True)[1]
    assert len(with_parts.splitlines()) == counts["labelled"] + counts["parts"]
    one.session.close()
    target = tmp_path / "out.jsonl"
    assert main(["teach", str(path), "--export", "jsonl", "--parts", "-o", str(target)]) == 0
    assert target.read_bytes() == with_parts
    # Training sees what is confirmed, and nothing of what is not.
    corpus = read_project(path)
    assert len(corpus) == counts["labelled"] + sum(map(bool, parts.values()))
    assert main(["teach", str(path), "--train", "-o", str(tmp_path / "m.safetensors")]) == 0
    assert "held out: F1" in capsys.readouterr().out


def test_words_without_a_label_are_not_confirmed(tmp_path: Path) -> None:
    """Where every word has a label, none cannot be one."""
    text = tmp_path / "a.txt"
    text.write_text(TEXT)
    store = create(tmp_path / "a.seqpa", [text], labels=["A", "B"], kind="tokens")
    session = Session(store, confirm="unsure", background=False)
    n = len(session.sentences[0].tokens)
    session.accept("ann", "1", 0, {"labels": ["A"] * n})
    answer = session.partial("ann", "2", 1, [[0, 1, "B"]], done=True)
    assert answer["counts"]["parts"] == 1
    assert session.partial("ann", "3", 2, [], done=True)["taught"]["wrong_tokens"] == 0
    assert session.views.counts()["parts"] == 2
    session.close()


def test_mistakes_are_told(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text(TEXT)
    run = CliRunner().invoke(app, ["teach", str(text), "--labels", "A", "--confirm", "some"])
    assert run.exit_code == 2
    assert not (tmp_path / "a.seqpa").exists()
    assert main(["teach", str(text), "--labels", "A", "--parts"]) == 2
    assert TaughtModel("spans", ["A"]).knows is False
