"""What users are told about a word that nobody knows."""

from __future__ import annotations

import pytest

from seqpa.errors import did_you_mean


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("epoch", ["average", "epochs"], "; did you mean 'epochs'?"),
        ("EPOCHS", ["average", "epochs"], "; did you mean 'epochs'?"),
        ("c", ["C"], "; did you mean 'C'?"),
        (12, [121, 7], "; did you mean 121?"),
        ("x", ["average"], "; there are average"),
        (None, [1, "b"], "; there are 1, b"),
        ("x", [], ""),
        ("x", [f"l{k}" for k in range(100)], "; there are l0, l1, "),
    ],
)
def test_the_hint(word: object, known: list[object], hint: str) -> None:
    assert did_you_mean(word, known).startswith(hint)


def test_long_lists_are_cut() -> None:
    hint = did_you_mean("x", [f"l{k}" for k in range(23)])
    assert hint.endswith(", l19 and 3 more")
    assert did_you_mean("x", ["average"], listed=False) == ""


def test_how_it_is_written() -> None:
    assert did_you_mean("a.txt", ["b.txt"], shown=lambda name: f"in/{name}") == (
        "; did you mean in/b.txt?"
    )
