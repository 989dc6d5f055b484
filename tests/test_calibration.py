"""The scale of probabilities: fitted, kept, and measured."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from names_in_context import text

import seqpa.sequence.tagger as tagger_module
from seqpa import SeqpaError, SequenceTagger
from seqpa.array_files import write_file
from seqpa.calibration import (
    expected_calibration_error,
    reliability,
    selective,
    selective_accuracy,
    sentence_confidence,
    span_outcomes,
    token_outcomes,
)
from seqpa.data import Corpus
from seqpa.errors import SeqpaWarning
from seqpa.evaluate import evaluate
from seqpa.model import read_model
from seqpa.sequence.marginals import Probabilities
from seqpa.sequence.scale import highest

LABELS = ["O", "B-x", "I-x"]


def noisy(n: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
    """Words of which some are labelled one way, some either way, by chance."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = rng.integers(0, 40, 6).tolist()
        X.append([f"w{word}" for word in words])
        labels = [LABELS[int(rng.random() < word / 40)] for word in words]
        y.append(labels)
    return X, y


X, Y = noisy(300, 0)
DEV, DEV_Y = noisy(150, 1)
TEST, TEST_Y = noisy(200, 2)


def error(tagger: SequenceTagger) -> float:
    return expected_calibration_error(
        *token_outcomes(TEST_Y, tagger.predict_with_probability(TEST))
    )


def test_calibrated_probabilities_are_shares() -> None:
    plain = SequenceTagger(["word[0]"], random_state=0, epochs=3).fit(X, Y)
    assert plain.probability_scale_ == 1.0
    before = error(plain)
    assert error(plain.calibrate(DEV, DEV_Y)) < min(0.06, before)
    on_dev = SequenceTagger(["word[0]"], random_state=0, epochs=3).fit(X, Y, (DEV, DEV_Y))
    assert on_dev.probability_scale_ != 1.0
    crossed = SequenceTagger(["word[0]"], random_state=0, epochs=3, calibration="cv")
    said: list[str] = []
    assert len(list(crossed.training(X, Y, told=said.append))) == 3
    assert said == ["fitting probabilities: 5 trainings on parts of the text"]
    assert error(crossed) < 0.06
    assert crossed.trained_.weights.arena.tolist() == plain.trained_.weights.arena.tolist()
    none = SequenceTagger(["word[0]"], calibration="none", epochs=3).fit(X, Y, (DEV, DEV_Y))
    assert none.probability_scale_ == 1.0


def test_the_scale_is_where_the_labels_are_most_probable() -> None:
    tagger = SequenceTagger(["word[0]", "word[-1]"], random_state=0, epochs=2).fit(X, Y)
    tagger.calibrate(DEV, DEV_Y)
    encoded, decoder = tagger._tagging().prepared(DEV)
    index = {label: k for k, label in enumerate(tagger.classes_)}
    gold = np.array([index.get(label, -1) for labels in DEV_Y for label in labels], np.int32)

    def value(scale: float) -> float:
        return Probabilities(decoder, scale).likelihood(encoded, gold)

    grid = np.geomspace(0.01, 100, 400)
    best = grid[np.argmax([value(scale) for scale in grid])]
    assert tagger.probability_scale_ == pytest.approx(best, rel=0.05)


@pytest.mark.parametrize("peak", [-40.0, -7.3, 0.0, 0.4, 5.5, 29.9])
def test_the_search_finds_the_peak(peak: float) -> None:
    found = highest(lambda x: -abs(x - peak))
    assert found == pytest.approx(max(peak, -30.5), abs=0.6 if peak < -30 else 0.03)


def test_labels_that_are_all_right_give_no_certainty() -> None:
    clean = [["A" if word < "w3" else "B" for word in tokens] for tokens in X]
    tagger = SequenceTagger(["word[0]"], algorithm="pa", average=False, random_state=0)
    tagger.fit(X, clean).calibrate(X, clean)
    assert tagger.score(X, clean) == 1.0
    encoded, decoder = tagger._tagging().prepared(X)
    gold = np.array([int(label == "B") for labels in clean for label in labels], np.int32)
    told = Probabilities(decoder, tagger.probability_scale_).likelihood(encoded, gold)
    assert told == pytest.approx(-1.0, abs=0.3)


def test_the_scale_goes_where_the_weights_go(tmp_path: Path) -> None:
    tagger = SequenceTagger(["word[0]"], random_state=0, epochs=2).fit(X, Y, (DEV, DEV_Y))
    scale = tagger.probability_scale_
    tagger.save(tmp_path / "model")
    loaded = SequenceTagger.load(tmp_path / "model")
    copied = pickle.loads(pickle.dumps(tagger))
    for one in (loaded, copied):
        assert one.probability_scale_ == scale
        assert one.predict_marginals(TEST[:5]) == tagger.predict_marginals(TEST[:5])
        one.learn_one(["w1"], ["O"])
        assert one.probability_scale_ == scale
        assert one.trained_.scale == scale
    tagger.save_state(tmp_path / "state")
    again = SequenceTagger(["word[0]"], random_state=0, epochs=2).load_state(tmp_path / "state")
    assert again.probability_scale_ == scale
    assert tagger.fit(X, Y).probability_scale_ == 1.0  # other weights


@pytest.mark.parametrize("scale", [0, -1.0, 1e300, "2", True, [1.0]])
def test_a_scale_that_none_can_be_is_refused(tmp_path: Path, scale: Any) -> None:
    SequenceTagger(["word[0]"]).fit([["a"]], [["A"]]).save(tmp_path / "model")
    model = read_model(tmp_path / "model")
    header = {name: value for name, value in model.header.items() if name != "checksum"}
    arrays = {name: array.copy() for name, array in model.arrays.items()}
    write_file(tmp_path / "other", "model", {**header, "scale": scale}, arrays)
    with pytest.raises(SeqpaError, match="its scale is"):
        SequenceTagger.load(tmp_path / "other")
    del header["scale"]  # as earlier versions wrote it
    write_file(tmp_path / "earlier", "model", header, arrays)
    assert SequenceTagger.load(tmp_path / "earlier").probability_scale_ == 1.0


def test_labels_that_are_missing_new_or_illegal() -> None:
    tagger = SequenceTagger(["word[0]"], random_state=0, epochs=2).fit(X, Y)
    some: list[list[str | None]] = [[None, *labels[1:5], "new"] for labels in DEV_Y]
    assert tagger.calibrate(DEV, some).probability_scale_ > 0
    tagger.set_params(constraints={"forbidden": [["B-x", "B-x"]]})
    assert tagger.calibrate(DEV, DEV_Y).probability_scale_ > 0
    for labels in (None, "new"):
        with pytest.raises(SeqpaError, match="no label to calibrate with"):
            tagger.calibrate([["w1"]], [[labels]])
    with pytest.raises(SeqpaError, match="not two sentences"):
        tagger.calibrate([["w1"]], [["O"]], folds=2)
    with pytest.raises(SeqpaError, match="folds is 1"):
        tagger.calibrate(DEV, DEV_Y, folds=1)
    with pytest.raises(SeqpaError, match="calibration is 'test': choose dev, cv, none"):
        SequenceTagger(["word[0]"], calibration="test").fit(X, Y)


def test_a_corpus_is_cut_into_folds_as_lists_are() -> None:
    a, b = (SequenceTagger(["word[0]"], random_state=0, epochs=2).fit(X, Y) for _ in range(2))
    a.calibrate(X, Y, folds=3)
    b.calibrate(Corpus.from_sentences(X, Y), folds=3)
    assert a.probability_scale_ == b.probability_scale_ != 1.0


def test_the_parts_of_a_text_keep_their_documents() -> None:
    X, y = text(1, 300)
    documents = [i // 50 for i in range(300)]
    templates = ["word[0]", "word[-1]", "elsewhere(lower, -1)", "elsewhere(number)"]
    told: dict[str, Any] = {"epochs": 2, "random_state": 0, "calibration": "cv"}
    lists = SequenceTagger(templates, **told).fit(X, y, documents=documents)
    corpus = Corpus.from_sentences(X, y, documents=documents)
    scale = lists.probability_scale_
    assert SequenceTagger(templates, **told).fit(corpus).probability_scale_ == scale
    assert lists.calibrate(X, y, folds=5).probability_scale_ != scale  # documents matter here
    assert lists.calibrate(X, y, folds=5, documents=documents).probability_scale_ == scale
    held, held_y = text(2, 300)
    of_lists = lists.calibrate(held, held_y, documents=documents).probability_scale_
    of_corpus = lists.calibrate(Corpus.from_sentences(held, held_y, documents=documents))
    assert of_corpus.probability_scale_ == of_lists


def test_columns_that_are_predicted_are_predicted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts have the columns of the training text: the right ones are not there any more."""
    pos = SequenceTagger(["word[0]"], random_state=0, epochs=2).fit(X, Y)
    with_pos = [list(zip(*both, strict=True)) for both in zip(X, Y, strict=True)]
    asked = []
    completed = tagger_module.completed
    monkeypatch.setattr(
        tagger_module, "completed", lambda *given: asked.append(1) or completed(*given)
    )
    made = {"columns": ("word", "pos"), "taggers": {"pos": pos}, "epochs": 2, "random_state": 0}
    tagger = SequenceTagger(["word[0]", "pos[0]"], calibration="cv", **made)
    scale = tagger.fit(with_pos, Y).probability_scale_
    assert len(asked) == 1
    assert tagger.calibrate(with_pos, Y, folds=5).probability_scale_ == scale
    assert len(asked) == 2
    corpus = Corpus.from_sentences(with_pos, Y, ("word", "pos"))  # whose labels are its own
    assert tagger.fit(corpus).probability_scale_ == scale


def test_a_dev_set_of_other_labels_costs_no_training() -> None:
    other = [["Q"] * len(labels) for labels in DEV_Y]
    tagger = SequenceTagger(["word[0]"], random_state=0, epochs=2)
    with pytest.warns(SeqpaWarning, match="1 label of the dev set is not in the training data"):
        tagger.fit(X, Y, (DEV, other))
    assert tagger.probability_scale_ == 1.0
    assert tagger.trained_.scale is None
    with pytest.raises(SeqpaError, match="by parts of the text: stages=2 needs at least two"):
        SequenceTagger(["word[0]"], stages=2, calibration="cv").fit(X[:2], Y[:2])


outcomes = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


@given(outcomes, st.integers(1, 20))
def test_measures_against_their_definitions(told: Any, bins: int) -> None:
    p, right = [own[0] for own in told], [own[1] for own in told]
    found = reliability(p, right, bins)
    assert sum(own.answers for own in found) == len(p)
    total = 0.0
    for k in range(bins):
        own = [i for i, x in enumerate(p) if min(int(x * bins), bins - 1) == k]
        if own:
            gap = sum(right[i] for i in own) / len(own) - sum(p[i] for i in own) / len(own)
            total += abs(gap) * len(own) / len(p)
    assert expected_calibration_error(p, right, bins) == pytest.approx(total, abs=1e-12)
    curve = selective_accuracy(p, right, points=5)
    assert curve[-1].share == 1.0
    assert curve[-1].score == pytest.approx(sum(right) / len(right))
    for point in curve:
        n = round(point.share * len(p))
        order = sorted(range(len(p)), key=lambda i: -p[i])[:n]
        assert point.score == pytest.approx(sum(right[i] for i in order) / n)
        assert point.threshold == p[order[-1]]


def test_selective_scores_are_those_of_evaluate() -> None:
    tagger = SequenceTagger(["word[0]", "word[-1]"], random_state=0, epochs=2).fit(X, Y)
    told = tagger.calibrate(DEV, DEV_Y).predict_with_probability(TEST)
    predicted = [[label for label, _ in own] for own in told]
    assert predicted == tagger.predict(TEST)
    sure = sentence_confidence(told)
    curve = selective(TEST_Y, predicted, sure, points=4)
    for point in curve:
        n = round(point.share * len(TEST))
        own = np.argsort(-sure, kind="stable")[:n]
        scores = evaluate([TEST_Y[i] for i in own], [predicted[i] for i in own]).span_micro
        assert scores is not None
        assert point.score == pytest.approx(scores.f1)
    assert curve[0].score > curve[-1].score
    tags = [["A" if label == "O" else "B" for label in labels] for labels in TEST_Y]
    other = [["A" if label == "O" else "B" for label in labels] for labels in predicted]
    assert selective(tags, other, sure, points=1)[0].score == pytest.approx(
        evaluate(tags, other).accuracy
    )
    probabilities, right = span_outcomes(TEST_Y, tagger.predict_proba_spans(TEST))
    assert expected_calibration_error(probabilities, right) < 0.1


def test_labels_that_nobody_knows_are_left_out() -> None:
    gold = [["B-x", None, "O", "B-y"], [None, "O"], ["B-x", "I-x", "O"]]
    found = [["B-x", "I-x", "O", "B-x"], ["B-x", "O"], ["B-x", "I-x", "O"]]
    told = [[(label, 0.5) for label in own] for own in found]
    assert token_outcomes(gold, told)[1].tolist() == [True, True, False, True, *[True] * 3]
    spans = [[("x", 0, 2, 0.9), ("x", 3, 4, 0.8)], [("x", 0, 1, 0.7)], [("x", 0, 2, 0.6)]]
    probabilities, right = span_outcomes(gold, spans)
    assert probabilities.tolist() == [0.8, 0.6]
    assert right.tolist() == [False, True]
    everything = selective(gold, found, [0.3, 0.2, 0.1], points=1)[-1]
    known = [["B-x", "O", "B-y"], ["O"], ["B-x", "I-x", "O"]]
    scored = [["B-x", "O", "B-x"], ["O"], ["B-x", "I-x", "O"]]
    assert everything.score == evaluate(known, scored).span_micro.f1


def test_bad_numbers_are_told() -> None:
    with pytest.raises(SeqpaError, match="no number from 0 to 1"):
        reliability([1.5], [True])
    with pytest.raises(SeqpaError, match="one number for each"):
        reliability([0.5], [True, False])
    with pytest.raises(SeqpaError, match="no answer"):
        expected_calibration_error([], [])
    with pytest.raises(SeqpaError, match="bins is 0"):
        reliability([0.5], [True], 0)
    with pytest.raises(SeqpaError, match="points is True"):
        selective_accuracy([0.5], [True], True)
    with pytest.raises(SeqpaError, match="1 sentences with right labels"):
        selective([["A"]], [], [])
    with pytest.raises(SeqpaError, match="no sentence"):
        selective([], [], [])
