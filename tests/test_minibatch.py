"""Mini-batches: the quadratic problem is solved exactly, with the steps of Mini-batch PA."""

from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pytest
import reference_dual
from cases import draw, examples_of, flat, learner_of, problem_of, twin_constraint
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import check_estimator

from seqpa import KernelPAClassifier, MiniBatchPAClassifier, PAClassifier, SeqpaError
from seqpa.core import batch
from seqpa.core.batch import BatchLearner, new_qp, solve_batch, solve_box
from seqpa.core.dual import KernelLearner
from seqpa.core.examples import Examples
from seqpa.core.kernels import Kernel
from seqpa.core.problems import Binary, Uniclass
from seqpa.core.steps import USES_C, step_size
from seqpa.experiments.windows import WindowLearner

KINDS = ("binary", "multiclass", "multilabel", "prediction-based", "max-loss")


def objective(A: np.ndarray, b: np.ndarray, x: np.ndarray) -> float:
    return float(-0.5 * x @ A @ x + b @ x)


def residual(A, b, x, lower, upper) -> float:
    """How far from optimal, relative to the terms of the gradient (Karush, Kuhn, Tucker)."""
    slope = b - A @ x
    size = np.abs(b) + np.abs(A) @ np.abs(x) + 1e-300
    wrong = np.where(
        x <= lower, np.maximum(slope, 0), np.where(x >= upper, np.maximum(-slope, 0), np.abs(slope))
    )
    return float((wrong / size).max(initial=0.0))


# The solver.


@settings(max_examples=150)
@given(st.integers(0, 10**6))
def test_optimal_whatever_the_problem(seed: int) -> None:
    """Singular matrices, equal examples, whole numbers, wide and narrow boxes, no box."""
    rng = np.random.default_rng(seed)
    n, rank = rng.integers(1, 60), rng.integers(1, 60)
    X = rng.normal(size=(n, rank)) * rng.choice([0.01, 1.0, 30.0])
    if seed % 3 == 0:
        X = X[rng.integers(0, n, n)]
    if seed % 4 == 0:
        X = np.round(X)
    A, b = X @ X.T, rng.normal(size=n) * rng.choice([0.1, 1.0, 10.0])
    b = np.ones(n) if seed % 5 == 0 else b
    lower, upper, ridge = np.zeros(n), np.full(n, np.inf), np.zeros(n)
    if seed % 2:
        upper = rng.choice([1e-3, 0.1, 5.0]) * (1 + rng.random(n))
    else:
        ridge = rng.choice([1e-6, 0.1, 10.0]) * (1 + rng.random(n))
        lower = np.full(n, -np.inf) if seed % 7 == 0 else lower
    x = solve_box(A, b, lower=lower, upper=upper, ridge=ridge)
    assert (x >= lower).all()
    assert (x <= upper).all()
    assert residual(A + np.diag(ridge), b, x, lower, upper) < 1e-13


@pytest.mark.pure
def test_equals_enumeration() -> None:
    rng = np.random.default_rng(1)
    for trial in range(40):
        n = 1 + trial % 4
        X = rng.normal(size=(n, 1 + trial % 3))
        A, b = X @ X.T, rng.normal(size=n) + 0.5
        upper = np.full(n, 0.4)
        got = solve_box(A, b, upper=upper)
        want = reference_dual.enumerated(A, b, np.zeros(n), upper)
        np.testing.assert_allclose(objective(A, b, got), objective(A, b, want), atol=1e-12)
        if np.linalg.matrix_rank(A) == n:
            np.testing.assert_allclose(got, want, atol=1e-9)


@pytest.mark.parametrize("n", [2, 10, 50])
def test_equals_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 20))
    y = rng.choice([-1.0, 1.0], n)
    A, b = np.outer(y, y) * (X @ X.T + 1), 1 - y * (X @ rng.normal(size=20))
    for upper, ridge in ((0.05, 0.0), (1.0, 0.0), (np.inf, 0.5)):
        H = A + ridge * np.eye(n)
        got = solve_box(A, b, upper=upper, ridge=ridge)
        theirs = minimize(
            lambda x, H=H: -objective(H, b, x),
            np.zeros(n),
            jac=lambda x, H=H: H @ x - b,
            method="L-BFGS-B",
            bounds=[(0, upper)] * n,
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 3000, "maxfun": 3000},
        )
        assert objective(H, b, got) >= -theirs.fun - 1e-9 * abs(theirs.fun)
        np.testing.assert_allclose(got @ H @ got, theirs.x @ H @ theirs.x, rtol=1e-4)


def test_least_squares_is_the_closed_form() -> None:
    rng = np.random.default_rng(3)
    X, b = rng.normal(size=(30, 8)), rng.normal(size=30)
    got = solve_box(X @ X.T, b, lower=-np.inf, ridge=0.5)
    np.testing.assert_allclose(got, np.linalg.solve(X @ X.T + 0.5 * np.eye(30), b), atol=1e-10)


@pytest.mark.pure
def test_one_variable_is_the_step_to_the_last_bit() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        norm2, r, C = rng.lognormal(sigma=3), rng.normal(), rng.lognormal(sigma=3)
        boxes = {
            "PA-I": {"upper": C},
            "PA-II": {"ridge": 0.5 / C},
            "PA-LS": {"ridge": 0.5 / C, "lower": -np.inf},
        }
        for step, box in boxes.items():
            got = solve_box([[norm2]], [r], **box)[0]
            assert got == step_size(step, r, 1 - r, norm2, C)


def test_solve_batch_is_the_paper_s_dual() -> None:
    rng = np.random.default_rng(9)
    for step in USES_C:
        D, lacking, C = rng.normal(size=(4, 3)), rng.normal(size=4) + 0.5, rng.random(4) + 0.1
        D[2] = 0.0
        got = solve_batch(D @ D.T, lacking, C, step)
        assert got[2] == 0.0
        some = [0, 1, 3]
        want = reference_dual.dual(D[some], lacking[some], step, C[some])
        np.testing.assert_allclose(got[some] @ D[some], want @ D[some])


def test_no_solution_is_no_silence() -> None:
    """Two opposite wishes for the same direction, and nothing that bounds them."""
    qp = new_qp(2)
    qp["A"][:] = [[1.0, -1.0], [-1.0, 1.0]]
    qp["b"][:] = 1.0
    qp["upper"][:] = 1e100
    assert qp["solver"].solve(2) == -1
    with pytest.raises(SeqpaError, match="no solution"):
        solve_box([[1.0, -1.0], [-1.0, 1.0]], [1.0, 1.0])


# The learner.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", USES_C)
@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("bias", [False, True])
def test_equals_the_twin(kind: str, step: str, size: int, bias: bool, monkeypatch) -> None:
    monkeypatch.setattr(batch, "BLOCK", 7)
    rng = np.random.default_rng([len(kind), size])
    case = draw(kind, rng, n=22, d=3, n_labels=3, bias=bias)
    C = rng.choice([0.05, 0.5, 2.0], size=22)
    order = rng.permutation(22)
    twin = reference_dual.run_batches(twin_constraint(case), order, case.start, step, C, size)
    options = {"average": True, "batch_size": size}
    problem, K = problem_of(case), case.n_labels
    linear = BatchLearner(problem, step, 3, K, bias, **options)
    kernel = KernelLearner(problem, step, K, kernel=Kernel("linear", bias=bias), **options)
    for learner in (linear, kernel):
        examples = examples_of(case, sparse=bool(rng.integers(2)))
        run = learner.run(examples, case.target, C=C, order=order, record=True)
        np.testing.assert_allclose(run.losses, twin.losses, atol=1e-8)
        np.testing.assert_allclose(run.costs, twin.costs)
    np.testing.assert_allclose(flat(linear.weights, case), twin.weights, atol=1e-8)
    np.testing.assert_allclose(flat(linear.mean_weights, case), twin.mean, atol=1e-8)
    np.testing.assert_allclose(
        kernel.scores(case.X), examples_of(case).scores(linear.mean_weights), atol=1e-8
    )


@pytest.mark.parametrize("step", USES_C)
def test_step_is_the_minimiser(step: str) -> None:
    """Eq. 10-11 with linear or squared slack, or equalities, as printed, by SLSQP."""
    rng = np.random.default_rng(6)
    for C in (0.05, 1.0):
        case = draw("binary", rng, n=4, d=2, bias=True, start="random", density=1.0)
        learner = BatchLearner(Binary(), step, 2, bias=True, batch_size=4)
        learner.weights[:] = case.start
        learner.run(examples_of(case), case.target, C=C)

        def cost(v: np.ndarray, start=case.start, C=C) -> float:
            slack = v[3:].sum() if step == "PA-I" else (v[3:] ** 2).sum()
            return 0.5 * float(np.sum((v[:3] - start) ** 2)) + C * float(slack)

        def room(v: np.ndarray, case=case) -> np.ndarray:
            return case.target * (case.rows @ v[:3]) - 1 + v[3:]

        solution = minimize(
            cost,
            np.append(case.start, np.ones(4)),
            method="SLSQP",
            bounds=[(None, None)] * 3 + [(0, None) if step == "PA-I" else (None, None)] * 4,
            constraints=[{"type": "eq" if step == "PA-LS" else "ineq", "fun": room}],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        np.testing.assert_allclose(learner.weights[0], solution.x[:3], atol=2e-5)


@pytest.mark.pure
@pytest.mark.parametrize("step", USES_C)
@pytest.mark.parametrize("kind", KINDS)
def test_one_example_is_the_plain_step(kind: str, step: str) -> None:
    rng = np.random.default_rng(4)
    case = draw(kind, rng, n=40, d=4, n_labels=3, bias=True)
    plain = learner_of(case, step, average=True)
    ones = BatchLearner(problem_of(case), step, 4, case.n_labels, True, average=True, batch_size=1)
    for _ in range(2):
        want = plain.run(examples_of(case), case.target, C=0.3, record=True)
        got = ones.run(examples_of(case), case.target, C=0.3, record=True)
        np.testing.assert_allclose(got.taus, want.taus, atol=1e-10)
    np.testing.assert_allclose(ones.mean_weights, plain.mean_weights, atol=1e-10)


def test_one_batch_for_all_meets_all() -> None:
    """Separable examples, slack forbidden by a large C: every margin is met by a single step."""
    X, y = make_classification(40, 60, flip_y=0.0, class_sep=2.0, random_state=1)
    model = MiniBatchPAClassifier(40, C=1e9, max_iter=1, tol=None, fit_intercept=True).fit(X, y)
    margins = (2 * y - 1) * model.decision_function(X)
    assert margins.min() >= 1 - 1e-9
    # and it is the shortest such vector: the hard-margin support vector machine, bias inside
    tight = np.isclose(margins, 1.0)
    assert 0 < tight.sum() < 40


def test_batches_left_alone_and_empty_rows() -> None:
    X = np.array([[2.0, 0.0], [0.0, 3.0], [0.0, 0.0], [1.0, 1.0]])
    y = [1, 1, -1, 1]
    learner = BatchLearner(Binary(), "PA-I", 2, batch_size=2)
    run = learner.run(Examples.from_array(X), y, C=10.0, record=True)
    assert run.taus[2] == 0.0
    assert run.norms2[2] == 0.0
    assert run.mistakes == 4 - int(run.losses[3] < 1.0)
    again = learner.run(Examples.from_array(X), y, C=10.0, tol=1e-6)
    assert again.updates == 0
    few = BatchLearner(Binary(), "PA-II", 2, batch_size=50)
    # The first two meet the last one's wish, too; the third has no direction.
    assert few.run(Examples.from_array(X), y).updates == 2
    assert few.run(Examples.from_array(X[:0]), []).n_examples == 0


# The estimator.


@pytest.mark.parametrize(
    "estimator",
    [
        MiniBatchPAClassifier(),
        MiniBatchPAClassifier(fit_intercept=True, average=True),
        MiniBatchPAClassifier(3, overlapping=True, tol=1.0),  # few epochs: each has many batches
        MiniBatchPAClassifier(3, kernel="rbf", variant="PA-LS"),
    ],
    ids=repr,
)
def test_scikit_learn_s_own_checks(estimator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator)


@pytest.mark.parametrize("variant", USES_C)
def test_one_example_is_the_other_classifiers(variant: str) -> None:
    X, y = load_iris(return_X_y=True)
    options = {"variant": variant, "C": 0.2, "random_state": 3, "fit_intercept": True}
    ones = MiniBatchPAClassifier(1, **options).fit(X, y)
    plain = PAClassifier(**options).fit(X, y)
    np.testing.assert_allclose(ones.coef_, plain.coef_, atol=1e-7)
    np.testing.assert_allclose(ones.intercept_, plain.intercept_, atol=1e-7)
    ones = MiniBatchPAClassifier(1, kernel="rbf", **options).fit(X, y)
    plain = KernelPAClassifier("rbf", **options).fit(X, y)
    np.testing.assert_allclose(ones.decision_function(X), plain.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(ones.intercept_, plain.intercept_, atol=1e-7)
    with pytest.raises(AttributeError):
        _ = ones.coef_


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MiniBatchPAClassifier(0), "batch_size=0; it must be a whole number, 1 or above"),
        (lambda: MiniBatchPAClassifier(variant="PA"), "it must be one of PA-I, PA-II, PA-LS"),
        (lambda: MiniBatchPAClassifier(kernel="gauss"), "kernel='gauss'; it must be None, one of"),
    ],
)
def test_mistakes_are_named(make, message: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(SeqpaError, match=re.escape(message)):
        make().fit(X, y)


def test_steps_without_mini_batches() -> None:
    for problem, step in ((Binary(), "PA"), (Binary(), "perceptron"), (Uniclass(1.0), "PA-I")):
        with pytest.raises(SeqpaError, match="mini-batches are made of the steps"):
            BatchLearner(problem, step, 2, batch_size=2)


# Over many calls.


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", [None, "rbf"])
@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pieces", [1, 7, 60])
def test_mini_batches_are_gathered_over_calls(form, kernel, overlapping: bool, pieces: int) -> None:
    """However the examples come, the mini-batches are the same; 3 wait in the end."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(2).permutation(len(y))[:63]
    X, y = X[order], y[order]
    options = {"kernel": kernel, "gamma": 0.3, "average": True, "overlapping": overlapping}
    model = MiniBatchPAClassifier(10, fit_intercept=True, **options)
    for rows in np.array_split(np.arange(63), pieces):
        model.partial_fit(form(X[rows]), y[rows], classes=[0, 1, 2])
    whole = MiniBatchPAClassifier(10, fit_intercept=True, **options)
    whole.set_params(shuffle=False, tol=None, max_iter=1)
    n = 63 if overlapping else 60
    whole.fit(form(X[:n]), y[:n])
    for name in ("n_updates_", "online_mistakes_", "online_squared_loss_"):
        assert getattr(model, name) == pytest.approx(getattr(whole, name)), name
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-9)
    if kernel is not None:
        assert len(model.dual_coef_) == len(whole.dual_coef_)
    copy = pickle.loads(pickle.dumps(model))
    if not overlapping:
        whole.partial_fit(form(X[60:]), y[60:]).flush()
    for each in (model, copy):
        each.flush()
        np.testing.assert_allclose(each.decision_function(X), whole.decision_function(X), atol=1e-9)
        assert each.flush().n_updates_ == model.n_updates_
    assert model.n_iter_ == pieces


def test_what_waits_is_a_copy_and_fit_forgets_it() -> None:
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    model = MiniBatchPAClassifier(3, shuffle=False)
    row = X[:1].copy()
    model.partial_fit(row, y[:1], classes=[0, 1])
    assert model.predict(X).tolist() == [0, 0, 0, 0]
    row[:] = np.nan
    model.flush()
    assert model.n_updates_ == 1
    model.partial_fit(X[:2], y[:2])
    fresh = MiniBatchPAClassifier(3, shuffle=False).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).flush().coef_, fresh.coef_)
    with pytest.raises(NotFittedError):
        MiniBatchPAClassifier().flush()


@pytest.mark.parametrize("step", USES_C)
@pytest.mark.parametrize("kernel", [None, "linear"])
def test_overlapping_windows_are_those_of_the_experiment(step: str, kernel) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = scale(X)[:80], np.where(y[:80] == 1, 1.0, -1.0)
    window = WindowLearner(X @ X.T + 1.0, y, step, size=5)
    wrong = window.run(np.arange(80), C=0.05)
    options = {"variant": step, "C": 0.05, "fit_intercept": True, "kernel": kernel}
    model = MiniBatchPAClassifier(5, overlapping=True, **options)
    model.set_params(shuffle=False, tol=None, max_iter=1).fit(X, y)
    assert model.online_mistakes_ == wrong.sum()
    scores = (X @ X.T + 1.0) @ window.coef
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-7, atol=1e-9)


def test_a_window_of_one_is_the_plain_step() -> None:
    X, y = load_iris(return_X_y=True)
    options = {"C": 0.2, "random_state": 3, "average": True, "tol": None, "max_iter": 2}
    one = MiniBatchPAClassifier(1, overlapping=True, **options).fit(X, y)
    plain = PAClassifier(**options).fit(X, y)
    np.testing.assert_allclose(one.coef_, plain.coef_, atol=1e-9)
    assert (one.n_updates_, one.online_mistakes_) == (plain.n_updates_, plain.online_mistakes_)
