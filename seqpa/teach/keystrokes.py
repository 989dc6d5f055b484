"""How many keys a labelling costs: from nothing, and from what the model proposed.

One model of the keyboard for both, so that they can be compared. A key is pressed once

- to *move* to a word, however far it is (the arrow is held, or the word is clicked on),
- for each word that a span is *extended* by,
- to *label* what is marked, or to clear it,
- to *accept* the sentence.

So a span of three words costs four keys, a word's label two. A wrong label on a right span costs
two: to come to a span is to mark it. Whatever a new span overlaps gives way to it at no cost. Far
moves would cost more on a real keyboard, and most of all by hand, where every span must be gone to:
what is said to be saved is rather too little than too much.
"""

from __future__ import annotations

from typing import Any, NamedTuple

MOVE = 1
EXTEND = 1  # for each word after the first
LABEL = 1  # also: to clear
ACCEPT = 1

Annotation = dict[str, Any]


class Step(NamedTuple):
    """One correction: what is to be confirmed, and how many keys that takes.

    Parameters
    ----------
    start, end : int
        The words that it is about, the end not included.
    label : str or None
        Their right label; None where there is to be none.
    keys : int
        What it costs.

    Examples
    --------
    >>> Step(0, 2, "PER", 3).keys
    3
    """

    start: int
    end: int
    label: str | None
    keys: int


def by_hand(annotation: Annotation, kind: str, n: int) -> int:
    """The keys that labelling a sentence takes where nothing is proposed.

    Parameters
    ----------
    annotation : dict
        The labels of the sentence.
    kind : "spans" or "tokens"
        What is labelled.
    n : int
        The number of words.

    Returns
    -------
    int
        To accept it included.

    Examples
    --------
    >>> by_hand({"spans": [[0, 3, "PER"], [5, 6, "LOC"]]}, "spans", 7)
    7
    >>> by_hand({"labels": ["DET", "NOUN", None]}, "tokens", 3)
    5
    """
    nothing = {"spans": []} if kind == "spans" else {"labels": [None] * n}
    return corrections(nothing, annotation, kind, n)


def corrections(proposed: Annotation, final: Annotation, kind: str, n: int) -> int:
    """The keys that it takes to come from a proposal to what is right.

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
    int
        To accept the sentence included, so at least 1.

    Examples
    --------
    >>> right = {"spans": [[0, 3, "PER"], [5, 6, "LOC"]]}
    >>> corrections(right, right, "spans", 7)
    1
    >>> corrections({"spans": [[0, 3, "ORG"], [4, 6, "LOC"]]}, right, "spans", 7)
    5
    """
    return ACCEPT + sum(step.keys for step in steps(proposed, final, kind, n))


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
    [Step(start=0, end=1, label=None, keys=2), Step(start=2, end=4, label='LOC', keys=3)]
    >>> steps({"labels": ["DET", "VERB"]}, {"labels": ["DET", "NOUN"]}, "tokens", 2)
    [Step(start=1, end=2, label='NOUN', keys=2)]
    """
    if kind == "tokens":
        pairs = zip(proposed["labels"], final["labels"], strict=True)
        return [
            Step(i, i + 1, right, MOVE + LABEL)
            for i, (shown, right) in enumerate(pairs)
            if shown != right
        ]
    shown = {(start, end): label for start, end, label in proposed["spans"]}
    right = {(start, end): label for start, end, label in final["spans"]}
    found = []
    covered = bytearray(n)
    for (start, end), label in right.items():
        covered[start:end] = b"\1" * (end - start)
        if shown.get((start, end)) != label:
            marked = (start, end) in shown
            extend = 0 if marked else EXTEND * (end - start - 1)
            found.append(Step(start, end, label, MOVE + extend + LABEL))
    for start, end in shown:
        if not any(covered[start:end]):
            found.append(Step(start, end, None, MOVE + LABEL))
    return sorted(found, key=lambda step: (step.start, step.end))


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
