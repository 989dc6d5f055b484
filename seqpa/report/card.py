"""MODEL_CARD.md: the model in short, for those who are handed it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_SIGNS = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")
_ROWS = 30


def plain(text: str) -> str:
    """Text that Markdown and HTML take as it stands.

    Parameters
    ----------
    text : str
        Anything: a word, a label, the name of a file.

    Returns
    -------
    str
        On one line.

    Examples
    --------
    >>> print(plain("<b>*x*|y"))
    \\<b\\>\\*x\\*\\|y
    """
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))


def short_name(path: str) -> str:
    """The last two parts of a path: enough to know it by.

    Parameters
    ----------
    path : str

    Returns
    -------
    str

    Examples
    --------
    >>> short_name("/home/ada/models/ner/model.safetensors")
    'ner/model.safetensors'
    """
    return "/".join(path.replace("\\", "/").split("/")[-2:])


def _code(text: str) -> str:
    """Text between as many backticks as it takes."""
    text = " ".join(text.split()).replace("|", "\\|")
    longest = max([0, *map(len, re.findall("`+", text))])
    fence = "`" * (longest + 1)
    room = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{room}{text}{room}{fence}"


def model_card(told: Mapping[str, Any]) -> str:
    """The card.

    Parameters
    ----------
    told : dict
        What report.json holds.

    Returns
    -------
    str
        Markdown.
    """
    head, identity = told["scores"]["headline"], told["identity"]
    config = identity["configuration"] or {}
    metric = "F1 of spans" if head["metric"] == "span-f1" else "accuracy of labels"
    labels = list(told["learned"]["labels"])
    shown = ", ".join(map(_code, labels[:_ROWS]))
    more = f", and {len(labels) - _ROWS:,} more" if len(labels) > _ROWS else ""
    learner = config.get("learner", {})
    lines = [
        f"# {plain(short_name(told['model']))}",
        "",
        "A sequence tagger: it gives each token of a sentence one of "
        f"{len(labels):,} labels ({shown}{more}).",
        "",
        "## How good it is",
        "",
        f"On {_code(told['data'])} ({told['sentences']:,} sentences, {told['tokens']:,} tokens): "
        f"**{metric} {_pct(head['value'])}**, 95 % interval {_pct(head['low'])} to "
        f"{_pct(head['high'])} (bootstrap over sentences, {head['rounds']:,} rounds).",
        "",
        *_scores(told),
        "",
        "## What it was trained on",
        "",
        *_training(told, config, learner),
        "",
        "## Where it fails",
        "",
        *_failures(told),
        "",
        "## To repeat it",
        "",
        *(f"- {name}: {_code(str(value))}" for name, value in _identity(told)),
        "",
    ]
    if config:
        text = json.dumps(config, ensure_ascii=False, indent=1)
        fence = "`" * max(3, 1 + max([0, *map(len, re.findall("`+", text))]))
        lines += [f"{fence}json", text, fence, ""]
    return "\n".join(lines)


def _scores(told: Mapping[str, Any]) -> list[str]:
    rows = told["scores"]["by_type"] or told["scores"]["by_label"]
    what = "type" if told["scores"]["by_type"] else "label"
    largest = sorted(rows, key=lambda name: (-rows[name]["gold"], name))[:_ROWS]
    lines = [
        f"| {what} | precision | recall | F1 | 95 % interval | gold |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name in largest:
        row = rows[name]
        lines.append(
            f"| {_code(name or 'span')} | {_pct(row['precision'])} | {_pct(row['recall'])} | "
            f"{_pct(row['f1'])} | {_pct(row['low'])} to {_pct(row['high'])} | {row['gold']:,} |"
        )
    if len(rows) > _ROWS:
        lines += ["", f"The {_ROWS} most frequent of {len(rows):,}."]
    return lines


def _training(
    told: Mapping[str, Any], config: Mapping[str, Any], learner: Mapping[str, Any]
) -> list[str]:
    if not config:
        return ["It was saved from Python: its training is not known."]
    train = config.get("data", {}).get("train")
    names = [train] if isinstance(train, str) else list(train or ())
    lines = [f"- text: {', '.join(_code(str(name)) for name in names)}"]
    if told["history"]:
        epochs = told["history"]["epochs"]
        lines.append(
            f"- {epochs[0].get('sentences', 0):,} sentences, {epochs[0]['tokens']:,} tokens; "
            f"{len(epochs)} epochs, of which epoch {told['history']['best']} was kept"
        )
    algorithm, update, C, seed = (
        learner.get(name) for name in ("algorithm", "update", "C", "seed")
    )
    lines.append("- learner: " + _code(f"{algorithm}, {update}, C {C}, seed {seed}"))
    cost = told["mistakes_cost"]
    lines.append(f"- cost: {_code(cost['name'] if cost else 'a Python function')}")
    return lines


def _failures(told: Mapping[str, Any]) -> list[str]:
    wrong = [cell for cell in told["confusions"]["cells"] if cell[3] + cell[4]][:5]
    lines = [
        f"- {_code(gold or 'span') if gold is not None else 'nothing'} taken for "
        f"{_code(found or 'span') if found is not None else 'nothing'}: {types + extents:,} times"
        for gold, found, _, types, extents in wrong
    ]
    words = told["scores"]["by_words"]
    if "new words" in words:
        known = words.get("known words", {}).get("f1", 0.0)
        lines.append(
            f"- words that were not in the training text: {_pct(words['new words']['f1'])}, "
            f"against {_pct(known)} on known ones"
        )
    sure = told["certainty"]
    if sure and sure["calibrated"]:
        lines.append(f"- its probabilities are off by {_pct(sure['error'])} points on average")
    elif sure:
        lines.append("- its probabilities were never fitted to data: their size means little")
    return lines or ["- there was no mistake on these data"]


def _identity(told: Mapping[str, Any]) -> list[tuple[str, Any]]:
    identity = told["identity"]
    return [
        ("command", told["command"]),
        ("model, SHA-256", identity["model"]["sha256"]),
        ("data as read, SHA-256", identity["data"]["sha256"]),
        *identity["versions"].items(),
    ]


def _pct(value: float) -> str:
    return f"{100 * value:.2f}"
