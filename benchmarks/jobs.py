"""What the sequence benchmarks measure, each run in a process of its own.

`run` starts a process that does one job and answers in JSON; `obey` is the other end. So the peak
memory is that run's alone; this file and `peers.py` import nothing heavy outside the jobs.
"""

from __future__ import annotations

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import process_time as clock  # what else the machine does is not counted
from typing import Any

import peers

EPOCHS = 10
THEIR_EPOCHS = 100  # the default of CRFsuite's online trainers
MOST_EPOCHS = 40  # given up after so many when L-BFGS's score is to be reached
SEEDS = (1, 2, 3)
GRID = (0.01, 0.03, 0.1, 0.3, 1.0)
C = 0.02
UPDATE, COST = "prediction-based", "hamming"  # as CRFsuite's `pa`
N_BEST = 5  # candidates of the update "n-best"
TUNED = {"c1": 0.1, "c2": 0.1, "max_iterations": 100}
# CRFsuite's five trainers with their own defaults; l2sgd's thousand epochs are cut to a hundred.
TRAINERS: dict[str, tuple[str, dict[str, Any]]] = {
    "lbfgs": ("lbfgs", {}),
    "lbfgs c1=c2=0.1": ("lbfgs", TUNED),
    "l2sgd": ("l2sgd", {"max_iterations": 100}),
    "ap": ("ap", {}),
    "pa": ("pa", {}),
    "arow": ("arow", {}),
}


@dataclass(frozen=True)
class Task:
    """One corpus: its files, how to read and see it, and what DESIGN asks for on it."""

    title: str
    train: str
    test: str
    columns: tuple[str, ...]
    features: str
    preset: str = ""
    epoch_goal: float = 5.0
    memory_goal: float = 0.5
    score_goal: float = 0.0
    preset_bar: float | None = None
    many_labels: bool = False

    def read(self, path: Path, share: int = 1) -> Any:
        """The corpus in a file, or every so-many-th sentence of it."""
        from seqpa.data import read

        if path.suffix == ".conllu":
            corpus = read(path, format="conllu", label="upos+feats")
        else:
            corpus = read(path, columns=[*self.columns, "label"])
        return corpus if share == 1 else corpus[::share]


TASKS = {
    "conll2000": Task(
        "CoNLL-2000, chunks, CRFsuite's tutorial",
        "conll2000/train.txt",
        "conll2000/test.txt",
        ("word", "pos"),
        "chunking",
        "chunk",
        preset_bar=93.73,
    ),
    "ptb": Task(
        "treebank sample, part of speech",
        "ptb-sample/train.txt",
        "ptb-sample/test.txt",
        ("word",),
        "words",
        "pos",
        score_goal=0.2,
        preset_bar=96.40,
    ),
    "wnut17": Task(
        "WNUT-17, names",
        "wnut17/train.txt",
        "wnut17/test.txt",
        ("word",),
        "names",
        "ner",
        score_goal=0.2,
    ),
    "gsd": Task(
        "German GSD, morphology",
        "ud-de-gsd/train.conllu",
        "ud-de-gsd/test.conllu",
        ("word",),
        "words",
        "pos",
        epoch_goal=15.0,
        memory_goal=1.0,
        many_labels=True,
    ),
    "sklearn-crfsuite": Task(
        "CoNLL-2000, chunks, sklearn-crfsuite's tutorial",
        "conll2000/train.txt",
        "conll2000/test.txt",
        ("word", "pos"),
        "tutorial",
    ),
}


# What runs in a process of its own. `share`: train on every so-many-th sentence.


def peak_memory() -> float:
    """The largest this process has been, in MB.

    Linux counts in ru_maxrss what the parent had when it started this process; VmHWM does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"VmHWM:\s+(\d+)", status.read_text())[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def score(gold: list[list[str]], predicted: list[list[str]]) -> float:
    """Span F1 where labels mark spans, else accuracy, in percent; one judge for both sides."""
    from seqpa.evaluate import evaluate

    result = evaluate(gold, predicted)
    return 100 * (result.accuracy if result.span_micro is None else result.span_micro.f1)


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    begun = clock()
    result = action()
    return clock() - begun, result


def speed(n_tokens: int, action: Callable[[Any], Any], given: Callable[[], Any]) -> float:
    """Tokens tagged in a second: the median of as many times as take a second, or once.

    So both sides are measured for as long, and what disturbs them is shared out evenly. What the
    action is given is made anew each time, and not timed.
    """
    seconds: list[float] = []
    while sum(seconds) < 1.0:
        text = given()
        seconds.append(timed(lambda text=text: action(text))[0])
    return n_tokens / statistics.median(seconds)


def job_empty(module: str) -> dict[str, Any]:
    """The memory of a process that imports something and does nothing."""
    __import__(module)
    return {"memory": peak_memory()}


def job_count(task: Task, data: Path) -> dict[str, Any]:
    """Distinct features and features in all, counted on both sides."""
    from seqpa.sequence.encode import FeatureEncoder

    corpus = task.read(data / task.train)
    encoder = FeatureEncoder(peers.FEATURES[task.features][0], task.columns)
    encoded = encoder.fit_transform(corpus.columns, corpus.lengths)
    return {
        "ours": [encoder.n_features, len(encoded.features)],
        "theirs": peers.count_features(data / task.train, task.features),
        "labels": len(set(corpus.labels or ())),
        "tokens": corpus.n_tokens,
    }


def new_tagger(task: Task, features: Any, epochs: int, seed: int, c: float = C, **more: Any) -> Any:
    from seqpa import SequenceTagger

    given = {"C": c, "update": UPDATE, "cost": COST, "epochs": epochs, "random_state": seed}
    return SequenceTagger(features, task.columns, **given | more)


def encoding_seconds(task: Task, corpus: Any) -> float:
    """What `fit` spends before the first epoch."""
    from seqpa.sequence.encode import FeatureEncoder

    encoder = FeatureEncoder(peers.FEATURES[task.features][0], task.columns)
    return timed(lambda: encoder.fit_transform(corpus.columns, corpus.lengths))[0]


def job_ours(task: Task, data: Path, share: int, epochs: int, seed: int) -> dict[str, Any]:
    """File to model file to tagged test set; then tagging again and again."""

    import seqpa.data
    import seqpa.model  # noqa: F401  (imports are no part of the times)
    from seqpa import SequenceTagger

    templates = peers.FEATURES[task.features][0]
    imports = peak_memory()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.safetensors"
        begun = clock()
        corpora = [task.read(data / task.train, share)]
        tagger = new_tagger(task, templates, epochs, seed)
        # Taken out of the list, the corpus is the tagger's alone, which encodes it and lets it go.
        fitting = timed(lambda: tagger.fit(corpora.pop()))[0]
        memory = peak_memory()
        tagger.save(model)
        tagger = SequenceTagger.load(model)
        test = task.read(data / task.test)
        predicted = tagger.predict(test)
        total = clock() - begun
        size = model.stat().st_size / 1e6
    X, n = test.X, test.n_tokens
    alone = [[sentence] for sentence in X]
    return {
        "total": total,
        "epoch": (fitting - encoding_seconds(task, task.read(data / task.train, share))) / epochs,
        "memory": memory,
        "imports": imports,
        "tagging": speed(n, tagger.predict, lambda: X),
        "tagging_new": speed(n, tagger.predict, lambda: new_strings(X)),
        "tagging_one": speed(n, lambda one: [tagger.predict(own) for own in one], lambda: alone),
        "tagging_file": speed(
            n, lambda file: tagger.predict(task.read(file)), lambda: data / task.test
        ),
        "score": score(test.y, predicted),
        "model": size,
    }


def new_strings(X: list[list[Any]]) -> list[list[Any]]:
    """The same tokens, each string an object that nobody has seen, as in a text just split."""

    def copied(token: Any) -> Any:
        return "".join(list(token)) if isinstance(token, str) else tuple(map(copied, token))

    return [[copied(token) for token in sentence] for sentence in X]


def job_theirs(
    task: Task, data: Path, share: int, algorithm: str, parameters: dict[str, Any]
) -> dict[str, Any]:
    """The same with python-crfsuite."""
    import pycrfsuite  # noqa: F401

    imports = peak_memory()
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.crfsuite"
        begun = clock()
        parts = peers.train(data / task.train, task.features, algorithm, parameters, model, share)
        memory = peak_memory()
        test = list(peers.sentences(data / task.test))
        X = [tokens for tokens, _ in test]
        predicted = peers.tag(model, task.features, X)
        total = clock() - begun
        size = model.stat().st_size / 1e6
        n = sum(map(len, X))

        def tag(text: Any, as_taught: bool = False) -> Any:
            return peers.tag(model, task.features, text, as_taught)

        speeds = {
            "tagging": speed(n, tag, lambda: X),
            "tagging_new": speed(n, tag, lambda: new_strings(X)),
            "tagging_file": speed(
                n,
                lambda file: peers.tag_file(model, task.features, file),
                lambda: data / task.test,
            ),
        }
        if task.features in peers.AS_TAUGHT:
            if tag(X, True) != predicted:
                raise SystemExit(f"{task.title}: the tutorial's features are others")
            speeds["tagging_taught"] = speed(n, lambda text: tag(text, True), lambda: X)
    return speeds | {
        "total": total,
        "to_model": parts["features"] + parts["train"],
        "epoch": statistics.mean(parts["epochs"]),
        "iterations": len(parts["epochs"]),
        "memory": memory,
        "imports": imports,
        "score": score([labels for _, labels in test], predicted),
        "model": size,
    }


def job_held(task: Task, data: Path, share: int) -> dict[str, Any]:
    """python-crfsuite's memory when the features of all sentences are made first."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.crfsuite"
        parameters = {"max_iterations": 1}
        peers.train(data / task.train, task.features, "pa", parameters, model, share, hold=True)
    return {"memory": peak_memory()}


def job_given(
    task: Task, data: Path, share: int, ours: bool, dicts: bool, epochs: int
) -> dict[str, Any]:
    """Training and tagging with the same features on either side, made beforehand and not timed."""
    X, y = peers.features_of(data / task.train, task.features, dicts, share)
    text, gold = peers.features_of(data / task.test, task.features, dicts)
    tag: Callable[[Any], Any]
    if ours:
        from seqpa import SequenceTagger

        given = {"C": C, "update": UPDATE, "cost": COST, "epochs": epochs}
        tagger = SequenceTagger(None, random_state=1, **given)
        training = timed(lambda: tagger.fit(X, y))[0]
        tag = tagger.predict
    else:
        import pycrfsuite

        trainer = pycrfsuite.Trainer("pa", {"max_iterations": epochs}, verbose=False)
        theirs = pycrfsuite.Tagger()

        def train(model: str) -> None:
            for example in zip(X, y, strict=True):
                trainer.append(*example)
            trainer.train(model)

        with tempfile.TemporaryDirectory() as folder:
            model = f"{folder}/model.crfsuite"
            training = timed(lambda: train(model))[0]
            theirs.open(model)

        def tag(text: Any) -> Any:
            return [theirs.tag(sentence) for sentence in text]

    return {
        "total": training,
        "tagging": speed(sum(map(len, text)), tag, lambda: text),
        "score": score(gold, tag(text)),
    }


def job_curve(task: Task, data: Path, share: int, seed: int, goal: float) -> dict[str, Any]:
    """Epochs until the test score reaches the goal, and the seconds from the file to there."""
    import seqpa.data
    import seqpa.sequence.tagger  # noqa: F401  (imports are no part of the times)

    test = task.read(data / task.test)
    begun = clock()
    corpus = task.read(data / task.train, share)
    tagger = new_tagger(task, peers.FEATURES[task.features][0], MOST_EPOCHS, seed)
    seconds = 0.0
    scores = []
    for epoch in tagger.training(corpus):
        tagger.predict(test[:1])  # makes the averaged weights, which belong to training
        seconds += clock() - begun
        scores.append(score(test.y, tagger.predict(test)))
        if scores[-1] >= goal:
            return {"seconds": seconds, "epochs": epoch.number, "reached": True}
        begun = clock()
    return {"seconds": seconds, "epochs": MOST_EPOCHS, "reached": False, "best": max(scores)}


def job_held_out(task: Task, data: Path, share: int, c: float, epochs: int) -> dict[str, Any]:
    """The score on the last tenth of the training sentences, learned from the rest."""
    corpus = task.read(data / task.train, share)
    cut = len(corpus) * 9 // 10
    rest = corpus[cut:]
    templates = peers.FEATURES[task.features][0]
    seeds = SEEDS[:1] if task.many_labels else SEEDS
    taggers = [new_tagger(task, templates, epochs, seed, c).fit(corpus[:cut]) for seed in seeds]
    return {"score": statistics.mean(score(rest.y, tagger.predict(rest)) for tagger in taggers)}


def job_score(
    task: Task,
    data: Path,
    share: int,
    preset: bool,
    epochs: int,
    seed: int,
    update: str = "prediction-based",
) -> dict[str, Any]:
    """The score with the same features as theirs, or with the task's preset."""
    features = task.preset if preset else peers.FEATURES[task.features][0]
    corpus, test = task.read(data / task.train, share), task.read(data / task.test)
    tagger = new_tagger(task, features, epochs, seed, update=update, n_best=N_BEST)
    seconds, tagger = timed(lambda: tagger.fit(corpus))
    return {"score": score(test.y, tagger.predict(test)), "seconds": seconds}


def epoch_seconds(tagger: Any, corpus: Any) -> list[float]:
    """The seconds of each epoch after the first, before which the corpus is encoded."""
    ends = [clock() for _ in tagger.training(corpus)]
    return [end - begin for begin, end in pairwise(ends)]


def job_epochs(task: Task, data: Path, share: int, epochs: int) -> dict[str, Any]:
    """Epochs alone, to be profiled, with what they read and write, and the memory's speed."""
    import numpy as np

    corpus = task.read(data / task.train, share)
    tagger = new_tagger(task, peers.FEATURES[task.features][0], epochs, SEEDS[0])
    seconds = epoch_seconds(tagger, corpus)
    state = tagger.training_state_
    features = state.source.transform(corpus).features
    rows = state.weights.to_arrays()["rows"][features]
    width = -(-len(state.labels) // 8) * 8
    # A dense row is read once over its weights; a sparse one has four numbers for each label.
    read = np.where(rows[:, 1] < 0, 4 * width, 16 * rows[:, 1])
    lines = 64 * (1 + -(-read // 64))
    block = np.ones(2**25, np.float32)
    other = np.zeros_like(block)
    copies = [timed(lambda: np.copyto(other, block))[0] for _ in range(7)]
    return {
        "epoch": statistics.median(seconds),
        "lookups": len(features),
        "bytes": int(4 * len(features) + 8 * len(features) + read.sum()),
        "line_bytes": int(4 * len(features) + lines.sum()),
        "store": sum(a.nbytes for a in state.weights.to_arrays().values()) / 1e6,
        "bandwidth": 2 * block.nbytes / min(copies),
    }


def job_scaling(data: Path, features: list[str], epochs: int) -> dict[str, Any]:
    """Epochs on a grown corpus with the columns word, pos and label."""
    from seqpa import SequenceTagger
    from seqpa.data import read

    corpus = read(data, columns=["word", "_", "label"])
    given = {"C": C, "update": UPDATE, "cost": COST, "epochs": epochs}
    tagger = SequenceTagger(features, random_state=SEEDS[0], **given)
    seconds = epoch_seconds(tagger, corpus)
    return {
        "tokens": corpus.n_tokens,
        "labels": len(set(corpus.labels or ())),
        "epoch": statistics.median(seconds),
        "memory": peak_memory(),
    }


JOBS = {
    name.removeprefix("job_"): function
    for name, function in list(globals().items())
    if name.startswith("job_")
}


def run(job: str, *, under: tuple[str, ...] = (), **arguments: Any) -> dict[str, Any]:
    """Run one job in a process of its own (under a profiler's command) and take its answer."""
    order = json.dumps({"job": job, **arguments}, default=str)
    command = [*under, sys.executable, __file__, order]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"  {order} {answer}", file=sys.stderr, flush=True)
    return answer


def obey(order: str) -> None:
    """The other end of `run`."""
    arguments = json.loads(order)
    job = arguments.pop("job")
    if "task" in arguments:
        arguments["task"] = TASKS[arguments["task"]]
    if "data" in arguments:
        arguments["data"] = Path(arguments["data"])
    print(json.dumps(JOBS[job](**arguments)))


if __name__ == "__main__":
    obey(sys.argv[1])
