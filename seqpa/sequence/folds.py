"""Contiguous folds: what is learned about a sentence from all the others but its neighbours."""

from __future__ import annotations

from itertools import pairwise

FOLDS = 5  # unless told otherwise,
MOST_TAGGERS = 8  # and so many taggers of columns, each with folds of its own


def contiguous_folds(n_sentences: int, n_folds: int) -> list[range]:
    """Cut sentences into blocks that follow one another, as even as can be.

    Neighbouring sentences share names and topics. A fold that holds them together learns
    nothing of itself from the others, which folds drawn at random would.

    Parameters
    ----------
    n_sentences : int
        How many sentences there are.
    n_folds : int
        How many blocks to cut; fewer where there are fewer sentences.

    Returns
    -------
    list of range
        The sentences' numbers, one range a block, none of them empty.

    Examples
    --------
    >>> contiguous_folds(7, 3)
    [range(0, 2), range(2, 4), range(4, 7)]
    >>> contiguous_folds(2, 10)
    [range(0, 1), range(1, 2)]
    """
    if n_folds < 1:
        raise ValueError(f"n_folds is {n_folds}: a whole number of at least 1 is needed")
    count = min(n_folds, n_sentences)
    edges = [n_sentences * fold // count for fold in range(count + 1)] if count else [0]
    return [range(start, stop) for start, stop in pairwise(edges)]
