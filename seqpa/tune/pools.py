"""Who makes trials: this process, some processes, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process
from threading import Thread
from typing import Any, Protocol

from seqpa.errors import SeqpaError

AGAIN = "the same command goes on with the trials that have ended"


class Pool(Protocol):
    """What makes trials; which handles it gives is its own affair."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Have a trial made."""

    def first(self, handles: Sequence[Any]) -> list[Any]:
        """Wait for the first of some trials; those that have ended."""

    def result(self, handle: Any) -> Any:
        """What came of a trial that has ended."""


class Here:
    """Makes each trial in this process, when it is submitted.

    Examples
    --------
    >>> here = Here()
    >>> [here.result(one) for one in here.first([here.submit(abs, -3)])]
    [3]
    """

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Make a trial."""
        return function(*arguments)

    def first(self, handles: Sequence[Any]) -> list[Any]:
        """All of them."""
        return list(handles)

    def result(self, handle: Any) -> Any:
        """The handle."""
        return handle


class Processes:
    """Makes trials in processes of its own.

    Parameters
    ----------
    pool : ProcessPoolExecutor
    """

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Have a trial made."""
        try:
            return self._pool.submit(function, *arguments)
        except BrokenProcessPool:
            raise _killed() from None

    def first(self, handles: Sequence[Any]) -> list[Any]:
        """Wait for the first of some trials; those that have ended."""
        done, _ = wait(handles, return_when=FIRST_COMPLETED)
        return list(done)

    def result(self, handle: Future[Any]) -> Any:
        """What came of a trial that has ended."""
        try:
            return handle.result()
        except BrokenProcessPool:
            raise _killed() from None


def _killed() -> SeqpaError:
    return SeqpaError(
        f"a process of the search was killed (is there memory for so many at a time? see --jobs): "
        f"{AGAIN}"
    )


def _end_with_parent() -> None:
    """A process whose search was killed ends too: it would wait for trials, and keep its text."""
    parent = parent_process()
    assert parent is not None

    def wait_for_end() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=wait_for_end, daemon=True).start()


@contextmanager
def processes(n: int) -> Iterator[Processes]:
    """So many processes, which end with the block.

    Parameters
    ----------
    n : int
    """
    from multiprocessing import get_context

    context = get_context("spawn")
    with ProcessPoolExecutor(n, mp_context=context, initializer=_end_with_parent) as pool:
        try:
            yield Processes(pool)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
