"""How many keys a labelling costs: from nothing, and from what the model proposed.

One model of the keyboard for both, which is that of the page, so that they can be compared:

- the cursor begins at the first word that is *marked*: one that the model is unsure of, or, where
  every word has a label, one that has none yet; without any, at the first word;
- to *move* is to press an arrow for each word, or Home, End, or the keys that go from one marked
  word to the next, whatever is shortest;
- a span is *extended* by one key for each further word, from either end; to be on a span that is
  shown is to have selected it, and one key *narrows* that to a word of it;
- to *label* takes one key, or, where there are more than ten labels, as many letters of the name as
  tell it from the others, and Enter; to clear takes one key;
- the cursor then goes on to the next marked word by itself;
- one key *accepts* the sentence.

Whatever a new span overlaps gives way to it at no cost. An arrow can also be held, or a word
clicked on: `Keys.held` counts every move as one key, however far it is. That is far less for
labelling by hand, where every span must be gone to and nothing is marked, than for corrections.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

EXTEND = 1  # for each word after the first
NARROW = 1
CLEAR = 1
CONFIRM = 1  # one marked word, as it is shown
ACCEPT = 1
TYPED = 10  # with more labels than this, their names are typed

Annotation = dict[str, Any]


class Keys(NamedTuple):
    """How many keys something takes.

    Parameters
    ----------
    pressed : int
        An arrow counts as often as it is pressed.
    held : int
        A move counts as one key, however far.

    Examples
    --------
    >>> Keys(5, 2).plus(Keys(1, 1))
    Keys(pressed=6, held=3)
    """

    pressed: int
    held: int

    def plus(self, other: Keys) -> Keys:
        """Both, one after the other.

        Parameters
        ----------
        other : Keys

        Returns
        -------
        Keys
        """
        return Keys(self.pressed + other.pressed, self.held + other.held)


class Step(NamedTuple):
    """One correction: what is to be confirmed.

    Parameters
    ----------
    start, end : int
        The words that it is about, the end not included.
    label : str or None
        Their right label; None where there is to be none.

    Examples
    --------
    >>> Step(0, 2, "PER").label
    'PER'
    """

    start: int
    end: int
    label: str | None


class Hand:
    """Counts the keys of one sentence: where the cursor is, and what each step costs from there.

    Parameters
    ----------
    n : int
        The number of words.
    names : sequence of str
        All labels that there are.
    shown : dict
        The labels that are shown first.
    marked : iterable of int
        The words that are marked.

    Examples
    --------
    A span of two words is gone to (two arrows), extended and labelled; the sentence is accepted.

    >>> hand = Hand(5, ["PER", "LOC"], {"spans": []})
    >>> hand.give(Step(2, 4, "PER"), {"spans": [[2, 4, "PER"]]})
    >>> hand.accept()
    Keys(pressed=5, held=4)
    """

    def __init__(
        self, n: int, names: Sequence[str], shown: Annotation, marked: Iterable[int] = ()
    ) -> None:
        self._n = n
        self._names = tuple(names)
        self._keys = Keys(0, 0)
        self._done = bytearray(n)  # words that the hand has settled
        self._see(shown, marked)
        self.cursor = self._places[0] if self._places else 0

    def give(self, step: Step, shown: Annotation, marked: Iterable[int] = ()) -> None:
        """Correct something.

        Parameters
        ----------
        step : Step
        shown : dict
            What is shown afterwards, ...
        marked : iterable of int
            ... and which words are marked then.
        """
        start, end, label = step
        at = next((s for s in self._shown.get("spans", ()) if s[0] <= start < s[1]), None)
        whole = at is not None and (at[0], at[1]) == (start, end)
        self._go(range(start, end) if whole else (start, end - 1))
        cost = CLEAR if label is None else label_keys(label, self._names)
        if not whole:
            inside = at is not None and end - start == 1 and at[1] - at[0] > 1
            cost += EXTEND * (end - start - 1) + (NARROW if inside else 0)
        self._add(cost)
        self._settle(start, end, shown, marked)

    def confirm(self, start: int, end: int, shown: Annotation, marked: Iterable[int] = ()) -> None:
        """Say that something marked is right, and go on to the next.

        Parameters
        ----------
        start, end : int
        shown : dict
        marked : iterable of int
            As for `give`.
        """
        self._go(range(start, end))
        self._add(CONFIRM)
        self._settle(start, end, shown, marked)

    def accept(self) -> Keys:
        """Go on to the next sentence.

        Returns
        -------
        Keys
            All that were pressed.
        """
        self._add(ACCEPT)
        return self._keys

    def _settle(self, start: int, end: int, shown: Annotation, marked: Iterable[int]) -> None:
        self._done[start:end] = b"\1" * (end - start)
        self._see(shown, marked)
        after = [t for t in self._places if t >= end] or self._places
        self.cursor = after[0] if after else end - 1

    def _see(self, shown: Annotation, marked: Iterable[int]) -> None:
        self._shown = shown
        labels = shown.get("labels", ())
        places = {*marked, *(t for t, name in enumerate(labels) if name is None)}
        self._places = sorted(t for t in places if not self._done[t])

    def _add(self, keys: int) -> None:
        self._keys = self._keys.plus(Keys(keys, keys))

    def _go(self, targets: Iterable[int]) -> None:
        """Move to the nearest of some words."""
        ways = [self._way(t) for t in targets]
        self._keys = self._keys.plus(Keys(min(ways), min(1, *ways)))

    def _way(self, to: int) -> int:
        ways = [abs(to - self.cursor), 1 + to, self._n - to]
        later = [t for t in self._places if t > self.cursor]
        earlier = [t for t in reversed(self._places) if t < self.cursor]
        for jumps in (later, earlier):
            ways += [k + abs(to - t) for k, t in enumerate(jumps, 1)]
        return min(ways)


@cache
def label_keys(name: str, names: tuple[str, ...]) -> int:
    """The keys that giving a label takes.

    Parameters
    ----------
    name : str
    names : tuple of str
        All labels that there are.

    Returns
    -------
    int
        1, or where names are typed: as many letters as it takes until the label is the first that
        is offered, and Enter; and one more for a name that begins with no letter.

    Examples
    --------
    >>> label_keys("LOC", ("PER", "LOC"))
    1
    >>> label_keys("NNS", ("NN", "NNP", "NNS", "VB", "VBD", "VBZ", "JJ", "DT", "IN", "TO", "RB"))
    4
    """
    if len(names) <= TYPED:
        return 1
    first = 0 if name[:1].isalnum() else 1
    for length in range(1, len(name) + 1):
        typed = name[:length].lower()
        if min(names, key=lambda one: _rank(one.lower(), typed)) == name:
            return first + length + 1
    return first + len(name) + 1


def _rank(name: str, typed: str) -> int:
    """The order in which the page offers labels for what is typed; of equals the first is first."""
    if name == typed:
        return 0
    if name.startswith(typed):
        return 1
    if any(word.startswith(typed) for word in re.split(r"[\W_]+", name)):
        return 2
    return 3 if typed in name else 4


def by_hand(annotation: Annotation, kind: str, n: int, names: Sequence[str] = ()) -> Keys:
    """The keys that labelling a sentence takes where nothing is proposed.

    Parameters
    ----------
    annotation : dict
        The labels of the sentence.
    kind : "spans" or "tokens"
        What is labelled.
    n : int
        The number of words.
    names : sequence of str
        All labels that there are.

    Returns
    -------
    Keys
        To accept it included.

    Examples
    --------
    >>> by_hand({"spans": [[0, 3, "PER"], [5, 6, "LOC"]]}, "spans", 7)
    Keys(pressed=7, held=6)
    >>> by_hand({"labels": ["DET", "NOUN", None]}, "tokens", 3)
    Keys(pressed=3, held=3)
    """
    return corrections(nothing(kind, n), annotation, kind, n, names=names)


def nothing(kind: str, n: int) -> Annotation:
    """What is shown where nothing is proposed.

    Parameters
    ----------
    kind : "spans" or "tokens"
    n : int

    Returns
    -------
    dict

    Examples
    --------
    >>> nothing("tokens", 2)
    {'labels': [None, None]}
    """
    return {"spans": []} if kind == "spans" else {"labels": [None] * n}


def corrections(
    proposed: Annotation,
    final: Annotation,
    kind: str,
    n: int,
    marked: Iterable[int] = (),
    names: Sequence[str] = (),
) -> Keys:
    """The keys that it takes to come from a proposal to what is right.

    Parameters
    ----------
    proposed, final : dict
        The labels that are shown, and those that are right.
    kind : "spans" or "tokens"
        What is labelled.
    n : int
        The number of words.
    marked : iterable of int
        The words that are marked.
    names : sequence of str
        All labels that there are.

    Returns
    -------
    Keys
        To accept the sentence included, so at least 1.

    Examples
    --------
    >>> right = {"spans": [[0, 3, "PER"], [5, 6, "LOC"]]}
    >>> corrections(right, right, "spans", 7)
    Keys(pressed=1, held=1)
    >>> corrections({"spans": [[0, 3, "ORG"], [4, 6, "LOC"]]}, right, "spans", 7, [1, 5])
    Keys(pressed=4, held=4)
    """
    places = list(marked)
    hand = Hand(n, names, proposed, places)
    for step in steps(proposed, final, kind, n):
        proposed = done(proposed, step)
        hand.give(step, proposed, places)
    return hand.accept()


def done(annotation: Annotation, step: Step) -> Annotation:
    """An annotation after a correction, nothing else proposed anew.

    Parameters
    ----------
    annotation : dict
    step : Step

    Returns
    -------
    dict

    Examples
    --------
    >>> done({"spans": [[0, 2, "PER"]]}, Step(1, 3, "LOC"))
    {'spans': [[1, 3, 'LOC']]}
    """
    start, end, label = step
    if "labels" in annotation:
        labels = list(annotation["labels"])
        labels[start:end] = [label] * (end - start)
        return {"labels": labels}
    kept = [span for span in annotation["spans"] if span[1] <= start or end <= span[0]]
    return {"spans": sorted([*kept, [start, end, label]] if label is not None else kept)}


def steps(proposed: Annotation, final: Annotation, kind: str, n: int) -> list[Step]:
    """What there is to correct, from the first word to the last.

    Parameters
    ----------
    proposed, final : dict
        The labels that are shown, and those that are right.
    kind : "spans" or "tokens"
        What is labelled.
    n : int
        The number of words.

    Returns
    -------
    list of Step
        Those that nothing is to be corrected about have none.

    Examples
    --------
    >>> steps({"spans": [[0, 1, "PER"]]}, {"spans": [[2, 4, "LOC"]]}, "spans", 4)
    [Step(start=0, end=1, label=None), Step(start=2, end=4, label='LOC')]
    >>> steps({"labels": ["DET", "VERB"]}, {"labels": ["DET", "NOUN"]}, "tokens", 2)
    [Step(start=1, end=2, label='NOUN')]
    """
    if kind == "tokens":
        pairs = zip(proposed["labels"], final["labels"], strict=True)
        return [Step(i, i + 1, right) for i, (shown, right) in enumerate(pairs) if shown != right]
    shown = {(start, end): label for start, end, label in proposed["spans"]}
    right = {(start, end): label for start, end, label in final["spans"]}
    found = []
    covered = bytearray(n)
    for (start, end), label in right.items():
        covered[start:end] = b"\1" * (end - start)
        if shown.get((start, end)) != label:
            found.append(Step(start, end, label))
    for start, end in shown:
        if not any(covered[start:end]):
            found.append(Step(start, end, None))
    return sorted(found, key=lambda step: step[:2])


def same(one: Annotation, two: Annotation, n: int) -> bool:
    """Whether two labellings say the same, in whatever order their spans are.

    Parameters
    ----------
    one, two : dict
        Labels of the same sentence.
    n : int
        The number of words.

    Returns
    -------
    bool

    Examples
    --------
    >>> same({"spans": [[1, 2, "A"], [0, 1, "B"]]}, {"spans": [[0, 1, "B"], [1, 2, "A"]]}, 2)
    True
    """
    return not steps(one, two, "tokens" if "labels" in one else "spans", n)
