"""Files, pipes, encodings and gzip; streaming equals reading whole; outputs are whole or absent."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tracemalloc
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa.data import Corpus, read, read_chunks, write_tagged
from seqpa.errors import SeqpaError


def test_windows_1252_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "old.conll"
    path.write_bytes("a O\n\nb O\ncafé B\n".encode("cp1252"))
    with pytest.raises(SeqpaError, match=r"old\.conll:4: byte 0xe9 .* encoding: cp1252"):
        read(path)
    assert read(path, encoding="cp1252").X == [["a"], ["b", "café"]]
    with pytest.raises(SeqpaError, match=r":4: .* encoding: utf-8"):
        read(path, encoding="ascii")


def test_the_line_is_right_in_a_later_block(tmp_path: Path) -> None:
    path = tmp_path / "old.conll"
    path.write_bytes(b"word O\n\n" * 50_000 + b"\xff O\n")
    with pytest.raises(SeqpaError, match=r"old\.conll:100001: byte 0xff"):
        read(path)
    path.write_bytes(b"word O\n\n" * 50_000 + b"word\n")
    with pytest.raises(SeqpaError, match=r"old\.conll:100001: 1 space-separated column"):
        read(path)


def test_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "wide.conll"
    path.write_text("ä O\nß B\n", encoding="utf-16")
    assert read(path, encoding="utf-16").X == [["ä", "ß"]]
    with pytest.raises(SeqpaError, match=r"wide\.conll:1: .* say encoding: utf-16"):
        read(path)
    path.write_text("ä O\n", encoding="utf-8-sig")
    assert read(path).X == [["ä"]]
    for encoding in ("utf9", "hex"):
        with pytest.raises(SeqpaError, match="unknown encoding"):
            read(path, encoding=encoding)


def test_nul_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_bytes(b"a O\nb\0 O\n")
    with pytest.raises(SeqpaError, match=r"a\.conll:2: a NUL character"):
        read(path)


def test_missing_files_and_directories(tmp_path: Path) -> None:
    (tmp_path / "train.conll").write_text("a O\n")
    with pytest.raises(SeqpaError, match=r"no such file; did you mean .*train\.conll'\?"):
        read(tmp_path / "trian.conll")
    with pytest.raises(SeqpaError, match=r"no such file: there is no directory .*nowhere"):
        read(tmp_path / "nowhere" / "train.conll")
    with pytest.raises(
        SeqpaError, match=r"is a directory; name a file, for example .*train\.conll"
    ):
        read(tmp_path)
    with pytest.raises(SeqpaError, match="'conl' is not known; did you mean 'conll'"):
        read(tmp_path / "train.conll", format="conl")


def forbidden(*_: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.conll"
    path.write_text("a O\n")
    monkeypatch.setattr(Path, "open", forbidden)
    monkeypatch.setattr(os, "open", forbidden)
    with pytest.raises(SeqpaError, match=r"a\.conll: cannot be read \(Permission denied\)"):
        read(path)
    with pytest.raises(SeqpaError, match=r"out: cannot be written \(Permission denied\)"):
        write_tagged(tmp_path / "out", one())


def test_gzip_by_its_content(tmp_path: Path) -> None:
    for name in ("a.conll.gz", "a.conll"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(b"a O\n\nb B\n"))
        assert read(path).X == [["a"], ["b"]]
        path.write_bytes(path.read_bytes()[:-6])
        with pytest.raises(SeqpaError, match="damaged or cut-off gzip"):
            read(path)


def test_what_is_called_zst_is_zstd_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.conll.zst"
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(SeqpaError, match=r"a.conll.zst: .* pip install zstandard, or"):
        write_tagged(path, one())
    assert not path.exists()
    monkeypatch.undo()
    pytest.importorskip("zstandard")
    write_tagged(path, one())
    write_tagged(tmp_path / "a.conll", one())
    assert path.read_bytes().startswith(b"\x28\xb5\x2f\xfd")
    assert read(path).X == read(tmp_path / "a.conll").X


def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (b"a O\n\nb B\n", gzip.compress(b"a O\n\nb B\n")):
        stdin = SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data)))
        stdout = SimpleNamespace(buffer=io.BytesIO(), flush=lambda: None)
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.setattr("sys.stdout", stdout)
        chunks = read_chunks("-", keep_layout=True)
        write_tagged("-", ((c, ["X"] * c.n_tokens) for c in chunks))
        assert stdout.buffer.getvalue() == b"a O X\n\nb B X\n"
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"a O\nb\n")))
    with pytest.raises(SeqpaError, match="<stdin>:2: 1 space-separated column"):
        read("-")


def test_a_pipe_flows() -> None:
    """A sentence that has arrived is passed on before the next one is written."""
    out, into = os.pipe()
    with pytest.MonkeyPatch.context() as patch, os.fdopen(into, "wb", 0) as writer:
        patch.setattr("sys.stdin", SimpleNamespace(buffer=os.fdopen(out, "rb")))
        chunks = read_chunks("-")
        for word in (b"first", b"second"):
            writer.write(word + b" O\n\n")
            assert [[word.decode()]] == next(chunks).X


ROW = st.sampled_from(["a A O", "b B X", "# id = 3", "", "  ", "-DOCSTART- -X- O", "# a b c d"])


@given(st.lists(ROW, max_size=40), st.integers(1, 60), st.sampled_from(["\n", "\r\n"]))
def test_streaming_is_reading_whole(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str], size: int, newline: str
) -> None:
    path = tmp_path_factory.mktemp("stream") / "a"
    path.write_bytes(newline.join(["é É O", *rows]).encode())
    columns = ["word", "pos", "label"]
    whole = read(path, columns=columns)
    chunks = list(read_chunks(path, columns=columns, chunk_bytes=size))
    assert Corpus.joined(chunks).X == whole.X
    assert list(chain.from_iterable(chunk.y for chunk in chunks)) == whole.y

    def copy(chunk_bytes: int) -> bytes:
        out = path.with_name(f"out{chunk_bytes}")
        parts = read_chunks(path, columns=columns, keep_layout=True, chunk_bytes=chunk_bytes)
        write_tagged(out, ((c, ["T"] * c.n_tokens) for c in parts))
        return out.read_bytes()

    assert copy(size) == copy(1 << 20)


@pytest.mark.parametrize("format", ["conll", "conllu", "jsonl", "text"])
def test_memory_stays_constant(tmp_path: Path, format: str) -> None:
    conllu = "1\tword{0}\t_\tN\t_\t_\t_\t_\t_\t_\n2\tend\t_\tV\t_\t_\t_\t_\t_\t_\n\n"
    line = {
        "conll": "word{0} O\nend O\n \n",
        "conllu": conllu,
        "jsonl": '{{"tokens": ["word{0}", "end"]}}\n',
        "text": "word{0} end\n",
    }[format]

    def peak(sentences: int) -> int:
        path = tmp_path / str(sentences)
        path.write_text("".join(line.format(i) for i in range(sentences)))
        tracemalloc.start()
        chunks = read_chunks(
            path,
            format,
            with_labels=False,
            tokenizer="whitespace",
            keep_layout=True,
            chunk_bytes=1 << 12,
        )
        write_tagged(tmp_path / "out", ((c, ["X"] * c.n_tokens) for c in chunks))
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(10)  # imports and caches
    assert peak(10_000) < 3 * peak(1_000)  # ten times the file


def test_equal_strings_are_one_object(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("word X\n\n" * 100_000)
    corpus = read(path)
    assert len(set(map(id, corpus.columns[0]))) == 1
    assert len(set(map(id, corpus.labels or []))) == 1


def one(word: str = "a") -> list[tuple[Corpus, list[str]]]:
    return [(Corpus.from_sentences([[word]]), ["X"])]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")

    def broken():
        yield one()[0]
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError):
        write_tagged(path, broken())
    with pytest.raises(SeqpaError, match="2 labels for 1 tokens"):
        write_tagged(path, [(one()[0][0], ["X", "Y"])])
    with pytest.raises(SeqpaError, match=r"'ż' \(U\+017C\) cannot be written as cp1252"):
        write_tagged(path, one("ż"), encoding="cp1252")
    with pytest.raises(SeqpaError, match="unknown encoding"):
        write_tagged(path, one(), encoding="utf9")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_where_a_file_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(SeqpaError, match="there is no directory"):
        write_tagged(tmp_path / "no" / "out", one())
    with pytest.raises(SeqpaError, match="is a directory; name a file"):
        write_tagged(tmp_path, one())
    real = tmp_path / "real"
    link = tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    write_tagged(link, one())
    assert link.is_symlink()
    assert real.read_text() == "a\tX\n\n"
    assert real.stat().st_mode & 0o777 == 0o666 & ~_umask()
    write_tagged(os.devnull, one())
    write_tagged(tmp_path / "out.gz", one())
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == b"a\tX\n\n"
    write_tagged(tmp_path / "wide", [*one(), *one()], encoding="utf-16")
    assert (tmp_path / "wide").read_bytes() == "a\tX\n\na\tX\n\n".encode("utf-16")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


SENTENCES = st.lists(st.lists(st.tuples(st.text(), st.text()), min_size=1), min_size=1)


@given(SENTENCES, st.slices(6))
def test_a_corpus_is_its_sentences(rows: list[list[tuple[str, str]]], part: slice) -> None:
    labels = [[f"{i}" for i, _ in enumerate(sentence)] for sentence in rows]
    corpus = Corpus.from_sentences(rows, labels, names=("word", "pos"))
    assert (corpus.X, corpus.y, len(corpus)) == (rows, labels, len(rows))
    assert [(s.tokens, s.labels) for s in corpus] == list(zip(rows, labels, strict=True))
    assert corpus[-1].tokens == rows[-1]
    assert rows[part] == corpus[part].X
    assert corpus[part].y == labels[part]
    assert rows + rows == Corpus.joined([corpus, corpus]).X
    bare = Corpus.from_sentences(rows, names=("word", "pos"))
    assert [s.labels for s in bare] == [None] * len(rows)
    with pytest.raises(SeqpaError, match="without labels"):
        _ = bare.y
    with pytest.raises(SeqpaError, match="as many as the tokens"):
        Corpus.from_sentences(rows, labels[1:], names=("word", "pos"))
