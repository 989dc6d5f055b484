"""Real corpora, where they are: their known sizes, and faithful copies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seqpa.data import read, read_chunks, write_tagged

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif("SEQPA_DATA" not in os.environ, reason="SEQPA_DATA names no data folder"),
]
DATA = Path(os.environ.get("SEQPA_DATA", ""))


def test_conll2000(tmp_path: Path) -> None:
    path = DATA / "conll2000" / "train.txt"
    columns = ["word", "pos", "label"]
    corpus = read(path, columns=columns, scheme="iob2")
    assert (len(corpus), corpus.n_tokens) == (8936, 211_727)
    assert len(set(corpus.labels or [])) == 22
    assert corpus.labels == read(path, columns=columns).labels
    out = tmp_path / "out"
    chunks = read_chunks(path, columns=columns, keep_layout=True)
    write_tagged(out, ((c, c.labels or []) for c in chunks))
    before, after = path.read_text().split("\n"), out.read_text().split("\n")
    assert after == [f"{line}\t{line.split(chr(9))[-1]}" if line else "" for line in before]


def test_wnut17_hashtags_are_tokens() -> None:
    corpus = read(DATA / "wnut17" / "train.txt", scheme="bioes")
    assert (len(corpus), corpus.n_tokens) == (3394, 62_730)
    assert sum(word.startswith("#") for word in corpus.columns[0]) == 828


def test_german_morphology(tmp_path: Path) -> None:
    path = DATA / "ud-de-gsd" / "train.conllu"
    corpus = read(path, "conllu", label="upos+feats")
    assert len(corpus) == 14_118
    assert len(set(corpus.labels or [])) == 682
    out = tmp_path / "out"
    chunks = read_chunks(path, "conllu", label="upos+feats", keep_layout=True)
    write_tagged(out, ((c, c.labels or []) for c in chunks))
    assert out.read_bytes() == path.read_bytes()
