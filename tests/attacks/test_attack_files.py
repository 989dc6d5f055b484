"""Kills, signals, full disks and short writes: what is the user's stays, and nothing else does."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from patience import LONG, until

from seqpa import files
from seqpa.data import Corpus, write_tagged
from seqpa.errors import SeqpaError
from seqpa.file_locks import Lock
from seqpa.files import check_apart, replacing, write_atomically
from seqpa.sequence.tagger import SequenceTagger

posix = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX")
WORDS = "".join(f"word{i}\n\n" for i in range(20_000))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def python(code: str, *arguments: object, **more: Any) -> subprocess.Popen[bytes]:
    """Python that runs some code, with what it says captured."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more.pop("env", {})}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stderr=subprocess.PIPE,
        env=environment,
        cwd=tempfile.gettempdir(),  # not where sources that nobody compiled may lie
        **{"stdout": subprocess.PIPE, **more},
    )


TAG = "import sys; from seqpa.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and a text."""
    path = tmp_path_factory.mktemp("files")
    SequenceTagger(["word[0]"]).fit([["a", "b"]], [["X", "Y"]]).save(path / "m")
    (path / "words").write_text(WORDS)
    return path


# Outputs that are inputs


@posix
def test_tag_refuses_to_replace_its_model_or_its_input(folder: Path, tmp_path: Path) -> None:
    from seqpa.cli import main

    for name in ("m", "words"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
        os.link(tmp_path / name, tmp_path / f"hard-{name}")
        (tmp_path / f"soft-{name}").symlink_to(name)
    (tmp_path / "sub").mkdir()
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    for name in ("m", "words"):
        for output in (name, f"hard-{name}", f"soft-{name}", f"sub/../{name}"):
            arguments = ["tag", tmp_path / "m", tmp_path / "words", "-o", tmp_path / output]
            assert main([*map(str, arguments)]) == 2
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with (tmp_path / "words").open("ab") as stream:  # seqpa tag m words >> words
        process = python(TAG, "tag", tmp_path / "m", tmp_path / "words", stdout=stream)
        _, err = process.communicate(timeout=LONG)
    assert process.returncode == 2
    assert b"is the input, and standard output leads to it too" in err
    assert (tmp_path / "words").read_text() == WORDS


def test_devices_are_never_the_same(tmp_path: Path) -> None:
    check_apart({"the input": os.devnull}, {"the output": os.devnull})
    check_apart({"a": tmp_path / "a\0b"}, {"b": "x" * 9999})
    with pytest.raises(SeqpaError, match=r"c is .*, and so is b"):
        check_apart({"a": "a"}, {"b": tmp_path / "b", "c": tmp_path / "sub" / ".." / "b"})


# Short writes


class Short(io.RawIOBase):
    """A stream without a buffer that takes some bytes at a time, and none when it is full."""

    def __init__(self, room: int) -> None:
        self.taken = b""
        self.room = room

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if not self.room:
            raise OSError(28, "No space left on device")
        piece = bytes(data[: min(7, self.room)])
        self.taken += piece
        self.room -= len(piece)
        return len(piece)


def test_a_short_write_is_no_write(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = Corpus.from_sentences([["word"] * 50])
    whole = "word\tX\n" * 50 + "\n"
    for room in (10_000, 100, 7, 0):
        stream = Short(room)
        stdout = SimpleNamespace(buffer=stream, flush=lambda: None)
        monkeypatch.setattr("sys.stdout", stdout)
        if room > len(whole):
            write_tagged("-", [(corpus, ["X"] * 50)])
            assert stream.taken.decode() == whole
        else:
            with pytest.raises(SeqpaError, match=r"<stdout>: cannot be written \(No space left"):
                write_tagged("-", [(corpus, ["X"] * 50)])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB, nearly full; only root can have one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, check=False).returncode
    except OSError:
        done = 1
    if done:
        pytest.skip("cannot mount a small disk here")
    try:
        (place / "ballast").write_bytes(b"x" * 30_000)
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@posix
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_disk_that_is_full_half_way(folder: Path, small_disk: Path, unbuffered: str) -> None:
    """PYTHONUNBUFFERED=1 seqpa tag ... > nearly-full-disk: cut output, exit status 0."""
    words = folder / "words"
    environment = {"PYTHONUNBUFFERED": unbuffered}
    with (small_disk / "out").open("wb") as stream:
        process = python(TAG, "tag", folder / "m", words, stdout=stream, env=environment)
        _, err = process.communicate(timeout=LONG)
    assert process.returncode == 2
    assert err == b"seqpa: error: <stdout>: cannot be written (No space left on device)\n"
    (small_disk / "out").write_text("old")
    process = python(TAG, "tag", folder / "m", words, "-o", small_disk / "out", env=environment)
    _, err = process.communicate(timeout=LONG)
    assert process.returncode == 2
    assert f"error: {small_disk / 'out'}: cannot be written (No space left on device)" in str(err)
    assert (small_disk / "out").read_text() == "old"
    assert names(small_disk) == ["ballast", "out"]


@posix
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_printing_to_a_full_disk(folder: Path, small_disk: Path, unbuffered: str) -> None:
    (small_disk / "ballast").write_bytes(b"x" * 61_000)
    with (small_disk / "out").open("wb") as stream:
        process = python(TAG, "schema", stdout=stream, env={"PYTHONUNBUFFERED": unbuffered})
        _, err = process.communicate(timeout=LONG)
    assert process.returncode == 2
    assert err.startswith(b"seqpa: error: <stdout>: ")
    assert err.count(b"\n") == 1


@posix
def test_a_training_on_a_full_disk_names_the_file(small_disk: Path, tmp_path: Path) -> None:
    text = "".join(f"word{i} L{i % 7}\n\n" for i in range(3000))
    (tmp_path / "train.conll").write_text(text)
    (tmp_path / "c.yaml").write_text(
        f"data: {{train: train.conll}}\nlearner: {{epochs: 2}}\n"
        f"output: {{model: {small_disk / 'm'}}}\n"
    )
    process = python(TAG, "train", tmp_path / "c.yaml")
    _, err = process.communicate(timeout=LONG)
    assert process.returncode == 2
    named = f"seqpa: error: {small_disk / 'm.checkpoint'}: cannot be written (No space left on dev"
    assert named in err.decode()
    assert not [name for name in names(small_disk) if name.startswith(".")]


def test_standard_output_is_buffered_by_lines_where_python_has_none() -> None:
    code = (
        "import io, sys; from seqpa.cli.guard import whole_lines; whole_lines()\n"
        "assert isinstance(sys.stdout.buffer, io.BufferedWriter), sys.stdout.buffer\n"
        "print('caf\\udce9'); print('a', end=''); sys.stdout.flush()\n"
    )
    for value in ("", "1"):
        out, err = python(code, env={"PYTHONUNBUFFERED": value}).communicate()
        assert (out, err) == (b"caf\\udce9\na", b"")


def test_an_error_never_reaches_standard_output() -> None:
    code = "import sys; sys.stderr = None\nfrom seqpa.cli import main; sys.exit(main(['tain']))"
    process = python(code)
    assert process.communicate() == (b"", b"")
    assert process.returncode == 2


def test_messages_do_not_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    from seqpa.cli.guard import error_line

    error_line("a\x1b[2Jb\r\nc\x9bd")
    assert capsys.readouterr().err == "seqpa: error: a\\x1b[2Jb c\\x9bd\n"


# Kills and signals

WRITE = """
import sys, time
from seqpa.cli.guard import orderly_end
from seqpa.files import replacing
with orderly_end(), replacing(sys.argv[1]) as stream:
    stream.write(b"new" * 100000)
    stream.flush()
    print("half", flush=True)
    time.sleep(600)
"""


def half_written(path: Path) -> subprocess.Popen[bytes]:
    process = python(WRITE, path)
    assert process.stdout is not None
    assert process.stdout.readline() == b"half\n"
    return process


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_removes_what_is_half_written(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    process = half_written(path)
    assert len(names(tmp_path)) == 2
    process.send_signal(number)
    process.communicate(timeout=LONG)
    assert process.returncode == (-number if number == signal.SIGINT else 128 + number)
    assert names(tmp_path) == ["a"]
    assert path.read_bytes() == b"old"


@posix
def test_what_a_kill_leaves_the_next_run_removes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    process = half_written(path)
    process.kill()
    process.communicate()
    assert len(names(tmp_path)) == 1
    alive = half_written(path)  # which already removes the first
    (left,) = names(tmp_path)
    write_atomically(path, b"mine")
    assert names(tmp_path) == sorted(["a", left]), "what a living process writes is its own"
    alive.kill()
    alive.communicate()
    number = "0123456789abcdef"
    for other in (f".a.{number}.partial.txt", ".a.xyz.partial", f".b.{number}.partial"):
        (tmp_path / other).write_text("somebody else's")
    (tmp_path / f".a.{number}.partial").symlink_to("a")
    (tmp_path / ".a.1123456789abcdef.partial").mkdir()
    kept = set(names(tmp_path)) - {left}
    write_atomically(path, b"mine again")
    assert set(names(tmp_path)) == kept
    assert path.read_bytes() == b"mine again"


@posix
def test_a_new_file_that_is_taken_for_stale_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making the file and locking it, another process may find it unlocked."""
    taken = []

    def steal(number: int) -> bool:
        if len(taken) < 2:
            for entry in tmp_path.glob(".*.partial"):
                entry.unlink()
                taken.append(entry)
        return True

    monkeypatch.setattr(files, "try_lock", steal)
    write_atomically(tmp_path / "a", b"new")
    assert (len(taken), names(tmp_path)) == (2, ["a"])
    assert (tmp_path / "a").read_bytes() == b"new"


@posix
def test_many_writers_of_one_file(tmp_path: Path) -> None:
    """Each removes what it takes for stale, and none loses its own."""
    path = tmp_path / "a"
    code = (
        "import sys; from seqpa.files import write_atomically\n"
        "for i in range(150): write_atomically(sys.argv[1], sys.argv[2].encode() * 1000)\n"
    )
    processes = [python(code, path, letter) for letter in "abc"]
    for process in processes:
        assert process.communicate(timeout=LONG)[1] == b""
        assert process.returncode == 0
    assert names(tmp_path) == ["a"]
    assert path.read_bytes() in [letter * 1000 for letter in (b"a", b"b", b"c")]


def test_threads_write_one_file(tmp_path: Path) -> None:
    def write() -> None:
        for _ in range(50):
            write_atomically(tmp_path / "a", b"x" * 1000)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(tmp_path) == ["a"]


@posix
def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = (
        "import sys, time; from pathlib import Path; from seqpa.file_locks import Lock\n"
        "lock = Lock.take(Path(sys.argv[1])); print(lock is not None, flush=True)\n"
        "time.sleep(float(sys.argv[2]))\n"
    )
    holder = python(code, path, 600)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"True\n"
    assert Lock.take(path) is None
    holder.kill()
    holder.communicate()
    assert path.exists()
    lock = Lock.take(path)
    assert lock is not None
    assert python(code, path, 0).communicate()[0] == b"False\n"
    child = os.fork()
    if child == 0:  # a copy of the process gives nothing back
        del lock
        os._exit(0)
    os.waitpid(child, 0)
    assert python(code, path, 0).communicate()[0] == b"False\n"
    del lock
    assert not path.exists()


@posix
def test_tagging_that_is_ended_leaves_the_old_file(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("old")
    process = python(TAG, "tag", folder / "m", "-", "-o", out, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"word\n\n" * 1000)
    process.stdin.flush()
    until(lambda: len(names(tmp_path)) == 2)
    process.terminate()
    process.communicate(timeout=LONG)
    assert process.returncode == 128 + signal.SIGTERM
    assert names(tmp_path) == ["out"]
    assert out.read_text() == "old"


def test_a_stream_that_ends_early_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(GeneratorExit), replacing(tmp_path / "a") as stream:  # noqa: PT012
        stream.write(b"half")
        raise GeneratorExit
    assert names(tmp_path) == []
