"""The estimators: scikit-learn's contract, scikit-learn's numbers, and every way in."""

from __future__ import annotations

import pickle
import warnings
from functools import cache

import numpy as np
import pytest
from cases import SGD_HAS_PA, WEIGHT_CHECKS, WEIGHTED
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    make_classification,
    make_multilabel_classification,
    make_regression,
)
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import has_fit_parameter, validate_data

from seqpa import (
    EllipsoidClassifier,
    EllipsoidMultilabelClassifier,
    Hierarchy,
    HingeClassifier,
    MIRAClassifier,
    MultiplicativePAClassifier,
    MultiplicativePARegressor,
    MultiplicativePAUniclass,
    PAClassifier,
    PAMultilabelClassifier,
    PARegressor,
    PAUniclass,
    PerceptronClassifier,
    SeqpaError,
)
from seqpa.estimators import _base


def zero_one(right: object, predicted: object) -> float:
    return float(right != predicted)


AVERAGES = ("average", "last", "random", "vote")

# scikit-learn's checks give a multilabel classifier one column of y, in which no label can be
# ranked above another; all that look at labels are out of its contract.
ONE_COLUMN = dict.fromkeys(
    (
        "check_estimators_dtypes",
        "check_classifier_data_not_an_array",
        "check_classifiers_one_label",
        "check_classifiers_classes",
        "check_classifiers_train",
        "check_classifier_not_supporting_multiclass",
        "check_fit2d_1feature",
        *WEIGHT_CHECKS,
    ),
    "one column of y has no labels to rank",
)
ALL_INSIDE = dict.fromkeys(
    ("check_outliers_train", "check_outliers_fit_predict"),
    "a learned radius grows until no example of the training set is an outlier",
)
NEGATIVE = dict.fromkeys(
    ("check_outliers_train", "check_outliers_fit_predict"),
    "scikit-learn's outliers have negative values, whatever the tags say",
)


@pytest.mark.parametrize(
    ("estimator", "not_in_its_contract"),
    [
        (PAClassifier(), {}),
        (PAClassifier(fit_intercept=True, average=True, variant="PA-II"), {}),
        (PAClassifier(cost=zero_one, fit_intercept=True, average=True), {}),
        (PAClassifier(multiclass="one-vs-rest", fit_intercept=True, average=True), {}),
        (PARegressor(), {}),
        (PAUniclass(), {}),
        (PAUniclass(learn_radius=True, init="first"), ALL_INSIDE),
        (PAMultilabelClassifier(), ONE_COLUMN),
        *((PerceptronClassifier(average), {}) for average in AVERAGES),
        (PerceptronClassifier(update="uniform"), {}),
        (PerceptronClassifier("vote", update="proportional"), {}),
        (HingeClassifier(fit_intercept=True), {}),
        (HingeClassifier("batch", fit_intercept=True, max_iter=200), {}),
        (MIRAClassifier(fit_intercept=True, average=True), {}),
        (MultiplicativePAClassifier(), {}),
        (MultiplicativePARegressor(), {}),
        (MultiplicativePAUniclass(), NEGATIVE),
        (EllipsoidClassifier(fit_intercept=True), {}),
        (EllipsoidClassifier("cellip", shape="diagonal"), {}),
        (EllipsoidMultilabelClassifier(), ONE_COLUMN),
    ],
    ids=lambda value: type(value).__name__,
)
def test_scikit_learn_s_own_checks(estimator, not_in_its_contract: dict[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weighted = WEIGHTED if has_fit_parameter(estimator, "sample_weight") else {}
        check_estimator(estimator, expected_failed_checks={**not_in_its_contract, **weighted})


# The same numbers as scikit-learn.


def sgd(kind, variant: str, C: float, passes: int, **more):
    return kind(
        learning_rate={"PA-I": "pa1", "PA-II": "pa2"}[variant],
        eta0=C,
        penalty=None,
        fit_intercept=False,
        shuffle=False,
        tol=None,
        max_iter=passes,
        **more,
    )


def deprecated(name: str, **options):
    import sklearn.linear_model

    if not hasattr(sklearn.linear_model, name):
        pytest.skip(f"this scikit-learn has no {name} any more")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(sklearn.linear_model, name)(
            fit_intercept=False, shuffle=False, tol=None, **options
        )


needs_pa1 = pytest.mark.skipif(
    not SGD_HAS_PA, reason="this scikit-learn's SGDClassifier has no C for pa1 and pa2"
)


@needs_pa1
@pytest.mark.parametrize("variant", ["PA-I", "PA-II"])
@pytest.mark.parametrize("C", [0.02, 1.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_binary_weights_are_scikit_learn_s(variant: str, C: float, form) -> None:
    X, y = make_classification(300, 12, flip_y=0.2, random_state=5)
    ours = PAClassifier(C, variant, shuffle=False, tol=None, max_iter=3).fit(form(X), y)
    theirs = sgd(SGDClassifier, variant, C, 3, loss="hinge").fit(form(X), y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(form(X)), theirs.predict(form(X)))
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_)


@pytest.mark.parametrize(("variant", "loss"), [("PA-I", "hinge"), ("PA-II", "squared_hinge")])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_one_against_the_rest_is_scikit_learn_s_multiclass(variant: str, loss: str, form) -> None:
    X, y = load_digits(return_X_y=True)
    X = form(X[:400] / 16.0)
    one = PAClassifier(0.05, variant, shuffle=False, tol=None, max_iter=2)
    ours = OneVsRestClassifier(one).fit(X, y[:400])
    at_once = clone(one).set_params(multiclass="one-vs-rest").fit(X, y[:400])
    theirs = deprecated("PassiveAggressiveClassifier", C=0.05, loss=loss, max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(X, y[:400])
    weights = np.vstack([each.coef_ for each in ours.estimators_])
    np.testing.assert_allclose(weights, theirs.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(at_once.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(at_once.predict(X), theirs.predict(X))


@needs_pa1
@pytest.mark.parametrize("variant", ["PA-I", "PA-II"])
def test_regression_weights_are_scikit_learn_s(variant: str) -> None:
    X, y = make_regression(200, 7, noise=5.0, random_state=5)
    ours = PARegressor(0.3, 0.5, variant, shuffle=False, tol=None, max_iter=3).fit(X, y)
    theirs = sgd(SGDRegressor, variant, 0.5, 3, loss="epsilon_insensitive", epsilon=0.3)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    assert ours.coef_.shape == theirs.coef_.shape
    assert ours.intercept_.shape == theirs.intercept_.shape


@pytest.mark.parametrize(("variant", "loss"), [("PA-I", "hinge"), ("PA-II", "squared_hinge")])
def test_passive_aggressive_classifier_had_the_same_weights(variant: str, loss: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    theirs = deprecated("PassiveAggressiveClassifier", C=0.1, loss=loss, max_iter=2)
    ours = PAClassifier(0.1, variant, shuffle=False, tol=None, max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    ("variant", "loss"),
    [("PA-I", "epsilon_insensitive"), ("PA-II", "squared_epsilon_insensitive")],
)
def test_passive_aggressive_regressor_had_the_same_weights(variant: str, loss: str) -> None:
    X, y = make_regression(200, 7, noise=5.0, random_state=6)
    theirs = deprecated("PassiveAggressiveRegressor", C=0.1, loss=loss, max_iter=2)
    ours = PARegressor(0.1, 0.1, variant, shuffle=False, tol=None, max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)


# One law for all estimators: each with data it can learn from.


@cache
def data(kind: str):
    if kind.startswith("positive-"):
        X, y = data(kind.removeprefix("positive-"))
        return np.abs(X), y
    if kind == "regression":
        return make_regression(120, 6, noise=1.0, random_state=1)
    if kind == "multilabel":
        return make_multilabel_classification(120, 8, n_classes=4, random_state=1)
    classes = 2 if kind == "binary" else 3
    return make_classification(120, 6, n_informative=4, n_classes=classes, random_state=1)


COST = {0: {1: 4.0}, 2: {0: 0.25}}
LAWS = {
    "binary": (PAClassifier(random_state=0, C=0.1), "binary"),
    "binary-average": (PAClassifier(random_state=0, average=True, fit_intercept=True), "binary"),
    "multiclass": (PAClassifier(random_state=0, C=0.1, fit_intercept=True), "multiclass"),
    "least-squares": (PAClassifier(random_state=0, C=0.1, variant="PA-LS"), "multiclass"),
    "one-vs-rest": (
        PAClassifier(
            random_state=0, C=0.1, average=True, fit_intercept=True, multiclass="one-vs-rest"
        ),
        "multiclass",
    ),
    "one-vs-rest-plain": (
        PAClassifier(random_state=0, C=0.1, multiclass="one-vs-rest"),
        "multiclass",
    ),
    "cost": (PAClassifier(random_state=0, cost=COST, average=True), "multiclass"),
    "max-loss": (PAClassifier(random_state=0, cost=COST, update="max-loss"), "multiclass"),
    "regression": (PARegressor(random_state=0, fit_intercept=True), "regression"),
    "uniclass": (PAUniclass(random_state=0, init="first"), "binary"),
    "radius": (PAUniclass(random_state=0, learn_radius=True, average=True), "binary"),
    "multilabel": (PAMultilabelClassifier(random_state=0, C=0.1), "multilabel"),
    **{
        f"perceptron-{average}": (PerceptronClassifier(average, random_state=0), "multiclass")
        for average in AVERAGES
    },
    "perceptron-binary-vote": (PerceptronClassifier("vote", random_state=0), "binary"),
    "perceptron-uniform": (PerceptronClassifier(random_state=0, update="uniform"), "multiclass"),
    "perceptron-proportional": (
        PerceptronClassifier("vote", random_state=0, update="proportional"),
        "multiclass",
    ),
    "hinge": (HingeClassifier(random_state=0, regularization=0.1), "multiclass"),
    "hinge-average": (HingeClassifier(random_state=0, average=True), "binary"),
    "mira": (MIRAClassifier(random_state=0, C=0.1, average=True), "multiclass"),
    "multiplicative": (
        MultiplicativePAClassifier(random_state=0, average=True, fit_intercept=True),
        "positive-multiclass",
    ),
    "multiplicative-regression": (
        MultiplicativePARegressor(random_state=0),
        "positive-regression",
    ),
    "multiplicative-uniclass": (
        MultiplicativePAUniclass(random_state=0, average=True),
        "positive-binary",
    ),
    "ellipsoid": (EllipsoidClassifier(random_state=0, fit_intercept=True), "multiclass"),
    "ellipsoid-diagonal": (
        EllipsoidClassifier(random_state=0, shape="diagonal", average=True),
        "binary",
    ),
    "ellipsoid-multilabel": (EllipsoidMultilabelClassifier(random_state=0), "multilabel"),
}
laws = pytest.mark.parametrize(("estimator", "kind"), LAWS.values(), ids=LAWS.keys())


def answers(model, X) -> list[np.ndarray]:
    scores = model.decision_function(X) if hasattr(model, "decision_function") else None
    return [model.predict(X)] if scores is None else [model.predict(X), scores]


def same(model, other, X, tolerance: float = 1e-9) -> None:
    for a, b in zip(answers(model, X), answers(other, X), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    for name in ("n_updates_", "online_mistakes_", "online_cost_", "online_squared_loss_"):
        assert getattr(model, name) == pytest.approx(getattr(other, name)), name


def parts(model, X, y, pieces: int):
    model = clone(model)
    extra = {"classes": np.unique(y)} if hasattr(model, "classes_") or np.ndim(y) == 1 else {}
    if isinstance(model, PARegressor | PAUniclass | PAMultilabelClassifier):
        extra = {}
    for rows in np.array_split(np.arange(len(y)), pieces):
        model.partial_fit(X[rows], y[rows], **extra)
        extra = {}
    return model


@laws
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_input_gives_the_same_model(estimator, kind: str, form) -> None:
    X, y = data(kind)
    X = X * (np.random.default_rng(2).random(X.shape) < 0.7)
    model = clone(estimator).fit(X, y)
    same(model, clone(estimator).fit(form(X), y), X)
    for a, b in zip(answers(model, X), answers(model, form(X)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@laws
def test_one_example_at_a_time_is_many_at_once(estimator, kind: str) -> None:
    if estimator.average == "random":
        pytest.skip("draws a vector after every call")
    X, y = data(kind)
    whole = parts(estimator, X, y, 1)
    one_by_one = parts(estimator, X, y, len(y))
    same(whole, one_by_one, X)
    assert one_by_one.n_iter_ == len(y)


@laws
def test_partial_fit_is_one_pass_of_fit_in_the_given_order(estimator, kind: str) -> None:
    if estimator.average == "random":
        pytest.skip("draws with a generator that also shuffles")
    X, y = data(kind)
    fitted = clone(estimator).set_params(shuffle=False, tol=None, max_iter=1).fit(X, y)
    part = parts(estimator, X, y, 1)
    if kind == "multilabel":  # fit cuts with the last weights, partial_fit with those of the moment
        part.threshold_ = fitted.threshold_
    same(fitted, part, X)


@laws
def test_dense_and_sparse_parts_can_be_mixed(estimator, kind: str) -> None:
    if estimator.average == "random":
        pytest.skip("draws a vector after every call")
    X, y = data(kind)
    whole = parts(estimator, X, y, 2)
    mixed = parts(estimator, sparse.csr_matrix(X[:60]), y[:60], 1)
    mixed.partial_fit(X[60:], y[60:])
    same(whole, mixed, X)


@laws
def test_pickled_models_predict_and_go_on(estimator, kind: str) -> None:
    X, y = data(kind)
    model = clone(estimator).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    same(model, copy, X, tolerance=0)
    same(model.partial_fit(X, y), copy.partial_fit(X, y), X, tolerance=0)


@laws
def test_the_seed_decides(estimator, kind: str) -> None:
    X, y = data(kind)
    same(clone(estimator).fit(X, y), clone(estimator).fit(X, y), X, tolerance=0)
    assert estimator.get_params() == clone(estimator).get_params()


@laws
def test_read_only_and_mapped_input_is_left_alone(estimator, kind: str, tmp_path) -> None:
    X, y = data(kind)
    expected = clone(estimator).fit(X, y)
    path = tmp_path / "X.npy"
    np.save(path, X)
    mapped = np.load(path, mmap_mode="r")
    frozen = sparse.csr_matrix(X)
    for part in (frozen.data, frozen.indices, frozen.indptr):
        part.setflags(write=False)
    for given in (mapped, frozen):
        same(expected, clone(estimator).fit(given, y), given, tolerance=1e-9)
    np.testing.assert_array_equal(mapped, X)
    np.testing.assert_array_equal(frozen.toarray(), X)


@laws
def test_fit_checks_its_input_once(estimator, kind: str, monkeypatch) -> None:
    """What is checked has lost the names of its columns: checked again, it would be warned of."""
    X, y = data(kind)
    given = []

    def noted(model, X, *args, **options):
        given.append(X)
        return validate_data(model, X, *args, **options)

    monkeypatch.setattr(_base, "validate_data", noted)
    clone(estimator).fit(sparse.csr_matrix(X), y)
    assert len(given) == 1


@laws
def test_sums_of_a_fit_run_over_all_passes(estimator, kind: str) -> None:
    X, y = data(kind)
    model = clone(estimator).set_params(tol=None, max_iter=4).fit(X, y)
    assert model.n_iter_ == 4
    assert 0 <= model.n_updates_ <= 4 * len(y)
    assert 0 <= model.online_mistakes_ <= 4 * len(y)
    if estimator.get_params().get("cost") is None:
        assert model.online_cost_ == model.online_mistakes_
    alone = estimator.get_params().get("multiclass") == "one-vs-rest" and kind == "multiclass"
    losses = 4 * len(y) * (3 if alone else 1)
    assert model.online_loss_ <= np.sqrt(losses * model.online_squared_loss_) * (1 + 1e-9)


@laws
def test_blocks_of_shuffled_rows_change_nothing(estimator, kind: str, monkeypatch) -> None:
    X, y = data(kind)
    X = sparse.csr_matrix(X)
    whole = clone(estimator).fit(X, y)
    monkeypatch.setattr("seqpa.core.learner._BLOCK", 500)
    same(whole, clone(estimator).fit(X, y), X, tolerance=1e-12)


@laws
def test_unfitted_models_say_so(estimator, kind: str) -> None:
    with pytest.raises(NotFittedError):
        clone(estimator).predict(data(kind)[0])
    assert not hasattr(clone(estimator), "coef_")


@laws
@pytest.mark.parametrize("bad", [np.nan, -np.inf, 1e200])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_values_that_no_norm_can_hold(estimator, kind: str, bad: float, form) -> None:
    X, y = data(kind)
    model = clone(estimator).fit(X, y)
    X = X.copy()
    X[17, 2] = bad
    with pytest.raises(ValueError, match=r"row 17.*(NaN|infinity|scale the features)"):
        clone(estimator).fit(form(X), y)
    if not np.isfinite(bad):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.predict(form(X))


# In scikit-learn's company.


def test_pipeline_grid_search_and_cross_validation() -> None:
    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(MaxAbsScaler(), PAClassifier(average=True, random_state=0))
    assert cross_val_score(pipeline, X[:600], y[:600], cv=3).mean() > 0.85
    grid = GridSearchCV(
        pipeline, {"paclassifier__C": [1e-6, 0.1], "paclassifier__variant": ["PA-I", "PA-II"]}, cv=3
    )
    grid.fit(X[:600], y[:600])
    assert grid.best_params_["paclassifier__C"] == 0.1
    assert grid.score(X[600:], y[600:]) > 0.85


def test_regression_and_multilabel_score() -> None:
    X, y = make_regression(300, 8, noise=3.0, random_state=3)
    assert cross_val_score(PARegressor(epsilon=1.0, average=True), X, y, cv=3).min() > 0.98
    X, Y = make_multilabel_classification(300, 20, n_classes=5, random_state=3)
    model = PAMultilabelClassifier(C=0.01, average=True, random_state=0)
    scores = cross_val_score(model, X, Y, cv=3, scoring="average_precision")
    assert scores.min() > 0.6


@pytest.mark.parametrize("names", [["cold", "warm"], ["cold", "mild", "warm"]])
@pytest.mark.parametrize("dtype", [str, object])
def test_string_labels(names: list[str], dtype: type) -> None:
    X, number = make_classification(
        150, 6, n_informative=4, n_classes=len(names), n_clusters_per_class=1, random_state=0
    )
    y = np.array(names, dtype=dtype)[number]
    for estimator in (PAClassifier(random_state=0), PerceptronClassifier(random_state=0)):
        by_name = clone(estimator).fit(X, y)
        by_number = clone(estimator).fit(X, number)
        assert by_name.classes_.tolist() == names
        expected = np.array(names, dtype=dtype)[by_number.predict(X)]
        np.testing.assert_array_equal(by_name.predict(X), expected)
        assert by_name.score(X, y) > 0.6


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (PAClassifier(C=0.1, random_state=0), "multiclass"),
        (PAClassifier(C=0.1, random_state=0, multiclass="one-vs-rest"), "multiclass"),
        (MIRAClassifier(C=0.1, random_state=0), "multiclass"),
        (HingeClassifier(random_state=0), "binary"),
        (PARegressor(C=0.1, random_state=0), "regression"),
        (PAUniclass(C=0.1, random_state=0), "binary"),
        (PAMultilabelClassifier(C=0.1, random_state=0), "multilabel"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_sample_weight_scales_c_for_each_example(estimator, kind: str) -> None:
    X, y = data(kind)
    C = "step_size" if isinstance(estimator, HingeClassifier) else "C"
    times_3 = clone(estimator).set_params(**{C: 3 * getattr(estimator, C)}).fit(X, y)
    same(clone(estimator).fit(X, y, sample_weight=np.full(len(y), 3.0)), times_3, X)
    weight = np.ones(len(y))
    weight[::3] = 0.0
    some = weight > 0
    left_out = clone(estimator).fit(X, y, sample_weight=weight)
    same(left_out, clone(estimator).fit(X[some], y[some]), X)
    more = {"classes": np.unique(y)} if isinstance(estimator, PAClassifier) else {}
    if isinstance(estimator, PAClassifier):
        one_by_one = clone(estimator)
        for i in np.flatnonzero(some):
            one_by_one.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=[weight[i]], **more)
        at_once = clone(estimator).partial_fit(X, y, sample_weight=weight, **more)
        same(one_by_one, at_once, X)


@pytest.mark.parametrize("weight", [[1.0], [-1.0, 1.0], [np.nan, 1.0], [0.0, 0.0], [[1.0, 1.0]]])
def test_wrong_weights(weight) -> None:
    with pytest.raises(SeqpaError, match="sample_weight"):
        PAClassifier().fit([[1.0], [2.0]], [0, 1], sample_weight=weight)


def test_weights_need_a_c() -> None:
    with pytest.raises(SeqpaError, match="sample_weight scales C, which PA does not use"):
        PAClassifier(variant="PA").fit([[1.0], [2.0]], [0, 1], sample_weight=[1.0, 2.0])


def test_boosting_and_routing_hand_weights_through() -> None:
    X, y = make_classification(400, 8, n_informative=5, flip_y=0.1, random_state=3)
    weak = PAClassifier(C=400.0, fit_intercept=True, average=True, max_iter=3, random_state=0)
    boosted = AdaBoostClassifier(weak, n_estimators=8, random_state=0).fit(X, y)
    assert len(boosted.estimators_) > 1
    assert boosted.score(X, y) > 0.75
    weights = np.random.default_rng(0).uniform(0.1, 2.0, len(y))
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = PAClassifier(C=0.1, random_state=0).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(scaler, routed).fit(X, y, sample_weight=weights)
    alone = PAClassifier(C=0.1, random_state=0)
    alone.fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    np.testing.assert_array_equal(pipeline[-1].coef_, alone.coef_)


def test_class_weight_scales_c_for_each_class() -> None:
    X, y = make_classification(
        200, 5, n_informative=3, n_classes=3, weights=[0.7, 0.2], random_state=0
    )
    weights = {0: 0.5, 1: 2.0, 2: 3.0}
    weighted = PAClassifier(C=0.01, class_weight=weights, random_state=0).fit(X, y)
    balanced = PAClassifier(C=0.01, class_weight="balanced", random_state=0).fit(X, y)
    counts = np.bincount(y)
    explicit = {k: len(y) / (3 * n) for k, n in enumerate(counts)}
    by_dict = PAClassifier(C=0.01, class_weight=explicit, random_state=0).fit(X, y)
    np.testing.assert_array_equal(balanced.coef_, by_dict.coef_)
    twice = PAClassifier(C=0.02, class_weight={k: w / 2 for k, w in weights.items()})
    twice.set_params(random_state=0).fit(X, y)
    np.testing.assert_allclose(weighted.coef_, twice.coef_)
    assert not np.allclose(weighted.coef_, balanced.coef_)


def test_class_weight_favours_the_rare_class() -> None:
    X, y = make_classification(2000, 10, weights=[0.93], flip_y=0.1, random_state=2)
    options = {"C": 0.003, "fit_intercept": True, "average": True, "random_state": 0}
    plain = PAClassifier(**options).fit(X, y)
    balanced = PAClassifier(class_weight="balanced", **options).fit(X, y)
    rare = y == 1
    assert balanced.score(X[rare], y[rare]) > plain.score(X[rare], y[rare]) + 0.1


def test_cost_moves_the_mistakes_to_where_they_are_cheap() -> None:
    X, y = load_iris(return_X_y=True)
    tree = Hierarchy({"short": [0], "long": [1, 2]})
    options = {"C": 0.1, "fit_intercept": True, "average": True, "random_state": 0}
    for update in ("prediction-based", "max-loss"):
        never = PAClassifier(cost={1: {2: 16.0}}, update=update, **options).fit(X, y).predict(X)
        other = PAClassifier(cost={2: {1: 16.0}}, update=update, **options).fit(X, y).predict(X)
        assert ((y == 1) & (never == 2)).sum() < ((y == 1) & (other == 2)).sum()
        assert ((y == 2) & (never == 1)).sum() > ((y == 2) & (other == 1)).sum()
        model = PAClassifier(cost=tree, update=update, **options).fit(X, y)
        assert model.score(X, y) > 0.9
        assert model.online_cost_ >= 2 * model.online_mistakes_


def test_two_classes_with_a_cost_have_two_prototypes_and_one_decision() -> None:
    X, y = make_classification(200, 5, random_state=0)
    model = PAClassifier(cost={0: {1: 2.0}}, random_state=0).fit(X, y)
    assert model.coef_.shape == (2, 5)
    assert model.decision_function(X).shape == (200,)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)
    assert model.score(X, y) > 0.8


def test_margin_scales_the_weights_of_pa() -> None:
    X, y = make_classification(100, 5, random_state=0)
    one = PAClassifier(variant="PA", shuffle=False, tol=None, max_iter=1).fit(X, y)
    third = clone(one).set_params(margin=1 / 3).fit(X, y)
    np.testing.assert_allclose(one.coef_ / 3, third.coef_)


def test_the_intercept_is_a_feature_inside_the_norm() -> None:
    X, y = make_classification(100, 5, random_state=0)
    with_bias = PAClassifier(fit_intercept=True, shuffle=False, C=0.3).fit(X, y)
    by_hand = PAClassifier(shuffle=False, C=0.3).fit(np.column_stack([X, np.ones(100)]), y)
    np.testing.assert_allclose(with_bias.coef_, by_hand.coef_[:, :-1])
    np.testing.assert_allclose(with_bias.intercept_, by_hand.coef_[:, -1])


def test_batch_conversion_ends_with_every_squared_loss_below_tol() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 10))
    y = np.sign(X @ rng.normal(size=10))
    model = PAClassifier(variant="PA", tol=1e-2, max_iter=10_000, random_state=0).fit(X, y)
    assert model.n_iter_ < 10_000
    assert (np.maximum(0, 1 - y * model.decision_function(X)) ** 2).max() <= 1e-2


# The perceptron's four vectors.


def every_vector(X: np.ndarray, target: np.ndarray, K: int) -> np.ndarray:
    """The oracle: the weights after each example, one after the other."""
    W = np.zeros((K, X.shape[1]))
    kept = []
    for x, y in zip(X, target, strict=True):
        s = W @ x
        if K == 1:
            W = W + (y * x if y * s[0] <= 0 else 0.0)
        else:
            others = np.array([k for k in range(K) if k != y])
            wrong = others[s[others].argmax()]
            if s[y] - s[wrong] <= 0:
                W = W.copy()
                W[y] += x
                W[wrong] -= x
        kept.append(W)
    return np.array(kept)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_perceptron_reports_what_it_says(classes: int, fit_intercept: bool, form) -> None:
    X, y = make_classification(
        90, 5, n_informative=4, n_redundant=0, n_classes=classes, flip_y=0.2, random_state=7
    )
    K = 1 if classes == 2 else classes
    seen = np.column_stack([X, np.ones(90)]) if fit_intercept else X
    vectors = every_vector(np.vstack([seen, seen]), np.tile(2 * y - 1 if K == 1 else y, 2), K)
    options = {"fit_intercept": fit_intercept, "shuffle": False, "tol": None, "max_iter": 2}

    def reported(average: str, seed: int = 0) -> np.ndarray:
        model = PerceptronClassifier(average, random_state=seed, **options).fit(form(X), y)
        bias = [model.intercept_] if fit_intercept else []
        return np.column_stack([model.coef_, *bias])

    np.testing.assert_allclose(reported("last"), vectors[-1])
    np.testing.assert_allclose(reported("average"), vectors.mean(axis=0), atol=1e-10)
    distance = [np.abs(vectors - reported("random", seed)).max(axis=(1, 2)) for seed in range(20)]
    assert max(d.min() for d in distance) < 1e-10
    drawn = [int(d.argmin()) for d in distance]
    assert min(drawn) < 90 <= max(drawn)

    vote = PerceptronClassifier("vote", **options).fit(form(X), y)
    scores = np.einsum("tkf,nf->ntk", vectors, seen)
    if K == 1:
        expected = np.sign(scores[:, :, 0]).mean(axis=1)
    else:
        moved = np.abs(vectors).max(axis=(1, 2)) > 0  # the zero vector has no opinion
        choice = scores.argmax(axis=2)
        expected = np.stack([((choice == k) & moved).mean(axis=1) for k in range(K)], axis=1)
    np.testing.assert_allclose(vote.decision_function(form(X)), expected, atol=1e-10)
    assert vote.survival_.sum() == 180
    assert len(vote.survival_) == vote.n_updates_ + 1


def test_votes_in_blocks_are_votes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_digits(return_X_y=True)
    model = PerceptronClassifier("vote", max_iter=2, random_state=0).fit(X[:300], y[:300])
    at_once = model.decision_function(X[300:400])
    monkeypatch.setattr("seqpa.estimators.perceptron._AT_ONCE", 5000)
    np.testing.assert_allclose(model.decision_function(X[300:400]), at_once)


def test_a_vote_has_no_single_vector() -> None:
    X, y = data("binary")
    vote = PerceptronClassifier("vote").fit(X, y)
    assert not hasattr(vote, "coef_")
    assert not hasattr(PerceptronClassifier("last").fit(X, y), "survival_")


# Uniclass and multilabel.


def test_the_ball_holds_what_it_says() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal([4.0, -1.0, 2.0], 0.3, (150, 3))
    fixed = PAUniclass(epsilon=2.0, init="first", variant="PA", max_iter=500).fit(X)
    assert fixed.radius_ == 2.0
    assert (fixed.score_samples(X) >= -2.0 - 1e-9).all()
    learned = PAUniclass(learn_radius=True, variant="PA", init="first", max_iter=50).fit(X)
    assert (np.linalg.norm(X - learned.center_, axis=1) <= learned.radius_ + 1e-4).all()
    assert learned.radius_ < np.linalg.norm(X - X[0], axis=1).max() + 0.1
    np.testing.assert_array_equal(learned.predict(X + 50.0), np.full(150, -1))


def test_the_learned_radius_only_grows() -> None:
    rng = np.random.default_rng(3)
    model = PAUniclass(learn_radius=True, max_radius=20.0)
    radii = [model.partial_fit(rng.normal(size=(1, 3))).radius_ for _ in range(40)]
    assert radii[0] > 0
    assert np.all(np.diff(radii) >= -1e-12)
    assert radii[-1] < 20.0


def test_multilabel_ranks_and_cuts() -> None:
    X, Y = make_multilabel_classification(200, 15, n_classes=4, random_state=0)
    model = PAMultilabelClassifier(C=0.05, average=True, random_state=0).fit(X, Y)
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores - model.threshold_)
    ranks = model.rank(X)
    assert (
        np.take_along_axis(scores, ranks, axis=1)[:, :-1] + 1e-12
        >= np.take_along_axis(scores, ranks, axis=1)[:, 1:]
    ).all()
    both = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 4)
    middle = [
        (s[r == 1].min() + s[r == 0].max()) / 2 for s, r in zip(scores[both], Y[both], strict=True)
    ]
    assert model.threshold_ == pytest.approx(np.mean(middle))
    by_sparse = clone(model).fit(X, sparse.csr_matrix(Y))
    np.testing.assert_array_equal(by_sparse.coef_, model.coef_)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kind", [PAMultilabelClassifier, EllipsoidMultilabelClassifier])
def test_the_cut_does_not_depend_on_the_calls(kind, average: bool) -> None:
    """Taken from the last call alone, it halved the F1 of what was learned one by one."""
    X, Y = make_multilabel_classification(800, 30, n_classes=6, random_state=2)
    options = {"average": average, **({"C": 0.01} if kind is PAMultilabelClassifier else {})}
    at_once = kind(**options).partial_fit(X[:600], Y[:600])
    one_by_one = kind(**options)
    for i in range(600):
        one_by_one.partial_fit(X[i : i + 1], Y[i : i + 1])
    assert one_by_one.threshold_ == pytest.approx(at_once.threshold_)
    fitted = kind(max_iter=1, tol=None, shuffle=False, **options).fit(X[:600], Y[:600])
    cut = f1_score(Y[600:], one_by_one.predict(X[600:]), average="micro")
    assert cut > f1_score(Y[600:], fitted.predict(X[600:]), average="micro") - 0.05


def test_multilabel_with_one_label_each_is_multiclass() -> None:
    X, y = data("multiclass")
    ranked = PAMultilabelClassifier(shuffle=False, C=0.1).fit(X, np.eye(3, dtype=int)[y])
    np.testing.assert_array_equal(ranked.coef_, PAClassifier(shuffle=False, C=0.1).fit(X, y).coef_)


def test_multilabel_without_a_contrast_learns_nothing() -> None:
    model = PAMultilabelClassifier().fit([[1.0], [2.0]], [[1, 1], [0, 0]])
    assert model.n_updates_ == 0
    assert model.threshold_ == 0.0


# Errors.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C=0; it must be a number above 0"),
        ({"C": "1"}, "C='1'"),
        ({"C": float("inf")}, "C=inf"),
        ({"variant": "pa-i"}, "variant='pa-i'; it must be one of PA, PA-I, PA-II, PA-LS"),
        ({"variant": "perceptron"}, "it must be one of"),
        ({"update": "best"}, "one of prediction-based, max-loss"),
        ({"margin": -1.0}, "margin=-1.0"),
        ({"max_iter": 0}, "max_iter=0; it must be a whole number, 1 or above"),
        ({"max_iter": 2.5}, "max_iter=2.5"),
        ({"tol": -1}, "tol=-1"),
        ({"shuffle": "yes"}, "shuffle='yes'; it must be True or False"),
        ({"class_weight": {0: 0.0}}, "every weight must be a number above 0"),
        ({"class_weight": "balanced", "variant": "PA"}, "which PA does not use"),
        ({"cost": {0: {5: 1}}}, "the cost names 5"),
        ({"cost": np.zeros((3, 3))}, "2 labels need"),
    ],
)
def test_bad_parameters_say_what_would_be_right(options: dict, message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        PAClassifier(**options).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (PARegressor(epsilon=-1), "epsilon=-1"),
        (PAUniclass(init="mean"), "one of zero, first"),
        (PAUniclass(max_radius=0), "max_radius=0"),
        (PerceptronClassifier("mean"), "one of average, last, random, vote"),
        (PerceptronClassifier(tol=1.5), "0 <= tol < 1"),
    ],
)
def test_bad_parameters_of_the_others(estimator, message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        estimator.fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("estimator", [PAClassifier(), PerceptronClassifier()])
def test_classes_of_classifiers(estimator) -> None:
    X = np.ones((2, 3))
    with pytest.raises(SeqpaError, match="one class only"):
        clone(estimator).fit(X, ["a", "a"])
    with pytest.raises(SeqpaError, match="classes must be passed on the first call"):
        clone(estimator).partial_fit(X, ["a", "b"])
    with pytest.raises(SeqpaError, match="two classes or more"):
        clone(estimator).partial_fit(X, ["a", "a"], classes=["a"])
    for unknown in ("c", "A", "aa"):
        with pytest.raises(SeqpaError, match=f"{unknown!r}.*is not among the classes"):
            clone(estimator).partial_fit(X, ["a", unknown], classes=["a", "b"])
    model = clone(estimator).partial_fit(X, ["a", "a"], classes=["b", "a"])
    assert model.classes_.tolist() == ["a", "b"]
    with pytest.raises(SeqpaError, match="on a later call"):
        model.partial_fit(X, ["a", "b"], classes=["a", "c"])


def test_balanced_weights_need_all_of_y() -> None:
    with pytest.raises(SeqpaError, match="needs all of y at once"):
        PAClassifier(class_weight="balanced").partial_fit([[1.0]], [0], classes=[0, 1])
    weighted = PAClassifier(class_weight={1: 2.0}, C=0.1)
    weighted.partial_fit([[1.0], [0.5]], [0, 1], classes=[0, 1])
    assert weighted.coef_[0, 0] == pytest.approx(-0.1 + 0.2 * 0.5)


@pytest.mark.parametrize("y", [[0, 1], [[0, 2], [1, 0]], [["a", "b"], ["b", "a"]]])
def test_multilabel_wants_an_indicator(y: list) -> None:
    with pytest.raises(ValueError, match=r"indicator|Unknown label type|numeric|multioutput"):
        PAMultilabelClassifier().fit([[1.0], [2.0]], y)


def test_multilabel_keeps_its_labels() -> None:
    model = PAMultilabelClassifier().fit([[1.0], [2.0]], [[0, 1], [1, 0]])
    with pytest.raises(SeqpaError, match="3 columns; the first call had 2"):
        model.partial_fit([[1.0]], [[0, 1, 0]])


def test_weights_that_overflow_are_an_error() -> None:
    with pytest.raises(SeqpaError, match="the weights overflow"):
        PARegressor(variant="PA", tol=None).fit([[1e-140], [1e140]], [1e300, 1.0])


def test_damaged_sparse_input_is_refused() -> None:
    X = sparse.csr_matrix(np.eye(3))
    X.indices[1] = 7
    with pytest.raises(ValueError, match="ind"):
        PAClassifier().fit(X, [0, 1, 0])


def test_repeated_and_unsorted_entries_are_one_entry() -> None:
    twice = sparse.csr_matrix(
        (np.array([1.0, 2.0, 0.5, 3.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3)
    )
    model = PAClassifier(random_state=0).fit(twice, [0, 1])
    once = PAClassifier(random_state=0).fit(twice.toarray(), [0, 1])
    np.testing.assert_allclose(model.coef_, once.coef_)
    assert twice.indices.tolist() == [2, 0, 2, 1]
