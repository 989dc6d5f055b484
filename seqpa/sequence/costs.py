"""What a wrong label sequence costs: ρ(gold, predicted), in the form that the kernel can use."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from traceback import walk_tb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.core.costs import Hierarchy, cost_matrix
from seqpa.errors import SeqpaError, did_you_mean
from seqpa.schemes import OUTSIDE

CostFunction = Callable[[Sequence[Any], Sequence[Any]], float]
NAMES = ("auto", "hamming", "zero-one", "span")
# The exact max-loss update goes through all sums of costs: so many units each may be, and a unit is
# so many times smaller than 1, at most.
LARGEST_WHOLE = 1000


def hamming(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The number of wrong labels.

    Parameters
    ----------
    gold, predicted : sequence of str
        The labels of one sentence.

    Returns
    -------
    float

    Examples
    --------
    >>> hamming(["A", "B", "B"], ["B", "B", "A"])
    2.0
    """
    return float(sum(g != p for g, p in zip(gold, predicted, strict=True)))


def zero_one(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """1 if any label is wrong, otherwise 0.

    Parameters
    ----------
    gold, predicted : sequence of str
        The labels of one sentence.

    Returns
    -------
    float

    Examples
    --------
    >>> zero_one(["A", "B", "B"], ["B", "B", "A"])
    1.0
    """
    return float(list(gold) != list(predicted))


def span(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Spans missed plus spans invented.

    Labels that differ without changing a span cost 1.

    Parameters
    ----------
    gold, predicted : sequence of str
        The labels of one sentence.

    Returns
    -------
    float

    Examples
    --------
    >>> span(["B-x", "I-x", "O", "B-y"], ["B-x", "O", "O", "B-y"])
    2.0
    """
    from seqpa.schemes import spans

    different = len(set(spans(gold)) ^ set(spans(predicted)))
    return float(max(different, list(gold) != list(predicted)))


@dataclass(frozen=True)
class SequenceCost:
    """A cost over the labels of one model.

    Parameters
    ----------
    kind : str
        The kernel's name for it: "hamming", "zero-one", "matrix" (label pairs, summed over the
        tokens) or "python" (a Python function, called on mistakes only).
    matrix : float32 (labels, labels) or (0, 0)
        What each pair costs, if the kind is "matrix".
    function : callable
        What it costs, for any two label lists of one length.
    """

    kind: str
    matrix: NDArray[np.float32]
    function: CostFunction

    def __call__(self, gold: Sequence[str], predicted: Sequence[str]) -> float:
        """ρ, checked: finite, not negative, and zero for equal sequences."""
        try:
            value = self.function(list(gold), list(predicted))
        except SeqpaError:
            raise
        except Exception as error:  # whatever the user's own code may raise
            raise SeqpaError(_told(error, self.function, len(gold))) from error
        # A whole number may be finite and yet larger than any float.
        if not (isinstance(value, (Real, np.bool_)) and 0 <= value <= sys.float_info.max):
            raise SeqpaError(
                f"the cost function gave {value!r} for gold {list(gold)} and predicted "
                f"{list(predicted)}: a cost is a finite number that is not negative"
            )
        return float(value)

    @property
    def is_additive(self) -> bool:
        """Whether it is a sum over tokens."""
        return self.kind in ("hamming", "matrix")

    @property
    def is_whole(self) -> bool:
        """Whether it is a sum over tokens of multiples of one number.

        None is above `LARGEST_WHOLE` times that number, which is `unit`.
        """
        return self.unit > 0.0

    @cached_property
    def unit(self) -> float:
        """The largest number of which every pair of labels costs a multiple; 0 where there is none.

        Examples
        --------
        >>> sequence_cost({"A": {"B": 2.5}, "B": {"A": 1.5}}, ["A", "B"]).unit
        0.5
        """
        if self.kind == "hamming":
            return 1.0
        if self.kind != "matrix" or not np.isfinite(self.matrix).all():
            return 0.0
        return common_unit(np.unique(self.matrix[self.matrix > 0]).tolist())

    def in_units(self, n_labels: int, width: int) -> NDArray[np.float32]:
        """`by_label` in multiples of `unit`: whole numbers.

        Parameters
        ----------
        n_labels : int
        width : int
            So many columns, zero behind the last label.

        Returns
        -------
        float32 (labels, width)
        """
        return np.rint(self.by_label(n_labels, width) / np.float64(self.unit)).astype(np.float32)

    def by_label(self, n_labels: int, width: int) -> NDArray[np.float32]:
        """What each label (column) costs in place of another (row), for a cost that is a sum.

        Parameters
        ----------
        n_labels : int
        width : int
            So many columns, zero behind the last label.

        Returns
        -------
        float32 (labels, width)

        Examples
        --------
        >>> sequence_cost("hamming", ["A", "B"]).by_label(2, 3).tolist()
        [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
        """
        table: NDArray[np.float32] = np.zeros((n_labels, width), np.float32)
        if self.kind == "matrix":
            table[:, :n_labels] = self.matrix
        else:
            table[:, :n_labels] = 1.0 - np.eye(n_labels, dtype=np.float32)
        return table

    def of_numbers(
        self, gold: NDArray[np.int32], predicted: NDArray[np.int32], labels: Sequence[str]
    ) -> float:
        """The same for labels by their numbers.

        Parameters
        ----------
        gold, predicted : int32 (tokens,)
            The numbers of one sentence's labels. Where gold is −1, not given, the prediction is
            right by definition.
        labels : sequence of str
            The labels by number; only a Python function needs them.

        Returns
        -------
        float

        Examples
        --------
        >>> cost = sequence_cost("hamming", ["A", "B"])
        >>> cost.of_numbers(np.array([0, 1, 1]), np.array([1, 1, 0]), ["A", "B"])
        2.0
        """
        gold = np.where(gold < 0, predicted, gold)
        if self.kind == "python":
            return self([labels[k] for k in gold], [labels[k] for k in predicted])
        if self.kind == "matrix":
            return float(self.matrix[gold, predicted].sum(dtype=np.float64))
        return self.function(gold.tolist(), predicted.tolist())


def common_unit(numbers: Sequence[float]) -> float:
    """The largest number of which all are multiples, none more than `LARGEST_WHOLE` times it.

    Parameters
    ----------
    numbers : sequence of float
        Positive, exact to float32.

    Returns
    -------
    float
        0 where there is none.

    Examples
    --------
    >>> common_unit([0.5, 2.0]), common_unit([20.0, 30.0]), common_unit([1.0, 2**0.5])
    (0.5, 10.0, 0.0)
    """
    if not numbers:
        return 1.0
    largest = max(numbers)
    for parts in range(1, LARGEST_WHOLE + 1):
        times = [round(number * parts) for number in numbers]
        # float32 is exact to 6e-8 of a number.
        if all(abs(t - n * parts) <= 2e-7 * t for t, n in zip(times, numbers, strict=True)):
            unit = math.gcd(*times) / parts
            return unit if largest <= (LARGEST_WHOLE + 0.5) * unit else 0.0
    return 0.0


def _told(error: Exception, function: CostFunction, length: int) -> str:
    """What went wrong inside a cost function: its own file and line first, not ours."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    frames = [frame for frame, _ in walk_tb(error.__traceback__)][1:]  # the first is ours
    lines = [line for _, line in walk_tb(error.__traceback__)][1:]
    files = [frame.f_code.co_filename for frame in frames]
    place = ""
    if files:
        # The deepest line of the function's own file: what it calls is seldom to blame.
        at = max(i for i, file in enumerate(files) if file == files[0])
        place = f"{files[at]}:{lines[at]}: "
    return (
        f"{place}the cost function {name} raised {type(error).__name__} ({error}) for a sentence "
        f"of {length} labels"
    )


def _with_missed(table: Mapping[Any, Any], labels: Sequence[str]) -> Mapping[Any, Any]:
    """``{"missed": times}`` as the table that it stands for; another table as it is. A label may be
    called "missed" too: then it has a row, and no number."""
    times = table.get("missed")
    if isinstance(times, Mapping) or times is None:
        return table
    if len(table) > 1 or isinstance(times, bool) or not isinstance(times, Real):
        raise SeqpaError(
            f"{{'missed': {times!r}}} is no cost: say by a number, and alone, how many times as "
            "much a missed span counts, such as {'missed': 4}"
        )
    if OUTSIDE not in labels:
        return {}
    return {label: {OUTSIDE: float(times)} for label in labels if label != OUTSIDE}


def sequence_cost(cost: Any, labels: Sequence[str]) -> SequenceCost:
    """The cost that the user named or gave, over these labels.

    Parameters
    ----------
    cost : str, Hierarchy, mapping, array or callable
        One of `NAMES` ("auto" as "hamming"), what `seqpa.core.cost_matrix` takes, a function of two
        label lists, or
        ``{"missed": 4}``: wrong tokens, where one of a span that is taken for outside counts four
        times.
    labels : sequence of str
        All labels.

    Returns
    -------
    SequenceCost

    Examples
    --------
    >>> sequence_cost("hamming", ["A", "B"])(["A", "A"], ["A", "B"])
    1.0
    >>> sequence_cost({"A": {"B": 5.0}}, ["A", "B"])(["A", "A", "B"], ["A", "B", "A"])
    6.0
    >>> sequence_cost({"missed": 4}, ["O", "B-PER"])(["O", "B-PER"], ["B-PER", "O"])
    5.0
    """
    nothing = np.zeros((0, 0), np.float32)
    if isinstance(cost, str):
        if cost not in NAMES:
            raise SeqpaError(
                f"cost {cost!r} is unknown: choose {', '.join(map(repr, NAMES))}, a Hierarchy, "
                f"a matrix as a dict, or a function of two label lists"
                f"{did_you_mean(cost, NAMES, listed=False)}"
            )
        name = "hamming" if cost == "auto" else cost  # what a missed span counts is for training
        functions = {"hamming": hamming, "zero-one": zero_one, "span": span}
        return SequenceCost("python" if name == "span" else name, nothing, functions[name])
    if isinstance(cost, (Hierarchy, Mapping, np.ndarray)):
        if isinstance(cost, Mapping):
            cost = _with_missed(cost, labels)
        matrix = cost_matrix(cost, labels)
        index = {label: k for k, label in enumerate(labels)}

        def summed(gold: Sequence[str], predicted: Sequence[str]) -> float:
            return float(
                sum(matrix[index[g], index[p]] for g, p in zip(gold, predicted, strict=True))
            )

        with np.errstate(over="ignore"):  # the step refuses a margin that large, in its own words
            single = matrix.astype(np.float32)
        return SequenceCost("matrix", single, summed)
    if callable(cost):
        return SequenceCost("python", nothing, cost)
    raise SeqpaError(f"a cost must be a name, a Hierarchy, a dict or a function, not {cost!r}")
