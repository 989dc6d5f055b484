"""Data as people have it: tables, word/TAG lines, spans of annotation tools, frames; in and out."""

from __future__ import annotations

import enum
import io
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa import SequenceTagger
from seqpa.data import FORMATS, Corpus, read, read_chunks, write_tagged
from seqpa.data.frames import from_table
from seqpa.data.markup import (
    LabelledText,
    brackets,
    coloured,
    huggingface_record,
    labelled_texts,
    spacy_record,
)
from seqpa.data.recognise import look_at, recognise
from seqpa.errors import SeqpaError, SeqpaWarning
from seqpa.schemes import convert

X = [["Ada", "Low", "won", "."], ["Stop", ",", "Lyon", "!"]]
Y = [["B-PER", "I-PER", "O", "O"], ["O", "O", "B-LOC", "O"]]
CELL = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=4
)


def written(corpus: Corpus, labels: list[list[str]], format: str) -> str:
    out = io.StringIO()
    write_tagged(out, [(corpus, labels)], format=format)
    return out.getvalue()


def reread(text: str, folder: Path, format: str, **options: Any) -> Corpus:
    path = folder / f"a.{format}"
    path.write_text(text, encoding="utf-8")
    return read(path, format, **options)


@pytest.mark.parametrize("format", ["conll", "jsonl", "csv", "slash", "spans", "huggingface"])
def test_out_and_in_again_and_recognised(tmp_path: Path, format: str) -> None:
    text = written(Corpus.from_sentences(X), Y, format)
    known = {"huggingface": "spans"}.get(format, format)
    corpus = reread(text, tmp_path, known)
    assert (corpus.X, corpus.y) == (X, Y)
    assert recognise(text).format == known
    for size in (7, 50):
        path = tmp_path / f"a.{known}"
        parts = list(read_chunks(path, known, chunk_bytes=size, keep_layout=True))
        assert [y for part in parts for y in part.y] == Y
        lines = path.read_text().split("\n")
        for part in parts:
            assert part.layout is not None
            for token, word in enumerate(part.columns[0]):
                assert word in lines[part.layout.line_of(token) - 1]


@pytest.mark.parametrize("format", ["csv", "slash"])
@given(rows=st.lists(st.lists(st.tuples(CELL, CELL, CELL), min_size=1), min_size=1))
def test_any_cells_come_back(tmp_path_factory, format: str, rows) -> None:
    sentences = [[(a, b) for a, b, _ in row] for row in rows]
    labels = [[c for *_, c in row] for row in rows]
    corpus = Corpus.from_sentences(sentences, names=("word", "pos"))
    text = written(corpus, labels, format)
    folder = tmp_path_factory.mktemp("any")
    if format == "slash" and not all("\\" not in c for row in rows for cells in row for c in cells):
        return  # a backslash before a slash is the one thing that such lines cannot say
    again = reread(text, folder, format, columns=["word", "pos", "label"])
    assert (again.X, again.y) == (sentences, labels)


@pytest.mark.parametrize("format", sorted(set(FORMATS) - {"parquet", "teach", "nltk"}))
def test_a_tagged_copy_keeps_what_was_there(tmp_path: Path, format: str) -> None:
    sources = {
        "conll": "Ada B-PER\n\nwon O\n",
        "conllu": "1\tAda" + "\t_" * 8 + "\n\n",
        "jsonl": '{"words": ["Ada"], "id": 7}\n',
        "csv": "id,word\n1,Ada\n\n2,won\n",
        "slash": "Ada won\n\nStop\n",
        "spans": '{"text": "Ada won. Stop!", "id": 7}\n',
        "text": "Ada won. Stop!\n",
    }
    path = tmp_path / "a"
    path.write_text(sources[format])
    out = tmp_path / "out"
    options: dict[str, Any] = {"with_labels": False, "keep_layout": True}
    chunks = list(read_chunks(path, format, **options))
    write_tagged(out, ((c, ["B-X"] * c.n_tokens) for c in chunks))
    assert out.read_text().count("B-X") or '"label": "X"' in out.read_text()
    assert sum(c.n_tokens for c in chunks) >= 1


# CSV


def test_tables_with_a_header(tmp_path: Path) -> None:
    kaggle = (
        'Sentence #,Word,POS,Tag\nSentence: 1,Ada,NNP,B-PER\n,",",",",O\nSentence: 2,"""",``,O\n'
    )
    corpus = reread(kaggle, tmp_path, "csv")
    assert (corpus.X, corpus.y) == ([["Ada", ","], ['"']], [["B-PER", "O"], ["O"]])
    corpus = reread(kaggle, tmp_path, "csv", columns=["word", "pos"], label="tag")
    assert (corpus.names, corpus.X[1]) == (("word", "pos"), [('"', "``")])
    corpus = reread(kaggle, tmp_path, "csv", label="POS")
    assert corpus.y == [["NNP", ","], ["``"]]
    tabs = 'token\tner\nsay\tO\n"\tO\n\n""""\tO\nno\tO\n'
    assert reread(tabs, tmp_path, "csv").X == [["say", '"'], ['"', "no"]]
    semicolons = "word;label\nAda;X\n"
    assert reread(semicolons, tmp_path, "csv").y == [["X"]]
    for size in (1, 20, 45):
        path = tmp_path / "k.csv"
        path.write_text(kaggle)
        parts = list(read_chunks(path, "csv", chunk_bytes=size, pool={}))
        assert [x for part in parts for x in part.X] == [["Ada", ","], ['"']]
    ids = "sentence_id,word,label\n" + "".join(f"{i // 3},w{i},L\n" for i in range(30))
    path.write_text(ids)
    for size in (1, 10, 64):
        parts = list(read_chunks(path, "csv", chunk_bytes=size))
        assert [len(x) for part in parts for x in part.X] == [3] * 10
    out = tmp_path / "out.csv"
    tagged = list(read_chunks(path, "csv", with_labels=False, keep_layout=True, chunk_bytes=64))
    write_tagged(out, ((c, ['a"'] * c.n_tokens) for c in tagged))
    lines = out.read_text().split("\n")
    assert lines[:2] == ["sentence_id,word,label,predicted", '0,w0,L,"a"""']


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word,label\nAda,O\nwon\n", r"a\.csv:3: 1 cells where the header has 2: word, label"),
        ("word,label\nAda,\n", r"a\.csv:2: the label is missing"),
        ("word,label\n,O\n", r"a\.csv:2: the cell of 'word' is empty"),
        ('word,label\n"Ada,O\n', r"a\.csv:2: a quote is opened and not closed"),
        ("a,b\nx,y\n", r"a\.csv:1: no column that is called like a label among a, b; name it"),
        ("a,label\nx,y\n", r"a\.csv:1: no column 'word' among a, label; name those"),
        ("word,label\n", "there is no sentence"),
    ],
)
def test_mistakes_in_tables(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        reread(text, tmp_path, "csv")


# word/TAG


def test_word_and_tag_lines(tmp_path: Path) -> None:
    corpus = reread("1\\/2/CD and/or/CC\n\n", tmp_path, "slash")
    assert (corpus.X, corpus.y) == ([["1/2", "and/or"]], [["CD", "CC"]])
    assert reread("The_DT dog_NN\n", tmp_path, "slash").y == [["DT", "NN"]]
    three = reread("Ada/NNP/B-PER\n", tmp_path, "slash", columns=["word", "pos", "label"])
    assert (three.X, three.y) == ([[("Ada", "NNP")]], [["B-PER"]])
    assert reread("Ada won\n", tmp_path, "slash", with_labels=False).X == [["Ada", "won"]]
    for text, message in [
        ("Ada/N won\n", r"a\.slash:1: the word 'won' is not written word/label; another format"),
        ("Ada/N won/\n", r"a\.slash:1: the word 'won/' is not written"),
    ]:
        with pytest.raises(SeqpaError, match=message):
            reread(text, tmp_path, "slash")
    with pytest.raises(SeqpaError, match="some words have a label and some have none"):
        reread("Ada/N won\n", tmp_path, "slash", with_labels=False)
    with pytest.raises(SeqpaError, match="cannot hold 'a b'"):
        written(Corpus.from_sentences([["a b"]]), [["X"]], "slash")


# JSON lines with other keys


def test_json_with_other_keys_and_numbers(tmp_path: Path) -> None:
    line = {"id": 1, "tokens": ["Ada", "won"], "ner_tags": [1, 0], "pos_tags": [3, 4]}
    names = {"names": ["O", "B-PER"]}
    text = json.dumps(names) + "\n" + json.dumps(line) + "\n"
    assert reread(text, tmp_path, "jsonl").y == [["B-PER", "O"]]
    assert recognise(text).format == "jsonl"
    assert reread(json.dumps({**line, **names}), tmp_path, "jsonl").y == [["B-PER", "O"]]
    with pytest.warns(SeqpaWarning, match=r"labels under 'ner_tags' are numbers without names"):
        assert reread(json.dumps(line), tmp_path, "jsonl").y == [["1", "0"]]
    info = {"features": {"ner_tags": {"feature": {"names": ["O", "X"], "_type": "ClassLabel"}}}}
    (tmp_path / "dataset_info.json").write_text(json.dumps(info))
    assert reread(json.dumps(line), tmp_path, "jsonl").y == [["X", "O"]]
    words = json.dumps({"words": ["Ada"], "tags": ["N"]})
    assert reread(words, tmp_path, "jsonl").y == [["N"]]
    assert reread(words, tmp_path, "jsonl", with_labels=False).X == [["Ada"]]
    both = json.dumps({"tokens": ["Ada"], "tags": ["N"], "upos": ["PROPN"]})
    assert reread(both, tmp_path, "jsonl", label="upos").y == [["PROPN"]]
    assert reread(both, tmp_path, "jsonl", columns=["word"], label="upos").y == [["PROPN"]]
    for wrong, message in [
        ({**line, "ner_tags": [7, 0]}, r"a\.jsonl:1: token 1 has the label 7, but names has 2"),
        ({**line, "ner_tags": [0]}, r"a\.jsonl:1: 2 tokens but 1 labels"),
        ({**line, "ner_tags": "O"}, r"a\.jsonl:1: 'ner_tags' is no list of labels"),
        ({**line, "ner_tags": ["", "O"]}, r"a\.jsonl:1: token 1 has no label"),
    ]:
        with pytest.raises(SeqpaError, match=message):
            reread(json.dumps(wrong), tmp_path, "jsonl")
    with pytest.raises(SeqpaError, match=r"a\.jsonl:1: there is no 'ner' \(label\), only 'tokens'"):
        reread(both, tmp_path, "jsonl", label="ner")


# Spans

TEXT = "Ada Low won. Stop, Lyon!"
PER, LOC = (0, 7, "PER"), (19, 23, "LOC")
SHAPES: dict[str, Any] = {
    "spacy": {
        "text": TEXT,
        "ents": [{"start": a, "end": b, "label": label} for a, b, label in (PER, LOC)],
    },
    "spacy pairs": [TEXT, {"entities": [list(PER), list(LOC)]}],
    "prodigy": {
        "text": TEXT,
        "spans": [{"start": a, "end": b, "label": label} for a, b, label in (LOC, PER)],
        "answer": "accept",
    },
    "doccano": {"id": 3, "data": TEXT, "label": [list(PER), list(LOC)]},
    "doccano, new": {
        "text": TEXT,
        "entities": [
            {"id": 1, "label": label, "start_offset": a, "end_offset": b}
            for a, b, label in (PER, LOC)
        ],
        "relations": [],
    },
    "label studio": {
        "id": 1,
        "data": {"text": TEXT},
        "annotations": [
            {
                "result": [
                    {"type": "labels", "value": {"start": a, "end": b, "labels": [label]}}
                    for a, b, label in (PER, LOC)
                ]
                + [{"type": "choices", "value": {"choices": ["good"]}}]
            }
        ],
    },
    "label studio, short": {
        "text": TEXT,
        "label": [{"start": a, "end": b, "labels": [label]} for a, b, label in (PER, LOC)],
    },
    "hugging face": {
        "text": TEXT,
        "entities": [{"entity_group": label, "start": a, "end": b} for a, b, label in (PER, LOC)],
    },
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("whole", [False, True])
def test_spans_of_every_tool(tmp_path: Path, shape: str, whole: bool) -> None:
    value = SHAPES[shape]
    text = json.dumps([value, value], indent=1) if whole else f"{json.dumps(value)}\n" * 2
    corpus = reread(text, tmp_path, "spans")
    assert corpus.X == X * 2
    assert corpus.y == Y * 2
    assert recognise(text).format == "spans"
    for size in (10, 64):
        parts = list(read_chunks(tmp_path / "a.spans", "spans", chunk_bytes=size))
        assert [y for part in parts for y in part.y] == Y * 2


def test_spans_with_tokens_of_their_own_and_what_was_rejected(tmp_path: Path) -> None:
    tokens = [{"start": a, "end": b, "id": i} for i, (a, b) in enumerate([(0, 3), (3, 4), (4, 7)])]
    value = {"text": "Ada Low", "spans": [], "tokens": tokens}
    assert reread(json.dumps(value), tmp_path, "spans").X == [["Ada", "Low"]]
    lines = [
        {"text": "no", "spans": [], "answer": "reject"},
        {"data": {"text": "not yet"}, "annotations": []},
        {"data": {"text": "no"}, "annotations": [{"was_cancelled": True, "result": []}]},
        {"text": "yes", "spans": []},
    ]
    assert reread("\n".join(map(json.dumps, lines)), tmp_path, "spans").X == [["yes"]]
    assert reread('{"text": "Go. Now."}', tmp_path, "spans", with_labels=False).X == [
        ["Go", "."],
        ["Now", "."],
    ]


def test_spans_that_do_not_fit_words(tmp_path: Path) -> None:
    def labels(text: str, *spans: tuple[int, int, str]) -> list[list[str]]:
        return reread(json.dumps({"text": text, "label": spans}), tmp_path, "spans").y

    # A sentence does not end inside a span, and white space at its edges is nothing.
    assert labels("See Dr. No. Then go.", (4, 17, "FILM")) == [
        ["O", "B-FILM", "I-FILM", "I-FILM", "I-FILM", "O", "O"]
    ]
    assert labels("Ada won", (0, 4, "PER")) == [["B-PER", "O"]]
    with pytest.warns(SeqpaWarning, match=r"a\.spans:1: 'da' and others: 1 spans end inside words"):
        assert labels("Ada won", (1, 3, "PER")) == [["B-PER", "O"]]
    with pytest.warns(SeqpaWarning, match="1 overlap longer ones or are blank and were left out"):
        assert labels("Ada Low won", (0, 3, "PER"), (0, 7, "PER")) == [["B-PER", "I-PER", "O"]]
    with pytest.warns(SeqpaWarning, match="or are blank"):
        assert labels("Ada  won", (3, 4, "PER")) == [["O", "O"]]


def test_a_list_that_is_cut_off(tmp_path: Path) -> None:
    text = json.dumps([SHAPES["doccano"]] * 3, indent=1)
    for end in (text.rindex("}") - 3, text.rindex("}") + 1):
        with pytest.raises(SeqpaError, match=r"not JSON|the JSON list in it has no end; is it cut"):
            reread(text[:end], tmp_path, "spans")


def test_one_warning_for_a_whole_file(tmp_path: Path) -> None:
    line = json.dumps({"text": "Ada won", "label": [[1, 3, "PER"]]}) + "\n"
    (tmp_path / "a").write_text(line * 20)
    with pytest.warns(SeqpaWarning) as told:
        list(read_chunks(tmp_path / "a", "spans", chunk_bytes=100))
    assert [str(one.message)[-60:] for one in told] == [
        "'da' and others: 20 spans end inside words and were widened to them"[-60:]
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "Ada", "label": [[0, 9, "X"]]}', "the span 0 to 9 is not in the text of 3"),
        ('{"text": "Ada", "label": [[2, 2, "X"]]}', "the span 2 to 2 is not"),
        ('{"text": "Ada", "label": [[0, 2]]}', "not a span with start, end and label"),
        ('{"text": "Ada", "spans": [{"start": "0", "end": 1, "label": "X"}]}', "not a span"),
        ('{"text": "Ada"}', "there are no spans"),
        ('{"label": []}', "there is no text"),
        ("7", "not an object with a text and its spans, but 7"),
        ('{"text": ', "not JSON: Expecting value at character 10"),
    ],
)
def test_mistakes_in_spans(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(SeqpaError, match=rf"a\.spans:2: {message}"):
        reread('{"text": "x", "label": []}\n' + line, tmp_path, "spans")
    if line[0] == "{":
        with pytest.raises(SeqpaError, match=r"a\.spans:3: (not JSON|" + message[:12] + ")"):
            reread('[\n{"text": "x", "label": []},\n' + line + "\n]", tmp_path, "spans")


# Tables in memory


class Colour(enum.Enum):
    B = "B-C"
    NONE = 3


class Feature:
    def __init__(self, names: list[str] | None = None, feature: Feature | None = None) -> None:
        if names:
            self.names = names
        self.feature = feature


class Dataset:
    """As much of Hugging Face's as is used."""

    def __init__(self, columns: dict[str, list[Any]], names: list[str]) -> None:
        self.column_names = list(columns)
        self.features = {"tokens": Feature(), "ner_tags": Feature(feature=Feature(names))}
        self._columns = columns

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]


def test_tables_in_memory() -> None:
    records = [{"tokens": x, "labels": y} for x, y in zip(X, Y, strict=True)]
    assert from_table(records).y == Y
    assert from_table({"words": X, "tags": Y}).X == X
    arrays = {"tokens": [np.array(x) for x in X], "labels": [np.array(y) for y in Y]}
    assert from_table(arrays).y == Y
    data = Dataset({"tokens": X, "ner_tags": [[1, 2, 0, 0], [0, 0, 3, 0]]}, ["O", "A", "B", "C"])
    assert from_table(data).y == [["A", "B", "O", "O"], ["O", "O", "C", "O"]]
    table = {"sentence": [1, 1, "", 2], "word": list("abcd"), "tag": [Colour.B, Colour.NONE, 1, 0]}
    assert from_table(table, names=["x", "y"]).y == [["B-C", "NONE", "y"], ["x"]]
    more = {"s": [1, 1, 2], "Word": list("abc"), "POS": list("xyz"), "Tag": list("NVN")}
    corpus = from_table(more, ["word", "pos"], "tag", sentence="s")
    assert corpus.X == [[("a", "x"), ("b", "y")], [("c", "z")]]
    assert from_table(more, sentence="s", with_labels=False).labels is None
    assert from_table({"tokens": [["a"], []], "tags": [["N"], []]}).X == [["a"]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"word": ["a"], "tag": ["N"]}, "no column tells its sentence"),
        ({"tokens": [["a"]], "tag": [["N", "N"]]}, "row 1: 1 tokens but 2 labels"),
        ({"tokens": [["a"]], "tag": [[None]]}, "row 1: token 1 has no label but None"),
        ({"tokens": [["a"], [3]], "tag": [["N"], ["N"]]}, "row 2: a token must be text, not 3"),
        ({"sentence": [1], "word": ["a"], "tag": [1.5]}, "row 1: it has no label but 1.5"),
        ({"x": [1]}, "no column that is called like a label among x"),
        ([{"tokens": ["a"], "tag": ["N"]}, {"tokens": ["a"]}], "row 2 has no 'tag'"),
        (7, "int is no table"),
        ([], "list is no table"),
    ],
)
def test_mistakes_in_tables_in_memory(table: Any, message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        from_table(table)


def test_a_set_of_splits_is_not_a_table() -> None:
    class Splits:
        column_names = {"train": ["tokens"], "test": ["tokens"]}  # noqa: RUF012

    with pytest.raises(SeqpaError, match=r"a set of tables, train, test: .* data\['train'\]"):
        from_table(Splits())


def test_pandas_and_parquet(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    flat = {
        "sentence_id": [1] * 4 + [2] * 4,
        "word": [word for x in X for word in x],
        "tag": [label for y in Y for label in y],
    }
    frame = pandas.DataFrame(flat)
    assert (from_table(frame).X, from_table(frame).y) == (X, Y)
    frame.loc[frame.duplicated("sentence_id"), "sentence_id"] = None  # as spreadsheets have it
    assert from_table(frame).y == Y
    codes = frame.assign(tag=pandas.Categorical(frame["tag"]))
    assert from_table(codes).y == Y
    lists = pandas.DataFrame({"tokens": X, "ner_tags": Y})
    assert from_table(lists).y == Y
    pytest.importorskip("pyarrow")
    lists.to_parquet(tmp_path / "a.parquet")
    corpus = read(tmp_path / "a.parquet", "parquet", scheme="bioes")
    assert (corpus.X, corpus.y) == (X, [convert(y, "bioes") for y in Y])
    assert look_at(tmp_path / "a.parquet").format == "parquet"
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(SeqpaError, match=r"b\.parquet: is no Parquet file, or a damaged one"):
        read(tmp_path / "b.parquet", "parquet")
    with pytest.raises(SeqpaError, match="no such file; did you mean"):
        read(tmp_path / "c.parquet", "parquet")


def test_parquet_of_hugging_face_says_its_names(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    names = {"feature": {"names": ["O", "B-PER"], "_type": "ClassLabel"}, "_type": "Sequence"}
    told = json.dumps({"info": {"features": {"tokens": {}, "ner_tags": names}}})
    table = arrow.table({"tokens": [["Ada", "won"]], "ner_tags": [[1, 0]]})
    parquet.write_table(table.replace_schema_metadata({"huggingface": told}), tmp_path / "a")
    assert read(tmp_path / "a", "parquet").y == [["B-PER", "O"]]


# What labels look like in their text


def test_brackets_colours_and_offsets(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Ada  Low\nwon. Stop, Lyon!\n")
    [chunk] = read_chunks(path, "text", with_labels=False, keep_layout=True)
    labels = [label for y in Y for label in y]
    texts = list(labelled_texts(chunk, labels))
    assert [one.text for one in texts] == ["Ada  Low\nwon.", "Stop, Lyon!"]
    assert [one.spans for one in texts] == [[(0, 8, "PER")], [(6, 10, "LOC")]]
    out = tmp_path / "out"
    write_tagged(out, [(chunk, labels)], format="brackets")
    assert out.read_text() == "[Ada  Low PER] won.\nStop, [Lyon LOC]!\n"
    write_tagged(out, [(chunk, labels, {"confidence": ["1"] * 8})], format="spans")
    first = json.loads(out.read_text().split("\n")[0])
    assert first["ents"] == [{"start": 0, "end": 8, "label": "PER"}]
    assert first["confidence"] == ["1", None, "1", None, "1", "1"]  # white space is a token
    write_tagged(out, [(chunk, labels)], format="huggingface")
    second = json.loads(out.read_text().split("\n")[1])
    assert second["entities"] == [{"entity_group": "LOC", "word": "Lyon", "start": 6, "end": 10}]
    assert coloured("a\x1b[2J", [(0, 1, "X")], ["X"]) == "\x1b[30;46m a \x1b[1mX \x1b[0m?[2J"
    assert brackets("a b", [(0, 1, ""), (2, 3, "Y")]) == "[a] [b Y]"
    for format in ("brackets", "spans", "huggingface"):
        with pytest.raises(SeqpaError, match=f"{format} shows spans, which 'NN' does not mark"):
            write_tagged(out, [(chunk, ["NN"] * 8)], format=format)
    with pytest.raises(SeqpaError, match="format: 'bracket' is not known; did you mean 'brackets'"):
        write_tagged(out, [], format="bracket")


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), min_size=1))
def test_offsets_are_those_of_the_words(labels: list[str]) -> None:
    words = [f"w{i}" for i in range(len(labels))]
    [one] = labelled_texts(Corpus.from_sentences([words]), labels)
    assert [one.text[a:b] for a, b in one.places] == words
    record, other = spacy_record(one), huggingface_record(one)
    assert [one.text[e["start"] : e["end"]] for e in record["ents"]] == [
        e["word"] for e in other["entities"]
    ]
    assert len(record["tokens"]) == len(words)


def test_white_space_is_a_token_as_in_spacy(tmp_path: Path) -> None:
    text = "Ada  won\nit. "
    places = [(0, 3), (5, 8), (9, 11), (11, 12)]
    one = LabelledText(text, places, ["B-X", "O", "O", "O"], [4])
    record = spacy_record(one, {"sure": [0.5, 0.6, 0.7, 0.8]})
    tokens = [text[token["start"] : token["end"]] for token in record["tokens"]]
    assert tokens == ["Ada", " ", "won", "\n", "it", "."]
    assert record["sure"] == [0.5, None, 0.6, None, 0.7, 0.8]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record) + "\n")
    assert read(path, "spans").X == [["Ada", "won", "it", "."]]


# By looking

LOOKS = {
    "Ada B-PER\nwon O\n": "conll",
    "Ada\tB-PER\n": "conll",
    "-DOCSTART- -X- O\n\nAda NNP B-PER\nwon VBD O\n": "conll",
    "# text = Ada\n1\tAda" + "\t_" * 8 + "\n": "conllu",
    "a\nb\nc\nd\n\ne\n": "conll",
    "Hello World\nGood Morning\n": "text",
    "Visit NASA": "text",
    "Ada": "text",
    "Ada won .\nShe did .\nHe left .\n": "text",
    "word,label\nAda,O\n": "csv",
    "Sentence #\tWord\tPOS\tTag\n1\tAda\tNNP\tO\n": "csv",
    "The/DT dog/NN barked/VBD ./.\n": "slash",
    "The_DT dog_NN\n": "slash",
    "Ada/NNP/B-PER won/VBD/O\n": "slash",
    "word,id\nAda,1\n": "csv",
    "Word, text, more\nAnd, so, on\n": "text",
    "A dog and/or a cat won.\n": "text",
    '{"tokens": ["a"], "labels": ["X"]}\n': "jsonl",
    '{"text": "a", "spans": []}': "spans",
    '{"text": "a", "tokens": [{"start": 0, "end": 1}]}': "spans",
    "[1] Ada won.\n": "text",
    "[Ada PER] won.\n": "text",
    "{curly} text\n": "text",
    "Words, commas, labels and more.\nAnd so on.\n": "text",
}


@pytest.mark.parametrize(("text", "format"), LOOKS.items(), ids=list(LOOKS))
def test_formats_are_recognised(text: str, format: str) -> None:
    seen = recognise(text)
    assert seen.format == format
    assert seen.reason
    assert "\n" not in seen.reason


@given(st.text().filter(str.strip))
def test_any_text_is_something(text: str) -> None:
    assert recognise(text).format in FORMATS


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_nothing_is_no_format(text: str) -> None:
    with pytest.raises(SeqpaError, match="there is nothing in it"):
        recognise(text)


def test_looking_at_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    path = tmp_path / "a"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        path.write_bytes("Zoë\tB-PER\r\n".encode(encoding))
        seen = look_at(path)
        assert (seen.format, seen.separator) == ("conll", "\t")
        assert seen.encoding == ("utf-8" if encoding == "utf-8-sig" else encoding)
    assert look_at(path, "latin-1").encoding == "latin-1"
    path.write_bytes(gzip.compress(b"word,label\n" + b"Ada,O\n" * 50_000))
    assert look_at(path).format == "csv"
    path.write_bytes(b"\x1f\x8bnot gzip")
    assert look_at(path).format == "text"
    path.write_bytes(b"")
    with pytest.raises(SeqpaError, match="a: there is nothing in it"):
        look_at(path)
    with pytest.raises(SeqpaError, match="no such file"):
        look_at(tmp_path / "b")
    with pytest.raises(SeqpaError, match="unknown encoding 'utf-9'"):
        look_at(path, "utf-9")
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"The/DT dog/NN\n")))
    monkeypatch.setattr("sys.stdin", stream)
    assert look_at("-").format == "slash"
    assert read("-", "slash").y == [["DT", "NN"]]


@pytest.mark.parametrize("columns", [3, "word", [], ["word", "word"], [1], ["_"], ["label"], [""]])
@pytest.mark.parametrize("format", ["csv", "jsonl", "slash"])
def test_odd_columns_are_one_message(tmp_path: Path, format: str, columns: Any) -> None:
    text = written(Corpus.from_sentences(X), Y, format)
    for label in (None, "label"):
        with pytest.raises(SeqpaError, match="columns: "):
            reread(text, tmp_path, format, columns=columns, label=label)


# Labels that are no text, in Python


class Tag(enum.Enum):
    D = 1
    N = 2
    V = 3


@pytest.mark.parametrize(
    "labels", [[0, 1, 2], [True, False, True], [Tag.D, Tag.N, Tag.V], [np.int64(3), np.int8(0), 3]]
)
def test_labels_come_back_as_they_were(labels: list[object]) -> None:
    X = [["the", "dog", "saw"], ["a", "saw", "cut"]]
    y = [labels, labels]
    tagger = SequenceTagger(["word[0]", "word[-1]"], random_state=1).fit(X, y, dev=(X, y))
    assert tagger.predict(X) == y
    assert tagger.predict_one(X[0]) == labels
    assert tagger.tag(X[0]) == list(zip(X[0], labels, strict=True))
    assert tagger.predict_nbest(X, 1)[0][0][1] == labels
    assert tagger.score(X, y) == 1.0
    assert tagger.learn_one(X[0], labels).predicted == labels
    assert tagger.predict(X[:1], fixed=[[labels[1], None, None]])[0][0] == labels[1]
    copied = pickle.loads(pickle.dumps(tagger))
    assert copied.predict(X) == tagger.predict(X)
    assert all(type(label) is str for label in tagger.classes_)
    plain = SequenceTagger(["word[0]", "word[-1]"], random_state=1)
    plain.fit(X, [[str(label) for label in labels]] * 2)
    assert len(plain.classes_) == len(tagger.classes_)


def test_arrays_of_labels(tmp_path: Path) -> None:
    X, y = np.array([["the", "dog"], ["a", "cat"]]), np.array([[0, 1], [0, 1]])
    tagger = SequenceTagger(["word[0]"], random_state=1).fit(X, y)
    assert tagger.predict(X) == y.tolist()
    tagger.save(tmp_path / "m.safetensors")
    loaded = SequenceTagger.load(tmp_path / "m.safetensors")
    assert loaded.predict(X) == [["0", "1"]] * 2  # a file holds text


def test_a_table_is_pointed_to_its_reader() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"sentence": [1, 1], "word": ["Ada", "won"], "tag": ["N", "V"]})
    with pytest.raises(SeqpaError, match=r"X is a DataFrame: .*seqpa\.data\.from_table\(X\)"):
        SequenceTagger().fit(table)
    tagger = SequenceTagger(["word[0]"]).fit(from_table(table))
    with pytest.raises(SeqpaError, match=r"from_table\(X\)"):
        tagger.predict(table)


def test_parquet_with_numbers_without_names(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    file = tmp_path / "a.parquet"
    pandas.DataFrame({"tokens": [["Ada", "won"]], "ner_tags": [[1, 0]]}).to_parquet(file)
    with pytest.warns(SeqpaWarning, match=r"a\.parquet: the labels are numbers without names"):
        assert read(file, "parquet").y == [["1", "0"]]
