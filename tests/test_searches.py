"""Taggers and corpora in scikit-learn's searches; what Python users see of a tagger on the way."""

from __future__ import annotations

import functools
import pickle
import re

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split

from seqpa import PAClassifier, SequenceTagger
from seqpa.data import Corpus
from seqpa.errors import NotTrainedError, SeqpaError, SeqpaWarning
from seqpa.evaluate import (
    evaluate,
    label_f1_scorer,
    sentence_accuracy_scorer,
    span_f1_scorer,
)

X = [
    [("Ada", "NNP"), ("Norvell", "NNP"), ("won", "VBD")],
    [("rain", "NN"), ("fell", "VBD"), ("in", "IN"), ("Lyon", "NNP")],
    [("she", "PRP"), ("saw", "VBD"), ("Ada", "NNP")],
] * 8
Y = [["B-PER", "I-PER", "O"], ["O", "O", "O", "B-LOC"], ["O", "O", "B-PER"]] * 8
CORPUS = Corpus.from_sentences(X, Y, ("word", "pos"))
TAGGER = SequenceTagger(["word[0]", "pos[0]"], ("word", "pos"), epochs=2, random_state=1)


# Searches


@pytest.mark.parametrize("scorer", [span_f1_scorer, label_f1_scorer, sentence_accuracy_scorer])
def test_a_corpus_is_split_as_its_sentences_are(scorer) -> None:
    ways = [
        cross_val_score(TAGGER, CORPUS, cv=KFold(3), scoring=scorer),
        cross_val_score(TAGGER, CORPUS, CORPUS.y, cv=KFold(3), scoring=scorer),
        cross_val_score(TAGGER, X, Y, cv=KFold(3), scoring=scorer),
    ]
    assert len(ways[0]) == 3
    assert np.array_equal(ways[0], ways[1])
    assert np.array_equal(ways[0], ways[2])
    assert np.isfinite(ways[0]).all()


def test_a_grid_over_a_corpus() -> None:
    search = GridSearchCV(TAGGER, {"C": [0.01, 1.0]}, scoring=span_f1_scorer, cv=2).fit(CORPUS)
    assert search.best_estimator_.predict(CORPUS) == Y
    # Columns go by name, in the parts too: this tagger looks at one of the two.
    one = SequenceTagger(["word[0]"], random_state=1, epochs=2)
    assert GridSearchCV(one, {"C": [0.1, 1.0]}, cv=2).fit(CORPUS).best_score_ > 0.5


def test_corpora_are_cut_in_two() -> None:
    train, test = train_test_split(CORPUS, test_size=6, random_state=1)
    assert isinstance(train, Corpus)
    assert (len(train), len(test)) == (18, 6)
    assert test.names == ("word", "pos")
    order = np.random.default_rng(1).permutation(len(CORPUS))
    taken = CORPUS.take(order)
    assert [X[i] for i in order] == taken.X
    assert [Y[i] for i in order] == taken.y
    assert X[3:20:4] == CORPUS[3:20:4].X
    assert X[-1:] == CORPUS.take([-1]).X
    assert len(CORPUS.take([])) == 0
    with pytest.raises(SeqpaError, match="axis"):
        CORPUS.take([0], axis=1)
    with pytest.raises(IndexError):
        CORPUS.take([len(CORPUS)])


def test_scorers_are_the_scores_of_evaluate() -> None:
    tagger = SequenceTagger(["pos[0]"], ("word", "pos"), epochs=1, random_state=1).fit(CORPUS)
    found = evaluate(Y, tagger.predict(X))
    assert found.span_micro is not None
    assert span_f1_scorer(tagger, X, Y) == found.span_micro.f1 == span_f1_scorer(tagger, CORPUS)
    assert label_f1_scorer(tagger, CORPUS) == found.label_macro[2]
    assert sentence_accuracy_scorer(tagger, CORPUS) == found.sentence_accuracy


def test_scorers_say_what_they_need() -> None:
    tagger = SequenceTagger(["word[0]"]).fit([["it", "fell"]], [["P", "V"]])
    with pytest.raises(SeqpaError, match="label_f1_scorer"):
        span_f1_scorer(tagger, [["it", "fell"]], [["P", "V"]])
    with pytest.raises(SeqpaError, match="y is missing"):
        label_f1_scorer(tagger, [["it", "fell"]])


# What one sees


def test_a_line_for_each_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    TAGGER.fit(CORPUS, dev=CORPUS)
    assert capsys.readouterr().out == ""
    TAGGER.fit(CORPUS, dev=CORPUS, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["epoch 1/2", "epoch 2/2"]
    assert re.search(r"  dev F1 \d+\.\d\d  ", lines[0])
    words = SequenceTagger(["word[0]"], epochs=1, random_state=1)
    words.fit([["it", "fell"]], [["P", "V"]], dev=([["it"]], [["P"]]), verbose=1)
    assert "  dev accuracy 100.00  " in capsys.readouterr().out


def test_the_metric_stays_the_same_over_the_epochs() -> None:
    """Also where a label that marks no span is predicted in some epochs only."""
    mixed = [["B-PER", "I-PER", "O"], ["O", "O", "O", "X"]]
    epochs = list(TAGGER.training(X[:2], mixed, dev=(X[:1], Y[:1])))
    assert {epoch.dev_metric for epoch in epochs} == {"accuracy"}
    assert {epoch.dev_metric for epoch in TAGGER.training(X, Y, dev=(X, Y))} == {"F1"}


def _note(told: list[tuple[int, int]], done: int, of: int) -> None:
    told.append((done, of))


def test_progress_within_an_epoch_changes_no_bit() -> None:
    sentences, labels = X * 40, Y * 40
    for more in ({}, {"batch_size": 7}, {"update": "n-best", "n_best": 3}):
        plain = SequenceTagger(["word[0]"], epochs=1, random_state=1, columns=("word", "pos"))
        plain.set_params(**more)
        plain.fit(sentences, labels)
        expected = plain.state_features_
        told: list[tuple[int, int]] = []
        progress = functools.partial(_note, told)
        for _ in plain.training(sentences, labels, progress=progress):
            pass
        assert plain.state_features_ == expected
        assert len(told) > 5
        assert told == sorted(told)
        assert {of for _, of in told} == {len(sentences)}


def test_representations_fit_on_a_screen() -> None:
    many = Corpus.from_sentences([["word" * 50] * 1000] * 20, [["N"] * 1000] * 20)
    assert len(repr(many)) < 300
    assert repr(many).startswith("<Corpus: 20 sentences, 20,000 tokens, columns word, 1 label: ")
    assert "Ada/NNP Norvell/NNP won/VBD" in repr(CORPUS)
    assert "no labels" in repr(Corpus.from_sentences([["so"]]))
    assert "\x1b" not in repr(Corpus.from_sentences([["\x1b[2J", "x"]]))
    assert repr(Corpus.from_sentences([])) == (
        "<Corpus: 0 sentences, 0 tokens, columns word, no labels: >"
    )
    tagger = SequenceTagger(
        [f"word[{i}]" for i in range(-9, 9)],
        cost={f"label {i}": {"O": 2.0} for i in range(700)},
        resources={"names": list(map(str, range(10_000)))},
    )
    assert len(repr(tagger)) < 800
    assert repr(SequenceTagger(C=0.5)) == "SequenceTagger(C=0.5)"
    found = evaluate([[f"l{i}" for i in range(682)]], [[f"l{i}" for i in range(682)]])
    assert len(repr(found)) < 200


# Untrained


@pytest.mark.parametrize("kind", [NotFittedError, NotTrainedError, SeqpaError, AttributeError])
def test_untrained_taggers_raise_what_scikit_learn_raises(kind: type[Exception]) -> None:
    with pytest.raises(kind, match="call fit, or load a model"):
        SequenceTagger().predict([["so"]])
    with pytest.raises(kind, match="there is no training state"):
        _ = SequenceTagger().online_mistakes_
    assert not hasattr(SequenceTagger(), "state_features_")


def test_untrained_estimators_too() -> None:
    with pytest.raises(NotFittedError):
        PAClassifier().predict([[1.0]])


def test_the_error_travels_between_processes() -> None:
    with pytest.raises(NotFittedError) as caught:
        SequenceTagger().predict([["so"]])
    copy = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(copy, NotFittedError)
    assert isinstance(copy, NotTrainedError)
    assert str(copy) == str(caught.value)


# Silent things


def test_patience_without_a_dev_set_is_told() -> None:
    tagger = SequenceTagger(["word[0]"], ("word", "pos"), epochs=2, patience=1, random_state=1)
    with pytest.warns(SeqpaWarning, match="patience is 1, but there is no dev set"):
        tagger.fit(CORPUS)
    assert tagger.n_iter_ == 2


def test_labels_of_the_dev_set_alone_are_told() -> None:
    told = "2 labels of the dev set are not in the training data and are never predicted: A, Z"
    with pytest.warns(SeqpaWarning, match=told):
        TAGGER.fit(X, Y, dev=([X[0]], [["A", "O", "Z"]]))
    told = r"1 label of the dev set is not in the training data and is never predicted: A \(1 token"
    with pytest.warns(SeqpaWarning, match=told):
        TAGGER.fit(X, Y, dev=([X[0]], [["A", "O", "O"]]))
