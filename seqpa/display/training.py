"""A training as it goes on: curves that grow with each epoch, in any notebook."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from seqpa.display.charts import Frame, Line, line_chart
from seqpa.display.html import FONT, Html, tag, text


def in_notebook() -> bool:
    """Whether the code runs in a notebook, whose displays can be updated.

    Returns
    -------
    bool
        False in scripts and in IPython on a terminal; IPython is never imported for it.

    Examples
    --------
    >>> in_notebook()
    False
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


class LiveCurve:
    """Curves of loss, mistakes and dev score, drawn again after each epoch.

    A notebook needs nothing but IPython for it: no widgets and no JavaScript.

    Parameters
    ----------
    epochs : int
        How many there are to be.

    Examples
    --------
    >>> from seqpa.sequence.learner import Epoch
    >>> curve = LiveCurve(5)
    >>> curve.add(Epoch(10, 80, 4, 6, 4, 6.0, 2.5, 2.0))
    >>> curve.view().text
    'epoch 1 of 5, loss 0.2500, mistakes 7.50 %'
    """

    def __init__(self, epochs: int) -> None:
        self._epochs = epochs
        self._seen: list[Any] = []
        self._notes: list[str] = []
        self._handle: Any = None

    def add(self, epoch: Any) -> None:
        """Take up an epoch.

        Parameters
        ----------
        epoch : Epoch
            What was counted and measured.
        """
        self._seen.append(epoch)

    def show(self, epoch: Any) -> None:
        """Take up an epoch, and draw the curves again where they stand.

        Parameters
        ----------
        epoch : Epoch
        """
        self.add(epoch)
        self._draw()

    def tell(self, what: str) -> None:
        """Say in a few words what is done before the first epoch.

        Parameters
        ----------
        what : str
        """
        self._notes.append(what)
        self._draw()

    def _draw(self) -> None:
        show = import_module("IPython.display").display  # there is no notebook without it
        if self._handle is None:
            self._handle = show(self.view(), display_id=True)
        else:
            self._handle.update(self.view())

    def view(self) -> Html:
        """The curves so far.

        Returns
        -------
        Html
        """
        if not self._seen:
            told = self._notes[-1] if self._notes else "training begins"
            return Html(tag("div", f"{FONT};opacity:.75", text(told)), told)
        last = self._seen[-1]
        wrong = 100 * last.wrong_tokens / max(last.tokens, 1)
        parts = [
            f"epoch {last.number} of {self._epochs}",
            f"loss {last.loss / max(last.sentences, 1):.4f}",
            f"mistakes {wrong:.2f} %",
        ]
        if last.dev_score is not None:
            parts.append(f"dev {last.dev_metric} {100 * last.dev_score:.2f}")
        told = ", ".join(parts)
        line = tag("div", "opacity:.75;font-size:.92em;margin-bottom:.3em", text(told))
        charts = tag("div", "display:flex;flex-wrap:wrap;gap:1em", *self._charts())
        return Html(tag("div", FONT, line, charts), told)

    def _charts(self) -> list[str]:
        loss = [(one.number, one.loss / max(one.sentences, 1)) for one in self._seen]
        wrong = [(one.number, one.wrong_tokens / max(one.tokens, 1)) for one in self._seen]
        found = [self._chart("Loss of a sentence", loss, False)]
        found.append(self._chart("Wrong labels, %", wrong, True))
        dev = [(one.number, one.dev_score) for one in self._seen if one.dev_score is not None]
        if dev:
            found.append(self._chart(f"Dev {self._seen[-1].dev_metric}, %", dev, True))
        return found

    def _chart(self, title: str, points: list[tuple[float, float]], percent: bool) -> str:
        best = [one.number for one in self._seen if one.best and one.dev_score is not None]
        frame = Frame(
            title,
            "epoch",
            title.lower(),
            (1, max(self._epochs, 2)),
            percent=percent,
            whole_x=True,
            mark=(best[-1], "best") if best else None,
            width=250,
            height=160,
        )
        caption = tag("figcaption", "opacity:.75;font-size:.85em", text(title))
        return tag("figure", "margin:0", line_chart([Line(points)], frame), caption)
