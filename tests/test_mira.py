"""MIRA and the multiclass perceptron's updates: exact, bounded, and equal to their twins."""

from __future__ import annotations

import numpy as np
import pytest
import reference_family as twin
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_digits

from seqpa import MIRAClassifier, PAClassifier, PerceptronClassifier, SeqpaError
from seqpa.core.bounds import bounds, certificate
from seqpa.core.examples import Examples
from seqpa.core.learner import Learner
from seqpa.core.mira import PrototypeLearner
from seqpa.core.problems import Binary, Multiclass

SEEDS = st.integers(0, 2**32 - 1)
FORMS = {"dense": np.asarray, "sparse": sparse.csr_matrix}
UPDATES = ("uniform", "proportional")
STEPS = ("PA", "PA-I", "PA-II")


def draw(rng: np.random.Generator, n: int = 40, d: int = 5, K: int = 4, noise: float = 1.0):
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    y = np.argmax(X @ rng.normal(size=(d, K)) + noise * rng.normal(size=(n, K)), axis=1)
    return X, y


def mira(step: str, K: int, d: int, margin: float = 1.0, **options) -> PrototypeLearner:
    return PrototypeLearner(Multiclass(margin), step, d, K, rule="all", **options)


@pytest.mark.pure
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_mira_equals_its_twin(step: str, bias: bool, form: str) -> None:
    rng = np.random.default_rng(3)
    for C in (0.05, 1.0):
        X, y = draw(rng)
        learner = mira(step, 4, 5, margin=0.7, bias=bias, average=True)
        run = learner.run(Examples.from_array(FORMS[form](X), bias), y, C=C, record=True)
        rows = np.hstack([X, np.ones((len(X), 1))]) if bias else X
        expected = twin.prototypes(
            rows, y, 4, lambda s, r, A, C=C: twin.mira_step(s, r, 0.7, A, step, C)
        )
        np.testing.assert_allclose(learner.weights, expected.weights, atol=1e-9)
        np.testing.assert_allclose(learner.mean_weights, expected.mean, atol=1e-9)
        np.testing.assert_allclose(run.taus, expected.taus, atol=1e-9)
        assert (np.count_nonzero(learner.moves, axis=1) > 2).any()  # more than one rival at once


@pytest.mark.pure
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", UPDATES)
def test_perceptron_updates_equal_their_twin(rule: str, form: str) -> None:
    X, y = draw(np.random.default_rng(5))
    X[3] = 0.0
    learner = PrototypeLearner(Multiclass(), "perceptron", 5, 4, rule=rule, average=True)
    run = learner.run(Examples.from_array(FORMS[form](X)), y, record=True)
    expected = twin.prototypes(X, y, 4, lambda s, r, A: twin.shared_blame(rule, s, r))
    np.testing.assert_allclose(learner.weights, expected.weights, atol=1e-12)
    np.testing.assert_allclose(learner.mean_weights, expected.mean, atol=1e-12)
    np.testing.assert_array_equal(run.taus, expected.taus)
    spread = (learner.moves**2).sum(axis=1) * (X * X).sum(axis=1)
    np.testing.assert_allclose(run.norms2[run.taus > 0], spread[run.taus > 0])


def test_max_score_is_the_perceptron_that_was_there() -> None:
    X, y = draw(np.random.default_rng(6))
    plain = Learner(Multiclass(), "perceptron", 5, 4)
    plain.run(Examples.from_array(X), y)
    expected = twin.prototypes(X, y, 4, lambda s, r, A: twin.shared_blame("max-score", s, r))
    np.testing.assert_allclose(plain.weights, expected.weights, atol=1e-12)


@pytest.mark.parametrize("step", STEPS)
def test_the_update_is_the_minimiser(step: str) -> None:
    """min ½‖W − W_t‖² + penalty(ξ), s.t. w_y·x − w_r·x >= margin − ξ for all r: by SLSQP."""
    rng = np.random.default_rng(7)
    K, d, margin = 4, 3, 1.3
    for C in (0.05, 0.4, 3.0):
        for _ in range(4):
            W, x, y = rng.normal(size=(K, d)), rng.normal(size=d), int(rng.integers(K))
            learner = mira(step, K, d, margin, start=W)
            learner.run(Examples.from_array(x[None]), [y], C=C)

            def objective(v: np.ndarray, W=W, C=C) -> float:
                xi = {"PA": 0.0, "PA-I": C * v[-1], "PA-II": C * v[-1] ** 2}[step]
                return 0.5 * float(np.sum((v[:-1] - W.reshape(-1)) ** 2)) + xi

            def room(v: np.ndarray, x=x, y=y) -> np.ndarray:
                scores = v[:-1].reshape(K, d) @ x
                return np.delete(scores[y] - scores - margin + v[-1], y)

            found = minimize(
                objective,
                np.append(W.reshape(-1), 0.0),
                method="SLSQP",
                bounds=[(None, None)] * (K * d) + [(0.0, 0.0 if step == "PA" else None)],
                constraints=[{"type": "ineq", "fun": room}],
                options={"ftol": 1e-14, "maxiter": 500},
            )
            np.testing.assert_allclose(learner.weights.reshape(-1), found.x[:-1], atol=3e-5)


def test_it_is_crammer_and_singer_s_programme() -> None:
    """min ½Σ‖w_r + τ_r x‖² s.t. τ_r <= [r = y], Σ τ = 0, their own words, with margin 0."""
    rng = np.random.default_rng(8)
    K, d = 4, 3
    for _ in range(8):
        W, x, y = rng.normal(size=(K, d)), rng.normal(size=d), int(rng.integers(K))
        learner = mira("PA-I", K, d, margin=1e-12, start=W)
        learner.run(Examples.from_array(x[None]), [y], C=1.0)
        found = minimize(
            lambda tau, W=W, x=x: 0.5 * float(np.sum((W + np.outer(tau, x)) ** 2)),
            np.zeros(K),
            method="SLSQP",
            bounds=[(None, float(r == y)) for r in range(K)],
            constraints=[{"type": "eq", "fun": lambda tau: tau.sum()}],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        np.testing.assert_allclose(learner.weights, W + np.outer(found.x, x), atol=3e-5)


def test_all_margins_are_met_at_once() -> None:
    rng = np.random.default_rng(9)
    W, x = rng.normal(size=(6, 4)), rng.normal(size=4)
    learner = mira("PA", 6, 4, start=W)
    learner.run(Examples.from_array(x[None]), [2])
    scores = learner.weights @ x
    assert np.delete(scores[2] - scores, 2).min() == pytest.approx(1.0)
    pa = Learner(Multiclass(), "PA", 4, 6, start=W)
    pa.run(Examples.from_array(x[None]), [2])
    scores = pa.weights @ x
    assert np.delete(scores[2] - scores, 2).min() < 0.999  # the highest was not the only one


@pytest.mark.parametrize("step", STEPS)
def test_two_labels_are_pa(step: str) -> None:
    X, y = draw(np.random.default_rng(10), K=2)
    both = mira(step, 2, 5)
    both.run(Examples.from_array(X), y, C=0.3)
    pa = Learner(Multiclass(), step, 5, 2)
    pa.run(Examples.from_array(X), y, C=0.3)
    np.testing.assert_allclose(both.weights, pa.weights, atol=1e-12)


@settings(max_examples=100)
@given(
    seed=SEEDS,
    step=st.sampled_from([*STEPS, *UPDATES]),
    margin=st.sampled_from([0.01, 1.0, 3.0]),
    C=st.sampled_from([0.02, 1.0, 10.0]),
    separable=st.booleans(),
)
def test_bounds_hold(seed: int, step: str, margin: float, C: float, separable: bool) -> None:
    rng = np.random.default_rng(seed)
    d, K = int(rng.integers(1, 6)), int(rng.integers(2, 7))
    X, y = draw(rng, n=int(rng.integers(1, 40)), d=d, K=K)
    U = rng.normal(size=(K, d))
    if separable:
        y = np.argmax(X @ U.T, axis=1)
        lead = np.diff(np.sort(X @ U.T, axis=1)[:, -2:])
        X, y = X[lead[:, 0] > 1e-3], y[lead[:, 0] > 1e-3]
        if len(y) == 0:
            return
        U = U * margin * float(rng.uniform(1.0, 2.0)) / lead[lead > 1e-3].min()
    if step in UPDATES:
        learner = PrototypeLearner(Multiclass(margin), "perceptron", d, K, rule=step)
    else:
        learner = mira(step, K, d, margin)
    examples = Examples.from_array(X)
    runs = [learner.run(examples, y, C=C, record=True) for _ in range(2)]
    for u in (U, np.zeros((K, d)), 5.0 * rng.normal(size=(K, d))):
        found = bounds(runs, learner, examples, y, u, C=C)
        assert not any(b.violated for b in found), certificate(found)
    names = {b.name for b in bounds(runs, learner, examples, y, U, C=C) if b.applies}
    if step in UPDATES:
        assert "PA 2006, §4, Freund and Schapire" in names
        assert ("Perceptron notes, Novikoff" in names) >= separable
    else:
        assert {
            "PA": "PA 2003, Theorem 1",
            "PA-I": "PA 2006, Theorem 4",
            "PA-II": "PA 2006, Theorem 5",
        }[step] in names or (step == "PA" and not separable)
        assert "PA 2006, Lemma 1" in names


def test_ties_and_zeros() -> None:
    learner = PrototypeLearner(Multiclass(), "perceptron", 2, 3, rule="proportional")
    learner.run(Examples.from_array([[1.0, 2.0]]), [1])  # all scores are 0: shared alike
    np.testing.assert_allclose(learner.weights[:, 0], [-0.5, 1.0, -0.5])
    hard = mira("PA", 3, 2)
    run = hard.run(Examples.from_array([[0.0, 0.0], [2.0, 0.0], [2.0, 0.0]]), [0, 0, 0])
    assert run.updates == 1  # nothing can be done for the first, and nothing is left for the third
    np.testing.assert_allclose(hard.weights[:, 0], [1 / 3, -1 / 6, -1 / 6])
    exact = mira("PA", 2, 1, start=[[0.5], [-0.5]])
    assert exact.run(Examples.from_array([[1.0]]), [0]).updates == 0  # the margin exactly met


def test_wrong_combinations() -> None:
    with pytest.raises(SeqpaError, match="rule"):
        PrototypeLearner(Multiclass(), "PA", 2, 3, rule="alike")
    with pytest.raises(SeqpaError, match="not PA-LS"):
        mira("PA-LS", 3, 2)
    with pytest.raises(SeqpaError, match="not PA"):
        PrototypeLearner(Multiclass(), "PA", 2, 3, rule="uniform")
    with pytest.raises(SeqpaError, match="Multiclass only"):
        PrototypeLearner(Binary(), "PA", 2, 1, rule="all")
    with pytest.raises(ValueError, match="PA-LS"):
        MIRAClassifier(variant="PA-LS").fit([[1.0], [2.0]], [0, 1])


# The estimators.


def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def test_mira_beats_one_constraint_on_digits() -> None:
    X, y = digits()
    options = {"C": 1.0, "margin": 0.01}
    all_labels = MIRAClassifier(**options).partial_fit(X, y, classes=np.arange(10))
    highest = PAClassifier(**options).partial_fit(X, y, classes=np.arange(10))
    uniform = PerceptronClassifier(update="uniform").partial_fit(X, y, classes=np.arange(10))
    assert all_labels.online_mistakes_ <= highest.online_mistakes_ < uniform.online_mistakes_
    assert all_labels.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]) > 0.88


@pytest.mark.parametrize("update", ["max-score", *UPDATES])
@pytest.mark.parametrize("average", ["last", "random", "average", "vote"])
def test_every_update_can_report_every_vector(update: str, average: str) -> None:
    X, y = digits()
    model = PerceptronClassifier(average, max_iter=3, random_state=2, update=update)
    least = {"last": 0.8, "random": 0.7}.get(average, 0.87)
    assert model.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]) > least


@pytest.mark.parametrize("update", UPDATES)
def test_votes_are_those_of_the_vectors_one_after_another(update: str) -> None:
    X, y = draw(np.random.default_rng(11), n=30)
    model = PerceptronClassifier("vote", shuffle=False, max_iter=1, update=update).fit(X, y)
    trace = twin.prototypes(X, y, 4, lambda s, r, A: twin.shared_blame(update, s, r))
    votes = np.zeros((len(X), 4))
    for W in trace.after:
        if W.any():  # the zero vector has no vote
            np.add.at(votes, (np.arange(len(X)), (X @ W.T).argmax(axis=1)), 1 / len(X))
    np.testing.assert_allclose(model.decision_function(X), votes)


def test_updates_are_the_same_for_two_classes() -> None:
    X, y = draw(np.random.default_rng(12), K=2)
    models = [
        PerceptronClassifier(update=update, random_state=0).fit(X, y)
        for update in ("max-score", *UPDATES)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
    with pytest.raises(ValueError, match="update='even'; it must be one of max-score"):
        PerceptronClassifier(update="even").fit(X, y)
