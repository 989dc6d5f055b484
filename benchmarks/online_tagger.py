"""Taggers, one sentence at a time: time against the size of the model, missing labels, updates.

Parts of `online.py`, each a function of `quick` that returns its Markdown; CoNLL-2000 is found
through SEQPA_DATA. Ours has the templates of CRFsuite's own tutorial. python-crfsuite cannot
learn one sentence more, so what stands beside ours is training on all sentences so far.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path
from time import process_time as clock
from typing import Any

import numpy as np
import peers
from jobs import score
from results import table

from seqpa import SequenceTagger
from seqpa.data import read

SEEDS = (1, 2, 3)
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
        theirs = "" if size > known else f"{1000 * retrained(X[:size], y[:size]):,.0f}"
        times = [1000 * statistics.median(spent) for spent in (predicting, learning)]
        lines.append([f"{size:,}", *(f"{t:.3f}" for t in times), f"{sum(times):.3f}", theirs])
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
        f"with no token takes {' and '.join(calls)}."
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
