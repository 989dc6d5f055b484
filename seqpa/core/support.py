"""Support vectors: the examples of which w is a sum, and their coefficients.

Rows are copied once, into arrays that grow by doubling, never beyond a budget. A CSR matrix of
support vectors is put together anew when some arrive: little beside the inner products with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa.core.kernels import Floats, Kernel

Indices = NDArray[np.intp]
_AT_ONCE = 1 << 17  # inner products made at once: 1 MB, which the cache holds


class Growing:
    """A NumPy array that grows at its end, with spare capacity.

    Parameters
    ----------
    empty : array of shape (0, ...)
        Its dtype and the shape of a row.
    most : int or None, default None
        The capacity is not raised beyond this unless it must be.

    Examples
    --------
    >>> numbers = Growing(np.empty((0, 2)), most=3)
    >>> numbers.append(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> numbers.append(np.array([[5.0, 6.0]]))
    >>> numbers.keep(np.array([2, 0]))
    >>> numbers.rows, numbers.capacity
    (array([[5., 6.],
           [1., 2.]]), 3)
    """

    def __init__(self, empty: NDArray[Any], most: int | None = None) -> None:
        self._buffer = empty
        self._most = most
        self._used = 0

    @property
    def rows(self) -> NDArray[Any]:
        """The rows in it: a view."""
        return self._buffer[: self._used]

    @property
    def capacity(self) -> int:
        """How many rows fit without growing."""
        return len(self._buffer)

    @property
    def nbytes(self) -> int:
        """Bytes of the memory that is held."""
        return self._buffer.nbytes

    def append(self, rows: NDArray[Any]) -> None:
        """Copy the rows behind the last.

        Parameters
        ----------
        rows : array
            New rows.
        """
        need = self._used + len(rows)
        if need > len(self._buffer):
            size = max(need, 2 * len(self._buffer), 16)
            size = min(size, max(need, self._most or size))
            larger = np.empty((size, *self._buffer.shape[1:]), dtype=self._buffer.dtype)
            larger[: self._used] = self.rows
            self._buffer = larger
        self._buffer[self._used : need] = rows
        self._used = need

    def keep(self, chosen: Indices) -> None:
        """Keep only these rows, in this order.

        Parameters
        ----------
        chosen : array of int
            Indices of rows.
        """
        self._buffer[: len(chosen)] = self.rows[chosen]
        self._used = len(chosen)


class Support:
    """Support vectors x_i with their coefficients: w_k = Σ_i coef[i, k] φ(x_i).

    Parameters
    ----------
    kernel : Kernel
        Inner products.
    n_labels : int
        K.
    average : bool
        Keep the sums for the mean.
    most : int or None
        The highest number of support vectors; None for no limit.
    """

    def __init__(self, kernel: Kernel, n_labels: int, average: bool, most: int | None) -> None:
        self.kernel = kernel
        self._most = most
        self._vectors: Any = None  # Growing, or a CSR matrix; the first examples tell
        self._coef = Growing(np.empty((0, n_labels)), most)
        self._acc = Growing(np.empty((0, n_labels if average else 0)), most)
        self._norms = Growing(np.empty(0), most)
        self._source = Growing(np.empty(0, dtype=np.intp), most)

    def __len__(self) -> int:
        return len(self.coef)

    @property
    def vectors(self) -> Any:
        """The rows, dense or CSR as the examples are; for a precomputed kernel, their indices."""
        return self._vectors.rows if isinstance(self._vectors, Growing) else self._vectors

    @property
    def coef(self) -> Floats:
        """The coefficients, float64[m, K]: a view."""
        return self._coef.rows

    @property
    def acc(self) -> Floats:
        """The sums for the mean, float64[m, K] or float64[m, 0]: a view."""
        return self._acc.rows

    @property
    def norms(self) -> Floats:
        """K(x, x) of each."""
        return self._norms.rows

    @property
    def source(self) -> Indices:
        """Which row of the present examples each one is, −1 where it is not among them: a view."""
        return self._source.rows

    @property
    def nbytes(self) -> int:
        """The bytes of memory that all of it takes."""
        arrays = [self._coef, self._acc, self._norms, self._source]
        if isinstance(self._vectors, Growing):
            arrays.append(self._vectors)
        elif self._vectors is not None:
            matrix = self._vectors
            return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes) + sum(
                one.nbytes for one in arrays
            )
        return sum(one.nbytes for one in arrays)

    def append(
        self, vectors: Any, coef: Floats, acc: Floats, norms: Floats, source: Indices
    ) -> None:
        """Take in new support vectors.

        Parameters
        ----------
        vectors : array or CSR matrix
            The rows.
        coef : array of shape (m, K)
            Their coefficients.
        acc : array of shape (m, K) or (m, 0)
            Their sums for the mean.
        norms : array of shape (m,)
            K(x, x) of each.
        source : array of int of shape (m,)
            The rows of the present examples that they are.
        """
        if self._vectors is None:
            self._vectors = vectors[:0]
            if isinstance(vectors, np.ndarray):
                self._vectors = Growing(
                    np.empty((0, *vectors.shape[1:]), vectors.dtype), self._most
                )
        if isinstance(self._vectors, Growing):
            self._vectors.append(vectors.toarray() if hasattr(vectors, "toarray") else vectors)
        else:
            from scipy import sparse

            self._vectors = sparse.vstack([self._vectors, sparse.csr_matrix(vectors)], format="csr")
        self._coef.append(coef)
        self._acc.append(acc)
        self._norms.append(norms)
        self._source.append(source)

    def widen(self, n_features: int) -> None:
        """Give the rows more features, which are 0.

        Parameters
        ----------
        n_features : int
            Columns from now on.
        """
        rows = self.vectors
        if rows is None or rows.ndim != 2 or rows.shape[1] >= n_features:
            return
        if isinstance(rows, np.ndarray):
            wider = np.zeros((len(rows), n_features))
            wider[:, : rows.shape[1]] = rows
            self._vectors = Growing(np.empty((0, n_features)), self._most)
            self._vectors.append(wider)
        else:
            self._vectors = rows.copy()
            self._vectors.resize(rows.shape[0], n_features)

    def relabel(self, change: Floats) -> None:
        """Coefficients of other labels, each a sum of those there are.

        Parameters
        ----------
        change : array of shape (new K, K)
            Row k has the factors of the sum that makes label k's.
        """
        for name in ("_coef", "_acc"):
            old = getattr(self, name).rows
            new = old @ change.T if old.shape[1] else old
            grown = Growing(np.empty((0, new.shape[1])), self._most)
            grown.append(new)
            setattr(self, name, grown)

    def keep(self, chosen: Indices) -> None:
        """Keep only these support vectors, in this order.

        Parameters
        ----------
        chosen : array of int
            Indices of support vectors.
        """
        if isinstance(self._vectors, Growing):
            self._vectors.keep(chosen)
        elif self._vectors is not None:
            self._vectors = self._vectors[chosen]
        for one in (self._coef, self._acc, self._norms, self._source):
            one.keep(chosen)

    def scores(self, X: Any, coef: Floats) -> Floats:
        """The scores Σ_i coef[i, k] K(x_i, x), a piece at a time.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, features)
            New examples.
        coef : array of shape (m, K)
            Coefficients of the support vectors.

        Returns
        -------
        array of shape (n, K)
            The scores.
        """
        scores = np.zeros((X.shape[0], coef.shape[1]))
        some = 256
        for i in range(0, X.shape[0], some):
            rows = X[i : i + some]
            size = max(1, _AT_ONCE // rows.shape[0])
            for j in range(0, len(self), size):
                K = self.kernel(rows, self.vectors[j : j + size])
                scores[i : i + some] += K @ coef[j : j + size]
        return scores

    def squared_norm(self, coef: Floats) -> float:
        """‖Σ_i coef[i] φ(x_i)‖² for one column of coefficients.

        Parameters
        ----------
        coef : array of shape (m, 1)
            The coefficients.

        Returns
        -------
        float
            The squared length.
        """
        if len(self) == 0:
            return 0.0
        return float(coef[:, 0] @ self.scores(self.vectors, coef)[:, 0])
