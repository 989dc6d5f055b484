"""A stream of sentences, each piece with what tagging looks at before and behind it.

A tagger that looks beyond the sentence does so within a bounded window. So a stream of any length
is tagged in constant memory, and with the same labels however it was cut: a piece waits until the
window behind it has come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from seqpa.data.corpus import Corpus, Token
from seqpa.sequence.elsewhere import around


def in_context(chunks: Iterable[Corpus], *hops: int) -> Iterator[tuple[Corpus, Corpus, slice]]:
    """Each piece of a stream, and the same among the sentences around it.

    Parameters
    ----------
    chunks : iterable of Corpus
        The pieces, in their order.
    *hops : int
        How many tokens are looked at before and behind a sentence, step by step:
        `SequenceTagger.hops_`.

    Yields
    ------
    chunk : Corpus
        As it came.
    around : Corpus
        Its sentences with those before and behind it.
    own : slice
        Which of these are its own.

    Examples
    --------
    >>> pieces = [Corpus.from_sentences([[word]]) for word in ("so", "it", "is")]
    >>> [(around.columns[0], own) for _, around, own in in_context(pieces, 1)]
    [(['so', 'it'], slice(0, 1, None)), (['so', 'it', 'is'], slice(1, 2, None)), (['it', 'is'], \
slice(1, 2, None))]
    """
    if not any(hops):
        for chunk in chunks:
            yield chunk, chunk, slice(0, len(chunk))
        return
    source = iter(chunks)
    ahead: deque[Corpus] = deque()
    waiting = 0  # tokens ahead
    before: Corpus | None = None
    while True:
        last = None
        while last is None:
            # Without the first, whose turn it is; what is summed up tells when to look closely.
            if ahead and waiting - ahead[0].n_tokens >= sum(hops):
                last = _looked_at([corpus.lengths for corpus in islice(ahead, 1, None)], hops)
            if last is None:
                new = next(source, None)
                if new is None:
                    break
                ahead.append(new)
                waiting += new.n_tokens
        if not ahead:
            return
        chunk = ahead.popleft()
        waiting -= chunk.n_tokens
        behind = Corpus.joined(list(ahead))[:last] if ahead else None
        parts = [part for part in (before, chunk, behind) if part is not None]
        first = 0 if before is None else len(before)
        yield chunk, Corpus.joined(parts), slice(first, first + len(chunk))
        known = chunk if before is None else Corpus.joined([before, chunk])
        before = known[_looked_back_at(known.offsets, hops) :]


def _looked_at(lengths: list[NDArray[np.int64]], hops: Sequence[int]) -> int | None:
    """How many of the sentences that follow are looked at; None where more may be than these."""
    offsets = np.cumsum(np.concatenate([[0], *lengths]))
    last = 0
    for hop in hops:
        last = int(np.searchsorted(offsets, offsets[last] + hop, side="left"))
        if last == len(offsets):
            return None
    return last


def _looked_back_at(offsets: NDArray[np.int64], hops: Sequence[int]) -> int:
    """The first of the sentences up to here that what follows looks at."""
    first = len(offsets) - 1
    for hop in hops:
        first = max(int(np.searchsorted(offsets, offsets[first] - hop, side="right")) - 1, 0)
    return first


def near(corpus: Corpus, i: int, *hops: int) -> tuple[list[list[Token]], list[list[Token]]]:
    """The sentences of its document before and behind sentence i that tagging it looks at.

    Parameters
    ----------
    corpus : Corpus
    i : int
        The sentence's number.
    *hops : int
        As for `in_context`.

    Returns
    -------
    before, behind : lists of sentences

    Examples
    --------
    >>> near(Corpus.from_sentences([["so"], ["it"], ["is"], ["now"]]), 2, 1)
    ([['it']], [['now']])
    """
    seen = around(corpus.offsets, slice(i, i + 1), *hops)
    first, last = seen.start, seen.stop
    if corpus.documents is not None:
        changes = np.flatnonzero(np.diff(corpus.documents[seen])) + seen.start + 1
        first = max([first, *changes[changes <= i].tolist()])
        last = min([last, *changes[changes > i].tolist()])
    return corpus[first:i].X, corpus[i + 1 : last].X
