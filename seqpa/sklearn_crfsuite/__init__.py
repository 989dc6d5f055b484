"""sklearn-crfsuite's names over seqpa: its scripts run with one import changed.

estimator  `CRF`
metrics    scores of label sequences: flat_f1_score and its kin, sequence_accuracy_score
scorers    two of them for scikit-learn's searches
utils      flatten
trainer    the trainer that prints a line for each iteration
eli5       what eli5 explains of a `CRF`
"""

from __future__ import annotations

from seqpa.sklearn_crfsuite import metrics, scorers, utils
from seqpa.sklearn_crfsuite.eli5 import register
from seqpa.sklearn_crfsuite.estimator import CRF

__all__ = ["CRF", "metrics", "scorers", "utils"]

register(CRF)
