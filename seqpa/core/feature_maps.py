"""Label-dependent features Φ(x, y) for single-prototype learning (PA 2006, §7).

One weight vector serves all labels; what tells them apart is what each makes of the input. A
feature map turns n inputs and K labels into K matrices, the k-th holding Φ(x_i, k) in row i.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa.errors import SeqpaError

Floats: TypeAlias = NDArray[np.float64]
_NEVER = 0.5  # DF of a word that never stands outside the label


@runtime_checkable
class FeatureMap(Protocol):
    """Φ, learned from examples or not: any object with these two methods.

    Examples
    --------
    >>> class Shifted:
    ...     def fit(self, X, targets, n_labels):
    ...         self.n_labels_ = n_labels
    ...         return self
    ...     def transform(self, X):
    ...         return [np.roll(X, k, axis=1) for k in range(self.n_labels_)]
    >>> isinstance(Shifted(), FeatureMap)
    True
    >>> Shifted().fit(None, None, n_labels=2).transform([[1, 2, 3]])[1]
    array([[3, 1, 2]])
    """

    def fit(self, X: Any, targets: ArrayLike, n_labels: int) -> FeatureMap:
        """Learn from the inputs and their labels.

        Parameters
        ----------
        X : object
            The inputs.
        targets : array of shape (n,) or (n, K)
            The index of each input's label, or 1 where a label is relevant.
        n_labels : int
            K.

        Returns
        -------
        FeatureMap
            Itself.
        """

    def transform(self, X: Any) -> list[Any]:
        """Φ of every input and label.

        Parameters
        ----------
        X : object
            The inputs.

        Returns
        -------
        list of arrays or CSR matrices
            K matrices of one shape (n, d); row i of the k-th is Φ(x_i, k).
        """


class LabelTfidf:
    """Label-dependent TF-IDF: φ_j(x, y) = TF(μ_j, x) · log(|S| / DF(μ_j, y)) (PA 2006, §7).

    TF(μ_j, x) is the number of times word μ_j stands in document x: an entry of X. DF(μ_j, y) is
    the number of times it stands in all documents of S that are not labelled y. A word that is
    frequent outside y counts little for y, or against it once DF exceeds |S|.

    Where a word never stands outside y, DF is 0 and the logarithm of PA 2006 infinite. DF is taken
    as 1/2 then: such a word counts more than any that does. (1 would not do: a word that S holds
    once has DF 0 for its own label and 1 for the others, and the feature would no longer tell them
    apart.)

    X holds counts, as scikit-learn's CountVectorizer makes them. Each label has its own copy of the
    non-zero entries, so K labels take K times the memory of X.

    Attributes
    ----------
    weights_ : array of shape (K, words)
        log(|S| / DF) of each label and word.

    Examples
    --------
    >>> X = [[3, 1], [0, 2]]                      # two documents, two words
    >>> tfidf = LabelTfidf().fit(X, [0, 1], n_labels=2)
    >>> tfidf.weights_.round(3)                   # log(2 / DF), label by word
    array([[ 1.386,  0.   ],
           [-0.405,  0.693]])
    >>> [phi.toarray().round(2).tolist() for phi in tfidf.transform([[1, 2]])]
    [[[1.39, 0.0]], [[-0.41, 1.39]]]
    """

    weights_: Floats

    def fit(self, X: Any, targets: ArrayLike, n_labels: int) -> LabelTfidf:
        """Count each word inside and outside each label.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, words)
            Word counts of the documents S.
        targets : array of shape (n,) or (n, K)
            The index of each document's label, or 1 where a label is relevant.
        n_labels : int
            K.

        Returns
        -------
        LabelTfidf
            Itself.
        """
        counts = _counts(X)
        labels = np.asarray(targets)
        if labels.ndim == 1:
            labels = labels[:, None] == np.arange(n_labels)
        inside = np.asarray((counts.T @ labels.astype(np.float64)).T)
        outside = np.asarray(counts.sum(axis=0)).reshape(1, -1) - inside
        self.weights_ = np.log(counts.shape[0] / np.maximum(outside, _NEVER))
        return self

    def transform(self, X: Any) -> list[Any]:
        """Φ(x, k) of every document for each label.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, words)
            Word counts.

        Returns
        -------
        list of CSR matrices
            One for each label, of the shape of X.
        """
        counts = _counts(X)
        maps = []
        for weights in self.weights_:
            phi = counts.copy()
            phi.data *= weights[phi.indices]
            maps.append(phi)
        return maps


class FunctionMap:
    """A user's own Φ as a feature map.

    Parameters
    ----------
    function : function
        (X, index of a label) -> matrix of shape (n, d).

    Examples
    --------
    >>> import numpy as np
    >>> shifted = FunctionMap(lambda X, k: np.roll(X, k, axis=1))
    >>> [phi.tolist() for phi in shifted.fit([[1, 2, 3]], [0], n_labels=2).transform([[1, 2, 3]])]
    [[[1, 2, 3]], [[3, 1, 2]]]
    """

    def __init__(self, function: Callable[[Any, int], Any]) -> None:
        self.function = function

    def fit(self, X: Any, targets: ArrayLike, n_labels: int) -> FunctionMap:
        """Remember how many labels there are.

        Parameters
        ----------
        X : object
            Not used.
        targets : array
            Not used.
        n_labels : int
            K.

        Returns
        -------
        FunctionMap
            Itself.
        """
        self.n_labels_ = n_labels
        return self

    def transform(self, X: Any) -> list[Any]:
        """The function's answer for each label.

        Parameters
        ----------
        X : object
            The inputs.

        Returns
        -------
        list of matrices
            One for each label.
        """
        maps = [self.function(X, k) for k in range(self.n_labels_)]
        shapes = {np.shape(phi) for phi in maps}
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if len(shapes) > 1 or any(len(shape) != 2 or shape[0] != n for shape in shapes):
            raise SeqpaError(
                f"the feature map gave matrices of shapes {sorted(shapes)} for {n} examples; "
                f"it must give ({n}, d) with the same d for every label"
            )
        return maps


def as_feature_map(features: Any) -> FeatureMap:
    """A feature map from itself or from a function.

    Parameters
    ----------
    features : FeatureMap or function
        What a user gave.

    Returns
    -------
    FeatureMap
        The map.
    """
    if isinstance(features, FeatureMap):
        return features
    if callable(features):
        return FunctionMap(features)
    raise SeqpaError(
        "features is a feature map such as LabelTfidf(), or a function (X, label index) -> matrix, "
        f"not {features!r}"
    )


def _counts(X: Any) -> Any:
    from scipy import sparse

    counts = sparse.csr_matrix(X, dtype=np.float64)
    if counts.nnz and counts.data.min() < 0:
        raise SeqpaError("LabelTfidf takes word counts, and a count is not negative")
    return counts
