"""What every command shares: mistakes become one line and an exit status, never a traceback."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from seqpa.errors import SeqpaError, SeqpaWarning

USER_ERROR = 2
# As a shell reports a program that the closed pipe ended.
BROKEN_PIPE = 141
INTERRUPTED = 130


def error_line(message: str) -> int:
    """Print ``seqpa: error: message`` in one line.

    Parameters
    ----------
    message : str
        What is wrong; line breaks become spaces.

    Returns
    -------
    int
        The exit status.
    """
    print(f"seqpa: error: {' '.join(message.split())}", file=sys.stderr)
    return USER_ERROR


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with its errors told in one line.

    Parameters
    ----------
    command : callable
        What typer calls.

    Returns
    -------
    callable
        The same, but it exits with a status instead of raising.
    """

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with _one_line_warnings():
                command(*args, **kwargs)
            sys.stdout.flush()
        except SeqpaError as error:
            raise typer.Exit(error_line(str(error))) from None
        except BrokenPipeError:
            abandon_stdout()
            raise typer.Exit(BROKEN_PIPE) from None
        except OSError as error:
            abandon_stdout()
            name = error.filename or "<stdout>"
            message = f"{name}: {error.strerror or error}"
            raise typer.Exit(error_line(message)) from None
        except MemoryError:
            raise typer.Exit(error_line("not enough memory for this")) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None

    return run


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Print seqpa's own warnings as ``seqpa: warning: ...``, each once."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", SeqpaWarning)
        usual = warnings.showwarning

        def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            if issubclass(category, SeqpaWarning):
                print(f"seqpa: warning: {' '.join(str(message).split())}", file=sys.stderr)
            else:
                usual(message, category, *rest, **more)

        warnings.showwarning = show
        yield


def abandon_stdout() -> None:
    """Let nothing more be written there: what is buffered would fail again when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
