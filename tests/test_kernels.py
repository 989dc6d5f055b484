"""Learning in a kernel's space: equal to learning on φ(x) itself, whatever the blocks; budgets."""

from __future__ import annotations

import copy
import pickle
import re
import warnings

import numpy as np
import pytest
import reference
import reference_dual
from cases import (
    KINDS,
    WEIGHT_CHECKS,
    WEIGHTED,
    draw,
    examples_of,
    learner_of,
    problem_of,
    twin_constraint,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, make_circles, make_classification
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from seqpa import KernelPAClassifier, KernelPARegressor, PAClassifier, PAUniclass, SeqpaError
from seqpa.core import batch
from seqpa.core.dual import KernelLearner
from seqpa.core.examples import Examples
from seqpa.core.kernels import Kernel
from seqpa.core.problems import Binary, Multiclass, Uniclass
from seqpa.core.theorems import Rounds, check


def cosine(A, B) -> np.ndarray:
    """A kernel of the user's own."""
    K = A @ B.T
    return np.asarray(K.toarray() if sparse.issparse(K) else K) * 0.5 + 0.25


KERNELS = {
    "linear": Kernel("linear"),
    "poly": Kernel("poly", gamma=0.3, degree=3, coef0=0.5),
    "rbf": Kernel("rbf", gamma=0.2),
    "function": Kernel(cosine),
    "rbf + 1": Kernel("rbf", gamma=0.2, bias=True),
}


@pytest.fixture
def small_blocks(monkeypatch) -> None:
    """Several blocks, the last of them shorter."""
    monkeypatch.setattr(batch, "BLOCK", 8)


def twin_of(case, kernel: Kernel):
    """The case on φ(x) as plain rows, from zero weights."""
    Phi = reference_dual.feature_rows(kernel(case.X, case.X))
    rows, start = Phi, np.zeros(case.n_labels * Phi.shape[1])
    if case.kind == "uniclass-radius":
        rows = np.hstack([Phi, np.zeros((len(Phi), 1))])
        start = np.append(np.zeros(Phi.shape[1]), case.epsilon)
    return Phi, case.replace(rows=rows, start=start)


def kernel_learner(case, step: str, kernel: Kernel, **options) -> KernelLearner:
    return KernelLearner(problem_of(case), step, case.n_labels, kernel=kernel, **options)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", reference.STEPS)
@pytest.mark.parametrize("name", KERNELS)
def test_equals_the_twin_on_its_features(kind: str, step: str, name: str) -> None:
    rng = np.random.default_rng([len(kind), len(step), len(name)])
    kernel = KERNELS[name]
    case = draw(kind, rng, n=27, d=4, n_labels=3, density=1.0)
    case = case.replace(X=case.X / 2)  # keeps the cubes of "poly" near 1
    C = rng.choice([0.05, 0.5, 2.0], size=27)
    order = np.concatenate([np.arange(27), rng.permutation(27)])
    Phi, on_features = twin_of(case, kernel)
    twin = reference.run(twin_constraint(on_features), order, on_features.start, step, C)
    learner = kernel_learner(case, step, kernel, average=True)
    examples = examples_of(case, sparse=bool(rng.integers(2)))
    runs = [
        learner.run(examples, case.target, C=C, order=part, record=True)
        for part in (order[:27], order[27:])
    ]
    losses = np.concatenate([r.losses for r in runs])
    np.testing.assert_allclose(losses, twin.losses, atol=1e-7)
    np.testing.assert_allclose(np.concatenate([r.taus for r in runs]), twin.taus, atol=1e-7)
    # An RBF's φ(x) lie at a distance of 1 from zero: exactly on a kink, where rounding decides.
    larger = np.maximum(losses, twin.losses)
    far = (larger == 0) | (larger > 1e-9)
    costs = np.concatenate([r.costs for r in runs])
    np.testing.assert_allclose(costs[far], np.array(twin.costs)[far])
    assert len(learner.support) <= 27  # one place each, however often it comes
    if kind.startswith("uniclass"):
        want = np.linalg.norm(Phi - twin.mean[: Phi.shape[1]], axis=1)
        np.testing.assert_allclose(learner.distances(case.X), want, atol=1e-6)
        B = case.epsilon
        radius = B if kind == "uniclass" else np.sqrt(max(0.0, B**2 - twin.mean[-1] ** 2))
        np.testing.assert_allclose(learner.radius, radius, atol=1e-7)
        return
    for coef, weights in (
        (learner.coefficients, twin.weights),
        (learner.mean_coefficients, twin.mean),
    ):
        want = Phi @ weights.reshape(case.n_labels, -1).T
        got = learner.support.scores(case.X, coef)
        np.testing.assert_allclose(got, want, atol=1e-6 * (1 + np.abs(want).max()))


@pytest.mark.pure
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("uniclass")])
@pytest.mark.parametrize("bias", [False, True])
def test_linear_kernel_is_the_linear_learner(kind: str, bias: bool) -> None:
    rng = np.random.default_rng(3)
    case = draw(kind, rng, n=30, d=5, n_labels=4, bias=bias)
    plain = learner_of(case, "PA-I", average=True)
    learner = kernel_learner(case, "PA-I", Kernel("linear", bias=bias), average=True)
    for _ in range(3):
        want = plain.run(examples_of(case), case.target, C=0.3)
        got = learner.run(examples_of(case), case.target, C=0.3)
        np.testing.assert_allclose(got.squared_loss, want.squared_loss)
        assert got.updates == want.updates
    np.testing.assert_allclose(
        learner.scores(case.X), examples_of(case).scores(plain.mean_weights), atol=1e-9
    )


@pytest.mark.pure
def test_linear_kernel_ball_is_the_linear_ball() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(2.0, 1.0, (60, 3))
    for options in ({"epsilon": 0.8}, {"learn_radius": True, "max_radius": 9.0}):
        for average in (False, True):
            both = [
                PAUniclass(init="first", average=average, random_state=1, kernel=kernel, **options)
                .fit(X)
                .decision_function(X)
                for kernel in (None, "linear")
            ]
            np.testing.assert_allclose(*both, atol=1e-6)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_blocks_and_calls_do_not_matter(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    case = draw("multiclass", rng, n=25, d=3, n_labels=3)
    budget = (
        {} if seed % 2 else {"budget": 6, "budget_strategy": ("oldest", "smallest")[seed % 3 % 2]}
    )
    whole = kernel_learner(case, "PA-II", KERNELS["rbf"], **budget)
    whole.run(examples_of(case), case.target)
    pieces = kernel_learner(case, "PA-II", KERNELS["rbf"], **budget)
    for first in range(0, 25, size):
        part = slice(first, first + size)
        pieces.run(Examples.from_array(case.X[part]), case.target[part])
    np.testing.assert_allclose(pieces.scores(case.X), whole.scores(case.X), atol=1e-9)
    assert len(pieces.support) == len(whole.support)


def test_precomputed_is_the_function() -> None:
    X, y = load_iris(return_X_y=True)
    K = rbf_kernel(X, gamma=0.4)
    train, test = np.arange(150) % 3 > 0, np.arange(150) % 3 == 0
    options = {"variant": "PA-II", "random_state": 1, "fit_intercept": True}
    given_K = KernelPAClassifier("precomputed", **options).fit(K[np.ix_(train, train)], y[train])
    direct = KernelPAClassifier("rbf", gamma=0.4, **options).fit(X[train], y[train])
    scores = given_K.decision_function(K[np.ix_(test, train)])
    np.testing.assert_allclose(scores, direct.decision_function(X[test]), atol=1e-8)
    rows = X[train][given_K.support_vectors_]
    np.testing.assert_allclose(rows, direct.support_vectors_)
    given_K.partial_fit(K[np.ix_(train, train)], y[train])
    direct.partial_fit(X[train], y[train])
    scores = given_K.decision_function(K[np.ix_(test, train)])
    np.testing.assert_allclose(scores, direct.decision_function(X[test]), atol=1e-8)
    # The pairwise tag: cross-validation cuts rows and columns.
    search = GridSearchCV(KernelPAClassifier("precomputed", random_state=0), {"C": [0.1, 1.0]})
    assert search.fit(K, y).best_score_ > 0.9


def test_scikit_learn_s_kernels() -> None:
    rng = np.random.default_rng(2)
    A, B = rng.normal(size=(7, 3)), rng.normal(size=(5, 3)) * 4
    for form in (np.asarray, sparse.csr_matrix):
        poly, rbf = Kernel("poly", 0.7, 4, -0.5), Kernel("rbf", 0.7)
        np.testing.assert_allclose(poly(form(A), form(B)), polynomial_kernel(A, B, 4, 0.7, -0.5))
        np.testing.assert_allclose(rbf(form(A), form(B)), rbf_kernel(A, B, 0.7), rtol=1e-13)
        for kernel in (poly, rbf, Kernel("linear"), Kernel(cosine)):
            np.testing.assert_allclose(
                kernel.diagonal(form(A)), np.diagonal(kernel(form(A), form(A)))
            )


@pytest.mark.pure
def test_gaussian_over_its_whole_range() -> None:
    distance = np.concatenate([np.linspace(0, 5, 700), np.linspace(5, 800, 700)])
    got = Kernel("rbf", gamma=1.0)(np.zeros((1, 1)), np.sqrt(distance)[:, None])[0]
    np.testing.assert_allclose(got, np.exp(-(np.sqrt(distance) ** 2)), rtol=1e-14, atol=1e-307)
    far = Kernel("rbf", gamma=1.0)(np.array([[1e100]]), np.array([[-1e100], [1e100]]))
    np.testing.assert_array_equal(far, [[0.0, 1.0]])


# Support vectors and budgets.


def test_support_vectors_are_those_with_coefficients() -> None:
    X, y = make_circles(150, noise=0.1, factor=0.4, random_state=1)
    model = KernelPAClassifier(gamma=2.0, max_iter=30, random_state=1).fit(X, y)
    assert model.score(X, y) > 0.95
    assert (model.dual_coef_ != 0.0).any(axis=1).all()
    assert len(model.dual_coef_) == len(model.support_vectors_) < 150
    assert len(np.unique(model.support_vectors_, axis=0)) == len(model.support_vectors_)
    scores = rbf_kernel(X, model.support_vectors_, gamma=2.0) @ model.dual_coef_
    np.testing.assert_allclose(model.decision_function(X), scores[:, 0])
    assert model.n_updates_ >= len(model.dual_coef_)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("strategy", ["oldest", "smallest", "project"])
@pytest.mark.parametrize("step", ["PA-I", "PA-LS", "perceptron"])
@pytest.mark.parametrize("budget", [1, 5, 12])
def test_budget_equals_its_twin(strategy: str, step: str, budget: int) -> None:
    rng = np.random.default_rng(budget)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    kernel = Kernel("poly", gamma=0.3, degree=3, coef0=1.0)  # all of different lengths: no ties
    Phi = reference_dual.feature_rows(kernel(X, X))
    order = np.concatenate([np.arange(40), rng.permutation(40)])
    w, alpha, losses = reference_dual.run_budget(Phi, y, order, step, 0.7, budget, strategy)
    learner = KernelLearner(Binary(), step, kernel=kernel, budget=budget, budget_strategy=strategy)
    examples = Examples.from_array(X)
    runs = [
        learner.run(examples, y, C=0.7, order=part, record=True)
        for part in (order[:40], order[40:])
    ]
    np.testing.assert_allclose(np.concatenate([r.losses for r in runs]), losses, atol=1e-6)
    np.testing.assert_array_equal(learner.support.source, list(alpha))
    np.testing.assert_allclose(learner.scores(X)[:, 0], Phi @ w, atol=1e-6)


@pytest.mark.pure
@pytest.mark.parametrize("strategy", ["oldest", "smallest", "project"])
def test_budget_keeps_its_promise(strategy: str) -> None:
    """At every moment, in support vectors and in bytes; several labels too."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 3, 60)
    learner = KernelLearner(
        Multiclass(), "PA-I", 3, kernel=KERNELS["rbf"], budget=9, budget_strategy=strategy
    )
    for i in range(60):
        learner.run(Examples.from_array(X[i : i + 1]), y[i : i + 1])
        assert len(learner.support) == len(learner.support.vectors) <= 9
    assert len(learner.support) == 9
    # A row, a coefficient for each label, K(x, x) and its source.
    assert learner.support.nbytes <= 9 * 8 * (5 + 3 + 1 + 1)
    assert learner._Q.nbytes == (8 * 10 * 10 if strategy == "project" else 0)
    learner.run(Examples.from_array(X), y)
    assert learner.support.nbytes <= 9 * 8 * (5 + 3 + 1 + 1)


@pytest.mark.parametrize("strategy", ["oldest", "smallest", "project"])
def test_budget_for_all_is_none(strategy: str) -> None:
    rng = np.random.default_rng(4)
    case = draw("regression", rng, n=30, d=3)
    free = kernel_learner(case, "PA-II", KERNELS["rbf"])
    bound = kernel_learner(case, "PA-II", KERNELS["rbf"], budget=30, budget_strategy=strategy)
    examples = examples_of(case)
    for _ in range(3):
        free.run(examples, case.target)
        bound.run(examples, case.target)
    np.testing.assert_allclose(bound.scores(case.X), free.scores(case.X), atol=1e-7)


def test_projection_loses_nothing_within_the_span() -> None:
    """Four support vectors span all that a linear kernel sees in four dimensions."""
    X, y = make_classification(200, 4, n_redundant=0, random_state=3)
    free = KernelPAClassifier("linear", max_iter=5, random_state=1).fit(X, y)
    bound = KernelPAClassifier(
        "linear", max_iter=5, random_state=1, budget=4, budget_strategy="project"
    ).fit(X, y)
    np.testing.assert_allclose(bound.decision_function(X), free.decision_function(X), atol=1e-6)
    assert len(bound.support_vectors_) == 4 < len(free.support_vectors_)


# The theorems hold for any kernel (PA 2006, §3).


@pytest.mark.parametrize("step", ["PA-I", "PA-II", "perceptron"])
def test_the_bounds_hold_in_the_kernel_s_space(step: str) -> None:
    rng = np.random.default_rng(8)
    case = draw("binary", rng, n=80, d=4)
    Phi = reference_dual.feature_rows(KERNELS["rbf"](case.X, case.X))
    learner = kernel_learner(case, step, KERNELS["rbf"])
    run = learner.run(examples_of(case), case.target, C=0.4, record=True)
    for _ in range(20):
        u = rng.normal(size=80) * case.target @ Phi * rng.choice([0.1, 1.0])
        u = u + case.target @ Phi * rng.choice([0.0, 0.2])
        rounds = Rounds(
            kind="classification",
            step=step,
            losses=run.losses,
            taus=run.taus,
            norms2=run.norms2,
            costs=run.costs,
            comparator_losses=Binary().losses(Phi @ u, case.target),
            distance2=float(u @ u),
            C=0.4,
        )
        results = check(rounds)
        assert any(bound.applies for bound in results)
        assert not any(bound.violated for bound in results)


# The estimators.

NO_C = dict.fromkeys(
    ("check_class_weight_classifiers", *WEIGHT_CHECKS),
    "weights scale C, which a perceptron has not",
)


@pytest.mark.parametrize(
    "estimator",
    [
        KernelPAClassifier(),
        KernelPAClassifier("poly", variant="perceptron", average=True, coef0=1.0),
        KernelPAClassifier(budget=20, budget_strategy="project", fit_intercept=True),
        KernelPARegressor(),
        KernelPARegressor("linear", budget=30, budget_strategy="project"),
        PAUniclass(kernel="rbf", epsilon=0.9),
    ],
    ids=repr,
)
def test_scikit_learn_s_own_checks(estimator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(
            estimator,
            expected_failed_checks={
                **WEIGHTED,
                **(NO_C if estimator.variant == "perceptron" else {}),
            },
        )


def test_costs_and_variants_through_the_estimator() -> None:
    X, y = load_iris(return_X_y=True)
    linear = PAClassifier(C=0.3, cost={1: {2: 9.0}}, update="max-loss", random_state=2)
    kernel = KernelPAClassifier(
        "linear", C=0.3, cost={1: {2: 9.0}}, update="max-loss", random_state=2
    )
    np.testing.assert_allclose(
        kernel.fit(X, y).decision_function(X), linear.fit(X, y).decision_function(X), atol=1e-8
    )
    assert kernel.online_cost_ == linear.online_cost_
    weighted = {"class_weight": {0: 1.0, 1: 0.2, 2: 3.0}, "random_state": 2}
    np.testing.assert_allclose(
        KernelPAClassifier("linear", **weighted).fit(X, y).decision_function(X),
        PAClassifier(**weighted).fit(X, y).decision_function(X),
        atol=1e-8,
    )


def test_copies_go_on_alike() -> None:
    X, y = make_circles(120, noise=0.1, factor=0.4, random_state=1)
    model = KernelPAClassifier(gamma=1.0, max_iter=2, random_state=1).fit(X, y)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        other.partial_fit(X[:40], y[:40])
        again = copy.deepcopy(model).partial_fit(X[:40], y[:40])
        np.testing.assert_allclose(again.decision_function(X), other.decision_function(X))


def test_dense_and_sparse_mix() -> None:
    X, y = make_circles(100, noise=0.1, factor=0.4, random_state=1)
    S = sparse.csr_matrix(X)
    want = KernelPAClassifier(gamma=1.0, random_state=0).fit(X, y).partial_fit(X[:9], y[:9])
    for first, second in ((S, S), (S, X), (X, S)):
        model = KernelPAClassifier(gamma=1.0, random_state=0).fit(first, y)
        model.partial_fit(second[:9], y[:9])
        np.testing.assert_allclose(
            model.decision_function(second), want.decision_function(X), atol=1e-9
        )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KernelPAClassifier("gauss"), "kernel='gauss'; it must be one of linear, poly"),
        (lambda: KernelPAClassifier(gamma=-1.0), "gamma=-1.0; it must be 'scale', 'auto' or"),
        (lambda: KernelPAClassifier(degree=2.5), "degree=2.5; it must be a whole number"),
        (lambda: KernelPAClassifier(budget=0), "budget=0; it must be a whole number"),
        (lambda: KernelPAClassifier(budget=5, average=True), "no mean with a budget"),
        (lambda: KernelPAClassifier("precomputed"), "must be square"),
        (lambda: KernelPAClassifier(lambda A, B: np.zeros(3)), "an array of shape (3,)"),
        (lambda: PAUniclass(kernel="precomputed"), "K(x, x) of new examples"),
    ],
)
def test_mistakes_are_named(make, message: str) -> None:
    X, y = make_circles(20, random_state=1)
    with pytest.raises(SeqpaError, match=re.escape(message)):
        make().fit(X, y)


@pytest.mark.pure
def test_kinks() -> None:
    """Zero vectors under a linear kernel, one example, a ball at its own centre."""
    zero = Examples.from_array(np.zeros((3, 2)))
    learner = KernelLearner(Binary(), "PA", kernel=Kernel("linear"))
    run = learner.run(zero, [1, -1, 1])
    assert (run.updates, run.mistakes, len(learner.support)) == (0, 3, 0)
    np.testing.assert_array_equal(learner.scores(np.ones((2, 2))), np.zeros((2, 1)))
    ball = KernelLearner(Uniclass(0.0), "PA", kernel=Kernel("linear"), start=np.ones((1, 2)))
    assert ball.run(Examples.from_array(np.ones((2, 2)))).updates == 0
    ball.run(Examples.from_array([[3.0, 1.0]]))  # ε = 0: the centre is this example now
    np.testing.assert_allclose(ball.distances(np.array([[3.0, 1.0], [3.0, 2.0]])), [0.0, 1.0])
    assert len(ball.support) == 1
