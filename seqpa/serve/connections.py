"""uvicorn's connections, which give a slow or endless request head no more than its time and size.

uvicorn waits for as long as a client likes until the head of a request is complete.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from seqpa.serve.problems import MEDIA_TYPE, Problem
from seqpa.serve.settings import Limits


def connection_class(limits: Limits) -> type[asyncio.Protocol]:
    """The protocol for uvicorn's configuration.

    Parameters
    ----------
    limits : Limits

    Returns
    -------
    class
    """
    base: Any = AutoHTTPProtocol

    class Connection(base):
        """One connection; reads a head whenever no request is being answered."""

        _head_timer: asyncio.TimerHandle | None = None
        _head_size = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > limits.connections:
                problem = Problem(503, "too many connections: try again", retry_after=1)
                transport.write(_raw(problem))
                transport.close()
            else:
                self._wait_for_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self.transport.is_closing():
                return
            super().data_received(data)
            if self._is_between_requests():
                self._head_size += len(data)
                if self._head_size > limits.head_bytes:
                    self.transport.write(_raw(Problem(431, "the head of the request is too long")))
                    self.transport.close()
                elif self._head_timer is None:
                    self._wait_for_head()
            else:
                self._head_size = 0
                self._stop_waiting()

        def send_400_response(self, msg: str) -> None:
            self.transport.write(_raw(Problem(400, "this is no HTTP request")))
            self.transport.close()

        def _is_between_requests(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def _wait_for_head(self) -> None:
            self._head_timer = self.loop.call_later(limits.head_seconds, self._head_is_late)

        def _stop_waiting(self) -> None:
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None

        def _head_is_late(self) -> None:
            self._head_timer = None
            if self._is_between_requests() and not self.transport.is_closing():
                self.transport.close()

    return Connection


def _raw(problem: Problem) -> bytes:
    """A problem as a whole HTTP answer, for what never becomes a request."""
    record, body = problem.record(), problem.body()
    lines = [
        f"HTTP/1.1 {problem.status} {record['title']}",
        f"content-type: {MEDIA_TYPE}",
        f"content-length: {len(body)}",
        "connection: close",
        *(f"{name}: {value}" for name, value in problem.headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body
