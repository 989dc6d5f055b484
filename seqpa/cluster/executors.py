"""Who runs the tasks: a Dask cluster, or this very process.

Both give the same results. With Dask a task is submitted with all that it needs, so that the
scheduler can have it done again when a worker is lost; no task is pinned to a worker, and what is
waited for has a limit.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any, Protocol
from uuid import uuid4

import seqpa
from seqpa.cluster.tasks import checked
from seqpa.errors import SeqpaError

Told = Callable[[str], None]
TIMEOUT = 60.0  # seconds without a worker, or without the scheduler
BEGIN_AGAIN = "begin again, or go on from a state that was saved (save_state, load_state)"
_TICK = 0.5
# So many processes for each core of this machine: more would only take its memory.
_LOCAL_PER_CORE = 16
# Ctrl-C on a terminal reaches every process of a command; only the client answers it.
_UNINTERRUPTED = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
# Asks whoever evaluates it for its version, also where seqpa is not installed.
_VERSION = "__import__('seqpa.cluster.tasks').__version__"
_TIMES_UP = (TimeoutError, asyncio.TimeoutError)  # one and the same from Python 3.11 on


class Executor(Protocol):
    """What runs tasks; whatever it is, results depend on the tasks alone."""

    told: Told | None

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Have a task done; arguments may be what earlier calls returned, or lists of it."""

    def results(
        self, handles: Sequence[Any], done: Callable[[int], None] | None = None
    ) -> list[Any]:
        """The results, in the order of the handles; `done` is told the number of each that ends."""

    def slots(self) -> int:
        """How many tasks can run at a time."""

    def workers(self) -> int:
        """How many processes run them."""

    def check(self) -> None:
        """Raise a SeqpaError where a worker cannot do the work."""

    def check_memory(self, nbytes: int, what: str) -> None:
        """Raise a SeqpaError where a worker has less memory than a task needs."""


class Inline:
    """Runs every task in this process, when it is submitted.

    Examples
    --------
    >>> inline = Inline()
    >>> inline.results([inline.submit(sum, [1, inline.submit(abs, -4)])])
    [5]
    """

    def __init__(self, told: Told | None = None) -> None:
        self.told = told

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a task."""
        return function(*arguments)

    def results(
        self, handles: Sequence[Any], done: Callable[[int], None] | None = None
    ) -> list[Any]:
        """The results: the handles."""
        for i in range(len(handles)):
            if done is not None:
                done(i)
        return list(handles)

    def slots(self) -> int:
        """One."""
        return 1

    def workers(self) -> int:
        """One."""
        return 1

    def check(self) -> None:
        """Nothing can be wrong."""

    def check_memory(self, nbytes: int, what: str) -> None:
        """Nobody knows a limit."""


class OnDask:
    """Runs tasks on a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    told : callable, optional
        Is told in a line when a worker is lost.
    timeout : float
        After so many seconds without any worker, or without the scheduler, the work is given up.
    again : str
        What messages say of work that was given up: how it goes on.
    """

    def __init__(
        self,
        client: Any,
        told: Told | None = None,
        timeout: float = TIMEOUT,
        again: str = BEGIN_AGAIN,
    ) -> None:
        self.client = client
        self.told = told
        self.timeout = timeout
        self.again = again
        self._last_info: dict[str, Any] = {}
        self._workers = _identities(self._info())
        self._alone_since: float | None = None
        self._lost: list[tuple[str, str]] = []

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Have a task done on the cluster."""
        with warnings.catch_warnings():
            # Weights go with the task, or they would be lost with a worker.
            warnings.filterwarnings("ignore", "Sending large graph")
            # By the part before the dash the scheduler knows how long such tasks take.
            key = f"{function.__name__}-{uuid4().hex}"
            return self.client.submit(checked, seqpa.__version__, function, *arguments, key=key)

    def results(
        self, handles: Sequence[Any], done: Callable[[int], None] | None = None
    ) -> list[Any]:
        """The results, in the order of the handles, whatever the order in which they come."""
        waiting = {future.key: i for i, future in enumerate(handles)}
        try:
            while waiting:
                for future in self.first([f for f in handles if f.key in waiting]):
                    i = waiting.pop(future.key)
                    if done is not None:
                        done(i)
            return [self.result(future) for future in handles]
        except BaseException:
            with suppress(Exception):
                self.client.cancel(list(handles), force=True)
            raise

    def first(self, handles: Sequence[Any]) -> list[Any]:
        """Wait for the first of some tasks; those that have ended."""
        from distributed import CancelledError, wait

        while True:
            ended = [future for future in handles if future.done()]
            for future in ended:
                if future.status != "finished":
                    raise self._error(future)
            if not ended:
                # A task that was cancelled with its scheduler has ended, too.
                with suppress(*_TIMES_UP, CancelledError):
                    wait(list(handles), timeout=_TICK, return_when="FIRST_COMPLETED")
            self._look_after_workers()
            if ended:
                return ended

    def result(self, future: Any) -> Any:
        """The result of a task that has ended."""
        while True:  # its worker may be lost at this very moment: then it is computed again
            try:
                return future.result(timeout=_TICK * 10)
            except _TIMES_UP:
                self._look_after_workers()
            except SeqpaError:
                raise
            except Exception:
                raise self._error(future) from None

    def _error(self, future: Any) -> SeqpaError:
        """What went wrong with a task, in one line."""
        from distributed.scheduler import KilledWorker

        if future.status in ("cancelled", "lost"):
            return SeqpaError(
                f"{self.name}: the scheduler was lost or restarted, and the work with it: "
                f"{self.again}"
            )
        error = future.exception(timeout=self.timeout)
        if isinstance(error, SeqpaError):
            return error
        if isinstance(error, KilledWorker):
            return SeqpaError(
                f"a task took {error.allowed_failures + 1} workers down, the last of them "
                f"{error.last_worker.address}: its memory is probably too small (see its log); "
                f"use more shards, or larger workers"
            )
        if isinstance(error, (ImportError, AttributeError)):
            return SeqpaError(
                f"a worker of {self.name} cannot run the tasks of seqpa {seqpa.__version__} "
                f"({error}): install the same version there"
            )
        return SeqpaError(f"a task failed on a worker: {type(error).__name__}: {error}")

    @property
    def name(self) -> str:
        """The address of the scheduler."""
        scheduler = self.client.scheduler
        return str(scheduler.address) if scheduler is not None else "the Dask cluster"

    def _info(self) -> dict[str, Any]:
        """What the scheduler says of its workers, by address; its last word where it is away.

        It is asked directly: `client.scheduler_info` answers from a cache into which the client's
        own heartbeat writes as well, without any worker, so that all of them would seem lost.
        """
        scheduler = self.client.scheduler
        if scheduler is not None:
            with suppress(OSError):
                answer = self.client.sync(scheduler.identity, n_workers=-1)
                self._last_info = dict(answer["workers"])
        return self._last_info

    def _look_after_workers(self) -> None:
        """Tell of those that were lost; give up where nobody has been left for too long."""
        info = self._info() if self.client.status == "running" else {}
        present = _identities(info)
        if self.client.status == "running":
            # Nobody is forgotten: who is seen again, by an answer that came late, is told no more.
            for lost in sorted(self._workers - present - set(self._lost)):
                self._lost.append(lost)
                if self.told is not None:
                    self.told(f"the worker {lost[0]} was lost: its tasks are done again by others")
            self._workers |= present
        now = time.monotonic()
        full = sorted(address for address, worker in info.items() if _is_full(worker))
        if len(full) < len(present):
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = now
        elif now - self._alone_since > self.timeout:
            if full:
                raise SeqpaError(
                    f"the memory of the worker {full[0]} "
                    f"({info[full[0]]['memory_limit'] / 1e6:,.0f} MB) has been too full to begin a "
                    f"task for {self.timeout:.0f} seconds: use more files and shards, or give it "
                    f"more (dask worker --memory-limit)"
                )
            what = "has had no worker" if self.client.status == "running" else "was not reached"
            last = f" since {self._lost[-1][0]} was lost" if self._lost else ""
            if len(self._lost) > 1:
                last += f", after {len(self._lost) - 1} others (is their memory large enough?)"
            raise SeqpaError(
                f"{self.name} {what} for {self.timeout:.0f} seconds{last}: start it again; "
                f"{self.again}"
            )

    def slots(self) -> int:
        """How many threads the workers have together."""
        return max(1, sum(worker["nthreads"] for worker in self._info().values()))

    def workers(self) -> int:
        """How many workers there are."""
        return max(1, len(self._info()))

    def check(self) -> None:
        """Ask every worker and the scheduler for its version; wait where there is no worker yet."""
        if self.client.status == "closed":
            raise SeqpaError("the client of the Dask cluster is closed: make a new one")
        until = time.monotonic() + self.timeout
        while not (info := self._info()):
            if time.monotonic() > until:
                raise SeqpaError(
                    f"{self.name} has no worker: start some, for example dask worker {self.name}"
                )
            time.sleep(_TICK / 5)
        self._workers |= _identities(info)
        asked = {
            address: self.client.submit(eval, _VERSION, workers=[address], pure=False)
            for address in sorted(info)
        }
        try:
            for address, future in asked.items():
                name = f"the worker {address}"
                try:
                    _check_version(name, future.result(timeout=max(1.0, until - time.monotonic())))
                except SeqpaError:
                    raise
                except _TIMES_UP:
                    if address in self._info():
                        raise SeqpaError(
                            f"{name} did not answer for {self.timeout:.0f} seconds: stop it, or "
                            f"see its log"
                        ) from None
                except Exception as error:
                    raise _not_there(name, error) from None
            # The scheduler unpacks what it passes on.
            try:
                _check_version("the scheduler", self.client.run_on_scheduler(eval, _VERSION))
            except SeqpaError:
                raise
            except Exception as error:
                raise _not_there(f"the scheduler {self.name}", error) from None
        finally:
            with suppress(Exception):
                self.client.cancel(list(asked.values()), force=True)

    def check_memory(self, nbytes: int, what: str) -> None:
        """Raise a SeqpaError where a worker has less memory than a task needs."""
        for address, worker in sorted(self._info().items()):
            limit = worker.get("memory_limit") or 0
            if 0 < limit < nbytes:
                raise SeqpaError(
                    f"the worker {address} may use {limit / 1e6:,.0f} MB, and {what} needs about "
                    f"{nbytes / 1e6:,.0f} MB: use more shards, or give it more memory "
                    f"(dask worker --memory-limit)"
                )


def _check_version(name: str, version: str) -> None:
    if version != seqpa.__version__:
        raise SeqpaError(
            f"{name} has seqpa {version}, and the client has {seqpa.__version__}: install the same "
            f"version on both"
        )


def _not_there(name: str, error: Exception) -> SeqpaError:
    return SeqpaError(
        f"{name} cannot run the tasks of seqpa {seqpa.__version__} ({type(error).__name__}: "
        f"{error}): install the same version there"
    )


def _identities(info: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Which workers these are: a successor may have the address, never the folder."""
    return {(address, str(worker.get("local_directory"))) for address, worker in info.items()}


def _is_full(worker: Mapping[str, Any]) -> bool:
    """Whether a worker has too little memory left to begin anything, and does nothing either."""
    counts = worker.get("metrics", {}).get("task_counts", {})
    return worker.get("status") == "paused" and not counts.get("executing")


def need_dask() -> None:
    """Raise a SeqpaError where Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise SeqpaError(
            "Dask is not installed: pip install 'seqpa[dask]', here and on the workers"
        ) from None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the block has ended.

    Dask's workers do not survive it while they start, nor can a cluster be closed that is half
    open: both fill the screen with tracebacks. Processes that begin in the block never see it.
    """
    usual = signal.getsignal(signal.SIGINT)
    asked: list[int] = []
    try:
        signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
    except ValueError:  # not the main thread, which alone is interrupted
        yield
        return
    masks = hasattr(signal, "pthread_sigmask")  # inherited by threads, and by their processes
    if masks:
        # Begun later, by a thread of Dask's, it would unblock the signal in that thread.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, usual)
    if asked:
        raise KeyboardInterrupt


@contextmanager
def connected(where: str, timeout: float = TIMEOUT) -> Iterator[Any]:
    """A client of the cluster at an address, which is closed at the end.

    Parameters
    ----------
    where : str
        The scheduler's address (``tcp://host:8786``), or ``local:4`` for so many workers of its
        own on this machine; ``local`` takes one for each core.
    timeout : float
        How many seconds to wait for the scheduler.

    Yields
    ------
    distributed.Client
    """
    need_dask()
    import dask
    from distributed import Client, LocalCluster

    # What users need to know of lost workers is told in a line of our own.
    for name in list(logging.root.manager.loggerDict):
        # Dask gives some of them levels of their own, and asyncio complains of what Dask waited
        # for when the scheduler was lost.
        if name.split(".")[0] in ("distributed", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    kind, _, count = where.partition(":")
    if kind == "local":
        cores = os.cpu_count() or 1
        workers = count or str(cores)
        if not workers.isdecimal() or int(workers) < 1:
            raise SeqpaError(f"--dask {where}: say local:4 for four workers on this machine")
        if int(workers) > _LOCAL_PER_CORE * cores:
            raise SeqpaError(
                f"--dask {where}: this machine has {cores} core{'s' * (cores != 1)}: give it "
                f"{_LOCAL_PER_CORE * cores} workers at most"
            )
        with ExitStack() as opened:
            with uninterrupted():
                # The successor of a lost worker may take its time: it is not given up.
                opened.enter_context(
                    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
                )
                try:
                    cluster = opened.enter_context(
                        LocalCluster(
                            n_workers=int(workers),
                            threads_per_worker=1,
                            # Free ports, and for this machine alone.
                            dashboard_address="127.0.0.1:0",
                            worker_dashboard_address="127.0.0.1:0",
                            silence_logs=logging.CRITICAL,
                            preload=_UNINTERRUPTED,
                        )
                    )
                    client = opened.enter_context(Client(cluster, timeout=timeout))
                except (RuntimeError, OSError) as error:
                    raise SeqpaError(
                        f"--dask {where}: the workers could not be started ({error})"
                    ) from None
            yield client
        return
    if "://" not in where and ":" not in where:
        raise SeqpaError(
            f"--dask {where}: give the address of a scheduler, such as tcp://host:8786, or local:4"
        )
    try:
        client = Client(where, timeout=min(timeout, 20.0))
    except (OSError, ValueError) as error:
        raise SeqpaError(
            f"--dask {where}: no scheduler answered within {min(timeout, 20.0):.0f} seconds "
            f"({str(error).splitlines()[0] if str(error) else type(error).__name__})"
        ) from None
    with client:
        yield client
