"""Which sentences to label next: those that a tagger would learn most from.

Margins are differences of scores; the other strategies ask for probabilities, which are as good as
the tagger's scale of probabilities (`seqpa.sequence.scale`).
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError, did_you_mean
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.encode import Encoded
from seqpa.sequence.marginals import Probabilities

STRATEGIES = (
    "margin",
    "least-confident",
    "entropy",
    "n-best-entropy",
    "density",
    "doubt",
    "coverage",
    "random",
)
# To look at a sentence at all costs as much as so many of its tokens: without it, sentences of one
# or two new words would come before all others.
PER_SENTENCE = 2.0
Floats = NDArray[np.float64]


def select(
    encoded: Encoded,
    probabilities: Probabilities,
    plain: Encoded | None,
    n: int,
    strategy: str,
    n_best: int,
    rng: np.random.Generator,
    words: Words | None = None,
) -> list[int]:
    """The numbers of n sentences, that which is asked for first first; fewer if there are fewer.

    Sentences without tokens are never asked for. Of equals the earlier comes first.

    Parameters
    ----------
    encoded : Encoded
        As the decoder reads them.
    probabilities : Probabilities
        Of the decoder.
    plain : Encoded or None
        The same sentences, equal features with equal numbers; for "density" alone.
    n : int
    strategy : one of `STRATEGIES`
        "margin"           the smallest difference of the two best sequences' scores, by √length:
                           a long sentence has more to differ in
        "least-confident"  the smallest probability of the best sequence
        "entropy"          the largest entropy of the probabilities of all sequences
        "n-best-entropy"   the largest entropy of those of the n best, scaled to a sum of one
        "density"          the entropy, weighed by how like the others a sentence is: the mean
                           cosine between its features and theirs
        "doubt"            the largest sum over tokens of 1 − P(most probable label), by the
                           number of tokens and two: the mistakes to be found for the work of a
                           sentence
        "coverage"         the same, each token multiplied by the root of how often its word is
                           there for each time that it is labelled (`Words`); what is chosen counts
                           as labelled for those that come after it
        "random"           any
    n_best : int
        How many sequences of each sentence "n-best-entropy" looks at.
    rng : numpy.random.Generator
        For "random" alone.
    words : Words or None
        For "coverage" alone: the words of the sentences.
    """
    check_strategy(strategy)
    some = np.flatnonzero(np.diff(encoded.starts) > 0)
    if strategy == "random":
        return rng.permutation(some)[:n].tolist()
    if strategy == "coverage":
        assert words is not None
        return _covering(encoded.starts, doubts(encoded, probabilities), words, n)
    worth = worths(encoded, probabilities, plain, strategy, n_best)[some]
    return some[np.argsort(-worth, kind="stable")][:n].tolist()


def check_strategy(strategy: str) -> None:
    """Raise a SeqpaError where there is no such strategy."""
    if strategy not in STRATEGIES:
        hint = did_you_mean(strategy, STRATEGIES, listed=False)
        raise SeqpaError(f"strategy {strategy!r} is unknown: choose {', '.join(STRATEGIES)}{hint}")


def worths(
    encoded: Encoded,
    probabilities: Probabilities,
    plain: Encoded | None,
    strategy: str,
    n_best: int,
    weights: Floats | None = None,
) -> Floats:
    """(sentences,): what a label of each would teach, by a strategy of `select` but "random".

    The parameters are those of `select`, and for "coverage" what each token is multiplied by.
    −∞ for sentences without tokens.
    """
    some = np.flatnonzero(np.diff(encoded.starts) > 0)
    found = np.full(len(encoded.starts) - 1, -np.inf)
    decoder = probabilities.decoder
    if strategy == "margin":
        found[some] = [-_margin(encoded, decoder, int(i)) for i in some]
    elif strategy == "least-confident":
        found[some] = -probabilities.sequences(encoded, decoder.decode(encoded))[some]
    elif strategy in ("doubt", "coverage"):
        values = doubts(encoded, probabilities)
        if strategy == "coverage" and weights is not None:
            values = values * weights
        found = _by_length(values, encoded.starts)
    elif strategy == "n-best-entropy":
        scale = probabilities.scale
        found[some] = [_entropy(encoded, decoder, int(i), n_best, scale) for i in some]
    else:
        found[some] = probabilities.entropies(encoded)[some]
        if plain is not None:
            found[some] *= density(plain)[some]
    return found


def doubts(encoded: Encoded, probabilities: Probabilities) -> Floats:
    """(tokens,): how probable it is that the most probable label of a token is wrong."""
    if not len(encoded.indptr) > 1:
        return np.zeros(0)
    return 1.0 - probabilities.tokens(encoded).max(axis=1)


def _by_length(values: Floats, starts: NDArray[np.int64]) -> Floats:
    """The sum of each sentence, by what it costs to label it; −∞ without tokens."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    lengths = np.diff(starts)
    found = np.diff(sums[starts]) / (lengths + PER_SENTENCE)
    return np.where(lengths > 0, found, -np.inf)


class Words:
    """The words of a pool: how often each is there, and how often it is labelled.

    The score of a tagger is a sum over tokens, and what is learned of a word serves wherever it
    stands. So a doubtful token of a frequent word is worth more than one of a rare word, and less
    with every time that the word was labelled; by the roots of both, since what a word means is not
    all that a token teaches.

    Parameters
    ----------
    sentences : iterable of sentences
        All that could be labelled, or was.
    labelled : iterable of sentences
        Those of them, or others, that are labelled already.

    Examples
    --------
    >>> words = Words([["so", "it"], ["So", "new"], []])
    >>> words.weights(0).round(2).tolist()
    [1.41, 1.0]
    >>> words.label(1)
    >>> words.weights(0).round(2).tolist()
    [1.0, 1.0]
    """

    def __init__(
        self, sentences: Iterable[Sequence[Any]], labelled: Iterable[Sequence[Any]] = ()
    ) -> None:
        numbers: dict[Hashable, int] = {}
        self._ids = [
            np.array([numbers.setdefault(kind(token), len(numbers)) for token in tokens], np.int64)
            for tokens in sentences
        ]
        flat = np.concatenate([np.zeros(0, np.int64), *self._ids])
        self._there = np.bincount(flat, minlength=len(numbers)).astype(np.float64)
        self._labelled = np.zeros(len(numbers))
        for name, count in Counter(kind(token) for tokens in labelled for token in tokens).items():
            if name in numbers:
                self._labelled[numbers[name]] += count

    def label(self, i: int, times: int = 1) -> None:
        """Sentence i is labelled; with −1, it is no longer."""
        np.add.at(self._labelled, self._ids[i], times)

    def weights(self, i: int) -> Floats:
        """(tokens,): √(there / (1 + labelled)) of the words of sentence i."""
        own = self._ids[i]
        return np.asarray(np.sqrt(self._there[own] / (1.0 + self._labelled[own])))


def kind(token: Any) -> Hashable:
    """What tokens have in common that teach the same: the word, whatever its case.

    >>> kind("Rome"), kind(("Rome", "NNP")), kind({"w": "Rome", "cap": True})
    ('rome', 'rome', (('cap', True), ('w', 'Rome')))
    """
    if isinstance(token, str):
        return token.lower()
    if isinstance(token, tuple):
        return kind(token[0]) if token else ""
    if isinstance(token, dict):
        return tuple(sorted(token.items(), key=lambda item: str(item[0])))
    return tuple(token)


def _covering(starts: NDArray[np.int64], values: Floats, words: Words, n: int) -> list[int]:
    """One after another, each with what those before it left.

    What is labelled only takes from the worth of others, so a worth that was right before is never
    too small: whoever is still the best when looked at again is the best of all.
    """

    def worth(i: int) -> float:
        own = values[starts[i] : starts[i + 1]]
        return float(own @ words.weights(i)) / (len(own) + PER_SENTENCE)

    waiting = [(-worth(i), i) for i in range(len(starts) - 1) if starts[i + 1] > starts[i]]
    heapq.heapify(waiting)
    chosen: list[int] = []
    while waiting and len(chosen) < n:
        _, i = heapq.heappop(waiting)
        now = (-worth(i), i)
        if waiting and waiting[0] < now:
            heapq.heappush(waiting, now)
            continue
        chosen.append(i)
        words.label(i)
    return chosen


def _margin(encoded: Encoded, decoder: Decoder, i: int) -> float:
    length = int(encoded.starts[i + 1] - encoded.starts[i])
    return float(decoder.margins(encoded, i).min() / np.sqrt(length))


def _entropy(encoded: Encoded, decoder: Decoder, i: int, n_best: int, scale: float) -> float:
    """Of exp(scale · score), scaled to a sum of one, of the best sequences."""
    scores = np.array([score for score, _ in decoder.nbest(encoded, i, n_best)])
    weights = np.exp(scale * (scores - scores[0]))
    shares = weights / weights.sum()
    positive = shares[shares > 0]
    return float(-(positive * np.log(positive)).sum())


def density(encoded: Encoded) -> Floats:
    """How like all others each sentence is: the mean cosine between counts of features.

    The cosines with all others add up to the product with the sum of all, less that with itself:
    no two sentences are ever compared.

    >>> same = Encoded(np.array([0, 1, 2, 4]), np.arange(5), np.array([3, 3, 7, 9], np.int32))
    >>> density(same).round(2).tolist()
    [0.5, 0.5, 0.0]
    """
    from scipy.sparse import csr_matrix

    ends = encoded.indptr[encoded.starts]
    n = len(ends) - 1
    values = np.ones(len(encoded.features)) if encoded.values is None else encoded.values
    shape = (n, int(encoded.features.max(initial=-1)) + 1)
    counts = csr_matrix((values.astype(np.float64), encoded.features, ends), shape)
    counts.sum_duplicates()
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    lengths[lengths == 0] = 1.0
    rows = counts.multiply(1.0 / lengths[:, None]).tocsr()
    total = np.asarray(rows.sum(axis=0)).ravel()
    own = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()  # 1, or 0 without features
    return np.asarray((rows @ total - own) / max(n - 1, 1))
