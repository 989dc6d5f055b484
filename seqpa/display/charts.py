"""Small charts as SVG: pure functions of numbers, for pages, notebooks and printers.

Text and lines take the colour of the text around them, and series have colours that are seen on
light and on dark grounds, so that one picture serves both. Each has a title and a description for
those who do not see it. No style attribute is used, which strict pages refuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqpa.display.html import text as escaped

# A contrast of 3 and more on white and on nearly black, and apart for all kinds of eyes.
BLUE, ORANGE, GREY = "#3b7dc0", "#c8651b", "#7d828c"
_FONT = "system-ui, sans-serif"
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 14, 36


@dataclass(frozen=True, slots=True)
class Line:
    """One series of a chart.

    Parameters
    ----------
    points : sequence of (float, float)
        In the order in which they are joined.
    colour : str
        As SVG has it.
    name : str
        Shown at the end of the line, where it is given.
    dots : bool
        Whether each point has a dot.
    """

    points: Sequence[tuple[float, float]]
    colour: str = BLUE
    name: str = ""
    dots: bool = True


@dataclass(frozen=True, slots=True)
class Frame:
    """What a chart is about, and how large it is.

    Parameters
    ----------
    title : str
        For those who do not see it.
    x, y : str
        What the axes are.
    x_range, y_range : (float, float), optional
        From where to where; by default as the points need it.
    percent : bool
        Whether y is told in percent.
    percent_x : bool
        Whether x is told in percent.
    whole_x : bool
        Whether x is a count.
    mark : (float, str), optional
        A place on the x axis, and what is there.
    diagonal : bool
        Whether x = y is drawn.
    width, height : int
        In pixels.
    """

    title: str
    x: str
    y: str
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    percent: bool = False
    percent_x: bool = False
    whole_x: bool = False
    mark: tuple[float, str] | None = None
    diagonal: bool = False
    width: int = 340
    height: int = 210


def line_chart(lines: Sequence[Line], frame: Frame) -> str:
    """Lines over two axes.

    Parameters
    ----------
    lines : sequence of Line
        At least one with a point.
    frame : Frame

    Returns
    -------
    str
        An SVG element.

    Examples
    --------
    >>> picture = line_chart([Line([(1, 0.5), (2, 0.25)])], Frame("Loss", "epoch", "loss"))
    >>> picture.count("<circle"), picture.startswith("<svg"), "<title>Loss: " in picture
    (2, True, True)
    """
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points]
    x_low, x_high = _spread(*(frame.x_range or (min(xs), max(xs))), 0.0)
    y_low, y_high = _spread(*(frame.y_range or (min(ys), max(ys))), 0.0 if frame.y_range else 0.08)
    wide, high = frame.width - _LEFT - _RIGHT, frame.height - _TOP - _BOTTOM

    def at_x(x: float) -> float:
        return _LEFT + wide * (x - x_low) / (x_high - x_low)

    def at_y(y: float) -> float:
        return _TOP + high * (1 - (y - y_low) / (y_high - y_low))

    parts = [_opening(frame.width, frame.height, _told(lines, frame))]
    for value in ticks(y_low, y_high):
        parts.append(_rule(_LEFT, at_y(value), frame.width - _RIGHT, at_y(value), 0.14))
        shown = f"{100 * value:g}" if frame.percent else f"{value:g}"
        parts.append(_text(_LEFT - 6, at_y(value) + 3.5, shown, "end"))
    for value in ticks(x_low, x_high, whole=frame.whole_x):
        shown = f"{100 * value:g}" if frame.percent_x else f"{value:g}"
        parts.append(_text(at_x(value), frame.height - _BOTTOM + 15, shown, "middle"))
    parts.append(_rule(_LEFT, _TOP + high, frame.width - _RIGHT, _TOP + high, 0.5))
    parts.append(_text(_LEFT + wide / 2, frame.height - 5, frame.x, "middle"))
    if frame.diagonal:
        low, top = max(x_low, y_low), min(x_high, y_high)
        parts.append(_rule(at_x(low), at_y(low), at_x(top), at_y(top), 0.45, dashed=True))
    if frame.mark is not None:
        place, told = frame.mark
        parts.append(_rule(at_x(place), _TOP, at_x(place), _TOP + high, 0.45, dashed=True))
        right = at_x(place) > _LEFT + wide / 2
        parts.append(
            _text(at_x(place) + (-5 if right else 5), _TOP + 9, told, "end" if right else "start")
        )
    for line in lines:
        path = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in line.points)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{line.colour}" stroke-width="2" '
            'stroke-linejoin="round" stroke-linecap="round"/>'
        )
        if line.dots:
            parts += [
                f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="2.6" fill="{line.colour}"/>'
                for x, y in line.points
            ]
        if line.name and line.points:
            x, y = line.points[-1]
            parts.append(_text(at_x(x) - 4, at_y(y) - 7, line.name, "end"))
    return "".join([*parts, "</svg>"])


def interval_bar(value: float, low: float, high: float, lowest: float, width: int = 132) -> str:
    """A score between the limits of its interval, on a line from `lowest` to 1.

    Parameters
    ----------
    value, low, high : float
        The score and its limits.
    lowest : float
        Where the line begins.
    width : int
        In pixels.

    Returns
    -------
    str
        An SVG element, without words: it stands beside its numbers.

    Examples
    --------
    >>> interval_bar(0.75, 0.5, 1.0, 0.0).count("<line")
    2
    """
    span = max(1 - lowest, 1e-9)

    def at(score: float) -> float:
        return 4 + (width - 8) * min(max((score - lowest) / span, 0.0), 1.0)

    return (
        f'<svg class="interval" viewBox="0 0 {width} 16" width="{width}" height="16" '
        'aria-hidden="true" focusable="false">'
        f"{_rule(4, 8, width - 4, 8, 0.18)}"
        f'<line x1="{at(low):.1f}" y1="8" x2="{at(high):.1f}" y2="8" stroke="{BLUE}" '
        'stroke-width="3" stroke-opacity="0.5" stroke-linecap="round"/>'
        f'<circle cx="{at(value):.1f}" cy="8" r="4" fill="{BLUE}"/></svg>'
    )


def share_bar(share: float, width: int = 132, colour: str = BLUE) -> str:
    """A bar from the left, for a share between 0 and 1.

    Parameters
    ----------
    share : float
    width : int
        Of the whole, in pixels.
    colour : str
        As SVG has it.

    Returns
    -------
    str
        An SVG element, without words: it stands beside its number.

    Examples
    --------
    >>> 'width="50.0"' in share_bar(0.5, 100)
    True
    """
    return (
        f'<svg class="share" viewBox="0 0 {width} 10" width="{width}" height="10" '
        'aria-hidden="true" focusable="false">'
        f'<rect width="{width}" height="10" rx="2" fill="currentColor" fill-opacity="0.1"/>'
        f'<rect width="{width * min(max(share, 0.0), 1.0):.1f}" height="10" rx="2" '
        f'fill="{colour}"/></svg>'
    )


def ticks(low: float, high: float, most: int = 5, whole: bool = False) -> list[float]:
    """Round numbers between two limits.

    Parameters
    ----------
    low, high : float
        The limits.
    most : int
        About so many.
    whole : bool
        Whether only whole numbers will do.

    Returns
    -------
    list of float

    Examples
    --------
    >>> ticks(0, 1), ticks(1, 4, whole=True), ticks(0.71, 0.9)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [1.0, 2.0, 3.0, 4.0], [0.75, 0.8, 0.85, 0.9])
    >>> ticks(1, 1)
    [1.0]
    """
    if not high > low:
        return [float(low)]
    rough = (high - low) / most
    power = 1.0
    while power > rough:
        power /= 10
    while power * 10 <= rough:
        power *= 10
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.75)
    if whole:
        step = max(1.0, round(step))
    first = int(-(-(low - 1e-9 * step) // step))
    last = int((high + 1e-9 * step) // step)
    return [round(n * step, 10) for n in range(first, last + 1)]


def _spread(low: float, high: float, margin: float) -> tuple[float, float]:
    """The limits, with some room; never the same."""
    room = (high - low) * margin or (0.0 if high > low else max(abs(high) * 0.05, 0.05))
    return low - room, high + room


def _told(lines: Sequence[Line], frame: Frame) -> str:
    """The chart in words."""
    told = []
    for line in lines:
        if not line.points:
            continue
        (x0, y0), (x1, y1) = line.points[0], line.points[-1]
        name = f"{line.name}: " if line.name else ""
        first, last = (f"{100 * y:.1f} %" if frame.percent else f"{y:.3g}" for y in (y0, y1))
        told.append(f"{name}{first} at {frame.x} {x0:.3g}, {last} at {x1:.3g}")
    return f"{frame.title}: {frame.y}. {'; '.join(told)}"


def _opening(width: int, height: int, told: str) -> str:
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="{_FONT}" font-size="11" fill="currentColor">'
        f"<title>{escaped(told)}</title>"
    )


def _rule(x1: float, y1: float, x2: float, y2: float, opacity: float, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="4 4"' if dashed else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" '
        f'stroke-opacity="{opacity}"{dashes}/>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escaped(text)}</text>'
