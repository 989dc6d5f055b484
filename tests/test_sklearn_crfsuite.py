"""sklearn-crfsuite's tutorial, its constructor's arguments included, with one import changed."""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sequence_cases import TAGS, WORDS, features
from sklearn.base import clone
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import RandomizedSearchCV

from seqpa import SeqpaError, SequenceTagger
from seqpa.sklearn_crfsuite import CRF

X = [features(sentence) for sentence in WORDS]


def flat_f1(gold: list[list[str]], predicted: list[list[str]], labels: list[str]) -> float:
    flat = [[label for labels in lists for label in labels] for lists in (gold, predicted)]
    return float(f1_score(*flat, average="weighted", labels=labels))


def test_the_tutorial_runs_as_it_is() -> None:
    crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
    with pytest.warns(UserWarning, match="'lbfgs'.*'pa-i'.*c1, c2"):
        crf.fit(X, TAGS)
    labels = list(crf.classes_)
    assert flat_f1(TAGS, crf.predict(X), labels) == 1.0
    scorer = make_scorer(flat_f1, labels=labels)
    search = RandomizedSearchCV(
        crf, {"c1": [0.1, 0.5], "c2": [0.01, 0.05]}, cv=2, n_iter=2, scoring=scorer
    )
    with pytest.warns(UserWarning, match="no effect"):
        search.fit(X * 2, TAGS * 2)
    assert search.best_estimator_.predict(X) == TAGS
    assert float(f"{search.best_estimator_.size_ / 1000000:0.4f}") > 0
    (before, after), weight = Counter(crf.transition_features_).most_common(1)[0]
    assert {before, after} <= set(labels)
    (attribute, label), weight = Counter(crf.state_features_).most_common()[-1]
    assert attribute in crf.attributes_
    assert crf.num_attributes_ == len(crf.attributes_)
    assert label in labels
    assert weight < 0
    assert crf.score(X, TAGS) == 1.0
    assert crf.predict_single(X[0]) == TAGS[0]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"algorithm": "pa"}, {"algorithm": "pa-i", "C": 1.0}),
        ({"algorithm": "pa", "pa_type": 0}, {"algorithm": "pa"}),
        ({"algorithm": "pa", "pa_type": 2, "c": 0.3}, {"algorithm": "pa-ii", "C": 0.3}),
        (
            {"algorithm": "pa", "error_sensitive": False, "averaging": False},
            {"algorithm": "pa-i", "C": 1.0, "cost": "zero-one", "average": False},
        ),
        ({"algorithm": "ap", "min_freq": 1.5}, {"algorithm": "perceptron", "cutoff": 2}),
        ({"algorithm": "arow", "gamma": 4.0}, {"algorithm": "arow", "C": 0.125}),
    ],
)
def test_online_trainers_mean_the_same(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    crf = CRF(max_iterations=3, random_state=1, **theirs).fit(X, TAGS)
    tagger = SequenceTagger(epochs=3, random_state=1, **ours).fit(X, TAGS)
    assert crf.state_features_ == tagger.state_features_
    assert crf.transition_features_ == tagger.transition_features_


def test_every_argument_of_theirs_is_taken() -> None:
    theirs = pytest.importorskip("sklearn_crfsuite").CRF
    assert set(inspect.signature(theirs).parameters) <= set(inspect.signature(CRF).parameters)


def test_a_model_has_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "model.crfsuite")
    with pytest.raises(SeqpaError, match="not trained"):
        CRF(model_filename=path).predict(X)
    crf = CRF(algorithm="pa", model_filename=path, random_state=1).fit(X, TAGS)
    assert crf.size_ == Path(path).stat().st_size
    again = CRF(model_filename=path)
    assert again.predict(X) == TAGS
    assert again.state_features_ == crf.state_features_


def test_a_dev_set_and_progress(capsys: pytest.CaptureFixture[str]) -> None:
    crf = CRF(algorithm="ap", max_iterations=4, verbose=True, random_state=1)
    crf.fit(X, TAGS, X[:1], TAGS[:1])
    assert crf.tagger_.n_iter_ <= 4
    assert capsys.readouterr().out.count("epoch") == 4


def test_what_is_not_there_is_said() -> None:
    crf = CRF(algorithm="pa")
    assert clone(crf).get_params() == crf.get_params()
    assert not hasattr(crf, "state_features_")
    with pytest.raises(SeqpaError, match="not trained"):
        crf.predict(X)
    crf.fit(X, TAGS)
    marginals = crf.predict_marginals(X)
    assert marginals == crf.tagger_.predict_marginals(X)
    assert crf.predict_marginals_single(X[0]) == marginals[0]
    for wrong in ({"algorithm": "newton"}, {"algorithm": "pa", "pa_type": 3}):
        with pytest.raises(SeqpaError, match="choose lbfgs"):
            CRF(**wrong).fit(X, TAGS)  # type: ignore[arg-type]
