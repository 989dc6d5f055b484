"""Tokens, features and labels that are subclasses of str: only their characters count."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from seqpa import SequenceTagger
from seqpa.sequence.resources import Lexicon


class Word(str, enum.Enum):
    """Whose str() is another string."""

    DOG = "dog"
    LONG = "a" * 40
    EMPTY = ""


class Lying(str):
    """Whose every method lies about what it is."""

    def __str__(self) -> str:
        return "x"

    def __len__(self) -> int:
        return 1000

    def __hash__(self) -> int:
        return 3

    def __eq__(self, other: object) -> bool:
        return True

    def __getitem__(self, key: Any) -> str:
        return "lie"

    def __format__(self, spec: str) -> str:
        return "lie"

    def lower(self) -> str:
        return "lie"


PLAIN = [["dog", "walked", "Home"], ["a" * 40, "", "ran"]]
LABELS = [["N", "V", "R"], ["N", "X", "V"]]
TEMPLATES = [
    "word[0]",
    "suffix(3)[0]",
    "prefix(2)[0]",
    "lower[0]",
    "shape[0]",
    "word[-1]|suffix(1)[0]",
    'lexicon("places")[0]',
]


def odd(word: str, kind: str) -> str:
    if kind == "enum":
        return {w.value: w for w in Word}.get(word, word)
    return Lying(word)


@pytest.mark.pure
@pytest.mark.parametrize("kind", ["enum", "lying"])
@pytest.mark.parametrize("features", ["templates", "dicts", "lists"])
def test_only_the_characters_count(features: str, kind: str) -> None:
    def made(sentence: list[str]) -> list[Any]:
        if features == "dicts":
            return [{"w": w, "s": {"last": w[-1:]}, "n": [w]} for w in sentence]
        return [[f"w={w}"] for w in sentence] if features == "lists" else sentence

    def disguised(sentence: list[str]) -> list[Any]:
        words = [odd(w, kind) for w in sentence]
        if features == "dicts":
            return [
                {Lying("w"): w, "s": {"last": odd(str.__str__(w)[-1:], kind)}, "n": [w]}
                for w in words
            ]
        if features == "lists":
            return [[odd(f"w={str.__str__(w)}", kind)] for w in words]
        return words

    parameters: dict[str, Any] = {"features": None, "epochs": 3, "random_state": 0}
    if features == "templates":
        parameters |= {"features": TEMPLATES, "resources": {"places": Lexicon(["dog", "ran home"])}}
    plain = SequenceTagger(**parameters).fit([made(s) for s in PLAIN], LABELS)
    strange = SequenceTagger(**parameters).fit(
        [disguised(s) for s in PLAIN], [[odd(y, kind) for y in s] for s in LABELS]
    )
    assert strange.state_features_ == plain.state_features_
    assert strange.classes_ == plain.classes_
    unseen = [["dogs", "ran", "a" * 40], ["", "Home"]]
    asked, answers = [disguised(s) for s in unseen], plain.predict([made(s) for s in unseen])
    assert plain.predict(asked) == answers
    assert strange.predict(asked) == answers
    for one in (plain, strange):
        one.learn_one(asked[0], [odd(y, kind) for y in ("N", "V", "X")])
    assert plain.predict(asked) == strange.predict([made(s) for s in unseen])
