"""Tagging with weights that are being trained, at the cost of the sentences alone.

Nothing is frozen as a whole. Of the training store only the rows of the sentences' own features are
read; with averaging, w − sum/T is computed for these. What then decodes is the same as for a model,
and so are the scores. A lock keeps learning and reading apart: a reader sees the weights before or
after an update, never between.
"""

from __future__ import annotations

import threading
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings
from seqpa._kernel.runner import Runner
from seqpa._kernel.sequences import Sequences
from seqpa._kernel.store import Store
from seqpa.locks import ForkSafeLock
from seqpa.sequence.chain import NO_LABELS, chain_over, scratch
from seqpa.sequence.constraints import Penalties, penalties
from seqpa.sequence.decoder import Decoder, no_legal_sequence
from seqpa.sequence.encode import Encoded, FeatureEncoder
from seqpa.sequence.explain import Evidence
from seqpa.sequence.given import LONGEST, GivenSentence
from seqpa.sequence.pieces import part
from seqpa.sequence.tagging import cut
from seqpa.sequence.training import TrainingState
from seqpa.sequence.weights import Int32, TrainingWeights, padded, tagging_store

_FIRST = slice(0, 1)
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
        self._own = threading.local()

    def predict(
        self, X: Any, fixed: NDArray[np.int32] | None = None, n_jobs: int = 1
    ) -> list[list[str]]:
        """The best labels of each sentence; `fixed` as `Decoder.decode` takes it."""
        if fixed is None and type(X) is list and len(X) == 1:
            one = self._one(X) or self._given(X)
            if one is not None:
                return one
        encoded = self.encoded(X)
        found: list[list[str]] = []
        for run in cut(encoded.starts, _RUN):
            own = part(encoded, run)
            given = NO_LABELS
            if fixed is not None:
                begin = encoded.starts[run.start]
                given = fixed[begin : begin + own.starts[-1]]
            n_tokens = int(own.starts[-1])
            desk, labels = self._with_weights(own.features, own.pair_features, n_tokens)
            bad, path = desk.decode(own, given)
            if bad >= 0:
                raise no_legal_sequence(run.start + bad, fixed is not None)
            found += strings.spell(labels, path, own.starts)
        return found

    def _one(self, X: list[Any]) -> list[list[str]] | None:
        """The labels of one sentence of words, in buffers that are there; None for any other."""
        columns = self.state.source.cells_of_one(X)
        if columns is None or len(columns[0]) > _RUN:
            return None
        n_tokens = len(columns[0])
        with self._lock:
            state = self.state
            state.settle()
            encoder, labels, weights = state.source.encoder, state.labels, state.weights
            rules = self._penalties(labels)
            one: _Sentence | None = getattr(self._own, "sentence", None)
            if one is None or not one.fits(encoder, weights, rules, n_tokens):
                one = _Sentence(cast("FeatureEncoder", encoder), weights, rules, 2 * n_tokens + 16)
                self._own.sentence = one
            one.copy(weights, columns, self.average)
        return one.decode(labels)

    def _given(self, X: Any) -> list[list[str]] | None:
        """The same for one sentence of tokens that are features."""
        with self._lock:
            found = self.state.source.given_of_one(X)
            if found is None or len(found[1][0]) > LONGEST:
                return None
            encoder, given = found
            n_tokens = len(given[0])
            # Taken away while it is in use: a token that is no plain dict may tag another sentence.
            one: GivenSentence | None = self._own.__dict__.pop("given", None)
            if one is None or not one.fits(encoder, n_tokens):
                one = GivenSentence(encoder, min(2 * n_tokens + 16, LONGEST))
            desk, labels = self._with_weights(one.read(given), None, n_tokens)
        tagged = one.decode(desk.chain, desk.scratch, labels, desk.numbers()[0])
        self._own.given = one
        return tagged

    def _with_weights(
        self, features: Int32, pairs: Int32 | None, n_tokens: int
    ) -> tuple[_Desk, list[str]]:
        """This thread's buffers with the present weights of sentences, and the labels."""
        with self._lock:
            state = self.state
            state.settle()
            labels, weights = state.labels, state.weights
            rules = self._penalties(labels)
            desk: _Desk | None = getattr(self._own, "desk", None)
            if desk is None or not desk.fits(weights, rules, n_tokens):
                desk = _Desk(weights, rules, 2 * n_tokens)
                if n_tokens <= _RUN:
                    self._own.desk = desk
            desk.copy(weights, features, pairs, self.average)
        return desk, labels

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
        return numbered, Decoder(weights, self._penalties(labels)), labels, weights

    def _penalties(self, labels: list[str]) -> Penalties:
        rules = self._rules
        if rules is None or rules[0] is not labels:
            rules = self._rules = labels, penalties(self.constraints, labels)
        return rules[1]


class _Desk:
    """One thread's buffers: copies of the weights of some sentences, and what decodes with them.

    Making these takes longer than decoding a sentence, so they stay from one to the next. Features
    are numbered by their occurrences, as `TrainingWeights.freeze_for` numbers them.
    """

    def __init__(self, weights: TrainingWeights, rules: Penalties, n_tokens: int) -> None:
        K, width = weights.n_labels, padded(weights.n_labels)
        self._rules = rules
        self._transitions = np.zeros((K, width), np.float32)
        self._single = _Rows(width)
        self._pairs = None if weights.n_pair_features is None else _Rows(K * width)
        self.chain = chain_over(self._stores(), self._transitions, rules)
        self.scratch, _ = scratch(K, n_tokens)
        self.path = np.zeros(n_tokens, np.int32)

    def fits(self, weights: TrainingWeights, rules: Penalties, n_tokens: int) -> bool:
        """Whether these buffers are large enough, and for the same labels and rules."""
        return (
            rules is self._rules
            and weights.n_labels == len(self._transitions)
            and n_tokens <= len(self.path)
        )

    def copy(
        self, weights: TrainingWeights, features: Int32, pairs: Int32 | None, average: bool
    ) -> bool:
        """Copy the weights of these features, which some sentences have; whether `numbers` are
        others now. The caller holds the lock."""
        K, T = weights.n_labels, weights.averaged_over(average)
        store, pair_store = weights.stores()
        moved = self._single.copy(store, features, T, K)
        if self._pairs is not None and pair_store is not None and pairs is not None:
            moved |= self._pairs.copy(pair_store, pairs, T, self._pairs.width)
        if moved:
            self.chain.replace_stores(*self._stores())
        self.chain.read_transitions(
            weights.transitions, weights.transition_sums, T, self._rules.pairs
        )
        return moved

    def numbers(self) -> tuple[Int32, Int32 | None]:
        """What the features that were copied are called here, and those of pairs."""
        return self._single.numbers, None if self._pairs is None else self._pairs.numbers

    def decode(self, encoded: Encoded, given: Int32) -> tuple[int, Int32]:
        """The first sentence without a legal label sequence, or −1; the labels of all tokens."""
        features, pair_features = self.numbers()
        data = Sequences(
            starts=encoded.starts,
            indptr=encoded.indptr,
            features=features[: len(encoded.features)],
            values=encoded.values,
            pair_indptr=encoded.pair_indptr,
            pair_features=pair_features,
            pair_values=encoded.pair_values,
        )
        n = len(encoded.starts) - 1
        bad = self.chain.decode(data, 0, n, given, self.scratch, self.path)
        return bad, self.path

    def _stores(self) -> tuple[Store, Store | None]:
        return self._single.store, None if self._pairs is None else self._pairs.store


class _Sentence:
    """One thread's buffers to tag one sentence at a time, of at most `n_tokens` tokens.

    The kernel's views of all of them are made once: for a short sentence they would take longer
    than tagging it.
    """

    def __init__(
        self, encoder: FeatureEncoder, weights: TrainingWeights, rules: Penalties, n_tokens: int
    ) -> None:
        self._encoder = encoder
        self._desk = _Desk(weights, rules, n_tokens)
        self._starts = np.zeros(2, np.int64)
        self._ids = encoder.buffer_for_words(n_tokens)
        self._indptr, self._features, work = encoder.features.buffers_for(n_tokens)
        self._pair_indptr = self._pair_features = None
        if encoder.pairs is not None:
            self._pair_indptr, self._pair_features, more = encoder.pairs.buffers_for(n_tokens)
            work = max(work, more, key=len)
        self._runner = Runner(
            ids=self._ids,
            last=np.zeros(1, np.int32),
            words=encoder.words(self._ids),
            table=encoder.features.kernel,
            pair_table=None if encoder.pairs is None else encoder.pairs.kernel,
            work=work,
            indptr=self._indptr,
            features=self._features,
            pair_indptr=self._pair_indptr,
            pair_features=self._pair_features,
            data=self._data(),
            chain=self._desk.chain,
            scratch=self._desk.scratch,
            labels=self._desk.path,
        )

    def _data(self) -> Sequences:
        """The sentence, by the numbers that its features have after `_Desk.copy`."""
        features, pair_features = self._desk.numbers()
        return Sequences(
            starts=self._starts,
            indptr=self._indptr,
            features=features,
            values=None,
            pair_indptr=self._pair_indptr,
            pair_features=pair_features,
            pair_values=None,
        )

    def fits(self, encoder: Any, weights: TrainingWeights, rules: Penalties, n_tokens: int) -> bool:
        """Whether these buffers are made for such a sentence."""
        return encoder is self._encoder and self._desk.fits(weights, rules, n_tokens)

    def copy(self, weights: TrainingWeights, columns: list[list[str]], average: bool) -> None:
        """Encode a sentence and copy the weights that it needs. The caller holds the lock."""
        encoder, runner = self._encoder, self._runner
        words = encoder.words(self._ids)
        pairs = encoder.pairs
        runner.look_at(words, encoder.features.kernel, None if pairs is None else pairs.kernel)
        n = self._starts[1] = len(columns[0])
        encoder.number_run(runner, self._ids, words, columns, self._starts, None, _FIRST)
        features = self._features[: runner.encode(self._starts)]
        pair_features = self._pair_features
        if pair_features is not None and self._pair_indptr is not None:
            pair_features = pair_features[: self._pair_indptr[n]]
        if self._desk.copy(weights, features, pair_features, average):
            runner.read(self._data())

    def decode(self, labels: list[str]) -> list[list[str]]:
        """The labels of the sentence that was copied last, in a list."""
        if self._runner.decode(self._starts, NO_LABELS) >= 0:
            raise no_legal_sequence(0, False)
        return self._runner.spell(labels)


class _Rows:
    """A growing store for copies of rows: `numbers` counts them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._grow(0, 0)

    def _grow(self, n_rows: int, size: int) -> None:
        # Twice of what is needed now: the next sentence may be longer.
        self._size = 2 * size
        self.numbers = np.arange(2 * n_rows, dtype=np.int32)
        rows, arena = np.zeros((2 * n_rows, 2), np.int32), np.zeros(2 * size, np.float32)
        self.store = tagging_store(rows, arena, self.width)

    def copy(self, store: Store, features: Int32, T: float, n_labels: int) -> bool:
        """Copy the rows of these features; whether `store` is another one now."""
        size = store.size_of_rows(features)
        grown = size > self._size or len(features) > len(self.numbers)
        if grown:
            self._grow(len(features), size)
        store.freeze_rows(features, T, n_labels, self.store)
        return grown
