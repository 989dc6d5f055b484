"""How to run an experiment, and its trials spread over the cores.

Every trial is a plain function of one task and seeds its own generator from it, and the linear
algebra inside a trial keeps to one thread: the numbers do not depend on how many run at once.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def _silent(stage: str, done: int, of: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Setup:
    """What the user chose.

    Parameters
    ----------
    quick : bool, default False
        A small version that takes seconds: to see that it works, not to read numbers from.
    stand_in : bool, default False
        Instead of the papers' data, take what comes with scikit-learn or this project.
    data : Path or None, default None
        The folder of data sets.
    jobs : int, default 1
        How many trials run at once.
    progress : function
        Called with (stage, trials done, trials in all).
    """

    quick: bool = False
    stand_in: bool = False
    data: Path | None = None
    jobs: int = 1
    progress: Callable[[str, int, int], None] = _silent

    def each(
        self, stage: str, trial: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> list[Result]:
        """The results of a trial for every task, in the order of the tasks.

        Parameters
        ----------
        stage : str
            What is being done, for the progress.
        trial : function
            Makes of a task its result.
        tasks : sequence
            The tasks.

        Returns
        -------
        list
            The results.

        Examples
        --------
        >>> Setup().each("lengths", len, ["abc", "d"])
        [3, 1]
        """
        self.progress(stage, 0, len(tasks))
        results: dict[int, Result] = {}
        for done, (place, result) in enumerate(self._results(trial, tasks), 1):
            results[place] = result
            self.progress(stage, done, len(tasks))
        return [results[place] for place in range(len(tasks))]

    def _results(
        self, trial: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[tuple[int, Result]]:
        if self.jobs == 1 or len(tasks) < 2:
            with _one_thread():
                yield from ((place, trial(task)) for place, task in enumerate(tasks))
            return
        # Forking a process that runs threads (BLAS, progress bar) may hang; spawning cannot.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(self.jobs, len(tasks)), context, _one_thread) as pool:
            try:
                waiting = {pool.submit(trial, task): place for place, task in enumerate(tasks)}
                for future in as_completed(waiting):
                    yield waiting[future], future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _one_thread() -> Any:
    """Linear algebra on one thread: from now on, or as a context."""
    import scipy.linalg  # noqa: F401 - it brings its own BLAS, which can be limited once it is here
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    return threadpool_limits(1)
