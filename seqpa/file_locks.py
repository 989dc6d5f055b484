"""Locks that die with their process: who writes a file, and whether they still live.

An open file is locked, not a name or a process number: however a process ends, its locks end with
it, and no other can be taken for it.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "model.lock"
>>> lock = Lock.take(path)
>>> path.exists(), Lock.take(path) is lock
(True, True)
>>> del lock
>>> path.exists()
False
"""

from __future__ import annotations

import errno
import os
import weakref
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


def try_lock(number: int) -> bool | None:
    """Lock an open file, if nobody has it locked.

    Parameters
    ----------
    number : int
        The descriptor; the lock ends when it is closed, at the latest with the process.

    Returns
    -------
    bool or None
        Whether it is ours now; None where the file system has no locks.
    """
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in _HELD else None
    except ImportError:
        return None
    return True


class Lock:
    """A file that exists to be locked, and goes when the lock does: when nobody refers to it.

    It keeps processes apart, not the parts of one: these share it. A process that is killed leaves
    the file behind, unlocked, and the next one takes it.
    """

    _own: ClassVar[weakref.WeakValueDictionary[Path, Lock]] = weakref.WeakValueDictionary()

    def __init__(self, path: Path, number: int) -> None:
        weakref.finalize(self, _given_back, path, number, os.getpid())

    @classmethod
    def take(cls, path: Path) -> Lock | None:
        """Make the file and lock it.

        Parameters
        ----------
        path : Path
            In a folder that is there.

        Returns
        -------
        Lock or None
            None while another process has it.

        Raises
        ------
        OSError
            If the file cannot be made.
        """
        path = Path(os.path.realpath(path))
        lock = cls._own.get(path)
        while lock is None:
            number = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            if try_lock(number) is False:
                os.close(number)
                return None
            if _is(path, number):
                lock = cls._own[path] = cls(path, number)
            else:
                os.close(number)  # the one before us took it away between the two calls
        return lock


def _is(path: Path, number: int) -> bool:
    """Whether a path still leads to an open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(number))
    except FileNotFoundError:
        return False


def _given_back(path: Path, number: int, owner: int) -> None:
    if os.getpid() != owner:  # a copy of the process, which goes on
        return
    if os.name == "nt":  # where an open file cannot be removed
        os.close(number)
    with suppress(OSError):
        if os.name == "nt" or _is(path, number):
            path.unlink()
    if os.name != "nt":
        os.close(number)
