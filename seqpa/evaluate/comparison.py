"""Whether two predictions of the same sentences really differ: paired resampling."""

from __future__ import annotations

from dataclasses import dataclass
from operator import eq

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError, did_you_mean
from seqpa.evaluate.resampling import blocks, drawn_sums, ratios
from seqpa.evaluate.scores import Cost, LabelLists, check_lengths
from seqpa.schemes import spans

METRICS = ("accuracy", "span-f1", "sentence-accuracy", "cost")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two predictions of the same data: their scores, and whether they really differ.

    Parameters
    ----------
    metric, method : str
        As `compare` was asked.
    rounds : int
        Of resampling.
    a, b : float
        The two scores.
    difference : float
        ``a - b``.
    p_value : float
        How often so large a difference, of either sign, would come about if the two were equally
        good.
    low, high : float
        The 95 % interval of the difference.

    Examples
    --------
    >>> print(Comparison("accuracy", "bootstrap", 1000, 0.75, 0.5, 0.25, 0.04, 0.125, 0.375))
    accuracy: 0.7500 - 0.5000 = +0.2500 (95 % interval +0.1250 to +0.3750), p = 0.0400 (bootstrap, \
1000 rounds)
    """

    metric: str
    method: str
    rounds: int
    a: float
    b: float
    difference: float
    p_value: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.metric}: {self.a:.4f} - {self.b:.4f} = {self.difference:+.4f} "
            f"(95 % interval {self.low:+.4f} to {self.high:+.4f}), "
            f"p = {self.p_value:.4f} ({self.method}, {self.rounds} rounds)"
        )


def compare(
    gold: LabelLists,
    a: LabelLists,
    b: LabelLists,
    rng: np.random.Generator,
    metric: str = "accuracy",
    method: str = "bootstrap",
    rounds: int = 10_000,
    cost: Cost | None = None,
) -> Comparison:
    """Test whether two predictions of the same sentences differ in ``metric``.

    ``bootstrap`` draws sentences anew with replacement, and asks how often the drawn difference
    is as far from the observed one as that is from zero. ``randomisation`` swaps the two
    predictions of each sentence by the toss of a coin, and asks how often the difference becomes
    as large as the observed one. The interval always is the bootstrap's (2.5 to 97.5 %).

    Parameters
    ----------
    gold, a, b : sequences of sequences of str
        The right labels of each sentence, and the two predictions.
    rng : numpy.random.Generator
        Draws the rounds.
    metric : str
        One of `METRICS`: accuracy, span-f1, sentence-accuracy, cost.
    method : str
        bootstrap or randomisation.
    rounds : int
        Of resampling.
    cost : callable, optional
        For the metric cost: a function of two label lists, the gold one first.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> gold = [["N", "V"], ["N", "N"], ["V"]] * 20
    >>> rng = np.random.default_rng(7)
    >>> result = compare(gold, gold, [["N", "N"], ["N", "N"], ["V"]] * 20, rng, rounds=999)
    >>> result.difference, result.p_value < 0.01, result.low > 0
    (0.19999999999999996, True, True)
    """
    if method not in ("bootstrap", "randomisation"):
        raise SeqpaError(f"method: {method!r} is neither bootstrap nor randomisation")
    if rounds < 1:
        raise SeqpaError(f"rounds: {rounds} is not a positive number")
    counts_a = _counts(gold, a, metric, cost)
    counts_b = _counts(gold, b, metric, cost)
    score_a = float(ratios(counts_a.sum(axis=0)))
    score_b = float(ratios(counts_b.sum(axis=0)))
    observed = score_a - score_b
    sums = drawn_sums(np.hstack([counts_a, counts_b]), rounds, rng)
    drawn = ratios(sums[:, :2]) - ratios(sums[:, 2:])
    if method == "bootstrap":
        extreme = np.abs(drawn - observed)
    else:
        extreme = np.abs(_randomisation(counts_a, counts_b, rounds, rng))
    # A hair's breadth of slack: equal differences must count as equal after rounding.
    as_large = np.count_nonzero(extreme >= abs(observed) - 1e-12)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Comparison(
        metric=metric,
        method=method,
        rounds=rounds,
        a=score_a,
        b=score_b,
        difference=observed,
        p_value=float((as_large + 1) / (rounds + 1)),
        low=float(low),
        high=float(high),
    )


def compare_all(
    gold: LabelLists,
    a: LabelLists,
    b: LabelLists,
    seed: int,
    *,
    of_spans: bool,
    cost: Cost | None = None,
    method: str = "bootstrap",
    rounds: int = 10_000,
) -> list[Comparison]:
    """`compare` two predictions in every metric that can be had, each on the same draws.

    Parameters
    ----------
    gold, a, b : sequences of sequences of str
        The right labels of each sentence, and the two predictions.
    seed : int
        Of the generator, which begins anew for each metric.
    of_spans : bool
        Whether the labels mark spans.
    cost : callable, optional
        A function of two label lists, the gold one first.
    method : str
        bootstrap or randomisation.
    rounds : int
        Of resampling.

    Returns
    -------
    list of Comparison

    Examples
    --------
    >>> found = compare_all([["N", "V"]], [["N", "V"]], [["N", "N"]], 1, of_spans=False, rounds=9)
    >>> [(one.metric, one.difference) for one in found]
    [('accuracy', 0.5), ('sentence-accuracy', 1.0)]
    """
    metrics = ["accuracy", "sentence-accuracy"]
    metrics += ["span-f1"] if of_spans else []
    metrics += ["cost"] if cost is not None else []
    return [
        compare(gold, a, b, np.random.default_rng(seed), metric, method, rounds, cost)
        for metric in metrics
    ]


def _counts(
    gold: LabelLists, predicted: LabelLists, metric: str, cost: Cost | None
) -> NDArray[np.float64]:
    """Per sentence the sums that the metric is a function of."""
    check_lengths(gold, predicted, "predicted labels")
    if not len(gold):
        raise SeqpaError("there are no sentences to compare")
    pairs = list(zip(gold, predicted, strict=True))
    if metric == "accuracy":
        rows = [(sum(map(eq, g, p)), len(g)) for g, p in pairs]
    elif metric == "sentence-accuracy":
        rows = [(int(list(g) == list(p)), 1) for g, p in pairs]
    elif metric == "span-f1":
        found = [(set(spans(g)), set(spans(p))) for g, p in pairs]
        rows = [(2 * len(g & p), len(g) + len(p)) for g, p in found]
    elif metric == "cost":
        if cost is None:
            raise SeqpaError("metric: cost needs a cost function")
        rows = [(cost(g, p), 1) for g, p in pairs]
    else:
        hint = did_you_mean(metric, METRICS, listed=False)
        raise SeqpaError(f"metric: {metric!r} is none of {', '.join(METRICS)}{hint}")
    return np.array(rows, dtype=np.float64)


def _randomisation(
    a: NDArray[np.float64], b: NDArray[np.float64], rounds: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The difference of the scores in each round of swapping the predictions at random."""
    change = (b - a)[(a != b).any(axis=1)]  # swapping what is equal changes nothing
    n = len(change)
    drawn = []
    for size in blocks(rounds, n):
        coins = np.frombuffer(rng.bytes(size * n // 8 + 1), dtype=np.uint8)
        swapped = np.unpackbits(coins, count=size * n).reshape(size, n)
        moved = swapped.astype(np.float64) @ change
        drawn.append(ratios(a.sum(axis=0) + moved) - ratios(b.sum(axis=0) - moved))
    return np.concatenate(drawn)
