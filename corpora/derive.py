"""The news corpus in two other dresses, derived from its words and Penn tags by rules.

``ud/`` is CoNLL-U: UPOS and FEATS by a table over Penn tags (and a few words), XPOS the tag itself.
``phrases/`` has base phrases as CoNLL-2000 has them, found by patterns over the tags. Both are
there to try formats and settings on, not as annotation: what the rules get wrong is wrong in them.

    python corpora/derive.py
"""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PARTS = ("train", "dev", "test")
Sentence = list[tuple[str, str]]  # words with their tags

# UPOS and FEATS of each Penn tag. What words decide is in `upos`.
TAGS = {
    "CC": ("CCONJ", "_"),
    "CD": ("NUM", "NumType=Card"),
    "DT": ("DET", "_"),
    "EX": ("PRON", "_"),
    "FW": ("X", "Foreign=Yes"),
    "IN": ("ADP", "_"),
    "JJ": ("ADJ", "Degree=Pos"),
    "JJR": ("ADJ", "Degree=Cmp"),
    "JJS": ("ADJ", "Degree=Sup"),
    "MD": ("AUX", "VerbForm=Fin"),
    "NN": ("NOUN", "Number=Sing"),
    "NNS": ("NOUN", "Number=Plur"),
    "NNP": ("PROPN", "Number=Sing"),
    "NNPS": ("PROPN", "Number=Plur"),
    "PDT": ("DET", "_"),
    "POS": ("PART", "_"),
    "PRP": ("PRON", "PronType=Prs"),
    "PRP$": ("PRON", "Poss=Yes|PronType=Prs"),
    "RB": ("ADV", "_"),
    "RBR": ("ADV", "Degree=Cmp"),
    "RBS": ("ADV", "Degree=Sup"),
    "RP": ("ADP", "_"),
    "TO": ("PART", "_"),
    "UH": ("INTJ", "_"),
    "VB": ("VERB", "VerbForm=Inf"),
    "VBD": ("VERB", "Mood=Ind|Tense=Past|VerbForm=Fin"),
    "VBG": ("VERB", "VerbForm=Ger"),
    "VBN": ("VERB", "Tense=Past|VerbForm=Part"),
    "VBP": ("VERB", "Mood=Ind|Tense=Pres|VerbForm=Fin"),
    "VBZ": ("VERB", "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"),
    "WDT": ("PRON", "PronType=Int,Rel"),
    "WP": ("PRON", "PronType=Int,Rel"),
    "WP$": ("PRON", "Poss=Yes|PronType=Int,Rel"),
    "WRB": ("ADV", "PronType=Int,Rel"),
    "$": ("SYM", "_"),
    "SYM": ("SYM", "_"),
}
BE = {"be", "am", "is", "are", "was", "were", "been", "being", "'m", "'re"}
HAVE, DO = {"have", "has", "had", "having", "'ve"}, {"do", "does", "did"}
CLAUSES = {"that", "because", "although", "though", "if", "whether", "while", "unless"}
BETWEEN = {"RB", "PRP", "NNP", "NN", "NNS", "DT"}  # an auxiliary and its verb

# Base phrases: the patterns are tried in order, over tags with a space behind each.
PHRASES = [
    (
        "NP",
        r"(POS )?((PDT )?(DT |PRP\$ |WP\$ ))?"
        r"((RB )?(JJ[RS]? |VBN |VBG |CD |\$ |NNP?S? |, (?=JJ )))*(NNP?S? |CD )"
        r"|(PDT )?DT (?=VB|MD|IN|RB)|PRP |EX |WP |WDT ",
    ),
    ("VP", r"(MD |TO (?=(RB )?VB ))?(RB )*(VB[DGNPZ]? )(RB (?=VB))*((TO )?VB[GN]? )*"),
    ("PRT", r"RP "),
    ("SBAR", r"that/IN |whether/IN |because/IN |although/IN |if/IN "),
    ("PP", r"(IN |TO )"),
    ("ADJP", r"(RB[RS]? )*JJ[RS]? "),
    ("ADVP", r"(RB[RS]? )+|WRB "),
]
COMPILED = [(kind, re.compile(pattern)) for kind, pattern in PHRASES]
WORD_DECIDES = {"that", "whether", "because", "although", "if"}


def upos(sentence: Sentence, i: int) -> tuple[str, str]:
    """UPOS and FEATS of a word."""
    word, tag = sentence[i]
    low = word.lower()
    coarse, feats = TAGS.get(tag, ("PUNCT", "_"))
    following = next((t for _, t in sentence[i + 1 :] if t not in BETWEEN), "")
    if tag == "IN" and low in CLAUSES:
        coarse = "SCONJ"
    elif tag == "TO" and next((t for _, t in sentence[i + 1 :] if t != "RB"), "") != "VB":
        coarse = "ADP"
    elif tag == "RB" and low in {"not", "n't"}:
        coarse, feats = "PART", "Polarity=Neg"
    elif word == "%":
        coarse, feats = "SYM", "_"
    elif tag.startswith("VB") and (
        low in BE or (low in HAVE and following == "VBN") or (low in DO and following == "VB")
    ):
        coarse = "AUX"
    return coarse, feats


def conllu(sentences: list[tuple[list[str], Sentence]]) -> str:
    """CoNLL-U of sentences, each behind its comments."""
    lines = []
    for comments, sentence in sentences:
        lines += comments
        for i, (word, tag) in enumerate(sentence):
            coarse, feats = upos(sentence, i)
            lines.append("\t".join([str(i + 1), word, "_", coarse, tag, feats, *"____"]))
        lines.append("")
    return "\n".join(lines) + "\n"


def phrases(sentence: Sentence) -> list[str]:
    """The chunk label of each word."""
    names = [
        f"{word.lower()}/IN" if tag == "IN" and word.lower() in WORD_DECIDES else tag
        for word, tag in sentence
    ]
    labels: list[str] = []
    while len(labels) < len(names):
        rest = "".join(f"{name} " for name in names[len(labels) :])
        length, kind = 1, ""
        for found, pattern in COMPILED:
            match = pattern.match(rest)
            if match:
                length, kind = match[0].count(" "), found
                break
        labels += [f"B-{kind}"] + [f"I-{kind}"] * (length - 1) if kind else ["O"]
    return labels


def chunked(sentences: list[tuple[list[str], Sentence]]) -> str:
    """Columns of words, tags and chunk labels, each sentence behind its comments."""
    lines = []
    for comments, sentence in sentences:
        lines += comments
        lines += [f"{w}\t{t}\t{c}" for (w, t), c in zip(sentence, phrases(sentence), strict=True)]
        lines.append("")
    return "\n".join(lines) + "\n"


def read_news(part: str) -> list[tuple[list[str], Sentence]]:
    """The sentences of a part, each with the comments before it."""
    found = []
    for block in (HERE / "news" / f"{part}.conll").read_text(encoding="utf-8").split("\n\n"):
        lines = block.strip("\n").split("\n")
        comments = [line for line in lines if line.startswith("# ")]
        rows = [line.split("\t") for line in lines if "\t" in line]
        if rows:
            found.append((comments, [(row[0], row[1]) for row in rows]))
    return found


def derived() -> dict[Path, str]:
    """What each derived file holds."""
    found = {}
    for part in PARTS:
        sentences = read_news(part)
        found[HERE / "ud" / f"{part}.conllu"] = conllu(sentences)
        found[HERE / "phrases" / f"{part}.conll"] = chunked(sentences)
    return found


if __name__ == "__main__":
    for path, text in derived().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path}: {text.count(chr(10)):,} lines")
