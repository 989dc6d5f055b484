"""Word clusters: F never falls, no single move or other joining would be better, files go round."""

from __future__ import annotations

import gzip
import itertools
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa import SequenceTagger
from seqpa._kernel import word_classes
from seqpa.cli import main
from seqpa.errors import SeqpaError
from seqpa.sequence.clustering import Clustering, learn_clusters
from seqpa.sequence.resources import Clusters

SENTENCES = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), min_size=1, max_size=25)


def f(n: int) -> float:
    return n * math.log(n) if n else 0.0


def pairs_of(sentences: list[list[str]], words: set[str]) -> list[tuple[str, str]]:
    return [
        pair
        for sentence in sentences
        for pair in itertools.pairwise(sentence)
        if words.issuperset(pair)
    ]


def quality(pairs: list[tuple[str, str]], cluster: dict[str, str]) -> float:
    """F, by its definition."""
    joint: dict[tuple[str, str], int] = {}
    first: dict[str, int] = {}
    second: dict[str, int] = {}
    for a, b in pairs:
        c, d = cluster[a], cluster[b]
        joint[c, d] = joint.get((c, d), 0) + 1
        first[c] = first.get(c, 0) + 1
        second[d] = second.get(d, 0) + 1
    return sum(map(f, joint.values())) - sum(map(f, first.values())) - sum(map(f, second.values()))


@given(SENTENCES, st.integers(1, 5), st.integers(1, 3))
def test_no_word_would_be_better_elsewhere(
    sentences: list[list[str]], n_clusters: int, min_count: int
) -> None:
    try:
        found = learn_clusters(sentences, n_clusters, min_count, max_passes=100)
    except SeqpaError:
        counts = [sum(s.count(w) for s in sentences) for w in "abcdefgh"]
        assert sum(count >= min_count for count in counts) < 2
        return
    words = set(found.paths)
    for word in "abcdefgh":
        count = sum(sentence.count(word) for sentence in sentences)
        assert (word in words) == (count >= min_count)
        assert word not in words or found.counts[word] == count
    pairs = pairs_of(sentences, words)
    best = quality(pairs, found.paths)
    assert len(set(found.paths.values())) <= n_clusters
    for word, path in itertools.product(words, set(found.paths.values())):
        assert quality(pairs, {**found.paths, word: path}) <= best + 1e-6


@given(SENTENCES, st.integers(2, 6))
def test_each_joining_loses_least(sentences: list[list[str]], n_classes: int) -> None:
    words = sorted({word for sentence in sentences for word in sentence})
    cluster = {word: str(i % n_classes) for i, word in enumerate(words)}
    n = len(set(cluster.values()))
    if n < 2:
        return
    pairs = pairs_of(sentences, set(words))
    table = np.zeros((n, n), np.int64)
    for a, b in pairs:
        table[int(cluster[a]), int(cluster[b])] += 1
    known = np.empty(4)  # most counts are beyond what is looked up
    word_classes.fill(known)
    merges = np.zeros((n - 1, 2), np.int32)
    word_classes.merge(
        table,
        np.ascontiguousarray(table.T),
        table.sum(1),
        table.sum(0),
        np.zeros((n, n)),
        merges,
        known,
    )
    for kept, joined in merges.tolist():
        left = sorted(set(cluster.values()))
        after = {
            (a, b): quality(pairs, {w: a if c == b else c for w, c in cluster.items()})
            for a, b in itertools.combinations(left, 2)
        }
        assert after[str(kept), str(joined)] == pytest.approx(max(after.values()), abs=1e-6)
        cluster = {w: str(kept) if c == str(joined) else c for w, c in cluster.items()}
    assert len(set(cluster.values())) == 1


def test_paths_are_the_leaves_of_a_tree() -> None:
    rng = random.Random(5)
    sentences = [[rng.choice("abcdefghijklmnop") for _ in range(6)] for _ in range(60)]
    paths = set(learn_clusters(sentences, 9, 1).paths.values())
    assert len(paths) > 1
    # A full binary tree: no leaf is above another, and their shares make up the whole.
    for a, b in itertools.permutations(paths, 2):
        assert not a.startswith(b)
    assert sum(2.0 ** -len(path) for path in paths) == 1.0


def test_words_in_the_same_places_come_together() -> None:
    rng = random.Random(0)
    places = [["the", "a"], ["dog", "cat", "fox"], ["ran", "sat", "hid"], ["fast", "well"]]
    sentences = [[rng.choice(words) for words in places] for _ in range(400)]
    found = learn_clusters(sentences, 4, 1)
    for words in places:
        assert len({found.paths[word] for word in words}) == 1
    assert found.information > 0.5


def test_the_order_of_the_text_does_not_matter() -> None:
    rng = random.Random(3)
    sentences = [[rng.choice("abcdefghijkl") for _ in range(7)] for _ in range(80)]
    shuffled = rng.sample(sentences, len(sentences))
    assert learn_clusters(sentences, 5, 1) == learn_clusters(iter(shuffled), 5, 1)


def test_a_text_is_no_list_of_words() -> None:
    with pytest.raises(SeqpaError, match="a sentence is the text 'so it is': give a list"):
        learn_clusters(["so it is"])


def test_progress_is_told() -> None:
    told: list[tuple[int, float, int]] = []
    found = learn_clusters([list("abcabcab")] * 3, 2, 1, progress=lambda *at: told.append(at))
    assert [number for number, share, _ in told if share == 1.0] == [*range(1, found.passes + 1)]


def test_a_file_goes_round(tmp_path: Path) -> None:
    found = Clustering(
        {"né": "01", "x": "00", "a\tb": "1", "c\r": "1", "": "1"},
        {"né": 1, "x": 9, "a\tb": 1, "c\r": 1, "": 2},
        1,
        0.0,
    )
    (tmp_path / "c.txt").write_text(found.text(), encoding="utf-8")
    assert Clusters.read(tmp_path / "c.txt").paths == {"né": "01", "x": "00"}
    assert found.clusters().paths == found.paths


def test_clusters_of_lower_case_are_looked_up_in_lower_case() -> None:
    def predicted(paths: dict[str, str]) -> list[str]:
        tagger = SequenceTagger(['cluster("c", 2)[0]'], resources={"c": Clusters(paths)})
        return tagger.fit([["rain", "dog"]] * 3, [["A", "B"]] * 3).predict([["RAIN", "Rain"]])[0]

    lower = {"rain": "010", "dog": "111"}
    assert predicted(lower) == ["A", "A"]
    assert predicted({**lower, "Rain": "111"})[1] == "B"  # with capitals in the file, as it is


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "The dog ran. A cat sat. The cat ran. A dog sat.\n" * 5
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text.encode()))
    out = tmp_path / "clusters.txt"
    command = ["cluster", str(tmp_path / "a.txt"), str(tmp_path / "b.txt.gz"), "-o", str(out)]
    nowhere = [*command[:-1], str(tmp_path / "a.txt" / "x.txt")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seqpa.sequence.clustering.learn_clusters", None)  # not even begun
        assert main(nowhere) == 2
    assert "a.txt" in capsys.readouterr().err
    assert main([*command, "--clusters", "3", "--lower", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main([*command, "--clusters", "3", "--lower", "--force"]) == 0
    assert "40 sentences, 160 tokens: 7 words in 3 clusters" in capsys.readouterr().err
    paths = Clusters.read(out).paths
    assert set(paths) == {"the", "a", "dog", "cat", "ran", "sat", "."}
    assert main(command) == 2
    assert "say --force to replace it" in capsys.readouterr().err
    assert Clusters.read(out).paths == paths
    assert main([*command[:-1], str(tmp_path / "b.txt.gz"), "--force"]) == 2
    assert "b.txt.gz" in capsys.readouterr().err
    assert gzip.decompress((tmp_path / "b.txt.gz").read_bytes()).decode() == text
    assert main([*command, "--force", "--min-count", "999"]) == 2
    assert "no word occurs at least 999 times" in capsys.readouterr().err
    assert Clusters.read(out).paths == paths
