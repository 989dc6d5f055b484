"""JSON lines: three forms of a token, other keys kept, errors with their line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa.data import Corpus, read, read_chunks, write_tagged
from seqpa.errors import SeqpaError

WPL = ("word", "pos", "label")
CELL = st.text(st.characters(exclude_categories=("Cs",)), max_size=5)
LABEL = CELL.filter(bool)


@given(st.lists(st.lists(st.tuples(CELL, CELL, LABEL), min_size=1), min_size=1))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, rows) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    X = [[(w, p) for w, p, _ in sentence] for sentence in rows]
    y = [[label for *_, label in sentence] for sentence in rows]
    write_tagged(path, [(Corpus.from_sentences(X, names=("word", "pos")), y)], "jsonl")
    again = read(path, "jsonl", columns=WPL)
    assert (again.X, again.y) == (X, y)
    # Escaped as ASCII, lists instead of objects, the label among the cells: the same corpus.
    lists = [json.dumps({"tokens": [list(token) for token in sentence]}) for sentence in rows]
    path.write_text("\r\n".join(lists))
    again = read(path, "jsonl", columns=WPL)
    assert (again.X, again.y) == (X, y)


def test_forms_of_a_token(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    forms = [
        {"tokens": [["a", "A"]], "labels": ["X"]},
        {"tokens": [["a", "A", "X"]]},
        {"tokens": [{"word": "a", "pos": "A", "more": 1}], "labels": ["X"]},
        {"tokens": [{"pos": "A", "label": "X", "word": "a"}]},
    ]
    path.write_text("\n".join(map(json.dumps, forms)))
    corpus = read(path, "jsonl", columns=WPL)
    assert corpus.X == [[("a", "A")]] * 4
    assert corpus.y == [["X"]] * 4
    path.write_text('{"tokens": ["a", "b"], "labels": ["X", "Y"]}\n')
    assert read(path, "jsonl").X == [["a", "b"]]


def test_a_tagged_copy_keeps_other_keys_order_and_empty_sentences(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"id": 7, "tokens": ["é", "b"], "labels": ["?", "?"]}\n\n'
        '{"tokens": []}\n{"tokens": ["c"], "id": 8}\n'
    )
    chunks = read_chunks(path, "jsonl", with_labels=False, keep_layout=True)
    out = tmp_path / "out"
    write_tagged(out, ((c, ["X", "Y", "Z"], {"p": ["1", "2", "3"]}) for c in chunks))
    assert out.read_text() == (
        '{"id": 7, "tokens": ["é", "b"], "labels": ["X", "Y"], "p": ["1", "2"]}\n\n'
        '{"tokens": [], "labels": [], "p": []}\n'
        '{"tokens": ["c"], "id": 8, "labels": ["Z"], "p": ["3"]}\n'
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"tokens": ["a"', r"a\.jsonl:2: not JSON: .* at character 16"),
        ("[1]", r'a\.jsonl:2: not an object with a list "tokens"'),
        ('{"tokens": "a"}', r'a\.jsonl:2: not an object with a list "tokens"'),
        ('{"tokens": ["a", "b"], "labels": ["X"]}', r"a\.jsonl:2: 2 tokens but 1 labels"),
        ('{"tokens": ["a"]}', r"a\.jsonl:2: token 1 has no label"),
        ('{"tokens": ["a"], "labels": [null]}', r"a\.jsonl:2: token 1 has no label"),
        ('{"tokens": [3], "labels": ["X"]}', r"a\.jsonl:2: a token is not a string or the cells"),
        ('{"tokens": [[3]], "labels": ["X"]}', r"a\.jsonl:2: a cell must be a string, not 3"),
        ('{"tokens": [{"w": "a"}], "labels": ["X"]}', r"a\.jsonl:2: a token has no 'word'"),
        ("[" * 100_000, r"a\.jsonl:2: not usable JSON"),
    ],
)
def test_errors_say_where(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["a"], "labels": ["X"]}\n' + line + "\n")
    with pytest.raises(SeqpaError, match=message):
        read(path, "jsonl")


def test_a_string_is_one_column_only(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["a"], "labels": ["X"]}\n')
    with pytest.raises(SeqpaError, match=r":1: the token 'a' is one cell; needed are word, pos"):
        read(path, "jsonl", columns=WPL)
