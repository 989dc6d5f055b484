"""The scikit-learn faces of the core.

PAClassifier            two classes or more, mistakes that cost different amounts
PARegressor             numbers
PAUniclass              outliers
PAMultilabelClassifier  sets of labels, as a ranking
PerceptronClassifier    the baseline, with the last, a random, the averaged or the voted vector
"""

from __future__ import annotations

from seqpa.estimators.classifier import PAClassifier
from seqpa.estimators.multilabel import PAMultilabelClassifier
from seqpa.estimators.perceptron import PerceptronClassifier
from seqpa.estimators.regressor import PARegressor
from seqpa.estimators.uniclass import PAUniclass

__all__ = [
    "PAClassifier",
    "PAMultilabelClassifier",
    "PARegressor",
    "PAUniclass",
    "PerceptronClassifier",
]
