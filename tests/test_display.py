"""What notebooks show: escaped, the same as the plain text, and curves without widgets."""

from __future__ import annotations

import re
import sys
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa import SequenceTagger
from seqpa.colours import colours
from seqpa.data import Corpus
from seqpa.display import LiveCurve, explanation, in_notebook, spans
from seqpa.display.charts import Frame, Line, interval_bar, line_chart, ticks
from seqpa.errors import SeqpaError
from seqpa.evaluate import evaluate

ATTACK = '<img src=x onerror="alert(1)">'
WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)
TAGGED = st.lists(
    st.tuples(WORDS, st.sampled_from(["O", "B-x", "I-x", "B-<y>"])), min_size=1, max_size=10
)


def words_in(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


@given(TAGGED)
def test_spans_show_all_words_and_no_others(tagged: list[tuple[str, str]]) -> None:
    shown = spans(tagged)
    plain = repr(shown).replace("[", " ").replace("]", " ")
    html = words_in(shown.html).replace("[", " ").replace("]", " ")
    assert html.split() == plain.split()
    allowed = {"<div>", "</div>", "<mark>", "</mark>", "<span>", "</span>"}
    assert {re.sub(r" [^>]*", "", tag) for tag in re.findall(r"<[^>]*>", shown.html)} <= allowed


def test_a_type_keeps_its_colour() -> None:
    labels = ["B-PER", "B-LOC", "O"]
    for sentence in ([("Ada", "B-PER")], [("Graz", "B-LOC"), ("Ada", "B-PER")]):
        assert colours(labels)["PER"].ground in spans(sentence, labels).html


def test_sentences_and_tuples() -> None:
    several = [[(("Ada", "NNP"), "B-PER")], [("so", "O")]]
    assert repr(spans(several)) == "[Ada PER]\nso"
    assert spans(several).html.count('dir="auto"') == 2
    assert repr(spans([])) == ""
    assert repr(spans([("a", "B"), ("b", "I")])) == "[a b]"
    with pytest.raises(SeqpaError, match="pairs"):
        spans(["Ada won"])


def test_everything_is_escaped() -> None:
    X, y = [[ATTACK, "it"]], [[f"B-{ATTACK}", "O"]]
    tagger = SequenceTagger(["word[0]"], random_state=1).fit(X, y)
    told = tagger.explain(X[0])
    shown = [
        spans(tagger.tag(X[0]), tagger.classes_)._repr_html_(),
        explanation(told)._repr_html_(),
        told[0]._repr_html_(),
        evaluate(y, y)._repr_html_(),
        Corpus.from_sentences(X, y)._repr_html_(),
        spans([(ATTACK, ATTACK)]).html,
        line_chart([Line([(0, 1)], name=ATTACK)], Frame(ATTACK, ATTACK, ATTACK, mark=(0, ATTACK))),
    ]
    for html in shown:
        assert "<img" not in html
        assert ATTACK in unescape(html)


def test_scores_and_corpora_show_themselves() -> None:
    gold, found = [["B-x", "O", "B-y"]], [["B-x", "O", "O"]]
    assert words_in(evaluate(gold, found)._repr_html_()).startswith("F1 66.67 2 spans")
    assert "accuracy 50.00" in words_in(evaluate([["A", "B"]], [["A", "A"]])._repr_html_())
    assert "no labels" in Corpus.from_sentences([["so"]])._repr_html_()
    half = Corpus.from_sentences([["so", "it"]], [["A", None]])  # type: ignore[list-item]
    assert "?" in words_in(half._repr_html_())


def test_explanations_have_bars_for_and_against() -> None:
    X = [["the", "saw"], ["she", "saw"]]
    tagger = SequenceTagger(["word[0]", "word[-1]"], random_state=1)
    told = tagger.fit(X, [["D", "N"], ["P", "V"]]).explain(X[1])
    shown = explanation(told[1], most=1)
    assert repr(shown) == str(told[1].summed(1))
    assert shown.html.count("<svg") == 2  # the strongest, and the rest in one
    assert explanation(told).html.count("<details") == 2


def test_curves_grow_in_a_notebook(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One display, updated after each epoch; neither widgets nor JavaScript."""
    shown: list[Any] = []

    def display(one: Any, display_id: bool) -> Any:
        assert display_id
        shown.append(one)
        return SimpleNamespace(update=shown.append)

    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    assert in_notebook()
    X, y = [["so", "it"], ["it"]], [["A", "P"], ["P"]]
    tagger = SequenceTagger(["word[0]"], epochs=4, random_state=1)
    tagger.fit(X, y, dev=(X, y), verbose=1)
    assert len(shown) == 4
    assert [one.html.count("<circle") for one in shown] == [3, 6, 9, 12]
    assert repr(shown[-1]).startswith("epoch 4 of 4, loss ")
    assert "<script" not in shown[-1].html
    assert capsys.readouterr().out == ""


def test_lines_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = SimpleNamespace(get_ipython=lambda: SimpleNamespace())
    monkeypatch.setitem(sys.modules, "IPython", terminal)
    assert not in_notebook()
    SequenceTagger(["word[0]"], epochs=2).fit([["so"]], [["A"]], verbose=1)
    assert capsys.readouterr().out.count("epoch ") == 2
    curve = LiveCurve(3)
    assert curve.view().text == "training begins"


@pytest.mark.parametrize("frame", [{"y_range": (1.0, 1.0)}, {"x_range": (2.0, 2.0)}, {}])
def test_a_line_of_equal_values_has_a_chart(frame: dict[str, Any]) -> None:
    made = line_chart([Line([(2.0, 1.0), (2.0, 1.0)])], Frame("Score", "x", "y", **frame))
    assert "nan" not in made
    assert made.count("<text") > 2


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_and_inside(low: float, width: float) -> None:
    high = low + width
    found = ticks(low, high)
    assert 2 <= len(found) <= 9
    assert all(low - 1e-6 * width - 1e-9 <= one <= high + 1e-6 * width + 1e-9 for one in found)
    assert found == sorted(set(found))


@given(*[st.floats(0, 1)] * 3)
def test_intervals_stay_on_their_line(value: float, low: float, lowest: float) -> None:
    places = re.findall(r'(?:x1|x2|cx)="([^"]*)"', interval_bar(value, low, 1.0, lowest))
    assert all(0 <= float(place) <= 132 for place in places)
