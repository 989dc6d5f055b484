"""What the options for accuracy give on each corpus, and what they cost.

SEQPA_DATA=DIR python benchmarks/accuracy.py            the tables of RESULTS.md, some hours
python benchmarks/accuracy.py --data DIR --quick        one seed and a part of each corpus
python benchmarks/accuracy.py --data DIR --only wnut17  one corpus
python benchmarks/accuracy.py --data DIR --rows missed  one kind of option
python benchmarks/accuracy.py --data DIR --write        into RESULTS.md, and a picture into docs

The options build on each other: the preset's templates that see a sentence alone; with the tag
dictionary; with the same words elsewhere in the document; with a second stage; the preset with the
mean over four orders. Each is trained with the defaults (near-max-loss updates, 20 epochs) and with
prediction-based updates in 10 epochs. What a preset has was chosen by dev; nothing looks at a test
set but these tables. Where a corpus has no dev set, dev are five folds of the training text, each
tagged by what the others teach, with one seed; wikigold has folds of whole articles and no test
set. Times are CPU seconds of the defaults, speeds tokens a CPU second of one thread, features
included; beside them python-crfsuite's with the same features, which are made by a function as one
writes it by hand, where no template looks beyond the sentence.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jobs import TASKS
from results import machine, table, write

from seqpa import SequenceTagger
from seqpa.data import read
from seqpa.data.corpus import Corpus
from seqpa.evaluate import evaluate
from seqpa.sequence.attributes import KINDS, shape, short_shape
from seqpa.sequence.folds import contiguous_folds
from seqpa.sequence.presets import preset
from seqpa.sequence.tag_dictionary import UNKNOWN, TagDictionary
from seqpa.sequence.templates import parse

FOLDS = 5
PICTURE = Path(__file__).parents[1] / "docs" / "accuracy.png"
UPDATES: list[dict[str, Any]] = [{}, {"update": "prediction-based", "epochs": 10}]
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
    many_labels: bool = False  # python-crfsuite takes minutes for an epoch

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
        return Text(task.title.split(", CRFsuite")[0], task.preset, dev, (train, test))

    return load


def with_dev(data: Path, name: str, dev: str) -> Callable[[], Text]:
    """One that has a dev set."""

    def load() -> Text:
        task = TASKS[name]
        train, held, test = (task.read(data / part) for part in (task.train, dev, task.test))
        pairs = [(train, held)]
        return Text(task.title, task.preset, pairs, (train, test), task.many_labels)

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
    """How each corpus is read, by name; one that is not there is left out with a word."""
    known = {
        "ptb": with_tags(data, "ptb"),
        "conll2000": with_tags(data, "conll2000"),
        "wnut17": with_dev(data, "wnut17", "wnut17/dev.txt"),
        "finer": lambda: finnish(data),
        "wikigold": lambda: wikigold(data),
        "gsd": with_dev(data, "gsd", "ud-de-gsd/dev.conllu"),
    }
    files = {"finer": "finer/train.csv", "wikigold": "wikigold/wikigold.txt"}
    for name in list(known):
        file = data / (files.get(name) or TASKS[name].train)
        if not file.exists():
            print(f"{name} is left out: there is no {file}", file=sys.stderr)
            del known[name]
    return known


def options(text: Text) -> dict[str, dict[str, Any]]:
    """The rows of the table: what SequenceTagger is given."""
    whole = preset(text.preset, text.columns)
    alone = [template for template in whole if _sees_one_sentence(template, text.columns)]
    around = {"features": [*alone, *DICTIONARY, *CONTEXT]}
    found: dict[str, dict[str, Any]] = {ALONE: {"features": alone}}
    found["and the tag dictionary, −2 to +2"] = {"features": [*alone, *DICTIONARY]}
    found["and other occurrences"] = around
    found["and a second stage"] = around | {"stages": 2}
    names = [text.preset, "ner-document"] if text.preset == "ner" else [text.preset]
    for name in names:
        found[f"the preset `{name}`"] = {"features": name}
        found[f"`{name}` and a second stage"] = {"features": name, "stages": 2}
    if text.preset == "ner":
        found["`ner`, all mistakes cost alike"] = {"features": "ner", "cost": "hamming"}
        for times in (2, 4, 8):
            found[f"`ner`, a missed name costs {times} ×"] = {
                "features": "ner",
                "cost": {"missed": times},
            }
    found[f"`{names[-1]}` and four orders"] = {"features": names[-1], "seeds": 4}
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


def their_speed(text: Text, templates: list[str]) -> float | None:
    """python-crfsuite's with the same features, made as its users make them; None where a template
    looks beyond the sentence."""
    if text.test is None or any("elsewhere" in template for template in templates):
        return None
    import pycrfsuite

    (train, test), columns = text.test, text.columns
    known = TagDictionary()
    known.add(train.columns[0], train.labels or [])
    extract = written_out(templates, columns, known)
    trainer = pycrfsuite.Trainer("pa", {"max_iterations": 3}, verbose=False)
    for tokens, labels in zip(train.X, train.y, strict=True):
        trainer.append(extract(tokens), labels)
    X = test.X
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        trainer.train(model)
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        return speed(lambda: [tagger.tag(extract(tokens)) for tokens in X], test.n_tokens)


def written_out(
    templates: list[str], columns: tuple[str, ...], known: TagDictionary
) -> Callable[[list[Any]], list[list[str]]]:
    """A function that makes the features of a sentence as strings, written as one writes it by
    hand: a list for each attribute, then a line for each template."""
    parsed = [parse(template, columns) for template in templates]
    parts = {part.attribute: part for template in parsed for part in template.parts}
    reach = max(abs(part.offset) for template in parsed for part in template.parts)
    before = [f"<-{d}>" for d in range(reach, 0, -1)]
    after = [f"<+{d}>" for d in range(1, reach + 1)]
    values: dict[str, Any] = {"before": before, "after": after}
    lines = ["def extract(sentence):"]
    if len(columns) == 1:
        lines.append("    column0 = sentence")
    else:
        names = ", ".join(f"column{c}" for c in range(len(columns)))
        lines.append(f"    {names} = zip(*sentence)")
    names_of = {}
    for k, attribute in enumerate(parts):
        if attribute.kind == "bias":
            continue
        own = attribute.column or columns[0]
        words = f"column{columns.index(own)}"
        names_of[attribute] = f"a{k}"
        function = of_words(attribute, known)
        values[f"f{k}"] = function
        made = f"[*{words}]" if function is None else f"[f{k}(w) for w in {words}]"
        lines.append(f"    a{k} = [*before, *{made}, *after]")
    lines += ["    found = []", f"    for i in range({reach}, {reach} + len(sentence)):"]
    lines.append("        now = []")
    for template in parsed:
        cells, flags = [], []
        for part in template.parts:
            if part.attribute.kind == "bias":
                cells.append("bias")
                continue
            place = f"{names_of[part.attribute]}[i + {part.offset}]"
            if part.attribute.is_flag or part.attribute.kind in ("prefix", "suffix"):
                flags.append(f"{place} is not None")
            cells.append(f"{part}={{{place}}}")
        told = "|".join(cells).replace('"', "'")
        test = f"if {' and '.join(flags)}: " if flags else ""
        lines.append(f'        {test}now.append(f"{told}")')
    lines += ["        found.append(now)", "    return found"]
    exec("\n".join(lines), values)
    return values["extract"]


def of_words(attribute: Any, known: TagDictionary) -> Callable[[str], str | None] | None:
    """The attribute of one word; None for the word itself."""
    if attribute.kind is None:
        return None
    kind = KINDS[attribute.kind]
    if kind.learned is not None:
        which = kind.learned
        told = {word: known.entry(word)[which] for word in known.counts}
        return lambda word: told.get(word.lower(), UNKNOWN)
    if attribute.kind in ("prefix", "suffix"):
        n = int(attribute.arguments[0])
        if attribute.kind == "prefix":
            return lambda word: word[:n] if len(word) >= n else None
        return lambda word: word[-n:] if len(word) >= n else None
    if attribute.kind in ("shape", "shortshape"):
        return shape if attribute.kind == "shape" else short_shape
    if attribute.kind == "lower":
        return str.lower
    make = kind.make
    assert make is not None
    test = make()
    return lambda word: test([word])[0]


@dataclass
class Found:
    """What an option gives, by update, and what it costs with the first one."""

    dev: list[list[float]] = field(default_factory=list)
    test: list[list[float]] = field(default_factory=list)
    seconds: float = 0.0
    speed: float = 0.0
    size: float = 0.0


def measured(text: Text, given: dict[str, Any], seeds: list[int]) -> Found:
    """Scores over the seeds, and what training and tagging take."""
    found = Found()
    for update in UPDATES:
        runs = [one_run(text, given | update, seed) for seed in seeds]
        found.dev.append([run.dev for run in runs if run.dev is not None])
        found.test.append([run.test for run in runs if run.test is not None])
        if not update:
            found.seconds = statistics.median(run.seconds for run in runs)
            cost(runs[0].tagger, text, found)
    return found


@dataclass
class Run:
    """One seed: scores, and the tagger that tags the test set (or the first fold)."""

    dev: float | None
    test: float | None
    seconds: float
    tagger: SequenceTagger


def one_run(text: Text, given: dict[str, Any], seed: int) -> Run:
    """Train and score with one seed."""

    def made(train: Corpus) -> SequenceTagger:
        return SequenceTagger(columns=text.columns, random_state=seed, **given).fit(train)

    begun = time.process_time()
    tagger = made((text.test or text.dev[0])[0])
    seconds = time.process_time() - begun
    test = None if text.test is None else score(text.test[1].y, tagger.predict(text.test[1]))
    if text.test is not None and text.dev[0][0] is text.test[0]:
        dev = score(text.dev[0][1].y, tagger.predict(text.dev[0][1]))
    elif seed == 1 or text.test is None:
        dev = held_score(text.dev, made)
    else:
        dev = None
    return Run(dev, test, seconds, tagger)


def cost(tagger: SequenceTagger, text: Text, found: Found) -> None:
    """Measure tagging and the model file."""
    asked = (text.test or text.dev[0])[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        tagger.save(path)
        found.size = path.stat().st_size / 1e6
    found.speed = speed(lambda: tagger.predict(asked), asked.n_tokens)


def spread(values: list[float]) -> str:
    """Mean ± standard deviation."""
    if not values:
        return ""
    sd = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{sd}"


def rows_of(text: Text, seeds: list[int], which: str) -> Iterator[tuple[list[str], Found]]:
    """The rows of a corpus whose names have these words in them, as they come."""
    for name, given in options(text).items():
        if which not in name:
            continue
        found = measured(text, given, seeds)
        features = given["features"]
        templates = preset(features, text.columns) if isinstance(features, str) else features
        alike = not text.many_labels and "stages" not in given
        theirs = their_speed(text, templates) if alike else None
        scores = [
            spread(values) for both in zip(found.dev, found.test, strict=True) for values in both
        ]
        ratio = "" if theirs is None else f"{found.speed / theirs:.0f} ×"
        costs = [f"{found.seconds:.1f}", f"{found.speed:,.0f}", ratio, f"{found.size:.1f}"]
        yield [name, *scores, *costs], found


ALONE = "a sentence alone"
HEAD = [
    "",
    "dev",
    "test",
    "prediction-based, 10 epochs: dev",
    "test",
    "training, s",
    "tagging, tokens/s",
    "of python-crfsuite",
    "model, MB",
]


def draw(gains: dict[str, dict[str, float]], path: Path) -> None:
    """What each option gains over a sentence alone, corpus by corpus."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.75 * len(gains)), layout="constrained")
    kinds = {
        "the tag dictionary": ("o", "#0072b2"),
        "other occurrences": ("s", "#e69f00"),
        "a second stage": ("D", "#009e73"),
    }
    for row, found in enumerate(reversed(gains.values())):
        axes.axhline(row, color="0.9", zorder=0)
        for kind, (marker, color) in kinds.items():
            if kind in found:
                axes.plot(found[kind], row, marker, color=color, markersize=9)
    for kind, (marker, color) in kinds.items():
        axes.plot([], [], marker, color=color, markersize=9, label=kind)
    axes.axvline(0, color="0.5", linewidth=1)
    axes.set_yticks(range(len(gains)), list(reversed(gains)))
    axes.set_xlabel("points above templates that see a sentence alone")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    axes.legend(loc="upper right", frameon=False, title="with")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def gains_of(rows: dict[str, Found]) -> dict[str, float]:
    """By how much each option is better on test, or on dev where there is no test set."""

    def mean(found: Found) -> float:
        return statistics.mean(found.test[0] or found.dev[0])

    told = {
        "and the tag dictionary, −2 to +2": "the tag dictionary",
        "and other occurrences": "other occurrences",
        "and a second stage": "a second stage",
    }
    return {
        kind: mean(rows[name]) - mean(rows[ALONE]) for name, kind in told.items() if name in rows
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the corpora (default: SEQPA_DATA)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some of the corpora")
    parser.add_argument("--rows", metavar="TEXT", help="only the options that are named so")
    parser.add_argument("--seeds", type=int, default=3, help="how many (default: 3)")
    parser.add_argument("--quick", action="store_true", help="one seed, a tenth of each corpus")
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    arguments = parser.parse_args()
    data = arguments.data or (os.environ.get("SEQPA_DATA") and Path(os.environ["SEQPA_DATA"]))
    if not data:
        print("skipped: name the folder of the corpora with --data DIR or SEQPA_DATA=DIR")
        return
    if arguments.write and (arguments.rows or arguments.only or arguments.quick):
        parser.error("--write replaces all tables: leave out --rows, --only and --quick")
    seeds = [1] if arguments.quick else list(range(1, arguments.seeds + 1))
    known = corpora(data)
    for name in arguments.only or []:
        if name not in known:
            parser.error(f"no corpus is named {name!r}; there are {', '.join(known)}")
    parts = []
    gains = {}
    if not known:
        return
    for name in arguments.only or known:
        text = known[name]()
        if arguments.quick:
            text = shortened(text)
        print(f"\n### {text.title}\n\n{table(HEAD, [])}", flush=True)
        rows, all_found = [], {}
        for row, found in rows_of(text, seeds, arguments.rows or ""):
            rows.append(row)
            all_found[row[0]] = found
            print(table(HEAD, [row]).splitlines()[-1], flush=True)
        parts.append(f"### {text.title}\n\n{table(HEAD, rows)}")
        if ALONE in all_found:  # what the others are compared with
            gains[text.title] = gains_of(all_found)
    told = "one seed" if len(seeds) == 1 else f"{len(seeds)} seeds: mean ± standard deviation"
    head = (
        f"`python benchmarks/accuracy.py` on {machine('numpy', 'python-crfsuite')}; {told}. Span "
        "F1 where labels mark spans, else token accuracy. dev is what choices were made by, also "
        "where it is five folds of the training text; wikigold has no test set."
    )
    if arguments.write:
        write("Accuracy", "\n\n".join([head, *parts]))
        draw(gains, PICTURE)


def shortened(text: Text) -> Text:
    """A tenth of each part, from its beginning."""

    def some(pair: Pair) -> Pair:
        return pair[0][: len(pair[0]) // 10], pair[1][: len(pair[1]) // 10]

    test = None if text.test is None else some(text.test)
    dev = [some(pair) for pair in text.dev]
    if test is not None and text.test is not None and text.dev[0][0] is text.test[0]:
        dev = [(test[0], dev[0][1])]
    return Text(text.title, text.preset, dev, test, text.many_labels)


if __name__ == "__main__":
    main()
