"""One example at a time: dicts of named features, or rows, learned as fast as they are short.

`Learner.run` makes the buffers of a pass for every call. That is nothing for many rows, and most of
the time for one. A `OneRow` keeps them, so that an example costs what its own features cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import single as kernel
from seqpa._kernel import vectors, weights
from seqpa.core.problems import Binary, OneVsRest, Problem, Regression
from seqpa.errors import SeqpaError

Floats: TypeAlias = NDArray[np.float64]
Columns: TypeAlias = dict[Any, int]
Totals: TypeAlias = tuple[float, float, float, float, int]
OVERFLOW = "the weights overflow; scale the features and the target first"
_SHORT = 64  # entries of a row for which memory is held at first


class OneRow:
    """A row, what is right for it, and the weights that learn from it.

    `Learner.one_row` makes it. Its user counts the examples, and looks after the columns.

    Parameters
    ----------
    problem : Problem
        Which constraint an example asks for.
    step : int
        The kernel's number of the step.
    n_features : int
        Columns of the weights.
    bias : bool
        A constant feature behind the last.
    w : Weights of the kernel
        The weights.
    sparse : bool
        Whether rows are CSR rows and dicts, or dense.

    Examples
    --------
    >>> from seqpa.core import Binary, Learner
    >>> learner = Learner(Binary(), "PA", n_features=4)
    >>> row, columns = learner.one_row(sparse=True), {}
    >>> row.read({"red": 2.0}, columns)
    >>> row.learn(1.0, C=1.0, clock=0)
    (1.0, 1.0, 1.0, 1.0, 1)
    >>> row.look({"red": 1.0, "new": 5.0}, columns), row.scores(), columns
    (0, [0.5], {'red': 0})
    """

    def __init__(
        self, problem: Problem, step: int, n_features: int, bias: bool, w: Any, sparse: bool
    ) -> None:
        self._problem = problem
        self._step = step
        self._n_features = n_features
        self._bias = bias
        self._w = w
        self._sparse = sparse
        self._make(_SHORT)

    def _make(self, length: int) -> None:
        """The kernel's buffers, for rows of up to so many entries."""
        none = np.empty((0, 0))
        arrays: dict[str, Any] = {
            "data": np.zeros(length),
            "indices": np.zeros(length, dtype=np.int32),
            "indptr": np.zeros(2, dtype=np.int64),
            "dense": none if self._sparse else np.zeros((1, self._n_features)),
            "target": np.ones(1),
            "C": np.ones(1),
            "norms": np.zeros(1),
            "order": np.zeros(1, dtype=np.intp),
        }
        rows = weights.Rows(
            dense=None if self._sparse else arrays["dense"],
            data=arrays["data"] if self._sparse else None,
            indices=arrays["indices"] if self._sparse else None,
            indptr=arrays["indptr"] if self._sparse else None,
            n_features=self._n_features,
            bias=self._bias,
        )
        alone = isinstance(self._problem, OneVsRest)
        margin = self._problem.margin if isinstance(self._problem, OneVsRest) else 0.0
        self._n_labels = self._w.count()
        if not isinstance(self._problem, Binary | Regression):
            arrays["target"][:] = 0.0  # the index of a label
        # The kernel's problem keeps this very array, since it needs no conversion.
        problem = None if alone else self._problem.kernel(arrays["target"], self._n_labels)  # type: ignore[union-attr]
        self._run = vectors.Pass(self._step, arrays["C"], 0.0, 0, np.empty((0, vectors.RECORD)))
        c = new_constraint(self._n_labels)
        self._one = kernel.Single(arrays, rows, problem, alone, margin, self._run, self._w, c)
        self._length = length

    def read(self, x: Mapping[Any, Any], columns: Columns, learn: bool = True) -> None:
        """Take a dict as the row.

        Parameters
        ----------
        x : dict
            Feature -> number.
        columns : dict
            Feature -> column.
        learn : bool, default True
            Give features that `columns` does not know the next numbers; leave them out if False.

        Raises
        ------
        WiderRowError
            If the weights have too few columns for the new numbers.
        """
        if type(x) is not dict:
            x = dict(x)
        before, n = len(columns), -1
        try:
            n = self._one.read(x, columns, learn)
            if n == kernel.TOO_LONG:
                self._make(2 * len(x))
                n = self._one.read(x, columns, learn)
            if n >= 0:
                return
        except (TypeError, ValueError):
            n = kernel.NOT_FINITE
        finally:
            if n < 0:
                _take_back(columns, before)
        if n == kernel.TOO_WIDE:
            raise WiderRowError
        _check_values(x)

    def read_row(self, data: Floats, indices: NDArray[np.int32]) -> bool:
        """Take the entries of a CSR row as the row.

        Parameters
        ----------
        data : array of shape (n,)
            The values.
        indices : array of int32 of shape (n,)
            Their columns.

        Returns
        -------
        bool
            False if they are not what they should be: finite numbers, in the order of columns that
            there are.
        """
        if len(data) > self._length:
            self._make(2 * len(data))
        return bool(self._one.read_row(data, indices) >= 0)

    def read_dense(self, x: Floats) -> bool:
        """Take a dense row as the row.

        Parameters
        ----------
        x : array of shape (1, features)
            The values.

        Returns
        -------
        bool
            False if they are not all finite, or not as many as there are weights.
        """
        return bool(self._one.read_dense(x) >= 0)

    def learn(self, target: float, C: float, clock: int) -> Totals:
        """Learn from the row.

        Parameters
        ----------
        target : float
            What is right for it: ±1, a number or the index of a label; not checked here.
        C : float
            The aggressiveness.
        clock : int
            Examples before it.

        Returns
        -------
        tuple
            Mistakes, cost, loss, squared loss and updates.
        """
        self._one.learn(target, C, clock)
        if not math.isfinite(self._run.watch()):
            raise SeqpaError(OVERFLOW)
        totals: Totals = self._run.totals()
        return totals

    def look(self, x: Mapping[Any, Any], columns: Columns, clock: int = 0) -> int:
        """The label with the highest score of a dict.

        Parameters
        ----------
        x : dict
            Feature -> number.
        columns : dict
            Feature -> column.
        clock : int, default 0
            Examples so far, for scores of the mean weights; 0 for those of the last.

        Returns
        -------
        int
            The first of the highest; `scores` has all of them.
        """
        try:
            n = self._one.read(x, columns, False)
        except (TypeError, ValueError):  # no dict, or no numbers in it
            n = -1
        if n < 0:
            self.read(x, columns, learn=False)
        best: int = self._one.look(clock)
        return best

    def score(self) -> float:
        """The first score of the row that was looked at last; the only one where there is one.

        Returns
        -------
        float
            The score.
        """
        first: float = self._one.score(0)
        return first

    def scores(self) -> list[float]:
        """The scores of the row that was looked at last.

        Returns
        -------
        list of float
            One for each label.
        """
        return [self._one.score(k) for k in range(self._n_labels)]


class WiderRowError(Exception):
    """A row has columns that the weights do not have."""


def _take_back(columns: Columns, size: int) -> None:
    """Forget the newest columns, so that what was refused leaves nothing behind."""
    while len(columns) > size:
        columns.popitem()


def _check_values(x: Mapping[Any, Any]) -> None:
    """Refuse a dict that holds other values than finite numbers, or too large ones."""
    for name, value in x.items():
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise SeqpaError(
                f"the feature {name!r} is {value!r}; every value of a dict of features must be a "
                "number (words and categories are 1.0 under a name of their own)"
            ) from error
        if not math.isfinite(number):
            raise SeqpaError(f"the feature {name!r} is {number}; it must be a finite number")
    raise SeqpaError("the features are so large that their squared norm overflows; scale them")


def new_constraint(n_labels: int, scores: Floats | None = None) -> Any:
    """Scratch arrays for the scores of one example and for what it asks for.

    Parameters
    ----------
    n_labels : int
        K.
    scores : array of shape (K,) or None, default None
        Where the scores are to stand; a new array if None.

    Returns
    -------
    Constraint of the kernel
        What a problem fills for each example.
    """
    s = np.empty(n_labels) if scores is None else scores
    return weights.Constraint(s, np.empty(n_labels))


def row_of(x: Mapping[Any, Any], columns: Columns, learn: bool) -> tuple[Floats, NDArray[np.int32]]:
    """A dict as the entries of a CSR row, by column.

    Parameters
    ----------
    x : dict
        Feature -> number.
    columns : dict
        Feature -> column.
    learn : bool
        Give features that `columns` does not know the next numbers; leave them out if False.

    Returns
    -------
    tuple of arrays
        The values and their columns.

    Examples
    --------
    >>> columns = {"b": 0, "a": 1}
    >>> row_of({"a": 2, "new": 0.5, "b": 3.0}, columns, learn=True)
    (array([3. , 2. , 0.5]), array([0, 1, 2], dtype=int32))
    >>> columns
    {'b': 0, 'a': 1, 'new': 2}
    """
    before = len(columns)
    entries = []
    try:
        for name, value in x.items():
            number = float(value)
            if not math.isfinite(number):
                raise ValueError(number)
            if number == 0.0:
                continue
            if learn:
                entries.append((columns.setdefault(name, len(columns)), number))
            elif name in columns:
                entries.append((columns[name], number))
    except (TypeError, ValueError):
        _take_back(columns, before)
        _check_values(x)
    entries.sort()
    data = np.array([number for _, number in entries], dtype=np.float64)
    return data, np.array([column for column, _ in entries], dtype=np.int32)
