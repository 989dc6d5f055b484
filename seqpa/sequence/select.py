"""Which sentences to label next: those that a tagger would learn most from.

Scores are not probabilities: the softmax over the n best sequences and margins rank sentences, and
say nothing of how often the tagger is right.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError, did_you_mean
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.encode import Encoded

STRATEGIES = ("margin", "least-confident", "entropy", "density", "random")
Floats = NDArray[np.float64]


def select(
    encoded: Encoded,
    decoder: Decoder,
    plain: Encoded | None,
    n: int,
    strategy: str,
    n_best: int,
    rng: np.random.Generator,
) -> list[int]:
    """The numbers of n sentences, that which is asked for first first; fewer if there are fewer.

    Sentences without tokens are never asked for. Of equals the earlier comes first.

    Parameters
    ----------
    encoded : Encoded
        As the decoder reads them.
    decoder : Decoder
    plain : Encoded or None
        The same sentences, equal features with equal numbers; for "density" alone.
    n : int
    strategy : one of `STRATEGIES`
        "margin"           the smallest difference of the two best sequences' scores, by √length:
                           a long sentence has more to differ in
        "least-confident"  the smallest share of the best sequence in a softmax over the n best
        "entropy"          the largest entropy of that softmax
        "density"          the latter, weighed by how like the others a sentence is: the mean
                           cosine between its features and theirs
        "random"           any
    n_best : int
        How many sequences of each sentence are looked at.
    rng : numpy.random.Generator
        For "random" alone.
    """
    if strategy not in STRATEGIES:
        hint = did_you_mean(strategy, STRATEGIES, listed=False)
        raise SeqpaError(f"strategy {strategy!r} is unknown: choose {', '.join(STRATEGIES)}{hint}")
    some = np.flatnonzero(np.diff(encoded.starts) > 0)
    if strategy == "random":
        return rng.permutation(some)[:n].tolist()
    if strategy == "margin":
        worth = np.array([-_margin(encoded, decoder, int(i)) for i in some])
    else:
        shares = [_shares(encoded, decoder, int(i), n_best) for i in some]
        if strategy == "least-confident":
            worth = np.array([-own[0] for own in shares])
        else:
            worth = np.array([_entropy(own) for own in shares])
        if plain is not None:
            worth = worth * density(plain)[some]
    return some[np.argsort(-worth, kind="stable")][:n].tolist()


def _margin(encoded: Encoded, decoder: Decoder, i: int) -> float:
    length = int(encoded.starts[i + 1] - encoded.starts[i])
    return float(decoder.margins(encoded, i).min() / np.sqrt(length))


def _shares(encoded: Encoded, decoder: Decoder, i: int, n_best: int) -> Floats:
    """exp(score), scaled to a sum of one, of the best sequences."""
    scores = np.array([score for score, _ in decoder.nbest(encoded, i, n_best)])
    weights = np.exp(scores - scores[0])
    return np.asarray(weights / weights.sum())


def _entropy(shares: Floats) -> float:
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
