"""Learning online: the same weights, labels and scores as by training and freezing, sentence by
sentence, and at the cost of the sentence."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from seqpa import SeqpaError, SequenceTagger
from seqpa.errors import NotTrainedError
from seqpa.sequence.bench import Bench
from seqpa.sequence.constraints import penalties
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.training import label_indices

WORDS = ["the", "dog", "saw", "rain", "a", "cut", "Ada", "won", "9", "of", "Lyon's"]
TEMPLATES = ["word[0]", "word[-1]|word[0]", "suffix(2)[0]", "shape[1]", "bias"]
PAIRS = [*TEMPLATES, "pair:suffix(1)[0]"]

sentences = st.lists(
    st.lists(
        st.tuples(st.sampled_from(WORDS), st.sampled_from(["A", "B", "C"])), min_size=1, max_size=6
    ),
    min_size=1,
    max_size=8,
)


def parted(data: list[list[tuple[str, str]]]) -> tuple[list[list[str]], list[list[str]]]:
    return [[w for w, _ in s] for s in data], [[y for _, y in s] for s in data]


def by_freezing(tagger: SequenceTagger, X: list[list[str]]) -> tuple[list[Any], list[str]]:
    """The twin: all weights frozen, then decoded feature by feature."""
    trained = tagger.trained_
    decoder = Decoder(trained.weights, penalties(tagger.constraints, trained.labels))
    encoded = trained.source.transform(X)
    best = [decoder.nbest(encoded, i, 3) for i in range(len(X))]
    return best, [trained.labels[k] for k in decoder.decode(encoded)]


def live(tagger: SequenceTagger, X: list[list[str]]) -> list[Any]:
    numbers = {label: k for k, label in enumerate(tagger.classes_)}
    return [
        [(score, [numbers[label] for label in labels]) for score, labels in found]
        for found in tagger.predict_nbest(X, 3)
    ]


@pytest.mark.pure
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("algorithm", ["pa-i", "arow"])
@pytest.mark.parametrize("templates", [TEMPLATES, PAIRS], ids=["single", "pairs"])
@hypothesis.given(data=sentences, asked=sentences)
def test_live_weights_are_the_frozen_ones(
    templates: list[str], algorithm: str, average: bool, data: Any, asked: Any
) -> None:
    X, y = parted(data)
    questions, _ = parted(asked)
    tagger = SequenceTagger(templates, algorithm=algorithm, average=average)
    for tokens, labels in zip(X, y, strict=True):
        tagger.learn_one(tokens, labels)
    found, labels = live(tagger, questions), tagger.predict(questions)
    assert (found, list(chain.from_iterable(labels))) == by_freezing(tagger, questions)  # all bits
    assert tagger.predict(questions) == [tagger.predict_one(tokens) for tokens in questions]


@pytest.mark.parametrize("update", ["prediction-based", "loss-augmented", "max-loss"])
@hypothesis.given(data=sentences, hidden=st.integers(0, 4), others=st.integers(0, 3))
def test_what_is_kept_from_lesson_to_lesson_changes_no_bit(
    update: str, data: Any, hidden: int, others: int
) -> None:
    # Labels that are not given, other rules and another C in between; replay; predictions.
    taggers = [SequenceTagger(PAIRS, update=update, random_state=0) for _ in range(2)]
    found = []
    for k, tagger in enumerate(taggers):
        lessons: list[Any] = []
        for i, (tokens, labels) in enumerate(zip(*parted(data), strict=True)):
            given = [None if i and (i + t) % 5 == hidden else y for t, y in enumerate(labels)]
            known = set(tagger.classes_) if i else set()
            if i % 4 == others and not {"A", "B"} <= set(labels) and {"A", "B"} <= known:
                tagger.set_params(constraints={"forbidden": [("A", "B")]}, C=0.1)
            else:
                tagger.set_params(constraints=None, C=0.02)
            if k and i:
                tagger.training_state_.bench = Bench()
            lessons.append(tagger.learn_one(tokens, given, replay=0 if tagger.constraints else 1))
            lessons.append(tagger.predict_one(tokens))
        found.append(lessons)
    assert found[0] == found[1]
    ours, theirs = (tagger.training_state_.weights.to_arrays() for tagger in taggers)
    for name, array in ours.items():
        assert np.array_equal(array, theirs[name]), name


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("update", ["prediction-based", "n-best"])
def test_one_by_one_it_is_one_epoch_of_fit(update: str, average: bool) -> None:
    rng = np.random.default_rng(0)
    X = [[WORDS[k] for k in rng.integers(0, len(WORDS), n)] for n in rng.integers(1, 9, 60)]
    y = [["ABC"[(len(w) + i) % 3] for i, w in enumerate(s)] for s in X]
    first = [[label] for label in "ABC"]  # so that both number the labels alike
    X, y = [["a"], ["a"], ["a"], *X], [*first, *y]
    fitted = SequenceTagger(TEMPLATES, epochs=1, shuffle=False, average=average, update=update)
    fitted.fit(X, y)
    taught = SequenceTagger(TEMPLATES, average=average, update=update)
    lessons = [taught.learn_one(*both) for both in zip(X, y, strict=True)]
    # With more labels from the start the very first sentences are guessed from more.
    assert fitted.classes_ == taught.classes_
    together = SequenceTagger(TEMPLATES, average=average, update=update).partial_fit(X, y)
    assert fitted.state_features_ == pytest.approx(together.state_features_)
    assert fitted.transition_features_ == pytest.approx(together.transition_features_)
    assert sum(lesson.wrong_tokens > 0 for lesson in lessons) == taught.online_mistakes_
    assert sum(lesson.cost for lesson in lessons) == pytest.approx(taught.online_cost_)
    assert sum(lesson.loss for lesson in lessons) == pytest.approx(taught.online_loss_)
    assert sum(x.loss**2 for x in lessons) == pytest.approx(taught.online_squared_loss_)
    assert together.online_mistakes_ == fitted.online_mistakes_


def test_a_lesson_tells_what_happened() -> None:
    tagger = SequenceTagger(["word[0]"], algorithm="pa", average=False)
    first = tagger.learn_one(["so", "it", "is"], ["A", "P", "V"])
    assert first.predicted == ["A", "A", "A"]  # all weights are zero: the first label
    assert (first.wrong_tokens, first.cost) == (2, 2.0)
    assert first.loss == pytest.approx(2**0.5)
    # ‖δ‖²: two features for two labels each; the transitions A-P, P-V, and twice A-A.
    assert first.tau == pytest.approx(2**0.5 / (4 + 1 + 1 + 4))
    again = tagger.learn_one(["so", "it", "is"], ["A", "P", "V"])
    assert (again.predicted, again.cost, again.loss, again.tau) == (["A", "P", "V"], 0, 0, 0)
    assert tagger.learn_one([], []).predicted == []


def test_new_labels_and_words_come_at_any_time() -> None:
    tagger = SequenceTagger(TEMPLATES, average=False)
    for k in range(40):  # past the width at which rows are laid out anew
        word, label = f"w{k}", f"L{k}"
        tagger.learn_one([word], [label])
        tagger.learn_one([word, word], [label, label])
        assert tagger.predict_one([word]) == [label]
    assert len(tagger.classes_) == 40


def test_what_was_taken_stays_as_it_was() -> None:
    tagger = SequenceTagger(TEMPLATES, average=False).fit([["a", "dog"]], [["D", "N"]])
    loaded = pickle.loads(pickle.dumps(tagger))
    taken = tagger.trained_
    names, tags = taken.source.encoder.feature_names(), taken.tagging.predict([["a", "cat"]])
    for one in (tagger, loaded):
        for _ in range(3):
            one.learn_one(["a", "cat", "sat"], ["D", "X", "V"])
        assert one.predict_one(["a", "cat", "sat"]) == ["D", "X", "V"]
    assert taken.source.encoder.feature_names() == names
    assert taken.tagging.predict([["a", "cat"]]) == tags
    again = copy.deepcopy(tagger)
    assert again.predict([["a", "cat", "sat"]]) == [["D", "X", "V"]]
    with pytest.raises(NotTrainedError):
        _ = again.online_mistakes_


def test_explanations_confidence_and_fixed_labels_are_live() -> None:
    tagger = SequenceTagger(PAIRS, average=False)
    for _ in range(4):
        tagger.learn_one(["a", "dog", "saw"], ["D", "N", "V"])
    frozen = pickle.loads(pickle.dumps(tagger))
    tokens = ["a", "dog"]
    ours, theirs = tagger.explain(tokens), frozen.explain(tokens)
    assert [(t.label, t.runner_up) for t in ours] == [(t.label, t.runner_up) for t in theirs]
    for a, b in zip(ours, theirs, strict=True):
        assert a.margin == pytest.approx(b.margin, rel=1e-5)
        assert {c.name: c.difference for c in a.contributions} == pytest.approx(
            {c.name: c.difference for c in b.contributions}
        )
    assert tagger.confidence([tokens])[0][1] == pytest.approx(frozen.confidence([tokens])[0][1])
    assert tagger.predict([tokens], [["V", None]]) == frozen.predict([tokens], [["V", None]])
    tagger.set_params(constraints={"forbidden": [["D", "N"]]})
    assert tagger.predict_one(tokens) != ["D", "N"]


def test_states_go_on_online(tmp_path: Any) -> None:
    tagger = SequenceTagger(TEMPLATES)
    tagger.learn_one(["a", "dog"], ["D", "N"])
    tagger.save_state(tmp_path / "state")
    again = SequenceTagger(TEMPLATES).load_state(tmp_path / "state")
    for one in (tagger, again):
        one.learn_one(["a", "cat", "sat"], ["D", "N", "V"])
    assert again.state_features_ == tagger.state_features_
    assert again.online_cost_ == tagger.online_cost_


@pytest.mark.pure
def test_the_mean_is_exact_after_a_thousand_million_sentences() -> None:
    # A busy weight: many small steps, late in a very long training.
    tagger = SequenceTagger(["bias"], average=True, C=1e-3)
    tagger.learn_one(["a", "a"], ["A", "B"])
    weights = tagger.training_state_.weights
    weights.clock = T = 1e9
    path: list[np.ndarray] = []
    for k in range(2000):
        labels = ["A", "B"] if k % 3 else ["B", "A"]
        path.append(weights.freeze(False).transitions.astype(np.float64))
        tagger.learn_one(["a", "a"], labels)
    start = path[0]
    # The mean of all vectors: those before are the first of these, a thousand million times.
    first = weights.freeze(False).transitions.astype(np.float64)
    sums = weights.transition_sums[:2, :2]
    exact = start * T + sum(path[1:], np.zeros((2, 2))) + first
    recorded = first - sums / weights.clock
    assert np.abs(recorded - exact / weights.clock).max() < 1e-9


def test_bad_lessons_change_nothing() -> None:
    tagger = SequenceTagger(TEMPLATES, average=False)
    with pytest.raises(NotTrainedError):
        tagger.predict_one(["a"])
    with pytest.raises(SeqpaError):
        tagger.learn_one(["a"], ["A", "B"])
    with pytest.raises(SeqpaError):
        tagger.learn_one([3], ["A"])
    assert not tagger.__sklearn_is_fitted__()
    tagger.learn_one(["a", "dog"], ["D", "N"])
    before = live(tagger, [["a", "dog"]])
    for tokens, labels in ((["a"], [0.5]), ([b"a"], ["D"]), (["a", "b"], ["D"]), ("ab", ["D"])):
        with pytest.raises(SeqpaError):
            tagger.learn_one(tokens, labels)
    assert live(tagger, [["a", "dog"]]) == before
    assert label_indices(["D"], tagger.classes_).tolist() == [0]


@pytest.mark.parametrize("extra", [[], ["pair:suffix(1)[0]"], ["elsewhere(lower, -1)"], ["tags"]])
@hypothesis.given(data=sentences, long=st.integers(1, 9))
def test_one_sentence_is_tagged_as_it_is_among_others(
    extra: list[str], data: Any, long: int
) -> None:
    # A single sentence has buffers of its own, which must see all that was learned in between.
    tagger = SequenceTagger([*TEMPLATES, *extra], average=False, C=1.0)
    for tokens, labels in zip(*parted(data), strict=True):
        tagger.learn_one(tokens, labels)
        for asked in (tokens, [], [*tokens, "new"] * long):
            assert tagger.predict_one(asked) == tagger.predict([asked, ["a"]])[0]
    for wrong in ("ab", [b"a"], [("a", "b")], ["a", 3], [{"a": 1}]):
        told = []
        for X in ([wrong], [wrong, ["a"]]):
            with pytest.raises(SeqpaError) as error:
                tagger.predict(X)
            told.append(str(error.value))
        assert told[0] == told[1]


def given(tokens: list[str]) -> list[Any]:
    """Words as features in every form; some have values, and some are read slowly."""
    forms: list[Any] = []
    for i, word in enumerate(tokens):
        entries = {"w": word, "at": i / 4, "next:": tokens[i + 1 :][:1]}
        forms.append([f"w:{word}", "bias"] if len(word) < 4 else entries)
    return forms


@hypothesis.given(data=sentences, long=st.integers(1, 9))
def test_one_sentence_of_features_is_tagged_as_it_is_among_others(data: Any, long: int) -> None:
    taggers = [SequenceTagger(None, C=1.0), SequenceTagger(given, C=1.0, average=False)]
    for tagger, form in zip(taggers, (given, list), strict=True):
        for tokens, labels in zip(*parted(data), strict=True):
            tagger.learn_one(form(tokens), labels)
            for frozen in (False, True):
                asks = pickle.loads(pickle.dumps(tagger)) if frozen and form is given else tagger
                for asked in (tokens, [], [*tokens, "new"] * long, ["a"]):
                    X = form(asked)
                    assert asks.predict_one(X) == asks.predict([X, form(["a"])])[0]
    with pytest.raises(SeqpaError, match="sentence 1, token 2"):
        taggers[0].predict_one([["a"], [1.5]])


def test_a_token_may_tag_while_it_is_read() -> None:
    tagger = SequenceTagger(None, C=1.0, average=False)
    for _ in range(3):
        tagger.learn_one([["a"], ["b"], ["c"]], ["A", "B", "C"])

    class Curious(dict[str, Any]):
        def items(self) -> Any:
            assert asks.predict_one([["c"], ["b"]]) == ["C", "B"]
            return super().items()

    for asks in (tagger, pickle.loads(pickle.dumps(tagger))):
        for _ in range(2):
            assert asks.predict_one([["a"], Curious(b=1), ["c"]]) == ["A", "B", "C"]


def test_readers_beside_a_learner_see_whole_updates() -> None:
    rng = np.random.default_rng(1)
    X = [[WORDS[k] for k in rng.integers(0, len(WORDS), n)] for n in rng.integers(1, 9, 300)]
    y = [["ABCD"[rng.integers(2 + i // 100)] for _ in s] for i, s in enumerate(X)]
    asked = [WORDS, X[7], [*WORDS[::-1], "new"]]

    def learn(see: Any = None) -> None:
        tagger = taggers[-1]
        for tokens, labels in zip(X[1:], y[1:], strict=True):
            tagger.learn_one(tokens, labels)
            if see is not None:
                see(tagger)

    def read(tokens: list[str]) -> set[tuple[str, ...]]:
        found = {tuple(taggers[-1].predict_one(tokens))}
        while not learning.done():
            found.add(tuple(taggers[-1].predict_one(tokens)))
        return found

    allowed: list[set[tuple[str, ...]]] = [set() for _ in asked]

    def note(tagger: SequenceTagger) -> None:
        for own, tokens in zip(allowed, asked, strict=True):
            own.add(tuple(tagger.predict_one(tokens)))

    taggers = []
    for _ in range(2):
        taggers.append(SequenceTagger(PAIRS, average=False, C=1.0))
        taggers[-1].learn_one(X[0], y[0])
        if len(taggers) == 1:
            note(taggers[0])
            learn(note)
    with ThreadPoolExecutor(4) as pool:
        learning = pool.submit(learn)
        for own, found in zip(allowed, pool.map(read, asked), strict=True):
            assert found <= own
