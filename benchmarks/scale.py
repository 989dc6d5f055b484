"""What a second core gives: epochs with look-ahead, file to model to tags, tagging of files.

    python benchmarks/scale.py --data DIR [--quick] [--write] [--only epochs scores ...]

Everything is a ratio of times in one run; each time is the best of several, taken in turn.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from accuracy import corpora, held_score
from jobs import TASKS
from results import machine, table, write

from seqpa import SequenceTagger

TIMED = ("ptb", "conll2000", "gsd")
SCORED = ("ptb", "conll2000", "wikigold", "finer", "gsd")
UPDATES = ("prediction-based", "loss-augmented")
PARTS = ("epochs", "scores", "files", "tagging", "crowd")


def epoch_seconds(corpus: Any, preset: str, columns: Any, epochs: int, **given: Any) -> list[float]:
    """How long each epoch of a training took."""
    tagger = SequenceTagger(preset, columns, epochs=epochs, random_state=1, **given)
    return [epoch.seconds for epoch in tagger.training(corpus)]


def best_of(runs: int, ways: dict[str, Callable[[], list[float]]]) -> dict[str, float]:
    """The sum of the best time of each epoch, of ways that take turns."""
    seen: dict[str, list[list[float]]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            seen[name].append(way())
    return {name: sum(map(min, zip(*rows, strict=True))) for name, rows in seen.items()}


def epochs(data: Path, runs: int, quick: bool) -> str:
    """Epochs on two threads beside one."""
    rows = []
    for name in TIMED[: 2 if quick else 3]:
        task = TASKS[name]
        corpus = task.read(data / task.train)
        many = 3 if task.many_labels or quick else 10

        def timed(
            corpus: Any = corpus, task: Any = task, many: int = many, **given: Any
        ) -> list[float]:
            return epoch_seconds(corpus, task.preset, task.columns, many, **given)

        ways: dict[str, Callable[[], list[float]]] = {
            "serial": timed,
            "one": lambda timed=timed: timed(lookahead="auto"),
            "two": lambda timed=timed: timed(lookahead="auto", n_jobs=2),
        }
        best = best_of(runs, ways)
        rows.append(
            [
                f"{task.title}, {many} epochs",
                f"{best['serial']:.3f} s",
                f"{best['one']:.3f} s",
                f"{best['two']:.3f} s",
                f"{best['two'] / best['one']:.2f}",
                f"{best['two'] / best['serial']:.2f}",
            ]
        )
    head = [
        "training",
        "lookahead: 1",
        "auto, one thread",
        "auto, two",
        "two / one",
        "two / serial",
    ]
    return "Goal: an epoch on two cores in at most 0.62 × the time of one.\n\n" + table(head, rows)


def scores(data: Path, seeds: int, quick: bool) -> str:
    """Dev scores of blocks beside those of the serial algorithm."""
    rows = []
    for name in SCORED[: 3 if quick else None]:
        text = corpora(data)[name]()
        for update in UPDATES[: 1 if quick else None]:

            def mean(
                lookahead: int | str, text: Any = text, update: str = update
            ) -> tuple[float, float]:
                found = [
                    held_score(
                        text.dev[:1] if quick else text.dev,
                        lambda train, seed=seed: SequenceTagger(
                            text.preset,
                            text.columns,
                            random_state=seed,
                            update=update,
                            lookahead=lookahead,
                        ).fit(train),
                    )
                    for seed in range(1, seeds + 1)
                ]
                return statistics.mean(found), statistics.pstdev(found)

            serial, ahead = mean(1), mean("auto")
            rows.append(
                [
                    text.title,
                    update,
                    f"{serial[0]:.2f} ± {serial[1]:.2f}",
                    f"{ahead[0]:.2f} ± {ahead[1]:.2f}",
                    f"{ahead[0] - serial[0]:+.2f}",
                ]
            )
    head = ["dev score", "update", "serial", "auto", "difference"]
    told = f"Means and deviations of {seeds} seeds, 10 epochs; goal: not below −0.15."
    return f"{told}\n\n{table(head, rows, 2)}"


def elapsed(*arguments: str) -> float:
    """How long a command of seqpa takes, its start included."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "seqpa", *arguments], check=True, capture_output=True)
    return time.perf_counter() - begun


def chunk_model(data: Path, folder: Path, jobs: int) -> tuple[float, Path]:
    """Train chunks by the command line; how long that took."""
    task = TASKS["conll2000"]
    model, config = folder / f"{jobs}.safetensors", folder / f"{jobs}.yaml"
    config.write_text(
        f"data: {{columns: [word, pos, label], train: {data / task.train}}}\n"
        f"features: {{preset: chunk}}\n"
        f"learner: {{lookahead: auto, n_jobs: {jobs}}}\n"
        f"output: {{model: {model}}}\n",
        encoding="utf-8",
    )
    return elapsed("train", str(config)), model


def files(data: Path, runs: int, quick: bool) -> str:
    """From a file to a model to tags, on the command line."""
    times: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = min(elapsed("--version") for _ in range(3))
        for _ in range(runs):
            for jobs in (1, 2):
                seconds, model = chunk_model(data, folder, jobs)
                test = str(data / TASKS["conll2000"].test)
                told = str(folder / f"{jobs}.conll")
                seconds += elapsed("tag", str(model), test, "-o", told, "--jobs", str(jobs))
                times[jobs].append(seconds)
        same = (folder / "1.conll").read_bytes() == (folder / "2.conll").read_bytes()
    one, two = min(times[1]), min(times[2])
    rows = [[f"{one:.2f} s", f"{two:.2f} s", f"{one / two:.2f} ×", "yes" if same else "NO"]]
    head = ["`seqpa train` and `seqpa tag`, n_jobs 1", "n_jobs 2", "ratio", "same tags"]
    return (
        f"CoNLL-2000, preset chunk, 10 epochs, the starts of both commands included (one takes "
        f"{start:.2f} s). Goal: 1.5 ×.\n\n{table(head, rows, 0)}"
    )


def tagging(data: Path, runs: int, quick: bool) -> str:
    """`seqpa tag` on a large file of columns."""
    task = TASKS["conll2000"]
    text = (data / task.train).read_text(encoding="utf-8").rstrip("\n") + "\n\n"
    lines = ["\t".join(line.split("\t")[:2]) for line in text.split("\n")]
    copies = 4 if quick else 40
    times: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, model = chunk_model(data, folder, 1)
        given, short = folder / "in.conll", folder / "short.conll"
        given.write_text("\n".join(lines) * copies, encoding="utf-8")
        short.write_text("\n".join(lines[:100]) + "\n", encoding="utf-8")
        n_tokens = copies * sum(1 for line in lines if line)
        for _ in range(runs):
            start = elapsed("tag", str(model), str(short), "-o", str(folder / "short.out"))
            for jobs in (1, 2):
                out = str(folder / f"{jobs}.out")
                whole = elapsed("tag", str(model), str(given), "-o", out, "--jobs", str(jobs))
                times[jobs].append(whole - start)
        same = (folder / "1.out").read_bytes() == (folder / "2.out").read_bytes()
    one, two = min(times[1]), min(times[2])
    rows = [
        [
            f"{n_tokens:,}",
            f"{n_tokens / one:,.0f}",
            f"{n_tokens / two:,.0f}",
            f"{one / two:.2f} ×",
            "yes" if same else "NO",
        ]
    ]
    head = ["tokens", "tokens/s, one thread", "tokens/s, --jobs 2", "ratio", "same file"]
    return (
        "`seqpa tag`, CoNLL-2000, preset chunk, file to file, without the start of the command. "
        f"Goals: 1,000,000 tokens/s on one core, 1.8 × on two.\n\n{table(head, rows, 0)}"
    )


def _busy() -> None:
    while True:
        sum(range(1000))


def crowd(data: Path, runs: int, quick: bool) -> str:
    """Epochs while other programs have all cores."""
    task = TASKS["conll2000"]
    corpus = task.read(data / task.train)
    many = 2 if quick else 5
    best: dict[tuple[str, int], float] = {}
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    places = {"nothing": 0, "busy programs on all cores": os.cpu_count() or 1}
    if cores:
        places["nothing, on one core alone"] = 0
    for place, others in places.items():
        with ExitStack() as stack:
            if "one core" in place:
                os.sched_setaffinity(0, {min(cores)})
                stack.callback(os.sched_setaffinity, 0, cores)
            for _ in range(others):
                process = multiprocessing.Process(target=_busy, daemon=True)
                process.start()
                stack.callback(process.kill)
            for _ in range(runs):
                for jobs in (1, 2):
                    given: dict[str, Any] = {"lookahead": "auto", "n_jobs": jobs}
                    begun = time.perf_counter()
                    epoch_seconds(corpus, task.preset, task.columns, many, **given)
                    seconds = time.perf_counter() - begun
                    key = place, jobs
                    best[key] = min(seconds, best.get(key, seconds))
    rows = []
    for place in places:
        one, two = best[place, 1], best[place, 2]
        ratio = f"{two / one:.2f}"
        rows.append([place, f"{one:.2f} s", f"{two:.2f} s", ratio])
    head = ["beside", "one thread", "two", "two / one"]
    told = f"CoNLL-2000, {many} epochs with encoding, `lookahead: auto`."
    return f"{told}\n\n{table(head, rows)}"


TITLES: dict[str, tuple[str, Callable[[Path, int, bool], str]]] = {
    "epochs": ("Epochs", epochs),
    "scores": ("Scores", scores),
    "files": ("File to model to tags", files),
    "tagging": ("Tagging files", tagging),
    "crowd": ("On a crowded machine", crowd),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the corpora (default: SEQPA_DATA)")
    parser.add_argument("--quick", action="store_true", help="fewer corpora, epochs and runs")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="some parts")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    arguments = parser.parse_args()
    data = arguments.data or (os.environ.get("SEQPA_DATA") and Path(os.environ["SEQPA_DATA"]))
    if not data or not (data / TASKS["conll2000"].train).exists():
        print("skipped: name the folder of the corpora with --data DIR or SEQPA_DATA=DIR")
        return
    quick = " --quick" if arguments.quick else ""
    text = f"`python benchmarks/scale.py{quick}` on {machine('numpy')}."
    for part in arguments.only:
        title, measure = TITLES[part]
        text += f"\n\n### {title}\n\n{measure(data, 2 if arguments.quick else 5, arguments.quick)}"
        print(text.rpartition("\n\n### ")[2], flush=True)
    if arguments.write:
        write("Threads", text)


if __name__ == "__main__":
    main()
