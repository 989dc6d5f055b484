"""Subgradient descent on the hinge loss, and the perceptron that it contains."""

from __future__ import annotations

import numpy as np
import pytest
import reference
import reference_family as twin
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.datasets import load_digits

from seqpa import HingeClassifier, PerceptronClassifier, SeqpaError
from seqpa.core.bounds import bounds, certificate
from seqpa.core.examples import Examples
from seqpa.core.hinge import HingeLearner
from seqpa.core.problems import Binary, Multiclass, Regression

FORMS = {"dense": np.asarray, "sparse": sparse.csr_matrix}


def draw(rng: np.random.Generator, K: int, n: int = 30, d: int = 4):
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    if K == 1:
        return X, np.where(X @ rng.normal(size=d) + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, np.argmax(X @ rng.normal(size=(d, K)) + rng.normal(size=(n, K)), axis=1)


def constraint(X: np.ndarray, y: np.ndarray, K: int, margin: float):
    if K == 1:
        return reference.binary(X, y, margin)
    return reference.multiclass(reference.blocks(X, K), y, K, margin)


def learner_of(K: int, d: int, margin: float, **options) -> HingeLearner:
    problem = Binary(margin) if K == 1 else Multiclass(margin)
    return HingeLearner(problem, "perceptron", d, K, average=True, **options)


CASES = pytest.mark.parametrize(
    ("K", "margin", "eta", "lam"),
    [(1, 0.0, 1.0, 0.0), (1, 1.0, 0.3, 0.5), (3, 0.0, 0.5, 0.1), (3, 1.0, 0.1, 0.0)],
)


@pytest.mark.pure
@CASES
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bias", [False, True])
def test_stochastic_steps_equal_their_twin(K, margin, eta, lam, form: str, bias: bool) -> None:
    X, y = draw(np.random.default_rng(1), K)
    learner = learner_of(K, 4, margin, eta=eta, lam=lam, bias=bias)
    examples = Examples.from_array(FORMS[form](X), bias)
    order = np.random.default_rng(2).permutation(len(X))
    for _ in range(2):
        learner.run(examples, y, order=order)
    rows = reference.with_bias(X) if bias else X
    both = [*order, *order]
    expected = twin.hinge(
        constraint(rows, y, K, margin), both, np.zeros(K * rows.shape[1]), eta, lam
    )
    np.testing.assert_allclose(learner.weights.reshape(-1), expected.weights, atol=1e-12)
    np.testing.assert_allclose(learner.mean_weights.reshape(-1), expected.mean, atol=1e-12)


@CASES
@pytest.mark.parametrize("form", FORMS)
def test_batch_steps_equal_their_twin(K, margin, eta, lam, form: str) -> None:
    X, y = draw(np.random.default_rng(3), K)
    learner = learner_of(K, 4, margin, eta=eta, lam=lam, batch=True)
    for _ in range(5):
        run = learner.run(Examples.from_array(FORMS[form](X)), y)
        assert run.updates <= 1
    after = twin.hinge_batch(constraint(X, y, K, margin), len(X), np.zeros(K * 4), eta, lam, 5)
    np.testing.assert_allclose(learner.weights.reshape(-1), after[-1], atol=1e-12)
    np.testing.assert_allclose(learner.mean_weights.reshape(-1), np.mean(after, axis=0), atol=1e-12)


@pytest.mark.parametrize("K", [1, 3])
def test_a_batch_step_goes_down_the_gradient(K: int) -> None:
    """Away from the kinks the subgradient is the gradient of the printed objective."""
    rng = np.random.default_rng(4)
    X, y = draw(rng, K)
    w, eta, lam, margin = rng.normal(size=K * 4), 0.2, 0.3, 1.0
    problem = Binary(margin) if K == 1 else Multiclass(margin)

    def objective(v: np.ndarray) -> float:
        losses = problem.losses(X @ v.reshape(K, 4).T, y)
        return 0.5 * lam * float(v @ v) + float(losses.mean())

    learner = learner_of(K, 4, margin, eta=eta, lam=lam, batch=True, start=w.reshape(K, 4))
    learner.run(Examples.from_array(X), y)
    gradient = approx_fprime(w, objective, 1e-7)
    np.testing.assert_allclose((w - learner.weights.reshape(-1)) / eta, gradient, atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", FORMS)
def test_the_perceptron_is_a_special_case(classes: int, form: str) -> None:
    """η = 1, λ = 0, margin 0 (slide 23), in the same random order and for the mean too."""
    X, y = draw(np.random.default_rng(5), classes)
    for average, which in ((False, "last"), (True, "average")):
        ours = HingeClassifier(
            step_size=1.0, margin=0.0, average=average, max_iter=4, tol=None, random_state=7
        ).fit(FORMS[form](X), y)
        perceptron = PerceptronClassifier(which, max_iter=4, tol=None, random_state=7)
        perceptron.fit(FORMS[form](X), y)
        np.testing.assert_allclose(ours.coef_, perceptron.coef_, atol=1e-12)
        assert ours.n_updates_ == perceptron.n_updates_
        assert ours.online_mistakes_ == perceptron.online_mistakes_


def test_the_scale_may_become_tiny() -> None:
    """ηλ = 0.9: every few examples the scale of the weights has to be folded in."""
    X, y = draw(np.random.default_rng(6), 1, n=400)
    learner = learner_of(1, 4, 1.0, eta=0.9, lam=1.0)
    learner.run(Examples.from_array(X), y)
    expected = twin.hinge(constraint(X, y, 1, 1.0), range(400), np.zeros(4), 0.9, 1.0)
    np.testing.assert_allclose(learner.weights[0], expected.weights, rtol=1e-9)
    np.testing.assert_allclose(learner.mean_weights[0], expected.mean, rtol=1e-9)


@settings(max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    margin=st.sampled_from([0.0, 0.2, 1.0]),
    eta=st.sampled_from([0.05, 1.0, 7.0]),
    K=st.sampled_from([1, 3]),
)
def test_mistake_bounds_hold(seed: int, margin: float, eta: float, K: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = draw(rng, K)
    U = rng.normal(size=(K, 4))
    scores = X @ U.T
    if K == 1:
        y, lead = np.where(scores[:, 0] > 0, 1.0, -1.0), np.abs(scores[:, 0])
    else:
        y, lead = scores.argmax(axis=1), np.diff(np.sort(scores, axis=1)[:, -2:])[:, 0]
    X, y = X[lead > 1e-3], y[lead > 1e-3]
    if len(y) == 0:
        return
    learner, examples = learner_of(K, 4, margin, eta=eta), Examples.from_array(X)
    runs = [learner.run(examples, y, record=True) for _ in range(3)]
    for u in (U, 10 * U, rng.normal(size=U.shape)):
        found = bounds(runs, learner, examples, y, u)
        assert not any(b.violated for b in found), certificate(found)
    names = {b.name for b in bounds(runs, learner, examples, y, U) if b.applies}
    assert "Perceptron notes, Novikoff with a margin" in names


def test_no_theorem_is_claimed_for_regularised_or_batch_descent() -> None:
    X, y = draw(np.random.default_rng(8), 1)
    for options in ({"lam": 0.1}, {"batch": True}):
        learner, examples = learner_of(1, 4, 1.0, **options), Examples.from_array(X)
        run = learner.run(examples, y, record=True)
        applying = [b.name for b in bounds(run, learner, examples, y, np.ones(4)) if b.applies]
        assert applying == ["PA 2006, Eq. 46"]  # which is about losses, not steps


def test_wrong_parameters() -> None:
    with pytest.raises(SeqpaError, match="below 1"):
        HingeClassifier(step_size=2.0, regularization=0.5).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(SeqpaError, match=r"method='minibatch'; it must be one of stochastic"):
        HingeClassifier("minibatch").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(SeqpaError, match="margin=-1"):
        HingeClassifier(margin=-1).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(SeqpaError, match="eta"):
        HingeLearner(Binary(), "perceptron", 2, eta=0.0)
    with pytest.raises(SeqpaError, match="hinge loss"):
        HingeLearner(Regression(0.1), "perceptron", 2)


def test_a_support_vector_machine_of_the_digits() -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16
    options = {"regularization": 0.001, "random_state": 0}
    stochastic = HingeClassifier(step_size=0.01, average=True, **options)
    batch = HingeClassifier("batch", step_size=0.5, max_iter=300, **options)
    for model in (stochastic, batch):
        assert model.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]) > 0.9
