"""`PAClassifier`: binary, multiclass and cost-sensitive classification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqpa.core.costs import Cost, cost_matrix
from seqpa.core.problems import Binary, CostSensitive, Multiclass, OneVsRest, Problem
from seqpa.errors import SeqpaError
from seqpa.estimators._base import LabelClassifier, OnlineClassifier


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
        return Multiclass(self.margin) if self._by_label() else Binary(self.margin)


class PAClassifier(CostClassifier, OnlineClassifier):
    """Passive-aggressive classification (Crammer et al. 2006, §§2-4, 7, 8).

    Two classes share one weight vector, y = ±1 (Eq. 1, 3, 8). Three or more have one each, and
    learn in one of two ways (`multiclass`):
    "prototypes"   together: the right label must beat the highest wrong one by `margin`, and both
                   move (Eq. 39-41). The loss bounds wrong predictions, and scores compare labels
    "one-vs-rest"  each alone, as two classes: its score must reach `margin` for its own examples
                   and −`margin` for all others. The weights are those of K binary classifiers,
                   which are scikit-learn's, in one pass; a score above 0 says "this label". An
                   example moves every label that is not sure of it, so a single pass over many rare
                   features teaches more; a label that lies between others is hard to tell
    docs/algorithms.md shows when which is better.
    With a `cost`, the right label must beat another by √ρ (Eq. 43), a weight vector for each label
    even for two classes: "prediction-based" looks at the label predicted (Eq. 44-49), "max-loss"
    at the one that violates its margin most (Eq. 50-52).

    C              aggressiveness: how far one example may move the weights
    variant        "PA" (Eq. 3: no C), "PA-I", "PA-II" (Eq. 8), "PA-LS" (least squares)
    margin         1 in the paper; without a cost
    cost           ρ: a `Hierarchy`, a table {right: {predicted: cost}} or {(right, predicted):
                   cost}, a square array in the order of `classes_`, or a function of two labels
    update         with a cost: "prediction-based" or "max-loss"
    fit_intercept  True adds a constant feature 1, which counts in the norm
    average        True predicts with the mean of the weights after each example
    max_iter       passes of `fit`, at most
    tol            `fit` leaves examples with a squared loss of at most tol alone and stops when
                   none is left (batch conversion); None makes max_iter plain passes
    shuffle        a new random order for each pass of `fit`
    class_weight   {class: factor of C}, or "balanced": inversely to the classes' frequencies; the
                   C of an example, for all labels that it moves
    features       label-dependent features and one weight vector for all labels (§7, Eq. 37, 38):
                   `LabelTfidf()`, any feature map, or a function (X, index of label) -> matrix;
                   partial_fit fits the map to its first examples only
    multiclass     "prototypes" or "one-vs-rest", which is without cost and features; for two
                   classes both are the same

    Attributes: `classes_`; `coef_` [1 or K, features] and `intercept_`; `n_iter_`; and the sums
    over all passes `online_mistakes_`, `online_loss_`, `online_squared_loss_`, `online_cost_`,
    `n_updates_`. With one-vs-rest the losses are those of all labels, mistakes and updates are
    counted once for an example, and `tol` looks at each label's loss by itself.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks ask for boundaries away from the origin: they take an intercept.
        tags.classifier_tags.poor_score = not self.fit_intercept
        return tags

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
