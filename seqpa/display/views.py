"""Tables, summaries and explanations as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seqpa.colours import Colour, colours, kind_of
from seqpa.display.charts import BLUE, ORANGE, share_bar
from seqpa.display.html import FONT, Html, tag, text

_CELL = "padding:.25em .9em .25em 0;border:0;text-align:left;background:none"
_NUMBER = "padding:.25em .9em .25em 0;border:0;text-align:right;background:none;" + (
    "font-variant-numeric:tabular-nums"
)
_HEAD = "font-weight:550;opacity:.7;font-size:.88em"
_MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.88em"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], numbers: int = 1) -> str:
    """A table whose cells are text or numbers.

    Parameters
    ----------
    head : sequence of str
        The headings.
    rows : iterable of sequences
        The cells; they are escaped.
    numbers : int
        From which column on cells are set to the right.

    Returns
    -------
    str
        Markup.

    Examples
    --------
    >>> table(["type", "F1"], [["<x>", "81.20"]]).count("&lt;x&gt;")
    1
    """
    return tag(
        "table",
        "border-collapse:collapse;border:0;font-size:.95em;margin:.4em 0",
        tag("thead", "", _row("th", head, numbers, _HEAD)),
        tag("tbody", "", *(_row("td", row, numbers, "") for row in rows)),
    )


def _row(cell: str, values: Sequence[Any], numbers: int, more: str) -> str:
    scope = 'scope="col"' if cell == "th" else ""
    return tag(
        "tr",
        "background:none",
        *(
            tag(
                cell,
                f"{_CELL if i < numbers else _NUMBER};{more}",
                text(value),
                attributes=scope,
            )
            for i, value in enumerate(values)
        ),
    )


def summary(title: str, remark: str, *blocks: str) -> str:
    """A heading with a remark, and what follows.

    Parameters
    ----------
    title, remark : str
        Text.
    *blocks : str
        Markup.

    Returns
    -------
    str
        Markup.

    Examples
    --------
    >>> "<b" in summary("F1 81.65", "410 spans")
    True
    """
    return tag(
        "div",
        FONT,
        tag("b", "font-size:1.35em;font-variant-numeric:tabular-nums", text(title)),
        " ",
        tag("span", "opacity:.75;margin-left:.6em", text(remark)),
        *blocks,
    )


def explanation(explained: Any, most: int = 8, labels: Sequence[str] = ()) -> Html:
    """Why tokens got their labels: a bar for each feature, for the label or against it.

    Parameters
    ----------
    explained : TokenExplanation, or a list of them
        What `SequenceTagger.explain` gives; of a list each token can be opened.
    most : int
        So many features of a token; the others are summed up.
    labels : sequence of str
        All labels of the model (`classes_`), for the same colours as elsewhere.

    Returns
    -------
    Html

    Examples
    --------
    >>> from seqpa.sequence.explain import Contribution, TokenExplanation
    >>> parts = (Contribution("word[-1]=she", 0.75, 0.25), Contribution("bias", 0.0, 0.25))
    >>> shown = explanation(TokenExplanation("saw", "V", "N", 0.25, parts))
    >>> print(shown)
    saw: V, not N (margin 0.250)
         +0.500  word[-1]=she  (+0.750 against +0.250)
         -0.250  bias  (+0.000 against +0.250)
    >>> shown.html.count("<svg")
    2
    """
    if not isinstance(explained, (list, tuple)):
        short = explained.summed(most)
        look = colours([*labels, short.label])
        return Html(tag("div", FONT, _heading(short, look), _bars(short)), str(short))
    shown = [one.summed(most) for one in explained]
    look = colours([*labels, *(one.label for one in shown)])
    parts = [
        tag(
            "details",
            "margin:.15em 0",
            tag("summary", "cursor:pointer", _heading(one, look)),
            _bars(one),
        )
        for one in shown
    ]
    return Html(tag("div", FONT, *parts), "\n".join(map(str, shown)))


def _heading(one: Any, look: Mapping[str, Colour]) -> str:
    token = one.token[0] if isinstance(one.token, tuple) and one.token else one.token
    colour = look.get(kind_of(one.label))
    style = f"background:{colour.ground};color:{colour.ink}" if colour else "opacity:.75"
    label = tag(
        "span",
        f"{style};padding:0 .4em;border-radius:.4em;font-size:.8em;font-weight:700;margin:0 .4em",
        text(one.label),
    )
    rest = f"not {one.runner_up}, by {one.margin:.3f}" if one.runner_up is not None else ""
    word = tag("b", "", text(token), attributes='dir="auto"')
    return f"{word}{label}{tag('span', 'opacity:.75;font-size:.9em', text(rest))}"


def _bars(one: Any) -> str:
    largest = max([1e-12, *(abs(part.difference) for part in one.contributions)])
    rows = []
    for part in one.contributions:
        supports = part.difference >= 0
        bar = share_bar(abs(part.difference) / largest, 110, BLUE if supports else ORANGE)
        rows.append(
            tag(
                "tr",
                "background:none",
                tag("td", f"{_NUMBER}", text(f"{part.difference:+.3f}")),
                tag("td", _CELL, bar),
                tag("td", f"{_CELL};{_MONO}", text(part.name), attributes='dir="auto"'),
            )
        )
    if not rows:
        return ""
    return tag("table", "border-collapse:collapse;border:0;margin:.3em 0", tag("tbody", "", *rows))
