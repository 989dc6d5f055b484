"""Two stages: what the second sees of the first against a naive twin; files, states, refusals."""

from __future__ import annotations

import copy
import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from names_in_context import text

from seqpa import SequenceTagger
from seqpa.cli import main
from seqpa.data import read
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError
from seqpa.schemes import spans
from seqpa.sequence import elsewhere, stages, votes
from seqpa.sequence.folds import contiguous_folds
from seqpa.sequence.stages import FOLDS
from seqpa.sequence.streams import in_context

WORDS = ["Ada", "Lee", "ada", "won"]
LABELS = ["B-P", "I-P", "B-L", "O"]
drawn = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.sampled_from(WORDS), st.sampled_from(LABELS)), min_size=1, max_size=6
        ),
        st.sampled_from([0, 0, 1]),
    ),
    min_size=1,
    max_size=6,
)


def naive(sentences, documents, with_spans, window):
    """The columns, straight from the definition."""
    words = [w for s in sentences for w, _ in s]
    labels = [label for s in sentences for _, label in s]
    runs = np.cumsum([0, *(a != b for a, b in pairwise(documents))])
    doc = [runs[s] for s, sentence in enumerate(sentences) for _ in sentence]

    def told(types):
        if not types:
            return votes.NONE, votes.NONE
        counts = Counter(types)
        n = max(counts.values())
        best = min(k for k in counts if counts[k] == n)
        purity = "all" if n == len(types) else "most" if n / len(types) > 0.8 else "some"
        return best, f"{best} {purity} {min(3, len(types))}"

    def kind(label):
        return label[2:] if with_spans and label != "O" else label

    found, low = [], 0
    for sentence in sentences:
        own = spans([label for _, label in sentence]) if with_spans else []
        found += [(t, low + a, low + b) for t, a, b in own]
        low += len(sentence)

    def near(i, j):
        return doc[i] == doc[j] and abs(i - j) <= window

    def contains(other, part):
        a, b = other
        n = len(part)
        return sum(words[k : k + n] == part for k in range(a, b - n + 1))

    rows = []
    for i, (word, label) in enumerate(zip(words, labels, strict=True)):
        of_word = [
            kind(labels[j])
            for j in range(len(words))
            if j != i and words[j].lower() == word.lower() and near(i, j)
        ]
        span = next(((t, a, b) for t, a, b in found if a <= i < b), None)
        same, longer = [], []
        if span is not None:
            own = words[span[1] : span[2]]
            for other in found:
                if other != span and near(span[1], other[1]):
                    same += [other[0]] * (words[other[1] : other[2]] == own)
                    if other[2] - other[1] > len(own):
                        longer += [other[0]] * contains(other[1:], own)
        else:
            for other in found:
                if near(i, other[1]):
                    longer += [other[0]] * contains(other[1:], [word])
        rows.append((label, *told(of_word), *told(same), *told(longer)))
    return [list(column) for column in zip(*rows, strict=True)]


@pytest.mark.pure
@settings(max_examples=150)
@given(drawn, st.booleans(), st.sampled_from([1, 3, 1000]))
def test_the_second_stage_sees_what_the_definition_says(corpus, with_spans, window):
    sentences, documents = [s for s, _ in corpus], np.array([d for _, d in corpus])
    words = [w for s in sentences for w, _ in s]
    labels = [label for s in sentences for _, label in s]
    starts = np.cumsum([0, *map(len, sentences)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(votes, "WINDOW", window)
        found = votes.columns(words, labels, starts, documents, with_spans)
    assert found == naive(sentences, documents.tolist(), with_spans, window)


TEMPLATES = ["word[0]", "word[-1]", "shortshape[0]", "tags[0]"]


@pytest.fixture(scope="module")
def tagger():
    return SequenceTagger(TEMPLATES, random_state=1, epochs=3, stages=2).fit(*text(1, 600, 0.6))


def test_it_helps_where_only_the_context_tells(tagger):
    X, y = text(2, 600, 0.6)
    one = SequenceTagger(TEMPLATES, random_state=1, epochs=3).fit(*text(1, 600, 0.6))
    assert tagger.score(X, y) > one.score(X, y) + 0.03
    assert tagger.reach_ == 1000


def test_the_first_stage_tags_what_it_has_not_learned(tagger):
    """The labels that training saw come from five folds; those of tagging from all sentences."""
    X, y = text(1, 600, 0.6)
    first = tagger._learned.training.source.first
    expected = []
    for fold in contiguous_folds(len(X), FOLDS):
        rest = [i for i in range(len(X)) if i not in fold]
        one = SequenceTagger(TEMPLATES, random_state=1, epochs=3)
        one.fit([X[i] for i in rest], [y[i] for i in rest])
        expected += [label for labels in one.predict([X[i] for i in fold]) for label in labels]
    assert first.jackknifed == expected
    whole = SequenceTagger(TEMPLATES, random_state=1, epochs=3).fit(X, y)
    assert first.trained.state_features() == whole.state_features_


def test_one_file_and_every_way_of_tagging(tagger, tmp_path):
    tagger.save(tmp_path / "m.safetensors")
    loaded = SequenceTagger.load(tmp_path / "m.safetensors")
    assert loaded.stages == 2
    X, y = text(2, 200)
    predicted = tagger.predict(X)
    for other in (loaded, copy.deepcopy(tagger)):
        assert other.predict(X) == predicted
        assert other.predict_nbest(X, 2) == tagger.predict_nbest(X, 2)
        assert other.confidence(X) == tagger.confidence(X)
        assert other.score(X, y) == tagger.score(X, y)
        other.set_params(n_jobs=2)
        assert other.predict(X) == predicted
    found = loaded.explain(X[50], X[:50], X[51:])
    assert [token.label for token in found] == predicted[50]
    assert any(c.name.startswith("stage1") for token in found for c in token.contributions)
    fixed = [[None, "O", None, None, None]] * len(X)
    assert all(labels[1] == "O" for labels in loaded.predict(X, fixed))
    tagger.save(tmp_path / "h.safetensors", half=True)
    halved = SequenceTagger.load(tmp_path / "h.safetensors")
    assert halved.score(X, y) == pytest.approx(tagger.score(X, y), abs=0.01)


def test_a_stream_gives_the_same_labels_however_it_is_cut(tagger):
    corpus = Corpus.from_sentences(text(2, 900)[0])
    whole = tagger.predict(corpus)
    for size in (50, 333):
        pieces = [corpus[i : i + size] for i in range(0, len(corpus), size)]
        found = []
        for _, around, own in in_context(pieces, tagger.reach_):
            found += tagger.predict(around)[own]
        assert found == whole


def test_sentences_at_the_edge_of_a_window_are_looked_at_as_a_whole(monkeypatch):
    """Votes count labels of sentences that the window cuts, whose other words look further."""
    for module in (elsewhere, votes, stages):
        monkeypatch.setattr(module, "WINDOW", 10)
    draw = random.Random(1)

    def noise(n):
        lengths = [draw.randint(2, 12) for _ in range(n)]
        words = ["Aa", "Bb", "Cc", "Dd", "e", "f"]
        labels = ["B-x", "I-x", "B-y", "I-y", "O"]
        return [draw.choices(words, k=k) for k in lengths], [
            draw.choices(labels, k=k) for k in lengths
        ]

    templates = ["word[0]", "elsewhere(lower, -1)", "elsewhere(lower, 1)"]
    tagger = SequenceTagger(templates, random_state=2, epochs=3, C=0.5, stages=2)
    tagger.fit(*noise(300))
    assert (tagger.reach_, tagger.hops_) == (20, (10, 10))
    corpus = Corpus.from_sentences(noise(600)[0])
    pieces = [corpus[i : i + 1] for i in range(len(corpus))]

    def in_pieces(*hops):
        return [tagger.predict(seen)[own][0] for _, seen, own in in_context(pieces, *hops)]

    whole = tagger.predict(corpus)
    assert in_pieces(*tagger.hops_) == whole
    assert in_pieces(tagger.reach_) != whole  # the text is one that can tell


def test_training_goes_on_from_a_state_to_the_same_bits(tmp_path):
    X, y = text(1, 200)
    made = {"random_state": 1, "epochs": 4, "stages": 2}
    dev = text(2, 50)
    whole = SequenceTagger(TEMPLATES, **made).fit(X, y, dev=dev)
    half = SequenceTagger(TEMPLATES, **made)
    for epoch in half.training(X, y, dev):
        assert epoch.dev_score is not None
        if epoch.number == 2:
            half.save_state(tmp_path / "s")
            break
    resumed = SequenceTagger(TEMPLATES, **made).load_state(tmp_path / "s").fit(X, y, dev=dev)
    assert resumed.state_features_ == whole.state_features_
    assert resumed.predict(X) == whole.predict(X)
    other = SequenceTagger(TEMPLATES, **made).load_state(tmp_path / "s")
    with pytest.raises(SeqpaError, match="saved on other data"):
        other.fit(X[:100], y[:100])


def test_labels_that_are_noise_stay_at_chance():
    """The first stage's labels of the training text must not carry the labels themselves."""
    draw = random.Random(1)
    X = [[f"w{draw.randrange(800)}" for _ in range(8)] for _ in range(300)]
    y = [[draw.choice("AB") for _ in sentence] for sentence in X]
    tagger = SequenceTagger(["word[0]"], random_state=1, stages=2, shuffle=False)
    tagger.fit(X, y)
    first = tagger._learned.training.source.first
    gold = [label for labels in y for label in labels]
    right = np.mean([a == b for a, b in zip(first.jackknifed, gold, strict=True)])
    assert right == pytest.approx(0.5, abs=0.05)
    own = [label for labels in first.trained.predict(X) for label in labels]
    assert np.mean([a == b for a, b in zip(own, gold, strict=True)]) > 0.7  # what a leak would give


def test_columns_documents_weights_and_missing_labels():
    X, y = text(1, 100)
    with_pos = [[(word, word[-1]) for word in sentence] for sentence in X]
    documents = [i // 10 for i in range(100)]
    y = [[None, *labels[1:]] for labels in y]
    tagger = SequenceTagger(
        [*TEMPLATES, "pos[0]"], ("word", "pos"), random_state=1, epochs=2, stages=2
    )
    told = []
    epochs = tagger.training(
        with_pos, y, sample_weight=[1.0] * 99 + [2.0], documents=documents, told=told.append
    )
    assert len(list(epochs)) == 2
    assert len(told) == FOLDS + 1
    corpus = Corpus.from_sentences(with_pos, names=("word", "pos"))
    corpus.documents = np.array(documents)
    assert tagger.predict(corpus) == tagger.predict(with_pos, documents=documents)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t, X, y: t.partial_fit(X, y), "partial_fit learns one stage only"),
        (lambda t, X, y: t.learn_one(X[0], y[0]), "partial_fit learns one stage only"),
        (lambda t, X, y: t.set_params(stages=1).partial_fit(X, y), "one stage only"),
        (lambda t, X, y: t.set_params(warm_start=True).fit(X, y), "warm_start learns one stage"),
        (lambda t, X, y: t.set_params(stages=3).fit(X, y), "stages is 3: it must be 1 or 2"),
        (lambda t, X, y: t.fit(X[:1], y[:1]), "at least two sentences"),
        (lambda t, X, y: t.fit(X[:9], [*y[:1], *[[None] * 5] * 8]), "labels in every part"),
        (
            lambda t, X, y: t.fit(X[:10], y[:10], sample_weight=[3, 1, *[0] * 8]),
            "weights above zero in every part of the text: all are in sentences 1 to 2",
        ),
        (lambda t, X, y: t.set_params(stages=2.0).fit(X, y), "stages is 2.0"),
        (lambda t, X, y: t.set_params(features="auto").fit([[{"a": 1}]] * 2, [["A"]] * 2), "words"),
        (
            lambda t, X, y: t.set_params(columns=("word", "stage1")).fit(X, y),
            "stages=2 has a column 'stage1' of its own",
        ),
    ],
)
def test_what_two_stages_cannot_do_is_one_line(tagger, change, words):
    with pytest.raises(SeqpaError, match=words):
        change(copy.deepcopy(tagger), *text(1, 20))


def test_the_commands_train_tag_explain_and_inspect(tmp_path, capsys):
    """A configuration with two stages and documents, from the file to what is told of the model."""
    X, y = text(1, 200, 0.6)
    for name, part in (("train", slice(0, 150)), ("test", slice(150, 200))):
        lines = [
            "# newdoc\n" * (i % 50 == 0)
            + "".join(f"{w}\t{label}\n" for w, label in zip(*both, strict=True))
            for i, both in enumerate(zip(X[part], y[part], strict=True))
        ]
        (tmp_path / f"{name}.conll").write_text("\n".join(lines) + "\n")
    (tmp_path / "c.yaml").write_text(
        "data: {train: train.conll, dev: test.conll, columns: [word, label]}\n"
        "features: {preset: ner-document}\n"
        "learner: {stages: 2, epochs: 2, patience: 1}\n"
        "output: {model: m.safetensors}\n"
    )
    model, test = str(tmp_path / "m.safetensors"), str(tmp_path / "test.conll")
    assert main(["train", str(tmp_path / "c.yaml")]) == 0
    said = capsys.readouterr().out
    assert said.count("stage 1: ") == FOLDS + 1
    assert said.index("stage 1: ") < said.index("epoch 1/2")
    assert main(["tag", model, test, "-o", str(tmp_path / "a.conll")]) == 0
    expected = SequenceTagger.load(model).predict(read(test, columns=["word", "label"]))
    assert read(tmp_path / "a.conll", columns=["word", "_", "label"]).y == expected
    assert main(["tag", model, test, "--explain"]) == 0
    assert "stage1[0]=" in capsys.readouterr().out
    assert main(["inspect", model]) == 0
    assert "2,000 tokens before and behind a sentence" in capsys.readouterr().out
