"""`correct`, `asked`: what an annotator who knows the right labels does with one sentence.

Whole: the annotator sees what the model proposes, corrects the first mistake, lets the rest be
decoded again under what is confirmed, and accepts when all is right. Or as asked: the annotator
goes from one word that the model is unsure of to the next, confirms or corrects what stands there,
and leaves the rest to the model, mistakes included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from seqpa.teach.keystrokes import Hand, Keys, Step, by_hand, corrections, nothing, steps
from seqpa.teach.model import ASKED, UNSURE, Proposal, TaughtModel

Annotation = dict[str, Any]


class Work(NamedTuple):
    """What a sentence took.

    Attributes
    ----------
    keys : Keys
        With new proposals after each correction.
    once : Keys
        Without them.
    by_hand : Keys
        For labelling the sentence whole, without any proposal.
    tokens : int
        That were judged: all, or those that were confirmed or corrected.
    corrected : int
        Those of them that were wrong.
    confirmed : list
        What was said of a sentence that is not labelled whole: [start, end, label or None].
    """

    keys: Keys
    once: Keys
    by_hand: Keys
    tokens: int
    corrected: int
    confirmed: list[list[Any]]


def correct(
    model: TaughtModel, tokens: list[str], final: Annotation, cells: Any, prelabel: bool = True
) -> Work:
    """Come from what a model proposes to the labels of an annotator; nothing is learned.

    Parameters
    ----------
    model : TaughtModel
    tokens : list of str
    final : dict
        What the annotator takes to be right.
    cells : None, or for each token a list of its further cells
    prelabel : bool
        Whether anything is proposed.

    Returns
    -------
    Work

    Examples
    --------
    >>> model = TaughtModel("spans", ["PER"])
    >>> correct(model, ["So", "Ada", "won"], {"spans": [[1, 2, "PER"]]}, None).keys
    Keys(pressed=3, held=3)
    """
    n, kind, names = len(tokens), model.kind, model.labels
    hand = by_hand(final, kind, n, names)
    # A tagger that has learned nothing has nothing to say.
    if not prelabel or model.clock == 0:
        wrong = steps(nothing(kind, n), final, kind, n)
        return Work(hand, hand, hand, n, sum(one.end - one.start for one in wrong), [])
    proposal = model.propose(tokens, (), cells)
    marked = _below(proposal, UNSURE)
    once = corrections(proposal.annotation, final, kind, n, marked, names)
    own = Hand(n, names, proposal.annotation, marked)
    touched = 0
    confirmed: list[list[Any]] = []
    while wrong := steps(proposal.annotation, final, kind, n):
        first = wrong[0]
        touched += first.end - first.start
        confirmed.append([*first])
        proposal = model.propose(tokens, confirmed, cells)
        own.give(first, proposal.annotation, _below(proposal, UNSURE))
    return Work(own.accept(), once, hand, n, touched, [])


def asked(model: TaughtModel, tokens: list[str], final: Annotation, cells: Any) -> Work:
    """Judge the words that a model is unsure of, and no others; nothing is learned.

    A span is judged whole. The last key confirms all that is marked and right, and goes on; what is
    right before a mistake is confirmed one by one on the way to it.

    Parameters
    ----------
    model : TaughtModel
    tokens : list of str
    final : dict
        What the annotator takes to be right.
    cells : None, or for each token a list of its further cells

    Returns
    -------
    Work

    Examples
    --------
    >>> model = TaughtModel("tokens", ["A", "B"])
    >>> _ = model.learn(["so", "it"], {"labels": ["A", "B"]})  # after which it is sure of nothing
    >>> asked(model, ["so", "it", "is"], {"labels": ["A", "B", "B"]}, None).confirmed
    [[0, 1, 'A'], [1, 2, 'B'], [2, 3, 'B']]
    """
    n, kind, names = len(tokens), model.kind, model.labels
    proposal = model.propose(tokens, (), cells)
    own = Hand(n, names, proposal.annotation, _below(proposal, ASKED))
    done = bytearray(n)
    confirmed: list[list[Any]] = []
    corrected = 0
    while places := [t for t in _below(proposal, ASKED) if not done[t]]:
        judged = [_judged(t, proposal.annotation, final, done) for t in places]
        if not any(is_wrong for _, is_wrong in judged):
            pieces = dict.fromkeys(step for step, _ in judged)  # a span may be marked twice
            confirmed += [[*step] for step in pieces]
            break
        step, is_wrong = judged[0]
        confirmed.append([*step])
        done[step.start : step.end] = b"\1" * (step.end - step.start)
        proposal = model.propose(tokens, confirmed, cells)
        told = proposal.annotation, _below(proposal, ASKED)
        if is_wrong:
            corrected += step.end - step.start
            own.give(step, *told)
        else:
            own.confirm(step.start, step.end, *told)
    keys = own.accept()
    judged_tokens = sum(end - start for start, end, _ in confirmed)
    return Work(
        keys, keys, by_hand(final, kind, n, names), judged_tokens, corrected, sorted(confirmed)
    )


def _below(proposal: Proposal, limit: float) -> list[int]:
    return [t for t, sure in enumerate(proposal.sure) if sure < limit]


def _judged(t: int, shown: Annotation, final: Annotation, done: Sequence[int]) -> tuple[Step, bool]:
    """What an annotator says at word t, and whether that is a correction."""
    if "labels" in final:
        name = final["labels"][t]
        return Step(t, t + 1, name), shown["labels"][t] != name
    proposed = next((span for span in shown["spans"] if span[0] <= t < span[1]), None)
    # What is right there; or in the place of what is proposed, if it was not judged before.
    around = [span for span in final["spans"] if span[0] <= t < span[1]]
    if not around and proposed is not None:
        around = [s for s in final["spans"] if s[0] < proposed[1] and proposed[0] < s[1]]
    around = [span for span in around if not any(done[span[0] : span[1]])]
    if around:
        return Step(*around[0]), [*around[0]] != proposed
    if proposed is not None and not any(done[proposed[0] : proposed[1]]):
        return Step(proposed[0], proposed[1], None), True
    return Step(t, t + 1, None), proposed is not None


def noisy(
    annotation: Annotation, kind: str, labels: Sequence[str], noise: float, rng: np.random.Generator
) -> Annotation:
    """What an annotator makes of the right labels who errs with some probability.

    A token gets another label; a span is overlooked or gets another type, as often the one as the
    other.

    Parameters
    ----------
    annotation : dict
    kind : "spans" or "tokens"
    labels : sequence of str
        All that there are.
    noise : float
        How probable a mistake is, for each token or span.
    rng : numpy.random.Generator

    Returns
    -------
    dict

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noisy({"labels": ["A", "B"]}, "tokens", ["A", "B"], 0.9, rng)
    {'labels': ['B', 'A']}
    """
    if noise == 0.0:
        return annotation

    def other(name: str) -> str | None:
        rest = [label for label in labels if label != name]
        return rest[int(rng.integers(len(rest)))] if rest else None

    if kind == "tokens":
        given = annotation["labels"]
        return {"labels": [(rng.random() < noise and other(name)) or name for name in given]}
    found = []
    for start, end, name in annotation["spans"]:
        if rng.random() >= noise:
            found.append([start, end, name])
        elif rng.random() < 0.5 and (wrong := other(name)) is not None:
            found.append([start, end, wrong])
    return {"spans": found}
