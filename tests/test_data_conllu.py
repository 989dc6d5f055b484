"""CoNLL-U: ranges and empty nodes are kept but not tagged; three kinds of label."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa.data import Corpus, read, read_chunks, write_tagged
from seqpa.errors import SeqpaError, SeqpaWarning


def row(number: str, word: str, upos: str = "_", xpos: str = "_", feats: str = "_") -> str:
    return "\t".join([number, word, word.lower(), upos, xpos, feats, "0", "root", "_", "_"])


TEXT = "\n".join(
    [
        "# sent_id = s1",
        "# text = Zum See rennt New York",
        row("1-2", "Zum"),
        row("1", "Zu", "ADP", "APPR"),
        row("2", "dem", "DET", "ART", "Case=Dat|Gender=Masc"),
        row("3", "See", "NOUN", "NN", "Case=Dat"),
        row("3.1", "hin", "ADV", "ADV"),
        row("4", "New York", "PROPN", "NE"),
        "",
        "# sent_id = s2",
        row("1", "#", "SYM", "$("),
        "",
    ]
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "a.conllu"
    file.write_text(TEXT)
    return file


def test_tokens_and_the_kinds_of_label(path: Path) -> None:
    corpus = read(path, "conllu")
    assert corpus.X == [["Zu", "dem", "See", "New York"], ["#"]]
    assert corpus.y == [["ADP", "DET", "NOUN", "PROPN"], ["SYM"]]
    assert read(path, "conllu", label="xpos").labels == ["APPR", "ART", "NN", "NE", "$("]
    full = read(path, "conllu", columns=["word", "lemma"], label="upos+feats")
    assert full.labels == ["ADP", "DET|Case=Dat|Gender=Masc", "NOUN|Case=Dat", "PROPN", "SYM"]
    assert full.X[0][1] == ("dem", "dem")
    assert read(path, "conllu", label="feats").labels[0] == "_"


@pytest.mark.parametrize("label", ["upos", "xpos", "feats", "upos+feats"])
def test_writing_the_gold_labels_gives_the_file_back(path: Path, label: str) -> None:
    chunks = read_chunks(path, "conllu", label=label, keep_layout=True)
    out = path.with_name("out")
    write_tagged(out, ((c, c.labels or []) for c in chunks))
    assert out.read_text() == TEXT


def test_labels_land_in_their_field_and_extras_in_misc(path: Path) -> None:
    chunks = read_chunks(path, "conllu", with_labels=False, keep_layout=True)
    out = path.with_name("out")
    write_tagged(out, ((c, ["X"] * 5, {"Confidence": ["0.5"] * 5}) for c in chunks))
    lines = out.read_text().split("\n")
    assert lines[2] == row("1-2", "Zum")
    assert lines[3].split("\t")[3:5] == ["X", "APPR"]
    assert lines[3].endswith("\tConfidence=0.5")


FORM = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\t\n\r\0\ufeff"), min_size=1
)
LABEL = st.sampled_from(["NOUN", "X|Case=Acc", "VERB|Number=Plur|Tense=Past"])


@given(st.lists(st.lists(st.tuples(FORM, LABEL), min_size=1, max_size=4), min_size=1, max_size=4))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, rows) -> None:
    path = tmp_path_factory.mktemp("conllu") / "a"
    X = [[word for word, _ in sentence] for sentence in rows]
    y = [[label for _, label in sentence] for sentence in rows]
    write_tagged(path, [(Corpus.from_sentences(X), y)], "conllu", label="upos+feats")
    again = read(path, "conllu", label="upos+feats")
    assert (again.X, again.y) == (X, y)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1\tA\ta", r"a\.conllu:13: 3 tab-separated fields where CoNLL-U has 10"),
        ("1 A a X _ _ 0 root _ _", r"a\.conllu:13: 1 tab-separated fields"),
        (row("x", "A", "NOUN"), r"a\.conllu:13: the ID 'x' is no number"),
    ],
)
def test_errors_say_where(path: Path, line: str, message: str) -> None:
    path.write_text(TEXT + "\n" + line + "\n")
    with pytest.raises(SeqpaError, match=message):
        read(path, "conllu")


def test_blank_labels_are_counted_and_left_out(path: Path) -> None:
    path.write_text(TEXT + "\n" + row("1", "A") + "\n" + row("2", "B", "NOUN") + "\n")
    with pytest.warns(SeqpaWarning, match=r"a\.conllu:13: the label is missing: UPOS is '_'; 1 of"):
        corpus = read(path, "conllu")
    assert corpus.y[-1] == [None, "NOUN"]
    with pytest.raises(SeqpaError, match=r"a\.conllu:13: the label is missing: UPOS is '_'"):
        read(path, "conllu", labels="strict")
    with pytest.raises(SeqpaError, match=r"a\.conllu:13: a label is missing, and a scheme is"):
        read(path, "conllu", scheme="iob2")


def test_a_file_of_blank_labels_is_refused(path: Path) -> None:
    path.write_text(row("1", "A") + "\n" + row("2", "B") + "\n")
    with pytest.raises(SeqpaError, match=r"conllu:1: .* and so is every other one; name another"):
        read(path, "conllu")
    assert read(path, "conllu", label="feats").y == [["_", "_"]]


def test_an_unlabelled_file_can_be_tagged(path: Path) -> None:
    path.write_text(row("1", "A") + "\n")
    assert read(path, "conllu", with_labels=False).X == [["A"]]


def test_wrong_columns(path: Path) -> None:
    with pytest.raises(SeqpaError, match="'pos' is no CoNLL-U field; right are word, lemma"):
        read(path, "conllu", columns=["word", "pos"])
    with pytest.raises(SeqpaError, match="'ner' is no CoNLL-U label; right are upos"):
        read(path, "conllu", label="ner")
    with pytest.raises(SeqpaError, match="'upos' is part of the label"):
        read(path, "conllu", columns=["word", "upos"], label="upos+feats")
