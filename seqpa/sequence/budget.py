"""How much memory a training may take: sizes in words, what the process has, and a limit."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any, NoReturn

from seqpa.errors import SeqpaError
from seqpa.pages import give_back_heap

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_STATM = Path("/proc/self/statm")


def bytes_of(size: Any) -> int:
    """A size in bytes: a whole number, or text such as ``"2GB"``, ``"500 MB"``, ``"1.5GiB"``.

    Parameters
    ----------
    size : int or str
        Units count in thousands, those with an i in 1024.

    Returns
    -------
    int

    Raises
    ------
    SeqpaError
        If it is no such size.

    Examples
    --------
    >>> bytes_of("2GB"), bytes_of("1.5 MiB"), bytes_of(4096)
    (2000000000, 1572864, 4096)
    """
    if isinstance(size, int) and not isinstance(size, bool) and size > 0:
        return size
    found = None
    if isinstance(size, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", size, re.IGNORECASE)
    if found is None or (found[3] and not found[2]) or float(found[1]) <= 0:
        raise SeqpaError(f"memory is {size!r}: it must be a size such as 2GB or 500MB")
    unit = found[2].upper()
    return int(float(found[1]) * (_BINARY if found[3] else _UNITS)[unit])


def told_bytes(n: float) -> str:
    """A size in words, rounded up.

    Parameters
    ----------
    n : float
        Bytes.

    Returns
    -------
    str

    Examples
    --------
    >>> told_bytes(1_234_567_890), told_bytes(81_200_000)
    ('1.3GB', '82MB')
    """
    if n >= 10**9:
        return f"{-(-n // 10**8) / 10:.1f}GB"
    return f"{int(-(-n // 10**6))}MB"


def resident() -> int:
    """How much memory this process has now, in bytes; 0 where the system does not tell.

    Returns
    -------
    int

    Examples
    --------
    >>> resident() > 10**6
    True
    """
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    try:
        import resource
    except ImportError:
        return 0
    most: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


# What else comes and goes: buffers of files, lists of words, what the heap keeps.
SPARE = 16 * 10**6
ADVICE = ", or leave out rare features (a higher cutoff, fewer templates)"


class Budget:
    """A limit on the memory of this process.

    Parameters
    ----------
    limit : int
        Bytes.
    folder : str, Path or None
        Where files lie that spare memory; None for the system's folder of temporary files.

    Attributes
    ----------
    kept_back : float
        Bytes that what comes later will take for a moment, so that nothing else may take them.
    share : float
        How much of the work is done: what grows with it has grown so far.
    later : float
        Bytes that will be needed beyond that when the rest of the work comes, for messages.

    Examples
    --------
    >>> Budget(10**12).check(10**6, "the words")
    >>> Budget(10**3).check(10**6, "the words")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: memory is 1MB, and with the words this process needs ...
    """

    def __init__(self, limit: int, folder: str | Path | None = None) -> None:
        self.limit = limit
        self.folder = folder
        self.kept_back = 0.0
        self.later = 0.0
        self.share = 1.0
        self._base = resident()

    def room(self) -> float:
        """How many bytes more the process may take."""
        return self.limit - resident() - self.kept_back - SPARE

    def has_room(self, more: float) -> bool:
        """Whether the process may take so many bytes more, when its heap keeps none for itself."""
        if more > self.room():
            give_back_heap()
        return more <= self.room()

    def check(self, more: float, what: str, advice: str = ADVICE) -> None:
        """Raise a SeqpaError if the process cannot take so much more.

        Parameters
        ----------
        more : float
            Bytes that will be taken next.
        what : str
            What takes the memory, for the message.
        advice : str
            What else may help, for the message.
        """
        if not self.has_room(more):
            self.refuse(more, what, advice)

    def refuse(self, more: float, what: str, advice: str = ADVICE) -> NoReturn:
        """Raise the SeqpaError of `check`."""
        needed = resident() + more + self.kept_back + SPARE
        # Nothing grows faster than the text, or than the epochs go on: so this is surely enough.
        growing = needed - self._base + self.later
        enough = self._base + growing / min(max(self.share, 1e-3), 1.0)
        raise SeqpaError(
            f"memory is {told_bytes(self.limit)}, and with {what} this process needs "
            f"{told_bytes(needed)}: set memory to {told_bytes(1.1 * enough)}{advice}"
        )

    def begin(self) -> None:
        """What the process has now stays as it is: only what comes behind it grows."""
        self._base = resident()
        self.kept_back, self.later, self.share = 0.0, 0.0, 1.0
