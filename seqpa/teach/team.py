"""Several people at one project: who they are, what each is at, and how far they agree.

Nobody's work is overwritten: a labelling belongs to its reader, and the labels of another reader
stand beside it. A sentence is lent to one reader at a time, and comes back by itself if nothing is
heard of them; that is only to save double work, so it is kept in memory alone. Some sentences are
read by two, those that chance names once and for all: the agreement of two readers who have not
seen each other's labels tells how clear the task is, and a model cannot be asked to do better.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from seqpa.data.teach_project import label_column
from seqpa.errors import SeqpaError
from seqpa.teach.events import State
from seqpa.teach.keystrokes import same
from seqpa.teach.store import Event, Sentence

SHARE = 0.1
LENT_SECONDS = 300.0
# Whoever opened a sentence that had labels already saw these.
_NOT_ALONE = ("asked", "again")

Annotation = dict[str, Any]


def new_token() -> str:
    """A token that nobody can guess.

    Returns
    -------
    str
        For a link; only its hash is kept.

    Examples
    --------
    >>> len(new_token()), new_token() == new_token()
    (43, False)
    """
    return secrets.token_urlsafe(32)


def hashed(token: str) -> str:
    """What is kept of a token.

    Parameters
    ----------
    token : str
        With 256 random bits, so that a plain hash cannot be turned back.

    Returns
    -------
    str
        Its SHA-256 in hexadecimal digits.

    Examples
    --------
    >>> hashed("a")[:8]
    'ca978112'
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Team:
    """The readers of a project.

    Any thread may call it. Times are those of a clock that only goes forward.

    Parameters
    ----------
    users : mapping of str to str, or iterable of str
        The hash of each user's token, or names alone; empty where everybody who comes may work.
    share : float
        The share of sentences that two are to read.
    seed : int
        Decides which ones.
    lent_seconds : float
        How long a sentence stays lent to somebody of whom nothing is heard.

    Examples
    --------
    >>> team = Team({"ann": hashed("secret"), "bob": hashed("word")}, share=0.5, seed=1)
    >>> team.user_of("word"), team.user_of("guess")
    ('bob', None)
    >>> team.lend(7, "ann", now=0.0), team.lend(7, "bob", now=10.0), team.holder(7, now=10.0)
    (True, False, 'ann')
    >>> team.lend(7, "bob", now=1000.0), team.holder(7, now=1000.0)
    (True, 'bob')
    >>> [number for number in range(8) if team.wants_second(number)]
    [1, 3, 5, 6]
    """

    def __init__(
        self,
        users: Mapping[str, str] | Iterable[str],
        share: float = SHARE,
        seed: int = 0,
        lent_seconds: float = LENT_SECONDS,
    ) -> None:
        if not 0.0 <= share <= 1.0:
            raise SeqpaError(f"the share of second readings is {share}: give a number from 0 to 1")
        self._users = dict(users if isinstance(users, Mapping) else dict.fromkeys(users, ""))
        self.share = share
        self._seed = seed
        self._lent_seconds = lent_seconds
        self._lent: dict[int, tuple[str, float]] = {}
        self._guard = threading.Lock()

    # Who

    @property
    def names(self) -> list[str]:
        """The users, in the order of their names."""
        return sorted(self._users)

    def user_of(self, token: str) -> str | None:
        """Whose token this is.

        Parameters
        ----------
        token : str
            As it came with a request.

        Returns
        -------
        str or None
            None if it is nobody's. All are compared, each in constant time.
        """
        given = hashed(token)
        found = None
        for name, own in self._users.items():
            if hmac.compare_digest(own, given):
                found = name
        return found

    # Who is at what

    def lend(self, sentence: int, user: str, now: float) -> bool:
        """Lend a sentence to a user, or lend it for longer.

        Parameters
        ----------
        sentence : int
            Its number.
        user : str
            Who wants it.
        now : float
            The time.

        Returns
        -------
        bool
            False if another user has it.
        """
        with self._guard:
            if self._holder(sentence, now) not in (None, user):
                return False
            self._lent[sentence] = (user, now + self._lent_seconds)
            return True

    def holder(self, sentence: int, now: float) -> str | None:
        """Who has a sentence.

        Parameters
        ----------
        sentence : int
            Its number.
        now : float
            The time.

        Returns
        -------
        str or None
            None if nobody has.
        """
        with self._guard:
            return self._holder(sentence, now)

    def release(self, sentence: int, user: str) -> None:
        """Take a sentence back from a user; from nobody else.

        Parameters
        ----------
        sentence : int
            Its number.
        user : str
            Who gives it back.
        """
        with self._guard:
            if sentence in self._lent and self._lent[sentence][0] == user:
                del self._lent[sentence]

    def lent_to_others(self, user: str, now: float) -> set[int]:
        """The sentences that others are at.

        Parameters
        ----------
        user : str
            Who is not meant.
        now : float
            The time.

        Returns
        -------
        set of int
            Their numbers.
        """
        with self._guard:
            for sentence in list(self._lent):
                self._holder(sentence, now)
            return {sentence for sentence, (holder, _) in self._lent.items() if holder != user}

    def _holder(self, sentence: int, now: float) -> str | None:
        holder, until = self._lent.get(sentence, (None, 0.0))
        if holder is not None and now >= until:
            del self._lent[sentence]
            return None
        return holder

    # Second readings

    def wants_second(self, sentence: int) -> bool:
        """Whether two are to read a sentence.

        Parameters
        ----------
        sentence : int
            Its number.

        Returns
        -------
        bool
            The same at any time, whoever asks, and whatever other sentences there are.
        """
        digest = hashlib.sha256(f"{self._seed} {sentence}".encode()).digest()
        return int.from_bytes(digest[:8], "big") < self.share * 2.0**64

    def to_second(self, state: State, user: str, now: float) -> list[int]:
        """The sentences that wait for this user as their second reader.

        Parameters
        ----------
        state : State
            What was done.
        user : str
            Who may read them.
        now : float
            The time.

        Returns
        -------
        list of int
            Those that one other has labelled and nobody else is at, the first labelled first.
        """
        busy = self.lent_to_others(user, now)
        waiting = [
            number
            for number, readers in state.labellings.items()
            if len(readers) == 1
            and user not in readers
            and number not in busy
            and user not in state.skipped.get(number, ())
            and self.wants_second(number)
        ]
        return sorted(waiting, key=lambda n: min(e.id for e in state.labellings[n].values()))

    # Agreement

    def agreement(self, state: State, sentences: Sequence[Sentence], kind: str) -> dict[str, Any]:
        """How far readers agree who did not see each other's labels.

        Parameters
        ----------
        state : State
            What was done.
        sentences : sequence of Sentence
            Those of the project, by their numbers.
        kind : "spans" or "tokens"
            What is labelled.

        Returns
        -------
        dict
            ``agreement``: ``sentences``; ``f1`` of the spans of one reader against those of the
            other (where tokens are labelled, the share of tokens that agree), None if nobody named
            any; ``kappa``, Cohen's κ over the labels of tokens, None where chance alone would agree
            wholly. It is None if no sentence has two readers. Of more than two readers, all pairs
            count: κ is that of the mean agreement and the mean agreement by chance, over their
            tokens. ``pairs``: for each two readers their ``users``, and the same.
        """
        found = sorted(_pairs(state, sentences, kind).items())
        read = {number for _, pair in found for number in pair.numbers}
        whole = {"sentences": len(read), **_measured([pair for _, pair in found])}
        return {
            "agreement": whole if found else None,
            "pairs": [
                {"users": list(users), "sentences": len(pair.numbers), **_measured([pair])}
                for users, pair in found
            ],
        }

    def differences(self, state: State, sentences: Sequence[Sentence]) -> list[dict[str, Any]]:
        """The sentences whose readers differ.

        Parameters
        ----------
        state : State
            What was done.
        sentences : sequence of Sentence
            Those of the project, by their numbers.

        Returns
        -------
        list of dict
            ``sentence``, ``text``, ``tokens``, ``offsets``, ``readings`` (user and annotation) and
            ``settled``: whether it was decided since. What is not settled comes first.
        """
        if all(len(readers) < 2 for readers in state.labellings.values()):
            return []
        decided: dict[int, int] = {}
        for event in state.valid:
            if event.kind == "settle" and event.sentence is not None:
                decided[event.sentence] = event.id
        found = []
        for number, readers in readings(state).items():
            sentence = sentences[number]
            given = [event.annotation or {} for event in readers.values()]
            if all(same(given[0], one, len(sentence.tokens)) for one in given[1:]):
                continue
            found.append(
                {
                    "sentence": number,
                    "text": sentence.text,
                    "tokens": sentence.tokens,
                    "offsets": sentence.offsets,
                    "readings": [
                        {"user": user, "annotation": event.annotation}
                        for user, event in sorted(readers.items())
                    ],
                    "settled": decided.get(number, 0) > max(e.id for e in readers.values()),
                }
            )
        return sorted(found, key=lambda one: (one["settled"], one["sentence"]))


def readings(state: State) -> dict[int, dict[str, Event]]:
    """What each reader says of a sentence, if they came to it without seeing others' labels.

    Parameters
    ----------
    state : State
        What was done.

    Returns
    -------
    dict of int to dict of str to Event
        By sentence and reader, the event that has the labels as they are called now. What was
        settled is left out: that is a decision, not a reading.
    """
    found: dict[int, dict[str, Event]] = {}
    saw: set[tuple[int, str]] = set()
    for event in state.valid:
        if event.sentence is None or event.annotation is None:
            continue
        root = event if event.base is None else state.roots.get(event.base, event)
        if root.kind != "accept":
            continue
        number, reader = event.sentence, root.user
        own = found.setdefault(number, {})
        others = any(user != reader for user in own)
        if reader not in own and others and root.body.get("why") in _NOT_ALONE:
            saw.add((number, reader))
        if (number, reader) not in saw:
            own[reader] = event
    return found


class _Pair(NamedTuple):
    """What two readers said of the same sentences: tokens, and spans that are shared and named."""

    numbers: list[int]
    tokens: list[tuple[str, str]]
    shared: list[int]
    named: list[int]


def _pairs(state: State, sentences: Sequence[Sentence], kind: str) -> dict[tuple[str, str], _Pair]:
    found: dict[tuple[str, str], _Pair] = {}
    for number, readers in readings(state).items():
        n = len(sentences[number].tokens)
        for one, two in combinations(sorted(readers), 2):
            pair = found.setdefault((one, two), _Pair([], [], [], []))
            first, second = readers[one].annotation, readers[two].annotation
            assert first is not None
            assert second is not None
            pair.numbers.append(number)
            own = list(_token_pairs(first, second, kind, n))
            pair.tokens.extend(own)
            if kind == "tokens":
                pair.shared.append(sum(a == b for a, b in own))
                pair.named.append(2 * len(own))
            else:
                spans = [{tuple(span) for span in given["spans"]} for given in (first, second)]
                pair.shared.append(len(spans[0] & spans[1]))
                pair.named.append(len(spans[0]) + len(spans[1]))
    return found


def _token_pairs(
    first: Annotation, second: Annotation, kind: str, n: int
) -> Iterator[tuple[str, str]]:
    columns = (label_column(n, kind, first) or [], label_column(n, kind, second) or [])
    for a, b in zip(*columns, strict=True):
        if a is not None and b is not None:
            yield a, b


def _measured(pairs: Sequence[_Pair]) -> dict[str, Any]:
    named = sum(sum(pair.named) for pair in pairs)
    shared = sum(sum(pair.shared) for pair in pairs)
    tokens = sum(len(pair.tokens) for pair in pairs)
    same = by_chance = 0.0
    for pair in pairs:
        n = len(pair.tokens)
        one, two = Counter(a for a, _ in pair.tokens), Counter(b for _, b in pair.tokens)
        same += sum(a == b for a, b in pair.tokens)
        by_chance += sum(one[label] * two[label] for label in one) / n if n else 0.0
    # (Po - Pe) / (1 - Pe), both times the tokens; Pe is 1 where both use one label only.
    known = tokens - by_chance > 1e-9 * tokens
    return {
        "f1": 2 * shared / named if named else None,
        "kappa": (same - by_chance) / (tokens - by_chance) if tokens and known else None,
    }
