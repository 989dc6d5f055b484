"""Labels shown in their text: brackets, colours, and spans with offsets as JSON.

Pure functions. A corpus that was read from text keeps it, with every space; the text of any other
is its words with a space between.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from seqpa.data.corpus import Corpus, Extras
from seqpa.data.tokenizer import Place
from seqpa.errors import SeqpaError
from seqpa.schemes import are_chunk_labels, spans

if TYPE_CHECKING:
    from seqpa.data.spans import SpansLayout
    from seqpa.data.text import TextLayout

CharSpan: TypeAlias = tuple[int, int, str]
# Black on these grounds of a terminal: cyan, yellow, green, magenta, blue, red, and bright ones.
_BACKGROUNDS = (46, 43, 42, 45, 44, 41, 106, 103, 102, 105, 104, 101)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, its tokens and their labels.

    Parameters
    ----------
    text : str
        The text of a sentence, or of several.
    places : list of (start, end)
        Of its tokens.
    labels : list of str
        Of its tokens.
    sentences : list of int
        How many tokens each sentence has.
    """

    text: str
    places: list[Place]
    labels: list[str]
    sentences: list[int]

    @property
    def spans(self) -> list[CharSpan]:
        """The spans that the labels mark, in characters."""
        found: list[CharSpan] = []
        start = 0
        for length in self.sentences:
            for kind, a, b in spans(self.labels[start : start + length]):
                found.append((self.places[start + a][0], self.places[start + b - 1][1], kind))
            start += length
        return found


def labelled_texts(corpus: Corpus, labels: Sequence[str]) -> Iterator[LabelledText]:
    """Each sentence of a corpus with its text, and offsets from its own beginning.

    Parameters
    ----------
    corpus : Corpus
        The sentences, with the text they were read from if their layout has it.
    labels : sequence of str
        A label for each token.

    Yields
    ------
    LabelledText

    Examples
    --------
    >>> [one] = labelled_texts(Corpus.from_sentences([["Ada", "won"]]), ["B-PER", "O"])
    >>> one.text, one.spans
    ('Ada won', [(0, 3, 'PER')])
    """
    layout = corpus.layout
    start = 0
    for number, words in enumerate(corpus.split(corpus.columns[0])):
        end = start + len(words)
        if layout is not None and layout.format in ("text", "spans"):
            kept = cast("TextLayout | SpansLayout", layout)
            first, last = kept.places[start][0], kept.places[end - 1][1]
            text = kept.text_of(number)[first:last]
            places = [(a - first, b - first) for a, b in kept.places[start:end]]
        else:
            text = " ".join(words)
            places, at = [], 0
            for word in words:
                places.append((at, at + len(word)))
                at += len(word) + 1
        yield LabelledText(text, places, list(labels[start:end]), [len(words)])
        start = end


def check_marks_spans(labels: Iterable[str], what: str) -> None:
    """Raise an error if labels mark no spans, so that there is nothing to show.

    Parameters
    ----------
    labels : iterable of str
        All labels.
    what : str
        What shall show them.
    """
    distinct = set(labels)
    if not are_chunk_labels(distinct):
        odd = min(label for label in distinct if not are_chunk_labels([label, "B"]))
        raise SeqpaError(
            f"{what} shows spans, which {odd!r} does not mark; write conll, conllu, jsonl, csv or "
            "slash"
        )


# In the text itself


def brackets(text: str, found: Sequence[CharSpan]) -> str:
    """The text with each span in brackets, its type behind it.

    Parameters
    ----------
    text : str
        The text.
    found : sequence of (start, end, type)
        In order; none overlaps another.

    Returns
    -------
    str

    Examples
    --------
    >>> brackets("Anna Norvell flew to Lyon.", [(0, 12, "PER"), (21, 25, "LOC")])
    '[Anna Norvell PER] flew to [Lyon LOC].'
    """
    return _marked(text, found, lambda inner, kind: f"[{inner} {kind}]" if kind else f"[{inner}]")


def coloured(text: str, found: Sequence[CharSpan], kinds: Sequence[str]) -> str:
    """The text with each span on a coloured ground, for a terminal.

    Control characters of the text are shown as ``?``: they could do anything there.

    Parameters
    ----------
    text : str
        The text.
    found : sequence of (start, end, type)
        In order; none overlaps another.
    kinds : sequence of str
        All types, in the order of their colours.

    Returns
    -------
    str

    Examples
    --------
    >>> coloured("Ada won", [(0, 3, "PER")], ["PER"])
    '\\x1b[30;46m Ada \\x1b[1mPER \\x1b[0m won'
    """
    colour = {kind: _BACKGROUNDS[i % len(_BACKGROUNDS)] for i, kind in enumerate(kinds)}

    def painted(inner: str, kind: str) -> str:
        shown = f"\x1b[1m{kind} " if kind else ""
        return f"\x1b[30;{colour.get(kind, 47)}m {inner} {shown}\x1b[0m"

    return _marked(_CONTROL.sub("?", text), found, painted)


def _marked(text: str, found: Sequence[CharSpan], mark: Any) -> str:
    parts = []
    at = 0
    for start, end, kind in found:
        parts += [text[at:start], mark(text[start:end], _CONTROL.sub("?", kind))]
        at = end
    return "".join([*parts, text[at:]])


# As JSON


def spacy_record(one: LabelledText, extras: Extras | None = None) -> dict[str, Any]:
    """A text with its spans in the shape of spaCy's ``Doc.to_json``.

    Parameters
    ----------
    one : LabelledText
        The text and its labels.
    extras : mapping, optional
        Further values for each word, by name; None stands beside white space.

    Returns
    -------
    dict

    Examples
    --------
    >>> spacy_record(LabelledText("Ada won", [(0, 3), (4, 7)], ["B-PER", "O"], [2]))["ents"]
    [{'start': 0, 'end': 3, 'label': 'PER'}]
    """
    places = with_blanks(one.text, one.places)
    tokens = [{"id": i, "start": a, "end": b} for i, (a, b) in enumerate(places)]
    ends: list[int] = []
    for length in one.sentences:
        ends.append((ends[-1] if ends else 0) + length)
    starts = [0, *ends[:-1]]
    return {
        "text": one.text,
        "ents": [{"start": a, "end": b, "label": kind} for a, b, kind in one.spans],
        "sents": [
            {"start": one.places[a][0], "end": one.places[b - 1][1]}
            for a, b in zip(starts, ends, strict=True)
        ],
        "tokens": tokens,
        **{name: _beside(one, places, values) for name, values in (extras or {}).items()},
    }


def _beside(one: LabelledText, places: Sequence[Place], values: Sequence[Any]) -> list[Any]:
    """The values of words, beside tokens some of which are white space."""
    known = dict(zip(one.places, values, strict=True))
    return [known.get(place) for place in places]


def with_blanks(text: str, places: Sequence[Place]) -> list[Place]:
    """Tokens as spaCy has them: white space is one as well, but for a single space behind a word.

    Without these it does not take a text that has more than that between words.

    Parameters
    ----------
    text : str
        The text.
    places : sequence of (start, end)
        Of its words.

    Returns
    -------
    list of (start, end)

    Examples
    --------
    >>> with_blanks("Ada  won\\nit.", [(0, 3), (5, 8), (9, 11), (11, 12)])
    [(0, 3), (4, 5), (5, 8), (8, 9), (9, 11), (11, 12)]
    """
    found: list[Place] = []
    at = 0
    for start, end in [*places, (len(text), len(text))]:
        begin = at + 1 if found and text[at : at + 1] == " " else at
        if text[begin:start].isspace():
            found.append((begin, start))
        if start < end:
            found.append((start, end))
        at = end
    return found


def huggingface_record(one: LabelledText) -> dict[str, Any]:
    """A text with its spans in the shape of Hugging Face's token classification pipeline.

    Parameters
    ----------
    one : LabelledText
        The text and its labels.

    Returns
    -------
    dict

    Examples
    --------
    >>> huggingface_record(LabelledText("Ada won", [(0, 3), (4, 7)], ["B-PER", "O"], [2]))
    {'text': 'Ada won', 'entities': [{'entity_group': 'PER', 'word': 'Ada', 'start': 0, 'end': 3}]}
    """
    return {
        "text": one.text,
        "entities": [
            {"entity_group": kind, "word": one.text[a:b], "start": a, "end": b}
            for a, b, kind in one.spans
        ],
    }


def render(corpus: Corpus, labels: Sequence[str], extras: Extras, format: str) -> str:
    """A corpus of any origin as brackets, spans (spaCy's shape) or huggingface.

    Parameters
    ----------
    corpus : Corpus
        The sentences.
    labels : sequence of str
        A label for each token.
    extras : mapping
        Further values for each token, by name; for JSON.
    format : str
        brackets, spans or huggingface.

    Returns
    -------
    str
        One sentence a line.

    Examples
    --------
    >>> render(Corpus.from_sentences([["Ada", "won"]]), ["B-PER", "O"], {}, "brackets")
    '[Ada PER] won\\n'
    """
    check_marks_spans(labels, format)
    lines = []
    start = 0
    for one in labelled_texts(corpus, labels):
        end = start + len(one.labels)
        if format == "brackets":
            lines.append(" ".join(brackets(one.text, one.spans).split("\n")))
        else:
            more = {name: list(values[start:end]) for name, values in extras.items()}
            if format == "huggingface":
                record = huggingface_record(one) | more
            else:
                record = spacy_record(one, more)
            lines.append(json.dumps(record, ensure_ascii=False))
        start = end
    return "".join(f"{line}\n" for line in lines)


def render_coloured(corpus: Corpus, labels: Sequence[str], kinds: Sequence[str]) -> str:
    """A corpus with its spans in colours, for a terminal.

    Parameters
    ----------
    corpus : Corpus
        The sentences.
    labels : sequence of str
        A label for each token.
    kinds : sequence of str
        All types, in the order of their colours.

    Returns
    -------
    str
        One sentence a line.

    Examples
    --------
    >>> render_coloured(Corpus.from_sentences([["Ada", "won"]]), ["B-PER", "O"], ["PER"])
    '\\x1b[30;46m Ada \\x1b[1mPER \\x1b[0m won\\n'
    """
    texts = (
        " ".join(coloured(one.text, one.spans, kinds).split("\n"))
        for one in labelled_texts(corpus, labels)
    )
    return "".join(f"{text}\n" for text in texts)


def joined_records(layout: SpansLayout, labels: Sequence[str], extras: Extras) -> str:
    """The texts of a file of spans, one object a text, with the spans that labels mark.

    Parameters
    ----------
    layout : SpansLayout
        What the reader kept.
    labels : sequence of str
        A label for each token.
    extras : mapping
        Further values for each token, by name.

    Returns
    -------
    str
    """
    check_marks_spans(labels, "spans")
    lengths: list[list[int]] = [[] for _ in layout.texts]
    for at, length in zip(layout.text_at, layout.lengths, strict=True):
        lengths[at].append(length)
    lines = []
    start = 0
    for text, sentences in zip(layout.texts, lengths, strict=True):
        end = start + sum(sentences)
        one = LabelledText(text, layout.places[start:end], list(labels[start:end]), sentences)
        more = {name: list(values[start:end]) for name, values in extras.items()}
        lines.append(json.dumps(spacy_record(one, more), ensure_ascii=False))
        start = end
    return "".join(f"{line}\n" for line in lines)
