"""A stream of sentences, each piece with what tagging looks at before and behind it.

A tagger that looks beyond the sentence does so within a bounded window. So a stream of any length
is tagged in constant memory, and with the same labels however it was cut: a piece waits until the
window behind it has come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from seqpa.data.corpus import Corpus, Token
from seqpa.sequence.elsewhere import around


def in_context(chunks: Iterable[Corpus], reach: int) -> Iterator[tuple[Corpus, Corpus, slice]]:
    """Each piece of a stream, and the same among the sentences around it.

    Parameters
    ----------
    chunks : iterable of Corpus
        The pieces, in their order.
    reach : int
        How many tokens are looked at before and behind a sentence: `SequenceTagger.reach_`.

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
    if reach == 0:
        for chunk in chunks:
            yield chunk, chunk, slice(0, len(chunk))
        return
    source = iter(chunks)
    ahead: deque[Corpus] = deque()
    waiting = 0  # tokens ahead
    before: Corpus | None = None
    while True:
        while not ahead or waiting - ahead[0].n_tokens < reach:
            new = next(source, None)
            if new is None:
                break
            ahead.append(new)
            waiting += new.n_tokens
        if not ahead:
            return
        chunk = ahead.popleft()
        waiting -= chunk.n_tokens
        behind = _head(list(ahead), reach)
        parts = [part for part in (before, chunk, behind) if part is not None]
        first = 0 if before is None else len(before)
        yield chunk, Corpus.joined(parts), slice(first, first + len(chunk))
        known = chunk if before is None else Corpus.joined([before, chunk])
        before = known[_first_within(known, reach) :]


def _head(corpora: list[Corpus], reach: int) -> Corpus | None:
    """The first sentences, as many as `reach` tokens touch."""
    if not corpora:
        return None
    all_of_them = Corpus.joined(corpora)
    last = int(np.searchsorted(all_of_them.offsets, reach, side="left"))
    return all_of_them[:last]


def _first_within(corpus: Corpus, reach: int) -> int:
    """The first of the last sentences that `reach` tokens touch."""
    offsets = corpus.offsets
    return max(int(np.searchsorted(offsets, offsets[-1] - reach, side="right")) - 1, 0)


def near(corpus: Corpus, i: int, reach: int) -> tuple[list[list[Token]], list[list[Token]]]:
    """The sentences of its document before and behind sentence i that tagging it looks at.

    Parameters
    ----------
    corpus : Corpus
    i : int
        The sentence's number.
    reach : int
        As for `in_context`.

    Returns
    -------
    before, behind : lists of sentences

    Examples
    --------
    >>> near(Corpus.from_sentences([["so"], ["it"], ["is"], ["now"]]), 2, 1)
    ([['it']], [['now']])
    """
    seen = around(corpus.offsets, slice(i, i + 1), reach)
    first, last = seen.start, seen.stop
    if corpus.documents is not None:
        changes = np.flatnonzero(np.diff(corpus.documents[seen])) + seen.start + 1
        first = max([first, *changes[changes <= i].tolist()])
        last = min([last, *changes[changes > i].tolist()])
    return corpus[first:i].X, corpus[i + 1 : last].X
