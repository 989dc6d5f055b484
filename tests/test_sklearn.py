"""scikit-learn's passive-aggressive estimators and Perceptron, side by side with the real ones."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import linear_model
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from seqpa import SeqpaError
from seqpa.sklearn import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron

OURS: tuple[Any, ...] = (PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def real(ours: Any) -> Any:
    """scikit-learn's class of the same name; the passive-aggressive ones end with its 1.10."""
    found = getattr(linear_model, ours.__name__, None)
    if found is None:
        pytest.skip(f"this scikit-learn has no {ours.__name__} any more")
    return found


def twin(ours: Any, **parameters: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return real(ours)(**parameters)


@st.composite
def cases(draw: Any, ours: Any) -> tuple[dict[str, Any], Any, Any, Any]:
    """Parameters, X, y and weights on which both must agree."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d, k = draw(st.integers(12, 30)), draw(st.integers(1, 5)), draw(st.integers(2, 4))
    X: Any = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    if draw(st.booleans()):
        X = sparse.csr_matrix(X)
    y = np.arange(n) % k
    common: dict[str, Any] = {
        "fit_intercept": draw(st.booleans()),
        "max_iter": draw(st.integers(1, 8)),
        "tol": draw(st.sampled_from([None, 1e-3, 0.1])),
        "n_iter_no_change": draw(st.integers(1, 3)),
        "shuffle": draw(st.booleans()),
        "random_state": draw(st.integers(0, 100)),
        "early_stopping": draw(st.booleans()),
        "validation_fraction": 0.4,
    }
    if ours is Perceptron:
        common["penalty"] = draw(st.sampled_from([None, "l1", "l2", "elasticnet"]))
        common["alpha"] = draw(st.sampled_from([1e-4, 0.05]))
        common["eta0"] = draw(st.sampled_from([1.0, 0.3]))
        if common["penalty"]:  # scikit-learn's norms of the objective lag behind: same passes only
            common |= {"tol": None, "early_stopping": False}
    else:
        common["C"] = draw(st.sampled_from([0.05, 1.0]))
        common["average"] = draw(st.sampled_from([False, True, 7]))
        losses = ["hinge", "squared_hinge"]
        if ours is PassiveAggressiveRegressor:
            losses = ["epsilon_insensitive", "squared_epsilon_insensitive"]
            y = np.asarray(X @ rng.normal(size=d)).ravel() + rng.normal(size=n)
        common["loss"] = draw(st.sampled_from(losses))
    if is_classifier(ours()):
        common["class_weight"] = draw(st.sampled_from([None, "balanced", {0: 0.5, 1: 2.0}]))
    weight = rng.random(n) + 0.1 if ours is Perceptron and draw(st.booleans()) else None
    return common, X, y, weight


@pytest.mark.parametrize("ours", OURS)
@settings(max_examples=60)
@given(data=st.data())
def test_the_same_weights_as_scikit_learns(ours: Any, data: Any) -> None:
    parameters, X, y, weight = data.draw(cases(ours))
    if parameters.get("average") is not True and parameters.get("average"):
        parameters["early_stopping"] = False  # t_ counts held-out examples, the mean does not
    also = {} if weight is None else {"sample_weight": weight}
    mine = ours(**parameters).fit(X, y, **also)
    theirs = twin(ours, **parameters).fit(X, y, **also)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(mine.intercept_, theirs.intercept_, rtol=1e-7, atol=1e-9)
    assert mine.coef_.shape == theirs.coef_.shape
    assert (mine.n_iter_, mine.t_) == (theirs.n_iter_, theirs.t_)


@pytest.mark.parametrize("ours", OURS)
@settings(max_examples=20)
@given(seed=st.integers(0, 1000), calls=st.integers(1, 4))
def test_partial_fit_goes_on_as_theirs(ours: Any, seed: int, calls: int) -> None:
    rng = np.random.default_rng(seed)
    mine, theirs = ours(random_state=1), twin(ours, random_state=1)
    for call in range(calls):
        X, y = rng.normal(size=(8, 3)), rng.permutation(np.arange(8) % 3)
        first = {"classes": [0, 1, 2]} if is_classifier(mine) and call == 0 else {}
        mine.partial_fit(X, y, **first)
        theirs.partial_fit(X, y, **first)
        np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-9)
        assert mine.t_ == theirs.t_


@pytest.mark.parametrize("ours", OURS)
def test_signature_and_defaults_are_theirs(ours: Any) -> None:
    theirs = twin(ours)
    assert ours().get_params() == theirs.get_params()
    assert list(inspect.signature(ours.__init__).parameters)[1:] == [
        name for name in inspect.signature(type(theirs).__init__).parameters if name != "self"
    ]
    for method in ("fit", "partial_fit"):
        told = list(inspect.signature(getattr(theirs, method)).parameters)
        assert list(inspect.signature(getattr(ours(), method)).parameters)[: len(told)] == told


@pytest.mark.parametrize("ours", OURS)
def test_scikit_learns_own_checks(ours: Any) -> None:
    reason = "a weight multiplies one step, which is not the same as several steps"
    weighted = (
        "check_sample_weight_equivalence_on_" + form for form in ("dense_data", "sparse_data")
    )
    check_estimator(ours(), expected_failed_checks=dict.fromkeys(weighted, reason))


@pytest.mark.parametrize("ours", OURS)
def test_float32_stays_float32(ours: Any) -> None:
    X, y = load_iris(return_X_y=True)
    narrow = ours(random_state=1, max_iter=5, tol=None).fit(X.astype(np.float32), y)
    wide = ours(random_state=1, max_iter=5, tol=None).fit(X.astype(np.float32).astype(float), y)
    assert narrow.coef_.dtype == narrow.intercept_.dtype == np.float32
    assert wide.coef_.dtype == np.float64
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=1e-5)
    scores = narrow.decision_function(X.astype(np.float32)) if is_classifier(narrow) else None
    assert scores is None or scores.dtype == np.float32


@pytest.mark.parametrize(
    ("ours", "parameters"),
    [
        (PassiveAggressiveClassifier, {"C": 0.0}),
        (PassiveAggressiveClassifier, {"loss": "log"}),
        (PassiveAggressiveClassifier, {"average": -1}),
        (PassiveAggressiveClassifier, {"class_weight": {9: 1.0}}),
        (PassiveAggressiveRegressor, {"epsilon": -0.1}),
        (PassiveAggressiveRegressor, {"validation_fraction": 1.0}),
        (PassiveAggressiveRegressor, {"max_iter": 0}),
        (PassiveAggressiveRegressor, {"warm_start": "yes"}),
        (Perceptron, {"penalty": "l3"}),
        (Perceptron, {"l1_ratio": 2.0}),
        (Perceptron, {"tol": -1.0}),
        (Perceptron, {"n_iter_no_change": 0}),
    ],
)
def test_wrong_parameters_are_wrong_there_and_here(ours: Any, parameters: dict[str, Any]) -> None:
    X, y = load_iris(return_X_y=True)
    for make in (ours, lambda **given: twin(ours, **given)):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            make(**parameters).fit(X, y)


def test_one_pass_at_a_time_has_its_own_mistakes() -> None:
    X, y = load_iris(return_X_y=True)
    for parameters, classes, match in (
        ({"early_stopping": True}, [0, 1, 2], "early_stopping"),
        ({"class_weight": "balanced"}, [0, 1, 2], "class_weight"),
        ({}, None, "classes"),
        ({}, [0, 1], "not in classes: 2"),
    ):
        with pytest.raises(SeqpaError, match=match):
            Perceptron(**parameters).partial_fit(X, y, classes=classes)  # type: ignore[arg-type]
    model = Perceptron().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(SeqpaError, match="first call"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(SeqpaError, match="greater than one"):
        Perceptron().fit(X, np.zeros(len(X)))


def test_warm_start_goes_on_and_a_clone_does_not() -> None:
    X, y = make_regression(60, 4, random_state=0)
    model = PassiveAggressiveRegressor(max_iter=1, tol=None, warm_start=True, shuffle=False)
    once = model.fit(X, y).coef_.copy()
    assert not np.array_equal(model.fit(X, y).coef_, once)
    np.testing.assert_array_equal(clone(model).fit(X, y).coef_, once)
    straight = PassiveAggressiveRegressor(max_iter=2, tol=None, shuffle=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, straight.coef_, rtol=1e-12)


def test_threads_change_nothing() -> None:
    X, y = load_iris(return_X_y=True)
    one, two = (
        PassiveAggressiveClassifier(random_state=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_sparse_weights_and_back(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    model = Perceptron(penalty="l1", verbose=1, max_iter=3).fit(X, y)
    assert capsys.readouterr().out.count("-- Epoch") == 9
    scores = model.decision_function(X)
    assert sparse.issparse(model.sparsify().coef_)
    np.testing.assert_allclose(model.decision_function(X), scores)
    assert isinstance(model.densify().coef_, np.ndarray)


def test_passes_that_do_not_settle_are_told() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning):
        Perceptron(max_iter=2).fit(X, y)
    huge = np.full((4, 2), 1e155)
    huge[::2] *= -1
    with pytest.raises(ValueError, match="overflow"):
        PassiveAggressiveRegressor(C=1e300, random_state=0).fit(huge, [1e307, -1e307, 3e307, 1e307])


@pytest.mark.pure
def test_hand_computed_passes() -> None:
    """Numbers that one can follow on paper, in both forms of the kernel."""
    X, y = np.array([[2.0, 0.0], [0.0, 1.0]]), [1, -1]
    model = PassiveAggressiveClassifier(C=0.375, shuffle=False, max_iter=1, tol=None).fit(X, y)
    # x₁: τ = min(0.375, 1/4) = 0.25, w = (0.5, 0), b = 0.25; x₂: τ = min(0.375, 1.25) = 0.375.
    np.testing.assert_array_equal(model.coef_, [[0.5, -0.375]])
    np.testing.assert_array_equal(model.intercept_, [-0.125])
    mean = clone(model).set_params(average=True).fit(X, y)
    np.testing.assert_array_equal(mean.coef_, [[0.5, -0.1875]])
    np.testing.assert_array_equal(mean.intercept_, [0.0625])
    late = clone(model).set_params(average=2).fit(X, y)
    np.testing.assert_array_equal(late.coef_, [[0.5, -0.375]])
