"""A real cluster on one machine: three network namespaces, whose links are cut and restored.

python benchmarks/namespaces.py [--sentences N] [--epochs N]

Needs root, Linux and iproute2; where these are missing it says so and ends. The scheduler and the
client live in one namespace, which also holds a bridge; two workers live in one each, at the other
ends of veth pairs. All addresses exist in these namespaces alone, which are deleted at the end.

Trained is, by `seqpa train --dask tcp://...`, a grown corpus (corpora/generate.py):

    undisturbed      as it is
    a short cut      one worker is cut off in the middle of a round for a second
    cut off          one worker is cut off in the middle of a round until it is given up, then
                     restored; its successor joins
    both cut off     nobody is left: one line says so and the command ends; after the links are
                     restored, --resume goes on

Every model must be, byte for byte, the one that is trained in this process without any cluster.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from results import machine, table, write

ROOT = Path(__file__).parents[1]
NET = "10.77.0"
HOME, WORKERS = "seqpa-home", ("seqpa-one", "seqpa-two")
SCHEDULER = f"tcp://{NET}.1:8786"
TIMEOUT = 10  # cluster.timeout of the runs
# The defaults of Dask, 30 seconds and 5 minutes, are for real networks; here nobody wants to wait.
DASK = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "4s",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "60s",
}
ENVIRONMENT = os.environ | DASK | {"PYTHONPATH": str(ROOT)}


def ip(*words: str) -> None:
    """Run the command ``ip``."""
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def missing() -> str:
    """Why namespaces cannot be made here; nothing where they can."""
    if not sys.platform.startswith("linux") or shutil.which("ip") is None:
        return "the command ip (iproute2, Linux) is not here"
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    try:
        ip("netns", "add", "seqpa-try")
        ip("netns", "del", "seqpa-try")
    except subprocess.CalledProcessError as error:
        return f"network namespaces cannot be made here: {error.stderr.strip()}"
    return ""


@contextmanager
def network() -> Iterator[None]:
    """The namespaces, a bridge in the first, and a link to it from each of the others."""
    with ExitStack() as made:
        for name in (HOME, *WORKERS):
            ip("netns", "add", name)
            made.callback(ip, "netns", "del", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", HOME, "link", "add", "bridge", "type", "bridge")
        ip("-n", HOME, "addr", "add", f"{NET}.1/24", "dev", "bridge")
        ip("-n", HOME, "link", "set", "bridge", "up")
        for i, name in enumerate(WORKERS):
            near = ["link", "add", f"to-{i}", "type", "veth"]
            ip("-n", HOME, *near, "peer", "name", "uplink", "netns", name)
            ip("-n", HOME, "link", "set", f"to-{i}", "master", "bridge", "up")
            ip("-n", name, "addr", "add", f"{NET}.{i + 2}/24", "dev", "uplink")
            ip("-n", name, "link", "set", "uplink", "up")
        yield


def cut(worker: int) -> None:
    """Take a worker's link down, at the bridge."""
    ip("-n", HOME, "link", "set", f"to-{worker}", "down")


def restore(worker: int) -> None:
    """Take it up again."""
    ip("-n", HOME, "link", "set", f"to-{worker}", "up")


@contextmanager
def running(namespace: str, *words: str, log: Path) -> Iterator[None]:
    """A process in a namespace, which is ended at the end with all that it started."""
    with log.open("ab") as stream:
        process = subprocess.Popen(
            ["ip", "netns", "exec", namespace, *words],
            stdout=stream,
            stderr=stream,
            env=ENVIRONMENT,
            start_new_session=True,
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[None]:
    """A scheduler and two workers of one thread, each in its namespace.

    A worker of Dask's that was cut off ends. It is started again, as a service manager would do.
    """
    again = ("sh", "-c", 'while :; do "$@"; sleep 1; done', "again")
    dask = (sys.executable, "-m", "dask")
    with ExitStack() as started:
        own = [*dask, "scheduler", "--host", f"{NET}.1", "--port", "8786", "--no-dashboard"]
        started.enter_context(running(HOME, *own, log=folder / "scheduler.log"))
        for i, name in enumerate(WORKERS):
            own = [*dask, "worker", SCHEDULER, "--nthreads", "1", "--no-dashboard"]
            own += ["--host", f"{NET}.{i + 2}", "--local-directory", str(folder / name)]
            started.enter_context(running(name, *again, *own, log=folder / f"{name}.log"))
        yield


def trained(
    folder: Path, model: str, disturb: Callable[[str], None] | None = None, resume: bool = False
) -> tuple[int, list[str], float]:
    """Run ``seqpa train`` on the cluster: its exit status, its lines, seconds.

    disturb : is told every line, and may cut links
    """
    command = ["ip", "netns", "exec", HOME, sys.executable, "-m", "seqpa", "train"]
    command += [str(folder / "c.yaml"), "--dask", SCHEDULER, "--set", f"output.model={model}"]
    begun = time.monotonic()
    process = subprocess.Popen(
        [*command, "--resume"] if resume else command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip())
        if disturb is not None:
            disturb(line)
    return process.wait(), lines, time.monotonic() - begun


class Cut:
    """Cuts links in the middle of a round; restores them after a time, or when one is missed."""

    def __init__(self, epoch: int, workers: tuple[int, ...], seconds: float | None) -> None:
        self.epoch, self.workers, self.seconds = epoch, workers, seconds

    def __call__(self, line: str) -> None:
        if line.startswith(f"epoch {self.epoch}/"):  # the next round has begun
            for worker in self.workers:
                cut(worker)
            if self.seconds is not None:
                time.sleep(self.seconds)
                self.restore()
        elif "was lost" in line and len(self.workers) == 1:
            self.restore()

    def restore(self) -> None:
        for worker in self.workers:
            restore(worker)


def told(lines: list[str]) -> str:
    """What was said of lost workers, and why it ended."""
    lost = sum("was lost" in line for line in lines)
    found = (
        [f"{lost} × 'the worker … was lost: its tasks are done again by others'"] if lost else []
    )
    found += [f"'{line}'" for line in lines if "error:" in line]
    return "; ".join(found) or "nothing"


def grown(folder: Path, sentences: int, epochs: int) -> None:
    """A corpus in four files, and a configuration."""
    for i in range(4):
        command = [sys.executable, str(ROOT / "corpora" / "generate.py"), "--seed", str(i + 1)]
        command += ["--sentences", str(sentences // 4), "-o", str(folder / f"{i}.conll")]
        subprocess.run(command, check=True)
    (folder / "c.yaml").write_text(
        "data: {train: '?.conll', columns: [word, label, _]}\nfeatures: {preset: pos}\n"
        f"learner: {{epochs: {epochs}}}\ncluster: {{shards: 4, timeout: {TIMEOUT}}}\n"
    )


def scenes(folder: Path) -> list[list[str]]:
    """Every training, and what came of it."""
    rows = []

    def row(name: str, lines: list[str], seconds: float, model: str) -> None:
        path = folder / model
        same = path.exists() and path.read_bytes() == (folder / "here.safetensors").read_bytes()
        rows.append([name, told(lines), "yes" if same else "NO", f"{seconds:.0f}"])
        print(*rows[-1], sep=" | ", flush=True)
        if not same:
            print(*lines, sep="\n")

    command = [sys.executable, "-m", "seqpa", "train", "c.yaml", "-q"]
    command += ["--set", "output.model=here.safetensors"]
    subprocess.run(command, check=True, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    for name, disturb in {
        "undisturbed": None,
        "a short cut": Cut(2, (0,), 1.0),
        "cut off": Cut(2, (0,), None),
    }.items():
        model = f"{name.replace(' ', '-')}.safetensors"
        _, lines, seconds = trained(folder, model, disturb)
        row(name, lines, seconds, model)
    both = Cut(2, (0, 1), None)
    status, lines, before = trained(folder, "both.safetensors", both)
    both.restore()
    if status == 0 or (folder / "both.safetensors").exists():
        print("it went on without any worker", *lines, sep="\n")
    _, more, seconds = trained(folder, "both.safetensors", resume=True)
    row("both cut off, resumed", [*lines, *more], before + seconds, "both.safetensors")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sentences", type=int, default=60_000)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--write", action="store_true", help="write RESULTS.md")
    options = parser.parse_args()
    if reason := missing():
        print(f"not run: {reason}")
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that all is cleared away
    folder = Path(tempfile.mkdtemp(prefix="seqpa-namespaces-"))
    try:
        grown(folder, options.sentences, options.epochs)
        with network(), cluster(folder):
            rows = scenes(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    head = ["what was done to it", "what was told", "same bytes", "seconds"]
    found = table(head, rows, left=3)
    print(f"\n{found}")
    if options.write:
        about = (
            "`python benchmarks/namespaces.py`: three network namespaces with a bridge, the "
            "scheduler and the client in one, a worker "
            "in each of the others; links cut in the middle of a round. TCP timeout 12 s, worker "
            f"time-to-live 60 s, `cluster.timeout` {TIMEOUT} s. "
        )
        text = f"{about}{machine('dask', 'distributed')}.\n\n{found}"
        write("Shards and workers: links cut", text)
    if any(row[2] != "yes" for row in rows):
        sys.exit("a model differs")


if __name__ == "__main__":
    main()
