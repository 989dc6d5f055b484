"""The same examples in every run, on any machine, however busy it is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("seqpa", derandomize=True, deadline=None)
settings.load_profile("seqpa")
