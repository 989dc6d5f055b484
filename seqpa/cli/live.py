"""The live display of a training on a terminal: finished epochs above, a bar below."""

from __future__ import annotations

from types import TracebackType

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from seqpa.sequence.epoch_line import epoch_line
from seqpa.sequence.learner import Epoch
from seqpa.training_run import TrainingRun


class LiveDisplay:
    """A bar over the epochs with the time left; each epoch leaves its line above it."""

    def __init__(self, run: TrainingRun) -> None:
        self._epochs = run.config.learner.epochs
        self._progress = Progress(
            TextColumn("epoch"),
            MofNCompleteColumn(),
            BarColumn(),
            TextColumn("{task.fields[best]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            transient=True,
        )
        self._best: float | None = None
        self._task = self._progress.add_task(
            "training", total=self._epochs, completed=len(run.history), best=""
        )

    def show(self, epoch: Epoch) -> None:
        """Add a finished epoch."""
        if epoch.best and epoch.dev_score is not None:
            self._best = epoch.dev_score
        best = "" if self._best is None else f"best dev {100 * self._best:.2f} %"
        self._progress.console.print(
            epoch_line(epoch, self._epochs), highlight=False, markup=False, soft_wrap=True
        )
        self._progress.update(self._task, completed=epoch.number, best=best)

    def __enter__(self) -> LiveDisplay:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()
