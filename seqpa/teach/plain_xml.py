"""XML of somebody else's, read without danger: elements and attributes, and where they stand.

A document type is refused: entities that grow without end, or are read from other files, are only
to be had through one. Depth and number of elements are limited.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat

from seqpa.errors import SeqpaError

_MOST_ELEMENTS = 2_000_000
_DEEPEST = 100
_SEPARATOR = " "  # no name of a namespace has it


class Element(NamedTuple):
    """An element, in the order in which they begin.

    Parameters
    ----------
    space, name : str
        The address of its namespace, or "", and its name.
    attributes : dict of str to str
        By name; those with a namespace are called by its address, a space and their name.
    parent : int
        The number of the element that it is in; -1 for the outermost.
    start, end : int
        Where its first tag begins, and where its last tag ends, in bytes of UTF-8.
    tail : int
        Where its last tag begins; `start` where one tag is both.

    Examples
    --------
    >>> Element("", "a", {}, -1, 0, 4, 0).name
    'a'
    """

    space: str
    name: str
    attributes: dict[str, str]
    parent: int
    start: int
    end: int
    tail: int


def read_elements(text: str, what: str) -> list[Element]:
    """The elements of an XML document.

    Parameters
    ----------
    text : str
        The document.
    what : str
        What an error calls it.

    Returns
    -------
    list of Element
        The outermost first.

    Raises
    ------
    SeqpaError
        If it is no XML, or has a document type.

    Examples
    --------
    >>> [(one.name, one.parent) for one in read_elements("<a><b x='1'/></a>", "this")]
    [('a', -1), ('b', 0)]
    >>> read_elements("<!DOCTYPE a [<!ENTITY e 'ha'>]><a>&e;</a>", "this")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: this: has a document type, which is not taken
    """
    return _Reader(what).read(text)


class _Reader:
    def __init__(self, what: str) -> None:
        self._what = what
        self._found: list[Element] = []
        self._open: list[int] = []
        # Text is given as UTF-8, whatever a declaration in it says of the file it once was.
        self._parser = expat.ParserCreate("utf-8", _SEPARATOR)
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.EntityDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def read(self, text: str) -> list[Element]:
        try:
            self._data = text.encode("utf-8")
            self._parser.Parse(self._data, True)
        except UnicodeEncodeError:
            raise SeqpaError(f"{self._what}: has half characters, so it is no XML") from None
        except expat.ExpatError as error:
            told = expat.ErrorString(error.code)
            raise SeqpaError(f"{self._what}: is no XML (line {error.lineno}: {told})") from None
        finally:
            # The handlers belong to this object: without them neither waits for the other.
            self._parser.StartElementHandler = None
            self._parser.EndElementHandler = None
            self._parser.StartDoctypeDeclHandler = None
            self._parser.EntityDeclHandler = None
        return self._found

    def _doctype(self, *_: Any) -> NoReturn:
        raise SeqpaError(f"{self._what}: has a document type, which is not taken")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= _DEEPEST or len(self._found) >= _MOST_ELEMENTS:
            raise SeqpaError(f"{self._what}: has more elements, or deeper ones, than can be taken")
        space, _, own = name.rpartition(_SEPARATOR)
        parent = self._open[-1] if self._open else -1
        self._open.append(len(self._found))
        at = self._parser.CurrentByteIndex
        self._found.append(Element(space, own, attributes, parent, at, at, at))

    def _end(self, _: str) -> None:
        number = self._open.pop()
        element = self._found[number]
        tail = self._parser.CurrentByteIndex
        end = _end_of_tag(self._data, element.start)
        if self._data[end - 2 : end] == b"/>":
            tail = element.start  # one tag is both
        else:
            end = _end_of_tag(self._data, tail)
        self._found[number] = element._replace(end=end, tail=tail)


def _end_of_tag(data: bytes, at: int) -> int:
    """Where the tag that begins here ends, known to be a right one: at a ">" in no value."""
    while True:
        close = data.index(b">", at)
        quotes = [(data.find(sign, at, close), sign) for sign in (b'"', b"'")]
        opened = [one for one in quotes if one[0] >= 0]
        if not opened:
            return close + 1
        first, sign = min(opened)
        at = data.index(sign, first + 1) + 1
