"""Files of the user's: read as UTF-8, replaced whole or not at all.

No other module replaces a file. What is written goes to a hidden neighbour of the file first,
which takes the file's name when all of it is safely on the disk: whoever looks sees the old file
or the new one, never a half. The neighbour is locked while it is written; what a process that was
killed left behind has lost its lock, and the next one to write that file removes it. Every mistake
is a `SeqpaError` that names the file.

>>> import tempfile
>>> file = Path(tempfile.mkdtemp()) / "notes.txt"
>>> write_atomically(file, b"first\\n")
>>> with replacing(file) as stream:
...     _ = stream.write(b"second\\n")
...     print(read_text(file), end="")
first
>>> read_text(file)
'second\\n'
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from seqpa.errors import SeqpaError, did_you_mean
from seqpa.file_locks import try_lock

# Names of files that this process has open.
_DESCRIPTOR = re.compile(r"/dev/(?P<name>stdout|stderr)|/(?:dev|proc/self)/fd/(?P<number>\d+)")
_STANDARD = {"stdout": 1, "stderr": 2}
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
# A file system that cannot flush says so with one of these; the data is as safe as it can be.
_NO_FSYNC = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


# Reading


def read_text(path: str | Path, most: int | None = None) -> str:
    """The text of a UTF-8 file; a byte-order mark at its start is left out.

    Parameters
    ----------
    path : str or Path
        The file.
    most : int, optional
        A file of more bytes is refused, and not read.

    Returns
    -------
    str
        The text, its line ends as they are.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "names.txt"
    >>> _ = file.write_bytes(b"Graz\\nK\\xf6ln\\n")
    >>> read_text(file)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: ...names.txt:2: not UTF-8 (byte 0xf6); save the file as UTF-8
    """
    try:
        with Path(path).open("rb") as stream:
            data = stream.read() if most is None else stream.read(most + 1)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if most is not None and len(data) > most:
        raise SeqpaError(f"{path}: has more than {most:,} bytes; is it the right file?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # Counted in what the error looked at, which may lack the byte-order mark.
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise SeqpaError(
            f"{path}:{line}: not UTF-8 (byte 0x{byte:02x}); save the file as UTF-8"
        ) from None


def unreadable(path: str | Path, error: OSError | ValueError) -> SeqpaError:
    """Why a file could not be opened for reading, in words.

    Parameters
    ----------
    path : str or Path
        The file.
    error : OSError or ValueError
        What opening it raised.

    Returns
    -------
    SeqpaError
        With the name of a file that is nearly called so, where there is one.

    Examples
    --------
    >>> print(unreadable("nowhere/a.txt", FileNotFoundError()))
    nowhere/a.txt: no such file: there is no directory nowhere
    """
    path = Path(path)
    if not isinstance(error, OSError):
        return _impossible_name(path, error)
    if isinstance(error, FileNotFoundError):
        return SeqpaError(f"{path}: no such file{_near_files(path)}")
    if isinstance(error, IsADirectoryError) or is_folder(path):
        files = sorted(entry.name for entry in path.iterdir() if entry.is_file())
        example = f", for example {path / files[0]}" if files else ""
        return SeqpaError(f"{path}: is a directory; name a file{example}")
    return SeqpaError(f"{path}: cannot be read ({error.strerror or error})")


def is_folder(path: str | Path) -> bool:
    """Whether a path is a folder; what can be no path at all is none.

    Parameters
    ----------
    path : str or Path
        Any path.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_folder("."), is_folder("x" * 5000)
    (True, False)
    """
    return os.path.isdir(path)  # noqa: PTH112 (of pathlib's, long names are errors)


def _near_files(path: Path) -> str:
    if not path.parent.is_dir():
        return f": there is no directory {path.parent}"
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    return did_you_mean(
        path.name, names, listed=False, shown=lambda name: repr(str(path.parent / str(name)))
    )


# Writing


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all.

    Parameters
    ----------
    path : str or Path
        The file; see `replacing` for what is kept of one that is already there. Devices and pipes
        are refused.
    data : bytes
        All that the file shall hold.

    Examples
    --------
    >>> write_atomically("nowhere/a.txt", b"")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: nowhere/a.txt: there is no directory nowhere
    """
    with writing_atomically(path) as stream:
        stream.write(data)


@contextmanager
def writing_atomically(path: str | Path) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file when the `with` block ends without an error.

    Parameters
    ----------
    path : str or Path
        As for `write_atomically`.

    Yields
    ------
    BinaryIO
        Write to it piece by piece.

    Examples
    --------
    >>> with writing_atomically("nowhere/a.txt") as stream:
    ...     pass
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: nowhere/a.txt: there is no directory nowhere
    """
    path = Path(path)
    with _neighbour(path, *_replaceable(path)) as stream:
        yield stream


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file when the `with` block ends without an error.

    An existing file keeps its mode and, where that is permitted, its owner and group. A link stays
    a link: what it leads to is replaced. An error, or Ctrl-C, leaves the old file as it was and
    nothing else. What is no regular file (a device, a named pipe, ``/dev/stdout``) cannot be
    replaced: it is written to directly.

    Parameters
    ----------
    path : str or Path
        The file to replace, or to make.

    Yields
    ------
    BinaryIO
        Write to it; a write that fails raises a `SeqpaError` (or BrokenPipeError, of a pipe that
        nobody reads any more).

    Examples
    --------
    >>> with replacing("nowhere/a.txt") as stream:
    ...     pass
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: nowhere/a.txt: there is no directory nowhere
    """
    path = Path(path)
    writing = _direct(path) if _is_stream(path) else _neighbour(path, *_replaceable(path))
    with writing as stream:
        yield stream


def check_writable(path: str | Path) -> None:
    """Find out before the work, not after it, that `write_atomically` can write a file.

    The file's folder is made if it is missing. Nothing else changes.

    Parameters
    ----------
    path : str or Path
        The file that will be written.

    Examples
    --------
    >>> check_writable(os.curdir)
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: .: is a directory; name a file in it
    """
    path = Path(path)
    with _explained(path):
        real = Path(os.path.realpath(path))
        try:
            real.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise SeqpaError(f"{path}: {path.parent} is a file, not a directory") from None
    probe = _new_name(_replaceable(path)[0])
    with _explained(path):
        try:
            os.close(os.open(probe, _NEW_FILE, 0o600))
        finally:
            with suppress(OSError):
                probe.unlink()


def check_apart(inputs: Mapping[str, str | Path], outputs: Mapping[str, str | Path]) -> None:
    """Refuse outputs that are an input, or one another: writing one would destroy the other.

    Names are followed through links; hard links and other spellings of a name are found too.
    Devices and pipes are never the same.

    Parameters
    ----------
    inputs, outputs : mapping
        Files by what messages call them, as ``data.train``.

    Examples
    --------
    >>> check_apart({"data.train": "a.conll"}, {"output.model": "./b/../a.conll"})
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: output.model is b/../a.conll, and so is data.train: it would be \
overwritten; name another file
    """
    done: dict[str, Path] = {name: Path(path) for name, path in inputs.items()}
    for name, given in outputs.items():
        path = Path(given)
        for other, known in done.items():
            if _is_same(path, known):
                raise SeqpaError(
                    f"{name} is {path}, and so is {other}: it would be overwritten; name another "
                    "file"
                )
        done[name] = path


def _is_same(a: Path, b: Path) -> bool:
    try:
        if a.exists() and b.exists():
            return a.samefile(b) and a.is_file()
        return os.path.normcase(os.path.realpath(a)) == os.path.normcase(os.path.realpath(b))
    except (OSError, ValueError):  # what cannot be a file is found out when it is opened
        return False


def check_folder(folder: str | Path) -> None:
    """Find out before the work that files can be written into a folder, which may be missing.

    Parameters
    ----------
    folder : str or Path
        Nothing in it is changed, and it is not made.

    Examples
    --------
    >>> check_folder(os.devnull)
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: /dev/null: is a file; name a folder
    """
    folder = Path(folder)
    with _explained(folder):
        with suppress(FileNotFoundError, NotADirectoryError):
            folder.stat()  # refuses what `exists` only finds missing: an impossible name
        if folder.exists() and not folder.is_dir():
            raise SeqpaError(f"{folder}: is a file; name a folder")
        there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not there.is_dir():
            raise SeqpaError(f"{folder}: cannot be written ({there} is a file, not a directory)")
        if not os.access(there, os.W_OK):
            raise SeqpaError(f"{folder}: cannot be written (no permission); name another folder")


class _Output(io.FileIO):
    """A file whose writing fails with an error that names what the user asked for."""

    def __init__(self, target: Path, descriptor: int) -> None:
        super().__init__(descriptor, "wb")
        self._target = target

    def write(self, data: Any) -> int:
        try:
            return cast(int, super().write(data))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _unwritable(self._target, error) from None


@contextmanager
def _direct(path: Path) -> Iterator[BinaryIO]:
    """Write to what is there: to an open file of this process, or to a device or pipe."""
    with _explained(path):
        descriptor = _own_descriptor(path)
        if descriptor is None:
            number = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        else:
            # A copy of the open file goes on where that one stands: reopened by name, a file that
            # the shell appends to would be cut to nothing.
            sys.stdout.flush()
            number = os.dup(descriptor)
        output = _Output(path, number)
    try:
        stream = io.BufferedWriter(output)
        yield stream
        stream.flush()
    finally:
        output.close()


@contextmanager
def _neighbour(path: Path, real: Path, old: os.stat_result | None) -> Iterator[BinaryIO]:
    """Write to a new file beside the old one, which then takes its name."""
    _remove_stale(real)
    partial = _new_name(real)
    output: _Output | None = None
    try:
        with _explained(path):
            while True:
                number = os.open(partial, _NEW_FILE, 0o666 if old is None else 0o600)
                output = _Output(path, number)
                if os.name == "nt" or (try_lock(number) is not False and os.fstat(number).st_nlink):
                    break
                output.close()  # another process took it for stale before it was locked
                partial = _new_name(real)
            if old is not None:
                _keep_owner_and_mode(number, old)
        stream = io.BufferedWriter(output)
        yield stream
        with _explained(path):
            stream.flush()
            _synchronise(number)
            if os.name == "nt":  # where an open file cannot be renamed
                output.close()
            partial.replace(real)  # while it is locked, so that nobody takes it for stale
            output.close()
    finally:
        # Not through the stream, which would try once more to write what could not be written.
        if output is not None:
            output.close()
        with suppress(OSError):  # gone under its own name, or on a read-only file system
            partial.unlink()
    _synchronise_folder(real.parent)


def _new_name(real: Path) -> Path:
    """A hidden name beside the file that nobody can foresee, however long the file's own is."""
    return real.with_name(f".{real.name[:40]}.{os.urandom(8).hex()}.partial")


def _remove_stale(real: Path) -> None:
    """Remove what processes that are gone left of this file; whatever fails, nothing is lost."""
    form = re.compile(rf"\.{re.escape(real.name[:40])}\.[0-9a-f]{{16}}\.partial")
    with suppress(OSError):
        for entry in real.parent.iterdir():
            if form.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_stale(entry)


def _remove_if_stale(partial: Path) -> None:
    if os.name == "nt":  # where a file that is open cannot be removed
        partial.unlink()
        return
    number = os.open(partial, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        state = os.fstat(number)
        own = stat.S_ISREG(state.st_mode) and state.st_uid in (os.geteuid(), os.getuid())
        if own and try_lock(number) is True:
            partial.unlink()
    finally:
        os.close(number)


def _keep_owner_and_mode(number: int, old: os.stat_result) -> None:
    if not hasattr(os, "fchown"):  # Windows has other rights, which a new file inherits
        return
    mode = stat.S_IMODE(old.st_mode)
    try:
        os.fchown(number, old.st_uid, old.st_gid)
    except OSError:  # only root gives files away
        try:
            os.fchown(number, -1, old.st_gid)
        except OSError:
            # Another group than before: it may do no more than everybody may.
            mode = mode & ~0o070 | (mode & 0o007) << 3
    with suppress(OSError):  # a file system without modes
        os.fchmod(number, mode)


def _synchronise(number: int) -> None:
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in _NO_FSYNC:
            raise


def _synchronise_folder(folder: Path) -> None:
    """Make the new name survive a crash, where the system can; the file is there in any case."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _own_descriptor(path: Path) -> int | None:
    found = _DESCRIPTOR.fullmatch(str(path))
    if found is None:
        return None
    return _STANDARD[found["name"]] if found["name"] else int(found["number"])


def _is_stream(path: Path) -> bool:
    """Whether there is something that cannot be replaced: a device, a pipe, an open file."""
    with _explained(path):
        if _own_descriptor(path) is not None:
            return True
        return path.exists() and not path.is_file() and not path.is_dir()


def _replaceable(path: Path) -> tuple[Path, os.stat_result | None]:
    """The file that a path leads to through links, and its state if it is there."""
    if _is_stream(path):
        raise SeqpaError(f"{path}: is a device or a pipe; name a file")
    with _explained(path):
        real = Path(os.path.realpath(path))
        try:
            old = path.stat()
        except FileNotFoundError:
            missing = real.parent if path.parent.is_dir() else path.parent
            if not missing.is_dir():
                raise SeqpaError(f"{path}: there is no directory {missing}") from None
            return real, None
        except NotADirectoryError:
            raise SeqpaError(f"{path}: {path.parent} is a file, not a directory") from None
        if stat.S_ISDIR(old.st_mode):
            raise SeqpaError(f"{path}: is a directory; name a file in it")
        if stat.S_ISREG(old.st_mode) and not os.access(real, os.W_OK):
            raise SeqpaError(f"{path}: cannot be written (the file is read-only)")
        return real, old


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """What goes wrong with a file, as a SeqpaError that names it."""
    try:
        yield
    except (SeqpaError, BrokenPipeError):
        raise
    except OSError as error:
        raise _unwritable(path, error) from None
    except ValueError as error:
        raise _impossible_name(path, error) from None


def _unwritable(path: Path, error: OSError) -> SeqpaError:
    return SeqpaError(f"{path}: cannot be written ({error.strerror or error})")


def _impossible_name(path: Path, error: ValueError) -> SeqpaError:
    """The error for a name with a zero byte, or one that no file system can hold."""
    return SeqpaError(f"{str(path)!r}: is no name for a file ({error})")
