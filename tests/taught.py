"""`seqpa teach` in a process of its own, for tests."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from patience import LONG
from served import PACKAGE, Answer, LogFile

TEXT = """Ada Norvell left Lyon. Bob met Ada in Rome. In Lyon Ada paid. So it is. Rome fell.
They left Paris for Rome. Ada and Bob met there. Bob paid Ada. Paris is far. Lyon."""


class Teaching:
    """A running `seqpa teach`; `with` ends it."""

    def __init__(
        self,
        *arguments: object,
        before: Callable[[], None] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.errors = LogFile()
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "seqpa", "teach", *map(str, arguments), "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=self.errors.stream,
            env=environment,
            cwd=folder or tempfile.gettempdir(),  # not in the sources: they would come first
            text=True,
            preexec_fn=before,
        )
        self.token: str | None = None
        self.lines: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.strip())
            if line.startswith("teaching "):
                break
        else:
            raise AssertionError("\n".join(self.lines) + self.error)
        self.link = line.split(" at ")[1].split()[0]
        self.url, _, token = self.link.partition("#token=")
        self.token = token or None
        self.port = int(self.url.rstrip("/").rpartition(":")[2])

    @property
    def links(self) -> dict[str, str]:
        """The links of others, by their names."""
        told = [line.split() for line in self.lines if line.startswith("the link for ")]
        return {words[3].rstrip(","): words[-1] for words in told}

    def __enter__(self) -> Teaching:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def error(self) -> str:
        return self.errors.read()

    def end(self, by: int = signal.SIGTERM) -> int:
        """Ask it to end; its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(by)
        try:
            return self.process.wait(timeout=LONG)
        finally:
            self.process.kill()
            if self.process.stdout is not None:
                self.process.stdout.close()

    def ask(self, path: str, body: Any = None, **headers: str) -> Answer:
        """One request on a connection of its own; a body that is no bytes is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONG)
        try:
            if body is not None and not isinstance(body, bytes):
                body = json.dumps(body).encode()
            told = {"content-type": "application/json"} if body is not None else {}
            if self.token is not None:
                told["authorization"] = f"Bearer {self.token}"
            told |= {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request("GET" if body is None else "POST", path, body, told)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        answer = self.ask(path)
        assert answer.status == 200, answer.body
        return answer.json

    def do(self, what: str, **body: Any) -> Any:
        """The answer to a request that is right."""
        answer = self.ask(f"/api/{what}", {"request": str(uuid4()), **body})
        assert answer.status == 200, answer.body
        return answer.json


def text_file(folder: Path, text: str = TEXT) -> Path:
    path = folder / "a.txt"
    path.write_text(text, encoding="utf-8")
    return path
