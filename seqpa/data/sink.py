"""Where tagged text goes: a file written whole or not at all, or a stream."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from seqpa.data.source import checked_encoding
from seqpa.errors import SeqpaError


class Sink:
    """Encodes text and passes it on; what the encoding cannot say is an error, not a ``?``."""

    def __init__(self, stream: BinaryIO, name: str, encoding: str) -> None:
        self._stream = stream
        self._name = name
        self._encoding = encoding
        self._encoder = codecs.getincrementalencoder(checked_encoding(encoding, name))()

    def write(self, text: str) -> None:
        """Write ``text``; at once readable behind a pipe."""
        try:
            data = self._encoder.encode(text)
        except UnicodeEncodeError as error:
            sign = text[error.start]
            raise SeqpaError(
                f"{self._name}: {sign!r} (U+{ord(sign):04X}) cannot be written as "
                f"{self._encoding}; write utf-8 instead"
            ) from None
        try:
            self._stream.write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise SeqpaError(f"{self._name}: cannot be written ({error.strerror})") from None
        if self._name == "<stdout>":
            self._stream.flush()


@contextmanager
def open_sink(target: str | Path | TextIO, encoding: str = "utf-8") -> Iterator[Sink | TextIO]:
    """Open a path, ``-`` for standard output, or a text stream that is already open.

    A file appears under its name only when the ``with`` block ends without an error; before that
    it is a hidden neighbour, which an error removes. A name that ends in ``.gz`` is compressed.
    """
    if not isinstance(target, (str, Path)):
        yield target
        return
    if str(target) == "-":
        sys.stdout.flush()
        yield Sink(sys.stdout.buffer, "<stdout>", encoding)
        return
    # Through a link, the file that it names is replaced, not the link.
    path = Path(os.path.realpath(target))
    if path.exists() and not path.is_file():  # a device or a named pipe, or a directory
        with _open(path, "wb", target) as stream:
            yield Sink(stream, str(target), encoding)
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    stream = _open(partial, "wb", target)
    try:
        with stream:
            if path.suffix == ".gz":
                import gzip

                with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed:
                    yield Sink(packed, str(target), encoding)  # type: ignore[arg-type]
            else:
                yield Sink(stream, str(target), encoding)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _open(path: Path, mode: str, target: str | Path) -> BinaryIO:
    try:
        return path.open(mode)  # type: ignore[return-value]
    except IsADirectoryError:
        raise SeqpaError(f"{target}: is a directory; name a file to write") from None
    except FileNotFoundError:
        raise SeqpaError(f"{target}: there is no directory {Path(target).parent}") from None
    except OSError as error:
        raise SeqpaError(f"{target}: cannot be written ({error.strerror})") from None
