"""Which sentences to label next: those that a tagger would learn most from.

Margins are differences of scores; the other strategies ask for probabilities, which are as good as
the tagger's scale of probabilities (`seqpa.sequence.scale`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError, did_you_mean
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.encode import Encoded
from seqpa.sequence.marginals import Probabilities

STRATEGIES = ("margin", "least-confident", "entropy", "n-best-entropy", "density", "random")
Floats = NDArray[np.float64]


def select(
    encoded: Encoded,
    probabilities: Probabilities,
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
        "random"           any
    n_best : int
        How many sequences of each sentence "n-best-entropy" looks at.
    rng : numpy.random.Generator
        For "random" alone.
    """
    check_strategy(strategy)
    some = np.flatnonzero(np.diff(encoded.starts) > 0)
    if strategy == "random":
        return rng.permutation(some)[:n].tolist()
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
) -> Floats:
    """(sentences,): what a label of each would teach, by a strategy of `select` but "random".

    The parameters are those of `select`. −∞ for sentences without tokens.
    """
    some = np.flatnonzero(np.diff(encoded.starts) > 0)
    found = np.full(len(encoded.starts) - 1, -np.inf)
    decoder = probabilities.decoder
    if strategy == "margin":
        found[some] = [-_margin(encoded, decoder, int(i)) for i in some]
    elif strategy == "least-confident":
        found[some] = -probabilities.sequences(encoded, decoder.decode(encoded))[some]
    elif strategy == "n-best-entropy":
        scale = probabilities.scale
        found[some] = [_entropy(encoded, decoder, int(i), n_best, scale) for i in some]
    else:
        found[some] = probabilities.entropies(encoded)[some]
        if plain is not None:
            found[some] *= density(plain)[some]
    return found


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
