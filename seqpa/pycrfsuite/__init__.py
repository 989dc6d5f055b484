"""python-crfsuite's classes over seqpa: its scripts run with ``import seqpa.pycrfsuite as
pycrfsuite``.

items         what a sequence is
parameters    names, defaults and meaning of what a trainer can be told
log           the lines of a training, and what they tell
trainer       sequences in, a model file out
tagger        a model file in, labels out
crfsuite_file the model files of CRFsuite itself, which the tagger opens too
importing, exporting, crfsuite_writer
              from such a file to words, and from our models to such a file
"""

from __future__ import annotations

from seqpa.errors import SeqpaError
from seqpa.pycrfsuite.items import ItemSequence
from seqpa.pycrfsuite.log import LabelScore, TrainLogParser
from seqpa.pycrfsuite.tagger import ParsedDump, Tagger
from seqpa.pycrfsuite.trainer import BaseTrainer, Trainer

# Of CRFsuite, whose parameters and log these are.
CRFSUITE_VERSION = "0.12.2"

# What scripts catch.
CRFSuiteError = SeqpaError

__all__ = [
    "CRFSUITE_VERSION",
    "BaseTrainer",
    "CRFSuiteError",
    "ItemSequence",
    "LabelScore",
    "ParsedDump",
    "Tagger",
    "TrainLogParser",
    "Trainer",
]
