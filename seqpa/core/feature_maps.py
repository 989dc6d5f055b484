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

    One that also has `partial_fit`, with the arguments of `fit`, goes on learning with every call
    of an estimator's `partial_fit` or `learn_one`; any other is fitted to the first examples only.

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
    non-zero entries, so K labels take K times the memory of X. `partial_fit` goes on counting:
    S is then all that was seen so far, and an example takes no longer than its own words do.

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

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn wants to know: word counts, dense or sparse.

        Returns
        -------
        Tags
            scikit-learn's.
        """
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=True, multi_output=True),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(sparse=True, positive_only=True),
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """No parameters, as scikit-learn asks for them.

        Parameters
        ----------
        deep : bool, default True
            Not used.

        Returns
        -------
        dict
            Nothing.
        """
        return {}

    def set_params(self) -> LabelTfidf:
        """Set no parameters: there are none.

        Returns
        -------
        LabelTfidf
            Itself.
        """
        return self

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
        self._inside = np.zeros((n_labels, 0))
        self._all = np.zeros(0)
        self._documents = 0
        return self.partial_fit(X, targets, n_labels)

    def partial_fit(self, X: Any, targets: ArrayLike, n_labels: int) -> LabelTfidf:
        """Count more documents; there may be more words than before.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, words)
            Word counts of the documents.
        targets : array of shape (n,) or (n, K)
            The index of each document's label, or 1 where a label is relevant.
        n_labels : int
            K.

        Returns
        -------
        LabelTfidf
            Itself.

        Examples
        --------
        >>> X, y = [[3, 1], [0, 2]], [0, 1]
        >>> one_by_one = LabelTfidf().fit(X[:1], y[:1], n_labels=2).partial_fit(X[1:], y[1:], 2)
        >>> bool((one_by_one.weights_ == LabelTfidf().fit(X, y, n_labels=2).weights_).all())
        True
        """
        counts = _counts(X)
        labels = np.asarray(targets)
        if labels.ndim == 1:
            labels = labels[:, None] == np.arange(n_labels)
        new = counts.shape[1] - self._all.shape[0]
        if new > 0:
            self._inside = np.pad(self._inside, ((0, 0), (0, new)))
            self._all = np.pad(self._all, (0, new))
        words = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        np.add.at(self._all, counts.indices, counts.data)
        for k in range(n_labels):
            weights = labels[words, k] * counts.data
            np.add.at(self._inside[k], counts.indices, weights)
        self._documents += counts.shape[0]
        return self

    def relabel(self, change: ArrayLike) -> None:
        """The counts for other labels.

        Parameters
        ----------
        change : array of shape (new K, K)
            Row k has a 1 where the old label is that new label k was; a new one has none.
        """
        self._inside = (np.asarray(change) != 0.0).astype(np.float64) @ self._inside

    @property
    def weights_(self) -> Floats:
        """log(|S| / DF) of each label and word, float64[K, words]."""
        if not hasattr(self, "_all"):
            raise AttributeError("LabelTfidf has counted nothing yet")
        return self._weights(np.arange(len(self._all)))

    def _weights(self, words: NDArray[Any]) -> Floats:
        outside = self._all[words] - self._inside[:, words]
        return np.asarray(np.log(self._documents / np.maximum(outside, _NEVER)))

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
        at = counts.indices
        few = len(at) < len(self._all)  # then each word's weight is worked out where it stands
        weights = self._weights(at) if few else self.weights_
        maps = []
        for own in weights:
            phi = counts.copy()
            phi.data *= own if few else own[at]
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
