"""Listening and ending: one process, or several that share a socket.

The models are read and the socket is bound before anything is promised, so that a mistake of the
user's is one line and no service. A signal to end lets what was begun be finished.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import uvicorn

from seqpa.errors import SeqpaError
from seqpa.serve.app import create_app
from seqpa.serve.connections import connection_class
from seqpa.serve.guard import Application
from seqpa.serve.logs import Log, take_server_logs
from seqpa.serve.metrics import Metrics, shared_file
from seqpa.serve.models import Models
from seqpa.serve.settings import Limits, Settings

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# A worker that ends by itself is started again, but not more often than this.
_PAUSE_SECONDS = 1.0


def run(settings: Settings, on_ready: Callable[[str], None] = lambda address: None) -> None:
    """Serve until a signal says to end.

    Parameters
    ----------
    settings : Settings
    on_ready : function of str
        Called with the address once requests are taken.

    Raises
    ------
    SeqpaError
        If a model cannot be read, or the address not be listened at.
    """
    if settings.workers == 1:
        models = Models(settings.models, settings.allow_imports)
        with bound(settings) as listener:
            _serve(settings, models, Metrics(), listener, lambda: on_ready(address_of(listener)))
        return
    Models(settings.models, settings.allow_imports)  # a mistake is told once, here
    with bound(settings) as listener:
        _Workers(settings, listener).run(lambda: on_ready(address_of(listener)))


@contextmanager
def bound(settings: Settings) -> Iterator[socket.socket]:
    """The socket to listen at.

    Parameters
    ----------
    settings : Settings

    Yields
    ------
    socket
    """
    try:
        found = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SeqpaError(
            f"--host {settings.host}: is no address of this machine ({error.strerror})"
        ) from None
    try:
        if os.name != "nt":  # there it would let two services have one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            raise SeqpaError(
                f"{settings.host}:{settings.port}: cannot be listened at "
                f"({error.strerror}); choose another --port, or --port 0 for a free one"
            ) from None
        listener.listen(2048)
        yield listener
    finally:
        listener.close()


def address_of(listener: socket.socket) -> str:
    """The address of a socket, as a browser takes it.

    Parameters
    ----------
    listener : socket

    Returns
    -------
    str
    """
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class _Server(uvicorn.Server):
    """uvicorn's server, which ends as asked: a signal to end is no failure."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with _on_signals(self.handle_exit):
            yield


@contextmanager
def _on_signals(handler: Callable[[int, Any], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _serve(
    settings: Settings,
    models: Models,
    metrics: Metrics,
    listener: socket.socket,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve in this process."""
    log = Log(quiet=settings.quiet)

    def ready() -> None:
        versions = {card["name"]: card["version"] for card in models.cards()}
        log.info("ready", address=address_of(listener), models=versions, process=os.getpid())
        on_ready()

    serve_app(create_app(settings, models, metrics, log), settings.limits, listener, log, ready)


def serve_app(
    app: Application,
    limits: Limits,
    listener: socket.socket,
    log: Log,
    on_ready: Callable[[], None],
) -> None:
    """Serve an application in this process, until a signal says to end.

    Parameters
    ----------
    app : ASGI application
    limits : Limits
    listener : socket
        As `bound` gives it.
    log : Log
        Is closed at the end.
    on_ready : function
        Called once requests are taken.
    """
    take_server_logs(log)
    config = uvicorn.Config(
        app,
        http=connection_class(limits),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=int(limits.idle_seconds),
        timeout_graceful_shutdown=int(limits.shutdown_seconds),
    )
    try:
        _Server(config, on_ready).run(sockets=[listener])
        log.info("ended", process=os.getpid())
    finally:
        log.close()


def _work(
    settings: Settings, listener: socket.socket, shared: Path, worker: int, ready: Event
) -> None:
    """Serve as one of several workers, in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all; one decides
    metrics = Metrics(shared, worker, settings.workers)
    try:
        models = Models(settings.models, settings.allow_imports)
    except SeqpaError as error:
        log = Log()
        log.warning("model refused", reason=str(error))
        log.close()
        time.sleep(_PAUSE_SECONDS)
        raise SystemExit(1) from None
    _serve(settings, models, metrics, listener, ready.set)


class _Workers:
    """Processes that take requests from one socket; one that dies is started again."""

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self._listener = listener
        self._context = multiprocessing.get_context("spawn")
        self._shared = shared_file(settings.workers)
        self._workers: list[BaseProcess] = []
        self._ready = [self._context.Event() for _ in range(settings.workers)]
        self._ending = threading.Event()

    def run(self, on_ready: Callable[[], None]) -> None:
        """Start the workers, and keep so many until a signal says to end."""
        log = Log(quiet=self._settings.quiet)
        try:
            with _on_signals(lambda *_: self._ending.set()):
                self._workers = [self._start(i) for i in range(self._settings.workers)]
                told = False
                while not self._ending.wait(0.2 if told else 0.02):
                    # Before that, requests would wait for processes that are still starting.
                    if not told and all(one.is_set() for one in self._ready):
                        told = True
                        on_ready()
                    for i, one in enumerate(self._workers):
                        if not one.is_alive():
                            log.warning("worker ended", worker=i, status=one.exitcode)
                            self._ending.wait(_PAUSE_SECONDS)
                            self._workers[i] = self._start(i)
                self._end()
        finally:
            self._shared.unlink(missing_ok=True)
            log.close()

    def _start(self, worker: int) -> BaseProcess:
        arguments = (self._settings, self._listener, self._shared, worker, self._ready[worker])
        one = self._context.Process(target=_work, args=arguments, name=f"seqpa-worker-{worker}")
        one.start()
        return one

    def _end(self) -> None:
        for one in self._workers:
            one.terminate()
        most = time.monotonic() + self._settings.limits.shutdown_seconds + 5
        for one in self._workers:
            one.join(max(0.0, most - time.monotonic()))
            if one.is_alive():
                one.kill()
                one.join()
