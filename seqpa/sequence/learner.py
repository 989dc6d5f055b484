"""One epoch of training a chain: for each sentence decode, cost, τ, update (PA 2006, §8-9).

`seqpa.sequence.training` calls this once an epoch; the loop over sentences itself is compiled, in
`seqpa/_kernel/trainer.py`. It comes back here for what only Python can do: call the user's cost
function, look for a competitor among the n best, and give a full store more memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import trainer as kernel
from seqpa._kernel.chain import Chain
from seqpa._kernel.competitor import COSTS, Competitor
from seqpa._kernel.competitor import UPDATES as COMPETITORS
from seqpa._kernel.steps import CODES as STEPS
from seqpa._kernel.store import SMALLEST, SparseDelta
from seqpa.core.steps import is_finite
from seqpa.errors import SeqpaError
from seqpa.sequence.ahead import AUTO, EXPECTED, Helpers, check_lookahead, new_block
from seqpa.sequence.bench import Bench, Hand, Size, Tools
from seqpa.sequence.chain import (
    NO_LABELS,
    larger_table,
    max_loss_search,
    scratch,
    sequences,
    training_chain,
)
from seqpa.sequence.constraints import Penalties
from seqpa.sequence.costs import LARGEST_WHOLE, SequenceCost
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.encode import Encoded
from seqpa.sequence.weights import TrainingWeights, padded

# The step of each algorithm; AROW is that of PA-II in its own geometry.
ALGORITHMS = {
    "perceptron": "perceptron",
    "pa": "PA",
    "pa-i": "PA-I",
    "pa-ii": "PA-II",
    "pa-ls": "PA-LS",
    "arow": "PA-II",
}
WITHOUT_C = ("perceptron", "pa")
IN_BATCHES = ("pa-i", "pa-ii", "pa-ls")
UPDATES = ("prediction-based", "near-max-loss", "loss-augmented", "max-loss", "n-best")
_OF_SUMS = ("near-max-loss", "loss-augmented")  # found by Viterbi with costs added to scores
# Algorithms that gain from sentences which are right by too little: they take them with care.
_CAREFUL = ("pa-i", "pa-ii", "pa-ls")
# The largest cost, and the largest weight of a sentence: float32 scores bear no more beside that of
# a forbidden label, −1e30.
LARGEST = 1e15
NO_WEIGHTS: NDArray[np.float64] = np.zeros(0)  # every sentence counts as one
_UNKNOWN = -1.0
# Threads for an epoch: the rest would wait at blocks of at most 256 sentences, and thousands would
# never come to an end.
_MOST_THREADS = 64
Progress = Callable[[int, int], None]  # how many sentences are done, and of how many


def chosen_update(
    update: str, algorithm: str, cost: SequenceCost, batch_size: int, online: bool
) -> str:
    """What "auto" stands for; any other update is itself.

    Over several epochs near-max-loss is at least as good as prediction-based updates on every
    corpus that was tried (`benchmarks/RESULTS.md`). One sentence at a time the update is that of
    the protocol, predict and learn from the mistake, which is also the faster.

    Parameters
    ----------
    update, algorithm, cost, batch_size
        As for `ChainLearner`.
    online : bool
        Whether each sentence is learned once, as it comes.

    Returns
    -------
    str
    """
    if update != "auto":
        return update
    fits = cost.is_additive and cost.matrix.max(initial=0.0) <= LARGEST
    several = algorithm in _CAREFUL and batch_size == 1 and not online
    return "near-max-loss" if several and fits else "prediction-based"


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the training sentences, each met before it was learned from.

    Attributes
    ----------
    sentences, tokens : int
        How many were seen.
    wrong_sentences, wrong_tokens : int
        How many were predicted wrongly when they came.
    updates : int
        How many sentences moved the weights.
    cost : float
        Σ ρ(y, ŷ).
    loss, squared_loss : float
        Σ ℓ and Σ ℓ² (PA 2006, Eq. 45 or 52).
    order : None or (sentences,) array
        The sentences in the order of training, where that was asked for.
    record : None or (sentences, 4) array
        Loss, τ, ‖δ‖² and cost of each, in that order.
    number : int
        Which epoch it was, counted from 1.
    seconds : float
        How long training took, without the dev set.
    dev_score : None or float
        The score on the dev set.
    dev_metric : "F1" or "accuracy"
        What that score is: the F1 of spans where all labels mark spans, else token accuracy.
    best : bool
        Whether these weights are the best so far, and so the ones that are kept.
    """

    sentences: int
    tokens: int
    wrong_sentences: int
    wrong_tokens: int
    updates: int
    cost: float
    loss: float
    squared_loss: float
    order: NDArray[np.int64] | None = None
    record: NDArray[np.float64] | None = None
    number: int = 1
    seconds: float = 0.0
    dev_score: float | None = None
    best: bool = True
    dev_metric: str = "accuracy"

    def plus(self, other: Epoch) -> Epoch:
        """The sums of both, as one pass without a record."""
        names = ["sentences", "tokens", "wrong_sentences", "wrong_tokens", "updates"]
        names += ["cost", "loss", "squared_loss", "seconds"]
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return replace(self, order=None, record=None, **sums)

    @property
    def tokens_per_second(self) -> float:
        """How fast training went, the dev set not counted."""
        return self.tokens / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Lesson:
    """What happened when a tagger learned from one sentence.

    Attributes
    ----------
    predicted : list of str
        The labels that it would have given, before it was told the right ones.
    cost : float
        What the mistake cost: ρ(y, ŷ).
    loss : float
        How far the right labels were from winning by the margin (PA 2006, Eq. 45).
    tau : float
        The size of the step; 0 where nothing moved.
    wrong_tokens : int
    """

    predicted: list[str]
    cost: float
    loss: float
    tau: float
    wrong_tokens: int


@dataclass(frozen=True)
class ChainLearner:
    """Cost-sensitive online learning of a chain's weights.

    Parameters
    ----------
    algorithm : "perceptron", "pa", "pa-i", "pa-ii", "pa-ls" or "arow"
        The step, the same function as for vectors (`seqpa.core.steps`); AROW measures lengths by
        how sure it is of each weight. One sentence at a time, pa-ls is pa-ii: predictions that
        are right ask for nothing.
    C : float
        Aggressiveness: the largest step of PA-I, the slack's weight of PA-II, AROW's 1/2r.
    cost : SequenceCost
    rules : Penalties
    labels : the labels, in the order of their indices
    update : "prediction-based", "near-max-loss", "loss-augmented", "max-loss" or "n-best"
        Which wrong sequence the constraint names. Prediction-based takes ŷ (Eq. 44), and asks for
        the margin √ρ. Loss-augmented takes argmax score + ρ, which Viterbi finds where ρ is a sum
        over tokens, and asks for the margin ρ itself. Max-loss takes argmax score + √ρ (Eq. 50),
        exactly: for the zero-one cost it is the best or the second-best sequence, for sums of whole
        numbers, or multiples of one number, Viterbi over labels and costs finds it
        (`seqpa/_kernel/max_loss.py`). Near-max-loss takes that of two candidates which has the
        higher score + √ρ: ŷ, and argmax score + ρ/2, where ρ/2 + 1/2 is the tangent of √ρ at one
        mistake; it is found as fast as loss-augmented. N-best takes the argmax of score + √ρ among
        the `n_best` sequences of the highest score: an approximation, for every cost.
    batch_size : so many sentences make one step (see `seqpa.sequence.batches`)
    lookahead : int or "auto"
        So many sentences are decoded with the same weights, by several threads, before the first of
        them moves the weights; "auto" takes as many as bring some updates. 1 is the papers'
        algorithm. Updates that are found in Python, and batches, have nothing to look ahead to.
    """

    algorithm: str
    C: float
    cost: SequenceCost
    rules: Penalties
    labels: Sequence[str]
    update: str = "prediction-based"
    n_best: int = 10
    average: bool = True
    batch_size: int = 1
    lookahead: int | str = 1

    def __post_init__(self) -> None:
        if self.algorithm not in tuple(ALGORITHMS):  # a tuple: a list has no hash
            raise SeqpaError(
                f"algorithm {self.algorithm!r} is unknown: choose {', '.join(ALGORITHMS)}"
            )
        if self.update not in UPDATES:
            raise SeqpaError(
                f"update {self.update!r} is unknown: choose auto, {', '.join(UPDATES)}"
            )
        if not (isinstance(self.C, Real) and is_finite(self.C) and self.C > 0):
            raise SeqpaError(f"C is {self.C!r}: it must be a positive number")
        if self.update in _OF_SUMS:
            if not self.cost.is_additive:
                raise SeqpaError(
                    f"update {self.update!r} needs a cost that is a sum over tokens: 'hamming', a "
                    "matrix or a Hierarchy; for others choose 'prediction-based' or 'n-best'"
                )
            if self.cost.matrix.max(initial=0.0) > LARGEST:
                raise SeqpaError(
                    f"update {self.update!r} takes costs up to {LARGEST:g}: bring the largest, "
                    f"{self.cost.matrix.max():g}, nearer to 1"
                )
        if self.update == "max-loss" and not (self.cost.kind == "zero-one" or self.cost.is_whole):
            raise SeqpaError(
                f"update 'max-loss' is for the cost 'zero-one' and for sums over tokens of whole "
                f"numbers up to {LARGEST_WHOLE}, or of so many times one number ('hamming', a "
                f"matrix, a Hierarchy): choose "
                f"update='n-best' (an approximation among the n best sequences) or "
                f"'prediction-based'"
            )
        if self.batch_size > 1 and (
            self.algorithm not in IN_BATCHES or self.update != "prediction-based"
        ):
            raise SeqpaError(
                f"batch_size above 1 needs prediction-based updates and one of the algorithms "
                f"{', '.join(IN_BATCHES)}"
            )
        check_lookahead(self.lookahead)
        if self.lookahead not in (1, AUTO) and not self._can_look_ahead:
            other = "batch_size above 1" if self.batch_size > 1 else f"update {self.update!r}"
            if self.update == "max-loss":
                other += f" with the cost {self.cost.kind!r}"
            raise SeqpaError(
                f"lookahead is {self.lookahead}, but {other} finds one competitor at a time: "
                f"choose lookahead 1"
            )

    def epoch(
        self,
        weights: TrainingWeights,
        encoded: Encoded,
        gold: NDArray[np.int32],
        order: NDArray[np.int64],
        record: bool = False,
        importance: NDArray[np.float64] = NO_WEIGHTS,
        progress: Progress | None = None,
        helpers: Helpers | None = None,
        bench: Bench | None = None,
    ) -> Epoch:
        """Train once on the sentences named by `order`; the weights and their clock move on.

        Parameters
        ----------
        weights : TrainingWeights
        encoded : Encoded
        gold : (tokens,) array
            The number of each token's label; −1 where it is not given.
        order : (sentences,) array
        record : bool
            Keep `Epoch.order` and `Epoch.record`.
        importance : (sentences,) array
            What the C of each sentence is multiplied by; empty for nothing.
        progress : callable, optional
            Is told now and then how many sentences are done, and of how many.
        helpers : Helpers, optional
            Threads that help where `lookahead` lets them.
        bench : Bench, optional
            Keeps what training works with, from one call to the next.

        Returns
        -------
        Epoch
        """
        done, _ = self.trained_on(
            weights, encoded, gold, order, record, importance, bench, progress, helpers
        )
        return done

    def trained_on(
        self,
        weights: TrainingWeights,
        encoded: Encoded,
        gold: NDArray[np.int32],
        order: NDArray[np.int64],
        record: bool = False,
        importance: NDArray[np.float64] = NO_WEIGHTS,
        bench: Bench | None = None,
        progress: Progress | None = None,
        helpers: Helpers | None = None,
    ) -> tuple[Epoch, NDArray[np.int32]]:
        """`epoch`, and behind it what was predicted for the last sentence.

        bench : keeps what training works with, from one call to the next
        """
        bench = Bench() if bench is None else bench
        if self.batch_size > 1:
            return self._batch_epoch(weights, encoded, gold, order, record, importance, progress)
        competing = self._looks_among_nbest
        again = bool(gold.min(initial=0) < 0)
        helpers = Helpers(0) if helpers is None else helpers
        make = partial(self.tools, helpers=helpers.count)
        tools = bench.tools(self, weights, Size.of(encoded), again, make)
        chain, trainer, path = tools.chain, tools.trainer, tools.own.path
        data = sequences(encoded)
        rows = np.zeros((len(order) if record else 0, 4))
        predicted = _Mistakes()

        def train() -> None:
            given_path, given_cost = False, _UNKNOWN
            while (position := trainer.get_position()) < len(order):
                if competing and not given_path:
                    given_cost = self._find_competitor(
                        Decoder.over(chain, weights.n_labels),
                        encoded,
                        int(order[position]),
                        gold,
                        path,
                        predicted,
                    )
                    given_path = True
                # The kernel returns after so many sentences; where it does changes nothing.
                piece = 1 if competing else _piece(order, progress)
                stop = min(position + piece, len(order))
                status = trainer.epoch(
                    data, gold, importance, order, stop, given_path, given_cost, NO_LABELS, rows
                )
                if status == kernel.TOO_FAR:
                    raise too_far(int(order[trainer.get_position()]))
                if progress is not None:
                    progress(trainer.get_position(), len(order))
                given_path = status not in (kernel.DONE, kernel.NEEDS_TABLE)
                given_cost = _UNKNOWN
                if status == kernel.NEEDS_TABLE and tools.own.max_loss is not None:
                    larger_table(tools.own.max_loss)
                if status == kernel.NEEDS_SPACE:
                    chain.replace_stores(*weights.grow())
                if status != kernel.DONE and self.cost.kind == "python":
                    sentence = int(order[trainer.get_position()])
                    begin, end = encoded.starts[sentence], encoded.starts[sentence + 1]
                    given_cost = self._cost(gold[begin:end], path[: end - begin])

        if tools.ahead is None:
            train()
        else:
            tools.ahead.give(data, gold, order, NO_LABELS, len(tools.helpers) > 0)
            others = [hand.competitor for hand in tools.helpers]
            with helpers.helping(tools.ahead, others, len(order)):
                train()
        wrong, wrong_tokens, updates, cost, loss, squared_loss = trainer.totals()
        if competing:  # the kernel counted against the competitor, which need not be the prediction
            wrong, wrong_tokens, cost = predicted.sentences, predicted.tokens, sum(predicted.costs)
            rows[:, 3] = predicted.costs if record else 0.0
        lengths = np.diff(encoded.starts)
        done = Epoch(
            sentences=len(order),
            tokens=int(lengths[order].sum()),
            wrong_sentences=wrong,
            wrong_tokens=wrong_tokens,
            updates=updates,
            cost=cost,
            loss=loss,
            squared_loss=squared_loss,
            order=order if record else None,
            record=rows if record else None,
        )
        last = predicted.path
        if not competing:
            last = path if self.update == "prediction-based" else tools.own.guess
        return done, last[: int(lengths[order[-1]]) if len(order) else 0].copy()

    def helpers(self, n_jobs: int) -> Helpers:
        """Threads for epochs: so many with the one that trains, or none where nothing is decoded
        ahead. They end with the block of `with`.

        Parameters
        ----------
        n_jobs : int

        Returns
        -------
        Helpers
        """
        return Helpers(min(n_jobs, _MOST_THREADS) - 1 if self.lookahead != 1 else 0)

    def tools(self, weights: TrainingWeights, size: Size, again: bool, helpers: int = 0) -> Tools:
        """What training works with, for sentences of at most this size.

        again : whether some labels are not given, so that sentences are decoded again
        helpers : how many threads there are besides the one that trains
        """
        chain = training_chain(weights, self.rules)
        longest = max(1, size.tokens)
        looks_ahead = self.lookahead != 1 and self._can_look_ahead
        hands = [
            self._hand(chain, weights.n_labels, longest, again)
            for _ in range(1 + helpers * looks_ahead)
        ]
        ahead = new_block(longest, self.update != "prediction-based") if looks_ahead else None
        auto = self.lookahead == AUTO
        trainer = kernel.Trainer(
            chain=chain,
            own=hands[0].competitor,
            ahead=ahead,
            block=1 if auto else self.lookahead,
            expected=EXPECTED if auto else 0.0,
            step=STEPS[ALGORITHMS[self.algorithm]],
            C=self.C,
            trans=weights.transitions.reshape(-1),
            trans_sums=weights.transition_sums.reshape(-1),
            trans_gains=weights.transition_gains.reshape(-1),
            delta=_difference(size.features),
            pair_delta=_difference(size.pair_features),
            trans_delta=_difference(size.tokens),
            right=np.zeros(longest, np.int32),
            averaging=self.average,
            second_order=weights.second_order,
            clock=weights.clock_array,
        )
        return Tools(
            self,
            weights.transitions,
            size,
            again,
            chain,
            trainer,
            ahead,
            hands[0],
            tuple(hands[1:]),
        )

    def _hand(self, chain: Chain, n_labels: int, longest: int, again: bool) -> Hand:
        """What one thread finds competitors with, in sentences of at most `longest` tokens."""
        guess, rival = np.zeros((2, longest), np.int32)
        competing = self._looks_among_nbest
        costs, max_loss = None, None
        if self.update in _OF_SUMS:
            costs = self.cost.by_label(n_labels, padded(n_labels))
        elif self.update == "max-loss" and not competing:
            costs = self.cost.in_units(n_labels, padded(n_labels))
            max_loss, _ = max_loss_search(costs, self.cost.unit, n_labels, longest)
        work, path = scratch(n_labels, longest, again or costs is not None, costs)
        competitor = Competitor(
            chain=chain,
            update=COMPETITORS["prediction-based" if competing else self.update],
            max_loss=max_loss,
            cost_kind=COSTS[self.cost.kind],
            cost=self.cost.matrix,
            guess=guess,
            rival=rival,
            work=work,
        )
        return Hand(competitor, max_loss, path, guess)

    def _batch_epoch(
        self,
        weights: TrainingWeights,
        encoded: Encoded,
        gold: NDArray[np.int32],
        order: NDArray[np.int64],
        record: bool,
        importance: NDArray[np.float64] = NO_WEIGHTS,
        progress: Progress | None = None,
    ) -> tuple[Epoch, NDArray[np.int32]]:
        """The same, with one step for every `batch_size` sentences."""
        from seqpa.sequence import batches

        keys = batches.Keys(weights.n_labels, weights.n_features)
        data = sequences(encoded)
        lengths = np.diff(encoded.starts)
        work, _ = scratch(weights.n_labels, int(lengths.max(initial=0)))
        predicted, right = np.zeros(len(gold), np.int32), gold.copy()
        rows = np.zeros((len(order), 4))
        wrong_sentences = wrong_tokens = 0
        for first in range(0, len(order), self.batch_size):
            if progress is not None:
                progress(first, len(order))
            batch = order[first : first + self.batch_size]
            chain = training_chain(weights, self.rules)
            differences, positions = [], []
            for position, sentence in enumerate(batch, first):
                chain.decode(data, sentence, sentence + 1, NO_LABELS, work, predicted)
                here = slice(*encoded.starts[sentence : sentence + 2])
                wrong = _n_wrong(gold[here], predicted[here])
                if wrong:
                    if gold[here].min() < 0:
                        chain.decode(data, sentence, sentence + 1, gold, work, right)
                    wrong_sentences += 1
                    wrong_tokens += wrong
                    rows[position, 3] = self._cost(gold[here], predicted[here])
                    positions.append(position)
                    differences.append(
                        keys.difference(encoded, int(sentence), right[here], predicted[here])
                    )
            weights.clock += len(batch)
            if differences:
                step = batches.step(
                    weights,
                    keys,
                    differences,
                    np.sqrt(rows[positions, 3]),
                    ALGORITHMS[self.algorithm],
                    self.C * importance[order[positions]] if len(importance) else self.C,
                    weights.clock - 1.0,
                )
                if step is None:
                    raise too_far(int(order[positions[0]]))
                rows[positions, :3] = np.stack([step.losses, step.taus, step.norms2], axis=1)
        done = Epoch(
            sentences=len(order),
            tokens=int(lengths[order].sum()),
            wrong_sentences=wrong_sentences,
            wrong_tokens=wrong_tokens,
            updates=int((rows[:, 1] != 0).sum()),
            cost=float(rows[:, 3].sum()),
            loss=float(rows[:, 0].sum()),
            squared_loss=float((rows[:, 0] ** 2).sum()),
            order=order if record else None,
            record=rows if record else None,
        )
        last = slice(*encoded.starts[order[-1] : order[-1] + 2]) if len(order) else slice(0)
        return done, predicted[last]

    @cached_property
    def serial(self) -> ChainLearner:
        """The same, one sentence at a time: for lessons, where each is met by what was just
        learned."""
        return self if self.lookahead == 1 else replace(self, lookahead=1)

    @property
    def _can_look_ahead(self) -> bool:
        """Whether competitors are found by the kernel, one sentence independent of the other."""
        return self.batch_size == 1 and not self._looks_among_nbest

    @property
    def _looks_among_nbest(self) -> bool:
        """Whether the competitor is found in Python, among the best sequences."""
        return self.update == "n-best" or (self.update == "max-loss" and not self.cost.is_whole)

    def _cost(self, gold: NDArray[np.int32], predicted: NDArray[np.int32]) -> float:
        return self.cost.of_numbers(gold, predicted, self.labels)

    def _find_competitor(
        self,
        decoder: Decoder,
        encoded: Encoded,
        sentence: int,
        gold: NDArray[np.int32],
        path: NDArray[np.int32],
        predicted: _Mistakes,
    ) -> float:
        """Write ỹ = argmax score + √ρ among the candidates into `path`; return its cost.

        Two candidates are enough for the zero-one cost: y itself has no margin, and all others
        have the same. The first candidate is the prediction, and is counted as such.
        """
        truth = gold[slice(*encoded.starts[sentence : sentence + 2])]
        if self.update == "n-best":
            candidates = decoder.nbest(encoded, sentence, self.n_best)
        elif truth.min(initial=0) >= 0:
            candidates = decoder.nbest(encoded, sentence, 2)
        else:  # many may have the labels given
            candidates = decoder.nbest(encoded, sentence, 1)
            candidates += decoder.disobeying(encoded, sentence, gold)
        best, best_cost = decoder.obeying(encoded, sentence, gold), 0.0
        best_value = decoder.score(encoded, sentence, best)
        for rank, (score, labels) in enumerate(candidates):
            candidate = np.array(labels, np.int32)
            wrong = _n_wrong(truth, candidate)
            cost = self._cost(truth, candidate) if wrong else 0.0
            if rank == 0:
                predicted.add(wrong, cost, candidate)
            if wrong and score + np.sqrt(cost) > best_value:
                best, best_cost, best_value = candidate, cost, score + np.sqrt(cost)
        path[: len(truth)] = best
        return best_cost


def _piece(order: NDArray[np.int64], progress: Progress | None) -> int:
    """After how many sentences progress is told: some hundred times, if it is asked for."""
    return len(order) if progress is None else max(64, len(order) // 100)


def _n_wrong(gold: NDArray[np.int32], predicted: NDArray[np.int32]) -> int:
    """How many of the labels given were not predicted."""
    return int(np.count_nonzero((gold != predicted) & (gold >= 0)))


def _difference(features: int) -> SparseDelta:
    """Memory for the difference of any sentence: two labels of every feature. What is not touched
    of it costs nothing."""
    most = 2 * features
    slots = max(SMALLEST, 1 << (2 * most + 1).bit_length())
    return SparseDelta(
        places=np.empty(most, np.int64),
        amounts=np.empty(most),
        table=np.empty(slots, np.int32),
    )


def too_far(sentence: int) -> SeqpaError:
    """The error for a step that float32 weights cannot make."""
    return SeqpaError(
        f"sentence {sentence + 1}: the weights would move by more than {kernel.LONGEST:g}: bring "
        f"feature values and costs nearer to 1, or choose the algorithm 'pa-i' with a small C"
    )


class _Mistakes:
    """How often, and how badly, the prediction was wrong."""

    def __init__(self) -> None:
        self.sentences = self.tokens = 0
        self.costs: list[float] = []
        self.path = NO_LABELS  # the last prediction

    def add(self, wrong_tokens: int, cost: float, path: NDArray[np.int32]) -> None:
        self.sentences += wrong_tokens > 0
        self.tokens += wrong_tokens
        self.costs.append(cost)
        self.path = path
