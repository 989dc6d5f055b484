"""sklearn-crfsuite's names here, side by side with the real package; its tutorial; eli5."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sequence_cases import TAGS, WORDS, features
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import RandomizedSearchCV, cross_val_score

from seqpa import SeqpaError, SequenceTagger
from seqpa.pycrfsuite import Trainer
from seqpa.sklearn_crfsuite import CRF, metrics, scorers
from seqpa.sklearn_crfsuite.utils import flatten

X = [features(sentence) for sentence in WORDS]
ATTRIBUTES = [
    "tagger_",
    "size_",
    "classes_",
    "num_attributes_",
    "attributes_",
    "state_features_",
    "transition_features_",
    "training_log_",
]
ALGORITHMS = ["lbfgs", "l2sgd", "ap", "pa", "arow"]
pytestmark = pytest.mark.filterwarnings("ignore::seqpa.errors.SeqpaWarning")


@pytest.fixture(name="theirs")
def _theirs() -> Any:
    return pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite is not installed")


def test_the_tutorial_runs_as_it_is() -> None:
    crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True)
    crf.fit(X, TAGS)
    labels = list(crf.classes_ or [])
    found = crf.predict(X)
    assert metrics.flat_f1_score(TAGS, found, average="weighted", labels=labels) == 1.0
    scorer = make_scorer(metrics.flat_f1_score, average="weighted", labels=labels)
    search = RandomizedSearchCV(
        crf, {"c1": [0.1, 0.5], "c2": [0.01, 0.05]}, cv=2, n_iter=2, scoring=scorer
    )
    search.fit(X * 2, TAGS * 2)
    best = search.best_estimator_
    assert best.predict(X).tolist() == TAGS
    assert float(f"{best.size_ / 1000000:0.4f}") > 0
    (before, after), weight = Counter(crf.transition_features_).most_common(1)[0]
    assert {before, after} <= set(labels)
    (attribute, label), weight = Counter(crf.state_features_).most_common()[-1]
    assert attribute in (crf.attributes_ or [])
    assert crf.num_attributes_ == len(crf.attributes_ or [])
    assert label in labels
    assert weight < 0
    assert crf.score(X, TAGS) == 1.0
    assert crf.predict_single(X[0]) == TAGS[0]
    report = metrics.flat_classification_report(TAGS, found, labels=labels, digits=3)
    assert "macro avg" in report


def test_a_search_says_once_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """scikit-learn changes the filters around each fit, after which Python would say it again."""
    monkeypatch.setattr("seqpa.pycrfsuite.trainer.TOLD", set())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        crf = CRF(max_iterations=3, num_memories=4)
        RandomizedSearchCV(crf, {"c1": [0.1, 0.5]}, cv=2, n_iter=2).fit(X * 2, TAGS * 2)
    messages = [str(warning.message) for warning in told]
    assert sum("likelihood" in message for message in messages) == 1
    assert sum("without effect here: num_memories" in message for message in messages) == 1


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"algorithm": "pa"}, {"algorithm": "pa-i", "C": 1.0}),
        ({"algorithm": "pa", "pa_type": 0}, {"algorithm": "pa"}),
        ({"algorithm": "pa", "pa_type": 2, "c": 0.3}, {"algorithm": "pa-ii", "C": 0.3}),
        (
            {"algorithm": "pa", "error_sensitive": False, "averaging": False},
            {"algorithm": "pa-i", "C": 1.0, "cost": "zero-one", "average": False},
        ),
        ({"algorithm": "ap", "min_freq": 1.5}, {"algorithm": "perceptron", "cutoff": 2}),
        ({"algorithm": "arow", "gamma": 4.0}, {"algorithm": "arow", "C": 0.125}),
        ({"algorithm": "arow", "gamma": 4.0, "variance": 2.0}, {"algorithm": "arow", "C": 0.25}),
    ],
)
def test_online_trainers_mean_the_same(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    crf = CRF(max_iterations=1, random_state=1, **theirs).fit(X, TAGS)
    given = {"update": "prediction-based", "epochs": 1, "random_state": 1}
    tagger = SequenceTagger(**given, **ours).fit(X, TAGS)
    assert crf.state_features_ == tagger.state_features_
    assert crf.transition_features_ == tagger.transition_features_


def test_every_argument_and_every_default_is_theirs(theirs: Any) -> None:
    told = inspect.signature(theirs.CRF).parameters
    mine = inspect.signature(CRF).parameters
    assert list(mine)[: len(told)] == list(told)
    assert all(mine[name].default == told[name].default for name in told)
    assert {name for name in dir(theirs.CRF) if not name.startswith("_")} <= set(dir(CRF))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_shapes_and_types_as_theirs(theirs: Any, algorithm: str) -> None:
    both = [kind(algorithm, max_iterations=20).fit(X, TAGS) for kind in (CRF, theirs.CRF)]
    mine, real = (crf.predict(X) for crf in both)
    assert type(mine) is type(real)
    assert (mine.shape, mine.dtype) == (real.shape, real.dtype)
    assert [type(labels) for labels in mine] == [type(labels) for labels in real]
    assert sorted(both[0].classes_) == sorted(both[1].classes_)
    for name in ("state_features_", "transition_features_", "attributes_", "num_attributes_"):
        assert type(getattr(both[0], name)) is type(getattr(both[1], name))
    assert type(both[0].score(X, TAGS)) is type(both[1].score(X, TAGS))
    assert both[0].tagger_.tag(X[0]) == mine[0]
    mine, real = (crf.predict_marginals(X) for crf in both)
    assert (type(mine), mine.shape, mine.dtype) == (type(real), real.shape, real.dtype)
    assert [[set(token) for token in s] for s in mine] == [[set(t) for t in s] for s in real]
    assert all(abs(sum(token.values()) - 1.0) < 1e-9 for s in mine for token in s)
    assert both[0].predict_marginals_single(X[0]) == mine[0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_before_fit_and_after_pickling(algorithm: str) -> None:
    crf = CRF(algorithm)
    for name in ATTRIBUTES:
        assert getattr(crf, name) is None
    assert crf.modelfile.name is None
    with pytest.raises(SeqpaError, match="not trained"):
        crf.predict(X)
    assert clone(crf).get_params() == crf.get_params()
    crf.fit(X, TAGS)
    again = pickle.loads(pickle.dumps(crf))
    assert again.predict(X).tolist() == crf.predict(X).tolist()
    assert again.training_log_.iterations == crf.training_log_.iterations  # type: ignore[union-attr]


FORMS: list[Any] = [
    lambda items: [{k.encode(): v for k, v in item.items()} for item in items],
    lambda items: [
        {k: v.encode() if isinstance(v, str) else v for k, v in item.items()} for item in items
    ],
    tuple,
    iter,
    lambda items: np.array(items, dtype=object),
]


@pytest.mark.parametrize("form", FORMS)
def test_any_form_of_the_same_features(form: Any) -> None:
    plain = CRF("pa", max_iterations=2).fit(X, TAGS)
    crf = CRF("pa", max_iterations=2)
    crf.fit((form(items) for items in X), (np.array(labels) for labels in TAGS))
    assert crf.state_features_ == plain.state_features_
    assert crf.predict([form(items) for items in X]).tolist() == plain.predict(X).tolist()


@pytest.mark.parametrize("kind", [tuple, set, lambda s: dict.fromkeys(s).keys(), np.array])
def test_any_collection_of_strings(kind: Any) -> None:
    strings = [[[f"w={word}", "bias"] for word in sentence] for sentence in WORDS]
    given = [[kind(item) for item in items] for items in strings]
    crf, plain = (CRF("pa", max_iterations=2).fit(form, TAGS) for form in (given, strings))
    assert crf.state_features_ == plain.state_features_


def test_sets_do_not_depend_on_their_order() -> None:
    code = (
        "from seqpa.sklearn_crfsuite import CRF; X = [[{'a', 'b', 'c', 'dd', 'eee'}, {'c', 'a'}]]; "
        "print(CRF('pa', max_iterations=2).fit(X, [['A', 'B']]).state_features_)"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def test_a_model_has_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "model.crfsuite")
    with pytest.raises(SeqpaError, match="not trained"):
        CRF(model_filename=path).predict(X)
    crf = CRF(algorithm="pa", model_filename=path, random_state=1).fit(X, TAGS)
    assert crf.modelfile.name == path
    assert crf.size_ is not None
    assert abs(crf.size_ - Path(path).stat().st_size) < 100  # parameters are in it too
    again = CRF(model_filename=path)
    assert again.predict(X).tolist() == TAGS
    assert again.state_features_ == crf.state_features_
    assert SequenceTagger.load(path).predict(X) == TAGS


def test_a_dev_set_and_progress(capsys: pytest.CaptureFixture[str]) -> None:
    crf = CRF(algorithm="ap", max_iterations=4, verbose=True, random_state=1)
    crf.fit(X, TAGS, X[:1], TAGS[:1])
    shown = capsys.readouterr().out
    assert shown.count("Iter ") == 4
    assert "Acc(item/seq)=" in shown
    assert "Support" in shown
    assert crf.training_log_ is not None
    assert crf.training_log_.iterations[-1]["item_accuracy_float"] > 0
    for wrong in ({"X_dev": X}, {"y_dev": TAGS}):
        with pytest.raises(ValueError, match="both X_dev and y_dev"):
            crf.fit(X, TAGS, **wrong)


def test_a_trainer_of_ones_own() -> None:
    class Counting(Trainer):
        def on_iteration(self, log: str, info: dict[str, Any]) -> None:
            losses.append(info["loss"])

        def on_start(self, log: str, *more: Any) -> None:
            pass

        on_featgen_progress = on_featgen_end = on_prepared = on_start
        on_optimization_end = on_end = on_start

    losses: list[float] = []
    CRF("pa", max_iterations=3, verbose=True, trainer_cls=Counting).fit(X, TAGS)
    assert len(losses) == 3
    with pytest.raises(SeqpaError, match=r"seqpa\.pycrfsuite\.Trainer"):
        CRF(trainer_cls=dict).fit(X, TAGS)


def test_what_is_wrong_is_said() -> None:
    for wrong, match in (
        ({"algorithm": "newton"}, "Bad arguments"),
        ({"algorithm": "pa", "pa_type": 3}, "choose 0, 1 or 2"),
        ({"algorithm": "ap", "c1": 0.1}, "no parameter 'c1'"),
        ({"algorithm": "pa", "c": "much"}, "give a number"),
    ):
        with pytest.raises(SeqpaError, match=match):
            CRF(**wrong).fit(X, TAGS)  # type: ignore[arg-type]
    with pytest.raises(SeqpaError, match="X has 1 sequences, y has 2"):
        CRF("pa").fit(X[:1], TAGS[:2])
    with pytest.raises(SeqpaError, match="every sequence is empty"):
        CRF("pa").fit([[]], [[]])


LABELS = st.lists(st.lists(st.sampled_from("xyz"), max_size=4), min_size=1, max_size=5)


@settings(max_examples=60)
@given(LABELS, st.randoms(use_true_random=False))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_metrics_are_theirs(y: list[list[str]], rng: Any) -> None:
    real = pytest.importorskip("sklearn_crfsuite.metrics")
    if not any(y):
        return
    z = [[rng.choice("xyz") for _ in labels] for labels in y]
    for name, more in (
        ("flat_accuracy_score", {}),
        ("flat_precision_score", {"average": "micro"}),
        ("flat_recall_score", {"average": "macro", "labels": ["x", "y"], "zero_division": 0}),
        ("flat_f1_score", {"average": "weighted", "zero_division": 0}),
        ("flat_fbeta_score", {"beta": 0.5, "average": "macro", "zero_division": 0}),
        ("flat_classification_report", {"digits": 3, "zero_division": 0}),
    ):
        assert getattr(metrics, name)(y, z, **more) == getattr(real, name)(y, z, **more)
    same = sum(a == b for a, b in zip(y, z, strict=True)) / len(y)
    assert metrics.sequence_accuracy_score(y, z) == same
    assert flatten(y) == [label for labels in y for label in labels]


def test_no_sequence_is_no_error() -> None:
    assert metrics.sequence_accuracy_score([], []) == 0


@pytest.mark.parametrize("scorer", [scorers.flat_accuracy, scorers.sequence_accuracy])
def test_scorers(scorer: Any) -> None:
    crf = CRF("pa", max_iterations=10)
    assert cross_val_score(crf, X * 3, TAGS * 3, cv=3, scoring=scorer).mean() == 1.0


@pytest.mark.parametrize("first", ["eli5", "seqpa.sklearn_crfsuite"])
def test_eli5_explains_what_it_explains_of_theirs(first: str) -> None:
    pytest.importorskip("eli5", reason="eli5 is not installed")
    pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite is not installed")
    code = f"""
import {first}, eli5
from eli5.sklearn_crfsuite import explain_weights_sklearn_crfsuite as theirs
from seqpa.sklearn_crfsuite import CRF
X = [[{{"a": 1.0, "w": "x"}}, {{"b": 0.5, "w": "y"}}], [{{"b": 1.0}}, {{"a": 1.0, "w": "z"}}]]
crf = CRF("pa").fit(X, [["O", "B-x"], ["B-x", "I-x"]])
def told(explanation):
    # Of features with the same weight, either may come first.
    found = eli5.format_as_dict(explanation)
    for target in found["targets"]:
        for sign in ("pos", "neg"):
            own = target["feature_weights"]
            own[sign] = [feature["weight"] for feature in own[sign]]
    return found

for more in ({{}}, {{"top": 2}}, {{"top": (1, 1)}}, {{"feature_re": "^w"}}, {{"targets": ["O"]}}):
    mine = told(eli5.explain_weights(crf, **more))
    assert mine == told(theirs(crf, **more)), (more, mine)
    assert mine["targets"]
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={"PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
