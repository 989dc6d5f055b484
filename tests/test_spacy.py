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
from seqpa.schemes import spans

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
        assert "person" in ner.labels
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
    assert ner._lesson(doc) == (["Ada", "saw", "Ohio"], ["B-PER", "O", None], [(0, 3)])
    assert ner.train([doc]).tagger.classes_ == ["B-PER", "O"]
    assert ner.labels == ("PER",)
    bare_doc = Doc(nlp.vocab, words=["Ada"])
    with pytest.raises(SeqpaError, match="seqpa_ner: no token of the documents has a label"):
        ner.train([bare_doc])


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


# nlp.update


def examples_of(docs: list[Doc]) -> list[Example]:
    return [Example(bare(doc), doc) for doc in docs]


@pytest.mark.parametrize("begun", [True, False])
def test_update_learns_online(begun: bool) -> None:
    """The tutorial's loop: add_label, initialize without examples, then nlp.update."""
    nlp = spacy.blank("en")
    ner = nlp.add_pipe("seqpa_ner", config={"parameters": {"random_state": 1}})
    nlp.add_pipe("seqpa_tagger", config={"parameters": {"random_state": 1}})
    assert [ner.add_label("person"), ner.add_label("person")] == [1, 0]
    if begun:
        nlp.initialize()
    assert ner.labels == ("person",)
    assert ner.is_trainable
    train, test = documents(nlp, "train", 400), documents(nlp, "test", 100)
    history = []
    for _ in range(4):
        losses: dict[str, float] = {}
        for batch in spacy.util.minibatch(examples_of(train), size=16):
            assert nlp.update(batch, drop=0.3, losses=losses) == losses
        history.append(losses)
    assert set(losses) == {"seqpa_ner", "seqpa_tagger"}
    for name in losses:
        assert history[0][name] > 2 * history[-1][name] >= 0
    assert set(ner.labels) > {"person"}
    scores = nlp.evaluate(examples_of(test))
    assert scores["tag_acc"] > 0.75
    assert scores["ents_f"] > 0.3


def test_update_is_partial_fit_and_initialize_begins_anew() -> None:
    nlp = spacy.blank("en")
    parameters = {"random_state": 1, "epochs": 2}
    ner = nlp.add_pipe("seqpa_ner", config={"parameters": parameters})
    train = documents(nlp, "train", 40)
    corpus = read(NEWS / "train.conll", columns=["word", "_", "label"])[:40]
    tagger = SequenceTagger("ner", **parameters)
    for begin in range(0, 20, 5):
        ner.update(examples_of(train[begin : begin + 5]))
        part = slice(2 * begin, 2 * begin + 10)
        tagger.partial_fit(list(corpus.X)[part], list(corpus.y)[part])
    assert ner.tagger.state_features_ == tagger.state_features_
    # From a trained one it goes on; initialize forgets all of it.
    nlp.initialize(lambda: examples_of(train))
    assert ner.tagger.state_features_ == (
        SequenceTagger("ner", **parameters).fit(list(corpus.X), list(corpus.y)).state_features_
    )
    ner.initialize(lambda: examples_of(train), train=False, labels=["person"])
    assert (ner.tagger, ner.labels) == (None, ("person",))


def test_update_goes_on_after_loading(nlp: Any, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    doc = Doc(again.vocab, words=["Zyx", "fell"], tags=["XX", "VBD"])
    doc.set_ents([Span(doc, 0, 1, "novelty")])
    losses: dict[str, float] = {}
    for _ in range(30):
        again.update([Example(bare(doc), doc)], losses=losses)
    assert losses["seqpa_ner"] > 0
    assert "novelty" in again.get_pipe("seqpa_ner").labels
    assert "XX" in again.get_pipe("seqpa_tagger").labels
    again.update([Example(Doc(again.vocab, words=["so"]), Doc(again.vocab, words=["so"]))])


def test_other_tokens_are_aligned() -> None:
    """What is learned are the tokens that the pipeline will see."""
    nlp = spacy.blank("en")
    right = Doc(nlp.vocab, words=["New York", "State", "won", "it"], tags=["A", "B", "C", "D"])
    right.set_ents([Span(right, 0, 2, "LOC")])
    seen = Doc(nlp.vocab, words=["New", "York", "State", "won it"])
    example = Example(seen, right)
    ner, tagger = faces.SeqpaNER(nlp.vocab), faces.SeqpaTagger(nlp.vocab)
    words, labels, places = ner._lesson_of(example)
    assert (words, places) == (["New", "York", "State", "won it"], [(0, 4)])
    assert labels == ["B-LOC", "I-LOC", "I-LOC", "O"]
    assert tagger._lesson_of(example)[1] == ["A", "A", "B", None]


def test_update_wants_examples(nlp: Any) -> None:
    with pytest.raises(TypeError):
        nlp.get_pipe("seqpa_ner").update([bare(documents(nlp, "test", 2)[0])])


def test_documents_are_seen_as_such(nlp: Any) -> None:
    """A Doc is a document: templates that look elsewhere see all of it, and nothing else."""
    train, test = documents(nlp, "train", 200), documents(nlp, "test", 40)
    ner = faces.SeqpaNER(nlp.vocab, parameters={"features": "ner-document", "random_state": 1})
    ner.train(train)
    assert ner.tagger is not None
    X = [[[t.text for t in s] for s in doc.sents] for doc in test]
    alone = [ner.tagger.predict(own) for own in X]
    for doc, tags in zip(ner.pipe(map(bare, test)), alone, strict=True):
        own = [(kind, end - begin) for labels in tags for kind, begin, end in spans(labels)]
        assert [(entity.label_, len(entity)) for entity in doc.ents] == own


@pytest.mark.parametrize("train", [True, False])
def test_spacy_train(train: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from spacy.cli.train import train as spacy_train

    nlp = spacy.blank("en")
    DocBin(docs=documents(nlp, "train", 200)).to_disk(tmp_path / "train.spacy")
    DocBin(docs=documents(nlp, "dev", 60)).to_disk(tmp_path / "dev.spacy")
    nlp.add_pipe("seqpa_ner", config={"parameters": {"random_state": 1}})
    config = nlp.config
    for part in ("train", "dev"):
        config["paths"][part] = str(tmp_path / f"{part}.spacy")
    config["training"] |= {"max_steps": 20, "eval_frequency": 10}
    config["initialize"]["components"] = {"seqpa_ner": {"train": train}}
    config.to_disk(tmp_path / "config.cfg")
    spacy_train(tmp_path / "config.cfg", tmp_path / "out")
    assert "LOSS SEQPA" in capsys.readouterr().out.upper()
    best = spacy.load(tmp_path / "out" / "model-best")
    assert best.meta["performance"]["ents_f"] > 0.2
    assert "person" in best.get_pipe("seqpa_ner").labels
