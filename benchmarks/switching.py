"""Does one who switches lose? The same features for seqpa's defaults and for CRFsuite's trainers.

SEQPA_DATA=DIR python benchmarks/switching.py         the table of RESULTS.md, about half an hour
python benchmarks/switching.py --data DIR --quick     a tenth of each corpus, one seed
python benchmarks/switching.py --data DIR --only ptb  one corpus
python benchmarks/switching.py --data DIR --write     into RESULTS.md

Tokens are lists of feature strings, made beforehand. CRFsuite has its five trainers at their
defaults and L-BFGS with the regularisation of its tutorials; ours is `SequenceTagger(None)` and
`seqpa.sklearn_crfsuite.CRF` as they come, mean of three seeds. The best of theirs is the best on
the test set, chosen with hindsight. wikigold has no test set: its last fifth, whole articles, is
one. Times are CPU seconds from lists of features to a model. p is that of a paired test of our
first seed and theirs (approximate randomisation): the chance of such a difference where there is
none.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import peers
import pycrfsuite
from accuracy import Text, corpora, score, shortened
from jobs import TASKS, TRAINERS
from results import machine, table, write

from seqpa import SequenceTagger
from seqpa.evaluate import compare, evaluate
from seqpa.sklearn_crfsuite import CRF

HEAD = ["", "ours", "the face `CRF`", "best of theirs", "", "p", "ours, s", "theirs, s", "sooner"]
HEAD += ["as good as theirs", "s", "sooner"]
EPOCHS = (1, 2, 3, 5, 10, 20)  # of which the fewest that are as good as theirs are found
Sentences = list[list[list[str]]]
Labels = list[list[str]]


def texts(data: Path) -> dict[str, tuple[Callable[[], Text], str]]:
    """Each corpus and the function that makes its features."""
    known = corpora(data)
    features = {name: TASKS[name].features if name in TASKS else "names" for name in known}
    both = {name: (known[name], features[name]) for name in known if name != "gsd"}
    if "conll2000" in known:
        both["sklearn-crfsuite"] = known["conll2000"], "tutorial"
    return both


def cpu_seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    """How long it took, and what came of it."""
    begun = time.process_time()
    made = action()
    return time.process_time() - begun, made


def theirs(trainer: str, X: Sentences, y: Labels, tagged: Sentences) -> tuple[float, Labels]:
    """The time of one of CRFsuite's trainers, and its labels."""
    name, parameters = TRAINERS[trainer]
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")

        def train() -> None:
            made = pycrfsuite.Trainer(name, parameters, verbose=False)
            for sentence, labels in zip(X, y, strict=True):
                made.append(sentence, labels)
            made.train(model)

        seconds, _ = cpu_seconds(train)
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        return seconds, [tagger.tag(sentence) for sentence in tagged]


def row_of(text: Text, function: str, seeds: list[int]) -> list[str]:
    """One corpus."""
    train, test = text.test or text.dev[-1]
    make = getattr(peers, function)
    columns = len(text.columns)
    as_tuples = [[(w,) for w in s] if columns == 1 else s for s in train.X]
    X = [make(sentence) for sentence in as_tuples]
    asked = [make([(w,) for w in s] if columns == 1 else s) for s in test.X]

    def scored(made: Callable[[int], Any]) -> tuple[float, float, float, Labels]:
        runs = [cpu_seconds(lambda seed=seed: made(seed).fit(X, train.y)) for seed in seeds]
        labels = [tagger.predict(asked) for _, tagger in runs]
        scores = [score(test.y, own) for own in labels]
        spread = statistics.stdev(scores) if len(scores) > 1 else 0.0
        seconds = statistics.median(seconds for seconds, _ in runs)
        return seconds, statistics.mean(scores), spread, labels[0]

    def ours(epochs: int) -> tuple[float, float, float, Labels]:
        return scored(lambda seed: SequenceTagger(None, epochs=epochs, random_state=seed))

    seconds, mean, spread, first = scored(lambda seed: SequenceTagger(None, random_state=seed))
    _, face, face_spread, _ = scored(lambda seed: CRF(random_state=seed))
    found = {name: theirs(name, X, train.y, asked) for name in TRAINERS}
    scores = {name: score(test.y, labels) for name, (_, labels) in found.items()}
    best = max(scores, key=scores.__getitem__)
    metric = "accuracy" if evaluate(test.y, first).span_micro is None else "span-f1"
    same = compare(test.y, first, found[best][1], np.random.default_rng(1), metric, "randomisation")
    soon = next(
        (
            [f"{epochs} epochs", f"{took:.2f}", f"{found[best][0] / took:.0f} ×"]
            for epochs in EPOCHS
            for took, reached, *_ in [ours(epochs)]
            if reached >= scores[best]
        ),
        ["", "", ""],
    )
    return [
        f"{text.title.split(', CRFsuite')[0]} ({function})",
        f"{mean:.2f} ± {spread:.2f}",
        f"{face:.2f} ± {face_spread:.2f}",
        f"{scores[best]:.2f} (`{best}`)",
        f"{mean - scores[best]:+.2f}",
        f"{same.p_value:.2f}",
        f"{seconds:.2f}",
        f"{found[best][0]:.1f}",
        f"{found[best][0] / seconds:.0f} ×",
        *soon,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the corpora (default: SEQPA_DATA)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some of the corpora")
    parser.add_argument("--quick", action="store_true", help="one seed, a tenth of each corpus")
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    arguments = parser.parse_args()
    data = arguments.data or (os.environ.get("SEQPA_DATA") and Path(os.environ["SEQPA_DATA"]))
    if not data:
        print("skipped: name the folder of the corpora with --data DIR or SEQPA_DATA=DIR")
        return
    if arguments.write and (arguments.only or arguments.quick):
        parser.error("--write replaces the whole table: leave out --only and --quick")
    known = texts(data)
    for name in arguments.only or []:
        if name not in known:
            parser.error(f"no corpus is named {name!r}; there are {', '.join(known)}")
    if not known:
        return
    seeds = [1] if arguments.quick else [1, 2, 3]
    rows = []
    print(table(HEAD, []), flush=True)
    for name in arguments.only or known:
        load, function = known[name]
        text = load()
        rows.append(row_of(shortened(text) if arguments.quick else text, function, seeds))
        print(table(HEAD, rows[-1:]).splitlines()[-1], flush=True)
    told = (
        f"`python benchmarks/switching.py` on {machine('numpy', 'python-crfsuite')}. The same "
        "lists of feature strings for both; span F1 where labels mark spans, else token accuracy, "
        "on the test set. Ours and the face `CRF` have their defaults, mean ± sd of "
        f"{len(seeds)} seeds; of theirs the trainer that is best on the test set. p: approximate "
        "randomisation, our first seed beside theirs. As good as theirs: the fewest epochs whose "
        "mean is at least their best score, and the CPU seconds from features to that model."
    )
    if arguments.write:
        write("Switching", f"{told}\n\n{table(HEAD, rows)}")


if __name__ == "__main__":
    main()
