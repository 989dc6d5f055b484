"""What a service tells of itself: one JSON object a line, without any text of its users.

A line that nobody reads must not hold up the service. So a thread of its own writes, and lines that
find too many waiting are dropped and counted.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
import traceback
from datetime import datetime, timezone
from typing import Any, TextIO

from seqpa.serve.problems import as_json

_WAITING = 10_000


class Log:
    """Writes records as JSON lines.

    Parameters
    ----------
    stream : text file or None
        Standard error if not given.
    quiet : bool
        Leave out records of the level info.
    """

    def __init__(self, stream: TextIO | None = None, quiet: bool = False) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet
        self._lines: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self.dropped = 0
        self._writer = threading.Thread(target=self._write, name="seqpa-log", daemon=True)
        self._writer.start()

    def info(self, event: str, **members: Any) -> None:
        """Tell what happens as it should.

        Parameters
        ----------
        event : str
            A word.
        **members : object
            Numbers and names; never what a user sent.
        """
        if not self._quiet:
            self._put("info", event, members)

    def warning(self, event: str, **members: Any) -> None:
        """Tell what somebody should look at.

        Parameters
        ----------
        event : str
        **members : object
        """
        self._put("warning", event, members)

    def fault(self, error: BaseException) -> None:
        """Tell of a mistake of the service's own: its kind and place, not its words, which may
        repeat what a user sent.

        Parameters
        ----------
        error : BaseException
        """
        frames = traceback.extract_tb(error.__traceback__)
        places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        self._put("error", "fault", {"error": type(error).__name__, "at": places})

    def close(self) -> None:
        """Write what is waiting, and end."""
        try:
            self._lines.put(None, timeout=1)
        except queue.Full:
            return
        self._writer.join(timeout=2)

    def _put(self, level: str, event: str, members: dict[str, Any]) -> None:
        record = {"time": _now(), "level": level, "event": event, **members}
        try:
            self._lines.put_nowait(as_json(record))
        except queue.Full:
            self.dropped += 1

    def _write(self) -> None:
        while True:
            lines = [self._lines.get()]
            while lines[-1] is not None and not self._lines.empty() and len(lines) < 500:
                lines.append(self._lines.get())
            text = b"".join(line + b"\n" for line in lines if line is not None)
            try:
                self._stream.write(text.decode("utf-8", "replace"))
                self._stream.flush()
            except (OSError, ValueError):  # whoever read it has gone
                pass
            if lines[-1] is None:
                return


def _now() -> str:
    return datetime.fromtimestamp(time.time(), timezone.utc).isoformat(timespec="milliseconds")


class ServerLog(logging.Handler):
    """Takes what uvicorn logs: its words, without arguments that came from outside.

    Parameters
    ----------
    log : Log
    """

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record.

        Parameters
        ----------
        record : logging.LogRecord
        """
        if record.exc_info and record.exc_info[1] is not None:
            self._log.fault(record.exc_info[1])
        else:
            self._log.warning("server", message=str(record.msg))


def take_server_logs(log: Log) -> None:
    """Let uvicorn's own messages go to the log.

    Parameters
    ----------
    log : Log
    """
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.handlers = [ServerLog(log)] if name == "uvicorn" else []
        logger.propagate = name not in ("uvicorn", "uvicorn.access")
        logger.setLevel(logging.WARNING)
