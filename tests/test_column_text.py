"""Columns tagged as bytes: the same text, or the same error, as through readers and writers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import seqpa.data
from seqpa import SequenceTagger
from seqpa.data import read_chunks, write_tagged
from seqpa.errors import SeqpaError
from seqpa.sequence import column_text

COLUMNS = ["word", "pos", "label"]
SMALL = 48  # bytes of a block
X = [[("Ada", "N"), ("won", "V"), ("#", "S")], [("né", "A"), ("-", "S"), ("won", "V"), ("x", "N")]]
Y = [["B", "O", "I"], ["O", "I", "B", "O"]]


@pytest.fixture(scope="module")
def tagger() -> SequenceTagger:
    templates = ["word[0]", "pos[-1]|pos[0]", "shape[0]", "suffix(2)[0]", "word[1]"]
    return SequenceTagger(templates, ["word", "pos"], random_state=0, epochs=4).fit(X, Y)


def by_bytes(tagger: SequenceTagger, path: Path, n_jobs: int = 1) -> str:
    how = {"columns": COLUMNS, "label": "label", "encoding": "utf-8", "max_sentence_tokens": 9}
    with pytest.MonkeyPatch.context() as patch:
        small = partial(seqpa.data.column_blocks, chunk_bytes=SMALL)
        patch.setattr(column_text, "column_blocks", small)
        tagging = tagger.trained_.tagging
        pieces = column_text.tagged_columns(tagging, tagger.input_columns, str(path), how, n_jobs)
        assert pieces is not None
        return "".join(piece.text for piece in pieces)


def by_strings(tagger: SequenceTagger, path: Path) -> str:
    chunks = read_chunks(
        str(path),
        columns=COLUMNS,
        with_labels=False,
        keep_layout=True,
        max_sentence_tokens=9,
        chunk_bytes=SMALL,
    )

    def tagged() -> Iterator[Any]:
        for corpus in chunks:
            labels = tagger.predict(corpus) if len(corpus) else []
            yield corpus, list(chain.from_iterable(labels))

    out = io.StringIO()
    write_tagged(out, tagged())
    return out.getvalue()


def outcome(how: Any) -> tuple[str, str]:
    try:
        return "text", how()
    except SeqpaError as error:
        return "error", str(error)


WORDS = st.sampled_from(
    ["Ada", "won", "né", "#", "-", "x", "日本", "# a", "-DOCSTART-", "#begin", "=", "", "a b", "\r"]
)
PLAIN = st.sampled_from(["Ada", "won", "né", "#", "-", "x", "new", "newer", "日本語", "="])
LINES = st.one_of(
    st.tuples(PLAIN, PLAIN).map("\t".join),
    st.tuples(PLAIN, PLAIN).map("\t".join),
    st.tuples(PLAIN, PLAIN).map("\t".join),
    st.tuples(PLAIN, PLAIN).map(" ".join),
    st.tuples(PLAIN, PLAIN, PLAIN).map("\t".join),
    st.lists(WORDS, min_size=1, max_size=4).map("\t".join),
    st.lists(WORDS, min_size=1, max_size=4).map(" ".join),
    st.sampled_from(
        ["", "", "", "  ", "\t", "# key = value", "# newdoc", "# newdoc id = x", "-DOCSTART- x"]
    ),
)


@settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(LINES, max_size=30), st.sampled_from(["\n", "\n", "\r\n"]), st.booleans())
def test_any_text_is_tagged_as_through_strings(
    tagger: SequenceTagger, tmp_path: Path, lines: list[str], newline: str, ended: bool
) -> None:
    path = tmp_path / "in.conll"
    path.write_bytes((newline.join(lines) + newline * ended).encode())
    expected = outcome(lambda: by_strings(tagger, path))
    assert outcome(lambda: by_bytes(tagger, path)) == expected
    assert outcome(lambda: by_bytes(tagger, path, 3)) == expected


@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(st.lists(st.tuples(PLAIN, PLAIN), min_size=1, max_size=9), min_size=1, max_size=12),
    st.sampled_from(["\t", " "]),
)
def test_plain_text_never_becomes_strings(
    tagger: SequenceTagger, tmp_path: Path, sentences: list[Any], separator: str
) -> None:
    path = tmp_path / "in.conll"
    if separator == " ":  # `# key = value` is a comment, whatever its cells are
        sentences = [[(w, p) for w, p in rows if w != "#"] or [("x", "x")] for rows in sentences]
    text = "".join("".join(separator.join(row) + "\n" for row in rows) + "\n" for rows in sentences)
    path.write_text(text, "utf-8")
    expected = by_strings(tagger, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SequenceTagger, "predict", None)
        assert by_bytes(tagger, path) == expected
        assert by_bytes(tagger, path, 2) == expected


@pytest.mark.pure
def test_words_are_forgotten_when_they_are_too_many(
    tagger: SequenceTagger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_text, "_MOST_UNKNOWN", 5)
    path = tmp_path / "in.conll"
    path.write_text("".join(f"w{k % 40}{k % 3}\tN\nAda\tN\n\n" for k in range(200)), "utf-8")
    expected = by_strings(tagger, path)
    assert by_bytes(tagger, path) == by_bytes(tagger, path, 3) == expected


@pytest.mark.parametrize(
    "features", [["word[0]", "elsewhere(lower, 1)"], [lambda s: [{}] * len(s)]]
)
def test_models_that_look_further_go_the_other_way(features: Any, tmp_path: Path) -> None:
    given = features[0] if callable(features[0]) else features
    learned = SequenceTagger(given, random_state=0, epochs=1)
    learned.fit([["Ada", "won"]], [["B", "O"]])
    path = tmp_path / "in.conll"
    path.write_text("Ada\n", "utf-8")
    how = {"columns": None, "label": None, "encoding": "utf-8", "max_sentence_tokens": 9}
    tagging = learned.trained_.tagging
    columns = learned.input_columns
    assert column_text.tagged_columns(tagging, columns, str(path), how, 1) is None
