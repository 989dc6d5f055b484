"""Two models on the same data: whether they differ, and on which sentences."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from seqpa.evaluate import compare_all
from seqpa.report.tagged import Tagged
from seqpa.sequence.costs import SequenceCost


def rival(
    ours: Tagged, theirs: Tagged, cost: SequenceCost | None, rounds: int, seed: int
) -> dict[str, Any]:
    """The paired tests, and the sentences that only one of the two gets right.

    Parameters
    ----------
    ours, theirs : Tagged
        The same sentences, tagged by the two models.
    cost : SequenceCost or None
        Of two label lists, where there is one.
    rounds, seed : int
        Of the tests.

    Returns
    -------
    dict
        ``comparisons``, as ``seqpa evaluate --compare`` has them; ``only_ours``, ``only_theirs``:
        the numbers of the sentences, from 1, that only one has right; ``both``, ``neither``: how
        many both have right, and none.

    Examples
    --------
    >>> words, gold = [["a"], ["b"], ["c"]], [["N"], ["V"], ["N"]]
    >>> ours, theirs = Tagged(words, gold, [["N"], ["N"], ["N"]]), Tagged(words, gold, gold)
    >>> found = rival(ours, theirs, None, 10, 1)
    >>> found["only_theirs"], found["both"], found["neither"]
    ([2], 2, 0)
    """
    outcomes = [
        (a == gold, b == gold)
        for gold, a, b in zip(ours.gold, ours.predicted, theirs.predicted, strict=True)
    ]
    comparisons = compare_all(
        ours.gold,
        ours.predicted,
        theirs.predicted,
        seed,
        of_spans=ours.of_spans,
        cost=cost,
        rounds=rounds,
    )
    return {
        "comparisons": [asdict(one) for one in comparisons],
        "both": outcomes.count((True, True)),
        "neither": outcomes.count((False, False)),
        "only_ours": [n for n, found in enumerate(outcomes, 1) if found == (True, False)],
        "only_theirs": [n for n, found in enumerate(outcomes, 1) if found == (False, True)],
    }
