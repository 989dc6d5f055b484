"""Labels that are not given, and weights of sentences: what taggers make of them.

That the weights are those of the dictionary trainer stands in test_sequence_learning.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sequence_cases import TAGS, TEMPLATES, WORDS, weights

from seqpa import SeqpaError, SequenceTagger
from seqpa.cli import main
from seqpa.config import load_config
from seqpa.data import Corpus
from seqpa.training_run import TrainingRun

X, Y = WORDS * 3, TAGS * 3
UPDATES = ["prediction-based", "near-max-loss", "loss-augmented", "n-best"]


def tagger(**parameters: Any) -> SequenceTagger:
    return SequenceTagger(TEMPLATES, random_state=3, epochs=4, **parameters)


def hidden(share: float, seed: int = 0) -> list[list[str | None]]:
    rng = np.random.default_rng(seed)
    return [[None if rng.random() < share else label for label in labels] for labels in Y]


@pytest.mark.parametrize("batch_size", [1, 3])
def test_some_labels_teach_the_others(batch_size: int) -> None:
    learned = tagger(batch_size=batch_size, C=0.1).fit(X, hidden(0.4))
    assert learned.classes_ == ["D", "N", "V"]
    assert learned.predict(WORDS) == TAGS


@pytest.mark.parametrize("update", UPDATES)
def test_no_step_where_the_labels_given_are_predicted(update: str) -> None:
    learned = tagger(update=update, average=False, C=10.0)
    for _ in range(20):
        learned.partial_fit(WORDS, TAGS)
    before = weights(learned)
    for tokens, labels in zip(WORDS, TAGS, strict=True):
        lesson = learned.learn_one(tokens, [labels[0], *[None] * (len(labels) - 1)])
        assert (lesson.wrong_tokens, lesson.cost) == (0, 0.0)
        assert lesson.predicted == labels
        nothing = learned.learn_one(tokens, [None] * len(tokens))
        assert (nothing.loss, nothing.tau) == (0.0, 0.0)
    if update == "prediction-based":
        assert weights(learned) == before


def test_costs_count_the_labels_given_alone() -> None:
    learned = SequenceTagger(["word[0]"], average=False, algorithm="pa")
    learned.learn_one(["a", "b", "c"], ["A", "B", "C"])
    while lesson := learned.learn_one(["c", "b", "a"], ["A", None, "B"]):
        wrong = (lesson.predicted[0] != "A") + (lesson.predicted[2] != "B")
        assert (lesson.wrong_tokens, lesson.cost) == (wrong, wrong)
        if not wrong:
            break
    assert lesson.predicted[1] == "B"


def test_a_cost_function_sees_the_prediction_where_no_label_is_given() -> None:
    asked: list[tuple[list[str], list[str]]] = []

    def cost(gold: list[str], predicted: list[str]) -> float:
        asked.append((gold, predicted))
        return 1.0

    learned = SequenceTagger(["word[0]"], cost=cost, average=False)
    learned.learn_one(["a", "b"], ["A", "B"])
    learned.learn_one(["b", "a", "b"], [None, "B", None])
    for gold, predicted in asked:
        assert len(gold) == len(predicted)
    assert asked[-1][0][::2] == asked[-1][1][::2]
    assert asked[-1][0][1] == "B"


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from(UPDATES), st.booleans())
def test_all_labels_given_is_the_usual_training(seed: int, update: str, average: bool) -> None:
    """Bit for bit: a sentence without any label changes nothing but the clock and the features."""
    rng = np.random.default_rng(seed)
    y = [[str(rng.choice(["D", "N", "V"])) for _ in labels] for labels in TAGS]
    both = [SequenceTagger(TEMPLATES, update=update, average=False) for _ in range(2)]
    for tokens, labels in zip(WORDS, y, strict=True):
        both[0].learn_one(tokens, labels)
        both[1].learn_one(tokens, labels)
        both[1].learn_one(tokens[::-1], [None] * len(tokens))
    assert weights(both[0]) == weights(both[1])


def test_labels_that_no_legal_sequence_has_are_refused() -> None:
    rules = {"required": {"D": ["N"]}}
    with pytest.raises(SeqpaError, match="sentence 2: no label sequence with the labels given"):
        tagger(constraints=rules).fit(
            [["a", "b"], ["the", "big", "dog"]],
            [["D", "N"], ["D", "V", None]],
        )
    fine = tagger(constraints=rules).fit([["a", "b"], ["the", "dog"]], [["D", "N"], ["D", None]])
    assert fine.predict([["the", "dog"]]) == [["D", "N"]]


def test_labels_are_needed_somewhere() -> None:
    with pytest.raises(SeqpaError, match="every label is None"):
        tagger().fit([["a", "b"]], [[None, None]])
    with pytest.raises(SeqpaError, match="every label is None"):
        tagger().learn_one(["a"], [None])
    with pytest.raises(SeqpaError, match="the dev set: there is no token to score"):
        tagger().fit(WORDS, TAGS, dev=(WORDS[:1], [[None] * len(TAGS[0])]))
    with pytest.raises(SeqpaError, match="there is no token to score"):
        tagger().fit(WORDS, TAGS).score([["a"]], [[None]])


def test_scores_leave_out_tokens_without_a_label() -> None:
    trained = tagger().fit(WORDS, TAGS, dev=(WORDS[:2], [TAGS[0], [None] * 5]))
    wrong = [label + "?" for label in TAGS[0]]
    assert trained.score(WORDS[:1], [TAGS[0]]) == 1.0
    assert trained.score(WORDS[:1], [[wrong[0], *TAGS[0][1:]]]) == 1 - 1 / len(wrong)
    assert trained.score(WORDS[:1], [[None, *TAGS[0][1:]]]) == 1.0


# Weights of sentences


@pytest.mark.parametrize("algorithm", ["pa-i", "pa-ii", "arow"])
@pytest.mark.parametrize("batch_size", [1, 2])
def test_one_weight_for_all_is_another_C(algorithm: str, batch_size: int) -> None:
    if batch_size > 1 and algorithm == "arow":
        pytest.skip("AROW has no mini-batches")
    scaled = tagger(algorithm=algorithm, C=0.1, batch_size=batch_size)
    scaled.fit(X, Y, sample_weight=[0.5] * len(X))
    plain = tagger(algorithm=algorithm, C=0.05, batch_size=batch_size).fit(X, Y)
    assert weights(scaled) == weights(plain)


def test_a_sentence_of_no_weight_is_left_out() -> None:
    wrong = [["V"] * len(labels) for labels in TAGS]
    both = WORDS + WORDS
    weighted = tagger(shuffle=False).fit(both, TAGS + wrong, sample_weight=[1] * 4 + [0] * 4)
    assert weights(weighted) == weights(tagger(shuffle=False).fit(WORDS, TAGS))
    online = tagger().partial_fit(both, TAGS + wrong, sample_weight=[1] * 4 + [0] * 4)
    assert weights(online) == weights(tagger().partial_fit(WORDS, TAGS))


def test_lessons_have_weights() -> None:
    together = tagger().partial_fit(WORDS, TAGS, sample_weight=[2, 1, 0.5, 3])
    apart = tagger()
    apart.partial_fit([["x", "y", "z"]], [["D", "N", "V"]])  # so that the labels are known
    again = tagger()
    again.partial_fit([["x", "y", "z"]], [["D", "N", "V"]])
    again.partial_fit(WORDS, TAGS, sample_weight=[2, 1, 0.5, 3])
    for tokens, labels, weight in zip(WORDS, TAGS, [2, 1, 0.5, 3], strict=True):
        apart.learn_one(tokens, labels, weight=weight)
    assert weights(apart) == weights(again)
    assert weights(together) != weights(tagger().partial_fit(WORDS, TAGS))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], "shape"),
        ([1.0, -1.0, 1.0, 1.0], "zero or above"),
        ([np.nan, 1.0, 1.0, 1.0], "finite"),
        ([1e300, 1.0, 1.0, 1.0], r"up to 1e\+15"),
        ([0.0] * 4, "only zeros"),
        (["a", 1, 1, 1], "a number for each sentence"),
    ],
)
def test_bad_weights_are_refused(weight: Any, message: str) -> None:
    for learn in (tagger().fit, tagger().partial_fit):
        with pytest.raises(SeqpaError, match=message):
            learn(WORDS, TAGS, sample_weight=weight)


def test_steps_without_C_take_no_weights() -> None:
    with pytest.raises(SeqpaError, match="scales C, which 'pa' does not use"):
        tagger(algorithm="pa").fit(WORDS, TAGS, sample_weight=[1, 2, 3, 4])
    tagger(algorithm="pa").learn_one(WORDS[0], TAGS[0], weight=1.0)
    with pytest.raises(SeqpaError, match="zeros"):
        tagger().learn_one(WORDS[0], TAGS[0], weight=0.0)


def test_training_goes_on_with_the_same_weights_of_sentences_only(tmp_path: Path) -> None:
    each = np.linspace(0.5, 2.0, len(X))
    begun = tagger()
    epochs = begun.training(X, Y, sample_weight=each)
    next(epochs)
    begun.save_state(tmp_path / "state")
    with pytest.raises(SeqpaError, match="saved on other data"):
        tagger().load_state(tmp_path / "state").fit(X, Y)
    again = tagger().load_state(tmp_path / "state").fit(X, Y, sample_weight=each)
    assert weights(again) == weights(tagger().fit(X, Y, sample_weight=each))


# Files


def test_a_mark_in_a_file_stands_for_no_label(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    y = hidden(0.4)
    lines = [
        "".join(f"{w} {label or '?'}\n" for w, label in zip(tokens, labels, strict=True))
        for tokens, labels in zip(X, y, strict=True)
    ]
    (tmp_path / "a.conll").write_text("\n".join(lines))
    (tmp_path / "c.yaml").write_text(
        "data: {train: a.conll, unlabelled: '?'}\n"
        "features: {templates: ['word[0]', 'word[-1]', 'suffix(2)[0]']}\n"
        "learner: {epochs: 4, seed: 3}\n"
        "output: {model: m.safetensors}\n"
    )
    run = TrainingRun(load_config(tmp_path / "c.yaml"))
    assert len(list(run.epochs())) == 4
    run.finish()
    assert run.tagger.classes_ == ["D", "N", "V"]
    assert weights(run.tagger) == weights(tagger().fit(Corpus.from_sentences(X), y))
    # `seqpa evaluate` knows the mark, too.
    assert main(["evaluate", str(tmp_path / "m.safetensors"), str(tmp_path / "a.conll")]) == 0
    known = sum(label is not None for labels in y for label in labels)
    told = capsys.readouterr()
    assert f"({known} tokens)" in told.out
    assert "?" not in told.out + told.err
    with pytest.raises(SeqpaError, match="all labels"):
        TrainingRun(load_config(tmp_path / "c.yaml"), with_certificate=True)
    with pytest.raises(SeqpaError, match="leave out scheme or unlabelled"):
        load_config(tmp_path / "c.yaml", ["data.scheme=iob2"])
