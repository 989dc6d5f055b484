"""Taggers, one sentence at a time: time and size of the model, missing and late labels, updates.

Parts of `online.py`, each a function of `quick` that returns its Markdown; CoNLL-2000 is found
through SEQPA_DATA, late labels come from the corpus of the project. Ours has the templates of
CRFsuite's own tutorial. python-crfsuite cannot learn one sentence more, so what stands beside ours
is training on all sentences so far.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections import Counter
from pathlib import Path
from time import process_time as clock
from typing import Any

import numpy as np
import peers
from jobs import score
from results import table

from seqpa import SequenceTagger
from seqpa.data import read
from seqpa.experiments import figures

SEEDS = (1, 2, 3)
PICTURE = Path(__file__).with_name("online-taggers.png")
NO_DATA = "CoNLL-2000 is not at hand: name the folder of the corpora with SEQPA_DATA."


def corpus(name: str) -> Any:
    """The train or test part of CoNLL-2000; None where it is not at hand."""
    folder = os.environ.get("SEQPA_DATA")
    path = Path(folder or ".", "conll2000", f"{name}.txt")
    return read(path, columns=["word", "pos", "label"]) if folder and path.exists() else None


def new_tagger(**parameters: Any) -> SequenceTagger:
    return SequenceTagger(
        peers.CHUNKING, columns=("word", "pos"), **{"random_state": 1, **parameters}
    )


def one_by_one(quick: bool) -> str:
    """Predict and learn one sentence, on models of more and more sentences."""
    train = corpus("train")
    if train is None:
        return NO_DATA
    X, y = train.X, train.y
    tested = 200
    known = len(X) - tested
    # Eight times as large: the same sentences with every word renamed.
    sizes = [500, 1000, 2000] if quick else [500, 1000, 2000, 4000, known, 2 * known, 8 * known]
    lines = []
    ours, theirs = [], []
    tagger, done = new_tagger(), 0
    for size in sizes:
        while done < size:
            copy, i = divmod(done, known)
            words = X[i] if not copy else [(f"{word}~{copy}", pos) for word, pos in X[i]]
            tagger.learn_one(words, y[i])
            done += 1
        predicting, learning = [], []
        for tokens, labels in zip(X[known:], y[known:], strict=True):
            begun = clock()
            tagger.predict_one(tokens)
            between = clock()
            tagger.learn_one(tokens, labels)
            predicting.append(between - begun)
            learning.append(clock() - between)
        if size <= known:
            theirs.append(1000 * retrained(X[:size], y[:size]))
        times = [1000 * statistics.median(spent) for spent in (predicting, learning)]
        ours.append(sum(times))
        anew = f"{theirs[-1]:,.0f}" if size <= known else ""
        lines.append([f"{size:,}", *(f"{t:.3f}" for t in times), f"{ours[-1]:.3f}", anew])
    draw(sizes, {"seqpa: predict and learn one": ours, "python-crfsuite: train anew": theirs})
    head = ["sentences so far", "predict, ms", "learn, ms", "both", "python-crfsuite anew, ms"]
    length = np.mean([len(tokens) for tokens in X[known:]])
    fitted = new_tagger(epochs=1).fit(X[:1000], y[:1000])
    calls = [
        f"{1e6 * empty_call(one):.0f} µs ({name})"
        for name, one in (("fitted", fitted), ("while it learns", tagger))
    ]
    return (
        table(head, lines)
        + f"\n\nMedians over {tested} sentences of {length:.0f} tokens. A call of `predict_one` "
        f"with no token takes {' and '.join(calls)}.\n\n"
        f"![Time for one sentence more as the model grows]({PICTURE.name})"
    )


def empty_call(tagger: SequenceTagger) -> float:
    """Seconds of a prediction that has nothing to predict."""
    calls = 2000
    times = []
    for _ in range(5):
        begun = clock()
        for _ in range(calls):
            tagger.predict_one([])
        times.append((clock() - begun) / calls)
    return min(times)


def draw(sizes: list[int], found: dict[str, list[float]]) -> None:
    """What one sentence more takes, against the sentences so far."""
    figure, panels = figures.panels(1, 1, width=5.5, height=3.8)
    axes = panels[0, 0]
    for place, (name, times) in enumerate(found.items()):
        figures.curve(axes, sizes[: len(times)], times, name, place)
    axes.set_xlabel("sentences in the model")
    axes.set_ylabel("ms for one sentence more")
    for axis in "xy":
        figures.logarithmic(axes, axis)
    figures.legend(axes)
    PICTURE.write_bytes(figures.render(figure, "png"))


def retrained(X: list[Any], y: list[Any]) -> float:
    """Seconds of python-crfsuite's passive-aggressive trainer, ten epochs, features included."""
    import pycrfsuite

    begun = clock()
    trainer = pycrfsuite.Trainer(algorithm="passive-aggressive", verbose=False)
    trainer.set_params({"max_iterations": 10})
    for tokens, labels in zip(X, y, strict=True):
        trainer.append(peers.chunking(tokens), labels)
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
    return clock() - begun


def missing_labels(quick: bool) -> str:
    """30 % of the tokens labelled, against 30 % of the sentences, and other shares."""
    train, test = corpus("train"), corpus("test")
    if train is None or test is None:
        return NO_DATA
    X, y = (train.X[::10], train.y[::10]) if quick else (train.X, train.y)
    lines = []
    for share in (0.1, 0.3, 1.0):
        tokens, sentences = [], []
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            hidden = [[own if rng.random() < share else None for own in labels] for labels in y]
            chosen = np.flatnonzero(rng.random(len(X)) < share)
            some = [X[i] for i in chosen], [y[i] for i in chosen]
            for found, data in ((tokens, (X, hidden)), (sentences, some)):
                tagger = new_tagger(random_state=seed).fit(*data)
                found.append(score(test.y, tagger.predict(test)))
        lines.append([f"{100 * share:.0f} %", told(tokens), told(sentences)])
    head = ["labels given", "of all tokens, F1", "in whole sentences, F1"]
    return table(head, lines) + f"\n\nTen epochs, PA-I, mean ± sd of {len(SEEDS)} seeds."


def late_labels(quick: bool) -> str:
    """Half of the labels are given in the first half of the sentences, the others in the second."""
    news = Path(__file__).parents[1] / "corpora" / "news"
    train, test = (
        read(news / f"{part}.conll", columns=["word", "label", "_"]) for part in ("train", "test")
    )
    X, y = (train.X[::5], train.y[::5]) if quick else (train.X, train.y)
    half = len(X) // 2
    # By how frequent they are, every second one: both halves have frequent and rare labels.
    ranked = [label for label, _ in Counter(label for own in y for label in own).most_common()]
    early = set(ranked[::2])
    lines = []
    for replay in (0, 1, 5):
        scores = []
        for seed in SEEDS:
            tagger = SequenceTagger("pos", average=False, random_state=seed)
            of_seed = []
            for given, part in ((early, slice(half)), (set(ranked) - early, slice(half, None))):
                for tokens, labels in zip(X[part], y[part], strict=True):
                    own = [label if label in given else None for label in labels]
                    if any(own):
                        tagger.learn_one(tokens, own, replay=replay)
                of_seed.append(right_among(test, tagger, early))
            of_seed += [
                right_among(test, tagger, those) for those in (set(ranked) - early, set(ranked))
            ]
            scores.append(of_seed)
        lines.append([str(replay), *(told(list(column)) for column in zip(*scores, strict=True))])
    head = ["replay", "early labels after half, %", "at the end", "late labels, %", "all, %"]
    return table(head, lines) + (
        f"\n\nOne pass, one sentence at a time, the last weights, parts of speech of corpora/news; "
        f"accuracy on the test tokens with early or late labels, mean ± sd of {len(SEEDS)} seeds."
    )


def right_among(test: Any, tagger: SequenceTagger, labels: set[str]) -> float:
    """The accuracy in % on tokens of these labels."""
    predicted = [label for own in tagger.predict(test) for label in own]
    pairs = [(g, p) for g, p in zip(test.labels, predicted, strict=True) if g in labels]
    return 100 * sum(g == p for g, p in pairs) / len(pairs)


def updates(quick: bool) -> str:
    """What each update takes and brings."""
    train, test = corpus("train"), corpus("test")
    if train is None or test is None:
        return NO_DATA
    train = train[::10] if quick else train
    lines = []
    first = 0.0
    for update in ("prediction-based", "loss-augmented", "max-loss", "n-best"):
        scores, seconds = [], []
        for seed in SEEDS[: 1 if update == "n-best" else None]:
            tagger = new_tagger(random_state=seed, update=update, n_best=5)
            seconds += [epoch.seconds for epoch in tagger.training(train)]
            scores.append(score(test.y, tagger.predict(test)))
        took = statistics.median(seconds)
        first = first or took
        lines.append([update, f"{took:.3f}", f"{took / first:.1f}", told(scores)])
    return table(["update", "an epoch, s", "×", "F1"], lines)


def told(scores: list[float]) -> str:
    spread = f" ± {statistics.stdev(scores):.2f}" if len(scores) > 1 else ""
    return f"{statistics.mean(scores):.2f}{spread}"
