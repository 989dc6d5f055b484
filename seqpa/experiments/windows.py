"""Mini-batches that overlap: at each round the last B examples make one step together.

Mini-batch PA, §3.2 writes so: "at each time, t, we have a set of B (labelled) examples",
x_t, x_{t−1}, ..., x_{t−B+1}, where one example arrives at a time (§2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import blocks
from seqpa.core.batch import new_qp
from seqpa.core.steps import code
from seqpa.experiments.data import Floats


class WindowLearner:
    """Two classes in a kernel's space, learned from the inner products of all examples.

    Parameters
    ----------
    inner : array of shape (n, n)
        The inner products.
    y : array of shape (n,)
        The labels, ±1.
    step : {"PA-I", "PA-II", "PA-LS"}
        How far a step goes.
    size : int
        B, the examples in a window.

    Attributes
    ----------
    before : int
        How many examples arrive before any was learnt, beyond the first.
    coef : array of shape (n,)
        The coefficient of each example in w.

    Examples
    --------
    A window of one example makes the plain step of PA-I, here τ = (1 − 0)/4, then (1 + 0.5)/1.

    >>> inner = np.array([[4.0, 2.0], [2.0, 1.0]])
    >>> learner = WindowLearner(inner, np.array([1.0, -1.0]), "PA-I", size=1)
    >>> learner.run(np.arange(2), C=10.0), learner.coef
    (array([ True,  True]), array([ 0.25, -1.5 ]))
    """

    def __init__(self, inner: Floats, y: Floats, step: str, size: int) -> None:
        self.before = 0
        self._inner, self._y = np.ascontiguousarray(inner), y
        self._step, self._size = code(step), size
        self.coef = np.zeros(len(y))
        self._scores = np.zeros(len(y))
        self._qp = new_qp(size)["solver"]

    def run(self, order: NDArray[np.intp], C: float) -> NDArray[np.bool_]:
        """One pass; whether each example was mistaken when it arrived."""
        wrong = np.zeros(len(order), dtype=np.uint8)
        blocks.window_pass(
            self._inner, self._y, order, self._size, self._step, C,
            self.coef, self._scores, wrong, self._qp,
        )  # fmt: skip
        return wrong.astype(bool)

    def scores(self, inner: Floats) -> Floats:
        """w·φ(x), from the inner products of new examples with those learnt from."""
        return inner @ self.coef
