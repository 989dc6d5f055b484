"""What every command shares: mistakes become one line and an exit status, never a traceback."""

from __future__ import annotations

import functools
import inspect
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, get_type_hints

import typer

from seqpa.cli.screen import NoColor, Quiet, Verbose, shown
from seqpa.errors import SeqpaError, SeqpaWarning

USER_ERROR = 2
# As a shell reports a program that the closed pipe ended.
BROKEN_PIPE = 141
INTERRUPTED = 130
# The options that every command has.
_SCREEN = {"quiet": Quiet, "verbose": Verbose, "no_color": NoColor}


def error_line(message: str) -> int:
    """Print ``seqpa: error: message`` in one line.

    Parameters
    ----------
    message : str
        What is wrong; line breaks become spaces, and what a terminal would obey is spelled out.

    Returns
    -------
    int
        The exit status.
    """
    _tell("error", message)
    return USER_ERROR


def _tell(what: str, message: str) -> None:
    line = "".join(
        sign if sign.isprintable() else ascii(sign)[1:-1] for sign in " ".join(message.split())
    )
    if sys.stderr is not None:  # print would take standard output instead
        with suppress(OSError):
            print(f"seqpa: {what}: {line}", file=sys.stderr, flush=True)


def whole_lines() -> None:
    """Let standard output lose nothing: not what a short write left, nor what it cannot spell.

    With PYTHONUNBUFFERED there is no buffer that would notice that only a part was written.
    """
    own = sys.stdout
    if own is not sys.__stdout__ or not isinstance(own, io.TextIOWrapper):
        return  # somebody else's, who looks after it
    if isinstance(own.buffer, io.RawIOBase):
        sys.stdout = open(  # noqa: SIM115 (a descriptor, which stays open)
            own.fileno(), "w", buffering=1, encoding=own.encoding, closefd=False
        )
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


@contextmanager
def orderly_end() -> Iterator[None]:
    """Signals that ask a process to end become an exception, so that everything is tidied up.

    The exit status is what a shell reports, 128 and the signal's number. What ignored a signal
    before, as under nohup, goes on ignoring it.
    """

    def end(number: int, _: Any) -> None:
        for other in ours:  # once is enough: another must not interrupt the tidying
            signal.signal(other, signal.SIG_IGN)
        raise SystemExit(128 + number)

    ours: list[int] = []
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        with suppress(ValueError):  # only the main thread may
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, end)
                ours.append(number)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that its errors become one line, and ``-q``, ``-v``, ``--no-color`` work.

    Parameters
    ----------
    command : callable
        What typer calls.

    Returns
    -------
    callable
        The same with these options, but it exits with a status instead of raising.
    """

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        asked = [bool(kwargs.pop(name, False)) for name in _SCREEN]
        try:
            with _one_line_warnings(), shown(*asked):
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

    # typer reads the options off the signature.
    kinds = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    own = [one.replace(annotation=kinds[one.name]) for one in signature.parameters.values()]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in _SCREEN.items()
    ]
    run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    run.__annotations__ = {**kinds, **_SCREEN}
    return run


@contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Print seqpa's own warnings as ``seqpa: warning: ...``, each once."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", SeqpaWarning)
        usual = warnings.showwarning

        def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            if issubclass(category, SeqpaWarning):
                _tell("warning", str(message))
            else:
                usual(message, category, *rest, **more)

        warnings.showwarning = show
        yield


def abandon_stdout() -> None:
    """Let nothing more reach standard output: what is buffered would fail again at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
