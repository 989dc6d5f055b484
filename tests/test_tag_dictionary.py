"""The attributes `tags` and `besttag`: against a naive twin, without leaks, in files and online."""

from __future__ import annotations

import copy
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa import SequenceTagger
from seqpa.errors import SeqpaError
from seqpa.sequence.encode import FeatureEncoder
from seqpa.sequence.folds import contiguous_folds
from seqpa.sequence.tag_dictionary import BLOCKS, UNKNOWN, TagDictionary, steady, told

pytestmark = pytest.mark.pure

WORDS = ["Rain", "rain", "RAIN", "dog", "Dog", "it", "İt", "ß"]
LABELS = ["N", "V", "B-x y", None]
sentences = st.lists(
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(LABELS)), max_size=5), max_size=14
)


counts_of_words = st.dictionaries(
    st.sampled_from("NVAP"), st.integers(1, 60) | st.integers(1, 3000), min_size=1
)


@given(counts_of_words, st.data())
def test_steady_words_keep_their_values(counts, data):
    """So many tokens more, whatever labels of the word they have, change nothing."""
    n = data.draw(st.integers(0, min(steady(counts), 200)))
    later = Counter(counts)
    later.update(
        data.draw(st.lists(st.sampled_from(sorted(counts)), min_size=n, max_size=n), "labels")
    )
    assert told(later) == told(counts)


def naive(seen, word):
    """The two values, from the list of all (word, label) that may be looked at."""
    counts = Counter(
        label for other, label in seen if other.lower() == word.lower() and label is not None
    )
    if not counts:
        return UNKNOWN, UNKNOWN
    total = sum(counts.values())
    tags = " ".join(sorted(k for k, n in counts.items() if n >= max(1, 0.02 * total)))
    n = max(counts.values())
    best = min(k for k in counts if counts[k] == n)
    purity = "all" if n == total else "most" if n / total > 0.8 else "some"
    bucket = "1" if n == 1 else "2-4" if n <= 4 else "5-19" if n <= 19 else "20+"
    return tags, f"{best} {purity} {bucket}"


def flat(corpus):
    tokens = [token for sentence in corpus for token in sentence]
    starts = np.cumsum([0, *map(len, corpus)])
    return [w for w, _ in tokens], [label for _, label in tokens], starts


@given(sentences, sentences)
def test_training_sees_what_other_blocks_and_earlier_sentences_say(earlier, corpus):
    known = TagDictionary()
    known.add(*flat(earlier)[:2])
    words, labels, starts = flat(corpus)
    known.add(words, labels)
    values, which = known.jackknifed(words, labels, starts)
    found = [values[k] for k in which]
    expected = []
    before = [token for sentence in earlier for token in sentence]
    for block in contiguous_folds(len(corpus), BLOCKS):
        others = [t for s, sent in enumerate(corpus) if s not in block for t in sent]
        expected += [naive(before + others, w) for s in block for w, _ in corpus[s]]
    assert found == expected


@given(st.integers(0, 2**32), st.integers(1, 90))
def test_many_tokens_are_counted_as_one_by_one(seed, n_labels):
    """By arrays or token by token: the same counts in the same order, the same values."""
    draw = random.Random(seed)
    names = [f"L{k}" for k in range(n_labels)] + [None] * draw.randint(0, 2)
    tokens = [(draw.choice(WORDS), draw.choice(names)) for _ in range(600)]
    words, labels = map(list, zip(*tokens, strict=True))
    at_once, one_by_one = TagDictionary(), TagDictionary()
    for dictionary in at_once, one_by_one:
        dictionary.add(["dog", "İt"], ["L0", "L1"])
    changed = set(at_once.add(words, labels))
    before = {word: one_by_one.entry(word.lower()) for word in WORDS}
    for word, label in tokens:
        one_by_one.add([word], [label])
    told_of = [
        [(word, list(counts.items())) for word, counts in dictionary.counts.items()]
        for dictionary in (at_once, one_by_one)
    ]
    assert told_of[0] == told_of[1]
    assert {word.lower() for word in WORDS if before[word] != naive_of(at_once, word)} == changed
    starts = np.arange(0, 601, 3)
    values, which = at_once.jackknifed(words, labels, starts)
    again, which_again = one_by_one.jackknifed(words, labels, starts)
    assert [values[k] for k in which] == [again[k] for k in which_again]


def naive_of(dictionary, word):
    counts = dictionary.counts_of(word.lower())
    return naive([(word, label) for label, n in counts.items() for _ in range(n)], word)


@given(sentences, sentences)
def test_online_a_sentence_sees_what_came_before_it(earlier, corpus):
    known = TagDictionary()
    known.add(*flat(earlier)[:2])
    values, which = known.progressive(*flat(corpus))
    before = [token for sentence in earlier for token in sentence]
    expected = []
    for sentence in corpus:
        expected += [naive(before, word) for word, _ in sentence]
        before += sentence
    assert [values[k] for k in which] == expected


@given(sentences)
def test_tagging_sees_all_and_files_keep_it(corpus):
    words, labels, _ = flat(corpus)
    known = TagDictionary()
    known.add(words, labels)
    again = TagDictionary()
    again.fill(known.to_arrays("d"), "d")
    assert again.counts == known.counts
    seen = list(zip(words, labels, strict=True))
    for dictionary in (known, again):
        for which in (0, 1):
            found = dictionary.values(which, WORDS)
            assert found == [naive(seen, word)[which] for word in WORDS]


def test_the_edges_of_two_per_cent_and_of_purity():
    assert told({"N": 49, "V": 1})[0] == "N V"
    assert told({"N": 50, "V": 1})[0] == "N"
    assert told({"N": 4, "V": 1})[1] == "N some 2-4"
    assert told({"N": 5, "V": 1})[1] == "N most 5-19"
    assert told({"B": 2, "A": 2})[1] == "A some 2-4"


def noise(seed, n):
    """Sentences of rare words whose labels are drawn at random."""
    draw = random.Random(seed)
    X = [[f"w{draw.randrange(4 * n)}" for _ in range(8)] for _ in range(n)]
    return X, [[draw.choice("AB") for _ in sentence] for sentence in X]


def test_labels_that_are_noise_stay_at_chance():
    """Each label is in the dictionary; if a token saw its own, learning would show it."""
    X, y = noise(1, 400)
    tagger = SequenceTagger(["tags[0]", "besttag[0]"], random_state=1, shuffle=False)
    first = next(iter(tagger.training(X, y)))
    n_tokens = sum(map(len, X))
    assert 0.45 < first.wrong_tokens / n_tokens < 0.55
    tagger.fit(X, y)
    assert tagger.score(*noise(2, 400)) == pytest.approx(0.5, abs=0.05)
    # Where a token does see itself the noise is learned at once: the test can fail.
    encoder = FeatureEncoder(["tags[0]"])
    words, labels = [w for s in X for w in s], [k for s in y for k in s]
    encoder.fit_transform([words], [len(words)], labels)
    leak = SequenceTagger(["word[0]"], columns=("word",), random_state=1)
    told_all = encoder._words[0].dictionary.values(0, words)
    pieces = [told_all[i : i + 8] for i in range(0, len(words), 8)]
    assert leak.fit(pieces, y).score(pieces, y) > 0.65


CORPUS = [["The", "dog", "saw", "rain"], ["a", "Saw", "cut", "the", "rain"]] * 6
TAGS = [["D", "N", "V", "N"], ["D", "N", "V", "D", "N"]] * 6
TEMPLATES = ["word[0]", "tags[0]", "besttag[-1]|tags[0]", "besttag[2]", "suffix(2)[0]", "bias"]


def test_a_model_file_tags_with_the_same_scores(tmp_path):
    tagger = SequenceTagger(TEMPLATES, random_state=1).fit(CORPUS, TAGS)
    tagger.save(tmp_path / "m.safetensors")
    loaded = SequenceTagger.load(tmp_path / "m.safetensors")
    unseen = [["RAIN", "saw", "THE", "cats"], ["DOG"]]
    for X in (CORPUS, unseen):
        assert loaded.predict_nbest(X, 3) == tagger.predict_nbest(X, 3)
        assert loaded.confidence(X) == tagger.confidence(X)
    assert copy.deepcopy(tagger).predict_nbest(unseen, 3) == tagger.predict_nbest(unseen, 3)
    told_first = str(loaded.explain(["RAIN", "saw"])[0])
    assert "tags[0]=N" in told_first


def test_training_goes_on_from_a_state_to_the_same_bits(tmp_path):
    whole = SequenceTagger(TEMPLATES, random_state=1, epochs=4).fit(CORPUS, TAGS)
    half = SequenceTagger(TEMPLATES, random_state=1, epochs=4)
    for epoch in half.training(CORPUS, TAGS):
        if epoch.number == 2:
            half.save_state(tmp_path / "s")
            break
    resumed = SequenceTagger(TEMPLATES, random_state=1, epochs=4).load_state(tmp_path / "s")
    resumed.fit(CORPUS, TAGS)
    assert resumed.state_features_ == whole.state_features_


@pytest.mark.parametrize("columns", [("word",), ("word", "pos")])
def test_the_dictionary_grows_online(columns):
    """Sentence by sentence, in one call, and from a copy: the same weights and predictions."""
    templates = [*TEMPLATES, *(["tags(pos)[0]", "suffix(1, pos)[0]"] if len(columns) > 1 else [])]

    def given_as(X):
        return X if len(columns) == 1 else [[(w, w[-2:]) for w in s] for s in X]

    X = given_as(CORPUS)
    one_by_one = SequenceTagger(templates, columns, average=False)
    for tokens, labels in zip(X, TAGS, strict=True):
        one_by_one.learn_one(tokens, labels)
        one_by_one.predict_one(tokens)
    at_once = SequenceTagger(templates, columns, average=False).partial_fit(X, TAGS)
    assert one_by_one.state_features_ == at_once.state_features_
    unseen = given_as([["RAIN", "saw", "THE", "cats"], ["DOG"]])
    # Tagging while learning, frozen, and from a copy that has been through arrays.
    live = at_once.predict_nbest(unseen, 1)
    again = copy.deepcopy(at_once)
    for best, frozen in zip(live, again.predict_nbest(unseen, 1), strict=True):
        assert frozen[0][0] == pytest.approx(best[0][0])
    assert encoded(at_once._learned.training.source, unseen) == encoded(
        again.trained_.source, unseen
    )
    again.partial_fit(X, TAGS)


def encoded(source, X):
    """The features of all tokens by name."""
    numbers = source.transform(X)
    return [source.encoder.feature_name(f) for f in numbers.features.tolist()]


def test_labels_are_needed():
    with pytest.raises(SeqpaError, match="labels are needed"):
        FeatureEncoder(["tags[0]"]).fit_transform([["a"]], [1])


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("sizes", lambda a: a * 0, "without labels"),
        ("sizes", lambda a: a[:-1], "different lengths"),
        ("which", lambda a: a + 100, "label that is not there"),
        ("counts", lambda a: -a, "a count that is none"),
        ("counts", lambda a: a[:-1], "different lengths"),
        ("which", lambda a: a.astype(np.int64), "int64"),
    ],
)
def test_a_damaged_dictionary_is_refused(name, change, words):
    known = TagDictionary()
    known.add(["a", "a", "b"], ["N", "V", "N"])
    arrays = known.to_arrays("d")
    arrays[f"d.{name}"] = change(arrays[f"d.{name}"])
    with pytest.raises(SeqpaError, match=words):
        TagDictionary().fill(arrays, "d")
    twice = known.to_arrays("d")
    twice["d.which"] = np.zeros_like(twice["d.which"])
    with pytest.raises(SeqpaError, match="same label twice"):
        TagDictionary().fill(twice, "d")
