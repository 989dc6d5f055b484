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
from served import PACKAGE

from seqpa.errors import SeqpaError
from seqpa.serve.logs import Log
from seqpa.serve.settings import Settings
from seqpa.teach import inception, label_studio
from seqpa.teach.backend import LIMITS
from seqpa.teach.cas import PREDICTED, TOKEN, Cas, Mark
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


# Label Studio


def test_a_backend_is_set_up_asked_and_taught(make: Made) -> None:
    ask, suggester = make(label_studio)
    assert ask("GET", "/health") == (200, {"status": "UP", "model_class": "seqpa"})
    body = {"project": "2.17", "schema": VIEW, "hostname": "http://x", "access_token": "secret"}
    assert ask("POST", "/setup", body) == (200, {"model_version": "seqpa-0"})
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
    assert found["model_version"] == told["model_version"] == f"seqpa-{suggester.clock}"


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
        "taught": 1, "left_out": 0, "model_version": "seqpa-3"
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
    skipped = created(ALL, was_cancelled=True)
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
    with urllib.request.urlopen(request, timeout=60) as answer:
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
