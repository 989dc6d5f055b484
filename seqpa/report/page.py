"""The page of a report: index.html, and the parts of its data that it loads when asked to."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from seqpa.colours import PALETTE
from seqpa.display.charts import ORANGE, Frame, Line, interval_bar, line_chart, share_bar
from seqpa.errors import SeqpaError
from seqpa.report.card import short_name
from seqpa.report.confusion import Cell, by_cell, shown_sentences
from seqpa.report.tagged import Tagged

# The page holds at most so many characters of data; the rest stands in files beside it.
INLINED = 1_000_000
_SENTENCES_A_PART = 200
# A matrix has at most so many rows and columns.
_MATRIX = 20
# So many answers of a kind are shown.
_ANSWERS = 15


def need_jinja2() -> None:
    """Complain, before the work, if no page can be made."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise SeqpaError(
            "a report needs jinja2, which is not installed; "
            "install it with: pip install 'seqpa[report]'"
        ) from None


def page_files(
    told: Mapping[str, Any], tagged: Tagged, other: Tagged | None = None, inlined: int = INLINED
) -> dict[str, bytes]:
    """The page, and the files that it loads.

    Parameters
    ----------
    told : dict
        What report.json holds.
    tagged : Tagged
        The sentences.
    other : Tagged, optional
        The same, tagged by the model that it is compared with.
    inlined : int
        So many characters of data at most are in the page itself.

    Returns
    -------
    dict
        Name -> content: index.html, and parts/NAME.js for what is not inlined.
    """
    parts, firsts = _parts(told, tagged, other)
    texts = {name: script_json(content) for name, content in parts.items()}
    inside: dict[str, str] = {}
    room = inlined
    for name, text in texts.items():
        if len(text) <= room:
            inside[name] = text
            room -= len(text)
    outside = {
        f"parts/{name}.js": f"seqpa_part({script_json(name)}, {text});\n".encode()
        for name, text in texts.items()
        if name not in inside
    }
    number = {unit: i for i, unit in enumerate(told["confusions"]["units"])}
    small = {
        "units": told["confusions"]["units"],
        "cells": [
            [number.get(gold, -1), number.get(found, -1), *counts]
            for gold, found, *counts in told["confusions"]["cells"]
        ],
        "colours": _colour_numbers(told["colours"]),
        "firsts": firsts,
        "spans": told["confusions"]["of"] == "spans",
        "names": ["A", "B"],
        "other": other is not None,
        "lists": _lists(told),
    }
    within = ", ".join(f"{script_json(name)}: {text}" for name, text in inside.items())
    data = f'{script_json(small)[:-1]}, "parts": {{{within}}}}}'
    return {"index.html": _html(told, data, bool(outside)).encode(), **outside}


def script_json(content: Any) -> str:
    """JSON that can stand in a script of a page, whatever its strings hold.

    Parameters
    ----------
    content : object
        What JSON can hold.

    Returns
    -------
    str
        ASCII, without ``<``, ``>`` and ``&``: no ``</script>`` and no comment can be in it.

    Examples
    --------
    >>> script_json({"w": "</script>"})
    '{"w":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(content, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _parts(
    told: Mapping[str, Any], tagged: Tagged, other: Tagged | None
) -> tuple[dict[str, Any], list[int]]:
    """What the page may load when it is asked for, by name; and the first sentence of each part."""
    number = {unit: i for i, unit in enumerate(told["confusions"]["units"])}
    cells: dict[str, dict[int, list[int]]] = {}
    for (gold, found), own in by_cell(tagged).items():
        name = "cells-none" if gold is None else f"cells-{number[gold]}"
        cells.setdefault(name, {})[_number(found, number)] = sorted(own, key=lambda n: (-own[n], n))
    sure = told["certainty"] or {}
    wanted = {
        one["sentence"] - 1
        for name in ("surest_mistakes", "least_sure_right")
        for one in sure.get(name, ())[:_ANSWERS]
    }
    wanted |= {n for numbers in _lists(told).values() for n in numbers}
    sentences = shown_sentences(tagged, wanted)
    if other is not None:
        theirs = shown_sentences(other, wanted)
        for n in wanted:
            sentences[n]["q"] = theirs[n]["p"]
    order = list(sentences)
    groups = [order[i : i + _SENTENCES_A_PART] for i in range(0, len(order), _SENTENCES_A_PART)]
    parts: dict[str, Any] = {"learned": told["learned"]["labels"], **cells}
    for i, group in enumerate(groups):
        parts[f"sentences-{i}"] = {n: sentences[n] for n in group}
    return parts, [group[0] for group in groups]


def _lists(told: Mapping[str, Any]) -> dict[str, list[int]]:
    """Sentences that are shown as lists, counted from 0."""
    lists: dict[str, list[int]] = {}
    if told["mistakes_cost"]:
        lists["costly"] = [one["sentence"] - 1 for one in told["mistakes_cost"]["sentences"]]
    for name in ("only_ours", "only_theirs"):
        if told["comparison"]:
            lists[name] = [n - 1 for n in told["comparison"][name]]
    return lists


def _colour_numbers(names: Mapping[str, str]) -> dict[str, int]:
    number = {colour.name: i for i, colour in enumerate(PALETTE)}
    return {kind: number[name] for kind, name in names.items()}


def _html(told: Mapping[str, Any], data: str, loads: bool) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("seqpa.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    rows = told["scores"]["by_type"] or told["scores"]["by_label"]
    lowest = _lowest([row["low"] for row in rows.values()])
    environment.filters |= {
        "pct": _percent,
        "signed": lambda value: f"{value:+.2f}".replace("-", "−"),
        "number": lambda value: f"{value:,}",
        "name": short_name,
        "interval": lambda row: Markup(interval_bar(row["f1"], row["low"], row["high"], lowest)),
        "share": lambda value: Markup(share_bar(value)),
    }
    read = environment.loader.get_source  # type: ignore[union-attr]
    style = read(environment, "style.css")[0] + _label_styles()
    script = read(environment, "page.js")[0]
    sure = told["certainty"]
    return environment.get_template("index.html").render(
        told=told,
        of_spans="span_micro" in told,
        head=told["scores"]["headline"],
        facts=_facts(told),
        sections=_sections(told),
        curves=[(title, Markup(chart)) for title, chart in _curves(told)],
        mistakes=_mistakes_in_words(told["confusions"]),
        matrix=_matrix(told["confusions"]),
        reliability=Markup(_reliability(sure)) if sure else "",
        answered=Markup(_answered(sure)) if sure else "",
        shown=_ANSWERS,
        transitions=_transitions(told["learned"]["transitions"]),
        largest_template=max(
            [1, *(row["weights"] for row in told["learned"]["templates"])],
        ),
        repeat=_repeat(told),
        configuration=json.dumps(told["identity"]["configuration"], ensure_ascii=False, indent=1),
        style=Markup(style),
        script=Markup(script),
        data=Markup(data),
        policy=_policy(style, script, loads),
    )


def _policy(style: str, script: str, loads: bool) -> str:
    """What the page may do: its own style and script, nothing else; and files of its folder."""
    own = f"'{_digest(script)}'" + (" 'self'" if loads else "")
    return (
        f"default-src 'none'; script-src {own}; style-src '{_digest(style)}'; base-uri 'none'; "
        "form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _label_styles() -> str:
    light = "".join(f".k{i}{{--g:{c.ground};--i:{c.ink}}}" for i, c in enumerate(PALETTE))
    dark = "".join(f".k{i}{{--g:{c.dark_ground};--i:{c.dark_ink}}}" for i, c in enumerate(PALETTE))
    return f"{light}.kx{{--i:var(--soft)}}@media screen and (prefers-color-scheme:dark){{{dark}}}"


def _percent(value: float, digits: int = 2) -> str:
    return f"{100 * value:.{digits}f}"


def _lowest(values: Sequence[float]) -> float:
    """Where a line of scores begins: a round number below all of them, and below 1."""
    return min(int(10 * min(values)) / 10, 0.9) if values else 0.0


def _sections(told: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = [("headline", "Headline"), ("training", "Training"), ("scores", "Scores")]
    found += [("mistakes", "Mistakes")]
    found += [("certainty", "How sure it is")] if told["certainty"] else []
    found += [("cost", "What mistakes cost")] if told["mistakes_cost"] else []
    found += [("learned", "What it learned")]
    found += [("comparison", "Two models")] if told["comparison"] else []
    return [*found, ("repeat", "To repeat it")]


def _facts(told: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What else is measured of the whole: a term, its value, a remark."""
    pct = _percent
    micro = told.get("span_micro")
    facts = []
    if micro:
        facts += [
            ("precision", pct(micro["precision"]), f"of {micro['predicted']:,} found"),
            ("recall", pct(micro["recall"]), f"of {micro['gold']:,} that are there"),
            ("mean F1 of types", pct(told["span_macro"]["f1"]), ""),
            ("accuracy", pct(told["accuracy"]), "of tokens"),
        ]
    else:
        facts += [("mean F1 of labels", pct(told["label_macro"]["f1"]), "")]
    if "seen" in told:
        facts.append(
            ("known words", pct(told["seen"]["accuracy"]), f"{told['seen']['tokens']:,} tokens")
        )
        facts.append(
            ("new words", pct(told["unseen"]["accuracy"]), f"{told['unseen']['tokens']:,} tokens")
        )
    facts.append(("whole sentences", pct(told["sentence_accuracy"]), "without a mistake"))
    if "cost" in told:
        facts.append(("cost", f"{told['cost']:.4f}", "a sentence"))
    return facts


def _curves(told: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Loss, mistakes and dev score over the epochs."""
    history = told["history"]
    if not history:
        return []
    epochs = history["epochs"]
    mark = (history["best"], f"epoch {history['best']}")
    last = max(len(epochs), 2)

    def chart(title: str, y: str, values: Sequence[float], percent: bool) -> str:
        points = [(epoch["epoch"], v) for epoch, v in zip(epochs, values, strict=True)]
        frame = Frame(title, "epoch", y, (1, last), percent=percent, whole_x=True, mark=mark)
        return line_chart([Line(points)], frame)

    loss = [epoch["loss"] / max(epoch.get("sentences", 1), 1) for epoch in epochs]
    wrong = [epoch["mistakes"] / max(epoch["tokens"], 1) for epoch in epochs]
    found = [
        ("Loss of a sentence", chart("Loss", "loss of a sentence", loss, False)),
        ("Wrong labels in training, %", chart("Mistakes", "wrong labels", wrong, True)),
    ]
    dev = [epoch.get("dev_score") for epoch in epochs]
    if all(isinstance(value, (int, float)) for value in dev):
        found.append(("Score on the dev set, %", chart("Dev score", "dev score", dev, True)))
    return found


def _reliability(sure: Mapping[str, Any]) -> str:
    bins = sure["bins"]
    frame = Frame(
        "Reliability", "probability, %", "right, %", (0, 1), (0, 1), percent=True,
        percent_x=True, diagonal=True, width=340, height=280,
    )  # fmt: skip
    return line_chart([Line([(one["confidence"], one["accuracy"]) for one in bins])], frame)


def _answered(sure: Mapping[str, Any]) -> str:
    points = [(one["share"], one["score"]) for one in sure["answered"]]
    frame = Frame(
        "Score against the share answered", "sentences answered, %", "score, %", (0, 1),
        (_lowest([y for _, y in points]), 1.0), percent=True, percent_x=True,
        width=340, height=280,
    )  # fmt: skip
    return line_chart([Line(points, ORANGE)], frame)


def _mistakes_in_words(confusions: Mapping[str, Any]) -> str:
    kinds = confusions["kinds"]
    if not kinds:
        return ""
    if confusions["of"] == "labels":
        n = sum(kinds.values())
        return f"{n:,} label{'s are' if n != 1 else ' is'} wrong."
    told = {
        "type": "right boundaries, wrong type",
        "extent": "wrong boundary",
        "missed": "missed",
        "invented": "invented",
    }
    parts = [f"{words}: {kinds[kind]:,}" for kind, words in told.items() if kind in kinds]
    return f"Spans by what is wrong with them. {'; '.join(parts).capitalize()}."


def _number(unit: str | None, number: Mapping[str, int]) -> int:
    return -1 if unit is None else number[unit]


def _matrix(confusions: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of the units with most mistakes, ready for a table."""
    units: list[str | None] = list(confusions["units"][:_MATRIX])
    of_spans = confusions["of"] == "spans"
    if of_spans:
        units.append(None)
    counts: dict[Cell, list[int]] = {(g, p): rest for g, p, *rest in confusions["cells"]}
    largest = max([1, *(types + extents for _, types, extents in counts.values())])
    number = {unit: i for i, unit in enumerate(confusions["units"])}
    rows = []
    for gold in units:
        row = []
        for found in units:
            right, types, extents = counts.get((gold, found), [0, 0, 0])
            wrong = types + extents
            same = gold == found
            told = f"gold {_unit_name(gold)}, predicted {_unit_name(found)}: "
            if same and gold is not None:
                told += f"{right} right, {extents} with a wrong boundary"
            else:
                told += f"{types} of the wrong type" if gold and found else f"{types}"
                told += f", {extents} with a wrong boundary" if extents else ""
            row.append(
                {
                    "g": _number(gold, number),
                    "p": _number(found, number),
                    "right": right if same and gold is not None else None,
                    "count": wrong,
                    "look": f"h{_heat(wrong, largest)}",
                    "told": told,
                }
            )
        rows.append((_unit_name(gold), row))
    return {
        "names": [_unit_name(unit) for unit in units],
        "rows": rows,
        "shown": min(len(confusions["units"]), _MATRIX),
        "left_out": max(0, len(confusions["units"]) - _MATRIX),
    }


def _unit_name(unit: str | None) -> str:
    return "nothing" if unit is None else unit or "span"


def _heat(count: int, largest: int) -> int:
    """From 1 to 5, by the root of the share: small counts stay visible."""
    return max(1, min(5, round(5 * (count / largest) ** 0.5))) if count else 0


def _transitions(told: Mapping[str, Any]) -> dict[str, Any] | None:
    """The weights between the labels with the strongest ones, ready for a table."""
    labels, weights = told["labels"], told["weights"]
    strength = [
        max(abs(w) for w in [*weights[k], *(row[k] for row in weights)]) for k in range(len(labels))
    ]
    chosen = sorted(range(len(labels)), key=lambda k: (-strength[k], labels[k]))[: _MATRIX + 6]
    chosen.sort()
    largest = max([strength[k] for k in chosen], default=0.0)
    if not largest:
        return None

    def look(weight: float) -> str:
        size = abs(weight) / largest
        if size < 0.02:
            return ""
        if weight < 0:
            return f"c{1 + min(2, int(3 * size))}"
        return f"h{max(1, min(5, round(5 * size)))}"

    rows = []
    for k in chosen:
        cells = [
            {"look": look(weights[k][j]), "text": _signed(weights[k][j], largest)} for j in chosen
        ]
        rows.append((labels[k], cells))
    return {
        "names": [labels[k] for k in chosen],
        "rows": rows,
        "left_out": len(labels) - len(chosen),
    }


def _signed(weight: float, largest: float) -> str:
    """A weight in as few signs as tell it apart; nothing where it is too small to matter."""
    if abs(weight) < 0.02 * largest:
        return ""
    digits = 2 if largest < 1 else 1 if largest < 10 else 0
    return f"{weight:+.{digits}f}".replace("0.", ".", 1).replace("-", "−")


def _repeat(told: Mapping[str, Any]) -> list[tuple[str, str]]:
    identity = told["identity"]
    rows = [
        ("command", told["command"]),
        ("model", f"{identity['model']['file']} ({identity['model']['bytes']:,} bytes)"),
        ("SHA-256 of the model", identity["model"]["sha256"]),
        ("data", told["data"]),
        ("SHA-256 of the data as read", identity["data"]["sha256"]),
        ("seed of the training", str(identity["seed"])),
    ]
    return [*rows, *((name, version) for name, version in identity["versions"].items())]
