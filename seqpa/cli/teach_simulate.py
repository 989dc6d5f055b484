"""``seqpa teach --simulate``: an annotator who knows the labels plays; what it took is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seqpa.cli.screen import is_terminal, screen
from seqpa.errors import SeqpaError


def simulate_teaching(
    files: Sequence[Path],
    test: Path | None,
    output: Path | None,
    names: Sequence[str] | None,
    noise: float,
    seeds: int,
    features: str | None,
    budget: int | None,
    kind: str | None,
    jobs: int,
    force: bool,
    reading: dict[str, Any],
) -> None:
    """Play sessions on labelled files, show what they took, and write the report.

    Parameters
    ----------
    files : sequence of Path
        What is labelled.
    test : Path or None
        What taggers are tested on; None holds back a fifth of the sentences.
    output : Path or None
        The folder of the report; None writes nothing.
    names : sequence of str or None
        The strategies, `NAME/unsure` where unsure words alone are confirmed; None takes all.
    noise : float
        How often the annotator errs.
    seeds : int
    features : str or None
        A preset.
    budget : int or None
        Tokens to be labelled at most.
    kind : str or None
    jobs : int
        Sessions at once; 0 for one on each core.
    force : bool
        Whether files that no such report made may be replaced.
    reading : dict
        How the files are read.
    """
    from seqpa.cli.inputs import cores
    from seqpa.experiments.figures import need_matplotlib
    from seqpa.experiments.setup import Setup
    from seqpa.sequence.presets import preset
    from seqpa.teach.simulate import divided, read_gold, strategies
    from seqpa.teach.simulation import (
        PART,
        Wanted,
        check_place,
        not_reached,
        outcome,
        simulate,
        summaries,
    )

    chosen = strategies(names)
    if features is not None:
        preset(features)  # a name that is unknown is told before anything is read
    if output is not None:
        need_matplotlib()
        check_place(output, force)
    gold = read_gold(files, kind, **reading)
    if test is None:
        gold, held = divided(gold)
    else:
        held = read_gold([test], gold.kind, **reading)
        if held.names != gold.names:
            raise SeqpaError(f"{test}: has other columns than {files[0]}")
    wanted = Wanted(
        files[0].stem if files[0].stem != "train" else files[0].absolute().parent.name,
        gold,
        held,
        # Chance first: the others are shown beside it.
        (chosen[-1], *chosen[:-1]),
        seeds,
        features,
        noise,
        budget or 10**9,
    )
    rows: list[dict[str, Any]] = []
    full = 0.0
    with _table() as (show, progress):
        for _, full, more in simulate(wanted, Setup(jobs=jobs or cores(), progress=progress)):
            rows += more
            show([*summaries(rows, full).values()])
    found = outcome(wanted, full, rows)
    for check in found.checks:
        print(f"{check.verdict:<13}  {check.where}: {check.claim}: {check.measured}")
    if missing := not_reached(summaries(rows, full)):
        print(f"{100 * PART:.0f} % of the full score: {missing}")
    if output is not None:
        print("written: " + ", ".join(str(file) for file in found.write(output)))


@contextmanager
def _table() -> Iterator[tuple[Callable[[Sequence[Any]], None], Callable[[str, int, int], None]]]:
    """What shows the strategies so far, and what tells how far the next one is: a table that grows
    on a terminal, lines elsewhere."""
    from seqpa.teach.simulation import HEAD, summary_row

    if screen().quiet:
        yield (lambda found: None), (lambda stage, done, of: None)
        return
    if not is_terminal(sys.stdout):
        print("  ".join(HEAD), flush=True)
        yield (lambda found: print("  ".join(summary_row(found[-1])), flush=True)), _line
        return
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    state: dict[str, Any] = {"found": [], "caption": ""}

    def drawn() -> Table:
        table = Table(caption=state["caption"])
        for place, name in enumerate(HEAD):
            table.add_column(name, justify="left" if place == 0 else "right")
        for own in state["found"]:
            table.add_row(*summary_row(own))
        return table

    with Live(drawn(), console=Console(no_color=screen().no_color)) as live:

        def show(found: Sequence[Any]) -> None:
            state["found"] = found
            live.update(drawn())

        def progress(stage: str, done: int, of: int) -> None:
            state["caption"] = f"{stage}: {done} of {of} sessions"
            live.update(drawn())

        yield show, progress


def _line(stage: str, done: int, of: int) -> None:
    if done == 0:
        print(f"{stage}: {of} sessions", flush=True)
