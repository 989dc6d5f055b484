"""The scale that makes probabilities of scores: fitted to labelled sentences.

One number s, with P(y | x) ∝ exp(s · score): that which makes the labels of sentences that the
weights were not trained on most probable, token by token. (Scores of the training sentences
themselves are too good.) Temperature scaling does the same for single decisions (Guo and
others 2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from seqpa.errors import SeqpaError
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.encode import Encoded, starts_of
from seqpa.sequence.folds import contiguous_folds
from seqpa.sequence.inputs import lengths_of, some_of
from seqpa.sequence.marginals import Probabilities
from seqpa.sequence.weights import Int32

CALIBRATION_FOLDS = 5
# So many tokens are looked at: the error of the scale is then some 3 %. Fewer where labels are
# many, since the time grows with their square.
_TOKENS = 10_000
_FEWEST = 1_000
_STEPS = 5_000_000  # tokens × labels²
# Scales are looked for between 2^-_FAR and 2^_FAR, to 2 %.
_FAR = 30
_NEAR = 0.03
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


class HeldOut(NamedTuple):
    """Sentences that the weights of a decoder were not trained on.

    Attributes
    ----------
    encoded : Encoded
    decoder : Decoder
    gold : (tokens,) array
        The numbers of their labels; −1 where one is not given, or not known to the decoder.
    """

    encoded: Encoded
    decoder: Decoder
    gold: Int32


def fit_scale(parts: Sequence[HeldOut]) -> float:
    """The scale at which the labels are most probable: Σ log P(label of a token) is largest.

    Where no label is wrong, that sum grows with the scale for ever. It is taken to be best at −1:
    as if, of one more token, the label had been wrong.

    Parameters
    ----------
    parts : sequence of HeldOut
        Some sentences of each are enough: those at even distances.

    Returns
    -------
    float
    """
    known = sum(int(np.count_nonzero(part.gold >= 0)) for part in parts)
    if not known:
        raise SeqpaError(
            "there is no label to calibrate with: give sentences with labels that the tagger knows"
        )
    n_labels = max(part.decoder.n_labels for part in parts)
    wanted = min(_TOKENS, max(_FEWEST, _STEPS // n_labels**2))
    every = max(1, known // wanted)

    def value(exponent: float) -> float:
        total = math.fsum(
            Probabilities(part.decoder, 2.0**exponent).likelihood(part.encoded, part.gold, every)
            for part in parts
        )
        return total if total <= -1.0 else -2.0 - total

    return float(f"{2.0 ** highest(value):.4g}")


def highest(value: Callable[[float], float]) -> float:
    """Where a function with one peak is highest, between −30 and 30.

    Examples
    --------
    >>> round(highest(lambda x: -((x - 3.3) ** 2)), 1)
    3.3
    """
    middle, best = 0.0, value(0.0)
    step = 1.0 if (other := value(1.0)) > best else -1.0
    if step < 0:
        other = value(-1.0)
    while other > best and abs(middle) < _FAR:
        middle, best = middle + step, other
        other = value(middle + step)
    low, high = middle - 1.0, middle + 1.0
    # Golden section: each look narrows the interval by the same share, and is used again.
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = value(left), value(right)
    while high - low > _NEAR:
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = value(right)
    return (low + high) / 2.0


def training_folds(
    X: Any, flat: Sequence[str | None], n_folds: int, weights: Sequence[float] | None
) -> Iterator[tuple[tuple[Any, list[Any], Any], tuple[Any, Sequence[str | None]]]]:
    """Cut sentences into parts that follow one another; each with all the others, to train on.

    Parameters
    ----------
    X : list of sentences, or a corpus
    flat : sequence of str or None
        The labels of all tokens.
    n_folds : int
    weights : sequence of float or None
        Of the sentences.

    Yields
    ------
    rest : (sentences, label lists, weights or None)
        To train on.
    fold : (sentences, labels of all their tokens)
    """
    if len(X) < 2:
        raise SeqpaError("there are not two sentences: one to train on, and one to calibrate with")
    starts = starts_of(lengths_of(X), len(flat)).tolist()
    y = [list(flat[a:b]) for a, b in pairwise(starts)]
    for fold in contiguous_folds(len(X), n_folds):
        a, b = fold.start, fold.stop
        rest = some_of(X, [*range(a), *range(b, len(X))])
        own = None if weights is None else [*weights[:a], *weights[b:]]
        yield (rest, [*y[:a], *y[b:]], own), (X[a:b], flat[starts[a] : starts[b]])
