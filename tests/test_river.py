"""`seqpa.river`: river's own checks, and river's company."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

pytest.importorskip("river", reason="river is not installed")

from river import checks, compose, datasets, evaluate, metrics, preprocessing
from sklearn.base import clone

import seqpa
from seqpa import river as faces

MODELS = [
    faces.PAClassifier(),
    faces.PAClassifier(average=True, fit_intercept=True, multiclass="one-vs-rest"),
    faces.PAMultilabelClassifier(),
    faces.PARegressor(),
    faces.PARegressor(average=True, variant="PA-II"),
    faces.PAUniclass(),
    faces.PAUniclass(learn_radius=True, init="first"),
    faces.PerceptronClassifier(),
    faces.HingeClassifier(),
    faces.MIRAClassifier(),
    faces.MiniBatchPAClassifier(),
    faces.EllipsoidClassifier(shape="diagonal"),
]


class Payments:
    """In place of river's CreditCard, which it downloads: rare ones that lie far from the rest.

    They are less rare than with river, so that a quarter of its thousands has enough of them.
    """

    def take(self, n: int):
        rng = np.random.default_rng(4)
        for _ in range(n // 4):
            odd = bool(rng.random() < 0.03)
            values = rng.normal(4.0 if odd else 0.0, 1.0, 12)
            yield {f"V{i}": float(value) for i, value in enumerate(values)}, odd


class Songs:
    """In place of river's Music, which it downloads: moods that have to do with the sounds."""

    def take(self, n: int):
        rng = np.random.default_rng(5)
        W = rng.normal(size=(10, 4))
        for _ in range(n):
            values = rng.normal(size=10)
            moods = dict(zip(("happy", "calm", "sad", "angry"), values @ W > 0, strict=True))
            x = {f"sound {i}": float(value) for i, value in enumerate(values)}
            yield x, {name: bool(holds) for name, holds in moods.items()}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_river_s_own_checks(model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "CreditCard", Payments)
    monkeypatch.setattr(datasets, "Music", Songs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks.check_estimator(model)


def test_in_a_pipeline_with_a_metric() -> None:
    model = compose.Pipeline(preprocessing.StandardScaler(), faces.PAClassifier(C=0.01))
    metric = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert metric.get() > 0.85
    many = preprocessing.StandardScaler() | faces.PAClassifier(C=0.1)
    stream = datasets.ImageSegments()
    assert evaluate.progressive_val_score(stream, many, metrics.Accuracy()).get() > 0.75


@pytest.mark.parametrize("mode", [1, 2])
def test_weights_are_river_s(mode: int) -> None:
    """Without an intercept, which river leaves out of the norm."""
    from river import linear_model

    theirs = linear_model.PAClassifier(C=0.05, mode=mode, learn_intercept=False)
    ours = faces.PAClassifier(C=0.05, variant="PA-I" if mode == 1 else "PA-II")
    for x, y in itertools.islice(datasets.Phishing(), 300):
        scores = ours.scores_one(x)
        if scores and abs(scores[True]) > 1e-9:  # ties are broken by rounding
            assert ours.predict_one(x) == theirs.predict_one(x)
        theirs.learn_one(x, y)
        ours.learn_one(x, y, classes=[False, True])
    weights = {name: ours.coef_[0, at] for name, at in ours.feature_index_.items()}
    assert weights == pytest.approx({name: theirs.weights[name] for name in weights})


def test_faces_are_the_estimators_themselves() -> None:
    model = faces.PAClassifier(C=0.3)
    assert isinstance(model, seqpa.PAClassifier)
    assert clone(model).get_params() == model.get_params() == model.clone().get_params()
    shares = model.predict_proba_one({"a": 1.0})
    assert shares == {}
    for y in ("b", "c", "a"):
        model.learn_one({y: 1.0}, y)
    shares = model.predict_proba_one({"c": 1.0})
    assert list(shares) == ["a", "b", "c"]
    assert sum(shares.values()) == pytest.approx(1.0)
    assert max(shares, key=shares.get) == "c"


def test_a_tagger_in_river_s_company() -> None:
    """Sentence by sentence, the same as seqpa's own; clones know nothing."""
    from river import base

    sentences = [(["so", "it", "is"], ["A", "P", "V"]), (["it", "is"], ["P", "V"])] * 3
    mine = faces.SequenceTagger(["word[0]"], C=0.1)
    own = seqpa.SequenceTagger(["word[0]"], C=0.1, average=False)
    assert isinstance(mine, base.Estimator)
    assert mine.predict_one(["so"]) == [None]
    for tokens, labels in sentences:
        assert mine.learn_one(tokens, labels) == own.learn_one(tokens, labels)
        assert mine.predict_one(tokens) == own.predict_one(tokens)
    assert mine.state_features_ == own.state_features_
    again = mine.clone()
    assert again.predict_one(["so"]) == [None]
    assert again.get_params() == mine.get_params()
    assert mine.clone({"C": 0.5}).C == 0.5
