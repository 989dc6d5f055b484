"""`PerceptronClassifier`: the perceptron, with its last, a random, the mean or the voted vector."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from seqpa.core.examples import Examples
from seqpa.core.learner import Learner, Run
from seqpa.core.mira import PrototypeLearner
from seqpa.core.problems import Problem
from seqpa.errors import SeqpaError
from seqpa.estimators._asking import Asking
from seqpa.estimators._base import Floats
from seqpa.estimators._labels import OnlineClassifier
from seqpa.estimators._parameters import Rule, from_zero, one_of

_AT_ONCE = 4_000_000  # scores held at once while vectors vote


class PerceptronClassifier(Asking, OnlineClassifier):
    """Rosenblatt's perceptron, for two classes or more: w ← w + δ after each mistake.

    δ = y x for two classes. With K weight vectors the right label's goes up by x, and those of the
    labels that pay for the mistake go down by x altogether, as `update` says (MIRA 2003). Mistakes
    are at most R²‖u‖²/γ² if u separates the examples by γ, with R² = ‖x‖², or 2‖x‖² for K labels
    (Novikoff in Perceptron notes; MIRA 2003, Theorem 1 for all three updates).

    A vote keeps every example at which a mistake was made, in the input's own form: m mistakes in
    n dimensions take 8·m·n bytes dense, 12 bytes for each stored value in CSR. A prediction costs
    the inner products with all of them.

    Parameters
    ----------
    average : {"average", "last", "random", "vote"}, default "average"
        Which of the vectors w_1, …, w_T, one after each example, to predict with: their mean, the
        last, one drawn at random, or all of them. In the vote each vector counts as many times as
        the examples it survived (Freund and Schapire 1999).
    fit_intercept : bool, default False
        Add a constant feature 1.
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 1e-3
        None makes `max_iter` passes; a number below 1 stops after a pass without mistakes.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.
    update : {"max-score", "uniform", "proportional"}, default "max-score"
        With three classes or more, which labels pay for a mistake: the highest one; all that are
        not below the right one, alike; or these in proportion to how far they are above it.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    coef_ : array of shape (1 or K, features)
        The weights; not with "vote".
    intercept_ : array of shape (1 or K,)
        The bias of each row; not with "vote".
    survival_ : array
        With "vote" only: how many examples each vector survived, the zero vector first.
    n_iter_ : int
        Passes made.
    n_updates_ : int
        How often the weights moved.
    online_mistakes_ : int
        Wrong predictions in all passes, each by the weights of that moment.
    online_loss_ : float
        Sum of the hinge losses with margin 1.
    online_squared_loss_ : float
        Sum of their squares.
    online_cost_ : float
        The number of mistakes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> for average in ("last", "average", "vote"):
    ...     model = PerceptronClassifier(average, max_iter=2, random_state=1)
    ...     print(average, round(model.fit(X[:1200], y[:1200]).score(X[1200:], y[1200:]), 2))
    last 0.85
    average 0.9
    vote 0.9
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "average": one_of("average", "last", "random", "vote"),
        "update": one_of("max-score", "uniform", "proportional"),
        "tol": (lambda tol: tol is None or (from_zero(tol) and tol < 1), "0 <= tol < 1, or None"),
    }

    def __init__(
        self,
        average: str = "average",
        fit_intercept: bool = False,
        max_iter: int = 20,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        update: str = "max-score",
    ) -> None:
        self.average = average
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.update = update

    def _step(self) -> str:
        return "perceptron"

    def _averages(self) -> bool:
        return self.average == "average"

    def _problem(self) -> Problem:
        return self._labels_apart(1.0)

    def _geometry(self) -> Callable[..., Learner]:
        if self.update == "max-score" or not self._by_label():
            return Learner
        return partial(PrototypeLearner, rule=self.update)

    @property
    def _record(self) -> bool:  # type: ignore[override]
        return self.average in ("random", "vote")

    def _begin(self, *args: Any, **options: Any) -> None:
        super()._begin(*args, **options)
        self._votes = Votes() if self.average == "vote" else None
        self._drawn: Floats | None = None

    def _relabel(self, change: Floats) -> None:
        if self.update != "max-score" and self._by_label():
            raise SeqpaError(
                f"update={self.update!r} needs to know all labels at the start: give the first "
                "call classes"
            )
        super()._relabel(change)
        if self._votes is not None:
            self._votes.relabel(change)
        if self._drawn is not None:
            self._drawn = change @ self._drawn

    def _widen(self) -> None:
        super()._widen()
        if self._drawn is not None:
            bias = np.asarray(self._drawn[:, -1:] if self._learner.bias else self._drawn[:, :0])
            known = self._drawn[:, : self._drawn.shape[1] - bias.shape[1]]
            new = np.zeros((len(known), self._learner.n_features - known.shape[1]))
            self._drawn = np.concatenate([known, new, bias], axis=1)

    def _after_pass(self, run: Run, examples: Examples, target: Any) -> None:
        if self._votes is not None:
            self._votes.add(run, examples, _moves(run, target, self._learner))
        if self.average == "random":
            self._draw(run, examples, target)

    def _draw(self, run: Run, examples: Examples, target: Any) -> None:
        """Keep the vector drawn before, or take one of this pass: each of all T with chance 1/T."""
        place = int(self._rng.integers(self._learner.seen))
        if place >= run.n_examples:
            return
        assert run.order is not None
        assert run.taus is not None
        later = np.flatnonzero(run.taus)
        moves = _moves(run, target, self._learner)[later > place]
        x = examples.matrix[run.order[later[later > place]]]
        undone = np.asarray(x.T @ moves).T
        if examples.bias:
            undone = np.column_stack([undone, moves.sum(axis=0)])
        self._drawn = self._learner.weights - undone

    @property
    def _weights(self) -> Floats:
        if self._votes is not None:
            raise AttributeError("a vote has no single weight vector")
        return super()._weights if self._drawn is None else self._drawn

    @property
    def survival_(self) -> NDArray[np.int_]:
        """How many examples each vector survived, the zero vector first."""
        if self._votes is None:
            raise AttributeError("survival_ is kept with average='vote' only")
        return np.array(self._votes.survived)

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        if self._votes is None:
            return super()._scores(X)
        X = self._validate(X, reset=False, ensure_all_finite=True)
        return self._votes.cast(X, self._learner.n_labels, self._learner.bias)


class Votes:
    """The sequence of distinct vectors, as the steps between them, and how long each survived."""

    def __init__(self) -> None:
        self.steps: list[tuple[Any, Floats]] = []  # the examples of a pass's mistakes, their moves
        self.survived: list[int] = [0]  # the zero vector's first

    def add(self, run: Run, examples: Examples, moves: Floats) -> None:
        """Append the steps of one recorded pass."""
        assert run.order is not None
        assert run.taus is not None
        at = np.flatnonzero(run.taus)
        if len(at):
            self.steps.append((examples.matrix[run.order[at]], moves))
        ends = np.append(at, run.n_examples)
        self.survived[-1] += int(ends[0])
        self.survived += np.diff(ends).tolist()

    def relabel(self, change: Floats) -> None:
        """The same steps for other labels (`Learner.relabel`)."""
        self.steps = [(x, moves @ change.T) for x, moves in self.steps]

    def cast(self, X: Any, n_labels: int, bias: bool) -> Floats:
        """The votes for each label as a share of all, [n, K]; with one vector for two classes
        those for the second minus those for the first, [n, 1]. A score of zero is no vote."""
        scores = np.zeros((X.shape[0], n_labels))
        votes = np.zeros_like(scores)
        block = max(1, _AT_ONCE // max(1, scores.size))
        voter = 1
        for x, moves in self.steps:
            for first in range(0, len(moves), block):
                part = slice(first, first + block)
                inner = X[:, : x.shape[1]] @ x[part].T  # columns may have been added since
                inner = inner.toarray() if hasattr(inner, "toarray") else inner
                grown = (inner + float(bias))[:, :, None] * moves[None, part]
                after = scores[:, None, :] + np.cumsum(grown, axis=1)  # [n, voters, K]
                weight = np.array(self.survived[voter : voter + after.shape[1]], dtype=np.float64)
                if n_labels == 1:
                    votes[:, 0] += np.sign(after[:, :, 0]) @ weight
                else:
                    choice = after.argmax(axis=2)
                    for k in range(n_labels):
                        votes[:, k] += (choice == k) @ weight
                scores = after[:, -1]
                voter += len(weight)
        return votes / max(1, sum(self.survived))


def _moves(run: Run, target: Any, learner: Learner) -> Floats:
    """What each update of a recorded pass added to each label's vector, in units of its x."""
    if run.order is None or run.taus is None or run.ups is None or run.downs is None:
        raise SeqpaError("only a recorded run can be replayed")
    at = np.flatnonzero(run.taus)
    if isinstance(learner, PrototypeLearner):
        return learner.moves[at]
    moves = np.zeros((len(at), learner.n_labels))
    rows = np.arange(len(at))
    if learner.n_labels == 1:
        moves[:, 0] = run.taus[at] * np.asarray(target)[run.order[at]]
    else:
        moves[rows, run.ups[at]] += run.taus[at]
        moves[rows, run.downs[at]] -= run.taus[at]
    return moves
