"""The scikit-learn faces of the core.

PAClassifier            two classes or more, mistakes that cost different amounts
PARegressor             numbers
PAUniclass              outliers
PAMultilabelClassifier  sets of labels, as a ranking
PerceptronClassifier    the baseline, with the last, a random, the averaged or the voted vector
HingeClassifier         subgradient descent on the hinge loss
MIRAClassifier          several classes, all wrong labels at once
KernelPA…               in a kernel's space: Classifier, Regressor
MiniBatchPAClassifier   several examples make one step
MultiplicativePA…       weights on the simplex: Classifier, Regressor, Uniclass
Ellipsoid…              a shape beside the weights: Classifier, MultilabelClassifier
"""

from __future__ import annotations

from seqpa.estimators.classifier import PAClassifier
from seqpa.estimators.ellipsoid import EllipsoidClassifier, EllipsoidMultilabelClassifier
from seqpa.estimators.hinge import HingeClassifier
from seqpa.estimators.kernel import KernelPAClassifier, KernelPARegressor
from seqpa.estimators.minibatch import MiniBatchPAClassifier
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
    "KernelPAClassifier",
    "KernelPARegressor",
    "MIRAClassifier",
    "MiniBatchPAClassifier",
    "MultiplicativePAClassifier",
    "MultiplicativePARegressor",
    "MultiplicativePAUniclass",
    "PAClassifier",
    "PAMultilabelClassifier",
    "PARegressor",
    "PAUniclass",
    "PerceptronClassifier",
]
