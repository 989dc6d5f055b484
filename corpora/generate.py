"""Grow a tagged corpus of any size from a grammar and a lexicon of invented words.

Every sentence is derived from GRAMMAR, every name from NAMES; open slots are filled from a
lexicon that is built from syllables. Three knobs matter: how many words could be read in
several ways (--ambiguity), how much of the annotation is wrong (--noise), and how many labels
there are (--labels). The same options give the same bytes on every machine.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

Token = tuple[str, str, str]  # word, part of speech, label
Sentence = list[Token]

# One rule a line, alternatives are equally likely. `word/TAG` stands for itself, a capitalised
# symbol is an open slot filled from the lexicon, <type> is a name out of NAMES.
GRAMMAR = """
sentence  = clause ./. | clause ./. | clause ./. | clause ,/, but/CC clause ./. | quotation ./.
sentence  = where ,/, clause ./. | clause and/CC clause ./. | asks ?/. | RB ,/, clause ./.
quotation = ``/`` clause ,/, ''/'' said/VBD <person>
quotation = <person> told/VBD <company> that/IN clause
asks      = will/MD one VB thing | can/MD many VB thing | why/WRB did/VBD one VB thing
clause    = one does | one does | many do
one       = the/DT NN | a/DT JJ NN | the/DT NN NN | the/DT NN of/IN thing | <person> 's/POS NN
one       = <person> | <company> | <government> | <team> | it/PRP | <person> ,/, a/DT NN ,/,
many      = the/DT NNS | JJ NNS | some/DT NNS | CD NNS | NNS | they/PRP | NNS in/IN area
thing     = the/DT NN | a/DT JJ NN | NNS | JJ NNS | the/DT JJ JJ NN | CD NNS | the/DT NN where
thing     = <work> | <event> | <company> | <team> | <person> and/CC <person>
does      = VBZ thing | VBZ thing where | has/VBZ VBN thing | is/VBZ VBG thing | was/VBD VBN past
does      = both | both | RB VBZ thing | VBZ to/TO VB thing
do        = have/VBP VBN thing | are/VBP VBG thing | were/VBD VBN past | both | both
both      = VBD thing | VBD thing where | VBD RB | will/MD VB thing | may/MD not/RB VB thing
both      = VBD where | RB VBD thing | VBD JJ | could/MD be/VB JJ
past      = by/IN one | where | in/IN CD | RB
where     = in/IN area | near/IN area | at/IN <institution> | on/IN <site> | after/IN <event>
where     = with/IN thing | from/IN area to/TO area | on/IN <river>
area      = <city> | <country> | <region> | <city> ,/, <country>
"""
NAMES = {
    "person": ["* *", "* *", "*"],
    "company": ["*", "* Group", "* Inc.", "* and *"],
    "government": ["Ministry of *", "* Council", "Bank of *"],
    "institution": ["University of *", "* College", "* Hospital"],
    "team": ["*", "* United", "* Rovers"],
    "city": ["*", "*", "New *"],
    "country": ["*", "*", "Republic of *"],
    "region": ["*", "Mount *", "Lake *", "* Islands"],
    "river": ["*", "River *", "* River"],
    "site": ["* Street", "* Station", "* Park"],
    "event": ["* Cup", "* Festival", "Storm *"],
    "work": ["The * *", "* CD"],
}
NAME_WORDS = {"of": "IN", "and": "CC", "The": "DT", "Islands": "NNPS", "Rovers": "NNPS"}

# What words of one reading end in, so that an unseen word can be guessed from its ending.
ENDINGS = {
    "NN": ["ment", "ness", "or"],
    "NNS": ["ments", "ors"],
    "VB": ["ify", "ise"],
    "VBZ": ["ifies", "ises"],
    "VBD": ["ified", "ised"],
    "VBN": ["own", "ept"],
    "VBG": ["ifying", "ising"],
    "JJ": ["ous", "ful", "ish"],
    "RB": ["ously", "fully"],
    "person": ["son", "ez", "ova"],
    "company": ["tex", "corp"],
    "government": ["ance", "ety"],
    "institution": ["ridge", "mere"],
    "team": ["gate", "wick"],
    "city": ["ton", "burg"],
    "country": ["land", "stan"],
    "region": ["shire", "moor"],
    "river": ["ack", "eep"],
    "site": ["croft", "hurst"],
    "event": ["fest", "iad"],
    "work": ["light", "song"],
}
# The readings that a form of several readings may have, with its ending. The first forms are,
# with a capital, names of every type too.
SHARED = [
    (["NN", "VB", "JJ"], ""),
    (["NNS", "VBZ"], "s"),
    (["VBD", "VBN", "JJ"], "ed"),
    (["VBG", "NN"], "ing"),
    (["RB", "JJ"], "ly"),
]
OPEN_TAGS = ["NN", "NNS", "NNP", "VB", "VBZ", "VBD", "VBN", "VBG", "JJ", "RB"]
CONSONANTS: list[str] = [*"bcdfgklmnprstvz", "br", "dr", "gl", "kr", "pl", "st", "tr"]
VOWELS: list[str] = [*"aeiou", "ai", "ea", "ou"]
LONGEST = 60  # tokens; a longer sentence is derived anew
MOST_WORDS, MOST_LABELS = 1_000_000, 100_000  # beyond, the syllables would run out


def read_grammar() -> dict[str, list[list[str]]]:
    """Give the alternatives of every symbol of GRAMMAR."""
    rules: dict[str, list[list[str]]] = {}
    for line in GRAMMAR.strip().splitlines():
        symbol, _, right = line.partition(" = ")
        rules.setdefault(symbol.strip(), []).extend(a.split() for a in right.split(" | "))
    return rules


def closed_tags() -> list[str]:
    """List the tags of the words that the grammar itself spells out."""
    symbols = {s for alternatives in read_grammar().values() for a in alternatives for s in a}
    tags = {s.rpartition("/")[2] for s in symbols if "/" in s} | {"CD", "NNPS"}
    return sorted(tags - set(OPEN_TAGS))


class Classes:
    """Inflection classes: N labels in all, the open tags sharing what the closed ones leave.

    >>> classes = Classes(len(closed_tags()) + 25)
    >>> classes.label("NN", 7), classes.label("RB", 7), classes.label("DT", 7)
    ('NN.1', 'RB.1', 'DT')
    """

    def __init__(self, labels: int):
        spare = labels - len(closed_tags())
        if spare < len(OPEN_TAGS) or labels > MOST_LABELS:
            least = len(closed_tags()) + len(OPEN_TAGS)
            raise ValueError(f"--labels must lie between {least} and {MOST_LABELS}, not {labels}")
        each, rest = divmod(spare, len(OPEN_TAGS))
        self.count = {tag: each + (i < rest) for i, tag in enumerate(OPEN_TAGS)}

    def all(self) -> list[str]:
        """List the labels, in the order of their tags."""
        tags = closed_tags() + OPEN_TAGS
        return [self.label(t, i) for t in tags for i in range(self.count.get(t, 1))]

    def label(self, tag: str, word: int) -> str:
        """Give the label of the word with this number among its tag's words."""
        count = self.count.get(tag, 1)
        return tag if count == 1 else f"{tag}.{word % count}"


class Lexicon:
    """Forms of one reading and forms of several, never spelled alike."""

    def __init__(self, size: int, classes: Classes | None, rng: random.Random):
        self.rng = rng
        self.taken: set[str] = set()
        most = max(classes.count.values()) if classes else 1
        each = max(size // len(ENDINGS), 4 * most)
        # A class shows in the syllable before the ending: that is what makes it learnable.
        marks = self.marks(most) if classes else [""]
        self.single: dict[str, list[str]] = {}
        for reading, endings in ENDINGS.items():
            count = classes.count.get(tag_of(reading), 1) if classes else 1
            self.single[reading] = [
                self.form(marks[i % count] + endings[i % len(endings)]) for i in range(each)
            ]
        few = max(each // 5, most)
        self.several: dict[str, list[list[str]]] = {reading: [] for reading in ENDINGS}
        for readings, ending in SHARED:
            forms = [self.form(ending) for _ in range(few)]
            for reading in readings:
                self.several[reading].append(forms)
        for kind in NAMES:
            self.several[kind].append(self.several["NN"][0])

    def syllable(self) -> str:
        """Draw a consonant and a vowel."""
        return self.rng.choice(CONSONANTS) + self.rng.choice(VOWELS)

    def marks(self, count: int) -> list[str]:
        """Make different marks of two syllables."""
        marks: dict[str, None] = {}
        while len(marks) < count:
            marks[self.syllable() + self.syllable()] = None
        return list(marks)

    def form(self, ending: str) -> str:
        """Make a form that no other word has."""
        while True:
            word = self.syllable() + self.syllable() + self.rng.choice(CONSONANTS)[0] + ending
            if word not in self.taken:
                self.taken.add(word)
                return word


def tag_of(reading: str) -> str:
    """Give the tag of a reading: a tag stands for itself, a type's names are NNP."""
    return reading if reading in OPEN_TAGS else "NNP"


class Generator:
    """Derives sentences; words and noise come from generators of their own.

    So the same seed gives the same words, whatever the noise.
    """

    def __init__(
        self,
        seed: int = 1,
        ambiguity: float = 0.2,
        noise: float = 0.0,
        labels: int | None = None,
        vocabulary: int = 10_000,
    ):
        self.grammar = read_grammar()
        self.ambiguity, self.noise = ambiguity, noise
        self.classes = Classes(labels) if labels is not None else None
        self.random = random.Random(f"words {seed}").random
        self.mistakes = random.Random(f"noise {seed}")
        lexicon = Lexicon(vocabulary, self.classes, random.Random(f"lexicon {seed}"))
        self.single, self.several = lexicon.single, lexicon.several
        self.tags = sorted({*closed_tags(), *OPEN_TAGS})
        self.labels = self.classes.all() if self.classes else list(NAMES)

    def sentences(self, count: int) -> Iterator[Sentence]:
        """Yield `count` sentences."""
        for _ in range(count):
            sentence: Sentence = []
            while not 0 < len(sentence) <= LONGEST:
                sentence = []
                self.derive("sentence", sentence)
            at = 1 if sentence[0][0] == "``" else 0
            word, tag, label = sentence[at]
            sentence[at] = (word[0].upper() + word[1:], tag, label)
            yield self.disturb(sentence) if self.noise else sentence

    def derive(self, symbol: str, out: Sentence) -> None:
        """Append what a symbol of the grammar stands for."""
        alternatives = self.grammar.get(symbol)
        if alternatives is not None:
            for part in alternatives[int(self.random() * len(alternatives))]:
                self.derive(part, out)
        elif symbol[0] == "<":
            self.name(symbol[1:-1], out)
        elif symbol == "CD":
            number = str(int(self.random() * 10 ** int(1 + 4 * self.random())))
            out.append((number, "CD", self.plain("CD")))
        elif "/" in symbol:
            word, _, tag = symbol.rpartition("/")
            out.append((word, tag, self.plain(tag)))
        else:
            word, at = self.draw(symbol)
            out.append((word, symbol, self.plain(symbol, at)))

    def plain(self, tag: str, word: int = 0) -> str:
        """Give the label of a word outside names."""
        return self.classes.label(tag, word) if self.classes else "O"

    def name(self, kind: str, out: Sentence) -> None:
        """Append a name of a type."""
        patterns = NAMES[kind]
        prefix = "B-"
        for part in patterns[int(self.random() * len(patterns))].split():
            number = 0
            if part == "*":
                word, number = self.draw(kind)
                word, tag = word.capitalize(), "NNP"
            elif part == "CD":
                word, tag = str(int(1 + 9 * self.random())), "CD"
            else:
                word, tag = part, NAME_WORDS.get(part, "NNP")
            label = self.classes.label(tag, number) if self.classes else prefix + kind
            out.append((word, tag, label))
            prefix = "I-"

    def draw(self, reading: str) -> tuple[str, int]:
        """Draw a form for a reading, low numbers more often, as in real text."""
        forms = self.single[reading]
        if self.random() < self.ambiguity:
            pools = self.several[reading]
            forms = pools[int(self.random() * len(pools))]
        uniform = self.random()
        number = int(len(forms) * uniform * uniform * uniform)
        return forms[number], number

    def disturb(self, sentence: Sentence) -> Sentence:
        """Replace tags, and labels or whole names' types, by others; IOB2 stays legal."""
        mistakes, noise = self.mistakes, self.noise
        noisy: Sentence = []
        swapped = ""
        for word, tag, label in sentence:
            if mistakes.random() < noise:
                tag = another(tag, self.tags, mistakes)
            if self.classes:
                if mistakes.random() < noise:
                    label = another(label, self.labels, mistakes)
            elif label[0] == "B":
                swapped = label[2:]
                if mistakes.random() < noise:
                    swapped = another(swapped, self.labels, mistakes)
                label = "B-" + swapped
            elif label[0] == "I":
                label = "I-" + swapped
            noisy.append((word, tag, label))
        return noisy


def another(label: str, labels: list[str], rng: random.Random) -> str:
    """Draw a label other than the one given.

    >>> another("b", ["a", "b"], random.Random(3))
    'a'
    """
    at = rng.randrange(len(labels) - 1)
    return labels[at + (at >= labels.index(label))]


def write_conll(sentences: Iterable[Sentence], path: Path | None) -> None:
    """Write tab-separated columns to a file, whole or not at all, or to standard output."""
    text = ("".join("\t".join(token) + "\n" for token in s) + "\n" for s in sentences)
    if path is None:
        sys.stdout.writelines(text)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(text)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def fraction(text: str) -> float:
    """Read a number between 0 and 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 1, not {text}")
    return value


def whole(text: str) -> int:
    """Read a whole number that is not negative."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must not be negative: {text}")
    return value


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description="Grow a corpus with the columns word, pos and label (tab-separated, a blank "
        "line after each sentence) from a grammar and a lexicon of invented words.",
        epilog="The same options give the same corpus. A seed fixes the words whatever the noise, "
        "so a noisy corpus can be compared token by token with a clean one.",
    )
    add = parser.add_argument
    add("--sentences", type=whole, default=10_000, help="how many (default: %(default)s)")
    add("--seed", type=int, default=1, help="of the random generator (default: %(default)s)")
    add(
        "--ambiguity",
        type=fraction,
        default=0.2,
        help="share of the nouns, verbs, adjectives, adverbs and name words that are drawn from "
        "forms with several tags or entity types (default: %(default)s)",
    )
    add(
        "--noise",
        type=fraction,
        default=0.0,
        help="chance that a tag is replaced by another, and so an entity's type, or with "
        "--labels a label (default: %(default)s)",
    )
    add(
        "--labels",
        type=whole,
        help="put this many fine-grained tags (NN.0, NN.1, ...) instead of entities into the "
        "label column, each open tag's words falling into classes that their endings show",
    )
    add("--vocabulary", type=whole, default=10_000, help="word forms (default: %(default)s)")
    add("-o", "--output", type=Path, help="file to write (default: standard output)")
    options = parser.parse_args(arguments)
    if options.vocabulary > MOST_WORDS:
        parser.error(f"--vocabulary must be at most {MOST_WORDS}, not {options.vocabulary}")
    try:
        generator = Generator(
            options.seed, options.ambiguity, options.noise, options.labels, options.vocabulary
        )
        write_conll(generator.sentences(options.sentences), options.output)
    except ValueError as error:
        parser.error(str(error))
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        parser.error(f"{options.output}: {error.strerror}")


if __name__ == "__main__":
    main()
