"""Which options go with which use of ``seqpa teach``: one that would do nothing is refused."""

from __future__ import annotations

import typer

from seqpa.errors import SeqpaError

# What is in no list, as --no-browser, may always be said.
_PAGE = {"user", "add_user", "strategy", "confirm", "guidelines", "host", "port", "allow_host"}
_TEXT = {"format", "columns", "label", "encoding", "language"}

NEW, GOES_ON = "a new project", "a project that is there"
_WAYS = {
    "--backend": {
        "backend", "labels", "kind", "add_user", "host", "port", "allow_host", "language", "seed",
    },
    "--simulate": _TEXT | {
        "simulate", "test", "noise", "seeds", "budget", "features", "jobs", "strategy", "kind",
        "output",
    },
    "--export": {"export", "scheme", "parts", "output", "force"},
    "--train": {"train", "output", "force"},
    NEW: _PAGE | _TEXT | {
        "labels", "project", "kind", "model", "given", "unlabelled", "share", "seed",
    },
    GOES_ON: _PAGE,
}  # fmt: skip


def check_options(context: typer.Context, way: str) -> None:
    """Raise a SeqpaError where an option was given that this use does not look at.

    Parameters
    ----------
    context : typer.Context
        Of the command.
    way : str
        An option that decides what is done, `NEW` or `GOES_ON`.
    """
    for parameter in context.command.params:
        name = parameter.name or ""
        ways = [other for other, known in _WAYS.items() if name in known]
        source = context.get_parameter_source(name)
        if not ways or way in ways or source is None or source.name != "COMMANDLINE":
            continue
        option = max(parameter.opts, key=len)
        if ways == [option]:
            raise SeqpaError(f"{option} does not go with {way}")
        *most, last = ways
        listed = f"{', '.join(most)} or {last}" if most else last
        raise SeqpaError(f"{option} goes with {listed}, not with {way}")
