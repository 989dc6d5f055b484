"""``seqpa init``: look at labelled data, say what was seen, write a configuration for it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from seqpa.data.survey import Survey


def init(
    files: Annotated[
        list[str],
        typer.Argument(help="Labelled files: for training and, if there are, dev and test."),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The configuration to write.")
    ] = Path("seqpa.yaml"),
    label: Annotated[
        int | None,
        typer.Option(metavar="N", min=2, help="Which column is the label, counted from 1."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing; take what seems right.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a configuration that is there.")
    ] = False,
) -> None:
    """Look at labelled data and write a first configuration for it.

    Format, encoding, columns, scheme and sizes are found by looking. What cannot be seen is asked
    on a terminal.
    """
    from seqpa.config.suggestion import roles_of, suggestion
    from seqpa.data.survey import survey
    from seqpa.errors import SeqpaError
    from seqpa.files import write_atomically

    if output.exists() and not force:
        raise SeqpaError(f"{output}: is there already; say --force to replace it, or -o OTHER")
    roles = roles_of(files)
    surveys = {}
    chosen = None if label is None else label - 1
    for role in ("train", *(role for role in roles if role != "train")):
        surveys[role] = survey(roles[role], chosen)
        print("\n".join(surveys[role].lines()))
        if role == "train":
            chosen = surveys[role].label_at
            if label is None and not yes:
                chosen = _asked(surveys[role])
                if chosen != surveys[role].label_at:
                    surveys[role] = survey(roles[role], chosen)
    text = suggestion(surveys, output.parent)
    write_atomically(output, text.encode())
    print(f"\n{text}\nwritten to {output}; now run: seqpa train {output}")


def _asked(found: Survey) -> int | None:
    """Which column is the label, if there is a choice and somebody to ask."""
    if len(found.columns) < 3 or found.seen.format != "conll":
        return found.label_at
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return found.label_at
    usual = (found.label_at or 0) + 1
    last = len(found.columns)
    number = 0
    while not 2 <= number <= last:
        number = typer.prompt(f"which column is the label, 2 to {last}?", default=usual, type=int)
    return number - 1
