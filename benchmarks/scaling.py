"""How an epoch's time and the peak memory grow with tokens and with labels.

python benchmarks/scaling.py            some minutes; scaling.csv, scaling.png
python benchmarks/scaling.py --quick    small corpora, in seconds, nothing written
python benchmarks/scaling.py --write    puts the table and the picture into RESULTS.md too

Corpora come from corpora/generate.py, so this needs no data. Each point is a process of its own.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from jobs import run
from peers import WORDS
from results import machine, table, write

HERE = Path(__file__).parent
GENERATOR = HERE.parent / "corpora" / "generate.py"
EPOCHS = 4
SENTENCES = 8_000
TOKENS_LABELS = 45
TIMES = (1, 2, 4, 8)
LEAST_LABELS = 25  # the generator's
LABELS = (10, 30, 100, 300, 1000)
FIELDS = ("varied", "tokens", "labels", "epoch", "memory")


def grow(path: Path, sentences: int, labels: int) -> None:
    """Write a corpus with that many labels; below the generator's least number, merge some."""
    sizes = ["--sentences", str(sentences), "--labels", str(max(labels, LEAST_LABELS))]
    sizes += ["--vocabulary", str(min(20_000, 2 * sentences))]
    subprocess.run([sys.executable, GENERATOR, *sizes, "-o", path], check=True)
    if labels < LEAST_LABELS:
        rows = [line.rpartition("\t") for line in path.read_text("utf-8").split("\n")]
        numbers = {label: i % labels for i, label in enumerate(sorted({row[2] for row in rows}))}
        merged = (f"{cells}\t{numbers[label]}" if cells else "" for cells, _, label in rows)
        path.write_text("\n".join(merged), "utf-8")


def measure(varied: str, sentences: int, labels: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grown.conll"
        grow(path, sentences, labels)
        return {"varied": varied, **run("scaling", data=path, features=WORDS, epochs=EPOCHS)}


def power(points: list[dict[str, Any]], varied: str) -> float:
    """The b of seconds = a · x^b, by least squares on the logarithms."""
    import numpy as np

    x, seconds = (np.log([point[key] for point in points]) for key in (varied, "epoch"))
    return float(np.polyfit(x, seconds, 1)[0])


def save(points: list[dict[str, Any]]) -> None:
    with (HERE / "scaling.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for point in points:
            numbers = {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in point.items()}
            writer.writerow(numbers)
    draw(points)


def draw(points: list[dict[str, Any]]) -> None:
    """Two panels, time on the left axis and memory on the right one, both from zero."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    blue, orange = "#0072B2", "#D55E00"
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
    for panel, varied in zip(panels, ("tokens", "labels"), strict=True):
        chosen = [point for point in points if point["varied"] == varied]
        x = [point[varied] / (1000 if varied == "tokens" else 1) for point in chosen]
        right = panel.twinx()
        panel.plot(x, [point["epoch"] for point in chosen], "o-", color=blue)
        right.plot(x, [point["memory"] for point in chosen], "s--", color=orange)
        panel.set_ylabel("seconds an epoch (●)", color=blue)
        right.set_ylabel("peak memory, MB (■)", color=orange)
        for axis in (panel, right):
            axis.set_ylim(bottom=0)
            axis.spines["top"].set_visible(False)
        panel.set_xlim(left=0)
        panel.grid(alpha=0.3)
        other = "labels" if varied == "tokens" else "tokens"
        panel.set_xlabel("tokens, thousands" if varied == "tokens" else "labels")
        panel.set_title(f"{chosen[0][other]:,} {other}", fontsize=10)
    figure.savefig(HERE / "scaling.png", dpi=110)


def text_of(points: list[dict[str, Any]], quick: bool) -> str:
    head = ["tokens", "labels", "an epoch", "tokens/s", "peak memory"]
    parts = [
        f"`python benchmarks/scaling.py{' --quick' if quick else ''}` on {machine('numpy')}: "
        f"corpora of `corpora/generate.py`, {len(WORDS)} templates, median of the epochs after "
        f"the first, in CPU seconds."
    ]
    for varied in ("tokens", "labels"):
        chosen = [point for point in points if point["varied"] == varied]
        rows = [
            [
                f"{point['tokens']:,}",
                f"{point['labels']:,}",
                f"{point['epoch']:.3g} s",
                f"{point['tokens'] / point['epoch']:,.0f}",
                f"{point['memory']:.0f} MB",
            ]
            for point in chosen
        ]
        parts.append(table(head, rows, left=0))
        first, last = chosen[0], chosen[-1]
        bytes_each = 1e6 * (last["memory"] - first["memory"]) / (last[varied] - first[varied])
        parts.append(
            f"{last[varied] / first[varied]:.0f} × the {varied}: "
            f"{last['epoch'] / first['epoch']:.1f} × the time of an epoch (it grows with the power "
            f"{power(chosen, varied):.2f}), and "
            f"{bytes_each:,.0f} bytes of memory for each of the {varied}."
        )
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small corpora, nothing written")
    parser.add_argument("--write", action="store_true", help="update RESULTS.md")
    arguments = parser.parse_args()
    base = SENTENCES // (20 if arguments.quick else 1)
    points = [measure("tokens", base * times, TOKENS_LABELS) for times in TIMES]
    points += [measure("labels", 2 * base, labels) for labels in LABELS]
    text = text_of(points, arguments.quick)
    print(text)
    if not arguments.quick:
        save(points)
    if arguments.write:
        write("Scaling", f"{text}\n\n![time and memory over tokens and labels](scaling.png)")


if __name__ == "__main__":
    main()
