"""Training within `learner.memory`: the peak of a process against the setting, and the time against
training in memory.

A text is grown by `corpora/generate.py` into a temporary folder, and `seqpa train` runs on it in
child processes, whose peak of resident memory the system tells.

    python benchmarks/memory.py --tokens 20000000 --memory 4GB
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from results import machine, table, write

PROJECT = Path(__file__).resolve().parent.parent
TOKENS_A_SENTENCE = 11.67  # of the generator
CONFIG = """
data: {train: train.conll, columns: [word, _, label]}
features: {preset: ner}
learner: {epochs: EPOCHS}
output: {model: model.safetensors}
"""


class Run(NamedTuple):
    """What a child process took: seconds, and of these CPU seconds of user and system."""

    seconds: float
    cpu: float
    peak: int
    said: str
    status: int


def child(folder: Path, *settings: str) -> Run:
    """Train in a child process."""
    command = [sys.executable, "-m", "seqpa", "train", "config.yaml", "--force"]
    for setting in settings:
        command += ["--set", setting]
    path = os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")])
    begun = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    cpu = usage.ru_utime + usage.ru_stime
    return Run(time.perf_counter() - begun, cpu, usage.ru_maxrss * 1024, said, status)


def settings_of(options: argparse.Namespace, folder: Path) -> list[str]:
    """Grow the text and write the configuration; what is set for every run."""
    grow = [sys.executable, str(PROJECT / "corpora" / "generate.py"), "--noise", "0.02"]
    grow += ["--sentences", str(int(options.tokens / TOKENS_A_SENTENCE))]
    grow += ["--vocabulary", str(options.vocabulary), "-o", str(folder / "train.conll")]
    subprocess.run(grow, check=True)
    (folder / "config.yaml").write_text(CONFIG.replace("EPOCHS", str(options.epochs)))
    return [f"features.cutoff={options.cutoff}"]


def measured(options: argparse.Namespace) -> str:
    """Train without a limit and with each, and make a table of it."""
    from seqpa.sequence.budget import bytes_of

    rows: list[list[str]] = []
    model = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = settings_of(options, folder)
        if options.known is None:
            plain = child(folder, *settings)
            if plain.status:
                raise SystemExit(plain.said)
            rows.append(["no limit", f"{plain.peak / 1e6:,.0f}", "", *_times(plain, options)])
            options.known = plain.cpu
            print(" | ".join(rows[-1]), flush=True)
        for memory in options.memory or ["1GB", "500MB"]:
            run = child(folder, *settings, f"learner.memory={memory}")
            if run.status:
                told = run.said.strip().splitlines()[-1]
                rows.append([f"{memory}: {told}", f"{run.peak / 1e6:,.0f}", *[""] * 4])
            else:
                model = (folder / "model.safetensors").stat().st_size
                share = f"{run.peak / bytes_of(memory):.2f}"
                rows.append([memory, f"{run.peak / 1e6:,.0f}", share, *_times(run, options)])
            print(" | ".join(rows[-1]), flush=True)
    head = ["learner.memory", "peak, MB", "of the setting", "s", "CPU s", "ratio"]
    told = (
        f"{options.tokens:,} tokens of `corpora/generate.py`, preset ner, {options.epochs} epochs, "
        f"cutoff {options.cutoff}; a model of {model / 1e6:,.0f} MB. `seqpa train` in a process of "
        "its own; the peak is what the system says of its resident memory. Goals: below the "
        "setting, and at most 1.5 × the CPU time of training in memory, here "
        f"{options.known:.4g} s."
    )
    return f"{told}\n\n{table(head, rows)}"


def _times(run: Run, options: argparse.Namespace) -> list[str]:
    known = run.cpu if options.known is None else options.known
    return [f"{run.seconds:.0f}", f"{run.cpu:.0f}", f"{run.cpu / known:.2f}"]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tokens", type=int, default=2_000_000)
    parser.add_argument("--memory", action="append", help="a setting; may be repeated")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--cutoff", type=int, default=1)
    parser.add_argument("--vocabulary", type=int, default=100_000)
    parser.add_argument(
        "--known", type=float, help="CPU seconds of training in memory, if it is not to run again"
    )
    parser.add_argument("--quick", action="store_true", help="200,000 tokens")
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    options = parser.parse_args()
    if options.quick:
        options.tokens = 200_000
    given = " ".join(sys.argv[1:]).replace("--write", "").strip()
    text = f"`python benchmarks/memory.py {given}` on {machine('numpy')}.\n\n{measured(options)}"
    print(text)
    if options.write:
        write("More text than memory", text)


if __name__ == "__main__":
    main()
