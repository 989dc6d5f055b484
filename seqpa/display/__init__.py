"""What notebooks show: labels in their text, reasons, scores, curves; as HTML without scripts.

`spans` shows tagged sentences, `explanation` why tokens got their labels; evaluations, corpora and
single explanations show themselves. Everything is escaped, and carries its own style, which suits
light and dark notebooks. `charts` has the pictures, also for `seqpa.report`.

>>> shown = spans([("Ada", "B-PER"), ("won", "O")])
>>> shown
[Ada PER] won
>>> shown.html.count("<mark")
1
"""

from __future__ import annotations

from seqpa.display.html import Html
from seqpa.display.text import spans
from seqpa.display.training import LiveCurve, in_notebook
from seqpa.display.views import explanation, summary, table

__all__ = ["Html", "LiveCurve", "explanation", "in_notebook", "spans", "summary", "table"]
