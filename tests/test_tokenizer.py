"""The built-in tokenizer: nothing is lost, places are exact, time is linear, and hard cases."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa.data.languages import LANGUAGES, language_of
from seqpa.data.sentences import paragraphs, sentence_places, split_sentences, tokenized
from seqpa.data.tokenizer import align, token_places, tokenize
from seqpa.errors import SeqpaError

# Signs that rules look at, and any others.
SIGNS = st.sampled_from([*"aIt.s'’,:;!?-–—&#@$%()[]<>\"“«` \n\t09/_=^D*…。👍é", "n't", "www."])
TEXT = st.lists(st.one_of(SIGNS, st.characters()), max_size=60).map("".join)


@given(TEXT, st.sampled_from(LANGUAGES))
def test_nothing_but_white_space_is_lost(text: str, language: str) -> None:
    places = token_places(text, language)
    assert all(start < end for start, end in places)
    assert all(a[1] <= b[0] for a, b in pairwise(places))
    assert "".join(text[start:end] for start, end in places) == "".join(text.split())
    ends = [0, *(place for pair in places for place in pair), len(text)]
    rebuilt = "".join(text[start:end] for start, end in pairwise(ends))
    assert rebuilt == text
    assert align(text, [text[start:end] for start, end in places]) == places


@given(TEXT, st.sampled_from(LANGUAGES))
def test_sentences_cover_the_text(text: str, language: str) -> None:
    found = sentence_places(text, language)
    assert "".join("".join(text[start:end].split()) for start, end in found) == "".join(
        text.split()
    )
    assert all(a[1] <= b[0] for a, b in pairwise(found))
    tokens = tokenized(text, language)
    assert all(tokens)
    assert len(tokens) == len(found)
    assert all(
        start <= sentence[0][0] and sentence[-1][1] <= end
        for (start, end), sentence in zip(found, tokens, strict=True)
    )
    assert [place for s in tokens for place in s] == sorted(place for s in tokens for place in s)


UNITS = [
    *(
        "a",
        "a.",
        ".",
        "'",
        "a'd",
        "(",
        ")",
        "a@",
        "a@a.",
        "http://",
        "www.a)",
        ":(",
        "x",
        "é.",
        "-",
    ),
    *("!", "…", "1,", "#", "&", "A&", "👍\u200d", ". ", "a. ", "A. ", "\n\n", '."', "“", "n't"),
]


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear(unit: str) -> None:
    """A rule that goes back and forth would not return from so long a text in hours."""
    text = unit * 100_000
    assert sum(end - start for s in tokenized(text) for start, end in s) == len(
        "".join(text.split())
    )


WORDS = {
    "can't won't I'm we'll Ada's": "ca n't wo n't I 'm we 'll Ada 's",
    "workers' rights": "workers ' rights",
    "I cannot; he's gonna": "I can not ; he 's gon na",
    "wouldn't've": "would n't 've",
    "'tis in the '90s": "'t is in the '90s",
    "It cost $3.50, or 1,000,000 yen (5%).": "It cost $ 3.50 , or 1,000,000 yen ( 5 % ) .",
    "US$5 £3 7€ C$2": "US$ 5 £ 3 7 € C$ 2",
    "at 7:30 p.m., see": "at 7:30 p.m. , see",
    "U.S.-made and the U.S.'s": "U.S.-made and the U.S. 's",
    "in the U.S.": "in the U.S.",
    "at Acme Inc.": "at Acme Inc .",
    "Acme Inc. said": "Acme Inc. said",
    "wait...what -- no—yes": "wait ... what -- no — yes",
    "AT&T, R&D and C# and C++": "AT&T , R&D and C# and C++",
    "see http://a.b/c_(d), www.x.org.": "see http://a.b/c_(d) , www.x.org .",
    "(http://a.b/c)": "( http://a.b/c )",
    "mail <x.y+z@mail.co.uk>!": "mail < x.y+z@mail.co.uk > !",
    "nice:) :-( ;) <3 xD ^_^": "nice :) :-( ;) <3 xD ^_^",
    "#tag @user_1 #5 a@b": "#tag @user_1 # 5 a @ b",
    "&amp; &#39;": "&amp; &#39;",
    "O'Neil's well-known d'Artagnan": "O'Neil 's well-known d'Artagnan",
    '"Go," she said.': '" Go , " she said .',
    "``Go'' 's n't": "`` Go '' 's n't",
    "👍🏽👨‍👩‍👧 🇩🇪🇫🇷": "👍🏽 👨‍👩‍👧 🇩🇪 🇫🇷",
    "1. The 2/3 of 10-12 items": "1. The 2/3 of 10-12 items",
    "It is 5. then": "It is 5 . then",
    "about 3 pct. of it": "about 3 pct. of it",
    "It rained. then": "It rained . then",
    ".5 and -3 and a.b.c": ".5 and -3 and a.b.c",
    "62%-owned": "62%-owned",
}


@pytest.mark.parametrize(("text", "tokens"), WORDS.items(), ids=list(WORDS))
def test_words(text: str, tokens: str) -> None:
    assert tokenize(text) == tokens.split(" ")


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("fr", "L'eau qu'il boit aujourd'hui.", "L' eau qu' il boit aujourd'hui ."),
        ("fr", "M. Le Goff n’est", "M. Le Goff n’ est"),
        ("de", "Am 3. Mai z.B. in Köln bzw. Bonn.", "Am 3. Mai z.B. in Köln bzw. Bonn ."),
        ("de", "Geht's um 1990.", "Geht's um 1990 ."),
        ("es", "¿Cuándo llegó la Sra. Ruiz?", "¿ Cuándo llegó la Sra. Ruiz ?"),
        ("any", "can't", "can't"),
    ],
)
def test_words_of_other_languages(language: str, text: str, tokens: str) -> None:
    assert tokenize(text, language) == tokens.split(" ")


SENTENCES = [
    ("en", "Dr. Okri left.| Mr. Low, Jr. stayed."),
    ("en", "J. R. Hill and A.-M. Poe met.| They ate."),
    ("en", "It cost 3.50.| No. 5 is gone.| Is that a no?| No."),
    ("en", "In the U.S. Senate he won.| He lives in the U.S.| He likes it."),
    ("en", 'He said: "Go!"| She went.| "Why?" he asked.| (Nobody knew.)| So it goes.'),
    ("en", "Well... I see.| It ended…| Then nothing."),
    ("en", "Acme Inc. sells, e.g. Tin.| Beta Corp.| The end."),
    ("en", "1. The first.| 2. The second."),
    ("en", "Yahoo! is here.| iPhone sales rose."),
    ("en", "i like it.| you too?| yes!"),
    ("en", "A title\n\n|A sentence over\ntwo lines.| Another."),
    ("en", "See www.a.org.| Or a.b@c.org.| Ok?!| Yes."),
    ("de", "Am 3. Oktober 1990.| Danach kam der 2. Weltkrieg z. B. nicht."),
    ("de", "Prof. Dr. Müller aß Brot, Käse usw.| Das war gut.| Er ging."),
    ("fr", "M. Petit et Mme. Roy sont là.| Ils mangent, etc.| Et alors ?"),
    ("es", "El Sr. Ruiz llegó.| ¿Qué dijo?| La Dra. Vega vive en EE.UU.| Ella no."),
    ("any", "Prof. Low.| 彼は来た。|また行く。"),
]


@pytest.mark.parametrize(("language", "text"), SENTENCES)
def test_sentences(language: str, text: str) -> None:
    expected = [part.strip() for part in text.split("|")]
    if language == "any":
        expected[0:1] = ["Prof.", "Low."]  # an abbreviation of some language, not of all
    assert split_sentences(text.replace("|", ""), language) == expected


def test_paragraphs_and_empty_texts() -> None:
    assert sentence_places("") == sentence_places(" \n\n \t") == []
    assert token_places(" \n") == []
    assert [*paragraphs("a\n \n\n b")] == [(0, 1), (6, 7)]


def test_mistakes() -> None:
    with pytest.raises(SeqpaError, match=r"'germn' is none of english, .*; did you mean 'german'"):
        language_of("germn")
    with pytest.raises(SeqpaError, match=r"'klingon' is none of .*say any for others"):
        tokenize("a", "klingon")
    with pytest.raises(SeqpaError, match="its word 'x' is not what the text goes on with, 'b c'"):
        align("a b c", ["a", "x"])
    with pytest.raises(SeqpaError, match="its word ''"):
        align("a", [""])


# Beside NLTK and the treebanks, on real text

DATA = os.environ.get("SEQPA_DATA")


@pytest.mark.data
@pytest.mark.skipif(DATA is None, reason="SEQPA_DATA is not set")
@pytest.mark.parametrize(("corpus", "least"), [("ptb-sample", 0.998), ("conll2000", 0.998)])
def test_english_news_as_the_treebank_has_it(corpus: str, least: float) -> None:
    """At least as near to the treebank's own tokens as NLTK's word tokenizer is."""
    treebank = pytest.importorskip("nltk.tokenize.treebank")
    destructive = pytest.importorskip("nltk.tokenize.destructive")
    theirs = destructive.NLTKWordTokenizer()
    gold_tokens = our_tokens = their_tokens = ours_right = theirs_right = 0
    for words in _sentences(Path(str(DATA)) / corpus / "test.txt"):
        text = treebank.TreebankWordDetokenizer().detokenize(words)
        try:
            gold = set(align(text, words))
            other = set(align(text, theirs.tokenize(text)))
        except SeqpaError:  # what the detokenizer could not write back
            continue
        found = set(token_places(text))
        gold_tokens += len(gold)
        our_tokens += len(found)
        their_tokens += len(other)
        ours_right += len(found & gold)
        theirs_right += len(other & gold)
    ours = 2 * ours_right / (gold_tokens + our_tokens)
    assert gold_tokens > 10_000
    assert ours > least
    assert ours > 2 * theirs_right / (gold_tokens + their_tokens)


def _sentences(path: Path) -> list[list[str]]:
    plain = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}"}
    rows = [line.split() for line in path.read_text(encoding="utf-8").split("\n")]
    found: list[list[str]] = [[]]
    for row in rows:
        if row:
            found[-1].append(plain.get(row[0], row[0]))
        elif found[-1]:
            found.append([])
    return [words for words in found if words]


@pytest.mark.data
@pytest.mark.skipif(DATA is None, reason="SEQPA_DATA is not set")
def test_german_text_as_its_treebank_has_it() -> None:
    text = (Path(str(DATA)) / "ud-de-gsd" / "test.conllu").read_text(encoding="utf-8")
    sentences = [s.split("\n") for s in text.split("\n\n") if s]
    gold_tokens = found_tokens = right = 0
    raw = []
    for lines in sentences:
        raw.append(next(line[9:] for line in lines if line.startswith("# text = ")))
        words, inside = [], 0
        for cells in (line.split("\t") for line in lines if line[:1].isdigit()):
            if "-" in cells[0]:
                inside = int(cells[0].split("-")[1])
                words.append(cells[1])
            elif "." not in cells[0] and int(cells[0]) > inside:
                words.append(cells[1])
        gold, found = set(align(raw[-1], words)), set(token_places(raw[-1], "german"))
        gold_tokens += len(gold)
        found_tokens += len(found)
        right += len(gold & found)
    assert 2 * right / (gold_tokens + found_tokens) > 0.995
    # Sentences in random order, many of them without an end or a capital: those that have both.
    whole = [text for text in raw if text[-1] in ".!?" and text[0].isupper()]
    found_sentences = set(split_sentences(" ".join(whole), "german"))
    assert len(found_sentences.intersection(whole)) > 0.97 * len(whole)
