"""CoNLL columns: what is a token and what is not, in and out again."""

from __future__ import annotations

import io
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa.data import Corpus, read, read_chunks, write_tagged
from seqpa.errors import SeqpaError

WPL = ("word", "pos", "label")


def put(folder: Path, text: str, name: str = "a.conll") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def tagged_copy(path: Path, columns: tuple[str, ...]) -> str:
    chunks = read_chunks(path, columns=columns, with_labels=False, keep_layout=True)
    out = path.with_suffix(".out")
    numbers = count()
    write_tagged(out, ((c, [f"T{next(numbers)}" for _ in range(c.n_tokens)]) for c in chunks))
    return out.read_bytes().decode()


# Any sign that a cell can hold; a byte-order mark at the very start is not part of the text.
CELL = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\t\n\r\0\ufeff"),
    min_size=1,
    max_size=6,
) | st.sampled_from(["#", "# a b", "# key = value", "-DOCSTART", "-", " ", "\u2028", "\x85", "_"])
TOKEN = st.tuples(CELL, CELL, CELL)
SENTENCES = st.lists(st.lists(TOKEN, min_size=1, max_size=4), min_size=1, max_size=4)


@given(SENTENCES)
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, rows) -> None:
    path = tmp_path_factory.mktemp("conll") / "a.conll"
    X = [[(w, p) for w, p, _ in sentence] for sentence in rows]
    y = [[label for *_, label in sentence] for sentence in rows]
    if any(not (w + p + label).strip(" ") for s in rows for w, p, label in s):
        return  # a line of spaces is a blank line
    write_tagged(path, [(Corpus.from_sentences(X, names=("word", "pos")), y)])
    again = read(path, columns=WPL)
    assert again.X == X
    assert again.y == y
    assert again.names == ("word", "pos")


WORD = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters=" \t\n\r\0\ufeff"),
    min_size=1,
    max_size=5,
).filter(lambda w: w != "-DOCSTART-") | st.sampled_from(["#", "\u00a0", "\u3000"])


@given(
    st.lists(
        st.lists(st.tuples(WORD, WORD.filter(lambda w: w != "="), WORD), min_size=1), min_size=1
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([" ", "   ", " \t "]),
    st.sampled_from(["", " ", "  "]),
    st.booleans(),
)
def test_tabs_and_runs_of_spaces_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows, newline, gap, blank, final
) -> None:
    folder = tmp_path_factory.mktemp("spaces")
    if rows[0][0][0] == "#" or "\t" in gap:
        rows[0].insert(0, ("First", "X", "Y"))  # settles the separator

    def text(separator: str, first: str) -> str:
        lines = []
        for sentence in rows:
            for row in sentence:
                lines.append((separator if lines else first).join(row))
            lines.append(blank)
        return newline.join(lines if final else lines[:-1])

    tabs = read(put(folder, text("\t", "\t"), "tabs"), columns=WPL)
    spaces = read(put(folder, text(gap, " "), "spaces"), columns=WPL)
    expected = [[tuple(row) for row in sentence] for sentence in rows]
    for corpus in (tabs, spaces):
        assert [
            [(*token, label) for token, label in zip(s.tokens, s.labels or (), strict=True)]
            for s in corpus
        ] == expected


def test_columns_come_in_a_list(tmp_path: Path) -> None:
    with pytest.raises(SeqpaError, match="'word' is one name: give a list"):
        read(put(tmp_path, "a N\n"), columns="word")


def test_columns_in_any_order_and_ignored_ones(tmp_path: Path) -> None:
    path = put(tmp_path, "O\tx\tthe\tDT\nB\ty\tsea\tNN\n")
    corpus = read(path, columns=["ner", "_", "word", "_"], label="ner")
    assert corpus.names == ("word",)
    assert corpus.X == [["the", "sea"]]
    assert corpus.y == [["O", "B"]]


def test_a_hash_is_a_token_and_a_comment_is_not(tmp_path: Path) -> None:
    text = "# sent_id = 1\n# free words in a comment\n#\t#\tO\n#tag\tNN\tB\n# a b\tNN\tI\n"
    corpus = read(put(tmp_path, text), columns=WPL)
    assert corpus.X == [[("#", "#"), ("#tag", "NN"), ("# a b", "NN")]]
    spaced = "# id = 1\n# # O\nx y O\n#begin document (a); part 0\n"
    assert read(put(tmp_path, spaced), columns=WPL).X == [[("#", "#"), ("x", "y")]]
    four = "# id = 1\nx y z O\n"  # a comment with just as many cells as a row
    assert len(read(put(tmp_path, four), columns=[*WPL[:2], "z", "label"])[0].tokens) == 1
    only = "# # O\n\n# # B\n"
    assert read(put(tmp_path, only), columns=WPL).y == [["O"], ["B"]]


def test_a_short_line_that_begins_with_a_hash_is_not_silently_a_comment(tmp_path: Path) -> None:
    path = put(tmp_path, "a\tb\tO\n#tag\tNN\n")
    with pytest.raises(SeqpaError, match=r"a\.conll:2: 2 tab-separated columns where 3"):
        read(path, columns=WPL)


def test_the_last_sentence_needs_no_blank_line(tmp_path: Path) -> None:
    for text in ("a O\n\nb B", "a O\n\nb B\n", "\n\na O\n\n\n \nb B\n\n\n", "\ufeffa O\n\nb B"):
        corpus = read(put(tmp_path, text))
        assert (corpus.X, corpus.y) == ([["a"], ["b"]], [["O"], ["B"]])


def test_docstart_ends_a_sentence_and_is_no_token(tmp_path: Path) -> None:
    text = "-DOCSTART- -X- O\n\na A O\nb B O\n-DOCSTART- -X- O\nc C O\n-DOCSTART-er D O\n"
    corpus = read(put(tmp_path, text), columns=WPL)
    assert [[w for w, _ in s] for s in corpus.X] == [["a", "b"], ["c", "-DOCSTART-er"]]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_tagged_copy_differs_by_the_last_column_alone(tmp_path: Path, newline: str) -> None:
    lines = ["-DOCSTART- -X- O O", "", "# note = x", "a  A   O", "b B O", "  ", "", "c C O"]
    path = put(tmp_path, newline.join(lines))
    tagged = tagged_copy(path, WPL)
    expected = [*lines]
    expected[3:5] = ["a  A   O T0", "b B O T1"]
    expected[7] = "c C O T2"
    assert tagged == newline.join(expected) + newline


def test_tagging_takes_input_with_the_label_column_or_without(tmp_path: Path) -> None:
    assert tagged_copy(put(tmp_path, "a\tA\tO\n"), WPL) == "a\tA\tO\tT0\n"
    assert tagged_copy(put(tmp_path, "a\tA\n\nb\tB\n"), WPL) == "a\tA\tT0\n\nb\tB\tT1\n"
    assert tagged_copy(put(tmp_path, "a\nb\n"), ("word", "label")) == "a\tT0\nb\tT1\n"
    middle = ("word", "label", "pos")
    chunk = next(read_chunks(put(tmp_path, "a A\n"), columns=middle, with_labels=False))
    assert chunk.X == [[("a", "A")]]


def test_extra_values_become_further_columns(tmp_path: Path) -> None:
    path = put(tmp_path, "a\nb\n")
    out = io.StringIO()
    chunks = read_chunks(path, columns=["word", "label"], with_labels=False, keep_layout=True)
    write_tagged(out, ((c, [["X", "Y"]], {"confidence": ["0.9", "0.5"]}) for c in chunks))
    assert out.getvalue() == "a\tX\t0.9\nb\tY\t0.5\n"


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("a A O\nb O\n", WPL, r"a\.conll:2: 2 space-separated columns where 3 are configured: w"),
        ("a\tA\tO\n\nb\tB\tO\tX\n", WPL, r"a\.conll:3: 4 tab-separated columns where 3"),
        ("\n\na\n", WPL, r"a\.conll:3: 1 space-separated column where 3"),
        ("a\tA\tO\nb\tB\t\n", WPL, r"a\.conll:2: the label is missing"),
        ("", WPL, r"a\.conll: there is no sentence"),
        ("# only a comment here\n\n", WPL, r"a\.conll: there is no sentence"),
        ("a O\n", ("word", "word"), "'word' is named twice"),
        ("a O\n", ("word", "pos"), "the label column 'label' is not among word, pos"),
        ("a O\n", ("_", "label"), "none of _, label is left as input"),
    ],
)
def test_errors_say_where(tmp_path: Path, text: str, columns, message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        read(put(tmp_path, text), columns=columns)


def test_errors_while_tagging_say_both_right_widths(tmp_path: Path) -> None:
    with pytest.raises(SeqpaError, match=r":1: 4 .*3 \(word, pos, label\) or one less"):
        tagged_copy(put(tmp_path, "a b c d\n"), WPL)
    with pytest.raises(SeqpaError, match=r":2: 3 .* the lines above have 2"):
        tagged_copy(put(tmp_path, "a b\na b c\n"), WPL)
    assert not (tmp_path / "a.out").exists()


def test_what_columns_cannot_hold_is_refused(tmp_path: Path) -> None:
    for word in ("a\tb", "a\nb", "-DOCSTART-", "a\0"):
        with pytest.raises(SeqpaError, match="CoNLL"):
            write_tagged(tmp_path / "x", [(Corpus.from_sentences([[word]]), ["O"])])
    chunks = read_chunks(put(tmp_path, "a A\n"), columns=WPL, with_labels=False, keep_layout=True)
    with pytest.raises(SeqpaError, match="cannot hold"):
        write_tagged(tmp_path / "x", ((c, ["two words"]) for c in chunks))
    assert not (tmp_path / "x").exists()
