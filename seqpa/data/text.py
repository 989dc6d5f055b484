"""Plain text: sentences and words found by NLTK, or text that is already split.

``nltk`` finds sentences with Punkt and words with NLTK's word tokenizer (which writes opening and
closing double quotes as two grave accents and two apostrophes, as the Penn Treebank does).
``whitespace`` takes one sentence a line, its words between spaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from seqpa.data.corpus import Corpus, Extras
from seqpa.data.lines import check_lengths
from seqpa.data.source import Block, Limits, after_last_line
from seqpa.errors import SeqpaError, did_you_mean

TOKENIZERS = ("nltk", "whitespace")
_SPACES = re.compile(r"[ \t]+")
_BLANK_LINE = re.compile(r"^[ \t]*\n", re.MULTILINE)
_LONG_PARAGRAPH = 1 << 15
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
    limits : Limits, optional
        How long a sentence may be.

    Examples
    --------
    >>> from seqpa.data.source import Block
    >>> TextReader("whitespace").parse(Block("a.txt", 1, "Stay here .\\n\\nGo !\\n"), {}).X
    [['Stay', 'here', '.'], ['Go', '!']]
    """

    def __init__(
        self,
        tokenizer: str = "nltk",
        language: str = "english",
        keep_layout: bool = False,
        limits: Limits | None = None,
    ) -> None:
        if tokenizer not in TOKENIZERS:
            hint = did_you_mean(tokenizer, TOKENIZERS, listed=False)
            known = ", ".join(TOKENIZERS)
            raise SeqpaError(f"tokenizer: {tokenizer!r} is none of {known}{hint}")
        self._tokenizer = tokenizer
        self._language = language
        self._keep_layout = keep_layout
        self._limits = limits or Limits()
        self.cut = after_last_line if tokenizer == "whitespace" else _Paragraphs()

    def parse(self, block: Block, pool: dict[str, str]) -> Corpus:
        """The sentences of a block; equal strings become one object through ``pool``."""
        if self._tokenizer == "nltk":
            sentences = _nltk_sentences(block.text, self._language, block.source)
            corpus = _corpus(sentences, pool)
            # The words of a sentence are no lines: only where the block begins is known.
            check_lengths(block, corpus.lengths, np.zeros(corpus.n_tokens, int), self._limits)
            return corpus
        lines = [_SPACES.split(line.strip(" \t")) for line in block.lines]
        sentence_at = [i for i, words in enumerate(lines) if words != [""]]
        corpus = _corpus([lines[i] for i in sentence_at], pool)
        check_lengths(block, corpus.lengths, np.repeat(sentence_at, corpus.lengths), self._limits)
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


class _Paragraphs:
    """Where text may be cut: after blank lines.

    A paragraph without an end is cut after a line that closes a sentence. Which line that is
    depends on the paragraph alone, not on when its lines arrive.
    """

    def __init__(self) -> None:
        self._length = 0  # of the paragraph so far

    def __call__(self, lines: str) -> int:
        return max(self.cuts(lines), default=0)

    def cuts(self, lines: str) -> list[int]:
        """Every place where these lines, the next ones, may be cut."""
        found: list[int] = []
        begin = 0
        for blank in _BLANK_LINE.finditer(lines):
            found += self._closed(lines, begin, blank.start())
            begin = blank.end()
            found.append(begin)
            self._length = 0
        return found + self._closed(lines, begin, len(lines))

    def _closed(self, lines: str, begin: int, end: int) -> list[int]:
        """The cuts inside a paragraph, of which these are the next lines."""
        found: list[int] = []
        while begin < end:
            enough = max(begin, begin + _LONG_PARAGRAPH - self._length)
            line = _CLOSED_LINE.search(lines, enough, end)
            if line is None:
                self._length += end - begin
                break
            begin = line.end()
            found.append(begin)
            self._length = 0
        return found


def _nltk_sentences(text: str, language: str, source: str) -> list[list[str]]:
    from nltk.tokenize import sent_tokenize, word_tokenize

    try:
        found = [
            sentence
            for begin, end in pairwise([0, *_Paragraphs().cuts(text), len(text)])
            for sentence in sent_tokenize(text[begin:end], language)
        ]
    except LookupError:
        raise SeqpaError(
            f"{source}: NLTK's sentence model for {language!r} is not installed; run "
            "python -m nltk.downloader punkt_tab, or give one sentence a line with spaces between "
            "its words and say tokenizer: whitespace"
        ) from None
    words = [word_tokenize(sentence, language, preserve_line=True) for sentence in found]
    return [sentence for sentence in words if sentence]
