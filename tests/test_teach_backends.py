"""A project as a backend of Label Studio and of INCEpTION: what they send, and what goes wrong.

Most requests go to the application itself; one test of each kind has a process of its own, which
is killed in the middle.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest
from patience import LONG
from served import PACKAGE

from seqpa.errors import SeqpaError
from seqpa.serve.logs import Log
from seqpa.serve.settings import Settings
from seqpa.teach import inception, label_studio
from seqpa.teach.backend import LIMITS
from seqpa.teach.cas import PREDICTED, SCORE, SENTENCE, TOKEN, Cas, Mark
from seqpa.teach.label_studio import read_interface
from seqpa.teach.plain_xml import read_elements
from seqpa.teach.store import Store
from seqpa.teach.suggesting import Suggester, cut, cut_by, empty_project
from seqpa.teach.team import hashed

VIEW = (
    '<View><Header value="Names"/><Labels name="label" toName="text">'
    '<Label value="PER" background="red"/><Label value="LOC"/></Labels>'
    '<Text name="text" value="$text"/></View>'
)
TEXT = "Ada left Rome. Bob saw Ada in Rome."
REGIONS = [(0, 3, "PER"), (9, 13, "LOC"), (15, 18, "PER"), (23, 26, "PER"), (30, 34, "LOC")]


class Asked:
    """An application, asked without a network."""

    def __init__(self, application: Any) -> None:
        self._application = application

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        data = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        given = {"host": "127.0.0.1", "content_type": "application/json", **headers}
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": data, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(dict(message))

        scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "query_string": b"", "root_path": "", "scheme": "http",
            "headers": [(name.replace("_", "-").encode(), value.encode())
                        for name, value in given.items()],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 9090),
        }  # fmt: skip
        asyncio.run(self._application(scope, receive, send))
        told = b"".join(one.get("body", b"") for one in sent[1:])
        return sent[0]["status"], json.loads(told) if told else None


Made = Callable[..., tuple[Asked, Suggester]]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Made]:
    opened: list[Suggester] = []
    log = Log(io.StringIO(), quiet=True)

    def made(
        module: Any, tokens: dict[str, str] | None = None, kind: str = "spans"
    ) -> tuple[Asked, Suggester]:
        path = tmp_path / "names.seqpa"
        store = Store.open(path) if path.exists() else empty_project(path, ["PER"], kind, 1)
        suggester = Suggester(store, now=lambda: 1.5e9)
        opened.append(suggester)
        settings = Settings(models=(), limits=LIMITS)
        return Asked(module.create_backend_app(suggester, tokens or {}, settings, log)), suggester

    yield made
    for one in opened:
        one.close()
    log.close()


def region(start: int, end: int, label: str, text: str = TEXT) -> dict[str, Any]:
    return {
        "id": f"r{start}", "from_name": "label", "to_name": "text", "type": "labels",
        "value": {"start": start, "end": end, "text": text[start:end], "labels": [label]},
    }  # fmt: skip


def created(
    regions: list[Any], text: str = TEXT, action: str = "ANNOTATION_CREATED", **more: Any
) -> dict[str, Any]:
    """A webhook's body, as Label Studio writes it."""
    return {
        "action": action,
        "annotation": {"id": 5, "completed_by": 3, "lead_time": 8.0, "was_cancelled": False,
                       "result": regions, "task": 11, **more},
        "task": {"id": 11, "project": 2, "data": {"text": text}},
        "project": {"id": 2, "title": "names", "label_config": VIEW},
    }  # fmt: skip


ALL = [region(*one) for one in REGIONS]


# As Label Studio 1.23.2 was seen to send it, with its page and its API


def studio_task(number: int, text: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number, "data": {"text": text}, "meta": {}, "created_at": "2026-01-02T03:04:05.0Z",
        "updated_at": "2026-01-02T03:04:05.0Z", "is_labeled": False, "overlap": 1,
        "inner_id": number, "total_annotations": 0, "cancelled_annotations": 0,
        "total_predictions": 0, "comment_count": 0, "unresolved_comment_count": 0,
        "last_comment_updated_at": None, "project": 6, "updated_by": None, "file_upload": None,
        "comment_authors": [], "annotations": [], "predictions": [], **more,
    }  # fmt: skip


def studio_asks(*tasks: dict[str, Any], view: str = VIEW, context: Any = None) -> dict[str, Any]:
    return {
        "tasks": list(tasks), "project": "6.1795034467", "label_config": view,
        "params": {"login": None, "password": None, "context": context},
    }  # fmt: skip


def studio_annotation(number: int, task: int, regions: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "id": number, "result": regions, "was_cancelled": False, "ground_truth": False,
        "created_at": "2026-01-02T03:04:05.0Z", "updated_at": "2026-01-02T03:04:05.0Z",
        "draft_created_at": None, "lead_time": 6.088, "prediction": {},
        "result_count": len(regions), "unique_id": "7c0f", "import_id": None, "last_action": None,
        "bulk_created": False, "task": task, "project": 6, "completed_by": 1, "updated_by": 1,
        "parent_prediction": None, "parent_annotation": None, "last_created_by": None, **more,
    }  # fmt: skip


def studio_tells(action: str, view: str = VIEW, **more: Any) -> dict[str, Any]:
    project = {
        "id": 6, "task_number": 4, "title": "names", "label_config": view, "model_version": "seqpa",
        "parsed_label_config": {"label": {"type": "Labels", "to_name": ["text"]}},
        "min_annotations_to_start_training": 0, "task_data_password": None, "created_by": 1,
    }  # fmt: skip
    return {"action": action, "project": project, **more}


def studio_region(
    start: int, end: int, label: str, text: str, origin: str = "manual", name: str = ""
) -> dict[str, Any]:
    return {**region(start, end, label, text), "id": name or f"b{start}mK", "origin": origin}


def predicted(told: Any) -> list[list[tuple[str, str]]]:
    return [
        [(r["value"]["text"], r["value"]["labels"][0]) for r in one["result"]]
        for one in told["results"]
    ]


# Label Studio


def test_a_backend_is_set_up_asked_and_taught(make: Made) -> None:
    ask, suggester = make(label_studio)
    assert ask("GET", "/health") == (200, {"status": "UP", "model_class": "seqpa"})
    body = {"project": "2.17", "schema": VIEW, "hostname": "http://x", "access_token": "secret"}
    assert ask("POST", "/setup", body) == (200, {"model_version": suggester.version})
    assert suggester.labels == ["PER", "LOC"]
    tasks = {"tasks": [{"id": 1, "data": {"text": "Bob left."}}], "label_config": VIEW}
    status, told = ask("POST", "/predict", tasks)
    assert (status, told["results"][0]["result"]) == (200, [])  # nothing was taught

    for text in ("Ada left.", "Bob left.", "Ada saw Bob."):
        words = [(i, i + 3) for i in range(len(text)) if text[i : i + 3] in ("Ada", "Bob")]
        marks = [region(a, b, "PER", text) for a, b in words]
        for reader in range(4):
            body = created(marks, text, completed_by={"id": reader, "email": f"{reader}@x.org"})
            status, told = ask("POST", "/webhook", body)
            assert (status, told["taught"]) == (200, 1)
    status, told = ask("POST", "/predict", tasks)
    found = told["results"][0]
    assert [r["value"] for r in found["result"]] == [
        {"start": 0, "end": 3, "text": "Bob", "labels": ["PER"]}
    ]
    own = found["result"][0]
    assert (own["from_name"], own["to_name"], own["type"]) == ("label", "text", "labels")
    assert 0 < own["score"] <= 1
    assert 0 < found["score"] <= own["score"]
    assert found["model_version"] == told["model_version"] == suggester.version


def test_predictions_are_the_models_own(make: Made) -> None:
    """Characters in and out, sentence by sentence: a plain loop over the model says the same."""
    ask, suggester = make(label_studio)
    ask("POST", "/webhook", created(ALL))
    text = "  Bob left.\n\nIn Rome Ada saw Bob! "
    body = {"tasks": [{"data": {"text": text}}], "label_config": VIEW}
    _, told = ask("POST", "/predict", body)
    expected = []
    for piece in cut(text):
        for start, end, label in suggester._learned.model.propose(piece.tokens).annotation["spans"]:
            place = piece.places[start][0], piece.places[end - 1][1]
            expected.append((*place, text[slice(*place)], [label]))
    found = [r["value"] for r in told["results"][0]["result"]]
    assert [(v["start"], v["end"], v["text"], v["labels"]) for v in found] == expected
    assert expected


def test_an_annotation_is_kept_sentence_by_sentence(make: Made, tmp_path: Path) -> None:
    ask, suggester = make(label_studio)
    assert ask("POST", "/webhook", created(ALL))[1]["taught"] == 2
    # What is sent again is no news; what is changed is, in its sentence alone.
    assert ask("POST", "/webhook", created(ALL))[1]["taught"] == 0
    fewer = [one for one in ALL if one["value"]["start"] != 9]
    changed = created(fewer, action="ANNOTATION_UPDATED")
    assert ask("POST", "/webhook", changed)[1] == {
        "taught": 1, "left_out": 0, "unlearned": 0, "model_version": suggester.version
    }  # fmt: skip
    suggester.close()
    with Store.open(tmp_path / "names.seqpa") as store:
        assert [(s.document, s.position, s.text) for s in store.sentences()] == [
            ("label-studio/2/11", 0, "Ada left Rome."),
            ("label-studio/2/11", 1, "Bob saw Ada in Rome."),
        ]
        user = "label-studio/3"
        assert store.labels() == {
            (0, user): {"spans": [[0, 1, "PER"]]},
            (1, user): {"spans": [[0, 1, "PER"], [2, 3, "PER"], [4, 5, "LOC"]]},
        }
        first = next(event for event in store.events() if event.kind == "accept")
        assert (first.seconds, first.body["why"]) == (4.0, "backend")
        assert first.body["predicted"] == {"spans": []}
    again, _ = make(label_studio)
    assert again("POST", "/webhook", changed)[1]["taught"] == 0


def test_a_deleted_annotation_is_unlearned(make: Made) -> None:
    ask, suggester = make(label_studio)
    ask("POST", "/webhook", created(ALL))
    before = suggester._learned.model.snapshot()
    other = created([region(0, 3, "LOC", "Rom fell.")], "Rom fell.", id=6)
    assert ask("POST", "/webhook", other)[1]["taught"] == 1
    assert suggester._learned.model.snapshot() != before
    body = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 6}], "project": {"id": 2}}
    assert ask("POST", "/webhook", body) == (200, {"unlearned": 1})
    assert suggester._learned.model.snapshot() == before
    assert ask("POST", "/webhook", body) == (200, {"unlearned": 0})


def test_what_cannot_be_kept_is_left_out_and_told(make: Made) -> None:
    ask, suggester = make(label_studio)
    across = [region(9, 18, "LOC")]  # from one sentence into the next
    assert ask("POST", "/webhook", created(across))[1]["left_out"] == 2
    overlap = [region(0, 8, "PER"), region(4, 13, "LOC")]
    told = ask("POST", "/webhook", created(overlap))[1]
    assert (told["taught"], told["left_out"]) == (1, 1)
    skipped = created(ALL, was_cancelled=True, id=6)
    assert ask("POST", "/webhook", skipped)[1]["taught"] == 0
    assert ask("POST", "/webhook", {"action": "TASKS_CREATED"}) == (
        200, {"ignored": "TASKS_CREATED"}
    )  # fmt: skip
    assert suggester.clock == 1


def test_characters_are_counted_as_the_page_counts_them(make: Made) -> None:
    text = "😀 Ada left 😀😀 Rome."
    for start, end in ((text.index("Rome"), text.index("Rome") + 4), (17, 21)):
        ask, suggester = make(label_studio)
        one = region(0, 1, "LOC", text)
        one["value"].update(start=start, end=end, text="Rome")
        assert ask("POST", "/webhook", created([one], text))[0] == 200
        latest = max(suggester._state.labellings)
        tokens = suggester._sentences[latest].tokens
        spans = suggester._state.current(latest)["spans"]
        assert [tokens[a:b] for a, b, _ in spans] == [["Rome"]]
        suggester.close()


def test_one_label_a_word(make: Made) -> None:
    ask, suggester = make(label_studio, kind="tokens")
    assert ask("POST", "/webhook", created(ALL))[1]["taught"] == 2
    assert suggester._state.current(0) == {"labels": ["PER", None, "LOC", None]}
    assert ask("POST", "/webhook", created([], "So it is."))[1]["taught"] == 0


def test_a_text_that_changed_is_another_document(make: Made, tmp_path: Path) -> None:
    ask, suggester = make(label_studio)
    ask("POST", "/webhook", created(ALL))
    ask("POST", "/webhook", created([], "Another text."))
    ask("POST", "/webhook", created([region(0, 3, "PER")]))
    suggester.close()
    with Store.open(tmp_path / "names.seqpa") as store:
        names = [sentence.document for sentence in store.sentences()]
        assert names == ["label-studio/2/11"] * 2 + ["label-studio/2/11#2"]
        assert store.labels()[0, "label-studio/3"] == {"spans": [[0, 1, "PER"]]}


@pytest.mark.parametrize(
    ("xml", "told"),
    [
        ("<View>", "no XML"),
        ("", "no XML"),
        ("<View/>", "no text to label"),
        (VIEW.replace('toName="text"', 'toName="other"'), "no text to label"),
        (VIEW.replace('value="$text"', 'value="$text" valueType="url"'), "in the task itself"),
        (VIEW.replace("$text", "hello"), "in the task itself"),
        ("<!DOCTYPE v [<!ENTITY a 'b'>]>" + VIEW.replace("PER", "&a;"), "document type"),
        ("<!DOCTYPE v SYSTEM 'file:///etc/passwd'>" + VIEW, "document type"),
        ("<a>" * 200 + "</a>" * 200, "deeper"),
        (VIEW + " " * 2**20, "longer than"),
        ("\ud800", "half characters"),
    ],
)
def test_interfaces_that_are_refused(xml: str, told: str) -> None:
    with pytest.raises(SeqpaError, match=told):
        read_interface(xml)


HOSTILE: list[tuple[str, Any, int]] = [
    ("/predict", b"", 400),
    ("/predict", b"{", 400),
    ("/predict", b"[" * 100_000, 400),
    ("/predict", b"\xff", 400),
    ("/predict", [], 422),
    ("/predict", {}, 422),
    ("/predict", {"tasks": [], "label_config": 7}, 422),
    ("/predict", {"tasks": {}, "label_config": VIEW}, 422),
    ("/predict", {"tasks": [3], "label_config": VIEW}, 422),
    ("/predict", {"tasks": [{"data": {"text": None}}], "label_config": VIEW}, 422),
    ("/predict", {"tasks": [{"data": {"text": "\ud800 x"}}], "label_config": VIEW}, 422),
    ("/predict", {"tasks": [{"data": {"text": "x " * 6000}}], "label_config": VIEW}, 422),
    ("/setup", {"schema": ["x"]}, 422),
    ("/setup", {"schema": VIEW.replace("PER", " ")}, 422),
    ("/setup", {"schema": VIEW.replace("PER", "P" * 500)}, 422),
    ("/webhook", {"action": 3}, 422),
    ("/webhook", {"action": "ANNOTATION_CREATED"}, 422),
    ("/webhook", {**created(ALL), "annotation": [[]]}, 422),
    ("/webhook", {**created(ALL), "task": []}, 422),
    ("/webhook", created("x"), 422),  # type: ignore[arg-type]
    ("/webhook", created([7]), 422),
    ("/webhook", created([region(0, 99, "PER")]), 422),
    ("/webhook", created([region(-3, 3, "PER")]), 422),
    ("/webhook", created([{**ALL[0], "value": {"start": "0", "end": 3, "labels": []}}]), 422),
    ("/webhook", created([{**ALL[0], "value": {"start": 0, "end": 3, "labels": [[]]}}]), 422),
    ("/webhook", created(ALL, completed_by="x" * 10_000), 422),
    ("/webhook", {**created(ALL), "annotations": [[]], "annotation": [{}, 3]}, 422),
    ("/predict", {**studio_asks({"id": 1}), "params": 3}, 422),
    ("/train", {}, 422),
    ("/train", {"annotations": [3], "label_config": VIEW}, 422),
    ("/train", {"annotations": [{"annotations": [3]}], "label_config": VIEW}, 422),
    ("/webhook", {**created(ALL), "task": {"id": [], "data": {}}}, 422),
    ("/webhook", created("x", task=[1]), 422),  # type: ignore[arg-type]
    ("/nothing", {}, 404),
]


@pytest.mark.parametrize(("path", "body", "status"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_bodies_are_refused_and_teach_nothing(
    make: Made, path: str, body: Any, status: int
) -> None:
    ask, suggester = make(label_studio)
    found, told = ask("POST", path, body)
    assert found == status, told
    assert told["detail"]
    assert suggester.clock == 0
    assert not suggester._state.labellings


def test_what_else_a_task_has_may_be_of_any_form(make: Made) -> None:
    ask, _ = make(label_studio)
    task = studio_task(1, TEXT, drafts=5, annotations=[{"result": 3}], predictions=[7])
    found, told = ask("POST", "/predict", studio_asks(task, context={"result": [3, {}]}))
    assert (found, len(told["results"])) == (200, 1)


def test_only_those_who_may_ask(make: Made) -> None:
    ask, _ = make(label_studio, {"studio": hashed("the-token")})
    body = {"tasks": [], "label_config": VIEW}
    basic = base64.b64encode(b"anybody:the-token").decode()
    assert ask("POST", "/predict", body)[0] == 401
    assert ask("POST", "/predict", body, authorization="Bearer wrong")[0] == 401
    assert ask("POST", "/predict", body, authorization="Basic !")[0] == 401
    assert ask("POST", "/predict", body, authorization="Bearer the-token")[0] == 200
    assert ask("POST", "/predict", body, authorization=f"Basic {basic}")[0] == 200
    assert ask("GET", "/health")[0] == 200


def test_a_day_with_label_studio(make: Made) -> None:
    ask, suggester = make(label_studio)
    setup = {"project": "6.1795034467", "schema": VIEW, "hostname": "http://localhost:8080",
             "access_token": "0123", "extra_params": None}  # fmt: skip
    assert ask("GET", "/health")[0] == 200
    versions = [ask("POST", "/setup", setup)[1]["model_version"]]
    first, second = "Kim flew to Bonn.", "Kim met Lea in Bonn."
    tasks = [studio_task(20, first), studio_task(21, second)]
    for action, more in (("TASKS_CREATED", {"tasks": tasks}), ("PROJECT_UPDATED", {}),
                         ("START_TRAINING", {})):  # fmt: skip
        assert ask("POST", "/webhook", studio_tells(action, **more)) == (200, {"ignored": action})
    regions = [studio_region(0, 3, "PER", first), studio_region(12, 16, "LOC", first)]
    one = {"annotation": studio_annotation(19, 20, regions), "task": tasks[0]}
    told = ask("POST", "/webhook", studio_tells("ANNOTATION_CREATED", **one))
    assert (told[0], told[1]["taught"]) == (200, 1)
    versions.append(ask("POST", "/setup", setup)[1]["model_version"])
    status, told = ask("POST", "/predict", studio_asks(tasks[1]))
    assert (status, told["results"][0]["model_version"]) == (200, versions[-1])
    assert {("Kim", "PER"), ("Bonn", "LOC")} <= set(predicted(told)[0])
    ids = [r["id"] for r in told["results"][0]["result"]]
    assert len(ids) == len(set(ids))

    fewer = studio_annotation(19, 20, regions[:1])
    changed = studio_tells("ANNOTATION_UPDATED", annotation=fewer, task=tasks[0])
    assert ask("POST", "/webhook", changed)[1]["taught"] == 1
    versions.append(ask("POST", "/setup", setup)[1]["model_version"])
    gone = studio_tells("ANNOTATIONS_DELETED", annotations=[{"id": 19}])
    assert ask("POST", "/webhook", gone) == (200, {"unlearned": 2})
    versions.append(ask("POST", "/setup", setup)[1]["model_version"])

    # "Create annotations from predictions": several, each with its task.
    many = studio_tells(
        "ANNOTATIONS_CREATED",
        annotation=[
            studio_annotation(22, 21, [studio_region(8, 11, "PER", second)], lead_time=None),
            studio_annotation(23, 20, regions, lead_time=None),
        ],
        task=tasks,
    )
    assert ask("POST", "/webhook", many)[1]["taught"] == 2
    assert [s.text for s in suggester._sentences] == [first, second]
    versions.append(ask("POST", "/setup", setup)[1]["model_version"])
    assert len(set(versions)) == len(versions)
    assert ask("GET", "/versions") == (200, {"versions": versions[-1:]})


def test_no_two_models_have_one_version(make: Made) -> None:
    """Label Studio asks no more for a task that has a prediction of this version."""
    ask, suggester = make(label_studio)
    seen = {}
    for number, word in enumerate(("Ada", "left", "Rome", "Ada")):
        start = TEXT.index(word)
        ask("POST", "/webhook", created([region(start, start + len(word), "PER")], id=number))
        assert suggester.clock == 2
        seen[suggester.version] = suggester._learned.model.snapshot()
        ask("POST", "/webhook", {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": number}]})
    assert len(seen) == 4
    last = suggester.version
    suggester.close()
    _, again = make(label_studio)
    assert again.version == last


def test_one_bad_task_does_not_spoil_the_others(make: Made) -> None:
    ask, _ = make(label_studio)
    ask("POST", "/webhook", created(ALL))
    bad = studio_task(3, "b " * 6000)
    tasks = [studio_task(2, "Bob left."), bad, studio_task(4, 7), studio_task(5, "Ada left.")]  # type: ignore[arg-type]
    status, told = ask("POST", "/predict", studio_asks(*tasks))
    assert status == 200
    assert predicted(told) == [[("Bob", "PER")], [], [], [("Ada", "PER")]]
    assert "at most 5000" in told["results"][1]["error"]
    assert "text is missing" in told["results"][2]["error"]
    assert ask("POST", "/predict", studio_asks(bad, bad))[0] == 422


def test_an_annotation_that_is_skipped_later_is_unlearned(make: Made) -> None:
    ask, suggester = make(label_studio)
    task = studio_task(11, TEXT)
    one = studio_tells("ANNOTATION_CREATED", annotation=studio_annotation(5, 11, ALL), task=task)
    ask("POST", "/setup", {"schema": VIEW})  # its labels stay
    before = suggester._learned.model.snapshot()
    assert ask("POST", "/webhook", one)[1]["taught"] == 2
    skipped = studio_annotation(5, 11, ALL, was_cancelled=True)
    told = ask(
        "POST", "/webhook", studio_tells("ANNOTATION_UPDATED", annotation=skipped, task=task)
    )
    assert told[1]["unlearned"] == 2
    assert suggester._learned.model.snapshot() == before
    assert ask("POST", "/webhook", one)[1]["taught"] == 2


def test_aliases_and_other_controls(make: Made) -> None:
    view = VIEW.replace('value="LOC"', 'value="Place" alias="LOC"').replace(
        "<Text", '<Labels name="mood" toName="text"><Label value="GOOD"/></Labels><Text'
    )
    assert read_interface(view).labels == ["PER", "LOC"]
    ask, suggester = make(label_studio)
    mood = {**region(0, 14, "GOOD"), "from_name": "mood"}
    annotation = studio_annotation(5, 11, [mood, *ALL])
    told = studio_tells("ANNOTATION_CREATED", view, annotation=annotation,
                        task=studio_task(11, TEXT))  # fmt: skip
    told = ask("POST", "/webhook", told)[1]
    assert (told["taught"], told["left_out"]) == (2, 0)
    assert suggester._state.current(0) == {"spans": [[0, 1, "PER"], [2, 3, "LOC"]]}
    assert suggester.labels == ["PER", "LOC"]
    found = predicted(ask("POST", "/predict", studio_asks(studio_task(1, TEXT), view=view))[1])
    assert ("Rome", "LOC") in found[0]


def test_characters_as_the_page_counted_them(make: Made) -> None:
    """A region that was drawn by hand behind CRLF, double spaces and a sign beyond the BMP."""
    ask, suggester = make(label_studio)
    text = "Ada  saw\r\nBob in  Rome.\r\n\r\n😀 Then  Ada left."
    drawn = [studio_region(0, 3, "PER", text), studio_region(18, 22, "LOC", text),
             studio_region(29, 33, "LOC", text)]  # fmt: skip
    assert [one["value"]["text"] for one in drawn] == ["Ada", "Rome", "Then"]
    annotation = studio_annotation(5, 14, drawn)
    body = studio_tells("ANNOTATION_CREATED", annotation=annotation, task=studio_task(14, text))
    assert ask("POST", "/webhook", body)[1]["left_out"] == 0
    kept = [
        (s.tokens[a:b], label)
        for s in suggester._sentences
        for a, b, label in suggester._state.current(s.id)["spans"]
    ]
    assert kept == [(["Ada"], "PER"), (["Rome"], "LOC"), (["Then"], "LOC")]
    told = ask("POST", "/predict", studio_asks(studio_task(15, text)))[1]
    for one in told["results"][0]["result"]:
        value = one["value"]
        assert text[value["start"] : value["end"]] == value["text"]
        assert one["id"] == f"seqpa-{value['start']}-{value['end']}"
    assert ("Rome", "LOC") in predicted(told)[0]


def test_what_is_drawn_is_kept_and_nothing_lies_on_it(make: Made) -> None:
    ask, suggester = make(label_studio)
    text = "Bob left. In Rome Ada saw Bob."
    names = {"Bob": "PER", "Ada": "PER", "Rome": "LOC"}
    marks = [studio_region(m.start(), m.end(), names[m[0]], text)
             for m in re.finditer("Bob|Ada|Rome", text)]  # fmt: skip
    for reader in range(3):
        ask("POST", "/webhook", created(marks, text, completed_by=reader))
    clock = suggester.clock
    bare = studio_task(9, text, drafts=[])
    plain = predicted(ask("POST", "/predict", studio_asks(bare))[1])[0]
    assert plain == [("Bob", "PER"), ("Rome", "LOC"), ("Ada", "PER"), ("Bob", "PER")]

    # By hand: "In Rome" is a person. The rest is decoded under that.
    drawn = studio_region(10, 17, "PER", text)
    asked = studio_asks(bare, context={"result": [drawn]})
    told = ask("POST", "/predict", asked)[1]
    pieces = cut(text)
    found = suggester.suggest(pieces, [Mark(10, 17, "PER")])
    assert (10, 17, "PER") in [mark[:3] for mark in found.marks]
    confirmed = [[], [(0, 2, "PER")]]
    expected = []
    for piece, fixed in zip(pieces, confirmed, strict=True):
        proposal = suggester._learned.model.propose(piece.tokens, fixed)
        for start, end, label in proposal.annotation["spans"]:
            if [start, end, label] not in [list(one) for one in fixed]:
                expected.append((" ".join(piece.tokens[start:end]), label))
    assert predicted(told)[0] == expected
    assert "Rome" not in dict(expected)
    assert dict(expected)["Ada"] == "PER"

    # What is in a draft or a former prediction is on the page, or was taken off it by hand.
    old = [{"id": 3, "result": [studio_region(0, 3, "LOC", text, "prediction")]}]
    draft = [{"id": 4, "result": [drawn, studio_region(18, 21, "LOC", text)]}]
    there = studio_task(9, text, predictions=old, drafts=draft)
    told = ask("POST", "/predict", studio_asks(there, context={"result": [drawn]}))[1]
    assert predicted(told)[0] == [one for one in expected[1:] if one[0] != "Ada"]
    whole = [{"id": 5, "result": [studio_region(0, len(text), "PER", text)]}]
    done = studio_task(9, text, annotations=whole)
    assert predicted(ask("POST", "/predict", studio_asks(done, context={"result": []}))[1]) == [[]]

    # Regions with labels that nobody taught, or across sentences, hold nothing up.
    odd = [studio_region(0, 3, "NEW", text), studio_region(4, 17, "LOC", text)]
    told = ask("POST", "/predict", studio_asks(bare, context={"result": odd}))
    assert (told[0], predicted(told[1])[0]) == (200, [("Ada", "PER"), ("Bob", "PER")])
    assert suggester.clock == clock


def test_what_was_annotated_before_is_taught_by_its_export(make: Made) -> None:
    ask, suggester = make(label_studio)
    ask("POST", "/setup", {"schema": VIEW})
    tasks = [
        studio_task(1, TEXT, annotations=[studio_annotation(1, 1, ALL)]),
        studio_task(2, "b " * 6000, annotations=[studio_annotation(2, 2, [])]),
        studio_task(3, "Ada left.", annotations=[
            studio_annotation(3, 3, [region(0, 3, "PER", "Ada left.")], completed_by=None),
            studio_annotation(4, 3, [], was_cancelled=True),
        ]),
        studio_task(4, "Bob left."),
    ]  # fmt: skip
    # What can be taken is, before the request is refused for the rest.
    status, told = ask("POST", "/train", {"annotations": tasks})
    assert (status, suggester.clock) == (422, 3)
    assert "at most 5000" in told["detail"]
    del tasks[1]
    asked = {"annotations": tasks, "project": "6.1795034467", "label_config": VIEW,
             "params": {"login": None, "password": None}}  # fmt: skip
    assert ask("POST", "/train", asked)[1] == {
        "taught": 0, "left_out": 0, "unlearned": 0, "model_version": suggester.version
    }  # fmt: skip
    told = ask("POST", "/webhook", {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 1}]})
    assert told[1] == {"unlearned": 2}


def test_the_console_says_why_a_setup_was_refused(tmp_path: Path) -> None:
    stream = io.StringIO()
    log = Log(stream, quiet=True)
    suggester = Suggester(empty_project(tmp_path / "a.seqpa", ["PER"], "spans", 1))
    app = label_studio.create_backend_app(suggester, {}, Settings(models=(), limits=LIMITS), log)
    assert Asked(app)("POST", "/setup", {"schema": "<View/>"})[0] == 422
    log.close()
    suggester.close()
    assert "there is no text to label" in stream.getvalue()


def test_an_address_that_bears_the_token(make: Made) -> None:
    """From http://studio:TOKEN@host: Label Studio's webhook then bears it as well."""
    ask, suggester = make(label_studio, {"studio": hashed("the-token")})
    basic = "Basic " + base64.b64encode(b"studio:the-token").decode()
    body = studio_tells("ANNOTATION_CREATED", annotation=studio_annotation(5, 11, ALL),
                        task=studio_task(11, TEXT))  # fmt: skip
    assert ask("POST", "/webhook", body)[0] == 401  # as when it is connected by a password
    assert ask("GET", "/versions")[0] == 401
    assert suggester.clock == 0
    assert ask("POST", "/webhook", body, authorization=basic)[1]["taught"] == 2


def test_web_pages_may_not_ask(make: Made) -> None:
    ask, _ = make(label_studio)
    body = {"tasks": [], "label_config": VIEW}
    assert ask("POST", "/predict", body)[0] == 200
    assert ask("POST", "/predict", body, origin="http://evil.example")[0] == 403
    assert ask("POST", "/predict", body, content_type="text/plain")[0] == 415
    assert ask("POST", "/predict", body, host="evil.example")[0] == 421


# INCEpTION

LAYER = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"


def units(text: str, at: int) -> int:
    return len(text[:at].encode("utf-16-le")) // 2


def xmi(text: str, marks: list[tuple[int, int, str]], cut_up: bool = True) -> str:
    """A document as UIMA writes it."""
    lines = []

    def add(tag: str, start: int, end: int, more: str = "") -> None:
        number = len(lines) + 2
        place = f'begin="{units(text, start)}" end="{units(text, end)}"'
        lines.append(f'<{tag} xmi:id="{number}" sofa="1" {place}{more}/>')

    if cut_up:
        for piece in cut(text):
            add("seg:Sentence", piece.places[0][0], piece.places[-1][1])
            for place in piece.places:
                add("seg:Token", *place, ' order="0"')
    for start, end, label in marks:
        add("ner:NamedEntity", start, end, f" value={quoteattr(label)}")
    members = " ".join(str(i + 2) for i in range(len(lines)))
    space = "http:///de/tudarmstadt/ukp/dkpro/core/api"
    return (
        '<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
        f'xmlns:cas="http:///uima/cas.ecore" xmlns:seg="{space}/segmentation/type.ecore" '
        f'xmlns:ner="{space}/ner/type.ecore" xmi:version="2.0"><cas:NULL xmi:id="0"/>'
        + "\n".join(lines)
        + f'<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" '
        f'sofaString={quoteattr(text)}/><cas:View sofa="1" members="{members}"/></xmi:XMI>'
    )


def metadata(**more: Any) -> dict[str, Any]:
    return {
        "layer": LAYER, "feature": "value", "projectId": 7, "anchoringMode": "tokens",
        "crossSentence": False, **more,
    }  # fmt: skip


def training(*documents: str, user: str = "ann", **more: Any) -> dict[str, Any]:
    return {
        "metadata": metadata(**more),
        "documents": [
            {"xmi": text, "documentId": i, "userId": user} for i, text in enumerate(documents)
        ],
        "typeSystem": "<typeSystemDescription/>",
    }


def predicting(document: str, **more: Any) -> dict[str, Any]:
    return {
        "metadata": metadata(**more),
        "document": {"xmi": document, "documentId": 9, "userId": "ann"},
        "typeSystem": "<typeSystemDescription/>",
    }


def predictions(document: str) -> list[tuple[str, str]]:
    root = ElementTree.fromstring(document)
    text = next(one.attrib["sofaString"] for one in root if one.tag.endswith("}Sofa"))
    data = text.encode("utf-16-le")
    found = [one for one in root if one.attrib.get(PREDICTED) == "true"]
    view = next(one for one in root if one.tag.endswith("}View")).attrib["members"].split()
    for one in found:
        assert one.tag == "{http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore}NamedEntity"
        assert 0 < float(one.attrib["value_score"]) <= 1
        assert one.attrib["{http://www.omg.org/XMI}id"] in view
    assert len(view) == len(set(view))
    return [
        (data[2 * int(x.attrib["begin"]) : 2 * int(x.attrib["end"])].decode("utf-16-le"),
         x.attrib["value"])
        for x in found
    ]  # fmt: skip


@pytest.mark.parametrize("text", [TEXT, "😀 " + TEXT.replace("Ada", "𝒜da")])
def test_a_recommender_is_taught_and_asked(make: Made, text: str) -> None:
    ask, suggester = make(inception)
    shift = [(units_before(text, a), units_before(text, b), label) for a, b, label in REGIONS]
    document = xmi(text, shift)
    assert predictions(ask("POST", "/names/predict", predicting(document))[1]["document"]) == []
    for _ in range(3):
        assert ask("POST", "/names/train", training(document)) == (204, None)
    assert suggester.clock == 2  # the same labels are news once
    ask("POST", "/names/train", training(xmi(text, shift[:2]), document, user="bob"))
    bare = xmi(text, [])
    status, told = ask("POST", "/names/predict", predicting(bare))
    assert status == 200
    assert set(predictions(told["document"])) >= {("Rome", "LOC")}
    # All but what was added is as it was sent.
    cas = Cas(told["document"])
    assert (cas.text, cas.places(TOKEN)) == (Cas(bare).text, Cas(bare).places(TOKEN))
    assert cas.marks(LAYER, "value") == []


@pytest.mark.parametrize("text", [TEXT, "😀\r\n<&\"'\t " + TEXT.replace("Ada", "𝒜da")])
def test_another_library_reads_and_writes_the_same_documents(make: Made, text: str) -> None:
    """Requests that dkpro-cassis writes, and answers that it reads, with its own counting."""
    cassis = pytest.importorskip(
        "cassis", reason="needs a CAS library of others: pip install dkpro-cassis"
    )
    types = cassis.load_dkpro_core_typesystem()
    names = types.get_type(LAYER)
    types.create_feature(names, PREDICTED, "uima.cas.Boolean")
    types.create_feature(names, f"value{SCORE}", "uima.cas.Double")

    def written(marks: list[tuple[int, int, str]], more: Any = ()) -> str:
        cas = cassis.Cas(typesystem=types)
        cas.sofa_string, cas.sofa_mime = text, "text/plain"
        for piece in cut(text):
            place = {"begin": piece.places[0][0], "end": piece.places[-1][1]}
            cas.add(types.get_type(SENTENCE)(**place))
            cas.add_all(types.get_type(TOKEN)(begin=a, end=b) for a, b in piece.places)
        cas.add_all(names(begin=a, end=b, value=label) for a, b, label in marks)
        cas.add_all(
            names(begin=a, end=b, value="NO", **{PREDICTED: True, f"value{SCORE}": 0.5})
            for a, b in more
        )
        found: str = cas.to_xmi()
        return found

    def read(document: str) -> list[tuple[str, str]]:
        cas = cassis.load_cas_from_xmi(document, typesystem=types)
        assert cas.sofa_string == text
        assert len(cas.select(TOKEN)) == sum(len(piece.tokens) for piece in cut(text))
        found = cas.select(LAYER)
        assert all(0 < one[f"value{SCORE}"] <= 1 for one in found if one[PREDICTED])
        return [(one.get_covered_text(), one.value) for one in found if one[PREDICTED]]

    ask, suggester = make(inception)
    shift = [(units_before(text, a), units_before(text, b), label) for a, b, label in REGIONS]
    for reader in range(4):
        body = training(written(shift, [(0, 1)]), user=f"reader {reader}")
        assert ask("POST", "/names/train", body) == (204, None)
    kept = {
        (" ".join(suggester._sentences[i].tokens[a:b]), label)
        for i in suggester._state.labellings
        for a, b, label in suggester._state.current(i)["spans"]
    }
    assert kept == {(text[a:b], label) for a, b, label in shift}  # no suggestion taught
    status, told = ask("POST", "/names/predict", predicting(written([])))
    assert (status, set(read(told["document"]))) == (200, kept)


def units_before(text: str, at: int) -> int:
    """Where a place of TEXT is in a text that has more characters before it."""
    return at + len(text) - len(TEXT)


def test_sentences_that_nobody_touched_teach_nothing(make: Made) -> None:
    ask, suggester = make(inception)
    ask("POST", "/names/train", training(xmi(TEXT, REGIONS[:2])))
    assert sorted(suggester._state.labellings) == [0]
    ask("POST", "/names/train", training(xmi(TEXT, [])))  # the annotations were taken off
    assert suggester._state.current(0) == {"spans": []}
    assert suggester._sentences[1].text == "Bob saw Ada in Rome."


def test_readers_stay_apart(make: Made) -> None:
    ask, suggester = make(inception)
    ask("POST", "/names/train", training(xmi(TEXT, REGIONS[:2]), user="ann"))
    ask("POST", "/names/train", training(xmi(TEXT, REGIONS[:1]), user="bob"))
    labelled = suggester._state.labellings[0]
    assert {user: len(event.annotation["spans"]) for user, event in labelled.items()} == {
        "inception/ann": 2,
        "inception/bob": 1,
    }
    assert len(suggester._sentences) == 2


def test_a_document_without_words_is_cut_here(make: Made) -> None:
    ask, suggester = make(inception)
    assert ask("POST", "/names/train", training(xmi(TEXT, REGIONS, cut_up=False)))[0] == 204
    assert suggester._sentences[0].tokens == ["Ada", "left", "Rome", "."]


def test_one_layer_a_project(make: Made) -> None:
    ask, suggester = make(inception)
    assert ask("POST", "/names/train", training(xmi(TEXT, REGIONS)))[0] == 204
    assert ask("POST", "/names/predict", predicting(xmi(TEXT, []), feature="other"))[0] == 409
    suggester.close()
    again, _ = make(inception)
    assert again("POST", "/names/train", training(xmi(TEXT, []), layer="my.Layer"))[0] == 409


def test_single_words_only_where_the_layer_says_so(make: Made) -> None:
    ask, suggester = make(inception)
    text = "Ada Lovelace left. Bob left."
    document = xmi(text, [(0, 12, "PER"), (19, 22, "PER")])
    for i in range(6):
        ask("POST", "/names/train", training(document, user=f"reader {i}"))
    bare = xmi(text, [])
    told = ask("POST", "/names/predict", predicting(bare))[1]["document"]
    assert ("Ada Lovelace", "PER") in predictions(told)
    told = ask("POST", "/names/predict", predicting(bare, anchoringMode="singleToken"))[1]
    assert all(" " not in word for word, _ in predictions(told["document"]))
    assert ask("POST", "/names/predict", predicting(bare, anchoringMode="sentences"))[0] == 422
    assert suggester.clock == 12


GOOD = xmi(TEXT, REGIONS)
BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>" + GOOD.partition("?>")[2]


@pytest.mark.parametrize(
    "document",
    [
        "",
        "<x/>",
        GOOD[:-5],
        BOMB,
        GOOD.replace("sofaString", "sofaNothing"),
        GOOD.replace('begin="0"', 'begin="-1"'),
        GOOD.replace('begin="0"', f'begin="{"9" * 5000}"'),
        GOOD.replace('end="3"', 'end="999"'),
        GOOD.replace('begin="4"', 'begin="1"'),  # words that overlap
        7,
    ],
    ids=range(10),
)
def test_hostile_documents_are_refused_and_teach_nothing(make: Made, document: Any) -> None:
    ask, suggester = make(inception)
    status, told = ask("POST", "/names/train", training(GOOD, document))
    assert (status, suggester.clock) == (422, 0), told
    assert ask("POST", "/names/predict", predicting(document))[0] == 422


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"metadata": {}},
        {"metadata": metadata(layer=3), "documents": []},
        {"metadata": metadata(), "documents": 3},
        {"metadata": metadata(), "documents": ["x"]},
        {"metadata": metadata(layer='x" onload="'), "documents": [{"xmi": GOOD}]},
    ],
    ids=range(6),
)
def test_hostile_envelopes_are_refused(make: Made, body: dict[str, Any]) -> None:
    ask, suggester = make(inception)
    assert ask("POST", "/names/train", body)[0] == 422
    assert suggester.clock == 0


def test_a_feature_that_is_no_name_is_not_written(make: Made) -> None:
    ask, _ = make(inception)
    body = predicting(GOOD, feature='value="x"/><y z')
    assert ask("POST", "/names/predict", body)[0] == 422


def test_labels_are_written_as_xml_wants_them() -> None:
    cas = Cas(xmi('So "Ada" <left> & Bob', []))
    marks = [Mark(3, 8, "A\"<>&'\n"), Mark(0, 2, "B\x01")]
    root = ElementTree.fromstring(cas.suggesting(LAYER, "value", marks))
    found = [one.attrib["value"] for one in root if one.attrib.get(PREDICTED)]
    assert found == ["A\"<>&'\n"]  # the other cannot be said in XML


def test_a_view_without_members_gets_them() -> None:
    document = xmi("Ada left", [], cut_up=False).replace(' members=""', "")
    assert predictions(Cas(document).suggesting(LAYER, "value", [Mark(0, 3, "P", 0.5)])) == [
        ("Ada", "P")
    ]


def test_xml_elements_know_where_they_stand() -> None:
    text = "<?xml version='1.0' encoding='UTF-16'?><a x='>'><é y=\"/>'\"/><c>t</c ></a>"
    data = text.encode()
    found = read_elements(text, "this")
    assert [data[one.start : one.end].decode() for one in found[1:]] == [
        '<é y="/>\'"/>',
        "<c>t</c >",
    ]
    assert data[found[0].tail : found[0].end] == b"</a>"


def test_words_that_are_in_no_sentence_are_left() -> None:
    pieces = cut_by("a b. c d", [(0, 4), (7, 8)], [(0, 1), (2, 3), (3, 4), (5, 6), (7, 8)])
    assert [piece.tokens for piece in pieces] == [["a", "b", "."], ["d"]]


# In a process of its own


def started(path: Path, backend: str, *more: str) -> tuple[subprocess.Popen[str], str]:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "seqpa", "teach", str(path), "--backend", backend, "--port", "0",
         *more],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if "is a backend" in line:
            address = line.split(" at ")[1].split()[0]
            assert int(address.split(":")[2].split("/")[0]) not in (0, 9090, 9091)  # a free one
            return process, address
    raise AssertionError(f"it ended: {process.wait()}")


def posted(address: str, body: Any) -> Any:
    request = urllib.request.Request(
        address, json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=LONG) as answer:
        return json.loads(answer.read() or b"null")


def test_what_was_taught_outlives_the_process(tmp_path: Path) -> None:
    path = tmp_path / "names.seqpa"
    process, address = started(path, "label-studio", "--labels", "PER,LOC")
    try:
        assert posted(f"{address}/webhook", created(ALL))["taught"] == 2
        tasks = {"tasks": [{"data": {"text": TEXT}}], "label_config": VIEW}
        before = posted(f"{address}/predict", tasks)
        with pytest.raises(urllib.error.HTTPError):
            posted(f"{address}/setup", {"schema": BOMB})
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    process, address = started(path, "label-studio")
    try:
        assert posted(f"{address}/predict", tasks) == before
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode == 0
    with Store.open(path) as store:
        assert len(store.labels()) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--backend", "doccano"], "none of label-studio, inception"),
        (["--backend", "inception"], "no labels yet"),
        (["--backend", "inception", "--labels", "A", "--host", "0.0.0.0"], "needs a token"),
        (["other.txt", "--backend", "inception"], "one project"),
    ],
)
def test_one_clear_line_where_it_cannot_begin(
    tmp_path: Path, arguments: list[str], told: str
) -> None:
    from typer.testing import CliRunner

    from seqpa.cli import app

    result = CliRunner().invoke(app, ["teach", str(tmp_path / "a.seqpa"), *arguments])
    text = str(result.exception or "") + result.output
    assert result.exit_code != 0
    assert told in text
    assert list(tmp_path.iterdir()) == []
