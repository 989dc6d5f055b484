"""Reports: what a tagger does well and badly, as a page, as numbers and as a card.

Pure functions, from below to above:

- `tagged`: a labelled corpus beside what a tagger says of it; the mistakes.
- `scores`, `confusion`, `certainty`, `spent`, `learned`, `rival`, `ablation`: one section each, as
  plain numbers, lists and dicts.
- `make`: all of them in one dict, which is report.json.
- `page`, `card`: what people read, made of that dict alone (and of the sentences).
- `source`, `folder`: what the report is about, and where it is written.
"""

from __future__ import annotations

from seqpa.report.make import Asked, report_data
from seqpa.report.tagged import Mistake, Tagged, tag

__all__ = ["Asked", "Mistake", "Tagged", "report_data", "tag"]
