"""The template language: which features of a sentence a tagger looks at.

    word[0]                     the word itself; a missing offset means [0]
    word[-1]|word[0]            a conjunction: the word before and this one, together
    suffix(2)[1]                the last two letters of the next word
    pos[-1]|pos[0]|pos[1]       another column than the first
    suffix(2, pos)  lower(pos)  an attribute of another column: the column is the last argument
    regex("^[0-9.]+$")[0]       does the pattern match somewhere in the word? (\\" is a quote)
    lexicon("cities")[0]        B at the first word of an entry of that list, I inside it
    cluster("brown", 4)[0]      the first 4 steps of the word's path in that cluster tree
    tags[0]                     the labels that the lower-cased word had in training
    besttag[-1]                 the most frequent of them, how pure it is, and how often it came
    elsewhere(lower, -1)        the words left of the same word elsewhere in the document, as a set
    elsewhere(number)           how many others are near; elsewhere(case): how they are written
    bias                        always there
    pair:pos[0]                 looks at the previous label too: one weight per pair of labels

Attributes without arguments: lower, shape (Xxxx), shortshape (Xx), length, and flags isdigit,
isalpha, isalnum, isupper, islower, istitle, hasupper, hasdigit, hashyphen. A flag that is false, or
a prefix(3) of a two-letter word, is absent; with one absent part the whole conjunction is absent.
Outside the sentence every attribute has a value of its own for each distance: one before, two
before, one after.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from seqpa.errors import SeqpaError, did_you_mean
from seqpa.sequence import tag_dictionary
from seqpa.sequence.attributes import CASE_CLASS, KINDS, Kind, kind_of
from seqpa.sequence.elsewhere import ATTRIBUTE, CASE, KEYWORDS
from seqpa.sequence.patterns import Pattern

MAX_OFFSET = 99
MAX_LENGTH = 10_000
# Each template, and each place in a pattern, costs something at each token.
MAX_TEMPLATES = 2000
MAX_PARTS = 10_000
MAX_PATTERN_PLACES = 2000
MAX_COLUMNS = 256
_NAME = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"[+-]?[0-9]+")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_RESERVED = (*KINDS, "pair")


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a column's words.

    Parameters
    ----------
    kind : str or None
        Its name in `seqpa.sequence.attributes.KINDS`; None is the word itself.
    arguments : tuple
        Numbers and strings.
    column : str or None
        None is the first.
    """

    kind: str | None
    arguments: tuple[int | str, ...] = ()
    column: str | None = None

    def __str__(self) -> str:
        if self.kind is None:
            return str(self.column)
        plain = self.is_set
        cells = [_quoted(a) if isinstance(a, str) and not plain else str(a) for a in self.arguments]
        if self.column is not None:
            cells.append(self.column)
        return f"{self.kind}({', '.join(cells)})" if cells else self.kind

    @property
    def is_flag(self) -> bool:
        """Whether "there" is its only value."""
        return self.kind is not None and kind_of(self.kind).flag

    @property
    def is_set(self) -> bool:
        """Whether it may have several values at a token."""
        return self.kind is not None and kind_of(self.kind).in_document

    def looks_at(self, columns: Sequence[str]) -> tuple[int, Attribute | None, int]:
        """Of a set: what is seen of the other tokens, of which attribute, how many tokens further.

        Parameters
        ----------
        columns : sequence of str
            The columns of the data.

        Returns
        -------
        mode : int
            ATTRIBUTE, NUMBER or CASE of `seqpa.sequence.elsewhere`.
        attribute : Attribute or None
        shift : int

        Examples
        --------
        >>> parse("elsewhere(lower, -2)").parts[0].attribute.looks_at(["word"])
        (0, Attribute(kind='lower', arguments=(), column=None), -2)
        """
        name = str(self.arguments[0])
        mode = ATTRIBUTE if len(self.arguments) > 1 else KEYWORDS[name]
        if mode == CASE:
            return mode, Attribute(CASE_CLASS), 0
        if mode != ATTRIBUTE:
            return mode, None, 0
        own = Attribute(None, (), name) if name in columns else Attribute(name)
        return mode, own, int(self.arguments[1])


@dataclass(frozen=True, slots=True)
class Part:
    """An attribute at an offset from the token.

    Parameters
    ----------
    attribute : Attribute
        What is seen.
    offset : int
        Where: -1 is the token before.
    """

    attribute: Attribute
    offset: int = 0

    def __str__(self) -> str:
        return "bias" if self.attribute.kind == "bias" else f"{self.attribute}[{self.offset}]"


@dataclass(frozen=True, slots=True)
class Template:
    """A conjunction of parts.

    Parameters
    ----------
    parts : tuple of Part
        What is seen together.
    pair : bool
        Whether the previous label belongs to it.

    Examples
    --------
    >>> str(parse("pair: suffix( 2,pos)|word [-1]", columns=("word", "pos")))
    'pair:suffix(2, pos)[0]|word[-1]'
    """

    parts: tuple[Part, ...]
    pair: bool = False

    def __str__(self) -> str:
        return ("pair:" if self.pair else "") + "|".join(map(str, self.parts))


def parse(text: str, columns: Sequence[str] = ("word",)) -> Template:
    """Read one template.

    Parameters
    ----------
    text : str
        The template.
    columns : sequence of str
        The columns that it may name, the word first.

    Returns
    -------
    Template

    Examples
    --------
    >>> parse("suffix(x)[0]")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: template 'suffix(x)[0]', character 8: expected a number (length)
    >>> parse("word[0]|sufix(3)")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: template 'word[0]|sufix(3)', character 9: unknown name 'sufix'; did \
you mean 'suffix'?
    """
    if not isinstance(text, str):
        raise SeqpaError(f"a template is a string such as 'word[-1]|word[0]', not {text!r}")
    if len(text) > MAX_LENGTH:
        raise SeqpaError(
            f"template {text[:20]!r}...: {len(text):,} characters, {MAX_LENGTH:,} are the most"
        )
    check_columns(columns)
    return _Parser(text, columns).template()


def parse_all(texts: Iterable[str], columns: Sequence[str] = ("word",)) -> list[Template]:
    """Read a list of templates, none of them twice.

    Parameters
    ----------
    texts : iterable of str
        The templates.
    columns : sequence of str
        The columns that they may name, the word first.

    Returns
    -------
    list of Template

    Examples
    --------
    >>> [str(template) for template in parse_all(["word", "suffix(2)[-1]"])]
    ['word[0]', 'suffix(2)[-1]']
    """
    if isinstance(texts, str):
        raise SeqpaError(f"templates come as a list: [{texts!r}]")
    templates: dict[Template, str] = {}
    for text in texts:
        template = parse(text, columns)
        if template in templates:
            raise SeqpaError(
                f"template {text!r} is given twice (as {templates[template]!r} before)"
            )
        templates[template] = text
    _check_work(list(templates))
    return list(templates)


def _check_work(templates: list[Template]) -> None:
    """Raise an error where all templates together ask for more than anybody means."""
    attributes = {part.attribute for template in templates for part in template.parts}
    patterns = {str(a.arguments[0]) for a in attributes if a.kind == "regex"}
    for number, most, what in (
        (len(templates), MAX_TEMPLATES, "templates"),
        (sum(len(template.parts) for template in templates), MAX_PARTS, "parts of templates"),
        (sum(Pattern(p).n_places for p in patterns), MAX_PATTERN_PLACES, "places in all patterns"),
    ):
        if number > most:
            raise SeqpaError(f"there are {number:,} {what}: {most:,} are the most")


def check_columns(columns: Sequence[str]) -> None:
    """Raise an error unless the names are distinct words that templates do not use themselves.

    Parameters
    ----------
    columns : sequence of str
        The names.

    Examples
    --------
    >>> check_columns(["word", "shape"])
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: column name 'shape' is an attribute's name: choose another
    """
    if isinstance(columns, str) or not columns:
        raise SeqpaError(f"columns are a list of names such as ['word', 'pos'], not {columns!r}")
    if len(columns) > MAX_COLUMNS:
        raise SeqpaError(f"there are {len(columns):,} columns: {MAX_COLUMNS} are the most")
    for column in columns:
        if not isinstance(column, str) or not _NAME.fullmatch(column):
            raise SeqpaError(f"column name {column!r}: expected letters, digits and underscores")
        if column in _RESERVED:
            raise SeqpaError(f"column name {column!r} is an attribute's name: choose another")
    if len(set(columns)) < len(columns):
        raise SeqpaError(f"columns {list(columns)} contain one name twice")


class _Parser:
    """Recursive descent; `at` is the next character."""

    def __init__(self, text: str, columns: Sequence[str]) -> None:
        self.text = text
        self.columns = columns
        self.at = 0

    def fail(self, at: int, message: str) -> SeqpaError:
        return SeqpaError(f"template {self.text!r}, character {at + 1}: {message}")

    def skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def take(self, pattern: re.Pattern[str]) -> str | None:
        """The pattern's text if it stands here, moved past."""
        self.skip_space()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found.group()

    def take_mark(self, mark: str) -> bool:
        self.skip_space()
        there = self.text.startswith(mark, self.at)
        self.at += len(mark) if there else 0
        return there

    def expect(self, mark: str) -> None:
        if not self.take_mark(mark):
            raise self.fail(self.at, f"expected {mark!r}{self.but_found()}")

    def but_found(self) -> str:
        return f", not {self.text[self.at]!r}" if self.at < len(self.text) else ", not the end"

    def template(self) -> Template:
        start = self.at
        pair = self.take(_NAME) == "pair"
        if pair:
            self.expect(":")
        else:
            self.at = start
        begin = self.at
        parts = [self.part()]
        while self.take_mark("|"):
            begin = begin if parts[0].attribute.is_set else self.at
            parts.append(self.part())
            if parts[0].attribute.is_set or parts[-1].attribute.is_set:
                raise self.fail(begin, "elsewhere() stands alone: it has several values at a token")
        self.skip_space()
        if self.at < len(self.text):
            raise self.fail(self.at, f"expected '|' or the end{self.but_found()}")
        return Template(tuple(parts), pair)

    def part(self) -> Part:
        self.skip_space()
        start = self.at
        name = self.take(_NAME)
        if name is None:
            raise self.fail(self.at, f"expected a column or an attribute{self.but_found()}")
        if name in self.columns:
            attribute = Attribute(None, (), name)
        elif name in KINDS:
            attribute = self.attribute(name, KINDS[name])
        else:
            raise self.fail(start, self.unknown(name, [*self.columns, *KINDS]))
        offset = 0
        self.skip_space()
        start = self.at
        if self.take_mark("["):
            offset = self.number("an offset such as -1")
            self.expect("]")
            if name == "bias":
                raise self.fail(start, "the bias has no offset")
            if abs(offset) > MAX_OFFSET:
                raise self.fail(start + 1, f"an offset lies between -{MAX_OFFSET} and {MAX_OFFSET}")
        return Part(attribute, offset)

    def unknown(self, name: str, known: list[str]) -> str:
        return f"unknown name {name!r}{did_you_mean(name, known)}"

    def number(self, meaning: str) -> int:
        self.skip_space()
        text = self.take(_NUMBER)
        if text is None:
            raise self.fail(self.at, f"expected {meaning}")
        if len(text) > 9:
            raise self.fail(self.at - len(text), f"{text} is too large")
        return int(text)

    def attribute(self, name: str, kind: Kind) -> Attribute:
        if kind.in_document:
            return self.elsewhere(name)
        arguments: list[int | str] = []
        column: str | None = None
        end = self.at
        required = [p for p in kind.parameters if not p.optional]
        opened = self.take_mark("(")
        while opened and column is None:
            self.skip_space()
            start = self.at
            wanted = kind.parameters[len(arguments) :][:1]
            may_be_column = len(arguments) >= len(required) and name != "bias"
            found = self.take(_NAME) if may_be_column else None
            if found is not None:
                if found not in self.columns:
                    raise self.fail(start, self.unknown(found, list(self.columns)))
                column = found
            elif not wanted:
                what = "a column's name" if may_be_column else "no argument"
                raise self.fail(self.at, f"expected {what}{self.but_found()}")
            elif wanted[0].type is int:
                arguments.append(self.number(f"a number ({wanted[0].name})"))
                if int(arguments[-1]) < 1:
                    raise self.fail(start, f"the {wanted[0].name} is at least 1")
            else:
                arguments.append(self.string(wanted[0].name))
                if wanted[0].name == "pattern":
                    self.check_pattern(str(arguments[-1]), start)
            if not self.take_mark(","):
                break
        if opened:
            self.expect(")")
        if len(arguments) < len(required):
            example = ", ".join("3" if p.type is int else '"…"' for p in required)
            raise self.fail(end if not opened else self.at - 1, f"expected {name}({example})")
        first = column is None or column == self.columns[0]
        return Attribute(name, tuple(arguments), None if first else column)

    def elsewhere(self, name: str) -> Attribute:
        """What is seen where else the word stands: a column or attribute and an offset, or a
        keyword alone."""
        plain = [k for k, kind in KINDS.items() if kind.make and not kind.parameters]
        known = [*self.columns, *plain, *tag_dictionary.ATTRIBUTES]
        known.remove("bias")
        self.expect("(")
        self.skip_space()
        start = self.at
        found = self.take(_NAME)
        if found is None:
            raise self.fail(start, f"expected elsewhere(lower, -1){self.but_found()}")
        if self.take_mark(","):
            if found not in known:
                raise self.fail(start, self.unknown(found, known))
            self.skip_space()
            at = self.at
            shift = self.number("an offset such as -1")
            if abs(shift) > MAX_OFFSET:
                raise self.fail(at, f"an offset lies between -{MAX_OFFSET} and {MAX_OFFSET}")
            self.expect(")")
            return Attribute(name, (found, shift))
        if found not in KEYWORDS:
            what = "number, case, or an attribute and an offset: elsewhere(lower, -1)"
            raise self.fail(start, f"expected {what}")
        self.expect(")")
        return Attribute(name, (found,))

    def string(self, meaning: str) -> str:
        self.skip_space()
        start = self.at
        text = self.take(_STRING)
        if text is None:
            quoted = self.text.startswith('"', start)
            problem = "this string has no end" if quoted else f'expected a string "…" ({meaning})'
            raise self.fail(start, problem)
        return re.sub(r"\\(.)", _unescaped, text[1:-1], flags=re.DOTALL)

    def check_pattern(self, pattern: str, start: int) -> None:
        try:
            Pattern(pattern)
        except SeqpaError as error:
            raise self.fail(start, f"not a regular expression: {error}") from None


def _unescaped(found: re.Match[str]) -> str:
    # Only the quote is escaped; every other backslash belongs to the regular expression.
    return '"' if found.group(1) == '"' else found.group()


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'
