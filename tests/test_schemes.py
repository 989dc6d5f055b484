"""Chunk schemes: spans by brute force, conversions as inverses, legality by definition."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa.data import read, read_chunks
from seqpa.errors import SeqpaError, SeqpaWarning
from seqpa.evaluate import evaluate, span_scores
from seqpa.schemes import (
    SCHEMES,
    allowed,
    are_chunk_labels,
    begins_span,
    check,
    convert,
    foreign,
    is_chunk_label,
    marks_spans,
    pairs_of,
    recognise,
    spans,
    strict_spans,
    transitions,
    type_of,
    violation,
    write_spans,
)


def written(found: list[tuple[str, int, int]], length: int, scheme: str) -> list[str]:
    """The labels of given spans, token by token from the scheme's definition."""
    labels = []
    for position in range(length):
        label = "O"
        for kind, start, end in found:
            if not start <= position < end:
                continue
            begins, ends = position == start, position == end - 1
            follows = any((k, e) == (kind, start) for k, _, e in found)
            followed = any((k, s) == (kind, end) for k, s, _ in found)
            if scheme == "iob1":
                tag = "B" if begins and follows else "I"
            elif scheme == "iob2":
                tag = "B" if begins else "I"
            elif scheme == "ioe1":
                tag = "E" if ends and followed else "I"
            elif scheme == "ioe2":
                tag = "E" if ends else "I"
            elif scheme == "io":
                tag = "I"
            else:
                tag = "S" if begins and ends else "B" if begins else "E" if ends else "I"
                other = {"bioes": "BIES", "bilou": "BILU", "bmes": "BMES"}[scheme]
                tag = other["BIES".index(tag)]
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


# What IO says of two chunks of one type that touch is that they are one.
TELLING = [scheme for scheme in SCHEMES if scheme != "io"]


@pytest.mark.parametrize("scheme", TELLING)
@pytest.mark.parametrize("kinds", [("A", "B-C"), ("",)])
def test_every_chunking_of_five_tokens(scheme: str, kinds: tuple[str, ...]) -> None:
    legal = set()
    for found in every_chunking(5, kinds):
        labels = written(found, 5, scheme)
        assert spans(labels) == strict_spans(labels, scheme) == found
        assert write_spans(found, 5, scheme) == labels
        assert violation(labels, scheme) is None
        legal.add(tuple(labels))
        for other in TELLING:
            converted = convert(labels, other)
            assert converted == written(found, 5, other)
            assert convert(converted, scheme) == labels
    if len(kinds) == 1:  # what no chunking gives is illegal, and nothing else
        for labels in product("BIOESLUM", repeat=5):
            assert (violation(labels, scheme) is None) == (labels in legal)


def test_io_joins_what_touches() -> None:
    assert convert(["B-A", "B-A", "B-B"], "io") == ["I-A", "I-A", "I-B"]
    assert spans(["I-A", "I-A", "I-B"]) == [("A", 0, 2), ("B", 2, 3)]
    for labels in product(["O", "I-A", "I-B"], repeat=4):
        assert violation(labels, "io") is None
        assert convert(labels, "io") == list(labels)


TAGS = ["O", *(f"{tag}-{kind}" for tag in "BIESLUM" for kind in "XY"), "B", "I"]
LABELS = st.lists(st.sampled_from(TAGS))


@given(LABELS, st.sampled_from(SCHEMES))
def test_any_labels_convert_to_legal_ones_with_the_same_spans(labels, scheme) -> None:
    converted = convert(labels, scheme)
    assert violation(converted, scheme) is None
    found = spans(labels)
    if scheme != "io":
        assert spans(converted) == found
    assert all(0 <= start < end <= len(labels) for _, start, end in found)
    assert all(a[2] <= b[1] for a, b in pairwise(found))
    assert set(strict_spans(labels, scheme)) <= set(found)
    assert len(found) == sum(begins_span(a, b) for a, b in pairwise(["O", *labels]))


# seqeval's reading, strict and not

SEQEVAL = {"iob2": "IOB2", "ioe2": "IOE2", "bioes": "IOBES", "bilou": "BILOU"}
OPEN = {"iob1": "IOB1", "ioe1": "IOE1"}


def of_seqeval(labels: list[str], name: str) -> list[tuple[str, int, int]]:
    from seqeval import scheme as theirs

    found = theirs.Tokens(labels, getattr(theirs, name)).entities
    return [(entity.tag, entity.start, entity.end) for entity in found]


@given(st.lists(st.sampled_from([f"{t}-{k}" for t in "BIES" for k in "XY"] + ["O"])))
def test_spans_as_seqeval_reads_them(labels: list[str]) -> None:
    sequence_labeling = pytest.importorskip("seqeval.metrics.sequence_labeling")
    theirs = [(kind, start, end + 1) for kind, start, end in sequence_labeling.get_entities(labels)]
    assert spans(labels) == theirs


@pytest.mark.parametrize("scheme", SEQEVAL)
@given(st.data())
def test_strict_spans_as_seqeval_reads_them(scheme: str, data: st.DataObject) -> None:
    pytest.importorskip("seqeval.scheme")
    tags = {"iob2": "BI", "ioe2": "IE", "bioes": "BIES", "bilou": "BILU"}[scheme]
    alphabet = ["O", *(f"{tag}-{kind}" for tag in tags for kind in "XY")]
    labels = data.draw(st.lists(st.sampled_from(alphabet)))
    assert strict_spans(labels, scheme) == of_seqeval(labels, SEQEVAL[scheme])


@pytest.mark.parametrize(("scheme", "kinds"), [("iob1", "XY"), ("ioe1", "X")])
def test_open_schemes_as_seqeval_reads_them(scheme: str, kinds: str) -> None:
    """Legal labels: of others seqeval keeps pieces. In IOE1 it says itself that it misses some."""
    pytest.importorskip("seqeval.scheme")
    for found in every_chunking(5, tuple(kinds)):
        labels = written(found, 5, scheme)
        theirs = of_seqeval(labels, OPEN[scheme])
        if scheme == "iob1":
            assert strict_spans(labels, scheme) == theirs
        else:
            assert set(theirs) <= set(strict_spans(labels, scheme))


@given(st.lists(LABELS, min_size=1))
def test_strict_scores_count_strict_spans(sentences: list[list[str]]) -> None:
    predicted = [convert(labels, "bioes") for labels in sentences]
    scores = span_scores(sentences, predicted, "bioes")
    gold = [span for labels in sentences for span in strict_spans(labels, "bioes")]
    assert sum(score.gold for score in scores.values()) == len(gold)
    assert sum(score.predicted for score in scores.values()) == sum(map(len, map(spans, sentences)))


# Which scheme it is


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_scheme_is_recognised(scheme: str) -> None:
    for kinds in [("A", "B"), ("",)]:
        sentences = [write_spans(found, 4, scheme) for found in every_chunking(4, kinds)]
        found = recognise(pairs_of(sentences))
        assert found is not None
        assert (found.scheme, found.broken) == (scheme, 0)
        if scheme != "io":
            assert found.spans == sum(map(len, every_chunking(4, kinds)))
        broken = [*sentences, ["NN"]]
        assert recognise(pairs_of(broken)) is None


def test_few_labels_are_recognised_and_none_is_made_up() -> None:
    def scheme(*sentences: str) -> str | None:
        found = recognise(pairs_of([sentence.split() for sentence in sentences]))
        return None if found is None else found.scheme

    assert scheme("O O", "O") is None
    assert scheme("NN VB") is None
    assert scheme("M S", "U") is None
    assert scheme("B-x O B-x") == "iob2"
    assert scheme("I-x O", "B-x I-x O", "B-y I-y", "B-x O") == "iob2"  # one mistake in it
    assert scheme("I-x B-x", "O I-y") == "iob1"
    assert scheme("O I-x I-x") == "io"
    assert scheme("U-x O") == "bilou"
    assert scheme("S-x O") == "bioes"
    assert scheme("B M E S") == "bmes"
    assert scheme("B-x E-x", "I-x") == "bioes"


def test_errors_name_sentence_and_token() -> None:
    with pytest.raises(SeqpaError, match="sentence 2, token 3: 'I-B' after 'B-A' is not legal"):
        check([["O"], ["O", "B-A", "I-B"]], "iob2")
    with pytest.raises(SeqpaError, match="sentence 1, token 1: the sentence ends after 'B-A'"):
        check([["B-A"]], "bioes")
    with pytest.raises(SeqpaError, match="'I-A' at the start of a sentence is not legal IOB2"):
        check([["I-A"]], "iob2")
    with pytest.raises(SeqpaError, match="token 2: 'NN' is no chunk label"):
        convert(["O", "NN"], "iob2")
    with pytest.raises(SeqpaError, match="'B-x' is no IOE2 label; its tags are I, O, E, as in I-P"):
        check([["B-x"]], "ioe2")
    with pytest.raises(SeqpaError, match="'iob3' is none of iob1, iob2, ioe1"):
        allowed("O", "O", "iob3")
    assert not allowed("O", "O-X", "iob2")
    assert not allowed("O", "BI", "iob2")


def test_reading_converts(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("a I-X\nb I-X\nc B-X\n\nd O\ne I-Y\n")
    assert read(path, scheme="iob2").y == [["B-X", "I-X", "B-X"], ["O", "B-Y"]]
    assert read(path, scheme="bioes").y == [["B-X", "E-X", "S-X"], ["O", "S-Y"]]
    assert read(path, scheme="iob1").y == read(path).y


def test_reading_repairs_or_refuses_over_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("a B-X\nb I-X\n\n# id = 2\nc B-X\nd O\ne I-X\n\nf B-Y\n")
    for size in (5, 1 << 20):
        with pytest.warns(
            SeqpaWarning,
            match=r"a\.conll:7: I-X begins a span; 1 of 4 spans repaired; labels: strict refuses",
        ):
            chunks = list(read_chunks(path, scheme="bioes", chunk_bytes=size))
        assert [y for chunk in chunks for y in chunk.y] == [
            ["B-X", "E-X"],
            ["S-X", "O", "S-X"],
            ["S-Y"],
        ]
        for scheme in ("bioes", None):
            with pytest.raises(SeqpaError, match=r"a\.conll:7: 'I-X' after 'O' is not legal IOB2"):
                list(read_chunks(path, scheme=scheme, labels="strict", chunk_bytes=size))
    assert read(path).y[1] == ["B-X", "O", "I-X"]
    path.write_text("a B-X\nb I-X\nb E-X\n\nc B-X\n")
    with pytest.warns(SeqpaWarning, match=r"a\.conll:5: the sentence ends after 'B-X', which"):
        assert read(path, scheme="iob2").y == [["B-X", "I-X", "I-X"], ["B-X"]]
    path.write_text("a NN\nb NP\n")
    assert read(path, labels="strict").y == [["NN", "NP"]]
    path.write_text('{"tokens": ["a"], "labels": ["O"]}\n{"tokens": ["a"], "labels": ["NN"]}\n')
    with pytest.raises(SeqpaError, match=r"a\.conll:2: 'NN' is no chunk label"):
        read(path, "jsonl", scheme="iob2")
    with pytest.raises(SeqpaError, match="scheme: 'x' is none of"):
        read(path, "jsonl", scheme="x")
    with pytest.raises(SeqpaError, match="labels: 'strit' is neither repair nor strict; did you"):
        read(path, "jsonl", labels="strit")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_table_of_transitions_agrees_with_the_rule(scheme: str) -> None:
    every = ["O", *(f"{tag}{kind}" for tag in "BIESLUM" for kind in ("-x", "-y", ""))]
    labels = [label for label in every if foreign([label], scheme) is None]
    found = transitions(labels, scheme)
    for k, label in enumerate(labels):
        assert found.first[k] == allowed(None, label, scheme)
        assert found.last[k] == allowed(label, None, scheme)
        for p, previous in enumerate(labels):
            assert found.pairs[p, k] == allowed(previous, label, scheme)
    assert transitions([], scheme).pairs.shape == (0, 0)


def test_what_a_label_is() -> None:
    assert [type_of(f"{tag}-a-b") for tag in "BIESLUM"] == ["a-b"] * 7
    assert [type_of(label) for label in ("O", "B", "X-a", "b-a", "O-a")] == [None] * 5
    assert all(map(is_chunk_label, ["O", "B", "I-x", "E-", "S-x\n", "L-x", "U-x", "M-x"]))
    assert not any(map(is_chunk_label, ["", "O-x", "NN", "BX", "L", "M-"]))
    assert are_chunk_labels("BMES")
    assert not are_chunk_labels("MS")
    assert marks_spans(["NN", "B-x"])
    assert not marks_spans(["NN", "O", "B", "E-x"])
    assert marks_spans(["O", "U-x"])
    assert not marks_spans(["B", "M", "E", "S"])
    assert foreign(["O", "B-x", "NN", "VB"], "iob2") == "NN"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_is_evaluated_by_its_spans(scheme: str) -> None:
    gold = write_spans([("PER", 0, 2), ("LOC", 3, 4)], 5, scheme)
    predicted = write_spans([("PER", 0, 2), ("LOC", 3, 5)], 5, scheme)
    result = evaluate([gold], [predicted])
    assert result.span_micro is not None
    assert (result.span_micro.correct, result.span_micro.gold) == (1, 2)
    strict = evaluate([gold], [predicted], strict=scheme).span_micro
    assert strict == result.span_micro
