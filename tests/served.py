"""A service in a process of its own, for tests and benchmarks; small models to serve.

As a program, ``python served.py JSON`` serves with settings that no option has: short time limits.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from patience import LONG

import seqpa
from seqpa import SequenceTagger

PACKAGE = Path(seqpa.__file__).parents[1]  # where the compiled one is, not the sources beside us
NAMES = [
    "Anna Norvell left Lyon .", "Ada met Anna in Paris .", "In Lyon Ada paid .", "Paris is far .",
    "They left Paris for Lyon .", "Anna and Ada met there .", "So it is .",
    "Ada Norvell paid Anna .", "Lyon .", "Paris", "Lyon", "Ada", "Anna left", "long Ada",
]  # fmt: skip
LABELS = {"Anna": "B-PER", "Ada": "B-PER", "Norvell": "I-PER", "Lyon": "B-LOC", "Paris": "B-LOC"}


def names_tagger(rename: dict[str, str] | None = None, **parameters: Any) -> SequenceTagger:
    """A tagger of persons and places, whose labels may be renamed."""
    X = [sentence.split() for sentence in NAMES]
    y = [[LABELS.get(word, "O") for word in sentence] for sentence in X]
    if rename:
        y = [[rename.get(label, label) for label in labels] for labels in y]
    templates = ["word[0]", "word[-1]"]
    settings = {
        "features": templates,
        "constraints": "bio",
        "random_state": 1,
        "C": 0.05,
        "epochs": 20,
    }
    return SequenceTagger(**{**settings, **parameters}).fit(X, y, dev=(X[:4], y[:4]))


def pos_tagger() -> SequenceTagger:
    """A tagger with one label for each token."""
    kinds = {"is": "VBZ", "met": "VBD", "paid": "VBD", "left": "VBD", ".": ".", "in": "IN"}
    X = [sentence.split() for sentence in NAMES]
    y = [[kinds.get(word, "NNP" if word in LABELS else "NN") for word in own] for own in X]
    return SequenceTagger(["word[0]", "suffix(2)[0]", "istitle[0]"], random_state=1).fit(X, y)


class LogFile:
    """What another process writes; the file is gone with this object.

    It is opened anew to be read: the other process shares the place in the open file at which it
    writes, and whoever went back there to read would have the log written over.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._path = Path(self._folder.name, "log")
        self.stream = self._path.open("ab")

    def read(self) -> str:
        return self._path.read_text(encoding="utf-8")


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Service:
    """A running service; `with` ends it."""

    def __init__(
        self, *arguments: object, limits: dict[str, Any] | None = None, **more: Any
    ) -> None:
        self.log_file = LogFile()
        if limits is None and not more:
            command = ["-m", "seqpa", "serve", *map(str, arguments), "--port", "0"]
        else:
            told = {"models": [str(one) for one in arguments], "limits": limits or {}, **more}
            command = [str(Path(__file__)), json.dumps(told)]
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONUNBUFFERED": "1"}
        environment.pop("SEQPA_TOKEN", None)
        self.process = subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            stderr=self.log_file.stream,
            env=environment,
            cwd=tempfile.gettempdir(),  # in the project's folder its sources would come first
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert " at http://" in line, line + self.log
        self.url = line.split(" at ")[1].split()[0]
        self.port = int(self.url.rstrip("/").rpartition(":")[2])

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

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

    @property
    def log(self) -> str:
        return self.log_file.read()

    def connect(self, timeout: float = LONG) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(
        self, path: str, body: Any = None, *, method: str | None = None, **headers: str
    ) -> Answer:
        """One request on a connection of its own; a body that is no bytes is sent as JSON."""
        connection = self.connect()
        try:
            if body is not None and not isinstance(body, bytes):
                body = json.dumps(body).encode()
            told = {"content-type": "application/json"} if body is not None else {}
            told |= {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method or ("GET" if body is None else "POST"), path, body, told)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def tag(self, **request: Any) -> Any:
        """The answer to a request that is right."""
        answer = self.ask("/tag", request)
        assert answer.status == 200, answer.body
        return answer.json

    def metric(self, name: str) -> float:
        for line in self.ask("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
        return 0.0

    def memory(self) -> int:
        """The bytes of memory that it has, where the system tells it."""
        told = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()
        return int(told[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    from seqpa.serve.running import run
    from seqpa.serve.settings import Limits, Settings, named_models

    given = json.loads(sys.argv[1])
    own_limits = Limits(**given.pop("limits"))
    own_models = named_models(given.pop("models"))
    run(
        Settings(models=own_models, limits=own_limits, port=0, **given),
        lambda address: print(f"serving at {address}", flush=True),
    )
