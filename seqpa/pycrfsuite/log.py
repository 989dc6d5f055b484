"""The log of a training, line by line as CRFsuite writes it, and what can be read from it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

_ITERATION = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}\n")
_SECONDS = re.compile(r"Seconds required: (\d+\.\d+)")
_TOTAL = re.compile(r"Total seconds required for training: (\d+\.\d+)")
_FEATURES = re.compile(r"Number of features: (\d+)")
_LABEL = re.compile(r" {4}(.+): \((\d+), (\d+), (\d+)\) \((\S+), (\S+), (\S+)\)")
_MACRO = re.compile(r"Macro-average precision, recall, F1: \((\S+), (\S+), (\S+)\)")
_ACCURACY = re.compile(r"(Item|Instance) accuracy: (\d+) / (\d+)")
# What a line of an iteration tells: key, how it begins, of which type.
_NUMBERS: tuple[tuple[str, re.Pattern[str], Callable[[str], Any]], ...] = tuple(
    (key, re.compile(begin + r": (\d+(?:\.\d+)?)"), kind)
    for key, begin, kind in (
        ("loss", "Loss", float),
        ("feature_norm", "Feature norm", float),
        ("error_norm", "Error norm", float),
        ("active_features", "Active features", int),
        ("linesearch_trials", "Line search trials", int),
        ("linesearch_step", "Line search step", float),
        ("time", "Seconds required for this iteration", float),
    )
)
_PROGRESS = {*map(str, range(11)), "."}


class LabelScore(NamedTuple):
    """How well one label of the held-out sequences was found.

    Parameters
    ----------
    match : int
        Items that have the label and got it.
    model : int
        Items that got it.
    ref : int
        Items that have it.
    precision : float or None
        match/model; None for a label that never occurred.
    recall : float or None
        match/ref.
    f1 : float or None
        Their harmonic mean.
    """

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


class TrainLogParser:
    """Reads the log of a training, by seqpa or by CRFsuite, as it is written.

    Attributes
    ----------
    iterations : list of dict
        What each iteration told: num, loss, time, and on held-out sequences scores, avg_precision,
        avg_recall, avg_f1, item_accuracy, instance_accuracy, the last two also as ..._float.
    last_iteration : dict or None
        The last of them.
    featgen_percent : int
        How far the features are numbered.
    featgen_num_features : int or None
        How many there are.
    featgen_seconds : float or None
        How long that took.
    training_seconds : float or None
        How long training took.
    storing_seconds : float or None
        How long writing the model took.
    log : list of str
        All lines.
    events : list of (str, int, int)
        What happened, and the lines that belong to it.

    Examples
    --------
    >>> parser = TrainLogParser()
    >>> lines = ["Feature generation\\n", "Seconds required: 0.5\\n", "\\n"]
    >>> lines += ["***** Iteration #1 *****\\n", "Loss: 2.5\\n", "\\n"]
    >>> [parser.feed(line) for line in lines]
    ['start', 'featgen_end', None, 'prepared', None, 'iteration']
    >>> parser.last_iteration
    {'num': 1, 'scores': {}, 'loss': 2.5}
    """

    def __init__(self) -> None:
        self.featgen_percent = -2
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []
        self._read: Callable[[str], str | None] = self._starting

    def feed(self, line: str) -> str | None:
        """Read one more line.

        Parameters
        ----------
        line : str
            With its line end.

        Returns
        -------
        str or None
            What has happened with it: start, featgen_progress, featgen_end, prepared,
            prepare_error, iteration, optimization_end or end.
        """
        self.log.append(line)
        event = self._read(line)
        if len(self.log) == 1:
            event = "start"
        if event is not None:
            begin = self.events[-1][2] if self.events else 0
            # The line that tells of these two already belongs to what comes next.
            late = event in ("prepared", "optimization_end")
            self.events.append((event, begin, len(self.log) - late))
        return event

    @property
    def last_log(self) -> str:
        """The lines of the last event."""
        _, begin, end = self.events[-1]
        return "".join(self.log[begin:end])

    def _starting(self, line: str) -> None:
        if line.startswith("Feature generation"):
            self._read = self._generating

    def _generating(self, line: str) -> str | None:
        if line in _PROGRESS:
            self.featgen_percent += 2
            return "featgen_progress"
        if found := _FEATURES.match(line):
            self.featgen_num_features = int(found[1])
        if found := _SECONDS.match(line):
            self.featgen_seconds = float(found[1])
            self._read = self._preparing
            return "featgen_end"
        return None

    def _preparing(self, line: str) -> str | None:
        if self._begins_iteration(line):
            return "prepared"
        if "terminated with error" in line:
            self._read = self._between
            return "prepare_error"
        return None

    def _begins_iteration(self, line: str) -> bool:
        found = _ITERATION.match(line)
        if found:
            self.last_iteration = {"num": int(found[1]), "scores": {}}
            self.iterations.append(self.last_iteration)
            self._read = self._iterating
        return found is not None

    def _iterating(self, line: str) -> str | None:
        if line == "\n":
            self._read = self._between
            return "iteration"
        told = self.iterations[-1]
        for key, pattern, kind in _NUMBERS:
            if found := pattern.match(line):
                told[key] = kind(found[1])
        if found := _LABEL.match(line):
            counts = [int(found[place]) for place in (2, 3, 4)]
            shares = [None if "*" in found[place] else float(found[place]) for place in (5, 6, 7)]
            told["scores"][found[1]] = LabelScore(*counts, *shares)
        if found := _MACRO.match(line):
            for place, key in enumerate(("avg_precision", "avg_recall", "avg_f1"), start=1):
                told[key] = float(found[place])
        if found := _ACCURACY.match(line):
            share = Fraction(int(found[2]), max(1, int(found[3])))
            told[f"{found[1].lower()}_accuracy"] = share
            told[f"{found[1].lower()}_accuracy_float"] = float(share)
        return None

    def _between(self, line: str) -> str | None:
        if self._begins_iteration(line):
            return None
        if found := _TOTAL.match(line):
            self.training_seconds = float(found[1])
        if line.startswith("Storing the model"):
            self._read = self._storing
            return "optimization_end"
        return None

    def _storing(self, line: str) -> str | None:
        if found := _SECONDS.match(line):
            self.storing_seconds = float(found[1])
        return "end" if line == "\n" else None


def performance(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], labels: Sequence[str]
) -> Iterator[str]:
    """The lines of a log about held-out sequences.

    Parameters
    ----------
    gold : list of lists of str
        The right labels.
    predicted : list of lists of str
        The predicted ones.
    labels : list of str
        All labels, in the order of the lines.

    Yields
    ------
    str
        A line.

    Examples
    --------
    >>> print("".join(performance([["A", "B"]], [["A", "A"]], ["A", "B"])), end="")
    Performance by label (#match, #model, #ref) (precision, recall, F1):
        A: (1, 2, 1) (0.5000, 1.0000, 0.6667)
        B: (0, 0, 1) (0.0000, 0.0000, 0.0000)
    Macro-average precision, recall, F1: (0.250000, 0.500000, 0.333333)
    Item accuracy: 1 / 2 (0.5000)
    Instance accuracy: 0 / 1 (0.0000)
    """
    pairs = [
        pair
        for right, found in zip(gold, predicted, strict=True)
        for pair in zip(right, found, strict=True)
    ]
    match = Counter(right for right, found in pairs if right == found)
    ref, model = Counter(right for right, _ in pairs), Counter(found for _, found in pairs)
    sums = [0.0, 0.0, 0.0]
    yield "Performance by label (#match, #model, #ref) (precision, recall, F1):\n"
    for label in labels:
        counts = match[label], model[label], ref[label]
        precision = counts[0] / counts[1] if counts[1] else 0.0
        recall = counts[0] / counts[2] if counts[2] else 0.0
        f1 = 2 * counts[0] / (counts[1] + counts[2]) if counts[1] + counts[2] else 0.0
        for place, share in enumerate((precision, recall, f1)):
            sums[place] += share / len(labels)
        told = (
            f"{precision:.4f}, {recall:.4f}, {f1:.4f}" if any(counts) else "******, " * 2 + "******"
        )
        yield f"    {label}: ({', '.join(map(str, counts))}) ({told})\n"
    yield f"Macro-average precision, recall, F1: ({', '.join(f'{share:.6f}' for share in sums)})\n"
    whole = sum(list(right) == list(found) for right, found in zip(gold, predicted, strict=True))
    for what, right, total in (
        ("Item", sum(match.values()), len(pairs)),
        ("Instance", whole, len(gold)),
    ):
        yield f"{what} accuracy: {right} / {total} ({right / max(1, total):.4f})\n"
