"""Patterns against Python's own `re`: the same answers, in time that grows with the word alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from seqpa.errors import SeqpaError
from seqpa.sequence import patterns
from seqpa.sequence.patterns import MAX_PLACES, Pattern
from seqpa.sequence.templates import MAX_TEMPLATES, parse_all

ATOMS = (
    *"abA.0-_é^${",
    *(r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\b", r"\B", r"\A", r"\Z", r"\.", r"\n", r"\x41"),
    *("[ab]", "[^a]", "[a-c0-2]", "[]a]", r"[\d-]", r"[^\w.]", "[a-]", "(?i:a)", "(?i:[b-c])"),
    *("()", "(ab|)", "(?:a|b)", "(?s:.)", "(?P<x>a)", r"é"),
)
REPEATS = ("", "", "", "*", "+", "?", "{2}", "{1,3}", "{,2}", "{0}", "*?", "+?", "??", "{2,}", "{")
piece = st.builds("".join, st.tuples(st.sampled_from(ATOMS), st.sampled_from(REPEATS)))
simple = st.lists(piece, max_size=4).map("".join)
grouped = st.builds("{}({}){}|{}".format, simple, simple, st.sampled_from(REPEATS), simple)
expressions = st.one_of(simple, grouped, st.text("ab()[]*+?{}|\\^$-:,1iP<>", max_size=8))
words = st.lists(st.text("aabcAB01-_ é.\n{", max_size=6), max_size=8)


@given(st.sampled_from(("", "", "(?i)", "(?s)", "(?is)")), expressions, words)
def test_patterns_match_as_those_of_python(flags: str, text: str, given_words: list[str]) -> None:
    try:
        expected = re.compile(flags + text)
    except re.error:
        assume(False)
    try:
        pattern = Pattern(flags + text)
    except SeqpaError as error:
        told = str(error)
    else:
        told = ""
    # What is refused here and not there is told as such.
    assert not told or re.search("linear time|bad escape|flags|name", told)
    assume(not told)
    for word in given_words:
        if word or r"\B" not in text:  # Python changed its mind about \B in an empty word
            assert pattern.search(word) == bool(expected.search(word)), word


@pytest.mark.parametrize(
    "text", ["(a+)+$", "(a|a)*b", "(a*)*b", "(.*a){9}$", "a*a*a*a*a*b", "([ab]*a[ab]{20})*c"]
)
def test_no_word_takes_long(text: str) -> None:
    assert not Pattern(text).search("a" * 3000 + "!")


def test_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_MAX_KEPT", 500)
    pattern = Pattern("^[ab]*a[ab]{8}$")
    for number in range(3000):
        word = f"{number:012b}".replace("0", "a").replace("1", "b")
        assert pattern.search(word) == (word[-9] == "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"(a)\1", "reference"),
        ("a(?=b)", "linear time"),
        ("(?<!a)b", "linear time"),
        ("(?m)^a", "flags other"),
        ("a(?i)", "flags other|beginning"),
        ("a++", "linear time"),
        ("a**", "multiple repeat"),
        ("(", "unterminated group"),
        ("[a", r"the \] of a set"),
        ("[b-a]", "bad range"),
        (r"\q", "bad escape"),
        ("a{600}", f"more than {MAX_PLACES} places"),
        ("a{3000000000}", f"more than {MAX_PLACES} places"),
        ("((((((((){300}){300}){300}){300}){300}){300}){300})", f"more than {MAX_PLACES} places"),
        ("(" * 80 + ")" * 80, "nested too deeply"),
    ],
)
def test_what_is_refused_is_told(text: str, words: str) -> None:
    with pytest.raises(SeqpaError, match=words):
        Pattern(text)


def test_templates_have_their_limits() -> None:
    many = [f"suffix({n})[{k}]" for n in range(1, 30) for k in range(99)]
    assert len(parse_all(many[:MAX_TEMPLATES])) == MAX_TEMPLATES
    with pytest.raises(SeqpaError, match="2,871 templates: 2,000 are the most"):
        parse_all(many)
    with pytest.raises(SeqpaError, match="places in all patterns"):
        parse_all([f'regex("[ab]{{400}}{n}")' for n in range(9)])
    with pytest.raises(SeqpaError, match="parts of templates"):
        parse_all(
            ["|".join(f"word[{k}]" for k in range(n)) for n in range(1, 100)]
            + ["|".join(f"suffix({n})[{k}]" for k in range(90)) for n in range(1, 80)]
        )
