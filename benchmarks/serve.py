"""The service under load: short requests, slow clients, malformed requests, streams, the page.

python benchmarks/serve.py            every part, some four minutes: a quiet machine, please
python benchmarks/serve.py load       one part: see PARTS
python benchmarks/serve.py --quick    a few seconds for each
python benchmarks/serve.py --write    puts the tables into RESULTS.md

The load comes from wrk (Debian's package wrk) on the same machine, over connections that stay open,
each with one request at a time; the service has one worker unless said otherwise. The model is that
of configs/ner.yaml; each request is one sentence of its test data, as tokens. Memory is the
resident memory of the service. A part is a function of `quick` that returns its Markdown.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from results import machine, table, write

PROJECT = Path(__file__).parents[1]
sys.path.insert(0, str(PROJECT / "tests"))
from browser import ARGUMENTS, browser_path  # noqa: E402
from served import Service  # noqa: E402

SLOW = 200
MALFORMED = 10_000
CONNECTIONS = 16
_MODELS: dict[str, Path] = {}


class Load(NamedTuple):
    """What wrk saw."""

    rate: float
    median: str
    p99: str
    requests: int
    failed: int


def model(folder: Path) -> Path:
    """The model of configs/ner.yaml, trained once."""
    if "ner" not in _MODELS:
        path = folder / "ner.safetensors"
        command = [sys.executable, "-m", "seqpa", "train", str(PROJECT / "configs" / "ner.yaml")]
        subprocess.run([*command, "-q", "--set", f"output.model={path}"], check=True)
        _MODELS["ner"] = path
    return _MODELS["ner"]


def sentences() -> list[list[str]]:
    """Sentences to ask about."""
    from seqpa.data import read

    corpus = read(PROJECT / "corpora" / "news" / "test.conll", columns=["word", "_", "label"])
    return [own for own in corpus.split(corpus.columns[0]) if own][:500]


def bodies() -> list[str]:
    return [json.dumps({"tokens": own}) for own in sentences()]


def wrk(service: Service, seconds: int, folder: Path, connections: int = CONNECTIONS) -> Load:
    """Send one sentence a request, as fast as they are answered."""
    if shutil.which("wrk") is None:
        raise SystemExit("needs wrk: apt install wrk, brew install wrk")
    script = folder / "load.lua"
    listed = ",\n".join(f"[=[{body}]=]" for body in bodies() if "]=]" not in body)
    script.write_text(
        f"local bodies = {{ {listed} }}\nlocal i = 0\n"
        'wrk.method = "POST"\nwrk.headers["content-type"] = "application/json"\n'
        "request = function()\n  i = i % #bodies + 1\n"
        "  return wrk.format(nil, nil, nil, bodies[i])\nend\n",
        encoding="utf-8",
    )
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", str(script)]
    told = subprocess.run(
        [*command, f"{service.url}tag"], capture_output=True, text=True, check=True
    ).stdout
    errors = re.findall(r"(?:connect|read|write|timeout) (\d+)", told)
    bad = re.findall(r"Non-2xx or 3xx responses: (\d+)", told)

    def found(pattern: str) -> str:
        match = re.search(pattern, told)
        return match[1] if match else "?"

    return Load(
        rate=float(found(r"Requests/sec:\s+([\d.]+)")),
        median=found(r"\n\s+50%\s+(\S+)"),
        p99=found(r"\n\s+99%\s+(\S+)"),
        requests=int(found(r"(\d+) requests in")),
        failed=sum(map(int, [*errors, *bad])),
    )


class Watched:
    """The memory of a service, looked at five times a second."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._over = threading.Event()
        self.seen: list[int] = []
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while True:
            self.seen.append(self._service.memory())
            if self._over.wait(0.2):
                return

    @property
    def told(self) -> str:
        """In the second quarter of the time, and in the last."""
        quarter = max(1, len(self.seen) // 4)
        first = statistics.mean(self.seen[quarter : 2 * quarter] or self.seen)
        last = statistics.mean(self.seen[-quarter:])
        return f"{first / 2**20:.1f} → {last / 2**20:.1f} MB"


def row(name: str, load: Load, memory: str) -> list[str]:
    told = [f"{load.rate:,.0f}", load.median, load.p99, f"{load.requests:,}", f"{load.failed:,}"]
    return [name, *told, memory]


HEAD = ["", "requests a second", "median", "p99", "requests", "failed", "memory"]


def load(quick: bool, folder: Path) -> str:
    """One-sentence requests for a minute."""
    seconds = 5 if quick else 60
    rows = []
    for workers, connections in ((1, 4), (1, CONNECTIONS), (1, 64), (2, CONNECTIONS)):
        with (
            Service(model(folder), limits={}, quiet=True, workers=workers) as service,
            Watched(service) as watched,
        ):
            wrk(service, 1, folder)
            watched.seen.clear()
            wanted = seconds if connections == CONNECTIONS else max(5, seconds // 4)
            found = wrk(service, wanted, folder, connections)
            calls = service.metric("seqpa_gathered_calls_total")
            together = service.metric("seqpa_gathered_requests_total") / max(calls, 1)
        name = f"{connections} connections" + (f", {workers} workers" if workers > 1 else "")
        memory = watched.told if workers == 1 else "(of the workers, not counted)"
        rows.append([*row(name, found, memory), f"{together:.1f}"])
    return table([*HEAD, "requests in one call"], rows)


@contextmanager
def slow_clients(service: Service, n: int) -> Iterator[None]:
    """Clients that never finish: a third says nothing, a third half a head, a third half a body."""
    over = threading.Event()

    def crawl() -> None:
        head = b"POST /tag HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        begins = [b"", head, head + b"content-length: 1000\r\n\r\n{"]
        held: list[tuple[socket.socket, bytes]] = []
        while not over.is_set():
            while len(held) < n:
                one = socket.create_connection(("127.0.0.1", service.port))
                one.setblocking(False)
                one.sendall(begins[len(held) % 3])
                held.append((one, b" " if len(held) % 3 == 2 else b"x"))
            over.wait(1)
            kept = []
            for one, letter in held:
                try:
                    one.sendall(letter if letter == b" " else b"x: y\r\n")
                    if one.recv(1) == b"":
                        raise OSError
                except BlockingIOError:
                    kept.append((one, letter))
                except OSError:
                    one.close()
            held = kept
        for one, _ in held:
            one.close()

    thread = threading.Thread(target=crawl)
    thread.start()
    time.sleep(0.5)
    try:
        yield
    finally:
        over.set()
        thread.join()


def slow(quick: bool, folder: Path) -> str:
    """The same load beside clients that never finish."""
    seconds = 5 if quick else 20
    with Service(model(folder), limits={}, quiet=True) as service:
        wrk(service, 1, folder)
        rows = []
        with Watched(service) as watched:
            alone = wrk(service, seconds, folder)
        rows.append(row("alone", alone, watched.told))
        with slow_clients(service, SLOW), Watched(service) as watched:
            beside = wrk(service, seconds, folder)
        rows.append(row(f"beside {SLOW} slow clients", beside, watched.told))
    return table(HEAD, rows)


def malformed_bodies(n: int) -> Iterator[bytes]:
    """Requests with something wrong: damaged JSON, other types, unknown names, deep and odd."""
    draw = random.Random(1)
    right = [json.loads(body) for body in bodies()]
    odd: list[Any] = [None, True, -1, 2**70, 1e400, "", "\x00", "\ud800", [], {}, [[]], ["a", None]]
    names = ["text", "tokens", "sentences", "model", "language", "n_best", "fixed", "only", "x"]
    for i in range(n):
        kind = i % 4
        request = dict(draw.choice(right))
        if kind == 0:
            text = json.dumps(request).encode()
            at = draw.randrange(len(text))
            yield text[:at] + draw.randbytes(draw.randrange(1, 5)) + text[at + 1 :]
        elif kind == 1:
            request[draw.choice(names)] = draw.choice(odd)
            yield json.dumps(request).encode()
        elif kind == 2:
            yield draw.randbytes(draw.randrange(200))
        else:
            deep = draw.randrange(1, 2000)
            yield b'{"tokens": ' + b"[" * deep + b'"a"' + b"]" * draw.randrange(deep + 1) + b"}"


def malformed(quick: bool, folder: Path) -> str:
    """Malformed requests, one after another."""
    n = MALFORMED // 20 if quick else MALFORMED
    seen: Counter[int] = Counter()
    with Service(model(folder)) as service:
        connection = service.connect()
        memory = []
        for i, body in enumerate(malformed_bodies(n)):
            if i % (n // 4) == 0:
                memory.append(service.memory())
            kind = "application/json" if i % 20 else "text/plain"
            connection.request("POST", "/tag", body, {"content-type": kind})
            answer = connection.getresponse()
            answer.read()
            seen[answer.status] += 1
        connection.close()
        memory.append(service.memory())
        faults = service.log.count('"fault"') + service.log.count("Traceback")
    told = ", ".join(f"{count:,} × {status}" for status, count in sorted(seen.items()))
    errors = sum(count for status, count in seen.items() if status >= 500)
    grown = f"{memory[1] / 2**20:.1f} → {memory[-1] / 2**20:.1f} MB"
    head = ["malformed requests", "answers", "500 or more", "faults in the log", "memory"]
    return table(head, [[f"{n:,}", told, f"{errors}", f"{faults}", grown]], left=2)


def stream(quick: bool, folder: Path) -> str:
    """A long stream of JSON lines, read while it is written."""
    repeats = 4 if quick else 60
    block = "".join(f"{body}\n" for body in bodies()).encode()
    n = len(bodies())
    with Service(model(folder), limits={}, quiet=True) as service, Watched(service) as watched:
        one = socket.create_connection(("127.0.0.1", service.port))
        head = "POST /tag/stream HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
        kind = "content-type: application/x-ndjson\r\n"
        length = f"content-length: {len(block) * repeats}\r\n\r\n"
        began = time.perf_counter()

        def send() -> None:
            one.sendall(f"{head}{kind}{length}".encode())
            for _ in range(repeats):
                one.sendall(block)

        sender = threading.Thread(target=send)
        sender.start()
        lines, rest, mark = 0, b"", b'{"model":'
        while more := one.recv(2**16):
            more = rest + more
            lines += more.count(mark)
            rest = more[1 - len(mark) :]  # a mark may come in two pieces
        seconds = time.perf_counter() - began
        sender.join()
        one.close()
    rows = [[f"{n * repeats:,}", f"{lines:,}", f"{lines / seconds:,.0f}", watched.told]]
    return table(["lines sent", "lines answered", "lines a second", "memory"], rows, left=0)


def page(quick: bool, folder: Path) -> str:
    """From a key to the reading that has it, in Chromium."""
    if browser_path() is None:
        return "No Chromium here: the page was not measured."
    from playwright.sync_api import sync_playwright

    text = " ".join(" ".join(own) for own in sentences()[:3])[: 60 if quick else 240]
    watch = """() => {
      const times = window.times = [];
      let typed = 0;
      const field = document.getElementById("text");
      field.addEventListener("input", () => { typed = performance.now(); });
      new MutationObserver(() => {
        if (typed) requestAnimationFrame(() => { times.push(performance.now() - typed); });
      }).observe(document.getElementById("reading"), { childList: true });
    }"""
    with Service(model(folder), limits={}, quiet=True) as service, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
        tab = chromium.new_page()
        tab.goto(service.url)
        tab.wait_for_selector("body[data-ready]")
        tab.evaluate(watch)
        tab.locator("#text").press_sequentially(text, delay=120)
        tab.wait_for_timeout(300)
        times = sorted(tab.evaluate("window.times"))
        chromium.close()
    p95 = times[int(0.95 * len(times))]
    rows = [[f"{len(text)}", f"{statistics.median(times):.0f} ms", f"{p95:.0f} ms"]]
    return table(["keys typed", "from key to reading, median", "95 %"], rows, left=0)


PARTS: dict[str, Callable[[bool, Path], str]] = {
    "load": load,
    "slow": slow,
    "malformed": malformed,
    "stream": stream,
    "page": page,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which; all if none")
    parser.add_argument("--quick", action="store_true", help="a few seconds for each")
    parser.add_argument("--write", action="store_true", help="put it into RESULTS.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for name in options.parts or PARTS:
            part = PARTS[name]
            made.append(f"{part.__doc__}\n\n{part(options.quick, Path(folder))}")
            print(f"\n{made[-1]}", flush=True)
    told = machine("fastapi", "uvicorn", "pydantic")
    text = f"`python benchmarks/serve.py` on {told}; wrk on the same machine.\n\n"
    if options.write:
        write("The service", text + "\n\n".join(made))


if __name__ == "__main__":
    main()
