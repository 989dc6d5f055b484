"""The spaCy components: in pipelines, from Doc and DocBin, to disk and back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("spacy", reason="spaCy is not installed")

import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example, biluo_tags_to_spans, iob_to_biluo

from seqpa import SeqpaError, SequenceTagger
from seqpa import spacy as faces
from seqpa.data import read

NEWS = Path(__file__).parents[1] / "corpora" / "news"


def documents(nlp: Any, part: str, n: int) -> list[Doc]:
    """Documents of two sentences each, with tags and entities."""
    corpus = read(NEWS / f"{part}.conll", columns=["word", "pos", "label"])
    sentences = list(zip(corpus.X, corpus.y, strict=True))[:n]
    docs = []
    for pair in zip(sentences[::2], sentences[1::2], strict=True):
        words, tags, labels, starts = [], [], [], []
        for tokens, own in pair:
            words += [word for word, _ in tokens]
            tags += [pos for _, pos in tokens]
            labels += own
            starts += [True] + [False] * (len(tokens) - 1)
        doc = Doc(nlp.vocab, words=words, tags=tags, sent_starts=starts)
        doc.set_ents(biluo_tags_to_spans(doc, iob_to_biluo(labels)), default="outside")
        docs.append(doc)
    return docs


def bare(doc: Doc) -> Doc:
    starts = [token.is_sent_start for token in doc]
    return Doc(doc.vocab, words=[token.text for token in doc], sent_starts=starts)


@pytest.fixture(scope="module", name="nlp")
def _nlp() -> Any:
    nlp = spacy.blank("en")
    parameters = {"random_state": 1, "epochs": 3}
    nlp.add_pipe("seqpa_tagger", config={"parameters": parameters})
    nlp.add_pipe("seqpa_ner", config={"parameters": parameters})
    train = documents(nlp, "train", 600)
    nlp.initialize(lambda: [Example(bare(doc), doc) for doc in train])
    return nlp


def test_a_pipeline_learns_and_tags(nlp: Any) -> None:
    test = documents(nlp, "test", 100)
    scores = nlp.evaluate([Example(bare(doc), doc) for doc in test])
    assert scores["tag_acc"] > 0.8
    assert scores["ents_f"] > 0.3
    assert set(scores["ents_per_type"]) >= {"person"}
    found = list(nlp.pipe(map(bare, test), batch_size=7))
    assert [doc.to_json() for doc in found] == [nlp(bare(doc)).to_json() for doc in test]


def test_it_is_the_sequence_tagger_on_sentences(nlp: Any) -> None:
    """What it writes is what a tagger trained on the same sentences predicts."""
    train, test = documents(nlp, "train", 600), documents(nlp, "test", 40)
    corpus = read(NEWS / "train.conll", columns=["word", "label", "_"])
    words = [[*tokens] for tokens in corpus.X[:600]]
    tagger = SequenceTagger("pos", random_state=1, epochs=3).fit(words, corpus.y[:600])
    assert len(train) == 300
    for doc in map(nlp, map(bare, test)):
        expected = tagger.predict([[token.text for token in s] for s in doc.sents])
        assert [token.tag_ for token in doc] == [tag for tags in expected for tag in tags]


def test_to_disk_and_back(nlp: Any, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "pipeline")
    test = documents(nlp, "test", 20)
    for again in (
        spacy.load(tmp_path / "pipeline"),
        spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes()),
    ):
        found = [again(bare(Doc(again.vocab, words=[t.text for t in doc]))) for doc in test]
        same = [nlp(Doc(nlp.vocab, words=[t.text for t in doc])) for doc in test]
        assert [d.to_json() for d in found] == [d.to_json() for d in same]


def test_a_doc_bin_a_file_and_a_model(nlp: Any, tmp_path: Path) -> None:
    train = documents(nlp, "train", 40)
    DocBin(docs=train).to_disk(tmp_path / "train.spacy")
    taught = []
    for given in (
        train,
        DocBin(docs=train),
        tmp_path / "train.spacy",
        str(tmp_path / "train.spacy"),
    ):
        ner = faces.SeqpaNER(nlp.vocab, parameters={"random_state": 1, "epochs": 2})
        taught.append(ner.train(given, dev=given).tagger.state_features_)
        assert set(ner.labels) > {"O"}
    assert all(weights == taught[0] for weights in taught)
    ner.to_disk(tmp_path / "ner")
    other = spacy.blank("en")
    other.add_pipe("seqpa_ner", config={"model": str(tmp_path / "ner" / "model.safetensors")})
    doc = bare(train[0])
    assert [str(e) for e in other(bare(train[0])).ents] == [str(e) for e in ner(doc).ents]
    with pytest.raises(SeqpaError, match="no such file"):
        ner.train(tmp_path / "none.spacy")


def test_what_is_not_annotated_is_not_learned() -> None:
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=["Ada", "saw", "Ohio"])
    doc.set_ents([Span(doc, 0, 1, "PER")], missing=[doc[2:3]], default="outside")
    ner = faces.SeqpaNER(nlp.vocab, parameters={"random_state": 1})
    X, y = ner._data([doc])
    assert (X, y) == ([["Ada", "saw", "Ohio"]], [["B-PER", "O", None]])
    assert ner.train([doc]).labels == ("B-PER", "O")


def test_before_training_and_empty_documents(nlp: Any) -> None:
    fresh = spacy.blank("en")
    fresh.add_pipe("seqpa_ner")
    with pytest.raises(SeqpaError, match="not trained"):
        fresh("Rain fell")
    assert fresh.get_pipe("seqpa_ner").labels == ()
    assert fresh.get_pipe("seqpa_ner").to_bytes() == b""
    assert len(nlp("")) == 0


def test_entry_points_name_the_factories() -> None:
    text = (NEWS.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("[project.entry-points.spacy_factories]")[2].partition("[")[0]
    points = dict(re.findall(r'(\w+) = "(.*)"', section))
    assert points == {
        "seqpa_ner": "seqpa.spacy:make_ner",
        "seqpa_tagger": "seqpa.spacy:make_tagger",
    }
    assert all(hasattr(faces, point.rpartition(":")[2]) for point in points.values())
