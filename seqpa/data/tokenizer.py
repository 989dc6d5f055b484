"""Words of plain text by rules, in the Penn Treebank's style, with their places in the text.

No character is changed and none but white space is lost: a token is a piece ``text[start:end]``.
Punctuation, brackets, quotes and signs of currency stand alone; English contractions are two
tokens (``do n't``, ``Ada 's``), as are French elisions (``l' eau``). Numbers, abbreviations, URLs,
e-mail addresses, emoticons, hashtags and emoji stay whole. The period of an abbreviation is part
of it; any other is a token.

Text is cut at white space first, and every rule looks at one such piece, most of them at its next
few characters: time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from seqpa.data.languages import Language, language_of
from seqpa.errors import SeqpaError

Place: TypeAlias = tuple[int, int]

CLOSERS = "\"'”’»›)]}>」』）】"
_APOSTROPHES = "'’ʼ"
_ALONE = ';!?()[]{}<>"“”„‟«»‹›‘‚`—―…¿¡$£€¥₹₽₩¢₺₴₪%‰、。，！？；：（）「」『』【】《》〈〉'
_EMOJI = "\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_DRESS = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff]*"
# What a word is made of, besides the marks that only some neighbours make part of it.
_LETTER = rf"[^\s{re.escape(_ALONE)}{_EMOJI}{_APOSTROPHES},:.&\#@–-]"

_PIECE = re.compile(
    rf"""
      \.\.+ | --+ | —+                                        # ellipses and dashes
    | & (?: [A-Za-z]{{2,8}} | \#\d{{1,6}} ) ;                   # a character of HTML
    | `` | ''                                                 # quotes as the treebank has them
    | [:;]['^]?-?[()]+ (?!\w)                                 # :) ;-( after a word, too
    | (?<![\w)]) (?: >?[:;=]['^]?-?[][DPpOo/\\|*3@] | <3+ | [xX]D+ | \^[_.]?\^ | -_+- | [oO]_[oO] )
      (?!\w)
    | [\U0001f1e6-\U0001f1ff]{{2}}                            # a flag
    | [{_EMOJI}]{_DRESS} (?: \u200d [{_EMOJI}]{_DRESS} )*     # an emoji, however composed
    | (?: US | HK | NZ | AU | [ACMS] ) \$                     # currencies of dollars
    | (?<!\w) [\#@] (?=[^\W\d]) \w+                           # a hashtag, somebody's name
    | (?<!\w) [{_APOSTROPHES}] (?i: t(?=is\b|was\b))          # 'tis
    | (?<!\w) [{_APOSTROPHES}] (?i: \d\ds? | s | m | d | ll | re | ve | t | em | n | til | cause )
      (?!\w)                                                  # detached, or shortened in front
    | (?: {_LETTER} | -(?!-) | (?<![\w.])\.(?=\d) )
      (?: {_LETTER}+
        | -(?!-)
        | [,:] (?<=\d[,:]) (?=\d)                             # 1,000 and 7:30
        | –    (?<=\d–)    (?=\d)
        | \.   (?= {_LETTER} | -\w | [{_APOSTROPHES}]s\b )    # e.g, U.S.-made, U.S.'s
        | [{_APOSTROPHES}] (?<=\w[{_APOSTROPHES}]) (?=\w)
        | [{_APOSTROPHES}] (?<=\.[{_APOSTROPHES}]) (?=s\b)
        | &    (?<=[A-Z]&) (?=[A-Z])                          # AT&T
        | %    (?<=\d%)    (?=-\w)                            # 62%-owned
        | \#   (?<=[A-Za-z]\#) (?!\w)                         # C#
      )*
      (?: \.(?!\.) )?                                         # whose period it is comes later
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_SPACED = re.compile(r"\S+")
_URL = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]{1,15}://|www\.(?=\w))[^\s<>\"“”«»]+")
_AFTER_URL = ".,;:!?'’…*_"
_EMAIL = re.compile(r"[\w.+%-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?!\w)")
_SHORTENED = re.compile(r"(?:[^\W\d_]{1,4}\.)+-?[^\W\d_]{1,4}$")  # U.S, z.B, J.-C
_VOWELS = frozenset("aeiouyäöüàâáéèêëíîïóôúùûœæ")
_CONTRACTED = re.compile(rf"(?i)(?:n[{_APOSTROPHES}]t|[{_APOSTROPHES}](?:s|m|d|ll|re|ve))$")
# Where two words are written as one: the length of the first.
_PAIRS = {"cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "lemme": 3, "gimme": 3}
_TREEBANK = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]"}


def tokenize(text: str, language: str = "english") -> list[str]:
    """The tokens of one sentence.

    Parameters
    ----------
    text : str
        A sentence.
    language : str
        See `seqpa.data.languages.LANGUAGES`.

    Returns
    -------
    list of str

    Examples
    --------
    >>> tokenize("Dr. Okri didn't pay $3.50 (see www.okri.org).")
    ['Dr.', 'Okri', 'did', "n't", 'pay', '$', '3.50', '(', 'see', 'www.okri.org', ')', '.']
    """
    return [text[start:end] for start, end in token_places(text, language)]


def token_places(
    text: str, language: str = "english", start: int = 0, end: int | None = None
) -> list[Place]:
    """Where the tokens of one sentence are.

    Parameters
    ----------
    text : str
        Any text.
    language : str
        See `seqpa.data.languages.LANGUAGES`.
    start, end : int
        Where in the text the sentence is; all of it if not given.

    Returns
    -------
    list of (start, end)
        In order; between them there is white space at most.

    Examples
    --------
    >>> token_places("Go, Ada!")
    [(0, 2), (2, 3), (4, 7), (7, 8)]
    """
    known = language_of(language)
    end = len(text) if end is None else end
    last = end
    while last > start and (text[last - 1].isspace() or text[last - 1] in CLOSERS):
        last -= 1
    places: list[Place] = []
    for match in _SPACED.finditer(text, start, end):
        piece = match.group()
        at = match.start()
        if piece.isalpha() and not (known.contractions and piece.lower() in _PAIRS):
            places.append((at, match.end()))
            continue
        for a, b, whole in _pieces(piece):
            if whole:
                places.append((at + a, at + b))
            else:
                follows = text[at + b : at + b + 1]
                places += _parts(text, at + a, at + b, known, at + b == last, at == start, follows)
    return places


def align(text: str, words: Sequence[str], start: int = 0) -> list[Place]:
    """Where words that somebody else cut out of a text are.

    Parameters
    ----------
    text : str
        The text.
    words : sequence of str
        Its words in order; quotes and brackets may be written as the Penn Treebank writes them.
    start : int
        Where to begin.

    Returns
    -------
    list of (start, end)

    Examples
    --------
    >>> align('Say "no"', ["Say", "``", "no", "''"])
    [(0, 3), (4, 5), (5, 7), (7, 8)]
    """
    places = []
    for word in words:
        while start < len(text) and text[start].isspace():
            start += 1
        forms = (word, _TREEBANK.get(word, word))
        form = next((form for form in forms if form and text.startswith(form, start)), "")
        if not form:
            near = " ".join(text[start : start + 30].split())
            raise SeqpaError(
                f"tokenizer: its word {word!r} is not what the text goes on with, {near!r}; "
                "words must be pieces of the text, in order"
            )
        places.append((start, start + len(form)))
        start += len(form)
    return places


def _pieces(piece: str) -> Iterator[tuple[int, int, bool]]:
    """Cut what stands between spaces; True for what stays whole whatever it looks like."""
    at = 0
    for start, end in _wholes(piece):
        yield from ((a, b, False) for a, b in _cut(piece, at, start))
        yield start, end, True
        at = end
    yield from ((a, b, False) for a, b in _cut(piece, at, len(piece)))


def _cut(piece: str, start: int, end: int) -> Iterator[Place]:
    return (match.span() for match in _PIECE.finditer(piece, start, end))


def _wholes(piece: str) -> list[Place]:
    """URLs and e-mail addresses."""
    found: list[Place] = []
    if "://" in piece or "www." in piece:
        for match in _URL.finditer(piece):
            found.append((match.start(), _end_of_url(piece, *match.span())))
    if "@" in piece:
        for match in _EMAIL.finditer(piece):
            if not any(a < match.end() and match.start() < b for a, b in found):
                found.append(match.span())
    return sorted(found)


def _end_of_url(piece: str, start: int, end: int) -> int:
    """Leave out punctuation that belongs to the sentence, and brackets opened before the URL."""
    depth = {")": 0, "]": 0, "}": 0}
    for opener, closer in ("()", "[]", "{}"):
        depth[closer] = piece.count(closer, start, end) - piece.count(opener, start, end)
    while end > start:
        sign = piece[end - 1]
        if depth.get(sign, 0) > 0:
            depth[sign] -= 1
        elif sign not in _AFTER_URL:
            break
        end -= 1
    return end


def _parts(
    text: str, start: int, end: int, known: Language, is_last: bool, is_first: bool, follows: str
) -> list[Place]:
    """Cut a word's own parts: its period, contractions, elisions."""
    if end - start == 1:
        return [(start, end)]
    tail: list[Place] = []
    if text[end - 1] == "." and text[start] != ".":
        word = text[start : end - 1]
        if not _keeps_period(word, known, is_last, is_first, follows):
            tail = [(end - 1, end)]
            end -= 1
    head: list[Place] = []
    word = text[start:end]
    if known.elisions:
        for sign in _APOSTROPHES:
            first, found, rest = word.partition(sign)
            if found and rest and first.lower() in known.elisions:
                head = [(start, start + len(first) + 1)]
                start, word = head[0][1], rest
                break
    if known.contractions:
        if word.lower() in _PAIRS:
            middle = start + _PAIRS[word.lower()]
            return [*head, (start, middle), (middle, end), *tail]
        while match := _CONTRACTED.search(text, max(start + 1, end - 3), end):
            tail.append((match.start(), end))
            end = match.start()
    return [*head, (start, end), *reversed(tail)]


def _keeps_period(word: str, known: Language, is_last: bool, is_first: bool, follows: str) -> bool:
    low = word.lower()
    if _SHORTENED.match(word):
        return True
    if is_last:  # the treebank's way: the sentence's period is a token
        return False
    if low in known.titles or low in known.abbreviations:
        return True
    if follows and follows in CLOSERS:
        return False
    if len(word) == 1 and word.isalpha():
        return True
    if word.isdigit():
        return known.ordinals or is_first
    if low in known.marks or follows == ",":
        return True
    # A word without a vowel is short for another: pct., hrs.
    return word.isalpha() and len(word) <= 5 and not _VOWELS.intersection(low)
