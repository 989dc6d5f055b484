"""What an attribute of a template computes from a word.

One table, `KINDS`, names every attribute with its parameters; the template parser checks against
it, the encoder calls it with the distinct words of a corpus. None means absent: a flag that is
false, a prefix of a word that is too short, a word in no cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from seqpa._kernel import strings
from seqpa.schemes import BEGIN, INSIDE
from seqpa.sequence import elsewhere, tag_dictionary
from seqpa.sequence.patterns import Pattern
from seqpa.sequence.resources import Clusters

OfWords = Callable[[Collection[str]], "list[str | None]"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of an attribute.

    Parameters
    ----------
    name : str
        What messages call it.
    type : type
        int or str.
    optional : bool
        Whether it may be left out.
    """

    name: str
    type: type[int] | type[str]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """One attribute.

    Parameters
    ----------
    make : callable or None
        Makes the function from words to their values. It gets the arguments; where `resource` is
        set, the first is the resource of that name.
    parameters : tuple of Parameter
        What the arguments are.
    flag : bool
        Whether the only value is "" (true).
    resource : str or None
        The kind of resource that it looks words up in.
    in_context : tuple of str
        The values of an attribute that its resource computes over whole sentences, because an
        entry of several words spans several tokens.
    learned : int or None
        Which value of a word's entry in the tag dictionary it is.
    in_document : bool
        Whether it is a set of values, of the same word elsewhere in the document.
    base : str or None
        Another attribute, without arguments, from whose values `of_base` makes those of this one:
        what several attributes begin with is computed once.
    of_base : callable or None
        The function from the base's values to this one's; `make` does both at once.
    """

    make: Callable[..., OfWords] | None
    parameters: tuple[Parameter, ...] = ()
    flag: bool = False
    resource: str | None = None
    in_context: tuple[str, ...] = ()
    learned: int | None = None
    in_document: bool = False
    base: str | None = None
    of_base: OfWords | None = None


def _prefix(length: int) -> OfWords:
    return lambda words: strings.prefixes(words, length)


def _suffix(length: int) -> OfWords:
    return lambda words: strings.suffixes(words, length)


def _first(length: int) -> OfWords:
    return lambda words: [word[:length] for word in words]


def _last(length: int) -> OfWords:
    return lambda words: [word[-length:] for word in words]


def _cluster(clusters: Clusters, length: int | None = None) -> OfWords:
    def paths(words: Collection[str]) -> list[str | None]:
        found = map(clusters.paths.get, map(str.lower, words) if clusters.lower else words)
        return [path if path is None else path[:length] for path in found]

    return paths


class _ShapeOfCharacter(dict[int, str]):
    """A table for str.translate, filled as characters come by."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isupper() or character.istitle():
            shape = "X"
        elif character.isalpha():
            shape = "x"
        elif character.isdigit():
            shape = "d"
        else:
            shape = character
        self[code] = shape
        return shape


_SHAPES = _ShapeOfCharacter()


def shape(word: str) -> str:
    """Upper-case letters as X, other letters as x, digits as d, the rest as it is.

    Parameters
    ----------
    word : str
        Any word.

    Returns
    -------
    str

    Examples
    --------
    >>> shape("McDonald's-2b")
    "XxXxxxxx'x-dx"
    """
    return word.translate(_SHAPES)


def short_shape(word: str) -> str:
    """The shape with every run of one character as a single one.

    Parameters
    ----------
    word : str
        Any word.

    Returns
    -------
    str

    Examples
    --------
    >>> short_shape("McDonald's-2b")
    "XxXx'x-dx"
    """
    return _without_runs(word.translate(_SHAPES))


def _without_runs(text: str) -> str:
    return "".join([character for character, _ in groupby(text)])


def _shapes(words: Collection[str]) -> list[str | None]:
    """The words' shapes; most words are plain, and all these are translated at one stroke."""
    text = "".join([word for word in words if word.isascii()]).translate(_SHAPES)
    found: list[str | None] = []
    at = 0
    for word in words:
        if word.isascii():
            found.append(text[at : at + len(word)])
            at += len(word)
        else:
            found.append(word.translate(_SHAPES))
    return found


def _shortened(shapes: Collection[str]) -> list[str | None]:
    """Shapes without their runs; many words have few shapes, each of which is made short once."""
    short = {full: _without_runs(full) for full in set(shapes)}
    return [short[full] for full in shapes]


def _short_shapes(words: Collection[str]) -> list[str | None]:
    return _shortened(cast("list[str]", _shapes(words)))


def _flag(test: Callable[[str], Any]) -> Kind:
    return Kind(lambda: lambda words: ["" if yes else None for yes in map(test, words)], flag=True)


def _simple(function: Callable[[str], str]) -> Kind:
    return Kind(lambda: lambda words: list(map(function, words)))


def _regex(pattern: str) -> OfWords:
    search = Pattern(pattern).search
    return lambda words: ["" if found else None for found in map(search, words)]


KINDS: dict[str, Kind] = {
    "lower": _simple(str.lower),
    "prefix": Kind(_prefix, (Parameter("length", int),)),
    "suffix": Kind(_suffix, (Parameter("length", int),)),
    "first": Kind(_first, (Parameter("length", int),)),
    "last": Kind(_last, (Parameter("length", int),)),
    "shape": Kind(lambda: _shapes),
    "shortshape": Kind(lambda: _short_shapes, base="shape", of_base=_shortened),
    "length": _simple(lambda word: str(len(word))),
    "isdigit": _flag(str.isdigit),
    "isalpha": _flag(str.isalpha),
    "isalnum": _flag(str.isalnum),
    "isupper": _flag(str.isupper),
    "islower": _flag(str.islower),
    "istitle": _flag(str.istitle),
    "hasupper": Kind(lambda: strings.with_upper, flag=True),
    "hasdigit": Kind(lambda: strings.with_digit, flag=True),
    "hashyphen": Kind(lambda: strings.with_hyphen, flag=True),
    "regex": Kind(_regex, (Parameter("pattern", str),), flag=True),
    "cluster": Kind(
        _cluster,
        (Parameter("name", str), Parameter("length", int, optional=True)),
        resource="clusters",
    ),
    "lexicon": Kind(
        None, (Parameter("name", str),), resource="lexicon", in_context=(BEGIN, INSIDE)
    ),
    **{
        name: Kind(None, learned=which, base="lower")
        for which, name in enumerate(tag_dictionary.ATTRIBUTES)
    },
    "elsewhere": Kind(None, in_document=True),
    "bias": Kind(lambda: lambda words: [""] * len(words), flag=True),
}
# What `elsewhere(case)` sees of a word. No template can name it: the name has a space.
CASE_CLASS = "case class"
_HIDDEN = {CASE_CLASS: _simple(elsewhere.case_class)}


def kind_of(name: str) -> Kind:
    """The attribute of a name, also of one that only attributes themselves use.

    Parameters
    ----------
    name : str

    Returns
    -------
    Kind

    Examples
    --------
    >>> kind_of("isdigit").flag, kind_of(CASE_CLASS).flag
    (True, False)
    """
    return KINDS[name] if name in KINDS else _HIDDEN[name]


def values(name: str, words: Collection[str]) -> list[str | None]:
    """The words' values of an attribute without arguments.

    Parameters
    ----------
    name : str
    words : collection of str

    Returns
    -------
    list of str or None

    Examples
    --------
    >>> values("shape", ["Ada", "won", "2-1"])
    ['Xxx', 'xxx', 'd-d']
    """
    make = kind_of(name).make
    assert make is not None
    return make()(words)
