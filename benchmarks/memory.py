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

PROJECT = Path(__file__).resolve().parent.parent
TOKENS_A_SENTENCE = 11.67  # of the generator
CONFIG = """
data: {train: train.conll, columns: [word, _, label]}
features: {preset: ner}
learner: {epochs: EPOCHS}
output: {model: model.safetensors}
"""


class Run(NamedTuple):
    """What a child process took."""

    seconds: float
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
    return Run(time.perf_counter() - begun, usage.ru_maxrss * 1024, said, status)


def main() -> None:
    """Measure, and print a table."""
    sys.path.insert(0, str(PROJECT))
    from seqpa.sequence.budget import bytes_of

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=2_000_000)
    parser.add_argument("--memory", action="append", help="a setting; may be repeated")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--cutoff", type=int, default=1)
    parser.add_argument("--vocabulary", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        grow = [sys.executable, str(PROJECT / "corpora" / "generate.py"), "--noise", "0.02"]
        grow += ["--sentences", str(int(options.tokens / TOKENS_A_SENTENCE))]
        grow += ["--vocabulary", str(options.vocabulary), "-o", str(folder / "train.conll")]
        subprocess.run(grow, check=True)
        (folder / "config.yaml").write_text(CONFIG.replace("EPOCHS", str(options.epochs)))
        cutoff = f"features.cutoff={options.cutoff}"
        plain = child(folder, cutoff)
        print(f"{options.tokens:,} tokens, {options.epochs} epochs, cutoff {options.cutoff}\n")
        print("| memory | peak MB | peak / setting | seconds | time / in memory |")
        print("| --- | --: | --: | --: | --: |")
        print(f"| no limit | {plain.peak / 1e6:,.0f} | | {plain.seconds:.1f} | 1.00 |", flush=True)
        for memory in options.memory or ["1GB", "500MB"]:
            run = child(folder, cutoff, f"learner.memory={memory}")
            if run.status:
                print(f"| {memory} | refused: {run.said.strip().splitlines()[-1]} | | | |")
                continue
            print(
                f"| {memory} | {run.peak / 1e6:,.0f} | {run.peak / bytes_of(memory):.2f} | "
                f"{run.seconds:.1f} | {run.seconds / plain.seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
