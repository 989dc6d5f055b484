"""The live display of a training on a terminal: finished epochs above, a bar below."""

from __future__ import annotations

import sys
from types import TracebackType

from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from seqpa.cli.screen import screen
from seqpa.sequence.epoch_line import epoch_line, percent
from seqpa.sequence.learner import Epoch
from seqpa.training_run import TrainingRun


class LiveDisplay:
    """A bar over all epochs that also moves within one; each epoch leaves its line above it."""

    def __init__(self, run: TrainingRun) -> None:
        self._epochs = run.config.learner.epochs
        self._done = len(run.history)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[within]}"),
            TextColumn("{task.fields[best]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=screen().console(sys.stdout),
            transient=True,
        )
        self._best = ""
        self._task = self._progress.add_task(
            "encoding", total=self._epochs, completed=self._done, best="", within=""
        )

    def within(self, done: int, of: int) -> None:
        """Move within the present epoch: so many sentences are done."""
        self._progress.update(
            self._task,
            description=f"epoch {self._done + 1}/{self._epochs}",
            completed=self._done + done / max(of, 1),
            within=f"{done:,} of {of:,} sentences" if done < of else "scoring",
        )

    def show(self, epoch: Epoch) -> None:
        """Add a finished epoch."""
        if epoch.best and epoch.dev_score is not None:
            self._best = f"best dev {epoch.dev_metric} {percent(epoch.dev_score)}"
        self._done = epoch.number
        self._progress.console.print(
            epoch_line(epoch, self._epochs), highlight=False, markup=False, soft_wrap=True
        )
        self._progress.update(self._task, completed=epoch.number, best=self._best, within="")

    def tell(self, what: str) -> None:
        """Say what is done before the first epoch."""
        self._progress.console.print(what, highlight=False, markup=False, soft_wrap=True)

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
