"""Teams: tokens, sentences that are lent, second readers, agreement against scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from seqpa.data.teach_project import label_column
from seqpa.errors import SeqpaError
from seqpa.teach.events import State
from seqpa.teach.store import Event, Sentence
from seqpa.teach.team import Team, hashed, new_token, readings


def sentences(n: int, length: int = 6) -> list[Sentence]:
    tokens = [f"w{i}" for i in range(length)]
    offsets = [[3 * i, 3 * i + 2] for i in range(length)]
    return [Sentence(i, "a.txt", i, " ".join(tokens), tokens, offsets) for i in range(n)]


def state_of(*given: tuple[str, int, Any, str], labels: tuple[str, ...] = ("A", "B")) -> State:
    events = [
        Event("settle" if why == "settle" else "accept", user, float(i), {"why": why}, number,
              annotation, id=i + 1)
        for i, (user, number, annotation, why) in enumerate(given)
    ]  # fmt: skip
    return State(labels, events)


def spans(*given: list[Any]) -> dict[str, Any]:
    return {"spans": list(given)}


# Who


def test_tokens() -> None:
    tokens = {name: new_token() for name in ("ann", "bob")}
    team = Team({name: hashed(token) for name, token in tokens.items()})
    assert {name: team.user_of(token) for name, token in tokens.items()} == {
        "ann": "ann", "bob": "bob"
    }  # fmt: skip
    for wrong in ("", "x", tokens["ann"] + " ", hashed(tokens["ann"]), "\ud800"):
        assert team.user_of(wrong) is None
    assert Team(["ann"]).user_of("") is None  # names alone let nobody in
    assert Team(["b", "a"]).names == ["a", "b"]


# Lending


def test_one_reader_at_a_time_until_nothing_is_heard() -> None:
    team = Team([], lent_seconds=100.0)
    assert team.lend(1, "ann", 0.0)
    assert not team.lend(1, "bob", 99.0)
    assert team.holder(1, 99.0) == "ann"
    assert team.lend(1, "ann", 90.0)  # for longer
    assert not team.lend(1, "bob", 189.0)
    assert team.lent_to_others("bob", 189.0) == {1}
    assert team.lent_to_others("ann", 189.0) == set()
    assert team.holder(1, 190.0) is None
    assert team.lend(1, "bob", 190.0)
    team.release(1, "ann")  # not hers any more
    assert team.holder(1, 191.0) == "bob"
    team.release(1, "bob")
    assert team.holder(1, 191.0) is None


# Second readers


def test_the_share_of_second_readings() -> None:
    for share in (0.0, 0.1, 0.5, 1.0):
        chosen = [Team([], share, seed=3).wants_second(i) for i in range(5000)]
        assert np.mean(chosen) == pytest.approx(share, abs=0.02)
        assert chosen == [Team(["x"], share, seed=3).wants_second(i) for i in range(5000)]
    few, many = Team([], 0.1, seed=3), Team([], 0.3, seed=3)
    assert all(many.wants_second(i) for i in range(500) if few.wants_second(i))
    other = Team([], 0.1, seed=4)
    assert any(few.wants_second(i) != other.wants_second(i) for i in range(500))
    with pytest.raises(SeqpaError, match="from 0 to 1"):
        Team([], 1.5)


def test_what_waits_for_a_second_reader() -> None:
    team = Team(["ann", "bob", "cy"], share=1.0)
    state = state_of(
        ("ann", 3, spans(), "random"),
        ("ann", 1, spans(), "margin"),
        ("bob", 2, spans(), "margin"),
        ("ann", 4, spans(), "margin"),
        ("bob", 4, spans(), "second"),
    )
    assert team.to_second(state, "bob", 0.0) == [3, 1]
    assert team.to_second(state, "ann", 0.0) == [2]
    team.lend(3, "cy", 0.0)
    assert team.to_second(state, "bob", 1.0) == [1]
    assert Team(["ann", "bob"], share=0.0).to_second(state, "bob", 0.0) == []


# Agreement


def random_annotation(rng: np.random.Generator, kind: str, n: int) -> dict[str, Any]:
    if kind == "tokens":
        return {"labels": rng.choice(["A", "B"], n).tolist()}
    start = int(rng.integers(0, n - 1))
    return spans([start, start + 1 + int(rng.integers(0, 2)), str(rng.choice(["A", "B"]))])


@pytest.mark.parametrize("kind", ["spans", "tokens"])
def test_kappa_is_that_of_scikit_learn(kind: str) -> None:
    rng = np.random.default_rng(5)
    given, one, two = [], [], []
    shared = named = 0
    for number in range(40):
        first = random_annotation(rng, kind, 6)
        second = first if rng.random() < 0.6 else random_annotation(rng, kind, 6)
        given += [("ann", number, first, "random"), ("bob", number, second, "second")]
        one += label_column(6, kind, first) or []
        two += label_column(6, kind, second) or []
        if kind == "spans":
            shared += sum(span in second["spans"] for span in first["spans"])
            named += len(first["spans"]) + len(second["spans"])
    found = Team([]).agreement(state_of(*given), sentences(40), kind)
    assert found["agreement"]["kappa"] == pytest.approx(cohen_kappa_score(one, two))
    same = np.mean([a == b for a, b in zip(one, two, strict=True)])
    f1 = 2 * shared / named if kind == "spans" else same
    assert found["agreement"]["f1"] == pytest.approx(f1)
    assert found["agreement"]["sentences"] == 40
    assert found["pairs"] == [{"users": ["ann", "bob"], **found["agreement"]}]


def test_three_readers() -> None:
    a, b = spans([0, 1, "A"]), spans([0, 1, "B"])
    state = state_of(
        ("ann", 0, a, "random"), ("bob", 0, a, "second"),
        ("ann", 1, a, "random"), ("cy", 1, b, "second"),
    )  # fmt: skip
    found = Team([]).agreement(state, sentences(2), "spans")
    assert [(one["users"], one["f1"]) for one in found["pairs"]] == [
        (["ann", "bob"], 1.0),
        (["ann", "cy"], 0.0),
    ]
    assert found["agreement"]["sentences"] == 2
    # 11 of 12 tokens agree; by chance (1/36 + 25/36) x 6 and 25/36 x 6 would.
    chance = 6 * 26 / 36 + 6 * 25 / 36
    assert found["agreement"]["kappa"] == pytest.approx((11 - chance) / (12 - chance))


def test_no_agreement_where_there_is_none_to_measure() -> None:
    team = Team([])
    none = {"agreement": None, "pairs": []}
    assert team.agreement(state_of(), sentences(1), "spans") == none
    alone = state_of(("ann", 0, spans(), "random"))
    assert team.agreement(alone, sentences(1), "spans") == none
    empty = state_of(("ann", 0, spans(), "random"), ("bob", 0, spans(), "second"))
    found = team.agreement(empty, sentences(1), "spans")["agreement"]
    assert found == {"sentences": 1, "f1": None, "kappa": None}


def test_whoever_saw_the_labels_is_no_second_reader() -> None:
    a, b = spans([0, 1, "A"]), spans([0, 1, "B"])
    asked = state_of(("ann", 0, a, "random"), ("bob", 0, b, "asked"))
    assert Team([]).agreement(asked, sentences(1), "spans")["agreement"] is None
    assert Team([]).differences(asked, sentences(1)) == []
    own = state_of(("ann", 0, a, "random"), ("ann", 0, b, "asked"))
    assert readings(own)[0]["ann"].annotation == b  # her own second thoughts


def test_differences_until_they_are_settled() -> None:
    a, b = spans([0, 1, "A"], [2, 3, "B"]), spans([2, 3, "B"], [0, 1, "A"])
    c = spans([0, 2, "A"])
    given = [
        ("ann", 0, a, "random"), ("bob", 0, b, "second"),  # the same in another order
        ("ann", 1, a, "random"), ("bob", 1, c, "second"),
        ("ann", 2, c, "random"), ("bob", 2, a, "second"),
    ]  # fmt: skip
    team = Team([])
    found = team.differences(state_of(*given), sentences(3))
    assert [(one["sentence"], one["settled"]) for one in found] == [(1, False), (2, False)]
    assert found[0]["readings"] == [
        {"user": "ann", "annotation": a},
        {"user": "bob", "annotation": c},
    ]
    assert found[0]["text"] == "w0 w1 w2 w3 w4 w5"
    settled = [*given, ("ann", 1, c, "settle")]
    state = state_of(*settled)
    found = team.differences(state, sentences(3))
    assert [(one["sentence"], one["settled"]) for one in found] == [(2, False), (1, True)]
    # Both readings are still there, and still count for the agreement.
    assert found[1]["readings"][0] == {"user": "ann", "annotation": a}
    assert team.agreement(state, sentences(3), "spans")["agreement"]["sentences"] == 3
    again = state_of(*settled, ("bob", 1, a, "asked"))
    assert team.differences(again, sentences(3))[-1]["sentence"] == 2  # they agree by now
