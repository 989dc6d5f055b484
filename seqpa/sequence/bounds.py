"""The loss bounds of a tagger's training, as a certificate.

A training run is one long sequence of rounds, a sentence each. Against fixed weights u, any at all,
the theorems of PA 2006, §8-9 bound what it suffered. They ask for the max-loss of u,
``ℓ_ML(u) = max_y' √ρ(y, y') − u·(Φ(x, y) − Φ(x, y'))`` (PA 2006, Eq. 52),
which is known exactly

- for u = 0: it is √ρ of the costliest sequence (under constraints, and for the cost span, of a
  sequence at least that costly, which only weakens the bound);
- for the trained weights, if the cost is zero-one (the two best sequences give it) or a sum over
  tokens of multiples of one number (`seqpa/_kernel/max_loss.py` finds it).

Loss-augmented updates ask for the margin ρ and take the sequence of the highest score + ρ: that is
the max-loss update of the cost ρ², whose root is ρ. The theorems hold for this cost, and are
printed for it.

AROW and mini-batches of sentences are refused (`check_covered`): no theorem here is about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqpa.core.bounds import Bound, Rounds, certificate, check
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError
from seqpa.schemes import spans
from seqpa.sequence.costs import SequenceCost
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.encode import Encoded
from seqpa.sequence.learner import ALGORITHMS, Epoch
from seqpa.sequence.tagger import SequenceTagger
from seqpa.sequence.weights import padded


@dataclass(frozen=True, slots=True)
class Certificate:
    """The bounds of a training run, each beside what fixed weights u would have suffered.

    Parameters
    ----------
    parts : tuple of (str, tuple of Bound)
        What u is, and the bounds beside it.
    squared : bool, default False
        Whether the theorems' cost ρ is the square of the tagger's, as with loss-augmented updates.

    Examples
    --------
    >>> bound = Bound("PA 2006, Theorem 2", 2.0, 5.0, True, True, "Σℓ² <= R²‖u‖²")
    >>> Certificate((("u = 0", (bound,)),)).holds
    True
    """

    parts: tuple[tuple[str, tuple[Bound, ...]], ...]
    squared: bool = False

    @property
    def holds(self) -> bool:
        """Whether no bound that applies is violated."""
        return not any(bound.violated for _, bounds in self.parts for bound in bounds)

    def __str__(self) -> str:
        of = ", where ρ is the square of the cost" if self.squared else ""
        return "\n\n".join(
            f"Loss bounds of the whole run{of}, beside {comparator}\n"
            + certificate([bound for bound in bounds if bound.applies])
            for comparator, bounds in self.parts
        )


def check_covered(tagger: SequenceTagger) -> None:
    """Refuse training that no theorem is about, before it begins.

    Parameters
    ----------
    tagger : SequenceTagger
        Before the run.

    Examples
    --------
    >>> check_covered(SequenceTagger(algorithm="pa-i"))
    >>> check_covered(SequenceTagger(batch_size=4))
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: no loss bound is proven for batch_size: 4: one step answers several \
sentences, and PA 2006's proofs are about one; train without one
    """
    reasons = {
        "algorithm: arow": (
            tagger.algorithm == "arow",
            "its steps are measured by variances, and PA 2006's proofs are about w ← w + τδ",
        ),
        f"batch_size: {tagger.batch_size}": (
            tagger.batch_size > 1,
            "one step answers several sentences, and PA 2006's proofs are about one",
        ),
        f"lookahead: {tagger.lookahead}": (
            tagger.lookahead != 1,
            "predictions are made before the steps of earlier sentences, and PA 2006's proofs are "
            "about predictions with the weights of the moment",
        ),
        "warm_start": (tagger.warm_start, "the bounds are about a run from zero weights"),
    }
    for what, (given, why) in reasons.items():
        if given:
            raise SeqpaError(f"no loss bound is proven for {what}: {why}; train without one")


def certify(tagger: SequenceTagger, corpus: Corpus, epochs: Sequence[Epoch]) -> Certificate:
    """The bounds of a whole run from zero weights.

    Parameters
    ----------
    tagger : SequenceTagger
        After the run.
    corpus : Corpus
        What it was trained on.
    epochs : sequence of Epoch
        All epochs of the run, in order, made with ``record=True``.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> X, y = [["she", "saw"], ["the", "saw"]], [["P", "V"], ["D", "N"]]
    >>> corpus = Corpus.from_sentences(X, y)
    >>> tagger = SequenceTagger(["word[0]", "word[-1]"], epochs=3, random_state=1)
    >>> epochs = list(tagger.training(corpus, record=True))
    >>> certify(tagger, corpus, epochs).holds
    True
    """
    check_covered(tagger)
    kept = [(e.order, e.record) for e in epochs if e.order is not None and e.record is not None]
    numbers = [epoch.number for epoch in epochs]
    if not kept or len(kept) < len(epochs) or numbers != list(range(1, len(epochs) + 1)):
        raise SeqpaError("a certificate needs every epoch of the run, made with record=True")
    orders, record = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    cost = tagger.learner_for(tagger.classes_, tagger.missed_cost_).cost
    weights = corpus.weights
    if weights is not None:  # a sentence of the weight 0 is left out
        counted = weights[orders] > 0
        orders, record = orders[counted], record[counted]
    squared = tagger.update == "loss-augmented"
    costs = record[:, 3] ** 2 if squared else record[:, 3]

    def bounds(losses: NDArray[np.float64], distance2: float) -> tuple[Bound, ...]:
        rounds = Rounds(
            kind="cost-sensitive",
            step=ALGORITHMS[tagger.algorithm],
            losses=record[:, 0],
            taus=record[:, 1],
            norms2=record[:, 2],
            costs=costs,
            comparator_losses=losses[orders],
            distance2=distance2,
            C=tagger.C if weights is None else tagger.C * weights[orders],
        )
        return tuple(check(rounds))

    largest = _largest_costs(tagger, corpus, cost)
    parts = [("u = 0", bounds(largest if squared else np.sqrt(largest), 0.0))]
    if cost.kind == "zero-one" or cost.is_whole:
        losses = _losses_of_trained(tagger, corpus, cost)
        distance2 = tagger.trained_.weights.squared_norm()
        parts.append(
            (f"u = the trained weights, ‖u‖² = {distance2:.6g}", bounds(losses, distance2))
        )
    return Certificate(tuple(parts), squared)


def _largest_costs(
    tagger: SequenceTagger, corpus: Corpus, cost: SequenceCost
) -> NDArray[np.float64]:
    """For each sentence what its costliest labels cost, or a little more."""
    labels = tagger.classes_
    if len(labels) == 1:
        return np.zeros(len(corpus))
    if cost.kind == "zero-one":
        return np.ones(len(corpus))
    if cost.kind == "hamming":
        return corpus.lengths.astype(np.float64)
    if cost.kind == "matrix":
        worst = dict(zip(labels, cost.matrix.max(axis=1).tolist(), strict=True))
        return np.array([sum(map(worst.__getitem__, sentence)) for sentence in corpus.y])
    # span: every gold span missed, and each token an invented one
    return np.array([len(spans(sentence)) + len(sentence) for sentence in corpus.y], np.float64)


def _losses_of_trained(
    tagger: SequenceTagger, corpus: Corpus, cost: SequenceCost
) -> NDArray[np.float64]:
    """ℓ_ML of the tagger's weights: how far the worst sequence is from losing by its margin."""
    encoded, decoder = tagger.trained_.tagging.prepared(corpus)
    index = {label: k for k, label in enumerate(tagger.classes_)}
    gold = np.array([index[label] for sentence in corpus.y for label in sentence], np.int32)
    if cost.kind == "zero-one":
        values = [_best_wrong(encoded, decoder, i, gold) for i in range(len(corpus))]
    else:
        K, unit = len(tagger.classes_), cost.unit
        table = cost.in_units(K, padded(K))
        if tagger.update == "loss-augmented":
            values = [
                decoder.loss_augmented(encoded, i, gold, table, unit) for i in range(len(corpus))
            ]
        else:
            values = [
                decoder.max_loss(encoded, i, gold, table, unit)[0] for i in range(len(corpus))
            ]
    right = [
        decoder.score(encoded, i, gold[slice(*encoded.starts[i : i + 2])])
        for i in range(len(corpus))
    ]
    return np.maximum(np.array(values) - np.array(right), 0.0)


def _best_wrong(encoded: Encoded, decoder: Decoder, i: int, gold: NDArray[np.int32]) -> float:
    """score + 1 of the best wrong sequence: one of the two best of all."""
    own = gold[slice(*encoded.starts[i : i + 2])].tolist()
    wrong = [score for score, labels in decoder.nbest(encoded, i, 2) if labels != own]
    return wrong[0] + 1.0 if wrong else -np.inf
