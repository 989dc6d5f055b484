"""python-crfsuite at its best: tokens as lists of strings, read from the file as a stream.

The feature functions say in strings what the templates beside them say to seqpa: a flag is there
where it is true, a suffix where the word is long enough, and one token outside the sentence has
the values `<-1>` or `<+1>` (two outside: `<-2>`, `<+2>`). `sequence.py` checks that both sides
count the same features. Only the standard library and pycrfsuite are imported here, so that the
peak memory is theirs alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from time import process_time as clock  # what else the machine does is not counted
from typing import Any

Token = tuple[str, ...]
Features = list[list[str]]

CHUNKING = [
    "bias",
    *[f"word[{offset}]" for offset in range(-2, 3)],
    "word[-1]|word[0]",
    "word[0]|word[1]",
    *[f"pos[{offset}]" for offset in range(-2, 3)],
    *[f"pos[{offset}]|pos[{offset + 1}]" for offset in range(-2, 2)],
    *[f"pos[{offset}]|pos[{offset + 1}]|pos[{offset + 2}]" for offset in range(-2, 1)],
]
NEIGHBOUR = ("lower", "istitle", "isupper", "pos", "prefix(2, pos)")
TUTORIAL = [
    "bias",
    "lower[0]",
    "suffix(3)[0]",
    "suffix(2)[0]",
    "isupper[0]",
    "istitle[0]",
    "isdigit[0]",
    "pos[0]",
    "prefix(2, pos)[0]",
    *[f"{attribute}[{offset}]" for offset in (-1, 1) for attribute in NEIGHBOUR],
]
WORDS = [
    "bias",
    *[f"word[{offset}]" for offset in range(-2, 3)],
    "word[-1]|word[0]",
    "word[0]|word[1]",
    *[f"prefix({n})[0]" for n in range(1, 5)],
    *[f"suffix({n})[0]" for n in range(1, 5)],
    "hasupper[0]",
    "hasdigit[0]",
    "hashyphen[0]",
]
NAMES = [
    "bias",
    *[f"word[{offset}]" for offset in range(-1, 2)],
    *[f"lower[{offset}]" for offset in range(-1, 2)],
    "prefix(3)[0]",
    "suffix(2)[0]",
    "suffix(3)[0]",
    *[f"{flag}[{offset}]" for flag in ("istitle", "isupper") for offset in range(-1, 2)],
    "isdigit[0]",
]


def chunking(sentence: list[Token]) -> Features:
    """The 19 features of CRFsuite's own tutorial, which chunks this very corpus, and a bias."""
    w = ["<-2>", "<-1>", *[word for word, _ in sentence], "<+1>", "<+2>"]
    p = ["<-2>", "<-1>", *[pos for _, pos in sentence], "<+1>", "<+2>"]
    return [
        [
            "bias",
            f"w-2={w[i - 2]}",
            f"w-1={w[i - 1]}",
            f"w={w[i]}",
            f"w+1={w[i + 1]}",
            f"w+2={w[i + 2]}",
            f"w-1|w={w[i - 1]}|{w[i]}",
            f"w|w+1={w[i]}|{w[i + 1]}",
            f"p-2={p[i - 2]}",
            f"p-1={p[i - 1]}",
            f"p={p[i]}",
            f"p+1={p[i + 1]}",
            f"p+2={p[i + 2]}",
            f"p-2|p-1={p[i - 2]}|{p[i - 1]}",
            f"p-1|p={p[i - 1]}|{p[i]}",
            f"p|p+1={p[i]}|{p[i + 1]}",
            f"p+1|p+2={p[i + 1]}|{p[i + 2]}",
            f"p-2|p-1|p={p[i - 2]}|{p[i - 1]}|{p[i]}",
            f"p-1|p|p+1={p[i - 1]}|{p[i]}|{p[i + 1]}",
            f"p|p+1|p+2={p[i]}|{p[i + 1]}|{p[i + 2]}",
        ]
        for i in range(2, len(sentence) + 2)
    ]


# The same as templates, name and (column, offset) of each part: how CRFsuite's tutorial says them.
CHUNKING_PARTS: list[tuple[str, tuple[tuple[int, int], ...]]] = [
    *[(f"w{d:+d}" if d else "w", ((0, d),)) for d in range(-2, 3)],
    ("w-1|w", ((0, -1), (0, 0))),
    ("w|w+1", ((0, 0), (0, 1))),
    *[
        ("|".join(f"p{d:+d}" if d else "p" for d in places), tuple((1, d) for d in places))
        for size in (1, 2, 3)
        for places in (range(first, first + size) for first in range(-2, 4 - size))
    ],
]


def chunking_by_templates(sentence: list[Token]) -> Features:
    """`chunking` by a loop over templates, as CRFsuite's tutorial has it."""
    features = []
    for i in range(len(sentence)):
        now = ["bias"]
        for name, parts in CHUNKING_PARTS:
            values = []
            for column, offset in parts:
                place = i + offset
                if place < 0:
                    values.append(f"<{place}>")
                elif place >= len(sentence):
                    values.append(f"<+{place - len(sentence) + 1}>")
                else:
                    values.append(sentence[place][column])
            now.append(f"{name}={'|'.join(values)}")
        features.append(now)
    return features


def tutorial(sentence: list[Token]) -> Features:
    """The features of sklearn-crfsuite's tutorial: the word, its part of speech, its neighbours."""
    around = []
    for word, pos in sentence:
        seen = [f"lower={word.lower()}", f"pos={pos}"]
        if len(pos) >= 2:
            seen.append(f"pos[:2]={pos[:2]}")
        if word.istitle():
            seen.append("istitle")
        if word.isupper():
            seen.append("isupper")
        around.append(seen)
    edge = ("lower", "istitle", "isupper", "pos", "pos[:2]")
    before = [f"-1:{name}=<-1>" for name in edge]
    after = [f"+1:{name}=<+1>" for name in edge]
    features = []
    last = len(sentence) - 1
    for i, (word, _) in enumerate(sentence):
        now = ["bias", *around[i]]
        if len(word) >= 2:
            now.append(f"word[-2:]={word[-2:]}")
        if len(word) >= 3:
            now.append(f"word[-3:]={word[-3:]}")
        if word.isdigit():
            now.append("isdigit")
        now += [f"-1:{feature}" for feature in around[i - 1]] if i else before
        now += [f"+1:{feature}" for feature in around[i + 1]] if i < last else after
        features.append(now)
    return features


def words(sentence: list[Token]) -> Features:
    """A part-of-speech tagger's features: words around, pairs of words, affixes, flags."""
    row = ["<-2>", "<-1>", *[token[0] for token in sentence], "<+1>", "<+2>"]
    features = []
    for i, (word,) in enumerate(sentence):
        before, after = row[i + 1], row[i + 3]
        now = [
            "bias",
            f"w-2={row[i]}",
            f"w-1={before}",
            f"w={word}",
            f"w+1={after}",
            f"w+2={row[i + 4]}",
            f"w-1|w={before}|{word}",
            f"w|w+1={word}|{after}",
        ]
        for n in range(1, min(len(word), 4) + 1):
            now += [f"p{n}={word[:n]}", f"s{n}={word[-n:]}"]
        if any(map(str.isupper, word)):
            now.append("hasupper")
        if any(map(str.isdecimal, word)):
            now.append("hasdigit")
        if "-" in word:
            now.append("hyphen")
        features.append(now)
    return features


def names(sentence: list[Token]) -> Features:
    """A name finder's features: words and their capitals around, affixes."""
    around = []
    for (word,) in sentence:
        seen = [f"word={word}", f"lower={word.lower()}"]
        if word.istitle():
            seen.append("istitle")
        if word.isupper():
            seen.append("isupper")
        around.append(seen)
    edge = ("word", "lower", "istitle", "isupper")
    before = [f"-1:{name}=<-1>" for name in edge]
    after = [f"+1:{name}=<+1>" for name in edge]
    features = []
    last = len(sentence) - 1
    for i, (word,) in enumerate(sentence):
        now = ["bias", *around[i]]
        if len(word) >= 2:
            now.append(f"word[-2:]={word[-2:]}")
        if len(word) >= 3:
            now += [f"word[:3]={word[:3]}", f"word[-3:]={word[-3:]}"]
        if word.isdigit():
            now.append("isdigit")
        now += [f"-1:{feature}" for feature in around[i - 1]] if i else before
        now += [f"+1:{feature}" for feature in around[i + 1]] if i < last else after
        features.append(now)
    return features


# Each feature function with the templates that say the same.
FEATURES: dict[str, tuple[list[str], Callable[[list[Token]], Features]]] = {
    "chunking": (CHUNKING, chunking),
    "tutorial": (TUTORIAL, tutorial),
    "words": (WORDS, words),
    "names": (NAMES, names),
}
# What makes the same strings in the way of a tutorial, where that is another.
AS_TAUGHT = {"chunking": chunking_by_templates}


def sentences(path: Path) -> Iterator[tuple[list[Token], list[str]]]:
    """Tokens and labels, sentence by sentence, of tab-separated columns or of CoNLL-U."""
    tokens: list[Token] = []
    labels: list[str] = []
    conllu = path.suffix == ".conllu"
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line == "\n":
                if tokens:
                    yield tokens, labels
                    tokens, labels = [], []
            elif not conllu:
                *cells, label = line.rstrip("\n").split("\t")
                tokens.append(tuple(cells))
                labels.append(label)
            elif line[0] != "#":
                cells = line.split("\t")
                if cells[0].isdigit():
                    tokens.append((cells[1],))
                    labels.append(cells[3] if cells[5] == "_" else f"{cells[3]}|{cells[5]}")
    if tokens:
        yield tokens, labels


def train(
    path: Path,
    features: str,
    algorithm: str,
    parameters: dict[str, Any],
    model: Path,
    share: int = 1,
    hold: bool = False,
) -> dict[str, Any]:
    """Train on every share-th sentence of a file; CPU seconds of each part.

    hold : make the features of all sentences before the first is handed over, as the tutorials do
        and sklearn-crfsuite needs it; otherwise none outlives its sentence in Python.
    """
    import pycrfsuite

    reports: list[float] = []

    class Trainer(pycrfsuite.Trainer):
        def message(self, message: str) -> None:
            if message.startswith("Seconds required for this iteration"):
                reports.append(clock())
            elif message.startswith("Number of features"):
                self.begun = clock()

    extract = FEATURES[features][1]
    begun = clock()
    trainer = Trainer(algorithm, parameters)
    chosen = islice(sentences(path), 0, None, share)
    examples = ((extract(tokens), labels) for tokens, labels in chosen)
    for example in list(examples) if hold else examples:
        trainer.append(*example)
    appended = clock()
    trainer.train(str(model))
    ended = clock()
    iterations = [b - a for a, b in zip([trainer.begun, *reports], reports, strict=False)]
    return {"features": appended - begun, "train": ended - appended, "epochs": iterations}


def tag(
    model: Path, features: str, X: list[list[Token]], as_taught: bool = False
) -> list[list[str]]:
    """The labels of sentences that are in memory."""
    import pycrfsuite

    extract = AS_TAUGHT[features] if as_taught else FEATURES[features][1]
    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    return [tagger.tag(extract(tokens)) for tokens in X]


def tag_file(model: Path, features: str, path: Path) -> list[list[str]]:
    """The labels of the sentences in a file."""
    return tag(model, features, [tokens for tokens, _ in sentences(path)])


def features_of(
    path: Path, features: str, dicts: bool, share: int = 1
) -> tuple[list[list[Any]], list[list[str]]]:
    """The features of every share-th sentence, lists of strings or dicts, and its labels."""
    extract = FEATURES[features][1]
    X, y = [], []
    for tokens, labels in islice(sentences(path), 0, None, share):
        made: list[Any] = extract(tokens)
        X.append([_as_dict(token) for token in made] if dicts else made)
        y.append(labels)
    return X, y


def _as_dict(token: list[str]) -> dict[str, str | bool]:
    """name=value and flags as sklearn-crfsuite's tutorial has them: names are the program's own."""
    halves = [feature.partition("=") for feature in token]
    return {sys.intern(name): value if equals else True for name, equals, value in halves}


def count_features(path: Path, features: str) -> tuple[int, int]:
    """How many distinct features there are, and how many in all."""
    extract = FEATURES[features][1]
    distinct: set[str] = set()
    total = 0
    for tokens, _ in sentences(path):
        for token in extract(tokens):
            distinct.update(token)
            total += len(token)
    return len(distinct), total
