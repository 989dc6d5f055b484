"""Where text comes from: a file, a gzip file or standard input, as blocks of whole lines.

Every reader sees blocks, never files: decoding, line ends, byte-order marks, compression and the
errors that belong to them are settled here, once.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from seqpa.errors import SeqpaError
from seqpa.files import unreadable

# Small enough that what is made of a block stays in the processor's cache, and leaves few holes
# in the memory behind it: larger ones are no faster.
BLOCK_BYTES = 1 << 16
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of one source.

    Attributes
    ----------
    source : str
        What messages call it.
    first_line : int
        The number of the first line, counted from 1.
    text : str
        The lines; their ends are ``\\n``.
    newline : str
        What line ends are in the source.
    """

    source: str
    first_line: int
    text: str
    newline: str = "\n"

    @property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        lines = self.text.split("\n")
        if not lines[-1]:
            lines.pop()
        return lines

    def error(self, index: int, message: str) -> SeqpaError:
        """The error ``FILE:LINE: message`` for a line of this block.

        Parameters
        ----------
        index : int
            The line, counted from 0.
        message : str
            What is wrong with it.

        Returns
        -------
        SeqpaError

        Examples
        --------
        >>> str(Block("a.conll", 11, "x\\ny\\n").error(1, "odd"))
        'a.conll:12: odd'
        """
        return SeqpaError(f"{self.source}:{self.first_line + index}: {message}")


def after_last_blank_line(text: str) -> int:
    """Where the last whole sentence of blank-line separated text ends; 0 if none does."""
    position = text.rfind("\n\n") + 2
    if position > 1:
        return position
    # Rare: the file separates sentences only by lines of spaces.
    return max((match.end() for match in _BLANK_LINE.finditer(text)), default=0)


def after_last_line(text: str) -> int:
    """Where the last whole line ends; 0 if none does."""
    return text.rfind("\n") + 1


def read_blocks(
    path: str | Path,
    encoding: str,
    cut: Callable[[str], int],
    size: int = BLOCK_BYTES,
) -> Iterator[Block]:
    """Read a source in blocks.

    From standard input (``-``) what has arrived is passed on at once, so that a pipe flows.

    Parameters
    ----------
    path : str or Path
        The source.
    encoding : str
        Of its text.
    cut : callable
        Where the last whole sentence of a text ends: a block ends there.
    size : int
        About so many bytes make one block.

    Yields
    ------
    Block
    """
    name = source_name(path)
    decoder = _decoder(encoding, name)
    rest, first_line, newline, start = "", 1, "", b""
    with _opened(path) as stream:
        piped = str(path) == "-"
        while True:
            data = _read(stream, size, piped, name)
            start = start or data[:4]
            at_end = not data or (not piped and len(data) < size)
            try:
                text = rest + decoder.decode(data, at_end)
            except UnicodeDecodeError as error:
                line = first_line + rest.count("\n") + error.object[: error.start].count(b"\n")
                raise _undecodable(name, line, error, encoding, start) from None
            if "\0" in text:
                line = first_line + text.count("\n", 0, text.index("\0"))
                raise SeqpaError(
                    f"{name}:{line}: a NUL character: this is not a text file, or one of another "
                    "encoding (say, for example, encoding: utf-16)"
                )
            if "\r" in text:
                newline = newline or _first_newline(text)
                text = text.replace("\r\n", "\n")
            end = len(text) if at_end else cut(text)
            rest, text = text[end:], text[:end]
            del data  # while a block is read, nothing but the block is kept of it
            if text:
                newline = newline or "\n"
                n_lines = text.count("\n")
                block, text = Block(name, first_line, text, newline), ""
                yield block
                first_line += n_lines
                del block
            if at_end:
                return


def source_name(path: str | Path) -> str:
    """What messages call the source.

    Parameters
    ----------
    path : str or Path
        The source.

    Returns
    -------
    str

    Examples
    --------
    >>> source_name("-"), source_name("a.conll")
    ('<stdin>', 'a.conll')
    """
    return "<stdin>" if str(path) == "-" else str(path)


def checked_encoding(encoding: str, name: str) -> str:
    """Python's own name of a text encoding.

    Parameters
    ----------
    encoding : str
        Any of its names.
    name : str
        The source or target that the error is about if there is no such encoding.

    Returns
    -------
    str

    Examples
    --------
    >>> checked_encoding("Latin1", "a.conll")
    'iso8859-1'
    """
    try:
        "".encode(encoding)  # refuses codecs that are not text encodings
    except LookupError:
        raise SeqpaError(
            f"{name}: unknown encoding {encoding!r}; "
            "known ones are, for example, utf-8, cp1252, latin-1 and utf-16"
        ) from None
    return codecs.lookup(encoding).name


@contextmanager
def _opened(path: str | Path) -> Iterator[BinaryIO]:
    if str(path) == "-":
        yield _unzipped(sys.stdin.buffer)
        return
    try:
        file = Path(path).open("rb")  # noqa: SIM115 (closed below; only opening is guarded)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    with file:
        yield _unzipped(file)


def _unzipped(stream: BinaryIO) -> BinaryIO:
    peek = getattr(stream, "peek", None)
    if peek is not None and peek(2)[:2] == b"\x1f\x8b":
        import gzip

        return gzip.GzipFile(fileobj=stream)  # type: ignore[return-value]
    return stream


def _read(stream: BinaryIO, size: int, piped: bool, name: str) -> bytes:
    try:
        if piped and hasattr(stream, "read1"):
            return stream.read1(size)
        return stream.read(size)
    except _gzip_errors() as error:  # asked only when something went wrong
        raise SeqpaError(f"{name}: damaged or cut-off gzip data ({error})") from None
    except OSError as error:
        raise SeqpaError(f"{name}: cannot be read ({error.strerror})") from None


def _gzip_errors() -> tuple[type[Exception], ...]:
    import gzip
    import zlib

    return EOFError, zlib.error, gzip.BadGzipFile


def _decoder(encoding: str, name: str) -> codecs.IncrementalDecoder:
    known = checked_encoding(encoding, name)
    return codecs.getincrementaldecoder("utf-8-sig" if known == "utf-8" else known)()


def _first_newline(text: str) -> str:
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else ""


def _undecodable(
    name: str, line: int, error: UnicodeDecodeError, encoding: str, start: bytes
) -> SeqpaError:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        remedy = "the file begins like UTF-16: say encoding: utf-16"
    elif codecs.lookup(encoding).name.startswith("utf-8"):
        remedy = "if it is a Windows or Latin-1 text, say encoding: cp1252"
    else:
        remedy = "say its true encoding, for example encoding: utf-8"
    byte = error.object[error.start]
    return SeqpaError(f"{name}:{line}: byte 0x{byte:02x} is not valid {encoding}; {remedy}")
