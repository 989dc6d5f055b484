"""Where formulas bend: zero norms, exact margins, ties, one of everything, extremes, no numbers."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from scipy import sparse
from sklearn.base import clone

from seqpa.core.examples import Examples
from seqpa.core.learner import Learner, Run
from seqpa.core.problems import (
    Binary,
    CostSensitive,
    Multiclass,
    Multilabel,
    OneVsRest,
    Regression,
    Uniclass,
)
from seqpa.errors import SeqpaError
from seqpa.estimators import (
    PAClassifier,
    PAMultilabelClassifier,
    PARegressor,
    PAUniclass,
    PerceptronClassifier,
)

STEPS = reference.STEPS
PA_STEPS = ("PA", "PA-I", "PA-II")
ZERO_ONE = [[0.0, 1.0], [1.0, 0.0]]
FORMS = {"dense": np.asarray, "sparse": sparse.csr_matrix}


def learn(
    problem, X, target=None, *, step="PA", start=None, n_labels=1, form="dense", bias=False, **other
) -> tuple[np.ndarray, Run]:
    """Weights and record of one pass."""
    examples = Examples.from_array(FORMS[form](np.atleast_2d(np.asarray(X, dtype=float))), bias)
    learner = Learner(problem, step, examples.n_features, n_labels, bias=bias, start=start)
    run = learner.run(examples, target, record=True, **other)
    return learner.weights, run


# Zero vector.


@pytest.mark.pure
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("step", STEPS)
def test_zero_vector_is_lost_but_moves_nothing(step: str, form: str) -> None:
    weights, run = learn(Binary(), [[0.0, 0.0]], [1.0], step=step, form=form)
    assert not weights.any()
    assert (run.losses[0], run.taus[0], run.norms2[0], run.costs[0]) == (1.0, 0.0, 0.0, 1.0)
    weights, run = learn(Regression(0.5), [[0.0, 0.0]], [2.0], step=step, form=form)
    assert not weights.any()
    assert run.losses[0] == 1.5
    weights, run = learn(Multiclass(), [[0.0, 0.0]], [1], n_labels=3, step=step, form=form)
    assert not weights.any()
    assert (run.mistakes, run.updates) == (1, 0)


@pytest.mark.pure
@pytest.mark.parametrize("form", FORMS)
def test_zero_vector_with_a_bias_has_the_norm_one(form: str) -> None:
    weights, run = learn(Binary(), [[0.0, 0.0]], [-1.0], bias=True, form=form)
    np.testing.assert_array_equal(weights, [[0.0, 0.0, -1.0]])
    assert run.norms2[0] == 1.0


def test_equal_joint_features_have_no_direction() -> None:
    """Φ(x, 0) = Φ(x, 1): no weights can tell the labels apart, and no division happens."""
    phi = [[0.1, 0.7, 0.2]]
    examples = Examples.from_maps([phi, phi])
    for step in STEPS:
        learner = Learner(Multiclass(), step, 3, 2, joint=True)
        run = learner.run(examples, [1], record=True)
        assert (run.losses[0], run.updates) == (1.0, 0)
        assert not learner.weights.any()


def test_uniclass_at_its_centre() -> None:
    for step in STEPS:
        weights, run = learn(Uniclass(0.0), [[0.0, 0.0]], step=step)
        assert not weights.any()
        assert (run.loss, run.updates) == (0.0, 0)


# Zero loss, and margins exactly met.


@pytest.mark.pure
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("step", PA_STEPS)
def test_exactly_met_margin_is_no_loss(step: str, form: str) -> None:
    """All numbers here are exact in binary."""
    options = {"step": step, "form": form}
    cases = [
        (Binary(), [[2.0, 1.0]], [1.0], [[0.25, 0.5]], 1),
        (Binary(0.5), [[2.0, 1.0]], [-1.0], [[-0.25, 0.0]], 1),
        (Regression(0.5), [[2.0, 1.0]], [1.5], [[0.5, 0.0]], 1),
        (Multiclass(), [[1.0, 2.0]], [2], [[0.5, 0.0], [0.0, 0.0], [0.5, 0.5]], 3),
        (Multilabel(), [[1.0, 2.0]], [[0, 1, 1]], [[0.0, 0.5], [2.0, 0.0], [0.0, 1.5]], 3),
        (
            CostSensitive([[0.0, 4.0], [1.0, 0.0]], "max-loss"),
            [[1.0, 2.0]],
            [0],
            [[1.0, 1.0], [1.0, 0.0]],
            2,
        ),
    ]
    for problem, X, target, start, n_labels in cases:
        weights, run = learn(problem, X, target, start=start, n_labels=n_labels, **options)
        np.testing.assert_array_equal(weights, start)
        assert (run.loss, run.updates) == (0.0, 0), problem
    weights, run = learn(Uniclass(5.0), [[3.0, 4.0]], **options)
    assert not weights.any()
    assert (run.loss, run.updates) == (0.0, 0)


@pytest.mark.parametrize("step", PA_STEPS)
def test_just_below_the_margin_is_a_loss(step: str) -> None:
    below = np.nextafter(1.0, 0.0)
    weights, run = learn(Binary(), [[1.0]], [1.0], start=[[below]], step=step)
    assert run.updates == 1
    assert weights[0, 0] > below


def test_least_squares_steps_back_from_beyond_the_margin() -> None:
    weights, run = learn(Binary(), [[1.0]], [1.0], start=[[3.0]], step="PA-LS", C=0.5)
    assert run.losses[0] == 0.0
    assert run.taus[0] == -1.0
    assert weights[0, 0] == 2.0
    weights, run = learn(Binary(), [[1.0]], [1.0], start=[[1.0]], step="PA-LS")
    assert run.updates == 0


def test_exactly_right_regression_asks_for_nothing() -> None:
    for step in STEPS:
        weights, run = learn(Regression(0.0), [[2.0, 1.0]], [1.0], start=[[0.5, 0.0]], step=step)
        np.testing.assert_array_equal(weights, [[0.5, 0.0]])
        assert run.mistakes == 0


# Ties.


@pytest.mark.pure
@pytest.mark.parametrize("form", FORMS)
def test_ties_go_to_the_first_label(form: str) -> None:
    X = [[1.0, 2.0]]
    _, run = learn(Multiclass(), X, [2], n_labels=4, form=form)
    assert (run.ups[0], run.downs[0]) == (2, 0)
    _, run = learn(Multiclass(), X, [0], n_labels=4, form=form)
    assert (run.ups[0], run.downs[0]) == (0, 1)
    _, run = learn(Multilabel(), X, [[0, 1, 0, 1]], n_labels=4, form=form)
    assert (run.ups[0], run.downs[0]) == (1, 0)
    cost = 1.0 - np.eye(4)
    _, run = learn(CostSensitive(cost), X, [2], n_labels=4, form=form)
    assert (run.ups[0], run.downs[0], run.costs[0]) == (2, 0, 1.0)
    _, run = learn(CostSensitive(cost, "max-loss"), X, [2], n_labels=4, form=form)
    assert (run.ups[0], run.downs[0]) == (2, 0)


@pytest.mark.pure
def test_a_tied_score_is_a_mistake() -> None:
    for step in STEPS:
        assert learn(Binary(), [[1.0]], [1.0], step=step)[1].mistakes == 1
        assert learn(Binary(), [[1.0]], [-1.0], step=step)[1].mistakes == 1
        assert learn(Multiclass(), [[1.0]], [0], n_labels=2, step=step)[1].mistakes == 1


@pytest.mark.pure
def test_prediction_based_ties() -> None:
    """The prediction is the first of equals: right for label 0, wrong for label 1."""
    cost = np.array([[0.0, 4.0], [9.0, 0.0]])
    _, run = learn(CostSensitive(cost), [[1.0]], [0], n_labels=2)
    assert (run.cost, run.updates) == (0.0, 0)
    weights, run = learn(CostSensitive(cost), [[1.0]], [1], n_labels=2)
    assert (run.cost, run.losses[0]) == (9.0, 3.0)
    np.testing.assert_allclose(weights, [[-1.5], [1.5]])


@pytest.mark.pure
def test_max_loss_tie_with_the_right_label_is_no_loss() -> None:
    cost = [[0.0, 1.0], [1.0, 0.0]]
    problem = CostSensitive(cost, "max-loss")
    _, run = learn(problem, [[1.0]], [1], n_labels=2, start=[[0.0], [1.0]])
    assert (run.loss, run.updates) == (0.0, 0)


def test_a_cost_of_zero_asks_only_for_the_order() -> None:
    """ρ(y, r) = 0 is a margin of 0: a wrong prediction is moved, but costs nothing."""
    problem = CostSensitive(np.zeros((2, 2)))
    weights, run = learn(problem, [[2.0]], [1], n_labels=2, start=[[1.0], [0.0]])
    assert (run.cost, run.mistakes, run.losses[0]) == (0.0, 0, 2.0)
    np.testing.assert_allclose(weights, [[0.5], [0.5]])


def test_predictions_break_ties_as_training_does() -> None:
    model = PAClassifier().partial_fit([[1.0], [1.0]], ["b", "c"], classes=["a", "b", "c"])
    assert model.predict([[0.0]]) == ["a"]


# One of everything.


@pytest.mark.pure
def test_one_label_asks_for_nothing() -> None:
    for problem in (Multiclass(), CostSensitive([[0.0]]), CostSensitive([[0.0]], "max-loss")):
        weights, run = learn(problem, [[1.0, 2.0]], [0])
        assert not weights.any()
        assert (run.loss, run.mistakes, run.updates) == (0.0, 0, 0)


@pytest.mark.pure
def test_all_or_no_labels_relevant_ask_for_nothing() -> None:
    for relevant in ([[1, 1]], [[0, 0]]):
        weights, run = learn(Multilabel(), [[1.0, 2.0]], relevant, n_labels=2)
        assert not weights.any()
        assert (run.loss, run.mistakes, run.updates) == (0.0, 0, 0)
        assert Multilabel().losses([[3.0, 4.0]], relevant) == [0.0]


def test_one_class_only() -> None:
    X = [[1.0], [2.0]]
    for model in (PAClassifier(), PerceptronClassifier()):
        with pytest.raises(ValueError, match="one class"):
            model.fit(X, ["a", "a"])
    model = PAClassifier(C=9.0).partial_fit(X, ["b", "b"], classes=["a", "b"])
    assert model.predict([[3.0]]) == ["b"]


def test_one_feature_one_example() -> None:
    for form in FORMS.values():
        X = form(np.array([[4.0]]))
        model = PAClassifier(variant="PA").partial_fit(X, [1], classes=[0, 1])
        assert model.coef_[0, 0] == 0.25
        assert PARegressor(variant="PA", epsilon=0.5).fit(X, [2.5]).coef_[0] == 0.5
        assert PAUniclass(epsilon=1.0, variant="PA").fit(X).center_[0] == 3.0


@pytest.mark.pure
def test_no_examples() -> None:
    for form in FORMS.values():
        examples = Examples.from_array(form(np.empty((0, 3))))
        learner = Learner(Binary(), "PA", 3, average=True)
        run = learner.run(examples, [], record=True)
        assert (run.n_examples, run.loss, len(run.losses)) == (0, 0.0, 0)
        assert not learner.mean_weights.any()


# Huge and tiny.


@pytest.mark.pure
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1e-140, 1e-30, 1.0, 1e30, 1e150])
def test_size_of_the_features_does_not_matter_to_pa(size: float, form: str) -> None:
    """PA is invariant: features times s, weights by s."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 3))
    y = np.where(X[:, 0] + 0.2 > 0, 1.0, -1.0)
    want, _ = learn(Binary(), X, y)
    got, run = learn(Binary(), X * size, y, form=form)
    np.testing.assert_allclose(got * size, want, rtol=1e-9)
    assert np.isfinite(run.squared_loss)


@pytest.mark.pure
@pytest.mark.parametrize("step", STEPS)
def test_vanishing_norms_are_no_direction(step: str) -> None:
    weights, run = learn(Binary(), [[1e-170, 1e-200]], [1.0], step=step)
    assert not weights.any()
    assert run.updates == 0


@pytest.mark.pure
@pytest.mark.parametrize("form", FORMS)
def test_overflowing_norm_names_the_row(form: str) -> None:
    X = FORMS[form](np.array([[1.0, 2.0], [1e200, 0.0]]))
    with pytest.raises(ValueError, match=r"row 1 .*overflows.*1e\+200.*scale"):
        Examples.from_array(X)
    with pytest.raises(ValueError, match="row 1"):
        PAClassifier().fit(X, [0, 1])


@pytest.mark.pure
def test_overflowing_weights_are_an_error() -> None:
    X = [[1e-140], [1.0], [1e150], [1e150]]
    with pytest.raises(ValueError, match="overflow"):
        learn(Regression(0.0), X, [1e150, 1.0, -1e300, 1e300])


def test_tiny_and_huge_C() -> None:
    X, y = [[1.0, 2.0]], [1.0]
    for step in ("PA-I", "PA-II", "PA-LS"):
        small, _ = learn(Binary(), X, y, step=step, C=1e-300)
        assert np.all(np.abs(small) < 1e-290)
        large, _ = learn(Binary(), X, y, step=step, C=1e300)
        np.testing.assert_allclose(large, [[0.2, 0.4]])


# Not numbers.


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
def test_not_numbers_are_refused(bad: float, word: str, form: str) -> None:
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, bad]])
    with pytest.raises(ValueError, match=f"row 2, column 1.*{word}"):
        Examples.from_array(FORMS[form](X))
    targets = {
        PAClassifier: [0, 1, 1],
        PerceptronClassifier: [0, 1, 1],
        PARegressor: [0.5, 1.5, 2.5],
        PAMultilabelClassifier: [[0, 1], [1, 0], [1, 1]],
        PAUniclass: None,
    }
    for estimator, target in targets.items():
        arguments = () if target is None else (target,)
        with pytest.raises(ValueError, match=r"(?i)nan|inf"):
            estimator().fit(FORMS[form](X), *arguments)
        model = estimator().fit(FORMS[form](np.nan_to_num(X, posinf=0, neginf=0)), *arguments)
        with pytest.raises(ValueError, match=r"(?i)nan|inf"):
            model.predict(FORMS[form](X))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_targets_that_are_no_numbers(bad: float) -> None:
    with pytest.raises(ValueError, match=r"(?i)nan|inf"):
        PARegressor().fit([[1.0], [2.0]], [1.0, bad])
    with pytest.raises(ValueError, match=r"(?i)nan|inf"):
        learn(Regression(0.1), [[1.0]], [bad])
    with pytest.raises(ValueError, match="C"):
        PAClassifier(C=bad).fit([[1.0], [2.0]], [0, 1])


# Forms of input.


@pytest.mark.pure
def test_repeated_sparse_entries_are_summed_before_the_norm() -> None:
    X = sparse.csr_matrix(([1.0, 2.0, 5.0, 4.0], [1, 1, 2, 0], [0, 4]), shape=(1, 3))
    X.has_canonical_format = False
    before = X.data.copy()
    examples = Examples.from_array(X)
    assert examples.norms2[0] == 4.0**2 + 3.0**2 + 5.0**2
    learner = Learner(Binary(), "PA", 3)
    learner.run(examples, [1.0])
    np.testing.assert_allclose(learner.weights, [[4.0 / 50, 3.0 / 50, 5.0 / 50]])
    np.testing.assert_array_equal(X.data, before)


@pytest.mark.parametrize(
    "form",
    [
        lambda X: X.astype(np.float32),
        lambda X: X.astype(int),
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X.tolist(),
        sparse.csc_matrix,
        sparse.coo_matrix,
        sparse.csr_array,
        lambda X: sparse.csr_matrix(X).astype(np.float32),
    ],
)
def test_every_form_of_input_gives_the_same(form) -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(-3, 4, size=(30, 4)).astype(float)
    y = np.where(X @ [1, -2, 0, 1] > 0, 1.0, -1.0)
    learner = Learner(Binary(), "PA-II", 4)
    learner.run(Examples.from_array(X), y)
    other = Learner(Binary(), "PA-II", 4)
    other.run(Examples.from_array(form(X)), y)
    np.testing.assert_allclose(other.weights, learner.weights, atol=1e-12)


@pytest.mark.parametrize("X", [np.ones(3), np.ones((2, 2, 2)), 5.0])
def test_examples_are_rows_of_a_matrix(X) -> None:
    with pytest.raises(ValueError, match="matrix"):
        Examples.from_array(X)


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
@pytest.mark.parametrize("more", [{"epsilon": 1.0}, {"learn_radius": True}])
def test_rounding_on_the_ball_is_no_loss(variant: str, more: dict[str, object]) -> None:
    """A step of PA ends on the ball; dense and CSR rows, which sum otherwise, must both see it."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.7)
        ball = PAUniclass(variant=variant, random_state=0, **more)
        dense, csr = clone(ball).fit(X), clone(ball).fit(sparse.csr_matrix(X))
        assert (dense.n_updates_, dense.n_iter_) == (csr.n_updates_, csr.n_iter_)


@pytest.mark.pure
@pytest.mark.parametrize("score", ["infinite", "NaN"])
@pytest.mark.parametrize("problem", [Binary(), OneVsRest(), Multiclass(), CostSensitive(ZERO_ONE)])
def test_scores_that_overflow_are_an_error(problem, score: str) -> None:
    """They are seen whatever the compiler makes of comparisons with them."""
    n_labels = 1 if isinstance(problem, Binary) else 2
    start = np.full((n_labels, 2), 1e200)
    start[0, 1] *= -1.0 if score == "NaN" else 1.0
    with pytest.raises(SeqpaError, match="overflow"):
        learn(problem, [[1e150, 1e150]], [1], n_labels=n_labels, start=start)
