"""Text that was made to take long, to take memory, or to be read in two ways.

Time and memory are not measured by a clock but by what is done: how many characters are looked at,
how much is held.
"""

from __future__ import annotations

import gzip
import io
import os
import random
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fuzz_readers
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seqpa.data import read, read_chunks, write_tagged
from seqpa.data import source as source_module
from seqpa.data.source import Limits, after_last_blank_line, read_blocks
from seqpa.errors import SeqpaError
from seqpa.sequence.resources import Clusters, Lexicon

WORD_ONLY = {"columns": ["word", "label"], "with_labels": False}


# The same bytes give the same result, however they arrive


class Arriving(io.RawIOBase):
    """Standard input of which some bytes come at a time."""

    def __init__(self, data: bytes, cuts: Iterable[int]) -> None:
        edges = sorted({0, *cuts, len(data)})
        self._pieces = [data[a:b] for a, b in pairwise(edges)]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._pieces:
            return 0
        piece = self._pieces.pop(0)
        if len(piece) > len(buffer):
            self._pieces.insert(0, piece[len(buffer) :])
        size = min(len(piece), len(buffer))
        buffer[:size] = piece[:size]
        return size


def tagged(data: bytes, cuts: Iterable[int], **options: Any) -> tuple[str, Any]:
    """What is read and what is copied, or the message."""
    out = io.StringIO()
    sentences = []

    def chunks() -> Iterable[Any]:
        for chunk in read_chunks("-", keep_layout=True, with_labels=False, **options):
            sentences.extend(chunk.X)
            yield chunk, ["T"] * chunk.n_tokens

    with pytest.MonkeyPatch.context() as patch:
        stdin = SimpleNamespace(buffer=io.BufferedReader(Arriving(data, cuts)))
        patch.setattr("sys.stdin", stdin)
        try:
            write_tagged(out, chunks())
        except SeqpaError as error:
            return "error", str(error)
    return out.getvalue(), sentences


LINES = st.sampled_from(
    [
        *("Ada\tNNP", "won\tVBD\tO", "# doc seven", "# a\tb", "#\tSYM", "", "  ", "\t"),
        *("-DOCSTART- -X- O", "# id = 3", "Ada NNP", "a b c", "#begin document x", "日本 N", "x"),
    ]
)


@given(
    st.lists(LINES, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 10**9),
)
@example(["# doc seven", "", "Ada\tNNP", ""], "\n", True, False, 1)
@example(["# a b", "", "# c d", ""], "\n", False, False, 1)
def test_conll_does_not_depend_on_how_bytes_arrive(
    lines: list[str], newline: str, ended: bool, packed: bool, seed: int
) -> None:
    data = (newline.join(lines) + newline * ended).encode()
    if packed:
        data = gzip.compress(data, mtime=0)
    draw = random.Random(seed)
    columns = draw.choice([["word", "label"], ["word", "pos", "label"]])
    options = {"columns": columns, "chunk_bytes": draw.choice([1, 7, 1 << 18])}
    whole = tagged(data, (), columns=columns)
    every = tagged(data, range(len(data)), **options)
    some = tagged(data, draw.sample(range(len(data) + 1), min(3, len(data))), **options)
    assert every == whole
    assert some == whole


@given(st.lists(st.sampled_from(["Mr.", "so it is.", "and\n", "Why?\n", "\n", " \n", "x " * 9])))
def test_text_does_not_depend_on_how_bytes_arrive(parts: list[str]) -> None:
    pytest.importorskip("nltk")
    with pytest.MonkeyPatch.context() as patch:
        # NLTK's model of sentences may not be installed here: whole paragraphs show the cuts.
        patch.setattr("nltk.tokenize.sent_tokenize", lambda text, _: [text])
        patch.setattr("nltk.tokenize.word_tokenize", lambda text, *_, **__: text.split())
        patch.setattr("seqpa.data.text._LONG_PARAGRAPH", 20)
        data = " ".join(parts).encode()
        whole = tagged(data, (), format="text")
        assert tagged(data, range(len(data)), format="text") == whole


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "shift_jis", "utf-8-sig"])
def test_encodings_do_not_depend_on_how_bytes_arrive(encoding: str) -> None:
    data = "日本\tN\n\nは\tP\r\n".encode(encoding)
    whole = tagged(data, (), columns=["word", "label"], encoding=encoding)
    assert whole[1] == [["日本"], ["は"]]
    every = tagged(data, range(len(data)), columns=["word", "label"], encoding=encoding)
    assert every == whole


def test_a_comment_is_none_before_a_token_has_come(tmp_path: Path) -> None:
    """The first block of a pipe once settled what the columns are."""
    out, into = os.pipe()

    def write() -> None:
        with os.fdopen(into, "wb", 0) as writer:
            writer.write(b"# doc seven\n\n")
            time.sleep(0.05)
            writer.write(b"Ada\tNNP\n\n")

    thread = threading.Thread(target=write)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", SimpleNamespace(buffer=os.fdopen(out, "rb")))
        thread.start()
        chunks = read_chunks("-", columns=["word", "pos", "label"], with_labels=False)
        assert [chunk.X for chunk in chunks] == [[[("Ada", "NNP")]]]
    thread.join()


# Time


def test_each_character_is_looked_at_once(tmp_path: Path) -> None:
    """Input without blank lines was scanned from its beginning at every block."""
    path = tmp_path / "a.conll"
    path.write_text("word O\n" * 50_000)
    seen = []

    def cut(lines: str) -> int:
        seen.append(len(lines))
        return after_last_blank_line(lines)

    (block,) = read_blocks(path, "utf-8", cut, size=1 << 10)
    assert len(block.text) == 350_000
    assert sum(seen) <= 350_000


def test_a_text_grows_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = []

    class Counted(source_module._Pieces):
        def joined(self, end: str) -> str:
            text = super().joined(end)
            joined.append(len(text))
            return text

    monkeypatch.setattr(source_module, "_Pieces", Counted)
    for data in (b"x" * 20_000, b"word O\n" * 3_000):
        joined.clear()
        stdin = SimpleNamespace(buffer=io.BufferedReader(Arriving(data, range(0, len(data), 10))))
        monkeypatch.setattr("sys.stdin", stdin)
        assert sum(len(b.text) for b in read_blocks("-", "utf-8", after_last_blank_line)) == len(
            data
        )
        assert sum(joined) <= 2 * len(data)


# Memory

ENDLESS = {
    "one line": (b"x", r":1: a line of more than 1,048,576 characters: is this a text file\?"),
    "no blank line": (
        b"ab O\n",
        r":1: no sentence ends in 1,048,576 characters: is a blank line missing\?",
    ),
    "comments alone": (b"# a b c d\n\n", r":1: no sentence ends in 1,048,576 characters"),
}


@pytest.mark.parametrize(
    ("format", "form"),
    [
        *(("conll", form) for form in ENDLESS),
        *((format, "one line") for format in ("conllu", "jsonl", "text")),
    ],
)
def test_a_bomb_takes_no_memory(format: str, form: str, tmp_path: Path) -> None:
    """A few kilobytes of gzip hold a gigabyte: it is never unpacked as a whole."""
    piece, message = ENDLESS[form]
    path = tmp_path / "bomb.gz"
    packed = gzip.compress(piece * (16_000_000 // len(piece)), mtime=0)
    path.write_bytes(packed * 8)  # 128 MB
    tracemalloc.start()
    options: dict[str, Any] = {"format": format, "tokenizer": "whitespace"}
    try:
        with pytest.raises(SeqpaError, match=message):
            for _ in read_chunks(path, **options, with_labels=False, max_sentence_tokens=10_000):
                pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40_000_000


LONG = {
    "conll": ("a\n\n" + "w\n" * 30, 3),
    "conllu": ("# c\n" + "".join(f"{i}\tw{8 * chr(9)}\n" for i in range(1, 31)), 2),
    "jsonl": ('{"tokens": []}\n{"tokens": [' + '"w", ' * 29 + '"w"]}\n', 2),
    "text": ("a\n\n" + "w " * 30 + "\n", 3),
}


@pytest.mark.parametrize("format", LONG)
def test_the_longest_sentence_is_a_setting(format: str, tmp_path: Path) -> None:
    text, line = LONG[format]
    path = tmp_path / "a"
    path.write_text(text)
    options: dict[str, Any] = {"format": format, "tokenizer": "whitespace", "with_labels": False}
    if format in ("conll", "jsonl"):
        options["columns"] = ["word"]
        options["label"] = "none"
    assert max(read(path, **options, max_sentence_tokens=30).lengths) == 30
    with pytest.raises(
        SeqpaError,
        match=rf"a:{line}: a sentence of 30 tokens begins here; is a blank line missing\? "
        r"\(data\.max_sentence_tokens is 29\)",
    ):
        read(path, **options, max_sentence_tokens=29)
    assert Limits(29).characters >= 1_000_000


# Anything at all

OPTIONS = st.fixed_dictionaries(
    {
        "format": st.sampled_from(["conll", "conllu", "jsonl"]),
        "encoding": st.sampled_from(["utf-8", "utf-16", "utf-16-le", "utf-7", "utf-32", "cp1252"]),
        "scheme": st.sampled_from([None, "iob1", "iob2", "bioes"]),
        "with_labels": st.booleans(),
    }
)
PIECES = st.sampled_from(
    [
        *(b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b", b"\x00", b"\r", b"\n", b"\n\n", b"\t", b" "),
        *(
            b"# ",
            b"-DOCSTART-",
            b"1\t" + b"_\t" * 8 + b"_\n",
            b'{"tokens": [',
            b"]}",
            b"B-x",
            b"1-2",
        ),
        *(
            b'{"tokens": ["a"], "labels": ["O"]}\n',
            b"a O\n",
            b"a\tB-x\n",
            b"1.1\t",
            b"\xed\xa0\x80",
        ),
        *(
            "１\t".encode(),
            "²\tx\n".encode(),
            b"[[[[",
            b"1e999",
            b"\x85",
            b"\x1c",
            b"+AGE-",
            b"\x0c",
        ),
    ]
)


def outcome(read: Callable[[], Any]) -> tuple[Any, str]:
    """What is read, or else the message."""
    try:
        return read(), ""
    except SeqpaError as error:
        return None, str(error)


@given(st.lists(PIECES, max_size=15).map(b"".join) | st.binary(max_size=60), OPTIONS)
def test_any_bytes_are_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, options: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(data)
    corpus, message = outcome(lambda: read(path, **options))
    if corpus is None:
        assert message.startswith(str(path))
        assert "\n" not in message
        return
    assert sum(corpus.lengths) == corpus.n_tokens == len(corpus.columns[0])


@given(st.lists(PIECES, max_size=15).map(b"".join) | st.binary(max_size=60))
def test_any_lexicon_and_clusters(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "list"
    path.write_bytes(data)
    for kind in (Lexicon, Clusters):
        _, message = outcome(lambda kind=kind: kind.read(path))
        assert message.startswith(str(path)) or not message


@pytest.mark.parametrize(
    "columns", ["word", 3, [], [""], ["word", 1], [["word"]], ["a\nb"], [" a"], ["_"] * 2000]
)
def test_odd_columns(columns: Any, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a O\n")
    for format in ("conll", "conllu", "jsonl"):
        with pytest.raises(SeqpaError):
            read(path, format, columns=columns)


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("utf-16", r"a:1: no utf-16 with a byte-order mark; .* encoding: utf-16-le or utf-16-be"),
        ("utf-32", r"a:1: (no utf-32 with|byte)"),
        ("idna", "unknown encoding 'idna'"),
        ("unicode_escape", "unknown encoding 'unicode_escape'"),
        ("punycode", "unknown encoding 'punycode'"),
        ("undefined", "unknown encoding 'undefined'"),
        ("a\0b", "unknown encoding"),
        ("\ud800", "unknown encoding"),
        ("x" * 10_000, "unknown encoding"),
    ],
)
def test_odd_encodings(encoding: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"word O\nmore O\n")
    with pytest.raises(SeqpaError, match=message):
        read(path, encoding=encoding)


@pytest.mark.skipif(os.name != "posix", reason="closes a descriptor as POSIX shells do")
def test_a_closed_standard_input() -> None:
    code = "from seqpa.data import read; read('-')"
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -c "{code}" <&-'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "SeqpaError: <stdin>: is closed; name a file" in done.stderr


@pytest.mark.parametrize("target", fuzz_readers.TARGETS)
def test_mutated_files_are_read_or_refused(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Some of what `fuzz_readers.py` does on demand."""
    fuzz_readers.plain(200, [target])
    assert "200 inputs read or refused" in capsys.readouterr().out
