"""What word clusters give and what they take: the same templates, with clusters and without.

python benchmarks/clusters.py --data DIR [--quick] [--write]     a few minutes

Raw text is what the corpora at hand have: for the treebank's parts of speech that of CoNLL-2000 too
(the same newspaper, twice as much text), for the others the training text alone. Labels are not
used for clusters. How many clusters and which bits of their paths are tried is one choice on dev:
the last tenth of the training sentences where a corpus has no dev set. The time of clustering is
measured on generated text (corpora/generate.py) of two sizes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from jobs import TASKS, score
from results import machine, table, write

SEEDS = (1, 2, 3)
CHOICES = ((64, (4, 6)), (256, (4, 8)), (256, (6, 10, 20)), (512, (6, 10, 20)))
CORPORA = ("ptb", "wnut17", "conll2000")
SIZES = (50_000, 400_000)  # sentences
GENERATOR = Path(__file__).parents[1] / "corpora" / "generate.py"


def at_hand(data: Path, name: str) -> bool:
    """Whether the folder has a corpus; if not, a word is said."""
    file = data / TASKS[name].train
    if not file.exists():
        print(f"{name} is left out: there is no {file}", file=sys.stderr)
    return file.exists()


def words_of(corpus: Any) -> list[list[str]]:
    """The word of each token."""
    return [[t if isinstance(t, str) else t[0] for t in sentence] for sentence in corpus.X]


def scores(
    train: Any, test: Any, task: Any, choice: tuple[int, tuple[int, ...]] | None, paths: Any
) -> list[float]:
    """Of each seed, in points."""
    from seqpa import SequenceTagger
    from seqpa.sequence.presets import preset

    bits = choice[1] if choice else ()
    more = [f'cluster("brown", {n})[{at}]' for n in bits for at in (-1, 0, 1)]
    found = []
    for seed in SEEDS:
        tagger = SequenceTagger(
            [*preset(task.preset, task.columns), *more],
            columns=task.columns,
            resources={"brown": paths} if more else {},
            random_state=seed,
        )
        tagger.fit(train)
        found.append(score(test.y, tagger.predict(test)))
    return found


def told(values: list[float]) -> str:
    """Mean and standard deviation."""
    return f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"


def corpus_rows(data: Path, name: str, choices: tuple[Any, ...]) -> list[str]:
    """The row of one corpus."""
    from seqpa.sequence.clustering import learn_clusters

    task = TASKS[name]
    train, test = (task.read(data / path) for path in (task.train, task.test))
    raw = words_of(train)
    if name == "ptb" and at_hand(data, "conll2000"):
        raw += words_of(TASKS["conll2000"].read(data / TASKS["conll2000"].train))
    dev_file = data / Path(task.train).with_name("dev.txt")
    cut = len(train) - len(train) // 10
    rest, dev = (train, task.read(dev_file)) if dev_file.exists() else (train[:cut], train[cut:])
    clusters = {size: learn_clusters(raw, size, 2).clusters() for size in {c[0] for c in choices}}
    on_dev = {
        choice: scores(rest, dev, task, choice, choice and clusters[choice[0]])
        for choice in (None, *choices)
    }
    best = max(choices, key=lambda choice: statistics.mean(on_dev[choice]))
    return [
        task.title,
        f"{sum(map(len, raw)):,}",
        f"{best[0]}: {', '.join(map(str, best[1]))}",
        told(on_dev[None]),
        told(on_dev[best]),
        told(scores(train, test, task, None, None)),
        told(scores(train, test, task, best, clusters[best[0]])),
    ]


def time_row(sentences: int) -> list[str]:
    """Clustering a generated text."""
    from seqpa.data import read
    from seqpa.sequence.clustering import learn_clusters

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "raw.conll"
        options = ["--sentences", str(sentences), "--vocabulary", "50000", "-o", str(file)]
        subprocess.run([sys.executable, str(GENERATOR), *options], check=True)
        text = words_of(read(file, columns=["word", "_", "label"]))
    begun = time.process_time()
    found = learn_clusters(text, 256)
    taken = time.process_time() - begun
    return [f"{sum(map(len, text)):,}", f"{len(found.paths):,}", str(found.passes), f"{taken:.1f}"]


def compare(data: Path, quick: bool) -> str:
    """The tables."""
    choices = CHOICES[:1] if quick else CHOICES
    head = ["corpus", "raw tokens", "chosen: clusters, bits", "dev without", "dev with"]
    there = [name for name in CORPORA if at_hand(data, name)]
    rows = [corpus_rows(data, name, choices) for name in there[: 1 if quick else None]]
    times = [time_row(size) for size in SIZES[: 1 if quick else None]]
    return "\n\n".join(
        [
            table([*head, "test without", "test with"], rows, left=1),
            table(["raw tokens", "words", "passes", "256 clusters: seconds"], times, left=0),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the corpora (default: SEQPA_DATA)")
    parser.add_argument("--quick", action="store_true", help="one corpus, one choice")
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    arguments = parser.parse_args()
    data = arguments.data or (os.environ.get("SEQPA_DATA") and Path(os.environ["SEQPA_DATA"]))
    if not data:
        print("skipped: name the folder of the corpora with --data DIR or SEQPA_DATA=DIR")
        return
    quick = " --quick" if arguments.quick else ""
    head = f"`python benchmarks/clusters.py{quick}` on {machine('numpy')}."
    text = f"{head}\n\n{compare(data, arguments.quick)}"
    print(text)
    if arguments.write:
        write("Word clusters", text)


if __name__ == "__main__":
    main()
