from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa.errors import SeqpaError
from seqpa.sequence.attributes import KINDS, short_shape
from seqpa.sequence.presets import NAMES, preset
from seqpa.sequence.resources import Clusters, Lexicon, pack_strings, unpack_strings
from seqpa.sequence.templates import parse, parse_all

COLUMNS = ("word", "pos")

patterns = st.text(st.sampled_from('ab"\\d.+|()é '), max_size=6)


@st.composite
def template_texts(draw: st.DrawFn) -> str:
    """A template with spaces at random, arguments of every kind and a quoted regular expression."""

    def space() -> str:
        return draw(st.sampled_from(["", "", " ", "\t"]))

    parts = []
    if draw(st.booleans()):
        inner = draw(st.sampled_from(["case", "number", "lower,-1", " pos , 2", "besttag,0"]))
        return (
            space() + f"elsewhere{space()}({inner}{space()})" + draw(st.sampled_from(["", "[1]"]))
        )
    single = [name for name, kind in KINDS.items() if not kind.in_document]
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from([*COLUMNS, *single]))
        cells = []
        if name in KINDS:
            for parameter in KINDS[name].parameters:
                if parameter.optional and draw(st.booleans()):
                    break
                is_number = parameter.type is int
                cells.append(str(draw(st.integers(1, 9))) if is_number else '"a\\"b\\\\d"')
            if name != "bias" and draw(st.booleans()):
                cells.append(draw(st.sampled_from(COLUMNS)))
        text = name + space()
        if cells:
            text += "(" + space() + f"{space()},{space()}".join(cells) + space() + ")"
        if name != "bias" and draw(st.booleans()):
            text += f"{space()}[{space()}{draw(st.integers(-9, 9))}{space()}]"
        parts.append(text)
    head = "pair" + space() + ":" if draw(st.booleans()) else ""
    return space() + head + space() + f"{space()}|{space()}".join(parts) + space()


@given(template_texts())
def test_the_canonical_text_reads_back_as_the_same_template(text: str) -> None:
    template = parse(text, COLUMNS)
    assert parse(str(template), COLUMNS) == template
    assert str(parse(str(template), COLUMNS)) == str(template)


@given(st.text(st.sampled_from('word[]()|-+019",pair: suffix\\é'), max_size=20))
def test_any_text_is_a_template_or_an_error_that_points_into_it(text: str) -> None:
    try:
        template = parse(text, COLUMNS)
    except SeqpaError as error:
        message = str(error)
    else:
        assert parse(str(template), COLUMNS) == template
        return
    character = message.removeprefix(f"template {text!r}, character ").split(":")[0]
    assert 1 <= int(character) <= len(text) + 1
    assert "\n" not in message


@given(patterns)
def test_a_regular_expression_keeps_its_backslashes(pattern: str) -> None:
    text = 'regex("' + pattern.replace('"', '\\"') + '")'
    try:
        template = parse(text, COLUMNS)
    except SeqpaError:
        return
    # A backslash before a quote always escapes the quote, so only such patterns change.
    if '\\"' not in pattern:
        assert template.parts[0].attribute.arguments == (pattern,)
    assert parse(str(template), COLUMNS) == template


@pytest.mark.parametrize(
    ("text", "character", "words"),
    [
        ("suffix(x)[0]", 8, "expected a number (length)"),
        ("sufix(3)", 1, "did you mean 'suffix'?"),
        ("elsewhere", 10, "expected '('"),
        ("elsewhere(lower)", 11, "expected number, case, or an attribute and an offset"),
        ("elsewhere(sufix, 1)", 11, "unknown name 'sufix'"),
        ("elsewhere(bias, 1)", 11, "unknown name 'bias'"),
        ("elsewhere(lower, 100)", 18, "an offset lies between"),
        ("elsewhere(case, 1)", 11, "unknown name 'case'"),
        ("word[0]|elsewhere(case)", 9, "elsewhere() stands alone"),
        ("elsewhere(case)|word[0]", 1, "elsewhere() stands alone"),
        ("word[0]|zz[0]", 9, "unknown name 'zz'; there are word, pos"),
        ("lower(ps)", 7, "did you mean 'pos'?"),
        ("word[0", 7, "expected ']', not the end"),
        ("word[a]", 6, "expected an offset such as -1"),
        ("word[100]", 6, "between -99 and 99"),
        ("word[99999999999]", 6, "too large"),
        ("word|", 6, "expected a column or an attribute, not the end"),
        ("word[0]word[1]", 8, "expected '|' or the end, not 'w'"),
        ("", 1, "expected a column or an attribute"),
        ("prefix[0]", 7, "expected prefix(3)"),
        ("prefix()[0]", 8, "expected a number (length)"),
        ("prefix(0)", 8, "the length is at least 1"),
        ("prefix(2, 3)", 11, "expected a column's name, not '3'"),
        ('regex("(")', 7, "not a regular expression: "),
        ('regex("a)', 7, "this string has no end"),
        ("lexicon(cities)", 9, 'expected a string "…" (name)'),
        ("bias[1]", 5, "the bias has no offset"),
        ("bias(pos)", 6, "expected no argument"),
        ("pair pos[0]", 6, "expected ':'"),
        ("word(pos)", 5, "expected '|' or the end, not '('"),
    ],
)
def test_a_bad_template_is_an_error_at_its_character(text: str, character: int, words: str) -> None:
    with pytest.raises(SeqpaError) as caught:
        parse(text, COLUMNS)
    assert str(caught.value).startswith(f"template {text!r}, character {character}: ")
    assert words in str(caught.value)


def test_a_template_given_twice_and_bad_columns_are_errors() -> None:
    with pytest.raises(SeqpaError, match=r"'word' is given twice \(as 'word\[0\]' before\)"):
        parse_all(["word[0]", "pos", "word"], COLUMNS)
    with pytest.raises(SeqpaError, match="come as a list"):
        parse_all("word[0]", COLUMNS)
    for columns in ((), "word", ("word", "word"), ("1st",), ("word", "shape"), ("pair",)):
        with pytest.raises(SeqpaError):
            parse("word", columns)


def test_attributes_of_the_first_column_have_one_name() -> None:
    assert parse("lower(word)", COLUMNS) == parse("lower", COLUMNS)
    assert str(parse("lower(pos)", COLUMNS)) == "lower(pos)[0]"


@given(st.text(max_size=12))
def test_a_short_shape_has_no_runs(word: str) -> None:
    found = short_shape(word)
    assert all(a != b for a, b in pairwise(found))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("columns", [("word",), ("form", "pos"), ("token", "lemma")])
def test_presets_fit_the_columns(name: str, columns: tuple[str, ...]) -> None:
    templates = parse_all(preset(name, columns), columns)
    assert any("pos" in str(t) for t in templates) == ("pos" in columns and name != "pos")


def test_an_unknown_preset_is_an_error() -> None:
    with pytest.raises(SeqpaError, match="there are pos, ner, chunk"):
        preset("srl")


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), max_size=6),
    st.lists(st.lists(st.sampled_from("abcd"), max_size=8), max_size=4),
)
def test_a_lexicon_marks_the_longest_entries_from_left_to_right(
    entries: list[list[str]], sentences: list[list[str]]
) -> None:
    expected = []
    for words in sentences:
        i = 0
        while i < len(words):
            lengths = [len(e) for e in entries if words[i : i + len(e)] == e]
            longest = max(lengths, default=0)
            expected += [0] + [1] * (longest - 1) if longest else [-1]
            i += longest or 1
    flat = [word for words in sentences for word in words]
    starts = [0]
    for words in sentences:
        starts.append(starts[-1] + len(words))
    lexicon = Lexicon(entries)
    assert lexicon.mark(flat, starts).tolist() == expected
    again = Lexicon.from_arrays(lexicon.to_arrays("x"), "x")
    assert again.entries == lexicon.entries


def test_resource_files(tmp_path) -> None:
    path = tmp_path / "cities.txt"
    path.write_bytes("\ufeffNew  York\r\nGraz\n\n".encode())
    assert Lexicon.read(path).entries == (("New", "York"), ("Graz",))
    path.write_text("0110\tMonday\t37\n0111\tTuesday\n", encoding="utf-8")
    assert Clusters.read(path).paths == {"Monday": "0110", "Tuesday": "0111"}
    path.write_text("0110\tMonday\n0111\tMonday\n", encoding="utf-8")
    with pytest.raises(SeqpaError, match=r"cities\.txt:2: word 'Monday' has two"):
        Clusters.read(path)
    path.write_text("0110 Monday\n", encoding="utf-8")
    with pytest.raises(SeqpaError, match=r"cities\.txt:1: expected a path, a tab and a word"):
        Clusters.read(path)
    path.write_bytes(b"Graz\nK\xf6ln\n")
    with pytest.raises(SeqpaError, match=r"cities\.txt:2: not UTF-8"):
        Lexicon.read(path)
    with pytest.raises(SeqpaError, match="no such file"):
        Lexicon.read(tmp_path / "none.txt")


@given(st.lists(st.text(st.characters(), max_size=4)))
def test_strings_survive_as_arrays(strings: list[str]) -> None:
    assert unpack_strings(pack_strings("x", strings), "x") == strings
