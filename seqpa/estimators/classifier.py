"""`PAClassifier`: binary, multiclass and cost-sensitive classification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqpa.core.costs import Cost, cost_matrix
from seqpa.core.problems import CostSensitive, OneVsRest, Problem
from seqpa.errors import SeqpaError
from seqpa.estimators._asking import Asking
from seqpa.estimators._labels import (
    LabelClassifier,
    OnlineClassifier,
    ThroughOrigin,
    WeightedClassifier,
)


class CostClassifier(LabelClassifier):
    """The parameters `margin`, `cost` and `update` as a problem."""

    margin: float
    cost: Cost | None
    update: str

    def _by_label(self) -> bool:
        return super()._by_label() or self.cost is not None

    def _problem(self) -> Problem:
        if self.cost is not None:
            return CostSensitive(cost_matrix(self.cost, self.classes_.tolist()), self.update)
        return self._labels_apart(self.margin)


class PAClassifier(Asking, ThroughOrigin, WeightedClassifier, CostClassifier, OnlineClassifier):
    """Passive-aggressive classification (PA 2006, §§2-4, 7, 8).

    Two classes share one weight vector, y = ±1 (PA 2006, Eq. 1, 3, 8). Three or more have one each,
    and learn in one of two ways, which docs/algorithms.md compares:

    - "prototypes": together. The right label must beat the highest wrong one by `margin`, and both
      move (Eq. 39-41). The loss bounds wrong predictions, and scores compare labels.
    - "one-vs-rest": each alone, as two classes. Its score must reach `margin` for its own examples
      and −`margin` for all others. The weights are those of K binary classifiers, as scikit-learn
      has them, in one pass; a score above 0 says "this label". An example moves every label that is
      not sure of it, so a single pass over many rare features teaches more; a label that lies
      between others is hard to tell.

    With a `cost`, the right label must beat another by √ρ (Eq. 43), and even two classes have a
    weight vector each. "prediction-based" looks at the label predicted (Eq. 44-49), "max-loss" at
    the one that violates its margin most (Eq. 50-52).

    Parameters
    ----------
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    variant : {"PA", "PA-I", "PA-II", "PA-LS"}, default "PA-I"
        How far a step goes: "PA" all the way (PA 2006, Eq. 3), "PA-I" at most C, "PA-II" shortened
        by 1/2C (both Eq. 8), "PA-LS" least squares (Mini-batch PA, Eq. 9). "PA" does not use C.
    margin : float, default 1.0
        By how much a right prediction must win; 1 in PA 2006. Not used with a cost.
    cost : Hierarchy, dict, array, function or None, default None
        ρ, what each mistake costs: a `Hierarchy`; a table {right: {predicted: cost}} or
        {(right, predicted): cost}; a square array in the order of `classes_`; or a function of two
        labels. None counts mistakes.
    update : {"prediction-based", "max-loss"}, default "prediction-based"
        With a cost, the label that the right one is compared with.
    fit_intercept : bool, default False
        Add a constant feature 1, which counts in the norm.
    average : bool, default False
        Predict with the mean of the weights after each example, instead of the last weights.
    max_iter : int, default 20
        Passes of `fit`, at most.
    tol : float or None, default 1e-3
        `fit` skips examples with a squared loss of at most `tol`, and stops when none is left
        (batch conversion, PA 2003, §4). None makes `max_iter` plain passes.
    shuffle : bool, default True
        Take a new random order for each pass of `fit`.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.
    class_weight : dict, "balanced" or None, default None
        Factors of C: {class: factor}, or "balanced", inversely to the classes' frequencies. An
        example's C holds for all labels that it moves.
    features : FeatureMap, function or None, default None
        Label-dependent features and one weight vector for all labels (PA 2006, §7, Eq. 37-38):
        `LabelTfidf()`, any feature map, or a function (X, index of label) -> matrix. With
        `partial_fit`, `LabelTfidf` goes on counting, and so does any map that has `partial_fit`.
    multiclass : {"prototypes", "one-vs-rest"}, default "prototypes"
        How three classes or more learn. "one-vs-rest" goes without `cost` and `features`; its
        losses are summed over the labels, mistakes and updates are counted once for an example, and
        `tol` looks at each label's loss by itself.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    coef_ : array of shape (1 or K, features)
        The weights; one row for two classes.
    intercept_ : array of shape (1 or K,)
        The bias of each row; 0 without `fit_intercept`.
    n_iter_ : int
        Passes made.
    n_updates_ : int
        How often the weights moved.
    online_mistakes_ : int
        Wrong predictions in all passes, each by the weights of that moment.
    online_loss_ : float
        Sum of the losses ℓ.
    online_squared_loss_ : float
        Sum of ℓ², which the theorems bound.
    online_cost_ : float
        Sum of the costs ρ; without a cost the number of mistakes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PAClassifier(C=0.05, average=True, fit_intercept=True, random_state=3)
    >>> float(cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=5).mean().round(2))
    0.97
    >>> for cost in {1: {2: 9.0}}, {2: {1: 9.0}}:  # to take 1 for 2 costs nine; then 2 for 1
    ...     model = PAClassifier(C=0.1, cost=cost, average=True, fit_intercept=True, random_state=1)
    ...     predicted = model.fit(X, y).predict(X)
    ...     print(((y == 1) & (predicted == 2)).sum(), ((y == 2) & (predicted == 1)).sum())
    1 8
    6 0
    >>> model = PAClassifier(multiclass="one-vs-rest", shuffle=False, tol=None).fit(X, y)
    >>> alone = PAClassifier(shuffle=False, tol=None).fit(X, y == 2)
    >>> bool(abs(model.coef_[2] - alone.coef_[0]).max() < 1e-9)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        variant: str = "PA-I",
        margin: float = 1.0,
        cost: Cost | None = None,
        update: str = "prediction-based",
        fit_intercept: bool = False,
        average: bool = False,
        max_iter: int = 20,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        features: Any = None,
        multiclass: str = "prototypes",
    ) -> None:
        self.C = C
        self.variant = variant
        self.margin = margin
        self.cost = cost
        self.update = update
        self.fit_intercept = fit_intercept
        self.average = average
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.class_weight = class_weight
        self.features = features
        self.multiclass = multiclass

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.features is not None and self.fit_intercept:
            raise SeqpaError(
                "fit_intercept with features: one bias for all labels changes nothing; leave it off"
            )
        if self.multiclass == "one-vs-rest":
            for name in ("cost", "features"):
                if getattr(self, name) is not None:
                    raise SeqpaError(
                        f"{name} compares labels with each other, which multiclass='one-vs-rest' "
                        "does not; take multiclass='prototypes'"
                    )

    def _by_label(self) -> bool:
        return super()._by_label() or self.features is not None

    def _problem(self) -> Problem:
        if self.multiclass == "one-vs-rest" and self._by_label():
            return OneVsRest(self.margin)
        return super()._problem()
