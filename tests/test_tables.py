"""Tables in and out: pandas, Hugging Face's datasets, and plain Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa import SeqpaError, SequenceTagger
from seqpa.data import from_table
from seqpa.tables import tag_table, to_sentences, to_tokens

X = [["so", "it", "is"], ["it"], ["is", "it"]]
Y = [["A", "P", "V"], ["P"], ["V", "P"]]
TAGGER = SequenceTagger(["word[0]"], random_state=1).fit(X, Y)
WORDS = st.text("abc", min_size=1, max_size=3)
SENTENCES = st.lists(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), min_size=1)


@given(SENTENCES)
def test_out_and_in_again(sentences: list[list[tuple[str, str, str]]]) -> None:
    tokens = [[(word, pos) for word, pos, _ in sentence] for sentence in sentences]
    labels = [[label for _, _, label in sentence] for sentence in sentences]
    columns = ["word", "pos"]
    by_token = from_table(to_tokens(tokens, labels, columns), columns=columns, label="label")
    by_sentence = from_table(
        to_sentences(tokens, labels, columns, "label"), columns=columns, label="label"
    )
    for corpus in (by_token, by_sentence):
        assert (corpus.X, corpus.y) == (tokens, labels)


def records(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def as_pandas(table: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas", reason="pandas is not installed").DataFrame(table)


def as_dataset(table: dict[str, list[Any]]) -> Any:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    return datasets.Dataset.from_dict(table)


def as_polars(table: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars", reason="polars is not installed").DataFrame(table)


@pytest.mark.parametrize("make", [dict, records, as_pandas, as_dataset, as_polars])
@pytest.mark.parametrize("by_token", [True, False])
@pytest.mark.parametrize("sentences", [X, X[1:2]])
def test_a_table_gets_a_column(make: Any, by_token: bool, sentences: list[list[str]]) -> None:
    labels = [["?"] * len(tokens) for tokens in sentences]
    given = (to_tokens if by_token else to_sentences)(sentences, labels)
    table = make(given)
    found = tag_table(TAGGER, table, to="mine")
    assert type(found) is type(table)
    tags = TAGGER.predict(sentences)
    expected = [tag for own in tags for tag in own] if by_token else tags
    if isinstance(found, list):
        assert [row["mine"] for row in found] == expected
        assert all("mine" not in row for row in table)
    else:
        assert [cell if isinstance(cell, str) else list(cell) for cell in found["mine"]] == expected
        assert "mine" not in (getattr(table, "column_names", None) or list(table))


def test_what_is_no_table() -> None:
    class Frame:
        columns = ("word", "sentence")

        def __getitem__(self, name: str) -> list[Any]:
            return {"word": ["so"], "sentence": [0]}[name]

        def __len__(self) -> int:
            return 1

    with pytest.raises(SeqpaError, match="cannot be added to a Frame"):
        tag_table(TAGGER, Frame())
