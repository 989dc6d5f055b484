"""``seqpa train``: a configuration in, a model out, with progress on the way."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer
from typer.core import TyperCommand

from seqpa.cli.screen import is_terminal, screen
from seqpa.errors import SeqpaError

if TYPE_CHECKING:
    from seqpa.config import Config
    from seqpa.sequence.learner import Epoch
    from seqpa.training_run import TrainingRun


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
    full: Annotated[
        bool, typer.Option("--full", help="Print all scores at the end, not only what matters.")
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
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Train on a Dask cluster: the address of its scheduler, tcp://host:8786, or "
            "local:4 for four workers on this machine. The key cluster.shards says into how many "
            "parts the work falls; the model does not depend on the cluster.",
        ),
    ] = None,
) -> None:
    """Train a tagger as a configuration file says.

    Writes the model, history.json and metrics.json (beside a model that is not called
    model.safetensors, NAME.history.json and NAME.metrics.json), and while it runs a checkpoint
    after each epoch. A model that the same configuration made is replaced, another only with
    --force. Ctrl-C ends the run after the present epoch and keeps the best so far; pressed twice,
    it ends at once and the last checkpoint stays. What is printed at the end is what matters: the
    score, the worst labels, the most frequent mistakes, what to try next.
    """
    from seqpa.config import load_config
    from seqpa.training_outputs import Outputs

    settings = load_config(config, setting or [])
    if online:
        from seqpa.cli.online import learn_online

        if resume or certificate or dask:
            raise SeqpaError("--online goes with neither --resume nor --certificate nor --dask")
        return learn_online(settings, force, full)
    if dask is not None:
        from seqpa.cluster.run import with_cluster

        settings = with_cluster(settings)
    if resume and not force and Outputs(settings).is_made():
        screen().note(f"nothing left to train: {settings.path('output', 'model')} is complete")
        return
    with _cluster(settings, dask) as make_run:
        _run(make_run, resume, force, certificate, full)


@contextmanager
def _cluster(settings: Config, dask: str | None) -> Iterator[Callable[..., TrainingRun]]:
    """What makes the run: here, or on a cluster that is there for as long."""
    from functools import partial

    if settings.cluster is None:
        from seqpa.streamed_run import run_of

        yield partial(run_of, settings)
        return
    from seqpa.cluster.run import ClusterRun, executor_at

    with executor_at(dask, settings.cluster.timeout) as executor:
        yield partial(ClusterRun, settings, executor)


def _run(
    make_run: Callable[..., TrainingRun], resume: bool, force: bool, certificate: bool, full: bool
) -> None:
    begun = time.perf_counter()
    with _waiting("reading the data"):
        run = make_run(resume=resume, force=force, with_certificate=certificate)
    try:
        if resume and not run.resumed:
            screen().note("no checkpoint to resume: starting from the beginning")
        _tell_of_data(run, time.perf_counter() - begun)
        stopped = _train(run)
        with _waiting("scoring"):
            outcome = run.finish()
    except KeyboardInterrupt:
        _answer(f"quit{_what_is_left(run)}")
        raise
    finally:
        run.close()
    if stopped:
        screen().note("stopped; seqpa train with --resume goes on from here")
    from seqpa.cli.closing import closing

    print(closing(run, outcome, full=full, brief=screen().quiet))


def _train(run: TrainingRun) -> bool:
    """Go through the epochs; whether the user stopped them."""
    with _stop_requests(run) as stop_asked, _display(run) as display:
        run.told = display.tell
        for epoch in run.epochs(display.within):
            display.show(epoch)
            if stop_asked() and not run.complete:
                return True
    return False


def _tell_of_data(run: TrainingRun, seconds: float) -> None:
    from seqpa.config.build import data_name

    for note in run.notes:
        screen().note(note)
    for part, corpus in (("train", run.train), ("dev", run.dev), ("test", run.test)):
        if corpus is not None and len(corpus):
            screen().detail(
                f"{part}: {data_name(run.config, part)}: {len(corpus):,} sentences, "
                f"{corpus.n_tokens:,} tokens, columns {', '.join(corpus.names)}"
            )
    screen().detail(f"read in {seconds:.2f} s")
    after = f", after epoch {len(run.history)}" if run.resumed else ""
    screen().note(run.told_of_text() + after)


@contextmanager
def _stop_requests(run: TrainingRun) -> Iterator[Any]:
    """Ctrl-C asks to stop, and is answered at once; a second one interrupts as usual."""
    asked = []
    usual = signal.getsignal(signal.SIGINT)

    def ask(number: int, frame: Any) -> None:
        asked.append(number)
        signal.signal(signal.SIGINT, usual)
        done = len(run.history)
        if done < run.config.learner.epochs:
            told = f"stopping after epoch {done + 1}; the best so far is kept"
        else:  # other orders are trained, or probabilities fitted
            told = "all epochs are done, and what comes behind them is finished"
        _answer(f"{told}. Ctrl-C once more quits at once")

    signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, usual)


def _what_is_left(run: TrainingRun) -> str:
    if run.checkpoint.exists():
        return "; the last checkpoint stays, and --resume goes on from it"
    return "" if run.complete else "; nothing was written"


def _answer(text: str) -> None:
    """Write a line past all buffers and locks: a signal may come while they are in use."""
    # A bar is drawn again below, and hides the cursor again if it is still there.
    clear = "\r\x1b[2K\x1b[?25h" if is_terminal(sys.stderr) else ""
    with suppress(OSError):
        os.write(2, f"{clear}{text}\n".encode())


@contextmanager
def _waiting(what: str) -> Iterator[None]:
    """Show on a terminal that something takes its time."""
    stream = sys.stdout
    moving = screen().moves(stream)
    with screen().console(stream).status(what) if moving else nullcontext():
        yield


class _Display(Protocol):
    def within(self, done: int, of: int) -> None: ...

    def show(self, epoch: Epoch) -> None: ...

    def tell(self, what: str) -> None: ...


@contextmanager
def _display(run: TrainingRun) -> Iterator[_Display]:
    if screen().moves(sys.stdout):
        from seqpa.cli.live import LiveDisplay

        with LiveDisplay(run) as live:
            yield live
    else:
        yield _Lines(run)


class _Lines:
    """A line for each epoch, for logs and pipes."""

    def __init__(self, run: TrainingRun) -> None:
        self._epochs = run.config.learner.epochs

    def within(self, done: int, of: int) -> None:
        """Nothing: but Python comes to its senses now and then, and answers Ctrl-C."""

    def show(self, epoch: Epoch) -> None:
        """Print the line."""
        from seqpa.sequence.epoch_line import epoch_line

        screen().note(epoch_line(epoch, self._epochs))

    def tell(self, what: str) -> None:
        screen().note(what)
