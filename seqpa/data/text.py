"""Plain text: sentences and words found by a tokenizer, or text that is already split.

``builtin`` finds both by rules (`seqpa.data.sentences`, `seqpa.data.tokenizer`) and needs no
download. ``punkt`` finds sentences with NLTK's Punkt and words with NLTK's word tokenizer, which
writes double quotes as two grave accents and two apostrophes, as the Penn Treebank does.
``whitespace`` takes one sentence a line, its words between spaces. Or a function of one's own: a
paragraph in, a list of words out, or a list of such lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np

from seqpa.data.corpus import Corpus, Extras
from seqpa.data.languages import language_of
from seqpa.data.lines import check_lengths
from seqpa.data.sentences import tokenized
from seqpa.data.source import Block, Limits, after_last_line
from seqpa.data.tokenizer import Place, align
from seqpa.errors import SeqpaError, did_you_mean

TOKENIZERS = ("builtin", "punkt", "whitespace")
Tokenizer: TypeAlias = "str | Callable[[str], Any]"
_WORD = re.compile(r"[^ \t\n]+")
_BLANK_LINE = re.compile(r"^[ \t]*\n", re.MULTILINE)
_LONG_PARAGRAPH = 1 << 15
_CLOSED_LINE = re.compile(r"[.!?…][\"'”’»)\]]*[ \t]*\n")


@dataclass(frozen=True, slots=True)
class TextLayout:
    """A block of text, and where its words are.

    Parameters
    ----------
    block : Block
        The text.
    places : list of (start, end)
        Of each word, in the block's text.
    lengths : list of int
        How many words each sentence has.
    words : list of str
        As the tokenizer gave them.
    by_line : bool
        Whether each sentence is a line of its own, which a tagged copy keeps.
    """

    block: Block
    places: list[Place]
    lengths: list[int]
    words: list[str]
    by_line: bool = False
    format: str = "text"

    def line_of(self, token: int) -> int:
        """The source's line of a token, counted from 1."""
        return self.block.first_line + self.block.text.count("\n", 0, self.places[token][0])

    def text_of(self, sentence: int) -> str:
        """The text in which the places of a sentence's tokens are."""
        return self.block.text

    def render(self, labels: Sequence[str], extras: Extras) -> str:
        """``word_label`` for each word, a sentence a line, blank lines where the text has them."""
        words = _inline(self.words, labels, extras)
        newline = self.block.newline
        rows = []
        start = 0
        for length in self.lengths:
            rows.append(" ".join(words[start : start + length]))
            start += length
        if self.by_line:
            left = iter(rows)
            rows = [next(left) if _WORD.search(line) else line for line in self.block.lines]
        return "".join(row + newline for row in rows)


class TextReader:
    """Reads the blocks of one text.

    Parameters
    ----------
    tokenizer : str or callable
        ``builtin``, ``punkt``, ``whitespace``, or a function: a paragraph in, a list of words
        out, or a list of such lists.
    language : str
        Of the built-in rules or of NLTK's sentence model.
    keep_layout : bool
        Whether the corpora keep the text and where its words are.
    limits : Limits, optional
        How long a sentence may be.

    Examples
    --------
    >>> from seqpa.data.source import Block
    >>> TextReader().parse(Block("a.txt", 1, "Stay here. Dr. Okri\\nleft!\\n"), {}).X
    [['Stay', 'here', '.'], ['Dr.', 'Okri', 'left', '!']]
    """

    def __init__(
        self,
        tokenizer: Tokenizer = "builtin",
        language: str = "english",
        keep_layout: bool = False,
        limits: Limits | None = None,
    ) -> None:
        if tokenizer == "nltk":  # what punkt was called
            tokenizer = "punkt"
        if isinstance(tokenizer, str) and tokenizer not in TOKENIZERS:
            hint = did_you_mean(tokenizer, TOKENIZERS, listed=False)
            raise SeqpaError(
                f"tokenizer: {tokenizer!r} is none of {', '.join(TOKENIZERS)}, nor a function "
                f"(module:function on the command line){hint}"
            )
        if tokenizer == "builtin":
            language_of(language)
        self._tokenizer = tokenizer
        self._language = language
        self._keep_layout = keep_layout
        self._limits = limits or Limits()
        self.cut = after_last_line if tokenizer == "whitespace" else _Paragraphs()

    def parse(self, block: Block, pool: dict[str, str]) -> Corpus:
        """The sentences of a block; equal strings become one object through ``pool``."""
        text = block.text
        by_line = self._tokenizer == "whitespace"
        if callable(self._tokenizer) or self._tokenizer == "punkt":
            words, places = self._by_others(block)
        else:
            places = _split_lines(text) if by_line else self._by_rules(text)
            words = [[text[start:end] for start, end in sentence] for sentence in places]
        corpus = _corpus(words, pool)
        self._check_lengths(block, corpus, places)
        if self._keep_layout:
            flat = list(chain.from_iterable(places))
            lengths = corpus.lengths.tolist()
            corpus.layout = TextLayout(block, flat, lengths, corpus.columns[0], by_line)
        return corpus

    def _by_rules(self, text: str) -> list[list[Place]]:
        found = []
        for begin, end in _pieces(text):
            for sentence in tokenized(text[begin:end], self._language):
                found.append([(begin + a, begin + b) for a, b in sentence])
        return found

    def _by_others(self, block: Block) -> tuple[list[list[str]], list[list[Place]]]:
        """Words that a function or NLTK found, and where they are if that is to be kept."""
        words, places = [], []
        for start, end in _pieces(block.text):
            paragraph = block.text[start:end]
            if callable(self._tokenizer):
                found = _own_sentences(self._tokenizer, paragraph)
            else:
                found = _punkt_sentences(paragraph, self._language, block.source)
            for sentence in found:
                if self._keep_layout:
                    try:
                        places.append(align(block.text, sentence, start))
                    except SeqpaError as error:
                        line = block.text.count("\n", 0, start)
                        raise block.error(line, str(error)) from None
                    start = places[-1][-1][1]
                words.append(sentence)
        return words, places

    def _check_lengths(self, block: Block, corpus: Corpus, places: list[list[Place]]) -> None:
        if not len(corpus) or corpus.lengths.max() <= self._limits.tokens:
            return
        lines = [block.text.count("\n", 0, sentence[0][0]) for sentence in places]
        # Where words are is not always known; then only where the block begins is.
        first = lines or [0] * len(corpus)
        check_lengths(block, corpus.lengths, np.repeat(first, corpus.lengths), self._limits)


def render_inline(corpus: Corpus, labels: Sequence[str], extras: Extras) -> str:
    """One sentence a line, each word as ``word_label``.

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


def _pieces(text: str) -> Iterator[Place]:
    """Where the parts of a text are that no sentence crosses."""
    return pairwise([0, *_Paragraphs().cuts(text), len(text)])


def _split_lines(text: str) -> list[list[Place]]:
    found = []
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        words = [match.span() for match in _WORD.finditer(text, start, end)]
        if words:
            found.append(words)
        start = end + 1
    return found


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


def _own_sentences(tokenizer: Callable[[str], Any], text: str) -> list[list[str]]:
    found = tokenizer(text)
    rows = found if isinstance(found, (list, tuple)) else list(found)
    if rows and all(isinstance(row, str) for row in rows):
        rows = [rows]
    for row in rows:
        if not isinstance(row, (list, tuple)) or not all(isinstance(word, str) for word in row):
            raise SeqpaError(
                f"tokenizer: must return a list of words or of lists of words, not {row!r} in it"
            )
    return [list(row) for row in rows if row]


def _punkt_sentences(text: str, language: str, source: str) -> list[list[str]]:
    from nltk.tokenize import sent_tokenize, word_tokenize

    try:
        found = sent_tokenize(text, language)
    except LookupError:
        raise SeqpaError(
            f"{source}: NLTK's sentence model for {language!r} is not installed; run "
            "python -m nltk.downloader punkt_tab, or say tokenizer: builtin, which needs none"
        ) from None
    words = [word_tokenize(sentence, language, preserve_line=True) for sentence in found]
    return [sentence for sentence in words if sentence]
