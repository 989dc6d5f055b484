"""One sentence at a time of tokens that already are features, in buffers that stay.

Making the kernel's views of new buffers takes longer than tagging a short sentence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqpa._kernel import strings
from seqpa._kernel.chain import Chain
from seqpa._kernel.sequences import Scratch, Sequences
from seqpa.sequence.chain import NO_LABELS
from seqpa.sequence.decoder import no_legal_sequence
from seqpa.sequence.dicts import DictEncoder, Reading
from seqpa.sequence.weights import Int32

LONGEST = 512  # tokens of a sentence that is tagged so


class GivenSentence:
    """One thread's buffers to read a sentence of given features, and to decode it.

    Parameters
    ----------
    encoder : DictEncoder
    n_tokens : int
        There is room for so many.
    """

    def __init__(self, encoder: DictEncoder, n_tokens: int) -> None:
        self._encoder = encoder
        self._n_tokens = n_tokens
        self._reading = Reading(encoder, False, n_tokens)
        self._starts = np.zeros(2, np.int64)
        self._path = np.zeros(n_tokens, np.int32)
        # The kernel's views, without values and with them, and the arrays that they were made of.
        self._data: tuple[Int32, Any, list[Sequences]] | None = None

    def fits(self, encoder: Any, n_tokens: int) -> bool:
        """Whether these are buffers for such a sentence."""
        reading = self._reading
        return (
            encoder is self._encoder
            and reading.known is encoder.known
            and n_tokens <= self._n_tokens
        )

    def read(self, sentence: list[list[Any]]) -> Int32:
        """Read a list with one sentence; the numbers of its features."""
        n = len(sentence[0])
        self._reading.read(sentence, n)
        self._starts[1] = n
        return self._reading.features[: self._reading.ends[n]]

    def decode(
        self, chain: Chain, scratch: Scratch, labels: list[str], numbers: Int32 | None = None
    ) -> list[list[str]]:
        """The best labels of the sentence that was read last, in a list.

        numbers : what its features are called in the chain; None: as they were read
        """
        reading = self._reading
        own = reading.features if numbers is None else numbers
        made = self._data
        if made is None or made[0] is not own or made[1] is not reading.values:
            views = [self._view(own, with_values) for with_values in (False, True)]
            made = self._data = own, reading.values, views
        data = made[2][reading.has_values]
        data.hold(reading.ends[self._starts[1]])
        if chain.decode(data, 0, 1, NO_LABELS, scratch, self._path) >= 0:
            raise no_legal_sequence(0, False)
        return strings.spell(labels, self._path, self._starts)

    def _view(self, features: Int32, with_values: bool) -> Sequences:
        return Sequences(
            starts=self._starts,
            indptr=self._reading.ends,
            features=features,
            values=self._reading.values if with_values else None,
            pair_indptr=None,
            pair_features=None,
            pair_values=None,
        )
