"""`seqpa teach` over HTTP and as a command: the contract with its page, and hostile input."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import until
from served import PACKAGE
from taught import Teaching, text_file

from seqpa.cli import main
from seqpa.teach.project import create
from seqpa.teach.training import Training

XSS = '<img src=x onerror="alert(1)"><script>alert(2)</script>'


@pytest.fixture(scope="module")
def teaching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Teaching]:
    folder = tmp_path_factory.mktemp("teaching")
    project = folder / "a.seqpa"
    text = text_file(folder)
    with Teaching(text, "--labels", "PER,LOC", "--user", "ann", "--project", project) as found:
        yield found


def test_the_page_and_its_headers(teaching: Teaching) -> None:
    answer = teaching.ask("/")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    answer = teaching.ask("/api/project")
    assert answer.headers["cache-control"] == "no-store"
    project = answer.json
    assert (project["name"], project["kind"], project["user"], project["team"]) == (
        "a", "spans", "ann", False,
    )  # fmt: skip
    assert [label["name"] for label in project["labels"]][:2] == ["PER", "LOC"]
    assert {"name", "light", "dark"} == set(project["palette"][0])


def test_a_whole_session(tmp_path: Path) -> None:
    project = tmp_path / "a.seqpa"
    with Teaching(
        text_file(tmp_path), "--labels", "PER,LOC", "--user", "ann", "--project", project
    ) as teaching:
        task = teaching.do("next")["task"]
        assert task["text"][slice(*task["offsets"][0])] == task["tokens"][0]
        proposed = teaching.ask(
            "/api/propose", {"sentence": task["sentence"], "confirmed": [[0, 1, "LOC"]]}
        ).json
        assert proposed["annotation"]["spans"][0] == [0, 1, "LOC"]
        assert set(proposed) == {"annotation", "sure", "unsure"}
        for _ in range(4):
            answer = teaching.do(
                "accept", sentence=task["sentence"], annotation={"spans": [[0, 1, "PER"]]},
                seconds=1.5, keys=3, proposed=task["annotation"], clock=task["clock"],
            )  # fmt: skip
            task = answer["task"]
        assert answer["counts"]["labelled"] == 4
        assert set(answer["taught"]) == {"wrong_tokens", "cost", "tau"}
        left = task["sentence"]
        assert teaching.do("partial", sentence=left, confirmed=[[0, 1, None]], seconds=1, keys=1)
        task = teaching.do("skip", sentence=left)["task"]
        flagged = task["sentence"]
        assert teaching.do("flag", sentence=flagged, note="odd")["counts"]["flagged"] == 1
        again = teaching.do("labels", action="add", name="ORG", key="x", colour="teal")
        assert again["labels"][-1] == {"name": "ORG", "key": "x", "colour": "teal"}
        assert again["again"] == 4
        assert teaching.do("undo")["undone"] == "labels"
        teaching.do("labels", action="rename", old="PER", new="WHO")
        teaching.do("guidelines", text="Names of people and places.")
        assert teaching.ask("/api/strategy", {"strategy": "entropy"}).json["strategy"] == "entropy"
        found = teaching.get("/api/sentences?filter=labelled&label=WHO&limit=2")
        assert (found["total"], len(found["rows"])) == (4, 2)
        number = found["rows"][0]["sentence"]
        assert teaching.get(f"/api/sentences/{number}")["why"] == "asked"
        change = {"from": "WHO", "to": "LOC"}
        assert teaching.do("repair", sentences=[number], change=change)["changed"] == 1
        assert teaching.do("settle", sentence=number, annotation={"spans": []})["event"]
        assert teaching.get("/api/progress")["counts"]["labelled"] == 4
        assert teaching.get("/api/team")["users"][0]["name"] == "ann"
        assert teaching.ask("/api/release", {"sentence": flagged}).status == 200
        exported = teaching.ask("/api/export?format=jsonl")
        assert exported.headers["content-disposition"] == "attachment; filename*=UTF-8''a.jsonl"
        assert len(exported.body.splitlines()) == 4
        status = teaching.end(signal.SIGINT)
        assert (status, teaching.error) == (0, "")
    with Teaching(project, "--user", "ann") as teaching:
        about = teaching.get("/api/project")
        assert about["guidelines"] == "Names of people and places."
        assert about["counts"]["labelled"] == 4
        assert teaching.end() == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--given", "labelled", "--labels", "X,Y"],
            "3 sentences, labels X, Y, A, C, B and 1 more",
        ),
        ([], "3 sentences, labels A, C, B, D; those in the files are shown to be gone over"),
    ],
)
def test_what_a_new_project_has_is_told(tmp_path: Path, options: list[str], told: str) -> None:
    gold = tmp_path / "gold.conll"
    rows = [[("Ada", f"B-{a}"), ("saw", "O"), ("Rome", f"B-{b}")] for a, b in ("AB", "CD", "AC")]
    gold.write_text("\n".join("".join(f"{w}\t{t}\n" for w, t in row) for row in rows))
    with Teaching(gold, *options, "--columns", "word,label", "--project", tmp_path / "p") as own:
        assert own.lines[0].endswith(f"p.seqpa: {told}")


def test_full_training_runs_in_the_background_and_as_a_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = text_file(tmp_path, " ".join(f"Ada{i % 3} went to Rome{i % 4} ." for i in range(40)))
    project = tmp_path / "names.seqpa"
    with Teaching(text, "--labels", "PER,LOC", "--project", project) as teaching:
        assert teaching.get("/api/train")["state"] == "idle"
        nothing = teaching.do("train")
        assert nothing["state"] == "running"
        failed = until(lambda: _unless_running(teaching))
        assert failed["state"] == "failed"
        assert "no sentence of it is labelled yet" in failed["message"]
        teaching.do("accept", sentence=0, annotation={"spans": [[0, 1, "PER"], [3, 4, "LOC"]]})
        teaching.do("train")
        early = until(lambda: _unless_running(teaching))
        assert (early["state"], early["score"]) == ("done", None)
        assert early["message"].startswith("no score: 1 sentence is labelled whole; from 30 on")
        for number in range(1, 40):
            spans = [[0, 1, "PER"], [3, 4, "LOC"]]
            teaching.do("accept", sentence=number, annotation={"spans": spans})
        body = {"request": "one"}
        assert teaching.ask("/api/train", body).json["state"] == "running"
        teaching.do("train")  # one at a time
        done = until(lambda: _unless_running(teaching))
        assert teaching.ask("/api/train", body).json["state"] == "done"  # the same request
    assert (done["state"], done["metric"], done["message"]) == ("done", "F1", None)
    assert done["score"] > 0.9
    model = tmp_path / "names.safetensors"
    assert done["model"] == str(model)
    assert main(["tag", str(model), "--format", "text", str(text)]) == 0
    assert "B-LOC" in capsys.readouterr().out
    other = tmp_path / "other.safetensors"
    other.write_text("mine")
    assert main(["teach", str(project), "--train", "-o", str(other)]) == 2
    told = capsys.readouterr()
    assert "was not trained on names.seqpa" in told.err
    assert (told.out, other.read_text()) == ("", "mine")  # before it has begun
    assert main(["teach", str(project), "--train", "-o", str(other), "--force"]) == 0
    assert main(["teach", str(project), "--train", "-o", str(other)]) == 0  # its own
    assert "held out: F1" in capsys.readouterr().out
    assert main(["tag", str(other), "--format", "text", str(text)]) == 0
    target = tmp_path / "out.conll"
    assert main(["teach", str(project), "--export", "conll", "-o", str(target)]) == 0
    assert "40 labelled sentences" in capsys.readouterr().out
    assert target.read_text(encoding="utf-8").startswith("Ada0\tB-PER\nwent\tO\n")
    config = tmp_path / "seqpa.yaml"
    config.write_text(
        f"data: {{format: teach, train: {project}}}\nfeatures: {{preset: ner}}\n"
        f"learner: {{epochs: 2}}\noutput: {{model: {tmp_path / 'third.safetensors'}}}\n"
    )
    assert main(["train", str(config)]) == 0


def test_a_training_that_ends_slowly_does_not_end_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = threading.Event()

    class Ending(subprocess.Popen[str]):
        """A process that has told its last, and takes its time to end."""

        def wait(self, timeout: float | None = None) -> int:
            if self is made[0]:
                gone.wait()
            return super().wait(timeout)

    told = [{"state": "failed", "message": "nothing is labelled"}, {"state": "done"}]
    lines = [f"print({json.dumps(json.dumps(one))})" for one in told]
    go_on = tmp_path / "go on"
    waits = f"import os, time\nwhile not os.path.exists({str(go_on)!r}): time.sleep(0.01)"
    commands = [lines[0], f"{waits}\n{lines[1]}"]
    made: list[Ending] = []

    def make(_: Any, **more: Any) -> Ending:
        made.append(Ending([sys.executable, "-c", commands.pop(0)], **more))
        return made[-1]

    monkeypatch.setattr("seqpa.teach.training.subprocess.Popen", make)
    training = Training(tmp_path / "a.seqpa", tmp_path / "a.safetensors")
    training.start("one")
    until(lambda: training.state()["state"] == "failed")
    threads = [one for one in threading.enumerate() if one.name == "seqpa-train"]
    assert training.start("two")["state"] == "running"
    gone.set()
    for one in threads:
        one.join()
    assert training.state()["state"] == "running"
    go_on.touch()
    until(lambda: training.state()["state"] == "done")
    training.close()


def _unless_running(teaching: Teaching) -> Any:
    state = teaching.get("/api/train")
    return state if state["state"] != "running" else None


# A team


def test_a_team_comes_in_by_tokens_alone(tmp_path: Path) -> None:
    project = tmp_path / "a.seqpa"
    with Teaching(
        text_file(tmp_path), "--labels", "PER", "--user", "ann", "--add-user", "bob",
        "--project", project, "--share", "1",
    ) as teaching:  # fmt: skip
        link = next(line for line in teaching.lines if line.startswith("the link for bob"))
        bob = link.rpartition("#token=")[2]
        assert bob.encode() not in project.read_bytes()
        about = teaching.get("/api/project")
        assert (about["team"], about["user"], about["users"]) == (True, "ann", ["ann", "bob"])
        for header in ("", "Bearer", "Bearer nobody", f"Basic {bob}", "Bearer \xff"):
            answer = teaching.ask("/api/project", authorization=header)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert teaching.ask("/", authorization="").status == 200
        task = teaching.do("next")["task"]
        own = f"Bearer {bob}"
        assert teaching.ask("/api/project", authorization=own).json["user"] == "bob"
        body = {"request": "r", "sentence": task["sentence"], "annotation": {"spans": []}}
        answer = teaching.ask("/api/accept", body, authorization=own)
        assert answer.status == 409
        assert answer.json["detail"] == "ann is at this sentence now: go on with another one"
        teaching.do("accept", sentence=task["sentence"], annotation={"spans": []})
        second = teaching.ask("/api/next", {"request": "s"}, authorization=own).json["task"]
        assert (second["sentence"], second["why"]) == (task["sentence"], "second")


def test_a_share_can_be_told_of_a_project_that_is_there(tmp_path: Path) -> None:
    text_file(tmp_path)
    with Teaching("a.txt", "--labels", "PER", folder=tmp_path):
        pass
    arguments = ("a.seqpa", "--user", "ann", "--add-user", "ben")
    for told, share in ((("--share", "0.5"), 0.5), ((), 0.1)):  # for this time
        with Teaching(*arguments, *told, folder=tmp_path) as teaching:
            assert teaching.get("/api/team")["share"] == share


def test_others_need_users(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = tmp_path / "a.seqpa"
    arguments = ["teach", str(text_file(tmp_path)), "--labels", "PER", "--project", str(project)]
    assert main([*arguments, "--host", "0.0.0.0", "--no-browser"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("seqpa: error: --host 0.0.0.0: others can reach it")
    assert told.count("\n") == 1


# Hostile input


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("next", b""),
        ("next", b"{"),
        ("next", b"[]"),
        ("next", b'{"request": 1}'),
        ("next", b'{"request": ""}'),
        ("next", b'{"request": "a", "more": 1}'),
        ("next", b'{"request": "\xff"}'),
        ("next", b'{"request": "' + b"a" * 200 + b'"}'),
        ("next", b"[" * 100_000),
        ("accept", b'{"request": "a", "sentence": -1, "annotation": {"spans": []}}'),
        ("accept", b'{"request": "a", "sentence": 1e3, "annotation": {"spans": []}}'),
        ("accept", b'{"request": "a", "sentence": 99999, "annotation": {"spans": []}}'),
        ("accept", b'{"request": "a", "sentence": 1' + b"0" * 50 + b', "annotation": {}}'),
        ("accept", b'{"request": "a", "sentence": 0, "annotation": {"spans": [[0, 1]]}}'),
        ("accept", b'{"request": "a", "sentence": 0, "annotation": {"spans": [1]}}'),
        ("accept", b'{"request": "a", "sentence": 0, "annotation": {"spans": {"a": 1}}}'),
        ("accept", b'{"request": "a", "sentence": 0, "annotation": {"spans": [[0, 1e99, "PER"]]}}'),
        ("accept", b'{"request": "a", "sentence": 0, "annotation": {"spans": [[true, 2, "PER"]]}}'),
        ("accept", b'{"request": "a", "sentence": 0, "annotation": {"spans": [[0, 1, ["PER"]]]}}'),
        ("accept", b'{"request": "a", "sentence": 0, "annotation": {"spans": [[0, 1, {}]]}}'),
        ("accept", b'{"request": "a", "sentence": 0, "annotation": {"spans": [[0, 1, "NO"]]}}'),
        ("accept", b'{"request":"a","sentence":0,"annotation":{"spans":[[0,1,"\\ud800"]]}}'),
        ("accept", b'{"request": "a", "sentence": 0, "annotation": {"labels": []}}'),
        ("accept", b'{"request": "a", "sentence": 0, "annotation": {"spans": []}, "seconds": NaN}'),
        ("accept", b'{"request": "a", "sentence": 0, "annotation": {"spans": []}, "keys": -1}'),
        ("propose", b'{"sentence": 0, "confirmed": [[0, 2, "PER"], [1, 3, null]]}'),
        ("propose", b'{"sentence": 0, "confirmed": 5}'),
        ("propose", b'{"sentence": 0, "confirmed": [[0, 1, ["PER"]]]}'),
        ("partial", b'{"request": "a", "sentence": 0, "confirmed": [[[], 1, null]]}'),
        ("skip", b'{"request": "a"}'),
        ("flag", b'{"request": "a", "sentence": 0, "note": 5}'),
        ("undo", b'{"request": null}'),
        ("labels", b'{"request": "a", "action": "explode"}'),
        ("labels", b'{"request": "a", "action": "add"}'),
        ("labels", b'{"request": "a", "action": "add", "name": " "}'),
        ("labels", b'{"request": "a", "action": "add", "name": "X", "key": "xx"}'),
        ("labels", b'{"request": "a", "action": "add", "name": "X", "colour": "url(x)"}'),
        ("labels", b'{"request": "a", "action": "rename", "old": "PER"}'),
        ("labels", b'{"request": "a", "action": "merge", "old": "PER", "into": "PER"}'),
        ("guidelines", b'{"request": "a", "text": "' + b"a" * 100_001 + b'"}'),
        ("guidelines", b'{"request": "a", "text": "' + b"a" * 2_000_000 + b'"}'),
        ("strategy", b'{"strategy": "x"}'),
        ("repair", b'{"request": "a", "sentences": [], "change": "model"}'),
        ("repair", b'{"request": "a", "sentences": [0], "change": "models"}'),
        ("repair", b'{"request": "a", "sentences": [0], "change": {"from": "PER"}}'),
        ("repair", b'{"request": "a", "sentences": [99999], "change": "model"}'),
        ("settle", b'{"request": "a", "sentence": 0, "annotation": {"spans": []}}'),
        ("release", b'{"sentence": 99999}'),
        ("nothing", b"{}"),
    ],
)  # fmt: skip
def test_hostile_bodies_are_refused_and_change_nothing(
    teaching: Teaching, path: str, body: bytes
) -> None:
    before = teaching.get("/api/project")
    answer = teaching.ask(f"/api/{path}", body)
    assert 400 <= answer.status < 500, answer.body
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.json) == {"type", "title", "status", "detail"}
    assert answer.json["detail"]
    assert len(answer.body) < 2_000
    assert teaching.get("/api/project") == before


@pytest.mark.parametrize(
    "path",
    [
        "sentences/x", "sentences/-1", "sentences/99999", "sentences/" + "1" * 400,
        "sentences?filter=x", "sentences?limit=0", "sentences?limit=1000", "sentences?offset=-1",
        "sentences?offset=x", "sentences?more=1", "export?format=exe", "export?format=../../x",
        "accept", "nothing", "sentences/../../x",
    ],
)  # fmt: skip
def test_hostile_addresses_are_refused(teaching: Teaching, path: str) -> None:
    answer = teaching.ask(f"/api/{path}")
    assert 400 <= answer.status < 500, answer.body
    assert answer.json["detail"]


def test_other_web_pages_can_do_nothing(teaching: Teaching) -> None:
    # A name of its own: other tests may come before or after, at the same server.
    body = {"request": "of the page"}
    assert teaching.ask("/api/next", body, origin="https://evil.example").status == 403
    assert teaching.ask("/api/next", body, origin="null").status == 403
    assert teaching.ask("/api/next", body, host="evil.example").status == 421
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        assert teaching.ask("/api/next", body, content_type=kind).status == 415
    own = f"http://127.0.0.1:{teaching.port}"
    host = f"127.0.0.1:{teaching.port}"
    assert teaching.ask("/api/next", body, origin=own, host=host).status == 200


def test_texts_and_labels_pass_through_as_data(tmp_path: Path) -> None:
    text = text_file(tmp_path, f"{XSS} Ada.\n\n\u202eRome\u202c \x07 \u2028 So it is.")
    with Teaching(text, "--labels", "PER,<b>X</b>", "--project", tmp_path / "a.seqpa") as teaching:
        rows = teaching.get("/api/sentences")["rows"]
        assert any("<script>alert(2)</script>" in row["text"] for row in rows)
        label = "<script>alert(3)</script>"
        teaching.do("labels", action="add", name=label)
        teaching.do("flag", sentence=0, note=XSS)
        teaching.do("guidelines", text=XSS)
        told = teaching.do("accept", sentence=0, annotation={"spans": [[0, 1, label]]})
        assert told["counts"]["labelled"] == 1
        answer = teaching.ask("/api/sentences/0")
        assert answer.headers["content-type"] == "application/json"
        assert answer.json["flag"] == XSS
        assert answer.json["annotation"] == {"spans": [[0, 1, label]]}
        assert teaching.get("/api/project")["guidelines"] == XSS
        assert (
            json.loads(teaching.ask("/api/export?format=jsonl").body)["labels"][0] == f"B-{label}"
        )


# The command


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.txt", "--labels", "PER"], "none.txt"),
        (["none.seqpa"], "there is no such project"),
        (["a.txt"], "there are no labels yet"),
        (["a.txt", "--labels", "PER,,LOC"], "'' is no name for a label"),
        (["a.txt", "--labels", "B-PER,I-PER,O"], "say what spans are called"),
        (["long.txt", "--labels", "PER"], "sentence 2 has 10,001 tokens, and 10,000 are the most"),
        (["a.txt", "--labels", "PER", "--kind", "words"], "kind"),
        (["a.txt", "--labels", "PER", "--given", "some"], "given is 'some'"),
        (["a.txt", "--labels", "PER", "--strategy", "margins"], "did you mean 'margin'"),
        (["a.txt", "--labels", "PER", "--language", "klingon"], "klingon"),
        (["a.txt", "--labels", "PER", "--model", "a.txt"], "a.txt"),
        (["a.txt", "--labels", "PER", "-o", "b"], "-o FILE goes with"),
        (["a.txt", "--train"], "seqpa teach PROJECT --train -o FILE"),
        (["a.txt", "--export", "conll"], "seqpa teach PROJECT --export FORMAT -o FILE"),
        (["a.txt", "--labels", "PER", "--guidelines", "none.md"], "none.md: no such file"),
        (["a.txt", "--labels", "PER", "--host", "0.0.0.0"], "needs users: --add-user NAME"),
        (["a.txt", "--labels", "PER", "--port", "TAKEN"], "choose another --port"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    text_file(tmp_path)
    Path("long.txt").write_text("Ada left.\n\n" + "so " * 10_001)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        arguments = [port if one == "TAKEN" else one for one in arguments]
        assert main(["teach", *arguments, "--no-browser"]) == 2
    captured = capsys.readouterr().err
    assert captured.startswith("seqpa: error: ")
    assert captured.count("\n") == 1
    assert told in captured
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "long.txt"]


def test_a_project_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text_file(tmp_path)
    target = tmp_path / "a.seqpa"
    target.write_text("mine")
    arguments = ["teach", str(tmp_path / "a.txt"), "--labels", "PER", "--project", str(target)]
    assert main([*arguments, "--no-browser"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert target.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["a.seqpa", "--labels", "LOC"], "open it without --labels; labels are added on its page"),
        (["a.seqpa", "--kind", "tokens", "--seed", "3"], "open it without --kind, --seed"),
        (["a.seqpa", "--export", "conll", "--encoding", "cp1252", "-o", "x"], "without --encoding"),
        (["a.seqpa", "--backend", "inception", "--model", "m"], "--backend goes without --model"),
        (["a.txt", "--simulate", "--confirm", "unsure"], "--simulate goes without --confirm"),
        (["a.seqpa", "--train", "-o", "-"], "-o -: a model is no text"),
        (["m.safetensors"], "m.safetensors: is a model: say seqpa teach FILE... --model m.safe"),
        (["a.txt", "--labels", "X", "--project", "a.seqpa"], "go on with seqpa teach a.seqpa, or"),
    ],
)
def test_what_would_have_no_effect_is_refused(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    create("a.seqpa", [text_file(tmp_path)], labels=["PER"]).close()
    Path("m.safetensors").write_bytes(b"8")
    before = Path("a.seqpa").read_bytes()
    assert main(["teach", *arguments, "--no-browser"]) == 2
    captured = capsys.readouterr().err
    assert captured.startswith("seqpa: error: ")
    assert captured.count("\n") == 1
    assert told in captured
    assert Path("a.seqpa").read_bytes() == before
    assert not Path("x").exists()


def test_an_export_to_standard_output(tmp_path: Path) -> None:
    text_file(tmp_path, "Ada left.")
    with Teaching("a.txt", "--labels", "PER", folder=tmp_path) as teaching:
        teaching.do("accept", sentence=0, annotation={"spans": [[0, 1, "PER"]]})
    found = subprocess.run(
        [sys.executable, "-m", "seqpa", "teach", "a.seqpa", "--export", "conll", "-o", "-"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )
    assert found.stdout == "Ada\tB-PER\nleft\tO\n.\tO\n\n"
    assert found.stderr == "1 labelled sentence, 3 tokens\n"
    assert not (tmp_path / "-").exists()


def test_what_takes_long_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("_LARGE", "_LARGE_PROJECT", "_MANY"):
        monkeypatch.setattr(sys.modules["seqpa.cli.teach"], name, 1)
    monkeypatch.setattr("seqpa.teach.running.run", lambda *_: None)
    project = str(tmp_path / "a.seqpa")
    text = str(text_file(tmp_path))
    assert main(["teach", text, "--labels", "PER", "--project", project]) == 0
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert told == ["reading", "writing", "made", "opening"]
    assert main(["teach", project]) == 0
    assert capsys.readouterr().out.startswith("opening 0 MB ...")


def test_an_encoding_that_was_guessed_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Café Müller.".encode("cp1252"))
    with Teaching("a.txt", "--labels", "LOC", folder=tmp_path) as teaching:
        assert "a.txt: is no UTF-8, read as cp1252" in " ".join(teaching.lines)
        assert teaching.do("next")["task"]["text"] == "Café Müller."


def test_an_export_in_another_scheme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text_file(tmp_path, "Ada left.")
    with Teaching("a.txt", "--labels", "PER", folder=tmp_path) as teaching:
        teaching.do("accept", sentence=0, annotation={"spans": [[0, 1, "PER"]]})
    out = tmp_path / "out.conll"
    arguments = ["teach", str(tmp_path / "a.seqpa"), "--export", "conll", "-o", str(out)]
    assert main([*arguments, "--scheme", "bilou"]) == 0, capsys.readouterr().err
    assert out.read_text() == "Ada\tU-PER\nleft\tO\n.\tO\n\n"
    assert main([*arguments, "--scheme", "biloo", "--force"]) == 2
    assert "biloo" in capsys.readouterr().err


@pytest.mark.parametrize("what", [b"", b"no database", b"SQLite format 3\x00" + bytes(500)])
def test_what_is_called_a_project_and_is_none(
    what: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.seqpa"
    path.write_bytes(what)
    assert main(["teach", str(path), "--no-browser"]) == 2
    assert "a.seqpa: is damaged, or no project of seqpa teach" in capsys.readouterr().err
    assert path.read_bytes() == what
    assert [one.name for one in tmp_path.iterdir()] == ["a.seqpa"]


def test_help_is_there_without_the_server() -> None:
    code = (
        "import sys; sys.modules['fastapi'] = None; from seqpa.cli import main\n"
        "assert main(['teach', '--help']) == 0\n"
        "assert 'seqpa.teach.session' not in sys.modules and 'numpy' not in sys.modules\n"
        "sys.exit(main(['teach', __file__ or 'a', '--labels', 'X']))"
    ).replace("__file__ or 'a'", repr(__file__))
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 2, found.stderr
    assert 'teach needs fastapi: pip install "seqpa[serve]"' in found.stderr
