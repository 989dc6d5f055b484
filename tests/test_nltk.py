from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from nltk.chunk.api import ChunkParserI
from nltk.tag.api import TaggerI
from nltk.tree import Tree

from seqpa import SeqpaError
from seqpa.data import read
from seqpa.nltk import SeqpaChunker, SeqpaTagger

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


# As NLTK's own taggers are called

SENTS = [
    [("the", "D"), ("dog", "N"), ("barks", "V")],
    [("a", "D"), ("bark", "N"), ("fell", "V")],
    [("dogs", "N"), ("fell", "V")],
]
TOKENS = [[word for word, _ in sent] for sent in SENTS]


def last_letters(tokens: Sequence[str], index: int) -> list[str]:
    return [f"end={tokens[index][-2:]}", f"first={index == 0}", tokens[index]]


def as_crf_tagger(make: Any, path: Path, data: Any) -> tuple[Any, Any]:
    """The calls of NLTK's documentation of its CRFTagger."""
    tagger = make(feature_func=last_letters)
    tagger.train(data, str(path))
    again = make(feature_func=last_letters)
    again.set_model_file(str(path))
    assert again.tag_sents(TOKENS) == tagger.tag_sents(TOKENS)
    return tagger.tag_sents(TOKENS), tagger.accuracy(SENTS)


def test_it_is_called_as_the_crf_tagger_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])  # NLTK writes nowhere else
    pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")
    from nltk.tag import CRFTagger

    mine = as_crf_tagger(SeqpaTagger, tmp_path / "mine", SENTS)
    theirs = as_crf_tagger(CRFTagger, tmp_path / "theirs", SENTS)
    assert mine == theirs == (SENTS, 1.0)
    options = {"feature.minfreq": 1, "max_iterations": 5, "c2": 0.01}
    mine = as_crf_tagger(
        lambda **given: SeqpaTagger(training_opt=options, **given), tmp_path / "mine", SENTS
    )
    assert mine == (SENTS, 1.0)


def test_it_is_called_as_the_others_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from nltk.tag import PerceptronTagger, UnigramTagger

    assert SeqpaTagger(SENTS).tag_sents(TOKENS) == UnigramTagger(SENTS).tag_sents(TOKENS) == SENTS
    theirs, mine = PerceptronTagger(load=False), SeqpaTagger(verbose=True)
    for tagger in (theirs, mine):
        tagger.train(SENTS, nr_iter=4)
    assert mine.tag_sents(TOKENS) == theirs.tag_sents(TOKENS) == SENTS
    assert mine.tagger.epochs == 4
    assert capsys.readouterr().out.count("epoch") == 4


def test_generators_all_the_way() -> None:
    tagger = SeqpaTagger(last_letters)
    tagger.train((iter(sent) for sent in SENTS), dev=(iter(sent) for sent in SENTS))
    assert tagger.tag(iter(TOKENS[0])) == SENTS[0]
    assert tagger.tag_sents(iter(sent) for sent in TOKENS) == SENTS


def test_a_function_that_gives_dicts_or_sets(tmp_path: Path) -> None:
    found = []
    for function in (
        last_letters,
        lambda tokens, i: set(last_letters(tokens, i)),
        lambda tokens, i: dict.fromkeys(last_letters(tokens, i), 1.0),
        lambda tokens, i: iter(last_letters(tokens, i)),
    ):
        tagger = SeqpaTagger(function, random_state=1).train(SENTS)
        tagger.save(tmp_path / "model")
        assert SeqpaTagger.load(tmp_path / "model", function).tag_sents(TOKENS) == SENTS
        found.append(tagger.tagger.state_features_)
    assert found[0] == found[2] == found[3]
    assert found[0].keys() == found[1].keys()


# Chunks


def tree_of(text: str, words_only: bool = False) -> Tree:
    def leaf(text: str) -> Any:
        word, _, pos = text.partition("/")
        return word if words_only else (word, pos)

    return Tree.fromstring(text, read_leaf=leaf)


TREES = [
    "(S (NP the/D dog/N) saw/V (NP a/D cat/N) ./.)",
    "(S (NP rain/N) fell/V on/I (NP the/D cat/N))",
    "(S it/P fell/V)",
    "(S)",
]


@pytest.mark.parametrize("words_only", [False, True])
def test_trees_in_and_trees_out(words_only: bool, tmp_path: Path) -> None:
    trees = [tree_of(text, words_only) for text in TREES]
    chunker = SeqpaChunker(iter(trees), random_state=1)
    assert isinstance(chunker, ChunkParserI)
    assert [chunker.parse(tree.leaves()) for tree in trees] == trees
    assert [chunker.parse(tree) for tree in trees] == trees
    assert chunker.parse_sents(iter(tree.leaves()) for tree in trees) == trees
    if not words_only:  # of words alone NLTK keeps no score
        score = chunker.accuracy(trees)
        assert (score.accuracy(), score.f_measure()) == (1.0, 1.0)
    chunker.save(tmp_path / "model")
    again = SeqpaChunker.load(tmp_path / "model", root_label="TOP")
    assert again.parse(trees[0].leaves()).label() == "TOP"
    assert [again.parse(tree).pformat() for tree in trees[1:]] == [
        tree.pformat().replace("(S", "(TOP", 1) for tree in trees[1:]
    ]


def test_the_chunkers_of_nltks_book() -> None:
    """Its classes, with the tagger that they hold exchanged: one line of each."""
    from nltk import ChunkParserI, UnigramTagger, chunk

    class Chunker(ChunkParserI):
        def __init__(self, make: Any, train_sents: list[Tree]) -> None:
            train_data = [
                [(t, c) for _, t, c in chunk.tree2conlltags(sent)] for sent in train_sents
            ]
            self.tagger = make(train_data)

        def parse(self, sentence: list[tuple[str, str]]) -> Tree:
            tags = [pos for _, pos in sentence]
            found = [chunktag for _, chunktag in self.tagger.tag(tags)]
            triples = [(w, t, c) for (w, t), c in zip(sentence, found, strict=True)]
            return chunk.conlltags2tree(triples)

    trees = [tree_of(text) for text in TREES[:3]]
    theirs, mine = Chunker(UnigramTagger, trees), Chunker(SeqpaTagger, trees)
    assert mine.accuracy(trees).f_measure() >= theirs.accuracy(trees).f_measure()


def test_mistakes_with_trees() -> None:
    with pytest.raises(SeqpaError, match="not trained"):
        SeqpaChunker().parse([("a", "D")])
    deep = tree_of("(S (NP (N dog/N)))")
    with pytest.raises(SeqpaError, match=r"tree 2: .*nested"):
        SeqpaChunker([tree_of(TREES[0]), deep])


@pytest.mark.data
@pytest.mark.skipif("SEQPA_DATA" not in os.environ, reason="SEQPA_DATA names no data folder")
def test_the_books_chapter_on_its_own_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    from nltk.corpus.reader import ConllChunkCorpusReader

    folder = Path(os.environ["SEQPA_DATA"])
    monkeypatch.setattr("nltk.data.path", [str(folder)])  # NLTK reads nowhere else
    reader = ConllChunkCorpusReader(str(folder / "conll2000"), r".*\.txt", ("NP", "VP", "PP"))
    train = reader.chunked_sents("train.txt", chunk_types=["NP"])[:1000]
    test = reader.chunked_sents("test.txt", chunk_types=["NP"])[:300]
    score = SeqpaChunker(train, random_state=1).accuracy(test)
    assert score.f_measure() > 0.9  # the book's last chunker has 0.88 with all 8,936 sentences
