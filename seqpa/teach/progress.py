"""How good the tagger is by now, how fast the work goes, and whether it is worth going on.

How good: sentences that came by chance are scored by what the model said of them right before it
learned them. No other sentences count, since the strategy chooses those that are hard; nor those
that were learned from before, wholly or in part. They are drawn from what is still open, so the
score is that of the sentences which are left. The right labels are those that count now, also where
they were corrected later; labels that were renamed or merged go under their names of today.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from seqpa.data.teach_project import label_column
from seqpa.evaluate.scores import Score, counted
from seqpa.teach.curve import Gain, design_effect, doubling, interval
from seqpa.teach.events import State
from seqpa.teach.keystrokes import by_hand, same
from seqpa.teach.store import Event, Sentence

RECENT = 50  # random sentences that today's score is counted over
RECENT_TYPES = 200  # those of single labels, which are rarer
POINTS = 20  # of the curve, at most
_LEAST_IN_POINT = 5
PAUSE = 120.0  # whoever looks at a sentence for longer, in seconds, has gone away
_DAY = 86_400.0
# Where the labels that are shown are not the model's proposal for a new sentence.
_NOT_NEW = ("again", "asked", "second")
# Doubling the work surely brings less than so much: it slows down; it is enough.
SLOW, ENOUGH = 0.03, 0.01

Annotation = dict[str, Any]


class _Reading(NamedTuple):
    """A random sentence: what was said of it and what is right, and how much was labelled before.

    ``right`` and ``all`` are tokens; ``matched`` and ``named`` are twice the right spans, and the
    spans of both sides (where tokens are labelled: twice the tokens).
    """

    labelled: int
    right: int
    all: int
    matched: int
    named: int
    gold: list[tuple[str, int, int]]
    said: list[tuple[str, int, int]]


def progress(state: State, sentences: Sequence[Sentence], kind: str, now: float) -> dict[str, Any]:
    """What the page of progress shows.

    Parameters
    ----------
    state : State
        What events have made of the project.
    sentences : sequence of Sentence
        Those of the project, by their numbers.
    kind : "spans" or "tokens"
        What is labelled.
    now : float
        Seconds since 1970: the speed is that of the last day, if there was work in it.

    Returns
    -------
    dict
        ``random``: how right the model was in the last random sentences (None before there are
        any), with limits that hold for sentences, not for words (see `seqpa.teach.curve`); where
        tokens are labelled, F1 is the accuracy. ``curve``: the same in pieces, from the first to
        the last. ``types``: scores by label. ``per_hour`` (None if not known) and ``minutes``:
        long pauses do not count. ``keys``: those that were pressed, those of labelling by hand
        (see `seqpa.teach.keystrokes`), the share that was saved. ``unchanged``: the share of
        proposals that were accepted as they were. ``advice``: ``state`` and ``text``. ``users``:
        name, labelled, per_hour.

    Examples
    --------
    >>> first = Sentence(0, "a", 0, "Ann left", ["Ann", "left"], [[0, 3], [4, 8]])
    >>> sentences = [first, first._replace(id=1, position=1)]
    >>> right, said = {"spans": [[0, 1, "PER"]]}, {"spans": []}
    >>> body = {"why": "random", "proposed": said, "predicted": said}
    >>> event = Event("accept", "ann", 5.0, body, 0, right, seconds=4.0, keys=3, id=1)
    >>> found = progress(State(["PER"], [event]), sentences, "spans", now=10.0)
    >>> found["random"]["accuracy"], found["per_hour"], found["keys"]["by_hand"]
    (0.5, 900.0, 2)
    >>> found["advice"]["state"]
    'early'
    """
    accepted = [event for event in state.valid if event.kind == "accept"]
    readings = _readings(state, sentences, kind)
    recent = readings[-RECENT:]
    speed, minutes = _speed(state.valid, now)
    left = len(sentences) - len(state.labellings)
    gain = _gain(readings, len(state.labellings))
    what = "F1" if kind == "spans" else "accuracy"
    return {
        "random": _scored(recent, readings) if recent else None,
        "curve": _curve(readings),
        "types": _types(readings[-RECENT_TYPES:]),
        "per_hour": speed,
        "minutes": minutes,
        "keys": _keys(state, sentences, kind),
        "unchanged": _unchanged(accepted, sentences),
        "advice": _advice(gain, len(readings), len(state.labellings), left, speed, what),
        "users": _users(state, now),
    }


# How good


def _readings(state: State, sentences: Sequence[Sentence], kind: str) -> list[_Reading]:
    names = _names_of_today(state.valid)
    touched: set[int] = set()
    found = []
    for event, today in zip(state.valid, names, strict=True):
        number = event.sentence
        if number is None or event.kind not in ("accept", "settle", "partial"):
            continue
        new = number not in touched
        labelled = len(touched)
        touched.add(number)
        said = event.body.get("predicted")
        if not new or event.kind != "accept" or event.body.get("why") != "random" or said is None:
            continue
        gold = state.current(number)
        assert gold is not None  # this event is one
        said = _renamed(said, today)
        found.append(_reading(labelled, gold, said, kind, len(sentences[number].tokens)))
    return found


def _names_of_today(events: Sequence[Event]) -> list[Mapping[str, str]]:
    """What labels that were meant at the time of each event are called now."""
    today: dict[str, str] = {}
    found: list[Mapping[str, str]] = []
    for event in reversed(events):
        found.append(today)
        if event.kind != "labels":
            continue
        change = event.body
        today = dict(today)
        if change.get("action") == "rename":
            today[change["old"]] = today.pop(change["new"], change["new"])
        elif change.get("action") == "merge":
            today[change["old"]] = today.get(change["into"], change["into"])
        elif change.get("action") == "add":
            today.pop(change["name"], None)
    return found[::-1]


def _renamed(annotation: Annotation, names: Mapping[str, str]) -> Annotation:
    if not names:
        return annotation
    if "labels" in annotation:
        return {"labels": [name and names.get(name, name) for name in annotation["labels"]]}
    return {"spans": [[s, e, names.get(name, name)] for s, e, name in annotation["spans"]]}


def _reading(labelled: int, gold: Annotation, said: Annotation, kind: str, n: int) -> _Reading:
    right = label_column(n, kind, gold) or []
    predicted = label_column(n, kind, said) or []
    pairs = [(g, p) for g, p in zip(right, predicted, strict=True) if g is not None]
    same = sum(g == p for g, p in pairs)
    if kind == "tokens":
        known = [i for i, label in enumerate(right) if label is not None]
        golden = [(str(right[i]), i, i + 1) for i in known]
        told = [(str(predicted[i]), i, i + 1) for i in known if predicted[i] is not None]
        return _Reading(labelled, same, len(pairs), 2 * same, 2 * len(pairs), golden, told)
    golden = [(label, start, end) for start, end, label in gold["spans"]]
    told = [(label, start, end) for start, end, label in said["spans"]]
    matched = 2 * len(set(golden) & set(told))
    return _Reading(labelled, same, len(pairs), matched, len(golden) + len(told), golden, told)


def _scored(some: Sequence[_Reading], all: Sequence[_Reading]) -> dict[str, Any]:
    """The scores of some sentences; how mistakes keep together is told by all."""
    table = np.array([reading[1:5] for reading in all], float)
    own = np.array([reading[1:5] for reading in some])
    right, tokens, matched, named = own.sum(axis=0).tolist()
    accuracy = interval(right, tokens, len(some), design_effect(table[:, 0], table[:, 1]))
    # A span that both sides name is named twice: half of that are observations.
    with_spans = sum(reading.named > 0 for reading in some)
    effect = design_effect(table[:, 2] / 2, table[:, 3] / 2)
    f1 = interval(matched / 2, named / 2, with_spans, effect)
    return {
        "sentences": len(some),
        "tokens": tokens,
        "accuracy": accuracy.value,
        "low": accuracy.low,
        "high": accuracy.high,
        "f1": f1.value,
        "f1_low": f1.low,
        "f1_high": f1.high,
    }


def _curve(readings: Sequence[_Reading]) -> list[dict[str, Any]]:
    """Pieces that share no sentence, so that each says something of its own."""
    points = min(POINTS, len(readings) // _LEAST_IN_POINT)
    found = []
    for piece in np.array_split(np.arange(len(readings)), points) if points else []:
        some = [readings[i] for i in piece]
        scored = _scored(some, readings)
        labelled = round(float(np.mean([reading.labelled for reading in some])))
        kept = {name: scored[name] for name in ("accuracy", "low", "high", "f1")}
        found.append({"labelled": labelled, **kept})
    return found


def _types(readings: Sequence[_Reading]) -> list[dict[str, Any]]:
    scores: dict[str, Score] = counted((reading.gold, reading.said) for reading in readings)
    return [
        {
            "label": label,
            "precision": score.precision,
            "recall": score.recall,
            "f1": score.f1,
            "support": score.gold,
        }
        for label, score in scores.items()
    ]


# How fast


def _speed(events: Sequence[Event], now: float) -> tuple[float | None, float]:
    """Sentences an hour, and the minutes of work in all."""
    times = _active(events)
    total = sum(times.values())
    lately = [event for event in events if now - _DAY <= event.time <= now]
    if not any(_finishes(event) and event.id in times for event in lately):
        lately = list(events)
    seconds = sum(times.get(event.id, 0.0) for event in lately)
    labelled = sum(_finishes(event) and event.id in times for event in lately)
    return (3600 * labelled / seconds if seconds and labelled else None), total / 60


def _finishes(event: Event) -> bool:
    """Whether all that was asked for of a sentence was said by it."""
    return event.kind == "accept" or bool(event.kind == "partial" and event.body.get("done"))


def _active(events: Sequence[Event]) -> dict[int, float]:
    """The seconds that each event took; a pause counts as the user's median sentence."""
    given = [event for event in events if event.seconds is not None]
    usual: dict[str, list[float]] = {}
    for event in given:
        if event.seconds is not None and event.seconds <= PAUSE:
            usual.setdefault(event.user, []).append(event.seconds)
    middle = {user: median(times) for user, times in usual.items()}
    return {
        event.id: seconds if seconds <= PAUSE else middle.get(event.user, PAUSE)
        for event in given
        if (seconds := event.seconds) is not None
    }


def _users(state: State, now: float) -> list[dict[str, Any]]:
    found = []
    for user in sorted({event.user for event in state.valid}):
        own = [event for event in state.valid if event.user == user]
        labelled = sum(user in readers for readers in state.labellings.values())
        found.append({"name": user, "labelled": labelled, "per_hour": _speed(own, now)[0]})
    return found


# What it saves


def _keys(state: State, sentences: Sequence[Sentence], kind: str) -> dict[str, Any]:
    """Keys that were pressed, where they were counted; those of unfinished sentences too. The page
    counts an arrow that is held as one key, and so does what it would have taken by hand."""
    pressed = hand = 0
    names = state.labels.names
    for event in state.valid:
        if event.keys is None or event.sentence is None:
            continue
        n = len(sentences[event.sentence].tokens)
        if event.kind == "accept" and event.body.get("why") not in _NOT_NEW:
            assert event.annotation is not None
            hand += by_hand(event.annotation, kind, n, names).held
            pressed += event.keys
        elif event.kind == "partial":
            pressed += event.keys
            if event.body.get("done"):
                # Of these, only what has a label: by hand nobody would have said of other words
                # that they have none, nor known which to ask for.
                given = [piece for piece in event.body["confirmed"] if piece[2] is not None]
                hand += by_hand(_only(given, kind, n), kind, n, names).held
    return {"pressed": pressed, "by_hand": hand, "saved": 1 - pressed / hand if hand else None}


def _only(pieces: Sequence[Sequence[Any]], kind: str, n: int) -> Annotation:
    """An annotation that has these pieces and no more."""
    if kind == "spans":
        return {"spans": list(pieces)}
    return {"labels": label_column(n, kind, None, pieces) or [None] * n}


def _unchanged(accepted: Sequence[Event], sentences: Sequence[Sentence]) -> float | None:
    new = [
        same(event.body["proposed"], event.annotation or {}, len(sentences[event.sentence].tokens))
        for event in accepted
        if event.body.get("proposed") is not None
        and event.body.get("why") not in _NOT_NEW
        and event.sentence is not None
    ]
    return sum(new) / len(new) if new else None


# Whether to go on


def _gain(readings: Sequence[_Reading], labelled: int) -> Gain | None:
    table = np.array([reading[:5] for reading in readings], float).reshape(-1, 5)
    return doubling(table[:, 4] - table[:, 3], table[:, 4], table[:, 0], float(max(1, labelled)))


def _advice(
    gain: Gain | None, random: int, labelled: int, left: int, speed: float | None, what: str
) -> dict[str, str]:
    if left <= 0 and labelled:
        return {"state": "enough", "text": "Every sentence is labelled."}
    if gain is None:
        more = f"{random} random sentences are too few to tell how it goes on"
        return {"state": "early", "text": f"{more}: go on."}
    hours = f", about {_hours(labelled / speed)} of work" if speed else ""
    as_many = f"as many again ({labelled} sentences{hours})"
    low, high = 100 * max(0.0, gain.low), 100 * gain.high
    if gain.high < ENOUGH:
        text = f"Labelling {as_many} would bring at most {max(high, 0.0):.1f} points of {what}."
        return {"state": "enough", "text": text}
    told = f"would bring {low:.1f} to {high:.1f} points of {what}"
    if gain.high < SLOW:
        return {"state": "slowing", "text": f"It learns more slowly now: {as_many} {told}."}
    if gain.low > 0:
        return {"state": "learning", "text": f"It is learning: {as_many} {told}."}
    text = f"It cannot be told yet whether it still learns: {as_many} {told}."
    return {"state": "early", "text": text}


def _hours(hours: float) -> str:
    return f"{hours:.0f} h" if hours >= 2 else f"{60 * hours:.0f} min"
