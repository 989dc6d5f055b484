"""`Queue`: which sentence comes next.

Every sentence has a worth: what labelling it would teach, by a strategy, with the model as it was
when it was looked at last. `refresh` goes around all of them in small pieces, in the background;
`next` looks again at the few that seem best, so that what was learned a moment ago counts. Some
sentences come by chance: how the model does on these, before it learns them, is an honest measure.

The strategy that is taken where none is asked for is the one that reached a score with the fewest
labelled tokens on three corpora (docs/experiments/teach).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.sequence.select import Words, check_strategy
from seqpa.teach.model import TaughtModel

STRATEGY = "coverage"
RANDOM_SHARE = 0.15
_AGAIN = 16  # so many of the best are looked at again before one is chosen
_PIECE = 64  # sentences that are looked at together
_FIRST_LESSONS = 5  # before these are learned, scores say nothing

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """The next sentence: its number, and why it: "random" or the name of the strategy."""

    index: int
    why: str


class Queue:
    """The sentences that are not labelled yet, in the order of what they would teach.

    Any thread may call it.

    Parameters
    ----------
    sentences : sequence of token lists
    seed : int
        For the sentences that come by chance.
    strategy : str
        One of `seqpa.sequence.select.STRATEGIES`.
    random_share : float
        The share of sentences that come by chance.
    columns : None, or for each sentence the further cells of its tokens

    Examples
    --------
    >>> model = TaughtModel("spans", ["PER"])
    >>> queue = Queue([["Ada", "left"], ["Bob", "left"], []], seed=0)
    >>> first = queue.next(model, set())
    >>> queue.done(first.index)
    >>> second = queue.next(model, set())
    >>> queue.done(second.index)
    >>> sorted([first.index, second.index]), queue.next(model, set())
    ([0, 1], None)
    """

    def __init__(
        self,
        sentences: Sequence[Sequence[str]],
        seed: int = 0,
        strategy: str = STRATEGY,
        random_share: float = RANDOM_SHARE,
        columns: Sequence[Any] | None = None,
    ) -> None:
        check_strategy(strategy)
        if not 0.0 <= random_share <= 1.0:
            raise SeqpaError(f"random_share is {random_share}: give a number from 0 to 1")
        self.strategy = strategy
        self.random_share = random_share
        self._sentences = sentences
        self._columns = columns
        self._rng = np.random.default_rng(seed)
        self._open = np.array([len(tokens) > 0 for tokens in sentences], dtype=bool)
        self._worths = np.full(len(sentences), np.nan)
        # A random order: the first pieces that are looked at stand for all.
        self._order = self._rng.permutation(len(sentences))
        self._at = 0
        self._density = familiarity(sentences) if strategy == "density" else None
        self._words = Words(sentences) if strategy == "coverage" else None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many sentences are left."""
        return int(self._open.sum())

    def done(self, index: int) -> None:
        """The sentence is labelled, skipped or flagged: it does not come again.

        Parameters
        ----------
        index : int
        """
        with self._lock:
            if self._words is not None and self._open[index]:
                self._words.label(index)
            self._open[index] = False

    def put_back(self, index: int) -> None:
        """The sentence may come again: it was undone, or a new label may be in it.

        Parameters
        ----------
        index : int
        """
        with self._lock:
            if self._words is not None and not self._open[index]:
                self._words.label(index, -1)
            self._open[index] = len(self._sentences[index]) > 0

    def next(self, model: TaughtModel, exclude: Set[int] = frozenset()) -> Choice | None:
        """The sentence that would teach most; None where none is left.

        Parameters
        ----------
        model : TaughtModel
        exclude : set of int
            Sentences that others are at.

        Returns
        -------
        Choice or None
        """
        with self._lock:
            free = self._open.copy()
            free[[index for index in exclude if 0 <= index < len(free)]] = False
            left = np.flatnonzero(free)
            if not len(left):
                return None
            by_chance = self.strategy == "random" or self._rng.random() < self.random_share
            if by_chance or model.clock < _FIRST_LESSONS:
                return Choice(int(self._rng.choice(left)), "random")
            known = left[np.isfinite(self._worths[left])]
            if len(known) < min(len(left), _PIECE):
                # The background has not come far: some by chance, to have something to choose from.
                new = np.setdiff1d(left, known, assume_unique=True)
                known = np.concatenate([known, self._rng.permutation(new)[:_PIECE]])
                self._look(model, known)
            best = known[np.argsort(-self._worths[known], kind="stable")[:_AGAIN]]
        worths = self._look(model, best)
        return Choice(int(best[int(worths.argmax())]), self.strategy)

    def refresh(self, model: TaughtModel, budget_seconds: float = 0.05) -> int:
        """Look at some sentences again, those first that were not looked at for longest.

        Parameters
        ----------
        model : TaughtModel
        budget_seconds : float
            When to stop; one piece is always done.

        Returns
        -------
        int
            How many were looked at.
        """
        if self.strategy == "random" or model.clock < _FIRST_LESSONS or not len(self._order):
            return 0
        end = time.monotonic() + budget_seconds
        looked = 0
        for _ in range(0, len(self._order), _PIECE):
            with self._lock:
                piece = self._order[self._at : self._at + _PIECE]
                self._at = (self._at + _PIECE) % len(self._order) if len(piece) == _PIECE else 0
                piece = piece[self._open[piece]]
            if len(piece):
                self._look(model, piece)
                looked += len(piece)
            if time.monotonic() >= end:
                break
        return looked

    def _look(self, model: TaughtModel, some: NDArray[np.intp]) -> Floats:
        """The worths of some sentences, with the model as it is."""
        X = [
            model.sentence(self._sentences[i], None if self._columns is None else self._columns[i])
            for i in some
        ]
        own = "entropy" if self.strategy == "density" else self.strategy
        weights = None if self._words is None else [self._words.weights(int(i)) for i in some]
        worths = model.tagger.worths(X, own, weights)
        if self._density is not None:
            worths = worths * self._density[some]
        self._worths[some] = worths
        return worths


def familiarity(sentences: Sequence[Sequence[str]]) -> Floats:
    """How like all others each sentence is: the mean over its words of how many share them.

    Parameters
    ----------
    sentences : sequence of token lists

    Returns
    -------
    array
        Between 0 (no tokens) and 1; the logarithm of the number of sentences that have the word,
        over that of all.

    Examples
    --------
    >>> familiarity([["so", "it"], ["so"], ["new"], []]).round(2).tolist()
    [0.65, 0.79, 0.5, 0.0]
    """
    shared = Counter(word for tokens in sentences for word in set(tokens))
    most = np.log1p(len(sentences) - 1) if len(sentences) > 1 else 1.0
    return np.array(
        [
            float(np.mean([np.log1p(shared[word]) for word in tokens])) / most if tokens else 0.0
            for tokens in sentences
        ]
    )
