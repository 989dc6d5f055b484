"""The learner equals its naive twins: weights, mean, every record and every sum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference
from cases import KINDS, Case, draw, examples_of, flat, learner_of, problem_of, twin_constraint
from scipy import sparse as sp

from seqpa.core.examples import Examples
from seqpa.core.learner import Learner, Run, passes
from seqpa.core.problems import CostSensitive, Multiclass, Multilabel
from seqpa.core.steps import step_size
from seqpa.errors import SeqpaError

SETTINGS = [
    (kind, step, bias)
    for kind, step, bias in itertools.product(KINDS, reference.STEPS, (False, True))
    if not (bias and kind.startswith("uniclass"))
]
RECORDS = ("losses", "taus", "norms2", "costs")


def check_against_twin(
    case: Case, step: str, rng: np.random.Generator, sparse: bool, average: bool, tol: float = 0.0
) -> None:
    n = len(case.X)
    C = rng.uniform(0.05, 2.0, size=n)
    # No example twice: it would lie on the kink of its own last update, where rounding decides.
    order = rng.permutation(n)[: n - 2]
    twin = reference.run(twin_constraint(case), order, case.start, step, C, tol)
    learner = learner_of(case, step, average)
    run = learner.run(
        examples_of(case, sparse), case.target, C=C, order=order, tol=tol, record=True
    )
    close = {"rtol": 1e-8, "atol": 1e-10}
    np.testing.assert_allclose(flat(learner.weights, case), twin.weights, **close)
    for name in RECORDS:
        np.testing.assert_allclose(getattr(run, name), getattr(twin, name), err_msg=name, **close)
    if average:
        np.testing.assert_allclose(flat(learner.mean_weights, case), twin.mean, **close)
    check_sums(run)


def check_sums(run: Run) -> None:
    """The progressive sums are the sums of the record."""
    assert run.n_examples == len(run.losses)
    assert run.mistakes == np.sum(run.costs > 0)
    assert run.updates == np.sum(run.taus != 0)
    np.testing.assert_allclose(run.cost, run.costs.sum())
    np.testing.assert_allclose(run.loss, run.losses.sum())
    np.testing.assert_allclose(run.squared_loss, (run.losses**2).sum())


@pytest.mark.parametrize(("kind", "step", "bias"), SETTINGS)
def test_learner_equals_twin(kind: str, step: str, bias: bool) -> None:
    rng = np.random.default_rng(SETTINGS.index((kind, step, bias)))
    for sparse, average, start in itertools.product((False, True), (False, True), (True, False)):
        n_labels = int(rng.integers(2, 10))
        margin = float(rng.choice([0.5, 1.0, 2.0]))
        case = draw(
            kind,
            rng,
            n=25,
            d=int(rng.integers(1, 8)),
            n_labels=n_labels,
            bias=bias,
            start="random" if start else "zero",
            margin=margin,
        )
        check_against_twin(case, step, rng, sparse, average)


@pytest.mark.pure
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_learner_equals_twin_quick(kind: str, sparse: bool) -> None:
    rng = np.random.default_rng(17)
    for step in reference.STEPS:
        case = draw(kind, rng, n=12, d=5, n_labels=6, bias=not kind.startswith("uniclass"))
        check_against_twin(case, step, rng, sparse, average=True)


@pytest.mark.pure
@pytest.mark.parametrize("kind", KINDS)
def test_tol_leaves_small_losses_alone(kind: str) -> None:
    rng = np.random.default_rng(23)
    for step in ("PA", "PA-I", "PA-II"):
        case = draw(kind, rng, n=20, d=4, n_labels=3)
        check_against_twin(case, step, rng, sparse=False, average=True, tol=0.3)


# Single-prototype problems: Φ(x, y) shares features between labels.


def joint_maps(rng: np.random.Generator, n: int, d: int, n_labels: int) -> list[np.ndarray]:
    shared = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    return [shared * rng.normal(size=d) * (rng.random(d) < 0.7) for _ in range(n_labels)]


@pytest.mark.pure
@pytest.mark.parametrize("problem", ["multiclass", "multilabel", "prediction-based", "max-loss"])
@pytest.mark.parametrize("step", reference.STEPS)
def test_joint_learner_equals_twin(problem: str, step: str) -> None:
    rng = np.random.default_rng(31)
    for average in (False, True):
        n, d, K = 15, 6, 4
        maps = joint_maps(rng, n, d, K)

        def features(i: int, k: int, maps=maps) -> np.ndarray:
            return maps[k][i]

        y = rng.integers(K, size=n)
        cost = rng.integers(0, 4, size=(K, K)).astype(float)
        np.fill_diagonal(cost, 0.0)
        if problem == "multiclass":
            ours, target = Multiclass(), y
            twin_of = reference.multiclass(features, y, K)
        elif problem == "multilabel":
            target = (rng.random((n, K)) < 0.5).astype(np.uint8)
            ours, twin_of = Multilabel(), reference.multilabel(features, target)
        else:
            ours, target = CostSensitive(cost, problem), y
            twin_of = reference.cost_sensitive(features, y, cost, problem)
        C = rng.uniform(0.1, 1.0, size=n)
        order = rng.permutation(n)
        twin = reference.run(twin_of, order, np.zeros(d), step, C)
        learner = Learner(ours, step, d, K, average=average, joint=True)
        run = learner.run(Examples.from_maps(maps), target, C=C, order=order, record=True)
        np.testing.assert_allclose(learner.weights[0], twin.weights, rtol=1e-8, atol=1e-9)
        for name in RECORDS:
            ours_now, theirs = getattr(run, name), getattr(twin, name)
            np.testing.assert_allclose(ours_now, theirs, rtol=1e-8, atol=1e-9, err_msg=name)
        if average:
            np.testing.assert_allclose(learner.mean_weights[0], twin.mean, rtol=1e-8, atol=1e-9)
        check_sums(run)


def test_blocks_make_single_prototype_equal_multi_prototype() -> None:
    """§7's reduction: Φ(x, y) = x in block y gives the multi-prototype learner."""
    rng = np.random.default_rng(3)
    case = draw("multiclass", rng, n=30, d=3, n_labels=4)
    features = reference.blocks(case.X, 4)
    maps = [np.array([features(i, k) for i in range(30)]) for k in range(4)]
    single = Learner(Multiclass(), "PA-I", 12, 4, joint=True)
    multi = learner_of(case, "PA-I")
    a = single.run(Examples.from_maps(maps), case.target, C=0.2)
    b = multi.run(examples_of(case), case.target, C=0.2)
    np.testing.assert_allclose(single.weights.reshape(-1), multi.weights.reshape(-1), atol=1e-12)
    assert (a.mistakes, a.updates) == (b.mistakes, b.updates)


# Laws.


@pytest.mark.parametrize("kind", KINDS)
def test_passes_continue_where_the_last_ended(kind: str) -> None:
    """Two passes over halves equal one pass over all, the mean included."""
    rng = np.random.default_rng(7)
    case = draw(kind, rng, n=40, d=4, n_labels=3)
    whole, halves = learner_of(case, "PA-II", True), learner_of(case, "PA-II", True)
    together = whole.run(examples_of(case), case.target, order=np.arange(40))
    first = halves.run(examples_of(case), case.target, order=np.arange(20))
    second = halves.run(examples_of(case), case.target, order=np.arange(20, 40))
    np.testing.assert_array_equal(halves.weights, whole.weights)
    np.testing.assert_allclose(halves.mean_weights, whole.mean_weights, atol=1e-12)
    assert together.mistakes == first.mistakes + second.mistakes
    assert whole.seen == halves.seen == 40


@pytest.mark.parametrize("kind", KINDS)
def test_layouts_can_alternate(kind: str) -> None:
    """Dense and CSR passes in turn give what dense passes give."""
    rng = np.random.default_rng(13)
    case = draw(kind, rng, n=30, d=4, n_labels=3)
    dense, mixed = learner_of(case, "PA-I", True), learner_of(case, "PA-I", True)
    for i in range(4):
        dense.run(examples_of(case), case.target, C=0.3)
        mixed.run(examples_of(case, sparse=i % 2 == 1), case.target, C=0.3)
        assert mixed.weights.shape == dense.weights.shape
        np.testing.assert_allclose(mixed.weights, dense.weights, atol=1e-10)
        np.testing.assert_allclose(mixed.mean_weights, dense.mean_weights, atol=1e-10)


@pytest.mark.parametrize("first", [False, True])
def test_layouts_change_though_nobody_looks(first: bool) -> None:
    case = draw("multiclass", np.random.default_rng(14), n=30, d=4, n_labels=3)
    dense, mixed = (Learner(problem_of(case), "PA-I", 4, 3, average=True) for _ in range(2))
    for i in range(2):
        dense.run(examples_of(case), case.target, C=0.3)
        mixed.run(examples_of(case, sparse=first == (i == 0)), case.target, C=0.3)
    np.testing.assert_allclose(mixed.weights, dense.weights, atol=1e-10)
    np.testing.assert_allclose(mixed.mean_weights, dense.mean_weights, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_stay_as_they_are(kind: str) -> None:
    rng = np.random.default_rng(19)
    case = draw(kind, rng, n=20, d=4, n_labels=3)
    X, target = case.X.copy(), None if case.target is None else case.target.copy()
    case.X.flags.writeable = False
    if case.target is not None:
        case.target.flags.writeable = False
    learner_of(case, "PA", True).run(examples_of(case), case.target)
    np.testing.assert_array_equal(case.X, X)
    if target is not None:
        np.testing.assert_array_equal(case.target, target)


@pytest.mark.pure
@pytest.mark.parametrize("sparse", [False, True])
def test_labels_with_the_same_weights_have_the_same_score(sparse: bool) -> None:
    """Whatever the place of a label among the others: a tie is a tie."""
    rng = np.random.default_rng(31)
    X, w = rng.normal(size=(1, 23)), rng.normal(size=23)
    for K in range(2, 20):
        learner = Learner(Multiclass(), "PA", 23, K, start=np.tile(w, (K, 1)))
        examples = Examples.from_array(sp.csr_matrix(X) if sparse else X)
        run = learner.run(examples, [K - 1], record=True)
        assert run.costs.tolist() == [1.0]
        assert run.downs.tolist() == [0]


def test_feature_order_is_irrelevant() -> None:
    rng = np.random.default_rng(29)
    case = draw("multiclass", rng, n=50, d=6, n_labels=4)
    turned = case.replace(X=np.ascontiguousarray(case.X[:, ::-1]))
    a, b = learner_of(case, "PA-I"), learner_of(turned, "PA-I")
    a.run(examples_of(case), case.target, C=0.2)
    b.run(examples_of(turned), case.target, C=0.2)
    np.testing.assert_allclose(a.weights, b.weights[:, ::-1], atol=1e-10)


@pytest.mark.parametrize("kind", ["binary", "regression", "multiclass", "multilabel", "max-loss"])
def test_batch_conversion_ends_with_small_losses(kind: str) -> None:
    """PA 2003, §4: with more features than examples PA satisfies everything, to tol, no further."""
    rng = np.random.default_rng(37)
    case = draw(kind, rng, n=8, d=20, n_labels=3, density=1.0)
    learner, examples, tol = learner_of(case, "PA"), examples_of(case), 1e-4
    runs = list(passes(learner, examples, case.target, max_iter=3000, tol=tol))
    assert len(runs) < 3000
    assert runs[-1].updates == 0
    assert all(run.updates > 0 for run in runs[:-1])
    losses = learner.problem.losses(examples.scores(learner.weights), case.target)
    assert losses.max() ** 2 <= tol * (1 + 1e-9)


def test_passes_shuffle_by_the_generator_alone() -> None:
    rng = np.random.default_rng(41)
    case = draw("binary", rng, n=60, d=5)
    ends = []
    for seed in (1, 1, 2):
        learner = learner_of(case, "PA-I")
        generator = np.random.default_rng(seed)
        runs = passes(
            learner, examples_of(case), case.target, max_iter=3, shuffle=True, rng=generator
        )
        assert [run.n_examples for run in runs] == [60, 60, 60]
        ends.append(learner.weights.copy())
    np.testing.assert_array_equal(ends[0], ends[1])
    assert not np.array_equal(ends[0], ends[2])


@pytest.mark.parametrize("kind", [k for k in KINDS if not k.startswith("uniclass")])
def test_losses_of_fixed_weights_equal_the_twin(kind: str) -> None:
    """Problem.losses is what one example would lose; for prediction-based costs that is ℓ_ML."""
    rng = np.random.default_rng(43)
    case = draw(kind, rng, n=30, d=4, n_labels=5, start="random", bias=True)
    view = case.replace(kind="max-loss") if kind == "prediction-based" else case
    constraint = twin_constraint(view)
    want = []
    for i in range(30):
        margin, score, direction, _ = constraint(i, case.start)
        want.append(0.0 if direction is None else max(0.0, margin - score))
    learner = learner_of(case, "PA")
    scores = examples_of(case, sparse=True).scores(learner.weights)
    np.testing.assert_allclose(learner.problem.losses(scores, case.target), want, atol=1e-12)


def test_step_size_by_name_equals_the_twin() -> None:
    rng = np.random.default_rng(47)
    for _ in range(200):
        score, margin = rng.normal(size=2)
        norm2, C = rng.uniform(0.1, 5.0, size=2)
        for step in reference.STEPS:
            want = reference.step_size(step, margin - score, score, norm2, C)
            assert step_size(step, margin - score, score, norm2, C) == pytest.approx(want)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, e, run: run(e, c.target, C=0.0), "C must be"),
        (lambda c, e, run: run(e, c.target, C=np.nan), "C must be"),
        (lambda c, e, run: run(e, c.target, order=[99]), "order"),
        (lambda c, e, run: run(e, c.target, order=[-1]), "order"),
        (lambda c, e, run: run(e, c.target[:-1]), "targets"),
        (lambda c, e, run: run(e, c.target * 2), "binary"),
        (lambda c, e, run: run(Examples.from_array(c.X[:, 1:]), c.target), "features"),
        (lambda c, e, run: run(Examples.from_array(c.X, bias=True), c.target), "bias"),
    ],
)
def test_wrong_calls_say_what_is_wrong(call, message: str) -> None:
    case = draw("binary", np.random.default_rng(53), n=10, d=3)
    learner = learner_of(case, "PA-I")
    with pytest.raises(SeqpaError, match=message):
        call(case, examples_of(case), learner.run)
    assert not learner.weights.any()
