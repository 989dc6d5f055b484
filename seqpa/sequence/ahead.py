"""Threads that help one that trains: they decode sentences of the blocks that it looks ahead to.

What is computed does not depend on them (`seqpa/_kernel/ahead.py` says why); they only make it
faster. They are made once for a training, spin for a moment where the next block is awaited, and
sleep when it does not come.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from seqpa._kernel.ahead import COUNTERS, MOST, TOKENS, Ahead
from seqpa._kernel.competitor import Competitor
from seqpa.errors import SeqpaError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

AUTO = "auto"
# With `auto`, a block has as many sentences as bring about so many updates.
EXPECTED = 10.0
# A helper spins for so many seconds, longer than most blocks' updates take; then it sleeps, the
# longer the more often it woke in vain, and looks again.
_SPIN = 3e-4
_SLEEP, _LONGEST_SLEEP = 2e-4, 5e-3
_IN_VAIN, _CLOSED = 0, 1  # what `Ahead.help` returns
# Below so many sentences helpers are not called.
_FEWEST = 32


def check_lookahead(lookahead: Any) -> None:
    """Raise a SeqpaError for a number of sentences that makes no sense."""
    if lookahead == AUTO and isinstance(lookahead, str):
        return
    whole = isinstance(lookahead, (int, np.integer)) and not isinstance(lookahead, bool)
    if not whole or not 1 <= lookahead <= MOST:
        raise SeqpaError(
            f"lookahead is {lookahead!r}: it must be 'auto' or a whole number from 1 to {MOST}"
        )


def new_block(longest: int, with_guesses: bool) -> Ahead:
    """Memory for blocks of sentences of at most `longest` tokens."""
    tokens = TOKENS + longest
    return Ahead(
        shared=np.zeros(COUNTERS, np.int64),
        offsets=np.zeros(MOST + 1, np.intp),
        turns=np.zeros(MOST, np.intp),
        found=np.zeros(MOST, np.uint8),
        wrong=np.zeros(MOST, np.uint8),
        paths=np.zeros(tokens, np.int32),
        guesses=np.zeros(tokens if with_guesses else 0, np.int32),
    )


class Helpers:
    """So many threads besides the one that trains; `close` ends them.

    Examples
    --------
    >>> with Helpers(1) as helpers:
    ...     helpers.count
    1
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None
        if count > 0:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(count, "seqpa-ahead")

    def __enter__(self) -> Helpers:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    @contextmanager
    def helping(
        self, ahead: Ahead, competitors: Sequence[Competitor], sentences: int
    ) -> Iterator[None]:
        """Within the ``with``, every thread decodes for these blocks.

        competitors : one for each thread
        sentences : how many there are; few are not worth the trouble
        """
        if self._pool is None or sentences < _FEWEST:
            yield
            return
        working = [self._pool.submit(_help, ahead, one) for one in competitors]
        try:
            yield
        finally:
            ahead.close()
            for one in working:
                one.result()


def _help(ahead: Ahead, by: Competitor) -> None:
    sleep, spin = _SLEEP, _SPIN
    while (found := ahead.help(by, spin)) != _CLOSED:
        if found == _IN_VAIN:
            sleep, spin = min(2 * sleep, _LONGEST_SLEEP), 0.0
        else:
            sleep, spin = _SLEEP, _SPIN
        time.sleep(sleep)
