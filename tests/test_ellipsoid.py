"""The ellipsoid method: twins, the covering property, the mistake bounds, and the uncertainty."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
import reference
import reference_family as twin
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from seqpa import EllipsoidClassifier, EllipsoidMultilabelClassifier, SeqpaError
from seqpa.core.bounds import bounds, certificate
from seqpa.core.ellipsoid import EllipsoidLearner
from seqpa.core.examples import Examples
from seqpa.core.low_rank import LowRankEllipsoidLearner
from seqpa.core.problems import Binary, Multiclass, Multilabel, Regression

SEEDS = st.integers(0, 2**32 - 1)
FORMS = {"dense": np.asarray, "sparse": sparse.csr_matrix}
KINDS = {"binary": 1, "multiclass": 3, "multilabel": 4}


def draw(kind: str, rng: np.random.Generator, n: int = 40, d: int = 4, noise: float = 0.5):
    K = KINDS[kind]
    X = normalize(rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8) + 1e-9)
    scores = X @ rng.normal(size=(d, K)) + noise * rng.normal(size=(n, K))
    if kind == "binary":
        return X, np.where(scores[:, 0] > 0, 1.0, -1.0)
    return X, scores.argmax(axis=1) if kind == "multiclass" else (scores > 0).astype(np.uint8)


def problem_of(kind: str, margin: float):
    return {"binary": Binary, "multiclass": Multiclass, "multilabel": Multilabel}[kind](margin)


def constraint(kind: str, rows: np.ndarray, y: np.ndarray, margin: float):
    if kind == "binary":
        return reference.binary(rows, y, margin)
    features = reference.blocks(rows, KINDS[kind])
    if kind == "multiclass":
        return reference.multiclass(features, y, KINDS[kind], margin)
    return reference.multilabel(features, y, margin)


@pytest.mark.pure
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", ["full", "diagonal", "low-rank"])
@pytest.mark.parametrize("method", ["iellip", "cellip"])
@pytest.mark.parametrize("kind", KINDS)
def test_centre_and_shape_equal_their_twin(kind, method, shape, bias, form) -> None:
    rng = np.random.default_rng(1)
    X, y = draw(kind, rng)
    X[3] = 0.0
    margin, scale, b, c = 0.08, 1.7, 0.8, 0.15
    options = {"average": True, "method": method, "scale": scale, "b": b, "c": c}
    problem = problem_of(kind, margin)
    if shape == "low-rank":
        learner = LowRankEllipsoidLearner(problem, "PA", 4, KINDS[kind], bias, **options)
    else:
        learner = EllipsoidLearner(problem, "PA", 4, KINDS[kind], bias, shape=shape, **options)
    examples = Examples.from_array(FORMS[form](X), bias)
    for _ in range(2):
        learner.run(examples, y)
    rows = reference.with_bias(X) if bias else X
    body = twin.Ellipsoid(
        KINDS[kind] * rows.shape[1], method, scale, b, c, diagonal=shape == "diagonal"
    )
    asks = constraint(kind, rows, y, margin)
    for i in [*range(len(X))] * 2:
        body.see(asks(i, body.w))
    P = np.diag(body.P) if shape == "diagonal" else body.P
    np.testing.assert_allclose(learner.weights.reshape(-1), body.w, atol=1e-9)
    np.testing.assert_allclose(learner.P, P, atol=1e-9)
    np.testing.assert_allclose(
        learner.mean_weights.reshape(-1), np.mean(body.after, axis=0), atol=1e-9
    )
    assert (learner.updates, learner.missed) == (body.updates, body.missed)
    assert body.updates >= 10


def cut(seed: int, d: int, depth: float):
    """An ellipsoid, a half-space through it at α = depth, and CELLIP's next ellipsoid."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, d)) + 0.3 * np.eye(d)
    P, w, x = root @ root.T, rng.normal(size=d), rng.normal(size=d)
    body = twin.Ellipsoid(d, "cellip", 1.0, 0.0, 0.0, False)
    body.w, body.P = w, P
    g = x / np.sqrt(x @ P @ x)
    body.update(g, depth)
    return rng, root, P, w, g, body


@settings(max_examples=100)
@given(seed=SEEDS, d=st.integers(1, 6), depth=st.floats(0.0, 0.99))
def test_the_next_ellipsoid_covers_what_is_left(seed: int, d: int, depth: float) -> None:
    """Theorem 1: random points of E_t ∩ C_t, its rim and its corner lie in E_t+1."""
    rng, root, P, w, g, body = cut(seed, d, depth)
    ball = rng.normal(size=(400, d))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    ball[:200] *= rng.random((200, 1)) ** (1 / d)
    points = w + ball @ root.T  # of the ellipsoid, half of them on its surface
    h = (points - w) @ g
    along = P @ g
    deep = points + np.outer(np.maximum(0.0, depth - h), along)  # pushed onto the cut
    inside = np.einsum("ij,jk,ik->i", deep - w, np.linalg.inv(P), deep - w) <= 1.0
    left = np.vstack([points[h >= depth], deep[inside], w + along, w + depth * along])
    gap = left - body.w
    reach = np.einsum("ij,jk,ik->i", gap, np.linalg.pinv(body.P), gap)
    assert reach.max() <= 1.0 + 1e-6


@settings(max_examples=30)
@given(seed=SEEDS, d=st.integers(2, 5), alpha=st.floats(0.01, 0.9))
def test_the_inverse_of_the_shape(seed: int, d: int, alpha: float) -> None:
    """P⁻¹ after CELLIP's step and IELLIP's, as `seqpa.core.ellipsoid` and the slides give it."""
    _, _, P, _, g, body = cut(seed, d, alpha)
    before = np.linalg.inv(P)
    expected = before / (1 - alpha**2)
    expected = expected + 2 * alpha / ((1 - alpha**2) * (1 - alpha)) * np.outer(g, g)
    np.testing.assert_allclose(np.linalg.inv(body.P), expected, rtol=1e-5, atol=1e-8)
    body = twin.Ellipsoid(d, "iellip", 1.0, 1.0, alpha, False)
    body.P = P
    body.update(g, 0.5)
    expected = (1 - alpha) * before + alpha * np.outer(g, g)
    np.testing.assert_allclose(np.linalg.inv(body.P), expected, rtol=1e-5, atol=1e-8)


def separable(rng: np.random.Generator, d: int, n: int, margin: float):
    """Unit examples that a unit vector u classifies with a margin of at least γ."""
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    X = normalize(rng.normal(size=(n, d)))
    y = np.where(X @ u > 0, 1.0, -1.0)
    keep = np.abs(X @ u) >= margin
    return X[keep], y[keep], u


@settings(max_examples=80)
@given(
    seed=SEEDS,
    margin=st.sampled_from([0.02, 0.1, 0.3]),
    a=st.sampled_from([0.2, 0.5, 0.9]),
)
def test_theorem_2(seed: int, margin: float, a: float) -> None:
    rng = np.random.default_rng(seed)
    X, y, u = separable(rng, int(rng.integers(2, 8)), 200, margin)
    if len(y) == 0:
        return
    scale = (1 + (1 - a) * margin) ** 2
    learner = EllipsoidLearner(Binary(a * margin), "PA", X.shape[1], method="cellip", scale=scale)
    examples = Examples.from_array(X)
    runs = [learner.run(examples, y, record=True) for _ in range(3)]
    assert learner.missed == 0  # u is always inside
    gap = u - learner.weights[0]
    assert gap @ np.linalg.solve(learner.P, gap) <= 1 + 1e-6
    found = {bound.name: bound for bound in bounds(runs, learner, examples, y, u)}
    theorem = found["Ellipsoid, Theorem 2"]
    assert theorem.holds
    slack = (1 - a) * margin
    slides = (2 * np.log(slack) - 2 * np.log(1 + slack)) / np.log(
        1 - (a * margin / (1 + slack)) ** 2
    )
    assert theorem.right <= slides * (1 + 1e-6)
    assert sum(run.mistakes for run in runs) <= slides


@settings(max_examples=100)
@given(
    seed=SEEDS,
    kind=st.sampled_from(list(KINDS)),
    shape=st.sampled_from(["full", "diagonal"]),
    margin=st.sampled_from([0.05, 0.3, 1.0]),
    noise=st.sampled_from([0.0, 1.0]),
)
def test_theorem_3(seed: int, kind: str, shape: str, margin: float, noise: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = draw(kind, rng, n=60, d=int(rng.integers(1, 6)), noise=noise)
    b, c = rng.dirichlet([1, 1, 1])[:2]  # b + c < 1
    learner = EllipsoidLearner(
        problem_of(kind, margin), "PA", X.shape[1], KINDS[kind], shape=shape, b=b, c=c
    )
    examples = Examples.from_array(X)
    runs = [learner.run(examples, y, record=True) for _ in range(2)]
    for size in (0.0, 1.0, 5.0):
        u = size * rng.normal(size=learner.weights.shape)
        found = bounds(runs, learner, examples, y, u)
        assert not any(bound.violated for bound in found), certificate(found)
        names = {bound.name for bound in found if bound.applies}
        assert {"PA 2006, Lemma 1", "Ellipsoid, Theorem 3"} <= names


def test_one_wrong_label_breaks_the_printed_theorem_3() -> None:
    """An adversary leads w to u in 1/γ² steps; one wrong label throws it back; and once more.

    Every right example is (γ, v) with w·x just below 0: mistakes of the smallest size.
    The printed bound allows 2κl/γ for the wrong label; it cost 1/γ² mistakes.
    """
    gamma, T = 0.1, 99
    d = 2 * T + 3
    w, rows, labels = np.zeros(d), [], []

    def present(x: np.ndarray, y: float) -> np.ndarray:
        rows.append(x)
        labels.append(y)
        assert y * (w @ x) <= 1e-12
        return w + (gamma - y * (w @ x)) * y * x  # P = I: c = 0

    fresh = iter(range(1, d))
    for part in range(2):
        for _ in range(T):
            x = np.zeros(d)
            x[0] = gamma
            rest = w.copy()
            rest[0] = 0.0
            if rest.any():
                x -= (gamma * w[0] + 1e-6) * rest / (rest @ rest)  # w·x is hardly below 0
            x[next(fresh)] += np.sqrt(1 - x @ x)
            w = present(x, 1.0)
        if part == 0:
            w = present(np.eye(d)[0], -1.0)  # l = 1 + γ for u = (1, 0, …)
    X, y = np.array(rows), np.array(labels)
    learner, examples = EllipsoidLearner(Binary(gamma), "PA", d, c=0.0), Examples.from_array(X)
    run = learner.run(examples, y, record=True)
    losses = np.maximum(0.0, gamma - y * X[:, 0])
    assert run.mistakes == len(y)
    assert run.mistakes > 1 / gamma**2 + 2 / gamma * losses.sum()
    found = bounds(run, learner, examples, y, np.eye(d)[0])
    assert not any(bound.violated for bound in found)


def test_the_diagonal_is_exact_on_axes() -> None:
    """Examples along the axes keep P diagonal; with two labels or more δ has two entries."""
    rng = np.random.default_rng(4)
    X = np.eye(5)[rng.integers(5, size=60)] * rng.uniform(0.5, 2, size=(60, 1))
    y = rng.choice([-1.0, 1.0], size=60)
    for method in ("iellip", "cellip"):
        full, diagonal = (
            EllipsoidLearner(Binary(0.01), "PA", 5, method=method, shape=shape)
            for shape in ("full", "diagonal")
        )
        for learner in (full, diagonal):
            learner.run(Examples.from_array(X), y)
        np.testing.assert_allclose(full.weights, diagonal.weights, atol=1e-12)
        np.testing.assert_allclose(np.diag(full.P), diagonal.P, atol=1e-12)


def test_without_memory_it_is_pa_on_mistakes() -> None:
    X, y = draw("multiclass", np.random.default_rng(5))
    learner = EllipsoidLearner(Multiclass(0.1), "PA", 4, 3, c=0.0)
    learner.run(Examples.from_array(X), y)
    w = np.zeros(12)
    asks = constraint("multiclass", X, y, 0.1)
    for i in range(len(X)):
        found = asks(i, w)
        if found.score <= 0:
            step = (found.margin - found.score) / (found.direction @ found.direction)
            w = w + step * found.direction
    np.testing.assert_allclose(learner.weights.reshape(-1), w, atol=1e-12)
    np.testing.assert_array_equal(learner.P, np.eye(12))


def test_one_relevant_label_is_multiclass() -> None:
    X, y = draw("multiclass", np.random.default_rng(6))
    one, several = (
        EllipsoidLearner(problem(0.1), "PA", 4, 3) for problem in (Multiclass, Multilabel)
    )
    one.run(Examples.from_array(X), y)
    several.run(Examples.from_array(X), np.eye(3, dtype=np.uint8)[y])
    np.testing.assert_array_equal(one.weights, several.weights)
    np.testing.assert_array_equal(one.P, several.P)


def test_the_shape_may_grow_far() -> None:
    """By a factor of 2 a mistake: the scale is folded into P, and goes on."""
    rng = np.random.default_rng(7)
    X, y = normalize(rng.normal(size=(500, 3))), rng.choice([-1.0, 1.0], size=500)
    learner = EllipsoidLearner(Binary(0.1), "PA", 3, b=1.0, c=0.5, scale=1e80, shape="diagonal")
    body = twin.Ellipsoid(3, "iellip", 1e80, 1.0, 0.5, diagonal=True)
    learner.run(Examples.from_array(X), y)
    for i in range(len(X)):
        body.see(reference.binary(X, y, 0.1)(i, body.w))
    assert learner.P.max() > 1e101
    np.testing.assert_allclose(learner.P, np.diag(body.P), rtol=1e-9)
    np.testing.assert_allclose(learner.weights[0], body.w, rtol=1e-9)


# The estimators.


def test_scale_does_not_move_iellip_s_weights() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = normalize(X[:400]), y[:400]
    small, large = (
        EllipsoidClassifier(scale=scale, shape="diagonal", random_state=0).fit(X, y)
        for scale in (0.01, 4.0)
    )
    np.testing.assert_allclose(small.coef_, large.coef_, atol=1e-9)
    np.testing.assert_allclose(20 * small.uncertainty(X), large.uncertainty(X), rtol=1e-6)


def test_cellip_says_where_no_classifier_is_left() -> None:
    X = np.array([[1.0, 0.0], [0.8, 0.6]] * 200)
    y = np.array([0, 1] * 100 + [1, 0] * 100)
    with pytest.warns(ConvergenceWarning, match="mistakes were left alone"):
        EllipsoidClassifier("cellip", shuffle=False).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EllipsoidClassifier("iellip", shuffle=False).fit(X, y)


def test_cellip_finds_a_separating_plane() -> None:
    X, y, _ = separable(np.random.default_rng(8), 10, 2000, 0.1)
    model = EllipsoidClassifier("cellip", random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.P_.shape == (10, 10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", ["full", "diagonal"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_uncertainty_is_disagreement(kind: str, bias: bool, shape: str, form: str) -> None:
    """Above 1 if and only if some classifier of the ellipsoid predicts another label."""
    rng = np.random.default_rng(9)
    X, y = draw(kind, rng, n=150)
    options = {"shape": shape, "fit_intercept": bias, "scale": 0.003, "random_state": 0}
    model = EllipsoidClassifier(b=0.9, **options).fit(FORMS[form](X), y)
    new = rng.normal(size=(60, 4))
    uncertain = model.uncertainty(FORMS[form](new))
    K = len(model._learner.weights)
    rows = reference.with_bias(new) if bias else new
    P = model.P_ if shape == "full" else np.diag(model.P_)
    w = model._learner.weights.reshape(-1)
    for x, told in zip(rows, uncertain, strict=True):
        phi = reference.blocks(x[None], K)
        scores = [float(w @ phi(0, k)) for k in range(K)]
        if K == 1:
            sides = [-np.sign(scores[0]) * x]
        else:
            best = int(np.argmax(scores))
            sides = [phi(0, r) - phi(0, best) for r in range(K) if r != best]
        # The classifier of the ellipsoid that likes a side best is w + Pδ/√(δ'Pδ).
        changed = [(w + P @ s / np.sqrt(s @ P @ s)) @ s > 0 for s in sides]
        assert (told > 1) == any(changed)
    assert 0 < (uncertain > 1).sum() < len(uncertain)
    assert model.uncertainty(np.zeros((1, 4)))[0] == np.inf or bias


def test_multilabel_ranking() -> None:
    X, Y = make_multilabel_classification(300, 20, n_classes=5, random_state=0)
    X = normalize(X)
    for shape in ("full", "diagonal"):
        model = EllipsoidMultilabelClassifier(shape=shape, average=True, random_state=0)
        model.fit(X[:200], Y[:200])
        assert (model.predict(X[200:]) == Y[200:]).mean() > 0.75
        assert model.rank(X[200:]).shape == (100, 5)


def test_wrong_parameters() -> None:
    X, y = [[1.0], [2.0]], [0, 1]
    for wrong, what in (
        ({"a": 0.0}, "a=0.0; it must be above 0"),
        ({"b": 1.5}, "b=1.5; it must be a number from 0 to 1"),
        ({"c": 1.5}, "c=1.5; it must be a number from 0 to 1"),
        ({"shape": "round"}, "it must be one of full, diagonal, low-rank"),
        ({"scale": 0.0}, "scale=0.0; it must be a number above 0, or None"),
        ({"method": "ellip"}, "it must be one of iellip, cellip"),
    ):
        with pytest.raises(SeqpaError, match=what):
            EllipsoidClassifier(**wrong).fit(X, y)
    with pytest.raises(SeqpaError, match="diagonal"):
        EllipsoidLearner(Multiclass(), "PA", 10_000, 10)
    with pytest.raises(SeqpaError, match="Binary, Multiclass or Multilabel"):
        EllipsoidLearner(Regression(0.1), "PA", 2)


def test_the_example_of_selective_sampling() -> None:
    """Fewer labels than examples, more mistakes found than at random."""
    path = Path(__file__).parent.parent / "examples" / "selective_sampling.py"
    example = runpy.run_path(str(path))
    rng = np.random.default_rng(0)
    X = normalize(rng.normal(size=(600, 10)))
    y = (X @ rng.normal(size=10) > 0).astype(int)
    model, asked = example["learn"](X, y, 0.3, lambda m, x: bool(m.uncertainty(x)[0] > 1.0))
    other, at_random = example["learn"](X, y, 0.3, lambda m, x: bool(rng.random() < asked / 600))
    assert asked < 300
    assert model.n_updates_ / asked > 1.5 * other.n_updates_ / at_random
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("shape", ["full", "diagonal"])
@pytest.mark.parametrize(("c", "b"), [(0.5, 1.0), (0.9, 1.0), (1.0, 1.0), (0.9, 0.999)])
def test_iellip_goes_on_where_its_shape_leaves_all_range(shape: str, c: float, b: float) -> None:
    """P grows by 1/(1 − c) with every update; what w learns does not depend on its scale."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    y = np.sign(X @ rng.normal(size=5)) * np.where(rng.random(6000) < 0.1, -1.0, 1.0)
    model = EllipsoidClassifier(b=b, c=c, shape=shape)
    for part in np.split(np.arange(6000), 6):
        before = getattr(model, "n_updates_", 0)
        model.partial_fit(X[part], y[part], classes=[-1, 1])
        assert model.n_updates_ > before + 100
        assert model.n_updates_ == model.online_mistakes_
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_iellip_far_out_is_still_its_twin(shape: str) -> None:
    """P, divided by its largest entry in each round, in the form that loses digits."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 4)), rng.choice([-1.0, 1.0], 1500)
    learner = EllipsoidLearner(Binary(0.1), "PA", 4, b=1.0, c=0.5, shape=shape)
    run = learner.run(Examples.from_array(X), y)
    w, P, logs = np.zeros(4), np.eye(4), 0.0
    for x, sign in zip(X, y, strict=True):
        delta = sign * x
        if w @ delta <= 0:
            h = P @ delta
            w = w + (0.1 - w @ delta) / (delta @ h) * h
            P = 2 * (P - 0.5 * np.outer(h, h) / (delta @ h))
            P = np.diag(np.diag(P)) if shape == "diagonal" else P
            logs += np.log10(P.max())
            P /= P.max()
    assert run.updates > 700
    np.testing.assert_allclose(learner.weights[0], w, rtol=1e-6)
    np.testing.assert_allclose(np.log10(learner.P.max()), logs + np.log10(P.max()), rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["iellip", "cellip"])
def test_a_low_rank_is_the_full_shape_as_long_as_it_can(method: str, form: str) -> None:
    X, y = load_digits(return_X_y=True)
    X = FORMS[form](normalize(X))
    options = {"method": method, "c": 0.5, "b": 0.999, "scale": 0.1, "fit_intercept": True}
    full, low, lower = (
        EllipsoidClassifier(shape=shape, max_rank=rank, **options)
        for shape, rank in (("full", 1), ("low-rank", 1000), ("low-rank", 40))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for model in (full, low, lower):
            model.partial_fit(X[:600], y[:600], classes=range(10))
    np.testing.assert_allclose(low.coef_, full.coef_, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(low.uncertainty(X[600:620]), full.uncertainty(X[600:620]), rtol=1e-4)
    assert lower._learner.directions == min(40, lower.n_updates_)
    assert low._learner.directions <= low.n_updates_  # mistakes that are left alone show none
    assert lower.score(X[600:], y[600:]) > full.score(X[600:], y[600:]) - 0.1
