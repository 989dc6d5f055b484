"""Plain text: sentences and words found by NLTK, or text that is already split.

``nltk`` finds sentences with Punkt and words with NLTK's word tokenizer (which writes opening and
closing double quotes as two grave accents and two apostrophes, as the Penn Treebank does).
``whitespace`` takes one sentence a line, its words between spaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seqpa.data.corpus import Corpus, Extras
from seqpa.data.source import Block, after_last_blank_line, after_last_line
from seqpa.errors import SeqpaError, did_you_mean

TOKENIZERS = ("nltk", "whitespace")
_SPACES = re.compile(r"[ \t]+")
_CLOSED_LINE = re.compile(r"[.!?…][\"'”’»)\]]*[ \t]*\n")


@dataclass(frozen=True, slots=True)
class TextLayout:
    """A block with a sentence on each line, and its blank lines."""

    block: Block
    sentence_at: list[int]
    lengths: list[int]
    words: list[str]
    format: str = "text"

    def line_of(self, token: int) -> int:
        """The source's line of a token, counted from 1."""
        sentence = int(np.searchsorted(np.cumsum(self.lengths), token, side="right"))
        return self.block.first_line + self.sentence_at[sentence]

    def render(self, labels: Sequence[str], extras: Extras) -> str:
        """``word_label`` for each word, line by line."""
        words = _inline(self.words, labels, extras)
        lines = self.block.lines
        start = 0
        for index, length in zip(self.sentence_at, self.lengths, strict=True):
            lines[index] = " ".join(words[start : start + length])
            start += length
        newline = self.block.newline
        return newline.join(lines) + newline


class TextReader:
    """Reads the blocks of one text.

    Parameters
    ----------
    tokenizer : str
        ``nltk`` or ``whitespace``.
    language : str
        Of NLTK's sentence model.
    keep_layout : bool
        Whether the corpora keep what a tagged copy needs (whitespace only).

    Examples
    --------
    >>> from seqpa.data.source import Block
    >>> TextReader("whitespace").parse(Block("a.txt", 1, "Stay here .\\n\\nGo !\\n"), {}).X
    [['Stay', 'here', '.'], ['Go', '!']]
    """

    def __init__(
        self, tokenizer: str = "nltk", language: str = "english", keep_layout: bool = False
    ) -> None:
        if tokenizer not in TOKENIZERS:
            hint = did_you_mean(tokenizer, TOKENIZERS, listed=False)
            known = ", ".join(TOKENIZERS)
            raise SeqpaError(f"tokenizer: {tokenizer!r} is none of {known}{hint}")
        self._tokenizer = tokenizer
        self._language = language
        self._keep_layout = keep_layout
        self.cut = after_last_line if tokenizer == "whitespace" else _after_last_sentence

    def parse(self, block: Block, pool: dict[str, str]) -> Corpus:
        """The sentences of a block; equal strings become one object through ``pool``."""
        if self._tokenizer == "nltk":
            sentences = _nltk_sentences(block.text, self._language, block.source)
            return _corpus(sentences, pool)
        lines = [_SPACES.split(line.strip(" \t")) for line in block.lines]
        sentence_at = [i for i, words in enumerate(lines) if words != [""]]
        corpus = _corpus([lines[i] for i in sentence_at], pool)
        if self._keep_layout:
            lengths = corpus.lengths.tolist()
            corpus.layout = TextLayout(block, sentence_at, lengths, corpus.columns[0])
        return corpus


def render_inline(corpus: Corpus, labels: Sequence[str], extras: Extras) -> str:
    """A sentence on each line, each word as ``word_label``.

    Parameters
    ----------
    corpus : Corpus
        The sentences.
    labels : sequence of str
        A label for each token.
    extras : mapping
        Further values for each token, by name.

    Returns
    -------
    str

    Examples
    --------
    >>> render_inline(Corpus.from_sentences([["Go", "!"]]), ["VB", "."], {})
    'Go_VB !_.\\n'
    """
    words = _inline(corpus.columns[0], labels, extras)
    return "".join(" ".join(sentence) + "\n" for sentence in corpus.split(words))


def _inline(words: Sequence[str], labels: Sequence[str], extras: Extras) -> list[str]:
    return ["_".join(parts) for parts in zip(words, labels, *extras.values(), strict=True)]


def _corpus(sentences: Sequence[Sequence[str]], pool: dict[str, str]) -> Corpus:
    words = [pool.setdefault(word, word) for sentence in sentences for word in sentence]
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    return Corpus(("word",), [words], lengths)


def _after_last_sentence(text: str) -> int:
    """Where text may be cut: after a blank line or else after a line that closes a sentence."""
    end = after_last_blank_line(text)
    return end or max((match.end() for match in _CLOSED_LINE.finditer(text)), default=0)


def _nltk_sentences(text: str, language: str, source: str) -> list[list[str]]:
    from nltk.tokenize import sent_tokenize, word_tokenize

    try:
        found = [
            sentence
            for paragraph in re.split(r"\n[ \t]*\n", text)
            for sentence in sent_tokenize(paragraph, language)
        ]
    except LookupError:
        raise SeqpaError(
            f"{source}: NLTK's sentence model for {language!r} is not installed; run "
            "python -m nltk.downloader punkt_tab, or give one sentence a line with spaces between "
            "its words and say tokenizer: whitespace"
        ) from None
    words = [word_tokenize(sentence, language, preserve_line=True) for sentence in found]
    return [sentence for sentence in words if sentence]
