"""Bodies of requests, read within limits of size, time and memory: whole, or line by line."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from typing import Any, TypeAlias

from seqpa.serve.deadlines import Deadline
from seqpa.serve.problems import Problem
from seqpa.serve.settings import Limits

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Headers: TypeAlias = Sequence[tuple[bytes, bytes]]

# Of a body that is not wanted, so much is read all the same, in so many seconds: a client that is
# cut off while it sends may not see why.
_DISCARDED = 2**23
_DISCARDED_SECONDS = 2.0


class Disconnected(Exception):
    """The client has gone: nobody waits for an answer."""


class Bodies:
    """Reads bodies, and knows how much memory they take together.

    Parameters
    ----------
    limits : Limits
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.held = 0

    async def whole(self, scope: Scope, receive: Receive) -> bytes:
        """Read a body to its end. Whoever reads it says `free` when it was answered.

        Parameters
        ----------
        scope : mapping
        receive : function
            Of ASGI.

        Returns
        -------
        bytes

        Raises
        ------
        Problem
            If it is too long or too slow, or if there is no more room.
        Disconnected
            If the client goes.
        """
        most = self._limits.body_bytes
        told = header(scope["headers"], b"content-length")
        if told is not None and told.isdigit() and int(told) > most:
            raise self._too_long()
        chunks: list[bytes] = []
        size = 0
        try:
            with Deadline(self._limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Disconnected
                    chunk: bytes = message.get("body", b"")
                    size += len(chunk)
                    self.held += len(chunk)
                    if size > most:
                        raise self._too_long()
                    if self.held > self._limits.held_bytes:
                        raise Problem(503, "too much is waiting: try again", retry_after=1)
                    chunks.append(chunk)
                    if not message.get("more_body", False):
                        return chunks[0] if len(chunks) == 1 else b"".join(chunks)
        except TimeoutError:
            self.held -= size
            raise Problem(
                408, f"the body was not there after {self._limits.body_seconds:g} seconds"
            ) from None
        except BaseException:
            self.held -= size
            raise

    def free(self, body: bytes) -> None:
        """Say that a body takes no memory any more.

        Parameters
        ----------
        body : bytes
        """
        self.held -= len(body)

    def _too_long(self) -> Problem:
        return Problem(
            413,
            f"the body is longer than {self._limits.body_bytes:,} bytes: send less at once, or "
            "lines to /tag/stream",
        )

    async def lines(self, receive: Receive) -> AsyncIterator[list[bytes | None]]:
        """Read a body as lines, as many at a time as have come.

        Parameters
        ----------
        receive : function
            Of ASGI.

        Yields
        ------
        list of bytes or None
            None for a line that is too long; empty lines are yielded too.

        Raises
        ------
        TimeoutError
            If nothing comes for too long.
        Disconnected
            If the client goes.
        """
        most = self._limits.body_bytes
        rest = bytearray()
        too_long = False
        more = True
        while more:
            with Deadline(self._limits.idle_seconds):
                message = await receive()
            if message["type"] == "http.disconnect":
                raise Disconnected
            more = message.get("more_body", False)
            *whole, last = message.get("body", b"").split(b"\n")
            found: list[bytes | None] = []
            for piece in whole:
                found.append(
                    None if too_long or len(rest) + len(piece) > most else bytes(rest) + piece
                )
                rest.clear()
                too_long = False
            rest += last
            if len(rest) > most:
                too_long = True
                rest.clear()
            if not more and (rest or too_long):
                found.append(None if too_long else bytes(rest))
            if found:
                yield found


async def discard(receive: Receive) -> bool:
    """Read what is left of a body, and forget it.

    Parameters
    ----------
    receive : function
        Of ASGI.

    Returns
    -------
    bool
        Whether that was all.
    """
    size = 0
    try:
        with Deadline(_DISCARDED_SECONDS):
            while size < _DISCARDED:
                message = await receive()
                size += len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return True
    except TimeoutError:
        pass
    return False


def header(headers: Headers, name: bytes) -> bytes | None:
    """The value of a header, or None.

    Parameters
    ----------
    headers : sequence of (name, value)
        As ASGI has them, names in lower case.
    name : bytes

    Returns
    -------
    bytes or None

    Examples
    --------
    >>> header([(b"host", b"localhost")], b"host")
    b'localhost'
    """
    for own, value in headers:
        if own == name:
            return value
    return None
