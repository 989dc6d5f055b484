"""Counts of what a service did, in Prometheus's text form.

The counts of all workers stand in one mapped file, a row for each: whichever worker is asked tells
the sum. A worker writes its own row alone, from its event loop.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

ROUTES = ("tag", "stream", "model", "health", "ready", "metrics", "page", "openapi", "other")
STATUSES = (200, 204, 400, 401, 403, 404, 405, 408, 413, 415, 421, 422, 429, 500, 503)
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_TIMED = ("tag", "stream")
# Name, type and help of what has one number.
_PLAIN = (
    ("sentences_total", "counter", "Sentences tagged."),
    ("tokens_total", "counter", "Tokens tagged."),
    ("gathered_calls_total", "counter", "Calls of a tagger for short requests."),
    ("gathered_requests_total", "counter", "Short requests answered by these calls."),
    ("reloads_total", "counter", "New model files that were taken."),
    ("reload_failures_total", "counter", "New model files that were refused."),
    ("log_lines_dropped_total", "counter", "Log lines that nobody took in time."),
    ("requests_in_work", "gauge", "Requests that are being answered."),
    ("held_bytes", "gauge", "Bodies of requests in memory."),
)


def _series() -> Iterator[tuple[str, ...]]:
    yield from (("requests", route, str(status)) for route, status in product(ROUTES, STATUSES))
    for route in _TIMED:
        yield from (("seconds", route, str(bound)) for bound in (*SECONDS, "+Inf"))
        yield "seconds_sum", route
    yield from ((name,) for name, _, _ in _PLAIN)


_PLACES = {series: i for i, series in enumerate(_series())}
_ROW = len(_PLACES)


class Metrics:
    """The counts of one worker among those of all.

    Parameters
    ----------
    path : Path or None
        The file that all workers share; None for one worker alone.
    worker, workers : int
        Which row is this worker's, and how many there are.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.request("tag", 200, 0.004)
    >>> [line for line in metrics.text().splitlines() if 'le="0.005"' in line]
    ['seqpa_request_seconds_bucket{route="tag",le="0.005"} 1', \
'seqpa_request_seconds_bucket{route="stream",le="0.005"} 0']
    """

    def __init__(self, path: Path | None = None, worker: int = 0, workers: int = 1) -> None:
        if path is None:
            self._map = mmap.mmap(-1, 8 * _ROW * workers)
        else:
            with path.open("r+b") as file:
                self._map = mmap.mmap(file.fileno(), 8 * _ROW * workers)
        self._numbers = memoryview(self._map).cast("d")
        self._row = worker * _ROW
        self._workers = workers
        for name, kind, _ in _PLAIN:  # a worker that was started again has nothing in work
            if kind == "gauge":
                self._numbers[self._row + _PLACES[(name,)]] = 0.0

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered.

        Parameters
        ----------
        route : str
            One of `ROUTES`.
        status : int
        seconds : float
        """
        row, numbers = self._row, self._numbers
        place = _PLACES.get(("requests", route, str(status)))
        if place is None:
            place = _PLACES["requests", route, "500" if status >= 500 else "400"]
        numbers[row + place] += 1
        if route in _TIMED:
            bound = next((str(bound) for bound in SECONDS if seconds <= bound), "+Inf")
            numbers[row + _PLACES["seconds", route, bound]] += 1
            numbers[row + _PLACES["seconds_sum", route]] += seconds

    def add(self, name: str, amount: float = 1.0) -> None:
        """Add to a count.

        Parameters
        ----------
        name : str
        amount : float
        """
        self._numbers[self._row + _PLACES[(name,)]] += amount

    def total(self, *series: str) -> float:
        """The sum of a count over all workers.

        Parameters
        ----------
        *series : str
            Its name, and its labels.

        Returns
        -------
        float
        """
        place = _PLACES[series]
        return sum(self._numbers[place + worker * _ROW] for worker in range(self._workers))

    def text(self) -> str:
        """All counts as Prometheus reads them.

        Returns
        -------
        str
        """
        lines = [
            "# HELP seqpa_requests_total Requests answered, by route and status.",
            "# TYPE seqpa_requests_total counter",
        ]
        for route, status in product(ROUTES, map(str, STATUSES)):
            if count := self.total("requests", route, status):
                lines.append(f'seqpa_requests_total{{route="{route}",status="{status}"}} {count:g}')
        lines += [
            "# HELP seqpa_request_seconds How long answers took.",
            "# TYPE seqpa_request_seconds histogram",
        ]
        for route in _TIMED:
            sofar = 0.0
            for bound in (*map(str, SECONDS), "+Inf"):
                sofar += self.total("seconds", route, bound)
                lines.append(
                    f'seqpa_request_seconds_bucket{{route="{route}",le="{bound}"}} {sofar:.17g}'
                )
            told = self.total("seconds_sum", route)
            lines.append(f'seqpa_request_seconds_sum{{route="{route}"}} {told:.17g}')
            lines.append(f'seqpa_request_seconds_count{{route="{route}"}} {sofar:.17g}')
        for name, kind, help in _PLAIN:
            lines += [f"# HELP seqpa_{name} {help}", f"# TYPE seqpa_{name} {kind}"]
            lines.append(f"seqpa_{name} {self.total(name):.17g}")
        return "\n".join(lines) + "\n"


def shared_file(workers: int) -> Path:
    """A new file for the counts of so many workers.

    Parameters
    ----------
    workers : int

    Returns
    -------
    Path
        Whoever made it deletes it.
    """
    number, name = tempfile.mkstemp(prefix="seqpa-metrics-")
    with os.fdopen(number, "wb") as file:
        file.truncate(8 * _ROW * workers)
    return Path(name)
