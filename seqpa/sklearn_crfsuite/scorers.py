"""Scores for scikit-learn's ``cross_val_score``, ``GridSearchCV`` and their kin."""

from __future__ import annotations

from sklearn.metrics import make_scorer

from seqpa.sklearn_crfsuite import metrics

flat_accuracy = make_scorer(metrics.flat_accuracy_score)
sequence_accuracy = make_scorer(metrics.sequence_accuracy_score)
