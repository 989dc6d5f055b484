"""What the options for accuracy give on each corpus, and what they cost.

SEQPA_DATA=DIR python benchmarks/accuracy.py            the table of RESULTS.md, about half an hour
python benchmarks/accuracy.py --data DIR --quick        one seed and a part of each corpus
python benchmarks/accuracy.py --data DIR --only wnut17  one corpus
python benchmarks/accuracy.py --data DIR --write        puts the table into RESULTS.md

The options build on each other: the preset's templates that see a sentence alone; with the tag
dictionary; with the same words elsewhere in the document; with a second stage. What a preset has
was chosen by the column dev; nothing looks at a test set but this table. Where a corpus has no dev
set, dev are five folds of the training text, each tagged by what the others teach; wikigold has
folds of whole articles and no test set. Times are CPU seconds, speeds tokens a CPU second of one
thread, features included; beside them python-crfsuite's with features of the same kind.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import peers
from jobs import TASKS
from results import machine, table, write

from seqpa import SequenceTagger
from seqpa.data import read
from seqpa.data.corpus import Corpus
from seqpa.evaluate import evaluate
from seqpa.sequence.folds import contiguous_folds
from seqpa.sequence.presets import preset
from seqpa.sequence.templates import parse

FOLDS = 5
AUGMENTED = {"update": "loss-augmented", "C": 0.03}
AROUND = range(-2, 3)
DICTIONARY = [f"{name}[{offset}]" for name in ("tags", "besttag") for offset in AROUND]
CONTEXT = [
    *(f"elsewhere(lower, {shift})" for shift in (-1, 1, -2, 2)),
    "elsewhere(number)",
    "elsewhere(case)",
]
Pair = tuple[Corpus, Corpus]


@dataclass(frozen=True)
class Text:
    """A corpus: what is learned and what is tagged, for dev and for test."""

    title: str
    preset: str
    dev: list[Pair]
    test: Pair | None
    peer: str = ""  # of `peers.FEATURES`, and its files

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data."""
        return self.dev[0][0].names


def folded(corpus: Corpus, folds: list[range]) -> list[Pair]:
    """Each fold as what is tagged, the others as what is learned."""
    pairs = []
    for fold in folds:
        rest = [*range(fold.start), *range(fold.stop, len(corpus))]
        pairs.append((corpus.take(rest), corpus[fold.start : fold.stop]))
    return pairs


def by_article(corpus: Corpus) -> list[range]:
    """Folds of whole documents, of about as many documents each."""
    assert corpus.documents is not None
    begins = np.flatnonzero(np.diff(corpus.documents, prepend=-1))
    edges = [*begins.tolist(), len(corpus)]
    return [
        range(edges[part.start], edges[part.stop]) for part in contiguous_folds(len(begins), FOLDS)
    ]


def with_tags(data: Path, name: str) -> Callable[[], Text]:
    """A corpus of `jobs.TASKS` that has no dev set: folds of the training text."""

    def load() -> Text:
        task = TASKS[name]
        train, test = task.read(data / task.train), task.read(data / task.test)
        dev = folded(train, contiguous_folds(len(train), FOLDS))
        return Text(task.title.split(", CRFsuite")[0], task.preset, dev, (train, test), name)

    return load


def with_dev(data: Path, name: str, dev: str) -> Callable[[], Text]:
    """One that has a dev set."""

    def load() -> Text:
        task = TASKS[name]
        train, held, test = (task.read(data / part) for part in (task.train, dev, task.test))
        peer = "" if task.many_labels else name
        return Text(task.title, task.preset, [(train, held)], (train, test), peer)

    return load


def finnish(data: Path) -> Text:
    """FiNER: lines without a label stand between sentences, and name parts of the test set."""

    def part(name: str) -> Corpus:
        X: list[list[Any]] = [[]]
        y: list[list[str]] = [[]]
        with (data / "finer" / f"{name}.csv").open(encoding="utf-8") as lines:
            for line in lines:
                cells = line.rstrip("\n").split("\t")
                if len(cells) > 1 and cells[1]:
                    X[-1].append(cells[0])
                    y[-1].append(cells[1])
                elif X[-1]:
                    X.append([])
                    y.append([])
        return Corpus.from_sentences(X[: len(X) - (not X[-1])], y[: len(y) - (not y[-1])])

    train, dev, test = map(part, ("train", "dev", "test"))
    return Text("FiNER, names in Finnish news", "ner", [(train, dev)], (train, test))


def wikigold(data: Path) -> Text:
    """Names in articles of an encyclopedia."""
    path = data / "wikigold" / "wikigold.txt"
    corpus = read(path, columns=["word", "label"], format="conll", scheme="bio")
    return Text("wikigold, names", "ner", folded(corpus, by_article(corpus)), None)


def corpora(data: Path) -> dict[str, Callable[[], Text]]:
    """How each corpus is read, by name."""
    return {
        "ptb": with_tags(data, "ptb"),
        "conll2000": with_tags(data, "conll2000"),
        "wnut17": with_dev(data, "wnut17", "wnut17/dev.txt"),
        "finer": lambda: finnish(data),
        "wikigold": lambda: wikigold(data),
        "gsd": with_dev(data, "gsd", "ud-de-gsd/dev.conllu"),
    }


def options(text: Text) -> dict[str, dict[str, Any]]:
    """The rows of the table: what SequenceTagger is given."""
    whole = preset(text.preset, text.columns)
    alone = [template for template in whole if _sees_one_sentence(template, text.columns)]
    found: dict[str, dict[str, Any]] = {
        "a sentence alone": {"features": alone},
        "and the tag dictionary": {"features": [*alone, *DICTIONARY]},
        "and other occurrences": {"features": [*alone, *DICTIONARY, *CONTEXT]},
        "and a second stage": {"features": [*alone, *DICTIONARY, *CONTEXT], "stages": 2},
        f"the preset, `{text.preset}`": {"features": text.preset},
    }
    for name in list(found)[-1:]:
        found[f"{name}, loss-augmented, C = 0.03"] = found[name] | AUGMENTED
    found[f"`{text.preset}`, a second stage"] = {"features": text.preset, "stages": 2}
    return found


def _sees_one_sentence(template: str, columns: tuple[str, ...]) -> bool:
    parts = parse(template, columns).parts
    return not any(p.attribute.kind in ("tags", "besttag", "elsewhere") for p in parts)


def score(gold: list[list[str]], predicted: list[list[str]]) -> float:
    """Span F1 in per cent where labels mark spans, else token accuracy."""
    found = evaluate(gold, predicted)
    return 100 * (found.accuracy if found.span_micro is None else found.span_micro.f1)


def held_score(pairs: list[Pair], made: Callable[[Corpus], SequenceTagger]) -> float:
    """The score over all that is held out together."""
    gold: list[list[str]] = []
    predicted: list[list[str]] = []
    for train, held in pairs:
        gold += held.y
        predicted += made(train).predict(held)
    return score(gold, predicted)


def speed(tag: Callable[[], Any], n_tokens: int) -> float:
    """Tokens a CPU second: the best of a few turns."""
    turns = []
    for _ in range(5):
        begun = time.process_time()
        tag()
        turns.append(time.process_time() - begun)
    return n_tokens / min(turns)


def their_speed(text: Text, data: Path) -> float | None:
    """python-crfsuite's, with the features that `peers` has for this corpus."""
    if not text.peer or text.test is None:
        return None
    task = TASKS[text.peer]
    X = [[t if isinstance(t, tuple) else (t,) for t in s] for s in text.test[1].X]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        peers.train(data / task.train, task.features, "pa", {"max_iterations": 3}, model)
        return speed(lambda: peers.tag(model, task.features, X), text.test[1].n_tokens)


def measured(text: Text, given: dict[str, Any], seeds: list[int]) -> dict[str, Any]:
    """Scores over the seeds, and what the last one costs."""
    dev, test, seconds, tagger = [], [], [], None

    def made(train: Corpus, seed: int) -> SequenceTagger:
        begun = time.process_time()
        own = SequenceTagger(columns=text.columns, random_state=seed, **given).fit(train)
        seconds.append(time.process_time() - begun)
        return own

    for seed in seeds:
        tagger = None
        if text.test is not None:
            tagger = made(text.test[0], seed)
            test.append(score(text.test[1].y, tagger.predict(text.test[1])))
        if tagger is not None and len(text.dev) == 1 and text.dev[0][0] is text.test[0]:
            dev.append(score(text.dev[0][1].y, tagger.predict(text.dev[0][1])))
        else:
            dev.append(held_score(text.dev, lambda train, seed=seed: made(train, seed)))
    if tagger is None:
        tagger = made(text.dev[0][0], seeds[-1])
        seconds = seconds[-1:]
    own = tagger
    asked = text.test[1] if text.test is not None else text.dev[0][1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        own.save(path)
        size = path.stat().st_size / 1e6
    per_run = seconds if len(text.dev) == 1 else seconds[-1:]
    return {
        "dev": dev,
        "test": test,
        "seconds": statistics.median(per_run),
        "speed": speed(lambda: own.predict(asked), asked.n_tokens),
        "size": size,
    }


def spread(values: list[float]) -> str:
    """Mean ± standard deviation."""
    if not values:
        return ""
    sd = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{sd}"


def rows_of(text: Text, data: Path, seeds: list[int]) -> Iterator[list[str]]:
    """The rows of a corpus, as they come."""
    theirs = their_speed(text, data)
    for name, given in options(text).items():
        found = measured(text, given, seeds)
        ratio = "" if theirs is None else f"{found['speed'] / theirs:.0f} ×"
        yield [
            name,
            spread(found["dev"]),
            spread(found["test"]),
            f"{found['seconds']:.1f}",
            f"{found['speed']:,.0f}",
            ratio,
            f"{found['size']:.1f}",
        ]


HEAD = ["", "dev", "test", "training, s", "tagging, tokens/s", "of python-crfsuite", "model, MB"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the corpora (default: SEQPA_DATA)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some of the corpora")
    parser.add_argument("--seeds", type=int, default=3, help="how many (default: 3)")
    parser.add_argument("--quick", action="store_true", help="one seed, a tenth of each corpus")
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    arguments = parser.parse_args()
    data = arguments.data or (os.environ.get("SEQPA_DATA") and Path(os.environ["SEQPA_DATA"]))
    if not data or not (data / TASKS["ptb"].train).exists():
        print("skipped: name the folder of the corpora with --data DIR or SEQPA_DATA=DIR")
        return
    seeds = [1] if arguments.quick else list(range(1, arguments.seeds + 1))
    known = corpora(data)
    for name in arguments.only or []:
        if name not in known:
            parser.error(f"no corpus is named {name!r}; there are {', '.join(known)}")
    parts = []
    for name in arguments.only or known:
        text = known[name]()
        if arguments.quick:
            text = shortened(text)
        print(f"\n### {text.title}\n\n{table(HEAD, [])}", flush=True)
        rows = []
        for row in rows_of(text, data, seeds):
            rows.append(row)
            print(table(HEAD, [row]).splitlines()[-1], flush=True)
        parts.append(f"### {text.title}\n\n{table(HEAD, rows)}")
    told = "one seed" if len(seeds) == 1 else f"{len(seeds)} seeds: mean ± standard deviation"
    head = (
        f"`python benchmarks/accuracy.py` on {machine('numpy', 'python-crfsuite')}; {told}. Span "
        "F1 where labels mark spans, else token accuracy. dev is what choices were made by, also "
        "where it is five folds of the training text; wikigold has no test set."
    )
    if arguments.write:
        write("Accuracy", "\n\n".join([head, *parts]))


def shortened(text: Text) -> Text:
    """A tenth of each part, from its beginning."""

    def some(pair: Pair) -> Pair:
        return pair[0][: len(pair[0]) // 10], pair[1][: len(pair[1]) // 10]

    test = None if text.test is None else some(text.test)
    dev = [some(pair) for pair in text.dev]
    if test is not None and text.test is not None and text.dev[0][0] is text.test[0]:
        dev = [(test[0], dev[0][1])]
    return Text(text.title, text.preset, dev, test, text.peer)


if __name__ == "__main__":
    main()
