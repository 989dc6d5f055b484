"""The scikit-learn faces of the core.

PAClassifier            two classes or more, mistakes that cost different amounts
PARegressor             numbers
PAUniclass              outliers
PAMultilabelClassifier  sets of labels, as a ranking
PerceptronClassifier    the baseline, with the last, a random, the averaged or the voted vector
HingeClassifier         subgradient descent on the hinge loss
MIRAClassifier          several classes, all wrong labels at once
MultiplicativePA…       weights on the simplex: Classifier, Regressor, Uniclass
Ellipsoid…              a shape beside the weights: Classifier, MultilabelClassifier
"""

from __future__ import annotations

from seqpa.estimators.classifier import PAClassifier
from seqpa.estimators.ellipsoid import EllipsoidClassifier, EllipsoidMultilabelClassifier
from seqpa.estimators.hinge import HingeClassifier
from seqpa.estimators.mira import MIRAClassifier
from seqpa.estimators.multilabel import PAMultilabelClassifier
from seqpa.estimators.multiplicative import (
    MultiplicativePAClassifier,
    MultiplicativePARegressor,
    MultiplicativePAUniclass,
)
from seqpa.estimators.perceptron import PerceptronClassifier
from seqpa.estimators.regressor import PARegressor
from seqpa.estimators.uniclass import PAUniclass

__all__ = [
    "EllipsoidClassifier",
    "EllipsoidMultilabelClassifier",
    "HingeClassifier",
    "MIRAClassifier",
    "MultiplicativePAClassifier",
    "MultiplicativePARegressor",
    "MultiplicativePAUniclass",
    "PAClassifier",
    "PAMultilabelClassifier",
    "PARegressor",
    "PAUniclass",
    "PerceptronClassifier",
]
