"""`TrainLogParser`, where python-crfsuite has it."""

from __future__ import annotations

from seqpa.pycrfsuite.log import TrainLogParser

__all__ = ["TrainLogParser"]
