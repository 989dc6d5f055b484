"""What every request passes: the host's name, the token, headers that browsers obey, counts, logs.

A plain ASGI application around another one, so that it costs little and sees every answer.
"""

from __future__ import annotations

import functools
import hmac
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from seqpa.serve.bodies import Disconnected, Headers, Message, Receive, Scope, Send, discard, header
from seqpa.serve.logs import Log
from seqpa.serve.metrics import Metrics
from seqpa.serve.problems import MEDIA_TYPE, Fault, Problem
from seqpa.serve.settings import Settings, is_loopback

Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

# Scripts, styles and requests come from this service and go to it; nothing else is loaded or run.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ALWAYS: list[tuple[bytes, bytes]] = [
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Guard:
    """Lets requests through to an application, and answers those that may not pass.

    Parameters
    ----------
    application : ASGI application
    settings : Settings
    routes : mapping of str to str
        Paths and what they are called in logs and counts.
    open_routes : set of str
        What needs no token.
    metrics : Metrics
    log : Log
    admits : function of bytes to bool, optional
        Whether the header Authorization lets a request in; by default, if it bears the token of the
        settings.
    """

    def __init__(
        self,
        application: Application,
        settings: Settings,
        routes: Mapping[str, str],
        open_routes: frozenset[str],
        metrics: Metrics,
        log: Log,
        admits: Callable[[bytes], bool] | None = None,
    ) -> None:
        self.application = application
        self._routes = routes
        self._open = open_routes
        self._metrics = metrics
        self._log = log
        if admits is None and settings.token is not None:
            token = f"Bearer {settings.token}".encode()
            admits = functools.partial(hmac.compare_digest, token)
        self._admits = admits
        # Without a token, a page of somebody else's must not reach the service by a name of its own
        # that leads to this machine.
        self._hosts = {"localhost", "127.0.0.1", "[::1]", *settings.hosts}
        self._hosts.add(f"[{settings.host}]" if ":" in settings.host else settings.host)
        self._check_host = admits is None and is_loopback(settings.host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, as ASGI has it."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        began = time.perf_counter()
        route = self._routes.get(scope["path"], "other")
        status = 0
        at_end = False

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_ALWAYS]
            await send(message)

        async def heard() -> Message:
            nonlocal at_end
            message = await receive()
            at_end = not message.get("more_body", False)
            return message

        self._metrics.add("requests_in_work")
        facts: dict[str, Any] = {}
        scope["seqpa"] = facts
        try:
            try:
                self._check(scope["headers"], route)
                await self.application(scope, heard, told)
            except Problem as problem:
                if status:
                    raise
                await refuse(problem, told, None if at_end else receive)
        except Disconnected:
            status = status or 499
        except Exception as error:
            self._log.fault(error)
            if not status:
                await refuse(Fault(error), told)
        finally:
            seconds = time.perf_counter() - began
            self._metrics.add("requests_in_work", -1)
            self._metrics.request(route, status, seconds)
            self._log.info(
                "request",
                route=route,
                method=scope["method"] if route != "other" else "",
                status=status,
                ms=round(1000 * seconds, 2),
                **facts,
            )

    def _check(self, headers: Headers, route: str) -> None:
        if self._check_host:
            host = (header(headers, b"host") or b"localhost").decode("latin-1").lower()
            name = host if host.endswith("]") else host.rpartition(":")[0] or host
            if name not in self._hosts:
                raise Problem(
                    421, "the service is not called by this name; if it should be: --allow-host"
                )
        if self._admits is None or route in self._open:
            return
        if not self._admits(header(headers, b"authorization") or b""):
            raise Problem(
                401,
                "this needs the header Authorization: Bearer, with the service's token",
                headers={"www-authenticate": "Bearer"},
            )


async def refuse(problem: Problem, send: Send, receive: Receive | None = None) -> None:
    """Send a problem as an answer.

    Parameters
    ----------
    problem : Problem
    send, receive : functions
        Of ASGI; `receive` where the body was not read to its end.
    """
    body = problem.body()
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *((name.encode(), value.encode()) for name, value in problem.headers.items()),
    ]
    if receive is not None and not await discard(receive):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
