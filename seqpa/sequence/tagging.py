"""Tagging with weights that no longer change: sentences in, lists of labels out.

The words of many sentences are numbered together, while the dictionaries are in the processor's
cache; then they are tagged in runs of some thousand tokens: what is made of one run is used while
it is still there. All happens in the same buffers, which each thread keeps.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings, template_features
from seqpa._kernel.runner import Runner
from seqpa._kernel.sequences import Sequences
from seqpa.errors import SeqpaError
from seqpa.locks import ForkSafeLock
from seqpa.sequence.chain import NO_LABELS, scratch
from seqpa.sequence.composed import composed
from seqpa.sequence.constraints import Penalties
from seqpa.sequence.decoder import Decoder, no_legal_sequence
from seqpa.sequence.elsewhere import around
from seqpa.sequence.encode import Encoded, FeatureEncoder, starts_of
from seqpa.sequence.explain import Evidence
from seqpa.sequence.given import LONGEST, GivenSentence
from seqpa.sequence.inputs import (
    FeatureSource,
    check_sentences,
    documents_of,
    flat_columns,
    lengths_of,
)
from seqpa.sequence.pieces import part
from seqpa.sequence.weights import FrozenWeights
from seqpa.sequence.word_tables import REMEMBERED

_NUMBERED = 65536  # so many words are numbered at a time;
_FEWEST = 2048  # by each of several threads no fewer than so many;
_RUN = 8192  # so many tokens are tagged at a time,
_SCORES = 2**22  # and fewer where they would have more scores of labels than this


class Tagging:
    """All that tagging needs: encoder, composed weights, decoder and labels.

    Made at the first use; any number of threads may share it.
    """

    def __init__(
        self, source: FeatureSource, weights: FrozenWeights, rules: Penalties, labels: list[str]
    ) -> None:
        self._source = source
        self._given = weights, rules
        self._labels = labels
        self._making = ForkSafeLock()
        self._made: tuple[template_features.Table | None, Decoder] | None = None
        self._own = threading.local()
        self._run = min(_RUN, max(64, _SCORES // weights.n_labels))

    def _ready(self) -> tuple[template_features.Table | None, Decoder]:
        if self._made is None:
            with self._making:
                if self._made is None:
                    walk = None
                    weights, rules = self._given
                    if isinstance(self._source.encoder, FeatureEncoder):
                        walk, weights = composed(self._source.encoder, weights)
                    self._made = walk, Decoder(weights, rules)
        return self._made

    @property
    def encoder(self) -> FeatureEncoder | None:
        """What makes features of the words of sentences, if nothing else has a part in it."""
        source = self._source
        alone = source.chain is None and source.first is None and source.function is None
        encoder = source.encoder
        return encoder if alone and isinstance(encoder, FeatureEncoder) else None

    @property
    def labels(self) -> list[str]:
        """The labels, by number."""
        return self._labels

    def buffers(self, longest: int, n_tokens: int) -> Buffers:
        """A thread's memory for sentences of at most `longest` tokens, so many tokens at a time."""
        walk, decoder = self._ready()
        encoder = self.encoder
        assert walk is not None
        assert encoder is not None
        return Buffers(encoder, walk, decoder, max(self._run, longest), n_tokens)

    def encoded(self, X: Any) -> Encoded:
        """The sentences by the numbers of all their features."""
        return self._source.transform(X)

    def prepared(self, X: Any) -> tuple[Encoded, Decoder]:
        """The sentences, and a decoder for them."""
        walk, decoder = self._ready()
        return self._source.transform(X, walk), decoder

    def evidence(self, X: Any, i: int) -> Evidence:
        """What an explanation of sentence i needs."""
        encoded, decoder = self.prepared(X)
        one = slice(i, i + 1)
        encoder = self._source.encoder
        return Evidence(
            decoder=decoder,
            encoded=part(encoded, one),
            plain=part(self._source.transform(X), one),
            weights=self._given[0],
            labels=self._labels,
            feature_name=encoder.feature_name,
            pair_feature_name=encoder.pair_feature_name,
        )

    def predict(
        self, X: Any, fixed: NDArray[np.int32] | None = None, n_jobs: int = 1
    ) -> list[list[str]]:
        """The best labels of each sentence; `fixed` as `Decoder.decode` takes it."""
        walk, decoder = self._ready()
        encoder = self._source.encoder
        if walk is None or not isinstance(encoder, FeatureEncoder):
            if (
                fixed is None
                and type(X) is list
                and (one := self._one_given(X, decoder)) is not None
            ):
                return one
            encoded = self._source.transform(X)
            return strings.spell(self._labels, decoder.decode(encoded, fixed), encoded.starts)
        if n_jobs > 1 and fixed is None and type(X) is list and self.encoder is not None:
            found = self._predict_lists(X, n_jobs)
            if found is not None:
                return found
        columns, lengths = self._source.cells(X, n_jobs)
        documents = documents_of(X)
        starts = starts_of(lengths, len(columns[0]))

        def labels(some: slice) -> list[list[str]]:
            seen = around(starts, some, encoder.reach)
            buffers = self._buffers(starts, seen)
            return buffers.tag(columns, starts, documents, some, fixed, self._labels)

        if n_jobs > 1 and len(parts := shares(starts, n_jobs)) > 1:
            return _on_threads(labels, parts, n_jobs)
        longest = int(np.diff(starts).max(initial=0))
        parts = cut(starts, max(self._run, longest, _NUMBERED))
        return [found for some in parts for found in labels(some)]

    def _predict_lists(self, X: list[Any], n_jobs: int) -> list[list[str]] | None:
        """`predict` for lists of words: each thread takes the words of its own sentences out of
        them. None where the sentences are few; and where something is wrong, since a part does not
        know its place: `predict` then tells it."""
        encoder = self.encoder
        assert encoder is not None
        check_sentences(X)
        lengths = lengths_of(X)
        starts = starts_of(lengths, int(lengths.sum()))
        parts = shares(starts, n_jobs)
        if len(parts) == 1:
            return None

        def labels(some: slice) -> list[list[str]]:
            seen = around(starts, some, encoder.reach)
            columns, _ = flat_columns(X[seen], encoder.columns)
            own = starts[seen.start : seen.stop + 1] - starts[seen.start]
            buffers = self._buffers(starts, seen)
            within = slice(some.start - seen.start, some.stop - seen.start)
            return buffers.tag(columns, own, None, within, None, self._labels)

        try:
            return _on_threads(labels, parts, n_jobs)
        except SeqpaError:
            return None

    def _buffers(self, starts: NDArray[np.int64], seen: slice) -> Buffers:
        """This thread's memory for some sentences."""
        lengths = np.diff(starts[seen.start : seen.stop + 1])
        numbered = int(lengths.sum())
        run = self._run
        if numbered > run:
            run = max(run, int(lengths.max()))  # no sentence is cut
        buffers: Buffers | None = getattr(self._own, "buffers", None)
        if buffers is None or buffers.run < run or buffers.numbered < numbered:
            walk, decoder = self._ready()
            assert walk is not None
            assert isinstance(self._source.encoder, FeatureEncoder)
            buffers = Buffers(self._source.encoder, walk, decoder, run, numbered)
            if run == self._run:
                self._own.buffers = buffers
        return buffers

    def _one_given(self, X: Any, decoder: Decoder) -> list[list[str]] | None:
        """The labels of one sentence of tokens that are features; None for any other, and for a
        long one, of which buffers should not stay."""
        found = self._source.given_of_one(X)
        if found is None or len(found[1][0]) > LONGEST:
            return None
        encoder, given = found
        n_tokens = len(given[0])
        # Taken away while it is in use: a token that is no plain dict may tag another sentence.
        one, memory = self._own.__dict__.pop("given", (None, None))
        if one is None or not one.fits(encoder, n_tokens):
            longest = min(2 * n_tokens + 16, LONGEST)
            one = GivenSentence(encoder, longest)
            memory, _ = scratch(decoder.n_labels, longest)
        one.read(given)
        labels = one.decode(decoder.chain, memory, self._labels)
        self._own.given = one, memory
        return labels


def shares(starts: NDArray[np.int64], n_jobs: int) -> list[slice]:
    """The sentences that begin at `starts` in parts that threads take one after another.

    Words that are not known are looked at once in each part: so parts are large, but ever smaller
    towards the end, where all threads should come to at about the same time.

    >>> [len(range(p.start, p.stop)) for p in shares(np.arange(0, 90_001, 10), 2)]
    [2250, 1687, 1265, 949, 712, 534, 400, 300, 225, 204, 204, 204, 66]
    """
    n, end = len(starts) - 1, int(starts[-1])
    parts = []
    first = 0
    while first < n:
        size = (end - int(starts[first])) // (2 * n_jobs)
        size = min(max(size, _FEWEST), _NUMBERED)
        last = int(np.searchsorted(starts, starts[first] + size, side="right")) - 1
        last = min(max(last, first + 1), n)
        parts.append(slice(first, last))
        first = last
    return parts or [slice(0, 0)]


def _on_threads(
    labels: Callable[[slice], list[list[str]]], parts: list[slice], n_jobs: int
) -> list[list[str]]:
    """The labels of all parts, in their order."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_jobs, "seqpa-tag") as pool:
        return [found for several in pool.map(labels, parts) for found in several]


def cut(starts: NDArray[np.int64], size: int) -> list[slice]:
    """The sentences that begin at `starts` in runs of at most so many tokens, or of one sentence.

    >>> cut(np.array([0, 2, 4, 4, 9, 10]), 4)
    [slice(0, 3, None), slice(3, 4, None), slice(4, 5, None)]
    """
    n = len(starts) - 1
    if starts[-1] - starts[0] <= size:
        return [slice(0, n)]
    runs = []
    first = 0
    while first < n:
        last = int(np.searchsorted(starts, starts[first] + size, side="right")) - 1
        last = min(max(last, first + 1), n)
        runs.append(slice(first, last))
        first = last
    return runs


class Buffers:
    """One thread's memory to tag sentences in runs of at most `run` tokens, of at most `numbered`
    that are numbered together."""

    def __init__(
        self,
        encoder: FeatureEncoder,
        walk: template_features.Table,
        decoder: Decoder,
        run: int,
        numbered: int,
    ) -> None:
        self.run = run
        self.numbered = max(run, _NUMBERED, numbered)
        self._encoder = encoder
        self.ids = encoder.buffer_for_words(self.numbered)
        self.words = encoder.words(self.ids)
        indptr, features, work = encoder.features.buffers_for(run)
        pairs = pair_indptr = pair_features = None
        if encoder.pairs is not None:
            pairs = encoder.pairs.kernel
            pair_indptr, pair_features, more = encoder.pairs.buffers_for(run)
            work = max(work, more, key=len)
        memory, _ = scratch(decoder.n_labels, run)
        no_starts = np.zeros(1, np.int64)
        self._labels = np.zeros(run, np.int32)
        self._runner = Runner(
            ids=self.ids,
            last=np.zeros(REMEMBERED, np.int32),
            words=self.words,
            table=walk,
            pair_table=pairs,
            work=work,
            indptr=indptr,
            features=features,
            pair_indptr=pair_indptr,
            pair_features=pair_features,
            data=Sequences(
                starts=no_starts,
                indptr=indptr,
                features=features,
                values=None,
                pair_indptr=pair_indptr,
                pair_features=pair_features,
                pair_values=None,
            ),
            chain=decoder.chain,
            scratch=memory,
            labels=self._labels,
        )

    def tag(
        self,
        columns: Sequence[list[str]],
        starts: NDArray[np.int64],
        documents: NDArray[np.int64] | None,
        some: slice,
        fixed: NDArray[np.int32] | None,
        labels: list[str],
    ) -> list[list[str]]:
        """The labels of the sentences `some`, numbered together with those that are looked at."""
        seen = around(starts, some, self._encoder.reach)
        self._encoder.number_run(
            self._runner, self.ids, self.words, columns, starts, documents, seen
        )
        begin = starts[seen.start]
        places = starts[some.start : some.stop + 1]
        places = places - begin if begin else places
        found: list[list[str]] = []
        for run in cut(places, self.run):
            own = places[run.start : run.stop + 1]
            given = NO_LABELS if fixed is None else fixed[begin + own[0] : begin + own[-1]]
            bad = self._runner.tag(own, own - own[0] if own[0] else own, given)
            if bad >= 0:
                raise no_legal_sequence(some.start + run.start + bad, fixed is not None)
            found += self._runner.spell(labels)
        return found

    def label_numbers(self, starts: NDArray[np.int64]) -> NDArray[np.int32] | None:
        """The labels of sentences whose words were numbered, from the first of `ids` on; None
        where one has no legal labels."""
        out = np.empty(starts[-1], np.int32)
        for run in cut(starts, self.run):
            own = starts[run.start : run.stop + 1]
            if self._runner.tag(own, own - own[0] if own[0] else own, NO_LABELS) >= 0:
                return None
            out[own[0] : own[-1]] = self._labels[: own[-1] - own[0]]
        return out
