"""Training text that does not fit into memory: on disk as numbers, learned block by block.

The text is read once. Its words and labels are numbered as they come, and only the numbers are
kept, in files (`TextOnDisk`). From them its features are found piece by piece, with the numbers
that they would get in memory, and written to files as well (`encoded_on_disk`). An epoch visits
these in blocks (`BlocksOnDisk`): the blocks in a random order, the sentences of each in a random
order. A text of one block is learned as in memory, bit for bit.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import strings
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError
from seqpa.pages import fresh, move
from seqpa.sequence.arguments import sentence_weights
from seqpa.sequence.budget import Budget
from seqpa.sequence.encode import Encoded, FeatureEncoder
from seqpa.sequence.folds import contiguous_folds
from seqpa.sequence.inputs import FeatureSource, flat_columns, given_labels
from seqpa.sequence.learner import NO_WEIGHTS, ChainLearner, Epoch, Progress
from seqpa.sequence.replay import Reservoir
from seqpa.sequence.seen import SeenText
from seqpa.sequence.spill import ArrayFile
from seqpa.sequence.tag_dictionary import BLOCKS as FOLDS
from seqpa.sequence.tag_dictionary import Apart, Counts
from seqpa.sequence.training import TrainingData, TrainingState, with_new
from seqpa.sequence.word_tables import REMEMBERED

BLOCK_TOKENS = 1 << 17  # of a block, some five thousand sentences: the order depends on it
_PIECE_TOKENS = 1 << 16  # encoded at a time: nothing depends on it


class Stream(Protocol):
    """Training text that is read piece by piece."""

    def chunks(self) -> Iterator[Corpus]:
        """The text from its beginning, with labels."""


@contextmanager
def numbered_from(sentences: int) -> Iterator[None]:
    """Within it, errors that count sentences begin behind so many others."""
    try:
        yield
    except SeqpaError as error:
        found = re.match(r"sentence (\d+)(.*)", str(error), re.DOTALL)
        if found is None:
            raise
        raise SeqpaError(f"sentence {int(found[1]) + sentences}{found[2]}") from None


class TextOnDisk:
    """A text as the numbers of its words and labels.

    Parameters
    ----------
    columns : sequence of str
        The columns to keep.
    folder : str, Path or None
        Where the files lie; None for the system's folder of temporary files.
    budget : Budget
        How much memory there is.

    Attributes
    ----------
    words : list of dicts
        The number of each word of each column, in the order of their first occurrence.
    labels : {label: number}
        None has the number −1.
    seen : SeenText
    bytes_a_word : int
        What will be made of each distinct word when all are there.

    Examples
    --------
    >>> text = TextOnDisk(["word"], None, Budget(10**12))
    >>> text.add(Corpus.from_sentences([["so", "it"], ["so"]], [["A", "P"], ["A"]]), None, [])
    >>> text.n_sentences, text.words, text.cells[0].view(0, 3).tolist()
    (2, [{'so': 0, 'it': 1}], [0, 1, 0])
    """

    def __init__(self, columns: Sequence[str], folder: str | Path | None, budget: Budget) -> None:
        self.columns = tuple(columns)
        self.folder = folder
        self.budget = budget
        self.words: list[dict[str, int]] = [{} for _ in self.columns]
        self.labels: dict[str | None, int] = {None: -1}
        self.seen = SeenText()
        self.bytes_a_word = 0
        self.lengths = ArrayFile(np.int32, folder)
        self.gold = ArrayFile(np.int32, folder)
        self.cells = [ArrayFile(np.int32, folder) for _ in self.columns]
        self.weights: ArrayFile | None = None

    @property
    def n_sentences(self) -> int:
        """How many sentences there are."""
        return len(self.lengths)

    @property
    def n_tokens(self) -> int:
        """How many tokens there are."""
        return len(self.gold)

    def add(self, X: Any, y: Any, weights: Sequence[float] | NDArray[np.float64]) -> None:
        """Take in more sentences.

        Parameters
        ----------
        X : list of sentences, or a corpus
        y : list of label lists, or None for those of the corpus
        weights : sequence of float
            Those of the sentences, or nothing.
        """
        with numbered_from(self.n_sentences):
            flat = given_labels(X, y)
            cells, lengths = flat_columns(X, self.columns)
            ids = [self._numbered(own, words) for own, words in zip(cells, self.words, strict=True)]
        labels = self.labels
        for label in dict.fromkeys(flat):
            labels.setdefault(label, len(labels) - 1)
        self._weigh(weights, len(lengths))
        self.seen.add(cells[0], lengths.tolist())
        self.gold.append(np.fromiter(map(labels.__getitem__, flat), np.int32, len(flat)))
        for file, own in zip(self.cells, ids, strict=True):
            file.append(own)
        self.lengths.append(lengths)
        n_words = sum(map(len, self.words))
        advice = " at the least: its features and weights come on top"
        self.budget.check(self.bytes_a_word * n_words, "the words of the text", advice)

    @staticmethod
    def _numbered(cells: list[str], known: dict[str, int]) -> NDArray[np.int32]:
        ids, fresh = np.zeros(len(cells), np.int32), dict[str, int]()
        last = np.zeros(REMEMBERED, np.int32)
        wrong = strings.number(cells, 0, len(cells), known, fresh, last, ids)
        if wrong >= 0:
            raise SeqpaError(f"expected a string, not {cells[wrong]!r}")
        known.update(fresh)
        return ids

    def _weigh(self, weights: Sequence[float] | NDArray[np.float64], n: int) -> None:
        if len(weights) and self.weights is None:
            self.weights = ArrayFile(np.float64, self.folder)
            self.weights.append(np.ones(self.n_sentences))
        if self.weights is not None:
            self.weights.append(np.asarray(weights) if len(weights) else np.ones(n))

    def pieces(self, run: range, most: int) -> Iterator[tuple[slice, slice]]:
        """Sentences `run` in pieces of about so many tokens.

        Parameters
        ----------
        run : range
            Sentences.
        most : int
            A piece ends with the sentence that reaches this number.

        Yields
        ------
        sentences, tokens : slice
        """
        token = int(sum(own.sum() for own in self._lengths(0, run.start)))
        begin, first, n = run.start, token, 0
        for lengths, at in self._numbered_lengths(run):
            for i, length in enumerate(lengths.tolist(), at):
                n += length
                if n >= most:
                    yield slice(begin, i + 1), slice(first, first + n)
                    begin, first, n = i + 1, first + n, 0
        if begin < run.stop:
            yield slice(begin, run.stop), slice(first, first + n)

    def _lengths(self, begin: int, end: int) -> Iterator[NDArray[np.int32]]:
        for a in range(begin, end, 1 << 18):
            yield self.lengths.view(a, min(a + (1 << 18), end))

    def _numbered_lengths(self, run: range) -> Iterator[tuple[NDArray[np.int32], int]]:
        at = run.start
        for own in self._lengths(run.start, run.stop):
            yield own, at
            at += len(own)

    def close(self) -> None:
        """Remove the files."""
        for file in (self.lengths, self.gold, *self.cells):
            file.close()
        if self.weights is not None:
            self.weights.close()


def text_on_disk(
    X: Any,
    y: Any,
    sample_weight: Any,
    columns: Sequence[str],
    algorithm: str,
    folder: str | Path | None,
    budget: Budget,
    bytes_a_word: int = 0,
) -> TextOnDisk:
    """Read a text piece by piece.

    Parameters
    ----------
    X : Stream, list of sentences, or a corpus
    y, sample_weight
        As for `SequenceTagger.fit`.
    columns : sequence of str
        The columns that are looked at.
    algorithm : str
        Weights of sentences need one that has a use for them.
    folder, budget, bytes_a_word
        As for `TextOnDisk`.

    Returns
    -------
    TextOnDisk
    """
    text = TextOnDisk(columns, folder, budget)
    text.bytes_a_word = bytes_a_word
    if hasattr(X, "chunks"):
        if y is not None or sample_weight is not None:
            raise SeqpaError("a stream brings its own labels and weights: leave out y and weights")
        for chunk in X.chunks():
            with numbered_from(text.n_sentences):
                weights = sentence_weights(None, chunk, algorithm)
            text.add(chunk, None, weights)
        return text
    given_labels(X, y)  # checked as a whole, where messages can number the sentences
    weights = sentence_weights(sample_weight, X, algorithm)
    for begin in range(0, len(X), 4096):
        run = slice(begin, begin + 4096)
        text.add(X[run], None if y is None else y[run], weights[run])
    return text


class _Tags:
    """How often words had labels in each tenth of a text, for the columns with a tag dictionary."""

    def __init__(self, text: TextOnDisk, encoder: FeatureEncoder, labels: list[str]) -> None:
        self._text = text
        self._columns = encoder.word_columns
        self._labels = labels
        number = {label: k for k, label in enumerate(labels)}
        self._new = np.array(
            [number[label] for label in text.labels if label is not None], np.int64
        )
        self._lower: dict[int, tuple[NDArray[np.int64], list[str]]] = {}
        for c, (column, words) in enumerate(zip(self._columns, text.words, strict=True)):
            if column.dictionary is not None:
                lower: dict[str, int] = {}
                ids = [lower.setdefault(word.lower(), len(lower)) for word in words]
                self._lower[c] = np.array(ids, np.int64), list(lower)

    def learn(self) -> None:
        """Let the dictionaries learn the whole text."""
        for fold in self.folds():
            for c, counts in self._counted(fold).items():
                dictionary = self._columns[c].dictionary
                assert dictionary is not None
                dictionary.add_counts(counts)

    def folds(self) -> list[range]:
        """The sentences of each tenth."""
        return contiguous_folds(self._text.n_sentences, FOLDS)

    def apart(self, fold: range) -> list[Apart | None]:
        """What training sees of the tokens of a tenth."""
        counted = self._counted(fold) if self._lower else {}
        return [
            None if column.dictionary is None else column.dictionary.apart(counted[c])
            for c, column in enumerate(self._columns)
        ]

    def _counted(self, fold: range) -> dict[int, dict[str, Counts]]:
        found: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {
            c: (np.zeros(0, np.int64), np.zeros(0, np.int64)) for c in self._lower
        }
        for _, tokens in self._text.pieces(fold, _PIECE_TOKENS):
            gold = self._text.gold.view(tokens.start, tokens.stop)
            given = gold >= 0
            for c, (lower, _) in self._lower.items():
                ids = self._text.cells[c].view(tokens.start, tokens.stop)
                pairs = lower[ids[given]] * len(self._labels) + self._new[gold[given]]
                keys, counts = np.unique(pairs, return_counts=True)
                old_keys, old = found[c]
                keys, where = np.unique(np.concatenate([old_keys, keys]), return_inverse=True)
                sums = np.bincount(where, np.concatenate([old, counts]), len(keys))
                found[c] = keys, sums.astype(np.int64)
        return {c: self._spelled(self._lower[c][1], *own) for c, own in found.items()}

    def _spelled(
        self, words: list[str], keys: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> dict[str, Counts]:
        made: dict[str, Counts] = {}
        which, labels = np.divmod(keys, len(self._labels))
        for word, label, n in zip(which.tolist(), labels.tolist(), counts.tolist(), strict=True):
            made.setdefault(words[word], {})[self._labels[label]] = n
        return made


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a block begins: its sentence, token, feature, and feature of label pairs."""

    sentence: int
    token: int
    feature: int
    pair_feature: int


class BlocksOnDisk:
    """Encoded sentences on disk, in blocks.

    Parameters
    ----------
    text : TextOnDisk
        Whose sentences they are.
    labels : list of str
        In the order of their numbers.
    pairs : bool
        Whether there are features of label pairs.
    block_tokens : int
        A block ends with the sentence that reaches this number.
    """

    def __init__(
        self, text: TextOnDisk, labels: list[str], pairs: bool, block_tokens: int = BLOCK_TOKENS
    ) -> None:
        self._text = text
        number = {label: k for k, label in enumerate(labels)}
        self._new = np.array([number[own] for own in text.labels if own is not None], np.int32)
        self._tables = [_Features(text.folder) for _ in range(1 + pairs)]
        self._block_tokens = block_tokens
        self._places: list[_Place] = []
        self._epochs, self._scored, self._aside = 1, False, 0
        self.counts: list[NDArray[np.uint32]] = [np.zeros(0, np.uint32) for _ in self._tables]

    def add(self, encoded: Encoded, count: bool) -> None:
        """Write more sentences behind the others.

        Parameters
        ----------
        encoded : Encoded
        count : bool
            Whether to count how often each feature occurs.
        """
        pieces = [(encoded.indptr, encoded.features), (encoded.pair_indptr, encoded.pair_features)]
        for t, (table, (indptr, features)) in enumerate(zip(self._tables, pieces, strict=False)):
            assert indptr is not None
            assert features is not None
            table.add(indptr, features)
            if count:
                n = int(features.max(initial=-1)) + 1
                if n > len(self.counts[t]):
                    self._text.budget.check(4 * (n - len(self.counts[t])), "the features")
                    larger = fresh(2 * n, np.uint32)  # pages of features to come cost nothing
                    move(self.counts[t], larger)
                    self.counts[t] = larger
                np.add.at(self.counts[t], features, 1)

    def renumber(self, new_ids: Sequence[NDArray[np.int32]]) -> None:
        """Give features other numbers, or none (−1).

        Parameters
        ----------
        new_ids : sequence of int32 (features,)
            For the features of each table.
        """
        for t, own in enumerate(new_ids):
            table = _Features(self._text.folder)
            for _, tokens in self._text.pieces(range(self._text.n_sentences), _PIECE_TOKENS):
                indptr, features = self._tables[t].view(tokens.start, tokens.stop)
                found = own[features]
                there = found >= 0
                table.add(np.concatenate([[0], np.cumsum(there)])[indptr], found[there])
            self._tables[t].close()
            self._tables[t] = table

    def lay_out(self) -> None:
        """Cut the sentences into blocks, when all are there."""
        text = self._text
        runs = list(text.pieces(range(text.n_sentences), self._block_tokens))
        ends = [(0, 0), *((own.stop, tokens.stop) for own, tokens in runs)]
        self._places = [
            _Place(s, t, *(table.end_of(t) for table in self._tables), *([0] * self._missing))
            for s, t in ends
        ]

    @property
    def _missing(self) -> int:
        return 2 - len(self._tables)

    def __len__(self) -> int:
        return max(len(self._places) - 1, 0)

    def block(self, i: int) -> TrainingData:
        """The sentences of a block, mapped into memory.

        Parameters
        ----------
        i : int

        Returns
        -------
        TrainingData
        """
        a, b = self._places[i : i + 2]
        text = self._text
        lengths = text.lengths.view(a.sentence, b.sentence)
        starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        found = [table.view(a.token, b.token) for table in self._tables]
        encoded = Encoded(starts, *found[0])
        if len(found) > 1:
            encoded.pair_indptr, encoded.pair_features = found[1]
        gold = np.append(self._new, np.int32(-1))[text.gold.view(a.token, b.token)]
        weights = NO_WEIGHTS
        if text.weights is not None:
            weights = text.weights.view(a.sentence, b.sentence)
        return TrainingData(encoded, gold, weights)

    def read_ahead(self, i: int) -> None:
        """Tell the system which block comes next.

        Parameters
        ----------
        i : int
        """
        a, b = self._places[i : i + 2]
        self._text.gold.read_ahead(a.token, b.token)
        self._tables[0].read_ahead(a.feature, b.feature)
        if not self._missing:
            self._tables[1].read_ahead(a.pair_feature, b.pair_feature)

    # As `TrainingData`

    def marks(self) -> list[int]:
        """Numbers by which these data are known again, the same as in memory."""
        gold = weights = 0
        for i in range(len(self)):
            own = self.block(i)
            gold = zlib.crc32(own.gold.tobytes(), gold)
            weights = zlib.crc32(own.importance.tobytes(), weights)
        text = self._text
        counts = [text.n_sentences, text.n_tokens, len(self._tables[0])]
        return [*counts, gold, *([] if text.weights is None else [weights])]

    def check(self, learner: ChainLearner) -> None:
        """Raise a SeqpaError where the labels of a sentence break the learner's rules.

        Parameters
        ----------
        learner : ChainLearner
        """
        for i in range(len(self)):
            with numbered_from(self._places[i].sentence):
                self.block(i).check(learner)

    def one_pass(self, state: TrainingState, shuffle: bool, train: Callable[..., Epoch]) -> Epoch:
        """Learn from every sentence once: the blocks in a random order, and so those of each.

        Parameters
        ----------
        state : TrainingState
        shuffle : bool
            Otherwise all come in the order of the text.
        train : callable
            `ChainLearner.epoch`, with all that is the same for every epoch.

        Returns
        -------
        Epoch
        """
        n = len(self)
        blocks = np.arange(n) if n == 1 or not shuffle else state.rng.permutation(n)
        total: Epoch | None = None
        for i, following in pairwise([*blocks.tolist(), None]):
            if following is not None:
                self.read_ahead(following)
            behind = 0 if total is None else total.sentences
            self._allow(state, behind)
            with numbered_from(self._places[i].sentence):
                done = self.block(i).one_pass(state, shuffle, self._told_behind(behind, train))
            total = done if total is None else total.plus(done)
        assert total is not None
        return total

    def _told_behind(self, behind: int, train: Callable[..., Epoch]) -> Callable[..., Epoch]:
        """The same training, which tells of its progress as a part of the whole text's."""
        progress: Progress | None = getattr(train, "keywords", {}).get("progress")
        if progress is None:
            return train
        tell = progress
        return partial(train, progress=lambda done, _: tell(behind + done, self._text.n_sentences))

    def keep_back(self, source: FeatureSource, epochs: int, scored: bool) -> None:
        """See to it that there will be memory for an epoch, and for writing what it learned.

        Parameters
        ----------
        source : FeatureSource
            Knows all features.
        epochs : int
            How many epochs there will be.
        scored : bool
            Whether each is scored on a dev set.
        """
        budget, encoder = self._text.budget, checked_encoder(source)
        self._epochs, self._scored = epochs, scored
        budget.begin()
        self._aside = max(encoder.described_size(), self._block_size())
        if scored:
            self._aside += encoder.composed_size()
        budget.kept_back = self._aside
        n_features = encoder.n_features + encoder.n_pair_features
        budget.later = _LATER * n_features
        budget.check(_ROW * n_features, "the features and weights")

    def _allow(self, state: TrainingState, behind: int) -> None:
        """Let the weights grow in the next block as far as there will be memory for all."""
        budget, weights = self._text.budget, state.weights
        done = state.epoch + behind / max(self._text.n_sentences, 1)
        if done > 0:
            budget.share, budget.later = done / max(self._epochs, 1), 0.0
        budget.kept_back = self._aside + (weights.nbytes if self._scored else 0)
        weights.allow()
        budget.check(0, "the features and weights")

    def _block_size(self) -> int:
        """How many bytes the largest block takes, with what is made of it."""
        sizes = [0]
        for a, b in pairwise(self._places):
            features = b.feature - a.feature + b.pair_feature - a.pair_feature
            sizes.append(4 * features + 48 * (b.token - a.token) + 32 * (b.sentence - a.sentence))
        return max(sizes)

    def offer(self, reservoir: Reservoir) -> None:
        """Let a reservoir keep some of the sentences.

        Parameters
        ----------
        reservoir : Reservoir
        """
        for i in range(len(self)):
            self.block(i).offer(reservoir)

    def sample(self) -> TrainingData:
        """Sentences that stand for all: the first block."""
        return self.block(0)

    def close(self) -> None:
        """Remove the files, those of the text too."""
        for table in self._tables:
            table.close()
        self._text.close()


class _Features:
    """The features of all tokens, one after another, and where those of each token begin."""

    def __init__(self, folder: str | Path | None) -> None:
        self._indptr = ArrayFile(np.int64, folder)
        self._indptr.append(np.zeros(1))
        self._features = ArrayFile(np.int32, folder)

    def __len__(self) -> int:
        return len(self._features)

    def add(self, indptr: NDArray[np.int64], features: NDArray[np.int32]) -> None:
        self._indptr.append(indptr[1:] + len(self._features))
        self._features.append(features)

    def end_of(self, token: int) -> int:
        """How many features there are before a token."""
        return int(self._indptr.view(token, token + 1)[0])

    def view(self, begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Those of some tokens."""
        own = self._indptr.view(begin, end + 1)
        return own - own[0], self._features.view(int(own[0]), int(own[-1]))

    def read_ahead(self, begin: int, end: int) -> None:
        self._features.read_ahead(begin, end)

    def close(self) -> None:
        self._indptr.close()
        self._features.close()


def encoded_on_disk(
    text: TextOnDisk,
    source: FeatureSource,
    labels: list[str],
    grow: bool,
    block_tokens: int = BLOCK_TOKENS,
) -> BlocksOnDisk:
    """Encode a text piece by piece.

    The features of the whole text are numbered and counted exactly while it is encoded. Then those
    below the cutoff are dropped, and the others numbered anew: a second pass, over numbers.

    Parameters
    ----------
    text : TextOnDisk
    source : FeatureSource
        With templates. It learns words and features, unless it knows them already.
    labels : list of str
        In the order of their numbers.
    grow : bool
        Whether it learns.
    block_tokens : int
        As for `BlocksOnDisk`.

    Returns
    -------
    BlocksOnDisk
    """
    encoder = checked_encoder(source)
    tags = _Tags(text, encoder, labels)
    if grow:
        source.seen = text.seen
        tags.learn()
        for column, words in zip(encoder.word_columns, text.words, strict=True):
            if column.functions:
                column.learn(dict(words))
    spelled = [list(own) for own in text.words]
    for own in text.words:  # the encoder has them now
        own.clear()
    cutoff, encoder.cutoff = encoder.cutoff, 1  # what is rare in a piece need not be rare
    blocks = BlocksOnDisk(text, labels, encoder.pairs is not None, block_tokens)
    budget = text.budget
    budget.begin()
    budget.kept_back = min(_PIECE_TOKENS, text.n_tokens) * (100 + 6 * len(encoder.templates))
    encoder.within(budget)
    try:
        for fold in tags.folds():
            apart = tags.apart(fold)
            for sentences, tokens in text.pieces(fold, _PIECE_TOKENS):
                budget.share = tokens.stop / text.n_tokens
                budget.later = _LATER * encoder.n_features
                cells = [
                    list(map(own.__getitem__, file.view(tokens.start, tokens.stop).tolist()))
                    for own, file in zip(spelled, text.cells, strict=True)
                ]
                lengths = text.lengths.view(sentences.start, sentences.stop)
                with numbered_from(sentences.start):
                    encoded = encoder.training_transform(cells, lengths, grow=grow, apart=apart)
                blocks.add(encoded, grow and cutoff > 1)
        encoder.cutoff = cutoff
        if grow and cutoff > 1:
            blocks.renumber(encoder.drop_rare(blocks.counts))
    finally:
        encoder.cutoff = cutoff
        encoder.within(None)
    encoder.put_on_disk(text.folder)
    blocks.lay_out()
    return blocks


# Bytes that a feature takes later, with its weights and while they are written: more than was ever
# seen.
_LATER = 100
# Bytes of a feature's row, which it has before it has weights.
_ROW = 8


def checked_encoder(source: FeatureSource) -> FeatureEncoder:
    """The encoder, if it can be given a text piece by piece; otherwise a SeqpaError.

    Parameters
    ----------
    source : FeatureSource

    Returns
    -------
    FeatureEncoder
    """
    encoder = source.encoder
    if not isinstance(encoder, FeatureEncoder):
        raise SeqpaError(
            "with memory the features must be a preset or templates: text is kept as words"
        )
    if source.reach:
        raise SeqpaError(
            "with memory no template can look elsewhere in the document (the preset ner-document, "
            "elsewhere(...)): a document may be cut; leave these out, or leave out memory"
        )
    return encoder


def labels_of(text: TextOnDisk) -> list[str]:
    """The labels of a text, in the order of their numbers.

    Parameters
    ----------
    text : TextOnDisk

    Returns
    -------
    list of str
    """
    if not text.n_tokens:
        raise SeqpaError("there is no token to learn from: every training sentence is empty")
    if len(text.labels) == 1:
        raise SeqpaError("there is no label to learn from: every label is None")
    found: Iterable[str | None] = text.labels
    return with_new([], list(found))
