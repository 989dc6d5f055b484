"""An evaluation in a few lines: the headline, the worst labels, the mistakes that matter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from seqpa.evaluate.scores import Evaluation, Score

# A label with fewer right occurrences says little; where all have fewer, it is among the worst too.
_OFTEN = 10


def headline(evaluation: Evaluation) -> str:
    """The score that counts: the F1 of spans where labels mark spans, else accuracy.

    Parameters
    ----------
    evaluation : Evaluation

    Returns
    -------
    str

    Examples
    --------
    >>> from seqpa.evaluate import evaluate
    >>> print(headline(evaluate([["B-x", "O", "B-y"]], [["B-x", "O", "O"]])))
    F1 66.67  (precision 100.00, recall 50.00, 2 spans)
    >>> print(headline(evaluate([["N", "V", "N"]], [["N", "V", "V"]])))
    accuracy 66.67  (3 tokens)
    """
    micro = evaluation.span_micro
    if micro is None:
        return f"accuracy {_percent(evaluation.accuracy)}  ({_many(evaluation.tokens, 'token')})"
    return (
        f"F1 {_percent(micro.f1)}  (precision {_percent(micro.precision)}, recall "
        f"{_percent(micro.recall)}, {_many(micro.gold, 'span')})"
    )


def details(evaluation: Evaluation) -> str:
    """What else is measured of the whole: tokens, known and new words, sentences, cost.

    Parameters
    ----------
    evaluation : Evaluation

    Returns
    -------
    str
        One line.

    Examples
    --------
    >>> from seqpa.evaluate import evaluate
    >>> words, known = [["so", "it"]], {"it"}
    >>> details(evaluate([["B-x", "O"]], [["B-x", "B-x"]], words, known))
    'accuracy 50.00 of 2 tokens (known words 0.00, 1 new 100.00), sentences 0.00'
    """
    words = ""
    seen, unseen = evaluation.seen_accuracy, evaluation.unseen_accuracy
    if seen is not None and unseen is not None and evaluation.unseen is not None:
        n = evaluation.unseen[1]
        new = f"{n:,} new {_percent(unseen)}" if n else "none new"
        words = f"known words {_percent(seen)}, {new}"
    parts = [f"sentences {_percent(evaluation.sentence_accuracy)}"]
    if evaluation.spans is not None:
        tokens = f"accuracy {_percent(evaluation.accuracy)} of {_many(evaluation.tokens, 'token')}"
        parts.insert(0, f"{tokens} ({words})" if words else tokens)
    elif words:
        parts.insert(0, words)
    if evaluation.cost is not None:
        parts.append(f"cost {evaluation.cost:.4f}")
    return ", ".join(parts)


def worst(evaluation: Evaluation, most: int = 5) -> list[tuple[str, Score]]:
    """The types of spans, or labels, with the lowest F1 among those that occur often.

    Parameters
    ----------
    evaluation : Evaluation
    most : int
        How many; those that are all right are never among them.

    Returns
    -------
    list of (str, Score)

    Examples
    --------
    >>> from seqpa.evaluate import evaluate
    >>> [name for name, _ in worst(evaluate([["N", "V", "D"] * 9], [["N", "N", "D"] * 9]))]
    ['V', 'N']
    """
    scores = units(evaluation)
    often = {name: score for name, score in scores.items() if score.gold >= _OFTEN} or scores
    wrong = [(name, score) for name, score in often.items() if score.f1 < 1]
    return sorted(wrong, key=lambda item: (item[1].f1, -item[1].gold, item[0]))[:most]


def units(evaluation: Evaluation) -> Mapping[str, Score]:
    """What is scored: types of spans where labels mark spans, else labels.

    Parameters
    ----------
    evaluation : Evaluation

    Returns
    -------
    mapping
        The `Score` of each.

    Examples
    --------
    >>> from seqpa.evaluate import evaluate
    >>> sorted(units(evaluate([["B-x", "I-x"]], [["B-x", "I-x"]])))
    ['x']
    """
    return evaluation.labels if evaluation.spans is None else evaluation.spans


def mistakes(evaluation: Evaluation, most: int = 5) -> list[tuple[str, int]]:
    """The most frequent mistakes, in words, and how often each was made.

    Parameters
    ----------
    evaluation : Evaluation
    most : int
        How many.

    Returns
    -------
    list of (str, int)

    Examples
    --------
    >>> from seqpa.evaluate import evaluate
    >>> mistakes(evaluate([["B-x", "O", "B-y"]], [["B-y", "O", "O"]]))
    [('x taken for y', 1), ('y missed', 1)]
    >>> mistakes(evaluate([["N", "V"]], [["N", "N"]]))
    [('V taken for N', 1)]
    """
    if evaluation.span_mistakes is not None:
        told = [(_in_words(*what), n) for what, n in evaluation.span_mistakes.items()]
    else:
        wrong = [(what, n) for what, n in evaluation.confusion.items() if what[0] != what[1]]
        wrong.sort(key=lambda item: (-item[1], item[0]))
        told = [(f"{gold} taken for {found}", n) for (gold, found), n in wrong]
    return told[:most]


def _in_words(gold: str, found: str, what: str) -> str:
    gold, found = gold or "a span", found or "a span"
    if what == "type":
        return f"{gold} taken for {found}"
    if what == "extent":
        return f"{gold} in part" if gold == found else f"{gold} in part, as {found}"
    return f"{gold} missed" if what == "missed" else f"{found} where there is none"


def score_table(name: str, scores: Sequence[tuple[str, Score]]) -> str:
    """Precision, recall and F1 as aligned text.

    Parameters
    ----------
    name : str
        What is scored: span or label.
    scores : sequence of (str, Score)
        The rows, in this order.

    Returns
    -------
    str

    Examples
    --------
    >>> print(score_table("span", [("PER", Score(2, 3, 5))]))
    span          precision  recall      F1    gold
    PER               66.67   40.00   50.00       5
    """
    width = max([12, *(len(row) for row, _ in scores)])
    lines = [f"{name:<{width}}  precision  recall      F1    gold"]
    lines += [
        f"{row:<{width}}  {100 * score.precision:9.2f} {100 * score.recall:7.2f} "
        f"{100 * score.f1:7.2f} {score.gold:7d}"
        for row, score in scores
    ]
    return "\n".join(lines)


def count_table(rows: Iterable[tuple[str, int]]) -> str:
    """Counts and what they count, as aligned text.

    Parameters
    ----------
    rows : iterable of (str, int)
        What, and how often.

    Returns
    -------
    str

    Examples
    --------
    >>> print(count_table([("x taken for y", 12), ("y missed", 3)]))
       12  x taken for y
        3  y missed
    """
    return "\n".join(f"{n:>5,}  {what}" for what, n in rows)


def _percent(score: float) -> str:
    return f"{100 * score:.2f}"


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
