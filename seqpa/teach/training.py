"""Full training on what is labelled: an ordinary model, and a score on what was held out.

The tagger that is taught has met every sentence a few times, in the order in which they came. A
full training goes over all of them again and again. A tenth is held out first, to see how many
epochs are good and what the score is; then all of it is learned, for so many epochs.

>>> # python -m seqpa.teach.training names.seqpa names.safetensors    (what the page's button runs)
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seqpa.config import Config
from seqpa.data import Corpus
from seqpa.data.teach_project import load, read_project
from seqpa.errors import SeqpaError
from seqpa.training_run import TrainingRun, tagger_of

EPOCHS = 15
_HELD_OUT = 10  # one of so many sentences
_LEAST = 30  # labelled sentences for which a score means something

State = dict[str, Any]


def full_training(project: Path, model: Path, force: bool = False) -> Iterator[State]:
    """Train on a project file.

    Parameters
    ----------
    project : Path
        It is only read; `seqpa teach` may have it open.
    model : Path
        The model file to write.
    force : bool
        Whether another model may be replaced.

    Yields
    ------
    dict
        After each epoch: epoch, epochs, score and metric, where something could be held out. The
        last one has the state "done" and the model's path.
    """
    kind, _ = load(project)
    corpus = read_project(project)
    score, metric, best = None, None, EPOCHS
    done = 0
    if len(corpus) >= _LEAST:
        train, held_out = _split(corpus)
        tagger = tagger_of(_config(project, model, kind, EPOCHS), corpus.names)
        for epoch in tagger.training(train, dev=held_out):
            done = epoch.number
            if epoch.best:
                score, metric, best = epoch.dev_score, epoch.dev_metric, epoch.number
            yield _told(done, 2 * EPOCHS, score, metric)
    run = TrainingRun(_config(project, model, kind, best), force=force)
    try:
        for epoch in run.epochs():
            yield _told(done + epoch.number, done + best, score, metric)
        outcome = run.finish()
    finally:
        run.close()
    last = _told(done + outcome.epochs, done + best, score, metric)
    yield {**last, "state": "done", "model": str(outcome.model)}


def _told(epoch: int, epochs: int, score: float | None, metric: str | None) -> State:
    return {
        "state": "running", "epoch": epoch, "epochs": epochs, "score": score, "metric": metric,
    }  # fmt: skip


def _config(project: Path, model: Path, kind: str, epochs: int) -> Config:
    return Config.model_validate(
        {
            "data": {"format": "teach", "train": str(project.absolute())},
            "features": {"preset": "ner" if kind == "spans" else "pos"},
            "learner": {"epochs": epochs},
            "decoding": {"constraints": "bio"} if kind == "spans" else {},
            "output": {"model": str(model.absolute())},
        }
    )


def _split(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """Training text and what is held out of it, every tenth sentence."""
    words = corpus.split(corpus.columns[0])
    labels = corpus.split(corpus.labels or [])
    out = range(_HELD_OUT // 2, len(words), _HELD_OUT)
    kept = [i for i in range(len(words)) if i not in out]
    return (
        Corpus.from_sentences([words[i] for i in kept], [labels[i] for i in kept]),
        Corpus.from_sentences([words[i] for i in out], [labels[i] for i in out]),
    )


class Training:
    """Full trainings in the background, in a process of their own, one at a time.

    Parameters
    ----------
    project : Path
    model : Path
        The model file; it is replaced by each training.
    """

    def __init__(self, project: Path, model: Path) -> None:
        self._project = project
        self._model = model
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._request = ""
        self._began = 0.0
        self._seconds = 0.0
        self._told: State = {"state": "idle"}

    def start(self, request: str) -> State:
        """Begin, unless one is running, or this request has begun one.

        Parameters
        ----------
        request : str

        Returns
        -------
        dict
            As `state` gives it.
        """
        with self._lock:
            if self._told["state"] != "running" and request != self._request:
                self._request = request
                module = [sys.executable, "-m", "seqpa.teach.training"]
                self._process = subprocess.Popen(
                    [*module, str(self._project), str(self._model)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    encoding="utf-8",
                )
                self._began = time.monotonic()
                self._told = {"state": "running"}
                threading.Thread(
                    target=self._listen, args=(self._process,), name="seqpa-train", daemon=True
                ).start()
        return self.state()

    def state(self) -> State:
        """How far it is.

        Returns
        -------
        dict
        """
        with self._lock:
            if self._told["state"] == "running":
                self._seconds = time.monotonic() - self._began
            empty = dict.fromkeys(("epoch", "epochs", "score", "metric", "model", "message"))
            return {**empty, "seconds": round(self._seconds, 1), **self._told}

    def close(self) -> None:
        """End what is running; a model that was there stays."""
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            process.wait()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                told = json.loads(line)
                with self._lock:
                    self._told = told
        process.wait()
        with self._lock:
            self._seconds = time.monotonic() - self._began
            if self._told["state"] == "running":
                self._told = {"state": "failed", "message": "the training was ended"}


def main() -> None:
    """Train, and tell it in lines of JSON."""
    project, model = map(Path, sys.argv[1:3])
    try:
        for state in full_training(project, model, force=True):
            print(json.dumps(state), flush=True)
    except SeqpaError as error:
        print(json.dumps({"state": "failed", "message": str(error)}), flush=True)


if __name__ == "__main__":
    main()
