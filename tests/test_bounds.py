"""The theorems hold on whatever sequence, for whatever comparator; broken steps break them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import reference
from cases import KINDS, Case, draw, examples_of, learner_of, twin_constraint
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from seqpa.core.batch import BatchLearner
from seqpa.core.bounds import bounds, certificate, print_certificate
from seqpa.core.examples import Examples
from seqpa.core.learner import Learner, passes
from seqpa.core.problems import Binary
from seqpa.core.theorems import THEOREMS, Bound, Rounds, check
from seqpa.errors import SeqpaError

SEEDS = st.integers(0, 2**32 - 1)
KIND_OF = {
    "regression": "regression",
    "uniclass": "uniclass",
    "uniclass-radius": "uniclass",
    "prediction-based": "cost-sensitive",
    "max-loss": "cost-sensitive",
}


def applying(found: list[Bound]) -> dict[str, Bound]:
    return {b.name: b for b in found if b.applies}


def comparators(case: Case, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Zero, random of several sizes, and the weights that ten passes end with."""
    trained = learner_of(case, "PA-II", average=True)
    for _ in passes(trained, examples_of(case), case.target, max_iter=10):
        pass
    size = case.n_labels * (case.X.shape[1] + case.bias)
    return {
        "zero": np.zeros(size),
        "random": rng.normal(size=size) * rng.choice([0.1, 1.0, 10.0]),
        "last": trained.weights.reshape(-1)[:size],
        "mean": trained.mean_weights.reshape(-1)[:size],
    }


def adversarial(case: Case, rng: np.random.Generator, step: str, C: float) -> Case:
    """Targets chosen against the learner: each is wrong for the weights that meet it."""
    twin = case.replace(target=case.target.copy())
    w = case.start
    for i in range(len(case.X)):
        if case.kind == "binary":
            twin.target[i] = -1.0 if w @ case.rows[i] > 0 else 1.0
        elif case.kind == "regression":
            twin.target[i] = -np.sign(w @ case.rows[i]) * rng.uniform(0, 5)
        else:
            twin.target[i] = np.argmin(w.reshape(case.n_labels, -1) @ case.rows[i])
        w = reference.run(twin_constraint(twin), [i], w, step, np.full(len(case.X), C)).weights
    return twin


@settings(max_examples=150)
@given(
    seed=SEEDS,
    kind=st.sampled_from(KINDS),
    step=st.sampled_from(["PA", "PA-I", "PA-II", "perceptron"]),
    start=st.sampled_from(["zero", "random"]),
    against=st.booleans(),
)
def test_bounds_hold(seed: int, kind: str, step: str, start: str, against: bool) -> None:
    rng = np.random.default_rng(seed)
    bias = bool(rng.random() < 0.5) and not kind.startswith("uniclass")
    case = draw(
        kind,
        rng,
        n=int(rng.integers(1, 40)),
        d=int(rng.integers(1, 6)),
        n_labels=int(rng.integers(2, 6)),
        bias=bias,
        start=start,
        margin=float(rng.choice([0.3, 1.0, 4.0])),
    )
    C = float(rng.choice([0.01, 0.3, 1.0, 20.0]))
    if against and kind not in ("multilabel", "uniclass", "uniclass-radius"):
        case = adversarial(case, rng, step, C)
    every_C: float | np.ndarray = C
    if rng.random() < 0.5:  # class weights
        every_C = C * rng.uniform(0.2, 3.0, size=len(case.X))
    tol = float(rng.choice([0.0, 0.0, 0.2]))
    examples = examples_of(case, sparse=bool(rng.random() < 0.5))
    learner = learner_of(case, step)
    first = learner.weights.copy()
    runs = [
        learner.run(examples, case.target, C=every_C, tol=tol, record=True)
        for _ in range(int(rng.integers(1, 4)))
    ]
    radius = float(rng.uniform(0, case.epsilon)) if kind == "uniclass-radius" else None
    for name, u in comparators(case, rng).items():
        found = bounds(
            runs, learner, examples, case.target, u, C=every_C, tol=tol, start=first, radius=radius
        )
        assert len(found) == len(THEOREMS)
        violated = [b for b in found if b.violated]
        assert not violated, f"u = {name}\n{certificate(found)}"
        if step != "perceptron":
            assert applying(found)


@settings(max_examples=60)
@given(seed=SEEDS, step=st.sampled_from(["PA", "PA-I", "PA-II", "perceptron"]))
def test_separable_sequences(seed: int, step: str) -> None:
    """Data that a known u separates: the realizable theorems apply, and hold."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(["binary", "multiclass", "multilabel", "regression", "max-loss"]))
    case = draw(kind, rng, n=30, d=4, n_labels=4, density=1.0)
    u = rng.normal(size=case.start.shape)
    scores = case.X @ u.reshape(case.n_labels, -1).T
    if kind == "binary":
        case = case.replace(target=np.where(scores[:, 0] > 0, 1.0, -1.0))
    elif kind == "multilabel":
        case = case.replace(target=(scores > np.median(scores, axis=1)[:, None]).astype(np.uint8))
    elif kind == "regression":
        noise = rng.uniform(-1, 1, size=30) * case.epsilon * 0.9
        case = case.replace(target=scores[:, 0] + noise)
    else:
        case = case.replace(target=scores.argmax(axis=1))
    learner, examples = learner_of(case, step), examples_of(case)
    run = learner.run(examples, case.target, C=0.5, record=True)
    if kind != "regression":  # make u long enough for every margin (√4 with a cost), and some more
        if kind == "binary":
            gap = np.abs(scores).min()
        elif kind == "multilabel":
            low = np.where(case.target, scores, np.inf).min(axis=1)
            gap = (low - np.where(case.target, -np.inf, scores).max(axis=1)).min()
        else:
            gap = np.diff(np.sort(scores, axis=1)[:, -2:]).min()
        assume(gap > 1e-3)
        u = u * 2.5 / gap
    found = bounds(run, learner, examples, case.target, u, C=0.5)
    assert not any(b.violated for b in found), certificate(found)
    names = applying(found)
    assert ("PA 2003, Lemma 2" in names) == (step != "perceptron")
    if step == "PA":
        assert {"PA 2006, Theorem 2", "PA 2003, Theorem 1"} <= set(names)
        assert ("PA 2006, Corollary 8" in names) == (case.n_labels > 1)
    if step == "perceptron" and kind in ("binary", "multiclass", "multilabel"):
        assert names["Perceptron notes, Novikoff"].right <= names[
            "PA 2006, §4, Freund and Schapire"
        ].right * (1 + 1e-9)


def test_which_theorem_applies_where() -> None:
    rng = np.random.default_rng(2)
    expected = {
        ("binary", "PA"): {"PA 2006, Lemma 1", "PA 2006, Eq. 46"},
        ("binary", "PA-I"): {
            "PA 2006, Lemma 1",
            "PA 2006, Theorem 4",
            "PA 2006, Eq. 17",
            "PA 2006, Eq. 46",
        },
        ("binary", "PA-II"): {"PA 2006, Lemma 1", "PA 2006, Theorem 5", "PA 2006, Eq. 46"},
        ("binary", "perceptron"): {
            "PA 2006, Lemma 1",
            "PA 2006, Eq. 46",
            "PA 2006, §4, Freund and Schapire",
            "PA 2006, §4, Gentile",
        },
        ("regression", "PA-I"): {"PA 2006, Lemma 6", "PA 2006, Theorem 4", "PA 2006, Eq. 17"},
        ("uniclass", "PA"): {"PA 2006, Lemma 7", "PA 2006, Theorem 3"},
        ("uniclass-radius", "PA"): {"PA 2006, Lemma 7", "PA 2006, Theorem 3"},
        ("multilabel", "PA-II"): {"PA 2006, Lemma 1", "PA 2006, Theorem 5", "PA 2006, Eq. 46"},
        ("max-loss", "PA-I"): {
            "PA 2006, Lemma 9",
            "PA 2006, Theorem 10, any norm and C",
            "PA 2006, Eq. 17",
            "PA 2006, Eq. 46",
        },
    }
    for (kind, step), names in expected.items():
        case = draw(kind, rng, n=40, d=3, n_labels=3)
        learner, examples = learner_of(case, step), examples_of(case)
        run = learner.run(examples, case.target, C=0.1, record=True)
        u = np.full(case.n_labels * 3, 0.01)
        found = bounds(run, learner, examples, case.target, u, C=0.1, radius=0.1)
        assert set(applying(found)) == names, (kind, step)


def test_least_squares_steps_back_where_no_theorem_is() -> None:
    case = draw("binary", np.random.default_rng(3), n=60, d=3, density=1.0)
    learner, examples = learner_of(case, "PA-LS"), examples_of(case)
    run = learner.run(examples, case.target, record=True)
    assert (run.taus < 0).any()
    found = bounds(run, learner, examples, case.target, [1.0, 2.0, 3.0])
    assert set(applying(found)) == {"PA 2006, Eq. 46"}
    assert "PA-LS stepped in a round without loss" in certificate(found)


def test_theorem_3_on_normalised_examples() -> None:
    rng = np.random.default_rng(4)
    for kind in ("binary", "regression", "multiclass"):
        case = draw(kind, rng, n=50, d=4, n_labels=3, density=1.0)
        X = case.X / np.linalg.norm(case.X, axis=1, keepdims=True)
        case = case.replace(X=X, rows=X)
        learner, examples = learner_of(case, "PA"), examples_of(case)
        run = learner.run(examples, case.target, record=True)
        for u in comparators(case, rng).values():
            bound = applying(bounds(run, learner, examples, case.target, u))["PA 2006, Theorem 3"]
            assert bound.holds


def test_theorem_10_as_printed() -> None:
    """Norms of at most 1 and √ρ <= C: it applies, and is never weaker than the scaled form."""
    rng = np.random.default_rng(6)
    for kind in ("prediction-based", "max-loss"):
        case = draw(kind, rng, n=60, d=4, n_labels=4, density=1.0)
        X = 0.5 * case.X / np.linalg.norm(case.X, axis=1, keepdims=True)
        case = case.replace(X=X, rows=X)
        learner, examples = learner_of(case, "PA-I"), examples_of(case)
        run = learner.run(examples, case.target, C=2.5, record=True)
        for u in comparators(case, rng).values():
            found = applying(bounds(run, learner, examples, case.target, u, C=2.5))
            printed, scaled = (
                found["PA 2006, Theorem 10"],
                found["PA 2006, Theorem 10, any norm and C"],
            )
            assert printed.holds
            assert scaled.holds
            assert scaled.right <= printed.right * (1 + 1e-12)


def test_batch_conversion_bound() -> None:
    rng = np.random.default_rng(9)
    case = draw("binary", rng, n=10, d=20, density=1.0)
    learner, examples = learner_of(case, "PA"), examples_of(case)
    runs = list(passes(learner, examples, case.target, max_iter=500, tol=1e-2, record=True))
    assert len(runs) > 1
    u = np.linalg.pinv(case.X) @ case.target * 1.01
    found = applying(bounds(runs, learner, examples, case.target, u, tol=1e-2))
    bound = found["PA 2003, §4, batch conversion"]
    assert bound.holds
    assert bound.left == pytest.approx(sum(run.updates for run in runs) * 1e-2)


def test_learned_radius_adds_at_most_its_square() -> None:
    """PA 2006, §6: ‖u‖² becomes ‖u‖² + ε² at most, and a ball that holds all points has no loss."""
    rng = np.random.default_rng(10)
    case = draw("uniclass-radius", rng, n=50, d=3)
    u = case.X.mean(axis=0)
    radius = float(np.linalg.norm(case.X - u, axis=1).max()) * 1.001
    case = case.replace(epsilon=2 * radius, start=np.append(np.zeros(3), 2 * radius))
    learner, examples = learner_of(case, "PA"), examples_of(case)
    run = learner.run(examples, record=True)
    found = applying(bounds(run, learner, examples, None, u, radius=radius))
    assert found["PA 2006, Lemma 7"].right <= u @ u + radius**2
    assert found["PA 2006, Theorem 2"].holds
    assert 0 < learner.radius <= 2 * radius


# Broken steps. Each is run honestly, losses and all, but moves w by another rule.


def broken_run(constraint, n: int, w: np.ndarray, step: str, C: float, broken) -> reference.Trace:
    trace = reference.Trace(weights=w)
    for i in range(n):
        margin, score, direction, cost = constraint(i, trace.weights)
        if direction is None:
            direction = np.zeros_like(w)
            margin = score
        norm2 = float(direction @ direction)
        tau = broken(reference.step_size(step, margin - score, score, norm2, C), norm2)
        with np.errstate(over="ignore"):
            trace.weights = trace.weights + tau * direction
        trace.losses.append(max(0.0, margin - score))
        trace.taus.append(tau)
        trace.norms2.append(norm2)
        trace.costs.append(cost)
    return trace


BROKEN = {
    "right": lambda tau, norm2: tau,
    "too far": lambda tau, norm2: 3.0 * tau,
    "wrong sign": lambda tau, norm2: -tau,
    "missing norm": lambda tau, norm2: tau * norm2,
    "norm, not its square": lambda tau, norm2: tau * np.sqrt(norm2),
    "never": lambda tau, norm2: 0.0,
}


def verdict(case: Case, u: np.ndarray, step: str, C: float, how: str, claim: bool) -> list[str]:
    """The bounds that a broken run violates; `claim`: it reports the τ that it should have used."""
    n = len(case.X)
    trace = broken_run(twin_constraint(case), n, case.start, step, C, BROKEN[how])
    taus = trace.taus
    if claim:
        taus = [
            reference.step_size(step, loss, 0.0, norm2, C) if loss > 0 else 0.0
            for loss, norm2 in zip(trace.losses, trace.norms2, strict=True)
        ]
    learner, examples = learner_of(case, step), examples_of(case)
    scores = examples.scores(u.reshape(case.n_labels, -1))
    rounds = Rounds(
        kind=KIND_OF.get(case.kind, "classification"),
        step=step,
        losses=trace.losses,
        taus=taus,
        norms2=trace.norms2,
        costs=trace.costs,
        comparator_losses=learner.problem.losses(scores, case.target),
        distance2=float(u @ u),
        C=C,
    )
    return [b.name for b in check(rounds) if b.violated]


def separable(kind: str, scale: float, rng: np.random.Generator) -> tuple[Case, np.ndarray]:
    """Examples y·x near (±1, ½) that u = (0, 2) separates; a step too far undoes the last one."""
    n = 80
    wanted = np.column_stack([rng.choice([-1.0, 1.0], size=n), rng.uniform(0.4, 0.6, size=n)])
    y = rng.choice([-1.0, 1.0], size=n)
    X = scale * wanted * y[:, None]
    u = np.array([0.0, 2.5 / scale])
    case = draw(kind, rng, n=n, d=2, n_labels=2)
    if kind == "binary":
        return case.replace(X=X, rows=X, target=y), u
    label = (y < 0).astype(int)
    return case.replace(X=X, rows=X, target=label, cost=1.0 - np.eye(2)), np.append(u, -u) / 2


CATCHES = [
    (how, scale, kind, step)
    for how, scale in [
        ("too far", 1.0),
        ("wrong sign", 1.0),
        ("missing norm", 3.0),
        ("missing norm", 0.1),
        ("norm, not its square", 8.0),
        ("never", 1.0),
    ]
    for kind in ("binary", "multiclass", "prediction-based", "max-loss")
    for step in ("PA", "PA-I", "PA-II")
    # Steps that are too short still predict well: only bounds on the squared margin loss see them.
    if scale >= 1.0 or (step != "PA-I" and kind != "prediction-based")
]


@pytest.mark.parametrize("claim", [False, True])
@pytest.mark.parametrize(("how", "scale", "kind", "step"), CATCHES)
def test_broken_steps_are_caught(how: str, scale: float, kind: str, step: str, claim: bool) -> None:
    rng = np.random.default_rng(11)
    case, u = separable(kind, scale, rng)
    C = 100.0 / scale**2
    assert verdict(case, u, step, C, "right", claim) == []
    assert verdict(case, u, step, C, how, claim) != []


def test_certificate_reads_well(capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        Bound("PA 2006, Theorem 5", np.nan, np.nan, False, False, "it is about PA-II"),
        Bound("PA 2006, Theorem 2", 9.0, 4.0, False, True, "Σℓ² <= R²‖u − w₁‖²"),
    ]
    print_certificate(found)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:7] == ["PA", "2006,", "Theorem", "2", "9", "4", "VIOLATED"]
    assert "does not apply: it is about PA-II" in lines[2]
    assert [b.violated for b in found] == [False, True]


def test_wrong_arguments_say_what_is_wrong() -> None:
    case = draw("binary", np.random.default_rng(0), n=5, d=2)
    learner, examples = learner_of(case, "PA"), examples_of(case)
    unrecorded = learner.run(examples, case.target)
    with pytest.raises(SeqpaError, match="record=True"):
        bounds(unrecorded, learner, examples, case.target, [0.0, 0.0])
    recorded = learner.run(examples, case.target, record=True)
    with pytest.raises(SeqpaError, match="u has 3 weights, the learner 2"):
        bounds(recorded, learner, examples, case.target, [0.0, 0.0, 1.0])
    good = {"losses": [1.0], "taus": [1.0], "norms2": [1.0], "costs": [1.0]}
    rest = {"step": "PA", "comparator_losses": [0.0], "distance2": 1.0}
    with pytest.raises(SeqpaError, match="kind"):
        Rounds(kind="binary", **good, **rest)  # type: ignore[arg-type]
    with pytest.raises(SeqpaError, match="taus has the shape"):
        Rounds(kind="classification", **{**good, "taus": [1.0, 2.0]}, **rest)
    ball = draw("uniclass-radius", np.random.default_rng(0), n=5, d=2)
    learner, examples = learner_of(ball, "PA"), examples_of(ball)
    run = learner.run(examples, record=True)
    with pytest.raises(SeqpaError, match="radius"):
        bounds(run, learner, examples, None, [0.0, 0.0])


def test_every_bound_names_a_paper_that_is_listed() -> None:
    page = (Path(__file__).parents[1] / "docs" / "references.md").read_text(encoding="utf-8")
    papers = re.findall(r"^## (.+)$", page, re.MULTILINE)
    nothing: list[float] = []
    rounds = Rounds(
        kind="classification",
        step="PA",
        losses=nothing,
        taus=nothing,
        norms2=nothing,
        costs=nothing,
        comparator_losses=nothing,
        distance2=0.0,
    )
    for found in check(rounds):
        assert found.name.split(",")[0] in papers


@pytest.mark.parametrize("step", ["PA-I", "PA-II", "PA-LS"])
@pytest.mark.parametrize("overlapping", [False, True])
def test_no_theorem_is_claimed_for_mini_batches(step: str, overlapping: bool) -> None:
    """One step for several examples: no proof here is about it, and some bounds do not hold."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 4)), rng.choice([-1.0, 1.0], 60)
    examples = Examples.from_array(X)
    learner = BatchLearner(Binary(), step, 4, batch_size=6, overlapping=overlapping)
    run = learner.run(examples, y, C=0.5, record=True)
    found = bounds(run, learner, examples, y, rng.normal(size=4), C=0.5)
    # What is true of every round, whatever the step, may still be told.
    assert set(applying(found)) == {"PA 2006, Eq. 46"}
    assert any(f"mini-batches of {step}" in bound.why for bound in found)
    alone = BatchLearner(Binary(), "PA-I", 4, batch_size=1)
    run = alone.run(examples, y, C=0.5, record=True)
    found = bounds(run, alone, examples, y, rng.normal(size=4), C=0.5)
    assert "PA 2006, Theorem 4" in applying(found)


@given(seed=st.integers(0, 2**32 - 1), margin=st.floats(0.1, 5.0))
def test_gentile_s_bound(seed: int, margin: float) -> None:
    """It holds beside any u, and with all losses 0 it is Novikoff's."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)) * rng.uniform(0.1, 3.0, (40, 1))
    u = rng.normal(size=3)
    y = np.where(rng.random(40) < 0.8, np.sign(X @ u), rng.choice([-1.0, 1.0], 40))
    examples = Examples.from_array(X)
    learner = Learner(Binary(margin), "perceptron", 3)
    run = learner.run(examples, y, record=True)
    for comparator in (u, 5.0 * u, np.zeros(3)):
        found = applying(bounds(run, learner, examples, y, comparator))
        assert found["PA 2006, §4, Gentile"].holds
    far = u * (1.0 + margin) / np.abs(X @ u).min()
    clean = Learner(Binary(margin), "perceptron", 3)
    run = clean.run(examples, np.sign(X @ u), record=True)
    found = applying(bounds(run, clean, examples, np.sign(X @ u), far))
    reach = float(examples.norms2.max() * (far @ far)) / margin**2
    assert found["PA 2006, §4, Gentile"].right == pytest.approx(reach)
