"""Chunk schemes: spans by brute force, conversions as inverses, legality by definition."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa.data import read, read_chunks
from seqpa.errors import SeqpaError
from seqpa.schemes import (
    SCHEMES,
    allowed,
    check,
    convert,
    foreign,
    is_chunk_label,
    marks_spans,
    spans,
    transitions,
    type_of,
    violation,
)


def written(found: list[tuple[str, int, int]], length: int, scheme: str) -> list[str]:
    """The labels of given spans, token by token from the scheme's definition."""
    labels = []
    for position in range(length):
        label = "O"
        for kind, start, end in found:
            if not start <= position < end:
                continue
            begins = position == start
            follows = any((k, e) == (kind, start) for k, _, e in found)
            if scheme == "iob1":
                tag = "B" if begins and follows else "I"
            elif scheme == "iob2":
                tag = "B" if begins else "I"
            elif end - start == 1:
                tag = "S"
            else:
                tag = "B" if begins else "E" if position == end - 1 else "I"
            label = f"{tag}-{kind}" if kind else tag
        labels.append(label)
    return labels


def every_chunking(length: int, kinds: tuple[str, ...]) -> list[list[tuple[str, int, int]]]:
    def from_position(start: int) -> list[list[tuple[str, int, int]]]:
        if start == length:
            return [[]]
        found = list(from_position(start + 1))
        for end in range(start + 1, length + 1):
            for kind in kinds:
                found += [[(kind, start, end), *rest] for rest in from_position(end)]
        return found

    return from_position(0)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kinds", [("A", "B-C"), ("",)])
def test_every_chunking_of_five_tokens(scheme: str, kinds: tuple[str, ...]) -> None:
    legal = set()
    for found in every_chunking(5, kinds):
        labels = written(found, 5, scheme)
        assert spans(labels) == found
        assert violation(labels, scheme) is None
        legal.add(tuple(labels))
        for other in SCHEMES:
            converted = convert(labels, other)
            assert converted == written(found, 5, other)
            assert convert(converted, scheme) == labels
    if len(kinds) == 1:  # what no chunking gives is illegal, and nothing else
        for labels in product("BIOES", repeat=5):
            assert (violation(labels, scheme) is None) == (labels in legal)


TAGS = ["O", *(f"{tag}-{kind}" for tag in "BIES" for kind in "XY"), "B", "I"]


@given(st.lists(st.sampled_from(TAGS)), st.sampled_from(SCHEMES))
def test_any_labels_convert_to_legal_ones_with_the_same_spans(labels, scheme) -> None:
    converted = convert(labels, scheme)
    assert violation(converted, scheme) is None
    assert spans(converted) == spans(labels)
    found = spans(labels)
    assert all(0 <= start < end <= len(labels) for _, start, end in found)
    assert all(a[2] <= b[1] for a, b in pairwise(found))


def test_errors_name_sentence_and_token() -> None:
    with pytest.raises(SeqpaError, match="sentence 2, token 3: 'I-B' after 'B-A' is not legal"):
        check([["O"], ["O", "B-A", "I-B"]], "iob2")
    with pytest.raises(SeqpaError, match="sentence 1, token 1: the sentence ends after 'B-A'"):
        check([["B-A"]], "bioes")
    with pytest.raises(SeqpaError, match="'I-A' at the start of a sentence is not legal IOB2"):
        check([["I-A"]], "iob2")
    with pytest.raises(SeqpaError, match="token 2: 'NN' is no BIOES label"):
        convert(["O", "NN"], "iob2")
    with pytest.raises(SeqpaError, match="'iob3' is none of iob1, iob2, bioes"):
        allowed("O", "O", "iob3")
    assert not allowed("O", "O-X", "iob2")
    assert not allowed("O", "BI", "iob2")


def test_reading_converts(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("a I-X\nb I-X\nc B-X\n\nd O\ne I-Y\n")
    assert read(path, scheme="iob2").y == [["B-X", "I-X", "B-X"], ["O", "B-Y"]]
    assert read(path, scheme="bioes").y == [["B-X", "E-X", "S-X"], ["O", "S-Y"]]
    assert read(path, scheme="iob1").y == read(path).y


def test_reading_checks_over_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("a B-X\nb I-X\n\n# id = 2\nc O\nd I-X\n")  # IOB2, and then only IOB1
    for size in (5, 1 << 20):
        with pytest.raises(SeqpaError, match=r"a\.conll:6: 'I-X' after 'O' is not legal IOB2"):
            list(read_chunks(path, scheme="bioes", chunk_bytes=size))
    path.write_text('{"tokens": ["a"], "labels": ["O"]}\n{"tokens": ["a"], "labels": ["NN"]}\n')
    with pytest.raises(SeqpaError, match=r"a\.conll:2: 'NN' is no"):
        read(path, "jsonl", scheme="iob2")
    with pytest.raises(SeqpaError, match="scheme: 'x' is none of"):
        read(path, "jsonl", scheme="x")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_table_of_transitions_agrees_with_the_rule(scheme: str) -> None:
    labels = ["O", "B-x", "I-x", "B-y", "I-y", "B", "I"]
    if scheme == "bioes":
        labels += ["E-x", "S-x", "E-y", "E", "S"]
    found = transitions(labels, scheme)
    for k, label in enumerate(labels):
        assert found.first[k] == allowed(None, label, scheme)
        assert found.last[k] == allowed(label, None, scheme)
        for p, previous in enumerate(labels):
            assert found.pairs[p, k] == allowed(previous, label, scheme)
    assert transitions([], scheme).pairs.shape == (0, 0)


def test_what_a_label_is() -> None:
    assert [type_of(f"{tag}-a-b") for tag in "BIESLU"] == ["a-b"] * 6
    assert [type_of(label) for label in ("O", "B", "X-a", "b-a", "O-a")] == [None] * 5
    assert all(map(is_chunk_label, ["O", "B", "I-x", "E-", "S-x\n"]))
    assert not any(map(is_chunk_label, ["", "O-x", "NN", "L-x", "BX"]))
    assert marks_spans(["NN", "B-x"])
    assert not marks_spans(["NN", "O", "B", "E-x"])
    assert foreign(["O", "B-x", "NN", "VB"], "iob2") == "NN"
