"""What a missed span should count: the number that `cost="auto"` measures, beside others on dev.

SEQPA_DATA=DIR python benchmarks/missed.py           the table of RESULTS.md, some ten minutes
python benchmarks/missed.py --data DIR --only wnut17 one corpus
python benchmarks/missed.py --data DIR --quick       one seed
python benchmarks/missed.py --data DIR --write       into RESULTS.md

Corpora whose labels mark spans, with the features of CRFsuite's users and with the preset, the
defaults otherwise. Where a corpus has no dev set, the last two folds of the training text are two.
"""

from __future__ import annotations

import argparse
import os
import statistics
from pathlib import Path
from typing import Any

import peers
from accuracy import Text, corpora, score
from jobs import TASKS
from results import machine, table, write

from seqpa import SequenceTagger

NAMES = ("wnut17", "finer", "wikigold", "conll2000")
TIMES = (1.0, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0)
HEAD = ["dev F1; a missed token counts", *(f"{k:g} ×" for k in TIMES), "auto", "measured"]


def rows_of(name: str, text: Text, seeds: list[int]) -> list[list[str]]:
    """One corpus, by two kinds of features."""
    function = TASKS[name].features if name in TASKS else "names"
    return [
        row_of(f"{text.title}: features of `{function}`", text, function, seeds),
        row_of(f"{text.title}: `{text.preset}`", text, None, seeds),
    ]


def row_of(title: str, text: Text, function: str | None, seeds: list[int]) -> list[str]:
    """The mean score with each cost; the numbers that were measured."""
    measured: set[float] = set()
    pairs = [(shown(a, text, function), a, shown(b, text, function), b) for a, b in text.dev[-2:]]

    def mean(cost: Any) -> str:
        scores = []
        for X, train, asked, dev in pairs:
            for seed in seeds:
                columns = text.columns if function is None else ("word",)
                features = text.preset if function is None else None
                tagger = SequenceTagger(features, columns, cost, random_state=seed)
                tagger.fit(X, train.y)
                scores.append(score(dev.y, tagger.predict(asked)))
                if cost == "auto":
                    measured.add(tagger.missed_cost_)
        return f"{statistics.mean(scores):.2f}"

    scores = [mean({"missed": times} if times > 1 else "hamming") for times in TIMES]
    return [title, *scores, mean("auto"), ", ".join(f"{k:g}" for k in sorted(measured))]


def shown(corpus: Any, text: Text, function: str | None) -> Any:
    """What the tagger sees of it: the corpus, or the features of a function."""
    if function is None:
        return corpus
    make = getattr(peers, function)
    if len(text.columns) == 1:
        return [make([(word,) for word in sentence]) for sentence in corpus.X]
    return [make(sentence) for sentence in corpus.X]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the corpora (default: SEQPA_DATA)")
    parser.add_argument("--only", nargs="+", choices=NAMES, help="some of the corpora")
    parser.add_argument("--quick", action="store_true", help="one seed")
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    arguments = parser.parse_args()
    data = arguments.data or (os.environ.get("SEQPA_DATA") and Path(os.environ["SEQPA_DATA"]))
    if not data:
        print("skipped: name the folder of the corpora with --data DIR or SEQPA_DATA=DIR")
        return
    known = corpora(data)
    seeds = [1] if arguments.quick else [1, 2, 3]
    rows: list[list[str]] = []
    print(table(HEAD, []), flush=True)
    for name in filter(known.__contains__, arguments.only or NAMES):
        for row in rows_of(name, known[name](), seeds):
            rows.append(row)
            print(table(HEAD, [row]).splitlines()[-1], flush=True)
    told = (
        f"`python benchmarks/missed.py` on {machine('numpy')}. Span F1 on dev data, mean of "
        f"{len(seeds)} seeds, the defaults but for the cost; the last column is the number that "
        '`cost="auto"` found in the training sentences.'
    )
    if arguments.write and rows:
        write("Missed spans", f"{told}\n\n{table(HEAD, rows)}")


if __name__ == "__main__":
    main()
