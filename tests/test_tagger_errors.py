"""What users get wrong is one clear SeqpaError, and leaves no half-trained tagger."""

from __future__ import annotations

import math
from typing import Any

import pytest
from sequence_cases import TAGS, TEMPLATES, WORDS, features

from seqpa import Hierarchy, SequenceTagger
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([["a", "b"]], [["N"]], "sentence 1 has 2 tokens, but 1 labels"),
        ([["a"], ["b"]], [["N"]], "X has 2 sentences, y has 1"),
        ("a b", ["N"], "X is a string|X has"),
        (["ab"], [["N", "V"]], "sentence 1 is a string"),
        ([["a"], "b"], [["N"], ["V"]], "sentence 2 is a string"),
        ([["a", "b"]], ["NV"], "sentence 1"),
        ([["a", 3]], [["N", "V"]], "sentence 1"),
        ([[3, "a"]], [["N", "V"]], "not int"),
        ([["a", ("b", "c")]], [["N", "V"]], "sentence 1"),
        ([["a"]], [[1]], "1 is not a string"),
        ([["a"]], [[None]], "None is not a string"),
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
    ],
)
def test_wrong_parameters_say_what_is_right(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(SeqpaError, match=message):
        SequenceTagger(**{"features": TEMPLATES, **parameters}).fit(WORDS, TAGS)


def test_wrong_questions_say_what_is_right() -> None:
    trained = SequenceTagger(TEMPLATES, random_state=0).fit(WORDS, TAGS)
    for k in (0, -1, 2.5, True):
        with pytest.raises(SeqpaError, match="k is"):
            trained.predict_nbest(WORDS, k)  # type: ignore[arg-type]
    with pytest.raises(SeqpaError, match="string"):
        trained.predict("the dog")
    with pytest.raises(SeqpaError, match="string"):
        trained.predict(["the dog"])
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
