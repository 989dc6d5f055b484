"""Sequence labelling with online passive-aggressive learning, on a complete PA core."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from seqpa.errors import SeqpaError

__version__ = "0.1.0"

if TYPE_CHECKING:
    from seqpa.core.costs import Hierarchy
    from seqpa.core.feature_maps import LabelTfidf
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
    from seqpa.sequence.tagger import SequenceTagger

# Public name -> module. Loaded at first use, so that `import seqpa` and the command line's --help
# do not wait for scikit-learn or nltk.
_HOMES: dict[str, str] = {
    "EllipsoidClassifier": "seqpa.estimators.ellipsoid",
    "EllipsoidMultilabelClassifier": "seqpa.estimators.ellipsoid",
    "Hierarchy": "seqpa.core.costs",
    "HingeClassifier": "seqpa.estimators.hinge",
    "KernelPAClassifier": "seqpa.estimators.kernel",
    "KernelPARegressor": "seqpa.estimators.kernel",
    "LabelTfidf": "seqpa.core.feature_maps",
    "MIRAClassifier": "seqpa.estimators.mira",
    "MiniBatchPAClassifier": "seqpa.estimators.minibatch",
    "MultiplicativePAClassifier": "seqpa.estimators.multiplicative",
    "MultiplicativePARegressor": "seqpa.estimators.multiplicative",
    "MultiplicativePAUniclass": "seqpa.estimators.multiplicative",
    "PAClassifier": "seqpa.estimators.classifier",
    "PAMultilabelClassifier": "seqpa.estimators.multilabel",
    "PARegressor": "seqpa.estimators.regressor",
    "PAUniclass": "seqpa.estimators.uniclass",
    "PerceptronClassifier": "seqpa.estimators.perceptron",
    "SequenceTagger": "seqpa.sequence.tagger",
}

__all__ = [  # what _HOMES has, and what is here; written out for those who read without running
    "EllipsoidClassifier",
    "EllipsoidMultilabelClassifier",
    "Hierarchy",
    "HingeClassifier",
    "KernelPAClassifier",
    "KernelPARegressor",
    "LabelTfidf",
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
    "SeqpaError",
    "SequenceTagger",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'seqpa' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
