"""`Background`: the thread that works while nobody asks for anything."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_PAUSE = 0.02  # seconds between two pieces of work, so that requests come between
_IDLE = 0.4  # seconds without a change after which the desk is tidied


class Background:
    """Looks through what there is in small pieces, and rests when it was all looked at.

    Parameters
    ----------
    look : function of int
        Looks at a piece; told how many were looked at since the last change. Returns how many it
        looked at, 0 where all were.
    rest : function
        What is done once after every change, in an idle moment.
    """

    def __init__(self, look: Callable[[int], int], rest: Callable[[], None]) -> None:
        self._look = look
        self._rest = rest
        self._new = threading.Event()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="seqpa-teach", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Something has changed: look at everything again."""
        self._new.set()

    def close(self) -> None:
        """End the thread, after what it is at."""
        self._ending = True
        self._new.set()
        self._thread.join()

    def _run(self) -> None:
        looked = 0
        more = rested = True
        changed = time.monotonic()
        while not self._ending:
            if not more and rested:
                self._new.wait()
            if self._new.is_set():
                self._new.clear()
                looked, more, rested = 0, True, False
                changed = time.monotonic()
            if self._ending:
                return
            if more:
                done = self._look(looked)
                looked += done
                more = done > 0
                time.sleep(_PAUSE)
            elif not rested and not self._new.wait(max(0.0, changed + _IDLE - time.monotonic())):
                self._rest()
                rested = True
