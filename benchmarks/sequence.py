"""Sequence tagging beside python-crfsuite: time, memory and scores on real corpora.

SEQPA_DATA=DIR python benchmarks/sequence.py            the tables of RESULTS.md, about an hour
python benchmarks/sequence.py --data DIR --quick        a small part of it, in a minute or two
python benchmarks/sequence.py --data DIR --only ptb     one corpus; also C, presets, profile
python benchmarks/sequence.py --data DIR --write        puts the tables into RESULTS.md

Both sides see identical features (peers.py; the counts are compared first) and run one after the
other in turn, each in a process of its own (jobs.py), on one thread. Times are CPU seconds.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from jobs import EPOCHS, GRID, SEEDS, TASKS, THEIR_EPOCHS, TRAINERS, C, Task, run
from results import machine, table, write

Answers = list[dict[str, Any]]


def verdict(reached: bool) -> str:
    return "reached" if reached else "**short**"


def median(answers: Answers, key: str) -> float:
    return statistics.median(answer[key] for answer in answers)


def ratio_of(first: Answers, second: Answers, key: str) -> float:
    """The median over the turns of first/second: what slows a turn down slows down both."""
    turns = zip(cycle(first), second) if len(first) == 1 else zip(first, cycle(second))
    return statistics.median(a[key] / b[key] for a, b in turns)


@dataclass(frozen=True)
class Options:
    data: Path
    quick: bool
    turns: int
    times_only: bool

    def share(self, task: Task) -> int:
        return (60 if task.many_labels else 10) if self.quick else 1

    def run(self, job: str, name: str, **arguments: Any) -> dict[str, Any]:
        """A job on a corpus."""
        share = self.share(TASKS[name])
        return run(job, task=name, data=self.data, share=share, **arguments)


def in_turn(name: str, epochs: int, options: Options) -> tuple[Answers, Answers]:
    """Ours and CRFsuite's `pa` in turn; where that takes long, theirs once."""
    many_labels = TASKS[name].many_labels
    pa = {"algorithm": "pa", "parameters": {"max_iterations": epochs}}
    ours: Answers = []
    theirs: Answers = []
    for seed in range(1, options.turns + 1):
        ours.append(options.run("ours", name, epochs=epochs, seed=seed))
        if not theirs or not (options.quick or many_labels):
            theirs.append(options.run("theirs", name, **pa))
    return ours, theirs


def corpus_part(name: str, options: Options) -> str:
    """The heading and the table of one corpus."""
    task = TASKS[name]
    count = run("count", task=name, data=options.data)
    if tuple(count["ours"]) != tuple(count["theirs"]):
        raise SystemExit(f"{name}: features differ: {count}")
    epochs = 1 if task.many_labels else EPOCHS
    ours, theirs = in_turn(name, epochs, options)
    one_by_one = [answer | {"tagging": answer["tagging_one"]} for answer in ours]
    rows = [
        faster(f"file → model → tagged test set, epochs: {epochs}, `pa`", ours, theirs, 10),
        faster("one training epoch, `pa`", ours, theirs, task.epoch_goal, "epoch"),
        tagging("from lists of tokens", ours, theirs),
        *taught(ours, theirs),
        tagging("from lists of new strings", ours, theirs, "tagging_new"),
        [*tagging("from the file", ours, theirs, "tagging_file")[:4], "", ""],
        [*tagging("a sentence at a time", one_by_one, theirs)[:4], "", ""],
        memory("streamed", ours, theirs, task.memory_goal),
        above_imports(ours, theirs),
    ]
    parts = [
        f"### {task.title}: {count['tokens']:,} tokens, {count['labels']} labels, "
        f"{count['ours'][0]:,} features"
    ]
    if task.many_labels and not options.times_only:
        rows.append(scores(f"epochs: {epochs}", ours, "`pa`", theirs[0]["score"], task.score_goal))
    elif not options.times_only:
        held = [options.run("held", name)]
        rows.append(memory("held in lists", ours, held, task.memory_goal))
        told, more = against_trainers(name, ours, options)
        parts.append(told)
        rows += more
    return "\n\n".join([*parts, table(["", "seqpa", "python-crfsuite", "ratio", "goal", ""], rows)])


def against_trainers(name: str, ours: Answers, options: Options) -> tuple[str, list[list[str]]]:
    """What CRFsuite's trainers reach, and the rows that compare with the best of them."""
    trained = {
        trainer: options.run("theirs", name, algorithm=algorithm, parameters=parameters)
        for trainer, (algorithm, parameters) in TRAINERS.items()
        if not options.quick or trainer in ("lbfgs", "ap")
    }
    rows = [
        time_to_score(name, trainer, answer, options)
        for trainer, answer in trained.items()
        if trainer.startswith("lbfgs")
    ]
    defaults = [trainer for trainer in trained if TRAINERS[trainer][0] == trainer]
    best = max(defaults, key=lambda trainer: trained[trainer]["score"])
    described = f"best of {len(defaults)} trainers: `{best}`"
    tuned = next((trainer for trainer in trained if trainer not in defaults), None)
    for what, answers in (
        (f"epochs: {EPOCHS}", ours[: len(SEEDS)]),
        (f"epochs: {THEIR_EPOCHS}", our_scores(name, THEIR_EPOCHS, "prediction-based", options)),
        (f"epochs: {EPOCHS}, update n-best", our_scores(name, EPOCHS, "n-best", options)),
    ):
        goal = TASKS[name].score_goal
        rows.append(scores(what, answers, described, trained[best]["score"], goal))
        if tuned:
            rows.append(scores(what, answers, f"`{tuned}`", trained[tuned]["score"], None))
    listed = ", ".join(
        f"`{trainer}` {answer['score']:.2f} ({answer['to_model']:.0f} s)"
        for trainer, answer in trained.items()
    )
    return f"CRFsuite's trainers: {listed}.", rows


def our_scores(name: str, epochs: int, update: str, options: Options) -> Answers:
    return [
        options.run("score", name, preset=False, epochs=epochs, seed=seed, update=update)
        for seed in SEEDS
    ]


def faster(
    what: str,
    ours: Answers,
    theirs: Answers,
    goal: float,
    key: str = "total",
) -> list[str]:
    mine, other = median(ours, key), median(theirs, key)
    ratio = ratio_of(theirs, ours, key)
    return [
        what,
        f"{mine:.3g} s",
        f"{other:.3g} s",
        f"{ratio:.1f} ×",
        f"≥ {goal:g} ×",
        verdict(ratio >= goal),
    ]


def tagging(
    what: str,
    ours: Answers,
    theirs: Answers,
    key: str = "tagging",
) -> list[str]:
    mine, other = median(ours, key), median(theirs, key)
    ratio = ratio_of(ours, theirs, key)
    return [
        f"tagging {what}, features included, tokens/s",
        f"{mine:,.0f}",
        f"{other:,.0f}",
        f"{ratio:.1f} ×",
        "≥ 20 ×",
        verdict(ratio >= 20),
    ]


def taught(ours: Answers, theirs: Answers) -> list[list[str]]:
    """The row of tagging where python-crfsuite is fed as its tutorial does it, if that was run."""
    if "tagging_taught" not in theirs[0]:
        return []
    theirs = [{"tagging": answer["tagging_taught"]} for answer in theirs]
    return [tagging("from lists of tokens, their features as in the tutorial", ours, theirs)]


def memory(what: str, ours: Answers, theirs: Answers, goal: float) -> list[str]:
    mine, other = median(ours, "memory"), median(theirs, "memory")
    return [
        f"peak memory of training, their features {what}",
        f"{mine:.0f} MB",
        f"{other:.0f} MB",
        f"{mine / other:.2f} ×",
        f"≤ {goal:g} ×",
        verdict(mine / other <= goal),
    ]


def above_imports(ours: Answers, theirs: Answers) -> list[str]:
    """The row of the memory that the data and the model take."""
    mine, other = (
        statistics.median(answer["memory"] - answer["imports"] for answer in answers)
        for answers in (ours, theirs)
    )
    what = "of which above Python and the imports, their features streamed"
    return [what, f"{mine:.0f} MB", f"{other:.0f} MB", f"{mine / other:.2f} ×", "", ""]


def scores(what: str, ours: Answers, best_name: str, best: float, goal: float | None) -> list[str]:
    mean = statistics.mean(answer["score"] for answer in ours)
    return [
        f"score, {what}, seeds: {len(ours)}, against the {best_name}",
        f"{mean:.2f}" + training_seconds(ours),
        f"{best:.2f}",
        f"{mean - best:+.2f}",
        "" if goal is None else f"≥ {goal:+.1f}",
        "" if goal is None else verdict(mean - best >= goal),
    ]


def training_seconds(answers: Answers) -> str:
    """How long training took, where the job told it."""
    told = [answer["seconds"] for answer in answers if "seconds" in answer]
    return f" ({statistics.median(told):.0f} s)" if told else ""


def time_to_score(name: str, trainer: str, lbfgs: dict[str, Any], options: Options) -> list[str]:
    goal = lbfgs["score"]
    runs = [options.run("curve", name, seed=seed, goal=goal) for seed in SEEDS]
    what = f"file → model as good as `{trainer}` ({goal:.2f})"
    other = f"{lbfgs['to_model']:.3g} s"
    if not all(answer["reached"] for answer in runs):
        best = max(answer.get("best", goal) for answer in runs)
        return [what, f"not reached ({best:.2f})", other, "", *_unless_tuned(trainer, False)]
    seconds, epochs = median(runs, "seconds"), median(runs, "epochs")
    ratio = lbfgs["to_model"] / seconds
    mine = f"{seconds:.3g} s ({epochs:g} epochs)"
    return [what, mine, other, f"{ratio:.0f} ×", *_unless_tuned(trainer, ratio >= 50)]


def _unless_tuned(trainer: str, reached: bool) -> tuple[str, str]:
    """The goal of 50 times and its verdict; it is set beside the trainer's own defaults."""
    return ("≥ 50 ×", verdict(reached)) if TRAINERS[trainer][0] == trainer else ("", "")


def comparison(names: list[str], options: Options) -> str:
    parts = [corpus_part(name, options) for name in names]
    empty = {m: run("empty", module=m)["memory"] for m in ("numpy", "seqpa", "pycrfsuite")}
    told = ", ".join(f"`import {m}` {mb:.0f} MB" for m, mb in empty.items())
    parts.append(f"Memory of an empty process, included above: {told}.")
    return "\n\n".join(parts)


def held_out(names: list[str], options: Options) -> str:
    """The score of each C on a held-out part of the training data."""
    rows = []
    for name in names:
        epochs = 5 if TASKS[name].many_labels else EPOCHS
        scores = [options.run("held_out", name, c=c, epochs=epochs)["score"] for c in GRID]
        rows.append([TASKS[name].title, *[f"{value:.2f}" for value in scores]])
    return (
        f"### Choice of C\n\nScores on the last tenth of the training sentences; C = {C:g} is "
        f"used everywhere above.\n\n{table(['', *[f'C = {c:g}' for c in GRID]], rows)}"
    )


def presets(names: list[str], options: Options) -> str:
    rows = []
    for name in [name for name in names if TASKS[name].preset]:
        task = TASKS[name]
        runs = [options.run("score", name, preset=True, epochs=EPOCHS, seed=seed) for seed in SEEDS]
        mean = statistics.mean(answer["score"] for answer in runs)
        bar = task.preset_bar
        rows.append(
            [
                f"{task.title.split(',')[0]}: `{task.preset}`",
                f"{mean:.2f}",
                "" if bar is None else f"{bar:.2f}",
                f"{median(runs, 'seconds'):.2g} s",
                "" if bar is None else verdict(mean >= bar),
            ]
        )
    head = ["preset", "score, mean of three seeds", "bar", "training", ""]
    return f"### Presets\n\n{table(head, rows)}"


def given(names: list[str], options: Options) -> str:
    """Both sides with features that are there already."""
    rows = []
    for name in [name for name in names if not TASKS[name].many_labels]:
        for kind in ("lists of strings", "dicts"):
            order = {"dicts": kind == "dicts", "epochs": EPOCHS}
            turns = [
                [options.run("given", name, ours=ours, **order) for ours in (True, False)]
                for _ in range(options.turns)
            ]
            ours, theirs = map(list, zip(*turns, strict=True))
            rows.append(
                [
                    f"{TASKS[name].title}, {kind}",
                    f"{median(ours, 'total'):.3g} s",
                    f"{median(theirs, 'total'):.3g} s",
                    f"{ratio_of(theirs, ours, 'total'):.1f} ×",
                    f"{median(ours, 'tagging'):,.0f}",
                    f"{median(theirs, 'tagging'):,.0f}",
                    f"{ratio_of(ours, theirs, 'tagging'):.1f} ×",
                    f"{median(ours, 'score'):.2f}",
                    f"{median(theirs, 'score'):.2f}",
                ]
            )
    head = ["", f"training, epochs: {EPOCHS}", "theirs", "ratio", "tagging, tokens/s", "theirs"]
    text = table([*head, "ratio", "score", "theirs"], rows)
    return (
        "### Tokens that already are features\n\nThe same lists of strings, or dicts as in "
        "sklearn-crfsuite's tutorial, made beforehand, for `SequenceTagger(None)` and for "
        f"python-crfsuite with `pa`; making them is not counted.\n\n{text}"
    )


def profile(names: list[str], options: Options) -> str:
    """Where an epoch's time goes, and how far it is from the memory's speed."""
    parts = ["### Where the time of an epoch goes"]
    for name in names:
        task = TASKS[name]
        epochs = 2 if task.many_labels else 10
        told = options.run("epochs", name, epochs=epochs)
        used, touched = told["bytes"] / 1e6, told["line_bytes"] / 1e6
        speed = told["bandwidth"] / 1e9
        least = told["line_bytes"] / told["bandwidth"]
        parts.append(
            f"{task.title}: an epoch takes {told['epoch']:.3g} s, "
            f"{1e9 * told['epoch'] / told['lookups']:.0f} ns for each feature of each token. It "
            f"reads {used:.0f} MB of "
            f"feature numbers and weights, {touched:.0f} MB counted in whole cache lines; at the "
            f"{speed:.1f} GB/s at which one core copies here that alone is {least:.3g} s: the "
            f"epoch is {told['epoch'] / least:.1f} × above the memory-bandwidth limit (weights "
            f"with averaging sums {told['store']:.0f} MB). {shares(name, options, epochs)}"
        )
    return "\n\n".join(parts)


def shares(name: str, options: Options, epochs: int) -> str:
    """The kernel functions' shares of the samples that perf takes."""
    if shutil.which("perf") is None:
        return "(perf is not installed here, so no profile.)"
    with tempfile.TemporaryDirectory() as folder:
        samples = f"{folder}/perf.data"
        record = ("perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "-o", samples, "--")
        options.run("epochs", name, epochs=epochs, under=record)
        report = subprocess.run(
            ["perf", "report", "-q", "--stdio", "-F", "overhead,sym", "-i", samples],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    found: dict[str, float] = {}
    for percent, symbol in re.findall(
        r"([\d.]+)%\s+\[\.\] __pyx_f_5seqpa_7_kernel_\d+[a-z_]+_\d+([A-Z]\S+)", report
    ):
        symbol = symbol.split(".")[0]
        found[symbol] = found.get(symbol, 0.0) + float(percent)
    if not found:
        return (
            "(No names of functions in the kernel: install it with SEQPA_SYMBOLS=1 for a profile.)"
        )
    whole = sum(found.values())
    order = sorted(found, key=lambda symbol: -found[symbol])
    listed = ", ".join(
        f"`{symbol.replace('_', '.', 1)}` {100 * found[symbol] / whole:.0f} %"
        for symbol in order
        if found[symbol] >= 0.01 * whole
    )
    return f"Of the kernel's samples: {listed}."


SECTIONS = {"given": given, "C": held_out, "presets": presets, "profile": profile}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the corpora (default: SEQPA_DATA)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, few trainers")
    parser.add_argument("--turns", type=int, default=3, help="so many runs of both sides (3)")
    parser.add_argument("--times", action="store_true", help="time and memory alone, no scores")
    parser.add_argument("--only", action="append", choices=[*TASKS, *SECTIONS], help="repeatable")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    arguments = parser.parse_args()
    data = arguments.data or (os.environ.get("SEQPA_DATA") and Path(os.environ["SEQPA_DATA"]))
    if not data:
        print("skipped: name the folder of the corpora with --data DIR or SEQPA_DATA=DIR")
        return
    wanted = arguments.only or [*TASKS, *SECTIONS]
    there = [name for name in TASKS if (data / TASKS[name].train).exists()]
    for name in TASKS.keys() - set(there):
        print(f"{name} is skipped: there is no {data / TASKS[name].train}", file=sys.stderr)
    options = Options(data, arguments.quick, arguments.turns, arguments.times)
    parts = []
    compared = [name for name in there if name in wanted]
    if compared:
        parts.append(comparison(compared, options))
    smaller = [name for name in there if name in wanted] or there
    for section, function in SECTIONS.items():
        if section in wanted:
            parts.append(function(smaller, options))
    quick = " --quick" if arguments.quick else ""
    head = f"`python benchmarks/sequence.py{quick}` on {machine('numpy', 'python-crfsuite')}. "
    head += "Seconds are CPU seconds, one thread."
    text = "\n\n".join([head, *parts])
    print(text)
    if arguments.write:
        write("Sequence", text)


if __name__ == "__main__":
    main()
