from __future__ import annotations

from pathlib import Path

import pytest
from nltk.tag.api import TaggerI

from seqpa.data import read
from seqpa.nltk import SeqpaTagger

NEWS = Path(__file__).parents[1] / "corpora" / "news"


def tagged_sents(part: str) -> list[list[tuple[str, str]]]:
    corpus = read(NEWS / f"{part}.conll", columns=["word", "label", "_"])
    return [list(zip(s.tokens, s.labels, strict=True)) for s in corpus]


@pytest.fixture(scope="module")
def tagger() -> SeqpaTagger:
    return SeqpaTagger.train(
        tagged_sents("train"), dev=tagged_sents("dev"), features="pos", epochs=5, random_state=1
    )


def test_it_is_a_tagger_of_nltks(tagger: SeqpaTagger) -> None:
    assert isinstance(tagger, TaggerI)
    gold = tagged_sents("test")
    accuracy = tagger.accuracy(gold)
    assert accuracy > 0.88
    tokens = [[word for word, _ in sentence] for sentence in gold]
    assert accuracy == tagger.tagger.score(tokens, [[t for _, t in s] for s in gold])
    assert tagger.tag_sents(tokens) == [tagger.tag(sentence) for sentence in tokens]
    told = tagger.evaluate_per_tag(gold)
    assert "Prec." in told
    assert "NNP" in told


def test_empty_sentences(tagger: SeqpaTagger) -> None:
    assert tagger.tag([]) == []
    assert tagger.tag_sents([[], ["Rain"]])[0] == []
    assert tagger.tag_sents([]) == []


def test_saved_and_loaded_it_tags_alike(tagger: SeqpaTagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "m.safetensors")
    tokens = [[word for word, _ in sentence] for sentence in tagged_sents("test")]
    loaded = SeqpaTagger.load(tmp_path / "m.safetensors")
    assert loaded.tag_sents(tokens) == tagger.tag_sents(tokens)


def test_tokens_of_several_columns() -> None:
    sents = [[(("Ada", "NNP"), "B"), (("won", "VBD"), "O")], [(("It", "PRP"), "O")]]
    tagger = SeqpaTagger.train(sents, columns=("word", "pos"), features=["pos[0]"], random_state=1)
    assert tagger.tag([("Bo", "NNP")]) == [(("Bo", "NNP"), "B")]
