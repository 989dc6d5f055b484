"""How probable labels, spans and whole label sequences are: forward-backward over scores.

P(y | x) = exp(scale · w·Φ(x, y)) / Z, where Z sums over all label sequences that the rules allow.
Training by margins fits scores to no probabilities, so the one number that is missing, the scale,
is fitted apart (`seqpa.sequence.scale`). With the scale 1 the order of probabilities still tells
which of two labels is the better one, and their size nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.marginals import Marginals
from seqpa.schemes import Boundaries, spans
from seqpa.sequence.chain import NO_LABELS, scratch, sequences
from seqpa.sequence.decoder import Decoder, no_legal_sequence
from seqpa.sequence.encode import Encoded
from seqpa.sequence.tagging import cut
from seqpa.sequence.weights import Int32, padded

Floats = NDArray[np.float64]
_RUN = 8192  # so many tokens are looked at together


class SpanProbability(NamedTuple):
    """A span that a tagger predicts, and how probable it is.

    Attributes
    ----------
    type : str
    start, end : int
        Its tokens; the end is not included.
    probability : float
        Of all label sequences together that have this very span.
    """

    type: str
    start: int
    end: int
    probability: float


class Probabilities:
    """The probabilities that a decoder's scores stand for, at one scale.

    Reads only: any number of threads may share it.

    Parameters
    ----------
    decoder : Decoder
    scale : float
        What scores are multiplied by.
    """

    def __init__(self, decoder: Decoder, scale: float) -> None:
        self.decoder = decoder
        self.scale = scale

    def _kernel(self, longest: int, fixed: Int32 | None = None) -> Marginals:
        K, n = self.decoder.n_labels, max(longest, 1)
        width = padded(K)
        em, weight, forward, backward = np.zeros((4, n, width))
        forward_log, backward_log, tops = np.zeros((3, n))
        steps, back_steps, log_steps = np.zeros((3, K, width))
        into, other, terms = np.zeros((3, width))
        return Marginals(
            chain=self.decoder.chain,
            work=scratch(K, 1)[0],
            scale=self.scale,
            fixed=NO_LABELS if fixed is None else fixed,
            em=em,
            weight=weight,
            forward=forward,
            backward=backward,
            forward_log=forward_log,
            backward_log=backward_log,
            steps=steps,
            back_steps=back_steps,
            log_steps=log_steps,
            tops=tops,
            into=into,
            other=other,
            terms=terms,
        )

    def tokens(self, encoded: Encoded, n_jobs: int = 1, fixed: Int32 | None = None) -> Floats:
        """(tokens, labels): how probable each label is at each token; in so many threads.

        `fixed` as in `Decoder.decode`: among the label sequences that have these labels.
        """
        out = np.empty((int(encoded.starts[-1]), self.decoder.n_labels))
        data, longest = sequences(encoded), _longest(encoded)

        def fill(run: slice) -> int:
            return self._kernel(longest, fixed).tokens(data, run.start, run.stop, out)

        runs = cut(encoded.starts, _RUN)
        if n_jobs == 1 or len(runs) == 1:
            bad = [fill(slice(0, len(encoded.starts) - 1))]
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(n_jobs) as pool:
                bad = list(pool.map(fill, runs))
        for sentence in bad:
            if sentence >= 0:
                raise no_legal_sequence(sentence, fixed is not None)
        return out

    def likelihood(self, encoded: Encoded, gold: Int32, every: int = 1) -> float:
        """The sum of log P(gold label) over the tokens of every so many sentences; −1 is no label.

        A label that the rules forbid at its place counts as one of a very small probability.
        """
        kernel = self._kernel(_longest(encoded))
        return kernel.likelihood(sequences(encoded), 0, len(encoded.starts) - 1, every, gold)

    def _sentences(self, encoded: Encoded) -> Iterator[tuple[int, Marginals]]:
        kernel, data = self._kernel(_longest(encoded)), sequences(encoded)
        for i in range(len(encoded.starts) - 1):
            if not kernel.begin_sentence(data, i):
                raise no_legal_sequence(i, False)
            yield i, kernel

    def sequences(self, encoded: Encoded, path: Int32) -> Floats:
        """(sentences,): log P(path) of each sentence, where the path has the labels of all."""
        data = sequences(encoded)
        return np.array(
            [
                kernel.sequence(data, i, path[slice(*encoded.starts[i : i + 2])])
                for i, kernel in self._sentences(encoded)
            ]
        )

    def entropies(self, encoded: Encoded) -> Floats:
        """(sentences,): −Σ P log P over all label sequences of each sentence."""
        data = sequences(encoded)
        return np.array([kernel.entropy(data, i) for i, kernel in self._sentences(encoded)])

    def spans(
        self, encoded: Encoded, labels: list[list[str]], limits: Boundaries
    ) -> list[list[SpanProbability]]:
        """The spans of each sentence's labels, each with its probability.

        limits : `seqpa.schemes.boundaries` of all labels, in the order of their numbers
        """
        data = sequences(encoded)
        found: list[list[SpanProbability]] = []
        for i, kernel in self._sentences(encoded):
            own = []
            for kind, start, end in spans(labels[i]):
                number = limits.types.index(kind)
                own.append(
                    SpanProbability(
                        kind, start, end, kernel.span(data, i, start, end, number, *limits[1:])
                    )
                )
            found.append(own)
        return found


def _longest(encoded: Encoded) -> int:
    return int(np.diff(encoded.starts).max(initial=0))
