"""Tagging text in columns without making strings of its words: bytes in, bytes out.

Most files are plain: every line is a token of so many cells, or blank. For these the kernel finds
the cells, numbers the words by their bytes and writes the lines again with their labels, without
Python's lock, so that threads tag several blocks at a time. What is not plain, or needs more than
the words of a sentence, is left to the readers and writers of `seqpa.data`: `tag_blocks` calls them
for it, and both ways give the same text.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel import column_text as kernel
from seqpa.data import column_blocks, no_sentence
from seqpa.data.conll import ConllReader, LineShape
from seqpa.data.several import files_of
from seqpa.data.source import Block
from seqpa.errors import SeqpaError
from seqpa.sequence.tagging import Buffers, Tagging

# A thread remembers what it computed of so many words that were not in training.
_MOST_UNKNOWN = 1 << 16
_MOST_BYTES = 16 * _MOST_UNKNOWN


@dataclass(frozen=True, slots=True)
class TaggedText:
    """A block with its labels.

    Attributes
    ----------
    text : str
        Its lines, as they are written.
    sentences, n_tokens : int
        How many it has.
    """

    text: str
    sentences: int
    n_tokens: int

    def __len__(self) -> int:
        return self.sentences


class ColumnTagging:
    """Tags the text of plain columns; any number of threads may share it.

    Parameters
    ----------
    tagging : Tagging
        Of a model whose templates look at the words of one sentence: see `fits`.
    """

    def __init__(self, tagging: Tagging) -> None:
        self._tagging = tagging
        encoder = tagging.encoder
        assert encoder is not None
        self._encoder = encoder
        self._columns = tuple(encoder.columns)
        self._known = [_index(list(column.words)) for column in encoder.word_columns]
        names = [label.encode("utf-8", "surrogatepass") for label in tagging.labels]
        self._names = np.frombuffer(b"".join(names) + b"\0", np.uint8)
        self._name_at = np.cumsum([0, *map(len, names)], dtype=np.int64)
        self._longest = max(map(len, names))
        self._own = threading.local()

    @staticmethod
    def fits(tagging: Tagging, columns: Sequence[str]) -> bool:
        """Whether words are all that the model looks at, and labels can stand in a column."""
        encoder = tagging.encoder
        return (
            encoder is not None
            and encoder.sees_words_alone
            and tuple(encoder.columns) == tuple(columns)
            and not any(sign in label for label in tagging.labels for sign in " \t\n\r")
        )

    def tagged(self, block: Block, shape: LineShape) -> TaggedText | None:
        """The block with its labels; None where it is not plain.

        Parameters
        ----------
        block : Block
        shape : LineShape
            What its lines look like.
        """
        if block.newline != "\n" or not set(self._columns) <= set(shape.names):
            return None
        data = np.frombuffer(block.text.encode("utf-8", "surrogatepass"), np.uint8)
        most = block.text.count("\n") + 1
        begins, ends = np.empty((2, len(self._columns), most), np.int32)
        lines, starts = np.empty(most, np.int32), np.empty(most + 1, np.int64)
        wanted = np.full(len(shape.names), -1, np.int64)
        for row, name in enumerate(self._columns):
            wanted[shape.names.index(name)] = row
        sentences = kernel.scan(
            data,
            ord(shape.separator),
            len(shape.names),
            shape.most_tokens,
            wanted,
            begins,
            ends,
            lines,
            starts,
        )
        if sentences < 0:
            return None
        starts = starts[: sentences + 1]
        n = int(starts[-1])
        numbers: NDArray[np.int32] | None = np.zeros(0, np.int32)
        if n:
            numbers = self._labels(data, begins[:, :n], ends[:, :n], starts)
        if numbers is None:
            return None
        out = np.empty(len(data) + n * (self._longest + 1) + 1, np.uint8)
        end = ord("\t" if len(shape.names) == 1 else shape.separator)
        size = kernel.write(data, lines[:n], numbers, end, self._names, self._name_at, out)
        return TaggedText(out[:size].tobytes().decode("utf-8", "surrogatepass"), sentences, n)

    def _labels(
        self,
        data: NDArray[np.uint8],
        begins: NDArray[np.int32],
        ends: NDArray[np.int32],
        starts: NDArray[np.int64],
    ) -> NDArray[np.int32] | None:
        """The number of each token's label; None where a sentence has no legal ones."""
        own: _Own | None = getattr(self._own, "own", None)
        n, longest = int(starts[-1]), int(np.diff(starts).max())
        if own is None or own.buffers.numbered < n or own.buffers.run < longest:
            own = self._own.own = _Own(
                self._tagging.buffers(longest, n), len(self._encoder.word_columns)
            )
        own.make_room(len(data), n)
        buffers, grown = own.buffers, False
        for c, (column, known) in enumerate(
            zip(self._encoder.word_columns, self._known, strict=True)
        ):
            if not column.functions:
                continue
            others = own.others[c]
            before = others.get_size()
            kernel.number(data, begins[c], ends[c], known, others, buffers.ids[c])
            if column.computes and others.get_size() > before:
                new = own.words(c, before)
                own.values[c].append(column.values_of(new))
                grown = True
        if grown or own.is_new:
            values = []
            for c, column in enumerate(self._encoder.word_columns):
                if len(own.values[c]) > 1:
                    own.values[c] = [np.concatenate(own.values[c], axis=1)]
                values.append(own.values[c][0] if own.values[c] else column.values_of([]))
            self._encoder.set_unknown(buffers.words, values)
            own.is_new = False
        return buffers.label_numbers(starts)


class _Own:
    """One thread's memory: buffers, and what it knows of words that were not in training."""

    def __init__(self, buffers: Buffers, n_columns: int) -> None:
        self.buffers = buffers
        self._n_columns = n_columns
        self._room = 0, 0
        self.others: list[kernel.WordIndex] = []
        self.values: list[list[NDArray[np.int32]]] = []
        self._texts: list[tuple[NDArray[np.uint8], NDArray[np.int64]]] = []
        self.is_new = True

    def make_room(self, n_bytes: int, n_tokens: int) -> None:
        """Room for all words of a block, if each is new; with too many, all are forgotten."""
        fits = n_bytes <= self._room[0] and n_tokens <= self._room[1]
        if fits and all(
            others.get_size() <= _MOST_UNKNOWN and int(starts[others.get_size()]) <= _MOST_BYTES
            for others, (_, starts) in zip(self.others, self._texts, strict=True)
        ):
            return
        self._room = max(n_bytes, self._room[0]), max(n_tokens, self._room[1])
        words = _MOST_UNKNOWN + self._room[1]
        self.others, self._texts = [], []
        for _ in range(self._n_columns):
            text = np.empty(_MOST_BYTES + self._room[0], np.uint8)
            starts = np.zeros(words + 2, np.int64)
            slots = np.zeros(1 << (2 * words).bit_length(), np.int32)
            self._texts.append((text, starts))
            self.others.append(kernel.WordIndex(text, starts, slots, 0))
        self.values = [[] for _ in range(self._n_columns)]
        self.is_new = True

    def words(self, c: int, first: int) -> list[str]:
        """The words of a column from a number on."""
        text, starts = self._texts[c]
        places = starts[first : self.others[c].get_size() + 1].tolist()
        data = text[: places[-1]].tobytes()
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(places)]


def _index(words: list[str]) -> kernel.WordIndex:
    data = [word.encode("utf-8", "surrogatepass") for word in words]
    starts = np.cumsum([0, *map(len, data)], dtype=np.int64)
    text = np.frombuffer(bytearray(b"".join(data) + b"\0"), np.uint8)
    slots = np.zeros(1 << (2 * len(words) + 1).bit_length(), np.int32)
    return kernel.WordIndex(text, starts, slots, len(words))


def tag_blocks(
    tagging: ColumnTagging,
    reader: ConllReader,
    blocks: Iterable[Block],
    n_jobs: int,
    otherwise: Callable[[Block], TaggedText],
) -> Iterator[TaggedText]:
    """Tag blocks of text, in their order.

    Parameters
    ----------
    tagging : ColumnTagging
    reader : ConllReader
        Of these blocks: it knows what their lines look like.
    blocks : iterable of Block
    n_jobs : int
        Threads. With more than one, some blocks are read ahead.
    otherwise : callable
        Tags a block that is not plain.

    Yields
    ------
    TaggedText
    """

    def plain(block: Block) -> TaggedText | None:
        shape = reader.shape(block)
        return None if shape is None else tagging.tagged(block, shape)

    if n_jobs == 1:
        for block in blocks:
            found = plain(block)
            yield otherwise(block) if found is None else found
        return
    waiting: deque[tuple[Block, Future[TaggedText | None]]] = deque()

    def first() -> TaggedText:
        block, future = waiting.popleft()
        found = future.result()
        return otherwise(block) if found is None else found

    with ThreadPoolExecutor(n_jobs, "seqpa-tag") as pool:
        try:
            source = iter(blocks)
            while True:
                try:
                    new = next(source, None)
                    if new is not None:
                        reader.shape(new)  # by the first block that has a token, in this thread
                except SeqpaError:
                    while waiting:  # what comes before the mistake is still told
                        yield first()
                    raise
                if new is None:
                    break
                waiting.append((new, pool.submit(plain, new)))
                if len(waiting) > 2 * n_jobs:
                    yield first()
            while waiting:
                yield first()
        finally:
            for _, future in waiting:
                future.cancel()


def tagged_columns(
    tagging: Tagging, columns: Sequence[str], input: str, how: Mapping[str, Any], n_jobs: int
) -> Iterator[TaggedText] | None:
    """The text of a file with its labels, piece by piece, for models that look at words alone.

    Parameters
    ----------
    tagging : Tagging
        Of a model.
    columns : sequence of str
        Those that the model looks at.
    input : str
        A file in columns, or ``-``.
    how : mapping
        What `seqpa.data.read_chunks` is told: columns, label, encoding, max_sentence_tokens.
    n_jobs : int
        Threads.

    Returns
    -------
    iterator of TaggedText, or None
        None for other models, and for several files.
    """
    if files_of(input) != [input] or not ColumnTagging.fits(tagging, columns):
        return None
    reader, blocks = column_blocks(
        input, how["columns"], how["label"], how["encoding"], how["max_sentence_tokens"]
    )

    def otherwise(block: Block) -> TaggedText:
        corpus = reader.parse(block, {})
        found = tagging.predict(corpus, None, n_jobs) if len(corpus) else []
        assert corpus.layout is not None
        text = corpus.layout.render(list(chain.from_iterable(found)), {})
        return TaggedText(text, len(corpus), corpus.n_tokens)

    def pieces() -> Iterator[TaggedText]:
        sentences = 0
        # What comes through a pipe goes on at once: no block waits for the next one.
        threads = 1 if input == "-" else n_jobs
        for piece in tag_blocks(ColumnTagging(tagging), reader, blocks, threads, otherwise):
            yield piece
            sentences += len(piece)
        if not sentences:
            raise no_sentence(input)

    return pieces()
