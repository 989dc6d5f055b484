"""Progress: only new random sentences count, and intervals hold what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seqpa.teach.curve import design_effect, doubling, interval
from seqpa.teach.events import State
from seqpa.teach.keystrokes import Hand, by_hand, corrections, label_keys, same, steps
from seqpa.teach.progress import PAUSE, progress
from seqpa.teach.store import Event, Sentence

HOUR = 3600.0


def sentences(n: int, length: int = 6) -> list[Sentence]:
    tokens = [f"w{i}" for i in range(length)]
    offsets = [[3 * i, 3 * i + 2] for i in range(length)]
    return [Sentence(i, "a.txt", i, " ".join(tokens), tokens, offsets) for i in range(n)]


def accept(
    number: int, right: Any, said: Any, why: str = "random", user: str = "ann", **more: Any
) -> Event:
    body = {"why": why, "predicted": said, "proposed": said}
    given = {"seconds": 4.0, "keys": 2, "id": number + 1, "time": float(number), **more}
    return Event("accept", user, given.pop("time"), body, number, right, **given)


def spans(*given: list[Any]) -> dict[str, Any]:
    return {"spans": list(given)}


# What counts


def test_scores_by_hand() -> None:
    right = spans([0, 2, "PER"], [3, 4, "LOC"])
    said = spans([0, 2, "PER"], [3, 4, "PER"])
    events = [accept(0, right, said), accept(1, right, right), accept(2, right, spans())]
    found = progress(State(["PER", "LOC"], events), sentences(9), "spans", 10.0)
    random = found["random"]
    assert (random["sentences"], random["tokens"]) == (3, 18)
    assert random["accuracy"] == pytest.approx((5 + 6 + 3) / 18)
    assert random["f1"] == pytest.approx(2 * 3 / (6 + 4))
    assert found["types"] == [
        {"label": "LOC", "precision": 1.0, "recall": 1 / 3, "f1": 0.5, "support": 3},
        {"label": "PER", "precision": 2 / 3, "recall": 2 / 3, "f1": pytest.approx(2 / 3),
         "support": 3},
    ]  # fmt: skip
    assert found["unchanged"] == pytest.approx(1 / 3)
    # By hand: extend and label (the cursor is there already), move and label, accept.
    assert found["keys"] == {"pressed": 6, "by_hand": 3 * 5, "saved": pytest.approx(0.6)}


def test_only_random_sentences_that_were_new_count() -> None:
    right, wrong = spans([0, 1, "PER"]), spans()
    events = [
        accept(0, right, right),
        accept(1, right, wrong, why="margin"),  # chosen because it is hard
        Event("partial", "ann", 2.0, {"confirmed": [[0, 1, "PER"]]}, 2, id=3),
        accept(2, right, wrong, id=4),  # learned in part before
        accept(0, right, wrong, user="bob", id=5),  # learned before
        accept(3, right, wrong, id=6),
        Event("undo", "ann", 9.0, {}, 3, undoes=6, id=7),
    ]
    found = progress(State(["PER"], events), sentences(9), "spans", 10.0)["random"]
    assert (found["sentences"], found["accuracy"]) == (1, 1.0)


def test_labels_that_were_corrected_later_are_the_right_ones() -> None:
    first, later = spans([0, 1, "PER"]), spans([0, 2, "PER"])
    events = [accept(0, first, later), accept(0, later, first, why="asked", id=2)]
    found = progress(State(["PER"], events), sentences(3), "spans", 10.0)["random"]
    assert (found["sentences"], found["f1"]) == (1, 1.0)


def test_labels_go_under_their_names_of_today() -> None:
    def change(number: int, **body: Any) -> Event:
        return Event("labels", "ann", 0.0, body, id=number)

    def relabel(number: int, base: int, cause: int, right: Any) -> Event:
        return Event("relabel", "ann", 0.0, {}, base - 1, right, base=base, cause=cause, id=number)

    events = [
        accept(0, spans([0, 1, "A"]), spans([0, 1, "A"])),
        change(2, action="rename", old="A", new="B"),
        relabel(3, 1, 2, spans([0, 1, "B"])),
        change(4, action="add", name="A"),
        accept(4, spans([0, 1, "A"]), spans([0, 1, "A"])),
        change(6, action="merge", old="B", into="C"),
        relabel(7, 1, 6, spans([0, 1, "C"])),
    ]
    found = progress(State(["A", "C"], events), sentences(9), "spans", 10.0)
    assert [(one["label"], one["f1"]) for one in found["types"]] == [("A", 1.0), ("C", 1.0)]


def test_tokens_without_a_label_say_nothing() -> None:
    right = {"labels": ["N", "V", None, None, "N", "N"]}
    said = {"labels": ["N", "N", "V", "V", "N", "N"]}
    found = progress(State(["N", "V"], [accept(0, right, said)]), sentences(2), "tokens", 9.0)
    random = found["random"]
    assert (random["tokens"], random["accuracy"], random["f1"]) == (4, 0.75, 0.75)
    assert (random["low"], random["high"]) == (random["f1_low"], random["f1_high"])


def test_nothing_yet() -> None:
    found = progress(State(["A"]), sentences(3), "spans", 0.0)
    assert (found["random"], found["curve"], found["types"]) == (None, [], [])
    assert (found["per_hour"], found["minutes"], found["unchanged"]) == (None, 0.0, None)
    assert found["keys"] == {"pressed": 0, "by_hand": 0, "saved": None}
    assert found["advice"]["state"] == "early"


# Time


def test_pauses_do_not_count() -> None:
    right = spans()
    times = [4.0, 6.0, 5.0, 10 * PAUSE]
    events = [accept(i, right, right, seconds=t) for i, t in enumerate(times)]
    found = progress(State(["A"], events), sentences(9), "spans", 10.0)
    assert found["minutes"] == pytest.approx(20 / 60)
    assert found["per_hour"] == pytest.approx(4 * HOUR / 20)


def test_the_speed_is_that_of_the_last_day() -> None:
    slow = [accept(i, spans(), spans(), seconds=60.0) for i in range(3)]
    fast = [accept(i, spans(), spans(), seconds=5.0, time=1e6) for i in range(3, 6)]
    state = State(["A"], slow + fast)
    assert progress(state, sentences(9), "spans", 1e6)["per_hour"] == pytest.approx(HOUR / 5)
    later = progress(state, sentences(9), "spans", 9e6)
    assert later["per_hour"] == pytest.approx(6 * HOUR / 195)
    assert later["users"] == [{"name": "ann", "labelled": 6, "per_hour": later["per_hour"]}]


# How sure


def drawn(
    rng: np.random.Generator, n: int, share: float, together: float
) -> tuple[np.ndarray, np.ndarray]:
    """Sentences whose words are right together: a beta-binomial with this correlation."""
    size = rng.integers(3, 30, n)
    a = (1 / together - 1) * np.array([share, 1 - share])
    return rng.binomial(size, rng.beta(*a, n)).astype(float), size.astype(float)


@pytest.mark.parametrize(
    ("share", "together", "n"), [(0.8, 0.2, 30), (0.95, 0.1, 50), (0.9, 0.02, 8)]
)
def test_intervals_hold_the_true_share_as_often_as_they_say(
    share: float, together: float, n: int
) -> None:
    rng = np.random.default_rng(1)
    held = naive = 0
    for _ in range(400):
        right, size = drawn(rng, n, share, together)
        found = interval(right.sum(), size.sum(), n, design_effect(right, size))
        held += found.low <= share <= found.high
        words = interval(right.sum(), size.sum(), 10**6, 1.0)
        naive += words.low <= share <= words.high
    assert held / 400 > 0.91
    if together > 0.05:
        assert naive / 400 < 0.85  # words taken one by one: the interval is too narrow


def test_few_or_faultless_sentences_claim_little() -> None:
    assert interval(6, 6, 1, 1.0)[1:] == (0.0, 1.0)
    all_right = np.full(5, 6.0)
    assert design_effect(all_right, all_right) == 6.0
    assert interval(30, 30, 5, 6.0).low < 0.6


def curve_of(power: float, at_first: float, n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    labelled = np.arange(0.0, n, 4)
    size = rng.integers(3, 30, len(labelled))
    wrong = rng.binomial(size, at_first * np.maximum(labelled, 1) ** -power)
    return doubling(wrong.astype(float), size.astype(float), labelled, float(n))


@pytest.mark.parametrize(("power", "at_first"), [(0.4, 0.8), (0.2, 0.3), (0.0, 0.1)])
def test_what_doubling_brings_is_held_by_its_limits(power: float, at_first: float) -> None:
    n = 800
    true = at_first * n**-power * (1 - 2**-power)
    found = [curve_of(power, at_first, n, seed) for seed in range(60)]
    assert np.mean([one.low <= true <= one.high for one in found]) >= 0.87
    assert np.mean([one.value for one in found]) == pytest.approx(true, abs=0.004)


def test_no_curve_without_enough_sentences_or_mistakes() -> None:
    ones, before = np.ones(29), np.arange(29.0)
    assert doubling(ones, 9 * ones, before, 29.0) is None
    many = np.ones(60)
    assert doubling(0 * many, 9 * many, np.arange(60.0), 60.0) is None


def advice(power: float, at_first: float, n: int = 4000, size: int = 25) -> str:
    """After n sentences, of which every fourth came by chance."""
    rng = np.random.default_rng(3)
    events = []
    right = {"labels": ["N"] * size}
    for i in range(n):
        wrong = rng.random(size) < at_first * max(i, 1) ** -power
        said = {"labels": ["V" if one else "N" for one in wrong]}
        events.append(accept(i, right, said, why="random" if i % 4 == 0 else "margin"))
    found = progress(State(["N", "V"], events), sentences(2 * n, size), "tokens", 1e5)
    assert found["advice"]["text"]
    curve = found["curve"]
    assert len(curve) <= 20
    assert all(one["low"] <= one["accuracy"] <= one["high"] for one in curve)
    assert [one["labelled"] for one in curve] == sorted(one["labelled"] for one in curve)
    return str(found["advice"]["state"])


def test_advice_follows_the_curve() -> None:
    assert advice(0.3, 0.9, n=60) == "early"
    assert advice(0.5, 3.0, n=600) == "learning"
    assert advice(0.2, 0.4, n=2000) == "slowing"
    assert advice(0.05, 0.02, n=2000) == "enough"


def test_all_labelled_is_enough() -> None:
    state = State(["A"], [accept(0, spans(), spans())])
    assert progress(state, sentences(1), "spans", 1.0)["advice"]["state"] == "enough"


# Keys


def reached(proposed: dict[str, Any], final: dict[str, Any], n: int) -> dict[str, Any]:
    """What the steps lead to, played on the proposal."""
    kind = "spans" if "spans" in final else "tokens"
    now = {tuple(span) for span in proposed.get("spans", ())}
    labels = list(proposed.get("labels", ()))
    for start, end, label in steps(proposed, final, kind, n):
        if kind == "tokens":
            labels[start] = label
            continue
        now = {span for span in now if span[1] <= start or span[0] >= end}
        if label is not None:
            now.add((start, end, label))
    return {"labels": labels} if kind == "tokens" else spans(*sorted(map(list, now)))


def random_spans(rng: np.random.Generator, n: int) -> dict[str, Any]:
    cuts = sorted(rng.choice(n + 1, size=2 * int(rng.integers(0, 3)), replace=False).tolist())
    pairs = zip(cuts[::2], cuts[1::2], strict=True)
    return spans(*[[a, b, str(rng.choice(["A", "B"]))] for a, b in pairs])


def test_steps_lead_from_any_proposal_to_what_is_right() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        n = int(rng.integers(4, 9))
        one, two = random_spans(rng, n), random_spans(rng, n)
        assert reached(one, two, n) == two
        assert same(one, two, n) == (one == two)
        least, most = corrections(two, two, "spans", n), by_hand(two, "spans", n)
        assert (1, 1) == least <= most
        assert most.held <= most.pressed
        words = [{"labels": rng.choice(["A", "B"], n).tolist()} for _ in range(2)]
        assert reached(words[0], words[1], n) == words[1]
    # The cursor goes on by itself to the next word without a label.
    assert by_hand({"labels": ["A"] * 5}, "tokens", 5) == (6, 6)


def test_keys_are_those_of_the_page() -> None:
    names = ["PER", "LOC"]
    right = spans([1, 3, "PER"], [7, 8, "LOC"])
    # One arrow, one to extend, label; five arrows from word 2, or End and one back; accept.
    assert by_hand(right, "spans", 9, names) == (3 + 3 + 1, 3 + 2 + 1)
    # The cursor is at the first marked word, and goes on to the next one.
    shown = spans([1, 3, "LOC"], [7, 8, "PER"])
    assert corrections(shown, right, "spans", 9, [2, 7], names) == (3, 3)
    # To a word that is not marked, by way of one that is.
    assert corrections(spans([1, 3, "PER"]), right, "spans", 30, [0, 6], names) == (4, 3)
    # One word of a longer span must be told from the span.
    assert corrections(spans([0, 3, "PER"]), spans([0, 1, "PER"]), "spans", 3) == (3, 3)
    hand = Hand(3, names, spans(), [0, 2])
    hand.confirm(0, 1, spans(), [0, 2])
    assert hand.cursor == 2
    assert hand.accept() == (2, 2)


def test_many_labels_are_typed() -> None:
    names = ["NN", "NNS", "NNP", "NNPS", "VB", "VBD", "DT", "IN", "to-go", ",", "``", "GO"]
    keys = {name: label_keys(name, tuple(names)) for name in names}
    assert keys == {
        "NN": 2, "NNS": 4, "NNP": 4, "NNPS": 5, "VB": 2, "VBD": 4, "DT": 2, "IN": 2, "to-go": 2,
        ",": 3, "``": 3, "GO": 2,
    }  # fmt: skip
