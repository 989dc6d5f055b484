"""The work of `active`: learners that ask for labels, and as many labels drawn at random."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa.experiments.corpora import Tagged, load_tagged
from seqpa.experiments.data import Floats, load
from seqpa.sequence.training import dev_score

_MOST_TESTED = 4000  # examples of a set that test
_GIVEN = 10  # labels that come unasked at the beginning of a stream
# Tokens that are labelled before the next round of asking; the first are drawn at random.
_FIRST_TOKENS, _GROWTH = 500, 1.6
_C = 0.02
_EPOCHS = 5
_BY_SCORES = ("margin", "random")  # the strategies that need no probabilities
_FOLDS = 2  # of what is labelled, to calibrate the probabilities of the others


class VectorTask(NamedTuple):
    """One learner on one order of a set: by which rule it asks, and with which δ, or scale of P."""

    name: str
    folder: Path | None
    rule: str
    setting: float
    seed: int
    stream: int


class VectorResult(NamedTuple):
    """How many labels were asked for, and the test errors: so, at random, and with all labels."""

    labels: int
    stream: int
    error: float
    random_error: float
    full_error: float


def ask_vectors(task: VectorTask) -> VectorResult:
    """Meet a stream, learn from the examples asked for; and from as many drawn at random.

    Parameters
    ----------
    task : VectorTask
        What to do.

    Returns
    -------
    VectorResult
        What came of it.
    """
    X, y, X_test, y_test = _divided(task)
    classes = np.unique(y)
    asked = _GIVEN
    asking = _learner(task).partial_fit(X[:asked], y[:asked], classes)
    for i in range(_GIVEN, len(X)):
        row = X[i : i + 1]
        if _asks(asking, row, task):
            asking.partial_fit(row, y[i : i + 1])
            asked += 1
    # Another generator than that of the order: which are drawn has nothing to do with it.
    drawn = np.random.default_rng([task.seed, 1]).choice(len(X), asked, replace=False)
    drawn.sort()
    rivals = [
        _learner(task).partial_fit(X[some], y[some], classes) for some in (drawn, slice(None))
    ]
    errors = [1.0 - float(model.score(X_test, y_test)) for model in (asking, *rivals)]
    return VectorResult(asked, len(X), *errors)


def _divided(task: VectorTask) -> tuple[Floats, NDArray[np.intp], Floats, NDArray[np.intp]]:
    """A stream and the examples that test, in a random order; features of one scale, ‖x‖ near 1."""
    X, y = load(task.name, task.folder).all
    order = np.random.default_rng(task.seed).permutation(len(X))
    spread = np.maximum(X.std(axis=0), 1e-9) * np.sqrt(X.shape[1])
    X, y = ((X - X.mean(axis=0)) / spread)[order], y[order]
    n = min(task.stream, 2 * len(X) // 3)
    end = n + _MOST_TESTED
    return X[:n], y[:n], X[n:end], y[n:end]


def _learner(task: VectorTask) -> Any:
    from seqpa import EllipsoidClassifier, PAClassifier

    shared: dict[str, Any] = {"fit_intercept": True, "average": True, "random_state": task.seed}
    if task.rule == "disagreement":
        return EllipsoidClassifier(scale=task.setting, **shared)
    return PAClassifier(C=0.1, **shared)


def _asks(model: Any, row: Floats, task: VectorTask) -> bool:
    if task.rule == "disagreement":
        return bool(model.query(row, rule="disagreement")[0])
    return bool(model.query(row, task.setting)[0])


class TaggerTask(NamedTuple):
    """One strategy on one corpus; the seed draws the pool and the first sentences."""

    corpus: str
    folder: Path | None
    strategy: str
    seed: int
    pool: int


class Labelled(NamedTuple):
    """How good a tagger is after so many tokens were labelled, in so many sentences."""

    tokens: int
    sentences: int
    score: float


def ask_tagger(task: TaggerTask) -> list[Labelled]:
    """Label the sentences that a strategy asks for, in rounds, and train anew after each.

    The first sentences are the same for every strategy; the last round has labelled the whole pool.

    Parameters
    ----------
    task : TaggerTask
        What to do.

    Returns
    -------
    list of Labelled
        One for each round.
    """
    corpus = load_tagged(task.corpus, task.folder)
    X, y = corpus.train.X, corpus.train.y
    rng = np.random.default_rng(task.seed)
    pool = rng.permutation(len(X))[: task.pool].tolist()
    lengths = np.array([len(X[i]) for i in pool])
    total = int(lengths.sum())
    labelled = _as_many(range(len(pool)), lengths, _FIRST_TOKENS)
    found = []
    target = float(_FIRST_TOKENS)
    while True:
        sentences = [pool[i] for i in labelled]
        tagger = _tagger(corpus, task.seed).fit(
            [X[i] for i in sentences], [y[i] for i in sentences]
        )
        tokens = int(lengths[labelled].sum())
        found.append(
            Labelled(
                tokens, len(labelled), dev_score(corpus.test.y, tagger.predict(corpus.test.X), "F1")
            )
        )
        if len(labelled) == len(pool):
            return found
        target *= _GROWTH
        known = set(labelled)
        rest = [i for i in range(len(pool)) if i not in known]
        if target * _GROWTH > total:  # what is left would be a small round
            labelled += rest
            continue
        if task.strategy not in _BY_SCORES:
            tagger.calibrate([X[i] for i in sentences], [y[i] for i in sentences], folds=_FOLDS)
        ranked = tagger.select(
            [X[pool[i]] for i in rest], len(rest), task.strategy, random_state=task.seed
        )
        labelled += _as_many([rest[i] for i in ranked], lengths, target - tokens)


def _as_many(ranked: Any, lengths: NDArray[np.int64], tokens: float) -> list[int]:
    """The first sentences, until they have so many tokens."""
    chosen: list[int] = []
    count = 0
    for i in ranked:
        if count >= tokens:
            break
        chosen.append(i)
        count += int(lengths[i])
    return chosen


def _tagger(corpus: Tagged, seed: int) -> Any:
    from seqpa import SequenceTagger

    return SequenceTagger(
        features=corpus.templates,
        columns=corpus.columns,
        C=_C,
        update="prediction-based",
        epochs=_EPOCHS,
        random_state=seed,
    )
