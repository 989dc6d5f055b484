"""Colours of labels: readable, told apart with any kind of eyes, the same on every page."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa.colours import DARK_PAGE, PAGE, PALETTE, colours, kind_of

# How colours look without one kind of cones (Machado and others 2009), on linear RGB.
EYES = {
    "all cones": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
         [0.004733, 0.691367, 0.303900]]
    ),
}  # fmt: skip
TO_CONES = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
TO_LAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    """WCAG's: of the brighter to the darker, each with 0.05 of stray light."""
    dark, bright = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) + 0.05 for c in (a, b))
    return bright / dark


def lab(colour: str, eyes: np.ndarray) -> np.ndarray:
    return TO_LAB @ np.cbrt(TO_CONES @ np.clip(eyes @ linear(colour), 0, 1))


def test_contrast_of_black_on_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("colour", PALETTE, ids=lambda colour: colour.name)
def test_inks_are_readable(colour) -> None:
    for ink, grounds in (
        (colour.ink, (colour.ground, PAGE)),
        (colour.dark_ink, (colour.dark_ground, DARK_PAGE)),
    ):
        assert min(contrast(ink, ground) for ground in grounds) >= 4.5
    assert contrast("#1b1c1f", colour.ground) >= 7  # plain text on a label
    assert contrast("#e8e8ea", colour.dark_ground) >= 4.5


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("which", ["ground", "dark_ground"])
def test_grounds_are_told_apart(eyes, which) -> None:
    seen = [lab(getattr(colour, which), EYES[eyes]) for colour in PALETTE]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 0.06


@given(st.lists(st.text(max_size=6), max_size=30))
def test_order_and_repeats_do_not_matter(labels) -> None:
    chosen = colours(labels)
    assert chosen == colours([*reversed(labels), *labels])
    assert set(chosen) == {kind_of(label) for label in labels} - {""}
    counts = [sum(c is one for c in chosen.values()) for one in PALETTE]
    assert max(counts) - min(counts) <= 1  # none is used twice while another is free


def test_names_keep_their_colours() -> None:
    few, many = colours(["B-PER"]), colours(["B-PER", "B-LOC", "B-AAA", "I-ZZZ", "O"])
    assert few["PER"] == many["PER"]
