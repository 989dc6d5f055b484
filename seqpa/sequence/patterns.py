r"""Regular expressions that take time in proportion to the word, whatever pattern and word are.

Python's own `re` tries one way through a pattern after the other, and for some patterns there are
more ways than anybody can wait for: ``(a+)+$`` takes minutes on thirty letters. A model file brings
its own patterns, so here all ways are followed at once, character by character: a set of places in
the pattern. Sets that were met once are kept with what follows on each character, so that most
characters cost one look into a dict.

Patterns are written and match as those of `re`, with characters, ``.``, ``[...]``, ``\d \w \s`` and
their opposites, ``^ $ \A \Z \b \B``, groups, ``|``, ``* + ? {m,n}`` (lazy ones too: whether
something matches is all that counts), and the flags ``(?i)`` and ``(?s)``. Back-references, looking
ahead or behind, and what depends on the way through a pattern, are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from seqpa.errors import SeqpaError

# Places in one pattern, each of which may be looked at for each character.
MAX_PLACES = 500
_MAX_NESTING = 50
# So many places of sets, and characters behind them, are kept; then all is begun anew.
_MAX_KEPT = 200_000

_Test = Callable[[str], bool]
_END = ""  # read behind the last character
_LAST_BREAK = "\n\n"  # read for a line break that is the last character: "$" holds before it
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "0": "\0"}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_CLASSES: dict[str, _Test] = {
    "d": str.isdecimal,
    "w": _is_word,
    "s": str.isspace,
    "D": lambda c: not c.isdecimal(),
    "W": lambda c: not _is_word(c),
    "S": lambda c: not c.isspace(),
}


@dataclass(slots=True)
class _Set:
    """The characters that stand between brackets."""

    singles: set[str] = field(default_factory=set)
    ranges: list[tuple[str, str]] = field(default_factory=list)
    classes: list[_Test] = field(default_factory=list)
    negated: bool = False
    any_case: bool = False

    def has(self, character: str) -> bool:
        cases = {character, character.lower(), character.upper()} if self.any_case else {character}
        return self.negated != any(
            c in self.singles
            or any(low <= c <= high for low, high in self.ranges)
            or any(test(c) for test in self.classes)
            for c in cases
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in a pattern: what must be there, and where it goes on.

    test    the next character satisfies it; None where none is read
    at      where it stands holds: "^", "$", "Z" (the very end), "b", "B"; "" needs nothing
    next    the places that follow
    """

    test: _Test | None
    at: str
    next: tuple[int, ...]


class _State(dict[str, "_State"]):
    """A set of places that were reached, and for each next character the state behind it."""

    def __init__(self, pattern: Pattern, places: frozenset[int], before: str) -> None:
        super().__init__()
        self.pattern = pattern
        self.places = places
        self.before = before  # "" at the start, else "w" behind a word's character, or "-"

    def __missing__(self, character: str) -> _State:
        return self.pattern.step(self, character)


class Pattern:
    r"""A regular expression, searched for in words.

    Parameters
    ----------
    text : str
        The expression.

    Examples
    --------
    >>> Pattern(r"^[0-9]+(st|nd|th)$").search("24th")
    True
    >>> Pattern("(a+)+$").search("a" * 5000 + "!")
    False
    >>> Pattern(r"(a)\1")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: a reference to a group cannot be matched in linear time
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._places: list[_Place] = []
        parser = _Parser(text, self._places)
        match = parser.place(None, "", ())
        self._match = match
        self._start = parser.whole(match)
        self._states: dict[tuple[frozenset[int], str], _State] = {}
        self._kept = 0
        self._found = _State(self, frozenset(), "found")
        self._first = _State(self, frozenset([self._start]), "")

    @property
    def n_places(self) -> int:
        """What a character costs at the most."""
        return len(self._places)

    def search(self, word: str) -> bool:
        """Whether the pattern matches somewhere in the word."""
        state = self._first
        if word.endswith("\n"):
            for character in word[:-1]:
                state = state[character]
            state = state[_LAST_BREAK]
        else:
            for character in word:
                state = state[character]
        return state[_END] is self._found

    def step(self, state: _State, character: str) -> _State:
        """The state behind a state and a character; remembered there."""
        if state.before == "found":
            return state
        reached, matches = self._closure(state, character)
        if matches:
            state[character] = self._found
            return self._found
        char = "\n" if character == _LAST_BREAK else character
        ahead = {self._start}  # a match may begin anywhere
        if char != _END:
            for place in reached:
                test = place.test
                if test is not None and test(char):
                    ahead.update(place.next)
        key = frozenset(ahead), "w" if char != _END and _is_word(char) else "-"
        after = self._states.get(key)
        if after is None:
            after = self._states[key] = _State(self, *key)
            self._kept += len(ahead)
        state[character] = after
        self._kept += 1
        if self._kept > _MAX_KEPT:
            self._states, self._kept = {}, 0
            self._first.clear()
        return after

    def _closure(self, state: _State, character: str) -> tuple[list[_Place], bool]:
        """The places that read the character, and whether the match is reached before it."""
        todo, seen = list(state.places), set(state.places)
        readers = []
        while todo:
            number = todo.pop()
            if number == self._match:
                return [], True
            place = self._places[number]
            if place.test is not None:
                readers.append(place)
            elif _holds(place.at, state.before, character):
                new = [following for following in place.next if following not in seen]
                seen.update(new)
                todo += new
        return readers, False


def _holds(at: str, before: str, character: str) -> bool:
    """Whether what a place asks of its surroundings is so."""
    if at == "^":
        return before == ""
    if at == "$":
        return character in (_END, _LAST_BREAK)
    if at == "Z":
        return character == _END
    if at in ("b", "B"):
        next_is_word = character not in (_END, _LAST_BREAK) and _is_word(character)
        return ((before == "w") != next_is_word) == (at == "b")
    return True


def too_large() -> SeqpaError:
    """The error for a pattern with too many places."""
    return SeqpaError(f"the pattern has more than {MAX_PLACES} places, repeats written out")


def _count(digits: str) -> int:
    return int(digits) if len(digits) < 10 else 10**9


class _Parser:
    """Recursive descent over a pattern. Places are made from the end to the beginning: each piece
    is a function that makes its places, given the one that follows, and returns its first."""

    def __init__(self, text: str, places: list[_Place]) -> None:
        self.text = text
        self.places = places
        self.at = 0
        self.copied = 0
        self.any_case = False
        self.dot_all = False

    def fail(self, message: str) -> SeqpaError:
        return SeqpaError(f"{message} (at {self.at} of {self.text!r})")

    def place(self, test: _Test | None, at: str, following: tuple[int, ...]) -> int:
        if len(self.places) >= MAX_PLACES:
            raise too_large()
        self.places.append(_Place(test, at, following))
        return len(self.places) - 1

    def whole(self, match: int) -> int:
        piece = self.branches(0)
        if self.at < len(self.text):
            raise self.fail("unbalanced parenthesis")
        return piece(match)

    def peek(self, mark: str) -> bool:
        return self.text.startswith(mark, self.at)

    def take(self, mark: str) -> bool:
        there = self.peek(mark)
        self.at += len(mark) if there else 0
        return there

    def next(self, what: str) -> str:
        if self.at >= len(self.text):
            raise self.fail(f"{what} is missing at the end")
        self.at += 1
        return self.text[self.at - 1]

    def branches(self, depth: int) -> _Piece:
        if depth > _MAX_NESTING:
            raise self.fail("groups are nested too deeply")
        found = [self.sequence(depth)]
        while self.take("|"):
            found.append(self.sequence(depth))
        if len(found) == 1:
            return found[0]
        return lambda after: self.place(None, "", tuple(piece(after) for piece in found))

    def sequence(self, depth: int) -> _Piece:
        pieces: list[_Piece] = []
        while self.at < len(self.text) and not self.peek("|") and not self.peek(")"):
            pieces.append(self.repeated(depth))

        def make(after: int) -> int:
            for piece in reversed(pieces):
                after = piece(after)
            return after

        return make

    def repeated(self, depth: int) -> _Piece:
        piece, can_repeat = self.item(depth)
        repeats = self.repeats()
        if repeats is None:
            return piece
        if not can_repeat:
            raise self.fail("nothing to repeat")
        self.take("?")  # lazy: another order of the same ways
        if self.take("+"):
            raise self.fail("a repeat that gives nothing back cannot be matched in linear time")
        if self.repeats() is not None:
            raise self.fail("multiple repeat")
        least, most = repeats
        return lambda after: self.copies(piece, least, most, after)

    def repeats(self) -> tuple[int, int | None] | None:
        """The repeat that stands here, moved past: at least and at most so often."""
        for mark, found in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(mark):
                return found
        if not self.peek("{"):
            return None
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at + 1 : max(end, 0)].partition(",")
        is_repeat = all(part == "" or (part.isascii() and part.isdigit()) for part in (low, high))
        if end < 0 or not is_repeat or not (low or comma):
            return None  # a brace like any other character
        self.at = end + 1
        least, most = _count(low or "0"), _count(high or low) if high or not comma else None
        if most is not None and most < least:
            raise self.fail("the least repeat is above the most")
        return least, most

    def copies(self, piece: _Piece, least: int, most: int | None, after: int) -> int:
        """The places of a repeat: as many copies of its piece, those above the least optional."""
        if most is None:
            # The loop: a place that goes once more through the piece, or on.
            loop = self.place(None, "", ())
            inner = piece(loop)
            self.places[loop] = _Place(None, "", (inner, after))
            after = loop
        else:
            for _ in range(most - least):  # which ends where there are too many places
                after = self.place(None, "", (piece(after), after))
        for _ in range(least):
            self.copied += 1  # also of pieces without places, one inside the other
            if self.copied > 2 * MAX_PLACES:
                raise too_large()
            after = piece(after)
        return after

    def item(self, depth: int) -> tuple[_Piece, bool]:
        """One character, set, place or group; and whether it may be repeated."""
        character = self.next("something")
        if character == "(":
            return self.group(depth), True
        if character in "*+?":
            self.at -= 1
            raise self.fail("nothing to repeat")
        if character in "^$":
            return self.standing(character), False
        if character == "[":
            return self.reading(self.brackets().has), True
        if character == ".":
            return self.reading((lambda c: True) if self.dot_all else (lambda c: c != "\n")), True
        if character != "\\":
            return self.literal(character), True
        letter = self.next("what is escaped")
        if letter in "AZbB":
            return self.standing({"A": "^"}.get(letter, letter)), False
        if letter in _CLASSES:
            return self.reading(_CLASSES[letter]), True
        return self.literal(self.escaped(letter)), True

    def standing(self, at: str) -> _Piece:
        return lambda after: self.place(None, at, (after,))

    def reading(self, test: _Test) -> _Piece:
        return lambda after: self.place(test, "", (after,))

    def literal(self, character: str) -> _Piece:
        if self.any_case:
            cases = {character, character.lower(), character.upper()}
            return self.reading(_Set(cases, any_case=True).has)
        return self.reading(character.__eq__)

    def escaped(self, letter: str) -> str:
        """The character that a backslash and a letter stand for."""
        if letter in _HEX_DIGITS:
            size = _HEX_DIGITS[letter]
            digits = self.text[self.at : self.at + size]
            self.at += size
            try:
                if len(digits) < size or not digits.isalnum():
                    raise ValueError(digits)
                return chr(int(digits, 16))
            except (ValueError, OverflowError):
                raise self.fail(f"incomplete escape \\{letter}{digits}") from None
        if letter in _ESCAPES and not (
            letter == "0" and self.text[self.at : self.at + 1].isdigit()
        ):
            return _ESCAPES[letter]
        if letter.isascii() and letter.isdigit():
            raise SeqpaError("a reference to a group cannot be matched in linear time")
        if letter.isascii() and letter.isalpha():
            raise self.fail(f"bad escape \\{letter}")
        return letter

    def group(self, depth: int) -> _Piece:
        flags = self.any_case, self.dot_all
        if self.take("?"):
            if self.take("P<"):
                if not self.text[self.at : self.text.find(">", self.at)].isidentifier():
                    raise self.fail("bad name of a group")
                self.at = self.text.find(">", self.at) + 1
            elif not self.take(":"):
                letters = ""
                while self.at < len(self.text) and self.text[self.at] in "is":
                    letters += self.next("a flag")
                if not letters or not (self.peek(":") or self.peek(")")):
                    raise self.fail(
                        "looking ahead or behind, conditions, and flags other than i and s "
                        "are not supported: a pattern must be matched in linear time"
                    )
                if self.take(")"):  # for all that follows
                    if self.at != len(letters) + 3:
                        raise self.fail("flags for the whole pattern stand at its beginning")
                    self.any_case, self.dot_all = "i" in letters, "s" in letters
                    return lambda after: after
                self.at += 1
                self.any_case |= "i" in letters
                self.dot_all |= "s" in letters
        piece = self.branches(depth + 1)
        if not self.take(")"):
            raise self.fail("missing ), unterminated group")
        self.any_case, self.dot_all = flags
        return piece

    def brackets(self) -> _Set:
        found = _Set(any_case=self.any_case, negated=self.take("^"))
        first = True
        while first or not self.peek("]"):
            first = False
            low = self.member(found)
            if not (self.peek("-") and not self.peek("-]")) or low is None:
                if low is not None:
                    found.singles.add(low)
                elif self.peek("-") and not self.peek("-]"):
                    raise self.fail("bad range of characters")
                continue
            self.at += 1
            high = self.member(found)
            if high is None or high < low:
                raise self.fail("bad range of characters")
            found.ranges.append((low, high))
        self.at += 1
        if self.any_case:
            found.singles |= {case for c in found.singles for case in (c.lower(), c.upper())}
        return found

    def member(self, found: _Set) -> str | None:
        """One character between brackets; None where it is a class, which is added."""
        character = self.next("the ] of a set")
        if character != "\\":
            return character
        letter = self.next("what is escaped")
        if letter in _CLASSES:
            found.classes.append(_CLASSES[letter])
            return None
        return "\b" if letter == "b" else self.escaped(letter)


_Piece = Callable[[int], int]
