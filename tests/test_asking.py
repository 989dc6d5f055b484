"""Asking for labels: the stochastic margin rule, and the region of disagreement."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize

from seqpa import (
    EllipsoidClassifier,
    HingeClassifier,
    KernelPAClassifier,
    MiniBatchPAClassifier,
    MIRAClassifier,
    PAClassifier,
    PerceptronClassifier,
    SeqpaError,
)

CLASSIFIERS = (
    PAClassifier(C=0.1, fit_intercept=True, random_state=0),
    PAClassifier(C=0.1, fit_intercept=True, average=True, random_state=0),
    KernelPAClassifier("linear", C=0.1, random_state=0),
    MiniBatchPAClassifier(3, C=0.1, random_state=0),
    MIRAClassifier(C=0.1, random_state=0),
    HingeClassifier(random_state=0),
    PerceptronClassifier(random_state=0),
)


def data(classes: int = 3):
    X, y = make_classification(
        600, 8, n_informative=6, n_classes=classes, class_sep=1.5, random_state=4
    )
    return normalize(X), y


def as_dict(x: np.ndarray) -> dict[int, float]:
    return dict(enumerate(x.tolist()))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_the_chance_of_asking_is_that_of_the_rule(model, classes: int) -> None:
    X, y = data(classes)
    model = clone(model).fit(X, y)
    scores = model.decision_function(X[:20])
    ordered = np.sort(scores, axis=1) if scores.ndim == 2 else np.column_stack([0 * scores, scores])
    margins = np.abs(ordered[:, -1] - ordered[:, -2])
    for delta in (0.05, 1.0):
        asked = np.mean([model.query(X[:20], delta) for _ in range(2000)], axis=0)
        np.testing.assert_allclose(asked, delta / (delta + margins), atol=0.05)
    one = np.mean([model.should_ask(as_dict(X[3])) for _ in range(2000)])
    assert one == pytest.approx(1.0 / (1.0 + margins[3]), abs=0.05)


def test_whoever_knows_nothing_asks() -> None:
    for model in (PAClassifier(), EllipsoidClassifier()):
        assert model.should_ask({"a": 1.0})
        assert model.query(np.ones((3, 2))).all()
        model.learn_one({"a": 1.0}, "only")
        assert model.should_ask({"a": 1.0})


def test_asking_changes_nothing_that_is_learned() -> None:
    X, y = data()
    quiet, asking = PAClassifier(random_state=1), PAClassifier(random_state=1)
    asking.fit(X, y).query(X)
    np.testing.assert_array_equal(quiet.fit(X, y).coef_, asking.fit(X, y).coef_)
    again = PAClassifier(random_state=1).fit(X, y)
    np.testing.assert_array_equal(again.query(X), PAClassifier(random_state=1).fit(X, y).query(X))


def test_wrong_rules() -> None:
    X, y = data()
    with pytest.raises(SeqpaError, match="delta=0"):
        PAClassifier().fit(X, y).query(X, delta=0)
    with pytest.raises(SeqpaError, match="one of disagreement, margin"):
        EllipsoidClassifier().fit(X, y).query(X, rule="random")


def test_labels_that_were_asked_for_are_worth_more_than_others() -> None:
    """A fifth of the labels, asked for, teach as much as all; at random they teach less."""
    X, y = data(2)
    asked, rng = [], np.random.default_rng(0)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(600)
        chosen = PAClassifier(C=0.3, fit_intercept=True, average=True, random_state=seed)
        at_random = clone(chosen)
        n = 0
        for i in order[:450]:
            if chosen.should_ask(as_dict(X[i]), delta=0.15):
                chosen.learn_one(as_dict(X[i]), int(y[i]), classes=[0, 1])
                n += 1
        for i in rng.choice(order[:450], n, replace=False):
            at_random.learn_one(as_dict(X[i]), int(y[i]), classes=[0, 1])
        test = order[450:]
        scores = [
            model.score(X[test][:, list(model.feature_index_)], y[test])
            for model in (chosen, at_random)
        ]
        asked.append([n / 450, *scores])
    share, of_asked, of_random = np.mean(asked, axis=0)
    assert share < 0.5
    assert of_asked >= of_random - 0.005


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_the_region_of_disagreement(shape: str) -> None:
    X, y = data()
    model = EllipsoidClassifier(scale=0.01, shape=shape, random_state=0).fit(X, y)
    expected = model.uncertainty(X[:50]) > 1.0
    np.testing.assert_array_equal(model.query(X[:50]), expected)
    assert [model.should_ask(as_dict(x)) for x in X[:50]] == expected.tolist()
    assert 0 < expected.sum() < 50
    by_margin = model.query(X[:50], delta=1e9, rule="margin")
    assert by_margin.all()
