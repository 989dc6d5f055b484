"""SequenceTagger as its users meet it: every kind of token, tagging, looking inside."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sequence_reference as reference
from sequence_cases import TAGS, TEMPLATES, WORDS, features, weights

from seqpa import SequenceTagger
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError

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


def test_labels_in_arrays_are_plain_strings() -> None:
    tagger = SequenceTagger(TEMPLATES, random_state=0)
    tagger.fit([np.array(words) for words in WORDS], [np.array(tags) for tags in TAGS])
    assert {type(label) for label in tagger.classes_} == {str}
    assert tagger.predict([np.array(words) for words in WORDS]) == TAGS


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


@pytest.mark.parametrize("constraints", [None, {"forbidden": [["D", "V"]]}])
@pytest.mark.parametrize("templates", [TEMPLATES, [*TEMPLATES, "pair:word[0]", "pair:bias"]])
def test_the_neighbours_of_a_runner_up_are_those_of_its_sequence(
    templates: list[str], constraints: Any
) -> None:
    """The slow way: decode once more with the runner-up fixed."""
    rng = np.random.default_rng(5)
    tagger = SequenceTagger(templates, constraints=constraints, random_state=1, epochs=3)
    tagger.fit(WORDS, TAGS)
    words = sorted({word for sentence in WORDS for word in sentence})
    seen = 0
    for _ in range(20):
        sentence = rng.choice(words, rng.integers(2, 9)).tolist()
        best = tagger.predict([sentence])[0]
        for t, told in enumerate(tagger.explain(sentence)):
            fixed: list[str | None] = [None] * len(sentence)
            fixed[t] = told.runner_up
            rival = tagger.predict([sentence], fixed=[fixed])[0]
            expected = {
                f"transition({best[i - 1]} -> {best[i]} or {rival[i - 1]} -> {rival[i]})"
                for i in (t, t + 1)
                if 0 < i < len(sentence)
            }
            names = {part.name for part in told.contributions if " on " not in part.name}
            assert {name for name in names if name.startswith("transition(")} == expected
            seen += len(expected)
    assert seen > 100


def test_explanations_name_pair_features() -> None:
    tagger = SequenceTagger(["word[0]", "pair:word[0]"], random_state=0).fit(WORDS, TAGS)
    names = {c.name for e in tagger.explain(WORDS[1]) for c in e.contributions}
    assert any("pair" in name or " on transition(" in name for name in names)


# scikit-learn


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    tagger = SequenceTagger(
        TEMPLATES,
        C=np.float32(0.5),
        epochs=np.int32(3),
        cutoff=np.int64(2),
        average=np.bool_(True),
        random_state=np.int64(1),
    ).fit(WORDS, TAGS)
    tagger.save(tmp_path / "model")
    assert SequenceTagger.load(tmp_path / "model").predict(WORDS) == tagger.predict(WORDS)


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


@pytest.mark.parametrize("form", ["strings", "tuples", "dicts", "pair templates"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_runs_of_sentences_make_no_difference(
    form: str, n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens, parameters = FORMS[form]
    X = [*tokens, [], *tokens[::-1], []]
    fixed = [[None] * len(sentence) for sentence in X]
    fixed[-2] = [TAGS[0][0]] * len(X[-2])
    answers = []
    for size in (10**6, 1, 2, 5, 9):
        monkeypatch.setattr("seqpa.sequence.tagging._RUN", size)
        tagger = SequenceTagger(random_state=0, epochs=1, n_jobs=n_jobs, **parameters)
        tagger.fit(tokens, TAGS)
        answers.append((tagger.predict(X), tagger.predict(X, fixed)))
        assert tagger.predict([]) == []
        assert tagger.predict([[], []]) == [[], []]
    assert answers == answers[:1] * 5


def test_an_error_in_a_later_run_names_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqpa.sequence.tagging._RUN", 2)
    rules = {"forbidden": [("A", "B")]}
    tagger = SequenceTagger(["word[0]"], constraints=rules).fit([["a"], ["b"]], [["A"], ["B"]])
    X = [["a"], ["b", "a"], ["a", "b"]]
    with pytest.raises(SeqpaError, match="sentence 3: no label sequence"):
        tagger.predict(X, [[None], [None, None], ["A", "B"]])
    with pytest.raises(SeqpaError, match="sentence 3, token 2, column 'word'"):
        tagger.predict([["a"], ["b", "a"], ["a", 5]])


def test_names_of_labels_may_be_anything() -> None:
    labels = ["", " ", "naïve", "B-", "日本", "O" * 300]
    X = [[[f"w{k}"]] for k in range(len(labels))]
    y = [[label] for label in labels]
    tagger = SequenceTagger(algorithm="pa", epochs=5, random_state=0).fit(X, y)
    assert tagger.predict(X) == y
    assert sorted(tagger.classes_) == sorted(labels)
    for label in ("naïve\n", "\x1b[2J", "\x9b2J"):  # but terminals and files obey these
        with pytest.raises(SeqpaError, match="control character"):
            tagger.partial_fit([[["w"]]], [[label]])


def test_constraints_set_after_training_take_effect() -> None:
    X = [["a", "b"]]
    tagger = SequenceTagger(["word[0]"]).fit(X, [["A", "B"]])
    assert tagger.predict(X) == [["A", "B"]]
    tagger.set_params(constraints={"forbidden": [["A", "B"]]})
    assert tagger.predict(X)[0] != ["A", "B"]
