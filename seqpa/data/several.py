"""Several files as one: lists of files, patterns such as ``part-*.conll``, and ``~``."""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import TypeAlias

from seqpa.data.remote import addresses_like, is_address
from seqpa.errors import SeqpaError

Paths: TypeAlias = "str | Path | Sequence[str | Path]"


def files_of(paths: Paths) -> list[str]:
    """The files that are meant, in order.

    Parameters
    ----------
    paths : str, Path or sequence of them
        Files and patterns: ``*`` and ``?`` stand for any characters, ``[ab]`` for one of some,
        ``**`` for any folders; ``~`` is the home folder. Files of a pattern come in the order of
        their names. A file whose own name is like a pattern is that file. Addresses such as
        ``s3://bucket/part-*.conll`` are opened by fsspec.

    Returns
    -------
    list of str
        Every file once.

    Raises
    ------
    SeqpaError
        If a pattern stands for no file, or a file is named twice.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("b.conll", "a.conll", "c.txt"):
    ...     _ = (folder / name).write_text("x")
    >>> [Path(file).name for file in files_of([folder / "*.conll", folder / "c.txt"])]
    ['a.conll', 'b.conll', 'c.txt']
    """
    if isinstance(paths, (str, Path)):
        return _matching(paths)
    found: list[str] = []
    for path in paths:
        if not isinstance(path, (str, Path)):
            raise SeqpaError(f"a file is named by text or a path, not by {path!r}")
        for file in _matching(path):
            if file in found:
                raise SeqpaError(f"{file}: is named twice")
            found.append(file)
    if not found:
        raise SeqpaError("there is no file to read: the list is empty")
    return found


def _matching(path: str | Path) -> list[str]:
    name = str(path)
    if is_address(name):
        found = addresses_like(name) if has_magic(name) else [name]
        if not found:
            raise SeqpaError(f"{name}: no file has such a name")
        return found
    if name.startswith("~"):
        try:
            name = str(Path(name).expanduser())
        except RuntimeError:
            raise SeqpaError(
                f"{path}: there is no such user, whose home folder it would be"
            ) from None
    if not has_magic(name) or "\0" in name or Path(name).exists():
        return [name]
    found = glob(name, recursive=True)  # noqa: PTH207 (a pattern may be absolute)
    files = sorted(file for file in found if Path(file).is_file())
    if not files:
        raise SeqpaError(f"{name}: no file has such a name")
    return files
