"""The embedded corpora hold what corpora/README.md promises; the generator's knobs work."""

from __future__ import annotations

import doctest
import importlib.util
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from seqpa import data
from seqpa.schemes import violation

CORPORA = Path(__file__).parent.parent / "corpora"
NEWS = CORPORA / "news"
SPLITS = ("train", "dev", "test")
PENN_TAGS = {
    *("CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR", "JJS", "LS", "MD", "NN", "NNS", "NNP"),
    *("NNPS", "PDT", "POS", "PRP", "PRP$", "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB"),
    *("VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP", "WP$", "WRB"),
    *(".", ",", ":", "``", "''", "-LRB-", "-RRB-", "$", "#"),
}
Sentence = list[tuple[str, str, str]]


MARK = re.compile(r"# newdoc id = \d\d\d\n")


def read(path: Path) -> list[Sentence]:
    blocks = MARK.sub("", path.read_text(encoding="utf-8")).strip("\n").split("\n\n")
    return [[tuple(line.split("\t")) for line in block.split("\n")] for block in blocks]  # type: ignore[misc]


def leaves(tree: Any) -> Iterator[str]:
    if isinstance(tree, list):
        yield from tree
        return
    for name, below in tree.items():
        if below is None:
            yield name
        else:
            yield from leaves(below)


def spans(sentence: Sentence) -> list[tuple[str, str]]:
    """Text and type of each entity; fails where an I- does not continue its type."""
    found: list[tuple[str, str]] = []
    before = "O"
    for word, _, label in sentence:
        prefix, _, kind = label.partition("-")
        assert label == "O" or (prefix in ("B", "I") and kind), label
        if prefix == "B":
            found.append((word, kind))
        elif prefix == "I":
            assert before[2:] == kind, f"{label} after {before} in {sentence}"
            found[-1] = (f"{found[-1][0]} {word}", kind)
        before = label
    return found


@pytest.fixture(scope="module")
def news() -> dict[str, list[Sentence]]:
    return {split: read(NEWS / f"{split}.conll") for split in SPLITS}


@pytest.fixture(scope="module")
def everything(news: dict[str, list[Sentence]]) -> list[Sentence]:
    return list(chain(*news.values()))


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", CORPORA / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("split", SPLITS)
def test_every_line_has_three_clean_cells(split: str) -> None:
    text = (NEWS / f"{split}.conll").read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "\n\n\n" not in text
    for line in filter(None, MARK.sub("", text).split("\n")):
        cells = line.split("\t")
        assert len(cells) == 3, line
        assert all(cell and not any(c.isspace() for c in cell) for cell in cells), line


def test_size_and_lengths(everything: list[Sentence]) -> None:
    lengths = [len(sentence) for sentence in everything]
    assert len(lengths) >= 2000
    assert max(lengths) <= 60
    assert min(lengths) <= 5
    assert max(lengths) >= 35


def test_documents_are_whole_and_in_one_split() -> None:
    marks = {
        split: MARK.findall((NEWS / f"{split}.conll").read_text(encoding="utf-8"))
        for split in SPLITS
    }
    # The first are sentences without a document of their own, in every split.
    assert all(own[0] == "# newdoc id = 000\n" for own in marks.values())
    others = [mark for own in marks.values() for mark in own[1:]]
    assert len(others) == len(set(others)) >= 180


def test_no_sentence_twice(everything: list[Sentence]) -> None:
    texts = Counter(" ".join(word for word, _, _ in s).lower() for s in everything)
    assert [text for text, n in texts.items() if n > 1] == []


def test_tags_are_penn_treebank_tags_and_leaves_of_their_tree(everything: list[Sentence]) -> None:
    tree = list(leaves(yaml.safe_load((NEWS / "pos.yaml").read_text(encoding="utf-8"))))
    assert len(tree) == len(set(tree))
    assert set(tree) == PENN_TAGS
    assert {tag for s in everything for _, tag, _ in s} <= PENN_TAGS


def test_entities_are_iob2_and_the_leaves_of_their_tree(news: dict[str, list[Sentence]]) -> None:
    tree = list(leaves(yaml.safe_load((NEWS / "entities.yaml").read_text(encoding="utf-8"))))
    assert len(tree) == len(set(tree))
    for split in SPLITS:
        kinds = {kind for sentence in news[split] for _, kind in spans(sentence)}
        assert kinds | {"O"} == set(tree), split


def test_tags_agree_with_the_guidelines(everything: list[Sentence]) -> None:
    """What corpora/README.md says about the form of a word and its tag."""
    fixed = {",": ",", ".": ".", "?": ".", "(": "-LRB-", ")": "-RRB-", "``": "``", "''": "''"}
    fixed |= {"%": "NN", "£": "$", "€": "$", "$": "$", "the": "DT", "and": "CC", "to": "TO"}
    fixed |= {"n't": "RB", "p.m.": "NN", ";": ":", "--": ":"}
    for sentence in everything:
        for i, (word, tag, label) in enumerate(sentence):
            where = f"{word}/{tag} in {' '.join(w for w, _, _ in sentence)}"
            assert tag == fixed.get(word.lower(), tag), where
            assert (
                word[0].isupper()
                or tag not in ("NNP", "NNPS")
                or word in ("de", "van", "da", "del", "von")
            ), where
            if word[0].isdigit():
                assert tag in ("CD", "JJ", "NNS"), where
            if tag == "POS":
                assert word in ("'s", "'"), where
                assert sentence[i - 1][1].startswith("N"), where
            if label.startswith("B-"):
                assert tag in ("NNP", "NNPS", "DT", "CD"), where
            if label.startswith("I-"):
                assert tag in ("NNP", "NNPS", "IN", "TO", "CC", "CD", "POS", "DT"), where


def test_brackets_and_quotes_are_paired(everything: list[Sentence]) -> None:
    for sentence in everything:
        tags = Counter(tag for _, tag, _ in sentence)
        assert tags["-LRB-"] == tags["-RRB-"]
        assert tags["``"] == tags["''"], sentence


def test_words_and_names_are_really_ambiguous(everything: list[Sentence]) -> None:
    tags, kinds = defaultdict(set), defaultdict(set)
    for sentence in everything:
        for word, tag, _ in sentence:
            tags[word.lower()].add(tag)
        for name, kind in spans(sentence):
            kinds[name].add(kind)
    assert {"NNP", "MD"} <= tags["may"]
    assert {"NNP", "NN", "VB"} <= tags["bank"]
    assert {"VBD", "NN"} <= tags["saw"]
    assert sum(len(t) > 1 for t in tags.values()) > 300
    assert {"country", "river", "team", "person"} <= kinds["Jordan"]
    assert sum(len(k) > 1 for k in kinds.values()) > 15


def test_dev_and_test_have_names_seen_and_unseen(news: dict[str, list[Sentence]]) -> None:
    known = {name for sentence in news["train"] for name in spans(sentence)}
    for split in ("dev", "test"):
        names = [name for sentence in news[split] for name in spans(sentence)]
        seen = sum(name in known for name in names) / len(names)
        assert 0.3 < seen < 0.7


def test_readme_statistics_are_true(news: dict[str, list[Sentence]]) -> None:
    readme = (CORPORA / "README.md").read_text(encoding="utf-8")
    vocabulary = {word for sentence in news["train"] for word, _, _ in sentence}
    known = {name for sentence in news["train"] for name in spans(sentence)}
    for split in SPLITS:
        words = [word for sentence in news[split] for word, _, _ in sentence]
        names = [name for sentence in news[split] for name in spans(sentence)]
        unseen_words = sum(word not in vocabulary for word in words) / len(words)
        unseen_names = sum(name not in known for name in names) / len(names)
        row = f"| {split} | {len(news[split])} | {len(words):,} | {len(names)} |"
        if split != "train":
            row += f" {unseen_words:.1%} | {unseen_names:.1%} |"
        assert row in readme, row


def test_generator_is_deterministic_and_written_whole(tmp_path: Path) -> None:
    command = [sys.executable, str(CORPORA / "generate.py"), "--sentences", "200", "--noise", "0.1"]
    run = [subprocess.run(command, capture_output=True, check=True).stdout for _ in range(2)]
    subprocess.run([*command, "-o", str(tmp_path / "big.conll")], check=True)
    assert run[0] == run[1] == (tmp_path / "big.conll").read_bytes().replace(b"\r\n", b"\n")
    assert [p.name for p in tmp_path.iterdir()] == ["big.conll"]
    other = subprocess.run([*command, "--seed", "2"], capture_output=True, check=True).stdout
    assert other != run[0]
    assert len(read(tmp_path / "big.conll")) == 200


@pytest.mark.parametrize(
    "options",
    [["--noise", "1.5"], ["--labels", "3"], ["--vocabulary", "2000000"], ["-o", "/no/such/dir/x"]],
)
def test_generator_refuses_in_one_line(options: list[str]) -> None:
    command = [sys.executable, str(CORPORA / "generate.py"), "--sentences", "1", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "generate.py: error: " in done.stderr


def test_generated_sentences_have_the_news_columns(generator: ModuleType) -> None:
    entities = set(leaves(yaml.safe_load((NEWS / "entities.yaml").read_text(encoding="utf-8"))))
    for noise in (0.0, 0.3):
        made = list(generator.Generator(noise=noise).sentences(2000))
        assert {kind for s in made for _, kind in spans(s)} | {"O"} == entities
        assert {tag for s in made for _, tag, _ in s} <= PENN_TAGS
        assert all(1 < len(s) <= 60 for s in made)


@pytest.mark.parametrize("ambiguity", [0.0, 0.2, 0.6, 1.0])
def test_ambiguity_is_the_share_of_words_with_several_readings(
    generator: ModuleType, ambiguity: float
) -> None:
    maker = generator.Generator(seed=3, ambiguity=ambiguity, vocabulary=1000)
    lexicon = {w for pools in maker.several.values() for pool in pools for w in pool}
    lexicon |= {w for pool in maker.single.values() for w in pool}
    readings: dict[str, set[tuple[str, str]]] = defaultdict(set)
    drawn: list[str] = []
    for sentence in maker.sentences(8000):
        for word, tag, label in sentence:
            form = word.lower()
            if form in lexicon:
                readings[form].add((tag, label[2:]))
                drawn.append(form)
    measured = sum(len(readings[form]) > 1 for form in drawn) / len(drawn)
    assert measured == pytest.approx(ambiguity, abs=0.02)


def test_noise_is_the_share_of_wrong_annotations_and_leaves_words_alone(
    generator: ModuleType,
) -> None:
    clean = list(generator.Generator(seed=5).sentences(3000))
    noisy = list(generator.Generator(seed=5, noise=0.25).sentences(3000))
    assert [[w for w, _, _ in s] for s in clean] == [[w for w, _, _ in s] for s in noisy]
    pairs = list(zip(chain(*clean), chain(*noisy), strict=True))
    assert sum(a[1] != b[1] for a, b in pairs) / len(pairs) == pytest.approx(0.25, abs=0.01)
    before, after = (list(chain(*map(spans, made))) for made in (clean, noisy))
    names = list(zip(before, after, strict=True))
    assert all(a[0] == b[0] for a, b in names)
    assert sum(a != b for a, b in names) / len(names) == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("labels", [25, 100, 301])
def test_as_many_labels_as_asked_for(generator: ModuleType, labels: int) -> None:
    made = generator.Generator(labels=labels, noise=0.1).sentences(6000)
    counts = Counter(label for sentence in made for _, _, label in sentence)
    assert len(counts) == labels


def test_docstrings(generator: ModuleType) -> None:
    results = doctest.testmod(generator)
    assert results.attempted > 0
    assert results.failed == 0


def test_what_is_derived_is_what_is_there() -> None:
    spec = importlib.util.spec_from_file_location("derive", CORPORA / "derive.py")
    assert spec is not None
    assert spec.loader is not None
    derive = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(derive)
    found = derive.derived()
    there = {path for name in ("ud", "phrases") for path in (CORPORA / name).iterdir()}
    assert set(found) == there
    for path, text in found.items():
        assert path.read_text(encoding="utf-8") == text, "run python corpora/derive.py"
    columns = ["word", "pos", "label"]
    news = data.read(NEWS / "dev.conll", columns=columns)
    tagged = data.read(CORPORA / "ud" / "dev.conllu", "conllu", columns=["word", "xpos"])
    assert tagged.columns == news.columns
    chunked = data.read(CORPORA / "phrases" / "dev.conll", columns=columns, labels="strict")
    assert chunked.columns == news.columns
    assert all(violation(labels, "iob2") is None for labels in chunked.y)
