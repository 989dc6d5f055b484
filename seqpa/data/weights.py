"""How much each sentence counts: a column, a comment ``# weight = 2``, or a key of JSON lines."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError


def take_weights(corpus: Corpus, name: str, source: str) -> int:
    """Set `weights` of a corpus from what was read; a column of that name goes away.

    In a column all tokens of a sentence say the same. In CoNLL and CoNLL-U, ``# name = 2`` before a
    sentence is its weight, in JSON lines ``"name": 2`` beside its tokens; without, it weighs 1.

    Parameters
    ----------
    corpus : Corpus
        With its layout, unless it has the column.
    name : str
        Of the column, the comment or the key.
    source : str
        What messages call the file.

    Returns
    -------
    int
        How many sentences say what they weigh.

    Examples
    --------
    >>> corpus = Corpus.from_sentences([[("so", "2"), ("it", "2")]], names=("word", "weight"))
    >>> take_weights(corpus, "weight", "a.conll")
    1
    >>> corpus.names, corpus.weights.tolist()
    (('word',), [2.0])
    """
    layout: Any = corpus.layout
    firsts = corpus.offsets[:-1].tolist()

    def place(token: int) -> str:
        return f"{source}:{layout.line_of(token)}: " if layout is not None else f"{source}: "

    if name in corpus.names:
        column = corpus.columns[corpus.names.index(name)]
        for first, length in zip(firsts, corpus.lengths.tolist(), strict=True):
            for token in range(first, first + length):
                if column[token] != column[first]:
                    raise SeqpaError(
                        f"{place(token)}the {name} of a sentence is the same for all its tokens: "
                        f"{column[token]!r} after {column[first]!r}"
                    )
        said = {i: (column[first], place(first)) for i, first in enumerate(firsts)}
        kept = [i for i, other in enumerate(corpus.names) if other != name]
        if not kept:
            raise SeqpaError(f"{source}: {name} is the only column; there must be words")
        corpus.columns = [corpus.columns[i] for i in kept]
        corpus.names = tuple(corpus.names[i] for i in kept)
    elif hasattr(layout, "objects"):
        with_tokens = [(index, own) for index, own in layout.objects if own["tokens"]]
        said = {
            i: (own[name], f"{source}:{layout.block.first_line + index}: ")
            for i, (index, own) in enumerate(with_tokens)
            if name in own
        }
    elif hasattr(layout, "token_at") and layout.format in ("conll", "conllu"):
        said = _comments(corpus, layout, name, source)
    else:
        raise SeqpaError(
            f"{source}: weights are a column ({name!r} is none of {', '.join(corpus.names)}), a "
            f"comment `# {name} = 2` of conll and conllu, or a key of jsonl"
        )
    corpus.weights = np.ones(len(corpus))
    for i, (value, where) in said.items():
        corpus.weights[i] = _weight(value, name, where)
    return len(said)


def _comments(corpus: Corpus, layout: Any, name: str, source: str) -> dict[int, tuple[str, str]]:
    """Sentence -> what a comment before or in it says, and where."""
    pattern = re.compile(rf"#\s*{re.escape(name)}\s*=(.*)")
    marked = [
        (index, found[1])
        for index, line in enumerate(layout.block.lines)
        if line.startswith("#") and (found := pattern.match(line))
    ]
    tokens = set(layout.token_at[np.isin(layout.token_at, [at for at, _ in marked])].tolist())
    lasts = layout.token_at[corpus.offsets[1:] - 1]
    said: dict[int, tuple[str, str]] = {}
    for index, value in marked:
        sentence = int(np.searchsorted(lasts, index))
        if index in tokens or sentence == len(corpus):  # a word, or behind the last sentence
            continue
        where = f"{source}:{layout.block.first_line + index}: "
        if sentence in said:
            raise SeqpaError(f"{where}the sentence has two comments `# {name} = ...`")
        said[sentence] = (value, where)
    return said


def _weight(value: Any, name: str, where: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not (math.isfinite(number) and number >= 0.0):
        told = value.strip() if isinstance(value, str) else value
        raise SeqpaError(
            f"{where}the {name} of a sentence is a number, 0 or above, not {str(told)[:40]!r}"
        )
    return number
