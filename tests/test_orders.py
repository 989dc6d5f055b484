"""Several orders: the mean of trainings that anybody can make apart; threads change nothing."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqpa import SequenceTagger
from seqpa.errors import SeqpaError
from seqpa.sequence import orders
from seqpa.sequence.orders import mean

TEMPLATES = ["word[0]", "word[-1]", "suffix(1)[0]", "pair:word[0]"]


def text(seed: int, n: int = 60) -> tuple[list[list[str]], list[list[str]]]:
    rng = random.Random(seed)
    X = [[f"w{rng.randint(0, 30)}" for _ in range(rng.randint(1, 8))] for _ in range(n)]
    return X, [
        [rng.choice("ABCDE") if rng.random() < 0.2 else "ABCDE"[int(w[1:]) % 5] for w in s]
        for s in X
    ]


def new(**more: Any) -> SequenceTagger:
    return SequenceTagger(TEMPLATES, **{"epochs": 3, "random_state": 4, **more})


def apart(X: Any, y: Any, seeds: int, dev: Any = None, **more: Any) -> list[SequenceTagger]:
    """The same trainings, one at a time; the first has the random state itself."""
    drawn = np.random.default_rng(4).integers(2**62, size=seeds - 1).tolist()
    return [new(random_state=seed, **more).fit(X, y, dev) for seed in (4, *drawn)]


def averaged(taggers: list[SequenceTagger], of: str) -> dict[Any, float]:
    total: dict[Any, float] = {}
    for tagger in taggers:
        for key, weight in getattr(tagger, of).items():
            total[key] = total.get(key, 0.0) + weight / len(taggers)
    return total


@pytest.mark.parametrize("with_dev", [False, True])
@pytest.mark.parametrize("more", [{}, {"average": False}, {"algorithm": "arow", "C": 0.7}])
def test_weights_are_the_mean(with_dev: bool, more: dict[str, Any]) -> None:
    X, y = text(1)
    dev = text(2, 20) if with_dev else None
    tagger = new(seeds=3, **more).fit(X, y, dev)
    single = apart(X, y, 3, dev, **more)
    for of in ("state_features_", "transition_features_"):
        expected = averaged(single, of)
        found = getattr(tagger, of)
        for key in expected.keys() | found.keys():
            assert found.get(key, 0.0) == pytest.approx(expected.get(key, 0.0), abs=1e-5)
    assert any(
        tagger.predict(X) != one.predict(X) or tagger.state_features_ != one.state_features_
        for one in single
    )


def test_one_thread_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = text(3)
    many = new(seeds=5).fit(X, y).state_features_
    monkeypatch.setattr(orders.os, "cpu_count", lambda: 1)
    assert new(seeds=5).fit(X, y).state_features_ == many


def test_the_mean_of_one_is_itself() -> None:
    trained = new().fit(*text(5)).trained_.weights
    made = mean([trained])
    for f in range(len(trained.rows)):
        assert made.feature_weights(f) == trained.feature_weights(f)
    assert trained.pair_rows is not None
    for f in range(len(trained.pair_rows)):
        assert made.pair_feature_weights(f) == trained.pair_feature_weights(f)
    np.testing.assert_array_equal(made.transitions, trained.transitions)


def test_what_comes_after(tmp_path: Path) -> None:
    X, y = text(6)
    tagger = new(seeds=3).fit(X, y)
    tagger.save(tmp_path / "a.safetensors")
    loaded = SequenceTagger.load(tmp_path / "a.safetensors")
    assert loaded.seeds == 3
    assert loaded.predict(X) == tagger.predict(X)
    assert loaded.state_features_ == tagger.state_features_
    # Learning goes on from the mean, whether it was loaded or not.
    more = [["w1", "w99"]], [["E", "A"]]
    loaded.partial_fit(*more)
    tagger.partial_fit(*more)
    assert loaded.state_features_ == tagger.state_features_


def test_a_state_of_the_first_order_goes_on_to_the_same_mean(tmp_path: Path) -> None:
    X, y = text(7)
    whole = new(seeds=3).fit(X, y)
    broken = new(seeds=3)
    for epoch in broken.training(X, y):
        if epoch.number == 2:
            broken.save_state(tmp_path / "state.safetensors")
            break
    resumed = new(seeds=3).load_state(tmp_path / "state.safetensors").fit(X, y)
    assert resumed.state_features_ == whole.state_features_


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"seeds": 0}, "seeds is 0"),
        ({"seeds": 2, "shuffle": False}, "seeds is 2, and shuffle is False"),
        ({"seeds": 2, "warm_start": True}, "seeds is 2, and warm_start is True"),
    ],
)
def test_refusals(wrong: dict[str, Any], match: str) -> None:
    with pytest.raises(SeqpaError, match=match):
        new(**wrong).fit(*text(1))
