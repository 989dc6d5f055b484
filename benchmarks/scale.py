"""What a second core gives: epochs with look-ahead, file to model to tags, tagging of files, and
that beside python-crfsuite.

    python benchmarks/scale.py --data DIR [--quick] [--write] [--only epochs scores ...]

Everything is a ratio of times in one run; each time is the best of several, taken in turn. Each
part has a section of its own in RESULTS.md, so that parts can be measured one at a time.
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

import peers
from accuracy import corpora, held_score
from jobs import COST, TASKS, UPDATE, C
from results import machine, table, write

from seqpa import SequenceTagger

TIMED = ("ptb", "conll2000", "gsd")
SCORED = ("ptb", "conll2000", "wikigold", "finer", "gsd")
UPDATES = ("near-max-loss", "prediction-based", "loss-augmented")
CHOSEN: set[str] = set()  # corpora, if not all are to be measured
EPOCHS, MANY_LABELS_EPOCHS = 20, 4  # as by default; fewer where an epoch takes a second
PARTS = ("epochs", "scores", "files", "peer", "tagging", "crowd")


def chosen(names: tuple[str, ...], most: int) -> list[str]:
    """The corpora to measure: those that were chosen, or the first of all."""
    return [name for name in names if name in CHOSEN] if CHOSEN else list(names[:most])


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
    for name in chosen(TIMED, 2 if quick else 3):
        task = TASKS[name]
        corpus = task.read(data / task.train)
        many = 3 if quick else MANY_LABELS_EPOCHS if task.many_labels else EPOCHS

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
    seeds = min(seeds, 3)
    for name in chosen(SCORED, 3 if quick else 5):
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
    told = f"Means and deviations of {seeds} seeds; goal: not below −0.15."
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


def whole_run(
    data: Path, task: Any, features: Any, jobs: int, model: Path, **given: Any
) -> tuple[float, Any]:
    """How long it takes from the file to the tags of the test set, and these."""
    begun = time.perf_counter()
    corpus = task.read(data / task.train)
    given |= {"lookahead": "auto", "n_jobs": jobs, "random_state": 1}
    SequenceTagger(features, task.columns, **given).fit(corpus).save(model)
    loaded = SequenceTagger.load(model).set_params(n_jobs=jobs)
    tags = loaded.predict(task.read(data / task.test))
    return time.perf_counter() - begun, tags


def files(data: Path, runs: int, quick: bool) -> str:
    """From a file to a model to tags: in one process, and by the commands."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for corpus in chosen(TIMED, 1 if quick else 3):
            task = TASKS[corpus]
            many = 3 if quick else MANY_LABELS_EPOCHS if task.many_labels else EPOCHS
            best: dict[int, float] = {}
            tags: dict[int, Any] = {}
            for _ in range(min(runs, 2) if task.many_labels else runs):
                for jobs in (1, 2):
                    model = folder / f"{corpus}{jobs}.safetensors"
                    seconds, tags[jobs] = whole_run(
                        data, task, task.preset, jobs, model, epochs=many
                    )
                    best[jobs] = min(seconds, best.get(jobs, seconds))
            same = tags[1] == tags[2]
            rows.append([f"{task.title}, {many} epochs", *_compared(best, same)])
        start = min(elapsed("--version") for _ in range(3))
        best = {}
        for _ in range(runs):
            for jobs in (1, 2):
                seconds, model = chunk_model(data, folder, jobs)
                test = str(data / TASKS["conll2000"].test)
                told = str(folder / f"{jobs}.conll")
                seconds += elapsed("tag", str(model), test, "-o", told, "--jobs", str(jobs))
                best[jobs] = min(seconds, best.get(jobs, seconds))
        same = (folder / "1.conll").read_bytes() == (folder / "2.conll").read_bytes()
        rows.append(["CoNLL-2000, `seqpa train` and `seqpa tag`", *_compared(best, same)])
    head = ["", "n_jobs 1", "n_jobs 2", "ratio", "same tags"]
    return (
        "Read, encode, train with `lookahead: auto`, write the model, load it, read the test set, "
        "tag it, without the start of Python and imports; the last row has those of two commands "
        f"(`seqpa --version` takes {start:.2f} s). Goal: 1.5 ×.\n\n{table(head, rows)}"
    )


def _compared(best: dict[int, float], same: bool) -> list[str]:
    one, two = best[1], best[2]
    return [f"{one:.2f} s", f"{two:.2f} s", f"{one / two:.2f} ×", "yes" if same else "NO"]


def peer(data: Path, runs: int, quick: bool) -> str:
    """The same from a file to tags with python-crfsuite's features, beside python-crfsuite."""
    rows = []
    many = 3 if quick else 10
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for corpus in chosen(TIMED[:2], 1 if quick else 2):
            task = TASKS[corpus]
            templates = peers.FEATURES[task.features][0]
            best: dict[str, float] = {}

            def keep(way: str, seconds: float, best: dict[str, float] = best) -> None:
                best[way] = min(seconds, best.get(way, seconds))

            for _ in range(runs):
                for jobs in (1, 2):
                    given = {"epochs": many, "C": C, "update": UPDATE, "cost": COST}
                    model = folder / "ours"
                    keep(str(jobs), whole_run(data, task, templates, jobs, model, **given)[0])
                keep("theirs", their_run(data, task, many, folder / "theirs"))
            rows.append(
                [
                    task.title,
                    *(f"{best[way]:.2f} s" for way in ("1", "2", "theirs")),
                    *(f"{best['theirs'] / best[way]:.1f} ×" for way in ("1", "2")),
                ]
            )
    head = ["", "one thread", "two", "python-crfsuite", "one", "two"]
    return (
        'Identical features, prediction-based updates and the cost "hamming", as theirs, with '
        f"`lookahead: auto`, beside their `pa`, which has one thread; {many} epochs. Read, train, "
        "write the model, load it, tag the test set; seconds on the clock. Goals: 10 × with one "
        f"thread, 15 × with two.\n\n{table(head, rows)}"
    )


def their_run(data: Path, task: Any, epochs: int, model: Path) -> float:
    """How long python-crfsuite takes from the file to the tags of the test set."""
    begun = time.perf_counter()
    peers.train(data / task.train, task.features, "pa", {"max_iterations": epochs}, model, 1)
    tokens = [tokens for tokens, _ in peers.sentences(data / task.test)]
    peers.tag(model, task.features, tokens)
    return time.perf_counter() - begun


def tagging(data: Path, runs: int, quick: bool) -> str:
    """`seqpa tag` on a large file of columns."""
    task = TASKS["conll2000"]
    text = (data / task.train).read_text(encoding="utf-8").rstrip("\n") + "\n\n"
    lines = ["\t".join(line.split("\t")[:2]) for line in text.split("\n")]
    copies = 4 if quick else 20
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

    def row(what: str, n: int, one: float, two: float, same: bool) -> list[str]:
        rates = f"{n / one:,.0f}", f"{n / two:,.0f}"
        return [what, f"{n:,}", *rates, f"{one / two:.2f} ×", "yes" if same else "NO"]

    rows = [row("`seqpa tag`, file to file", n_tokens, one, two, same)]
    corpus = task.read(data / task.train)
    tagger = SequenceTagger(task.preset, task.columns, epochs=2, random_state=1).fit(corpus)
    sentences = list(corpus.X) * (1 if quick else 4)
    best: dict[int, float] = {}
    found: dict[int, Any] = {}
    for _ in range(runs + 1):  # the first makes the tables that tagging needs
        for jobs in (1, 2):
            begun = time.perf_counter()
            found[jobs] = tagger.set_params(n_jobs=jobs).predict(sentences)
            seconds = time.perf_counter() - begun
            best[jobs] = min(seconds, best.get(jobs, seconds))
    n = sum(map(len, sentences))
    rows.append(row("`predict`, lists", n, best[1], best[2], found[1] == found[2]))
    head = ["", "tokens", "tokens/s, one thread", "two", "ratio", "same tags"]
    return (
        "CoNLL-2000, preset chunk, without the start of the command. Goals: 1,000,000 tokens/s "
        f"from file to file on one core, 1.8 × on two.\n\n{table(head, rows)}"
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
    "epochs": ("epochs", epochs),
    "scores": ("scores", scores),
    "files": ("file to model to tags", files),
    "peer": ("beside python-crfsuite", peer),
    "tagging": ("tagging", tagging),
    "crowd": ("a crowded machine", crowd),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the corpora (default: SEQPA_DATA)")
    parser.add_argument("--quick", action="store_true", help="fewer corpora, epochs and runs")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="some parts")
    parser.add_argument(
        "--corpora", nargs="+", choices=SCORED, help="some of them, where several are measured"
    )
    parser.add_argument("--runs", type=int, default=5, help="how often each is timed (seeds: 3)")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    arguments = parser.parse_args()
    if arguments.corpora:
        CHOSEN.update(arguments.corpora)
    data = arguments.data or (os.environ.get("SEQPA_DATA") and Path(os.environ["SEQPA_DATA"]))
    if not data or not (data / TASKS["conll2000"].train).exists():
        print("skipped: name the folder of the corpora with --data DIR or SEQPA_DATA=DIR")
        return
    quick = " --quick" if arguments.quick else ""
    for part in arguments.only:
        title, measure = TITLES[part]
        found = measure(data, 2 if arguments.quick else arguments.runs, arguments.quick)
        some = f" --corpora {' '.join(arguments.corpora)}" if arguments.corpora else ""
        command = f"python benchmarks/scale.py{quick} --only {part}{some}"
        text = f"`{command}` on {machine('numpy')}.\n\n{found}"
        print(f"{title}\n\n{found}\n", flush=True)
        if arguments.write:
            write(f"Threads: {title}", text)


if __name__ == "__main__":
    main()
