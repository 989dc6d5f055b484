"""python-crfsuite's classes here, side by side with the real ones; and CRFsuite's model files."""

from __future__ import annotations

import random
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sequence_cases import TAGS, WORDS, features

import seqpa.pycrfsuite as ours
from seqpa import SeqpaError, SequenceTagger
from seqpa.errors import SeqpaWarning
from seqpa.pycrfsuite.crfsuite_file import read_crfsuite, read_crfsuite_file, to_trained
from seqpa.pycrfsuite.parameters import LIKELIHOOD, PARAMETERS

theirs = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")

X = [features(sentence) for sentence in WORDS]
NAMES = st.text("abcдé:=\\", min_size=1, max_size=4)
VALUES = st.one_of(NAMES, st.booleans(), st.integers(-9, 9), st.floats(-9, 9, width=16))
ITEMS = st.one_of(
    st.lists(NAMES, max_size=4),
    st.sets(NAMES, max_size=4),
    st.dictionaries(NAMES, st.one_of(VALUES, st.lists(NAMES, max_size=2)), max_size=4),
    st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=2), max_size=2),
)
pytestmark = pytest.mark.filterwarnings("ignore::seqpa.errors.SeqpaWarning")


def trained(module: Any, path: Path, algorithm: str = "pa", **params: Any) -> Any:
    trainer = module.Trainer(algorithm, params, verbose=False)
    for xseq, yseq in zip(X, TAGS, strict=True):
        trainer.append(xseq, yseq)
    trainer.train(str(path))
    tagger = module.Tagger()
    tagger.open(str(path))
    return tagger


@settings(max_examples=60)
@given(st.lists(ITEMS, max_size=3))
def test_items_are_what_theirs_are(items: list[Any]) -> None:
    mine, real = ours.ItemSequence(items), theirs.ItemSequence(items)
    assert mine.items() == real.items()
    assert (len(mine), repr(mine)) == (len(real), repr(real))
    assert ours.ItemSequence(mine).items() == mine.items()


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
def test_parameters_and_their_defaults_are_theirs(algorithm: str) -> None:
    mine, real = ours.Trainer(algorithm), theirs.Trainer(algorithm)
    assert mine.params() == real.params()
    assert mine.get_params() == real.get_params()
    assert all(mine.help(name) for name in mine.params())
    for name, value in {"feature.minfreq": "2.5", "feature.possible_states": True}.items():
        mine.set(name, value)
        real.set(name, value)
        assert mine.get(name) == real.get(name)


@pytest.mark.parametrize("module", [ours, theirs])
@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ValueError, lambda t: t.select("newton")),
        (ValueError, lambda t: t.select("pa", "crf2d")),
        (ValueError, lambda t: t.set("nope", 1)),
        (ValueError, lambda t: t.get("nope")),
        (ValueError, lambda t: t.help("nope")),
        (ValueError, lambda t: t.append([["a"]], ["X", "Y"])),
        (TypeError, lambda t: t.append([["a"]], ["X"], "group")),
        (TypeError, lambda t: t.append([["a"]], [1])),
    ],
)
def test_trainers_fail_alike(module: Any, error: type[Exception], call: Any) -> None:
    with pytest.raises(error):
        call(module.Trainer("pa", verbose=False))


def test_a_closed_tagger_fails_alike(tmp_path: Path) -> None:
    for module in (ours, theirs):
        tagger = trained(module, tmp_path / "model")
        tagger.close()
        for error, call in (
            (ValueError, tagger.labels),
            (RuntimeError, tagger.info),
            (RuntimeError, lambda tagger=tagger: tagger.dump(str(tmp_path / "dump"))),
            (OSError, lambda tagger=tagger: tagger.open(str(tmp_path / "none"))),
            (ValueError, lambda tagger=tagger: tagger.open(__file__)),
            (ValueError, lambda tagger=tagger: tagger.open_inmemory(b"lCRFabc")),
        ):
            with pytest.raises(error):
                call()


STAGES = [
    "start",
    "featgen_progress",
    "featgen_end",
    "prepared",
    "iteration",
    "optimization_end",
    "end",
]


@pytest.mark.parametrize("module", [ours, theirs])
def test_questions_about_labels_fail_alike(module: Any, tmp_path: Path) -> None:
    tagger = trained(module, tmp_path / "model")
    tagger.set(X[0])
    for error, call in (
        (ValueError, lambda: tagger.probability(["A"])),
        (RuntimeError, lambda: tagger.probability(["nonesuch"] * len(X[0]))),
        (RuntimeError, lambda: tagger.marginal("nonesuch", 0)),
        (ValueError, lambda: tagger.marginal(tagger.labels()[0], len(X[0]))),
    ):
        with pytest.raises(error):
            call()


class Recorder:
    """What a trainer calls, in order."""

    def __init__(self, module: Any) -> None:
        calls: list[tuple[str, str]] = []

        class Trainer(module.Trainer):  # type: ignore[misc]
            pass

        for stage in STAGES:

            def call(_self: Any, log: str, *_more: Any, stage: str = stage) -> None:
                calls.append((stage, log))

            setattr(Trainer, f"on_{stage}", call)
        self.calls = calls
        self.trainer = Trainer("pa", {"max_iterations": 3})


def test_hooks_come_in_the_same_order_with_the_same_keys(tmp_path: Path) -> None:
    told = []
    for module in (ours, theirs):
        recorder = Recorder(module)
        for i, (xseq, yseq) in enumerate(zip(X, TAGS, strict=True)):
            recorder.trainer.append(xseq, yseq, i % 2)
        recorder.trainer.train(str(tmp_path / "model"), holdout=1)
        parser = recorder.trainer.logparser
        told.append([stage for stage, _ in recorder.calls])
        assert "".join(log for _, log in recorder.calls) == "".join(parser.log)
        last = parser.last_iteration
        assert {"num", "loss", "time", "scores", "avg_f1", "item_accuracy"} <= set(last)
        assert 0 <= last["item_accuracy_float"] <= 1
        assert {type(score).__name__ for score in last["scores"].values()} == {"LabelScore"}
    assert told[0] == told[1]


def test_probabilities_are_fitted_to_what_is_held_out() -> None:
    rng = random.Random(5)
    trainer = ours.Trainer("pa", {"c": 0.1, "max_iterations": 5}, verbose=False)
    for i in range(90):
        words = [rng.choice("abcd") for _ in range(4)]
        labels = [w.upper() if rng.random() < 0.8 else rng.choice("ABCD") for w in words]
        trainer.append([[word] for word in words], labels, i % 3)
    trainer.train("")
    assert trainer.trained_.scale is None
    trainer.train("", holdout=2)
    assert trainer.trained_.scale is not None
    tagger = ours.Tagger.over(trainer.trained_)
    found = tagger.marginals([[[word]] for word in "abcd"])
    sure = [float(token.max()) for (token,) in found]
    assert 0.7 < sum(sure) / 4 < 0.95  # 85 % of the labels are as the words say


def test_our_parser_reads_their_log(tmp_path: Path) -> None:
    trainer = theirs.Trainer("lbfgs", {"max_iterations": 4}, verbose=False)
    for i, (xseq, yseq) in enumerate(zip(X, TAGS, strict=True)):
        trainer.append(xseq, yseq, i % 2)
    trainer.train(str(tmp_path / "model"), holdout=0)
    parser, real = ours.TrainLogParser(), trainer.logparser
    for line in real.log:
        parser.feed(line)
    assert parser.iterations == real.iterations
    assert parser.events == real.events
    assert parser.last_log == real.last_log
    for name in ("featgen_percent", "featgen_num_features", "featgen_seconds", "training_seconds"):
        assert getattr(parser, name) == getattr(real, name)


def test_every_line_is_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Listener(ours.Trainer):
        def __init__(self) -> None:  # without the one of the class above
            self.messages: list[str] = []

        def message(self, message: str) -> None:
            self.messages.append(message)

    trainer = Listener()
    trainer.append(X[0], TAGS[0])
    trainer.train(str(tmp_path / "model"))
    assert "type: CRF1d\n" in trainer.messages
    plain = ours.BaseTrainer("pa", {"max_iterations": 2})
    plain.append(X[0], TAGS[0])
    plain.train("")
    assert capsys.readouterr().out.count("***** Iteration") == 2
    plain.clear()
    plain.train(str(tmp_path / "nothing"))  # as theirs, no error
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("algorithm", ["pa", "ap", "arow"])
def test_online_trainers_learn_what_a_tagger_learns(tmp_path: Path, algorithm: str) -> None:
    tagger = trained(ours, tmp_path / "model", algorithm, max_iterations=1)
    name = {"pa": "pa-i", "ap": "perceptron", "arow": "arow"}[algorithm]
    C = 0.5 if algorithm == "arow" else 1.0
    given = {"algorithm": name, "C": C, "update": "prediction-based", "epochs": 1}
    same = SequenceTagger(features=None, random_state=0, **given).fit(X, TAGS)
    info = tagger.info()
    assert info.state_features == same.state_features_
    assert info.transitions == same.transition_features_
    assert tagger.labels() == same.classes_
    assert [tagger.tag(xseq) for xseq in X] == same.predict(X)


def test_what_regularises_acts_and_is_told_once() -> None:
    sizes = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default", SeqpaWarning)
        for c2 in (1e-6, 0.1, 10.0):
            trainer = ours.Trainer("lbfgs", {"c2": c2, "max_iterations": 3}, verbose=False)
            for xseq, yseq in zip(X, TAGS, strict=True):
                trainer.append(xseq, yseq)
            trainer.train("")
            sizes.append(trainer.trained_.weights.squared_norm())
    assert sizes[0] > sizes[1] > sizes[2] > 0
    assert len([w for w in told if "likelihood" in str(w.message)]) <= 1  # none if told before
    trainer.set("num_memories", 3)
    with pytest.warns(SeqpaWarning, match="without effect here: num_memories"):
        trainer.train("")


@pytest.mark.parametrize("algorithm", PARAMETERS)
def test_wrong_values_are_refused_in_words(algorithm: str) -> None:
    trainer = ours.Trainer(algorithm, verbose=False)
    with pytest.raises(SeqpaError, match=r"max_iterations = 'x': give a whole number"):
        trainer.set("max_iterations", "x")
    with pytest.raises(SeqpaError, match=r"did you mean 'max_iterations'"):
        trainer.set("max_iteration", 1)
    trainer.append(X[0], TAGS[0])
    wrong = {"passive-aggressive": ("type", 7), "arow": ("gamma", -1.0)}
    name, value = wrong.get(algorithm, ("c2", -1.0))
    if algorithm in (*LIKELIHOOD, *wrong):
        trainer.set(name, value)
        with pytest.raises(SeqpaError, match=name):
            trainer.train("")


def test_training_ends_when_the_loss_is_small() -> None:
    trainer = ours.Trainer("pa", {"epsilon": 0.5, "max_iterations": 50}, verbose=False)
    for xseq, yseq in zip(X, TAGS, strict=True):
        trainer.append(xseq, yseq)
    trainer.train("")
    assert trainer.logparser is not None
    assert len(trainer.logparser.iterations) < 50
    assert trainer.logparser.iterations[-1]["loss"] / len(X) < 0.5
    assert "Terminated with the stopping criterion\n" in trainer.logparser.log


def test_a_model_in_memory_and_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model"
    tagger = trained(ours, path)
    with ours.Tagger().open_inmemory(path.read_bytes()) as again:
        assert again.tag(X[0]) == tagger.tag(X[0]) == tagger.tag()
    tagger.dump()
    shown = capsys.readouterr().out
    tagger.dump(str(tmp_path / "dump"))
    assert (tmp_path / "dump").read_text(encoding="utf-8") == shown
    assert "LABELS = {" in shown
    info = tagger.info()
    assert int(info.header["size"]) == path.stat().st_size
    assert len(info.labels) == int(info.header["num_labels"])
    words = SequenceTagger(["word[0]"]).fit([["a"]], [["A"]])
    words.save(path)
    with pytest.raises(SeqpaError, match=r"SequenceTagger\.load"):
        ours.Tagger().open(str(path))


# CRFsuite's own files


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_a_model_of_crfsuite_tags_the_same(tmp_path_factory: Any, seed: int) -> None:
    rng = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(12)]
    labels = [f"L{i}" for i in range(rng.randint(1, 9))]

    def sentence() -> list[dict[str, Any]]:
        return [
            {"word": rng.choice(vocabulary), "é": rng.random(), "in": [rng.choice(vocabulary)]}
            for _ in range(rng.randint(0, 6))
        ]

    path = tmp_path_factory.mktemp("crfsuite") / "model"
    trainer = theirs.Trainer(rng.choice(["lbfgs", "ap", "pa"]), verbose=False)
    trainer.set("max_iterations", 20)
    for _ in range(15):
        xseq = sentence()
        trainer.append(xseq, [rng.choice(labels) for _ in xseq])
    trainer.train(str(path))
    real = theirs.Tagger()
    real.open(str(path))
    if not real.labels():
        return
    mine = ours.Tagger()
    mine.open(str(path))
    model = read_crfsuite_file(path)
    assert mine.labels() == real.labels() == model.labels
    told = real.info()
    assert model.header == told.header
    assert list(told.attributes) == model.attributes
    found = to_trained(model)
    for name, weights in (
        ("transitions", found.transition_features()),
        ("state_features", found.state_features()),
    ):
        real_weights = getattr(told, name)  # to six places behind the point
        assert {k for k, w in real_weights.items() if abs(w) > 1e-5} <= set(weights)
        assert all(abs(w - real_weights.get(k, 0.0)) < 1e-5 for k, w in weights.items())
    for _ in range(10):
        xseq = sentence()
        tags = real.tag(xseq)
        assert mine.tag(xseq) == tags
        if xseq:
            assert abs(mine.probability(tags) - real.probability(tags)) < 1e-6
        for place in range(len(xseq)):
            for label in mine.labels():
                assert abs(mine.marginal(label, place) - real.marginal(label, place)) < 1e-6


@settings(max_examples=60)
@given(st.data())
def test_damaged_models_of_crfsuite_are_refused(tmp_path_factory: Any, data: Any) -> None:
    content = bytearray(_small_model(tmp_path_factory))
    how = data.draw(st.sampled_from(["cut", "field", "byte"]))
    if how == "cut":
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    elif how == "field":
        place = 4 * data.draw(st.integers(1, 11))
        struct.pack_into("<I", content, place, data.draw(st.integers(0, 2**32 - 1)))
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        model = read_crfsuite(bytes(content))
        tags = to_trained(model).tagging.predict([[["a"], ["zzz"]]])
        assert set(tags[0]) <= set(model.labels)  # what was damaged is never looked at
    except SeqpaError:
        pass


_MODELS: list[bytes] = []


def _small_model(factory: Any) -> bytes:
    if not _MODELS:
        path = factory.mktemp("small") / "model"
        trainer = theirs.Trainer("pa", {"max_iterations": 5}, verbose=False)
        trainer.append([["a"], ["b", "c"], ["a", "d"]], ["X", "Y", "Z"])
        trainer.append([["b"], ["a"]], ["Z", "X"])
        trainer.train(str(path))
        _MODELS.append(path.read_bytes())
    return _MODELS[0]


def test_a_feature_function_goes_with_the_model(tmp_path_factory: Any) -> None:
    model = read_crfsuite(_small_model(tmp_path_factory))
    plain = to_trained(model).tagging.predict([[["a"], ["b", "c"]]])
    assert to_trained(model, letters).tagging.predict([["a", "bc"]]) == plain


def letters(sentence: Any) -> list[list[str]]:
    return [list(word) for word in sentence]


def test_rows_of_many_labels_are_dense(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    trainer = theirs.Trainer("lbfgs", {"c2": 0.01, "max_iterations": 15}, verbose=False)
    labels = [f"L{i:02}" for i in range(12)]
    for _ in range(40):
        n = int(rng.integers(1, 6))
        items = [[f"a{rng.integers(4)}", f"b{rng.integers(30)}"] for _ in range(n)]
        trainer.append(items, [labels[int(rng.integers(12))] for _ in range(n)])
    trainer.train(str(tmp_path / "model"))
    mine, real = ours.Tagger(), theirs.Tagger()
    mine.open(str(tmp_path / "model"))
    real.open(str(tmp_path / "model"))
    assert (mine.trained.weights.rows[:, 1] < 0).any()
    assert (mine.trained.weights.rows[:, 1] > 0).any()
    for _ in range(30):
        items = [[f"a{rng.integers(4)}", f"b{rng.integers(30)}"] for _ in range(6)]
        assert mine.tag(items) == real.tag(items)
