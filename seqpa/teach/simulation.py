"""Sessions that were played, compared: what each strategy takes, in tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.errors import SeqpaError
from seqpa.experiments import figures
from seqpa.experiments.outcome import Check, Outcome, Rows, markdown_table
from seqpa.experiments.setup import Setup
from seqpa.files import check_folder
from seqpa.teach.model import ASKED as LIMIT
from seqpa.teach.queue import STRATEGY
from seqpa.teach.simulate import (
    EPOCHS,
    Gold,
    Point,
    Trial,
    full_score,
    play,
    strategies,
    way,
)

PART = 0.95  # of the score with all labels, which is to be reached ...
TOKENS = 0.6  # ... with this share of the tokens that chance takes, ...
KEYS = 0.6  # ... and this share of the keys saved
CHANCE = "random"
ASKED = f"{STRATEGY}/unsure"
SEEDS = 5
_TITLE = "Teaching, played: "
_FILES = ("report.md", "points.csv", "reached.csv", "teach.png", "teach.svg")

# What is looked at where the score is reached.
_AT = (
    "tokens", "read", "keys", "keys_held", "keys_once", "by_hand", "by_hand_held", "updates",
    "live",
)  # fmt: skip

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Wanted:
    """What is to be played.

    Parameters
    ----------
    name : str
        Of the corpus.
    gold, test : Gold
    strategies : tuple of str
        As `seqpa.teach.simulate.strategies` has them, with "random".
    seeds : int
    features : None or str
        A preset.
    noise : float
    budget : int
        Tokens, at most.
    """

    name: str
    gold: Gold
    test: Gold
    strategies: tuple[str, ...] = strategies()
    seeds: int = SEEDS
    features: str | None = None
    noise: float = 0.0
    budget: int = 10**9


@dataclass(frozen=True)
class _Full:
    """The score with all labels, for one seed: a task for another process."""

    wanted: Wanted
    seed: int


@dataclass(frozen=True)
class _Session:
    """A session: a task for another process."""

    wanted: Wanted
    trial: Trial


def _full(task: _Full) -> float:
    own = task.wanted
    return full_score(own.gold, own.test, own.features, task.seed)


def _session(task: _Session) -> list[Point]:
    return list(play(task.wanted.gold, task.wanted.test, task.trial))


def simulate(wanted: Wanted, setup: Setup) -> Iterator[tuple[str, float, Rows]]:
    """Play all sessions, strategy by strategy.

    Parameters
    ----------
    wanted : Wanted
    setup : Setup
        How many at once, and whom to tell.

    Yields
    ------
    strategy : str
    full : float
        The score with all labels.
    rows : list of dict
        Every checkpoint of its sessions: what `Point` has, with the strategy and the seed.
    """
    seeds = range(wanted.seeds)
    scores = setup.each("all labels", _full, [_Full(wanted, seed) for seed in seeds])
    full = float(np.mean(scores))
    for name in wanted.strategies:
        strategy, confirm = way(name)
        trials = [
            Trial(
                strategy,
                seed,
                wanted.features,
                wanted.noise,
                until=PART * full,
                budget=wanted.budget,
                confirm=confirm,
            )
            for seed in seeds
        ]
        played = setup.each(name, _session, [_Session(wanted, trial) for trial in trials])
        rows = [
            {"strategy": name, "seed": trial.seed, **point._asdict()}
            for trial, points in zip(trials, played, strict=True)
            for point in points
        ]
        yield name, full, rows


def reached(rows: Rows, full: float, part: float = PART) -> Rows:
    """For each session what it took until its settled tagger reached a part of the full score.

    Parameters
    ----------
    rows : list of dict
        Checkpoints, those of a session in order.
    full : float
    part : float

    Returns
    -------
    list of dict
        strategy, seed, and where the score lies between two checkpoints: what `Point` has of
        tokens, keys and updates, and live. Without these where it never was reached.

    Examples
    --------
    >>> head = {"strategy": "margin", "seed": 0, **dict.fromkeys(_AT, 8)}
    >>> one = {**head, "tokens": 100, "keys": 40, "by_hand": 200, "settled": 0.90}
    >>> two = {**head, "tokens": 200, "keys": 60, "by_hand": 400, "settled": 0.98}
    >>> found = reached([one, two], 1.0, 0.94)[0]
    >>> round(found["tokens"]), round(found["keys"]), round(found["by_hand"])
    (150, 50, 300)
    """
    sessions: dict[tuple[str, int], Rows] = {}
    for row in rows:
        sessions.setdefault((row["strategy"], row["seed"]), []).append(row)
    found: Rows = []
    for (strategy, seed), own in sessions.items():
        target = part * full
        at = next((i for i, row in enumerate(own) if row["settled"] >= target), None)
        session: dict[str, Any] = {"strategy": strategy, "seed": seed}
        if at is not None:
            after, before = own[at], own[max(at - 1, 0)]
            rise = after["settled"] - before["settled"]
            share = (target - before["settled"]) / rise if rise > 0 else 1.0
            for name in _AT:
                session[name] = float(before[name] + share * (after[name] - before[name]))
        found.append(session)
    return found


@dataclass(frozen=True)
class Summary:
    """What a strategy took, the mean over the seeds; NaN where a session did not get there.

    Attributes
    ----------
    strategy : str
    tokens, half_width : float
        Until the part of the full score was reached; ± 95 %.
    share : float
        Of the tokens that chance takes: the ratio of the means.
    share_low, share_high : float
        Between which it is, by drawing the seeds again.
    read : float
        All tokens of the sentences until then, also those that were left to the model.
    keys, by_hand, updates : float
        Until then.
    saved : float
        The share of keys saved, beside labelling the same sentences by hand.
    saved_held : float
        The same, every move counted as one key.
    saved_once : float
        The same without decoding again after each correction.
    saved_order : float
        Beside labelling by hand what chance takes.
    """

    strategy: str
    tokens: float
    half_width: float
    share: float
    share_low: float
    share_high: float
    read: float
    keys: float
    by_hand: float
    updates: float
    saved: float
    saved_held: float
    saved_once: float
    saved_order: float


def summaries(rows: Rows, full: float) -> dict[str, Summary]:
    """What each strategy took.

    Parameters
    ----------
    rows : list of dict
        Every checkpoint; without those of chance, nothing can be compared with it.
    full : float

    Returns
    -------
    dict
        By strategy.
    """
    taken = reached(rows, full)

    def of(strategy: str, name: str) -> Floats:
        mine = [row for row in taken if row["strategy"] == strategy]
        return np.array([row.get(name, np.nan) for row in mine])

    chance, chance_hand = of(CHANCE, "tokens"), of(CHANCE, "by_hand")
    found = {}
    for strategy in dict.fromkeys(row["strategy"] for row in taken):
        tokens, keys, hand = (of(strategy, name) for name in ("tokens", "keys", "by_hand"))
        _, half = figures.mean_and_half_width(tokens)
        low, high = _interval(tokens, chance)
        found[strategy] = Summary(
            strategy,
            float(tokens.mean()),
            float(half),
            float(tokens.mean() / chance.mean()) if len(chance) else float("nan"),
            low,
            high,
            float(of(strategy, "read").mean()),
            float(keys.mean()),
            float(hand.mean()),
            float(of(strategy, "updates").mean()),
            float(1.0 - keys.sum() / hand.sum()),
            float(1.0 - of(strategy, "keys_held").sum() / of(strategy, "by_hand_held").sum()),
            float(1.0 - of(strategy, "keys_once").sum() / hand.sum()),
            float(1.0 - keys.mean() / chance_hand.mean()) if len(chance) else float("nan"),
        )
    return found


def _interval(tokens: Floats, chance: Floats) -> tuple[float, float]:
    """Of the ratio of means, where the seeds were drawn again a thousand times."""
    if len(tokens) < 2 or len(chance) < 2 or np.isnan([*tokens, *chance]).any():
        return float("nan"), float("nan")
    rng = np.random.default_rng(0)
    one, other = (own[rng.integers(len(own), size=(1000, len(own)))] for own in (tokens, chance))
    low, high = np.quantile(one.mean(axis=1) / other.mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def check_place(folder: Path, force: bool) -> None:
    """Find out before the work whether a report may be written into a folder.

    Parameters
    ----------
    folder : Path
    force : bool
        Whether files of our names may be replaced that no such report made.

    Raises
    ------
    SeqpaError
        If something of the user's would be lost, or nothing can be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "report.md").write_text("# Years of work")
    >>> check_place(folder, False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: ...report.md: is there already, and of something else; name another \
folder, or say --force
    """
    check_folder(folder)
    there = [folder / name for name in _FILES if (folder / name).exists()]
    if force or not there:
        return
    try:
        with there[0].open(encoding="utf-8") as file:
            ours = there[0].name == _FILES[0] and file.readline().startswith(f"# {_TITLE}")
    except (OSError, UnicodeDecodeError):
        ours = False
    if not ours:
        raise SeqpaError(
            f"{there[0]}: is there already, and of something else; name another folder, or say "
            "--force"
        )


def outcome(wanted: Wanted, full: float, rows: Rows) -> Outcome:
    """The report of sessions that were played.

    Parameters
    ----------
    wanted : Wanted
    full : float
    rows : list of dict

    Returns
    -------
    Outcome
    """
    score = "F1" if wanted.gold.kind == "spans" else "accuracy"
    found = summaries(rows, full)
    n_tokens = sum(map(len, wanted.gold.tokens))
    noise = f" who errs with probability {wanted.noise:g}" if wanted.noise else " who never errs"
    return Outcome(
        title=f"{_TITLE}{wanted.name}",
        intro=f"""
An annotator{noise} labels {wanted.name} ({len(wanted.gold.tokens):,} sentences, {n_tokens:,}
tokens) in the order in which a queue asks for it, by each strategy and by chance, with
{wanted.seeds} seeds. Scores are {score} on {len(wanted.test.tokens):,} other sentences. A tagger
that is trained on all of it scores {100 * full:.2f}; to be reached are {100 * PART:.0f} % of that,
{100 * PART * full:.2f}, by a *settled* tagger: one that is trained anew ({EPOCHS} epochs, the same
features) on what was labelled. The *live* one, which proposes, learned from each sentence once, and
from some earlier ones again. A session ends at the first checkpoint that reaches the score.

A sentence that is labelled whole counts with all of its tokens, since all are judged. By
*NAME/unsure* the annotator is asked only for the words that the model is less than
{100 * LIMIT:.0f} % sure of, and leaves the rest of the sentence to it, mistakes included; *tokens*
are then those that were confirmed or corrected, *read* are all of the sentences that were shown.
What is left to the model teaches nothing. By every strategy some sentences come by chance, are
labelled whole, and count.

Keys are those of the page: an arrow for each word (or the key that goes to the next marked word,
Home or End, if that is shorter), one for each word that a span goes on, one to label or clear (with
more than ten labels as many letters as tell its name, and Enter), one to accept; after each
correction the rest is proposed anew, and the cursor goes to the next marked word. *By hand* is the
same for the same sentences, whole, without any proposal. Numbers between two checkpoints are on the
line between them; ± and intervals are 95 %.
""",
        tables={"points": rows, "reached": reached(rows, full)},
        figures={
            "teach": (
                f"{score} against labelled tokens, keys and updates",
                lambda: _draw(wanted, full, rows),
            )
        },
        checks=_checks(wanted, found),
        notes=[_table(found), _lengths(rows)],
    )


def _checks(wanted: Wanted, found: dict[str, Summary]) -> list[Check]:
    chance = found.get(CHANCE)
    if chance is None:
        return []
    checks = []
    for name in (STRATEGY, ASKED):
        own = found.get(name)
        if own is None or np.isnan(own.share):
            continue  # nothing can be said where one of the two did not get there
        checks.append(
            Check(
                f"{wanted.name}, {name}",
                f"{100 * PART:.0f} % of the full score with at most {100 * TOKENS:.0f} % of the "
                "tokens that random order takes",
                own.share <= TOKENS,
                f"{own.tokens:,.0f} against {chance.tokens:,.0f}: {100 * own.share:.0f} % "
                f"({100 * own.share_low:.0f} to {100 * own.share_high:.0f}); "
                f"read: {own.read:,.0f}",
            )
        )
    for name in (STRATEGY, ASKED, CHANCE):
        own = found.get(name)
        if own is None or np.isnan(own.saved):
            continue
        checks.append(
            Check(
                f"{wanted.name}, {name}",
                "pre-labelling and decoding again save at least "
                f"{100 * KEYS:.0f} % of the keys of labelling the same sentences by hand",
                own.saved >= KEYS,
                f"{own.keys:,.0f} against {own.by_hand:,.0f}: {100 * own.saved:.0f} % saved "
                f"({100 * own.saved_once:.0f} % without decoding again; "
                f"{100 * own.saved_held:.0f} % if every move is one key)",
            )
        )
    return checks


def not_reached(found: Mapping[str, Summary]) -> str:
    """Which strategies did not get to the score, so that nothing is claimed of them.

    Parameters
    ----------
    found : mapping of str to Summary
        By strategy.

    Returns
    -------
    str
        A sentence; nothing where all got there.

    Examples
    --------
    >>> rest = dict.fromkeys(Summary.__dataclass_fields__, float("nan"))
    >>> not_reached({"margin": Summary(**{**rest, "strategy": "margin"})})
    'not reached by margin, in some session at least, before the budget or the sentences ended'
    """
    names = [own.strategy for own in found.values() if np.isnan(own.tokens)]
    if not names:
        return ""
    return (
        f"not reached by {', '.join(names)}, in some session at least, before the budget or the "
        "sentences ended"
    )


def summary_row(own: Summary) -> tuple[str, ...]:
    """The cells of a strategy, for a table: see `HEAD`.

    Parameters
    ----------
    own : Summary
    """
    if np.isnan(own.tokens):
        return (own.strategy, "not reached", *["-"] * (len(HEAD) - 2))
    return (
        own.strategy,
        f"{own.tokens:,.0f} ± {own.half_width:,.0f}",
        "-" if np.isnan(own.share) else f"{100 * own.share:.0f} %",
        f"{own.read:,.0f}",
        f"{own.updates:,.0f}",
        f"{own.keys:,.0f}",
        f"{100 * own.saved:.0f} %",
        f"{100 * own.saved_held:.0f} %",
        f"{100 * own.saved_once:.0f} %",
        "-" if np.isnan(own.saved_order) else f"{100 * own.saved_order:.0f} %",
    )


HEAD = (
    "strategy",
    "tokens",
    "of random's",
    "read",
    "updates",
    "keys",
    "saved",
    "saved, a move one key",
    "saved, decoded once",
    "saved, beside random by hand",
)


def _table(found: dict[str, Summary]) -> str:
    missing = not_reached(found)
    return (
        "## What it takes to reach it\n\n*Saved* is the share of keys, beside labelling the same "
        "sentences by hand; *a move one key*: however far it is; *decoded once*: without new "
        "proposals after corrections; *beside random by hand* is what random order takes by hand "
        "for the same score.\n\n"
        + markdown_table(HEAD, [summary_row(own) for own in found.values()])
        + (f"\n\nThe score was {missing}: no claim is made of that." if missing else "")
    )


def _lengths(rows: Rows) -> str:
    last = {(row["strategy"], row["seed"]): row for row in rows}
    lines = []
    for strategy in dict.fromkeys(row["strategy"] for row in rows):
        own = [row for (name, _), row in last.items() if name == strategy]
        sums = {
            name: sum(row[name] for row in own)
            for name in ("tokens", "read", "sentences", "corrected")
        }
        lines.append(
            (
                strategy,
                f"{sums['read'] / sums['sentences']:.1f}",
                f"{sums['tokens'] / sums['sentences']:.1f}",
                f"{100 * sums['corrected'] / sums['tokens']:.1f} %",
                f"{100 * float(np.mean([row['live'] for row in own])):.2f}",
                f"{100 * float(np.mean([row['settled'] for row in own])):.2f}",
            )
        )
    head = (
        "strategy", "tokens a sentence", "of these judged", "of the judged corrected",
        "live at the end", "settled",
    )  # fmt: skip
    return "## What was asked for\n\n" + markdown_table(head, lines)


def _draw(wanted: Wanted, full: float, rows: Rows) -> Any:
    figure, axes = figures.panels(1, 4, width=4.4, height=4.2)
    played = dict.fromkeys(row["strategy"] for row in rows)
    # Those with a band first: their looks are their own.
    banded = [name for name in (CHANCE, STRATEGY, ASKED) if name in played]
    names = [*banded, *(name for name in played if name not in banded)]
    score = "F1" if wanted.gold.kind == "spans" else "accuracy"
    panels = (
        ("tokens", "settled", "labelled tokens", "settled tagger"),
        ("tokens", "live", "labelled tokens", "live tagger"),
        ("keys", "settled", "keys pressed", "settled tagger"),
        ("updates", "settled", "lessons that moved the weights", "settled tagger"),
    )
    for panel, (x, y, label, title) in zip(axes[0], panels, strict=True):
        for place, strategy in enumerate(names):
            at, scores = _averaged(rows, strategy, x, y)
            if strategy not in banded:
                scores = scores.mean(axis=0, keepdims=True)  # nine bands would hide one another
            figures.curve(panel, at, 100 * scores, strategy, place, markers=False)
            if place >= len(figures.COLOURS):  # the looks begin again: not that of the first
                panel.lines[-1].set_color("#777777")
        panel.axhline(100 * PART * full, color="#777777", linewidth=1.2, linestyle=":")
        panel.set_title(title)
        panel.set_xlabel(label)
        figures.logarithmic(panel, "x")
    axes[0, 0].set_ylabel(f"{score} in %")
    figures.legend(axes[0, 1], loc="lower right")
    return figure


def _averaged(rows: Rows, strategy: str, x: str, y: str) -> tuple[Floats, Floats]:
    """Scores of all seeds at the same places, as far as all sessions went: the places and
    [seeds, places]."""
    sessions: dict[int, Rows] = {}
    for row in rows:
        if row["strategy"] == strategy:
            sessions.setdefault(row["seed"], []).append(row)
    begin = max(own[0][x] for own in sessions.values())
    end = min(own[-1][x] for own in sessions.values())
    at = np.geomspace(max(begin, 1), max(end, begin, 1), 40)
    scores = [
        np.interp(np.log(at), np.log([max(row[x], 1) for row in own]), [row[y] for row in own])
        for own in sessions.values()
    ]
    return at, np.array(scores)
