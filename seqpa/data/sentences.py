"""Sentences of plain text by rules: where ``.``, ``!``, ``?`` and ``…`` end one.

A blank line ends a sentence; a single line end is a space. A period ends none after a title or an
initial, inside a number, or before a word in lower case; after another abbreviation it does where
a word follows that often opens sentences. Text without any capital letter is read as if its words
had them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from seqpa.data.languages import Language, language_of
from seqpa.data.tokenizer import CLOSERS, Place, token_places

_BLANK_LINES = re.compile(r"\n[ \t\r\f\v]*(?:\n[ \t\r\f\v]*)+")
_CLOSING = re.escape(CLOSERS)
# An end, what closes with it, and white space; full-width signs need none.
_END = re.compile(
    rf"(?:(?<![.!?…])(?P<mark>[.!?…]+)[{_CLOSING}]*(?=\s)|(?P<wide>[。！？]+[{_CLOSING}]*))\s*"
)
_WORD_BEFORE = re.compile(r"[^\s(\[{\"“„«‘']+$")
_WORD_AFTER = re.compile(r"[(\[{\"“„«‘'¿¡*_–—-]*\s*([^\W\d_]+(?:['’][^\W\d_]+)?|\d|\S)?")
_LOOK = 48  # characters on either side that are looked at
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*-?[^\W\d_]$")


def split_sentences(text: str, language: str = "english") -> list[str]:
    """The sentences of a text.

    Parameters
    ----------
    text : str
        Any text.
    language : str
        See `seqpa.data.languages.LANGUAGES`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> split_sentences("Mr. Low paid 3.50 p.c. more. Why? J. R. Hill left.")
    ['Mr. Low paid 3.50 p.c. more.', 'Why?', 'J. R. Hill left.']
    """
    return [text[start:end] for start, end in sentence_places(text, language)]


def sentence_places(text: str, language: str = "english") -> list[Place]:
    """Where the sentences of a text are.

    Parameters
    ----------
    text : str
        Any text.
    language : str
        See `seqpa.data.languages.LANGUAGES`.

    Returns
    -------
    list of (start, end)
        In order, without the white space around them.

    Examples
    --------
    >>> sentence_places(" It rains. \\n\\n Stay in")
    [(1, 10), (14, 21)]
    """
    known = language_of(language)
    return [
        place for start, end in paragraphs(text) for place in _sentences(text, start, end, known)
    ]


def tokenized(text: str, language: str = "english") -> list[list[Place]]:
    """Where the tokens of each sentence of a text are.

    Parameters
    ----------
    text : str
        Any text.
    language : str
        See `seqpa.data.languages.LANGUAGES`.

    Returns
    -------
    list of lists of (start, end)
        No sentence is empty.

    Examples
    --------
    >>> tokenized("Go! Now")
    [[(0, 2), (2, 3)], [(4, 7)]]
    """
    return [token_places(text, language, *place) for place in sentence_places(text, language)]


def paragraphs(text: str) -> Iterator[Place]:
    """Where the paragraphs of a text are: what stands between blank lines.

    Parameters
    ----------
    text : str
        Any text.

    Yields
    ------
    start, end : int

    Examples
    --------
    >>> list(paragraphs("a\\nb\\n \\nc"))
    [(0, 3), (6, 7)]
    """
    start = 0
    for match in _BLANK_LINES.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _sentences(text: str, start: int, end: int, known: Language) -> Iterator[Place]:
    paragraph = text[start:end]
    no_capitals = paragraph == paragraph.lower()
    begin = start
    for match in _END.finditer(text, start, end):
        if match.start() < begin or match.end() >= end:
            continue
        if match["wide"] or _ends(text, begin, match, end, known, no_capitals):
            yield from _trimmed(text, begin, match.end())
            begin = match.end()
    yield from _trimmed(text, begin, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Place]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


def _ends(
    text: str, begin: int, match: re.Match[str], end: int, known: Language, no_capitals: bool
) -> bool:
    """Whether a sentence ends where a mark stands that could end one."""
    after = _WORD_AFTER.match(text, match.end(), min(end, match.end() + _LOOK))
    following = after[1] if after and after[1] else ""
    if following[:1].islower() and not no_capitals and following.islower():
        return False
    mark = match["mark"]
    opens = following.lower() in known.openers
    if mark != ".":
        # "Well... I think": the one capital letter that says nothing.
        return not (mark[-1] in ".…" and following == "I")
    before = _WORD_BEFORE.search(text, max(begin, match.start() - _LOOK), match.start())
    word = before.group().lower() if before else ""
    if word in known.titles:
        return False
    if word in known.marks and following.isdigit():
        return False
    if word in known.abbreviations or _INITIALS.match(word):
        return opens
    if word.isdigit():
        if before is not None and before.start() == begin:  # "1. The first": a number of a list
            return False
        return not (known.ordinals and len(word) <= 2) or opens
    return True
