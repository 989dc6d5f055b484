"""`seqpa report`: its numbers are those of `seqpa evaluate`, and nothing of the user's is lost."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa import SequenceTagger
from seqpa.cli import main
from seqpa.core import Hierarchy
from seqpa.data import Corpus, read
from seqpa.evaluate import evaluate, intervals
from seqpa.report import Asked, Tagged, report_data, tag
from seqpa.report.ablation import template_groups
from seqpa.report.card import plain
from seqpa.report.confusion import by_cell, confusion, shown_sentences
from seqpa.report.page import page_files, script_json
from seqpa.report.scores import scores
from seqpa.report.spent import spent
from seqpa.sequence.costs import sequence_cost

pytest.importorskip("jinja2", reason='needs the extra "report"')

PROJECT = Path(__file__).parents[1]
NEWS = PROJECT / "corpora" / "news"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def write_config(folder: Path, **learner: Any) -> Path:
    content = {
        "data": {
            "columns": ["word", "pos", "label"],
            "train": str(NEWS / "dev.conll"),
            "dev": str(NEWS / "dev.conll"),
            "test": str(NEWS / "test.conll"),
        },
        "features": {"templates": ["word[0]", "word[-1]", "suffix(2)[0]", "istitle[0]"]},
        "learner": {"epochs": 3, "seed": 1, **learner},
        "decoding": {"constraints": "bio"},
        "output": {"model": "m.safetensors"},
    }
    path = folder / "c.yaml"
    path.write_text(json.dumps(content))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The configuration of a finished training."""
    config = write_config(tmp_path_factory.mktemp("trained"))
    assert main(["train", str(config), "-q"]) == 0
    return config


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = write_config(tmp_path_factory.mktemp("other"), epochs=1, C=0.5)
    assert main(["train", str(config), "-q"]) == 0
    return config.parent / "m.safetensors"


@pytest.fixture(scope="module")
def made(trained: Path, other: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report on a finished training, beside another model."""
    folder = tmp_path_factory.mktemp("made") / "report"
    status = main(["report", str(trained), "-o", str(folder), "--compare", str(other), "--ablate"])
    assert status == 0
    return folder


# Labels of some sentences, right and predicted
LABELS = st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y", "B-z"])
PAIRS = st.lists(
    st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=8), min_size=1, max_size=8
)


def as_tagged(pairs: list[list[tuple[str, str]]]) -> Tagged:
    return Tagged(
        [[f"w{t}" for t in range(len(one))] for one in pairs],
        [[gold for gold, _ in one] for one in pairs],
        [[found for _, found in one] for one in pairs],
    )


# Numbers


def test_the_numbers_are_those_of_evaluate(
    run: Run, made: Path, trained: Path, other: Path
) -> None:
    told = json.loads((made / "report.json").read_text())
    model = trained.parent / "m.safetensors"
    status, out, _ = run("evaluate", model, NEWS / "test.conll", "--compare", other, "--json")
    assert status == 0
    for name, value in json.loads(out).items():
        assert told[name] == value, name


def test_the_page_shows_the_numbers(made: Path) -> None:
    told = json.loads((made / "report.json").read_text())
    page = (made / "index.html").read_text()
    head = told["scores"]["headline"]
    assert head["value"] == told["span_micro"]["f1"]
    assert f'<span class="value">{100 * head["value"]:.2f}</span>' in page
    assert f"95\u00a0% interval {100 * head['low']:.2f} to {100 * head['high']:.2f}" in page
    card = (made / "MODEL_CARD.md").read_text()
    assert f"**F1 of spans {100 * head['value']:.2f}**" in card
    title = card.splitlines()[0].replace("\\", "")
    assert title == "# " + "/".join(Path(told["model"]).parts[-2:])
    assert len(title) < len(told["model"])
    best = told["history"]["best"]
    assert f"epoch {best}</text>" in page
    assert len(told["history"]["epochs"]) == 3


@given(PAIRS)
def test_tables_agree_with_the_evaluation(pairs: list[list[tuple[str, str]]]) -> None:
    tagged = as_tagged(pairs)
    known = {"w0", "w2"}
    evaluation = evaluate(tagged.gold, tagged.predicted, tagged.words, known)
    found = scores(tagged, evaluation, known, 20, 1)
    for table, expected in (("by_type", evaluation.spans), ("by_label", evaluation.labels)):
        assert set(found[table]) == set(expected or ())
        for name, score in (expected or {}).items():
            row = found[table][name]
            assert {**score.to_dict(), "low": row["low"], "high": row["high"]} == row
    micro = evaluation.span_micro
    assert micro is not None
    # Every other table cuts the same spans into parts.
    for table in ("by_type", "by_words", "by_sentence_length", "by_span_length"):
        for name in ("correct", "predicted", "gold"):
            parts = sum(row[name] for row in found[table].values())
            assert parts == getattr(micro, name), (table, name)


@given(PAIRS)
def test_confusions_agree_with_the_mistakes(pairs: list[list[tuple[str, str]]]) -> None:
    tagged = as_tagged(pairs)
    evaluation = evaluate(tagged.gold, tagged.predicted)
    counts: Counter[tuple[str, str, bool]] = Counter()
    for (gold, found, what), n in (evaluation.span_mistakes or {}).items():
        counts[gold, found, what == "extent"] += n
    told = confusion(tagged)
    for gold, found, right, types, extents in told["cells"]:
        assert types == counts.pop((gold or "", found or "", False), 0)
        assert extents == counts.pop((gold or "", found or "", True), 0)
        if gold == found:
            assert right == (evaluation.spans or {})[gold].correct
    assert not counts
    behind = by_cell(tagged)
    for gold, found, _, types, extents in told["cells"]:
        assert sum(behind.get((gold, found), {}).values()) == types + extents
    shown = shown_sentences(tagged, set())
    assert set(shown) == {n for own in behind.values() for n in own}
    for n, one in shown.items():
        gold, found = tagged.span_pairs[n]
        assert [tuple(span[:3]) for span in one["g"]] == gold
        assert [tuple(span[:3]) for span in one["p"]] == found
        for key, others in (("g", found), ("p", gold)):
            for *span, what in one[key]:
                assert (what == "") == (tuple(span) in others)


def test_labels_without_spans_count_tokens() -> None:
    tagged = Tagged([["so", "it"]], [["A", "P"]], [["A", "V"]])
    told = confusion(tagged)
    assert (told["of"], told["cells"][0]) == ("labels", ["P", "V", 0, 1, 0])
    assert shown_sentences(tagged, set())[0]["g"] == [["P", 1, 2, "type"]]
    found = scores(tagged, evaluate(tagged.gold, tagged.predicted), None, 10, 1)
    assert (found["headline"]["metric"], found["headline"]["value"]) == ("accuracy", 0.5)


def test_untyped_spans_are_not_taken_for_nothing() -> None:
    tagged = Tagged([["a", "b", "c"]], [["B", "O", "B"]], [["B", "I", "O"]])
    cells = {(gold, found): rest for gold, found, *rest in confusion(tagged)["cells"]}
    assert cells == {("", ""): [0, 0, 1], ("", None): [0, 1, 0]}


@pytest.mark.parametrize("rare", [0, 1])
def test_intervals_hold_the_score_and_skip_rounds_without_it(rare: int) -> None:
    counts = np.array([[2.0, 2.0]] * rare + [[0.0, 0.0]] * 30)
    (found,) = intervals(counts, 300, np.random.default_rng(1))
    assert found == ((1.0, 1.0) if rare else (0.0, 0.0))


def test_costs_are_cut_into_pairs_and_places() -> None:
    tree = Hierarchy({"place": {"city": None, "river": None}, "person": None})
    labels = ["O", *(f"{tag}-{kind}" for tag in "BI" for kind in ("city", "river", "person"))]
    rng = np.random.default_rng(1)
    gold, found = ([list(rng.choice(labels, 5)) for _ in range(20)] for _ in range(2))
    tagged = Tagged([["w"] * 5] * 20, gold, found)
    cost = sequence_cost(tree, labels)
    told = spent(tagged, "hierarchy", cost, tree)
    assert told["total"] == pytest.approx(sum(map(cost, gold, found)))
    for name in ("pairs", "places"):
        assert sum(row["cost"] for row in told[name]) == pytest.approx(told["total"])
    assert {place["node"] for place in told["places"]} == {"", "place", "city", "river", "person"}
    assert told["sentences"][0]["cost"] == max(map(cost, gold, found))


def test_tokens_without_a_label_are_left_out() -> None:
    tagger = SequenceTagger(["word[0]"], random_state=1).fit([["a", "b"]], [["B-x", "O"]])
    corpus = Corpus.from_sentences([["a", "b"], ["b", "a"]], [["B-x", None], ["O", "B-x"]])  # type: ignore[list-item]
    tagged = tag(tagger, corpus)
    assert tagged.gold == [["B-x"], ["O", "B-x"]]
    assert tagged.span_probabilities is None
    told = report_data(tagger, tagged, None, Asked(rounds=5))
    assert told["certainty"]["of"] == "labels"
    assert told["certainty"]["calibrated"] is False


def test_what_is_surest_comes_first(made: Path) -> None:
    sure = json.loads((made / "report.json").read_text())["certainty"]
    wrong = [one["probability"] for one in sure["surest_mistakes"]]
    right = [one["probability"] for one in sure["least_sure_right"]]
    assert wrong == sorted(wrong, reverse=True)
    assert right == sorted(right)
    assert not any(one["right"] for one in sure["surest_mistakes"])
    assert sure["answered"][-1]["share"] == 1.0


def test_ablation_trains_without_each_group(made: Path) -> None:
    told = json.loads((made / "report.json").read_text())
    rows = {row["group"]: row for row in told["ablation"]}
    assert set(rows) == {"word", "suffix", "flags"}
    assert all(row["a"] == told["span_micro"]["f1"] for row in rows.values())
    assert rows["word"]["difference"] == max(row["difference"] for row in rows.values()) > 0
    columns = ("word", "pos")
    groups = template_groups(["bias", "pos[0]", "lower(pos)[0]|word[1]"], columns)
    assert list(groups) == ["bias", "pos", "lower|word"]


# Files


def test_the_same_report_twice_is_the_same_bytes(run: Run, trained: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        status, out, _ = run("report", trained, "-o", tmp_path / name)
        assert status == 0
        assert out.startswith("F1 ")
    files = [sorted(path.name for path in (tmp_path / name).iterdir()) for name in "ab"]
    assert files == [["MODEL_CARD.md", "index.html", "report.json"]] * 2
    for name in files[0]:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_nothing_of_the_users_is_overwritten(run: Run, trained: Path, tmp_path: Path) -> None:
    mine = tmp_path / "index.html"
    mine.write_text("mine")
    status, _, err = run("report", trained, "-o", tmp_path)
    assert status == 2
    assert "has files that no report made, such as index.html" in err
    assert mine.read_text() == "mine"
    (tmp_path / "thesis.txt").write_text("years")
    assert run("report", trained, "-o", tmp_path, "--force")[0] == 0
    assert mine.read_text() != "mine"
    assert (tmp_path / "thesis.txt").read_text() == "years"
    status, _, err = run("report", trained, "-o", tmp_path)
    assert (status, "thesis.txt" in err) == (2, True)


def test_a_report_replaces_its_own_and_its_parts(run: Run, trained: Path, tmp_path: Path) -> None:
    assert run("report", trained, "-o", tmp_path)[0] == 0
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "sentences-9.js").write_text("old")
    assert run("report", trained, "-o", tmp_path)[0] == 0
    assert not parts.exists()


def test_what_does_not_fit_stands_in_parts(made: Path) -> None:
    words = [["Ada", "won"]] * 900
    tagged = Tagged(words, [["B-x", "O"]] * 900, [["B-y", "O"]] * 900)
    tagger = SequenceTagger(["word[0]"], random_state=1).fit(words[:2], [["B-x", "O"]] * 2)
    told = json.loads((made / "report.json").read_text())
    told |= report_data(tagger, tagged, None, Asked(rounds=5))
    inside = page_files(told, tagged)
    assert set(inside) == {"index.html"}
    assert "; script-src 'sha256-" in unescape(inside["index.html"].decode())
    assert "'self'" not in unescape(inside["index.html"].decode())
    outside = page_files(told, tagged, inlined=0)
    names = {"learned", "cells-0", *(f"sentences-{i}" for i in range(5))}
    assert set(outside) == {"index.html", *(f"parts/{name}.js" for name in names)}
    assert len(outside["index.html"]) < len(inside["index.html"])


@pytest.mark.parametrize("text", ["Anna B-x\nleft O\n\nBob B-x\nwon O\n", "it O\nis O\n"])
def test_a_model_without_a_mistake_has_a_report(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.conll").write_text(f"{text}\n" * 3)
    learned = read(tmp_path / "a.conll", columns=["word", "label"])
    SequenceTagger("ner", random_state=1).fit(learned, dev=learned).save(tmp_path / "m")
    status, _, err = run("report", tmp_path / "m", tmp_path / "a.conll", "-o", tmp_path / "r")
    assert (status, err) == (0, "")
    told = json.loads((tmp_path / "r" / "report.json").read_text())
    assert {one["score"] for one in told["certainty"]["answered"]} == {1.0}


def test_other_ways_to_name_a_model(run: Run, trained: Path, tmp_path: Path) -> None:
    data = NEWS / "test.conll"
    assert run("report", trained.parent, data, "-o", tmp_path / "a")[0] == 0
    told = json.loads((tmp_path / "a" / "report.json").read_text())
    assert told["model"] == str(trained.parent / "m.safetensors")
    assert told["history"]["best"] in (1, 2, 3)
    # Without its history, and with that of another training
    lonely = tmp_path / "m.safetensors"
    lonely.write_bytes((trained.parent / "m.safetensors").read_bytes())
    assert run("report", lonely, data, "-o", tmp_path / "b")[0] == 0
    assert "No learning curves" in (tmp_path / "b" / "index.html").read_text()
    history = json.loads((trained.parent / "m.history.json").read_text())
    history["config"]["learner"]["C"] = 9.0
    (tmp_path / "m.history.json").write_text(json.dumps(history))
    assert run("report", lonely, data, "-o", tmp_path / "b")[0] == 0
    told = json.loads((tmp_path / "b" / "report.json").read_text())
    assert (told["history"], "another training" in told["history_note"]) == (None, True)


def test_mistakes_are_one_line(
    run: Run, trained: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, data = tmp_path / "out", NEWS / "test.conll"
    empty = tmp_path / "empty"
    empty.mkdir()
    changed = tmp_path / "c.yaml"
    changed.write_text(
        json.dumps(
            {
                **json.loads(trained.read_text()),
                "learner": {"epochs": 3, "seed": 2},
                "output": {"model": str(trained.parent / "m.safetensors")},
            }
        )
    )
    for arguments, told in (
        ([other, data], "say where the report goes: -o DIR"),
        ([other, "-o", out], "name the labelled data to report on"),
        ([other, data, "-o", out, "--ablate"], "--ablate trains again, so it needs the config"),
        ([empty, data, "-o", out], "is a folder with no model; name a model file"),
        ([changed, "-o", out], "by another configuration than"),
        ([other, data, "-o", data], "is a file; name a folder"),
        ([other, tmp_path / "gone.conll", "-o", out], "no such file"),
        ([trained, "-o", out, "--columns", "a,b"], "go with DATA, which is not given"),
    ):
        status, printed, err = run("report", *arguments)
        assert (status, printed) == (2, ""), arguments
        assert told in err, err
        assert err.count("\n") == 1
        assert not out.exists()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    status, _, err = run("report", trained, "-o", out)
    assert status == 2
    assert "pip install 'seqpa[report]'" in err


# Text is text


def test_json_in_a_script_ends_no_script() -> None:
    evil = ["</script><script>x()</script>", "<!--", "\u2028", "\ud800", "&lt;"]
    text = script_json(evil)
    assert not set("<>&") & set(text)
    assert text.isascii()
    assert json.loads(text) == evil


def test_text_in_a_card_is_text() -> None:
    assert plain("a\n# b <img>") == "a \\# b \\<img\\>"
