"""Text that is no plain file: addresses such as ``s3://...``, and zstd data."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from seqpa.errors import SeqpaError

ZSTD = b"\x28\xb5\x2f\xfd"  # how zstd data begin
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_address(path: object) -> bool:
    """Whether a path is an address that fsspec opens.

    Parameters
    ----------
    path : object
        Any path.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_address("s3://bucket/a.conll"), is_address("a.conll"), is_address("C://a.conll")
    (True, False, False)
    """
    return isinstance(path, str) and _ADDRESS.match(path) is not None


def _fsspec(address: str) -> Any:
    try:
        import fsspec  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise SeqpaError(
            f"{address}: reading from there needs the package fsspec: pip install fsspec"
        ) from None
    return fsspec


def open_address(address: str) -> BinaryIO:
    """Open what an address names, for reading.

    Parameters
    ----------
    address : str
        Such as ``s3://bucket/a.conll.gz``.

    Returns
    -------
    BinaryIO
    """
    fsspec = _fsspec(address)
    try:
        stream: BinaryIO = fsspec.open(address, "rb").open()
        return stream
    except FileNotFoundError:
        raise SeqpaError(f"{address}: there is no such file") from None
    except Exception as error:  # each protocol has errors of its own
        raise SeqpaError(f"{address}: cannot be read ({error})") from None


def modified(address: str) -> float | None:
    """When what an address names was changed, in seconds since 1970; None where nobody tells.

    Parameters
    ----------
    address : str

    Returns
    -------
    float or None
    """
    try:
        system, path = _fsspec(address).core.url_to_fs(address)
        return float(system.modified(path).timestamp())
    except SeqpaError:
        raise
    except Exception:  # each protocol has errors of its own, and many tell no time
        return None


def addresses_like(pattern: str) -> list[str]:
    """The addresses that a pattern stands for, sorted.

    Parameters
    ----------
    pattern : str
        With ``*``, ``?`` or ``[ab]``.

    Returns
    -------
    list of str
    """
    fsspec = _fsspec(pattern)
    try:
        system, path = fsspec.core.url_to_fs(pattern)
        return sorted(system.unstrip_protocol(name) for name in system.glob(path))
    except Exception as error:  # each protocol has errors of its own
        raise SeqpaError(f"{pattern}: cannot be read ({error})") from None


def unpacked(stream: BinaryIO, name: str) -> BinaryIO:
    """What zstd data hold.

    Parameters
    ----------
    stream : BinaryIO
        The data, from their beginning.
    name : str
        What messages call them.

    Returns
    -------
    BinaryIO
    """
    return io.BufferedReader(_Zstd(stream, name))


@contextmanager
def packing(stream: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """What turns all that is written to it into zstd data.

    Parameters
    ----------
    stream : BinaryIO
        Where these go.
    name : str
        What messages call it.

    Yields
    ------
    BinaryIO
    """
    with _compressor(stream, name) as packed:
        yield packed


def _compressor(stream: BinaryIO, name: str) -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]

        return zstd.ZstdFile(stream, "wb")
    except ImportError:
        pass
    try:
        import zstandard  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise SeqpaError(
            f"{name}: would be zstd data, which this Python writes only with the package "
            f"zstandard: pip install zstandard, or name a file that ends in .gz"
        ) from None
    return zstandard.ZstdCompressor().stream_writer(stream, closefd=False)


def _decompressor(name: str) -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]

        return zstd.ZstdDecompressor()
    except ImportError:
        pass
    try:
        import zstandard  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise SeqpaError(
            f"{name}: is zstd data, which this Python reads only with the package zstandard: "
            f"pip install zstandard"
        ) from None
    return zstandard.ZstdDecompressor().decompressobj()


class _Zstd(io.RawIOBase):
    """One frame after another, to the end."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._frame = _decompressor(name)
        self._begun = False  # whether the frame has had any data
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            data = self._stream.read(1 << 16)
            if not data:
                if self._begun:
                    raise self._damaged("it is cut off")
                return 0
            self._take(data)
        part = self._ready[: len(buffer)]
        self._ready = self._ready[len(part) :]
        buffer[: len(part)] = part
        return len(part)

    def _take(self, data: bytes) -> None:
        parts = []
        while data:
            self._begun = True
            try:
                parts.append(self._frame.decompress(data))
            except Exception as error:  # each protocol has errors of its own
                raise self._damaged(str(error)) from None
            data = b""
            if self._frame.eof:
                data, self._begun = self._frame.unused_data, False
                self._frame = _decompressor(self._name)
        self._ready = b"".join(parts)

    def _damaged(self, why: str) -> SeqpaError:
        return SeqpaError(f"{self._name}: damaged or cut-off zstd data ({why})")
