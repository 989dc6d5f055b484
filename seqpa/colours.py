"""The colours of labels, wherever they are shown: a name has the same colour on every page.

Eight colours, each for light and for dark pages: a ground, and an ink for text and lines. The inks
have a contrast of 4.5 and more on their grounds and on the pages (WCAG 2.2, AA). The grounds stay
apart for people who see no red, no green or no blue. There may be more labels than colours, and
pages may be printed in grey, so a colour never stands without the label's name.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import NamedTuple

from seqpa.schemes import OUTSIDE, type_of


class Colour(NamedTuple):
    """A colour for light and for dark pages, as CSS writes them.

    Attributes
    ----------
    name : str
        In English.
    ground, ink : str
        For light pages: behind the text of a label, and for text and lines.
    dark_ground, dark_ink : str
        The same for dark pages.
    """

    name: str
    ground: str
    ink: str
    dark_ground: str
    dark_ink: str


# Chosen for the largest least distance (in OKLab) between two grounds, among tints of eight fixed
# hues, as people see them with all three kinds of cones and with each one missing.
PALETTE = (
    Colour("blue", "#b1d6f7", "#2f5383", "#12244d", "#7fa7dd"),
    Colour("orange", "#f8c07e", "#724310", "#764a05", "#fdc89b"),
    Colour("green", "#d0f4e0", "#2f6f49", "#45624b", "#abedc1"),
    Colour("rose", "#f09998", "#672831", "#470a28", "#d78d93"),
    Colour("violet", "#c1b1fb", "#473a71", "#413169", "#b2a7e6"),
    Colour("yellow", "#f4ed9e", "#705f18", "#402f00", "#b6a461"),
    Colour("teal", "#8bbfc5", "#08494f", "#255059", "#75d2dd"),
    Colour("brown", "#d9cfc3", "#5e4f41", "#583f2e", "#ccbaaa"),
)
# What pages are made of, for which the inks were chosen.
PAGE = "#ffffff"
DARK_PAGE = "#16181d"

_FIRST_CHOICES = {
    "per": 0, "person": 0, "loc": 2, "gpe": 2, "location": 2, "org": 4, "organization": 4,
    "misc": 1, "date": 5, "time": 5, "np": 0, "vp": 1, "pp": 2, "noun": 0, "verb": 1, "adj": 2,
}  # fmt: skip


def kind_of(label: str) -> str:
    """What a label's colour stands for: the type of its span, or the label itself.

    Parameters
    ----------
    label : str

    Returns
    -------
    str
        Empty for O, which has no colour.

    Examples
    --------
    >>> kind_of("B-PER"), kind_of("NOUN"), kind_of("O")
    ('PER', 'NOUN', '')
    """
    if label == OUTSIDE:
        return ""
    return type_of(label) or label


def colours(labels: Iterable[str]) -> dict[str, Colour]:
    """A colour for each type of span, or for each label where they mark no spans.

    Every name has a first choice of its own, so that it keeps its colour from model to model; of
    two with the same one, the second in the alphabet takes the next colour that is free. From the
    ninth on, colours are used again.

    Parameters
    ----------
    labels : iterable of str
        All labels of a model, or all types, in any order.

    Returns
    -------
    dict of str to Colour
        By `kind_of` the labels, in the order of the alphabet.

    Examples
    --------
    >>> chosen = colours(["O", "B-PER", "I-PER", "B-LOC"])
    >>> {kind: colour.name for kind, colour in chosen.items()}
    {'LOC': 'green', 'PER': 'blue'}
    >>> colours(["PER"])["PER"].ground
    '#b1d6f7'
    """
    kinds = sorted({kind_of(label) for label in labels} - {""})
    used = [0] * len(PALETTE)
    places = {}
    # Names that everybody knows choose before those whose first choice is a sum of their letters.
    for kind in sorted(kinds, key=lambda kind: kind.lower() not in _FIRST_CHOICES):
        first = _first_choice(kind)
        ring = [(first + step) % len(PALETTE) for step in range(len(PALETTE))]
        place = min(ring, key=used.__getitem__)
        used[place] += 1
        places[kind] = place
    return {kind: PALETTE[places[kind]] for kind in kinds}


def _first_choice(kind: str) -> int:
    name = kind.lower()
    return _FIRST_CHOICES.get(name, zlib.crc32(name.encode("utf-8", "replace")) % len(PALETTE))
