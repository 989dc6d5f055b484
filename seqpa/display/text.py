"""Tagged sentences: each span on the colour of its type, each label below its word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seqpa.colours import Colour, colours, kind_of
from seqpa.display.html import FONT, Html, tag, text
from seqpa.errors import SeqpaError
from seqpa.schemes import OUTSIDE, are_chunk_labels, marks_spans
from seqpa.schemes import spans as spans_of

_INK = "#1b1c1f"
_MARK = "padding:.2em .45em;margin:0 .1em;border-radius:.4em;line-height:1;color:" + _INK
_NAME = "font-size:.68em;font-weight:700;letter-spacing:.03em;margin-inline-start:.5em"


def spans(tagged: Sequence[Any], labels: Sequence[str] | None = None) -> Html:
    """Tagged sentences as a notebook shows them.

    Parameters
    ----------
    tagged : sequence
        What `SequenceTagger.tag` gives, pairs of token and label; or several such sentences. Of a
        token that is a tuple the first cell is shown.
    labels : sequence of str, optional
        All labels of the model (`classes_`): with them a type keeps its colour from sentence to
        sentence, even where it shares its first choice with another.

    Returns
    -------
    Html
        Shows itself at the end of a cell; `html` is the markup, for files.

    Examples
    --------
    >>> spans([[("Ada", "B-PER"), ("Byron", "I-PER"), ("won", "O")], [("Stop", "O")]])
    [Ada Byron PER] won
    Stop
    >>> spans([("so", "ADV"), ("it", "PRON")])
    so/ADV it/PRON
    """
    sentences = [_pairs(one) for one in _several(tagged)]
    present = [label for words, own in sentences for label in own]
    known = [*(labels or ()), *present]
    look = colours(known)
    of_spans = bool(known) and (marks_spans(known) or set(known) == {OUTSIDE})
    if not of_spans and are_chunk_labels(known) and set(known) != {OUTSIDE}:
        of_spans = True
    shown = [(_marked if of_spans else _labelled)(words, own, look) for words, own in sentences]
    lines = [line for line, _ in shown]
    body = "".join(
        tag("div", "margin:.3em 0;line-height:2.2", line, attributes='dir="auto"') for line in lines
    )
    return Html(tag("div", FONT, body), "\n".join(plain for _, plain in shown))


def _several(tagged: Sequence[Any]) -> Sequence[Any]:
    if not tagged:
        return [[]]
    first = tagged[0]
    is_pair = isinstance(first, tuple) and len(first) == 2 and isinstance(first[1], str)
    return [tagged] if is_pair else tagged


def _pairs(sentence: Any) -> tuple[list[str], list[str]]:
    words, labels = [], []
    for pair in sentence:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise SeqpaError(f"a tagged sentence is made of (token, label) pairs, not {pair!r}")
        token, label = pair
        words.append(str(token[0] if isinstance(token, tuple) and token else token))
        labels.append(str(label))
    return words, labels


def _marked(
    words: Sequence[str], labels: Sequence[str], look: Mapping[str, Colour]
) -> tuple[str, str]:
    """A sentence with its spans: markup, and plain text."""
    parts: list[str] = []
    plain: list[str] = []
    done = 0
    for kind, start, end in spans_of(labels):
        parts += map(text, words[done:start])
        plain += words[done:start]
        inner = " ".join(words[start:end])
        colour = look.get(kind)
        ground = f"background:{colour.ground}" if colour else "background:#e6e7ea"
        ink = f"color:{colour.ink}" if colour else f"color:{_INK}"
        name = tag("span", f"{_NAME};{ink}", text(kind)) if kind else ""
        parts.append(tag("mark", f"{ground};{_MARK}", text(inner), name))
        plain.append(f"[{inner} {kind}]" if kind else f"[{inner}]")
        done = end
    parts += map(text, words[done:])
    plain += words[done:]
    return " ".join(parts), " ".join(plain)


def _labelled(
    words: Sequence[str], labels: Sequence[str], look: Mapping[str, Colour]
) -> tuple[str, str]:
    """A sentence with each label below its word: markup, and plain text."""
    parts = []
    for word, label in zip(words, labels, strict=True):
        colour = look.get(kind_of(label))
        style = "display:block;font-size:.66em;font-weight:650;line-height:1.3;border-radius:.4em;"
        style += "padding:.1em .4em;margin-top:.1em;"
        style += f"background:{colour.ground};color:{colour.ink}" if colour else "opacity:.7"
        below = tag("span", style, text(label))
        parts.append(
            tag(
                "span",
                "display:inline-block;text-align:center;margin:.1em .15em;line-height:1.4;"
                "vertical-align:top",
                text(word),
                below,
            )
        )
    plain = " ".join(f"{word}/{label}" for word, label in zip(words, labels, strict=True))
    return " ".join(parts), plain
