"""What goes into an estimator: valid input passes quickly, and none that is not passes at all."""

from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from seqpa import (
    MIRAClassifier,
    PAClassifier,
    PARegressor,
    PAUniclass,
    PerceptronClassifier,
    SeqpaError,
)
from seqpa.estimators import _labels

DRAW = np.random.default_rng(3)
X = DRAW.normal(size=(40, 6))
Y = (X[:, 0] > 0).astype(int)


def begun(average: bool = False) -> PAClassifier:
    return PAClassifier(C=0.1, average=average).partial_fit(X[:20], Y[:20], classes=[0, 1])


FORMS = {
    "the same": lambda X, y: (X, y),
    "lists": lambda X, y: (X.tolist(), y.tolist()),
    "columns in order": lambda X, y: (np.asfortranarray(X), y),
    "every second of a wider array": lambda X, y: (np.repeat(X, 2, axis=1)[:, ::2], y),
    "CSR": lambda X, y: (sparse.csr_matrix(X), y),
    "a column of labels": lambda X, y: (X, y[:, None]),
    "labels as floats": lambda X, y: (X, y.astype(float)),
    "small labels": lambda X, y: (X, y.astype(np.int8)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("average", [False, True])
def test_every_form_of_the_same_examples_teaches_the_same(form: str, average: bool) -> None:
    expected, model = begun(average), begun(average)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's word on column vectors
        for i in range(20, 40):
            expected.partial_fit(X[i : i + 1], Y[i : i + 1])
            model.partial_fit(*FORMS[form](X[i : i + 1], Y[i : i + 1]))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    assert model.n_iter_ == 21


def with_hole(value: float) -> np.ndarray:
    one = X[:1].copy()
    one[0, 2] = value
    return one


WRONG = {
    "fewer features": (X[:1, :5], Y[:1], "features"),
    "no examples": (X[:0], Y[:0], "0 sample"),
    "one dimension": (X[0], Y[:1], "2D"),
    "NaN": (with_hole(np.nan), Y[:1], "NaN"),
    "infinity": (with_hole(np.inf), Y[:1], "infinity"),
    "complex": (X[:1] * 1j, Y[:1], "omplex"),
    "too few labels": (X[:2], Y[:1], "inconsistent"),
    "a table of labels": (X[:2], np.eye(2), "1d array"),
    "a label between": (X[:1], np.array([0.5]), "continuous"),
    "no label": (X[:1], np.array([np.nan]), "NaN"),
    "an unknown label": (X[:1], np.array([2]), "not among the classes"),
}


@pytest.mark.parametrize("what", WRONG)
def test_nothing_wrong_passes_and_nothing_is_changed_by_it(what: str) -> None:
    wrong_X, wrong_y, message = WRONG[what]
    model = begun()
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=message):
        model.partial_fit(wrong_X, wrong_y)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_iter_ == 1


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_predictions_want_finite_examples(value: float) -> None:
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        begun().predict(with_hole(value))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_regression_wants_finite_targets(value: float) -> None:
    model = PARegressor().partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.partial_fit(X[:1], np.array([value]))


def test_names_of_features_are_still_looked_at() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abcdef"))
    model = PAClassifier().partial_fit(table, Y, classes=[0, 1])
    with pytest.warns(UserWarning, match="feature names"):
        model.partial_fit(X[:1], Y[:1])


def test_a_parameter_set_between_calls_is_checked() -> None:
    model = begun()
    with pytest.raises(SeqpaError, match=re.escape("PAClassifier: C=-1; it must be")):
        model.set_params(C=-1).partial_fit(X[:1], Y[:1])


@pytest.mark.parametrize(
    ("model", "late"),
    [
        (PAClassifier(), {"variant": "PA-II"}),
        (PAClassifier(), {"margin": 5.0}),
        (PAClassifier(), {"average": True}),
        (PAClassifier(), {"fit_intercept": True}),
        (PAClassifier(), {"cost": {0: {1: 2.0}}}),
        (PARegressor(), {"epsilon": 9.0}),
        (PAUniclass(learn_radius=True), {"max_radius": 7.0}),
        (PerceptronClassifier(), {"average": "last"}),
    ],
)
def test_what_the_weights_were_begun_with_stays(model, late: dict) -> None:
    model = clone(model).fit(X, Y)
    before, passes = model.get_params(), model.n_iter_
    name, value = next(iter(late.items()))
    with pytest.raises(SeqpaError, match=re.escape(f"{name}={value!r}, but training began")):
        model.set_params(**late).partial_fit(X[:1], Y[:1])
    assert model.n_iter_ == passes
    model.set_params(**before).partial_fit(X[:1], Y[:1])
    model.set_params(**late).fit(X, Y)


def test_what_each_call_uses_may_change() -> None:
    model = begun()
    given = model.set_params(C=0.5).partial_fit(X[20:], Y[20:]).coef_
    assert not np.allclose(given, begun().partial_fit(X[20:], Y[20:]).coef_)
    cost = np.array([[0.0, 2.0], [1.0, 0.0]])
    model = pickle.loads(pickle.dumps(PAClassifier(C=0.1, cost=cost).fit(X, Y)))
    model.set_params(C=1, tol=None, class_weight={0: 2.0}).partial_fit(X, Y)


def test_labels_of_several_kinds() -> None:
    with pytest.raises(SeqpaError, match="several kinds: int, str"):
        PAClassifier().fit(X, np.array([1, "one"], dtype=object)[Y])


def test_classes_may_come_again_in_any_order_but_not_change() -> None:
    model = begun().partial_fit(X[:1], Y[:1], classes=np.array([1, 0]))
    with pytest.raises(SeqpaError, match="on a later call"):
        model.partial_fit(X[:1], Y[:1], classes=[0, 1, 2])


@given(
    st.lists(st.integers(-128, 127), min_size=1, max_size=40),
    st.sampled_from([np.int8, np.int16, np.int64]),
)
def test_counted_labels_are_sorted_labels(labels: list[int], kind: type) -> None:
    y = np.array(labels, dtype=kind)
    classes, target = _labels.classes_of(y)
    expected, inverse = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(target, inverse)
    assert classes.dtype == y.dtype


def test_labels_far_apart_and_unsigned() -> None:
    for y in (np.array([-(2**63), 2**63 - 1] * 20), np.array([0, 2**64 - 1] * 20, dtype=np.uint64)):
        model = MIRAClassifier(random_state=0).fit(X, y)
        assert model.classes_.tolist() == sorted(set(y.tolist()))
