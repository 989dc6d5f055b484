"""One look for all figures: colours that colour-blind people tell apart, bands for uncertainty."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from seqpa.errors import SeqpaError

# Okabe and Ito's palette, without its yellow, which is too light for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":", (0, (7, 2)), (0, (1, 2)), (0, (7, 2, 1, 2, 1, 2)))
_LOOK: Any = {
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.labelsize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.7,
    "svg.fonttype": "none",  # text as text: small files, searchable
    "svg.hashsalt": "seqpa",  # the same file each time
}


def need_matplotlib() -> None:
    """Complain, before hours of work, if figures cannot be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise SeqpaError(
            "figures need matplotlib, which is not installed; "
            "install it with: pip install 'seqpa[plot]'"
        ) from None


def panels(
    rows: int, columns: int, *, width: float = 5.4, height: float = 4.0, **sharing: Any
) -> tuple[Any, Any]:
    """An empty figure and its axes, [rows, columns]."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_LOOK):
        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False, **sharing)


def curve(
    axes: Any, x: ArrayLike, trials: ArrayLike, label: str, place: int, *, markers: bool = True
) -> None:
    """The mean over trials [trials, points] with its 95 % band; `place` chooses the look."""
    values = np.atleast_2d(np.asarray(trials, dtype=np.float64))
    mean, half = mean_and_half_width(values)
    colour = COLOURS[place % len(COLOURS)]
    axes.plot(
        x,
        mean,
        label=label,
        color=colour,
        linestyle=LINES[place % len(LINES)],
        linewidth=2.0,
        marker=MARKERS[place % len(MARKERS)] if markers else None,
        markersize=5.5,
    )
    if len(values) > 1:
        axes.fill_between(x, mean - half, mean + half, color=colour, alpha=0.18, linewidth=0)


def legend(axes: Any, title: str | None = None, **place: Any) -> None:
    """The names of the curves, without a box."""
    axes.legend(title=title, frameon=False, fontsize=11, **place)


def logarithmic(axes: Any, which: str) -> None:
    """The "x" or "y" axis logarithmic, its numbers written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    low, high = axis.get_view_interval()
    # As many numbers as stand beside each other.
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 40 * low else (1.0, 3.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axis.set_minor_locator(LogLocator(subs=(1.0,)))


def mean_and_half_width(trials: ArrayLike) -> tuple[Any, Any]:
    """The mean over the first axis, and half its 95 % confidence interval (Student's t).

    >>> mean, half = mean_and_half_width([[1.0, 5.0], [2.0, 5.0], [6.0, 5.0]])
    >>> mean, half.round(3)
    (array([3., 5.]), array([6.572, 0.   ]))
    """
    from scipy.stats import t

    values = np.asarray(trials, dtype=np.float64)
    n = len(values)
    if n < 2:
        return values.mean(axis=0), np.zeros(values.shape[1:])
    half = t.ppf(0.975, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)
    return values.mean(axis=0), half


def render(figure: Any, kind: str, label: str = "") -> bytes:
    """A figure as PNG or SVG; `label` is written across its foot."""
    import matplotlib as mpl

    out = io.BytesIO()
    with mpl.rc_context(_LOOK):
        if label and not figure.texts:
            figure.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))
            figure.text(0.5, 0.012, label, ha="center", color="#B00020", fontsize=11)
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(out, format=kind, dpi=150, metadata=metadata)
    return out.getvalue()
