"""``seqpa experiment``: the papers' figures and tables again, with their claims checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand


class CommandWithNames(TyperCommand):
    """A command whose ``--help`` ends with the list of experiments."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the names."""
        from seqpa.experiments import EXPERIMENTS

        lines = "\n".join(f"  {name:<15} {what}" for name, what in EXPERIMENTS.items())
        formatter.write(f"\nExperiments:\n{lines}\n")


def experiment(
    name: Annotated[str, typer.Argument(help="Which one; they are listed below.", metavar="NAME")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for what comes out.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", envvar="SEQPA_DATA", help="Folder of the data sets, one folder each."
        ),
    ] = None,
    stand_in: Annotated[
        bool,
        typer.Option("--stand-in", help="Run on bundled data instead of the paper's, and say so."),
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version that takes seconds: only to try it.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=0, help="Trials at once; 0 for one on each core.")] = 0,
) -> None:
    """Run an experiment of the papers: figures, every number, and a report on their claims.

    Writes report.md, CSV files and each figure as PNG and SVG. The numbers are the same each time,
    for any number of jobs.
    """
    from seqpa.cli.inputs import cores
    from seqpa.experiments import find
    from seqpa.experiments.figures import need_matplotlib
    from seqpa.experiments.setup import Setup
    from seqpa.files import check_folder

    run = find(name)
    need_matplotlib()
    check_folder(output)
    with _progress() as progress:
        outcome = run(Setup(quick, stand_in, data, jobs or cores(), progress))
        files = outcome.write(output)
    for check in outcome.checks:
        print(f"{check.verdict:<13}  {check.claim}: {check.measured}")
    held = sum(check.holds for check in outcome.checks)
    print(f"\n{held} of {len(outcome.checks)} claims hold")
    if quick:
        print("this was the quick version: the verdicts mean little")
    if outcome.label:
        print(outcome.label)
    print("written: " + ", ".join(str(file) for file in files))


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each stage with the time left on a terminal; a line for each stage elsewhere."""
    import sys

    if not sys.stdout.isatty():
        yield _line
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    ) as bars:
        known: dict[str, Any] = {}

        def show(stage: str, done: int, of: int) -> None:
            if stage not in known:
                known[stage] = bars.add_task(stage, total=of)
            bars.update(known[stage], completed=done)

        yield show


def _line(stage: str, done: int, of: int) -> None:
    if done == 0:
        print(f"{stage}: {of} trials", flush=True)
