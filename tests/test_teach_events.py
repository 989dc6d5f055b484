"""Events: what undo takes back, the label set, and annotations that come from outside."""

from __future__ import annotations

from typing import Any

import pytest

from seqpa.errors import SeqpaError
from seqpa.teach.events import State, changed, checked, checked_spans
from seqpa.teach.labels import LabelSet
from seqpa.teach.store import Event


def event(number: int, kind: str, user: str = "ann", **more: Any) -> Event:
    return Event(kind, user, 0.0, more.pop("body", {}), id=number, **more)


def labels(number: int, user: str = "ann", **change: Any) -> Event:
    return event(number, "labels", user, body=change)


A, B = {"spans": [[0, 1, "A"]]}, {"spans": []}


def test_undo_gives_back_what_was_before() -> None:
    state = State(["A"], [event(1, "accept", sentence=0, annotation=A)])
    state.add(event(2, "accept", sentence=0, annotation=B))
    assert state.current(0) == B
    assert state.to_undo("ann").id == 2
    state.add(event(3, "undo", undoes=2))
    assert state.current(0) == A
    assert state.to_undo("ann").id == 1
    state.add(event(4, "undo", undoes=1))
    assert state.current(0) is None
    with pytest.raises(SeqpaError, match="nothing to undo"):
        state.to_undo("ann")


def test_undo_takes_what_an_event_caused_along() -> None:
    events = [
        event(1, "accept", sentence=0, annotation=A),
        labels(2, action="rename", old="A", new="C"),
        event(3, "relabel", sentence=0, annotation={"spans": [[0, 1, "C"]]}, base=1, cause=2),
    ]
    state = State(["A"], events)
    assert (state.current(0), state.labels.names) == ({"spans": [[0, 1, "C"]]}, ["C"])
    undone = State(["A"], [*events, event(4, "undo", undoes=2)])
    assert (undone.current(0), undone.labels.names) == (A, ["A"])
    gone = State(["A"], [*events, event(4, "undo", undoes=1)])
    assert (gone.current(0), gone.labels.names) == (None, ["C"])


def test_what_touches_all_is_undone_only_while_it_is_the_last() -> None:
    state = State(["A"], [labels(1, action="add", name="B")])
    assert state.to_undo("ann").id == 1
    state.add(event(2, "accept", "bob", sentence=0, annotation=A))
    with pytest.raises(SeqpaError, match="bob has gone on since"):
        state.to_undo("ann")


def test_readers_labellings_stand_beside_each_other() -> None:
    state = State(
        ["A"],
        [
            event(1, "accept", "ann", sentence=0, annotation=A),
            event(2, "accept", "bob", sentence=0, annotation=B),
            event(3, "relabel", "bob", sentence=0, annotation=B, base=1),
        ],
    )
    assert {user: one.id for user, one in state.labellings[0].items()} == {"ann": 3, "bob": 2}
    assert state.latest(0).id == 3  # type: ignore[union-attr]


def test_flags_skips_and_unfinished_sentences() -> None:
    state = State(
        ["A"],
        [
            event(1, "flag", sentence=0, body={"note": "odd"}),
            event(2, "skip", sentence=1),
            event(3, "partial", sentence=2, body={"confirmed": [[0, 1, "A"]]}),
            event(4, "guidelines", body={"text": "Names."}),
        ],
    )
    assert (state.flags, state.skipped, state.guidelines) == ({0: "odd"}, {1: {"ann"}}, "Names.")
    assert list(state.partial) == [2]
    state.add(event(5, "accept", sentence=2, annotation=A))
    state.add(event(6, "flag", sentence=0, body={"note": None}))
    assert (state.flags, state.partial) == ({}, {})
    state.add(event(7, "undo", undoes=5))
    assert list(state.partial) == [2]


# The label set


def test_changes_of_the_label_set() -> None:
    found = LabelSet(["PER", "LOC"])
    for change in (
        {"action": "add", "name": "ORG", "key": "9"},
        {"action": "rename", "old": "LOC", "new": "PLACE"},
        {"action": "recolour", "name": "PER", "colour": next(iter(found)).colour},
        {"action": "rekey", "name": "PER", "key": "x"},
        {"action": "merge", "old": "ORG", "into": "PER"},
    ):
        found.change(change)
    assert [(one.name, one.key) for one in found] == [("PER", "x"), ("PLACE", "o")]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, "choose one of add"),
        ({"action": "add", "name": "PER"}, "already"),
        ({"action": "add", "name": " x"}, "no name"),
        ({"action": "add", "name": 7}, "no name"),
        ({"action": "add", "name": "X", "key": "p"}, "has a label already"),
        ({"action": "add", "name": "X", "key": "u"}, "no key"),
        ({"action": "add", "name": "X", "colour": "mud"}, "colour"),
        ({"action": "rename", "old": "PRE", "new": "X"}, "did you mean 'PER'|no label"),
        ({"action": "rename", "old": "PER", "new": "LOC"}, "already"),
        ({"action": "merge", "old": "PER", "into": "PER"}, "into itself"),
        ({"action": "rekey", "name": "PER", "key": "ab"}, "no key"),
    ],
)
def test_changes_that_are_refused_change_nothing(change: dict[str, Any], told: str) -> None:
    found = LabelSet(["PER", "LOC"])
    before = list(found)
    with pytest.raises(SeqpaError, match=told):
        found.change(change)
    assert list(found) == before


def test_every_label_gets_a_key_of_its_own_while_there_are_some() -> None:
    found = LabelSet([f"LABEL{i}" for i in range(60)])
    keys = [one.key for one in found if one.key]
    assert len(keys) == len(set(keys)) > 20
    assert not set(keys) & set("hjklusfg?")


def test_labels_may_be_called_as_those_that_mark_spans_word_by_word() -> None:
    """One label a word may well be O, which has no colour on other pages, or B-NP."""
    found = {one.name: one.colour for one in LabelSet(["B-NP", "O", "B-", "I-NP", "NP"])}
    assert len(set(found.values())) == 5
    assert found["B-NP"] == next(iter(LabelSet(["NP"]))).colour


# From outside


@pytest.mark.parametrize(
    ("annotation", "kind", "told"),
    [
        (None, "spans", "the form"),
        ({"labels": []}, "spans", "the form"),
        ({"spans": {}}, "spans", "the form"),
        ({"spans": [[0, 1]]}, "spans", "the form"),
        ({"spans": [[0, 1, "X"]]}, "spans", "no label 'X'"),
        ({"spans": [[0, 1, None]]}, "spans", "no label"),
        ({"spans": [[0, 1, ["A"]]]}, "spans", "no label"),
        ({"spans": [[0, 4, "A"]]}, "spans", "outside of 3"),
        ({"spans": [[1, 1, "A"]]}, "spans", "outside"),
        ({"spans": [[True, 2, "A"]]}, "spans", "outside"),
        ({"spans": [[0.0, 2, "A"]]}, "spans", "outside"),
        ({"spans": [[0, 2, "A"], [1, 3, "A"]]}, "spans", "overlap"),
        ({"labels": ["A"]}, "tokens", "1 labels for 3"),
        ({"labels": ["A", "B", "X"]}, "tokens", "no label 'X'"),
        ({"labels": [None, None, None]}, "tokens", "no token has a label"),
    ],
)
def test_annotations_that_are_refused(annotation: Any, kind: str, told: str) -> None:
    with pytest.raises(SeqpaError, match=told):
        checked(annotation, kind, 3, LabelSet(["A", "B"]))


def test_annotations_that_are_taken() -> None:
    known = LabelSet(["A", "B"])
    given = {"spans": [(2, 3, "B"), (0, 2, "A")]}
    assert checked(given, "spans", 3, known) == {"spans": [[0, 2, "A"], [2, 3, "B"]]}
    assert checked({"labels": [None, "A"]}, "tokens", 2, known) == {"labels": [None, "A"]}
    assert checked_spans([[1, 2, None]], 2, known) == [[1, 2, None]]
    assert changed({"spans": [[0, 1, "A"], [1, 2, "B"]]}, "A", None) == {"spans": [[1, 2, "B"]]}
