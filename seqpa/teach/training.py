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
from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from seqpa.config import Config
from seqpa.data import Corpus
from seqpa.data.teach_project import load, read_project
from seqpa.errors import SeqpaError
from seqpa.model import read_model
from seqpa.training_run import TrainingRun, tagger_of

EPOCHS = 15
_HELD_OUT = 10  # one of so many sentences
_LEAST = 30  # wholly labelled sentences for which a score means something

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
        Whether a file may be replaced that is no model of this project.

    Yields
    ------
    dict
        After each epoch: epoch, epochs, score and metric, where something could be held out. The
        last one has the state "done", the model's path, and a message where there is no score.
    """
    if not force and not _is_ours(project, model):  # before anything that takes long
        raise SeqpaError(
            f"{model}: is there, and was not trained on {project.name}; name another file, or say "
            "--force to replace it"
        )
    kind, _ = load(project)
    corpus = read_project(project)
    score, metric, best = None, None, EPOCHS
    done = 0
    whole = _whole(corpus)
    if len(whole) >= _LEAST:
        train, held_out = _split(corpus, whole[_HELD_OUT // 2 :: _HELD_OUT])
        tagger = tagger_of(_config(project, model, kind, EPOCHS), corpus.names)
        for epoch in tagger.training(train, dev=held_out):
            done = epoch.number
            if epoch.best:
                score, metric, best = epoch.dev_score, epoch.dev_metric, epoch.number
            yield _told(done, 2 * EPOCHS, score, metric)
    run = TrainingRun(_config(project, model, kind, best), force=True)
    try:
        for epoch in run.epochs():
            yield _told(done + epoch.number, done + best, score, metric)
        outcome = run.finish()
    finally:
        run.close()
    last = _told(done + outcome.epochs, done + best, score, metric)
    message = None if score is not None else _why_no_score(len(whole))
    yield {**last, "state": "done", "model": str(outcome.model), "message": message}


def _why_no_score(n_whole: int) -> str:
    return (
        f"no score: {n_whole} {'sentence is' if n_whole == 1 else 'sentences are'} labelled whole; "
        f"from {_LEAST} on a tenth is held out for it"
    )


def _is_ours(project: Path, model: Path) -> bool:
    """Whether a model file is not there, or was trained on this project, and may be replaced."""
    if not model.exists():
        return True
    try:
        config = read_model(model).config
    except SeqpaError:
        return False
    data = (config or {}).get("data")
    return isinstance(data, dict) and data.get("train") == str(project.absolute())


def own_model(project: Path, model: Path) -> Path:
    """Where a model of a project can be written without replacing anybody else's.

    Parameters
    ----------
    project, model : Path

    Returns
    -------
    Path
        The model, or, where something else is there, the first such name that is free.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "names.safetensors").write_text("a model that was gone on from")
    >>> own_model(folder / "names.seqpa", folder / "names.safetensors").name
    'names-taught.safetensors'
    """
    more = (f"{model.stem}-taught-{n}" for n in count(2))
    names = chain([model.stem, f"{model.stem}-taught"], more)
    paths = (model.with_name(name + model.suffix) for name in names)
    return next(path for path in paths if _is_ours(project, path))


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


def _whole(corpus: Corpus) -> list[int]:
    """The sentences whose labels are all known."""
    labels = corpus.split(corpus.labels or [])
    return [i for i, own in enumerate(labels) if None not in own]


def _split(corpus: Corpus, out: Sequence[int]) -> tuple[Corpus, Corpus]:
    """Training text, and some sentences that are held out of it."""
    words = corpus.split(corpus.columns[0])
    labels = corpus.split(corpus.labels or [])
    kept = sorted(set(range(len(words))) - set(out))
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
        The model file; each training replaces it, or writes beside it where another one is there.
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
                    if process is self._process:
                        self._told = told
        process.wait()
        with self._lock:
            if process is not self._process:
                return  # it had told its end, and the next one has begun meanwhile
            self._seconds = time.monotonic() - self._began
            if self._told["state"] == "running":
                self._told = {"state": "failed", "message": "the training was ended"}


def main() -> None:
    """Train, and tell it in lines of JSON."""
    project, model = map(Path, sys.argv[1:3])
    try:
        for state in full_training(project, own_model(project, model)):
            print(json.dumps(state), flush=True)
    except SeqpaError as error:
        print(json.dumps({"state": "failed", "message": str(error)}), flush=True)


if __name__ == "__main__":
    main()
