"""scikit-learn's passive-aggressive estimators and its Perceptron: the same signatures, the same
results.

scikit-learn deprecates `PassiveAggressiveClassifier` and `PassiveAggressiveRegressor` in 1.8 and
removes them in 1.10. With ``from seqpa.sklearn import ...`` in place of
``from sklearn.linear_model import ...`` a script goes on as before, seeds included. `PAClassifier`
and `PARegressor` of seqpa are other estimators: several classes at once instead of each against the
rest, costs, and the intercept in the norm, as the theorems have it.
"""

from __future__ import annotations

from seqpa.sklearn.classifiers import PassiveAggressiveClassifier, Perceptron
from seqpa.sklearn.regressor import PassiveAggressiveRegressor

__all__ = ["PassiveAggressiveClassifier", "PassiveAggressiveRegressor", "Perceptron"]
