"""Training in shards: what it costs in quality, what it gains in time, on workers of one machine.

python benchmarks/cluster.py --data DIR [--quick] [--write]
                             [--only quality|speed|rounds|tagging] ...

Quality: shards × epochs beside serial training, three seeds, every corpus at hand; the shards are
trained in this process, which gives the same models. Speed: a grown corpus (corpora/generate.py) of
ten million tokens in files, one local worker against two, as ratios. Rounds: single rounds of
smaller texts, by workers and shards, beside which cluster_model.py puts what it predicts. Tagging:
files in, files out, one local worker against two. What was measured of time and traffic goes to
cluster.json. `--quick` takes small corpora, to try it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from jobs import TASKS
from results import machine, table, write

SEEDS = (1, 2, 3)
SHARDS = (2, 4, 8)
DEALT_ONCE = 4  # so many shards are also tried without dealing anew
EPOCHS = (5, 10, 20)
CORPORA = ("conll2000", "ptb", "wnut17")
UPDATES = ("near-max-loss", "loss-augmented")
TOKENS = 10_000_000
ROUNDS_TOKENS = (1_000_000, 2_000_000)
ROUNDS_WAYS = ((1, 1), (2, 2), (2, 4))  # workers, shards
EPOCHS_MEASURED = 8
ROUND_COST = ("seconds", "worked", "sent", "received", "efficiency")
READING: dict[str, Any] = {"columns": ["word", "label", "_"]}
TOKENS_A_SENTENCE = 11.7  # of the generator, about
FILES = 8
TURNS = 3
GENERATOR = Path(__file__).parents[1] / "corpora" / "generate.py"
MEASURED = Path(__file__).with_name("cluster.json")
PICTURE = Path(__file__).parents[1] / "docs" / "scaling-shards.png"


# Quality: everything in this process


def curve(tagger: Any, train: Any, test: Any) -> list[float]:
    """The score after each epoch, in percent."""
    return [100 * epoch.dev_score for epoch in tagger.training(train, dev=test)]


def quality(
    data: Path, quick: bool, corpora: list[str], updates: list[str], known: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The scores after each epoch, the mean over the seeds, row by row, without known ones."""
    done = {(row["corpus"], row["update"], row["shards"]) for row in known}
    from seqpa import SequenceTagger
    from seqpa.cluster import DaskSequenceTagger
    from seqpa.cluster.executors import Inline

    epochs = 4 if quick else max(EPOCHS)
    seeds = SEEDS[:1] if quick else SEEDS
    for name in corpora:
        task = TASKS[name]
        if not (data / task.train).exists():
            print(f"{name}: is not in {data}, left out")
            continue
        train, test = task.read(data / task.train, 8 if quick else 1), task.read(data / task.test)
        for update in updates:
            own: dict[str, Any] = {
                "features": task.preset,
                "columns": task.columns,
                "epochs": epochs,
                "update": update,
                "calibration": "none",
            }
            makers: dict[str, Any] = {"serial": lambda own=own, **k: SequenceTagger(**own, **k)}
            for shards in SHARDS:
                for deal in ("each-round", "once") if shards == DEALT_ONCE else ("each-round",):
                    makers[f"{shards} {deal}"] = lambda own=own, shards=shards, deal=deal, **k: (
                        DaskSequenceTagger(Inline(), shards=shards, deal=deal, **own, **k)
                    )
            for label, make in makers.items():
                if (name, update, label) in done:
                    continue
                found = [curve(make(random_state=seed), train, test) for seed in seeds]
                mean = [statistics.mean(each) for each in zip(*found, strict=True)]
                marks = [e for e in EPOCHS if e <= epochs] or [epochs]
                print(name, update, label, *(f"{mean[e - 1]:.2f}" for e in marks), flush=True)
                yield {"corpus": name, "update": update, "shards": label, "scores": mean}


def with_row(rows: list[dict[str, Any]], new: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows in the order of their corpora and updates, one of them new or in another's place."""

    def place(row: dict[str, Any]) -> tuple[int, int, int, str]:
        name = row["shards"]
        n = 1 if name == "serial" else int(name.split()[0])
        return CORPORA.index(row["corpus"]), UPDATES.index(row["update"]), n, name

    others = [row for row in rows if place(row) != place(new)]
    return sorted([*others, new], key=place)


def quality_tables(rows: list[dict[str, Any]]) -> str:
    epochs = len(rows[0]["scores"])
    marks = [e for e in EPOCHS if e <= epochs] or [epochs]
    text = []
    for update in dict.fromkeys(row["update"] for row in rows):
        own = [row for row in rows if row["update"] == update]
        corpora = list(dict.fromkeys(row["corpus"] for row in own))
        head = ["shards", *(f"{name}, {e} epochs" for name in corpora for e in marks)]
        cells = []
        for label in dict.fromkeys(row["shards"] for row in own):
            scores = {row["corpus"]: row["scores"] for row in own if row["shards"] == label}
            shown = [
                f"{scores[c][e - 1]:.2f}" if c in scores else "" for c in corpora for e in marks
            ]
            cells.append([label, *shown])
        text.append(f"Updates {update}:\n\n{table(head, cells)}")
        text.append(equal_time(own, corpora))
    return "\n\n".join(text)


def equal_time(rows: list[dict[str, Any]], corpora: list[str]) -> str:
    """At equal time S shards on S workers make S times the epochs of the serial training."""
    lines = []
    for name in corpora:
        scores = {row["shards"]: row["scores"] for row in rows if row["corpus"] == name}
        total = len(scores["serial"])
        parts = []
        for shards in SHARDS:
            if shards > total or f"{shards} each-round" not in scores:
                continue
            few = total // shards
            mixed = scores[f"{shards} each-round"][few * shards - 1]
            parts.append(f"{shards} shards {mixed:.2f} against {scores['serial'][few - 1]:.2f}")
        lines.append(f"{name}: " + ", ".join(parts))
    return (
        f"At equal time, if the work is shared evenly ({total} epochs in shards, that many divided "
        "by the shards in series): " + "; ".join(lines) + "."
    )


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    from seqpa.experiments.figures import COLOURS, LINES, panels

    curves = {(row["corpus"], row["update"], row["shards"]): row["scores"] for row in rows}
    corpora = list(dict.fromkeys(name for name, _, _ in curves))
    updates = list(dict.fromkeys(update for _, update, _ in curves))
    figure, axes = panels(len(updates), len(corpora), width=4.6, height=3.6)
    for row, update in enumerate(updates):
        for column, name in enumerate(corpora):
            own = axes[row, column]
            labels = ["serial", *(f"{s} each-round" for s in SHARDS)]
            for place, label in enumerate(labels):
                if (name, update, label) not in curves:
                    continue
                scores = curves[name, update, label]
                shown = "serial" if label == "serial" else f"{label.split()[0]} shards"
                own.plot(
                    range(1, len(scores) + 1),
                    scores,
                    color=COLOURS[place],
                    linestyle=LINES[place],
                    label=shown,
                    linewidth=2,
                )
            drawn = [curves[key] for key in curves if key[:2] == (name, update)]
            best, low = max(map(max, drawn)), min(min(scores[2:]) for scores in drawn)
            own.set_ylim(low - 0.1, best + 0.1 * (best - low) + 0.02)  # the first epochs are below
            own.set_title(f"{name}, {update}")
            own.set_xlabel("epochs")
            own.set_xticks(range(0, len(drawn[0]) + 1, 5))
            own.set_ylabel("test score")
            own.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=110)


# Speed: real workers


@contextmanager
def grown(tokens: int, kept: Path | None = None) -> Iterator[tuple[list[str], int]]:
    """Files with about so many tokens, and how many there are; they go at the end.

    kept : a folder that they are kept in, and taken from where they are there
    """
    folder = kept or Path(tempfile.mkdtemp(prefix="seqpa-cluster-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        each = max(1, round(tokens / TOKENS_A_SENTENCE / FILES))
        for i in range(FILES):
            if (folder / f"{i}.conll").exists():
                continue
            command = [sys.executable, str(GENERATOR), "--sentences", str(each)]
            command += ["--seed", str(i + 1), "--vocabulary", "30000"]
            subprocess.run([*command, "-o", str(folder / f"{i}.conll")], check=True)
        files = [str(folder / f"{i}.conll") for i in range(FILES)]
        yield files, sum(tokens_of(Path(f)) for f in files)
    finally:
        if kept is None:
            shutil.rmtree(folder)


def tokens_of(path: Path) -> int:
    with path.open() as stream:
        return sum(1 for line in stream if line.strip())


def traffic(data: Path, quick: bool) -> list[dict[str, float]]:
    """Bytes of the weights and of a shard's difference after some rounds on real text, by size."""
    from seqpa.cluster import DaskSequenceTagger
    from seqpa.cluster.executors import Inline

    task = TASKS["conll2000"]
    found = []
    for share in (16, 8, 4) if quick else (16, 8, 4, 2, 1):
        train = task.read(data / task.train, share)
        tagger = DaskSequenceTagger(
            Inline(), shards=1, features=task.preset, columns=task.columns, epochs=4
        )
        tagger.random_state = 1
        tagger.fit(train)
        last = tagger.rounds_[-1]
        found.append({"tokens": train.n_tokens, "weights": last.sent, "moved": last.received})
    return found


def speed(
    tokens: int, epochs: int, numbers: list[int], kept: Path | None, known: dict[str, Any]
) -> dict[str, Any]:
    """Rounds on one worker and on two; the shards are two each time, and the model the same.

    numbers : of workers
    known : what was measured before, of which other numbers of workers stay
    """
    from seqpa.cluster import DaskSequenceTagger, Files
    from seqpa.cluster.executors import connected

    found: dict[str, Any] = {"runs": []}
    with grown(tokens, kept) as (files, n_tokens):
        for workers in numbers:
            with connected(f"local:{workers}") as client:
                tagger = DaskSequenceTagger(
                    client, shards=2, features="pos", epochs=epochs, random_state=1, deal="once"
                )
                begun = time.perf_counter()
                seconds = []
                for _ in tagger.training(Files(files, READING), told=print):
                    seconds.append(time.perf_counter() - begun)
                costs = [
                    {name: getattr(cost, name) for name in ROUND_COST} for cost in tagger.rounds_
                ]
                before = seconds[0] - costs[0]["seconds"]
                run = {"workers": workers, "shards": 2, "before": before, "rounds": costs}
                found["runs"].append(run)
    if known.get("tokens") == n_tokens:
        found["runs"] += [run for run in known["runs"] if run["workers"] not in numbers]
    found["runs"].sort(key=lambda run: run["workers"])
    found["tokens"] = n_tokens
    return found


def speed_table(found: dict[str, Any]) -> str:
    rows = []
    one = None
    for run in found["runs"]:
        seconds = statistics.median(r["seconds"] for r in run["rounds"])
        one = one or (seconds, run["before"])
        efficiency = one[0] / seconds / run["workers"]
        moved = statistics.median(r["sent"] + r["received"] for r in run["rounds"]) / 1e6
        rows.append(
            [
                str(run["workers"]),
                f"{seconds / one[0]:.2f} ×",
                f"{efficiency:.2f}",
                f"{run['before'] / one[1]:.2f} ×",
                f"{moved:.0f} MB",
            ]
        )
    head = ["workers", "time of a round", "efficiency", "reading and numbering", "moved a round"]
    return f"{found['tokens']:,} tokens, two shards:\n\n" + table(head, rows)


def spent(pid: int) -> dict[str, tuple[float, float]]:
    """Seconds of a core that each thread has had, and that it was ready and got none: Linux's."""
    found = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # it has ended
            had, waited, _ = map(int, (thread / "schedstat").read_text().split())
            found[thread.name] = had / 1e9, waited / 1e9
    return found


def between(before: dict[str, Any], after: dict[str, Any]) -> dict[str, float]:
    """What a process spent: its busiest thread, all, and how long they were kept waiting."""
    had = {name: after[name][0] - before.get(name, (0, 0))[0] for name in after}
    waited = sum(after[name][1] - before.get(name, (0, 0))[1] for name in after)
    return {"busiest": max(had.values()), "all": sum(had.values()), "kept_waiting": waited}


def rounds(sizes: Iterable[int]) -> Iterator[dict[str, Any]]:
    """What each round took, and what of it our processes had a core: others may use the machine."""
    from seqpa.cluster import DaskSequenceTagger, Files
    from seqpa.cluster.executors import connected

    for tokens in sizes:
        with grown(tokens) as (files, n_tokens):
            for workers, shards in ROUNDS_WAYS:
                with connected(f"local:{workers}") as client:
                    pids = [os.getpid(), *client.run(os.getpid).values()]
                    tagger = DaskSequenceTagger(
                        client,
                        shards=shards,
                        features="pos",
                        epochs=EPOCHS_MEASURED,
                        random_state=1,
                        deal="once",
                    )
                    own: list[dict[str, Any]] = []
                    before = [spent(pid) for pid in pids]
                    for _ in tagger.training(Files(files, READING)):
                        after = [spent(pid) for pid in pids]
                        cpu = [between(*pair) for pair in zip(before, after, strict=True)]
                        cost = tagger.rounds_[-1]
                        told: dict[str, Any] = {name: getattr(cost, name) for name in ROUND_COST}
                        # Of the first round these have the numbering before it, too.
                        told |= {"client": cpu[0], "workers": cpu[1:]}
                        own.append(told)
                        before = [spent(pid) for pid in pids]
                print(f"{n_tokens:,} tokens, {workers} workers, {shards} shards: {own[-1]}")
                yield {"tokens": n_tokens, "workers": workers, "shards": shards, "rounds": own}


def tagging(tokens: int, kept: Path | None) -> str:
    """Files in, files out, with one worker and with two, the model loaded already."""
    from seqpa import SequenceTagger
    from seqpa.cluster.executors import OnDask, connected
    from seqpa.cluster.tagging import TaggingOptions, tag_files
    from seqpa.data import read

    seconds = {}
    with grown(tokens, kept) as (files, n_tokens), tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        model = folder / "m.safetensors"
        corpus = read(files[0], **READING)[:20_000]
        SequenceTagger("pos", epochs=2, random_state=1).fit(corpus).save(model)
        options = TaggingOptions({"columns": ["word", "_", "_"]})
        for workers in (1, 2):
            with connected(f"local:{workers}") as client:
                executor = OnDask(client)
                tag_files(executor, model, files[:workers], folder / f"warm{workers}", options)
                took = []
                for turn in range(TURNS):  # the quickest counts: others may use the machine too
                    out = folder / f"out{workers}-{turn}"
                    begun = time.perf_counter()
                    tag_files(executor, model, files, out, options)
                    took.append(time.perf_counter() - begun)
                    shutil.rmtree(out)
                seconds[workers] = min(took)
    ratio = seconds[1] / seconds[2]
    return (
        f"Tagging {n_tokens:,} tokens in {FILES} files: two workers are {ratio:.2f} × as fast as "
        f"one ({n_tokens / seconds[2] / 1e6:.2f} million tokens/s from file to file)."
    )


def _measured_file(is_real: bool) -> Path:
    """Where measured points are; those of a trial in the temporary folder."""
    return MEASURED if is_real else Path(tempfile.gettempdir()) / MEASURED.name


def measured(is_real: bool) -> dict[str, Any]:
    """What was measured before."""
    path = _measured_file(is_real)
    return dict(json.loads(path.read_text())) if path.exists() else {}


def keep(found: dict[str, Any], is_real: bool) -> None:
    """Add to what was measured before."""
    path = _measured_file(is_real)
    path.write_text(json.dumps(measured(is_real) | found, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add = parser.add_argument
    add("--data", type=Path, default=os.environ.get("SEQPA_DATA"), help="folder of the corpora")
    add("--quick", action="store_true", help="small corpora, to try it")
    add("--write", action="store_true", help="write RESULTS.md, cluster.json and the picture")
    add("--only", choices=("quality", "speed", "rounds", "tagging"))
    add("--tokens", type=int, help=f"of the grown corpus; {TOKENS:,} unless --quick")
    add("--corpora", nargs="+", choices=CORPORA, help="of the quality of shards; all")
    add("--updates", nargs="+", choices=UPDATES, help="of the quality of shards; all")
    add("--go-on", action="store_true", help="leave scores that were written before")
    add("--workers", type=int, nargs="+", default=[1, 2], help="of the time on workers")
    add("--corpus", type=Path, help="folder to keep the grown corpus in, for further runs")
    options = parser.parse_args()
    options.updates = options.updates or list(UPDATES)
    options.corpora = options.corpora or list(CORPORA[:1] if options.quick else CORPORA)
    tokens = options.tokens or (200_000 if options.quick else TOKENS)
    parts = {}
    if options.only in (None, "speed"):
        found = speed(tokens, 4, options.workers, options.corpus, measured(options.write))
        if options.data is not None and (options.data / TASKS["conll2000"].train).exists():
            found["traffic"] = traffic(options.data, options.quick)
        parts["Time on workers"] = speed_table(found)
        print(parts["Time on workers"])
        keep(found, options.write)
    if options.only in (None, "rounds"):
        sizes = [options.tokens] if options.tokens else ROUNDS_TOKENS
        done = []
        for found in rounds([tokens] if options.quick else sizes):
            done.append(found)
            keep({"rounds": done}, options.write)
    if options.only in (None, "tagging"):
        parts["Tagging"] = tagging(tokens, options.corpus)
        print(parts["Tagging"])
    if options.only in (None, "quality"):
        if options.data is None:
            parser.error("--data is needed for the quality of shards")
        rows = measured(options.write).get("quality", []) if options.write else []
        known = rows if options.go_on else []
        for new in quality(options.data, options.quick, options.corpora, options.updates, known):
            rows = with_row(rows, new)
            keep({"quality": rows}, options.write)
        parts["Quality"] = quality_tables(rows)
        print(parts["Quality"])
        if options.write:
            draw(rows, PICTURE)
            parts["Quality"] += "\n\n![Scores by epochs and shards](../docs/scaling-shards.png)"
    if options.write:
        told = machine("numpy", "dask", "distributed")
        only = {"Time on workers": "speed"}
        for name, text in parts.items():
            command = f"python benchmarks/cluster.py --only {only.get(name, name.lower())}"
            write(f"Shards and workers: {name.lower()}", f"`{command}` on {told}\n\n{text}")


if __name__ == "__main__":
    main()
