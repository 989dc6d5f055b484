"""seqeval's functions, to the digit: its scripts run with one import changed.

Without ``mode="strict"`` labels are read as conlleval reads them, which knows B, I, E, S and O;
with it, and a scheme, only spans count that are written as the scheme writes them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError, SeqpaWarning, did_you_mean
from seqpa.evaluate.scores import LabelLists, Score, check_lengths, counted
from seqpa.schemes import BEGIN, END, INSIDE, OUTSIDE, SINGLE, Span, boundary, spans, strict_spans
from seqpa.schemes import tag_and_type as cut

IOB1, IOB2, IOE1, IOE2, IOBES, BILOU = "IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU"
# seqeval's schemes: what we call them, and their letters.
_SCHEMES = {
    IOB1: ("iob1", "IOB"),
    IOB2: ("iob2", "IOB"),
    IOE1: ("ioe1", "IOE"),
    IOE2: ("ioe2", "IOE"),
    IOBES: ("bioes", "IOBES"),
    BILOU: ("bilou", "BILOU"),
}
# Which scheme labels are in, by their letters without O, where none is named.
_DETECTED = {
    IOB2: ("B", "BI"),
    IOE2: ("E", "EI"),
    IOBES: ("BE", "BEI", "BES", "BEIS", "S"),
    BILOU: ("BL", "BIL", "BLU", "BILU", "U"),
}
# Alone they are known only where there is no O, too.
_ONLY_ALONE = frozenset({"S", "U"})
_AVERAGES = (None, "micro", "macro", "weighted")
_NO_TYPE = "_"
_OTHER = "X"  # any letter that conlleval does not know
Scores = tuple[Any, Any, Any, Any]


def precision_recall_fscore_support(
    y_true: LabelLists,
    y_pred: LabelLists,
    *,
    average: str | None = None,
    beta: float = 1.0,
    warn_for: tuple[str, ...] = ("precision", "recall", "f-score"),
    sample_weight: Any = None,
    zero_division: Any = "warn",
    suffix: bool = False,
    mode: str | None = None,
    scheme: Any = None,
) -> Scores:
    """Precision, recall, F-score and how many spans there are, of each type or on average.

    Parameters
    ----------
    y_true, y_pred : lists of lists of str
        The right labels of each sentence, and the predicted ones.
    average : None, "micro", "macro" or "weighted"
        None gives an array with a value for each type, in alphabetical order.
    beta : float
        How much more recall counts than precision.
    warn_for : tuple of str
        Of which of the three to warn where a denominator is missing.
    sample_weight : None
        Of no effect, as in seqeval.
    zero_division : "warn", 0 or 1
        What a ratio without a denominator is; "warn" is 0 with a warning.
    suffix : bool
        Labels are written ``PER-B`` instead of ``B-PER``.
    mode : None or "strict"
        Strict needs a scheme, too.
    scheme : None, a name such as "IOB2", or a class of seqeval's
        How spans are written, for the strict mode.

    Returns
    -------
    precision, recall, f_score, support : float or array

    Examples
    --------
    >>> gold, found = [["B-PER", "I-PER", "B-LOC"]], [["B-PER", "O", "B-LOC"]]
    >>> precision_recall_fscore_support(gold, found, average="micro")
    (0.5, 0.5, 0.5, 2)
    """
    if beta < 0:
        raise SeqpaError("beta should be 0 or more in the F-beta score")
    found = _checked(y_true, y_pred, average, suffix, mode, scheme)
    return _summed(found, average, beta, sample_weight, zero_division, tuple(warn_for))


def precision_score(
    y_true: LabelLists,
    y_pred: LabelLists,
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: Any = None,
    zero_division: Any = "warn",
    scheme: Any = None,
) -> Any:
    """The share of the predicted spans that are right.

    Parameters
    ----------
    y_true, y_pred, average, suffix, mode, sample_weight, zero_division, scheme : object
        As for `precision_recall_fscore_support`.

    Returns
    -------
    float, or an array for each type

    Examples
    --------
    >>> precision_score([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]])
    1.0
    """
    found = _checked(y_true, y_pred, average, suffix, mode, scheme)
    return _summed(found, average, 1.0, sample_weight, zero_division, ("precision",))[0]


def recall_score(
    y_true: LabelLists,
    y_pred: LabelLists,
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: Any = None,
    zero_division: Any = "warn",
    scheme: Any = None,
) -> Any:
    """The share of the right spans that were predicted.

    Parameters
    ----------
    y_true, y_pred, average, suffix, mode, sample_weight, zero_division, scheme : object
        As for `precision_recall_fscore_support`.

    Returns
    -------
    float, or an array for each type

    Examples
    --------
    >>> recall_score([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]])
    0.5
    """
    found = _checked(y_true, y_pred, average, suffix, mode, scheme)
    return _summed(found, average, 1.0, sample_weight, zero_division, ("recall",))[1]


def f1_score(
    y_true: LabelLists,
    y_pred: LabelLists,
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: Any = None,
    zero_division: Any = "warn",
    scheme: Any = None,
) -> Any:
    """The harmonic mean of precision and recall of spans.

    Parameters
    ----------
    y_true, y_pred, average, suffix, mode, sample_weight, zero_division, scheme : object
        As for `precision_recall_fscore_support`.

    Returns
    -------
    float, or an array for each type

    Examples
    --------
    >>> gold, found = [["B-PER", "I-PER", "B-LOC"]], [["I-PER", "I-PER", "B-LOC"]]
    >>> f1_score(gold, found), f1_score(gold, found, mode="strict", scheme=IOB2)
    (1.0, 0.6666666666666666)
    """
    found = _checked(y_true, y_pred, average, suffix, mode, scheme)
    return _summed(found, average, 1.0, sample_weight, zero_division, ("f-score",))[2]


def accuracy_score(y_true: Any, y_pred: Any) -> float:
    """The share of tokens whose label is right.

    Parameters
    ----------
    y_true, y_pred : lists of lists of str, or one list of labels

    Returns
    -------
    float

    Examples
    --------
    >>> accuracy_score([["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]])
    0.6666666666666666
    """
    pairs = _flat_pairs(y_true, y_pred)
    if not pairs:
        raise SeqpaError("there is no token to score: every sentence is empty")
    return sum(g == p for g, p in pairs) / len(pairs)


def performance_measure(y_true: Any, y_pred: Any) -> dict[str, int]:
    """How many tokens are true and false positives and negatives, O being negative.

    Parameters
    ----------
    y_true, y_pred : lists of lists of str, or one list of labels

    Returns
    -------
    dict
        TP, FP, FN and TN. A label that is wrong and not O is a false positive.

    Examples
    --------
    >>> performance_measure([["B-PER", "I-PER", "O", "O"]], [["B-PER", "O", "O", "B-LOC"]])
    {'TP': 1, 'FP': 1, 'FN': 1, 'TN': 1}
    """
    pairs = _flat_pairs(y_true, y_pred)
    return {
        "TP": sum(g == p != OUTSIDE for g, p in pairs),
        "FP": sum(g != p != OUTSIDE for g, p in pairs),
        "FN": sum(g != p == OUTSIDE for g, p in pairs),
        "TN": sum(g == p == OUTSIDE for g, p in pairs),
    }


def classification_report(
    y_true: LabelLists,
    y_pred: LabelLists,
    digits: int = 2,
    suffix: bool = False,
    output_dict: bool = False,
    mode: str | None = None,
    sample_weight: Any = None,
    zero_division: Any = "warn",
    scheme: Any = None,
) -> Any:
    """Precision, recall and F1 of each type of span, and three averages, as a table or a dict.

    Parameters
    ----------
    y_true, y_pred : lists of lists of str
        The right labels of each sentence, and the predicted ones.
    digits : int
        Behind the point.
    suffix : bool
        As for `precision_recall_fscore_support`.
    output_dict : bool
        Give a dict instead of text.
    mode, sample_weight, zero_division : object
        As for `precision_recall_fscore_support`.
    scheme : None, a name such as "IOB2", or a class of seqeval's
        For the strict mode, which recognises IOB2, IOE2, IOBES and BILOU where none is named.

    Returns
    -------
    str or dict

    Examples
    --------
    >>> gold, found = [["B-PER", "I-PER", "B-LOC"]], [["B-PER", "O", "B-LOC"]]
    >>> print(classification_report(gold, found, mode="strict", scheme=IOB2))
                  precision    recall  f1-score   support
    <BLANKLINE>
             LOC       1.00      1.00      1.00         1
             PER       0.00      0.00      0.00         1
    <BLANKLINE>
       micro avg       0.50      0.50      0.50         2
       macro avg       0.50      0.50      0.50         2
    weighted avg       0.50      0.50      0.50         2
    <BLANKLINE>
    """
    if mode == "strict" and scheme is None:
        _check_lists(y_true, y_pred)
        scheme = _detected(y_true, suffix)
    found = _scores(y_true, y_pred, suffix, mode, scheme)
    told = ("precision", "recall", "f-score")
    by_type = _summed(found, None, 1.0, sample_weight, zero_division, told)
    rows = list(zip(found, *(column.tolist() for column in by_type), strict=True))
    averages = [
        (f"{name} avg", *_summed(found, name, 1.0, sample_weight, zero_division, told))
        for name in _AVERAGES[1:]
    ]
    names = ("precision", "recall", "f1-score", "support")
    if output_dict:
        return {name: dict(zip(names, row, strict=True)) for name, *row in (*rows, *averages)}
    width = max([len("weighted avg"), digits, *map(len, found)])
    head = f"{'':>{width}} " + "".join(f" {name:>9}" for name in names)
    tables = [
        [
            f"{name:>{width}}  {p:>9.{digits}f} {r:>9.{digits}f} {f:>9.{digits}f} {n:>9}"
            for name, p, r, f, n in table
        ]
        for table in (rows, averages)
    ]
    return "\n".join([head, "", *tables[0], "", *tables[1], ""])


# The spans


def _checked(
    y_true: LabelLists,
    y_pred: LabelLists,
    average: str | None,
    suffix: bool,
    mode: str | None,
    scheme: Any,
) -> dict[str, Score]:
    if average not in _AVERAGES:
        hint = did_you_mean(average, _AVERAGES[1:], listed=False)
        raise SeqpaError(f"average: {average!r} is none of None, micro, macro, weighted{hint}")
    return _scores(y_true, y_pred, suffix, mode, scheme)


def _scores(
    y_true: LabelLists, y_pred: LabelLists, suffix: bool, mode: str | None, scheme: Any
) -> dict[str, Score]:
    """The counts of each type of span."""
    _check_lists(y_true, y_pred)
    if mode not in (None, "strict"):
        raise SeqpaError(f"mode: {mode!r} is neither None nor 'strict'")
    if mode == "strict" and scheme is not None:
        name = _scheme_name(scheme)
        read = _strict_reader(name, suffix)
        return counted(zip(map(read, y_true), map(read, y_pred), strict=True))
    _warn_of_letters(chain(*y_true, *y_pred), suffix)
    # As one long sentence, whose parts O keeps apart.
    return counted([(_loose(y_true, suffix), _loose(y_pred, suffix))])


def _check_lists(y_true: LabelLists, y_pred: LabelLists) -> None:
    if set(map(type, y_true)) | set(map(type, y_pred)) != {list}:
        raise TypeError("y_true and y_pred must be lists of lists of labels, one for each sentence")
    check_lengths(y_true, y_pred, "predicted labels")


def _parts(label: str, suffix: bool, strict: bool) -> tuple[str, str]:
    """The letter of a label and its type, as seqeval cuts it in either mode."""
    if not label:
        raise SeqpaError("a label is empty: every token needs one, such as O or B-PER")
    letter, rest = (label[-1], label[:-1]) if suffix else (label[0], label[1:])
    if strict:
        kind = rest.strip("-")
    else:
        kind = rest.rsplit("-", maxsplit=1)[0] if suffix else rest.split("-", maxsplit=1)[-1]
    return letter, kind or _NO_TYPE


def _loose(sentences: LabelLists, suffix: bool) -> list[Span]:
    """The spans of all sentences, as seqeval reads them where it is not strict.

    As `seqpa.schemes.spans`, but for letters that conlleval does not know: a span that they begin
    ends only where the type changes, and is lost where another begins before.
    """
    found: list[Span] = []
    begin = 0
    before = OUTSIDE
    flat = [*chain.from_iterable([*sentence, OUTSIDE] for sentence in sentences), OUTSIDE]
    # There are many labels, and few different ones.
    plain = {}
    for label in set(flat):
        letter, kind = _parts(label, suffix, strict=False)
        known = letter in (BEGIN, INSIDE, END, SINGLE, OUTSIDE, ".")
        plain[label] = f"{letter if known else _OTHER}-{kind}"
    limits: dict[tuple[str, str], tuple[bool, bool]] = {}
    for position, now in enumerate(map(plain.__getitem__, flat)):
        pair = before, now
        if pair not in limits:
            limits[pair] = boundary(before, now)
        ends, starts = limits[pair]
        if ends:
            found.append((cut(before)[1], begin, position))
        if starts:
            begin = position
        before = now
    return found


def _strict_reader(scheme: str, suffix: bool) -> Callable[[Sequence[str]], list[Span]]:
    ours, letters = _SCHEMES[scheme]

    def read(labels: Sequence[str]) -> list[Span]:
        plain = []
        for label in labels:
            letter, kind = _parts(label, suffix, strict=True)
            if letter not in letters:
                raise SeqpaError(
                    f"{label!r} is no label of {scheme}, which has {', '.join(letters)}"
                )
            plain.append(OUTSIDE if letter == OUTSIDE else f"{letter}-{kind}")
        if scheme == IOB1:
            return _strict_iob1(plain)
        found = strict_spans(plain, ours)
        return [span for span in found if scheme != IOE1 or _begins_ioe1(plain, span)]

    return read


def _strict_iob1(labels: list[str]) -> list[Span]:
    """As seqeval reads IOB1: a needless B is no part of the span behind it, and a span that is
    only a B is overlooked before a B of another type."""
    found: list[Span] = []
    for kind, start, end in spans(labels):
        needed = start > 0 and labels[start - 1] != OUTSIDE and cut(labels[start - 1])[1] == kind
        begin = start + (cut(labels[start])[0] == BEGIN and not needed)
        overlooked = (
            end < len(labels) and cut(labels[end - 1])[0] == cut(labels[end])[0] == BEGIN
        ) and cut(labels[end])[1] != kind
        if begin < end and not overlooked:
            found.append((kind, begin, end))
    return found


def _begins_ioe1(labels: list[str], span: Span) -> bool:
    """seqeval overlooks a span that is only an E, unless another E of its type stands before."""
    kind, start, _ = span
    alone = cut(labels[start])[0] == END
    return not alone or (start > 0 and labels[start - 1] == f"{END}-{kind}")


def _scheme_name(scheme: Any) -> str:
    """seqeval's name of a scheme: of a class of its own, or of a name of ours or theirs."""
    name = scheme if isinstance(scheme, str) else getattr(scheme, "__name__", repr(scheme))
    ours = {our_name: theirs for theirs, (our_name, _) in _SCHEMES.items()}
    known = ours.get(name.lower(), name.upper())
    if known not in _SCHEMES:
        raise SeqpaError(f"scheme: {name!r} is not known{did_you_mean(name, _SCHEMES)}")
    return known


def _detected(sentences: LabelLists, suffix: bool) -> str:
    """The scheme of labels by their letters, as seqeval finds it."""
    letters = {_parts(label, suffix, strict=True)[0] for label in chain.from_iterable(sentences)}
    outside = OUTSIDE in letters
    rest = "".join(sorted(letters - {OUTSIDE}))
    for scheme, known in _DETECTED.items():
        if rest in known and not (rest in _ONLY_ALONE and outside):
            return scheme
    raise SeqpaError(
        f"no scheme is known by the letters {', '.join(sorted(letters)) or 'of no label at all'}; "
        f"name one: scheme={', '.join(_SCHEMES)}"
    )


def _warn_of_letters(labels: Any, suffix: bool) -> None:
    usual = (BEGIN, INSIDE, END, SINGLE)
    for label in sorted(set(labels) - {OUTSIDE, *usual}):
        marked = label[-2:] if suffix else label[:2]
        if marked.strip("-") not in usual or "-" not in marked:
            warnings.warn(
                f"{label!r} is no chunk label that is known without mode='strict' (B, I, E, S, O)",
                SeqpaWarning,
                stacklevel=4,
            )
            return


def _flat_pairs(y_true: Any, y_pred: Any) -> list[tuple[str, str]]:
    if any(isinstance(labels, list) for labels in y_true):
        check_lengths(y_true, y_pred, "predicted labels")
        y_true, y_pred = list(chain.from_iterable(y_true)), list(chain.from_iterable(y_pred))
    if len(y_true) != len(y_pred):
        raise SeqpaError(f"{len(y_true)} gold labels but {len(y_pred)} predicted labels")
    return list(zip(y_true, y_pred, strict=True))


# The numbers


def _summed(
    scores: dict[str, Score],
    average: str | None,
    beta: float,
    sample_weight: Any,
    zero_division: Any,
    asked: tuple[str, ...],
) -> Scores:
    """Precision, recall, F-score and support; in seqeval's order of operations, for every digit."""
    if sample_weight is not None:
        warnings.warn("sample_weight has no effect, as in seqeval", SeqpaWarning, stacklevel=3)
    counts = [(score.correct, score.predicted, score.gold) for score in scores.values()]
    table = np.array(counts, dtype=np.int64).reshape(-1, 3)
    if average == "micro":
        table = table.sum(axis=0, keepdims=True)
    right, found, there = table.T
    precision = _divided(right, found, zero_division)
    recall = _divided(right, there, zero_division)
    if zero_division == "warn":
        _warn_of_nothing(found, there, asked)
    if np.isposinf(beta):
        f_score = recall
    else:
        below = beta**2 * precision + recall
        below[below == 0.0] = 1.0
        f_score = (1 + beta**2) * precision * recall / below
    support = int(there.sum())
    if average is None:
        return precision, recall, f_score, there
    if average == "weighted" and support == 0:
        nothing = 1.0 if zero_division == 1 else 0.0
        none_found = nothing if found.sum() == 0 else 0.0
        return none_found, nothing, none_found, support
    if not len(table):
        warnings.warn("no span has a type: the mean is not a number", RuntimeWarning, stacklevel=3)
        return np.nan, np.nan, np.nan, support
    weights = there if average == "weighted" else None
    means = [float(np.average(values, weights=weights)) for values in (precision, recall, f_score)]
    return means[0], means[1], means[2], support


def _divided(
    above: NDArray[np.int64], below: NDArray[np.int64], zero_division: Any
) -> NDArray[np.float64]:
    if zero_division not in ("warn", 0, 1):
        raise SeqpaError(f"zero_division: {zero_division!r} is none of 'warn', 0, 1")
    result = above / np.maximum(below, 1)
    result[below == 0] = 1.0 if zero_division == 1 else 0.0
    return result


def _warn_of_nothing(
    found: NDArray[np.int64], there: NDArray[np.int64], asked: tuple[str, ...]
) -> None:
    """Warn of each ratio without a denominator, with scikit-learn's warning."""
    f_alone = asked == ("f-score",)
    told = []
    if f_alone and bool(((found == 0) & (there == 0)).any()):
        told.append(("F-score", "right nor predicted"))
    if "precision" in asked and bool((found == 0).any()):
        told.append(("Precision", "predicted"))
    if "recall" in asked and bool((there == 0).any()):
        told.append(("Recall", "right"))
    if not told:
        return
    from sklearn.exceptions import UndefinedMetricWarning

    for name, what in told:
        warnings.warn(
            f"{name} is set to 0 where there is no {what} span; zero_division=0 says nothing",
            UndefinedMetricWarning,
            stacklevel=4,
        )
