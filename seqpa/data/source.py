"""Where text comes from: a file, packed or not, an address or standard input, as whole lines.

Every reader sees blocks, never files: decoding, line ends, byte-order marks, compression and the
errors that belong to them are settled here, once. A block's lines depend on the bytes alone where
its reader's `cut` does, however the bytes arrive; and each byte is looked at once, so that text
without a sentence's end takes no more time than any other. What has no end in sight is refused:
see `Limits`.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from seqpa.data.remote import ZSTD, is_address, open_address, unpacked
from seqpa.errors import SeqpaError
from seqpa.files import unreadable

# Small enough that what is made of a block stays in the processor's cache, and leaves few holes
# in the memory behind it: larger ones are no faster.
BLOCK_BYTES = 1 << 16
# Far more than any sentence has; a file without blank lines is one sentence.
MAX_SENTENCE_TOKENS = 100_000
_BLANK_LINE = re.compile(r"^[ \t]*\n", re.MULTILINE)
# Encodings of Python's that are no character sets: made for host names or for source code.
_NOT_FOR_TEXT = {"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined"}


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a sentence may be, so that no input takes the machine's memory.

    Attributes
    ----------
    tokens : int
        Of one sentence.

    Examples
    --------
    >>> Limits(tokens=500_000).characters
    32000000
    """

    tokens: int = MAX_SENTENCE_TOKENS

    @property
    def characters(self) -> int:
        """Of one sentence with its comments: 64 for each token, or a million."""
        return max(1 << 20, 64 * self.tokens)


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
    start : int
        How many characters of the source stand before it; a line end is one.
    """

    source: str
    first_line: int
    text: str
    newline: str = "\n"
    start: int = 0

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


def after_last_blank_line(lines: str) -> int:
    """Where the last whole sentence of blank-line separated lines ends; 0 if none does.

    >>> after_last_blank_line("a\\n\\nb\\n"), after_last_blank_line("\\nb\\n")
    (3, 1)
    """
    position = lines.rfind("\n\n") + 2
    if position > 1:
        return position
    # Rare: a blank line at the beginning, or sentences that only lines of spaces separate.
    return max((match.end() for match in _BLANK_LINE.finditer(lines)), default=0)


def after_last_line(lines: str) -> int:
    """Where the last whole line ends."""
    return len(lines)


def read_blocks(
    path: str | Path,
    encoding: str,
    cut: Callable[[str], int],
    size: int = BLOCK_BYTES,
    limits: Limits | None = None,
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
        Is given the lines in order, some at a time, and says where the last whole sentence of them
        ends: a block ends there. It never sees lines again that it was given.
    size : int
        About so many bytes make one block.
    limits : Limits, optional
        How long a sentence may be.

    Yields
    ------
    Block
    """
    name = source_name(path)
    longest = (limits or Limits()).characters
    decode = _Decoder(encoding, name)
    first_line, start, newline = 1, 0, ""
    lines, line = _Pieces(), _Pieces()  # of a sentence, and of a line, that has not ended

    def reached() -> int:
        return first_line + lines.count("\n")

    with _opened(path, name) as stream:
        piped = str(path) == "-"
        while True:
            data = _read(stream, size, piped, name)
            at_end = not data or (not piped and len(data) < size)
            text = decode(data, at_end, reached)
            del data  # while a block is read, nothing but the block is kept of it
            end = len(text) if at_end else text.rfind("\n") + 1
            if end or at_end:
                whole, rest = line.joined(text[:end]), text[end:]
                if "\r" in whole:
                    newline = newline or _first_newline(whole)
                    whole = whole.replace("\r\n", "\n")
                newline = newline or "\n"
                end = len(whole) if at_end else cut(whole)
                if end or at_end:
                    text, whole = lines.joined(whole[:end]), whole[end:]
                if text and (end or at_end):
                    n_lines, length = text.count("\n"), len(text)
                    block, text = Block(name, first_line, text, newline, start), ""
                    yield block
                    first_line += n_lines
                    start += length
                    del block
                lines.add(whole)
                text, whole = rest, ""
            line.add(text)
            if at_end:
                return
            if line.length > longest:
                at = reached()
                problem = f"a line of more than {longest:,} characters: is this a text file?"
            elif lines.length > longest:
                at = first_line
                problem = f"no sentence ends in {longest:,} characters: is a blank line missing?"
            else:
                continue
            raise SeqpaError(f"{name}:{at}: {problem} (data.max_sentence_tokens allows more)")


class _Pieces:
    """A text that grows at its end: added up only once, so that growing takes linear time."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0

    def add(self, text: str) -> None:
        """Add to the end."""
        if text:
            self._parts.append(text)
            self.length += len(text)

    def count(self, sign: str) -> int:
        """How often a character occurs."""
        return sum(part.count(sign) for part in self._parts)

    def joined(self, end: str) -> str:
        """All of it and this end; nothing is left here."""
        self.add(end)
        text = "".join(self._parts)
        self._parts, self.length = [], 0
        return text


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
        known = codecs.lookup(encoding).name
    except (LookupError, ValueError, TypeError):
        known = ""
    if not known or known.replace("_", "-") in _NOT_FOR_TEXT:
        raise SeqpaError(
            f"{name}: unknown encoding {encoding!r}; "
            "known ones are, for example, utf-8, cp1252, latin-1 and utf-16"
        )
    return known


@contextmanager
def _opened(path: str | Path, name: str) -> Iterator[BinaryIO]:
    if str(path) == "-":
        if sys.stdin is None:
            raise SeqpaError(f"{name}: is closed; name a file")
        yield _unzipped(sys.stdin.buffer, name)
        return
    if is_address(path):
        with open_address(str(path)) as remote:
            yield _unzipped(remote, name)
        return
    try:
        file = Path(path).open("rb")  # noqa: SIM115 (closed below; only opening is guarded)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    with file:
        yield _unzipped(file, name)


class _Rejoined(io.RawIOBase):
    """A stream of which some bytes were read already."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = head
        self._stream: Any = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)]
        self._head = self._head[len(data) :]
        if not data:
            read1 = getattr(self._stream, "read1", self._stream.read)
            data = read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _unzipped(stream: BinaryIO, name: str) -> BinaryIO:
    """The stream, or what a gzip or zstd stream holds; its first bytes tell."""
    head, wanted = b"", 2
    while len(head) < wanted:
        more = _read(stream, wanted - len(head), False, name)
        if not more:
            break
        head += more
        if head == ZSTD[:2]:
            wanted = len(ZSTD)
    whole = io.BufferedReader(_Rejoined(head, stream), BLOCK_BYTES)
    if head == b"\x1f\x8b":
        import gzip

        return gzip.GzipFile(fileobj=whole)  # type: ignore[return-value]
    if head == ZSTD:
        return unpacked(whole, name)
    return whole


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


class _Decoder:
    """Bytes to text, piece by piece; what is no text is named with its line."""

    def __init__(self, encoding: str, name: str) -> None:
        known = checked_encoding(encoding, name)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig" if known == "utf-8" else known)()
        self._encoding = encoding
        self._name = name
        self._start = b""

    def __call__(self, data: bytes, at_end: bool, reached: Callable[[], int]) -> str:
        """The text of the next bytes; `reached` tells the line on which they begin."""
        if len(self._start) < 4:
            self._start += data[:4]
        try:
            text = self._decoder.decode(data, at_end)
        except UnicodeDecodeError as error:
            line = reached() + error.object[: error.start].count(b"\n")
            byte = error.object[error.start]
            what = f"byte 0x{byte:02x} is not valid {self._encoding}; {self._remedy()}"
            raise SeqpaError(f"{self._name}:{line}: {what}") from None
        except UnicodeError:  # of UTF-16 and UTF-32, which say by a mark which of two they are
            known = codecs.lookup(self._encoding).name
            raise SeqpaError(
                f"{self._name}:1: no {self._encoding} with a byte-order mark; if it has none, say "
                f"encoding: {known}-le or {known}-be, or else its true encoding"
            ) from None
        if "\0" in text:
            line = reached() + text.count("\n", 0, text.index("\0"))
            raise SeqpaError(
                f"{self._name}:{line}: a NUL character: this is not a text file, or one of another "
                "encoding (say, for example, encoding: utf-16)"
            )
        return text

    def _remedy(self) -> str:
        if self._start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "the file begins like UTF-16: say encoding: utf-16"
        if codecs.lookup(self._encoding).name.startswith("utf-8"):
            return "if it is a Windows or Latin-1 text, say encoding: cp1252"
        return "say its true encoding, for example encoding: utf-8, if it is a text at all"


def _first_newline(text: str) -> str:
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else ""
