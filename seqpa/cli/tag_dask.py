"""``seqpa tag --dask``: many files on the workers of a cluster."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from seqpa.cli.screen import screen
from seqpa.errors import SeqpaError

if TYPE_CHECKING:
    from seqpa.cluster.tagging import TaggingOptions


def check_files(input: str, output: str, others: dict[str, bool]) -> None:
    """Raise a SeqpaError where options do not go with ``--dask``.

    Parameters
    ----------
    input, output : str
        Of the command line.
    others : dict
        Options that write more than labels, and whether each was given.
    """
    if input == "-":
        raise SeqpaError(
            "--dask reads files, and not standard input: name them, as in 'in/*.conll'"
        )
    given = [name for name, is_given in others.items() if is_given]
    if given:
        raise SeqpaError(f"{given[0]} does not go with --dask, which writes labels alone")
    if output == "-" or Path(output).is_file():
        raise SeqpaError("--dask writes a file for each input: name a folder, as in -o tagged/")


def tag_on_cluster(
    dask: str, model: Path, inputs: list[str], output: str, options: TaggingOptions
) -> None:
    """Tag files on a cluster, and tell how far it is.

    Parameters
    ----------
    dask : str
        The address of the scheduler, or ``local:4``.
    model : Path
    inputs : list of str
    output : str
        A folder.
    options : TaggingOptions
    """
    from rich.progress import track

    from seqpa.cluster.executors import TIMEOUT
    from seqpa.cluster.run import executor_at
    from seqpa.cluster.tagging import tag_files

    moving = screen().moves(sys.stderr)
    bar = iter(
        track(
            inputs,
            "tagging",
            console=screen().console(sys.stderr),
            transient=True,
            disable=not moving,
        )
    )

    def done(name: str, number: int) -> None:
        next(bar, None)
        screen().detail(f"{name} is tagged")

    with executor_at(dask, TIMEOUT, "the same command does the rest") as executor:
        executor.told = screen().note
        try:
            tagged, left = tag_files(executor, model, inputs, output, options, done)
        except KeyboardInterrupt:
            screen().note("stopped; the same command does the rest")
            raise
    there = f"; {left:,} were there already" if left else ""
    screen().note(f"{tagged:,} file{'s' * (tagged != 1)} tagged into {output}{there}")
