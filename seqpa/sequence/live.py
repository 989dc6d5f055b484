"""Tagging with weights that are being trained, at the cost of the sentences alone.

Nothing is frozen as a whole. Of the training store only the rows of the sentences' own features are
read; with averaging, w − sum/T is computed for these. What then decodes is the same as for a model,
and so are the scores. A lock keeps learning and reading apart: a reader sees the weights before or
after an update, never between.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings
from seqpa.locks import ForkSafeLock
from seqpa.sequence.constraints import Penalties, penalties
from seqpa.sequence.decoder import Decoder
from seqpa.sequence.encode import Encoded
from seqpa.sequence.explain import Evidence
from seqpa.sequence.pieces import part
from seqpa.sequence.tagging import cut
from seqpa.sequence.training import TrainingState

_RUN = 2048  # so many tokens are tagged with one look at the weights


class LiveTagging:
    """Tags with the present weights of a training state.

    Parameters
    ----------
    state : TrainingState
    lock : ForkSafeLock
        Held by whoever learns.
    average : bool
        Whether to tag with the mean of all weight vectors so far.
    constraints : None, str or mapping
    """

    def __init__(
        self, state: TrainingState, lock: ForkSafeLock, average: bool, constraints: Any
    ) -> None:
        self.state = state
        self.average = average
        self.constraints = constraints
        self._lock = lock
        self._rules: tuple[list[str], Penalties] | None = None

    def predict(
        self, X: Any, fixed: NDArray[np.int32] | None = None, n_jobs: int = 1
    ) -> list[list[str]]:
        """The best labels of each sentence; `fixed` as `Decoder.decode` takes it."""
        encoded = self.encoded(X)
        found: list[list[str]] = []
        for run in cut(encoded.starts, _RUN):
            own = part(encoded, run)
            numbered, decoder, labels, _ = self._read(own)
            begin = encoded.starts[run.start]
            given = None if fixed is None else fixed[begin : begin + own.starts[-1]]
            path = decoder.decode(numbered, given, run.start)
            found += strings.spell(labels, path, own.starts)
        return found

    def prepared(self, X: Any) -> tuple[Encoded, Decoder]:
        """The sentences, and a decoder for them alone."""
        numbered, decoder, _, _ = self._read(self.encoded(X))
        return numbered, decoder

    def evidence(self, X: Any, i: int) -> Evidence:
        """What an explanation of sentence i needs."""
        encoded = part(self.encoded(X), slice(i, i + 1))
        numbered, decoder, labels, weights = self._read(encoded)
        with self._lock:
            encoder = self.state.source.encoder
            names = [encoder.feature_name(f) for f in encoded.features.tolist()]
            pairs = [] if encoded.pair_features is None else encoded.pair_features.tolist()
            pair_names = [encoder.pair_feature_name(f) for f in pairs]
        return Evidence(
            decoder=decoder,
            encoded=numbered,
            plain=numbered,
            weights=weights,
            labels=labels,
            feature_name=names.__getitem__,
            pair_feature_name=pair_names.__getitem__,
        )

    def encoded(self, X: Any) -> Encoded:
        """The sentences by the numbers of their features, as every look at them numbers them."""
        with self._lock:
            self.state.settle()
            return self.state.source.transform(X)

    def _read(self, encoded: Encoded) -> tuple[Encoded, Decoder, list[str], Any]:
        with self._lock:
            state = self.state
            state.settle()
            labels = state.labels
            numbered, weights = state.weights.freeze_for(encoded, self.average)
        rules = self._rules
        if rules is None or rules[0] is not labels:
            rules = self._rules = labels, penalties(self.constraints, labels)
        return numbered, Decoder(weights, rules[1]), labels, weights
