"""A document of UIMA's, as XMI: its text and annotations, and suggestions written into it.

Of the document nothing is changed but what is added: elements before its end, and their numbers in
the list of the view. Places in such documents are counted in units of UTF-16, here in characters.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from seqpa.errors import SeqpaError
from seqpa.teach.plain_xml import Element, read_elements

SENTENCE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence"
TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
PREDICTED = "inception_internal_predicted"  # what tells suggestions from annotations
SCORE = "_score"  # behind the name of the feature
_CAS = "http:///uima/cas.ecore"
_XMI = "http://www.omg.org/XMI"
_VIEW = "_InitialView"
_WHAT = "the document's xmi"
_TYPE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_FEATURE = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"[0-9]{1,9}")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_TAG = re.compile(rb"<[^\s/>]+")
_MEMBERS = re.compile(rb"\smembers\s*=\s*[\"']")


class Mark(NamedTuple):
    """A piece of a text and its label.

    Parameters
    ----------
    start, end : int
        In characters.
    label : str
        What it is.
    score : float
        How sure that is.

    Examples
    --------
    >>> Mark(0, 3, "PER").score
    1.0
    """

    start: int
    end: int
    label: str
    score: float = 1.0


class Cas:
    """A document.

    Parameters
    ----------
    xmi : str
        As INCEpTION sends it.

    Examples
    --------
    >>> cas = Cas('<x:XMI xmlns:x="http://www.omg.org/XMI" xmlns:c="http:///uima/cas.ecore" '
    ...     'xmlns:n="http:///my.ecore"><n:Name x:id="2" sofa="1" begin="0" end="3" value="PER"/>'
    ...     '<c:Sofa x:id="1" sofaID="_InitialView" sofaString="Ada left"/>'
    ...     '<c:View sofa="1" members="2"/></x:XMI>')
    >>> cas.text, cas.marks("my.Name", "value")
    ('Ada left', [Mark(start=0, end=3, label='PER', score=1.0)])
    >>> "Ada" in cas.suggesting("my.Name", "value", [Mark(0, 3, "LOC", 0.5)])
    True
    """

    def __init__(self, xmi: str) -> None:
        elements = read_elements(xmi, _WHAT)
        self._data = xmi.encode("utf-8")
        self._root = elements[0]
        if (self._root.space, self._root.name) != (_XMI, "XMI"):
            raise SeqpaError(f"{_WHAT}: its outermost element is no xmi:XMI")
        self._inner = [element for element in elements if element.parent == 0]
        sofas = [one for one in self._named(_CAS, "Sofa") if "sofaString" in one.attributes]
        first = [one for one in sofas if one.attributes.get("sofaID") == _VIEW] or sofas
        if not first:
            raise SeqpaError(f"{_WHAT}: has no text (no cas:Sofa with a sofaString)")
        self._sofa = first[0].attributes.get(f"{_XMI} id", "")
        self.text = first[0].attributes["sofaString"]
        # Where each character begins; None where all are one unit long.
        self._units: list[int] | None = None
        if self.text and max(self.text) > "\uffff":
            lengths = (1 + (sign > "\uffff") for sign in self.text)
            self._units = [0, *accumulate(lengths)]

    def _named(self, space: str, name: str) -> list[Element]:
        return [one for one in self._inner if one.space == space and one.name == name]

    # What is in it

    def places(self, type_name: str) -> list[tuple[int, int]]:
        """Where the annotations of a type are.

        Parameters
        ----------
        type_name : str
            As ``package.Name``.

        Returns
        -------
        list of (start, end)
            In characters, from the first to the last.
        """
        return sorted(place for place, _ in self._annotations(type_name))

    def marks(self, type_name: str, feature: str) -> list[Mark]:
        """The annotations of a type whose feature has a value, suggestions left out.

        Parameters
        ----------
        type_name : str
            As ``package.Name``.
        feature : str
            What is the label.

        Returns
        -------
        list of Mark
            From the first to the last.
        """
        return sorted(
            Mark(*place, element.attributes[feature])
            for place, element in self._annotations(type_name)
            if element.attributes.get(feature) and element.attributes.get(PREDICTED) != "true"
        )

    def _annotations(self, type_name: str) -> list[tuple[tuple[int, int], Element]]:
        found = []
        for element in self._named(*_qualified(type_name)):
            own = element.attributes
            if own.get("sofa") != self._sofa:
                continue
            begin, end = own.get("begin", "0"), own.get("end", "0")  # zero need not be written
            if not (_NUMBER.fullmatch(begin) and _NUMBER.fullmatch(end)):
                raise SeqpaError(f"{_WHAT}: begin and end of an annotation must be numbers")
            start, stop = self._character(int(begin)), self._character(int(end))
            if not start <= stop <= len(self.text):
                raise SeqpaError(f"{_WHAT}: an annotation at {begin}-{end} is outside of the text")
            found.append(((start, stop), element))
        return found

    def _character(self, unit: int) -> int:
        """The character at a unit of UTF-16; within one, the next."""
        return unit if self._units is None else bisect_left(self._units, unit)

    def _unit(self, character: int) -> int:
        return character if self._units is None else self._units[character]

    # What is added

    def suggesting(self, type_name: str, feature: str, marks: Iterable[Mark]) -> str:
        """The document with suggestions.

        Parameters
        ----------
        type_name : str
            As ``package.Name``.
        feature : str
            What is the label.
        marks : iterable of Mark
            What is suggested.

        Returns
        -------
        str
            XMI.
        """
        if not _FEATURE.fullmatch(feature):
            raise SeqpaError(f"feature: {feature!r} is no name")
        space, name = _qualified(type_name)
        ids = [one.attributes.get(f"{_XMI} id", "") for one in self._inner]
        number = max((int(i) for i in ids if _NUMBER.fullmatch(i)), default=0)
        lines = []
        numbers = []
        for mark in marks:
            if _NO_XML.search(mark.label):
                continue
            number += 1
            numbers.append(str(number))
            lines.append(
                f"<p:{name} xmlns:p={quoteattr(space)} xmlns:xmi={quoteattr(_XMI)} "
                f'xmi:id="{number}" sofa={quoteattr(self._sofa)} '
                f'begin="{self._unit(mark.start)}" end="{self._unit(mark.end)}" '
                f"{feature}={quoteattr(mark.label)} "
                f'{feature}{SCORE}="{mark.score:.6g}" {PREDICTED}="true"/>'
            )
        edits = [(self._root.tail, self._root.tail, "".join(lines).encode("utf-8"))]
        edits.append(self._listed(" ".join(numbers).encode()))
        data = self._data
        for start, end, new in sorted(edits, reverse=True):
            data = data[:start] + new + data[end:]
        return data.decode("utf-8")

    def _listed(self, numbers: bytes) -> tuple[int, int, bytes]:
        """Where the view lists its members, and what is written there."""
        views = [v for v in self._named(_CAS, "View") if v.attributes.get("sofa") == self._sofa]
        if not views:
            raise SeqpaError(f"{_WHAT}: has no cas:View of its text")
        view = views[0]
        tag = self._data[view.start : view.end]
        listed = _MEMBERS.search(tag)
        if listed is not None:
            at = view.start + listed.end()
            return at, at, numbers + b" " if numbers else b""
        name = _TAG.match(tag)
        assert name is not None
        at = view.start + name.end()
        return at, at, b' members="' + numbers + b'"'


def _qualified(type_name: str) -> tuple[str, str]:
    """The namespace and name that XMI gives a type."""
    if not _TYPE.fullmatch(type_name):
        raise SeqpaError(f"{type_name!r} is no name of a type: give package.Name")
    package, _, name = type_name.rpartition(".")
    return f"http:///{package.replace('.', '/') or 'uima/noNamespace'}.ecore", name
