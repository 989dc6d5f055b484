"""Templates, constraints, costs and lexicons with anything in them: one message, no traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seqpa.core.costs import cost_matrix
from seqpa.errors import SeqpaError
from seqpa.sequence.constraints import penalties
from seqpa.sequence.resources import Lexicon
from seqpa.sequence.templates import parse, parse_all

PIECES = st.sampled_from(
    [
        *(
            "word",
            "[0]",
            "[-1]",
            "|",
            "pair:",
            "bias",
            "suffix(",
            "3",
            ")",
            "regex(",
            '"',
            "\\",
            "(?",
        ),
        *(
            "lexicon(",
            '"a"',
            ",",
            "pos",
            "[",
            "]",
            "99999999999999999999",
            "-",
            "+",
            " ",
            "\n",
            "\0",
        ),
        *(
            "cluster(",
            "²",
            "１",
            "[a-",
            "*",
            "{1,999999999}",
            "\ud800",
            "é",
            "lower",
            "(((((",
            "|||",
        ),
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=40))
@example('regex("(a+)+$")[0]')
@example('regex("' + "(" * 3000 + '")')
@example("word[٣]")
def test_any_template_is_read_or_refused(text: str) -> None:
    try:
        template = parse(text, ("word", "pos"))
    except SeqpaError:
        return
    assert parse(str(template), ("word", "pos")) == template


def test_templates_have_a_length() -> None:
    with pytest.raises(SeqpaError, match=r"10,001 characters, 10,000 are the most") as caught:
        parse("x" * 10_001)
    assert len(str(caught.value)) < 200
    with pytest.raises(SeqpaError, match="a template is a string"):
        parse_all([3])  # type: ignore[list-item]


ODD: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.just(10**400),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(["forbidden", "required", "A", "B", 3, None, ("A", "B"), (1, 2)]),
            below,
            max_size=3,
        )
        | st.tuples(below, below)
    ),
    max_leaves=6,
)


@given(ODD)
@example({3: 1, "x": 2})
@example({"forbidden": {("A", "B")}})
@example({"required": {"A": {"B"}, 3: []}})
def test_any_constraints_are_taken_or_refused(constraints: Any) -> None:
    try:
        assert penalties(constraints, ["A", "B"]).pairs.shape == (2, 2)
    except SeqpaError as error:
        assert "constraints" in str(error)  # noqa: PT017


@given(ODD)
@example({"A": {"B": 10**400}})
@example([[0, 10**400], [1, 0]])
def test_any_costs_are_taken_or_refused(cost: Any) -> None:
    try:
        assert cost_matrix(cost, ["A", "B"]).shape == (2, 2)
    except SeqpaError as error:
        assert "cost" in str(error)  # noqa: PT017


def test_an_entry_of_a_lexicon_has_a_length(tmp_path: Path) -> None:
    """Entries of 1, 2, 3, ... words "a" made each token try all of them."""
    path = tmp_path / "names.txt"
    path.write_text("Graz\n" + "a " * 101 + "\n")
    with pytest.raises(SeqpaError, match=r"names\.txt:2: an entry of 101 words; 100 are the most"):
        Lexicon.read(path)
    with pytest.raises(SeqpaError, match="begins with 'a' and has 101 words"):
        Lexicon([["a"] * 101])
    assert Lexicon([["a"] * 100]).mark(["a"] * 250, [0, 250]).tolist().count(0) == 2
