"""Random draws of every problem, each as seqpa takes it and as the naive twin takes it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import reference
import sklearn
from scipy import sparse as sp

from seqpa.core.examples import Examples
from seqpa.core.learner import Learner
from seqpa.core.problems import (
    Binary,
    CostSensitive,
    Multiclass,
    Multilabel,
    Regression,
    Uniclass,
)

# From scikit-learn 1.8 on, eta0 is the C of SGDClassifier's pa1 and pa2.
SGD_HAS_PA = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)

KINDS = (
    "binary",
    "regression",
    "uniclass",
    "uniclass-radius",
    "multiclass",
    "multilabel",
    "prediction-based",
    "max-loss",
)


@dataclass(frozen=True)
class Case:
    """A data set of one kind of problem.

    X       the examples as the user has them
    rows    the same with what a bias or a learned radius appends: the twin's instances
    start   the weights to start from, one long vector
    """

    kind: str
    X: np.ndarray
    rows: np.ndarray
    target: np.ndarray | None
    start: np.ndarray
    n_labels: int
    bias: bool
    margin: float = 1.0
    epsilon: float = 0.0
    cost: np.ndarray | None = None

    def replace(self, **changes: Any) -> Case:
        return dataclasses.replace(self, **changes)


def draw(
    kind: str,
    rng: np.random.Generator,
    *,
    n: int,
    d: int,
    n_labels: int = 1,
    bias: bool = False,
    start: str = "zero",
    margin: float = 1.0,
    density: float = 0.6,
) -> Case:
    """Noisy data with many exact zeros, so that sparse rows are sparse."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density) * rng.choice([0.5, 1.0, 3.0])
    rows = reference.with_bias(X) if bias else X
    epsilon = 0.0
    cost = None
    target: np.ndarray | None
    K = 1
    if kind == "binary":
        target = np.where(X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    elif kind == "regression":
        target = X @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
        epsilon = float(rng.choice([0.0, 0.1, 0.5]))
    elif kind.startswith("uniclass"):
        X = X.copy()
        X[:, 0] = rng.normal(size=n)  # no point twice
        target = None
        epsilon = float(rng.choice([0.3, 1.0]))
        rows = X
        if kind == "uniclass-radius":
            epsilon = float(rng.choice([1.0, 4.0]))
            rows = np.hstack([X, np.zeros((n, 1))])
    elif kind == "multilabel":
        K = n_labels
        target = (X @ rng.normal(size=(d, K)) + rng.normal(size=(n, K)) > 0).astype(np.uint8)
        target[:2] = [[0] * K, [1] * K][: min(n, 2)] if start == "zero" else target[:2]
        if start == "random":  # every example asks for something
            target[:, 0] = 1
            target[:, 1] = 0
    else:
        K = n_labels
        target = np.argmax(X @ rng.normal(size=(d, K)) + rng.normal(size=(n, K)), axis=1)
        if kind in ("prediction-based", "max-loss"):
            cost = rng.integers(0, 5, size=(K, K)).astype(float)
            np.fill_diagonal(cost, 0.0)
    width = K * rows.shape[1]
    w = rng.normal(size=width) if start == "random" else np.zeros(width)
    if kind == "uniclass-radius":
        w[-1] = epsilon if start == "zero" else 0.95 * epsilon
    return Case(kind, X, rows, target, w, K, bias, margin, epsilon, cost)


def twin_constraint(case: Case):
    """The naive twin's view of a case."""
    if case.kind == "binary":
        return reference.binary(case.rows, case.target, case.margin)
    if case.kind == "regression":
        return reference.regression(case.rows, case.target, case.epsilon)
    if case.kind.startswith("uniclass"):
        return reference.uniclass(case.rows, case.epsilon)
    features = reference.blocks(case.rows, case.n_labels)
    if case.kind == "multilabel":
        return reference.multilabel(features, case.target, case.margin)
    if case.kind == "multiclass":
        return reference.multiclass(features, case.target, case.n_labels, case.margin)
    return reference.cost_sensitive(features, case.target, case.cost, case.kind)


def problem_of(case: Case):
    """seqpa's view of a case."""
    if case.kind == "binary":
        return Binary(case.margin)
    if case.kind == "regression":
        return Regression(case.epsilon)
    if case.kind == "uniclass":
        return Uniclass(case.epsilon)
    if case.kind == "uniclass-radius":
        return Uniclass(epsilon=0.0, max_radius=case.epsilon)
    if case.kind == "multiclass":
        return Multiclass(case.margin)
    if case.kind == "multilabel":
        return Multilabel(case.margin)
    return CostSensitive(case.cost, case.kind)


def examples_of(case: Case, sparse: bool = False) -> Examples:
    return Examples.from_array(sp.csr_matrix(case.X) if sparse else case.X, case.bias)


def learner_of(case: Case, step: str, average: bool = False) -> Learner:
    """A learner that stands at the case's start."""
    learner = Learner(
        problem_of(case), step, case.X.shape[1], case.n_labels, case.bias, average=average
    )
    learner.weights.reshape(-1)[: len(case.start)] = case.start
    return learner


def flat(weights: np.ndarray, case: Case) -> np.ndarray:
    """A learner's weights as the twin's long vector (a fixed radius has an unused last entry)."""
    return weights.reshape(-1)[: len(case.start)]


def one_update(case: Case, i: int, step: str, C: float) -> np.ndarray:
    """The weights after example i alone."""
    learner = learner_of(case, step)
    learner.run(examples_of(case), case.target, C=C, order=[i])
    return flat(learner.weights, case)


# As scikit-learn says of its own SGDClassifier: with C scaled, the weight 2 is not two examples.
WEIGHTED = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "sample_weight is not equivalent to removing or repeating examples",
)
WEIGHT_CHECKS = (
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_all_zero_sample_weights_error",
    "check_classifiers_one_label_sample_weights",
)
