"""SequenceTagger as its users meet it: every kind of token, every way to train, tag and look."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import sequence_reference as reference

from seqpa import Hierarchy, SequenceTagger
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError

WORDS = [
    ["the", "dog", "saw", "rain"],
    ["a", "saw", "cut", "the", "rain"],
    ["rain", "fell"],
    ["the", "cut", "fell", "the", "dog"],
]
TAGS = [
    ["D", "N", "V", "N"],
    ["D", "N", "V", "D", "N"],
    ["N", "V"],
    ["D", "N", "V", "D", "N"],
]
TEMPLATES = ["word[0]", "word[-1]", "suffix(2)[0]"]


def features(sentence: Any) -> list[dict[str, Any]]:
    """A feature function, such as users write."""
    return [
        {"word": word, "first": t == 0, "length": len(word) / 4, "ends": [word[-1:], word[-2:]]}
        for t, word in enumerate(sentence)
    ]


def weights(tagger: SequenceTagger) -> tuple[dict[Any, float], dict[Any, float]]:
    return tagger.state_features_, tagger.transition_features_


# Tokens of every kind

FORMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "strings": (WORDS, {"features": TEMPLATES}),
    "preset": (WORDS, {"features": "pos"}),
    "auto": (WORDS, {}),
    "tuples": (
        [[(word, word[0]) for word in s] for s in WORDS],
        {"features": ["word[0]", "letter[0]|letter[1]"], "columns": ("word", "letter")},
    ),
    "pair templates": (WORDS, {"features": [*TEMPLATES, "pair:word[0]"]}),
    "dicts": ([features(s) for s in WORDS], {}),
    "dicts, told so": ([features(s) for s in WORDS], {"features": None}),
    "lists": ([[[word, word[-2:]] for word in s] for s in WORDS], {}),
    "function": (WORDS, {"features": features}),
    "corpus": (Corpus.from_sentences(WORDS, TAGS), {"features": TEMPLATES}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_token_trains_and_tags(form: str) -> None:
    X, parameters = FORMS[form]
    tagger = SequenceTagger(random_state=0, **parameters)
    assert tagger.fit(X, None if isinstance(X, Corpus) else TAGS) is tagger
    assert list(tagger.classes_) == ["D", "N", "V"]
    assert tagger.predict(X) == TAGS
    assert tagger.score(X, TAGS) == 1.0
    tokens = WORDS[1] if isinstance(X, Corpus) else X[1]
    assert tagger.tag(tokens) == list(zip(tokens, TAGS[1], strict=True))
    assert tagger.predict([[], tokens, []]) == [[], TAGS[1], []]
    assert tagger.predict([]) == []


def test_forms_that_say_the_same_learn_the_same() -> None:
    given = SequenceTagger(random_state=0).fit([features(s) for s in WORDS], TAGS)
    called = SequenceTagger(features, random_state=0).fit(WORDS, TAGS)
    assert weights(given) == weights(called)
    lists = SequenceTagger(TEMPLATES, random_state=0).fit(WORDS, TAGS)
    corpus = SequenceTagger(TEMPLATES, random_state=0).fit(Corpus.from_sentences(WORDS, TAGS))
    assert weights(lists) == weights(corpus)
    one = SequenceTagger(TEMPLATES, random_state=0).fit([[(w,) for w in s] for s in WORDS], TAGS)
    assert weights(lists) == weights(one)


def test_dict_values_mean_what_they_mean_in_sklearn_crfsuite() -> None:
    X = [[{"word": "a", "on": True, "off": False, "size": 2.5, "zero": 0.0, "count": 3}]] * 2
    tagger = SequenceTagger(algorithm="pa", shuffle=False, average=False, epochs=1)
    tagger.fit(X, [["A"], ["B"]])
    names = {name for name, _ in tagger.state_features_}
    assert names == {"word:a", "on", "size", "count"}
    ratio = tagger.state_features_["size", "A"] / tagger.state_features_["on", "A"]
    assert ratio == pytest.approx(2.5)


def test_input_is_left_alone() -> None:
    X = [features(s) for s in WORDS]
    y = [list(labels) for labels in TAGS]
    tagger = SequenceTagger(random_state=0).fit(X, y)
    tagger.predict(X)
    tagger.partial_fit(X, y)
    assert [features(s) for s in WORDS] == X
    assert y == TAGS


# Looking inside


@pytest.fixture(scope="module")
def trained() -> SequenceTagger:
    return SequenceTagger(TEMPLATES, random_state=0, epochs=3).fit(WORDS, TAGS)


def vector(tagger: SequenceTagger) -> tuple[reference.Vector, dict[str, int]]:
    """The tagger's weights as the naive twins take them, and the numbers of its features."""
    numbers: dict[str, int] = {}
    index = {label: k for k, label in enumerate(tagger.classes_)}
    w: reference.Vector = {}
    for (name, label), value in tagger.state_features_.items():
        w["state", numbers.setdefault(name, len(numbers)), index[label]] = value
    for (before, label), value in tagger.transition_features_.items():
        w["transition", index[before], index[label]] = value
    return w, numbers


def twin_sentence(numbers: dict[str, int], words: list[str]) -> reference.Sentence:
    padded = ["<-1>", *words]
    names = [
        [f"word[0]={word}", f"word[-1]={before}", f"suffix(2)[0]={word[-2:]}"]
        for before, word in zip(padded, words, strict=False)
    ]
    return reference.Sentence(
        [[(numbers[name], 1.0) for name in token if name in numbers] for token in names]
    )


def test_weights_by_name_give_the_very_scores(trained: SequenceTagger) -> None:
    w, numbers = vector(trained)
    for words in [*WORDS, ["a", "cat", "fell"]]:
        sentence = twin_sentence(numbers, words)
        order = reference.ranked(w, sentence, 3)
        ((score, labels),) = trained.predict_nbest([words], 1)[0]
        assert score == pytest.approx(order[0][0], abs=1e-4)
        assert trained.predict([words]) == [labels]


def test_nbest_and_confidence_equal_brute_force(trained: SequenceTagger) -> None:
    w, numbers = vector(trained)
    X = [*WORDS, ["rain"], ["unheard", "of"]]
    for words, found, (least, margins) in zip(
        X, trained.predict_nbest(X, 500), trained.confidence(X), strict=True
    ):
        sentence = twin_sentence(numbers, words)
        order = reference.ranked(w, sentence, 3)
        assert len(found) == min(500, 3 ** len(words))
        assert [score for score, _ in found] == pytest.approx(
            [score for score, _ in order[:500]], abs=1e-4
        )
        best, second = order[0], order[1]
        assert least == pytest.approx(best[0] - second[0], abs=1e-4)
        for t, margin in enumerate(margins):
            rival = next(score for score, path in order if path[t] != best[1][t])
            assert margin == pytest.approx(best[0] - rival, abs=1e-4)
        assert least == pytest.approx(min(margins), abs=1e-6)


def test_confidence_is_infinite_without_an_alternative() -> None:
    one = SequenceTagger(TEMPLATES).fit([["a", "b"]], [["N", "N"]])
    assert one.confidence([["a", "b"], []]) == [(math.inf, [math.inf] * 2), (math.inf, [])]
    assert one.predict_nbest([["a", "b"]], 5)[0] == [(0.0, ["N", "N"])]
    forced = SequenceTagger(TEMPLATES, constraints={"required": {"A": ["B"], "B": ["A"]}})
    forced.fit([["a", "b"]], [["A", "B"]])
    sentence, tokens = forced.confidence([["a", "b"]])[0]
    assert math.isfinite(sentence)
    assert tokens == pytest.approx([sentence, sentence])
    bio = SequenceTagger(TEMPLATES, constraints="bio").fit([["a", "b"]], [["O", "O"]])
    assert bio.confidence([["a"]]) == [(math.inf, [math.inf])]


def test_fixed_labels(trained: SequenceTagger) -> None:
    fixed = [[None, "V", None, None], ["N", None, None, None, "V"], [None, None], [None] * 5]
    found = trained.predict(WORDS, fixed=fixed)
    assert found[0][1] == "V"
    assert (found[1][0], found[1][4]) == ("N", "V")
    assert found[2:] == TAGS[2:]
    w, numbers = vector(trained)
    index = {label: k for k, label in enumerate(trained.classes_)}
    for words, wish, labels in zip(WORDS, fixed, found, strict=True):
        wanted = [None if label is None else index[label] for label in wish]
        order = reference.ranked(w, twin_sentence(numbers, words), 3, fixed=wanted)
        assert [trained.classes_[k] for k in order[0][1]] == labels
    with pytest.raises(SeqpaError, match="'X' is unknown"):
        trained.predict(WORDS[:1], fixed=[["X", None, None, None]])
    with pytest.raises(SeqpaError, match="one entry"):
        trained.predict(WORDS[:1], fixed=[[None]])
    with pytest.raises(SeqpaError, match="one entry"):
        trained.predict(WORDS[:1], fixed=[])


def test_explanations_add_up(trained: SequenceTagger) -> None:
    states, transitions = weights(trained)
    words = WORDS[1]
    labels = trained.predict([words])[0]
    explained = trained.explain(words)
    margins = trained.confidence([words])[0][1]
    assert [e.token for e in explained] == words
    assert [e.label for e in explained] == labels
    assert [e.margin for e in explained] == pytest.approx(margins)
    for t, explanation in enumerate(explained):
        assert explanation.runner_up not in (None, explanation.label)
        differences = [abs(c.difference) for c in explanation.contributions]
        assert differences == sorted(differences, reverse=True)
        own = [c for c in explanation.contributions if not c.name.startswith("transition(")]
        for part in own:
            assert part.chosen == states.get((part.name, explanation.label), 0.0)
            assert part.runner_up == states.get((part.name, explanation.runner_up), 0.0)
        expected = {
            name
            for (name, label) in states
            if label in (explanation.label, explanation.runner_up)
            and name
            in (
                f"word[0]={words[t]}",
                f"word[-1]={words[t - 1] if t else '<-1>'}",
                f"suffix(2)[0]={words[t][-2:]}",
            )
        }
        assert {part.name for part in own} == expected
        assert explanation.label in str(explanation)
    # A one-token sentence has no neighbours: there the margin is the sum.
    (alone,) = trained.explain(["rain"])
    assert alone.margin == pytest.approx(sum(c.difference for c in alone.contributions), abs=1e-5)
    assert trained.explain([]) == []
    assert transitions


def test_explanations_name_pair_features() -> None:
    tagger = SequenceTagger(["word[0]", "pair:word[0]"], random_state=0).fit(WORDS, TAGS)
    names = {c.name for e in tagger.explain(WORDS[1]) for c in e.contributions}
    assert any("pair" in name or " on transition(" in name for name in names)


# Training on


@pytest.mark.parametrize("algorithm", ["perceptron", "pa", "pa-i", "pa-ii", "arow"])
@pytest.mark.parametrize("average", [False, True])
def test_partial_fit_is_one_pass_of_fit(algorithm: str, average: bool) -> None:
    parameters = {"features": TEMPLATES, "algorithm": algorithm, "average": average}
    whole = SequenceTagger(**parameters, shuffle=False, epochs=1).fit(WORDS, TAGS)
    at_once = SequenceTagger(**parameters).partial_fit(WORDS, TAGS)
    assert weights(whole) == weights(at_once)
    # In pieces, labels and features come one by one; the first piece has all labels here.
    pieces = SequenceTagger(**parameters)
    for i in range(len(WORDS)):
        pieces.partial_fit(WORDS[i : i + 1], TAGS[i : i + 1])
    assert weights(whole) == weights(pieces)


def test_partial_fit_learns_new_labels_without_forgetting() -> None:
    tagger = SequenceTagger(TEMPLATES, algorithm="pa", average=False)
    for _ in range(5):
        tagger.partial_fit(WORDS, TAGS)
    before = weights(tagger)
    assert tagger.predict(WORDS) == TAGS
    tagger.partial_fit(WORDS, TAGS)  # all right already: nothing moves
    assert weights(tagger) == before
    new = [["zounds", "!"], ["?", "1966", "x9"]]
    labels = [["UH", "."], [".", "CD", "B-SYM"]]
    for _ in range(5):
        tagger.partial_fit(new, labels)
    assert list(tagger.classes_) == ["D", "N", "V", ".", "B-SYM", "CD", "UH"]
    assert tagger.predict(new) == labels
    for (name, label), value in before[0].items():
        if name not in ("word[-1]=<-1>",) and not any(
            word in name for word in ("zounds", "!", "?")
        ):
            assert tagger.state_features_.get((name, label), 0.0) == value
    assert tagger.score(WORDS, TAGS) > 0.8
    many = [[f"word{k}"] for k in range(300)]
    before = weights(tagger)
    tagger.partial_fit(many, [[f"T{k}"] for k in range(300)])
    assert len(tagger.classes_) == 307
    for (name, label), value in before[0].items():
        if name != "word[-1]=<-1>":
            assert tagger.state_features_[name, label] == value
    assert tagger.transition_features_ == before[1]


def test_a_failing_cost_leaves_the_tagger_as_it_was() -> None:
    fail = False

    def cost(gold: list[str], predicted: list[str]) -> float:
        if fail and len(gold) > 1:
            raise ZeroDivisionError("the user's bug")
        return 1.0

    tagger = SequenceTagger(TEMPLATES, cost=cost).partial_fit(WORDS, TAGS)
    twin = SequenceTagger(TEMPLATES, cost=cost).partial_fit(WORDS, TAGS)
    before, classes, predictions = weights(tagger), list(tagger.classes_), tagger.predict(WORDS)
    fail = True
    with pytest.raises(ZeroDivisionError):
        tagger.partial_fit([["new"], ["words", "here"]], [["X"], ["Y", "Z"]])
    assert weights(tagger) == before
    assert list(tagger.classes_) == classes
    assert tagger.predict(WORDS) == predictions
    fail = False
    for each in (tagger, twin):
        each.partial_fit(WORDS[::-1], TAGS[::-1])
    assert weights(tagger) == weights(twin)


def test_a_failing_cost_in_the_first_partial_fit_leaves_nothing() -> None:
    def cost(gold: list[str], predicted: list[str]) -> float:
        raise ZeroDivisionError("the user's bug")

    tagger = SequenceTagger(TEMPLATES, cost=cost)
    with pytest.raises(ZeroDivisionError):
        tagger.partial_fit(WORDS, TAGS)
    with pytest.raises(SeqpaError, match="not trained"):
        tagger.predict(WORDS)


def test_bad_data_in_partial_fit_leaves_the_tagger_as_it_was() -> None:
    tagger = SequenceTagger().partial_fit([features(s) for s in WORDS], TAGS)
    before, classes = weights(tagger), list(tagger.classes_)
    for X, y in (
        ([[{"new": 1.0}, {"size": math.nan}]], [["N", "Q"]]),
        ([[{"new": 1.0}]], [["N", "Q"]]),
        ([[{"new": 1.0}]], [[3]]),
    ):
        with pytest.raises(SeqpaError):
            tagger.partial_fit(X, y)
    assert weights(tagger) == before
    assert list(tagger.classes_) == classes


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, "much"])
def test_a_cost_is_a_number_from_zero_on(value: Any) -> None:
    with pytest.raises((SeqpaError, ValueError)):
        SequenceTagger(TEMPLATES, cost=lambda gold, predicted: value).fit(WORDS, TAGS)


def test_warm_start_goes_on_and_cold_start_does_not() -> None:
    once = SequenceTagger(TEMPLATES, average=False, shuffle=False, epochs=1).fit(WORDS, TAGS)
    twice = SequenceTagger(TEMPLATES, average=False, shuffle=False, epochs=2).fit(WORDS, TAGS)
    assert weights(once) != weights(twice)
    once.fit(WORDS, TAGS)
    assert weights(once) != weights(twice)
    once.set_params(warm_start=True).fit(WORDS, TAGS)
    assert weights(once) == weights(twice)
    once.fit([["zounds"]], [["UH"]])
    assert list(once.classes_) == ["D", "N", "V", "UH"]


def test_a_warm_start_that_fails_leaves_a_tagger_that_tags() -> None:
    tagger = SequenceTagger(["word[0]"], constraints="bio", warm_start=True)
    tagger.fit([["a", "b"]], [["O", "B-x"]])
    before = tagger.predict([["a", "b"]])
    new = [f"new{k}" for k in range(20_000)]
    with pytest.raises(SeqpaError, match="breaks the constraints"):
        tagger.fit([new], [["I-x"] * len(new)])
    assert tagger.predict([["a", "b"]]) == before
    assert len(tagger.predict([new])[0]) == len(new)


def test_constraints_may_be_lifted_between_passes() -> None:
    strict = SequenceTagger(TEMPLATES, algorithm="pa", constraints={"forbidden": [["N", "N"]]})
    strict.partial_fit(WORDS, TAGS).set_params(constraints=None)
    free = SequenceTagger(TEMPLATES, algorithm="pa").partial_fit(WORDS, TAGS)
    for tagger in (strict, free):
        for _ in range(5):
            tagger.partial_fit([["rain", "dog"]], [["N", "N"]])
        assert tagger.predict([["rain", "dog"]]) == [["N", "N"]]
        assert max(map(abs, tagger.state_features_.values())) < 10


def test_what_partial_fit_cannot_change_it_refuses() -> None:
    tagger = SequenceTagger(TEMPLATES).partial_fit(WORDS, TAGS)
    before = weights(tagger)
    with pytest.raises(SeqpaError, match="arow"):
        tagger.set_params(algorithm="arow").partial_fit(WORDS, TAGS)
    assert weights(tagger) == before


def test_too_many_labels_for_features_on_pairs() -> None:
    X, y = [["a", "b"]], [["A", "B"]]
    many = [[f"word{k}"] for k in range(4100)]
    labels = [[f"T{k}"] for k in range(4100)]
    for tagger in (
        SequenceTagger(["word[0]", "pair:word[0]"]),
        SequenceTagger(["word[0]", "pair:word[0]"]).fit(X, y),
    ):
        with pytest.raises(SeqpaError, match="too many"):
            tagger.partial_fit(many, labels)
    assert len(tagger.predict([[f"word{k}" for k in range(4100)]])[0]) == 4100
    with pytest.raises(SeqpaError, match="too many"):
        tagger.fit(many, labels)


def test_training_yields_its_epochs_with_usable_weights() -> None:
    tagger = SequenceTagger(TEMPLATES, epochs=4, random_state=0)
    numbers = []
    for epoch in tagger.training(WORDS, TAGS):
        numbers.append(epoch.number)
        assert epoch.totals.sentences == len(WORDS)
        assert epoch.totals.tokens == sum(map(len, WORDS))
        assert epoch.best
        assert epoch.dev_score is None
        alone = SequenceTagger(TEMPLATES, epochs=epoch.number, random_state=0).fit(WORDS, TAGS)
        assert weights(tagger) == weights(alone)
    assert numbers == [1, 2, 3, 4]
    assert tagger.n_iter_ == 4


def noisy(rng: np.random.Generator, n: int) -> tuple[list[list[str]], list[list[str]]]:
    X = [[f"w{rng.integers(20)}" for _ in range(5)] for _ in range(n)]
    y = [
        ["A" if rng.random() < 0.3 else "BC"[int(word[1:]) % 2] for word in sentence]
        for sentence in X
    ]
    return X, y


@pytest.mark.parametrize("average", [False, True])
def test_the_best_epoch_on_dev_is_kept(average: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = noisy(rng, 60)
    dev = noisy(rng, 30)
    tagger = SequenceTagger(
        TEMPLATES, epochs=12, algorithm="perceptron", average=average, random_state=0
    )
    history = list(tagger.training(X, y, dev))
    scores = [epoch.dev_score for epoch in history]
    best = int(np.argmax(scores))
    assert len(history) == 12
    assert tagger.n_iter_ == best + 1
    assert [epoch.best for epoch in history][best + 1 :] == [False] * (11 - best)
    assert tagger.score(*dev) == pytest.approx(scores[best])
    alone = SequenceTagger(**tagger.get_params() | {"epochs": best + 1}).fit(X, y)
    assert weights(alone) == weights(tagger)
    patient = SequenceTagger(**tagger.get_params() | {"patience": 2})
    stopped = list(patient.training(X, y, Corpus.from_sentences(*dev)))
    assert [epoch.dev_score for epoch in stopped] == scores[: len(stopped)]
    assert len(stopped) == 12 or len(stopped) - patient.n_iter_ == 2


def test_dev_score_is_span_f1_for_bio_labels() -> None:
    X = [["a", "b", "c"]] * 4
    y = [["B-x", "I-x", "O"]] * 4
    dev = ([["a", "b", "c", "c"]], [["B-x", "O", "O", "O"]])
    epoch = list(SequenceTagger(TEMPLATES, random_state=0).training(X, y, dev))[-1]
    assert epoch.dev_score == 0.0  # three of four labels are right, but the span is wrong


# scikit-learn


def test_parameters_and_clone() -> None:
    sklearn_base = pytest.importorskip("sklearn.base")
    tagger = SequenceTagger(TEMPLATES, C=0.5, cost="span", constraints="bio", random_state=3)
    copy = sklearn_base.clone(tagger)
    assert copy.get_params() == tagger.get_params()
    assert copy is not tagger
    copy.set_params(C=2.0, epochs=3)
    assert (copy.C, copy.epochs, tagger.C) == (2.0, 3, 0.5)
    with pytest.raises(SeqpaError, match="'c'"):
        tagger.set_params(c=1.0)
    assert repr(SequenceTagger()) == "SequenceTagger()"
    assert repr(tagger).startswith("SequenceTagger(features=['word[0]'")
    assert "C=0.5" in repr(tagger)


@pytest.mark.parametrize("form", ["strings", "dicts"])
def test_cross_validation_and_grid_search(form: str) -> None:
    selection = pytest.importorskip("sklearn.model_selection")
    X, parameters = FORMS[form]
    tagger = SequenceTagger(random_state=0, epochs=2, **parameters)
    scores = selection.cross_val_score(tagger, X * 3, TAGS * 3, cv=3)
    assert scores.tolist() == [1.0, 1.0, 1.0]
    search = selection.GridSearchCV(
        tagger, {"C": [0.01, 1.0], "algorithm": ["pa-i", "perceptron"]}, cv=2
    ).fit(X * 2, TAGS * 2)
    assert search.best_score_ == 1.0
    assert search.predict(X) == TAGS


def test_the_sklearn_crfsuite_tutorial() -> None:
    """Its steps with the class name changed: extract, fit, predict, flat F1, look at weights."""
    metrics = pytest.importorskip("sklearn.metrics")

    def word2features(sent: Any, i: int) -> dict[str, Any]:
        word, postag = sent[i][0], sent[i][1]
        found = {
            "bias": 1.0,
            "word.lower()": word.lower(),
            "word[-3:]": word[-3:],
            "word.isupper()": word.isupper(),
            "word.istitle()": word.istitle(),
            "postag": postag,
        }
        if i > 0:
            found["-1:word.lower()"] = sent[i - 1][0].lower()
        else:
            found["BOS"] = True
        return found

    sents = [
        [
            ("Maria", "NP", "B-PER"),
            ("lives", "V", "O"),
            ("in", "P", "O"),
            ("Madrid", "NP", "B-LOC"),
        ],
        [
            ("The", "D", "O"),
            ("Bank", "NP", "B-ORG"),
            ("of", "P", "I-ORG"),
            ("Spain", "NP", "I-ORG"),
        ],
        [("Pedro", "NP", "B-PER"), ("visited", "V", "O"), ("Lima", "NP", "B-LOC")],
    ]
    X_train = [[word2features(s, i) for i in range(len(s))] for s in sents]
    y_train = [[label for _, _, label in s] for s in sents]
    crf = SequenceTagger(algorithm="pa-i", random_state=0)
    crf.fit(X_train, y_train)
    labels = list(crf.classes_)
    labels.remove("O")
    y_pred = crf.predict(X_train)
    flat_gold = [label for sentence in y_train for label in sentence]
    flat_pred = [label for sentence in y_pred for label in sentence]
    f1 = metrics.f1_score(flat_gold, flat_pred, average="weighted", labels=labels)
    assert f1 == pytest.approx(1.0)
    assert ("postag:NP", "O") in crf.state_features_
    assert all(isinstance(value, float) for value in crf.transition_features_.values())
    assert {label for pair in crf.transition_features_ for label in pair} <= {*labels, "O"}


def test_pickling_keeps_what_tagging_needs(trained: SequenceTagger) -> None:
    again = pickle.loads(pickle.dumps(trained))
    assert weights(again) == weights(trained)
    assert again.get_params() == trained.get_params()
    assert again.predict(WORDS) == trained.predict(WORDS)
    again.partial_fit(WORDS, TAGS)
    unfitted = pickle.loads(pickle.dumps(SequenceTagger(C=0.3)))
    assert unfitted.C == 0.3
    with pytest.raises(SeqpaError, match="not trained"):
        unfitted.predict(WORDS)
    fresh = SequenceTagger(TEMPLATES, random_state=0, epochs=3).fit(WORDS, TAGS)
    assert weights(pickle.loads(pickle.dumps(fresh))) == weights(trained)


@pytest.mark.parametrize("form", ["strings", "dicts", "pair templates"])
def test_many_threads_predict_as_one(form: str) -> None:
    tokens, parameters = FORMS[form]
    tagger = SequenceTagger(random_state=0, **parameters).fit(tokens, TAGS)
    with ThreadPoolExecutor(8) as pool:  # the first prediction freezes the weights
        found = list(pool.map(lambda _: tagger.predict(tokens * 50), range(16)))
    assert all(labels == TAGS * 50 for labels in found)
    assert tagger.set_params(n_jobs=4).predict(tokens * 50) == TAGS * 50


# Mistakes of the user


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


def test_wrong_questions_say_what_is_right(trained: SequenceTagger) -> None:
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


def test_names_of_labels_may_be_anything() -> None:
    labels = ["", " ", "naïve\n", "B-", "日本", "O" * 300]
    X = [[[f"w{k}"]] for k in range(len(labels))]
    y = [[label] for label in labels]
    tagger = SequenceTagger(algorithm="pa", epochs=5, random_state=0).fit(X, y)
    assert tagger.predict(X) == y
    assert sorted(tagger.classes_) == sorted(labels)
