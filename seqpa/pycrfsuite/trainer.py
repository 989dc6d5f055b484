"""`Trainer` with python-crfsuite's methods over a `SequenceTagger`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from seqpa.errors import SeqpaError, SeqpaWarning, did_you_mean
from seqpa.model import save_model
from seqpa.pycrfsuite.items import as_items
from seqpa.pycrfsuite.log import TrainLogParser, performance
from seqpa.pycrfsuite.parameters import (
    ALIASES,
    LIKELIHOOD,
    PARAMETERS,
    TITLES,
    find,
    tagger_parameters,
)
from seqpa.sequence.learner import Epoch
from seqpa.sequence.scale import HeldOut, fit_scale
from seqpa.sequence.tagger import SequenceTagger
from seqpa.sequence.trained import Trained

# What was told in this process. Python's own memory of warnings does not do: a search of
# scikit-learn's changes the filters around every fit, which makes Python forget, and would say the
# same a hundred times.
TOLD: set[str] = set()


def warn_once(text: str) -> None:
    """Warn, unless this process has been told before.

    Parameters
    ----------
    text : str
        What to say.
    """
    if text not in TOLD:
        TOLD.add(text)
        warnings.warn(text, SeqpaWarning, stacklevel=3)


class BaseTrainer:
    """Holds sequences, and trains on them.

    Parameters
    ----------
    algorithm : str or None, default None
        As `select` takes it; None is "lbfgs".
    params : dict or None, default None
        As `set_params` takes them.
    verbose : bool, default True
        Print the log of the training.
    random_state : int, RandomState or None, default 0
        Seed of the orders of the sequences; python-crfsuite has none.

    Attributes
    ----------
    trained_ : Trained
        What the last training has learned.
    """

    verbose: bool = True
    random_state: Any = 0
    trained_: Trained
    _algorithm: str = "lbfgs"

    def __init__(
        self,
        algorithm: str | None = None,
        params: dict[str, Any] | None = None,
        verbose: bool = True,
        random_state: Any = 0,
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)
        self.verbose = verbose
        self.random_state = random_state

    # A subclass need not call __init__, as with python-crfsuite.

    @property
    def _data(self) -> list[tuple[list[Any], list[Any], int]]:
        """The sequences: items, labels, group."""
        return self.__dict__.setdefault("_sequences", [])

    @property
    def _values(self) -> dict[str, Any]:
        """The parameters of the algorithm by name."""
        if "_chosen" not in self.__dict__:
            self._chosen = {p.name: p.default for p in PARAMETERS[self._algorithm]}
        return self._chosen

    def message(self, message: str) -> None:
        """Called with every line of the log; prints it where `verbose` is True.

        Parameters
        ----------
        message : str
            The line.
        """
        if self.verbose:
            print(message, end="")

    # Sequences

    def append(self, xseq: Any, yseq: Any, group: int = 0) -> None:
        """Add a sequence to learn from.

        Parameters
        ----------
        xseq : ItemSequence or iterable
            The features of its items.
        yseq : iterable of str
            Their labels.
        group : int, default 0
            One group can be held out in `train`.
        """
        if not isinstance(group, int):
            raise TypeError(f"group is a whole number, not {group!r}")
        items, labels = as_items(xseq), [_label(label) for label in yseq]
        if len(items) != len(labels):
            raise SeqpaError(
                f"The numbers of items and labels differ: |x| = {len(items)}, |y| = {len(labels)}"
            )
        self._data.append((items, labels, group))

    def clear(self) -> None:
        """Forget all sequences."""
        self._data.clear()

    # Parameters

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Choose the algorithm; all parameters get its defaults.

        Parameters
        ----------
        algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}
            The trainer. In place of the first two PA-I is trained; see the module `parameters`.
        type : {"crf1d"}, default "crf1d"
            The graphical model, of which there is one.
        """
        name = algorithm.lower()
        name = ALIASES.get(name, name)
        if name not in PARAMETERS or type != "crf1d":
            near = did_you_mean(algorithm, [*PARAMETERS, *ALIASES]) if type == "crf1d" else ""
            raise SeqpaError(f"Bad arguments: algorithm={algorithm!r}, type={type!r}{near}")
        self._algorithm = name
        self.__dict__.pop("_chosen", None)

    def params(self) -> list[str]:
        """The names of the parameters of the chosen algorithm.

        Returns
        -------
        list of str
            The names.
        """
        return list(self._values)

    def set_params(self, params: dict[str, Any]) -> None:
        """Set parameters.

        Parameters
        ----------
        params : dict
            Name -> value.
        """
        for name, value in params.items():
            self.set(name, value)

    def get_params(self) -> dict[str, Any]:
        """All parameters.

        Returns
        -------
        dict
            Name -> value.
        """
        return dict(self._values)

    def set(self, name: str, value: Any) -> None:
        """Set one parameter.

        Parameters
        ----------
        name : str
            Its name.
        value : object
            Its value, or text that is one.
        """
        parameter = find(self._algorithm, name)
        self._values[name] = parameter.read(value)

    def get(self, name: str) -> Any:
        """The value of a parameter.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        object
            Its value.
        """
        return self._values[find(self._algorithm, name).name]

    def help(self, name: str) -> str:
        """What a parameter does.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        str
            A sentence.
        """
        return find(self._algorithm, name).help

    # Training

    def train(self, model: str, holdout: int = -1) -> None:
        """Learn from all sequences, and write the model.

        Parameters
        ----------
        model : str
            The file, in seqpa's own format; empty to write none.
        holdout : int, default -1
            The sequences of this group are not learned from: the log tells how well they are
            tagged, the epoch that is best on them is kept, and probabilities are fitted to them.
        """
        self._before_train()
        for line in self._lines(str(model), holdout):
            self.message(line)

    def _before_train(self) -> None:
        """Called when a training begins."""

    def _lines(self, model: str, holdout: int) -> Iterator[str]:
        """Train, line by line of the log."""
        learned = [(x, y) for x, y, group in self._data if group != holdout]
        held = [(x, y) for x, y, group in self._data if group == holdout and holdout >= 0]
        if holdout >= 0:
            yield f"Holdout group: {holdout + 1}\n"
            yield "\n"
        yield "Feature generation\n"
        yield "type: CRF1d\n"
        for name in ("feature.minfreq", "feature.possible_states", "feature.possible_transitions"):
            yield f"{name}: {_told(self._values[name])}\n"
        if not any(labels for _, labels in learned):
            yield "Nothing to learn from: no model is written\n"
            return
        self._warn()
        begun = time.perf_counter()
        parameters = tagger_parameters(self._algorithm, self._values)
        tagger = SequenceTagger(**parameters, random_state=self.random_state)
        epochs = tagger.training([x for x, _ in learned], [y for _, y in learned])
        epoch: Epoch | None = next(epochs)  # the features are numbered before the first
        assert epoch is not None
        for tenth in range(11):
            yield str(tenth)
            yield from "...." if tenth < 10 else "\n"
        encoder = tagger.training_state_.source.encoder
        yield f"Number of features: {encoder.n_features}\n"
        yield f"Seconds required: {time.perf_counter() - begun - epoch.seconds:.3f}\n"
        yield "\n"
        yield f"{TITLES[self._algorithm]}\n"
        for name, value in self._values.items():
            if not name.startswith("feature."):
                yield f"{name}: {_told(value)}\n"
        yield "\n"
        kept: Trained | None = None
        best = -1.0
        losses: list[float] = []
        total = 0.0
        while epoch is not None:
            yield f"***** Iteration #{epoch.number} *****\n"
            yield f"Loss: {epoch.loss:.6f}\n"
            yield f"Seconds required for this iteration: {epoch.seconds:.3f}\n"
            total += epoch.seconds
            if held:
                trained = tagger.trained_
                found = trained.tagging.predict([x for x, _ in held])
                yield from performance([y for _, y in held], found, trained.labels)
                right = _accuracy([y for _, y in held], found)
                if right > best:
                    kept, best = trained, right
            yield "\n"
            losses.append(epoch.loss)
            if self._is_over(losses, len(learned)):
                yield "Terminated with the stopping criterion\n"
                break
            epoch = next(epochs, None)
        del epochs
        self.trained_ = tagger.trained_ if kept is None else _calibrated(kept, held)
        yield f"Total seconds required for training: {total:.3f}\n"
        yield "\n"
        yield from self._storing(model, tagger, encoder.n_features)

    def _storing(self, model: str, tagger: SequenceTagger, n_features: int) -> Iterator[str]:
        begun = time.perf_counter()
        weights = self.trained_.weights
        yield "Storing the model\n"
        yield f"Number of active attributes: {int(weights.nonzero().sum())} ({n_features})\n"
        yield f"Number of active labels: {weights.n_labels} ({weights.n_labels})\n"
        if model:
            save_model(Path(model), self.trained_, tagger.get_params())
        yield f"Seconds required: {time.perf_counter() - begun:.3f}\n"
        yield "\n"

    def _is_over(self, losses: list[float], n: int) -> bool:
        """Whether the loss is small enough, or has stopped to improve."""
        if losses[-1] / n < self._values.get("epsilon", 0.0):
            return True
        if self._algorithm == "arow":
            return losses[-1] == 0.0
        period = self._values.get("period", 0)
        if self._algorithm not in LIKELIHOOD or not 0 < period < len(losses):
            return False
        better = losses[-1 - period] - losses[-1]
        return better <= self._values["delta"] * max(losses[-1], 1e-300)

    def _warn(self) -> None:
        """Say what is not as in CRFsuite."""
        if self._algorithm in LIKELIHOOD:
            warn_once(
                f"seqpa does not maximise a likelihood: in place of {self._algorithm!r} it trains "
                "PA-I with loss-augmented updates, and c1 and c2 set its C"
            )
        idle = [
            p.name
            for p in PARAMETERS[self._algorithm]
            if not p.acts and self._values[p.name] != p.default
        ]
        if idle:
            warn_once(f"without effect here: {', '.join(idle)}")


class Trainer(BaseTrainer):
    """A trainer that calls a method for each stage of a training, where `verbose` is True.

    Parameters
    ----------
    algorithm : str or None, default None
        As `select` takes it; None is "lbfgs".
    params : dict or None, default None
        As `set_params` takes them.
    verbose : bool, default True
        Call the methods on_start, ..., on_end, which print the log.
    random_state : int, RandomState or None, default 0
        Seed of the orders of the sequences; python-crfsuite has none.

    Attributes
    ----------
    logparser : TrainLogParser or None
        What the log of the last training told.

    Examples
    --------
    >>> trainer = Trainer("pa", {"c": 0.5, "max_iterations": 5}, verbose=False)
    >>> trainer.append([{"word": "the"}, {"word": "dog"}], ["D", "N"])
    >>> trainer.append([["word:a"], ["word:dog"]], ["D", "N"])
    >>> trainer.train("")
    >>> len(trainer.logparser.iterations), trainer.logparser.last_iteration["loss"]
    (5, 0.0)
    """

    logparser: TrainLogParser | None = None

    def _before_train(self) -> None:
        self.logparser = TrainLogParser()

    def message(self, message: str) -> None:
        """Read a line of the log, and call the method of the stage that it ends.

        Parameters
        ----------
        message : str
            The line.
        """
        log = self.logparser
        if log is None:
            raise SeqpaError("a message came before the training began")
        event = log.feed(message)
        if event is None or not self.verbose:
            return
        more = {"featgen_progress": log.featgen_percent, "iteration": log.last_iteration}
        call: Callable[..., None] = getattr(self, f"on_{event}")
        call(log.last_log, *([more[event]] if event in more else []))

    def on_start(self, log: str) -> None:
        """Called with the lines of the log at the start; prints them.

        Parameters
        ----------
        log : str
            The lines.
        """
        print(log, end="")

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """Called while features are numbered; prints.

        Parameters
        ----------
        log : str
            The lines since the last call.
        percent : int
            How far it is.
        """
        print(log, end="")

    def on_featgen_end(self, log: str) -> None:
        """Called when all features have numbers; prints.

        Parameters
        ----------
        log : str
            The lines since the last call.
        """
        print(log, end="")

    def on_prepared(self, log: str) -> None:
        """Called before the first iteration; prints.

        Parameters
        ----------
        log : str
            The lines since the last call.
        """
        print(log, end="")

    def on_prepare_error(self, log: str) -> None:
        """Called when training cannot begin; prints.

        Parameters
        ----------
        log : str
            The lines since the last call.
        """
        print(log, end="")

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """Called after each iteration; prints.

        Parameters
        ----------
        log : str
            Its lines.
        info : dict
            What they tell: see `TrainLogParser.iterations`.
        """
        print(log, end="")

    def on_optimization_end(self, log: str) -> None:
        """Called after the last iteration; prints.

        Parameters
        ----------
        log : str
            The lines since the last call.
        """
        print(log, end="")

    def on_end(self, log: str) -> None:
        """Called when the model is written; prints.

        Parameters
        ----------
        log : str
            The lines since the last call.
        """
        print(log, end="")


def _label(label: Any) -> str:
    if isinstance(label, bytes):
        return label.decode()
    if not isinstance(label, str):
        raise TypeError(f"a label is a string, not {label!r}")
    return str.__str__(label)


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def _calibrated(trained: Trained, held: list[tuple[list[Any], list[str]]]) -> Trained:
    """The same, with the scale of probabilities fitted to held-out sequences."""
    encoded, decoder = trained.tagging.prepared([x for x, _ in held])
    index = {label: k for k, label in enumerate(trained.labels)}
    gold = np.array([index.get(label, -1) for _, y in held for label in y], np.int32)
    if not len(gold):
        return trained
    return trained.scaled(fit_scale([HeldOut(encoded, decoder, gold)]))


def _accuracy(gold: list[list[str]], found: list[list[str]]) -> float:
    pairs = [pair for y, z in zip(gold, found, strict=True) for pair in zip(y, z, strict=True)]
    return sum(a == b for a, b in pairs) / max(1, len(pairs))
