"""One example at a time, as a dict of named features: what the estimators share of it.

Features get columns as they come, so nobody has to know them beforehand. Where the learner is a
plain `Learner`, a dict goes straight into its kept row (`Learner.one_row`), and the memory of the
weights grows by doubling. Any other learner is given a CSR row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from seqpa.core.learner import Learner
from seqpa.core.problems import Multilabel, Uniclass
from seqpa.core.single import Columns, OneRow, WiderRowError, row_of
from seqpa.errors import SeqpaError
from seqpa.estimators._base import Floats, OnlineEstimator

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_ROOM = 64  # columns for which memory is held at first


class OneByOne(OnlineEstimator):
    """Learning from dicts, and what they are called.

    Attributes
    ----------
    feature_index_ : dict
        Feature -> column of `coef_`, for estimators that learned from dicts.
    """

    @property
    def feature_index_(self) -> Columns:
        """Feature -> column of `coef_`; only what learned from dicts has it."""
        if not self._named:
            raise AttributeError("feature_index_ is of estimators that began with learn_one")
        return dict(self._known())

    def _known(self) -> Columns:
        """Feature -> column; the columns of arrays have their names, or numbers."""
        if self._columns is None:
            names = getattr(self, "feature_names_in_", range(self.n_features_in_))
            self._columns = {name: i for i, name in enumerate(names)}
        return self._columns

    def _check_known(self, x: Mapping[Any, Any]) -> None:
        """Refuse new features where the columns are those of arrays."""
        unknown = [] if self._named else [name for name in x if name not in self._known()]
        if unknown:
            raise SeqpaError(
                f"{type(self).__name__} began with arrays of {self.n_features_in_} columns, and "
                f"{unknown[0]!r} is none of them; an estimator that begins with learn_one takes up "
                "new features"
            )

    def _is_plain(self) -> bool:
        """Whether the learner is a `Learner` that can learn from one row, as far as is known."""
        return (
            self._geometry() is Learner
            and self._feature_map() is None
            and not self._record
            and not isinstance(self._problem(), Uniclass | Multilabel)
        )

    def _learn_named(
        self, x: Mapping[Any, Any], target: Any, C: float = 1.0, n_labels: int = 1
    ) -> None:
        """Learn from one dict."""
        begin = self._first()
        if begin:
            self._check_parameters()
            self._columns, self._named = {}, True
            if self._is_plain():
                self._begin(_ROOM, n_labels, bool(getattr(self, "fit_intercept", False)))
        else:
            self._check_again()
            if not self._named:
                self._check_known(x)
        row = self._kept_row() if not self._first() else None
        if row is None:
            X = self._as_row(x, learn=True)
            self.n_features_in_ = X.shape[1]
            if not begin:
                self._widen()
            targets = None if target is None else np.asarray([target])
            start = X[:1] if begin else None
            try:
                self._train(
                    X, targets, n_labels, C=C, begin=begin, once=True, start=self._start(start)
                )
            except BaseException:
                if begin and self._first():
                    self._columns, self._named = None, False
                raise
            return
        columns = self._known()
        try:
            row.read(x, columns, self._named)
        except WiderRowError:
            row = self._more_room(len(columns) + len(x))
            row.read(x, columns, self._named)
        self.n_features_in_ = max(1, len(columns))
        self._learn_row(row, target, C)

    def _relabel(self, change: Floats) -> None:
        """What was learned, for the labels of now (`Learner.relabel`)."""
        if self._feature_map() is not None:
            if not hasattr(self.features_, "relabel"):
                raise SeqpaError("this feature map needs all labels: give the first call classes")
            self.features_.relabel(change)
        self._learner.relabel(self._problem(), change)

    def _widen(self) -> None:
        """Make a learner that is not plain ready for the features there are now."""
        width = getattr(self._learner, "n_features", 0)  # a kernel's learner does not know it
        if self._named and self._feature_map() is None and width != self.n_features_in_:
            self._learner.resize(self.n_features_in_)

    def _start(self, first: Any) -> Any:
        """Where the weights begin, given the first example; at zero."""
        return None

    def _more_room(self, n_features: int) -> OneRow:
        self._learner.resize(2 * n_features)
        row = self._kept_row()
        assert row is not None
        return row

    def _kept_row(self) -> OneRow | None:
        """The kept way of a plain learner for dicts."""
        if not self._plain:
            return None
        row: OneRow | None = self._learner.one_row(True)
        return row

    def _as_row(self, x: Mapping[Any, Any], learn: bool) -> csr_matrix:
        """A dict as a CSR matrix of one row."""
        from scipy.sparse import csr_matrix

        columns = self._known()
        data, indices = row_of(x, columns, learn and self._named)
        width = len(columns) if learn else self.n_features_in_
        ends = np.array([0, len(data)], dtype=np.int32)
        return csr_matrix((data, indices, ends), shape=(1, max(1, width)))

    def _scores_one(self, x: Mapping[Any, Any]) -> list[float]:
        """The score of each label for one dict."""
        row, _ = self._looked_at(x)
        if row is not None:
            return row.scores()
        scores: Floats = self._scores(self._as_row(x, learn=False))
        values: list[float] = scores[0].tolist()
        return values

    def _looked_at(self, x: Mapping[Any, Any]) -> tuple[OneRow | None, int]:
        """The kept way of a plain learner, with the scores of one dict, and the best label."""
        row = self._kept_row()
        if row is None:
            return None, 0
        learner = self._learner
        columns = self._columns if self._columns is not None else self._known()
        return row, row.look(x, columns, learner.seen if learner.average else 0)
