"""Time limits of what a task waits for, and limits on how much is in work at a time."""

from __future__ import annotations

import asyncio
from types import TracebackType

from seqpa.serve.problems import Problem


class Deadline:
    """What is awaited inside must be there in so many seconds, else a TimeoutError is raised.

    As `asyncio.timeout`, which Python 3.10 has not.

    Parameters
    ----------
    seconds : float

    Examples
    --------
    >>> async def wait() -> str:
    ...     try:
    ...         with Deadline(0.01):
    ...             await asyncio.sleep(60)
    ...     except TimeoutError:
    ...         return "too late"
    ...     return "in time"
    >>> asyncio.run(wait())
    'too late'
    """

    __slots__ = ("_expired", "_seconds", "_task", "_timer")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._expired = False

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._expire)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        if not self._expired:
            return
        withdraw = getattr(self._task, "uncancel", None)  # since Python 3.11
        if withdraw is not None:
            withdraw()
        if kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from None

    def _expire(self) -> None:
        self._expired = True
        if self._task is not None:
            self._task.cancel()


class Gate:
    """Lets so many in at a time; the next is told to come again.

    Parameters
    ----------
    most : int
    what : str
        What they are called.

    Examples
    --------
    >>> gate = Gate(1, "requests")
    >>> with gate:
    ...     try:
    ...         gate.__enter__()
    ...     except Problem as problem:
    ...         problem.status, problem.headers
    (429, {'retry-after': '1'})
    """

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self.inside = 0

    def __enter__(self) -> None:
        if self.inside >= self._most:
            raise Problem(
                429, f"{self._most} {self._what} are in work already: try again", retry_after=1
            )
        self.inside += 1

    def __exit__(self, *_: object) -> None:
        self.inside -= 1
