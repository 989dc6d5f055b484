"""How sure the tagger is, and whether it is right to be so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seqpa.calibration import (
    expected_calibration_error,
    reliability,
    selective,
    sentence_confidence,
    span_outcomes,
    token_outcomes,
)
from seqpa.report.tagged import Tagged
from seqpa.schemes import OUTSIDE, Span

_BINS = 10
# So many of the surest mistakes, and of the least sure that are right, are told.
MOST = 40


def certainty(tagged: Tagged, calibrated: bool) -> dict[str, Any] | None:
    """Reliability, F1 against the share answered, the surest mistakes, the least sure right ones.

    Parameters
    ----------
    tagged : Tagged
        With probabilities.
    calibrated : bool
        Whether the model's probabilities were fitted to data.

    Returns
    -------
    dict or None
        Plain numbers, lists and dicts; None where there is no probability.

    Examples
    --------
    >>> gold, found = [["B-x", "O"]] * 2, [["B-x", "O"], ["B-y", "O"]]
    >>> tagged = Tagged([["a", "b"]] * 2, gold, found, [[0.9, 1.0]] * 2,
    ...                 [[("x", 0, 1, 0.9)], [("y", 0, 1, 0.8)]])
    >>> told = certainty(tagged, True)
    >>> told["surest_mistakes"][0]["probability"], round(told["error"], 3)
    (0.8, 0.45)
    """
    if tagged.probabilities is None or not any(tagged.probabilities):
        return None
    told = [
        list(zip(labels, own, strict=True))
        for labels, own in zip(tagged.predicted, tagged.probabilities, strict=True)
    ]
    of_spans = tagged.of_spans and tagged.span_probabilities is not None
    if of_spans and any(tagged.span_probabilities or ()):
        outcomes = span_outcomes(tagged.gold, tagged.span_probabilities or ())
    else:
        of_spans = False
        outcomes = token_outcomes(tagged.gold, told)
    answered = selective(tagged.gold, tagged.predicted, sentence_confidence(told))
    sure = _answers(tagged, of_spans)
    wrong = [one for one in sure if not one["right"]]
    # Nobody asks whether a word is outside of all spans.
    right = [one for one in sure if one["right"] and one["predicted"] != OUTSIDE]
    wrong.sort(key=lambda one: (-one["probability"], one["sentence"], one["start"]))
    right.sort(key=lambda one: (one["probability"], one["sentence"], one["start"]))
    return {
        "of": "spans" if of_spans else "labels",
        "calibrated": calibrated,
        "answers": len(outcomes[0]),
        "error": expected_calibration_error(*outcomes, _BINS),
        "bins": [one._asdict() for one in reliability(*outcomes, _BINS)],
        "answered": [one._asdict() for one in answered],
        "surest_mistakes": wrong[:MOST],
        "least_sure_right": right[:MOST],
    }


def _answers(tagged: Tagged, of_spans: bool) -> list[dict[str, Any]]:
    """Every predicted span, or label, with its probability and what would have been right."""
    found = []
    for number, words in enumerate(tagged.words):
        units: Sequence[tuple[Span, float]]
        if of_spans:
            own = (tagged.span_probabilities or ())[number]
            units = [((one[0], one[1], one[2]), float(one[3])) for one in own]
            gold = tagged.span_pairs[number][0]
        else:
            labels, numbers = tagged.predicted[number], (tagged.probabilities or ())[number]
            units = [
                ((label, t, t + 1), p)
                for t, (label, p) in enumerate(zip(labels, numbers, strict=True))
            ]
            gold = [(label, t, t + 1) for t, label in enumerate(tagged.gold[number])]
        right = set(gold)
        for (kind, start, end), probability in units:
            is_right = (kind, start, end) in right
            near = "" if is_right else _beside(gold, start, end)
            found.append(
                {
                    "sentence": number + 1,
                    "start": start,
                    "end": end,
                    "text": " ".join(words[start:end]),
                    "predicted": kind,
                    "gold": kind if is_right else near,
                    "probability": probability,
                    "right": is_right,
                }
            )
    return found


def _beside(gold: Sequence[Span], start: int, end: int) -> str:
    """The type of the first right span that overlaps a place; empty where there is none."""
    return next((kind for kind, a, b in gold if a < end and start < b), "")
