"""`learn_one` and `predict_one`: dicts of named features, learned as rows are."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from seqpa import (
    EllipsoidClassifier,
    EllipsoidMultilabelClassifier,
    HingeClassifier,
    KernelPAClassifier,
    KernelPARegressor,
    LabelTfidf,
    MiniBatchPAClassifier,
    MIRAClassifier,
    MultiplicativePAClassifier,
    PAClassifier,
    PAMultilabelClassifier,
    PARegressor,
    PAUniclass,
    PerceptronClassifier,
    SeqpaError,
)
from seqpa.core import Binary, Learner, Multiclass

COST = {0: {1: 4.0}, 1: {0: 0.25}}
CLASSIFIERS = {
    "plain": PAClassifier(C=0.3),
    "average": PAClassifier(C=0.3, average=True, fit_intercept=True),
    "class-weight": PAClassifier(C=0.3, class_weight={0: 0.5, 1: 3.0}),
    "cost": PAClassifier(cost=COST, fit_intercept=True),
    "one-vs-rest": PAClassifier(multiclass="one-vs-rest", average=True),
    "tfidf": PAClassifier(features=LabelTfidf()),
    "perceptron": PerceptronClassifier(),
    "vote": PerceptronClassifier("vote"),
    "uniform": PerceptronClassifier(update="uniform"),
    "hinge": HingeClassifier(regularization=0.1, average=True),
    "mira": MIRAClassifier(C=0.2, average=True),
    "kernel": KernelPAClassifier("poly", gamma=0.5, degree=2, coef0=1.0),
    "batches": MiniBatchPAClassifier(batch_size=4),
    "ellipsoid": EllipsoidClassifier(fit_intercept=True),
    "diagonal": EllipsoidClassifier(shape="diagonal", average=True),
}
classifiers = pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS.keys())
FEATURES = ("a", "b", ("c", 3), 7, "e")


def stream(n: int, labels: int, seed: int = 0) -> list[tuple[dict[Any, float], int]]:
    """Examples of a few named features, counts, and labels that have to do with them."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        values = rng.integers(0, 4, len(FEATURES)) * (rng.random(len(FEATURES)) < 0.7)
        noisy = values @ np.arange(1, 1 + len(FEATURES)) + rng.normal(0, 2)
        x = {name: float(v) for name, v in zip(FEATURES, values, strict=True) if v}
        rows.append((x, int(noisy / 24 * labels) % labels))
    return rows


def as_matrix(rows: list[tuple[dict[Any, float], int]], columns: dict[Any, int]) -> np.ndarray:
    X = np.zeros((len(rows), len(columns)))
    for i, (x, _) in enumerate(rows):
        for name, value in x.items():
            X[i, columns[name]] = value
    return X


@classifiers
@pytest.mark.parametrize("labels", [2, 3])
def test_dicts_are_learned_as_rows_are(model, labels: int) -> None:
    """With all classes known, `learn_one` is `partial_fit` of that row."""
    rows = stream(80, labels)
    by_dict, by_row = clone(model), clone(model)
    every = np.arange(labels)
    columns = {name: i for i, name in enumerate(FEATURES)}
    X = sparse.csr_matrix(as_matrix(rows, columns))
    for i, (x, y) in enumerate(rows):
        by_dict.learn_one(x, y, classes=every)
        by_row.partial_fit(X[i], np.array([y]), classes=every)
    if isinstance(model, MiniBatchPAClassifier):
        by_dict.flush()
        by_row.flush()
    for name in ("n_updates_", "online_mistakes_", "online_loss_", "online_squared_loss_"):
        assert getattr(by_dict, name) == pytest.approx(getattr(by_row, name)), name
    predicted = by_row.predict(X)
    assert [by_dict.predict_one(x) for x, _ in rows] == predicted.tolist()
    own = by_dict.feature_index_
    Z = as_matrix(rows, own)
    np.testing.assert_allclose(
        by_dict.decision_function(Z), by_row.decision_function(X), rtol=1e-7, atol=1e-9
    )
    if hasattr(by_row, "coef_") and "tfidf" not in str(model).lower():
        order = [own[name] for name in FEATURES]
        np.testing.assert_allclose(by_dict.coef_[:, order], by_row.coef_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        PARegressor(fit_intercept=True, average=True),
        PARegressor(variant="PA-II"),
        KernelPARegressor("poly", gamma=0.5, degree=2),
    ],
)
def test_numbers_are_learned_as_rows_are(model) -> None:
    rows = stream(60, 9)
    by_dict, by_row = clone(model), clone(model)
    X = as_matrix(rows, {name: i for i, name in enumerate(FEATURES)})
    for i, (x, y) in enumerate(rows):
        assert by_dict.predict_one(x) == pytest.approx(by_row.predict(X[i : i + 1])[0] if i else 0)
        by_dict.learn_one(x, y)
        by_row.partial_fit(X[i : i + 1], np.array([float(y)]))
    assert by_dict.online_squared_loss_ == pytest.approx(by_row.online_squared_loss_)


@pytest.mark.parametrize(
    "model",
    [
        PAUniclass(epsilon=2.0, init="first"),
        PAUniclass(learn_radius=True, average=True),
        PAUniclass(epsilon=0.5, kernel="rbf", gamma=0.1),
    ],
)
def test_a_ball_is_learned_as_from_rows(model) -> None:
    rows = stream(60, 2)
    columns: dict[Any, int] = {name: i for i, name in enumerate(FEATURES)}
    by_dict, by_row = clone(model), clone(model)
    X = as_matrix(rows, columns)
    for i, (x, _) in enumerate(rows):
        by_dict.learn_one(x)
        by_row.partial_fit(X[i : i + 1])
    assert by_dict.radius_ == pytest.approx(by_row.radius_)
    assert by_dict.n_updates_ == by_row.n_updates_
    expected = by_row.decision_function(X)
    assert [-by_dict.score_one(x) for x, _ in rows] == pytest.approx(expected.tolist(), abs=1e-9)
    clear = np.abs(expected) > 1e-9  # the last example lies on the ball, but for rounding
    predicted = np.array([by_dict.predict_one(x) for x, _ in rows])
    np.testing.assert_array_equal(predicted[clear], by_row.predict(X)[clear])
    if model.kernel is None:
        far = {"never seen": 1e3}
        assert by_dict.predict_one(far) == -1


@classifiers
def test_labels_are_taken_up_as_they_come(model) -> None:
    if model.get_params().get("class_weight"):
        model = clone(model).set_params(class_weight=None)
    model = clone(model)
    if getattr(model, "cost", None) is not None:
        model.set_params(cost=lambda right, predicted: float(right != predicted))
    assert model.predict_one({"a": 1.0}) is None
    model.learn_one({"a": 1.0}, "m")
    assert model.predict_one({"b": 1.0}) == "m"
    for _ in range(3):
        for y in ("z", "m"):
            model.learn_one({f"is {y}": 2.0}, y)
    before = {y: model.predict_one({f"is {y}": 2.0}) for y in ("m", "z")}
    if model.get_params().get("update") == "uniform":
        with pytest.raises(SeqpaError, match="classes"):
            model.learn_one({"is b": 2.0}, "b")
        assert model.classes_.tolist() == ["m", "z"]
        return
    for _ in range(6):
        for y in ("b", "z", "m"):
            model.learn_one({f"is {y}": 2.0}, y)
    if isinstance(model, MiniBatchPAClassifier):
        model.flush()
    assert model.classes_.tolist() == ["b", "m", "z"]
    assert before == {"m": "m", "z": "z"} or "tfidf" in str(model).lower()
    for y in ("b", "m", "z"):
        assert model.predict_one({f"is {y}": 2.0}) == y


def test_two_labels_that_come_are_two_labels_that_were_known() -> None:
    """One label alone is +1, and turns its sign where another takes its place."""
    for first in (0, 1):
        rows = [(x, y ^ first) for x, y in stream(60, 2)]
        coming, known = PAClassifier(average=True), PAClassifier(average=True)
        for x, y in rows:
            coming.learn_one(x, y)
            known.learn_one(x, y, classes=[0, 1])
        np.testing.assert_array_equal(coming.coef_, known.coef_)
        assert coming.online_mistakes_ == known.online_mistakes_


@pytest.mark.parametrize("multiclass", ["prototypes", "one-vs-rest"])
def test_a_third_label_leaves_the_two_told_apart_as_before(multiclass: str) -> None:
    model = PAClassifier(multiclass=multiclass, average=True, fit_intercept=True)
    rows = stream(50, 2)
    for x, y in rows:
        model.learn_one(x, y)
    before = model.decision_function(as_matrix(rows, model.feature_index_))
    model.learn_one({"new": 1.0}, 5)
    scores = model.decision_function(as_matrix(rows, model.feature_index_))
    assert scores.shape == (50, 3)
    apart = scores[:, 1] - scores[:, 0]
    assert np.corrcoef(apart, before)[0, 1] > 0.99


def test_widened_learners_keep_what_they_know() -> None:
    learner = Learner(Multiclass(), "PA-I", n_features=2, n_labels=2, bias=True, average=True)
    row = learner.one_row(sparse=True)
    assert row is not None
    columns: dict[Any, int] = {}
    row.read({"a": 1.0, "b": 2.0}, columns)
    row.learn(1.0, C=1.0, clock=0)
    kept = learner.weights.copy()
    learner.resize(5)
    np.testing.assert_array_equal(learner.weights[:, [0, 1, 5]], kept)
    assert not learner.weights[:, 2:5].any()
    learner.resize(2)
    np.testing.assert_array_equal(learner.weights, kept)


def test_only_rows_of_a_plain_learner_are_kept() -> None:
    assert Learner(Binary(), "PA", 3).one_row(sparse=True) is not None
    joint = Learner(Multiclass(), "PA", 3, n_labels=2, joint=True)
    assert joint.one_row(sparse=True) is None


names = st.text(max_size=2) | st.integers(0, 9)
numbers = st.floats(-9, 9).map(lambda v: 0.0 if abs(v) < 1e-6 else v)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.dictionaries(names, numbers, max_size=6), st.integers(0, 3))))
@pytest.mark.pure
def test_any_stream_of_dicts(rows: list[tuple[dict[Any, float], int]]) -> None:
    model = PAClassifier(C=0.5, average=True, fit_intercept=True)
    for x, y in rows:
        given_x = dict(x)
        model.learn_one(x, y)
        assert x == given_x
        assert model.predict_one(x) in model.classes_.tolist()
    if rows:
        index = model.feature_index_
        assert sorted(index.values()) == list(range(len(index)))
        assert set(index) == {name for x, _ in rows for name, v in x.items() if v}
        assert model.coef_.shape[1] == max(1, len(index))
        X = as_matrix([({n: v for n, v in x.items() if v}, y) for x, y in rows], index)
        X = X if X.shape[1] else np.zeros((len(rows), 1))
        if len(model.classes_) > 1:
            scores = [model.scores_one(x) for x, _ in rows]
            for one, many in zip(scores, np.atleast_1d(model.decision_function(X)), strict=True):
                values = list(one.values())
                expected = many if len(values) > 2 else values[1] - values[0]
                got = values if len(values) > 2 else many
                np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9)
        copy = pickle.loads(pickle.dumps(model))
        assert [copy.predict_one(x) for x, _ in rows] == [model.predict_one(x) for x, _ in rows]


def test_dicts_after_arrays_have_their_columns() -> None:
    X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([0, 1])
    model = PAClassifier().fit(X, y)
    model.learn_one({1: 3.0}, 0)
    other = PAClassifier().fit(X, y).partial_fit([[0.0, 3.0]], [0])
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.predict_one({1: 3.0, "unknown": 9.0}) == 0
    with pytest.raises(SeqpaError, match=r"began with arrays of 2 columns.*'new'"):
        model.learn_one({"new": 1.0}, 0)
    with pytest.raises(SeqpaError, match="not among the classes"):
        model.learn_one({0: 1.0}, 2)
    assert not hasattr(model, "feature_index_")


def test_columns_of_a_frame_have_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"width": [1.0, 0.0], "height": [0.0, 2.0]})
    model = PAClassifier().fit(X, [0, 1])
    model.learn_one({"height": 3.0}, 0)
    assert model.predict_one({"height": 1.0}) == 0


def test_fit_begins_anew() -> None:
    model = PAClassifier()
    model.learn_one({"a": 1.0}, "x")
    model.fit([[1.0], [-1.0]], [0, 1])
    assert model.classes_.tolist() == [0, 1]
    assert model.predict_one({0: 2.0}) == 0


@pytest.mark.parametrize("model", [PAClassifier(), KernelPAClassifier(), HingeClassifier()])
@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"good": 1.0, "bad": math.nan}, "'bad' is nan; it must be a finite number"),
        ({"good": 1.0, "bad": -math.inf}, "'bad' is -inf"),
        ({"good": 1.0, "bad": "red"}, "'bad' is 'red'; every value of a dict"),
        ({"good": 1.0, "bad": None}, "'bad' is None"),
    ],
)
def test_what_is_no_number_is_refused_and_leaves_nothing(model, x, message: str) -> None:
    model = clone(model)
    with pytest.raises(SeqpaError, match=message):
        model.learn_one(x, 1)
    model.learn_one({"a": 1.0}, 0)
    model.learn_one({"b": 1.0}, 1)
    before = pickle.dumps((model.feature_index_, model.n_iter_))
    with pytest.raises(SeqpaError, match=message):
        model.learn_one(x, 1)
    with pytest.raises(SeqpaError, match=message):
        model.predict_one(x)
    assert pickle.dumps((model.feature_index_, model.n_iter_)) == before
    assert model.predict_one({"b": 1.0}) == 1


def test_overflow_is_refused() -> None:
    with pytest.raises(SeqpaError, match="norm overflows"):
        PAClassifier().learn_one({"a": 1e200}, 1)


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [("a", 1, "another kind|no label"), (0, 0.5, "no label|another kind"), (0, [1], "a label is")],
)
def test_labels_that_do_not_go_together(first: Any, then: Any, message: str) -> None:
    model = PAClassifier()
    model.learn_one({"x": 1.0}, first)
    with pytest.raises(SeqpaError, match=message):
        model.learn_one({"x": 1.0}, then)
    assert model.predict_one({"x": 1.0}) == first


def test_weights_on_the_simplex_need_all_features() -> None:
    model = MultiplicativePAClassifier()
    model.learn_one({"a": 1.0, "b": 0.5}, 0, classes=[0, 1])
    with pytest.raises(SeqpaError, match="all features must be known"):
        model.learn_one({"c": 1.0}, 1)


def test_changed_parameters_are_seen() -> None:
    model = PAClassifier(C=0.5)
    model.learn_one({"a": 1.0}, 0, classes=[0, 1])
    model.set_params(C=-1.0)
    with pytest.raises(SeqpaError, match="C=-1"):
        model.learn_one({"a": 1.0}, 0)
    model.set_params(C=1.0, margin=2.0)
    with pytest.raises(SeqpaError, match="training began with"):
        model.learn_one({"a": 1.0}, 0)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("model", [PAClassifier(average=True), PARegressor(fit_intercept=True)])
def test_single_rows_take_the_short_way_and_arrive(model, form) -> None:
    """The short way gives the very weights of the long one, and its errors."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.6)
    y = rng.integers(0, 2, 60).astype(float)
    more = {"classes": [0, 1]} if isinstance(model, PAClassifier) else {}
    short, long = clone(model), clone(model)
    for i in range(60):
        row = form(X[i : i + 1])
        short.partial_fit(row, y[i : i + 1], **(more if i == 0 else {}))
        long.partial_fit(row, y[i : i + 1].tolist(), **(more if i == 0 else {}))
    np.testing.assert_allclose(short.coef_, long.coef_, rtol=1e-12)
    bad = X[:1].copy()
    bad[0, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        short.partial_fit(form(bad), y[:1])
    with pytest.raises(ValueError, match="features"):
        short.partial_fit(form(X[:1, :4]), y[:1])
    np.testing.assert_allclose(short.coef_, long.coef_, rtol=1e-12)


def test_a_damaged_csr_row_is_refused() -> None:
    model = PAClassifier().partial_fit(sparse.csr_matrix([[1.0, 2.0]]), np.array([1]), [0, 1])
    row = sparse.csr_matrix([[1.0, 2.0]])
    row.indices[:] = (0, 7)
    with pytest.raises(ValueError, match=r"indices|index|column"):
        model.partial_fit(row, np.array([1]))
    double = sparse.csr_matrix(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    double.has_canonical_format = False
    model.partial_fit(double, np.array([0]))
    assert np.isfinite(model.coef_).all()


MULTILABEL = {
    "plain": PAMultilabelClassifier(C=0.3),
    "average": PAMultilabelClassifier(C=0.3, average=True, fit_intercept=True, variant="PA-II"),
    "diagonal": EllipsoidMultilabelClassifier(shape="diagonal"),
    "ellipsoid": EllipsoidMultilabelClassifier(),
}
TOPICS = ("art", "law", "war", "tax")


def topics(n: int) -> list[tuple[dict[Any, float], dict[str, bool]]]:
    rng = np.random.default_rng(6)
    W = rng.normal(size=(len(FEATURES), len(TOPICS)))
    rows = []
    for x, _ in stream(n, 2, seed=6):
        values = np.array([x.get(name, 0.0) for name in FEATURES]) - 1.0
        holds = values @ W + rng.normal(0, 0.5, len(TOPICS)) > 0
        rows.append((x, {topic: bool(h) for topic, h in zip(TOPICS, holds, strict=True)}))
    return rows


@pytest.mark.parametrize("model", MULTILABEL.values(), ids=MULTILABEL.keys())
def test_sets_of_labels_are_learned_as_rows_are(model) -> None:
    rows = topics(60)
    by_dict, by_row = clone(model), clone(model)
    for x, y in rows:
        by_dict.learn_one(x, y)
    columns = by_dict.feature_index_
    X = as_matrix([(x, 0) for x, _ in rows], columns)
    Y = np.array([[y[topic] for topic in TOPICS] for _, y in rows]).astype(int)
    for i in range(len(X)):
        by_row.partial_fit(X[i : i + 1], Y[i : i + 1])
    assert by_dict.classes_.tolist() == list(TOPICS)
    np.testing.assert_allclose(by_dict.coef_, by_row.coef_, atol=1e-12)
    assert by_dict.threshold_ == pytest.approx(by_row.threshold_)
    assert by_dict.online_mistakes_ == by_row.online_mistakes_ > 0
    assert by_dict.online_loss_ == pytest.approx(by_row.online_loss_)
    for (x, _), scores, predicted in zip(
        rows, by_row.decision_function(X), by_row.predict(X), strict=True
    ):
        found = by_dict.scores_one({**x, "never seen": 5.0})
        assert list(found) == list(TOPICS)
        np.testing.assert_allclose(list(found.values()), scores, atol=1e-9)
        assert list(by_dict.predict_one(x).values()) == predicted.astype(bool).tolist()
    named = dict.fromkeys(columns, 0.5)
    again = pickle.loads(pickle.dumps(by_dict))
    again.learn_one(named, rows[0][1])
    by_dict.learn_one(named, rows[0][1])
    assert again.scores_one(named) == by_dict.scores_one(named)


def test_labels_of_sets_are_taken_up_as_they_come() -> None:
    rows = topics(80)
    known, growing = (PAMultilabelClassifier(C=0.3, average=True) for _ in range(2))
    for i, (x, y) in enumerate(rows):
        few = {topic: y[topic] for topic in TOPICS[: 1 + i // 10]}
        known.learn_one(x, {**dict.fromkeys(TOPICS, False), **few} if i >= 30 else few)
        growing.learn_one(x, {topic for topic, holds in few.items() if holds})
    assert set(known.classes_.tolist()) == set(growing.classes_.tolist()) == set(TOPICS)
    for x, _ in rows:
        assert growing.scores_one(x).keys() == known.scores_one(x).keys()
    assert sum(growing.predict_one(x) == y for x, y in rows) > 20


def test_sets_before_and_beside_arrays() -> None:
    model = PAMultilabelClassifier()
    assert model.predict_one({"a": 1.0}) == model.scores_one({"a": 1.0}) == {}
    model.learn_one({"a": 1.0}, set())  # no label is known
    assert model.predict_one({"a": 1.0}) == {}
    for wrong in ("art", 3, None):
        with pytest.raises(SeqpaError, match="the set of relevant labels"):
            model.learn_one({"a": 1.0}, wrong)  # type: ignore[arg-type]
    with pytest.raises(SeqpaError, match="of one kind"):
        model.learn_one({"a": 1.0}, {"art": True, 3: False})
    model.partial_fit(np.eye(3), np.array([[1, 0], [0, 1], [1, 1]]))
    model.learn_one({0: 1.0}, {1})
    assert model.predict_one({0: 1.0}).keys() == {0, 1}
    with pytest.raises(SeqpaError, match="began with arrays of 2 labels, and 2 is none"):
        model.learn_one({0: 1.0}, [2])
