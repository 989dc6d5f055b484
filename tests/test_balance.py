"""The cost "auto": how often a missed token of a span counts, measured and used in every way to
train."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa import SequenceTagger
from seqpa.array_files import read_file, write_file
from seqpa.cli import main
from seqpa.cluster import DaskSequenceTagger
from seqpa.cluster.executors import Inline
from seqpa.config import Config
from seqpa.config.build import cost_of
from seqpa.data import Corpus
from seqpa.errors import SeqpaError
from seqpa.sequence.balance import LARGEST, MOST, split, times_of
from seqpa.sequence.bounds import certify

TEMPLATES = ["word[0]", "word[-1]", "word[1]"]


def rare_names(n: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Names that one word before them makes likely, in one case of three; nearly all are new."""
    rng = random.Random(seed)
    X, y = [], []
    for _ in range(n):
        words, labels = [], []
        for _ in range(rng.randint(2, 6)):
            words.append(f"w{rng.randrange(30)}")
            labels.append("O")
            if rng.random() < 0.5:
                words += ["near", f"N{rng.randrange(10_000)}"]
                labels += ["O", "B-x" if rng.random() < 0.4 else "O"]
        X.append(words)
        y.append(labels)
    return X, y


def counted(gold: list[list[str]], predicted: list[list[str]]) -> tuple[int, int]:
    """Missed and invented tokens of spans."""
    pairs = [
        (g, p) for a, b in zip(gold, predicted, strict=True) for g, p in zip(a, b, strict=True)
    ]
    return sum(g != "O" == p for g, p in pairs), sum(g == "O" != p for g, p in pairs)


@pytest.mark.parametrize(("update", "root"), [("auto", 2), ("loss-augmented", 4)])
def test_the_number_is_what_its_definition_says(update: str, root: int) -> None:
    """The twin trains on the same sentences by what is public, and counts by hand."""
    X, y = rare_names(800)
    tagger = SequenceTagger(TEMPLATES, random_state=1, epochs=2, update=update).fit(X, y)
    shown, held = split(len(X))
    order = np.random.default_rng(0).permutation(shown)
    twin = SequenceTagger(TEMPLATES, epochs=1, shuffle=False, cost="hamming", update=update)
    twin.fit([X[i] for i in order], [y[i] for i in order])
    numbers = [i for run in held for i in run]
    missed, invented = counted([y[i] for i in numbers], twin.predict([X[i] for i in numbers]))
    assert missed > 2 * invented
    assert tagger.missed_cost_ == times_of(missed, invented, root) > 1.0


def test_auto_is_the_cost_with_that_number() -> None:
    X, y = rare_names(300)
    auto = SequenceTagger(TEMPLATES, random_state=1, epochs=3).fit(X, y)
    given_cost = {"missed": auto.missed_cost_}
    same = SequenceTagger(TEMPLATES, random_state=1, epochs=3, cost=given_cost).fit(X, y)
    assert same.state_features_ == auto.state_features_
    assert same.missed_cost_ == 1.0  # nothing was measured


def test_it_finds_names_that_were_missed() -> None:
    X, y = rare_names(2000)
    new, gold = rare_names(300, seed=1)
    missed = {}
    for cost in ("hamming", "auto"):
        tagger = SequenceTagger(TEMPLATES, random_state=1, epochs=5, cost=cost).fit(X, y)
        missed[cost] = counted(gold, tagger.predict(new))[0]
    assert missed["auto"] < 0.8 * missed["hamming"]


@pytest.mark.parametrize(
    "labels", [("N", "O"), ("B-x", "I-x"), ("O", "O")], ids=["no spans", "all within", "all out"]
)
def test_where_nothing_can_be_missed_it_is_hamming(labels: tuple[str, str]) -> None:
    X, y = rare_names(100)
    y = [[labels[label == "O"] for label in own] for own in y]
    plain = SequenceTagger(TEMPLATES, random_state=1, epochs=2, cost="hamming").fit(X, y)
    auto = SequenceTagger(TEMPLATES, random_state=1, epochs=2).fit(X, y)
    assert auto.missed_cost_ == 1.0
    assert auto.state_features_ == plain.state_features_


def test_a_handful_of_sentences_decides_nothing() -> None:
    X, y = rare_names(20)
    assert SequenceTagger(TEMPLATES, random_state=1, epochs=1).fit(X, y).missed_cost_ == 1.0


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_the_number_grows_with_what_is_missed(missed: int, invented: int) -> None:
    found = times_of(missed, invented)
    assert 1.0 <= found <= LARGEST
    assert found * 2 == int(found * 2)
    assert times_of(missed + 1, invented) >= found >= times_of(missed, invented + 1)
    assert times_of(missed, invented, 4) <= found


@given(st.integers(1, 3 * MOST))
def test_what_is_held_out_is_not_shown(n: int) -> None:
    shown, held = split(n)
    numbers = np.concatenate([shown, *(np.arange(run.start, run.stop) for run in held)])
    assert len(set(numbers.tolist())) == len(numbers) <= MOST
    assert numbers.min(initial=0) >= 0
    assert numbers.max(initial=0) < n
    assert len(shown) >= 4 * sum(map(len, held))
    assert n > MOST or len(numbers) == n


# Every way to train


def test_training_that_goes_on_has_the_number_that_it_began_with(tmp_path: Path) -> None:
    X, y = rare_names(300)
    whole = SequenceTagger(TEMPLATES, random_state=1, epochs=4).fit(X, y)
    begun = SequenceTagger(TEMPLATES, random_state=1, epochs=4)
    epochs = begun.training(X, y)
    next(epochs), next(epochs)
    begun.save_state(tmp_path / "state")
    resumed = SequenceTagger(TEMPLATES, random_state=1, epochs=4).load_state(tmp_path / "state")
    assert resumed.missed_cost_ == whole.missed_cost_ > 1.0
    assert resumed.fit(X, y).state_features_ == whole.state_features_


@pytest.mark.parametrize("wrong", [0.5, 1e9, "2", None, float("nan")])
def test_a_state_with_an_impossible_number_is_damaged(tmp_path: Path, wrong: Any) -> None:
    SequenceTagger(TEMPLATES, random_state=1, epochs=1).fit(*rare_names(30)).save_state(
        tmp_path / "state"
    )
    header, arrays = read_file(tmp_path / "state", "state")
    write_file(tmp_path / "state", "state", {**header, "missed": wrong}, arrays)
    with pytest.raises(SeqpaError, match="damaged"):
        SequenceTagger(TEMPLATES, random_state=1, epochs=1).load_state(tmp_path / "state")


def test_on_disk_it_is_as_in_memory() -> None:
    X, y = rare_names(300)
    taggers = [
        SequenceTagger(TEMPLATES, random_state=1, epochs=2, memory=memory).fit(X, y)
        for memory in (None, "1TB")
    ]
    assert taggers[0].missed_cost_ == taggers[1].missed_cost_ > 1.0
    assert taggers[0].state_features_ == taggers[1].state_features_


@pytest.mark.parametrize("memory", ["null", "1TB"])
def test_advice_at_the_end_knows_it(
    memory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Within `memory` the training state is gone by then."""
    for seed, name in enumerate(("train", "dev")):
        rng = random.Random(seed)
        lines = []
        for _ in range(300):
            # A name that is known; and some that are new, and seldom labelled: these are missed.
            pairs = [("Ada", "B-x"), ("w", "O")]
            for _ in range(5):
                label = "B-x" if rng.random() < 0.35 else "O"
                pairs += [(f"N{rng.randrange(10**6)}", label), ("w", "O")]
            lines += [f"{word}\t{label}\n" for word, label in pairs] + ["\n"]
        (tmp_path / f"{name}.conll").write_text("".join(lines))
    config = tmp_path / "a.yaml"
    config.write_text(
        "data: {columns: [word, label], train: train.conll, dev: dev.conll}\n"
        "features: {templates: ['word[0]', 'word[-1]']}\n"
        f"learner: {{epochs: 2, memory: {memory}}}\n"
    )
    assert main(["train", str(config)]) == 0
    told = "".join(capsys.readouterr())
    found = re.search(r"a missed token counts ([\d.]+) times", told)
    assert found is not None
    assert f"a higher cost of missed spans (cost.missed: {2 * float(found[1]):g})" in told


def test_ending_learning_keeps_the_number() -> None:
    tagger = SequenceTagger(TEMPLATES, random_state=1, epochs=1).fit(*rare_names(300))
    before = tagger.missed_cost_
    tagger.end_learning()
    assert tagger.missed_cost_ == before > 1.0


def test_a_cluster_measures_it_too() -> None:
    X, y = rare_names(800)
    told: list[str] = []
    weights = []
    for cost in ("auto", "hamming"):
        tagger = DaskSequenceTagger(
            Inline(), shards=2, features=TEMPLATES, random_state=1, epochs=2, cost=cost
        )
        list(tagger.training(X, y, told=told.append))
        weights.append(tagger.state_features_)
    assert sum("missed more often than invented" in line for line in told) == 1
    assert weights[0] != weights[1]


def test_its_certificate_holds() -> None:
    corpus = Corpus.from_sentences(*rare_names(400))
    tagger = SequenceTagger(TEMPLATES, random_state=1, epochs=2)
    epochs = list(tagger.training(corpus, record=True))
    assert tagger.missed_cost_ > 1.0
    assert certify(tagger, corpus, epochs).holds


def test_one_sentence_at_a_time_all_mistakes_count_alike() -> None:
    X, y = rare_names(100)
    plain = SequenceTagger(TEMPLATES, cost="hamming").partial_fit(X, y)
    assert SequenceTagger(TEMPLATES).partial_fit(X, y).state_features_ == plain.state_features_


@pytest.mark.parametrize(
    ("given_cost", "cost"),
    [
        ({}, "auto"),
        ({"kind": "auto"}, "auto"),
        ({"kind": "hamming"}, "hamming"),
        ({"missed": 4}, {"missed": 4.0}),
        ({"kind": "hamming", "missed": 4}, {"missed": 4.0}),
    ],
)
def test_a_configuration_says_it(given_cost: dict[str, Any], cost: Any) -> None:
    assert cost_of(Config(data={"train": "x"}, cost=given_cost)) == cost
