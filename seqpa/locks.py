"""A lock that a forked child does not inherit in a locked state."""

from __future__ import annotations

import os
import threading
from types import TracebackType


class ForkSafeLock:
    """A reentrant lock, new in every process.

    When a process forks while another thread holds a lock, nobody is left in the child to release
    it. Here the child begins with a lock of its own.

    Examples
    --------
    >>> lock = ForkSafeLock()
    >>> with lock, lock:
    ...     "held twice by one thread"
    'held twice by one thread'
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._lock, self._process = threading.RLock(), os.getpid()
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[ForkSafeLock], tuple[()]]:
        return ForkSafeLock, ()
