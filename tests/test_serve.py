"""`seqpa serve` as programs meet it: a real process, real connections."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from names_in_context import text
from patience import LONG, until
from served import NAMES, PACKAGE, Service, names_tagger, pos_tagger

from seqpa import SequenceTagger
from seqpa.cli import main
from seqpa.schemes import spans

pytest.importorskip("fastapi", reason='needs the extra "serve"')
pytest.importorskip("uvicorn", reason='needs the extra "serve"')

WORDS = ["Anna", "Norvell", "left", "Lyon", "."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("serve")
    names_tagger().save(path / "ner.safetensors")
    pos_tagger().save(path / "pos.safetensors")
    return path


@pytest.fixture(scope="module")
def tagger(folder: Path) -> SequenceTagger:
    return SequenceTagger.load(folder / "ner.safetensors")


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    with Service(folder / "ner.safetensors", f"words={folder / 'pos.safetensors'}") as one:
        yield one


# Answers


def test_text_tokens_and_sentences(service: Service, tagger: SequenceTagger) -> None:
    expected = tagger.predict_one(WORDS)
    assert service.tag(tokens=WORDS)["sentences"][0]["labels"] == expected
    text = "Anna Norvell left Lyon.  So it is."
    first, second = service.tag(text=text)["sentences"]
    assert [text[a:b] for a, b in first["offsets"]] == first["tokens"] == WORDS
    assert first["labels"] == expected
    assert [text[a:b] for a, b in second["offsets"]] == ["So", "it", "is", "."]
    assert [one["text"] for one in first["spans"]] == ["Anna Norvell", "Lyon"]
    many = [sentence.split() for sentence in NAMES] + [[]]
    answer = service.tag(sentences=many)
    assert [one["labels"] for one in answer["sentences"]] == tagger.predict(many)
    for one in answer["sentences"]:
        found = [(span["type"], span["start"], span["end"]) for span in one["spans"]]
        assert found == spans(one["labels"])


def test_offsets_count_characters(service: Service) -> None:
    text = "😀 Anna 𝒳 left\u200f ליון עם Ada . \n\n Ünï Lyon"
    for one in service.tag(text=text, language="any")["sentences"]:
        assert [text[a:b] for a, b in one["offsets"]] == one["tokens"]


def test_nothing_to_tag(service: Service) -> None:
    assert service.tag(text=" \n ")["sentences"] == []
    assert service.tag(sentences=[])["sentences"] == []
    assert service.tag(tokens=[])["sentences"][0]["labels"] == []
    assert service.tag(tokens=[], n_best=2, explain=True)["sentences"][0]["explanations"] == []


def test_details_are_those_of_the_tagger(service: Service, tagger: SequenceTagger) -> None:
    [one] = service.tag(tokens=WORDS, n_best=3, probabilities=True, explain=True)["sentences"]
    expected = tagger.predict_with_probability([WORDS])[0]
    assert one["probabilities"] == pytest.approx([p for _, p in expected])
    n_best = tagger.predict_nbest([WORDS], 3)[0]
    assert [told["labels"] for told in one["n_best"]] == [labels for _, labels in n_best]
    assert [told["score"] for told in one["n_best"]] == pytest.approx([s for s, _ in n_best])
    for told, own in zip(one["explanations"], tagger.explain(WORDS), strict=True):
        assert (told["label"], told["runner_up"]) == (own.label, own.runner_up)
        assert told["margin"] == pytest.approx(own.margin)
        assert [part["name"] for part in told["features"]] == [
            part.name for part in own.summed(12).contributions
        ]
        likely = [other["probability"] for other in told["alternatives"]]
        assert likely == sorted(likely, reverse=True)


def test_fixed_labels(service: Service, tagger: SequenceTagger) -> None:
    fixed = [[None, None, None, "O", None]]
    expected = tagger.predict([WORDS], fixed=fixed)
    assert expected != tagger.predict([WORDS])
    answer = service.tag(tokens=WORDS, fixed=[{"token": 3, "label": "O"}])
    assert [one["labels"] for one in answer["sentences"]] == expected
    text = "So it is. Anna Norvell left Lyon."
    answer = service.tag(text=text, fixed=[{"start": text.index("Lyon"), "label": "O"}])
    assert answer["sentences"][1]["labels"] == expected[0]


def test_fixed_labels_change_readings_and_probabilities(
    service: Service, tagger: SequenceTagger
) -> None:
    fixed = [[None, None, None, "O", None]]
    wanted = {"n_best": 3, "probabilities": True, "explain": True}
    free = service.tag(sentences=[["So"], WORDS], **wanted)["sentences"][1]
    told = [{"sentence": 1, "token": 3, "label": "O"}]
    [one] = service.tag(sentences=[["So"], WORDS], fixed=told, only=[1], **wanted)["sentences"]
    n_best = tagger.predict_nbest([WORDS], 3, fixed=fixed)[0]
    assert [reading["labels"] for reading in one["n_best"]] == [labels for _, labels in n_best]
    marginals = tagger.predict_marginals([WORDS], fixed=fixed)[0]
    expected = [row[label] for row, label in zip(marginals, one["labels"], strict=True)]
    assert one["probabilities"] == pytest.approx(expected)
    assert one["probabilities"][3] == pytest.approx(1.0)
    # Why is asked of the model on its own.
    assert one["explanations"] == free["explanations"]


def test_only_some_sentences(service: Service) -> None:
    many = [sentence.split() for sentence in NAMES]
    every = service.tag(sentences=many, probabilities=True)["sentences"]
    some = service.tag(sentences=many, probabilities=True, only=[2, 0])["sentences"]
    assert some == [every[2], every[0]]
    assert service.tag(sentences=many, only=[])["sentences"] == []


def test_models_by_name(service: Service) -> None:
    assert service.tag(tokens=WORDS)["model"] == "ner"
    answer = service.tag(tokens=WORDS, model="words")
    assert answer["model"] == "words"
    assert "spans" not in answer["sentences"][0]
    told = service.ask("/model").json
    assert told["default"] == "ner"
    assert [one["name"] for one in told["models"]] == ["ner", "words"]
    ner = told["models"][0]
    assert ner["labels"] == ["B-LOC", "B-PER", "I-PER", "O"]
    assert ner["kinds"]["I-PER"] == "PER"
    assert set(ner["colours"]) == {"LOC", "PER"}
    assert ner["file"] == "ner.safetensors"
    assert ner["calibrated"]
    assert answer["version"] == told["models"][1]["version"] != ner["version"]


def test_many_at_once_are_answered_as_alone(service: Service, tagger: SequenceTagger) -> None:
    draw = random.Random(1)
    words = " ".join(NAMES).split()
    sentences = [draw.choices(words, k=draw.randrange(1, 30)) for _ in range(200)]
    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(lambda own: service.tag(tokens=own)["sentences"][0], sentences))
    assert [one["tokens"] for one in found] == sentences
    assert [one["labels"] for one in found] == tagger.predict(sentences)
    requests = service.metric("seqpa_gathered_requests_total")
    assert requests >= 200
    assert service.metric("seqpa_gathered_calls_total") <= requests


def test_health_counts_and_openapi(service: Service) -> None:
    assert service.ask("/health").json == {"status": "ok"}
    assert service.ask("/ready").json == {"status": "ok"}
    before = service.metric("seqpa_tokens_total")
    service.tag(tokens=WORDS)
    assert service.metric("seqpa_tokens_total") == before + len(WORDS)
    counts = service.ask("/metrics")
    assert counts.headers["content-type"].startswith("text/plain")
    assert 'seqpa_requests_total{route="tag",status="200"}' in counts.body.decode()
    schema = service.ask("/openapi.json").json
    body = schema["paths"]["/tag"]["post"]["requestBody"]["content"]["application/json"]
    for example in body["examples"].values():
        assert service.ask("/tag", example["value"]).status == 200


# Mistakes


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"{", 400, "no JSON"),
        (b"", 400, "no JSON"),
        (b'{"text": "\xff"}', 400, "no JSON"),
        (b'{"text": "\\ud800"}', 400, "no JSON"),
        (b"[" * 100_000, 400, "no JSON"),
        (b"[]", 422, "must be a JSON object"),
        ({}, 422, 'exactly one of "text"'),
        ({"text": "a", "tokens": []}, 422, "several"),
        ({"text": 5}, 422, "text: should be a valid string"),
        ({"txt": "a"}, 422, "did you mean 'text'?"),
        ({"tokens": ["a", 5]}, 422, "tokens[1]"),
        ({"sentences": [["a"], "b"]}, 422, "sentences[1]"),
        ({"tokens": [["a", "b"]]}, 422, "takes words"),
        ({"text": "a", "model": "nre"}, 404, "did you mean 'ner'?"),
        ({"text": "a", "language": "klingon"}, 422, "klingon"),
        ({"text": "a", "n_best": 0}, 422, "n_best"),
        ({"text": "a", "n_best": 10**9}, 422, "n_best"),
        ({"text": "a", "n_best": "2"}, 422, "n_best"),
        ({"text": "a", "only": [1]}, 422, "there is no sentence 1"),
        ({"text": "a", "only": [-1]}, 422, "there is no sentence -1"),
        ({"text": "a", "only": [0, 0]}, 422, "twice"),
        ({"text": "a", "fixed": [{"label": "O"}]}, 422, "which token"),
        ({"text": "a", "fixed": [{"start": 9, "label": "O"}]}, 422, "character 9"),
        ({"text": "a", "fixed": [{"token": 1, "label": "O"}]}, 422, "no token 1"),
        ({"text": "a", "fixed": [{"token": 0, "label": "PER"}]}, 422, "did you mean 'I-PER'?"),
        ({"tokens": ["a"], "fixed": [{"token": 0, "label": "I-PER"}]}, 422, "constraints"),
        ({"sentences": [["a"]] * 2001}, 413, "2,001 sentences"),
        ({"tokens": ["a"] * 50_001}, 413, "50,001 tokens"),
        ({"tokens": ["a"] * 5_001, "explain": True}, 413, "5,001 tokens"),
        (b" " * (2**20 + 1), 413, "1,048,576 bytes"),
    ],
)
def test_mistakes_are_told_in_one_sentence(
    service: Service, body: Any, status: int, told: str
) -> None:
    answer = service.ask("/tag", body)
    assert answer.status == status, answer.body
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json
    assert set(problem) == {"type", "title", "status", "detail"}
    assert problem["status"] == status
    assert told in problem["detail"]
    assert "\n" not in problem["detail"]
    assert len(problem["detail"]) < 300


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [("/nothing", "GET", 404), ("/tag", "GET", 405), ("/model", "POST", 405), ("/%ff", "GET", 404)],
)
def test_other_addresses(service: Service, path: str, method: str, status: int) -> None:
    answer = service.ask(path, method=method)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["detail"]


def test_other_media_types(service: Service) -> None:
    """A form of somebody else's page cannot ask: it cannot say that it sends JSON."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "x" * 5000):
        answer = service.ask("/tag", b'{"text": "a"}', content_type=kind)
        assert answer.status == 415
        assert len(answer.body) < 400


def test_no_http_at_all(service: Service) -> None:
    for said in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", service.port), timeout=LONG) as one:
            one.sendall(said)
            answer = one.recv(4096)
        assert answer.startswith(b"HTTP/1.1 400"), answer
        assert b"application/problem+json" in answer


def test_random_bodies_never_fail(service: Service) -> None:
    """Requests that are right but for some random changes: told off, and never with a 500."""
    draw = random.Random(2)
    values: list[Any] = [
        None,
        True,
        -1,
        0,
        2**70,
        1.5,
        "",
        "a",
        "\x00",
        [],
        [[]],
        {},
        [None],
        ["a"],
    ]
    names = ["text", "tokens", "sentences", "model", "language", "n_best", "probabilities",
             "explain", "fixed", "only", ""]  # fmt: skip
    connection = service.connect()
    seen = set()
    for _ in range(1000):
        body: Any = {draw.choice(names): draw.choice(values) for _ in range(draw.randrange(1, 5))}
        text = json.dumps(body).encode()
        if draw.random() < 0.3:
            at = draw.randrange(len(text))
            text = text[:at] + bytes(draw.choices(range(256), k=draw.randrange(4))) + text[at + 1 :]
        connection.request("POST", "/tag", text, {"content-type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        seen.add(answer.status)
    connection.close()
    assert seen <= {200, 400, 404, 413, 422}
    assert {200, 400, 422} <= seen
    assert '"fault"' not in service.log


def test_schemathesis_finds_no_500(service: Service) -> None:
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, given, settings

    schema = schemathesis.openapi.from_url(f"{service.url}openapi.json")
    for operation in schema.get_all_operations():
        own = operation.ok()
        if own.path == "/tag/stream":  # whose media type it cannot write
            continue

        @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=own.as_strategy())
        def check(case: Any) -> None:
            answer = case.call()
            assert answer.status_code < 500
            assert answer.status_code in (200, 415) or answer.json()["detail"]

        check()
    assert '"fault"' not in service.log


# Streams


def test_a_stream(service: Service) -> None:
    lines = ['{"tokens": ["Anna"]}', "", '{"text": ', '{"text": "Lyon", "model": "words"}', "7"]
    body = "\n".join(lines).encode()
    answer = service.ask("/tag/stream", body, content_type="application/x-ndjson")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/x-ndjson"
    first, second, third, fourth = map(json.loads, answer.body.splitlines())
    assert first["sentences"][0]["labels"] == ["B-PER"]
    assert (second["status"], second["line"]) == (400, 3)
    assert third["model"] == "words"
    assert (fourth["status"], fourth["line"]) == (422, 5)
    named = service.ask("/tag/stream?model=words", body, content_type="application/x-ndjson")
    assert json.loads(named.body.splitlines()[0])["model"] == "words"
    assert service.ask("/tag/stream?model=no", body).status == 404


def test_a_stream_is_answered_while_it_is_sent(service: Service, tagger: SequenceTagger) -> None:
    """And in constant memory, whatever its length."""

    def chunk(text: bytes) -> bytes:
        return f"{len(text):x}\r\n".encode() + text + b"\r\n"

    with socket.create_connection(("127.0.0.1", service.port), timeout=LONG) as one:
        head = "POST /tag/stream HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n"
        one.sendall(f"{head}content-type: application/x-ndjson\r\n\r\n".encode())
        file = one.makefile("rb")
        line = json.dumps({"tokens": WORDS}).encode() + b"\n"
        one.sendall(chunk(line[:10]))
        one.sendall(chunk(line[10:]))
        assert file.readline().startswith(b"HTTP/1.1 200")
        while file.readline().strip():
            pass

        def read_answer() -> bytes:
            found = b""
            size = int(file.readline(), 16)
            found = file.read(size)
            file.readline()
            return found

        assert json.loads(read_answer())["sentences"][0]["labels"] == tagger.predict_one(WORDS)
        before = 0
        for rounds in range(60):
            one.sendall(chunk(line * 100))
            got = 0
            while got < 100:
                got += read_answer().count(b"\n")
            if rounds == 10:
                before = service.memory()
        assert service.memory() < before + 5 * 2**20
        one.sendall(b"0\r\n\r\n")
        assert read_answer() == b""


# Who may ask


def test_a_token_is_needed_beyond_this_machine(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SEQPA_TOKEN", raising=False)
    model = str(folder / "ner.safetensors")
    assert main(["serve", model, "--host", "0.0.0.0"]) == 2
    assert "needs a token" in capsys.readouterr().err
    assert main(["serve", model, "--token", "short"]) == 2
    assert "8 or more" in capsys.readouterr().err
    assert main(["serve", model, "--token", "a" * 9, "--token-file", "x"]) == 2
    assert main(["serve", model, model]) == 2
    assert "both called 'ner'" in capsys.readouterr().err
    assert main(["serve", str(folder / "no.safetensors")]) == 2
    assert "no.safetensors: there is no such file" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", model, "--port", str(port)]) == 2
    assert "choose another --port" in capsys.readouterr().err


def test_the_token_is_asked_for_and_never_logged(folder: Path, tmp_path: Path) -> None:
    token = "quite-a-secret-token"
    (tmp_path / "token").write_text(f"{token}\n", encoding="utf-8")
    with Service(folder / "ner.safetensors", "--token-file", tmp_path / "token") as one:
        assert one.ask("/health").status == one.ask("/ready").status == one.ask("/").status == 200
        for path in ("/model", "/metrics", "/openapi.json", "/nothing"):
            assert one.ask(path).status == 401, path
        refused = one.ask("/tag", {"text": "Anna"})
        assert refused.status == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        for wrong in ("", f"Bearer {token}x", f"Bearer {token[:-1]}", token, "Bearer \xff"):
            assert one.ask("/tag", {"text": "a"}, authorization=wrong).status == 401
        right = {"authorization": f"Bearer {token}"}
        assert one.ask("/tag", {"text": "Anna"}, **right).status == 200
        assert "security" in one.ask("/openapi.json", **right).json
        assert one.end(signal.SIGINT) == 0
        assert token not in one.log


def test_a_foreign_name_is_refused(service: Service) -> None:
    """A page elsewhere whose name leads here (DNS rebinding) gets nothing."""
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::2]"):
        assert service.ask("/tag", {"text": "a"}, host=host).status == 421
    for host in ("localhost", f"127.0.0.1:{service.port}", "[::1]:8000", "LOCALHOST:1"):
        assert service.ask("/tag", {"text": "a"}, host=host).status == 200


def test_browsers_are_told_to_run_nothing_foreign(service: Service) -> None:
    for path in ("/", "/page.js", "/model", "/nothing"):
        policy = service.ask(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
    etag = service.ask("/page.js").headers["etag"]
    assert service.ask("/page.js", if_none_match=etag).status == 304


@pytest.fixture(scope="module")
def strict(folder: Path) -> Iterator[Service]:
    options = ("--max-waiting", "1", "--allow-origin", "https://site.example")
    with Service(folder / "ner.safetensors", *options) as one:
        yield one


def test_origins_are_allowed_by_name(strict: Service) -> None:
    asked = {"method": "OPTIONS", "access_control_request_method": "POST",
             "access_control_request_headers": "content-type"}  # fmt: skip
    right = strict.ask("/tag", origin="https://site.example", **asked)
    assert right.headers["access-control-allow-origin"] == "https://site.example"
    wrong = strict.ask("/tag", origin="https://evil.example", **asked)
    assert "access-control-allow-origin" not in wrong.headers


def test_logs_hold_no_text(strict: Service) -> None:
    secret = "Zyxwvutsrq"
    # A line is written when its answer is out already: those of other tests come before this one's.
    before = strict.log.count('"route":"ready"')
    strict.ask("/ready")
    until(lambda: strict.log.count('"route":"ready"') > before)
    before = len(strict.log.splitlines())
    strict.tag(text=f"{secret} left.")
    strict.ask("/tag", {"text": secret, secret: 1})
    strict.ask(f"/{secret}?{secret}")
    strict.ask("/tag", {"text": "a", "model": secret}, user_agent=secret)
    strict.ask("/tag/stream", json.dumps({"text": secret}).encode())
    until(lambda: len(strict.log.splitlines()) >= before + 5)
    lines = [json.loads(line) for line in strict.log.splitlines()]
    assert secret not in json.dumps(lines)
    told = lines[before:]
    assert [line["status"] for line in told] == [200, 422, 404, 404, 200]
    assert told[0] | {"route": "tag", "sentences": 1, "tokens": 3, "model": "ner"} == told[0]


# Limits


def test_too_many_are_told_to_come_again(strict: Service) -> None:
    text = ("Anna left Lyon and " * 6 + ". ") * 1900
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda _: strict.ask("/tag", {"text": text}), range(24)))
    assert {answer.status for answer in found} == {200, 429}
    told = next(answer for answer in found if answer.status == 429)
    assert told.headers["retry-after"] == "1"
    assert strict.ask("/tag", {"text": "Anna"}).status == 200


@pytest.fixture(scope="module")
def hasty(folder: Path) -> Iterator[Service]:
    limits = {"head_seconds": 0.4, "body_seconds": 0.4, "idle_seconds": 0.6, "head_bytes": 4000}
    with Service(folder / "ner.safetensors", limits=limits) as one:
        yield one


def _said(service: Service, first: bytes = b"", then: bytes = b"") -> bytes:
    """All that comes back until the service closes the connection; `then` is said at the first
    sign of an answer."""
    found = b""
    with (
        socket.create_connection(("127.0.0.1", service.port), timeout=LONG) as one,
        suppress(ConnectionError),  # it was closed before all was said
    ):
        one.sendall(first)
        if then:
            found += one.recv(4096)
            one.sendall(then)
        while more := one.recv(4096):
            found += more
    return found


def _heard(service: Service, *parts: bytes) -> bytes:
    """The same of what is answered; on a busy machine we may be the slow ones, and not heard."""
    return until(lambda: _said(service, *parts))


def test_slow_clients_are_let_go(hasty: Service) -> None:
    post = b"POST /tag HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    assert _said(hasty) == b""
    assert _said(hasty, b"GET /health HTTP/1.1\r\nhost: local") == b""
    assert _heard(hasty, post + b"content-length: 100\r\n\r\n{").startswith(b"HTTP/1.1 408")
    whole = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"
    assert _heard(hasty, whole, b"GET /health HTTP").count(b"200 OK") == 1
    lines = b"POST /tag/stream HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    told = _heard(hasty, lines + b'content-length: 99\r\n\r\n{"text": "a"}\n')
    assert told.count(b'"tokens":["a"]') == 1
    assert b'"status":408' in told
    long = b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 2000
    assert _heard(hasty, long).startswith(b"HTTP/1.1 431")


@pytest.fixture(scope="module")
def narrow(folder: Path) -> Iterator[Service]:
    """Few may come at a time, and each has as long as it likes."""
    limits = {"head_seconds": LONG, "body_seconds": LONG, "idle_seconds": LONG}
    limits |= {"held_bytes": 3000, "connections": 40, "body_bytes": 2000}
    with Service(folder / "ner.safetensors", limits=limits) as one:
        yield one


def test_slow_clients_stop_nobody(narrow: Service) -> None:
    slow = [socket.create_connection(("127.0.0.1", narrow.port)) for _ in range(30)]
    try:
        for one in slow:
            one.sendall(b"POST /tag HTTP/1.1\r\nhost: localhost\r\n")
        assert all(narrow.ask("/tag", {"text": "Anna"}).status == 200 for _ in range(20))
    finally:
        for one in slow:
            one.close()


def test_connections_and_memory_are_limited(narrow: Service) -> None:
    until(lambda: _is_healthy(narrow))
    # One more than needed: where one of before is just being closed, the 41st may still come in.
    open_ones = [socket.create_connection(("127.0.0.1", narrow.port)) for _ in range(42)]
    try:
        answered, _, _ = select.select(open_ones, [], [], LONG)
        told = answered[0].recv(4096)
        assert told.startswith(b"HTTP/1.1 503")
        assert b"retry-after: 1" in told
        assert len(answered) <= 3
    finally:
        for one in open_ones:
            one.close()
    until(lambda: _is_healthy(narrow))
    head = b"POST /tag HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    held = [socket.create_connection(("127.0.0.1", narrow.port)) for _ in range(2)]
    try:
        for one in held:
            one.sendall(head + b"content-length: 1900\r\n\r\n" + b" " * 1800)
        answered, _, _ = select.select(held, [], [], LONG)
        assert [one.recv(4096)[:12] for one in answered] == [b"HTTP/1.1 503"]
    finally:
        for one in held:
            one.close()


def _is_healthy(service: Service) -> bool:
    """Whether it takes connections (again)."""
    try:
        return service.ask("/health").status == 200
    except (OSError, http.client.HTTPException):  # refused before all was said
        return False


def test_an_answer_that_takes_too_long() -> None:
    """It is a problem in time; the thread goes on, and then answers others."""
    from seqpa.serve.lanes import Lanes
    from seqpa.serve.problems import Problem
    from seqpa.serve.settings import Limits

    go_on = threading.Event()

    def slow(name: str | None) -> Any:
        go_on.wait(LONG)
        raise Problem(404, "there is none")

    async def ask(size: int) -> list[Any]:
        lanes = Lanes(slow, "english", Limits(request_seconds=0.05))
        body = json.dumps({"text": "a" * size}).encode()
        end = time.monotonic() + LONG
        late = await lanes.answer(body)
        go_on.set()
        # As the answer says, a client tries again; on a busy machine more than once.
        while (after := await lanes.answer(body)).status == 503:
            assert time.monotonic() < end
        lanes.close()
        return [late, after]

    for size in (1, 5000):
        go_on.clear()
        late, after = asyncio.run(ask(size))
        assert (late.status, late.headers) == (503, {"retry-after": "5"})
        assert after.status == 404


def test_gathered_documents_stay_apart() -> None:
    """What a tagger sees of other sentences are those of the same request."""
    from seqpa.serve.answers import Question, answer_plain
    from seqpa.serve.messages import TagRequest
    from seqpa.serve.models import ServedModel

    X, y = text(1, 300)
    tagger = SequenceTagger(
        ["word[0]", "word[-1]", "elsewhere(lower, -1)"], random_state=1, epochs=3
    ).fit(X, y)
    assert tagger.reach_
    model = ServedModel("m", "1", tagger, ("word",), True, {})
    more, _ = text(2, 60)
    parts = [more[:1], more[1:30], more[30:31], more[31:]]
    questions = [Question(TagRequest(sentences=part), model, part, None) for part in parts]
    together = answer_plain(questions)
    assert together == [answer_plain([one])[0] for one in questions]
    apart = [one["labels"] for answer in together for one in json.loads(answer.body)["sentences"]]
    assert apart != tagger.predict(more)  # as one document


# Ending, workers, new models


def test_what_was_begun_is_finished(folder: Path) -> None:
    limits = {"body_seconds": LONG, "shutdown_seconds": LONG}
    one = Service(folder / "ner.safetensors", limits=limits)
    body = json.dumps({"text": "Anna left Lyon."}).encode()
    head = "POST /tag HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", one.port), timeout=LONG) as begun:
        begun.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body[:9])
        until(lambda: one.metric("seqpa_requests_in_work") == 2)
        one.process.send_signal(signal.SIGTERM)
        until(lambda: _refused(one.port))
        begun.sendall(body[9:])
        answer = b""
        while more := begun.recv(4096):
            answer += more
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"B-LOC" in answer
    assert one.end() == 0
    assert json.loads(one.log.splitlines()[-1])["event"] == "ended"


def _refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return True
    return False


def test_a_new_model_is_swapped_in_and_a_damaged_one_is_not(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    shutil.copy(folder / "ner.safetensors", path)
    renamed = {"B-PER": "B-WHO", "I-PER": "I-WHO"}
    names_tagger(renamed).save(tmp_path / "new.safetensors")
    with Service(f"m={path}", limits={}, watch_seconds=0.05) as one:
        versions = set()

        def labels() -> list[str]:
            answer = one.tag(tokens=["Anna"])
            versions.add(answer["version"])
            return answer["sentences"][0]["labels"]

        assert labels() == ["B-PER"]
        os.replace(tmp_path / "new.safetensors", path)  # noqa: PTH105
        until(lambda: labels() == ["B-WHO"])
        # Somebody cuts off the file that is mapped, and what is left is no model. Each change is
        # made at once here: what is seen twice on the way would count as one of its own.
        os.truncate(path, path.stat().st_size // 2)
        told = until(lambda: one.ask("/model").json["models"][0]["refused"])
        assert "model.safetensors: is damaged" in told
        assert str(tmp_path) not in told
        assert labels() == ["B-WHO"]
        path.unlink()
        until(lambda: "is gone" in one.ask("/model").json["models"][0]["refused"])
        assert labels() == ["B-WHO"]
        shutil.copy(folder / "ner.safetensors", tmp_path / "old.safetensors")
        os.replace(tmp_path / "old.safetensors", path)  # noqa: PTH105
        until(lambda: labels() == ["B-PER"])
        assert one.ask("/model").json["models"][0]["refused"] is None
        until(lambda: one.metric("seqpa_reloads_total") == 2)
        assert one.metric("seqpa_reload_failures_total") == 2
        assert len(versions) == 2
        until(lambda: '"model refused"' in one.log)
        assert {200} == {json.loads(x).get("status", 200) for x in one.log.splitlines()}


def test_a_model_that_is_served_is_not_told_as_refused(folder: Path, tmp_path: Path) -> None:
    """At no moment: requests are answered while the watching thread is about it."""
    from seqpa.serve.models import Models
    from seqpa.serve.settings import named_models

    path = tmp_path / "m.safetensors"
    shutil.copy(folder / "ner.safetensors", path)
    models = Models(named_models([str(path)]))
    path.unlink()
    assert [change.refused for _ in range(2) for change in models.look()] == [
        "m.safetensors: is gone"
    ]
    told = []

    class Watched(dict):
        def __setitem__(self, name: str, model: Any) -> None:
            super().__setitem__(name, model)
            told.append(models.cards()[0]["refused"])

    models._served = Watched(models._served)
    shutil.copy(folder / "pos.safetensors", path)
    assert [change.refused for _ in range(2) for change in models.look()] == [None]
    assert told == [None]


@pytest.mark.skipif(sys.platform == "win32", reason="counts processes in /proc")
def test_workers_share_the_work(folder: Path) -> None:
    with Service(folder / "ner.safetensors", "--workers", "2") as one:
        announced = datetime.now(timezone.utc)
        until(lambda: one.log.count('"ready"') == 2)
        ready = [json.loads(line)["time"] for line in one.log.splitlines()]
        assert max(map(datetime.fromisoformat, ready)) <= announced, "told before all are ready"
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: one.tag(tokens=WORDS)["sentences"][0], range(60)))
        assert len({json.dumps(answer) for answer in found}) == 1
        until(lambda: one.metric("seqpa_sentences_total") == 60)
        worker = json.loads(one.log.splitlines()[0])["process"]
        os.kill(worker, signal.SIGKILL)
        until(lambda: one.log.count('"ready"') == 3)
        until(lambda: '"worker ended"' in one.log)
        assert one.tag(tokens=WORDS)["sentences"][0] == found[0]
        until(lambda: one.metric("seqpa_sentences_total") == 61)
        assert one.end() == 0


def test_help_is_quick_and_whole() -> None:
    """The command needs none of the extra's packages to explain itself."""
    code = (
        "import sys; from seqpa.cli import main; main(['serve', '--help']); "
        "assert not {'fastapi', 'uvicorn', 'numpy'} & set(sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "--token-file" in done.stdout
