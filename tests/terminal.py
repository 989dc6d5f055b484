"""A pseudo terminal for tests: run a command in it, press keys, see what a user sees."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from patience import LONG

needs_terminal = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo terminal")
CTRL_C, CTRL_D = b"\x03", b"\x04"
_ESCAPE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


class Seen(NamedTuple):
    """What a command ended with, and all that it wrote."""

    status: int
    raw: bytes

    @property
    def text(self) -> str:
        """Without colours and movements."""
        return _ESCAPE.sub(b"", self.raw).replace(b"\r\n", b"\n").decode()


def in_terminal(
    arguments: Sequence[object],
    keys: Sequence[tuple[bytes, bytes]] = (),
    piped: str = "",
    **environment: str,
) -> Seen:
    """Run `seqpa` with a terminal for its standard streams.

    Parameters
    ----------
    arguments : sequence
        Of the command.
    keys : sequence of (bytes, bytes)
        What is waited for, and what is typed then.
    piped : str
        Standard streams that are no terminal: "in", "out", "err".
    **environment : str
        More variables.
    """
    import pty

    ours, theirs = pty.openpty()
    streams = {name: None if name[3:] in piped else theirs for name in ("stdin", "stdout")}
    child = subprocess.Popen(
        [sys.executable, "-m", "seqpa", *map(str, arguments)],
        stdin=subprocess.DEVNULL if "in" in piped else streams["stdin"],
        stdout=subprocess.DEVNULL if "out" in piped else streams["stdout"],
        stderr=subprocess.DEVNULL if "err" in piped else theirs,
        cwd=tempfile.gettempdir(),
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120", **environment},
        start_new_session=True,
        preexec_fn=lambda: _take_terminal(theirs),
    )
    os.close(theirs)
    raw, waiting, end = b"", list(keys), time.monotonic() + LONG
    try:
        while time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    piece = os.read(ours, 4096)
                except OSError:  # the other end is closed
                    break
                if not piece:
                    break
                raw += piece
            while waiting and waiting[0][0] in raw:
                os.write(ours, waiting.pop(0)[1])
        status = child.wait(timeout=LONG)
    finally:
        child.kill()
        child.wait()
        os.close(ours)
    return Seen(status, raw)


def _take_terminal(descriptor: int) -> None:
    """Make it the terminal of this process, from which Ctrl-C comes."""
    import fcntl
    import termios

    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)
