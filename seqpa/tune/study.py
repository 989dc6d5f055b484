"""Which trial comes next: optuna's TPE and its median rule, in a SQLite file.

The suggestion for a trial depends on the seed and on the trials that have ended, and on nothing
else. So with one worker a search is the same each time, also where it was killed and went on; with
several, trials end in an order that nobody knows beforehand.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from seqpa.config import Config
from seqpa.errors import SeqpaError
from seqpa.tune.space import Space, chosen, distributions
from seqpa.tune.trial import TrialResult, run_trial

STARTUP = 8  # trials drawn at random, before any is suggested
_UNPRUNED = 5  # so many trials run to their end before others are ended early
_WARMUP = 1  # epochs that every trial has
_NAME = "seqpa"
# What may be told of a study that was made with something else.
_OTHER = (
    "was made with another configuration, search space or data: go on with the same, name another "
    "folder with -o, or say --force to begin anew"
)


def need_optuna() -> None:
    """Raise a SeqpaError where optuna is not installed."""
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise SeqpaError("optuna is not installed: pip install 'seqpa[tune]'") from None


@dataclass(frozen=True, slots=True)
class Ended:
    """A trial that has ended.

    Attributes
    ----------
    number : int
        Counted from 1.
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
        try:
            self.study = optuna.create_study(
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
        known = self.study.user_attrs.get("marks")
        if known is not None and known != marks:
            raise SeqpaError(f"{path}: {_OTHER}")
        self.study.set_user_attr("marks", marks)
        self._give_up_stale()

    def _give_up_stale(self) -> None:
        """Trials that were running when the last process ended will never end."""
        state = self._optuna.trial.TrialState
        for trial in self.study.get_trials(deepcopy=False, states=(state.RUNNING, state.WAITING)):
            self.study.tell(trial.number, state=state.FAIL)

    def ended(self) -> list[Ended]:
        """The trials that have ended, in the order in which they began."""
        state = self._optuna.trial.TrialState
        names = {state.COMPLETE: "done", state.PRUNED: "ended early"}
        found = []
        for trial in self.study.get_trials(deepcopy=False):
            if "seconds" not in trial.user_attrs:
                continue  # running, or given up
            found.append(
                Ended(
                    len(found) + 1,
                    chosen(self._space, trial.params),
                    float(trial.user_attrs["best"]),
                    len(trial.intermediate_values),
                    names.get(trial.state, "failed"),
                    float(trial.user_attrs["seconds"]),
                    str(trial.user_attrs.get("error") or ""),
                )
            )
        return found

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
        done = self.study.get_trials(deepcopy=False, states=(state.COMPLETE,))
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
        pool: Executor | None,
        at_once: int,
        trials: int,
        seconds: float | None,
        metric: Callable[[str], None] | None = None,
    ) -> Iterator[Ended]:
        """Try until there were so many trials, or so much time is gone.

        Parameters
        ----------
        pool : concurrent.futures.Executor or None
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
        running: dict[Future[TrialResult], Any] = {}
        while True:
            late = seconds is not None and time.monotonic() - begun >= seconds
            wanted = 0 if late else trials - len(self.ended()) - len(running)
            for _ in range(min(wanted, at_once - len(running))):
                trial = self._ask()
                task = self._make(chosen(self._space, trial.params)), self.floors()
                if pool is None:
                    future: Future[TrialResult] = Future()
                    future.set_result(run_trial(*task))
                else:
                    future = pool.submit(run_trial, *task)
                running[future] = trial
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda own: running[own].number):
                result = future.result()
                if metric is not None and result.metric:
                    metric(result.metric)
                yield self._tell(running.pop(future), result)

    def _ask(self) -> Any:
        """A trial, suggested from those that have ended."""
        number = len(self.ended())
        self.study.sampler = self._optuna.samplers.TPESampler(
            n_startup_trials=STARTUP, seed=(self._seed * 1_000_003 + number) % 2**32
        )
        return self.study.ask(self._distributions)

    def _tell(self, trial: Any, result: TrialResult) -> Ended:
        state = self._optuna.trial.TrialState
        for epoch, score in enumerate(result.scores, 1):
            trial.report(score, epoch)
        trial.set_user_attr("best", result.best)
        trial.set_user_attr("error", result.error)
        trial.set_user_attr("seconds", result.seconds)
        if result.error is not None:
            self.study.tell(trial, state=state.FAIL)
        elif result.pruned:
            self.study.tell(trial, state=state.PRUNED)
        else:
            self.study.tell(trial, result.best)
        number = sum("seconds" in own.user_attrs for own in self.study.get_trials(deepcopy=False))
        name = "failed" if result.error else "ended early" if result.pruned else "done"
        return Ended(
            number,
            chosen(self._space, trial.params),
            result.best,
            len(result.scores),
            name,
            result.seconds,
            result.error or "",
        )

    def importances(self) -> dict[str, float]:
        """How much each key matters to the score, largest first; empty where nobody can tell yet."""
        if sum(trial.state == "done" for trial in self.ended()) < 4 or len(self._space) < 2:
            return {}
        evaluator = self._optuna.importance.PedAnovaImportanceEvaluator()
        try:
            found = self._optuna.importance.get_param_importances(self.study, evaluator=evaluator)
        except (RuntimeError, ValueError):  # all trials alike
            return {}
        return {key: float(value) for key, value in found.items()}

    def noted(self, name: str) -> Any:
        """What was noted in the study under a name; None if nothing was."""
        return self.study.user_attrs.get(name)

    def note(self, name: str, value: Any) -> None:
        """Note something in the study."""
        self.study.set_user_attr(name, json.loads(json.dumps(value)))
