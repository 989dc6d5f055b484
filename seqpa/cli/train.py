"""``seqpa train``: a configuration in, a model out, with progress on the way."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer
from typer.core import TyperCommand

from seqpa.errors import SeqpaError
from seqpa.sequence.epoch_line import epoch_line

if TYPE_CHECKING:
    from seqpa.sequence.learner import Epoch
    from seqpa.training_run import TrainingOutcome, TrainingRun


class CommandWithSettings(TyperCommand):
    """A command whose ``--help`` ends with the keys of the configuration."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the keys."""
        from seqpa.config import settings_help

        formatter.write(f"\nKeys of the configuration:\n{settings_help()}\n")


def train(
    config: Annotated[Path, typer.Argument(help="Configuration file (YAML).", metavar="CONFIG")],
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a key of the configuration, for example learner.C=0.3; may be repeated. "
            "Paths given here are relative to the current directory.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint, if there is one.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace a model of another configuration, or a checkpoint."),
    ] = False,
    certificate: Annotated[
        bool, typer.Option("--certificate", help="Print the loss bounds of the run at the end.")
    ] = False,
    online: Annotated[
        bool,
        typer.Option(
            "--online",
            help="One pass, each sentence tagged before it is learned from; data.train may be -, "
            "standard input without an end. Ctrl-C ends it, and the model is written.",
        ),
    ] = False,
) -> None:
    """Train a tagger as a configuration file says.

    Writes the model, history.json and metrics.json (beside a model that is not called
    model.safetensors, NAME.history.json and NAME.metrics.json), and while it runs a checkpoint
    after each epoch. A model that the same configuration made is replaced, another only with
    --force. Ctrl-C ends the run after the present epoch and keeps the best so far; pressed twice,
    it ends at once and the last checkpoint stays.
    """
    from seqpa.config import load_config
    from seqpa.training_outputs import Outputs
    from seqpa.training_run import TrainingRun

    settings = load_config(config, setting or [])
    if online:
        from seqpa.cli.online import learn_online

        if resume or certificate:
            raise SeqpaError("--online goes with neither --resume nor --certificate")
        return learn_online(settings, force)
    if resume and not force and Outputs(settings).is_made():
        print(f"nothing left to train: {settings.path('output', 'model')} is complete")
        return
    run = TrainingRun(settings, resume=resume, force=force, with_certificate=certificate)
    try:
        for note in run.notes:
            print(note, flush=True)
        if resume and not run.resumed:
            print("no checkpoint to resume: starting from the beginning", flush=True)
        stopped = False
        with _stop_requests() as stop_asked, _display(run) as display:
            for epoch in run.epochs():
                display.show(epoch)
                if stop_asked() and not run.complete:
                    stopped = True
                    break
        outcome = run.finish()
    finally:
        run.close()
    if stopped:
        print("stopped; seqpa train with --resume goes on from here")
    _print_outcome(run, outcome)


@contextmanager
def _stop_requests() -> Iterator[Any]:
    """Ctrl-C asks to stop; a second one interrupts as usual."""
    asked = []
    usual = signal.getsignal(signal.SIGINT)

    def ask(number: int, frame: Any) -> None:
        asked.append(number)
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, usual)


class _Display(Protocol):
    def show(self, epoch: Epoch) -> None: ...


@contextmanager
def _display(run: TrainingRun) -> Iterator[_Display]:
    import sys

    labels = len({*(run.train.labels or ())} - {None})
    print(
        f"training on {len(run.train):,} sentences, {run.train.n_tokens:,} tokens, "
        f"{labels:,} labels" + (f", after epoch {len(run.history)}" if run.resumed else ""),
        flush=True,
    )
    if sys.stdout.isatty():
        from seqpa.cli.live import LiveDisplay

        with LiveDisplay(run) as live:
            yield live
    else:
        yield _Lines(run)


class _Lines:
    """A line for each epoch, for logs and pipes."""

    def __init__(self, run: TrainingRun) -> None:
        self._epochs = run.config.learner.epochs

    def show(self, epoch: Epoch) -> None:
        print(epoch_line(epoch, self._epochs), flush=True)


def _print_outcome(run: TrainingRun, outcome: TrainingOutcome) -> None:
    from seqpa.config.build import data_name

    if outcome.dev is not None:
        print(f"\nkept epoch {outcome.best_epoch} of {outcome.epochs}, the best on the dev set")
    for name, evaluation in (("test", outcome.test), ("dev", outcome.dev)):
        if evaluation is not None:
            where = data_name(run.config, name)
            print(f"\nscores on {where}\n{evaluation.table()}")
            break
    if outcome.certificate is not None:
        print(f"\n{outcome.certificate}")
    print(f"\nmodel written to {outcome.model}")
