"""One-vs-rest: K two-class problems in one pass, equal to K passes and to scikit-learn's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference
from cases import SGD_HAS_PA
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier

from seqpa import PAClassifier, SeqpaError
from seqpa.core import Examples, Learner, OneVsRest, Run
from seqpa.core.batch import BatchLearner
from seqpa.core.bounds import bounds, certificate
from seqpa.core.ellipsoid import EllipsoidLearner
from seqpa.core.hinge import HingeLearner
from seqpa.core.mira import PrototypeLearner

FORMS = {"dense": np.asarray, "sparse": sp.csr_matrix}
VARIANTS = ("PA", "PA-I", "PA-II", "PA-LS")
CLOSE = {"rtol": 1e-8, "atol": 1e-10}
PLAIN = {"shuffle": False, "tol": None}


def draw(rng: np.random.Generator, n: int, d: int, K: int):
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    return X, np.argmax(X @ rng.normal(size=(d, K)) + rng.normal(size=(n, K)), axis=1)


def twins(
    rows: np.ndarray, y: np.ndarray, K: int, order, step: str, C, margin: float, tol: float = 0.0
) -> list[reference.Trace]:
    """A run of its own for each label."""
    width = rows.shape[1]
    return [
        reference.run(
            reference.binary(rows, np.where(y == k, 1.0, -1.0), margin),
            order,
            np.zeros(width),
            step,
            C,
            tol,
        )
        for k in range(K)
    ]


def check(
    seed: int, step: str, form: str, bias: bool, average: bool, K: int, tol: float = 0.0
) -> None:
    rng = np.random.default_rng(seed)
    X, y = draw(rng, 25, int(rng.integers(1, 8)), K)
    rows = reference.with_bias(X) if bias else X
    C = rng.uniform(0.05, 2.0, size=len(X))
    margin = float(rng.choice([0.5, 1.0, 2.0]))
    order = rng.permutation(len(X))[:-2]
    expected = twins(rows, y, K, order, step, C, margin, tol)
    learner = Learner(OneVsRest(margin), step, X.shape[1], K, bias, average)
    examples = Examples.from_array(FORMS[form](X), bias)
    run = learner.run(examples, y, C=C, order=order, tol=tol, record=True)
    np.testing.assert_allclose(learner.weights, [one.weights for one in expected], **CLOSE)
    if average:
        np.testing.assert_allclose(learner.mean_weights, [one.mean for one in expected], **CLOSE)
    check_record(run, expected, order, K)
    before = np.array([np.vstack([0 * one.weights, *one.after[:-1]]) for one in expected])
    scores = np.einsum("ktf,tf->tk", before, rows[order])
    right = scores[np.arange(len(order)), y[order]]
    rivals = (scores >= right[:, None]).sum(axis=1) - 1
    assert run.mistakes == run.cost == np.sum(rivals > 0)


def check_record(run: Run, expected: list[reference.Trace], order, K: int) -> None:
    """K rounds for each example; the sums are over all of them, updates counted by example."""
    for name in ("losses", "taus", "norms2", "costs"):
        want = np.array([getattr(one, name) for one in expected]).T
        np.testing.assert_allclose(getattr(run, name).reshape(-1, K), want, err_msg=name, **CLOSE)
    np.testing.assert_array_equal(run.order.reshape(-1, K), np.repeat(order, K).reshape(-1, K))
    np.testing.assert_array_equal(run.ups, np.tile(np.arange(K), len(order)))
    assert (run.downs == -1).all()
    np.testing.assert_allclose(run.loss, run.losses.sum())
    np.testing.assert_allclose(run.squared_loss, (run.losses**2).sum())
    assert run.updates == np.sum((run.taus.reshape(-1, K) != 0).any(axis=1))
    assert run.n_examples == len(order)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("step", reference.STEPS)
def test_equals_a_twin_for_each_label(step: str, form: str) -> None:
    """Numbers of labels that fill the kernel's eights and twos, and such that leave one over."""
    sizes = itertools.cycle([3, 8, 10, 19])
    for seed, (bias, average) in enumerate(itertools.product((False, True), repeat=2)):
        for K in itertools.islice(sizes, 3):
            check(seed, step, form, bias, average, K)


@pytest.mark.pure
@pytest.mark.parametrize("form", FORMS)
def test_equals_a_twin_for_each_label_quick(form: str) -> None:
    for seed, step in enumerate(reference.STEPS):
        check(seed, step, form, bias=True, average=True, K=11)
        check(seed, step, form, bias=False, average=False, K=3)


@pytest.mark.pure
@pytest.mark.parametrize("step", ["PA", "PA-I", "PA-II"])
def test_tol_looks_at_each_label(step: str) -> None:
    check(5, step, "sparse", bias=False, average=True, K=5, tol=0.3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_each_label_is_a_binary_classifier(variant: str, form: str) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = FORMS[form](X[:300] / 16), y[:300]
    for options in (PLAIN, {"tol": 1e-3, "random_state": 7}):
        one = PAClassifier(0.1, variant, fit_intercept=True, max_iter=3, **options)
        ours = clone(one).set_params(multiclass="one-vs-rest").fit(X, y)
        each = [clone(one).fit(X, y == k) for k in range(10)]
        np.testing.assert_allclose(ours.coef_, np.vstack([m.coef_ for m in each]), **CLOSE)
        np.testing.assert_allclose(
            ours.intercept_, np.concatenate([m.intercept_ for m in each]), **CLOSE
        )
        np.testing.assert_allclose(
            ours.decision_function(X), np.array([m.decision_function(X) for m in each]).T, **CLOSE
        )
        for name in ("online_loss_", "online_squared_loss_"):
            assert getattr(ours, name) == pytest.approx(sum(getattr(m, name) for m in each))
        assert ours.coef_.shape == (10, 64)
        assert ours.intercept_.shape == (10,)


@pytest.mark.skipif(not SGD_HAS_PA, reason="this scikit-learn's SGDClassifier has no C for pa1")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(("variant", "rate"), [("PA-I", "pa1"), ("PA-II", "pa2")])
def test_ten_classes_are_scikit_learn_s(variant: str, rate: str, average: bool, form: str) -> None:
    X, y = load_digits(return_X_y=True)
    X = FORMS[form](X / 16)
    same = {"fit_intercept": False, "average": average, "max_iter": 2, **PLAIN}
    ours = PAClassifier(0.05, variant, multiclass="one-vs-rest", **same).fit(X, y)
    theirs = SGDClassifier(learning_rate=rate, eta0=0.05, penalty=None, **same).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), **CLOSE)
    assert ours.intercept_.shape == theirs.intercept_.shape


def test_two_classes_are_the_same_either_way() -> None:
    X, y = draw(np.random.default_rng(2), 60, 5, 2)
    ways = [PAClassifier(0.1, multiclass=m, random_state=0) for m in ("prototypes", "one-vs-rest")]
    a, b = (way.fit(X, y) for way in ways)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert b.coef_.shape == (1, 5)
    assert a.online_loss_ == b.online_loss_


def test_class_weight_scales_c_of_an_example_for_all_labels() -> None:
    X, y = draw(np.random.default_rng(3), 80, 4, 3)
    factors = {0: 0.5, 1: 1.0, 2: 4.0}
    model = PAClassifier(0.02, class_weight=factors, multiclass="one-vs-rest", **PLAIN, max_iter=1)
    C = 0.02 * np.array([factors[k] for k in y.tolist()])
    expected = twins(X, y, 3, range(80), "PA-I", C, 1.0)
    np.testing.assert_allclose(model.fit(X, y).coef_, [one.weights for one in expected], **CLOSE)


def test_tol_ends_when_every_label_is_content() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(12, 30)), np.arange(12) % 4
    model = PAClassifier(variant="PA", tol=1e-3, max_iter=5000, multiclass="one-vs-rest")
    model.set_params(random_state=0).fit(X, y)
    assert model.n_iter_ < 5000
    losses = OneVsRest().losses(model.decision_function(X), y)
    assert losses.max() ** 2 <= 1e-3 * (1 + 1e-9)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    step=st.sampled_from(["PA", "PA-I", "PA-II", "perceptron"]),
    margin=st.sampled_from([0.3, 1.0]),
    C=st.sampled_from([0.02, 1.0]),
    tol=st.sampled_from([0.0, 0.1]),
)
def test_bounds_hold(seed: int, step: str, margin: float, C: float, tol: float) -> None:
    rng = np.random.default_rng(seed)
    d, K = int(rng.integers(1, 6)), int(rng.integers(2, 7))
    X, y = draw(rng, int(rng.integers(1, 40)), d, K)
    learner, examples = Learner(OneVsRest(margin), step, d, K), Examples.from_array(X)
    runs = [learner.run(examples, y, C=C, tol=tol, record=True) for _ in range(2)]
    for u in (rng.normal(size=(K, d)), np.zeros((K, d)), 5.0 * rng.normal(size=(K, d))):
        found = bounds(runs, learner, examples, y, u, C=C, tol=tol)
        assert not any(bound.violated for bound in found), certificate(found)
    names = {bound.name for bound in found if bound.applies}
    wanted = {"PA-I": "PA 2006, Theorem 4", "PA-II": "PA 2006, Theorem 5"}.get(
        step, "PA 2006, Lemma 1"
    )
    assert wanted in names


def test_bounds_of_separable_examples() -> None:
    rng = np.random.default_rng(6)
    X = np.eye(5)[rng.integers(5, size=40)] + 0.05 * rng.normal(size=(40, 5))
    y = X.argmax(axis=1)
    learner, examples = Learner(OneVsRest(), "PA", 6, 5), Examples.from_array(np.c_[X, np.ones(40)])
    run = learner.run(examples, y, record=True)
    u = np.c_[10.0 * np.eye(5), np.full(5, -5.0)]
    found = {b.name: b for b in bounds(run, learner, examples, y, u)}
    assert found["PA 2006, Theorem 2"].applies
    assert found["PA 2006, Theorem 2"].holds
    assert found["PA 2006, Theorem 2"].left == pytest.approx(run.squared_loss)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"multiclass": "ovr"}, "multiclass='ovr'; it must be one of prototypes, one-vs-rest"),
        ({"multiclass": "one-vs-rest", "cost": {0: {1: 2.0}}}, "cost compares labels"),
        ({"multiclass": "one-vs-rest", "features": lambda X, k: X}, "features compares labels"),
    ],
)
def test_bad_parameters(options: dict, message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        PAClassifier(**options).fit([[1.0], [2.0], [3.0]], [0, 1, 2])


def test_the_way_cannot_change_while_learning() -> None:
    X, y = draw(np.random.default_rng(8), 20, 3, 3)
    model = PAClassifier().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(SeqpaError, match=r"multiclass='one-vs-rest', but training began with"):
        model.set_params(multiclass="one-vs-rest").partial_fit(X, y)


def test_other_geometries_refuse_it() -> None:
    examples = Examples.from_array([[1.0, 2.0]])
    with pytest.raises(SeqpaError, match="a constraint of each label"):
        BatchLearner(OneVsRest(), "PA-I", 2, 3, batch_size=2).run(examples, [0])
    with pytest.raises(SeqpaError, match="Binary and multi-prototype Multiclass"):
        HingeLearner(OneVsRest(), "PA", 2, 3)
    with pytest.raises(SeqpaError, match="Binary, Multiclass or Multilabel"):
        EllipsoidLearner(OneVsRest(), "PA", 2, 3)
    with pytest.raises(SeqpaError, match="Multiclass only"):
        PrototypeLearner(OneVsRest(), "PA", 2, 3, rule="all")
    with pytest.raises(SeqpaError, match="a vector for each label"):
        Learner(OneVsRest(), "PA", 2, 3, joint=True)
    with pytest.raises(SeqpaError, match="index of a label"):
        Learner(OneVsRest(), "PA", 2, 3).run(examples, [3])
