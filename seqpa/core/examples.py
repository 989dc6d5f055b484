"""Examples as the kernel reads them: checked once, never densified, with their squared norms.

The squared norms are needed by every step. They also tell whether all is finite: NaN and infinity
show in the norm of their row, so no second look at the data is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqpa._kernel import weights as kernel
from seqpa.errors import SeqpaError

Floats: TypeAlias = NDArray[np.float64]
_Function = TypeVar("_Function", bound=Callable[..., Any])
_SCALE = "scale the features first, for example with MaxAbsScaler or StandardScaler"


def finds_overflow(function: _Function) -> _Function:
    """Silence NumPy's warnings, for functions that find an overflow themselves afterwards.

    Only uncompiled code would warn.

    Parameters
    ----------
    function : function
        What to wrap.

    Returns
    -------
    function
        The same, without warnings.
    """
    return function if kernel.COMPILED else np.errstate(over="ignore", invalid="ignore")(function)


@dataclass(frozen=True)
class Examples:
    """The rows x_i of a dense or CSR matrix, checked.

    `Examples.from_array` and `Examples.from_maps` make it.

    Parameters
    ----------
    matrix : array or CSR matrix
        float64 and C-contiguous; or CSR with sorted, unique indices.
    bias : bool
        True adds a constant feature 1 behind the last; it counts in every norm.
    joint : int
        0, or the number K of labels of a single-prototype problem: row i·K + k is Φ(x_i, k).
    rows : Rows of the kernel
        The same rows for the compiled loop.
    norms2 : array
        ‖x‖² of every row, the bias included.

    Examples
    --------
    >>> examples = Examples.from_array([[3.0, 4.0], [1.0, 0.5]], bias=True)
    >>> len(examples), examples.n_features, examples.norms2
    (2, 2, array([26.  ,  2.25]))
    """

    matrix: Any
    bias: bool
    joint: int
    rows: Any
    norms2: Floats

    @classmethod
    def from_array(cls, X: Any, bias: bool = False) -> Examples:
        """One example in each row of an array or a SciPy sparse matrix.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, features)
            The examples.
        bias : bool, default False
            Add a constant feature 1, which counts in every norm.

        Returns
        -------
        Examples
            The checked examples.

        Examples
        --------
        >>> examples = Examples.from_array([[3.0, 4.0], [1.0, 0.5]], bias=True)
        >>> len(examples), examples.n_features, examples.norms2
        (2, 2, array([26.  ,  2.25]))
        >>> examples.scores([[0.5, -1.0, 2.0]])
        array([[-0.5],
               [ 2. ]])
        """
        return cls._checked(_as_matrix(X), bias, 0)

    @classmethod
    def from_maps(cls, maps: Sequence[Any]) -> Examples:
        """Single-prototype examples (PA 2006, §7) from K matrices.

        Parameters
        ----------
        maps : sequence of arrays or sparse matrices of shape (n, d)
            Φ(x_i, k) is row i of the k-th.

        Returns
        -------
        Examples
            n examples with K rows each.

        Examples
        --------
        >>> Examples.from_maps([[[1.0, 0.0]], [[0.5, 2.0]]]).scores([[1.0, 3.0]])
        array([[1. , 6.5]])
        """
        from scipy import sparse

        stack = sparse.vstack([sparse.csr_matrix(one) for one in maps], format="csr")
        n, K = stack.shape[0] // len(maps), len(maps)
        by_example = np.arange(n * K).reshape(K, n).T.reshape(-1)
        return cls._checked(_as_matrix(stack[by_example]), False, K)

    @classmethod
    @finds_overflow
    def _checked(cls, matrix: Any, bias: bool, joint: int) -> Examples:
        rows = _kernel_rows(matrix, bias)
        norms2 = np.empty(matrix.shape[0])
        rows.squared_norms(norms2)
        if not np.isfinite(norms2).all():
            _complain(matrix, int(np.argmin(np.isfinite(norms2))))
        return cls(matrix, bias, joint, rows, norms2)

    def __len__(self) -> int:
        return int(self.matrix.shape[0]) // max(1, self.joint)

    def take(self, chosen: NDArray[np.intp]) -> Examples:
        """Copies of the chosen examples, in their order, one behind the other in memory.

        Parameters
        ----------
        chosen : array of int
            Indices of examples.

        Returns
        -------
        Examples
            The copies.
        """
        if self.joint:
            chosen = (chosen[:, None] * self.joint + np.arange(self.joint)).reshape(-1)
        matrix = self.matrix[chosen]
        rows = _kernel_rows(matrix, self.bias)
        return Examples(matrix, self.bias, self.joint, rows, self.norms2[chosen])

    @property
    def nbytes(self) -> int:
        """The size of the values and their indices in memory."""
        indices = self.matrix.indices.nbytes if self.sparse else 0
        return int(self.matrix.data.nbytes + indices)

    @property
    def n_features(self) -> int:
        """Columns, without the bias."""
        return int(self.matrix.shape[1])

    @property
    def sparse(self) -> bool:
        """Whether the rows are CSR."""
        return not isinstance(self.matrix, np.ndarray)

    def scores(self, weights: ArrayLike) -> Floats:
        """The scores w_k·x_i.

        Parameters
        ----------
        weights : array of shape (K, features) or, with a bias, (K, features + 1)
            w.

        Returns
        -------
        array of shape (n, K)
            The scores.
        """
        W = np.asarray(weights, dtype=np.float64)
        scores = np.asarray(self.matrix @ W[:, : self.n_features].T)
        if self.bias:
            scores += W[:, -1]
        return scores.reshape(-1, self.joint) if self.joint else scores

    def distances(self, center: ArrayLike) -> Floats:
        """The distances ‖x_i − center‖.

        Parameters
        ----------
        center : array of shape (features,)
            A point.

        Returns
        -------
        array of shape (n,)
            The distances.

        Examples
        --------
        >>> Examples.from_array([[3.0, 4.0], [0.0, 1.0]]).distances([0.0, 1.0])
        array([4.24264069, 0.        ])
        """
        c = np.asarray(center, dtype=np.float64)
        if not self.sparse:
            return np.asarray(np.linalg.norm(self.matrix - c, axis=1))
        squared = self.norms2 - 2.0 * (self.matrix @ c) + c @ c
        return np.sqrt(np.maximum(squared, 0.0))


def _kernel_rows(matrix: Any, bias: bool) -> Any:
    dense = matrix if isinstance(matrix, np.ndarray) else None
    data = indices = indptr = None
    if dense is None:
        data = np.ascontiguousarray(matrix.data)
        indices = np.ascontiguousarray(matrix.indices, dtype=np.int32)
        indptr = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    return kernel.Rows(
        dense=dense,
        data=data,
        indices=indices,
        indptr=indptr,
        n_features=matrix.shape[1],
        bias=bias,
    )


def _as_matrix(X: Any) -> Any:
    """X in the one dense and the one sparse form that the kernel knows; a copy only if it must."""
    if not hasattr(X, "tocsr"):
        X = np.ascontiguousarray(X, dtype=np.float64)
        if X.ndim != 2:
            raise SeqpaError(f"examples are the rows of a matrix, not an array of shape {X.shape}")
        return X
    X = X.tocsr()
    if X.shape[1] > np.iinfo(np.int32).max:
        raise SeqpaError(f"{X.shape[1]} features; the kernel counts them in 31 bits")
    X.check_format(full_check=True)  # an index out of range would be followed anywhere
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X.astype(np.float64, copy=False)


def _complain(matrix: Any, i: int) -> None:
    row = matrix[i] if isinstance(matrix, np.ndarray) else matrix[i].toarray().ravel()
    for wrong, what in ((np.isnan(row), "NaN"), (np.isinf(row), "infinity")):
        if wrong.any():
            raise SeqpaError(
                f"row {i}, column {int(np.argmax(wrong))} of the input is {what}; "
                "every value must be a finite number"
            )
    raise SeqpaError(
        f"row {i} of the input is so long that its squared norm overflows "
        f"(its largest value is {np.abs(row).max():.3g}); {_SCALE}"
    )
