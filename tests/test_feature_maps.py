"""Label-dependent features: the formula word by word, and single-prototype learning by hand."""

from __future__ import annotations

import math
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from seqpa import LabelTfidf, PAClassifier, PAMultilabelClassifier
from seqpa.core.examples import Examples
from seqpa.core.feature_maps import FunctionMap, as_feature_map
from seqpa.core.learner import Learner
from seqpa.core.problems import CostSensitive, Multiclass, Multilabel
from seqpa.errors import SeqpaError

ROOT = Path(__file__).parent.parent


def formula(X: np.ndarray, labelled: np.ndarray, word: int, label: int) -> float:
    """log(|S| / DF(μ_j, y)) as §7 writes it, document by document."""
    df = sum(X[i, word] for i in range(len(X)) if not labelled[i, label])
    return math.log(len(X) / max(df, 0.5))


counts = st.integers(1, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=n, max_size=n
    ).map(np.array)
)


@given(counts, st.integers(0, 2**32 - 1))
def test_label_tfidf_is_the_formula(X: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    single = rng.integers(0, 3, len(X))
    several = rng.integers(0, 2, (len(X), 3))
    for targets, labelled in ((single, np.eye(3)[single]), (several, several)):
        for given_X in (X, sparse.csr_matrix(X)):
            maps = LabelTfidf().fit(given_X, targets, 3).transform(given_X)
            for k, phi in enumerate(maps):
                expected = [
                    [X[i, j] * formula(X, labelled, j, k) for j in range(4)] for i in range(len(X))
                ]
                np.testing.assert_allclose(phi.toarray(), expected, atol=1e-12)


def test_transform_uses_the_documents_of_fit_only() -> None:
    tfidf = LabelTfidf().fit([[2, 0, 1], [0, 1, 0]], [0, 1], 2)
    one = tfidf.transform([[1, 1, 1]])
    two = tfidf.transform([[1, 1, 1], [9, 9, 9]])
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.toarray()[0], b.toarray()[0])


def test_counts_are_not_negative() -> None:
    with pytest.raises(SeqpaError, match="not negative"):
        LabelTfidf().fit([[-1.0]], [0], 2)


def by_hand(phi: np.ndarray, problem, target, K: int) -> np.ndarray:
    """Single-prototype PA (Eq. 36-38, 43-48) on phi[i, k] = Φ(x_i, k), one line at a time."""
    w = np.zeros(phi.shape[2])
    for i in range(len(phi)):
        s = phi[i] @ w
        margin = 1.0
        if isinstance(problem, Multilabel):
            relevant = np.flatnonzero(target[i])
            others = np.flatnonzero(target[i] == 0)
            if len(relevant) == 0 or len(others) == 0:
                continue
            up, down = relevant[s[relevant].argmin()], others[s[others].argmax()]
        elif isinstance(problem, Multiclass):
            up = target[i]
            others = np.array([k for k in range(K) if k != up])
            down = others[s[others].argmax()]
        else:
            up = target[i]
            root = problem.root_cost[up]
            down = (s if problem.update == "prediction-based" else s + root).argmax()
            margin = root[down]
        delta = phi[i, up] - phi[i, down]
        loss = max(0.0, margin - w @ delta)
        if delta @ delta > 1e-12 and loss > 0:
            w = w + loss / (delta @ delta) * delta
    return w


RHO = np.array([[0, 1, 4.0], [2, 0, 1], [0.25, 3, 0]])


@pytest.mark.pure
@pytest.mark.parametrize(
    "problem",
    [
        Multiclass(),
        Multilabel(),
        CostSensitive(RHO),
        CostSensitive(RHO, "max-loss"),
    ],
    ids=["multiclass", "multilabel", "prediction-based", "max-loss"],
)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_single_prototype_learning_is_the_paper_s(problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(12, 3, 5)) * (rng.random((12, 3, 5)) < 0.6)
    phi[3, 1] = phi[3, 0]  # no direction between two labels
    if isinstance(problem, Multilabel):
        target = rng.integers(0, 2, (12, 3)).astype(np.uint8)
    else:
        target = rng.integers(0, 3, 12)
    examples = Examples.from_maps([phi[:, k] for k in range(3)])
    learner = Learner(problem, "PA", 5, 3, joint=True)
    learner.run(examples, target)
    expected = by_hand(phi, problem, target, 3)
    np.testing.assert_allclose(learner.weights[0], expected, atol=1e-9)
    np.testing.assert_allclose(examples.scores(learner.weights), phi @ expected, atol=1e-8)


def blocks(X, k):
    """The multi-prototype reduction of §7: x in the k-th of three blocks, zero elsewhere."""
    X = sparse.csr_matrix(X)
    n, d = X.shape
    before, after = sparse.csr_matrix((n, k * d)), sparse.csr_matrix((n, (2 - k) * d))
    return sparse.hstack([before, X, after], format="csr")


@pytest.mark.parametrize("cost", [None, RHO])
@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
def test_blocks_of_features_are_multi_prototype_learning(cost, variant: str) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(80, 6)), rng.integers(0, 3, 80)
    options = {"cost": cost, "variant": variant, "C": 0.1, "random_state": 2, "average": True}
    single = PAClassifier(features=blocks, **options).fit(X, y)
    multi = PAClassifier(**options).fit(X, y)
    np.testing.assert_allclose(single.coef_.reshape(3, 6), multi.coef_, atol=1e-12)
    np.testing.assert_array_equal(single.predict(X), multi.predict(X))
    np.testing.assert_allclose(single.decision_function(X), multi.decision_function(X))


def test_multilabel_takes_feature_maps_too() -> None:
    rng = np.random.default_rng(8)
    X, Y = rng.poisson(1.0, (60, 12)), (rng.random((60, 3)) < 0.4).astype(int)
    plain = PAMultilabelClassifier(random_state=1, C=0.1).fit(X, Y)
    in_blocks = PAMultilabelClassifier(random_state=1, C=0.1, features=blocks).fit(X, Y)
    np.testing.assert_allclose(in_blocks.decision_function(X), plain.decision_function(X))
    tfidf = PAMultilabelClassifier(random_state=1, features=LabelTfidf()).fit(X, Y)
    assert tfidf.rank(X).shape == (60, 3)


def test_the_map_given_is_left_as_it_was() -> None:
    tfidf = LabelTfidf()
    model = PAClassifier(features=tfidf, random_state=0)
    model.fit([[1, 0, 2], [0, 3, 1], [2, 0, 0], [0, 1, 1]], ["a", "b", "a", "b"])
    assert not hasattr(tfidf, "weights_")
    assert model.features_.weights_.shape == (2, 3)
    assert model.predict(sparse.csr_matrix([[1, 0, 0], [0, 1, 0]])).tolist() == ["a", "b"]


class Rolled:
    """A map that learns nothing after its first examples."""

    def fit(self, X, targets, n_labels: int):
        self.n_labels, self.size = n_labels, len(X)
        return self

    def transform(self, X) -> list[np.ndarray]:
        return [np.roll(X, k, axis=1) for k in range(self.n_labels)]


def test_maps_that_can_go_on_counting_do() -> None:
    """Word counts of all calls; other maps stay as the first examples made them."""
    rng = np.random.default_rng(1)
    X, y = rng.poisson(1.0, (40, 6)), rng.integers(0, 3, 40)
    model = PAClassifier(features=LabelTfidf())
    for i in range(40):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1, 2])
    whole = LabelTfidf().fit(X, y, n_labels=3)
    np.testing.assert_allclose(model.features_.weights_, whole.weights_)
    few = [phi[2:5].toarray() for phi in whole.transform(sparse.csr_matrix(X))]
    for phi, want in zip(whole.transform(X[2:5]), few, strict=True):
        np.testing.assert_allclose(phi.toarray(), want)
    model = PAClassifier(features=Rolled()).partial_fit(X[:9], y[:9], classes=[0, 1, 2])
    assert model.partial_fit(X, y).features_.size == 9


def test_word_counts_one_by_one_are_as_good_as_at_once() -> None:
    """Fitted to the first example alone, they were little better than guessing."""
    rng = np.random.default_rng(0)
    topics, y = rng.dirichlet(np.full(200, 0.05), 4), rng.integers(0, 4, 600)
    X = np.array([rng.multinomial(30, 0.6 * topics[k] + 0.4 / 200) for k in y])
    one_by_one = PAClassifier(features=LabelTfidf())
    for i in range(400):
        one_by_one.partial_fit(X[i : i + 1], y[i : i + 1], classes=range(4))
    at_once = PAClassifier(features=LabelTfidf()).partial_fit(X[:400], y[:400], classes=range(4))
    assert one_by_one.score(X[400:], y[400:]) >= at_once.score(X[400:], y[400:]) - 0.02
    assert at_once.score(X[400:], y[400:]) > 0.95


def test_word_counts_have_scikit_learn_s_tags() -> None:
    tags = get_tags(LabelTfidf())
    assert tags.input_tags.sparse
    assert tags.input_tags.positive_only
    assert tags.target_tags.required
    assert isinstance(clone(LabelTfidf()), LabelTfidf)
    with pytest.raises(SeqpaError, match="not negative"):
        LabelTfidf().fit([[-1.0]], [0], n_labels=2)


def test_functions_must_give_one_shape() -> None:
    X, y = np.ones((4, 2)), [0, 1, 0, 1]
    with pytest.raises(SeqpaError, match="same d for every label"):
        PAClassifier(features=lambda X, k: np.ones((len(X), 1 + k))).fit(X, y)
    with pytest.raises(SeqpaError, match=r"it must give \(4, d\)"):
        PAClassifier(features=lambda X, k: np.ones(len(X))).fit(X, y)


def test_the_text_categorisation_example(capsys: pytest.CaptureFixture) -> None:
    runpy.run_path(str(ROOT / "examples" / "text_categorisation.py"), run_name="__main__")
    printed = re.findall(r"accuracy ([0-9.]+)", capsys.readouterr().out)
    assert len(printed) == 2
    assert min(map(float, printed)) > 0.75


def test_what_is_no_feature_map() -> None:
    with pytest.raises(SeqpaError, match="features is a feature map"):
        PAClassifier(features="tfidf").fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(SeqpaError, match="leave it off"):
        PAClassifier(features=LabelTfidf(), fit_intercept=True).fit([[1.0], [2.0]], [0, 1])
    assert isinstance(as_feature_map(blocks), FunctionMap)
