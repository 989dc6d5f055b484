"""Which examples are worth a label: asking for some, and learning from those alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from seqpa.errors import SeqpaError
from seqpa.estimators._base import Floats
from seqpa.estimators._labels import LabelClassifier
from seqpa.estimators._parameters import above_zero


class Asking(LabelClassifier):
    """A mixin: whether to ask for the label of an example, from how sure the prediction is."""

    def should_ask(self, x: Mapping[Any, Any], delta: float = 1.0) -> bool:
        """Whether the label of one example is worth asking for.

        The margin p is the highest score minus the second, for two classes |score|. The stochastic
        margin rule of online active learning asks with the probability δ/(δ + p): surely where the
        prediction is a tie, hardly ever where it is clear, and everywhere now and then, so that no
        region is forgotten. Before two labels are known it always asks.

        Parameters
        ----------
        x : dict
            Feature -> number.
        delta : float, default 1.0
            δ: the smaller, the fewer labels are asked for.

        Returns
        -------
        bool
            Whether to ask.

        Examples
        --------
        >>> from seqpa import PAClassifier
        >>> model = PAClassifier(random_state=0)
        >>> model.should_ask({"a": 1.0})
        True
        >>> for y in 0, 1, 0, 1:
        ...     model.learn_one({("a", "b")[y]: 1.0}, y)
        >>> sum(model.should_ask({"a": 1.0}, delta=0.1) for _ in range(1000))
        101
        """
        if self._first() or len(self.classes_) < 2:
            return True
        return bool(self._asks(_margins(np.array([self._scores_one(x)])), delta)[0])

    def query(self, X: Any, delta: float = 1.0) -> NDArray[np.bool_]:
        """Which examples are worth asking for their labels, by the rule of `should_ask`.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            The examples.
        delta : float, default 1.0
            δ: the smaller, the fewer labels are asked for.

        Returns
        -------
        array of bool of shape (n,)
            Whether to ask, for each.
        """
        if self._first() or len(self.classes_) < 2:
            return np.ones(X.shape[0] if hasattr(X, "shape") else len(X), dtype=bool)
        return self._asks(_margins(self._scores(X)), delta)

    def _asks(self, margins: Floats, delta: float) -> NDArray[np.bool_]:
        if not above_zero(delta):
            raise SeqpaError(f"delta={delta!r}; it must be a number above 0")
        if not hasattr(self, "_asking"):
            # Not the generator of learning: what is learned does not depend on what was asked.
            seed = check_random_state(getattr(self, "random_state", None)).randint(2**31 - 1)
            self._asking = np.random.default_rng([seed, 1])
        return np.asarray(self._asking.random(len(margins)) * (delta + margins) < delta)


def _margins(scores: Floats) -> Floats:
    """How far the highest score of each row is above the second; |score| where there is one."""
    if scores.shape[1] == 1:
        return np.asarray(np.abs(scores[:, 0]))
    two = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(two[:, 1] - two[:, 0])
