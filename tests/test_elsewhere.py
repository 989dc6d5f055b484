"""The template function `elsewhere`: against a naive twin, in streams, in threads and in files."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from names_in_context import text

from seqpa import SequenceTagger
from seqpa.data import read, read_chunks, write_tagged
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError
from seqpa.sequence import elsewhere
from seqpa.sequence.attributes import short_shape
from seqpa.sequence.encode import FeatureEncoder
from seqpa.sequence.streams import in_context

WORDS = ["Rain", "rain", "RAIN", "eBay", "ebay", "X", "3M", "Çay", ".", "İt", "ß", "北京"]
TEMPLATES = [
    "elsewhere(lower, -1)",
    "elsewhere(lower, 1)",
    "elsewhere(word, -2)",
    "elsewhere(shortshape, 2)",
    "elsewhere(lower, 0)[1]",
    "elsewhere(number)",
    "elsewhere(case)",
    "elsewhere(case)[-1]",
]
corpora = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), st.sampled_from([0, 0, 0, 1])
    ),
    min_size=1,
    max_size=8,
)


def naive(sentences, documents, window=elsewhere.WINDOW, most=elsewhere.MOST):
    """For each token the set of its features, straight from the definition."""
    tokens = [(s, i) for s, sentence in enumerate(sentences) for i in range(len(sentence))]
    at = {place: number for number, place in enumerate(tokens)}
    runs = np.cumsum([0, *(a != b for a, b in pairwise(documents))])
    attributes = {
        "lower": str.lower,
        "word": str,
        "shortshape": short_shape,
    }

    def others(s, i):
        word = sentences[s][i]
        if len(word) < 2 or not word[0].isalpha() or word.islower():
            return None
        found = [
            (abs(at[s, i] - at[t, j]), at[t, j], (t, j))
            for t, j in tokens
            if (t, j) != (s, i)
            and sentences[t][j].lower() == word.lower()
            and runs[t] == runs[s]
            and abs(at[s, i] - at[t, j]) <= window
        ]
        return [place for _, _, place in sorted(found)[:most]]

    def edge(place, length):
        return f"<-{-place}>" if place < 0 else f"<+{place - length + 1}>"

    def seen(what, s, i):
        found = others(s, i)
        if found is None:
            return set()
        if what == ("number",):
            return {["0", "1", "2", "3", "4+"][min(len(found), 4)]}
        values = set()
        for t, j in found:
            if what == ("case",):
                values.add(elsewhere.case_class(sentences[t][j]) + (", first" if j == 0 else ""))
            else:
                k = j + what[1]
                inside = 0 <= k < len(sentences[t])
                value = attributes[what[0]](sentences[t][k]) if inside else None
                values.add(value if inside else edge(k, len(sentences[t])))
        return values

    result = []
    for s, i in tokens:
        names = set()
        for template in TEMPLATES:
            head, _, tail = template.partition("[")
            offset = int(tail[:-1]) if tail else 0
            cells = head[len("elsewhere(") : -1].split(", ")
            what = (cells[0], int(cells[1])) if len(cells) > 1 else (cells[0],)
            inside = 0 <= i + offset < len(sentences[s])
            values = seen(what, s, i + offset) if inside else {edge(i + offset, len(sentences[s]))}
            names |= {f"{head}[{offset}]={value}" for value in values}
        result.append(names)
    return result


def told(encoder, encoded):
    names = encoder.feature_names()
    found = []
    for a, b in zip(encoded.indptr, encoded.indptr[1:], strict=False):
        own = [names[f] for f in encoded.features[a:b].tolist()]
        assert len(own) == len(set(own))  # a set
        found.append(set(own))
    return found


@pytest.mark.pure
@given(corpora)
def test_the_encoder_sees_what_the_definition_says(drawn):
    sentences, documents = [s for s, _ in drawn], np.array([d for _, d in drawn])
    encoder = FeatureEncoder(TEMPLATES)
    flat = [[word for s in sentences for word in s]]
    lengths = [len(s) for s in sentences]
    encoded = encoder.fit_transform(flat, lengths, documents=documents)
    expected = naive(sentences, documents.tolist())
    assert told(encoder, encoded) == expected
    again = encoder.transform(flat, lengths, documents=documents)
    assert (again.features == encoded.features).all()
    # From a file, and where the words themselves have been forgotten.
    kept = FeatureEncoder.from_arrays(*encoder.to_arrays(np.ones(encoder.n_features, bool)))
    assert told(kept, kept.transform(flat, lengths, documents=documents)) == expected


@pytest.mark.pure
@settings(max_examples=25)
@given(corpora, st.integers(1, 6), st.integers(1, 3))
def test_windows_and_the_number_of_neighbours_are_bounds(drawn, window, most):
    sentences, documents = [s for s, _ in drawn], np.array([d for _, d in drawn])
    flat = [[word for s in sentences for word in s]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elsewhere, "WINDOW", window)
        patch.setattr(elsewhere, "MOST", most)
        encoder = FeatureEncoder(TEMPLATES)
        encoded = encoder.fit_transform(flat, [len(s) for s in sentences], documents=documents)
    assert told(encoder, encoded) == naive(sentences, documents.tolist(), window, most)


@pytest.mark.pure
@pytest.mark.parametrize(
    "templates",
    [
        ["elsewhere(number)"],
        ["elsewhere(pos, 1)"],
        ["elsewhere(number)[1]", "pos[0]"],
        ["elsewhere(pos, -1)", "tags(pos)[0]"],
    ],
)
def test_words_are_found_elsewhere_where_nothing_else_looks_at_them(templates, tmp_path):
    """The features are those that these templates give beside one of the word itself."""
    cells = [["Rain", "in", "Rain", "Dog", "rain", "Dog"], ["N", "P", "N", "V", "N", "X"]]
    lengths, labels = [2, 3, 1], ["a", "b", "a", "b", "a", "b"]
    alone, beside = (
        FeatureEncoder([*templates, *more], ("word", "pos")) for more in ([], ["word[0]"])
    )
    found = told(alone, alone.fit_transform(cells, lengths, labels))
    others = told(beside, beside.fit_transform(cells, lengths, labels))
    assert found == [{name for name in own if not name.startswith("word")} for own in others]
    X = [[("Rain", "N"), ("in", "P")], [("Rain", "N"), ("Dog", "V"), ("rain", "N")]] * 3
    y = [["a", "b"], ["a", "b", "a"]] * 3
    tagger = SequenceTagger(templates, ("word", "pos"), random_state=1).fit(X, y)
    tagger.save(tmp_path / "m.safetensors")
    loaded = SequenceTagger.load(tmp_path / "m.safetensors")
    unseen = [[("Nile", "N"), ("in", "X")], [("NILE", "V")]]
    for text_ in (X, unseen):
        assert loaded.predict_nbest(text_, 2) == tagger.predict_nbest(text_, 2)
        best = [found[0][1] for found in tagger.predict_nbest(text_, 1)]
        assert loaded.predict(text_) == tagger.predict(text_) == best
    online = SequenceTagger(templates, ("word", "pos"), average=False)
    for tokens, labels in zip(X, y, strict=True):
        online.learn_one(tokens, labels)
    assert online.predict(X) == [best[0][1] for best in online.predict_nbest(X, 1)]


@pytest.mark.pure
@pytest.mark.parametrize("online", [False, True])
def test_what_labels_taught_of_words_elsewhere_tells_no_token_its_own(online, monkeypatch):
    """A token may see the entries of its block, which do not know its label; online, of its
    sentence. Each word is there twice, mostly in two blocks, and no two labels are the same."""
    draw = random.Random(1)
    sentences = [[f"W{k}", f"w{k}"] for k in range(200)] * 2
    draw.shuffle(sentences)
    cells = [[word for tokens in sentences for word in tokens]]
    labels = [f"L{i}" for i in range(len(cells[0]))]

    def told_its_own():
        """How many tokens see a label of their own sentence."""
        encoder = FeatureEncoder(["elsewhere(tags, 0)", "elsewhere(besttag, 1)"])
        lengths = [2] * len(sentences)
        seen = told(encoder, encoder.extend_transform(cells, lengths, labels, online=online))
        return sum(
            not {labels[i - i % 2], labels[i - i % 2 + 1]}.isdisjoint(" ".join(names).split())
            for i, names in enumerate({name.partition("=")[2] for name in own} for own in seen)
        )

    assert told_its_own() == 0
    monkeypatch.setattr("seqpa.sequence.encode.apart_in_documents", lambda given, *_: given)
    assert told_its_own() > 100  # the test can fail


NAMES = ["word[0]", "word[-1]", "shortshape[0]", "elsewhere(lower, -1)", "elsewhere(number)"]


@pytest.fixture(scope="module")
def tagger():
    return SequenceTagger(NAMES, random_state=1, epochs=3).fit(*text(1, 1500))


def test_it_helps_where_only_the_context_tells(tagger):
    X, y = text(2, 600)
    blind = SequenceTagger(NAMES[:3], random_state=1, epochs=3).fit(*text(1, 1500))
    assert tagger.score(X, y) > blind.score(X, y) + 0.04
    assert tagger.reach_ == 1000
    assert blind.reach_ == 0


def test_it_helps_as_much_in_a_script_without_case():
    letters = str.maketrans("0123456789Nx", "אבגדהוזחטילמ")

    def caseless(seed, n):
        X, y = text(seed, n)
        return [[tokens[0], tokens[1].translate(letters), *tokens[2:]] for tokens in X], y

    def score(templates):
        tagger = SequenceTagger(templates, random_state=1, epochs=3).fit(*caseless(1, 1500))
        return tagger.score(*caseless(2, 600))

    assert score(NAMES) > score(NAMES[:3]) + 0.04


def test_runs_threads_and_whole_texts_give_the_same_labels(tagger):
    X, _ = text(2, 5000)
    predicted = tagger.predict(X)
    assert [best[0][1] for best in tagger.predict_nbest(X, 1)] == predicted
    tagger.set_params(n_jobs=3)
    assert tagger.predict(X) == predicted
    tagger.set_params(n_jobs=1)


@pytest.mark.parametrize("sizes", [[7], [1, 300, 2], [5000]])
def test_a_stream_gives_the_same_labels_however_it_is_cut(tagger, sizes):
    X, _ = text(2, 900)
    documents = np.arange(900) // 200
    corpus = Corpus.from_sentences(X)
    corpus.documents = documents
    pieces, at, k = [], 0, 0
    while at < len(corpus):
        pieces.append(corpus[at : at + sizes[k % len(sizes)]])
        at, k = at + sizes[k % len(sizes)], k + 1
    found = []
    for own, around, which in in_context(pieces, tagger.reach_):
        assert around[which].X == own.X
        assert around.n_tokens <= own.n_tokens + 2 * (1000 + 10)
        found += tagger.predict(around)[which]
    assert found == tagger.predict(corpus)
    assert found == tagger.predict(X, documents=[f"doc {d}" for d in documents])
    every = list(range(900))  # each sentence is a document: nothing is elsewhere
    assert found != tagger.predict(X, documents=every)


def test_files_tell_where_documents_begin(tmp_path):
    sentence = "Bush N\nleft O\n\n"
    path = tmp_path / "a.conll"
    path.write_text(f"-DOCSTART- O\n\n{sentence}{sentence}-DOCSTART- O\n\n{sentence}")
    columns = ["word", "label"]
    assert read(path, format="conll", columns=columns).documents.tolist() == [1, 1, 2]
    path.write_text(f"# newdoc id = 1\n{sentence}{sentence}\n# newdoc\n{sentence}")
    assert read(path, format="conll", columns=columns).documents.tolist() == [1, 1, 2]
    path.write_text(f"# newdoc\n{sentence}# newpar\n{sentence}# newdoc\n{sentence}")
    corpus = read(path, format="conll", columns=columns)
    assert corpus.documents.tolist() == [1, 1, 2]
    assert corpus.X == [["Bush", "left"]] * 3  # though a token has two cells as well
    path.write_text(f"\n\n{sentence}\n{sentence}\n{sentence}")  # all are two lines apart
    assert read(path, format="conll", columns=columns).documents.tolist() == [0, 0, 0]
    path.write_text(f"{sentence}{sentence}\n{sentence}\n\n{sentence}{sentence}")
    whole = read(path, format="conll", columns=columns).documents.tolist()
    assert whole == [0, 0, 1, 2, 2]
    row = "1\tBush\t_\tPROPN\t_\t_\t_\t_\t_\t_\n\n"
    path = tmp_path / "a.conllu"
    path.write_text(f"# newdoc id = x\n{row}{row}# newdoc\n# sent_id = 3\n{row}")
    assert read(path, format="conllu").documents.tolist() == [1, 1, 2]
    path = tmp_path / "a.jsonl"
    line = '{"tokens": ["Bush"], "labels": ["N"], "document": %s}\n'
    path.write_text(line % '"a"' + line % '"a"' + line % 7)
    assert read(path, format="jsonl").documents.tolist() == [1, 1, 2]


@pytest.mark.parametrize("format", ["conll", "conllu", "jsonl"])
@pytest.mark.parametrize("documents", [[0, 0, 0, 0], [0, 0, 1, 2], [1, 1, 2, 2], [3, 5, 5, 9]])
def test_documents_are_written_as_they_are_read(tmp_path, format, documents):
    """In pieces too, as streams come; what stands before the first mark is a document as well."""
    corpus = Corpus.from_sentences([["Bush", "left"], ["He"], ["So"], ["did", "I"]])
    corpus.documents = np.array(documents)
    labels = [["N", "V"], ["P"], ["R"], ["V", "P"]]
    path = tmp_path / "a"
    for cuts in ([0, 4], [0, 1, 3, 4], [0, 2, 4]):
        pieces = [(corpus[a:b], labels[a:b]) for a, b in pairwise(cuts)]
        write_tagged(path, pieces, format=format)
        columns = {"conll": ["word", "label"]}.get(format)
        again = read(path, format=format, columns=columns)
        assert (again.X, again.y) == (corpus.X, labels)
        kept = (np.diff(again.documents) != 0).tolist()
        assert kept == (np.diff(documents) != 0).tolist()


def test_documents_do_not_depend_on_how_a_file_comes(tmp_path, monkeypatch):
    draw = random.Random(5)
    lines = []
    for _ in range(400):
        lines += ["Bush\tN"] * draw.randrange(1, 4) + [""] * draw.choice([1, 1, 1, 2, 3])
        lines += ["-DOCSTART-\tO", ""] * (draw.random() < 0.1)
    path = tmp_path / "a.conll"
    path.write_text("\n".join(lines) + "\n")
    how = {"format": "conll", "columns": ["word", "label"]}
    whole = read(path, **how).documents.tolist()
    assert len(set(whole)) > 20
    monkeypatch.setattr("seqpa.data.source.BLOCK_BYTES", 64)
    pieces = list(read_chunks(path, **how))
    assert [d for piece in pieces for d in piece.documents.tolist()] == whole


def test_wrong_documents_are_one_line():
    tagger = SequenceTagger(NAMES)
    with pytest.raises(SeqpaError, match="X has 1 sentences, documents has 2"):
        tagger.fit([["a"]], [["N"]], documents=[1, 2])
    with pytest.raises(SeqpaError, match="documents is a string"):
        tagger.fit([["a"]], [["N"]], documents="a")


def test_online_it_sees_the_sentences_that_come_together(tagger):
    X, y = text(3, 100)
    online = SequenceTagger(NAMES, average=False)
    online.partial_fit(X, y)
    for tokens, labels in zip(X, y, strict=True):
        online.learn_one(tokens, labels)
    assert online.predict(X) == [best[0][1] for best in online.predict_nbest(X, 1)]


def test_an_explanation_looks_at_the_sentences_around(tagger):
    X, _ = text(2, 300)
    predicted = tagger.predict(X)
    for i in (0, 150, 299):
        found = tagger.explain(X[i], X[:i], X[i + 1 :])
        assert [token.label for token in found] == predicted[i]
    names = [c.name for token in tagger.explain(X[5], X[:5]) for c in token.contributions]
    assert any(name.startswith("elsewhere(lower, -1)[0]=") for name in names)
