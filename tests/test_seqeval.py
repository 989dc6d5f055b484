"""seqeval's functions beside seqeval itself: the same digits on random labels of every scheme."""

from __future__ import annotations

import math
import warnings
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa import evaluate as ours
from seqpa.errors import SeqpaError, SeqpaWarning

LETTERS = {
    "IOB1": "IOB",
    "IOB2": "IOB",
    "IOE1": "IOE",
    "IOE2": "IOE",
    "IOBES": "IOBES",
    "BILOU": "BILOU",
}
ALL = "BIOESLUM"
FUNCTIONS = ("precision_score", "recall_score", "f1_score")
AVERAGES = (None, "micro", "macro", "weighted")
ZEROS = ("warn", 0, 1)
some_zero = st.sampled_from(ZEROS).map(lambda zero: [zero])  # of many draws, each has its part


@st.composite
def pairs(draw: st.DrawFn, letters: str, suffix: bool) -> tuple[list[list[str]], list[list[str]]]:
    """Two labellings of some sentences; types with hyphens, and labels without a type."""

    def label(letter: str, kind: str) -> str:
        if letter == "O" or not kind:
            return letter
        return f"{kind}-{letter}" if suffix else f"{letter}-{kind}"

    kinds = draw(st.sampled_from([("x", "y"), ("", "x"), ("a-b", "a"), ("x",)]))
    labels = [label(letter, kind) for letter in letters for kind in kinds]
    one = st.tuples(st.sampled_from(labels), st.sampled_from(labels))
    rows = draw(st.lists(st.lists(one, max_size=7), min_size=1, max_size=4))
    return [[g for g, _ in row] for row in rows], [[p for _, p in row] for row in rows]


def quietly(function: Any, *args: Any, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b) or (math.isnan(a) and math.isnan(b))


def check(gold: Any, found: Any, **how: Any) -> None:
    theirs = pytest.importorskip("seqeval.metrics", reason="seqeval is not installed")
    scheme = how.pop("scheme", None)
    own = {} if scheme is None else {"mode": "strict", "scheme": scheme}
    their = {}
    if scheme is not None:
        their = {"mode": "strict", "scheme": getattr(pytest.importorskip("seqeval.scheme"), scheme)}
    zeros = how.pop("zeros", ZEROS)
    for name in FUNCTIONS:
        for average in AVERAGES:
            for zero in zeros:
                more = {**how, "average": average, "zero_division": zero}
                expected = quietly(getattr(theirs, name), gold, found, **more, **their)
                got = quietly(getattr(ours, name), gold, found, **more, **own)
                assert same(got, expected), (name, more)
    expected = quietly(
        theirs.classification_report, gold, found, output_dict=True, zero_division=1, **how, **their
    )
    got = quietly(
        ours.classification_report, gold, found, output_dict=True, zero_division=1, **how, **own
    )
    assert list(got) == list(expected)
    for name, row in got.items():
        assert all(same(value, expected[name][key]) for key, value in row.items()), name
    if len(got) > 3:  # of no span at all seqeval makes no table
        for digits in (1, 4):
            more = {**how, "digits": digits}
            expected = quietly(theirs.classification_report, gold, found, **more, **their)
            assert quietly(ours.classification_report, gold, found, **more, **own) == expected


@given(data=st.data(), suffix=st.booleans())
def test_any_labels_are_read_as_seqeval_reads_them(data: st.DataObject, suffix: bool) -> None:
    check(*data.draw(pairs(ALL, suffix)), suffix=suffix, zeros=data.draw(some_zero))


@pytest.mark.parametrize("scheme", LETTERS)
@given(data=st.data(), suffix=st.booleans())
def test_strict_labels_are_read_as_seqeval_reads_them(
    scheme: str, data: st.DataObject, suffix: bool
) -> None:
    labels, zeros = data.draw(pairs(LETTERS[scheme], suffix)), data.draw(some_zero)
    check(*labels, suffix=suffix, scheme=scheme, zeros=zeros)


@given(data=st.data(), letters=st.sampled_from(list(LETTERS.values())))
def test_the_scheme_of_a_strict_report_is_found_as_seqeval_finds_it(
    data: st.DataObject, letters: str
) -> None:
    theirs = pytest.importorskip("seqeval.metrics", reason="seqeval is not installed")
    gold, found = data.draw(pairs(letters, False))

    def report(function: Any) -> Any:
        try:
            return quietly(function, gold, found, mode="strict", output_dict=True, zero_division=0)
        except ValueError:
            return ValueError

    expected = report(theirs.classification_report)
    got = report(ours.classification_report)
    assert (got is ValueError) == (expected is ValueError)
    if got is not ValueError and len(got) > 3:
        assert got == expected


@given(data=st.data())
def test_tokens_are_counted_as_seqeval_counts_them(data: st.DataObject) -> None:
    theirs = pytest.importorskip("seqeval.metrics", reason="seqeval is not installed")
    gold, found = data.draw(pairs(ALL, False))
    assert ours.performance_measure(gold, found) == theirs.performance_measure(gold, found)
    if any(gold):
        assert ours.accuracy_score(gold, found) == theirs.accuracy_score(gold, found)
        flat = [list(chain.from_iterable(rows)) for rows in (gold, found)]
        assert ours.accuracy_score(*flat) == ours.accuracy_score(gold, found)


def test_a_report_without_spans_is_a_table_without_rows() -> None:
    text = quietly(ours.classification_report, [["O"]], [["O"]])
    assert [line.split()[:2] for line in text.splitlines() if "avg" in line] == [
        ["micro", "avg"],
        ["macro", "avg"],
        ["weighted", "avg"],
    ]


def test_schemes_have_three_spellings() -> None:
    gold, found = [["B-x", "I-x"]], [["I-x", "I-x"]]
    expected = ours.f1_score(gold, found, mode="strict", scheme=ours.IOB2, zero_division=0)
    assert expected == 0.0
    for scheme in ("iob2", "IOB2", type("IOB2", (), {})):
        got = ours.f1_score(gold, found, mode="strict", scheme=scheme, zero_division=0)
        assert got == expected
    assert ours.f1_score(gold, found, mode="strict") == 1.0  # without a scheme, as in seqeval


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        (([["O"]], [["O", "O"]]), {}, SeqpaError, "sentence 1: 1 gold labels but 2 predicted"),
        (([["O"]], [["O"], ["O"]]), {}, SeqpaError, "1 sentences of gold labels but 2"),
        ((["O"], ["O"]), {}, TypeError, "lists of lists"),
        (([["O"]], [["O"]]), {"average": "mikro"}, SeqpaError, "did you mean 'micro'"),
        (([["O"]], [["O"]]), {"mode": "loose"}, SeqpaError, "neither None nor 'strict'"),
        (([["O"]], [["O"]]), {"zero_division": 2}, SeqpaError, "none of 'warn', 0, 1"),
        (([["O"]], [["O"]]), {"mode": "strict", "scheme": "IOB3"}, SeqpaError, "'IOB2'"),
        (([["E-x"]], [["O"]]), {"mode": "strict", "scheme": "IOB2"}, SeqpaError, "'E-x' is no"),
        (([[""]], [["O"]]), {}, SeqpaError, "a label is empty"),
    ],
)
def test_mistakes(arguments: Any, options: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        quietly(ours.f1_score, *arguments, **options)


def test_what_is_silent_in_seqeval_or_told_there_is_told() -> None:
    from sklearn.exceptions import UndefinedMetricWarning

    with pytest.warns(UndefinedMetricWarning, match="Precision"):
        ours.precision_score([["B-x"]], [["O"]])
    with pytest.warns(UndefinedMetricWarning, match="Recall"):
        ours.recall_score([["O"]], [["B-x"]])
    with pytest.warns(UndefinedMetricWarning, match="F-score"):
        ours.f1_score([["O"]], [["O"]])
    with pytest.warns(SeqpaWarning, match="U-x"):
        ours.f1_score([["U-x"]], [["U-x"]])
    with pytest.warns(SeqpaWarning, match="sample_weight"):
        ours.f1_score([["B-x"]], [["B-x"]], sample_weight=[1])
    with pytest.raises(SeqpaError, match="no token"):
        ours.accuracy_score([[]], [[]])


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("asked", [("f-score",), ("precision",), ("precision", "recall"), ()])
def test_of_nothing_they_warn_alike(average: str | None, asked: tuple[str, ...]) -> None:
    """The same kinds of warnings, for the same of the three."""
    v1 = pytest.importorskip("seqeval.metrics.v1", reason="seqeval is not installed")
    schemes = pytest.importorskip("seqeval.scheme")
    kinds = []
    for function, scheme in (
        (v1.precision_recall_fscore_support, schemes.IOB2),
        (ours.precision_recall_fscore_support, ours.IOB2),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function([[]], [[]], average=average, scheme=scheme, warn_for=asked)
        kinds.append({warning.category for warning in caught})
    assert kinds[0] == kinds[1]
