"""Multiplicative steps: twins, PA 2003, Theorem 4, and where its uniclass constants fail."""

from __future__ import annotations

import numpy as np
import pytest
import reference
import reference_family as twin
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from seqpa import (
    MultiplicativePAClassifier,
    MultiplicativePARegressor,
    MultiplicativePAUniclass,
    SeqpaError,
)
from seqpa.core.bounds import bounds, certificate
from seqpa.core.examples import Examples
from seqpa.core.multiplicative import MultiplicativeLearner, relative_entropy
from seqpa.core.problems import Binary, Multiclass, Regression, Uniclass

SEEDS = st.integers(0, 2**32 - 1)
FORMS = {"dense": np.asarray, "sparse": sparse.csr_matrix}
KINDS = ("binary", "regression", "multiclass", "uniclass")
STEPS = ("PA", "PA-I", "PA-II", "PA-LS")
K = 3


def draw(kind: str, rng: np.random.Generator, n: int = 40, d: int = 6):
    """Examples, targets, and seqpa's problem."""
    X = rng.exponential(size=(n, d)) * (rng.random((n, d)) < 0.7)
    if kind == "binary":
        return X, rng.choice([-1.0, 1.0], size=n), Binary(0.2)
    if kind == "regression":
        return X, X @ rng.dirichlet(np.ones(d)) + 0.1 * rng.normal(size=n), Regression(0.05)
    if kind == "uniclass":
        X[:, 0] += 1e-3
        return X / X.sum(axis=1, keepdims=True), None, Uniclass(0.2)
    return X, np.argmax(X @ rng.normal(size=(d, K)), axis=1), Multiclass(0.1)


def constraint(kind: str, rows: np.ndarray, y):
    if kind == "binary":
        return reference.binary(rows, y, 0.2)
    if kind == "regression":
        return reference.regression(rows, y, 0.05)
    if kind == "uniclass":
        return reference.uniclass(rows, 0.2)
    return reference.multiclass(reference.blocks(rows, K), y, K, 0.1)


def learner_of(kind: str, problem, d: int, step: str = "PA", **options) -> MultiplicativeLearner:
    n_labels = K if kind == "multiclass" else 1
    return MultiplicativeLearner(problem, step, d, n_labels, **options)


@pytest.mark.pure
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_weights_equal_their_twin(kind: str, step: str, bias: bool, form: str) -> None:
    if kind == "uniclass" and bias:
        pytest.skip("a centre has no bias")
    if kind in ("uniclass", "regression") and step == "PA-LS":
        pytest.skip("least squares is a step of classification")
    rng = np.random.default_rng(1)
    X, y, problem = draw(kind, rng)
    X[4] = X[5] if kind == "uniclass" else 0.0
    n_labels = K if kind == "multiclass" else 1
    start = rng.dirichlet(np.ones(n_labels * (X.shape[1] + bias))).reshape(n_labels, -1)
    learner = learner_of(kind, problem, X.shape[1], step, bias=bias, average=True, start=start)
    run = learner.run(Examples.from_array(FORMS[form](X), bias), y, C=0.3, record=True)
    rows = reference.with_bias(X) if bias else X
    n = rows.shape[1] * learner.n_labels
    expected = twin.multiplicative(
        constraint(kind, rows, y),
        range(len(X)),
        start.reshape(-1),
        step,
        0.3,
        one_sided=kind in ("binary", "regression"),
    )
    for ours, theirs in (
        (learner.weights, expected.weights),
        (learner.mean_weights, expected.mean),
    ):
        np.testing.assert_allclose(ours.reshape(-1)[:n], theirs, rtol=1e-9, atol=1e-14)
        assert ours.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(run.taus, expected.taus, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(run.losses, expected.losses, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(run.norms2[run.taus > 0], np.array(expected.norms2)[run.taus > 0])


def test_a_long_sparse_run_loses_no_digits() -> None:
    """Σe is followed through thousands of partial updates, and still is the sum."""
    rng = np.random.default_rng(2)
    X = sparse.random(3000, 500, density=0.01, random_state=2, format="csr")
    y = rng.integers(K, size=3000)
    learners = [learner_of("multiclass", Multiclass(0.01), 500, average=True) for _ in range(2)]
    learners[0].run(Examples.from_array(X), y)
    learners[1].run(Examples.from_array(X.toarray()), y)
    np.testing.assert_allclose(learners[0].weights, learners[1].weights, rtol=1e-7)
    np.testing.assert_allclose(learners[0].mean_weights, learners[1].mean_weights, rtol=1e-7)


def test_dense_and_sparse_passes_may_alternate() -> None:
    X, y, problem = draw("multiclass", np.random.default_rng(3))
    mixed, plain = (learner_of("multiclass", problem, 6, average=True) for _ in range(2))
    for form in ("dense", "sparse", "dense"):
        mixed.run(Examples.from_array(FORMS[form](X)), y)
        plain.run(Examples.from_array(X), y)
    np.testing.assert_allclose(mixed.weights, plain.weights, rtol=1e-9)
    np.testing.assert_allclose(mixed.mean_weights, plain.mean_weights, rtol=1e-9)


@settings(max_examples=120)
@given(seed=SEEDS, kind=st.sampled_from(KINDS), step=st.sampled_from(["PA", "PA-I", "PA-II"]))
def test_bounds_hold(seed: int, kind: str, step: str) -> None:
    """Lemma 1 and all that follows, with relative entropies: any sequence, any distribution u."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 8))
    X, y, problem = draw(kind, rng, n=int(rng.integers(1, 40)), d=d)
    X = X * rng.choice([0.1, 1.0, 20.0]) if kind != "uniclass" else X
    C = float(rng.choice([0.02, 1.0, 30.0]))
    learner, examples = learner_of(kind, problem, d, step), Examples.from_array(X)
    first = learner.weights.copy()
    runs = [learner.run(examples, y, C=C, record=True) for _ in range(2)]
    size = d * learner.n_labels
    for u in (rng.dirichlet(np.full(size, 0.3)), learner.weights.reshape(-1)[:size], first):
        u = u.reshape(-1)[:size]
        found = bounds(runs, learner, examples, y, u, C=C)
        assert not any(b.violated for b in found), certificate(found)
        assert any(b.applies for b in found)


@settings(max_examples=80)
@given(seed=SEEDS, kind=st.sampled_from(["regression", "multiclass", "uniclass"]))
def test_theorem_4(seed: int, kind: str) -> None:
    """Examples that a distribution u fits, with ε > ε* and ε = ε*: it applies, and holds."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(2, 8)), 60
    X = rng.exponential(size=(n, d))
    u = rng.dirichlet(np.full(d * (K if kind == "multiclass" else 1), 0.3))
    spare = float(rng.choice([0.0, 0.05]))
    y = None
    if kind == "regression":
        noise = 0.1 * rng.uniform(-1, 1, size=n)
        y, problem = X @ u + noise, Regression(0.1 + spare)
    elif kind == "uniclass":
        v = rng.normal(size=(n, d))
        X = np.abs(u + 0.3 * v / np.linalg.norm(v, axis=1, keepdims=True))
        problem = Uniclass(float(np.linalg.norm(X - u, axis=1).max()) + spare)
    else:
        scores = X @ u.reshape(K, d).T
        y = scores.argmax(axis=1)
        margin = float(np.diff(np.sort(scores, axis=1)[:, -2:]).min()) - spare
        if margin <= 0:
            return
        problem = Multiclass(margin)
    learner, examples = learner_of(kind, problem, d), Examples.from_array(X)
    runs = [learner.run(examples, y, record=True) for _ in range(3)]
    found = {b.name: b for b in bounds(runs, learner, examples, y, u)}
    theorem = found["PA 2003, Theorem 4"]
    assert not any(b.violated for b in found.values()), certificate(list(found.values()))
    if theorem.applies:  # rounding may cost u its last digit of margin
        width = {"regression": 1.0, "multiclass": 2.0}.get(kind)
        B = (width * X.max()) ** 2 if width else 4.0
        start = np.full(u.size, 1 / u.size)
        assert theorem.left <= theorem.right <= 0.5 * B * relative_entropy(u, start) * (1 + 1e-9)
    else:
        assert spare == 0.0


def test_the_printed_uniclass_step_breaks_the_printed_bound() -> None:
    """τ = ℓ/8‖v‖∞² and B = 16: far examples in the direction of u = (1, 0), all on its sphere.

    D falls by ℓ²/8 less than τ²p(1 − p)/2 a round, so Σℓ² passes 8D; ours, with B = 4, holds.
    """
    for printed in (True, False):
        p, total, far = 0.5, 0.0, 1e7
        for _ in range(4000):
            loss = 1.0 - p - (1.0 - p) ** 2 / far  # ‖x − w‖ − ‖x − u‖ for x = w + far·(1, 0)
            total += loss**2
            tau = loss / 8 if printed else loss
            p = p * np.exp(tau) / (p * np.exp(tau) + 1 - p)
        D = relative_entropy([1.0, 0.0], [0.5, 0.5])
        assert (total > 8 * D) == printed
    assert total < 2 * D


def test_nothing_overflows() -> None:
    rng = np.random.default_rng(5)
    X = rng.exponential(size=(50, 4))
    y = rng.integers(K, size=50)
    for scale in (1e-120, 1e-8, 1e8, 1e120):
        for form in FORMS:
            learner = learner_of("multiclass", Multiclass(1.0), 4)
            learner.run(Examples.from_array(FORMS[form](X * scale)), y)
            assert np.isfinite(learner.weights).all()
            assert learner.weights.sum() == pytest.approx(1.0)


def test_a_weight_that_vanished_comes_back() -> None:
    learner = MultiplicativeLearner(Regression(0.0), "PA", 2)
    one = Examples.from_array([[1e-3, 0.0]])
    learner.run(one, [-1.0])  # τx = −4000: below the smallest number
    assert learner.weights[0, 0] == 0.0
    learner.run(one, [1.0])
    learner.run(one, [1.0])
    assert learner.weights[0, 0] > 0.5


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "estimator",
    [MultiplicativePAClassifier(), MultiplicativePARegressor(), MultiplicativePAUniclass()],
    ids=lambda e: type(e).__name__,
)
def test_negative_examples_are_refused(estimator, form: str) -> None:
    X = np.array([[0.5, 0.0, 1.0], [0.25, 0.0, -0.125], [1.0, 2.0, 0.0]])
    with pytest.raises(ValueError, match=r"Negative values in data: row 1, column 2 is -0\.125"):
        estimator.fit(FORMS[form](X), [0, 1, 1])


def test_wrong_learners() -> None:
    with pytest.raises(SeqpaError, match="radius"):
        MultiplicativeLearner(Uniclass(1.0, max_radius=3.0), "PA", 2)
    with pytest.raises(SeqpaError, match="positive array"):
        MultiplicativeLearner(Regression(0.1), "PA", 2, start=[[0.5, 0.0]])
    with pytest.raises(SeqpaError, match="of the sum 1"):
        relative_entropy([0.5, 0.6], [0.5, 0.5])


def test_few_features_of_many_are_found() -> None:
    """Where two of a thousand features matter, factors find them and sums do not."""
    from seqpa import PARegressor

    rng = np.random.default_rng(6)
    X = rng.uniform(0, 1, (400, 1000))
    y = 0.5 * X[:, 7] + 0.5 * X[:, 70]
    options = {"epsilon": 0.01, "tol": None, "max_iter": 5, "random_state": 0, "variant": "PA"}
    ours = MultiplicativePARegressor(**options).fit(X[:200], y[:200])
    sums = PARegressor(**options).fit(X[:200], y[:200])
    assert ours.score(X[200:], y[200:]) > 0.9 > sums.score(X[200:], y[200:])
    assert set(np.argsort(ours.coef_)[-2:]) == {7, 70}
    assert ours.coef_.sum() + ours.intercept_[0] == pytest.approx(1.0)
