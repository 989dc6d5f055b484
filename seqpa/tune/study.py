"""Which trial comes next: optuna's TPE and its median rule, in a SQLite file.

The suggestion for a trial depends on the seed and on the trials that have ended, and on nothing
else. So with one worker a search is the same each time, also where it was killed and went on; with
several, trials end in an order that nobody knows beforehand.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from seqpa.config import Config
from seqpa.errors import SeqpaError
from seqpa.file_locks import Lock
from seqpa.training_outputs import first_difference
from seqpa.tune.pools import Here, Pool
from seqpa.tune.space import Space, chosen, distributions
from seqpa.tune.trial import TrialResult, run_trial

STARTUP = 8  # trials drawn at random, before any is suggested
_UNPRUNED = 5  # so many trials run to their end before others are ended early
_WARMUP = 1  # epochs that every trial has
_LISTED = 1_000  # combinations of values to choose from: of more there is always another
_ATTEMPTS = 20  # suggestions that were tried before are asked for again, so often
_NAME = "seqpa"
# What is told of a study that was made with something else.
_OTHER = (
    "was made with other settings or data ({}): go on with the same, name another folder with -o, "
    "or say --force to begin anew"
)


def need_optuna() -> None:
    """Raise a SeqpaError where optuna is not installed."""
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise SeqpaError("optuna is not installed: pip install 'seqpa[tune]'") from None


def _locked(path: Path) -> Lock:
    """What keeps other processes from a study, as long as it is held."""
    lock = Lock.take(path.with_name(f".{path.name}.lock"))
    if lock is None:
        raise SeqpaError(
            f"{path}: another search is at work on it: wait for it, or name another folder"
        )
    return lock


@dataclass(frozen=True, slots=True)
class Ended:
    """A trial that has ended.

    Attributes
    ----------
    number : int
        Counted from 1, in the order in which trials end: as in the file, and so the same where the
        search goes on.
    values : dict
        What was tried, by key.
    score : float
        The best on the dev set.
    epochs : int
    state : str
        "done", "ended early" or "failed".
    seconds : float
    told : str
        Why it failed.
    """

    number: int
    values: dict[str, Any]
    score: float
    epochs: int
    state: str
    seconds: float
    told: str = ""


class Study:
    """A search, of which everything that has ended is in a file.

    Parameters
    ----------
    path : Path
        The SQLite file; made if it is not there.
    space : dict
        What may be tried.
    make : callable
        A configuration of the values of a trial.
    seed : int
    marks : dict
        By what the configuration and the data are known again.
    """

    def __init__(
        self,
        path: Path,
        space: Space,
        make: Callable[[dict[str, Any]], Config],
        seed: int,
        marks: dict[str, Any],
    ) -> None:
        need_optuna()
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._optuna = optuna
        self._space, self._make, self._seed = space, make, seed
        self._distributions = distributions(space)
        self._lock = _locked(path)
        try:
            self._file = optuna.create_study(
                storage=f"sqlite:///{path}",
                study_name=_NAME,
                direction="maximize",
                load_if_exists=True,
            )
        except Exception as error:
            raise SeqpaError(
                f"{path}: is no study of seqpa tune, or damaged "
                f"({str(error).splitlines()[0]}); --force begins anew"
            ) from None
        marks = {**marks, "seed": seed}
        known = self.noted("marks")
        if known != marks:
            if known is not None:
                raise SeqpaError(f"{path}: {_OTHER.format(first_difference(known, marks))}")
            self.note("marks", marks)
        # A trial is in the file when it has ended: what was running when a process was killed is
        # suggested again.
        self._study = optuna.create_study(direction="maximize")
        known_trials = self._file.get_trials(deepcopy=False)
        self._study.add_trials(known_trials)
        self._ended = [self._as_told(i, trial) for i, trial in enumerate(known_trials, 1)]

    def is_exhausted(self) -> bool:
        """Whether every combination of the values to choose from was tried."""
        return self._left([own.values for own in self.ended()]) == []

    def ended(self) -> list[Ended]:
        """The trials that have ended, in this order."""
        return list(self._ended)

    def _as_told(self, number: int, trial: Any) -> Ended:
        state = self._optuna.trial.TrialState
        names = {state.COMPLETE: "done", state.PRUNED: "ended early", state.FAIL: "failed"}
        told = trial.user_attrs["told"]
        return Ended(
            number,
            chosen(self._space, trial.params),
            float(told["best"]),
            len(trial.intermediate_values),
            names[trial.state],
            float(told["seconds"]),
            str(told["error"]),
        )

    def best(self) -> Ended:
        """The trial with the best score; of several, the first."""
        done = [trial for trial in self.ended() if trial.state == "done"]
        if not done:
            told = next((trial.told for trial in self.ended() if trial.told), "")
            raise SeqpaError(f"no trial came to its end{': ' + told if told else ''}")
        return max(done, key=lambda trial: (trial.score, -trial.number))

    def floors(self) -> list[float | None]:
        """By epoch, the median score of the trials that ran to their end: optuna's median rule."""
        state = self._optuna.trial.TrialState
        done = self._study.get_trials(deepcopy=False, states=(state.COMPLETE,))
        if len(done) < _UNPRUNED:
            return []
        epochs = max(len(trial.intermediate_values) for trial in done)
        found: list[float | None] = []
        for epoch in range(1, epochs + 1):
            values = [
                trial.intermediate_values[epoch]
                for trial in done
                if epoch in trial.intermediate_values
            ]
            found.append(median(values) if values and epoch > _WARMUP else None)
        return found

    def search(
        self,
        pool: Pool | None,
        at_once: int,
        trials: int,
        seconds: float | None,
        metric: Callable[[str], None] | None = None,
    ) -> Iterator[Ended]:
        """Try until there were so many trials, or so much time is gone.

        Parameters
        ----------
        pool : Pool or None
            Who makes the trials; None makes them here.
        at_once : int
            How many at a time.
        trials : int
            How many there shall be in all, those of earlier runs included.
        seconds : float or None
            After so many no trial begins any more; those that are running come to their end.
        metric : callable, optional
            Is told what the scores are.

        Yields
        ------
        Ended
            Each trial, when it has ended.
        """
        begun = time.monotonic()
        makers = Here() if pool is None else pool
        running: list[tuple[Any, Any]] = []  # handles of the pool's, and trials of optuna's
        while True:
            late = seconds is not None and time.monotonic() - begun >= seconds
            wanted = 0 if late else trials - len(self.ended()) - len(running)
            for _ in range(min(wanted, at_once - len(running))):
                trial = self._ask([own for _, own in running], at_once)
                if trial is None:
                    break
                config = self._make(chosen(self._space, trial.params))
                running.append((makers.submit(run_trial, config, self.floors()), trial))
            if not running:
                return
            done = makers.first([handle for handle, _ in running])
            ended = [pair for pair in running if any(pair[0] is handle for handle in done)]
            running = [pair for pair in running if all(pair[0] is not own[0] for own in ended)]
            for handle, trial in sorted(ended, key=lambda own: own[1].number):
                result: TrialResult = makers.result(handle)
                if metric is not None and result.metric:
                    metric(result.metric)
                yield self._tell(trial, result)

    def _ask(self, running: Sequence[Any], at_once: int) -> Any:
        """A trial, suggested from those that have ended; another one for each that is running.

        What was tried already would only score the same: then another is asked for, and where
        these are few, one of those that are left is taken. None if nothing is left.
        """
        number = len(self.ended()) + len(running)
        tried = [own.values for own in self.ended()]
        tried += [chosen(self._space, own.params) for own in running]
        left = self._left(tried)
        if left == []:
            return None
        for attempt in range(_ATTEMPTS):
            seed = (self._seed * 1_000_003 + number + attempt * 7_368_787) % 2**32
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", self._optuna.exceptions.ExperimentalWarning)
                self._study.sampler = self._optuna.samplers.TPESampler(
                    n_startup_trials=STARTUP,
                    constant_liar=at_once > 1,  # not beside what is being tried
                    seed=seed,
                )
            if left and attempt == _ATTEMPTS - 1:
                self._study.enqueue_trial(left[seed % len(left)])
            trial = self._study.ask(self._distributions)
            if chosen(self._space, trial.params) not in tried:
                break
            if attempt < _ATTEMPTS - 1:
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        return trial

    def _left(self, tried: Sequence[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """What was not tried yet, as optuna's parameters; None where there is too much to list."""
        found: list[list[Any]] = []
        for own in self._distributions.values():
            if isinstance(own, self._optuna.distributions.CategoricalDistribution):
                found.append(list(dict.fromkeys(own.choices)))
            elif isinstance(own, self._optuna.distributions.IntDistribution):
                found.append(list(range(own.low, min(own.high, own.low + _LISTED) + 1)))
            else:
                return None
        if math.prod(map(len, found)) > _LISTED:
            return None
        made = (dict(zip(self._distributions, values, strict=True)) for values in product(*found))
        return [own for own in made if chosen(self._space, own) not in tried]

    def _tell(self, trial: Any, result: TrialResult) -> Ended:
        states = self._optuna.trial.TrialState
        told = {"best": result.best, "seconds": result.seconds, "error": result.error or ""}
        for epoch, score in enumerate(result.scores, 1):
            trial.report(score, epoch)
        trial.set_user_attr("told", told)
        if result.error is not None:
            ended = self._study.tell(trial, state=states.FAIL)
        elif result.pruned:
            ended = self._study.tell(trial, state=states.PRUNED)
        else:
            ended = self._study.tell(trial, result.best)
        self._file.add_trial(ended)
        self._ended.append(self._as_told(len(self._ended) + 1, ended))
        return self._ended[-1]

    def importances(self) -> dict[str, float]:
        """How much each key matters to the score, largest first; empty where it cannot be told."""
        if sum(trial.state == "done" for trial in self.ended()) < 4 or len(self._space) < 2:
            return {}
        evaluator = self._optuna.importance.FanovaImportanceEvaluator(seed=self._seed)
        try:
            found = self._optuna.importance.get_param_importances(self._study, evaluator=evaluator)
        except (RuntimeError, ValueError):  # all trials alike
            return {}
        return {key: float(value) for key, value in found.items()}

    def noted(self, name: str) -> Any:
        """What was noted in the study under a name; None if nothing was."""
        return self._file.user_attrs.get(name)

    def note(self, name: str, value: Any) -> None:
        """Note something in the study."""
        self._file.set_user_attr(name, json.loads(json.dumps(value)))
