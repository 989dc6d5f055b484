"""What is shown beside the results: how much, in colour or not, moving or not.

``-q``, ``-v`` and ``--no-color`` stand behind ``seqpa`` or behind a command, and hold for one call
of it. NO_COLOR in the environment has the effect of ``--no-color`` (no-color.org).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

Quiet = Annotated[
    bool,
    typer.Option("-q", "--quiet", help="No progress and no notes: results, warnings and errors."),
]
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Say more: what is read, and how long it takes.")
]
NoColor = Annotated[
    bool, typer.Option("--no-color", help="No colours on a terminal; NO_COLOR=1 does the same.")
]


@dataclass(frozen=True, slots=True)
class Screen:
    """What the user wants to see.

    Parameters
    ----------
    quiet : bool
        No progress and no notes.
    verbose : bool
        More notes.
    no_color : bool
        No colours.
    """

    quiet: bool = False
    verbose: bool = False
    no_color: bool = False

    def note(self, text: str) -> None:
        """Print a line beside the results of a command whose results are files."""
        if not self.quiet:
            print(text, flush=True)

    def aside(self, text: str) -> None:
        """Print a line on standard error, where standard output is for data."""
        if not self.quiet and sys.stderr is not None:
            print(text, file=sys.stderr, flush=True)

    def detail(self, text: str) -> None:
        """Print a line on standard error if more is asked for."""
        if self.verbose:
            self.aside(text)

    def moves(self, stream: Any) -> bool:
        """Whether bars may move there: it is a terminal, and nobody wants it quiet."""
        return not self.quiet and is_terminal(stream) and os.environ.get("TERM") != "dumb"

    def colours(self, stream: Any) -> bool:
        """Whether there may be colours."""
        wanted = not self.no_color and not os.environ.get("NO_COLOR")
        return wanted and is_terminal(stream) and os.environ.get("TERM") != "dumb"

    def console(self, stream: Any) -> Console:
        """rich's console for a stream."""
        from rich.console import Console

        return Console(file=stream, no_color=not self.colours(stream), highlight=False)


_present: ContextVar[Screen] = ContextVar("screen", default=Screen())  # noqa: B039 (frozen)


def screen() -> Screen:
    """The screen of the present call.

    Returns
    -------
    Screen
    """
    return _present.get()


@contextmanager
def shown(quiet: bool, verbose: bool, no_color: bool) -> Iterator[None]:
    """Set the screen for a while; what was asked for before stays asked for.

    Parameters
    ----------
    quiet, verbose, no_color : bool
        What is asked for here.
    """
    old = screen()
    wanted = Screen(old.quiet or quiet, old.verbose or verbose, old.no_color or no_color)
    token = _present.set(wanted)
    try:
        yield
    finally:
        _present.reset(token)


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal; one that is closed or missing is none.

    Parameters
    ----------
    stream : object
        Standard output or standard error.

    Returns
    -------
    bool
    """
    try:
        return stream is not None and bool(stream.isatty())
    except ValueError:
        return False
