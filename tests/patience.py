"""How long tests wait for what must come.

On a busy machine whole processes stand still for many seconds: what is waited for has its time, and
a limit is there only so that a fault does not hold up all the others for ever.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

LONG = 180.0  # seconds
_STANDING = """
import sys, time
from seqpa.cli import main
from seqpa.training_run import TrainingRun
usual = TrainingRun.epochs
def epochs(self, progress=None):
    for epoch in usual(self, progress):
        yield epoch
        if epoch.number == {epoch}:
            time.sleep(3600)
TrainingRun.epochs = epochs
sys.exit(main(sys.argv[1:]))
"""


def standing(epoch: int) -> list[str]:
    """What makes Python a `seqpa` whose training stands still behind an epoch.

    Whoever is to kill it in the middle may be late, and never too late.
    """
    return ["-c", _STANDING.format(epoch=epoch)]


def until(test: Callable[[], Any], seconds: float = LONG) -> Any:
    """Wait until a test holds; what it found."""
    end = time.monotonic() + seconds
    while not (found := test()):
        assert time.monotonic() < end, f"waited in vain: {found!r}"
        time.sleep(0.02)
    return found
