"""`PassiveAggressiveClassifier` and `Perceptron` as scikit-learn's users know them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from seqpa.core.descent import Settings
from seqpa.errors import SeqpaError
from seqpa.sklearn.base import LARGEST_SEED, Descender, example_weights


class SeparateClassifier(ClassifierMixin, Descender):
    """Each class against the rest."""

    classes_: NDArray[Any]
    class_weight: Any
    n_jobs: int | None

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Any:
        """Learn from the beginning, or with `warm_start` from the weights that are there.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
            The examples.
        y : array of shape (n,)
            Their labels.
        coef_init : array of shape (1 or K, features) or None, default None
            The first weights.
        intercept_init : array of shape (1 or K,) or None, default None
            The first intercepts.
        sample_weight : array of shape (n,) or None, default None
            By what each example's step is multiplied.

        Returns
        -------
        object
            Itself.
        """
        self._check_parameters(one_pass=False)
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        X, y = self._checked(X, y, reset=True)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self._begin(self._n_vectors(), X, coef_init, intercept_init)
        self._learn(X, y, sample_weight, self.max_iter)
        self._warn_of_the_end()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Go on learning, with one pass over these examples.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
            The examples.
        y : array of shape (n,)
            Their labels.
        classes : array or None, default None
            All labels that will ever come; the first call needs them.
        sample_weight : array of shape (n,) or None, default None
            By what each example's step is multiplied.

        Returns
        -------
        object
            Itself.
        """
        self._check_parameters(one_pass=True)
        if isinstance(self.class_weight, str):
            raise SeqpaError(
                "class_weight='balanced' needs to see all of y, which partial_fit does not: give "
                "class_weight a dict, for example from sklearn.utils.compute_class_weight"
            )
        first = not hasattr(self, "classes_")
        if classes is not None:
            classes = unique_labels(classes)
        if first and classes is None:
            raise SeqpaError("classes must be passed on the first call to partial_fit")
        if not first and classes is not None and not np.array_equal(classes, self.classes_):
            raise SeqpaError(
                f"classes={classes!r} is not what the first call to partial_fit had: "
                f"{self.classes_!r}"
            )
        X, y = self._checked(X, y, reset=first)
        check_classification_targets(y)
        if first:
            self.classes_ = classes
            self._begin(self._n_vectors(), X, None, None)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise SeqpaError(f"labels that are not in classes: {', '.join(map(str, unknown))}")
        self._learn(X, y, sample_weight, 1)
        return self

    def _n_vectors(self) -> int:
        if len(self.classes_) < 2:
            raise SeqpaError(
                f"The number of classes has to be greater than one; got {len(self.classes_)} class"
            )
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _learn(self, X: Any, y: NDArray[Any], sample_weight: Any, max_iter: int) -> None:
        weight = example_weights(sample_weight, X.shape[0])
        by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        held_out = self._held_out(y, weight, StratifiedShuffleSplit)
        rng = check_random_state(self.random_state)
        if len(self.classes_) == 2:
            chosen, below = [1], by_class[0]
            seeds = [_second_seed(rng)]
        else:
            chosen, below = list(range(len(self.classes_))), 1.0
            drawn = rng.randint(LARGEST_SEED, size=len(chosen))
            seeds = [_second_seed(check_random_state(int(seed))) for seed in drawn]
        targets = [np.where(y == self.classes_[k], 1.0, -1.0) for k in chosen]
        amounts = [
            weight * np.where(target > 0, by_class[k], below)
            for k, target in zip(chosen, targets, strict=True)
        ]

        def scorer(k: int) -> Callable[[Any, float], float]:
            seen, right, share = X[held_out], targets[k][held_out] > 0, weight[held_out]
            return lambda coef, intercept: accuracy_score(
                right, np.asarray(seen @ coef) + intercept > 0, sample_weight=share
            )

        self._descend(
            X,
            targets,
            amounts,
            seeds,
            self._settings(max_iter),
            held_out,
            scorer if self.early_stopping else None,
            self.n_jobs,
        )

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The scores of the classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n,) or (n, K)
            For two classes that of the second; above 0 it is predicted.
        """
        scores = self._scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each example.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
            The examples.

        Returns
        -------
        array of shape (n,)
            The labels.
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]


class PassiveAggressiveClassifier(SeparateClassifier):
    """scikit-learn's `PassiveAggressiveClassifier`, without its deprecation.

    Each class has a vector of its own, learned against all others. The intercept moves with each
    step but is not in the norm; on sparse input it moves by a hundredth.

    Parameters
    ----------
    C : float, default 1.0
        Aggressiveness: how far one example may move the weights.
    fit_intercept : bool, default True
        Learn an intercept.
    max_iter : int, default 1000
        Passes of `fit`, at most.
    tol : float or None, default 1e-3
        By how much the mean loss, or with `early_stopping` the score, must improve.
    early_stopping : bool, default False
        Judge passes by the score on a part of the examples that is kept aside.
    validation_fraction : float, default 0.1
        How large this part is.
    n_iter_no_change : int, default 5
        After so many passes in a row without improvement `fit` ends.
    shuffle : bool, default True
        Take another order for each pass.
    verbose : int, default 0
        Print lines about each pass.
    loss : {"hinge", "squared_hinge"}, default "hinge"
        PA-I or PA-II.
    n_jobs : int or None, default None
        Threads for the vectors of several classes; results do not depend on it.
    random_state : int, RandomState or None, default None
        Seed of all that is drawn at random.
    warm_start : bool, default False
        `fit` goes on from the weights of the last `fit`.
    class_weight : dict, "balanced" or None, default None
        By what the steps of a class are multiplied.
    average : bool or int, default False
        Predict with the mean of the weights after each example; a number begins it later.

    Attributes
    ----------
    coef_ : array of shape (1 or K, features)
        The weights, of the type of the input; one row for two classes.
    intercept_ : array of shape (1 or K,)
        The intercepts.
    classes_ : array of shape (K,)
        The labels, sorted.
    n_iter_ : int
        Passes made; of several classes, the most.
    t_ : float
        1 + `n_iter_` · the number of examples, over all calls.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PassiveAggressiveClassifier(C=0.1, average=True, random_state=3).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.96
    """

    _losses: ClassVar[dict[str, str]] = {"hinge": "PA-I", "squared_hinge": "PA-II"}

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "hinge",
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        average: bool | int = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average

    def _settings(self, max_iter: int) -> Settings:
        return Settings(**self._common(self._losses[self.loss], self.C, max_iter), epsilon=None)


class Perceptron(SeparateClassifier):
    """scikit-learn's `Perceptron`: each class against the rest, with penalties.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet"} or None, default None
        What pulls the weights towards zero.
    alpha : float, default 0.0001
        How strongly.
    l1_ratio : float, default 0.15
        With "elasticnet": the share of "l1".
    fit_intercept : bool, default True
        Learn an intercept.
    max_iter : int, default 1000
        Passes of `fit`, at most.
    tol : float or None, default 1e-3
        By how much the mean loss, or with `early_stopping` the score, must improve.
    shuffle : bool, default True
        Take another order for each pass.
    verbose : int, default 0
        Print lines about each pass.
    eta0 : float, default 1.0
        By what every step is multiplied.
    n_jobs : int or None, default None
        Threads for the vectors of several classes; results do not depend on it.
    random_state : int, RandomState or None, default 0
        Seed of all that is drawn at random.
    early_stopping : bool, default False
        Judge passes by the score on a part of the examples that is kept aside.
    validation_fraction : float, default 0.1
        How large this part is.
    n_iter_no_change : int, default 5
        After so many passes in a row without improvement `fit` ends.
    class_weight : dict, "balanced" or None, default None
        By what the steps of a class are multiplied.
    warm_start : bool, default False
        `fit` goes on from the weights of the last `fit`.

    Attributes
    ----------
    coef_ : array of shape (1 or K, features)
        The weights, of the type of the input; one row for two classes.
    intercept_ : array of shape (1 or K,)
        The intercepts.
    classes_ : array of shape (K,)
        The labels, sorted.
    n_iter_ : int
        Passes made; of several classes, the most.
    t_ : float
        1 + `n_iter_` · the number of examples, over all calls.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> round(Perceptron(tol=1e-3, random_state=0).fit(X, y).score(X, y), 3)
    0.939
    """

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start

    def _settings(self, max_iter: int) -> Settings:
        ratio = {"l1": 1.0, "l2": 0.0, "elasticnet": self.l1_ratio}.get(self.penalty or "", 0.0)
        alpha = 0.0 if self.penalty is None else self.alpha
        return Settings(
            **self._common("perceptron", self.eta0, max_iter),
            epsilon=None,
            l1=alpha * ratio,
            l2=alpha * (1.0 - ratio),
        )


def _second_seed(rng: Any) -> int:
    """The seed of the orders: the generator's second number, as scikit-learn draws it."""
    rng.randint(1, LARGEST_SEED)
    return int(rng.randint(LARGEST_SEED))
