"""What users get wrong is one clear SeqpaError, and leaves no half-trained tagger."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

import numpy as np
import pytest
from sequence_cases import TAGS, TEMPLATES, WORDS, features, weights

from seqpa import Hierarchy, SequenceTagger
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([["a", "b"]], [["N"]], "sentence 1 has 2 tokens, but 1 labels"),
        ([["a"], ["b"]], [["N"]], "X has 2 sentences, y has 1"),
        ("a b", ["N"], "X is a string"),
        (None, [["N"]], "X is None"),
        (3, [["N"]], "X is of type int"),
        (iter([["a"]]), [["N"]], "X is of type list_iterator: give a list"),
        ({"a": 1}, [["N"]], "X is of type dict"),
        ([["a"], None], [["N"], ["V"]], "sentence 2 is None"),
        ([["a"], 3], [["N"], ["V"]], "sentence 2 is of type int"),
        ([["a"]], 3, "y is of type int"),
        ([["a"]], "N", "y is a string"),
        ([["a"], ["b"]], [["N"], None], "the labels of sentence 2 are None"),
        (["ab"], [["N", "V"]], "sentence 1 is a string"),
        ([["a"], "b"], [["N"], ["V"]], "sentence 2 is a string"),
        ([["a", "b"]], ["NV"], "sentence 1"),
        ([["a", 3]], [["N", "V"]], "sentence 1"),
        ([[3, "a"]], [["N", "V"]], "not int"),
        ([["a", ("b", "c")]], [["N", "V"]], "sentence 1: the token .* has 2 cells.*columns="),
        ([[("a", "D")]], [["N"]], "has 2 cells, but the columns are word"),
        ([[b"a"]], [["N"]], "not bytes"),
        ([["a"], ["b"]], [["N"], [0.5]], "sentence 2: the label 0.5 is neither text nor"),
        ([["a"], ["b"]], [["1"], [1]], "the labels .1. and 1 are both written .1."),
        (np.array(3), [["N"]], "X is of type ndarray"),
        ([["a"]], [[None]], "every label is None"),
        ([["a"]], None, "y is missing"),
        ([], [], "no token"),
        ([[], []], [[], []], "no token"),
    ],
)
def test_wrong_data_says_what_is_wrong(X: Any, y: Any, message: str) -> None:
    for train in ("fit", "partial_fit"):
        tagger = SequenceTagger(["word[0]"])
        with pytest.raises(SeqpaError, match=message):
            getattr(tagger, train)(X, y)
        with pytest.raises(SeqpaError, match="not trained"):
            tagger.predict([["a"]])


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ({"size": math.nan}, "nan"),
        ({"size": math.inf}, "inf"),
        ({"size": 1e300}, "1e\\+300"),
        ({"size": -1e11}, "-1e10"),
        ({"size": None}, "None"),
        ({3: "a"}, "3"),
        (["a", 5], "5"),
        ("word", "word"),
    ],
)
def test_wrong_features_say_where(token: Any, message: str) -> None:
    X = [[{"a": 1.0}], [{"b": 1.0}, token]]
    with pytest.raises(SeqpaError, match=f"sentence 2.*{message}"):
        SequenceTagger().fit(X, [["N"], ["N", "V"]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "mira"}, "choose perceptron, pa"),
        ({"cost": "haming"}, "'hamming'"),
        ({"cost": 3}, "not 3"),
        ({"cost": {"D": {"N": -1.0}}}, "not negative"),
        ({"cost": Hierarchy({"D": None, "N": None})}, "'V'"),
        ({"update": "max"}, "prediction-based"),
        ({"C": 0.0}, "positive"),
        ({"C": math.nan}, "positive"),
        ({"C": "0.1"}, "C is '0.1'.*positive"),
        ({"C": None}, "positive"),
        ({"algorithm": ["pa"]}, "choose perceptron, pa"),
        ({"average": "no"}, "average is 'no': it must be True or False"),
        ({"shuffle": 1}, "True or False"),
        ({"warm_start": None}, "True or False"),
        ({"random_state": -1}, "random_state is -1"),
        ({"random_state": "one"}, "random_state"),
        ({"constraints": {"forbidden": 3}}, "'forbidden' is 3"),
        ({"features": ['lexicon("a")'], "resources": ["a.txt"]}, "resources are.*'a': 'names.txt'"),
        ({"cost": lambda gold, predicted: 10**400}, "finite"),
        ({"constraints": {"forbidden": [3]}}, "3 under 'forbidden'"),
        ({"constraints": {"forbidden": [["D", ["N"]]]}}, "'N'"),
        ({"constraints": {"required": ["D"]}}, "'required' is"),
        ({"constraints": {"required": {"D": "N"}}}, "'N' under 'required' is not a list"),
        ({"epochs": 0}, "epochs"),
        ({"epochs": 2.5}, "epochs"),
        ({"epochs": True}, "epochs"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"patience": 0}, "patience"),
        ({"n_best": 0, "update": "n-best"}, "n_best"),
        ({"features": "part-of-speech"}, "pos"),
        ({"features": ["word[0"]}, "word"),
        ({"features": []}, "template"),
        ({"features": None}, "features=None"),
        ({"features": 3}, "not int"),
        ({"cutoff": 0}, "cutoff"),
        ({"columns": ("word", "pos"), "features": ["pos[0]"]}, "word, pos"),
        ({"features": lambda sentence: [{}]}, "gave 1 items"),
        ({"features": lambda sentence: None}, "sentence 1, .*are None"),
        ({"features": lambda sentence: ({} for _ in sentence)}, "of type generator"),
        ({"features": "word[0]"}, "templates come in a list"),
    ],
)
def test_wrong_parameters_say_what_is_right(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        SequenceTagger(**{"features": TEMPLATES, **parameters}).fit(WORDS, TAGS)


@pytest.mark.parametrize(
    ("dev", "message"),
    [
        (3, "a pair"),
        ((WORDS, TAGS, TAGS), "a pair"),
        ((WORDS, TAGS[:1]), "dev set: X has"),
        ((WORDS, None), "dev set: y is missing"),
        (([], []), "dev set: there is no token"),
        (([[]], [[]]), "dev set: there is no token"),
        ((None, TAGS), "dev set: X is None"),
        (Corpus.from_sentences([["a"]]), "dev set: the corpus has no labels"),
    ],
)
def test_a_wrong_dev_set_is_told_before_training(dev: Any, message: str) -> None:
    tagger = SequenceTagger(TEMPLATES, random_state=0)
    with pytest.raises(SeqpaError, match=message):
        tagger.fit(WORDS, TAGS, dev=dev)
    with pytest.raises(SeqpaError, match="not trained"):
        tagger.predict(WORDS)


def test_an_untrained_tagger_has_no_weights_to_look_at() -> None:
    tagger = SequenceTagger()
    for name in ("classes_", "state_features_", "transition_features_"):
        assert not hasattr(tagger, name)


@pytest.mark.parametrize("batch_size", [1, 2])
def test_steps_beyond_float32_are_refused(batch_size: int) -> None:
    def cost(gold: list[str], predicted: list[str]) -> float:
        return 1e80

    tagger = SequenceTagger(TEMPLATES, algorithm="pa-ii", cost=cost, batch_size=batch_size)
    with pytest.raises(SeqpaError, match=r"sentence .*1e\+15"):
        tagger.fit(WORDS, TAGS)
    with pytest.raises(SeqpaError, match="not trained"):
        tagger.predict(WORDS)
    tiny = SequenceTagger(algorithm="pa", random_state=0)
    with pytest.raises(SeqpaError, match=r"1e\+15"):
        tiny.fit([[{"a": 1e-30}], [{"b": 1e-30}]], [["N"], ["V"]])


def test_a_refused_step_leaves_finite_weights() -> None:
    tagger = SequenceTagger(algorithm="pa", random_state=0, average=False)
    tagger.fit([[{"a": 1.0}], [{"b": 1.0}]], [["N"], ["V"]])
    before = tagger.state_features_
    with pytest.raises(SeqpaError, match=r"1e\+15"):
        tagger.partial_fit([[{"a": 1e-30}]], [["V"]])
    assert tagger.state_features_ == before
    tagger.partial_fit([[{"c": 1.0}]], [["V"]])
    assert tagger.predict([[{"a": 1.0}], [{"b": 1.0}]]) == [["N"], ["V"]]


def test_wrong_questions_say_what_is_right() -> None:
    trained = SequenceTagger(TEMPLATES, random_state=0).fit(WORDS, TAGS)
    for k in (0, -1, 2.5, True):
        with pytest.raises(SeqpaError, match="k is"):
            trained.predict_nbest(WORDS, k)  # type: ignore[arg-type]
    with pytest.raises(SeqpaError, match="string"):
        trained.predict("the dog")
    with pytest.raises(SeqpaError, match="string"):
        trained.predict(["the dog"])
    with pytest.raises(SeqpaError, match="string"):
        trained.tag("the dog")
    with pytest.raises(SeqpaError, match="None"):
        trained.predict(None)
    for question in ("predict", "confidence", "explain", "tag"):
        with pytest.raises(SeqpaError, match=r"sentence 1 is None"):
            getattr(trained, question)([None] if question in ("predict", "confidence") else None)
    for fixed in (3, [None], ["D"], [], [["D", "N"]], [[["D"]]], [["Q"]], [[0]]):
        with pytest.raises(SeqpaError, match="fixed"):
            trained.predict([["the"]], fixed=fixed)
    with pytest.raises(SeqpaError, match="no token"):
        trained.score([[]], [[]])
    with pytest.raises(SeqpaError, match="2 tokens, but 1"):
        trained.score([["a", "b"]], [["N"]])
    for question in ("predict", "confidence", "explain", "tag"):
        with pytest.raises(SeqpaError, match="not trained"):
            getattr(SequenceTagger(), question)(["a"])


def test_the_words_given_later_may_be_of_the_wrong_form() -> None:
    tagger = SequenceTagger().fit([features(s) for s in WORDS], TAGS)
    with pytest.raises(SeqpaError):
        tagger.predict(WORDS)
    words = SequenceTagger(TEMPLATES).fit(WORDS, TAGS)
    with pytest.raises(SeqpaError):
        words.predict([features(s) for s in WORDS])
    corpus = Corpus.from_sentences([[("a", "b")]], names=("form", "pos"))
    with pytest.raises(SeqpaError, match="'word'"):
        words.predict(corpus)


@pytest.mark.parametrize("how", [None, features])
def test_tokens_that_are_features_are_checked_as_well(how: Any) -> None:
    X = WORDS if how else [features(s) for s in WORDS]
    tagger = SequenceTagger(how, random_state=0).fit(X, TAGS)
    for wrong in ("dog", None, 3, ["dog"], [None], [3], [{"a": 1}], np.array(3)):
        for question in (tagger.predict, tagger.confidence):
            with pytest.raises(SeqpaError, match=r"X is |sentence 1 is "):
                question(wrong)
    for wrong in ("dog", None, 3, {"a": 1}):
        with pytest.raises(SeqpaError, match="sentence 1 is "):
            tagger.tag(wrong)  # type: ignore[arg-type]


def test_labels_may_be_of_a_kind_of_their_own() -> None:
    class Tag(str, Enum):
        NOUN = "N"
        VERB = "V"

    y = [[Tag.NOUN, np.str_("V")], [Tag.VERB]]
    tagger = SequenceTagger(["word[0]"]).fit([["a", "b"], ["b"]], y)
    assert tagger.classes_ == ["N", "V"]
    assert {type(label) for label in tagger.classes_} == {str}
    assert tagger.predict([["a", "b"]]) == [["N", "V"]]


def test_columns_want_tuples() -> None:
    with pytest.raises(SeqpaError, match="columns word, pos are named, but tokens are"):
        SequenceTagger(columns=("word", "pos")).fit([[["a", "N"]]], [["X"]])


def test_a_sentence_without_a_legal_labelling_has_no_confidence() -> None:
    X, y = [["a", "b"]], [["B-x", "E-x"]]
    tagger = SequenceTagger(["word[0]"], constraints="bioes").fit(X, y)
    assert tagger.confidence([["a", "b"], []])[0][0] == math.inf
    for question in (tagger.confidence, tagger.predict):
        with pytest.raises(SeqpaError, match="sentence 2: no label sequence"):
            question([["a", "b"], ["a"]])


def test_training_that_fails_takes_back_what_it_began() -> None:
    calls = 0

    def fails_late(gold: list[str], predicted: list[str]) -> float:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise ZeroDivisionError
        return float(sum(g != p for g, p in zip(gold, predicted, strict=True)))

    def trained() -> SequenceTagger:
        return SequenceTagger(TEMPLATES, random_state=0, warm_start=True).fit(WORDS, TAGS)

    X, y = [["gee"], ["gee"]] * 9, [["UH"], ["."]] * 9  # never without a mistake
    for train in ("fit", "partial_fit"):
        calls, tagger = 0, trained().set_params(cost=fails_late, C=9.0)
        with pytest.raises(SeqpaError, match="ZeroDivisionError"):
            getattr(tagger, train)(X, y)
        assert tagger.classes_ == trained().classes_
        assert weights(tagger) == weights(trained())
        assert tagger.predict(X)
    # Labels that the constraints forbid are noticed before anything is learned.
    tagger = SequenceTagger(TEMPLATES, random_state=0, warm_start=True, constraints="bio")
    tagger.fit([["a", "b"]], [["B-x", "I-x"]])
    for train in ("fit", "partial_fit"):
        with pytest.raises(SeqpaError, match="breaks the constraints"):
            getattr(tagger, train)([["zzz"]], [["I-y"]])
        assert tagger.classes_ == ["B-x", "I-x"]
        assert tagger.predict([["a", "zzz"]])


def test_bad_input_to_going_on_changes_nothing() -> None:
    X = [[("a", "D"), ("b", "N")], [("c", "V")]]
    y = [["x", "y"], ["z"]]
    templates = ["word[0]", "suffix(1)[0]", "pos[0]", "suffix(1, pos)[0]"]
    tagger = SequenceTagger(templates, ("word", "pos"), random_state=0).fit(X, y)
    before, words = weights(tagger), tagger.trained_.source.encoder._words
    known = [dict(column.words) for column in words]
    with pytest.raises(SeqpaError, match="sentence 1, token 2, column 'pos'"):
        tagger.partial_fit([[("new", "Q"), ("newer", None)]], [["x", "y"]])
    assert [dict(column.words) for column in words] == known
    assert weights(tagger) == before
    assert len(tagger.predict([[("new", "Q"), ("newer", "D")]])[0]) == 2
    # The features that training wanted are those of training that succeeded.
    with pytest.raises(SeqpaError, match="expected a string"):
        tagger.set_params(features=["pos[0]"]).fit([[("a", None)]], [["x"]])
    with pytest.raises(SeqpaError, match="features or columns have changed"):
        tagger.partial_fit(X, y)


def test_more_labels_than_a_chain_can_number_are_refused() -> None:
    words = [f"w{k}" for k in range(2**15)]
    with pytest.raises(SeqpaError, match="32768 labels are too many"):
        SequenceTagger(["word[0]"]).fit([words], [words])
