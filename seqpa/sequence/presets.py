"""Ready lists of templates for part-of-speech tagging, names and chunks.

What they have was chosen by dev scores over several corpora (`benchmarks/accuracy.py`). All see
which labels a word had in training. `ner-document` is `ner` for whole documents: it also sees the
same words elsewhere, which a single sentence does not have.

The first column is the word, whatever its name; a column `pos`, where there is one, is used by
`ner` and `chunk` (and never by `pos`, which predicts it).
"""

from __future__ import annotations

from collections.abc import Sequence

from seqpa.errors import SeqpaError, did_you_mean

_SHAPE = ["shape[0]", "shortshape[0]", "hashyphen[0]", "hasdigit[0]", "hasupper[0]"]

# What words were labelled in training.
_TAGS = ["tags[0]", "besttag[0]"]
# Where else in the document a word stands.
_ELSEWHERE = [
    "besttag[-1]|besttag[0]",
    "besttag[0]|besttag[1]",
    "elsewhere(lower, -1)",
    "elsewhere(lower, 1)",
    "elsewhere(lower, -2)",
    "elsewhere(lower, 2)",
    "elsewhere(number)",
    "elsewhere(case)",
]


def _around(attribute: str, reach: int) -> list[str]:
    return [f"{attribute}[{offset}]" for offset in range(-reach, reach + 1)]


def _affixes(prefixes: int, suffixes: int) -> list[str]:
    """Prefixes and suffixes of the word up to these lengths."""
    return [f"prefix({n})[0]" for n in range(1, prefixes + 1)] + [
        f"suffix({n})[0]" for n in range(1, suffixes + 1)
    ]


def _pos(word: str) -> list[str]:
    return [
        "bias",
        *_around(word, 2),
        "lower[0]",
        f"{word}[-1]|{word}[0]",
        f"{word}[0]|{word}[1]",
        *_affixes(4, 5),
        *_SHAPE,
        "shortshape[-1]",
        "shortshape[1]",
        *_TAGS,
    ]


def _ner(word: str) -> list[str]:
    return [
        "bias",
        *_around(word, 2),
        *_around("lower", 1),
        f"{word}[-1]|{word}[0]",
        f"{word}[0]|{word}[1]",
        *_affixes(4, 4),
        *_SHAPE,
        "istitle[0]",
        "isupper[0]",
        "shape[-1]",
        "shape[1]",
        "shortshape[-1]|shortshape[0]",
        "shortshape[0]|shortshape[1]",
        "shortshape[-1]|shortshape[0]|shortshape[1]",
        *_TAGS,
    ]


def _ner_document(word: str) -> list[str]:
    return [*_ner(word), *_ELSEWHERE]


def _chunk(word: str) -> list[str]:
    return [
        "bias",
        *_around(word, 2),
        "lower[0]",
        f"{word}[-1]|{word}[0]",
        f"{word}[0]|{word}[1]",
        "suffix(2)[0]",
        "suffix(3)[0]",
        "suffix(2)[-1]",
        "suffix(2)[1]",
        "shortshape[0]",
        *_TAGS,
        "tags[-1]|lower[0]",
        "lower[0]|tags[1]",
    ]


# Of the column `pos`, for the tasks that may see it.


def _no_pos(word: str) -> list[str]:
    return []


def _pos_ner(word: str) -> list[str]:
    return [*_around("pos", 2), "pos[-1]|pos[0]", "pos[0]|pos[1]"]


def _pos_chunk(word: str) -> list[str]:
    return [
        *_around("pos", 2),
        "pos[-2]|pos[-1]",
        "pos[-1]|pos[0]",
        "pos[0]|pos[1]",
        "pos[1]|pos[2]",
        "pos[-2]|pos[-1]|pos[0]",
        "pos[-1]|pos[0]|pos[1]",
        "pos[0]|pos[1]|pos[2]",
        f"pos[-1]|{word}[0]",
        f"{word}[0]|pos[1]",
        f"{word}[-1]|pos[0]",
        f"pos[0]|{word}[1]",
        "pos[0]|tags[0]",
    ]


_PRESETS = {
    "pos": (_pos, _no_pos),
    "ner": (_ner, _pos_ner),
    "chunk": (_chunk, _pos_chunk),
    "ner-document": (_ner_document, _pos_ner),
}
NAMES = tuple(_PRESETS)


def preset(name: str, columns: Sequence[str] = ("word",)) -> list[str]:
    """The templates of a preset.

    Parameters
    ----------
    name : str
        pos, ner, chunk or ner-document.
    columns : sequence of str
        The columns of the data, the word first.

    Returns
    -------
    list of str

    Examples
    --------
    >>> [t for t in preset("chunk", ("form", "pos")) if "|" in t][:3]
    ['form[-1]|form[0]', 'form[0]|form[1]', 'tags[-1]|lower[0]']
    >>> preset("chunks")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: no preset is named 'chunks', and templates come in a list; did you \
mean 'chunk'?
    """
    if name not in _PRESETS:
        raise SeqpaError(
            f"no preset is named {name!r}, and templates come in a list{did_you_mean(name, NAMES)}"
        )
    of_word, of_pos = _PRESETS[name]
    word = columns[0]
    return of_word(word) + (of_pos(word) if "pos" in columns[1:] else [])
