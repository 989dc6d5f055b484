"""What was taken for what, with the sentences behind each number."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from seqpa.report.tagged import MISSED, WRONG_EXTENT, Mistake, Tagged

Cell = tuple[str | None, str | None]


def confusion(tagged: Tagged) -> dict[str, Any]:
    """The confusions of span types, or of labels where they mark no spans.

    Parameters
    ----------
    tagged : Tagged

    Returns
    -------
    dict
        ``of`` spans or labels; ``units``, those with most mistakes first; ``cells``, lists of
        gold, predicted, how many are right, have a wrong type, and have a wrong extent. A missed
        or an invented span has None in place of the type that is not there.

    Examples
    --------
    >>> tagged = Tagged([["Ada", "won"]], [["B-PER", "O"]], [["B-ORG", "O"]])
    >>> confusion(tagged)["cells"]
    [['PER', 'ORG', 0, 1, 0]]
    """
    right: Counter[str] = Counter()
    for gold, found in tagged.span_pairs:
        right.update(span[0] for span in set(gold) & set(found))
    wrong, extents = Counter[Cell](), Counter[Cell]()
    weight: Counter[str] = Counter()
    for mistake in tagged.mistakes:
        cell = cell_of(mistake)
        (extents if mistake.what == WRONG_EXTENT else wrong)[cell] += 1
        weight.update({name for name in cell if name is not None})
    cells: set[Cell] = {*wrong, *extents, *((kind, kind) for kind in right)}
    units = {name for cell in cells for name in cell if name is not None}
    rows: list[list[Any]] = [
        [*cell, right[cell[0] or ""] if cell[0] == cell[1] else 0, wrong[cell], extents[cell]]
        for cell in cells
    ]
    rows.sort(key=lambda row: (-(row[3] + row[4]), row[0] or "", row[1] or ""))
    return {
        "of": "spans" if tagged.of_spans else "labels",
        "units": sorted(units, key=lambda name: (-weight[name], name)),
        "cells": rows,
        "kinds": dict(sorted(Counter(mistake.what for mistake in tagged.mistakes).items())),
    }


def cell_of(mistake: Mistake) -> Cell:
    """Where a mistake stands: the right type and the predicted one, each None if there is none.

    Parameters
    ----------
    mistake : Mistake

    Returns
    -------
    (str or None, str or None)

    Examples
    --------
    >>> cell_of(Mistake(0, None, ("ORG", 3, 4), "invented"))
    (None, 'ORG')
    """
    return (
        None if mistake.gold is None else mistake.gold[0],
        None if mistake.predicted is None else mistake.predicted[0],
    )


def by_cell(tagged: Tagged) -> dict[Cell, dict[int, int]]:
    """The sentences behind each cell.

    Parameters
    ----------
    tagged : Tagged

    Returns
    -------
    dict
        By cell, then by the number of the sentence: how many such mistakes it has.

    Examples
    --------
    >>> by_cell(Tagged([["Ada", "won"]], [["B-PER", "O"]], [["O", "O"]]))
    {('PER', None): {0: 1}}
    """
    found: defaultdict[Cell, dict[int, int]] = defaultdict(dict)
    for mistake in tagged.mistakes:
        own = found[cell_of(mistake)]
        own[mistake.sentence] = own.get(mistake.sentence, 0) + 1
    return dict(found)


def shown_sentences(tagged: Tagged, wanted: set[int]) -> dict[int, dict[str, Any]]:
    """Sentences as pages show them: words, right spans and predicted ones, mistakes marked.

    Parameters
    ----------
    tagged : Tagged
    wanted : set of int
        Which, besides those with mistakes.

    Returns
    -------
    dict
        By number: ``w`` the words; ``g`` and ``p`` lists of type, start, end and what is wrong
        with it ("" for nothing). Where labels mark no spans, only the wrong ones are there.

    Examples
    --------
    >>> shown_sentences(Tagged([["Ada", "won"]], [["B-PER", "O"]], [["O", "O"]]), set())
    {0: {'w': ['Ada', 'won'], 'g': [['PER', 0, 1, 'missed']], 'p': []}}
    """
    marks: defaultdict[int, dict[tuple[bool, Any], str]] = defaultdict(dict)
    for mistake in tagged.mistakes:
        own = marks[mistake.sentence]
        if mistake.gold is not None:
            own[True, mistake.gold] = mistake.what
        if mistake.predicted is not None and mistake.what != MISSED:
            # A predicted span may be near two right ones; the first says what is wrong with it.
            own.setdefault((False, mistake.predicted), mistake.what)
    found = {}
    for number in sorted({*marks, *wanted}):
        gold, predicted = tagged.span_pairs[number]
        own = marks[number]
        right = set(gold) & set(predicted)
        rows: dict[str, list[list[Any]]] = {"g": [], "p": []}
        for key, units, is_gold in (("g", gold, True), ("p", predicted, False)):
            for unit in units:
                # Predicted beside a right span that another one is nearer to.
                what = "" if unit in right else own.get((is_gold, unit), WRONG_EXTENT)
                if tagged.of_spans or what:
                    rows[key].append([*unit, what])
        found[number] = {"w": tagged.words[number], **rows}
    return found
