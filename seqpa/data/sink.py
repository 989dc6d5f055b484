"""Where tagged text goes: a file written whole or not at all, or a stream."""

from __future__ import annotations

import codecs
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from seqpa.data.remote import packing
from seqpa.data.source import checked_encoding
from seqpa.errors import SeqpaError
from seqpa.files import replacing


class Sink:
    """Encodes text and passes it on; what the encoding cannot say is an error, not a ``?``.

    Parameters
    ----------
    stream : BinaryIO
        Where the bytes go.
    name : str
        What messages call it.
    encoding : str
        Of the text.
    flush : bool
        Whether each text goes through at once, so that it can be read behind a pipe.

    Examples
    --------
    >>> import io
    >>> stream = io.BytesIO()
    >>> Sink(stream, "out.conll", "latin-1").write("né")
    >>> stream.getvalue()
    b'n\\xe9'
    """

    def __init__(self, stream: BinaryIO, name: str, encoding: str, flush: bool = True) -> None:
        self._stream = stream
        self._name = name
        self._encoding = encoding
        self._encoder = codecs.getincrementalencoder(checked_encoding(encoding, name))()
        self._flush = flush

    def write(self, text: str) -> None:
        """Write ``text``."""
        try:
            data = self._encoder.encode(text)
        except UnicodeEncodeError as error:
            sign = text[error.start]
            raise SeqpaError(
                f"{self._name}: {sign!r} (U+{ord(sign):04X}) cannot be written as "
                f"{self._encoding}; write utf-8 instead"
            ) from None
        try:
            _write_all(self._stream, data)
            if self._flush:
                self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise SeqpaError(f"{self._name}: cannot be written ({error.strerror})") from None


def _write_all(stream: BinaryIO, data: bytes) -> None:
    """Write all of it: a stream without a buffer may take a part and say only how much."""
    rest = memoryview(data)
    while rest:
        taken = stream.write(rest)
        if taken is None:
            raise BlockingIOError(errno.EAGAIN, "it takes no more at present")
        rest = rest[taken:]


@contextmanager
def open_sink(target: str | Path | TextIO, encoding: str = "utf-8") -> Iterator[Sink | TextIO]:
    """Open a path, ``-`` for standard output, or a text stream that is already open.

    A file appears under its name only when the ``with`` block ends without an error, as
    `seqpa.files.replacing` has it. A file whose name ends in ``.gz`` or ``.zst`` is compressed.

    Parameters
    ----------
    target : str, Path or text stream
        Where the text goes.
    encoding : str
        Of a path or of standard output; an open stream has its own.

    Yields
    ------
    Sink or text stream
        What has ``write``.
    """
    if not isinstance(target, (str, Path)):
        yield target
    elif str(target) == "-":
        sys.stdout.flush()
        yield Sink(sys.stdout.buffer, "<stdout>", encoding)
    else:
        with replacing(target) as stream:
            ending = packed_ending(os.path.realpath(target))
            if ending and _is_regular(Path(target)):
                with _packing(ending, stream, str(target)) as packed:
                    # Never flushed on the way: that would cost compression.
                    yield Sink(packed, str(target), encoding, flush=False)
            else:
                yield Sink(stream, str(target), encoding)


def packed_ending(name: str) -> str:
    """The ending of a name that says how the file is compressed; nothing where none does.

    Parameters
    ----------
    name : str

    Returns
    -------
    str

    Examples
    --------
    >>> packed_ending("a.conll.gz"), packed_ending("a.conll.zst"), packed_ending("a.conll")
    ('.gz', '.zst', '')
    """
    return next((ending for ending in (".gz", ".zst") if name.endswith(ending)), "")


def _is_regular(path: Path) -> bool:
    """Whether it is a file, or will be one; devices and pipes get plain text."""
    return path.is_file() or not path.exists()


@contextmanager
def _packing(ending: str, stream: BinaryIO, name: str) -> Iterator[BinaryIO]:
    if ending == ".gz":
        import gzip

        with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed:
            yield packed  # type: ignore[misc]
    else:
        with packing(stream, name) as packed:
            yield packed
