"""Files of the user's: replaced whole or not at all, with everything else left as it was."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seqpa.errors import SeqpaError
from seqpa.files import check_folder, check_writable, read_text, replacing, write_atomically

posix = pytest.mark.skipif(os.name != "posix", reason="modes, owners and pipes of POSIX")
not_root = pytest.mark.skipif(
    hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may do anything"
)
root_only = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def streamed(path: Path, data: bytes) -> None:
    with replacing(path) as stream:
        for byte in data:
            stream.write(bytes([byte]))


WRITERS = [pytest.param(write_atomically, id="bytes"), pytest.param(streamed, id="stream")]
Write = Callable[[Path, bytes], None]


@pytest.mark.parametrize("write", WRITERS)
def test_a_new_file_and_its_successor(write: Write, tmp_path: Path) -> None:
    write(tmp_path / "a", b"one")
    assert (tmp_path / "a").read_bytes() == b"one"
    write(tmp_path / "a", b"")
    assert (tmp_path / "a").read_bytes() == b""
    assert names(tmp_path) == ["a"]


@posix
@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("kept", [0o600, 0o640, 0o666, 0o755])
def test_the_mode_is_kept(write: Write, kept: int, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(kept)
    write(path, b"new")
    assert mode(path) == kept


@posix
def test_nobody_can_read_on_the_way_what_they_cannot_read_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replacing(path) as stream:
        stream.write(b"secret")
        stream.flush()
        assert [mode(entry) for entry in tmp_path.iterdir()] == [0o600, 0o600]
    assert mode(path) == 0o600


@posix
def test_a_new_file_has_the_mode_of_any_other(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a") == 0o640


@posix
@root_only
def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    write_atomically(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


@posix
def test_another_group_may_do_no_more_than_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o664)
    write_atomically(path, b"new")
    assert mode(path) == 0o644


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, SeqpaError])
def test_an_error_leaves_the_old_file_and_nothing_else(
    error: type[BaseException], tmp_path: Path
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(error), replacing(path) as stream:  # noqa: PT012
        stream.write(b"half")
        raise error
    assert path.read_bytes() == b"old"
    with pytest.raises(error), replacing(tmp_path / "b"):
        raise error
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("call", ["fsync", "open", "fchmod"])
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_an_error_of_ours_leaves_the_old_file_too(
    call: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if call == "fchmod" and isinstance(error, OSError):
        pytest.skip("a file system without modes is no error")
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(os, call, fail)
    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else SeqpaError
    with pytest.raises(expected):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_a_file_system_that_cannot_flush(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "fsync", fail)
    write_atomically(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


@posix
def test_file_and_folder_reach_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed = []
    really = os.fsync

    def fsync(number: int) -> None:
        flushed.append(os.fstat(number).st_ino)
        really(number)

    monkeypatch.setattr(os, "fsync", fsync)
    write_atomically(tmp_path / "a", b"new")
    assert flushed == [(tmp_path / "a").stat().st_ino, tmp_path.stat().st_ino]


@posix
@pytest.mark.parametrize("write", WRITERS)
def test_links_are_followed(write: Write, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target"
    link = tmp_path / "link"
    link.symlink_to("folder/target")
    write(link, b"one")  # a link to nothing yet
    assert target.read_bytes() == b"one"
    write(link, b"two")
    assert target.read_bytes() == b"two"
    assert link.is_symlink()
    assert names(tmp_path) == ["folder", "link"]
    assert names(target.parent) == ["target"]
    link.unlink()
    link.symlink_to("nowhere/target")
    with pytest.raises(SeqpaError, match=r"link: there is no directory .*nowhere"):
        write(link, b"")
    link.unlink()
    link.symlink_to("link")
    with pytest.raises(SeqpaError, match=r"link: cannot be written \(Too many levels"):
        write(link, b"")


@pytest.mark.parametrize("write", [*WRITERS, pytest.param(lambda p, _: check_writable(p), id="-")])
def test_places_that_cannot_be_written(write: Write, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SeqpaError, match="is a directory; name a file in it"):
        write(tmp_path, b"")
    with pytest.raises(SeqpaError, match=r"file.a: .*file is a file, not a directory"):
        write(tmp_path / "file" / "a", b"")
    for name in ("x" * 300, "a\0b", "\ud800"):
        with pytest.raises(SeqpaError, match=r"cannot be written|is no name for a file"):
            write(tmp_path / name, b"")
    write(tmp_path / ("x" * 255), b"")  # as long as names may be
    assert names(tmp_path) in (["file"], ["file", "x" * 255])


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(SeqpaError, match=r"a: there is no directory .*no"):
        write_atomically(tmp_path / "no" / "a", b"")
    check_writable(tmp_path / "no" / "deep" / "a")
    assert names(tmp_path / "no" / "deep") == []
    write_atomically(tmp_path / "no" / "deep" / "a", b"")


@posix
@not_root
def test_read_only_places(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    for write in (write_atomically, streamed, lambda p, _: check_writable(p)):
        with pytest.raises(SeqpaError, match=r"a: cannot be written \(Permission denied\)"):
            write(locked / "a", b"")
    with pytest.raises(SeqpaError, match="no permission"):
        check_folder(locked / "deep")
    (tmp_path / "a").touch(0o400)
    for write in (write_atomically, streamed, lambda p, _: check_writable(p)):
        with pytest.raises(SeqpaError, match="the file is read-only"):
            write(tmp_path / "a", b"")


@posix
def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk."""
    code = (
        "import resource, sys; from pathlib import Path; from seqpa.files import replacing\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    with replacing(sys.argv[1]) as stream:\n"
        "        stream.write(b'x' * int(sys.argv[2]))\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    path = tmp_path / "a"
    path.write_bytes(b"old")
    for size in ("2000", "200000"):  # written when it ends, or at once
        done = subprocess.run(
            [sys.executable, "-c", code, path, size], capture_output=True, text=True, check=True
        )
        assert done.stdout == f"SeqpaError {path}: cannot be written (File too large)\n"
        assert done.stderr == ""
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


@posix
def test_devices_and_pipes_are_written_to_directly(tmp_path: Path) -> None:
    streamed(Path(os.devnull), b"nothing")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    streamed(pipe, b"through")
    reader.join()
    assert read == [b"through"]
    assert pipe.is_fifo()
    for refuse in (lambda: write_atomically(pipe, b""), lambda: check_writable(pipe)):
        with pytest.raises(SeqpaError, match="is a device or a pipe; name a file"):
            refuse()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_its_name(name: str, tmp_path: Path) -> None:
    code = (
        "import sys; from seqpa.files import replacing\n"
        "print('before')\n"
        "with replacing(sys.argv[1]) as stream: stream.write(b'written\\n')\n"
        "print('after')\n"
    )
    log = tmp_path / "log"
    log.write_text("old\n")
    with log.open("ab") as stream:
        subprocess.run([sys.executable, "-c", code, name], stdout=stream, check=True)
    assert log.read_text() == "old\nbefore\nwritten\nafter\n"
    piped = subprocess.run([sys.executable, "-c", code, name], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == b"before\nwritten\nafter\n"
    assert names(tmp_path) == ["log"]


def test_the_folder_of_many_files(tmp_path: Path) -> None:
    check_folder(tmp_path)
    check_folder(tmp_path / "new" / "deep")
    assert names(tmp_path) == []
    (tmp_path / "file").touch()
    with pytest.raises(SeqpaError, match="file: is a file; name a folder"):
        check_folder(tmp_path / "file")
    with pytest.raises(SeqpaError, match="file is a file, not a directory"):
        check_folder(tmp_path / "file" / "deep")
    with pytest.raises(SeqpaError, match="is no name for a file"):
        check_folder(tmp_path / "\ud800")


def test_reading(tmp_path: Path) -> None:
    path = tmp_path / "cities.txt"
    path.write_bytes("\ufeffKöln\r\nGraz".encode())
    assert read_text(path) == "Köln\r\nGraz"
    path.write_bytes(b"\xef\xbb\xbfa\nb\nK\xf6ln\n")
    with pytest.raises(SeqpaError, match=r"cities\.txt:3: not UTF-8 \(byte 0xf6\)"):
        read_text(path)
    with pytest.raises(SeqpaError, match=r"no such file; did you mean '.*cities\.txt'\?"):
        read_text(tmp_path / "citis.txt")
    with pytest.raises(SeqpaError, match="is a directory; name a file, for example"):
        read_text(tmp_path)
    with pytest.raises(SeqpaError, match="is no name for a file"):
        read_text(tmp_path / "a\0b")
